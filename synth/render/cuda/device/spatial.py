"""Device functions on transforms and spatial vectors; see synth.render.cuda.device.functions."""

from __future__ import annotations

from generators.program.dtypes import Mat, Quat, Scalar, Transform, Type, Vec, scalar_of
from synth.render.cuda.device.functions import (
    Library,
    braced,
    built,
    device,
    number,
    operator,
    written,
)


def _spatial(scalar: Scalar, top: str, bottom: str) -> list[str]:
    return [*(f"{top}.{c}" for c in "xyz"), *(f"{bottom}.{c}" for c in "xyz")]


def _halves(lib: Library, s: Type, name: str) -> list[str]:
    """Lines that name the angular and linear half of a spatial vector."""
    vec = Vec(3, scalar_of(s))
    parts = [built(lib, vec, [f"{name}.v[{k + o}]" for k in range(3)]) for o in (0, 3)]
    kind = lib.type(vec)
    return [f"const {kind} {name}_w = {parts[0]};", f"const {kind} {name}_v = {parts[1]};"]


@device("transform_point")
def _point(lib: Library, t: Transform, v: Vec) -> str:
    rotate = lib.function("quat_rotate", Quat(t.scalar), v)
    operator(lib, "+", v, v, v)
    value = f"return t.p + {rotate}(t.q, v);"
    return written(lib, "transform_point", v, (("t", t), ("v", v)), value)


@device("transform_inverse")
def _transform_inverse(lib: Library, t: Transform) -> str:
    vec, quat = Vec(3, t.scalar), Quat(t.scalar)
    rotate, inverse = lib.function("quat_rotate", quat, vec), lib.function("quat_inverse", quat)
    turned = built(lib, vec, ["-p.x", "-p.y", "-p.z"])
    lines = [
        f"const {lib.type(quat)} q = {inverse}(t.q);",
        f"const {lib.type(vec)} p = {rotate}(q, t.p);",
        f"return {braced(lib.type(t), f'{turned}, q')};",
    ]
    return written(lib, "transform_inverse", t, (("t", t),), *lines)


@device("transform_compose")
def _compose(lib: Library, p: Vec, q: Quat, _scale: Vec) -> str:
    mat, zero, one = Mat(4, 4, q.scalar), number(0, q), number(1, q)
    rotation = lib.function("quat_to_matrix", q)
    values = []
    for i, c in enumerate("xyz"):
        values += [f"r.m[{i}][{j}] * scale.{d}" for j, d in enumerate("xyz")] + [f"p.{c}"]
    values += [zero, zero, zero, one]
    return written(
        lib,
        "transform_compose",
        mat,
        (("p", p), ("q", q), ("scale", p)),
        f"const {lib.type(Mat(3, 3, q.scalar))} r = {rotation}(q);",
        f"return {built(lib, mat, values)};",
    )


@device("transform_to_matrix")
def _transform_matrix(lib: Library, t: Transform) -> str:
    mat, vec, quat, one = Mat(4, 4, t.scalar), Vec(3, t.scalar), Quat(t.scalar), number(1, t)
    compose = lib.function("transform_compose", vec, quat, vec)
    ones = built(lib, vec, [one] * 3)
    value = f"return {compose}(t.p, t.q, {ones});"
    return written(lib, "transform_to_matrix", mat, (("t", t),), value)


@device("spatial_vector")
def _spatial_vector(lib: Library, w: Vec, _v: Vec) -> str:
    result = Vec(6, w.scalar)
    value = f"return {built(lib, result, _spatial(w.scalar, 'w', 'v'))};"
    return written(lib, "spatial_vector", result, (("w", w), ("v", w)), value)


def _half(lib: Library, s: Vec, name: str, offset: int) -> str:
    vec = Vec(3, s.scalar)
    value = f"return {built(lib, vec, [f's.v[{k + offset}]' for k in range(3)])};"
    return written(lib, name, vec, (("s", s),), value)


@device("spatial_top")
def _top(lib: Library, s: Vec) -> str:
    return _half(lib, s, "spatial_top", 0)


@device("spatial_bottom")
def _bottom(lib: Library, s: Vec) -> str:
    return _half(lib, s, "spatial_bottom", 3)


def _crossed(lib: Library, s: Vec, name: str, top: str, bottom: str) -> str:
    vec = Vec(3, s.scalar)
    cross = lib.function("cross", vec, vec)
    operator(lib, "+", vec, vec, vec)
    kind = lib.type(vec)
    return written(
        lib,
        name,
        s,
        (("a", s), ("b", s)),
        *_halves(lib, s, "a"),
        *_halves(lib, s, "b"),
        f"const {kind} w = {top.replace('cross', cross)};",
        f"const {kind} v = {bottom.replace('cross', cross)};",
        f"return {built(lib, s, _spatial(s.scalar, 'w', 'v'))};",
    )


@device("spatial_cross")
def _spatial_cross(lib: Library, s: Vec, _t: Vec) -> str:
    both = "cross(a_v, b_w) + cross(a_w, b_v)"
    return _crossed(lib, s, "spatial_cross", "cross(a_w, b_w)", both)


@device("spatial_cross_dual")
def _spatial_cross_dual(lib: Library, s: Vec, _t: Vec) -> str:
    both = "cross(a_w, b_w) + cross(a_v, b_v)"
    return _crossed(lib, s, "spatial_cross_dual", both, "cross(a_w, b_v)")


@device("spatial_adjoint")
def _adjoint(lib: Library, m: Mat, _n: Mat) -> str:
    result, zero = Mat(6, 6, m.scalar), number(0, m)
    values = []
    for i in range(6):
        for j in range(6):
            block = (zero if j >= 3 else f"r.m[{i}][{j}]") if i < 3 else ""
            if i >= 3:
                block = f"s.m[{i - 3}][{j}]" if j < 3 else f"r.m[{i - 3}][{j - 3}]"
            values.append(block)
    value = f"return {built(lib, result, values)};"
    return written(lib, "spatial_adjoint", result, (("r", m), ("s", m)), value)


def _moved(lib: Library, t: Transform, s: Vec, name: str, first: str) -> str:
    """A twist moves its angular half first, a wrench its linear half; the other takes the arm."""
    vec, quat = Vec(3, s.scalar), Quat(s.scalar)
    rotate, cross = lib.function("quat_rotate", quat, vec), lib.function("cross", vec, vec)
    operator(lib, "+", vec, vec, vec)
    other = "v" if first == "w" else "w"
    kind = lib.type(vec)
    return written(
        lib,
        name,
        s,
        (("t", t), ("x", s)),
        *_halves(lib, s, "x"),
        f"const {kind} {first} = {rotate}(t.q, x_{first});",
        f"const {kind} {other} = {rotate}(t.q, x_{other}) + {cross}(t.p, {first});",
        f"return {built(lib, s, _spatial(s.scalar, 'w', 'v'))};",
    )


@device("transform_twist")
def _transform_twist(lib: Library, t: Transform, s: Vec) -> str:
    return _moved(lib, t, s, "transform_twist", "w")


@device("transform_wrench")
def _transform_wrench(lib: Library, t: Transform, s: Vec) -> str:
    return _moved(lib, t, s, "transform_wrench", "v")


@device("velocity_at_point")
def _velocity(lib: Library, s: Vec, r: Vec) -> str:
    cross = lib.function("cross", r, r)
    operator(lib, "+", r, r, r)
    value = f"return s_v + {cross}(s_w, r);"
    return written(lib, "velocity_at_point", r, (("s", s), ("r", r)), *_halves(lib, s, "s"), value)
