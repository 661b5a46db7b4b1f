"""Easing curves of animation and windows of signal analysis: functions of a phase in [0, 1]."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr

_ONE = ("s", "rest", "q")


def _in_out_cubic(b: BodyBuilder, t: Expr) -> Expr:
    q = b.let(_ONE, 2.0 - 2.0 * t)
    if b.draw.shape.chance(0.5):
        return fn("where", t < 0.5, 4.0 * t * t * t, 1.0 - 0.5 * q * q * q)
    eased = b.let(("eased", "value"), 4.0 * t * t * t)
    with b.if_(t >= 0.5):
        b.assign(eased, 1.0 - 0.5 * q * q * q)
    return eased


def _in_out_expo(b: BodyBuilder, t: Expr) -> Expr:
    side = b.let(("side", "edge"), fn("pow", b.lift(2.0, t.type), -20.0 * fn("abs", t - 0.5)))
    return fn("where", t < 0.5, 0.5 * side, 1.0 - 0.5 * side)


def _out_back(b: BodyBuilder, t: Expr, s: Expr) -> Expr:
    u = b.let(("u", "back"), t - 1.0)
    return 1.0 + u * u * ((s + 1.0) * u + s)


def _out_elastic(b: BodyBuilder, t: Expr, f: Expr) -> Expr:
    decay = b.let(("decay", "envelope"), fn("exp", -6.0 * t))
    return 1.0 - decay * fn("cos", 6.2831853 * f * t)


def _out_bounce(b: BodyBuilder, t: Expr) -> Expr:
    eased = b.let(("eased", "height"), 7.5625 * t * t)
    with b.if_(t > 0.90909091):
        last = b.let(("late", "u"), t - 0.95454545)
        b.assign(eased, 7.5625 * last * last + 0.984375)
    with b.elif_(t > 0.72727273):
        middle = b.let(("mid", "v"), t - 0.81818182)
        b.assign(eased, 7.5625 * middle * middle + 0.9375)
    with b.elif_(t > 0.36363636):
        first = b.let(("early", "w"), t - 0.54545455)
        b.assign(eased, 7.5625 * first * first + 0.75)
    return eased


def _in_out_circ(b: BodyBuilder, t: Expr) -> Expr:
    c = b.let(("c", "side"), 1.0 - fn("abs", 2.0 * t - 1.0))
    arc = b.let(("arc", "curve"), 0.5 - 0.5 * fn("sqrt", 1.0 - c * c))
    return fn("where", t < 0.5, arc, 1.0 - arc)


def _ping_pong(b: BodyBuilder, t: Expr, f: Expr) -> Expr:
    cycle = b.let(("cycle", "phase"), fn("frac", f * t))
    return 1.0 - fn("abs", 2.0 * cycle - 1.0)


def _stairs(b: BodyBuilder, t: Expr, f: Expr) -> Expr:
    steps = b.let(("steps", "count"), 2.0 * f)
    return either(b, fn("floor", t * steps) / steps, fn("trunc", t * steps) / steps)


def _stairs_up(b: BodyBuilder, t: Expr, f: Expr) -> Expr:
    steps = b.let(("steps", "count"), 1.5 * f)
    return fn("ceil", t * steps) / steps


_EASING = Family(
    item="time",
    inputs={"t": quantity("t progress u", "progress times phases", 0.02, 0.98)},
    params={
        "s": quantity("overshoot tension amount", "overshoots tensions", 0.8, 2.2, 1.70158),
        "f": quantity("freq bounces cycles", "freqs cycle_counts", 1.2, 3.4, 1.5, 2.0, 3.0),
        "a": quantity("edge start lead", "edges starts", 0.1, 0.4, 0.1, 0.2, 0.25),
    },
    titles="ease_by_kind apply_easing animate",
    kinds="easing curve_type kinds",
    struct="Easing CurveParams",
    grids=("i|tid|key", "track frame|row col|actor i", "rig track frame|b i j"),
    weights="weights amplitudes strengths",
    masks="active enabled mask",
    reductions=("mean", "largest", "smallest", "sum"),
    smooth=False,
    cards=(
        by_hand(
            "smootherstep",
            "eased curve",
            "{t}^3 * ({t} * (6 * {t} - 15) + 10)",
            "t",
            lambda b, t: t * t * t * (t * (t * 6.0 - 15.0) + 10.0),
        ),
        by_hand(
            "smooth_edges",
            "eased ramp",
            "smoothstep({a}, 1 - {a}, {t})",
            "t a",
            lambda b, t, a: fn("smoothstep", a, 1.0 - a, t),
        ),
        by_hand(
            "ease_sine",
            "eased curve",
            "(1 - cos(pi * {t})) / 2",
            "t",
            lambda b, t: 0.5 * (1.0 - fn("cos", 3.1415927 * t)),
        ),
        by_hand(
            "ease_cubic",
            "eased curve",
            "4 * {t}^3 where {t} < 0.5, else 1 - (2 - 2 * {t})^3 / 2",
            "t",
            _in_out_cubic,
        ),
        by_hand(
            "ease_expo",
            "eased curve",
            "e / 2 where {t} < 0.5, else 1 - e / 2, with e = 2^(-20 * |{t} - 0.5|)",
            "t",
            _in_out_expo,
        ),
        by_hand(
            "ease_back",
            "eased curve",
            "1 + u^2 * (({s} + 1) * u + {s}) with u = {t} - 1",
            "t s",
            _out_back,
        ),
        by_hand(
            "ease_elastic",
            "eased spring_out",
            "1 - exp(-6 * {t}) * cos(2 * pi * {f} * {t})",
            "t f",
            _out_elastic,
        ),
        by_hand(
            "ease_bounce",
            "eased heights",
            "7.5625 * {t}^2 for {t} <= 1/2.75, then 7.5625 * ({t} - 1.5/2.75)^2 + 0.75 up to "
            "2/2.75, 7.5625 * ({t} - 2.25/2.75)^2 + 0.9375 up to 2.5/2.75 and "
            "7.5625 * ({t} - 2.625/2.75)^2 + 0.984375 beyond",
            "t",
            _out_bounce,
        ),
        by_hand(
            "ease_circ",
            "eased arcs",
            "a where {t} < 0.5, else 1 - a; a = (1 - sqrt(1 - c^2)) / 2, c = 1 - |2 * {t} - 1|",
            "t",
            _in_out_circ,
        ),
        by_hand(
            "ping_pong",
            "eased triangle",
            "1 - |2 * c - 1| with c the fraction of {f} * {t}",
            "t f",
            _ping_pong,
        ),
        by_hand(
            "ease_steps",
            "eased stairs",
            "floor({t} * m) / m with m = 2 * {f}",
            "t f",
            _stairs,
        ),
        by_hand(
            "step_start",
            "eased stairs",
            "ceil({t} * m) / m with m = 1.5 * {f}",
            "t f",
            _stairs_up,
        ),
        by_hand(
            "delayed_start",
            "eased ramp",
            "max({t} - {a}, 0) / (1 - {a})",
            "t a",
            lambda b, t, a: either(
                b,
                fn("max", t - a, 0.0) / (1.0 - a),
                (1.0 - fn("step", t - a)) * (t - a) / (1.0 - a),
            ),
        ),
    ),
)


@idiom
def easing_curve(k: KernelBuilder, level: int) -> Title:
    """Easing functions of animation: a phase in [0, 1] becomes a progress."""
    return compose(k, level, _EASING)
