"""Arms and chains of links: poses of their tips, and twists or wrenches carried along."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, identity, make
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, where
from generators.kit.naming import applied, local, maybe
from generators.kit.records import Part
from generators.kit.sources import SETTING, given, zero
from generators.kit.words import say
from generators.program.dtypes import BOOL
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    MOSTLY,
    TUNED,
    Items,
    Rig,
    adjoint,
    product,
    renormalize,
    rig,
    shortened,
    unit,
)


class State:
    """The pose reached so far: a transform, or a rotation and a position."""

    def __init__(self, r: Rig, tracks: bool) -> None:
        k, shape = r.k, r.k.draw.shape
        self.r, self.first, self.whole = r, shape.choice(("turn", "move")), shape.chance(0.5)
        based, self.tracks = shape.chance(0.3), tracks
        self.keeps = self.whole or shape.chance(0.2)
        start: Expr = identity(r.pose if self.whole else r.quat)
        self.start = "start at the origin with the identity rotation"
        if self.whole:
            if based:
                start = given(r, "base mount", r.pose, -1.0, 1.0, init="unit", forms=MOSTLY)
                self.start = f"start with the pose {say(k, start)}"
            self.pose = k.let("pose xform tip", start)
        else:
            place = zero(r.vec)
            if based:
                start = given(r, "base_rot mount", r.quat, init="unit", forms=MOSTLY)
                place = given(r, "root shoulder", r.vec, -1.0, 1.0, forms=MOSTLY)
                self.start = f"start at {say(k, place)} with the rotation {say(k, start)}"
            self.rot, self.pos = k.let("rot q orient", start), k.let("pos p tip", place)
        if tracks:
            self.low = k.let("lowest z_min", k.lift(10.0, r.scalar))

    def advance(self, axis: Expr, angle: Expr, link: Expr, locked: Expr | None) -> None:
        """One joint further: its turn and its link."""
        k, r = self.r.k, self.r

        def turned(b: BodyBuilder, axis: Expr, a: Expr, fixed: Expr) -> Expr:
            return where(fixed, identity(r.quat), fn("quat_from_axis_angle", axis, a))

        turn = fn("quat_from_axis_angle", axis, angle)
        if locked is not None:
            args = {"axis": axis, "a": angle, "fixed": locked}
            turn = applied(k, 0.5, "joint_turn joint_rotation", args, turned)
        if locked is not None or (self.whole and self.first == "turn") or k.draw.shape.chance(0.5):
            turn = k.let("turn dq joint_rot", turn)
        if self.whole:
            link = fn("quat_rotate", turn, link) if self.first == "turn" else link
            step = maybe(k, "step local joint_pose", make(r.pose, link, turn))
            k.assign(self.pose, product(k, self.pose, step))
            if self.keeps:
                k.note("keeps the rotation at unit length")
                renormalize(r, self.pose)
        else:
            if self.first == "turn":
                k.assign(self.rot, self._kept(self.rot * turn))
            k.augment(self.pos, "add", fn("quat_rotate", self.rot, link))
            if self.first == "move":
                k.assign(self.rot, self._kept(self.rot * turn))
        if self.tracks:
            k.assign(self.low, least(self.low, self.pose[2] if self.whole else self.pos[2]))

    def _kept(self, rot: Expr) -> Expr:
        """A rotation, brought back to unit length or not."""
        return unit(rot) if self.keeps else rot

    def rule(self, locked: str) -> str:
        """How one joint changes the pose."""
        turn = "append the rotation t about the axis by a"
        text = f": move by l rotated with the rotation so far, then {turn} to it on the right"
        if self.first == "turn":
            text = f": {turn} to the rotation on the right, then move by l rotated with the result"
        fixed = f". Where {locked} is true t is the identity" if locked else ""
        return f"{text}{' (normalized after each)' * self.keeps}{fixed}."

    @property
    def place(self) -> Expr:
        return fn("transform_get_translation", self.pose) if self.whole else self.pos

    @property
    def rotation(self) -> Expr:
        return fn("transform_get_rotation", self.pose) if self.whole else self.rot


def _joints(r: Rig, keys: list[str], struct: float) -> Items:
    """The joints of one arm: axes, links and limits, as far as they are wanted."""
    parts = {
        "axis": Part("axis dir hinge", r.vec, init="unit"),
        "link": Part("link offset segment", r.vec, -0.8, 0.8),
        "length": Part("length reach link_length", r.scalar, 0.3, 1.0),
        "lower": Part("lower min_angle", r.scalar, -1.5, -0.5, many="lower min_angles"),
        "upper": Part("upper max_angle", r.scalar, 0.5, 1.5, many="upper max_angles"),
    }
    return Items(r.k, "Joint JointInfo Hinge", {key: parts[key] for key in keys}, "q", struct)


@idiom(depth=1)
def forward_kinematics(k: KernelBuilder, level: int) -> Title:
    """Tip of an arm of several joints from its joint angles."""
    shape = k.draw.shape
    r = rig(k, "i tid arm_id", list=5, batch=3)
    k.size("q", 3, 4)
    angles = r.array("angles joint_q theta", r.scalar, -1.5, 1.5, more="q")
    straight, many_axes = shape.chance(0.4), shape.chance(0.7)
    limited = level >= 4 or (level >= 2 and shape.chance(0.4))
    keys = ["axis"] * many_axes + ["length" if straight else "link"] + ["lower", "upper"] * limited
    locked = None
    if level >= 4 and shape.chance(0.6):
        locked = r.array("locked frozen braked", BOOL, more="q")
    joints = _joints(r, keys, 0.25 + 0.08 * level)
    axis = None if many_axes else k.scalar("joint_axis hinge", r.vec, init="unit")
    along = given(r, "along bone_dir", r.vec, init="unit", forms=SETTING) if straight else None
    count = k.trip_count("num_joints dof count", "q")
    state = State(r, not many_axes and level >= 3 and shape.chance(0.5))
    with k.for_("s j k", count) as s:
        parts = joints.at(s)
        angle: Expr = angles[r.index(s)]
        if limited:
            angle = k.let("angle bounded", clamp(angle, parts["lower"], parts["upper"]))
        link = parts["length"] * along if along is not None else parts["link"]
        stuck = locked[r.index(s)] if locked is not None else None
        state.advance(parts["axis"] if axis is None else axis, angle, link, stuck)
    said = joints.said
    done = f"Compute the forward kinematics of arms. {state.start.capitalize()}; for each of the "
    done += f"{say(k, count)} joints in turn, with "
    done += f"angle a in {angles.name}"
    done += f" clamped to [{said['lower']}, {said['upper']}]" if limited else ""
    done += f", axis {axis.name if axis is not None else said['axis']} and link l = "
    done += said["link"] if along is None else f"{said['length']} * {say(k, along)}"
    done += state.rule(locked.name if locked is not None else "") + _reached(r, level, state)
    return Title(k.name("forward_kinematics arm_tips chain_pose tool_positions"), done)


def _reached(r: Rig, level: int, state: State) -> str:
    """The place of the tip and what is known with it."""
    k, shape = r.k, r.k.draw.shape
    place, done = state.place, " The tip is the last position."
    # Where a joint turns after its move, the last turn counts for what lies beyond it.
    if state.first == "move" or (level >= 2 and shape.chance(0.5)):
        tool = given(r, "tool tool_offset", r.vec, -0.5, 0.5, forms=MOSTLY)
        turned = fn("quat_rotate", state.rotation, tool)
        place = fn("transform_point", state.pose, tool) if state.whole else place + turned
        done = f" The tip is {say(k, tool)} in the last frame."
    if level >= 2:
        place = local(k, "tip_pos end hand", place)
    more = ["rotation", "reach", "target"] + ["pose"] * state.whole
    kinds = ["place", *sorted(shape.sample(more, {1: 0, 2: 1, 3: 1, 4: 2, 5: 3}[level]))]
    if level == 1 and state.whole and shape.chance(0.5):
        kinds, done = ["pose"], ""
    done += "".join(_output(r, kind, state, place) for kind in kinds)
    if state.tracks:
        text = "the least z reached after any joint (at most 10)"
        done += r.gets("lowest_out clearances min_heights", state.low, text)
    return done


def _output(r: Rig, kind: str, state: State, place: Expr) -> str:
    k = r.k
    if kind == "place":
        return r.gets("tips tip_positions hands", place, "the tip")
    if kind == "rotation":
        return r.gets("tip_rots tip_rotations orientations", state.rotation, "the last rotation")
    if kind == "pose":
        return r.gets("tip_poses end_poses", state.pose, "the last pose")
    if kind == "reach":
        center = given(r, "ref_point sensor", r.vec, -1.0, 1.0, forms=MOSTLY)
        text = f"the distance from {say(k, center)} to the tip"
        return r.gets("reaches spans", fn("length", place - center), text)
    goal = r.read("goals targets", r.vec, -2.0, 2.0)
    miss = k.let("miss gap", goal - place)
    cut = shortened(k, miss, k.scalar("max_step step_limit", r.scalar, 1.4, 2.0))
    return r.gets("steps errors tip_errors", miss, f"{say(k, goal)} - tip, {cut}")


def _links(r: Rig, struct: float) -> tuple[Items, bool]:
    """Links of one robot, frames or axes at their joints; and whether those turn."""
    parts = {"subspace": Part("subspace screw", r.six, -1.0, 1.0)}
    turning = r.k.draw.shape.chance(0.8)
    if turning:
        parts["offset"] = Part("offset link_place", r.vec, -1.0, 1.0)
        parts["axis"] = Part("axis hinge", r.vec, init="unit")
    else:
        parts["frame"] = Part("frame link_pose", r.pose, -1.0, 1.0, "unit")
    return Items(r.k, "Link LinkInfo", parts, "q", struct), turning


class Carried:
    """What goes along a chain of links: a twist outward, or a wrench inward."""

    def __init__(self, r: Rig, level: int, turning: bool) -> None:
        k, shape = r.k, r.k.draw.shape
        self.r, self.level, self.outward = r, level, shape.chance(0.65)
        # A link's pose leads from its frame to its parent's; twists go the other way.
        self.inverse = self.outward and turning
        self.by_adjoint = self.outward and shape.chance(0.45)
        nought = fn("spatial_vector", zero(r.vec), zero(r.vec))
        start, self.start = nought, "zero"
        if level >= 2 and shape.chance(0.6):
            names = "base_twist root_twist" if self.outward else "tip_wrench tip_load"
            start = given(r, names, r.six, -1.0, 1.0, forms=MOSTLY)
            self.start = say(k, start)
        self.value = k.let("twist v link_v" if self.outward else "wrench f load", start)
        far = self.outward and level >= 3
        self.accel = k.let("accel a link_a", nought) if far else None
        summed = level >= 4
        self.power = k.let("power work", r.real(0.0)) if summed else None

    def through(self, frame: Expr) -> None:
        """Move it all into the frame of the next link."""
        k = self.r.k
        x = k.let("x xf joint_x", fn("transform_inverse", frame) if self.inverse else frame)
        op, matrix = f"transform_{'twist' if self.outward else 'wrench'}", None
        if self.by_adjoint:
            chance = 0.5 * (self.level >= 3)
            matrix = applied(k, chance, "adjoint_of motion_matrix", {"x": x}, adjoint)
            matrix = k.let("ad adj", matrix) if self.accel is not None else matrix
        for var in (self.accel, self.value):
            if var is not None:
                k.assign(var, fn(op, x, var) if matrix is None else matrix * var)

    def gain(self, joint: Var) -> None:
        """Add the motion or force of the joint."""
        k = self.r.k
        if self.accel is not None:
            k.augment(self.accel, "add", fn("spatial_cross", self.value, joint))
        if self.power is not None:
            k.augment(self.power, "add", fn("spatial_dot", self.value, joint))
        k.augment(self.value, "add", joint)


@idiom(depth=1)
def link_chain(k: KernelBuilder, level: int) -> Title:
    """Twists carried along a chain of links, or wrenches back to its base."""
    r = rig(k, "i tid arm", single=1.0, list=4, batch=3)
    k.size("q", 2, 4)
    links, turning = _links(r, 0.2 + 0.08 * level)
    said = links.said
    if turning:
        angles = r.array("angles joint_q", r.scalar, -1.5, 1.5, more="q")
    count = k.trip_count("num_links link_count", "q")
    state = Carried(r, level, turning)
    names = "rates joint_qd" if state.outward else "joint_taus joint_forces"
    rates = r.array(names, r.scalar, -1.5, 1.5, more="q")
    with k.for_("s j link_id", count) as s:
        parts = links.at(s)
        if turning:
            turn = fn("quat_from_axis_angle", parts["axis"], angles[r.index(s)])
            frame: Expr = make(r.pose, parts["offset"], maybe(k, "turn dq", turn))
            text = f"the transform of position {said['offset']} and rotation about "
            text += f"{said['axis']} by {angles.name}, the link's pose in its parent"
        else:
            frame = parts["frame"]
            text = f"{said['frame']}, which leads "
            text += (
                "from the parent to the link" if state.outward else "from the link to its parent"
            )
        state.through(frame)
        names = "joint_v vj" if state.outward else "joint_f fj"
        state.gain(k.let(names, rates[r.index(s)] * parts["subspace"]))
    what, rule = "wrench (t, f)", "(R t + cross(p, R f), R f)"
    task = "Carry wrenches along a chain of links to its base."
    title = "base_wrench carry_loads"
    if state.outward:
        what, rule = "twist (w, v)", "(R w, R v + cross(p, R w))"
        title = "propagate_twists link_velocities"
        task = "Carry twists along a chain of links to its end."
    done = f"{task} Start with {state.start} as the {what}. For each of the {say(k, count)} links, "
    done += f"numbered from the {'base' if state.outward else 'tip'}, let x be "
    done += f"{'the inverse of ' if state.inverse else ''}{text}, with rotation R and "
    done += f"position p: it becomes {rule}, and then gains j = {rates.name} * {said['subspace']}."
    return Title(k.name(title, "link_chain chain_recursion"), done + _at_end(state))


def _at_end(state: Carried) -> str:
    """What is read off at the end of the chain."""
    r, level, value = state.r, state.level, state.value
    k, shape, done = r.k, r.k.draw.shape, ""
    if level >= 2 and shape.chance(0.5):
        keep = given(r, "keep efficiency", r.scalar, 0.5, 0.95, forms=TUNED)
        k.augment(value, "mul", keep)
        done += f" In the end it is multiplied by {say(k, keep)}."
    if state.outward and shape.chance(0.5):
        point = given(r, "tool tip", r.vec, -1.0, 1.0)
        speed: Expr = fn("velocity_at_point", value, point)
        text = f"v + cross(w, {say(k, point)})"
        if level >= 3 and shape.chance(0.6):
            speed = u = k.let("u tip_vel", speed)
            text += f", {shortened(k, u, k.scalar('v_max speed_limit', r.scalar, 1.5, 3.0))}"
        done += r.gets("tip_vels tool_vels", speed, text)
    elif shape.chance(0.5):
        out = r.put("tip_twists end_qd" if state.outward else "base_loads root_f", value).name
        done += f" Store the last {'twist' if state.outward else 'wrench'} in {out}."
    else:
        names = ("tip_omegas", "tip_vels") if state.outward else ("base_torques", "base_forces")
        top = r.put(names[0], fn("spatial_top", value))
        bottom = r.put(names[1], fn("spatial_bottom", value))
        parts = "w and v" if state.outward else "t and f"
        done += f" Store the last {parts} in {top.name} and {bottom.name}."
    if state.accel is not None:
        text = "an acceleration that starts as zero, is moved in the same way and gains "
        text += "cross(u, j) at each link, u being the moved twist before it gains j (with "
        text += "cross((w, v), (a, b)) = (w x a, w x b + v x a))"
        done += r.gets("accels bias_accels link_accels", state.accel, text)
    if state.power is not None:
        text = "the sum of the dot products of what was moved, before it gained j, with j"
        done += r.gets("powers works", state.power, text)
    return done
