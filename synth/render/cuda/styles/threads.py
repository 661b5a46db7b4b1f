"""One thread for each element behind a bounds check, or a loop over the grid."""

from __future__ import annotations

from collections.abc import Mapping

from generators.program import ir
from synth.render.cuda.body import Body
from synth.render.cuda.forms import leaves_from_a_loop
from synth.render.cuda.kernel import KernelText, Written, factor
from synth.render.cuda.lines import leaving, wrapped
from synth.render.cuda.offsets import NOTHING, flat_index, without_unused
from synth.render.cuda.schedule import BLOCKS, Schedule
from synth.render.cuda.style import Plan, Style, same_dims

ELEMENTS_A_THREAD = 4
"""Of a grid-stride loop, as its launch has it."""

_FLAT_DIMS = 4
"""Launch dimensions from which on a grid has no axes left for them."""


def _guarded(program: ir.Program) -> list[Schedule]:
    dims = len(program.kernel.launch_dim)
    return [Schedule("guarded", block) for block in BLOCKS[1 if dims == _FLAT_DIMS else dims]]


def _check_guarded(program: ir.Program, schedule: Schedule) -> None:
    dims = len(program.kernel.launch_dim)
    same_dims(schedule, 1 if dims == _FLAT_DIMS else dims)


def _grid_stride(program: ir.Program) -> list[Schedule]:
    if leaves_from_a_loop(program.kernel.body):
        return []
    return [
        Schedule("grid_stride", block, elements_a_thread=ELEMENTS_A_THREAD) for block in BLOCKS[1]
    ]


def _check_grid_stride(_program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    if schedule.elements_a_thread < 1:
        raise ValueError(f"elements_a_thread {schedule.elements_a_thread}: a number from 1 on")


def _plan(_program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    return Plan(threads_an_element=1.0 / schedule.elements_a_thread)


def write_guarded(text: KernelText) -> Written:
    """Each thread works on one element; threads past the end leave."""
    body = Body(text.library, text.names, text.shapes(), "return;")
    names, extents, formulas = text.threads(), text.extents(), text.formulas()
    known = flat_index(text.kernel.threads, extents) if len(names) == 4 else NOTHING
    inner = body.run(text.kernel.body, text.given(), 1, known)
    if len(names) == 4:
        around = [*_flat_start(extents), *unpacked(names, extents, "index", 1)]
        around = without_unused(around, inner)
        return Written([*around, *inner], [flat_grid(formulas, text.schedule.block[0])])
    lines = [place_of(name, axis) for name, axis in zip(names[::-1], "xyz", strict=False)]
    tests = " || ".join(f"{n} >= {factor(e)}" for n, e in zip(names, extents, strict=True))
    lines += leaving(4, tests)
    pairs = zip(formulas[::-1], text.schedule.block, strict=True)
    grid = [f"({factor(e)} + {b - 1}) / {b}" for e, b in pairs]
    return Written([*lines, *inner], grid)


def write_grid_stride(text: KernelText) -> Written:
    """Each thread takes elements a whole grid apart."""
    body = Body(text.library, text.names, text.shapes(), "continue;")
    inner = body.run(
        text.kernel.body, text.given(), 2, flat_index(text.kernel.threads, text.extents())
    )
    block = text.schedule.block[0] * text.schedule.elements_a_thread
    lines = [*without_unused(grid_stride_head(text), inner), *inner, "    }"]
    return Written(lines, [flat_grid(text.formulas(), block)])


def place_of(name: str, axis: str) -> str:
    """A thread's place along an axis of the grid."""
    return f"    const int {name} = blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis};"


def flat_grid(formulas: list[str], elements_a_block: int) -> str:
    """Blocks for all elements of a launch, as a formula of its sizes."""
    total = " * ".join(factor(e) for e in formulas)
    return f"({total} + {elements_a_block - 1}) / {elements_a_block}"


def grid_stride_head(text: KernelText) -> list[str]:
    """The lines that open a loop over the grid, down to the element's place."""
    names, extents = text.threads(), text.extents()
    total = " * ".join(factor(e) for e in extents)
    index = names[0] if len(names) == 1 else "index"
    start = "blockIdx.x * blockDim.x + threadIdx.x"
    lines = ["    const int stride = blockDim.x * gridDim.x;"]
    lines += wrapped(4, f"for (int {index} = {start}; {index} < {total}; {index} += stride) {{")
    return [*lines, *(unpacked(names, extents, index, 2) if len(names) > 1 else [])]


def unpacked(names: list[str], extents: list[str], index: str, depth: int) -> list[str]:
    """The place along each dimension, from an element's number."""
    lines = []
    for k, name in enumerate(names):
        after = [factor(e) for e in extents[k + 1 :]]
        value = index
        if after:
            product = " * ".join(after)
            value = f"{index} / ({product})" if len(after) > 1 else f"{index} / {after[0]}"
        if k:
            value = f"{value} % {factor(extents[k])}"
        lines += wrapped(4 * depth, f"const int {name} = {value};")
    return lines


def _flat_start(extents: list[str]) -> list[str]:
    total = " * ".join(factor(e) for e in extents)
    return [place_of("index", "x"), *leaving(4, f"index >= {total}")]


STYLES = (
    Style(
        "guarded",
        _guarded,
        _check_guarded,
        write_guarded,
        _plan,
        lambda _s: "",
        "one thread an element is enough",
    ),
    Style(
        "grid_stride",
        _grid_stride,
        _check_grid_stride,
        write_grid_stride,
        _plan,
        lambda _s: "Use a grid-stride loop.",
        "a loop over the grid lets each thread take several elements",
    ),
)
