"""What a program does at given sizes: its accesses, its instructions, and how its indices move.

Counts are of one point of the launch and are expectations: of branches half are taken, loops that
data bound turn a usual number of times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from typing import Any

from generators.program import ir
from generators.program.dtypes import Array
from generators.program.expr import Expr, Load, Op, Var
from generators.program.walk import operands, parts, statements
from synth.render.cuda.cost.affine import UNKNOWN, Moves, Reader, add, led, of, scaled
from synth.render.cuda.cost.operations import instructions, of_body
from synth.render.cuda.types import bytes_of
from validate.row.sizes import evaluate, evaluate_all

_USUAL_TURNS = 8.0
_UNBOUNDED_TURNS = 16.0
_STAYS = 0.75
"""Threads that go on behind a test that makes some leave."""

LOAD, STORE, UPDATE = "load", "store", "update"


@dataclass(frozen=True)
class Turns:
    """A loop: its node's ``id``, its variable (empty for while) and how often it turns."""

    node: int
    name: str
    count: float


@dataclass(frozen=True)
class Access:
    """Places in the text that read or write an array in the same way but for constant distances.

    ``times`` a point of the launch in all, ``once`` the most of any one place: what its neighbours
    read is near by then.
    """

    kind: str
    array: str
    bytes: int
    node: int
    times: float
    once: float
    moves: Moves
    loops: tuple[Turns, ...]


@dataclass(frozen=True)
class Work:
    """Instructions of a point within the same loops."""

    loops: tuple[Turns, ...]
    count: float


@dataclass(frozen=True)
class Facts:
    """All of it. ``arrays`` has the bytes of each array, ``extents`` the launch dimensions."""

    threads: tuple[str, ...]
    extents: tuple[int, ...]
    arrays: dict[str, float]
    accesses: tuple[Access, ...]
    work: tuple[Work, ...]
    kept: dict[tuple[object, ...], Any] = field(default_factory=dict, compare=False)
    """What predictions of several schedules have in common."""

    @property
    def points(self) -> float:
        return float(prod(self.extents))


def facts_of(program: ir.Program, sizes: Mapping[str, int]) -> Facts:
    """The facts of a program at sizes by symbol."""
    return _Walk(program, sizes).facts()


class _Walk:
    def __init__(self, program: ir.Program, sizes: Mapping[str, int]) -> None:
        self.program, self.kernel = program, program.kernel
        self.dims = evaluate_all(self.kernel.launch_dim, sizes)
        arrays = [p for p in self.kernel.params if isinstance(p.type, Array)]
        self.shapes = {
            p.name: tuple(float(n) for n in evaluate_all(p.shape, sizes)) for p in arrays
        }
        known = {name: of(name) for name in self.kernel.threads}
        known |= {p.name: _given(p, sizes) for p in self.kernel.params if p not in arrays}
        spreads = {p.name: _spread(p, sizes) for p in arrays}
        self.reader = Reader(known, self.shapes, spreads)
        self.counts = dict(zip(self.kernel.threads, map(float, self.dims), strict=True))
        self.item_bytes = {
            p.name: bytes_of(p.type.element) for p in arrays if isinstance(p.type, Array)
        }
        self.calls = {f.name: of_body(f.body) for f in program.functions}
        self.assigned: set[str] = set()
        self.accesses: dict[tuple[object, ...], Access] = {}
        self.work: dict[tuple[int, ...], Work] = {}

    def facts(self) -> Facts:
        self._body(self.kernel.body, 1.0, ())
        arrays = {n: prod(shape) * self.item_bytes[n] for n, shape in self.shapes.items()}
        accesses, work = tuple(self.accesses.values()), tuple(self.work.values())
        return Facts(self.kernel.threads, self.dims, arrays, accesses, work)

    def _do(self, loops: tuple[Turns, ...], count: float) -> None:
        key = tuple(t.node for t in loops)
        before = self.work.get(key)
        self.work[key] = Work(loops, count + (before.count if before else 0.0))

    def _body(self, body: ir.Body, times: float, loops: tuple[Turns, ...]) -> float:
        """Walk statements; how many of the threads are left after them."""
        for s in body:
            self._read(s, times, loops)
            if isinstance(s, ir.If):
                times = self._if(s, times, loops)
            elif isinstance(s, ir.For | ir.While):
                self._loop(s, times, loops)
            elif isinstance(s, ir.Return | ir.Continue | ir.Break):
                return 0.0
            else:
                self._step(s, times, loops)
        return times

    def _step(self, s: ir.Statement, times: float, loops: tuple[Turns, ...]) -> None:
        match s:
            case ir.Assign() | ir.AugAssign():
                self._assign(s)
            case ir.Sample():
                self.reader.known[s.name] = UNKNOWN
                self._do(loops, 10.0 * times)
            case ir.Store():
                if s.op:
                    self._access(LOAD, s.array.name, s.indices, times, loops)
                self._access(STORE, s.array.name, s.indices, times, loops)
            case ir.Atomic():
                self._access(UPDATE, s.array.name, s.indices, times, loops, id(s))
            case _:
                pass

    def _assign(self, s: ir.Assign | ir.AugAssign) -> None:
        moves = self.reader.read(s.value)
        if s.name in self.assigned or isinstance(s, ir.AugAssign):
            moves = led(moves, self.reader.known.get(s.name, UNKNOWN))
        self.assigned.add(s.name)
        self.reader.known[s.name] = moves

    def _if(self, s: ir.If, times: float, loops: tuple[Turns, ...]) -> float:
        left, after = times, 0.0
        for condition, body in s.branches:
            leaves = bool(body) and isinstance(body[-1], ir.Return | ir.Continue | ir.Break)
            taken = left * (1.0 - _STAYS if leaves else self._chance(condition))
            after += self._body(body, taken, loops)
            left -= taken
        return after + self._body(s.orelse, left, loops)

    def _chance(self, condition: Expr) -> float:
        """How likely a test is: one for a single thread hardly ever is."""
        if isinstance(condition, Op) and condition.op == "eq":
            names = self.reader.read(condition.args[0]).factors
            return 1.0 / max(2.0, max((self.counts.get(n, 2.0) for n in names), default=2.0))
        return 0.5

    def _loop(self, s: ir.For | ir.While, times: float, loops: tuple[Turns, ...]) -> None:
        count = self._turns(s)
        if any(isinstance(inner, ir.Break | ir.Return) for inner in statements(s.body)):
            count = max(1.0, count / 2)
        name = s.name if isinstance(s, ir.For) else ""
        turns = Turns(id(s), name, count)
        if isinstance(s, ir.For):
            self.reader.known[s.name] = add(of(s.name, count), self.reader.read(s.start))
            self.counts[s.name] = count
        else:
            self._unsettle(s)
        self._do((*loops, turns), 2.0 * times * count)
        self._body(s.body, times * count, (*loops, turns))

    def _unsettle(self, s: ir.While) -> None:
        """Variables that an unbounded loop changes are led by what its threads find."""
        names = frozenset(self.kernel.threads)
        for inner in statements(s.body):
            if isinstance(inner, ir.Assign | ir.AugAssign):
                self.assigned.add(inner.name)
                self.reader.known[inner.name] = Moves(led_by=names, value=None)

    def _turns(self, s: ir.For | ir.While) -> float:
        if isinstance(s, ir.While):
            return _UNBOUNDED_TURNS
        stop = self.reader.read(s.stop)
        span = add(stop, self.reader.read(s.start), -1.0)
        if span.led_by or span.value is None:
            return _USUAL_TURNS
        middle = span.value + sum(f * self.counts.get(n, 2.0) / 2 for n, f in span.factors.items())
        most = abs(middle) if stop.most is None else min(abs(middle), stop.most)
        return max(1.0, most / abs(s.step))

    def _read(self, s: ir.Statement, times: float, loops: tuple[Turns, ...]) -> None:
        """Loads and instructions of what stands directly in a statement."""
        stack = list(operands(s))
        count = 1.0
        while stack:
            e = stack.pop()
            stack.extend(parts(e))
            if isinstance(e, Load):
                self._access(LOAD, e.array.name, e.indices, times, loops)
            elif isinstance(e, Op) and e.op == "lower_bound" and isinstance(e.args[0], Var):
                moves = led(*(of(n) for n in self.kernel.threads))
                self._put(LOAD, e.args[0].name, 10.0 * times, moves, loops, 0)
            count += instructions(e, self.calls)
        self._do(loops, count * times)

    def _access(
        self,
        kind: str,
        array: str,
        indices: Sequence[Expr],
        times: float,
        loops: tuple[Turns, ...],
        node: int = 0,
    ) -> None:
        shape = self.shapes[array]
        flat = Moves()
        for axis, index in enumerate(indices):
            flat = add(flat, scaled(self.reader.read(index), prod(shape[axis + 1 :])))
        self._put(kind, array, times, flat, loops, node)

    def _put(
        self,
        kind: str,
        array: str,
        times: float,
        moves: Moves,
        loops: tuple[Turns, ...],
        node: int,
    ) -> None:
        where = tuple(t.node for t in loops)
        key = (kind, array, node, where, frozenset(moves.factors.items()), moves.led_by)
        before = self.accesses.get(key)
        total, once = times, times
        if before is not None:
            total = before.times + times
            once = total if moves.led_by else max(before.once, times)
        width = self.item_bytes[array]
        self.accesses[key] = Access(kind, array, width, node, total, once, moves, loops)


def _spread(p: ir.Param, sizes: Mapping[str, int]) -> float:
    """How many whole numbers lie in the range that an array's values are drawn from."""
    kind, _, expression = p.init.partition(":")
    if kind == "index_of":
        return float(evaluate(expression, sizes))
    if p.low is None or p.high is None or kind == "permutation":
        return inf
    return max(1.0, float(p.high) - float(p.low) + 1.0)


def _given(p: ir.Param, sizes: Mapping[str, int]) -> Moves:
    """The value of a parameter that is no array: a size, or the middle of its range."""
    if p.init.startswith("size:"):
        return Moves(value=float(evaluate(p.init.partition(":")[2], sizes)))
    if p.low is None or p.high is None:
        return UNKNOWN
    return Moves(value=(float(p.low) + float(p.high)) / 2)
