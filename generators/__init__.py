"""What is drawn: the program tree, its ops, and one file for each category.

A category is a module of this package that defines ``CATEGORY``; nothing else lists them.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from generators.registry import Category


@lru_cache(maxsize=1)
def categories() -> dict[str, Category]:
    """All categories by name, in order of name."""
    found: dict[str, Category] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        category = getattr(module, "CATEGORY", None)
        if category is None:
            continue
        if category.name != info.name:
            raise ValueError(f"generators/{info.name}.py declares the category {category.name!r}")
        found[category.name] = category
    return dict(sorted(found.items()))
