"""Neural networks: activations, with a coefficient, bias, gate and residual."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import Site, elements, write
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var


class Activation(NamedTuple):
    """What is computed of z with a coefficient: its text, the coefficient's names, usual values
    and range, and the formula. Without names there is no coefficient."""

    text: str
    names: str
    usual: tuple[float, ...]
    low: float
    high: float
    build: Callable[[Expr, Operand], Expr]


def _softplus(x: Expr) -> Expr:
    return fn("max", x, 0.0) + fn("log", 1.0 + fn("exp", -fn("abs", x)))


def _gelu_tanh(x: Expr) -> Expr:
    return 0.5 * x * (1.0 + fn("tanh", 0.79788456 * (x + 0.044715 * x * x * x)))


ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": Activation(
        "1 / (1 + exp(-{a} * z))",
        "beta slope",
        (1.702, 2.0, 0.5),
        0.5,
        2.5,
        lambda x, a: 1.0 / (1.0 + fn("exp", -a * x)),
    ),
    "softplus": Activation(
        "max(z, 0) + log(1 + exp(-{a} * |z|)) / {a}",
        "beta sharpness",
        (2.0, 0.5, 1.5),
        0.6,
        2.5,
        lambda x, a: fn("max", x, 0.0) + fn("log", 1.0 + fn("exp", -a * fn("abs", x))) / a,
    ),
    "swish": Activation(
        "z / (1 + exp(-{a} * z))",
        "beta slope",
        (1.702, 1.5, 2.0),
        0.5,
        2.5,
        lambda x, a: x / (1.0 + fn("exp", -a * x)),
    ),
    "gelu": Activation(
        "0.5 * z * (1 + erf(z / sqrt(2)))",
        "",
        (),
        0.0,
        0.0,
        lambda x, _: 0.5 * x * (1.0 + fn("erf", x * 0.70710678)),
    ),
    "gelu_tanh": Activation(
        "0.5 * z * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 * z^3)))",
        "",
        (),
        0.0,
        0.0,
        lambda x, _: _gelu_tanh(x),
    ),
    "mish": Activation(
        "z * tanh(max(z, 0) + log(1 + exp(-|z|)))",
        "",
        (),
        0.0,
        0.0,
        lambda x, _: x * fn("tanh", _softplus(x)),
    ),
    "elu": Activation(
        "z where z > 0, else {a} * (exp(z) - 1)",
        "alpha scale",
        (1.5, 0.5, 1.6732632),
        0.2,
        1.8,
        lambda x, a: fn("where", x > 0.0, x, a * (fn("exp", x) - 1.0)),
    ),
    "hard_swish": Activation(
        "z * clamp(z / 6 + 0.5, 0, 1)",
        "",
        (),
        0.0,
        0.0,
        lambda x, _: x * fn("clamp", x / 6.0 + 0.5, 0.0, 1.0),
    ),
    "softsign": Activation(
        "z / ({a} + |z|)", "scale knee", (0.5, 2.0), 0.4, 2.5, lambda x, a: x / (a + fn("abs", x))
    ),
    "tanh_shrink": Activation("z - tanh(z)", "", (), 0.0, 0.0, lambda x, _: x - fn("tanh", x)),
    "soft_shrink": Activation(
        "max(|z| - {a}, 0) with the sign of z",
        "lambd threshold",
        (0.5, 0.25),
        0.2,
        1.0,
        lambda x, a: fn("sign", x) * fn("max", fn("abs", x) - a, 0.0),
    ),
    "leaky_relu": Activation(
        "z where z > 0, else {a} * z",
        "slope alpha",
        (0.01, 0.1, 0.2),
        0.1,
        0.4,
        lambda x, a: fn("where", x > 0.0, x, a * x),
    ),
    "scaled_tanh": Activation(
        "1.7159 * tanh(2 / 3 * z)",
        "",
        (),
        0.0,
        0.0,
        lambda x, _: 1.7159 * fn("tanh", 0.66666667 * x),
    ),
    "bent_identity": Activation(
        "z + (sqrt(z * z + 1) - 1) / 2",
        "",
        (),
        0.0,
        0.0,
        lambda x, _: x + 0.5 * (fn("sqrt", x * x + 1.0) - 1.0),
    ),
    "arctan": Activation(
        "atan({a} * z)", "alpha gain", (2.0, 0.5), 0.4, 2.5, lambda x, a: fn("atan", a * x)
    ),
}


@idiom
def activation(k: KernelBuilder, level: int) -> Title:
    """A neural activation, at higher levels with bias, gate, residual and a helper function."""
    shape, type_ = k.draw.shape, k.draw.float_type()
    site = elements(k)
    names = ("x", "logits", "inputs", "features", "pre")
    source = k.array(names, type_, site.dims, low=-4.0, high=4.0)
    form = shape.choice(sorted(ACTIVATIONS))
    entry, text = _biased(k, level, source, site, type_)
    a, a_text = _coefficient(k, level, ACTIVATIONS[form], site, type_)
    z = k.let(("z", "h", "u"), entry)
    done = f"With z = {text}, compute {form.replace('_', ' ')}, "
    done += f"{ACTIVATIONS[form].text.format(a=a_text)}."
    if level >= 4 and shape.chance(0.5):
        kept = k.out(("pre_out", "saved_z", "preact"), type_, site.dims)
        k.store(kept, site.at, z)
        done += f" {kept.name} gets z."
    value = _curve(k, level, form, z, a)
    if level >= 3 and shape.chance(0.5):
        gate = k.array(("gate", "gates"), type_, site.dims, low=-3.0, high=3.0)
        value = value / (1.0 + fn("exp", -gate[site.at]))
        done += f" Multiply it by the logistic sigmoid of {gate.name}."
    if level >= 3 and shape.chance(0.4):
        skip = k.array(("residual", "skip", "shortcut"), type_, site.dims, low=-1.0, high=1.0)
        value = skip[site.at] + value
        done += f" Add {skip.name}."
    done += write(k, level, site, ("out", "result", "dst", "output"), value, blends=False)
    return Title(k.name(f"{form}_forward", f"apply_{form}", f"{form}_activation"), done)


def _curve(k: KernelBuilder, level: int, form: str, z: Var, a: Operand) -> Expr:
    """The activation, inline or at higher levels by a helper."""
    build, type_ = ACTIVATIONS[form].build, z.type
    if level < 3 or k.draw.shape.chance(0.5):
        return build(z, a)
    if isinstance(a, Expr):
        params = (("x", type_), ("a", type_))
        return k.call(helper(k, (form,), params, lambda _, x, by: build(x, by)), z, a)
    return k.call(helper(k, (form,), (("x", type_),), lambda _, x: build(x, a)), z)


def _coefficient(
    k: KernelBuilder, level: int, form: Activation, site: Site, type_: Scalar
) -> tuple[Operand, str]:
    """A usual value, a parameter, or one by channel; and its text."""
    if not form.names:
        return 0.0, ""
    how = k.draw.shape.weighted({"usual": 2, "scalar": 3, "channel": 1 if level == 1 else 2})
    if how == "usual":
        value = k.draw.value.choice(form.usual)
        return value, str(value)
    names = tuple(form.names.split())
    if how == "scalar":
        scalar = k.scalar(names, type_, form.low, form.high)
        return scalar, scalar.name
    array = k.array(
        [f"{name}s" for name in names], type_, site.dims[-1:], low=form.low, high=form.high
    )
    return array[site.at[-1]], f"{array.name}[{site.at[-1].name}]"


def _biased(
    k: KernelBuilder, level: int, source: Var, site: Site, type_: Scalar
) -> tuple[Expr, str]:
    """An input with or without a bias, and what it is."""
    forms = ("none", "scalar", "channel", "scale")
    form = k.draw.shape.choice(forms[level >= 4 : 4 if level >= 2 else 3])
    entry = source[site.at]
    if form == "none":
        return entry, source.name
    if form == "scalar":
        bias = k.scalar(("bias", "shift"), type_, -1.0, 1.0)
        return entry + bias, f"{source.name} + {bias.name}"
    last = site.at[-1]
    offsets = k.array(("bias", "offsets"), type_, site.dims[-1:], low=-1.0, high=1.0)
    text = f"{source.name} + {offsets.name}[{last.name}]"
    if form == "channel":
        return entry + offsets[last], text
    scales = k.array(("scales", "gamma"), type_, site.dims[-1:], low=0.5, high=1.5)
    return scales[last] * entry + offsets[last], f"{scales.name}[{last.name}] * {text}"
