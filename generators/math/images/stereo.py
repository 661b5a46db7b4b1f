"""Stereo: the cost of matching pixels of two views, and costs aggregated along paths."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Operand, Var

_UINT32 = Scalar("uint32")
_UINT64 = Scalar("uint64")


def _put(*parts: Operand) -> tuple[Operand, ...]:
    return parts


class _Volume:
    """Costs of pixels and disparities, the disparities last or first."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        self.k = k
        self.first = k.draw.shape.chance(0.3)
        self.batch = level > 1 and k.draw.shape.chance(0.3)
        small = self.batch
        for name, low, high in (("height", 6, 8), ("width", 8, 10), ("disparities", 5, 7)):
            k.size(name, low - small, high - 2 * small)
        if self.batch:
            k.size("pairs", 2, 2)
        self.lead = ("pairs",) if self.batch else ()
        self.plane = (*self.lead, "height", "width")
        self.dims = (*self.lead, "disparities", "height", "width")
        if not self.first:
            self.dims = (*self.plane, "disparities")

    def place(self, lead: tuple[Var, ...], y: Operand, x: Operand, d: Operand) -> _Index:
        return _put(*lead, d, y, x) if self.first else _put(*lead, y, x, d)


_Index = tuple[Operand, ...]


@idiom
def matching_cost(k: KernelBuilder, level: int) -> Title:
    """The cost of a pixel at a disparity: of grey values, windows of them, or census codes.

    Census codes and Hamming distances: Zabih and Woodfill (1994); truncated colours and slopes:
    Rhemann et al. (2011).
    """
    shape, word = k.draw.shape, k.draw.word
    volume = _Volume(k, level)
    y, x, d = (k.name(n) for n in word.choice(("y x d", "row col d", "y x disp")).split())
    names = [y, x]
    names = [d, *names] if volume.first else [*names, d]
    lead = [k.name("b pair")] if volume.batch else []
    at = k.thread(*volume.dims, names=[*lead, *names])
    n = len(lead)
    yy, xx, dd = (at[n + 1], at[n + 2], at[n]) if volume.first else at[n:]
    ways = {
        1: ("census", "grey"),
        2: ("census", "grey", "window"),
        3: ("window", "census", "mixed"),
    }
    way = shape.choice(ways.get(level, ("window", "mixed", "census_window", "moments")))
    cost = _Cost(k, volume, at[:n], (yy, xx, dd), way)
    return cost.written(at)


class _Cost:
    """One way to compare a pixel of the left view with the one d columns before in the right."""

    def __init__(
        self,
        k: KernelBuilder,
        volume: _Volume,
        lead: tuple[Var, ...],
        at: tuple[Expr, ...],
        way: str,
    ) -> None:
        self.k, self.volume, self.lead, self.way = k, volume, lead, way
        self.y, self.x, self.d = at
        self.coded = way.startswith("census")
        self.code = k.draw.shape.choice((_UINT32, _UINT64, _UINT64))
        self.kind: Scalar = INT32 if self.coded else FLOAT32
        names = k.draw.word.choice((("left", "right"), ("img_l", "img_r")))
        if self.coded:
            names = k.draw.word.choice((("census_l", "census_r"), ("left_codes", "right_codes")))
        high = 4294967295 if self.code == _UINT32 else (1 << 63) - 1
        bounds = (0, high) if self.coded else (0.0, 1.0)
        kind = self.code if self.coded else FLOAT32
        self.views = [k.array(n, kind, volume.plane, low=bounds[0], high=bounds[1]) for n in names]

    def written(self, at: tuple[Var, ...]) -> Title:
        k, shape = self.k, self.k.draw.shape
        left, right = (v.name for v in self.views)
        missing = shape.choice(("clamp", "limit"))
        out = k.out("cost_volume costs", self.kind, self.volume.dims)
        text = f"The cost of matching each pixel of {left} with the one d columns before it in "
        text += f"{right}, for every disparity d: "
        if missing == "limit":
            self.there = self.way in ("census", "grey", "mixed")
            worst = k.scalar(
                "max_cost invalid_cost", self.kind, *((20, 60) if self.coded else (0.5, 2.0))
            )
            with k.if_(self.x < self.d):
                k.store(out, at, worst)
                k.return_()
            edge = f"Where that is before the first column the cost is {worst.name}."
        else:
            edge = f"Columns before the first of {right} are the first."
        value, said = getattr(self, f"_{self.way}")()
        k.store(out, at, value)
        near = " Pixels of a window beyond a border are those on it." * (
            "window" in self.way or self.way == "moments"
        )
        call = {"census": "census_cost hamming_cost", "grey": "absolute_difference_cost ad_cost"}
        names = call.get(self.way, f"{self.way}_cost stereo_cost cost_volume_kernel")
        if self.way == "window":
            names = "sad_cost block_match_cost" if self.sad else "ssd_cost block_match_cost"
        elif self.way == "moments":
            names = "zncc_cost ncc_cost"
        elif self.way == "mixed":
            names = "color_gradient_cost truncated_cost"
        return Title(k.name(names), f"{text}{said}. {out.name} gets it. {edge}{near}")

    sad = True
    there = False
    """Whether the column of the right view is in it for certain."""

    def _read(self, view: int, y: Expr, x: Expr) -> Expr:
        return self.views[view][_put(*self.lead, y, x)]

    def _other(self, x: Expr) -> Expr:
        """The column of the right view."""
        right = x - self.d
        return self.k.let("xr x_right", right if self.there else most(right, 0))

    def _census(self) -> tuple[Expr, str]:
        a = self._read(0, self.y, self.x)
        b = self._read(1, self.y, self._other(self.x))
        diff = self.k.let("diff bits", a ^ b)
        return fn("bit_count", diff), "the number of bits in which their census codes differ"

    def _grey(self) -> tuple[Expr, str]:
        k = self.k
        a = self._read(0, self.y, self.x)
        gap = k.let("diff gap", a - self._read(1, self.y, self._other(self.x)))
        if k.draw.shape.chance(0.4):
            cut = k.scalar("tau truncation", FLOAT32, 0.2, 0.5)
            return least(fn("abs", gap), cut), f"the absolute difference, at most {cut.name}"
        if k.draw.shape.chance(0.4):
            return gap * gap, "the squared difference"
        return fn("abs", gap), "the absolute difference"

    def _slope(self, view: int, x: Expr, width: Expr) -> Expr:
        after = self._read(view, self.y, least(x + 1, width - 1))
        return 0.5 * (after - self._read(view, self.y, most(x - 1, 0)))

    def _mixed(self) -> tuple[Expr, str]:
        k = self.k
        alpha = k.scalar("alpha grad_weight", FLOAT32, 0.4, 0.9)
        cuts = [k.scalar(n, FLOAT32, 0.1, 0.5) for n in ("tau_color", "tau_grad")]
        xr = self._other(self.x)
        width = k.size_param("width num_cols", "width")
        grey = k.let(
            "c_color", fn("abs", self._read(0, self.y, self.x) - self._read(1, self.y, xr))
        )
        slope = k.let(
            "c_grad", fn("abs", self._slope(0, self.x, width) - self._slope(1, xr, width))
        )
        told = f"(1 - {alpha.name}) * min(a, {cuts[0].name}) + {alpha.name} * min(g, "
        told += f"{cuts[1].name}), with a the absolute difference of the two pixels and g that of "
        told += "their slopes along the row (half of next less previous, columns beyond the image "
        told += "being the last ones)"
        return (1.0 - alpha) * least(grey, cuts[0]) + alpha * least(slope, cuts[1]), told

    def _over(self, body: object, r: int) -> None:
        k = self.k
        height, width = (
            k.size_param("height num_rows", "height"),
            k.size_param("width num_cols", "width"),
        )
        with k.for_("dy", r + 1, start=-r) as dy:
            row = k.let("yy", fn("clamp", self.y + dy, 0, height - 1))
            with k.for_("dx", r + 1, start=-r) as dx:
                col = k.let("xx", fn("clamp", self.x + dx, 0, width - 1))
                right = self._other(col)
                body(self._read(0, row, col), self._read(1, row, right))  # type: ignore[operator]

    def _window(self) -> tuple[Expr, str]:
        k = self.k
        self.sad, r = k.draw.shape.chance(0.6), k.draw.shape.integer(1, 3)
        total = k.let("total acc", k.lift(0.0, FLOAT32))

        def add(a: Expr, b: Expr) -> None:
            gap = k.let("diff gap", a - b)
            k.augment(total, "add", fn("abs", gap) if self.sad else gap * gap)

        self._over(add, r)
        kind = "absolute" if self.sad else "squared"
        side = 2 * r + 1
        return total, f"the sum of {kind} differences over the {side} x {side} pixels around both"

    def _census_window(self) -> tuple[Expr, str]:
        k, r = self.k, self.k.draw.shape.integer(1, 2)
        total = k.let("total acc", k.lift(0, INT32))

        def add(a: Expr, b: Expr) -> None:
            bits = k.let("diff bits", a ^ b)
            k.augment(total, "add", fn("bit_count", bits))

        self._over(add, r)
        side = 2 * r + 1
        told = "the number of bits in which their census codes differ, summed over the "
        return total, f"{told}{side} x {side} pixels around both"

    def _moments(self) -> tuple[Expr, str]:
        k, r = self.k, self.k.draw.shape.integer(1, 2)
        sums = [k.let(n, k.lift(0.0, FLOAT32)) for n in ("sa", "sb", "saa", "sbb", "sab")]

        def add(a: Expr, b: Expr) -> None:
            a, b = k.let("a", a), k.let("b", b)
            for total, term in zip(sums, (a, b, a * a, b * b, a * b), strict=True):
                k.augment(total, "add", term)

        eps = k.scalar("eps", FLOAT32, 0.001, 0.01)
        self._over(add, r)
        side = 2 * r + 1
        inv = 1.0 / side**2
        many = k.let("inv_n", k.lift(inv, FLOAT32))
        ma, mb = k.let("mean_a", many * sums[0]), k.let("mean_b", many * sums[1])
        va = k.let("var_a", most(many * sums[2] - ma * ma, 0.0))
        vb = k.let("var_b", most(many * sums[3] - mb * mb, 0.0))
        both = k.let("cov", many * sums[4] - ma * mb)
        told = (
            f"1 - cov / sqrt((va + {eps.name}) * (vb + {eps.name})), with the covariance and the "
        )
        told += f"variances (at least 0, divided by the count) of the {side} x {side} pixels "
        told += "around both"
        return 1.0 - both / fn("sqrt", (va + eps) * (vb + eps)), told


@idiom
def semi_global_step(k: KernelBuilder, level: int) -> Title:
    """A step of semi-global matching along a path (Hirschmueller, 2008): from the path's costs one
    pixel before, those of this pixel."""
    shape = k.draw.shape
    whole = shape.chance(0.5)
    kind: Scalar = INT32 if whole else FLOAT32
    for name, low, high in (("height", 8, 10), ("width", 8, 10), ("disparities", 5, 7)):
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

    def declare(self, lead: tuple[str, ...], across: str, sliced: bool, level: int) -> None:
        k, shape = self.k, self.k.draw.shape
        whole = self.kind == INT32
        high = 60 if whole else 1.0
        low = 0 if whole else 0.0
        dims = (*lead, across, "disparities")
        volume = (*lead, "height", "width", "disparities")
        self.costs = k.array(
            "costs cost_slice" if sliced else "cost_volume costs",
            self.kind,
            dims if sliced else volume,
            low=low,
            high=high,
        )
        self.sliced, self.volume = sliced, volume
        least_cost = 10 if whole else 0.1
        self.before = k.array("prev_path path_prev", self.kind, dims, low=least_cost, high=high)
        if shape.chance(0.35):
            high = 10 if whole else 0.1
            dims = (*lead, across)
            self.minima = k.array("prev_min path_min", self.kind, dims, low=low, high=high)
        if not sliced:
            self.step = k.scalar("row" if self.down else "col", INT32, 1, 5)
            if level > 2 and shape.chance(0.6):
                # Most neighbours are alike, and then the greater penalty counts.
                shades = (*lead, "height", "width")
                self.image = k.array("image left", INT32, shades, low=100, high=108)
        self.small = k.scalar("p1 penalty1", self.kind, *((3, 8) if whole else (0.04, 0.12)))
        self.large = k.scalar("p2 penalty2", self.kind, *((12, 20) if whole else (0.2, 0.35)))

    def place(self, back: int = 0, line: Expr | None = None) -> tuple[Operand, Operand]:
        """The row and the column of the paths' pixel, or of the one before it."""
        assert self.step is not None
        here = self.step - back if back else self.step
        mine = self.line if line is None else line
        return (here, mine) if self.down else (mine, here)

    def cost(self) -> Expr:
        if self.sliced:
            return self.costs[_put(*self.lead, self.line, self.disp)]
        return self.costs[_put(*self.lead, *self.place(), self.disp)]

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
            k.store(total, _put(*self.lead, *self.place(), self.disp), value, "add")
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
        read = lambda d: self.before[_put(*self.lead, source, d)]  # noqa: E731
        if self.minima is not None:
            low: Expr = k.let("low min_prev", self.minima[_put(*self.lead, source)])
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
        """The greater penalty, divided by the contrast of the two pixels."""
        k, image = self.k, self.image
        assert image is not None
        here = image[_put(*self.lead, *self.place())]
        there = image[_put(*self.lead, *self.place(1, source))]
        step = k.let("contrast", most(fn("abs", here - there), 1))
        share = self.large // step if self.kind == INT32 else self.large / cast(step, FLOAT32)
        return k.let("jump p2_here", most(share, self.small))

    def _title(self, out: Var, total: Var | None, told: str, slant: bool) -> Title:
        k = self.k
        line = "column" if self.down else "row"
        where = f"{line} by disparity"
        text = f"A step of semi-global matching. {self.before.name} holds the path costs L of the "
        text += f"pixels before, {where}; for each pixel"
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
        rule = f"max({self.small.name}, {self.large.name} / max(g, 1))"
        whole = " (rounded down)" if self.kind == INT32 else ""
        return f"{rule}{whole}, g the absolute difference of the two pixels in {self.image.name}"
