"""Device functions on numbers and arrays of them; see :mod:`synth.render.cuda.device.functions`."""

from __future__ import annotations

from generators.program.dtypes import INT32, Scalar, Type, scalar_of
from synth.render.cuda.device.functions import Library, device, number, operator, real, written
from synth.render.cuda.text import Prec, Text, binary


@device("frac")
def _frac(lib: Library, s: Type) -> str:
    value = f"return x - {real(scalar_of(s), 'trunc')}(x);"
    return written(lib, "frac", scalar_of(s), (("x", s),), value)


def mixed(a: Text, b: Text, t: Text, one: str) -> Text:
    """``(1 - t) * a + t * b`` of numbers or vectors."""
    rest = binary("-", Prec.ADD, Text(one), t)
    left, right = binary("*", Prec.MUL, rest, a), binary("*", Prec.MUL, t, b)
    return binary("+", Prec.ADD, left, right)


@device("lerp")
def _lerp(lib: Library, s: Type, t: Type) -> str:
    if not isinstance(s, Scalar):
        operator(lib, "*", t, s, s)
        operator(lib, "+", s, s, s)
    value = mixed(Text("a"), Text("b"), Text("t"), number(1, t)).text
    return written(lib, "lerp", s, (("a", s), ("b", s), ("t", t)), f"return {value};")


def clamped_to_one(text: str, type_: Type) -> str:
    """A value of a float type, at least 0 and at most 1."""
    if scalar_of(type_).name == "float32":
        return f"__saturatef({text})"
    return f"fmin(fmax({text}, {number(0, type_)}), {number(1, type_)})"


@device("smoothstep")
def _smoothstep(lib: Library, s: Type, *_more: Type) -> str:
    two, three = number(2, s), number(3, s)
    scaled = clamped_to_one("(x - edge0) / (edge1 - edge0)", s)
    return written(
        lib,
        "smoothstep",
        s,
        (("edge0", s), ("edge1", s), ("x", s)),
        f"const {lib.type(s)} t = {scaled};",
        f"return t * t * ({three} - {two} * t);",
    )


@device("lower_bound")
def _lower_bound(lib: Library, s: Type) -> str:
    name = lib.type(s)
    text = written(
        lib,
        "lower_bound",
        INT32,
        (("keys", INT32), ("count", INT32), ("value", s)),
        "int low = 0;",
        "int high = count - 1;",
        "while (low < high) {",
        "    const int middle = low + (high - low) / 2;",
        "    if (keys[middle] < value) {",
        "        low = middle + 1;",
        "    } else {",
        "        high = middle;",
        "    }",
        "}",
        "return low;",
    )
    return text.replace("(int keys,", f"(const {name}* __restrict__ keys,")
