"""Modules of PyTorch operators: what they pass to their launchers, without PyTorch or a GPU.

A stand-in records launches and allocates with NumPy. On a GPU
`scripts/measure/frameworks/torch_operators.py` builds and differentiates such modules.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from synth.cli.main import main
from synth.dataset.stored import stored_rows
from synth.render.host.launcher import NoHostSide
from synth.render.host.operator import Operator
from synth.render.host.torch_module import torch_module
from validate.host.plain_steps import grids_of
from validate.row.dtypes import parse
from validate.row.gradient import backward_row
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes
from validate.text.formula import evaluate

ROOT = Path(__file__).resolve().parents[4]
SAMPLES = ROOT / "data" / "samples"

Row = dict[str, Any]


def _modules() -> dict[str, tuple[Row, str]]:
    found = {}
    for _, row in stored_rows(SAMPLES):
        try:
            found[row["id"]] = (row, torch_module(row))
        except NoHostSide:
            read = [a for a in row["args"] if a["kind"] == "array" and a["role"] != "out"]
            assert not read or any(arg["fields"] for arg in row["args"])
    return found


MODULES = _modules()


class Tensor(np.ndarray):
    """An array with the few methods of a tensor that modules call."""

    device = "cuda:0"

    def clone(self, **_: Any) -> Any:
        return self.copy()

    def contiguous(self) -> Any:
        return self

    def to(self, dtype: Any) -> Any:
        return self.astype(dtype)


def _tensor(value: Any) -> Any:
    return np.array(value).view(Tensor)


class Context:
    """What PyTorch gives `forward` and `backward` of a function."""

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.others = tensors


def _torch(launched: list[tuple[str, tuple[Any, ...]]]) -> dict[str, ModuleType]:
    """Stand-ins of the modules that a module of ours imports."""
    torch: Any = ModuleType("torch")
    for name in ("float16", "float32", "float64", "bool", "uint16", "uint32", "uint64"):
        setattr(torch, name, np.dtype(name))
    for name in ("int8", "int16", "int32", "int64", "uint8"):
        setattr(torch, name, np.dtype(name))
    torch.contiguous_format = None
    torch.empty = lambda shape, dtype, device: _tensor(np.zeros(shape, dtype))
    torch.zeros_like = lambda like, dtype=None: _tensor(np.zeros_like(like, dtype=dtype))
    torch.autograd = SimpleNamespace(Function=object)

    def load_inline(*, functions: list[str], **given: Any) -> Any:
        known = {"name", "cpp_sources", "cuda_sources", "extra_cuda_cflags", "no_implicit_headers"}
        assert set(given) <= known
        return SimpleNamespace(
            **{name: lambda *a, name=name: launched.append((name, a)) for name in functions}
        )

    extension: Any = ModuleType("torch.utils.cpp_extension")
    extension.load_inline = load_inline
    return {"torch": torch, "torch.utils": ModuleType("torch.utils"), extension.__name__: extension}


def _called(row: Row, sizes: dict[str, int], inputs: Row) -> list[Any]:
    given = [
        _tensor(inputs[a["name"]]) if a["kind"] == "array" else inputs[a["name"]].tolist()
        for a in row["args"]
        if a["role"] != "out"
    ]
    others = [backward_row(row)] if row["cuda_plain_backward"] is not None else []
    return [*given, *(sizes[symbol] for symbol in Operator(row, *others).loose)]


def _check_passed(
    row: Row, sizes: dict[str, int], passed: tuple[Any, ...], source: str, text: str
) -> None:
    """Arguments of a launcher are those of `plain_args`, then sizes by which its grid is right."""
    declared = re.search(rf"void launch_{row['kernel_name']}\(([^)]*)\)\n", text)
    assert declared is not None
    names = [part.split()[-1] for part in declared[1].split(",")]
    by_name = dict(zip(names, passed, strict=True))
    for arg, plain in zip(row["args"], row["plain_args"], strict=False):
        value = by_name[plain["name"]]
        if arg["kind"] == "array":
            shape = (*evaluate_all(arg["shape"], sizes), *parse(arg["dtype"]).shape)
            assert value.shape == shape, plain["name"]
            assert value.dtype == np.dtype(parse(arg["dtype"]).scalar)
    for plain in row["plain_args"]:
        if plain["size"]:
            assert by_name[plain["name"]] == sizes[plain["size"]]
    grids = re.findall(r"const dim3 grid\w*\((.*)\), block", source)
    whole = {name: value for name, value in by_name.items() if isinstance(value, int)}
    (said, *_), (wanted, *_) = grids, grids_of(row, sizes)
    found = [evaluate(part, whole) for part in said.split(", ")]
    assert (*found, 1, 1)[:3] == (*wanted.grid, 1, 1)[:3]


def test_most_rows_have_a_module_and_it_is_the_same_each_time() -> None:
    rows = [row for _, row in stored_rows(SAMPLES)]
    assert len(MODULES) > 0.8 * len(rows)
    assert all(torch_module(row) == text for row, text in MODULES.values())
    assert sum("autograd.Function" in text for _, text in MODULES.values()) > len(rows) / 3


@pytest.mark.parametrize("key", MODULES)
def test_launchers_are_passed_what_the_kernels_take(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, text = MODULES[key]
    ast.parse(text)
    launched: list[tuple[str, tuple[Any, ...]]] = []
    for name, module in _torch(launched).items():
        monkeypatch.setitem(sys.modules, name, module)
    space: dict[str, Any] = {}
    exec(compile(text, "operator_module", "exec"), space)
    sizes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    called = _called(row, sizes, inputs)
    source = text.partition("namespace backward_pass")[0]
    if row["cuda_plain_backward"] is None:
        space[row["kernel_name"]](*called)
        _check_passed(row, sizes, launched[0][1], source, text)
        return
    (function,) = (value for name, value in space.items() if name.endswith("Function"))
    context = Context()
    results = function.forward(context, *called)
    _check_passed(row, sizes, launched[0][1], source, text)
    outs = results if isinstance(results, tuple) else (results,)
    gradients = function.backward(context, *outs)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    assert len(gradients) == len(called)
    for value, gradient in zip(called, gradients, strict=True):
        assert gradient is None or gradient.shape == value.shape
    backward = backward_row(row)
    _check_passed(
        backward, sizes, launched[1][1], text.partition("namespace backward_pass")[2], text
    )


def test_show_prints_the_module_of_a_row() -> None:
    key = next(iter(MODULES))
    done = CliRunner().invoke(main, ["show", str(SAMPLES), key, "--torch"])
    assert (done.exit_code, done.output) == (0, MODULES[key][1])
    without = [row["id"] for _, row in stored_rows(SAMPLES) if row["id"] not in MODULES]
    for row_id in without[:1]:
        done = CliRunner().invoke(main, ["show", str(SAMPLES), row_id, "--torch"])
        assert done.exit_code == 2
        assert "no such module" in done.output


def test_names_of_launchers_are_none_of_the_parameters() -> None:
    """A kernel may have an array `grid` and a size `stream`."""
    row, _ = next((r, t) for r, t in MODULES.values() if len(r["plain_launch"]) == 1)
    first, old = row["plain_args"][0], row["plain_args"][0]["name"]
    renamed = [{**first, "name": "grid"}, *row["plain_args"][1:]]
    (launch,) = row["plain_launch"]
    args = ["grid" if name == old else name for name in launch["args"]]
    changed = {"plain_args": renamed, "plain_launch": [{**launch, "args": args}]}
    text = torch_module({**row, "cuda_plain_backward": None, **changed})
    assert old != "grid"
    assert "const dim3 grid_(" in text
    assert "<<<grid_, block, " in text
