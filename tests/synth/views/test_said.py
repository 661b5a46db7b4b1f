"""What questions and diagnoses say of a kernel, held against its text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from generators import categories
from generators.build.draw import Draw, Reject
from synth.dataset.stored import stored_rows
from synth.render.host.launcher import CHECK, alignments
from synth.views.diagnosis import WHY, diagnosis, explained
from synth.views.layout import choice_of
from synth.views.plain import LeftOut
from synth.views.slower import MEASURED, Slower, _slower
from synth.views.texts import EXCHANGES

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
ROWS = [row for _, row in stored_rows(SAMPLES) if row["cuda_plain"] is not None]

_START = "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("blockDim.x", "blockDim.y", "as many threads apart as they have along x"),
        ("blockIdx.x", "blockIdx.y", "the block's number along x counts there"),
        ("threadIdx.x", "threadIdx.y", "the thread's number along x counts there"),
        ("threadIdx.x", "blockIdx.x", "`threadIdx.x` counts there, and not `blockIdx.x`"),
    ],
)
def test_another_axis_is_told_as_what_it_does(old: str, new: str, told: str) -> None:
    right = _START + "    y[i] = x[i];\n"
    wrong = right.replace(old, new)
    text = explained(diagnosis(wrong, right), "index_shifted", wrong, right)
    assert told in text
    assert WHY["index_shifted"] not in text


def test_a_neighbour_is_still_told_of_an_element() -> None:
    right, wrong = _START + "    y[i] = x[i];\n", _START + "    y[i] = x[i + 1];\n"
    text = explained(diagnosis(wrong, right), "index_shifted", wrong, right)
    assert text.endswith(f"{WHY['index_shifted']}.")


def test_another_operation_in_an_index_is_another_element() -> None:
    right, wrong = _START + "    y[i + width] = 1;\n", _START + "    y[i - width] = 1;\n"
    text = explained(diagnosis(wrong, right), "operator_swapped", wrong, right)
    assert text.endswith("the index then is that of another element.")
    right, wrong = _START + "    y[i] = a + b;\n", _START + "    y[i] = a - b;\n"
    text = explained(diagnosis(wrong, right), "operator_swapped", wrong, right)
    assert text.endswith(f"{WHY['operator_swapped']}.")


def test_launchers_ask_for_the_alignment_of_the_widest_access() -> None:
    text = (
        "struct __align__(8) Pair { float a, b; };\n"
        "const float4 x4 = *reinterpret_cast<const float4*>(x + first);\n"
        "*reinterpret_cast<Pair*>(&y[first]) = pair;\n"
    )
    args = [{"name": name, "type": "const float*"} for name in "xyz"]
    args += [{"name": "w", "type": "double4*"}, {"name": "n", "type": "int"}]
    assert alignments(text, args) == {"x": 16, "y": 8, "z": 1, "w": 16}
    assert alignments("reinterpret_cast<const int2*>(row)", args)["z"] == 8
    assert "must start at a multiple of" in CHECK
    for row in ROWS:
        found = alignments(row["cuda_plain"], row["plain_args"])
        for kind, name in re.findall(
            r"reinterpret_cast<(?:const )?(?:float|int)(4)\*>\(&?(\w+)", row["cuda_plain"]
        ):
            assert kind == "4"
            assert found.get(name, 16) == 16


def _question(row: dict[str, Any], view: str) -> str:
    try:
        return EXCHANGES[view](row).question
    except LeftOut:
        return ""


def test_calls_that_add_to_one_element_are_not_called_independent() -> None:
    for row in ROWS:
        if "atomic" in row["cuda_plain"]:
            assert "do not depend on" not in _question(row, "plain_python"), row["id"]


def test_a_launch_of_warp_is_told_as_one() -> None:
    told = [_question(row, "reverse") for row in ROWS]
    assert any("The Warp kernel is launched over (" in text for text in told)
    assert not any("It is launched over" in text for text in told)


def test_cells_outside_of_a_cycle_are_not_told_as_state_0() -> None:
    """State 0 is one ahead of the last: cells outside do not count as such."""
    idioms = [
        (category, idiom)
        for category, found in categories().items()
        for idiom in found.idioms
        if "automaton" in idiom
    ]
    told = []
    for category, idiom in idioms:
        for attempt in range(80):
            try:
                draw = Draw(11, category, 2, attempt)
                title = categories()[category].draw_idiom(idiom, draw, 2).description
            except Reject:
                continue
            if "in the next state" in title and "wraps around" not in title:
                told.append(title)
    assert told
    assert all("Cells outside are not counted." in title for title in told)


def test_no_pair_rests_on_what_is_allowed_for_barriers() -> None:
    for row in ROWS:
        choice, found = choice_of(row), _slower(row, {})
        if choice is None or not isinstance(found, Slower):
            continue
        assert found.times()["time"] != MEASURED
        candidate = choice.of(found.schedule)
        assert candidate is not None
        assert not choice.is_doubtful(candidate)
        own, slow = choice.cost(), choice.cost(candidate)
        waits = slow.waits_for_barriers - own.waits_for_barriers
        assert waits <= 0.5 * (slow.time_us - own.time_us)
