"""Joints in spatial vectors: momentum, bias forces, torques along an axis."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import Vec
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    Rig,
    inlined,
    minus,
    rig,
    told,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.spatial import six


@idiom
def joint_dynamics(k: KernelBuilder, level: int) -> Title:
    """Terms of the Newton-Euler equations in spatial vectors, and the force along a joint."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "link"), ("env", "row", "robot"))
    vec6 = Vec(6, r.scalar)
    link = _link(r, level)
    v = link["twist"]
    done = f"With the twist v in {told(v)}"
    if level > 1 or shape.chance(0.5):
        v = k.let(("v", "twist", "vel"), v)
    subspace = r.given(("subspaces", "joint_s", "motion_axes"), ("subspace",), vec6, -1.0, 1.0,
                       forms=MOSTLY_ARRAY)  # fmt: skip
    if level == 1:
        return Title(k.name("spatial_products", "bias_terms", "velocity_products"),
                     done + _single(r, v, subspace))  # fmt: skip
    assert isinstance(v, Var)
    s = k.let(("s", "axis", "s_col"), subspace)
    momentum, text = _momentum(r, level, v, link)
    bias = k.let(("bias", "f_bias", "gyro"), fn("spatial_cross_dual", v, momentum))
    done += f", the joint direction s in {told(subspace)} and h = {text}: f = crossdual(v, h)"
    if level >= 3:
        done += _accelerated(r, level, v, s, bias)
    if level >= 2 and shape.chance(0.7):
        outer = r.given(("external", "contact_f"), ("external",), vec6, -1.0, 1.0,
                        forms=MOSTLY_ARRAY)  # fmt: skip
        k.augment(bias, "sub", outer)
        done += f", less {told(outer)}"
    tau = k.let(("tau", "torque", "joint_force"), fn("spatial_dot", s, bias))
    done += ". tau = dot(s, f)"
    if level >= 3:
        done += _joint_terms(r, level, tau)
    done += f". {r.store(('taus', 'joint_forces', 'torques'), tau).name} gets tau"
    if shape.chance(0.4) or level == 5:
        done += f", {r.store(('link_forces', 'biases', 'f_out'), bias).name} gets f"
    if level >= 4:
        energy = 0.5 * fn("spatial_dot", v, momentum)
        done += f", {r.store(('energies', 'kinetic'), energy).name} gets dot(v, h) / 2"
    done += f". {_products('cross' if level >= 3 else '', 'dual')}"
    return Title(k.name("joint_torques", "newton_euler", "inverse_dynamics", "bias_forces"), done)


def _link(r: Rig, level: int) -> Record:
    """The twist of a link, with its principal moments and mass where they are needed."""
    slots = {
        "twist": Slot(("twist", "v", "vel"), ("twists", "link_v", "velocities"), Vec(6, r.scalar),
                      -1.5, 1.5)
    }  # fmt: skip
    if level > 1:
        moments = {"each": 2, "last": 1, "shared": 2}
        slots["inertia"] = Slot(("inertia", "moments"), ("inertias", "inertia_diag"), r.vec, 0.5,
                                2.0, forms=moments)  # fmt: skip
        slots["mass"] = Slot(("mass", "m"), ("masses",), r.scalar, 0.5, 2.0, forms=PROPERTY)
    return Record(
        r, slots, as_struct=level > 1 and r.k.draw.shape.chance(0.45), struct=("Link", "BodyData"),
        arrays=("links", "bodies"), local=("link_data", "item", "part"),
    )  # fmt: skip


def _products(*which: str) -> str:
    """What the spatial products are that a description uses."""
    texts = {
        "cross": "cross(v, (a, b)) = (w x a, w x b + u x a)",
        "dual": "crossdual(v, (a, b)) = (w x a + u x b, w x b)",
    }
    return f"For v = (w, u), {' and '.join(texts[name] for name in which if name)}."


def _single(r: Rig, v: Expr, subspace: Expr) -> str:
    form = r.k.draw.shape.choice(("cross", "dual", "dot"))
    rate = r.given(("joint_qd", "rates"), ("rate", "qd"), r.scalar, -1.5, 1.5, forms=MOSTLY_ARRAY)
    if form == "dot":
        value = rate * fn("spatial_dot", subspace, v)
        out = r.store(("rates_out", "powers", "projections"), value)
        return f", {out.name} gets {told(rate)} times its dot product with {told(subspace)}."
    op = "spatial_cross" if form == "cross" else "spatial_cross_dual"
    inner: Expr = rate * subspace
    if r.k.draw.shape.chance(0.5):
        inner = r.k.let(("joint_v", "vj", "inner"), inner)
    out = r.store(("products", "biases", "terms"), fn(op, v, inner))
    called = "cross" if form == "cross" else "crossdual"
    return f", {out.name} gets {called}(v, {told(rate)} * {told(subspace)}). {_products(form)}"


def _momentum(r: Rig, level: int, v: Var, link: Record) -> tuple[Var, str]:
    """Spatial momentum of a link with principal moments and a mass."""
    k = r.k
    inertia, mass = link["inertia"], link["mass"]

    def build(b: BodyBuilder, v: Expr, inertia: Expr, mass: Expr) -> Expr:
        top = b.let(("ang", "spin_part"), fn("cw_mul", inertia, fn("spatial_top", v)))
        bottom = b.let(("lin", "push_part"), mass * fn("spatial_bottom", v))
        return six(r, top, bottom)

    args = [("v", v), ("inertia", inertia), ("mass", mass)]
    value = inlined(k, 0.5 * (level >= 3), ("momentum_of", "spatial_momentum"), args, build)
    text = f"({told(inertia)} * w by components, {told(mass)} * u)"
    return k.let(("h", "momentum", "hv"), value), text


def _accelerated(r: Rig, level: int, v: Var, s: Var, bias: Var) -> str:
    k = r.k
    rate = r.given(("joint_qd", "rates"), ("rate", "qd"), r.scalar, -1.5, 1.5, forms=MOSTLY_ARRAY)
    product = k.let(("c", "coriolis"), fn("spatial_cross", v, rate * s))
    done = f", plus a with a = cross(v, {told(rate)} * s)"
    if level >= 4:
        gravity = r.given(("gs",), ("gravity", "g"), r.vec, -3.0, 3.0, forms={"shared": 1})
        k.augment(product, "sub", six(r, zero(r.vec), gravity))
        done += f" - (0, {told(gravity)})"
    mass = r.given(("weights",), ("weight", "load"), r.scalar, 0.5, 1.5, forms=PROPERTY)
    k.augment(bias, "add", mass * product)
    return done.replace("plus a", f"plus {told(mass)} * a", 1)


def _joint_terms(r: Rig, level: int, tau: Var) -> str:
    """Damping, friction, and a limit."""
    k, shape = r.k, r.k.draw.shape
    q = r.given(("joint_q", "angles"), (), r.scalar, -1.5, 1.5, forms={"each": 1})
    stiff = r.given(("stiffness", "springs"), ("spring", "ke"), r.scalar, 0.5, 2.0)
    k.augment(tau, "add", stiff * q)
    done = f" + {told(stiff)} * {told(q)}"
    if level >= 4:
        limit = r.given(("limits", "max_torques"), ("tau_max", "limit"), r.scalar, 0.8, 1.6)
        if shape.chance(0.5):
            k.assign(tau, fn("clamp", tau, minus(limit), limit))
            done += f", clamped to +-{told(limit)}"
        else:
            with k.if_(fn("abs", tau) > limit):
                k.assign(tau, limit * fn("sign", tau))
            done += f", and {told(limit)} times its sign where it is larger than that in size"
    return done
