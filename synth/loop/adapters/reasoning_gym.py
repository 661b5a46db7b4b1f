"""reasoning-gym: a dataset named ``pairsmith``, drawn from a seed.

    from synth.loop.adapters import reasoning_gym  # registers it
    ds = reasoning_gym.create_dataset("pairsmith", seed=7, size=100, levels=[1, 2])

With reasoning_gym 0.1.25: `notes/measurements/loop.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import DATASETS, register_dataset
from reasoning_gym.factory import create_dataset as create_dataset

from pairsmith import tasks
from synth.loop.tasks import SOURCE


@dataclass
class PairsmithConfig:
    """``view``, ``categories``, ``levels`` and ``verify`` as `pairsmith.tasks` takes them."""

    view: str = "sft"
    categories: Sequence[str] = ()
    levels: Sequence[int] = ()
    verify: str = "compile"
    seed: int = field(default=0)
    size: int = 500

    def validate(self) -> None:
        """AssertionError for a size or a seed that there is not, as reasoning-gym's own."""
        assert self.size > 0, "size must be positive"
        assert self.seed is not None, "seed must be given: rows follow from it"


class PairsmithDataset(ProceduralDataset):
    """Kernels to write; `score_answer` runs them."""

    def __init__(self, config: PairsmithConfig) -> None:
        super().__init__(config, config.seed, config.size)
        self._tasks = tasks(
            config.view,
            size=config.size,
            seed=config.seed,
            categories=config.categories,
            levels=config.levels,
            verify=config.verify,
        )

    def __getitem__(self, idx: int) -> dict[str, Any]:
        return self._tasks[idx]

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """1.0 for a kernel that passes, else 0.0."""
        return self._tasks.score_answer(answer, entry)


if SOURCE not in DATASETS:
    register_dataset(SOURCE, PairsmithDataset, PairsmithConfig)
