"""The rule over sorted arrays against the rule as a loop over sets."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synth.dataset.settings import STRUCTURE_CAP
from synth.run.resolve import Candidate, replay

_CANDIDATE = st.tuples(st.integers(0, 3), st.integers(0, 12))
_CHAINS = st.lists(st.lists(_CANDIDATE, min_size=1, max_size=5), max_size=60)


def _loop(chains: list[list[tuple[int, int]]]) -> tuple[dict[int, int], list[int]]:
    """Which candidate each position takes, and the positions that are left without."""
    renames: set[int] = set()
    structures: Counter[int] = Counter()
    links, pending = {}, []
    for position, chain in enumerate(chains):
        for link, (structure, rename) in enumerate(chain):
            if rename in renames or structures[structure] >= STRUCTURE_CAP:
                continue
            renames.add(rename)
            structures[structure] += 1
            if link:
                links[position] = link
            break
        else:
            pending.append(position)
    return links, pending


@given(_CHAINS)
def test_arrays_decide_as_a_loop_does(chains: list[list[tuple[int, int]]]) -> None:
    first = [chain[0] for chain in chains]
    structures, renames = (np.array([k[at] for k in first], np.uint64) for at in (0, 1))
    further = {at: [Candidate(*keys) for keys in chain[1:]] for at, chain in enumerate(chains)}
    outcome = replay(structures, renames, np.zeros(len(chains), np.bool_), further)
    assert (outcome.links, outcome.pending) == _loop(chains)
    assert all(len(outcome.refusals[at]) == link for at, link in outcome.links.items())


@given(_CHAINS, st.integers(0, 60))
def test_rows_that_are_in_already_stay_and_count(
    chains: list[list[tuple[int, int]]], known: int
) -> None:
    """A dataset that grows: the first rows are what the rule gave before."""
    links, pending = _loop(chains)
    if pending:
        return
    known = min(known, len(chains))
    taken = [chain[links.get(at, 0)] if at < known else chain[0] for at, chain in enumerate(chains)]
    structures, renames = (np.array([k[at] for k in taken], np.uint64) for at in (0, 1))
    further = {at: [Candidate(*keys) for keys in chain[1:]] for at, chain in enumerate(chains)}
    outcome = replay(structures, renames, np.arange(len(chains)) < known, further)
    assert outcome.links == {at: link for at, link in links.items() if at >= known}
