"""One thread for each element behind a bounds check, or a loop over the grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from generators.program import ir
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.dialect.current import launch_extent, launch_place
from synth.render.cuda.find.forms import elementwise, leaves_from_a_loop
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.kernel import KernelText, Written, divisor, factor
from synth.render.cuda.lines import leaving, wrapped
from synth.render.cuda.offsets import NOTHING, flat_index, without_unused
from synth.render.cuda.regime import highest_sizes, middle_sizes
from synth.render.cuda.schedule import BLOCKS, Schedule
from synth.render.cuda.style import Plan, Style, same_dims
from validate.row.sizes import evaluate, evaluate_all

ONE_THREAD_A_POINT = "guarded"

ELEMENTS_A_THREAD = 4
"""Of a grid-stride loop, as its launch has it."""

_FLAT_DIMS = 4
"""Launch dimensions from which on a grid has no axes left for them."""

_NARROW = 16
"""Elements along the last dimension, up to which rows leave most of a warp idle."""

_BLOCKS: dict[int, tuple[tuple[int, ...], ...]] = {
    2: ((16, 16), (32, 8), (64, 4), (128, 2)),
    3: ((8, 8, 4), (32, 4, 2), (32, 8, 1), (64, 4, 1)),
}
_ROW_BLOCKS: dict[int, tuple[tuple[int, ...], ...]] = {
    2: ((32, 8), (64, 4), (128, 2)),
    3: ((32, 8, 1), (64, 4, 1)),
}
"""Of loops over rows, by launch dimensions."""

_SMALL_BLOCKS = ((32,), (64,))
_FEW_POINTS = 128 * 128
"""Points of a launch up to which blocks of 128 leave processors of a large device without one."""

_MOST_UNROLLED = 16
"""Statements of a loop up to which several turns side by side stay readable to the compiler."""


def is_narrow(program: ir.Program) -> bool:
    """Whether rows of the launch are too short, in use, for a warp along each."""
    return evaluate(program.kernel.launch_dim[-1], middle_sizes(program)) <= _NARROW


def _has_few_points(program: ir.Program) -> bool:
    """Whether blocks of 128 are too few for a large device, at all sizes in use."""
    return prod(evaluate_all(program.kernel.launch_dim, highest_sizes(program))) <= _FEW_POINTS


@remembered
def _is_flat(program: ir.Program) -> bool:
    """Whether one number for all elements serves, since nothing asks for places in the launch."""
    form = elementwise(program.kernel)
    return form is not None and form.flat


def guarded_schedules(program: ir.Program) -> list[Schedule]:
    """One thread for each element, in the blocks worth a thought."""
    dims = len(program.kernel.launch_dim)
    small = _SMALL_BLOCKS if _has_few_points(program) else ()
    few = [Schedule(ONE_THREAD_A_POINT, block) for block in small]
    flat = [Schedule(ONE_THREAD_A_POINT, block) for block in BLOCKS[1]]
    if dims in (1, _FLAT_DIMS):
        return [*few, *flat]
    shaped = [Schedule(ONE_THREAD_A_POINT, block) for block in _BLOCKS[dims]]
    if is_narrow(program):
        usual = [*flat, shaped[0]]
    else:
        usual = [*shaped, flat[1]] if _is_flat(program) else shaped
    return [*few, *usual]


def check_guarded(program: ir.Program, schedule: Schedule) -> None:
    """``ValueError`` for a block that one thread an element cannot have."""
    dims = len(program.kernel.launch_dim)
    same_dims(schedule, 1 if dims == _FLAT_DIMS or len(schedule.block) == 1 else dims)


def _grid_stride(program: ir.Program) -> list[Schedule]:
    body = program.kernel.body
    if leaves_from_a_loop(body):
        return []
    dims = len(program.kernel.launch_dim)
    by_rows = dims in _ROW_BLOCKS and not _is_flat(program) and not is_narrow(program)
    blocks = _ROW_BLOCKS[dims] if by_rows else BLOCKS[1]
    plain = [
        Schedule("grid_stride", block, elements_a_thread=ELEMENTS_A_THREAD) for block in blocks
    ]
    if not _unrolls(body):
        return plain
    block = blocks[1]
    return [
        *plain,
        Schedule("grid_stride", block, unroll=2, elements_a_thread=4),
        Schedule("grid_stride", block, unroll=4, elements_a_thread=4),
        Schedule("grid_stride", block, unroll=4, elements_a_thread=8),
    ]


def _unrolls(body: ir.Body) -> bool:
    """Whether several turns of a loop over elements are worth having side by side."""
    inner = list(statements(body))
    several = any(isinstance(s, ir.For | ir.While | ir.Return | ir.Atomic) for s in inner)
    return not several and len(inner) <= _MOST_UNROLLED


def _check_grid_stride(program: ir.Program, schedule: Schedule) -> None:
    dims = len(program.kernel.launch_dim)
    same_dims(schedule, dims if dims in _ROW_BLOCKS and len(schedule.block) > 1 else 1)
    if schedule.elements_a_thread < 1:
        raise ValueError(f"elements_a_thread {schedule.elements_a_thread}: a number from 1 on")
    if schedule.unroll < 1:
        raise ValueError(f"unroll {schedule.unroll}: a number from 1 on")


def _plan(_program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    # A compiler that unrolls the loop still tests before each turn, and loads behind the test.
    each = schedule.elements_a_thread
    return Plan(threads_an_element=1.0 / each, in_turn=each > 1)


def write_guarded(text: KernelText, printer: Body | None = None) -> Written:
    """Each thread works on one element; threads past the end leave."""
    body = printer or Body(text.library, text.names, text.shapes(), "return;")
    names, extents, formulas = text.threads(), text.extents(), text.formulas()
    is_flat = len(names) > len(text.schedule.block)
    known = flat_index(text.kernel.threads, extents) if is_flat else NOTHING
    inner = body.run(text.kernel.body, text.given(), 1, known)
    if is_flat:
        around = [*_flat_start(extents), *unpacked(names, extents, "index", 1)]
        around = without_unused(around, inner)
        return Written([*around, *inner], [flat_grid(formulas, text.schedule.block[0])])
    lines = [place_of(name, axis) for name, axis in zip(names[::-1], "xyz", strict=False)]
    tests = " || ".join(f"{n} >= {factor(e)}" for n, e in zip(names, extents, strict=True))
    lines += leaving(4, tests)
    return Written([*lines, *inner], shaped_grid(formulas, text.schedule.block))


def write_grid_stride(text: KernelText) -> Written:
    """Each thread takes elements a whole grid apart."""
    if len(text.schedule.block) > 1:
        return _row_stride(text)
    body = Body(text.library, text.names, text.shapes(), "continue;")
    inner = body.run(
        text.kernel.body, text.given(), 2, flat_index(text.kernel.threads, text.extents())
    )
    block = text.schedule.block[0] * text.schedule.elements_a_thread
    lines = [*without_unused(grid_stride_head(text), inner), *inner, "    }"]
    return Written(lines, [flat_grid(text.formulas(), block)])


def _row_stride(text: KernelText) -> Written:
    """Each thread keeps to a column and takes rows a whole grid apart."""
    body = Body(text.library, text.names, text.shapes(), "continue;")
    inner = body.run(text.kernel.body, text.given(), 2)
    names, extents = text.threads(), text.extents()
    *outer, row, last = names
    lines = [place_of(last, "x"), *(place_of(name, "z") for name in outer)]
    pairs = [(n, e) for n, e in zip(names, extents, strict=True) if n != row]
    lines += leaving(4, " || ".join(f"{n} >= {factor(e)}" for n, e in pairs))
    lines += _unrolled(text)
    start, step = launch_place("y"), launch_extent("y")
    lines += wrapped(4, f"for (int {row} = {start}; {row} < {extents[-2]}; {row} += {step}) {{")
    x, y, *rest = text.schedule.block
    blocks = (x, y * text.schedule.elements_a_thread, *rest)
    return Written([*lines, *inner, "    }"], shaped_grid(text.formulas(), blocks))


def _unrolled(text: KernelText) -> list[str]:
    unroll = text.schedule.unroll
    return [f"#pragma unroll {unroll}"] if unroll > 1 else []


def shaped_grid(formulas: list[str], elements: Sequence[int]) -> list[str]:
    """Blocks along x, y and z, each of so many elements, as formulas of a launch's sizes."""
    pairs = zip(formulas[::-1], elements, strict=True)
    return [f"({factor(e)} + {b - 1}) / {b}" if b > 1 else e for e, b in pairs]


def place_of(name: str, axis: str) -> str:
    """A thread's place along an axis of the grid."""
    return f"    const int {name} = {launch_place(axis)};"


def flat_grid(formulas: list[str], elements_a_block: int) -> str:
    """Blocks for all elements of a launch, as a formula of its sizes."""
    total = " * ".join(factor(e) for e in formulas)
    return f"({total} + {elements_a_block - 1}) / {elements_a_block}"


def flat_total(extents: list[str]) -> str:
    """Elements of a launch in C++."""
    return " * ".join(factor(e) for e in extents) if len(extents) > 1 else extents[0]


def grid_stride_head(text: KernelText) -> list[str]:
    """The lines that open a loop over the grid, down to the element's place."""
    names, extents = text.threads(), text.extents()
    total = flat_total(extents)
    index = names[0] if len(names) == 1 else "index"
    start = launch_place()
    lines = [f"    const int stride = {launch_extent()};", *_unrolled(text)]
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
            value = f"{index} / ({product})" if len(after) > 1 else f"{index} / {divisor(after[0])}"
        if k:
            value = f"{value} % {divisor(extents[k])}"
        lines += wrapped(4 * depth, f"const int {name} = {value};")
    return lines


def _flat_start(extents: list[str]) -> list[str]:
    total = flat_total(extents)
    return [place_of("index", "x"), *leaving(4, f"index >= {total}")]


STYLES = (
    Style(
        ONE_THREAD_A_POINT,
        guarded_schedules,
        check_guarded,
        write_guarded,
        _plan,
        lambda _s: "",
        "one thread for each point of the launch",
    ),
    Style(
        "grid_stride",
        _grid_stride,
        _check_grid_stride,
        write_grid_stride,
        _plan,
        lambda _s: "Use a grid-stride loop.",
        "a grid-stride loop",
    ),
)
