"""Probability: quantiles, by which uniform numbers become any others."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr

_PLACE = quantity("mu loc center", "mus locs centers", -0.8, 0.8, 0.5, -0.5, 0.25)
_SCALE = quantity("sigma scale spread", "sigmas scales spreads", 0.5, 1.5, 0.5, 0.8, 1.25, 2.0)
_Z = ("z", "u", "standardized")


def _laplace_quantile(b: BodyBuilder, p: Expr, mu: Expr, sigma: Expr) -> Expr:
    c = b.let(("centered", "c", "offset"), p - 0.5)
    size = fn("log", 1.0 - 2.0 * fn("abs", c))
    return mu - sigma * either(b, fn("sign", c) * size, fn("copysign", size, -c))


def _student2_quantile(b: BodyBuilder, p: Expr, mu: Expr, sigma: Expr) -> Expr:
    alpha = b.let(("alpha", "width"), 4.0 * p * (1.0 - p))
    return mu + sigma * (2.0 * (p - 0.5)) * fn("sqrt", 2.0 / alpha)


def _tukey_lambda(b: BodyBuilder, p: Expr, mu: Expr, sigma: Expr) -> Expr:
    return mu + sigma * (fn("pow", p, 0.14) - fn("pow", 1.0 - p, 0.14)) / 0.14


_QUANTILE = Family(
    item="level",
    inputs={"p": quantity("p prob level", "p probs levels uniforms", 0.03, 0.97)},
    params={"mu": _PLACE, "sigma": _SCALE},
    titles="quantile_by_kind inverse_cdf",
    kinds="kinds families dist_type",
    struct="Distribution Params Location",
    grids=("i|tid|s", "row col|trial i|i j", "batch trial i|b i j"),
    parts="components c comp",
    reductions=("mean", "largest", "smallest", "sum"),
    spatial=False,
    cards=(
        by_hand(
            "normal_quantile",
            "quantiles deviates",
            "{mu} + {sigma} * sqrt(2) * erfinv(2 * {p} - 1)",
            "p mu sigma",
            lambda b, p, mu, s: mu + s * 1.4142136 * fn("erfinv", 2.0 * p - 1.0),
        ),
        by_hand(
            "normal_upper_quantile",
            "quantiles thresholds",
            "{mu} + {sigma} * sqrt(2) * erfcinv(2 * {p})",
            "p mu sigma",
            lambda b, p, mu, s: mu + 1.4142136 * s * fn("erfcinv", 2.0 * p),
        ),
        by_hand(
            "half_normal_quantile",
            "quantiles sizes",
            "{mu} + {sigma} * sqrt(2) * erfinv({p})",
            "p mu sigma",
            lambda b, p, mu, s: mu + 1.4142136 * s * fn("erfinv", p),
        ),
        by_hand(
            "logit_quantile",
            "quantiles logits",
            "{mu} + {sigma} * log({p} / (1 - {p}))",
            "p mu sigma",
            lambda b, p, mu, s: (
                mu + s * either(b, fn("log", p / (1.0 - p)), fn("log", p) - fn("log", 1.0 - p))
            ),
        ),
        by_hand(
            "gumbel_quantile",
            "quantiles extremes",
            "{mu} - {sigma} * log(-log({p}))",
            "p mu sigma",
            lambda b, p, mu, s: mu - s * fn("log", -fn("log", p)),
        ),
        by_hand(
            "cauchy_quantile",
            "quantiles deviates",
            "{mu} + {sigma} * tan(pi * ({p} - 0.5))",
            "p mu sigma",
            lambda b, p, mu, s: mu + s * fn("tan", 3.1415927 * (p - 0.5)),
        ),
        by_hand(
            "laplace_quantile",
            "quantiles deviates",
            "{mu} - {sigma} * sign(c) * log(1 - 2 * |c|) with c = {p} - 0.5",
            "p mu sigma",
            _laplace_quantile,
        ),
        by_hand(
            "sech_quantile",
            "quantiles deviates",
            "{mu} + {sigma} * 2 / pi * log(tan(pi / 2 * {p}))",
            "p mu sigma",
            lambda b, p, mu, s: mu + 0.63661977 * s * fn("log", fn("tan", 1.5707963 * p)),
        ),
        by_hand(
            "rayleigh_quantile",
            "quantiles radii",
            "{mu} + {sigma} * sqrt(-2 * log(1 - {p}))",
            "p mu sigma",
            lambda b, p, mu, s: mu + s * fn("sqrt", -2.0 * fn("log", 1.0 - p)),
        ),
        by_hand(
            "student_t2_quantile",
            "quantiles deviates",
            "{mu} + {sigma} * 2 * ({p} - 0.5) * sqrt(2 / a) with a = 4 * {p} * (1 - {p})",
            "p mu sigma",
            _student2_quantile,
        ),
        by_hand(
            "tukey_lambda_quantile",
            "quantiles deviates",
            "{mu} + {sigma} * ({p}^0.14 - (1 - {p})^0.14) / 0.14",
            "p mu sigma",
            _tukey_lambda,
        ),
    ),
)


@idiom
def quantile(k: KernelBuilder, level: int) -> Title:
    """Inverse distribution functions: what a uniform number becomes by inversion."""
    return compose(k, level, _QUANTILE)
