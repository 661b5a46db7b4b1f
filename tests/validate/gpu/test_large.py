"""Elements in doubt at a large shape: what a few decide by the last bits, and what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from validate.gpu import large
from validate.gpu.text import Ran, Shape

COUNT = 200_000
EDGE = np.float32(0.75)
ROW: dict[str, Any] = {
    "launch": {"dim": ["n"]},
    "sizes": [{"symbol": "n", "value": 64, "min": 1, "multiple_of": 1}],
    "reference": "def step(dim, x, out):\n    for i in range(dim[0]):\n        out[i] = x[i]\n",
    "kernel_name": "step",
    "args": [
        {"name": "x", "kind": "array", "role": "in", "dtype": "float32", "shape": ["n"]},
        {"name": "out", "kind": "array", "role": "out", "dtype": "float32", "shape": ["n"]},
    ],
}
for _arg in ROW["args"]:
    _arg |= {"rtol": 1e-5, "atol": 1e-6, "fields": None}


def stepped(x: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"out": np.where(x < EDGE, np.float32(1.0), np.float32(2.0))}


def ran(outputs: dict[str, Any]) -> Ran:
    return Ran(1.0, outputs, None)


def numbers(near: int) -> np.ndarray[Any, Any]:
    """Numbers, of which so many lie three units in the last place below the edge."""
    x = np.linspace(0.0, 0.7, COUNT, dtype=np.float32)
    x[:near] = EDGE - 3 * np.spacing(np.float32(0.74))
    return x


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is said where a text rounds so that it sees every number four units further up."""
    monkeypatch.setattr(large, "run_text", lambda _t, _r, shape: ran(stepped(shape.inputs["x"])))

    def compared(near: int, wrong: int = 0) -> Any:
        x = numbers(near)
        shape = Shape({"n": COUNT}, (COUNT,), {"x": x})
        other = stepped(x + 4 * np.spacing(x))
        other["out"][COUNT - wrong :] += 0.5
        texts: list[Any] = ["as always"]
        return large.disagreement(ROW, lambda: texts, shape, ran(stepped(x)), ran(other))

    return compared


def test_one_element_that_the_last_bits_decide_is_no_fault(found: Any) -> None:
    assert found(near=0) is None
    assert found(near=1) is None


def test_many_are(found: Any) -> None:
    mismatch, name = found(near=40)
    assert (mismatch.bad, name) == (40, "out")


def test_one_wrong_element_is(found: Any) -> None:
    mismatch, _ = found(near=1, wrong=1)
    assert (mismatch.bad, mismatch.index) == (1, (COUNT - 1,))
