"""Evaluation of kernels of tiles: a lane for each block, and all elements of a tile at once.

Values of tiles are (axes of the tile..., lane), as composites are (components..., lane), so that
what is done for each element is one operation of NumPy. What joins elements has the roundings of
running sums from the first to the last, as :mod:`generators.program.serial` says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from generators.program import ir, tiles
from generators.program.dtypes import Scalar, Tile, Type, scalar_of
from generators.program.expr import Expr, Op, Var
from synth.gates.cancel import CancellingEvaluation
from synth.gates.lanes.memory import ArrayMemory
from synth.gates.lanes.values import Lanes, Mask, Values, noise


class TileLanes(Lanes):
    """Lanes of blocks, whose values may have many elements."""

    def __init__(self, threads: int, redrawn: int, has_narrow_floats: bool) -> None:
        super().__init__(threads, redrawn, has_narrow_floats)
        self._given = redrawn, has_narrow_floats

    def widened(self, elements: int) -> TileLanes:
        """As many lanes as these for each of so many elements."""
        return TileLanes(elements * self.threads, *self._given)

    def running(self, terms: Values, scalar: Scalar) -> Values:
        """Sums of floats along the first axis, each with the roundings of all additions so far."""
        sums: Values = np.cumsum(terms, axis=0)
        if scalar.name != "float64":
            native = terms[..., self._native].astype(scalar.name)
            sums[..., self._native] = np.cumsum(native, axis=0, dtype=native.dtype)
        noisy = sums[..., self._noisy]
        noisy += np.cumsum(
            self._roundoff[scalar.name] * noisy * self._drawn(noisy, noise()), axis=0
        )
        return sums

    def _drawn(self, like: Values, of: Values) -> Values:
        """As many numbers as values: more values than there are numbers have these again, from
        elsewhere than the ones before, since turns of a loop are not off by the same."""
        if like.size < of.size:
            return super()._drawn(like, of)
        self._cursor += 997
        return np.resize(np.roll(of, -self._cursor), like.shape)


class TiledEvaluation(CancellingEvaluation):
    """Runs one kernel of tiles, with a thread for each of its blocks."""

    def __init__(
        self,
        program: ir.Program,
        lanes: TileLanes,
        memories: dict[str, ArrayMemory],
        scalars: dict[str, Any],
    ) -> None:
        super().__init__(program, lanes, memories, scalars)
        self.lanes: TileLanes = lanes
        self._wide: dict[int, tuple[TileLanes, dict[tuple[object, str], Values]]] = {}
        self._nodes: dict[int, Op] = {}
        """The op of scalars that a tile expression applies, by the expression's identity."""
        rules: dict[type, Callable[[Any, Mask], Any]] = {
            tiles.TileLoad: self._tile_load,
            tiles.TileFill: self._tile_fill,
            tiles.TileMap: self._tile_map,
            tiles.TileApply: self._tile_apply,
            tiles.TileBroadcast: self._tile_broadcast,
            tiles.TileReduce: self._tile_reduce,
            tiles.TileScan: self._tile_scan,
            tiles.TileTranspose: lambda e, mask: self.value(e.value, mask).swapaxes(0, 1),
        }
        self._expression_rules.update(rules)
        self._statement_rules[tiles.TileMatmul] = self._tile_matmul
        self._statement_rules[tiles.TileStore] = self._tile_store

    # Expressions

    def _tile_load(self, e: tiles.TileLoad, mask: Mask) -> Values:
        found: Values = self.memories[e.array.name].load(
            self._places(e.offset, e.type.shape, mask), mask
        )
        return found

    def _places(self, offset: tuple[Expr, ...], shape: tuple[int, ...], mask: Mask) -> list[Values]:
        """The indices of all elements of a tile along each axis of an array."""
        fixed = len(offset) - len(shape)
        starts = [self.value(o, mask) for o in offset]
        whole = (*shape, self.lanes.count)
        within = np.indices(shape)[..., np.newaxis]
        inner = [s + i for s, i in zip(starts[fixed:], within, strict=True)]
        return [np.broadcast_to(s, whole) for s in (*starts[:fixed], *inner)]

    def _tile_fill(self, e: tiles.TileFill, mask: Mask) -> Values:
        return np.broadcast_to(self.value(e.value, mask), (*e.type.shape, self.lanes.count))

    def _tile_map(self, e: tiles.TileMap, mask: Mask) -> Values:
        node = self._node(e, e.op, [a.type for a in e.args])
        found: Values = self._apply(node, [self.value(a, mask) for a in e.args], mask)
        return found

    def _node(self, e: object, op: str, types: list[Type]) -> Op:
        """An op of scalars for the elements of tiles; one and the same for an expression."""
        if id(e) not in self._nodes:
            args = tuple(Var("element", scalar_of(t)) for t in types)
            self._nodes[id(e)] = Op(op, args, scalar_of(types[0]))
        return self._nodes[id(e)]

    def _tile_apply(self, e: tiles.TileApply, mask: Mask) -> Values:
        """A helper function, each element in a lane of its own: branches are theirs."""
        variants, blocks = self.lanes.variants, self.lanes.threads
        values = [self.value(a, mask) for a in e.args]

        def widened(value: Values) -> Values:
            parts = value.reshape(-1, variants, blocks)
            return np.ascontiguousarray(parts.swapaxes(0, 1)).reshape(-1)

        wide = None
        if mask is not None:
            wide = widened(np.broadcast_to(mask, (e.type.size, self.lanes.count)))
        with self._lanes_of(e.type.size):
            found = self._run(self.functions[e.function], [widened(v) for v in values], wide)
        parts = found.reshape(variants, e.type.size, blocks).swapaxes(0, 1)
        return np.ascontiguousarray(parts).reshape(*e.type.shape, -1)

    @contextmanager
    def _lanes_of(self, elements: int) -> Iterator[None]:
        """So many lanes a block for a while."""
        own = self.lanes, self._literals
        if elements not in self._wide:
            self._wide[elements] = self.lanes.widened(elements), {}
        self.lanes, self._literals = self._wide[elements]
        self.coverage.lanes = self.lanes
        yield
        self.lanes, self._literals = own
        self.coverage.lanes = self.lanes

    def _tile_broadcast(self, e: tiles.TileBroadcast, mask: Mask) -> Values:
        value: Values = self.value(e.value, mask)
        assert isinstance(e.value.type, Tile)
        if e.value.type.size > 1:
            after = len(e.type.shape) - 1 - e.axis
            value = value.reshape(*value.shape[:-1], *[1] * after, value.shape[-1])
        return np.broadcast_to(value, (*e.type.shape, self.lanes.count))

    def _tile_reduce(self, e: tiles.TileReduce, mask: Mask) -> Values:
        value: Values = self.value(e.value, mask)
        shape = e.type.shape
        rows = value.reshape(-1, self.lanes.count) if e.axis < 0 else np.moveaxis(value, e.axis, 0)
        if e.how == "sum":
            last = self._running(e, rows, e.type.scalar, mask)[-1]
            return last.reshape(*shape, -1)
        node = self._node(e, tiles.REDUCTIONS[e.how], [e.type, e.type])
        extreme = np.maximum if e.how == "max" else np.minimum
        found = extreme.accumulate(rows, axis=0)
        self.coverage.selection(node, [found[:-1], rows[1:]], mask)
        return found[-1].reshape(*shape, -1)

    def _tile_scan(self, e: tiles.TileScan, mask: Mask) -> Values:
        return self._running(e, self.value(e.value, mask), e.type.scalar, mask)

    def _running(self, e: Expr, rows: Values, scalar: Scalar, mask: Mask) -> Values:
        """Sums of each row and all before it, each addition rounded as its variant asks."""
        if scalar.is_float:
            return self.lanes.running(rows, scalar)
        node = self._node(e, "add", [scalar, scalar])
        found = [rows[0]]
        for row in rows[1:]:
            found.append(self._apply(node, [found[-1], row], mask))
        return np.array(found)

    # Statements

    def _augment(self, s: ir.AugAssign, mask: Mask) -> Mask:
        frame = self._frames[-1]
        type_ = frame.types[s.name]
        if not isinstance(type_, Tile):
            return super()._augment(s, mask)
        node = self._node(s, s.op, [type_, s.value.type])
        args = [frame.variables[s.name], self.value(s.value, mask)]
        self._bind(s.name, self._apply(node, args, mask), mask)
        return mask

    def _tile_matmul(self, s: tiles.TileMatmul, mask: Mask) -> Mask:
        a, b = self.value(s.a, mask), self.value(s.b, mask)
        scalar = scalar_of(s.a.type)
        times = self._node(s.a, "mul", [scalar, scalar])
        plus = self._node(s, "add", [scalar, scalar])
        dot = None
        for k in range(a.shape[1]):
            product = self._apply(times, [a[:, k, np.newaxis], b[k][np.newaxis]], mask)
            dot = product if dot is None else self._apply(plus, [dot, product], mask)
        total = self._frames[-1].variables[s.name]
        self._bind(s.name, self._apply(plus, [total, dot], mask), mask)
        return mask

    def _tile_store(self, s: tiles.TileStore, mask: Mask) -> Mask:
        type_ = s.value.type
        assert isinstance(type_, Tile)
        value, places = self.value(s.value, mask), self._places(s.offset, type_.shape, mask)
        self._check_finite(value, mask, s.array.name)
        memory = self.memories[s.array.name]
        if s.op:
            memory.atomic(s.op, places, value, mask)
        else:
            memory.store(places, value, mask)
        return mask
