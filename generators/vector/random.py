"""Random vectors: directions, points on shapes, jittered pixels, walks, Monte Carlo sums."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import FLOAT32, INT32, Type, Vec
from generators.program.expr import Expr, Var
from generators.vector.kit import (
    BATCH,
    EACH,
    GRID,
    LIST,
    LITERAL,
    ROW,
    SHARED,
    Part,
    Site,
    launch,
    named_helper,
    quantity,
    record,
    routine,
    said,
    vector,
)
from generators.vector.output import deliver, put

_V2, _V3 = Vec(2, FLOAT32), Vec(3, FLOAT32)
_SOURCES = {SHARED: 4, LITERAL: 2, EACH: 1, ROW: 1}
_FLAT = ("sample_unit_ring", "sample_unit_disk", "sample_unit_square")
_SOLID = ("sample_unit_cube", "sample_unit_sphere", "sample_unit_sphere_surface")
_DOMES = ("sample_unit_hemisphere", "sample_unit_hemisphere_surface")


class Source:
    """The thread's random numbers."""

    def __init__(self, k: KernelBuilder, site: Site) -> None:
        self.k, self.site = k, site
        seed = k.scalar(("seed", "frame_seed", "rng_seed"), INT32, 1, 9999)
        offset: Expr = site.at[0]
        text = site.at[0].name
        if len(site.at) > 1:
            width = k.size_param(("width", "row_len"), site.dims[1])
            offset = site.at[0] * width + site.at[1]
            text = f"{site.at[0].name} * {width.name} + {site.at[1].name}"
        self.state = k.random_state(("state", "rng"), seed, offset)
        self.text = f"With rand_init({seed.name}, {text})"

    def draw(self, sampler: str, names: tuple[str, ...]) -> Var:
        return self.k.sample(names, sampler, self.state)


def _scattered(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A point at a random offset: of a disc, a ball, a cube, a triangle."""
    shape = k.draw.shape
    vec = _V2 if shape.chance(0.4) else _V3
    sampler = shape.choice(_FLAT if vec is _V2 else (*_SOLID, *_DOMES))
    base = vector(
        k, site, ("center", "particle", "emitter"), vec, {EACH: 4, ROW: 1, SHARED: 1}, -1.0, 1.0
    )
    size = quantity(k, site, ("radius", "spread", "sigma"), FLOAT32, 0.2, 1.5, _SOURCES)
    offset = rng.draw(sampler, ("offset", "jitter", "delta"))
    value = base + size * offset
    done = f"{rng.text} draw o by {sampler}; take {said(k, base)} + {said(k, size)} * o."
    if level >= 2 and shape.chance(0.6):
        shift = k.scalar(("drift", "wind", "bias"), vec, -0.5, 0.5)
        rate = rng.draw("randf", ("amount", "age"))
        value, done = value + rate * shift, f"{done[:-1]} + r * {shift.name}, r by randf next."
    return sampler, done + deliver(k, site, level, ("scattered", "spawned", "samples"), value)


def _on_triangle(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A random point of a triangle."""
    shape = k.draw.shape
    vec = shape.choice((_V2, _V3))
    style = k.draw.word.choice(("v0 v1 v2", "corner_a corner_b corner_c", "p0 p1 p2"))
    parts = [Part((name,), vec, -1.5, 1.5) for name in style.split()]
    corners = record(k, site, ("Triangle", "Facet"), parts, shape.chance(0.6), shape.chance(0.3))
    w = rng.draw("sample_triangle", ("w", "bary", "uv"))
    kinds: list[tuple[str, Type]] = [("a", vec), ("b", vec), ("c", vec), ("w", _V2)]
    use = routine(
        k,
        named_helper(k, level),
        ("point_on_triangle", "mix_corners"),
        kinds,
        lambda b, p, q, r, t: t[0] * p + t[1] * q + (1.0 - t[0] - t[1]) * r,
    )
    value = use(*corners, w)
    listed = [said(k, c) for c in corners]
    done = f"{rng.text} draw w by sample_triangle; take w[0] * {listed[0]} + w[1] * {listed[1]} + "
    done += f"(1 - w[0] - w[1]) * {listed[2]}."
    return "triangle", done + deliver(k, site, level, ("points", "surface_points"), value)


def _pixel(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A jittered ray through a pixel, from a point on a lens."""
    row, col = site.at[0], site.at[-1]
    pitch = quantity(k, site, ("pixel_size", "pitch"), FLOAT32, 0.05, 0.3, {SHARED: 3, LITERAL: 1})
    jitter = rng.draw("sample_unit_square", ("jitter", "sub"))
    lens = rng.draw("sample_unit_disk", ("lens", "aperture"))
    radius = quantity(k, site, ("lens_radius", "aperture_r"), FLOAT32, 0.05, 0.3, _SOURCES)
    focus = quantity(k, site, ("focus_dist", "focal"), FLOAT32, 1.0, 3.0, _SOURCES)
    x = k.let(("px", "sx"), pitch * (cast(col, FLOAT32) + jitter[0]))
    y = k.let(("py", "sy"), pitch * (cast(row, FLOAT32) + jitter[1]))
    origin = k.let(("origin", "ro"), make(_V3, radius * lens[0], radius * lens[1], _zero(k)))
    aim = make(_V3, x, y, focus) - origin
    done = f"{rng.text} draw j by sample_unit_square, then l by sample_unit_disk. Let o = "
    done += f"{said(k, radius)} * (lx, ly, 0) and t = ({said(k, pitch)} * ({col.name} + jx), "
    done += f"{said(k, pitch)} * ({row.name} + jy), {said(k, focus)}); take (t - o) / |t - o|."
    done += deliver(k, site, level, ("ray_dirs", "directions"), fn("normalize", aim))
    return "lens", done + f" {put(k, site, ('lens_points', 'lens_out'), lens).name} gets l."


def _zero(k: KernelBuilder) -> Expr:
    return k.lift(0.0, FLOAT32)


def _walk(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """A random walk, its steps maybe bounded or drawn back to a home."""
    shape = k.draw.shape
    vec = _V2 if shape.chance(0.4) else _V3
    rough = ("sample_unit_ring", "sample_unit_disk")
    sampler = shape.choice(rough if vec is _V2 else _SOLID)
    starts = k.array(("starts", "walkers", "agents"), vec, site.dims, low=-1.0, high=1.0)
    step = quantity(k, site, ("step_len", "stride", "sigma"), FLOAT32, 0.1, 0.6, _SOURCES)
    pull = None
    if shape.chance(0.5):
        pull = quantity(k, site, ("pull", "restoring"), FLOAT32, 0.05, 0.3, _SOURCES)
    x = k.let(("x", "walker", "pos"), starts[site.at])
    path = k.let(("path", "spread"), _zero(k)) if level >= 4 else None
    bounded = level >= 5 or shape.chance(0.3)
    half = quantity(k, site, ("half_box", "limit"), FLOAT32, 0.3, 0.6, {SHARED: 2, LITERAL: 1})
    with k.for_(("s", "step_id", "hop"), k.draw.value.integer(2, 4)) as s:
        del s
        hop = rng.draw(sampler, ("hop", "kick", "noise"))
        move = step * hop if pull is None else step * hop - pull * x
        k.augment(x, "add", move)
        if bounded:
            corner = make(vec, half)
            k.assign(x, fn("min", fn("max", x, -corner), corner))
        if path is not None:
            k.augment(path, "add", fn("dot", x, x))
    steps = k.body()[-1]
    count = said(k, steps.stop)  # type: ignore[union-attr]
    rule = f"x gains {said(k, step)} * o, o by {sampler}"
    rule += f", less {said(k, pull)} * x" if pull is not None else ""
    rule += f", and is clamped to +-{said(k, half)} in each component" if bounded else ""
    done = f"{rng.text}, x = {starts.name} walks {count} steps: in each {rule}."
    if not bounded:
        done += f" Take x / {said(k, half)}."
    value: Expr = x if bounded else x / half
    done += deliver(k, site, level, ("ends", "walked", "final_pos"), value)
    if path is not None:
        out = put(k, site, ("msd", "path_sum"), path)
        done += f" {out.name} gets the sum of dot(x, x) after each step."
    return "walk", done


_INTEGRANDS: dict[str, tuple[Callable[[BodyBuilder, Expr, Expr], Expr], str]] = {
    "cosine": (lambda b, o, n: fn("max", fn("dot", o, n), 0.0), "max(dot(o, n), 0)"),
    "lobe": (
        lambda b, o, n: fn("exp", 2.0 * (fn("dot", o, n) - 1.0)),
        "exp(2 * (dot(o, n) - 1))",
    ),
    "square": (lambda b, o, n: fn("dot", o, n) * fn("dot", o, n), "dot(o, n)^2"),
    "inverse": (
        lambda b, o, n: 1.0 / (1.0 + fn("length_sq", o - n)),
        "1 / (1 + |o - n|^2)",
    ),
}


def _estimate(k: KernelBuilder, level: int, site: Site, rng: Source) -> tuple[str, str]:
    """The mean of a function over random directions or points."""
    shape = k.draw.shape
    sampler = shape.choice((*_DOMES, *_DOMES, *_SOLID))
    sources = {EACH: 4, ROW: 1}
    n = vector(k, site, ("normal", "axis_n"), _V3, sources, None, None, "unit")
    gain = quantity(k, site, ("albedo", "gain", "exposure"), FLOAT32, 0.3, 1.5, _SOURCES)
    name = shape.choice(sorted(_INTEGRANDS))
    build, text = _INTEGRANDS[name]
    held = k.let(("n", "nrm"), n)
    total = k.let(("total", "estimate"), _zero(k))
    mean = k.let(("bent", "mean_dir"), zero(_V3)) if level >= 4 else None
    kinds: list[tuple[str, Type]] = [("o", _V3), ("n", _V3)]
    use = routine(k, named_helper(k, level), (f"{name}_weight", f"{name}_lobe"), kinds, build)
    count = k.draw.value.integer(2, 5)
    flipped = sampler not in _SOLID and shape.chance(0.5)
    with k.for_(("s", "sample_id", "ray"), count):
        o = rng.draw(sampler, ("o", "omega", "dir_s"))
        if flipped:
            with k.if_(fn("dot", o, held) < 0.0):
                k.assign(o, -o)
        w = k.let(("w", "weight"), use(o, held))
        k.augment(total, "add", w)
        if mean is not None:
            k.augment(mean, "add", w * o)
    done = f"{rng.text}, draw {count} o by {sampler}"
    done += ", each negated where dot(o, n) < 0" if flipped else ""
    done += f"; with n = {said(k, n)} sum {text}, and take {said(k, gain)} * sum / {count}."
    value = gain * total / float(count)
    done += deliver(k, site, level, ("estimates", "occlusion", "irradiance"), value)
    if mean is not None:
        out = put(k, site, ("bent_normals", "mean_dirs"), mean / float(count))
        done += f" {out.name} gets the sum of that times o, over {count}."
    if level >= 5:
        jitter = rng.draw("sample_unit_sphere_surface", ("dither", "probe"))
        mix = put(k, site, ("dithered", "probes"), fn("lerp", held, jitter, 0.25))
        done += f" {mix.name} gets n + 0.25 * (u - n), u by sample_unit_sphere_surface in the end."
    return "estimate", done


@idiom
def random_vectors(k: KernelBuilder, level: int) -> Title:
    """Random directions and points: scattered, on triangles, through pixels, walks, estimates."""
    shape = k.draw.shape
    forms = {1: {"scatter": 4, "triangle": 2}, 2: {"scatter": 3, "triangle": 2, "pixel": 2}}
    late = {"walk": 3, "estimate": 3, "pixel": 1, "triangle": 1}
    form = shape.weighted(forms.get(level, late if level == 3 else {"walk": 1, "estimate": 1}))
    site = launch(k, {GRID: 1} if form == "pixel" else {LIST: 3, BATCH: 2, GRID: 1})
    rng = Source(k, site)
    build = {
        "scatter": _scattered,
        "triangle": _on_triangle,
        "pixel": _pixel,
        "walk": _walk,
        "estimate": _estimate,
    }[form]
    name, done = build(k, level, site, rng)
    return Title(k.name(f"random_{form}", f"{form}_samples", f"{name}_random"), done)
