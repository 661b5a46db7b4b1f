"""Attention with an online softmax: scores of a tile of keys never leave the multiprocessor."""
