"""How an index moves: linear in thread and loop variables, in steps of them, or led by data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import floor, inf, prod
from typing import Any, TypeVar

from generators.program import ir
from generators.program.dtypes import Array, Scalar
from generators.program.expr import Cast, Component, Const, Expr, Extent, Field, Load, Op, Var
from generators.program.walk import parts
from validate.row.sizes import evaluate

_Key = TypeVar("_Key")
_KEEP_SPAN = frozenset(("floor", "ceil", "rint", "round", "trunc", "abs"))
"""Ops whose values lie as far apart as those that they are given, or a little less."""


@dataclass(frozen=True)
class Stair:
    """``floor(x / divisor)`` of a sum ``x`` that is no multiple of the divisor: it stands still
    and then takes a step. ``factors`` and ``stairs`` are the sum's."""

    factors: tuple[tuple[str, float], ...]
    stairs: tuple[tuple[Stair, float], ...]
    value: float
    divisor: float

    @property
    def names(self) -> frozenset[str]:
        return frozenset(n for n, _ in self.factors).union(*(s.names for s, _ in self.stairs))

    def at(self, places: Mapping[str, float]) -> float:
        """Its value where variables have these values, all others 0."""
        return float(floor(_sum(self.factors, self.stairs, self.value, places) / self.divisor))


@dataclass(frozen=True)
class Moves:
    """A whole number as a sum of variables and of stairs times factors.

    ``led_by``: variables on which it depends in some other way, through data or a product;
    ``value`` is the constant part, None where only the device knows it. ``most`` is what it never
    exceeds, None where nothing says so; ``values`` how many values it may take, and ``span`` how
    far these lie apart, ``stray`` what of that is by what leads it. ``is_guess``: its value, or
    where there are factors these, follow from a parameter of which only the range is known.
    """

    factors: Mapping[str, float] = field(default_factory=dict)
    led_by: frozenset[str] = frozenset()
    value: float | None = 0.0
    most: float | None = None
    values: float = 1.0
    span: float = 0.0
    stairs: Mapping[Stair, float] = field(default_factory=dict)
    is_guess: bool = False
    stray: float = 0.0

    @property
    def names(self) -> frozenset[str]:
        """All variables that it depends on."""
        return self.led_by.union(self.factors, *(s.names for s in self.stairs))

    @property
    def constant(self) -> float | None:
        """Its value where no variable moves it."""
        return None if self.names else self.value

    @property
    def how(self) -> tuple[object, ...]:
        """What moves alike has the same, whatever the constant."""
        return frozenset(self.factors.items()), frozenset(self.stairs.items()), self.led_by

    def at(self, places: Mapping[str, float]) -> float:
        """Its value, but for what leads it, where variables have these values, all others 0."""
        return _sum(self.factors.items(), self.stairs.items(), self.value or 0.0, places)

    def moves_as(self, other: Moves) -> bool:
        """Whether two differ by a constant alone."""
        is_led = self.led_by or other.led_by
        return not is_led and self.factors == other.factors and self.stairs == other.stairs


def _sum(
    factors: Iterable[tuple[str, float]],
    stairs: Iterable[tuple[Stair, float]],
    value: float,
    places: Mapping[str, float],
) -> float:
    linear = sum(factor * places.get(name, 0.0) for name, factor in factors)
    return value + linear + sum(factor * stair.at(places) for stair, factor in stairs)


UNKNOWN = Moves(value=None)


def of(name: str, values: float = inf) -> Moves:
    """A variable itself, of so many values in a row."""
    return Moves({name: 1.0}, values=values, span=values)


def add(left: Moves, right: Moves, sign: float = 1.0) -> Moves:
    value = None
    if left.value is not None and right.value is not None:
        value = left.value + sign * right.value
    return Moves(
        _joined(left.factors, right.factors, sign),
        left.led_by | right.led_by,
        value,
        None,
        left.values * right.values,
        left.span + right.span,
        _joined(left.stairs, right.stairs, sign),
        _guessed(left, right),
        left.stray + right.stray,
    )


def _guessed(*moves: Moves) -> bool:
    """Of a sum: a constant does not change how it moves."""
    moving = [m for m in moves if m.names] or moves
    return any(m.is_guess for m in moving)


def _joined(left: Mapping[Any, float], right: Mapping[Any, float], sign: float) -> dict[Any, float]:
    found = dict(left)
    for name, factor in right.items():
        found[name] = found.get(name, 0.0) + sign * factor
    return {name: factor for name, factor in found.items() if factor}


def scaled(moves: Moves, factor: float) -> Moves:
    value = None if moves.value is None else moves.value * factor
    factors = {n: f * factor for n, f in moves.factors.items() if factor}
    stairs = {s: f * factor for s, f in moves.stairs.items() if factor}
    span, stray = (x * abs(factor) if factor else 0.0 for x in (moves.span, moves.stray))
    led_by, values = moves.led_by, moves.values
    return Moves(factors, led_by, value, None, values, span, stairs, moves.is_guess, stray)


def led(*moves: Moves, values: float | None = None, span: float | None = None) -> Moves:
    """What depends on others in no linear way: it takes no more values than they together do, but
    these may lie anywhere, where ``values`` and ``span`` do not say better."""
    names = frozenset().union(*(m.names for m in moves))
    values = prod(m.values for m in moves) if values is None else values
    span = (inf if names else 0.0) if span is None else span
    return Moves(led_by=names, value=None, values=values, span=span, stray=span if names else 0.0)


def chosen(condition: Moves, by_data: bool, options: list[Moves]) -> Moves:
    """One of several: near an edge that threads or loops come to, it stands still, and elsewhere it
    moves on; where data decides, it is led unless all move alike."""
    moved = [m for m in options if m.names]
    if moved and all(m.moves_as(moved[0]) for m in options):
        return replace(moved[0], value=None)
    if any(m.led_by for m in options) or (by_data and condition.names):
        return led(condition, *options, values=inf, span=inf)
    return moved[0] if moved else replace(led(*options), value=None)


def divided(moves: Moves, divisor: float) -> Moves:
    """The floor of a quotient."""
    values = min(moves.values, moves.span / divisor + 1.0)
    span = moves.span / divisor
    if moves.led_by:
        return led(moves, values=values, span=span)
    factors, linear = _shared(moves.factors, divisor)
    stairs, steps = _shared(moves.stairs, divisor)
    if not linear and not steps:
        value = None if moves.value is None else float(floor(moves.value / divisor))
        return Moves(factors, frozenset(), value, None, values, span, stairs)
    stair = Stair(linear, steps, moves.value or 0.0, divisor)
    value = None if moves.value is None else 0.0
    joined = _joined(stairs, {stair: 1.0}, 1.0)
    return Moves(factors, frozenset(), value, None, values, span, joined)


def _shared(
    of: Mapping[_Key, float], divisor: float
) -> tuple[dict[_Key, float], tuple[tuple[_Key, float], ...]]:
    """Quotients of the factors that a divisor goes into, and the other factors."""
    whole = {key: factor / divisor for key, factor in of.items() if not factor % divisor}
    return whole, tuple((key, factor) for key, factor in of.items() if factor % divisor)


def remainder(moves: Moves, divisor: float) -> Moves:
    """What is left of a number beyond multiples of the divisor."""
    values, most = min(moves.values, divisor), divisor - 1.0
    if moves.led_by:
        return replace(led(moves, values=values, span=min(moves.span, most)), most=most)
    found = add(moves, scaled(divided(moves, divisor), divisor), -1.0)
    return replace(found, most=most, values=values, span=min(moves.span, most))


class Reader:
    """Reads indices; ``known`` has the variables in reach, ``extents`` those of arrays, ``spreads``
    how many values an array may hold, and how far these lie apart."""

    def __init__(
        self,
        known: Mapping[str, Moves],
        extents: Mapping[str, tuple[float, ...]],
        spreads: Mapping[str, tuple[float, float]],
    ) -> None:
        self.known = dict(known)
        self.extents = extents
        self.spreads = spreads

    def read(self, e: Expr) -> Moves:
        match e:
            case Const():
                return Moves(value=float(e.value))
            case Var():
                return self.known.get(e.name, UNKNOWN)
            case Extent():
                return Moves(value=self.extents[e.array.name][e.axis])
            case Cast():
                return self.read(e.value)
            case Op():
                return self._op(e)
            case Load():
                values, span = self.spreads.get(e.array.name, (inf, inf))
                return led(*(self.read(part) for part in parts(e)), values=values, span=span)
            case Component() | Field():
                inner = [self.read(part) for part in parts(e)]
                return led(*inner, span=sum(m.span for m in inner))
            case _:
                return led(*(self.read(part) for part in parts(e)))

    def by_data(self, e: Expr) -> bool:
        """Whether data decides on a value, and not only threads, loops and sizes."""
        if isinstance(e, Load) or (isinstance(e, Var) and self.known.get(e.name, UNKNOWN).led_by):
            return True
        return any(self.by_data(part) for part in parts(e))

    def _op(self, e: Op) -> Moves:
        args = [self.read(a) for a in e.args]
        match e.op:
            case "add" | "sub":
                return add(args[0], args[1], 1.0 if e.op == "add" else -1.0)
            case "mul":
                return self._product(*args)
            case "neg":
                return scaled(args[0], -1.0)
            case "where":
                return chosen(args[0], self.by_data(e.args[0]), args[1:])
            case "min" | "max" | "clamp":
                # Near an edge it stands still; everywhere else it moves on.
                moved = [a for a in args if a.names]
                return self._within(e.op, moved, args) if moved else self._bound(e.op, args)
            case "floordiv" if (args[1].constant or 0.0) > 0.0:
                found = divided(args[0], args[1].constant or 1.0)
                return replace(found, is_guess=args[0].is_guess or args[1].is_guess)
            case "mod" if (args[1].constant or 0.0) > 0.0:
                found = remainder(args[0], args[1].constant or 1.0)
                return replace(found, is_guess=args[0].is_guess or args[1].is_guess)
            case "abs" if not args[0].led_by:
                # An index that is reflected at an edge: everywhere else it moves on.
                value = None if args[0].value is None else abs(args[0].value)
                return args[0] if args[0].names else replace(args[0], value=value)
            case op if op in _KEEP_SPAN:
                return led(*args, span=args[0].span)
            case _:
                return led(*args)

    @staticmethod
    def _within(op: str, moved: list[Moves], args: list[Moves]) -> Moves:
        """What moves, with what its op says of the values that it takes."""
        found = moved[0]
        if len(moved) > 1 and not all(m.moves_as(found) for m in moved):
            found = led(*moved, span=max(m.span for m in moved))
        limits = [a.constant for a in args[1:] if a.constant is not None]
        if op == "max" or not limits:
            return found
        most = limits[-1]
        values = max(1.0, most + 1.0)
        return replace(
            found,
            most=most,
            values=min(found.values, values),
            span=min(found.span, values),
            stray=min(found.stray, values),
        )

    @staticmethod
    def _bound(op: str, args: list[Moves]) -> Moves:
        values = [a.constant for a in args]
        if op in ("min", "max") and None not in values:
            known = [v for v in values if v is not None]
            return Moves(value=min(known) if op == "min" else max(known))
        return args[0]

    @staticmethod
    def _product(left: Moves, right: Moves) -> Moves:
        for one, other in ((left, right), (right, left)):
            if one.constant is not None:
                found = scaled(other, one.constant)
                return replace(found, is_guess=one.is_guess or other.is_guess)
        return led(left, right)


def spread(p: ir.Param, sizes: Mapping[str, int]) -> tuple[float, float]:
    """How many values an array may hold, and how far apart the lowest and the highest lie."""
    kind, _, expression = p.init.partition(":")
    if kind == "index_of":
        count = float(evaluate(expression, sizes))
        return count, count
    if p.low is None or p.high is None or kind == "permutation":
        return inf, inf
    span = max(0.0, float(p.high) - float(p.low))
    assert isinstance(p.type, Array)
    element = p.type.element
    whole = isinstance(element, Scalar) and not element.is_float
    return (span + 1.0, span + 1.0) if whole else (inf, span)


def given(p: ir.Param, sizes: Mapping[str, int]) -> Moves:
    """The value of a parameter that is no array: a size, or the middle of its range."""
    if p.init.startswith("size:"):
        return Moves(value=float(evaluate(p.init.partition(":")[2], sizes)))
    if p.low is None or p.high is None:
        return UNKNOWN
    return Moves(value=(float(p.low) + float(p.high)) / 2, is_guess=p.low != p.high)
