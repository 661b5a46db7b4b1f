"""Tiles of the inputs in shared memory: the threads of a block load each element once for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.program import expr, ir
from generators.program.dtypes import INT32, Array
from generators.program.expr import Var
from generators.program.walk import expressions, mentions, operands, statements
from synth.render.cuda.body import Body
from synth.render.cuda.dialect.current import block_at, spoken, thread_at
from synth.render.cuda.find.forms import Staged, staged, tile_kind, turns_of
from synth.render.cuda.kernel import KernelText, Written, factor, leave_before
from synth.render.cuda.lines import wrapped
from synth.render.cuda.offsets import without_unread
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style, same_dims
from synth.render.cuda.text import Prec, Text
from synth.render.cuda.types import bytes_of, cast_to
from validate.row.archs import MOST_SHARED_BYTES

_SQUARES = (8, 16, 32)
_LINES = (64, 128, 256)
_UNROLLS = (1, 4, 8)


def write(text: KernelText) -> Written:
    """The kernel with its one long loop cut into tiles of as many turns as the block is wide."""
    return _Tiles(text).written()


class _Tiled(Body):
    """Prints a body; within the tile, arrays that are staged are read from their tiles."""

    tiles: dict[str, str]
    """Each staged array's element in its tile, while the inner loop is printed."""

    held: Staged
    loop: str
    threads: Sequence[str]

    def index(self, array: Var, indices: Sequence[expr.Expr]) -> Text:
        if array.name in self.tiles:
            kind = tile_kind(indices, self.loop, self.threads)
            if kind == self.held.arrays[array.name]:
                return Text(self.tiles[array.name])
        return super().index(array, indices)


class _Tiles:
    def __init__(self, text: KernelText) -> None:
        self.text = text
        found = staged(text.kernel)
        assert found is not None, "the schedule asks for a form that the kernel does not have"
        self.found: Staged = found
        loop = text.kernel.body[found.place]
        assert isinstance(loop, ir.For)
        self.loop = loop
        self.size = text.schedule.tile
        self.start = text.fresh("base", "tile_start")
        self.turn = text.fresh("t", "turn")
        self.count = text.fresh("count", "tile_count")
        self.places = [text.fresh(a, f"{a}_at") for a in "xyz"[: len(text.kernel.threads)]]
        self.tiles = {name: text.fresh(f"{name}_tile") for name in found.arrays}
        self.along = {axis: text.fresh(f"load_{axis}") for axis in self._axes()}
        self.body = _Tiled(text.library, text.names, text.shapes(), "return;")
        self.body.tiles, self.body.held = {}, found
        self.body.loop, self.body.threads = loop.name, text.kernel.threads

    def _axes(self) -> list[str]:
        """Along which axes of the block a tile's turns are loaded."""
        kinds = set(self.found.arrays.values())
        return [*(["x"] if kinds - {"column"} else []), *(["y"] if "column" in kinds else [])]

    def written(self) -> Written:
        kernel, place = self.text.kernel, self.found.place
        self.body.special[id(self.loop)] = self._tile_loop
        if place + 1 < len(kernel.body):
            leave_before(self.body, kernel.body[place + 1], self._past_an_edge)
        inner = self.body.run(kernel.body, self.text.given(), 1)
        inner = without_unread(inner, set(self.body.offsets.named.values()))
        formulas = self.text.formulas()
        pairs = zip(formulas[::-1], self.text.schedule.block, strict=True)
        grid = [f"({factor(e)} + {b - 1}) / {b}" if b > 1 else e for e, b in pairs]
        return Written([*self._declarations(), *self._threads(), *inner], grid)

    def _declarations(self) -> list[str]:
        types = {p.name: p.type for p in self.text.kernel.params}
        lines = []
        for name, kind in self.found.arrays.items():
            type_ = types[name]
            assert isinstance(type_, Array)
            held = self.text.library.type(type_.element)
            # A column more than the tile needs keeps its rows in different banks.
            extents = {"line": f"[{self.size}]", "cross": f"[{self.size}][{self.size + 1}]"}
            shape = extents.get(kind, f"[{self.size}][{self.size}]")
            lines.append(f"    {spoken().shared}{held} {self.tiles[name]}{shape};")
        return lines

    def _threads(self) -> list[str]:
        """Each thread's place; those past an edge repeat the last element until they leave."""
        names, extents = self.text.threads()[::-1], self.text.extents()[::-1]
        block = self.text.schedule.block
        lines, own = [], []
        for axis, place, size in zip("xyz", self.places, block, strict=False):
            if size > 1:
                part = f"{block_at(axis)} * {size} + {thread_at(axis)}"
                lines.append(f"    const int {place} = {part};")
        for axis, name, place, extent, size in zip(
            "xyz", names, self.places, extents, block, strict=False
        ):
            if size > 1:
                own += wrapped(4, f"const int {name} = min({place}, {extent} - 1);")
            else:
                own.append(f"    const int {name} = {block_at(axis)};")
        return [*lines, *own]

    def _past_an_edge(self) -> str:
        block = self.text.schedule.block[::-1]
        places = zip(self.places[::-1], self.text.extents(), block, strict=True)
        return " || ".join(f"{place} >= {factor(e)}" for place, e, size in places if size > 1)

    def _tile_loop(self, s: ir.For, depth: int) -> None:
        body, size = self.body, self.size
        stop = body.show(s.stop).text
        name = body.name(s.name)
        put = body.put
        put(depth, f"for (int {self.start} = 0; {self.start} < {stop}; {self.start} += {size}) {{")
        for axis, along in self.along.items():
            put(depth + 1, f"const int {along} = {self.start} + {thread_at(axis)};")
        self._loads(stop, depth + 1)
        put(depth + 1, spoken().barrier)
        put(depth + 1, f"const int {self.count} = min({size}, {stop} - {self.start});")
        if self.text.schedule.unroll > 1:
            body.lines.append(f"#pragma unroll {self.text.schedule.unroll}")
        turn, count = self.turn, self.count
        put(depth + 1, f"for (int {turn} = 0; {turn} < {count}; ++{turn}) {{")
        if self._reads_place():
            put(depth + 2, f"const int {name} = {self.start} + {turn};")
        self.body.tiles = {a: self._element(a, kind) for a, kind in self.found.arrays.items()}
        body.block(s.body, depth + 2)
        self.body.tiles = {}
        put(depth + 1, "}")
        put(depth + 1, spoken().barrier)
        put(depth, "}")

    def _element(self, array: str, kind: str) -> str:
        tile, turn = self.tiles[array], self.turn
        places = {
            "line": f"[{turn}]",
            "row": f"[{thread_at('y')}][{turn}]",
            "column": f"[{turn}][{thread_at()}]",
            "cross": f"[{thread_at()}][{turn}]",
        }
        return f"{tile}{places[kind]}"

    def _loads(self, stop: str, depth: int) -> None:
        """One thread's elements of the tiles, behind one test for all that share it."""
        groups: dict[str, list[str]] = {}
        for array, kind in self.found.arrays.items():
            along = self.along["y" if kind == "column" else "x"]
            test = f"{along} < {stop}"
            if kind == "line" and len(self.text.schedule.block) > 1:
                test = f"{thread_at('y')} == 0 && {test}"
            groups.setdefault(test, []).append(self._load(array, kind, along, depth))
        for test, lines in groups.items():
            self.body.put(depth, f"if ({test}) {{")
            for line in lines:
                self.body.put(depth + 1, line)
            self.body.put(depth, "}")

    def _load(self, array: str, kind: str, along: str, depth: int) -> str:
        load = next(
            e
            for e in expressions(self.loop.body)
            if isinstance(e, expr.Load)
            and e.array.name == array
            and tile_kind(e.indices, self.loop.name, self.text.kernel.threads) == kind
        )
        swaps = {self.loop.name: Var(along, INT32)}
        if kind == "cross":
            swaps[self.text.kernel.threads[-1]] = Var(self._crossed(depth), INT32)
        indices = [swaps.get(i.name, i) if isinstance(i, Var) else i for i in load.indices]
        place = f"[{thread_at()}]" if kind == "line" else f"[{thread_at('y')}][{thread_at()}]"
        return f"{self.tiles[array]}{place} = {self.body.index(load.array, indices).text};"

    def _crossed(self, depth: int) -> str:
        """A variable that holds the last thread index of the row that this thread loads."""
        name = self.text.fresh("load_row")
        extent = self.text.extents()[-1]
        place = Text(f"{block_at()} * {self.size} + {thread_at('y')}", Prec.ADD)
        whole = cast_to(INT32, place).text
        self.body.put(depth, f"const int {name} = min({whole}, {extent} - 1);")
        return name

    def _reads_place(self) -> bool:
        """Whether the loop needs its variable for more than what is read from tiles."""
        return any(
            mentions(e, self.loop.name, lambda load: load.array.name in self.found.arrays)
            for s in statements(self.loop.body)
            for e in operands(s)
        )


def _tile_bytes(kernel: ir.Kernel, size: int) -> int:
    """Shared memory of all tiles of a kernel."""
    form = staged(kernel)
    assert form is not None
    types = {p.name: p.type for p in kernel.params}
    total = 0
    for name, kind in form.arrays.items():
        type_ = types[name]
        assert isinstance(type_, Array)
        count = size if kind == "line" else size * (size + (kind == "cross"))
        total += count * bytes_of(type_.element)
    return total


def _block(dims: int, size: int) -> tuple[int, ...]:
    return {1: (size,), 2: (size, size), 3: (size, size, 1)}[dims]


def _schedules(program: ir.Program) -> list[Schedule]:
    kernel = program.kernel
    if staged(kernel) is None:
        return []
    dims = len(kernel.launch_dim)
    return [
        Schedule("tiled", _block(dims, size), tile=size, unroll=unroll)
        for size in (_LINES if dims == 1 else _SQUARES)
        if _tile_bytes(kernel, size) <= MOST_SHARED_BYTES
        for unroll in _UNROLLS
    ]


def _check(program: ir.Program, schedule: Schedule) -> None:
    dims, size = len(program.kernel.launch_dim), schedule.tile
    same_dims(schedule, dims)
    if _tile_bytes(program.kernel, size) > MOST_SHARED_BYTES:
        raise ValueError(f"tile {size}: more than 48 KiB of shared memory")
    wanted = _block(dims, size)
    if schedule.block != wanted or size < 2:
        raise ValueError(f"tile {size} needs the block {list(wanted)}")


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    form = staged(program.kernel)
    assert form is not None
    loop = program.kernel.body[form.place]
    assert isinstance(loop, ir.For)
    turns = -(-turns_of(program.kernel, loop, sizes) // schedule.tile)
    served = float(schedule.threads if len(schedule.block) == 1 else schedule.tile)
    return Plan(
        staged=dict.fromkeys(form.arrays, served),
        barriers=2.0 * turns,
        shared_bytes=_tile_bytes(program.kernel, schedule.tile),
    )


STYLES = (
    Style(
        "tiled",
        _schedules,
        _check,
        write,
        _plan,
        lambda _s: "Stage what threads share as tiles in shared memory.",
        "tiles in shared memory",
    ),
)
