"""Multicopters: the force and torque of rotors, and rotor speeds from wanted torques."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import BOOL, FLOAT32, Type
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Rig,
    inlined,
    maybe_named,
    rig,
    told,
)


class Rotors:
    """The rotors of one airframe: where they sit, where they push, how they spin."""

    def __init__(self, r: Rig, tilted: bool) -> None:
        k, shape = r.k, r.k.draw.shape
        kinds: list[tuple[str, tuple[str, ...], tuple[str, ...], Type, str]] = [
            ("arm", ("arm", "place"), ("arms", "mounts", "rotor_pos"), r.vec, "uniform"),
            ("spin", ("spin", "drag_sign"), ("spins", "drag_signs"), r.scalar, "uniform"),
        ]
        if tilted:
            kinds.append(("axis", ("axis", "thrust_dir"), ("axes", "thrust_dirs"), r.vec, "unit"))
        self.as_struct = shape.chance(0.5)
        if not self.as_struct:
            self.arrays = {
                key: k.array(many, t, "q", init=init, low=-1.0, high=1.0)
                for key, _, many, t, init in kinds
            }
            self.told = {key: array.name for key, array in self.arrays.items()}
            return
        fields = [
            FieldInit(k.draw.word.choice(one), t, init, *_bounds(init))
            for _, one, _, t, init in kinds
        ]
        struct = k.struct(k.name("Rotor", "Propeller"), *((f.name, f.type) for f in fields))
        self.items = k.array(("rotors", "propellers", "airframe"), struct, "q", fields=fields)
        self.names = {kind[0]: f.name for kind, f in zip(kinds, fields, strict=True)}
        self.told = {key: f"{name} of {self.items.name}" for key, name in self.names.items()}

    def at(self, k: KernelBuilder, s: Expr) -> dict[str, Expr]:
        if not self.as_struct:
            return {key: array[s] for key, array in self.arrays.items()}
        item = k.let(("rotor", "prop"), self.items[s])
        return {key: field(item, name) for key, name in self.names.items()}


def _bounds(init: str) -> tuple[str | None, str | None]:
    return (None, None) if init == "unit" else ("-1.0", "1.0")


@idiom
def rotor_wrench(k: KernelBuilder, level: int) -> Title:
    """Force and torque of the rotors of a multicopter, in its own frame or in the world."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "drone"), ("env", "fleet"), grids={1: 4, 2: 3},
            scalar=FLOAT32 if shape.chance(0.75) else None)  # fmt: skip
    k.size("q", 4, 5)
    speeds = k.array(("speeds", "rpm", "throttle"), r.scalar, (*r.dims, "q"), low=0.2, high=1.5)
    tilted = shape.chance(0.5)
    rotors = Rotors(r, tilted)
    up = None if tilted else r.given((), ("up", "thrust_dir"), r.vec, init="unit",
                                     forms={"shared": 1})  # fmt: skip
    lift = r.given(("lift_coeffs",), ("lift", "k_thrust"), r.scalar, 0.5, 2.0)
    drag = r.given(("drag_coeffs",), ("yaw_drag", "k_drag"), r.scalar, 0.1, 0.6)
    whole = r.scalar == FLOAT32 and shape.chance(0.6)
    count = k.trip_count(("num_rotors", "rotor_count"), "q")
    nought = zero(r.vec)
    total = k.let(("wrench", "total"), fn("spatial_vector", nought, nought)) if whole else None
    force, torque = nought, nought
    if not whole:
        force, torque = k.let(("force", "f"), nought), k.let(("torque", "moment"), nought)
    failed = (
        k.array(("failed", "damaged", "iced"), BOOL, (*r.dims, "q"))
        if level >= 3 and shape.chance(0.5)
        else None
    )
    square = shape.chance(0.7)
    with k.for_(("s", "m", "j"), count) as s:
        parts = rotors.at(k, s)
        at = (*r.at, s)
        speed: Expr = speeds[at]
        if square:
            speed = k.let(("speed", "omega"), speed)
        thrust = k.let(("thrust", "t"), lift * speed * speed if square else lift * speed)
        if failed is not None:
            with k.if_(failed[at]):
                k.augment(thrust, "mul", 0.5)
        args = [("arm", parts["arm"]), ("axis", parts.get("axis", up)), ("thrust", thrust),
                ("turn", drag * parts["spin"])]  # fmt: skip

        def twisting(b: BodyBuilder, arm: Expr, axis: Expr, thrust: Expr, turn: Expr) -> Expr:
            push = b.let(("push", "pull"), thrust * axis)
            moment = fn("cross", arm, push) + turn * push
            return fn("spatial_vector", moment, push) if whole else moment

        chance = 0.6 * (level >= 3)
        value = inlined(k, chance, ("rotor_load", "rotor_moment"), args, twisting)  # type: ignore[arg-type]
        if total is not None:
            k.augment(total, "add", value)
        elif isinstance(force, Var) and isinstance(torque, Var):
            k.augment(torque, "add", value)
            k.augment(force, "add", thrust * parts.get("axis", up))  # type: ignore[operator]
    axis_text = rotors.told.get("axis") or told(up or nought)
    done = f"For each craft, over its {getattr(count, 'value', '') or told(count)} rotors: thrust t"
    done += f" = {told(lift)} * {speeds.name}{'^2' if square else ''}"
    done += f", halved where {failed.name} is true" if failed is not None else ""
    done += f"; sum the force f = t * {axis_text} and the torque cross({rotors.told['arm']}, f) + "
    done += f"{told(drag)} * {rotors.told['spin']} * f."
    done += _use(r, level, total, force, torque)
    names = ("rotor_wrench", "thrust_and_torque", "multicopter_loads", "rotor_forces")
    return Title(k.name(*names), done)


def _use(r: Rig, level: int, total: Var | None, force: Expr, torque: Expr) -> str:
    """Store the sums, in the frame of the craft or of the world, or what they accelerate."""
    k, shape = r.k, r.k.draw.shape
    if total is not None:
        force, torque = fn("spatial_bottom", total), fn("spatial_top", total)
    done = ""
    if level >= 2 and total is not None and shape.chance(0.6):
        pose = r.given(("poses", "xforms"), ("pose",), r.pose, -1.0, 1.0, init="unit",
                       forms=MOSTLY_ARRAY)  # fmt: skip
        moved = k.let(("world_wrench", "outer"), fn("transform_wrench", pose, total))
        out = r.store(("wrenches", "world_loads"), moved)
        done += f" {out.name} gets (torque, force) through the transform {told(pose)}: the force "
        done += "rotated, and the rotated torque plus cross(position, rotated force)."
        if level < 4:
            return done
    elif level >= 2 and shape.chance(0.6):
        rot = r.given(("rotations", "attitudes"), ("rotation",), r.quat, init="unit",
                      forms=MOSTLY_ARRAY)  # fmt: skip
        force = k.let(("world_force", "thrust_w"), fn("quat_rotate", rot, force))
        done += f" The force is rotated by {told(rot)}."
    if level >= 3:
        mass = r.given(("masses",), ("mass",), r.scalar, 0.8, 2.0, forms=PROPERTY)
        gravity = r.given((), ("gravity", "g"), r.vec, -3.0, 3.0, forms={"shared": 1})
        out = r.store(("accels", "linear_acc"), force / mass + gravity)
        done += f" {out.name} gets force / {told(mass)} + {told(gravity)}."
        if level == 3:
            done += f" {r.store(('torques', 'net_torques'), torque).name} gets the torque."
        else:
            done += _spun(r, level, torque)
        return done
    if total is not None and shape.chance(0.6):
        return f"{done} {r.store(('wrenches', 'loads_out'), total).name} gets (torque, force)."
    done += f" {r.store(('forces', 'net_thrusts'), force).name} gets the force, "
    return f"{done}{r.store(('torques', 'net_torques'), torque).name} the torque."


def _spun(r: Rig, level: int, torque: Expr) -> str:
    """Angular acceleration with the gyroscopic term; and drag of a turning body."""
    k = r.k
    rates = r.given(("body_rates", "omegas"), (), r.vec, -2.0, 2.0, forms={"each": 1})
    w = k.let(("w", "omega_b"), rates)
    inertia = r.given(("inertias",), ("inertia", "inertia_diag"), r.vec, 0.5, 2.0,
                      forms=MOSTLY_ARRAY)  # fmt: skip
    gyro = maybe_named(k, ("gyro", "coupling"), fn("cross", w, fn("cw_mul", inertia, w)))
    net: Expr = torque - gyro
    text = f"torque - cross(w, {told(inertia)} * w)"
    if level >= 5:
        brake = r.given(("brakes",), ("brake", "rot_drag"), r.scalar, 0.1, 0.8, forms=SETTING)
        speed = k.let(("w_len", "rate_len"), fn("length", w))
        fast = r.given((), ("fast", "rate_limit"), r.scalar, 1.6, 2.2, forms=SETTING)
        net = k.let(("net", "total_torque"), net)
        with k.if_(speed > fast):
            k.augment(net, "sub", brake * speed * w)
        text += f" (less {told(brake)} * |w| * w where |w| > {told(fast)})"
    out = r.store(("ang_accels", "angular_acc"), fn("cw_div", net, inertia))
    return f" {out.name} gets ({text}) / {told(inertia)}, by components, w being {told(rates)}."
