"""Neural networks: activations, with a coefficient, bias, gate and residual."""

from __future__ import annotations

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


@idiom
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
