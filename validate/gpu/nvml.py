"""What NVML says of the GPUs while something runs: use, memory, power and clock, sampled."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

INTERVAL_S = 0.2


@dataclass(frozen=True)
class Sample:
    """One look at one GPU. `busy_percent` is NVML's share of the last interval of its own in which
    any kernel ran; `at_s` counts from the start of sampling."""

    uuid: str
    at_s: float
    busy_percent: int
    memory_bytes: int
    power_w: float
    clock_mhz: int


@dataclass
class Sampler:
    """Samples GPUs in a thread; use it as a context manager.

    Without the bindings (nvidia-ml-py) or the library there are no samples, and `problem` says why.
    """

    uuids: Sequence[str]
    interval_s: float = INTERVAL_S
    samples: list[Sample] = field(default_factory=list)
    problem: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Sampler:
        try:
            nvml: Any = import_module("pynvml")
            nvml.nvmlInit()
            handles = {uuid: nvml.nvmlDeviceGetHandleByUUID(uuid) for uuid in self.uuids}
        except ImportError:
            self.problem = "no samples of GPU use: pip install nvidia-ml-py"
        except nvml.NVMLError as error:
            self.problem = f"no samples of GPU use: {error}"
        else:
            self._thread = threading.Thread(target=self._watch, args=(nvml, handles), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def mean_busy_percent(self) -> float | None:
        """The mean over all samples; None without any."""
        if not self.samples:
            return None
        return sum(sample.busy_percent for sample in self.samples) / len(self.samples)

    def _watch(self, nvml: Any, handles: dict[str, Any]) -> None:
        began = time.monotonic()
        while not self._stop.wait(self.interval_s):
            for uuid, handle in handles.items():
                try:
                    self.samples.append(_look(nvml, uuid, handle, time.monotonic() - began))
                except nvml.NVMLError as error:
                    self.problem = f"a sample of GPU use is missing: {error}"


def _look(nvml: Any, uuid: str, handle: Any, at_s: float) -> Sample:
    return Sample(
        uuid=uuid,
        at_s=at_s,
        busy_percent=int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu),
        memory_bytes=int(nvml.nvmlDeviceGetMemoryInfo(handle).used),
        power_w=nvml.nvmlDeviceGetPowerUsage(handle) / 1000.0,
        clock_mhz=int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
    )
