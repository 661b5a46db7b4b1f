"""Sweeps over everything: `make test` takes a part of each, `make test-all` the whole.

The part is the same each time and on every machine. It follows from names alone, so that a new one
among many moves few, and every kind is in it.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

WHOLE = "PAIRSMITH_SWEEP"
"""Set to 1 in the environment, this takes everything."""

_T = TypeVar("_T")


def is_whole() -> bool:
    """Whether everything was asked for."""
    return os.environ.get(WHOLE) == "1"


def part_of(
    items: Iterable[_T], one_in: int, name: Callable[[_T], str], kind: Callable[[_T], object]
) -> list[_T]:
    """One in so many items of each kind, at least one, in their order; all where that is asked."""
    items = list(items)
    if is_whole():
        return items
    by_kind: dict[object, list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        by_kind[kind(item)].append(at)
    taken: set[int] = set()
    for places in by_kind.values():
        places.sort(key=lambda at: hashlib.sha256(name(items[at]).encode()).digest())
        taken.update(places[: math.ceil(len(places) / one_in)])
    return [items[at] for at in sorted(taken)]
