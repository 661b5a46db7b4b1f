"""OpenCL C is built and run by a real runtime, and what is wrong with a text is seen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hand_rows import arg, output, scalar

from synth.check.targets import translated
from synth.dataset.stored import stored_rows
from synth.render.cuda.dialect.table import NoForm
from validate.errors import OpenclUnavailable
from validate.opencl import device
from validate.opencl.runner import OpenclRunner
from validate.statuses import OpenclStatus

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
HEAD = "__kernel void scale(__global float* restrict x, __global float* restrict y, int n)"
GOOD = "const int i = get_global_id(0); if (i < n) y[i] = 2.0f * x[i];"
REFERENCE = "def scale(dim, x, y):\n    for i in range(dim[0]):\n        y[i] = 2.0 * float(x[i])\n"


@pytest.fixture(scope="module")
def runner() -> Iterator[OpenclRunner]:
    with OpenclRunner(timeout_s=300.0) as made:
        try:
            made.start()
        except OpenclUnavailable as missing:
            pytest.skip(str(missing))
        yield made


def row_of(body: str) -> dict[str, Any]:
    return {
        "id": "scale",
        "kernel_name": "scale",
        "reference": REFERENCE,
        "cuda_plain": f"{HEAD}\n{{\n    {body}\n}}\n",
        "args": [arg("x", "float32"), output("y", "float32")],
        "plain_args": [
            {"name": "x", "type": "", "size": None},
            {"name": "y", "type": "", "size": None},
            {"name": "n", "type": "int", "size": "n"},
        ],
        "plain_launch": [
            {
                "kernel": "scale",
                "args": ["x", "y", "n"],
                "grid": ["(n + 63) / 64"],
                "block": [64],
                "shared_bytes": 0,
            }
        ],
        "plain_scratch": [],
        "sizes": [{"symbol": "n", "value": 200, "min": 1, "multiple_of": 1}],
        "launch": {"dim": ["n"], "block_dim": 256},
        "input_seed": 5,
        "edge_inputs": [],
    }


@pytest.mark.usefixtures("runner")
def test_a_runtime_that_builds_nothing_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(device, "_TRIAL", "__kernel void trial() { nonsense; }")
    with patch.dict(os.environ), pytest.raises(OpenclUnavailable, match="builds no kernel") as told:
        device.Cpu(tmp_path)
    assert "\n" not in str(told.value)


def test_a_good_text_agrees_at_every_shape(runner: OpenclRunner) -> None:
    found = runner.run(row_of(GOOD))
    assert (found.status, found.reason) == (OpenclStatus.AGREES, "")
    assert len(found.shapes) == 3


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("y[0] = nonsense;", OpenclStatus.COMPILE_ERROR, "nonsense"),
        (GOOD.replace("2.0f", "2.001f"), OpenclStatus.WRONG_VALUE, "y["),
        (GOOD.replace("i < n", "i < n - 1"), OpenclStatus.WRONG_VALUE, "y["),
        (GOOD.replace("i < n", "i <= n"), OpenclStatus.WROTE_OUT_OF_BOUNDS, "y: byte 80"),
        (f"{GOOD} if (i == 0) x[1] = 3.0f;", OpenclStatus.INPUT_CHANGED, "x was changed"),
        (f"{GOOD} if (i == 0) y[-1] = 3.0f;", OpenclStatus.WROTE_OUT_OF_BOUNDS, "byte -4"),
        ("*(volatile __global int*)16 = 1;", OpenclStatus.CRASHED, "SIG"),
    ],
)
def test_a_bad_text_is_told(
    runner: OpenclRunner, body: str, status: OpenclStatus, reason: str
) -> None:
    found = runner.run(row_of(body))
    assert found.status == status
    assert reason in found.reason


def test_a_text_without_end_costs_itself_alone() -> None:
    with OpenclRunner(timeout_s=6.0) as made:
        try:
            made.start()
        except OpenclUnavailable as missing:
            pytest.skip(str(missing))
        endless = made.run(row_of("volatile int k = 0; while (k == 0) { } y[0] = 1.0f;"))
        assert endless.status == OpenclStatus.TIMEOUT
        assert made.run(row_of(GOOD)).status == OpenclStatus.AGREES


def test_samples_agree(runner: OpenclRunner) -> None:
    """One of each style that has a text, and those of float16."""
    seen: dict[str, str] = {}
    for _, row in stored_rows(SAMPLES):
        try:
            text = translated(row, "opencl")
        except NoForm:
            continue
        kind = row["schedule"].partition('"style": "')[2].partition('"')[0]
        kind += " half" * ("half_to_float" in text["cuda_plain"])
        if kind not in seen:
            found = runner.run(text)
            seen[kind] = f"{row['id']}: {found.status} {found.reason}"
            assert found.status == OpenclStatus.AGREES, seen[kind]
    assert len(seen) > 2


def test_scalars_by_value_arrive(runner: OpenclRunner) -> None:
    row = row_of(GOOD)
    row["args"].append(scalar("a", "float32", low="2.0", high="3.0"))
    row["plain_args"].insert(2, {"name": "a", "type": "float", "size": None})
    row["plain_launch"][0]["args"] = ["x", "y", "a", "n"]
    row["reference"] = REFERENCE.replace("y):", "y, a):").replace("2.0", "float(a)")
    row["cuda_plain"] = row["cuda_plain"].replace("int n", "float a, int n").replace("2.0f", "a")
    assert runner.run(row).status == OpenclStatus.AGREES
