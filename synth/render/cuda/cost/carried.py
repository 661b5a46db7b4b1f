"""What a loop hands on from turn to turn: from its first line on it is what earlier turns made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from generators.program import ir
from generators.program.walk import statements
from synth.render.cuda.cost.affine import Moves, Reader, add, led, of, scaled
from synth.render.cuda.scopes import defines

SIGNS = {"add": 1.0, "sub": -1.0}
"""Of the ops whose steps add up."""


def carried(s: ir.For, reader: Reader, count: float) -> dict[str, Moves]:
    """How the variables that each turn of a loop reads before it gives them a value move: along
    with the turns where each takes the same step, and elsewhere as the steps and turns lead."""
    turns = of(s.name, count)
    return {
        name: _moved(s, name, reader, turns)
        for name in assigned(s.body)
        if name in reader.known and not defines(s.body, name)
    }


def assigned(body: Sequence[ir.Statement]) -> list[str]:
    """Variables that a body assigns, in the order of the text."""
    return list(dict.fromkeys(s.name for s in _given(body)))


def _given(body: Sequence[ir.Statement]) -> Iterator[ir.Assign | ir.AugAssign]:
    return (s for s in statements(tuple(body)) if isinstance(s, ir.Assign | ir.AugAssign))


def _moved(s: ir.For, name: str, reader: Reader, turns: Moves) -> Moves:
    before = reader.known[name]
    steps = [given for given in _given(s.body) if given.name == name]
    first = steps[0]
    if len(steps) == 1 and isinstance(first, ir.AugAssign) and any(first is x for x in s.body):
        sign = SIGNS.get(first.op)
        step = reader.read(first.value).constant
        if sign is not None and step is not None and not before.led_by:
            return add(before, scaled(turns, sign * step))
    moved = (reader.read(step.value) for step in steps)
    return led(before, turns, *moved, values=inf, span=inf)
