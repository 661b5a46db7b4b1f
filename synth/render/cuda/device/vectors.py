"""Device functions on vectors and matrices; see :mod:`synth.render.cuda.device.functions`."""

from __future__ import annotations

from generators.program.dtypes import Mat, Quat, Scalar, Type, Vec, scalar_of
from synth.render.cuda.device.functions import (
    Library,
    built,
    combined,
    device,
    named,
    number,
    real,
    written,
    zeroed,
)
from synth.render.cuda.dialect.current import spoken
from synth.render.cuda.text import Prec, Text
from synth.render.cuda.types import parts


def _sum_of_products(a: Type, b: str = "b") -> str:
    return " + ".join(f"a{p} * {b}{p}" for p in parts(a))


@device("dot")
def _dot(lib: Library, v: Type, _w: Type) -> str:
    value = f"return {_sum_of_products(v)};"
    return written(lib, "dot", scalar_of(v), (("a", v), ("b", v)), value)


@device("length_sq")
def _length_sq(lib: Library, v: Type) -> str:
    value = f"return {_sum_of_products(v, 'a')};"
    return written(lib, "length_sq", scalar_of(v), (("a", v),), value)


@device("length")
def _length(lib: Library, v: Type) -> str:
    inner = lib.function("length_sq", v)
    root = real(scalar_of(v), "sqrt")
    return written(lib, "length", scalar_of(v), (("v", v),), f"return {root}({inner}(v));")


@device("normalize")
def _normalize(lib: Library, v: Type) -> str:
    """Zero for a vector of length zero, as in Warp; for a quaternion no rotation."""
    scalar = scalar_of(v)
    if lib.guards("normalize", v):
        size, sign = lib.function("length", v), "*" if isinstance(v, Quat) else "/"
        by = Text(f"{number(1, v)} / len", Prec.MUL) if isinstance(v, Quat) else Text("len")
        scaled = combined(lib, sign, (v, scalar, v), Text("v"), by).text
        ends = [0.0] * (len(parts(v)) - 1) + [float(isinstance(v, Quat))]
        rest = built(lib, v, [number(end, v) for end in ends])
        lines = [f"const {lib.type(scalar)} len = {size}(v);"]
        lines.append(f"return len > {number(0, v)} ? {scaled} : {rest};")
        return written(lib, "normalize", v, (("v", v),), *lines)
    inner = lib.function("length_sq", v)
    root = Text(f"{real(scalar, 'rsqrt')}({inner}(v))")
    scaled = combined(lib, "*", (v, scalar, v), Text("v"), root).text
    return written(lib, "normalize", v, (("v", v),), f"return {scaled};")


@device("cross")
def _cross(lib: Library, v: Type, _w: Type) -> str:
    values = ["a.y * b.z - a.z * b.y", "a.z * b.x - a.x * b.z", "a.x * b.y - a.y * b.x"]
    return written(lib, "cross", v, (("a", v), ("b", v)), f"return {built(lib, v, values)};")


@device("vec_min", "vec_max")
def _no_direct(lib: Library, *types: Type) -> str:
    raise AssertionError("made by elementwise()")


def elementwise(lib: Library, name: str, scalar_call: str, v: Type, count: int) -> str:
    """Ask for a function that applies a scalar one to each component; the name to call it by."""
    key = (name, (v,) * count)
    letters = "ab"[:count]
    if key not in lib.functions:
        values = [f"{scalar_call}({', '.join(f'{c}{p}' for c in letters)})" for p in parts(v)]
        params = tuple((c, v) for c in letters)
        lib.functions[key] = written(lib, name, v, params, f"return {built(lib, v, values)};")
    return lib.spelled(name, v)


@device("argmin", "argmax")
def _unused_arg(lib: Library, *types: Type) -> str:
    raise AssertionError("made by index_of_extreme()")


def index_of_extreme(lib: Library, name: str, v: Vec) -> str:
    """Ask for ``argmin`` or ``argmax``: the first index of the extreme component."""
    key = (name, (v,))
    if key not in lib.functions:
        symbol, places = "<" if name == "argmin" else ">", parts(v)
        index = lib.type(Scalar("uint32"))
        lines = [f"{lib.type(v.scalar)} best = v{places[0]};", f"{index} at = 0u;"]
        for k, place in enumerate(places[1:], 1):
            lines += [f"if (v{place} {symbol} best) {{", f"    best = v{place};"]
            lines += [f"    at = {k}u;", "}"]
        text = written(lib, name, Scalar("uint32"), (("v", v),), *lines, "return at;")
        lib.functions[key] = text
    return lib.spelled(name, v)


@device("norm_l1")
def _norm_l1(lib: Library, v: Type) -> str:
    size = real(scalar_of(v), "fabs")
    value = " + ".join(f"{size}(v{p})" for p in parts(v))
    return written(lib, "norm_l1", scalar_of(v), (("v", v),), f"return {value};")


@device("norm_huber")
def _norm_huber(lib: Library, v: Type, s: Type) -> str:
    length = lib.function("length", v)
    half = number(0.5, s)
    return written(
        lib,
        "norm_huber",
        s,
        (("v", v), ("delta", s)),
        f"const {lib.type(s)} size = {length}(v);",
        f"return size <= delta ? {half} * size * size : delta * (size - {half} * delta);",
    )


@device("norm_pseudo_huber")
def _norm_pseudo_huber(lib: Library, v: Type, s: Type) -> str:
    inner, root = lib.function("length_sq", v), real(scalar_of(v), "sqrt")
    value = f"return delta * {root}({number(1, s)} + {inner}(v) / (delta * delta));"
    return written(lib, "norm_pseudo_huber", s, (("v", v), ("delta", s)), value)


@device("smooth_normalize")
def _smooth_normalize(lib: Library, v: Type, s: Type) -> str:
    inner = lib.function("norm_pseudo_huber", v, s)
    size = Text(f"{inner}(v, delta)")
    value = combined(lib, "/", (v, s, v), Text("v"), size).text
    return written(lib, "smooth_normalize", v, (("v", v), ("delta", s)), f"return {value};")


@device("outer")
def _outer(lib: Library, a: Vec, b: Vec) -> str:
    mat = Mat(a.size, b.size, a.scalar)
    values = [f"a{p} * b{q}" for p in parts(a) for q in parts(b)]
    made = f"return {built(lib, mat, values)};"
    return written(lib, "outer", mat, (("a", a), ("b", b)), made)


@device("skew")
def _skew(lib: Library, v: Vec) -> str:
    mat, zero = Mat(3, 3, v.scalar), number(0, v)
    values = [zero, "-v.z", "v.y", "v.z", zero, "-v.x", "-v.y", "v.x", zero]
    return written(lib, "skew", mat, (("v", v),), f"return {built(lib, mat, values)};")


@device("diag")
def _diag(lib: Library, v: Vec) -> str:
    mat, zero, places = Mat(v.size, v.size, v.scalar), number(0, v), parts(v)
    values = [f"v{places[i]}" if i == j else zero for i in range(v.size) for j in range(v.size)]
    return written(lib, "diag", mat, (("v", v),), f"return {built(lib, mat, values)};")


@device("get_diag")
def _get_diag(lib: Library, m: Mat) -> str:
    vec = Vec(m.rows, m.scalar)
    values = [f"m.m[{i}][{i}]" for i in range(m.rows)]
    return written(lib, "get_diag", vec, (("m", m),), f"return {built(lib, vec, values)};")


@device("transpose")
def _transpose(lib: Library, m: Mat) -> str:
    flipped = Mat(m.cols, m.rows, m.scalar)
    values = [f"m.m[{i}][{j}]" for j in range(m.cols) for i in range(m.rows)]
    return written(lib, "transpose", flipped, (("m", m),), f"return {built(lib, flipped, values)};")


@device("trace")
def _trace(lib: Library, m: Mat) -> str:
    value = " + ".join(f"m.m[{i}][{i}]" for i in range(m.rows))
    return written(lib, "trace", m.scalar, (("m", m),), f"return {value};")


@device("ddot")
def _ddot(lib: Library, m: Mat, _n: Mat) -> str:
    value = f"return {_sum_of_products(m)};"
    return written(lib, "ddot", m.scalar, (("a", m), ("b", m)), value)


@device("matrix_from_rows", "matrix_from_cols")
def _unused_stack(lib: Library, *types: Type) -> str:
    raise AssertionError("made by stacked()")


def stacked(lib: Library, name: str, count: int, v: Vec) -> str:
    """Ask for a matrix from its rows or columns; the name to call it by."""
    key = (name, (v,) * count)
    spelled = lib.spelled(name if spoken().overloads else f"{name}_{count}", v)
    if key not in lib.functions:
        rows = name == "matrix_from_rows"
        mat = Mat(*((count, v.size) if rows else (v.size, count)), v.scalar)
        names = [f"{'row' if rows else 'col'}{k}" for k in range(count)]
        places = parts(v)
        values = (
            [f"{n}{p}" for n in names for p in places]
            if rows
            else [f"{n}{p}" for p in places for n in names]
        )
        params = tuple((n, v) for n in names)
        made = f"return {built(lib, mat, values)};"
        lib.functions[key] = named(lib, spelled, mat, params, made)
    return spelled


def _minor(rows: list[int], cols: list[int]) -> str:
    """The determinant of the chosen rows and columns, expanded along the first row."""
    if len(rows) == 1:
        return f"m.m[{rows[0]}][{cols[0]}]"
    terms = []
    for k, col in enumerate(cols):
        inner = _minor(rows[1:], [c for c in cols if c != col])
        sign = "-" if k % 2 else "+"
        factor = f"m.m[{rows[0]}][{col}] * " + (f"({inner})" if len(rows) > 2 else inner)
        terms.append(f" {sign} {factor}" if k else factor)
    return "".join(terms)


@device("determinant")
def _determinant(lib: Library, m: Mat) -> str:
    every = list(range(m.rows))
    return written(lib, "determinant", m.scalar, (("m", m),), f"return {_minor(every, every)};")


@device("inverse")
def _inverse(lib: Library, m: Mat) -> str:
    """The transposed matrix of cofactors over the determinant; zero for a singular one."""
    det, every = lib.function("determinant", m), list(range(m.rows))
    cofactors = []
    for i in every:
        for j in every:
            minor = _minor([r for r in every if r != j], [c for c in every if c != i])
            cofactors.append(f"-({minor})" if (i + j) % 2 else minor)
    name, one, size = lib.type(m), number(1, m), f"{det}(m)"
    lines = []
    if lib.guards("inverse", m):
        lines = [f"const {lib.type(m.scalar)} det = {size};", f"if (det == {number(0, m)}) {{"]
        lines += [f"    return {zeroed(lib, m)};", "}"]
        size = "det"
    lines.append(f"{name} c;")
    lines += [f"c.m[{k // m.cols}][{k % m.cols}] = {text};" for k, text in enumerate(cofactors)]
    by = Text(f"{one} / {size}", Prec.MUL)
    scaled = combined(lib, "*", (m, m.scalar, m), Text("c"), by).text
    return written(lib, "inverse", m, (("m", m),), *lines, f"return {scaled};")
