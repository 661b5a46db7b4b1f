"""Wrong versions of Warp's CUDA text."""
