"""A run that holds its folder: what was asked for, what is there, and who does the work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from synth.dataset.existing import ExistingRows
from synth.dataset.manifest import Manifest
from synth.dataset.positions import Positions, Task, unit_spans, unit_task
from synth.dataset.settings import Settings, Versions
from synth.run.engine import Engine, InProcess, Made, ignore_made
from synth.run.tally import Tally
from synth.run.work import Work

Phase = Callable[[str], None]
"""Called with what the run does from now on."""


def ignore_phase(_what: str) -> None:
    """Phases that nobody watches."""


@dataclass
class Run:
    """A run's folder, what is there, and the engine that does its tasks.

    ``before`` is the manifest of the dataset that the run adds to, ``tally`` what was counted
    before it; ``stop_if_asked`` raises KeyboardInterrupt when there was one.
    """

    settings: Settings
    versions: Versions
    out: Path
    work: Work
    existing: ExistingRows
    before: Manifest | None
    tally: Tally
    engine: Engine = field(default_factory=InProcess)
    stop_if_asked: Callable[[], None] = lambda: None
    phase: Phase = ignore_phase
    made: Made = ignore_made

    def units(self) -> Iterator[tuple[Task, Positions]]:
        """A task for each unit that has open positions, which no whole shard holds, with those."""
        categories = self.settings.categories
        known = self.existing.positions
        for span in unit_spans(self.work.n, len(categories), self.work.per_unit):
            # Whole units, also past the last row: runs that differ in n share them.
            wanted = np.arange(span[0] * len(categories), span[1] * len(categories))
            if known.size:
                places = np.minimum(np.searchsorted(known, wanted), known.size - 1)
                wanted = wanted[known[places] != wanted]
            if wanted.size and wanted[0] < self.work.n:
                yield unit_task(span, categories, wanted), wanted
