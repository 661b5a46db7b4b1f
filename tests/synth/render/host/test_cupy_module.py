"""Modules for CuPy: the launches that they make, beside those that a row names."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from synth.cli.main import main
from synth.dataset.stored import stored_rows
from synth.render.host.cupy_module import cupy_module
from synth.render.host.launcher import NoHostSide
from synth.render.host.operator import Operator
from synth.render.host.torch_module import torch_module
from validate.host.plain_steps import grids_of
from validate.row.dtypes import parse
from validate.row.gradient import backward_row
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes
from validate.text.plain import kernel_names

SAMPLES = Path(__file__).resolve().parents[4] / "data" / "samples"

Row = dict[str, Any]
Launched = list[tuple[str, tuple[int, ...], tuple[int, ...], tuple[Any, ...]]]


def _modules() -> dict[str, tuple[Row, str]]:
    found = {}
    for _, row in stored_rows(SAMPLES):
        try:
            found[row["id"]] = (row, cupy_module(row))
        except NoHostSide:
            read = [a for a in row["args"] if a["kind"] == "array" and a["role"] != "out"]
            assert not read or any(arg["fields"] for arg in row["args"])
    return found


MODULES = _modules()


def _cupy(launched: Launched) -> ModuleType:
    """A stand-in that allocates with NumPy and notes launches."""

    class RawModule:
        def __init__(self, *, code: str, options: tuple[str, ...]) -> None:
            assert options == ("--std=c++17",)
            self.kernels = kernel_names(code)

        def get_function(self, name: str) -> Any:
            assert name in self.kernels

            def launch(grid: Any, block: Any, args: Any, shared_mem: int = 0) -> None:
                launched.append((name, grid, block, args))

            return launch

    cupy: Any = ModuleType("cupy")
    cupy.RawModule = RawModule
    cupy.empty, cupy.zeros, cupy.zeros_like = np.empty, np.zeros, np.zeros_like
    for name in ("float16", "float32", "float64", "bool_"):
        setattr(cupy, name, getattr(np, name))
    for bits in (8, 16, 32, 64):
        for kind in ("int", "uint"):
            setattr(cupy, f"{kind}{bits}", getattr(np, f"{kind}{bits}"))
    return cupy


def _check(row: Row, sizes: dict[str, int], launches: Launched) -> None:
    """One launch after the other is what the row says, and is passed what its kernel takes."""
    assert [name for name, *_ in launches] == [one["kernel"] for one in row["plain_launch"]]
    for (_, grid, block, passed), one, wanted in zip(
        launches, row["plain_launch"], grids_of(row, sizes), strict=True
    ):
        assert (*grid, 1, 1)[:3] == (*wanted.grid, 1, 1)[:3]
        assert list(block) == list(one["block"])
        names = one["args"] or [given["name"] for given in row["plain_args"]]
        by_name = dict(zip(names, passed, strict=True))
        for given in row["plain_args"]:
            if given["size"] and given["name"] in by_name:
                assert by_name[given["name"]] == np.int32(sizes[given["size"]])
        for arg, given in zip(row["args"], row["plain_args"], strict=False):
            value = by_name.get(given["name"])
            if value is None:
                continue
            kind = parse(arg["dtype"])
            if arg["kind"] == "array":
                assert value.shape == (*evaluate_all(arg["shape"], sizes), *kind.shape)
                assert value.dtype == np.dtype(kind.scalar)
            else:
                assert value.nbytes == np.dtype(kind.scalar).itemsize * int(np.prod(kind.shape))


@pytest.mark.parametrize("key", MODULES)
def test_launches_are_those_of_the_row(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row, text = MODULES[key]
    assert ast.parse(text)
    assert cupy_module(row) == text
    launched: Launched = []
    monkeypatch.setitem(sys.modules, "cupy", _cupy(launched))
    space: dict[str, Any] = {}
    exec(compile(text, "module", "exec"), space)
    sizes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    backward = backward_row(row) if row["cuda_plain_backward"] is not None else None
    loose = Operator(row, *([backward] if backward else [])).loose
    called = [inputs[a["name"]] for a in row["args"] if a["role"] != "out"]
    called += [sizes[symbol] for symbol in loose]
    results = space[row["kernel_name"]](*called)
    outputs = [arg for arg in row["args"] if arg["role"] != "in"]
    results = results if isinstance(results, tuple) else (results,)
    assert [r.dtype for r in results] == [np.dtype(parse(a["dtype"]).scalar) for a in outputs]
    _check(row, sizes, launched)
    if backward is None:
        return
    launched.clear()
    given = {arg["name"]: result for arg, result in zip(outputs, results, strict=True)}
    function = space[backward["kernel_name"]]
    starts = function.__code__.co_varnames[len(called) : function.__code__.co_argcount]
    of = {entry["name"]: entry["arg"] for entry in row["backward_args"]}
    function(*called, *(given[of[name]] for name in starts))
    _check(backward, sizes, launched)


def test_show_prints_it() -> None:
    key = next(iter(MODULES))
    done = CliRunner().invoke(main, ["show", str(SAMPLES), key, "--cupy"])
    assert (done.exit_code, done.output) == (0, MODULES[key][1])


def test_most_rows_have_one() -> None:
    assert len(MODULES) > 0.8 * sum(1 for _ in stored_rows(SAMPLES))


def test_an_output_that_the_backward_kernel_takes_for_its_extents_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = next(
        r
        for r, _ in MODULES.values()
        if r["backward_args"]
        and not r["plain_scratch"]
        and any(arg["role"] == "out" and arg["dtype"] == "float32" for arg in r["args"])
    )
    place = len(row["args"])
    like = next(a for a in row["args"] if a["role"] == "out" and a["dtype"] == "float32")
    found = {**like, "name": "places", "dtype": "int32"}
    given = {"name": "places", "type": "int*", "size": None}
    taken = {**row["backward_args"][0], "name": "places", "arg": "places", "holds": "value"}
    taken |= {"type": "const int*", "field": None}
    with_places = {
        **row,
        "args": [*row["args"], found],
        "plain_args": [*row["plain_args"][:place], given, *row["plain_args"][place:]],
        "backward_args": [taken, *row["backward_args"]],
        "backward_launch": [{**one, "args": []} for one in row["backward_launch"]],
    }
    launched: Launched = []
    monkeypatch.setitem(sys.modules, "cupy", _cupy(launched))
    space: dict[str, Any] = {}
    exec(compile(cupy_module(with_places), "module", "exec"), space)
    sizes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    function = space[f"{row['kernel_name']}_backward"]
    known = {**sizes, **inputs}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    known |= {f"{name}_": value for name, value in known.items()}
    function(*(known.get(name, inputs[like["name"]]) for name in names))
    passed = launched[-1][3]
    assert passed[0].shape == inputs[like["name"]].shape
    assert passed[0].dtype == np.int32
    assert "places = torch.empty(" in torch_module(with_places).split("def backward")[1]
