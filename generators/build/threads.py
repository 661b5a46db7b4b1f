"""How much one thread does: an element, or a whole row of a grid."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build.body import lift
from generators.program import ir
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var
from generators.program.walk import names_read, operands, statements


@dataclass
class Row:
    """A thread that runs along the last axis of what was a grid.

    ``index`` is the last index, ``size`` its symbol; ``before`` and ``after`` stand around the loop
    over it.
    """

    index: Var
    size: str
    before: ir.Body
    after: Callable[[Expr], ir.Body] | None = None


def turned(body: ir.Body) -> ir.Body | None:
    """A thread's body as one turn of a loop, which ends where the thread did; None where it ends
    within a loop of its own."""
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.Return):
            found.append(ir.Continue())
        elif isinstance(s, ir.If):
            arms = [(test, turned(arm)) for test, arm in s.branches]
            orelse = turned(s.orelse)
            if orelse is None or any(arm is None for _, arm in arms):
                return None
            found.append(ir.If(tuple((t, a) for t, a in arms if a is not None), orelse))
        elif any(isinstance(t, ir.Return) for t in statements((s,))):
            return None
        else:
            found.append(s)
    return tuple(found)


def hoisted(body: ir.Body, index: Sequence[str]) -> tuple[ir.Body, ir.Body]:
    """What of a loop's body is the same in each turn, to be done before it; and the rest.

    Only what follows from parameters, from inputs and from indices other than ``index`` is moved,
    and nothing where random numbers are drawn.
    """
    every = list(statements(body))
    sets = Counter(str(getattr(s, "name", "")) for s in every if not isinstance(s, ir.For))
    stored = {s.array.name for s in every if isinstance(s, ir.Store | ir.Atomic)}
    if any(isinstance(s, ir.Sample) for s in every):
        return (), body
    bound = {*index, *stored, *(s.name for s in every if isinstance(s, ir.For))}
    bound |= {name for name in sets if name}
    moved, left = list[ir.Statement](), list[ir.Statement]()
    for s in body:
        same = isinstance(s, ir.Assign) and sets[s.name] == 1
        if same and isinstance(s, ir.Assign) and not bound & set(names_read(operands(s))):
            bound.discard(s.name)
            moved.append(s)
        else:
            left.append(s)
    return tuple(moved), tuple(left)


def by_row(body: ir.Body, row: Row, count: Expr) -> ir.Body:
    """The body of a thread that runs along a row, ``count`` elements long."""
    inner = turned(body)
    assert inner is not None, "a thread that ends within a loop cannot run along a row"
    first, rest = hoisted(inner, [row.index.name])
    loop = ir.For(row.index.name, lift(0, INT32), count, 1, rest)
    return (*first, *row.before, loop, *(row.after(count) if row.after else ()))


def is_plain(params: Sequence[ir.Param], size: str) -> bool:
    """Whether a size stands in shapes and parameters by itself only, and once in each."""
    texts = [text for p in params for text in p.shape] + [p.init.partition(":")[2] for p in params]
    alone = all(text == size for text in texts if re.search(rf"\b{size}\b", text))
    return alone and all(p.shape.count(size) < 2 for p in params)
