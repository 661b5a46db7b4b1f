"""scripts/measure/judge/on_gpu.py where there is no GPU: what becomes of a text, by a stand-in."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hand_rows import arg, output, size_of, sizes

from scripts.measure.judge.gpu.folder import Job, Rows, read_jobs, write_folder
from scripts.measure.judge.gpu.pool import run_all
from scripts.measure.judge.on_gpu import compare
from validate.score.hidden import KINDS, OWN, Draw, Trial, trial_inputs

ROW: dict[str, Any] = {
    "id": "0" * 16,
    "kernel_name": "doubled",
    "args": [arg("x", "float32"), output("out", "float32"), size_of("n", "n")],
    "sizes": sizes(n=8),
    "launch": {"dim": ["n"], "block_dim": 256},
    "plain_args": [],
    "plain_launch": {"grid": ["1"], "block": [32], "shared_bytes": 0},
}
EDGE = {"name": "edges", "values": [{"arg": "x", "field": "", "among": ["0.5"]}]}
TRIALS = (
    Trial({"n": 8}, 1),
    Trial({"n": 8}, 2, what="again"),
    Trial({"n": 99}, 3, OWN, "wide"),
    Trial({"n": 8}, 1, what="at edges", edge=EDGE),
)
ENDS = {
    "good": "passed",
    "WRONG": "wrong_value",
    "STATE": "wrong_value",
    "REFUSED": "compile_error",
    "NO END": "timeout",
    "HANGS": "timeout",
    "DIES": "launch_error",
    "FAULT": "launch_error",
    "BUG": "error",
    "OUTSIDE": "wrote_out_of_bounds",
    "good again": "passed",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a text for each end."""
    draw = Draw(KINDS[0], TRIALS)
    wanted = {
        number: {"out": 2.0 * trial_inputs(ROW, trial, draw)["x"].astype(np.float64)}
        for number, trial in enumerate(TRIALS)
    }
    jobs = [
        Job(number, word, "key", f"// {word}\n", "", "k", ROW["plain_launch"], "passed", "")
        for number, word in enumerate(ENDS)
    ]
    write_folder(tmp_path, jobs, {"key": (ROW, Draw(KINDS[0], TRIALS, wanted=wanted))})
    return tmp_path


def ran(folder: Path, done: set[int]) -> dict[int, dict[str, Any]]:
    told = argparse.Namespace(device="stand_in_gpu", compile_s=4.0, launch_s=4.0, workers=2)
    found: list[dict[str, Any]] = []
    run_all(folder, done, told, found.append)
    assert len({one["number"] for one in found}) == len(found)
    return {one["number"]: one for one in found}


def test_each_text_ends_as_it_does_and_costs_no_other(folder: Path) -> None:
    found = ran(folder, set())
    assert [found[number]["status"] for number in range(len(ENDS))] == list(ENDS.values())
    assert "a fault of ours" in found[list(ENDS).index("BUG")]["reason"]
    assert found[0]["launches"] == len(TRIALS) + 1


def test_what_has_a_result_is_left_out(folder: Path) -> None:
    assert set(ran(folder, set(range(1, len(ENDS))))) == {0}


def test_what_is_written_is_read(folder: Path) -> None:
    assert [job.name for job in read_jobs(folder)] == list(ENDS)
    judge = Rows(folder).judge("key")
    assert judge.trials == TRIALS
    assert judge.wanted[2]["out"].shape == (99,)


def test_texts_that_pass_on_the_host_alone_are_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = folder / "gpu.jsonl"
    lines = [
        {"number": number, "status": status, "reason": ""}
        for number, status in enumerate(ENDS.values())
    ]
    results.write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
    assert compare(folder, results) == sum(status != "passed" for status in ENDS.values())
    assert "not run" in capsys.readouterr().out
