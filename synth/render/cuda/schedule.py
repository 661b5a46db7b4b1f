"""How a kernel is laid out on the device, drawn for a program or asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import prod

from generators.build.draw import Stream
from generators.program import ir
from generators.program.dtypes import Array
from synth.render.cuda.forms import Staged, common_targets, elementwise, leaves_from_a_loop, staged
from synth.render.cuda.split import split_loops
from synth.render.cuda.types import bytes_of
from validate.row.archs import ALWAYS_FIT_THREADS, MOST_SHARED_BYTES

STYLES = (
    "guarded",
    "grid_stride",
    "vectorized",
    "warp_shuffle",
    "block_reduce",
    "tiled",
)

BLOCKS = {1: ((128,), (256,), (512,)), 2: ((16, 16), (32, 8)), 3: ((8, 8, 4), (32, 4, 2))}
_ROW_BLOCKS = {"warp_shuffle": (32, 128, 256), "block_reduce": (64, 128, 256)}
_SQUARE_TILES = (8, 16, 32)
_LINE_TILES = (64, 128, 256)


MOST_THREADS = 1024
_RARE = 1500
"""Weight of styles that few kernels have a form in, next to 100 for a bounds check."""


@dataclass(frozen=True)
class Schedule:
    """How a kernel is laid out on the device: its style and the numbers that go with it.

    ``tile``: turns of the loop that a tile holds (style ``tiled``, else 0); ``vector_width``:
    elements to a load (style ``vectorized``, else 1); ``unroll``: what ``#pragma unroll`` is told,
    1 for none.
    """

    style: str
    block: tuple[int, ...]
    launch_bounds: bool = False
    tile: int = 0
    vector_width: int = 1
    unroll: int = 1

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Schedule:
        """``ValueError`` for what is no schedule."""
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"no JSON: {error}") from None
        known = {f.name for f in fields(Schedule)}
        if not isinstance(found, dict) or set(found) != known or found["style"] not in STYLES:
            raise ValueError(f"a schedule has the fields {', '.join(sorted(known))}")
        if not isinstance(found["block"], list):
            raise ValueError("block is a list of whole numbers")
        return Schedule(**{**found, "block": tuple(found["block"])})


def styles_of(program: ir.Program) -> dict[str, int]:
    """The styles that a kernel has a form in, with their weights."""
    kernel = program.kernel
    found = {"guarded": 100}
    if not leaves_from_a_loop(kernel.body):
        found["grid_stride"] = 20 + 15 * program.level
    if elementwise(kernel) is not None:
        found["vectorized"] = 100
    if split_loops(kernel) is not None or common_targets(kernel) is not None:
        found |= {"warp_shuffle": _RARE, "block_reduce": _RARE}
    if staged(kernel) is not None:
        found["tiled"] = _RARE
    return found


def schedule_for(program: ir.Program, style: str = "") -> Schedule:
    """A schedule drawn for a program from its seed; ``style`` forces one of :data:`STYLES`.

    Larger blocks come with launch bounds: the compiler then keeps to registers that there are for
    all their threads. ``ValueError`` where the kernel has no form of that style.
    """
    found = _drawn(program, style)
    large = prod(found.block) > ALWAYS_FIT_THREADS
    return replace(found, launch_bounds=found.launch_bounds or large)


def _drawn(program: ir.Program, style: str) -> Schedule:
    stream = Stream(f"{program.input_seed}/schedule")
    choices = styles_of(program)
    drawn = stream.weighted(choices)
    if style and style not in choices:
        raise ValueError(
            f"the kernel has no form in the style {style!r}; it has {', '.join(choices)}"
        )
    chosen = style or drawn
    bounds = stream.chance(0.15)
    if chosen == "tiled":
        return _tiled(program, stream, bounds)
    if chosen in _ROW_BLOCKS and common_targets(program.kernel) is None:
        return Schedule(chosen, (stream.choice(_row_blocks(program.kernel, chosen)),), bounds)
    dims = len(program.kernel.launch_dim)
    flat = chosen != "guarded" or dims == 4
    block = stream.choice(BLOCKS[1 if flat else dims])
    width = 1
    if chosen == "vectorized":
        form = elementwise(program.kernel)
        assert form is not None
        width = stream.choice((2, 4)) if form.width == 4 else 2
    return Schedule(chosen, block, bounds, vector_width=width)


def _row_blocks(kernel: ir.Kernel, style: str) -> Sequence[int]:
    """Threads that a block may have: in shared memory each holds a value of every sum."""
    found = split_loops(kernel)
    assert found is not None
    held = sum(bytes_of(s.type) for sums in found.sums.values() for s in sums)
    blocks = _ROW_BLOCKS[style]
    if style == "warp_shuffle":
        return blocks
    return [b for b in blocks if b * held <= MOST_SHARED_BYTES] or blocks[:1]


def check_schedule(program: ir.Program, schedule: Schedule) -> None:
    """``ValueError`` with what is allowed where a kernel cannot be laid out in that way."""
    drawn = schedule_for(program, schedule.style)
    block, style = schedule.block, schedule.style
    if not all(type(size) is int and size > 0 for size in block) or prod(block) > MOST_THREADS:
        raise ValueError(
            f"block {list(block)}: whole numbers of up to {MOST_THREADS} threads in all"
        )
    if style == "tiled":
        form = staged(program.kernel)
        if (
            form is not None
            and _tile_bytes(program.kernel, form, schedule.tile) > MOST_SHARED_BYTES
        ):
            raise ValueError(f"tile {schedule.tile}: more than 48 KiB of shared memory")
        wanted = tuple(schedule.tile if size > 1 else 1 for size in drawn.block)
        if block != wanted or schedule.tile < 2:
            raise ValueError(f"tile {schedule.tile} needs the block {list(wanted)}")
    elif len(block) != len(drawn.block):
        raise ValueError(f"block {list(block)}: the style {style} takes {len(drawn.block)} numbers")
    if style in _ROW_BLOCKS and (block[0] < 32 or block[0] & (block[0] - 1)):
        raise ValueError(f"block {list(block)}: {style} takes a power of two from 32 on")
    vectors = elementwise(program.kernel)
    widths = (2, 4)[: 1 if vectors is not None and vectors.width == 2 else 2]
    if style == "vectorized" and schedule.vector_width not in widths:
        raise ValueError(
            f"vector_width {schedule.vector_width}: one of {', '.join(map(str, widths))}"
        )


def _tile_bytes(kernel: ir.Kernel, form: Staged, size: int) -> int:
    """Shared memory of all tiles of a kernel."""
    types = {p.name: p.type for p in kernel.params}
    total = 0
    for name, kind in form.arrays.items():
        type_ = types[name]
        assert isinstance(type_, Array)
        count = size if kind == "line" else size * (size + (kind == "cross"))
        total += count * bytes_of(type_.element)
    return total


def _tiled(program: ir.Program, stream: Stream, bounds: bool) -> Schedule:
    dims = len(program.kernel.launch_dim)
    form = staged(program.kernel)
    assert form is not None
    sizes = _LINE_TILES if dims == 1 else _SQUARE_TILES
    fitting = [
        size for size in sizes if _tile_bytes(program.kernel, form, size) <= MOST_SHARED_BYTES
    ]
    size = stream.choice(fitting or sizes[:1])
    block = {1: (size,), 2: (size, size), 3: (size, size, 1)}[dims]
    return Schedule("tiled", block, bounds, tile=size, unroll=stream.choice((1, 1, 4, 8)))
