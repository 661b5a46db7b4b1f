"""The statements of the program tree; :mod:`generators.program.ir` gives their semantics."""

from __future__ import annotations

from dataclasses import dataclass

from generators.program.dtypes import Array, Struct, Type, scalar_of
from generators.program.expr import Expr, Var
from generators.program.samplers import SAMPLERS, STATE
from generators.program.tiles import TileMatmul, TileStore


@dataclass(frozen=True)
class Assign:
    """``name = value``: the first assignment in a body declares the variable."""

    name: str
    value: Expr


@dataclass(frozen=True)
class AugAssign:
    """``name op= value`` for a scalar or composite variable; ``op`` is add, sub, mul or div."""

    name: str
    op: str
    value: Expr


@dataclass(frozen=True)
class SetComponent:
    """``name[indices] = value`` (``op=`` where ``op`` is not empty) for a local composite."""

    name: str
    indices: tuple[Expr, ...]
    op: str
    value: Expr


@dataclass(frozen=True)
class SetField:
    """``name.field = value`` for a local struct of that type."""

    name: str
    type: Struct
    field: str
    value: Expr


@dataclass(frozen=True)
class Store:
    """``array[indices] = value``, or ``op=`` (add, sub): then no other thread uses the element."""

    array: Var
    indices: tuple[Expr, ...]
    op: str
    value: Expr


@dataclass(frozen=True)
class Atomic:
    """Atomic read-modify-write of an array element; ``op`` is a key of ``ops.ATOMICS``.

    A composite is updated component by component. ``compare`` is what ``cas`` expects to find;
    ``exch`` and ``cas`` are defined where all threads agree on the values for an element.
    ``TypeError`` for what devices have no such atomic for: components narrower than 32 bits,
    structs, bitwise ops and compare-and-swap on floats.
    """

    op: str
    array: Var
    indices: tuple[Expr, ...]
    value: Expr
    compare: Expr | None = None

    def __post_init__(self) -> None:
        element = self.array.type.element if isinstance(self.array.type, Array) else None
        if element is None or self.value.type != element:
            raise TypeError(f"no atomic {self.op} on {self.array.type} with a {self.value.type}")
        scalar = scalar_of(element)
        if scalar.bits < 32 or (scalar.is_float and self.op in ("and", "or", "xor", "cas")):
            raise TypeError(f"no atomic {self.op} on {element}")
        if self.op in ("exch", "cas") and element != scalar:
            raise TypeError(f"no atomic {self.op} on {element}")
        if (self.compare is not None) != (self.op == "cas"):
            raise TypeError("compare belongs to cas")


@dataclass(frozen=True)
class Sample:
    """``name = sampler(state, args)``: draws a random number and moves the state on."""

    name: str
    sampler: str
    state: Var
    args: tuple[Expr, ...]

    def __post_init__(self) -> None:
        choices, _ = SAMPLERS[self.sampler]
        if self.state.type != STATE or tuple(a.type for a in self.args) not in choices:
            raise TypeError(f"{self.sampler} does not take these arguments")

    @property
    def type(self) -> Type:
        return SAMPLERS[self.sampler][1]


@dataclass(frozen=True)
class If:
    """if / elif / else: conditions with their bodies, then the body of else (may be empty)."""

    branches: tuple[tuple[Expr, Body], ...]
    orelse: Body


@dataclass(frozen=True)
class For:
    """``for name in range(start, stop, step)``; int32, ``step`` a positive or negative literal."""

    name: str
    start: Expr
    stop: Expr
    step: int
    body: Body


@dataclass(frozen=True)
class While:
    condition: Expr
    body: Body


@dataclass(frozen=True)
class Break:
    pass


@dataclass(frozen=True)
class Continue:
    pass


@dataclass(frozen=True)
class Return:
    """Return from a helper function with a value, or end the thread early (``None``)."""

    value: Expr | None


@dataclass(frozen=True)
class Comment:
    """A line of comment before the next statement, without the comment sign."""

    text: str


Statement = (
    Assign
    | AugAssign
    | SetComponent
    | SetField
    | Store
    | Atomic
    | Sample
    | TileMatmul
    | TileStore
    | If
    | For
    | While
    | Break
    | Continue
    | Return
    | Comment
)
Body = tuple[Statement, ...]
