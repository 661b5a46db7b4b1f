"""Points that rotate and move: by quaternions, transforms, an axis and angle, or in the plane."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn, make
from generators.dtypes import Mat, Quat, Scalar, Transform, Vec
from generators.expr import Expr, Var
from generators.pieces import extra_output, fine, thread, vector_literal, zero
from generators.registry import Title

Turn = Callable[[Expr], Expr]
Rotation = tuple[Callable[[Var], Turn], str]


def _by_quaternion(k: KernelBuilder, n: str, scalar: Scalar) -> Rotation:
    quat = Quat(scalar)
    rotations = k.array(("rotations", "orientations", "quats"), quat, n, init="unit")
    form = k.draw.shape.choice(("plain", "plain", "inverse", "parent"))
    if form == "parent":
        base = k.scalar(("base", "world_rot", "parent"), quat, -1.0, 1.0, init="unit")

    def at(i: Var) -> Turn:
        turned = base * rotations[i] if form == "parent" else rotations[i]
        q = k.let(("rot", "orientation", "quat"), turned)
        return lambda p: fn("quat_rotate_inv" if form == "inverse" else "quat_rotate", q, p)

    if form == "parent":
        return at, f"rotated by the quaternion product {base.name} * {rotations.name}[i]"
    inverse = "inverse of its " if form == "inverse" else ""
    return at, f"rotated by the {inverse}quaternion in {rotations.name}"


def _by_transform(k: KernelBuilder, n: str, scalar: Scalar) -> Rotation:
    type_ = Transform(scalar)
    poses = k.array(("poses", "frames", "xforms"), type_, n, init="unit", low=-1.0, high=1.0)
    form = k.draw.shape.choice(("plain", "inverse", "parent"))
    if form == "parent":
        base = k.scalar(("world", "parent", "base"), type_, -1.0, 1.0, init="unit")

    def at(i: Var) -> Turn:
        pose: Expr = poses[i]
        if form != "plain":
            pose = fn("transform_inverse", pose) if form == "inverse" else base * pose
        frame = k.let(("pose", "xform", "frame"), pose)
        return lambda p: fn("transform_point", frame, p)

    text = f"moved by its transform in {poses.name}"
    if form == "inverse":
        text = f"moved by the inverse of its transform in {poses.name}"
    return at, text if form != "parent" else f"{text} and then by {base.name}"


def _angle(k: KernelBuilder, angles: Var, i: Var, rate: float) -> Expr:
    return rate * angles[i] if rate else angles[i]


def _angle_text(angles: Var, rate: float) -> str:
    return f"{rate} times its angle in {angles.name}" if rate else f"its angle in {angles.name}"


def _by_axis_angle(k: KernelBuilder, n: str, scalar: Scalar) -> Rotation:
    angles = k.array(("angles", "theta", "turns"), scalar, n, low=-3.0, high=3.0)
    shape, vec = k.draw.shape, Vec(3, scalar)
    rate = fine(k, 0.2, 0.98) if shape.chance(0.5) else 0.0
    form = shape.choice(("shared", "each", "x", "y", "z"))
    if form == "each":
        axes = k.array(("axes", "spin_axes"), vec, n, init="unit")
    elif form == "shared":
        axes = k.scalar(("axis", "spin_axis"), vec, init="unit")
    expanded = shape.chance(0.35)

    def at(i: Var) -> Turn:
        axis: Expr
        if form in ("each", "shared"):
            axis = axes[i] if form == "each" else axes
        else:
            axis = make(vec, *(k.lift(float(form == name), scalar) for name in "xyz"))
        if not expanded:
            turn = fn("quat_from_axis_angle", axis, _angle(k, angles, i, rate))
            q = k.let(("rot", "quat"), turn)
            return lambda p: fn("quat_rotate", q, p)
        u = axis if isinstance(axis, Var) else k.let(("u", "unit_axis"), axis)
        angle = k.let(("angle", "phi"), _angle(k, angles, i, rate))
        c, s = k.let(("c", "ca"), fn("cos", angle)), k.let(("s", "sa"), fn("sin", angle))
        return lambda p: c * p + s * fn("cross", u, p) + (1.0 - c) * fn("dot", u, p) * u

    about = f"the unit vector in {axes.name}" if form in ("each", "shared") else f"the {form} axis"
    by = " with Rodrigues' formula" if expanded else ""
    return at, f"rotated about {about} by {_angle_text(angles, rate)} (radians){by}"


def _in_plane(k: KernelBuilder, n: str, scalar: Scalar) -> Rotation:
    angles = k.array(("angles", "theta", "headings"), scalar, n, low=-3.0, high=3.0)
    rate = fine(k, 0.2, 0.98) if k.draw.shape.chance(0.5) else 0.0
    as_matrix, clockwise = k.draw.shape.chance(0.4), k.draw.shape.chance(0.3)

    def at(i: Var) -> Turn:
        angle = k.let(("angle", "phi"), _angle(k, angles, i, rate))
        c, s = k.let(("c", "ca"), fn("cos", angle)), k.let(("s", "sa"), fn("sin", angle))
        if as_matrix:
            entries = (c, s, -s, c) if clockwise else (c, -s, s, c)
            rot = k.let(("rot", "turn_matrix"), make(Mat(2, 2, scalar), *entries))
            return lambda p: rot * p
        vec = Vec(2, scalar)
        if clockwise:
            return lambda p: make(vec, c * p[0] + s * p[1], c * p[1] - s * p[0])
        return lambda p: make(vec, c * p[0] - s * p[1], s * p[0] + c * p[1])

    side = "clockwise" if clockwise else "counterclockwise"
    return at, f"rotated {side} by {_angle_text(angles, rate)} (radians)"


ROTATIONS = {
    "quaternion": _by_quaternion,
    "transform": _by_transform,
    "axis_angle": _by_axis_angle,
    "plane": _in_plane,
}


def _finished(k: KernelBuilder, vec: Vec, turn: Turn) -> tuple[Turn, str]:
    """A turn with a constant factor or a constant shift after it."""
    form = k.draw.shape.choice(("scaled", "divided", "shifted"))
    if form == "shifted":
        offset, text = vector_literal(k, vec, 0.1, 0.99)
        return lambda p: turn(p) + offset, f", then moved by {text}"
    factor = fine(k, 0.3, 0.99) if form == "scaled" else fine(k, 1.02, 2.0)
    if form == "scaled":
        return lambda p: factor * turn(p), f", then multiplied by {factor}"
    return lambda p: turn(p) / factor, f", then divided by {factor}"


def _pivot(k: KernelBuilder, vec: Vec, level: int) -> tuple[Expr | None, str]:
    """The point that the motion is about: a parameter or a literal, at level 1 mostly none."""
    if k.draw.shape.chance(0.6 if level == 1 else 0.4):
        if level == 1:
            return None, ""
        pivot = k.scalar(("pivot", "center", "origin"), vec, -1.0, 1.0)
        return pivot, pivot.name
    value, text = vector_literal(k, vec, 0.1, 1.5)
    return value, f"the point {text}"


def rigid_motion(k: KernelBuilder, level: int) -> Title:
    """Rotate and move points by quaternions, transforms, an axis and angle, or in the plane."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    n = k.size("n", 48, 72)
    form = shape.choice(sorted(ROTATIONS))
    vec = Vec(2 if form == "plane" else 3, scalar)
    points = k.array(("points", "positions", "vertices"), vec, n, low=-2.0, high=2.0)
    move, text = ROTATIONS[form](k, n, scalar)
    pivot, about = _pivot(k, vec, level)
    stretch = None
    if level >= 3 and shape.chance(0.6):
        stretch = k.scalar(("stretch", "scaling", "sizes"), vec, 0.5, 1.5)
    out = k.out(("moved", "rotated", "points_out"), vec, n)
    i = thread(k, n, "i", "tid", "v")
    p = k.let(("p", "point", "x"), points[i])
    if pivot is not None and not isinstance(pivot, Var):
        pivot = k.let(("pivot", "center"), pivot)
    turn = move(i)
    if (isinstance(pivot, Var) and pivot.name == about) or pivot is None or shape.chance(0.4):
        turn, after = _finished(k, vec, turn)
        text += after
    if pivot is not None:
        k.augment(p, "sub", pivot)
    if stretch is not None:
        k.assign(p, fn("cw_mul", stretch, p))
        text = f"scaled by {stretch.name} along each axis and {text}"
    done = f"Each point is {text}"
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        done += _moves(k, level, n, i, p, turn, stretch)
    else:
        k.assign(p, turn(p))
        done += "."
    if level >= 4 and shape.chance(0.6):
        with k.if_(p[1] < 0.0):
            k.set(p, 1, -p[1])
        done += " A negative y is mirrored."
    if pivot is not None:
        k.augment(p, "add", pivot)
        done = f"Relative to {about}, e{done[1:]} In the end that point is added back."
    k.store(out, i, p)
    return Title(k.name("rotate_points", "move_points", "apply_motion", f"{form}_motion"), done)


def _moves(
    k: KernelBuilder, level: int, n: str, i: Var, p: Var, turn: Turn, stretch: Var | None
) -> str:
    """Several turns in a row, and the path they make as one more output."""
    assert isinstance(p.type, Vec)
    turns = k.draw.value.integer(2, 4)
    path = k.let(("path", "travelled", "arc"), zero(p.type.scalar))
    with k.for_(("turn", "step", "r"), turns):
        q = k.let(("q", "next_point", "moved_point"), turn(p))
        k.augment(path, "add", fn("length", q - p))
        k.assign(p, q)
    outs = ("path_lengths", "arc_out", "travel")
    what = "the summed length of these moves"
    once = f" (the scaling by {stretch.name} only once)" if stretch is not None else ""
    done = f", {turns} times in a row{once}."
    return done + extra_output(k, level - 2, outs, (n, i), path, what, 4.0)
