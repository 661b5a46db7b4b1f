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


_CALLED = {"gelu": "GELU", "gelu_tanh": "Tanh-approximated GELU", "elu": "ELU"}
_CALLED["leaky_relu"] = "Leaky ReLU"


@idiom(depth=3)
def activation(k: KernelBuilder, level: int) -> Title:
    """A neural activation, at higher levels with bias, gate, residual and a helper function."""
    shape, type_ = k.draw.shape, k.draw.float_type()
    s, card = launch(k, list=2, grid=3, cube=2), shape.choice(_ACTIVATION.cards)
    entry = _biased(s, level, s.read("x logits inputs features pre", type_, -4.0, 4.0))
    values = {
        key: _COEFFICIENTS[key].given(s, type_, literal=int(key == "leak"), shared=1)
        for key in card.keys[1:]
    }
    plain = say(k, entry)
    told = card.said({"z": "z", **{key: say(k, value) for key, value in values.items()}})
    called = _CALLED.get(card.name, card.name.replace("_", " ").capitalize())
    done = f"{called} activation of z = {plain}, {told}."
    values["z"] = k.let("z", entry)
    if level >= 4 and shape.chance(0.5):
        done += f" {s.put('pre_out saved_z preact', values['z']).name} gets z."
    value = evaluated(k, 0.0 if level < 3 else 0.5, card, values)
    if level >= 3 and shape.chance(0.6):
        up = s.read("up up_proj", type_, -2.0, 2.0)
        value = value * up
        done += f" It is multiplied by {say(k, up)}, as in a gated linear unit."
    elif level >= 3 and shape.chance(0.4):
        skip = s.read("residual skip shortcut", type_, -1.0, 1.0)
        value = skip + value
        done += f" {say(k, skip)} is added as a residual."
    done += deliver(s, level, "out activated output", value, blends=False)
    name = card.name
    return Title(k.name(f"{name}_forward", f"apply_{name}", f"{name}_activation"), done)


def _biased(s: Site, level: int, entry: Expr) -> Expr:
    """An input with or without a bias, and with a scale."""
    forms = ("none", "none", "bias", "affine")
    form = s.k.draw.shape.choice(forms[level >= 3 : 4 if level >= 2 else 3])
    if form == "none" or s.rank == 1:
        return entry
    bias = given(s, "bias", entry.type, -1.0, 1.0, many="bias", forms={"last": 1})
    if form != "affine":
        return entry + bias
    return given(s, "scale", entry.type, 0.5, 1.5, many="scale", last=1) * entry + bias


Score = Callable[[Expr | int], Expr]


_STATISTICS = {
    "logsumexp": "Log-sum-exp",
    "entropy": "Entropy of the softmax, in nats,",
    "entropy_bits": "Entropy of the softmax, in bits (nats times 1.442695),",
    "soft_maximum": "Mean score under the softmax",
    "confidence": "Largest probability of the softmax (1 / sum of exp)",
    "gini": "Gini impurity of the softmax (1 - sum of squares)",
}
"""What each is called."""
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
    statistic = _STATISTICS[form]
    score, text = _scores(s, level, form, type_)
    done = f"{statistic} of each row of {text}; the row's maximum is subtracted before exp."
    value = _reduced(k, form, score, k.size_param("num_classes width", "classes"))
    outs = {"logsumexp": "lse log_sum_exp", "soft_maximum": "soft_max expected_score"}
    outs |= {"gini": "impurity gini_out", "confidence": "confidence max_prob"}
    done += f" {s.put(outs.get(form, 'entropy_out entropies'), value).name} gets the result."
    words = {"soft_maximum": "expected_score", "gini": "gini_impurity", "confidence": "max_prob"}
    name = words.get(form, form if "entropy" not in form else f"softmax_{form}")
    return Title(k.name(f"row_{name}", f"{name}_rows", f"{name}_kernel"), done)


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
    logits = s.array("logits scores", type_, low, high, more="classes")
    text = logits.name
    if shape.chance(0.15 if level < 3 else 0.5):
        prior = k.array("bias class_bias log_prior", type_, "classes", low=-1.0, high=1.0)
        text = f"{text} + {prior.name} (one of each class)"
    how = shape.weighted({"plain": 3, "parameter": 2, "temperature": 2})
    factor: Expr = k.lift(1.0, type_)
    if how == "parameter":
        factor = k.scalar("beta inv_temperature", type_, 0.8, 1.2)
    elif how == "temperature":
        factor = k.scalar("temperature tau", type_, 0.8, 1.2)
    shown = say(k, factor)
    if how != "plain":
        text = f"({text})" if prior is not None else text
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
