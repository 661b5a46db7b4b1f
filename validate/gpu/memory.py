"""The arrays of a launch in memory of a GPU, with guards around each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from validate.gpu.device import load_cupy
from validate.host.memory import Arena
from validate.row.inputs import Array

_DEVICE_MEMORY = 2
"""`cudaMemoryTypeDevice`."""
# The pool of page-locked memory keeps what it once had, in powers of two.
_MOST_LOCKED_BYTES = 128 << 20


class NotOnDevice(RuntimeError):  # noqa: N818
    """A buffer does not lie where it must: a bug of ours, never a row's fault."""


class DeviceArena(Arena):
    """An arena on the current device: what the host holds is a copy, sent and fetched whole."""

    def __init__(self, values: Mapping[str, Array]) -> None:
        super().__init__(values)
        cupy = load_cupy()
        self.block: Any = cupy.empty(self.memory.size, cupy.uint8)
        found = cupy.cuda.runtime.pointerGetAttributes(self.block.data.ptr)
        here = cupy.cuda.runtime.getDevice()
        if found.type != _DEVICE_MEMORY or found.device != here:
            raise NotOnDevice(f"memory of type {found.type} on device {found.device}, not {here}")
        self.send()

    def host_block(self, size: int) -> Array:
        """Page-locked memory, which the device copies from and to by itself."""
        if size > _MOST_LOCKED_BYTES:
            return super().host_block(size)
        locked = load_cupy().cuda.alloc_pinned_memory(size)
        return np.frombuffer(locked, np.uint8, size)

    @property
    def base(self) -> int:
        return int(self.block.data.ptr)

    def send(self) -> None:
        """Copy what the host holds to the device."""
        self.block.set(self.memory)

    def fetch(self) -> None:
        """Copy what the device holds to the host."""
        self.block.get(out=self.memory)
