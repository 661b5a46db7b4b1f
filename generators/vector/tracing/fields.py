"""Rays through fields: the distances of scenes, and heights."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import KernelBuilder, cast, extent, fn, make
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, least, most, sqrt
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var, op
from generators.vector.simulation.parts import Crowd, index, points_of
from generators.vector.tracing.rays import VEC3, Ray, cast_rays, side


class _Shapes(NamedTuple):
    """The shapes of a scene: the distance to one of them, how many there are, and a text."""

    distance: Callable[[Expr, Var], Expr]
    size: Expr
    said: str


def _shapes(k: KernelBuilder) -> _Shapes:
    shape = k.draw.shape
    k.size("shapes", 4, 7)
    p = points_of(k, VEC3, "centers shape_pos", -1.5, 1.5, ("shapes",))
    kind = shape.choice(("balls", "boxes", "tori"))
    if kind == "boxes":
        half = k.array("half_sizes extents", VEC3, "shapes", low=0.3, high=0.7)
        said = f"boxes about {p.name} with half sides {half.name}"
        return _Shapes(lambda q, m: _box(k, q - p.at(m), half[m]), extent(half), said)
    names = "major_radii ring_radii" if kind == "tori" else "ball_radii shape_radii"
    sizes = k.array(names, FLOAT32, "shapes", low=0.4, high=0.8)
    if kind == "balls":
        said = f"balls about {p.name} with radii {sizes.name}"
        return _Shapes(lambda q, m: fn("length", q - p.at(m)) - sizes[m], extent(sizes), said)
    tube = k.scalar("tube_radius minor_radius", FLOAT32, 0.1, 0.25)

    def torus(x: Expr, m: Var) -> Expr:
        q = k.let("q rel", x - p.at(m))
        ring = k.let("ring", sqrt(q[0] * q[0] + q[2] * q[2]) - sizes[m])
        return sqrt(ring * ring + q[1] * q[1]) - tube

    said = f"tori about {p.name} with their axes along y, radii of the rings {sizes.name} and of "
    said += f"the tube {tube.name}"
    return _Shapes(torus, extent(sizes), said)


def _box(k: KernelBuilder, q: Expr, half: Expr) -> Expr:
    gap = k.let("gap e", fn("abs", q) - half)
    over = k.let("over outside", most(gap, make(VEC3, k.lift(0.0, FLOAT32))))
    return sqrt(dot(over, over))


@idiom
def sphere_march(k: KernelBuilder, level: int) -> Title:
    """Sphere tracing: steps by the distance to a scene of shapes, blended or not."""
    shape = k.draw.shape
    r = cast_rays(k, level, -2.5, 2.5, camera=0.15)
    c, scene = r.c, _shapes(k)
    blend = k.scalar("blend smooth_k", FLOAT32, 0.2, 0.6) if c.chance(0.5, 2) else None
    stop: Operand = k.draw.value.choice((24, 32, 48))
    if shape.chance(0.35):
        stop = k.scalar("max_steps num_steps", INT32, 4, 11)
    eps = c.number("eps hit_dist", 0.1, 0.3, 0.15)
    far = k.scalar("t_max far", FLOAT32, 3.0, 6.0)
    t = k.let("t travelled", k.lift(0.0, FLOAT32))
    hit = k.let("hit found", k.lift(-1, INT32))
    loose = shape.chance(0.3)
    with k.for_("s step_i", stop) as s:
        x = k.let("x point", r.at(t))
        d = k.let("d_scene dist", far)
        with k.for_("m shape_i", scene.size) as m:
            one = scene.distance(x, m)
            if blend is None:
                k.assign(d, least(d, one))
            else:
                one = k.let("d_one dm", one)
                h = k.let("h mixed", most(blend - abs(d - one), 0.0))
                k.assign(d, least(d, one) - 0.25 * h * h / blend)
        with k.if_(d < eps):
            k.assign(hit, s)
            k.break_()
        k.augment(t, "add", 0.9 * d if loose else d)
        with k.if_(t > far):
            k.break_()
    text = (
        f"Sphere-trace {r.said} through {scene.said}: up to {written(k.lift(stop, INT32))} steps "
        f"from t = 0 on, each {'0.9 times ' * loose}the distance to the scene or {far.name} if "
        f"that is less, until the scene is nearer than {written(eps)} or t exceeds {far.name}. "
    )
    return _sphere_march_stored((blend, far), text, t, c, shape, hit, k)


def _sphere_march_stored(
    bounds: tuple[Var | None, Var],
    text: str,
    t: Var,
    c: Crowd,
    shape: Stream,
    hit: Var,
    k: KernelBuilder,
) -> Title:
    """What :func:`sphere_march` stores, and its text."""
    blend, far = bounds
    if blend is not None:
        text += (
            f"Beginning with {far.name}, the shapes' distances are blended in order by a smooth "
        )
        text += "minimum, min(a, b) - h^2 / (4 * "
        text += f"{blend.name}) with h = max({blend.name} - |a - b|, 0). "
    text += f"Store the distance travelled in {c.put('distances t_out depth', t)}"
    if shape.chance(0.7):
        text += f" and the step of the hit, or -1, in {c.put('hit_steps steps_out', hit)}"
    return Title(k.name("sphere_march sphere_trace raymarch_sdf"), f"{text}.")


@idiom
def height_march(k: KernelBuilder, level: int) -> Title:
    """A ray over a height field: steps until it is below, then halving of the last one."""
    shape = k.draw.shape
    dims = (side(k, "nz", 8), side(k, "nx", 8))
    r = cast_rays(k, level, 2.5, 4.5, 0.2)
    c = r.c
    h = k.array("heights terrain", FLOAT32, dims, low=0.0, high=3.0)
    size = k.scalar("step_size ds", FLOAT32, 0.2, 0.4)
    stop = k.scalar("max_steps num_steps", INT32, 16, 28)
    smooth = shape.chance(0.6)
    t = k.let("t travelled", k.lift(0.0, FLOAT32))
    below = k.let("below hit", k.lift(0, INT32))
    x_end = k.let("x_max width_x", cast(extent(h, 1) - 1, FLOAT32))
    z_end = k.let("z_max depth_z", cast(extent(h, 0) - 1, FLOAT32))
    with k.for_("s step_i", stop):
        x = k.let("x point", r.at(t + size))
        outside = op("or", op("or", x[0] < 0.0, x[0] >= x_end), op("or", x[2] < 0.0, x[2] >= z_end))
        with k.if_(outside):
            k.break_()
        with k.if_(x[1] < _ground(k, h, x, smooth)):
            k.assign(below, 1)
            k.break_()
        k.augment(t, "add", size)
    text = (
        f"March {r.said} over the height field {h.name} (rows along z, unit spacing, "
        f"{'bilinear' if smooth else 'the value of the cell'}) in up to "
        f"{stop.name} steps of {size.name}, while the next point lies over "
        "the field and not below the ground. "
    )
    if c.chance(0.7, 2):
        text += _halved(c.k, r, (t, size, below), h, smooth)
    text += f"Store the distance travelled in {c.put('distances t_out', t)} and 1 in "
    text += f"{c.put('hits hit_mask', below)} where the ground was met, else 0."
    return Title(k.name("height_march terrain_march heightfield_ray"), text)


def _ground(k: KernelBuilder, h: Var, x: Expr, smooth: bool, names: str = "ix iz") -> Expr:
    """The height below a point, whose cell has these names."""
    ix, iz = (k.let(n, cast(x[a], INT32)) for n, a in zip(names.split(), (0, 2), strict=True))
    if not smooth:
        return h[index(iz, ix)]
    fx, fz = k.let("fx", x[0] - cast(ix, FLOAT32)), k.let("fz", x[2] - cast(iz, FLOAT32))
    near = fn("lerp", h[index(iz, ix)], h[index(iz, ix + 1)], fx)
    far = fn("lerp", h[index(iz + 1, ix)], h[index(iz + 1, ix + 1)], fx)
    return k.let("ground h_at", fn("lerp", near, far, fz))


def _halved(k: KernelBuilder, r: Ray, way: tuple[Var, Var, Var], h: Var, smooth: bool) -> str:
    """Bisection of the step in which the ground was met; its sentence."""
    t, size, below = way
    count = k.scalar("num_halvings refine_steps", INT32, 3, 6)
    with k.if_(fn("eq", below, 1)):
        step = k.let("half half_step", 0.5 * size)
        with k.for_("b turn", count):
            x = k.let("mid x_mid", r.at(t + step))
            with k.if_(x[1] >= _ground(k, h, x, smooth, "mx mz")):
                k.augment(t, "add", step)
            k.augment(step, "mul", 0.5)
    return f"Where the ground was met, the last step is halved {count.name} times to find it. "
