"""What a program does at given sizes: its accesses, its instructions, and how its indices move.

Counts are of one point of the launch and are expectations: of branches half are taken, loops that
data bound turn a usual number of times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, prod

from generators.program import ir
from generators.program.dtypes import Array
from generators.program.expr import Expr, Load, Op, Var
from generators.program.walk import expressions, operands, parts, statements
from synth.render.cuda.cost.access import LOAD, STORE, UPDATE, Access, Facts, Turns, Work
from synth.render.cuda.cost.affine import (
    UNKNOWN,
    Moves,
    Reader,
    add,
    chosen,
    given,
    led,
    of,
    scaled,
    spread,
)
from synth.render.cuda.cost.carried import SIGNS, assigned, carried
from synth.render.cuda.cost.met import elements_met
from synth.render.cuda.cost.operations import instructions, of_body, width
from synth.render.cuda.types import bytes_of
from validate.row.sizes import evaluate_all

_USUAL_TURNS = 8.0
_FEWEST_TURNS = 0.1
_UNBOUNDED_TURNS = 16.0
_STAYS = 0.75
"""Threads that go on behind a test that makes some leave."""


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
        counts = dict(zip(self.kernel.threads, map(float, self.dims), strict=True))
        known = {name: of(name, count) for name, count in counts.items()}
        known |= {p.name: given(p, sizes) for p in self.kernel.params if p not in arrays}
        spreads = {p.name: spread(p, sizes) for p in arrays}
        self.reader = Reader(known, self.shapes, spreads)
        self.counts = counts
        self.item_bytes = {
            p.name: bytes_of(p.type.element) for p in arrays if isinstance(p.type, Array)
        }
        self.atoms = {p.name: width(p.type.element) for p in arrays if isinstance(p.type, Array)}
        self.calls = {f.name: of_body(f.body) for f in program.functions}
        self.assigned: set[str] = set()
        self.starts: dict[str, Moves] = {}
        """Where the variables are before the loops that carry them."""
        self.first: dict[int, float] = {}
        """Of updates that start at one element, how often they meet there."""
        self.chance = 1.0
        """How likely it is that a thread comes to where the walk is, once for each turn."""
        self.accesses: dict[tuple[object, ...], Access] = {}
        self.once: dict[tuple[object, ...], tuple[float, float]] = {}
        """Of each access what it does once and at most, in the branch where the walk is."""
        self.work: dict[tuple[int, ...], Work] = {}

    def facts(self) -> Facts:
        self._body(self.kernel.body, 1.0, ())
        arrays = {n: prod(shape) * self.item_bytes[n] for n, shape in self.shapes.items()}
        once = self.once
        accesses = tuple(
            replace(
                access,
                once=min(access.times, once[key][0]),
                most=once[key][1],
                first=self.first.get(access.node, 0.0),
            )
            for key, access in self.accesses.items()
        )
        work, met = tuple(self.work.values()), elements_met(self.program)
        return Facts(self.kernel.threads, self.dims, arrays, accesses, work, met)

    def _do(self, loops: tuple[Turns, ...], count: float) -> None:
        key = tuple(t.node for t in loops)
        before = self.work.get(key)
        self.work[key] = Work(loops, count + (before.count if before else 0.0))

    def _body(self, body: ir.Body, times: float, loops: tuple[Turns, ...]) -> float:
        """Walk statements; how many of the threads are left after them."""
        before = self.chance
        for s in body:
            self._read(s, times, loops)
            if isinstance(s, ir.If):
                times = self._if(s, times, loops)
            elif isinstance(s, ir.For | ir.While):
                self._loop(s, times, loops)
            elif isinstance(s, ir.Return | ir.Continue | ir.Break):
                times = 0.0
                break
            else:
                self._step(s, times, loops)
        self.chance = before
        return times

    def _step(self, s: ir.Statement, times: float, loops: tuple[Turns, ...]) -> None:
        match s:
            case ir.Assign() | ir.AugAssign():
                self._assign(s, bool(loops))
            case ir.Sample():
                self.reader.known[s.name] = led(*(of(n) for n in self.kernel.threads))
                self._do(loops, 10.0 * times)
            case ir.Store():
                if s.op:
                    self._access(LOAD, s.array.name, s.indices, times, loops)
                self._access(STORE, s.array.name, s.indices, times, loops)
            case ir.Atomic():
                self._access(UPDATE, s.array.name, s.indices, times, loops, id(s))
            case _:
                pass

    def _assign(self, s: ir.Assign | ir.AugAssign, in_loop: bool) -> None:
        moves, before = self.reader.read(s.value), self.reader.known.get(s.name, UNKNOWN)
        is_step = isinstance(s, ir.AugAssign)
        if in_loop and (is_step or s.name in self.assigned):
            # What earlier turns made of it is not followed.
            moves = led(moves, before, values=inf, span=inf)
        elif isinstance(s, ir.AugAssign):
            sign = SIGNS.get(s.op)
            moves = led(moves, before) if sign is None else add(before, moves, sign)
        self.assigned.add(s.name)
        self.reader.known[s.name] = moves

    def _if(self, s: ir.If, times: float, loops: tuple[Turns, ...]) -> float:
        """Walk branches, of which a thread takes one; how many of the threads are left."""
        start, outside, chance = dict(self.reader.known), self.once, self.chance
        within: dict[tuple[object, ...], tuple[float, float]] = {}
        ends: list[dict[str, Moves]] = []
        left, after = times, 0.0
        for condition, body in [*s.branches, (None, s.orelse)]:
            self.reader.known, self.once = dict(start), {}
            is_known, share = self._chance(condition, body)
            taken = left * share
            self.chance = chance if is_known or not times else chance * taken / times
            stays = self._body(body, taken, loops)
            after, left = after + stays, left - taken
            if stays or not body:
                ends.append(self.reader.known)
            for key, (once, most) in self.once.items():
                known = within.get(key, (0.0, 0.0))
                within[key] = known[0] + once, max(known[1], most)
        self.reader.known, self.once = start, outside
        for key, one in within.items():
            self._once(key, *one)
        self._meet(s, ends)
        self.chance = chance * after / times if times and after else chance
        return after

    def _meet(self, s: ir.If, ends: Sequence[Mapping[str, Moves]]) -> None:
        """What variables are behind a branch, of what they are at the ends of each."""
        conditions = [condition for condition, _ in s.branches]
        by_data = any(self.reader.by_data(condition) for condition in conditions)
        condition = led(*(self.reader.read(one) for one in conditions))
        for name in assigned((s,)):
            options = [end.get(name, UNKNOWN) for end in ends] or [UNKNOWN]
            self.reader.known[name] = chosen(condition, by_data, options)

    def _chance(self, condition: Expr | None, body: ir.Body) -> tuple[bool, float]:
        """How likely a branch is, and whether that is known: one for a single thread hardly ever
        is."""
        if condition is None:
            return False, 1.0
        if isinstance(condition, Op) and condition.op == "eq":
            names = self.reader.read(condition.args[0]).names
            by_data = self.reader.by_data(condition)
            counts = [self.counts.get(n, 2.0) for n in names if not by_data]
            return bool(counts), 1.0 / max(2.0, 2.0, *counts)
        leaves = bool(body) and isinstance(body[-1], ir.Return | ir.Continue | ir.Break)
        return False, 1.0 - _STAYS if leaves else 0.5

    def _loop(self, s: ir.For | ir.While, times: float, loops: tuple[Turns, ...]) -> None:
        before = self.chance
        count, is_guess = self._turns(s)
        if any(isinstance(inner, ir.Break | ir.Return) for inner in statements(s.body)):
            halved, is_guess = max(1.0, count / 2), True
            self.chance *= halved / count
            count = halved
        name = s.name if isinstance(s, ir.For) else ""
        turns, outer = Turns(id(s), name, count, is_guess), self.starts
        if isinstance(s, ir.For):
            self.reader.known[s.name] = add(of(s.name, count), self.reader.read(s.start))
            self.counts[s.name] = count
            handed = carried(s, self.reader, count)
            self.starts = outer | {name: self.reader.known[name] for name in handed}
            self.reader.known |= handed
        else:
            self._unsettle(s)
        self._do((*loops, turns), 2.0 * times * count)
        self._body(s.body, times * count, (*loops, turns))
        self.chance, self.starts = before, outer
        if is_guess:
            self._unsettle(s)

    def _unsettle(self, s: ir.For | ir.While) -> None:
        """Variables that change in a loop of unknown turns are led by what its threads find."""
        names = frozenset(self.kernel.threads)
        for name in assigned(s.body):
            self.assigned.add(name)
            self.reader.known[name] = Moves(
                led_by=names, value=None, values=inf, span=inf, stray=inf
            )

    def _turns(self, s: ir.For | ir.While) -> tuple[float, bool]:
        """How often a loop turns, and whether that is a guess."""
        if isinstance(s, ir.While):
            return _UNBOUNDED_TURNS, True
        stop = self.reader.read(s.stop)
        span = add(stop, self.reader.read(s.start), -1.0)
        if span.led_by or span.value is None:
            return self._turns_by_data(s, span), True
        middle = span.at({n: self.counts.get(n, 2.0) / 2 for n in span.names})
        most = abs(middle) if stop.most is None else min(abs(middle), stop.most)
        return max(1.0, most / abs(s.step)), False

    def _turns_by_data(self, s: ir.For, span: Moves) -> float:
        """Turns of a loop whose ends data say.

        Where both do and it goes along an array, the threads that these ends differ for are taken
        to share that array out, as rows of a sparse matrix do; half of a known most elsewhere.
        """
        if not self.reader.by_data(s.start):
            known = span.most if span.most is not None else span.span
            return max(1.0, known / 2.0 / abs(s.step)) if 0.0 < known < inf else _USUAL_TURNS
        threads = [self.counts[n] for n in self.kernel.threads if n in span.led_by]
        loads = [e for e in expressions(s.body) if isinstance(e, Load)]
        along = [
            extent
            for e in loads
            for extent, index in zip(self.shapes.get(e.array.name, ()), e.indices, strict=False)
            if isinstance(index, Var) and index.name == s.name
        ]
        if not threads or not along:
            return _USUAL_TURNS
        return min(max(along), max(_FEWEST_TURNS, max(along) / prod(threads)))

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
        flat = self._flat(array, indices)
        self._put(kind, array, times, flat, loops, node)
        if kind == UPDATE and self.starts and flat.names:
            now, self.reader.known = self.reader.known, self.reader.known | self.starts
            if not self._flat(array, indices).names:
                self.first[node] = times / max(1.0, loops[-1].count)
            self.reader.known = now

    def _flat(self, array: str, indices: Sequence[Expr]) -> Moves:
        """How the flat index of an element moves."""
        shape, flat = self.shapes[array], Moves()
        for axis, index in enumerate(indices):
            moves = self.reader.read(index)
            # However far data may lead, it is to an element of the axis.
            moves = replace(moves, stray=min(moves.stray, shape[axis] - 1.0))
            flat = add(flat, scaled(moves, prod(shape[axis + 1 :])))
        return flat

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
        key = (kind, array, node, where, *moves.how)
        before = self.accesses.get(key)
        total = times + (before.times if before is not None else 0.0)
        size = self.item_bytes[array]
        self.accesses[key] = Access(
            kind, array, size, node, total, total, moves, loops, atoms=self.atoms[array]
        )
        self._once(key, times, times / self.chance if self.chance else 0.0)

    def _once(self, key: tuple[object, ...], once: float, most: float) -> None:
        """Another place of an access, after those before: of the same elements unless it is led."""
        join = sum if self.accesses[key].moves.led_by else max
        known = self.once.get(key, (0.0, 0.0))
        self.once[key] = join((known[0], once)), join((known[1], most))
