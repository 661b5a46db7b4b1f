"""Shading: diffuse and specular light of one or several lamps at surface points."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, Shelf
from generators.kit.functions import PI, dot, most, sqrt
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, Type, Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf
from generators.vector.tables import Table

_DIFFUSE, _GLOSS = VectorShelf(scalars="p"), VectorShelf(scalars="p")
_DIFFUSE.add("lambert", "shade", lambda n, light: most(dot(n, light), 0.0))
_DIFFUSE.add("wrap", "shade", lambda n, light, p: most((dot(n, light) + p) / (1.0 + p), 0.0))


@_DIFFUSE.formula("shade", "(0.5 * dot({n}, {light}) + 0.5)^2")
def half_lambert(body: BodyBuilder, n: Expr, light: Expr) -> Expr:
    h = body.let("wrapped half_dot", 0.5 * dot(n, light) + 0.5)
    return h * h


@_GLOSS.formula("shine")
def phong(body: BodyBuilder, n: Expr, light: Expr, v: Expr, p: Expr) -> Expr:
    facing = body.let("facing n_dot_l", dot(n, light))
    mirror = body.let("mirror refl", 2.0 * facing * n - light)
    spot = body.let("spot r_dot_v", most(dot(mirror, v), 0.0))
    s2 = body.let("s2 spot2", spot * spot)
    return p * s2 * s2


@_GLOSS.formula("shine")
def blinn(body: BodyBuilder, n: Expr, light: Expr, v: Expr, p: Expr) -> Expr:
    half = body.let("half_vec h", fn("normalize", light + v))
    spot = body.let("n_dot_h spec_cos", most(dot(n, half), 0.0))
    s2 = body.let("s2 spot2", spot * spot)
    s4 = body.let("s4 spot4", s2 * s2)
    return p * s4 * s4


@_GLOSS.formula("shine")
def ggx(body: BodyBuilder, n: Expr, light: Expr, v: Expr, p: Expr) -> Expr:
    half = body.let("half_vec h", fn("normalize", light + v))
    cos_h = body.let("n_dot_h cos_h", dot(n, half))
    a2 = body.let("a2 alpha_sq", p * p)
    denom = body.let("denom d_ggx", cos_h * cos_h * (a2 - 1.0) + 1.0)
    return a2 / (PI * denom * denom)


@_GLOSS.formula("shine")
def schlick(body: BodyBuilder, n: Expr, v: Expr, p: Expr) -> Expr:
    m = body.let("m grazing", 1.0 - abs(dot(n, v)))
    m2 = body.let("m2 grazing_sq", m * m)
    return p + (1.0 - p) * m2 * m2 * m


_PARAMS = {
    "wrap": ("wrap softness", 0.2, 0.7),
    "phong": ("gloss ks", 0.4, 1.2),
    "blinn": ("gloss ks", 0.4, 1.2),
    "ggx": ("roughness alpha", 0.5, 0.9),
    "schlick": ("f0 base_reflect", 0.04, 0.4),
}
_FADES = Shelf()
_FADES.add("soft", "fades", lambda d2, reach: 1.0 / (1.0 + d2 / (reach * reach)))
_FADES.add("linear", "fades", lambda d2, reach: 1.0 / (1.0 + sqrt(d2) / reach))


@_FADES.formula("fades")
def windowed(body: BodyBuilder, d2: Expr, reach: Expr) -> Expr:
    inside = body.let("inside window", 1.0 - d2 / (reach * reach))
    return inside * inside


_SOURCES = {"shared": 1}
_COMMON = {"shared": 1}
_CALLED = {
    "lambert": "Lambert's diffuse term",
    "wrap": "the wrapped diffuse term",
    "half_lambert": "the half-Lambert term",
    "phong": "Phong's highlight",
    "blinn": "a Blinn-Phong highlight",
    "ggx": "the GGX distribution of normals",
    "schlick": "Schlick's Fresnel term",
}


class Term:
    """One term of the light, its parameter in place, and its text."""

    def __init__(self, site: Site, level: int, vec: Vec, formula: Formula) -> None:
        k, self.formula = site.k, formula
        self.more: list[Expr] = []
        if "p" in formula.keys:
            names, low, high = _PARAMS[formula.name]
            self.more = [given(site, names, vec.scalar, low, high, forms=_SOURCES)]
        kinds = {key: vec.scalar if key == "p" else vec for key in formula.keys}
        names = f"{formula.name}_term shade_{formula.name}"
        self.use = routine(k, BY_LEVEL[level], names, kinds, formula.build)
        texts = {"n": "n", "light": "l", "v": "v"}
        self.text = formula.said(texts | {"p": "".join(say(k, p) for p in self.more)})

    def of(self, **values: Expr) -> Expr:
        return self.use(*(values[key] for key in self.formula.keys if key != "p"), *self.more)


def _one_light(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """A distant light: a diffuse term, at level 2 a glossy one too."""
    shape, sources = k.draw.shape, {"each": 2, "shared": 3}
    normal = site.read("normals nrms", vec, init="unit")
    n = k.let("n normal_i", normal)
    light = given(site, "light_dir to_light sun_dir", vec, init="unit", shared=1)
    shiny = [card for card in _GLOSS.cards if card.name != "schlick"]
    formula = shape.choice(_DIFFUSE.cards if level > 1 or shape.chance(0.6) else shiny)
    gloss = level >= 2 and shape.chance(0.7)
    values = {"n": n, "light": held(k, "l light", light)}
    done = f"Shade surface points by {_CALLED[formula.name]} of a distant light. With n = "
    done += f"{say(k, normal)}, l = {say(k, light)}"
    if gloss or "v" in formula.keys:
        eye = given(site, "view_dir to_eye", vec, init="unit", forms=sources)
        values["v"] = held(k, "v view", eye)
        done += f", v = {say(k, eye)}"
    term = Term(site, level, vec, formula)
    value = term.of(**values)
    done += f", take {term.text}"
    if gloss:
        base = k.let("diffuse base", value)
        shine = Term(site, level, vec, shape.choice(_GLOSS.cards))
        value, done = base + shine.of(**values), f"{done}; plus {shine.text}"
    elif shape.chance(0.4):
        ambient = given(site, "ambient sky", vec.scalar, 0.05, 0.3, forms=_COMMON)
        value, done = ambient + value, f"{done}; plus {say(k, ambient)}"
    if shape.chance(0.55):
        many = "albedo base_color tint"
        albedo = given(site, many, vec, 0.1, 1.0, many=many, shared=2, each=3)
        value, done = value * albedo, f"{done}; all times {say(k, albedo)}"
    return formula.name, f"{done}." + deliver(site, level, "shade radiance image", value)


def _surface(site: Site, vec: Vec) -> tuple[Var, Var, str]:
    """Normal and position of the thread's surface point."""
    parts = {
        "n": Part("normal nrm", vec, init="unit"),
        "x": Part("position hit_point", vec, -1.0, 1.0),
    }
    r = record(site, "Surface Hit Fragment", parts, 0.3)
    n, x = site.k.let("n normal_i", r["n"]), site.k.let("x p", r["x"])
    return n, x, f"For the surface point x = {r.say('x')} with normal n = {r.say('n')}"


def _view(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    """The direction from a point to the eye."""
    eye = k.scalar("eye camera_pos", x.type, -3.0, 3.0)
    v = k.let("v view", fn("normalize", eye - x))
    return v, f" with v = ({eye.name} - x) / |{eye.name} - x|"


def _table(k: KernelBuilder, vec: Vec, kind: Type) -> Table:
    one, many = "intensity power", "intensities lamp_power"
    if isinstance(kind, Vec):
        one, many = "color rgb", "light_colors lamp_rgb"
    parts = {
        "q": Part("position pos origin", vec, -2.5, 2.5, many="light_positions lamp_pos"),
        "e": Part(one, kind, 0.4, 1.5, many=many),
    }
    return Table(k, "Light Lamp Emitter", parts, 0.65, (3, 4))


def _lit_by(terms: Sequence[Term]) -> str:
    """What a kernel of several lamps is for."""
    names = " and ".join(_CALLED[term.formula.name] for term in terms)
    return f"Light surface points by lamps with {names}."


def _lamps(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """Several lamps with positions, their light falling off with distance."""
    shape, scalar = k.draw.shape, vec.scalar
    n, x, done = _surface(site, vec)
    kind: Type = vec if shape.chance(0.5) else scalar
    lamps = _table(k, vec, kind)
    terms = [Term(site, level, vec, shape.choice(_DIFFUSE.cards))]
    values, text = {"n": n}, terms[0].text
    if level >= 4:
        terms.append(Term(site, level, vec, shape.choice(_GLOSS.cards)))
        values["v"], after = _view(k, x)
        text += f"; plus {terms[1].text}{after}"
    fade = shape.choice(_FADES.cards)
    reach = given(site, "radius light_range falloff", scalar, 1.5, 3.0, forms=_COMMON)
    total = k.let("total light_sum radiance", zero(kind))
    lit = k.let("lit brightest", zero(scalar)) if level >= 5 else None
    with lamps.each("j lamp light_id") as (_, (place, power)):
        r = k.let("to_light delta", place - x)
        d2 = k.let("d2 dist_sq", dot(r, r))
        values["light"] = k.let("l light_dir", fn("normalize", r))
        factor = fade.build(k, d2, reach)
        strength = k.let("strength f_diff", terms[0].of(**values))
        for term in terms[1:]:
            k.augment(strength, "add", term.of(**values))
        received: Expr = factor * strength
        if lit is not None:
            received = k.let("received atten", received)
            k.assign(lit, most(lit, received))
        with k.if_(d2 < reach * reach) if fade.name == "windowed" else nullcontext():
            k.augment(total, "add", received * power)
    done = f"{_lit_by(terms)} {done}, each lamp j at q = "
    done += f"{lamps.said('q')}, in the direction l and at the distance r from x, adds f * s * "
    done += f"{lamps.said('e')} with s = {text} and the falloff f = "
    done += fade.said({"d2": "r^2", "reach": say(k, reach)}).replace("sqrt(r^2)", "r")
    done += f", if r < {say(k, reach)}." if fade.name == "windowed" else "."
    done += deliver(site, level, "shade radiance_out image", total)
    if lit is not None:
        peaks = site.put("peaks max_light", lit).name
        done += f" {peaks} gets the largest f * s of all lights, at least 0."
    return terms[0].formula.name, done


@idiom(depth=3)
def shading(k: KernelBuilder, level: int) -> Title:
    """Diffuse and glossy light at surface points, of a distant light or of several lamps."""
    site = launch(k, list=2, grid=3)
    vec = Vec(3, FLOAT32)
    form, done = (_one_light if level <= 2 else _lamps)(k, level, site, vec)
    return Title(k.name(f"shade_{form} shade_points light_surface"), done)
