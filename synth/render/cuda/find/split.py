"""Loops of a kernel whose turns can be shared out to the threads of a warp or a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.program import ir
from generators.program.dtypes import BOOL, Mat, Quat, Scalar, Type, Vec, scalar_of
from generators.program.expr import Const, Construct, Expr, Extent, Load, Op, Var
from generators.program.walk import expressions, operands, statements
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.scopes import all_names, defines, names_in

JOINS = {
    "add": "add",
    "sub": "add",
    "min": "min",
    "max": "max",
    "bit_and": "and",
    "bit_or": "or",
    "bit_xor": "xor",
}
"""Ops that an accumulation may use, and what joins the parts of it."""


@dataclass(frozen=True)
class Sum:
    """A variable to which a loop adds, or of which it keeps the least or greatest.

    ``apart``: it holds something before the loop, so that parts are summed up beside it.
    """

    name: str
    type: Type
    join: str
    apart: bool = False


@dataclass(frozen=True)
class SplitLoops:
    """Loops at the top of a kernel whose turns can be shared out to several threads.

    ``sums`` has the accumulations of each loop by its place in the body, empty for a loop that
    stores; ``tail`` is the place of the first statement that one thread alone runs, if any.
    """

    sums: dict[int, list[Sum]]
    tail: int


@remembered
def split_loops(kernel: ir.Kernel) -> SplitLoops | None:
    """The form in which a block or a warp works on each element."""
    body = kernel.body
    sums: dict[int, list[Sum]] = {}
    for place, s in enumerate(body):
        if isinstance(s, ir.For) and is_long(s, first=None):
            found = _sums_of(body, place)
            if found is None and _stores_apart(kernel, s):
                found = []
            if found is not None:
                sums[place] = found
    if not any(sums.values()):
        return None
    effects = [place for place, s in enumerate(body) if place not in sums and has_effects(s)]
    tail = min(effects, default=len(body))
    tail = min([tail, *_read_again(body, max(sums) + 1)])
    if tail < max(sums) or any(isinstance(s, ir.Sample) for s in statements(body)):
        return None
    return SplitLoops(sums, tail) if _leaves_early_only(body, min(sums)) else None


def is_long(loop: ir.For, first: int | None = 0) -> bool:
    """Whether a loop runs over a size: of literal bounds no turn is left for a second thread.

    ``first`` is where it must start, None for any literal.
    """
    start = isinstance(loop.start, Const) and first in (None, loop.start.value)
    return start and loop.step == 1 and isinstance(loop.stop, Var | Extent)


def has_effects(s: ir.Statement) -> bool:
    """Whether a statement writes to memory."""
    return any(isinstance(inner, ir.Store | ir.Atomic) for inner in statements((s,)))


def _read_again(body: ir.Body, first: int) -> list[int]:
    """Places from the first on of statements that read what is written there: behind the last sum
    nothing keeps the others from reading it after one thread has written it."""
    rest = body[first:]
    written = {s.array.name for s in statements(rest) if isinstance(s, ir.Store | ir.Atomic)}
    return [
        place
        for place, s in enumerate(rest, first)
        if any(isinstance(e, Load) and e.array.name in written for e in expressions((s,)))
    ]


def _leaves_early_only(body: ir.Body, first: int) -> bool:
    """Whether threads leave, if they do, before the first loop that they share."""
    return not any(isinstance(s, ir.Return) for s in statements(body[first:]))


def accumulation(s: ir.Statement) -> tuple[str, str, Expr] | None:
    """Variable, op and value of ``v = op(v, value)``."""
    if isinstance(s, ir.AugAssign) and s.op in ("add", "sub"):
        return s.name, s.op, s.value
    if isinstance(s, ir.Assign) and isinstance(s.value, Op) and s.value.op in JOINS:
        first, *others = s.value.args
        for own, other in ((first, others), (others[-1] if others else first, [first])):
            if isinstance(own, Var) and own.name == s.name and len(others) == 1:
                if s.value.op == "sub" and own is not first:
                    continue
                return s.name, s.value.op, other[0]
    return None


def _sums_of(body: ir.Body, place: int) -> list[Sum] | None:
    """What the loop at a place accumulates; None when its turns depend on each other otherwise."""
    loop = body[place]
    assert isinstance(loop, ir.For)
    if any(
        isinstance(s, ir.Break | ir.Return | ir.While | ir.Store | ir.Atomic | ir.Sample)
        for s in statements(loop.body)
    ):
        return None
    found: dict[str, Sum] = {}
    others: list[ir.Statement] = []
    for s in statements(loop.body):
        step = accumulation(s)
        if step is None or defines(loop.body, step[0]):
            others.append(s)
            continue
        name, op, value = step
        join = JOINS[op]
        if name in found and found[name].join != join:
            return None
        found[name] = Sum(name, value.type, join, _starts(body[:place], name, join))
    if not found or not all(fits(s.type, s.join) for s in found.values()):
        return None
    used = {n for s in statements(loop.body) for e in _read(s, found) for n in names_in(e)}
    if used & found.keys() or not _keeps_to_itself(body, place, set(found)):
        return None
    if any(s.apart and not isinstance(s.type, Scalar) for s in found.values()):
        return None
    return list(found.values())


def fits(type_: Type, join: str) -> bool:
    """Whether values of a type can be joined across threads."""
    scalar = scalar_of(type_) if isinstance(type_, Scalar | Vec | Mat | Quat) else BOOL
    if scalar.bits < 32 or (scalar != type_ and join != "add"):
        return False
    return not (scalar.is_float and join in ("and", "or", "xor"))


def fits_by_parts(type_: Type, join: str) -> bool:
    """Whether updates of an element can be joined: of a vector's extremes each component's."""
    if isinstance(type_, Vec) and join in ("min", "max"):
        return fits(type_.scalar, join)
    return fits(type_, join)


def _read(s: ir.Statement, sums: dict[str, Sum]) -> tuple[Expr, ...]:
    step = accumulation(s)
    return (step[2],) if step is not None and step[0] in sums else operands(s)


def _keeps_to_itself(body: ir.Body, place: int, sums: set[str]) -> bool:
    """Whether nothing of a turn is read by the next one, or after the loop."""
    loop = body[place]
    assert isinstance(loop, ir.For)
    made = {
        s.name
        for s in statements(loop.body)
        if isinstance(s, ir.Assign | ir.AugAssign | ir.SetComponent | ir.SetField)
    }
    rest = body[place + 1 :]
    return all(defines(loop.body, name) and defines(rest, name) for name in made - sums)


def _starts(before: Sequence[ir.Statement], name: str, join: str) -> bool:
    """Whether a sum holds more than 0 before the loop: threads that all start there would add it
    once each. Of a least or greatest value they may."""
    if join != "add":
        return join == "xor"
    for earlier in reversed(before):
        if name in all_names(earlier):
            return not (isinstance(earlier, ir.Assign) and _is_zero(earlier.value))
    return True


def _is_zero(e: Expr) -> bool:
    if isinstance(e, Construct):
        return all(_is_zero(a) for a in e.args)
    return isinstance(e, Const) and float(e.value) == 0.0


def _stores_apart(kernel: ir.Kernel, loop: ir.For) -> bool:
    """Whether each turn of a loop only writes elements that no other turn or statement knows."""
    inner = list(statements(loop.body))
    if any(
        isinstance(s, ir.Break | ir.Return | ir.While | ir.Atomic | ir.Sample | ir.For)
        for s in inner
    ):
        return False
    stored = {s.array.name for s in inner if isinstance(s, ir.Store)}
    if not stored or any(accumulation(s) for s in inner if not isinstance(s, ir.Store)):
        return False
    for s in inner:
        if isinstance(s, ir.Store) and not last_is(s.indices, loop.name):
            return False
    for e in expressions(kernel.body):
        if isinstance(e, Load) and e.array.name in stored:
            return False
    outside = [s for s in statements(kernel.body) if isinstance(s, ir.Store | ir.Atomic)]
    if any(s.array.name in stored and s not in inner for s in outside):
        return False
    place = next(k for k, s in enumerate(kernel.body) if s is loop)
    return _keeps_to_itself(kernel.body, place, set())


def last_is(indices: Sequence[Expr], name: str) -> bool:
    """Whether the last index is a variable of that name."""
    last = indices[-1]
    return isinstance(last, Var) and last.name == name
