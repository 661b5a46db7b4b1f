"""Activations: what a dense or windowed sum goes through before it is stored."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.dtypes import Type
from generators.expr import Expr, Var, op
from generators.pieces import fine, helper

Activation = Callable[[BodyBuilder, Expr], Expr]


def _leaky(slope: float) -> Activation:
    return lambda _, x: op("where", x > 0.0, x, slope * x)


def activated(k: KernelBuilder, level: int, value: Var) -> str:
    """Put a local through an activation, inline or in a helper; says which."""
    form = k.draw.shape.choice(("relu", "leaky", "sigmoid", "gelu", "swish", "branch"))
    slope = fine(k, 0.03, 0.4)
    if form == "branch":
        with k.if_(value < 0.0):
            k.augment(value, "mul", slope)
        return f" Negative values are multiplied by {slope}."
    names, build, text = {
        "relu": (("relu", "rectify"), lambda _, x: fn("max", x, 0.0), "max(t, 0)"),
        "leaky": (
            ("leaky_relu", "leak"),
            _leaky(slope),
            f"t where positive, {slope} * t elsewhere",
        ),
        "sigmoid": (("sigmoid", "logistic"), _sigmoid, "1 / (1 + exp(-t))"),
        "swish": (("swish", "silu"), lambda b, x: x * _sigmoid(b, x), "t / (1 + exp(-t))"),
        "gelu": (("gelu", "gelu_tanh"), _gelu, "gelu(t) in its tanh form"),
    }[form]
    if level >= 3 and k.draw.shape.chance(0.6):
        kinds: list[tuple[str, Type]] = [("x", value.type)]
        k.assign(value, k.call(helper(k, names, kinds, build), value))
    else:
        k.assign(value, build(k, value))
    return f" The value t becomes {text}."


def _sigmoid(_b: BodyBuilder, x: Expr) -> Expr:
    return 1.0 / (1.0 + fn("exp", -x))


def _gelu(b: BodyBuilder, x: Expr) -> Expr:
    inner = b.let(("inner", "arg"), 0.79788456 * (x + 0.044715 * x * x * x))
    return 0.5 * x * (1.0 + fn("tanh", inner))
