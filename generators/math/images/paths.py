"""Costs of stereo matching, aggregated along paths through the image."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, where
from generators.math.images.pixels import spot
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Operand, Var


@idiom
def semi_global_step(k: KernelBuilder, level: int) -> Title:
    """A step of semi-global matching along a path (Hirschmueller, 2008): from the path's costs one
    pixel before, those of this pixel."""
    shape = k.draw.shape
    whole = shape.chance(0.5)
    kind: Scalar = INT32 if whole else FLOAT32
    for name, low, high in (("height", 15, 18), ("width", 15, 18), ("disparities", 5, 7)):
        k.size(name, low, high, minimum=6 if name != "disparities" else 2)
    down = shape.chance(0.5)
    across = "width" if down else "height"
    slant = level > 2 and shape.chance(0.5)
    batch = level > 1 and shape.chance(0.3)
    if batch:
        k.size("pairs", 2, 2)
    lead_dims = ("pairs",) if batch else ()
    sliced = level < 3 or shape.chance(0.2)
    lead_names = [k.name("b pair")] if batch else []
    p, d = k.name("x" if down else "y", "col" if down else "row"), k.name("d disp")
    at = k.thread(*lead_dims, across, "disparities", names=[*lead_names, p, d])
    lead, (line, disp) = at[: len(lead_names)], at[len(lead_names) :]
    path = _Path(k, kind, down, lead, line, disp)
    path.declare(lead_dims, across, sliced, level)
    return path.written(at, (*lead_dims, across, "disparities"), slant)


class _Path:
    """Paths that all have come to the same row or column."""

    def __init__(
        self,
        k: KernelBuilder,
        kind: Scalar,
        down: bool,
        lead: tuple[Var, ...],
        line: Var,
        disp: Var,
    ) -> None:
        self.k, self.kind, self.down = k, kind, down
        self.lead, self.line, self.disp = lead, line, disp
        self.step: Var | None = None
        self.image: Var | None = None
        self.minima: Var | None = None
        self.edges: list[Var] = []

    def declare(self, lead: tuple[str, ...], across: str, sliced: bool, level: int) -> None:
        k, shape = self.k, self.k.draw.shape
        high, low = (60, 10) if self.kind == INT32 else (1.0, 0.1)
        dims = (*lead, across, "disparities")
        self.sliced, self.volume = sliced, (*lead, "height", "width", "disparities")
        of = ("costs cost_slice", dims) if sliced else ("cost_volume costs", self.volume)
        self.costs = k.array(of[0], self.kind, of[1], low=0 * low, high=high)
        self.before = k.array("prev_path path_prev", self.kind, dims, low=low, high=high)
        if shape.chance(0.35):
            lines = (*lead, across)
            self.minima = k.array("prev_min path_min", self.kind, lines, low=0 * low, high=low)
        if not sliced:
            self.step = k.scalar("row" if self.down else "col", INT32, 1, 5)
            if level > 2 and shape.chance(0.6):
                self.image = k.array("image left", INT32, self.volume[:-1], low=100, high=108)
        bounds = ((0.03, 0.07), (0.2, 0.35), (0.08, 0.13))
        if self.kind == INT32:
            bounds = ((2, 4), (12, 20), (5, 8))
        self.small = k.scalar("p1 penalty1", self.kind, *bounds[0])
        self.large = k.scalar("p2 penalty2", self.kind, *bounds[1])
        if self.image is not None:
            limit = k.scalar("edge_threshold max_step", INT32, 3, 5)
            self.edges = [limit, k.scalar("p2_edge", self.kind, *bounds[2])]

    def place(self, back: int = 0, line: Expr | None = None) -> tuple[Operand, Operand]:
        """The row and the column of the paths' pixel, or of the one before it."""
        assert self.step is not None
        here = self.step - back if back else self.step
        mine = self.line if line is None else line
        return (here, mine) if self.down else (mine, here)

    def cost(self) -> Expr:
        if self.sliced:
            return self.costs[spot(*self.lead, self.line, self.disp)]
        return self.costs[spot(*self.lead, *self.place(), self.disp)]

    def written(self, at: tuple[Var, ...], dims: tuple[str, ...], slant: bool) -> Title:
        k = self.k
        out = k.out("path_costs path_out", self.kind, dims)
        total = None
        if not self.sliced and k.draw.shape.chance(0.4):
            whole = self.kind == INT32
            total = k.array(
                "total_costs aggregated", self.kind, self.volume, role="inout",
                low=0, high=200 if whole else 4.0,
            )  # fmt: skip
        count = k.size_param("num_disp disparities", "disparities")
        cost = k.let("cost c", self.cost())
        value = k.let("path l_r", cost) if slant else None
        told = "at the same place"
        if value is None:
            value = k.let("path l_r", cost + self._pull(self.line, count))
        else:
            told = self._slanted(value, count, dims)
        k.store(out, at, value)
        if total is not None:
            k.store(total, spot(*self.lead, *self.place(), self.disp), value, "add")
        return self._title(out, total, told, slant)

    def _slanted(self, value: Var, count: Expr, dims: tuple[str, ...]) -> str:
        """Diagonal paths: those that start at this pixel have its costs alone."""
        k = self.k
        if k.draw.shape.chance(0.5):
            with k.if_(self.line > 0):
                source = k.let("src prev_line", self.line - 1)
                k.augment(value, "add", self._pull(source, count))
            return "one less"
        lines = k.size_param("num_lines", dims[-2])
        with k.if_(self.line + 1 < lines):
            source = k.let("src prev_line", self.line + 1)
            k.augment(value, "add", self._pull(source, count))
        return "one more"

    def _pull(self, source: Expr, count: Expr) -> Expr:
        """The least way to here from the costs of the pixel before, less the least of these."""
        k = self.k
        read = lambda d: self.before[spot(*self.lead, source, d)]  # noqa: E731
        if self.minima is not None:
            low: Expr = k.let("low min_prev", self.minima[spot(*self.lead, source)])
        else:
            low = k.let("low min_prev", read(0))
            with k.for_("e q", count, start=1) as e:
                k.assign(low, least(low, read(e)))
        jump: Expr = self.large
        if self.image is not None:
            jump = self._jump(source)
        best = k.let("best reach", least(read(self.disp), low + jump))
        with k.if_(self.disp > 0):
            k.assign(best, least(best, read(self.disp - 1) + self.small))
        with k.if_(self.disp + 1 < count):
            k.assign(best, least(best, read(self.disp + 1) + self.small))
        return best - low

    def _jump(self, source: Expr) -> Expr:
        """The greater penalty, or the one at edges of the image."""
        k, image = self.k, self.image
        assert image is not None
        here = image[spot(*self.lead, *self.place())]
        there = image[spot(*self.lead, *self.place(1, source))]
        contrast = k.let("contrast grad", fn("abs", here - there))
        return k.let("jump p2_here", where(contrast > self.edges[0], self.edges[1], self.large))

    def _title(self, out: Var, total: Var | None, told: str, slant: bool) -> Title:
        k = self.k
        line = "column" if self.down else "row"
        where = f"{line} by disparity"
        text = f"A step of semi-global matching. {self.before.name} holds the path costs L of the "
        text += f"{'row' if self.down else 'column'} before, {where}; for each pixel"
        if self.step is not None:
            text += f" of {'row' if self.down else 'column'} {self.step.name}"
        text += f" and disparity d {out.name} gets {self.costs.name} + min(L(d), L(d - 1) + "
        text += f"{self.small.name}, L(d + 1) + {self.small.name}, m + P2) - m, with L "
        text += f"of the {line} {told}" if slant else f"of the same {line}"
        low = "their least over all disparities" if self.minima is None else self.minima.name
        text += f", m {low}" + (" there" if self.minima is not None else "")
        text += f" and P2 = {self._penalty()}. Disparities out of range are left out."
        if slant:
            text += f" Where there is no such {line} it gets {self.costs.name} alone."
        if total is not None:
            text += f" The result is also added to {total.name} of the pixel and disparity."
        return Title(k.name("sgm_path_step sgm_aggregate aggregate_path"), text)

    def _penalty(self) -> str:
        if self.image is None:
            return self.large.name
        rule = f"{self.edges[1].name} where the two pixels of {self.image.name} differ by more "
        return f"{rule}than {self.edges[0].name}, else {self.large.name}"
