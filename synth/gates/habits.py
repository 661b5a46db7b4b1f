"""What nobody writes, though it computes: operations and statements that do nothing."""

from __future__ import annotations

from collections.abc import Iterator

from generators.build.draw import Reject
from generators.program import ir
from generators.program.expr import Const, Expr, Op, Var
from generators.program.walk import bodies, expressions, names_read, operands, statements
from synth.reasons import GateReason

_NEUTRAL = {"mul": 1, "div": 1, "floordiv": 1, "add": 0, "sub": 0, "pow": 1}
"""The literal that leaves the other operand as it is."""
_BOTH_SIDES = ("mul", "add")


def require_purpose(program: ir.Program) -> None:
    """Raise :class:`generators.build.draw.Reject` where a program holds what nobody writes."""
    if found := neutral_operation(program):
        raise Reject(GateReason.NEUTRAL_OPERATION, found)
    if found := dead_start(program):
        raise Reject(GateReason.DEAD_START, found)
    if found := lone_atomic(program):
        raise Reject(GateReason.LONE_ATOMIC, found)


def neutral_operation(program: ir.Program) -> str:
    """The name of an op that changes nothing: times or over 1, plus or minus 0, to the power 1."""
    for body in bodies(program):
        for e in expressions(body):
            if isinstance(e, Op) and e.op in _NEUTRAL:
                sides = e.args if e.op in _BOTH_SIDES else e.args[-1:]
                if any(_is(side, _NEUTRAL[e.op]) for side in sides):
                    return e.op
        for s in statements(body):
            if not isinstance(s, ir.AugAssign | ir.Store) or s.op not in _NEUTRAL:
                continue
            if _is(s.value, _NEUTRAL[s.op]):
                return s.op
    return ""


def _is(e: Expr, number: int) -> bool:
    return isinstance(e, Const) and not isinstance(e.value, bool) and float(e.value) == number


def dead_start(program: ir.Program) -> str:
    """A local whose first value nothing reads: it is written again in the same block before, or an
    arm of the branch behind it sets the literal that it holds already."""
    for body in bodies(program):
        for block in _blocks(body):
            for at, s in enumerate(block):
                if isinstance(s, ir.Assign) and _rewritten(s, block[at + 1 :]):
                    return s.name
    return ""


def _blocks(body: ir.Body) -> Iterator[ir.Body]:
    yield body
    for s in body:
        if isinstance(s, ir.If):
            for inner in (*(arm for _, arm in s.branches), s.orelse):
                yield from _blocks(inner)
        elif isinstance(s, ir.For | ir.While):
            yield from _blocks(s.body)


def _rewritten(start: ir.Assign, rest: ir.Body) -> bool:
    for s in rest:
        reads = set(names_read(e for t in statements((s,)) for e in operands(t)))
        if isinstance(s, ir.If) and isinstance(start.value, Const):
            arms = (*(arm for _, arm in s.branches), s.orelse)
            tested = start.name in set(names_read(operands(s)))
            if not tested and any(start in arm for arm in arms):
                return True
        if start.name in reads or (isinstance(s, ir.AugAssign) and s.name == start.name):
            return False
        if isinstance(s, ir.Assign) and s.name == start.name:
            return True
        if any(getattr(t, "name", "") == start.name for t in statements((s,))):
            return False
    return False


def lone_atomic(program: ir.Program) -> str:
    """An array that is updated by atomics though all of a thread's indices index it: no other
    thread ever meets it there."""
    threads = set(program.kernel.threads)
    for s in statements(program.kernel.body):
        own = {i.name for i in getattr(s, "indices", ()) if isinstance(i, Var)}
        if isinstance(s, ir.Atomic) and threads <= own:
            return s.array.name
    return ""
