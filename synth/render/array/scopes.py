"""What an array body asks of statements before it prints them."""

from __future__ import annotations

from collections.abc import Iterator

from generators.program import expr, ir
from generators.program.walk import expressions, names_read, operands, statements

_LEAVES = ir.Break | ir.Continue | ir.Return | ir.While | ir.Sample | ir.SetField


def assigned(body: ir.Body) -> dict[str, None]:
    """Variables that a body assigns, in order."""
    return {
        s.name: None
        for s in statements(body)
        if isinstance(s, ir.Assign | ir.AugAssign | ir.SetComponent)
    }


def stored(body: ir.Body) -> set[str]:
    """Arrays that a body writes to."""
    return {s.array.name for s in statements(body) if isinstance(s, ir.Store | ir.Atomic)}


def parts_changed(body: ir.Body) -> set[str]:
    """Variables whose components a body sets."""
    return {s.name for s in statements(body) if isinstance(s, ir.SetComponent)}


def leaves_early(body: ir.Body) -> bool:
    return any(isinstance(s, _LEAVES) for s in statements(body))


def ends_thread(body: ir.Body) -> bool:
    """Whether a branch's last statement ends the thread, and no other one does."""
    return bool(body) and isinstance(body[-1], ir.Return) and not leaves_early(body[:-1])


def reads(body: ir.Body) -> Iterator[str]:
    """Every variable and array that a body reads."""
    for s in statements(body):
        yield from names_read(operands(s))
        if isinstance(s, ir.AugAssign | ir.SetComponent):
            yield s.name


def accumulated(s: ir.Statement) -> tuple[str, str, expr.Expr] | None:
    """The variable, the op and what is joined, of ``s += x`` or ``s = max(s, x)``."""
    if isinstance(s, ir.AugAssign) and s.op in ("add", "sub", "mul"):
        return s.name, s.op, s.value
    if not isinstance(s, ir.Assign) or not isinstance(s.value, expr.Op):
        return None
    node = s.value
    if node.op not in ("min", "max", "add", "and", "or") or len(node.args) != 2:
        return None
    for own, other in (node.args, node.args[::-1]):
        if isinstance(own, expr.Var) and own.name == s.name:
            return s.name, node.op, other
    return None


def indexes(body: ir.Body, name: str) -> tuple[bool, bool]:
    """Whether a variable is an index by itself somewhere, and whether it is read otherwise inside
    an index."""
    alone = within = False
    arrays = [e for e in expressions(body) if isinstance(e, expr.Load)]
    found = [i for e in arrays for i in e.indices]
    found += [i for s in statements(body) if isinstance(s, ir.Store | ir.Atomic) for i in s.indices]
    for index in found:
        if isinstance(index, expr.Var) and index.name == name:
            alone = True
        elif name in names_read([index]):
            within = True
    return alone, within
