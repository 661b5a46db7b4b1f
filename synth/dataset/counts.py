"""How many rows of a dataset there are of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from synth.dataset.files import read_parquet

_COLUMNS = ["category", "level", "idiom", "checks.adjoint"]


def counted(shards: Sequence[Path]) -> dict[str, dict[str, int]]:
    """Rows by split, category, level, idiom (``category/idiom``) and adjoint status (likewise).

    The split of a shard is the name of its folder.
    """
    found: dict[str, Counter[str]] = {
        name: Counter() for name in ("split", "category", "level", "idiom", "adjoint")
    }
    for path in shards:
        for row in read_parquet(path, columns=_COLUMNS).to_pylist():
            category, adjoint = row["category"], row["checks"]["adjoint"]
            found["split"][path.parent.name] += 1
            found["category"][category] += 1
            if row["level"] is not None:
                found["level"][str(row["level"])] += 1
            if row["idiom"] is not None:
                found["idiom"][f"{category}/{row['idiom']}"] += 1
            if adjoint is not None:
                found["adjoint"][f"{category}/{adjoint}"] += 1
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}
