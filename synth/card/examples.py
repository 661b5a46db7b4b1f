"""One real row of each category for the card."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from synth.dataset.stored import read_columns

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
