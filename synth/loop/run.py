"""One run of ``pairsmith solve``, from what a user asked for to its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.loop.archive import Archive, ArchivedTask
from synth.loop.budget import Budget, Price
from synth.loop.client import Chat, Endpoint
from synth.loop.hardware import arch_of
from synth.loop.solve import Judge, Outcome, Plan, Solver
from synth.loop.stopwatch import Stopwatch
from synth.loop.times import Predictor


def require_archive_place(path: Path) -> None:
    """:class:`SettingsError` where an archive cannot be made."""
    if not path.parent.is_dir():
        raise SettingsError(f"cannot write {path}: {path.parent} is no folder")


def solve_tasks(
    archive: Archive,
    tasks: Sequence[ArchivedTask],
    endpoint: Endpoint,
    plan: Plan,
    *,
    workers: int = 1,
    price: Price | None = None,
    tokens: int | None = None,
    usd: float | None = None,
    seconds: float | None = None,
    timer: Stopwatch | Predictor | None = None,
    progress: Callable[[int], object] = lambda _chains: None,
) -> Outcome:
    """Have the model solve tasks. ``tokens`` and ``usd`` bound what all of its attempts in the
    archive cost, ``seconds`` when this run's last request begins. ``timer`` tells the times of
    answers that pass, by default predicted ones.

    Raises :class:`SettingsError` without the package ``openai``, RunError when the endpoint refuses
    all requests.
    """

    async def solved() -> Outcome:
        budget = Budget(
            tokens=tokens, usd=usd, seconds=seconds, spent=archive.spent(endpoint.model)
        )
        arch, telling = arch_of(plan.hardware), timer or Predictor()
        with Judge(archive.hidden_seed, workers, arch, telling) as judge:
            async with Chat(endpoint) as chat:
                told: Any = {"budget": budget, "price": price or Price(), "progress": progress}
                return await Solver(archive, chat, judge, plan, **told).run(tasks)

    return asyncio.run(solved())
