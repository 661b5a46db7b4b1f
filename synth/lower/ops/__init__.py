"""The ops, a file each: `OP` of every module here is found by name."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from synth.lower.op import Op


@lru_cache(maxsize=1)
def ops() -> dict[str, Op]:
    """All ops by name."""
    names = sorted(module.name for module in iter_modules(__path__))
    found = [import_module(f"{__name__}.{name}").OP for name in names]
    return {op.name: op for op in found}
