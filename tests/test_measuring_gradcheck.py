"""PyTorch as the judge of rows' operators, with PyTorch texts in place of built extensions.

There is no GPU here: what is tested is how rows are called and judged, not the extensions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from generators.program.serialise import from_json
from scripts.measure.frameworks.gradcheck import against_text, float_width, gradcheck, small_sizes
from synth.dataset.stored import stored_rows
from synth.render.array.module import render_torch
from synth.render.array.values import NoForm
from synth.render.host.launcher import NoHostSide
from synth.render.host.torch_module import torch_module
from validate.row.dtypes import parse

torch = pytest.importorskip("torch")
SAMPLES = Path(__file__).resolve().parent.parent / "data" / "samples"


def _rows(width: str, most: int) -> list[tuple[dict[str, Any], Any]]:
    """Rows of one width of floats, with a stand-in for their operator: their PyTorch text."""
    found: list[tuple[dict[str, Any], Any]] = []
    for _, row in stored_rows(SAMPLES):
        if row["cuda_plain_backward"] is None or float_width(row) != width or len(found) == most:
            continue
        try:
            torch_module(row)
            function = _stand_in(row)
        except (NoForm, NoHostSide):
            continue
        if function is not None:
            found.append((row, function))
    return found


def _stand_in(row: dict[str, Any]) -> Any:
    """A function of what the row's operator takes, which is its PyTorch text; None for a text that
    asks for more."""
    space: dict[str, Any] = {}
    exec(render_torch(from_json(row["program"])), space)
    text = space[row["kernel_name"]]
    asked = text.__code__.co_varnames[: text.__code__.co_argcount]
    given = [arg["name"] for arg in row["args"] if arg["role"] != "out"]
    shapes = {arg["name"]: parse(arg["dtype"]).shape for arg in row["args"]}

    def operator(*called: Any) -> Any:
        known = {
            name: torch.tensor(value).reshape(shapes[name]) if isinstance(value, list) else value
            for name, value in zip(given, called, strict=False)
        }
        return text(*(known[name] for name in asked))

    return operator if set(asked) <= set(given) else None


def _doubled(function: Any) -> Any:
    """An operator whose gradients are twice what they should be."""

    def wrong(*called: Any) -> Any:
        found = function(*called)
        many = found if isinstance(found, tuple) else (found,)
        twice = [2 * x - x.detach() if x.is_floating_point() else x for x in many]
        return tuple(twice) if isinstance(found, tuple) else twice[0]

    return wrong


def test_gradcheck_judges_rows_of_doubles() -> None:
    rows = _rows("float64", 3)
    assert rows
    for row, function in rows:
        assert gradcheck(row, function, "cpu")["status"] == "agrees"
        assert gradcheck(row, _doubled(function), "cpu")["status"] == "differs"


def test_autograd_of_the_text_judges_rows_of_floats() -> None:
    rows = _rows("float32", 5)
    assert len(rows) == 5
    for row, function in rows:
        assert against_text(row, function, "cpu")["status"] == "agrees"
        assert against_text(row, _doubled(function), "cpu")["status"] == "differs"


def test_small_sizes_are_allowed_ones() -> None:
    for row, _ in _rows("float32", 5):
        sizes = small_sizes(row)
        assert all(sizes[e["symbol"]] >= e["min"] for e in row["sizes"])
        assert all(sizes[e["symbol"]] % max(1, e["multiple_of"]) == 0 for e in row["sizes"])
