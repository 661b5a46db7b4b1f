"""The rule of which rows enter a dataset.

In order of position, each takes its first attempt that passes gates and checks, whose rename key no
earlier row holds, and whose structure has room below the cap. Tasks bring good attempts; of those,
this takes the first that may enter, and says of which positions more are needed.

Only positions that share a key with another are looked at, so that the memory of ten million rows
is that of two sorted arrays of their keys.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from synth.dataset.existing import Keys64
from synth.dataset.positions import Positions
from synth.dataset.settings import STRUCTURE_CAP
from synth.reasons import RuleReason


@dataclass(frozen=True)
class Candidate:
    """The keys of a good attempt."""

    structure: int
    rename: int


@dataclass
class Outcome:
    """``links``: which of its candidates a position takes, when that is not the first.

    ``refusals``: why it did not take those before; ``pending``: positions none of whose candidates
    may enter.
    """

    links: dict[int, int] = field(default_factory=dict)
    refusals: dict[int, list[RuleReason]] = field(default_factory=dict)
    pending: list[int] = field(default_factory=list)


def replay(
    structures: Keys64,
    renames: Keys64,
    fixed: NDArray[np.bool_],
    further: Mapping[int, Sequence[Candidate]],
) -> Outcome:
    """Apply the rule to all positions.

    The arrays hold the keys of each position's first candidate; ``fixed`` rows are in already.
    ``further`` are later candidates, in order. While some are pending the outcome may still change:
    a pending position takes nothing.
    """
    return _Rule(structures, renames, fixed, further).run()


class _Index:
    """The positions of each key, from one sorted array."""

    def __init__(self, keys: Keys64) -> None:
        self.order = np.argsort(keys, kind="stable")
        self.sorted = keys[self.order]

    def positions(self, key: int) -> Positions:
        """Positions of a key, ascending."""
        low = np.searchsorted(self.sorted, np.uint64(key), "left")
        high = np.searchsorted(self.sorted, np.uint64(key), "right")
        found: Positions = self.order[low:high]
        return found

    def crowded(self, most: int) -> Positions:
        """Positions whose key more than ``most`` share."""
        starts = np.flatnonzero(np.r_[True, self.sorted[1:] != self.sorted[:-1]])
        counts = np.diff(np.r_[starts, self.sorted.size])
        found: Positions = self.order[np.repeat(counts > most, counts)]
        return found


_MOST = {"rename": 1, "structure": STRUCTURE_CAP}


class _Rule:
    def __init__(
        self,
        structures: Keys64,
        renames: Keys64,
        fixed: NDArray[np.bool_],
        further: Mapping[int, Sequence[Candidate]],
    ) -> None:
        self.keys = {"structure": structures, "rename": renames}
        self.index = {name: _Index(keys) for name, keys in self.keys.items()}
        self.fixed, self.further = fixed, further
        self.out: set[int] = set()
        self.renames: set[int] = set()
        self.structures: Counter[int] = Counter()
        self.outcome = Outcome()

    def run(self) -> Outcome:
        if not self.fixed.size:
            return self.outcome
        crowded = [self.index[name].crowded(most) for name, most in _MOST.items()]
        doubtful = np.unique(np.concatenate(crowded))
        self.waiting = doubtful[~self.fixed[doubtful]].tolist()
        last = -1
        while self.waiting:
            position = heapq.heappop(self.waiting)
            if position != last:
                self._decide(position)
            last = position
        return self.outcome

    def _decide(self, position: int) -> None:
        refusals: list[RuleReason] = []
        for candidate in self._candidates(position):
            reason = self._refusal(candidate, position)
            if reason is None:
                break
            refusals.append(reason)
        if not refusals:
            return
        self.out.add(position)
        self.outcome.refusals[position] = refusals
        if reason is not None:
            self.outcome.pending.append(position)
        else:
            self.outcome.links[position] = len(refusals)
            self._take(candidate, position)

    def _candidates(self, position: int) -> Iterator[Candidate]:
        first = (int(self.keys[name][position]) for name in ("structure", "rename"))
        yield Candidate(*first)
        yield from self.further.get(position, ())

    def _refusal(self, candidate: Candidate, position: int) -> RuleReason | None:
        """Why a candidate may not enter at a position, None where it may."""
        if candidate.rename in self.renames or self._holders(
            "rename", candidate.rename, position, 1
        ):
            return RuleReason.DUPLICATE
        held = self.structures[candidate.structure]
        held += self._holders("structure", candidate.structure, position, STRUCTURE_CAP - held)
        return RuleReason.STRUCTURE_CAP if held >= STRUCTURE_CAP else None

    def _holders(self, name: str, key: int, position: int, most: int) -> int:
        """Rows before a position that hold a key with their first candidate, counted up to
        ``most``."""
        found = 0
        for earlier in self.index[name].positions(key):
            if earlier >= position or found >= most:
                break
            found += int(earlier) not in self.out
        return found

    def _take(self, candidate: Candidate, position: int) -> None:
        """Note the keys of a later candidate; rows after it that share one are in doubt now."""
        self.renames.add(candidate.rename)
        self.structures[candidate.structure] += 1
        for name, most in _MOST.items():
            sharing = self.index[name].positions(getattr(candidate, name))
            # Where more share a key, all of them are in doubt from the start.
            for later in sharing if len(sharing) <= most else ():
                if later > position and not self.fixed[later]:
                    heapq.heappush(self.waiting, int(later))
