"""How many elements an atomic can meet by the contract of a program's inputs, whatever the array
holds: positions within 100 cells of each other count in 100 cells of a map of a million."""

from __future__ import annotations

from math import ceil, floor, prod

from generators.program import expr, ir
from generators.program.walk import statements
from synth.render.ranges.edges import Walk
from synth.render.ranges.known import Known, Value, cut, unknown

_MOST = 2.0**31
"""From where on a width says nothing."""


def elements_met(program: ir.Program) -> dict[int, float]:
    """By the id of an atomic, the most different elements: none where nothing bounds them."""
    if not any(isinstance(s, ir.Atomic) for s in statements(program.kernel.body)):
        return {}
    walk = _Indices(program)
    walk.kernel()
    return walk.met


class _Indices(Walk):
    """Values of the indices of atomics."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        self.met: dict[int, float] = {}

    def _stored(self, s: ir.Store | ir.Atomic) -> None:
        if isinstance(s, ir.Atomic):
            found = prod(_count(self.value(index)) for index in s.indices)
            if found < _MOST:
                self.met[id(s)] = found

    def _cast(self, e: expr.Cast) -> Value:
        value = self.value(e.value)
        if e.type.is_float or not isinstance(value, Known) or len(value.parts) != 1:
            return super()._cast(e)
        low, high = value.only
        whole = unknown(e.type)
        assert isinstance(whole, Known)
        least, most = whole.only
        # Towards zero, as C++ and Warp cast.
        return Known(((_towards_zero(low, least), _towards_zero(high, most)),))


def _towards_zero(value: float, end: float) -> float:
    if abs(value) >= abs(end):
        return end
    return float(floor(value) if value > 0 else ceil(value))


def _count(value: Value) -> float:
    """Whole numbers that an index can be."""
    if not isinstance(value, Known) or len(value.parts) != 1:
        return _MOST
    low, high = cut(value.only, (0.0, _MOST))
    return max(1.0, floor(high) - ceil(low) + 1.0)
