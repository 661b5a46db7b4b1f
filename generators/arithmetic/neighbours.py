"""Neighbours of a grid point along each axis, and their second differences."""

from __future__ import annotations

from generators.arithmetic.parts import (
    Grid,
    named,
    total,
)
from generators.build import KernelBuilder, extent, fn
from generators.program.expr import Expr, Var


class Stencil:
    """The two neighbours of a point along each axis."""

    def __init__(self, k: KernelBuilder, u: Var, g: Grid, edge: str) -> None:
        self.k, self.u, self.g, self.edge = k, u, g, edge
        self.by_shape = k.draw.shape.chance(0.35)
        self.counts = [self._count(axis) for axis in range(g.ndim)]

    def _count(self, axis: int) -> Expr:
        at = self.g.at[axis]
        if self.by_shape:
            return extent(self.u, axis)
        return self.k.size_param((f"n{at.name}", f"num_{at.name}"), self.g.sizes[axis])

    def on_border(self) -> Expr:
        tests: list[Expr] = []
        for at, count in zip(self.g.at, self.counts, strict=True):
            tests += [fn("eq", at, 0), fn("eq", at, count - 1)]
        border = tests[0]
        for test in tests[1:]:
            border = fn("or", border, test)
        return border

    def sides(self) -> list[tuple[Expr, Expr]]:
        k, found = self.k, []
        for axis, (at, count) in enumerate(zip(self.g.at, self.counts, strict=True)):
            before: Expr = at - 1
            after: Expr = at + 1
            if self.edge == "clamped":
                before, after = fn("max", before, 0), fn("min", after, count - 1)
            elif self.edge == "periodic":
                before, after = (before + count) % count, after % count
            low = k.let((f"{at.name}m", f"{at.name}_prev"), before)
            high = k.let((f"{at.name}p", f"{at.name}_next"), after)
            places = [self.g.at[:axis] + (i,) + self.g.at[axis + 1 :] for i in (low, high)]
            found.append(
                (
                    named(k, (f"lo_{at.name}", f"{at.name}_below"), self.u[places[0]], 0.3),
                    named(k, (f"hi_{at.name}", f"{at.name}_above"), self.u[places[1]], 0.3),
                )
            )
        return found


def laplacian(k: KernelBuilder, here: Expr, sides: list[tuple[Expr, Expr]]) -> Expr:
    around = total([a + b for a, b in sides])
    form = k.draw.shape.choice(("sum", "axes"))
    if form == "sum":
        return k.let(("lap", "laplacian"), around - float(2 * len(sides)) * here)
    parts = [a - 2.0 * here + b for a, b in sides]
    if len(parts) == 1:
        return k.let(("lap", "laplacian"), parts[0])
    parts = [k.let((f"d2{m}", f"curv{m}"), p) for m, p in enumerate(parts)]  # type: ignore[misc]
    return named(k, ("lap", "laplacian"), total(parts), 0.6)
