"""The line of a grid through a point, and what happens beyond its ends."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.parts import (
    Grid,
)
from generators.build import KernelBuilder, extent, fn
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Line:
    """The line of a grid through a thread's point, and what happens beyond its ends."""

    k: KernelBuilder
    u: Var
    g: Grid
    axis: int
    size: Expr
    edge: str

    def at(self, offset: int) -> Expr:
        """The value ``offset`` points along."""
        here = self.g.at[self.axis]
        if offset == 0:
            return self.u[self.g.at]
        moved = here + offset if offset > 0 else here - (-offset)
        if self.edge == "clamp":
            index = fn("min", moved, self.size - 1) if offset > 0 else fn("max", moved, 0)
        elif self.edge == "periodic":
            turn = moved % self.size if offset > 0 else (moved + (-offset) * self.size) % self.size
            index = turn
        else:
            index = moved
        word = ("next" if offset > 0 else "prev") + (str(abs(offset)) if abs(offset) > 1 else "")
        index = self.k.let((word, f"{here.name}_{word}"), index)
        place = self.g.at[: self.axis] + (index,) + self.g.at[self.axis + 1 :]
        return self.u[place]


_EDGES = {
    "clamp": "Indices beyond the ends are clamped",
    "periodic": "The axis is periodic",
    "interior": "Points too close to an end get {0}",
    "halo": "{0} has {1} more points before and {2} after",
}


def line_through(
    k: KernelBuilder, g: Grid, axis: int, edge: str, before: int, after: int, type_: Scalar
) -> tuple[Line, str]:
    names = ("u", "field", "profile", "signal")
    sizes = list(g.sizes)
    if edge == "halo":
        sizes[axis] = f"{sizes[axis]}+{before + after}"
    u = k.array(names, type_, sizes, low=-2.0, high=2.0)
    at = g.at[axis]
    size: Expr = at
    if edge in ("clamp", "periodic", "interior"):
        if k.draw.shape.chance(0.35):
            size = extent(u, axis)
            if k.draw.shape.chance(0.5):
                size = k.let((f"n{at.name}", "length"), size)
        else:
            size = k.size_param((f"n{at.name}", f"num_{at.name}", "points"), sizes[axis])
    said = _EDGES[edge]
    if edge == "halo":
        said = said.format(u.name, before, after)
        shifted = k.let((f"{at.name}0", "center", "mid"), at + before) if before else at
        g = Grid(g.sizes, g.at[:axis] + (shifted,) + g.at[axis + 1 :])
    return Line(k, u, g, axis, size, edge), said


def inside_of(k: KernelBuilder, g: Grid, axis: int, size: Expr, before: int, after: int) -> Expr:
    at = g.at[axis]
    tests = []
    if before:
        tests.append(at >= before if before > 1 else at > 0)
    if after:
        tests.append(at < size - after)
    return tests[0] if len(tests) == 1 else fn("and", *tests)
