"""Dynamics of bodies: forces along joints, and impulses at contacts."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, dot, least, most
from generators.kit.masks import as_flag
from generators.kit.naming import maybe, routine
from generators.kit.records import Part, Record, record
from generators.kit.sites import Names
from generators.kit.sources import ANY, given, zero
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var, op
from generators.vector.rigid.parts import MOSTLY, TUNED, Items, Rig, minus, rig, six, unit
from generators.vector.rigid.spatial import momentum_of

_CROSS = "cross(v, (a, b)) = (w x a, w x b + u x a)"
_DUAL = "crossdual(v, (a, b)) = (w x a + u x b, w x b)"


@idiom(depth=1)
def joint_dynamics(k: KernelBuilder, level: int) -> Title:
    """Terms of the Newton-Euler equations in spatial vectors, and the force along a joint."""
    shape = k.draw.shape
    r = rig(k, "i tid link")
    if level == 1:
        return _single(r)
    link = _link(r, level)
    v, done = link["twist"], f"With the twist v in {link.say('twist')}"
    v = k.let("v twist vel", v)
    subspace = given(r, "subspace screw", r.six, -1.0, 1.0, forms=MOSTLY)
    s = k.let("s axis s_col", subspace)
    value = momentum_of(r, 0.5 * (level >= 3), v, link["inertia"], link["mass"])
    momentum = k.let("h momentum hv", value)
    bias = k.let("bias f_bias gyro", fn("spatial_cross_dual", v, momentum))
    done += f", the joint direction s in {say(k, subspace)} and h = ({link.say('inertia')} * w "
    done += f"by components, {link.say('mass')} * u): f = crossdual(v, h)"
    done += _accelerated(r, level, v, s, bias) if level >= 3 else ""
    if shape.chance(0.7):
        outer = given(r, "external load", r.six, -1.0, 1.0, many="external contact_f", forms=MOSTLY)
        k.augment(bias, "sub", outer)
        done += f", less {say(k, outer)}"
    tau = k.let("tau torque joint_force", fn("spatial_dot", s, bias))
    done += ". tau = dot(s, f)"
    done += _joint_terms(r, level, tau) if level >= 3 else ""
    done += f". {r.put('taus joint_forces torques', tau).name} gets tau"
    if shape.chance(0.4) or level == 5:
        done += f", {r.put('link_forces biases f_out', bias).name} gets f"
    if level >= 4:
        energy = r.put("energies kinetic", 0.5 * fn("spatial_dot", v, momentum))
        done += f", {energy.name} gets dot(v, h) / 2"
    done += f". For v = (w, u), {f'{_CROSS} and {_DUAL}' if level >= 3 else _DUAL}."
    return Title(k.name("joint_torques newton_euler inverse_dynamics bias_forces"), done)


def _link(r: Rig, level: int) -> Record:
    """The twist of a link, with its principal moments and mass where they are needed."""
    parts = {"twist": Part("twist v vel", r.six, -1.5, 1.5)}
    if level > 1:
        few = {"each": 2, "last": 1, "shared": 2}
        parts["inertia"] = Part(
            "inertia moments", r.vec, 0.5, 2.0, many="inertias moments", forms=few
        )
        parts["mass"] = Part("mass m", r.scalar, 0.5, 2.0, forms=ANY)
    return record(r, "Link BodyInertia", parts, 0.45)


def _single(r: Rig) -> Title:
    """One product of spatial vectors that the recursions of robots are made of."""
    k, form = r.k, r.k.draw.shape.choice(("coriolis", "bias", "power", "force", "speed"))
    if form == "bias":
        v = r.read("twists body_vels", r.six, -1.5, 1.5)
        h = r.read("momenta spatial_momenta", r.six, -1.5, 1.5)
        value = fn("spatial_cross_dual", k.let("v twist", v), k.let("h momentum", h))
        done = "Compute the bias force of moving bodies, v x* h. With the twist v = (w, u) of "
        done += f"{say(k, v)} and the momentum h = (a, b) of {say(k, h)}, "
        done += r.gets("bias_forces velocity_forces", value, "(w x a + u x b, w x b)").lstrip()
        return Title(k.name("bias_forces gyroscopic_forces velocity_products"), done)
    subspace = given(r, "subspace screw", r.six, -1.0, 1.0, forms={"each": 4, "last": 1})
    s = k.let("s joint_axis", subspace)
    if form == "force":
        f = r.read("wrenches link_forces", r.six, -2.0, 2.0)
        done = "Project the wrenches of links on their joints. "
        text = f"the dot product of {say(k, subspace)} and {say(k, f)}"
        done += r.gets("taus joint_forces", fn("spatial_dot", s, f), text).lstrip()
        return Title(k.name("joint_forces project_wrenches joint_torques"), done)
    rate = r.read("joint_qd joint_rates", r.scalar, -1.5, 1.5)
    if form == "power":
        f = r.read("wrenches link_forces", r.six, -2.0, 2.0)
        done = "Compute the power that goes through joints. "
        text = f"{say(k, rate)} times the dot product of {say(k, subspace)} and {say(k, f)}"
        done += r.gets("powers joint_powers", rate * fn("spatial_dot", s, f), text).lstrip()
        return Title(k.name("joint_power actuator_power"), done)
    v = r.read("twists parent_twists", r.six, -1.5, 1.5)
    if form == "speed":
        done = "Add the motion of joints to the twists of their parents. "
        text = f"{say(k, v)} + {say(k, rate)} * {say(k, subspace)}"
        done += r.gets("link_twists child_twists", v + rate * s, text).lstrip()
        return Title(k.name("joint_motion add_joint_twist"), done)
    joint_v = k.let("joint_v vj", rate * s)
    done = "Compute the velocity-product acceleration of joints, v x vj. With the twist v = (w, u) "
    done += f"of {say(k, v)} and the joint's vj = (a, b) = {say(k, rate)} * {say(k, subspace)}, "
    value = fn("spatial_cross", v, joint_v)
    done += r.gets("coriolis bias_accels", value, "(w x a, w x b + u x a)").lstrip()
    return Title(k.name("coriolis_accels velocity_products bias_accels"), done)


def _accelerated(r: Rig, level: int, v: Expr, s: Var, bias: Var) -> str:
    """The force that the acceleration by the moving joint takes, and gravity."""
    k = r.k
    rate = given(r, "rate qd", r.scalar, -1.5, 1.5, forms=MOSTLY)
    change = k.let("c coriolis", fn("spatial_cross", v, rate * s))
    text = f"a = cross(v, {say(k, rate)} * s)"
    if level >= 4:
        gravity = k.scalar("gravity g", r.vec, -3.0, 3.0)
        k.augment(change, "sub", six(r, zero(r.vec), gravity))
        text += f" - (0, {gravity.name})"
    mass = given(r, "weight load", r.scalar, 0.5, 1.5, forms=TUNED)
    k.augment(bias, "add", mass * change)
    return f", plus {say(k, mass)} * a with {text}"


def _joint_terms(r: Rig, level: int, tau: Var) -> str:
    """A spring of the joint, and a limit."""
    k = r.k
    angle = r.read("joint_q angles", r.scalar, -1.5, 1.5)
    spring = given(r, "ke spring", r.scalar, 0.5, 2.0, many="ke springs", forms=TUNED) * angle
    k.augment(tau, "add", spring)
    done = f" + {say(k, spring)}"
    if level < 4:
        return done
    limit = given(r, "max_tau limit", r.scalar, 0.8, 1.6, forms=TUNED)
    if k.draw.shape.chance(0.5):
        k.assign(tau, clamp(tau, minus(limit), limit))
        return f"{done}, clamped to +-{say(k, limit)}"
    with k.if_(abs(tau) > limit):
        k.assign(tau, limit * fn("sign", tau))
    return f"{done}, and {say(k, limit)} times its sign where it is larger than that in size"


class Bodies:
    """Bodies that contacts refer to by an index, or one for each contact."""

    spatial: bool
    builtin: bool
    items: Items

    def __init__(self, r: Rig, who: str, dims: Names, like: Bodies | None = None) -> None:
        k, self.r, shape = r.k, r, r.k.draw.shape
        self.spatial = like.spatial if like else shape.chance(0.65)
        self.builtin = like.builtin if like else r.scalar == FLOAT32 and shape.chance(0.75)
        parts = {"x": Part("center x com", r.vec, -1.0, 1.0, many=f"{who}positions {who}com")}
        if self.spatial:
            parts["twist"] = Part("twist qd", r.six, -1.0, 1.0, many=f"{who}twists {who}qd")
        else:
            parts["w"] = Part("w omega", r.vec, -1.0, 1.0, many=f"{who}omegas {who}ang_vels")
            parts["v"] = Part("v vel", r.vec, -1.0, 1.0, many=f"{who}vels {who}lin_vels")
        title = "".join(word.title() for word in f"{who}body".split("_"))
        known = like.items if like else None
        self.items = Items(k, title, parts, dims, 0.5, known)
        said = self.items.said
        self.text = f"the body's centre x in {said['x']} and its twist (w, v) in "
        if self.spatial:
            self.text += said["twist"]
        else:
            self.text = (
                f"the body's centre x in {said['x']}, its angular velocity w in {said['w']} "
            )
            self.text += f"and its linear velocity v in {said['v']}"

    def velocity(self, b: BodyBuilder, parts: tuple[Expr, ...], arm: Expr) -> Expr:
        """v + cross(w, arm)."""
        if not self.spatial:
            return parts[1] + fn("cross", parts[0], arm)
        if self.builtin:
            return fn("velocity_at_point", parts[0], arm)
        w = maybe(b, "w omega", fn("spatial_top", parts[0]))
        return fn("spatial_bottom", parts[0]) + fn("cross", w, arm)

    def point_velocity(self, chance: float) -> Callable[..., Expr]:
        """The velocity of a body's point, in a helper or inline."""
        r = self.r
        motion = {"twist": r.six} if self.spatial else {"w": r.vec, "v": r.vec}

        def build(b: BodyBuilder, x: Expr, point: Expr, *parts: Expr) -> Expr:
            return self.velocity(b, parts, maybe(b, "arm lever offset", point - x, 0.6))

        params = {"x": r.vec, "point": r.vec, **motion}
        doc = "Velocity of a body's point."
        return routine(r.k, chance, "point_velocity velocity_at", params, build, doc)


@idiom(depth=2)
def contact_velocity(k: KernelBuilder, level: int) -> Title:
    """Velocity of bodies at their contacts: relative, normal, tangential, and the impulse."""
    shape = k.draw.shape
    r = rig(k, "i tid contact", single=0.8)
    two = level >= 4 or shape.chance({1: 0.0, 2: 0.3, 3: 0.6}[level])
    points = r.read("points contact_points hits", r.vec, -1.5, 1.5)
    p = k.let("p point contact_pos", points)
    v, text = _relative(r, level, p, two)
    done = (
        f"Compute the {'relative ' * two}velocity u of rigid bodies at their contact points. The "
    )
    done += f"point p is in {say(k, points)}, {text}"
    if level == 1:
        if shape.chance(0.25):
            belt = given(r, "belt_vel conveyor_vel", r.vec, -0.5, 0.5, shared=1)
            k.augment(v, "sub", belt)
            done += f", less {say(k, belt)} of the belt"
        done += f".{r.gets('contact_vels point_vels', v, 'u')}"
        return Title(k.name("contact_velocities point_velocities"), done)
    normal = given(r, "normal contact_normal", r.vec, init="unit", forms={"each": 1})
    n = k.let("n normal nrm", normal)
    vn = k.let("vn normal_vel", dot(v, n))
    done += f". With the normal n in {say(k, normal)}, vn = dot(u, n)"
    if level <= 3 and shape.chance(0.5):
        slip = k.let("vt slip tangential", v - vn * n)
        done += f" and t = u - vn * n.{r.gets('slip_out tangents sliding', slip, 't')}"
        if level == 3 or shape.chance(0.4):
            done += r.gets("normal_vels normal_speeds", vn, "vn")
        return Title(k.name("contact_slip sliding_velocities tangential_motion"), done)
    done = done.replace("Compute the", "Compute collision impulses from the", 1)
    done += _impulse(r, level, v, n, vn)
    return Title(k.name("contact_impulses normal_impulses collision_impulses"), done)


def _relative(r: Rig, level: int, p: Var, two: bool) -> tuple[Var, str]:
    """The velocity of a body's point p, less that of another body's where there are two."""
    k, shape = r.k, r.k.draw.shape
    if not two and shape.chance(0.6):
        bodies = Bodies(r, "", r.dims)
        velocity = bodies.point_velocity(0.6 * (level > 2))
        x, *motion = bodies.items.at(*r.at).values()
        v = k.let("u v_point vel", velocity(x, p, *motion))
        return v, f"{bodies.text}: u = v + cross(w, p - x)"
    bodies = Bodies(r, "", k.size("c", 6, 10))
    velocity = bodies.point_velocity(1.0 if two else 0.6 * (level > 2))
    names = "body_ids" if two else "body_ids owners movers"
    first = r.read(names, INT32, init="index_of:c")
    x, *motion = bodies.items.at(k.let("body_id", first)).values()
    v = k.let("body_vel" if two else "u v_point vel", velocity(x, p, *motion))
    text = f"{bodies.text}, the body's index in {say(k, first)}: u = v + cross(w, p - x)"
    if not two:
        return v, text
    who = shape.choice(("obstacle_", "platform_", "ground_"))
    others = Bodies(r, who, k.size("d", 6, 10), bodies)
    second = r.read(f"{who}ids", INT32, init="index_of:d")
    x, *motion = others.items.at(k.let(f"{who}id", second)).values()
    vb = k.let(f"{who}vel", velocity(x, p, *motion))
    text += f", less the same of the second body, number {say(k, second)}: "
    return k.let("u rel v_rel", v - vb), text + others.text


def _impulse(r: Rig, level: int, v: Var, n: Var, vn: Var) -> str:
    """An impulse along the normal against approach, and Coulomb friction."""
    k, shape = r.k, r.k.draw.shape
    bounce = given(r, "restitution bounce", r.scalar, 0.2, 0.8, forms=TUNED)
    mass = r.read("eff_mass eff_masses", r.scalar, 0.5, 2.0)
    pull = -(1.0 + bounce) * vn * mass
    done = f". The normal impulse j = max(-(1 + {say(k, bounce)}) * vn * {say(k, mass)}, 0)"
    if shape.chance(0.5):
        jn = k.let("jn normal_imp", most(pull, 0.0))
    else:
        jn = k.let("jn normal_imp", zero(r.scalar))
        with k.if_(vn < 0.0):
            k.assign(jn, pull)
    impulse, text = k.let("impulse j total", jn * n), "j * n"
    if level >= 3:
        mu = given(r, "mu friction", r.scalar, 0.2, 0.8, forms=TUNED)
        slip = k.let("vt slip tangential", v - vn * n)
        speed = k.let("slip_speed vt_len", fn("length", slip))
        if shape.chance(0.5):
            size = k.let("jt friction_imp", least(mu * jn, mass * speed))
            k.augment(impulse, "sub", size * unit(slip))
        else:
            with k.if_(mass * speed > mu * jn):
                k.augment(impulse, "sub", mu * jn * unit(slip))
            with k.else_():
                k.augment(impulse, "sub", mass * slip)
        done += f", friction is f = min({say(k, mu)} * j, {say(k, mass)} * |t|) against "
        done += "t = u - vn * n"
        text = "j * n - f * normalize(t)"
    done += f".{r.gets('impulses impulse_out reactions', impulse, text)}"
    if level >= 4 and shape.chance(0.6):
        lost = maybe(k, "work lost dissipated", dot(impulse, v))
        text = "the dot product of that with u"
        done += r.gets("works energy_out dissipation", lost, text)
    return done + (_resting(r, n, jn) if level >= 5 else "")


def _resting(r: Rig, n: Var, jn: Var) -> str:
    """How far deep contacts are pushed apart, and which of them rest."""
    k = r.k
    gap = r.read("depths gaps", r.scalar, -0.3, 0.6)
    slop = k.scalar("slop allowed", r.scalar, 0.02, 0.1)
    rate = given(r, "baumgarte beta", r.scalar, 0.1, 0.4, forms=TUNED)
    bias = k.let("bias push_out", rate * most(gap - slop, 0.0))
    text = f"{say(k, rate)} * max({say(k, gap)} - {say(k, slop)}, 0) * n"
    done = r.gets("corrections shifts", bias * n, text)
    touching = op("and", gap > slop, jn > 0.0)
    out = r.out("active resting touching", INT32)
    if k.draw.shape.chance(0.5):
        k.store(out, r.at, as_flag(touching, INT32))
    else:
        k.store(out, r.at, 0)
        with k.if_(touching):
            k.store(out, r.at, 1)
    return f"{done} {out.name} gets 1 where {say(k, gap)} > {say(k, slop)} and j > 0, else 0."
