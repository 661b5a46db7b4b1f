"""Adapters: what other trainers are given is what the scorer gives.

Those whose packages are small are tried here; `scripts/measure/frameworks/adapters.py` tries all.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import pairsmith
from scripts.measure.frameworks.adapters import (
    scores,
    toy_answers,
    try_reasoning_gym,
    try_verifiers,
)
from synth.loop.adapters import trl, verl
from synth.loop.tasks import Entry

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return list(pairsmith.tasks(path=SAMPLES, size=3))


def test_a_toy_model_is_right_once(entries: list[Entry]) -> None:
    assert scores(entries, toy_answers(entries)) == [1.0, 0.0, 0.0]


def test_trl_is_given_columns_and_a_tool(entries: list[Entry]) -> None:
    rows, said = trl.rows(entries), toy_answers(entries)
    columns = {name: [row[name] for row in rows] for name in ("prompt", "row")}
    messages = [[{"role": "assistant", "content": text}] for text in said]
    assert trl.reward(columns["prompt"], messages, row=columns["row"]) == [1.0, 0.0, 0.0]
    environment = trl.KernelEnvironment()
    assert environment.reset(**rows[0]) is None
    assert environment.get_reward() == 0.0
    assert "there is no __global__ void kernel" in environment.submit(said[2])
    assert environment.submit(said[0]) == "It is right."
    # What it tries after that does no harm.
    environment.submit(said[2])
    assert environment.get_reward() == 1.0
    environment.reset(**rows[0])
    assert environment.get_reward() == 0.0


def test_verl_is_given_scores(entries: list[Entry]) -> None:
    found = [
        verl.compute_score(
            row["data_source"], text, row["reward_model"]["ground_truth"], row["extra_info"]
        )
        for row, text in zip(verl.rows(entries), toy_answers(entries), strict=True)
    ]
    assert [one["score"] for one in found] == [1.0, 0.0, 0.0]
    assert [one["judged"] for one in found] == [1.0, 1.0, 1.0]
    json.dumps(found)


@pytest.mark.parametrize(
    ("package", "attempt"),
    [("reasoning_gym", try_reasoning_gym), ("verifiers", try_verifiers)],
)
def test_a_package_gives_what_the_scorer_gives(
    entries: list[Entry],
    package: str,
    attempt: Callable[[Path, list[Entry], list[str]], list[float]],
) -> None:
    pytest.importorskip(package)
    assert attempt(SAMPLES, entries, toy_answers(entries)) == [1.0, 0.0, 0.0]
