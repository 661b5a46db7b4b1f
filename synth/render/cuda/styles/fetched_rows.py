"""One thread for each element, which goes along rows that the threads of a block fetch together.

Neighbouring threads are a row apart, so that each load of a thread by itself asks for a line of the
cache of its own. Here a block loads a piece of all its rows with neighbouring threads on
neighbouring elements, and each thread then walks along its row in shared memory, in the same order
as before: anything may depend on the turn before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from generators.program import expr, ir
from generators.program.dtypes import INT32, Array, Type
from generators.program.expr import Expr, Var
from generators.program.walk import mentions, operands, statements
from synth.render.cuda.body import Body
from synth.render.cuda.dialect.current import block_at, spoken, thread_at
from synth.render.cuda.find.forms import turns_of
from synth.render.cuda.find.rows_apart import Fetched, RowsApart, rows_apart
from synth.render.cuda.find.softmax import substituted
from synth.render.cuda.find.walks import Along
from synth.render.cuda.kernel import KernelText, Written, factor, leave_before
from synth.render.cuda.lines import wrapped
from synth.render.cuda.offsets import without_unread
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style, same_dims
from synth.render.cuda.styles.threads import shaped_grid
from synth.render.cuda.text import Text
from synth.render.cuda.types import bytes_of
from validate.row.archs import MOST_SHARED_BYTES

FETCHED_ROWS = "fetched_rows"
_SHAPES = ((128, 32), (64, 32), (128, 16), (64, 16))
"""Rows of a block, and elements of each that are fetched at a time."""
_MOST_DIMS = 3
_UNROLL = 8
"""Loads that a thread has under way."""
_FETCH_INSTRUCTIONS = 8.0
"""Of a thread for each element of a piece that it fetches or brings back, be it there or not."""


class _Fetching(Body):
    """Prints a body; within a piece, elements of rows that were fetched are read from tiles."""

    held: Mapping[Along, str] = MappingProxyType({})

    def index(self, array: Var, indices: Sequence[Expr]) -> Text:
        for a, element in self.held.items():
            if a.array == array and a.indices == tuple(indices):
                return Text(element)
        return super().index(array, indices)


class _Rows:
    def __init__(self, text: KernelText) -> None:
        self.text = text
        found = rows_apart(text.kernel)
        assert found is not None, "the schedule asks for a form that the kernel does not have"
        self.found: Fetched = found
        self.rows, self.size = text.schedule.block[0], text.schedule.tile
        self.first, self.place = text.fresh("first", "first_row"), text.fresh("place", "own_row")
        self.start, self.count = text.fresh("base", "piece"), text.fresh("count", "piece_size")
        self.turn, self.left = text.fresh("t", "turn"), text.fresh("rows_left")
        self.row, self.col = text.fresh("row", "tile_row"), text.fresh("col", "tile_col")
        self.first_row = text.fresh("row_start")
        self.at_row, self.at_col = text.fresh("load_row"), text.fresh("load_col")
        self.tiles = {name: text.fresh(f"{name}_tile") for name in found.names}
        self.body = _Fetching(text.library, text.names, text.shapes(), "return;")

    def written(self) -> Written:
        kernel, body, after = self.text.kernel, self.body, self.found.last + 1
        for s in kernel.body:
            if id(s) in self.found.loops:
                body.special[id(s)] = self._loop
        if after < len(kernel.body):
            edge = f"{self.place} >= {factor(self._extent())}"
            leave_before(body, kernel.body[after], lambda: edge)
        inner = body.run(kernel.body, self.text.given(), 1)
        inner = without_unread(inner, set(body.offsets.named.values()))
        lines = [*self._declarations(), *self._threads(), *inner]
        return Written(lines, shaped_grid(self.text.formulas(), self.text.schedule.block))

    def _extent(self) -> str:
        return self.text.extents()[-1]

    def _declarations(self) -> list[str]:
        """A column more than a tile needs keeps its rows in different banks."""
        elements = _elements(self.text.kernel)
        kinds = {name: self.text.library.type(elements[name]) for name in self.tiles}
        shape = f"[{self.rows}][{self.size + 1}]"
        return [
            f"    {spoken().shared}{kinds[name]} {tile}{shape};"
            for name, tile in self.tiles.items()
        ]

    def _threads(self) -> list[str]:
        """Each thread's place; those past the edge repeat the last row until they leave."""
        *outer, own = self.text.threads()
        lines = [
            f"    const int {n} = {block_at(a)};" for n, a in zip(outer[::-1], "yz", strict=False)
        ]
        lines.append(f"    const int {self.first} = {block_at()} * {self.rows};")
        lines.append(f"    const int {self.place} = {self.first} + {thread_at()};")
        # A thread moves elements of one column of the tiles.
        lines.append(f"    const int {self.col} = {thread_at()} % {self.size};")
        lines.append(f"    const int {self.first_row} = {thread_at()} / {self.size};")
        return [*lines, *wrapped(4, f"const int {own} = min({self.place}, {self._extent()} - 1);")]

    def _loop(self, s: ir.For, depth: int) -> None:
        body, put, size = self.body, self.body.put, self.size
        rows = self.found.loops[id(s)]
        name, stop, start = body.name(s.name), body.show(s.stop).text, body.show(s.start).text
        head = f"int {self.start} = {start}; {self.start} < {stop}; {self.start} += {size}"
        put(depth, f"for ({head}) {{")
        put(depth + 1, f"const int {self.count} = min({size}, {stop} - {self.start});")
        self._move(s, rows.loaded, depth + 1, is_load=True)
        put(depth + 1, spoken().barrier)
        turn = self.turn
        put(depth + 1, f"for (int {turn} = 0; {turn} < {self.count}; ++{turn}) {{")
        if self._reads_place(s, rows):
            put(depth + 2, f"const int {name} = {self.start} + {turn};")
        body.held = {a: f"{self.tiles[a.array.name]}[{thread_at()}][{turn}]" for a in rows.arrays}
        body.block(s.body, depth + 2)
        body.held = MappingProxyType({})
        put(depth + 1, "}")
        put(depth + 1, spoken().barrier)
        if rows.stored:
            self._move(s, rows.stored, depth + 1, is_load=False)
            put(depth + 1, spoken().barrier)
        put(depth, "}")

    def _move(self, loop: ir.For, arrays: Sequence[Along], depth: int, *, is_load: bool) -> None:
        """The block's threads load a piece of its rows, or bring it back: each of one column."""
        put, row, rows = self.body.put, self.row, str(self.rows)
        put(depth, f"if ({self.col} < {self.count}) {{")
        if not is_load:
            rows = self.left
            put(depth + 1, f"const int {rows} = min({self.rows}, {self._extent()} - {self.first});")
        self.body.lines.append(f"#pragma unroll {_UNROLL}")
        step = self.rows // self.size
        head = f"int {row} = {self.first_row}; {row} < {rows}; {row} += {step}"
        put(depth + 1, f"for ({head}) {{")
        place = f"{self.first} + {row}"
        # Rows past the edge are loaded again: their threads compute with something.
        place = f"min({place}, {self._extent()} - 1)" if is_load else place
        put(depth + 2, f"const int {self.at_row} = {place};")
        put(depth + 2, f"const int {self.at_col} = {self.start} + {self.col};")
        for a in arrays:
            held = f"{self.tiles[a.array.name]}[{row}][{self.col}]"
            there = self._there(loop, a)
            put(depth + 2, f"{held} = {there};" if is_load else f"{there} = {held};")
        put(depth + 1, "}")
        put(depth, "}")

    def _there(self, loop: ir.For, a: Along) -> str:
        """The element of an array that a thread moves."""
        own = Var(self.text.kernel.threads[-1], INT32)
        swaps: dict[Expr, Expr] = {
            own: Var(self.at_row, INT32),
            Var(loop.name, INT32): Var(self.at_col, INT32),
        }
        return self.body.index(a.array, [substituted(i, swaps) for i in a.indices]).text

    def _reads_place(self, loop: ir.For, rows: RowsApart) -> bool:
        """Whether a turn needs the loop's variable for more than what is in the tiles."""
        held = {(a.array, a.indices) for a in rows.arrays}

        def is_held(load: expr.Load) -> bool:
            return (load.array, load.indices) in held

        for s in statements(loop.body):
            in_tile = isinstance(s, ir.Store) and (s.array, s.indices) in held
            trees = [s.value] if isinstance(s, ir.Store) and in_tile else operands(s)
            if any(mentions(e, loop.name, is_held) for e in trees):
                return True
        return False


def write(text: KernelText) -> Written:
    """The kernel with the rows of its loops fetched piece by piece."""
    return _Rows(text).written()


def _elements(kernel: ir.Kernel) -> dict[str, Type]:
    return {p.name: p.type.element for p in kernel.params if isinstance(p.type, Array)}


def _tile_bytes(kernel: ir.Kernel, rows: int, size: int) -> int:
    """Shared memory of all tiles of a kernel."""
    found, elements = rows_apart(kernel), _elements(kernel)
    assert found is not None
    return sum(bytes_of(elements[name]) for name in found.names) * rows * (size + 1)


def _schedules(program: ir.Program) -> list[Schedule]:
    kernel = program.kernel
    dims = len(kernel.launch_dim)
    if dims > _MOST_DIMS or rows_apart(kernel) is None:
        return []
    return [
        Schedule(FETCHED_ROWS, (rows, *(1,) * (dims - 1)), tile=size)
        for rows, size in _SHAPES
        if _tile_bytes(kernel, rows, size) <= MOST_SHARED_BYTES
    ]


def _check(program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, len(program.kernel.launch_dim))
    rows, size = schedule.block[0], schedule.tile
    if set(schedule.block[1:]) - {1} or size < 2 or rows % size:
        raise ValueError(
            f"block {list(schedule.block)}, tile {size}: {FETCHED_ROWS} takes 1 along all axes but "
            f"the first, and a tile from 2 on that divides the block's rows"
        )
    if _tile_bytes(program.kernel, rows, size) > MOST_SHARED_BYTES:
        raise ValueError(f"tile {size}: more than 48 KiB of shared memory")


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    kernel, found = program.kernel, rows_apart(program.kernel)
    assert found is not None
    pieces = moved = 0.0
    for s in kernel.body:
        if isinstance(s, ir.For) and id(s) in found.loops:
            rows = found.loops[id(s)]
            turns = -(-max(1, turns_of(kernel, s, sizes)) // schedule.tile)
            pieces += turns * (2.0 + bool(rows.stored))
            moved += turns * schedule.tile * (len(rows.loaded) + len(rows.stored))
    return Plan(
        fetched=frozenset((n, a.array.name) for n, r in found.loops.items() for a in r.arrays),
        instructions=_FETCH_INSTRUCTIONS * moved,
        barriers=pieces,
        shared_bytes=_tile_bytes(kernel, schedule.block[0], schedule.tile),
    )


STYLES = (
    Style(
        FETCHED_ROWS,
        _schedules,
        _check,
        write,
        _plan,
        lambda _s: "Let the threads of a block fetch their rows together, through shared memory.",
        "rows fetched by the whole block",
    ),
)
