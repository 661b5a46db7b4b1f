"""Images that wrap around: gates take them, and taps may reach further than an image is wide."""

from __future__ import annotations

from contextlib import suppress

import pytest

from generators import categories
from generators.build.draw import Draw, Reject
from generators.program.ir import Program
from synth.dataset.settings import Versions, make_settings
from synth.rows.maker import PairMaker, Row, accept
from validate.host.runner import run_plain_rows

LEVEL = 3


def _wrapping(idiom: str, draws: int) -> list[Program]:
    found = []
    for attempt in range(draws):
        try:
            program = categories()["math"].draw_idiom(idiom, Draw(7, "math", LEVEL, attempt), LEVEL)
        except Reject:
            continue
        if "wraps around" in program.description:
            found.append(program)
    return found


@pytest.mark.parametrize(
    ("idiom", "draws"), [("gaussian_pass", 60), ("bilateral_filter", 80), ("hit_or_miss", 120)]
)
def test_gates_take_what_wraps_around(idiom: str, draws: int) -> None:
    drawn = _wrapping(idiom, draws)
    reasons = []
    for number, program in enumerate(drawn):
        try:
            accept(program, LEVEL, number)
        except Reject as reject:
            reasons.append(str(reject))
    assert len(drawn) >= 4
    assert 2 * len(reasons) < len(drawn), reasons
    assert not [reason for reason in reasons if "mod" in reason or "neutral" in reason]


def _rows(programs: list[Program]) -> list[Row]:
    accepted = []
    for number, program in enumerate(programs):
        with suppress(Reject):
            accepted.append(accept(program, LEVEL, number))
    maker = PairMaker(make_settings(verify="text"), Versions.installed())
    return maker.rows(accepted)


def test_an_element_moves_over_an_image_that_wraps_around() -> None:
    drawn = _wrapping("hit_or_miss", 240)
    rows = _rows([p for p in drawn if "3 x 3 element" in p.description])
    assert rows
    assert all(row["python"].count(" - 1) + ") == 2 for row in rows)
    assert [r.status for r in run_plain_rows(rows)] == ["agrees"] * len(rows)


def test_taps_beyond_an_image_come_around_to_it() -> None:
    """The host run has a shape of 29 taps and two rows and columns."""
    drawn = _wrapping("gaussian_pass", 240)
    rows = _rows([p for p in drawn if any(s.symbol == "taps" for s in p.sizes)])
    assert len(rows) >= 2
    assert [r.status for r in run_plain_rows(rows)] == ["agrees"] * len(rows)
