"""Which atomics of a kernel many threads aim at few elements with: what can be joined before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from generators.program import ir
from generators.program.dtypes import Array, Scalar, Type
from generators.program.expr import Call, Cast, Const, Expr, Load, Op, Var
from generators.program.walk import expressions, parts, statements
from synth.render.cuda.find.forms import ATOMIC_JOINS, leaves_from_a_loop
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.find.split import fits_by_parts
from synth.render.cuda.types import bytes_of
from validate.row.sizes import evaluate_all, symbols

WARP = 32


@dataclass(frozen=True)
class Target:
    """An array or an element of one, and how updates of it are joined."""

    array: str
    type: Type
    join: str
    shape: tuple[str, ...]

    @property
    def places(self) -> int | None:
        """How many elements there are, where that is the same at all sizes."""
        return None if any(symbols(text) for text in self.shape) else self.places_at({})

    def places_at(self, sizes: Mapping[str, int]) -> int:
        """How many elements there are at sizes by symbol."""
        return prod(evaluate_all(self.shape, sizes))

    @property
    def bytes(self) -> int:
        """Of an element."""
        return bytes_of(self.type)


@dataclass(frozen=True)
class Scatter:
    """Atomics of a kernel by ``id``, each with what it updates.

    ``common``: the same element for all threads; ``bins``: in arrays that nothing but atomics of
    one kind touches, at places that come back all over the launch; ``led``: at places that data
    or other threads share, among them all of ``bins``.
    """

    common: dict[int, Target]
    bins: dict[int, Target]
    led: dict[int, Target]
    meet: dict[int, int]
    """How many neighbouring threads are at one element for each of ``led``, 0 where data says."""

    def joined(self, key: int, kernel: ir.Kernel, sizes: Mapping[str, int]) -> float:
        """Lanes of a warp that meet at one element, where no data say."""
        lanes = self.meet[key]
        assert lanes, "data say where lanes meet"
        if lanes == WARP:
            return float(min(WARP, evaluate_all(kernel.launch_dim, sizes)[-1]))
        return float(lanes)


@remembered
def scattered(kernel: ir.Kernel) -> Scatter | None:
    """The atomics that can be joined, none where threads leave the kernel from within a loop or
    where all of them are at common elements."""
    atomics = [s for s in statements(kernel.body) if isinstance(s, ir.Atomic)]
    if not atomics or leaves_from_a_loop(kernel.body):
        return None
    shapes = {p.name: p.shape for p in kernel.params}
    targets = {id(s): t for s in atomics if (t := _target(s, shapes[s.array.name])) is not None}
    common = _common(atomics, targets)
    others = [s for s in atomics if id(s) in targets and id(s) not in common]
    led = {id(s): targets[id(s)] for s in others}
    found = _Led(kernel)
    coming = {s.array.name for s in others if found.comes_back(s)}
    kinds = Counter(name for name, _ in {(s.array.name, _join(s)) for s in atomics})
    apart = {name for name, count in kinds.items() if count == 1} - _touched_otherwise(kernel)
    bins = {k: t for k, t in led.items() if t.array in coming & apart}
    meet = {id(s): found.meet(s) for s in others}
    return Scatter(common, bins, led, meet) if led else None


@dataclass(frozen=True)
class AxisTotals:
    """Atomics by ``id`` that each sum up over the inner launch dimensions.

    ``outer`` counts the launch dimensions before those; ``own`` are at elements that the threads
    of one outer point alone touch, ``common`` at elements of all threads.
    """

    outer: int
    own: dict[int, Target]
    common: dict[int, Target]


@remembered
def axis_totals(kernel: ir.Kernel) -> AxisTotals | None:
    """The form in which a warp or a block takes the points of one place along the outer axes."""
    atomics = [s for s in statements(kernel.body) if isinstance(s, ir.Atomic)]
    if not atomics or leaves_from_a_loop(kernel.body):
        return None
    shapes = {p.name: p.shape for p in kernel.params}
    targets = {id(s): t for s in atomics if (t := _target(s, shapes[s.array.name])) is not None}
    depths: dict[str, set[int]] = {}
    for s in atomics:
        depths.setdefault(s.array.name, set()).add(_depth(kernel, s) if id(s) in targets else 0)
    same = _same_element(atomics) - _touched_otherwise(kernel)
    inner = range(1, len(kernel.threads))
    found = {name: next(iter(d)) for name, d in depths.items() if name in same and len(d) == 1}
    outer = max((depth for depth in found.values() if depth in inner), default=0)
    if not outer:
        return None
    own = {id(s): targets[id(s)] for s in atomics if found.get(s.array.name) == outer}
    return AxisTotals(outer, own, _common(atomics, targets))


def _same_element(atomics: list[ir.Atomic]) -> set[str]:
    """Arrays of which all atomics are at the same indices and of one kind."""
    kinds = Counter(name for name, _, _ in {(s.array.name, s.indices, _join(s)) for s in atomics})
    return {name for name, count in kinds.items() if count == 1}


def _depth(kernel: ir.Kernel, s: ir.Atomic) -> int:
    """How many of the outermost threads an atomic's indices are, and nothing else; else 0."""
    names = [i.name for i in s.indices if isinstance(i, Var)]
    plain = all(isinstance(i, Var | Const) for i in s.indices)
    depth = len(set(names))
    return depth if plain and set(names) == set(kernel.threads[:depth]) else 0


def _join(s: ir.Atomic) -> str:
    return ATOMIC_JOINS.get(s.op, s.op)


def _target(s: ir.Atomic, shape: tuple[str, ...]) -> Target | None:
    """What an atomic updates, if updates of it can be joined."""
    assert isinstance(s.array.type, Array)
    element = s.array.type.element
    if s.op not in ATOMIC_JOINS or not fits_by_parts(element, ATOMIC_JOINS[s.op]):
        return None
    return Target(s.array.name, element, ATOMIC_JOINS[s.op], shape)


def _common(atomics: list[ir.Atomic], targets: dict[int, Target]) -> dict[int, Target]:
    """Those at elements of literal places, where all that meet there are of one kind."""
    joins: dict[str, set[str]] = {}
    for s in atomics:
        same = all(isinstance(i, Const) for i in s.indices)
        joins.setdefault(s.array.name, set()).add(_join(s) if same else "")
    return {
        id(s): targets[id(s)]
        for s in atomics
        if id(s) in targets and "" not in joins[s.array.name] and len(joins[s.array.name]) == 1
    }


def _touched_otherwise(kernel: ir.Kernel) -> set[str]:
    """Arrays that something else than an atomic reads or writes."""
    found = {s.array.name for s in statements(kernel.body) if isinstance(s, ir.Store)}
    for e in expressions(kernel.body):
        if isinstance(e, Load):
            found.add(e.array.name)
        elif isinstance(e, Var) and isinstance(e.type, Array):
            found.add(e.name)
    return found


class _Led:
    """Which places of a kernel's atomics depend on data."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.times = Counter(
            s.name
            for s in statements(kernel.body)
            if isinstance(s, ir.Assign | ir.AugAssign | ir.SetComponent | ir.Sample)
        )
        self.values = {s.name: s.value for s in statements(kernel.body) if isinstance(s, ir.Assign)}

    def comes_back(self, s: ir.Atomic) -> bool:
        """Whether threads all over the launch meet at the places of an atomic: data says where, or
        the outermost threads all go there."""
        names = {name for index in s.indices for name in self._roots(index, in_rounds=False)}
        if names & set(self.kernel.threads) and "" not in names:
            return len(self.kernel.threads) > 1 and self.kernel.threads[0] not in names
        return "" in names and not names & set(self.kernel.threads)

    def meet(self, s: ir.Atomic) -> int:
        """How many neighbouring threads are at one element, 0 where data says."""
        last = self.kernel.threads[-1]
        among = [self._at_one(index, last) for index in s.indices]
        return 0 if 0 in among and 1 not in among else min(n for n in among if n)

    def _at_one(self, index: Expr, last: str) -> int:
        names = set(self._roots(index))
        if "" in names:
            return 0
        if last not in names:
            return WARP
        value = self._value(index)
        if isinstance(value, Op) and value.op == "floordiv" and isinstance(value.args[1], Const):
            inner = self._value(value.args[0])
            if isinstance(inner, Var) and inner.name == last:
                return int(value.args[1].value)
        return 1

    def _value(self, e: Expr) -> Expr:
        """An expression, or what the variable that it is stands for."""
        while isinstance(e, Var) and self.times[e.name] == 1 and e.name in self.values:
            e = self.values[e.name]
        return e

    def _roots(self, e: Expr, in_rounds: bool = True) -> Iterator[str]:
        """Variables that an index is made of, down to threads; empty for data, and where not
        ``in_rounds`` for remainders, which go through the same places again and again."""
        stack = [e]
        while stack:
            node = stack.pop()
            is_turned = isinstance(node, Op) and node.op == "mod" and not in_rounds
            is_data = isinstance(node, Load | Call) or (isinstance(node, Cast) and _is_float(node))
            if is_turned or is_data:
                yield ""
            elif isinstance(node, Var):
                if self.times[node.name] == 1 and node.name in self.values:
                    stack.append(self.values[node.name])
                else:
                    yield "" if self.times[node.name] else node.name
            else:
                stack.extend(parts(node))


def _is_float(cast: Cast) -> bool:
    return isinstance(cast.value.type, Scalar) and cast.value.type.is_float
