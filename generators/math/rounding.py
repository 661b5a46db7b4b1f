"""Rounding to grids, companding and wrapping."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _snap(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    return q * fn(b.draw.shape.choice(("round", "rint")), x / q)


def _ceil_snap(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    return either(b, q * fn("ceil", x / q), -q * fn("floor", -x / q))


def _half_away(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    whole = fn("floor", fn("abs", x) / q + 0.5)
    return q * either(b, fn("copysign", whole, x), fn("sign", x) * whole)


def _mu_law(b: BodyBuilder, x: Expr, m: Expr) -> Expr:
    size = b.let(("size", "mag"), fn("log", 1.0 + m * fn("abs", x)) / fn("log", 1.0 + m))
    return either(b, fn("copysign", size, x), fn("sign", x) * size)


def _mu_expand(b: BodyBuilder, x: Expr, m: Expr) -> Expr:
    size = b.let(("size", "mag"), (fn("pow", 1.0 + m, 0.3 * fn("abs", x)) - 1.0) / m)
    return fn("copysign", size, x)


def _centred_wrap(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    period = b.let(("period", "cycle"), 4.0 * q)
    return x - period * fn("rint", x / period)


def _reflect(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    b.note("a mirror at each end of the period")
    period = b.let(("period", "cycle"), 4.0 * q)
    part = b.let(("part", "inside"), x / period - fn("floor", x / period))
    return period * (1.0 - fn("abs", 2.0 * part - 1.0))


def _dead_zone(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    rest = b.let(("rest", "over"), fn("max", fn("abs", x) - q, 0.0))
    return fn("copysign", rest, x)


def _mid_rise(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    return q * (fn("floor", x / q) + 0.5)


def _saturated(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    code = b.let(("code", "level"), fn("clamp", fn("rint", x / q), -4.0, 3.0))
    return q * code


def _log_grid(b: BodyBuilder, x: Expr, m: Expr) -> Expr:
    octave = b.let(("octave", "exponent"), fn("floor", fn("log2", fn("abs", x) + 0.01)))
    return fn("copysign", fn("pow", b.lift(2.0, x.type), octave), x) / m


def _half_step(b: BodyBuilder, x: Expr, q: Expr) -> Expr:
    part = b.let(("part", "remainder"), fn("frac", x / q))
    return part * part * fn("sign", x)


_ROUNDING = Family(
    item="value",
    inputs={"x": quantity("x value sample", "values samples readings", -2.0, 2.0)},
    params={
        "q": quantity("step_size grid lsb", "step_sizes grids lsbs", 0.2, 0.6, 0.25, 0.3, 0.4),
        "m": quantity("mu drive compression", "mus drives", 2.0, 15.0, 5.0, 8.0, 15.0),
    },
    titles="quantize_by_kind snap_values requantize",
    kinds="rounding kinds scheme",
    struct="Quantizer Format",
    grids=("i|tid|t", "row col|channel t|y x", "batch channel t|b i j"),
    masks="mask valid enabled",
    smooth=False,
    reductions=("sum", "mean", "rms", "largest"),
    cards=(
        by_hand("snap", "snapped rounded", "{q} * round({x} / {q})", "x q", _snap),
        by_hand(
            "snap_down",
            "snapped floored",
            "{q} * floor({x} / {q})",
            "x q",
            lambda b, x, q: q * fn("floor", x / q),
        ),
        by_hand("snap_up", "snapped raised", "{q} * ceil({x} / {q})", "x q", _ceil_snap),
        by_hand(
            "snap_inward",
            "snapped cut",
            "{q} * trunc({x} / {q})",
            "x q",
            lambda b, x, q: q * fn("trunc", x / q),
        ),
        by_hand(
            "snap_away",
            "snapped rounded",
            "{q} * floor(|{x}| / {q} + 0.5) with the sign of {x}",
            "x q",
            _half_away,
        ),
        by_hand(
            "mu_compress",
            "companded coded",
            "log(1 + {m} * |{x}|) / log(1 + {m}) with the sign of {x}",
            "x m",
            _mu_law,
        ),
        by_hand(
            "rounding_error",
            "errors residuals",
            "{x} - {q} * round({x} / {q})",
            "x q",
            lambda b, x, q: x - _snap(b, x, q),
        ),
        by_hand(
            "mu_expand",
            "expanded decoded",
            "((1 + {m})^(0.3 * |{x}|) - 1) / {m} with the sign of {x}",
            "x m",
            _mu_expand,
        ),
        by_hand(
            "wrap_period",
            "wrapped periodic",
            "{x} - 4 * {q} * rint({x} / (4 * {q}))",
            "x q",
            _centred_wrap,
        ),
        by_hand(
            "mirror_period",
            "mirrored folded",
            "4 * {q} * (1 - |2 * f - 1|) with f = u - floor(u), u = {x} / (4 * {q})",
            "x q",
            _reflect,
        ),
        by_hand(
            "dead_zone",
            "shrunk soft",
            "max(|{x}| - {q}, 0) with the sign of {x}",
            "x q",
            _dead_zone,
        ),
        by_hand("mid_rise", "snapped coded", "{q} * (floor({x} / {q}) + 0.5)", "x q", _mid_rise),
        by_hand(
            "saturating_code",
            "coded clipped",
            "{q} times rint({x} / {q}) clamped to [-4, 3]",
            "x q",
            _saturated,
        ),
        by_hand(
            "octave_floor",
            "octaves powers",
            "2^floor(log2(|{x}| + 0.01)) / {m} with the sign of {x}",
            "x m",
            _log_grid,
        ),
        by_hand(
            "signed_remainder",
            "remainders parts",
            "f^2 * sign({x}) with f the fraction {x} / {q} - trunc({x} / {q})",
            "x q",
            _half_step,
        ),
    ),
)


@idiom
def grid_rounding(k: KernelBuilder, level: int) -> Title:
    """Values rounded to a grid, wrapped to a period, or companded."""
    return compose(k, level, _ROUNDING)
