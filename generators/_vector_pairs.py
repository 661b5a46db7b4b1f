"""What the vector idioms compute for one pair: a ray and a surface, a point and its neighbour."""

from __future__ import annotations

from collections.abc import Callable

from generators._vector_parts import constant
from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.dtypes import Quat, Scalar, Transform, Vec
from generators.expr import Expr, Var
from generators.ir import FieldInit

Pairwise = Callable[[BodyBuilder, Expr, Expr], Expr]


def _tangent(_k: KernelBuilder) -> tuple[Pairwise, str]:
    return lambda _, d, n: d - fn("dot", d, n) * n, "projected onto the plane of the normal"


def _mirror(_k: KernelBuilder) -> tuple[Pairwise, str]:
    return lambda _, d, n: d - 2.0 * fn("dot", d, n) * n, "reflected at the normal"


def _damped_bounce(k: KernelBuilder) -> tuple[Pairwise, str]:
    slip, bounce = constant(k, 0.5, 0.95), constant(k, 0.3, 0.9)

    def respond(body: BodyBuilder, d: Expr, n: Expr) -> Expr:
        across = body.let(("across", "v_normal"), fn("dot", d, n) * n)
        along = body.let(("along", "v_tangent"), d - across)
        return slip * along - bounce * across

    text = f"bounced: its part along the normal times -{bounce}, the rest times {slip}"
    return respond, text


def _bend(k: KernelBuilder) -> tuple[Pairwise, str]:
    eta = constant(k, 0.5, 0.9)

    def respond(body: BodyBuilder, d: Expr, n: Expr) -> Expr:
        ray = body.let(("ray", "unit_dir"), fn("normalize", d))
        cosine = body.let(("cosine", "cos_in"), -fn("dot", ray, n))
        inside = body.let(("k2", "cos2"), 1.0 - eta * eta * (1.0 - cosine * cosine))
        return eta * ray + (eta * cosine - fn("sqrt", inside)) * n

    return respond, f"normalised and refracted by Snell's law with index ratio {eta}"


RESPONSES = {"slide": _tangent, "reflect": _mirror, "bounce": _damped_bounce, "refract": _bend}


def sphere_hit(b: BodyBuilder, o: Expr, d: Expr, center: Expr, radius: Expr) -> Var:
    """Distance along a ray of unit direction to a sphere; negative for a miss."""
    oc = b.let(("oc", "rel", "from_center"), o - center)
    along = b.let(("along", "half_b"), fn("dot", oc, d))
    disc = b.let(("disc", "discriminant"), along * along - fn("dot", oc, oc) + radius * radius)
    t = b.let(("t", "dist"), b.lift(-1.0, radius.type))
    with b.if_(disc > 0.0):
        root = b.let(("root", "sq"), fn("sqrt", disc))
        b.assign(t, -along - root)
        with b.if_(t < 0.0):
            b.assign(t, -along + root)
    return t


Ball = Callable[[Expr | None], tuple[Expr, Expr]]


def balls(k: KernelBuilder, vec: Vec, ball: str, several: bool, as_struct: bool) -> Ball:
    """Declare one ball or an array of ``m``; gives centre and radius of one of them."""
    low, high = (0.4, 1.0) if several else (0.8, 1.6)
    if several:
        k.size("m", 3, 6)
    if as_struct:
        fields = (("center", vec), ("radius", vec.scalar))
        struct = k.struct(ball.capitalize(), *fields)
        inits = [
            FieldInit("center", vec, "uniform", "-1.0", "1.0"),
            FieldInit("radius", vec.scalar, "uniform", str(low), str(high)),
        ]
        if several:
            items = k.array((f"{ball}s", "scene", "obstacles"), struct, "m", fields=inits)

            def one(s: Expr | None) -> tuple[Expr, Expr]:
                chosen = k.let(("item", "shape", "candidate"), items[s or 0])
                return field(chosen, "center"), field(chosen, "radius")

            return one
        item = k.scalar((ball, "target", "obstacle"), struct, fields=inits)
        return lambda _: (field(item, "center"), field(item, "radius"))
    if several:
        centers = k.array(("centers", f"{ball}_centers"), vec, "m", low=-1.0, high=1.0)
        radii = k.array(("radii", f"{ball}_radii"), vec.scalar, "m", low=low, high=high)
        return lambda s: (centers[s or 0], k.let(("radius", "size"), radii[s or 0]))
    center = k.scalar(("center", f"{ball}_center"), vec, -1.0, 1.0)
    radius = k.scalar(("radius", f"{ball}_radius"), vec.scalar, low, high)
    return lambda _: (center, radius)


Turn = Callable[[Expr], Expr]
Rotation = tuple[Callable[[Var], Turn], str]


def _by_quaternion(k: KernelBuilder, n: str, scalar: Scalar) -> Rotation:
    rotations = k.array(("rotations", "orientations", "quats"), Quat(scalar), n, init="unit")
    back = k.draw.shape.chance(0.3)

    def at(i: Var) -> Turn:
        q = k.let(("rot", "orientation", "quat"), rotations[i])
        return lambda p: fn("quat_rotate_inv" if back else "quat_rotate", q, p)

    return at, f"rotated by the {'inverse of its ' if back else ''}quaternion in {rotations.name}"


def _by_transform(k: KernelBuilder, n: str, scalar: Scalar) -> Rotation:
    type_ = Transform(scalar)
    poses = k.array(("poses", "frames", "xforms"), type_, n, init="unit", low=-1.0, high=1.0)
    form = k.draw.shape.choice(("plain", "inverse", "parent"))
    if form == "parent":
        base = k.scalar(("world", "parent", "base"), type_, -1.0, 1.0, init="unit")

    def at(i: Var) -> Turn:
        pose: Expr = poses[i]
        if form != "plain":
            pose = fn("transform_inverse", pose) if form == "inverse" else base * pose
        frame = k.let(("pose", "xform", "frame"), pose)
        return lambda p: fn("transform_point", frame, p)

    text = f"moved by its transform in {poses.name}"
    if form == "inverse":
        text = f"moved by the inverse of its transform in {poses.name}"
    return at, text if form != "parent" else f"{text} and then by {base.name}"


def _by_axis_angle(k: KernelBuilder, n: str, scalar: Scalar) -> Rotation:
    angles = k.array(("angles", "theta", "turns"), scalar, n, low=-3.0, high=3.0)
    vec = Vec(3, scalar)
    shared = k.draw.shape.chance(0.5)
    names = ("axis", "spin_axis") if shared else ("axes", "spin_axes")
    axes = k.scalar(names, vec, init="unit") if shared else k.array(names, vec, n, init="unit")

    def at(i: Var) -> Turn:
        axis = axes if shared else axes[i]
        q = k.let(("rot", "quat"), fn("quat_from_axis_angle", axis, angles[i]))
        return lambda p: fn("quat_rotate", q, p)

    return at, f"rotated about the unit vector in {axes.name} by its angle (radians)"


def _in_plane(k: KernelBuilder, n: str, scalar: Scalar) -> Rotation:
    angles = k.array(("angles", "theta", "headings"), scalar, n, low=-3.0, high=3.0)

    def at(i: Var) -> Turn:
        angle = k.let(("angle", "phi"), angles[i])
        c, s = k.let(("c", "ca"), fn("cos", angle)), k.let(("s", "sa"), fn("sin", angle))
        return lambda p: make(Vec(2, scalar), c * p[0] - s * p[1], s * p[0] + c * p[1])

    return at, f"rotated counterclockwise by its angle in {angles.name} (radians)"


ROTATIONS = {
    "quaternion": _by_quaternion,
    "transform": _by_transform,
    "axis_angle": _by_axis_angle,
    "plane": _in_plane,
}


def _spring(k: KernelBuilder) -> tuple[Pairwise, str]:
    rest, stiffness = constant(k, 0.3, 0.9), constant(k, 1.0, 6.0)

    def term(b: BodyBuilder, xi: Expr, xj: Expr) -> Expr:
        delta = b.let(("delta", "edge"), xj - xi)
        dist = b.let(("dist", "len_ij"), fn("sqrt", fn("dot", delta, delta) + 0.01))
        return stiffness * (dist - rest) / dist * delta

    text = f"{stiffness} * (dist - {rest}) / dist * delta, with delta = xj - xi and "
    return term, text + "dist = sqrt(dot(delta, delta) + 0.01)"


def _repulsion(k: KernelBuilder) -> tuple[Pairwise, str]:
    strength, soft = constant(k, 0.2, 1.5), constant(k, 0.1, 0.5, 1)

    def term(b: BodyBuilder, xi: Expr, xj: Expr) -> Expr:
        away = b.let(("away", "delta"), xi - xj)
        r2 = b.let(("r2", "dist_sq"), fn("dot", away, away) + soft)
        return strength * away / (r2 * fn("sqrt", r2))

    return term, f"{strength} * (xi - xj) / r^3 with r^2 = |xi - xj|^2 + {soft}"


def _attraction(k: KernelBuilder) -> tuple[Pairwise, str]:
    width = constant(k, 0.5, 2.0)

    def term(b: BodyBuilder, xi: Expr, xj: Expr) -> Expr:
        delta = b.let(("delta", "to_other"), xj - xi)
        return fn("exp", -width * fn("dot", delta, delta)) * delta

    return term, f"exp(-{width} * |xj - xi|^2) * (xj - xi)"


def _smoothing(k: KernelBuilder) -> tuple[Pairwise, str]:
    rate = constant(k, 0.1, 0.5)
    return lambda _, xi, xj: rate * (xj - xi), f"{rate} * (xj - xi)"


PAIR_TERMS = {
    "spring": _spring,
    "repulsion": _repulsion,
    "attraction": _attraction,
    "smoothing": _smoothing,
}
