"""Sensors on moving arms: poses composed and inverted, sightings in the base, pose errors."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, identity, make
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Rig,
    inlined,
    is_set,
    mask,
    rig,
    told,
    unit,
)
from generators.vector.rigid.record import Record, Slot


def _product(r: Rig, a: Expr, b: Expr) -> Expr:
    return fn("transform_multiply", a, b) if r.k.draw.shape.chance(0.7) else a * b


@idiom
def hand_eye(k: KernelBuilder, level: int) -> Title:
    """What a sensor on a hand sees, in the frame of the base; how well two poses agree."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "shot"), ("station", "row", "run"),
            scalar=FLOAT32 if shape.chance(0.75) else None)  # fmt: skip
    slots = {
        "hand": Slot(("hand", "base_to_hand"), ("hands", "arm_poses", "flanges"), r.pose, -1.0, 1.0,
                     "unit"),
        "mount": Slot(("mount", "hand_to_eye"), ("mounts", "sensor_mounts"), r.pose, -0.5, 0.5,
                      "unit", forms=MOSTLY_ARRAY),
    }  # fmt: skip
    shot = Record(
        r, slots, as_struct=shape.chance(0.2 + 0.07 * level), struct=("Shot", "Station", "View"),
        arrays=("shots", "views", "stations"), local=("shot_data", "view", "item"),
    )  # fmt: skip
    mount: Expr = shot["mount"]
    text = shot.told("mount")
    if level >= 2 and shape.chance(0.5):
        bare = mask(r, ("unmounted", "bare", "removed"), ("bare",))
        mount = fn("where", bare, identity(r.pose), mount)
        text = f"({text}, or the identity where {is_set(bare)})"
        if shape.chance(0.6):
            mount = k.let(("offset_x", "fitted"), mount)
    inverse = shape.chance(0.3)
    right = fn("transform_inverse", mount) if inverse else mount
    eye = k.let(("eye", "cam", "sensor"), _product(r, shot["hand"], right))
    done = f"The sensor's pose s is {shot.told('hand')} * "
    done += f"inverse({text})." if inverse else f"{text}."
    if level >= 3 or (level == 2 and shape.chance(0.6)):
        place = fn("transform_get_translation", eye)
        k.assign(eye, make(r.pose, place, unit(fn("transform_get_rotation", eye))))
        done += " Its rotation is normalized."
    kinds = ["sighting", "axis", "matrix"]
    if level == 1 and shape.chance(0.3):
        kinds = ["pose"]
    if level == 2 and shape.chance(0.5):
        kinds = ["pose", *kinds]
    for kind in shape.sample(kinds, {1: 1, 2: 1, 3: 1, 4: 2, 5: 2}[level]):
        done += _USES[kind](r, level, eye)
    if level >= 3:
        done += _error(r, level, eye)
    names = ("hand_eye", "sensor_to_base", "calibrate_mount", "eye_in_hand")
    return Title(k.name(*names), done)


def _pose(r: Rig, level: int, eye: Var) -> str:
    return f" {r.store(('eye_poses', 'sensor_poses'), eye).name} gets s."


def _sighting(r: Rig, level: int, eye: Var) -> str:
    """A point that the sensor measured, in the base; noise and range taken into account."""
    k, shape = r.k, r.k.draw.shape
    seen = r.given(("sightings", "detections", "marks"), (), r.vec, -2.0, 2.0, forms={"each": 1})
    p: Expr = seen
    text = told(seen)
    if shape.chance(0.4):
        scale = r.given(("depth_scales",), ("depth_scale", "range_gain"), r.scalar, 0.6, 1.4)
        p, text = scale * seen, f"{told(scale)} * {text}"
    x = k.let(("x", "in_base", "found"), fn("transform_point", eye, p))
    done = f" x is {text} moved by s"
    if level >= 3 and shape.chance(0.6):
        reach = r.given((), ("reach", "max_range"), r.scalar, 1.6, 2.6, forms=SETTING)
        size = k.let(("dist", "x_len"), fn("length", x))
        with k.if_(size > reach):
            k.augment(x, "mul", reach / size)
        done += f", shortened to length {told(reach)} where it is longer"
    return f"{done}; {r.store(('points_out', 'base_points'), x).name} gets x."


def _axis(r: Rig, level: int, eye: Var) -> str:
    axis = r.given(("view_axes", "rays"), ("view_axis", "boresight"), r.vec, init="unit")
    out = r.store(("directions", "base_rays"), fn("transform_vector", eye, axis))
    return f" {out.name} gets {told(axis)} rotated by s."


def _matrix(r: Rig, level: int, eye: Var) -> str:
    k = r.k
    target = r.given(("corners", "tag_points"), ("corner", "tag_point"), r.vec, -1.5, 1.5)
    t = k.let(("t", "corner_p"), target)
    m = k.let(("m", "to_base", "mat"), fn("transform_to_matrix", eye))
    h = k.let(("h", "hom"), m * make(Vec(4, r.scalar), t[0], t[1], t[2], r.real(1.0)))
    out = r.store(("corners_out", "tag_in_base"), make(r.vec, h[0], h[1], h[2]))
    return f" {out.name} gets {told(target)} moved by the 4x4 matrix of s."


_USES = {"pose": _pose, "sighting": _sighting, "axis": _axis, "matrix": _matrix}


def _error(r: Rig, level: int, eye: Var) -> str:
    """The step from the sensor's pose to one that was expected: its shift and its turn."""
    k, shape = r.k, r.k.draw.shape
    wanted = r.given(("expected", "ground_truth"), ("expected_pose",), r.pose, -1.0, 1.0,
                     init="unit", forms=MOSTLY_ARRAY)  # fmt: skip
    rot = k.let(("rot", "eye_rot"), fn("transform_get_rotation", eye))
    place = fn("transform_get_translation", wanted)
    moved = fn("quat_rotate_inv", rot, place - fn("transform_get_translation", eye))
    shift = k.let(("shift", "dp"), moved)
    turned = fn("quat_inverse", rot) * fn("transform_get_rotation", wanted)
    turn = k.let(("turn", "dq"), unit(turned))
    done = f" Relative to s, d is the position of {told(wanted)} and t = normalize(inverse(q) * "
    done += "r), q and r being the rotations of s and of that pose."
    gain = r.given(("gains",), ("weight", "turn_weight"), r.scalar, 0.2, 1.5, forms=PROPERTY)
    axis = r.given(("axes",), ("axis", "tool_axis"), r.vec, init="unit", forms=SETTING)
    if r.scalar == FLOAT32 and shape.chance(0.8):
        angle: Expr = fn("quat_twist_angle", axis, turn)
        text = f"2 * atan2(|dot({told(axis)}, tv)|, tw)"
    else:

        def build(b: BodyBuilder, axis: Expr, q: Expr) -> Expr:
            along = b.let(("along", "proj"), fn("dot", axis, r.imaginary(q)))
            return 2.0 * fn("atan2", fn("abs", along), q[3])

        args = [("axis", axis), ("q", turn)]
        angle = inlined(k, 0.6, ("turn_about", "axis_angle"), args, build)
        text = f"2 * atan2(|dot({told(axis)}, tv)|, tw)"
    angle = k.let(("angle", "phi"), angle)
    cost = fn("dot", shift, shift) + gain * angle * angle
    out = r.store(("costs", "pose_errors"), cost)
    done += f" {out.name} gets dot(d, d) + {told(gain)} * a^2 with a = {text}."
    if level >= 5:
        rate = r.given(("rates",), ("rate", "servo_gain"), r.scalar, 0.2, 1.0, forms=PROPERTY)
        cap = r.given((), ("v_max", "speed_cap"), r.scalar, 0.5, 1.0, forms=SETTING)
        v = k.let(("v", "servo_v"), rate * shift)
        size = k.let(("v_len", "speed"), fn("length", v))
        with k.if_(size > cap):
            k.augment(v, "mul", cap / size)
        out = r.store(("servo_vels", "commands"), fn("transform_vector", eye, v))
        done += f" {out.name} gets {told(rate)} * d, shortened to length {told(cap)} where longer, "
        done += "rotated by s."
    return done
