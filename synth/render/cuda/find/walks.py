"""Loops in which each thread walks along a row of its own: neighbouring threads are a row apart, so
that loads of one element each ask for a line of the cache for each thread.

A thread that reads several elements of its row at once asks as much less often. The turns stay in
their order, so that anything may depend on the turn before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generators.program import ir
from generators.program.dtypes import Array, Type
from generators.program.expr import Const, Expr, Extent, Load, Op, Var
from generators.program.walk import expressions, operands, parts, statements
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.scopes import names_in
from synth.render.cuda.types import size_of

WIDEST_LOAD = 16
"""Bytes."""

_WORD = 4
_WIDTHS = (2, 4, 8, 16)
_MOST_BYTES_HELD = 192
"""Of the vectors of all arrays of a loop: more do not stay in registers."""
_MOST_STATEMENTS = 64
"""Of a loop's body times its turns side by side: more are not read by anybody."""


@dataclass(frozen=True)
class Along:
    """An array that a loop goes along: its last index is the loop's variable."""

    array: Var
    indices: tuple[Expr, ...]
    element: Type


@dataclass(frozen=True)
class Walk:
    """What a loop reads and writes along one row, ``width`` elements at a time. All arrays have
    their rows at the same distances, so that a vector of one starts where one of each other does;
    what is read and written is in both."""

    width: int
    loaded: tuple[Along, ...]
    stored: tuple[Along, ...]
    whole: frozenset[str]
    """Of these arrays the names of those that the loop accesses nowhere else."""

    @property
    def arrays(self) -> tuple[Along, ...]:
        """Each once."""
        return tuple(dict.fromkeys((*self.loaded, *self.stored)))


@remembered
def walks(kernel: ir.Kernel) -> dict[int, Walk]:
    """The loops of a kernel that can go along rows in vectors, by ``id`` of the loop."""
    known = dict(zip(kernel.threads, kernel.launch_dim, strict=True))
    return dict(_walked(kernel, kernel.body, known))


def rows_along(kernel: ir.Kernel, loop: ir.For) -> tuple[list[Along], list[Along]] | None:
    """What a loop at the top of a kernel reads ahead and writes along rows of each thread's own;
    None where it does not go from the first turn to a size."""
    count = _count(kernel, loop.stop) if _goes_up(loop) else None
    if count is None:
        return None
    known = dict(zip(kernel.threads, kernel.launch_dim, strict=True))
    return _Loop(kernel, loop, {**known, loop.name: count}).rows()


def _walked(kernel: ir.Kernel, body: ir.Body, around: dict[str, str]) -> Iterator[tuple[int, Walk]]:
    """Walks of a body, the inner ones of loops in each other; ``around`` has the counts of the
    variables around it."""
    for s in body:
        if isinstance(s, ir.If):
            for inner in (*(b for _, b in s.branches), s.orelse):
                yield from _walked(kernel, inner, around)
        elif isinstance(s, ir.While):
            yield from _walked(kernel, s.body, around)
        elif isinstance(s, ir.For):
            count = _count(kernel, s.stop) if _goes_up(s) else None
            known = around if count is None else {**around, s.name: count}
            found = list(_walked(kernel, s.body, known))
            yield from found
            walk = None if found or count is None else _Loop(kernel, s, known).walk()
            if walk is not None:
                yield id(s), walk


def of_its_own(body: ir.Body) -> Iterator[ir.Statement]:
    """Statements of a loop's body without those of loops within it."""
    for s in body:
        yield s
        if isinstance(s, ir.If):
            for inner in (*(b for _, b in s.branches), s.orelse):
                yield from of_its_own(inner)


def _goes_up(loop: ir.For) -> bool:
    """Whether a loop starts at a literal that is no place before the first, and takes each turn."""
    return loop.step == 1 and isinstance(loop.start, Const) and int(loop.start.value) >= 0


def _count(kernel: ir.Kernel, stop: Expr) -> str | None:
    """The size expression that a loop runs up to."""
    if isinstance(stop, Extent):
        return next(p.shape for p in kernel.params if p.name == stop.array.name)[stop.axis]
    if isinstance(stop, Var):
        inits = (p.init for p in kernel.params if p.name == stop.name)
        word, _, expression = next(inits, "").partition(":")
        return expression if word == "size" else None
    return None


class _Loop:
    """One loop of a kernel, as far as vectors ask; ``around`` has the counts of the thread's places
    and of loops, this one's too."""

    def __init__(self, kernel: ir.Kernel, loop: ir.For, around: Mapping[str, str]) -> None:
        self.kernel, self.loop, self.around = kernel, loop, around
        self.inner = list(statements(loop.body))
        self.shapes = {p.name: p.shape for p in kernel.params}
        self.made = {s.name for s in self.inner if isinstance(s, ir.Assign | ir.AugAssign)}
        self.touched = self._touched()

    def rows(self) -> tuple[list[Along], list[Along]] | None:
        """What is read ahead, and what every turn writes; None where a turn does more than that."""
        if any(isinstance(s, ir.Return | ir.Atomic | ir.Sample) for s in self.inner):
            return None
        stored = self._stored()
        return self._loaded(stored), stored

    def walk(self) -> Walk | None:
        """What goes in vectors: of arrays whose rows lie alike those that most bytes are of."""
        rows = self.rows()
        if rows is None:
            return None
        loaded, stored = rows
        alike: dict[tuple[object, ...], list[Along]] = {}
        for a in dict.fromkeys((*loaded, *stored)):
            key = (a.indices[:-1], self.shapes[a.array.name][1:])
            alike.setdefault(key, []).append(a)
        if not alike:
            return None
        group = max(alike.values(), key=lambda each: sum(size_of(a.element) for a in each))
        width = _width([size_of(a.element) for a in group], len(self.inner))
        whole = {a.array.name for a in group if self.touched[a.array.name] == {a.indices}}
        reads, writes = (tuple(a for a in each if a in group) for each in (loaded, stored))
        return Walk(width, reads, writes, frozenset(whole)) if width > 1 else None

    def _touched(self) -> dict[str, set[tuple[Expr, ...]]]:
        """The places of each array that the loop accesses; of one given as a whole ``()``."""
        found: dict[str, set[tuple[Expr, ...]]] = {}
        for e in expressions(self.loop.body):
            if isinstance(e, Load):
                found.setdefault(e.array.name, set()).add(e.indices)
            elif isinstance(e, Op):
                for a in e.args:
                    if isinstance(a, Var) and isinstance(a.type, Array):
                        found.setdefault(a.name, set()).add(())
        for s in self.inner:
            if isinstance(s, ir.Store):
                found.setdefault(s.array.name, set()).add(s.indices)
        return found

    def _along(self, array: Var, indices: tuple[Expr, ...]) -> Along | None:
        """The array as one that the loop goes along, on a row for each lane."""
        last, before = indices[-1], indices[:-1]
        name = self.loop.name
        if not isinstance(last, Var) or last.name != name or not isinstance(array.type, Array):
            return None
        if self.shapes[array.name][-1] != self.around[name]:
            return None
        names = {n for i in before for n in names_in(i)}
        if self.kernel.threads[-1] not in names or names & self.made:
            return None
        if any(isinstance(part, Load) for i in before for part in _all(i)):
            return None
        return Along(array, indices, array.type.element)

    def _loaded(self, stored: Sequence[Along]) -> list[Along]:
        """Arrays to read ahead: rows that are there whether or not a turn asks for its element, and
        that the loop writes in vectors or not at all."""
        written = {s.array.name for s in self.inner if isinstance(s, ir.Store)}
        found: dict[Along, None] = {}
        for s, always in _certain(self.loop.body):
            read = [e for tree in operands(s) for e in _all(tree) if isinstance(e, Load)]
            places = [(e.array, e.indices) for e in read]
            if isinstance(s, ir.Store) and s.op:
                places.append((s.array, s.indices))
            for array, indices in places:
                a = self._along(array, indices)
                if a is None or not (always or self._is_there(a)):
                    continue
                if a.array.name not in written or a in stored:
                    found[a] = None
        return list(found)

    def _is_there(self, a: Along) -> bool:
        """Whether the array has a row for every thread and turn."""
        shape = self.shapes[a.array.name]
        return all(
            isinstance(i, Var) and self.around.get(i.name) == extent
            for i, extent in zip(a.indices, shape, strict=True)
        )

    def _stored(self) -> list[Along]:
        """Arrays that every turn writes once, and touches nowhere else."""
        if any(isinstance(s, ir.Continue | ir.Break) for s in of_its_own(self.loop.body)):
            return []
        stores = [s for s in self.inner if isinstance(s, ir.Store)]
        found = []
        for s in stores:
            a = self._along(s.array, s.indices)
            alone = sum(t.array.name == s.array.name for t in stores) == 1
            always = any(s is own for own in self.loop.body)
            if a is not None and alone and always and self.touched[s.array.name] == {s.indices}:
                found.append(a)
        return found


def _certain(body: ir.Body, always: bool = True) -> Iterator[tuple[ir.Statement, bool]]:
    """Statements of a loop's body, and whether each turn comes to them."""
    for s in body:
        yield s, always
        if isinstance(s, ir.If):
            for inner in (*(b for _, b in s.branches), s.orelse):
                yield from _certain(inner, False)
            leaves = (isinstance(t, ir.Continue | ir.Break) for t in of_its_own((s,)))
            always = always and not any(leaves)


def _width(sizes: list[int], count: int) -> int:
    """Elements that fill the widest loads, 1 where each does so by itself or they do not fit."""
    wide = [size for size in sizes if size >= _WORD] or sizes
    width = max(next(w for w in (1, *_WIDTHS) if size * w % WIDEST_LOAD == 0) for size in wide)
    while width > 1 and (width * sum(sizes) > _MOST_BYTES_HELD or width * count > _MOST_STATEMENTS):
        width //= 2
    return width


def _all(e: Expr) -> list[Expr]:
    return [e, *(inner for part in parts(e) for inner in _all(part))]
