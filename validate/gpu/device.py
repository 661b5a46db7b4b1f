"""Which GPUs there are. Nothing here, or built on this, has another place to run."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from validate.errors import GpuUnavailable

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_REMEDY = "pip install 'pairsmith[gpu]', or 'pairsmith[gpu12]' for a driver of CUDA 12"


@dataclass(frozen=True)
class Device:
    """One visible GPU. `index` counts among the visible ones; `uuid` is as nvidia-smi has it."""

    index: int
    name: str
    uuid: str
    arch: str
    memory_bytes: int
    multiprocessors: int
    l2_bytes: int
    driver: str
    cuda: str
    cupy: str


def load_cupy() -> Any:
    """CuPy. Raises GpuUnavailable when it is not there or cannot be imported."""
    try:
        return import_module("cupy")
    except ImportError as error:
        said = str(error).splitlines()[0]
        raise GpuUnavailable(f"a GPU run needs CuPy: {_REMEDY} ({said})") from None


def devices() -> list[Device]:
    """Every visible GPU. Raises GpuUnavailable when there is none: nothing runs elsewhere."""
    cupy = load_cupy()
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise GpuUnavailable(f"no GPU to run on: {error}") from None
    if not count:
        raise GpuUnavailable("no GPU to run on: CUDA_VISIBLE_DEVICES hides all of them")
    return [_device(cupy, index) for index in range(count)]


def alone_visible(device: Device) -> dict[str, str]:
    """Environment of a child that sees one of this process's GPUs alone: it starts sooner."""
    shown = os.environ.get(_VISIBLE)
    names = shown.split(",") if shown is not None else None
    return {_VISIBLE: names[device.index].strip() if names else str(device.index)}


def _device(cupy: Any, index: int) -> Device:
    runtime = cupy.cuda.runtime
    found = runtime.getDeviceProperties(index)
    return Device(
        index=index,
        name=found["name"].decode(),
        uuid=_uuid(index),
        arch=f"sm_{found['major']}{found['minor']}",
        memory_bytes=int(found["totalGlobalMem"]),
        multiprocessors=int(found["multiProcessorCount"]),
        l2_bytes=int(found["l2CacheSize"]),
        driver=_version(runtime.driverGetVersion()),
        cuda=_version(runtime.runtimeGetVersion()),
        cupy=str(cupy.__version__),
    )


def _uuid(index: int) -> str:
    """CuPy cuts the bytes off at the first zero, so the driver is asked."""
    driver, raw, handle = ctypes.CDLL("libcuda.so.1"), (ctypes.c_ubyte * 16)(), ctypes.c_int()
    codes = (
        driver.cuInit(0),
        driver.cuDeviceGet(ctypes.byref(handle), index),
        getattr(driver, "cuDeviceGetUuid_v2", driver.cuDeviceGetUuid)(raw, handle),
    )
    if any(codes):
        raise GpuUnavailable(f"the driver gives no UUID for GPU {index}: errors {codes}")
    digits = bytes(raw).hex()
    parts = (digits[0:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32])
    return f"GPU-{'-'.join(parts)}"


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
