"""Totals along inner launch dimensions: a warp or blocks for each place along the outer ones."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod

from generators.program import ir
from synth.render.cuda.body import Body
from synth.render.cuda.cost.atomics import joining_shuffles
from synth.render.cuda.find.scatter import WARP, axis_totals
from synth.render.cuda.kernel import KernelText, Written, factor
from synth.render.cuda.lines import leaving, wrapped
from synth.render.cuda.offsets import without_unused
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style, power_of_two, same_dims
from synth.render.cuda.styles.aggregated import Common
from synth.render.cuda.styles.threads import flat_grid, unpacked
from validate.row.sizes import evaluate_all

_BLOCKS = (128, 256)
_PARTS = (4, 16)
"""Elements a thread, where blocks share out the points of one outer place."""


def write(text: KernelText) -> Written:
    """The kernel in the style ``axis_total``: with a group of 32 a warp takes all points of an
    outer place and updates its total alone, else each warp of several blocks adds its part."""
    return _Axis(text).written()


class _Axis:
    """Prints one kernel."""

    def __init__(self, text: KernelText) -> None:
        form = axis_totals(text.kernel)
        assert form is not None, "the schedule asks for a form that the kernel does not have"
        self.text, self.form = text, form
        self.by_warp = text.schedule.group == WARP
        self.names, self.extents = text.threads(), text.extents()
        outer = form.outer
        self.outer = self.names[0] if outer == 1 else text.fresh("outer", "outer_index")
        several = len(self.names) - outer > 1
        self.inner = text.fresh("inner", "inner_index") if several else self.names[-1]
        self.lane = text.fresh("lane") if self.by_warp else f"threadIdx.x % {WARP}"

    def written(self) -> Written:
        text = self.text
        body = Body(text.library, text.names, text.shapes(), "continue;")
        common = Common(text, body, self.form.own | self.form.common)
        inner = body.run(text.kernel.body, text.given(), 2)
        alone = {t.array for t in self.form.own.values()} if self.by_warp else set()
        after = common.after(self.lane, alone)
        used = [*inner, *after, f"{self.outer} {self.inner}"]
        before = without_unused(self._places(), used, self.outer)
        head = without_unused(self._head(), used, self.inner)
        lines = [*before, *common.before(), *head, *inner, "    }", *after]
        return Written(lines, self._grid())

    def _places(self) -> list[str]:
        """The lines that find the outer place, and leave where there is none."""
        count = self.form.outer
        names, extents = self.names[:count], self.extents[:count]
        lines = [f"    const int {self.outer} = blockIdx.x;"]
        if self.by_warp:
            start = f"(blockIdx.x * blockDim.x + threadIdx.x) / {WARP}"
            lines = [
                *wrapped(4, f"const int {self.outer} = {start};"),
                f"    const int {self.lane} = threadIdx.x % {WARP};",
                *leaving(4, f"{self.outer} >= {' * '.join(factor(e) for e in extents)}"),
            ]
        return [*lines, *(unpacked(names, extents, self.outer, 1) if count > 1 else [])]

    def _head(self) -> list[str]:
        """The lines that open the loop over the inner points."""
        count = self.form.outer
        names, extents = self.names[count:], self.extents[count:]
        total = " * ".join(factor(e) for e in extents)
        start, step = self.lane, str(WARP)
        lines = []
        if not self.by_warp:
            start, step = "blockIdx.y * blockDim.x + threadIdx.x", "stride"
            lines = ["    const int stride = blockDim.x * gridDim.y;"]
        k = self.inner
        lines += wrapped(4, f"for (int {k} = {start}; {k} < {total}; {k} += {step}) {{")
        return [*lines, *(unpacked(names, extents, k, 2) if len(names) > 1 else [])]

    def _grid(self) -> list[str]:
        count, schedule = self.form.outer, self.text.schedule
        formulas = self.text.formulas()
        if self.by_warp:
            return [flat_grid(formulas[:count], schedule.threads // WARP)]
        outer = " * ".join(factor(e) for e in formulas[:count])
        return [outer, flat_grid(formulas[count:], schedule.threads * schedule.elements_a_thread)]


def _schedules(program: ir.Program) -> list[Schedule]:
    if axis_totals(program.kernel) is None:
        return []
    warps = [Schedule("axis_total", (block,), group=WARP) for block in _BLOCKS]
    blocks = [
        Schedule("axis_total", (block,), elements_a_thread=each, group=block)
        for block in _BLOCKS
        for each in _PARTS
    ]
    return [*warps, *blocks]


def _check(_program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    power_of_two(schedule)
    if schedule.elements_a_thread < 1:
        raise ValueError(f"elements_a_thread {schedule.elements_a_thread}: a number from 1 on")
    if schedule.group not in (WARP, schedule.threads):
        raise ValueError(
            f"group {schedule.group}: {schedule.style} takes {WARP} or the block's "
            f"{schedule.threads}"
        )


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    form = axis_totals(program.kernel)
    assert form is not None
    inner = prod(evaluate_all(program.kernel.launch_dim[form.outer :], sizes))
    joined = float(max(1, inner))
    threads = float(schedule.group)
    if schedule.group != WARP:
        blocks = ceil(inner / (schedule.threads * schedule.elements_a_thread))
        threads *= blocks
        # Each warp of a block adds what its lanes have, be that as little as it may.
        joined = max(1.0, joined * WARP / threads)
    return Plan(
        threads_an_element=threads / max(1, inner),
        shuffles=joining_shuffles(
            program.kernel, {t.array for t in (form.own | form.common).values()}
        ),
        combined=dict.fromkeys(form.own | form.common, joined),
    )


STYLES = (
    Style(
        "axis_total",
        _schedules,
        _check,
        write,
        _plan,
        lambda _s: "Give the points of each total to a warp or to blocks, and join before writing.",
        "a warp or blocks for each total",
    ),
)
