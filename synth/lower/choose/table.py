"""Schedules that were the best measured on a GPU of the authors: `measured.json` beside this file.

`scripts/author/write_lower_table.py` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from synth.lower.choose.request import Request

FILE = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class Found:
    """A schedule that was the best measured for some sizes on a device."""

    device: str
    sizes: Mapping[str, int]
    schedule: Mapping[str, Any]
    time_us: float
    measured: int


def table(request: Request) -> list[Found]:
    """What the table has of a request's problem."""
    return [Found(**entry) for problem, entry in _entries() if problem == request.problem]


@lru_cache(maxsize=1)
def _entries() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    read = json.loads(FILE.read_text())
    return [(entry.pop("problem"), entry) for entry in read]
