"""Shading: diffuse and specular light of one or several lamps at surface points."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most, sqrt
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import Type, Vec
from generators.program.expr import Expr, Var

Term = Callable[[BodyBuilder, Expr, Expr, Expr, Expr], Expr]


def _lambert(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    return most(dot(n, lt), 0.0)


def _half_lambert(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    h = b.let("wrapped half_dot", 0.5 * dot(n, lt) + 0.5)
    return h * h


def _wrap(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    return most((dot(n, lt) + p) / (1.0 + p), 0.0)


def _phong(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    facing = b.let("facing n_dot_l", dot(n, lt))
    mirror = b.let("mirror refl", 2.0 * facing * n - lt)
    spot = b.let("spot r_dot_v", most(dot(mirror, v), 0.0))
    return spot * spot * p


def _blinn(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    half = b.let("half_vec h", fn("normalize", lt + v))
    spot = b.let("n_dot_h spec_cos", most(dot(n, half), 0.0))
    power = b.let("s2 spot2", spot * spot)
    return p * power * power


def _ggx(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    half = b.let("half_vec h", fn("normalize", lt + v))
    cos_h = b.let("n_dot_h cos_h", dot(n, half))
    a2 = b.let("a2 alpha_sq", p * p)
    denom = b.let("denom d_ggx", cos_h * cos_h * (a2 - 1.0) + 1.0)
    return a2 / (3.14159 * denom * denom)


def _schlick(b: BodyBuilder, n: Expr, lt: Expr, v: Expr, p: Expr) -> Expr:
    m = b.let("m grazing", 1.0 - abs(dot(n, v)))
    m2 = b.let("m2 grazing_sq", m * m)
    return p + (1.0 - p) * m2 * m2 * m


DIFFUSE: dict[str, tuple[Term, str, bool]] = {
    "lambert": (_lambert, "max(dot(n, l), 0)", False),
    "half_lambert": (_half_lambert, "(0.5 * dot(n, l) + 0.5)^2", False),
    "wrap": (_wrap, "max((dot(n, l) + p) / (1 + p), 0)", True),
}
GLOSS: dict[str, tuple[Term, str, bool]] = {
    "phong": (_phong, "p * max(dot(2 * dot(n, l) * n - l, v), 0)^2", True),
    "blinn": (_blinn, "p * max(dot(n, h), 0)^4, h = (l + v) / |l + v|", True),
    "ggx": (_ggx, "p^2 / (3.14159 * (dot(n, h)^2 * (p^2 - 1) + 1)^2), h = (l + v) / |l + v|", True),
    "schlick": (_schlick, "p + (1 - p) * (1 - |dot(n, v)|)^5", True),
}
PARAMS = {
    "wrap": (("wrap", "softness"), 0.2, 0.7),
    "phong": (("gloss", "ks"), 0.4, 1.2),
    "blinn": (("gloss", "ks"), 0.4, 1.2),
    "ggx": (("roughness", "alpha"), 0.5, 0.9),
    "schlick": (("f0", "base_reflect"), 0.04, 0.4),
}


_SOURCES = {"each": 2, "shared": 3, "literal": 2}
_COMMON = {"shared": 3, "literal": 2}


def _term(
    k: KernelBuilder, level: int, site: Site, vec: Vec, form: str
) -> tuple[Callable[[Expr, Expr, Expr], Expr], str]:
    """One term of the light, with its parameter in place; and its text."""
    build, text, tuned = {**DIFFUSE, **GLOSS}[form]
    seen = form in GLOSS
    p = k.lift(1.0, vec.scalar)
    if tuned:
        names, low, high = PARAMS[form]
        p = given(site, names, vec.scalar, low, high, forms=_SOURCES)
    kinds: list[tuple[str, Type]] = [("n", vec), ("l", vec)]
    kinds += [("v", vec)] if seen else []
    kinds += [("p", vec.scalar)] if tuned else []

    def inner(b: BodyBuilder, n: Expr, lt: Expr, *rest: Expr) -> Expr:
        return build(b, n, lt, rest[0] if seen else lt, rest[-1] if tuned else p)

    use = routine(k, BY_LEVEL[level], f"{form}_term shade_{form}", kinds, inner)

    def apply(n: Expr, lt: Expr, v: Expr) -> Expr:
        return use(n, lt, *((v,) if seen else ()), *((p,) if tuned else ()))

    return apply, f"{text}, p = {say(k, p)}" if tuned else text


def _surface(k: KernelBuilder, site: Site, vec: Vec, level: int) -> tuple[list[Expr], list[str]]:
    """Normal and, for lamps, position of the thread's surface point."""
    parts = [Part("normal nrm", vec, init="unit")]
    if level >= 3:
        parts.append(Part("position hit_point", vec, -1.0, 1.0))
    found = record(site, "Surface Hit Fragment", parts, 0.4)
    names = [say(k, f) for f in found]
    words = (("n", "normal_i"), ("x", "p"))
    return [k.let(w, f) for w, f in zip(words, found, strict=False)], names


def _coloured(k: KernelBuilder, site: Site, vec: Vec, light: Expr) -> tuple[Expr, str]:
    """Light as a scalar, or times a colour."""
    form = k.draw.shape.weighted({"scalar": 4, "shared": 2, "each": 3})
    if form == "scalar":
        return light, ""
    sources = {"shared": 1} if form == "shared" else {"each": 1}
    albedo = given(site, "albedo base_color tint", vec, 0.1, 1.0, forms=sources)
    return light * albedo, f" times {say(k, albedo)}"


def _one_light(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """A distant light: a diffuse term, at level 2 a glossy one too."""
    shape = k.draw.shape
    (n,), names = _surface(k, site, vec, level)
    light = given(site, "light_dir to_light sun_dir", vec, init="unit", shared=3, each=2)
    glossy = ("phong", "blinn", "ggx")
    form = shape.choice(sorted(DIFFUSE) if level > 1 or shape.chance(0.6) else glossy)
    ray = held(k, "l light", light)
    view: Expr = ray
    done = f"With n = {names[0]}, l = {say(k, light)}"
    gloss = level >= 2 and shape.chance(0.7)
    if gloss or form in GLOSS:
        sources = {"shared": 3, "each": 2}
        eye = given(site, "view_dir to_eye", vec, init="unit", forms=sources)
        view = held(k, "v view", eye)
        done += f", v = {say(k, eye)}"
    apply, text = _term(k, level, site, vec, form)
    value = apply(n, ray, view)
    done += f", take {text}"
    if gloss:
        base = k.let("diffuse base", value)
        second = shape.choice(sorted(GLOSS))
        shine, more = _term(k, level, site, vec, second)
        value, done = base + shine(n, ray, view), f"{done}; plus {more}"
    elif shape.chance(0.4):
        ambient = given(site, "ambient sky", vec.scalar, 0.05, 0.3, forms=_COMMON)
        value, done = ambient + value, f"{done}; plus {say(k, ambient)}"
    value, after = _coloured(k, site, vec, value)
    done += f"; all{after}." if after else "."
    return form, done + deliver(site, level, "shade radiance image", value)


def _lamps(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """Several lamps with positions, their light falling off with distance."""
    shape, scalar = k.draw.shape, vec.scalar
    (n, x), names = _surface(k, site, vec, level)
    kind: Type = vec if shape.chance(0.5) else scalar
    parts = [
        Part("position pos origin", vec, -2.5, 2.5),
        Part("color intensity power", kind, 0.4, 1.5),
    ]
    k.size("m", 3, 4)
    if shape.chance(0.65):
        struct, fields = struct_of(k, k.draw.word.choice(("Light", "Lamp", "Emitter")), parts)
        lights = k.array("lights lamps emitters", struct, "m", fields=fields)
        source = f"the {fields[0].name} and {fields[1].name} of {lights.name}"
    else:
        places = k.array("light_positions lamp_pos", vec, "m", low=-2.5, high=2.5)
        powers = k.array("light_colors lamp_power", kind, "m", low=0.4, high=1.5)
        lights, source = None, f"{places.name} and {powers.name}"
    form = shape.choice(sorted(DIFFUSE))
    apply, text = _term(k, level, site, vec, form)
    gloss, view = None, n
    if level >= 4:
        eye = k.scalar("eye camera_pos", vec, -3.0, 3.0)
        view = k.let("v view", fn("normalize", eye - x))
        gloss, more = _term(k, level, site, vec, shape.choice(("phong", "blinn", "ggx")))
        text += f"; plus {more}, v = ({eye.name} - x) / |{eye.name} - x|"
    falloff = shape.choice(("soft", "range", "linear"))
    reach = given(site, "radius light_range falloff", scalar, 1.5, 3.0, forms=_COMMON)
    count = k.trip_count("light_count num_lights", "m")
    total = k.let("total light_sum radiance", zero(kind))
    lit = k.let("lit brightest", zero(scalar)) if level >= 5 else None
    with k.for_("j lamp light_id", count) as j:
        if lights is not None:
            item = k.let("light src", lights[j])
            place, power = _both(*(field(item, f.name) for f in fields))
        else:
            place, power = _both(places[j], powers[j])
        to_light = k.let("to_light delta", place - x)
        d2 = k.let("d2 dist_sq", dot(to_light, to_light))
        ray = k.let("l light_dir", to_light / sqrt(d2 + 0.01))
        fade, rule = _fade(k, falloff, d2, reach)
        strength = k.let("strength f_diff", apply(n, ray, view))
        if gloss is not None:
            k.augment(strength, "add", gloss(n, ray, view))
        received: Expr = fade * strength
        if lit is not None:
            received = k.let("received atten", received)
            k.assign(lit, most(lit, received))
        if falloff == "range":
            with k.if_(d2 < reach * reach):
                k.augment(total, "add", received * power)
        else:
            k.augment(total, "add", received * power)
    done = f"At x = {names[1]} with n = {names[0]}, over {source} (q and e): with r = q - x and "
    done += f"l = r / sqrt(dot(r, r) + 0.01), sum f * s * e, s = {text}; and f = "
    done += f"{rule.replace('R', say(k, reach))}."
    done += deliver(site, level, "shade radiance_out image", total)
    if lit is not None:
        out = site.put("peaks max_light", lit)
        done += f" {out.name} gets the largest f * s, at least 0, of all (in range or not)."
    return form, done


def _both(place: Expr, power: Expr) -> tuple[Expr, Expr]:
    return place, power


def _fade(k: KernelBuilder, form: str, d2: Var, reach: Expr) -> tuple[Expr, str]:
    if form == "soft":
        return 1.0 / (1.0 + d2 / (reach * reach)), "1 / (1 + dot(r, r) / R^2)"
    if form == "linear":
        return 1.0 / (1.0 + sqrt(d2) / reach), "1 / (1 + |r| / R)"
    inside = k.let("inside window", 1.0 - d2 / (reach * reach))
    return inside * inside, "(1 - dot(r, r) / R^2)^2, only where |r| < R"


@idiom
def shading(k: KernelBuilder, level: int) -> Title:
    """Diffuse and glossy light at surface points, of a distant light or of several lamps."""
    site = launch(k, list=2, grid=3)
    vec = Vec(3, k.draw.wide_float_type())
    form, done = (_one_light if level <= 2 else _lamps)(k, level, site, vec)
    return Title(k.name(f"shade_{form} shade_points light_surface"), done)
