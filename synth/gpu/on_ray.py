"""GPU runs as Ray tasks, one GPU each: rows and headers travel, results come back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.gpu.output import ROW_KEYS
from synth.gpu.run import versions
from synth.run.ray_start import RETRIES, result, start_ray
from validate.errors import GpuUnavailable
from validate.gpu.device import Device, devices
from validate.gpu.runner import GpuOptions, RowVerdict, default_workers, run_rows

Row = Mapping[str, Any]

ROWS_AT_ONCE = 1024
"""Rows of a task: it starts processes and contexts of its own, which takes seconds."""


class RayGpus:
    """The GPUs of a Ray cluster. ``devices`` are those that have answered so far."""

    def __init__(self, address: str | None) -> None:
        """Raises :class:`synth.errors.SettingsError` without Ray, GpuUnavailable without a GPU."""
        self._ray = start_ray(address, None)
        self.devices: list[Device] = []
        self._versions = versions()
        self.gpus = int(self._ray.cluster_resources().get("GPU", 0))
        if not self.gpus:
            self._ray.shutdown()
            raise GpuUnavailable(f"no GPU to run on: Ray at {address or 'this machine'} has none")

    def run(self, rows: Iterable[Row], options: GpuOptions) -> Iterator[RowVerdict]:
        """Verdicts in no order; ``options.workers`` 0 means as many as suit each machine.

        A task whose machine dies is done again elsewhere.
        """
        ray, left = self._ray, iter(rows)
        work = ray.remote(num_gpus=1, num_cpus=1, max_retries=RETRIES)(run_on_a_gpu)
        headers = ray.put(files_of(options.include_dir))
        waiting: list[Any] = []
        while True:
            while len(waiting) <= self.gpus and (batch := list(islice(left, ROWS_AT_ONCE))):
                waiting.append(work.remote(batch, options, headers))
            if not waiting:
                return
            done, waiting = ray.wait(waiting, num_returns=1)
            device, made_by, verdicts = result(ray, done[0])
            if made_by != self._versions:
                raise SettingsError(
                    f"the machine of {device.name} has {made_by} in place of {self._versions}; "
                    "install the same on every machine"
                )
            if device not in self.devices:
                self.devices.append(device)
            yield from verdicts

    def close(self) -> None:
        self._ray.shutdown()


def run_on_a_gpu(
    rows: list[Row], options: GpuOptions, headers: Mapping[str, bytes]
) -> tuple[Device, dict[str, str], list[RowVerdict]]:
    """Run rows on the GPU that is this process's own; what it is, versions there, verdicts.

    Raises GpuUnavailable when there is none.
    """
    device = devices()[0]
    with tempfile.TemporaryDirectory(prefix="pairsmith-include-") as folder:
        for name, data in headers.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        here = replace(
            options,
            include_dir=Path(folder),
            workers=options.workers or default_workers([device]),
        )
        verdicts = [
            replace(verdict, row={key: verdict.row[key] for key in ROW_KEYS})
            for verdict in run_rows(rows, [device], here)
        ]
    return device, versions(), verdicts


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder by their names in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
