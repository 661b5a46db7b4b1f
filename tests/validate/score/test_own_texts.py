"""What people and this project wrote for rows passes: own texts, and honest rewrites by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from score_rows import REWRITES, cube_row, pinned_rows

from generators.program.serialise import from_json
from synth.dataset.stored import stored_rows
from synth.render.cuda.module import render
from validate.score.scorer import Answer, Scorer

Row = dict[str, Any]
SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"


def with_plain(row: Row) -> Row:
    """The row with plain columns, made from its program where it has none."""
    if row["cuda_plain"] is None:
        row.update(render(from_json(row["program"])).columns())
    return row


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Scorer(hidden_seed=11, workers=2) as found:
        yield found


def test_own_texts_of_the_samples_pass_on_inputs_that_they_do_not_show(scorer: Scorer) -> None:
    rows = [with_plain(row) for _, row in stored_rows(SAMPLES)]
    verdicts = scorer.score_batch([Answer(row["cuda_plain"], row) for row in rows])
    assert [v.id for v in verdicts] == [row["id"] for row in rows]
    assert [v.reason for v in verdicts] == [""] * len(rows)
    assert {(v.status, v.inputs, v.credit) for v in verdicts} == {("passed", "hidden", 1.0)}


def test_honest_rewrites_pass(scorer: Scorer) -> None:
    paths = sorted(REWRITES.glob("*.cu"))
    assert len(paths) >= 20
    answers = []
    for path in paths:
        text = path.read_text()
        named, launch = re.search(r"// row: (\w+)", text), re.search(r"// launch: (.*)", text)
        assert named is not None
        assert launch is not None
        answers.append(Answer(text, pinned_rows()[named[1]], json.loads(launch[1])))
    verdicts = scorer.score_batch(answers)
    wrong = {p.name: v for p, v in zip(paths, verdicts, strict=True) if not v.passed}
    assert not wrong


def test_texts_for_another_row_do_not_pass(scorer: Scorer) -> None:
    row = cube_row()
    other = next(found for _, found in stored_rows(SAMPLES) if len(found["args"]) > 3)
    warp = other["cuda_prologue"] + other["cuda_helpers"] + other["cuda_forward"]
    assert scorer.score(warp, row).status == "compile_error"
    assert scorer.score(with_plain(other)["cuda_plain"], row).status == "bad_signature"
