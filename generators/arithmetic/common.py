"""What idioms of arithmetic share: sums of terms, short rows, results kept where a test holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from generators.build import KernelBuilder
from generators.kit.records import Part
from generators.kit.sites import Names, Site, over
from generators.kit.words import words
from generators.program.dtypes import Type
from generators.program.expr import Expr, Operand, Var

ROOT_HALF = math.sqrt(0.5)
"""With the digits of a double, which these transforms may be in."""
DATA = {"shared": 1, "each": 1, "axis": 1}
OWN = {"each": 1, "axis": 1}
"""Weights of the ways of a coefficient: shared or not, and never shared; see ``given``."""


def total(terms: Sequence[Expr]) -> Expr:
    return reduce(add, terms)


def stored(s: Site, names: Names, value: Expr) -> str:
    """Store the last result in an output of its own; the sentence on it."""
    return f" Store the result in {s.put(names, value).name}."


def alike(type_: Type, low: float, high: float, **names: str) -> dict[str, Part]:
    """Parts of one type and range by key, an array of them being called as one is."""
    return {key: Part(few, type_, low, high, many=few) for key, few in names.items()}


def short_rows(
    s: Site, names: Names, type_: Type, low: object, high: object, length: str = "m"
) -> tuple[Var, Callable[[Operand], Expr], str]:
    """An array with one more axis of ``length``: how to read an entry, and which axis it is."""
    first = s.k.draw.shape.chance(0.4)
    dims = (length, *s.dims) if first else (*s.dims, length)
    data = s.k.array(words(names), type_, dims, low=low, high=high)
    axis = "first" if first else "last"
    return data, lambda q: data[(q,) + s.at if first else s.index(q)], axis


def solid(k: KernelBuilder) -> Site:
    """A launch over the cells of a grid of three dimensions."""
    names = k.draw.word.choice(("iz iy ix", "z y x", "k j i"))
    return over(k, "nz ny nx", names, ((3, 4), (4, 6), (4, 6)), form="cube")
