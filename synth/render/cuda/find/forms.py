"""Which forms beyond one thread an element a kernel has: found in its program, not guessed.

Each finder gives what its style needs to know, or None where the kernel has no such form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generators.program import ir
from generators.program.dtypes import INT32, Array, Scalar, Struct, Type, Vec
from generators.program.expr import Const, Expr, Extent, Load, Op, Var
from generators.program.walk import expressions, mentions, operands, statements
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.find.split import Sum, fits_by_parts, has_effects, is_long
from synth.render.cuda.scopes import names_in
from synth.render.cuda.types import size_of
from validate.row.sizes import evaluate

ATOMIC_JOINS = {"add": "add", "sub": "add", "min": "min", "max": "max"} | {
    name: name for name in ("and", "or", "xor")
}


@remembered
def common_targets(kernel: ir.Kernel) -> dict[int, Sum] | None:
    """Atomics, by id, whose element is the same for all threads, each with a name for its part."""
    found: dict[int, Sum] = {}
    targets: dict[tuple[str, tuple[Expr, ...]], str] = {}
    for s in statements(kernel.body):
        if not isinstance(s, ir.Atomic):
            continue
        element = s.array.type.element if isinstance(s.array.type, Array) else None
        if not all(isinstance(i, Const) for i in s.indices) or s.op not in ATOMIC_JOINS:
            return None
        join = ATOMIC_JOINS[s.op]
        if not isinstance(element, Scalar | Vec) or not fits_by_parts(element, join):
            return None
        if targets.setdefault((s.array.name, s.indices), s.op) != s.op:
            return None
        found[id(s)] = Sum(s.array.name, element, join)
    several = len({s.name for s in found.values()}) < len(targets)
    return None if not found or several or leaves_from_a_loop(kernel.body) else found


def leaves_from_a_loop(body: ir.Body) -> bool:
    """Whether a thread leaves a kernel from within a loop."""
    loops = [s for s in statements(body) if isinstance(s, ir.For | ir.While)]
    return any(isinstance(s, ir.Return) for loop in loops for s in statements(loop.body))


@dataclass(frozen=True)
class Elementwise:
    """A kernel that writes nothing but the element of each thread, so that a thread can take
    neighbouring elements at once.

    ``arrays`` are accessed at the thread's own place and nowhere else; ``lines`` are inputs that
    the last thread index alone counts; ``rows`` have so many scalars for each thread.
    ``flat``: places in the launch matter no further, so that one number counts all elements.
    ``loaded`` are outputs that some threads do not write, or read. ``width`` is how many elements
    fill loads of 16 bytes, 1 where each does so by itself.
    """

    arrays: tuple[str, ...]
    lines: tuple[str, ...]
    rows: Mapping[str, int]
    flat: bool
    loaded: frozenset[str]
    width: int


_LONGEST_ROW = 16
"""Scalars of a row that a thread can keep in registers."""

_MOST_AXES = 3
"""Of a grid."""

_MOST_BYTES_HELD = 192
"""Of all vectors of a thread: more do not stay in registers."""

_WORD_BYTES = 4


@remembered
def elementwise(kernel: ir.Kernel) -> Elementwise | None:
    """The form in which a thread works on a vector of neighbouring elements."""
    if any(isinstance(s, ir.Atomic) for s in statements(kernel.body)) or _turns_often(kernel.body):
        return None
    own = tuple(Var(name, INT32) for name in kernel.threads)
    places = _places(kernel.body)
    written = {s.array.name for s in statements(kernel.body) if isinstance(s, ir.Store)}
    arrays, lines = [], []
    rows: dict[str, int] = {}
    for p in kernel.params:
        if not isinstance(p.type, Array) or p.name not in places:
            continue
        if places[p.name] == {own} and p.shape == kernel.launch_dim:
            arrays.append(p)
        elif _is_of_rows(kernel, p, places[p.name]):
            rows[p.name] = int(p.shape[-1])
        elif p.name in written:
            return None
        elif places[p.name] == {own[-1:]} and p.shape == kernel.launch_dim[-1:]:
            lines.append(p)
    names = tuple(p.name for p in arrays), tuple(p.name for p in lines)
    found = _elementwise(kernel, names, rows)
    if found is None or found.width > 1 or not rows or rows.keys() & written:
        return found
    # Inputs of rows that leave no room for vectors are read where they are.
    return _elementwise(kernel, names, {})


def _elementwise(
    kernel: ir.Kernel, names: tuple[tuple[str, ...], tuple[str, ...]], rows: Mapping[str, int]
) -> Elementwise | None:
    """The form, if there is one, of a kernel that keeps these arrays, lines and rows at hand."""
    arrays, lines = names
    written = {s.array.name for s in statements(kernel.body) if isinstance(s, ir.Store)}
    held = {*arrays, *lines, *rows}
    flat = len(kernel.threads) == 1 or not (lines or _asks_for_places(kernel, held))
    has_rows = len(kernel.threads) <= _MOST_AXES and not kernel.launch_dim[-1].isdigit()
    if not written or not (flat or has_rows):
        return None
    elements = {p.name: p.type.element for p in kernel.params if isinstance(p.type, Array)}
    if any(_has_gaps(elements[name]) for name in held):
        return None
    width = _width([size_of(elements[name]) * rows.get(name, 1) for name in sorted(held)])
    loaded = frozenset(
        name
        for name in written
        if (
            not _fills_row(kernel.body, name, rows[name])
            if name in rows
            else _needs_old(kernel.body, name)
        )
    )
    return Elementwise(arrays, lines, rows, flat, loaded, width)


def _has_gaps(element: Type) -> bool:
    """Whether a struct has padding: it is copied field by field, whatever vector it lies in."""
    if not isinstance(element, Struct):
        return False
    fields = [t for _, t in element.fields]
    return size_of(element) > sum(size_of(t) for t in fields) or any(_has_gaps(t) for t in fields)


def _is_of_rows(kernel: ir.Kernel, p: ir.Param, places: set[tuple[Expr, ...]]) -> bool:
    """Whether an array has a row of a few scalars for each thread, and the thread reads no other:
    at literals, or in loops that can be unrolled."""
    *outer, count = p.shape
    if tuple(outer) != kernel.launch_dim or not count.isdigit() or int(count) > _LONGEST_ROW:
        return False
    loops = {s.name: s for s in statements(kernel.body) if isinstance(s, ir.For)}
    own = tuple(Var(name, INT32) for name in kernel.threads)
    for *first, last in places:
        loop = loops.get(last.name) if isinstance(last, Var) else None
        turns = loop is not None and isinstance(loop.start, Const) and isinstance(loop.stop, Const)
        if tuple(first) != own or not (turns or isinstance(last, Const)):
            return False
    return isinstance(p.type, Array) and isinstance(p.type.element, Scalar)


def _turns_often(body: ir.Body) -> bool:
    """Whether loops over sizes, not memory, take a kernel's time."""
    return any(isinstance(s, ir.For) and is_long(s, first=None) for s in statements(body))


def _places(body: ir.Body) -> dict[str, set[tuple[Expr, ...]]]:
    """Where each array is accessed; an array given as a whole has the place ``()``."""
    found: dict[str, set[tuple[Expr, ...]]] = {}
    for e in expressions(body):
        if isinstance(e, Load):
            found.setdefault(e.array.name, set()).add(e.indices)
        elif isinstance(e, Op):
            for a in e.args:
                if isinstance(a, Var) and isinstance(a.type, Array):
                    found.setdefault(a.name, set()).add(())
    for s in statements(body):
        if isinstance(s, ir.Store):
            found.setdefault(s.array.name, set()).add(s.indices)
    return found


def _asks_for_places(kernel: ir.Kernel, held: set[str]) -> bool:
    """Whether a body asks for thread indices other than to access arrays at its own place."""
    for s in statements(kernel.body):
        values = (s.value,) if isinstance(s, ir.Store) else operands(s)
        for name in kernel.threads:
            if any(mentions(e, name, lambda load: load.array.name in held) for e in values):
                return True
    return False


def _width(sizes: Sequence[int]) -> int:
    """Elements with which all but the smallest, in bytes, fill 16 or a multiple of it."""
    wide = [size for size in sizes if size >= _WORD_BYTES] or sizes
    fitting = [next(w for w in (1, 2, 4, 8, 16) if size * w % 16 == 0) for size in wide]
    width = max(fitting, default=1)
    while width > 1 and width * sum(sizes) > _MOST_BYTES_HELD:
        width //= 2
    return width


def _needs_old(body: ir.Body, name: str) -> bool:
    """Whether an output's element is read, or left as it is on some path."""
    if any(isinstance(e, Load) and e.array.name == name for e in expressions(body)):
        return True
    if any(isinstance(s, ir.Store) and s.array.name == name and s.op for s in statements(body)):
        return True
    return _writes(body, name) is not True


def _fills_row(body: ir.Body, name: str, count: int) -> bool:
    """Whether every thread writes all of its row before it reads of it, or leaves."""
    filled: set[int] = set()
    for s in body:
        reads = any(isinstance(e, Load) and e.array.name == name for e in expressions((s,)))
        if reads or any(isinstance(inner, ir.Return) for inner in statements((s,))):
            break
        filled |= _filled_by(s, name)
    return len(filled) == count


def _filled_by(s: ir.Statement, name: str) -> set[int]:
    """Places of a row that a statement writes for certain: itself, or in a loop over literals."""
    inner: ir.Body = (s,)
    turns: Mapping[str, range] = {}
    if isinstance(s, ir.For) and isinstance(s.start, Const) and isinstance(s.stop, Const):
        if any(isinstance(t, ir.Break | ir.Continue) for t in statements(s.body)):
            return set()
        inner, turns = s.body, {s.name: range(int(s.start.value), int(s.stop.value), s.step)}
    filled: set[int] = set()
    for store in inner:
        if isinstance(store, ir.Store) and store.array.name == name and not store.op:
            last = store.indices[-1]
            if isinstance(last, Const):
                filled.add(int(last.value))
            elif isinstance(last, Var):
                filled.update(turns.get(last.name, ()))
    return filled


def _writes(body: ir.Body, name: str) -> bool | None:
    """Whether every way through a body writes the element before a thread leaves; None where a
    thread that has not written it goes on."""
    for s in body:
        if isinstance(s, ir.Store) and s.array.name == name:
            return True
        if isinstance(s, ir.Return):
            return False
        if isinstance(s, ir.If):
            ways = [_writes(inner, name) for inner in (*(b for _, b in s.branches), s.orelse)]
            if False in ways or None not in ways:
                return False not in ways
        elif isinstance(s, ir.For | ir.While) and any(
            isinstance(inner, ir.Return) for inner in statements(s.body)
        ):
            return False
    return None


@dataclass(frozen=True)
class Staged:
    """A loop at the top of a kernel whose inputs a block can share through tiles.

    ``place`` is that of the loop in the body; ``arrays`` maps the arrays to stage to the kind of
    their index: ``line`` (``a[k]``), ``row`` (``a[.., y, k]``), ``column`` (``a[.., k, x]``) or
    ``cross`` (``a[.., x, k]``), with the loop's variable ``k`` and threads ``y`` and ``x``.
    """

    place: int
    arrays: dict[str, str]


@remembered
def staged(kernel: ir.Kernel) -> Staged | None:
    """The form in which a block loads tiles of inputs into shared memory."""
    loops = [k for k, s in enumerate(kernel.body) if isinstance(s, ir.For) and is_long(s)]
    if len(loops) != 1 or len(kernel.threads) == 4:
        return None
    place = loops[0]
    loop = kernel.body[place]
    assert isinstance(loop, ir.For)
    if not _same_for_all(kernel, loop.stop):
        return None
    leaving = (ir.Break, ir.Return, ir.Store, ir.Atomic)
    if any(isinstance(s, leaving) for s in statements(loop.body)):
        return None
    if any(isinstance(s, ir.Return) or has_effects(s) for s in statements(kernel.body[:place])):
        return None
    arrays = _stageable(kernel, loop)
    return Staged(place, arrays) if arrays else None


def _same_for_all(kernel: ir.Kernel, stop: Expr) -> bool:
    """Whether all threads of a block take as many turns: else some would miss the barriers."""
    params = {p.name for p in kernel.params if isinstance(p.type, Scalar)}
    return isinstance(stop, Extent) or (isinstance(stop, Var) and stop.name in params)


def _stageable(kernel: ir.Kernel, loop: ir.For) -> dict[str, str]:
    inputs = {p.name for p in kernel.params if p.role == "in"}
    found: dict[str, str | None] = {}
    for e in expressions(loop.body):
        if isinstance(e, Load) and e.array.name in inputs:
            kind = tile_kind(e.indices, loop.name, kernel.threads)
            if kind is not None and found.get(e.array.name, kind) == kind:
                found[e.array.name] = kind
            elif loop.name in {n for i in e.indices for n in names_in(i)}:
                found[e.array.name] = None
    return {name: kind for name, kind in found.items() if kind is not None}


def tile_kind(indices: Sequence[Expr], loop: str, threads: Sequence[str]) -> str | None:
    """How a tile holds the elements that a turn of a loop reads there; None where none does."""
    names = [i.name if isinstance(i, Var) else "" for i in indices]
    if names.count(loop) != 1 or "" in names:
        return None
    if names == [loop]:
        return "line"
    if len(threads) < 2:
        return None
    *outer, y, x = threads
    kinds = {("row", y, loop), ("column", loop, x), ("cross", x, loop)}
    for kind, first, second in kinds:
        if (
            names[-2:] == [first, second]
            and names[:-2] == list(outer)[len(outer) + 2 - len(names) :]
        ):
            return kind
    return None


def turns_of(kernel: ir.Kernel, loop: ir.For, sizes: Mapping[str, int]) -> int:
    """How often a loop over a size turns: up to an extent, or a parameter that holds a size; 1
    where the bound is no size."""
    for p in kernel.params:
        if isinstance(loop.stop, Extent) and loop.stop.array.name == p.name:
            return evaluate(p.shape[loop.stop.axis], sizes)
        if isinstance(loop.stop, Var) and loop.stop.name == p.name and p.init.startswith("size:"):
            return evaluate(p.init.partition(":")[2], sizes)
    return 1
