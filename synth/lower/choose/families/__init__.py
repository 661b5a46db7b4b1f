"""Families of ops that are scheduled alike, a file each, found by name.

A file has `PLAN`, the class of its plans; `SIZES`, the size symbols that its costs are of;
`NOMINAL`, the extent of each size of a spec without a shape; `schedules(dtype)`, what is tried, as
fields of a schedule; and `cost_us(plan, sizes, device)`, what a plan is thought to take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from synth.lower.choose.devices import Figures


@dataclass(frozen=True)
class Family:
    """What a file of this folder says of its ops."""

    name: str
    plan: type
    sizes: tuple[str, ...]
    nominal: int
    schedules: Callable[[str], list[dict[str, Any]]]
    cost_us: Callable[[Any, Mapping[str, int], Figures], float]


@lru_cache(maxsize=1)
def families() -> tuple[Family, ...]:
    """All of them, by name."""
    found = []
    for name in sorted(module.name for module in iter_modules(__path__)):
        module = import_module(f"{__name__}.{name}")
        found.append(
            Family(
                name, module.PLAN, module.SIZES, module.NOMINAL, module.schedules, module.cost_us
            )
        )
    return tuple(found)


def family_of(plan: Any) -> Family | None:
    """The family of a plan; None for an op that none is written for."""
    return next((family for family in families() if isinstance(plan, family.plan)), None)
