"""What a hand-written kernel takes, as far as its annotations say, and a guess at inputs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

from synth.codegen.modules import WarpModules
from validate.row.dtypes import FLOATS, SCALARS

Arg = dict[str, Any]

# Every dimension of every array and of the launch has one size: nothing says what they should be.
SIZE_SYMBOL, SIZE = "n", 8
_ABI_SCALARS = {"int": "int32", "float": "float32", "bool": "bool"}
_FAMILIES = {"Vector": "vec", "Matrix": "mat", "Quaternion": "quat", "Transformation": "transform"}


def describe_args(kernel: Any, modules: WarpModules, cuda_forward: str) -> list[Arg]:
    """The entry of each parameter, in order. An array that the text may write to is ``inout``.

    What is no scalar, composite, struct or plain array of these has the kind ``other``. An ``init``
    of null says that no guess is made: what is no number, and structs that hold arrays.
    """
    body = _Body(cuda_forward[cuda_forward.index("{") :])
    return [_describe(arg, modules, body) for arg in kernel.adj.args]


def can_be_drawn(args: list[Arg]) -> bool:
    """Whether there is a guess for every argument."""
    return all(
        arg["kind"] != "other"
        and (all(f["init"] for f in arg["fields"]) if arg["fields"] else arg["init"] is not None)
        for arg in args
    )


def launch_dim(kernel: Any) -> list[str]:
    """The launch's dimensions as size expressions."""
    return [SIZE_SYMBOL] * int(getattr(kernel.adj, "kernel_dim", 1) or 1)


class _Body:
    """The body of a forward kernel, indexed by the variables in it."""

    def __init__(self, text: str) -> None:
        self._lines: dict[str, list[str]] = defaultdict(list)
        self._uses: Counter[str] = Counter()
        self._loads = Counter(re.findall(r"\bwp::load\((var_\w+)\)", text))
        for line in text.splitlines():
            words = re.findall(r"\bvar_\w+", line)
            self._uses.update(words)
            for word in set(words):
                self._lines[word].append(line)

    def only_reads(self, name: str) -> bool:
        """Whether each use of an array is known to read: an element that is loaded, or a shape."""
        return all(self._reads(f"var_{name}", line) for line in self._lines[f"var_{name}"])

    def _reads(self, array: str, line: str) -> bool:
        if re.search(rf"= wp::(?:unot|len)\({array}\);", line):
            return True
        pointer = re.search(
            rf"(var_\w+) = (?:(?:&\(+\*)?wp::address\({array},|&\(wp::index\({array},"
            rf"|&\({array}\.shape\))",
            line,
        )
        # besides its loads a pointer stands in its declaration and here
        return pointer is not None and self._uses[pointer[1]] <= self._loads[pointer[1]] + 2


def _describe(arg: Any, modules: WarpModules, body: _Body) -> Arg:
    kind, element, ndim = _kind(arg.type, modules)
    dtype = _dtype(element, modules)
    fields = _fields(element, modules) if modules.is_struct(element) and kind != "other" else []
    guess = _guess(dtype) if kind != "other" and not modules.is_struct(element) else _NO_GUESS
    return {
        "name": arg.label,
        "kind": kind if dtype is not None else "other",
        "dtype": dtype or _plain_name(element),
        "role": "in" if kind != "array" or body.only_reads(arg.label) else "inout",
        "shape": [SIZE_SYMBOL] * ndim,
        **guess,
        "fields": fields,
        "rtol": None,
        "atol": None,
    }


_NO_GUESS: dict[str, Any] = {"init": None, "low": None, "high": None}


def _kind(kind: Any, modules: WarpModules) -> tuple[str, Any, int]:
    """Kind, element type and dimensions of a parameter's type."""
    array = modules.warp.array
    if type(kind) is array or getattr(kind, "_concrete_cls", None) is array:
        if _dtype(kind.dtype, modules) is None:
            return "other", kind, 0
        return "array", kind.dtype, int(kind.ndim)
    if modules.is_struct(kind):
        return "struct", kind, 0
    return ("scalar", kind, 0) if _dtype(kind, modules) is not None else ("other", kind, 0)


def _dtype(kind: Any, modules: WarpModules) -> str | None:
    """The dtype string of notes/formats/row.md, None for a type that has none."""
    if modules.is_struct(kind):
        return str(kind.cls.__name__)
    if not isinstance(kind, type):
        return None
    name = _ABI_SCALARS.get(kind.__name__, kind.__name__)
    if name in SCALARS:
        return name
    family = _FAMILIES.get(getattr(getattr(kind, "_wp_generic_type_hint_", None), "__name__", ""))
    parameters = getattr(kind, "_wp_type_params_", ())
    if family is None or not parameters:
        return None
    scalar = _dtype(parameters[-1], modules)
    if scalar not in SCALARS or (family in ("quat", "transform") and scalar not in FLOATS):
        return None
    if family in ("quat", "transform"):
        return f"{family}[{scalar}]"
    return f"{family}{'x'.join(str(n) for n in parameters[:-1])}[{scalar}]"


def _fields(struct: Any, modules: WarpModules) -> list[dict[str, Any]]:
    """The fields of a struct of numbers; empty when it holds an array or another struct."""
    fields = []
    for label, var in struct.vars.items():
        dtype = _dtype(var.type, modules)
        if dtype is None or modules.is_struct(var.type):
            return []
        fields.append({"name": label, "dtype": dtype, **_guess(dtype)})
    return fields


def _guess(dtype: str | None) -> dict[str, Any]:
    """How to draw a value of which only the dtype is known: small, and good as an index."""
    if dtype is None:
        return _NO_GUESS
    scalar = re.sub(r".*\[(.*)\]", r"\1", dtype)
    if dtype.startswith(("quat", "transform")):
        return {"init": "unit", "low": "-1", "high": "1"}
    if scalar in FLOATS:
        return {"init": "uniform", "low": "-1", "high": "1"}
    if scalar == "bool":
        return {"init": "uniform", "low": "0", "high": "1"}
    return {"init": f"index_of:{SIZE_SYMBOL}", "low": None, "high": None}


def _plain_name(kind: Any) -> str:
    """A type's name, for a parameter that has no dtype string."""
    name = getattr(kind, "__name__", None) or type(kind).__name__
    return re.sub(r"\W", "_", str(name))
