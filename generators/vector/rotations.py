"""Points that rotate and move: by quaternions, transforms, an axis and angle, or in the plane."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import Mat, Quat, Scalar, Transform, Vec
from generators.program.expr import Expr, Var
from generators.vector.kit import (
    EACH,
    ROW,
    SHARED,
    Site,
    held,
    over_points,
    quantity,
    said,
    vector,
)
from generators.vector.output import deliver, put

Turn = Callable[[Expr], Expr]
Dims = tuple[str, ...]
Index = tuple[Var, ...]
Rotation = tuple[Callable[[Index], Turn], str]


def _by_quaternion(k: KernelBuilder, n: Dims, scalar: Scalar) -> Rotation:
    quat = Quat(scalar)
    rotations = k.array(("rotations", "orientations", "quats"), quat, n, init="unit")
    form = k.draw.shape.choice(("plain", "plain", "inverse", "parent"))
    if form == "parent":
        base = k.scalar(("base", "world_rot", "parent"), quat, -1.0, 1.0, init="unit")

    def at(i: Index) -> Turn:
        turned = base * rotations[i] if form == "parent" else rotations[i]
        q = k.let(("rot", "orientation", "quat"), turned)
        return lambda p: fn("quat_rotate_inv" if form == "inverse" else "quat_rotate", q, p)

    if form == "parent":
        return at, f"rotated by the quaternion product {base.name} * {rotations.name}[i]"
    inverse = "inverse of its " if form == "inverse" else ""
    return at, f"rotated by the {inverse}quaternion in {rotations.name}"


def _by_transform(k: KernelBuilder, n: Dims, scalar: Scalar) -> Rotation:
    type_ = Transform(scalar)
    poses = k.array(("poses", "frames", "xforms"), type_, n, init="unit", low=-1.0, high=1.0)
    form = k.draw.shape.choice(("plain", "inverse", "parent"))
    if form == "parent":
        base = k.scalar(("world", "parent", "base"), type_, -1.0, 1.0, init="unit")

    def at(i: Index) -> Turn:
        pose: Expr = poses[i]
        if form != "plain":
            pose = fn("transform_inverse", pose) if form == "inverse" else base * pose
        frame = k.let(("pose", "xform", "frame"), pose)
        return lambda p: fn("transform_point", frame, p)

    text = f"moved by its transform in {poses.name}"
    if form == "inverse":
        text = f"moved by the inverse of its transform in {poses.name}"
    return at, text if form != "parent" else f"{text} and then by {base.name}"


def _angle(k: KernelBuilder, angles: Var, i: Index, rate: float) -> Expr:
    return rate * angles[i] if rate else angles[i]


def _angle_text(angles: Var, rate: float) -> str:
    return f"{rate} times its angle in {angles.name}" if rate else f"its angle in {angles.name}"


def _by_axis_angle(k: KernelBuilder, n: Dims, scalar: Scalar) -> Rotation:
    angles = k.array(("angles", "theta", "turns"), scalar, n, low=-3.0, high=3.0)
    shape, vec = k.draw.shape, Vec(3, scalar)
    rate = 2.0 if shape.chance(0.2) else 0.0
    form = shape.choice(("shared", "each", "x", "y", "z"))
    if form == "each":
        axes = k.array(("axes", "spin_axes"), vec, n, init="unit")
    elif form == "shared":
        axes = k.scalar(("axis", "spin_axis"), vec, init="unit")
    expanded = shape.chance(0.35)

    def at(i: Index) -> Turn:
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


def _in_plane(k: KernelBuilder, n: Dims, scalar: Scalar) -> Rotation:
    angles = k.array(("angles", "theta", "headings"), scalar, n, low=-3.0, high=3.0)
    rate = 0.5 if k.draw.shape.chance(0.2) else 0.0
    as_matrix, clockwise = k.draw.shape.chance(0.4), k.draw.shape.chance(0.3)

    def at(i: Index) -> Turn:
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


def _finished(k: KernelBuilder, site: Site, vec: Vec, turn: Turn) -> tuple[Turn, str]:
    """A turn with a translation or a uniform scale after it."""
    sources = {EACH: 2, ROW: 1, SHARED: 2}
    if k.draw.shape.chance(0.6):
        names = ("translation", "offset", "displacement")
        shift = vector(k, site, names, vec, sources, -1.0, 1.0)
        return lambda p: turn(p) + shift, f", then moved by {said(k, shift)}"
    scale = quantity(k, site, ("scale", "zoom", "size"), vec.scalar, 0.5, 2.0)
    return lambda p: scale * turn(p), f", then multiplied by {said(k, scale)}"


def _pivot(k: KernelBuilder, site: Site, vec: Vec, level: int) -> tuple[Expr | None, str]:
    """The point that the motion is about, at level 1 mostly none."""
    if k.draw.shape.chance(0.7 if level == 1 else 0.4):
        return None, ""
    names = ("pivot", "center", "origin")
    pivot = vector(k, site, names, vec, {EACH: 1, ROW: 1, SHARED: 3}, -1.0, 1.0)
    return pivot, said(k, pivot)


@idiom
def rigid_motion(k: KernelBuilder, level: int) -> Title:
    """Rotate and move points by quaternions, transforms, an axis and angle, or in the plane."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    site = over_points(k, level)
    form = shape.choice(sorted(ROTATIONS))
    vec = Vec(2 if form == "plane" else 3, scalar)
    points = k.array(("points", "positions", "vertices"), vec, site.dims, low=-2.0, high=2.0)
    move, text = ROTATIONS[form](k, site.dims, scalar)
    center, about = _pivot(k, site, vec, level)
    stretch = None
    if level >= 3 and shape.chance(0.6):
        stretch = k.scalar(("stretch", "scaling", "sizes"), vec, 0.5, 1.5)
    p = k.let(("p", "point", "x"), points[site.at])
    pivot = None if center is None else held(k, ("pivot_i", "mid"), center)
    turn = move(site.at)
    if center is None or shape.chance(0.3):
        turn, after = (
            _finished(k, site, vec, turn) if level > 1 or shape.chance(0.5) else (turn, "")
        )
        text += after
    if pivot is not None:
        k.augment(p, "sub", pivot)
    if stretch is not None:
        k.assign(p, fn("cw_mul", stretch, p))
        text = f"scaled by {stretch.name} along each axis and {text}"
    done = f"Each point of {points.name} is {text}"
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        done += _moves(k, level, site, p, turn, stretch)
    else:
        k.assign(p, turn(p))
        done += "."
    if pivot is not None:
        k.augment(p, "add", pivot)
        done = f"Relative to {about}, e{done[1:]} In the end that point is added back."
    done += deliver(k, site, level, ("moved", "rotated", "points_out"), p, points[site.at])
    return Title(k.name("rotate_points", "move_points", "apply_motion", f"{form}_motion"), done)


def _moves(
    k: KernelBuilder, level: int, site: Site, p: Var, turn: Turn, stretch: Var | None
) -> str:
    """Several turns in a row, and what is measured of the path as more outputs."""
    assert isinstance(p.type, Vec)
    turns = k.draw.value.integer(2, 4)
    forms = k.draw.shape.sample(("path", "reach", "middle"), 2 if level >= 5 else 1)
    path = k.let(("path", "travelled", "arc"), zero(p.type.scalar)) if "path" in forms else None
    reach = k.let(("reach", "farthest"), fn("length_sq", p)) if "reach" in forms else None
    middle = k.let(("visited", "sum_p"), p) if "middle" in forms else None
    with k.for_(("turn", "step", "r"), turns):
        q = k.let(("q", "next_point", "moved_point"), turn(p))
        if path is not None:
            k.augment(path, "add", fn("length", q - p))
        k.assign(p, q)
        if reach is not None:
            k.augment(reach, "add", fn("length_sq", q))
        if middle is not None:
            k.augment(middle, "add", q)
    once = f" (the scaling by {stretch.name} only once)" if stretch is not None else ""
    done = f", {turns} times in a row{once}."
    if path is not None:
        out = put(k, site, ("path_lengths", "arc_out", "travel"), path)
        done += f" {out.name} gets the summed length of these moves."
    if reach is not None:
        out = put(k, site, ("reach_out", "inertia"), reach)
        done += f" {out.name} gets the sum of the squared lengths of the point and all its images."
    if middle is not None:
        out = put(k, site, ("centers_out", "mean_points"), middle / float(turns + 1))
        done += f" {out.name} gets the mean of the point and all its images."
    return done
