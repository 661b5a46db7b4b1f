"""How an index moves: linear in thread and loop variables, or led by data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, prod

from generators.program.expr import Cast, Component, Const, Expr, Extent, Field, Load, Op, Var
from generators.program.walk import parts


@dataclass(frozen=True)
class Moves:
    """A whole number as a sum of variables times factors.

    ``led_by``: variables on which it depends in some other way, through data or a remainder that
    nothing bounds; ``value`` is the constant part, None where only the device knows it. ``most`` is
    what it never exceeds, None where nothing says so; ``values`` how many values it may take, and
    ``span`` how far these lie apart.
    """

    factors: Mapping[str, float] = field(default_factory=dict)
    led_by: frozenset[str] = frozenset()
    value: float | None = 0.0
    most: float | None = None
    values: float = 1.0
    span: float = 0.0

    @property
    def names(self) -> frozenset[str]:
        """All variables that it depends on."""
        return self.led_by | self.factors.keys()

    @property
    def constant(self) -> float | None:
        """Its value where no variable moves it."""
        return None if self.names else self.value


UNKNOWN = Moves(value=None)


def of(name: str, values: float = inf) -> Moves:
    """A variable itself, of so many values in a row."""
    return Moves({name: 1.0}, values=values, span=values)


def add(left: Moves, right: Moves, sign: float = 1.0) -> Moves:
    factors = dict(left.factors)
    for name, factor in right.factors.items():
        factors[name] = factors.get(name, 0.0) + sign * factor
    value = None
    if left.value is not None and right.value is not None:
        value = left.value + sign * right.value
    kept = {name: factor for name, factor in factors.items() if factor}
    names = left.led_by | right.led_by
    return Moves(kept, names, value, None, left.values * right.values, left.span + right.span)


def scaled(moves: Moves, factor: float) -> Moves:
    value = None if moves.value is None else moves.value * factor
    factors = {n: f * factor for n, f in moves.factors.items() if factor}
    span = moves.span * abs(factor) if factor else 0.0
    return Moves(factors, moves.led_by, value, None, moves.values, span)


def led(*moves: Moves) -> Moves:
    """What depends on others in no linear way."""
    names = frozenset().union(*(m.names for m in moves))
    values, span = prod(m.values for m in moves), sum(m.span for m in moves)
    return Moves(led_by=names, value=None, values=values, span=span)


class Reader:
    """Reads indices; ``known`` has the variables in reach, ``extents`` those of arrays, ``spreads``
    how many whole numbers lie in the range of an array's values."""

    def __init__(
        self,
        known: Mapping[str, Moves],
        extents: Mapping[str, tuple[float, ...]],
        spreads: Mapping[str, float],
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
                found = led(*(self.read(part) for part in parts(e)))
                values = self.spreads.get(e.array.name, inf)
                return replace(found, values=values, span=values)
            case Component() | Field():
                return led(*(self.read(part) for part in parts(e)))
            case _:
                return led(*(self.read(part) for part in parts(e)))

    def _op(self, e: Op) -> Moves:
        args = [self.read(a) for a in e.args]
        match e.op:
            case "add" | "sub":
                return add(args[0], args[1], 1.0 if e.op == "add" else -1.0)
            case "mul":
                return self._product(*args)
            case "neg":
                return scaled(args[0], -1.0)
            case "min" | "max" | "clamp" | "where" | "mod":
                # Near an edge it stands still, or starts anew; everywhere else it moves on.
                moved = [a for a in (args[1:] if e.op == "where" else args) if a.names]
                return self._within(e.op, moved[0], args) if moved else self._bound(e.op, args)
            case "floordiv" if args[1].constant:
                return scaled(args[0], 1.0 / args[1].constant)
            case _:
                return led(*args)

    @staticmethod
    def _within(op: str, moved: Moves, args: list[Moves]) -> Moves:
        """What moves, with what its op says of the values that it takes."""
        limits = [a.constant for a in args[1:] if a.constant is not None]
        if op in ("where", "max") or not limits:
            return moved
        most = limits[-1]
        values = max(1.0, most + 1.0)
        return replace(
            moved, most=most, values=min(moved.values, values), span=min(moved.span, values)
        )

    @staticmethod
    def _bound(op: str, args: list[Moves]) -> Moves:
        values = [a.constant for a in args]
        if op in ("min", "max") and None not in values:
            known = [v for v in values if v is not None]
            return Moves(value=min(known) if op == "min" else max(known))
        return args[0] if op != "where" else args[1]

    @staticmethod
    def _product(left: Moves, right: Moves) -> Moves:
        for one, other in ((left, right), (right, left)):
            if one.constant is not None:
                return scaled(other, one.constant)
        return led(left, right)
