"""The evaluator file: what OpenEvolve calls and what ShinkaEvolve starts say the same."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from synth.cli.main import main

SOURCE = """import numpy as np

SIZES = {"n": 50}


def doubled(x: "float32[n]") -> "float32[n]":
    return 2.0 * x
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("evolve")
    (made / "mine.py").write_text(SOURCE)
    words = ["solve", "evaluator", str(made / "mine.py"), "-o", str(made / "task")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    again = CliRunner().invoke(main, words)
    assert (again.exit_code, "is not empty" in again.output) == (2, True)
    return made / "task"


def test_the_first_program_is_judged_and_can_be_mended(folder: Path) -> None:
    first = (folder / "initial.cu").read_text()
    assert first.startswith("// EVOLVE-BLOCK-START\n")
    right = first.replace(
        "{\n}", "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 2 * x[i]; }"
    )
    (folder / "right.cu").write_text(right)
    spec = importlib.util.spec_from_file_location("evaluate", folder / "evaluate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scores = [module.evaluate(str(folder / name)) for name in ("initial.cu", "right.cu")]
    assert [score["combined_score"] for score in scores] == [0.2, 1.0]
    assert scores[1]["registers"] > 0


def test_it_can_be_started_as_a_program(folder: Path) -> None:
    words = [sys.executable, folder / "evaluate.py", "--program_path", folder / "initial.cu"]
    subprocess.run([*words, "--results_dir", folder / "results"], check=True, timeout=600)
    metrics = json.loads((folder / "results" / "metrics.json").read_text())
    assert metrics["combined_score"] == 0.2
    assert metrics["public"]["passed"] == 0.0
    assert "never written" not in metrics["text_feedback"]
    assert "An output is wrong: out: all elements differ" in metrics["text_feedback"]
    correct = json.loads((folder / "results" / "correct.json").read_text())
    assert correct["correct"] is False
    assert correct["error"] == metrics["text_feedback"]
