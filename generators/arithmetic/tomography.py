"""Tomography: line integrals through an image, and their back-projection into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, sin
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var

_Table = tuple[Callable[[Expr], Expr], Callable[[Expr], Expr], str]


def _directions(k: KernelBuilder) -> _Table:
    """Cosine and sine of each angle: of given angles, of even steps, or from tables; in words."""
    way = k.draw.shape.choice(("angles", "steps", "tables"))
    if way == "tables":
        c = k.array("cos_table cos_angles", FLOAT32, "angles", low=-1.0, high=1.0)
        s = k.array("sin_table sin_angles", FLOAT32, "angles", low=-1.0, high=1.0)
        said = f"{c.name}[a] and {s.name}[a] are the cosine and sine of angle a"
        return lambda a: c[a], lambda a: s[a], said
    if way == "angles":
        thetas = k.array("thetas proj_angles", FLOAT32, "angles", low=0.0, high=3.14)

        def angle(a: Expr) -> Expr:
            return thetas[a]

        said = f"angle a is {thetas.name}[a] in radians"
    else:
        step = k.scalar("angle_step d_theta", FLOAT32, 0.2, 0.5)

        def angle(a: Expr) -> Expr:
            return cast(a, FLOAT32) * step

        said = f"angle a is a * {step.name}"
    held: dict[int, Expr] = {}

    def theta(a: Expr) -> Expr:
        return held.setdefault(0, k.let("theta angle", angle(a)))

    return lambda a: cos(theta(a)), lambda a: sin(theta(a)), said


@dataclass(frozen=True)
class _Scan:
    """The sizes and the spacing of an image and of the detector, both centred on the axis."""

    k: KernelBuilder
    slices: bool
    pixel: Var
    bin: Var

    @property
    def lead(self) -> tuple[str, ...]:
        return ("slices",) if self.slices else ()

    def centred(self, index: Expr, count: Expr, spacing: Expr) -> Expr:
        """The coordinate of the middle of a pixel or of a bin of the detector."""
        return (cast(index, FLOAT32) - 0.5 * cast(count - 1, FLOAT32)) * spacing

    @property
    def said(self) -> str:
        text = (
            f"x and y are 0 at the middle of the image, whose pixels are {self.pixel.name} wide; "
        )
        return f"{text}t = 0 is at bin"


def _scan(k: KernelBuilder, level: int) -> _Scan:
    shape = k.draw.shape
    slices = level > 2 and shape.chance(0.4)
    if slices:
        k.size("slices", 2, 3)
    for name, low, high in (("height", 8, 10), ("width", 8, 10), ("angles", 7, 9), ("bins", 8, 9)):
        k.size(name, low, high)
    pixel = k.scalar("pixel_size voxel_size", FLOAT32, 0.8, 1.2)
    return _Scan(k, slices, pixel, k.scalar("bin_width det_spacing", FLOAT32, 0.8, 1.2))


@idiom(depth=3)
def back_projection(k: KernelBuilder, level: int) -> Title:
    """Each pixel sums the projections at where it is seen at, over all angles.

    A. C. Kak, M. Slaney, Principles of Computerized Tomographic Imaging (1988), chapter 3.
    """
    shape = k.draw.shape
    s = _scan(k, level)
    names = (*[k.name("z")] * s.slices, *k.draw.word.choice(("y x", "i j", "row col")).split())
    *lead, i, j = k.thread(*s.lead, "height", "width", names=names)
    sino = k.array("sinogram projections", FLOAT32, (*s.lead, "angles", "bins"), low=-1.0, high=2.0)
    out = k.out("image recon", FLOAT32, (*s.lead, "height", "width"))
    fan = level > 2 and shape.chance(0.5)
    far = k.scalar("source_dist sod", FLOAT32, 14.0, 20.0) if fan else None
    cosine, sine, told = _directions(k)
    x = k.let("px x_pos", s.centred(j, extent(out, len(lead) + 1), s.pixel))
    y = k.let("py y_pos", s.centred(i, extent(out, len(lead)), s.pixel))
    bins = extent(sino, len(lead) + 1)
    middle = k.scalar("center rot_center", FLOAT32, 3.2, 5.6)
    total = k.let("acc total", k.lift(0.0, FLOAT32))
    linear = level > 1 or shape.chance(0.5)
    with k.for_("a", extent(sino, len(lead))) as a:
        c, sn = k.let("c cos_a", cosine(a)), k.let("s sin_a", sine(a))
        t = k.let("t offset", x * c + y * sn)
        weight: Expr | None = None
        if far is not None:
            depth = k.let("depth ratio", (far + x * sn - y * c) / far)
            t = k.let("t_det hit", t / depth)
            weight = 1.0 / (depth * depth)
        u = k.let("u pos", t / s.bin + middle)
        _collect(k, (sino, (*lead, a), bins), u, total, weight, linear)
    value: Expr = total
    text = _told_back(s, sino, linear, far, told)
    text += f" {middle.name} (a real index), and bins are {s.bin.name} wide."
    if shape.chance(0.6):
        scale = 3.14159265 / cast(extent(sino, len(lead)), FLOAT32)
        value = total * scale
        text += " The sum is multiplied by pi over the number of angles."
    k.store(out, (*lead, i, j), value)
    kind = "fan_beam_backproject" if fan else "backproject back_projection"
    return Title(k.name(kind), f"{text} {out.name} gets it.")


def _collect(
    k: KernelBuilder,
    row: tuple[Var, tuple[Expr, ...], Expr],
    u: Var,
    total: Var,
    weight: Expr | None,
    linear: bool,
) -> None:
    """Add the projection at a place of the detector, if that is on it."""
    sino, lead, bins = row
    if not linear:
        d = k.let("d bin_id", cast(fn("floor", u + 0.5), INT32))
        with k.if_(fn("and", d >= 0, d < bins)):
            value: Expr = sino[lead + (d,)]
            k.augment(total, "add", value if weight is None else weight * value)
        return
    low = k.let("d0 lower", cast(fn("floor", u), INT32))
    with k.if_(fn("and", low >= 0, low < bins - 1)):
        part = k.let("w frac", u - cast(low, FLOAT32))
        first, second = sino[lead + (low,)], sino[lead + (low + 1,)]
        if k.draw.shape.chance(0.5):
            value = fn("lerp", first, second, part)
        else:
            value = (1.0 - part) * first + part * second
        k.augment(total, "add", value if weight is None else weight * value)


def _told_back(s: _Scan, sino: Var, linear: bool, far: Var | None, told: str) -> str:
    beam = "Fan-beam" if far is not None else "Parallel-beam"
    text = f"{beam} back-projection: each pixel, at (x, y) along columns and rows, sums over "
    text += "all angles "
    if far is not None:
        text += f"{sino.name} at t = (x * cos + y * sin) / L, divided by L^2, with L = "
        text += f"({far.name} + x * sin - y * cos) / {far.name} and {far.name} the distance from "
        text += "the source to the axis (the detector is taken to the axis)"
    else:
        text += f"{sino.name} at t = x * cos + y * sin"
    how = "interpolated linearly between bins, 0 outside of the first and last ones"
    how = how if linear else "taken from the nearest bin, 0 where there is none"
    return f"{text}, {how}. Here {told}. {s.said}"


class _Ray:
    """A ray of the detector: a thread for each angle and bin; the image that it goes through."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        self.k, self.s = k, _scan(k, level)
        names = (*[k.name("z")] * self.s.slices, "a", "d")
        *lead, self.a, self.d = k.thread(*self.s.lead, "angles", "bins", names=names)
        self.lead, sizes = tuple(lead), self.s.lead
        self.image = k.array(
            "image volume" if sizes else "image",
            FLOAT32,
            (*sizes, "height", "width"),
            low=0.0,
            high=2.0,
        )
        self.out = k.out("sinogram projections", FLOAT32, (*sizes, "angles", "bins"))
        self.height, self.width = (extent(self.image, len(self.lead) + n) for n in (0, 1))
        cosine, sine, self.told = _directions(k)
        self.c, self.sn = k.let("c cos_a", cosine(self.a)), k.let("s sin_a", sine(self.a))
        self.middle = k.scalar("center rot_center", FLOAT32, 3.2, 5.6)
        self.kind = ""
        self.t = k.let("t offset", (cast(self.d, FLOAT32) - self.middle) * self.s.bin)

    def pixel(self, i: Expr, j: Expr) -> Expr:
        return self.image[self.lead + (i, j)]

    def row_of(self, x: Expr, count: Expr) -> Expr:
        """The real index along an axis of the image of a coordinate."""
        return x / self.s.pixel + 0.5 * cast(count - 1, FLOAT32)

    def finish(self, kind: str, names: str, how: str, value: Expr) -> Title:
        self.k.store(self.out, (*self.lead, self.a, self.d), value)
        text = (
            f"{kind} forward projection: {self.out.name} gets, for each angle a and bin d, {how}. "
        )
        text += f"Here {self.told}. {self.s.said} {self.middle.name} (a real "
        text += f"index), and bins are {self.s.bin.name} wide."
        return Title(self.k.name(names), text)


@idiom(depth=4)
def forward_projection(k: KernelBuilder, level: int) -> Title:
    """Integrals of an image along the rays of a detector, by samples or from row to row.

    P. M. Joseph, IEEE Trans. Med. Imaging 1 (1982); A. C. Kak, M. Slaney (1988), chapter 3.
    """
    shape = k.draw.shape
    r = _Ray(k, level)
    if level > 2 and shape.chance(0.5):
        return _joseph(r)
    step = k.scalar("step_size ray_step", FLOAT32, 0.75, 1.1)
    steps = k.scalar("num_steps num_samples", INT32, 6, 10)
    if level > 1 and shape.chance(0.3 + 0.1 * level):
        return _fan(r, step, steps)

    def point(n: Expr) -> tuple[Expr, Expr]:
        half = cast(n, FLOAT32) - 0.5 * cast(steps - 1, FLOAT32)
        along = k.let("dist l", half * step)
        return r.t * r.c - along * r.sn, r.t * r.sn + along * r.c

    total, how = _marched(r, (step, steps), point, level > 1 or shape.chance(0.5))
    how = how.replace(
        "{where}",
        "along the line (t * cos - l * sin, t * sin + l * cos), l being "
        "centred on 0 and t the bin's coordinate",
    )
    return r.finish("Parallel-beam", "forward_project radon_transform", how, total * step)


def _fan(r: _Ray, step: Var, steps: Var) -> Title:
    """Rays from a source that turns with the detector."""
    k = r.k
    sod = k.scalar("source_dist sod", FLOAT32, 12.0, 16.0)
    sx, sy = k.let("src_x", -sod * r.sn), k.let("src_y", sod * r.c)
    dx, dy = k.let("dx", r.t * r.c - sx), k.let("dy", r.t * r.sn - sy)
    length = k.let("norm length", fn("sqrt", dx * dx + dy * dy))
    near = k.scalar("near ray_start", FLOAT32, 8.0, 11.0)

    def point(n: Expr) -> tuple[Expr, Expr]:
        along = k.let("dist l", near + (cast(n, FLOAT32) + 0.5) * step)
        return sx + along * dx / length, sy + along * dy / length

    total, how = _marched(r, (step, steps), point, True)
    where = f"on the ray from the source at (-S * sin, S * cos), S = {sod.name}, through (t * cos, "
    where += f"t * sin), t being the bin's coordinate; point n is {near.name} + (n + 0.5) * "
    where += f"{step.name} away from the source"
    return r.finish(
        "Fan-beam", "fan_project fan_beam_forward", how.replace("{where}", where), total * step
    )


def _marched(
    r: _Ray, given: tuple[Var, Var], point: Callable[[Expr], tuple[Expr, Expr]], linear: bool
) -> tuple[Var, str]:
    """The sum of the image at points of a ray; in words, with a gap for where these are."""
    k, (step, steps) = r.k, given
    total = k.let("acc total", k.lift(0.0, FLOAT32))
    with k.for_("n q", steps) as n:
        x, y = point(n)
        u, v = k.let("fx col_pos", r.row_of(x, r.width)), k.let("fy row_pos", r.row_of(y, r.height))
        _sampled(r, u, v, total, linear)
    text = f"{step.name} times the sum of {r.image.name} at {steps.name} points {step.name} apart "
    return total, f"{text}{{where}} ({r.kind}, 0 where that is not within the image)"


def _sampled(r: _Ray, u: Expr, v: Expr, total: Var, linear: bool) -> None:
    """Add the image at a real place (column ``u``, row ``v``): of the nearest pixel, or between."""
    k = r.k
    r.kind = "interpolated bilinearly" if linear else "of the nearest pixel"
    if not linear:
        j, i = (
            k.let(n, cast(fn("floor", p + 0.5), INT32)) for n, p in (("col j", u), ("row i", v))
        )
        inside = fn("and", fn("and", j >= 0, j < r.width), fn("and", i >= 0, i < r.height))
        with k.if_(inside):
            k.augment(total, "add", r.pixel(i, j))
        return
    j, i = (k.let(n, cast(fn("floor", p), INT32)) for n, p in (("j0 x0", u), ("i0 y0", v)))
    inside = fn("and", fn("and", j >= 0, j < r.width - 1), fn("and", i >= 0, i < r.height - 1))
    with k.if_(inside):
        wx, wy = k.let("wx", u - cast(j, FLOAT32)), k.let("wy", v - cast(i, FLOAT32))
        upper = k.let("upper", fn("lerp", r.pixel(i, j), r.pixel(i, j + 1), wx))
        lower = k.let("lower", fn("lerp", r.pixel(i + 1, j), r.pixel(i + 1, j + 1), wx))
        k.augment(total, "add", fn("lerp", upper, lower, wy))


def _joseph(r: _Ray) -> Title:
    """From row to row where the ray is steep, else from column to column."""
    k, s = r.k, r.s
    total = k.let("acc total", k.lift(0.0, FLOAT32))
    with k.if_(abs(r.c) > abs(r.sn)), k.for_("i", r.height) as i:
        y = k.let("y", s.centred(i, r.height, s.pixel))
        u = k.let("u pos", r.row_of((r.t - y * r.sn) / r.c, r.width))
        _between(r, u, r.width, total, lambda n: r.pixel(i, n))
    with k.else_(), k.for_("j", r.width) as j:
        x = k.let("x", s.centred(j, r.width, s.pixel))
        u = k.let("v row_pos", r.row_of((r.t - x * r.c) / r.sn, r.height))
        _between(r, u, r.height, total, lambda n: r.pixel(n, j))
    scale = k.let("seg_len scale", s.pixel / fn("max", abs(r.c), abs(r.sn)))
    how = f"the integral of {r.image.name} along the line x * cos + y * sin = t, t being the bin's "
    how += "coordinate, by Joseph's method: where |cos| > |sin|, the sum over rows of the image "
    how += (
        f"interpolated linearly between columns, times {s.pixel.name} / |cos|, else the sum over "
    )
    how += (
        f"columns, between rows, times {s.pixel.name} / |sin| (0 outside the first and last ones)"
    )
    return r.finish("Parallel-beam", "joseph_project joseph_forward", how, total * scale)


def _between(r: _Ray, place: Expr, count: Expr, total: Var, pixel: Callable[[Expr], Expr]) -> None:
    """Add what lies between two pixels of a line of the image."""
    k = r.k
    low = k.let("n0 lower", cast(fn("floor", place), INT32))
    with k.if_(fn("and", low >= 0, low < count - 1)):
        w = k.let("w frac", place - cast(low, FLOAT32))
        k.augment(total, "add", (1.0 - w) * pixel(low) + w * pixel(low + 1))
