"""Points that rotate and move: by quaternions, transforms, an axis and angle, or in the plane."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, dot, sin
from generators.kit.naming import held, local
from generators.kit.sites import Site, launch
from generators.kit.sources import given, unit_vector, zero
from generators.kit.words import say
from generators.program.dtypes import Mat, Quat, Scalar, Transform, Vec
from generators.program.expr import Expr, Var

Turn = Callable[[Expr], Expr]
Rotation = tuple[Turn, str]


def _by_quaternion(site: Site, scalar: Scalar) -> Rotation:
    k, quat = site.k, Quat(scalar)
    turned: Expr = site.read("rotations orientations quats", quat, init="unit")
    form = k.draw.shape.choice(("plain", "plain", "inverse", "parent"))
    text = f"rotated by the {'inverse of its ' * (form == 'inverse')}quaternion in {say(k, turned)}"
    if form == "parent":
        turned = k.scalar("base world_rot parent", quat, -1.0, 1.0, init="unit") * turned
        text = f"rotated by the quaternion product {say(k, turned)}"
    q = k.let("rot orientation quat", turned)
    return lambda p: fn("quat_rotate_inv" if form == "inverse" else "quat_rotate", q, p), text


def _by_transform(site: Site, scalar: Scalar) -> Rotation:
    k, type_ = site.k, Transform(scalar)
    pose: Expr = site.read("poses frames xforms", type_, -1.0, 1.0, init="unit")
    form = k.draw.shape.choice(("plain", "inverse", "parent"))
    text = f"moved by {'the inverse of ' * (form == 'inverse')}its transform in {say(k, pose)}"
    if form == "inverse":
        pose = fn("transform_inverse", pose)
    elif form == "parent":
        base = k.scalar("world parent base", type_, -1.0, 1.0, init="unit")
        pose, text = base * pose, f"{text} and then by {base.name}"
    frame = k.let("pose xform frame", pose)
    return lambda p: fn("transform_point", frame, p), text


def _angle(site: Site, names: str, scalar: Scalar) -> tuple[Expr, str]:
    """The thread's angle."""
    angle: Expr = site.read(names, scalar, -3.0, 3.0)
    return angle, f"its angle in {say(site.k, angle)} (radians)"


def _cos_sin(k: KernelBuilder, angle: Expr) -> tuple[Var, Var]:
    angle = k.let("angle phi", angle)
    return k.let("c ca", cos(angle)), k.let("s sa", sin(angle))


def _by_axis_angle(site: Site, scalar: Scalar) -> Rotation:
    k, vec = site.k, Vec(3, scalar)
    angle, by = _angle(site, "angles theta turns", scalar)
    form = k.draw.shape.choice(("shared", "each", "x", "y", "z"))
    if form in ("shared", "each"):
        axis = given(site, "axis spin_axis", vec, init="unit", forms={form: 1})
        about = f"the unit vector in {say(k, axis)}"
    else:
        axis, about = unit_vector(vec, "xyz".index(form)), f"the {form} axis"
    text = f"rotated about {about} by {by}"
    if not k.draw.shape.chance(0.35):
        q = k.let("rot quat", fn("quat_from_axis_angle", axis, angle))
        return lambda p: fn("quat_rotate", q, p), text
    u = local(k, "u unit_axis", axis)
    c, s = _cos_sin(k, angle)
    return (
        lambda p: c * p + s * fn("cross", u, p) + (1.0 - c) * dot(u, p) * u,
        f"{text} with Rodrigues' formula",
    )


def _in_plane(site: Site, scalar: Scalar) -> Rotation:
    k = site.k
    angle, by = _angle(site, "angles theta headings", scalar)
    as_matrix, clockwise = k.draw.shape.chance(0.4), k.draw.shape.chance(0.3)
    text = f"rotated {'clockwise' if clockwise else 'counterclockwise'} by {by}"
    c, s = _cos_sin(k, angle)
    if as_matrix:
        entries = (c, s, -s, c) if clockwise else (c, -s, s, c)
        rot = k.let("rot turn_matrix", make(Mat(2, 2, scalar), *entries))
        return lambda p: rot * p, text
    vec = Vec(2, scalar)
    if clockwise:
        return lambda p: make(vec, c * p[0] + s * p[1], c * p[1] - s * p[0]), text
    return lambda p: make(vec, c * p[0] - s * p[1], s * p[0] + c * p[1]), text


ROTATIONS = {
    "quaternion": _by_quaternion,
    "transform": _by_transform,
    "axis_angle": _by_axis_angle,
    "plane": _in_plane,
}


def _finished(site: Site, vec: Vec, turn: Turn) -> Rotation:
    """A turn with a translation or a uniform scale after it."""
    k = site.k
    if k.draw.shape.chance(0.6):
        names = "translation offset displacement"
        shift = given(site, names, vec, -1.0, 1.0, each=2, first=1, shared=2)
        return lambda p: turn(p) + shift, f", then moved by {say(k, shift)}"
    scale = given(site, "scale", vec.scalar, 0.5, 2.0, shared=2, each=1)
    return lambda p: scale * turn(p), f", then multiplied by {say(k, scale)}"


@idiom(depth=1)
def rigid_motion(k: KernelBuilder, level: int) -> Title:
    """Rotate and move points by quaternions, transforms, an axis and angle, or in the plane."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    site = launch(k, list=5, batch=3 + level // 3)
    form = shape.choice(sorted(ROTATIONS))
    vec = Vec(2 if form == "plane" else 3, scalar)
    source = site.read("points positions vertices", vec, -2.0, 2.0)
    center = None
    if not shape.chance(0.7 if level == 1 else 0.4):
        names = "pivot center origin"
        center = given(site, names, vec, -1.0, 1.0, each=1, shared=3)
    stretch = None
    if level >= 3 and shape.chance(0.6):
        stretch = k.scalar("stretch scaling sizes", vec, 0.5, 1.5)
    p = k.let("p point x", source)
    pivot = None if center is None else held(k, "pivot_i mid", center)
    turn, text = ROTATIONS[form](site, scalar)
    if (center is None or shape.chance(0.3)) and (level > 1 or shape.chance(0.5)):
        turn, after = _finished(site, vec, turn)
        text += after
    if pivot is not None:
        k.augment(p, "sub", pivot)
    if stretch is not None:
        k.assign(p, fn("cw_mul", stretch, p))
        text = f"scaled by {stretch.name} along each axis and {text}"
    done = f"ach point of {say(k, source)} is {text}"
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        done += _moves(k, level, site, p, turn, stretch)
    else:
        k.assign(p, turn(p))
        done += "."
    if center is not None and pivot is not None:
        k.augment(p, "add", pivot)
        done = f"Relative to {say(k, center)}, e{done} In the end {say(k, center)} is added back."
    else:
        done = f"E{done}"
    outs = "moved points_out" if form == "transform" else "rotated points_out"
    done += f" Store it in {site.put(outs, p).name}."
    return Title(k.name(_NAMES[form]), done)


_NAMES = {
    "quaternion": "rotate_points quat_rotate_points",
    "transform": "transform_points move_points apply_poses",
    "axis_angle": "rotate_points axis_angle_rotate",
    "plane": "rotate_points rotate_by_angle",
}


_ALL = "the point and all its images"
_SUMS = {
    "path": ("path travelled arc", "path_lengths travel", "summed length of these moves"),
    "reach": ("reach farthest", "reach_out inertia", f"sum of the squared lengths of {_ALL}"),
    "middle": ("visited sum_p", "centers_out mean_points", f"mean of {_ALL}"),
}


def _moves(
    k: KernelBuilder, level: int, site: Site, p: Var, turn: Turn, stretch: Var | None
) -> str:
    """Several turns in a row, and what is measured of the path as more outputs."""
    assert isinstance(p.type, Vec)
    turns = k.draw.value.integer(2, 4)
    starts = {"path": zero(p.type.scalar), "reach": fn("length_sq", p), "middle": p}
    picks = sorted(k.draw.shape.sample(sorted(_SUMS), 2 if level >= 5 else 1))
    sums = {form: k.let(_SUMS[form][0], starts[form]) for form in picks}
    with k.for_("turn step r", turns):
        q = k.let("q next_point moved_point", turn(p))
        terms = {"path": fn("length", q - p), "reach": fn("length_sq", q), "middle": q}
        for form in picks:
            k.augment(sums[form], "add", terms[form])
        k.assign(p, q)
    once = f" (the scaling by {stretch.name} only once)" if stretch is not None else ""
    done = f", {turns} times in a row{once}."
    for form, total in sums.items():
        _, names, text = _SUMS[form]
        out = site.put(names, total / float(turns + 1) if form == "middle" else total)
        done += f" {out.name} gets the {text}."
    return done
