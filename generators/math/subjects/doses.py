"""Responses to doses and concentrations, and the kinetics of temperature."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.functions import ROOT_HALF, erf, exp, log, log10, sqrt
from generators.math.cards import Family, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_DOSE = Family(
    inputs={"x": quantity("dose conc", "doses concs", 0.1, 4.0)},
    params={
        "k": quantity("ec50", "ec50s", 0.5, 2.0, 0.6, 1.5, 0.8),
        "h": quantity("hill slope", "hills slopes", 1.2, 2.8, 1.5, 2.0, 2.5),
        "t": quantity("top emax", "tops emax_values", 0.8, 2.0, 0.9, 1.2, 2.0),
        "i": quantity("inhibitor", "inhibitors", 0.2, 1.5),
        "ki": quantity("ki", "kis", 0.4, 1.5),
        "b": quantity("bottom baseline", "bottoms baselines", 0.05, 0.3),
        "g": quantity("boost stimulation", "boosts stimulations", 0.2, 1.5, 0.5, 0.8),
    },
    titles="response_by_kind dose_response_model kinetics_by_kind",
    kinds="model kinds mechanism",
    struct="Drug Enzyme Curve",
    grids=("i|well|tid", "plate well|row col|dose_idx cell", "batch plate well|b i j"),
    weights="weights fractions",
    masks="valid measured mask",
    sizes={2: "plates wells"},
    groups="drug_ids compound_ids",
    varying="k h t",
    lists=False,
    tabled=True,
    about={
        "hill_response": "response by the Hill equation",
        "michaelis_menten": "reaction rate by Michaelis and Menten",
        "four_parameter_logistic": "four-parameter logistic response to a concentration",
        "probit_response": "share of responders by the probit model of the log dose",
        "competitive_inhibition": "reaction rate with a competitive inhibitor",
        "tight_binding": "concentration of a complex when neither partner is in excess",
        "weibull_response": "response by the Weibull model",
        "gompertz_response": "response by the Gompertz model of the log dose",
        "logarithmic_response": "response that grows with the log of the dose",
        "hormesis": "response with stimulation at low doses (Brain and Cousens)",
    },
)


@_DOSE.formula("response effect")
def hill_response(body: BodyBuilder, x: Expr, k: Expr, h: Expr, t: Expr) -> Expr:
    if body.draw.shape.chance(0.5):
        return t / (1.0 + (k / x) ** h)
    xn = body.let("xh bound", x**h)
    return t * xn / (k**h + xn)


_DOSE.add(
    "michaelis_menten",
    "rate velocity",
    lambda x, k, t: t * x / (k + x),
    x="substrate substrates",
    k="km kms",
    t="vmax vmax_values",
)


@_DOSE.formula("response signal")
def four_parameter_logistic(body: BodyBuilder, x: Expr, k: Expr, h: Expr, t: Expr, b: Expr) -> Expr:
    shift = body.let("shift log_ratio", h * (log10(k) - log10(x)))
    return b + (t - b) / (1.0 + (10.0**shift))


@_DOSE.formula("response mortality")
def probit_response(body: BodyBuilder, x: Expr, k: Expr, h: Expr) -> Expr:
    score = body.let("score z", h * log(x / k))
    return 0.5 * (1.0 + erf(ROOT_HALF * score))


@_DOSE.formula("rate velocity", x="substrate substrates", k="km kms", t="vmax vmax_values")
def competitive_inhibition(body: BodyBuilder, x: Expr, k: Expr, t: Expr, i: Expr, ki: Expr) -> Expr:
    apparent = body.let("km_app apparent_km", k * (1.0 + i / ki))
    return t * x / (apparent + x)


@_DOSE.formula("complex_out bound", x="ligand ligands", k="kd kds", i="receptor receptors")
def tight_binding(body: BodyBuilder, x: Expr, k: Expr, i: Expr) -> Expr:
    total = body.let("total sum_all", x + i + k)
    return 0.5 * (total - sqrt(total * total - 4.0 * x * i))


_DOSE.add(
    "weibull_response", "response mortality", lambda x, k, h, t: t * (1.0 - exp(-((x / k) ** h)))
)
_DOSE.add("gompertz_response", "response effect", lambda x, k, h, t: t * exp(-exp(-h * log(x / k))))
_DOSE.add(
    "logarithmic_response",
    "effect response",
    lambda x, k, t: t * log(1.0 + x / k),
)
_DOSE.add(
    "hormesis",
    "effect response",
    lambda body, x, k, h, t, g: t * (1.0 + g * (d := body.let("d rel", x / k))) / (1.0 + d**h),
)


@idiom(depth=DEPTH)
def dose_response(k: KernelBuilder, level: int) -> Title:
    """Responses to a dose or a concentration: binding, enzymes, toxicity."""
    return compose(k, level, _DOSE)
