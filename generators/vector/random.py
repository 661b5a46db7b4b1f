"""Random vectors: directions, points on shapes, jittered pixels, walks, Monte Carlo sums."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.functions import dot, exp, least, most
from generators.kit.naming import BY_LEVEL, evaluated, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, read

_V2, _V3 = Vec(2, FLOAT32), Vec(3, FLOAT32)
_SOURCES = {"shared": 1}
_FLAT = ("sample_unit_ring", "sample_unit_disk", "sample_unit_square")
_SOLID = ("sample_unit_cube", "sample_unit_sphere", "sample_unit_sphere_surface")
_DOMES = ("sample_unit_hemisphere", "sample_unit_hemisphere_surface")


class Source:
    """The thread's random numbers."""

    def __init__(self, site: Site) -> None:
        self.k, self.site = site.k, site
        seed = self.k.scalar("seed frame_seed rng_seed", INT32, 1, 9999)
        offset = site.at[0]
        if site.rank > 1:
            width = self.k.size_param("width row_len", site.dims[1])
            offset = site.at[0] * width + site.at[1]
        self.state = self.k.random_state(("state", "rng"), seed, offset)
        self.text = f"from the random state of {seed.name} and {say(self.k, offset)}"

    def draw(self, sampler: str, names: str) -> Var:
        return self.k.sample(names.split(), sampler, self.state)

    def setting(self, names: str, low: float, high: float) -> Expr:
        return given(self.site, names, FLOAT32, low, high, forms=_SOURCES)


def _scattered(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A point at a random offset: of a disc, a ball, a cube, a triangle."""
    shape = k.draw.shape
    vec = _V2 if shape.chance(0.4) else _V3
    sampler = shape.choice(_FLAT if vec is _V2 else (*_SOLID, *_DOMES))
    base = given(site, "center particle emitter", vec, -1.0, 1.0, each=3, first=1)
    # The unit square and cube have sides of 1 and are centred: what scales them is no radius.
    boxed = sampler in ("sample_unit_square", "sample_unit_cube")
    size = rng.setting("side box_size" if boxed else "radius spawn_radius", 0.2, 1.5)
    offset = rng.draw(sampler, "offset delta")
    value = base + size * offset
    done = f"Scatter points around given ones: {rng.text} draw o by {sampler}"
    done += " (each component in [-0.5, 0.5))" if boxed else ""
    done += f". Take {say(k, base)} + {say(k, size)} * o"
    if level >= 2 and shape.chance(0.6):
        shift = k.scalar("drift wind", vec, -0.5, 0.5)
        value = value + rng.draw("randf", "age") * shift
        done += f" + r * {shift.name}, r drawn next, uniform in [0, 1)"
    return sampler, f"{done}." + deliver(site, level, "scattered spawned samples", value)


def _on_triangle(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A random point of a triangle."""
    shape = k.draw.shape
    vec = shape.choice((_V2, _V3))
    style = k.draw.word.choice(("v0 v1 v2", "corner_a corner_b corner_c", "p0 p1 p2"))
    parts = {name: Part(name, vec, -1.5, 1.5, many=name) for name in style.split()}
    r = record(site, "Triangle Facet", parts, 0.6, shared=shape.chance(0.3))
    values = dict(zip("abc", r.values.values(), strict=True))
    w = rng.draw("sample_triangle", "w bary uv")
    value = evaluated(k, BY_LEVEL[level], _MIX, values | {"w": w})
    text = _MIX.said({key: say(k, corner) for key, corner in values.items()} | {"w": "w"})
    done = (
        f"Draw a random point of each triangle: {rng.text} draw w by sample_triangle. Take {text}."
    )
    return "triangle", done + deliver(site, level, "points surface_points", value)


_MIX = Formula(
    "point_on_triangle",
    "points",
    lambda a, b, c, w: w[0] * a + w[1] * b + (1.0 - w[0] - w[1]) * c,
    types=(_V3, _V3, _V3, _V2),
)


def _pixel(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A jittered ray through a pixel, from a point on a lens."""
    pitch = k.scalar("pixel_size pitch", FLOAT32, 0.05, 0.3)
    center = k.scalar("center principal_point", _V2, 3.0, 5.0)
    jitter = rng.draw("sample_unit_square", "jitter sub")
    lens = rng.draw("sample_unit_disk", "lens aperture")
    radius = rng.setting("lens_radius aperture_r", 0.05, 0.3)
    focus = rng.setting("focus_dist focal", 1.0, 3.0)
    # A jitter in [-0.5, 0.5) moves the ray about the centre of its pixel.
    x = k.let("px", pitch * (cast(site.at[-1], FLOAT32) + 0.5 + jitter[0] - center[0]))
    y = k.let("py", pitch * (cast(site.at[0], FLOAT32) + 0.5 + jitter[1] - center[1]))
    origin = k.let("origin ro", make(_V3, radius * lens[0], radius * lens[1], zero(FLOAT32)))
    row, col = say(k, site.at[0]), say(k, site.at[-1])
    done = f"Draw a jittered ray of a thin lens for each pixel: {rng.text} draw q by "
    done += "sample_unit_square (components in [-0.5, 0.5)), then l by sample_unit_disk. With o = "
    done += f"{say(k, radius)} * "
    at = f"({col} + 0.5 + qx, {row} + 0.5 + qy)"
    done += f"(lx, ly, 0), (a, b) = {say(k, pitch)} * ({at} - {center.name}) and t = (a, b, "
    done += f"{say(k, focus)}), take (t - o) / |t - o|."
    aim = fn("normalize", make(_V3, x, y, focus) - origin)
    done += deliver(site, level, "ray_dirs directions", aim)
    return "lens", done + f" {site.put('lens_points lens_out', lens).name} gets l."


def _walk(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A random walk, its steps maybe bounded or drawn back to a home."""
    shape = k.draw.shape
    vec = _V2 if shape.chance(0.4) else _V3
    sampler = shape.choice(_FLAT[:2] if vec is _V2 else _SOLID[1:])
    start = site.read("starts walkers agents", vec, -1.0, 1.0)
    step = rng.setting("step_len max_step", 0.1, 0.6)
    pull = rng.setting("pull restoring", 0.05, 0.3) if shape.chance(0.5) else None
    x = k.let("x walker pos", start)
    path = k.let("path spread", zero(FLOAT32)) if level >= 4 else None
    bounded = level >= 5 or shape.chance(0.3)
    half = k.scalar("half_box box_limit", FLOAT32, 0.3, 0.6) if bounded else None
    count = k.draw.value.choice((4, 8, 16))
    with k.for_("s step_id hop", count):
        move = step * rng.draw(sampler, "hop_dir kick noise")
        k.augment(x, "add", move if pull is None else move - pull * x)
        if half is not None:
            corner = make(vec, half)
            k.assign(x, least(most(x, -corner), corner))
        if path is not None:
            k.augment(path, "add", dot(x, x))
    done = f"Let each walker of {say(k, start)} take {count} random steps: {rng.text}, in each its "
    done += f"position x gains {say(k, step)} * o, o by {sampler}"
    done += f", less {say(k, pull)} * x" if pull is not None else ""
    done += f", and is clamped to +-{half.name} in each component" if half is not None else ""
    done += ". Take the last position." + deliver(site, level, "ends walked final_pos", x)
    if path is not None:
        done += f" {site.put('msd path_sum', path).name} gets the sum of dot(x, x) after each step."
    return "walk", done


_SKIES = VectorShelf(scalars="low high sharp power")
"""The light that comes from a unit direction o, y being up."""

_SKIES.add(
    "overcast",
    "sums",
    lambda o, high: fn("where", o[1] > 0.0, high * (1.0 + 2.0 * o[1]) / 3.0, 0.0),
    "{high} * (1 + 2 * oy) / 3 where oy > 0 (the CIE overcast sky), else 0",
)
_SKIES.add(
    "gradient",
    "sums",
    lambda o, low, high: low + (high - low) * (0.5 + 0.5 * o[1]),
    "{low} + ({high} - {low}) * (0.5 + 0.5 * oy)",
)
_SKIES.add("sun", "sums", lambda o, sun, power, sharp: power * exp(sharp * (dot(o, sun) - 1.0)))
_SKY = {
    "low": Part("ground_light nadir_light", FLOAT32, 0.1, 0.4, forms=_SOURCES),
    "high": Part("zenith_light sky_light", FLOAT32, 0.6, 1.5, forms=_SOURCES),
    "sharp": Part("sharpness lobe_sharpness", FLOAT32, 2.0, 8.0, forms=_SOURCES),
    "power": Part("sun_light sun_radiance", FLOAT32, 1.0, 4.0, forms=_SOURCES),
    "sun": Part("sun_dir to_sun", _V3, init="unit", forms=_SOURCES),
}


def _about(k: KernelBuilder, rng: Source, n: Expr, weighted: bool) -> Var:
    """A random direction on the side of a normal, by the cosine or all alike."""
    o = rng.draw("sample_unit_sphere_surface", "o omega")
    if weighted:
        k.assign(o, fn("normalize", n + o))
        return o
    with k.if_(dot(o, n) < 0.0):
        k.assign(o, -o)
    return o


def _estimate(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """The light that a diffuse surface sends back, by random directions about its normal."""
    shape = k.draw.shape
    normal = given(site, "normal", _V3, init="unit", each=1)
    albedo = rng.setting("albedo reflectance", 0.3, 0.9)
    formula = shape.choice(_SKIES.cards)
    n = k.let("n nrm", normal)
    sky = {key: read(site, _SKY[key]) for key in formula.keys if key != "o"}
    kinds = {"o": _V3} | {key: value.type for key, value in sky.items()}
    use = routine(k, BY_LEVEL[level], f"{formula.name}_sky", kinds, formula.build)
    total = k.let("total light_sum", zero(FLOAT32))
    bent = k.let("bent bent_sum", zero(_V3)) if shape.chance(0.4) else None
    weighted, count = shape.chance(0.5), k.scalar("num_samples num_rays", INT32, 8, 16)
    with k.for_("s sample_id ray", count):
        o = _about(k, rng, n, weighted)
        light = use(o, *sky.values())
        if not weighted:
            light = light * dot(o, n)
        if bent is not None:
            light = k.let("w light", light)
            k.augment(bent, "add", light * o)
        k.augment(total, "add", light)
    said = formula.said({"o": "o"} | {key: say(k, value) for key, value in sky.items()})
    done = "Estimate the light that a diffuse surface reflects by Monte Carlo: "
    done += f"{rng.text} draw {count.name} unit vectors by sample_unit_sphere_surface"
    done += "; o is " + ("normalize(n + that)" if weighted else "that, negated where dot(o, n) < 0")
    done += f", with n = {say(k, normal)}. The light from o is L = {said}. Take {say(k, albedo)} "
    done += "times the mean of L" if weighted else "times twice the mean of L * dot(o, n)"
    value = albedo if weighted else 2.0 * albedo
    done += "." + deliver(
        site, level, "reflected radiance_out", value * total / cast(count, FLOAT32)
    )
    if bent is not None:
        out = site.put("bent_normals", fn("normalize", bent))
        done += (
            f" {out.name} gets the sum of {'L' if weighted else 'L * dot(o, n)'} * o, made unit."
        )
    return "estimate", done


_BUILDS = {
    "scatter": _scattered,
    "triangle": _on_triangle,
    "pixel": _pixel,
    "walk": _walk,
    "estimate": _estimate,
}
_FORMS = {
    1: {"scatter": 4, "triangle": 2},
    2: {"scatter": 3, "triangle": 2, "pixel": 2},
    3: {"walk": 3, "estimate": 3, "pixel": 1, "triangle": 1},
    4: {"walk": 1, "estimate": 1},
    5: {"walk": 1, "estimate": 1},
}


@idiom(depth=3)
def random_vectors(k: KernelBuilder, level: int) -> Title:
    """Random directions and points: scattered, on triangles, through pixels, walks, estimates."""
    form = k.draw.shape.weighted(_FORMS[level])
    site = launch(k, forms={"grid": 1} if form == "pixel" else {"list": 3, "batch": 2, "grid": 1})
    _, done = _BUILDS[form](k, level, site, Source(site))
    return Title(k.name(_NAMES[form]), done)


_NAMES = {
    "scatter": "scatter_points random_offsets spawn_particles",
    "triangle": "sample_triangles random_surface_points points_on_triangles",
    "pixel": "lens_rays thin_lens_rays camera_rays",
    "walk": "random_walk walk_particles brownian_steps",
    "estimate": "sample_sky_light monte_carlo_sky diffuse_sky_light",
}
