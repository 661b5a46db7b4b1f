"""Losses of classification, with the logit as input, and what their targets are."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _softplus(b: BodyBuilder, z: Expr) -> Expr:
    return fn("max", z, 0.0) + fn("log", 1.0 + fn("exp", -fn("abs", z)))


def _sigmoid(b: BodyBuilder, z: Expr) -> Expr:
    if b.draw.shape.chance(0.3):
        return b.let(("p", "prob"), 0.5 + 0.5 * fn("tanh", 0.5 * z))
    return b.let(("p", "prob"), 1.0 / (1.0 + fn("exp", -z)))


def _bce(b: BodyBuilder, z: Expr, y: Expr) -> Expr:
    b.note("stable for logits of any size")
    return either(
        b,
        fn("max", z, 0.0) - z * y + fn("log", 1.0 + fn("exp", -fn("abs", z))),
        _softplus(b, z) - y * z,
    )


def _focal(b: BodyBuilder, z: Expr, y: Expr, gamma: Expr) -> Expr:
    p = _sigmoid(b, z)
    hit = b.let(("hit", "pt", "p_true"), y * p + (1.0 - y) * (1.0 - p))
    return -fn("pow", 1.0 - hit, gamma) * fn("log", hit)


def _margin(b: BodyBuilder, z: Expr, y: Expr) -> Expr:
    b.note("targets above one half count as the positive class")
    side = either(b, fn("where", y > 0.5, z, -z), fn("copysign", b.lift(1.0, z.type), y - 0.5) * z)
    return b.let(("margin", "m", "score_margin"), side)


def _hinge(b: BodyBuilder, z: Expr, y: Expr, gamma: Expr) -> Expr:
    return fn("max", gamma - _margin(b, z, y), 0.0)


def _squared_hinge(b: BodyBuilder, z: Expr, y: Expr, gamma: Expr) -> Expr:
    short = b.let(("short", "violation", "slack"), fn("max", gamma - _margin(b, z, y), 0.0))
    return short * short


def _modified_huber(b: BodyBuilder, z: Expr, y: Expr) -> Expr:
    m = _margin(b, z, y)
    loss = b.let(("loss", "penalty"), -4.0 * m)
    with b.if_(m > -1.0):
        short = b.let(("short", "slack"), fn("max", 1.0 - m, 0.0))
        b.assign(loss, short * short)
    return loss


def _brier(b: BodyBuilder, z: Expr, y: Expr) -> Expr:
    err = b.let(("err", "gap"), _sigmoid(b, z) - y)
    return err * err


def _smoothed(b: BodyBuilder, z: Expr, y: Expr, eps: Expr) -> Expr:
    soft = b.let(("soft_label", "target", "q"), fn("lerp", y, b.lift(0.5, y.type), eps))
    return _softplus(b, z) - soft * z


def _bernoulli_kl(b: BodyBuilder, z: Expr, y: Expr, eps: Expr) -> Expr:
    p = _sigmoid(b, z)
    q = b.let(("q", "ref_prob"), fn("clamp", y, eps, 1.0 - eps))
    return q * fn("log", q / p) + (1.0 - q) * fn("log", (1.0 - q) / (1.0 - p))


def _weighted(b: BodyBuilder, z: Expr, y: Expr, gamma: Expr) -> Expr:
    return gamma * y * _softplus(b, -z) + (1.0 - y) * _softplus(b, z)


def _savage(b: BodyBuilder, z: Expr, y: Expr) -> Expr:
    e = b.let(("e", "odds"), 1.0 + fn("exp", _margin(b, z, y)))
    return 1.0 / (e * e)


_M = "m is {z} where {y} > 0.5 and -{z} elsewhere"
_CLASSIFY = Family(
    item="logit",
    inputs={
        "z": quantity("z logit score", "logits scores z_in", -3.0, 3.0),
        "y": quantity("y label target", "labels targets y_true", 0.0, 1.0),
    },
    params={
        "g": quantity("gamma focus pos_weight margin_width", "gammas margins", 0.5, 2.0, 1.5, 2.0),
        "eps": quantity("eps smoothing alpha", "eps_values alphas", 0.05, 0.2, 0.1, 0.05, 0.2),
    },
    titles="loss_by_kind classification_losses logit_losses",
    kinds="kinds loss_type objectives",
    struct="LossParams Objective",
    records="Example Case",
    grids=("i|tid|s", "row col|b label_id|sample cls", "batch row col|b t c"),
    weights="weights class_weight sample_weight",
    masks="mask valid labelled",
    reductions=("sum", "mean", "largest"),
    spatial=False,
    cards=(
        by_hand(
            "bce_with_logits",
            "loss bce",
            "max({z}, 0) - {z} * {y} + log(1 + exp(-|{z}|))",
            "z y",
            _bce,
        ),
        by_hand(
            "focal_loss",
            "loss focal",
            "-(1 - h)^{g} * log(h), where h = {y} * p + (1 - {y}) * (1 - p), p = sigmoid({z})",
            "z y g",
            _focal,
        ),
        by_hand("hinge_loss", "loss hinge", f"max({{g}} - m, 0), where {_M}", "z y g", _hinge),
        by_hand(
            "squared_hinge",
            "loss hinge_sq",
            f"max({{g}} - m, 0)^2, where {_M}",
            "z y g",
            _squared_hinge,
        ),
        by_hand(
            "modified_huber",
            "loss penalty",
            f"max(1 - m, 0)^2 where m > -1, else -4 * m; {_M}",
            "z y",
            _modified_huber,
        ),
        by_hand("brier_score", "loss brier", "(sigmoid({z}) - {y})^2", "z y", _brier),
        by_hand(
            "smoothed_bce",
            "loss bce",
            "softplus({z}) - q * {z} with q = lerp({y}, 0.5, {eps})",
            "z y eps",
            _smoothed,
        ),
        by_hand(
            "bernoulli_kl",
            "kl divergence",
            "the Bernoulli divergence q * log(q / p) + (1 - q) * log((1 - q) / (1 - p)), where "
            "p = sigmoid({z}) and q is {y} clamped to [{eps}, 1 - {eps}]",
            "z y eps",
            _bernoulli_kl,
        ),
        by_hand(
            "weighted_bce",
            "loss bce",
            "{g} * {y} * softplus(-{z}) + (1 - {y}) * softplus({z})",
            "z y g",
            _weighted,
        ),
        by_hand("savage_loss", "loss savage", f"1 / (1 + exp(m))^2, where {_M}", "z y", _savage),
    ),
)


@idiom
def classification_loss(k: KernelBuilder, level: int) -> Title:
    """Losses of a logit and a label in [0, 1]."""
    return compose(k, level, _CLASSIFY)
