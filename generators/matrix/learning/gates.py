"""Activations that layers of transformers fuse: into biases, gates and norms."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.kit.functions import erf, exp, tanh
from generators.program.expr import Expr, Var

_ROOT_HALF, _GELU_SCALE, _GELU_CUBE = 0.70710678, 0.7978845608, 0.044715

SAID = {
    "relu": "ReLU",
    "gelu": "GELU (z / 2 * (1 + erf(z / sqrt(2))))",
    "gelu_tanh": "GELU in its tanh form (z / 2 * (1 + tanh(0.7978845608 * (z + 0.044715 * z^3))))",
    "silu": "SiLU (z / (1 + exp(-z)))",
    "squared_relu": "the square of ReLU",
}
"""What a description calls each activation, the value it is applied to being z."""


def activated(k: KernelBuilder, way: str, x: Expr) -> Expr:
    """An activation, a key of :data:`SAID`, of a value."""
    if way == "relu":
        return fn("max", x, k.lift(0.0, x.type))
    if way == "squared_relu":
        kept = k.let("kept positive r", fn("max", x, k.lift(0.0, x.type)))
        return kept * kept
    held = x if isinstance(x, Var) else k.let("pre z u", x)
    if way == "gelu":
        return 0.5 * held * (1.0 + erf(_ROOT_HALF * held))
    if way == "gelu_tanh":
        inner = k.let("inner arg", _GELU_SCALE * (held + _GELU_CUBE * held * held * held))
        return 0.5 * held * (1.0 + tanh(inner))
    return held / (1.0 + exp(-held))
