"""What the idioms of tiles share: sizes of tiles and blocks, and functions of each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.tiles import applied, each, load
from generators.kit.functions import exp
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
    Shape("gelu", "0.5 v (1 + tanh(0.7978846 (v + 0.044715 v^3)))", _gelu),
    Shape("elu", "v where v > 0, else exp(v) - 1", _elu),
)


def function_of(k: KernelBuilder, value: Expr, only: str) -> tuple[Expr, str]:
    """An activation of each element by a helper, and what it is of ``v`` in words; ``only`` names
    those to draw from."""
    shape = k.draw.shape.choice([s for s in SHAPES if s.names.split()[0] in only.split()])
    name = helper(k, shape.names, [(k.draw.word.choice("xvu"), FLOAT32)], shape.build)
    called = shape.names.split()[0].replace("_", " ")
    return applied(k, name, value), f"{_CALLED.get(called, called)}, {shape.words}"


_CALLED = {"relu": "ReLU", "leaky relu": "leaky ReLU", "silu": "SiLU", "gelu": "GELU", "elu": "ELU"}


def scaled(k: KernelBuilder, value: Expr, names: str = "scale alpha") -> tuple[Expr, str]:
    """A tile times a parameter, and that factor in words."""
    factor = k.scalar(names, FLOAT32, low=0.5, high=2.0)
    return each("mul", value, factor), factor.name


def row_source(k: KernelBuilder, names: str, m: str, size: int) -> Var:
    """An array of rows of so many elements."""
    return k.array(names, FLOAT32, (m, str(size)), low=-2.0, high=2.0)


def row_of(k: KernelBuilder, names: str, array: Var, i: Var, size: int) -> Var:
    """One row of an array as a tile."""
    return k.let(names, load(array, (i, 0), size))
