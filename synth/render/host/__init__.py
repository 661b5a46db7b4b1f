"""The host side of plain CUDA: what allocates, launches and returns."""
