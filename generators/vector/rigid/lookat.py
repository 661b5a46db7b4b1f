"""Frames that look at something: axes from a direction and an up vector."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
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
    quat_dot,
    rig,
    told,
    unit,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import reported


class Axes:
    """The three axes of a frame that looks along a direction."""

    def __init__(self, r: Rig, direction: Expr, up: Expr) -> None:
        k, shape = r.k, r.k.draw.shape
        self.r, self.opengl = r, shape.chance(0.5)
        forward = k.let(("forward", "f", "gaze"), unit(direction))
        self.forward = forward
        if self.opengl:
            self.right = k.let(("right", "s", "side"), unit(fn("cross", forward, up)))
            self.up = k.let(("true_up", "u", "upward"), fn("cross", self.right, forward))
            self.columns: tuple[Expr, ...] = (self.right, self.up, -forward)
            self.text = "f = normalize(d), s = normalize(cross(f, up)), u = cross(s, f); the axes "
            self.text += "are s, u, -f"
        else:
            self.right = k.let(("left", "s", "side"), unit(fn("cross", up, forward)))
            self.up = k.let(("true_up", "u", "upward"), fn("cross", forward, self.right))
            self.columns = (forward, self.right, self.up)
            self.text = "f = normalize(d), s = normalize(cross(up, f)), u = cross(f, s); the axes "
            self.text += "are f, s, u"

    def matrix(self) -> Expr:
        """The rotation with these axes as its columns."""
        k, form = self.r.k, self.r.k.draw.shape.choice(("cols", "cols", "rows", "entries"))
        if form == "cols":
            return fn("matrix_from_cols", *self.columns)
        if form == "rows":
            rows = k.let(("rows", "world_to_local"), fn("matrix_from_rows", *self.columns))
            return fn("transpose", rows)
        columns = [c if isinstance(c, Var) else k.let(("back", "minus_f"), c)
                   for c in self.columns]  # fmt: skip
        entries = [columns[c][row] for row in range(3) for c in range(3)]
        return make(Mat(3, 3, self.r.scalar), *entries)


@idiom
def look_at(k: KernelBuilder, level: int) -> Title:
    """Frames of cameras or turrets that look at a target; points seen from there."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "cam"), ("rig", "row", "team"))
    slots = {
        "eye": Slot(("eye", "origin", "pos"), ("eyes", "origins", "muzzles"), r.vec, -1.0, 1.0),
        "target": Slot(("target", "focus"), ("targets", "aims", "foci"), r.vec, 2.0, 4.0,
                       forms={"each": 3, "first": 1, "last": 1, "shared": 2}),
    }  # fmt: skip
    viewer = Record(
        r, slots, as_struct=shape.chance(0.25 + 0.06 * level), struct=("Viewer", "Turret", "Probe"),
        arrays=("viewers", "turrets", "probes"), local=("viewer", "turret", "item"),
    )  # fmt: skip
    eye = viewer["eye"] if level == 1 and shape.chance(0.5) else \
        viewer.local_of("eye", "eye", "o", "origin")  # fmt: skip
    up = r.given(
        ("ups",),
        ("up", "world_up"),
        r.vec,
        init="unit",
        forms={"shared": 3} if level == 1 else {"shared": 2, "fixed": 3},
    )
    if not isinstance(up, Var):
        up_text = told(up)
        up = k.let(("up", "world_up"), up)
    else:
        up_text = up.name
    direction: Expr = viewer["target"] - eye
    done = f"With d = {viewer.told('target')} - {viewer.told('eye')} and up = {up_text}"
    if level >= 3 and shape.chance(0.6):
        speed = r.given(("leads", "velocities"), ("lead", "velocity"), r.vec, -0.5, 0.5,
                        forms=MOSTLY_ARRAY)  # fmt: skip
        time = r.given(("delays",), ("delay", "lookahead"), r.scalar, 0.2, 0.9)
        direction = direction + time * speed
        done += f", {told(time)} * {told(speed)} added to d"
    if level >= 2 or shape.chance(0.4):
        direction = k.let(("d", "to_target", "dir"), direction)
    axes = Axes(r, direction, up)
    done += f": {axes.text}."
    done += _uses(r, level, axes, eye, direction)
    return Title(k.name("look_at", "aim_frames", "camera_axes", "facing_frames"), done)


def _uses(r: Rig, level: int, axes: Axes, eye: Expr, direction: Expr) -> str:
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("matrix", "quat", "quat") if level == 1 else ("quat", "quat", "view"))
    if form == "matrix":
        out = r.store(("frames", "rotation_mats", "bases"), axes.matrix())
        return f" {out.name} gets the matrix with these axes as columns."
    if form == "view":
        return _seen(r, level, axes, eye)
    rotation = maybe_named(k, ("m", "basis", "frame"), axes.matrix(), 0.7)
    quat: Expr = fn("quat_from_matrix", rotation)
    done = " q is the quaternion of the matrix with these axes as columns (w positive for a "
    done += "positive trace, else the component of the largest diagonal entry)"
    if level == 1:
        out = r.store(("rotations", "aim_rots", "facings"), quat)
        return f"{done}; {out.name} gets it."
    q = k.let(("q", "rot", "aim"), unit(quat))
    done += ", normalized."
    if level >= 3:
        done += _followed(r, level, q)
    if shape.chance(0.5):
        out = r.store(("aim_poses", "poses", "frames"), make(r.pose, eye, q))
        done += f" {out.name} gets the transform (eye, q)."
    else:
        out = r.store(("rotations", "aim_rots", "facings"), q)
        done += f" {out.name} gets q."
    if level >= 4:
        done += reported(r, q, 1, level - 3)
        done += _seen(r, level, axes, eye) if level >= 5 else ""
    return done


def _followed(r: Rig, level: int, q: Var) -> str:
    """Turn only a part of the way from the present rotation."""
    k = r.k
    now = r.given(("current", "current_rots"), (), r.quat, init="unit", forms={"each": 1})
    share = r.given(("rates", "gains"), ("rate", "gain"), r.scalar, 0.2, 0.8, forms=PROPERTY)
    done = ""
    if k.draw.shape.chance(0.65):
        k.assign(q, fn("quat_slerp", now, q, share))
        done = f" q becomes the slerp from {told(now)} to q by {told(share)} (the short way)."
    else:

        def build(b: BodyBuilder, a: Expr, b_: Expr, t: Expr) -> Expr:
            cosine = b.let(("cosine", "alike"), quat_dot(a, b_))
            near = b.let(("near", "goal"), fn("where", cosine < 0.0, -b_, b_))
            return unit(a + t * (near - a))

        args = [("now", k.let(("present", "q_now"), now)), ("goal_rot", q), ("t", share)]
        k.assign(q, inlined(k, 0.6, ("turn_part", "nlerp"), args, build))
        done = f" q becomes normalize(c + {told(share)} * (q' - c)), c being {told(now)} and q' q "
        done += "or -q, whichever is nearer to c."
    if level >= 4 and k.draw.shape.chance(0.6):
        locked = mask(r, ("locked", "parked"), ("locked",))
        with k.if_(locked):
            k.assign(q, now)
        done += f" Where {is_set(locked)} q is {told(now)}."
    return done


def _seen(r: Rig, level: int, axes: Axes, eye: Expr) -> str:
    """A point in the coordinates of the frame, and whether it is near its centre."""
    k, shape = r.k, r.k.draw.shape
    points = r.given(("points", "landmarks"), ("point", "landmark"), r.vec, -3.0, 3.0,
                     forms=MOSTLY_ARRAY)  # fmt: skip
    rel = k.let(("rel", "offset"), points - eye)
    names = [("a", "px"), ("b", "py"), ("c", "pz")]
    if shape.chance(0.5):
        local: Expr = make(r.vec, *(fn("dot", column, rel) for column in axes.columns))
    elif shape.chance(0.5):
        local = fn("matrix_from_rows", *axes.columns) * rel
    else:
        parts = [k.let(n, fn("dot", c, rel)) for n, c in zip(names, axes.columns, strict=True)]
        local = make(r.vec, *parts)
    local = k.let(("local", "seen", "cam_p"), local)
    done = f" l holds the dot products of the axes with {told(points)} - eye."
    if level >= 3:
        limit = r.given((), ("field", "max_range"), r.scalar, 1.5, 3.0, forms=SETTING)
        size = k.let(("range_", "dist"), fn("length", rel))
        with k.if_(size > limit):
            k.augment(local, "mul", limit / size)
        done += f" It is shortened to length {told(limit)} where it is longer."
    return f"{done} {r.store(('local_points', 'views', 'seen_points'), local).name} gets l."
