"""Which forms beyond one thread an element a kernel has: found in its program, not guessed.

Each finder gives what its style needs to know, or None where the kernel has no such form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generators.program import ir
from generators.program.dtypes import BOOL, Array, Scalar
from generators.program.expr import Const, Expr, Extent, Load, Op, Var
from generators.program.walk import expressions, statements
from synth.render.cuda.scopes import names_in
from synth.render.cuda.split import Sum, fits, has_effects, is_long, last_is

ATOMIC_JOINS = {"add": "add", "sub": "add", "min": "min", "max": "max"} | {
    name: name for name in ("and", "or", "xor")
}


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
        if element is None or not isinstance(element, Scalar) or not fits(element, join):
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
    """A kernel that reads and writes nothing but element ``i`` of its arrays in thread ``i``."""

    width: int
    """Elements to a vector load that every array's type has."""


def elementwise(kernel: ir.Kernel) -> Elementwise | None:
    """The form in which a thread works on a vector of neighbouring elements."""
    if len(kernel.threads) != 1 or any(
        isinstance(s, ir.Return | ir.Atomic | ir.Sample) for s in statements(kernel.body)
    ):
        return None
    thread = kernel.threads[0]
    for indices in _accesses(kernel.body):
        if len(indices) != 1 or not last_is(indices, thread):
            return None
    if any(isinstance(e, Extent) for e in expressions(kernel.body)):
        return None
    arrays = [p for p in kernel.params if isinstance(p.type, Array)]
    widths = [_width(p.type.element) for p in arrays if isinstance(p.type, Array)]
    if any(p.shape != kernel.launch_dim for p in arrays) or not all(widths):
        return None
    for p in arrays:
        if p.role == "out" and not _stored_once(kernel.body, p.name):
            return None
    return Elementwise(min(widths))


def _accesses(body: ir.Body) -> Iterator[tuple[Expr, ...]]:
    for e in expressions(body):
        if isinstance(e, Load):
            yield e.indices
        elif isinstance(e, Op) and any(isinstance(a.type, Array) for a in e.args):
            yield ()
    for s in statements(body):
        if isinstance(s, ir.Store):
            yield s.indices


def _width(element: object) -> int:
    if not isinstance(element, Scalar) or element == BOOL or element.name == "float16":
        return 0
    return 2 if element.bits == 64 else 4


def _stored_once(body: ir.Body, name: str) -> bool:
    everywhere = [s for s in statements(body) if isinstance(s, ir.Store) and s.array.name == name]
    read = any(isinstance(e, Load) and e.array.name == name for e in expressions(body))
    return len(everywhere) == 1 and everywhere[0] in body and not everywhere[0].op and not read


@dataclass(frozen=True)
class Staged:
    """A loop at the top of a kernel whose inputs a block can share through tiles.

    ``place`` is that of the loop in the body; ``arrays`` maps the arrays to stage to the kind of
    their index: ``line`` (``a[k]``), ``row`` (``a[.., y, k]``), ``column`` (``a[.., k, x]``) or
    ``cross`` (``a[.., x, k]``), with the loop's variable ``k`` and threads ``y`` and ``x``.
    """

    place: int
    arrays: dict[str, str]


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
            kind = _tile_kind(e.indices, loop.name, kernel.threads)
            if kind is not None and found.get(e.array.name, kind) == kind:
                found[e.array.name] = kind
            elif loop.name in {n for i in e.indices for n in names_in(i)}:
                found[e.array.name] = None
    return {name: kind for name, kind in found.items() if kind is not None}


def _tile_kind(indices: Sequence[Expr], loop: str, threads: Sequence[str]) -> str | None:
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
