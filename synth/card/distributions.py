"""What a dataset consists of, counted column by column: no row is held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synth.dataset.files import read_parquet

TEXTS = {"python": "Warp Python", "cuda_plain": "plain CUDA", "cuda_forward": "Warp's CUDA"}
"""Columns whose length in lines is told, and what people call them."""

_CHECKS = ("compile_archs", "run_forward", "run_plain", "run_array", "adjoint", "gradient")
_COLUMNS = [
    *("category", "level", "ops", "schedule", *TEXTS),
    *("args.list.element.dtype", "args.list.element.fields.list.element.dtype"),
    *(f"checks.{name}" for name in _CHECKS),
]


@dataclass
class Distributions:
    """Counts of rows: by (category, level), dtype of an argument, op, plain style and evidence.

    A row counts once for each dtype and op that it has; ``evidence`` counts ``column: value``;
    ``lines`` has the number of lines of each text, nulls left out.
    """

    rows: int = 0
    cells: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    dtypes: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    styles: Counter[str] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)
    lines: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    def quantiles(self, text: str) -> tuple[int, int, int]:
        """Lines at 10, 50 and 90 % of the rows."""
        low, middle, high = np.quantile(self.lines[text], [0.1, 0.5, 0.9], method="nearest")
        return int(low), int(middle), int(high)


def distributions(shards: Sequence[Path]) -> Distributions:
    """Count the rows of some shards."""
    found = Distributions()
    lines: dict[str, list[NDArray[np.int64]]] = {name: [] for name in TEXTS}
    for path in shards:
        table = read_parquet(path, _COLUMNS)
        found.rows += table.num_rows
        pairs = zip(table["category"].to_pylist(), table["level"].to_pylist(), strict=True)
        found.cells.update(pairs)
        found.ops.update(_counts(pc.list_flatten(table["ops"])))
        found.styles.update(_counts(_styles(table["schedule"])))
        found.dtypes.update(_dtypes(table["args"]))
        for name in _CHECKS:
            _count_check(found.evidence, name, pc.struct_field(table["checks"], name))
        for name, pieces in lines.items():
            counted = pc.count_substring(table[name].drop_null(), "\n").cast(pa.int64())
            pieces.append(counted.to_numpy())
    found.lines = {name: np.concatenate(pieces) for name, pieces in lines.items() if pieces}
    found.lines = {name: counts for name, counts in found.lines.items() if counts.size}
    return found


def _counts(values: pa.ChunkedArray) -> dict[str, int]:
    return {
        str(entry["values"]): entry["counts"]
        for entry in pc.value_counts(values).to_pylist()
        if entry["values"] is not None
    }


def _styles(schedules: pa.ChunkedArray) -> pa.ChunkedArray:
    """The style that each schedule's JSON names."""
    found = pc.extract_regex(schedules.drop_null(), r'"style": "(?P<style>\w+)"')
    return pc.struct_field(found, "style")


def _dtypes(args: pa.ChunkedArray) -> dict[str, int]:
    """Rows by dtype; a struct counts as the dtypes of its fields."""
    args = args.combine_chunks()
    entries, row = pc.list_flatten(args), pc.list_parent_indices(args)
    fields = pc.struct_field(entries, "fields")
    has_fields = pc.greater(pc.fill_null(pc.list_value_length(fields), 0), 0)
    of_fields = pc.struct_field(pc.list_flatten(fields), "dtype")
    rows = [row.filter(pc.invert(has_fields)), row.take(pc.list_parent_indices(fields))]
    names = [pc.struct_field(entries, "dtype").filter(pc.invert(has_fields)), of_fields]
    pairs = pa.table(
        {
            "row": pa.chunked_array([r.cast(pa.int64()) for r in rows]),
            "dtype": pa.chunked_array(names),
        }
    )
    return _counts(pairs.group_by(["row", "dtype"]).aggregate([])["dtype"])


def _count_check(evidence: Counter[str], name: str, values: pa.ChunkedArray) -> None:
    if name == "compile_archs":
        values = pc.binary_join(values, " ")
    measured = _counts(values)
    evidence.update({f"{name}: {value}": count for value, count in measured.items()})
    if missing := len(values) - sum(measured.values()):
        evidence[f"{name}: not measured"] += missing
