"""Matrices that turn and mirror, made of angles, axes, normals and hints."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.kit.pieces import helper
from generators.matrix.small.grid import Grid, from_columns, from_rows, identity, say
from generators.program.dtypes import Mat, Scalar, Vec
from generators.program.expr import Expr, Var, literal

AXES = ("x", "y", "z")


ORDERS = ("zyx", "xyz", "zxz", "yxz", "xzy")


def _elementary(body: BodyBuilder, axis: str, angle: Expr, scalar: Scalar) -> Expr:
    """The rotation about a coordinate axis, entry by entry."""
    c = body.let((f"c{axis}", f"cos_{axis}"), fn("cos", angle))
    s = body.let((f"s{axis}", f"sin_{axis}"), fn("sin", angle))
    one, nil = literal(1, scalar), literal(0, scalar)
    rows: dict[str, tuple[Expr, ...]] = {
        "x": (one, nil, nil, nil, c, -s, nil, s, c),
        "y": (c, nil, s, nil, one, nil, -s, nil, c),
        "z": (c, -s, nil, s, c, nil, nil, nil, one),
    }
    return make(Mat(3, 3, scalar), *rows[axis])


def _angles(k: KernelBuilder, g: Grid, scalar: Scalar, count: int) -> tuple[list[Expr], str]:
    """As many angles as asked for: in a vector, or each from where it comes."""
    if count == 3 and k.draw.shape.chance(0.6):
        source = g.array(("angles", "euler", "attitudes"), Vec(3, scalar), -2.5, 2.5)
        v = k.let(("v", "ang"), source[g.index])
        scale, text = _degrees(k, [v[0], v[1], v[2]])
        return scale, f"angles {source.name}{text}"
    names = (("yaw", "heading", "phi"), ("pitch", "tilt", "theta"), ("roll", "bank", "psi"))
    first = g.array(("angles", "turns", "headings"), scalar, -2.5, 2.5)
    found: list[Expr] = [first[g.index]]
    for one in names[1:count]:
        found.append(g.supply(one, (f"{one[0]}s", f"{one[1]}s"), scalar, -2.5, 2.5, False))
    return found, f"angle{'s' if count > 1 else ''} {', '.join(map(say, found))}"


def _degrees(k: KernelBuilder, values: Sequence[Expr]) -> tuple[list[Expr], str]:
    if k.draw.shape.chance(0.3):
        return [fn("radians", 60.0 * value) for value in values], ", in units of 60 degrees"
    return list(values), ""


def _composed(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> tuple[Expr, str]:
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
                    (f"rot_{axis}", f"rotate_{axis}"),
                    (("angle", scalar),),
                    lambda body, a, axis=axis: _elementary(body, axis, a, scalar),
                )
            mats.append(k.call(made[axis], angle))
        else:
            mats.append(k.let((f"r{axis}", f"rot_{axis}"), _elementary(k, axis, angle, scalar)))
    total = mats[0]
    for mat in mats[1:]:
        total = total * mat
    product = " * ".join(f"R{axis}" for axis in order)
    name = ("rot", "rmat", "r")
    return k.let(name, total) if not isinstance(total, Var) else total, f"R = {product} by {text}"


def _rodrigues(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """I + sin(a) K + (1 - cos(a)) K K with the skew matrix of a unit axis."""
    vec = Vec(3, scalar)
    axes = g.array(("axes", "hinge_axes"), vec, init="unit")
    axis = k.let(("axis", "n"), axes[g.index])
    angle = g.supply(("angle", "phi"), ("angles", "turns"), scalar, -2.5, 2.5)

    def build(body: BodyBuilder, u: Expr, a: Expr) -> Expr:
        if body.draw.shape.chance(0.5):
            kx = body.let(("kx", "sk"), fn("skew", u))
            eye = identity(k, Mat(3, 3, scalar))
            return eye + fn("sin", a) * kx + (1.0 - fn("cos", a)) * (kx * kx)
        c = body.let(("c", "cos_a"), fn("cos", a))
        eye = identity(k, Mat(3, 3, scalar))
        return c * eye + (1.0 - c) * fn("outer", u, u) + fn("sin", a) * fn("skew", u)

    if level >= 3 and k.draw.shape.chance(0.6):
        made = helper(k, ("rodrigues", "axis_rotation"), (("u", vec), ("a", scalar)), build)
        value: Expr = k.call(made, axis, angle)
    else:
        value = build(k, axis, angle)
    return k.let(("rot", "rmat"), value), f"R be the rotation about {axes.name} by {say(angle)}"


def _plane(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """A rotation in the plane."""
    angles, text = _angles(k, g, scalar, 1)
    c, s = k.let(("c", "cs"), fn("cos", angles[0])), k.let(("s", "sn"), fn("sin", angles[0]))
    if k.draw.shape.chance(0.3):
        x = make(Vec(2, scalar), c, s)
        y = make(Vec(2, scalar), -s, c)
        rot = from_columns(k, Mat(2, 2, scalar), (k.let(("ex", "u"), x), k.let(("ey", "v"), y)))
    else:
        rot = make(Mat(2, 2, scalar), c, -s, s, c)
    return k.let(("rot", "rmat"), rot), f"R be the rotation in the plane by {text}"


def _householder(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """The reflection in a plane: I - 2 n n^T, or of any vector, or only partly."""
    size = k.draw.shape.choice((2, 3, 3))
    vec, mat = Vec(size, scalar), Mat(size, size, scalar)
    way = k.draw.shape.choice(("unit", "any", "partly"))
    if way == "any":
        source = g.array(("vectors", "directions"), vec, -1.5, 1.5)
        v = k.let(("v", "n"), source[g.index])
        scale = k.let(("scale", "factor"), 2.0 / (fn("dot", v, v) + 0.1))
        value = identity(k, mat) - scale * fn("outer", v, v)
        text = f"R = I - 2 / (dot(v, v) + 0.1) * outer(v, v), v of {source.name}"
    else:
        source = g.array(("normals", "mirrors"), vec, init="unit")
        n = k.let(("n", "nrm"), source[g.index])
        if way == "unit":
            value = identity(k, mat) - 2.0 * fn("outer", n, n)
            text = f"R = I - 2 * outer(n, n), n of {source.name}"
        else:
            share = g.supply(("bounce", "share"), ("bounces", "shares"), scalar, 1.1, 1.9)
            value = identity(k, mat) - share * fn("outer", n, n)
            text = f"R = I - {say(share)} * outer(n, n), n of {source.name}"
    return k.let(("refl", "mirror"), value), text


def _schmidt(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> tuple[Expr, str]:
    """A frame of two directions: Gram and Schmidt, or normal and tangent."""
    vec, mat = Vec(3, scalar), Mat(3, 3, scalar)
    firsts = g.array(("normals", "forward", "z_dirs"), vec, init="unit")
    hints = g.array(("hints", "ups", "tangents"), vec, -1.0, 1.0)
    z, hint = k.let(("z", "fwd"), firsts[g.index]), k.let(("hint", "up"), hints[g.index])

    def unit(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        rest = body.let(("rest", "perp"), b - fn("dot", a, b) * a)
        return rest / fn("sqrt", fn("dot", rest, rest) + 0.05)

    if level >= 2 and k.draw.shape.chance(0.5):
        made = helper(k, ("reject_unit", "orthonormal_to"), (("a", vec), ("b", vec)), unit)
        x = k.let(("x", "side"), k.call(made, z, hint))
    else:
        x = k.let(("x", "side"), unit(k, z, hint))
    y = k.let(("y", "top"), fn("cross", z, x))
    way = k.draw.shape.choice(("columns", "rows"))
    build = from_columns if way == "columns" else from_rows
    rot = k.let(("frame", "basis"), build(k, mat, (x, y, z)))
    text = f"R have the {way} x, y, z: z of {firsts.name}, h of {hints.name}, q = h - dot(z, h) * z"
    return rot, f"{text}, x = q / sqrt(dot(q, q) + 0.05), y = cross(z, x)"


MAKERS = {
    "composed": _composed,
    "rodrigues": _rodrigues,
    "plane": _plane,
    "householder": _householder,
    "schmidt": _schmidt,
}
