"""A program as whole-array NumPy, as people write it: slices, broadcasting, masks, reductions."""
