"""Losses of regression and of classification, with what they penalize."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr

_ERROR = ("err", "residual", "diff", "r")


def _residual(b: BodyBuilder, pred: Expr, target: Expr) -> Expr:
    return b.let(_ERROR, pred - target)


def _huber(b: BodyBuilder, pred: Expr, target: Expr, delta: Expr) -> Expr:
    err = b.let(("size", "abs_err", "a"), fn("abs", pred - target))
    form = b.draw.shape.integer(0, 2)
    if form == 0:
        clipped = b.let(("clipped", "quad"), fn("min", err, delta))
        return clipped * (err - 0.5 * clipped)
    if form == 1:
        return fn("where", err <= delta, 0.5 * err * err, delta * (err - 0.5 * delta))
    loss = b.let(("loss", "penalty"), 0.5 * err * err)
    with b.if_(err > delta):
        b.assign(loss, delta * (err - 0.5 * delta))
    return loss


def _log_cosh(b: BodyBuilder, pred: Expr, target: Expr) -> Expr:
    if b.draw.shape.chance(0.4):
        return fn("log", fn("cosh", pred - target))
    size = b.let(("size", "abs_err", "a"), fn("abs", pred - target))
    b.note("log(cosh(a)) without overflow")
    return size + fn("log", 1.0 + fn("exp", -2.0 * size)) - 0.69314718


def _pseudo_huber(b: BodyBuilder, pred: Expr, target: Expr, delta: Expr) -> Expr:
    ratio = b.let(("ratio", "scaled"), (pred - target) / delta)
    return delta * delta * (fn("sqrt", 1.0 + ratio * ratio) - 1.0)


def _tukey(b: BodyBuilder, pred: Expr, target: Expr, delta: Expr) -> Expr:
    ratio = b.let(("ratio", "scaled"), (pred - target) / (2.0 * delta))
    rest = b.let(("rest", "inside"), fn("max", 1.0 - ratio * ratio, 0.0))
    return delta * delta / 6.0 * (1.0 - rest * rest * rest)


def _pinball(b: BodyBuilder, pred: Expr, target: Expr, tau: Expr) -> Expr:
    gap = b.let(("gap", "short", "under"), target - pred)
    return either(b, fn("max", tau * gap, (tau - 1.0) * gap), (tau - fn("step", gap)) * gap)


def _geman(b: BodyBuilder, pred: Expr, target: Expr, delta: Expr) -> Expr:
    err = _residual(b, pred, target)
    square = b.let(("square", "sq"), err * err)
    return square / (square + delta * delta)


def _cauchy(b: BodyBuilder, pred: Expr, target: Expr, delta: Expr) -> Expr:
    ratio = b.let(("ratio", "scaled"), (pred - target) / delta)
    return 0.5 * delta * delta * fn("log", 1.0 + ratio * ratio)


def _wing(b: BodyBuilder, pred: Expr, target: Expr, delta: Expr) -> Expr:
    size = b.let(("size", "abs_err", "a"), fn("abs", pred - target))
    return delta * fn("log", 1.0 + size / (0.5 * delta))


def _tube(b: BodyBuilder, pred: Expr, target: Expr, tau: Expr) -> Expr:
    return fn("max", fn("abs", pred - target) - tau, 0.0)


def _signed_log(b: BodyBuilder, pred: Expr, target: Expr) -> Expr:
    p, t = (
        b.let(names, fn("copysign", fn("log", 1.0 + fn("abs", v)), v))
        for names, v in ((("log_pred", "lp"), pred), (("log_target", "lt"), target))
    )
    return (p - t) * (p - t)


_REGRESSION = Family(
    item="prediction",
    inputs={
        "y": quantity("y pred estimate", "y_pred preds predictions outputs", -2.0, 2.0),
        "t": quantity("t target truth", "y_true targets truths", -2.0, 2.0),
    },
    params={
        "d": quantity("delta scale c", "deltas scales", 0.5, 1.2, 0.5, 1.0, 0.75),
        "tau": quantity("tau level eps", "taus levels", 0.2, 0.8, 0.1, 0.9, 0.25),
    },
    titles="loss_by_kind robust_losses residual_losses",
    kinds="kinds loss_type modes",
    struct="LossParams Robust",
    records="Pair Fit",
    grids=("i|tid|s", "row col|b i|sample out_dim", "batch row col|b t c"),
    parts="",
    weights="weights sample_weight",
    masks="mask valid observed",
    reductions=("sum", "mean", "largest"),
    cards=(
        by_hand(
            "huber_loss",
            "loss losses",
            "the Huber loss: a * a / 2 up to {d}, {d} * (a - {d} / 2) beyond, a = |{y} - {t}|",
            "y t d",
            _huber,
        ),
        by_hand("log_cosh_loss", "loss losses", "log(cosh({y} - {t}))", "y t", _log_cosh),
        by_hand(
            "pseudo_huber_loss",
            "loss penalty",
            "{d}^2 * (sqrt(1 + q * q) - 1) with q = ({y} - {t}) / {d}",
            "y t d",
            _pseudo_huber,
        ),
        by_hand(
            "tukey_loss",
            "loss penalty",
            "{d}^2 / 6 * (1 - m^3) with m = max(1 - (({y} - {t}) / (2 * {d}))^2, 0)",
            "y t d",
            _tukey,
        ),
        by_hand(
            "pinball_loss",
            "loss quantile_loss",
            "the pinball loss max({tau} * g, ({tau} - 1) * g) with g = {t} - {y}",
            "y t tau",
            _pinball,
        ),
        by_hand(
            "geman_mcclure",
            "loss cost",
            "e^2 / (e^2 + {d}^2) with e = {y} - {t}",
            "y t d",
            _geman,
        ),
        by_hand(
            "cauchy_loss",
            "loss cost",
            "{d}^2 / 2 * log(1 + (({y} - {t}) / {d})^2)",
            "y t d",
            _cauchy,
        ),
        by_hand(
            "wing_loss", "loss cost", "{d} * log(1 + |{y} - {t}| / (0.5 * {d}))", "y t d", _wing
        ),
        by_hand(
            "tube_loss",
            "loss slack",
            "max(|{y} - {t}| - {tau}, 0)",
            "y t tau",
            _tube,
        ),
        by_hand(
            "signed_log_loss",
            "loss msle",
            "(l({y}) - l({t}))^2 with l(v) = log(1 + |v|) with the sign of v",
            "y t",
            _signed_log,
        ),
        by_hand(
            "welsch_loss",
            "loss cost",
            "1 - exp(-(({y} - {t}) / {d})^2 / 2)",
            "y t d",
            lambda b, y, t, d: (
                1.0 - fn("exp", -0.5 * (q := b.let(("ratio", "q"), (y - t) / d)) * q)
            ),
        ),
    ),
)


@idiom
def regression_loss(k: KernelBuilder, level: int) -> Title:
    """Robust losses of a prediction and its target."""
    return compose(k, level, _REGRESSION)
