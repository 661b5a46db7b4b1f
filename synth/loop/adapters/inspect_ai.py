"""Inspect AI: a task of a dataset's rows, and its scorer.

    from synth.loop.adapters.inspect_ai import kernels
    eval(kernels("data/mine", split="test"), model=…)

With inspect_ai 0.3.285: `notes/measurements/loop.md`.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from pairsmith import tasks
from synth.loop.rewards import row_of, shared_scorer


@scorer(metrics=[accuracy(), stderr()])
def kernel_passes() -> Any:
    """Correct for a kernel that passes on hidden inputs; what it is not for is the explanation."""

    async def score(state: TaskState, target: Target) -> Score:
        verdict = await shared_scorer().score_async(
            state.output.completion, row_of(state.metadata["row"])
        )
        if not verdict.judged:
            return Score.unscored(explanation="the row itself is wrong")
        value = CORRECT if verdict.passed else INCORRECT
        said = f"{verdict.status}: {verdict.reason}".rstrip(": ")
        return Score(value=value, explanation=said, metadata={"credit": verdict.credit})

    return score


@task
def kernels(path: str, view: str = "sft", split: str = "", size: int | None = None) -> Task:
    """The rows of a dataset, put as ``view`` puts them."""
    entries = tasks(view, path=path, splits=(split,) if split else (), size=size)
    samples = [
        Sample(
            input=entry["question"],
            target=entry["answer"],
            id=entry["metadata"]["id"],
            metadata={
                name: entry["metadata"][name] for name in ("row", "category", "idiom", "level")
            },
        )
        for entry in entries
    ]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=kernel_passes())
