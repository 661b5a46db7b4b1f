"""Formulas of vectors: shelves of them, what they read, and results by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from inspect import signature

from generators.kit.formulas import BODY, Build, Formula, Shelf
from generators.kit.naming import evaluated
from generators.kit.records import Part
from generators.kit.sites import Site
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, Type, Vec
from generators.program.expr import Expr


@dataclass
class VectorShelf(Shelf):
    """Formulas of vectors; ``scalars`` are the keys of the quantities that are none."""

    scalars: str = ""
    size: int = 3

    def types_of(self, code: Build) -> tuple[Type, ...]:
        keys = [key for key in signature(code).parameters if key != BODY]
        vec, scalars = Vec(self.size, FLOAT32), self.scalars.split()
        return tuple(FLOAT32 if key in scalars else vec for key in keys)


def summed(parts: Iterable[Expr]) -> Expr:
    """The sum of one or more values."""
    return reduce(lambda total, part: total + part, parts)


BOX_ENDS = (
    ("lower upper", "lowers uppers"),
    ("lo hi", "box_lo box_hi"),
    ("box_min box_max", "box_mins box_maxs"),
)
"""Names of the corners of a box, and of arrays of them."""


Ranges = Mapping[str, tuple[str, float, float]]
"""Names and bounds of what formulas read, by key."""


def settings(type_: Type, ways: Mapping[str, int], ranges: Ranges) -> dict[str, Part]:
    """Quantities of one type that come in the same ways."""
    return {
        key: Part(names, type_, low, high, forms=ways) for key, (names, low, high) in ranges.items()
    }


def read(site: Site, part: Part) -> Expr:
    """A quantity in one of its ways."""
    p = part
    return given(site, p.names, p.type, p.low, p.high, many=p.many, init=p.init, forms=p.forms)


def worked_out(
    site: Site,
    chance: float,
    formula: Formula,
    known: Mapping[str, Expr],
    parts: Mapping[str, Part],
    names: Mapping[str, str] | None = None,
) -> tuple[Expr, str]:
    """A formula of known values and of what it reads besides; and its text.

    Known values go by their keys, or by the names given for them. The formula is in a helper
    with that chance.
    """
    texts, values = dict(names or {}), dict(known)
    for key in formula.keys:
        if key not in known:
            values[key] = read(site, parts[key])
            texts[key] = say(site.k, values[key])
    text = formula.said({key: key for key in known} | texts)
    return evaluated(site.k, chance, formula, values), text


def further(
    site: Site,
    formulas: Sequence[Formula],
    count: int,
    known: Mapping[str, Expr],
    parts: Mapping[str, Part],
    names: Mapping[str, str] | None = None,
    after: str = "",
) -> str:
    """Some results of known values as outputs, the sentences on them ending in ``after``."""
    done = ""
    for formula in site.k.draw.shape.sample(formulas, count):
        value, text = worked_out(site, 0.0, formula, known, parts, names)
        done += f" {site.put(formula.outs, value).name} gets {text}{after}."
    return done
