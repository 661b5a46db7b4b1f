"""Each block sums up in a copy of its own in shared memory, and adds it to the whole at its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil, prod
from typing import Any

from generators.program import ir
from generators.program.dtypes import Scalar
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.cost.atomics import joining_shuffles
from synth.render.cuda.device.atomics import LOCAL
from synth.render.cuda.device.peers import neutral
from synth.render.cuda.dialect.current import block_extent, spoken, thread_at
from synth.render.cuda.find.scatter import WARP, Scatter, Target, scattered
from synth.render.cuda.kernel import KernelText, Written, factor
from synth.render.cuda.lines import wrapped
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style
from synth.render.cuda.styles.aggregated import Common, check, joined_into, loop_over_grid
from synth.render.cuda.text import Prec, Text, at_least
from validate.row.archs import MOST_SHARED_BYTES
from validate.row.sizes import evaluate_all

_BLOCKS = (256, 512)
_KEPT = (256, 1024, 4096)
"""Bins of an array that a block keeps, where their number depends on the sizes."""
_FEW = 64
"""Bins up to which each lane number has a copy."""
_ELEMENTS_A_BLOCK = (2048, 8192)
"""So many that adding a copy to the whole is cheap beside making it; no more, since a row is run
on the host at a shape of two blocks."""

_COMMENT = {
    (True, False): "The block's own copy of the first bins; the others are updated in place.",
    (True, True): "A copy of the first bins for each lane; the others are updated in place.",
    (False, True): "A copy for each lane, so that no two lanes of a warp meet.",
}
"""By whether there may be more bins than a block keeps, and whether lanes have copies."""


@dataclass(frozen=True)
class _Kept:
    """An array's copy in shared memory: its name, and how many elements of it there are in C++."""

    target: Target
    local: str
    count: str

    @property
    def is_whole(self) -> bool:
        """Whether every element is in it at all sizes."""
        return self.count.isdigit()


def write(text: KernelText) -> Written:
    """The kernel in the style ``block_bins``."""
    return _Bins(text).written()


class _Bins:
    """Prints one kernel."""

    def __init__(self, text: KernelText) -> None:
        form = scattered(text.kernel)
        assert form is not None, "the schedule asks for a form that the kernel does not have"
        self.text, self.form = text, form
        self.body = Body(text.library, text.names, text.shapes(), "continue;")
        self.common = Common(text, self.body, form.common)
        self.counts: dict[str, str] = {}
        arrays = _arrays(form)
        self.totals = {t.array: self._total(t) for t in arrays if t.places is None}
        self.kept = {t.array: self._keep(t) for t in arrays}
        self.place = text.fresh("k", "bin", "slot", "place")
        self.by_lane = _copies(text.schedule) > 1
        self.copy = text.fresh("copy", "from", "replica") if self.by_lane else ""
        self.lane = text.fresh("lane", "lane_id") if self.by_lane else f"{thread_at()} % {WARP}"
        self.done: set[int] = set()

    def _keep(self, target: Target) -> _Kept:
        name = target.array
        local = self.text.fresh(f"block_{name}", f"shared_{name}", f"local_{name}")
        if target.places is not None:
            return _Kept(target, local, str(target.places))
        total = self.totals[name]
        if total not in self.counts:
            wanted = [f"kept_{name}", f"num_kept_{name}"]
            if len(set(self.totals.values())) == 1:
                wanted = ["kept", "num_kept", *wanted]
            self.counts[total] = self.text.fresh(*wanted)
        return _Kept(target, local, self.counts[total])

    def _total(self, target: Target) -> str:
        return " * ".join(factor(self.text.size(text)) for text in target.shape)

    def written(self) -> Written:
        for body in _bodies(self.text.kernel.body):
            for place, s in enumerate(body):
                if id(s) in self.form.bins:
                    self.body.special[id(s)] = self._update(body[place:])
        return loop_over_grid(self.text, self.body, self._before(), self._after)

    def _before(self) -> list[str]:
        """Shared memory, and its start."""
        lib, tile = self.text.library, self.text.schedule.tile
        comment = _COMMENT.get((bool(self.counts), self.by_lane))
        lines = [f"    // {comment}"] if comment else []
        for kept in self.kept.values():
            size = kept.count if kept.is_whole else tile
            size = f"{size} * {WARP}" if self.by_lane else size
            lines.append(f"    {spoken().shared}{lib.type(kept.target.type)} {kept.local}[{size}];")
        for total, name in self.counts.items():
            lines += wrapped(4, f"const int {name} = min({total}, {tile});")
        if self.by_lane:
            lines.append(f"    const int {self.lane} = {thread_at()} % {WARP};")
        lines += self._sweep(self._start, WARP if self.by_lane else 1)
        return [*lines, f"    {spoken().barrier}", *self.common.before()]

    def _after(self) -> list[str]:
        """Copies added to the whole, and what all threads share."""
        add = self._sweep(self._gather if self.by_lane else self._add)
        return [f"    {spoken().barrier}", *add, *self.common.after(self.lane)]

    def _sweep(self, put: Callable[[_Kept, str], None], times: int = 1) -> list[str]:
        """The block's threads at all elements of the copies."""
        body = self.body
        body.lines = []
        for count in dict.fromkeys(kept.count for kept in self.kept.values()):
            k, end = self.place, f"{count} * {times}" if times > 1 else count
            if count.isdigit() and int(count) * times <= self.text.schedule.threads:
                k = thread_at()
                body.put(1, f"if ({k} < {end}) {{")
            else:
                step = f"{k} += {block_extent()}"
                body.put(1, f"for (int {k} = {thread_at()}; {k} < {end}; {step}) {{")
            for kept in self.kept.values():
                if kept.count == count:
                    put(kept, k)
            body.put(1, "}")
        return body.lines

    def _start(self, kept: _Kept, k: str) -> None:
        start = neutral(self.text.library, kept.target.join, kept.target.type)
        self.body.put(2, f"{kept.local}[{k}] = {start};")

    def _gather(self, kept: _Kept, k: str) -> None:
        """All lanes' copies of an element, each thread from its own bank on."""
        name, target = kept.target.array, kept.target
        whole = self.text.fresh(f"{name}_of_block", f"{name}_joined", f"all_{name}")
        kind = self.text.library.type(target.type)
        self.body.put(2, f"{kind} {whole} = {kept.local}[{k} * {WARP} + {self.lane}];")
        self.body.put(2, f"for (int {self.copy} = 1; {self.copy} < {WARP}; ++{self.copy}) {{")
        other = f"{kept.local}[{k} * {WARP} + ({self.lane} + {self.copy}) % {WARP}]"
        self.body.put(3, joined_into(self.text.library, target.join, target.type, whole, other))
        self.body.put(2, "}")
        self._put_in(target, k, whole)

    def _add(self, kept: _Kept, k: str) -> None:
        self._put_in(kept.target, k, f"{kept.local}[{k}]")

    def _put_in(self, target: Target, k: str, mine: str) -> None:
        """A block's part of an element added to the whole, unless it changes nothing."""
        whole = Text(f"{self.body.name(target.array)}[{k}]")
        line = self.body.atomic(target.join, target.type, whole, Text(mine))
        if not isinstance(target.type, Scalar) or target.join not in ("add", "or", "xor"):
            self.body.put(2, line)
            return
        start = neutral(self.text.library, target.join, target.type)
        self.body.put(2, f"if ({mine} != {start}) {{")
        self.body.put(3, line)
        self.body.put(2, "}")

    def _update(self, rest: ir.Body) -> Callable[[Any, int], None]:
        def put(s: ir.Atomic, depth: int) -> None:
            if id(s) in self.done:
                return
            group = [s, *self._alike(s, rest[1:])]
            self.done |= {id(other) for other in group}
            self._put(group, depth)

        return put

    def _alike(self, s: ir.Atomic, rest: ir.Body) -> Iterator[ir.Atomic]:
        """What follows at the same place of other arrays with nothing to be printed between."""
        for other in rest:
            if (
                not isinstance(other, ir.Atomic)
                or id(other) not in self.form.bins
                or self._flat(other).text != self._flat(s).text
                or self.kept[other.array.name].count != self.kept[s.array.name].count
                or id(other) in self.body.offsets.before
                or id(other) in self.body.declared.before
            ):
                return
            yield other

    def _flat(self, s: ir.Atomic) -> Text:
        return self.body.flat(s.indices, self.body.shapes[s.array.name][1:])

    def _put(self, group: list[ir.Atomic], depth: int) -> None:
        body, s = self.body, group[0]
        kept = self.kept[s.array.name]
        flat = self._flat(s)
        direct = kept.is_whole or flat.text == "0"  # There is always a first.
        if not direct and not _is_simple(flat.text):
            flat = self._named("int", flat, f"{s.array.name}_place", "bin", "cell", depth)
        values = [body.show(other.value) for other in group]
        if not direct:
            values = [
                value if _is_simple(value.text) else self._value(other, value, depth)
                for other, value in zip(group, values, strict=True)
            ]
            body.put(depth, f"if ({flat.text} < {kept.count}) {{")
        updates = list(zip(group, values, strict=True))
        for other, value in updates:
            place = self._in_copy(other, flat)
            body.put(depth + (not direct), self._atomic(other, place, value, LOCAL))
        if not direct:
            body.put(depth, "} else {")
            for other, value in updates:
                place = Text(f"{body.name(other.array.name)}[{flat.text}]")
                body.put(depth + 1, self._atomic(other, place, value))
            body.put(depth, "}")

    def _in_copy(self, s: ir.Atomic, flat: Text) -> Text:
        at = f"{at_least(flat, Prec.MUL)} * {WARP} + {self.lane}" if self.by_lane else flat.text
        return Text(f"{self.kept[s.array.name].local}[{at}]")

    def _atomic(self, s: ir.Atomic, place: Text, value: Text, space: str = "") -> str:
        return self.body.atomic(s.op, self.form.bins[id(s)].type, place, value, space)

    def _value(self, s: ir.Atomic, value: Text, depth: int) -> Text:
        kind = self.body.library.type(self.form.bins[id(s)].type)
        return self._named(kind, value, f"{s.array.name}_update", "update", "amount", depth)

    def _named(
        self, kind: str, value: Text, last: str, first: str, second: str, depth: int
    ) -> Text:
        """A value under a name that nothing else has."""
        numbered = (f"{last}{k}" for k in range(2, 99))
        name = self.text.fresh(first, second, last, *numbered)
        self.body.put(depth, f"const {kind} {name} = {value.text};")
        return Text(name)


def _bodies(body: ir.Body) -> Iterator[ir.Body]:
    """A body and all within it."""
    yield body
    for s in statements(body):
        if isinstance(s, ir.If):
            yield from (inner for _, inner in s.branches)
            yield s.orelse
        elif isinstance(s, ir.For | ir.While):
            yield s.body


def _is_simple(text: str) -> bool:
    """Whether an expression may stand twice: a name or a literal."""
    return re.fullmatch(r"-?[\w.]+", text) is not None


def _arrays(form: Scatter) -> list[Target]:
    return list({t.array: t for t in form.bins.values()}.values())


def _shared_bytes(form: Scatter, tile: int, copies: int) -> int:
    kept = sum(t.bytes * (tile if t.places is None else t.places) for t in _arrays(form))
    return kept * copies


def _copies(schedule: Schedule) -> int:
    """Copies that a block has of each array: one, or one for each lane number."""
    return schedule.threads // schedule.group


def _schedules(program: ir.Program) -> list[Schedule]:
    form = scattered(program.kernel)
    if form is None or not form.bins:
        return []
    most = max(t.places or 0 for t in form.bins.values())
    is_open = any(t.places is None for t in form.bins.values())
    found = [(tile, 1) for tile in (_KEPT if is_open else (0,))]
    if most <= _FEW:
        found.insert(0, (_FEW if is_open else 0, WARP))
    return [
        Schedule(
            "block_bins",
            (b,),
            tile=tile,
            elements_a_thread=each // b,
            group=b // copies,
        )
        for tile, copies in found
        for b in _BLOCKS
        for each in _ELEMENTS_A_BLOCK
        if _shared_bytes(form, tile, copies) <= MOST_SHARED_BYTES
    ]


def _check(program: ir.Program, schedule: Schedule) -> None:
    check(program, schedule)
    form = scattered(program.kernel)
    assert form is not None
    is_open = any(t.places is None for t in form.bins.values())
    threads, tile = schedule.threads, schedule.tile
    if schedule.group not in (threads, threads // WARP):
        raise ValueError(
            f"group {schedule.group}: {threads} for one copy of the bins, {threads // WARP} for "
            f"one of each lane"
        )
    if is_open and tile < 1:
        raise ValueError(f"tile {tile}: how many bins of an array a block keeps, from 1 on")
    if not is_open and tile:
        raise ValueError(f"tile {tile}: 0, since the kernel's bins are known")
    held = _shared_bytes(form, tile, _copies(schedule))
    if held > MOST_SHARED_BYTES:
        raise ValueError(f"tile {tile}: {held} bytes of shared memory, at most {MOST_SHARED_BYTES}")


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    form = scattered(program.kernel)
    assert form is not None
    each = schedule.elements_a_thread
    points = prod(evaluate_all(program.kernel.launch_dim, sizes))
    blocks = max(1, ceil(points / (schedule.threads * each)))
    is_open = {key for key, t in form.bins.items() if t.places is None}
    joined = joining_shuffles(program.kernel, (t.array for t in form.common.values()))
    return Plan(
        threads_an_element=1.0 / each,
        shuffles=joined,
        barriers=2.0,
        combined=dict.fromkeys(form.common, float(WARP * each)),
        in_shared=dict.fromkeys(form.bins, float(blocks)),
        held=dict.fromkeys(is_open, float(schedule.tile)),
        copies=float(_copies(schedule)),
        shared_bytes=_shared_bytes(form, schedule.tile, _copies(schedule)),
    )


STYLES = (
    Style(
        "block_bins",
        _schedules,
        _check,
        write,
        _plan,
        lambda _s: "Let each block sum up in shared memory of its own before it adds to the whole.",
        "sums of each block in shared memory",
    ),
)
