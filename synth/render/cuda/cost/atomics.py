"""Atomics of a launch: how many reach memory, and how many meet at one address."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil, exp, log, log2, prod, sqrt

from generators.program import ir
from generators.program.dtypes import Array
from synth.render.cuda.cost.access import UPDATE, Access
from synth.render.cuda.cost.device import WARP
from synth.render.cuda.cost.launch import Launch
from synth.render.cuda.cost.operations import width

_MATCH_SHUFFLES, _JOIN_SHUFFLES = 16.0, 3.0
"""What matching the lanes of a warp takes, and each step of joining them."""
_JOIN_STEPS = 5.0
"""Steps in which all lanes of a warp are joined."""


def atomics(launch: Launch) -> dict[str, float]:
    """Updates that reach memory, those of them at one address, turns of those in shared memory, and
    updates before which lanes look who else is at their element."""
    everywhere = at_one = shared = matches = 0.0
    plan = launch.plan
    merged: dict[str, tuple[float, float, float]] = {}
    for access in launch.facts.accesses:
        if access.kind != UPDATE:
            continue
        # Where several threads work on a point, one of them alone does what all would.
        updates = launch.facts.points * access.times
        places = _places(launch, access)
        if access.node in plan.in_shared:
            copies = plan.in_shared[access.node]
            kept = updates * _share_held(launch, access)
            busy = min(copies, launch.device.processors) / launch.device.processors
            shared += kept * lanes_in_turn(places * plan.copies) / busy
            updates -= kept
            before = merged.get(access.array, (0.0, 0.0, 0.0))
            merged[access.array] = (before[0] + kept, copies, _bins(launch, access))
        if access.node in plan.matched:
            matches += updates
        updates, waiting = _in_memory(launch, access, updates, places)
        everywhere += updates * access.atoms
        at_one += waiting
    # A block's copy of an array is added to the whole once, whatever the places that update it.
    for array, (kept, copies, bins) in merged.items():
        updates = copies * min(bins, kept / copies)
        everywhere += updates * launch.facts.atoms(array)
        at_one += updates / bins
    return {
        "updates": everywhere,
        "updates_at_one": at_one,
        "shared_updates": shared,
        "matches": matches,
    }


def _in_memory(
    launch: Launch, access: Access, updates: float, places: float
) -> tuple[float, float]:
    """Of so many updates those that reach memory, and how many wait for each other at one element:
    of points that all start at one those that start."""
    plan = launch.plan
    first = updates * access.first / access.times if access.first else 0.0
    if access.node in plan.matched:
        others = (updates - first) / lanes_at_one(_of_a_warp(launch, access, places))
        first /= WARP
    else:
        together = 1.0 if access.node in plan.in_shared else plan.combined.get(access.node, 1.0)
        others, first = (updates - first) / together, first / together
    return first + others, first + others / _at_a_time(launch, access, places)


def most_updates(launch: Launch) -> float:
    """Atomics that reach memory, where every block adds every element of its copies."""
    plan, facts = launch.plan, launch.facts
    merged = {
        a.array: (plan.in_shared[a.node], _bins(launch, a))
        for a in facts.accesses
        if a.kind == UPDATE and a.node in plan.in_shared
    }
    others = replace(
        facts, accesses=tuple(a for a in facts.accesses if a.node not in plan.in_shared), kept={}
    )
    direct = atomics(replace(launch, facts=others))["updates"]
    for access in facts.accesses:
        if access.kind == UPDATE and access.node in plan.in_shared:
            beyond = 1.0 - _share_held(launch, access)
            direct += facts.points * access.times * beyond * access.atoms
    return direct + sum(c * bins * facts.atoms(array) for array, (c, bins) in merged.items())


def _bins(launch: Launch, access: Access) -> float:
    """Elements of an array of which each block has a copy."""
    size = max(1.0, launch.facts.arrays[access.array] / access.bytes)
    return min(size, launch.plan.held.get(access.node) or size)


def _share_held(launch: Launch, access: Access) -> float:
    """The share of updates that meet an element of which blocks have copies: what leads to the
    elements starts at the first."""
    held = launch.plan.held.get(access.node)
    if held is None:
        return 1.0
    size = launch.facts.arrays[access.array] / access.bytes
    return min(1.0, held / max(1.0, min(size, access.moves.span)))


def lanes_at_one(places: float) -> float:
    """Lanes of a warp that are expected to meet at one of so many elements."""
    return max(1.0, WARP / (places * (1.0 - (1.0 - 1.0 / places) ** WARP)))


def lanes_in_turn(places: float) -> float:
    """Lanes of a warp that are expected at the fullest of so many words of shared memory: they
    update it one after the other. Where there are few words, as of the fullest of many bins (Raab
    and Steger 1998), else one more than the chance that any two lanes meet (the birthday problem);
    within 15 % of draws of 32 lanes."""
    mean = WARP / places
    pairs = WARP * (WARP - 1) / 2
    return max(mean + sqrt(2.0 * mean * log(places)), 2.0 - exp(-pairs / places))


def joining_shuffles(kernel: ir.Kernel, arrays: Iterable[str]) -> float:
    """Shuffles that join what the lanes of a warp have for elements of some arrays."""
    numbers = {p.name: width(p.type.element) for p in kernel.params if isinstance(p.type, Array)}
    return _JOIN_STEPS * sum(numbers[name] for name in arrays)


def matching_shuffles(lanes: float) -> float:
    """What it takes a warp, in shuffles, to find the lanes that meet and to join so many."""
    return _MATCH_SHUFFLES + _JOIN_SHUFFLES * ceil(log2(lanes))


def shuffles(launch: Launch) -> float:
    """Shuffles of a thread."""
    found = launch.plan.shuffles
    for access in launch.facts.accesses:
        if access.node in launch.plan.matched:
            lanes = lanes_at_one(_of_a_warp(launch, access, _places(launch, access)))
            found += launch.plan.matched[access.node] * access.times * matching_shuffles(lanes)
    return found


def _at_a_time(launch: Launch, access: Access, places: float) -> float:
    """Different elements that the points meet which a device works on at a time: rows of a launch
    that have elements of their own come one after the other."""
    moves = access.moves
    resident = launch.resident * launch.device.processors / launch.plan.threads_an_element
    found = _of_points(launch, access, resident)
    for turns in access.loops:
        found *= turns.count if turns.name in moves.names - moves.led_by else 1.0
    return max(1.0, min(places, found))


def _of_a_warp(launch: Launch, access: Access, places: float) -> float:
    """Of the elements that an atomic meets those that the lanes of a warp may meet together: where
    rows of a launch have elements of their own, those of its row."""
    return max(1.0, min(places, _of_points(launch, access, WARP)))


def _of_points(launch: Launch, access: Access, count: float) -> float:
    """Elements that so many points may meet which stand one after the other."""
    moves = access.moves
    found, inner = moves.stray + 1.0, 1.0
    for name, extent in zip(launch.facts.threads[::-1], launch.facts.extents[::-1], strict=True):
        if name in moves.names - moves.led_by:
            found *= min(float(extent), max(1.0, count / inner))
        inner *= extent
    return found


def _places(launch: Launch, access: Access) -> float:
    """Different elements that an atomic meets."""
    size = max(1.0, launch.facts.arrays[access.array] / access.bytes)
    bound = launch.facts.met.get(access.node, size)
    found = min(size, bound, access.moves.values, access.moves.span + 1.0)
    if not access.moves.led_by:
        counts = dict(zip(launch.facts.threads, launch.facts.extents, strict=True))
        counts |= {t.name: max(1, round(t.count)) for t in access.loops}
        found = min(found, float(prod(counts.get(n, 1) for n in access.moves.names)))
    return max(1.0, found)
