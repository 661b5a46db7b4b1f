"""Loops that end early: escape times of maps, random walks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from generators.build import BodyBuilder, KernelBuilder, cast, make
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    STOP,
    Also,
    Step,
    both,
    counter,
    minus,
    some,
    take,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import least, log, log2, sqrt, square, where
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch, over
from generators.kit.sources import given, zero
from generators.kit.text import written
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var

Pair = tuple[Expr, Expr]

_MAPS: dict[str, Callable[[Expr, Expr, Pair], Pair]] = {
    "mandelbrot": lambda x, y, c: (x * x - y * y + c[0], 2.0 * x * y + c[1]),
    "tricorn": lambda x, y, c: (x * x - y * y + c[0], c[1] - 2.0 * x * y),
    "burning_ship": lambda x, y, c: (x * x - y * y + c[0], abs(2.0 * x * y) + c[1]),
    "celtic": lambda x, y, c: (abs(x * x - y * y) + c[0], 2.0 * x * y + c[1]),
    "perpendicular": lambda x, y, c: (x * x - y * y + c[0], c[1] - 2.0 * abs(x) * y),
    "perpendicular_ship": lambda x, y, c: (x * x - y * y + c[0], c[1] - 2.0 * x * abs(y)),
}
_KNOWN = ((0.285, 0.01), (-0.4, 0.6), (-0.8, 0.156), (0.45, 0.1428))
"""Constants of well-known quadratic Julia sets."""


def _points(k: KernelBuilder, type_: Scalar) -> tuple[Site, Pair, str]:
    """Where orbits begin: points of two arrays or of one of vectors, or the pixels of an image."""
    kind = k.draw.shape.weighted({"arrays": 4, "vectors": 2, "pixels": 4})
    pixels = k.draw.word.choice(("row col", "i j", "py px"))
    grid = ("height width", pixels, ((8, 10), (8, 11)))
    s = over(k, *grid) if kind == "pixels" else launch(k, list=1)
    if kind == "vectors":
        point = s.read("points starts z0", Vec(2, type_), -1.4, 1.1)
        p = k.let("p start", point)
        return s, (p[0], p[1]), say(k, point)
    if kind == "arrays":
        names = k.draw.word.choice(("re im", "x0 y0", "start_x start_y")).split()
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
    x: Expr
    y: Expr
    c: Pair
    cap: Expr
    limit: Expr
    count: Var
    z: Var | None = None
    """The point and the constant as vectors, where a function moves the point."""
    shift: Expr | None = None
    traps: dict[str, Var] = field(default_factory=dict)

    @property
    def far(self) -> Expr:
        return self.x * self.x + self.y * self.y

    @property
    def said(self) -> Expr:
        """The same, as a description calls the point."""
        x, y = Var("x", self.type), Var("y", self.type)
        return x * x + y * y

    def move(self, called: str) -> None:
        """One step: by a function of two vectors if there is one, or written out."""
        k = self.s.k
        if self.z is not None and self.shift is not None:
            k.assign(self.z, k.call(called, self.z, self.shift))
            return
        assert isinstance(self.x, Var)
        assert isinstance(self.y, Var)
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
        k.augment(smooth, "sub", log2(log(o.far) / log(o.limit)))
    return smooth


def _menu(o: Orbit) -> dict[str, Extra]:
    """Further outputs on offer for an orbit, by key; ``extras`` takes some of them."""
    share, cap = cast(o.count, o.type) / cast(o.cap, o.type), say(o.s.k, o.cap)
    name, far = o.count.name, written(o.said >= o.limit)
    part = f"log2(log({written(o.said)}) / log({say(o.s.k, o.limit)}))"
    trap = "the least {} of all points, the first included"
    return {
        "escaped": Extra(
            "escaped outside", lambda: cast(o.far >= o.limit, INT32), f"1 where {far}, else 0"
        ),
        "brightness": Extra("brightness gray", lambda: share, f"{name} / {cap}"),
        "root_shade": Extra("shade tone", lambda: sqrt(share), f"sqrt({name} / {cap})"),
        "smooth": Extra(
            "smooth_count level_out", lambda: _smooth(o), f"{name}, less {part} where {far}"
        ),
        "axis_trap": Extra("trap closest", lambda: o.traps["axis_trap"], trap.format("|x|")),
        "origin_trap": Extra(
            "nearest_out orbit_trap", lambda: o.traps["origin_trap"], trap.format("x^2 + y^2")
        ),
    }


@idiom(depth=3)
@with_struct
def escape_time(k: KernelBuilder, level: int) -> Title:
    """Iterate a planar map until it escapes; at higher levels with shades, traps, early exit."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form, julia = shape.choice(sorted(_MAPS)), shape.chance(0.45)
    s, (px, py), given = _points(k, type_)
    counts = s.out("counts iterations escape", INT32)
    limit: Expr = k.lift(4.0, type_)
    if shape.chance(0.5):
        limit = k.scalar("bailout escape_sq radius_sq", type_, 4.0, 64.0)
    cap = k.scalar("max_iter max_iterations", INT32, 12, 30)
    called = _step_function(k, form, type_) if level >= 3 and shape.chance(0.5) else ""
    o = _orbit(s, (form, julia, called), (px, py), (cap, limit))
    here = Var("x", type_), Var("y", type_)
    moved = ", ".join(written(part) for part in o.step(*here, o.c))
    done = f"Escape times of {_called(form, julia)}: from (x, y) = {given}"
    done += f"{'' if julia else ', which is also (cx, cy)'}, iterate (x, y) -> ({moved}) while "
    done += f"{written(o.said < limit)}, at most {say(k, cap)} times; {counts.name} gets how many "
    done += "iterations were made."
    inner = level >= 3 and form == "mandelbrot" and not julia and shape.chance(0.6)
    if inner:
        done += _inner(o)
    menu = _menu(o)
    wanted = shape.sample(sorted(menu), 0 if level == 1 else 1)
    _iterate(o, called, [what for what in wanted if what in _TRAPS], inner)
    k.store(counts, s.at, o.count)
    done += extras(s, {what: menu[what] for what in wanted}, len(wanted), 0.3)
    word = "julia" if julia and form == "mandelbrot" else f"{form}{'_julia' * julia}"
    return Title(k.name(f"{word}_escape {word}_iterations"), done)


def _orbit(s: Site, of: tuple[str, bool, str], start: Pair, ends: tuple[Expr, Expr]) -> Orbit:
    """The point that is moved and the constant: in two locals each, or, for a function, in one."""
    k, (form, julia, called), type_ = s.k, of, start[0].type
    assert isinstance(type_, Scalar)
    vec = Vec(2, type_)
    c: Pair = Var("cx", type_), Var("cy", type_)
    if called:
        if julia:
            c = _constants(k, form, type_)
            z = k.let("z", make(vec, *start))
            shift = k.let("c", make(vec, *c))
        else:
            shift = k.let("c", make(vec, *start))
            z = k.let("z", shift)
        count = counter(k, "count iteration")
        return Orbit(s, type_, _MAPS[form], z[0], z[1], c, *ends, count, z, shift)
    if julia:
        c = _constants(k, form, type_)
        x, y = k.let("x", start[0]), k.let("y", start[1])
    else:
        c = k.let("cx", start[0]), k.let("cy", start[1])
        x, y = k.let("x", c[0]), k.let("y", c[1])
    return Orbit(s, type_, _MAPS[form], x, y, c, *ends, counter(k, "count iteration"))


def _called(form: str, julia: bool) -> str:
    """What the set is called."""
    if form == "mandelbrot":
        return "a quadratic Julia set" if julia else "the Mandelbrot set"
    name = form.replace("_", " ").title()
    name = {
        "perpendicular": "perpendicular Mandelbrot",
        "perpendicular_ship": "perpendicular Burning Ship",
    }.get(form, name)
    return f"a Julia set of the {name} map" if julia else f"the {name} set"


def _constants(k: KernelBuilder, form: str, type_: Scalar) -> Pair:
    """The added constant of a Julia set, as parameters or the literals of known sets."""
    if form != "mandelbrot" or k.draw.shape.chance(0.7):
        return k.scalar("cx", type_, -0.6, 0.3), k.scalar("cy", type_, -0.6, 0.3)
    cx, cy = k.draw.value.choice(_KNOWN)
    return k.lift(cx, type_), k.lift(cy, type_)


def _step_function(k: KernelBuilder, form: str, type_: Scalar) -> str:
    """The map as a function of two vectors."""
    vec = Vec(2, type_)

    def body(b: BodyBuilder, z: Expr, c: Expr) -> Expr:
        return make(vec, *_MAPS[form](z[0], z[1], (c[0], c[1])))

    return helper(k, f"next_point iterate_map {form}_step", [("z", vec), ("c", vec)], body)


def _inner(o: Orbit) -> str:
    """Points of the bulb or of the cardioid never escape and are not iterated; says so."""
    k = o.s.k
    bulb = square(o.x + 1.0) + o.y * o.y < 0.0625
    if k.draw.shape.chance(0.5):
        test, said = bulb, "in the period-2 bulb, (x + 1)^2 + y^2 < 0.0625"
    else:
        moved = k.let("xq shifted", o.x - 0.25)
        q = k.let("q", moved * moved + o.y * o.y)
        test = q * (q + moved) <= 0.25 * o.y * o.y
        said = "in the main cardioid, q * (q + x - 0.25) <= 0.25 * y^2 with q = (x - 0.25)^2 + y^2"
    with k.if_(test):
        k.assign(o.count, o.cap)
    return f" Points {said}, are not iterated; their count is {say(k, o.cap)}."


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


_MOVES: dict[str, tuple[str, Callable[[KernelBuilder, Var], Expr]]] = {
    "lattice": (
        "-1 or 1 (randi(0, 2) * 2 - 1)",
        lambda k, state: k.sample("coin b", "randi", state, 0, 2) * 2 - 1,
    ),
    "dice": ("randi(-2, 3)", lambda k, state: k.sample("jump hop", "randi", state, -2, 3)),
    "uniform": ("randf(-1, 1)", lambda k, state: k.sample("dx hop", "randf", state, -1.0, 1.0)),
    "normal": ("sigma * randn", lambda k, state: k.sample("g kick", "randn", state)),
}


def _met(rule: str, x: Var, start: Expr, band: Expr, begun: str) -> tuple[str, Step]:
    """What happens to a walker beyond the band: in words, and the step."""
    ends: dict[str, tuple[str, Step]] = {
        "absorb": ("ends the walk", STOP),
        "reset": (f"sends it back to {begun}", (x, start)),
        "pin": ("is moved back to that bound", (x, where(x > 0, band, minus(band)))),
        "reflect": ("is reflected there", (x, where(x > 0, 2 * band - x, minus(2 * band) - x))),
    }
    return ends[rule]


@idiom(depth=3)
@with_struct
def random_walks(k: KernelBuilder, level: int) -> Title:
    """Random walks of each thread until they leave a band, meet a wall or run out of steps."""
    shape = k.draw.shape
    form = shape.choice(sorted(_MOVES))
    whole = form in ("lattice", "dice")
    type_ = INT32 if whole else FLOAT32
    s = over(k, "num_walkers", (k.draw.word.choice(("i", "idx")),), ((56, 80),))
    seed = k.scalar("seed rng_seed", INT32, 1, 9999)
    start: Expr = zero(type_)
    if shape.chance(0.5):
        start = given(s, "start origin", type_, -1, 1, each=1, many="starts origins")
    low, high = (4, 9) if whole else (3.0, 6.0)
    band = k.scalar("half_width barrier", type_, low, high)
    steps = k.scalar("num_steps max_moves", INT32, 20, 60)
    rule = shape.choice(("absorb", "reset", "reflect", "pin")[: 4 if level >= 2 else 2])
    drifts = level >= 3 and not whole and shape.chance(0.6)
    drift = k.scalar("drift bias", type_, 0.05, 0.2) if drifts else None
    sigma = k.scalar("sigma step_size", type_, 0.4, 0.6) if form == "normal" else None
    out = s.out("final_pos positions_out", type_)
    taken = Also(s, 0.7 if rule == "absorb" else 0.0, "steps_taken exit_steps")
    jump = _MOVES[form][0].replace("sigma", sigma.name if sigma is not None else "")
    jump += f" plus {say(k, drift)}" if drift is not None else ""
    done = f"Random walks: walker {s.where}, seeded by {seed.name} and {s.where}, makes up to "
    done += f"{say(k, steps)} moves of {jump} "
    done += f"from {say(k, start)}; a position beyond +-{say(k, band)} "
    state = k.random_state("state rng", seed, s.at[0])
    x = k.let("x pos", start)
    taken.start("used count")
    said, met = _met(rule, x, start, band, say(k, start))
    with k.for_("t step", steps):
        jumped = _MOVES[form][1](k, state)
        k.augment(x, "add", jumped if sigma is None else sigma * jumped)
        if drift is not None:
            k.augment(x, "add", drift)
        take(k, (taken, 1), [(abs(x) > band, met)])
    k.store(out, s.at, x)
    done += f"{said}. The last position goes to {out.name}."
    done += taken.told("the number of moves")
    absorbs = "absorbed_walk walk_to_exit" if rule == "absorb" else "random_walk walk_in_band"
    return Title(k.name(absorbs), done)
