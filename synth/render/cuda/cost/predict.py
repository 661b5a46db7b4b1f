"""The time of a schedule on a device, from the facts of a program and the plan of the schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, gcd, log2, prod
from typing import Any

from synth.render.cuda.cost.device import H200, LINE_BYTES, SECTOR_BYTES, WARP, Device
from synth.render.cuda.cost.facts import LOAD, UPDATE, Access, Facts, Turns
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan

_RESIDENT_THREADS = 2048
_RESIDENT_BLOCKS = 32
_SHARED_BYTES = 200e3
_OVERLAP = 4.0
"""Loads that a loop of one thread has under way."""
_MOST_SERVED = 16.0
_WIDEST = 16
"""Bytes of the widest load."""
_NOT_HIDDEN = 0.1
_SHUFFLE_STEPS = 10.0
_MATCH_SHUFFLES, _JOIN_SHUFFLES = 16.0, 3.0
"""What matching the lanes of a warp takes, and each step of joining them."""
NORM = 4.0
"""How little what takes less time than the slowest part adds to it."""

MEMORY, CACHE, INSTRUCTIONS, ATOMICS, LATENCY = (
    "memory",
    "cache",
    "instructions",
    "atomics",
    "latency",
)


@dataclass(frozen=True)
class Demands:
    """What a launch asks of a device, in units of the device's rates.

    ``steps`` are of one thread after another, as its waits: ``misses`` for what no thread near it
    has read before, ``loads`` in loops; ``barriers`` are of a block; all times the rounds in which
    the device takes its blocks. Bytes and lines are times ``waited``, where threads are too few.
    """

    memory_bytes: float
    cache_bytes: float
    lines: float
    instructions: float
    updates: float
    updates_at_one: float
    shared_updates: float
    steps: float
    misses: float
    loads: float
    barriers: float
    waited: float


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
    """The time of limits that overlap; as :func:`times_of`, of arrays as well."""
    return sum(t**NORM for t in times.values()) ** (1.0 / NORM)


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
        + asked.shared_updates / device.shared_updates,
        LATENCY: asked.steps * device.step_us
        + asked.misses * device.miss_us
        + asked.loads * device.latency_us
        + asked.barriers * device.barrier_us,
    }


def demands(facts: Facts, plan: Plan, schedule: Schedule, device: Device = H200) -> Demands:
    """What a launch asks for; of the device only its sizes matter here."""
    launch = _Launch(facts, plan, schedule, device)
    traffic = _Traffic(launch, device)
    for access in facts.accesses:
        if access.kind != UPDATE:
            traffic.add(access)
    return Demands(
        memory_bytes=traffic.memory_bytes() * launch.waited,
        cache_bytes=traffic.bytes * launch.waited,
        lines=traffic.lines * launch.waited / launch.busy,
        instructions=(_instructions(launch) + traffic.requests) / launch.busy,
        **_atomics(launch),
        **_latency(launch),
        waited=launch.waited,
    )


@dataclass(frozen=True)
class _Launch:
    """A schedule at work: who its lanes are, and how many threads of what block."""

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
        return self.facts.points * self.plan.threads_an_element * self.idle

    @cached_property
    def idle(self) -> float:
        """Threads launched for each one that has work."""
        block, extents = self.schedule.block, self.facts.extents
        if len(block) != len(extents) or self.plan.threads_an_element != 1.0:
            return 1.0
        pairs = zip(block, extents[::-1], strict=True)
        return prod(ceil(e / b) * b / e for b, e in pairs if e > 0)

    def repeated(self, loops: tuple[Turns, ...]) -> float:
        """How many threads of a point do what stands in some loops, or stand idle beside those."""
        if self.group == 1.0:
            return 1.0
        for t in loops:
            if t.node in self.plan.shared_out:
                return ceil(t.count / self.group) * self.group / max(1.0, t.count)
        return self.group

    def taken(self, access: Access) -> float:
        """Elements that a thread takes with one load or store as it goes along a row."""
        if not access.loops:
            return 1.0
        return self.plan.walked.get((access.loops[-1].node, access.array), 1.0)

    @property
    def waves(self) -> float:
        """Rounds in which a device takes all blocks, at least one."""
        by_threads = _RESIDENT_THREADS // max(WARP, self.schedule.threads)
        held = self.plan.shared_bytes
        fitting = int(_SHARED_BYTES // held) if held else _RESIDENT_BLOCKS
        resident = max(1, min(by_threads, fitting, _RESIDENT_BLOCKS))
        return max(1.0, self.blocks / (resident * self.device.processors))

    @property
    def blocks(self) -> float:
        return max(1.0, self.threads / self.schedule.threads)

    @property
    def waited(self) -> float:
        """How much longer the device waits for memory where threads that take points in turn are
        too few to keep it busy: half of those that it holds do, all where their loops wait too."""
        if not self.plan.in_turn:
            return 1.0
        held = _RESIDENT_THREADS * self.device.processors
        enough = held if any(a.loops for a in self.facts.accesses) else held / 2
        return max(1.0, min(self.facts.points, enough) / self.threads)

    @property
    def busy(self) -> float:
        """The share of the processors that have a block."""
        return min(1.0, self.blocks / self.device.processors)


def _instructions(launch: _Launch) -> float:
    """Instructions of all warps."""
    count = sum(w.count * launch.repeated(w.loops) for w in launch.facts.work)
    count *= launch.facts.points * launch.idle / WARP
    return count + launch.threads * 4.0 * _shuffles(launch) / WARP


class _Traffic:
    """Collects what loads and stores ask of the caches and of memory."""

    def __init__(self, launch: _Launch, device: Device) -> None:
        self.launch, self.device = launch, device
        self.requests = self.lines = self.bytes = 0.0
        self.touched: dict[str, float] = {}

    def add(self, access: Access) -> None:
        launch = self.launch
        requests = launch.facts.points * access.times * launch.repeated(access.loops) / WARP
        lines, sectors, reuse = self._shared_answer(access)
        served = launch.plan.staged.get(access.array, 1.0) if access.kind == LOAD else 1.0
        held = launch.plan.register_reuse if served > 1.0 else 1.0
        taken = launch.taken(access)
        self.requests += 2.0 * requests / held / taken
        if served > 1.0:
            self.lines += requests / held
            requests /= served
        self.lines += requests * lines
        new = access.once / access.times
        moved = new * requests * sectors * SECTOR_BYTES / reuse
        self.bytes += moved
        size = launch.facts.arrays[access.array]
        least = min(size, launch.facts.points * access.once * access.bytes)
        missed = moved if size > self.device.cache_size and self._stray(access) else least
        key = access.array
        self.touched[key] = max(self.touched.get(key, 0.0), missed)
        if access.kind != LOAD:
            self.touched[f"{key} written"] = least

    def memory_bytes(self) -> float:
        return sum(self.touched.values())

    def _shared_answer(self, access: Access) -> tuple[float, float, float]:
        """Lines, sectors and reuse of an access: the same for schedules that differ elsewhere."""
        plan, schedule = self.launch.plan, self.launch.schedule
        ways = (self.launch.lane, bool(plan.lanes), min(WARP, self.launch.group))
        more = (
            plan.vector_width,
            plan.shared_out,
            plan.staged.get(access.array),
            access.array in plan.in_vectors,
            self.launch.taken(access),
            schedule.block[1:],
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
            size = self.launch.facts.arrays[access.array]
            most = max(1.0, size / LINE_BYTES)
            return min(float(WARP), most), min(float(WARP * each), 4.0 * most)
        plan = self.launch.plan
        stride = abs(access.moves.factors.get(lane, 0.0)) * width
        # Of an element that has fewer lanes than a warp there are several in each.
        side = min(WARP, self.launch.group) if plan.lanes else float(WARP)
        apart, at_once = stride, self.launch.taken(access) * width
        if access.array in plan.in_vectors:
            apart, at_once = stride * plan.vector_width, stride * plan.vector_width
        elif stride and (access.loops or stride != width or plan.in_vectors):
            # No wide load: each thread walks over its own neighbours.
            stride = apart = stride * plan.vector_width
        loads = width / gcd(max(1, round(at_once)), _WIDEST)
        grain = LINE_BYTES if access.kind == LOAD else SECTOR_BYTES
        asked = loads * min(side, max(1.0, side * apart / grain))
        spread = side * stride
        whole = max(1.0, min(spread, side * ceil(width / SECTOR_BYTES) * SECTOR_BYTES))
        return asked * WARP / side, max(1.0, whole / SECTOR_BYTES) * WARP / side

    def _kept(self, access: Access) -> float:
        """How often what was loaded serves again, from a cache that is near."""
        launch, lane = self.launch, self.launch.lane
        reuse = 1.0
        stride = abs(access.moves.factors.get(lane, 0.0)) * access.bytes
        serial = [t for t in access.loops if t.node not in launch.plan.shared_out and t.name]
        steps = [abs(access.moves.factors.get(t.name, 0.0)) * access.bytes for t in serial]
        held = _RESIDENT_THREADS * SECTOR_BYTES * min(1.0, stride / SECTOR_BYTES)
        if stride >= SECTOR_BYTES and held <= self.device.near_size:
            reuse *= max((SECTOR_BYTES / s for s in steps if 0.0 < s < SECTOR_BYTES), default=1.0)
        if launch.plan.staged.get(access.array, 1.0) > 1.0:
            return reuse
        fixed = [t for t, s in zip(serial, steps, strict=True) if not s and t.count > 1]
        if fixed and not access.moves.led_by & {t.name for t in fixed}:
            reuse *= prod(t.count for t in fixed)
        sides = zip(launch.schedule.block[1:], launch.facts.threads[-2::-1], strict=False)
        names = access.moves.names
        return reuse * prod(side for side, name in sides if name not in names)

    def _stray(self, access: Access) -> bool:
        return self.launch.lane in access.moves.led_by


def _atomics(launch: _Launch) -> dict[str, float]:
    everywhere = at_one = shared = 0.0
    plan = launch.plan
    for access in launch.facts.accesses:
        if access.kind != UPDATE:
            continue
        # Where several threads work on a point, one of them alone does what all would.
        updates = launch.facts.points * access.times
        places = _places(launch, access)
        if access.node in plan.in_shared:
            copies = plan.in_shared[access.node]
            kept = updates * _share_held(launch, access)
            spread = min(places * plan.copies, WARP)
            busy = min(copies, launch.device.processors) / launch.device.processors
            shared += kept * WARP / spread / busy
            updates += copies * min(places, kept / copies) - kept
        elif access.node in plan.matched:
            updates /= lanes_at_one(places)
        else:
            updates /= plan.combined.get(access.node, 1.0)
        everywhere += updates
        at_one += updates / places
    return {"updates": everywhere, "updates_at_one": at_one, "shared_updates": shared}


def _share_held(launch: _Launch, access: Access) -> float:
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


def matching_shuffles(lanes: float) -> float:
    """What it takes a warp, in shuffles, to find the lanes that meet and to join so many."""
    return _MATCH_SHUFFLES + _JOIN_SHUFFLES * ceil(log2(lanes))


def _shuffles(launch: _Launch) -> float:
    """Shuffles of a thread."""
    found = launch.plan.shuffles
    for access in launch.facts.accesses:
        if access.node in launch.plan.matched:
            lanes = lanes_at_one(_places(launch, access))
            found += launch.plan.matched[access.node] * matching_shuffles(lanes)
    return found


def _places(launch: _Launch, access: Access) -> float:
    """Different elements that an atomic meets."""
    size = max(1.0, launch.facts.arrays[access.array] / access.bytes)
    if access.moves.led_by:
        return max(1.0, min(size, access.moves.values, access.moves.span + 1.0))
    counts = dict(zip(launch.facts.threads, launch.facts.extents, strict=True))
    counts |= {t.name: max(1, round(t.count)) for t in access.loops}
    return min(size, float(prod(counts.get(n, 1) for n in access.moves.factors)))


def _latency(launch: _Launch) -> dict[str, float]:
    """What one thread does after another, in all waves."""
    group, plan = launch.group, launch.plan
    points = max(1.0, 1.0 / max(plan.threads_an_element, 1e-3))
    # Points side by side share their waits, but not the turns of loops: these stay in a row.
    beside = points / plan.independent
    steps = 0.0
    for work in launch.facts.work:
        turns = points if work.loops else beside
        steps += work.count * launch.repeated(work.loops) / group * turns
    straight = looped = 0.0
    for access in launch.facts.accesses:
        if access.kind != LOAD:
            continue
        times = access.times * launch.repeated(access.loops) / group
        times /= min(plan.staged.get(access.array, 1.0), _MOST_SERVED)
        if access.loops:
            looped += times / (1.0 if access.moves.led_by else _OVERLAP)
        else:
            straight += times / _OVERLAP
    misses = max(min(1.0, straight * _OVERLAP), straight) * beside
    # Waves hide each other's waits but for a part of them.
    waves = 1.0 + (launch.waves - 1.0) * _NOT_HIDDEN
    return {
        "steps": (steps + _SHUFFLE_STEPS * _shuffles(launch)) * waves,
        "misses": misses * waves,
        "loads": looped * points * waves + plan.loads,
        "barriers": plan.barriers * waves,
    }
