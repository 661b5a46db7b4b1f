"""Takes out of a kernel's body what nothing reads, and writes nested conditions as chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from generators.program import ir
from generators.program.expr import Expr, Op, Var, op
from generators.program.walk import changed, names_read, operands, statements
from synth.gradient.terms import differentiable, zero

_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
Local = ir.Assign | ir.AugAssign | ir.SetComponent | ir.SetField
LOCAL = (ir.Assign, ir.AugAssign, ir.SetComponent, ir.SetField)


def assigned(body: ir.Body) -> list[str]:
    """Variables that a body writes, nested statements too, each once and in order."""
    return list(dict.fromkeys(s.name for s in statements(body) if isinstance(s, LOCAL)))


def renamed(body: ir.Body, new: Mapping[str, str]) -> ir.Body:
    """A body whose variables have other names."""

    def change(node: Any) -> Any:
        if isinstance(node, Var) and node.name in new:
            return Var(new[node.name], node.type)
        if isinstance(node, (*LOCAL, ir.For)) and node.name in new:
            return replace(node, name=new[node.name])
        return node

    found: ir.Body = changed(body, change)
    return found


def opposite(condition: Expr) -> Expr:
    """The condition that holds where another does not."""
    if isinstance(condition, Op) and condition.op == "not":
        return condition.args[0]
    if isinstance(condition, Op) and condition.op in _OPPOSITE:
        return op(_OPPOSITE[condition.op], *condition.args)
    return op("not", condition)


def swept(body: Iterable[ir.Statement], live: set[str]) -> tuple[ir.Body, set[str]]:
    """A body without what feeds neither memory nor the variables ``live`` after it, and what is
    live before it. Conditions have one branch and an else."""
    live = set(live)
    kept: list[ir.Statement] = []
    for s in reversed(tuple(body)):
        found, live = _statement(s, live, kept)
        if found is not None:
            kept.append(found)
    return tuple(reversed(kept)), live


def _statement(
    s: ir.Statement, live: set[str], after: list[ir.Statement]
) -> tuple[ir.Statement | None, set[str]]:
    if isinstance(s, ir.If):
        return _condition(s, live)
    if isinstance(s, ir.For | ir.While):
        return _loop(s, live)
    read = set(names_read(operands(s)))
    if isinstance(s, ir.Assign):
        if s.name not in live:
            # Where a block writes it, this is what declares it for the statements after.
            blocks = [o for o in after if isinstance(o, ir.If | ir.For | ir.While)]
            if s.name not in assigned(tuple(blocks)):
                return None, live
            if differentiable(s.value.type):
                return ir.Assign(s.name, zero(s.value.type)), live
            return s, live | read
        return s, (live - {s.name}) | read
    if isinstance(s, LOCAL):
        return (s, live | read) if s.name in live else (None, live)
    return s, live | read


def _condition(s: ir.If, live: set[str]) -> tuple[ir.Statement | None, set[str]]:
    ((condition, first),) = s.branches
    then, before_then = swept(first, live)
    orelse, before_else = swept(s.orelse, live)
    if not then and not orelse:
        return None, live
    if not then:
        condition, then, orelse = opposite(condition), orelse, ()
    before = before_then | before_else | set(names_read([condition])) | live
    return ir.If(((condition, then),), orelse), before


def _loop(s: ir.For | ir.While, live: set[str]) -> tuple[ir.Statement | None, set[str]]:
    around = live | set(names_read(operands(s)))
    while True:
        inner, before = swept(s.body, around)
        if before <= around:
            break
        around |= before
    if not inner:
        return None, live
    if isinstance(s, ir.For):
        return ir.For(s.name, s.start, s.stop, s.step, inner), around - {s.name} | live
    return ir.While(s.condition, inner), around


def chained(body: ir.Body) -> ir.Body:
    """A body with a condition alone in an else written as elif."""
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.If):
            branches = tuple((test, chained(inner)) for test, inner in s.branches)
            orelse = chained(s.orelse)
            if len(orelse) == 1 and isinstance(orelse[0], ir.If):
                branches, orelse = (*branches, *orelse[0].branches), orelse[0].orelse
            s = ir.If(branches, orelse)
        elif isinstance(s, ir.For):
            s = ir.For(s.name, s.start, s.stop, s.step, chained(s.body))
        found.append(s)
    return tuple(found)


def depends_on_order(body: ir.Body, adjoints: set[str]) -> bool:
    """Whether a body reads an adjoint that it writes, so that its turns cannot be exchanged."""
    written, read = set(), set()
    for s in statements(body):
        read |= set(names_read(operands(s)))
        if isinstance(s, LOCAL):
            written.add(s.name)
        if isinstance(s, ir.Assign) and s.name in adjoints:
            return True
    return bool(written & read & adjoints)
