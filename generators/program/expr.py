"""Expressions of the program tree, typed by the table of ops."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from generators.program.dtypes import (
    INT32,
    Array,
    Mat,
    Quat,
    Scalar,
    Struct,
    Transform,
    Type,
    Vec,
    scalar_of,
)
from generators.program.ops import OPS


class Expr:
    """A typed expression. Python's operators build bigger ones; numbers become literals."""

    __slots__ = ()
    type: Type

    def __add__(self, other: Operand) -> Op:
        return binary("add", self, other)

    def __radd__(self, other: Operand) -> Op:
        return binary("add", other, self)

    def __sub__(self, other: Operand) -> Op:
        return binary("sub", self, other)

    def __rsub__(self, other: Operand) -> Op:
        return binary("sub", other, self)

    def __mul__(self, other: Operand) -> Op:
        return binary("mul", self, other)

    def __rmul__(self, other: Operand) -> Op:
        return binary("mul", other, self)

    def __truediv__(self, other: Operand) -> Op:
        return binary("div", self, other)

    def __rtruediv__(self, other: Operand) -> Op:
        return binary("div", other, self)

    def __floordiv__(self, other: Operand) -> Op:
        return binary("floordiv", self, other)

    def __mod__(self, other: Operand) -> Op:
        return binary("mod", self, other)

    def __and__(self, other: Operand) -> Op:
        return binary("bit_and", self, other)

    def __or__(self, other: Operand) -> Op:
        return binary("bit_or", self, other)

    def __xor__(self, other: Operand) -> Op:
        return binary("bit_xor", self, other)

    def __lshift__(self, other: Operand) -> Op:
        return binary("lshift", self, other)

    def __rshift__(self, other: Operand) -> Op:
        return binary("rshift", self, other)

    def __pow__(self, other: Operand) -> Op:
        return binary("pow", self, other)

    def __rpow__(self, other: Operand) -> Op:
        return binary("pow", other, self)

    def __abs__(self) -> Op:
        return op("abs", self)

    def __neg__(self) -> Op:
        return op("neg", self)

    def __invert__(self) -> Op:
        return op("invert", self)

    def __getitem__(self, index: Operand | tuple[Operand, ...]) -> Load | Component:
        """An element of an array, or a component of a composite."""
        indices = tuple(
            i if isinstance(i, Expr) else literal(i, INT32)
            for i in (index if isinstance(index, tuple) else (index,))
        )
        if isinstance(self.type, Array):
            if not isinstance(self, Var) or len(indices) != self.type.ndim:
                raise TypeError(f"{self.type} takes {self.type.ndim} indices")
            return Load(self, indices, self.type.element)
        return Component(self, indices, scalar_of(self.type))

    def __lt__(self, other: Operand) -> Op:
        return binary("lt", self, other)

    def __le__(self, other: Operand) -> Op:
        return binary("le", self, other)

    def __gt__(self, other: Operand) -> Op:
        return binary("gt", self, other)

    def __ge__(self, other: Operand) -> Op:
        return binary("ge", self, other)


@dataclass(frozen=True)
class Const(Expr):
    """A literal: a bool, an exact int, or the decimal text of a float (``"0.5"``)."""

    value: bool | int | str
    type: Scalar

    def __post_init__(self) -> None:
        wanted = bool if self.type.name == "bool" else int if self.type.is_int else str
        if type(self.value) is not wanted:
            raise TypeError(f"a {self.type} literal is a {wanted.__name__}, not {self.value!r}")
        if isinstance(self.value, str):
            float(self.value)
        elif self.type.is_int:
            low, high = self.type.int_range
            if not low <= self.value <= high:
                raise ValueError(f"{self.value} does not fit {self.type}")


@dataclass(frozen=True)
class Var(Expr):
    """A parameter, a local variable, a loop variable or a thread index."""

    name: str
    type: Type


@dataclass(frozen=True)
class Op(Expr):
    """An entry of the table of ops, applied."""

    op: str
    args: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Cast(Expr):
    """Explicit conversion between scalar types; float to integer truncates toward zero."""

    value: Expr
    type: Scalar


@dataclass(frozen=True)
class Load(Expr):
    """An element of an array parameter."""

    array: Var
    indices: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Extent(Expr):
    """How many elements an array parameter has along one axis, an int32."""

    array: Var
    axis: int
    type: Scalar = INT32

    def __post_init__(self) -> None:
        if not isinstance(self.array.type, Array) or not 0 <= self.axis < self.array.type.ndim:
            raise TypeError(f"{self.array.type} has no axis {self.axis}")


@dataclass(frozen=True)
class Component(Expr):
    """A component of a vector, matrix (two indices), quaternion or transform."""

    value: Expr
    indices: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Field(Expr):
    """A field of a struct."""

    value: Expr
    name: str
    type: Type


@dataclass(frozen=True)
class Call(Expr):
    """A call of one of the program's helper functions."""

    function: str
    args: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Construct(Expr):
    """A composite or struct from its parts in order; a transform from position and rotation.

    One scalar fills a vector or matrix. ``TypeError`` for any other number of parts.
    """

    args: tuple[Expr, ...]
    type: Type

    def __post_init__(self) -> None:
        if isinstance(self.type, Struct):
            fits = [a.type for a in self.args] == [t for _, t in self.type.fields]
        elif isinstance(self.type, Transform):
            fits = len(self.args) == 2
        elif isinstance(self.type, Vec | Mat | Quat):
            wanted = (
                {prod(self.type.shape)}
                if isinstance(self.type, Quat)
                else {1, prod(self.type.shape)}
            )
            fits = len(self.args) in wanted
        else:
            fits = False
        if not fits:
            raise TypeError(f"{len(self.args)} parts do not make a {self.type}")


Operand = Expr | bool | int | float


def element_of(array: Var) -> Scalar:
    """The scalar type of an array's elements."""
    assert isinstance(array.type, Array)
    assert isinstance(array.type.element, Scalar)
    return array.type.element


def literal(value: bool | int | float | str, type_: Type) -> Const:
    """A literal of the scalar type that ``type_`` is made of, printed as a person writes it."""
    scalar = scalar_of(type_)
    if scalar.is_float:
        return Const(value if isinstance(value, str) else repr(float(value)), scalar)
    if isinstance(value, float | str):
        raise TypeError(f"{value!r} is no {scalar} literal")
    return Const(bool(value) if scalar.name == "bool" else int(value), scalar)


def op(name: str, *args: Expr) -> Op:
    """Apply an op; its type follows from the table, ``OpTypeError`` where it does not fit."""
    return Op(name, args, OPS[name].result([a.type for a in args]))


def binary(name: str, a: Operand, b: Operand) -> Op:
    """Apply an infix op, lifting a Python number to the scalar type of the other side."""
    if not isinstance(a, Expr):
        if not isinstance(b, Expr):
            raise TypeError(f"{name} needs an expression on one side")
        a = literal(a, b.type)
    if not isinstance(b, Expr):
        b = literal(b, a.type)
    return op(name, a, b)
