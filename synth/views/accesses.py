"""How the threads of a warp meet the arrays of a kernel, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from synth.render.cuda.cost.access import LOAD, STORE, UPDATE, Access
from synth.render.cuda.cost.device import LINE_BYTES, WARP
from synth.views.layout import Cost

Row = Mapping[str, Any]

SIDE_BY_SIDE, APART, SAME, BY_DATA = "side by side", "apart", "same", "by data"
"""What the accesses of neighbouring threads to an array are."""
RUNS = "runs"
"""Side by side but for a jump behind every so many."""
_ORDER = (SIDE_BY_SIDE, RUNS, APART, BY_DATA, SAME)
_WIDE = re.compile(r"reinterpret_cast<(const )?\w+\*>\(&?(\w+)")
_WIDTH = re.compile(r"reinterpret_cast<(?:const )?\w*?(\d+)\*>\(")
_MOST_NAMED = 4
_MANY_LINES = 8


def ways_of(cost: Cost, wide: Container[str]) -> dict[str, tuple[str, int, int]]:
    """Of each array that a kernel loads or stores the way of the access that costs most, how many
    elements lie between neighbouring threads, and how many bytes an element has; of arrays that are
    read from shared memory nothing. ``wide``: arrays that a thread takes several elements of at
    once; of others each of its elements by itself."""
    found: dict[str, tuple[float, str, int, int]] = {}
    for access in cost.facts.accesses:
        if access.kind == UPDATE or _is_staged(access, cost):
            continue
        way, stride = _way(access, cost, access.array in wide)
        if way == SAME and access.kind == STORE:
            # One of them stores, or none could tell whose value is left.
            continue
        weight = access.times * {SAME: 0, SIDE_BY_SIDE: 1, RUNS: 1, APART: 4, BY_DATA: 8}[way]
        if weight > found.get(access.array, (-1.0, "", 0, 0))[0]:
            found[access.array] = (weight, way, stride, access.bytes)
    return {array: one[1:] for array, one in found.items()}


def _is_staged(access: Access, cost: Cost) -> bool:
    return access.kind == LOAD and cost.plan.staged.get(access.array, 1.0) > 1.0


def shared_by_a_warp(cost: Cost) -> set[str]:
    """Arrays of which a warp reads one element at some place of the text."""
    return {
        access.array
        for access in cost.facts.accesses
        if access.kind == LOAD
        and not _is_staged(access, cost)
        and _way(access, cost, True)[0] == SAME
    }


def _way(access: Access, cost: Cost, is_wide: bool) -> tuple[str, int]:
    lane = cost.lane
    if lane in access.moves.led_by or (access.moves.is_guess and lane in access.moves.names):
        return BY_DATA, 0
    places = access.lanes(lane)
    gaps = [abs(b - a) for a, b in pairwise(places)]
    if not any(gaps):
        return SAME, 0
    width = cost.plan.vector_width
    if len(set(gaps)) == 1:
        stride = gaps[0] * (1 if is_wide else width)
        return (SIDE_BY_SIDE, 1) if stride <= 1.0 else (APART, round(stride))
    if width > 1 and not is_wide:
        return BY_DATA, 0
    if set(gaps) <= {0.0, 1.0}:
        return SIDE_BY_SIDE, 1
    jumps = [k + 1 for k, gap in enumerate(gaps) if gap != 1.0]
    if len(jumps) == 1 and 2 * jumps[0] != WARP:
        # An index that wraps around does so in one warp of a row.
        return SIDE_BY_SIDE, 1
    runs = {b - a for a, b in pairwise([0, *jumps, WARP])}
    return (RUNS, jumps[0]) if len(runs) == 1 and jumps[0] > 1 else (BY_DATA, 0)


def accesses_sentence(row: Row, cost: Cost, form: int) -> str:
    """Which arrays neighbouring threads reach side by side, which apart, which at one place."""
    loads, stores = wide_of(row)
    ways = ways_of(cost, {*loads, *stores})
    told = _groups(ways, form, _together(cost))
    if not told:
        return ""
    shared = set() if cost.plan.lanes else shared_by_a_warp(cost)
    if also := [name for name in ways if ways[name][0] != SAME and name in shared]:
        told.append(f"{named(also)} at the same place as well")
    return f"{_who(row, cost, form)} {'; '.join(told)}."


def _who(row: Row, cost: Cost, form: int) -> str:
    words = set(re.findall(r"\w+", row["cuda_plain"]))
    named = f" `{cost.lane}`" if cost.lane in words else ""
    if cost.plan.lanes:
        turns = f"successive{named}" if named else "successive turns of the inner loop"
        return (
            f"The lanes that share an element take {turns}:",
            f"Lanes of one element differ in{named or ' the turn of the inner loop'}, so they find",
        )[form % 2]
    side = cost.schedule.block[0]
    if named and len(cost.schedule.block) > 1 and side < WARP:
        return f"A warp is {WARP // side} rows of {side} threads along{named}; in a row they find"
    if not named:
        return ("Neighbouring threads find", "Across a warp, threads find")[form % 2]
    return (
        f"Neighbouring threads differ in{named} and find",
        f"A warp runs along{named}; there its threads find",
        f"Along{named}, threads of one warp find",
    )[form % 3]


def _together(cost: Cost) -> int:
    """Lanes of a warp that differ in the variable told of: those of one element, or of one row of
    a block."""
    if cost.plan.lanes:
        return min(WARP, round(cost.launch.group))
    side = cost.schedule.block[0]
    return min(WARP, side) if len(cost.schedule.block) > 1 else WARP


def _groups(ways: Mapping[str, tuple[str, int, int]], form: int, lanes: int) -> list[str]:
    """``lanes``: how many are told of."""
    told = []
    by_way: dict[tuple[str, int, int], list[str]] = {}
    for name, (way, stride, size) in ways.items():
        key = (way, stride, size if way == APART else 0)
        by_way.setdefault(key, []).append(name)
    for (way, stride, size), names in sorted(
        by_way.items(), key=lambda one: _ORDER.index(one[0][0])
    ):
        where = {
            SIDE_BY_SIDE: ("contiguous", "side by side")[form % 2],
            RUNS: f"in runs of {stride:,} side by side",
            APART: f"{stride:,} elements apart{_lines(stride * size, lanes)}",
            BY_DATA: "at places without a fixed stride",
            SAME: "at the same place",
        }[way]
        told.append(f"{named(names)} {where}")
    return told


def _lines(apart_bytes: int, lanes: int) -> str:
    """How many lines so many lanes then ask for at a time, where these are many."""
    lines = min(lanes, apart_bytes * lanes // LINE_BYTES)
    of = "a warp" if lanes == WARP else f"{lanes} lanes"
    return f", {lines} lines of {LINE_BYTES} bytes for {of}" if lines >= _MANY_LINES else ""


def _listed(parts: Sequence[str]) -> str:
    return "".join(parts) if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def named(names: Iterable[str]) -> str:
    """Names in the form of code: all of a few, of more the first and how many there are."""
    listed = [f"`{name}`" for name in names]
    if len(listed) > _MOST_NAMED:
        return f"{', '.join(listed[:2])} and {len(listed) - 2} more arrays"
    return _listed(listed)


def wide_of(row: Row) -> tuple[list[str], list[str]]:
    """The arrays that the plain CUDA loads several elements of at once, and those that it stores
    so, in the order of the text."""
    loads: dict[str, None] = {}
    stores: dict[str, None] = {}
    arrays = {arg["name"] for arg in row["args"] if arg["kind"] == "array"}
    for part in re.split(r"[;{}]", row["cuda_plain"]):
        statement = " ".join(part.split())
        target, assigned, _ = statement.partition(" = ")
        for match in _WIDE.finditer(statement):
            if match[2] in arrays:
                is_store = assigned and target.startswith("*reinterpret_cast")
                is_target = is_store and match.start() < len(target)
                (stores if is_target else loads).setdefault(match[2])
    return list(loads), list(stores)


def elements_at_a_time(row: Row, width: int) -> str:
    """``4 elements at a time``, or ``up to 8`` where wide accesses of a text have several widths:
    of what is loaded and stored no more than 16 bytes go at a time."""
    widths = {int(found) for found in _WIDTH.findall(row["cuda_plain"])}
    most = max(widths, default=width)
    return f"{'up to ' if len(widths) > 1 else ''}{most} elements at a time"


def wide_request(row: Row, width: int) -> str:
    """The request for wide accesses, of what the answer has them for; empty where it has none."""
    loads, stores = wide_of(row)
    parts = [f"vector loads of {named(loads)}"] if loads else []
    parts += [f"vector stores to {named(stores)}"] if stores else []
    wide = f", with {' and '.join(parts)}" if parts else ""
    return f"Let each thread take {width} elements at a time{wide}."
