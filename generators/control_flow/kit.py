"""What the control-flow idioms share: further outputs, threads that end early, tables by rows."""

from __future__ import annotations

from typing import Any

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.kit.sites import Names, Site, over
from generators.kit.sources import zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, Type
from generators.program.expr import Const, Expr, Op, Operand, Var, literal, op


def index(*indices: Operand) -> tuple[Operand, ...]:
    """An index of several parts."""
    return indices


def both(*parts: Expr) -> Expr:
    """Whether all of these hold."""
    first, *rest = parts
    return both(op("and", first, rest[0]), *rest[1:]) if rest else first


def some(*parts: Expr) -> Expr:
    """Whether one of these holds."""
    first, *rest = parts
    return some(op("or", first, rest[0]), *rest[1:]) if rest else first


def same(a: Expr, b: Operand) -> Expr:
    return fn("eq", a, b)


def minus(value: Expr) -> Expr:
    """A value negated; a literal stays one."""
    if not isinstance(value, Const):
        return -value
    number = int(value.value) if value.type.is_int else float(value.value)
    return literal(-number, value.type)


def counter(b: BodyBuilder, names: Names, type_: Type = INT32) -> Var:
    """A local that begins at zero."""
    return b.let(names, zero(type_))


def some_type(k: KernelBuilder, share: float, whole: str) -> Scalar:
    """With that chance one of these types of whole numbers, else a float."""
    if k.draw.shape.chance(share):
        return Scalar(k.draw.shape.choice(whole.split()))
    return k.draw.wide_float_type()


class Also:
    """A further output, there with some chance; where it is not, all calls do nothing."""

    def __init__(
        self, s: Site, share: float, names: Names, type_: Scalar = INT32, more: Names = ()
    ) -> None:
        self.s, self.type = s, type_
        wanted = s.k.draw.shape.chance(share)
        self.out = s.array(names, type_, more=more, role="out") if wanted else None
        self.value: Var | None = None

    def __bool__(self) -> bool:
        return self.out is not None

    @property
    def name(self) -> str:
        return "" if self.out is None else self.out.name

    def start(self, names: Names, value: Operand = 0) -> None:
        """The local in which the result is kept."""
        if self:
            self.value = self.s.k.let(names, self.s.k.lift(value, self.type))

    def add(self, value: Operand = 1) -> None:
        if self.value is not None:
            self.s.k.augment(self.value, "add", value)

    def put(self, value: Operand, *at: Operand) -> None:
        """Store a value, in a part of this thread's element where an index is given."""
        if self.out is not None:
            self.s.k.store(self.out, self.s.index(*at), value)

    def said(self, text: str) -> str:
        """The sentence on what it gets, after a blank."""
        return f" {self.name} gets {text}." if self else ""

    def told(self, text: str, value: Operand | None = None) -> str:
        """Store the value, the local if none is given, and say so."""
        found = self.value if value is None else value
        if found is not None:
            self.put(found)
        return self.said(text)


def leave(s: Site, test: Expr, *marks: tuple[Also | Var | None, Operand]) -> None:
    """Threads for which a test holds store these values and end."""
    with s.k.if_(test):
        for out, value in marks:
            array = out.out if isinstance(out, Also) else out
            if array is not None:
                s.k.store(array, s.at, value)
        s.k.return_()


STOP, NEXT = "break", "continue"
"""Steps that end a loop, or one turn of it."""

Case = tuple[Any, ...]
"""A condition (None for all else), then the steps that are taken where it holds."""

Step = tuple[Var | Also | None, Operand] | list[Case] | str
"""A local and its new value, a further output and what it rises by, cases, ``STOP`` or ``NEXT``."""


def move(b: BodyBuilder, var: Var, value: Operand) -> None:
    """Give a local a new value: ``x += y`` where that is ``x + y``."""
    ops = {"add", "sub", "mul"}
    if isinstance(value, Op) and value.op in ops and value.args[0] == var:
        b.augment(var, value.op, value.args[1])
    else:
        b.assign(var, value)


def take(b: BodyBuilder, *steps: Step) -> None:
    """Take steps in order; those of the first case that holds where there is a list of cases."""
    for step in steps:
        if isinstance(step, list):
            branch(b, *step)
        elif isinstance(step, str):
            (b.break_ if step == STOP else b.continue_)()
        elif isinstance(step[0], Also):
            step[0].add(step[1])
        elif step[0] is not None:
            move(b, step[0], step[1])


def branch(b: BodyBuilder, *cases: Case) -> None:
    """Take the steps of the first case that holds."""
    for number, (test, *steps) in enumerate(cases):
        with b.else_() if test is None else (b.elif_ if number else b.if_)(test):
            take(b, *steps)


def own_length(s: Site, count: Expr, share: float, what: str) -> tuple[Expr, str]:
    """Where a row ends: at ``count``, or with that chance at a length of its own; a sentence."""
    if not s.k.draw.shape.chance(share):
        return count, ""
    lengths = s.read("lengths num_valid", INT32, init="index_of:cols+4")
    stop = s.k.let("stop last", fn("min", lengths, count))
    return stop, f" Only the first {say(s.k, lengths)} {what} of a row count."


def rows_of(
    k: KernelBuilder,
    names: Names,
    type_: Scalar,
    low: float,
    high: float,
    count: Names = "num_cols length width row_length",
    rows: tuple[int, int] = (24, 40),
    fewest: int = 1,
    cols: str = "cols",
) -> tuple[Site, Var, Var]:
    """A thread for each row of a table; also the table, and how many columns it has, ``fewest`` at
    least."""
    s = over(k, "rows", (k.draw.word.choice(["row", "r", "i"]),), (rows,))
    k.size(cols, 7, 12, minimum=fewest)
    return s, s.array(names, type_, low, high, more=cols), k.size_param(count, cols)
