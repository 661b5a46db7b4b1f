"""Arms of several joints: where the tip is, how it is turned, how far from a target."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import BOOL, Type
from generators.program.expr import Expr
from generators.program.ir import FieldInit
from generators.vector.rigid.chain_state import State
from generators.vector.rigid.parts import (
    EACH,
    MOSTLY_ARRAY,
    SETTING,
    Names,
    Rig,
    rig,
    told,
)


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
