"""Conditions that hold but at the first and last places of some axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from generators.program import expr
from synth.render.array.linear import Linear, linear_of
from synth.render.array.values import Axis

LinearOf = Callable[[expr.Expr], "Linear | None"]

_FLIPPED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"}
_OPPOSITE = {"gt": "le", "le": "gt", "lt": "ge", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True)
class Box:
    """The places that lie ``low`` behind the first one of an axis and ``cut`` before the last one,
    of each axis in it; ``rest`` is what else the condition asks of them."""

    bounds: dict[Axis, tuple[int, int]] = field(default_factory=dict)
    rest: tuple[expr.Expr, ...] = ()

    def joined(self, other: Box) -> Box:
        """The places in both."""
        bounds = dict(self.bounds)
        for axis, (low, cut) in other.bounds.items():
            mine = bounds.get(axis, (0, 0))
            bounds[axis] = (max(low, mine[0]), max(cut, mine[1]))
        return Box(bounds, self.rest + other.rest)

    @property
    def pinned(self) -> tuple[Axis, bool] | None:
        """The axis, and whether it is its first place, where all but one place are in the box."""
        if len(self.bounds) != 1 or self.rest:
            return None
        ((axis, bounds),) = self.bounds.items()
        return (axis, bounds == (1, 0)) if bounds in ((1, 0), (0, 1)) else None


def box_of(e: expr.Expr, linear: LinearOf) -> Box | None:
    """The box where a condition holds, beside what else it asks; None where there is none."""
    if isinstance(e, expr.Op) and e.op == "and":
        left, right = (box_of(a, linear) for a in e.args)
        if left is None and right is None:
            return None
        return (left or Box(rest=(e.args[0],))).joined(right or Box(rest=(e.args[1],)))
    return _compared(e, linear, negated=False)


def edge_of(e: expr.Expr, linear: LinearOf) -> Box | None:
    """The box where a condition does not hold, if nothing else decides on it."""
    if isinstance(e, expr.Op) and e.op == "or":
        left, right = (edge_of(a, linear) for a in e.args)
        return None if left is None or right is None else left.joined(right)
    if isinstance(e, expr.Op) and e.op == "not":
        found = box_of(e.args[0], linear)
        return found if found is not None and not found.rest else None
    return _compared(e, linear, negated=True)


def _compared(e: expr.Expr, linear: LinearOf, negated: bool) -> Box | None:
    """Of a comparison of a place with the first or last ones of its axis."""
    if not isinstance(e, expr.Op) or e.op not in _FLIPPED:
        return None
    left, right = (linear(a) for a in e.args)
    if left is None or right is None:
        return None
    difference = left.plus(right, -1)
    axes = [a for a in difference.terms if isinstance(a, Axis)]
    if len(axes) != 1 or abs(difference.terms[axes[0]]) != 1 or axes[0].lanes:
        return None
    op = _OPPOSITE[e.op] if negated else e.op
    if difference.terms[axes[0]] < 0:
        difference, op = difference.scaled(-1), _FLIPPED[op]
    return _bounded(axes[0], op, difference.without(axes[0]).scaled(-1))


def _bounded(axis: Axis, op: str, bound: Linear) -> Box | None:
    """``axis op bound``."""
    extent = linear_of(axis.extent)
    if bound.fixed:
        low = bound.const + 1 if op == "gt" else bound.const
        if op == "ne" and bound.const == 0:
            low = 1
        elif op not in ("gt", "ge"):
            return None
        return Box({axis: (low, 0)}) if low > 0 else None
    if extent is None:
        return None
    left = extent.plus(bound, -1)
    if not left.fixed:
        return None
    cut = left.const - 1 if op == "le" else left.const
    if op == "ne" and left.const == 1:
        cut = 1
    elif op not in ("lt", "le"):
        return None
    return Box({axis: (0, cut)}) if cut > 0 else None


def narrowed(axis: Axis, bounds: tuple[int, int]) -> Axis:
    """The axis without the places outside of a box."""
    return replace(axis, low=max(axis.low, bounds[0]), cut=max(axis.cut, bounds[1]))
