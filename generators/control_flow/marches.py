"""Rays marched through distance fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    STOP,
    Also,
    branch,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.naming import routine
from generators.kit.sites import Site, launch
from generators.kit.sources import zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Scene:
    """A signed distance, in code and in words, of a point p and the numbers of its shapes."""

    text: str
    distance: Callable[..., Expr]
    numbers: dict[str, tuple[str, float, float]]
    inside: bool = False
    """Whether rays begin inside, so that they all meet it."""
    measure: str = "the distance to the surface"
    """What the code gives, in words."""


def _length(*parts: Expr) -> Expr:
    """The length of a vector of these components."""
    scalar = parts[0].type
    assert isinstance(scalar, Scalar)
    return fn("length", make(Vec(len(parts), scalar), *parts))


def _farthest(p: Expr) -> Expr:
    return most(abs(p[0]), abs(p[1]), abs(p[2]))


_SCENES = {
    "sphere": Scene(
        "a sphere of {radius} about the origin",
        lambda b, p, radius: fn("length", p) - radius,
        {"radius": ("radius sphere_radius", 0.8, 1.4)},
    ),
    "box": Scene(
        "a cube about the origin of half edge {half}",
        lambda b, p, half: _farthest(p) - half,
        {"half": ("half_extent half_edge", 0.6, 1.2)},
        measure="max(|x|, |y|, |z|) - {half} (at most the distance to the surface)",
    ),
    "torus": Scene(
        "a torus about the y axis of the radii {major} and {minor}",
        lambda b, p, major, minor: _length(_length(p[0], p[2]) - major, p[1]) - minor,
        {"major": ("major_radius ring_radius", 1.0, 1.5), "minor": ("minor_radius tube", 0.4, 0.7)},
    ),
    "sphere_on_floor": Scene(
        "a sphere of {radius} about the origin and the floor at height {floor}",
        lambda b, p, radius, floor: least(fn("length", p) - radius, p[1] - floor),
        {
            "radius": ("radius sphere_radius", 0.6, 1.0),
            "floor": ("floor_y ground_height", -2.4, -2.1),
        },
    ),
    "pillar": Scene(
        "an upright cylinder of {radius} about the y axis",
        lambda b, p, radius: _length(p[0], p[2]) - radius,
        {"radius": ("radius pillar_radius", 0.5, 1.0)},
    ),
    "spheres": Scene(
        "two spheres of {radius} with centres at x = -{offset} and x = {offset} on the x axis",
        lambda b, p, radius, offset: _length(abs(p[0]) - offset, p[1], p[2]) - radius,
        {"radius": ("radius sphere_radius", 0.6, 1.0), "offset": ("offset half_gap", 1.0, 1.4)},
    ),
    "tube": Scene(
        "the inside of a pipe of {radius} along the y axis",
        lambda b, p, radius: radius - _length(p[0], p[2]),
        {"radius": ("radius pipe_radius", 3.0, 4.0)},
        inside=True,
    ),
    "room": Scene(
        "the inside of a cubic room of half size {half}",
        lambda b, p, half: half - _farthest(p),
        {"half": ("half_size room_half", 3.0, 4.0)},
        inside=True,
    ),
}


_UNSHADED = frozenset({"box", "room", "sphere_on_floor", "spheres", "pillar", "tube"})
"""Scenes with edges, at which a normal jumps, and those whose normals have a constant part."""


def _distance(k: KernelBuilder, form: str, type_: Scalar, chance: float) -> Callable[..., Expr]:
    """The distance of a scene, as a helper function with that chance."""
    scene = _SCENES[form]
    params: dict[str, Type] = {"p": Vec(3, type_), **dict.fromkeys(scene.numbers, type_)}
    names = f"{form}_sdf scene_distance scene_sdf"
    return routine(k, chance, names, params, scene.distance)


def _kept(s: Site, out: Var, t: Var, far: Var) -> str:
    """Store how far a ray came, as it is or cut off; in words."""
    clamped = s.k.draw.shape.chance(0.5)
    s.k.store(out, s.at, least(t, far) if clamped else t)
    return f" {out.name} gets t{f', {far.name} at most' * clamped}."


def _marched(
    k: KernelBuilder,
    shown: tuple[Scene, dict[str, Var]],
    ray: tuple[Expr, Expr, Expr, Expr],
    relax: Var | None,
) -> str:
    """What is marched, from where and by how much, in words."""
    origin, direction, begin, steps = (say(k, part) for part in ray)
    scene, numbers = shown
    called = {n: v.name for n, v in numbers.items()}
    where, measure = scene.text.format(**called), scene.measure.format(**called)
    done = f"Sphere tracing of {where}: march each ray o + t * d, with o of {origin} and the unit "
    done += f"vector d of {direction}, from t = {begin} on in at most {steps} steps, each by "
    share = "" if relax is None else f"{relax.name} times "
    return f"{done}{share}{measure}, until "


@idiom
@with_struct
def sphere_tracing(k: KernelBuilder, level: int) -> Title:
    """Rays marched through a distance field until they are near a surface or have gone too far."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    scene = _SCENES[form := shape.choice(sorted(_SCENES))]
    s = launch(k, {"list": 3, "grid": 1}, indices="i ray tid")
    pair = k.draw.word.choice((("origins", "directions"), ("ray_origins", "ray_dirs")))
    origin = s.read(pair[0], Vec(3, type_), -2.0, 2.0)
    direction = s.read(pair[1], Vec(3, type_), init="unit")
    numbers = {
        key: k.scalar(names, type_, low, high) for key, (names, low, high) in scene.numbers.items()
    }
    stop = k.scalar("hit_eps hit_distance", type_, 0.01, 0.05)
    far = k.scalar("max_dist t_max", type_, *((3.0, 4.0) if scene.inside else (2.5, 4.0)))
    steps = k.lift(k.draw.value.choice((32, 48, 64, 96, 128)), INT32)
    begin = k.scalar("t_min near", type_, 0.01, 0.1) if shape.chance(0.3) else zero(type_)
    relax = k.scalar("relaxation step_scale", type_, 0.8, 0.95) if shape.chance(0.3) else None
    out = s.out("depth travelled t_hit", type_)
    used = Also(s, 0.4 if level >= 2 else 0.0, "steps_used iterations")
    hit = Also(s, 0.6 if not scene.inside else 0.0, "hit_mask is_hit")
    shades = level >= 3 and form not in _UNSHADED and shape.chance(0.25 * (level - 2))
    normals = s.out("normals surface_normals", Vec(3, type_)) if shades else None
    done = _marched(k, (scene, numbers), (origin, direction, begin, steps), relax)
    done += f"that is below {stop.name} or t has passed {far.name}."
    o, d = k.let("o ro", origin), k.let("d rd", direction)
    made = _distance(k, form, type_, 1.0 if shades else (0.0, 0.4, 0.7, 0.8, 0.9)[level - 1])
    t = k.let("t travel", begin)
    hit.start("found was_hit")
    used.start("used count")
    with k.for_("it step", steps):
        h = k.let("h dist", made(k.let("p pos", o + t * d), *numbers.values()))
        branch(k, (h < stop, (hit.value, 1), STOP))
        k.augment(t, "add", relax * h if relax is not None else h)
        used.add()
        branch(k, (t > far, STOP))
    done += _kept(s, out, t, far)
    if normals is not None:
        done += f" {_normal(s, made, numbers, (o, d, t), normals, type_)}"
    done += used.told("the number of full steps")
    done += hit.told(f"1 where the distance fell below {stop.name}, else 0")
    return Title(k.name("sphere_trace march_rays raymarch"), done)


def _normal(
    s: Site,
    made: Callable[..., Expr],
    numbers: dict[str, Var],
    ray: tuple[Var, Var, Var],
    normals: Var,
    type_: Scalar,
) -> str:
    """The gradient of the distance where a ray ended, by central differences; in words."""
    k, (o, d, t) = s.k, ray
    delta = k.scalar("normal_eps delta", type_, 0.02, 0.05)
    at = k.let("q end_pos", o + t * d)
    vec, parts = Vec(3, type_), []
    nothing = k.lift(0.0, type_)
    for axis, name in enumerate(("gx", "gy", "gz")):
        offset = make(vec, *(delta if axis == n else nothing for n in range(3)))
        rise = made(at + offset, *numbers.values()) - made(at - offset, *numbers.values())
        parts.append(k.let(name, rise))
    k.store(normals, s.at, fn("normalize", make(vec, *parts)))
    return (
        f"At the point where the ray ends, {normals.name} gets the normalized gradient of the "
        f"distance, by central differences of {delta.name} to either side."
    )
