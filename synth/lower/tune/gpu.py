"""Candidates on a GPU by CuPy: compiled in processes, proven against float64, timed by events.

kernel_tuner's `lang="CUPY"` is not asked to: it launches one kernel a configuration, where parts of
k need two, and takes no more than 48 KiB of dynamic shared memory (`notes/measurements/lower.md`).
"""

from __future__ import annotations

import ctypes
import os
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from synth.lower.op import Lowered, OpSpec
from synth.lower.tune.bench import Outcome
from synth.lower.tune.case import Case
from validate.gpu.bench import Turn, device_times
from validate.gpu.device import Device, load_cupy
from validate.gpu.launch import LaunchFailed, failures
from validate.gpu.nvrtc import Refused, compile_logged, version_for_gpus
from validate.row.archs import MOST_SHARED_BYTES, OWN_ARCHS
from validate.statuses import GpuStatus
from validate.text.formula import evaluate
from validate.text.launches import FORMULA, listed
from validate.text.ptx import usage

REPEATS = 15
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class _Compiled:
    """Machine code and the log of ptxas, or why there is none."""

    image: bytes
    log: str
    refused: str = ""


class CupyBench:
    """One GPU of this machine; use it as a context manager."""

    def __init__(self, device: Device, workers: int | None = None) -> None:
        """Raises GpuUnavailable without CuPy, CompileUnavailable without NVRTC."""
        self.cupy = load_cupy()
        self.cupy.cuda.Device(device.index).use()
        self.device, self.arch = device.name, device.arch
        self.compiler = f"NVRTC {version_for_gpus()}"
        self.clock = (
            f"CUDA events, the median of {REPEATS}, the L2 cache written before; "
            f"CuPy {device.cupy}, driver {device.driver}"
        )
        self._workers = workers or max(1, (os.cpu_count() or 2) - 2)
        self._waiting: dict[str, Future[_Compiled]] = {}
        self._case: tuple[str, Case] | None = None
        self._began_s = time.monotonic()

    def __enter__(self) -> CupyBench:
        self._pool = ProcessPoolExecutor(
            self._workers, mp_context=get_context("spawn"), initializer=_end_with_parent
        )
        self._folder = tempfile.TemporaryDirectory(prefix="pairsmith-tune-")
        return self

    def __exit__(self, *exc: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._folder.cleanup()

    def restart(self) -> None:
        """Begin a budget anew."""
        self._began_s = time.monotonic()

    def elapsed_s(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began_s

    def ahead(self, texts: Sequence[Lowered]) -> None:
        """Have texts compiled by the processes."""
        for text in texts:
            self._compiling(text)

    def measure(self, spec: OpSpec, lowered: Lowered, sizes: Mapping[str, int]) -> Outcome:
        """Compile a text, prove it against float64 and time it."""
        compiled = self._compiling(lowered).result()
        if compiled.refused:
            return Outcome(GpuStatus.COMPILE_ERROR, compiled.refused)
        case = self.case(spec, sizes)
        used = _resources(compiled.log, lowered)
        try:
            work = self.launcher(lowered, compiled.image, case)
            case.clear()
            with failures(self.cupy):
                work()
                self.cupy.cuda.runtime.deviceSynchronize()
            errors = case.errors(spec) if case.wanted is not None else None
            if errors is not None and errors.share > 1.0:
                reason = f"an element is off by {errors.share:.3g} of what is allowed"
                return Outcome(GpuStatus.WRONG_VALUE, reason, errors.norm, errors.share, (), used)
            times = device_times([Turn(lambda: None, work)], REPEATS)
        except LaunchFailed as failed:
            return Outcome(GpuStatus.LAUNCH_ERROR, str(failed), resources=used, fatal=failed.sticky)
        unproven = "" if errors else "no reference for arrays of this size: the error is not known"
        error, share = (errors.norm, errors.share) if errors else (None, None)
        return Outcome(GpuStatus.PASSED, unproven, error, share, times, used)

    def case(self, spec: OpSpec, sizes: Mapping[str, int]) -> Case:
        """The arrays of a problem at sizes: those of the last one are kept."""
        fields = {n: v for n, v in spec.as_dict().items() if n != "schedule"}
        name = repr((fields, dict(sizes)))
        if self._case is None or self._case[0] != name:
            self._case = None
            self.cupy.get_default_memory_pool().free_all_blocks()
            self._case = (name, Case(spec, sizes, self.cupy))
        return self._case[1]

    def launcher(self, lowered: Lowered, image: bytes, case: Case) -> Callable[[], None]:
        """What launches a text on a case's arrays. Raises LaunchFailed."""
        path = Path(self._folder.name, f"{_name(lowered)}.cubin")
        path.write_bytes(image)
        known = dict(case.arrays)
        for one in lowered.scratch:
            size = int(evaluate(one["count"], case.sizes))
            known[one["name"]] = self.cupy.empty(size, one["dtype"])
        calls = []
        with failures(self.cupy):
            module = self.cupy.RawModule(path=str(path))
            for name, launch, passed in launches_at(lowered, case.sizes):
                kernel = module.get_function(name)
                shared = int(evaluate(str(launch["shared_bytes"]), case.sizes))
                if shared > MOST_SHARED_BYTES:
                    kernel.max_dynamic_shared_size_bytes = shared
                values = tuple(
                    known[one] if isinstance(one, str) else np.int32(one) for one in passed
                )
                grid = tuple(int(evaluate(str(extent), case.sizes)) for extent in launch["grid"])
                calls.append((kernel, grid, tuple(launch["block"]), values, shared))

        def work() -> None:
            for kernel, grid, block, values, shared in calls:
                kernel(grid, block, values, shared_mem=shared)

        return work

    def _compiling(self, lowered: Lowered) -> Future[_Compiled]:
        name = _name(lowered)
        if name not in self._waiting:
            arch = next((own for own in lowered.archs if OWN_ARCHS[own] == self.arch), self.arch)
            self._waiting[name] = self._pool.submit(_compile, lowered.text, arch)
        return self._waiting[name]


def launches_at(
    lowered: Lowered, sizes: Mapping[str, int]
) -> list[tuple[str, Mapping[str, Any], list[str | int]]]:
    """Of each launch of a text its kernel, itself, and what it is passed: names and numbers."""
    every = [
        str(arg["name"]) if arg["size"] is None else f"{FORMULA}{arg['size']}"
        for arg in lowered.args
    ]
    found = []
    for launch in listed(lowered.launch):
        passed: list[str | int] = [
            int(evaluate(name[1:], sizes)) if name.startswith(FORMULA) else name
            for name in launch.get("args", every)
        ]
        found.append((launch.get("kernel", lowered.kernel_name), launch, passed))
    return found


def _resources(log: str, lowered: Lowered) -> dict[str, dict[str, int]]:
    """Of each kernel, by the log of ptxas and the launch."""
    dynamic = {
        launch.get("kernel", lowered.kernel_name): launch["shared_bytes"]
        for launch in listed(lowered.launch)
    }
    return {
        name: {
            "registers": one.registers,
            "spill_bytes": one.spill_stores + one.spill_loads,
            "shared_bytes": one.shared_bytes,
            "dynamic_shared_bytes": int(dynamic.get(name, 0)),
        }
        for name, one in usage(log).items()
    }


def _name(lowered: Lowered) -> str:
    return sha256(lowered.text.encode()).hexdigest()[:32]


def _compile(text: str, arch: str) -> _Compiled:
    try:
        return _Compiled(*compile_logged(text, arch, ("--ptxas-options=-v",)))
    except Refused as refused:
        return _Compiled(b"", "", str(refused) or "refused")


def _end_with_parent() -> None:
    """Compilers do not outlive the tuner, however it ends; Ctrl-C is the tuner's."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
