"""Strapdown navigation: attitude, velocity and position from gyroscopes and accelerometers."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.expr import Expr, Var, op
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Rig,
    inlined,
    maybe_named,
    rig,
    told,
    unit,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import reported


def _imu(r: Rig, level: int) -> Record:
    """What the sensor reads, and its biases."""
    shape = r.k.draw.shape
    biases = {"each": 1, "last": 3, "shared": 2}
    slots = {
        "gyro": Slot(("gyro", "omega"), ("gyros", "rates", "gyro_samples"), r.vec, -1.5, 1.5),
        "accel": Slot(("accel", "acc"), ("accels", "specific_force", "acc_samples"), r.vec, -4.0,
                      4.0),
    }  # fmt: skip
    if level == 1:
        del slots["accel"]
    if level >= 2 or shape.chance(0.5):
        slots["gyro bias"] = Slot(("gyro_bias", "bg"), ("gyro_biases",), r.vec, -0.2, 0.2,
                                  forms=biases)  # fmt: skip
    if level >= 3:
        slots["accel bias"] = Slot(("accel_bias", "ba"), ("accel_biases",), r.vec, -0.2, 0.2,
                                   forms=biases)  # fmt: skip
    return Record(
        r, slots, as_struct=shape.chance(0.35 + 0.07 * level), struct=("Imu", "ImuSample"),
        arrays=("imus", "samples", "readings"), local=("imu", "sample", "reading"),
    )  # fmt: skip


def _turned(r: Rig, form: str) -> tuple[Callable[..., Expr], str]:
    def exponential(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        angle = b.let(("rate", "w_len"), fn("length", w))
        return unit(q * fn("quat_from_axis_angle", w / angle, angle * dt))

    def half(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        h = b.let(("h", "half"), 0.5 * dt * w)
        return unit(q * r.with_real(h, 1.0))

    def small(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        turn = b.let(("turn", "dtheta"), dt * w)
        step = fn("quat_rpy", turn[0], turn[1], turn[2])
        return unit(q * maybe_named(b, ("dq", "step"), step))

    ways = {
        "exponential": (exponential, "normalize(q * d), d turning about w by |w| * dt"),
        "half": (half, "normalize(q * (w * dt / 2, 1))"),
        "small": (small, "normalize(q * d), d having the roll, pitch and yaw w * dt (x first)"),
    }
    return ways[form]


@idiom
def imu_integration(k: KernelBuilder, level: int) -> Title:
    """One step of inertial navigation, with biases, gravity and a tilt correction."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "drone"), ("run", "fleet", "row"))
    rots = k.array(("attitudes", "rotations", "q_in"), r.quat, r.dims, init="unit")
    imu = _imu(r, level)
    dt = r.given(("periods",), ("dt", "period"), r.scalar, 0.02, 0.1, forms=SETTING)
    step = told(dt)
    if not isinstance(dt, Var):
        dt = k.let(("dt", "h"), dt)
    q = k.let(("q", "rot", "attitude"), rots[r.at])
    w: Expr = imu["gyro"]
    done = f"With the attitude q in {rots.name}, w = {imu.told('gyro')}"
    if "gyro bias" in imu.values:
        w, done = w - imu["gyro bias"], f"{done} - {imu.told('gyro bias')}"
    w = k.let(("w", "omega_c", "rate_c"), w)
    if level >= 3 and shape.chance(0.7):
        done += _corrected(r, level, imu, q, w)
    build, text = _turned(r, shape.choice(("exponential", "half", "small", "small")))
    chance = 0.6 * (level >= 3)
    args = [("q", q), ("w", w), ("dt", dt)]
    doc = "Attitude after turning at a body rate for a time."
    k.assign(q, inlined(k, chance, ("turned", "rotate_by_rate"), args, build, doc))
    done += f" and the step dt{'' if step == 'dt' else f' = {step}'}, q becomes {text}."
    done += f" {r.store(('attitudes_out', 'q_out', 'new_rotations'), q).name} gets it."
    if level >= 2:
        done += _moved(r, level, imu, q, w, dt)
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        done += reported(r, q, 1, max(1, level - 3))
    names = ("imu_step", "propagate_imu", "strapdown_update", "integrate_gyro")
    return Title(k.name(*names), done)


def _corrected(r: Rig, level: int, imu: Record, q: Var, w: Var) -> str:
    """Turn toward what the accelerometer shows as up, as in a complementary filter."""
    k, shape = r.k, r.k.draw.shape
    up = r.given((), ("up", "world_up"), r.vec, init="unit", forms=SETTING)
    gain = r.given(("gains",), ("gain", "kp"), r.scalar, 0.1, 1.0, forms=PROPERTY)
    seen = k.let(("seen_up", "measured"), unit(imu["accel"]))
    expected = k.let(("expected", "body_up"), fn("quat_rotate_inv", q, up))
    push = gain * fn("cross", seen, expected)
    text = f"{told(gain)} * cross(normalize({imu.told('accel')}), {told(up)} rotated by the "
    text += "inverse of q)"
    if level >= 4 and shape.chance(0.6):
        size = k.let(("strength", "acc_len"), fn("length", imu["accel"]))
        low = r.given((), ("min_acc", "quiet_low"), r.scalar, 1.0, 3.0, forms=SETTING)
        high = r.given((), ("max_acc", "quiet_high"), r.scalar, 3.8, 6.0, forms=SETTING)
        with k.if_(op("and", size > low, size < high)):
            k.augment(w, "add", push)
        return f"; where {told(low)} < |{imu.told('accel')}| < {told(high)}, w gains {text};"
    k.augment(w, "add", push)
    return f"; w gains {text};"


def _moved(r: Rig, level: int, imu: Record, q: Var, w: Var, dt: Expr) -> str:
    """Velocity and position by the acceleration turned into the world, with gravity."""
    k, shape = r.k, r.k.draw.shape
    gravity = r.given((), ("gravity", "g"), r.vec, -3.0, 3.0, forms={"shared": 1})
    f: Expr = imu["accel"]
    text = imu.told("accel")
    if "accel bias" in imu.values:
        f, text = f - imu["accel bias"], f"({text} - {imu.told('accel bias')})"
    f = maybe_named(k, ("f", "force_b", "acc_b"), f, 0.5)
    acceleration = k.let(("a", "acc_w", "accel_w"), fn("quat_rotate", q, f) + gravity)
    done = f" a is {text} rotated by the new q, plus {told(gravity)}."
    v = r.given(("velocities", "v_in"), (), r.vec, -2.0, 2.0, forms={"each": 1})
    if level == 2 and shape.chance(0.4):
        out = r.store(("velocities_out", "v_out"), v + dt * acceleration)
        return f"{done} {out.name} gets {told(v)} + dt * a."
    p = r.given(("positions", "p_in"), (), r.vec, -2.0, 2.0, forms={"each": 1})
    old = k.let(("v", "vel"), v)
    form = shape.choice(("second", "trapezoid", "euler"))
    place: Expr
    if form == "second":
        place = k.let(("x", "pos"), p + dt * old + (0.5 * dt * dt) * acceleration)
        k.augment(old, "add", dt * acceleration)
        rule = f"{told(p)} + dt * v + dt^2 / 2 * a, v being {told(v)}"
    elif form == "trapezoid":
        new = k.let(("v_new", "vel_new"), old + dt * acceleration)
        place = p + (0.5 * dt) * (old + new)
        old = new
        rule = f"{told(p)} + dt / 2 * (v + v'), v being {told(v)} and v' the new velocity"
    else:
        k.augment(old, "add", dt * acceleration)
        place = p + dt * old
        rule = f"{told(p)} + dt * v', v' being the new velocity"
    done += f" {r.store(('positions_out', 'p_out'), place).name} gets {rule}."
    done += f" {r.store(('velocities_out', 'v_out'), old).name} gets {told(v)} + dt * a."
    if level >= 4 and shape.chance(0.6):
        arm = r.given(("lever_arms",), ("lever", "antenna"), r.vec, -1.0, 1.0, forms=MOSTLY_ARRAY)
        speed = old + fn("quat_rotate", q, fn("cross", w, arm))
        out = r.store(("antenna_vels", "lever_vels"), speed)
        done += f" {out.name} gets the new velocity plus cross(w, {told(arm)}) rotated by q."
    return done
