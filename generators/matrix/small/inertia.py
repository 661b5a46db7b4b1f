"""The inertia of rigid bodies: momentum, torque, energy, and the spin after a step."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot
from generators.kit.naming import applied, held
from generators.kit.records import Part, record
from generators.kit.sources import zero
from generators.matrix.parts import (
    Entry,
    Place,
    identity,
    place,
    times_identity,
    transpose,
)
from generators.program.dtypes import Mat, Quat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Body:
    """The inertia of a thread's body: J, the principal moments and their axes where they are known,
    and the spin where it belongs to the same record."""

    tensor: Expr
    text: str
    moments: Expr | None = None
    axes: Expr | None = None
    spin: Expr | None = None
    what: str = "rigid body"

    def momentum(self, w: Expr) -> Expr:
        if self.moments is not None and self.axes is None:
            return fn("cw_mul", self.moments, w)
        return self.tensor * w

    def solved(self, torque: Expr) -> Expr:
        """The angular acceleration; a diagonal is divided by, never inverted as a matrix."""
        if self.moments is None:
            return fn("inverse", self.tensor) * torque
        if self.axes is None:
            return fn("cw_div", torque, self.moments)
        return self.axes * fn("cw_div", transpose(self.axes) * torque, self.moments)


def _solid(g: Place, scalar: Scalar) -> Body:
    """The inertia of a box, ball, cylinder or ellipsoid, from its mass and its sizes."""
    k, vec, mat = g.k, Vec(3, scalar), Mat(3, 3, scalar)
    mass = held(k, "mass_i m", g.read("masses", scalar, 0.5, 3.0))
    way = g.shape.choice(("box", "ellipsoid", "cylinder", "point"))
    if way == "cylinder":
        s = k.let("s dim", g.read("dims radius_height", Vec(2, scalar), 0.3, 1.5))
        r2, h2 = g.part("r2 rad_sq", s[0] * s[0]), g.part("h2 height_sq", s[1] * s[1])
        side = g.part("side across", mass * (3.0 * r2 + h2) / 12.0)
        moments = g.let("moments j_diag", make(vec, side, side, 0.5 * mass * r2), "j")
        text = f"J = diag(j), {g.told(moments)}"
        what = f"solid cylinder along z, its radius and height in {g.tell(s)}"
        return Body(fn("diag", moments), text, moments, what=what)
    if way == "point":
        r = k.let("r arm", g.read("arms offsets", vec, -1.5, 1.5))
        inertia = g.let(
            "inertia point_i", mass * (times_identity(mat, dot(r, r)) - fn("outer", r, r)), "J"
        )
        return Body(inertia, g.told(inertia), what="point mass about the origin")
    box = way == "box"
    e = k.let(
        "e ext", g.read("extents side_lengths" if box else "half_axes semi_axes", vec, 0.3, 1.5)
    )
    sq = g.let("q e_sq", fn("cw_mul", e, e))
    c = g.part("coef share", mass / (12.0 if box else 5.0))
    value = make(vec, c * (sq[1] + sq[2]), c * (sq[0] + sq[2]), c * (sq[0] + sq[1]))
    moments = g.let("moments j_diag", value, "j")
    text = f"J = diag(j), {g.told(moments, sq)}"
    return Body(fn("diag", moments), text, moments, what="solid box" if box else "solid ellipsoid")


def _body(g: Place, scalar: Scalar) -> Body:
    """A struct of principal moments and orientation; gives inertia in the world and the spin."""
    vec = Vec(3, scalar)
    parts = {
        "moments": Part("moments", vec, 0.5, 2.0, many="moments principal_moments"),
        "orientation": Part("orientation", Quat(scalar), init="unit"),
        "spin": Part("spin", vec, -1.5, 1.5),
    }
    r = record(g, "Body RigidBody Link", parts, 1.0)
    rot = g.let("rot r_mat", fn("quat_to_matrix", r["orientation"]), "R")
    inertia = g.let("inertia world_i", rot * fn("diag", r["moments"]) * transpose(rot), "J")
    return Body(inertia, g.told(inertia, rot), r["moments"], rot, r["spin"])


def _given(g: Place, scalar: Scalar) -> Body:
    """Given inertia in the body's frame, turned by a matrix or a quaternion."""
    mat = Mat(3, 3, scalar)
    moments = None
    if g.chance(0.5):
        moments = g.k.let(
            "j_body principal", g.read("principal_moments moments", Vec(3, scalar), 0.5, 2.0)
        )
        inner: Expr = fn("diag", moments)
    else:
        source = g.read("inertias body_inertia", mat, -0.4, 0.4, init="well_conditioned")
        inner = g.k.let("local_i i_body", source)
    turn = g.read("orientations attitudes", Quat(scalar), init="unit")
    rot = g.let("rot r_mat", fn("quat_to_matrix", turn), "R")
    text = f"{g.tell(rot * inner * transpose(rot))}, {g.told(rot)}"
    args = {"r": rot, "i": inner}
    names = "rotate_inertia to_world"
    value = applied(g.k, 0.4, names, args, lambda _, r, i: r * i * transpose(r))
    inertia = g.k.let("inertia world_i", value)
    g.spoken[inertia.name] = "J", text
    return Body(inertia, f"J = {text}", moments, rot)


def _composite(g: Place, scalar: Scalar) -> Body:
    """Several point masses or small balls, summed about the origin or their centre."""
    k, mat, vec = g.k, Mat(3, 3, scalar), Vec(3, scalar)
    count = k.size_param("num_parts", k.size("m", 3, 5, minimum=3))
    spots = g.array("part_offsets spots", vec, -1.0, 1.0, more="m")
    masses = k.array("part_masses", scalar, "m", low=0.3, high=1.5)
    center = k.let("center com_sum", zero(vec)) if g.chance(0.4) else None
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
        k.augment(total, "add", masses[q] * (times_identity(mat, dot(r, r)) - fn("outer", r, r)))
    about = "" if center is None else " minus their centre of mass"
    text = f"the sum of m * (dot(r, r) * I - outer(r, r)), m of {masses.name}, r of {spots.name}"
    g.spoken[total.name] = "J", text + about
    return Body(total, f"J = {text}{about}")


def _steiner(g: Place, inertia: Expr, scalar: Scalar) -> Var:
    """About another point: the parallel axis theorem, written in one of two ways."""
    mass = g.read("total_masses body_masses", scalar, 0.5, 2.0)
    d = held(g.k, "d arm_d", g.read("com_offsets levers", Vec(3, scalar), -1.0, 1.0))
    if g.chance(0.5):
        cross = g.part("cx d_cross", fn("skew", d))
        return g.let("about shifted", inertia - mass * (cross * cross), "J'")
    square = dot(d, d) * identity(g.k, Mat(3, 3, scalar)) - fn("outer", d, d)
    return g.let("about shifted", inertia + mass * square, "J'")


@idiom(depth=2)
def rigid_inertia(k: KernelBuilder, level: int) -> Title:
    """Inertia tensors and what follows from them: momentum, torque, energy, acceleration."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    g = place(k, "i tid body_id")
    likely = {"solid": 3, "given": 3 if level >= 2 else 1, "struct": 4 if level >= 2 else 0}
    way = shape.weighted(likely | {"parts": 3 if level >= 3 else 0})
    makers = {"solid": _solid, "given": _given, "struct": _body, "parts": _composite}
    body = makers[way](g, scalar)
    point = way == "solid" and body.moments is None
    kind = {"given": "Inertia tensor in the world frame", "struct": "Inertia in the world frame"}
    done = f"{kind.get(way, 'Inertia tensor')} of each {body.what}: {body.text}."
    if level >= 3 and not point and shape.chance(0.5):
        moved = _steiner(g, body.tensor, scalar)
        done += f" About a point at some distance (parallel axes): {g.told(moved)}."
        body = Body(moved, body.text, spin=body.spin)
    title = k.name("rigid_inertia body_inertia")
    if level < 3 and shape.chance(0.5):
        if body.moments is not None and body.axes is None:
            return Title(title, done + g.gets("moments_out inertia_diag", body.moments))
        names = "inertia_out point_inertia" if point else "inertia_out world_inertia"
        return Title(title, done + g.gets(names, body.tensor))
    w = g.let("w omega", body.spin or g.read("spins omegas ang_vel", Vec(3, scalar), -1.5, 1.5))
    momentum = g.let("l ang_mom", body.momentum(w), "L")
    frame = " In the body's frame, with" if way == "solid" and not point else " With"
    done += f"{frame} {g.told(w, momentum)}:"
    menu: dict[str, Entry] = {
        "momentum": ("momenta ang_momentum", lambda: momentum),
        "energy": ("energies rot_energy", lambda: 0.5 * dot(w, momentum)),
        "gyro": ("gyro_torques gyroscopic", lambda: fn("cross", w, momentum)),
    }
    # The tensor of one point is singular: it has no acceleration about its own direction.
    moving = level >= 2 and not point and (level >= 4 or shape.chance(0.5))
    if moving:
        title = k.name("angular_update euler_step")
        done += _accelerated(g, body, w, momentum, level)
    if not moving:
        key = shape.choice(sorted(menu))
        return Title(k.name(_TITLES[key]), done + g.offer(1, **{key: menu[key]}))
    return Title(title, done + g.offer((0, 1, 1, 2, 3)[level - 1], **menu))


_TITLES = {
    "momentum": "angular_momentum",
    "energy": "rotational_energy",
    "gyro": "gyroscopic_torque",
}


def _accelerated(g: Place, body: Body, w: Var, momentum: Var, level: int) -> str:
    """Euler's equation: the spin after a step."""
    k, scalar = g.k, scalar_of(w.type)
    torque = g.read("torques ext_torques", w.type, -1.0, 1.0)
    tau = g.part("tau net", torque - fn("cross", w, momentum))
    alpha = g.let("alpha ang_acc", body.solved(tau), "a")
    new = g.let("w_next new_spin", w + g.one("dt", scalar, 0.05, 0.3) * alpha)
    text = f" {g.told(alpha, new)}"
    if level >= 3 and g.chance(0.6):
        limit = g.one("max_spin", scalar, 0.8, 1.8)
        speed = k.let("speed rate", fn("length", new))
        with k.if_(speed > limit):
            k.assign(new, new * (limit / speed))
        text += f", shortened to {g.tell(limit)} where it is longer"
    text += f";{g.gets('spins_out next_spins', new)}"
    if level >= 5:
        text += g.gets("powers work_rate", dot(torque, new))
    return text
