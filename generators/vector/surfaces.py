"""Directions at surfaces: reflected, refracted, bounced off or slid along unit normals."""

from __future__ import annotations

from contextlib import nullcontext

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.functions import dot, most, sqrt
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.words import plurals, say, words
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr
from generators.vector.shelf import VectorShelf, further, read, settings, worked_out
from generators.vector.tables import Table

_SOURCES = {"each": 2, "first": 1, "shared": 3, "literal": 2}
_RAYS = "incoming ray_dir heading velocity"

_RESPONSES = VectorShelf(scalars="slip bounce mu eta")
_RESPONSES.add("reflect", "reflected", lambda d, n: d - 2.0 * dot(d, n) * n)
_RESPONSES.add("slide", "slid", lambda d, n, slip: slip * (d - dot(d, n) * n))
_RESPONSES.add("elastic", "bounced", lambda d, n, bounce: d - (1.0 + bounce) * dot(d, n) * n)


@_RESPONSES.formula("bounced")
def bounce(body: BodyBuilder, d: Expr, n: Expr, bounce: Expr, slip: Expr) -> Expr:
    across = body.let("across v_normal", dot(d, n) * n)
    tangent = body.let("along v_tangent", d - across)
    return slip * tangent - bounce * across


@_RESPONSES.formula("slowed")
def stick(body: BodyBuilder, d: Expr, n: Expr, mu: Expr) -> Expr:
    """Coulomb friction: the tangential part loses at most mu times the normal part."""
    push = body.let("push vn", dot(d, n))
    tangent = body.let("tangent vt", d - push * n)
    speed = body.let("speed vt_len", sqrt(dot(tangent, tangent) + 1.0e-4))
    return most(1.0 - mu * abs(push) / speed, 0.0) * tangent


@_RESPONSES.formula(
    "refracted",
    "r = {d} / |{d}| refracted with index ratio {eta}: {eta} * r + ({eta} * c - sqrt(k2)) * {n} "
    "where k2 = 1 - {eta}^2 * (1 - c^2) > 0 and c = -dot(r, {n}), else the reflection r + 2 * c * "
    "{n}",
)
def refract(body: BodyBuilder, d: Expr, n: Expr, eta: Expr) -> Expr:
    ray = body.let("ray unit_dir", fn("normalize", d))
    cosine = body.let("cosine cos_in", -dot(ray, n))
    k2 = body.let("k2 cos2_out", 1.0 - eta * eta * (1.0 - cosine * cosine))
    bent = body.let("bent mirrored", ray + 2.0 * cosine * n)
    body.note("total internal reflection where no transmitted ray exists")
    with body.if_(k2 > 0.0):
        body.assign(bent, eta * ray + (eta * cosine - sqrt(k2)) * n)
    return bent


_SETTINGS = {
    "slip": ("slip tangent_keep", 0.5, 0.95),
    "bounce": ("restitution bounce", 0.3, 0.9),
    "mu": ("friction mu", 0.3, 0.9),
    "eta": ("eta index_ratio", 1.2, 1.6),
}


def _numbers(formula: Formula, scalar: Scalar) -> dict[str, Part]:
    """The numbers that a response reads."""
    parts = settings(scalar, _SOURCES, _SETTINGS)
    return {key: parts[key] for key in formula.keys[2:]}


def _once(k: KernelBuilder, level: int, site: Site, vec: Vec, formula: Formula) -> str:
    """One surface for each direction."""
    shape = k.draw.shape
    forms = {"each": 4, "first": 1, "shared": 2}
    parts = {
        "d": Part(_RAYS, vec, -1.5, 1.5),
        "n": Part("normal surface_normal", vec, init="unit", forms=forms),
    }
    r = record(site, "Contact Hit Impact", parts, 0.35)
    d, n = k.let("d ray", r["d"]), held(k, "n nrm", r["n"])
    numbers = _numbers(formula, vec.scalar)
    side = shape.choice(("any", "into", "flip")) if level >= 2 else "any"
    done = f"With d = {r.say('d')} and n = {r.say('n')}, "
    if side == "flip":
        n = k.let("facing n_used", fn("where", dot(d, n) < 0.0, n, -n))
        done += "n negated where dot(d, n) >= 0, "
    result = k.let("result outgoing_dir", d) if side == "into" else None
    with k.if_(dot(d, n) < 0.0) if result is not None else nullcontext():
        known = {"d": d, "n": n}
        value, text = worked_out(site, BY_LEVEL[level], formula, known, numbers)
        if result is not None:
            k.assign(result, value)
            value, text = result, f"{text} where dot(d, n) < 0, else d"
    done += f"take {text}."
    if level >= 3:
        value = k.let("out_dir after", value)
    done += deliver(site, level, "responses result_dirs out", value, otherwise=d)
    return done + (_measured(k, site, formula, d, value, "d") if level >= 3 else "")


_MEASURES = VectorShelf(scalars="mass")
_MEASURES.add("impulse", "impulses kicks", lambda d, e, mass: mass * (e - d))
_MEASURES.add("facing", "glints brightness", lambda e, view: dot(e, view))
_MEASURES.add("loss", "energy_loss dissipated", lambda d, e: 0.5 * (dot(d, d) - dot(e, e)))
_MEASURES.add("turn", "alignment cosines", lambda d, e: dot(d, e))


def _measured(
    k: KernelBuilder, site: Site, formula: Formula, d: Expr, after_: Expr, word: str
) -> str:
    """What a solver or a renderer asks for: ``word`` names the direction before, e that after."""
    vec = d.type
    assert isinstance(vec, Vec)
    unfit = "loss" if formula.name == "reflect" else "turn"
    usable = [card for card in _MEASURES.cards if card.name != unfit]
    parts = {
        "mass": Part("mass weight", vec.scalar, 0.5, 2.0, forms=_SOURCES),
        "view": Part("view_dir light_dir up", vec, init="unit", forms={"shared": 1}),
    }
    known, after = {"d": d, "e": after_}, ", e being the direction after"
    return further(site, usable, 1, known, parts, {"d": word}, after)


def _several(k: KernelBuilder, level: int, site: Site, vec: Vec, formula: Formula) -> str:
    """Several surfaces in turn, with parameters of their own at level 5."""
    shape, wanted = k.draw.shape, formula.keys[2:]
    source = site.read(plurals(words(_RAYS)), vec, -1.5, 1.5)
    numbers = _numbers(formula, vec.scalar)
    parts = {"n": Part("normal n_dir", vec, init="unit")}
    values: dict[str, Expr] = {}
    if wanted and (level >= 5 or shape.chance(0.4)):
        parts |= numbers
    else:
        values = {key: read(site, part) for key, part in numbers.items()}
    walls = Table(k, "Wall Plane Surface", parts, 0.75)
    kinds = {key: vec if key in "dn" else vec.scalar for key in formula.keys}
    respond = routine(k, BY_LEVEL[level], formula.name, kinds, formula.build)
    d = k.let("d ray", source)
    hits = k.let("hits bounces", k.lift(0, INT32)) if level >= 5 or shape.chance(0.5) else None
    with walls.each("j w wall_id") as (_, (normal, *own)):
        n = k.let("n nrm", normal)
        with k.if_(dot(d, n) < 0.0):
            k.assign(d, respond(d, n, *own, *values.values()))
            if hits is not None:
                k.augment(hits, "add", 1)
    texts = {key: walls.said(key) for key in parts} | {key: say(k, v) for key, v in values.items()}
    done = f"Let d start as {say(k, source)}; for each n = {walls.said('n')} in order, where "
    done += f"dot(d, n) < 0, d becomes {formula.said(texts | {'d': 'd', 'n': 'n'})}. Take d."
    done += deliver(site, level, "responses result_dirs out", d)
    if hits is not None:
        done += f" {site.put('hit_counts bounce_count', hits).name} gets how often."
    if level >= 5:
        start = k.let("start d_in", source)
        done += _measured(k, site, formula, start, d, say(k, source))
    return done


@idiom
def surface_response(k: KernelBuilder, level: int) -> Title:
    """Directions reflected by, refracted at, bounced off or slid along surfaces."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 6, 2: 4}), k.draw.wide_float_type())
    unfit = ("refract", "stick") if level >= 4 else ()
    formula = k.draw.shape.choice([card for card in _RESPONSES.cards if card.name not in unfit])
    done = (_once if level <= 3 else _several)(k, level, site, vec, formula)
    form = formula.name
    return Title(k.name(f"{form}_directions {form}_rays {form}_at_surface"), done)
