"""Loops of few turns that are worth being written out: what a turn counts on is then known.

The compiler writes out small loops by itself, and leaves those whose bodies are large. Where a turn
takes the cosine of its number that is a constant once it is written out, and where it picks an
element of a vector of its own by its number, the vector lies in registers only then (CUDA C++ Best
Practices Guide, "Local Memory").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import prod

from generators.program import ir
from generators.program.expr import Call, Component, Const, Expr, Op, Var
from generators.program.walk import nodes, operands, parts, statements
from synth.render.cuda.cost.operations import is_transcendental

_MOST_TURNS, _MOST_STATEMENTS = 128, 4096
"""Of a nest of loops, and of what it is written out to."""
_FEWEST_TURNS = 32
"""Of a nest whose vectors a compiler leaves in memory: NVRTC writes 16 turns out by itself."""

Nest = Mapping[str, ir.For]
"""Loops around a statement that may be written out, by their counters."""


def worth_unrolling(body: ir.Body) -> frozenset[int]:
    """The loops of a body (by ``id``) to write out."""
    finder = _Finder(body)
    finder.walk(body, {})
    return frozenset(finder.found)


def turns_of(loop: ir.For) -> int:
    """The turns of a loop whose ends are constants, else 0."""
    if not isinstance(loop.start, Const) or not isinstance(loop.stop, Const):
        return 0
    return len(range(int(loop.start.value), int(loop.stop.value), loop.step))


class _Finder:
    """``derived``: of variables that follow from counters alone, which."""

    def __init__(self, body: ir.Body) -> None:
        given = [s.name for s in statements(body) if isinstance(s, ir.Assign | ir.AugAssign)]
        self.given = Counter(given)
        self.derived: dict[str, frozenset[str]] = {}
        self.found: set[int] = set()

    def walk(self, body: ir.Body, nest: Nest) -> None:
        for s in body:
            if nest:
                self._look(s, nest)
            if isinstance(s, ir.For):
                self.walk(s.body, {**nest, s.name: s} if _may(s) else {})
            elif isinstance(s, ir.If):
                for inner in (*(taken for _, taken in s.branches), s.orelse):
                    self.walk(inner, nest)

    def _look(self, s: ir.Statement, nest: Nest) -> None:
        for e in nodes(operands(s)):
            if isinstance(e, Component) and isinstance(e.value, Var):
                self._keep(e.indices, nest)
            elif isinstance(e, Call) or (isinstance(e, Op) and is_transcendental(e)):
                self._add(self._counters(e, nest), nest)
        if isinstance(s, ir.SetComponent):
            self._keep(s.indices, nest)
        # What is assigned again follows from more.
        if isinstance(s, ir.Assign) and self.given[s.name] == 1:
            self.derived[s.name] = self._counters(s.value, nest)

    def _keep(self, indices: Iterable[Expr], nest: Nest) -> None:
        """A vector's element that a turn picks."""
        names = frozenset(name for i in indices for name in self._counters(i, nest))
        loops = [nest[name] for name in names]
        turns = prod(map(turns_of, loops)) * max(map(_within, loops), default=1)
        if turns >= _FEWEST_TURNS:
            self._add(names, nest)

    def _add(self, names: Iterable[str], nest: Nest) -> None:
        loops = [nest[name] for name in names]
        if prod(map(turns_of, loops)) <= _MOST_TURNS:
            self.found.update(map(id, loops))

    def _counters(self, e: Expr, nest: Nest) -> frozenset[str]:
        """The counters that an expression follows from, none where it follows from more."""
        names: set[str] = set()
        for part in nodes((e,)):
            if isinstance(part, Var):
                known = {part.name} if part.name in nest else self.derived.get(part.name, set())
                if not known or not known <= nest.keys():
                    return frozenset()
                names |= known
            elif not isinstance(part, Const) and not parts(part):
                return frozenset()
        return frozenset(names)


def _may(loop: ir.For) -> bool:
    """Whether a loop ends where it says, with a body that can be written out so often."""
    turns = turns_of(loop)
    inner = list(statements(loop.body))
    if not 2 <= turns <= _MOST_TURNS or len(inner) * _within(loop) * turns > _MOST_STATEMENTS:
        return False
    return not any(
        isinstance(s, ir.Break | ir.Return | ir.While)
        or (isinstance(s, ir.For) and not turns_of(s))
        for s in inner
    )


def _within(loop: ir.For) -> int:
    """Turns of the longest of the loops in a loop."""
    return max((turns_of(s) for s in statements(loop.body) if isinstance(s, ir.For)), default=1)
