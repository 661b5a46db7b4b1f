"""verifiers v1: a taskset without end, or of a dataset.

    from synth.loop.adapters.verifiers import KernelConfig, KernelTaskset

With verifiers 0.4.0, which needs Python 3.11: `notes/measurements/loop.md`.
"""

from collections.abc import Iterator, Sequence

import verifiers.v1 as vf

from pairsmith import stream, tasks
from synth.loop.rewards import row_of, shared_scorer
from synth.loop.tasks import entries_of


class KernelData(vf.TaskData):
    """``row`` is JSON of what a judge needs."""

    row: str = ""


class KernelConfig(vf.TasksetConfig):
    """``path`` names a dataset; empty: rows without end, drawn from ``seed``."""

    path: str = ""
    view: str = "sft"
    seed: int = 0
    categories: Sequence[str] = ()
    levels: Sequence[int] = ()
    verify: str = "compile"


class KernelTask(vf.Task[KernelData]):
    """A kernel to write."""

    @vf.reward(weight=1.0)
    async def passed(self, trace: vf.Trace) -> float:
        """1.0 when the last answer passes, else 0.0."""
        verdict = await shared_scorer().score_async(trace.last_reply or "", row_of(self.data.row))
        if not verdict.judged:
            raise RuntimeError(f"row {self.data.id} is unfit: its own CUDA fails")
        return float(verdict.passed)


class KernelTaskset(vf.Taskset[KernelTask, KernelConfig]):
    """Tasks of a stream or of a dataset."""

    INFINITE = True

    def __init__(self, config: KernelConfig) -> None:
        super().__init__(config)
        self._bounded = bool(config.path) or None

    def load(self) -> Iterator[KernelTask]:
        """The tasks, in order."""
        config = self.config
        if config.path:
            entries = iter(tasks(config.view, path=config.path))
        else:
            drawn = stream(config.seed, config.categories, config.levels, config.verify)
            entries = entries_of(drawn, config.view)
        for entry in entries:
            told = entry["metadata"]
            data = KernelData(id=told["id"], prompt=entry["question"], row=told["row"])
            yield KernelTask(data, config.task)
