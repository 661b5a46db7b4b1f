"""Forces and torques on bodies: the sums over several points, and over rotors."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot
from generators.kit.naming import applied, maybe
from generators.kit.records import Part
from generators.kit.sites import Names, over
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Field, Var
from generators.vector.rigid.parts import MOSTLY, TUNED, Items, Rig, rig, shortened, six


class Total:
    """The sum of force and torque: one spatial vector, or two vectors."""

    def __init__(self, r: Rig, spatial: bool) -> None:
        self.r, k, nought = r, r.k, zero(r.vec)
        self.sum: Var | None = None
        if spatial:
            self.sum = k.let("total wrench net", fn("spatial_vector", nought, nought))
        else:
            self.push, self.turn = k.let("force net_force", nought), k.let("torque moment", nought)

    @property
    def force(self) -> Expr:
        return self.push if self.sum is None else fn("spatial_bottom", self.sum)

    @property
    def torque(self) -> Expr:
        return self.turn if self.sum is None else fn("spatial_top", self.sum)

    def add(self, names: Names, chance: float, args: dict[str, Expr], load: Load) -> None:
        """One more load: its torque and force, in a helper or not."""
        spatial, k = self.sum is not None, self.r.k

        def build(b: BodyBuilder, *args: Expr) -> Expr:
            torque, force = load(b, *args)
            return fn("spatial_vector", torque, force) if spatial else torque

        value = applied(k, chance, names, args, build, "What a force at the end of an arm does.")
        k.augment(self.turn if self.sum is None else self.sum, "add", value)

    def weigh(self, weight: Expr) -> None:
        k = self.r.k
        if self.sum is not None:
            k.augment(self.sum, "add", fn("spatial_vector", zero(self.r.vec), weight))
        else:
            k.augment(self.push, "add", weight)

    def power(self, twist: Expr) -> Expr:
        if self.sum is not None:
            return fn("spatial_dot", twist, self.sum)
        turning = dot(fn("spatial_top", twist), self.turn)
        return turning + dot(fn("spatial_bottom", twist), self.push)

    def slow(self, drag: Expr, twist: Expr) -> None:
        k = self.r.k
        if self.sum is not None:
            k.augment(self.sum, "sub", drag * twist)
        else:
            k.augment(self.turn, "sub", drag * fn("spatial_top", twist))
            k.augment(self.push, "sub", drag * fn("spatial_bottom", twist))

    def store(self, whole: bool) -> str:
        """Both in one output, or each in its own."""
        r = self.r
        if whole:
            both = self.sum if self.sum is not None else six(r, self.turn, self.push)
            return r.gets("wrenches body_f wrench_out", both, "(torque, force)")
        done = f" {r.put('net_forces force_out', self.force).name} gets the force"
        return f"{done} and {r.put('torques net_torques', self.torque).name} the torque."


Load = Callable[..., tuple[Expr, Expr]]


def _loads(r: Rig, factor: str) -> Items:
    """Points with forces, and a factor of each or none."""
    parts = {
        "p": Part("point place", r.vec, -1.0, 1.0, many="points attach_points"),
        "f": Part("force load", r.vec, -2.0, 2.0),
    }
    if factor:
        parts["p"] = Part("mount nozzle", r.vec, -1.0, 1.0, many="mounts nozzle_pos")
        parts["f"] = Part("max_force full_force", r.vec, -2.0, 2.0)
        parts["g"] = Part("throttle duty", r.scalar, 0.1, 1.0)
    titles = "Thruster Jet" if factor else "Load PointForce"
    return Items(r.k, titles, parts, (*r.dims, "q"), 0.4)


@idiom(depth=1)
def wrench_sum(k: KernelBuilder, level: int) -> Title:
    """The total force and torque on bodies of the forces at several points."""
    shape = k.draw.shape
    r = rig(k, "i tid body", single=0.8, list=3, batch=2)
    spatial = r.scalar == FLOAT32 and shape.chance(0.75)
    k.size("q", 3, 5)
    factor = "weight" if shape.chance(0.35) else ""
    loads = _loads(r, factor)
    said = loads.said
    pivot = r.read("centers body_com com_positions", r.vec, -0.5, 0.5)
    count = k.trip_count("num_thrusters" if factor else "num_points", "q")
    c = k.let("c com center", pivot)
    total = Total(r, spatial)
    limit = k.scalar("max_force limit", r.scalar, 1.2, 2.0) if level >= 3 else None
    source = "thrusters" if factor else "forces on its points"
    done = (
        f"Sum the wrench of each body's {source}. Over its {say(k, count)} "
        f"{'thrusters' if factor else 'points'}, at p in {said['p']} with the forces f in "
        f"{said['f']}"
    )
    with k.for_("s k slot", count) as s:
        one = loads.at(*r.at, s)
        arm = maybe(k, "arm lever offset", one["p"] - c, 0.7)
        f = one["f"]
        if factor or limit is not None or not isinstance(f, Field):
            f = acting = k.let("f acting f_now", f)
        if limit is not None:
            done += f", {shortened(k, acting, limit)},"
        if factor:
            k.augment(acting, "mul", one["g"])
            done += f" times {said['g']}"
        names = "moment_of wrench_at lever_action"
        total.add(names, 0.5 * (level >= 3), {"arm": arm, "f": f}, _lever)
        if not spatial:
            k.augment(total.push, "add", f)
    done += f", add up the torques cross(p - c, f), c being the centre in {say(k, pivot)}, and the "
    done += "forces f."
    done += _finished(r, level, total)
    return Title(k.name("sum_wrenches net_force_torque body_wrench total_wrench"), done)


def _lever(b: BodyBuilder, arm: Expr, f: Expr) -> tuple[Expr, Expr]:
    return fn("cross", arm, f), f


def _finished(r: Rig, level: int, total: Total) -> str:
    """Add weight or drag, store the wrench or its parts, its power with a twist."""
    k, done = r.k, ""
    if level >= 2 and k.draw.shape.chance(0.6):
        weight = given(r, "mass", r.scalar, 0.5, 2.0, forms=TUNED) * k.scalar(
            "gravity g", r.vec, -3.0, 3.0
        )
        total.weigh(weight)
        done += f" The weight {say(k, weight)} is added to the force."
    if level >= 4:
        twists = r.read("twists body_qd", r.six, -1.0, 1.0)
        twist = k.let("twist qd motion", twists)
        text = f"the dot product of the twist (angular part first) in {say(k, twists)} with "
        done += r.gets("powers power_out", total.power(twist), f"{text}(torque, force)")
        if level >= 5:
            drag = given(r, "drag damping", r.scalar, 0.1, 0.6, forms=TUNED)
            total.slow(drag, twist)
            done += f" Then {say(k, drag)} times the twist is subtracted from (torque, force)."
    return done + total.store(total.sum is not None or k.draw.shape.chance(0.2))


def _crafts(k: KernelBuilder) -> Rig:
    """A launch over simulated multicopters, one in each environment."""
    scalar = FLOAT32 if k.draw.shape.chance(0.75) else k.draw.wide_float_type()
    s = over(k, "envs", k.draw.word.choice(("i", "tid", "env")), ((48, 96),), form="list")
    return Rig(k, s.form, s.dims, s.at, s.inner, scalar)


@idiom(depth=3)
def rotor_wrench(k: KernelBuilder, level: int) -> Title:
    """Force and torque of the rotors of a multicopter, in its own frame or in the world."""
    shape = k.draw.shape
    r = _crafts(k)
    k.size("rotors", 4, 4)
    square = shape.chance(0.75)
    names = "rotor_speeds speeds omegas" if square else "throttles throttle"
    speeds = r.array(names, r.scalar, 0.2, 1.5, more="rotors")
    up = None if shape.chance(0.5) else k.scalar("up thrust_dir", r.vec, init="unit")
    rotors = _rotors(r, tilted=up is None)
    lift = given(r, "k_thrust thrust_coeff", r.scalar, 0.5, 2.0, forms=TUNED)
    drag = given(r, "yaw_gain drag_gain", r.scalar, 0.1, 0.6, forms=TUNED)
    count = k.trip_count("num_rotors rotor_count", "rotors")
    total = Total(r, r.scalar == FLOAT32 and shape.chance(0.6))
    with k.for_("s m j", count) as s:
        one = rotors.at(s)
        speed: Expr = speeds[r.index(s)]
        if square:
            speed = k.let("speed omega", speed)
        thrust = k.let("thrust t", lift * speed * speed if square else lift * speed)
        axis = one["axis"] if up is None else up
        push = k.let("f rotor_f", thrust * axis)
        args = {"arm": one["arm"], "f": push, "turn": drag * one["spin"]}
        total.add("rotor_load rotor_moment", 0.6 * (level >= 3), args, _rotor)
        if total.sum is None:
            k.augment(total.push, "add", push)
    done = "Sum the force and torque of the rotors of multicopters. Over the "
    done += f"{say(k, count)} rotors of each, the thrust is t = {say(k, lift)} * "
    done += f"{speeds.name}{'^2' if square else ''}"
    done += f"; add up the force f = t * {rotors.said['axis'] if up is None else up.name} and the "
    done += f"torque cross({rotors.said['arm']}, f) + {say(k, drag)} * {rotors.said['spin']} * f."
    done += _used(r, level, total)
    return Title(k.name("rotor_wrench thrust_and_torque multicopter_loads"), done)


def _rotors(r: Rig, tilted: bool) -> Items:
    """The rotors of one airframe: where they sit, how they spin, where they push."""
    parts = {
        "arm": Part("arm mount", r.vec, -1.0, 1.0, many="arms rotor_pos"),
        "spin": Part("spin_sign drag_sign", r.scalar, -1.0, 1.0),
    }
    if tilted:
        parts["axis"] = Part("axis thrust_dir", r.vec, init="unit")
    return Items(r.k, "Rotor Propeller", parts, "rotors", 0.5)


def _rotor(b: BodyBuilder, arm: Expr, f: Expr, turn: Expr) -> tuple[Expr, Expr]:
    return fn("cross", arm, f) + turn * f, f


def _used(r: Rig, level: int, total: Total) -> str:
    """Store the sums, in the frame of the craft or of the world, or what they accelerate."""
    k, shape = r.k, r.k.draw.shape
    force, torque, done, whole = total.force, total.torque, "", total.sum is not None
    if level >= 2 and total.sum is not None and (level >= 3 or shape.chance(0.6)):
        pose = r.read("poses craft_poses", r.pose, -1.0, 1.0, init="unit")
        moved = k.let("world_wrench outer", fn("transform_wrench", pose, total.sum))
        text = f"(torque, force) through the transform {say(k, pose)}: the force rotated, and the "
        text += "rotated torque plus cross(position, rotated force)"
        done += r.gets("wrenches world_loads", moved, text)
        if level < 4:
            return done
    elif level >= 2 and shape.chance(0.6):
        rot = r.read("rotations attitudes", r.quat, init="unit")
        force = k.let("world_force thrust_w", fn("quat_rotate", rot, force))
        done, whole = f" The force is rotated by {say(k, rot)}.", False
    if level >= 3:
        mass = given(r, "mass", r.scalar, 0.8, 2.0, forms=TUNED)
        gravity = k.scalar("gravity g", r.vec, -3.0, 3.0)
        text = f"force / {say(k, mass)} + {gravity.name}"
        done += r.gets("accels linear_acc", force / mass + gravity, text)
        if level == 3:
            return done + r.gets("torques net_torques", torque, "the torque")
        return done + _spun(r, level, torque)
    if whole and shape.chance(0.6):
        return done + total.store(True)
    done += f" {r.put('forces net_thrusts', force).name} gets the force, "
    return f"{done}{r.put('torques net_torques', torque).name} the torque."


def _spun(r: Rig, level: int, torque: Expr) -> str:
    """Angular acceleration with the gyroscopic term; and drag of a turning body."""
    k = r.k
    rates = r.read("body_rates omegas", r.vec, -2.0, 2.0)
    w = k.let("w omega_b", rates)
    inertia = given(r, "inertia inertia_diag", r.vec, 0.5, 2.0, forms=MOSTLY)
    gyro = maybe(k, "gyro coupling", fn("cross", w, fn("cw_mul", inertia, w)))
    net: Expr = torque - gyro
    text = f"(torque - cross(w, {say(k, inertia)} * w)"
    if level >= 5:
        brake = k.scalar("brake rot_drag", r.scalar, 0.1, 0.8)
        speed = k.let("w_len rate_len", fn("length", w))
        fast = k.scalar("fast rate_limit", r.scalar, 1.6, 2.2)
        net = turning = k.let("net total_torque", net)
        with k.if_(speed > fast):
            k.augment(turning, "sub", brake * speed * w)
        text += f" (less {say(k, brake)} * |w| * w where |w| > {say(k, fast)})"
    text += f") / {say(k, inertia)}, by components, w being {say(k, rates)}"
    return r.gets("ang_accels angular_acc", fn("cw_div", net, inertia), text)
