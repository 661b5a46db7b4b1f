"""The body of a function or kernel, built statement by statement; and small expression helpers."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from generators.build.draw import Draw
from generators.build.siblings import matching
from generators.program import ir
from generators.program.dtypes import BOOL, INT32, Array, Mat, Quat, Scalar, Struct, Transform, Type
from generators.program.expr import (
    Cast,
    Component,
    Const,
    Construct,
    Expr,
    Extent,
    Field,
    Load,
    Op,
    Operand,
    Var,
    literal,
)
from generators.program.expr import op as op_node
from generators.program.samplers import SAMPLERS

Index = Operand | tuple[Operand, ...]


class BodyBuilder:
    """Collects the statements of one function or kernel body; blocks nest by ``with``."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.used: set[str] = {*ir.RESERVED, *keyword.kwlist, "dim", "thread"}
        self._again: set[str] = set()
        self._blocks: list[list[ir.Statement]] = [[]]

    def name(self, *candidates: str) -> str:
        """A name not used yet: one of the candidates, drawn, numbered only when all are taken.

        A text may hold several candidates: ``name("total acc")`` is ``name("total", "acc")``.
        """
        candidates = tuple(word for text in candidates for word in text.split())
        free = [c for c in candidates if c not in self.used]
        if free:
            # x_re, then x_im and not im_part: parts of one thing are called alike.
            same = [c for c in free if c in self._again]
            chosen = self.draw.word.choice(same or matching(free, self.used) or free)
        else:
            base = self.draw.word.choice(candidates)
            chosen = next(f"{base}{k}" for k in range(2, 100) if f"{base}{k}" not in self.used)
        self.used.add(chosen)
        return chosen

    def again(self, before: set[str], *kept: str) -> None:
        """Free the names since ``before`` for a second pass, which calls all as the first did."""
        self._again = self.used - before - {*kept}
        self.used -= self._again

    def emit(self, statement: ir.Statement) -> None:
        self._blocks[-1].append(statement)

    def let(self, name: str | Sequence[str], value: Expr) -> Var:
        """Declare a local variable; ``name`` is one candidate or several."""
        candidates = (name,) if isinstance(name, str) else tuple(name)
        var = Var(self.name(*candidates), value.type)
        self.emit(ir.Assign(var.name, value))
        return var

    def meaning(self, var: Var) -> Expr | None:
        """What a local was read from: an element, a field or a literal; None for all others."""
        written = [s for block in self._blocks for s in block if isinstance(s, ir.Assign)]
        values = [s.value for s in written if s.name == var.name]
        if len(values) != 1 or not isinstance(values[0], Load | Field | Const):
            return None
        return values[0]

    def assign(self, var: Var, value: Operand) -> None:
        self.emit(ir.Assign(var.name, self.lift(value, var.type)))

    def augment(self, var: Var, op: str, value: Operand) -> None:
        """``var op= value`` with op add, sub, mul or div."""
        self.emit(ir.AugAssign(var.name, op, self.lift(value, var.type)))

    def set(self, var: Var, index: Index, value: Operand, op: str = "") -> None:
        """Write a component of a local vector or matrix."""
        target = var[index]
        assert isinstance(target, Component)
        self.emit(ir.SetComponent(var.name, target.indices, op, self.lift(value, target.type)))

    def set_field(self, var: Var, field: str, value: Expr) -> None:
        assert isinstance(var.type, Struct)
        self.emit(ir.SetField(var.name, var.type, field, value))

    def store(self, array: Var, index: Index, value: Operand, op: str = "") -> None:
        target = array[index]
        assert not isinstance(target, Component)
        self.emit(ir.Store(array, target.indices, op, self.lift(value, target.type)))

    def atomic(self, op: str, array: Var, index: Index, value: Operand) -> None:
        target = array[index]
        assert not isinstance(target, Component)
        self.emit(ir.Atomic(op, array, target.indices, self.lift(value, target.type)))

    def compare_and_swap(self, array: Var, index: Index, compare: Operand, value: Operand) -> None:
        """Store ``value`` where the element is ``compare``; all threads must agree on both."""
        target = array[index]
        assert not isinstance(target, Component)
        expected, new = (self.lift(v, target.type) for v in (compare, value))
        self.emit(ir.Atomic("cas", array, target.indices, new, expected))

    def sample(self, name: str | Sequence[str], sampler: str, state: Var, *args: Operand) -> Var:
        """Draw a random number from a state that :meth:`random_state` made.

        ``sampler`` is a key of :data:`generators.program.samplers.SAMPLERS`; ``args`` its
        range, if any.
        """
        candidates = (name,) if isinstance(name, str) else tuple(name)
        wanted = next(c for c in SAMPLERS[sampler][0] if len(c) == len(args))
        given = tuple(self.lift(a, t) for a, t in zip(args, wanted, strict=True))
        drawn = ir.Sample(self.name(*candidates), sampler, state, given)
        self.emit(drawn)
        return Var(drawn.name, drawn.type)

    def random_state(self, name: str | Sequence[str], seed: Operand, offset: Operand) -> Var:
        """``state = wp.rand_init(seed, offset)``, both int32; the offset tells threads apart."""
        return self.let(
            name, op_node("rand_init", self.lift(seed, INT32), self.lift(offset, INT32))
        )

    def comment(self, text: str) -> None:
        self.emit(ir.Comment(text))

    def note(self, text: str) -> None:
        """A comment that some people would leave here: about one layout in four has it."""
        if self.draw.layout.chance(0.25):
            self.comment(text)

    def return_(self, value: Expr | None = None) -> None:
        self.emit(ir.Return(value))

    def break_(self) -> None:
        self.emit(ir.Break())

    def continue_(self) -> None:
        self.emit(ir.Continue())

    @contextmanager
    def if_(self, condition: Expr) -> Iterator[None]:
        with self._block() as body:
            yield
        self.emit(ir.If(((condition, tuple(body)),), ()))

    @contextmanager
    def elif_(self, condition: Expr) -> Iterator[None]:
        before = self._last_if()
        with self._block() as body:
            yield
        self._blocks[-1][-1] = ir.If((*before.branches, (condition, tuple(body))), ())

    @contextmanager
    def else_(self) -> Iterator[None]:
        before = self._last_if()
        with self._block() as body:
            yield
        self._blocks[-1][-1] = ir.If(before.branches, tuple(body))

    @contextmanager
    def for_(
        self, name: str | Sequence[str], stop: Operand, start: Operand = 0, step: int = 1
    ) -> Iterator[Var]:
        """``for name in range(start, stop, step)``; gives the int32 loop variable."""
        candidates = (name,) if isinstance(name, str) else tuple(name)
        var = Var(self.name(*candidates), INT32)
        with self._block() as body:
            yield var
        bounds = [self.lift(b, INT32) for b in (start, stop)]
        self.emit(ir.For(var.name, bounds[0], bounds[1], step, tuple(body)))

    @contextmanager
    def while_(self, condition: Expr) -> Iterator[None]:
        with self._block() as body:
            yield
        self.emit(ir.While(condition, tuple(body)))

    def rewrite(self, change: Callable[[ir.Statement], ir.Statement]) -> None:
        """Put another statement in the place of each that was written so far."""
        self._blocks[0][:] = [change(statement) for statement in self.body()]

    def body(self) -> ir.Body:
        assert len(self._blocks) == 1, "a block is still open"
        return tuple(self._blocks[0])

    @staticmethod
    def lift(value: Operand, type_: Type) -> Expr:
        return lift(value, type_)

    @contextmanager
    def _block(self) -> Iterator[list[ir.Statement]]:
        block: list[ir.Statement] = []
        self._blocks.append(block)
        yield block
        popped = self._blocks.pop()
        assert popped is block

    def _last_if(self) -> ir.If:
        last = self._blocks[-1][-1]
        assert isinstance(last, ir.If), "elif_ and else_ come right after if_"
        assert not last.orelse
        return last


def lift(value: Operand, type_: Type) -> Expr:
    """An expression as it is; a Python number as a literal of the scalar type of ``type_``."""
    return value if isinstance(value, Expr) else literal(value, type_)


def cast(value: Expr, type_: Scalar) -> Expr:
    """``value`` converted explicitly, or itself when it has that type already.

    A whole literal that becomes a float is written as one.
    """
    if isinstance(value, Const) and value.type.is_int and not type_.is_int and type_ != BOOL:
        return literal(int(value.value), type_)
    return value if value.type == type_ else Cast(value, type_)


def make(type_: Type, *args: Expr) -> Construct:
    """A composite or struct from its parts."""
    return Construct(args, type_)


def field(value: Expr, name: str) -> Field:
    """A field of a struct value."""
    assert isinstance(value.type, Struct)
    return Field(value, name, value.type.field(name))


def extent(array: Var, axis: int = 0) -> Extent:
    """How many elements an array has along an axis: ``len(a)`` or ``a.shape[axis]``."""
    return Extent(array, axis)


def identity(type_: Mat | Quat | Transform) -> Expr:
    """The identity matrix, rotation or transform."""
    names = {Mat: "identity", Quat: "quat_identity", Transform: "transform_identity"}
    if isinstance(type_, Mat) and type_.rows != type_.cols:
        raise TypeError(f"{type_} has no identity")
    return Op(names[type(type_)], (), type_)


def fn(name: str, *args: Operand) -> Expr:
    """Apply a builtin, lifting numbers to the scalar type of the first expression in ``args``."""
    exprs = [a for a in args if isinstance(a, Expr)]
    typed = next((e for e in exprs if e.type != BOOL and not isinstance(e.type, Array)), exprs[0])
    return op_node(name, *(lift(a, typed.type) for a in args))
