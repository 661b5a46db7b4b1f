"""TRL: rows of a training set, rewards, and an environment of several turns.

    from synth.loop.adapters import trl
    trainer = GRPOTrainer(reward_funcs=trl.reward, train_dataset=Dataset.from_list(trl.rows(ds)), …)
    trainer = GRPOTrainer(environment_factory=trl.KernelEnvironment, train_dataset=…, …)

With trl 1.16.0: `notes/measurements/loop.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pairsmith import reward as reward
from pairsmith import shaped_reward as shaped_reward
from synth.loop.prompts import feedback_of
from synth.loop.rewards import row_of, shared_scorer
from synth.loop.tasks import Entry
from validate.score.scorer import Verdict


def rows(tasks: Iterable[Entry]) -> list[dict[str, Any]]:
    """``prompt`` (messages) and ``row``: the columns that trainer and reward take."""
    return [
        {
            "prompt": [{"role": "user", "content": entry["question"]}],
            "row": entry["metadata"]["row"],
        }
        for entry in tasks
    ]


class KernelEnvironment:
    """One conversation: the model submits a kernel, is told the verdict, and submits another.

    ``environment_factory`` of ``GRPOTrainer``, which makes its public method a tool.
    """

    def reset(self, row: str | Mapping[str, Any], **columns: Any) -> str | None:
        """Begin with the row of a task. Nothing is added to its prompt."""
        self._row = row_of(row)
        self._verdict: Verdict | None = None
        return None

    def submit(self, cuda: str) -> str:
        """Compile and run a CUDA kernel on hidden inputs, and say whether it is right.

        Args:
            cuda: The whole text of the kernel, followed by its launch: a grid and a block.

        Returns:
            The verdict, and for a wrong kernel what is wrong with it.
        """
        # The best stays: what a model tries after it was right does it no harm.
        verdict = shared_scorer().score(cuda, self._row)
        if self._verdict is None or verdict.credit > self._verdict.credit:
            self._verdict = verdict
        if verdict.passed:
            return "It is right."
        return feedback_of(self._row, verdict.status, verdict.reason, {}, "", full=False)

    def get_reward(self) -> float:
        """1.0 when a kernel that was submitted passed, else 0.0 (for a task that is wrong, too)."""
        return float(self._verdict is not None and self._verdict.passed)
