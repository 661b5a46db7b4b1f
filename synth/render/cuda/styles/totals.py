"""All threads add to the same few elements: they join their parts before one of them does so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generators.program import ir
from generators.program.dtypes import Scalar
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.cost.operations import width
from synth.render.cuda.device.collective import block_join, warp_join
from synth.render.cuda.device.peers import neutral
from synth.render.cuda.find.forms import common_targets
from synth.render.cuda.find.split import Sum
from synth.render.cuda.kernel import KernelText, Written
from synth.render.cuda.lines import wrapped
from synth.render.cuda.offsets import flat_index, without_unused
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style, power_of_two, same_dims
from synth.render.cuda.styles.aggregated import joined_into
from synth.render.cuda.styles.threads import flat_grid, grid_stride_head
from synth.render.cuda.text import Text

ELEMENTS = (4, 16)
"""Elements a thread: the more of them, the fewer atomics are left."""
WIDE_BLOCKS = ((256,), (512,))


def write(text: KernelText) -> Written:
    """The kernel as a loop over the grid, in the style of its schedule.

    ``warp_total``: each warp has one atomic for each target; ``block_total``: each block.
    """
    loop = loop_of(text)
    by_warp = text.schedule.style == "warp_total"
    body = loop.body
    body.lines = (warp_joins if by_warp else block_joins)(text, loop.parts)
    body.put(1, "if (threadIdx.x % 32 == 0) {" if by_warp else "if (threadIdx.x == 0) {")
    for target, name, s in loop.parts:
        op = "add" if s.op == "sub" else s.op
        body.put(2, body.atomic_of(op, target.type, body.index(s.array, s.indices), name))
    body.put(1, "}")
    return Written([*loop.lines, *body.lines], [loop.grid])


Part = tuple[Sum, str, ir.Atomic]
"""A target, the variable of each thread for it, and one of its atomics."""


@dataclass
class Loop:
    """A loop over the grid in which each thread joins values to parts of its own.

    ``lines`` declare the parts and hold the loop; ``body`` can print more behind it.
    """

    lines: list[str]
    grid: str
    parts: list[Part]
    body: Body


def loop_of(text: KernelText) -> Loop:
    """The loop of a kernel whose threads all add to the same elements."""
    targets = common_targets(text.kernel)
    assert targets is not None, "the schedule asks for a form that the kernel does not have"
    parts: dict[str, Part] = {}
    body = Body(text.library, text.names, text.shapes(), "continue;")
    atomics = {id(s): s for s in _atomics(text.kernel.body)}
    for key, target in targets.items():
        if target.name not in parts:
            name = text.fresh(f"{target.name}_part", f"own_{target.name}")
            parts[target.name] = (target, name, atomics[key])
        body.special[key] = _adder(body, parts[target.name][1], target)
    known = flat_index(text.kernel.threads, text.extents())
    inner = body.run(text.kernel.body, text.given(), 2, known)
    lines = start_lines(text, list(parts.values()))
    head = without_unused(grid_stride_head(text), inner)
    grid = flat_grid(text.formulas(), text.schedule.block[0] * text.schedule.elements_a_thread)
    return Loop([*lines, *head, *inner, "    }"], grid, list(parts.values()), body)


def _atomics(body: ir.Body) -> list[ir.Atomic]:
    return [s for s in statements(body) if isinstance(s, ir.Atomic)]


def start_lines(text: KernelText, parts: Sequence[Part]) -> list[str]:
    """The declarations of parts, which start as what joining leaves alone."""
    lib, lines = text.library, []
    for target, name, _ in parts:
        start = neutral(lib, target.join, target.type)
        lines += wrapped(4, f"{lib.type(target.type)} {name} = {start};")
    return lines


def _adder(body: Body, name: str, target: Sum) -> Callable[[Any, int], None]:
    def put(s: ir.Atomic, depth: int) -> None:
        if target.join == "add" and not isinstance(target.type, Scalar):
            body.updated(Text(name), target.type, s.op, s.value, depth)
            return
        value = body.show(s.value).text
        if s.op == "sub":
            body.put(depth, f"{name} -= {value};")
        else:
            body.put(depth, joined_into(body.library, target.join, target.type, name, value))

    return put


def warp_joins(text: KernelText, parts: Sequence[Part]) -> list[str]:
    """The lines in which the lanes of a warp join their parts."""
    return [
        f"    {name} = {warp_join(text.library, t.join, t.type)}({name});" for t, name, _ in parts
    ]


def block_joins(text: KernelText, parts: Sequence[Part]) -> list[str]:
    """The lines in which the threads of a block join their parts, behind one barrier."""
    values = [(target.join, target.type) for target, _, _ in parts]
    function = block_join(text.library, values, text.schedule.block[0], again=False)
    call = f"{function}({', '.join(name for _, name, _ in parts)});"
    return [f"    {parts[0][1]} = {call}" if len(parts) == 1 else f"    {call}"]


def _schedules(style: str) -> Callable[[ir.Program], list[Schedule]]:
    def found(program: ir.Program) -> list[Schedule]:
        if common_targets(program.kernel) is None:
            return []
        return [
            Schedule(style, block, elements_a_thread=count, unroll=min(4, count // 4))
            for block in WIDE_BLOCKS
            for count in ELEMENTS
        ]

    return found


def check_block(_program: ir.Program, schedule: Schedule) -> None:
    """``ValueError`` for a block that cannot join values, and for no elements a thread."""
    same_dims(schedule, 1)
    power_of_two(schedule)
    if schedule.elements_a_thread < 1:
        raise ValueError(f"elements_a_thread {schedule.elements_a_thread}: a number from 1 on")


def _plan(program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    targets = common_targets(program.kernel) or {}
    by_warp = schedule.style == "warp_total"
    joined = (32 if by_warp else schedule.threads) * schedule.elements_a_thread
    held = {t.name: width(t.type) for t in targets.values()}
    return Plan(
        threads_an_element=1.0 / schedule.elements_a_thread,
        shuffles=sum(held.values()) * (5.0 if by_warp else 10.0),
        barriers=0.0 if by_warp else 2.0 * len(held),
        independent=schedule.unroll,
        combined=dict.fromkeys(targets, float(joined)),
    )


STYLES = (
    Style(
        "warp_total",
        _schedules("warp_total"),
        check_block,
        write,
        _plan,
        lambda _s: "Combine values within a warp by shuffles before the atomics.",
        "joining values within a warp",
    ),
    Style(
        "block_total",
        _schedules("block_total"),
        check_block,
        write,
        _plan,
        lambda _s: "Reduce within each block in shared memory before the atomics.",
        "joining values within a block",
    ),
)
