"""What a run would take, from a small part of it that is made on the spot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pyarrow as pa

from synth.codegen.translator import check_warp_version
from synth.dataset.files import parquet_bytes, read_parquet
from synth.dataset.placement import shard_name
from synth.dataset.positions import Task, indices_per_unit, unit_spans, unit_task
from synth.dataset.settings import Settings, Versions
from synth.run.engine import InProcess
from synth.run.limits import require_numbers, require_sane
from validate.row.columns import ROW_SCHEMA

UNITS_TRIED = 4
"""The first of them warms compilers up and is not counted."""

ENOUGH_S = 10.0
"""Seconds of counted units after which no further one is tried."""

INDICES_TRIED = 8


def estimate(settings: Settings, n: int, workers: int, shard_size: int) -> Iterator[str]:
    """Rows, shards, units, hours and bytes of a run, line by line; nothing is written.

    What follows from the numbers alone comes at once, the rest when some of the first units are
    made, in this process: several workers share cores and memory, so that the hours of many are a
    lower bound. Raises :class:`SettingsError`.
    """
    require_sane(workers, n)
    require_numbers(n, shard_size)
    check_warp_version()
    count = len(settings.categories)
    per_unit = indices_per_unit(n, count)
    units = sum(1 for _ in unit_spans(n, count, per_unit))
    shards = [max(1, round(share * n / shard_size + 0.5)) for share in (0.9, 0.05, 0.05)]
    yield f"{n} rows at --verify {settings.verify}: {units} units of {per_unit * count} rows"
    yield f"about {sum(shards)} shards of {shard_size} rows ({shard_name('train', shards[0] - 1)})"
    seconds, unit_bytes, shard_bytes = _tried(settings, n)
    hours = seconds * n / 3600
    yield (
        f"{seconds * 1e3:.1f} ms a row measured here: {hours:.2f} core-hours, "
        f"{hours / workers:.2f} hours with {workers} workers if each has a core"
    )
    yield (
        f"at most {shard_bytes:.0f} bytes a row (large shards pack better): "
        f"{shard_bytes * n / 1e9:.2f} GB, and {unit_bytes * n / 1e9:.2f} GB for units while it runs"
    )


def _tried(settings: Settings, n: int) -> tuple[float, float, float]:
    """Seconds, bytes in units, and bytes in a shard, of one row."""
    versions = Versions.installed(settings.verify)
    spent, rows, size, tables = 0.0, 0, 0, []
    tasks = islice(_tasks(settings, n), UNITS_TRIED)
    began = time.perf_counter()
    for number, (task, data) in enumerate(InProcess().run(settings, versions, tasks)):
        now = time.perf_counter()
        if number or n <= len(task.starts):
            spent, rows, size = spent + now - began, rows + len(task.starts), size + len(data)
            tables.append(read_parquet(data, ROW_SCHEMA.names))
            if spent > ENOUGH_S:
                break
        began = now
    return spent / rows, size / rows, len(parquet_bytes(pa.concat_tables(tables))) / rows


def _tasks(settings: Settings, n: int) -> Iterator[Task]:
    count = len(settings.categories)
    for span in unit_spans(max(n, 2 * INDICES_TRIED * count), count, INDICES_TRIED):
        wanted = np.arange(span[0] * count, span[1] * count)
        yield unit_task(span, settings.categories, wanted)
