"""Load a kernel on the current GPU and launch it on guarded arrays, timed by events."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from validate.gpu.device import load_cupy
from validate.host.launch import launch_bounds
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


MOST_BLOCKS = 2**31 - 1

# Errors after which the process can do nothing more with the device.
_STICKY = frozenset({700, 702, 709, 710, 713, 714, 715, 716, 717, 718, 719, 721, 999})
_NO_MORE_PARAMETERS = 1


class LaunchFailed(Exception):  # noqa: N818 - a result of a check, not an error of ours
    """The kernel could not be launched or broke off. After a `sticky` one the process must end."""

    def __init__(self, reason: str, sticky: bool) -> None:
        super().__init__(reason)
        self.sticky = sticky


class NotInBinary(Exception):  # noqa: N818 - a result of a check, not an error of ours
    """The machine code has no kernel of the name, or cannot be loaded."""


class WrongParameters(Exception):  # noqa: N818 - a result of a check, not an error of ours
    """The kernel takes other parameters than the row says."""


@dataclass(frozen=True)
class Call:
    """One launch, ready to be made: parameters were compared with the kernel's."""

    function: Any
    grid: tuple[int, ...]
    block: tuple[int, ...]
    passed: tuple[Any, ...]
    shared_bytes: int

    def enqueue(self) -> None:
        """Queue it on the current stream; errors come as CuPy raises them."""
        self.function(self.grid, self.block, self.passed, self.shared_bytes)


@dataclass(frozen=True)
class Calls:
    """Launches one after the other, of which each finds what the one before it has written."""

    calls: Sequence[Call]

    def enqueue(self) -> None:
        """Queue them on the current stream; errors come as CuPy raises them."""
        for call in self.calls:
            call.enqueue()

    def run(self) -> float:
        """Run them to their end and give the time on the device in microseconds, from the start of
        the first.

        Raises LaunchFailed.
        """
        cupy = load_cupy()
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        with failures(cupy):
            cupy.cuda.runtime.deviceSynchronize()
            with stream_of(cupy.cuda.runtime.getDevice()):
                start.record()
                self.enqueue()
                end.record()
            end.synchronize()
            return float(cupy.cuda.get_elapsed_time(start, end)) * 1000.0
        raise AssertionError("unreachable")


@contextmanager
def failures(cupy: Any) -> Iterator[None]:
    """Turn what CuPy raises for a launch into LaunchFailed."""
    try:
        yield
    except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError) as error:
        raise LaunchFailed(str(error), int(error.status) in _STICKY) from None


@dataclass(frozen=True)
class Kernel:
    """A kernel in a module that is loaded on the current device."""

    module: Any
    function: Any

    def call(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        values: Sequence[Array],
        shared_bytes: int = 0,
    ) -> Call:
        """A launch with these parameters. Raises WrongParameters and LaunchFailed."""
        _check_parameters(self.function, values)
        if max(grid) > MOST_BLOCKS:
            raise LaunchFailed(f"a grid of {tuple(grid)} is too large", sticky=False)
        passed = tuple(map(packed, values))
        return Call(self.function, tuple(grid), tuple(block), passed, shared_bytes)


def load_kernel(binary: bytes, symbol: str) -> Kernel:
    """A kernel of machine code. Raises NotInBinary."""
    cupy = load_cupy()
    module = cupy.cuda.function.Module()
    try:
        module.load(binary)
        return Kernel(module, module.get_function(symbol))
    except cupy.cuda.driver.CUDADriverError as error:
        raise NotInBinary(f"{symbol}: {error}") from None


@dataclass
class DeviceLauncher:
    """Launches a kernel of Warp's text as Warp does: bounds first, one thread for each element.

    `inner` is how many of the last extents of a launch its kernel does not ask for, 1 for tiles;
    `time_us` is that of the last launch.
    """

    kernel: Kernel
    block_dim: int
    inner: int = 0
    time_us: float = 0.0

    def arena(self, values: Mapping[str, Array]) -> Arena:
        """Memory of the current device for arrays that the kernel is to be given."""
        return DeviceArena(values)

    def launch(self, dim: Sequence[int], values: Sequence[Array], arenas: Sequence[Arena]) -> None:
        """Launch over `dim` and fetch the arenas. Raises WrongParameters and LaunchFailed."""
        self.time_us = Calls([self.call(dim, values)]).run()
        for arena in arenas:
            assert isinstance(arena, DeviceArena)
            arena.fetch()

    def call(self, dim: Sequence[int], values: Sequence[Array]) -> Call:
        """The launch over `dim`."""
        blocks = -(-prod(dim) // self.block_dim)
        return self.kernel.call(
            (blocks,), (self.block_dim,), [launch_bounds(dim, self.inner), *values]
        )


def packed(value: Any) -> Any:
    """A parameter as CuPy passes it: a composite as one item of its own bytes."""
    if value.dtype.names is not None:
        return value
    if value.ndim == 0:
        return value[()]
    item = np.zeros((), np.dtype([("c", value.dtype, value.shape)]))
    item["c"] = value
    return item


@lru_cache(maxsize=64)
def stream_of(device: int) -> Any:
    """The stream that launches on a device share."""
    return load_cupy().cuda.Stream(non_blocking=True)


@lru_cache(maxsize=1)
def _parameter_info() -> Any:
    """`cuFuncGetParamInfo` (CUDA 12.4), or None in an older driver."""
    return getattr(ctypes.CDLL("libcuda.so.1"), "cuFuncGetParamInfo", None)


def _check_parameters(function: Any, values: Sequence[Array]) -> None:
    ask = _parameter_info()
    if ask is None:
        return
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    sizes: list[int] = []
    while True:
        code = ask(
            ctypes.c_void_p(function.ptr),
            ctypes.c_size_t(len(sizes)),
            ctypes.byref(offset),
            ctypes.byref(size),
        )
        if code == _NO_MORE_PARAMETERS:
            break
        if code:
            raise LaunchFailed(f"cuFuncGetParamInfo gives error {code}", sticky=False)
        sizes.append(size.value)
    given = [value.nbytes for value in values]
    if sizes != given:
        raise WrongParameters(f"the kernel takes parameters of {sizes} bytes, the row has {given}")
