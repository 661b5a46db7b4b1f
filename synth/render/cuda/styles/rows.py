"""Lanes, a warp or a block for each element: they share out its loops and join their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from generators.program import ir
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.device.collective import block_join, identity, join_into, warp_join
from synth.render.cuda.kernel import KernelText, Written, factor, leave_before
from synth.render.cuda.lines import leaving, wrapped
from synth.render.cuda.offsets import flat_index, without_unused
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.split import Sum, split_loops
from synth.render.cuda.style import Plan, Style, power_of_two, same_dims
from synth.render.cuda.styles.threads import flat_grid, unpacked
from synth.render.cuda.types import bytes_of
from validate.row.archs import MOST_SHARED_BYTES

WARP = 32

LANES, WARPS, BLOCKS = "lanes_per_row", "warp_per_row", "block_per_row"
"""Styles: a part of a warp for each element, a warp, a block."""

_GROUPS = {LANES: ((128, 4), (256, 8), (256, 16)), WARPS: ((128, 32), (256, 32))}
"""Threads of a block, and of these for an element."""
_BLOCKS = (64, 128, 256, 512)


def write(text: KernelText) -> Written:
    """The kernel in the style of its schedule."""
    return _Rows(text).written()


class _Rows:
    """Prints one kernel; ``lane`` is a thread's place among those of its element."""

    def __init__(self, text: KernelText) -> None:
        self.text = text
        self.by_warp = text.schedule.style != BLOCKS
        self.block, self.group = text.schedule.block[0], text.schedule.group
        found = split_loops(text.kernel)
        assert found is not None, "the schedule asks for a form that the kernel does not have"
        self.found = found
        self.lane = text.fresh("lane") if self.by_warp else "threadIdx.x"
        self.place = text.fresh("place", "element") if self.group < WARP else ""
        sums = [s for loop in found.sums.values() for s in loop]
        self.index = ""
        self.uses = Counter((s.join, s.type) for s in sums)
        self.body = Body(text.library, text.names, text.shapes(), "return;")

    def written(self) -> Written:
        kernel = self.text.kernel
        for place, sums in self.found.sums.items():
            self.body.special[id(kernel.body[place])] = self._loop(sums)
        if self.found.tail < len(kernel.body):
            leave_before(self.body, kernel.body[self.found.tail], self._idle)
        names = self.text.threads()
        self.index = names[0] if len(names) == 1 else self.text.fresh("element", "flat_index")
        known = flat_index(kernel.threads, self.text.extents(), self.index)
        inner = self.body.run(kernel.body, self.text.given(), 1, known)
        formulas = self.text.formulas()
        total = " * ".join(factor(e) for e in formulas)
        rows_a_block = self.block // self.group
        grid = flat_grid(formulas, rows_a_block) if self.by_warp and rows_a_block > 1 else total
        return Written([*without_unused(self._places(), inner, self.index), *inner], [grid])

    def _idle(self) -> str:
        """Which threads have nothing to do any more when results are there."""
        own = f"{self.lane} != 0"
        return f"{own} || {self.place} >= {self._total()}" if self.place else own

    def _total(self) -> str:
        return " * ".join(factor(e) for e in self.text.extents())

    def _places(self) -> list[str]:
        """The lines that find the element of the thread, and leave where there is none."""
        names, extents = self.text.threads(), self.text.extents()
        index = self.index
        if not self.by_warp:
            lines = [f"    const int {index} = blockIdx.x;"]
        else:
            total, start = self._total(), f"(blockIdx.x * blockDim.x + threadIdx.x) / {self.group}"
            lines = [
                *wrapped(4, f"const int {self.place or index} = {start};"),
                f"    const int {self.lane} = threadIdx.x % {self.group};",
            ]
            if self.place:
                # All lanes of a warp take part in its shuffles: none may leave before them.
                lines += wrapped(4, f"const int {index} = min({self.place}, {total} - 1);")
            else:
                lines += leaving(4, f"{index} >= {total}")
        return [*lines, *(unpacked(names, extents, index, 1) if len(names) > 1 else [])]

    def _loop(self, sums: list[Sum]) -> Callable[[Any, int], None]:
        def put(s: ir.For, depth: int) -> None:
            body, usual = self.body, self.body.names
            apart = {x.name: self.text.fresh(f"{x.name}_part") for x in sums if x.apart}
            for x in sums:
                if x.apart:
                    assert isinstance(x.type, Scalar)
                    kind, start = body.library.type(x.type), identity(x.join, x.type)
                    body.put(depth, f"{kind} {apart[x.name]} = {start};")
            step = self.group if self.by_warp else "blockDim.x"
            if self.place and not sums:
                body.put(depth, f"if ({self.place} < {self._total()}) {{")
                depth += 1
            name, stop = body.name(s.name), body.show(s.stop).text
            start = self.lane
            if s.start != Const(0, INT32):
                start = f"{body.show(s.start).text} + {start}"
            head = f"for (int {name} = {start}; {name} < {stop}; {name} += {step}) {{"
            body.put(depth, head)
            body.names = {**usual, **apart}
            body.block(s.body, depth + 1)
            body.names = usual
            body.put(depth, "}")
            if self.place and not sums:
                body.put(depth - 1, "}")
            for x in sums:
                self._join(x, apart.get(x.name), depth)

        return put

    def _join(self, x: Sum, apart: str | None, depth: int) -> None:
        body, lib = self.body, self.body.library
        if self.by_warp:
            function = warp_join(lib, x.join, x.type, self.group)
        else:
            again = self.uses[x.join, x.type] > 1
            function = block_join(lib, x.join, x.type, self.block, again)
        name = body.name(x.name)
        if apart is None:
            body.put(depth, f"{name} = {function}({name});")
        else:
            assert isinstance(x.type, Scalar)
            body.put(depth, join_into(x.join, x.type, name, f"{function}({apart})"))


def _schedules(style: str) -> Callable[[ir.Program], list[Schedule]]:
    """Blocks: in shared memory each warp of one holds a value of every sum."""

    def found(program: ir.Program) -> list[Schedule]:
        form = split_loops(program.kernel)
        if form is None or (style == LANES and _leaves(program.kernel.body)):
            return []
        if style != BLOCKS:
            return [Schedule(style, (block,), group=group) for block, group in _GROUPS[style]]
        held = sum(bytes_of(s.type) for sums in form.sums.values() for s in sums)
        return [
            Schedule(style, (block,), group=block)
            for block in _BLOCKS
            if block // WARP * held <= MOST_SHARED_BYTES
        ]

    return found


def _leaves(body: ir.Body) -> bool:
    return any(isinstance(s, ir.Return) for s in statements(body))


def _check(_program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    power_of_two(schedule)
    allowed = {LANES: (2, 4, 8, 16), WARPS: (WARP,), BLOCKS: (schedule.threads,)}[schedule.style]
    if schedule.group not in allowed:
        words = " or ".join(map(str, allowed))
        raise ValueError(f"group {schedule.group}: {schedule.style} takes {words}")


def _plan(program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    form, kernel = split_loops(program.kernel), program.kernel
    assert form is not None
    first = kernel.body[min(form.sums)]
    assert isinstance(first, ir.For)
    count = sum(len(sums) for sums in form.sums.values())
    by_warp = schedule.style != BLOCKS
    steps = float(schedule.group.bit_length() - 1) if by_warp else 10.0
    return Plan(
        lanes=first.name,
        threads_an_element=float(schedule.group),
        shared_out=frozenset(id(kernel.body[place]) for place in form.sums),
        shuffles=steps * count,
        barriers=0.0 if by_warp else 2.0 * count,
    )


STYLES = (
    Style(
        LANES,
        _schedules(LANES),
        _check,
        write,
        _plan,
        lambda s: f"Give each element {s['group']} lanes of a warp, which join by shuffles.",
        "a few lanes share out the loop of each element, so that none of them runs long",
    ),
    Style(
        WARPS,
        _schedules(WARPS),
        _check,
        write,
        _plan,
        lambda _s: "Give each element a warp, and combine its lanes' values by shuffles.",
        "a warp shares out the loop of each element, so that no lane runs long",
    ),
    Style(
        BLOCKS,
        _schedules(BLOCKS),
        _check,
        write,
        _plan,
        lambda _s: "Give each element a block, and join values in shared memory.",
        "a block shares out the loop of each element, so that no thread runs long",
    ),
)
