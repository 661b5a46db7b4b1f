"""Neural networks: activations, with a coefficient, bias, gate and residual."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.dtypes import Scalar
from generators.expr import Expr, Var
from generators.pieces import constant, helper
from generators.registry import Title
from generators.stages import refine

_Form = Callable[[Expr, float], Expr]


def _softplus(x: Expr) -> Expr:
    return fn("max", x, 0.0) + fn("log", 1.0 + fn("exp", -fn("abs", x)))


ACTIVATIONS: dict[str, tuple[str, float, float, _Form]] = {
    "sigmoid": (
        "the logistic sigmoid 1 / (1 + exp(-{a} * z))",
        0.5,
        2.5,
        lambda x, a: 1.0 / (1.0 + fn("exp", -a * x)),
    ),
    "softplus": (
        "softplus in the form max(z, 0) + log(1 + exp(-{a} * |z|)) / {a}",
        0.6,
        2.5,
        lambda x, a: fn("max", x, 0.0) + fn("log", 1.0 + fn("exp", -a * fn("abs", x))) / a,
    ),
    "swish": (
        "swish, z / (1 + exp(-{a} * z)),",
        0.5,
        2.5,
        lambda x, a: x / (1.0 + fn("exp", -a * x)),
    ),
    "gelu": (
        "the erf-gated unit {a} * z * (1 + erf(0.70710678 * z))",
        0.3,
        0.9,
        lambda x, a: a * x * (1.0 + fn("erf", x * 0.70710678)),
    ),
    "mish": (
        "scaled mish, {a} * z * tanh(max(z, 0) + log(1 + exp(-|z|))),",
        0.4,
        1.6,
        lambda x, a: a * x * fn("tanh", _softplus(x)),
    ),
    "elu": (
        "ELU with alpha {a}, {a} * (exp(z) - 1) where z is not positive,",
        0.2,
        1.8,
        lambda x, a: fn("where", x > 0.0, x, a * (fn("exp", x) - 1.0)),
    ),
    "hard_swish": (
        "hard swish, z * clamp({a} * z + 0.5, 0, 1),",
        0.15,
        0.6,
        lambda x, a: x * fn("clamp", a * x + 0.5, 0.0, 1.0),
    ),
    "softsign": (
        "softsign, z / ({a} + |z|),",
        0.4,
        2.5,
        lambda x, a: x / (a + fn("abs", x)),
    ),
    "tanh_shrink": (
        "tanh shrink, z - {a} * tanh(z),",
        0.3,
        1.6,
        lambda x, a: x - a * fn("tanh", x),
    ),
    "smooth_abs": (
        "the smooth absolute value sqrt(z * z + {a})",
        0.1,
        1.6,
        lambda x, a: fn("sqrt", x * x + a),
    ),
    "leaky_relu": (
        "leaky ReLU, {a} * z where z is not positive,",
        0.1,
        0.4,
        lambda x, a: fn("where", x > 0.0, x, a * x),
    ),
    "scaled_tanh": (
        "the scaled hyperbolic tangent {a} * tanh(2 / 3 * z)",
        0.6,
        2.2,
        lambda x, a: a * fn("tanh", 0.66666667 * x),
    ),
    "bent_identity": (
        "the bent identity z + {a} * (sqrt(z * z + 1) - 1)",
        0.2,
        0.9,
        lambda x, a: x + a * (fn("sqrt", x * x + 1.0) - 1.0),
    ),
    "arctan": ("atan({a} * z)", 0.4, 2.5, lambda x, a: fn("atan", a * x)),
}


def activation(k: KernelBuilder, level: int) -> Title:
    """A neural activation, at higher levels with bias, gate, residual and a helper function."""
    shape, type_ = k.draw.shape, k.draw.float_type()
    n = k.size("n", 48, 96)
    source = k.array(("x", "logits", "inputs", "features", "pre"), type_, n, low=-4.0, high=4.0)
    (i,) = k.thread(n)
    form = shape.choice(sorted(ACTIVATIONS))
    phrase, low, high, curve = ACTIVATIONS[form]
    a = constant(k, low, high)
    entry, text = _biased(k, level, source, i, type_)
    out = k.out(("out", "result", "dst", "output"), type_, n)
    signal = refine(k, entry, level, ("h", "u", "preact", "s"), scale=2.0)
    z = signal.value if isinstance(signal.value, Var) else k.let(("z", "h", "u"), signal.value)
    value = curve(z, a)
    if level >= 3 and shape.chance(0.5):
        value = k.call(helper(k, (form,), (("x", type_),), lambda _, x: curve(x, a)), z)
    done = f"Apply {phrase.format(a=a)} to z = {text}"
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
    form = k.draw.shape.choice(("none", "scalar", "literal", "array")[: 4 if level >= 2 else 3])
    if form == "none":
        return source[i], source.name
    if form == "literal":
        shift = constant(k, 0.1, 1.5)
        if k.draw.shape.chance(0.5):
            return source[i] + shift, f"{source.name} + {shift}"
        return source[i] - shift, f"{source.name} - {shift}"
    if form == "array":
        bias = k.array(("bias", "offsets"), type_, "n", low=-1.0, high=1.0)
        return source[i] + bias[i], f"{source.name} + {bias.name}"
    bias = k.scalar(("bias", "shift"), type_, -1.0, 1.0)
    return source[i] + bias, f"{source.name} + {bias.name}"
