"""Small pieces that the vector and matrix idioms share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.build import BodyBuilder, KernelBuilder, make
from generators.dtypes import Scalar, Type, Vec, scalar_of
from generators.expr import Expr, Var, literal
from generators.stages import Signal, refine


def zero(type_: Type) -> Expr:
    """Zero of a scalar, or a vector or matrix of zeros."""
    nought = literal(0, scalar_of(type_))
    return nought if isinstance(type_, Scalar) else make(type_, nought)


def constant(k: KernelBuilder, low: float, high: float, digits: int = 2) -> float:
    return float(k.draw.value.constant(low, high, digits))


def listed(phrases: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def stored(signal: Signal) -> str:
    """The sentence on what stages do to a value before it is stored."""
    return f" The stored value is {signal.phrase}." if signal.phrase else ""


def extra_output(
    k: KernelBuilder,
    level: int,
    names: tuple[str, ...],
    place: tuple[str, Var],
    value: Expr,
    what: str,
    scale: float = 2.0,
) -> str:
    """One more float output for each thread, sent through stages; the sentence that says so."""
    size, i = place
    out = k.out(names, value.type, size)
    signal = refine(k, value, level, ("amount", "value", "measure"), scale)
    k.store(out, i, signal.value)
    return f" {out.name} gets {what}{', then ' if signal.phrase else ''}{signal.phrase}."


def helper(
    k: KernelBuilder,
    names: tuple[str, ...],
    params: Sequence[tuple[str, Type]],
    build: Callable[..., Expr],
    doc: str = "",
) -> str:
    """A helper function: ``build(body, *params)`` writes its statements and gives the result."""
    body = BodyBuilder(k.draw)
    variables = tuple(Var(body.name(name), type_) for name, type_ in params)
    result = build(body, *variables)
    body.return_(result)
    return k.function(k.name(*names), variables, body, result.type, doc)


def float_vec(k: KernelBuilder, sizes: dict[int, int]) -> Vec:
    """A vector type of float32 or float64, its length drawn by weight."""
    return Vec(k.draw.shape.weighted(sizes), k.draw.wide_float_type())


def thread(k: KernelBuilder, n: str, *names: str) -> Var:
    """One thread for each of ``n``; its index is called one of the names."""
    (index,) = k.thread(n, names=(k.name(*names),))
    return index
