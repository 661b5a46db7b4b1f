"""Variables that hold the largest value so far: what a softmax takes off its exponents.

Where a result does not depend on what is taken off, the gradient by it is a sum that cancels to
zero, and so is all that flows on from it. PyTorch's users write ``detach()`` there.
"""

from __future__ import annotations

from generators.program import ir
from generators.program.expr import Expr, Op, Var
from generators.program.walk import statements
from synth.gradient.terms import differentiable


def running_maxima(body: ir.Body) -> frozenset[str]:
    """Float variables that a loop of a body makes the larger of themselves and something, and
    those that are copied from such. The body has one branch an if, as ``straightened`` leaves it.
    """
    loops = [s for s in statements(body) if isinstance(s, ir.For)]
    inner = [s for loop in loops for s in statements(loop.body)]
    found = {name for s in inner for name in _largest(s)}
    copies = [
        (s.name, s.value.name)
        for s in inner
        if isinstance(s, ir.Assign) and isinstance(s.value, Var)
    ]
    while more := {name for name, of in copies if of in found} - found:
        found |= more
    return frozenset(found)


def _largest(s: ir.Statement) -> set[str]:
    """What a statement makes the larger of a variable and something else."""
    if isinstance(s, ir.Assign):
        return {s.name} if _is_larger(s.value) else set()
    if isinstance(s, ir.If):
        ((test, first),) = s.branches
        sides = (
            set(test.args) if isinstance(test, Op) and test.op in ("gt", "ge", "lt", "le") else {}
        )
        return {
            o.name
            for o in first
            if isinstance(o, ir.Assign)
            and differentiable(o.value.type)
            and {o.value, Var(o.name, o.value.type)} <= set(sides)
        }
    return set()


def _is_larger(e: Expr) -> bool:
    if not isinstance(e, Op) or e.op != "max" or not differentiable(e.type):
        return False
    return any(isinstance(a, Var) for a in e.args)
