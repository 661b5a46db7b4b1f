"""Orientations and poses over time: steps by an angular velocity, blends, keyframes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import formulas
from generators.kit.functions import atan2, clamp, cos, exp, least, where
from generators.kit.masks import flag
from generators.kit.naming import applied, local, maybe
from generators.kit.records import Part, Record, record
from generators.kit.sources import given
from generators.kit.words import listed, say
from generators.program.dtypes import INT32, Mat
from generators.program.expr import Const, Expr, Load, Var, literal
from generators.vector.rigid.parts import (
    MOSTLY,
    TUNED,
    Rig,
    by_matrix,
    quat_dot,
    rig,
    shortened,
    unit,
)
from generators.vector.rigid.reports import reported

Turned = Callable[[BodyBuilder, Expr, Expr, Expr], Expr]


def _turned(r: Rig, form: str, body: bool) -> tuple[Turned, str]:
    """How an orientation q turns with angular velocity w in a step dt; and the formula."""

    def step_by(q: Expr, step: Expr) -> Expr:
        return q * step if body else step * q

    def derivative(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        spin = b.let("spin omega_q wq", r.with_real(w, 0.0))
        if r.k.draw.shape.chance(0.5):
            rate = b.let("q_dot dq rate", 0.5 * step_by(q, spin))
            return unit(q + dt * rate)
        return unit(q + step_by(q, spin) * (0.5 * dt))

    def small_angle(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        half = b.let("half h half_turn", 0.5 * dt * w)
        return unit(step_by(q, maybe(b, "dq delta step_rot", r.with_real(half, 1.0))))

    def axis_angle(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        speed = b.let("speed w_norm rate", fn("length", w))
        step = fn("quat_from_axis_angle", unit(w), speed * dt)
        return unit(step_by(q, maybe(b, "dq delta turn", step)))

    order, wq = ("q * d", "q * (wx, wy, wz, 0)") if body else ("d * q", "(wx, wy, wz, 0) * q")
    text = f"q becomes normalize({order})"
    return {
        "derivative": (derivative, f"q becomes normalize(q + dt / 2 * {wq})"),
        "small_angle": (small_angle, f"{text} with d = (dt / 2 * w, 1)"),
        "axis_angle": (axis_angle, f"{text}, d being the rotation about w by the angle |w| * dt"),
    }[form]


def _capped(r: Rig, w: Var, dt: Expr) -> str:
    k = r.k
    limit = k.scalar("max_rate w_max", r.scalar, 1.4, 2.2)
    if k.draw.shape.chance(0.5):
        return f"w is {shortened(k, w, limit, 'size w_len magnitude')}"
    size = k.let("size w_len magnitude", fn("length", w))
    k.augment(w, "mul", least(1.0, limit / size))
    return f"w is shortened to length {say(k, limit)} where it is longer"


def _damped(r: Rig, w: Var, dt: Expr) -> str:
    k = r.k
    rate = given(r, "damping drag", r.scalar, 0.1, 0.9, forms=TUNED)
    form, text = k.draw.shape.choice(("linear", "exp", "implicit")), f"{say(k, rate)} * dt"
    if form == "implicit":
        k.assign(w, w / (1.0 + rate * dt))
        return f"w is divided by 1 + {text}"
    k.augment(w, "mul", exp(-rate * dt) if form == "exp" else 1.0 - rate * dt)
    return f"w is multiplied by {f'exp(-{text})' if form == 'exp' else f'1 - {text}'}"


def _drifting(r: Rig, w: Var, dt: Expr) -> str:
    bias = given(r, "bias drift", r.vec, -0.3, 0.3)
    r.k.augment(w, "sub", bias)
    return f"{say(r.k, bias)} is subtracted from w"


def _torqued(r: Rig, w: Var, dt: Expr) -> str:
    """Euler's equations in principal axes: a torque, and the gyroscopic term or not."""
    k = r.k
    torque = given(r, "torque moment", r.vec, -1.0, 1.0)
    inertia = given(r, "inertia inertia_diag", r.vec, 0.5, 2.0, each=2, last=1, shared=3)
    push, text = torque, say(k, torque)
    if k.draw.shape.chance(0.6):
        momentum = maybe(k, "ang_mom momentum h", fn("cw_mul", inertia, w), 0.7)
        push, text = torque - fn("cross", w, momentum), f"({text} - cross(w, I * w))"
    k.augment(w, "add", dt * fn("cw_div", maybe(k, "net total_torque push", push), inertia))
    text = f"w gains dt * {text} / I by components, with the principal moments I"
    return f"{text} in {say(k, inertia)}"


_STAGES = (_capped, _damped, _drifting, _torqued)
_STAGE_COUNT = {1: (0, 0), 2: (1, 1), 3: (1, 2), 4: (2, 3), 5: (3, 4)}
_STRUCT_CHANCE = {1: 0.25, 2: 0.3, 3: 0.35, 4: 0.45, 5: 0.6}


def _time_step(r: Rig, level: int) -> tuple[Expr, int, str]:
    """The step's length, into how many short ones it is divided, and a sentence on that."""
    k = r.k
    whole = k.scalar("dt time_step h", r.scalar, 0.02, 0.1)
    count = k.draw.value.integer(2, 4) if level >= 4 and k.draw.shape.chance(0.5) else 0
    if count:
        short = k.let("sub_dt short_dt h_sub", whole / float(count))
        return short, count, f" This is done {count} times, with dt = {say(k, whole)} / {count}."
    text = "" if say(k, whole) == "dt" else f" The step dt is {say(k, whole)}."
    return local(k, "dt h step", whole), 0, text


@idiom(depth=1)
def orientation_step(k: KernelBuilder, level: int) -> Title:
    """Turn orientations by angular velocities for one step, or several short ones."""
    shape = k.draw.shape
    r = rig(k, "i tid body")
    stages = shape.sample(_STAGES, shape.integer(*_STAGE_COUNT[level]))
    rates = {"each": 1}
    rate_kept = _torqued in stages and shape.chance(0.7)
    parts = {
        "orientation": Part("q rot orientation", r.quat, init="unit"),
        "angular velocity": Part("w omega ang_vel", r.vec, -2.0, 2.0, forms=rates),
    }
    state = record(r, "Body Spinner RigidState", parts, _STRUCT_CHANCE[level])
    q, w = k.let("q rot quat", state["orientation"]), state["angular velocity"]
    if stages or shape.chance(0.6):
        w = k.let("w omega spin_rate", w)
    dt, count, after = _time_step(r, level)
    body = _torqued in stages or shape.chance(0.5)
    turn, text = _turned(r, shape.choice(("derivative", "small_angle", "axis_angle")), body)
    told = []
    with k.for_("sub step s", count) if count else nullcontext():
        if isinstance(w, Var):
            told = [stage(r, w, dt) for stage in stages]
        args = {"q": q, "w": w, "dt": dt}
        doc = "Orientation after a step at this angular velocity."
        names = "turned advance_rotation integrate_quat"
        k.assign(q, applied(k, 0.15 if level < 3 else 0.5, names, args, turn, doc))
    done = "Integrate the orientations of bodies over a time step. With the orientation q in "
    done += f"{state.say('orientation')} and the angular velocity w in "
    done += f"{state.say('angular velocity')}, given in the {'body' if body else 'world'}'s frame, "
    done += "; then ".join([*told, text]) + "." + after
    new: dict[str, Expr] = {"orientation": q}
    if rate_kept:
        new["angular velocity"] = w
    done += _written(r, state, new)
    done += reported(r, q, level - 4, level - 2) if level >= 4 else ""
    return Title(k.name("integrate_rotation step_orientations integrate_orientation"), done)


_OUTS = {
    "orientation": "new_orientations rotations_out q_next",
    "angular velocity": "new_rates omegas_out w_next",
}


def _written(r: Rig, state: Record, new: Mapping[str, Expr]) -> str:
    """The new state in outputs of its own, or in place where each thread has one."""
    k, stored = r.k, [(state[key], value) for key, value in new.items()]
    item = state.whole
    if isinstance(item, Var):
        stored = [(k.meaning(item) or item, item)]
    places = [v for v, _ in stored if isinstance(v, Load) and v.indices == r.at]
    if len(places) < len(stored) or k.draw.shape.chance(0.8):
        return state.write(new, _OUTS, "next_states bodies_out advanced")
    if isinstance(item, Var):
        for key, value in new.items():
            k.set_field(item, state.fields[key].name, value)
    for place, (_, value) in zip(places, stored, strict=True):
        name = place.array.name
        k.params[:] = [replace(p, role="inout") if p.name == name else p for p in k.params]
        k.store(place.array, r.at, value)
    return f" The new values go back to {listed([v.array.name for v in places])} in place."


@dataclass(frozen=True)
class Ends:
    """Two poses to blend: rotations, positions, and what the description calls them."""

    rotations: tuple[Expr, Expr]
    positions: tuple[Expr, Expr]
    text: str


def _ends(r: Rig) -> Ends:
    """The two poses of each thread: transforms, structs or separate arrays."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.35):
        names = ("start first_pose", "end second_pose")
        found = [given(r, n, r.pose, -1.0, 1.0, init="unit", each=1) for n in names]
        a, b = k.let("start pose_a", found[0]), k.let("end pose_b", found[1])
        text = f"{say(k, a)} and {say(k, b)}"
        turns = (fn("transform_get_rotation", a), fn("transform_get_rotation", b))
        moves = (fn("transform_get_translation", a), fn("transform_get_translation", b))
        return Ends(turns, moves, text)
    one, two = k.draw.word.choice(("a b", "0 1")).split()
    first, second = k.draw.word.choice((("{}_a", "{}_b"), ("start_{}", "end_{}")))
    parts = {
        "ra": Part(f"rot_{one}", r.quat, many=first.format("rots"), init="unit"),
        "rb": Part(f"rot_{two}", r.quat, many=second.format("rots"), init="unit"),
        "pa": Part(f"pos_{one}", r.vec, -1.0, 1.0, many=first.format("pos")),
        "pb": Part(f"pos_{two}", r.vec, -1.0, 1.0, many=second.format("pos")),
    }
    pair = record(r, "PosePair Segment Motion", parts, 0.5)
    text = f"({pair.say('pa')}, {pair.say('ra')}) and ({pair.say('pb')}, {pair.say('rb')})"
    return Ends((pair["ra"], pair["rb"]), (pair["pa"], pair["pb"]), text)


def _keyframes(r: Rig) -> tuple[Ends, Var, str]:
    """The two keys around a time, found by counting; and where between them the time is."""
    k, shape = r.k, r.k.draw.shape
    k.size("q", 4, 5, minimum=2)
    times = k.array("key_times stamps", r.scalar, "q", init="sorted", low=0.8, high=3.2)
    rots = k.array("key_rots key_rotations", r.quat, "q", init="unit")
    places = k.array("key_pos waypoints", r.vec, "q", low=-1.5, high=1.5)
    now = r.read("times queries", r.scalar, 0.0, 4.0)
    time = k.let("time now tq", now)
    count = k.trip_count("num_keys key_count", "q")
    key = k.let("key seg lo", k.lift(0, INT32))
    last = k.lift(int(count.value) - 1, INT32) if isinstance(count, Const) else count - 1
    with k.for_("s j", last, 1) as s:
        if shape.chance(0.5):
            with k.if_(times[s] < time):
                k.assign(key, s)
        else:
            k.assign(key, where(times[s] < time, s, key))
    t0, t1 = k.let("t0 left", times[key]), k.let("t1 right", times[key + 1])
    t = k.let("t u alpha", clamp((time - t0) / (t1 - t0), 0.0, 1.0))
    done = f"For each time in {say(k, now)}, let j be the last key, from 1 to the last but one, "
    done += f"whose time in {times.name} is smaller, else 0, and t the part of the way from key j "
    done += "to j + 1, clamped to [0, 1]"
    text = f"keys j and j + 1 of {places.name} and {rots.name}"
    return Ends((rots[key], rots[key + 1]), (places[key], places[key + 1]), text), t, done


def _eased(r: Rig, t: Var) -> str:
    speed = (
        given(r, "speed pace", r.scalar, 0.4, 0.9, forms=TUNED)
        if r.k.draw.shape.chance(0.2)
        else None
    )
    if speed is not None:
        r.k.augment(t, "mul", speed)
        return f"; t is multiplied by {say(r.k, speed)}"
    easing = r.k.draw.shape.choice(_EASINGS)
    r.k.assign(t, easing.build(r.k, t))
    return f"; t becomes {easing.said({'t': 't'})}"


_EASINGS = formulas(
    smooth=lambda t: t * t * (3.0 - 2.0 * t),
    square=lambda t: t * (2.0 - t),
    smoothstep=lambda t: fn("smoothstep", literal(0.0, t.type), literal(1.0, t.type), t),
    cosine=lambda t: 0.5 - 0.5 * cos(3.14159 * t),
)


def _nlerp(fixed: bool) -> Callable[..., Expr]:
    """A blend of quaternions, the second one turned to the side of the first or not."""

    def build(body: BodyBuilder, a: Expr, b: Expr, t: Expr) -> Expr:
        end = b
        if fixed and body.draw.shape.chance(0.6):
            end = body.let("near aligned", where(quat_dot(a, b) < 0.0, -b, b))
        elif fixed:
            end = body.let("near aligned", fn("sign", body.let("cosine d", quat_dot(a, b))) * b)
        return unit((1.0 - t) * a + t * end)

    return build


def _between(r: Rig, level: int, ends: Ends, t: Expr) -> tuple[Var, str]:
    """The rotation between two; and its formula."""
    k, shape = r.k, r.k.draw.shape
    form = shape.weighted({"slerp": 5, "nlerp": 3, "half_turn": 2})
    a, b = ends.rotations
    if form == "slerp":
        return k.let("rot q blended", fn("quat_slerp", a, b, t)), "the slerp (short way)"

    def by_angle(body: BodyBuilder, a: Expr, b: Expr, t: Expr) -> Expr:
        delta = body.let("delta dq", fn("quat_inverse", a) * b)
        with body.if_(delta[3] < 0.0):
            body.assign(delta, -delta)
        v = body.let("v imag", r.imaginary(delta))
        size = body.let("size sin_half", fn("length", v))
        angle = body.let("angle full", 2.0 * atan2(size, delta[3]))
        return unit(a * fn("quat_from_axis_angle", unit(v), t * angle))

    if level < 3:
        a, b = k.let("a qa", a), k.let("b qb", b)
    build, names = by_angle, "turn_toward partial_turn"
    text = "normalize(a * d), d turning about the axis of (v, w) by t times its angle 2 * atan2(|v|"
    text += ", w), (v, w) being inverse(a) * b, negated where its w is negative"
    if form == "nlerp":
        fixed, names = True, "nlerp blend_rotations"
        build, text = _nlerp(fixed), "normalize((1 - t) * a + t * b)"
        if fixed:
            text = "normalize((1 - t) * a + t * b) with b negated where its dot product with a is "
            text += "negative"
    value = applied(k, 0.7 * (level >= 3), names, {"a": a, "b": b, "t": t}, build)
    return k.let("rot q blended", value), text


@idiom(depth=1)
def pose_blend(k: KernelBuilder, level: int) -> Title:
    """Poses between two poses, or between the keyframes around a time."""
    shape = k.draw.shape
    r = rig(k, "i tid track")
    keyed = (level >= 4 and shape.chance(0.6)) or (level == 3 and shape.chance(0.4))
    if keyed:
        ends, t, done = _keyframes(r)
    else:
        ends = _ends(r)
        share = given(r, "blend phase", r.scalar, 0.1, 0.9, each=2, shared=2)
        t, done = (
            local(k, "t alpha u", share) if level < 3 else k.let("t alpha u", share),
            f"Blend pairs of poses with the share t = {say(k, share)}",
        )
        if level >= 3:
            done += _eased(r, t) if shape.chance(0.9) else _frozen(r, t)
    if level >= 4 or (level >= 2 and (keyed or level < 3)):
        done += _eased(r, t)
    rot, text = _between(r, level, ends, t)
    done += f". Between the poses a and b, {ends.text}, the rotation q is {text}"
    a, b = ends.positions
    lerped = shape.chance(0.6)
    text = "lerp(pa, pb, t)" if lerped else "pa + t * (pb - pa)"
    place = k.let("pos place where", fn("lerp", a, b, t) if lerped else a + t * (b - a))
    done += f"; the position x is {text}."
    done += _offset(r, rot, place) if level >= 3 else ""
    outputs = shape.sample(("pose", "matrix", "point", "parts"), max(1, level - 2))
    if level == 1 and shape.chance(0.5):
        outputs = ["pose" if len(k.params) > 3 else "parts"]
    done += "".join(_blended(r, form, rot, place) for form in outputs)
    done += reported(r, rot, 1, level - 3) if level >= 4 else ""
    return Title(k.name("blend_poses interpolate_poses lerp_poses"), done)


def _frozen(r: Rig, t: Var) -> str:
    frozen = flag(r, "frozen paused held")
    with r.k.if_(frozen.value):
        r.k.assign(t, 0.0)
    return f" (0 where {frozen.on})"


def _offset(r: Rig, rot: Var, place: Var) -> str:
    """Something carried along: an offset, or a further turn."""
    k = r.k
    if k.draw.shape.chance(0.5):
        carried = given(r, "offset grip", r.vec, -0.8, 0.8)
        k.augment(place, "add", fn("quat_rotate", rot, carried))
        return f" To x is added {say(k, carried)} rotated by q."
    extra = given(r, "extra_rot layer", r.quat, init="unit", forms=MOSTLY)
    k.assign(rot, unit(rot * extra))
    return f" q is then replaced by normalize(q * {say(k, extra)})."


def _blended(r: Rig, form: str, rot: Var, place: Var) -> str:
    """One way to store or use the blended pose."""
    k, shape = r.k, r.k.draw.shape
    if form == "pose":
        return r.gets("poses_out blended_poses", make(r.pose, place, rot), "the transform (x, q)")
    if form == "parts":
        first, second = r.put("rots_out rotations_out", rot), r.put("pos_out positions_out", place)
        return f" {first.name} gets q and {second.name} x."
    if form == "point":
        point = given(r, "point marker", r.vec, -1.0, 1.0)
        moved = place + fn("quat_rotate", rot, point)
        text = f"x plus {say(k, point)} rotated by q"
        return r.gets("points_out moved markers_out", moved, text)
    value, text = fn("transform_to_matrix", make(r.pose, place, rot)), ""
    if shape.chance(0.65):
        scale = given(r, "scale size", r.vec, 0.5, 1.5)
        value, text = fn("transform_compose", place, rot, scale), f"scaling by {say(k, scale)}, "
    text = f"m being the 4x4 matrix of {text}rotating by q, then moving by x"
    m = k.let("m model frame", value)
    if shape.chance(0.5):
        view = k.scalar("view_proj projection", Mat(4, 4, r.scalar), -1.0, 1.0)
        return r.gets("mvps clip_mats", view * m, f"{view.name} * m, {text}")
    point = given(r, "point marker", r.vec, -1.0, 1.0)
    text = f"the first three components of m * ({say(k, point)}, 1), {text}"
    placed = by_matrix(r, m, k.let("p marker_p", point))
    return r.gets("points_out moved markers_out", placed, text)
