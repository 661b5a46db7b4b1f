"""CUDA texts run on the CPU, every access watched."""
