"""CUDA texts of rows, read and put together into programs."""
