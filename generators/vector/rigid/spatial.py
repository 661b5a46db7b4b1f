"""Spatial vectors in other frames: twists, wrenches, momentum and energy."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.masks import flag
from generators.kit.naming import applied, local, maybe
from generators.kit.records import Part, record
from generators.kit.sources import ANY, given, zero
from generators.kit.words import plural, say
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Op, Var
from generators.vector.rigid.parts import MOSTLY, TUNED, Rig, adjoint, product, rig, shortened, six

_MANY = {"twist": "twists body_qd velocities motions", "wrench": "wrenches body_f loads"}
_WHOLE = {"twist": "twists_out moved_twists", "wrench": "wrenches_out moved_wrenches"}


def _whole(kind: str, outward: bool) -> str:
    """Names of the moved twists or wrenches, by whether they were moved out of a pose's frame."""
    return f"{_WHOLE[kind]} {'world' if outward else 'local'}_{plural(kind)}"


_MOVED_TEXT = {
    "twist": "(w, v) becomes (R w, R v + cross(p, R w))",
    "wrench": "(t, f) becomes (R t + cross(p, R f), R f)",
}


def _frame(r: Rig, level: int) -> tuple[Expr, str, bool]:
    """The transform that vectors go through: a pose, its inverse, or one pose in another.

    The last says whether it leads out to the world.
    """
    k = r.k
    pose = given(r, "pose xform", r.pose, -1.0, 1.0, init="unit", each=3, shared=2)
    kinds = ("plain", "inverse") if level == 1 else ("plain", "inverse", "chain", "relative")
    # Of a pose that all share the inverse would be taken once, on the host.
    form = "plain" if isinstance(pose, Var) else k.draw.shape.choice(kinds)
    if form == "plain":
        return pose, say(k, pose), True
    if form == "inverse":
        return fn("transform_inverse", pose), f"inverse({say(k, pose)})", False
    base = given(r, "base parent", r.pose, -1.0, 1.0, init="unit", forms=MOSTLY)
    text = say(k, base)
    if form == "relative":
        base, text = fn("transform_inverse", base), f"inverse({text})"
    return product(k, base, pose), f"{text} * {say(k, pose)}", form == "chain"


def _moved(r: Rig, kind: str, level: int, x: Var, value: Expr) -> Expr:
    """A twist or wrench in the frame that the transform x leads to."""
    k, shape = r.k, r.k.draw.shape
    if r.scalar == FLOAT32 and shape.chance(0.6):
        return fn(f"transform_{kind}", x, value)
    if kind == "twist" and shape.chance(0.6):
        rot = k.let("rot_mat rm", fn("quat_to_matrix", fn("transform_get_rotation", x)))
        shift = fn("skew", fn("transform_get_translation", x)) * rot
        return fn("spatial_adjoint", rot, maybe(k, "coupling lower_left", shift)) * value

    def by_hand(b: BodyBuilder, x: Expr, s: Expr) -> Expr:
        p = maybe(b, "p shift", fn("transform_get_translation", x))
        top = b.let("top upper", fn("transform_vector", x, fn("spatial_top", s)))
        bottom = b.let("bottom lower", fn("transform_vector", x, fn("spatial_bottom", s)))
        if kind == "twist":
            return six(r, top, bottom + fn("cross", p, top), b)
        return six(r, top + fn("cross", p, bottom), bottom, b)

    names, doc = f"move_{kind} {kind}_outside", f"A {kind} seen from the frame outside."
    return applied(k, 0.7 * (level > 1), names, {"x": x, "s": value}, by_hand, doc)


@idiom(depth=1)
def move_spatial(k: KernelBuilder, level: int) -> Title:
    """Twists and wrenches seen from another frame, joint motion added, and their power."""
    r = rig(k, "i tid link", single=0.75)
    frame, shown, outward = _frame(r, level)
    left, reached = ("local", "world") if outward else ("world", "local")
    x = local(k, f"x xform to_{reached}", frame)
    done = f"With the transform {shown} of rotation R and position p"
    results: dict[str, Var] = {}
    for kind in k.draw.shape.sample(("twist", "wrench"), 2 if level >= 4 else 1):
        many = _MANY[kind] if outward else f"world_{plural(kind)} spatial_{plural(kind)}"
        value: Expr = r.read(many, r.six, -1.5, 1.5)
        done += f", move the {kind} of {say(k, value)}"
        if level > 1:
            value = changed = k.let(f"{kind} {left}_{kind}", value)
            done += _prepared(r, level, changed)
        done += f" to the frame that it leads to: {_MOVED_TEXT[kind]}"
        result = _moved(r, kind, level, x, value)
        results[kind] = k.let(f"{kind}_out {reached}_{kind} moved_{kind}", result)
    done += "." + "".join(_stored(r, kind, result, outward) for kind, result in results.items())
    if len(results) == 2:
        power = fn("spatial_dot", results["twist"], results["wrench"])
        done += r.gets("powers power_out", power, "the dot product of both")
    if level >= 5:
        v = k.let("v_lin linear", fn("spatial_bottom", results["twist"]))
        cut = shortened(k, v, k.scalar("v_max speed_limit", r.scalar, 1.0, 2.0))
        text = f"the last three components of the twist, {cut}"
        done += r.gets("safe_vels limited_vels", v, text)
    own = plural(next(iter(results)))
    return Title(k.name(f"move_{own}", f"transform_{own}", f"{own}_to_{reached}"), done)


def _prepared(r: Rig, level: int, value: Var) -> str:
    """What is added before the move: a joint's own motion, or a load."""
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("joint", "scaled"))
    if form == "joint":
        axis = given(r, "axis joint_dir", r.vec, init="unit")
        joint = r.read("joint_qd rates", r.scalar, -1.5, 1.5) * axis
        top = shape.chance(0.5)
        halves = (joint, zero(r.vec)) if top else (zero(r.vec), joint)
        k.augment(value, "add", six(r, *halves))
        return f" plus {say(k, joint)} in its {'first' if top else 'last'} three components"
    gain = given(r, "gain scale", r.scalar, 0.3, 1.5, forms=TUNED)
    k.augment(value, "mul", gain)
    return f" times {say(k, gain)}"


def _stored(r: Rig, kind: str, result: Var, outward: bool) -> str:
    k = r.k
    form = k.draw.shape.choice(("whole", "whole", "parts") + ("point",) * (kind == "twist"))
    if form == "whole":
        return r.gets(_whole(kind, outward), result, f"the {kind}")
    if form == "parts":
        names = ("omegas_out", "vels_out") if kind == "twist" else ("torques_out", "forces_out")
        top = r.put(names[0], fn("spatial_top", result))
        bottom = r.put(names[1], fn("spatial_bottom", result))
        return f" Store its halves in {top.name} and {bottom.name}."
    point = r.read("probes probe_points", r.vec, -1.0, 1.0)
    if r.scalar == FLOAT32:
        speed = fn("velocity_at_point", result, point)
    else:
        w = k.let("w omega", fn("spatial_top", result))
        speed = fn("spatial_bottom", result) + fn("cross", w, point)
    text = f"v + cross(w, {say(k, point)}) of the moved twist"
    return r.gets("point_vels probe_vels", speed, text)


_POSE = {"each": 5, "shared": 2}


def _turn_and_arm(r: Rig, ways: dict[str, int]) -> tuple[Var, Var, str, bool]:
    """Rotation and position that move the vectors: of a pose, its inverse, or two arrays.

    The last says whether they lead out to the world.
    """
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.3):
        rot = given(r, "rot quat", r.quat, init="unit", forms=ways)
        place = given(r, "origin position", r.vec, -1.0, 1.0, forms=ways)
        text = f"rotation R of {say(k, rot)} and p = {say(k, place)}"
        return k.let("q turn", rot), k.let("p arm", place), text, True
    pose = given(r, "pose frame xform", r.pose, -1.0, 1.0, init="unit", forms=ways)
    text = say(k, pose)
    outward = isinstance(pose, Var) or shape.chance(0.5)
    if not outward:
        pose, text = k.let("inv_pose into", fn("transform_inverse", pose)), f"the inverse of {text}"
    pose = local(k, "x xf", pose)
    rot = k.let("q turn", fn("transform_get_rotation", pose))
    arm = k.let("p arm", fn("transform_get_translation", pose))
    return rot, arm, f"rotation R and position p of {text}", outward


def _by_adjoint(r: Rig, q: Var, p: Var, moved: Expr, force: bool) -> tuple[Expr, str]:
    """The product with the adjoint matrix, or for wrenches with its transpose."""
    k, text = r.k, "A = (R, 0; skew(p) * R, R), take u = "
    rot = k.let("rot basis", fn("quat_to_matrix", q))
    ad = k.let("ad adj motion_m", fn("spatial_adjoint", rot, fn("skew", p) * rot))
    if force:
        return fn("transpose", ad) * moved, f"{text}transpose(A) * {say(k, moved)} (torque first)"
    return ad * moved, f"{text}A * {say(k, moved)} (angular part first)"


def _by_halves(r: Rig, q: Var, p: Var, moved: Expr, force: bool) -> tuple[Expr, str]:
    """The rotated halves, the one that belongs to the origin shifted by the arm."""
    k = r.k
    text = say(k, moved)
    item = k.let("wrench load" if force else "twist motion", moved)
    first = k.let("torque" if force else "omega", fn("quat_rotate", q, fn("spatial_top", item)))
    second = k.let("force" if force else "vel", fn("quat_rotate", q, fn("spatial_bottom", item)))
    if force:
        value = six(r, first + fn("cross", p, second), second, k)
        return value, f"(t, f) = {text}, take u = (R t + cross(p, R f), R f)"
    value = six(r, first, second + fn("cross", p, first), k)
    return value, f"(w, v) = {text}, take u = (R w, R v + cross(p, R w))"


def _moved_by_adjoint(k: KernelBuilder) -> Title:
    """Level 1 of ``adjoint_inertia``: one twist or wrench of each thread, seen from elsewhere."""
    r = rig(k, "i tid link", single=0.7)
    force = k.draw.shape.chance(0.4)
    kind = "wrench" if force else "twist"
    way = _by_halves if k.draw.shape.chance(0.4) else _by_adjoint
    # The matrix of a pose that all threads share would be made once, on the host.
    q, p, text, outward = _turn_and_arm(r, _POSE if way is _by_halves else {"each": 1})
    # The transpose of the matrix that moves twists moves wrenches the other way.
    outward = outward != (force and way is _by_adjoint)
    many = _MANY[kind] if outward else f"world_{plural(kind)} spatial_{plural(kind)}"
    moved = given(r, kind, r.six, -1.5, 1.5, many=many, each=1)
    value, rule = way(r, q, p, moved, force)
    where = "from the frame of a pose to the world" if outward else "into the frame of a pose"
    task = f"Move {'wrenches' if force else 'twists'} {where}"
    done = f"{task}. With {text} and {rule}." + _delivered(r, value, kind, outward)
    names = f"move_{plural(kind)} {kind}_to_{'world' if outward else 'frame'}"
    return Title(k.name(names), done)


def _delivered(r: Rig, value: Expr, kind: str, outward: bool) -> str:
    """The moved vector: whole, in halves, added up, or its product with its counterpart."""
    k, force = r.k, kind == "wrench"
    form = k.draw.shape.choice(("whole", "whole", "halves", "power"))
    if form == "whole":
        return r.gets(_whole(kind, outward), value, "u")
    halves = isinstance(value, Op) and value.op == "spatial_vector" and form == "halves"
    seen = value if halves else k.let("moved seen u", value)
    if form == "power":
        dual = "twist" if force else "wrench"
        names = _MANY[dual].split()
        names = [f"world_{plural(dual)}", f"spatial_{plural(dual)}"] if outward else names
        other = r.read([n for n in names if n not in k.used], r.six, -1.0, 1.0)
        power = fn("spatial_dot", other, seen)
        return r.gets("powers work_rates", power, f"dot({say(k, other)}, u)")
    parts = (fn("spatial_top", seen), fn("spatial_bottom", seen))
    if halves and isinstance(value, Op):
        parts = (value.args[0], value.args[1])
    top = r.put("torques" if force else "angular_out", parts[0])
    bottom = r.put("forces" if force else "linear_out", parts[1])
    return f" Store the halves of u in {top.name} and {bottom.name}."


@idiom(depth=1)
def adjoint_inertia(k: KernelBuilder, level: int) -> Title:
    """Twists through the adjoint of a pose, and the momentum that comes back through it."""
    if level == 1:
        return _moved_by_adjoint(k)
    r, shape = rig(k, "i tid link", single=0.7), k.draw.shape
    few = {"each": 2, "last": 1, "shared": 1}
    parts = {
        "pose": Part("pose frame", r.pose, -1.0, 1.0, "unit"),
        "moments": Part("inertia moments", r.vec, 0.5, 2.0, many="inertias moments", forms=few),
        "mass": Part("mass m", r.scalar, 0.5, 2.0, forms=ANY),
    }
    link = record(r, "Link Segment", parts, 0.5)
    twists = given(r, "twist motion", r.six, -1.5, 1.5, each=4, last=1)
    pose = into = k.let("x xf frame", link["pose"])
    of = link.say("pose")
    if shape.chance(0.5):
        of = f"the inverse of {of}"
        into = k.let("inv_x into inv_pose", fn("transform_inverse", pose))
    doc = "The matrix that moves twists by a pose."
    matrix = applied(k, 0.5, "adjoint_of motion_matrix", {"pose": into}, adjoint, doc)
    ad = k.let("ad adj motion_m", matrix)
    twist = k.let("twist moved u", ad * twists)
    done = f"With rotation R and position p of {of}, A = (R, 0; skew(p) * R, R) and "
    done += f"u = A * {say(k, twists)}"
    if shape.chance(0.6):
        add = given(r, "drift joint_twist", r.six, -0.5, 0.5, forms=MOSTLY)
        k.augment(twist, "add", add)
        done += f" + {say(k, add)}"
    h = k.let("h momentum", momentum_of(r, 0.4, twist, link["moments"], link["mass"]))
    done += f". With u = (w, v), h = ({link.say('moments')} * w by components, "
    done += f"{link.say('mass')} * v)."
    done += _struck(r, h) if level >= 3 else ""
    done += r.gets("momenta base_momenta loads", fn("transpose", ad) * h, "transpose(A) * h")
    if level >= 3 or shape.chance(0.5):
        energy, text = fn("spatial_dot", twist, h), "dot(u, h)"
        if shape.chance(0.6):
            energy, text = 0.5 * energy, "dot(u, h) / 2"
        done += r.gets("energies works", energy, text)
    done += _biased(r, level, pose, into, twist, h) if level >= 4 else ""
    return Title(k.name("adjoint_inertia carry_momentum move_inertia articulated_terms"), done)


def momentum_of(r: Rig, chance: float, twist: Expr, moments: Expr, mass: Expr) -> Expr:
    """Momentum of a body about its centre, from a mass and principal moments."""

    def build(b: BodyBuilder, twist: Expr, moments: Expr, mass: Expr) -> Expr:
        top = b.let("spin ang upper", fn("cw_mul", moments, fn("spatial_top", twist)))
        bottom = b.let("push lin lower", mass * fn("spatial_bottom", twist))
        return six(r, top, bottom, b)

    args = {"twist": twist, "moments": moments, "mass": mass}
    return applied(r.k, chance, "momentum_of apply_inertia spatial_momentum", args, build)


def _struck(r: Rig, h: Var) -> str:
    """An impulse that the momentum takes up, everywhere or where a flag is set."""
    k, shape = r.k, r.k.draw.shape
    hit = r.read("impulses hits", r.six, -1.0, 1.0)
    keep = given(r, "keep share", r.scalar, 0.3, 0.9, forms=TUNED)
    if shape.chance(0.85):
        k.augment(h, "add", keep * hit)
        return f" {say(k, keep * hit)} is added to h."
    test = flag(r, "struck loaded touched")
    done = f" Where {test.on} {say(k, hit)} is added to h"
    with k.if_(test.value):
        k.augment(h, "add", hit)
    if shape.chance(0.5):
        with k.else_():
            k.augment(h, "mul", keep)
        return f"{done}, else h is multiplied by {say(k, keep)}."
    k.augment(h, "mul", keep)
    return f"{done}; then it is multiplied by {say(k, keep)}."


def _biased(r: Rig, level: int, pose: Expr, into: Expr, twist: Var, h: Var) -> str:
    """The bias force, here and in the frame that the twists came from."""
    k = r.k
    bias = k.let("bias gyro", fn("spatial_cross_dual", twist, h))
    text = "crossdual(u, h) = (w x a + v x b, w x b) for h = (a, b)"
    done = r.gets("biases bias_forces", bias, text)
    if r.scalar == FLOAT32:
        back, of = pose, "the pose"
        if into is pose:
            back, of = k.let("back inv_pose", fn("transform_inverse", pose)), f"the inverse of {of}"
        text = "(S t + cross(q, S f), S f) for that force (t, f), with rotation S and position q"
        moved = fn("transform_wrench", back, bias)
        names = "returned local_forces" if into is pose else "returned world_forces"
        done += r.gets(names, moved, f"{text} of {of}")
    if level >= 5:
        push = k.let("pull linear_f", fn("spatial_bottom", bias))
        cut = shortened(k, push, k.scalar("f_max limit", r.scalar, 1.0, 2.0))
        text = f"the last three components of that force, {cut}"
        done += r.gets("safe_forces limited", push, text)
    return done
