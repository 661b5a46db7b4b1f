"""Escape times: planar maps iterated until the point is far away."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.dtypes import INT32
from generators.expr import Expr, Var, op
from generators.registry import Title
from generators.stages import refine

_ORBITS: dict[str, str] = {
    "mandelbrot": "(x * x - y * y + cx, 2 * x * y + cy)",
    "tricorn": "(x * x - y * y + cx, cy - 2 * x * y)",
    "burning_ship": "(x * x - y * y + cx, |2 * x * y| + cy)",
    "celtic": "(|x * x - y * y| + cx, 2 * x * y + cy)",
}
_CAP = 6


def escape_time(k: KernelBuilder, level: int) -> Title:
    """Iterate a planar map until it escapes; at higher levels with shades, traps, early exit."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    n, form, julia = k.size("n", 48, 64), shape.choice(sorted(_ORBITS)), shape.chance(0.4)
    names = k.draw.word.choice((("px", "py"), ("re", "im"), ("x0", "y0")))
    xs = k.array(names[0], type_, n, low=-1.5, high=0.9)
    ys = k.array(names[1], type_, n, low=-1.2, high=1.2)
    c = [k.scalar(name, type_, -0.6, 0.3) for name in ("cx", "cy")] if julia else []
    counts = k.out(("counts", "iterations", "escape"), INT32, n)
    shade = k.out(("shade", "intensity", "trace"), type_, n) if level >= 3 else None
    (i,) = k.thread(n)
    cx, cy = c or (k.let("cx", xs[i]), k.let("cy", ys[i]))
    x, y = k.let("x", xs[i] if julia else cx), k.let("y", ys[i] if julia else cy)
    done = f"From (x, y) = ({xs.name}, {ys.name}){'' if julia else ', which is also (cx, cy)'}, "
    done += f"iterate (x, y) -> {_ORBITS[form]} while x * x + y * y < 4, at most {_CAP} times, and "
    done += f"count the steps in {counts.name}."
    if level >= 4 and shade is not None:
        done += _inner_disc(k, (x, y), i, (counts, shade))
    count = k.let(("count", "step_count"), k.lift(0, INT32))
    trap = k.let(("trap", "closest"), fn("abs", x)) if level >= 2 else None
    _iterate(k, form, (x, y, cx, cy), count, trap)
    if shade is not None and trap is not None:
        signal = refine(k, trap - 0.1, level - 1, ("tone", "glow"), 0.15)
        k.store(shade, i, signal.value)
        done += f" Store in {shade.name} the smallest |x| on the way (start included) less 0.1"
        done += f", which is then {signal.phrase}." if signal.phrase else "."
    elif trap is not None:
        with k.if_(trap < 0.1):
            k.augment(count, "add", _CAP)
        done += f" Add {_CAP} where the smallest |x| on the way (start included) is below 0.1."
    k.store(counts, i, count)
    return Title(k.name(f"{form}_{'julia' if julia else 'escape'}", f"{form}_counts"), done)


def _inner_disc(k: KernelBuilder, at: tuple[Var, Var], i: Var, outs: tuple[Var, Var]) -> str:
    """Points near the origin are done at once; says so."""
    x, y = at
    radius = k.draw.value.choice((0.09, 0.16, 0.25))
    with k.if_(x * x + y * y < radius):
        k.store(outs[0], i, _CAP)
        k.store(outs[1], i, x)
        k.return_()
    text = f" Where x * x + y * y < {radius} at the start, store {_CAP} in {outs[0].name} and x in "
    return f"{text}{outs[1].name} at once."


def _iterate(
    k: KernelBuilder, form: str, point: tuple[Var, Var, Var, Var], count: Var, trap: Var | None
) -> None:
    """The loop: a while loop, or a for loop that is left."""
    x, y, cx, cy = point
    size = x * x + y * y
    looping = k.draw.shape.chance(0.5)
    inside = op("and", count < _CAP, size < 4.0)
    with k.for_(("step", "it"), _CAP) if looping else k.while_(inside):
        if looping:
            with k.if_(size >= 4.0):
                k.break_()
        real: Expr = x * x - y * y
        twice: Expr = 2.0 * x * y
        moved = k.let(("x_next", "xt"), (fn("abs", real) if form == "celtic" else real) + cx)
        turned = fn("abs", twice) + cy if form == "burning_ship" else twice + cy
        k.assign(y, cy - twice if form == "tricorn" else turned)
        k.assign(x, moved)
        k.augment(count, "add", 1)
        if trap is not None:
            k.assign(trap, fn("min", trap, fn("abs", x)))
