"""Quantities of bodies between their own frame and the world: rates, torques, inertia, energy."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, identity
from generators.build.registry import Title, idiom
from generators.program.dtypes import Mat
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Rig,
    inlined,
    is_set,
    mask,
    maybe_named,
    rig,
    told,
)
from generators.vector.rigid.record import Record, Slot


def _body(r: Rig, level: int) -> Record:
    shape = r.k.draw.shape
    slots = {
        "rotation": Slot(("rot", "q", "orientation"), ("rotations", "orientations"), r.quat,
                         init="unit"),
        "rate": Slot(("w", "omega", "ang_vel"), ("rates", "omegas", "ang_vels"), r.vec, -2.0, 2.0,
                     forms={"each": 4, "last": 1}),
        "inertia": Slot(("inertia", "moments"), ("inertias", "moments"), r.vec, 0.5, 2.0,
                        forms={"each": 2, "last": 2, "shared": 1}),
    }  # fmt: skip
    return Record(
        r, slots, as_struct=shape.chance(0.25 + 0.07 * level), struct=("Body", "RigidBody"),
        arrays=("bodies", "rigids"), local=("body", "rigid"),
    )  # fmt: skip


def world_inertia(r: Rig, level: int, q: Expr, moments: Expr) -> Expr:
    """R * diag(I) * transpose(R)."""

    def build(b: BodyBuilder, q: Expr, moments: Expr) -> Expr:
        rot = b.let(("rot_mat", "rm", "basis"), fn("quat_to_matrix", q))
        return rot * fn("diag", moments) * fn("transpose", rot)

    chance = 0.6 * (level >= 3)
    return inlined(r.k, chance, ("world_inertia", "rotated_inertia"),
                   [("q", q), ("moments", moments)], build)  # fmt: skip


@idiom
def frame_conversion(k: KernelBuilder, level: int) -> Title:
    """Angular momentum, inertia, torque or energy of bodies, in their own frame or the world."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "b"), ("env", "world_id", "row"))
    body = _body(r, level)
    q: Expr = body["rotation"]
    if level > 1 or shape.chance(0.5):
        q = k.let(("q", "rot", "orient"), q)
    done = f"Bodies have the rotation q in {body.told('rotation')}, the principal moments I in "
    done += f"{body.told('inertia')} and the angular velocity w in {body.told('rate')}, given in "
    local = shape.chance(0.5)
    done += "their own frame." if local else "the world's frame."
    w: Expr = body["rate"]
    if level > 1 or shape.chance(0.5):
        w = k.let(("w", "omega", "spin"), w)
    momentum, text = _momentum(r, level, q, w, body, local)
    momentum = k.let(("momentum", "ang_mom", "h"), momentum)
    done += text
    if level >= 2:
        done += _torqued(r, level, momentum)
    forms = shape.sample(sorted(_OUTPUTS), {1: 0, 2: 1, 3: 1, 4: 2, 5: 3}[level])
    done += f" {r.store(('momenta', 'ang_momenta', 'spins_out'), momentum).name} gets h."
    for form in forms:
        done += _OUTPUTS[form](r, level, q, w, body, local, momentum)
    names = ("world_momentum", "body_to_world", "angular_momenta", "convert_frames")
    return Title(k.name(*names), done)


def _momentum(
    r: Rig, level: int, q: Expr, w: Expr, body: Record, local: bool
) -> tuple[Expr, str]:  # fmt: skip
    """Angular momentum in the world's frame, by rotating vectors or the inertia."""
    k, shape, moments = r.k, r.k.draw.shape, body["inertia"]
    if shape.chance(0.55):
        inner = w if local else fn("quat_rotate_inv", q, w)
        if shape.chance(0.6):
            inner = k.let(("w_body", "local_w"), inner) if not local else inner
        scaled = maybe_named(k, ("h_body", "local_h"), fn("cw_mul", moments, inner))
        back = "w" if local else "w rotated by the inverse of q"
        return fn("quat_rotate", q, scaled), f" h is I * ({back}) by components, rotated by q."
    tensor = world_inertia(r, level, q, moments)
    if level >= 3 or shape.chance(0.6):
        tensor = k.let(("i_world", "tensor", "inertia_w"), tensor)
        body.values["tensor"] = tensor
    outer = fn("quat_rotate", q, w) if local else w
    outer = maybe_named(k, ("w_world", "outer_w"), outer, 0.5) if local else outer
    told_w = "(w rotated by q)" if local else "w"
    return tensor * outer, f" h = R * diag(I) * transpose(R) * {told_w}, R being the matrix of q."


def _torqued(r: Rig, level: int, momentum: Var) -> str:
    """A torque or an impulse that the momentum takes up."""
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("torque", "impulse", "damped") if level < 4 else ("torque", "impulse"))
    if form == "damped":
        keep = r.given(("keeps",), ("keep", "retained"), r.scalar, 0.5, 0.95, forms=PROPERTY)
        k.augment(momentum, "mul", keep)
        return f" h is multiplied by {told(keep)}."
    if form == "torque":
        torque = r.given(("torques",), ("torque",), r.vec, -1.5, 1.5)
        dt = r.given(("steps",), ("dt", "step"), r.scalar, 0.02, 0.2, forms=SETTING)
        change: Expr = dt * torque
        text = f"{told(dt)} * {told(torque)}"
    else:
        at = r.given(("arms", "levers"), ("arm",), r.vec, -1.0, 1.0)
        hit = r.given(("impulses", "hits"), (), r.vec, -1.0, 1.0, forms={"each": 1})
        change, text = fn("cross", at, hit), f"cross({told(at)}, {told(hit)})"
    if level >= 3 and shape.chance(0.6):
        flag = mask(r, ("awake", "dynamic", "loose"), ("awake",))
        with k.if_(flag):
            k.augment(momentum, "add", change)
        return f" h gains {text} where {is_set(flag)}."
    k.augment(momentum, "add", change)
    return f" h gains {text}."


def _energy(r: Rig, level: int, q: Expr, w: Expr, body: Record, local: bool, h: Var) -> str:
    outer = fn("quat_rotate", q, w) if local else w
    value: Expr
    if local and r.k.draw.shape.chance(0.5):
        value = 0.5 * fn("dot", fn("quat_rotate_inv", q, h), w)
        text = "half the dot product of w with h rotated by the inverse of q"
    else:
        value = 0.5 * fn("dot", h, outer)
        text = f"half the dot product of h with w{' rotated by q' if local else ''}"
    return f" {r.store(('energies', 'kinetic'), value).name} gets {text}."


def _tensor(r: Rig, level: int, q: Expr, w: Expr, body: Record, local: bool, h: Var) -> str:
    k, shape = r.k, r.k.draw.shape
    tensor = body.values.get("tensor") or world_inertia(r, level, q, body["inertia"])
    text = "R * diag(I) * transpose(R), R being the matrix of q"
    if shape.chance(0.6):
        # Steiner's theorem.
        mass = r.given(("masses",), ("mass",), r.scalar, 0.5, 2.0)
        arm = r.given(("offsets", "com_offsets"), ("offset", "com"), r.vec, -1.0, 1.0)
        d = k.let(("d", "shift"), arm)
        square = fn("dot", d, d)
        one = identity(Mat(3, 3, r.scalar))
        tensor = tensor + mass * (square * one - fn("outer", d, d))
        text += f", plus {told(mass)} * (dot(d, d) * identity - outer(d, d)) with d = {told(arm)}"
    out = r.store(("tensors", "world_inertias"), tensor)
    assert out.type.element == Mat(3, 3, r.scalar)  # type: ignore[union-attr]
    return f" {out.name} gets {text}."


def _spin(r: Rig, level: int, q: Expr, w: Expr, body: Record, local: bool, h: Var) -> str:
    """The angular velocity that the new momentum means."""
    k, shape = r.k, r.k.draw.shape
    inner = k.let(("h_local", "body_h"), fn("quat_rotate_inv", q, h))
    new: Expr = fn("cw_div", inner, body["inertia"])
    text = "h rotated by the inverse of q and divided by I"
    if shape.chance(0.5):
        new, text = fn("quat_rotate", q, new), f"{text}, rotated by q"
    if level >= 4:
        limit = r.given(("limits",), ("w_max", "max_rate"), r.scalar, 1.5, 2.5, forms=SETTING)
        new = k.let(("new_w", "w_next"), new)
        size = k.let(("w_size", "new_len"), fn("length", new))
        with k.if_(size > limit):
            k.augment(new, "mul", limit / size)
        text += f", shortened to length {told(limit)} where it is longer"
    return f" {r.store(('new_rates', 'rates_out'), new).name} gets {text}."


def _precession(r: Rig, level: int, q: Expr, w: Expr, body: Record, local: bool, h: Var) -> str:
    """The torque that keeps a body turning as it does."""
    outer = fn("quat_rotate", q, w) if local else w
    text = "cross(w rotated by q, h)" if local else "cross(w, h)"
    if r.k.draw.shape.chance(0.4):
        part = r.given((), ("watched", "sensor_axis"), r.vec, init="unit", forms={"shared": 1})
        value: Expr = fn("dot", part, fn("cross", outer, h))
        return f" {r.store(('holding', 'gyro_out'), value).name} gets dot({told(part)}, {text})."
    return f" {r.store(('gyro_torques', 'holding'), fn('cross', outer, h)).name} gets {text}."


def _turned_arm(r: Rig, level: int, q: Expr, w: Expr, body: Record, local: bool, h: Var) -> str:
    """The velocity of a point fixed to the body."""
    arm = r.given(("markers", "points"), ("marker",), r.vec, -1.0, 1.0, forms=MOSTLY_ARRAY)
    if local:
        value, text = fn("quat_rotate", q, fn("cross", w, arm)), f"cross(w, {told(arm)}) rotated"
        text += " by q"
    else:
        value = fn("cross", w, fn("quat_rotate", q, arm))
        text = f"cross(w, {told(arm)} rotated by q)"
    return f" {r.store(('marker_vels', 'point_vels'), value).name} gets {text}."


_OUTPUTS = {
    "energy": _energy,
    "tensor": _tensor,
    "spin": _spin,
    "precession": _precession,
    "turned_arm": _turned_arm,
}
