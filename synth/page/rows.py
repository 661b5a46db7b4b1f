"""Which rows of a dataset a page shows, and what it needs of each."""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.names import GPU
from synth.dataset.stored import Row, require_columns, rows_at, stored_rows
from synth.errors import SettingsError

COLUMNS = (
    *("id", "structure", "category", "idiom", "level", "kernel_name", "description", "python"),
    *("reference", "cuda_prologue", "cuda_helpers", "cuda_forward", "cuda_backward", "cuda_plain"),
    *("plain_args", "plain_scratch", "plain_launch", "schedule", "array_python", "array_reason"),
    *("cuda_plain_backward", "backward_args", "backward_scratch", "backward_launch"),
    *("backward_schedule", "backward_reference"),
    *("line_map_python", "line_map_cuda", "args"),
    *("sizes", "regime", "launch", "input_seed", "edge_inputs", "ops", "checks", "provenance"),
)
"""All but the program: it is for machines, and as long as the texts together."""

STRATUM = ("category", "level")
GPU_COLUMNS = ("id", "text", "status", "reason", "device", "time_us")

_EXACT_IN_A_DOUBLE = 2**53


@dataclass(frozen=True)
class Choice:
    """Rows of a dataset that a page shows, by their place in it, ascending; ``total``: of all."""

    places: list[int]
    total: int


def choose(out: Path, most: int, seen: Callable[[int], object] = lambda _n: None) -> Choice:
    """All rows, or ``most`` of them, evenly over category, level and split.

    The strata take turns, each giving the row whose id has the smallest sha256 of those left;
    one that has no more is passed over. Holds at most ``most`` places a stratum.
    :class:`SettingsError` when there is no dataset at ``out``.
    """
    kept: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    total = 0
    for split, row in stored_rows(out, ("id", *STRATUM)):
        require_columns(row, ("id", *STRATUM), out)
        heap = kept.setdefault((split, *(row[name] for name in STRATUM)), [])
        # Negated, because the largest leaves: heapq keeps the smallest on top.
        entry = (-int(hashlib.sha256(row["id"].encode()).hexdigest(), 16), total)
        if len(heap) < most:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
        total += 1
        seen(1)
    turns = (
        (turn, -digest, place)
        for heap in kept.values()
        for turn, (digest, place) in enumerate(sorted(heap, reverse=True))
    )
    return Choice(sorted(place for *_, place in heapq.nsmallest(most, turns)), total)


def chosen_rows(out: Path, choice: Choice) -> Iterator[tuple[str, Row]]:
    """The rows of a choice with their splits, as JSON can hold them, in the dataset's order."""
    for split, row in rows_at(out, choice.places, COLUMNS):
        require_columns(row, COLUMNS, out)
        yield split, {name: plain_value(row[name]) for name in COLUMNS}


def plain_value(value: Any) -> Any:
    """The value as JSON in a browser can hold it without loss.

    Whole numbers that a double cannot hold, infinities and NaN become text.
    """
    if isinstance(value, dict):
        return {name: plain_value(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain_value(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > _EXACT_IN_A_DOUBLE:
        return str(value)
    return value


def gpu_verdicts(out: Path, ids: Collection[str]) -> dict[str, list[Row]]:
    """What GPU runs (`gpu/`) showed of the texts of those rows; empty when nothing was run.

    Raises SettingsError for a file that cannot be read.
    """
    found: dict[str, list[Row]] = {}
    for path in sorted((out / GPU).glob("run-*.parquet")):
        try:
            for batch in pq.ParquetFile(path).iter_batches(columns=list(GPU_COLUMNS)):
                for record in batch.to_pylist():
                    if record["id"] in ids:
                        entry = {name: plain_value(record[name]) for name in GPU_COLUMNS[1:]}
                        found.setdefault(record["id"], []).append(entry)
        except (pa.ArrowInvalid, OSError, KeyError) as error:
            raise SettingsError(f"{path} cannot be read: {error}; delete it") from None
    return found
