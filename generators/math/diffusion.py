"""Error functions at work: diffusion fronts, knife edges, bit errors and their inverses."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _reach(b: BodyBuilder, d: Expr, t: Expr) -> Expr:
    return b.let(("reach", "width", "length_d"), 2.0 * fn("sqrt", d * t))


def _constant_source(b: BodyBuilder, x: Expr, d: Expr, t: Expr) -> Expr:
    return fn("erfc", x / _reach(b, d, t))


def _instant_source(b: BodyBuilder, x: Expr, d: Expr, t: Expr) -> Expr:
    reach = _reach(b, d, t)
    z = b.let(("z", "rel"), x / reach)
    return 1.1283792 / reach * fn("exp", -z * z)


def _slab(b: BodyBuilder, x: Expr, d: Expr, t: Expr, h: Expr) -> Expr:
    reach = _reach(b, d, t)
    return 0.5 * (fn("erf", (h - x) / reach) + fn("erf", (h + x) / reach))


def _tracer(b: BodyBuilder, x: Expr, d: Expr, t: Expr, h: Expr) -> Expr:
    reach = _reach(b, d, t)
    return 0.5 * fn("erfc", (x - h * t) / reach)


def _flux(b: BodyBuilder, x: Expr, d: Expr, t: Expr) -> Expr:
    """The integral of erfc from x to infinity."""
    z = b.let(("z", "rel"), x / _reach(b, d, t))
    return 0.56418958 * fn("exp", -z * z) - z * fn("erfc", z)


def _convective(b: BodyBuilder, x: Expr, d: Expr, t: Expr, h: Expr) -> Expr:
    reach = _reach(b, d, t)
    lag = b.let(("lag", "film"), fn("exp", 0.2 * h * (x + 0.2 * h * d * t)))
    return fn("erfc", x / reach) - lag * fn("erfc", x / reach + 0.1 * h * reach)


def _depth(b: BodyBuilder, p: Expr, d: Expr, t: Expr) -> Expr:
    return _reach(b, d, t) * fn("erfcinv", p)


def _edge_position(b: BodyBuilder, p: Expr, d: Expr, t: Expr) -> Expr:
    side = either(b, fn("erfinv", 2.0 * p - 1.0), -fn("erfcinv", 2.0 * p))
    return side * _reach(b, d, t)


def _front_time(b: BodyBuilder, x: Expr, p: Expr, d: Expr) -> Expr:
    z = b.let(("z", "rel"), x / (2.0 * fn("erfcinv", 0.5 * p)))
    return z * z / d


def _required(b: BodyBuilder, p: Expr, h: Expr) -> Expr:
    root = b.let(("root", "q"), fn("erfcinv", p))
    return 10.0 * fn("log10", root * root + 0.1) + h


def _probit(b: BodyBuilder, p: Expr) -> Expr:
    return either(b, 1.4142136 * fn("erfinv", 2.0 * p - 1.0), -1.4142136 * fn("erfcinv", 2.0 * p))


def _margin(b: BodyBuilder, x: Expr, h: Expr) -> Expr:
    return 0.5 * fn("erfc", 0.70710678 * (x + h))


def _normal_score(b: BodyBuilder, p: Expr, h: Expr) -> Expr:
    score = b.let(("score", "g"), 1.4142136 * fn("erfinv", 2.0 * p - 1.0))
    return fn("sinh", 0.5 * h * score) / h


def _tempered(b: BodyBuilder, p: Expr, h: Expr) -> Expr:
    scaled = b.let(("scaled", "z"), fn("erfinv", p) * (0.5 + 0.3 * h))
    return either(b, fn("erf", scaled), 1.0 - fn("erfc", scaled))


_DIFFUSION = Family(
    item="point",
    inputs={
        "x": quantity("x depth pos", "positions depths xs", 0.05, 2.2),
        "p": quantity("p conc level", "levels concs probs", 0.04, 0.96),
    },
    params={
        "d": quantity("diff alpha kappa", "diffs alphas kappas", 0.3, 1.2, 0.5, 1.0, 0.8),
        "t": quantity("t time age", "times ages", 0.4, 1.6, 0.5, 1.0, 1.5),
        "h": quantity("half_width drift margin", "half_widths drifts", 0.4, 1.4, 0.5, 1.0, 0.75),
    },
    titles="diffusion_by_kind front_profile error_function_model",
    kinds="model kinds setting",
    struct="Medium Process",
    records="Probe Sample Point",
    grids=("i|tid|node", "time_idx node|row col|y x", "case row node|b i j"),
    parts="sources src s",
    masks="wet valid mask",
    reductions=("sum", "mean", "largest"),
    cards=(
        by_hand(
            "constant_source",
            "conc_out profile",
            "erfc({x} / (2 * sqrt({d} * {t})))",
            "x d t",
            _constant_source,
        ),
        by_hand(
            "instant_source",
            "conc_out profile",
            "1.1283792 / w * exp(-({x} / w)^2) with w = 2 * sqrt({d} * {t})",
            "x d t",
            _instant_source,
        ),
        by_hand(
            "finite_slab",
            "conc_out profile",
            "(erf(({h} - {x}) / w) + erf(({h} + {x}) / w)) / 2 with w = 2 * sqrt({d} * {t})",
            "x d t h",
            _slab,
        ),
        by_hand(
            "tracer_front",
            "breakthrough front",
            "erfc(({x} - {h} * {t}) / (2 * sqrt({d} * {t}))) / 2",
            "x d t h",
            _tracer,
        ),
        by_hand(
            "integrated_erfc",
            "flux ierfc",
            "exp(-z^2) / sqrt(pi) - z * erfc(z) with z = {x} / (2 * sqrt({d} * {t}))",
            "x d t",
            _flux,
        ),
        by_hand(
            "convective_surface",
            "temp_out warmth",
            "erfc({x} / w) - exp(0.2 * {h} * ({x} + 0.2 * {h} * {d} * {t})) * erfc({x} / w + 0.1 "
            "* {h} * w) with w = 2 * sqrt({d} * {t})",
            "x d t h",
            _convective,
        ),
        by_hand(
            "junction_depth",
            "depth_out junction",
            "2 * sqrt({d} * {t}) * erfcinv({p})",
            "p d t",
            _depth,
        ),
        by_hand(
            "edge_position",
            "edge_out offset",
            "2 * sqrt({d} * {t}) * erfinv(2 * {p} - 1)",
            "p d t",
            _edge_position,
        ),
        by_hand(
            "front_time",
            "arrival time_out",
            "z^2 / {d} with z = {x} / (2 * erfcinv({p} / 2))",
            "x p d",
            _front_time,
        ),
        by_hand(
            "required_snr",
            "snr snr_db",
            "10 * log10(erfcinv({p})^2 + 0.1) + {h}",
            "p h",
            _required,
        ),
        by_hand("probit", "score probit_out", "sqrt(2) * erfinv(2 * {p} - 1)", "p", _probit),
        by_hand("bit_error", "ber error_rate", "erfc(({x} + {h}) / sqrt(2)) / 2", "x h", _margin),
        by_hand(
            "johnson_score",
            "score johnson",
            "sinh({h} / 2 * sqrt(2) * erfinv(2 * {p} - 1)) / {h}",
            "p h",
            _normal_score,
        ),
        by_hand(
            "tempered_level",
            "level_out tempered",
            "erf((0.5 + 0.3 * {h}) * erfinv({p}))",
            "p h",
            _tempered,
        ),
    ),
)


@idiom
def diffusion_profile(k: KernelBuilder, level: int) -> Title:
    """Diffusion fronts, bit errors and normal scores by error functions and their inverses."""
    return compose(k, level, _DIFFUSION)
