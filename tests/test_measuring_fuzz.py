"""scripts/measure/judge/fuzz.py: mutations follow from the seed, and what is left is noticed."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.measure.judge.fuzz import _fault, _left_behind
from scripts.measure.judge.mutations import CHANGES, mutate
from scripts.measure.processes import processes_below, usage
from validate.score.scorer import Verdict

TEXTS = [
    "__global__ void k(float* x, int n)\n{\n    if (n > 1) x[0] = 2.0f * n;\n}\n",
    "",
    ";",
    "}{",
]


def test_equal_seeds_give_equal_texts_and_all_kinds_are_drawn() -> None:
    drawn = [mutate(random.Random(f"1/{k}"), TEXTS, 0) for k in range(400)]
    assert drawn == [mutate(random.Random(f"1/{k}"), TEXTS, 0) for k in range(400)]
    assert {name for _, names in drawn for name in names.split("+")} == set(CHANGES)
    assert len({text for text, _ in drawn}) > 200


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("text", TEXTS)
def test_every_change_takes_every_text(name: str, text: str) -> None:
    for seed in range(30):
        tokens = list(text)
        CHANGES[name](random.Random(seed), tokens, TEXTS)
        assert all(isinstance(token, str) for token in tokens)


def test_processes_and_files_that_stay_are_named(tmp_path: Path) -> None:
    nested = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    child = subprocess.Popen(
        [sys.executable, "-c", nested], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    (tmp_path / "left").write_text("x")
    try:
        while len(processes_below(child.pid)) < 1:
            pass
        assert usage().below_mib > 1
        found = _left_behind(tmp_path)
    finally:
        child.communicate(b"\n")
    assert f"file {tmp_path / 'left'}" in found
    assert any(one.startswith(f"process {child.pid}:") for one in found)
    assert sum(one.startswith("process") for one in found) >= 2


def test_other_verdicts_exceptions_and_slow_answers_are_faults() -> None:
    passed, wrong = Verdict("r", "passed", share=1.0), Verdict("r", "wrong_value", share=0.5)
    assert _fault(passed, passed, 1.0, 10.0) == ""
    assert _fault(passed, wrong, 1.0, 10.0) == "differs"
    assert _fault(wrong, Verdict("r", "wrong_value", share=0.4), 1.0, 10.0) == "differs"
    assert _fault(passed, passed, 11.0, 10.0) == "slow"
    assert _fault("KeyError: x", passed, 1.0, 10.0) == "exception"
