"""Tile: kernels in Warp's tile language, whose blocks of threads hold small arrays together."""

ABOUT = "blocks of threads that load, combine, reduce and store tiles together"
BY_REQUEST = True
