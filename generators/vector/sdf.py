"""Signed distance functions of shapes and of their shells."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.functions import clamp, dot, least, most, sqrt
from generators.kit.naming import BY_LEVEL
from generators.kit.sites import Site, launch, over
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, settings, worked_out


def _box(body: BodyBuilder, q: Expr, s: Expr, t: Expr) -> Expr:
    """A rounded box: half width s, rounded by t."""
    assert isinstance(q.type, Vec)
    axes = "xyz"[: q.type.size]
    e = [body.let(f"e{letter}", abs(q[n]) - s) for n, letter in enumerate(axes)]
    reach = body.let("outer out_part", make(q.type, *(most(part, 0.0) for part in e)))
    return sqrt(dot(reach, reach)) + least(most(*e), 0.0) - t


def _capsule(q: Expr, s: Expr, t: Expr) -> Expr:
    """Along the y axis from -s to s, of radius t."""
    assert isinstance(q.type, Vec)
    y = q[1] - clamp(q[1], -s, s)
    return fn("length", make(q.type, *(y if c == 1 else q[c] for c in range(q.type.size)))) - t


def _torus(body: BodyBuilder, q: Expr, s: Expr, t: Expr) -> Expr:
    """Around the y axis; in the plane a ring."""
    assert isinstance(q.type, Vec)
    if q.type.size == 2:
        return abs(fn("length", q) - s) - t
    ring = body.let("ring across", sqrt(q[0] * q[0] + q[2] * q[2]) - s)
    return sqrt(ring * ring + q[1] * q[1]) - t


def _diamond(q: Expr, s: Expr) -> Expr:
    """An octahedron's bound, in the plane a diamond's."""
    assert isinstance(q.type, Vec)
    if q.type.size == 2:
        return 0.7071 * (abs(q[0]) + abs(q[1]) - s)
    return 0.577 * (abs(q[0]) + abs(q[1]) + abs(q[2]) - s)


SHAPES = {size: VectorShelf("s t", size) for size in (2, 3)}
"""Shapes about the origin in the plane and in space, of size s and thickness t."""

_BOX_TEXT = "|max(e, 0)| + min(max component of e, 0) - {t}, e = |{q}| - {s} by component"
for _shelf in SHAPES.values():
    _shelf.add("ball", "ball", lambda q, s: fn("length", q) - s)
    _shelf.add("rounded_box", "box", _box, _BOX_TEXT)
    _shelf.add("capsule", "capsule", _capsule)
    _shelf.add("torus", "torus", _torus)
    _shelf.add("diamond", "diamond", _diamond)

_SHELL = Formula("shell", "d", lambda d, width: abs(d) - width)

_SIZES = {"shared": 1}
_OWN_NAMES = {
    "ball": {"s": "radius ball_radius"},
    "rounded_box": {"s": "half_width half_size", "t": "rounding corner_radius"},
    "capsule": {"s": "half_length half_height", "t": "radius capsule_radius"},
    "torus": {"s": "major_radius ring_radius", "t": "minor_radius tube_radius"},
    "diamond": {"s": "extent half_size"},
}
_CALLED = {
    2: {
        "ball": ("a circle", "sd_circle circle_sdf circle_distance"),
        "rounded_box": ("a rounded square", "sd_rounded_square rounded_square_sdf"),
        "capsule": ("a capsule along y", "sd_capsule capsule_sdf capsule_distance"),
        "torus": ("a ring", "sd_ring ring_sdf annulus_distance"),
        "diamond": ("a diamond (a bound of it outside)", "sd_diamond diamond_sdf"),
    },
    3: {
        "ball": ("a ball", "sd_sphere sphere_sdf sphere_distance"),
        "rounded_box": ("a rounded cube", "sd_rounded_box rounded_box_sdf"),
        "capsule": ("a capsule along y", "sd_capsule capsule_sdf capsule_distance"),
        "torus": ("a torus about y", "sd_torus torus_sdf torus_distance"),
        "diamond": ("an octahedron (a bound of it outside)", "sd_octahedron octahedron_sdf"),
    },
}
"""What the shapes of the plane and of space are called, and kernels of them."""
_RANGES = {"s": (0.6, 1.0), "t": (0.1, 0.3), "width": (0.2, 0.6)}


def _points(k: KernelBuilder, site: Site, vec: Vec) -> tuple[Var, str]:
    """Points from an array, or the nodes of a grid."""
    if site.form == "list" or k.draw.shape.chance(0.4):
        points = site.read("points samples queries", vec, -1.6, 1.6)
        return k.let("p pos x", points), say(k, points)
    origin = k.scalar("origin grid_min corner", vec, -1.8, -1.4)
    step = given(site, "cell spacing voxel", vec.scalar, 0.4, 0.6, shared=1)
    steps = make(vec, *(cast(i, vec.scalar) for i in site.at[: vec.size]))
    return k.let("p pos node", origin + step * steps), say(k, origin + step * steps)


def _field(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """The distance of one shape, or of a shell of it; and names of a kernel."""
    p, where = _points(k, site, vec)
    center = k.scalar("center middle", vec, -0.4, 0.4)
    first = k.draw.shape.choice(SHAPES[vec.size].cards)
    ranges = {key: (names, *_RANGES[key]) for key, names in _OWN_NAMES[first.name].items()}
    ranges["width"] = ("shell_width wall", *_RANGES["width"])
    sizes = settings(vec.scalar, _SIZES, ranges)
    q = k.let("q local rel", p - center)
    d, text = worked_out(site, BY_LEVEL[level], first, {"q": q}, sizes)
    shape, names = _CALLED[vec.size][first.name]
    done = f"Evaluate the signed distance of {shape} with its centre at {center.name} for p = "
    done += f"{where}: with q = p - {center.name} it is {text}."
    if k.draw.shape.chance(0.2):
        d, text = worked_out(site, 0.0, _SHELL, {"d": k.let("d sd", d)}, sizes)
        done += f" Take {text}, that of a shell."
    out = site.put("distances sdf sd_out", d)
    return f"{done} Store it in {out.name}.", names


@idiom(depth=1)
def signed_distance(k: KernelBuilder, level: int) -> Title:
    """Signed distances of shapes at points or on grids."""
    solid = k.draw.shape.chance(0.6)
    if k.draw.shape.chance(0.7):
        site = launch(k, list=1)
    elif solid:
        dims = "nx ny nz"
        site = over(k, dims, "i j k", ((4, 6), (4, 6), (4, 6)), form="cube")
    else:
        site = over(k, "nx ny", "i j", ((7, 10), (7, 11)), form="grid")
    vec = Vec(3 if solid else 2, k.draw.wide_float_type())
    done, names = _field(k, level, site, vec)
    return Title(k.name(names), done)
