"""An OpenCL runtime for the CPU: found, and asked to build texts and to run kernels.

`OCL_ICD_VENDORS` comes first, then `intel-opencl-rt` of PyPI, then what the system names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np

from validate.errors import OpenclUnavailable
from validate.row.inputs import Array

INSTALL = "pip install 'pairsmith[opencl]'"
OPTIONS = ("-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt")
GUARD_BYTES = 4096
"""Before and behind each array: more than the alignment that any device asks of a part of it."""
_PATTERN = 0xC7
_LIBRARY = "libintelocl.so"
_TRIAL = "__kernel void trial(__global float *y) { y[get_global_id(0)] = 1.0f; }"


class BuildFailed(Exception):  # noqa: N818 - it is a result of a check, not an error of ours
    """The runtime's compiler refuses a text; the message is what it said."""


def runtime_library() -> Path | None:
    """The library of the runtime of `intel-opencl-rt`, where that is installed."""
    try:
        listed = files("intel-opencl-rt") or ()
    except PackageNotFoundError:
        return None
    named = (Path(str(path.locate())).resolve() for path in listed if path.name == _LIBRARY)
    return next((path for path in named if path.exists()), None)


class Cpu:
    """The first device for the CPU: a context, a queue and what it is called."""

    def __init__(self, cache: Path) -> None:
        """`cache` is a folder for what the runtime keeps of built texts.

        Raises OpenclUnavailable where PyOpenCL or a runtime is missing, or builds nothing here.
        """
        library = runtime_library()
        if library is not None:
            os.environ.setdefault("OCL_ICD_VENDORS", str(library))
        os.environ["POCL_CACHE_DIR"] = str(cache)
        os.environ["PYOPENCL_NO_CACHE"] = "1"
        try:
            import pyopencl
        except ImportError as error:
            raise OpenclUnavailable(f"no PyOpenCL ({error}): {INSTALL}") from None
        self.cl: Any = pyopencl
        device = self._device()
        self.name = f"{device.platform.version.strip()}, {device.name.strip()}"
        self.context = self.cl.Context([device])
        self.queue = self.cl.CommandQueue(self.context)
        self._built: tuple[str, tuple[str, ...], Any] | None = None
        self._require_builds()

    def _require_builds(self) -> None:
        # A runtime may be found and know no processor that is newer than itself, as PoCL 3.0.
        try:
            self.build(_TRIAL)
        except BuildFailed as error:
            said = " ".join(str(error).split())
            raise OpenclUnavailable(f"{self.name} builds no kernel ({said}): {INSTALL}") from None

    def _device(self) -> Any:
        try:
            platforms = self.cl.get_platforms()
        except self.cl.LogicError as error:
            raise OpenclUnavailable(f"no OpenCL runtime ({error}): {INSTALL}") from None
        kind = self.cl.device_type.CPU
        devices = [d for p in platforms for d in p.get_devices() if d.type & kind]
        if not devices:
            raise OpenclUnavailable(f"no OpenCL runtime for the CPU: {INSTALL}")
        return devices[0]

    def build(self, text: str, options: Sequence[str] = OPTIONS) -> Any:
        """A built program; the last one is kept. Raises BuildFailed."""
        asked = (text, tuple(options))
        if self._built is None or self._built[:2] != asked:
            try:
                made = self.cl.Program(self.context, text).build(list(options), cache_dir=False)
            except self.cl.RuntimeError as error:
                raise BuildFailed(str(error)) from None
            self._built = (*asked, made)
        return self._built[2]

    def put(self, value: Array) -> Guarded:
        """An array in memory of the device, guarded."""
        return Guarded(self, value)

    def launch(
        self,
        program: Any,
        kernel: str,
        grid: Sequence[int],
        block: Sequence[int],
        values: Sequence[Any],
    ) -> None:
        """Run a kernel to its end; `values` are `Guarded` arrays or what is passed by value."""
        asked = getattr(program, kernel)
        for place, value in enumerate(values):
            asked.set_arg(place, value.inside if isinstance(value, Guarded) else _bytes(value))
        size = [g * b for g, b in zip(grid, block, strict=True)]
        self.cl.enqueue_nd_range_kernel(self.queue, asked, size, list(block))
        self.queue.finish()


class Guarded:
    """An array between two stretches of bytes that no kernel has any business with."""

    def __init__(self, cpu: Cpu, value: Array) -> None:
        self.cpu, self.value = cpu, value
        flags = cpu.cl.mem_flags
        held = np.full(2 * GUARD_BYTES + self._room(), _PATTERN, np.uint8)
        held[GUARD_BYTES : GUARD_BYTES + value.nbytes] = _bytes(value)
        self.whole = cpu.cl.Buffer(
            cpu.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=held
        )
        self.inside = self.whole.get_sub_region(GUARD_BYTES, self._room())

    def _room(self) -> int:
        return max(1, self.value.nbytes)

    def read(self) -> tuple[Array, int | None]:
        """The array as it is now, and the first byte outside it that was written, if any."""
        held = np.empty(2 * GUARD_BYTES + self._room(), np.uint8)
        self.cpu.cl.enqueue_copy(self.cpu.queue, held, self.whole)
        inside = held[GUARD_BYTES : GUARD_BYTES + self.value.nbytes]
        outside = held != _PATTERN
        outside[GUARD_BYTES : GUARD_BYTES + self.value.nbytes] = False
        found = int(np.argmax(outside)) - GUARD_BYTES if outside.any() else None
        laid = inside.copy().view(self.value.dtype).reshape(self.value.shape)
        return laid, found


def _bytes(value: Array) -> Array:
    return np.ascontiguousarray(value).reshape(-1).view(np.uint8)
