"""Arrays at chosen addresses: the same in every run, and unlike each other from launch to launch.

A text that decides by the bits of an address would else be right or wrong by chance.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping

import numpy as np

from validate.host.memory import Arena
from validate.row.inputs import Array

# Each the other's complement from bit 12 to bit 45, far from where Linux puts programs and stacks.
_PLACES = (0x2AAAAAAAA000, 0x155555555000)
_READ_AND_WRITE = 3
_PRIVATE, _ANONYMOUS, _AT_THAT_PLACE = 0x2, 0x20, 0x100000

# Here, while files may still be opened.
_LIBC = ctypes.CDLL(None)
if sys.platform == "linux":
    _LIBC.mmap.restype = ctypes.c_void_p
    _LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    _LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class PlacedArena(Arena):
    """An arena of launch `number`; where the system does not give its place, anywhere. Use it as a
    context manager."""

    def __init__(self, values: Mapping[str, Array], number: int) -> None:
        self._number = number
        self._mapped = (0, 0)
        super().__init__(values)

    def host_block(self, size: int) -> Array:
        if sys.platform != "linux":
            return super().host_block(size)
        wanted = _PLACES[self._number % len(_PLACES)]
        flags = _PRIVATE | _ANONYMOUS | _AT_THAT_PLACE
        found = _LIBC.mmap(wanted, size, _READ_AND_WRITE, flags, -1, 0)
        if found == ctypes.c_void_p(-1).value:
            return super().host_block(size)
        self._mapped = (found, size)
        return np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(found)), np.uint8)

    def __enter__(self) -> PlacedArena:
        return self

    def __exit__(self, *exc: object) -> None:
        """Give the place back: nothing of the arena may be used afterwards."""
        if self._mapped[1]:
            _LIBC.munmap(*self._mapped)
            self._mapped = (0, 0)
