"""Neural networks: activations with bias, gate and residual, and statistics of the softmax."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import ROOT_HALF, atan, clamp, erf, exp, log, most, sqrt, tanh, where
from generators.kit.naming import evaluated
from generators.kit.outputs import deliver
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.math.cards import quantity
from generators.program.dtypes import Scalar
from generators.program.expr import Expr

_COEFFICIENTS = {
    "beta": quantity("beta slope", "betas slopes", 0.5, 2.5, 1.702, 2.0, 0.5),
    "sharp": quantity("beta sharpness", "betas sharpness_in", 0.6, 2.5, 2.0, 0.5, 1.5),
    "alpha": quantity("alpha scale", "alphas scales", 0.2, 1.8, 1.5, 0.5, 1.6732632),
    "knee": quantity("scale knee", "scales knees", 0.4, 2.5, 0.5, 2.0),
    "limit": quantity("lambd threshold", "lambdas thresholds", 0.2, 1.0, 0.5, 0.25),
    "leak": quantity("slope alpha", "slopes alphas", 0.1, 0.4, 0.01, 0.1, 0.2),
    "gain": quantity("alpha gain", "alphas gains", 0.4, 2.5, 2.0, 0.5),
}
_ACTIVATION = Shelf()


def _softplus(z: Expr) -> Expr:
    return most(z, 0.0) + log(1.0 + exp(-abs(z)))


def _cubic(z: Expr) -> Expr:
    return 0.79788456 * (z + 0.044715 * z * z * z)


_ACTIVATION.add("sigmoid", "", lambda z, beta: 1.0 / (1.0 + exp(-beta * z)))
_ACTIVATION.add(
    "softplus", "", lambda z, sharp: most(z, 0.0) + log(1.0 + exp(-sharp * abs(z))) / sharp
)
_ACTIVATION.add("swish", "", lambda z, beta: z / (1.0 + exp(-beta * z)))
_ACTIVATION.add("gelu", "", lambda z: 0.5 * z * (1.0 + erf(z * ROOT_HALF)))
_ACTIVATION.add("gelu_tanh", "", lambda z: 0.5 * z * (1.0 + tanh(_cubic(z))))
_ACTIVATION.add("mish", "", lambda z: z * tanh(_softplus(z)))
_ACTIVATION.add("elu", "", lambda z, alpha: where(z > 0.0, z, alpha * (exp(z) - 1.0)))
_ACTIVATION.add("hard_swish", "", lambda z: z * clamp(z / 6.0 + 0.5, 0.0, 1.0))
_ACTIVATION.add("softsign", "", lambda z, knee: z / (knee + abs(z)))
_ACTIVATION.add("tanh_shrink", "", lambda z: z - tanh(z))
_ACTIVATION.add("soft_shrink", "", lambda z, limit: fn("sign", z) * most(abs(z) - limit, 0.0))
_ACTIVATION.add("leaky_relu", "", lambda z, leak: where(z > 0.0, z, leak * z))
_ACTIVATION.add("scaled_tanh", "", lambda z: 1.7159 * tanh(0.66666667 * z))
_ACTIVATION.add("bent_identity", "", lambda z: z + 0.5 * (sqrt(z * z + 1.0) - 1.0))
_ACTIVATION.add("arctan", "", lambda z, gain: atan(gain * z))


@idiom(depth=3)
def activation(k: KernelBuilder, level: int) -> Title:
    """A neural activation, at higher levels with bias, gate, residual and a helper function."""
    shape, type_ = k.draw.shape, k.draw.float_type()
    s, card = launch(k), shape.choice(_ACTIVATION.cards)
    entry = _biased(s, level, s.read("x logits inputs features pre", type_, -4.0, 4.0))
    done = f"With z = {say(k, entry)}, compute {card.name.replace('_', ' ')}, "
    values = {
        key: _COEFFICIENTS[key].given(s, type_, literal=2, shared=3, last=1 if level == 1 else 2)
        for key in card.keys[1:]
    }
    done += card.said({"z": "z", **{key: say(k, value) for key, value in values.items()}}) + "."
    values["z"] = k.let("z h u", entry)
    if level >= 4 and shape.chance(0.5):
        done += f" {s.put('pre_out saved_z preact', values['z']).name} gets z."
    value = evaluated(k, 0.0 if level < 3 else 0.5, card, values)
    if level >= 3 and shape.chance(0.5):
        gate = s.read("gate gates", type_, -3.0, 3.0)
        value = value / (1.0 + exp(-gate))
        done += f" Multiply it by the logistic sigmoid of {say(k, gate)}."
    if level >= 3 and shape.chance(0.4):
        skip = s.read("residual skip shortcut", type_, -1.0, 1.0)
        value = skip + value
        done += f" Add {say(k, skip)}."
    done += deliver(s, level, "out result dst output", value, blends=False)
    name = card.name
    return Title(k.name(f"{name}_forward", f"apply_{name}", f"{name}_activation"), done)


def _biased(s: Site, level: int, entry: Expr) -> Expr:
    """An input with or without a bias, and with a scale."""
    forms = ("none", "shared", "last", "scale")
    form = s.k.draw.shape.choice(forms[level >= 4 : 4 if level >= 2 else 3])
    if form == "none":
        return entry
    way = {"shared" if form == "shared" else "last": 1}
    bias = given(s, "bias shift", entry.type, -1.0, 1.0, many="bias offsets", forms=way)
    if form != "scale":
        return entry + bias
    return given(s, "scale", entry.type, 0.5, 1.5, many="scales gamma", last=1) * entry + bias


Score = Callable[[Expr | int], Expr]


_STATISTICS = {
    "logsumexp": ("log-sum-exp", 1.5, 3.5),
    "entropy": ("entropy (natural log) of the softmax", 0.4, 1.6),
    "entropy_bits": ("entropy of the softmax in bits (nats times 1.442695)", 0.8, 2.2),
    "soft_maximum": ("mean, weighted by the softmax,", 0.5, 2.5),
    "confidence": ("largest softmax probability (1 / sum of exp)", 0.3, 0.8),
    "gini": ("Gini impurity (1 - sum of squares) of the softmax", 0.3, 0.7),
}
"""What each is called, and the range of a baseline for it."""
_VALUES: dict[str, Callable[[Expr, Expr, Expr], Expr]] = {
    "logsumexp": lambda top, total, _: top + log(total),
    "entropy": lambda _, total, moment: log(total) - moment / total,
    "entropy_bits": lambda _, total, moment: 1.442695 * (log(total) - moment / total),
    "soft_maximum": lambda top, total, moment: top + moment / total,
    "confidence": lambda _, total, __: 1.0 / total,
    "gini": lambda _, total, moment: 1.0 - moment / (total * total),
}
"""Each from the row's maximum, the sum of exponentials and their moment."""
_MOMENTS = {"logsumexp": "", "confidence": "", "gini": "squares concentration"}
"""Names of the moment: of squares, none, or of exponentials times shifted scores."""


@idiom(depth=2)
def softmax_statistic(k: KernelBuilder, level: int) -> Title:
    """Row reductions through the shifted exponential, written stably."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=3, grid=2)
    k.size("classes", 4, 7)
    form = shape.choice(sorted(_STATISTICS))
    statistic, low, high = _STATISTICS[form]
    score, text = _scores(s, level, form, type_)
    done = f"Compute the {statistic} of each row of {text}, stably (subtract the row maximum "
    done += "before exp)"
    baseline = None
    if level >= 2 and shape.chance(0.6):
        baseline = s.read("baseline reference target", type_, low, high)
        done += f", and subtract its entry of {say(k, baseline)}"
    value = _reduced(k, form, score, k.trip_count("num_classes num_cols width", "classes"))
    value = value if baseline is None else value - baseline
    done += "." + deliver(s, level, "out result row_stat", value)
    return Title(k.name(f"row_{form}", f"{form}_rows", f"stable_{form}"), done)


def _score_range(k: KernelBuilder, form: str, type_: Scalar) -> tuple[float, float]:
    """The range of scores: where a common shift changes nothing, often one in which exp overflows,
    so that only a kernel that subtracts the maximum gives numbers at all."""
    if form in ("logsumexp", "soft_maximum") or k.draw.value.chance(0.3):
        return -3.0, 3.0
    overflow = {"float64": 1150.0, "float32": 145.0}.get(type_.name)
    return (overflow, overflow + 6.0) if overflow else (-3.0, 3.0)


def _scores(s: Site, level: int, form: str, type_: Scalar) -> tuple[Score, str]:
    """The score of a cell, perhaps biased and scaled; and what it is."""
    k, shape, prior = s.k, s.k.draw.shape, None
    low, high = _score_range(k, form, type_)
    logits = s.array("logits scores energies", type_, low, high, more="classes")
    text = logits.name
    if shape.chance(0.15 if level < 3 else 0.5):
        prior = k.array("bias log_prior offsets", type_, "classes", low=-1.0, high=1.0)
        text = f"({text} + {prior.name} of the column)"
    how = shape.weighted({"plain": 2, "parameter": 2, "gain": 3, "temperature": 3})
    factor = k.lift(k.draw.value.choice((0.5, 0.7, 1.5, 2.0)), type_)
    if how == "parameter":
        factor = k.scalar("beta inverse_temperature sharpness", type_, 0.8, 1.2)
    shown = say(k, factor)
    if how != "plain":
        text = f"{text} / {shown}" if how == "temperature" else f"{shown} * {text}"

    def score(j: Expr | int) -> Expr:
        value: Expr = logits[s.index(j)]
        value = value if prior is None else value + prior[j]
        if how == "plain":
            return value
        return value / factor if how == "temperature" else factor * value

    return score, text


def _reduced(k: KernelBuilder, form: str, score: Score, width: Expr) -> Expr:
    """The statistic of a row of scores, in one loop for the maximum and one for the sums."""
    names = _MOMENTS.get(form, "moment mass")
    top = k.let("top largest peak", score(0))
    with k.for_("j c col", width, start=1) as j:
        k.assign(top, fn("max", top, score(j)))
    total = k.let("total denom partition", k.lift(0.0, top.type))
    moment = k.let(names, k.lift(0.0, top.type)) if names else total
    k.used.discard(j.name)
    with k.for_(j.name, width) as j:
        shifted: Expr = score(j) - top
        if not names:
            k.augment(total, "add", exp(shifted))
        else:
            shifted = shifted if form == "gini" else k.let("shifted delta", shifted)
            weight = k.let("e w", exp(shifted))
            k.augment(total, "add", weight)
            k.augment(moment, "add", weight * (weight if form == "gini" else shifted))
    return _VALUES[form](top, total, moment)
