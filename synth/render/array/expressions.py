"""Expressions of a program as whole arrays: which axes each has, and what its text is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from generators.program import expr
from generators.program.dtypes import Mat, Quat, Scalar, Transform, Type, Vec, scalar_of
from generators.program.walk import expressions, names_read
from synth.render.array.linear import Linear, linear_of
from synth.render.array.loads import Loads
from synth.render.array.values import (
    Axis,
    NoForm,
    Value,
    aligned,
    parts_of,
    union,
)
from synth.render.doc import Doc, Prec, binary, call, choice, listing, prefix, subscript
from synth.render.text import constant_text, number, pi_text
from validate.statuses import ArrayStatus

_JOINING = frozenset({"add", "sub", "mul", "where", "min", "max"})
_PLAIN = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "where", "min", "max", "clamp", "lerp"})
_MIXED = frozenset({"mul", "div", "where", "min", "max", "lerp", "add", "sub", "cw_mul", "cw_div"})
_THINNED = frozenset({"where", "min", "max", "add", "sub", "cw_mul", "cw_div"})
_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "neg", "floordiv", "mod", "pow"})


class Expressions(Loads):
    """Prints expressions."""

    def value(self, e: expr.Expr) -> Value:
        printer = _PRINTERS.get(type(e))
        if printer is None:
            raise NoForm(ArrayStatus.COMPOSITE, "structs, transforms")
        self.dialect.check(e.type)
        return printer(self, e)

    def join(self, values: Sequence[Value]) -> tuple[tuple[Axis, ...], list[Doc]]:
        """The axes of values together, and their texts aligned to them."""
        axes = union(values, self.order)
        parts = max((parts_of(v.type) for v in values), default=0)
        return axes, [aligned(v, axes, parts) for v in values]

    # Leaves

    def const(self, e: expr.Const) -> Value:
        doc = pi_text(e.value, self.dialect.pi) or number(
            constant_text(e.value, unsigned=e.type.is_unsigned)
        )
        whole = isinstance(e.value, int) and not isinstance(e.value, bool)
        linear = Linear(int(e.value)) if whole else None
        return Value(doc, e.type, weak=True, number=True, linear=linear)

    def var(self, e: expr.Var) -> Value:
        if e.name in self.axis_of:
            self.named.add(e.name)
        if e.name not in self.env:
            raise NoForm(ArrayStatus.GUARD, "variables of a branch")
        return self.env[e.name]

    def extent(self, e: expr.Extent) -> Value:
        size = self.shapes[e.array.name][e.axis]
        return Value(_sum(self.size(size)), e.type, number=True, linear=linear_of(size))

    # Operations

    def op(self, e: expr.Op) -> Value:
        e = _clamped(e)
        printer = self.dialect.ops.get(e.op)
        if printer is None:
            raise NoForm(ArrayStatus.FUNCTION, e.op)
        if e.op == "lower_bound":
            array = e.args[0]
            assert isinstance(array, expr.Var)
            wanted = self.value(e.args[1])
            found = printer(self, [Doc(array.name), wanted.doc], e)
            # A place is a wide integer, whatever the program has.
            return Value(found, e.type, wanted.axes, weak=True)
        values = self.alike(e.op, [self.value(a) for a in e.args])
        if e.op == "diag" and values[0].thin is not None:
            return self.scaled_identity(e, values[0].thin)
        values = thinned(e.op, values)
        axes = union(values, self.order)
        parts = max((parts_of(v.type) for v in values), default=0)
        docs = [self.argument(e, v, axes, parts) for v in values]
        numbers = all(v.number for v in values)
        uniform = not axes and isinstance(e.type, Scalar)
        if uniform and (numbers or not self.dialect.numbers_differ):
            if e.op in ("min", "max"):
                weak = all(v.weak for v in values)
                return Value(call(e.op, docs), e.type, weak=weak, number=numbers)
            if e.op in ("and", "or", "not"):
                return Value(_logic(e.op, docs), e.type, number=numbers)
            if e.op == "where":
                weak = values[1].weak and values[2].weak
                return Value(choice(*docs), e.type, weak=weak, number=numbers)
        if e.op == "where" and not values[0].axes and not self.in_function:
            return Value(choice(*docs), e.type, axes, values[1].weak and values[2].weak)
        self.operands = values
        doc = printer(self, docs, e)
        value = Value(doc, e.type, axes, not parts_of(e.type) and _is_weak(e, values))
        value = replace(value, number=numbers and uniform, linear=_linear(e, values))
        value = self.as_one(e, values, value)
        if value.weak and e.op not in _ARITHMETIC and self.dialect.widens(e.type):
            value = replace(self.converted(value, e.type), weak=False)
        return value

    def as_one(self, e: expr.Op, values: Sequence[Value], value: Value) -> Value:
        """A value; where numbers are added to sizes on either side, with their sum."""
        if not value.number or value.linear is None or not _adds_constants(e, values):
            return value
        return replace(value, doc=_sum(value.linear.text(self.symbol)))

    def alike(self, op: str, values: Sequence[Value]) -> Sequence[Value]:
        """Arguments of which arrays of literals have the type of the others."""
        if op not in _JOINING or all(v.weak or v.type != values[-1].type for v in values):
            return values
        return [self.firm(v) for v in values]

    def firm(self, value: Value) -> Value:
        """A value of the type it has in the program, where an array of literals has another."""
        if not value.weak or not value.axes:
            return value
        return replace(self.converted(value, value.type), weak=False)

    def converted(self, value: Value, type_: Type) -> Value:
        """A value in another type."""
        if value.number and self.dialect.numbers_differ:
            return value.of(_number_as(value, type_), type=type_)
        is_array = bool(value.axes) or self.dialect.numbers_differ
        return value.of(self.dialect.converted(value.doc, type_, is_array), type=type_)

    def argument(self, e: expr.Op, value: Value, axes: Sequence[Axis], parts: int) -> Doc:
        """An argument aligned to the others; of ops on components only where types are mixed."""
        mixed = e.op in _MIXED
        if not mixed or not parts or parts_of(value.type):
            return aligned(value, axes)
        return aligned(value, axes, parts)

    def cast(self, e: expr.Cast) -> Value:
        value = self.value(e.value)
        if scalar_of(e.value.type) == e.type and not value.weak:
            return value
        whole = isinstance(e.type, Scalar) and e.type.is_int
        linear = value.linear if whole else None
        return replace(self.converted(value, e.type), weak=False, linear=linear)

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
        if len(values) == 1:
            return self.filled_parts(e.type, values[0])
        if not axes and all(v.number or not self.dialect.numbers_differ for v in values):
            items = docs
            if isinstance(e.type, Mat):
                cols = e.type.cols
                items = [listing(docs[k * cols : (k + 1) * cols]) for k in range(e.type.rows)]
            return Value(self.dialect.listed(listing(items), e.type), e.type)
        same = all(v.axes == axes and not v.number for v in values) and not self.in_function
        stacked = self.stacked(e.type, docs, values, same)
        if any(v.weak for v in values):
            stacked = self.dialect.converted(stacked, e.type, is_array=True)
        return Value(stacked, e.type, axes)

    def filled_parts(self, type_: Vec | Mat | Quat, value: Value) -> Value:
        """A vector or matrix whose components are one value."""
        shape = type_.shape
        if value.axes:
            widened = aligned(value, value.axes, len(shape))
            rank = -1 if self.in_function else len(value.axes)
            doc = self.dialect.repeated(widened, rank, shape, type_)
            return Value(doc, type_, value.axes, thin=value)
        text = str(shape if len(shape) > 1 else shape[0])
        made = self.dialect.made("full", [text, value.doc.text], type_)
        if value.doc.text in ("0.0", "0"):
            made = self.dialect.made("zeros", [text], type_)
        return Value(made, type_, thin=value)

    def scaled_identity(self, e: expr.Op, number: Value) -> Value:
        """A diagonal matrix of one number."""
        assert isinstance(e.type, Mat)
        eye = self.dialect.made("eye", [str(e.type.rows)], e.type)
        if number.doc.text == "1.0":
            return Value(eye, e.type)
        doc = binary("*", Prec.MUL, aligned(number, number.axes, 2), eye)
        return Value(doc, e.type, number.axes)

    def transform(self, e: expr.Construct) -> Value:
        """Position and rotation side by side."""
        values = [self.value(a) for a in e.args]
        axes = union(values, self.order)
        if any(v.axes != axes for v in values) or self.in_function:
            raise NoForm(ArrayStatus.COMPOSITE, "transforms of parts that are not alike")
        joined = self.dialect.joined(listing([v.doc for v in values]))
        return Value(joined, e.type, axes)

    def stacked(
        self, type_: Vec | Mat | Quat, docs: Sequence[Doc], values: Sequence[Value], same: bool
    ) -> Doc:
        """Components side by side; those of other shapes than the rest are made alike first."""
        if isinstance(type_, Mat):
            if not same:
                return self.reshaped_parts(type_, docs, values)
            cols = type_.cols
            rows = [docs[k * cols : (k + 1) * cols] for k in range(type_.rows)]
            lines = [self.dialect.stack(listing(row), -1) for row in rows]
            return self.dialect.stack(listing(lines), -2)
        parts = listing(docs) if same else self.dialect.broadcast_all(docs, values)
        return self.dialect.stack(parts, -1)

    def widened(self, function: str) -> set[int]:
        """The parameters of a helper that it calls a function of, by place."""
        known = self.functions.get(function)
        if known is None:
            return set()
        called = [
            e
            for e in expressions(known.body)
            if isinstance(e, expr.Op) and e.op not in _ARITHMETIC | _PLAIN
        ]
        read = {name for e in called for name in names_read(e.args)}
        return {k for k, p in enumerate(known.params) if p.name in read and not parts_of(p.type)}

    def reshaped_parts(self, type_: Mat, docs: Sequence[Doc], values: Sequence[Value]) -> Doc:
        """Entries of several shapes side by side, then as rows and columns."""
        axes = union(values, self.order)
        if self.in_function or not axes:
            raise NoForm(ArrayStatus.COMPOSITE, "matrices of parts that are not alike")
        stacked = self.dialect.stack(self.dialect.broadcast_all(docs, values), -1)
        lead = ["-1"] if len(axes) == 1 else [self.length(axis) for axis in axes]
        lengths = [Doc(text) for text in [*lead, str(type_.rows), str(type_.cols)]]
        return call(f"{stacked.text}.reshape", lengths)

    def call(self, e: expr.Call) -> Value:
        values = [self.value(a) for a in e.args]
        axes = union(values, self.order)
        docs = [aligned(v, axes) for v in values]
        numbers = [v.number for v in values]
        before = self.calls.get(e.function, numbers)
        self.calls[e.function] = [a and b for a, b in zip(before, numbers, strict=True)]
        parts = any(parts_of(v.type) for v in values) or parts_of(e.type)
        if not self.dialect.numbers_differ:
            # Functions give numbers a dimension beside components: only NumPy's own have one.
            # And what NumPy's functions make of a number of Python has its widest type.
            wide = self.widened(e.function)
            docs = [
                self.dialect.converted(d, v.type, is_array=False)
                if v.weak and not v.axes and (parts or k in wide)
                else d
                for k, (v, d) in enumerate(zip(values, docs, strict=True))
            ]
        number = all(numbers) and not parts
        return Value(call(e.function, docs), e.type, axes, number=number)


def thinned(op: str, values: Sequence[Value]) -> list[Value]:
    """Arguments of which vectors of one number are that number where another one is a vector."""
    full = any(v.thin is None and parts_of(v.type) for v in values)
    if op not in _THINNED or not full:
        return list(values)
    return [v if v.thin is None else v.thin for v in values]


def _linear(e: expr.Op, values: Sequence[Value]) -> Linear | None:
    """What sums, differences and multiples of linear numbers are."""
    parts = [v.linear for v in values]
    if e.op not in ("add", "sub", "mul") or None in parts:
        return None
    left, right = parts
    assert left is not None
    assert right is not None
    if e.op != "mul":
        return left.plus(right, 1 if e.op == "add" else -1)
    if left.fixed or right.fixed:
        return left.scaled(right.const) if right.fixed else right.scaled(left.const)
    return None


def _sum(text: str) -> Doc:
    """A sum of sizes, or one of them alone."""
    return Doc(text, Prec.TIGHT if text.isidentifier() or text.isdigit() else Prec.ADD)


def _adds_constants(e: expr.Op, values: Sequence[Value]) -> bool:
    """Whether a number is added on either side and neither is a name, so that the two are one."""
    return (
        e.op in ("add", "sub")
        and not any(isinstance(a, expr.Var) for a in e.args)
        and all(v.linear is not None and v.linear.const for v in values)
    )


def _clamped(e: expr.Op) -> expr.Op:
    """A value between two literals as one op, where the program takes the extremes in turn."""
    other = {"min": "max", "max": "min"}.get(e.op)
    if other is None or not isinstance(e.type, Scalar) or len(e.args) != 2:
        return e
    for inner, outer_bound in (e.args, e.args[::-1]):
        if not isinstance(inner, expr.Op) or inner.op != other or len(inner.args) != 2:
            continue
        for value, inner_bound in (inner.args, inner.args[::-1]):
            bounds = (inner_bound, outer_bound) if e.op == "min" else (outer_bound, inner_bound)
            low, high = bounds
            if not isinstance(low, expr.Const) or not isinstance(high, expr.Const):
                continue
            if float(low.value) <= float(high.value):
                return expr.Op("clamp", (value, low, high), e.type)
    return e


def _is_weak(e: expr.Op, values: Sequence[Value]) -> bool:
    made_of = values[1:] if e.op == "where" else values
    if e.op in ("step", "nonzero", "bit_count"):
        return False
    if e.op in ("argmin", "argmax"):
        # A place is a wide integer, whatever the program has.
        return True
    return e.op == "sign" or all(v.weak for v in made_of)


def _number_as(value: Value, type_: Type) -> Doc:
    """A number of Python as one of another type."""
    scalar = scalar_of(type_)
    if value.weak or scalar == scalar_of(value.type):
        return value.doc
    name = "bool" if scalar.name == "bool" else "int" if scalar.is_int else "float"
    return call(name, [value.doc])


def _logic(op: str, docs: Sequence[Doc]) -> Doc:
    if op == "not":
        return prefix("not ", Prec.NOT, docs[0])
    return binary(op, Prec.AND if op == "and" else Prec.OR, docs[0], docs[1])


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
