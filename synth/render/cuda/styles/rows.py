"""A warp or a block for each element: its threads share out the loops and join their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from generators.program import ir
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const
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

_BLOCKS: dict[str, tuple[int, ...]] = {
    "warp_per_row": (32, 128, 256),
    "block_per_row": (64, 128, 256),
}


def write(text: KernelText) -> Written:
    """The kernel in the style ``warp_per_row`` or ``block_per_row`` of its schedule."""
    return _Rows(text).written()


class _Rows:
    """Prints one kernel; ``lane`` is a thread's place among those of its element."""

    def __init__(self, text: KernelText) -> None:
        self.text = text
        self.by_warp = text.schedule.style == "warp_per_row"
        self.block = text.schedule.block[0]
        found = split_loops(text.kernel)
        assert found is not None, "the schedule asks for a form that the kernel does not have"
        self.found = found
        self.lane = text.fresh("lane") if self.by_warp else "threadIdx.x"
        sums = [s for loop in found.sums.values() for s in loop]
        self.index = ""
        self.uses = Counter((s.join, s.type) for s in sums)
        self.body = Body(text.library, text.names, text.shapes(), "return;")

    def written(self) -> Written:
        kernel = self.text.kernel
        for place, sums in self.found.sums.items():
            self.body.special[id(kernel.body[place])] = self._loop(sums)
        if self.found.tail < len(kernel.body):
            leave_before(self.body, kernel.body[self.found.tail], lambda: f"{self.lane} != 0")
        names = self.text.threads()
        self.index = names[0] if len(names) == 1 else self.text.fresh("element", "flat_index")
        known = flat_index(kernel.threads, self.text.extents(), self.index)
        inner = self.body.run(kernel.body, self.text.given(), 1, known)
        formulas = self.text.formulas()
        total = " * ".join(factor(e) for e in formulas)
        rows_a_block = self.block // WARP
        grid = flat_grid(formulas, rows_a_block) if self.by_warp and rows_a_block > 1 else total
        return Written([*without_unused(self._places(), inner, self.index), *inner], [grid])

    def _places(self) -> list[str]:
        """The lines that find the element of the thread, and leave where there is none."""
        names, extents = self.text.threads(), self.text.extents()
        index = self.index
        if not self.by_warp:
            lines = [f"    const int {index} = blockIdx.x;"]
        else:
            total = " * ".join(factor(e) for e in extents)
            start = f"(blockIdx.x * blockDim.x + threadIdx.x) / {WARP}"
            lines = [
                *wrapped(4, f"const int {index} = {start};"),
                f"    const int {self.lane} = threadIdx.x % {WARP};",
                *leaving(4, f"{index} >= {total}"),
            ]
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
            step = WARP if self.by_warp else "blockDim.x"
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
            for x in sums:
                self._join(x, apart.get(x.name), depth)

        return put

    def _join(self, x: Sum, apart: str | None, depth: int) -> None:
        body, lib = self.body, self.body.library
        if self.by_warp:
            function = warp_join(lib, x.join, x.type)
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
    """Blocks: in shared memory each thread of one holds a value of every sum."""

    def found(program: ir.Program) -> list[Schedule]:
        form = split_loops(program.kernel)
        if form is None:
            return []
        held = sum(bytes_of(s.type) for sums in form.sums.values() for s in sums)
        blocks = _BLOCKS[style]
        if style == "block_per_row":
            blocks = tuple(b for b in blocks if b * held <= MOST_SHARED_BYTES)
        return [Schedule(style, (b,), group=_group(style, b)) for b in blocks]

    return found


def _group(style: str, block: int) -> int:
    return WARP if style == "warp_per_row" else block


def _check(_program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    power_of_two(schedule)
    wanted = _group(schedule.style, schedule.threads)
    if schedule.group != wanted:
        raise ValueError(f"group {schedule.group}: {schedule.style} takes {wanted}")


def _plan(program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    form, kernel = split_loops(program.kernel), program.kernel
    assert form is not None
    first = kernel.body[min(form.sums)]
    assert isinstance(first, ir.For)
    count = sum(len(sums) for sums in form.sums.values())
    by_warp = schedule.style == "warp_per_row"
    return Plan(
        lanes=first.name,
        threads_an_element=float(schedule.group),
        shared_out=frozenset(id(kernel.body[place]) for place in form.sums),
        shuffles=5.0 * count if by_warp else 0.0,
        barriers=0.0 if by_warp else count * (2.0 + schedule.threads.bit_length()),
    )


STYLES = (
    Style(
        "warp_per_row",
        _schedules("warp_per_row"),
        _check,
        write,
        _plan,
        lambda _s: "Give each element a warp, and combine its lanes' values by shuffles.",
        "the lanes of a warp read side by side and share the work",
    ),
    Style(
        "block_per_row",
        _schedules("block_per_row"),
        _check,
        write,
        _plan,
        lambda _s: "Give each element a block, and reduce in shared memory.",
        "the threads of a block read side by side and share the work",
    ),
)
