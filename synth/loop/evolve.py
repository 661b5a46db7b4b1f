"""A task for those who evolve programs: an evaluator file that OpenEvolve and ShinkaEvolve take.

OpenEvolve calls `evaluate(program_path)` and reads metrics, of which `combined_score` ranks, and
artifacts, which its model is shown. ShinkaEvolve starts the file with `--program_path` and
`--results_dir` and reads `metrics.json` and `correct.json` there.
"""

from __future__ import annotations

import argparse
import atexit
import json
import secrets
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from synth.dataset.files import write_text
from synth.errors import SettingsError
from synth.loop.archive import ArchivedTask
from synth.loop.findings import Findings
from synth.loop.prompts import feedback_of
from validate.score.scorer import Scorer

TASK, EVALUATOR, INITIAL, QUESTION = "task.json", "evaluate.py", "initial.cu", "question.md"

_EVALUATOR = '''"""Judges CUDA on hidden inputs: written by `pairsmith solve evaluator`."""

from pathlib import Path

from synth.loop.evolve import evaluate_program, main

TASK = Path(__file__).resolve().with_name("task.json")


def evaluate(program_path):
    return evaluate_program(TASK, program_path)


if __name__ == "__main__":
    main(TASK)
'''


def write_evaluator(task: ArchivedTask, out: Path) -> None:
    """Write the evaluator of a task, the task, its question and a first program to a folder that
    is made. Raises SettingsError where there is something else, or it cannot be written."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SettingsError(f"{out} is not empty; choose another with -o")
    row = json.loads(task.row)
    about = {"question": task.question, "hidden_seed": secrets.randbits(63), "row": row}
    texts = {
        TASK: json.dumps(about) + "\n",
        EVALUATOR: _EVALUATOR,
        INITIAL: first_program(row),
        QUESTION: task.question + "\n",
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_text(out / name, text)
    except OSError as error:
        raise SettingsError(f"cannot write to {out}: {error.strerror}") from None


def first_program(row: Mapping[str, Any]) -> str:
    """A kernel of the right signature that does nothing, between the marks that say what may be
    changed, with a launch."""
    params = ", ".join(f"{arg['type']} {arg['name']}" for arg in row["plain_args"])
    launch = row["plain_launch"][0]
    told = {"grid": launch["grid"], "block": launch["block"]}
    half = "#include <cuda_fp16.h>\n\n" if "__half" in params else ""
    if "__nv_bfloat16" in params:
        half += "#include <cuda_bf16.h>\n\n"
    return (
        f"// EVOLVE-BLOCK-START\n{half}"
        f'extern "C" __global__ void {row["kernel_name"]}({params})\n{{\n}}\n'
        f"// {json.dumps(told)}\n// EVOLVE-BLOCK-END\n"
    )


def judged(task: Path, program_path: str) -> dict[str, Any]:
    """What is said of a program: ``metrics`` (numbers, ``combined_score`` the credit of the
    scorer), ``passed``, and ``feedback`` without hidden inputs."""
    about = json.loads(task.read_text(encoding="utf-8"))
    row, text = about["row"], Path(program_path).read_text(encoding="utf-8", errors="replace")
    verdict = _scorer(about["hidden_seed"]).score(text, row)
    if not verdict.judged:
        raise RuntimeError(f"the task cannot be judged: {verdict.detail or verdict.reason}")
    found = _findings().of(text, row) if verdict.compiled else {}
    said = (
        "It passes."
        if verdict.passed
        else feedback_of(row, verdict.status, verdict.reason, found, "", full=False)
    )
    metrics = {
        "combined_score": verdict.credit,
        "passed": float(verdict.passed),
        "share": verdict.share,
        "compiled": float(verdict.compiled),
        "launched": float(verdict.launched),
    }
    for one in found.get("needs", ())[:1]:
        metrics |= {name: float(one[name]) for name in ("registers", "spill_bytes")}
    return {"metrics": metrics, "passed": verdict.passed, "feedback": said}


def evaluate_program(task: Path, program_path: str) -> Any:
    """OpenEvolve's ``EvaluationResult``; without that package its metrics alone."""
    found = judged(task, program_path)
    try:
        from openevolve.evaluation_result import EvaluationResult
    except ImportError:
        return found["metrics"]
    return EvaluationResult(metrics=found["metrics"], artifacts={"feedback": found["feedback"]})


def main(task: Path) -> None:
    """What ShinkaEvolve starts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--program_path", required=True)
    parser.add_argument("--results_dir", type=Path, required=True)
    asked = parser.parse_args()
    found = judged(task, asked.program_path)
    metrics = dict(found["metrics"])
    told = {
        "combined_score": metrics.pop("combined_score"),
        "public": metrics,
        "private": {},
        "text_feedback": found["feedback"],
    }
    correct = {"correct": found["passed"], "error": None if found["passed"] else found["feedback"]}
    asked.results_dir.mkdir(parents=True, exist_ok=True)
    write_text(asked.results_dir / "metrics.json", json.dumps(told) + "\n")
    write_text(asked.results_dir / "correct.json", json.dumps(correct) + "\n")


@lru_cache(maxsize=1)
def _scorer(hidden_seed: int) -> Scorer:
    scorer = Scorer(hidden_seed=hidden_seed)
    atexit.register(scorer.close)
    return scorer


@lru_cache(maxsize=1)
def _findings() -> Findings:
    findings = Findings()
    atexit.register(findings.__exit__, None)
    return findings
