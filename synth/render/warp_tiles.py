"""Tiles as Warp's Python has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from generators.program import expr, ir, tiles
from generators.program.dtypes import Tile, Type
from synth.render.doc import Doc, Prec, binary, call, prefix, subscript

_SIGNS = {"add": ("+", Prec.ADD), "sub": ("-", Prec.ADD), "mul": ("*", Prec.MUL)}
_SIGNS |= {"div": ("/", Prec.MUL)}


class Renderer(Protocol):
    """What tiles need of the printer of everything else."""

    def show(self, e: expr.Expr) -> Doc: ...

    def show_all(self, expressions: Sequence[expr.Expr]) -> list[Doc]: ...

    def type(self, type_: Type) -> str: ...

    def put(self, depth: int, start: str, value: Doc) -> None: ...


def module_options(kernel: ir.Kernel) -> list[str]:
    """The lines that say how a module of tiles is compiled; none for other kernels."""
    if not isinstance(kernel, ir.TiledKernel):
        return []
    options = f'"block_dim": {kernel.block_dim}'
    if any(isinstance(s, ir.TileMatmul) for s in _all(kernel.body)):
        options += ', "enable_mathdx_gemm": False'
    return ["", f"wp.set_module_options({{{options}}})"]


def _all(body: ir.Body) -> list[ir.Statement]:
    inner = [t for s in body if isinstance(s, ir.For) for t in _all(s.body)]
    return [*body, *inner]


def shape_doc(shape: Sequence[int]) -> Doc:
    """A shape as an argument: a number, or a tuple."""
    return Doc(str(shape[0])) if len(shape) == 1 else Doc(f"({', '.join(map(str, shape))})")


def _named(name: str, value: Doc) -> Doc:
    return Doc(f"{name}={value.text}")


class TilePrinters:
    """Prints tile expressions and statements with the help of a whole renderer."""

    def __init__(self, renderer: Renderer) -> None:
        self.renderer = renderer
        self.expressions: dict[type, Callable[[Any], Doc]] = {
            tiles.TileLoad: self._load,
            tiles.TileFill: self._fill,
            tiles.TileMap: self._map,
            tiles.TileApply: lambda e: self._called("tile_map", e.args, Doc(e.function)),
            tiles.TileBroadcast: self._broadcast,
            tiles.TileReduce: self._reduce,
            tiles.TileScan: lambda e: self._called("tile_scan_inclusive", e.parts),
            tiles.TileTranspose: lambda e: self._called("tile_transpose", e.parts),
        }
        self.statements: dict[type, Callable[[Any, int], None]] = {
            ir.TileMatmul: self._matmul,
            ir.TileStore: self._store,
        }

    def _called(self, name: str, args: Sequence[expr.Expr], *first: Doc) -> Doc:
        return call(f"wp.{name}", [*first, *self.renderer.show_all(args)])

    def _place(self, array: expr.Var, offset: Sequence[expr.Expr], axes: int) -> list[Doc]:
        """The array, or a row of it, then where the tile starts unless that is where it starts."""
        shown = self.renderer.show_all(offset)
        fixed = len(offset) - axes
        head = subscript(Doc(array.name), shown[:fixed]) if fixed else Doc(array.name)
        if all(d.text == "0" for d in shown[fixed:]):
            return [head]
        inner = [d.text for d in shown[fixed:]]
        return [head, _named("offset", Doc(inner[0] if axes == 1 else f"({', '.join(inner)})"))]

    def _load(self, e: tiles.TileLoad) -> Doc:
        head, *offset = self._place(e.array, e.offset, len(e.type.shape))
        storage = [Doc('storage="shared"')] if e.shared else []
        shape = _named("shape", shape_doc(e.type.shape))
        return call("wp.tile_load", [head, shape, *offset, *storage])

    def _fill(self, e: tiles.TileFill) -> Doc:
        shape = _named("shape", shape_doc(e.type.shape))
        value = self.renderer.show(e.value)
        dtype = Doc(f"dtype={self.renderer.type(e.type.scalar)}")
        if float(value.text) == 0.0:
            return call("wp.tile_zeros", [shape, dtype])
        return call("wp.tile_full", [shape, _named("value", value), dtype])

    def _map(self, e: tiles.TileMap) -> Doc:
        shown = self.renderer.show_all(e.args)
        if e.op in _SIGNS:
            return binary(*_SIGNS[e.op], *shown)
        if e.op == "neg":
            return prefix("-", Prec.UNARY, shown[0])
        return call("wp.tile_map", [Doc(f"wp.{e.op}"), *shown])

    def _broadcast(self, e: tiles.TileBroadcast) -> Doc:
        value, source = self.renderer.show(e.value), e.value.type
        assert isinstance(source, Tile)
        if source.size > 1 and e.axis < len(e.type.shape) - 1:
            ones = (1,) * (len(e.type.shape) - 1 - e.axis)
            column = _named("shape", shape_doc((*source.shape, *ones)))
            value = call("wp.tile_reshape", [value, column])
        # Warp takes no plain number here.
        return call("wp.tile_broadcast", [value, _named("shape", Doc(str(e.type.shape)))])

    def _reduce(self, e: tiles.TileReduce) -> Doc:
        value = self.renderer.show(e.value)
        if e.axis < 0:
            return call(f"wp.tile_{e.how}", [value])
        axis = Doc(f"axis={e.axis}")
        if e.how == "sum":
            return call("wp.tile_sum", [value, axis])
        return call("wp.tile_reduce", [Doc(f"wp.{e.how}"), value, axis])

    def _matmul(self, s: ir.TileMatmul, depth: int) -> None:
        args = [Doc(s.a.name), Doc(s.b.name), Doc(s.name)]
        self.renderer.put(depth, "", call("wp.tile_matmul", args))

    def _store(self, s: ir.TileStore, depth: int) -> None:
        assert isinstance(s.value.type, Tile)
        head, *offset = self._place(s.array, s.offset, len(s.value.type.shape))
        name = f"wp.tile_atomic_{s.op}" if s.op else "wp.tile_store"
        args = [head, self.renderer.show(s.value), *offset]
        self.renderer.put(depth, "", call(name, args))
