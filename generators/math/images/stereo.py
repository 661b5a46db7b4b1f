"""Stereo: the cost of matching pixels of two views."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.math.images.pixels import spot
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Operand, Var

_UINT32 = Scalar("uint32")
_UINT64 = Scalar("uint64")


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
        return spot(*lead, d, y, x) if self.first else spot(*lead, y, x, d)


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
        3: ("window", "mixed", "moments"),
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
            bounds = (20, 60) if self.coded else (0.5, 2.0)
            worst = k.scalar("max_cost invalid_cost", self.kind, *bounds)
            with k.if_(self.x < self.d):
                k.store(out, at, worst)
                k.return_()
            edge = f"Where that is before the first column the cost is {worst.name}."
        else:
            edge = f"Columns before the first of {right} are the first."
        value, said = getattr(self, f"_{self.way}")()
        k.store(out, at, value)
        near = ""
        if "window" in self.way or self.way == "moments":
            near = f" Pixels of a window of {left} beyond a border are those on it; each is "
            near += "compared with the one d columns before it, or the first of the row."
        return Title(k.name(self._names()), f"{text}{said}. {out.name} gets it. {edge}{near}")

    def _names(self) -> str:
        if self.way == "window":
            return f"{'sad' if self.sad else 'ssd'}_cost block_match_cost"
        names = {"census": "census_cost hamming_cost", "grey": "pixel_cost intensity_cost"}
        names |= {"moments": "zncc_cost ncc_cost", "mixed": "color_gradient_cost truncated_cost"}
        return names.get(self.way, "census_window_cost census_block_cost")

    sad = True
    there = False
    """Whether the column of the right view is in it for certain."""

    def _read(self, view: int, y: Expr, x: Expr) -> Expr:
        return self.views[view][spot(*self.lead, y, x)]

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
        va = k.let("var_a", many * sums[2] - ma * ma)
        vb = k.let("var_b", many * sums[3] - mb * mb)
        both = k.let("cov", many * sums[4] - ma * mb)
        told = (
            f"1 - cov / sqrt((va + {eps.name}) * (vb + {eps.name})), with the covariance and the "
        )
        told += f"variances (divided by the count) of the {side} x {side} pixels "
        told += "around both"
        return 1.0 - both / fn("sqrt", (va + eps) * (vb + eps)), told
