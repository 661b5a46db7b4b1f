"""Expressions of a program as whole arrays: which axes each has, and what its text is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from generators.program import expr
from generators.program.dtypes import Mat, Quat, Scalar, Transform, Type, Vec, scalar_of
from synth.render.array.ops import ARRAY_OPS, NEEDS
from synth.render.array.values import (
    Axis,
    NoForm,
    Value,
    aligned,
    parts_of,
    scalar_name,
    union,
)
from synth.render.doc import Doc, Prec, attribute, binary, call, choice, listing, prefix, subscript
from synth.render.ranges.table import Edges
from synth.render.text import constant_text, number, pi_text
from validate.statuses import ArrayStatus

_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "neg", "floordiv", "mod", "pow"})


class Expressions:
    """Prints expressions; ``env`` says what each variable is at the moment."""

    def __init__(self, shapes: dict[str, tuple[str, ...]], edges: Edges) -> None:
        self.shapes = shapes
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

    def helper(self, name: str) -> str:
        self.helpers.update((name, *NEEDS.get(name, ())))
        return name

    def value(self, e: expr.Expr) -> Value:
        printer = _PRINTERS.get(type(e))
        if printer is None:
            raise NoForm(ArrayStatus.COMPOSITE, "structs, transforms")
        return printer(self, e)

    def join(self, values: Sequence[Value]) -> tuple[tuple[Axis, ...], list[Doc]]:
        """The axes of values together, and their texts aligned to them."""
        axes = union(values, self.order)
        parts = max((parts_of(v.type) for v in values), default=0)
        return axes, [aligned(v, axes, parts) for v in values]

    # Leaves

    def const(self, e: expr.Const) -> Value:
        doc = pi_text(e.value, "np") or number(constant_text(e.value))
        return Value(doc, e.type, weak=True)

    def var(self, e: expr.Var) -> Value:
        if e.name in self.axis_of:
            self.named.add(e.name)
        if e.name not in self.env:
            raise NoForm(ArrayStatus.GUARD, "variables of a branch")
        return self.env[e.name]

    def extent(self, e: expr.Extent) -> Value:
        text = self.size(self.shapes[e.array.name][e.axis])
        return Value(
            Doc(text, Prec.TIGHT if text.isidentifier() or text.isdigit() else Prec.ADD), e.type
        )

    def size(self, text: str) -> str:
        """A size expression, whose symbols the text then has to define; under another name where
        a parameter has theirs."""
        symbols = [word for word in _words(text) if word.isidentifier()]
        self.sizes.update(symbols)
        for symbol in symbols:
            if symbol in self.parameters:
                text = re.sub(rf"\b{symbol}\b", self.size_name(symbol), text)
        return text

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
        if len(axes) == 2 and not parts_of(type_):
            return attribute(doc, "T")
        order = [str(axes.index(axis)) for axis in wanted]
        order += [str(len(axes) + k) for k in range(parts_of(type_))]
        return call(attribute(doc, "transpose").text, [Doc(t) for t in order])

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

    # Operations

    def op(self, e: expr.Op) -> Value:
        printer = ARRAY_OPS.get(e.op)
        if printer is None:
            raise NoForm(ArrayStatus.FUNCTION, e.op)
        if e.op == "lower_bound":
            array = e.args[0]
            assert isinstance(array, expr.Var)
            wanted = self.value(e.args[1])
            return Value(printer(self, [Doc(array.name), wanted.doc], e), e.type, wanted.axes)
        values = [self.value(a) for a in e.args]
        axes = union(values, self.order)
        parts = max((parts_of(v.type) for v in values), default=0)
        docs = [self.argument(e, v, axes, parts) for v in values]
        uniform = not axes and isinstance(e.type, Scalar)
        if uniform and e.op in ("min", "max"):
            return Value(call(e.op, docs), e.type, weak=all(v.weak for v in values))
        if uniform and e.op in ("and", "or", "not"):
            return Value(_logic(e.op, docs), e.type)
        if uniform and e.op == "where":
            return Value(choice(*docs), e.type, weak=values[1].weak and values[2].weak)
        weak = not parts_of(e.type) and _is_weak(e, values)
        doc = printer(self, docs, e)
        if weak and e.op not in _ARITHMETIC and scalar_name(e.type) not in ("bool", "np.int32"):
            # What NumPy makes of literals has its widest type.
            doc, weak = self.converted(doc, e.type, axes), False
        return Value(doc, e.type, axes, weak=weak)

    def converted(self, doc: Doc, type_: Type, axes: Sequence[Axis]) -> Doc:
        name = Doc(scalar_name(type_))
        if not axes:
            return call(name.text, [doc])
        return call(f"{doc.text if doc.prec >= Prec.TIGHT else f'({doc.text})'}.astype", [name])

    def argument(self, e: expr.Op, value: Value, axes: Sequence[Axis], parts: int) -> Doc:
        """An argument aligned to the others; of ops on components only where types are mixed."""
        mixed = e.op in ("mul", "div", "where", "min", "max")
        if not mixed or not parts or parts_of(value.type):
            return aligned(value, axes)
        return aligned(value, axes, parts)

    def cast(self, e: expr.Cast) -> Value:
        value = self.value(e.value)
        if scalar_of(e.value.type) == e.type and not value.weak:
            return value
        return value.of(self.converted(value.doc, e.type, value.axes), type=e.type, weak=False)

    def component(self, e: expr.Component) -> Value:
        value = self.value(e.value)
        if not all(isinstance(i, expr.Const) for i in e.indices):
            picks = [self.value(i) for i in e.indices]
            if any(p.axes for p in picks):
                raise NoForm(ArrayStatus.COMPOSITE, "components chosen by each thread")
            indices = [p.doc for p in picks]
        else:
            indices = [self.value(i).doc for i in e.indices]
        few = len(value.axes) < 3 and not self.in_function
        lead = [Doc(":")] * len(value.axes) if few else [Doc("...")]
        return value.of(subscript(value.doc, [*lead, *indices]), type=e.type)

    def field(self, e: expr.Field) -> Value:
        value = self.value(e.value)
        return value.of(subscript(value.doc, [Doc(f'"{e.name}"')]), type=e.type)

    def construct(self, e: expr.Construct) -> Value:
        if isinstance(e.type, Transform):
            return self.transform(e)
        if not isinstance(e.type, Vec | Mat | Quat):
            raise NoForm(ArrayStatus.COMPOSITE, "structs that are made")
        values = [self.value(a) for a in e.args]
        axes, docs = self.join(values)
        shape = e.type.shape
        dtype = Doc(f"dtype={scalar_name(e.type)}")
        if len(values) == 1:
            if axes:
                widened = aligned(values[0], axes, len(shape))
                ones = call("np.ones", [Doc(str(shape if len(shape) > 1 else shape[0])), dtype])
                return Value(binary("*", Prec.MUL, widened, ones), e.type, axes)
            text = str(shape if len(shape) > 1 else shape[0])
            return Value(call("np.full", [Doc(text), *docs, dtype]), e.type)
        if not axes:
            items = docs
            if isinstance(e.type, Mat):
                cols = e.type.cols
                items = [listing(docs[k * cols : (k + 1) * cols]) for k in range(e.type.rows)]
            return Value(call("np.array", [listing(items), dtype]), e.type)
        same = all(v.axes == axes for v in values) and not self.in_function
        stacked = self.stacked(e.type, docs, same)
        if any(v.weak for v in values):
            stacked = call(f"{stacked.text}.astype", [Doc(scalar_name(e.type))])
        return Value(stacked, e.type, axes)

    def transform(self, e: expr.Construct) -> Value:
        """Position and rotation side by side."""
        values = [self.value(a) for a in e.args]
        axes = union(values, self.order)
        if any(v.axes != axes for v in values) or self.in_function:
            raise NoForm(ArrayStatus.COMPOSITE, "transforms of parts that are not alike")
        joined = call("np.concatenate", [listing([v.doc for v in values]), Doc("axis=-1")])
        return Value(joined, e.type, axes)

    def stacked(self, type_: Vec | Mat | Quat, docs: Sequence[Doc], same: bool) -> Doc:
        """Components side by side; those of other shapes than the rest are made alike first."""
        if isinstance(type_, Mat):
            if not same:
                raise NoForm(ArrayStatus.COMPOSITE, "matrices of parts that are not alike")
            cols = type_.cols
            rows = [docs[k * cols : (k + 1) * cols] for k in range(type_.rows)]
            lines = [call("np.stack", [listing(row), Doc("axis=-1")]) for row in rows]
            return call("np.stack", [listing(lines), Doc("axis=-2")])
        parts = listing(docs) if same else call("np.broadcast_arrays", docs)
        return call("np.stack", [parts, Doc("axis=-1")])

    def call(self, e: expr.Call) -> Value:
        values = [self.value(a) for a in e.args]
        axes = union(values, self.order)
        docs = [aligned(v, axes) for v in values]
        if any(parts_of(v.type) for v in values) or parts_of(e.type):
            # Functions give numbers a dimension beside components: only NumPy's own have one.
            docs = [
                call(scalar_name(v.type), [d]) if v.weak else d
                for v, d in zip(values, docs, strict=True)
            ]
        return Value(call(e.function, docs), e.type, axes)


def _is_weak(e: expr.Op, values: Sequence[Value]) -> bool:
    made_of = values[1:] if e.op == "where" else values
    if e.op in ("step", "nonzero", "bit_count", "argmin", "argmax"):
        return False
    return e.op == "sign" or all(v.weak for v in made_of)


def _logic(op: str, docs: Sequence[Doc]) -> Doc:
    if op == "not":
        return prefix("not ", Prec.NOT, docs[0])
    return binary(op, Prec.AND if op == "and" else Prec.OR, docs[0], docs[1])


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


_PRINTERS: dict[type, Callable[[Expressions, Any], Value]] = {
    expr.Const: Expressions.const,
    expr.Var: Expressions.var,
    expr.Op: Expressions.op,
    expr.Cast: Expressions.cast,
    expr.Load: Expressions.load,
    expr.Extent: Expressions.extent,
    expr.Component: Expressions.component,
    expr.Field: Expressions.field,
    expr.Call: Expressions.call,
    expr.Construct: Expressions.construct,
}
