"""What NumPy and PyTorch write in their own ways: one module of ops and one of arrays for each."""
