"""What is drawn: the program tree, its ops, and one folder for each category of kernels.

A category is a package (or a single module) in here that says what it is ``ABOUT``; its idioms are
the functions marked :func:`~generators.build.registry.idiom` in and below it. Nothing lists either.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from generators.build.registry import Category, category_of


@lru_cache(maxsize=1)
def categories() -> dict[str, Category]:
    """All categories by name, in order of name."""
    modules = [
        importlib.import_module(f"{__name__}.{i.name}") for i in pkgutil.iter_modules(__path__)
    ]
    found = [category_of(module) for module in modules if hasattr(module, "ABOUT")]
    return {category.name: category for category in sorted(found, key=lambda c: c.name)}
