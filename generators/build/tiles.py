"""What kernels of tiles are written with: blocks, tiles of arrays, and what is done with them."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build.body import Index, lift
from generators.build.kernel import KernelBuilder
from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Scalar, Tile
from generators.program.expr import Expr, Operand, Var, element_of, literal
from generators.program.tiles import (
    TileApply,
    TileBroadcast,
    TileFill,
    TileLoad,
    TileMap,
    TileReduce,
    TileScan,
    TileTranspose,
)


def blocks(
    k: KernelBuilder, *dims: str, threads: int, names: Sequence[str] = ("i", "j", "k")
) -> tuple[Var, ...]:
    """Launch a block of so many threads for each point of ``dims``; gives the block's place."""
    k.block_dim = threads
    return k.thread(*dims, names=names)


def shaped(value: Expr) -> Tile:
    """The type of a tile; ``TypeError`` for what is none."""
    if not isinstance(value.type, Tile):
        raise TypeError(f"{value.type} is no tile")
    return value.type


def load(array: Var, offset: Index, *shape: int, shared: bool = False) -> TileLoad:
    """A tile of an array, from an index for each of its axes on."""
    return TileLoad(array, _indices(offset), Tile(shape, element_of(array)), shared)


def filled(value: float, *shape: int, scalar: Scalar = FLOAT32) -> TileFill:
    """A tile with the same value everywhere."""
    return TileFill(literal(value, scalar), Tile(shape, scalar))


def each(op: str, *args: Operand) -> TileMap:
    """An op of scalars for each element; numbers are of the type of the first tile's elements."""
    type_ = next(shaped(a) for a in args if isinstance(a, Expr) and isinstance(a.type, Tile))
    return TileMap(op, tuple(lift(a, type_.scalar) for a in args), type_)


def applied(k: KernelBuilder, function: str, *args: Expr) -> TileApply:
    """A helper function of the kernel for each element of tiles of one shape."""
    type_ = shaped(args[0])
    found = next(f for f in k.functions if f.name == function)
    assert found.result == type_.scalar, function
    return TileApply(function, args, type_)


def spread(value: Expr, like: Expr, axis: int = 0) -> TileBroadcast:
    """A tile in the shape of another: of one element, or of as many as the other has along an
    axis."""
    return TileBroadcast(value, axis, shaped(like))


def joined(how: str, value: Expr, axis: int = -1) -> TileReduce:
    """``sum``, ``max`` or ``min`` of all elements, a tile of one; of those along an ``axis``."""
    type_ = shaped(value)
    left = (1,) if axis < 0 else (type_.shape[1 - axis],)
    return TileReduce(how, value, axis, Tile(left, type_.scalar))


def scanned(value: Expr) -> TileScan:
    """Each element with the sum of all before it."""
    return TileScan(value, shaped(value))


def transposed(value: Expr) -> TileTranspose:
    """Rows as columns."""
    type_ = shaped(value)
    return TileTranspose(value, Tile(type_.shape[::-1], type_.scalar))


def multiply(k: KernelBuilder, total: Var, a: Var, b: Var) -> None:
    """``total += a @ b``."""
    k.emit(ir.TileMatmul(total.name, a, b))


def store(k: KernelBuilder, array: Var, offset: Index, value: Expr, op: str = "") -> None:
    """Write a tile from an index for each axis of the array on; ``op`` ``add`` adds atomically."""
    k.emit(ir.TileStore(array, _indices(offset), op, value))


def _indices(offset: Index) -> tuple[Expr, ...]:
    return tuple(lift(o, INT32) for o in (offset if isinstance(offset, tuple) else (offset,)))
