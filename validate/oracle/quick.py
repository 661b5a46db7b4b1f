"""NumPy's functions as references use them, to the bit, quicker for small arrays.

A reference computes with vectors of two to six components, element by element, so that most of its
time went into how NumPy finds out what it was given. Each function here looks for the one case that
references have (float64, the usual shape, no further arguments) and hands any other to NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from validate.row.inputs import Array

_FLOAT = np.dtype(np.float64)
_CROSSED = (3,)
_DENSE = (8,)


def _is_vector(value: Any) -> bool:
    return type(value) is np.ndarray and value.ndim == 1 and value.dtype is _FLOAT


def cross(a: Array, b: Array) -> Array:
    """`np.cross` of two arrays."""
    # Written out: this is called more often than all else here together.
    if not (
        type(a) is np.ndarray is type(b)
        and a.dtype is _FLOAT is b.dtype
        and a.shape == _CROSSED == b.shape
    ):
        return np.cross(a, b)
    # Python's floats multiply as NumPy's do, and quicker.
    a0, a1, a2 = a.tolist()
    b0, b1, b2 = b.tolist()
    return np.array((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0))


def append(array: Any, values: Any, *more: Any, **named: Any) -> Array:
    """`np.append`; the usual case is a number behind a vector."""
    if more or named or not isinstance(values, float) or not _is_vector(array):
        return np.append(array, values, *more, **named)
    found = np.empty(array.size + 1)
    found[:-1] = array
    found[-1] = values
    return found


def outer(a: Any, b: Any, *more: Any, **named: Any) -> Array:
    """`np.outer`; the usual case is two vectors."""
    if more or named or not (_is_vector(a) and _is_vector(b)):
        return np.outer(a, b, *more, **named)
    found: Array = a[:, np.newaxis] * b
    return found


def diag(value: Any, *more: Any, **named: Any) -> Array:
    """`np.diag`; the usual case is a vector."""
    if more or named or not _is_vector(value):
        return np.diag(value, *more, **named)
    size = value.size
    found = np.zeros(size * size)
    found[:: size + 1] = value
    return found.reshape(size, size)


def column_stack(columns: Sequence[Any]) -> Array:
    """`np.column_stack`; the usual case is a list of vectors of one length."""
    if not columns or not all(map(_is_vector, columns)):
        return np.column_stack(columns)
    found = np.empty((columns[0].size, len(columns)))
    if any(column.size != columns[0].size for column in columns):
        return np.column_stack(columns)
    for position, column in enumerate(columns):
        found[:, position] = column
    return found


def eye(size: Any, *more: Any, **named: Any) -> Array:
    """`np.eye`; the usual case is a small square."""
    if more or named or type(size) is not int or not 0 < size < len(_EYES):
        return np.eye(size, *more, **named)
    return _EYES[size].copy()


def norm(value: Any, *more: Any, **named: Any) -> Any:
    """`np.linalg.norm`; the usual case is a vector."""
    # Written out, as is `cross`.
    if more or named or type(value) is not np.ndarray or value.ndim != 1:
        return np.linalg.norm(value, *more, **named)
    if value.dtype is not _FLOAT:
        return np.linalg.norm(value, *more, **named)
    # As NumPy does: the sum of every other number of an array may differ in its last bit.
    flat = value if value.strides == _DENSE else value.ravel(order="K")
    # Of both modules the root is the float nearest to it.
    return np.float64(sqrt(flat.dot(flat)))


def total(value: Any, *more: Any, **named: Any) -> Any:
    """`np.sum`; the usual case is all of an array."""
    if more or named or type(value) is not np.ndarray:
        return np.sum(value, *more, **named)
    # What `np.sum` calls once it has looked for subclasses and arguments.
    return np.add.reduce(value, None)


_EYES = [np.eye(size) for size in range(7)]

# The function of C itself, which no other kind of array is asked for.
_DOT = getattr(np.dot, "_implementation", np.dot)

QUICK = {
    **{"sum": total, "dot": _DOT},
    **{"cross": cross, "append": append, "outer": outer, "diag": diag},
    **{"column_stack": column_stack, "eye": eye, "linalg.norm": norm},
}
"""The functions of this file by the name that NumPy has for them."""
