"""Images that smooth themselves: anisotropic diffusion, and steps of total variation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, most, sqrt, where
from generators.math.images.pixels import Image, pixel_type
from generators.program.dtypes import Scalar, Vec
from generators.program.expr import Expr, Var

_CROSS = ((-1, 0), (1, 0), (0, -1), (0, 1))
_CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
_Rule = Callable[[Expr], Expr]
"""The conductance of an edge, from the square of its contrast over that of the edges kept."""


def _rule(k: KernelBuilder, level: int) -> tuple[_Rule, str]:
    """A function of conductance, and what it is with s, the squared contrast over kappa^2."""
    ways = ("exp", "rational", "tukey", "charbonnier")
    way = k.draw.shape.choice(ways[: 2 if level == 1 else 4])
    if way == "exp":
        return lambda s: exp(-s), "exp(-s)"
    if way == "rational":
        return lambda s: 1.0 / (1.0 + s), "1 / (1 + s)"
    if way == "charbonnier":
        return lambda s: 1.0 / sqrt(1.0 + s), "1 / sqrt(1 + s)"

    def tukey(s: Expr) -> Expr:
        rest = k.let("rest keep", most(1.0 - s, 0.0))
        return rest * rest

    return tukey, "max(1 - s, 0)^2"


@idiom
def anisotropic_diffusion(k: KernelBuilder, level: int) -> Title:
    """An explicit step of Perona and Malik (1990): flows to neighbours, less across edges.

    Conductances of a smoothed guide: Catte et al. (1992); Tukey's: Black et al. (1998); the pull
    to the image that was given: Nordstroem (1990).
    """
    shape = k.draw.shape
    image = Image(k, level, channels=level < 4)
    type_ = pixel_type(k)
    src = image.array("src image u", type_, 0.0, 1.0, around=True)
    guided = level > 2 and shape.chance(0.5)
    guide = image.array("guide smoothed", type_, 0.0, 1.0, around=True) if guided else src
    pulled = level > 2 and shape.chance(0.4)
    first = image.array("observed noisy", type_, 0.0, 1.0) if pulled else None
    kappa = k.scalar("kappa edge_scale", type_, 0.2, 0.6)
    eight = shape.chance(0.2 + 0.1 * level)
    rate = k.scalar("lam step_size dt", type_, 0.1, 0.16 if eight else 0.24)
    out = image.out("dst diffused u_next", type_)
    image.skip([(out, src[image.at])])
    rule, said = _rule(k, level)
    slopes = level > 1 and shape.chance(0.45)
    center = k.let("center val", image.near(src, 0, 0))
    inv = k.let("inv_k2", 1.0 / (kappa * kappa))
    step = _Step(k, image, (src, guide, out, kappa, rate), said, eight, slopes)
    change = rate * step.flow(center, inv, rule)
    if first is not None:
        pull = k.scalar("beta fidelity", type_, 0.05, 0.2)
        change = change + rate * pull * (first[image.at] - center)
        step.pulled = f" {rate.name} * {pull.name} * ({first.name} - pixel) is added."
    k.store(out, image.at, center + change)
    return Title(k.name("perona_malik anisotropic_diffusion diffuse_image"), step.text())


@dataclass
class _Step:
    """The flows into a pixel from those beside it, and the step in words."""

    k: KernelBuilder
    image: Image
    arrays: tuple[Var, ...]
    rule: str
    eight: bool
    slopes: bool
    pulled: str = ""

    def flow(self, center: Var, inv: Var, rule: _Rule) -> Var:
        k, image, (src, guide, *_) = self.k, self.image, self.arrays
        guided = guide is not src
        own = k.let("guide_val g0", image.near(guide, 0, 0)) if guided else center
        flow = k.let("flow total", k.lift(0.0, src.type.element))  # type: ignore[union-attr]
        called = k.draw.word.choice(("d", "diff"))
        for dy, dx in _CROSS + (_CORNERS if self.eight else ()):
            way = {-1: "n", 0: "", 1: "s"}[dy] + {-1: "w", 0: "", 1: "e"}[dx]
            diff = k.let(f"{called}_{way}", image.near(src, dy, dx) - center)
            edge = k.let(f"edge_{way}", image.near(guide, dy, dx) - own) if guided else diff
            square = edge * edge
            if self.slopes and (not dy or not dx):
                square = square + _across(k, image, guide, dy, dx)
            part = rule(k.let(f"s_{way}", inv * square)) * diff
            k.augment(flow, "add", 0.5 * part if dy and dx else part)
        return flow

    def text(self) -> str:
        src, guide, out, kappa, rate = self.arrays
        guided = guide is not src
        text = f"A step of Perona-Malik diffusion: {out.name} gets {src.name} plus {rate.name} "
        text += "times the sum of c * (neighbour - pixel) over the 4 direct neighbours"
        text += " and half of it over the 4 diagonal ones" if self.eight else ""
        text += f", with c = {self.rule} and s = e2 / {kappa.name}^2, e2 being the square of "
        text += "the difference of the two pixels" + (f" in {guide.name}" if guided else "")
        if self.slopes:
            only = ", for direct neighbours," if self.eight else ""
            text += f" plus{only} that of the slope across it: the mean of both pixels' central "
            text += "differences (half of next less previous) along the other axis"
        padded = f"Each of {src.name} and {guide.name}" if guided else src.name
        return f"{text}.{self.pulled}{self.image.said('are copied', padded)}"


def _across(k: KernelBuilder, image: Image, guide: Var, dy: int, dx: int) -> Expr:
    """The square of the slope along an edge between two pixels: a mean of central differences."""
    ahead = ((dx * dx, dy * dy), (dy + dx * dx, dx + dy * dy))
    behind = ((-dx * dx, -dy * dy), (dy - dx * dx, dx - dy * dy))
    a, b = (image.near(guide, *p) for p in ahead)
    c, d = (image.near(guide, *p) for p in behind)
    side = k.let("side cross", 0.25 * (a - c + (b - d)))
    return side * side


class _Dual:
    """The dual field of a step of total variation: two planes, or one of vectors."""

    def __init__(self, image: Image, type_: Scalar) -> None:
        self.image, self.k, self.type = image, image.k, type_
        self.vector = image.draw.chance(0.4)
        kind = Vec(2, type_)
        names = ("p dual",) if self.vector else ("px", "py")
        held = kind if self.vector else type_
        self.arrays = [image.array(n, held, -1.0, 1.0) for n in names]
        self.outs: list[Var] = []

    @property
    def said(self) -> str:
        if self.vector:
            return f"{self.arrays[0].name} (columns, rows)"
        return f"({self.arrays[0].name}, {self.arrays[1].name}) (columns, rows)"

    @property
    def named(self) -> str:
        """The pair (px, py), said to be what it is where that has another name."""
        return f"(px, py) = {self.said}" if self.vector else "(px, py)"

    def part(self, axis: int, y: Expr, x: Expr) -> Expr:
        """The component along columns (0) or rows (1)."""
        place = self.image.place(y, x)
        return self.arrays[0][place][axis] if self.vector else self.arrays[axis][place]

    def divergence(self, names: str, y: Expr, x: Expr, back: tuple[bool, bool]) -> Var:
        """Backward differences; ``back``: whether the pixel before is there for certain."""
        k = self.k
        total = k.let(names, self.part(0, y, x) + self.part(1, y, x))
        for axis, here in enumerate((x, y)):
            if back[axis]:
                own = (y, self.image.x) if axis == 0 else (self.image.y, x)
                k.augment(total, "sub", self.part(axis, *own))
                continue
            before = (y, here - 1) if axis == 0 else (here - 1, x)
            with k.if_(here > 0):
                k.augment(total, "sub", self.part(axis, *before))
        return total

    def open(self) -> None:
        names = ("p_out p_next",) if self.vector else ("px_out", "py_out")
        held = Vec(2, self.type) if self.vector else self.type
        self.outs = [self.image.out(n, held) for n in names]

    def store(self, a: Expr, b: Expr) -> str:
        at = self.image.at
        values = [make(Vec(2, self.type), a, b)] if self.vector else [a, b]
        for out, value in zip(self.outs, values, strict=True):
            self.k.store(out, at, value)
        return " and ".join(o.name for o in self.outs) + (" gets" if self.vector else " get")


_DIVERGENCE = (
    "px[y, x] - px[y, x - 1] + py[y, x] - py[y - 1, x], what lies before the first row or "
    "column being 0"
)
_FORWARD = "forward differences along columns and rows, 0 in the last column or row"


@idiom
def total_variation_step(k: KernelBuilder, level: int) -> Title:
    """A step to the image of least total variation near a noisy one.

    The dual or the primal step of Chambolle and Pock (2011), or Chambolle's own of 2004.
    """
    shape = k.draw.shape
    image = Image(k, level, {"clamp": 1}, size=(8, 11))
    type_ = pixel_type(k)
    dual = _Dual(image, type_)
    fixed = max(level - 2, 0) * (level - 1)
    way = shape.weighted({"dual": 2, "primal": 2, "fixed": fixed})
    if way == "primal":
        return _primal(k, level, image, dual)
    if way == "fixed":
        return _fixed_point(k, image, dual)
    return _dual_step(k, level, image, dual)


def _dual_step(k: KernelBuilder, level: int, image: Image, dual: _Dual) -> Title:
    """The dual step: up the gradient, and back to what total variation allows."""
    type_ = dual.type
    bar = image.array("u_bar relaxed u", type_, 0.0, 1.0)
    sigma = k.scalar("sigma dual_step", type_, 0.25, 0.35)
    dual.open()
    here = k.let("center u0", bar[image.at])
    read = lambda y, x: bar[image.place(y, x)] - here  # noqa: E731
    gx, gy = _forward(dual, read)
    huber = level > 1 and k.draw.shape.chance(0.4)
    shrink: Expr | None = None
    if huber:
        alpha = k.scalar("alpha huber", type_, 0.02, 0.1)
        shrink = k.let("shrink inv", 1.0 / (1.0 + sigma * alpha))
    moved = [
        k.let(n, dual.part(a, image.y, image.x) + sigma * g)
        for a, (n, g) in enumerate((("qx", gx), ("qy", gy)))
    ]
    if shrink is not None:
        moved = [k.let(n, shrink * q) for n, q in zip(("rx", "ry"), moved, strict=True)]
    qx, qy = moved
    if k.draw.shape.chance(0.3):
        a, b = least(most(qx, -1.0), 1.0), least(most(qy, -1.0), 1.0)
        rule = "each component is cut to [-1, 1] (anisotropic)"
    else:
        norm = k.let("scale norm", most(sqrt(qx * qx + qy * qy), 1.0))
        a, b, rule = qx / norm, qy / norm, "the vector is divided by max(1, its length)"
    done = dual.store(a, b)
    text = f"The dual step of Chambolle and Pock for total variation: to {dual.said} {sigma.name} "
    text += f"times the gradient of {bar.name} ({_FORWARD}) is added, "
    if huber:
        text += f"the sum is divided by 1 + {sigma.name} * {alpha.name} (Huber), "
    return Title(
        k.name("tv_dual_step dual_ascent tv_dual_update"), f"{text}then {rule}. {done} it."
    )


def _forward(dual: _Dual, read: Callable[[Expr, Expr], Expr]) -> tuple[Expr, Expr]:
    """Forward differences along columns and rows, none at the last."""
    k, image, parts = dual.k, dual.image, []
    for axis, name in ((1, "gx"), (0, "gy")):
        here = (image.y, image.x)[axis]
        part = k.let(name, k.lift(0.0, dual.type))
        with k.if_(here + 1 < image.size(axis)):
            place = (image.y, here + 1) if axis else (here + 1, image.x)
            k.assign(part, read(*place))
        parts.append(part)
    return parts[0], parts[1]


def _primal(k: KernelBuilder, level: int, image: Image, dual: _Dual) -> Title:
    """The primal step, for squared or absolute deviations, and what it is relaxed to."""
    shape, type_ = k.draw.shape, dual.type
    old = image.array("u u_old", type_, 0.0, 1.0)
    noisy = image.array("observed noisy", type_, 0.0, 1.0)
    tau = k.scalar("tau primal_step", type_, 0.15, 0.35)
    weight = k.scalar("lam fidelity", type_, 0.4, 1.2)
    out = image.out("u_out u_next", type_)
    relaxed = image.out("u_bar_out relaxed_out", type_) if shape.chance(0.5) else None
    div = dual.divergence("div", image.y, image.x, (False, False))
    before = k.let("prev u0", old[image.at])
    v = k.let("v ascent", before + tau * div)
    f = k.let("f target", noisy[image.at])
    text = f"The primal step of Chambolle and Pock for total variation: v is {old.name} + "
    text += f"{tau.name} * div, the divergence of {dual.named} being {_DIVERGENCE}. "
    if level > 1 and shape.chance(0.5):
        bound, gap = k.let("bound thr", tau * weight), k.let("gap resid", v - f)
        new = k.let("u_new", where(gap > bound, v - bound, where(gap < -bound, v + bound, f)))
        text += f"{out.name} gets u, which is v moved towards {noisy.name} by {tau.name} * "
        text += f"{weight.name} but not beyond it (absolute deviations)."
    else:
        share = k.let("share w", tau * weight)
        new = k.let("u_new", (v + share * f) / (1.0 + share))
        text += f"{out.name} gets u = (v + {tau.name} * {weight.name} * {noisy.name}) / (1 + "
        text += f"{tau.name} * {weight.name}) (squared deviations)."
    k.store(out, image.at, new)
    if relaxed is not None:
        k.store(relaxed, image.at, 2.0 * new - before)
        text += f" {relaxed.name} gets 2 * u - {old.name}."
    return Title(k.name("tv_primal_step primal_descent tv_denoise_step"), text)


def _fixed_point(k: KernelBuilder, image: Image, dual: _Dual) -> Title:
    """Chambolle's step of 2004: the gradient of div p - f / lambda, divided semi-implicitly."""
    type_ = dual.type
    noisy = image.array("observed noisy", type_, 0.0, 1.0)
    lam = k.scalar("lam smoothing", type_, 0.2, 0.8)
    tau = k.scalar("tau step_size", type_, 0.1, 0.125)
    dual.open()
    inv = k.let("inv_lam", 1.0 / lam)
    div = dual.divergence("div div0", image.y, image.x, (False, False))
    own = k.let("own w0", div - inv * noisy[image.at])

    def read(y: Expr, x: Expr) -> Expr:
        back = (x is not image.x, y is not image.y)
        there = dual.divergence("div_next div1", y, x, back)
        return there - inv * noisy[image.place(y, x)] - own

    gx, gy = _forward(dual, read)
    norm = k.let("den scale", 1.0 + tau * sqrt(gx * gx + gy * gy))
    a, b = ((dual.part(n, image.y, image.x) + tau * g) / norm for n, g in enumerate((gx, gy)))
    done = dual.store(a, b)
    text = "A step of Chambolle's projection for total variation: with g the gradient of div - "
    text += f"{noisy.name} / {lam.name} ({_FORWARD}), where the divergence of "
    text += f"{dual.named} is {_DIVERGENCE}, {done} (p + {tau.name} * g) / (1 + {tau.name} * |g|)."
    return Title(k.name("chambolle_step chambolle_projection tv_projection"), text)
