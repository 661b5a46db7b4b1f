"""Idioms and categories: the mark of an idiom, and the scan of a folder that finds them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

from generators.build.draw import Draw
from generators.build.kernel import KernelBuilder
from generators.program.ir import Program

LEVELS = (1, 2, 3, 4, 5)

_MARK = "pairsmith_idiom"


class Title(NamedTuple):
    """What an idiom calls its kernel, and one or two sentences on what it computes."""

    kernel_name: str
    description: str


Idiom = Callable[[KernelBuilder, int], Title]


def idiom(function: Idiom) -> Idiom:
    """Mark a function of a category as an idiom, known by the function's name."""
    setattr(function, _MARK, True)
    return function


@dataclass(frozen=True)
class Category:
    """A named set of idioms. Every idiom draws at every level from 1 to 5.

    ``by_request``: drawn from only where it is asked for by name.
    """

    name: str
    about: str
    idioms: dict[str, Idiom]
    by_request: bool = False

    def choose(self, draw: Draw) -> str:
        """The idiom that a draw is of."""
        return draw.idiom.choice(sorted(self.idioms))

    def draw(self, draw: Draw, level: int) -> Program:
        """Draw one program. May raise :class:`generators.build.draw.Reject`."""
        return self.draw_idiom(self.choose(draw), draw, level)

    def draw_idiom(self, name: str, draw: Draw, level: int) -> Program:
        """Draw one program of a given idiom."""
        kernel = KernelBuilder(draw)
        title = self.idioms[name](kernel, level)
        return kernel.program(name, level, title.kernel_name, title.description)


def category_of(module: ModuleType) -> Category:
    """The category that a module or a package is: its ``ABOUT``, whether it is made ``BY_REQUEST``
    alone (otherwise not said), and all idioms in and below it.

    ``ValueError`` when two idioms have one name.
    """
    name = module.__name__.rpartition(".")[2]
    found: dict[str, Idiom] = {}
    for part in (module, *_below(module)):
        for value in vars(part).values():
            if not getattr(value, _MARK, False) or value.__module__ != part.__name__:
                continue
            if value.__name__ in found:
                raise ValueError(f"category {name} has two idioms called {value.__name__}")
            found[value.__name__] = value
    return Category(name, module.ABOUT, found, getattr(module, "BY_REQUEST", False))


def _below(module: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        yield importlib.import_module(info.name)
