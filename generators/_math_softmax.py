"""Statistics of the softmax of each row, written stably."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.dtypes import Scalar
from generators.expr import Expr, Var
from generators.pieces import constant, stored
from generators.registry import Title
from generators.stages import refine
from generators.touches import finished

_ROW_STATS = {
    "logsumexp": ("log-sum-exp", 1.5, 3.5, 1.0),
    "entropy": ("entropy (natural log) of the softmax", 0.4, 1.6, 1.0),
    "entropy_bits": ("entropy of the softmax in bits (nats times 1.442695)", 0.8, 2.2, 1.0),
    "soft_maximum": ("mean, weighted by the softmax,", 0.5, 2.5, 1.0),
    "confidence": ("largest softmax probability (1 / sum of exp)", 0.3, 0.8, 0.4),
    "gini": ("Gini impurity (1 - sum of squares) of the softmax", 0.3, 0.7, 0.3),
}
"""What each is called, the range of a baseline for it, and its size less a baseline."""
_VALUE = ("value", "response", "shaped", "adjusted", "v")


def softmax_statistic(k: KernelBuilder, level: int) -> Title:
    """Row reductions through the shifted exponential, written stably."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    rows, cols = k.size("rows", 48, 80), k.size("cols", 4, 7)
    form = shape.choice(sorted(_ROW_STATS))
    low, high = _score_range(k, form, type_)
    logits = k.array(("logits", "scores", "energies"), type_, (rows, cols), low=low, high=high)
    stat, low, high, scale = _ROW_STATS[form]
    score, text, drawn = _scores(k, level, logits, type_)
    baseline = None
    if level >= 2:
        baseline = k.array(("baseline", "reference", "target"), type_, rows, low=low, high=high)
    width = k.trip_count(("num_classes", "num_cols", "width"), cols)
    out = k.out(("out", "result", "row_stat"), type_, rows)
    (r,) = k.thread(rows, names=(k.draw.word.choice(("row", "r", "i")),))
    value = _reduced(k, form, lambda j: score(r, j), width)
    done = f"Compute the {stat} of each row of {text}, stably (subtract the row maximum before exp)"
    if baseline is not None:
        value = value - baseline[r]
        done += f", and subtract its entry of {baseline.name}"
    if touches := level <= 2 and (not drawn or shape.chance(0.2)):
        value, phrase = finished(k, value, (form.split("_")[0], "stat"), scale)
        done += f". The result v becomes {phrase}"
    signal = refine(k, value, level, _VALUE, scale, signed=not touches)
    k.store(out, r, signal.value)
    name = k.name(f"row_{form}", f"{form}_rows", f"stable_{form}")
    return Title(name, f"{done}.{stored(signal)}")


def _score_range(k: KernelBuilder, form: str, type_: Scalar) -> tuple[float, float]:
    """The range of scores: where a common shift changes nothing, often one in which exp overflows,
    so that only a kernel that subtracts the maximum gives numbers at all."""
    if form in ("logsumexp", "soft_maximum") or k.draw.value.chance(0.3):
        return -3.0, 3.0
    overflow = {"float64": 1150.0, "float32": 145.0}.get(type_.name)
    return (overflow, overflow + 6.0) if overflow else (-3.0, 3.0)


def _scores(
    k: KernelBuilder, level: int, logits: Var, type_: Scalar
) -> tuple[Callable[[Var, Expr | int], Expr], str, bool]:
    """The score of a cell, perhaps biased and scaled; what it is; whether by a literal."""
    shape, prior, text = k.draw.shape, None, logits.name
    if level >= 3 and shape.chance(0.5):
        prior = k.array(("bias", "log_prior", "offsets"), type_, "cols", low=-1.0, high=1.0)
        text = f"({text} + {prior.name} of the column)"
    how = shape.weighted({"plain": 2, "parameter": 2, "gain": 3, "temperature": 3})
    factor: Var | float = constant(k, 0.6, 1.6)
    if how == "parameter":
        factor = k.scalar(("beta", "inverse_temperature", "sharpness"), type_, 0.8, 1.2)
    shown = factor.name if isinstance(factor, Var) else factor
    if how != "plain":
        text = f"{text} / {shown}" if how == "temperature" else f"{shown} * {text}"

    def score(r: Var, j: Expr | int) -> Expr:
        value: Expr = logits[r, j] if prior is None else logits[r, j] + prior[j]
        if how == "plain":
            return value
        return value / factor if how == "temperature" else factor * value

    return score, text, how in ("gain", "temperature")


def _reduced(k: KernelBuilder, form: str, score: Callable[[Expr | int], Expr], width: Expr) -> Expr:
    """The statistic of a row of scores, in one loop for the maximum and one for the sums."""
    top = k.let(("top", "largest", "peak"), score(0))
    with k.for_(("j", "c", "col"), width, start=1) as j:
        k.assign(top, fn("max", top, score(j)))
    total = k.let(("total", "denom", "partition"), k.lift(0.0, top.type))
    single = form in ("logsumexp", "confidence")
    names = ("squares", "concentration") if form == "gini" else ("moment", "mass")
    moment = None if single else k.let(names, k.lift(0.0, top.type))
    k.used.discard(j.name)
    with k.for_(j.name, width) as j:
        if moment is None:
            k.augment(total, "add", fn("exp", score(j) - top))
        else:
            shifted: Expr = score(j) - top
            if form != "gini":
                shifted = k.let(("shifted", "delta"), shifted)
            weight = k.let(("e", "w"), fn("exp", shifted))
            k.augment(total, "add", weight)
            k.augment(moment, "add", weight * (weight if form == "gini" else shifted))
    return _from_sums(form, top, total, moment)


def _from_sums(form: str, top: Var, total: Var, moment: Var | None) -> Expr:
    """The statistic from the row maximum, the sum of exponentials and their moment."""
    if moment is None:
        return 1.0 / total if form == "confidence" else top + fn("log", total)
    if form == "gini":
        return 1.0 - moment / (total * total)
    if form == "soft_maximum":
        return top + moment / total
    entropy = fn("log", total) - moment / total
    return 1.442695 * entropy if form == "entropy_bits" else entropy
