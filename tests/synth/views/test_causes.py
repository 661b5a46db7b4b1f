"""What answers say of causes: amounts that data decide are bounds, and a cause that is named is one
that explains the time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from drawn_programs import drawn_choice

from generators.build.registry import LEVELS
from synth.dataset.stored import stored_rows
from synth.reasons import ViewReason
from synth.render.cuda.cost.access import LOAD, UPDATE, Access
from synth.render.cuda.cost.affine import Moves, add, of, remainder
from synth.render.cuda.cost.device import WARP
from synth.render.cuda.cost.predict import ATOMICS, CACHE, INSTRUCTIONS, LATENCY
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.render.cuda.styles.walks import ROW_VECTORS
from synth.views.accesses import (
    APART,
    SAME,
    SIDE_BY_SIDE,
    _groups,
    _together,
    _way,
    accesses_sentence,
    elements_at_a_time,
    ways_of,
)
from synth.views.causes import because, difference, updates
from synth.views.layout import Choice, Cost, choice_of
from synth.views.reasons import _changed, _changes
from synth.views.sizes import in_bytes, many
from synth.views.slower import Slower, _slower

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
ROWS = [row for _, row in stored_rows(SAMPLES) if row["cuda_plain"] is not None]
Row = dict[str, Any]


def choices() -> Iterator[tuple[Row, Choice]]:
    for row in ROWS:
        found = choice_of(row)
        assert found is not None
        yield row, found


def costs() -> Iterator[tuple[Choice, Cost]]:
    for _, found in choices():
        yield from ((found, found.cost(candidate)) for candidate in found.all)


def test_atomics_of_a_branch_are_told_as_at_most() -> None:
    """A thread for each point: as many as there are where every one takes the branch."""
    checked = 0
    for _, cost in costs():
        found = [a for a in cost.facts.accesses if a.kind == UPDATE]
        if cost.schedule.style != ONE_THREAD_A_POINT or not found:
            continue
        most = cost.facts.points * sum(max(a.times, a.most) * a.atoms for a in found)
        is_decided = most > 1.01 * cost.asked.updates
        assert updates(cost) == f"{'at most' if is_decided else 'about'} {many(most)}"
        told = because(cost, ATOMICS)
        assert ("at most" in told) == is_decided
        checked += is_decided
    assert checked


def test_atomics_in_shared_memory_are_counted_and_not_weighed() -> None:
    checked = 0
    for _, cost in costs():
        told = re.match(r"at most ([\d.,]+)( million)? updates of copies", because(cost, ATOMICS))
        if told is None:
            continue
        updates = [a for a in cost.facts.accesses if a.kind == UPDATE]
        most = cost.facts.points * sum(a.atoms * max(a.times, a.most) for a in updates)
        assert float(told[1].replace(",", "")) * (1e6 if told[2] else 1) <= most * 1.01
        checked += 1
    assert checked


def test_what_loops_of_unknown_turns_read_is_told_as_at_most_all_of_it() -> None:
    checked = 0
    for _, cost in costs():
        arrays = {a.array for a in cost.facts.accesses if a.is_guess and a.kind == LOAD}
        if not arrays:
            continue
        assert cost.moved_bytes >= sum(cost.facts.arrays[name] for name in arrays)
        if not cost.is_most:
            # What is open is next to nothing beside the other arrays.
            assert sum(cost.facts.arrays[name] for name in arrays) <= 0.001 * cost.moved_bytes
            continue
        told = f"at most {in_bytes(cost.moved_bytes)} of arrays are read and written"
        assert told in because(cost, "memory")
        checked += 1
    assert checked


def test_lines_are_an_estimate_where_data_lead_to_elements() -> None:
    told = set()
    for _, cost in costs():
        text = because(cost, CACHE)
        assert because(cost, INSTRUCTIONS).startswith("an estimated ") == cost.is_estimate
        led = any(a.moves.led_by for a in cost.facts.accesses if a.kind != UPDATE)
        assert not led or text.startswith("an estimated ")
        told.add(text.startswith("an estimated "))
    assert told == {True, False}


def test_loads_and_steps_of_a_thread_are_those_of_its_text() -> None:
    """Neither is told in units of the model: loads under way at a time, rounds of blocks."""
    checked = {"load": 0, "operation": 0}
    for _, cost in costs():
        if cost.schedule.style != ONE_THREAD_A_POINT:
            continue
        told = re.match(r"about ([\d,]+) (?:dependent )?(load|operation)", because(cost, LATENCY))
        if told is None:
            continue
        looped = [a.times for a in cost.facts.accesses if a.kind == LOAD and a.loops]
        work = [w.count for w in cost.facts.work]
        count = sum(looped) if told[2] == "load" else sum(work)
        # A half, added up in another order, is rounded either way.
        assert told[1] in {many(count * share) for share in (1.0 - 1e-9, 1.0, 1.0 + 1e-9)}
        checked[told[2]] += 1
    assert all(checked.values())


def row_vector_costs() -> Iterator[Cost]:
    """Of distances of all pairs of rows, in all their layouts that take several elements."""
    for level in LEVELS:
        found = drawn_choice("matrix", "pairwise_matrix", level, size=512)
        for cost in map(found.cost, found.all):
            if cost.schedule.style == ROW_VECTORS and not cost.plan.staged:
                yield cost


def test_a_load_of_several_elements_is_one_load() -> None:
    checked = 0
    for cost in row_vector_costs():
        looped = [a for a in cost.facts.accesses if a.kind == LOAD and a.loops]
        wide = [a for a in looped if cost.launch.taken(a) > 1.0]
        saved = sum(a.times * (1.0 - 1.0 / cost.launch.taken(a)) for a in wide)
        assert cost.looped_loads == pytest.approx(sum(a.times for a in looped) - saved)
        checked += bool(saved)
    assert checked


def test_each_warp_of_a_block_that_has_a_total_adds_once() -> None:
    """The text has ``if (threadIdx.x % 32 == 0) atomicAdd(...)``: as many as there are warps."""
    found = drawn_choice("atomic", "block_ranks", 5, size=512)
    costs = map(found.cost, found.all)
    totals = [c for c in costs if c.schedule.style == "axis_total" and c.schedule.group != WARP]
    assert totals
    for cost in totals:
        assert cost.asked.updates == cost.blocks * cost.schedule.threads / WARP


def test_a_loop_of_one_turn_is_told_as_such(all_rows: list[Row]) -> None:
    checked = 0
    for row in all_rows:
        if checked > 3:
            break
        if row["cuda_plain"] is None or (found := choice_of(row)) is None:
            continue
        for other in map(found.cost, found.all):
            if other.plan.in_turn and other.blocks == found.cost().blocks:
                told = _changes({**row, "cuda_plain": ""}, other, found.cost())
                if "order" in told or "one turn" in told:
                    has_one = other.threads >= other.facts.points
                    assert ("one turn at these sizes" in told) == has_one
                    checked += has_one
    assert checked


def test_what_is_read_from_shared_memory_is_not_told_as_a_stride() -> None:
    checked = 0
    for _, cost in costs():
        for name, served in cost.plan.staged.items():
            stored = any(a.array == name and a.kind != LOAD for a in cost.facts.accesses)
            if served > 1.0 and not stored:
                assert name not in ways_of(cost, ())
                checked += 1
    assert checked


def test_an_array_that_is_read_along_the_lanes_is_not_told_at_one_place_alone() -> None:
    """Of covariances: the column of one feature, and that of the other."""
    found = drawn_choice("matrix", "feature_covariance", 4)
    cost = found.cost(next(c for c in found.all if c.schedule.style == ONE_THREAD_A_POINT))
    (name,) = {a.array for a in cost.facts.accesses if a.kind == LOAD}
    loads = [a for a in cost.facts.accesses if a.kind == LOAD]
    assert {_way(a, cost, True)[0] for a in loads} == {SAME, SIDE_BY_SIDE}
    assert ways_of(cost, ())[name][0] == SIDE_BY_SIDE
    told = accesses_sentence({**cost.columns, "args": []}, cost, 0)
    assert f"`{name}` at the same place as well" in told


@pytest.mark.parametrize("shift", [-1, 1, 2])
def test_what_wraps_around_is_side_by_side(shift: int) -> None:
    """``(x + w - 1) % w``: a neighbour in a row that is closed."""
    moves = remainder(add(of("x", 512.0), Moves(value=512.0 + shift)), 512.0)
    access = Access(LOAD, "cells", 4, 0, 1.0, 1.0, moves, ())
    assert access.stride("x") == 1.0
    _, found = next(choices())
    cost = found.cost()
    object.__setattr__(cost, "plan", cost.plan.__class__(lanes="x"))
    assert _way(access, cost, False) == (SIDE_BY_SIDE, 1)


def test_lines_are_those_of_the_lanes_that_are_told_of() -> None:
    """Rows of a block that are shorter than a warp ask for no more lines than they have lanes."""
    apart = {"w": (APART, 64, 2)}
    assert _groups(apart, 0, WARP) == ["`w` 64 elements apart, 32 lines of 128 bytes for a warp"]
    assert _groups(apart, 0, 16) == ["`w` 64 elements apart, 16 lines of 128 bytes for 16 lanes"]
    checked = 0
    for _, cost in costs():
        block = cost.schedule.block
        if not cost.plan.lanes and len(block) > 1 and block[0] < WARP:
            assert _together(cost) == block[0]
            checked += 1
    assert checked


def test_idle_processors_are_a_cause_only_where_they_explain_the_time() -> None:
    told = others = 0
    for found, other in costs():
        cost = found.cost()
        if "without work" not in difference(cost, other):
            others += other.filled < cost.filled
            continue
        more = {n: other.times_us[n] - cost.times_us[n] for n in other.times_us}
        name = max(more, key=lambda n: more[n])
        assert name in (INSTRUCTIONS, CACHE)
        full = other.times_us[name] * other.filled / cost.filled
        assert full - cost.times_us[name] <= 0.5 * more[name]
        told += 1
    assert told
    assert others


def test_threads_beyond_the_edge_are_a_cause_where_they_are_most() -> None:
    checked = 0
    for found, other in costs():
        told = difference(found.cost(), other)
        if "beyond the edge" in told:
            (share,) = re.findall(r"^(\d+)% of its threads", told)
            assert other.idle >= 1.2 * found.cost().idle
            assert int(share) == round(100 * (1 - 1 / other.idle))
            checked += 1
    assert checked


def test_lanes_without_a_turn_are_named() -> None:
    """At sizes of six, which leave most of a warp that shares a loop without a turn."""
    checked = 0
    for row in ROWS:
        found = choice_of({**row, "regime": [{**s, "low": 6, "high": 6} for s in row["regime"]]})
        for other in map(found.cost, found.all) if found else ():
            told = difference(found.cost(), other) if found else ""
            pattern = r"of (\d+) lanes that share an element (\d+) have none of the (\d+) turns"
            if match := re.match(pattern, told):
                lanes, idle, turns = map(int, match.groups())
                assert other.idle_lanes == (turns, lanes)
                assert idle == lanes - turns >= lanes / 2
                checked += 1
    assert checked


def test_no_row_is_made_quicker_to_a_poor_layout() -> None:
    poor = [(row, found) for row, found in choices() if found.is_poor]
    assert poor
    for row, _ in poor:
        assert _slower(row, {}) == ViewReason.POOR_ANSWER


def test_no_layout_is_called_slower_by_lines_that_it_does_not_ask_for() -> None:
    """Few lanes for an element of a row: what neighbours in a warp read lies side by side, though
    what the lanes of one read is apart."""
    found = drawn_choice("matrix", "feature_covariance", 4)
    apart = [c for c in map(found.cost, found.all) if c.is_overcounted]
    assert {"lanes_per_row"} <= {cost.schedule.style for cost in apart}
    for cost in apart:
        assert cost.limits in (CACHE, INSTRUCTIONS)
        assert found.is_doubtful(cost.candidate)
        assert found.next_best() != cost.candidate
    for row, choice in choices():
        slow = _slower(row, {})
        if isinstance(slow, Slower) and (candidate := choice.of(slow.schedule)):
            assert not choice.is_doubtful(candidate)


def test_no_other_layout_is_named_that_is_slower_by_barriers_alone() -> None:
    """Of a product the next best would be tiles, slower by what barriers are allowed."""
    found = drawn_choice("matrix", "array_product", 1)
    tiles = next(c for c in found.all if c.schedule.style != found.all[0].schedule.style)
    assert tiles.schedule.style == "tiled"
    assert found.cost(tiles).waits_for_barriers > 0.5 * (
        found.cost(tiles).time_us - found.cost().time_us
    )
    other = found.next_best()
    assert other is not None
    assert other.schedule.style != "tiled"


def test_what_is_kept_in_registers_is_not_told_as_staged_in_shared_memory() -> None:
    """A softmax of one pass keeps what it has read, and has no shared memory."""
    found = drawn_choice("math", "softmax_focal_loss", 1)
    row = {**found.cost().columns, "args": []}
    told = [
        "staged in shared" in _changed(row, found.cost(), cost)
        for cost in map(found.cost, found.all)
        if cost.plan.spared
    ]
    assert told
    assert not any(told)


def test_wide_accesses_of_several_widths_are_told_as_up_to_the_widest() -> None:
    text = (
        "*reinterpret_cast<const HalfPack8*>(x + k);\n*reinterpret_cast<FloatPack4*>(y + k) = y4;"
    )
    assert elements_at_a_time({"cuda_plain": text}, 8) == "up to 8 elements at a time"
    one = text.replace("HalfPack8", "HalfPack4")
    assert elements_at_a_time({"cuda_plain": one}, 4) == "4 elements at a time"
