"""The bar that long work shows."""

from __future__ import annotations

import sys
from typing import Any


def progress_bar(total: int, quiet: bool, what: str, unit: str = "row") -> Any:
    """A tqdm bar on standard error; a context manager."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, disable=quiet, file=sys.stderr)
