"""The bar that long work shows."""

from __future__ import annotations

import sys
from typing import Any, TextIO


class _Unminded:
    """A stream whose troubles are nobody's: work must not end because its bar cannot be shown."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def progress_bar(total: int, quiet: bool, what: str, unit: str = "row") -> Any:
    """A tqdm bar on standard error; a context manager."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, disable=quiet, file=_Unminded(sys.stderr))
