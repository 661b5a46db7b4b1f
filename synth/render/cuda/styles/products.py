"""Products of rows and columns: each thread keeps a square of sums in registers, so that an element
that it reads from shared memory serves several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt

from generators.program import ir
from generators.program.dtypes import INT32, Array, Type
from generators.program.expr import Const, Load, Var
from generators.program.walk import expressions
from synth.render.cuda.body import Body
from synth.render.cuda.dialect.current import block_at, spoken, thread_at
from synth.render.cuda.find.forms import turns_of
from synth.render.cuda.find.products import AXES, Product, beside, product_of
from synth.render.cuda.kernel import KernelText, Written
from synth.render.cuda.lines import wrapped
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.scopes import names_in
from synth.render.cuda.style import Plan, Style, same_dims
from synth.render.cuda.styles.threads import shaped_grid
from synth.render.cuda.text import Text
from synth.render.cuda.types import bytes_of, computed
from synth.render.text import changed
from validate.row.archs import MOST_SHARED_BYTES

_SIDE = 16
"""Threads along each side of a block."""

_SHAPES = ((2, 16), (4, 16), (4, 32), (8, 8))
"""Sums along each side of a thread's square, and turns of the loop that a tile holds."""

_UNROLL = 4

_MOST_SIDE = 8
"""Beyond it the sums do not stay in registers."""


class _Turn(Body):
    """Prints the turns of the loop; what is staged is read from registers or a tile."""

    held: Mapping[str, str]

    def _load(self, e: Load) -> Text:
        place = self.held.get(e.array.name)
        return super()._load(e) if place is None else Text(place)


def write(text: KernelText) -> Written:
    """The kernel with tiles of rows and columns, and a square of sums for each thread."""
    return _Products(text).written()


class _Products:
    def __init__(self, text: KernelText) -> None:
        self.text = text
        found = product_of(text.kernel)
        assert found is not None, "the schedule asks for a form that the kernel does not have"
        self.found: Product = found
        self.side = isqrt(text.schedule.elements_a_thread)
        self.depth = text.schedule.tile
        self.span = _SIDE * self.side
        self.r, self.c = text.fresh("r", "row_part"), text.fresh("c", "column_part")
        self.t, self.start = text.fresh("t", "turn"), text.fresh("start", "tile_start")
        self.count = text.fresh("count", "tile_count")
        self.tx, self.ty = text.fresh("tx", "thread_x"), text.fresh("ty", "thread_y")
        self.thread, self.item = text.fresh("thread", "lane"), text.fresh("e", "element")
        self.first = {"r": text.fresh("first_row"), "c": text.fresh("first_column")}
        self.load = {"r": text.fresh("load_row"), "c": text.fresh("load_column")}
        self.along = text.fresh(f"load_{found.loop.name}", "load_turn")
        self.tiles = {name: text.fresh(f"{name}_tile") for name in found.arrays}
        self.values = {
            name: text.fresh(f"{name}_{'values' if AXES[kind] == 'c' else 'value'}")
            for name, kind in found.arrays.items()
        }
        self.assigned = changed(found.after)
        self.sums = {s.name: self._sums(s.name) for s in found.starts}
        self.plain = Body(text.library, text.names, text.shapes(), "return;")
        self.lines: list[str] = []

    def put(self, depth: int, line: str) -> None:
        self.lines += wrapped(4 * depth, line)

    def written(self) -> Written:
        text = self.text
        for name, kind in self.found.arrays.items():
            held = text.library.type(self._element(name))
            self.put(1, f"{spoken().shared}{held} {self.tiles[name]}{self._extents(kind)};")
        self.put(1, f"const int {self.tx} = {thread_at()};")
        self.put(1, f"const int {self.ty} = {thread_at('y')};")
        self.put(1, f"const int {self.thread} = {self.ty} * {_SIDE} + {self.tx};")
        self.put(1, f"const int {self.first['r']} = {block_at('y')} * {self.span};")
        self.put(1, f"const int {self.first['c']} = {block_at()} * {self.span};")
        if len(text.kernel.threads) > 2:
            self.put(1, f"const int {text.threads()[0]} = {block_at('z')};")
        self._starts()
        self._tiles_loop()
        self._after()
        blocks = (self.span, self.span, 1)[: len(text.kernel.threads)]
        return Written(self.lines, shaped_grid(text.formulas(), blocks))

    # Names and places

    def _sums(self, name: str) -> str:
        """What the square of a variable is called: as it, where nothing behind assigns to it."""
        if name in self.assigned:
            return self.text.fresh(f"{name}_sums", f"{name}_parts")
        return self.text.names.get(name, name)

    def _element(self, array: str) -> Type:
        type_ = next(p.type for p in self.text.kernel.params if p.name == array)
        assert isinstance(type_, Array)
        return type_.element

    def _extents(self, kind: str) -> str:
        # A column more than the tile needs keeps its rows in different banks.
        if kind == "line":
            return f"[{self.depth}]"
        if kind == "column":
            return f"[{self.depth}][{self.span}]"
        return f"[{self.span}][{self.depth + 1}]"

    def _names(self) -> dict[str, str]:
        """How the text has each name: sums are elements of the thread's square."""
        part = {"r": f"[{self.r}]", "c": f"[{self.c}]"}
        found = dict(self.text.names)
        for name, own in self.sums.items():
            found[name] = own + "".join(part[a] for a in self.found.axes[name])
        return found

    def _thread(self, axis: str) -> tuple[str, str, str]:
        """The thread's name along an axis, the place of its row or column, and the extent."""
        k = -2 if axis == "r" else -1
        own = f"{self.ty} + {self.r}" if axis == "r" else f"{self.tx} + {self.c}"
        place = f"{self.first[axis]} + {own} * {_SIDE}"
        return self.text.threads()[k], place, self.text.extents()[k]

    def _each(self, axis: str, depth: int) -> None:
        """Open the loop over a thread's rows or columns."""
        name = self.r if axis == "r" else self.c
        self.put(depth, "#pragma unroll")
        self.put(depth, f"for (int {name} = 0; {name} < {self.side}; ++{name}) {{")

    def _given(self) -> dict[str, Type]:
        sums = {s.name: s.value.type for s in self.found.starts}
        return {**self.text.given(), self.found.loop.name: INT32, **sums}

    # First values

    def _starts(self) -> None:
        """The declarations of sums, and their first values."""
        later: dict[str, list[ir.Assign]] = {}
        for s in self.found.starts:
            axes, type_ = self.found.axes[s.name], computed(s.value.type)
            shape = f"[{self.side}]" * len(axes)
            head = f"{self.text.library.type(type_)} {self.sums[s.name]}{shape}"
            if not axes:
                self.put(1, f"{head} = {self.plain.initial(s.value, type_)};")
            elif isinstance(s.value, Const) and float(s.value.value) == 0.0:
                self.put(1, f"{head} = {spoken().zeros};")
            else:
                self.put(1, f"{head};")
                later.setdefault(axes, []).append(s)
        for axes, starts in later.items():
            self._first_values(axes, starts)

    def _first_values(self, axes: str, starts: Sequence[ir.Assign]) -> None:
        asked = {name for s in starts for name in names_in(s.value)}
        for depth, axis in enumerate(axes, 1):
            self._each(axis, depth)
            name, place, extent = self._thread(axis)
            if name in asked:
                self.put(depth + 1, f"const int {name} = min({place}, {extent} - 1);")
        names = self._names()
        for s in starts:
            value = self.plain.given_to(s.value, computed(s.value.type))
            self.put(len(axes) + 1, f"{names[s.name]} = {value.text};")
        for depth in range(len(axes), 0, -1):
            self.put(depth, "}")

    # The loop

    def _tiles_loop(self) -> None:
        stop, start = self.plain.show(self.found.loop.stop).text, self.start
        self.put(1, f"for (int {start} = 0; {start} < {stop}; {start} += {self.depth}) {{")
        for name, kind in self.found.arrays.items():
            self._fill(name, kind, stop)
        self.put(2, spoken().barrier)
        self.put(2, f"const int {self.count} = min({self.depth}, {stop} - {start});")
        self.put(2, f"#pragma unroll {self.text.schedule.unroll}")
        self.put(2, f"for (int {self.t} = 0; {self.t} < {self.count}; ++{self.t}) {{")
        self._turn()
        self.put(2, "}")
        self.put(2, spoken().barrier)
        self.put(1, "}")

    def _fill(self, array: str, kind: str, stop: str) -> None:
        """The block's threads load the tile of an array together."""
        if kind == "line":
            self.put(
                2, f"if ({self.thread} < {self.depth} && {self.start} + {self.thread} < {stop}) {{"
            )
            at = f"{self.start} + {self.thread}"
            self.put(3, f"{self.tiles[array]}[{self.thread}] = {self._global(array, at, '')};")
            self.put(2, "}")
            return
        e, axis = self.item, AXES[kind]
        wide = self.span if kind == "column" else self.depth
        first, second = f"{e} / {wide}", f"{e} % {wide}"
        turn, place = (first, second) if kind == "column" else (second, first)
        total = self.depth * self.span
        step = _SIDE * _SIDE
        self.put(2, f"for (int {e} = {self.thread}; {e} < {total}; {e} += {step}) {{")
        self.put(3, f"const int {self.along} = {self.start} + {turn};")
        _, _, extent = self._thread(axis)
        own = f"min({self.first[axis]} + {place}, {extent} - 1)"
        self.put(3, f"const int {self.load[axis]} = {own};")
        self.put(3, f"if ({self.along} < {stop}) {{")
        element = self._global(array, self.along, self.load[axis])
        self.put(4, f"{self.tiles[array]}[{first}][{second}] = {element};")
        self.put(3, "}")
        self.put(2, "}")

    def _global(self, array: str, turn: str, place: str) -> str:
        """An element of an array at a turn, and a row or column."""
        inner = expressions(self.found.loop.body)
        load = next(e for e in inner if isinstance(e, Load) and e.array.name == array)
        threads = self.text.kernel.threads
        swaps = {self.found.loop.name: turn, threads[-1]: place, threads[-2]: place}
        indices = [
            Var(swaps[i.name], INT32) if isinstance(i, Var) and i.name in swaps else i
            for i in load.indices
        ]
        return self.plain.index(load.array, indices).text

    def _turn(self) -> None:
        """One turn: the columns' elements into registers, then row by row."""
        found, text = self.found, self.text
        body = _Turn(text.library, self._names(), {}, "return;")
        body.held = {name: self._value(name, kind) for name, kind in found.arrays.items()}
        body.run(found.loop.body, self._given(), 0)
        groups: dict[str, list[ir.Statement]] = {"": [], "r": [], "c": [], "rc": []}
        for s in found.loop.body:
            if isinstance(s, ir.Assign | ir.AugAssign):
                groups[found.axes[s.name]].append(s)
        if any(isinstance(e, Var) and e.name == found.loop.name for e in beside(found)):
            name = text.names.get(found.loop.name, found.loop.name)
            self.put(3, f"const int {name} = {self.start} + {self.t};")
        self._print(body, groups[""], 3)
        columns = [name for name, kind in found.arrays.items() if AXES[kind] == "c"]
        for name in columns:
            kind = text.library.type(computed(self._element(name)))
            self.put(3, f"{kind} {self.values[name]}[{self.side}];")
        self._each("c", 3)
        for name in columns:
            self.put(4, f"{self.values[name]}[{self.c}] = {self._shared(name)};")
        self._print(body, groups["c"], 4)
        self.put(3, "}")
        self._each("r", 3)
        for name, kind in found.arrays.items():
            if kind == "row":
                held = text.library.type(computed(self._element(name)))
                self.put(4, f"const {held} {self.values[name]} = {self._shared(name)};")
        self._print(body, groups["r"], 4)
        if groups["rc"]:
            self._each("c", 4)
            self._print(body, groups["rc"], 5)
            self.put(4, "}")
        self.put(3, "}")

    def _print(self, body: Body, group: Sequence[ir.Statement], depth: int) -> None:
        body.lines = []
        body.block(tuple(group), depth)
        self.lines += body.lines

    def _value(self, array: str, kind: str) -> str:
        if kind == "line":
            return self._shared(array)
        return self.values[array] + (f"[{self.c}]" if AXES[kind] == "c" else "")

    def _shared(self, array: str) -> str:
        """An element of a tile, as it is computed with."""
        own = {"r": f"{self.ty} + {self.r} * {_SIDE}", "c": f"{self.tx} + {self.c} * {_SIDE}"}
        kind = self.found.arrays[array]
        if kind == "line":
            place = f"[{self.t}]"
        elif kind == "column":
            place = f"[{self.t}][{own['c']}]"
        else:
            place = f"[{own[AXES[kind]]}][{self.t}]"
        return self.plain.widened(Text(self.tiles[array] + place), self._element(array)).text

    # What comes behind

    def _after(self) -> None:
        """What is done with each sum of the square, where it has an element."""
        text = self.text
        (row, row_place, rows), (column, column_place, columns) = map(self._thread, "rc")
        self._each("r", 1)
        self.put(2, f"const int {row} = {row_place};")
        self._each("c", 2)
        self.put(3, f"const int {column} = {column_place};")
        self.put(3, f"if ({row} >= {rows} || {column} >= {columns}) {{")
        self.put(4, "continue;")
        self.put(3, "}")
        names = self._names()
        for name in sorted(self.sums.keys() & self.assigned):
            kind, square = text.library.type(computed(self._given()[name])), names[name]
            names[name] = text.names.get(name, name)
            self.put(3, f"{kind} {names[name]} = {square};")
        body = Body(text.library, names, text.shapes(), "continue;")
        self.lines += body.run(self.found.after, self._given(), 3)
        self.put(2, "}")
        self.put(1, "}")


def _tile_bytes(program: ir.Program, side: int, depth: int) -> int:
    """Shared memory of all tiles of a kernel."""
    found = product_of(program.kernel)
    assert found is not None
    span, total = _SIDE * side, 0
    for p in program.kernel.params:
        if isinstance(p.type, Array) and p.name in found.arrays:
            kind = found.arrays[p.name]
            count = {"line": depth, "column": depth * span}.get(kind, span * (depth + 1))
            total += count * bytes_of(p.type.element)
    return total


def _block(program: ir.Program) -> tuple[int, ...]:
    return (_SIDE, _SIDE, 1)[: len(program.kernel.launch_dim)]


def _schedules(program: ir.Program) -> list[Schedule]:
    if product_of(program.kernel) is None:
        return []
    return [
        Schedule(
            "register_tiled",
            _block(program),
            tile=depth,
            unroll=_UNROLL,
            elements_a_thread=side * side,
        )
        for side, depth in _SHAPES
        if _tile_bytes(program, side, depth) <= MOST_SHARED_BYTES
    ]


def _check(program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, len(program.kernel.launch_dim))
    wanted, side, depth = _block(program), isqrt(schedule.elements_a_thread), schedule.tile
    if schedule.block != wanted:
        raise ValueError(f"block {list(schedule.block)}: register_tiled takes {list(wanted)}")
    if side * side != schedule.elements_a_thread or not 1 <= side <= _MOST_SIDE:
        raise ValueError(
            f"elements_a_thread {schedule.elements_a_thread}: the square of 1 to {_MOST_SIDE}"
        )
    if not 2 <= depth <= _SIDE * _SIDE or schedule.unroll < 1:
        raise ValueError(f"tile {depth}: 2 to {_SIDE * _SIDE} turns, unrolled once or more")
    if _tile_bytes(program, side, depth) > MOST_SHARED_BYTES:
        raise ValueError(f"tile {depth}: more than 48 KiB of shared memory")


def _plan(program: ir.Program, schedule: Schedule, sizes: Mapping[str, int]) -> Plan:
    found = product_of(program.kernel)
    assert found is not None
    side = isqrt(schedule.elements_a_thread)
    span = _SIDE * side
    served = {"line": float(span * span)}
    turns = turns_of(program.kernel, found.loop, sizes)
    return Plan(
        threads_an_element=1.0 / schedule.elements_a_thread,
        staged={name: served.get(kind, float(span)) for name, kind in found.arrays.items()},
        register_reuse=float(side),
        independent=side,
        barriers=2.0 * -(-turns // schedule.tile),
        shared_bytes=_tile_bytes(program, side, schedule.tile),
    )


def _asks(schedule: Mapping[str, object]) -> str:
    side = isqrt(int(str(schedule["elements_a_thread"])))
    return (
        "Stage rows and columns as tiles in shared memory and let each thread keep "
        f"{side} by {side} results in registers."
    )


_CALLED = "a tile of results in registers"

STYLES = (Style("register_tiled", _schedules, _check, write, _plan, _asks, _CALLED),)
