"""Wrong versions of plain CUDA."""
