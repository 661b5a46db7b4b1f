"""The time of a schedule on a device, from the facts of a program and the plan of the schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, gcd, log2, prod
from typing import Any

from synth.render.cuda.cost.access import LOAD, UPDATE, Access, Facts
from synth.render.cuda.cost.atomics import atomics, shuffles
from synth.render.cuda.cost.device import H200, LINE_BYTES, SECTOR_BYTES, WARP, Device
from synth.render.cuda.cost.launch import Launch
from synth.render.cuda.cost.waits import waits
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan

_WIDEST = 16
"""Bytes of the widest load."""
_LARGE = 8
_PARTED = 0.1
"""Of the bytes of elements of so many bytes, for each time that a vector is twice as wide."""
_FETCHED_BYTES = 64
"""What memory gives the L2 cache at a time."""
_EACH_FURTHER_ROW = 0.04
"""What a warp's bytes take longer for each row of a block that it covers beyond one."""
NORM = 4.0
"""How little what takes less time than the slowest part adds to it."""
_STREAM_NORM = 1.5
"""The same of memory and of what threads wait for."""

MEMORY, CACHE, INSTRUCTIONS, ATOMICS, LATENCY, STARTS = (
    "memory",
    "cache",
    "instructions",
    "atomics",
    "latency",
    "starts",
)


@dataclass(frozen=True)
class Demands:
    """What a launch asks of a device, in units of the device's rates.

    ``steps`` are of one thread after another, as its waits: ``misses`` for what no thread near it
    has read before, ``loads`` in loops; ``barriers`` are of a block; all times the rounds in which
    the device takes its blocks. Bytes and lines are times ``waited``, where threads are too few or
    a warp covers several rows;
    ``looked_up`` are the lines without that.
    ``blocks`` and ``warps`` are those that the busiest processor starts.
    """

    memory_bytes: float
    cache_bytes: float
    lines: float
    instructions: float
    updates: float
    updates_at_one: float
    shared_updates: float
    matches: float
    steps: float
    misses: float
    loads: float
    barriers: float
    waited: float
    blocks: float
    warps: float
    looked_up: float


@dataclass(frozen=True)
class Prediction:
    """Time of a launch in microseconds; ``limits`` is what most of it goes to."""

    time_us: float
    limits: str


def predict(facts: Facts, plan: Plan, schedule: Schedule, device: Device = H200) -> Prediction:
    """The time from the first launch to the end of the last."""
    times = times_of(demands(facts, plan, schedule, device), device)
    limits = max(times, key=lambda name: times[name])
    return Prediction(plan.launches * device.launch_us + together(times), limits)


def together(times: Mapping[str, Any]) -> Any:
    """The time of limits that overlap; as :func:`times_of`, of arrays as well.

    Memory has less to do while threads start and wait than it could: the fewer bytes each of them
    asks for, the more of them have to come and go.
    """
    waits = times[LATENCY] + times[STARTS]
    streamed = (times[MEMORY] ** _STREAM_NORM + waits**_STREAM_NORM) ** (1.0 / _STREAM_NORM)
    apart = (t**NORM for name, t in times.items() if name not in (MEMORY, LATENCY, STARTS))
    return (streamed**NORM + sum(apart)) ** (1.0 / NORM)


def times_of(
    asked: Demands, device: Device, larger: Callable[[Any, Any], Any] = max
) -> dict[str, Any]:
    """The time in microseconds that each limit alone would take.

    Of many launches at once where the fields of ``asked`` are arrays and ``larger`` is the larger
    of two arrays, element by element.
    """
    return {
        MEMORY: asked.memory_bytes / device.memory_bytes,
        CACHE: larger(asked.cache_bytes / device.cache_bytes, asked.lines / device.lines),
        INSTRUCTIONS: asked.instructions / device.instructions,
        ATOMICS: asked.updates / device.updates
        + asked.updates_at_one / device.updates_at_one
        + asked.shared_updates / device.shared_updates
        + asked.matches / device.matches,
        LATENCY: asked.steps * device.step_us
        + asked.misses * device.miss_us
        + asked.loads * device.latency_us
        + asked.barriers * device.barrier_us,
        STARTS: asked.blocks * device.block_us + asked.warps * device.warp_us,
    }


def demands(facts: Facts, plan: Plan, schedule: Schedule, device: Device = H200) -> Demands:
    """What a launch asks for; of the device only its sizes matter here."""
    launch = Launch(facts, plan, schedule, device)
    traffic = _Traffic(launch, device)
    blocks = max(1.0, launch.blocks / device.processors)
    for access in facts.accesses:
        if access.kind != UPDATE:
            traffic.add(access)
    rows = 1.0 if plan.staged or plan.lanes else max(1.0, WARP / schedule.block[0])
    slowed = launch.waited * (1.0 + _EACH_FURTHER_ROW * (rows - 1.0))
    return Demands(
        memory_bytes=traffic.memory_bytes() * slowed,
        cache_bytes=traffic.bytes * slowed,
        # Processors without a block and threads that are too few are one want, not two.
        lines=traffic.lines * max(launch.waited, 1.0 / launch.busy)
        + traffic.near_lines / launch.busy,
        instructions=(_instructions(launch) + traffic.requests) / launch.busy,
        **atomics(launch),
        **waits(launch),
        waited=slowed,
        blocks=blocks,
        warps=blocks * ceil(schedule.threads / WARP),
        looked_up=traffic.lines + traffic.near_lines,
    )


def _instructions(launch: Launch) -> float:
    """Instructions of all warps."""
    count = sum(w.count * launch.repeated(w.loops) for w in launch.facts.work)
    count *= launch.facts.points * launch.idle / WARP
    each = 4.0 * shuffles(launch) + launch.plan.instructions
    return count + launch.threads * each / WARP


class _Traffic:
    """Collects what loads and stores ask of the caches and of memory."""

    def __init__(self, launch: Launch, device: Device) -> None:
        self.launch, self.device = launch, device
        self.requests = self.lines = self.near_lines = self.bytes = 0.0
        self.touched: dict[str, float] = {}
        self.passes: dict[str, dict[int, float]] = {}
        """By array, what each loop reads of rows of each point's own."""

    def add(self, access: Access) -> None:
        launch = self.launch
        requests = launch.facts.points * access.times * launch.repeated(access.loops) / WARP
        requests *= self._of_own(access) / self._spared(access)
        lines, sectors, reuse = self._shared_answer(access)
        served = launch.plan.staged.get(access.array, 1.0) if access.kind == LOAD else 1.0
        held = launch.plan.register_reuse if served > 1.0 else 1.0
        taken = launch.taken(access)
        self.requests += 2.0 * requests / held / taken
        if served > 1.0:
            self.lines += requests / held
            requests /= served
        found = requests * (lines + 2.0 * launch.is_fetched(access))
        self.lines += found / reuse
        self.near_lines += found - found / reuse
        new = access.once / access.times / self._of_own(access)
        part = self._parted(access)
        moved = new * requests * sectors * SECTOR_BYTES * part / reuse
        self.bytes += moved
        size = launch.facts.arrays[access.array]
        least = min(size, launch.facts.points * access.once * access.bytes) * part
        missed = moved if self._strays(access) or self._is_gone(access) else least
        if self._thrashes(access):
            missed = moved * _FETCHED_BYTES / SECTOR_BYTES
        key = access.array
        self.touched[key] = max(self.touched.get(key, 0.0), missed)
        if access.kind == LOAD and access.loops and access.moves.names & {*launch.facts.threads}:
            by_loop = self.passes.setdefault(key, {})
            node = access.loops[-1].node
            by_loop[node] = max(by_loop.get(node, 0.0), missed / self._spared(access))
        if access.kind != LOAD:
            self.touched[f"{key} written"] = least

    def memory_bytes(self) -> float:
        """What is read again in a later loop is gone by then where the rows of all points that are
        worked on are more than the cache holds."""
        found = sum(self.touched.values())
        again = {key: sum(loops.values()) for key, loops in self.passes.items() if len(loops) > 1}
        launch, sizes = self.launch, self.launch.facts.arrays
        points = launch.resident * self.device.processors / launch.plan.threads_an_element
        share = min(1.0, points / launch.facts.points)
        if share * sum(sizes[key] for key in again) <= self.device.cache_size:
            return found
        return found + sum(all_ - min(all_, self.touched[key]) for key, all_ in again.items())

    def _shared_answer(self, access: Access) -> tuple[float, float, float]:
        """Lines, sectors and reuse of an access: the same for schedules that differ elsewhere."""
        plan, schedule = self.launch.plan, self.launch.schedule
        ways = (self.launch.lane, bool(plan.lanes), min(WARP, self.launch.group))
        more = (
            plan.vector_width,
            plan.shared_out,
            plan.staged.get(access.array),
            access.array in plan.in_vectors,
            self.launch.is_fetched(access),
            self.launch.taken(access),
            self.launch.resident,
            schedule.block,
        )
        key = (id(access), *ways, *more)
        known = self.launch.facts.kept
        if key not in known:
            known[key] = (*self._of_a_warp(access), self._kept(access))
        found: tuple[float, float, float] = known[key]
        return found

    def _of_a_warp(self, access: Access) -> tuple[float, float]:
        """Lines that 32 lanes look up for an element each, of stores the sectors that they send,
        and sectors that they need."""
        lane, width = self.launch.lane, access.bytes
        if lane in access.moves.led_by:
            each = ceil(width / SECTOR_BYTES)
            apart = WARP * abs(access.moves.factors.get(lane, 0.0)) + access.moves.stray
            size = min(self.launch.facts.arrays[access.array], apart * width)
            most = max(1.0, size / LINE_BYTES)
            return min(float(WARP), most), min(float(WARP * each), 4.0 * most)
        plan = self.launch.plan
        stride = float(width) if self.launch.is_fetched(access) else access.stride(lane) * width
        # Of an element that has fewer lanes than a warp there are several in each, and several rows
        # of a block that is narrower.
        side = min(WARP, self.launch.group) if plan.lanes else self._along(access)
        apart, at_once, pieces = stride, self.launch.wide(access) * width, 1.0
        if self.launch.wide(access) > 1.0:
            pieces = self.launch.wide(access) / self.launch.taken(access)
        if access.array in plan.in_vectors:
            apart, at_once = stride * plan.vector_width, stride * plan.vector_width
        elif stride and (access.loops or stride != width or plan.in_vectors):
            # No wide load: each thread walks over its own neighbours.
            stride = apart = stride * plan.vector_width
        loads = pieces * width / gcd(max(1, round(at_once)), _WIDEST)
        grain = LINE_BYTES if access.kind == LOAD else SECTOR_BYTES
        asked = loads * min(side, max(1.0, side * apart / grain))
        spread = side * stride
        whole = max(1.0, min(spread, side * ceil(width / SECTOR_BYTES) * SECTOR_BYTES))
        lines, sectors = self._beside(access, WARP / side)
        return asked * lines, max(1.0, whole / SECTOR_BYTES) * sectors

    def _beside(self, access: Access, points: float) -> tuple[float, float]:
        """How many times the lines and sectors of one point those of several are that stand side by
        side in a warp, each with lanes of its own: fewer where they are neighbours in memory."""
        last = self.launch.facts.threads[-1]
        if not self.launch.plan.lanes or last in access.moves.led_by:
            return points, points
        apart = points * access.stride(last) * access.bytes
        lines = min(points, max(1.0, apart / LINE_BYTES))
        return lines, min(points, max(1.0, apart / SECTOR_BYTES))

    def _of_own(self, access: Access) -> float:
        """The share of an access's loads that is left where a thread has neighbouring elements: it
        loads once what they have in common. Of the distances between places that the facts do not
        keep, half are taken to be along the vector."""
        width, lane = self.launch.plan.vector_width, self.launch.lane
        is_shared = width > 1 and access.kind == LOAD and not access.loops
        if not is_shared or access.array in self.launch.plan.in_vectors:
            return 1.0
        if access.stride(lane) != 1.0 or lane in access.moves.led_by:
            return 1.0
        different = access.once * width + access.times - access.once
        return (1.0 + different / (access.times * width)) / 2.0

    def _spared(self, access: Access) -> float:
        """Loads for each that is left where a loop does the work of several."""
        return self.launch.plan.spared.get(access.array, 1.0) if access.kind == LOAD else 1.0

    def _parted(self, access: Access) -> float:
        """How much more is fetched where a vector of large elements is several loads: lanes of one
        lie apart, and the sectors between them may be gone before the others ask for them."""
        at_once = access.bytes * self.launch.plan.vector_width
        if access.array not in self.launch.plan.in_vectors or access.bytes < _LARGE:
            return 1.0
        return 1.0 + _PARTED * max(0.0, log2(at_once / _WIDEST))

    def _along(self, access: Access) -> float:
        """Lanes of a warp that stand side by side for an access: those of a row of the block where
        the next row of it is elsewhere."""
        across = self.launch.schedule.block[1:]
        others = set(self.launch.facts.threads[-2::-1][: len(across)])
        is_apart = bool(others & access.moves.names)
        return float(min(WARP, self.launch.schedule.block[0])) if is_apart else float(WARP)

    def _kept(self, access: Access) -> float:
        """How often what was loaded serves again, from a cache that is near."""
        launch, lane = self.launch, self.launch.lane
        reuse = 1.0
        stride = 0.0 if launch.is_fetched(access) else access.stride(lane) * access.bytes
        serial = [t for t in access.loops if t.node not in launch.plan.shared_out and t.name]
        steps = [abs(access.moves.factors.get(t.name, 0.0)) * access.bytes for t in serial]
        if stride >= SECTOR_BYTES:
            again = max((SECTOR_BYTES / s for s in steps if 0.0 < s < SECTOR_BYTES), default=1.0)
            is_near = self._walked_bytes(access) <= self.device.near_size
            reuse *= again if is_near else min(again, launch.taken(access))
        if launch.plan.staged.get(access.array, 1.0) > 1.0:
            return reuse
        fixed = [t for t, s in zip(serial, steps, strict=True) if not s and t.count > 1]
        if fixed and not access.moves.names & {t.name for t in fixed}:
            reuse *= prod(t.count for t in fixed)
        sides = zip(launch.schedule.block[1:], launch.facts.threads[-2::-1], strict=False)
        names = access.moves.names
        return reuse * prod(side for side, name in sides if name not in names)

    def _walked_bytes(self, access: Access) -> float:
        """What a near cache must hold of the rows that resident threads walk side by side in a
        loop: a line of each array for each thread, of those that data lead to as well, which come
        and go between two turns."""
        launch, loops = self.launch, access.loops[-1:]
        apart: dict[str, float] = {}
        for a in launch.facts.accesses:
            if a.kind == UPDATE or a.loops[-1:] != loops or launch.is_fetched(a):
                continue
            if launch.lane in a.moves.led_by:
                stride = launch.facts.arrays[a.array] / launch.resident
            else:
                stride = abs(a.stride(launch.lane)) * a.bytes
            apart[a.array] = max(apart.get(a.array, 0.0), stride)
        return launch.resident * sum(min(s, float(LINE_BYTES)) for s in apart.values())

    def _thrashes(self, access: Access) -> bool:
        """Whether the lines of all rows that threads walk side by side are more than the cache
        holds: each is gone before the thread comes to its next element."""
        stride = access.stride(self.launch.lane) * access.bytes
        is_shared = self.launch.is_fetched(access) or access.array in self.launch.plan.staged
        if not access.loops or stride < SECTOR_BYTES or is_shared:
            return False
        return self._walked_bytes(access) * self.device.processors > self.device.cache_size

    def _is_gone(self, access: Access) -> bool:
        """Whether what each point walks along in a loop, again with every turn of one around it, is
        more than the cache holds, of all points that are worked on."""
        names, launch = access.moves.names, self.launch
        walked = [t for t in access.loops if t.name in names]
        is_again = any(t.count > 1.0 and t.name not in names for t in access.loops[:-1])
        is_own = launch.lane in names and access.array not in launch.plan.staged
        if not walked or not is_again or not is_own or launch.is_fetched(access):
            return False
        each = prod(t.count for t in walked) * access.bytes
        return launch.points_at_work * each > self.device.cache_size

    def _strays(self, access: Access) -> bool:
        """Whether data lead to more places at a time than the cache holds: all that they may lead
        to, for each of the points that are worked on where these have places of their own."""
        moves, launch = access.moves, self.launch
        reach = moves.stray * access.bytes
        if launch.lane in moves.factors or set(launch.facts.threads) & moves.factors.keys():
            reach *= launch.points_at_work
        size = launch.facts.arrays[access.array]
        return bool(moves.led_by) and min(size, reach) > self.device.cache_size
