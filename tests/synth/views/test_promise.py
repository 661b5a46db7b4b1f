"""Every question whose answer is a kernel of ours says for which inputs, and how close."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from synth.dataset.stored import stored_rows
from synth.views import tensors
from synth.views.plain import LeftOut
from synth.views.promise import _domain, promise_clause
from synth.views.sizes import plain_names, size_names
from synth.views.texts import EXCHANGES
from validate.host.adjoint import tolerance_of
from validate.row.inputs import draw_inputs
from validate.row.sizes import own_sizes

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
ROWS = [row for _, row in stored_rows(SAMPLES)]
OF_TEXTS_AS_THEY_STAND = {"warp", "adjoint", "reverse"}
OF_GRADIENTS = {"gradient"}

Row = dict[str, Any]


def questions(view: str) -> list[tuple[Row, str]]:
    found = []
    for row in ROWS:
        try:
            found.append((row, EXCHANGES[view](row).question))
        except LeftOut:
            continue
    return found


@pytest.mark.parametrize("view", sorted(EXCHANGES.keys() - OF_TEXTS_AS_THEY_STAND - OF_GRADIENTS))
def test_a_question_says_domain_and_tolerance(view: str) -> None:
    asked = questions(view)
    assert asked
    for row, question in asked:
        assert "Inputs: " in question
        assert "Tolerance: " in question
        if view != "renamed":
            assert promise_clause(row) in question


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_promise_names_each_input_with_bounds_and_each_output(row: Row) -> None:
    names = plain_names(row)
    domains, _, tolerances = promise_clause(row).partition("Tolerance: ")
    for arg in row["args"]:
        name = names.get(arg["name"], arg["name"])
        if arg["role"] != "out" and arg["kind"] == "array" and arg["low"] is not None:
            assert f"`{name}`" in domains
        if arg["rtol"] is not None:
            told = rf"`{arg['name']}`[^;]* within {arg['rtol']:g} relative"
            assert re.search(told + (f" plus {arg['atol']:g}" if arg["atol"] else ""), tolerances)


@pytest.mark.parametrize("view", sorted(OF_GRADIENTS))
def test_a_question_for_gradients_says_how_close_they_are_to_be(view: str) -> None:
    asked = questions(view)
    assert asked
    for row, question in asked:
        assert f" plus {tolerance_of(row['args']):g} of an array's largest." in question
        assert "Inputs: " in question


@pytest.mark.parametrize("view", ["torch", "autograd"])
def test_a_question_in_pytorch_says_both(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in ROWS if row["cuda_plain_backward"] and "x" in promise_clause(row))
    text = f"import torch\n\n\ndef {row['kernel_name']}(x):\n    return x\n"
    monkeypatch.setattr(tensors, "tensor_text", lambda _row: text)
    monkeypatch.setattr(tensors, "_differentiate", lambda _row, _text: None)
    made = {"torch": tensors.torch_view, "autograd": tensors.autograd}[view]
    question = made(row).question
    assert "Inputs: " in question
    assert "Tolerance: " in question
    assert ("gradients within" in question) == (view == "autograd")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"init": "uniform", "low": "-1.0", "high": "2.5"}, "in [-1, 2.5]"),
        ({"init": "uniform", "low": "1e-05", "high": "1.0"}, "in [1e-05, 1]"),
        ({"init": "sorted", "low": "0", "high": "9"}, "in [0, 9], ascending"),
        ({"init": "unit", "low": None, "high": None}, "of length 1"),
        ({"init": "permutation", "low": None, "high": None}, "a permutation"),
        (
            {"init": "reduction_identity", "low": "inf", "high": "inf"},
            "starting at inf or at what an earlier call left",
        ),
        ({"init": "index_of:m", "low": None, "high": None}, "in [0, `m`)"),
        ({"init": "size:m", "low": None, "high": None}, "= `m`"),
        ({"init": "uniform", "low": "0", "high": "1", "among": ["1"]}, "of a few values"),
    ],
)
def test_a_domain_in_words(entry: Row, said: str) -> None:
    assert _domain("x", {"dtype": "float32", **entry}, {"m": "m"}) == said


def test_drawn_inputs_lie_in_the_domain_that_is_told() -> None:
    told = 0
    for row in ROWS:
        inputs = draw_inputs(row["args"], own_sizes(row["sizes"]), row["input_seed"])
        for arg in row["args"]:
            told_of = "" if arg["fields"] else _domain(arg["name"], arg, size_names(row))
            found = re.fullmatch(r"in \[(\S+), (\S+)\]", told_of)
            if found and arg["role"] != "out" and inputs[arg["name"]].dtype.names is None:
                low, high = map(float, found.groups())
                slack = 1e-3 * max(abs(low), abs(high))
                assert inputs[arg["name"]].min() >= low - slack, arg
                assert inputs[arg["name"]].max() <= high + slack, arg
                told += 1
    assert told > len(ROWS)
