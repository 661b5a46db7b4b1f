"""Attitudes compared and held: the rotation between two, its angle, and control torques."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    Rig,
    inlined,
    is_unset,
    mask,
    maybe_named,
    rig,
    told,
    unless,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import about, renamed, reported

SHARED_TARGET = {"each": 3, "first": 2, "last": 2, "shared": 3}


def relative_rotation(r: Rig, q: Expr, goal: Expr, frame: str) -> Expr:
    """The rotation from q to the goal, seen from the body or from the world."""
    if frame == "body":
        return fn("quat_inverse", q) * goal
    return goal * fn("quat_inverse", q)


_RELATIVE_TEXT = {"body": "inverse(q) * target", "world": "target * inverse(q)"}


def shorter(r: Rig, error: Var) -> str:
    """Of the two quaternions of one rotation, the one with the smaller angle."""
    k, form = r.k, r.k.draw.shape.choice(("if", "where", "sign"))
    if form == "if":
        with k.if_(error[3] < 0.0):
            k.assign(error, -error)
    elif form == "where":
        k.assign(error, fn("where", error[3] < 0.0, -error, error))
    else:
        k.assign(error, fn("sign", error[3]) * error)
    return ", negated where its w is negative"


def _angle(r: Rig, error: Var, short: bool) -> tuple[Expr, str]:
    """How far apart the two are: the angle, its cosine or a chord."""
    k = r.k
    form = k.draw.shape.choice(("acos", "atan2", "chord", "cosine", "short_chord"))
    real, real_text = (error[3], "ew") if short else (fn("abs", error[3]), "|ew|")
    if form == "acos":
        c = maybe_named(k, ("cos_half", "c"), real)
        return 2.0 * fn("acos", c), f"2 * acos({real_text})"
    if form == "cosine":
        return 2.0 * error[3] * error[3] - 1.0, "2 * ew^2 - 1 (its cosine)"
    if form == "short_chord":
        return 1.0 - real, f"1 - {real_text}"
    v = k.let(("v", "imag", "ev"), r.imaginary(error))
    if form == "atan2":
        return 2.0 * fn("atan2", fn("length", v), real), f"2 * atan2(|ev|, {real_text})"
    return 4.0 * fn("dot", v, v), "4 * |ev|^2"


def rotation_vector(r: Rig, error: Var, short: bool) -> tuple[Expr, str]:
    """The rotation as a vector: its axis times the angle, or something near it."""
    k = r.k
    form = k.draw.shape.choice(("log", "small") if short else ("log", "small", "signed"))
    v = k.let(("axis_part", "xyz", "im"), r.imaginary(error))
    if form == "small":
        return 2.0 * v, "2 * ev"
    if form == "signed":
        return fn("sign", error[3]) * v, "sign(ew) * ev (1 for the sign of 0)"
    size = k.let(("size", "sin_half", "s"), fn("length", v))
    angle = k.let(("full_angle", "rot_angle"), 2.0 * fn("atan2", size, error[3]))
    return (angle / size) * v, "2 * atan2(|ev|, ew) / |ev| * ev"


@idiom
def attitude_error(k: KernelBuilder, level: int) -> Title:
    """The rotation between two orientations: its quaternion, angle or rotation vector."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "frame"), ("run", "track", "row"))
    pair = Record(
        r,
        {
            "estimate": Slot(("estimate", "current", "q"), ("estimates", "current", "attitudes"),
                             r.quat, init="unit"),
            "target": Slot(("target", "reference", "desired"), ("targets", "references", "goals"),
                           r.quat, init="unit", forms=SHARED_TARGET),
        },
        as_struct=shape.chance(0.2 if level < 4 else 0.45), struct=("AttitudePair", "Tracking"),
        arrays=("pairs", "records"), local=("pair", "record"),
    )  # fmt: skip
    frame = shape.choice(("body", "world"))
    args = [("q", pair["estimate"]), ("goal", pair["target"])]
    if shape.chance(0.5):
        args = [(n, k.let(n, v)) for n, v in args]

    def relative(b: BodyBuilder, q: Expr, goal: Expr) -> Expr:
        return relative_rotation(r, q, goal, frame)

    names = ("relative_rotation", "rotation_between", "attitude_delta")
    doc = "Rotation that takes the first orientation to the second."
    error = k.let(("err", "q_err", "delta"), inlined(k, 0.4 * (level > 2), names, args, relative,
                                                     doc))  # fmt: skip
    done = f"With q in {pair.told('estimate')} and target in {pair.told('target')}, the error e = "
    done += f"(ev, ew) is {_RELATIVE_TEXT[frame]}"
    short = level >= 3 or (level == 2 and shape.chance(0.4))
    if short:
        done += shorter(r, error)
    done += "."
    forms = shape.sample(
        ("angle", "vector", "quaternion", "about"), {1: 1, 2: 1, 3: 2}.get(level, 3)
    )
    for form in forms:
        done += _stored(r, form, error, level, short)
    if level >= 5:
        done += reported(r, error, 1, 2, "e")
    titles = ("attitude_error", "orientation_error", "relative_rotations", "compare_attitudes")
    return Title(k.name(*titles), done)


def _stored(r: Rig, form: str, error: Var, level: int, short: bool) -> str:
    if form == "about":
        return renamed(about(r, error), "e")
    if form == "quaternion":
        return f" {r.store(('errors', 'relative', 'deltas'), error).name} gets e."
    if form == "vector":
        value, text = rotation_vector(r, error, short)
        if level >= 2 and r.k.draw.shape.chance(0.5):
            gain = r.given(("gains",), ("gain", "rate"), r.scalar, 0.5, 2.0)
            value, text = gain * value, f"{told(gain)} * {text}"
        out = r.store(("rotation_vectors", "error_vectors", "corrections"), value)
        return f" {out.name} gets {text}."
    value, text = _angle(r, error, short)
    if "atan2" in text and r.k.draw.shape.chance(0.4):
        value, text = fn("degrees", value), f"{text} in degrees"
    angle = r.k.let(("angle", "theta", "misalignment"), value)
    done = ""
    if level >= 2:
        done = _scored(r, angle)
    out = r.store(("error_angles", "angles", "misalignments"), angle)
    return f" {out.name} gets the angle {text}{done}."


def _scored(r: Rig, angle: Var) -> str:
    """The angle with a dead band, a weight or a mask."""
    k, form = r.k, r.k.draw.shape.choice(("weight", "deadband", "masked", "plain"))
    if form == "weight":
        weight = r.given(("weights", "confidences"), ("weight",), r.scalar, 0.2, 1.5)
        k.augment(angle, "mul", weight)
        return f", multiplied by {told(weight)}"
    if form == "deadband":
        band = r.given(("bands",), ("deadband", "tolerance"), r.scalar, 0.3, 1.2)
        k.assign(angle, fn("max", angle - band, 0.0))
        return f", less {told(band)} but at least 0"
    if form == "masked":
        valid = mask(r, ("valid", "visible", "tracked"), ("valid",))
        with k.if_(unless(valid)):
            k.assign(angle, 0.0)
        return f", 0 where {is_unset(valid)}"
    return ""
