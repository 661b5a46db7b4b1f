"""Expressions of a program as plain CUDA C++."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from generators import expr
from generators.dtypes import BOOL, Scalar, Struct, Transform, Type
from synth.cuda_device import Library, built, number
from synth.cuda_ops import CUDA_OPS
from synth.cuda_parts import converter, filler, picker
from synth.cuda_text import Prec, Text, at_least, binary, call, item, member
from synth.cuda_types import computed, is_builtin_vector, literal, name_of, parts


class Expressions:
    """Prints expressions, with what they need in a :class:`Library`."""

    def __init__(
        self,
        library: Library,
        names: Mapping[str, str],
        shapes: Mapping[str, Sequence[str]],
    ) -> None:
        """``names`` renames what C++ has for itself; ``shapes`` are C++ texts of extents."""
        self.library = library
        self.names = names
        self.shapes = shapes
        self._expressions: dict[type, Callable[[Any], Text]] = {
            expr.Const: lambda e: _literal(e),
            expr.Var: lambda e: Text(self.name(e.name)),
            expr.Op: self._op,
            expr.Cast: self._cast,
            expr.Load: self._load,
            expr.Extent: lambda e: Text(self.shapes[e.array.name][e.axis]),
            expr.Component: self._component,
            expr.Field: self._field,
            expr.Call: lambda e: call(self.name(e.function), self.show_all(e.args)),
            expr.Construct: self._construct,
        }

    def name(self, name: str) -> str:
        return self.names.get(name, name)

    def show(self, e: expr.Expr) -> Text:
        return self._expressions[type(e)](e)

    def show_all(self, expressions: Sequence[expr.Expr]) -> list[Text]:
        return [self.show(e) for e in expressions]

    def _op(self, e: expr.Op) -> Text:
        if e.op == "lower_bound":
            keys, value = e.args
            assert isinstance(keys, expr.Var)
            name = self.library.function("lower_bound", value.type)
            count = Text(self.shapes[keys.name][0])
            return call(name, [Text(self.name(keys.name)), count, self.show(value)])
        return CUDA_OPS[e.op](self, self.show_all(e.args), e)

    def _cast(self, e: expr.Cast) -> Text:
        value, source, target = self.show(e.value), computed(e.value.type), computed(e.type)
        if source == target:
            return value
        if target == BOOL:
            return binary("!=", Prec.EQUAL, value, Text(number(0, source)))
        return Text(f"({name_of(target)}){at_least(value, Prec.UNARY)}", Prec.UNARY)

    def index(self, array: expr.Var, indices: Sequence[expr.Expr]) -> Text:
        """``a[i * w + j]``."""
        shape = self.shapes[array.name]
        flat = self.show(indices[0])
        for extent, index in zip(shape[1:], indices[1:], strict=True):
            size = Text(extent, Prec.ADD if "+" in extent else Prec.POSTFIX)
            flat = binary("+", Prec.ADD, binary("*", Prec.MUL, flat, size), self.show(index))
        return item(Text(self.name(array.name)), [flat])

    def _load(self, e: expr.Load) -> Text:
        return self.widened(self.index(e.array, e.indices), e.type)

    def widened(self, stored: Text, type_: Type) -> Text:
        """A value as it is computed with: float16 becomes float."""
        if isinstance(type_, Struct) or computed(type_) == type_:
            return stored
        if isinstance(type_, Scalar):
            return call("__half2float", [stored])
        return call(
            converter(self.library, "widen", type_, computed(type_), "__half2float"), [stored]
        )

    def narrowed(self, value: Text, type_: Type) -> Text:
        """A value as memory holds it."""
        if isinstance(type_, Struct) or computed(type_) == type_:
            return value
        if isinstance(type_, Scalar):
            return call("__float2half", [value])
        return call(
            converter(self.library, "narrow", computed(type_), type_, "__float2half"), [value]
        )

    def _component(self, e: expr.Component) -> Text:
        value, type_ = self.show(e.value), computed(e.value.type)
        return self._place(value, type_, e.indices)

    def _place(self, value: Text, type_: Type, indices: Sequence[expr.Expr]) -> Text:
        if all(isinstance(i, expr.Const) for i in indices):
            return Text(at_least(value, Prec.POSTFIX) + parts(type_)[_flat(type_, indices)])
        if is_builtin_vector(type_) or not hasattr(type_, "shape") or is_lettered(type_):
            return call(picker(self.library, type_), [value, self.show(indices[0])])
        inner = "m" if len(indices) == 2 else "v"
        return item(member(value, inner), self.show_all(indices))

    def _field(self, e: expr.Field) -> Text:
        return self.widened(member(self.show(e.value), self.name(e.name)), e.type)

    def _construct(self, e: expr.Construct) -> Text:
        type_ = e.type
        args = self.show_all(e.args)
        if isinstance(type_, Struct):
            pairs = zip(args, type_.fields, strict=True)
            values = ", ".join(self.narrowed(a, t).text for a, (_, t) in pairs)
            return Text(f"{type_.name}{{{values}}}")
        held = computed(type_)
        if isinstance(held, Transform):
            return Text(f"{self.library.type(held)}{{{', '.join(a.text for a in args)}}}")
        texts = [a.text for a in args]
        places = len(parts(held))
        if len(texts) == 1 and places > 1:
            if isinstance(e.args[0], expr.Const | expr.Var):
                texts = texts * places
            else:
                return call(filler(self.library, held), args)
        return Text(built(self.library, held, texts))


def _literal(e: expr.Const) -> Text:
    text = literal(e.value, e.type)
    return Text(text, Prec.UNARY if text.startswith("-") else Prec.POSTFIX)


def is_lettered(type_: Type) -> bool:
    """Whether the parts of a type have names of their own and cannot be indexed."""
    return is_builtin_vector(type_) or not (parts(type_)[0].startswith((".v[", ".m[")))


def _flat(type_: Type, indices: Sequence[expr.Expr]) -> int:
    shape, flat = getattr(type_, "shape", ()), 0
    for extent, index in zip(shape, indices, strict=True):
        assert isinstance(index, expr.Const)
        flat = flat * extent + int(index.value)
    return flat
