"""Kernels of tiles as whole-array code: the blocks are dimensions before those of their tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from generators.program import expr, ir, tiles
from generators.program.dtypes import INT32, Scalar, Tile, scalar_of
from generators.program.walk import statements
from synth.render.array.dialects.dialect import Dialect
from synth.render.array.loops import Bodies
from synth.render.array.values import JOINED, NoForm, Value, docstring_of, tight
from synth.render.doc import Doc, Prec, binary, call, subscript
from synth.render.text import names_of, signature
from validate.statuses import ArrayStatus


@dataclass(frozen=True)
class Held:
    """A tile of each block: the threads along which blocks have their own, outermost first, and
    the tile's own axes after them. A ``thin`` one has dimensions of one in their place."""

    doc: Doc
    blocks: tuple[str, ...]
    shape: tuple[int, ...]
    thin: bool = False


class Side(NamedTuple):
    """What one dimension of an array is to the tiles in it: the thread whose blocks lie along it
    (or ""), the elements of a tile along it (0 where a tile has one place), the text of an index
    or a slice where only a part is meant."""

    thread: str
    extent: int
    part: str = ""


class TileKernel(Bodies):
    """Prints one kernel of tiles."""

    def __init__(self, program: ir.Program, edges: object, dialect: Dialect) -> None:
        kernel = program.kernel
        super().__init__({p.name: p.shape for p in kernel.params}, edges, dialect)
        self.taken = self.parameters = names_of(program)
        self.extents = dict(zip(kernel.threads, kernel.launch_dim, strict=True))
        self.tiles: dict[str, Held] = {}
        self.fresh_tiles: set[str] = set()
        """Tiles that nothing else shows, so that they change in place."""
        every = list(statements(kernel.body))
        self.written = {s.array.name for s in every if isinstance(s, ir.TileStore)}
        self.changing = {s.name for s in every if isinstance(s, ir.AugAssign | ir.TileMatmul)}
        for p in kernel.params:
            if p.name not in self.shapes or not p.shape:
                self.env[p.name] = Value(Doc(p.name), p.type, number=isinstance(p.type, Scalar))

    def lines_of_kernel(self, kernel: ir.Kernel) -> list[str]:
        self.body(kernel.body)
        inputs = [p for p in kernel.params if p.role != "out"]
        outputs = [p.name for p in kernel.params if p.role != "in"]
        asked, head = self.sizes_of(inputs)
        copies = [p.name for p in inputs if p.name in self.written]
        head += [f"    {name} = {self.dialect.copied(Doc(name)).text}" for name in copies]
        lines = signature(f"def {kernel.name}", [*(p.name for p in inputs), *asked], ":")
        return [
            *lines,
            *docstring_of(kernel),
            *head,
            *self.lines,
            f"    return {', '.join(outputs)}",
        ]

    def sizes_of(self, inputs: Sequence[ir.Param]) -> tuple[list[str], list[str]]:
        """Sizes that the text asks for, and the lines for those that shapes of inputs give."""
        found: dict[str, str] = {}
        for p in inputs:
            for k, size in enumerate(p.shape):
                *times, symbol = size.split("*")
                length = f"{p.name}.shape[{k}]" if len(p.shape) > 1 else f"len({p.name})"
                if symbol.isidentifier():
                    found.setdefault(symbol, f"{length} // {times[0]}" if times else length)
        names = {size: self.size_name(size) for size in sorted(self.sizes)}
        asked = [name for size, name in names.items() if size not in found]
        return asked, [f"    {n} = {found[size]}" for size, n in names.items() if size in found]

    def statement(self, s: ir.Statement) -> None:
        match s:
            case ir.Assign(value=tiles.TileExpr() as value):
                self.tile_assign(s.name, value)
            case ir.AugAssign() if s.name in self.tiles:
                self.tile_more(s.name, s.op, self.tile(s.value))
            case ir.TileMatmul():
                self.tile_more(s.name, "add", self.tile_product(s))
            case ir.TileStore():
                self.tile_store(s)
            case ir.For():
                self.tile_loop(s)
            case ir.Assign() | ir.AugAssign() | ir.Comment():
                super().statement(s)
            case _:
                raise NoForm(ArrayStatus.GUARD, f"{type(s).__name__} beside tiles")

    # Statements

    def tile_assign(self, name: str, e: tiles.TileExpr) -> None:
        held = self.tile(e)
        if isinstance(e, tiles.TileFill) and name in self.changing:
            held = self.filled(e)
            self.fresh_tiles.add(name)
        elif held.doc.text in self.shapes and held.doc.text not in self.written:
            # The tiles of an array, one after the other, are the array.
            self.tiles[name] = held
            return
        self.put(f"{name} = ", held.doc)
        self.tiles[name] = Held(Doc(name), held.blocks, held.shape, held.thin)

    def filled(self, e: tiles.TileFill) -> Held:
        """A tile of each block of the launch, which is to change."""
        blocks = tuple(self.extents)
        shape = self.shape_text(blocks, e.type.shape).text
        value = self.value(e.value).doc
        doc = self.dialect.made("full", [shape, value.text], e.type.scalar)
        if float(value.text) == 0.0:
            doc = self.dialect.made("zeros", [shape], e.type.scalar)
        return Held(doc, blocks, e.type.shape)

    def tile_more(self, name: str, op: str, more: Held) -> None:
        """``tile op= more``."""
        symbol, prec = JOINED[op]
        old = self.tiles[name]
        if name in self.fresh_tiles and set(more.blocks) <= set(old.blocks):
            self.put(f"{name} {symbol}= ", self.aligned(more, old.blocks))
            return
        if self.depth > 1:
            raise NoForm(ArrayStatus.WALK, "loops whose values change their form")
        blocks, docs = self.joined_blocks([old, more])
        self.put(f"{name} = ", binary(symbol, prec, *docs))
        self.tiles[name] = Held(Doc(name), blocks, old.shape)

    def tile_product(self, s: ir.TileMatmul) -> Held:
        a, b = self.whole_tile(self.tile(s.a)), self.whole_tile(self.tile(s.b))
        blocks, docs = self.joined_blocks([a, b])
        return Held(binary("@", Prec.MUL, *docs), blocks, (a.shape[0], b.shape[1]))

    def tile_loop(self, s: ir.For) -> None:
        start, stop = self.value(s.start), self.value(s.stop)
        bounds = [start.doc, stop.doc] + ([Doc(str(s.step))] if s.step != 1 else [])
        if s.step == 1 and start.doc.text == "0":
            del bounds[0]
        self.put(f"for {s.name} in ", Doc(f"{call('range', bounds).text}:"))
        self.env[s.name] = Value(Doc(s.name), INT32, weak=True)
        self.depth += 1
        self.body(s.body)
        self.depth -= 1

    def tile_store(self, s: ir.TileStore) -> None:
        name, type_ = s.array.name, s.value.type
        assert isinstance(type_, Tile)
        sides = self.sides(name, s.offset, type_.shape)
        if self.depth > 1 or any(side.part for side in sides):
            raise NoForm(ArrayStatus.SCATTER, "parts of outputs")
        held = self.whole_tile(self.tile(s.value), tuple(self.extents))
        there = [side.thread for side in sides if side.thread]
        if left := [t for t in held.blocks if t not in there]:
            if s.op != "add":
                raise NoForm(ArrayStatus.SCATTER, "elements that many threads write")
            over = [str(held.blocks.index(t)) for t in left]
            axis = over[0] if len(over) == 1 else f"({', '.join(over)})"
            doc = self.dialect.reduced("sum", held.doc, axis)
            held = Held(doc, tuple(t for t in held.blocks if t in there), held.shape)
        doc = self.laid_out(held, sides)
        if s.op:
            self.put(f"{name} {JOINED[s.op][0]}= ", doc)
        else:
            self.put(f"{name} = ", self.dialect.copied(doc) if doc.text in self.shapes else doc)

    def laid_out(self, held: Held, sides: Sequence[Side]) -> Doc:
        """The tiles of all blocks, each dimension of the array in its place."""
        doc, shape = held.doc, list(held.shape)
        if shape == [1] and any(side.thread and side.extent for side in sides):
            lead = [Doc(":")] if len(held.blocks) == 1 else [Doc("...")]
            doc, shape = subscript(doc, [*lead, Doc("0")]), []
            sides = [Side(side.thread, 0) for side in sides]
        order, inner = [], len(held.blocks)
        for side in sides:
            if side.thread:
                order.append(held.blocks.index(side.thread))
            if side.extent:
                order.append(inner)
                inner += 1
        doc = self.turned_tiles(doc, order)
        if not any(side.thread and side.extent for side in sides):
            return doc
        last = max(k for k, side in enumerate(sides) if side.thread and side.extent)
        lengths = [
            Doc("-1", Prec.UNARY) if k == last else self.length_text(side)
            for k, side in enumerate(sides)
        ]
        return call(f"{tight(doc)}.reshape", lengths)

    def length_text(self, side: Side) -> Doc:
        size = self.size(self.extents[side.thread]) if side.thread else ""
        if not side.thread or not side.extent:
            return Doc(size or str(side.extent))
        return Doc(f"{side.extent} * {size}", Prec.MUL)

    # Tiles of arrays

    def sides(self, array: str, offset: Sequence[expr.Expr], shape: Sequence[int]) -> list[Side]:
        """What each dimension of an array is to tiles at an offset in it."""
        fixed = len(offset) - len(shape)
        extents = [*[0] * fixed, *shape]
        found = zip(offset, extents, self.shapes[array], strict=True)
        return [self.side(*entry) for entry in found]

    def side(self, at: expr.Expr, extent: int, size: str) -> Side:
        base, times = at, 1
        if isinstance(at, expr.Op) and at.op == "mul" and isinstance(at.args[1], expr.Const):
            base, times = at.args[0], int(at.args[1].value)
        if isinstance(base, expr.Var) and base.name in self.extents:
            count = self.extents[base.name]
            whole = size == (count if times == 1 else f"{times}*{count}")
            if not whole or times != max(1, extent):
                raise NoForm(ArrayStatus.SCATTER, "parts of arrays")
            return Side(base.name, extent)
        if isinstance(at, expr.Const) and at.value == 0 and size == str(extent):
            return Side("", extent)
        start = self.value(at).doc
        if not extent:
            return Side("", 0, start.text)
        if isinstance(base, expr.Var) and times == extent:
            return Side("", extent, f"{start.text}:({base.name} + 1) * {extent}")
        end = binary("+", Prec.ADD, start, Doc(str(extent)))
        return Side("", extent, f"{start.text}:{end.text}")

    def load(self, e: expr.Load) -> Value:
        raise NoForm(ArrayStatus.SCATTER, "single elements beside tiles")

    def tile_load(self, e: tiles.TileLoad) -> Held:
        sides = self.sides(e.array.name, e.offset, e.type.shape)
        texts = [side.part or ":" for side in sides]
        while texts and texts[-1] == ":":
            texts.pop()
        doc = Doc(e.array.name)
        doc = subscript(doc, [Doc(t) for t in texts]) if texts else doc
        kept = [side for side in sides if side.thread or side.extent]
        split = [side for side in kept if side.thread and side.extent]
        if split:
            doc = call(f"{doc.text}.reshape", self.split_lengths(kept, len(split) == 1))
        threads, places = list[str](), list[tuple[bool, int]]()
        for side in kept:
            if side.thread:
                threads.append(side.thread)
                places.append((False, list(self.extents).index(side.thread)))
            if side.extent:
                places.append((True, len(places)))
        order = sorted(range(len(places)), key=places.__getitem__)
        blocks = tuple(t for t in self.extents if t in threads)
        return Held(self.turned_tiles(doc, order), blocks, e.type.shape)

    def split_lengths(self, sides: Sequence[Side], once: bool) -> list[Doc]:
        """The dimensions of an array whose blocks have one of their own."""
        lengths = []
        for side in sides:
            if side.thread:
                size = "-1" if once and side.extent else self.size(self.extents[side.thread])
                lengths.append(Doc(size, Prec.UNARY if once else Prec.TIGHT))
            if side.extent:
                lengths.append(Doc(str(side.extent)))
        return lengths

    # Expressions

    def tile(self, e: expr.Expr) -> Held:
        """A tile expression; a number is the same for all blocks."""
        if isinstance(e, expr.Var) and e.name in self.tiles:
            return self.tiles[e.name]
        if not isinstance(e, tiles.TileExpr):
            return Held(self.value(e).doc, (), (), thin=True)
        return _PRINTERS[type(e)](self, e)

    def tile_fill(self, e: tiles.TileFill) -> Held:
        return Held(self.value(e.value).doc, (), e.type.shape, thin=True)

    def tile_map(self, e: tiles.TileMap) -> Held:
        if e.op not in self.dialect.ops:
            raise NoForm(ArrayStatus.FUNCTION, e.op)
        args = [self.tile(a) for a in e.args]
        blocks, docs = self.joined_blocks(args)
        scalars = tuple(expr.Var("element", scalar_of(a.type)) for a in e.args)
        node = expr.Op(e.op, scalars, e.type.scalar)
        self.operands = [
            Value(held.doc, scalar.type, number=not held.blocks and not isinstance(a.type, Tile))
            for held, scalar, a in zip(args, scalars, e.args, strict=True)
        ]
        doc = self.dialect.ops[e.op](self, docs, node)
        return Held(doc, blocks, e.type.shape, all(a.thin for a in args))

    def tile_apply(self, e: tiles.TileApply) -> Held:
        args = [self.tile(a) for a in e.args]
        blocks, docs = self.joined_blocks(args)
        return Held(call(e.function, docs), blocks, e.type.shape, all(a.thin for a in args))

    def tile_broadcast(self, e: tiles.TileBroadcast) -> Held:
        held, shape = self.tile(e.value), e.type.shape
        assert isinstance(e.value.type, Tile)
        after = len(shape) - 1 - (e.axis if e.value.type.size > 1 else 0)
        before = len(shape) - 1 - after if held.blocks else 0
        doc = held.doc
        if before or after:
            lead = [Doc(":")] * len(held.blocks) + [Doc("None")] * before
            own = [Doc(":")] if after else []
            picks = [*lead, *own, *[Doc("None")] * after]
            if not before and len(picks) > 2:
                picks = [Doc("..."), *[Doc("None")] * after]
            doc = subscript(doc, picks)
        return Held(doc, held.blocks, shape, thin=e.value.type.size < e.type.size)

    def tile_reduce(self, e: tiles.TileReduce) -> Held:
        held = self.whole_tile(self.tile(e.value))
        if e.axis >= 0:
            doc = self.dialect.reduced(e.how, held.doc, str(e.axis - 2))
            return Held(doc, held.blocks, e.type.shape)
        if len(held.shape) == 1:
            doc = self.dialect.reduced(e.how, held.doc, "-1", keep=True)
        else:
            whole = self.dialect.reduced(e.how, held.doc, "(-2, -1)")
            doc = subscript(whole, [Doc("..."), Doc("None")])
        return Held(doc, held.blocks, e.type.shape)

    def tile_scan(self, e: tiles.TileScan) -> Held:
        held = self.whole_tile(self.tile(e.value))
        return Held(self.dialect.running(held.doc, e.type.scalar), held.blocks, held.shape)

    def tile_transpose(self, e: tiles.TileTranspose) -> Held:
        held = self.whole_tile(self.tile(e.value))
        own = len(held.blocks)
        doc = self.turned_tiles(held.doc, [*range(own), own + 1, own])
        return Held(doc, held.blocks, held.shape[::-1])

    def turned_tiles(self, doc: Doc, order: Sequence[int]) -> Doc:
        """An array with its dimensions in another order."""
        return doc if list(order) == sorted(order) else self.dialect.turned(doc, order)

    # Blocks

    def joined_blocks(self, helds: Sequence[Held]) -> tuple[tuple[str, ...], list[Doc]]:
        """The blocks of tiles together, and their texts aligned to them."""
        there = {t for held in helds for t in held.blocks}
        blocks = tuple(t for t in self.extents if t in there)
        return blocks, [self.aligned(held, blocks) for held in helds]

    def aligned(self, held: Held, blocks: Sequence[str]) -> Doc:
        """The text of a tile with dimensions of one for blocks that it does not differ along."""
        texts = [":" if t in held.blocks else "None" for t in blocks]
        while texts and texts[0] == "None":
            del texts[0]
        if "None" not in texts:
            return held.doc
        while texts[-1] == ":":
            texts.pop()
        return subscript(held.doc, [Doc(t) for t in texts])

    def whole_tile(self, held: Held, blocks: tuple[str, ...] | None = None) -> Held:
        """A tile with all its elements, and of all of these blocks."""
        blocks = held.blocks if blocks is None else blocks
        if not held.thin and held.blocks == blocks:
            return held
        shape = self.shape_text(blocks, held.shape)
        doc = self.dialect.broadcast(self.aligned(held, blocks), shape)
        return Held(doc, blocks, held.shape)

    def shape_text(self, blocks: Sequence[str], shape: Sequence[int]) -> Doc:
        lengths = [*(self.size(self.extents[t]) for t in blocks), *map(str, shape)]
        return Doc(lengths[0] if len(lengths) == 1 else f"({', '.join(lengths)})")


_PRINTERS: dict[type, Callable[[TileKernel, Any], Held]] = {
    tiles.TileLoad: TileKernel.tile_load,
    tiles.TileFill: TileKernel.tile_fill,
    tiles.TileMap: TileKernel.tile_map,
    tiles.TileApply: TileKernel.tile_apply,
    tiles.TileBroadcast: TileKernel.tile_broadcast,
    tiles.TileReduce: TileKernel.tile_reduce,
    tiles.TileScan: TileKernel.tile_scan,
    tiles.TileTranspose: TileKernel.tile_transpose,
}
