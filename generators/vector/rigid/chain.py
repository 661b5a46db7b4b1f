"""Arms of several joints: where the tip is, how it is turned, how far from a target."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, field, fn, identity, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import BOOL, Type
from generators.program.expr import Expr
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    EACH,
    MOSTLY_ARRAY,
    SETTING,
    Names,
    Rig,
    inlined,
    rig,
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


@dataclass(frozen=True)
class Arm:
    """What the joints of an arm are made of, read for one of them."""

    values: dict[str, Expr]
    told: dict[str, str]


_FIELDS: dict[str, tuple[Names, Names, float, float]] = {
    "axis": (("axis", "dir"), ("axes", "joint_axes", "hinges"), -1.0, 1.0),
    "link": (("link", "offset"), ("links", "offsets", "segments"), -0.8, 0.8),
    "length": (("length", "reach"), ("lengths", "link_lengths"), 0.3, 1.0),
    "lower": (("lower", "min_angle"), ("lower", "min_angles"), -1.5, -0.5),
    "upper": (("upper", "max_angle"), ("upper", "max_angles"), 0.5, 1.5),
}


class Joints:
    """The joints of one arm: structs in an array, or arrays of axes, links and limits."""

    def __init__(self, r: Rig, keys: list[str], as_struct: bool) -> None:
        k = r.k
        types: dict[str, Type] = {"axis": r.vec, "link": r.vec}
        self.keys, self.as_struct = keys, as_struct
        if not as_struct:
            self.arrays = {}
            for key in keys:
                _, plural, low, high = _FIELDS[key]
                init = "unit" if key == "axis" else "uniform"
                type_ = types.get(key, r.scalar)
                bounds = {} if key == "axis" else {"low": low, "high": high}
                self.arrays[key] = k.array(plural, type_, "q", init=init, **bounds)  # type: ignore[arg-type]
            self.told = {key: array.name for key, array in self.arrays.items()}
            return
        fields = []
        for key in keys:
            single, _, low, high = _FIELDS[key]
            name = k.draw.word.choice(single)
            if key == "axis":
                init = "unit"
                fields.append(FieldInit(name, types[key], init))
            else:
                type_ = types.get(key, r.scalar)
                fields.append(FieldInit(name, type_, "uniform", str(low), str(high)))
        struct = k.struct(
            k.name("Joint", "JointInfo", "Hinge"), *((f.name, f.type) for f in fields)
        )
        self.items = k.array(("joints", "arm", "hinges"), struct, "q", fields=fields)
        self.names = {key: f.name for key, f in zip(keys, fields, strict=True)}
        self.told = {key: f"{name} of {self.items.name}" for key, name in self.names.items()}

    def at(self, k: KernelBuilder, s: Expr) -> dict[str, Expr]:
        if not self.as_struct:
            return {key: array[s] for key, array in self.arrays.items()}
        item = k.let(("joint", "item", "info"), self.items[s])
        return {key: field(item, name) for key, name in self.names.items()}


@idiom
def forward_kinematics(k: KernelBuilder, level: int) -> Title:
    """Tip of an arm of several joints from its joint angles."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "arm_id"), ("env", "row"), grids={1: 5, 2: 3})
    k.size("q", 3, 4)
    angles = k.array(("angles", "joint_q", "theta"), r.scalar, (*r.dims, "q"), low=-1.5, high=1.5)
    straight = shape.chance(0.4)
    keys = ["axis"] if shape.chance(0.7) else []
    keys.append("length" if straight else "link")
    limited = level >= 4 or (level >= 2 and shape.chance(0.4))
    keys += ["lower", "upper"] if limited else []
    locked = None
    if level >= 4 and shape.chance(0.6):
        locked = k.array(("locked", "frozen", "braked"), BOOL, (*r.dims, "q"))
    joints = Joints(r, keys, shape.chance(0.25 + 0.08 * level))
    axis = None
    if "axis" not in keys:
        axis = r.given((), ("axis", "hinge"), r.vec, init="unit", forms={"shared": 1})
    along = r.given((), ("along", "bone_dir"), r.vec, init="unit", forms=SETTING) \
        if straight else None  # fmt: skip
    count = k.trip_count(("num_joints", "dof", "count"), "q")
    state = State(r, level, axis is None)
    with k.for_(("s", "j", "k"), count) as s:
        parts = joints.at(k, s)
        at = (*r.at, s)
        angle: Expr = angles[at]
        if limited:
            angle = k.let(("angle", "bounded"), fn("clamp", angle, parts["lower"], parts["upper"]))
        turn_axis = axis if axis is not None else parts["axis"]
        link = parts["length"] * along if along is not None else parts["link"]
        state.advance(turn_axis, angle, link, locked[at] if locked is not None else None)
    done = f"For each arm: {state.start}; for each of its {_count(count)} joints in turn, with "
    done += f"angle a in {angles.name}"
    if limited:
        done += f" clamped to [{joints.told['lower']}, {joints.told['upper']}]"
    about = told(axis) if axis is not None else joints.told["axis"]
    done += f", axis {about} and link l = "
    done += f"{joints.told['length']} * {told(along)}" if along is not None else joints.told["link"]
    done += state.rule(locked.name if locked is not None else "")
    done += _outputs(r, level, state)
    names = ("forward_kinematics", "arm_tips", "chain_pose", "tool_positions")
    return Title(k.name(*names), done)


def _count(count: Expr) -> str:
    return str(getattr(count, "value", "")) or told(count)


def _outputs(r: Rig, level: int, state: State) -> str:
    k, shape = r.k, r.k.draw.shape
    place: Expr = state.place
    done = ""
    if level >= 2 and shape.chance(0.5):
        tool = r.given(("tools",), ("tool", "tool_offset"), r.vec, -0.5, 0.5, forms=MOSTLY_ARRAY)
        if state.whole:
            place = fn("transform_point", state.pose, tool)
        else:
            place = state.pos + fn("quat_rotate", state.rot, tool)
        done += f" The tip is {told(tool)} in the last frame."
    else:
        done += " The tip is the last position."
    if level >= 2 or not state.whole:
        place = k.let(("tip_pos", "end", "hand"), place) if place is not getattr(
            state, "pos", None) else place  # fmt: skip
    kinds = ["place"]
    more = ["rotation", "reach", "target"] + (["pose"] if state.whole else [])
    kinds += sorted(shape.sample(more, {1: 0, 2: 1, 3: 1, 4: 2, 5: 3}[level]))
    if level == 1 and state.whole and shape.chance(0.5):
        kinds, done = ["pose"], ""
    for kind in kinds:
        done += _output(r, kind, state, place)
    if state.tracks:
        out = r.store(("lowest_out", "clearances", "min_heights"), state.low)
        done += f" {out.name} gets the least z reached after any joint (at most 10)."
    return done


def _output(r: Rig, kind: str, state: State, place: Expr) -> str:
    k = r.k
    if kind == "place":
        return f" {r.store(('tips', 'tip_positions', 'hands'), place).name} gets the tip."
    if kind == "rotation":
        out = r.store(("tip_rots", "tip_rotations", "orientations"), state.rotation)
        return f" {out.name} gets the last rotation."
    if kind == "pose":
        return f" {r.store(('tip_poses', 'end_poses'), state.pose).name} gets the last pose."
    if kind == "reach":
        center = r.given(("shoulder_pos",), ("ref_point", "sensor"), r.vec, -1.0, 1.0,
                         forms=MOSTLY_ARRAY)  # fmt: skip
        out = r.store(("reaches", "spans"), fn("length", place - center))
        return f" {out.name} gets the distance from {told(center)} to the tip."
    goal = r.given(("goals", "targets"), ("goal", "target"), r.vec, -2.0, 2.0, forms=EACH)
    miss = k.let(("miss", "gap"), goal - place)
    limit = r.given((), ("max_step", "step_limit"), r.scalar, 1.4, 2.0, forms=SETTING)
    size = k.let(("miss_len", "gap_len"), fn("length", miss))
    with k.if_(size > limit):
        k.augment(miss, "mul", limit / size)
    out = r.store(("steps", "errors", "tip_errors"), miss)
    return f" {out.name} gets {told(goal)} - tip, shortened to length {told(limit)} where longer."
