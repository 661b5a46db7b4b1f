"""Small pieces that idioms of several categories share."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.docs import listed as listed
from generators.kit.naming import helper as helper
from generators.kit.sources import constant as constant
from generators.kit.sources import zero as zero
from generators.program.dtypes import Mat, Scalar, Vec
from generators.program.expr import Expr, Operand, Var, literal

Pairwise = Callable[[BodyBuilder, Expr, Expr], Expr]
"""What is computed for a pair, such as a direction and a normal: inline, or in a helper."""


def tuned(
    k: KernelBuilder, names: tuple[str, ...], scalar: Scalar, low: float, high: float
) -> Operand:
    """A quantity that is a parameter or a literal of two digits."""
    if k.draw.shape.chance(0.5):
        return k.scalar(names, scalar, low, high)
    return constant(k, low, high)


def shown(value: Operand) -> str:
    return value.name if isinstance(value, Var) else str(value)


def vector_literal(k: KernelBuilder, vec: Vec, low: float, high: float) -> tuple[Expr, str]:
    """A vector written out in the kernel, its components of either sign; and its text."""
    sizes = [constant(k, low, high) for _ in range(vec.size)]
    parts = [-size if k.draw.value.chance(0.4) else size for size in sizes]
    text = f"({', '.join(map(str, parts))})"
    return make(vec, *(literal(part, vec.scalar) for part in parts)), text


def times_identity(mat: Mat, value: Operand) -> Expr:
    """The square matrix with ``value`` on its diagonal."""
    entry = value if isinstance(value, Expr) else literal(value, mat.scalar)
    return fn("diag", make(Vec(mat.rows, mat.scalar), entry))


def float_vec(k: KernelBuilder, sizes: dict[int, int]) -> Vec:
    """A vector type of float32 or float64, its length drawn by weight."""
    return Vec(k.draw.shape.weighted(sizes), k.draw.wide_float_type())


def thread(k: KernelBuilder, n: str, *names: str) -> Var:
    """One thread for each of ``n``; its index is called one of the names."""
    (index,) = k.thread(n, names=(k.name(*names),))
    return index
