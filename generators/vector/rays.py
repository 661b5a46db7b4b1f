"""Rays against spheres, planes, discs, triangles and boxes; the nearest of several."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import dot, exp, least, most, sqrt
from generators.kit.naming import BY_LEVEL, held, local, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import plural, say
from generators.program.dtypes import INT32, Type, Vec, scalar_of
from generators.program.expr import Expr, Var, op
from generators.vector.shelf import BOX_ENDS
from generators.vector.tables import Table

Find = Callable[..., Expr]


def _by_formula(b: BodyBuilder, o: Expr, d: Expr, ball: tuple[Expr, Expr], start: float) -> Expr:
    center, radius = ball
    oc = b.let("oc rel from_center", o - center)
    along = b.let("along half_b", dot(oc, d))
    disc = b.let("disc discriminant", along * along - dot(oc, oc) + radius * radius)
    t = b.let("t dist", b.lift(-1.0, radius.type))
    with b.if_(disc > 0.0):
        root = b.let("root sq", sqrt(disc))
        b.assign(t, -along - root)
        with b.if_(t < start):
            b.assign(t, -along + root)
            with b.if_(t < start):
                b.assign(t, -1.0)
    return t


def _by_geometry(b: BodyBuilder, o: Expr, d: Expr, ball: tuple[Expr, Expr], start: float) -> Expr:
    center, radius = ball
    to_center = b.let("to_center rel", center - o)
    along = b.let("along t_mid", dot(to_center, d))
    gap = b.let("gap_sq miss_sq", fn("length_sq", to_center - along * d))
    t = b.let("t dist", b.lift(-1.0, radius.type))
    with b.if_(gap < radius * radius):
        half = b.let("half_chord half", sqrt(radius * radius - gap))
        b.assign(t, along - half)
        with b.if_(t < start):
            b.assign(t, along + half)
            with b.if_(t < start):
                b.assign(t, -1.0)
    return t


class Balls:
    """The ball of a kernel, or several: how they are declared, and what their radius is."""

    def __init__(self, k: KernelBuilder, level: int, site: Site, vec: Vec) -> None:
        shape = k.draw.shape
        self.k, self.name = k, "sphere" if vec.size == 3 else "circle"
        self.several = level >= 4 or (level == 3 and shape.chance(0.4))
        low, high = (0.4, 1.0) if self.several else (0.8, 1.6)
        parts = {"center": Part("center", vec, -1.0, 1.0)}
        parts["radius"] = Part("radius", vec.scalar, low, high)
        title, struct = self.name.capitalize(), 0.35 if level == 1 else 0.5
        self.one = self.table = None
        if self.several:
            self.table = Table(k, title, parts, struct, (3, 6))
        else:
            self.one = record(site, title, parts, struct, shared=shape.chance(0.9))
        self.scalar = vec.scalar

    @property
    def text(self) -> str:
        return f"{self.name} (centre {self._said('center')}, radius {self._said('radius')})"

    def parts(self, which: Expr | None) -> list[Expr]:
        """Centre and radius of the one, or of that with an index."""
        if self.table is not None and which is not None:
            return self.table.at(which)
        assert self.one is not None
        return list(self.one.values.values())

    def _said(self, key: str) -> str:
        if self.table is not None:
            return self.table.said(key)
        assert self.one is not None
        return self.one.say(key)


def _first_ball(
    k: KernelBuilder, balls: Balls, hit_of: Find, ahead: str
) -> tuple[Var, Var | None, str]:
    """The distance to the one ball, or to the nearest of several and its index; and the text."""
    if balls.one is not None:
        t = local(k, "t t_first dist", hit_of(*balls.one.values.values()))
        return t, None, f"to the {balls.text}: the nearest intersection {ahead}, or -1 for a miss."
    far = k.draw.value.choice((100, 1000, 10000))
    t = k.let("nearest best t_min", k.lift(float(far), balls.scalar))
    which = k.let("hit_id closest nearest_id", k.lift(-1, INT32))
    assert balls.table is not None
    with balls.table.each("s j b") as (j, parts):
        hit = local(k, "t t_hit dist", hit_of(*parts))
        with k.if_(op("and", hit > 0.0, hit < t)):
            k.assign(t, hit)
            k.assign(which, j)
    told = f"to the nearest intersection with any {balls.text}, counting only those {ahead}; "
    return t, which, f"{told}{far} if there is none."


@idiom(depth=4)
def ray_sphere(k: KernelBuilder, level: int) -> Title:
    """Distance along rays to one sphere, or to the nearest of several."""
    shape = k.draw.shape
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 4, 2: 2}), k.draw.wide_float_type())
    balls = Balls(k, level, site, vec)
    ball, start = balls.name, k.draw.value.choice((1.0e-3, 1.0e-4)) if shape.chance(0.4) else 0.0
    o = k.let("o origin start", site.read("origins ray_origins starts", vec, -2.0, 2.0))
    d = k.let("d ray u", site.read("directions ray_dirs dirs", vec, init="unit"))
    find = _by_geometry if shape.chance(0.4) else _by_formula
    called = routine(
        k,
        0.5 if level >= 2 else 0.0,
        f"intersect_{ball} hit_{ball} ray_{ball}",
        {"origin": vec, "direction": vec, "center": vec, "radius": vec.scalar},
        lambda b, x, u, c, r: find(b, x, u, (c, r), start),
        f"Distance along the ray to the {ball}, negative for a miss.",
    )
    ahead = f"at least {start} along the ray" if start else "ahead of the origin"
    t, which, told = _first_ball(k, balls, partial(called, o, d), ahead)
    done = f"Find the distance along each ray from {say(k, o)} in the unit direction {say(k, d)} "
    done += told
    done += f" Store it in {site.put('distances hit_dist t_hit', t).name}."
    if which is not None:
        done += f" {site.put('hit_ids nearest_ids', which).name} gets its index, or -1."
    if level >= 2 and shape.chance(0.6 if level == 2 else 1.0):
        done += _struck(site, level, balls, (o, d, t), which)
    return Title(k.name(f"ray_{ball}_distance trace_{ball}s cast_rays_at_{ball}s"), done)


_STRUCK = {
    "point": ("the point hit",),
    "normal": ("the outward unit normal at the point hit",),
    "both": ("the point hit", "the outward unit normal at the point hit"),
    "lambert": ("max(dot(n, {light}), 0), n the outward unit normal at the point hit",),
}
"""What is stored of the point that a ray hits."""


def _struck(
    site: Site, level: int, balls: Balls, ray: tuple[Var, Var, Var], which: Var | None
) -> str:
    """The point that each ray hits, the normal there or light on it, as more outputs."""
    k, (o, d, t) = site.k, ray
    form = k.draw.shape.choice(("point", "normal", "both") if level < 4 else ("both", "lambert"))
    kinds: list[tuple[str, Type]] = []
    if form in ("point", "both"):
        kinds.append(("hit_points contacts", o.type))
    if form in ("normal", "both"):
        kinds.append(("normals hit_normals", o.type))
    light = k.scalar("light_dir sun_dir", o.type, init="unit") if form == "lambert" else None
    if light is not None:
        kinds.append(("shade lambert", scalar_of(o.type)))
    outs = [site.out(names, kind) for names, kind in kinds]
    with k.if_(t > 0.0 if which is None else which >= 0):
        point = k.let("p hit", o + t * d)
        values: list[Expr] = [point] if form in ("point", "both") else []
        if form != "point":
            center, radius = balls.parts(which)
            normal: Expr = (point - center) / radius
            if light is not None:
                normal = most(dot(k.let("n normal", normal), light), 0.0)
            values.append(normal)
        for out, value in zip(outs, values, strict=True):
            k.store(out, site.at, value)
    with k.else_():
        for out, (_, kind) in zip(outs, kinds, strict=True):
            k.store(out, site.at, zero(kind))
    texts = (text.format(light=light and light.name) for text in _STRUCK[form])
    told = (f" {out.name} gets {text}" for out, text in zip(outs, texts, strict=True))
    return "".join(f"{text}, 0 for a miss." for text in told)


Hit = Callable[..., Expr]


def _flat(miss: float, culled: bool) -> Hit:
    """The test of a plane, or of a disc of some radius.

    A ray that is parallel to it has an infinite distance, which the disc's radius or a limit of
    the distance rules out.
    """

    def test(b: BodyBuilder, o: Expr, d: Expr, a: Expr, n: Expr, *radius: Expr) -> Expr:
        n = held(b, "normal nrm", n)
        denom = b.let("denom d_dot_n", dot(d, n))
        t = b.let("t dist", dot(a - o, n) / denom)
        hit = t >= 0.0
        if culled:
            hit = op("and", denom < 0.0, hit)
        if radius:
            hit = op("and", hit, fn("length", o + t * d - a) <= radius[0])
        return fn("where", hit, t, miss)

    return test


def _triangle(miss: float, culled: bool) -> Hit:
    def test(b: BodyBuilder, o: Expr, d: Expr, corner: Expr, second: Expr, third: Expr) -> Expr:
        corner = held(b, "v0 p0", corner)
        e1, e2 = b.let("e1 edge1 ab", second - corner), b.let("e2 edge2 ac", third - corner)
        p = b.let("pvec h p", fn("cross", d, e2))
        det = b.let("det a_det", dot(e1, p))
        hit_t = b.let("t_hit t", b.lift(miss, det.type))
        with b.if_(det > _THIN):
            s = b.let("tvec s", o - corner)
            u = b.let("u bary_u", dot(s, p) / det)
            q = b.let("qvec q", fn("cross", s, e1))
            v = b.let("v bary_v", dot(d, q) / det)
            t = b.let("dist t_tri", dot(e2, q) / det)
            inside = op("and", op("and", u > 0.0, v > 0.0), op("and", u + v < 1.0, t > 0.0))
            with b.if_(inside):
                b.assign(hit_t, t)
        return hit_t

    return test


def _box(miss: float, culled: bool) -> Hit:
    def test(b: BodyBuilder, o: Expr, d: Expr, lo: Expr, hi: Expr) -> Expr:
        assert isinstance(o.type, Vec)
        t1 = b.let("t_lo t0", fn("cw_div", lo - o, d))
        t2 = b.let("t_hi t1", fn("cw_div", hi - o, d))
        axes = range(o.type.size)
        enter = b.let("enter t_near", most(most(*(least(t1[c], t2[c]) for c in axes)), 0.0))
        leave = b.let("leave t_far", least(*(most(t1[c], t2[c]) for c in axes)))
        return fn("where", leave < enter, miss, enter)

    return test


_THIN = 1.0e-6
"""Least determinant of a triangle that a ray can hit."""

_TESTS = {"plane": _flat, "disc": _flat, "triangle": _triangle, "box": _box}
_TEXTS = {
    "plane": "t = dot(a - o, n) / dot(d, n), a miss where t < 0 (behind the origin)",
    "disc": "t = dot(a - o, n) / dot(d, n), a miss where t < 0 or |o + t * d - a| > r",
    "triangle": "the distance t is that of the front face of the triangle a, b, c by Moeller and "
    f"Trumbore's test, a miss where the determinant is at most {_THIN}",
    "box": "the slab test of the box from lo to hi gives where the ray enters it, at least 0",
}
_TASKS = {
    "plane": "Intersect rays with a plane",
    "disc": "Intersect rays with a disc",
    "triangle": "Intersect rays with a triangle",
    "box": "Intersect rays with an axis-aligned box",
}


_CORNERS = ((-4.0, -1.5), (1.0, 4.0), (-2.0, 3.0))


class Target:
    """A kind of shape that rays are tested against: its parts by letter, its test and its text."""

    def __init__(self, k: KernelBuilder, form: str, vec: Vec, several: bool) -> None:
        self.form, self.vec = form, vec
        self.culled = k.draw.shape.chance(0.5)
        flat = {
            "a": Part("anchor center point", vec, -0.5, 0.5),
            "n": Part("normal plane_normal", vec, init="unit"),
        }
        corners = k.draw.word.choice(("v0 v1 v2", "p0 p1 p2", "corner_a corner_b corner_c"))
        pairs = k.draw.word.choice(BOX_ENDS)
        (lower, upper), (lowers, uppers) = (pair.split() for pair in pairs)
        wide = 1.5 if several else 0.7
        self.parts = {
            "plane": flat,
            "disc": flat | {"r": Part("radius disc_radius", vec.scalar, wide, 2.0 * wide)},
            "triangle": {
                key: Part(name, vec, low, high, many=name)
                for key, name, (low, high) in zip("abc", corners.split(), _CORNERS, strict=True)
            },
            "box": {
                "lo": Part(lower, vec, -1.2, -0.7, many=lowers),
                "hi": Part(upper, vec, 0.7, 1.2, many=uppers),
            },
        }[form]

    def test(self, k: KernelBuilder, chance: float, miss: float) -> Hit:
        """The distance of a ray and a shape, in place or in a helper."""
        kinds = {"o": self.vec, "d": self.vec} | {key: p.type for key, p in self.parts.items()}
        names = f"ray_{self.form} intersect_{self.form} hit_{self.form}"
        return routine(k, chance, names, kinds, _TESTS[self.form](miss, self.culled))

    @property
    def text(self) -> str:
        if "n" not in self.parts:
            return _TEXTS[self.form]
        return _TEXTS[self.form] + (
            ", or where dot(d, n) >= 0 (a back face)" if self.culled else ""
        )


def _ray(k: KernelBuilder, site: Site, vec: Vec) -> tuple[Var, Var, str]:
    """Origin and direction of the thread's ray, and how to say it."""
    parts = {
        "o": Part("origin start ray_origin", vec, -1.5, 1.5),
        "d": Part("direction dir ray_dir", vec, init="unit"),
    }
    r = record(site, "Ray Beam", parts, 0.5)
    text = f"With the ray o + t * d, o = {r.say('o')} and the unit vector d = {r.say('d')}"
    return k.let("o ro", r["o"]), k.let("d rd", r["d"]), text


def _single(k: KernelBuilder, level: int, site: Site, vec: Vec, form: str) -> str:
    """The distance of one shape, which all rays share or not."""
    shape, target = k.draw.shape, Target(k, form, vec, several=False)
    o, d, done = _ray(k, site, vec)
    miss = -1.0
    titles = form.capitalize()
    pieces = record(site, titles, target.parts, 0.4, shared=shape.chance(0.85))
    listed = "".join(
        f", {key} = {pieces.say(key)}" for key in target.parts if pieces.say(key) != key
    )
    test = target.test(k, BY_LEVEL[level], miss)
    t = local(k, "t hit dist", test(o, d, *pieces.values.values()))
    done = f"{_TASKS[form]}. {done}{listed}: {target.text}. Take t, or -1 for a miss."
    if form == "plane" or (level >= 2 and form == "box" and shape.chance(0.5)):
        reach = k.scalar("max_dist t_max", vec.scalar, 0.5, 1.1)
        t = k.let("t_kept t_hit", fn("where", t > reach, miss, t))
        done += f" A hit beyond {reach.name} is a miss too."
    hits = level if form in ("plane", "box") else 1
    done += deliver(site, hits, "distances hit_t ray_t", t)
    if level >= 3 and form in ("plane", "box"):
        point = fn("where", t < 0.0, zero(vec), o + t * d)
        out = site.put("points hit_points", point)
        done += f" {out.name} gets o + t * d, or 0 for a miss."
    return done


def _nearest(k: KernelBuilder, level: int, site: Site, vec: Vec, form: str) -> str:
    """The nearest of several shapes, and at level 5 what is seen there."""
    shape, scalar = k.draw.shape, vec.scalar
    target, shade = Target(k, form, vec, several=True), level >= 5
    o, d, done = _ray(k, site, vec)
    glow = {"glow": Part("albedo reflectance emission", scalar, 0.2, 1.0)} if shade else {}
    shapes = Table(k, form.capitalize(), target.parts | glow, 0.85)
    far = k.draw.value.choice((20.0, 50.0, 100.0))
    best = k.let("best t_min closest", k.lift(far, scalar))
    which = k.let("which hit_id", k.lift(-1, INT32)) if shade or shape.chance(0.7) else None
    test = target.test(k, 0.8, -1.0)
    light = k.let("light color", zero(scalar)) if shade else None
    with shapes.each("j s shape_id") as (j, parts):
        t = k.let("t cand", test(o, d, *parts[: len(target.parts)]))
        with k.if_(op("and", t > 0.0, t < best)):
            k.assign(best, t)
            if which is not None:
                k.assign(which, j)
            if light is not None:
                k.assign(light, parts[-1])
    listed = ", ".join(f"{key} = {shapes.said(key)}" for key in target.parts)
    done += f", over all j with {listed}: {target.text}. Take the smallest t > 0 ({far} if all "
    done += "miss)." + deliver(site, level, "depths hit_t distances", best)
    if which is not None:
        done += f" {site.put('ids hit_ids', which).name} gets its index, or -1."
    if light is not None:
        fog = given(site, "fog falloff absorption", scalar, 0.05, 0.4)
        fading = shape.choice(_FADED.cards)
        value = fading.of(k, {"light": light, "fog": fog, "t": best})
        out = site.put("radiance image shade", value)
        text = fading.said({"light": "e", "fog": say(k, fog), "t": "t"})
        done += f" {out.name} gets {text}, e being its {shapes.said('glow')}, 0 if all miss."
    return done


_FADED = Shelf()
_FADED.add("faded", "shade", lambda light, fog, t: light * exp(-fog * t))
_FADED.add("over_distance", "shade", lambda light, fog, t: light / (1.0 + fog * t))
_FADED.add("over_square", "shade", lambda light, fog, t: light / (1.0 + fog * t * t))


@idiom(depth=3)
def ray_shapes(k: KernelBuilder, level: int) -> Title:
    """Rays against planes, discs, triangles and boxes."""
    shape = k.draw.shape
    site = launch(k, list=3, grid=2 if level < 3 else 4)
    scalar = k.draw.wide_float_type()
    form = shape.choice(("plane", "box") if level == 1 else sorted(_TEXTS))
    flat = form == "box" and shape.chance(0.4)
    vec = Vec(2 if flat else 3, scalar)
    done = (_single if level <= 3 else _nearest)(k, level, site, vec, form)
    many = plural(form)
    return Title(k.name(f"ray_{form}_hits intersect_{many} trace_{many}"), done)
