"""verl: rows of a training set, and `compute_score`.

    custom_reward_function.path=…/synth/loop/adapters/verl.py
    custom_reward_function.name=compute_score

With verl 0.9.1: `notes/measurements/loop.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from synth.loop.rewards import row_of, shared_scorer
from synth.loop.tasks import Entry


def rows(tasks: Iterable[Entry], split: str = "train") -> list[dict[str, Any]]:
    """What verl reads from Parquet; ``reward_model.ground_truth`` is the row as JSON."""
    return [
        {
            "data_source": entry["metadata"]["source_dataset"],
            "prompt": [{"role": "user", "content": entry["question"]}],
            "ability": "cuda",
            "reward_model": {"style": "rule", "ground_truth": entry["metadata"]["row"]},
            "extra_info": {"split": split, "index": index, "id": entry["metadata"]["id"]},
        }
        for index, entry in enumerate(tasks)
    ]


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """``score`` 1.0 or 0.0, with the verdict beside it as figures that verl logs.

    One scorer serves a process. An answer to a row that is wrong scores 0.0, with ``judged`` 0.0:
    verl has no word for a reward that is not known.
    """
    verdict = shared_scorer().score(solution_str, row_of(ground_truth))
    return {
        "score": float(verdict.passed),
        "credit": verdict.credit,
        "compiled": float(verdict.compiled),
        "judged": float(verdict.judged),
    }
