"""Run the whole-array NumPy version of a row on drawn inputs."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from validate.oracle.reference import forbidden_name, is_allowed_import
from validate.row.inputs import Array

# fmt: off
_OF_NUMPY = frozenset({
    "abs", "add", "arange", "arccos", "arcsin", "arctan", "arctan2", "argmax", "argmin",
    "array", "asarray", "bitwise_and", "bitwise_count", "bitwise_or", "bitwise_xor",
    "broadcast_arrays", "broadcast_to", "cbrt", "ceil", "clip", "concatenate", "copysign",
    "cos", "cosh", "cross", "cumsum", "degrees", "diagonal", "divide", "einsum", "empty", "exp",
    "eye", "flatnonzero", "float16", "float32", "float64", "floor", "full", "int16", "int32",
    "int64", "int8", "linalg", "log", "log10", "log2", "max", "maximum", "min", "minimum",
    "moveaxis", "nonzero", "ones", "pi", "radians", "rint", "searchsorted", "sin", "sinh",
    "sqrt", "square", "stack", "subtract", "sum", "swapaxes", "tan", "tanh", "trace", "trunc",
    "uint16", "uint32", "uint64", "uint8", "vectorize", "where", "zeros", "zeros_like",
})
_OF_OTHERS = frozenset({
    "T", "all", "any", "astype", "at", "copy", "det", "dtype", "erf", "erfc", "inv", "max", "min",
    "norm", "prod", "reshape", "shape", "sum", "transpose",
})
# fmt: on


class ArraysFailed(Exception):  # noqa: N818 - it is a result of a check, not an error of ours
    """The text is not allowed, raised, or returned what does not fit the outputs."""


def run_arrays(
    text: str,
    kernel_name: str,
    args: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    inputs: Mapping[str, Array],
) -> dict[str, Array]:
    """Call the whole-array version and return its outputs (roles `out` and `inout`) by name.

    `inputs` come from `draw_inputs` and are not changed; outputs have their storage dtype. Raises
    ArraysFailed when the text is not allowed, raises, or returns arrays of another shape or dtype.
    """
    namespace: dict[str, Any] = {"__name__": "arrays"}
    try:
        exec(_compiled(text), namespace)
        function = namespace[kernel_name]
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        values = [_argument(name, inputs, sizes) for name in names]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found = function(*values)
    except ArraysFailed:
        raise
    except Exception as error:
        raise ArraysFailed(f"{type(error).__name__}: {error}") from error
    return outputs_of(found, args, inputs, _checked)


def outputs_of(
    found: Any,
    args: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Array],
    checked: Callable[[str, Any], Array],
) -> dict[str, Array]:
    """What a version returned, by output and as ``checked`` gives it. Raises ArraysFailed for
    another number of values, and for another shape or dtype than the output has."""
    written = [arg["name"] for arg in args if arg["role"] in ("out", "inout")]
    results = found if isinstance(found, tuple) else (found,)
    if len(results) != len(written):
        raise ArraysFailed(f"it returns {len(results)} values, not {len(written)}")
    outputs = {n: checked(n, r) for n, r in zip(written, results, strict=True)}
    for name, value in outputs.items():
        like = inputs[name]
        if value.shape != like.shape or value.dtype != like.dtype:
            raise ArraysFailed(
                f"{name} is {value.dtype} of shape {value.shape}, not {like.dtype} of {like.shape}"
            )
    return outputs


def _argument(name: str, inputs: Mapping[str, Array], sizes: Mapping[str, int]) -> Any:
    if name not in inputs:
        return size_of(name, sizes)
    value = inputs[name]
    return value.copy() if value.ndim else value[()]


def size_of(name: str, sizes: Mapping[str, int]) -> int:
    """The size that a parameter stands for."""
    return int(sizes[name if name in sizes else name.removeprefix("len_")])


def _checked(name: str, value: Any) -> Array:
    if not isinstance(value, np.ndarray):
        raise ArraysFailed(f"{name} is a {type(value).__name__}, not an array")
    return value


@lru_cache(maxsize=64)
def _compiled(text: str) -> CodeType:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ArraysFailed(f"line {error.lineno}: {error.msg}") from None
    for node in ast.walk(tree):
        if problem := _forbidden(node):
            raise ArraysFailed(f"line {getattr(node, 'lineno', 0)}: {problem}")
    return compile(tree, "<array>", "exec")


def _forbidden(node: ast.AST) -> str:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return "" if is_allowed_import(node) else "an import"
    if isinstance(node, ast.Name):
        return f"name {node.id}" if forbidden_name(node.id) else ""
    if isinstance(node, ast.Attribute):
        of_numpy = isinstance(node.value, ast.Name) and node.value.id == "np"
        if node.attr in (_OF_NUMPY if of_numpy else _OF_OTHERS) and isinstance(node.ctx, ast.Load):
            return ""
        return f"attribute {node.attr}"
    return ""
