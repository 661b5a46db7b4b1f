"""A row in the form of KernelBench's problems: `Model`, `get_inputs` and `get_init_inputs` at the
sizes it is for, and `ModelNew`, which launches the row's plain CUDA."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from synth.render.host.launcher import NoHostSide
from synth.render.host.operator import Operator, with_backward
from synth.render.host.random_inputs import drawn
from synth.render.host.torch_module import torch_module
from synth.render.text import docstring
from validate.row.dtypes import parse
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate, evaluate_all, own_sizes

Row = Mapping[str, Any]

_SYMBOL = re.compile(r"[A-Za-z_]\w*")
_MOST_EXACT = 2**24
"""The harness hands inputs over as float32, which holds whole numbers up to here."""


class Problem(Operator):
    """A row as such a problem; ``text`` is its PyTorch version, whose function takes the inputs and
    then sizes.

    Raises NoHostSide for a row that the harness cannot take: with several outputs, which it does
    not compare, or floats of another width than float32, to which it casts all inputs.
    """

    def __init__(self, row: Row, text: str) -> None:
        # A size that only the backward kernel asks for is a parameter of the operator as well.
        super().__init__(*with_backward(row))
        self.text = text
        if len(self.outputs) != 1:
            raise NoHostSide("several outputs")
        for arg in self.args:
            self._allowed(arg)
        self.names = [arg["name"] for arg in row["args"]]
        self.tensors = [arg for arg in row["args"] if arg["role"] != "out" and arg["shape"]]
        self.settings = [
            arg for arg in row["args"] if arg["role"] != "out" and arg["kind"] != "array"
        ]
        self.asked = [n for n in parameters(text, self.name) if n not in self.names]
        self.variables = {s: s if s not in self.names else f"{s}_size" for s in self.regime()}
        """The module's variable of each size symbol."""

    def regime(self) -> dict[str, int]:
        """The size of each symbol in the middle of what the row is for."""
        spans = {span["symbol"]: span for span in self.row["regime"] or ()}
        found = {}
        for size in self.row["sizes"]:
            span, step = spans.get(size["symbol"]), size["multiple_of"]
            middle = size["value"] if span is None else math.sqrt(span["low"] * span["high"])
            middle = float(f"{middle:.3g}")
            found[size["symbol"]] = max(step, round(middle / step) * step, size["min"])
        return found

    def problem(self) -> str:
        """The question: the PyTorch function in a module, and how its inputs are drawn.

        Raises NoDraw where an input has no short expression.
        """
        body = [_with_nn(self.text.rstrip())]
        body += ["", "", *self._model("Model", self.name, self._called())]
        body += ["", "", *self._sizes(), "", "", *self._get_inputs()]
        return "\n".join([*body, "", "", *self._get_init_inputs(), ""])

    def solution(self) -> str:
        """The answer: the row's kernels with their launcher, in a module of the same form."""
        entry = f"{self.name}_cuda"
        body = [torch_module(self.row, entry).rstrip(), ""]
        called = [
            f"self.{arg['name']}" if arg in self.settings else arg["name"]
            for arg in self.row["args"]
            if arg["role"] != "out"
        ]
        loose = [f"self.{symbol}" for symbol in self.loose]
        model = self._model("ModelNew", entry, [*called, *loose])
        return _with_nn("\n".join([*body, "", *model, ""]))

    def _allowed(self, arg: Row) -> None:
        kind = parse(arg["dtype"])
        if arg["fields"]:
            raise NoHostSide("structs")
        if kind.is_float and kind.scalar != "float32":
            raise NoHostSide("floats that are not of 32 bits")
        whole = arg["kind"] == "array" and arg["role"] != "out" and not kind.is_float
        if whole and self._greatest(arg) > _MOST_EXACT:
            raise NoHostSide("whole numbers that float32 does not hold")

    def _greatest(self, arg: Row) -> int:
        """The greatest whole number that an input may hold."""
        init, _, expression = arg["init"].partition(":")
        if init == "index_of":
            return int(evaluate(expression, self.regime()))
        if init == "permutation":
            return int(prod(evaluate_all(arg["shape"], self.regime())))
        return max((abs(int(arg[b])) for b in ("low", "high") if arg[b] is not None), default=1)

    def _called(self) -> list[str]:
        given = {arg["name"]: f"self.{arg['name']}" for arg in self.settings}
        first = self.tensors[0]["name"]
        for arg in self.settings:
            shape = parse(arg["dtype"]).shape
            if shape:
                held = f"self.{arg['name']}, dtype=torch.float32, device={first}.device"
                made = f"torch.tensor({held})"
                given[arg["name"]] = made + (f".reshape{shape}" if len(shape) > 1 else "")
        names = parameters(self.text, self.name)
        return [given.get(n, n if n in self.names else f"self.{self._symbol(n)}") for n in names]

    def _symbol(self, name: str) -> str:
        """The size that a parameter of the PyTorch function asks for."""
        return name if name in self.variables else name.removeprefix("len_")

    def _held(self) -> list[str]:
        """What a model is made with: numbers, and sizes that no input tells."""
        sizes = {self._symbol(name) for name in self.asked} | set(self.loose)
        return [arg["name"] for arg in self.settings] + sorted(sizes - set(self.names))

    def _model(self, name: str, function: str, called: Sequence[str]) -> list[str]:
        held = self._held()
        lines = [f"class {name}(nn.Module):"]
        if name == "Model":
            lines += [*docstring(self.row["description"], 1), ""]
        lines += [f"    def __init__({', '.join(['self', *held])}):", "        super().__init__()"]
        lines += [f"        self.{one} = {one}" for one in held]
        names = ", ".join(["self", *(arg["name"] for arg in self.tensors)])
        lines += ["", f"    def forward({names}):"]
        for arg in self.tensors:
            scalar = parse(arg["dtype"]).scalar
            if scalar != "float32":
                # The harness makes floats of all inputs.
                lines.append(f"        {arg['name']} = {arg['name']}.to(torch.{scalar})")
        return [*lines, f"        return {function}({', '.join(called)})"]

    def _sizes(self) -> list[str]:
        return [f"{self.variables[s]} = {value}" for s, value in self.regime().items()]

    def _extent(self, formula: str) -> str:
        return _SYMBOL.sub(lambda found: self.variables.get(found[0], found[0]), str(formula))

    def _get_inputs(self) -> list[str]:
        lines = ["def get_inputs():"]
        for arg in self.tensors:
            parts = [*map(self._extent, arg["shape"]), *map(str, parse(arg["dtype"]).shape)]
            shape = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
            lines.append(f"    {arg['name']} = {drawn(arg, shape, self._extent)}")
        return [*lines, f"    return [{', '.join(arg['name'] for arg in self.tensors)}]"]

    def _get_init_inputs(self) -> list[str]:
        known = draw_inputs(self.settings, own_sizes(self.row["sizes"]), self.row["input_seed"])
        values = []
        for name in self._held():
            arg = next((a for a in self.settings if a["name"] == name), None)
            if arg is None:
                values.append(self.variables[name])
            elif arg["init"].startswith("size:"):
                values.append(self._extent(arg["init"].removeprefix("size:")))
            else:
                values.append(_said(known[name], whole=arg["init"] == "unit"))
        return ["def get_init_inputs():", f"    return [{', '.join(values)}]"]


def _with_nn(text: str) -> str:
    return text.replace("import torch\n", "import torch\nimport torch.nn as nn\n", 1)


def _said(value: Any, whole: bool) -> str:
    """A drawn number or its components: in short, or with all digits that a float32 has, as of a
    unit quaternion, whose formulas of a rotation agree only where its length is one."""
    said = [repr(_digits(v, 9 if whole else 4)) for v in np.ravel(value).tolist()]
    return said[0] if np.ndim(value) == 0 else f"[{', '.join(said)}]"


def _digits(value: Any, count: int) -> Any:
    return float(f"{value:.{count}g}") if isinstance(value, float) else value


def parameters(text: str, name: str) -> list[str]:
    """The parameters of a function of a text."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return [arg.arg for arg in node.args.args]
    raise ValueError(f"no function {name}")
