"""Rays and spheres: the distance to one sphere, or to the nearest of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, most, sqrt
from generators.kit.masks import Test
from generators.kit.naming import local, routine
from generators.kit.outputs import choose, deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import constant
from generators.program.dtypes import Vec, scalar_of
from generators.program.expr import Expr, op
from generators.vector.shelf import VectorShelf, further
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
    return t


class Balls:
    """The ball of a kernel, or several: how they are declared, and what their radius is."""

    def __init__(self, k: KernelBuilder, level: int, site: Site, vec: Vec) -> None:
        shape = k.draw.shape
        self.k, self.name = k, "sphere" if vec.size == 3 else "circle"
        self.several = level >= 4 or (level == 3 and shape.chance(0.4))
        self.kind = shape.choice(("padded", "shrunk", "literal"))
        low, high = (0.4, 1.0) if self.several else (0.8, 1.6)
        ranges = {"padded": (0.02, 0.4), "shrunk": (0.75, 0.99), "literal": (low, high)}
        self.amount = constant(k, *ranges[self.kind])
        parts = {"center": Part("center middle", vec, -1.0, 1.0)}
        if self.kind != "literal":
            parts["radius"] = Part("radius size", vec.scalar, low, high)
        title, struct = self.name.capitalize(), 0.35 if level == 1 else 0.5
        self.one = self.table = None
        if self.several:
            self.table = Table(k, f"{title} Ball", parts, struct, (3, 6))
        else:
            self.one = record(site, f"{title} Ball", parts, struct, shared=shape.chance(0.75))
        self.scalar = vec.scalar

    def sized(self, values: Sequence[Expr]) -> tuple[Expr, Expr]:
        """Centre and radius that count, of a ball with these parts."""
        if self.kind == "literal":
            return values[0], self.k.lift(self.amount, self.scalar)
        if self.kind == "padded":
            return values[0], self.k.let("reach outer", values[1] + self.amount)
        return values[0], self.k.let("reach inner", self.amount * values[1])

    @property
    def text(self) -> str:
        changed = f"enlarged by {self.amount}" if self.kind == "padded" else f"times {self.amount}"
        own = f" of radius {self.amount}" if self.kind == "literal" else f", its radius {changed}"
        return f"{self.name}{own}"


@idiom
def ray_sphere(k: KernelBuilder, level: int) -> Title:
    """Distance along rays to one sphere, or to the nearest of several."""
    shape = k.draw.shape
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 4, 2: 2}), k.draw.wide_float_type())
    balls = Balls(k, level, site, vec)
    ball, start = balls.name, constant(k, 0.01, 0.3) if shape.chance(0.5) else 0.0
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
    far = k.draw.value.choice((5.0, 8.0, 10.0, 12.0, 20.0))
    if balls.one is not None:
        found = called(o, d, *balls.sized(list(balls.one.values.values())))
        t = local(k, "t t_first dist", found)
        before = f"below {start}" if start else "negative"
        done = f"to the {balls.text}, about {balls.one.say('center')}: the near intersection, or "
        done += f"the far one where the near one is {before}; -1 where the line misses."
    else:
        t = k.let("nearest best t_min", k.lift(far, vec.scalar))
        assert balls.table is not None
        with balls.table.each("s j b") as (_, parts):
            hit = local(k, "t t_first dist", called(o, d, *balls.sized(parts)))
            with k.if_(op("and", hit > start, hit < t)):
                k.assign(t, hit)
        done = f"to the nearest intersection with any {balls.text}, counting only those beyond "
        done += f"{start}; {far} if there is none."
    done = f"Distance along each ray {done}" + deliver(site, level, "distances hits t_hit", t)
    if level >= 2 and shape.chance(0.6):
        points = site.out("hit_points contacts landing", vec)
        ahead = Test(t < far if balls.several else t > 0.0, "", "")
        choose(site, points, ahead, o + t * d, o)
        done += f" {points.name} gets the point there, or the ray's origin for no hit ahead."
    if level >= 3:
        done += _seen(site, level, {"o": o, "d": d, "t": t})
    return Title(k.name(f"ray_{ball}_distance trace_{ball}s cast_rays_at_{ball}"), done)


_SEEN = VectorShelf(scalars="t rate")
_SEEN.add("light", "light_out light_image", lambda d, light, t: dot(d, light) / (1.0 + t * t))
_SEEN.add("fog", "fog_out fog_values", lambda t, rate: 1.0 - exp(-rate * (t + 1.0)))
_SEEN.add("depth", "depth_out depth_image", lambda t, rate: 1.0 / (1.0 + rate * (t + 1.0)))
_SEEN.add("spread", "spread_out spread_values", lambda o, d, t: fn("length_sq", o + t * d))
_SEEN.add("fading", "attenuation_out faded", lambda d, t, rate: exp(-rate * t) * d)


@_SEEN.formula("lambert_out lambert_image")
def lambert(d: Expr, light: Expr, t: Expr) -> Expr:
    return most(dot(d, light), 0.0) / (1.0 + t * t)


def _seen(site: Site, level: int, ray: dict[str, Expr]) -> str:
    """What a renderer makes of the distance, in one or two more outputs."""
    vec = ray["o"].type
    once = {"shared": 1}
    parts = {
        "light": Part("light sun_dir view", vec, init="unit", forms=once),
        "rate": Part("fade_rate density sigma", scalar_of(vec), 0.05, 0.3, forms=once),
    }
    names = {"o": "origin", "d": "direction"}
    count = 2 if level >= 5 else 1
    return further(site, _SEEN.cards, count, ray, parts, names, ", t being the distance")
