"""CUDA texts compiled with NVRTC: no GPU, no driver."""
