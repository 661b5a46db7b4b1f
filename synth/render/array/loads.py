"""Reads of arrays: slices of whole dimensions, and elements by index."""

from __future__ import annotations

import re
from collections.abc import Sequence

from generators.program import expr
from generators.program.dtypes import Type
from synth.render.array.dialects.dialect import Dialect
from synth.render.array.values import Axis, Value, aligned, parts_of, union
from synth.render.doc import Doc, subscript
from synth.render.ranges.table import Edges


class Loads:
    """Prints reads of arrays; a subclass prints the expressions that their indices are.

    ``env`` says what each variable is at the moment.
    """

    def __init__(self, shapes: dict[str, tuple[str, ...]], edges: Edges, dialect: Dialect) -> None:
        self.shapes = shapes
        self.dialect = dialect
        self.operands: Sequence[Value] = ()
        """Arguments of the op whose printer is called, as they were printed."""
        self.calls: dict[str, list[bool]] = {}
        """By helper of the program: for each parameter, whether all calls give it a number."""
        self.edges = edges
        self.env: dict[str, Value] = {}
        self.order: list[Axis] = []
        self.axis_of: dict[str, Axis] = {}
        self.named: set[str] = set()
        """Axes whose places are read as numbers, so that the text must define them."""
        self.helpers: set[str] = set()
        self.sizes: set[str] = set()
        self.unsafe = False
        """Whether an index that was printed may lie beyond its array for some threads."""
        self.parameters: set[str] = set()
        self.lengths: dict[str, str] = {}
        """By parameter that is a size: the expression of it."""
        self.lanes: set[str] = set()
        """Names of the places of threads that a condition chose."""
        self.in_function = False
        self.turns: set[str] = set()
        """Counters of Python's loops, which are no sizes."""
        self.counters: dict[str, str] = {}
        """Their names where the program's are sizes."""

    def helper(self, name: str) -> str:
        self.helpers.update((name, *self.dialect.needs.get(name, ())))
        return name

    def value(self, e: expr.Expr) -> Value:
        """The text and the axes of an expression."""
        raise NotImplementedError

    def size(self, text: str) -> str:
        """A size expression, whose symbols the text then has to define; under another name where
        a parameter has theirs."""
        words = (word for word in _words(text) if word.isidentifier())
        symbols = [word for word in words if word not in self.turns]
        self.sizes.update(symbols)
        for symbol in symbols:
            if symbol in self.parameters:
                text = re.sub(rf"\b{symbol}\b", self.size_name(symbol), text)
        return re.sub(r" *(//|[-+*]) *", r" \1 ", text)

    def size_name(self, symbol: str) -> str:
        """The name of a size in the text."""
        return f"len_{symbol}" if symbol in self.parameters else symbol

    def length(self, axis: Axis) -> str:
        """The length of an axis, in the text."""
        return axis.extent if axis.lanes else self.size(axis.extent)

    # Reading arrays

    def bare_axis(self, e: expr.Expr) -> Axis | None:
        """The axis whose place an index is, if it is nothing else."""
        return self.axis_of.get(e.name) if isinstance(e, expr.Var) else None

    def load(self, e: expr.Load) -> Value:
        name, shape = e.array.name, self.shapes[e.array.name]
        bare = [self.bare_axis(i) for i in e.indices]
        there = [axis for axis in bare if axis is not None]
        plain = len(set(there)) == len(there)
        others = [i for i, axis in zip(e.indices, bare, strict=True) if axis is None]
        values = [self.value(i) for i in others]
        array = self.env[name].doc if name in self.env else Doc(name)
        if plain and not any(v.axes for v in values):
            return self.sliced(e, array, bare, values, shape)
        return self.gathered(e, array, bare, values)

    def sliced(
        self,
        e: expr.Load,
        array: Doc,
        bare: Sequence[Axis | None],
        values: Sequence[Value],
        shape: Sequence[str],
    ) -> Value:
        """Whole dimensions, and places that all threads share."""
        left = iter(values)
        texts = [
            self.whole(axis, size) if axis is not None else next(left).doc.text
            for axis, size in zip(bare, shape, strict=True)
        ]
        while texts and texts[-1] == ":":
            texts.pop()
        doc = subscript(array, [Doc(t) for t in texts]) if texts else array
        axes = [axis for axis in bare if axis is not None]
        sorted_axes = [axis for axis in self.order if axis in axes]
        named = "" if texts else e.array.name
        if sorted_axes == axes:
            return Value(doc, e.type, tuple(axes), bare=e.array.name if not values else named)
        return Value(self.turned(doc, axes, sorted_axes, e.type), e.type, tuple(sorted_axes))

    def whole(self, axis: Axis, size: str) -> str:
        return ":" if axis.extent == size else f":{self.length(axis)}"

    def turned(self, doc: Doc, axes: Sequence[Axis], wanted: Sequence[Axis], type_: Type) -> Doc:
        """The array with its axes in another order."""
        order = [axes.index(axis) for axis in wanted]
        order += [len(axes) + k for k in range(parts_of(type_))]
        return self.dialect.turned(doc, order)

    def gathered(
        self, e: expr.Load, array: Doc, bare: Sequence[Axis | None], values: Sequence[Value]
    ) -> Value:
        """Places that differ from thread to thread in another way than by a whole dimension."""
        self.note_bounds(e)
        indices = self.index_values(e.indices, bare, values)
        axes = union(indices, self.order)
        first, rest = indices[0], list(bare[1:])
        tail = [axis for axis in rest if axis is not None]
        behind = not (set(tail) & set(first.axes)) and axes == (*first.axes, *tail)
        if bare[0] is None and len(tail) == len(rest) == len(set(tail)) and behind:
            shape = self.shapes[e.array.name]
            slices = [self.whole(a, s) for a, s in zip(tail, shape[1:], strict=True)]
            while slices and slices[-1] == ":":
                slices.pop()
            docs = [first.doc, *(Doc(s) for s in slices)]
            return Value(subscript(array, docs), e.type, axes)
        for index, axis in zip(e.indices, bare, strict=True):
            if axis is not None and isinstance(index, expr.Var):
                self.named.add(index.name)
        return Value(subscript(array, [aligned(i, axes) for i in indices]), e.type, axes)

    def index_values(
        self,
        indices: Sequence[expr.Expr],
        bare: Sequence[Axis | None],
        values: Sequence[Value],
    ) -> list[Value]:
        """The values of all indices, those that are an axis among them."""
        left = iter(values)
        return [
            self.env[i.name] if axis is not None and isinstance(i, expr.Var) else next(left)
            for i, axis in zip(indices, bare, strict=True)
        ]

    def note_bounds(self, e: expr.Load) -> None:
        shape = self.shapes[e.array.name]
        for index, size in zip(e.indices, shape, strict=True):
            if not self.inside(index, size):
                self.unsafe = True

    def inside(self, e: expr.Expr, size: str) -> bool:
        """Whether an index is never beyond a dimension, whoever reads; before it NumPy counts from
        the end."""
        match e:
            case expr.Var():
                axis = self.axis_of.get(e.name)
                return e.name in self.lanes or (axis is not None and axis.extent == size)
            case expr.Const():
                return True
            case expr.Load():
                return True
            case expr.Op(op="min"):
                return any(self.inside(a, size) for a in e.args) or any(
                    _is_last(a, size, self.shapes) for a in e.args
                )
            case expr.Op(op="clamp"):
                return _is_last(e.args[2], size, self.shapes)
            case expr.Op(op="mod" | "lower_bound" | "argmin" | "argmax"):
                return True
            case expr.Op(op="sub" | "floordiv" | "rshift"):
                return self.inside(e.args[0], size)
            case expr.Op(op="max" | "where"):
                return all(self.inside(a, size) for a in e.args[-2:])
        return False


def _is_last(e: expr.Expr, size: str, shapes: dict[str, tuple[str, ...]]) -> bool:
    """Whether an expression is the last place of a dimension."""
    match e:
        case expr.Op(op="sub", args=(expr.Extent() as extent, expr.Const(value=1))):
            return shapes[extent.array.name][extent.axis] == size
        case expr.Op(op="sub", args=(expr.Var() as count, expr.Const(value=1))):
            return count.name == size
    return False


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
