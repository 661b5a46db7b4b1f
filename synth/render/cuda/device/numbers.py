"""Device functions on numbers and arrays of them; see :mod:`synth.render.cuda.device.functions`."""

from __future__ import annotations

from generators.program.dtypes import Type, scalar_of
from synth.render.cuda.device.functions import Library, combined, device, number, real, written
from synth.render.cuda.dialect.current import spoken
from synth.render.cuda.text import Prec, Text, binary


@device("frac")
def _frac(lib: Library, s: Type) -> str:
    value = f"return x - {real(scalar_of(s), 'trunc')}(x);"
    return written(lib, "frac", scalar_of(s), (("x", s),), value)


def mixed(lib: Library, type_: Type, a: Text, b: Text, t: Text) -> Text:
    """``(1 - t) * a + t * b`` of numbers or vectors."""
    scalar = scalar_of(type_)
    rest = binary("-", Prec.ADD, Text(number(1, scalar)), t)
    scaled = (scalar, type_, type_)
    left, right = combined(lib, "*", scaled, rest, a), combined(lib, "*", scaled, t, b)
    return combined(lib, "+", (type_, type_, type_), left, right)


@device("lerp")
def _lerp(lib: Library, s: Type, t: Type) -> str:
    value = mixed(lib, s, Text("a"), Text("b"), Text("t")).text
    return written(lib, "lerp", s, (("a", s), ("b", s), ("t", t)), f"return {value};")


def clamped_to_one(text: str, type_: Type) -> str:
    """A value of a float type, at least 0 and at most 1."""
    if scalar_of(type_).name == "float32" and spoken().called("__saturatef") == "__saturatef":
        return f"__saturatef({text})"
    if spoken().called("__saturatef") == "clamp":
        return f"clamp({text}, {number(0, type_)}, {number(1, type_)})"
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
    keys = f"{lib.pointer(s, const=True)} {spoken().restrict} keys"
    lines = (
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
    body = "".join(f"    {line}\n" for line in lines)
    params = f"{keys}, int count, {lib.type(s)} value"
    return f"{spoken().function}int {lib.spelled('lower_bound', s)}({params})\n{{\n{body}}}\n"
