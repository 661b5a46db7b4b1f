"""A program as the CUDA C++ that an engineer would write."""
