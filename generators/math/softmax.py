"""Statistics of the softmax of each row, written stably."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import elements, write
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var

_ROW_STATS = {
    "logsumexp": ("log-sum-exp", 1.5, 3.5),
    "entropy": ("entropy (natural log) of the softmax", 0.4, 1.6),
    "entropy_bits": ("entropy of the softmax in bits (nats times 1.442695)", 0.8, 2.2),
    "soft_maximum": ("mean, weighted by the softmax,", 0.5, 2.5),
    "confidence": ("largest softmax probability (1 / sum of exp)", 0.3, 0.8),
    "gini": ("Gini impurity (1 - sum of squares) of the softmax", 0.3, 0.7),
}
"""What each is called, and the range of a baseline for it."""
Score = Callable[[tuple[Var, ...], Expr | int], Expr]


@idiom
def softmax_statistic(k: KernelBuilder, level: int) -> Title:
    """Row reductions through the shifted exponential, written stably."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    site = elements(k, {1: 3, 2: 2})
    cols = k.size("classes", 4, 7)
    form = shape.choice(sorted(_ROW_STATS))
    low, high = _score_range(k, form, type_)
    logits = k.array(
        ("logits", "scores", "energies"), type_, (*site.dims, cols), low=low, high=high
    )
    stat, low, high = _ROW_STATS[form]
    score, text = _scores(k, level, logits, type_)
    baseline = None
    if level >= 2 and shape.chance(0.6):
        names = ("baseline", "reference", "target")
        baseline = k.array(names, type_, site.dims, low=low, high=high)
    width = k.trip_count(("num_classes", "num_cols", "width"), cols)
    value = _reduced(k, form, lambda j: score(site.at, j), width)
    done = f"Compute the {stat} of each row of {text}, stably (subtract the row maximum before exp)"
    if baseline is not None:
        value = value - baseline[site.at]
        done += f", and subtract its entry of {baseline.name}"
    done += "." + write(k, level, site, ("out", "result", "row_stat"), value)
    name = k.name(f"row_{form}", f"{form}_rows", f"stable_{form}")
    return Title(name, done)


def _score_range(k: KernelBuilder, form: str, type_: Scalar) -> tuple[float, float]:
    """The range of scores: where a common shift changes nothing, often one in which exp overflows,
    so that only a kernel that subtracts the maximum gives numbers at all."""
    if form in ("logsumexp", "soft_maximum") or k.draw.value.chance(0.3):
        return -3.0, 3.0
    overflow = {"float64": 1150.0, "float32": 145.0}.get(type_.name)
    return (overflow, overflow + 6.0) if overflow else (-3.0, 3.0)


def _scores(k: KernelBuilder, level: int, logits: Var, type_: Scalar) -> tuple[Score, str]:
    """The score of a cell, perhaps biased and scaled; and what it is."""
    shape, prior, text = k.draw.shape, None, logits.name
    if shape.chance(0.15 if level < 3 else 0.5):
        prior = k.array(("bias", "log_prior", "offsets"), type_, "classes", low=-1.0, high=1.0)
        text = f"({text} + {prior.name} of the column)"
    how = shape.weighted({"plain": 2, "parameter": 2, "gain": 3, "temperature": 3})
    factor: Var | float = k.draw.value.choice((0.5, 0.7, 1.5, 2.0))
    if how == "parameter":
        factor = k.scalar(("beta", "inverse_temperature", "sharpness"), type_, 0.8, 1.2)
    shown = factor.name if isinstance(factor, Var) else factor
    if how != "plain":
        text = f"{text} / {shown}" if how == "temperature" else f"{shown} * {text}"

    def score(row: tuple[Var, ...], j: Expr | int) -> Expr:
        place: tuple[Operand, ...] = (*row, j)
        value: Expr = logits[place]
        value = value if prior is None else value + prior[j]
        if how == "plain":
            return value
        return value / factor if how == "temperature" else factor * value

    return score, text


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
