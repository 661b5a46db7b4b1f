"""Device functions on quaternions, transforms and spatial vectors."""

from __future__ import annotations

from generators.program.dtypes import Mat, Quat, Scalar, Type, Vec
from synth.render.cuda.device.functions import (
    Library,
    built,
    combined,
    device,
    number,
    operator,
    real,
    written,
)
from synth.render.cuda.text import Text


@device("quat_from_axis_angle")
def _axis_angle(lib: Library, axis: Type, s: Scalar) -> str:
    sine, cosine = real(s, "sin"), real(s, "cos")
    half = f"{number(0.5, s)} * angle"
    values = [*(f"axis.{c} * sine" for c in "xyz"), f"{cosine}({half})"]
    return written(
        lib,
        "quat_from_axis_angle",
        Quat(s),
        (("axis", axis), ("angle", s)),
        f"const {lib.type(s)} sine = {sine}({half});",
        f"return {built(lib, Quat(s), values)};",
    )


@device("quat_inverse")
def _inverse(lib: Library, q: Quat) -> str:
    value = f"return {built(lib, q, ['-q.x', '-q.y', '-q.z', 'q.w'])};"
    return written(lib, "quat_inverse", q, (("q", q),), value)


@device("quat_rotate")
def _rotate(lib: Library, q: Quat, v: Vec) -> str:
    cross = lib.function("cross", v, v)
    operator(lib, "*", q.scalar, v, v)
    operator(lib, "+", v, v, v)
    u = built(lib, v, ["q.x", "q.y", "q.z"])
    return written(
        lib,
        "quat_rotate",
        v,
        (("q", q), ("v", v)),
        f"const {lib.type(v)} u = {u};",
        f"const {lib.type(v)} t = {number(2, v)} * {cross}(u, v);",
        f"return v + q.w * t + {cross}(u, t);",
    )


@device("quat_rotate_inv")
def _rotate_inv(lib: Library, q: Quat, v: Vec) -> str:
    inverse, rotate = lib.function("quat_inverse", q), lib.function("quat_rotate", q, v)
    value = f"return {rotate}({inverse}(q), v);"
    return written(lib, "quat_rotate_inv", v, (("q", q), ("v", v)), value)


@device("quat_to_matrix")
def _to_matrix(lib: Library, q: Quat) -> str:
    mat, one, two = Mat(3, 3, q.scalar), number(1, q), number(2, q)
    lines = [f"{lib.type(mat)} r;"]
    values = [
        f"{one} - {two} * (q.y * q.y + q.z * q.z)",
        f"{two} * (q.x * q.y - q.w * q.z)",
        f"{two} * (q.x * q.z + q.w * q.y)",
        f"{two} * (q.x * q.y + q.w * q.z)",
        f"{one} - {two} * (q.x * q.x + q.z * q.z)",
        f"{two} * (q.y * q.z - q.w * q.x)",
        f"{two} * (q.x * q.z - q.w * q.y)",
        f"{two} * (q.y * q.z + q.w * q.x)",
        f"{one} - {two} * (q.x * q.x + q.y * q.y)",
    ]
    lines += [f"r.m[{k // 3}][{k % 3}] = {value};" for k, value in enumerate(values)]
    return written(lib, "quat_to_matrix", mat, (("q", q),), *lines, "return r;")


@device("quat_from_matrix")
def _from_matrix(lib: Library, m: Mat) -> str:
    s, q = m.scalar, Quat(m.scalar)
    root, half, one, name = real(s, "sqrt"), number(0.5, s), number(1, s), lib.type(q)
    kind = lib.type(s)
    skew = ("m.m[2][1] - m.m[1][2]", "m.m[0][2] - m.m[2][0]", "m.m[1][0] - m.m[0][1]")

    norm = lib.function("normalize", q)

    def largest(i: int) -> list[str]:
        j, k = (i + 1) % 3, (i + 2) % 3
        values = [""] * 4
        values[i] = f"{half} * s"
        values[j] = f"(m.m[{i}][{j}] + m.m[{j}][{i}]) * h"
        values[k] = f"(m.m[{k}][{i}] + m.m[{i}][{k}]) * h"
        values[3] = f"({skew[i]}) * h"
        return [
            f"    const {kind} s = {root}(m.m[{i}][{i}] - m.m[{j}][{j}] - m.m[{k}][{k}] + {one});",
            f"    const {kind} h = {half} / s;",
            f"    q = {built(lib, q, values)};",
        ]

    lines = [
        f"{name} q;",
        f"const {kind} trace = m.m[0][0] + m.m[1][1] + m.m[2][2];",
        f"if (trace >= {number(0, s)}) {{",
        f"    const {kind} s = {root}(trace + {one});",
        f"    const {kind} h = {half} / s;",
        f"    q = {built(lib, q, [*(f'({t}) * h' for t in skew), f'{half} * s'])};",
        "} else if (m.m[0][0] >= m.m[1][1] && m.m[0][0] >= m.m[2][2]) {",
        *largest(0),
        "} else if (m.m[1][1] >= m.m[2][2]) {",
        *largest(1),
        "} else {",
        *largest(2),
        "}",
        f"return {norm}(q);",
    ]
    return written(lib, "quat_from_matrix", q, (("m", m),), *lines)


@device("quat_rpy")
def _rpy(lib: Library, s: Scalar, *_more: Type) -> str:
    q, half, kind = Quat(s), number(0.5, s), lib.type(s)
    lines = [
        f"const {kind} {f[0]}{a[0]} = {real(s, f)}({half} * {a});"
        for a in ("roll", "pitch", "yaw")
        for f in ("sin", "cos")
    ]
    values = [
        "sr * cp * cy - cr * sp * sy",
        "cr * sp * cy + sr * cp * sy",
        "cr * cp * sy - sr * sp * cy",
        "cr * cp * cy + sr * sp * sy",
    ]
    made = f"return {built(lib, q, values)};"
    params = tuple((name, s) for name in ("roll", "pitch", "yaw"))
    return written(lib, "quat_rpy", q, params, *lines, made)


@device("quat_to_rpy")
def _to_rpy(lib: Library, q: Quat) -> str:
    s, one, two = q.scalar, number(1, q), number(2, q)
    arctan, arcsin = real(s, "atan2"), real(s, "asin")
    least, most = real(s, "fmin"), real(s, "fmax")
    values = [
        f"{arctan}({two} * (q.w * q.x + q.y * q.z), {one} - {two} * (q.x * q.x + q.y * q.y))",
        f"{arcsin}({least}({most}({two} * (q.w * q.y - q.z * q.x), -{one}), {one}))",
        f"{arctan}({two} * (q.w * q.z + q.x * q.y), {one} - {two} * (q.y * q.y + q.z * q.z))",
    ]
    kind = lib.type(s)
    names = ("roll", "pitch", "yaw")
    lines = [f"const {kind} {n} = {v};" for n, v in zip(names, values, strict=True)]
    made = f"return {built(lib, Vec(3, s), list(names))};"
    return written(lib, "quat_to_rpy", Vec(3, s), (("q", q),), *lines, made)


@device("quat_slerp")
def _slerp(lib: Library, q: Quat, _r: Quat, s: Scalar) -> str:
    vec, kind, zero = Vec(3, s), lib.type(s), number(0, s)
    operator(lib, "*", q, q, q)
    operator(lib, "*", vec, s, vec)
    inverse = lib.function("quat_inverse", q)
    turn, length = lib.function("quat_from_axis_angle", vec, s), lib.function("length", vec)
    made = built(lib, vec, ["d.x", "d.y", "d.z"])
    return written(
        lib,
        "quat_slerp",
        q,
        (("a", q), ("b", q), ("t", s)),
        f"{lib.type(q)} d = {_times(lib, q, f'{inverse}(a)', 'b')};",
        f"if (d.w < {zero}) {{",
        f"    d = {built(lib, q, [f'-d.{c}' for c in 'xyzw'])};",
        "}",
        f"const {lib.type(vec)} v = {made};",
        f"const {kind} size = {length}(v);",
        f"const {kind} inv = size > {zero} ? {number(1, s)} / size : {zero};",
        f"const {kind} angle = {number(2, s)} * {real(s, 'atan2')}(size, d.w);",
        f"return {_times(lib, q, 'a', f'{turn}(v * inv, t * angle)')};",
    )


def _times(lib: Library, q: Quat, left: str, right: str) -> str:
    """A product of quaternions."""
    return combined(lib, "*", (q, q, q), Text(left), Text(right)).text


@device("quat_twist")
def _twist(lib: Library, axis: Vec, q: Quat) -> str:
    norm = lib.function("normalize", q)
    made = built(lib, q, ["p * axis.x", "p * axis.y", "p * axis.z", "q.w"])
    return written(
        lib,
        "quat_twist",
        q,
        (("axis", axis), ("q", q)),
        f"const {lib.type(q.scalar)} p = q.x * axis.x + q.y * axis.y + q.z * axis.z;",
        f"return {norm}({made});",
    )


def _angle(lib: Library, axis: Vec, q: Quat, name: str, signed: bool) -> str:
    s = q.scalar
    size = "q.x * axis.x + q.y * axis.y + q.z * axis.z"
    size = size if signed else f"{real(s, 'fabs')}({size})"
    value = f"return {number(2, s)} * {real(s, 'atan2')}({size}, q.w);"
    return written(lib, name, s, (("axis", axis), ("q", q)), value)


@device("quat_twist_angle")
def _twist_angle(lib: Library, axis: Vec, q: Quat) -> str:
    return _angle(lib, axis, q, "quat_twist_angle", False)


@device("quat_twist_angle_signed")
def _twist_angle_signed(lib: Library, axis: Vec, q: Quat) -> str:
    return _angle(lib, axis, q, "quat_twist_angle_signed", True)
