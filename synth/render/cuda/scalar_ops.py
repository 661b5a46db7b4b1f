"""How plain CUDA writes the ops on numbers that are more than one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from generators.program.dtypes import INT32, Scalar, Type, scalar_of
from generators.program.expr import Cast, Const, Expr, Op, Var
from synth.render.cuda.device import numbers as cuda_numbers
from synth.render.cuda.device.functions import Library, combined, number, real, written
from synth.render.cuda.device.numbers import clamped_to_one, mixed
from synth.render.cuda.device.vectors import elementwise
from synth.render.cuda.dialect.current import spoken
from synth.render.cuda.text import Prec, Text, binary, call, choice, prefix
from synth.render.cuda.types import cast_to, computed, literal, name_of, parts

REGISTERED = (cuda_numbers,)
"""Modules that register device functions when they are imported."""


class Renders(Protocol):
    """What a printer asks of the renderer."""

    library: Library

    def show(self, e: Expr) -> Text:
        """An expression in C++."""
        ...


CudaPrinter = Callable[[Renders, Sequence[Text], Op], Text]


def types(node: Op) -> list[Type]:
    """Argument types as values are held."""
    return [computed(a.type) for a in node.args]


def extreme(name: str, scalar: Scalar) -> str:
    """The function for the least or greatest of two numbers; ``name`` is ``min`` or ``max``."""
    return real(scalar, f"f{name}") if scalar.is_float else name


def _extreme(name: str) -> CudaPrinter:
    def show(r: Renders, args: Sequence[Text], node: Op) -> Text:
        result = computed(node.type)
        plain = extreme(name, scalar_of(result))
        if isinstance(result, Scalar):
            return call(plain, _same_width(args, result))
        return call(elementwise(r.library, plain, plain, result, 2), args)

    return show


def _same_width(args: Sequence[Text], type_: Scalar) -> Sequence[Text]:
    """Narrow integers as int, so that CUDA's overloads are not ambiguous."""
    if type_.is_float or type_.bits >= 32:
        return args
    return [cast_to(INT32, a) for a in args]


def _of_parts(name: str) -> CudaPrinter:
    """The least or largest component."""

    def show(r: Renders, args: Sequence[Text], node: Op) -> Text:
        vec = types(node)[0]
        one = extreme(name, scalar_of(vec))
        if isinstance(node.args[0], Var) and len(parts(vec)) < 4:
            return Text(_nested(one, args[0].text, parts(vec)))
        key = (f"{name}_element", (vec,))
        if key not in r.library.functions:
            value = f"return {_nested(one, 'v', parts(vec))};"
            made = written(r.library, key[0], scalar_of(vec), (("v", vec),), value)
            r.library.functions[key] = made
        return call(r.library.spelled(key[0], vec), args)

    return show


def _nested(name: str, inner: str, places: Sequence[str]) -> str:
    """``fmaxf(fmaxf(v.x, v.y), v.z)``."""
    text = inner + places[0]
    for place in places[1:]:
        text = f"{name}({text}, {inner}{place})"
    return text


def _clamp(_: Renders, args: Sequence[Text], node: Op) -> Text:
    type_ = scalar_of(computed(node.type))
    if type_.name == "float32" and [a.text for a in args[1:]] == ["0.0f", "1.0f"]:
        return Text(clamped_to_one(args[0].text, type_))
    least, most = extreme("min", type_), extreme("max", type_)
    x, low, high = _same_width(args, type_)
    return call(least, [call(most, [x, low]), high])


def _abs(r: Renders, args: Sequence[Text], node: Op) -> Text:
    result = computed(node.type)
    scalar = scalar_of(result)
    if scalar.is_unsigned:
        return args[0]
    name = real(scalar, "fabs") if scalar.is_float else "llabs" if scalar.bits == 64 else "abs"
    if scalar.is_int and spoken().unsigned_abs:
        # Its result is unsigned, and it has one for each width.
        args = [cast_to(INT32, a) for a in args] if result == scalar and scalar.bits < 32 else args
        if isinstance(result, Scalar):
            return _counted("abs", args, "long" if scalar.bits == 64 else "int")
        return call(elementwise(r.library, "abs", f"({name_of(scalar)})abs", result, 1), args)
    if isinstance(result, Scalar):
        return call(name, args)
    return call(elementwise(r.library, name, name, result, 1), args)


def _counted(name: str, args: Sequence[Text], kind: str) -> Text:
    """A call whose unsigned result is used as a signed number."""
    return Text(f"({kind}){call(name, args).text}", Prec.UNARY)


def _where_sign(test: str, yes: float, no: float) -> CudaPrinter:
    def show(_: Renders, args: Sequence[Text], node: Op) -> Text:
        type_ = computed(node.type)
        prec = Prec.COMPARE if test == "<" else Prec.EQUAL
        condition = binary(test, prec, args[0], Text(number(0, type_)))
        return choice(condition, _signed(yes, type_), _signed(no, type_))

    return show


def _signed(value: float, type_: Type) -> Text:
    return Text(number(value, type_), Prec.UNARY if value < 0 else Prec.POSTFIX)


def _frac(r: Renders, args: Sequence[Text], node: Op) -> Text:
    type_ = computed(node.type)
    if isinstance(type_, Scalar) and not isinstance(node.args[0], Var):
        return call(r.library.function("frac", type_), args)
    whole = call(real(scalar_of(type_), "trunc"), args)
    return binary("-", Prec.ADD, args[0], whole)


def _scaled(factor: float) -> CudaPrinter:
    def show(r: Renders, args: Sequence[Text], node: Op) -> Text:
        type_ = computed(node.type)
        digits = repr(factor) if scalar_of(type_).name == "float64" else f"{factor:.9g}f"
        return combined(r.library, "*", (type_, scalar_of(type_), type_), args[0], Text(digits))

    return show


def _bit_count(_: Renders, args: Sequence[Text], node: Op) -> Text:
    type_ = scalar_of(node.args[0].type)
    name = spoken().called("__popcll" if type_.bits == 64 else "__popc")
    if type_.bits < 32 and not type_.is_unsigned:
        unsigned = Scalar(f"u{type_.name}")
        args = [cast_to(unsigned, args[0])]
    return _counted(name, args, "int") if spoken().unsigned_abs else call(name, args)


def _where(_: Renders, args: Sequence[Text], node: Op) -> Text:
    return choice(*args)


def _lerp(r: Renders, args: Sequence[Text], node: Op) -> Text:
    """``(1 - t) * a + t * b``, which gives ``b`` for 1 whatever ``a`` is."""
    result = computed(node.type)
    scalar = scalar_of(result)
    if not isinstance(node.args[2], Var | Const):
        return call(r.library.function("lerp", result, scalar), args)
    a, b, t = args
    return mixed(r.library, result, a, b, t)


_OPPOSITE = {
    **{"eq": ("!=", Prec.EQUAL), "ne": ("==", Prec.EQUAL), "lt": (">=", Prec.COMPARE)},
    **{"le": (">", Prec.COMPARE), "gt": ("<=", Prec.COMPARE), "ge": ("<", Prec.COMPARE)},
}


def _not(r: Renders, args: Sequence[Text], node: Op) -> Text:
    """``a >= b`` for ``!(a < b)``, which NaN would tell apart of floats."""
    inner = node.args[0]
    if isinstance(inner, Op) and inner.op in _OPPOSITE:
        left, right = (computed(a.type) for a in inner.args)
        exact = inner.op in ("eq", "ne") or not scalar_of(left).is_float
        if isinstance(left, Scalar) and left == right and exact:
            symbol, prec = _OPPOSITE[inner.op]
            return binary(symbol, prec, *(r.show(a) for a in inner.args))
    return prefix("!", args[0])


def _shift_count(r: Renders, count: Expr, shown: Text) -> Text:
    """By how much a shift goes: no shift depends on the type of its count."""
    if isinstance(count, Const):
        return Text(str(count.value))
    if isinstance(count, Cast):
        source, target = count.value.type, count.type
        if isinstance(source, Scalar) and source.is_int and source.bits <= target.bits:
            return r.show(count.value)
    return shown


def _promoted(r: Renders, args: Sequence[Text], node: Op) -> Sequence[Text]:
    """Operands without casts to int that C++'s promotion makes by itself."""
    return [
        r.show(e.value)
        if isinstance(e, Cast) and e.type == INT32 and e.value.type in _PROMOTED
        else shown
        for e, shown in zip(node.args, args, strict=True)
    ]


_PROMOTED = tuple(Scalar(name) for name in ("int8", "int16", "uint8", "uint16"))


def masked(e: Expr, shown: Text) -> Text:
    """An operand of a bitwise op: masks in hexadecimal."""
    if isinstance(e, Const) and type(e.value) is int and e.value >= 0:
        return Text(literal(e.value, e.type, bits=True))
    return shown
