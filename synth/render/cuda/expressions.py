"""Expressions of a program as plain CUDA C++."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from generators.program import expr
from generators.program.dtypes import BOOL, Scalar, Struct, Transform, Type, scalar_of
from synth.render.cuda.device.functions import Library, braced, built, number
from synth.render.cuda.device.parts import converter, filler, from_half, picker, to_half
from synth.render.cuda.dialect.current import spoken
from synth.render.cuda.offsets import Offsets, key_of
from synth.render.cuda.ops import CUDA_OPS
from synth.render.cuda.scopes import Declarations
from synth.render.cuda.text import Prec, Text, at_least, binary, call, item, member
from synth.render.cuda.types import (
    cast_to,
    computed,
    is_builtin_vector,
    literal,
    name_of,
    parts,
)


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
        self.offsets = Offsets((), Declarations(), (), {}, frozenset(), {})
        self._expressions: dict[type, Callable[[Any], Text]] = {
            expr.Const: lambda e: _literal(e),
            expr.Var: lambda e: Text(self.name(e.name)),
            expr.Op: self._op,
            expr.Cast: self._cast,
            expr.Load: self._load,
            expr.Extent: lambda e: _extent(self.shapes[e.array.name][e.axis]),
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
        return cast_to(target, value)

    def given_to(self, e: expr.Expr, type_: Type) -> Text:
        """A value for a place of a type, without a cast that C++ makes by itself."""
        inner = e.value if isinstance(e, expr.Cast) else e
        return self.show(inner if _widens(computed(inner.type), type_) else e)

    def initial(self, e: expr.Expr, type_: Type) -> str:
        """What a new variable of a type starts with: the type need not be said twice."""
        text = self.given_to(e, type_).text
        head = spoken().construct[0].format(type=name_of(type_))
        return text[len(head) - 1 :] if text.startswith(head) and _closes(text) else text

    def index(self, array: expr.Var, indices: Sequence[expr.Expr]) -> Text:
        """``a[i * w + j]``."""
        return item(Text(self.name(array.name)), [self.flat(indices, self.shapes[array.name][1:])])

    def flat(self, indices: Sequence[expr.Expr], extents: Sequence[str]) -> Text:
        """The sum of indices times extents; with as many extents as indices, a row's first."""
        named = self.offsets.named
        if named:
            key = key_of(indices, extents)
            if key in named:
                return Text(named[key])
        if len(extents) == len(indices):
            return _scaled(self.flat(indices, extents[:-1]), extents[-1])
        if len(indices) == 1:
            return self.show(indices[0])
        row = self.flat(indices[:-1], extents)
        return _moved(row, self.show(indices[-1]))

    def _load(self, e: expr.Load) -> Text:
        return self.widened(self.index(e.array, e.indices), e.type)

    def widened(self, stored: Text, type_: Type) -> Text:
        """A value as it is computed with: float16 becomes float."""
        if isinstance(type_, Struct) or computed(type_) == type_:
            return stored
        if isinstance(type_, Scalar):
            return call(from_half(self.library), [stored])
        one = from_half(self.library)
        return call(converter(self.library, "widen", type_, computed(type_), one), [stored])

    def narrowed(self, value: Text, type_: Type) -> Text:
        """A value as memory holds it."""
        if isinstance(type_, Struct) or computed(type_) == type_:
            return value
        if isinstance(type_, Scalar):
            return call(to_half(self.library), [value])
        one = to_half(self.library)
        return call(converter(self.library, "narrow", computed(type_), type_, one), [value])

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
            values = ", ".join(_fitting(self.narrowed(a, t), t).text for a, (_, t) in pairs)
            return Text(braced(type_.name, values))
        held = computed(type_)
        if isinstance(held, Transform):
            return Text(braced(self.library.type(held), ", ".join(a.text for a in args)))
        texts = [_fitting(a, scalar_of(held)).text for a in args]
        places = len(parts(held))
        if len(texts) == 1 and places > 1:
            if isinstance(e.args[0], expr.Const | expr.Var):
                texts = texts * places
            else:
                return call(filler(self.library, held), args)
        # Elsewhere than in CUDA a vector is made by what looks like a cast.
        cast = is_builtin_vector(held) and not spoken().overloads
        return Text(built(self.library, held, texts), Prec.UNARY if cast else Prec.POSTFIX)


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


def _fitting(e: Text, type_: Type) -> Text:
    """A value in braces, where C++ narrows nothing by itself."""
    if isinstance(type_, Scalar) and type_.is_int and type_.bits < 32 and e.prec < Prec.UNARY:
        return cast_to(type_, e)
    return e


def _scaled(flat: Text, extent: str) -> Text:
    """An index times an extent."""
    if flat.text == "0" or extent == "1":
        return flat
    if flat.text.isdigit() and extent.isdigit():
        return Text(str(int(flat.text) * int(extent)))
    size = Text(extent, Prec.ADD if "+" in extent else Prec.POSTFIX)
    return size if flat.text == "1" else binary("*", Prec.MUL, flat, size)


def _moved(row: Text, index: Text) -> Text:
    """A row's first index and the place in the row; of integers the order does not matter."""
    if row.text == "0" or index.text == "0":
        return index if row.text == "0" else row
    if row.text.isdigit() and index.text.isdigit():
        return Text(str(int(row.text) + int(index.text)))
    if index.prec == Prec.ADD and not index.text.startswith("-"):
        return Text(f"{at_least(row, Prec.ADD)} + {index.text}", Prec.ADD)
    return binary("+", Prec.ADD, row, index)


def _extent(formula: str) -> Text:
    """An extent, which may be a formula of sizes: `4 * tiles`, `half + 1`."""
    if any(sign in formula for sign in "+-"):
        return Text(formula, Prec.ADD)
    return Text(formula, Prec.MUL if any(sign in formula for sign in "*/%") else Prec.POSTFIX)


def _widens(source: Type, target: Type) -> bool:
    """Whether C++ converts without a loss, so that nobody writes the cast."""
    if not (isinstance(source, Scalar) and isinstance(target, Scalar)) or source == BOOL:
        return False
    if source.is_float and target.is_float:
        return source.bits < target.bits
    signs = source.is_unsigned or not target.is_unsigned
    return source.is_int and target.is_int and source.bits < target.bits and signs


def _closes(text: str) -> bool:
    """Whether the first brace of an initialiser closes at its end."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if c == "}" and depth == 0:
            return k == len(text) - 1
    return False
