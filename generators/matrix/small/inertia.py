"""Inertia of rigid bodies: in the world, about other points, of several parts, and Euler's law."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import held, helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.small.parts import POINTS, READ, gets, identity, times_identity
from generators.program import ir
from generators.program.dtypes import Mat, Quat, Scalar, Type, Vec
from generators.program.expr import Expr


def _solid(k: KernelBuilder, g: Site, scalar: Scalar) -> tuple[Expr, str]:
    """The inertia of a box, ball, cylinder or ellipsoid, from its mass and its sizes."""
    vec = Vec(3, scalar)
    source = given(g, "mass weight", scalar, 0.5, 3.0, forms=READ)
    mass = held(k, "mass_i m", source)
    way = k.draw.shape.choice(("box", "ellipsoid", "cylinder", "point"))
    if way == "cylinder":
        sizes = g.array("dims radius_height", Vec(2, scalar), 0.3, 1.5)
        s = k.let("s dim", sizes[g.at])
        r2, h2 = k.let("r2 rad_sq", s[0] * s[0]), k.let("h2 height_sq", s[1] * s[1])
        side = k.let("side across", mass * (3.0 * r2 + h2) / 12.0)
        value = fn("diag", make(vec, side, side, 0.5 * mass * r2))
        text = f"diag(s, s, m r^2 / 2) with s = m (3 r^2 + h^2) / 12, (r, h) = {sizes.name}"
    elif way == "point":
        arms = g.array("arms offsets", vec, -1.5, 1.5)
        r = k.let("r arm", arms[g.at])
        square = times_identity(Mat(3, 3, scalar), fn("dot", r, r))
        value = mass * (square - fn("outer", r, r))
        text = f"m (dot(r, r) I - outer(r, r)), r = {arms.name}"
    else:
        sizes = g.array("extents sizes half_axes", vec, 0.3, 1.5)
        e = k.let("e ext", sizes[g.at])
        sq = k.let("sq e2", fn("cw_mul", e, e))
        part = 12.0 if way == "box" else 5.0
        c = k.let("coef share", mass / part)
        value = fn("diag", make(vec, c * (sq[1] + sq[2]), c * (sq[0] + sq[2]), c * (sq[0] + sq[1])))
        text = f"m / {part} diag(y^2 + z^2, x^2 + z^2, x^2 + y^2), (x, y, z) = {sizes.name}"
    return k.let("inertia body_i", value), f"J = {text}, m = {say(k, source)}"


def _body(k: KernelBuilder, g: Site, scalar: Scalar) -> tuple[Expr, Expr, str]:
    """A struct of principal moments and orientation; gives inertia in the world and the spin."""
    vec = Vec(3, scalar)
    inits = [
        ir.FieldInit("moments", vec, "uniform", "0.5", "2.0"),
        ir.FieldInit("orientation", Quat(scalar), "unit"),
        ir.FieldInit("spin", vec, "uniform", "-1.5", "1.5"),
    ]
    fields: tuple[tuple[str, Type], ...] = tuple((f.name, f.type) for f in inits)
    struct = k.struct(k.name("Body RigidBody Link"), *fields)
    bodies = g.array("bodies links rigid", struct, fields=inits)
    body = k.let("body link", bodies[g.at])
    rot = k.let("rot r_mat", fn("quat_to_matrix", field(body, "orientation")))
    world = rot * fn("diag", field(body, "moments")) * fn("transpose", rot)
    spin = k.let("omega w", field(body, "spin"))
    text = f"J = R diag(moments) R^T with R of the orientation of each of {bodies.name}"
    return k.let("inertia world_i", world), spin, text


def _given(k: KernelBuilder, g: Site, scalar: Scalar) -> tuple[Expr, str]:
    """Given inertia in the body's frame, turned by a matrix or a quaternion."""
    mat = Mat(3, 3, scalar)
    if k.draw.shape.chance(0.5):
        local = given(g, "moments principal", Vec(3, scalar), 0.5, 2.0)
        inner, text = fn("diag", local), f"diag({say(k, local)})"
    else:
        source = g.array("inertias body_inertia", mat, -0.4, 0.4, init="well_conditioned")
        inner, text = k.let("local_i i_body", source[g.at]), source.name
    turns = g.array("orientations attitudes", Quat(scalar), init="unit")
    rot = k.let("rot r_mat", fn("quat_to_matrix", turns[g.at]))

    def build(_: BodyBuilder, r: Expr, i: Expr) -> Expr:
        return r * i * fn("transpose", r)

    if k.draw.shape.chance(0.4):
        made = helper(k, "rotate_inertia to_world", (("r", mat), ("i", mat)), build)
        value: Expr = k.call(made, rot, inner)
    else:
        value = build(k, rot, inner)
    text = f"J = R {text} R^T with R of {turns.name}"
    return k.let("inertia world_i", value), text


def _steiner(k: KernelBuilder, g: Site, inertia: Expr, scalar: Scalar) -> tuple[Expr, str]:
    """About another point: the parallel axis theorem, written in one of two ways."""
    mat, vec = Mat(3, 3, scalar), Vec(3, scalar)
    mass = given(g, "total_mass body_mass", scalar, 0.5, 2.0)
    arms = given(g, "lever com", vec, -1.0, 1.0)
    d = held(k, "d arm_d", arms)
    if k.draw.shape.chance(0.5):
        cross = k.let("cx d_cross", fn("skew", d))
        value = inertia - mass * (cross * cross)
        how = "J - M skew(d) skew(d)"
    else:
        value = inertia + mass * (fn("dot", d, d) * identity(k, mat) - fn("outer", d, d))
        how = "J + M (dot(d, d) I - outer(d, d))"
    text = f" Then J is {how}, M = {say(k, mass)}, d = {say(k, arms)}."
    return k.let("about shifted", value), text


def _composite(k: KernelBuilder, g: Site, scalar: Scalar) -> tuple[Expr, str]:
    """Several point masses or small balls, summed about the origin or their centre."""
    mat, vec = Mat(3, 3, scalar), Vec(3, scalar)
    k.size("m", 3, 5, minimum=3)
    count = k.trip_count("num_parts part_count", "m")
    spots = k.array("part_offsets spots", vec, (*g.dims, "m"), low=-1.0, high=1.0)
    masses = k.array("part_masses weights", scalar, "m", low=0.3, high=1.5)
    centred = k.draw.shape.chance(0.4)
    center = k.let("center com_sum", zero(vec)) if centred else None
    if center is not None:
        whole = k.let("whole mass_sum", zero(scalar))
        with k.for_("a first", count) as a:
            k.augment(center, "add", masses[a] * spots[g.index(a)])
            k.augment(whole, "add", masses[a])
        k.assign(center, center / whole)
    total = k.let("inertia sum_i", zero(mat))
    with k.for_("part q", count) as q:
        spot = spots[g.index(q)]
        r = k.let("r arm", spot if center is None else spot - center)
        square = times_identity(mat, fn("dot", r, r))
        k.augment(total, "add", masses[q] * (square - fn("outer", r, r)))
    about = "" if center is None else " minus their centre of mass"
    text = f"J = the sum of m (dot(r, r) I - outer(r, r)), m of {masses.name}, r of {spots.name}"
    return total, text + about


@idiom
def rigid_inertia(k: KernelBuilder, level: int) -> Title:
    """Inertia tensors and what follows from them: momentum, torque, energy, acceleration."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid body_id")
    scalar = k.draw.wide_float_type()
    vec = Vec(3, scalar)
    ways = {"solid": 3, "given": 3 if level >= 2 else 1, "struct": 4 if level >= 2 else 0}
    way = shape.weighted(ways | {"parts": 3 if level >= 3 else 0})
    spin: Expr | None = None
    if way == "struct":
        inertia, spin, text = _body(k, g, scalar)
    elif way == "solid":
        inertia, text = _solid(k, g, scalar)
    elif way == "given":
        inertia, text = _given(k, g, scalar)
    else:
        inertia, text = _composite(k, g, scalar)
    done = f"{text[0].upper()}{text[1:]}."
    if level >= 3 and shape.chance(0.5):
        inertia, text = _steiner(k, g, inertia, scalar)
        done += text
    turned = way in ("given", "struct")
    if level == 1 and shape.chance(0.4):
        target = g.put("moments_out principal_out", fn("get_diag", inertia))
        return _title(k, f"{done} {target.name} gets the diagonal of J.")
    if spin is None:
        spins = g.array("spins omegas ang_vel", vec, -1.5, 1.5)
        spin, named = k.let("omega w", spins[g.at]), spins.name
    else:
        named = "the spin"
    momentum = k.let("momentum ang_mom", inertia * spin)
    done += f" With w = {named} and L = J * w:"
    menu = {
        "momentum": Extra("momenta ang_momentum", lambda: momentum, "L"),
        "energy": Extra(
            "energies rot_energy", lambda: 0.5 * fn("dot", spin, momentum), "dot(w, L) / 2"
        ),
        "gyro": Extra("gyro_torque gyroscopic", lambda: fn("cross", spin, momentum), "cross(w, L)"),
        "trace": Extra("traces polar", lambda: fn("trace", inertia), "trace(J)"),
        "size": Extra("momentum_sq casimir", lambda: fn("dot", momentum, momentum), "dot(L, L)"),
    }
    if turned or level == 1:
        del menu["trace"]
    if way in ("given", "parts"):
        menu["tensor"] = Extra("world_inertia inertia_out", lambda: inertia, "J")
    if level >= 2 and (level >= 4 or shape.chance(0.5)):
        done += _accelerated(k, g, inertia, spin, momentum, level)
        done += extras(g, menu, (0, 1, 1, 2, 3)[level - 1])
    else:
        done += extras(g, menu, (1, 2, 2, 3, 3)[level - 1])
    return _title(k, done)


def _title(k: KernelBuilder, done: str) -> Title:
    return Title(k.name("rigid_inertia body_inertia spin_bodies angular_update"), done)


def _accelerated(
    k: KernelBuilder, g: Site, inertia: Expr, spin: Expr, momentum: Expr, level: int
) -> str:
    """Euler's equation: the spin after a step."""
    mat, vec = inertia.type, spin.type
    assert isinstance(mat, Mat)
    torques = g.array("torques moments_ext", vec, -1.0, 1.0)
    gyro = k.draw.shape.chance(0.7)
    free = torques[g.at] - fn("cross", spin, momentum) if gyro else torques[g.at]
    tau = k.let("tau net", free)
    alpha = k.let("alpha ang_acc", fn("inverse", inertia) * tau)
    text = f"({torques.name} - cross(w, L))" if gyro else torques.name
    text = f" a = inverse(J) * {text};"
    dt = given(g, "dt step", mat.scalar, 0.05, 0.3)
    new = k.let("new_spin w_next", spin + dt * alpha)
    text += f" w' = w + {say(k, dt)} * a"
    if level >= 3 and k.draw.shape.chance(0.6):
        limit = given(g, "max_spin limit", mat.scalar, 0.8, 1.8)
        speed = k.let("speed rate", fn("length", new))
        with k.if_(speed > limit):
            k.assign(new, new * (limit / speed))
        text += f", shortened to {say(k, limit)} where it is longer"
    target = g.put("spins_out next_spins", new)
    text += f"; {target.name} gets w'."
    if level >= 5:
        text += gets(
            g, "powers work_rate", fn("dot", torques[g.at], new), f"dot({torques.name}, w')"
        )
    return text
