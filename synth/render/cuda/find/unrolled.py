"""Loops of few turns that are worth being written out: what a turn counts on is then known.

The compiler writes out small loops by itself, and leaves those whose bodies are large. Where a turn
takes the cosine of its number that is a constant once it is written out, and where it picks an
element of a vector of its own by its number, the vector lies in registers only then (CUDA C++ Best
Practices Guide, "Local Memory").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, prod

from generators.program import ir
from generators.program.expr import Call, Component, Const, Expr, Op, Var
from generators.program.walk import operands, parts, statements

_MOST_TURNS, _MOST_STATEMENTS = 128, 4096
"""Of a nest of loops, and of what it is written out to."""
_FEWEST_TURNS = 32
"""Of a nest whose vectors a compiler leaves in memory: NVRTC writes 16 turns out by itself."""
_COSTLY = frozenset({"sin", "cos", "tan", "exp", "log", "pow", "sqrt", "atan2", "sinh", "cosh"})

Counts = dict[str, ir.For]


def worth_unrolling(body: ir.Body) -> frozenset[int]:
    """The loops of a body (by ``id``) to write out."""
    found: set[int] = set()
    _walk(body, {}, {}, found)
    return frozenset(found)


def turns_of(loop: ir.For) -> int:
    """The turns of a loop whose ends are constants, else 0."""
    if not isinstance(loop.start, Const) or not isinstance(loop.stop, Const):
        return 0
    return max(0, ceil((int(loop.stop.value) - int(loop.start.value)) / loop.step))


def _walk(
    body: ir.Body, counts: Counts, derived: dict[str, frozenset[str]], found: set[int]
) -> None:
    """Collect loops; ``counts`` are those around a body that may be written out, ``derived``
    variables that follow from their counters alone."""
    for s in body:
        for e in _all(operands(s)):
            _look(e, counts, derived, found)
        if isinstance(s, ir.SetComponent):
            _keep(s.indices, counts, derived, found)
        if isinstance(s, ir.Assign):
            derived.pop(s.name, None)
            names = _counters(s.value, counts, derived)
            if names:
                derived[s.name] = names
        elif isinstance(s, ir.AugAssign):
            derived.pop(s.name, None)
        if isinstance(s, ir.For):
            inside = {**counts, s.name: s} if _may(s) else {}
            _walk(s.body, inside, dict(derived), found)
        else:
            for inner in _bodies(s):
                _walk(inner, counts, dict(derived), found)


def _look(e: Expr, counts: Counts, derived: dict[str, frozenset[str]], found: set[int]) -> None:
    if isinstance(e, Component) and isinstance(e.value, Var):
        _keep(e.indices, counts, derived, found)
    elif isinstance(e, Call) or (isinstance(e, Op) and e.op in _COSTLY):
        _add(_counters(e, counts, derived), counts, found)


def _keep(
    indices: Iterable[Expr],
    counts: Counts,
    derived: dict[str, frozenset[str]],
    found: set[int],
) -> None:
    """A vector's element that a turn picks."""
    names = frozenset().union(*(_counters(i, counts, derived) for i in indices))
    nest = [counts[name] for name in names]
    inner = prod(map(turns_of, nest)) * max((_within(loop) for loop in nest), default=1)
    if inner >= _FEWEST_TURNS:
        _add(names, counts, found)


def _add(names: frozenset[str], counts: Counts, found: set[int]) -> None:
    nest = [counts[name] for name in names]
    if nest and prod(map(turns_of, nest)) <= _MOST_TURNS:
        found.update(map(id, nest))


def _counters(e: Expr, counts: Counts, derived: dict[str, frozenset[str]]) -> frozenset[str]:
    """The counters that an expression follows from, none where it follows from more."""
    names: set[str] = set()
    for part in _all((e,)):
        if isinstance(part, Var):
            known = derived.get(part.name, frozenset({part.name} & counts.keys()))
            if not known:
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
    """Turns of the loops in a loop, of each of its own."""
    return max((turns_of(s) for s in statements(loop.body) if isinstance(s, ir.For)), default=1)


def _all(of: Iterable[Expr]) -> Iterator[Expr]:
    stack = list(of)
    while stack:
        e = stack.pop()
        yield e
        stack.extend(parts(e))


def _bodies(s: ir.Statement) -> list[ir.Body]:
    return [*(body for _, body in s.branches), s.orelse] if isinstance(s, ir.If) else []
