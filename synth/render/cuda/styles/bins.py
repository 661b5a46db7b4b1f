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
from synth.render.cuda.device.peers import neutral
from synth.render.cuda.kernel import KernelText, Written, factor
from synth.render.cuda.lines import wrapped
from synth.render.cuda.scatter import WARP, Scatter, Target, scattered
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style
from synth.render.cuda.styles.aggregated import Common, check, loop_over_grid
from synth.render.cuda.text import Text
from validate.row.archs import MOST_SHARED_BYTES
from validate.row.sizes import evaluate_all

_BLOCKS = ((256,), (512,))
_TILES = (256, 1024, 4096)
"""Bins of an array that a block keeps, where their number depends on the sizes."""
ELEMENTS_A_THREAD = 16
"""So many that adding a copy to the whole is cheap beside making it."""


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
        lib = self.text.library
        lines = []
        if self.counts:
            lines = [
                "    // The block's own copy of the first bins; the others are updated in place."
            ]
        for kept in self.kept.values():
            size = kept.count if kept.is_whole else self.text.schedule.tile
            lines.append(f"    __shared__ {lib.type(kept.target.type)} {kept.local}[{size}];")
        for total, name in self.counts.items():
            lines += wrapped(4, f"const int {name} = min({total}, {self.text.schedule.tile});")
        lines += self._sweep(self._start)
        return [*lines, "    __syncthreads();", *self.common.before()]

    def _after(self) -> list[str]:
        """Copies added to the whole, and what all threads share."""
        return ["    __syncthreads();", *self._sweep(self._add), *self.common.after()]

    def _sweep(self, put: Callable[[_Kept, str], None]) -> list[str]:
        """The block's threads at all elements of the copies."""
        body = self.body
        body.lines = []
        for count in dict.fromkeys(kept.count for kept in self.kept.values()):
            k = self.place
            if count.isdigit() and int(count) <= self.text.schedule.threads:
                k = "threadIdx.x"
                body.put(1, f"if ({k} < {count}) {{")
            else:
                body.put(1, f"for (int {k} = threadIdx.x; {k} < {count}; {k} += blockDim.x) {{")
            for kept in self.kept.values():
                if kept.count == count:
                    put(kept, k)
            body.put(1, "}")
        return body.lines

    def _start(self, kept: _Kept, k: str) -> None:
        start = neutral(self.text.library, kept.target.join, kept.target.type)
        self.body.put(2, f"{kept.local}[{k}] = {start};")

    def _add(self, kept: _Kept, k: str) -> None:
        target, mine = kept.target, Text(f"{kept.local}[{k}]")
        whole = Text(f"{self.body.name(target.array)}[{k}]")
        line = self.body.atomic(target.join, target.type, whole, mine)
        if not isinstance(target.type, Scalar) or target.join not in ("add", "or", "xor"):
            self.body.put(2, line)
            return
        start = neutral(self.text.library, target.join, target.type)
        self.body.put(2, f"if ({mine.text} != {start}) {{")
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
            place = Text(f"{self.kept[other.array.name].local}[{flat.text}]")
            body.put(depth + (not direct), self._atomic(other, place, value))
        if not direct:
            body.put(depth, "} else {")
            for other, value in updates:
                place = Text(f"{body.name(other.array.name)}[{flat.text}]")
                body.put(depth + 1, self._atomic(other, place, value))
            body.put(depth, "}")

    def _atomic(self, s: ir.Atomic, place: Text, value: Text) -> str:
        return self.body.atomic(s.op, self.form.bins[id(s)].type, place, value)

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


def _shared_bytes(form: Scatter, tile: int) -> int:
    return sum(t.bytes * (tile if t.places is None else t.places) for t in _arrays(form))


def _schedules(program: ir.Program) -> list[Schedule]:
    form = scattered(program.kernel)
    if form is None or not form.bins:
        return []
    open_ended = any(t.places is None for t in form.bins.values())
    return [
        Schedule("block_bins", block, tile=tile, elements_a_thread=ELEMENTS_A_THREAD)
        for tile in (_TILES if open_ended else (0,))
        for block in _BLOCKS
        if _shared_bytes(form, tile) <= MOST_SHARED_BYTES
    ]


def _check(program: ir.Program, schedule: Schedule) -> None:
    check(program, schedule)
    form = scattered(program.kernel)
    assert form is not None
    open_ended = any(t.places is None for t in form.bins.values())
    if open_ended and schedule.tile < 1:
        raise ValueError(
            f"tile {schedule.tile}: how many bins of an array a block keeps, from 1 on"
        )
    if not open_ended and schedule.tile:
        raise ValueError(f"tile {schedule.tile}: 0, since the kernel's bins are known")
    if _shared_bytes(form, schedule.tile) > MOST_SHARED_BYTES:
        raise ValueError(
            f"tile {schedule.tile}: {_shared_bytes(form, schedule.tile)} bytes of shared memory, "
            f"at most {MOST_SHARED_BYTES}"
        )


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    form = scattered(program.kernel)
    assert form is not None
    each = schedule.elements_a_thread
    points = prod(evaluate_all(program.kernel.launch_dim, sizes))
    blocks = max(1, ceil(points / (schedule.threads * each)))
    kept = {
        key: float(blocks)
        for key, t in form.bins.items()
        if t.places is not None or t.places_at(sizes) <= schedule.tile
    }
    return Plan(
        threads_an_element=1.0 / each,
        shuffles=5.0 * len(form.common),
        barriers=2.0,
        combined=dict.fromkeys(form.common, float(WARP * each)),
        in_shared=kept,
        shared_bytes=_shared_bytes(form, schedule.tile),
    )


STYLES = (
    Style(
        "block_bins",
        _schedules,
        _check,
        write,
        _plan,
        lambda _s: "Let each block sum up in shared memory of its own before it adds to the whole.",
        "a block joins its updates in shared memory, so that fewer of them reach the whole",
    ),
)
