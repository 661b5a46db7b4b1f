"""Sensors that move: inertial ones, and those mounted on hands."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, identity, make
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, dot, where
from generators.kit.masks import flag
from generators.kit.naming import applied, maybe
from generators.kit.records import Part, Record, record
from generators.kit.sources import SETTING, given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var, op
from generators.vector.rigid.parts import (
    MOSTLY,
    TUNED,
    Rig,
    product,
    renormalize,
    rig,
    shortened,
    unit,
)
from generators.vector.rigid.reports import reported


def _turned(r: Rig, form: str) -> tuple[Callable[..., Expr], str]:
    """How an attitude q turns at a body rate w for a time dt; and the formula."""

    def exponential(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        angle = b.let("rate w_len", fn("length", w))
        return unit(q * fn("quat_from_axis_angle", unit(w), angle * dt))

    def half(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        return unit(q * r.with_real(b.let("h half", 0.5 * dt * w), 1.0))

    def second(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        """The exponential's series up to the square of the half angle."""
        half = b.let("half dtheta_half", 0.5 * dt * w)
        real = b.let("q_w real", 1.0 - 0.5 * dot(half, half))
        return unit(q * maybe(b, "dq step", make(r.quat, half[0], half[1], half[2], real)))

    return {
        "exponential": (exponential, "normalize(q * d), d turning about w by |w| * dt"),
        "half": (half, "normalize(q * (w * dt / 2, 1))"),
        "second": (second, "normalize(q * (h, 1 - dot(h, h) / 2)) with h = w * dt / 2"),
    }[form]


def _imu(r: Rig, level: int) -> Record:
    """What the sensor reads, and its biases."""
    # Both biases belong to the sensor: each has its own, or all are of one kind.
    biases = {r.k.draw.shape.weighted({"each": 3, "shared": 1}): 1}
    parts = {"gyro": Part("gyro omega", r.vec, -1.5, 1.5)}
    if level > 1:
        parts["accel"] = Part("accel acc", r.vec, -4.0, 4.0)
    if level >= 2 or r.k.draw.shape.chance(0.7):
        parts["gyro bias"] = Part(
            "gyro_bias", r.vec, -0.2, 0.2, many="gyro_biases gyro_bias", forms=biases
        )
    if level >= 3:
        parts["accel bias"] = Part(
            "accel_bias", r.vec, -0.2, 0.2, many="accel_biases accel_bias", forms=biases
        )
    return record(r, "Imu ImuSample", parts, 0.35 + 0.07 * level)


@idiom(depth=3)
def imu_integration(k: KernelBuilder, level: int) -> Title:
    """One step of inertial navigation, with biases, gravity and a tilt correction."""
    shape = k.draw.shape
    r = rig(k, "i tid drone")
    attitude = r.read("attitudes rotations q_in", r.quat, init="unit")
    imu = _imu(r, level)
    dt = k.scalar("dt period", r.scalar, 0.02, 0.1)
    step = say(k, dt)
    if not isinstance(dt, Var):
        dt = k.let("dt h", dt)
    q = k.let("q rot attitude", attitude)
    w: Expr = imu["gyro"]
    if "gyro bias" in imu.values:
        w = w - imu["gyro bias"]
    done = "Turn attitudes by one gyroscope sample" if level == 1 else "Advance inertial navigation"
    done += f"{'' if level == 1 else ' by one step'}. q is the attitude in {say(k, attitude)} and "
    done += f"w = {say(k, w)} the body rate"
    w = k.let("w omega_c rate_c", w)
    f, force = imu.values.get("accel"), "accel" in imu.values and imu.say("accel")
    if f is not None and "accel bias" in imu.values:
        f = k.let("f force_b acc_b", f - imu["accel bias"])
        done += f", f = {force} - {imu.say('accel bias')} the specific force"
        force = "f"
    if f is not None and level >= 3 and shape.chance(0.7):
        done += _corrected(r, level, (f, str(force)), q, w)
    build, text = _turned(r, shape.choice(("exponential", "exponential", "half", "second")))
    args = {"q": q, "w": w, "dt": dt}
    doc = "Attitude after turning at a body rate for a time."
    k.assign(q, applied(k, 0.6 * (level >= 3), "turned rotate_by_rate", args, build, doc))
    done = f"{done.rstrip(';')}; with the step dt"
    done += f"{'' if step == 'dt' else f' = {step}'}, q becomes {text}. "
    done += f"Store q in {r.put('attitudes_out q_out new_rotations', q).name}."
    done += _moved(r, level, (f, str(force)), q, w, dt) if f is not None else ""
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        done += reported(r, q, 1, max(1, level - 3))
    return Title(k.name("imu_step propagate_imu strapdown_update integrate_gyro"), done)


def _corrected(r: Rig, level: int, felt: tuple[Expr, str], q: Var, w: Var) -> str:
    """Turn toward what the accelerometer shows as up, as in a complementary filter."""
    k, (f, force) = r.k, felt
    up = given(r, "up world_up", r.vec, init="unit", forms=SETTING)
    gain = given(r, "gain kp", r.scalar, 0.1, 1.0, forms=TUNED)
    seen = k.let("seen_up measured", unit(f))
    expected = k.let("expected body_up", fn("quat_rotate_inv", q, up))
    push = gain * fn("cross", seen, expected)
    text = f"w increases by {say(k, gain)} * cross(normalize({force}), {say(k, up)} "
    text += "rotated by the inverse of q);"
    if level < 4 or k.draw.shape.chance(0.4):
        k.augment(w, "add", push)
        return f"; {text}"
    size = k.let("strength acc_len", fn("length", f))
    low = k.scalar("min_acc quiet_low", r.scalar, 1.0, 3.0)
    high = k.scalar("max_acc quiet_high", r.scalar, 3.8, 6.0)
    with k.if_(op("and", size > low, size < high)):
        k.augment(w, "add", push)
    return f"; where {say(k, low)} < |{force}| < {say(k, high)}, {text}"


def _moved(r: Rig, level: int, felt: tuple[Expr, str], q: Var, w: Var, dt: Expr) -> str:
    """Velocity and position by the acceleration turned into the world, with gravity."""
    k, shape, (f, text) = r.k, r.k.draw.shape, felt
    gravity = k.scalar("gravity g", r.vec, -3.0, 3.0)
    turned = fn("quat_rotate", q, f)
    a = k.let("a acc_w accel_w", turned + gravity)
    done = f" a is {text} rotated by the new q, plus {say(k, gravity)}."
    v = r.read("velocities v_in", r.vec, -2.0, 2.0)
    if level == 2 and shape.chance(0.4):
        out = r.put("velocities_out v_out", v + dt * a).name
        return f"{done} Store {say(k, v)} + dt * a in {out}."
    p = r.read("positions p_in", r.vec, -2.0, 2.0)
    old = new = k.let("v vel", v)
    form = shape.choice(("second", "trapezoid", "euler"))
    if form == "second":
        place: Expr = k.let("x pos", p + dt * old + 0.5 * dt * dt * a)
        rule = f"dt * v + dt^2 / 2 * a, v being {say(k, v)}"
    if form == "trapezoid":
        new = k.let("v_new vel_new", old + dt * a)
        place = p + 0.5 * dt * (old + new)
        rule = f"dt / 2 * (v + v'), v being {say(k, v)} and v' the new velocity"
    else:
        k.augment(old, "add", dt * a)
    if form == "euler":
        place, rule = p + dt * old, "dt * v', v' being the new velocity"
    out = r.put("positions_out p_out", place).name
    done += f" Store {say(k, p)} + {rule}, in {out}, and {say(k, v)} + dt * a in "
    done += f"{r.put('velocities_out v_out', new).name}."
    if level >= 4 and shape.chance(0.6):
        arm = given(r, "lever antenna", r.vec, -1.0, 1.0, forms=MOSTLY)
        speed = new + fn("quat_rotate", q, fn("cross", w, arm))
        text = f"the new velocity plus cross(w, {say(k, arm)}) rotated by q"
        done += r.gets("antenna_vels lever_vels", speed, text)
    return done


@idiom(depth=1)
def hand_eye(k: KernelBuilder, level: int) -> Title:
    """What a sensor on a hand sees, in the frame of the base; how well two poses agree."""
    shape = k.draw.shape
    r = rig(k, "i tid shot", single=0.75)
    parts = {
        "hand": Part("hand_pose flange", r.pose, -1.0, 1.0, "unit"),
        "mount": Part("mount hand_to_sensor", r.pose, -0.5, 0.5, "unit", forms={"shared": 1}),
    }
    shot = record(r, "Shot Station View", parts, 0.2 + 0.07 * level)
    mount, text = shot["mount"], shot.say("mount")
    if level >= 2 and shape.chance(0.1):
        bare = flag(r, "unmounted bare removed")
        fitted = where(bare.value, identity(r.pose), mount)
        mount = maybe(k, "offset_x fitted", fitted, 0.6)
        text = f"({text}, or the identity where {bare.on})"
    eye = k.let("eye cam sensor", product(k, shot["hand"], mount))
    done = "Bring what a sensor on a hand sees to the robot's base. The sensor's pose s is "
    done += f"{shot.say('hand')} * {text}."
    if level >= 3 or (level == 2 and shape.chance(0.6)):
        renormalize(r, eye)
        done += " Its rotation is normalized."
    kinds = ["sighting", "sighting", "axis"] + ["pose"] * (level == 2 and shape.chance(0.5))
    if level == 1 and shape.chance(0.3):
        kinds = ["pose"]
    for kind in shape.sample(kinds, 1 if level <= 3 else 2):
        done += _through(r, kind, level, eye)
    done += _pose_error(r, level, eye) if level >= 3 else ""
    return Title(k.name("hand_eye sensor_to_base eye_in_hand"), done)


def _through(r: Rig, kind: str, level: int, eye: Var) -> str:
    """The pose of the sensor, or what it sees brought into the base."""
    k, shape = r.k, r.k.draw.shape
    if kind == "pose":
        return r.gets("eye_poses sensor_poses", eye, "s")
    if kind == "axis":
        axis = given(r, "view_dir boresight", r.vec, init="unit")
        turned = fn("transform_vector", eye, axis)
        return r.gets("directions base_rays", turned, f"{say(k, axis)} rotated by s")
    seen: Expr = r.read("sightings detections marks", r.vec, -2.0, 2.0)
    x = k.let("x in_base found", fn("transform_point", eye, seen))
    done = f" x is {say(k, seen)} moved by s"
    if level >= 3 and shape.chance(0.6):
        done += f", {shortened(k, x, k.scalar('reach max_range', r.scalar, 1.6, 2.6))}"
    return f"{done}.{r.gets('points_out base_points', x, 'x')}"


def _pose_error(r: Rig, level: int, eye: Var) -> str:
    """The step from the sensor's pose to one that was expected: its shift and its turn."""
    k = r.k
    wanted = given(r, "expected_pose true_pose", r.pose, -1.0, 1.0, init="unit", forms=MOSTLY)
    rot = k.let("rot eye_rot", fn("transform_get_rotation", eye))
    place = fn("transform_get_translation", wanted)
    moved = fn("quat_rotate_inv", rot, place - fn("transform_get_translation", eye))
    shift = k.let("shift dp", moved)
    turned = fn("quat_inverse", rot) * fn("transform_get_rotation", wanted)
    turn = k.let("turn dq", unit(turned))
    done = f" Relative to s, d is the position of {say(k, wanted)} and t = normalize(inverse(q) * "
    done += "r), q and r being the rotations of s and of that pose."
    gain = given(r, "weight turn_weight", r.scalar, 0.2, 1.5, forms=TUNED)
    axis = given(r, "axis tool_dir", r.vec, init="unit", forms=SETTING)

    def build(b: BodyBuilder, axis: Expr, q: Expr) -> Expr:
        along = b.let("along proj", dot(axis, r.imaginary(q)))
        return 2.0 * atan2(abs(along), q[3])

    if r.scalar == FLOAT32 and k.draw.shape.chance(0.8):
        angle: Expr = fn("quat_twist_angle", axis, turn)
    else:
        angle = applied(k, 0.6, "turn_about axis_angle", {"axis": axis, "q": turn}, build)
    angle = k.let("angle phi", angle)
    text = f"dot(d, d) + {say(k, gain)} * a^2 with a = 2 * atan2(|dot({say(k, axis)}, tv)|, tw)"
    done += r.gets("costs pose_errors", dot(shift, shift) + gain * angle * angle, text)
    if level >= 5:
        rate = given(r, "rate servo_gain", r.scalar, 0.2, 1.0, forms=TUNED)
        v = k.let("v servo_v", rate * shift)
        cut = shortened(k, v, k.scalar("v_max speed_cap", r.scalar, 0.5, 1.0))
        text = f"{say(k, rate)} * d, {cut}, rotated by s"
        done += r.gets("servo_vels commands", fn("transform_vector", eye, v), text)
    return done
