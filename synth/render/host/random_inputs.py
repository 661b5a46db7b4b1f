"""Inputs of a row as PyTorch draws them, at any size: the ranges and orders that `init` says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from validate.row.dtypes import DType, parse

Row = Mapping[str, Any]


class NoDraw(Exception):  # noqa: N818 - no error: an input that PyTorch's generators do not draw
    """No expression of a few words draws such an input."""


def drawn(arg: Row, shape: str, said: Callable[[str], str]) -> str:
    """The expression of a tensor for an array argument, of float32 where nothing else is said.

    ``shape`` is a tuple in Python's text with the argument's components; ``said`` gives a size
    expression in variables of the text. Raises NoDraw.
    """
    kind = parse(arg["dtype"])
    init, _, expression = arg["init"].partition(":")
    if init == "index_of":
        return _whole("0", said(expression), shape, kind)
    if init not in _DRAWS:
        raise NoDraw(init)
    return _DRAWS[init](arg, shape, kind)


def dtype_of(kind: DType) -> str:
    """``, dtype=torch.int32``; nothing for what PyTorch makes by itself."""
    return "" if kind.scalar == "float32" else f", dtype=torch.{kind.scalar}"


def number(text: str) -> str:
    """A bound as people write it: ``0.5``, ``-3.0``."""
    value = Fraction(text)
    return repr(float(value))


def _whole(low: str, beyond: str, shape: str, kind: DType) -> str:
    return f"torch.randint({low}, {beyond}, {shape}, dtype=torch.{kind.scalar})"


def _uniform(arg: Row, shape: str, kind: DType) -> str:
    if kind.scalar == "bool":
        return f"torch.randint(0, 2, {shape}, dtype=torch.bool)"
    if not kind.is_float:
        return _integers(arg, shape, kind)
    low, high = Fraction(arg["low"]), Fraction(arg["high"])
    values = f"torch.rand({shape}{dtype_of(kind)})"
    if high - low != 1:
        values = f"{number(str(high - low))} * {values}"
    if low == 0:
        return values
    return f"{values} {'-' if low < 0 else '+'} {number(str(abs(low)))}"


def _integers(arg: Row, shape: str, kind: DType) -> str:
    return _whole(str(int(arg["low"])), str(int(arg["high"]) + 1), shape, kind)


def _permutation(arg: Row, shape: str, kind: DType) -> str:
    if len(arg["shape"]) != 1:
        raise NoDraw("permutations of several dimensions")
    return f"torch.randperm({shape.strip('(),')}, dtype=torch.{kind.scalar})"


def _sorted(arg: Row, shape: str, kind: DType) -> str:
    axis = -1 - len(kind.shape)
    return f"torch.sort({_uniform(arg, shape, kind)}, dim={axis}).values"


def _unit(arg: Row, shape: str, kind: DType) -> str:
    if kind.kind == "transform":
        raise NoDraw("rigid transforms")
    normal = f"torch.randn({shape}{dtype_of(kind)})"
    return f"torch.nn.functional.normalize({normal}, dim=-1)"


def _well_conditioned(arg: Row, shape: str, kind: DType) -> str:
    largest = max(abs(Fraction(arg[bound])) for bound in ("low", "high"))
    order = kind.shape[0]
    shifted = f"{number(str(order * largest))} * torch.eye({order}{dtype_of(kind)})"
    return f"{_uniform(arg, shape, kind)} + {shifted}"


def _identity(arg: Row, shape: str, kind: DType) -> str:
    value = Fraction(arg["low"]) if arg["low"] not in ("inf", "-inf") else None
    if value == 0:
        return f"torch.zeros({shape}{dtype_of(kind)})"
    text = f'float("{arg["low"]}")' if value is None else _value(arg["low"], kind)
    dtype = f", dtype=torch.{kind.scalar}" if not kind.is_float else dtype_of(kind)
    return f"torch.full({shape}, {text}{dtype})"


def _value(text: str, kind: DType) -> str:
    return number(text) if kind.is_float else str(int(text))


_DRAWS: dict[str, Callable[[Row, str, DType], str]] = {
    "uniform": _uniform,
    "integers": _integers,
    "permutation": _permutation,
    "sorted": _sorted,
    "unit": _unit,
    "well_conditioned": _well_conditioned,
    "reduction_identity": _identity,
}
