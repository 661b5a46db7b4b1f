"""Load a kernel on the current GPU and launch it; times come from events on its stream."""

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
from validate.gpu.memory import DeviceArena
from validate.host.launch import launch_bounds
from validate.host.memory import Arena
from validate.row.inputs import Array

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

    def run(self) -> float:
        """Run it to its end and give its time on the device in microseconds.

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

    `time_us` is that of the last launch.
    """

    kernel: Kernel
    block_dim: int
    time_us: float = 0.0

    def arena(self, values: Mapping[str, Array]) -> Arena:
        """Memory of the current device for arrays that the kernel is to be given."""
        return DeviceArena(values)

    def launch(self, dim: Sequence[int], values: Sequence[Array], arenas: Sequence[Arena]) -> None:
        """Launch over `dim` and fetch the arenas. Raises WrongParameters and LaunchFailed."""
        self.time_us = self.call(dim, values).run()
        for arena in arenas:
            assert isinstance(arena, DeviceArena)
            arena.fetch()

    def call(self, dim: Sequence[int], values: Sequence[Array]) -> Call:
        """The launch over `dim`."""
        blocks = -(-prod(dim) // self.block_dim)
        return self.kernel.call((blocks,), (self.block_dim,), [launch_bounds(dim), *values])


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
