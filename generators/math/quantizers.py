"""Rounding: values on a grid of steps, quantisers, companding."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import log, most
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_ROUNDING = Family(
    inputs={"x": quantity("x value sample", "values samples readings", -2.0, 2.0)},
    params={
        "q": quantity("step_size lsb", "step_sizes lsbs", 0.2, 0.6, 0.25, 0.3, 0.4),
        "m": quantity("mu", "mus", 2.0, 15.0, 5.0, 8.0, 15.0),
    },
    titles="quantize_by_kind snap_values requantize",
    kinds="rounding kinds scheme",
    struct="Quantizer Format",
    grids=("i|tid|t", "row col|channel t|y x", "batch channel t|b i j"),
    masks="mask valid enabled",
    groups="channel_ids sensor_ids",
    varying="q",
    lists=False,
    replaces=True,
    about={
        "snap": "values rounded to the nearest step",
        "snap_down": "values rounded down to a step",
        "snap_up": "values rounded up to a step",
        "snap_inward": "values rounded towards zero to a step",
        "rounding_error": "what rounding to the nearest step leaves",
        "mid_rise": "mid-rise quantiser: the middle of each value's step",
        "snap_away": "values rounded to the nearest step, halves away from zero",
        "mu_compress": "mu-law compression of a signal",
        "soft_threshold": "soft threshold: values shrunk towards zero by a step",
        "saturating_code": "quantiser of eight levels (3 bits) that saturates",
    },
)


def _snap(body: BodyBuilder, x: Expr, q: Expr) -> Expr:
    return q * fn("rint", x / q)


def _signed(size: Expr, x: Expr) -> Expr:
    return fn("copysign", size, x)


_ROUNDING.add("snap", "snapped rounded", lambda body, x, q: _snap(body, x, q))
_ROUNDING.add("snap_down", "snapped floored", lambda x, q: q * fn("floor", x / q))
_ROUNDING.add("snap_up", "snapped raised", lambda x, q: q * fn("ceil", x / q))
_ROUNDING.add("snap_inward", "snapped cut", lambda x, q: q * fn("trunc", x / q))
_ROUNDING.add("rounding_error", "error residual", lambda body, x, q: x - _snap(body, x, q))
_ROUNDING.add("mid_rise", "snapped coded", lambda x, q: q * (fn("floor", x / q) + 0.5))


@_ROUNDING.formula("snapped rounded")
def snap_away(body: BodyBuilder, x: Expr, q: Expr) -> Expr:
    whole = fn("floor", abs(x) / q + 0.5)
    return q * either(body, _signed(whole, x), fn("sign", x) * whole)


@_ROUNDING.formula("companded coded")
def mu_compress(body: BodyBuilder, x: Expr, m: Expr) -> Expr:
    size = body.let("size mag", log(1.0 + m * abs(x)) / log(1.0 + m))
    return either(body, _signed(size, x), fn("sign", x) * size)


_ROUNDING.add(
    "soft_threshold",
    "shrunk thresholded",
    lambda body, x, q: _signed(body.let("rest over", most(abs(x) - q, 0.0)), x),
    q="threshold thresholds",
)
_ROUNDING.add(
    "saturating_code",
    "coded clipped",
    lambda body, x, q: q * body.let("code level", fn("clamp", fn("rint", x / q), -4.0, 3.0)),
)


@idiom(depth=DEPTH)
def grid_rounding(k: KernelBuilder, level: int) -> Title:
    """Values rounded to a grid, wrapped to a period, or companded."""
    return compose(k, level, _ROUNDING)
