"""Escape times: planar maps iterated until the point is far away."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Const, Expr, Var, op
from generators.registry import Title
from generators.stages import refine

_ORBITS: dict[str, str] = {
    "mandelbrot": "(x * x - y * y {}, 2 * x * y + {})",
    "tricorn": "(x * x - y * y {}, {} - 2 * x * y)",
    "burning_ship": "(x * x - y * y {}, |2 * x * y| + {})",
    "celtic": "(|x * x - y * y| {}, 2 * x * y + {})",
}


@dataclass
class Orbit:
    """The map, its point and constants, and when it ends."""

    form: str
    cap: int
    reach: str
    limit: float
    x: Var
    y: Var
    cx: Expr
    cy: Expr
    """``cy`` is added; so is ``cx``, but a literal ``cx`` is subtracted."""

    @property
    def rule(self) -> str:
        if isinstance(self.cx, Const) and isinstance(self.cy, Const):
            return _ORBITS[self.form].format(f"- {self.cx.value}", self.cy.value)
        return _ORBITS[self.form].format("+ cx", "cy")

    @property
    def size(self) -> Expr:
        if self.reach == "|x| + |y|":
            return fn("abs", self.x) + fn("abs", self.y)
        return self.x * self.x + self.y * self.y


def escape_time(k: KernelBuilder, level: int) -> Title:
    """Iterate a planar map until it escapes; at higher levels with shades, traps, early exit."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    n, form = k.size("n", 48, 64), shape.choice(sorted(_ORBITS))
    kind = shape.weighted({"escape": 6, "julia": 2, "fixed_julia": 3})
    names = k.draw.word.choice((("px", "py"), ("re", "im"), ("x0", "y0")))
    xs = k.array(names[0], type_, n, low=-1.5, high=0.9)
    ys = k.array(names[1], type_, n, low=-1.2, high=1.2)
    c = _constants(k, kind, type_)
    counts = k.out(("counts", "iterations", "escape"), INT32, n)
    shade = k.out(("shade", "intensity", "trace"), type_, n) if level >= 3 else None
    (i,) = k.thread(n)
    start, given = _start(k, (xs, ys), i)
    cx, cy = c or (k.let("cx", start[0]), k.let("cy", start[1]))
    at = (k.let("x", start[0] if c else cx), k.let("y", start[1] if c else cy))
    reach = shape.choice(("x * x + y * y", "|x| + |y|"))
    cap, limit = k.draw.value.integer(5, 12), float(k.draw.value.constant(4.0, 16.0))
    orbit = Orbit(form, cap, reach, limit, *at, cx, cy)
    done = f"From (x, y) = {given}{'' if c else ', which is also (cx, cy)'}, "
    done += f"iterate (x, y) -> {orbit.rule} while {reach} < {limit}, at most "
    done += f"{cap} times, and count the steps in {counts.name}."
    if level >= 4 and shade is not None:
        done += _inner_disc(k, orbit, i, (counts, shade))
    count = k.let(("count", "step_count"), k.lift(0, INT32))
    trap = k.let(("trap", "closest"), fn("abs", orbit.x)) if level >= 2 else None
    _iterate(k, orbit, count, trap)
    if trap is not None:
        done += _trapped(k, level, trap, count, orbit, (shade, i) if shade else None)
    k.store(counts, i, count)
    word = "escape" if kind == "escape" else "julia"
    return Title(k.name(f"{form}_{word}", f"{form}_counts"), done)


def _constants(k: KernelBuilder, kind: str, type_: Scalar) -> list[Expr]:
    """The added constant of a Julia set, as parameters or literals."""
    if kind == "julia":
        return [k.scalar(name, type_, -0.6, 0.3) for name in ("cx", "cy")]
    if kind == "fixed_julia":
        drawn = [k.draw.value.constant(0.1, high) for high in (0.8, 0.4)]
        return [k.lift(float(c), type_) for c in drawn]
    return []


def _start(k: KernelBuilder, points: tuple[Var, Var], i: Var) -> tuple[tuple[Expr, Expr], str]:
    """The starting point: an input point, sometimes zoomed and moved."""
    xs, ys = points
    if k.draw.shape.chance(0.5):
        return (xs[i], ys[i]), f"({xs.name}, {ys.name})"
    zoom = float(k.draw.value.constant(0.6, 1.2))
    shift = float(k.draw.value.constant(0.05, 0.4))
    start = (zoom * xs[i] - shift, zoom * ys[i])
    return start, f"({zoom} * {xs.name} - {shift}, {zoom} * {ys.name})"


def _inner_disc(k: KernelBuilder, orbit: Orbit, i: Var, outs: tuple[Var, Var]) -> str:
    """Points near the origin are done at once; says so."""
    x, y = orbit.x, orbit.y
    radius = float(k.draw.value.constant(0.08, 0.3))
    with k.if_(x * x + y * y < radius):
        k.store(outs[0], i, orbit.cap)
        k.store(outs[1], i, x)
        k.return_()
    text = f" Where x * x + y * y < {radius} at the start, store {orbit.cap} in {outs[0].name} "
    return f"{text}and x in {outs[1].name} at once."


def _trapped(
    k: KernelBuilder,
    level: int,
    trap: Var,
    count: Var,
    orbit: Orbit,
    shade: tuple[Var, Var] | None,
) -> str:
    """What becomes of the smallest |x| on the way; says so."""
    near = float(k.draw.value.constant(0.06, 0.2))
    if shade is None:
        more = k.draw.value.integer(orbit.cap // 2, 20)
        with k.if_(trap < near):
            k.augment(count, "add", more)
        return f" Add {more} where the smallest |x| on the way (start included) is below {near}."
    out, i = shade
    signal = refine(k, trap - near, level - 1, ("tone", "glow"), 0.15)
    k.store(out, i, signal.value)
    done = f" Store in {out.name} the smallest |x| on the way (start included) less {near}"
    return done + (f", which is then {signal.phrase}." if signal.phrase else ".")


def _iterate(k: KernelBuilder, orbit: Orbit, count: Var, trap: Var | None) -> None:
    """The loop: a while loop, or a for loop that is left."""
    x, y, form = orbit.x, orbit.y, orbit.form
    looping = k.draw.shape.chance(0.5)
    inside = op("and", count < orbit.cap, orbit.size < orbit.limit)
    with k.for_(("step", "it"), orbit.cap) if looping else k.while_(inside):
        if looping:
            with k.if_(orbit.size >= orbit.limit):
                k.break_()
        real: Expr = x * x - y * y
        twice: Expr = 2.0 * x * y
        real = fn("abs", real) if form == "celtic" else real
        moved = real - orbit.cx if isinstance(orbit.cx, Const) else real + orbit.cx
        turned = fn("abs", twice) + orbit.cy if form == "burning_ship" else twice + orbit.cy
        x_next = k.let(("x_next", "xt"), moved)
        k.assign(y, orbit.cy - twice if form == "tricorn" else turned)
        k.assign(x, x_next)
        k.augment(count, "add", 1)
        if trap is not None:
            k.assign(trap, fn("min", trap, fn("abs", x)))
