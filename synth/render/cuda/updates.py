"""``x += y`` for what the tree has as ``x = x + y``, and the operators that composites need."""

from __future__ import annotations

from collections.abc import Callable

from generators.program.dtypes import Mat, Quat, Scalar, Transform, Type
from generators.program.expr import Const, Expr, Op
from synth.render.cuda.device.functions import Library, is_native, operator, passed
from synth.render.cuda.dialect.current import spoken
from synth.render.cuda.text import Prec, Text, at_least
from synth.render.cuda.types import parts

SIGNS = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "/", "mod": "%"},
    **{"bit_and": "&", "bit_or": "|", "bit_xor": "^", "lshift": "<<", "rshift": ">>"},
}
"""Ops that C++ can apply in place."""


def step_of(value: Expr, is_target: Callable[[Expr], bool]) -> tuple[str, Expr] | None:
    """``("add", y)`` of the value ``x + y`` where ``x`` is the target."""
    if isinstance(value, Op) and value.op in SIGNS and is_target(value.args[0]):
        kinds = [a.type for a in value.args]
        if value.op in ("lshift", "rshift") or value.type == kinds[0]:
            return value.op, value.args[1]
    return None


def in_place(lib: Library, op: str, left: Type, right: Type) -> bool:
    """Ask for ``a op= b`` of composites; whether there is one: products of algebra have none."""
    if op not in ("add", "sub", "mul", "div") or not parts(left):
        return False
    if op in ("mul", "div") and not isinstance(right, Scalar):
        return False
    if not spoken().overloads:
        return is_native(left, right)
    key = (f"operator{SIGNS[op]}=", (left, right))
    if key not in lib.functions:
        lib.functions[key] = _written(lib, SIGNS[op], left, right)
    return True


def _written(lib: Library, sign: str, left: Type, right: Type) -> str:
    if isinstance(left, Mat | Quat | Transform) or len(parts(left)) > 4:
        operator(lib, sign, left, right, left)
        lines = [f"a = a {sign} b;"]
    else:
        b = [""] * len(parts(left)) if isinstance(right, Scalar) else parts(right)
        lines = [f"a{p} {sign}= b{q};" for p, q in zip(parts(left), b, strict=True)]
    body = "".join(f"    {line}\n" for line in lines)
    params = f"{lib.type(left)}& a, {passed(lib, right, 'b')}"
    return f"{spoken().function}void operator{sign}=({params})\n{{\n{body}}}\n"


def stepped(target: str, type_: Scalar, op: str, value: Expr, shown: str) -> str:
    """``x += y;``, and ``++x;`` for an integer that goes on by one."""
    one = type_.is_int and isinstance(value, Const) and value.value == 1
    if one and op in ("add", "sub"):
        return f"{SIGNS[op] * 2}{target};"
    return f"{target} {SIGNS[op]}= {shown};"


def address_of(place: Text) -> str:
    """``&a[i]``, and ``a`` for its first element."""
    return place.text[:-3] if place.text.endswith("[0]") else f"&{place.text}"


def unsigned(value: Text) -> Text:
    """A long long as CUDA's 64-bit atomics take it."""
    if value.text.endswith("ll") and value.text[:-2].isdigit():
        return Text(f"{value.text[:-2]}ull")
    return Text(f"(unsigned long long){at_least(value, Prec.UNARY)}", Prec.UNARY)
