"""Tiles in the program tree: what the threads of a block hold and compute together.

A tile is a small array of one scalar type, in row-major order. Its expressions stand for the whole
of it; what a block does with one is one value for each element. Only whole tiles are loaded and
stored: a program's sizes see to it that none reaches beyond an array.
"""

from __future__ import annotations

from dataclasses import dataclass

from generators.program.dtypes import Tile, scalar_of
from generators.program.expr import Expr, Var
from generators.program.ops import OPS

REDUCTIONS = {"sum": "add", "max": "max", "min": "min"}
"""What joins all elements of a tile, and the op that joins two."""


class TileExpr(Expr):
    """An expression whose value is a tile; ``parts`` are the expressions that it is made of."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Expr, ...]:
        raise NotImplementedError

    @property
    def builtin(self) -> str:
        """What Warp calls it, or the op that it applies to each element."""
        raise NotImplementedError


@dataclass(frozen=True)
class TileLoad(TileExpr):
    """Elements of an array from ``offset`` on, an index for each of its axes.

    An array with more axes than the tile is read along its last ones. ``shared`` asks for shared
    memory, which other threads read, in place of registers.
    """

    array: Var
    offset: tuple[Expr, ...]
    type: Tile
    shared: bool = False

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.offset

    @property
    def builtin(self) -> str:
        return "tile_load"


@dataclass(frozen=True)
class TileFill(TileExpr):
    """The same value everywhere."""

    value: Expr
    type: Tile

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.value,)

    @property
    def builtin(self) -> str:
        return "tile_full"


@dataclass(frozen=True)
class TileMap(TileExpr):
    """An op of scalars applied to each element; arguments are tiles of one shape, or scalars."""

    op: str
    args: tuple[Expr, ...]
    type: Tile

    def __post_init__(self) -> None:
        shapes = {a.type.shape for a in self.args if isinstance(a.type, Tile)}
        if shapes != {self.type.shape}:
            raise TypeError(f"{self.op} of tiles {shapes} does not make a {self.type}")
        if OPS[self.op].result([scalar_of(a.type) for a in self.args]) != self.type.scalar:
            raise TypeError(f"{self.op} does not make a {self.type}")

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.args

    @property
    def builtin(self) -> str:
        return self.op


@dataclass(frozen=True)
class TileApply(TileExpr):
    """One of the program's helper functions applied to each element of tiles of one shape."""

    function: str
    args: tuple[Expr, ...]
    type: Tile

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.args

    @property
    def builtin(self) -> str:
        return "tile_map"


@dataclass(frozen=True)
class TileBroadcast(TileExpr):
    """A tile of one element, or of as many as ``axis`` of the result has, said again and again."""

    value: Expr
    axis: int
    type: Tile

    def __post_init__(self) -> None:
        shape = self.value.type.shape if isinstance(self.value.type, Tile) else ()
        if shape not in ((1,), (self.type.shape[self.axis],)):
            raise TypeError(f"{self.value.type} along axis {self.axis} does not fill {self.type}")

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.value,)

    @property
    def builtin(self) -> str:
        return "tile_broadcast"


@dataclass(frozen=True)
class TileReduce(TileExpr):
    """All elements joined to one, or with an ``axis`` from 0 on those along it; -1: all."""

    how: str
    value: Expr
    axis: int
    type: Tile

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.value,)

    @property
    def builtin(self) -> str:
        return f"tile_{self.how}"


@dataclass(frozen=True)
class TileScan(TileExpr):
    """The sum of each element and all before it, of a tile of one axis."""

    value: Expr
    type: Tile

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.value,)

    @property
    def builtin(self) -> str:
        return "tile_scan_inclusive"


@dataclass(frozen=True)
class TileTranspose(TileExpr):
    """Rows as columns."""

    value: Expr
    type: Tile

    @property
    def parts(self) -> tuple[Expr, ...]:
        return (self.value,)

    @property
    def builtin(self) -> str:
        return "tile_transpose"


@dataclass(frozen=True)
class TileMatmul:
    """``name += a @ b`` for a tile variable; a statement."""

    name: str
    a: Var
    b: Var


@dataclass(frozen=True)
class TileStore:
    """The whole of a tile into an array from ``offset`` on; a statement.

    ``op`` is empty, or ``add``: then each element is added atomically.
    """

    array: Var
    offset: tuple[Expr, ...]
    op: str
    value: Expr
