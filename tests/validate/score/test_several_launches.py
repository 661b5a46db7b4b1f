"""Answers of several kernels: how their launches are said, and that each is judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from launch_rows import FIRST, SCRATCH, SECOND, TEXT, row_of_two

from validate.score.scorer import Answer, Scorer
from validate.statuses import ScoreStatus

ROW = row_of_two()
SINGLE = """extern "C" __global__ void total_of(const float* x, float* total, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 64) {
        float sum = 0.0f;
        for (int k = 0; k < 64; ++k) {
            sum += x[64 * i + k];
        }
        total[i] = sum;
    }
}
"""
ONE = {"grid": ["(b + 63) / 64"], "block": [64]}
LAUNCHES = {"launches": [FIRST, SECOND], "scratch": [SCRATCH]}


def said(launches: dict[str, Any]) -> str:
    """A completion with launches in JSON."""
    return f"```cuda\n{TEXT}```\n\n```json\n{json.dumps(launches, indent=2)}\n```\n"


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Scorer(hidden_seed=11) as found:
        yield found


def verdicts(scorer: Scorer, *answers: Answer) -> list[tuple[str, str]]:
    return [(v.status, v.reason) for v in scorer.score_batch(list(answers))]


def test_launches_are_given_said_or_the_rows_own(scorer: Scorer) -> None:
    by_parameter = json.loads(json.dumps(LAUNCHES).replace("64*b", "n"))
    renamed = TEXT.replace("total_of", "k")
    own = {"launches": [{**FIRST, "kernel": "k"}, {**SECOND, "kernel": "k_join"}]}
    found = verdicts(
        scorer,
        Answer(TEXT, ROW),
        Answer(TEXT, ROW, LAUNCHES),
        Answer(said(LAUNCHES), ROW),
        Answer(said(by_parameter), ROW),
        Answer(renamed, ROW, {**LAUNCHES, **own}),
        Answer(SINGLE, ROW, ONE),
        Answer(SINGLE, ROW, [ONE]),
    )
    assert found == [(ScoreStatus.PASSED, "")] * len(found)


def test_a_row_of_one_kernel_takes_answers_of_several(scorer: Scorer) -> None:
    launch = {**ONE, "kernel": "total_of", "args": ["x", "total", "n"], "shared_bytes": 0}
    row = row_of_two(cuda_plain=SINGLE, plain_scratch=[], plain_launch=[launch])
    found = verdicts(scorer, Answer(SINGLE, row), Answer(said(LAUNCHES), row))
    assert found == [(ScoreStatus.PASSED, "")] * 2


WRONG: dict[str, tuple[str, Any, str]] = {
    "another order": (TEXT, {**LAUNCHES, "launches": [SECOND, FIRST]}, "read_out_of_bounds"),
    "without scratch": (TEXT, [FIRST, SECOND], "bad_launch"),
    "an unknown kernel": (
        TEXT,
        {**LAUNCHES, "launches": [FIRST, {**SECOND, "kernel": "join"}]},
        "no_kernel",
    ),
    "a parameter too many": (
        TEXT,
        {**LAUNCHES, "launches": [FIRST, {**SECOND, "args": ["partial", "total", "=b", "n"]}]},
        "bad_signature",
    ),
    "a block too large": (
        TEXT,
        {**LAUNCHES, "launches": [FIRST, {**SECOND, "block": [2048]}]},
        "bad_launch",
    ),
    "more than is promised": (
        TEXT.replace("void total_of_join", "void __launch_bounds__(16) total_of_join"),
        LAUNCHES,
        "bad_launch",
    ),
    "no launch for several": (SINGLE.replace("total_of", "other"), None, "bad_launch"),
    "a launch too many": (TEXT, {**LAUNCHES, "launches": [FIRST, SECOND] * 40}, "bad_launch"),
    "scratch without a type": (TEXT, {**LAUNCHES, "scratch": [{"name": "partial"}]}, "bad_launch"),
    "half of the work": (
        TEXT.replace("k = 63", "k = 31"),
        LAUNCHES,
        "wrong_value",
    ),
    "a race in the second": (
        TEXT.replace("total[j] =", "total[j / 2] ="),
        LAUNCHES,
        "data_race",
    ),
    "a branch for larger sizes": (
        TEXT.replace("i < n ?", "i < n && n < 1000000 ?"),
        LAUNCHES,
        "unseen_branch",
    ),
    "a branch of the second kernel": (
        TEXT.replace("int blocks)", "int blocks, int n)").replace(
            "0.5f * sum;", "n > 1000000 ? 0.0f : 0.5f * sum;"
        ),
        {**LAUNCHES, "launches": [FIRST, {**SECOND, "args": ["partial", "total", "=b", "n"]}]},
        "unseen_branch",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_launch_is_judged(scorer: Scorer, name: str) -> None:
    text, launch, status = WRONG[name]
    assert [found for found, _ in verdicts(scorer, Answer(text, ROW, launch))] == [status]


def test_said_launches_that_are_none_are_refused(scorer: Scorer) -> None:
    wrong = {**LAUNCHES, "launches": [FIRST, {**SECOND, "args": ["parts", "total", "=b"]}]}
    ((status, reason),) = verdicts(scorer, Answer(said(wrong), ROW))
    assert status == ScoreStatus.BAD_LAUNCH
    assert "'parts'" in reason
