"""Light at hit points: lamps with shadows, occlusion by random rays, environment maps."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import PI, TWO_PI, atan2, dot, least, most, sqrt
from generators.kit.naming import maybe
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var, op
from generators.vector.simulation.parts import Crowd, Points, crowd, index, points_of
from generators.vector.tracing.rays import VEC3


def _surface(k: KernelBuilder, level: int) -> tuple[Crowd, Points, Expr, Expr]:
    """Points of a surface with unit normals: the launch, the points, a point and its normal."""
    # The lamps and balls are those of one scene.
    count = k.draw.word.choice(("n", "count", "num"))
    c = crowd(k, level, space=3, sizes=(48, 72), member="i tid p", called=count)
    c.vec = VEC3
    p = points_of(k, VEC3, "points positions hit_pos", -1.0, 1.0, c.dims, level)
    normals = k.array("normals hit_normals", VEC3, c.dims, init="unit")
    return c, p, k.let("x here", p.at(*c.at)), k.let("n normal", normals[c.at])


def _blocked(c: Crowd, x: Expr, to: Expr, limit: Expr | None, balls: tuple[Points, Var]) -> Var:
    """Whether a ray enters a ball before a limit, or anywhere along a direction."""
    k, (centers, radii) = c.k, balls
    seen = k.let("blocked shadow", k.lift(0, INT32))
    with k.for_("b m ball_i", extent(radii)) as b:
        oc = k.let("oc rel", centers.at(b) - x)
        along = k.let("along proj", dot(oc, to))
        disc = k.let("disc root_arg", radii[b] * radii[b] - dot(oc, oc) + along * along)
        with k.if_(disc > 0.0):
            t = k.let("t_in t_ball", along - sqrt(disc))
            with k.if_(t > 0.0 if limit is None else op("and", t > 0.0, t < limit)):
                k.assign(seen, 1)
                k.break_()
    return seen


def _balls(k: KernelBuilder, level: int) -> tuple[Points, Var]:
    k.size("balls", 4, 7)
    centers = points_of(k, VEC3, "centers ball_pos", -2.0, 2.0, ("balls",), level)
    return centers, k.array("radii ball_radius", FLOAT32, "balls", low=0.3, high=0.8)


@dataclass(frozen=True)
class _Gloss:
    """Blinn and Phong's highlight: the direction to the eye, its exponent and its strength."""

    k: KernelBuilder
    eye: Var
    view: Var
    power: Var
    share: Var

    @classmethod
    def drawn(cls, k: KernelBuilder, x: Expr) -> _Gloss:
        eye = k.scalar("eye camera", VEC3, -2.0, 2.0)
        view = k.let("v to_eye", fn("normalize", eye - x))
        power = k.scalar("shininess gloss", FLOAT32, 2.0, 12.0)
        return cls(k, eye, view, power, k.scalar("specular k_s", FLOAT32, 0.2, 0.8))

    def add(self, shade: Var, n: Expr, w: Expr) -> None:
        """Add the highlight of a lamp in the direction ``w``."""
        half = self.k.let("h half_vec", fn("normalize", w + self.view))
        peak = self.k.let("n_dot_h cos_h", dot(n, half))
        with self.k.if_(peak > 0.0):
            self.k.augment(shade, "add", self.share * peak**self.power)

    def law(self, diffuse: str) -> str:
        return f"({diffuse} + {self.share.name} * max(n.h, 0)^{self.power.name})"


@idiom
def lamp_light(k: KernelBuilder, level: int) -> Title:
    """Lambert and Blinn-Phong light of a list of lamps, with shadows of balls at higher levels."""
    c, p, x, n = _surface(k, level)
    k.size("lamps", 3, 6)
    lamps = points_of(k, VEC3, "light_pos lamps", -3.0, 3.0, ("lamps",), level)
    coloured = c.shape.chance(0.4)
    power = k.array("powers intensity", VEC3 if coloured else FLOAT32, "lamps", low=0.5, high=2.0)
    shiny = _Gloss.drawn(k, x) if c.shape.chance(0.6) else None
    balls = _balls(k, level) if c.chance(0.5, 2) else None
    albedo = k.array("albedo reflectance", FLOAT32, c.dims, low=0.1, high=0.9)
    own = k.let("kd rho", albedo[c.at])
    law = f"{albedo.name} * n.w"
    half_way = ""
    if shiny is not None:
        law = shiny.law(law)
        half_way = f", h the unit vector halfway between w and that to {shiny.eye.name}"
    start = make(VEC3, k.lift(0.0, FLOAT32)) if coloured else k.lift(0.0, FLOAT32)
    light = k.let("light radiance total", start)
    with k.for_("l lamp_i", extent(power)) as lamp:
        to = k.let("to_light lvec", lamps.at(lamp) - x)
        d2 = k.let("d2 dist_sq", dot(to, to))
        dist = k.let("dist r", sqrt(d2))
        w = k.let("w l_dir", to / dist)
        facing = k.let("n_dot_l cos_t", dot(n, w))
        with k.if_(facing <= 0.0):
            k.continue_()
        if balls is not None:
            with k.if_(fn("eq", _blocked(c, x, w, dist, balls), 1)):
                k.continue_()
        shade = k.let("shade e", own * facing)
        if shiny is not None:
            shiny.add(shade, n, w)
        k.augment(light, "add", shade / d2 * power[lamp])
    return _lamp_light_stored(law, p, lamps, power, half_way, balls, k, c, light)


def _lamp_light_stored(
    law: str,
    p: Points,
    lamps: Points,
    power: Var,
    half_way: str,
    balls: tuple[Points, Var] | None,
    k: KernelBuilder,
    c: Crowd,
    light: Var,
) -> Title:
    """What :func:`lamp_light` stores, and its text."""
    text = (
        f"Light each surface point of {p.name} by a list of lamps: sum over those at {lamps.name} "
        f"that it faces (n.w > 0) {law} / d^2 times {power.name}, n being the normal, w the "
        f"direction to the lamp and d its distance"
    )
    text += half_way
    if balls is not None:
        text += f". Lamps behind a ball ({balls[0].name}, {balls[1].name}) give none"
    text += f". {c.put('shaded radiance_out light_out', light)} gets the sum."
    return Title(k.name("lamp_light shade_points direct_light"), text)


@idiom
def ambient_occlusion(k: KernelBuilder, level: int) -> Title:
    """How open a point is: random directions about its normal, tested against balls."""
    c, p, x, n = _surface(k, level)
    balls = _balls(k, level)
    seed = k.scalar("seed", INT32, 0, 1000)
    rays = k.scalar("num_rays samples", INT32, 3, 6)
    flat: Expr = c.at[0]
    for i, size in zip(c.at[1:], c.dims[1:], strict=True):
        flat = flat * k.size_param("stride points_each", size) + i
    state = k.random_state("state rng", seed, flat)
    reach = k.scalar("max_dist radius", FLOAT32, 0.8, 2.0) if c.shape.chance(0.6) else None
    cosine = c.shape.chance(0.5)
    total = k.let("open_sum visible", k.lift(0.0, FLOAT32))
    with k.for_("s ray_i", rays):
        w = k.sample("w dir_s ray_s", "sample_unit_sphere_surface", state)
        if cosine:
            k.assign(w, fn("normalize", n + w))
        else:
            with k.if_(dot(w, n) < 0.0):
                k.assign(w, -w)
        seen = _blocked(c, x, w, reach, balls)
        k.augment(total, "add", 1.0 - cast(seen, FLOAT32))
    how = "along normalize(n + a random unit vector), n being its normal"
    how = how if cosine else "along random unit vectors turned to the side of its normal"
    text = (
        f"Estimate how open each surface point of {p.name} is: send {rays.name} rays "
        f"{how} (random state of {seed.name} and the point's index), and count those that no "
        f"ball of {balls[0].name} and {balls[1].name} stops"
    )
    text += f" by being entered nearer than {reach.name}" if reach is not None else ""
    share = total / cast(rays, FLOAT32)
    name = c.put("visibility openness", share)
    text += f". {name} gets their share."
    return Title(k.name("ambient_occlusion ao_rays sky_visibility"), text)


@idiom
def environment_light(k: KernelBuilder, level: int) -> Title:
    """The light of an environment map along a ray, or mirrored at a normal: longitude, latitude."""
    count = k.draw.word.choice(("n", "num", "rays"))
    c = crowd(k, level, space=3, sizes=(48, 72), member="i tid r", called=count)
    c.vec = VEC3
    directions = k.array("directions ray_dirs dirs", VEC3, c.dims, init="unit")
    rows, cols = (k.size(s, v, v + 2, minimum=2) for s, v in (("h", 4), ("w", 7)))
    coloured = c.shape.chance(0.8)
    sky = k.array("env sky env_map", VEC3 if coloured else FLOAT32, (rows, cols), low=0.0, high=2.0)
    d: Expr = k.let("d ray_d w_in", directions[c.at])
    text = f"Look up the environment map {sky.name} for each unit vector (x, y, z) of "
    text += f"{directions.name} "
    way = c.shape.choice(("ray", "mirror", "mirror"))
    if way == "mirror":
        normals = k.array("normals hit_normals", VEC3, c.dims, init="unit")
        n = k.let("n normal", normals[c.at])
        d = k.let("mirrored refl", d - 2.0 * dot(d, n) * n)
        text += f"reflected at the unit normal in {normals.name} "
    coords = k.draw.word.choice(("u v", "tex_u tex_v")).split()
    u = k.let(coords[0], 0.5 + atan2(d[2], d[0]) / TWO_PI)
    # By both legs the angle is exact at the poles too, where acos may leave its domain.
    level_part = sqrt(d[0] * d[0] + d[2] * d[2])
    v = k.let(coords[1], 0.5 - atan2(d[1], maybe(k, "horizontal horiz", level_part)) / PI)
    text += "at u = 0.5 + atan2(z, x) / (2 * pi), v = 0.5 - atan2(y, sqrt(x^2 + z^2)) / pi"
    if c.chance(0.6, 2):
        found = _between(k, sky, u, v)
        text += ", bilinear with centres at half texels: u wraps around, v is clamped. "
    else:
        width, height = extent(sky, 1), extent(sky, 0)
        x = k.let("col tx", cast(u * cast(width, FLOAT32), INT32) % width)
        # Straight down v is 1, which is behind the last row.
        y = k.let("row ty", least(cast(v * cast(height, FLOAT32), INT32), height - 1))
        found = sky[index(y, x)]
        text += ": the texel of row min(int(v * height), height - 1) and column int(u * width) "
        text += "modulo the width. "
    return Title(k.name("environment_light env_lookup sky_sample"), text + _toned(c, found))


def _toned(c: Crowd, found: Expr) -> str:
    """The light, scaled and maybe added to what a path has so far."""
    k = c.k
    if c.shape.chance(0.5):
        exposure = k.scalar("exposure gain", FLOAT32, 0.5, 2.0)
        found = exposure * found
        name = c.put("light radiance_out colors", found)
        return f"{name} gets {exposure.name} times the light found."
    through = k.array("throughput path_weight", FLOAT32, c.dims, low=0.1, high=1.0)
    value = through[c.at] * found
    if c.shape.chance(0.5):
        out = k.array("accum radiance", found.type, c.dims, role="inout", low=0.0, high=1.0)
        k.store(out, c.at, value, op="add")
        return f"{out.name} gains {through.name} times the light found."
    out_name = c.put("light radiance_out colors", value)
    return f"{out_name} gets {through.name} times the light found."


def _between(k: KernelBuilder, sky: Var, u: Expr, v: Expr) -> Expr:
    """Bilinear interpolation on a map that wraps around in u."""
    width = k.let("width map_w", extent(sky, 1))
    height = k.let("height map_h", extent(sky, 0))
    x = k.let("x px", (u + 1.0) * cast(width, FLOAT32) - 0.5)
    y = k.let("y py", most(v * cast(height, FLOAT32) - 0.5, 0.0))
    x0, y0 = k.let("x0 left", cast(x, INT32)), k.let("y0 top", cast(y, INT32))
    fx, fy = k.let("fx", x - cast(x0, FLOAT32)), k.let("fy", y - cast(y0, FLOAT32))
    style = k.draw.word.choice(("c0 c1 r1", "xa xb yb", "col0 col1 row1")).split()
    a, b = k.let(style[0], x0 % width), k.let(style[1], (x0 + 1) % width)
    y1 = k.let(style[2], least(y0 + 1, height - 1))
    upper = k.let("upper above", fn("lerp", sky[index(y0, a)], sky[index(y0, b)], fx))
    lower = k.let("lower below", fn("lerp", sky[index(y1, a)], sky[index(y1, b)], fx))
    return fn("lerp", upper, lower, fy)
