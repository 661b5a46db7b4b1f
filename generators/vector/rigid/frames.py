"""Frames of bodies, of what looks at a target, and of sensors on hands."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, identity, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, where
from generators.kit.masks import flag
from generators.kit.naming import applied, held, maybe
from generators.kit.records import Part, record
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import Mat
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import MOSTLY, TUNED, Rig, quat_dot, rig, shortened, unit
from generators.vector.rigid.reports import reported


def _world_inertia(r: Rig, level: int, q: Expr, moments: Expr) -> Expr:
    """R * diag(I) * transpose(R)."""

    def build(b: BodyBuilder, q: Expr, moments: Expr) -> Expr:
        rot = b.let("rot_mat rm basis", fn("quat_to_matrix", q))
        return rot * fn("diag", moments) * fn("transpose", rot)

    args = {"q": q, "moments": moments}
    return applied(r.k, 0.6 * (level >= 3), "world_inertia rotated_inertia", args, build)


_TENSOR_TEXT = "R * diag(I) * transpose(R){}, R being the matrix of q"


@dataclass
class Spinner:
    """A body: its rotation, angular velocity (in its own frame or not), inertia and momentum."""

    r: Rig
    level: int
    q: Expr
    w: Expr
    moments: Expr
    local: bool
    tensor: Expr | None = None

    def outer(self) -> Expr:
        """The angular velocity in the world."""
        return fn("quat_rotate", self.q, self.w) if self.local else self.w

    def momentum(self) -> tuple[Expr, str]:
        """Angular momentum in the world's frame, by rotating vectors or the inertia."""
        k, shape = self.r.k, self.r.k.draw.shape
        if self.local or shape.chance(0.55):
            inner = self.w
            if not self.local:
                inner = maybe(k, "w_body local_w", fn("quat_rotate_inv", self.q, self.w), 0.6)
            scaled = maybe(k, "h_body local_h", fn("cw_mul", self.moments, inner))
            back = "w" if self.local else "(w rotated by the inverse of q)"
            text = f" h is I * {back} by components, rotated by q."
            return fn("quat_rotate", self.q, scaled), text
        tensor = _world_inertia(self.r, self.level, self.q, self.moments)
        if self.level >= 3 or shape.chance(0.6):
            self.tensor = tensor = k.let("i_world tensor inertia_w", tensor)
        outer = maybe(k, "w_world outer_w", self.outer()) if self.local else self.w
        turned = " * (w rotated by q)" if self.local else " * w"
        return tensor * outer, f" h = {_TENSOR_TEXT.format(turned)}."


@idiom(depth=1)
def frame_conversion(k: KernelBuilder, level: int) -> Title:
    """Angular momentum, inertia, torque or energy of bodies, in their own frame or the world."""
    shape = k.draw.shape
    r = rig(k, "i tid b")
    few = {"each": 1}
    parts = {
        "rotation": Part("rot q orientation", r.quat, init="unit"),
        "rate": Part("w omega ang_vel", r.vec, -2.0, 2.0),
        "inertia": Part("inertia moments", r.vec, 0.5, 2.0, many="inertias moments", forms=few),
    }
    body = record(r, "Body RigidBody", parts, 0.25 + 0.07 * level)
    q, w = body["rotation"], body["rate"]
    q = k.let("q rot orient", q)
    if level > 1 or shape.chance(0.5):
        w = k.let("w omega spin", w)
    spinner = Spinner(r, level, q, w, body["inertia"], shape.chance(0.5))
    done = (
        "Compute the angular momentum h of bodies in the world's frame. They have the rotation q "
    )
    done += f"in {body.say('rotation')}, the principal moments I in "
    done += f"{body.say('inertia')} and the angular velocity w in {body.say('rate')}, given in "
    done += "their own frame." if spinner.local else "the world's frame."
    value, text = spinner.momentum()
    momentum = k.let("momentum ang_mom h", value)
    done += text + (_torqued(r, level, momentum) if level >= 2 else "")
    done += r.gets("momenta ang_momenta", momentum, "h")
    for more in shape.sample(_SPINNER_OUTPUTS, {1: 0, 2: 1, 3: 1, 4: 2, 5: 3}[level]):
        done += more(spinner, momentum)
    return Title(k.name("world_momentum angular_momenta angular_momentum"), done)


def _torqued(r: Rig, level: int, momentum: Var) -> str:
    """A torque or an impulse that the momentum takes up."""
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("torque", "impulse", "damped") if level < 4 else ("torque", "impulse"))
    if form == "damped":
        keep = given(r, "keep retained", r.scalar, 0.5, 0.95, forms=TUNED)
        k.augment(momentum, "mul", keep)
        return f" h is multiplied by {say(k, keep)}."
    if form == "torque":
        torque = given(r, "torque", r.vec, -1.5, 1.5)
        change: Expr = k.scalar("dt step", r.scalar, 0.02, 0.2) * torque
    else:
        at = given(r, "arm", r.vec, -1.0, 1.0)
        change = fn("cross", at, r.read("impulses hits", r.vec, -1.0, 1.0))
    done = f" h gains {say(k, change)}"
    if level >= 3 and shape.chance(0.12):
        test = flag(r, "awake dynamic loose")
        with k.if_(test.value):
            k.augment(momentum, "add", change)
        return f"{done} where {test.on}."
    k.augment(momentum, "add", change)
    return f"{done}."


def _energy(s: Spinner, h: Var) -> str:
    value = 0.5 * dot(h, s.outer())
    text = f"half the dot product of h with w{' rotated by q' if s.local else ''}"
    if s.local and s.r.k.draw.shape.chance(0.5):
        value = 0.5 * dot(fn("quat_rotate_inv", s.q, h), s.w)
        text = "half the dot product of w with h rotated by the inverse of q"
    return s.r.gets("energies kinetic", value, text)


def _tensor(s: Spinner, h: Var) -> str:
    k, r = s.r.k, s.r
    tensor = s.tensor or _world_inertia(r, s.level, s.q, s.moments)
    text = _TENSOR_TEXT.format("")
    if k.draw.shape.chance(0.6):
        mass = given(r, "mass", r.scalar, 0.5, 2.0, forms=TUNED)
        arm = given(r, "offset com", r.vec, -1.0, 1.0)
        d = k.let("d shift", arm)
        tensor = tensor + mass * (dot(d, d) * identity(Mat(3, 3, r.scalar)) - fn("outer", d, d))
        text += f", plus {say(k, mass)} * (dot(d, d) * identity - outer(d, d)) with d = "
        text += say(k, arm)
    return r.gets("tensors world_inertias", tensor, text)


def _spin(s: Spinner, h: Var) -> str:
    """The angular velocity that the new momentum means."""
    k, r = s.r.k, s.r
    inner = k.let("h_local body_h", fn("quat_rotate_inv", s.q, h))
    new: Expr = fn("cw_div", inner, s.moments)
    text = "h rotated by the inverse of q and divided by I"
    if k.draw.shape.chance(0.5):
        new, text = fn("quat_rotate", s.q, new), f"{text}, rotated by q"
    if s.level >= 4:
        limit = k.scalar("w_max max_rate", r.scalar, 1.5, 2.5)
        new = rate = k.let("new_w w_next", new)
        text += f", {shortened(k, rate, limit)}"
    return r.gets("new_rates rates_out", new, text)


def _precession(s: Spinner, h: Var) -> str:
    """The torque that keeps a body turning as it does."""
    torque = fn("cross", s.outer(), h)
    text = "cross(w rotated by q, h)" if s.local else "cross(w, h)"
    if s.r.k.draw.shape.chance(0.4):
        part = s.r.k.scalar("watched sensor_axis", s.r.vec, init="unit")
        return s.r.gets("holding gyro_out", dot(part, torque), f"dot({part.name}, {text})")
    return s.r.gets("gyro_torques holding", torque, text)


def _turned_arm(s: Spinner, h: Var) -> str:
    """The velocity of a point fixed to the body."""
    arm = given(s.r, "marker", s.r.vec, -1.0, 1.0, forms=MOSTLY)
    value = fn("cross", s.w, fn("quat_rotate", s.q, arm))
    text = f"cross(w, {say(s.r.k, arm)} rotated by q)"
    if s.local:
        value = fn("quat_rotate", s.q, fn("cross", s.w, arm))
        text = f"cross(w, {say(s.r.k, arm)}) rotated by q"
    return s.r.gets("marker_vels point_vels", value, text)


_SPINNER_OUTPUTS = (_energy, _tensor, _spin, _precession, _turned_arm)


class Axes:
    """The three axes of a frame that looks along a direction."""

    def __init__(self, r: Rig, direction: Expr, up: Expr) -> None:
        k, self.r = r.k, r
        forward = k.let("forward f gaze", unit(direction))
        if k.draw.shape.chance(0.5):
            side = k.let("right s side", unit(fn("cross", forward, up)))
            top = k.let("true_up u upward", fn("cross", side, forward))
            self.columns: tuple[Expr, ...] = (side, top, -forward)
            sides, order = "normalize(cross(f, up)) and u = cross(s, f)", "s, u, -f"
        else:
            side = k.let("left s side", unit(fn("cross", up, forward)))
            top = k.let("true_up u upward", fn("cross", forward, side))
            self.columns = (forward, side, top)
            sides, order = "normalize(cross(up, f)) and u = cross(f, s)", "f, s, u"
        self.text = f" the frame has the axes {order}: f = normalize(d), s = {sides}."

    def matrix(self) -> Expr:
        """The rotation with these axes as its columns."""
        k, form = self.r.k, self.r.k.draw.shape.choice(("cols", "cols", "rows"))
        if form == "cols":
            return fn("matrix_from_cols", *self.columns)
        rows = k.let("rows world_to_local", fn("matrix_from_rows", *self.columns))
        return fn("transpose", rows)


@idiom(depth=1)
def look_at(k: KernelBuilder, level: int) -> Title:
    """Frames of cameras or turrets that look at a target; points seen from there."""
    shape = k.draw.shape
    r = rig(k, "i tid cam")
    aims = {"each": 3, "shared": 2}
    parts = {
        "eye": Part("eye origin pos", r.vec, -1.0, 1.0),
        "target": Part("target focus", r.vec, 2.0, 4.0, forms=aims),
    }
    viewer = record(r, "Viewer Turret Probe", parts, 0.25 + 0.06 * level)
    eye = viewer["eye"]
    if level > 1 or shape.chance(0.5):
        eye = k.let("eye o origin", eye)
    ups = {"shared": 3} if level == 1 else {"shared": 2, "literal": 3}
    up = given(r, "up_dir world_up", r.vec, init="unit", forms=ups)
    done = f"Build frames at {viewer.say('eye')} that look at {viewer.say('target')}. With d = "
    done += f"{viewer.say('target')} - {viewer.say('eye')} and up = {say(k, up)}"
    up = held(k, "up world_up", up)
    direction: Expr = viewer["target"] - eye
    if level >= 3 and shape.chance(0.6):
        speed = given(r, "lead velocity", r.vec, -0.5, 0.5, forms=MOSTLY)
        time = given(r, "delay lookahead", r.scalar, 0.2, 0.9, forms=TUNED)
        direction = direction + time * speed
        done += f", {say(k, time)} * {say(k, speed)} added to d"
    if level >= 2 or shape.chance(0.4):
        direction = k.let("d to_target view_dir", direction)
    axes = Axes(r, direction, up)
    done += "," + axes.text + _used(r, level, axes, eye)
    return Title(k.name("look_at look_at_frames aim_frames"), done)


def _used(r: Rig, level: int, axes: Axes, eye: Expr) -> str:
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("matrix", "quat", "quat") if level == 1 else ("quat", "quat", "view"))
    if form == "matrix":
        text = "the matrix with these axes as columns"
        return r.gets("frames rotation_mats bases", axes.matrix(), text)
    if form == "view":
        return _seen(r, level, axes, eye)
    quat: Expr = fn("quat_from_matrix", maybe(k, "m basis frame", axes.matrix(), 0.7))
    done = " q is the quaternion of the matrix with these axes as columns"
    if level == 1:
        return f"{done}.{r.gets('rotations aim_rots facings', quat, 'q')}"
    q = k.let("q rot aim", unit(quat))
    done += ", normalized."
    if level >= 3:
        done += _followed(r, level, q)
    if shape.chance(0.5):
        done += r.gets("aim_poses poses frames", make(r.pose, eye, q), "the transform (eye, q)")
    else:
        done += r.gets("rotations aim_rots facings", q, "q")
    done += reported(r, q, 1, level - 3) if level >= 4 else ""
    return done + (_seen(r, level, axes, eye) if level >= 5 else "")


def _followed(r: Rig, level: int, q: Var) -> str:
    """Turn only a part of the way from the present rotation."""
    k = r.k
    now = r.read("current current_rots", r.quat, init="unit")
    share = given(r, "rate gain", r.scalar, 0.2, 0.8, forms=TUNED)
    if k.draw.shape.chance(0.65):
        k.assign(q, fn("quat_slerp", now, q, share))
        done = f" q becomes the slerp from {say(k, now)} to q by {say(k, share)} (the short way)."
    else:

        def build(b: BodyBuilder, now: Expr, goal: Expr, t: Expr) -> Expr:
            cosine = b.let("cosine alike", quat_dot(now, goal))
            near = b.let("near closest", where(cosine < 0.0, -goal, goal))
            return unit(now + t * (near - now))

        args = {"now": k.let("present q_now", now), "goal_rot": q, "t": share}
        k.assign(q, applied(k, 0.6, "turn_part nlerp", args, build))
        done = f" q becomes normalize(c + {say(k, share)} * (q' - c)), c being {say(k, now)} and "
        done += "q' q or -q, whichever is nearer to c."
    if level >= 4 and k.draw.shape.chance(0.1):
        locked = flag(r, "locked parked")
        with k.if_(locked.value):
            k.assign(q, now)
        done += f" Where {locked.on} q is {say(k, now)}."
    return done


def _seen(r: Rig, level: int, axes: Axes, eye: Expr) -> str:
    """A point in the coordinates of the frame, and whether it is near its centre."""
    k, shape = r.k, r.k.draw.shape
    points = given(r, "point landmark", r.vec, -3.0, 3.0, forms=MOSTLY)
    rel = k.let("rel offset", points - eye)
    along: list[Expr] = [dot(column, rel) for column in axes.columns]
    form = shape.choice(("made", "made", "rows", "named"))
    if form == "named":
        names = ("a px", "b py", "c pz")
        along = [k.let(n, value) for n, value in zip(names, along, strict=True)]
    value = fn("matrix_from_rows", *axes.columns) * rel if form == "rows" else make(r.vec, *along)
    seen = k.let("local seen cam_p", value)
    done = f" l holds the dot products of the axes with {say(k, points)} - eye."
    if level >= 3:
        limit = k.scalar("field max_range", r.scalar, 1.5, 3.0)
        done += f" It is {shortened(k, seen, limit, 'range_ dist')}."
    return done + r.gets("local_points views seen_points", seen, "l")
