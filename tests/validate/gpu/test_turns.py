"""Turns of loops are those that a run of the reference counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.dataset.stored import stored_rows
from validate.gpu.turns import longest_loops
from validate.row.sizes import own_sizes

SAMPLES = Path(__file__).parents[3] / "data" / "samples"

REFERENCE = """
def k(dim, x, table, n, out):
    def thread(i):
        total = 0.0
        for j in range(n):
            for m in range(1, table.shape[1] - 1):
                total += x[j]
        for j in range(len(x)):
            total += x[j]
        for j in range(int(x[0])):
            total += 1.0
        out[i] = total

    for i in range(dim[0]):
        thread(i)
"""


def _row() -> dict[str, Any]:
    shapes = {"x": ["n"], "table": ["3", "w"], "out": ["n"]}
    arrays = [
        {"name": name, "kind": "array", "shape": shape, "init": "uniform"}
        for name, shape in shapes.items()
    ]
    scalar = {"name": "n", "kind": "scalar", "shape": [], "init": "size:n"}
    return {"args": [*arrays, scalar], "reference": REFERENCE}


@pytest.mark.parametrize(
    ("sizes", "turns"), [({"n": 7, "w": 5}, 21), ({"n": 9, "w": 2}, 9), ({"n": 1, "w": 1}, 1)]
)
def test_the_longest_nest_over_sizes_counts(sizes: dict[str, int], turns: int) -> None:
    assert longest_loops(_row(), sizes) == turns


@pytest.mark.parametrize(
    ("loop", "turns"),
    [
        ("split = n - i; ends = range(split)", 7),
        ("split = n - i; ends = range(split, n + 1)", 8),
        ("first = int(x[0]); ends = range(first)", 1),
        ("m = n; m = m - 1; ends = range(m)", 1),
    ],
)
def test_ends_that_depend_on_the_thread_count_at_their_greatest(loop: str, turns: int) -> None:
    *before, ends = loop.split("; ")
    lines = [*before, f"for j in {ends.removeprefix('ends = ')}:", "    out[i] += x[j]"]
    reference = "def k(dim, x, table, n, out):\n" + "\n".join(f"    {line}" for line in lines)
    assert longest_loops({**_row(), "reference": reference}, {"n": 7, "w": 5}) == turns


def test_loops_of_samples_grow_with_their_sizes_and_never_shrink() -> None:
    grown = 0
    for _, row in stored_rows(SAMPLES):
        own = own_sizes(row["sizes"])
        twice = {symbol: 2 * size for symbol, size in own.items()}
        assert longest_loops(row, twice) >= longest_loops(row, own) >= 1
        grown += longest_loops(row, twice) > longest_loops(row, own)
    assert grown
