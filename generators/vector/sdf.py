"""Signed distance functions: shapes, how they combine, and their gradients."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import clamp, dot, exp, least, most, sqrt
from generators.kit.naming import BY_LEVEL, maybe, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part
from generators.kit.sites import Site, launch
from generators.kit.sources import given, unit_vector
from generators.kit.words import say
from generators.program.dtypes import Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, settings, worked_out
from generators.vector.tables import Table


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

_JOINS = Shelf()
_JOINS.add("union", "joined", lambda x, y: least(x, y))
_JOINS.add("intersection", "joined", lambda x, y: most(x, y))
_JOINS.add("difference", "joined", lambda x, y: most(x, -y))
_JOINS.add("morph", "joined", lambda x, y, share: fn("lerp", x, y, share))


@_JOINS.formula("joined")
def smooth_min(body: BodyBuilder, x: Expr, y: Expr, r: Expr) -> Expr:
    h = body.let("h mix", clamp(0.5 + 0.5 * (y - x) / r, 0.0, 1.0))
    return fn("lerp", y, x, h) - r * h * (1.0 - h)


_CHANGES = Shelf()
_CHANGES.add("plain", "changed", lambda d: d)
_CHANGES.add("onion", "changed", lambda d, width: abs(d) - width)
_CHANGES.add("inflate", "changed", lambda d, width: d - width)
_CHANGES.add("limited", "changed", lambda d, width: clamp(d, -width, width))
_CHANGES.add("occupancy", "changed", lambda d, width: 1.0 / (1.0 + exp(d / width)))

_SIZES = {"shared": 4, "literal": 2, "each": 1}
_RANGES: dict[str, tuple[str, float, float]] = {
    "s": ("size radius extent", 0.6, 1.0),
    "t": ("thickness rounding", 0.1, 0.3),
    "width": ("width band shell", 0.2, 0.6),
    "share": ("morph share", 0.2, 0.8),
    "r": ("smoothing blend_width", 0.4, 0.9),
}


def _points(k: KernelBuilder, site: Site, vec: Vec) -> tuple[Var, str]:
    """Points from an array, or the nodes of a grid."""
    if site.form == "list" or k.draw.shape.chance(0.4):
        points = site.read("points samples queries", vec, -1.6, 1.6)
        return k.let("p pos x", points), say(k, points)
    origin = k.scalar("origin grid_min corner", vec, -1.8, -1.4)
    step = given(site, "cell spacing voxel", vec.scalar, 0.4, 0.6, shared=1)
    steps = make(vec, *(cast(i, vec.scalar) for i in site.at[: vec.size]))
    return k.let("p pos node", origin + step * steps), say(k, origin + step * steps)


def _field(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The distance of one shape, or of two combined."""
    p, where = _points(k, site, vec)
    center = k.scalar("center middle offset", vec, -0.4, 0.4)
    sizes = settings(vec.scalar, _SIZES, _RANGES)
    first, second = k.draw.shape.sample(SHAPES[vec.size].cards, 2)
    q = k.let("q local rel", p - center)
    d, text = worked_out(site, BY_LEVEL[level], first, {"q": q}, sizes)
    done = f"With q = p - {center.name}, p = {where}, "
    if level >= 3:
        shift = k.scalar("second_center shift", vec, 0.2, 0.6)
        d = k.let("d1 da", d)
        far = k.let("q2 second_rel", q - shift)
        other, other_text = worked_out(site, BY_LEVEL[level], second, {"q": far}, sizes)
        joins = k.draw.shape.choice(_JOINS.cards)
        x_y = {"x": d, "y": k.let("d2 db", other)}
        done += f"let x be {text}, and y "
        d, text = worked_out(site, BY_LEVEL[level], joins, x_y, sizes)
        done += f"be {other_text} for q - {shift.name} in the place of q; "
    done += f"take the signed distance d = {text}."
    change = k.draw.shape.choice(_CHANGES.cards)
    if level >= 2 and change.name != "plain":
        d, text = worked_out(site, BY_LEVEL[level], change, {"d": k.let("d sd", d)}, sizes)
        done += f" Take {text}."
    return done + deliver(site, level, "distances sdf field_out", d)


class Scene:
    """Several shapes of one kind, combined by the minimum or smoothly."""

    def __init__(self, k: KernelBuilder, level: int, site: Site, vec: Vec) -> None:
        shape, scalar = k.draw.shape, vec.scalar
        self.k, self.formula = k, shape.choice(SHAPES[vec.size].cards)
        self.smooth = shape.chance(0.5)
        parts = {
            "c": Part("center middle pos", vec, -1.2, 1.2),
            "s": Part("size", scalar, 0.3, 0.6),
        }
        if "t" in self.formula.keys:
            parts["t"] = Part("rounding thickness", scalar, 0.05, 0.2)
        self.table = Table(k, "Primitive Blob Solid", parts, 0.85, (2, 3) if level >= 5 else (3, 4))
        name = self.formula.name
        self.one = routine(
            k,
            0.85,
            f"sd_{name} {name}_distance",
            {"p": vec} | {key: part.type for key, part in parts.items()},
            lambda b, p, c, *s: self.formula.build(b, b.let("q rel", p - c), *s),
        )
        self.r = given(site, "smoothing blend_width", scalar, 0.3, 0.8, shared=2, literal=1)
        kinds = {"x": scalar, "y": scalar, "r": scalar}
        self.merge = routine(k, 0.6, "smooth_min smin", kinds, smooth_min) if self.smooth else None
        said = {key: self.table.said(key) for key in parts}
        text = self.formula.said({"q": "q"} | said)
        self.text = f"combine the signed distances {text}, q = p - {said['c']}, of all j in order "
        if self.smooth:
            rule = _JOINS.card("smooth_min").said({"x": "x", "y": "y", "r": say(k, self.r)})
            self.text += f"to d, which for the next distance y and x = d becomes {rule}."
        else:
            self.text += "by the minimum d."

    def distance(self, at: Expr, names: str) -> Var:
        """The distance of the whole scene at a point."""
        k = self.k
        best = k.let(names, self.one(at, *self.table.at(0)))
        with self.table.each("j s_id m_id", start=1) as (_, parts):
            other = k.let("other d_j", self.one(at, *parts))
            k.assign(best, self.merge(best, other, self.r) if self.merge else least(best, other))
        return best


def _scene(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The distance of several shapes; at level 5 its gradient by differences too."""
    shape = k.draw.shape
    p, where = _points(k, site, vec)
    scene = Scene(k, level, site, vec)
    raw = scene.distance(p, "dist sd")
    d: Expr = raw
    done = f"For p = {where}, {scene.text}"
    if not scene.smooth:
        d = maybe(k, "scaled d_rel", raw / scene.r, 1.0 if level >= 5 else 0.5)
        done += f" Divide d by {say(k, scene.r)}."
    if level == 4:
        return done + deliver(site, level, "distances sdf", d)
    eps = k.draw.value.choice((0.01, 0.02, 0.05))
    central = vec.size == 2 and shape.chance(0.5)
    slopes = []
    for c, letter in enumerate("xyz"[: vec.size]):
        step = k.let(f"h{letter} step_{letter}", unit_vector(vec, c, eps))
        ahead = scene.distance(p + step, f"d_{letter} ahead_{letter}")
        behind = scene.distance(p - step, f"b_{letter} behind_{letter}") if central else raw
        slopes.append((ahead - behind) / (2.0 * eps if central else eps))
    grad = k.let("grad slope", make(vec, *slopes))
    done += f" By {'central' if central else 'forward'} differences of step {eps} let g be the "
    done += "gradient of the distance."
    push = shape.choice(("gradient", "penalty", "project")[: 3 if scene.smooth else 2])
    if push == "gradient":
        done += deliver(site, level, "distances sdf", d)
        return f"{done} {site.put('gradients normals', grad).name} gets g."
    if push == "project":
        done += " Take p - d * g."
        return done + deliver(site, level, "projected surface_points", p - d * grad)
    done += f" {site.put('penalties depths', least(d - 0.3, 0.0)).name} gets min(d - 0.3, 0)."
    out = site.put("gradients normals", fn("normalize", grad))
    return f"{done} {out.name} gets g / |g|."


@idiom(depth=1)
def signed_distance(k: KernelBuilder, level: int) -> Title:
    """Signed distances of shapes at points or on grids."""
    solid = k.draw.shape.chance(0.6)
    site = launch(k, forms={"list": 3, "cube": 3} if solid else {"list": 2, "grid": 4})
    vec = Vec(3 if solid else 2, k.draw.wide_float_type())
    done = (_field if level <= 3 else _scene)(k, level, site, vec)
    return Title(k.name("sdf_field eval_sdf signed_distances distance_field"), done)
