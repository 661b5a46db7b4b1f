"""Roll, pitch and yaw read from rotations: stored, compared with commands or limits."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.vector.rigid.euler import ANGLES, PLURAL
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    SETTING,
    Rig,
    maybe_named,
    minus,
    rig,
    told,
)
from generators.vector.rigid.reports import reported


def _formulas(b: BodyBuilder, q: Expr) -> tuple[Expr, Expr, Expr]:
    x, y, z, w = (q[c] for c in range(4))
    sine = maybe_named(b, ("sin_pitch", "sp"), 2.0 * (w * y - z * x))
    return (
        fn("atan2", 2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        fn("asin", sine),
        fn("atan2", 2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )


def _roll_pitch_yaw(r: Rig, q: Var, level: int) -> dict[str, Expr]:
    """The three angles of a rotation, by Warp's builtin, in a helper or from their formulas."""
    k = r.k
    names = ("rpy", "angles", "euler")
    if r.scalar == FLOAT32 and k.draw.shape.chance(0.6):
        rpy = k.let(names, fn("quat_to_rpy", q))
    elif level >= 3 and k.draw.shape.chance(0.8):

        def build(b: BodyBuilder, q: Expr) -> Expr:
            return make(r.vec, *_formulas(b, q))

        doc = "Roll, pitch and yaw of a rotation, in radians."
        called = helper(k, ("euler_angles", "to_rpy"), [("q", r.quat)], build, doc)
        rpy = k.let(names, k.call(called, q))
    else:
        values = zip(ANGLES, _formulas(k, q), strict=True)
        return {n: k.let((n, f"{n}_angle"), v) for n, v in values}
    return {name: rpy[c] for c, name in enumerate(ANGLES)}


@idiom
def read_euler(k: KernelBuilder, level: int) -> Title:
    """Roll, pitch and yaw of rotations: stored, compared with limits or commands."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "sample"), ("run", "row", "log"),
            scalar=FLOAT32 if shape.chance(0.75) else None)  # fmt: skip
    q: Expr = r.given(("rotations", "attitudes", "quats"), (), r.quat, init="unit",
                      forms={"each": 1})  # fmt: skip
    done = f"Of the rotation q in {told(q)}"
    if level >= 2 and shape.chance(0.7):
        base = r.given(("references", "mounts"), ("reference", "mount"), r.quat, init="unit",
                       forms=MOSTLY_ARRAY)  # fmt: skip
        q, done = fn("quat_inverse", base) * q, f"Of the rotation q = inverse({told(base)}) * p, " \
            f"p being that in {told(q)}"  # fmt: skip
    q = k.let(("q", "rot", "rel"), q)
    angles = _roll_pitch_yaw(r, q, level)
    done += ", take roll atan2(2 * (w * x + y * z), 1 - 2 * (x^2 + y^2)), pitch asin(2 * (w * y - "
    done += "z * x)) and yaw atan2(2 * (w * z + x * y), 1 - 2 * (y^2 + z^2))"
    done += _READ_USES[shape.choice(sorted(_READ_USES))](r, level, angles)
    if level >= 4:
        done += reported(r, q, level - 4, level - 3)
    return Title(k.name("quat_to_euler", "read_attitude", "attitude_angles", "log_euler"), done)


def _plain(r: Rig, level: int, angles: dict[str, Expr]) -> str:
    chosen = sorted(r.k.draw.shape.sample(ANGLES, r.k.draw.shape.integer(1, 3)), key=ANGLES.index)
    parts = []
    for name in chosen:
        value, unit = angles[name], "radians"
        if r.k.draw.shape.chance(0.3):
            value, unit = fn("degrees", value), "degrees"
        if level >= 2:
            bias = r.given((f"{name}_biases",), (f"{name}_zero",), r.scalar, -0.5, 0.5,
                           forms=MOSTLY_ARRAY)  # fmt: skip
            value, unit = value - bias, f"{unit} less {told(bias)}"
        parts.append(f"{r.store((f'{name}_out', PLURAL[name]), value).name} gets {name} in {unit}")
    return f". {'; '.join(parts)}."


def _commanded(r: Rig, level: int, angles: dict[str, Expr]) -> str:
    k = r.k
    aim = r.given(("commands", "wanted"), ("command", "wanted"), r.vec, -1.0, 1.0,
                  forms=MOSTLY_ARRAY)  # fmt: skip
    vector = make(r.vec, *(angles[n] for n in ANGLES))
    miss = k.let(("miss", "angle_error", "diff"), aim - vector)
    done = f"; e = {told(aim)} - (roll, pitch, yaw)"
    if level >= 2:
        gains = r.given(("gains",), ("gain", "gains"), r.vec, 0.4, 2.0, forms=MOSTLY_ARRAY)
        k.assign(miss, fn("cw_mul", gains, miss))
        done += f", multiplied by {told(gains)} by components"
    if level >= 3:
        limit = r.given(("limits",), ("limit", "max_command"), r.scalar, 0.8, 1.4, forms=SETTING)
        with k.for_(("c", "axis"), 3) as c:
            k.set(miss, c, fn("clamp", miss[c], minus(limit), limit))
        done += f", each component clamped to +-{told(limit)}"
    return f"{done}. {r.store(('errors', 'commands_out', 'corrections'), miss).name} gets e."


def _tilted(r: Rig, level: int, angles: dict[str, Expr]) -> str:
    """How far from level: the larger of roll and pitch, or their product of cosines."""
    k = r.k
    roll, pitch, yaw = (angles[n] for n in ANGLES)
    if k.draw.shape.chance(0.5):
        lean = fn("max", fn("abs", roll), fn("abs", pitch))
        text = "max(|roll|, |pitch|)"
    else:
        lean, text = fn("cos", roll) * fn("cos", pitch), "cos(roll) * cos(pitch)"
    tilt = k.let(("tilt", "lean", "level"), lean)
    done = f"; tilt = {text}"
    if level >= 2:
        weight = r.given(("weights",), ("weight", "sensitivity"), r.scalar, 0.3, 1.5)
        k.augment(tilt, "mul", weight)
        done += f" * {told(weight)}"
    if level >= 3:
        limit = r.given(("alarms", "limits"), ("alarm", "limit"), r.scalar, 0.3, 0.7)
        with k.if_(tilt > limit):
            k.assign(tilt, limit + 0.5 * (tilt - limit))
        done += f", what exceeds {told(limit)} halved"
    done += f". {r.store(('tilts', 'leans'), tilt).name} gets tilt"
    head = make(r.vec, fn("cos", yaw), fn("sin", yaw), pitch if k.draw.shape.chance(0.5) else tilt)
    third = "pitch" if head.args[2] is pitch else "tilt"
    out = r.store(("headings", "bearings"), head)
    return f"{done}; {out.name} gets (cos(yaw), sin(yaw), {third})."


_READ_USES = {"plain": _plain, "commanded": _commanded, "tilted": _tilted}
