"""CUDA texts run and timed on GPUs; NumPy, PyArrow and CuPy alone."""
