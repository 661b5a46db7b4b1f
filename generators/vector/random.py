"""Random vectors: directions, points on shapes, jittered pixels, walks, Monte Carlo sums."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, least, most
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Type, Vec
from generators.program.expr import Expr, Var

_V2, _V3 = Vec(2, FLOAT32), Vec(3, FLOAT32)
_SOURCES = {"shared": 4, "literal": 2, "each": 1, "first": 1}
_FLAT = ("sample_unit_ring", "sample_unit_disk", "sample_unit_square")
_SOLID = ("sample_unit_cube", "sample_unit_sphere", "sample_unit_sphere_surface")
_DOMES = ("sample_unit_hemisphere", "sample_unit_hemisphere_surface")


class Source:
    """The thread's random numbers."""

    def __init__(self, k: KernelBuilder, site: Site) -> None:
        self.k, self.site = k, site
        seed = k.scalar("seed frame_seed rng_seed", INT32, 1, 9999)
        offset: Expr = site.at[0]
        text = site.at[0].name
        if len(site.at) > 1:
            width = k.size_param("width row_len", site.dims[1])
            offset = site.at[0] * width + site.at[1]
            text = f"{site.at[0].name} * {width.name} + {site.at[1].name}"
        self.state = k.random_state("state rng", seed, offset)
        self.text = f"With rand_init({seed.name}, {text})"

    def draw(self, sampler: str, names: tuple[str, ...]) -> Var:
        return self.k.sample(names, sampler, self.state)


def _scattered(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A point at a random offset: of a disc, a ball, a cube, a triangle."""
    shape = k.draw.shape
    vec = _V2 if shape.chance(0.4) else _V3
    sampler = shape.choice(_FLAT if vec is _V2 else (*_SOLID, *_DOMES))
    base = given(site, "center particle emitter", vec, -1.0, 1.0, each=4, first=1, shared=1)
    size = given(site, "radius spread sigma", FLOAT32, 0.2, 1.5, forms=_SOURCES)
    offset = rng.draw(sampler, "offset jitter delta")
    value = base + size * offset
    done = f"{rng.text} draw o by {sampler}; take {say(k, base)} + {say(k, size)} * o."
    if level >= 2 and shape.chance(0.6):
        shift = k.scalar("drift wind bias", vec, -0.5, 0.5)
        rate = rng.draw("randf", "amount age")
        value, done = value + rate * shift, f"{done[:-1]} + r * {shift.name}, r by randf next."
    return sampler, done + deliver(site, level, "scattered spawned samples", value)


def _on_triangle(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A random point of a triangle."""
    shape = k.draw.shape
    vec = shape.choice((_V2, _V3))
    style = k.draw.word.choice(("v0 v1 v2", "corner_a corner_b corner_c", "p0 p1 p2"))
    parts = [Part((name,), vec, -1.5, 1.5) for name in style.split()]
    corners = record(site, "Triangle Facet", parts, 0.6, 0.3)
    w = rng.draw("sample_triangle", "w bary uv")
    kinds: list[tuple[str, Type]] = [("a", vec), ("b", vec), ("c", vec), ("w", _V2)]
    use = routine(
        k,
        BY_LEVEL[level],
        "point_on_triangle mix_corners",
        kinds,
        lambda b, p, q, r, t: t[0] * p + t[1] * q + (1.0 - t[0] - t[1]) * r,
    )
    value = use(*corners, w)
    listed = [say(k, c) for c in corners]
    done = f"{rng.text} draw w by sample_triangle; take w[0] * {listed[0]} + w[1] * {listed[1]} + "
    done += f"(1 - w[0] - w[1]) * {listed[2]}."
    return "triangle", done + deliver(site, level, "points surface_points", value)


def _pixel(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A jittered ray through a pixel, from a point on a lens."""
    row, col = site.at[0], site.at[-1]
    pitch = given(site, "pixel_size pitch", FLOAT32, 0.05, 0.3, shared=3, literal=1)
    jitter = rng.draw("sample_unit_square", "jitter sub")
    lens = rng.draw("sample_unit_disk", "lens aperture")
    radius = given(site, "lens_radius aperture_r", FLOAT32, 0.05, 0.3, forms=_SOURCES)
    focus = given(site, "focus_dist focal", FLOAT32, 1.0, 3.0, forms=_SOURCES)
    x = k.let("px sx", pitch * (cast(col, FLOAT32) + jitter[0]))
    y = k.let("py sy", pitch * (cast(row, FLOAT32) + jitter[1]))
    origin = k.let("origin ro", make(_V3, radius * lens[0], radius * lens[1], _zero(k)))
    aim = make(_V3, x, y, focus) - origin
    done = f"{rng.text} draw j by sample_unit_square, then l by sample_unit_disk. Let o = "
    done += f"{say(k, radius)} * (lx, ly, 0) and t = ({say(k, pitch)} * ({col.name} + jx), "
    done += f"{say(k, pitch)} * ({row.name} + jy), {say(k, focus)}); take (t - o) / |t - o|."
    done += deliver(site, level, "ray_dirs directions", fn("normalize", aim))
    return "lens", done + f" {site.put('lens_points lens_out', lens).name} gets l."


def _zero(k: KernelBuilder) -> Expr:
    return k.lift(0.0, FLOAT32)


def _walk(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A random walk, its steps maybe bounded or drawn back to a home."""
    shape = k.draw.shape
    vec = _V2 if shape.chance(0.4) else _V3
    rough = ("sample_unit_ring", "sample_unit_disk")
    sampler = shape.choice(rough if vec is _V2 else _SOLID)
    starts = site.array("starts walkers agents", vec, -1.0, 1.0)
    step = given(site, "step_len stride sigma", FLOAT32, 0.1, 0.6, forms=_SOURCES)
    pull = None
    if shape.chance(0.5):
        pull = given(site, "pull restoring", FLOAT32, 0.05, 0.3, forms=_SOURCES)
    x = k.let("x walker pos", starts[site.at])
    path = k.let("path spread", _zero(k)) if level >= 4 else None
    bounded = level >= 5 or shape.chance(0.3)
    half = given(site, "half_box limit", FLOAT32, 0.3, 0.6, shared=2, literal=1)
    with k.for_("s step_id hop", k.draw.value.integer(2, 4)) as s:
        del s
        hop = rng.draw(sampler, "hop kick noise")
        move = step * hop if pull is None else step * hop - pull * x
        k.augment(x, "add", move)
        if bounded:
            corner = make(vec, half)
            k.assign(x, least(most(x, -corner), corner))
        if path is not None:
            k.augment(path, "add", dot(x, x))
    steps = k.body()[-1]
    count = say(k, steps.stop)  # type: ignore[union-attr]
    rule = f"x gains {say(k, step)} * o, o by {sampler}"
    rule += f", less {say(k, pull)} * x" if pull is not None else ""
    rule += f", and is clamped to +-{say(k, half)} in each component" if bounded else ""
    done = f"{rng.text}, x = {starts.name} walks {count} steps: in each {rule}."
    if not bounded:
        done += f" Take x / {say(k, half)}."
    value: Expr = x if bounded else x / half
    done += deliver(site, level, "ends walked final_pos", value)
    if path is not None:
        out = site.put("msd path_sum", path)
        done += f" {out.name} gets the sum of dot(x, x) after each step."
    return "walk", done


_INTEGRANDS: dict[str, tuple[Callable[[BodyBuilder, Expr, Expr], Expr], str]] = {
    "cosine": (lambda b, o, n: most(dot(o, n), 0.0), "max(dot(o, n), 0)"),
    "lobe": (lambda b, o, n: exp(2.0 * (dot(o, n) - 1.0)), "exp(2 * (dot(o, n) - 1))"),
    "square": (lambda b, o, n: dot(o, n) * dot(o, n), "dot(o, n)^2"),
    "inverse": (lambda b, o, n: 1.0 / (1.0 + fn("length_sq", o - n)), "1 / (1 + |o - n|^2)"),
}


def _estimate(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """The mean of a function over random directions or points."""
    shape = k.draw.shape
    sampler = shape.choice((*_DOMES, *_DOMES, *_SOLID))
    sources = {"each": 4, "first": 1}
    n = given(site, "normal axis_n", _V3, init="unit", forms=sources)
    gain = given(site, "albedo gain exposure", FLOAT32, 0.3, 1.5, forms=_SOURCES)
    name = shape.choice(sorted(_INTEGRANDS))
    build, text = _INTEGRANDS[name]
    held = k.let("n nrm", n)
    total = k.let("total estimate", _zero(k))
    mean = k.let("bent mean_dir", zero(_V3)) if level >= 4 else None
    kinds: list[tuple[str, Type]] = [("o", _V3), ("n", _V3)]
    use = routine(k, BY_LEVEL[level], f"{name}_weight {name}_lobe", kinds, build)
    count = k.draw.value.integer(2, 5)
    flipped = sampler not in _SOLID and shape.chance(0.5)
    with k.for_("s sample_id ray", count):
        o = rng.draw(sampler, "o omega dir_s")
        if flipped:
            with k.if_(dot(o, held) < 0.0):
                k.assign(o, -o)
        w = k.let("w weight", use(o, held))
        k.augment(total, "add", w)
        if mean is not None:
            k.augment(mean, "add", w * o)
    done = f"{rng.text}, draw {count} o by {sampler}"
    done += ", each negated where dot(o, n) < 0" if flipped else ""
    done += f"; with n = {say(k, n)} sum {text}, and take {say(k, gain)} * sum / {count}."
    value = gain * total / float(count)
    done += deliver(site, level, "estimates occlusion irradiance", value)
    if mean is not None:
        out = site.put("bent_normals mean_dirs", mean / float(count))
        done += f" {out.name} gets the sum of that times o, over {count}."
    if level >= 5:
        jitter = rng.draw("sample_unit_sphere_surface", "dither probe")
        mix = site.put("dithered probes", fn("lerp", held, jitter, 0.25))
        done += f" {mix.name} gets n + 0.25 * (u - n), u by sample_unit_sphere_surface in the end."
    return "estimate", done


@idiom
def random_vectors(k: KernelBuilder, level: int) -> Title:
    """Random directions and points: scattered, on triangles, through pixels, walks, estimates."""
    shape = k.draw.shape
    forms = {1: {"scatter": 4, "triangle": 2}, 2: {"scatter": 3, "triangle": 2, "pixel": 2}}
    late = {"walk": 3, "estimate": 3, "pixel": 1, "triangle": 1}
    form = shape.weighted(forms.get(level, late if level == 3 else {"walk": 1, "estimate": 1}))
    site = launch(k, {"grid": 1} if form == "pixel" else {"list": 3, "batch": 2, "grid": 1})
    rng = Source(k, site)
    build = {
        "scatter": _scattered,
        "triangle": _on_triangle,
        "pixel": _pixel,
        "walk": _walk,
        "estimate": _estimate,
    }[form]
    name, done = build(k, level, site, rng)
    return Title(k.name(f"random_{form} {form}_samples {name}_random"), done)
