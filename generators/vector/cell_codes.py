"""Distances, indices and codes of cells, for kernels and their helpers."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, cast, fn, make
from generators.kit.functions import least, most
from generators.program.dtypes import Scalar, Vec
from generators.program.expr import Expr

_UINT = Scalar("uint32")


def _linear(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    """Row-major index, x fastest."""
    assert isinstance(c.type, Vec)
    if c.type.size == 2:
        return c[0] + n[0] * c[1]
    return c[0] + n[0] * (c[1] + n[1] * c[2])


def manhattan(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    assert isinstance(c.type, Vec)
    gap = b.let("gap step_vec", most(c, n) - least(c, n))
    total: Expr = gap[0]
    for part in range(1, c.type.size):
        total = total + gap[part]
    return total


def chebyshev(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    return fn("max_element", most(c, n) - least(c, n))


def _parity(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    assert isinstance(c.type, Vec)
    total: Expr = c[0] + n[0]
    for part in range(1, c.type.size):
        total = total + c[part] + n[part]
    return total % 2


def _wrapped(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    assert isinstance(c.type, Vec)
    return make(c.type, *(c[part] % n[part] for part in range(c.type.size)))


FORMS: dict[str, tuple[Callable[[BodyBuilder, Expr, Expr], Expr], str, str]] = {
    "linear_index": (_linear, "cx + nx * cy (+ nx * ny * cz in 3-D)", "extent"),
    "manhattan": (manhattan, "the sum of the |c[a] - n[a]|", "cell"),
    "chebyshev": (chebyshev, "the largest of the |c[a] - n[a]|", "cell"),
    "checkerboard": (_parity, "the sum of all components of c and n, modulo 2", "cell"),
    "wrapped": (_wrapped, "c modulo n by component", "extent"),
}


def hashed(b: BodyBuilder, c: Expr, primes: tuple[int, ...]) -> Expr:
    assert isinstance(c.type, Vec)
    total: Expr | None = None
    for a in range(c.type.size):
        part = cast(c[a], _UINT) * primes[a]
        total = part if total is None else total ^ part
    assert total is not None
    return b.let("h hash_val", total)


def spread(b: BodyBuilder, x: Expr) -> Expr:
    """Leave two zero bits between any two of the lowest five."""
    v = b.let("v bits", (x | (x << 8)) & 0x0300F00F)
    w = b.let("w spaced", (v | (v << 4)) & 0x030C30C3)
    return (w | (w << 2)) & 0x09249249
