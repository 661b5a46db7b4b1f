"""Functions of NumPy as tasks: annotations tell dtypes and shapes, `SIZES` the sizes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.loop.archive import ArchivedTask
from synth.loop.sources.contract import argument, task_of_row, task_row, with_tolerances
from synth.loop.sources.declared import NAMES, Declared
from synth.render.cuda.dialect.words import CUDA

VIEW = "numpy"
_TYPE = re.compile(r"\s*([a-z]+\d*)\s*(?:\[([^\]]*)\])?\s*")
_CONVERTED = {"f": "np.float64", "i": "np.int64", "u": "np.int64", "b": "bool"}
_IMPORTS = re.compile(r"^import numpy as np\b", re.MULTILINE)
_ASKED = "Write this NumPy function as a CUDA C++ kernel; outputs go to arrays of the names given."

Typed = tuple[str, tuple[str, ...] | None]


def numpy_tasks(
    path: Path, text: str, tree: ast.Module, declared: Declared, name: str
) -> list[ArchivedTask]:
    """The task of each annotated function of a file, or of that of a name. Raises SettingsError."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    chosen = [f for f in functions if (f.name == name if name else f.returns is not None)]
    if not chosen:
        named = f"the function {name}" if name else "a function that says what it returns"
        raise SettingsError(f'{path} does not have {named}: def f(x: "float32[n]") -> "float32[n]"')
    source = _source(text, tree)
    return [_task(path, source, function, declared) for function in chosen]


def _task(path: Path, source: str, function: ast.FunctionDef, declared: Declared) -> ArchivedTask:
    try:
        inputs = {arg.arg: _typed(arg.annotation, arg.arg) for arg in function.args.args}
        outputs = dict(zip(_names(function, inputs), _returned(function), strict=True))
        args = [*_given(inputs, declared), *_written(outputs, declared)]
        declared.require([arg["name"] for arg in args])
        for extent in (extent for arg in args for extent in arg["shape"]):
            declared.require_extent(extent)
        kernel = f"{function.name}_kernel"
        row = task_row(
            kernel_name=kernel,
            python=source,
            about=VIEW,
            args=args,
            sizes=declared.columns(),
            reference=_with_numpy(source) + _wrapper(function.name, kernel, inputs, list(outputs)),
        )
        row = with_tolerances(row)
    except SettingsError as error:
        raise SettingsError(f"{path}, {function.name}: {error}") from None
    asked = ast.get_docstring(function) or ""
    return task_of_row(row, " ".join(f"{_ASKED} {asked}".split()), "python", source, VIEW)


def _source(text: str, tree: ast.Module) -> str:
    """The file without what it imports from the future, and without what it declares."""
    lines = text.splitlines()
    for node in tree.body:
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        targets = node.targets if isinstance(node, ast.Assign) else []
        if is_future or any(isinstance(t, ast.Name) and t.id in NAMES for t in targets):
            for at in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[at] = ""
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip("\n") + "\n"


def _typed(annotation: ast.expr | None, name: str) -> Typed:
    """Dtype and shape of an annotation such as ``"float32[n, 2*m]"``; None: no array."""
    text = annotation.value if isinstance(annotation, ast.Constant) else None
    match = _TYPE.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[1] not in CUDA.scalars or match[1] == "uint64":
        said = "has no annotation" if annotation is None else f"is {ast.unparse(annotation)}"
        known = ", ".join(dtype for dtype in CUDA.scalars if dtype != "uint64")
        raise SettingsError(f'{name} {said}: write a dtype and a shape as "float32[n]" ({known})')
    if match[2] is None:
        return match[1], None
    return match[1], tuple(extent.strip() for extent in match[2].split(","))


def _returned(function: ast.FunctionDef) -> list[Typed]:
    returns = function.returns
    parts = returns.elts if isinstance(returns, ast.Tuple) else [returns]
    found = [_typed(part, "what it returns") for part in parts]
    if any(shape is None for _, shape in found):
        raise SettingsError('what it returns is no array: write "float32[1]" for one number')
    return found


def _names(function: ast.FunctionDef, taken: Mapping[str, Any]) -> list[str]:
    """What outputs are called: as the last line returns them, where these are names."""
    count = len(_returned(function))
    plain = ["out"] if count == 1 else [f"out{number}" for number in range(count)]
    last = function.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    good = len(set(names)) == count and not set(names) & set(taken)
    return names if good else plain


def _given(inputs: Mapping[str, Typed], declared: Declared) -> Iterator[dict[str, Any]]:
    for name, (dtype, shape) in inputs.items():
        yield argument(name, dtype, "in", shape, declared.drawn(name, dtype))


def _written(outputs: Mapping[str, Typed], declared: Declared) -> Iterator[dict[str, Any]]:
    for name, (dtype, shape) in outputs.items():
        yield argument(name, dtype, "out", shape, declared.tolerance(name))


def _with_numpy(source: str) -> str:
    """A source with the import that its wrapper needs, which a file may do without."""
    return source if _IMPORTS.search(source) else f"import numpy as np\n\n\n{source}"


def _wrapper(name: str, kernel: str, inputs: Mapping[str, Typed], outputs: list[str]) -> str:
    """The function as references are called: over float64, into arrays that are given."""
    passed = [
        arg if shape is None else f"np.array({arg}, {_CONVERTED[dtype[0]]})"
        for arg, (dtype, shape) in inputs.items()
    ]
    lines = [f"results = {name}({', '.join(passed)})"]
    if len(outputs) == 1:
        lines = [f"{outputs[0]}[...] = {name}({', '.join(passed)})"]
    else:
        lines += [f"{output}[...] = results[{at}]" for at, output in enumerate(outputs)]
    body = "".join(f"    {line}\n" for line in lines)
    return f"\n\ndef {kernel}({', '.join(['dim', *inputs, *outputs])}):\n{body}"
