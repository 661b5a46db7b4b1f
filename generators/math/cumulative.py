"""Probability: cumulative distributions and tails."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, quantity
from generators.math.compose import compose
from generators.program.expr import Expr

_PLACE = quantity("mu loc center", "mus locs centers", -0.8, 0.8, 0.5, -0.5, 0.25)
_SCALE = quantity("sigma scale spread", "sigmas scales spreads", 0.5, 1.5, 0.5, 0.8, 1.25, 2.0)
_Z = ("z", "u", "standardized")


def _z(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    return b.let(_Z, (x - mu) / sigma)


def _logistic_cdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    if b.draw.shape.chance(0.5):
        return 0.5 + 0.5 * fn("tanh", 0.5 * (x - mu) / sigma)
    return 1.0 / (1.0 + fn("exp", -(x - mu) / sigma))


def _laplace_cdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(b, x, mu, sigma)
    tail = b.let(("tail", "half_tail"), 0.5 * fn("exp", -fn("abs", z)))
    if b.draw.shape.chance(0.5):
        return 0.5 + fn("copysign", 0.5 - tail, z)
    return fn("where", z < 0.0, tail, 1.0 - tail)


def _triangular_cdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = b.let(_Z, fn("clamp", 0.5 * (x - mu) / sigma, -1.0, 1.0))
    return 0.5 + z - 0.5 * z * fn("abs", z)


def _rayleigh_tail(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = b.let(_Z, fn("max", x - mu, 0.0) / sigma)
    return fn("exp", -0.5 * z * z)


def _raised_cosine_cdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = b.let(_Z, fn("clamp", 0.5 * (x - mu) / sigma, -1.0, 1.0))
    return 0.5 * (1.0 + z + 0.31830989 * fn("sin", 3.1415927 * z))


_WITH_Z = "with z = ({x} - {mu}) / {sigma}"
_HALF_Z = "where z is ({x} - {mu}) / (2 * {sigma}) clamped to [-1, 1]"
_CUMULATIVE = Family(
    item="sample",
    inputs={"x": quantity("x sample score", "x samples scores points", -2.2, 2.2)},
    params={"mu": _PLACE, "sigma": _SCALE},
    titles="cdf_by_kind distribution_function",
    kinds="kinds families dist_type",
    struct="Distribution Params Location",
    grids=("i|tid|s", "row col|trial i|i j", "batch trial i|b i j"),
    parts="components c comp",
    weights="weights priors mixing",
    reductions=("mean", "largest", "sum"),
    spatial=False,
    cards=(
        by_hand(
            "normal_cdf",
            "cdf prob",
            f"(1 + erf(z / sqrt(2))) / 2 {_WITH_Z}",
            "x mu sigma",
            lambda b, x, mu, s: 0.5 * (1.0 + fn("erf", 0.70710678 * _z(b, x, mu, s))),
        ),
        by_hand(
            "normal_tail",
            "tail p_value",
            f"erfc(z / sqrt(2)) / 2 {_WITH_Z}",
            "x mu sigma",
            lambda b, x, mu, s: 0.5 * fn("erfc", _z(b, x, mu, s) * 0.70710678),
        ),
        by_hand(
            "two_sided_p",
            "p_value significance",
            f"erfc(|z| / sqrt(2)) {_WITH_Z}",
            "x mu sigma",
            lambda b, x, mu, s: fn("erfc", fn("abs", x - mu) / (1.4142136 * s)),
        ),
        by_hand(
            "logistic_cdf",
            "cdf prob",
            "the logistic sigmoid of ({x} - {mu}) / {sigma}",
            "x mu sigma",
            _logistic_cdf,
        ),
        by_hand(
            "cauchy_cdf",
            "cdf prob",
            f"1/2 + atan(z) / pi {_WITH_Z}",
            "x mu sigma",
            lambda b, x, mu, s: 0.5 + 0.31830989 * fn("atan", _z(b, x, mu, s)),
        ),
        by_hand(
            "gumbel_cdf",
            "cdf prob",
            f"exp(-exp(-z)) {_WITH_Z}",
            "x mu sigma",
            lambda b, x, mu, s: fn("exp", -fn("exp", -_z(b, x, mu, s))),
        ),
        by_hand(
            "laplace_cdf",
            "cdf prob",
            f"exp(-|z|) / 2 for negative z, else 1 - exp(-|z|) / 2, {_WITH_Z}",
            "x mu sigma",
            _laplace_cdf,
        ),
        by_hand(
            "sech_cdf",
            "cdf prob",
            f"2 / pi * atan(exp(pi / 2 * z)) {_WITH_Z}",
            "x mu sigma",
            lambda b, x, mu, s: 0.63661977 * fn("atan", fn("exp", 1.5707963 * _z(b, x, mu, s))),
        ),
        by_hand(
            "triangular_cdf",
            "cdf prob",
            f"1/2 + z - z * |z| / 2, {_HALF_Z}",
            "x mu sigma",
            _triangular_cdf,
        ),
        by_hand(
            "rayleigh_tail",
            "survival tail",
            "exp(-z * z / 2) with z = max({x} - {mu}, 0) / {sigma}",
            "x mu sigma",
            _rayleigh_tail,
        ),
        by_hand(
            "raised_cosine_cdf",
            "cdf prob",
            f"(1 + z + sin(pi * z) / pi) / 2, {_HALF_Z}",
            "x mu sigma",
            _raised_cosine_cdf,
        ),
    ),
)


@idiom
def cumulative_probability(k: KernelBuilder, level: int) -> Title:
    """Cumulative distribution functions and tails of a location and a scale."""
    return compose(k, level, _CUMULATIVE)
