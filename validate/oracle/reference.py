"""Run the plain-Python reference of a row on drawn inputs."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np

from validate.oracle.effort import BUDGET, Budget, TooLong, instrumented
from validate.oracle.foresight import ADDED, FORESEEN, foresight
from validate.oracle.quick import QUICK
from validate.row import dtypes
from validate.row.inputs import Array

_KEPT_TEXTS = 512
"""Of references, backward ones too: a batch's are run in three passes, some of them counted."""
_IMPORTS = frozenset({("math", None), ("numpy", "np")})
# Not a sandbox: it keeps texts that came from elsewhere from reading files, reaching the
# interpreter or changing the modules that the comparison itself uses. The run as such takes place
# in a child process.
# fmt: off
_FORBIDDEN_NAMES = frozenset({
    "open", "exec", "eval", "compile", "getattr", "setattr", "delattr", "globals", "locals", "vars",
    "input", "breakpoint", "exit", "quit", "memoryview",
})
# Of functions that people bring; what references of rows are printed with stands below.
_OF_PEOPLE = frozenset({
    "absolute", "add", "add.at", "amax", "amin", "arccos", "arcsin", "arctan", "arctan2",
    "argmin", "argsort", "average", "bincount", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bool_", "broadcast_to", "cbrt", "convolve", "copysign", "correlate", "cos", "cosh",
    "count_nonzero", "cumprod", "cumsum", "diff", "divide", "e", "einsum", "empty_like",
    "equal", "exp2", "expand_dims", "expm1", "fabs", "flip", "float16", "float32",
    "floor_divide", "fmax", "fmin", "full_like", "greater", "greater_equal", "hypot", "inf",
    "int16", "int32", "int8", "isfinite", "isinf", "isnan", "left_shift", "less", "less_equal",
    "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum.at", "mean", "median", "minimum.at", "mod", "moveaxis", "multiply", "negative",
    "newaxis", "nonzero", "not_equal", "ones_like", "pad", "power", "ravel", "reciprocal",
    "remainder", "repeat", "reshape", "right_shift", "rint", "roll", "round", "searchsorted",
    "sin", "sinh", "sort", "squeeze", "std", "subtract", "subtract.at", "swapaxes", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril", "triu", "trunc", "uint16",
    "uint32", "uint8", "unique", "var", "vdot",
})
_ALLOWED_OF_MODULES = {
    "math": frozenset(name for name in dir(math) if not name.startswith("_")),
    "np": frozenset({
        "abs", "all", "any", "append", "arange", "argmax", "argmin", "array", "asarray", "ceil",
        "clip", "column_stack", "concatenate", "copy", "cross", "diag", "dot", "empty", "exp",
        "eye", "float64", "floor", "full", "hstack", "identity", "inner", "int64", "linalg",
        "linalg.det", "linalg.inv", "linalg.norm", "linalg.solve", "log", "matmul", "max",
        "maximum", "min", "minimum", "ndarray", "ndindex", "object_", "ones", "outer", "pi",
        "prod", "sign", "sqrt", "square", "stack", "sum", "trace", "transpose", "vstack",
        "where", "zeros", "zeros_like",
    }) | _OF_PEOPLE,
}
# fmt: on


def _facade() -> SimpleNamespace:
    """What a reference sees as `np`: the functions on the list and nothing else."""
    listed = _ALLOWED_OF_MODULES["np"]
    linalg = {n.partition(".")[2]: n for n in listed if n.startswith("linalg.")}
    functions = {n: QUICK.get(n) or getattr(np, n) for n in listed if "." not in n}
    functions["linalg"] = SimpleNamespace(
        **{name: QUICK.get(whole) or getattr(np.linalg, name) for name, whole in linalg.items()}
    )
    return SimpleNamespace(**functions)


_NUMPY = _facade()


class ReferenceFailed(Exception):  # noqa: N818 - it is a result of a check, not an error of ours
    """The reference text is not allowed, raised, or left outputs that do not fit their dtype."""


def check_syntax(text: str) -> list[str]:
    """What a reference may not contain, one line a finding; empty when it is fine.

    Allowed imports are `math` and `numpy as np`, with the functions that references use; forbidden
    are assignments to these modules, names and attributes with leading underscores, and names that
    reach files or the interpreter.
    """
    return list(_problems_of(text))


@lru_cache(maxsize=_KEPT_TEXTS)
def _problems_of(text: str) -> tuple[str, ...]:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return (f"line {error.lineno}: {error.msg}",)
    return tuple(_problems(tree))


def _problems(tree: ast.Module) -> list[str]:
    nodes = list(ast.walk(tree))
    bases = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return [
        f"line {getattr(node, 'lineno', 0)}: {found}"
        for node in nodes
        if (found := _forbidden(node, id(node) in bases)) is not None
    ]


def run_reference(
    text: str,
    kernel_name: str,
    args: Sequence[Mapping[str, Any]],
    dim: Sequence[int],
    inputs: Mapping[str, Array],
    single: bool = False,
    budget: Budget | None = None,
) -> dict[str, Array]:
    """Call the reference and return its outputs (roles `out` and `inout`) by name.

    `inputs` come from `draw_inputs` and are not changed. With `single`, float32 inputs stay NumPy's
    float32, so that sums and products of them are rounded as that type's are. Float outputs are
    float64, integers and bools have their storage dtype, structs a structured dtype of these.
    Raises ReferenceFailed when the text is not allowed, raises, leaves an element unwritten, or
    produces a value of the wrong type or out of the range of the dtype; TooLong when it would run
    more statements than are left in `budget`, which says afterwards how many are.
    """
    namespace: dict[str, Any] = {"__name__": "reference"}
    if budget is not None:
        namespace[BUDGET] = budget
    try:
        exec(_compiled(text, budget is not None), namespace)
        if "np" in namespace:
            namespace["np"] = _NUMPY
        function = namespace[kernel_name]
        if budget is not None and budget.foreseen:
            _foresee(text, kernel_name, budget, dim, [inputs[arg["name"]] for arg in args])
        values = [_to_reference(arg, inputs[arg["name"]], namespace, single) for arg in args]
        with np.errstate(all="ignore"):
            function(tuple(dim), *values)
    except (ReferenceFailed, TooLong):
        raise
    except Exception as error:
        raise ReferenceFailed(f"{type(error).__name__}: {error}") from error
    return {
        arg["name"]: _from_reference(arg, value)
        for arg, value in zip(args, values, strict=True)
        if arg["role"] in ("out", "inout")
    }


def _foresee(
    text: str, kernel_name: str, budget: Budget, dim: Sequence[int], values: Sequence[Array]
) -> None:
    """Raise TooLong for a run that would, unless it fails before."""
    code = _foresight(text, kernel_name)
    if code is None:
        return
    namespace: dict[str, Any] = {ADDED: budget.added}
    exec(code, namespace)
    given = [value if value.ndim else value.item() for value in values]
    if namespace[FORESEEN](tuple(dim), *given) > budget.left:
        raise TooLong


@lru_cache(maxsize=64)
def _foresight(text: str, kernel_name: str) -> CodeType | None:
    return foresight(ast.parse(text), kernel_name)


@lru_cache(maxsize=_KEPT_TEXTS)
def _compiled(text: str, counted: bool = False) -> CodeType:
    if problems := _problems_of(text):
        raise ReferenceFailed("; ".join(problems))
    tree = ast.parse(text)
    return compile(instrumented(tree) if counted else tree, "<reference>", "exec")


def is_allowed_import(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether a text may have this import."""
    return isinstance(node, ast.Import) and all(
        (alias.name, alias.asname) in _IMPORTS for alias in node.names
    )


def forbidden_name(name: str) -> bool:
    """Whether a name reaches files or the interpreter."""
    return name.startswith("__") or name in _FORBIDDEN_NAMES


def _forbidden(node: ast.AST, is_base: bool) -> str | None:
    if isinstance(node, ast.Import):
        return None if is_allowed_import(node) else f"imports {node.names[0].name}"
    if isinstance(node, ast.ImportFrom):
        return f"imports from {node.module}"
    if isinstance(node, ast.Attribute):
        return _forbidden_attribute(node)
    if isinstance(node, ast.Name):
        return _forbidden_name(node, is_base)
    return None


def _forbidden_name(node: ast.Name, is_base: bool) -> str | None:
    if forbidden_name(node.id):
        return f"name {node.id}"
    # a module under another name could be changed through it
    return f"{node.id} by itself" if node.id in _ALLOWED_OF_MODULES and not is_base else None


def _forbidden_attribute(node: ast.Attribute) -> str | None:
    if node.attr.startswith("_"):
        return f"attribute {node.attr}"
    path = ast.unparse(node).split(".")
    allowed = _ALLOWED_OF_MODULES.get(path[0])
    if allowed is None:
        return None
    if ".".join(path[1:]) not in allowed or not isinstance(node.ctx, ast.Load):
        return f"{ast.unparse(node)}"
    return None


def _to_reference(
    arg: Mapping[str, Any], value: Array, namespace: Mapping[str, Any], single: bool
) -> Any:
    """One input in the reference's convention; outputs start as None, or NaN inside vectors."""
    parsed = dtypes.parse(arg["dtype"])
    unwritten = arg["role"] == "out"
    if parsed.kind != "struct":
        converted = _convert(value, parsed, unwritten, single)
        return converted if value.ndim else converted.item()
    columns = {
        field["name"]: _convert(
            value[field["name"]], dtypes.parse(field["dtype"]), unwritten, single
        )
        for field in arg["fields"]
    }
    make = namespace[arg["dtype"]]
    instances = np.empty(value.shape, object)
    for index in np.ndindex(value.shape):
        instances[index] = make(**{name: _element(c[index]) for name, c in columns.items()})
    return instances if value.ndim else instances.item()


def _convert(value: Array, parsed: dtypes.DType, unwritten: bool, single: bool) -> Array:
    narrow = single and value.dtype == np.float32
    if parsed.shape and parsed.is_float:
        return value.astype(np.float32 if narrow else np.float64)
    if narrow and not unwritten:
        kept = np.empty(value.size, object)
        kept[:] = list(value.ravel())
        return kept.reshape(value.shape)
    return np.full(value.shape, None, object) if unwritten else value.astype(object)


def _element(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) and value.ndim else value


def _from_reference(arg: Mapping[str, Any], value: Any) -> Array:
    parsed = dtypes.parse(arg["dtype"])
    if parsed.kind != "struct":
        shape = value.shape if isinstance(value, np.ndarray) else ()
        return _checked(arg["name"], value, parsed, shape)
    fields = [(f["name"], dtypes.parse(f["dtype"])) for f in arg["fields"]]
    described = [(name, _result_dtype(field), field.shape) for name, field in fields]
    result = np.empty(value.shape, np.dtype(described, align=True))
    instances = value.ravel().tolist()
    for name, field in fields:
        label = f"{arg['name']}.{name}"
        try:
            column = [_flat(getattr(instance, name), field) for instance in instances]
        except AttributeError as error:
            raise ReferenceFailed(f"{label}: {error}") from error
        flat = [component for element in column for component in element]
        result[name] = _checked(label, flat, field, value.shape + field.shape)
    return result


def _flat(value: Any, field: dtypes.DType) -> list[Any]:
    if not field.shape:
        return [value]
    components: list[Any] = np.asarray(value).ravel().tolist()
    if len(components) != prod(field.shape):
        raise ReferenceFailed(f"a field has {len(components)} components, not {field.shape}")
    return components


def _result_dtype(parsed: dtypes.DType) -> np.dtype[Any]:
    return np.dtype(np.float64 if parsed.is_float else parsed.scalar)


def _accepted(parsed: dtypes.DType) -> tuple[type, ...]:
    if parsed.is_float:
        return (float, int, np.floating, np.integer)
    return (bool, np.bool_) if parsed.scalar == "bool" else (int, np.integer)


def _checked(label: str, value: Any, parsed: dtypes.DType, shape: tuple[int, ...]) -> Array:
    """`value` (an array or a flat list) as an array of the result dtype, or ReferenceFailed."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and parsed.is_float:
        return value
    values = value.ravel().tolist() if isinstance(value, np.ndarray) else list(value)
    accepted = _accepted(parsed)
    for kind in set(map(type, values)):
        if not issubclass(kind, accepted) or (kind is bool and parsed.scalar != "bool"):
            position = next(i for i, v in enumerate(values) if type(v) is kind)
            what = "was not written" if kind is type(None) else f"is a {kind.__name__}"
            raise ReferenceFailed(f"{label}: element {position} {what}, not a {parsed.scalar}")
    if values and parsed.scalar in dtypes.INTEGERS:
        limits = np.iinfo(parsed.scalar)
        for extreme in (min(values), max(values)):
            if not limits.min <= extreme <= limits.max:
                # Python refuses to print a number of thousands of digits.
                shown = extreme if abs(extreme) < 1 << 128 else "a larger number"
                raise ReferenceFailed(f"{label}: {shown} does not fit {parsed.scalar}")
    return np.array(values, _result_dtype(parsed)).reshape(shape)
