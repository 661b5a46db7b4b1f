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

from generators.program.dtypes import Array, Struct, Type
from generators.program.expr import Var
from generators.program.statements import Assign as Assign
from generators.program.statements import Atomic as Atomic
from generators.program.statements import AugAssign as AugAssign
from generators.program.statements import Body as Body
from generators.program.statements import Break as Break
from generators.program.statements import Comment as Comment
from generators.program.statements import Continue as Continue
from generators.program.statements import For as For
from generators.program.statements import If as If
from generators.program.statements import Return as Return
from generators.program.statements import Sample as Sample
from generators.program.statements import SetComponent as SetComponent
from generators.program.statements import SetField as SetField
from generators.program.statements import Statement as Statement
from generators.program.statements import Store as Store
from generators.program.statements import While as While
from generators.program.tiles import TileMatmul as TileMatmul
from generators.program.tiles import TileStore as TileStore

RESERVED = frozenset(
    {"abs", "bool", "float", "int", "math", "max", "min", "np", "range", "round", "wp"}
    | {"compile", "eval", "exec", "exit", "globals", "input", "locals", "open", "quit", "vars"}
)
"""Names that the printed texts use themselves: a program must not define them."""


@dataclass(frozen=True)
class FieldInit:
    """How the values of one struct field are drawn; see ``notes/formats/row.md`` for ``init``."""

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
class TiledKernel(Kernel):
    """A kernel of tiles: a block of ``block_dim`` threads for each point of ``launch_dim``."""

    block_dim: int = 64


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
    ``letters``: ``v.x`` instead of ``v[0]`` where a part of a short vector is read.
    ``len_calls``: ``len(a)`` instead of ``a.shape[0]`` for a one-dimensional array.
    """

    array_style: str = "array"
    short_scalars: bool = False
    letters: bool = False
    len_calls: bool = False


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
