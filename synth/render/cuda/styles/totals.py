"""All threads add to the same few elements: they join their parts before one of them does so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from generators.program import ir
from generators.program.dtypes import Scalar
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.device.collective import block_join, identity, join_into, warp_join
from synth.render.cuda.forms import common_targets
from synth.render.cuda.kernel import KernelText, Written
from synth.render.cuda.offsets import flat_index, without_unused
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.split import Sum
from synth.render.cuda.style import Plan, Style, power_of_two, same_dims
from synth.render.cuda.styles.threads import flat_grid, grid_stride_head

_ELEMENTS = (4, 16, 64)
"""Elements a thread: the more of them, the fewer atomics are left."""


def write(text: KernelText) -> Written:
    """The kernel as a loop over the grid, in the style of its schedule.

    ``warp_total``: each warp has one atomic for each target; ``block_total``: each block.
    """
    targets = common_targets(text.kernel)
    assert targets is not None, "the schedule asks for a form that the kernel does not have"
    parts: dict[str, tuple[Sum, str, ir.Atomic]] = {}
    body = Body(text.library, text.names, text.shapes(), "continue;")
    atomics = {id(s): s for s in _atomics(text.kernel.body)}
    for key, target in targets.items():
        if target.name not in parts:
            name = text.fresh(f"{target.name}_part", f"own_{target.name}")
            parts[target.name] = (target, name, atomics[key])
        body.special[key] = _adder(body, parts[target.name][1], target)
    known = flat_index(text.kernel.threads, text.extents())
    inner = body.run(text.kernel.body, text.given(), 2, known)
    lines = [
        f"    {text.library.type(t.type)} {name} = {_start(t)};" for t, name, _ in parts.values()
    ]
    head = without_unused(grid_stride_head(text), inner)
    if text.schedule.unroll > 1:
        loop = next(k for k, line in enumerate(head) if line.lstrip().startswith("for "))
        head.insert(loop, f"#pragma unroll {text.schedule.unroll}")
    joins = _Joins(text, body, Counter((t.join, t.type) for t, _, _ in parts.values()))
    tail = joins.lines(list(parts.values()))
    grid = flat_grid(text.formulas(), text.schedule.block[0] * text.schedule.elements_a_thread)
    return Written([*lines, *head, *inner, "    }", *tail], [grid])


def _atomics(body: ir.Body) -> list[ir.Atomic]:
    return [s for s in statements(body) if isinstance(s, ir.Atomic)]


def _start(target: Sum) -> str:
    assert isinstance(target.type, Scalar)
    return identity(target.join, target.type)


def _adder(body: Body, name: str, target: Sum) -> Callable[[Any, int], None]:
    def put(s: ir.Atomic, depth: int) -> None:
        assert isinstance(target.type, Scalar)
        value = body.show(s.value).text
        if s.op == "sub":
            body.put(depth, f"{name} -= {value};")
        else:
            body.put(depth, join_into(target.join, target.type, name, value))

    return put


class _Joins:
    """Prints what follows the loop: parts joined, and the atomics of one thread."""

    def __init__(self, text: KernelText, body: Body, uses: Counter[tuple[str, object]]) -> None:
        self.text = text
        self.body = body
        self.uses = uses
        self.by_warp = text.schedule.style == "warp_total"

    def lines(self, parts: list[tuple[Sum, str, ir.Atomic]]) -> list[str]:
        body = self.body
        body.lines = []
        for target, name, _ in parts:
            body.put(1, f"{name} = {self._function(target)}({name});")
        body.put(1, "if (threadIdx.x % 32 == 0) {" if self.by_warp else "if (threadIdx.x == 0) {")
        for target, name, s in parts:
            assert isinstance(target.type, Scalar)
            op = "add" if s.op == "sub" else s.op
            body.put(2, body.atomic_of(op, target.type, body.index(s.array, s.indices), name))
        body.put(1, "}")
        return body.lines

    def _function(self, target: Sum) -> str:
        lib = self.text.library
        if self.by_warp:
            return warp_join(lib, target.join, target.type)
        again = self.uses[target.join, target.type] > 1
        return block_join(lib, target.join, target.type, self.text.schedule.block[0], again)


def _schedules(style: str) -> Callable[[ir.Program], list[Schedule]]:
    def found(program: ir.Program) -> list[Schedule]:
        if common_targets(program.kernel) is None:
            return []
        return [
            Schedule(style, block, elements_a_thread=count, unroll=min(4, count // 4))
            for block in ((256,), (512,))
            for count in _ELEMENTS
        ]

    return found


def _check(_program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    power_of_two(schedule)
    if schedule.elements_a_thread < 1:
        raise ValueError(f"elements_a_thread {schedule.elements_a_thread}: a number from 1 on")


def _plan(program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    targets = common_targets(program.kernel) or {}
    by_warp = schedule.style == "warp_total"
    joined = (32 if by_warp else schedule.threads) * schedule.elements_a_thread
    names = len({t.name for t in targets.values()})
    return Plan(
        threads_an_element=1.0 / schedule.elements_a_thread,
        shuffles=names * (5.0 if by_warp else 10.0),
        barriers=0.0 if by_warp else 2.0 * names,
        independent=schedule.unroll,
        combined=dict.fromkeys(targets, float(joined)),
    )


STYLES = (
    Style(
        "warp_total",
        _schedules("warp_total"),
        _check,
        write,
        _plan,
        lambda _s: "Combine values within a warp by shuffles before the atomics.",
        "a warp joins its values first, so that one atomic stands for many",
    ),
    Style(
        "block_total",
        _schedules("block_total"),
        _check,
        write,
        _plan,
        lambda _s: "Reduce within each block in shared memory before the atomics.",
        "a block joins its values first, so that one atomic stands for many",
    ),
)
