"""A schedule at work at some sizes: who its lanes are, and how many threads of what block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2, prod

from synth.render.cuda.cost.access import Access, Facts, Turns
from synth.render.cuda.cost.device import WARP, Device
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan

RESIDENT_THREADS = 2048
_RESIDENT_BLOCKS = 32
_SHARED_BYTES = 200e3
_STRAY_TURNS = 1.5
"""Of a vector's elements: turns that rows begin and end with where these are no whole vectors."""
_NOT_HIDDEN = 0.1
_BY_TURNS = 1.5
_UNTIL_THE_LAST = 0.03
"""For each time that a block is twice as large as the smallest usual one."""
_USUAL_BLOCK = 128


@dataclass(frozen=True)
class Launch:
    """Facts, plan and schedule of a launch on a device."""

    facts: Facts
    plan: Plan
    schedule: Schedule
    device: Device

    @property
    def lane(self) -> str:
        return self.plan.lanes or self.facts.threads[-1]

    @cached_property
    def group(self) -> float:
        """Threads that do the same where a loop is not shared out."""
        return max(1.0, self.plan.threads_an_element)

    @property
    def threads(self) -> float:
        """Threads that have work, or stand beside those in their block."""
        return self.facts.points * self.plan.threads_an_element * self.idle

    @cached_property
    def grid(self) -> tuple[int, ...] | None:
        """Blocks along each axis, the last dimension first; None where blocks are not laid out over
        the dimensions of the launch."""
        extents = self.facts.extents[::-1]
        if self.plan.joint and self.plan.threads_an_element != 1.0:
            return None
        if len(self.schedule.block) != len(extents):
            return None
        pairs = zip(extents, self.schedule.block, self._each, strict=True)
        return tuple(max(1, ceil(e / (b * each))) for e, b, each in pairs)

    @property
    def _each(self) -> tuple[int, ...]:
        """Elements that a thread takes along each axis, the last dimension first."""
        dims = len(self.facts.extents)
        along_x = self.plan.vector_width if self.plan.in_vectors else self.plan.along_row
        in_turn = self.schedule.elements_a_thread if self.plan.in_turn else 1
        if dims == 1:
            return (max(along_x, in_turn),)
        return (along_x, in_turn, *(1,) * (dims - 2))

    @cached_property
    def idle(self) -> float:
        """Threads launched for each one that has work."""
        if self.grid is None:
            return 1.0
        found = 1.0
        rows = zip(
            self.facts.extents[::-1], self.schedule.block, self._each, self.grid, strict=True
        )
        turned = 0 if self.plan.along_row > 1 else min(1, len(self.grid) - 1)
        for axis, (extent, side, each, blocks) in enumerate(rows):
            takes_in_turn = self.plan.in_turn and axis == turned
            work = min(extent, blocks * side) if takes_in_turn else ceil(extent / each)
            found *= blocks * side / max(1, work)
        return found

    def repeated(self, loops: tuple[Turns, ...]) -> float:
        """How many threads of a point do what stands in some loops, or stand idle beside those."""
        if self.group == 1.0:
            return 1.0
        for t in loops:
            if t.node in self.plan.shared_out:
                return ceil(t.count / self.group) * self.group / max(1.0, t.count)
        return self.group

    def is_fetched(self, access: Access) -> bool:
        """Whether a block loads or stores these rows together."""
        turns = access.loops[-1:]
        return bool(turns) and (turns[0].node, access.array) in self.plan.fetched

    def wide(self, access: Access) -> float:
        """Elements that a thread which goes along a row has in a load or store, where all fit."""
        turns = access.loops[-1:]
        return self.plan.walked.get((turns[0].node, access.array), 1.0) if turns else 1.0

    def taken(self, access: Access) -> float:
        """Elements that a thread takes with one load or store as it goes along a row.

        Rows that are no whole vectors begin at any place of one: lanes of a warp take single
        elements and vectors in different turns, so that it makes both.
        """
        width = self.wide(access)
        if width == 1.0 or round(access.loops[-1].count) % width == 0:
            return width
        turns = access.loops[-1]
        return max(1.0, turns.count / (turns.count / width + _STRAY_TURNS * width))

    @property
    def waves(self) -> float:
        """Rounds in which a device takes all blocks, at least one."""
        by_threads = RESIDENT_THREADS // max(WARP, self.schedule.threads)
        held = self.plan.shared_bytes
        fitting = int(_SHARED_BYTES // held) if held else _RESIDENT_BLOCKS
        resident = max(1, min(by_threads, fitting, _RESIDENT_BLOCKS))
        return max(1.0, self.blocks / (resident * self.device.processors))

    @property
    def resident(self) -> float:
        """Threads that a processor holds at a time."""
        return max(1.0, min(RESIDENT_THREADS, self.threads / self.device.processors))

    @property
    def points_at_work(self) -> float:
        """Points of the launch that the device works on at a time."""
        return min(self.facts.points, self.resident * self.device.processors / self.group)

    @property
    def in_waves(self) -> float:
        """How many times over the waits of a thread count: rounds hide those of each other but for
        a part."""
        return (1.0 + (self.waves - 1.0) * _NOT_HIDDEN) * self.kept_by_the_last

    @property
    def kept_by_the_last(self) -> float:
        """How much longer the threads of a large block hold their places, all until its last warp
        ends."""
        if self.plan.joint or len(self.schedule.block) > 1:
            return 1.0
        return 1.0 + _UNTIL_THE_LAST * max(0.0, log2(self.schedule.threads / _USUAL_BLOCK))

    @property
    def blocks(self) -> float:
        if self.grid is not None:
            return float(prod(self.grid))
        return max(1.0, self.threads / self.schedule.threads)

    @property
    def waited(self) -> float:
        """How much longer the device waits for memory where threads that take points in turn are
        too few to keep it busy: half of those that it holds do, all where their loops wait too.
        Threads that walk along rows wait for pieces or vectors of them by turns."""
        if self.plan.fetched or self.plan.walked:
            return _BY_TURNS
        if not self.plan.in_turn:
            return 1.0
        held = RESIDENT_THREADS * self.device.processors
        enough = held if any(a.loops for a in self.facts.accesses) else held / 2
        return max(1.0, min(self.facts.points, enough) / self.threads)

    @property
    def busy(self) -> float:
        """The share of the processors that have a block."""
        return min(1.0, self.blocks / self.device.processors)
