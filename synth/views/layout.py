"""What the cost model knows of a row's layout and of the others that its program allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import inf, prod
from typing import Any

from generators.program import ir
from generators.program.joins import named
from generators.program.serial import serial
from generators.program.serialise import from_json
from synth.render.cuda.choose import Candidate, candidates_of
from synth.render.cuda.cost.access import LOAD, UPDATE, Access, Facts, Work
from synth.render.cuda.cost.atomics import atomics, most_updates
from synth.render.cuda.cost.device import H200, WARP
from synth.render.cuda.cost.facts import facts_of
from synth.render.cuda.cost.launch import Launch
from synth.render.cuda.cost.predict import (
    CACHE,
    INSTRUCTIONS,
    LATENCY,
    MEMORY,
    Demands,
    demands,
    times_of,
)
from synth.render.cuda.find.owned import settled
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, styles
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.views.joined import BARRIER, SHUFFLE, counted
from validate.row.sizes import middle
from validate.text.formula import evaluate

Row = Mapping[str, Any]

AS_LONG = 1.05
"""Times within this factor are told as the same."""
_POOR = 4.0
"""A time so many times what traffic and arithmetic of a full device take is no good answer."""
_HALF_EMPTY = 0.5
_TWICE_THE_THREADS = 2.0
_FEW_TURNS = 0.5
_MOSTLY = 0.5
_STEPS = (1, 4, 32, 256, 4096)
"""Sizes are told as multiples of the largest of these that is below a sixteenth of them."""


@dataclass(frozen=True)
class Cost:
    """A schedule at work at some sizes: what it asks of a device, and the times that follow."""

    facts: Facts
    plan: Plan
    candidate: Candidate
    program: ir.Program
    sizes: Mapping[str, int]

    @property
    def schedule(self) -> Schedule:
        return self.candidate.schedule

    @property
    def time_us(self) -> float:
        """Predicted, of all launches together."""
        return self.candidate.prediction.time_us

    @property
    def launch_us(self) -> float:
        """What the launches alone take of it."""
        return self.plan.launches * H200.launch_us

    @cached_property
    def asked(self) -> Demands:
        return demands(self.facts, self.plan, self.schedule)

    @cached_property
    def times_us(self) -> dict[str, float]:
        """By limit, as if nothing else took time."""
        return times_of(self.asked, H200)

    @property
    def lines(self) -> float:
        """Lines of 128 bytes that are looked up in the L1 caches."""
        return self.asked.looked_up

    @cached_property
    def moved_bytes(self) -> float:
        """Of arrays that are loaded and of those that are stored, each element once that may be
        touched: as many as there are where every branch is taken, and the whole array where data
        decide how often a loop turns. The model's traffic is another:
        what is stored it counts as fetched as well, of branches it takes a share, and with stray
        elements it counts their whole sectors."""
        return self._touched([inf if a.is_guess else a.most for a in self.facts.accesses])

    @property
    def traffic_bytes(self) -> float:
        """What the model counts of them and of atomics' arrays."""
        return self.asked.memory_bytes / self.asked.waited

    @cached_property
    def most_updates(self) -> float:
        """Atomics that reach memory at most, by the model's share of branches."""
        return most_updates(self.launch)

    @cached_property
    def all_updates(self) -> float:
        """Atomics that reach memory where every branch is taken that data or an edge decides."""
        taken = tuple(replace(a, times=max(a.times, a.most)) for a in self.facts.accesses)
        facts = replace(self.facts, accesses=taken, kept={})
        return atomics(replace(self.launch, facts=facts))["updates"]

    @property
    def updates_in_shared(self) -> float:
        """Atomics on copies in shared memory, were every branch taken."""
        found = [
            a for a in self.facts.accesses if a.kind == UPDATE and a.node in self.plan.in_shared
        ]
        return self.facts.points * sum(max(a.times, a.most) * a.atoms for a in found)

    @property
    def looped_loads(self) -> float:
        """Loads of one thread in its loops, of several elements at once where its text has that."""
        plan, group = self.plan, self.launch.group
        served = plan.served
        found = sum(
            a.times
            * self.launch.repeated(a.loops)
            / (group * served.get(a.array, 1.0) * self.launch.taken(a))
            for a in self.facts.accesses
            if a.kind == LOAD and a.loops
        )
        return found * max(1.0, 1.0 / plan.threads_an_element) + plan.loads

    @property
    def idle_lanes(self) -> tuple[int, int] | None:
        """Turns of the loop that lanes share, and how many lanes share it, where most of them have
        none."""
        lanes = round(self.launch.group)
        loops = {t.node: t for access in self.facts.accesses for t in access.loops}
        shared = [t for t in loops.values() if t.node in self.plan.shared_out]
        if not shared or lanes < 2 or any(t.is_guess for t in shared):
            return None
        turns = round(max(t.count for t in shared))
        return (turns, lanes) if turns <= _FEW_TURNS * lanes else None

    @property
    def is_overcounted(self) -> bool:
        """Whether most of the time goes to what the model counts for each lane where one does it
        for several: lines of lanes that share an element, fewer than a warp, beside which the next
        element's lie; loops that are not shared out, which one of the lanes goes through."""
        lanes = self.launch.group
        if lanes == 1.0 or self.limits not in (CACHE, INSTRUCTIONS):
            return False
        if any(
            w.loops and not {t.node for t in w.loops} & self.plan.shared_out for w in self._work
        ):
            return True
        is_apart = any(a.stride(self.plan.lanes) > 1.0 for a in self.facts.accesses)
        return lanes < WARP and self.limits == CACHE and is_apart

    @property
    def _work(self) -> Sequence[Access | Work]:
        return (*self.facts.accesses, *self.facts.work)

    @property
    def waits_for_barriers(self) -> float:
        """Microseconds that the model allows for barriers: fitted, and not of barriers alone."""
        return self.asked.barriers * H200.barrier_us

    @cached_property
    def barriers(self) -> float | None:
        """Barriers of a thread, as its text has them; of tiles, whose loop sizes decide, by turns.
        None where neither says how many."""
        found = self._counted(BARRIER)
        return self.plan.barriers if found is None and self.plan.staged else found

    @cached_property
    def shuffles(self) -> int | None:
        """Shuffles of a thread, as its text has them; None where data decide how many."""
        return self._counted(SHUFFLE)

    def _counted(self, what: str) -> int | None:
        kernel = self.columns["plain_launch"][0]["kernel"] or self.program.kernel.name
        return counted(self.columns["cuda_plain"], kernel, what)

    @cached_property
    def is_most(self) -> bool:
        """Whether branches, loops or data that lead to elements may leave some of those bytes
        out."""
        known = [0.0 if self._is_open(access) else access.once for access in self.facts.accesses]
        return self._touched(known) < 0.999 * self.moved_bytes

    @cached_property
    def is_estimate(self) -> bool:
        """Whether branches, loops or data decide how many lines are asked for."""
        counted = [access for access in self.facts.accesses if access.kind != UPDATE]
        return any(self._is_open(a) or a.once < 0.999 * a.most for a in counted)

    @staticmethod
    def _is_open(access: Access) -> bool:
        return access.is_guess or bool(access.moves.led_by)

    def _touched(self, each: Sequence[float]) -> float:
        found: dict[tuple[str, bool], float] = {}
        for access, times in zip(self.facts.accesses, each, strict=True):
            if access.kind != UPDATE:
                key = (access.array, access.kind == LOAD)
                new = self.facts.points * times * access.bytes
                size = self.facts.arrays[access.array]
                found[key] = min(size, found.get(key, 0.0) + new)
        return sum(found.values())

    @property
    def limits(self) -> str:
        return max(self.times_us, key=lambda name: self.times_us[name])

    @property
    def lane(self) -> str:
        """The variable in which neighbouring threads differ."""
        return self.plan.lanes or self.facts.threads[-1]

    @cached_property
    def launch(self) -> Launch:
        return Launch(self.facts, self.plan, self.schedule, H200)

    @property
    def threads(self) -> float:
        """Of all blocks together."""
        return float(self.blocks * self.schedule.threads)

    @cached_property
    def blocks(self) -> int:
        """Of the grid that the text is launched with, of several the first."""
        return prod(
            evaluate(extent, self.sizes) for extent in self.columns["plain_launch"][0]["grid"]
        )

    @cached_property
    def columns(self) -> Row:
        """The text of the layout and its launches, as a row has them."""
        return render(self.program, self.schedule).columns()

    @property
    def filled(self) -> float:
        """The share of the processors that have a block, at most 1."""
        return min(1.0, self.blocks / H200.processors)

    @property
    def idle(self) -> float:
        """Threads launched for each that has work, by the shape of the block."""
        return self.launch.idle


@dataclass(frozen=True)
class Choice:
    """A row's schedule among all that its program allows, each predicted at ``sizes`` by symbol;
    the quickest first."""

    program: ir.Program
    own: Candidate
    all: list[Candidate]
    sizes: Mapping[str, int]

    def of(self, schedule: Schedule) -> Candidate | None:
        """The candidate of a schedule, whatever that says of what limits it."""
        wanted = replace(schedule, limits="")
        return next((c for c in self.all if replace(c.schedule, limits="") == wanted), None)

    def ratio(self, other: Candidate) -> float:
        """How many times the row's own time another schedule takes."""
        return other.prediction.time_us / self.own.prediction.time_us

    @cached_property
    def _walked(self) -> tuple[ir.Program, Facts]:
        program = named(settled(self.program))
        return program, facts_of(serial(program), self.sizes)

    def cost(self, candidate: Candidate | None = None) -> Cost:
        """What one schedule asks of a device, by default the row's own."""
        chosen = candidate or self.own
        program, facts = self._walked
        plan = styles()[chosen.schedule.style].plan(program, chosen.schedule, self.sizes)
        return Cost(facts, plan, chosen, self.program, self.sizes)

    def is_doubtful(self, other: Candidate) -> bool:
        """Whether the model's word alone is not enough that a layout is slower: what it allows for
        barriers is a constant that was fitted and stands for more than these, and some lines it
        counts too often."""
        own, theirs = self.cost(), self.cost(other)
        more = theirs.time_us - own.time_us
        waits = theirs.waits_for_barriers - own.waits_for_barriers
        return theirs.is_overcounted or (more > 0.0 and waits > _MOSTLY * more)

    def next_best(self) -> Candidate | None:
        """One thread an element beside a layout that is more; beside that the best of the others.
        None where the program has no other."""
        others = [
            c
            for c in self.all
            if c.schedule.style != self.own.schedule.style and not self.is_doubtful(c)
        ]
        plain = [c for c in others if c.schedule.style == ONE_THREAD_A_POINT]
        return next(iter(plain or others), None)

    @property
    def is_for_nothing(self) -> bool:
        """Whether the layout is more than one thread an element without being quicker: nobody
        writes it unless asked."""
        if self.own.schedule.style == ONE_THREAD_A_POINT:
            return False
        plain = [c for c in self.all if c.schedule.style == ONE_THREAD_A_POINT]
        return bool(plain) and self.ratio(plain[0]) < AS_LONG

    @property
    def is_poor(self) -> bool:
        """Whether the model itself says that the layout wastes the device: several times what
        memory and arithmetic of a full device take, through waits, scattered requests or blocks
        too few; or twice the threads that have work."""
        cost = self.cost()
        if cost.idle >= _TWICE_THE_THREADS:
            return True
        times = cost.times_us
        full = max(times[MEMORY], times[INSTRUCTIONS] * min(1.0, cost.filled))
        wasted = cost.time_us > _POOR * (cost.launch_us + full)
        return wasted and (cost.limits in (CACHE, LATENCY) or cost.filled < _HALF_EMPTY)


def choice_of(row: Row) -> Choice | None:
    """The choice that a row's schedule was; None where it was none: forced, or with no regime."""
    if not row["regime"] or not row["program"]:
        return None
    spans = tuple((span["symbol"], span["low"], span["high"]) for span in row["regime"])
    return _choice(row["program"], row["schedule"], spans)


@lru_cache(maxsize=64)
def _choice(program: str, schedule: str, spans: tuple[tuple[str, int, int], ...]) -> Choice | None:
    tree = from_json(program)
    wanted = replace(Schedule.from_json(schedule), limits="")
    factors = {size.symbol: size.multiple_of for size in tree.sizes}
    sizes = {
        symbol: _example(low, high, factors.get(symbol, 1), wanted.vector_width)
        for symbol, low, high in spans
    }
    listed = candidates_of(tree, sizes, wanted)
    own = next((c for c in listed if replace(c.schedule, limits="") == wanted), None)
    return None if own is None else Choice(tree, own, listed, sizes)


def _example(low: int, high: int, multiple_of: int, vector_width: int) -> int:
    """A size near the middle that a person would name, and for which vectors have no rest."""
    near = middle(low, high)
    steps = [step for step in _STEPS if step <= max(1, near // 16)]
    step = max(steps[-1], vector_width)
    step = step if step % multiple_of == 0 else step * multiple_of
    for found in (round(near / step) * step, -(-low // step) * step, high // step * step):
        if low <= found <= high and found > 0:
            return found
    return near
