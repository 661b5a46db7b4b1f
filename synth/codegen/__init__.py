"""Warp Python to CUDA module text, through Warp's private modules."""
