"""Poses between two: slerp or normalized lerp of rotations, lerp of positions, keyframes."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    Rig,
    inlined,
    is_set,
    mask,
    quat_dot,
    rig,
    told,
    unit,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import reported


@dataclass(frozen=True)
class Ends:
    """Two poses to blend: rotations, positions, and what the description calls them."""

    rotations: tuple[Expr, Expr]
    positions: tuple[Expr, Expr]
    text: str


def ends_of(r: Rig, level: int) -> Ends:
    """The two poses of each thread: transforms, structs or separate arrays."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.35):
        poses = [
            k.let(names[1], r.given(names[0], (), r.pose, -1.0, 1.0, init="unit",
                                    forms={"each": 3, "last": 1}))
            for names in ((("starts", "poses_a", "previous"), ("start", "pose_a")),
                          (("ends", "poses_b", "current"), ("end", "pose_b")))
        ]  # fmt: skip
        arrays = [p.name for p in k.params[-2:]]
        rots = [fn("transform_get_rotation", p) for p in poses]
        places = [fn("transform_get_translation", p) for p in poses]
        return Ends((rots[0], rots[1]), (places[0], places[1]), " and ".join(arrays))
    one, two = k.draw.word.choice(("a b", "0 1")).split()
    slots = {
        "ra": Slot((f"rot_{one}",), ("rots_a", "start_rots"), r.quat, init="unit"),
        "rb": Slot((f"rot_{two}",), ("rots_b", "end_rots"), r.quat, init="unit"),
        "pa": Slot((f"pos_{one}",), ("pos_a", "start_pos"), r.vec, -1.0, 1.0),
        "pb": Slot((f"pos_{two}",), ("pos_b", "end_pos"), r.vec, -1.0, 1.0),
    }
    pair = Record(
        r, slots, as_struct=shape.chance(0.5), struct=("PosePair", "Segment", "Motion"),
        arrays=("pairs", "segments", "motions"), local=("pair", "segment"),
    )  # fmt: skip
    text = f"({pair.told('pa')}, {pair.told('ra')}) and ({pair.told('pb')}, {pair.told('rb')})"
    return Ends((pair["ra"], pair["rb"]), (pair["pa"], pair["pb"]), text)


def keyframes(r: Rig, level: int) -> tuple[Ends, Var, str]:
    """The two keys around a time, found by counting; and where between them the time is."""
    k, shape = r.k, r.k.draw.shape
    k.size("q", 4, 5, minimum=2)
    times = k.array(("key_times", "stamps"), r.scalar, "q", init="sorted", low=0.8, high=3.2)
    rots = k.array(("key_rots", "key_rotations"), r.quat, "q", init="unit")
    places = k.array(("key_pos", "waypoints"), r.vec, "q", low=-1.5, high=1.5)
    now = r.given(("times", "queries"), (), r.scalar, 0.0, 4.0, forms={"each": 1})
    time = k.let(("time", "now", "tq"), now)
    count = k.trip_count(("num_keys", "key_count"), "q")
    key = k.let(("key", "seg", "lo"), k.lift(0, INT32))
    with k.for_(("s", "j"), count - 1 if isinstance(count, Var) else
                k.lift(int(getattr(count, "value", 4)) - 1, INT32), 1) as s:  # fmt: skip
        if shape.chance(0.5):
            with k.if_(times[s] < time):
                k.assign(key, s)
        else:
            k.assign(key, fn("where", times[s] < time, s, key))
    t0, t1 = k.let(("t0", "left"), times[key]), k.let(("t1", "right"), times[key + 1])
    raw = (time - t0) / (t1 - t0)
    t = k.let(("t", "u", "alpha"), fn("clamp", raw, 0.0, 1.0))
    done = (
        f"For each time in {told(now)}, let j be the last key, from 1 to the last but one, whose "
    )
    done += f"time in {times.name} is smaller, else 0, and t the part of the way from key j to j + "
    done += "1, clamped to [0, 1]"
    text = f"keys j and j + 1 of {places.name} and {rots.name}"
    ends = Ends((rots[key], rots[key + 1]), (places[key], places[key + 1]), text)
    return ends, t, done


def _eased(r: Rig, t: Var) -> str:
    k, form = r.k, r.k.draw.shape.choice(("smooth", "square", "smoothstep", "cosine", "power"))
    if form == "smooth":
        k.assign(t, t * t * (3.0 - 2.0 * t))
        return "t becomes t^2 * (3 - 2 * t)"
    if form == "square":
        k.assign(t, t * (2.0 - t))
        return "t becomes t * (2 - t)"
    if form == "smoothstep":
        k.assign(t, fn("smoothstep", r.real(0.0), r.real(1.0), t))
        return "t becomes smoothstep(0, 1, t)"
    if form == "cosine":
        k.assign(t, 0.5 - 0.5 * fn("cos", 3.14159 * t))
        return "t becomes 0.5 - 0.5 * cos(3.14159 * t)"
    speed = r.given(("speeds",), ("speed", "pace"), r.scalar, 0.4, 0.9)
    k.augment(t, "mul", speed)
    return f"t is multiplied by {told(speed)}"


def _between(r: Rig, level: int, ends: Ends, t: Expr) -> tuple[Var, str]:
    """The rotation between two; and its formula."""
    k, shape = r.k, r.k.draw.shape
    form = shape.weighted({"slerp": 5, "nlerp": 3, "half_turn": 2})
    a, b = ends.rotations
    if form == "slerp":
        return k.let(("rot", "q", "blended"), fn("quat_slerp", a, b, t)), "the slerp (short way)"
    fixed = level >= 2 or shape.chance(0.5)

    def nlerp(body: BodyBuilder, a: Expr, b: Expr, t: Expr) -> Expr:
        if fixed and body.draw.shape.chance(0.6):
            end = body.let(("near", "aligned"), fn("where", quat_dot(a, b) < 0.0, -b, b))
        elif fixed:
            cosine = body.let(("cosine", "d"), quat_dot(a, b))
            end = body.let(("near", "aligned"), fn("sign", cosine) * b)
        else:
            return unit((1.0 - t) * a + t * b)
        return unit((1.0 - t) * a + t * end)

    def by_angle(body: BodyBuilder, a: Expr, b: Expr, t: Expr) -> Expr:
        delta = body.let(("delta", "dq"), fn("quat_inverse", a) * b)
        v = body.let(("v", "imag"), r.imaginary(delta))
        size = body.let(("size", "sin_half"), fn("length", v))
        angle = body.let(("angle", "full"), 2.0 * fn("atan2", size, delta[3]))
        return unit(a * fn("quat_from_axis_angle", unit(v), t * angle))

    build = nlerp if form == "nlerp" else by_angle
    if level < 3:
        a, b = k.let(("a", "qa"), a), k.let(("b", "qb"), b)
    names = ("nlerp", "blend_rotations") if form == "nlerp" else ("turn_toward", "partial_turn")
    value = inlined(k, 0.7 * (level >= 3), names, [("a", a), ("b", b), ("t", t)], build)
    rot = k.let(("rot", "q", "blended"), value)
    if form == "nlerp":
        if not fixed:
            return rot, "normalize((1 - t) * a + t * b)"
        nearer = "b' being b, negated where its 4-component dot product with a is negative"
        return rot, f"normalize((1 - t) * a + t * b'), {nearer},"
    text = "normalize(a * d), d turning about the axis of inverse(a) * b by t times its angle "
    return rot, f"{text}2 * atan2(|v|, w)"


@idiom
def pose_blend(k: KernelBuilder, level: int) -> Title:
    """Poses between two poses, or between the keyframes around a time."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "track"), ("clip", "row", "char"))
    keyed = (level >= 4 and shape.chance(0.6)) or (level == 3 and shape.chance(0.4))
    if keyed:
        ends, t, done = keyframes(r, level)
    else:
        ends = ends_of(r, level)
        share = r.given(("weights", "phases", "fractions"), ("t", "blend", "phase"), r.scalar, 0.1,
                        0.9, forms=MOSTLY_ARRAY)  # fmt: skip
        t = k.let(("t", "alpha", "u"), share)
        done = f"Let t be {told(share)}"
        if level >= 3:
            done += f"; {_eased(r, t)}" if shape.chance(0.5) else _weighed(r, t)
    if level >= 4 or (level >= 2 and (keyed or level < 3)):
        done += f"; {_eased(r, t)}"
    rot, text = _between(r, level, ends, t)
    done += f". Between the poses a and b, {ends.text}, the rotation q is {text}"
    outputs = shape.sample(("pose", "matrix", "point", "parts"), max(1, level - 2))
    if level == 1 and shape.chance(0.5):
        outputs = ["rotation"]
        if len(k.params) > 3:
            outputs = ["pose"]
    a, b = ends.positions
    place: Expr
    if shape.chance(0.6):
        place, text = fn("lerp", a, b, t), "lerp(pa, pb, t)"
    else:
        place, text = a + t * (b - a), "pa + t * (pb - pa)"
    place = k.let(("pos", "place", "where"), place)
    done += f" and the position x is {text}."
    if level >= 3:
        done += _offset(r, rot, place)
    for form in outputs:
        done += _stored(r, form if form != "rotation" else "parts", rot, place)
    if level >= 4:
        done += reported(r, rot, 1, level - 3)
    names = ("blend_poses", "interpolate_poses", "sample_motion", "tween")
    return Title(k.name(*names), done)


def _weighed(r: Rig, t: Var) -> str:
    frozen = mask(r, ("frozen", "paused", "held"), ("frozen",))
    with r.k.if_(frozen):
        r.k.assign(t, 0.0)
    return f" (0 where {is_set(frozen)})"


def _offset(r: Rig, rot: Var, place: Expr) -> str:
    """Something carried along: an offset, or a further turn."""
    k = r.k
    assert isinstance(place, Var)
    if k.draw.shape.chance(0.5):
        carried = r.given(("offsets", "grips"), ("offset", "grip"), r.vec, -0.8, 0.8,
                          forms=PROPERTY)  # fmt: skip
        k.augment(place, "add", fn("quat_rotate", rot, carried))
        return f" To x is added {told(carried)} rotated by q."
    extra = r.given(("extra_rots", "layers"), ("extra_rot", "layer"), r.quat, init="unit",
                    forms=MOSTLY_ARRAY)  # fmt: skip
    k.assign(rot, unit(rot * extra))
    return f" q is then replaced by normalize(q * {told(extra)})."


def _stored(r: Rig, form: str, rot: Var, place: Expr) -> str:
    if form == "pose":
        out = r.store(("poses_out", "blended_poses"), make(r.pose, place, rot))
        return f" {out.name} gets the transform (x, q)."
    if form == "matrix":
        return _by_matrix(r, rot, place)
    if form == "point":
        point = r.given(("points", "markers"), ("point", "marker"), r.vec, -1.0, 1.0)
        out = r.store(("points_out", "moved", "markers_out"), place + fn("quat_rotate", rot, point))
        return f" {out.name} gets x plus {told(point)} rotated by q."
    first = r.store(("rots_out", "rotations_out"), rot)
    second = r.store(("pos_out", "positions_out"), place)
    return f" {first.name} gets q and {second.name} x."


def _by_matrix(r: Rig, rot: Var, place: Expr) -> str:
    """The blended pose as a 4x4 matrix: applied to a point, or after it a projection."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.65):
        scale = r.given(("scales",), ("scale", "size"), r.vec, 0.5, 1.5)
        value, text = fn("transform_compose", place, rot, scale), f"scaling by {told(scale)}, then "
    else:
        value, text = fn("transform_to_matrix", make(r.pose, place, rot)), ""
    text = f"the 4x4 matrix m of {text}rotating by q, then moving by x"
    m = k.let(("m", "model", "frame"), value)
    if shape.chance(0.5):
        view = k.scalar(("view_proj", "projection"), Mat(4, 4, r.scalar), -1.0, 1.0)
        out = r.store(("mvps", "clip_mats"), view * m)
        return f" {out.name} gets {view.name} * m with {text}."
    point = r.given(("points", "markers"), ("point", "marker"), r.vec, -1.0, 1.0)
    p = k.let(("p", "marker_p"), point)
    h = k.let(("h", "hom"), m * make(Vec(4, r.scalar), p[0], p[1], p[2], r.real(1.0)))
    out = r.store(("points_out", "moved", "markers_out"), make(r.vec, h[0], h[1], h[2]))
    return f" {out.name} gets the first three components of m * ({told(point)}, 1) with {text}."
