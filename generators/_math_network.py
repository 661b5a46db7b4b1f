"""Neural networks: activations, and statistics of the softmax of each row."""

from __future__ import annotations

from collections.abc import Callable

from generators._vector_parts import helper, stored
from generators.build import KernelBuilder, fn
from generators.dtypes import Scalar
from generators.expr import Expr, Var
from generators.registry import Title
from generators.stages import refine

_Form = Callable[[Expr], Expr]


def _softplus(x: Expr) -> Expr:
    return fn("max", x, 0.0) + fn("log", 1.0 + fn("exp", -fn("abs", x)))


ACTIVATIONS: dict[str, tuple[str, _Form]] = {
    "sigmoid": ("the logistic sigmoid", lambda x: 1.0 / (1.0 + fn("exp", -x))),
    "softplus": ("softplus, log(1 + exp(x)) in its form safe from overflow,", _softplus),
    "swish": ("swish, x / (1 + exp(-x)),", lambda x: x / (1.0 + fn("exp", -x))),
    "gelu": ("the exact GELU (by erf)", lambda x: 0.5 * x * (1.0 + fn("erf", x * 0.70710678))),
    "mish": ("mish, x * tanh(softplus(x)),", lambda x: x * fn("tanh", _softplus(x))),
    "elu": ("ELU with alpha 1", lambda x: fn("where", x > 0.0, x, fn("exp", x) - 1.0)),
    "hard_swish": (
        "hard swish, x * clamp(x + 3, 0, 6) / 6,",
        lambda x: x * fn("clamp", x + 3.0, 0.0, 6.0) / 6.0,
    ),
    "softsign": ("softsign, x / (1 + |x|),", lambda x: x / (1.0 + fn("abs", x))),
    "tanh_shrink": ("tanh shrink, x - tanh(x),", lambda x: x - fn("tanh", x)),
    "smooth_abs": (
        "the smooth absolute value sqrt(x * x + 1) - 1",
        lambda x: fn("sqrt", x * x + 1.0) - 1.0,
    ),
}


def activation(k: KernelBuilder, level: int) -> Title:
    """A neural activation, at higher levels with bias, gate, residual and a helper function."""
    shape, type_ = k.draw.shape, k.draw.float_type()
    n = k.size("n", 48, 96)
    source = k.array(("x", "logits", "inputs", "features", "pre"), type_, n, low=-4.0, high=4.0)
    (i,) = k.thread(n)
    form = shape.choice(sorted(ACTIVATIONS))
    phrase, apply = ACTIVATIONS[form]
    entry, text = _biased(k, level, source, i, type_)
    out = k.out(("out", "result", "dst", "output"), type_, n)
    signal = refine(k, entry, level, ("h", "u", "preact", "s"), scale=2.0)
    z = signal.value if isinstance(signal.value, Var) else k.let(("z", "h", "u"), signal.value)
    value = apply(z)
    if level >= 3 and shape.chance(0.5):
        value = k.call(helper(k, (form,), (("x", type_),), lambda _, x: apply(x)), z)
    done = f"Apply {phrase} to {text}"
    done += f", which is first {signal.phrase}." if signal.phrase else "."
    if level >= 3 and shape.chance(0.5):
        gate = k.array(("gate", "gates"), type_, n, low=-3.0, high=3.0)
        value = value / (1.0 + fn("exp", -gate[i]))
        done += f" Multiply the result by the logistic sigmoid of {gate.name}."
    if level >= 4 and shape.chance(0.5):
        value = z + value
        done += " Add the argument of the activation as a residual."
    k.store(out, i, value)
    return Title(k.name(f"{form}_forward", f"apply_{form}", f"{form}_activation"), done)


def _biased(k: KernelBuilder, level: int, source: Var, i: Var, type_: Scalar) -> tuple[Expr, str]:
    """An input with or without a bias, and what it is."""
    form = k.draw.shape.choice(("none", "array", "scalar") if level >= 2 else ("none", "scalar"))
    if form == "none":
        return source[i], source.name
    if form == "array":
        bias = k.array(("bias", "offsets"), type_, "n", low=-1.0, high=1.0)
        return source[i] + bias[i], f"{source.name} + {bias.name}"
    bias = k.scalar(("bias", "shift"), type_, -1.0, 1.0)
    return source[i] + bias, f"{source.name} + {bias.name}"


_ROW_STATS = {
    "logsumexp": ("log-sum-exp", 1.5, 3.5),
    "entropy": ("entropy (natural log) of the softmax", 0.4, 1.6),
    "soft_maximum": ("mean, weighted by the softmax,", 0.5, 2.5),
}


def softmax_statistic(k: KernelBuilder, level: int) -> Title:
    """Row reductions through the shifted exponential, written stably."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    rows, cols = k.size("rows", 48, 80), k.size("cols", 4, 7)
    logits = k.array(("logits", "scores", "energies"), type_, (rows, cols), low=-3.0, high=3.0)
    form = shape.choice(sorted(_ROW_STATS))
    stat, low, high = _ROW_STATS[form]
    score, text = _scores(k, level, logits, type_)
    baseline = None
    if level >= 2:
        baseline = k.array(("baseline", "reference", "target"), type_, rows, low=low, high=high)
    width = k.size_param(("num_classes", "num_cols", "width"), cols)
    out = k.out(("out", "result", "row_stat"), type_, rows)
    (r,) = k.thread(rows, names=(k.draw.word.choice(("row", "r", "i")),))
    value = _reduced(k, form, lambda j: score(r, j), width)
    done = f"Compute the {stat} of each row of {text}, stably (subtract the row maximum before exp)"
    if baseline is not None:
        value = value - baseline[r]
        done += f", and subtract its entry of {baseline.name}"
    signal = refine(k, value, level, ("value", "response", "shaped", "adjusted", "v"))
    k.store(out, r, signal.value)
    name = k.name(f"row_{form}", f"{form}_rows", f"stable_{form}")
    return Title(name, f"{done}.{stored(signal)}")


def _scores(
    k: KernelBuilder, level: int, logits: Var, type_: Scalar
) -> tuple[Callable[[Var, Expr | int], Expr], str]:
    """The score of a cell, perhaps with a bias for its column and a factor, and what it is."""
    beta = prior = None
    text = logits.name
    if level >= 3 and k.draw.shape.chance(0.5):
        prior = k.array(("bias", "log_prior", "offsets"), type_, "cols", low=-1.0, high=1.0)
        text = f"{text} + {prior.name} (one for each column)"
    if k.draw.shape.chance(0.5):
        beta = k.scalar(("beta", "inverse_temperature", "sharpness"), type_, 0.8, 1.2)
        text = f"{beta.name} * ({text})" if prior is not None else f"{beta.name} * {text}"

    def score(r: Var, j: Expr | int) -> Expr:
        value: Expr = logits[r, j] if prior is None else logits[r, j] + prior[j]
        return value if beta is None else beta * value

    return score, text


def _reduced(k: KernelBuilder, form: str, score: Callable[[Expr | int], Expr], width: Var) -> Expr:
    """The statistic of a row of scores, in one loop for the maximum and one for the sums."""
    top = k.let(("top", "largest", "peak"), score(0))
    with k.for_(("j", "c", "col"), width, start=1) as j:
        k.assign(top, fn("max", top, score(j)))
    total = k.let(("total", "denom", "partition"), k.lift(0.0, top.type))
    moment = None if form == "logsumexp" else k.let(("moment", "mass"), k.lift(0.0, top.type))
    k.used.discard(j.name)
    with k.for_(j.name, width) as j:
        if moment is None:
            k.augment(total, "add", fn("exp", score(j) - top))
        else:
            shifted = k.let(("shifted", "delta"), score(j) - top)
            weight = k.let(("e", "w"), fn("exp", shifted))
            k.augment(total, "add", weight)
            k.augment(moment, "add", weight * shifted)
    if moment is None:
        return top + fn("log", total)
    mean = moment / total
    return fn("log", total) - mean if form == "entropy" else top + mean
