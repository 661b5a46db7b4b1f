"""Losses of regression, and of classification by a logit and a label."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import LN_2, exp, least, log, most, sqrt, tanh, where
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_REGRESSION = Family(
    inputs={
        "y": quantity("y_hat pred prediction", "y_pred preds predictions", -2.0, 2.0),
        "t": quantity("y target truth", "y_true targets truths", -2.0, 2.0),
    },
    params={
        "d": quantity("delta scale", "deltas scales", 0.5, 1.2, 0.5, 0.9, 0.75),
        "tau": quantity("tau quantile", "taus quantiles", 0.2, 0.8, 0.1, 0.9, 0.25),
    },
    titles="loss_by_kind robust_losses residual_losses",
    kinds="kinds loss_type modes",
    struct="LossParams Robust",
    records="Pair Fit",
    grids=("i|tid|s", "row col|b i|sample out_dim", "batch row col|b t c"),
    weights="weights sample_weight",
    masks="mask valid observed",
    reductions=("sum", "mean"),
    about={
        "huber_loss": "Huber loss of predictions",
        "log_cosh_loss": "log-cosh loss of predictions",
        "pseudo_huber_loss": "pseudo-Huber loss of predictions",
        "tukey_loss": "Tukey's biweight loss of predictions",
        "pinball_loss": "pinball loss of predicted quantiles",
        "geman_mcclure": "Geman-McClure loss of predictions",
        "cauchy_loss": "Cauchy (Lorentzian) loss of predictions",
        "tube_loss": "epsilon-insensitive loss of predictions",
        "welsch_loss": "Welsch loss of predictions",
        "squared_loss": "squared error loss of predictions, halved",
    },
)


def _size(body: BodyBuilder, y: Expr, t: Expr) -> Expr:
    return body.let("size abs_err a", abs(y - t))


def _ratio(body: BodyBuilder, y: Expr, t: Expr, d: Expr) -> Expr:
    return body.let("ratio scaled q", (y - t) / d)


@_REGRESSION.formula(
    "loss losses",
    "the Huber loss: a * a / 2 up to {d}, {d} * (a - {d} / 2) beyond, a = |{y} - {t}|",
)
def huber_loss(body: BodyBuilder, y: Expr, t: Expr, d: Expr) -> Expr:
    err = _size(body, y, t)
    inner, outer = 0.5 * err * err, d * (err - 0.5 * d)
    form = body.draw.shape.integer(0, 2)
    if form == 0:
        clipped = body.let("clipped quad", least(err, d))
        return clipped * (err - 0.5 * clipped)
    if form == 1:
        return where(err <= d, inner, outer)
    loss = body.let("loss penalty", inner)
    with body.if_(err > d):
        body.assign(loss, outer)
    return loss


@_REGRESSION.formula("loss losses")
def log_cosh_loss(body: BodyBuilder, y: Expr, t: Expr) -> Expr:
    size = _size(body, y, t)
    body.note("log(cosh(a)) without overflow")
    return size + log(1.0 + exp(-2.0 * size)) - LN_2


_REGRESSION.add(
    "pseudo_huber_loss",
    "loss penalty",
    lambda body, y, t, d: d * d * (sqrt(1.0 + (q := _ratio(body, y, t, d)) * q) - 1.0),
)


@_REGRESSION.formula("loss penalty")
def tukey_loss(body: BodyBuilder, y: Expr, t: Expr, d: Expr) -> Expr:
    ratio = body.let("ratio scaled", (y - t) / d)
    rest = body.let("rest inside", most(1.0 - ratio * ratio, 0.0))
    return d * d / 6.0 * (1.0 - rest * rest * rest)


@_REGRESSION.formula("loss quantile_loss")
def pinball_loss(body: BodyBuilder, y: Expr, t: Expr, tau: Expr) -> Expr:
    gap = body.let("gap short under", t - y)
    return either(body, most(tau * gap, (tau - 1.0) * gap), (tau - fn("step", gap)) * gap)


@_REGRESSION.formula("loss cost")
def geman_mcclure(body: BodyBuilder, y: Expr, t: Expr, d: Expr) -> Expr:
    err = body.let("err residual diff r", y - t)
    square = body.let("square sq", err * err)
    return square / (square + d * d)


_REGRESSION.add(
    "cauchy_loss",
    "loss cost",
    lambda body, y, t, d: 0.5 * d * d * log(1.0 + (q := _ratio(body, y, t, d)) * q),
)
_REGRESSION.add(
    "tube_loss",
    "loss slack",
    lambda y, t, tau: most(abs(y - t) - tau, 0.0),
    tau="epsilon epsilons",
)
_REGRESSION.add(
    "squared_loss",
    "loss sq_loss",
    lambda body, y, t: 0.5 * (r := body.let("residual err", y - t)) * r,
)
_REGRESSION.add(
    "welsch_loss",
    "loss cost",
    lambda body, y, t, d: 1.0 - exp(-0.5 * (q := _ratio(body, y, t, d)) * q),
)


@idiom(depth=DEPTH)
def regression_loss(k: KernelBuilder, level: int) -> Title:
    """Robust losses of a prediction and its target."""
    return compose(k, level, _REGRESSION)


_CLASSIFY = Family(
    inputs={
        "z": quantity("logit score", "logits scores", -3.0, 3.0),
        "y": quantity("label target", "labels targets", 0.0, 1.0),
    },
    params={
        "g": quantity("gamma focusing", "gammas", 0.5, 2.0, 1.5, 2.0),
        "eps": quantity("smoothing eps", "smoothings eps_values", 0.05, 0.2, 0.1, 0.05, 0.2),
    },
    titles="loss_by_kind classification_losses logit_losses",
    kinds="kinds loss_type objectives",
    struct="LossParams Objective",
    records="Example Case",
    grids=("i|tid|s", "row col|b label_id|sample cls", "batch row col|b t c"),
    weights="weights class_weight sample_weight",
    masks="mask valid labelled",
    reductions=("sum", "mean"),
    about={
        "bce_with_logits": "binary cross-entropy of logits, stable for logits of any size",
        "focal_loss": "binary focal loss of logits",
        "hinge_loss": "hinge loss of scores; labels above one half are positive",
        "squared_hinge": "squared hinge loss of scores; labels above one half are positive",
        "modified_huber": "modified Huber loss of scores; labels above one half are positive",
        "brier_score": "Brier score of logits",
        "smoothed_bce": "binary cross-entropy of logits with smoothed labels",
        "bernoulli_kl": "Bernoulli divergence of soft labels from predicted probabilities",
        "weighted_bce": "binary cross-entropy of logits with a weight on positives",
        "savage_loss": "Savage loss of scores; labels above one half are positive",
    },
)


def _softplus(z: Expr) -> Expr:
    return most(z, 0.0) + log(1.0 + exp(-abs(z)))


def _sigmoid(body: BodyBuilder, z: Expr) -> Expr:
    by_tanh = body.draw.shape.chance(0.3)
    p = 0.5 + 0.5 * tanh(0.5 * z) if by_tanh else 1.0 / (1.0 + exp(-z))
    return body.let("p prob", p)


def _margin(body: BodyBuilder, z: Expr, y: Expr) -> Expr:
    return body.let("margin m score_margin", where(y > 0.5, z, -z))


@_CLASSIFY.formula("loss bce")
def bce_with_logits(body: BodyBuilder, z: Expr, y: Expr) -> Expr:
    body.note("stable for logits of any size")
    return either(body, most(z, 0.0) - z * y + log(1.0 + exp(-abs(z))), _softplus(z) - y * z)


@_CLASSIFY.formula(
    "loss focal", "-(1 - h)^{g} * log(h), where h = {y} * p + (1 - {y}) * (1 - p), p = sigmoid({z})"
)
def focal_loss(body: BodyBuilder, z: Expr, y: Expr, g: Expr) -> Expr:
    p = _sigmoid(body, z)
    hit = body.let("hit pt p_true", y * p + (1.0 - y) * (1.0 - p))
    return -((1.0 - hit) ** g) * log(hit)


_CLASSIFY.add(
    "hinge_loss",
    "loss hinge",
    lambda body, z, y, g: most(g - _margin(body, z, y), 0.0),
    g="margin_width margin_widths",
)


@_CLASSIFY.formula("loss hinge_sq", g="margin_width margin_widths")
def squared_hinge(body: BodyBuilder, z: Expr, y: Expr, g: Expr) -> Expr:
    short = body.let("short violation slack", most(g - _margin(body, z, y), 0.0))
    return short * short


@_CLASSIFY.formula(
    "loss penalty",
    "max(1 - m, 0)^2 where m > -1, else -4 * m; m is {z} where {y} > 0.5 and -{z} elsewhere",
)
def modified_huber(body: BodyBuilder, z: Expr, y: Expr) -> Expr:
    m = _margin(body, z, y)
    loss = body.let("loss penalty", -4.0 * m)
    with body.if_(m > -1.0):
        short = body.let("short slack", most(1.0 - m, 0.0))
        body.assign(loss, short * short)
    return loss


@_CLASSIFY.formula("loss brier", "(sigmoid({z}) - {y})^2")
def brier_score(body: BodyBuilder, z: Expr, y: Expr) -> Expr:
    err = body.let("err gap", _sigmoid(body, z) - y)
    return err * err


@_CLASSIFY.formula("loss bce")
def smoothed_bce(body: BodyBuilder, z: Expr, y: Expr, eps: Expr) -> Expr:
    soft = body.let("soft_label target q", fn("lerp", y, body.lift(0.5, y.type), eps))
    return _softplus(z) - soft * z


@_CLASSIFY.formula(
    "kl divergence",
    "the Bernoulli divergence q * log(q / p) + (1 - q) * log((1 - q) / (1 - p)), where "
    "p = sigmoid({z}) and q = {y}, both clamped to [{eps}, 1 - {eps}]",
    eps="eps eps_values",
)
def bernoulli_kl(body: BodyBuilder, z: Expr, y: Expr, eps: Expr) -> Expr:
    p = body.let("p_safe pred_prob", fn("clamp", _sigmoid(body, z), eps, 1.0 - eps))
    q = body.let("q ref_prob", fn("clamp", y, eps, 1.0 - eps))
    return q * log(q / p) + (1.0 - q) * log((1.0 - q) / (1.0 - p))


def _weighted_bce(body: BodyBuilder, z: Expr, y: Expr, g: Expr) -> Expr:
    small = body.let("tail log_term", log(1.0 + exp(-abs(z))))
    if body.draw.shape.chance(0.5):
        weight = body.let("log_weight row_weight", 1.0 + (g - 1.0) * y)
        return (1.0 - y) * z + weight * (small + most(-z, 0.0))
    names = body.draw.word.choice((("pos_loss", "neg_loss"), ("loss_if_one", "loss_if_zero")))
    positive = body.let(names[0], most(-z, 0.0) + small)
    negative = body.let(names[1], most(z, 0.0) + small)
    return g * y * positive + (1.0 - y) * negative


_CLASSIFY.add(
    "weighted_bce",
    "loss bce",
    _weighted_bce,
    "{g} * {y} * softplus(-{z}) + (1 - {y}) * softplus({z})",
    g="pos_weight pos_weights",
)


@_CLASSIFY.formula("loss savage")
def savage_loss(body: BodyBuilder, z: Expr, y: Expr) -> Expr:
    e = body.let("e odds", 1.0 + exp(_margin(body, z, y)))
    return 1.0 / (e * e)


@idiom(depth=DEPTH)
def classification_loss(k: KernelBuilder, level: int) -> Title:
    """Losses of a logit and a label in [0, 1]."""
    return compose(k, level, _CLASSIFY)
