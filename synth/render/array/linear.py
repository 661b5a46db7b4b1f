"""Whole numbers as sums of symbols: what an index is along an axis, and which slice it takes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synth.render.array.values import Axis

Atom = object
"""A size or a loop's counter by name, or an axis, whose place it is."""


@dataclass(frozen=True)
class Linear:
    """``const`` and a whole multiple of each atom."""

    const: int = 0
    terms: Mapping[Atom, int] = field(default_factory=dict)

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """This one and a multiple of another one."""
        terms = dict(self.terms)
        for atom, factor in other.terms.items():
            terms[atom] = terms.get(atom, 0) + times * factor
        left = {atom: factor for atom, factor in terms.items() if factor}
        return Linear(self.const + times * other.const, left)

    def scaled(self, times: int) -> Linear:
        return Linear().plus(self, times)

    def without(self, atom: Atom) -> Linear:
        return Linear(self.const, {a: f for a, f in self.terms.items() if a is not atom})

    @property
    def fixed(self) -> bool:
        """Whether it is a number."""
        return not self.terms

    def text(self, name: Callable[[str], str]) -> str:
        """As people write it, the terms that are added first; ``name`` gives that of a symbol.
        Axes have none."""
        ordered = sorted(self.terms.items(), key=lambda entry: entry[1] < 0)
        out = ""
        for atom, factor in ordered:
            assert isinstance(atom, str)
            shown = name(atom) if abs(factor) == 1 else f"{abs(factor)} * {name(atom)}"
            sign = "-" if factor < 0 else "+"
            out = f"{out} {sign} {shown}" if out else shown if factor > 0 else f"-{shown}"
        if not out:
            return str(self.const)
        if self.const:
            out += f" {'-' if self.const < 0 else '+'} {abs(self.const)}"
        return out


@lru_cache(maxsize=4096)
def linear_of(text: str) -> Linear | None:
    """A size expression; None for quotients and the like."""
    try:
        return _of(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def _of(node: ast.AST) -> Linear:
    match node:
        case ast.Name(id=name):
            return Linear(0, {name: 1})
        case ast.Constant(value=int() as value):
            return Linear(value)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _of(left).plus(_of(right))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _of(left).plus(_of(right), -1)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            a, b = _of(left), _of(right)
            if a.fixed or b.fixed:
                return b.scaled(a.const) if a.fixed else a.scaled(b.const)
            return _product(a, b)
    raise ValueError("not linear")


def _product(a: Linear, b: Linear) -> Linear:
    """Of two symbols: a symbol of its own."""
    if len(a.terms) != 1 or len(b.terms) != 1 or a.const or b.const:
        raise ValueError("not linear")
    (left, times), (right, more) = [*a.terms.items(), *b.terms.items()]
    return Linear(0, {"*".join(sorted(f"{left}*{right}".split("*"))): times * more})


@dataclass(frozen=True)
class Places:
    """The places along an axis that an index names: ``step`` times the axis and ``offset``."""

    axis: Axis
    step: int
    offset: Linear


def places_of(index: Linear | None) -> Places | None:
    """The places of an index in which there is one axis; None for any other."""
    if index is None:
        return None
    axes = [atom for atom in index.terms if not isinstance(atom, str)]
    if len(axes) != 1:
        return None
    axis: Axis = axes[0]  # type: ignore[assignment]
    return Places(axis, index.terms[axis], index.without(axis))


@dataclass(frozen=True)
class Slice:
    """``start:stop:step`` of a dimension; None as a bound that is left out."""

    start: Linear | None
    stop: Linear | None
    step: int = 1

    def text(self, name: Callable[[str], str]) -> str:
        bounds = ["" if b is None else b.text(name) for b in (self.start, self.stop)]
        spaced = any(" " in bound for bound in bounds)
        if self.step != 1:
            bounds.append(str(self.step))
        text = (" : " if spaced else ":").join(bounds).strip()
        return text.replace(" :  : ", "::").replace(" : ", ":", 1) if not bounds[0] else text


def slice_of(places: Places, size: str, sure: bool) -> Slice | None:
    """The slice of a dimension that an index takes for all places of its axis. ``sure`` says that
    no place lies beyond the dimension; else it has to follow from the sizes."""
    extent, length = linear_of(places.axis.extent), linear_of(size)
    if extent is None or length is None or places.axis.lanes:
        return None
    low, cut, step = places.axis.low, places.axis.cut, places.step
    if step < 1:
        return _reversed(places, extent, length)
    start = places.offset.plus(Linear(step * low))
    last = places.offset.plus(extent, step).plus(Linear(-step * (cut + 1)))
    behind = length.plus(last, -1).plus(Linear(-1))
    if (start.fixed and start.const < 0) or (behind.fixed and behind.const < 0):
        return None
    if not sure and not (start.fixed and behind.fixed):
        return None
    stop: Linear | None = last.plus(Linear(step))
    if behind.plus(start) == Linear(step - 1):
        # Every stepth place, from one of the first ones on.
        stop = None
    elif behind.fixed:
        stop = None if behind.const < step else Linear(step - 1 - behind.const)
    return Slice(None if start.fixed and start.const == 0 else start, stop, step)


def _reversed(places: Places, extent: Linear, length: Linear) -> Slice | None:
    """A whole dimension from its end."""
    last = length.plus(Linear(-1))
    whole = not places.axis.low and not places.axis.cut and not extent.plus(length, -1).terms
    backwards = places.step == -1 and places.offset.plus(last, -1) == Linear()
    if whole and backwards and extent == length:
        return Slice(None, None, -1)
    return None
