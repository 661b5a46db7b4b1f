"""A block for each place of a kernel of tiles, which shares registers and shared memory out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from generators.program import ir, tiles
from generators.program.dtypes import INT32, Tile
from generators.program.expr import Expr, Var
from generators.program.serial import Index, element, placed, serial
from generators.program.walk import statements
from synth.render.cuda.body import Body
from synth.render.cuda.device.collective import block_join, block_scan, identity, join_into
from synth.render.cuda.dialect.current import block_at, spoken, thread_at
from synth.render.cuda.find.tile_homes import homes, idle_threads, tile_names, views
from synth.render.cuda.kernel import KernelText, Written
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import Plan, Style, power_of_two, same_dims
from synth.render.cuda.tile_loops import Loops

_BLOCKS = (64, 128, 256)
_FLOAT_BYTES = 4


class _Writer:
    """Writes the body of one kernel of tiles."""

    def __init__(self, text: KernelText) -> None:
        self.text = text
        self.threads = text.schedule.block[0]
        self.homes = homes(text.kernel, self.threads)
        self.body = Body(text.library, text.names, text.shapes(), "return;")
        self.loops = Loops(text, self.body, self.threads)
        self.dirty: set[str] = set()
        self.read: set[str] = set()
        self.sums = _times_joined(text.kernel.body)
        self.views = views(text.kernel.body)

    def lines(self) -> list[str]:
        kernel, body = self.text.kernel, self.body
        for s in statements(kernel.body):
            if printer := self._printer(s):
                body.special[id(s)] = printer
        inner = body.run(kernel.body, self.text.given(), 1)
        names = self.text.threads()
        head = [
            f"    const int {name} = {block_at(axis)};"
            for name, axis in zip(names, "zyx"[-len(names) :], strict=True)
        ]
        if re.search(rf"\b{self.loops.own}\b", "\n".join(inner)):
            head.append(f"    const int {self.loops.own} = {thread_at()};")
        return [*self._shared_lines(), *head, *inner]

    def _shared_lines(self) -> list[str]:
        """Declarations of all shared memory, which stands at the head of a kernel."""
        scalar = self.text.library.type
        return [
            f"    {home.declared(self.body.name(name), scalar(home.type.scalar))}"
            for name, home in self.homes.items()
            if home.is_shared
        ]

    def _printer(self, s: ir.Statement) -> Callable[[Any, int], None] | None:
        match s:
            case ir.Assign(value=tiles.TileExpr()):
                return self._assign
            case ir.AugAssign(value=value) if isinstance(value.type, Tile):
                return self._augment
            case ir.TileMatmul():
                return self._matmul
            case ir.TileStore():
                return self._store
            case ir.For():
                return self._for
        return None

    # Elements

    def _element(self, e: Expr, index: Index) -> Expr:
        return element(e, index, self._held)

    def _held(self, tile: Var, index: Index) -> Expr:
        """The variable that an element of a tile is in."""
        if tile.name in self.views:
            of = self.views[tile.name]
            return self._held(Var(of, self.homes[of].type), index[::-1])
        home = self.homes[tile.name]
        name = self.body.name(tile.name)
        scalar = home.type.scalar
        if home.is_shared:
            self.read.add(tile.name)
            sides = "".join(f"[{self.body.show(i).text}]" for i in index)
            return Var(f"{name}{sides}", scalar)
        return Var(f"{name}[{self.loops.turn}]" if home.each > 1 else name, scalar)

    def _kind(self, type_: Tile) -> str:
        return self.text.library.type(type_.scalar)

    # Barriers

    def _meet(self, depth: int) -> None:
        self.body.put(depth, spoken().barrier)
        self.dirty.clear()
        self.read.clear()

    def _before(self, depth: int, reads: Sequence[Expr], writes: str = "") -> None:
        """A barrier where others may still write what is read, or read what is written."""
        names = {self.views.get(name, name) for name in tile_names(reads)}
        if names & self.dirty or (writes and writes in self.read):
            self._meet(depth)

    def _wrote(self, name: str) -> None:
        if self.homes[name].is_shared:
            self.dirty.add(name)

    def _for(self, s: ir.For, depth: int) -> None:
        self.body.usual(s, depth)
        if self.dirty or self.read:
            end = self.body.lines.pop()
            self._meet(depth + 1)
            self.body.lines.append(end)

    # Statements

    def _assign(self, s: ir.Assign, depth: int) -> None:
        if s.name in self.views:
            return
        e, home = s.value, self.homes[s.name]
        assert isinstance(e, tiles.TileExpr)
        self._before(depth, e.parts, s.name)
        if isinstance(e, tiles.TileReduce):
            (self._join if e.axis < 0 else self._join_axis)(s.name, e, depth)
        elif isinstance(e, tiles.TileScan):
            scan = block_scan(self.text.library, home.type.scalar, self.threads)
            value = self.body.show(
                self._element(e.value, self.loops.place(home.type, self.loops.own))
            )
            self._declare(s.name, depth, f"{scan}({value.text})")
        else:
            self._fill(s.name, e, depth)
        self._wrote(s.name)

    def _declare(self, name: str, depth: int, value: str) -> None:
        """A tile of one register with its value, or of several without."""
        home, spelled = self.homes[name], self.body.name(name)
        if home.is_shared:
            self.loops.over(home.type, depth, lambda i, d: self._put(name, i, value, d))
        elif home.some:
            self.loops.array(depth, home.declared(spelled, self._kind(home.type)))
        elif home.each == 1:
            self.body.put(depth, f"{self._kind(home.type)} {spelled} = {value};")
        else:
            self.loops.array(depth, home.declared(spelled, self._kind(home.type)))

    def _fill(self, name: str, e: tiles.TileExpr, depth: int) -> None:
        """Each element from an expression of it."""
        home = self.homes[name]

        def value(index: Index) -> str:
            inner = e.value if isinstance(e, tiles.TileFill) else self._element(e, index)
            return self.body.show(inner).text

        if home.each == 1 and not home.some:
            self.loops.over(home.type, depth, lambda i, d: self._declare(name, d, value(i)))
            return
        if not home.is_shared:
            self._declare(name, depth, "")
        self.loops.over(home.type, depth, lambda i, d: self._put(name, i, value(i), d))

    def _put(self, name: str, index: Index, value: str, depth: int, sign: str = "=") -> None:
        target = self.body.show(self._held(Var(name, self.homes[name].type), index))
        self.read.discard(name)
        self.body.put(depth, f"{target.text} {sign} {value};")

    def _augment(self, s: ir.AugAssign, depth: int) -> None:
        home = self.homes[s.name]
        sign = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/="}[s.op]
        self._before(depth, [s.value], s.name)

        def turn(index: Index, d: int) -> None:
            value = self.body.show(self._element(s.value, index)).text
            self._put(s.name, index, value, d, sign)

        self.loops.over(home.type, depth, turn)
        self._wrote(s.name)

    def _join(self, name: str, e: tiles.TileReduce, depth: int) -> None:
        """All elements, first of each thread and then of the block."""
        type_, scalar = e.value.type, e.type.scalar
        assert isinstance(type_, Tile)
        again = self.sums[e.how] > 1
        how = tiles.REDUCTIONS[e.how]
        function = block_join(self.text.library, [(how, scalar)], self.threads, again)
        if type_.size == self.threads:
            value = self.body.show(
                self._element(e.value, self.loops.place(type_, self.loops.own))
            ).text
            self._declare(name, depth, f"{function}({value})")
            return
        part = self.text.fresh(f"{name}_part", f"own_{name}")
        self.loops.array(depth, f"{self._kind(e.type)} {part} = {identity(how, scalar)};")

        def turn(index: Index, d: int) -> None:
            value = self.body.show(self._element(e.value, index)).text
            self.body.put(d, join_into(how, scalar, part, value))

        self.loops.over(type_, depth, turn)
        self._declare(name, depth, f"{function}({part})")

    def _join_axis(self, name: str, e: tiles.TileReduce, depth: int) -> None:
        """The elements along one axis, by the thread that owns the result."""
        type_, scalar = e.value.type, e.type.scalar
        assert isinstance(type_, Tile)
        if self.homes[name].some:
            self._declare(name, depth, "")
        how, part = tiles.REDUCTIONS[e.how], self.text.fresh(f"{name}_part", f"own_{name}")
        extent, step = type_.shape[e.axis], self.loops.inner

        def turn(index: Index, d: int) -> None:
            (at,), along = index, Var(step, INT32)
            place = (along, at) if e.axis == 0 else (at, along)
            self.body.put(d, f"{self._kind(e.type)} {part} = {identity(how, scalar)};")
            self.body.put(d, f"for (int {step} = 0; {step} < {extent}; ++{step}) {{")
            value = self.body.show(self._element(e.value, place)).text
            self.body.put(d + 1, join_into(how, scalar, part, value))
            self.body.put(d, "}")
            self._put(name, index, part, d)

        self.loops.over(e.type, depth, turn)

    def _matmul(self, s: ir.TileMatmul, depth: int) -> None:
        home, inner = self.homes[s.name], s.a.type
        assert isinstance(inner, Tile)
        self._before(depth, [s.a, s.b], s.name)
        step = Var(self.loops.inner, INT32)
        head = f"for (int {step.name} = 0; {step.name} < {inner.shape[1]}; ++{step.name}) {{"
        self.body.put(depth, head)

        def turn(index: Index, d: int) -> None:
            product = self._element(s.a, (index[0], step)) * self._element(s.b, (step, index[1]))
            self._put(s.name, index, self.body.show(product).text, d, "+=")

        self.loops.over(home.type, depth + 1, turn)
        self.body.put(depth, "}")
        self._wrote(s.name)

    def _store(self, s: ir.TileStore, depth: int) -> None:
        type_ = s.value.type
        assert isinstance(type_, Tile)
        self._before(depth, [s.value])
        if type_.size == 1:
            self.body.put(depth, f"if ({thread_at()} == 0) {{")

        def turn(index: Index, d: int) -> None:
            target = self.body.index(s.array, placed(s.offset, index))
            value = self.body.show(self._element(s.value, index)).text
            if s.op:
                self.body.put(d, self.body.atomic_of(s.op, type_.scalar, target, value))
            else:
                self.body.put(d, f"{target.text} = {value};")

        self.loops.over(type_, depth + (type_.size == 1), turn)
        if type_.size == 1:
            self.body.put(depth, "}")


def _times_joined(body: ir.Body, times: int = 1) -> dict[str, int]:
    """How often all elements of a tile are joined in each way; in a loop, more than once."""
    found = dict.fromkeys(tiles.REDUCTIONS, 0)
    for s in body:
        if isinstance(s, ir.For):
            for how, count in _times_joined(s.body, 2).items():
                found[how] += count
        elif isinstance(s, ir.Assign) and isinstance(s.value, tiles.TileReduce):
            found[s.value.how] += times
    return found


def write(text: KernelText) -> Written:
    """The kernel, a block for each point of the launch."""
    return Written(_Writer(text).lines(), text.formulas()[::-1])


def _fits(kernel: ir.Kernel, threads: int) -> bool:
    """Whether a block of so many threads can do all that a kernel of tiles does."""
    found = homes(kernel, threads)
    if idle_threads(kernel, threads):
        return False
    for s in statements(kernel.body):
        if isinstance(s, ir.TileMatmul) and found[s.name].is_shared:
            return False
        if not isinstance(s, ir.Assign):
            continue
        if isinstance(s.value, tiles.TileScan) and found[s.name].type.size != threads:
            return False
        axis = isinstance(s.value, tiles.TileReduce) and s.value.axis >= 0
        if axis and not (found[s.name].is_shared or found[s.name].some):
            return False
    return True


def _schedules(program: ir.Program) -> list[Schedule]:
    fitting = [n for n in _BLOCKS if _fits(program.kernel, n)]
    return [Schedule("block_tiles", (n,)) for n in fitting]


def _allows(program: ir.Program, schedule: Schedule) -> None:
    same_dims(schedule, 1)
    power_of_two(schedule)
    if not _fits(program.kernel, schedule.threads):
        choices = ", ".join(str(list(s.block)) for s in _schedules(program))
        raise ValueError(f"block {list(schedule.block)}: the tiles can be shared out to {choices}")


def _plan(program: ir.Program, schedule: Schedule, _sizes: Mapping[str, int]) -> Plan:
    threads = schedule.threads
    own = {s.name for s in statements(program.kernel.body) if isinstance(s, ir.For)}
    shared = list(_over_elements(serial(program).kernel.body, own))
    inner = shared[-1].body[0] if shared else None
    lane = inner if isinstance(inner, ir.For) else shared[-1] if shared else None
    found = homes(program.kernel, threads).values()
    joins = sum(_times_joined(program.kernel.body).values())
    return Plan(
        lanes=lane.name if lane else "",
        threads_an_element=float(threads),
        shared_out=frozenset(id(s) for s in shared),
        shuffles=10.0 * joins,
        barriers=2.0 * joins + sum(home.is_shared for home in found),
        shared_bytes=sum(_FLOAT_BYTES * home.type.size for home in found if home.is_shared),
    )


def _over_elements(body: ir.Body, own: set[str]) -> Iterator[ir.For]:
    """The loops of a serial body over elements of tiles, each around the others of its nest."""
    for s in body:
        if isinstance(s, ir.For) and s.name in own:
            yield from _over_elements(s.body, own)
        elif isinstance(s, ir.For):
            yield s


STYLES = (
    Style(
        "block_tiles",
        _schedules,
        _allows,
        write,
        _plan,
        lambda _s: (
            "Give each tile a block: keep elements in registers, share through shared memory, and "
            "join by shuffles."
        ),
        "a block for each tile",
        tiles=True,
    ),
)
