"""Index arithmetic of a matrix in a flat array."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.expr import Expr, Var

Place = Callable[[KernelBuilder, Var, Var], tuple[Expr, str]]


def _width(k: KernelBuilder) -> Var:
    return k.size_param(("width", "stride", "pitch"), "cols")


def _height(k: KernelBuilder) -> Var:
    return k.size_param(("height", "row_count", "num_rows"), "rows")


def _reversed_rows(k: KernelBuilder, i: Var, j: Var) -> tuple[Expr, str]:
    return (_height(k) - 1 - i) * _width(k) + j, ", the rows in reverse order"


def _mirrored(k: KernelBuilder, i: Var, j: Var) -> tuple[Expr, str]:
    width = _width(k)
    return i * width + (width - 1 - j), ", the columns in reverse order"


def _rotated(k: KernelBuilder, i: Var, j: Var) -> tuple[Expr, str]:
    width, by = _width(k), k.draw.value.integer(1, 4)
    return i * width + (j + by) % width, f", each row rotated left by {by}"


def _skewed(k: KernelBuilder, i: Var, j: Var) -> tuple[Expr, str]:
    width = _width(k)
    return i * width + (i + j) % width, ", row r rotated left by r"


def _by_columns(k: KernelBuilder, i: Var, j: Var) -> tuple[Expr, str]:
    return j * _height(k) + i, ""


PLACES: dict[str, Place] = {
    "reverse_rows": _reversed_rows,
    "mirror_columns": _mirrored,
    "rotate_rows": _rotated,
    "skew_rows": _skewed,
    "unpack_columns": _by_columns,
}


CELLS: dict[str, tuple[str, Callable[[Var, Var, int], Expr]]] = {
    "checkers": ("(row + column) % {0} is 0", lambda i, j, m: fn("eq", (i + j) % m, 0)),
    "stripes": ("column % {0} is 0", lambda i, j, m: fn("eq", j % m, 0)),
    "triangle": ("column < row", lambda i, j, m: j < i),
}


STORAGE = {"dense": 4, "header": 3, "channel": 3}


def stored_as(k: KernelBuilder, storage: str) -> tuple[int, int, str, str]:
    """First element of a matrix in a flat array, distance of its elements, array size, words."""
    if storage == "header":
        header = k.draw.value.integer(2, 32)
        words = f" (which starts after {header} other elements)"
        return header, 1, f"rows*cols+{header}", words
    if storage == "channel":
        apart = k.draw.value.integer(2, 5)
        first = k.draw.value.integer(1, apart - 1)
        words = f" (element m of the matrix is at {apart} * m + {first})"
        return first, apart, f"{apart}*rows*cols", words
    return 0, 1, "rows*cols", ""
