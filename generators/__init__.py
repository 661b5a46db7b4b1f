"""What is drawn: the program tree, its ops, and one folder for each category of kernels.

A category is a package (or a single module) in here that says what it is ``ABOUT``, and perhaps
that it is made ``BY_REQUEST`` alone; its idioms are the functions marked
:func:`~generators.build.registry.idiom` in and below it. Nothing lists either.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from generators.build.registry import Category, category_of


def categories() -> dict[str, Category]:
    """The categories that a dataset has unless others are asked for, by name, in order of name."""
    return {name: found for name, found in every_category().items() if not found.by_request}


@lru_cache(maxsize=1)
def every_category() -> dict[str, Category]:
    """All categories, those made by request alone too, by name, in order of name."""
    modules = [
        importlib.import_module(f"{__name__}.{i.name}") for i in pkgutil.iter_modules(__path__)
    ]
    found = [category_of(module) for module in modules if hasattr(module, "ABOUT")]
    return {category.name: category for category in sorted(found, key=lambda c: c.name)}
