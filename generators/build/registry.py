"""Idioms and categories: the mark of an idiom, and the scan of a folder that finds them."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, overload

from generators.build.draw import Draw
from generators.build.kernel import KernelBuilder
from generators.program.ir import Program

LEVELS = (1, 2, 3, 4, 5)

FORMS_DRAWN = 48
"""Draws of each idiom and level of which ``forms.json`` counts those with a form of their own."""

FEW_REPEATS = 4
"""So many among FORMS_DRAWN count as none."""

FORMS = Path(__file__).with_name("forms.json")

BEYOND = 6
"""One in so many draws at a level beyond an idiom's depth is of that idiom."""

HALF_SUBJECTS = frozenset({"learning", "large", "convolutions", "images", "network", "losses"})
"""Folders and files of such idioms."""

_MARK = "pairsmith_idiom"
_DEPTH = "pairsmith_depth"


class Title(NamedTuple):
    """What an idiom calls its kernel, and one or two sentences on what it computes."""

    kernel_name: str
    description: str


Idiom = Callable[[KernelBuilder, int], Title]


@overload
def idiom(function: Idiom) -> Idiom: ...


@overload
def idiom(*, depth: int) -> Callable[[Idiom], Idiom]: ...


def idiom(
    function: Idiom | None = None, *, depth: int = LEVELS[-1]
) -> Idiom | Callable[[Idiom], Idiom]:
    """Mark a function of a category as an idiom, known by the function's name.

    ``depth`` is the highest level at which it is another algorithm than below: at levels beyond it
    is drawn as at that level, and one in :data:`BEYOND` times as often.
    """

    def mark(function: Idiom) -> Idiom:
        setattr(function, _MARK, True)
        setattr(function, _DEPTH, depth)
        return function

    return mark if function is None else mark(function)


@dataclass(frozen=True)
class Category:
    """A named set of idioms. Every idiom draws at every level from 1 to 5, at one beyond its depth
    as at its depth.

    ``by_request``: drawn from only where it is asked for by name. ``forms``: of an idiom, how many
    of :data:`FORMS_DRAWN` draws had a form of their own at each level; one that is not there has as
    many as were drawn.
    """

    name: str
    about: str
    idioms: dict[str, Idiom]
    by_request: bool = False
    forms: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def choose(self, draw: Draw, level: int) -> str:
        """The idiom that a draw is of: one of few forms at its level comes up less often."""
        weights = {name: self._weight(name, level) for name in sorted(self.idioms)}
        return draw.shape.weighted(weights)

    def draw(self, draw: Draw, level: int) -> Program:
        """Draw one program. May raise :class:`generators.build.draw.Reject`."""
        return self.draw_idiom(self.choose(draw, level), draw, level)

    def draw_idiom(self, name: str, draw: Draw, level: int) -> Program:
        """Draw one program of a given idiom."""
        kernel = KernelBuilder(draw, half_inputs=_stores_halves(self.idioms[name]))
        title = self.idioms[name](kernel, min(level, self._depth(name)))
        return kernel.program(name, level, title.kernel_name, title.description)

    def _weight(self, name: str, level: int) -> int:
        """Of 1,440. Repeats grow with the square of the draws: that every idiom gives as many, its
        draws are to go with one over those among FORMS_DRAWN; an eighth is the least. Beyond its
        depth an idiom comes less often."""
        found = self.forms.get(name)
        repeats = FORMS_DRAWN - found[level - 1] if found else 0
        full = 960 // min(max(repeats, FEW_REPEATS), 8 * FEW_REPEATS)
        return full if level > self._depth(name) else BEYOND * full

    def _depth(self, name: str) -> int:
        return getattr(self.idioms[name], _DEPTH, LEVELS[-1])


def _stores_halves(idiom: Idiom) -> bool:
    """Whether an idiom's subject is one whose arrays people keep in half precision."""
    folders = idiom.__module__.split(".")
    return "parallel" not in folders and not HALF_SUBJECTS.isdisjoint(folders)


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
    places = {idiom: f"{name}/{idiom}" for idiom in found}
    forms = {i: stored_forms()[place] for i, place in places.items() if place in stored_forms()}
    return Category(name, module.ABOUT, found, getattr(module, "BY_REQUEST", False), forms)


@lru_cache(maxsize=1)
def stored_forms() -> dict[str, list[int]]:
    """By ``category/idiom``, at each level: what ``scripts/author/count_forms.py`` counted."""
    found: dict[str, list[int]] = json.loads(FORMS.read_text(encoding="utf-8"))
    return found


def _below(module: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        yield importlib.import_module(info.name)
