"""What the current GPU can do at most, measured: copies, and fused multiply-adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from validate.gpu.bench import Turn, device_times
from validate.gpu.device import Device, load_cupy
from validate.gpu.launch import load_kernel
from validate.gpu.nvrtc import compile_plain

_COPY_BYTES = 1 << 30
_REPEATS = 9
_CHAINS = 8
_TURNS = 4096
_BLOCK = 256
_BLOCKS_A_MULTIPROCESSOR = 16
# Independent chains hide the latency of one; the sum is stored, so that none is left out.
_FMA = """
extern "C" __global__ void chains(%(t)s* out, %(t)s a, %(t)s b)
{
    %(t)s x[%(chains)d];
    for (int i = 0; i < %(chains)d; ++i) {
        x[i] = a + i + threadIdx.x;
    }
    for (int turn = 0; turn < %(turns)d; ++turn) {
        for (int i = 0; i < %(chains)d; ++i) {
            x[i] = x[i] * a + b;
        }
    }
    %(t)s sum = 0;
    for (int i = 0; i < %(chains)d; ++i) {
        sum += x[i];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


_VECTOR_BYTES = 16
_COPY = """
extern "C" __global__ void copy(float4* target, const float4* source, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        target[i] = source[i];
    }
}
"""


@dataclass(frozen=True)
class Peaks:
    """Bytes read and written a second by a copy on the device; floating point operations a second
    by chains of multiply-adds, by scalar type."""

    copy_bytes_per_s: float
    operations_per_s: dict[str, float]


def measure_peaks(device: Device) -> Peaks:
    """Measure on a device, which nothing else should use meanwhile."""
    cupy = load_cupy()
    with cupy.cuda.Device(device.index):
        rates = {
            scalar: _fma_rate(cupy, device, text, np.dtype(scalar))
            for scalar, text in (("float32", "float"), ("float64", "double"))
        }
        return Peaks(_copy_rate(cupy), rates)


def copy_times_us(device: Device, bytes_moved: Sequence[int]) -> list[float]:
    """How long copies take that read and write so many bytes together, timed as texts are: the L2
    cache flushed, the launch alone.

    A short copy does not come to the rate of :func:`measure_peaks`, as its first and last threads
    are as long on their way as those of a long one.
    """
    cupy = load_cupy()
    with cupy.cuda.Device(device.index):
        kernel = load_kernel(compile_plain(_COPY, device.arch), "copy")
        return [median(_copied(cupy, kernel, b // (2 * _VECTOR_BYTES))) for b in bytes_moved]


def _copied(cupy: Any, kernel: Any, count: int) -> list[float]:
    source, target = (cupy.ones(count * _VECTOR_BYTES, cupy.uint8) for _ in range(2))
    pointers = [np.array(array.data.ptr, np.uint64) for array in (target, source)]
    blocks = -(-count // _BLOCK)
    call = kernel.call((blocks,), (_BLOCK,), [*pointers, np.array(count, np.int32)])
    return device_times([Turn(lambda: None, call.enqueue)])


def _copy_rate(cupy: Any) -> float:
    source, target = (cupy.ones(_COPY_BYTES, cupy.uint8) for _ in range(2))
    return 2 * _COPY_BYTES / _seconds(cupy, lambda: cupy.copyto(target, source))


def _fma_rate(cupy: Any, device: Device, text: str, dtype: np.dtype[Any]) -> float:
    source = _FMA % {"t": text, "chains": _CHAINS, "turns": _TURNS}
    kernel = load_kernel(compile_plain(source, device.arch), "chains")
    blocks = device.multiprocessors * _BLOCKS_A_MULTIPROCESSOR
    out = cupy.empty(blocks * _BLOCK, dtype)
    pointer = np.array(out.data.ptr, np.uint64)
    call = kernel.call((blocks,), (_BLOCK,), [pointer, *np.array([0.999, 0.001], dtype)])
    return 2.0 * _CHAINS * _TURNS * blocks * _BLOCK / _seconds(cupy, call.enqueue)


def _seconds(cupy: Any, work: Callable[[], object]) -> float:
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    times = []
    for _ in range(_REPEATS):
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(float(cupy.cuda.get_elapsed_time(start, end)) * 1e-3)
    return median(times[1:])
