"""Convolutions as matrix products whose patches are found element by element."""
