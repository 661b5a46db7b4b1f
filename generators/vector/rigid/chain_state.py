"""The pose that an arm has reached, joint by joint."""

from __future__ import annotations

from generators.build import BodyBuilder, fn, identity, make
from generators.kit.pieces import zero
from generators.program.expr import Expr
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    Rig,
    inlined,
    told,
    unit,
)


class State:
    """The pose reached so far: a transform, or a rotation and a position."""

    def __init__(self, r: Rig, level: int, many_axes: bool) -> None:
        k, shape = r.k, r.k.draw.shape
        self.r, self.level = r, level
        self.whole, self.based = shape.chance(0.5), shape.chance(0.3)
        self.first = shape.choice(("turn", "move"))
        self.multiply = shape.chance(0.65)
        self.tracks = many_axes and level >= 3 and shape.chance(0.5)
        start: Expr
        if self.whole:
            start = identity(r.pose)
            if self.based:
                start = r.given(("bases", "mounts"), ("base", "mount"), r.pose, -1.0, 1.0,
                                init="unit", forms=MOSTLY_ARRAY)  # fmt: skip
            self.start = f"start with the pose {told(start) if self.based else 'identity'}"
            self.pose = k.let(("pose", "xform", "tip"), start)
        else:
            start, place = identity(r.quat), zero(r.vec)
            self.start = "start at the origin with the identity rotation"
            if self.based:
                start = r.given(("base_rots", "mounts"), ("base_rot", "mount"), r.quat,
                                init="unit", forms=MOSTLY_ARRAY)  # fmt: skip
                place = r.given(("roots", "shoulders"), ("root", "shoulder"), r.vec, -1.0, 1.0,
                                forms=MOSTLY_ARRAY)  # fmt: skip
                self.start = f"start at {told(place)} with the rotation {told(start)}"
            self.rot = k.let(("rot", "q", "orient"), start)
            self.pos = k.let(("pos", "p", "tip"), place)
        if self.tracks:
            self.low = k.let(("lowest", "z_min"), k.lift(10.0, r.scalar))

    def advance(self, axis: Expr, angle: Expr, link: Expr, locked: Expr | None) -> None:
        k, r = self.r.k, self.r
        if locked is not None:

            def turned(b: BodyBuilder, axis: Expr, a: Expr, fixed: Expr) -> Expr:
                turn = fn("quat_from_axis_angle", axis, a)
                return fn("where", fixed, identity(r.quat), turn)

            args = [("axis", axis), ("a", angle), ("fixed", locked)]
            turn = inlined(k, 0.5, ("joint_turn", "joint_rotation"), args, turned)
            turn = k.let(("turn", "dq"), turn)
        else:
            turn = fn("quat_from_axis_angle", axis, angle)
            if (self.whole and self.first == "turn") or k.draw.shape.chance(0.5):
                turn = k.let(("turn", "dq", "joint_rot"), turn)
        if self.whole:
            self._advance_pose(turn, link)
        else:
            self._advance_parts(turn, link)
        if self.tracks:
            height = self.pose[2] if self.whole else self.pos[2]
            k.assign(self.low, fn("min", self.low, height))

    def _advance_pose(self, turn: Expr, link: Expr) -> None:
        k, r = self.r.k, self.r
        if self.first == "turn":
            link = fn("quat_rotate", turn, link)
        step: Expr = make(r.pose, link, turn)
        if k.draw.shape.chance(0.5):
            step = k.let(("step", "local", "joint_pose"), step)
        product = fn("transform_multiply", self.pose, step) if self.multiply else self.pose * step
        k.assign(self.pose, product)
        k.note("keeps the rotation at unit length")
        place = fn("transform_get_translation", self.pose)
        k.assign(self.pose, make(r.pose, place, unit(fn("transform_get_rotation", self.pose))))

    def _advance_parts(self, turn: Expr, link: Expr) -> None:
        k = self.r.k
        if self.first == "turn":
            k.assign(self.rot, unit(self.rot * turn))
            k.augment(self.pos, "add", fn("quat_rotate", self.rot, link))
        else:
            k.augment(self.pos, "add", fn("quat_rotate", self.rot, link))
            k.assign(self.rot, unit(self.rot * turn))

    def rule(self, locked: str) -> str:
        turn = "append the rotation t about the axis by a"
        if self.first == "turn":
            text = f": {turn} to the rotation on the right, then move by l rotated with the result"
        else:
            text = f": move by l rotated with the rotation so far, then {turn} to it on the right"
        text += " (normalized after each)"
        if locked:
            text += f". Where {locked} is true t is the identity"
        return f"{text}."

    @property
    def place(self) -> Expr:
        return fn("transform_get_translation", self.pose) if self.whole else self.pos

    @property
    def rotation(self) -> Expr:
        return fn("transform_get_rotation", self.pose) if self.whole else self.rot
