"""Lanes, a warp or a block for each element: they share out its loops and join their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from generators.program import ir
from generators.program.dtypes import INT32, Scalar, Type
from generators.program.expr import Const
from synth.render.cuda.device.collective import block_join, identity, join_into, warp_join
from synth.render.cuda.find.split import SplitLoops, Sum, split_loops
from synth.render.cuda.kernel import KernelText, Written, factor, leave_before
from synth.render.cuda.lines import leaving, wrapped
from synth.render.cuda.offsets import flat_index, without_unused
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style, power_of_two, same_dims
from synth.render.cuda.styles.row_vectors import RowBody, VectorLoop, row_vectors, width_of
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
    found = split_loops(text.kernel)
    assert found is not None, "the schedule asks for a form that the kernel does not have"
    return Rows(text, found).written()


class Rows:
    """Prints one kernel; ``lane`` is a thread's place among those of its element."""

    def __init__(self, text: KernelText, found: SplitLoops) -> None:
        self.text = text
        self.block, self.group = text.schedule.block[0], text.schedule.group
        self.by_warp = self.group <= WARP
        self.found = found
        self.lane = text.fresh("lane") if self.by_warp else "threadIdx.x"
        self.index = ""
        self.uses = Counter(values_of(sums) for sums in found.sums.values())
        self.body = RowBody(text.library, text.names, text.shapes(), "return;")
        self.width = text.schedule.vector_width
        self.vectors = VectorLoop(text, self.body) if self.width > 1 else None

    def written(self) -> Written:
        kernel = self.text.kernel
        for place, sums in self.found.sums.items():
            self.body.special[id(kernel.body[place])] = self.loop(sums)
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
        return f"{self.lane} != 0"

    def _places(self) -> list[str]:
        """The lines that find the element of the thread, and leave where there is none.

        Lanes of other elements of a warp may go on: a mask of a shuffle asks for threads that have
        not left, and none is read from (CUDA C++ Programming Guide, "Warp Shuffle Functions").
        """
        names, extents = self.text.threads(), self.text.extents()
        index = self.index
        if not self.by_warp:
            lines = [f"    const int {index} = blockIdx.x;"]
        else:
            total = " * ".join(factor(e) for e in extents)
            start = f"(blockIdx.x * blockDim.x + threadIdx.x) / {self.group}"
            lines = [
                *wrapped(4, f"const int {index} = {start};"),
                f"    const int {self.lane} = threadIdx.x % {self.group};",
                *leaving(4, f"{index} >= {total}"),
            ]
        return [*lines, *(unpacked(names, extents, index, 1) if len(names) > 1 else [])]

    def loop(self, sums: list[Sum]) -> Callable[[Any, int], None]:
        """What prints a loop whose turns are shared out, and joins what it sums up."""

        def put(s: ir.For, depth: int) -> None:
            body, usual = self.body, self.body.names
            apart = {x.name: self.text.fresh(f"{x.name}_part") for x in sums if x.apart}
            for x in sums:
                if x.apart:
                    assert isinstance(x.type, Scalar)
                    kind, start = body.library.type(x.type), identity(x.join, x.type)
                    body.put(depth, f"{kind} {apart[x.name]} = {start};")
            body.names = {**usual, **apart}
            self._turns(s, depth)
            body.names = usual
            self.join(sums, apart, depth)

        return put

    def _turns(self, s: ir.For, depth: int) -> None:
        """The loop itself, also in vectors where rows are found to be made of whole ones."""
        body, width = self.body, self.width
        step = str(self.group) if self.by_warp else "blockDim.x"
        name, stop, start = body.name(s.name), body.show(s.stop).text, self.lane
        vectors = row_vectors(self.text.program, s, width) if self.vectors else None
        if vectors is not None and self.vectors is not None:
            body.put(depth, f"if ({stop} % {width} == 0) {{")
            wide = str(width * self.group) if self.by_warp else f"{width} * blockDim.x"
            first = f"int {name} = {width} * {start}"
            head = f"for ({first}; {name} < {stop}; {name} += {wide}) {{"
            self.vectors.put(s, vectors, head, depth + 1)
            body.put(depth, "} else {")
        inner = depth + (vectors is not None)
        if s.start != Const(0, INT32):
            start = f"{body.show(s.start).text} + {start}"
        body.put(inner, f"for (int {name} = {start}; {name} < {stop}; {name} += {step}) {{")
        body.block(s.body, inner + 1)
        body.put(inner, "}")
        if vectors is not None:
            body.put(depth, "}")

    def join(self, sums: list[Sum], apart: Mapping[str, str], depth: int) -> None:
        """Of a block all at once: they then wait for each other but once."""
        body = self.body
        if not self.by_warp and len(sums) > 1:
            names = ", ".join(apart.get(x.name, body.name(x.name)) for x in sums)
            body.put(depth, f"{self.block_join(sums)}({names});")
        for x in sums:
            name, part = body.name(x.name), apart.get(x.name)
            value = part or name
            if self.by_warp or len(sums) == 1:
                value = f"{self.joiner(x)}({value})"
            if part is not None:
                assert isinstance(x.type, Scalar)
                body.put(depth, join_into(x.join, x.type, name, value))
            elif value != name:
                body.put(depth, f"{name} = {value};")

    def joiner(self, x: Sum) -> str:
        """The function that joins the parts of one sum."""
        if not self.by_warp:
            return self.block_join([x])
        return warp_join(self.body.library, x.join, x.type, self.group)

    def block_join(self, sums: list[Sum]) -> str:
        """The function that joins the parts of some sums over the block."""
        values = values_of(sums)
        return block_join(self.body.library, values, self.block, self.uses[values] > 1)


def values_of(sums: list[Sum]) -> tuple[tuple[str, Type], ...]:
    """How the parts of some sums are joined, and their types."""
    return tuple((x.join, x.type) for x in sums)


def _schedules(style: str) -> Callable[[ir.Program], list[Schedule]]:
    """Blocks: in shared memory each warp of one holds a value of every sum."""

    def found(program: ir.Program) -> list[Schedule]:
        form = split_loops(program.kernel)
        if form is None:
            return []
        if style != BLOCKS:
            groups = _GROUPS[style]
        else:
            held = sum(bytes_of(s.type) for sums in form.sums.values() for s in sums)
            blocks = [b for b in _BLOCKS if b // WARP * held <= MOST_SHARED_BYTES]
            groups = tuple((block, block) for block in blocks)
        scalar = [Schedule(style, (block,), group=group) for block, group in groups]
        width = width_of(program)
        wide = [replace(s, vector_width=width) for s in scalar if width > 1]
        return [*scalar, *wide]

    return found


def _check(program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    power_of_two(schedule)
    widths = sorted({1, width_of(program)})
    if schedule.vector_width not in widths:
        words = " or ".join(map(str, widths))
        raise ValueError(f"vector_width {schedule.vector_width}: {words} for this kernel")
    allowed = {LANES: (2, 4, 8, 16), WARPS: (WARP,), BLOCKS: (schedule.threads,)}[schedule.style]
    if schedule.group not in allowed:
        words = " or ".join(map(str, allowed))
        raise ValueError(f"group {schedule.group}: {schedule.style} takes {words}")


def plan(program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    """Lanes share out the loops and join each sum: those of a loop behind one barrier."""
    form, kernel = split_loops(program.kernel), program.kernel
    assert form is not None
    first = kernel.body[min(form.sums)]
    assert isinstance(first, ir.For)
    count = sum(len(sums) for sums in form.sums.values())
    by_warp = schedule.group <= WARP
    steps = float(schedule.group.bit_length() - 1) if by_warp else 10.0
    return Plan(
        lanes=first.name,
        threads_an_element=float(schedule.group),
        shared_out=frozenset(id(kernel.body[place]) for place in form.sums),
        vector_width=schedule.vector_width,
        independent=schedule.vector_width,
        shuffles=steps * count,
        barriers=0.0 if by_warp else 2.0 * sum(bool(sums) for sums in form.sums.values()),
    )


STYLES = (
    Style(
        LANES,
        _schedules(LANES),
        _check,
        write,
        plan,
        lambda s: f"Give each element {s['group']} lanes of a warp, which join by shuffles.",
        "a few lanes for each element",
    ),
    Style(
        WARPS,
        _schedules(WARPS),
        _check,
        write,
        plan,
        lambda _s: "Give each element a warp, and combine its lanes' values by shuffles.",
        "a warp for each element",
    ),
    Style(
        BLOCKS,
        _schedules(BLOCKS),
        _check,
        write,
        plan,
        lambda _s: "Give each element a block, and join values in shared memory.",
        "a block for each element",
    ),
)
