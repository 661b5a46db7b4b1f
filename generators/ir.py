"""The program tree: what a kernel computes, in no language.

Every node is frozen and typed. Renderers print the tree; nothing here belongs to one of them.
Semantics are fixed, so that all renderers agree:

* floats round to their type after every op; a float literal is the decimal text a person wrote;
* signed integers never overflow (a gate rejects programs that do), unsigned ones wrap;
* ``floordiv`` and ``mod`` see no negative operands, shifts stay below the number of bits;
* both operands of ``and`` / ``or`` and all of ``where`` are evaluated;
* a composite (vector, matrix, struct) is a value: assigning it copies.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from generators.dtypes import Array, Struct, Type, scalar_of
from generators.expr import Expr, Var


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

    A composite is updated component by component. ``TypeError`` for what devices have no such
    atomic for: components narrower than 32 bits, structs, and bitwise ops on floats.
    """

    op: str
    array: Var
    indices: tuple[Expr, ...]
    value: Expr

    def __post_init__(self) -> None:
        element = self.array.type.element if isinstance(self.array.type, Array) else None
        if element is None or self.value.type != element:
            raise TypeError(f"no atomic {self.op} on {self.array.type} with a {self.value.type}")
        scalar = scalar_of(element)
        if scalar.bits < 32 or (scalar.is_float and self.op in ("and", "or", "xor")):
            raise TypeError(f"no atomic {self.op} on {element}")


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
    | If
    | For
    | While
    | Break
    | Continue
    | Return
    | Comment
)
Body = tuple[Statement, ...]

RESERVED = frozenset(
    {"abs", "bool", "float", "int", "math", "max", "min", "np", "range", "round", "wp"}
)
"""Names that the printed texts use themselves: a program must not define them."""


@dataclass(frozen=True)
class FieldInit:
    """How the values of one struct field are drawn; see ``notes/row-format.md`` for ``init``."""

    name: str
    type: Type
    init: str
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True)
class Param:
    """A kernel parameter with its input contract; ``role`` is in, out or inout."""

    name: str
    type: Type
    role: str
    shape: tuple[str, ...] = ()
    init: str = "uniform"
    low: str | None = None
    high: str | None = None
    fields: tuple[FieldInit, ...] = ()

    def __post_init__(self) -> None:
        ndim = self.type.ndim if isinstance(self.type, Array) else 0
        if ndim != len(self.shape):
            raise ValueError(f"{self.name}: {self.type} does not fit the shape {self.shape}")


@dataclass(frozen=True)
class Function:
    """A helper function; every path of the body returns a value of type ``result``."""

    name: str
    params: tuple[Var, ...]
    result: Type
    body: Body
    doc: str = ""


@dataclass(frozen=True)
class Kernel:
    """The kernel: one thread for each point of ``launch_dim`` (size expressions, 1 to 4)."""

    name: str
    params: tuple[Param, ...]
    threads: tuple[str, ...]
    launch_dim: tuple[str, ...]
    body: Body
    doc: str = ""


@dataclass(frozen=True)
class Size:
    """A size symbol: the row's own value, the least that works, and what it must divide by."""

    symbol: str
    value: int
    min: int = 1
    multiple_of: int = 1


@dataclass(frozen=True)
class Layout:
    """How a person laid the Python out; no part of what is computed.

    ``array_style``: ``array`` (``wp.array(dtype=wp.float32, ndim=2)``), ``array2d``
    (``wp.array2d(dtype=wp.float32)``) or ``bracket`` (``wp.array2d[wp.float32]``).
    ``short_scalars``: ``float`` and ``int`` instead of ``wp.float32`` and ``wp.int32``.
    """

    array_style: str = "array"
    short_scalars: bool = False


@dataclass(frozen=True)
class Program:
    """All that a row is made from."""

    category: str
    idiom: str
    level: int
    description: str
    structs: tuple[Struct, ...]
    functions: tuple[Function, ...]
    kernel: Kernel
    sizes: tuple[Size, ...]
    input_seed: int
    layout: Layout = field(default_factory=Layout)
