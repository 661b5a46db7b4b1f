"""Escape times: planar maps iterated until the point is far away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from generators.build import BodyBuilder, KernelBuilder, cast, make
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, counter, some
from generators.control_flow.params import with_struct
from generators.kit.functions import least, log, sqrt, square
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import constant, setting
from generators.kit.text import written
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var

Pair = tuple[Expr, Expr]

_MAPS: dict[str, Callable[[Expr, Expr, Pair], Pair]] = {
    "mandelbrot": lambda x, y, c: (x * x - y * y + c[0], 2.0 * x * y + c[1]),
    "tricorn": lambda x, y, c: (x * x - y * y + c[0], c[1] - 2.0 * x * y),
    "burning_ship": lambda x, y, c: (x * x - y * y + c[0], abs(2.0 * x * y) + c[1]),
    "celtic": lambda x, y, c: (abs(x * x - y * y) + c[0], 2.0 * x * y + c[1]),
    "perpendicular": lambda x, y, c: (x * x - y * y + c[0], c[1] - 2.0 * x * abs(y)),
}
_SIZES: tuple[Callable[[Expr, Expr], Expr], ...] = (
    lambda x, y: x * x + y * y,
    lambda x, y: x * x + y * y,
    lambda x, y: abs(x) + abs(y),
    lambda x, y: abs(x) + abs(y),
    lambda x, y: x * x,
)
_KNOWN = ((-0.4, 0.6), (0.285, 0.01), (-0.7, 0.27), (-0.8, 0.156), (0.355, 0.355), (-0.123, 0.745))
"""Constants of well-known Julia sets."""


def _points(k: KernelBuilder, type_: Scalar) -> tuple[Site, Pair, str]:
    """Where orbits begin: points of two arrays or of one of vectors, or the pixels of an image."""
    kind = k.draw.shape.weighted({"arrays": 4, "vectors": 2, "pixels": 4})
    s = launch(k, grid=1) if kind == "pixels" else launch(k, list=1)
    if kind == "vectors":
        point = s.read("points starts z0", Vec(2, type_), -1.4, 1.1)
        return s, (point[0], point[1]), say(k, point)
    if kind == "arrays":
        names = k.draw.word.choice(("px py", "re im", "x0 y0")).split()
        start: Pair = (s.read(names[0], type_, -1.5, 0.9), s.read(names[1], type_, -1.2, 1.2))
    else:
        left = k.scalar("x_min left", type_, -1.6, -1.3)
        low = k.scalar("y_min bottom", type_, -1.2, -0.9)
        pixel = k.scalar("pixel spacing dx", type_, 0.2, 0.25)
        row, col = s.at
        start = (left + cast(col, type_) * pixel, low + cast(row, type_) * pixel)
    return s, start, f"({say(k, start[0])}, {say(k, start[1])})"


@dataclass
class Orbit:
    """A point that is moved on, how often it was moved, and when that ends."""

    s: Site
    type: Scalar
    step: Callable[[Expr, Expr, Pair], Pair]
    size: Callable[[Expr, Expr], Expr]
    x: Var
    y: Var
    c: Pair
    cap: int
    limit: Expr
    count: Var
    traps: dict[str, Var] = field(default_factory=dict)

    @property
    def far(self) -> Expr:
        return self.size(self.x, self.y)

    def move(self, called: str) -> None:
        """One step: by a function of two vectors if there is one, or written out."""
        k, vec = self.s.k, Vec(2, self.type)
        if called:
            pair = (make(vec, self.x, self.y), make(vec, *self.c))
            moved = k.let("z w", k.call(called, *pair))
            k.assign(self.x, moved[0])
            k.assign(self.y, moved[1])
            return
        x, y = self.step(self.x, self.y, self.c)
        x_next = k.let("x_next xt", x)
        k.assign(self.y, y)
        k.assign(self.x, x_next)


_TRAPS: dict[str, tuple[str, Callable[[Expr, Expr], Expr]]] = {
    "axis_trap": ("closest_x trap_x", lambda x, y: abs(x)),
    "origin_trap": ("nearest trap_sq", lambda x, y: x * x + y * y),
}


def _smooth(o: Orbit) -> Expr:
    """The count with a fraction, from how far the point has gone."""
    k = o.s.k
    smooth = k.let("level mu", cast(o.count, o.type))
    with k.if_(o.far >= o.limit):
        k.augment(smooth, "sub", log(o.far / o.limit) * 0.5)
    return smooth


def _menu(o: Orbit) -> dict[str, Extra]:
    """Further outputs."""
    count, bands = cast(o.count, o.type), o.s.k.draw.value.integer(2, 4)
    name, far = o.count.name, written(o.far >= o.limit)
    part = f"log({written(o.far / o.limit)})"
    trap = "the least {} of all points, the first included"
    return {
        "band": Extra("band stripe", lambda: o.count % bands, f"{name} % {bands}"),
        "escaped": Extra(
            "escaped outside", lambda: cast(o.far >= o.limit, INT32), f"1 where {far}, else 0"
        ),
        "brightness": Extra("brightness gray", lambda: count / float(o.cap), f"{name} / {o.cap}"),
        "root_shade": Extra(
            "shade tone", lambda: sqrt(count / float(o.cap)), f"sqrt({name} / {o.cap})"
        ),
        "smooth": Extra(
            "smooth_count level_out", lambda: _smooth(o), f"{name}, less 0.5 * {part} where {far}"
        ),
        "axis_trap": Extra("trap closest", lambda: o.traps["axis_trap"], trap.format("|x|")),
        "origin_trap": Extra(
            "nearest_out orbit_trap", lambda: o.traps["origin_trap"], trap.format("x^2 + y^2")
        ),
    }


@idiom
@with_struct
def escape_time(k: KernelBuilder, level: int) -> Title:
    """Iterate a planar map until it escapes; at higher levels with shades, traps, early exit."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form, julia = shape.choice(sorted(_MAPS)), shape.chance(0.45)
    s, (px, py), given = _points(k, type_)
    counts = s.out("counts iterations escape", INT32)
    cap, limit = k.draw.value.integer(5, 12), setting(k, "limit bailout", type_, 4.0, 16.0)
    called = _step_function(k, form, type_) if level >= 3 and shape.chance(0.5) else ""
    c = _constants(k, type_) if julia else (k.let("cx", px), k.let("cy", py))
    x, y = k.let("x", px if julia else c[0]), k.let("y", py if julia else c[1])
    size = shape.choice(_SIZES)
    o = Orbit(s, type_, _MAPS[form], size, x, y, c, cap, limit, counter(k, "count num_steps"))
    moved = ", ".join(written(part) for part in o.step(x, y, c))
    done = f"From (x, y) = {given}{'' if julia else ', which is also (cx, cy)'}, iterate (x, y) -> "
    done += f"({moved}) while {written(o.far < limit)}, at most {cap} times, and store "
    done += f"how often ({o.count.name}) in {counts.name}."
    inner = level >= 4 and shape.chance(0.7)
    if inner:
        done += _inner(o, bulb=form == "mandelbrot" and not julia)
    menu = _menu(o)
    wanted = shape.sample(sorted(menu), {1: 0, 5: 2}.get(level, 1))
    _iterate(o, called, [what for what in wanted if what in _TRAPS], inner)
    k.store(counts, s.at, o.count)
    done += extras(s, {what: menu[what] for what in wanted}, len(wanted), 0.3)
    word = "julia" if julia else "escape"
    return Title(k.name(f"{form}_{word} {form}_counts"), done)


def _constants(k: KernelBuilder, type_: Scalar) -> Pair:
    """The added constant of a Julia set, as parameters or the literals of known sets."""
    if k.draw.shape.chance(0.5):
        return k.scalar("cx", type_, -0.6, 0.3), k.scalar("cy", type_, -0.6, 0.3)
    cx, cy = k.draw.value.choice(_KNOWN)
    return k.lift(cx, type_), k.lift(cy, type_)


def _step_function(k: KernelBuilder, form: str, type_: Scalar) -> str:
    """The map as a function of two vectors."""
    vec = Vec(2, type_)

    def body(b: BodyBuilder, z: Expr, c: Expr) -> Expr:
        return make(vec, *_MAPS[form](z[0], z[1], (c[0], c[1])))

    return helper(k, f"next_point iterate_map {form}_step", [("z", vec), ("c", vec)], body)


def _inner(o: Orbit, bulb: bool) -> str:
    """Points that never escape, or that are near the origin, are not iterated; says so."""
    k = o.s.k
    if bulb and k.draw.shape.chance(0.6):
        test = square(o.x + 1.0) + o.y * o.y < 0.0625
    else:
        test = o.x * o.x + o.y * o.y < constant(k, 0.1, 0.3)
    with k.if_(test):
        k.assign(o.count, o.cap)
    return f" Where {written(test)} at the start, nothing is iterated and the count is {o.cap}."


def _iterate(o: Orbit, called: str, kept: list[str], inner: bool) -> None:
    """The loop: a while loop, or a for loop that is left; traps are kept on the way."""
    k = o.s.k
    for what in kept:
        o.traps[what] = k.let(_TRAPS[what][0], _TRAPS[what][1](o.x, o.y))
    looping = k.draw.shape.chance(0.5)
    full, gone = o.count >= o.cap, o.far >= o.limit
    inside = both(o.count < o.cap, o.far < o.limit)
    with k.for_("step it", o.cap) if looping else k.while_(inside):
        if looping:
            with k.if_(some(full, gone) if inner else gone):
                k.break_()
        o.move(called)
        k.augment(o.count, "add", 1)
        for what in kept:
            k.assign(o.traps[what], least(o.traps[what], _TRAPS[what][1](o.x, o.y)))
