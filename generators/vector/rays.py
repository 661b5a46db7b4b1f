"""Rays and spheres: the distance to one sphere, or to the nearest of several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import constant, float_vec, helper
from generators.program.dtypes import Type, Vec
from generators.program.expr import Expr, Operand, Var, op
from generators.program.ir import FieldInit
from generators.vector.kit import over_points
from generators.vector.output import deliver


@dataclass(frozen=True)
class Hits:
    """How a ray meets a ball: hits before ``start`` do not count; by a formula or by geometry."""

    start: float
    geometric: bool

    def distance(self, b: BodyBuilder, o: Expr, d: Expr, center: Expr, radius: Expr) -> Var:
        """Distance along a ray of unit direction; below ``start`` for a miss."""
        find = self._by_geometry if self.geometric else self._by_formula
        return find(b, o, d, center, radius)

    def _by_formula(self, b: BodyBuilder, o: Expr, d: Expr, center: Expr, radius: Expr) -> Var:
        oc = b.let(("oc", "rel", "from_center"), o - center)
        along = b.let(("along", "half_b"), fn("dot", oc, d))
        disc = b.let(("disc", "discriminant"), along * along - fn("dot", oc, oc) + radius * radius)
        t = b.let(("t", "dist"), b.lift(-1.0, radius.type))
        with b.if_(disc > 0.0):
            root = b.let(("root", "sq"), fn("sqrt", disc))
            b.assign(t, -along - root)
            with b.if_(t < self.start):
                b.assign(t, -along + root)
        return t

    def _by_geometry(self, b: BodyBuilder, o: Expr, d: Expr, center: Expr, radius: Expr) -> Var:
        to_center = b.let(("to_center", "rel"), center - o)
        along = b.let(("along", "t_mid"), fn("dot", to_center, d))
        gap = b.let(("gap_sq", "miss_sq"), fn("length_sq", to_center - along * d))
        t = b.let(("t", "dist"), b.lift(-1.0, radius.type))
        with b.if_(gap < radius * radius):
            half = b.let(("half_chord", "half"), fn("sqrt", radius * radius - gap))
            b.assign(t, along - half)
            with b.if_(t < self.start):
                b.assign(t, along + half)
        return t


Place = tuple[tuple[str, ...], tuple[Var, ...]]
Ball = Callable[[Expr | None], tuple[Expr, Expr]]


@dataclass(frozen=True)
class Scene:
    """The balls of one kernel: how many, how they are declared, what their radius is."""

    vec: Vec
    ball: str
    several: bool
    as_struct: bool
    kind: str
    amount: float

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.4, 1.0) if self.several else (0.8, 1.6)

    def sized(self, k: KernelBuilder, radius: Expr) -> Expr:
        """The radius that counts."""
        if self.kind == "padded":
            return k.let(("reach", "outer"), radius + self.amount)
        if self.kind == "shrunk":
            return k.let(("reach", "inner"), self.amount * radius)
        return radius

    def declare(self, k: KernelBuilder) -> Ball:
        """Declare one ball or an array of ``m``; gives centre and radius of one of them."""
        if self.several:
            k.size("m", 3, 6)
        return self._structs(k) if self.as_struct else self._arrays(k)

    def _structs(self, k: KernelBuilder) -> Ball:
        low, high = self.bounds
        ball, vec = self.ball, self.vec
        fields = (("center", vec), ("radius", vec.scalar))
        struct = k.struct(ball.capitalize(), *fields)
        inits = [
            FieldInit("center", vec, "uniform", "-1.0", "1.0"),
            FieldInit("radius", vec.scalar, "uniform", str(low), str(high)),
        ]
        if self.several:
            items = k.array((f"{ball}s", "scene", "obstacles"), struct, "m", fields=inits)

            def one(s: Expr | None) -> tuple[Expr, Expr]:
                chosen = k.let(("item", "shape", "candidate"), items[s or 0])
                return field(chosen, "center"), self.sized(k, field(chosen, "radius"))

            return one
        item = k.scalar((ball, "target", "obstacle"), struct, fields=inits)
        return lambda _: (field(item, "center"), self.sized(k, field(item, "radius")))

    def _arrays(self, k: KernelBuilder) -> Ball:
        low, high = self.bounds
        ball, vec = self.ball, self.vec
        names = ("centers", f"{ball}_centers") if self.several else ("center", f"{ball}_center")
        radius_names = ("radii", f"{ball}_radii") if self.several else ("radius", f"{ball}_radius")
        if self.several:
            centers = k.array(names, vec, "m", low=-1.0, high=1.0)
        else:
            centers = k.scalar(names, vec, -1.0, 1.0)
        if self.kind == "literal":
            size = k.lift(self.amount, vec.scalar)
            return lambda s: (centers if s is None else centers[s], size)
        if self.several:
            radii = k.array(radius_names, vec.scalar, "m", low=low, high=high)
            return lambda s: (
                centers[s or 0],
                self.sized(k, k.let(("radius", "size"), radii[s or 0])),
            )
        radius = k.scalar(radius_names, vec.scalar, low, high)
        return lambda _: (centers, self.sized(k, radius))

    @property
    def text(self) -> str:
        if self.kind == "literal":
            return f" of radius {self.amount}"
        if self.kind == "padded":
            return f", its radius enlarged by {self.amount}"
        return f", its radius times {self.amount}" if self.kind == "shrunk" else ""


def _scene(k: KernelBuilder, level: int) -> tuple[Scene, Hits]:
    shape = k.draw.shape
    vec = float_vec(k, {3: 4, 2: 2})
    several = level >= 4 or (level == 3 and shape.chance(0.4))
    as_struct = shape.chance(0.35 if level == 1 else 0.5)
    plain = ("padded", "shrunk") if as_struct else ("padded", "shrunk", "literal", "literal")
    kind = shape.choice(plain)
    low, high = (0.4, 0.9) if several else (0.8, 1.6)
    amount = constant(k, *{"padded": (0.02, 0.4), "shrunk": (0.75, 0.99)}.get(kind, (low, high)))
    start = constant(k, 0.01, 0.3) if shape.chance(0.5) else 0.0
    scene = Scene(vec, "sphere" if vec.size == 3 else "circle", several, as_struct, kind, amount)
    return scene, Hits(start, geometric=shape.chance(0.4))


@idiom
def ray_sphere(k: KernelBuilder, level: int) -> Title:
    """Distance along rays to one sphere, or to the nearest of several."""
    shape = k.draw.shape
    scene, hits = _scene(k, level)
    vec, ball, several = scene.vec, scene.ball, scene.several
    site = over_points(k, level)
    n, i = site.dims, site.at
    origins = k.array(("origins", "ray_origins", "starts"), vec, n, low=-2.0, high=2.0)
    dirs = k.array(("directions", "ray_dirs", "dirs"), vec, n, init="unit")
    source = scene.declare(k)
    o, d = k.let(("o", "origin", "start"), origins[i]), k.let(("d", "ray", "u"), dirs[i])
    called = ""
    if level >= 2 and shape.chance(0.5):
        kinds: list[tuple[str, Type]] = [("origin", vec), ("direction", vec), ("center", vec)]
        kinds.append(("radius", vec.scalar))
        doc = f"Distance along the ray to the {ball}, negative for a miss."
        names = (f"intersect_{ball}", f"hit_{ball}", f"ray_{ball}")
        called = helper(k, names, kinds, hits.distance, doc)

    def distance(s: Expr | None) -> Var:
        if not called:
            return hits.distance(k, o, d, *source(s))
        return k.let(("t", "t_first", "dist"), k.call(called, o, d, *source(s)))

    done = (
        f"Distance along each ray to the {ball}{scene.text}: the near intersection, or the far one "
        f"where the near one is {_before(hits.start)}; -1 where the line misses."
    )
    far: Operand = k.draw.value.choice((5.0, 8.0, 10.0, 12.0, 20.0))
    if several:
        count = k.trip_count((f"{ball}_count", f"num_{ball}s"), "m")
        t = k.let(("nearest", "best", "t_min"), k.lift(far, vec.scalar))
        with k.for_(("s", "j", "b"), count) as s:
            found = distance(s)
            with k.if_(op("and", found > hits.start, found < t)):
                k.assign(t, found)
        done = (
            f"Distance along each ray to the nearest intersection with any {ball}{scene.text}, "
            f"counting only those beyond {hits.start}; {far} if there is none."
        )
    else:
        t = distance(None)
    done += deliver(k, site, level, ("distances", "hits", "t_hit"), t)
    if level >= 2 and shape.chance(0.6):
        done += _hit_points(k, (n, i), o + t * d, o, t < far if several else t > 0.0)
    if level >= 3:
        done += _seen(k, level, (n, i), scene, (o, d, t))
    names = (f"ray_{ball}_distance", f"trace_{ball}s", f"cast_rays_at_{ball}")
    return Title(k.name(*names), done)


def _seen(
    k: KernelBuilder, level: int, place: Place, scene: Scene, ray: tuple[Var, Var, Var]
) -> str:
    """What a renderer makes of the distance, in one or two more outputs."""
    (size, i), (o, d, t) = place, ray
    forms = ("light", "fog", "depth", "spread", "lambert", "attenuation")
    done = ""
    for form in k.draw.shape.sample(forms, 2 if level >= 5 else 1):
        value, text = _measure(k, form, scene, (o, d, t))
        names = (f"{form}_out", f"{form}_image", f"{form}_values")
        out = k.out(names, value.type, size)
        k.store(out, i, value)
        done += f" {out.name} gets {text}, t being the distance."
    return done


def _measure(
    k: KernelBuilder, form: str, scene: Scene, ray: tuple[Var, Var, Var]
) -> tuple[Expr, str]:
    o, d, t = ray
    scalar = scene.vec.scalar
    if form in ("light", "lambert"):
        light = k.scalar(("light", "sun_dir", "view"), scene.vec, init="unit")
        facing = fn("dot", d, light)
        if form == "lambert":
            return fn("max", facing, 0.0) / (1.0 + t * t), (
                f"max(dot(direction, {light.name}), 0) / (1 + t^2)"
            )
        return facing / (1.0 + t * t), f"dot(direction, {light.name}) / (1 + t^2)"
    if form == "spread":
        return fn("length_sq", o + t * d), "the squared length of origin + t * direction"
    rate = k.scalar((f"{form}_rate", "density", "sigma"), scalar, 0.05, 0.3)
    if form == "fog":
        return 1.0 - fn("exp", -rate * (t + 1.0)), f"1 - exp(-{rate.name} * (t + 1))"
    if form == "depth":
        return 1.0 / (1.0 + rate * (t + 1.0)), f"1 / (1 + {rate.name} * (t + 1))"
    return fn("exp", -rate * t) * d, f"exp(-{rate.name} * t) * direction"


def _before(start: float) -> str:
    return f"below {start}" if start else "negative"


def _hit_points(k: KernelBuilder, place: Place, point: Expr, origin: Expr, hit: Expr) -> str:
    """The point that each ray hits, as one more output."""
    points = k.out(("hit_points", "contacts", "landing"), point.type, place[0])
    with k.if_(hit):
        k.store(points, place[1], point)
    with k.else_():
        k.store(points, place[1], origin)
    return f" {points.name} gets the point there, or the ray's origin for no hit ahead."
