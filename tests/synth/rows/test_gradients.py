"""Backward kernels of rows: what is published, what is refused, and what validates."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from synth.check.dataset import check_dataset
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.rows.gradients import checked_gradients
from synth.rows.runners import TextRunners
from synth.run import generate as run
from validate.host.adjoint import DIRECTIONS
from validate.host.gradient import _directions
from validate.host.runner import HostRunner
from validate.row.claims import contradictions
from validate.row.columns import GRADIENT_COLUMNS
from validate.row.gradient import backward_row, gradient_names
from validate.statuses import GradientStatus

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
ROWS: list[dict[str, Any]] = [row for _, row in stored_rows(SAMPLES)]
WITH = [row for row in ROWS if row["cuda_plain_backward"] is not None]


def test_a_row_has_all_of_its_backward_kernel_or_nothing() -> None:
    assert len(WITH) > len(ROWS) / 3
    for row in ROWS:
        there = {row[name] is not None for name in GRADIENT_COLUMNS}
        assert there == {row["checks"]["gradient"] == GradientStatus.AGREES}
        assert not contradictions(row)


def test_what_parameters_hold_follows_from_the_arguments() -> None:
    for row in WITH:
        names = {arg["name"]: arg for arg in row["args"]}
        for (arg, field), grad in gradient_names(row).items():
            assert names[arg]["kind"] == "array"
            assert grad.startswith("grad_")
            assert (field is not None) == bool(names[arg]["fields"])
        own = backward_row(row)
        assert re.search(rf"void {own['kernel_name']}\(|void __launch_bounds__", own["cuda_plain"])
        assert [a["role"] for a in own["args"] if a["role"] == "out"] == []


def test_a_wrong_backward_kernel_does_not_agree() -> None:
    """Half of the only cotangent: half of every gradient."""
    wrong = []
    for row in WITH:
        text = row["cuda_plain_backward"]
        held = Counter(arg["holds"] for arg in row["backward_args"])
        changed, times = re.subn(r"(float \w+ =) (grad_\w+\[[^\]]+\];)", r"\1 0.5f * \2", text)
        if times == held["cotangent"] == 1 and "double" not in text:
            wrong.append({**row, "cuda_plain_backward": changed})
    wrong = wrong[:6]
    assert len(wrong) >= 3
    right = [row for row in WITH if row["id"] in {w["id"] for w in wrong}]
    with HostRunner() as host:
        assert all(found.adjoint == "agrees" for found in host.run_gradient(right))
        assert all(found.adjoint == "warp_differs" for found in host.run_gradient(wrong))


def test_a_text_that_takes_one_block_for_all_is_refused() -> None:
    """It no longer asks for the size of its block: whole blocks show it. Where a thread walks over
    all others, a reference of more than one block may take too long."""
    every = r"blockIdx\.(\w) \* blockDim\.\1 \+ threadIdx\.\1"
    texts = [re.sub(every, r"threadIdx.\1", row["cuda_plain_backward"]) for row in WITH]
    cut = [
        {**row, "cuda_plain_backward": text}
        for row, text in zip(WITH, texts, strict=True)
        if "blockDim" not in text and text != row["cuda_plain_backward"]
        if not re.search(r"for \w+ in range\((?!\d+(?:, \d+)*\))", row["python"])
    ][:6]
    assert len(cut) >= 3
    with HostRunner() as host:
        found = host.run_gradient(cut)
    assert [one.adjoint for one in found] == ["warp_differs"] * len(cut)
    assert not any("small blocks" in one.adjoint_reason for one in found)


def test_slow_references_have_one_direction_at_the_rows_own_shape_and_none_at_others() -> None:
    assert [_directions(0, statements) for statements in (1, 1_000_000)] == [DIRECTIONS, 1]
    assert [_directions(1, statements) for statements in (1, 1_000_000)] == [1, 0]


def test_a_backward_kernel_that_cannot_run_is_no_row_s_end() -> None:
    (row, *_) = WITH
    broken = {
        **row,
        "cuda_plain_backward": row["cuda_plain_backward"].replace("{", "{ nothing;", 1),
    }
    with HostRunner() as host:
        (found, fine) = host.run_gradient([broken, row])
    assert found.status == "compile_error"
    assert (fine.status, fine.adjoint) == ("agrees", "agrees")


def test_what_was_stored_is_made_again() -> None:
    runners = TextRunners()
    try:
        found = checked_gradients(runners, ROWS[:8])
    finally:
        runners.close()
    for row, gradient in zip(ROWS[:8], found, strict=True):
        assert gradient.status == row["checks"]["gradient"]
        assert {name: row[name] for name in GRADIENT_COLUMNS} == dict(gradient.columns)


@pytest.mark.parametrize("verify", ["run"])
def test_without_gradients_a_dataset_says_so_and_validates(verify: str, tmp_path: Path) -> None:
    settings = make_settings(seed=5, verify=verify, gradient=False)
    run.generate(settings, 6, tmp_path / "data")
    rows = [row for _, row in stored_rows(tmp_path / "data")]
    assert {row["checks"]["gradient"] for row in rows} == {GradientStatus.OFF}
    assert all(row[name] is None for row in rows for name in GRADIENT_COLUMNS)
    assert not check_dataset(tmp_path / "data", verify).failed
