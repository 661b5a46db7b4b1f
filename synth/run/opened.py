"""What a run works on, once its folder is held and opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from synth.dataset.existing import Base
from synth.dataset.manifest import Manifest
from synth.dataset.positions import Positions, Task, unit_spans, unit_task
from synth.dataset.settings import Settings, Versions
from synth.run.tally import Tally
from synth.run.work import Work


@dataclass
class Opened:
    """A run's folder and what is there.

    ``before`` is the manifest of the dataset that the run adds to, ``tally`` what was counted
    before it.
    """

    settings: Settings
    versions: Versions
    out: Path
    work: Work
    base: Base
    before: Manifest | None
    tally: Tally

    def units(self) -> Iterator[tuple[Task, Positions]]:
        """A task for each unit that has open positions, which no whole shard holds, with those."""
        categories = self.settings.categories
        known = self.base.positions
        for span in unit_spans(self.work.n, len(categories), self.work.per_unit):
            # Whole units, also past the last row: runs that differ in n share them.
            wanted = np.arange(span[0] * len(categories), span[1] * len(categories))
            if known.size:
                places = np.minimum(np.searchsorted(known, wanted), known.size - 1)
                wanted = wanted[known[places] != wanted]
            if wanted.size and wanted[0] < self.work.n:
                yield unit_task(span, categories, wanted), wanted
