"""What a card says of rows: the meaning of each column, and a real row of each category."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from synth.dataset.stored import read_columns

COLUMNS = {
    "schema_version": "version of this table",
    "id": "first 16 hex digits of sha256(`python` + NUL + `kernel_name`)",
    "structure": "key of the program without names and literals; equal ones are in one split",
    "category": "kind of kernel",
    "idiom": "the named idiom that it was drawn from",
    "level": "difficulty, 1 to 5",
    "kernel_name": "name of the kernel in all texts",
    "description": "what it computes, in a sentence or two",
    "python": "complete NVIDIA Warp module: imports, structs, helper functions, the kernel",
    "reference": "plain Python (`math` and NumPy) of the same, in float64, integers exact",
    "program": "the typed tree that all texts were printed from, as JSON",
    "cuda_prologue": "Warp's macros and includes; the four parts in order are one translation unit",
    "cuda_helpers": "structs and functions of the Warp CUDA",
    "cuda_forward": "the kernel, as Warp's code generator writes it",
    "cuda_backward": "its adjoint; null where it was checked and does not agree",
    "cuda_plain": "CUDA C++ of the same without Warp, as an engineer would write it",
    "plain_args": "what it is passed: name, C++ type, and for an `int` the size symbol to pass",
    "plain_scratch": "arrays that only it knows, for what one kernel leaves the next; mostly none",
    "plain_launch": "its launches in order: kernel, arguments, grid and block by size symbols",
    "schedule": "its style as JSON: guarded, grid_stride, vectorized, warp_per_row, …",
    "cuda_plain_backward": "CUDA C++ of its backward kernel; null where none agrees",
    "backward_args": "what that is passed: value, cotangent or gradient (`holds`) of which `arg`",
    "backward_scratch": "as `plain_scratch`",
    "backward_launch": "as `plain_launch`",
    "backward_schedule": "as `schedule`",
    "backward_reference": "plain Python of the backward kernel",
    "array_python": "NumPy on whole arrays, as people write it; null where there is no such form",
    "array_reason": "why there is none",
    "line_map_python": "line of `python` for each mapped line of `cuda_forward`",
    "line_map_cuda": "that line of `cuda_forward`",
    "args": "parameters: kind, dtype, role, shape, how values are drawn, tolerances of outputs",
    "sizes": "size symbols with a value, a minimum and a multiple: any shape can be drawn",
    "regime": "the sizes that it is for, by symbol: its schedule follows from these",
    "launch": "launch dim by size symbols, and block dim, of the Warp kernel",
    "input_seed": "inputs are a function of this, `args` and sizes",
    "edge_inputs": "values at the ends of what `args` promise, and ties, on which it ran as well",
    "ops": "operators and builtins that it uses",
    "checks": "what was measured: archs, runs, derivatives, shapes, registers; null: not measured",
    "provenance": "seed, index, attempt, and versions that made it",
}
"""By the names of `validate.row.columns.COLUMNS`, in that order."""


def columns_table() -> str:
    """A row for each column."""
    lines = ["| column | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in COLUMNS.items()]
    return "\n".join(lines)


_COLUMNS = [
    "id",
    "category",
    "idiom",
    "level",
    "description",
    "python",
    "cuda_plain",
    "cuda_forward",
]

Row = dict[str, Any]


def examples(shards: Sequence[Path], categories: int) -> str:
    """Of each category the row whose question is of median length in the first shard that has it.

    ``categories`` is how many there are: when all are found, no further shard is read.
    """
    found: dict[str, list[Row]] = {}
    for path in shards:
        # A shard holds all categories, unless few rows were asked for or one was.
        here: dict[str, list[Row]] = {}
        for row in read_columns(path, _COLUMNS):
            here.setdefault(row["category"], []).append(row)
        found = {**here, **found}
        if len(found) >= categories:
            break
    return "\n\n".join(_example(_typical(found[name])) for name in sorted(found))


def _typical(rows: Sequence[Row]) -> Row:
    middle = statistics.median_low(row["python"].count("\n") for row in rows)
    return min(rows, key=lambda row: (abs(row["python"].count("\n") - middle), row["id"]))


def _example(row: Row) -> str:
    answer, what = row["cuda_plain"], "plain CUDA"
    if answer is None:
        answer, what = row["cuda_forward"], "Warp's CUDA"
    return f"""<details>
<summary>{row["category"]}, level {row["level"]}: {row["idiom"]}</summary>

Row `{row["id"]}`:

{row["description"]}

```python
{row["python"].rstrip()}
```

{what}:

```cuda
{answer.rstrip()}
```

</details>"""
