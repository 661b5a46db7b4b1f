"""A program as plain Python with `math` and NumPy."""
