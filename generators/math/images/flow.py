"""Optical flow: steps of Lucas and Kanade, and of Horn and Schunck."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, sqrt
from generators.kit.naming import maybe
from generators.kit.words import words
from generators.math.images.pixels import Image, pixel_type
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var

_BORDERS = {"clamp": 4, "skip": 3, "padded": 2}


class _Flow:
    """A field of motion: two planes, or one of vectors."""

    def __init__(self, image: Image, type_: Scalar, vector: bool, names: str, role: str) -> None:
        self.image, self.type, self.vector = image, type_, vector
        k = image.k
        made = image.out if role == "out" else None
        self.arrays: list[Var] = []
        around = role == "around"
        if vector:
            called = {"out": "flow_out new_flow"}.get(role, names)
            kind = Vec(2, type_)
            self.arrays = [
                made(called, kind) if made else image.array(called, kind, -1.5, 1.5, around=around)
            ]
        else:
            pair = ("u_out", "v_out") if role == "out" else ("u", "v")
            self.arrays = [
                made(c, type_) if made else image.array(c, type_, -1.5, 1.5, around=around)
                for c in pair
            ]
        self.k = k

    @property
    def said(self) -> str:
        if self.vector:
            return f"{self.arrays[0].name} (columns, rows)"
        return f"{self.arrays[0].name} (columns) and {self.arrays[1].name} (rows)"

    @property
    def verb(self) -> str:
        return "gets" if self.vector else "get"

    def near(self, dy: int, dx: int) -> list[Expr]:
        """The motion of a pixel beside this one."""
        found = [self.image.near(a, dy, dx) for a in self.arrays]
        return [found[0][0], found[0][1]] if self.vector else list(found)

    def store(self, u: Expr, v: Expr) -> None:
        at = self.image.at
        if self.vector:
            self.k.store(self.arrays[0], at, make(Vec(2, self.type), u, v))
        else:
            self.k.store(self.arrays[0], at, u)
            self.k.store(self.arrays[1], at, v)

    def clear(self) -> None:
        """With the border ``skip``: no motion near it."""
        if self.image.border == "skip":
            with self.k.if_(self.image.outside()):
                self.store(self.k.lift(0.0, self.type), self.k.lift(0.0, self.type))
                self.k.return_()


@idiom
def horn_schunck_step(k: KernelBuilder, level: int) -> Title:
    """A Jacobi step of Horn and Schunck's optical flow: the mean of the neighbours, less what
    brightness does not allow; with weights, or as a robust step."""
    shape = k.draw.shape
    image = Image(k, level, _BORDERS, channels=False, size=(8, 11))
    type_ = pixel_type(k)
    derived = level > 2 and shape.chance(0.6)
    frames = ("frame0", "frame1") if derived else ()
    images = [image.array(n, type_, 0.0, 1.0, around=True) for n in frames]
    slopes = () if derived else ("ix", "iy", "it")
    grads = [image.array(n, type_, -1.0, 1.0) for n in slopes]
    old = _Flow(image, type_, shape.chance(0.4), "flow flow_old", "around")
    alpha = k.scalar("alpha smoothness", type_, 0.3, 1.5)
    new = _Flow(image, type_, old.vector, "", "out")
    new.clear()
    if derived:
        ix, iy, it, said = _central(k, image, *images)
    else:
        ix, iy, it = (k.let(n, g[image.at]) for n, g in zip(("gx", "gy", "gt"), grads, strict=True))
        said = "Ix, Iy and It being the image's derivatives along columns, rows and time in "
        said += f"{', '.join(g.name for g in grads[:2])} and {grads[2].name}"
    u_bar, v_bar, mean = _neighbourhood(k, level, old)
    residual = k.let("residual r", ix * u_bar + iy * v_bar + it)
    scale, rule = _pull(k, level, residual, (ix, iy), alpha)
    new.store(u_bar - scale * ix, v_bar - scale * iy)
    text = f"A step of Horn and Schunck's optical flow from {old.said}: with (ub, vb) {mean}, "
    text += f"r = Ix ub + Iy vb + It and s = {rule}, {new.said} {new.verb} "
    text += f"ub - s Ix and vb - s Iy, {said}."
    kept = "get no motion"
    arrays = old.arrays + (images if derived else [])
    padded = f"Each of {', '.join(a.name for a in arrays[:-1])} and {arrays[-1].name}"
    padded = arrays[0].name if len(arrays) == 1 else padded
    return Title(
        k.name("horn_schunck_step flow_jacobi horn_schunck"), text + image.said(kept, padded)
    )


def _pull(
    k: KernelBuilder, level: int, r: Expr, slope: tuple[Expr, Expr], alpha: Var
) -> tuple[Expr, str]:
    """How far the gradient pulls a motion back: as the residual says, or robustly."""
    ix, iy = slope
    if level > 3 and k.draw.shape.chance(0.5):
        eps = k.scalar("eps", alpha.type, 0.05, 0.2)
        weight = k.let("psi data_weight", 1.0 / sqrt(r * r + eps * eps))
        scale = weight * r / (alpha * alpha + weight * (ix * ix + iy * iy))
        rule = f"w r / ({alpha.name}^2 + w (Ix^2 + Iy^2)), w = 1 / sqrt(r^2 + {eps.name}^2)"
    else:
        scale = r / (alpha * alpha + ix * ix + iy * iy)
        rule = f"r / ({alpha.name}^2 + Ix^2 + Iy^2)"
    return k.let("scale ratio", scale), rule


def _central(k: KernelBuilder, image: Image, a: Var, b: Var) -> tuple[Expr, Expr, Expr, str]:
    """Derivatives of two frames: central ones of the first or of their mean, and the difference."""
    both = k.draw.shape.chance(0.4)

    def slope(far: tuple[int, int], near: tuple[int, int]) -> Expr:
        first = image.near(a, *far) - image.near(a, *near)
        if not both:
            return 0.5 * first
        return 0.25 * (first + image.near(b, *far) - image.near(b, *near))

    ix, iy = k.let("ix gx", slope((0, 1), (0, -1))), k.let("iy gy", slope((1, 0), (-1, 0)))
    it = k.let("it gt", image.near(b, 0, 0) - image.near(a, 0, 0))
    of = f"the mean of {a.name} and {b.name}" if both else a.name
    said = f"Ix and Iy being the central differences of {of} (half of next less previous) along "
    return ix, iy, it, f"{said}columns and rows, It = {b.name} - {a.name}"


_Steps = tuple[tuple[int, int], ...]


def _weighted_mean(
    total: Callable[[_Steps, int | None], Expr],
    cross: _Steps,
    corners: _Steps,
    eight: bool,
    part: int | None,
) -> Expr:
    """The mean of four neighbours, or of eight of which the diagonal ones count half."""
    if not eight:
        return 0.25 * total(cross, part)
    return total(cross, part) / 6.0 + total(corners, part) / 12.0


def _neighbourhood(k: KernelBuilder, level: int, old: _Flow) -> tuple[Expr, Expr, str]:
    """The mean motion around a pixel: of four neighbours, or of eight by weights."""
    cross = ((-1, 0), (1, 0), (0, -1), (0, 1))
    corners = ((-1, -1), (-1, 1), (1, -1), (1, 1))
    eight = k.draw.shape.chance(0.25 + 0.1 * level)

    def total(steps: _Steps, part: int | None) -> Expr:
        array = old.arrays[part or 0]
        values: list[Expr] = [old.image.near(array, *step) for step in steps]
        return sum(values[1:], values[0])

    if old.vector:
        mean = k.let("mean_flow flow_bar", _weighted_mean(total, cross, corners, eight, None))
        means: list[Expr] = [mean[0], mean[1]]
    else:
        means = [
            k.let(name, _weighted_mean(total, cross, corners, eight, part))
            for part, name in enumerate(("u_bar u_mean", "v_bar v_mean"))
        ]
    told = "the mean motion of its 4 direct neighbours"
    if eight:
        told = (
            "the sum of the motions of its 4 direct neighbours over 6 and of its 4 diagonal ones "
        )
        told += "over 12"
    return means[0], means[1], told


@idiom
def lucas_kanade_step(k: KernelBuilder, level: int) -> Title:
    """Lucas and Kanade's optical flow: least squares of the brightness constraint over a window,
    from derivatives or from frames, started anew or refined by warping."""
    shape = k.draw.shape
    warped = level > 2 and shape.chance(0.5)
    borders = {"clamp": 1} if warped else _BORDERS
    image = Image(k, level, borders, channels=False, size=(8, 11))
    type_ = pixel_type(k)
    window = _Window(k, level, image, type_, warped)
    old = _Flow(image, type_, window.vector, "flow flow_in", "in") if warped else None
    new = _Flow(image, type_, window.vector, "", "out")
    new.clear()
    if old is not None:
        start = old.near(0, 0)
        window.begin(k.let("u0 u_old", start[0]), k.let("v0 v_old", start[1]))
    sums = window.gathered()
    du, dv, said = _solved(k, level, sums, type_, window.weights is not None)
    if window.start is not None:
        du, dv = window.start[0] + du, window.start[1] + dv
    new.store(du, dv)
    text = "Optical flow by Lucas and Kanade: over the 3 x 3 pixels around each, the sums A of "
    text += f"Ix^2, B of Ix Iy, C of Iy^2, P of Ix It and Q of Iy It{window.summed}, "
    text += f"{window.told}. {said}. "
    text += f"{new.said} {new.verb} " + (f"{old.said} plus the solution" if old else "the solution")
    text += f".{image.said('get no motion', window.padded)}"
    return Title(k.name("lucas_kanade lucas_kanade_step lk_flow"), text)


class _Window:
    """The window of a pixel: what its derivatives come from, and how its pixels count."""

    def __init__(
        self, k: KernelBuilder, level: int, image: Image, type_: Scalar, warped: bool
    ) -> None:
        self.k, self.image, self.type, self.warped = k, image, type_, warped
        shape = k.draw.shape
        self.start: tuple[Expr, Expr] | None = None
        self.whole: list[Expr] = []
        self.parts: list[Expr] = []
        self.vector = shape.chance(0.4)
        names = ("ix", "iy") if warped or shape.chance(0.2 * (level > 1)) else ("ix", "iy", "it")
        self.grads = [image.array(n, type_, -1.0, 1.0, around=True) for n in names]
        self.frames: list[Var] = []
        if len(names) == 2:
            called = k.draw.word.choice((("frame0", "frame1"), ("prev_frame", "next_frame")))
            self.frames = [image.array(n, type_, 0.0, 1.0, around=True) for n in called]
        self.weights, self.summed = None, ""
        if level > 1 and shape.chance(0.35):
            self.weights = k.array(
                words("window weights_3x3"), type_, ("3", "3"), low=0.1, high=1.0
            )
        arrays = [a.name for a in (*self.grads, *self.frames)]
        self.padded = f"Each of {', '.join(arrays[:-1])} and {arrays[-1]}"
        first = f"the derivatives along columns and rows being Ix = {arrays[0]}, Iy = {arrays[1]}"
        self.told = first
        if not self.frames:
            self.told = f"{first} and that in time It = {arrays[2]}"
        elif not warped:
            self.told += f" and It = {self.frames[1].name} - {self.frames[0].name}"
        if self.weights is not None:
            self.summed = f", each term weighted by {self.weights.name} of its place in the window"

    def begin(self, u: Expr, v: Expr) -> None:
        """A motion to start from, as whole pixels and fractions."""
        self.start = (u, v)
        for axis, moved in (("y", v), ("x", u)):
            whole = self.k.let(f"shift_{axis} step_{axis}", cast(fn("floor", moved), INT32))
            self.whole.append(whole)
            self.parts.append(self.k.let(f"f{axis}", moved - cast(whole, self.type)))

    def gathered(self) -> list[Expr]:
        """The five sums."""
        k, image = self.k, self.image
        zero = k.lift(0.0, self.type)
        names = k.draw.word.choice(
            (("a11", "a12", "a22", "b1", "b2"), ("sxx", "sxy", "syy", "sxt", "syt"))
        )
        sums = [k.let(n, zero) for n in names]
        (row_step, column_step), beside = image.steps, image.around()
        with k.for_(row_step, 2, start=-1) as dy, k.for_(column_step, 2, start=-1) as dx:
            row, column = image.stepped(0, dy), image.stepped(1, dx)
            if image.border != "skip":
                row, column = k.let(beside[0], row), k.let(beside[1], column)
            place = image.place(row, column)
            gx, gy = (k.let(n, g[place]) for n, g in zip(("gx", "gy"), self.grads, strict=False))
            gt = k.let("gt diff", self._change(row, column, place))
            wx: Expr = gx
            wy: Expr = gy
            if self.weights is not None:
                weight = k.let("w weight", self.weights[dy + 1, dx + 1])
                wx, wy = k.let("wx wgx", weight * gx), k.let("wy wgy", weight * gy)
            terms = (wx * gx, wx * gy, wy * gy, wx * gt, wy * gt)
            for total, value in zip(sums, terms, strict=True):
                k.augment(total, "add", value)
        return list(sums)

    def _change(self, row: Expr, column: Expr, place: tuple[object, ...]) -> Expr:
        """The derivative in time of a pixel of the window."""
        if not self.frames:
            return self.grads[2][place]  # type: ignore[index]
        first, second = self.frames
        if self.start is None:
            return second[place] - first[place]  # type: ignore[index]
        return self._sampled(second, row, column) - first[place]  # type: ignore[index]

    def _sampled(self, frame: Var, row: Expr, column: Expr) -> Expr:
        """The second frame where the motion so far leads, bilinearly."""
        k, image = self.k, self.image
        assert self.start is not None
        parts = []
        for axis, (here, name) in enumerate(((row, "y"), (column, "x"))):
            last = image.size(axis) - 1
            moved = here + self.whole[axis]
            low = k.let(f"{name}0", clamp(moved, 0, last))
            high = k.let(f"{name}1", clamp(moved + 1, 0, last))
            parts.append((low, high, self.parts[axis]))
        (y0, y1, fy), (x0, x1, fx) = parts
        read = lambda y, x: frame[image.place(y, x)]  # noqa: E731
        upper = k.let("upper top", read(y0, x0) + fx * (read(y0, x1) - read(y0, x0)))
        lower = k.let("lower bottom", read(y1, x0) + fx * (read(y1, x1) - read(y1, x0)))
        self.told += f" and It = {self.frames[1].name} at the place to which the motion so far of "
        self.told += "the center, taken for all of the window, leads (bilinear, beyond the border "
        self.told += f"the pixels on it) less {self.frames[0].name}"
        return k.let("warped value_there", upper + fy * (lower - upper))


def _solved(
    k: KernelBuilder, level: int, sums: list[Expr], type_: Scalar, weighted: bool
) -> tuple[Expr, Expr, str]:
    """The solution of the 2 x 2 system: damped, or where its smaller eigenvalue allows."""
    a, b, c, p, q = sums
    way = k.draw.shape.choice(("damped", "eigenvalue", "determinant") if level > 1 else ("damped",))
    if way == "damped":
        damping = k.scalar("damping lam", type_, 0.05, 0.3)
        a, c = k.let("d1 damped_x", a + damping), k.let("d2 damped_y", c + damping)
        inv = k.let("inv_det", 1.0 / (a * c - b * b))
        told = f"{damping.name} is added to A and C, and A u + B v = -P, B u + C v = -Q solved"
        return inv * (b * q - c * p), inv * (b * p - a * q), told
    det = k.let("det", a * c - b * b)
    least, most = {"eigenvalue": (1.8, 2.3), "determinant": (6.0, 8.0)}[way]
    share = 1.0 if not weighted else 0.55 if way == "eigenvalue" else 0.3
    name = "min_eigen" if way == "eigenvalue" else "min_det"
    limit = k.scalar(name, type_, share * least, share * most)
    if way == "eigenvalue":
        half = k.let("half_gap", 0.5 * (a - c))
        smaller = maybe(k, "lam_min", 0.5 * (a + c) - sqrt(half * half + b * b))
        test, said = smaller > limit, "the smaller eigenvalue of [[A, B], [B, C]] exceeds"
    else:
        test, said = det > limit, "A C - B^2 exceeds"
    u, v = k.let("du step_u", k.lift(0.0, type_)), k.let("dv step_v", k.lift(0.0, type_))
    with k.if_(test):
        k.assign(u, (b * q - c * p) / det)
        k.assign(v, (b * p - a * q) / det)
    told = f"Where {said} {limit.name}, A u + B v = -P and B u + C v = -Q are solved, elsewhere "
    return u, v, f"{told}the solution is 0"
