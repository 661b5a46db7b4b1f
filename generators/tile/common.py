"""What the idioms of tiles share: sizes of tiles and blocks, and functions of each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.tiles import applied, each, load
from generators.kit.functions import exp, log, sqrt
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var


def width(k: KernelBuilder) -> int:
    """Elements of a tile of one axis."""
    return k.draw.shape.weighted({64: 4, 128: 4, 256: 1})


def threads(k: KernelBuilder, elements: int) -> int:
    """Threads of a block, no more than a tile has elements."""
    return k.draw.shape.choice([n for n in (32, 64, 128, 256) if n <= elements])


@dataclass(frozen=True)
class Shape:
    """A function of one number: names, what it is in words, and its formula."""

    names: str
    words: str
    build: Callable[[BodyBuilder, Var], Expr]


def _gelu(_: BodyBuilder, x: Var) -> Expr:
    return 0.5 * x * (1.0 + fn("tanh", 0.7978846 * (x + 0.044715 * x * x * x)))


def _elu(_: BodyBuilder, x: Var) -> Expr:
    return fn("where", x > 0.0, x, exp(x) - 1.0)


SHAPES = (
    Shape("relu rectify", "max(v, 0)", lambda _, x: fn("max", x, 0.0)),
    Shape("leaky_relu leaky", "v where v > 0, else 0.1 v", lambda _, x: fn("max", x, 0.1 * x)),
    Shape("silu swish", "v / (1 + exp(-v))", lambda _, x: x / (1.0 + exp(-x))),
    Shape("sigmoid logistic", "1 / (1 + exp(-v))", lambda _, x: 1.0 / (1.0 + exp(-x))),
    Shape("softplus", "log(1 + exp(v))", lambda _, x: log(1.0 + exp(x))),
    Shape("gelu", "0.5 v (1 + tanh(0.7978846 (v + 0.044715 v^3)))", _gelu),
    Shape("elu", "v where v > 0, else exp(v) - 1", _elu),
    Shape("soft_sign squash", "v / (1 + |v|)", lambda _, x: x / (1.0 + fn("abs", x))),
    Shape("bump bell", "exp(-v^2)", lambda _, x: exp(-(x * x))),
    Shape("lorentz falloff", "1 / (1 + v^2)", lambda _, x: 1.0 / (1.0 + x * x)),
    Shape("soft_abs smooth_abs", "sqrt(v^2 + 0.01)", lambda _, x: sqrt(x * x + 0.01)),
)
BUILTINS = {"exp": "exp(v)", "tanh": "tanh(v)", "sin": "sin(v)", "cos": "cos(v)", "abs": "|v|"}


def function_of(k: KernelBuilder, value: Expr, only: str = "") -> tuple[Expr, str]:
    """A function of each element and what it is of ``v`` in words: a helper's, or one of Warp's;
    ``only`` names helpers to draw from."""
    if not only and k.draw.shape.chance(0.35):
        op = k.draw.shape.choice(list(BUILTINS))
        return each(op, value), BUILTINS[op]
    shape = k.draw.shape.choice(
        [s for s in SHAPES if not only or s.names.split()[0] in only.split()]
    )
    name = helper(k, shape.names, [(k.draw.word.choice("xvu"), FLOAT32)], shape.build)
    return applied(k, name, value), shape.words


def scaled(k: KernelBuilder, value: Expr) -> tuple[Expr, str]:
    """A tile times a parameter or a literal, and that factor in words."""
    if k.draw.shape.chance(0.6):
        factor = k.scalar("scale alpha gain", FLOAT32, low=0.5, high=2.0)
        return each("mul", value, factor), factor.name
    number = k.draw.value.choice(("0.25", "0.5", "1.5", "2.0", "3.0"))
    return each("mul", value, float(number)), number


MONOTONE = "leaky_relu softplus elu soft_sign sigmoid"


def steps(k: KernelBuilder, level: int, value: Var, only: str = "") -> tuple[Var, str]:
    """A few functions of each element, one after the other, more of them at higher levels.

    ``only`` as :func:`function_of` has it. Gives the tile and clauses on ``v``, an element of what
    it was.
    """
    count = {1: 0, 2: 1, 3: 1, 4: 2, 5: 2}[level] + k.draw.shape.integer(0, 1)
    said: list[str] = []
    for turn in range(count):
        if turn % 2 == 0:
            after, words = function_of(k, value, only)
            said.append(f"replaces each element v of it by {words}")
        else:
            after, words = scaled(k, value)
            said.append(f"multiplies each by {words}")
        value = k.let("y z u w h", after)
    return value, "".join(f", {text}" for text in said)


def row_source(k: KernelBuilder, names: str, m: str, size: int) -> Var:
    """An array of rows of so many elements."""
    return k.array(names, FLOAT32, (m, str(size)), low=-2.0, high=2.0)


def row_of(k: KernelBuilder, names: str, array: Var, i: Var, size: int) -> Var:
    """One row of an array as a tile."""
    return k.let(names, load(array, (i, 0), size))
