"""A program of tiles as one without: a thread for each block, that runs over the elements in turn.

This fixes what tiles mean. A tile becomes a local vector or matrix, one of a single element a
number; what joins elements joins them in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import lru_cache

from generators.program import ir
from generators.program.dtypes import INT32, Array, Mat, Scalar, Tile, Type, Vec
from generators.program.expr import (
    Call,
    Component,
    Const,
    Construct,
    Expr,
    Load,
    Op,
    Var,
    literal,
    op,
)
from generators.program.joins import named, own_names
from generators.program.tiles import (
    REDUCTIONS,
    TileApply,
    TileBroadcast,
    TileExpr,
    TileFill,
    TileLoad,
    TileMap,
    TileMatmul,
    TileReduce,
    TileScan,
    TileStore,
    TileTranspose,
)

Index = tuple[Expr, ...]


@lru_cache(maxsize=8)
def serial(program: ir.Program) -> ir.Program:
    """The program without tiles; the program itself where it has none."""
    program = named(program)
    kernel = program.kernel
    if not isinstance(kernel, ir.TiledKernel):
        return program
    own = {f.name: getattr(kernel, f.name) for f in fields(ir.Kernel)}
    body = _Writer(program).body(kernel.body)
    return replace(program, kernel=ir.Kernel(**{**own, "body": body}))


def held(type_: Type) -> Type:
    """What a tile becomes: a vector, a matrix, or a number."""
    if not isinstance(type_, Tile):
        return type_
    if type_.size == 1:
        return type_.scalar
    if len(type_.shape) == 1:
        return Vec(type_.size, type_.scalar)
    rows, columns = type_.shape
    return Mat(rows, columns, type_.scalar)


def plus(a: Expr, b: Expr) -> Expr:
    """A sum of indices; nothing is added to zero."""
    if isinstance(a, Const) and a.value == 0:
        return b
    return a if isinstance(b, Const) and b.value == 0 else a + b


def sources(e: TileBroadcast, index: Index) -> Index:
    """The element of what is broadcast that stands at an element of the result."""
    assert isinstance(e.value.type, Tile)
    return (literal(0, INT32),) if e.value.type.size == 1 else (index[e.axis],)


class _Writer:
    """Writes the serial body of one program."""

    def __init__(self, program: ir.Program) -> None:
        self.taken = own_names(program)
        self.written: list[ir.Statement] = []

    def body(self, body: ir.Body) -> ir.Body:
        outer, self.written = self.written, []
        for s in body:
            self.statement(s)
        written, self.written = self.written, outer
        return tuple(written)

    def statement(self, s: ir.Statement) -> None:
        match s:
            case ir.Assign(value=TileExpr() as value):
                self.assign(s.name, value)
            case ir.AugAssign(value=value) if isinstance(value.type, Tile):
                self.augment(s, value)
            case ir.For():
                self.written.append(replace(s, body=self.body(s.body)))
            case TileMatmul():
                self.matmul(s)
            case TileStore():
                self.store(s)
            case _:
                self.written.append(s)

    def fresh(self, name: str) -> str:
        """A name that nothing has yet."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def over(self, shape: Sequence[int], turn: Callable[[Index], None], start: int = 0) -> None:
        """Loops over all elements of a shape; ``start`` is the first of a single axis."""
        names = [self.fresh(name) for name in ("p" if len(shape) == 1 else "rc")]
        index = tuple(
            literal(0, INT32) if extent == 1 else Var(n, INT32)
            for n, extent in zip(names, shape, strict=True)
        )
        outer, self.written = self.written, []
        turn(index)
        inner, self.written = tuple(self.written), outer
        for name, extent in zip(names[::-1], shape[::-1], strict=True):
            self.taken.discard(name)
            if extent > 1:
                first = literal(start, INT32)
                inner = (ir.For(name, first, literal(extent, INT32), 1, inner),)
        self.written += inner

    def put(self, name: str, type_: Tile, index: Index, value: Expr, op_: str = "") -> None:
        """Write one element of a tile."""
        if type_.size > 1:
            self.written.append(ir.SetComponent(name, index, op_, value))
        elif op_:
            self.written.append(ir.AugAssign(name, op_, value))
        else:
            self.written.append(ir.Assign(name, value))

    def start(self, name: str, type_: Tile, value: Expr | None = None) -> None:
        """Declare a tile with the same value everywhere, or zero."""
        start = literal(0, type_.scalar) if value is None else value
        kind = held(type_)
        whole = start if isinstance(kind, Scalar) else Construct((start,), kind)
        self.written.append(ir.Assign(name, whole))

    def assign(self, name: str, e: TileExpr) -> None:
        type_ = e.type
        assert isinstance(type_, Tile)
        match e:
            case TileFill():
                self.start(name, type_, e.value)
            case TileReduce():
                self.reduce(name, e)
            case TileScan():
                self.scan(name, e)
            case _:
                if type_.size > 1:
                    self.start(name, type_)
                self.over(type_.shape, lambda i: self.put(name, type_, i, self.element(e, i)))

    def augment(self, s: ir.AugAssign, e: Expr) -> None:
        type_ = e.type
        assert isinstance(type_, Tile)
        self.over(type_.shape, lambda i: self.put(s.name, type_, i, self.element(e, i), s.op))

    def reduce(self, name: str, e: TileReduce) -> None:
        value = e.value.type
        assert isinstance(value, Tile)
        if e.axis < 0:
            self.join(name, e, value.shape, lambda index: index)
            return
        self.start(name, e.type)
        part = self.fresh(f"{name}_part")
        along = (value.shape[e.axis],)

        def turn(index: Index) -> None:
            (at,) = index
            self.join(part, e, along, lambda i: (i[0], at) if e.axis == 0 else (at, i[0]))
            self.put(name, e.type, index, Var(part, e.type.scalar))

        self.over(e.type.shape, turn)

    def join(
        self, name: str, e: TileReduce, shape: Sequence[int], place: Callable[[Index], Index]
    ) -> None:
        """Join the elements at the places of a shape into a number."""
        scalar = e.type.scalar
        if e.how == "sum":
            self.written.append(ir.Assign(name, literal(0, scalar)))
            self.over(shape, lambda i: self.more(name, self.element(e.value, place(i))))
            return
        zero = tuple(literal(0, INT32) for _ in shape)
        self.written.append(ir.Assign(name, self.element(e.value, place(zero))))
        joined = REDUCTIONS[e.how]

        def turn(index: Index) -> None:
            value = op(joined, Var(name, scalar), self.element(e.value, place(index)))
            self.written.append(ir.Assign(name, value))

        self.over(shape, turn, 1 if len(shape) == 1 else 0)

    def more(self, name: str, value: Expr) -> None:
        self.written.append(ir.AugAssign(name, "add", value))

    def scan(self, name: str, e: TileScan) -> None:
        running = self.fresh(f"{name}_sum")
        self.start(name, e.type)
        self.written.append(ir.Assign(running, literal(0, e.type.scalar)))

        def turn(index: Index) -> None:
            self.more(running, self.element(e.value, index))
            self.put(name, e.type, index, Var(running, e.type.scalar))

        self.over(e.type.shape, turn)

    def matmul(self, s: TileMatmul) -> None:
        a, b = s.a.type, s.b.type
        assert isinstance(a, Tile)
        assert isinstance(b, Tile)
        dot, k = self.fresh("dot"), self.fresh("k")
        result = Tile((a.shape[0], b.shape[1]), a.scalar)

        def turn(index: Index) -> None:
            r, c = index
            step = Var(k, INT32)
            value = self.element(s.a, (r, step)) * self.element(s.b, (step, c))
            self.written.append(ir.Assign(dot, literal(0, a.scalar)))
            inner = (ir.AugAssign(dot, "add", value),)
            stop = literal(a.shape[1], INT32)
            self.written.append(ir.For(k, literal(0, INT32), stop, 1, inner))
            self.put(s.name, result, index, Var(dot, a.scalar), "add")

        self.over(result.shape, turn)
        self.taken -= {dot, k}

    def store(self, s: TileStore) -> None:
        type_ = s.value.type
        assert isinstance(type_, Tile)

        def turn(index: Index) -> None:
            place, value = placed(s.offset, index), self.element(s.value, index)
            if s.op:
                self.written.append(ir.Atomic(s.op, s.array, place, value))
            else:
                self.written.append(ir.Store(s.array, place, "", value))

        self.over(type_.shape, turn)

    def element(self, e: Expr, index: Index) -> Expr:
        return element(e, index, _component)


def _component(tile: Var, index: Index) -> Expr:
    assert isinstance(tile.type, Tile)
    if tile.type.size == 1:
        return Var(tile.name, tile.type.scalar)
    return Component(Var(tile.name, held(tile.type)), index, tile.type.scalar)


def element(e: Expr, index: Index, of: Callable[[Var, Index], Expr]) -> Expr:
    """The element of a tile expression at an index; a number is its own.

    ``of`` gives that of a variable. ``TypeError`` for what joins elements, which must be in one.
    """
    if not isinstance(e.type, Tile):
        return e
    match e:
        case Var():
            return of(e, index)
        case TileLoad():
            assert isinstance(e.array.type, Array)
            return Load(e.array, placed(e.offset, index), e.array.type.element)
        case TileMap():
            return Op(e.op, tuple(element(a, index, of) for a in e.args), e.type.scalar)
        case TileApply():
            args = tuple(element(a, index, of) for a in e.args)
            return Call(e.function, args, e.type.scalar)
        case TileBroadcast():
            return element(e.value, sources(e, index), of)
        case TileTranspose():
            return element(e.value, index[::-1], of)
    raise TypeError(f"a {type(e).__name__} has no elements before it is a variable")


def placed(offset: Index, index: Index) -> Index:
    """Where an element of a tile lies in an array of as many axes, or more, first ones fixed."""
    fixed = len(offset) - len(index)
    inner = (plus(o, i) for o, i in zip(offset[fixed:], index, strict=True))
    return (*offset[:fixed], *inner)
