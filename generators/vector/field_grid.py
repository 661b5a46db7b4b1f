"""Fields of vectors on grids, read at neighbours by one rule for the border."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.program.expr import Expr, Var, op
from generators.vector.kit import (
    Site,
)


class Grid:
    """A field on the grid of the launch, read at neighbours by one rule for its border."""

    def __init__(self, k: KernelBuilder, site: Site, field: Var, border: str) -> None:
        self.k, self.site, self.field, self.border = k, site, field, border
        words = (("depth", "nz"), ("rows", "ny"), ("cols", "nx"))[-len(site.dims) :]
        pairs = zip(words, site.dims, strict=True)
        self.sizes = [k.size_param(w, d) for w, d in pairs]

    def at(self, axis: int, step: int) -> tuple[Expr, ...]:
        """The indices one step along an axis of the launch."""
        i, size = self.site.at[axis], self.sizes[axis]
        if self.border == "clamp":
            moved: Expr = fn("min", i + 1, size - 1) if step > 0 else fn("max", i - 1, 0)
        elif self.border == "wrap":
            moved = (i + 1) % size if step > 0 else (i + size - 1) % size
        else:
            moved = i + 1 if step > 0 else i - 1
        return tuple(moved if a == axis else x for a, x in enumerate(self.site.at))

    def near(self, axis: int, step: int) -> Expr:
        return self.field[self.at(axis, step)]

    def on_border(self) -> Expr:
        tests: list[Expr] = []
        for i, size in zip(self.site.at, self.sizes, strict=True):
            tests += [fn("eq", i, 0), fn("eq", i, size - 1)]
        test = tests[0]
        for other in tests[1:]:
            test = op("or", test, other)
        return test

    @property
    def text(self) -> str:
        return {
            "clamp": "indices beyond the border being clamped",
            "wrap": "the grid being periodic",
            "skip": "border cells keep the field's own value",
            "zero": "border cells get zero",
        }[self.border]
