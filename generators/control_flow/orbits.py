"""Escape times: planar maps iterated until the point is far away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.control_flow.kit import either, shown
from generators.control_flow.params import with_struct
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Const, Expr, Operand, Var, op

Start = Callable[[], tuple[tuple[Var, ...], tuple[Expr, Expr]]]


def orbit_points(k: KernelBuilder, s: Scalar) -> tuple[tuple[str, ...], Start, str]:
    """Where orbits begin: points of two arrays or of one of vectors, or the pixels of an image."""
    shape, word = k.draw.shape, k.draw.word
    kind = shape.weighted({"arrays": 4, "vectors": 2, "pixels": 4})
    if kind == "pixels":
        dims = (k.size("rows", 8, 10), k.size("cols", 8, 11))
        left = k.scalar(("x_min", "left"), s, -1.6, -1.3)
        low = k.scalar(("y_min", "bottom"), s, -1.2, -0.9)
        pixel = k.scalar(("pixel", "spacing", "dx"), s, 0.2, 0.25)

        def image() -> tuple[tuple[Var, ...], tuple[Expr, Expr]]:
            row, col = k.thread(
                *dims, names=word.choice((("row", "col"), ("i", "j"), ("py", "px")))
            )
            return (row, col), (left + cast(col, s) * pixel, low + cast(row, s) * pixel)

        text = f"({left.name} + column * {pixel.name}, {low.name} + row * {pixel.name})"
        return dims, image, text
    n = k.size("n", 48, 64)
    if kind == "vectors":
        points = k.array(("points", "starts", "z0"), Vec(2, s), n, low=-1.4, high=1.1)

        def vectors() -> tuple[tuple[Var, ...], tuple[Expr, Expr]]:
            (i,) = k.thread(n, names=(k.name("i", "tid"),))
            return (i,), (points[i][0], points[i][1])

        return (n,), vectors, points.name
    names = word.choice((("px", "py"), ("re", "im"), ("x0", "y0")))
    xs = k.array(names[0], s, n, low=-1.5, high=0.9)
    ys = k.array(names[1], s, n, low=-1.2, high=1.2)

    def arrays() -> tuple[tuple[Var, ...], tuple[Expr, Expr]]:
        (i,) = k.thread(n, names=(k.name("i", "tid"),))
        return (i,), (xs[i], ys[i])

    return (n,), arrays, f"({xs.name}, {ys.name})"


def julia_constants(k: KernelBuilder, s: Scalar) -> tuple[Expr, Expr]:
    """The added constant of a Julia set, as parameters or the literals of known sets."""
    if k.draw.shape.chance(0.5):
        return k.scalar("cx", s, -0.6, 0.3), k.scalar("cy", s, -0.6, 0.3)
    known = (
        (-0.4, 0.6),
        (0.285, 0.01),
        (-0.7, 0.27),
        (-0.8, 0.156),
        (0.355, 0.355),
        (-0.123, 0.745),
    )
    cx, cy = k.draw.value.choice(known)
    return k.lift(cx, s), k.lift(cy, s)


_ORBITS: dict[str, str] = {
    "mandelbrot": "(x * x - y * y + {}, 2 * x * y + {})",
    "tricorn": "(x * x - y * y + {}, {} - 2 * x * y)",
    "burning_ship": "(x * x - y * y + {}, |2 * x * y| + {})",
    "celtic": "(|x * x - y * y| + {}, 2 * x * y + {})",
    "perpendicular": "(x * x - y * y + {}, {} - 2 * x * |y|)",
}


def _moved(form: str, x: Expr, y: Expr, c: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
    """The next point of a map."""
    real: Expr = x * x - y * y
    twice: Expr = 2.0 * x * (fn("abs", y) if form == "perpendicular" else y)
    real = fn("abs", real) if form == "celtic" else real
    if form in ("tricorn", "perpendicular"):
        return real + c[0], c[1] - twice
    return real + c[0], (fn("abs", twice) if form == "burning_ship" else twice) + c[1]


@dataclass
class Orbit:
    """The map, its point and constants, and when it ends."""

    k: KernelBuilder
    form: str
    cap: int
    limit: Operand
    c: tuple[Expr, Expr]
    x: Var
    y: Var
    at: tuple[Var, ...]
    helper_name: str = ""
    taxicab: bool = False
    extras: dict[Var, str] = field(default_factory=dict)
    traps: dict[str, Var] = field(default_factory=dict)

    @property
    def size(self) -> Expr:
        if self.taxicab:
            return fn("abs", self.x) + fn("abs", self.y)
        return self.x * self.x + self.y * self.y

    @property
    def size_text(self) -> str:
        return "|x| + |y|" if self.taxicab else "x * x + y * y"

    def step(self) -> None:
        """Move the point on."""
        k = self.k
        if self.helper_name:
            s = self.x.type
            assert isinstance(s, Scalar)
            pair = (make(Vec(2, s), self.x, self.y), make(Vec(2, s), *self.c))
            moved = k.let(("z", "w"), k.call(self.helper_name, *pair))
            k.assign(self.x, moved[0])
            k.assign(self.y, moved[1])
            return
        x, y = _moved(self.form, self.x, self.y, self.c)
        x_next = k.let(("x_next", "xt"), x)
        k.assign(self.y, y)
        k.assign(self.x, x_next)


@idiom
@with_struct
def escape_time(k: KernelBuilder, level: int) -> Title:
    """Iterate a planar map until it escapes; at higher levels with shades, traps, early exit."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_ORBITS))
    julia = shape.chance(0.45)
    dims, start, given = orbit_points(k, s)
    c = julia_constants(k, s) if julia else None
    counts = k.out(("counts", "iterations", "escape"), INT32, dims)
    extras = _extras(k, level, s, dims)
    cap, limit = k.draw.value.integer(5, 12), either(k, ("limit", "bailout"), s, 4.0, 16.0)
    helped = level >= 3 and shape.chance(0.5)
    name = _step_function(k, form, s) if helped else ""
    at, (px, py) = start()
    cx, cy = c or (k.let("cx", px), k.let("cy", py))
    point = (k.let("x", px if c else cx), k.let("y", py if c else cy))
    o = Orbit(k, form, cap, limit, (cx, cy), *point, at, name, shape.chance(0.4), extras)
    adds = (_text(cx), _text(cy)) if c else ("cx", "cy")
    done = f"From (x, y) = {given}{'' if c else ', which is also (cx, cy)'}, "
    done += (
        f"iterate (x, y) -> {_ORBITS[form].format(*adds)} while {o.size_text} < {shown(limit)}, "
    )
    done += f"at most {cap} times, and count the steps in {counts.name}."
    if level >= 4:
        done += _inner(o, counts, bulb=form == "mandelbrot" and not julia)
    count = k.let(("count", "num_steps"), k.lift(0, INT32))
    _iterate(o, count)
    for out, what in extras.items():
        value, text = _EXTRAS[what](o, count)
        k.store(out, at, value)
        done += f" {out.name} gets {text}."
    k.store(counts, at, count)
    word = "julia" if julia else "escape"
    return Title(k.name(f"{form}_{word}", f"{form}_counts"), done)


def _text(e: Expr) -> str:
    """A parameter's name or a literal's text, in parentheses where it is negative."""
    text = str(e.value) if isinstance(e, Const) else shown(e)
    return f"({text})" if text.startswith("-") else text


def _step_function(k: KernelBuilder, form: str, s: Scalar) -> str:
    """The map as a function of two vectors."""
    vec = Vec(2, s)

    def body(b: BodyBuilder, z: Expr, c: Expr) -> Expr:
        return make(vec, *_moved(form, z[0], z[1], (c[0], c[1])))

    names = ("next_point", "iterate_map", f"{form}_step")
    return helper(k, names, [("z", vec), ("c", vec)], body)


def _extras(k: KernelBuilder, level: int, s: Scalar, dims: tuple[str, ...]) -> dict[Var, str]:
    """Further outputs, by what they get."""
    most = {1: 0, 2: 1, 3: 1, 4: 1, 5: 2}[level]
    chosen = k.draw.shape.sample(sorted(_EXTRAS), most)
    types = {"band": INT32, "escaped": INT32}
    return {k.out(_NAMES[what], types.get(what, s), dims): what for what in chosen}


_NAMES = {
    "band": ("band", "stripe"),
    "escaped": ("escaped", "outside"),
    "brightness": ("brightness", "gray"),
    "axis_trap": ("trap", "closest"),
    "origin_trap": ("nearest_out", "orbit_trap"),
    "smooth": ("smooth_count", "level_out"),
}


def _brightness(o: Orbit, count: Var) -> tuple[Expr, str]:
    assert isinstance(o.x.type, Scalar)
    value = cast(count, o.x.type) / float(o.cap)
    if o.k.draw.shape.chance(0.5):
        return value, f"the count over {o.cap}"
    return fn("sqrt", value), f"the square root of the count over {o.cap}"


def _band(o: Orbit, count: Var) -> tuple[Expr, str]:
    bands = o.k.draw.value.choice((2, 3, 4))
    return count % bands, f"the count modulo {bands}"


def _escaped(o: Orbit, count: Var) -> tuple[Expr, str]:
    return cast(
        o.size >= o.limit, INT32
    ), f"1 where {o.size_text} is then at least {shown(o.limit)}, else 0"


def _trap(what: str) -> Callable[[Orbit, Var], tuple[Expr, str]]:
    text = {"axis_trap": "|x|", "origin_trap": "x * x + y * y"}[what]

    def value(o: Orbit, count: Var) -> tuple[Expr, str]:
        return o.traps[what], f"the smallest {text} on the way (start included)"

    return value


def _smooth(o: Orbit, count: Var) -> tuple[Expr, str]:
    """The count with a fraction, from how far the point has gone."""
    k, s = o.k, o.x.type
    assert isinstance(s, Scalar)
    smooth = k.let(("level", "mu"), cast(count, s))
    with k.if_(o.size >= o.limit):
        k.augment(smooth, "sub", fn("log", o.size / o.limit) * 0.5)
    return (
        smooth,
        f"the count, less 0.5 * log(({o.size_text}) / {shown(o.limit)}) where that is at least 1",
    )


_EXTRAS: dict[str, Callable[[Orbit, Var], tuple[Expr, str]]] = {
    "brightness": _brightness,
    "band": _band,
    "escaped": _escaped,
    "axis_trap": _trap("axis_trap"),
    "origin_trap": _trap("origin_trap"),
    "smooth": _smooth,
}


def _inner(o: Orbit, counts: Var, bulb: bool) -> str:
    """Points that never escape, or that are near the origin, are done at once; says so."""
    k, x, y = o.k, o.x, o.y
    if bulb and k.draw.shape.chance(0.6):
        test, text = (x + 1.0) * (x + 1.0) + y * y < 0.0625, "(x + 1)^2 + y^2 < 1 / 16"
    else:
        radius = float(k.draw.value.constant(0.1, 0.3))
        test, text = x * x + y * y < radius, f"x * x + y * y < {radius}"
    with k.if_(test):
        k.store(counts, o.at, o.cap)
        for out in o.extras:
            k.store(out, o.at, 0)
        k.return_()
    zeros = f" and 0 in {' and '.join(v.name for v in o.extras)}" if o.extras else ""
    return f" Where {text} at the start, store {o.cap} in {counts.name}{zeros} at once."


def _iterate(o: Orbit, count: Var) -> None:
    """The loop: a while loop, or a for loop that is left; traps are kept on the way."""
    k = o.k
    distances: dict[str, Callable[[], Expr]] = {
        "axis_trap": lambda: fn("abs", o.x),
        "origin_trap": lambda: o.x * o.x + o.y * o.y,
    }
    kept = [what for what in o.extras.values() if what in distances]
    for what in kept:
        o.traps[what] = k.let(
            ("closest_x", "trap_x") if what == "axis_trap" else ("nearest", "trap_sq"),
            distances[what](),
        )
    looping = k.draw.shape.chance(0.5)
    inside = op("and", count < o.cap, o.size < o.limit)
    with k.for_(("step", "it"), o.cap) if looping else k.while_(inside):
        if looping:
            with k.if_(o.size >= o.limit):
                k.break_()
        o.step()
        k.augment(count, "add", 1)
        for what in kept:
            k.assign(o.traps[what], fn("min", o.traps[what], distances[what]()))
