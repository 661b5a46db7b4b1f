"""Signed distance functions: shapes, how they combine, and their gradients."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, dot, exp, least, most, sqrt
from generators.kit.naming import BY_LEVEL, maybe, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import Scalar, Type, Vec
from generators.program.expr import Expr, Var

Distance = Callable[[BodyBuilder, Expr, Expr, Expr], Expr]


def _ball(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    return fn("length", p) - s


def _box(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    """A rounded box: half width s, rounded by t."""
    assert isinstance(p.type, Vec)
    q: list[Expr] = [b.let(f"e{c}", abs(p[n]) - s) for n, c in enumerate("xyz"[: p.type.size])]
    outside = make(p.type, *(most(part, 0.0) for part in q))
    deepest = q[0]
    for part in q[1:]:
        deepest = most(deepest, part)
    reach = b.let("outer out_part", outside)
    return sqrt(dot(reach, reach)) + least(deepest, 0.0) - t


def _capsule(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    """Along the y axis from -s to s, of radius t."""
    assert isinstance(p.type, Vec)
    y = p[1] - clamp(p[1], -s, s)
    parts = [y if c == 1 else p[c] for c in range(p.type.size)]
    return fn("length", make(p.type, *parts)) - t


def _torus(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    """Around the y axis; in the plane a ring."""
    assert isinstance(p.type, Vec)
    if p.type.size == 2:
        return abs(fn("length", p) - s) - t
    ring = b.let("ring across", sqrt(p[0] * p[0] + p[2] * p[2]) - s)
    return sqrt(ring * ring + p[1] * p[1]) - t


def _diamond(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    """An octahedron's bound, in the plane a diamond's."""
    assert isinstance(p.type, Vec)
    total: Expr = abs(p[0])
    for c in range(1, p.type.size):
        total = total + abs(p[c])
    return 0.577 * (total - s) if p.type.size == 3 else 0.7071 * (total - s)


SHAPES: dict[str, tuple[Distance, str, bool]] = {
    "ball": (_ball, "|q| - s", False),
    "rounded_box": (
        _box,
        "|max(e, 0)| + min(max component of e, 0) - t, e = |q| - s by component",
        True,
    ),
    "capsule": (_capsule, "|q with qy replaced by qy - clamp(qy, -s, s)| - t", True),
    "torus": (_torus, "sqrt((sqrt(qx^2 + qz^2) - s)^2 + qy^2) - t", True),
    "diamond": (_diamond, "0.577 * (|qx| + |qy| + |qz| - s)", False),
}
_FLAT = {"torus": "||q| - s| - t", "diamond": "0.7071 * (|qx| + |qy| - s)"}


def wording(name: str, vec: Vec) -> str:
    """The formula of a shape for points q."""
    flat = _FLAT.get(name, "") if vec.size == 2 else ""
    return flat or SHAPES[name][1]


def smooth_min(b: BodyBuilder, x: Expr, y: Expr, r: Expr) -> Expr:
    h = b.let("h mix", clamp(0.5 + 0.5 * (y - x) / r, 0.0, 1.0))
    return fn("lerp", y, x, h) - r * h * (1.0 - h)


_SIZES = {"shared": 4, "literal": 2, "each": 1}


def _points(k: KernelBuilder, site: Site, vec: Vec) -> tuple[Var, str]:
    """Points from an array, or the nodes of a grid."""
    if site.form == "list" or k.draw.shape.chance(0.4):
        points = site.array("points samples queries", vec, -1.6, 1.6)
        return k.let("p pos x", points[site.at]), points.name
    origin = k.scalar("origin grid_min corner", vec, -1.8, -1.4)
    step = given(site, "cell spacing voxel", vec.scalar, 0.4, 0.6, shared=1)
    steps = make(vec, *(cast(i, vec.scalar) for i in site.at[: vec.size]))
    p = k.let("p pos node", origin + step * steps)
    indices = ", ".join(i.name for i in site.at[: vec.size])
    return p, f"{origin.name} + {say(k, step)} * ({indices})"


def _shape(
    k: KernelBuilder, level: int, site: Site, vec: Vec, name: str
) -> tuple[Callable[[Expr], Expr], str]:
    """The distance of one shape and its text."""
    scalar = vec.scalar
    build, _, two = SHAPES[name]
    text = wording(name, vec)
    s = given(site, "size radius extent", scalar, 0.6, 1.0, forms=_SIZES)
    t = given(site, "thickness rounding", scalar, 0.1, 0.3, forms=_SIZES) if two else s
    kinds: list[tuple[str, Type]] = [("q", vec), ("s", scalar)]
    kinds += [("t", scalar)] if two else []

    def inner(b: BodyBuilder, *args: Expr) -> Expr:
        return build(b, args[0], args[1], args[-1])

    use = routine(k, BY_LEVEL[level], f"sd_{name} {name}_distance", kinds, inner)
    sizes = f"s = {say(k, s)}" + (f", t = {say(k, t)}" if two else "")
    whole = (s, t) if two else (s,)
    return lambda q: use(q, *whole), f"{text} ({sizes})"


def _changed(k: KernelBuilder, site: Site, d: Expr) -> tuple[Expr, str]:
    """What is made of a distance: a shell, an inflated shape, an occupancy."""
    scalar = d.type
    assert isinstance(scalar, Scalar)
    form = k.draw.shape.choice(("plain", "onion", "inflate", "occupancy", "clamp"))
    if form == "plain":
        return d, ""
    width = given(site, "width band shell", scalar, 0.2, 0.6, forms=_SIZES)
    name = say(k, width)
    if form == "onion":
        return abs(d) - width, f" Take |d| - {name}."
    if form == "inflate":
        return d - width, f" Take d - {name}."
    if form == "clamp":
        return clamp(d, -width, width), f" Clamp it to +-{name}."
    return 1.0 / (1.0 + exp(d / width)), f" Take 1 / (1 + exp(d / {name}))."


def _joined(k: KernelBuilder, site: Site, x: Expr, y: Expr, level: int) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("union", "intersection", "difference", "smooth", "blend"))
    scalar = x.type
    assert isinstance(scalar, Scalar)
    if form == "union":
        return least(x, y), "min(d1, d2)"
    if form == "intersection":
        return most(x, y), "max(d1, d2)"
    if form == "difference":
        return most(x, -y), "max(d1, -d2)"
    if form == "blend":
        share = given(site, "morph share", scalar, 0.2, 0.8, forms=_SIZES)
        return fn("lerp", x, y, share), f"d1 + {say(k, share)} * (d2 - d1)"
    x, y = maybe(k, "d1 first", x, 1.0), maybe(k, "d2 second", y, 1.0)
    r = given(site, "smoothing blend_radius", scalar, 0.4, 0.9, forms=_SIZES)
    kinds: list[tuple[str, Type]] = [("x", scalar), ("y", scalar), ("r", scalar)]
    join = routine(k, BY_LEVEL[level], "smooth_min smin", kinds, smooth_min)
    text = f"d2 + h * (d1 - d2) - r * h * (1 - h) with r = {say(k, r)} and h = 0.5 + 0.5 * (d2 - "
    return join(x, y, r), f"{text}d1) / r clamped to [0, 1]"


def _field(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The distance of one shape, or of two combined."""
    p, where = _points(k, site, vec)
    center = given(site, "center middle offset", vec, -0.4, 0.4, shared=1)
    kinds = k.draw.shape.sample(sorted(SHAPES), 2)
    first, text = _shape(k, level, site, vec, kinds[0])
    q = maybe(k, "q local rel", p - center, 1.0)
    d = first(q)
    done = f"For q = p - {say(k, center)}, p = {where}, "
    if level == 1:
        done += f"take the signed distance d = {text}."
    elif level == 2:
        d, after = _changed(k, site, k.let("d sd", d))
        done += f"take the signed distance d = {text}.{after}"
    else:
        second, other = _shape(k, level, site, vec, kinds[1])
        shift = given(site, "second_center shift", vec, 0.2, 0.6, shared=1)
        d = k.let("d1 da", d)
        d_other = k.let("d2 db", second(q - shift))
        value, join = _joined(k, site, d, d_other, level)
        d, after = _changed(k, site, k.let("d sd", value))
        done += f"d1 = {text}, and the same for q - {say(k, shift)} with d2 = {other}, "
        done += f"take d = {join}.{after}"
    return done + deliver(site, level, "distances sdf field", d)


def _scene(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """A union of several shapes from an array of structs, at level 5 with its gradient."""
    shape, scalar = k.draw.shape, vec.scalar
    name = shape.choice([s for s in sorted(SHAPES) if level == 4 or s != "diamond"])
    build, _, two = SHAPES[name]
    text = wording(name, vec)
    p, where = _points(k, site, vec)
    parts = [Part("center pos", vec, -1.2, 1.2), Part("size radius extent", scalar, 0.3, 0.6)]
    if two:
        parts.append(Part("thickness rounding", scalar, 0.05, 0.2))
    struct, fields = struct_of(k, k.draw.word.choice(("Shape", "Primitive", "Blob")), parts)
    k.size("m", 2 if level >= 5 else 3, 3 if level >= 5 else 4)
    shapes = k.array("shapes primitives scene", struct, "m", fields=fields)
    smooth = shape.chance(0.5)
    r = given(site, "smoothing blend_radius", scalar, 0.3, 0.8, shared=2, literal=1)
    count = k.trip_count("shape_count num_shapes", "m")
    kinds: list[tuple[str, Type]] = [("p", vec), ("item", struct)]

    def inner(b: BodyBuilder, at: Expr, item: Expr) -> Expr:
        s, t = field(item, fields[1].name), field(item, fields[-1].name)
        return build(b, b.let("q rel", at - field(item, fields[0].name)), s, t)

    one = routine(k, 1.0, f"sd_{name} {name}_distance", kinds, inner)
    merge = None
    if smooth:
        three: list[tuple[str, Type]] = [("x", scalar), ("y", scalar), ("r", scalar)]
        merge = routine(k, 0.6, "smooth_min smin", three, smooth_min)

    def total(at: Expr, title: tuple[str, ...]) -> Var:
        best = k.let(title, one(at, shapes[0]))
        with k.for_("j s_id m_id", count, start=1) as j:
            other = k.let("other d_j", one(at, shapes[j]))
            joined = least(best, other) if merge is None else merge(best, other, r)
            k.assign(best, joined)
        return best

    d = total(p, ("d", "dist"))
    done = f"For p = {where}, combine the signed distances {text} of all {shapes.name} (q = p - "
    done += f"{fields[0].name}, s = {fields[1].name}" + (f", t = {fields[2].name}" if two else "")
    done += ") in order by "
    if smooth:
        done += "d, the new one being y + h * (x - y) - r * h * (1 - h) with x the old d, y the "
        done += f"next, r = {say(k, r)}, h = 0.5 + 0.5 * (y - x) / r clamped to [0, 1]."
    else:
        done += "the minimum."
    if level == 4:
        if not smooth:
            done += f" Divide it by {say(k, r)}."
        value: Expr = d if smooth else d / r
        return done + deliver(site, level, "distances sdf", value)
    eps = k.draw.value.choice((0.01, 0.02, 0.05))
    slopes: list[Expr] = []
    central = vec.size == 2 and shape.chance(0.5)
    for c in range(vec.size):
        step: Expr = make(vec, *(k.lift(eps if c == a else 0.0, scalar) for a in range(vec.size)))
        step = k.let(f"h{'xyz'[c]} step_{'xyz'[c]}", step)
        ahead = total(p + step, (f"d_{'xyz'[c]}", f"ahead_{'xyz'[c]}"))
        if central:
            behind = total(p - step, (f"b_{'xyz'[c]}", f"behind_{'xyz'[c]}"))
            slopes.append((ahead - behind) / (2.0 * eps))
        else:
            slopes.append((ahead - d) / eps)
    grad = k.let("grad slope", make(vec, *slopes))
    kind = "central" if central else "forward"
    push = shape.choice(("gradient", "project", "penalty"))
    done += f" By {kind} differences of step {eps} let g be its gradient."
    names = ("gradients", "normals")
    if push == "gradient" or not smooth:
        done += deliver(site, level, "distances sdf", d if smooth else d / r)
        done = done if smooth else done + f" (The distance is divided by {say(k, r)} before.)"
        return done + f" {put(k, site, names, grad).name} gets g."
    if push == "project":
        done += deliver(site, level, "projected surface_points", p - d * grad)
        return done.replace(" gets it", " gets p - d * g").replace(
            "It is added", "p - d * g is added"
        )
    out = site.put("penalties depths", least(d, 0.0))
    done += f" {out.name} gets min(d, 0)."
    return done + f" {put(k, site, names, fn('normalize', grad)).name} gets g / |g|."


@idiom
def signed_distance(k: KernelBuilder, level: int) -> Title:
    """Signed distances of shapes at points or on grids."""
    solid = k.draw.shape.chance(0.6)
    site = launch(k, {"list": 3, "cube": 3} if solid else {"list": 2, "grid": 4})
    vec = Vec(3 if solid else 2, k.draw.wide_float_type())
    done = (_field if level <= 3 else _scene)(k, level, site, vec)
    return Title(k.name("sdf_field eval_sdf signed_distances distance_field"), done)
