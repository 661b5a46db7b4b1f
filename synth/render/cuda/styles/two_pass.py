"""All threads add to the same few elements: a kernel reduces each block, another what blocks left.

No atomic is needed, and the order in which values are joined is the same in every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from generators.program import ir
from generators.program.dtypes import Scalar
from synth.render.cuda.device.collective import join_into
from synth.render.cuda.find.forms import common_targets
from synth.render.cuda.kernel import KernelText, Passed, Scratch, Stage, Written
from synth.render.cuda.lines import wrapped
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style
from synth.render.cuda.styles.totals import (
    ELEMENTS,
    WIDE_BLOCKS,
    Loop,
    block_joins,
    check_block,
    loop_of,
    start_lines,
)
from validate.row.sizes import evaluate_all

_NAME = "two_pass_total"


def write(text: KernelText) -> Written:
    """Two kernels: the first leaves a value for each of its blocks, the second has one block."""
    loop = loop_of(text)
    arrays = {name: text.fresh(f"{t.name}_of_block", f"{t.name}_sums") for t, name, _ in loop.parts}
    stores = [f"        {arrays[name]}[blockIdx.x] = {name};" for _, name, _ in loop.parts]
    joins = block_joins(text, loop.parts)
    lines = [*loop.lines, *joins, "    if (threadIdx.x == 0) {", *stores, "    }"]
    kinds = {name: text.library.type(t.type) for t, name, _ in loop.parts}
    written = tuple(Passed(arrays[name], f"{kinds[name]}*") for name in arrays)
    read = tuple(Passed(p.name, f"const {p.kind}") for p in written)
    count = Passed(text.fresh("blocks", "block_count"), "int", loop.grid)
    name = text.fresh(f"{text.kernel.name}_join", f"{text.kernel.name}_of_blocks")
    second = Stage(name, _second(text, loop, arrays, count.name), ["1"], (*read, count))
    scratch = [Scratch(arrays[n], _dtype(t.type), loop.grid) for t, n, _ in loop.parts]
    return Written(lines, [loop.grid], passed=written, then=[second], scratch=scratch)


def _dtype(kind: object) -> str:
    assert isinstance(kind, Scalar)
    return kind.name


def _second(text: KernelText, loop: Loop, arrays: Mapping[str, str], blocks: str) -> list[str]:
    """The body of the second kernel."""
    block, body = text.fresh("block", "b"), loop.body
    lines = start_lines(text, loop.parts)
    head = f"for (int {block} = threadIdx.x; {block} < {blocks}; {block} += blockDim.x) {{"
    lines += wrapped(4, head)
    for target, name, _ in loop.parts:
        lines += wrapped(8, _into(target.join, target.type, name, f"{arrays[name]}[{block}]"))
    lines += ["    }", *block_joins(text, loop.parts)]
    body.lines = []
    body.put(1, "if (threadIdx.x == 0) {")
    for target, name, s in loop.parts:
        body.put(2, _into(target.join, target.type, body.index(s.array, s.indices).text, name))
    body.put(1, "}")
    return [*lines, *body.lines]


def _into(join: str, kind: object, target: str, value: str) -> str:
    assert isinstance(kind, Scalar)
    return join_into(join, kind, target, value)


def _schedules(program: ir.Program) -> list[Schedule]:
    targets = common_targets(program.kernel)
    if targets is None or not all(isinstance(t.type, Scalar) for t in targets.values()):
        return []
    return [
        Schedule(_NAME, block, elements_a_thread=count, unroll=min(4, count // 4))
        for block in WIDE_BLOCKS
        for count in ELEMENTS
    ]


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    targets = common_targets(program.kernel) or {}
    names = len({t.name for t in targets.values()})
    points = max(1, prod(evaluate_all(program.kernel.launch_dim, sizes)))
    blocks = points / (schedule.threads * schedule.elements_a_thread)
    return Plan(
        threads_an_element=1.0 / schedule.elements_a_thread,
        # What the second kernel takes beyond these is as much as a launch.
        shuffles=10.0 * names,
        barriers=2.0 * names,
        independent=schedule.unroll,
        combined=dict.fromkeys(targets, float(points)),
        launches=2,
        loads=names * max(1.0, blocks / schedule.threads),
    )


STYLES = (
    Style(
        _NAME,
        _schedules,
        check_block,
        write,
        _plan,
        lambda _s: (
            "Use two kernels and no atomics: the first reduces each block into scratch memory, "
            "the second has one block and reduces that, so that the order of the sums is fixed."
        ),
        "a second kernel in place of atomics",
    ),
)
