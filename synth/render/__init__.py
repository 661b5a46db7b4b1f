"""Program to text: Warp Python, plain Python, plain CUDA."""
