"""Stencils: inputs of which each thread reads several elements around its own place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from generators.program import ir
from generators.program.dtypes import Array, Struct
from generators.program.expr import Const, Expr, Extent, Load, Op, Var
from generators.program.walk import expressions, statements
from synth.render.cuda.find.places import put_in, values_of, without_unasked
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.scopes import names_in

_FEWEST_READS = 3
"""Of one array by one thread: fewer do not pay for a tile."""

_WIDEST = 16
"""Offsets along an axis that a tile's border may hold."""


@dataclass(frozen=True)
class Offset:
    """Where an index lies, seen from the thread's own place along an axis.

    ``terms`` are added up, each with its sign; ``low`` and ``high`` bound the sum. ``edge`` is what
    the index does past the ends: ``clamp``, ``wrap``, or ``""`` where it never is there.
    """

    terms: tuple[tuple[int, Expr], ...]
    low: int
    high: int
    edge: str


@dataclass(frozen=True)
class Halo:
    """An array of which a block keeps a tile with a border.

    ``outer`` are the leading indices, which are thread indices or literals; ``lows``, ``highs`` and
    ``edges`` belong to the axes that follow, of which the last is the last thread's.
    """

    outer: tuple[Expr, ...]
    lows: tuple[int, ...]
    highs: tuple[int, ...]
    edges: tuple[str, ...]


@dataclass(frozen=True)
class Stencil:
    """``halos`` by array, and ``reads``, how many elements of it a thread reads; ``offsets`` has
    the array of each load, by id, and its offsets along the axes of the tile; ``body`` is the
    kernel's without what only the indices of those loads need."""

    halos: Mapping[str, Halo]
    reads: Mapping[str, int]
    offsets: Mapping[int, tuple[str, tuple[Offset, ...]]]
    body: ir.Body


@remembered
def stencil_of(kernel: ir.Kernel) -> Stencil | None:
    """The form in which a block reads the surroundings of its elements once."""
    if len(kernel.threads) > 3:
        return None
    halos: dict[str, Halo] = {}
    reads: dict[str, int] = {}
    offsets: dict[int, tuple[str, tuple[Offset, ...]]] = {}
    finder: _Finder | None = None
    for p in kernel.params:
        if p.role != "in" or not isinstance(p.type, Array) or isinstance(p.type.element, Struct):
            continue
        finder = finder or _Finder(kernel)
        found = finder.halo(p)
        if found is not None:
            halos[p.name] = found[0]
            reads[p.name] = finder.reads(found[1].values())
            offsets |= {load: (p.name, axes) for load, axes in found[1].items()}
    if not halos:
        return None
    return Stencil(halos, reads, offsets, without_unasked(kernel.body, offsets))


class _Finder:
    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.values = values_of(kernel.body)
        self.loads = [e for e in expressions(kernel.body) if isinstance(e, Load)]
        self.shapes = {p.name: p.shape for p in kernel.params}
        self.sized = {
            p.name: p.init.partition(":")[2] for p in kernel.params if p.init.startswith("size:")
        }
        self.turns: dict[str, range] = {}
        for s in statements(kernel.body):
            if isinstance(s, ir.For) and s.name not in self.turns:
                ends = (s.start, s.stop)
                if all(isinstance(e, Const) for e in ends):
                    start, stop = (int(e.value) for e in ends if isinstance(e, Const))
                    self.turns[s.name] = range(start, stop, s.step)
            elif isinstance(s, ir.For):
                # Of two loops of one name nothing is known.
                self.turns[s.name] = range(0)

    def halo(self, p: ir.Param) -> tuple[Halo, dict[int, tuple[Offset, ...]]] | None:
        """The tile of an array and the offsets of the loads that it serves."""
        own = self.kernel.threads[-2:]
        found: dict[int, tuple[Offset, ...]] = {}
        outers = set()
        for load in self.loads:
            if load.array.name != p.name or len(load.indices) < len(own):
                continue
            at = len(load.indices) - len(own)
            axes = [
                self._offset(put_in(index, self.values), name, p.shape[at + k])
                for k, (index, name) in enumerate(zip(load.indices[at:], own, strict=True))
            ]
            if all(axes) and self._is_outer(load.indices[:at]):
                found[id(load)] = tuple(offset for offset in axes if offset is not None)
                outers.add(load.indices[:at])
        if len(outers) != 1 or self.reads(found.values()) < _FEWEST_READS:
            return None
        halo = _around(outers.pop(), list(found.values()))
        return None if halo is None else (halo, found)

    def _is_outer(self, indices: Sequence[Expr]) -> bool:
        known = self.kernel.threads[:-2]
        return all(
            isinstance(i, Const) or (isinstance(i, Var) and i.name in known) for i in indices
        )

    def reads(self, loads: Iterable[tuple[Offset, ...]]) -> int:
        """Different elements that a thread reads."""
        count = 0
        for offsets in set(loads):
            terms = [e for offset in offsets for _, e in offset.terms]
            names = {name for e in terms for name in names_in(e)}
            count += prod(len(self.turns[name]) for name in names)
        return count

    def _offset(self, e: Expr, thread: str, size: str) -> Offset | None:
        """An index as the thread's own place along an axis and what is added to it."""
        edge = ""
        while isinstance(e, Op) and (inner := self._inside(e, size)) is not None:
            e, new = inner
            if edge not in ("", new):
                return None
            edge = new
        terms = list(_terms(e, 1))
        if edge == "wrap":
            terms = [term for term in terms if not self._is_turns_of(term[1], size)]
        own = [term for term in terms if isinstance(term[1], Var) and term[1].name == thread]
        rest = tuple(term for term in terms if term not in own)
        if len(own) != 1 or own[0][0] != 1:
            return None
        spans = [self._span(sign, e) for sign, e in rest]
        if any(span is None for span in spans):
            return None
        low = sum(span[0] for span in spans if span)
        high = sum(span[1] for span in spans if span)
        return Offset(rest, low, high, edge) if max(-low, high) <= _WIDEST else None

    def _span(self, sign: int, e: Expr) -> tuple[int, int] | None:
        """The least and greatest value of a literal, or of a loop's variable times a literal."""
        factor = sign
        if isinstance(e, Op) and e.op == "mul":
            numbers = [a for a in e.args if isinstance(a, Const)]
            others = [a for a in e.args if not isinstance(a, Const)]
            if len(numbers) != 1:
                return None
            factor, e = sign * int(numbers[0].value), others[0]
        if isinstance(e, Const):
            return factor * int(e.value), factor * int(e.value)
        if isinstance(e, Var) and self.turns.get(e.name):
            ends = [factor * turn for turn in self.turns[e.name]]
            return min(ends), max(ends)
        return None

    def _inside(self, e: Op, size: str) -> tuple[Expr, str] | None:
        """What a clamp to an axis, or the remainder by its extent, is taken of."""
        if e.op == "mod" and self._is_size(e.args[1], size):
            return e.args[0], "wrap"
        if e.op == "clamp" and _is_zero(e.args[1]) and self._is_last(e.args[2], size):
            return e.args[0], "clamp"
        if e.op in ("min", "max"):
            for bound, other in (e.args, e.args[::-1]):
                if _is_zero(bound) if e.op == "max" else self._is_last(bound, size):
                    return other, "clamp"
        return None

    def _is_size(self, e: Expr, size: str) -> bool:
        if isinstance(e, Extent):
            return self.shapes[e.array.name][e.axis] == size
        return isinstance(e, Var) and self.sized.get(e.name) == size

    def _is_last(self, e: Expr, size: str) -> bool:
        is_less = isinstance(e, Op) and e.op == "sub" and self._is_size(e.args[0], size)
        return is_less and isinstance(e, Op) and _is_one(e.args[1])

    def _is_turns_of(self, e: Expr, size: str) -> bool:
        """Whether a term is the extent, or a multiple of it."""
        if isinstance(e, Op) and e.op == "mul":
            return any(self._is_size(a, size) for a in e.args) and any(
                isinstance(a, Const) for a in e.args
            )
        return self._is_size(e, size)


def _terms(e: Expr, sign: int) -> Iterator[tuple[int, Expr]]:
    if isinstance(e, Op) and e.op in ("add", "sub"):
        yield from _terms(e.args[0], sign)
        yield from _terms(e.args[1], sign if e.op == "add" else -sign)
    else:
        yield sign, e


def _is_zero(e: Expr) -> bool:
    return isinstance(e, Const) and e.value == 0


def _is_one(e: Expr) -> bool:
    return isinstance(e, Const) and e.value == 1


def _around(outer: tuple[Expr, ...], loads: Sequence[tuple[Offset, ...]]) -> Halo | None:
    """The tile that holds all offsets; None where an axis is clamped and wrapped."""
    lows, highs, edges = [], [], []
    for axis in zip(*loads, strict=True):
        kinds = {offset.edge for offset in axis} - {""}
        if len(kinds) > 1:
            return None
        lows.append(min(offset.low for offset in axis))
        highs.append(max(offset.high for offset in axis))
        edges.append(kinds.pop() if kinds else "")
    return Halo(outer, tuple(lows), tuple(highs), tuple(edges))
