"""Rotation matrices from angles and axes, reflections, and frames by Gram and Schmidt."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.small.parts import (
    POINTS,
    READ,
    column,
    from_columns,
    from_rows,
    gets,
    identity,
)
from generators.program.dtypes import FLOAT32, Mat, Scalar, Vec
from generators.program.expr import Expr, Var, literal

AXES = ("x", "y", "z")


ORDERS = ("zyx", "xyz", "zxz", "yxz", "xzy")


def _elementary(body: BodyBuilder, axis: str, angle: Expr, scalar: Scalar) -> Expr:
    """The rotation about a coordinate axis, entry by entry."""
    c = body.let(f"c{axis} cos_{axis}", fn("cos", angle))
    s = body.let(f"s{axis} sin_{axis}", fn("sin", angle))
    one, nil = literal(1, scalar), literal(0, scalar)
    rows: dict[str, tuple[Expr, ...]] = {
        "x": (one, nil, nil, nil, c, -s, nil, s, c),
        "y": (c, nil, s, nil, one, nil, -s, nil, c),
        "z": (c, -s, nil, s, c, nil, nil, nil, one),
    }
    return make(Mat(3, 3, scalar), *rows[axis])


def _angles(k: KernelBuilder, g: Site, scalar: Scalar, count: int) -> tuple[list[Expr], str]:
    """As many angles as asked for: in a vector, or each from where it comes."""
    if count == 3 and k.draw.shape.chance(0.6):
        source = g.array("angles euler attitudes", Vec(3, scalar), -2.5, 2.5)
        v = k.let("v ang", source[g.at])
        scale, text = _degrees(k, [v[0], v[1], v[2]])
        return scale, f"angles {source.name}{text}"
    names = (("yaw", "heading", "phi"), ("pitch", "tilt", "theta"), ("roll", "bank", "psi"))
    first = g.array("angles turns headings", scalar, -2.5, 2.5)
    found: list[Expr] = [first[g.at]]
    for one in names[1:count]:
        found.append(given(g, one, scalar, -2.5, 2.5, forms=READ))
    return found, f"angle{'s' if count > 1 else ''} {', '.join(map(say, found))}"


def _degrees(k: KernelBuilder, values: Sequence[Expr]) -> tuple[list[Expr], str]:
    if k.draw.shape.chance(0.3):
        return [fn("radians", 60.0 * value) for value in values], ", in units of 60 degrees"
    return list(values), ""


def _composed(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """One to three rotations about coordinate axes, multiplied."""
    order = k.draw.shape.choice(AXES if level == 1 else ORDERS)
    angles, text = _angles(k, g, scalar, len(order))
    mats: list[Expr] = []
    made: dict[str, str] = {}
    use_helper = level >= 2 and k.draw.shape.chance(0.5)
    for axis, angle in zip(order, angles, strict=True):
        if use_helper:
            if axis not in made:
                made[axis] = helper(
                    k,
                    f"rot_{axis} rotate_{axis}",
                    (("angle", scalar),),
                    lambda body, a, axis=axis: _elementary(body, axis, a, scalar),
                )
            mats.append(k.call(made[axis], angle))
        else:
            mats.append(k.let(f"r{axis} rot_{axis}", _elementary(k, axis, angle, scalar)))
    total = mats[0]
    for mat in mats[1:]:
        total = total * mat
    product = " * ".join(f"R{axis}" for axis in order)
    name = ("rot", "rmat", "r")
    return k.let(name, total) if not isinstance(total, Var) else total, f"R = {product} by {text}"


def _rodrigues(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """I + sin(a) K + (1 - cos(a)) K K with the skew matrix of a unit axis."""
    vec = Vec(3, scalar)
    axes = g.array("axes hinge_axes", vec, init="unit")
    axis = k.let("axis n", axes[g.at])
    angle = given(g, "angle phi", scalar, -2.5, 2.5)

    def build(body: BodyBuilder, u: Expr, a: Expr) -> Expr:
        if body.draw.shape.chance(0.5):
            kx = body.let("kx sk", fn("skew", u))
            eye = identity(k, Mat(3, 3, scalar))
            return eye + fn("sin", a) * kx + (1.0 - fn("cos", a)) * (kx * kx)
        c = body.let("c cos_a", fn("cos", a))
        eye = identity(k, Mat(3, 3, scalar))
        return c * eye + (1.0 - c) * fn("outer", u, u) + fn("sin", a) * fn("skew", u)

    if level >= 3 and k.draw.shape.chance(0.6):
        made = helper(k, "rodrigues axis_rotation", (("u", vec), ("a", scalar)), build)
        value: Expr = k.call(made, axis, angle)
    else:
        value = build(k, axis, angle)
    return k.let("rot rmat", value), f"R be the rotation about {axes.name} by {say(k, angle)}"


def _plane(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """A rotation in the plane."""
    angles, text = _angles(k, g, scalar, 1)
    c, s = k.let("c cs", fn("cos", angles[0])), k.let("s sn", fn("sin", angles[0]))
    if k.draw.shape.chance(0.3):
        x = make(Vec(2, scalar), c, s)
        y = make(Vec(2, scalar), -s, c)
        rot = from_columns(k, Mat(2, 2, scalar), (k.let("ex u", x), k.let("ey v", y)))
    else:
        rot = make(Mat(2, 2, scalar), c, -s, s, c)
    return k.let("rot rmat", rot), f"R be the rotation in the plane by {text}"


def _householder(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """The reflection in a plane: I - 2 n n^T, or of any vector, or only partly."""
    size = k.draw.shape.choice((2, 3, 3))
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    way = k.draw.shape.choice(("unit", "any", "partly"))
    if way == "any":
        source = g.array("vectors directions", vec, -1.5, 1.5)
        v = k.let("v n", source[g.at])
        scale = k.let("scale factor", 2.0 / (fn("dot", v, v) + 0.1))
        value = identity(k, mat) - scale * fn("outer", v, v)
        text = f"R = I - 2 / (dot(v, v) + 0.1) * outer(v, v), v of {source.name}"
    else:
        source = g.array("normals mirrors", vec, init="unit")
        n = k.let("n nrm", source[g.at])
        if way == "unit":
            value = identity(k, mat) - 2.0 * fn("outer", n, n)
            text = f"R = I - 2 * outer(n, n), n of {source.name}"
        else:
            share = given(g, "bounce share", scalar, 1.1, 1.9)
            value = identity(k, mat) - share * fn("outer", n, n)
            text = f"R = I - {say(k, share)} * outer(n, n), n of {source.name}"
    return k.let("refl mirror", value), text


def _schmidt(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """A frame of two directions: Gram and Schmidt, or normal and tangent."""
    vec, mat = Vec(3, scalar), Mat(3, 3, scalar)
    firsts = g.array("normals forward z_dirs", vec, init="unit")
    hints = g.array("hints ups tangents", vec, -1.0, 1.0)
    z, hint = k.let("z fwd", firsts[g.at]), k.let("hint up", hints[g.at])

    def unit(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        rest = body.let("rest perp", b - fn("dot", a, b) * a)
        return rest / fn("sqrt", fn("dot", rest, rest) + 0.05)

    if level >= 2 and k.draw.shape.chance(0.5):
        made = helper(k, "reject_unit orthonormal_to", (("a", vec), ("b", vec)), unit)
        x = k.let("x side", k.call(made, z, hint))
    else:
        x = k.let("x side", unit(k, z, hint))
    y = k.let("y top", fn("cross", z, x))
    way = k.draw.shape.choice(("columns", "rows"))
    build = from_columns if way == "columns" else from_rows
    rot = k.let("frame basis", build(k, mat, (x, y, z)))
    text = f"R have the {way} x, y, z: z of {firsts.name}, h of {hints.name}, q = h - dot(z, h) * z"
    return rot, f"{text}, x = q / sqrt(dot(q, q) + 0.05), y = cross(z, x)"


MAKERS = {
    "composed": _composed,
    "rodrigues": _rodrigues,
    "plane": _plane,
    "householder": _householder,
    "schmidt": _schmidt,
}


def _used(k: KernelBuilder, g: Site, rot: Expr, level: int) -> str:
    """What the matrix turns: a vector, a few points about a pivot, a tensor, another frame."""
    mat = rot.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)
    ways = (
        ("point", "matrix", "tensor", "pivot")
        if level < 3
        else ("points", "points", "tensor", "chain")
    )
    way = k.draw.shape.choice(ways)
    if way == "matrix" and level == 1:
        way = "pivot"
    if way == "matrix":
        return gets(g, "rotations frames_out", rot, "R")
    if way == "tensor":
        source = g.array("tensors inertias", mat, -1.0, 1.0)
        t = k.let("t local_t", source[g.at])
        back = k.draw.shape.chance(0.4)
        rt = fn("transpose", rot)
        target = g.put("turned world", rt * t * rot if back else rot * t * rt)
        text = "transpose(R) * t * R" if back else "R * t * transpose(R)"
        return f" {target.name} gets {text}, t of {source.name}."
    if way == "chain":
        source = g.array("parents frames", mat, -1.0, 1.0)
        total = k.let("total chained", source[g.at] * rot)
        target = g.put("chained_out world_frames", total)
        tip = given(g, "tip lever", vec, -1.0, 1.0)
        ends = g.put("ends tips_out", total * tip)
        return f" {target.name} gets {source.name} * R, {ends.name} that times {say(k, tip)}."
    if way == "points":
        return _several(k, g, rot, vec)
    points = g.array("points vectors offsets", vec, -2.0, 2.0)
    p = points[g.at]
    if way == "point":
        back = k.draw.shape.chance(0.3)
        return gets(
            g,
            "rotated turned",
            (fn("transpose", rot) if back else rot) * p,
            f"{'transpose(R)' if back else 'R'} * {points.name}",
        )
    pivot = given(g, "pivot center", vec, -1.0, 1.0)
    return gets(
        g,
        "rotated turned",
        rot * (p - pivot) + pivot,
        f"{say(k, pivot)} + R * ({points.name} - {say(k, pivot)})",
    )


def _several(k: KernelBuilder, g: Site, rot: Expr, vec: Vec) -> str:
    k.size("m", 3, 5)
    count = k.trip_count("num_points vertex_count", "m")
    shared = k.draw.shape.chance(0.5)
    dims = ("m",) if shared else (*g.dims, "m")
    points = k.array("shape_points vertices body_points", vec, dims, low=-1.0, high=1.0)
    origin = g.array("origins positions", vec, -2.0, 2.0)
    o = k.let("o at", origin[g.at])
    each = k.draw.shape.chance(0.6)
    target = k.out("world_points placed", vec, (*g.dims, "m")) if each else None
    lowest = None if each else k.let("moment spread_sq", zero(vec))
    with k.for_("v q", count) as v:
        local = points[v] if shared else points[g.index(v)]
        world = k.let("world corner", o + rot * local)
        if target is not None:
            k.store(target, g.index(v), world)
        if lowest is not None:
            k.augment(lowest, "add", fn("cw_mul", world, world))
    formula = f"{origin.name} + R * {points.name}"
    if target is not None:
        return f" {target.name} gets {formula} for every point."
    assert lowest is not None
    return gets(
        g,
        "moments second_moments",
        lowest,
        f"the componentwise sum of squares of {formula} over the points",
    )


@idiom
def rotation_matrix(k: KernelBuilder, level: int) -> Title:
    """Matrices that turn and mirror: made from angles, axes and hints, then applied."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid joint")
    way = shape.weighted(
        {"composed": 4, "rodrigues": 2, "plane": 2, "householder": 2, "schmidt": 3}
    )
    plain = way != "composed" or shape.chance(0.15)
    scalar = k.draw.wide_float_type() if plain else FLOAT32
    rot, text = MAKERS[way](k, g, level, scalar)
    mat = rot.type
    assert isinstance(mat, Mat)
    if level >= 3 and shape.chance(0.4):
        gain = given(g, "scale zoom", Vec(mat.rows, mat.scalar), 0.4, 2.0)
        rot = k.let("scaled model", rot * fn("diag", gain))
        text += f", times diag({say(k, gain)})"
    done = f"Let {text}.{_used(k, g, rot, level)}"
    menu = {
        "trace": Extra("traces turns_out", lambda: fn("trace", rot), "trace(R)"),
        "column": Extra("first_axes x_axes", lambda: column(rot, 0), "column 0 of R"),
        "diag": Extra("diagonals diag_out", lambda: fn("get_diag", rot), "the diagonal of R"),
        "corner": Extra("corners r01", lambda: rot[0, 1], "R[0, 1]"),
        "skew": Extra("skews twists", lambda: rot[1, 0] - rot[0, 1], "R[1, 0] - R[0, 1]"),
        "square": Extra("squares twice", lambda: rot * rot, "R * R"),
    }
    if way == "householder" or mat.rows == 2:
        del menu["skew"], menu["square"], menu["trace"]
    if mat.rows == 2 or len(text) < 60:
        menu.pop("column"), menu.pop("corner")
    if way == "composed" and "R = R" in text and text.count(" * ") < 2:
        menu.pop("diag")
    count = (0, shape.integer(0, 1), 1, 2, 3)[level - 1]
    done += extras(g, menu, count)
    if level >= 4:
        done += _chained(k, g, rot, level)
    return Title(k.name(f"{way}_rotation rotation_matrix turn_frames apply_rotation"), done)


def _chained(k: KernelBuilder, g: Site, rot: Expr, level: int) -> str:
    """How far the matrix is from a target, and a step of blending toward it, made orthogonal."""
    mat = rot.type
    assert isinstance(mat, Mat)
    goals = g.array("targets goal_frames", mat, -1.0, 1.0)
    goal = k.let("goal wanted", goals[g.at])
    error = k.let("error delta", rot - goal)
    loss = g.put("losses misfits", 0.5 * fn("ddot", error, error))
    text = f" {loss.name} gets half of ddot(R - G, R - G), G of {goals.name}."
    if level < 5:
        return text
    rate = given(g, "rate blend", mat.scalar, 0.1, 0.4)
    mixed = k.let("mixed step", rot - rate * error)
    k.note("one Newton step back toward an orthogonal matrix")
    square = k.let("square_m mtm", fn("transpose", mixed) * mixed)
    three = 3.0 * identity(k, mat)
    target = g.put("blended orthogonalized", 0.5 * mixed * (three - square))
    return (
        f"{text} With B = R - {say(k, rate)} * (R - G), {target.name} gets"
        " 0.5 * B * (3 * I - transpose(B) * B)."
    )
