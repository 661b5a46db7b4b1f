"""Rotation matrices, reflections and frames, and the inertia of rigid bodies that turn."""

from __future__ import annotations

from functools import partial, reduce

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, dot, sin, sqrt
from generators.kit.naming import applied, held, local, routine
from generators.kit.records import Part, record
from generators.kit.sources import zero
from generators.matrix.parts import (
    Entry,
    Place,
    column,
    from_columns,
    from_rows,
    identity,
    mat_of,
    place,
    rows_of,
    times_identity,
    transpose,
)
from generators.program.dtypes import FLOAT32, Mat, Quat, Scalar, Vec, scalar_of
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


def _angles(g: Place, scalar: Scalar, count: int) -> tuple[list[Expr], str]:
    """As many angles as asked for: in a vector, or each from where it comes."""
    if count == 3 and g.chance(0.6):
        source = g.read("angles euler attitudes", Vec(3, scalar), -2.5, 2.5)
        v = g.k.let("v ang", source)
        if g.chance(0.3):
            found = [fn("radians", 60.0 * v[c]) for c in range(3)]
            return found, f"angles {g.tell(source)}, in units of 60 degrees"
        return [v[c] for c in range(3)], f"angles {g.tell(source)}"
    names = ("pitch tilt theta", "roll bank psi")[: count - 1]
    found = [g.read("angles turns headings", scalar, -2.5, 2.5)]
    found += [g.given(name, scalar, -2.5, 2.5, literals=False) for name in names]
    return found, f"angle{'s' if count > 1 else ''} {', '.join(map(g.tell, found))}"


def _composed(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """One to three rotations about coordinate axes, multiplied."""
    order = g.shape.choice(("x", "y", "z") if level == 1 else _ORDERS)
    angles, text = _angles(g, scalar, len(order))
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
    text = f"R = {' * '.join(f'R{axis}' for axis in order)} by {text}"
    return local(g.k, "rot rmat r", total), text


def _rodrigues(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """I + sin(a) K + (1 - cos(a)) K K with the skew matrix of a unit axis."""
    k, mat = g.k, Mat(3, 3, scalar)
    source = g.read("axes hinge_axes", Vec(3, scalar), init="unit")
    axis, angle = k.let("axis n", source), g.given("angle phi", scalar, -2.5, 2.5)

    def build(body: BodyBuilder, u: Expr, a: Expr) -> Expr:
        if body.draw.shape.chance(0.5):
            kx = body.let("kx sk", fn("skew", u))
            return identity(body, mat) + sin(a) * kx + (1.0 - cos(a)) * (kx * kx)
        c = body.let("c cos_a", cos(a))
        return c * identity(body, mat) + (1.0 - c) * fn("outer", u, u) + sin(a) * fn("skew", u)

    value = applied(
        k, 0.6 * (level >= 3), "rodrigues axis_rotation", {"u": axis, "a": angle}, build
    )
    text = f"R be the rotation about {g.tell(source)} by {g.tell(angle)}"
    return k.let("rot rmat", value), text


def _plane(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """A rotation in the plane."""
    k, vec, mat = g.k, Vec(2, scalar), Mat(2, 2, scalar)
    angles, text = _angles(g, scalar, 1)
    c, s = k.let("c cs", cos(angles[0])), k.let("s sn", sin(angles[0]))
    if g.chance(0.3):
        rot = from_columns(
            k, mat, (k.let("ex u", make(vec, c, s)), k.let("ey v", make(vec, -s, c)))
        )
    else:
        rot = make(mat, c, -s, s, c)
    return k.let("rot rmat", rot), f"R be the rotation in the plane by {text}"


def _householder(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """The reflection in a plane: I - 2 n n^T, or of any vector, or only partly."""
    size = g.shape.choice((2, 3, 3))
    vec = Vec(size, scalar)
    way = g.shape.choice(("unit", "any", "partly"))
    if way == "any":
        n = g.let("v n", g.read("vectors directions", vec, -1.5, 1.5), "v")
        factor: Operand = g.part("scale factor", 2.0 / (dot(n, n) + 0.1))
    else:
        n = g.let("n nrm", g.read("normals mirrors", vec, init="unit"))
        factor = 2.0 if way == "unit" else g.given("bounce share", scalar, 1.1, 1.9)
    rot = g.let(
        "r refl mirror", identity(g.k, Mat(size, size, scalar)) - factor * fn("outer", n, n)
    )
    return rot, g.told(rot, n)


def _schmidt(g: Place, level: int, scalar: Scalar) -> tuple[Var, str]:
    """A frame of two directions: Gram and Schmidt, or normal and tangent."""
    k, vec, mat = g.k, Vec(3, scalar), Mat(3, 3, scalar)
    z = g.let("z fwd", g.read("normals forward z_dirs", vec, init="unit"))
    hint = g.let("h hint up", g.read("hints ups tangents", vec, -1.0, 1.0))

    def unit(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        rest = body.let("rest perp", b - dot(a, b) * a)
        return rest / sqrt(dot(rest, rest) + 0.05)

    args = {"a": z, "b": hint}
    x = k.let("x side", applied(k, 0.5 * (level >= 2), "reject_unit orthonormal_to", args, unit))
    y = k.let("y top", fn("cross", z, x))
    columns = g.chance(0.5)
    rot = k.let("frame basis", (from_columns if columns else from_rows)(k, mat, (x, y, z)))
    text = f"R have the {'columns' if columns else 'rows'} x, y, z: {g.told(z, hint)}, q = h -"
    return rot, f"{text} dot(z, h) * z, x = q / sqrt(dot(q, q) + 0.05), y = cross(z, x)"


_MAKERS = {
    "composed": _composed,
    "rodrigues": _rodrigues,
    "plane": _plane,
    "householder": _householder,
    "schmidt": _schmidt,
}


def _used(g: Place, rot: Var, level: int) -> str:
    """What the matrix turns: a vector, a few points about a pivot, a tensor, another frame."""
    mat, vec = mat_of(rot), rows_of(mat_of(rot))
    early = ("point", "matrix", "tensor", "pivot")
    way = g.shape.choice(early if level < 3 else ("points", "points", "tensor", "chain"))
    if way == "matrix" and level > 1:
        return g.gets("rotations frames_out", rot)
    if way == "tensor":
        t = g.part("t local_t", g.read("tensors inertias", mat, -1.0, 1.0))
        rt = transpose(rot)
        return g.gets("turned world", rt * t * rot if g.chance(0.4) else rot * t * rt)
    if way == "chain":
        total = g.let("t total chained", g.read("parents frames", mat, -1.0, 1.0) * rot)
        done = g.gets("chained_out world_frames", total, g.told(total))
        return done + g.gets("ends tips_out", total * g.given("tip lever", vec, -1.0, 1.0))
    if way == "points":
        return _several(g, rot, vec)
    p = g.read("points vectors offsets", vec, -2.0, 2.0)
    if way == "point":
        return g.gets("rotated turned", (transpose(rot) if g.chance(0.3) else rot) * p)
    pivot = g.given("pivot center", vec, -1.0, 1.0)
    arm: Expr = p - pivot
    arm = g.part("arm rel", arm) if g.chance(0.5) else arm
    return g.gets("rotated turned", rot * arm + pivot)


def _several(g: Place, rot: Var, vec: Vec) -> str:
    """Several points, stored, or the sum of their squares."""
    k = g.k
    count = k.trip_count("num_points vertex_count", k.size("m", 3, 5))
    shared = g.chance(0.5)
    axes = () if shared else range(g.rank)
    points = g.array("shape_points vertices body_points", vec, -1.0, 1.0, axes=axes, more="m")
    origin = g.read("origins positions", vec, -2.0, 2.0)
    o = k.let("o at", origin)
    target = k.out("world_points placed", vec, (*g.dims, "m")) if g.chance(0.6) else None
    moment = k.let("moment spread_sq", zero(vec)) if target is None else None
    with k.for_("v q", count) as v:
        world = k.let("world corner", o + rot * (points[v] if shared else points[g.index(v)]))
        if target is not None:
            k.store(target, g.index(v), world)
        if moment is not None:
            k.augment(moment, "add", fn("cw_mul", world, world))
    formula = f"{g.tell(origin)} + R * {points.name}"
    if target is not None:
        return f" {target.name} gets {formula} for every point."
    assert moment is not None
    text = f"the componentwise sum of squares of {formula} over the points"
    return g.gets("moments second_moments", moment, text)


@idiom
def rotation_matrix(k: KernelBuilder, level: int) -> Title:
    """Matrices that turn and mirror: made from angles, axes and hints, then applied."""
    shape = k.draw.shape
    g = place(k, "i tid joint")
    likely = {"composed": 4, "rodrigues": 2, "plane": 2, "householder": 2, "schmidt": 3}
    way = shape.weighted(likely)
    plain = way != "composed" or shape.chance(0.15)
    rot, text = _MAKERS[way](g, level, k.draw.wide_float_type() if plain else FLOAT32)
    g.spoken[rot.name] = "R", text
    vec = rows_of(mat_of(rot))
    if level >= 3 and shape.chance(0.4):
        gain = fn("diag", g.given("scale zoom", vec, 0.4, 2.0))
        text += f", times {g.tell(gain)}"
        rot = g.let("r scaled model", rot * gain)
    done = f"Let {text}.{_used(g, rot, level)}"
    menu: dict[str, Entry] = {}
    if way != "composed" or level > 1:
        menu["diag"] = ("diagonals diag_out", lambda: fn("get_diag", rot))
    if vec.size == 3 and len(text) >= 60:
        menu["column"] = ("first_axes x_axes", lambda: column(rot, 0))
        menu["corner"] = ("corners r01", lambda: rot[0, 1])
    if vec.size == 3 and way != "householder":
        menu["trace"] = ("traces turns_out", lambda: fn("trace", rot))
        menu["skew"] = ("skews twists", lambda: rot[1, 0] - rot[0, 1])
        menu["square"] = ("squares twice", lambda: rot * rot)
    done += g.offer((0, shape.integer(0, 1), 1, 2, 3)[level - 1], **menu)
    if level >= 4:
        done += _compared(g, rot, level)
    return Title(k.name(f"{way}_rotation rotation_matrix turn_frames apply_rotation"), done)


def _compared(g: Place, rot: Var, level: int) -> str:
    """How far the matrix is from a target, and a step of blending toward it, made orthogonal."""
    mat = mat_of(rot)
    goal = g.let("g goal wanted", g.read("targets goal_frames", mat, -1.0, 1.0))
    error = g.part("error delta", rot - goal)
    done = f" With {g.told(goal)},{g.gets('losses misfits', 0.5 * fn('ddot', error, error))}"
    if level < 5:
        return done
    rate = g.given("rate blend", mat.scalar, 0.1, 0.4)
    mixed = g.let("b mixed step", rot - rate * error)
    g.k.note("one Newton step back toward an orthogonal matrix")
    square = g.part("square_m mtm", transpose(mixed) * mixed)
    value = 0.5 * mixed * (3.0 * identity(g.k, mat) - square)
    return f"{done} With {g.told(mixed)},{g.gets('blended orthogonalized', value)}"


Made = tuple[Expr, Expr | None]
"""The inertia, and the spin where it belongs to the same record."""


def _solid(g: Place, scalar: Scalar) -> Made:
    """The inertia of a box, ball, cylinder or ellipsoid, from its mass and its sizes."""
    k, vec, mat = g.k, Vec(3, scalar), Mat(3, 3, scalar)
    mass = held(k, "mass_i m", g.given("mass weight", scalar, 0.5, 3.0, literals=False))
    way = g.shape.choice(("box", "ellipsoid", "cylinder", "point"))
    if way == "cylinder":
        s = k.let("s dim", g.read("dims radius_height", Vec(2, scalar), 0.3, 1.5))
        r2, h2 = g.part("r2 rad_sq", s[0] * s[0]), g.part("h2 height_sq", s[1] * s[1])
        side = g.part("side across", mass * (3.0 * r2 + h2) / 12.0)
        value = fn("diag", make(vec, side, side, 0.5 * mass * r2))
    elif way == "point":
        r = k.let("r arm", g.read("arms offsets", vec, -1.5, 1.5))
        value = mass * (times_identity(mat, dot(r, r)) - fn("outer", r, r))
    else:
        e = k.let("e ext", g.read("extents sizes half_axes", vec, 0.3, 1.5))
        sq = g.let("q sq e2", fn("cw_mul", e, e))
        c = g.part("coef share", mass / (12.0 if way == "box" else 5.0))
        value = fn("diag", make(vec, c * (sq[1] + sq[2]), c * (sq[0] + sq[2]), c * (sq[0] + sq[1])))
        inertia = g.let("j inertia body_i", value)
        g.spoken[inertia.name] = "J", f"{g.spoken[inertia.name][1]}, {g.told(sq)}"
        return inertia, None
    return g.let("j inertia body_i", value), None


def _body(g: Place, scalar: Scalar) -> Made:
    """A struct of principal moments and orientation; gives inertia in the world and the spin."""
    vec = Vec(3, scalar)
    parts = {
        "moments": Part("moments", vec, 0.5, 2.0),
        "orientation": Part("orientation", Quat(scalar), init="unit"),
        "spin": Part("spin", vec, -1.5, 1.5),
    }
    r = record(g, "Body RigidBody Link", parts, 1.0)
    rot = g.part("rot r_mat", fn("quat_to_matrix", r["orientation"]))
    inertia = g.let("j inertia world_i", rot * fn("diag", r["moments"]) * transpose(rot))
    return inertia, r["spin"]


def _given(g: Place, scalar: Scalar) -> Made:
    """Given inertia in the body's frame, turned by a matrix or a quaternion."""
    mat = Mat(3, 3, scalar)
    if g.chance(0.5):
        inner: Expr = fn("diag", g.given("moment_vec principal", Vec(3, scalar), 0.5, 2.0))
    else:
        source = g.read("inertias body_inertia", mat, -0.4, 0.4, init="well_conditioned")
        inner = g.k.let("local_i i_body", source)
    turn = g.read("orientations attitudes", Quat(scalar), init="unit")
    rot = g.let("r rot r_mat", fn("quat_to_matrix", turn))
    text = f"{g.tell(rot * inner * transpose(rot))}, {g.told(rot)}"
    args = {"r": rot, "i": inner}
    names = "rotate_inertia to_world"
    value = applied(g.k, 0.4, names, args, lambda _, r, i: r * i * transpose(r))
    inertia = g.k.let("inertia world_i", value)
    g.spoken[inertia.name] = "J", text
    return inertia, None


def _composite(g: Place, scalar: Scalar) -> Made:
    """Several point masses or small balls, summed about the origin or their centre."""
    k, mat, vec = g.k, Mat(3, 3, scalar), Vec(3, scalar)
    count = k.trip_count("num_parts part_count", k.size("m", 3, 5, minimum=3))
    spots = g.array("part_offsets spots", vec, -1.0, 1.0, more="m")
    masses = k.array("part_masses weights", scalar, "m", low=0.3, high=1.5)
    center = k.let("center com_sum", zero(vec)) if g.chance(0.4) else None
    if center is not None:
        whole = k.let("whole mass_sum", zero(scalar))
        with k.for_("a first", count) as a:
            k.augment(center, "add", masses[a] * spots[g.index(a)])
            k.augment(whole, "add", masses[a])
        k.assign(center, center / whole)
    total = k.let("inertia sum_i", zero(mat))
    with k.for_("part q", count) as q:
        spot = spots[g.index(q)]
        r = k.let("r arm", spot if center is None else spot - center)
        k.augment(total, "add", masses[q] * (times_identity(mat, dot(r, r)) - fn("outer", r, r)))
    about = "" if center is None else " minus their centre of mass"
    text = f"the sum of m * (dot(r, r) * I - outer(r, r)), m of {masses.name}, r of {spots.name}"
    g.spoken[total.name] = "J", text + about
    return total, None


def _steiner(g: Place, inertia: Expr, scalar: Scalar) -> Expr:
    """About another point: the parallel axis theorem, written in one of two ways."""
    mass = g.given("total_mass body_mass", scalar, 0.5, 2.0)
    d = held(g.k, "d arm_d", g.given("lever com", Vec(3, scalar), -1.0, 1.0))
    if g.chance(0.5):
        cross = g.part("cx d_cross", fn("skew", d))
        return g.let("j about shifted", inertia - mass * (cross * cross))
    square = dot(d, d) * identity(g.k, Mat(3, 3, scalar)) - fn("outer", d, d)
    return g.let("j about shifted", inertia + mass * square)


@idiom
def rigid_inertia(k: KernelBuilder, level: int) -> Title:
    """Inertia tensors and what follows from them: momentum, torque, energy, acceleration."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    g = place(k, "i tid body_id")
    likely = {"solid": 3, "given": 3 if level >= 2 else 1, "struct": 4 if level >= 2 else 0}
    way = shape.weighted(likely | {"parts": 3 if level >= 3 else 0})
    makers = {"solid": _solid, "given": _given, "struct": _body, "parts": _composite}
    inertia, spin = makers[way](g, scalar)
    done = f"Let {g.told(inertia)}."
    if level >= 3 and shape.chance(0.5):
        inertia = _steiner(g, inertia, scalar)
        done += f" Then {g.told(inertia)}."
    title = k.name("rigid_inertia body_inertia spin_bodies angular_update")
    if level == 1 and shape.chance(0.4):
        return Title(title, done + g.gets("moments_out principal_out", fn("get_diag", inertia)))
    spins = spin if spin is not None else g.read("spins omegas ang_vel", Vec(3, scalar), -1.5, 1.5)
    w = g.let("w omega", spins)
    momentum = g.let("l momentum ang_mom", inertia * w, "L")
    done += f" With {g.told(w, momentum)}:"
    menu: dict[str, Entry] = {
        "momentum": ("momenta ang_momentum", lambda: momentum),
        "energy": ("energies rot_energy", lambda: 0.5 * dot(w, momentum)),
        "gyro": ("gyro_torque gyroscopic", lambda: fn("cross", w, momentum)),
        "size": ("momentum_sq casimir", lambda: dot(momentum, momentum)),
    }
    if way in ("solid", "parts") and level > 1:
        menu["trace"] = ("traces polar", lambda: fn("trace", inertia))
    if way in ("given", "parts"):
        menu["tensor"] = ("world_inertia inertia_out", lambda: inertia)
    moving = level >= 2 and (level >= 4 or shape.chance(0.5))
    if moving:
        done += _accelerated(g, inertia, w, momentum, level)
    count = ((0, 1, 1, 2, 3) if moving else (1, 2, 2, 3, 3))[level - 1]
    return Title(title, done + g.offer(count, **menu))


def _accelerated(g: Place, inertia: Expr, w: Var, momentum: Var, level: int) -> str:
    """Euler's equation: the spin after a step."""
    k, scalar = g.k, mat_of(inertia).scalar
    torque = g.read("torques moments_ext", w.type, -1.0, 1.0)
    gyro = g.chance(0.7)
    tau = g.part("tau net", torque - fn("cross", w, momentum) if gyro else torque)
    alpha = g.let("a alpha ang_acc", fn("inverse", inertia) * tau)
    new = g.let("w_next new_spin", w + g.given("dt step", scalar, 0.05, 0.3) * alpha)
    text = f" {g.told(alpha, new)}"
    if level >= 3 and g.chance(0.6):
        limit = g.given("max_spin limit", scalar, 0.8, 1.8)
        speed = k.let("speed rate", fn("length", new))
        with k.if_(speed > limit):
            k.assign(new, new * (limit / speed))
        text += f", shortened to {g.tell(limit)} where it is longer"
    text += f";{g.gets('spins_out next_spins', new)}"
    if level >= 5:
        text += g.gets("powers work_rate", dot(torque, new))
    return text
