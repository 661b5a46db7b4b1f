"""Responses to doses and concentrations, and the kinetics of temperature."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Card, Family, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _hill(b: BodyBuilder, x: Expr, k: Expr, h: Expr, t: Expr) -> Expr:
    if b.draw.shape.chance(0.5):
        return t / (1.0 + fn("pow", k / x, h))
    xn = b.let(("xh", "bound"), fn("pow", x, h))
    return t * xn / (fn("pow", k, h) + xn)


def _four_parameter(b: BodyBuilder, x: Expr, k: Expr, h: Expr, t: Expr) -> Expr:
    shift = b.let(("shift", "log_ratio"), h * (fn("log10", k) - fn("log10", x)))
    return 0.1 + (t - 0.1) / (1.0 + fn("pow", b.lift(10.0, x.type), shift))


def _haldane(b: BodyBuilder, x: Expr, k: Expr, t: Expr) -> Expr:
    return t * x / (k + x + x * x / (4.0 * k))


def _probit(b: BodyBuilder, x: Expr, k: Expr, h: Expr) -> Expr:
    score = b.let(("score", "z"), h * fn("log", x / k))
    return 0.5 * (1.0 + fn("erf", 0.70710678 * score))


def _competitive(b: BodyBuilder, x: Expr, k: Expr, t: Expr, i: Expr) -> Expr:
    apparent = b.let(("km_app", "apparent"), k * (1.0 + i))
    return t * x / (apparent + x)


def _tight(b: BodyBuilder, x: Expr, k: Expr, i: Expr) -> Expr:
    total = b.let(("total", "sum_all"), x + i + k)
    return 0.5 * (total - fn("sqrt", total * total - 4.0 * x * i))


def _threshold(b: BodyBuilder, x: Expr, k: Expr, t: Expr) -> Expr:
    if b.draw.shape.chance(0.5):
        return t * fn("max", 1.0 - k / x, 0.0)
    effect = b.let(("effect", "value"), b.lift(0.0, x.type))
    with b.if_(x > k):
        b.assign(effect, t * (1.0 - k / x))
    return effect


_DOSE = Family(
    item="well",
    inputs={"x": quantity("dose conc substrate", "doses concs concentrations", 0.1, 4.0)},
    params={
        "k": quantity("ec50 half_max km", "ec50s half_maxima", 0.5, 2.0, 1.0, 1.5, 0.8),
        "h": quantity("hill slope coop", "hills slopes", 1.2, 2.8, 1.5, 2.0, 2.5),
        "t": quantity("top emax vmax", "tops emaxes", 0.8, 2.0, 1.0, 1.2, 2.0),
        "i": quantity("inhibitor blocker", "inhibitors blockers", 0.2, 1.5, 0.5, 1.0),
        "g": quantity("boost stimulation", "boosts stimulations", 0.2, 1.5, 0.5, 1.0),
    },
    titles="response_by_kind dose_response_model kinetics_by_kind",
    kinds="model kinds mechanism",
    struct="Drug Enzyme Curve",
    grids=("i|well|tid", "plate well|row col|dose_idx cell", "batch plate well|b i j"),
    parts="drugs drug d",
    weights="weights fractions",
    masks="valid measured mask",
    reductions=("sum", "mean", "largest", "rms"),
    spatial=False,
    cards=(
        Card(
            "hill_response",
            "response effect",
            "{t} * {x}^{h} / ({k}^{h} + {x}^{h})",
            "x k h t",
            _hill,
        ),
        Card(
            "michaelis_menten",
            "rate velocity",
            "{t} * {x} / ({k} + {x})",
            "x k t",
            lambda b, x, k, t: t * x / (k + x),
        ),
        Card(
            "four_parameter_logistic",
            "response signal",
            "0.1 + ({t} - 0.1) / (1 + 10^({h} * (log10({k}) - log10({x}))))",
            "x k h t",
            _four_parameter,
        ),
        Card(
            "haldane",
            "rate growth",
            "{t} * {x} / ({k} + {x} + {x}^2 / (4 * {k}))",
            "x k t",
            _haldane,
        ),
        Card(
            "probit_response",
            "response mortality",
            "(1 + erf({h} * log({x} / {k}) / sqrt(2))) / 2",
            "x k h",
            _probit,
        ),
        Card(
            "competitive_inhibition",
            "rate velocity",
            "{t} * {x} / ({k} * (1 + {i}) + {x})",
            "x k t i",
            _competitive,
        ),
        Card(
            "tight_binding",
            "bound_out complexes",
            "(q - sqrt(q^2 - 4 * {x} * {i})) / 2 with q = {x} + {i} + {k}",
            "x k i",
            _tight,
        ),
        Card(
            "weibull_response",
            "response mortality",
            "{t} * (1 - exp(-({x} / {k})^{h}))",
            "x k h t",
            lambda b, x, k, h, t: t * (1.0 - fn("exp", -fn("pow", x / k, h))),
        ),
        Card(
            "gompertz_response",
            "response effect",
            "{t} * exp(-exp(-{h} * log({x} / {k})))",
            "x k h t",
            lambda b, x, k, h, t: t * fn("exp", -fn("exp", -h * fn("log", x / k))),
        ),
        Card(
            "langmuir_freundlich",
            "coverage adsorbed",
            "{t} * s / (1 + s) with s = sqrt({x} / {k})",
            "x k t",
            lambda b, x, k, t: t * (s := b.let(("s", "load"), fn("sqrt", x / k))) / (1.0 + s),
        ),
        Card(
            "threshold_response",
            "effect response",
            "{t} * (1 - {k} / {x}) where {x} > {k}, else 0",
            "x k t",
            _threshold,
        ),
        Card(
            "pharmacodynamic_log",
            "effect response",
            "{t} * log(1 + {x} / {k})",
            "x k t",
            lambda b, x, k, t: either(
                b,
                t * fn("log", 1.0 + x / k),
                0.69314718 * t * fn("log2", 1.0 + x / k),
            ),
        ),
        Card(
            "hormesis",
            "effect response",
            "{t} * (1 + {g} * d) / (1 + d^{h}) with d = {x} / {k}",
            "x k h t g",
            lambda b, x, k, h, t, g: (
                t * (1.0 + g * (d := b.let(("d", "rel"), x / k))) / (1.0 + fn("pow", d, h))
            ),
        ),
    ),
)


@idiom
def dose_response(k: KernelBuilder, level: int) -> Title:
    """Responses to a dose or a concentration: binding, enzymes, toxicity."""
    return compose(k, level, _DOSE)
