"""Answers on a GPU: a right one has a time, a wrong one none, and a crash costs its own answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from synth.loop.stopwatch import Stopwatch
from synth.views.plain import plain_answer
from validate.gpu.device import Device

pytestmark = pytest.mark.gpu

Row = dict[str, Any]
_WILD = "*reinterpret_cast<volatile int*>(16) = 1;"


@pytest.fixture(scope="module")
def timer(devices: list[Device]) -> Iterator[Stopwatch]:
    with Stopwatch(devices[0]) as made:
        yield made


def own(rows: list[Row], count: int = 6) -> list[Row]:
    """Rows with one kernel, of which some index by their place in the grid."""
    found = [
        row
        for row in rows
        if row["cuda_plain"]
        and len(row["plain_launch"]) == 1
        and "blockIdx.x" in row["cuda_plain"]
        and row["regime"]
    ]
    return found[:count]


def test_own_texts_have_a_time_below_no_roof_of_memory(
    rows: list[Row], timer: Stopwatch, devices: list[Device]
) -> None:
    for row in own(rows):
        found = timer.of(plain_answer(row), row)
        assert (found.how, found.why, found.device) == ("measured", "", devices[0].name), row["id"]
        assert found.us is not None
        assert found.us > 0.0
        assert found.roof_us is not None
        assert found.roof_us > 0.0


def test_a_template_of_ones_own_has_a_time(rows: list[Row], timer: Stopwatch) -> None:
    row = own(rows, 1)[0]
    text = plain_answer(row).replace('extern "C" __global__', "__global__")
    assert text != plain_answer(row)
    assert timer.of(text, row).how == "measured"


@pytest.mark.parametrize("slip", ["7 + blockIdx.x", "blockIdx.x + (blockIdx.x == 0 ? 1 : 0)"])
def test_a_wrong_answer_has_none(rows: list[Row], timer: Stopwatch, slip: str) -> None:
    for row in own(rows, 3):
        found = timer.of(plain_answer(row).replace("blockIdx.x", slip), row)
        assert found.us is None
        assert found.why.startswith("on the device: "), found


def test_a_crash_costs_its_own_answer(rows: list[Row], timer: Stopwatch) -> None:
    row = own(rows, 1)[0]
    text = plain_answer(row)
    start = text.index("{", text.index("__global__ void")) + 1
    crashed = timer.of(f"{text[:start]}\n    {_WILD}{text[start:]}", row)
    assert crashed.us is None
    assert "launch_error" in crashed.why
    assert timer.of(text, row).how == "measured"
