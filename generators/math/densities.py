"""Probability: densities, distribution functions, survival and hazard, quantiles."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr

_Z = ("z", "u", "standardized")


def _z(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    return b.let(_Z, (x - mu) / sigma)


def _normal_pdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(b, x, mu, sigma)
    return either(
        b,
        0.39894228 * fn("exp", -0.5 * z * z) / sigma,
        fn("exp", -0.5 * z * z) / (2.5066283 * sigma),
    )


def _normal_logpdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(b, x, mu, sigma)
    return either(
        b,
        -0.5 * z * z - fn("log", sigma) - 0.91893853,
        -(0.5 * z * z + fn("log", sigma) + 0.91893853),
    )


def _logistic_pdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    e = b.let(("e", "decay"), fn("exp", -fn("abs", x - mu) / sigma))
    b.note("symmetric form: the exponent is never positive")
    return e / (sigma * (1.0 + e) * (1.0 + e))


def _sech_pdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    return 0.5 / (sigma * fn("cosh", 1.5707963 * _z(b, x, mu, sigma)))


def _gumbel_pdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(b, x, mu, sigma)
    return fn("exp", -(z + fn("exp", -z))) / sigma


def _laplace_pdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    return 0.5 / sigma * fn("exp", -fn("abs", x - mu) / sigma)


def _cauchy_pdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(b, x, mu, sigma)
    return either(
        b, 0.31830989 / (sigma * (1.0 + z * z)), 1.0 / (3.1415927 * sigma * (1.0 + z * z))
    )


def _raised_cosine_pdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = b.let(_Z, fn("clamp", (x - mu) / (2.0 * sigma), -1.0, 1.0))
    return (1.0 + fn("cos", 3.1415927 * z)) / (4.0 * sigma)


def _epanechnikov(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = b.let(_Z, (x - mu) / (2.0 * sigma))
    return 0.375 * fn("max", 1.0 - z * z, 0.0) / sigma


def _student3_pdf(b: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(b, x, mu, sigma)
    base = b.let(("base", "q"), 1.0 + z * z / 3.0)
    return 0.36755260 / (sigma * base * base)


_DENSITY_TEXTS = "with z = ({x} - {mu}) / {sigma}"
_LINE = {
    "x": quantity("x sample obs", "x samples observations data", -2.0, 2.0),
}
_SPREAD = {
    "mu": quantity("mu mean center loc", "mus means centers locations", -0.8, 0.8, 0.5, -0.5, 0.25),
    "sigma": quantity("sigma scale width", "sigmas scales widths", 0.5, 1.5, 0.5, 0.75, 1.5, 2.0),
}
_DENSITIES = Family(
    item="sample",
    inputs=_LINE,
    params=_SPREAD,
    titles="density_by_kind evaluate_density likelihoods",
    kinds="kinds families dist_type",
    struct="Gaussian Density Component Params",
    grids=("i|tid|s", "row col|trial i|i j", "batch trial i|b i j"),
    parts="components c comp",
    weights="weights priors mixing",
    reductions=("sum", "mean", "largest"),
    spatial=False,
    cards=(
        by_hand(
            "normal_pdf",
            "pdf density",
            f"exp(-z * z / 2) / ({{sigma}} * sqrt(2 * pi)) {_DENSITY_TEXTS}",
            "x mu sigma",
            _normal_pdf,
        ),
        by_hand(
            "normal_logpdf",
            "logpdf log_density",
            f"-z * z / 2 - log({{sigma}}) - log(2 * pi) / 2 {_DENSITY_TEXTS}",
            "x mu sigma",
            _normal_logpdf,
        ),
        by_hand(
            "logistic_pdf",
            "pdf density",
            "e / ({sigma} * (1 + e)^2) with e = exp(-|{x} - {mu}| / {sigma})",
            "x mu sigma",
            _logistic_pdf,
        ),
        by_hand(
            "sech_pdf",
            "pdf density",
            f"1 / (2 * {{sigma}} * cosh(pi / 2 * z)) {_DENSITY_TEXTS}",
            "x mu sigma",
            _sech_pdf,
        ),
        by_hand(
            "gumbel_pdf",
            "pdf density",
            f"exp(-(z + exp(-z))) / {{sigma}} {_DENSITY_TEXTS}",
            "x mu sigma",
            _gumbel_pdf,
        ),
        by_hand(
            "laplace_pdf",
            "pdf density",
            "exp(-|{x} - {mu}| / {sigma}) / (2 * {sigma})",
            "x mu sigma",
            _laplace_pdf,
        ),
        by_hand(
            "cauchy_pdf",
            "pdf density",
            f"1 / (pi * {{sigma}} * (1 + z * z)) {_DENSITY_TEXTS}",
            "x mu sigma",
            _cauchy_pdf,
        ),
        by_hand(
            "raised_cosine_pdf",
            "pdf density",
            "(1 + cos(pi * z)) / (4 * {sigma}), where z is ({x} - {mu}) / (2 * {sigma}) "
            "clamped to [-1, 1]",
            "x mu sigma",
            _raised_cosine_pdf,
        ),
        by_hand(
            "epanechnikov_pdf",
            "pdf kernel_weight",
            "0.375 * max(1 - z * z, 0) / {sigma} with z = ({x} - {mu}) / (2 * {sigma})",
            "x mu sigma",
            _epanechnikov,
        ),
        by_hand(
            "student_t3_pdf",
            "pdf density",
            f"0.3675526 / ({{sigma}} * (1 + z * z / 3)^2) {_DENSITY_TEXTS}",
            "x mu sigma",
            _student3_pdf,
        ),
    ),
)


@idiom
def probability_density(k: KernelBuilder, level: int) -> Title:
    """Densities of a location and a scale, alone, in mixtures, or as the log-likelihood of rows."""
    return compose(k, level, _DENSITIES)
