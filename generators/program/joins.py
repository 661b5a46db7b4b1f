"""Kernels of tiles with a name for whatever joins elements, which people write within others."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from generators.program import ir
from generators.program.expr import Expr, Var
from generators.program.tiles import TileExpr, TileReduce, TileScan
from generators.program.walk import changed, statements


@lru_cache(maxsize=8)
def named(program: ir.Program) -> ir.Program:
    """The program with each reduction and scan in a variable of its own; itself without tiles."""
    kernel = program.kernel
    if not isinstance(kernel, ir.TiledKernel):
        return program
    names = _Names(program)
    return replace(program, kernel=replace(kernel, body=names.body(kernel.body)))


def own_names(program: ir.Program) -> set[str]:
    """All that a program gives names to."""
    kernel = program.kernel
    found = {kernel.name, *kernel.threads, *(p.name for p in kernel.params), *ir.RESERVED}
    found |= {f.name for f in program.functions}
    return found | {str(getattr(s, "name", "")) for s in statements(kernel.body)}


class _Names:
    """Writes the body of one program anew."""

    def __init__(self, program: ir.Program) -> None:
        self.taken = own_names(program)

    def body(self, body: ir.Body) -> ir.Body:
        found: list[ir.Statement] = []
        for s in body:
            if isinstance(s, ir.For):
                found.append(replace(s, body=self.body(s.body)))
            elif isinstance(s, ir.Assign | ir.AugAssign | ir.TileStore):
                whole = s.value if isinstance(s, ir.Assign) else None
                value = self.value(s.value, whole, getattr(s, "name", "tile"), found)
                found.append(replace(s, value=value))
            else:
                found.append(s)
        return tuple(found)

    def value(self, e: Expr, whole: Expr | None, name: str, before: list[ir.Statement]) -> Expr:
        """The expression with variables for what joins; ``whole`` is one that has a name."""

        def change(node: Expr) -> Expr:
            if not isinstance(node, TileReduce | TileScan) or node is whole:
                return node
            how = node.how if isinstance(node, TileReduce) else "scan"
            own = self.fresh(f"{name}_{how}")
            before.append(ir.Assign(own, node))
            return Var(own, node.type)

        if not isinstance(e, TileExpr):
            return e
        found = changed(e, change)
        if isinstance(whole, TileReduce | TileScan) and isinstance(found, Var):
            last = before.pop()
            assert isinstance(last, ir.Assign)
            return last.value
        assert isinstance(found, Expr)
        return found

    def fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name
