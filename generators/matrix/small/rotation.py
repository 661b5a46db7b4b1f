"""Rotation matrices, reflections and frames: made, used, compared and blended."""

from __future__ import annotations

from functools import partial, reduce

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, dot, sin
from generators.kit.naming import applied, local, routine
from generators.matrix.parts import (
    Place,
    from_columns,
    from_rows,
    identity,
    mat_of,
    place,
    rows_of,
    transpose,
)
from generators.program.dtypes import FLOAT32, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Operand, Var

_ORDERS = ("zyx", "xyz", "zxz", "yxz", "xzy")


def _elementary(body: BodyBuilder, angle: Expr, axis: str) -> Expr:
    """The rotation about a coordinate axis, entry by entry."""
    c = body.let(f"c{axis} cos_{axis}", cos(angle))
    s = body.let(f"s{axis} sin_{axis}", sin(angle))
    one, nil = body.lift(1, angle.type), body.lift(0, angle.type)
    rows: dict[str, tuple[Expr, ...]] = {
        "x": (one, nil, nil, nil, c, -s, nil, s, c),
        "y": (c, nil, s, nil, one, nil, -s, nil, c),
        "z": (c, -s, nil, s, c, nil, nil, nil, one),
    }
    return make(Mat(3, 3, scalar_of(angle.type)), *rows[axis])


def _angles(
    g: Place, scalar: Scalar, order: str, single: str = "angles headings"
) -> tuple[list[Expr], str]:
    """As many angles as there are axes: in a vector, or each from where it comes."""
    if len(order) == 1:
        found: list[Expr] = [g.read(single, scalar, -2.5, 2.5)]
        return found, g.tell(found[0])
    # Yaw, pitch and roll belong to one order of the axes.
    if order == "zyx" and g.chance(0.5):
        names = g.k.draw.word.choice((("yaws", "pitches", "rolls"), ("yaw", "pitch", "roll")))
        found = [g.read(name, scalar, -2.5, 2.5) for name in names]
        return found, ", ".join(map(g.tell, found))
    degrees = g.chance(0.3)
    called, span = ("angles_deg euler_deg", 120.0) if degrees else ("angles euler", 2.5)
    source = g.read(called, Vec(3, scalar), -span, span)
    v = g.k.let("v ang", source)
    text = f"the components of {g.tell(source)}, in this order"
    if degrees:
        return [fn("radians", v[c]) for c in range(3)], f"{text} and in degrees"
    return [v[c] for c in range(3)], text


def _composed(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """One to three rotations about coordinate axes, multiplied."""
    order = g.shape.choice(("x", "y", "z") if level == 1 else _ORDERS)
    single = {"x": "rolls angles", "y": "pitches angles"}.get(order, "yaws headings")
    angles, text = _angles(g, scalar, order, single)
    helpers = level >= 2 and g.chance(0.5)
    turn = {
        axis: routine(
            g.k,
            float(helpers),
            f"rot_{axis} rotate_{axis}",
            {"angle": scalar},
            partial(_elementary, axis=axis),
        )
        for axis in order
    }
    mats = [turn[axis](angle) for axis, angle in zip(order, angles, strict=True)]
    if not helpers:
        mats = [g.k.let(f"r{axis} rot_{axis}", m) for axis, m in zip(order, mats, strict=True)]
    total = reduce(lambda all_, one: all_ * one, mats)
    text = (
        f"R = {' * '.join(f'R{axis}' for axis in order)}, the rotations about the axes, by {text}"
    )
    if len(order) == 1:
        text = f"R the rotation about the {order} axis by {g.tell(angles[0])}"
    return local(g.k, "rot rmat r", total), text


def _rodrigues(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """I + sin(a) K + (1 - cos(a)) K K with the skew matrix of a unit axis."""
    k, mat = g.k, Mat(3, 3, scalar)
    source = g.read("axes hinge_axes", Vec(3, scalar), init="unit")
    axis, angle = k.let("axis n", source), g.read("angles phis", scalar, -2.5, 2.5)

    def build(body: BodyBuilder, u: Expr, a: Expr) -> Expr:
        if body.draw.shape.chance(0.5):
            kx = body.let("kx sk", fn("skew", u))
            return identity(body, mat) + sin(a) * kx + (1.0 - cos(a)) * (kx * kx)
        c = body.let("c cos_a", cos(a))
        return c * identity(body, mat) + (1.0 - c) * fn("outer", u, u) + sin(a) * fn("skew", u)

    value = applied(
        k, 0.6 * (level >= 3), "rodrigues axis_rotation", {"u": axis, "a": angle}, build
    )
    text = f"R the rotation about the unit vector {g.tell(source)} by {g.tell(angle)} (Rodrigues)"
    return k.let("rot rmat", value), text


def _plane(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """A rotation in the plane."""
    k, vec, mat = g.k, Vec(2, scalar), Mat(2, 2, scalar)
    angles, text = _angles(g, scalar, "z")
    c, s = k.let("c cs", cos(angles[0])), k.let("s sn", sin(angles[0]))
    if g.chance(0.3):
        rot = from_columns(
            k, mat, (k.let("ex u", make(vec, c, s)), k.let("ey v", make(vec, -s, c)))
        )
    else:
        rot = make(mat, c, -s, s, c)
    return k.let("rot rmat", rot), f"R the rotation in the plane by {text}"


def _householder(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """The reflection in a plane: I - 2 n n^T, or of any vector, or only partly."""
    size = g.shape.choice((2, 3, 3))
    vec = Vec(size, scalar)
    way = g.shape.choice(("unit", "unit", "any"))
    if way == "any":
        n = g.let("v n", g.read("mirror_vecs directions", vec, 0.3, 1.5), "v")
        factor: Operand = g.part("scale factor", 2.0 / dot(n, n))
    else:
        n = g.let("n nrm", g.read("normals mirrors", vec, init="unit"))
        factor = 2.0
    rot = g.let(
        "r refl mirror", identity(g.k, Mat(size, size, scalar)) - factor * fn("outer", n, n)
    )
    unit = "" if way == "any" else ", unit vectors"
    return rot, f"{g.told(rot, n)}{unit}"


def _schmidt(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """A frame of two directions: Gram and Schmidt, or normal and tangent."""
    k, vec, mat = g.k, Vec(3, scalar), Mat(3, 3, scalar)
    z = g.let("z fwd", g.read("normals forward z_dirs", vec, init="unit"))
    hint = g.let("h hint up", g.read("hints ups tangents", vec, -1.0, 1.0))

    def unit(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        rest = body.let("rest perp", b - dot(a, b) * a)
        return fn("normalize", rest)

    args = {"a": z, "b": hint}
    x = k.let("x side", applied(k, 0.5 * (level >= 2), "reject_unit orthonormal_to", args, unit))
    y = k.let("y top", fn("cross", z, x))
    columns = g.chance(0.5)
    rot = k.let("frame basis", (from_columns if columns else from_rows)(k, mat, (x, y, z)))
    text = (
        f"R the frame with {'columns' if columns else 'rows'} x, y, z, where {g.told(z, hint)}, q ="
    )
    text += " h - dot(z, h) * z, x = q divided by its length, y = cross(z, x), every z of length 1"
    return rot, text


_MAKERS = {
    "composed": _composed,
    "rodrigues": _rodrigues,
    "plane": _plane,
    "householder": _householder,
    "schmidt": _schmidt,
}


def _used(g: Place, rot: Var, level: int, mirrored: bool) -> str:
    """What the matrix turns: a vector, a few points about a pivot, a tensor, another frame."""
    mat, vec = mat_of(rot), rows_of(mat_of(rot))
    names = "reflected mirrored" if mirrored else "rotated turned"
    early = ("point", "matrix", "tensor", "pivot")
    way = g.shape.choice(early if level < 3 else ("points", "points", "tensor", "chain"))
    if way == "matrix" and level > 1:
        return g.gets("reflections refl_out" if mirrored else "rotations frames_out", rot)
    if way == "tensor":
        rt, back = transpose(rot), g.chance(0.4)
        t = g.part("t m", g.read("tensors inertias", mat, -1.0, 1.0))
        return g.gets("turned tensors_out", rt * t * rot if back else rot * t * rt)
    if way == "chain":
        total = g.let("t total chained", g.read("parents frames", mat, -1.0, 1.0) * rot)
        return g.gets("world_frames chained_out", total, g.told(total))
    if way == "points":
        return _several(g, rot, vec)
    p = g.read("vectors offsets" if way == "point" else "points vertices", vec, -2.0, 2.0)
    if way == "point":
        back = not mirrored and g.chance(0.3)
        return g.gets("local_vecs" if back else names, (transpose(rot) if back else rot) * p)
    pivot = g.one("pivot", vec, -1.0, 1.0)
    arm: Expr = p - pivot
    arm = g.part("arm rel", arm) if g.chance(0.5) else arm
    return g.gets(names, rot * arm + pivot)


def _several(g: Place, rot: Var, vec: Vec) -> str:
    """Several points of a body, which are stored."""
    k = g.k
    count = k.size_param("num_points vertex_count", k.size("m", 3, 5))
    shared = g.chance(0.5)
    axes = () if shared else range(g.rank)
    points = g.array("shape_points vertices body_points", vec, -1.0, 1.0, axes=axes, more="m")
    origin = g.read("origins positions", vec, -2.0, 2.0)
    o = k.let("o at", origin)
    target = k.out("world_points placed", vec, (*g.dims, "m"))
    with k.for_("v q", count) as v:
        world = k.let("world corner", o + rot * (points[v] if shared else points[g.index(v)]))
        k.store(target, g.index(v), world)
    return f" {target.name} gets {g.tell(origin)} + R * {points.name} for every point."


@idiom(depth=2)
def rotation_matrix(k: KernelBuilder, level: int) -> Title:
    """Matrices that turn and mirror: made from angles, axes and hints, then applied."""
    shape = k.draw.shape
    g = place(k, "i tid item")
    likely = {"composed": 4, "rodrigues": 2, "plane": 2, "householder": 2, "schmidt": 3}
    way = shape.weighted(likely)
    plain = way != "composed" or shape.chance(0.15)
    rot, text = _MAKERS[way](g, level, k.draw.wide_float_type() if plain else FLOAT32)
    g.spoken[rot.name] = "R", text
    vec = rows_of(mat_of(rot))
    if level >= 3 and way in ("composed", "rodrigues") and shape.chance(0.3):
        gain = fn("diag", g.one("scale", vec, 0.4, 2.0))
        text += f", times {g.tell(gain)}"
        rot = g.let("r scaled model", rot * gain)
    kind = {"householder": "Reflect", "schmidt": "Frames from two directions"}.get(way, "Rotate")
    what = "by Householder matrices" if way == "householder" else "by rotation matrices"
    kind = kind if way == "schmidt" else f"{kind} {what}"
    used = _used(g, rot, level, way == "householder")
    done = f"{kind}: R is {text.removeprefix('R ').removeprefix('= ')}.{used}"
    if level >= 3 and way != "householder" and shape.chance(0.2):
        done += _compared(g, rot, level)
    names = {
        "householder": "reflect_vectors householder_reflect",
        "schmidt": "frame_from_directions",
    }
    names |= {"plane": "rotate_2d", "composed": "euler_rotation"}
    if "axis by" in text:
        names["composed"] = "axis_rotation"
    if "frames_out" not in done and "rotations" not in done:
        names["schmidt"] = "rotate_by_frame apply_frame"
    return Title(k.name(names.get(way, "axis_angle_rotation rodrigues_rotation")), done)


def _compared(g: Place, rot: Var, level: int) -> str:
    """How far the matrix is from a target, and a step of blending toward it, made orthogonal."""
    mat = mat_of(rot)
    goal = g.let("g goal wanted", g.read("targets goal_frames", mat, -1.0, 1.0))
    error = g.part("error delta", rot - goal)
    done = f" With {g.told(goal)},{g.gets('losses misfits', 0.5 * fn('ddot', error, error))}"
    if level < 5:
        return done
    rate = g.one("rate blend", mat.scalar, 0.1, 0.4)
    mixed = g.let("b mixed step", rot - rate * error)
    g.k.note("one Newton step back toward an orthogonal matrix")
    square = g.part("square_m mtm", transpose(mixed) * mixed)
    value = 0.5 * mixed * (3.0 * identity(g.k, mat) - square)
    return f"{done} With {g.told(mixed)},{g.gets('blended orthogonalized', value)}"
