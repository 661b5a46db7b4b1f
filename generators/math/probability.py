"""Probability: densities, distribution functions and quantiles, alone or mixed."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import HALF_PI, PI, ROOT_HALF, atan, erf, exp, log, most, sqrt, tan
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_PLACED = {"mu": "loc locs", "sigma": "scale scales"}
"""Names of the location and scale where these are no mean and standard deviation."""
_PLACE = quantity("mu loc center", "mus locs centers", -0.8, 0.8, 0.5, 0.3, 0.25)
_SCALE = quantity("sigma scale spread", "sigmas scales spreads", 0.5, 1.5, 0.5, 0.8, 1.25, 2.0)
_DENSITY = Family(
    inputs={"x": quantity("x sample obs", "x samples observations", -2.0, 2.0)},
    params={
        "mu": quantity("mu mean loc", "mus means locs", -0.8, 0.8, 0.5, 0.25),
        "sigma": quantity("sigma std scale", "sigmas stds scales", 0.5, 1.5, 0.5, 0.75, 2.0),
    },
    titles="density_by_kind evaluate_density likelihoods",
    kinds="kinds families dist_type",
    struct="Gaussian Density Component Params",
    grids=("i|tid|s", "row col|trial i|i j", "batch trial i|b i j"),
    parts="components c comp",
    mixed="normal_pdf logistic_pdf laplace_pdf cauchy_pdf student_t3_pdf epanechnikov_pdf",
    weights="weights priors mixing",
    reductions=("sum", "mean"),
    reduced="normal_logpdf",
    varying="mu sigma",
    whole="density of a weighted mixture of components, each with a",
    about={
        "normal_pdf": "normal density",
        "normal_logpdf": "log of the normal density",
        "logistic_pdf": "logistic density",
        "sech_pdf": "hyperbolic secant density",
        "gumbel_pdf": "Gumbel density",
        "laplace_pdf": "Laplace density",
        "cauchy_pdf": "Cauchy density",
        "raised_cosine_pdf": "raised cosine density, 0 beyond one scale from its centre",
        "epanechnikov_pdf": "parabolic (Epanechnikov) density, 0 beyond one scale from its centre",
        "student_t3_pdf": "density of Student's t with 3 degrees of freedom",
    },
)


def _z(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    return body.let("z u standardized", (x - mu) / sigma)


@_DENSITY.formula("pdf density")
def normal_pdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(body, x, mu, sigma)
    bell = exp(-0.5 * z * z)
    return either(body, bell / (2.5066283 * sigma), 0.39894228 * bell / sigma)


@_DENSITY.formula("logpdf log_density")
def normal_logpdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(body, x, mu, sigma)
    negative = -(0.5 * z * z + log(sigma) + 0.91893853)
    return either(body, -0.5 * z * z - log(sigma) - 0.91893853, negative)


@_DENSITY.formula("pdf density", **_PLACED)
def logistic_pdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    e = body.let("e decay", exp(-abs(x - mu) / sigma))
    body.note("symmetric form: the exponent is never positive")
    return e / (sigma * (1.0 + e) * (1.0 + e))


_DENSITY.add(
    "sech_pdf",
    "pdf density",
    lambda body, x, mu, sigma: 0.5 / (sigma * fn("cosh", HALF_PI * _z(body, x, mu, sigma))),
    **_PLACED,
)
_DENSITY.add(
    "gumbel_pdf",
    "pdf density",
    lambda body, x, mu, sigma: exp(-((z := _z(body, x, mu, sigma)) + exp(-z))) / sigma,
    **_PLACED,
)
_DENSITY.add(
    "laplace_pdf",
    "pdf density",
    lambda x, mu, sigma: 0.5 / sigma * exp(-abs(x - mu) / sigma),
    **_PLACED,
)


@_DENSITY.formula("pdf density", **_PLACED)
def cauchy_pdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(body, x, mu, sigma)
    below = 1.0 + z * z
    return either(body, 1.0 / (PI * sigma * below), 0.31830989 / (sigma * below))


@_DENSITY.formula("pdf density", **_PLACED)
def raised_cosine_pdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = body.let("z u standardized", fn("clamp", (x - mu) / sigma, -1.0, 1.0))
    return (1.0 + fn("cos", PI * z)) / (2.0 * sigma)


@_DENSITY.formula("pdf kernel_weight", **_PLACED)
def epanechnikov_pdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(body, x, mu, sigma)
    return 0.75 * most(1.0 - z * z, 0.0) / sigma


@_DENSITY.formula("pdf density", **_PLACED)
def student_t3_pdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(body, x, mu, sigma)
    base = body.let("base q", 1.0 + z * z / 3.0)
    return 0.36755260 / (sigma * base * base)


@idiom(depth=DEPTH)
def probability_density(k: KernelBuilder, level: int) -> Title:
    """Densities of a location and a scale, alone, in mixtures, or as the log-likelihood of rows."""
    return compose(k, level, _DENSITY)


_CUMULATIVE = Family(
    inputs={"x": quantity("x sample score", "x samples scores points", -2.2, 2.2)},
    params={"mu": _PLACE, "sigma": _SCALE},
    titles="cdf_by_kind distribution_function",
    kinds="kinds families dist_type",
    struct="Distribution Params Location",
    grids=("i|tid|s", "row col|trial i|i j", "batch trial i|b i j"),
    parts="components c comp",
    mixed="normal_cdf logistic_cdf laplace_cdf cauchy_cdf gumbel_cdf",
    weights="weights priors mixing",
    varying="mu sigma",
    whole="distribution function of a weighted mixture, each component with a",
    about={
        "normal_cdf": "normal CDF",
        "normal_tail": "upper tail probability of a normal score",
        "two_sided_p": "two-sided p-value of a normal score",
        "logistic_cdf": "logistic CDF",
        "cauchy_cdf": "Cauchy CDF",
        "gumbel_cdf": "Gumbel CDF",
        "sech_cdf": "CDF of the hyperbolic secant distribution",
        "laplace_cdf": "Laplace CDF",
        "triangular_cdf": "CDF of the symmetric triangular distribution, one scale to each side",
        "rayleigh_tail": "probability that a Rayleigh variable exceeds the sample",
        "raised_cosine_cdf": "CDF of the raised cosine distribution, one scale to each side",
    },
)
_CUMULATIVE.add(
    "normal_cdf",
    "cdf prob",
    lambda body, x, mu, sigma: 0.5 * (1.0 + erf(ROOT_HALF * _z(body, x, mu, sigma))),
)
_CUMULATIVE.add(
    "normal_tail",
    "tail p_value",
    lambda body, x, mu, sigma: 0.5 * fn("erfc", _z(body, x, mu, sigma) * ROOT_HALF),
)
_CUMULATIVE.add(
    "two_sided_p",
    "p_value significance",
    lambda x, mu, sigma: fn("erfc", abs(x - mu) / (1.4142136 * sigma)),
)
_CUMULATIVE.add(
    "logistic_cdf",
    "cdf prob",
    lambda body, x, mu, sigma: either(
        body, 1.0 / (1.0 + exp(-(x - mu) / sigma)), 0.5 + 0.5 * fn("tanh", 0.5 * (x - mu) / sigma)
    ),
    **_PLACED,
)
_CUMULATIVE.add(
    "cauchy_cdf",
    "cdf prob",
    lambda body, x, mu, sigma: 0.5 + 0.31830989 * atan(_z(body, x, mu, sigma)),
    **_PLACED,
)
_CUMULATIVE.add(
    "gumbel_cdf",
    "cdf prob",
    lambda body, x, mu, sigma: exp(-exp(-_z(body, x, mu, sigma))),
    **_PLACED,
)
_CUMULATIVE.add(
    "sech_cdf",
    "cdf prob",
    lambda body, x, mu, sigma: 0.63661977 * atan(exp(HALF_PI * _z(body, x, mu, sigma))),
    **_PLACED,
)


@_CUMULATIVE.formula("cdf prob", **_PLACED)
def laplace_cdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _z(body, x, mu, sigma)
    tail = body.let("tail half_tail", 0.5 * exp(-abs(z)))
    first = fn("where", z < 0.0, tail, 1.0 - tail)
    return either(body, first, 0.5 + fn("copysign", 0.5 - tail, z))


def _clamped(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    return body.let("z u standardized", fn("clamp", (x - mu) / sigma, -1.0, 1.0))


_CUMULATIVE.add(
    "triangular_cdf",
    "cdf prob",
    lambda body, x, mu, sigma: 0.5 + (z := _clamped(body, x, mu, sigma)) - 0.5 * z * abs(z),
    **_PLACED,
)


@_CUMULATIVE.formula("survival tail", **_PLACED)
def rayleigh_tail(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = body.let("z u standardized", most(x - mu, 0.0) / sigma)
    return exp(-0.5 * z * z)


@_CUMULATIVE.formula("cdf prob", **_PLACED)
def raised_cosine_cdf(body: BodyBuilder, x: Expr, mu: Expr, sigma: Expr) -> Expr:
    z = _clamped(body, x, mu, sigma)
    return 0.5 * (1.0 + z + 0.31830989 * fn("sin", PI * z))


@idiom(depth=DEPTH)
def cumulative_probability(k: KernelBuilder, level: int) -> Title:
    """Cumulative distribution functions and tails of a location and a scale."""
    return compose(k, level, _CUMULATIVE)


_QUANTILE = Family(
    inputs={"p": quantity("p prob level", "p probs levels", 0.03, 0.97)},
    params={
        "mu": _PLACE,
        "sigma": _SCALE,
        "lam": quantity("lam shape", "lams shapes", 0.1, 0.3),
    },
    titles="quantile_by_kind inverse_cdf",
    kinds="kinds families dist_type",
    struct="Distribution Params Location",
    grids=("i|tid|s", "row col|trial i|i j", "batch trial i|b i j"),
    varying="mu sigma",
    about={
        "normal_quantile": "normal quantiles by the inverse error function",
        "normal_upper_quantile": "normal scores that are exceeded with a given probability",
        "half_normal_quantile": "quantiles of the half-normal distribution",
        "logit_quantile": "quantiles of the logistic distribution",
        "gumbel_quantile": "quantiles of the Gumbel distribution",
        "cauchy_quantile": "Cauchy deviates by inversion",
        "sech_quantile": "quantiles of the hyperbolic secant distribution",
        "rayleigh_quantile": "Rayleigh deviates by inversion",
        "tukey_lambda_quantile": "quantiles of Tukey's lambda distribution",
        "laplace_quantile": "Laplace deviates by inversion",
        "student_t2_quantile": "quantiles of Student's t with 2 degrees of freedom",
    },
)
_QUANTILE.add(
    "normal_quantile",
    "quantile deviate",
    lambda p, mu, sigma: mu + sigma * 1.4142136 * fn("erfinv", 2.0 * p - 1.0),
    "{mu} + {sigma} * sqrt(2) * erfinv(2 * {p} - 1)",
)
_QUANTILE.add(
    "normal_upper_quantile",
    "quantile cutoff",
    lambda p, mu, sigma: mu + 1.4142136 * sigma * fn("erfcinv", 2.0 * p),
    "{mu} + {sigma} * sqrt(2) * erfcinv(2 * {p})",
)
_QUANTILE.add(
    "half_normal_quantile",
    "quantile deviate",
    lambda p, mu, sigma: mu + 1.4142136 * sigma * fn("erfinv", p),
    "{mu} + {sigma} * sqrt(2) * erfinv({p})",
)
_QUANTILE.add(
    "logit_quantile",
    "quantile deviate",
    lambda body, p, mu, sigma: mu + sigma * either(body, log(p / (1.0 - p)), log(p) - log(1.0 - p)),
    **_PLACED,
)
_QUANTILE.add(
    "gumbel_quantile", "quantile deviate", lambda p, mu, sigma: mu - sigma * log(-log(p)), **_PLACED
)
_QUANTILE.add(
    "cauchy_quantile",
    "quantile deviate",
    lambda p, mu, sigma: mu + sigma * tan(PI * (p - 0.5)),
    **_PLACED,
)
_QUANTILE.add(
    "sech_quantile",
    "quantile deviate",
    lambda p, mu, sigma: mu + 0.63661977 * sigma * log(tan(HALF_PI * p)),
    **_PLACED,
)
_QUANTILE.add(
    "rayleigh_quantile",
    "quantile deviate",
    lambda p, mu, sigma: mu + sigma * sqrt(-2.0 * log(1.0 - p)),
    **_PLACED,
)
_QUANTILE.add(
    "tukey_lambda_quantile",
    "quantile deviate",
    lambda p, mu, sigma, lam: mu + sigma * (p**lam - (1.0 - p) ** lam) / lam,
    **_PLACED,
)


@_QUANTILE.formula("quantile deviate", **_PLACED)
def laplace_quantile(body: BodyBuilder, p: Expr, mu: Expr, sigma: Expr) -> Expr:
    c = body.let("centered c offset", p - 0.5)
    size = log(1.0 - 2.0 * abs(c))
    return mu - sigma * either(body, fn("sign", c) * size, fn("copysign", size, -c))


@_QUANTILE.formula("quantile deviate", **_PLACED)
def student_t2_quantile(body: BodyBuilder, p: Expr, mu: Expr, sigma: Expr) -> Expr:
    alpha = body.let("alpha width", 4.0 * p * (1.0 - p))
    return mu + sigma * (2.0 * (p - 0.5)) * sqrt(2.0 / alpha)


@idiom(depth=DEPTH)
def quantile(k: KernelBuilder, level: int) -> Title:
    """Inverse distribution functions: what a uniform number becomes by inversion."""
    return compose(k, level, _QUANTILE)
