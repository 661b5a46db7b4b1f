"""Branches of an answer that no trial entered and that only larger sizes would enter.

A comparison of whole numbers is suspected when one side never reached the other, though it grows
with the sizes and does not depend on the inputs: `if (n > 4096)` where n was 1,573 at most.
Comparisons with what no array can hold are let be: people guard against overflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_BEYOND_ANY_SIZE = 1 << 27
_OF_32_BITS = 1 << 32
_BEYOND_ANY_PRODUCT = 1 << 48
# Of `branch_t`: place, then the least and the most of both sides, a sum over all, how many.
Record = Sequence[int]


def unseen_branch(trials: Sequence[Sequence[Record]], again: int, near: int = 0) -> int | None:
    """The number that nothing reached, or None.

    `trials` has the records of each trial's comparisons; `near` and `again` are trials of one
    shape on different inputs: what differs between them depends on inputs.
    """
    by_place: dict[int, dict[int, Record]] = {}
    for number, records in enumerate(trials):
        for record in records:
            by_place.setdefault(int(record[0]), {})[number] = record
    for seen in by_place.values():
        if (limit := _unreached(seen, near, again)) is not None:
            return limit
    return None


def _unreached(seen: Mapping[int, Record], near: int, again: int) -> int | None:
    if near not in seen or again not in seen or tuple(seen[near][5:]) != tuple(seen[again][5:]):
        return None
    for grows, other in ((1, 3), (3, 1)):
        limits = {(int(r[other]), int(r[other + 1])) for r in seen.values()}
        least, most = next(iter(limits))
        if len(limits) != 1 or least != most:
            continue
        reached = {number: int(r[grows + 1]) for number, r in seen.items()}
        top = max(reached.values())
        if reached[near] < top < most and not _guards(most):
            return most
    return None


def _guards(limit: int) -> bool:
    """Whether people compare with a number to guard against overflow: a power of two about the
    ranges of types, or beyond any product of sizes."""
    power = 1 << limit.bit_length()
    near_power = min(limit - power // 2, power - limit) <= 1
    of_a_type = _BEYOND_ANY_SIZE < limit <= _OF_32_BITS or (limit > _OF_32_BITS and near_power)
    return of_a_type or limit > _BEYOND_ANY_PRODUCT
