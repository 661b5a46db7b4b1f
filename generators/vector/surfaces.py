"""Directions and points at axes and surfaces: projected, reflected, refracted, bounced, slid."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.functions import dot, most, sqrt
from generators.kit.naming import BY_LEVEL, applied, held, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import listed, plurals, say, words
from generators.program.dtypes import INT32, Scalar, Type, Vec
from generators.program.expr import Expr
from generators.vector.shelf import VectorShelf, further, read, settings, worked_out
from generators.vector.tables import Table

_ARROWS = "vec displacement velocity"
_AXES = "axis ref_dir guide"

_FORMS = VectorShelf()
_FORMS.add("project", "projected", lambda u, p: p)
_FORMS.add("reject", "rejected", lambda u, p: u - p)
_FORMS.add("mirror", "mirrored", lambda u, p: 2.0 * p - u)
_FORMS.add("reflect", "reflected", lambda u, p: u - 2.0 * p)


def _part(b: BodyBuilder, u: Expr, w: Expr, unit: bool, style: str) -> Expr:
    """The part of ``u`` along ``w``."""
    if unit:
        amount: Expr = dot(u, w)
    elif style == "normalised":
        w = b.let("w_hat unit_w unit_dir", fn("normalize", w))
        amount = dot(u, w)
    else:
        amount = dot(u, w) / (fn("length_sq", w) if style == "square" else dot(w, w))
    if style == "named":
        amount = b.let("amount coef along t", amount)
    return amount * w


def _simple(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """One formula of the family; and names of a kernel."""
    shape = k.draw.shape
    unit, formula = shape.chance(0.5), shape.choice(_FORMS.cards)
    init, low, high = ("unit", None, None) if unit else ("uniform", 0.4, 1.6)
    forms = {"each": 3, "shared": 3}
    onto = Part(_AXES, vec, low, high, init, forms=forms)
    parts = {"u": Part(_ARROWS, vec, -2.0, 2.0), "w": onto}
    r = record(site, "Pair Query Sample", parts, 0.25 if level == 1 else 0.45)
    u, w = held(k, "u vec_i", r["u"]), held(k, "w axis_i", r["w"])
    style = shape.choice(("named", "square", "normalised", "plain"))
    value = applied(
        k,
        BY_LEVEL[level],
        f"{formula.name}_onto {formula.name}_vec",
        {"u": u, "w": w},
        lambda b, a, c: formula.build(b, a, _part(b, a, c, unit, style)),
    )
    divisor = "" if unit else " / dot(w, w)"
    unit_said = " (a unit vector)" if unit else ""
    done = f"{_TASKS[formula.name]} With u = {r.say('u')}, w = {r.say('w')}{unit_said} and p = "
    done += f"dot(u, w){divisor} * w, take {formula.said({'u': 'u', 'p': 'p'})}"
    if level == 2 and shape.chance(0.6):
        scale = given(site, "scale gain amount_kept", vec.scalar, 0.3, 0.9)
        if shape.chance(0.5):
            value, done = scale * value, f"{done} times {say(k, scale)}"
        else:
            value = fn("lerp", u, value, scale)
            done += f", blended with u as (1 - s) * u + s * value, s = {say(k, scale)}"
    outs = f"{formula.outs} {formula.outs}_out"
    return f"{done}." + deliver(site, level, outs, value, otherwise=u), _NAMES[formula.name]


_TASKS = {
    "project": "Project vectors on an axis.",
    "reject": "Remove the part of vectors along an axis.",
    "mirror": "Mirror vectors at an axis.",
    "reflect": "Reflect vectors at the plane across an axis.",
}
_NAMES = {
    "project": "project_vectors vector_projection project_on_axis",
    "reject": "reject_vectors vector_rejection remove_axis_part",
    "mirror": "mirror_vectors mirror_at_axis",
    "reflect": "reflect_vectors reflect_at_plane",
}


def _against_axes(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """What is left of a vector when its parts along several axes are taken away, or their sum."""
    shape = k.draw.shape
    source = site.read(plurals(words(_ARROWS)), vec, -2.0, 2.0)
    axes = Table(k, "axis", {"w": Part("axis normal constraint", vec, init="unit")})
    sliding, summing = shape.chance(0.5), shape.chance(0.3)
    u = k.let("u vec_i", source)
    rest = k.let("total acc", zero(vec)) if summing else k.let("rest left", u)
    energy = k.let("energy power", zero(vec.scalar)) if level >= 4 else None
    part_of = routine(
        k,
        BY_LEVEL[level],
        "component part_along",
        {"u": vec, "w": vec},
        lambda b, a, c: _part(b, a, c, True, "named" if sliding else "plain"),
    )
    with ExitStack() as blocks:
        w = k.let("w axis", blocks.enter_context(axes.each("j m_idx c"))[1][0])
        at = u if summing else rest
        if sliding:
            blocks.enter_context(k.if_(k.let("facing coef", dot(at, w)) < 0.0))
        part = part_of(at, w)
        if energy is not None:
            part = k.let("part shadow", part)
            k.augment(energy, "add", fn("length_sq", part))
        k.augment(rest, "add" if summing else "sub", part)
    where = f" with dot(v, w) < 0 ({'v = u' if summing else 'v what is left'})" if sliding else ""
    done = f"Over the unit vectors w = {axes.said('w')}{where}, in order, "
    if summing:
        done += f"sum the projections dot(u, w) * w of u = {say(k, source)}."
    else:
        done += f"take dot(v, w) * w away from v, which starts as u = {say(k, source)}."
    done += deliver(site, level, "out remainder result", rest, otherwise=source)
    if energy is not None:
        ratio = shape.chance(0.4)
        value = energy / (dot(u, u) + 0.01) if ratio else energy
        over = ", over dot(u, u) + 0.01" if ratio else ""
        done += f" {site.put('captured explained spent', value).name} gets the sum of the squared "
        done += f"lengths of these parts{over}."
    return done


def _bounced(b: BodyBuilder, vel: Expr, n: Expr, e: Expr, mu: Expr) -> Expr:
    across = b.let("across v_normal", dot(vel, n) * n)
    return mu * (vel - across) - e * across


def _contacts(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """Push points out of half spaces and take their velocity into these away."""
    shape, scalar = k.draw.shape, vec.scalar
    x = k.let("x pos", site.read("positions points nodes", vec, -1.5, 1.5))
    v = k.let("v vel", site.read("velocities vel", vec, -2.0, 2.0))
    parts = {"n": Part("normal n", vec, init="unit"), "h": Part("offset height", scalar, -0.8, 0.2)}
    planes = Table(k, "Plane Wall HalfSpace", parts, 0.8)
    bounce = given(site, "restitution bounce", scalar, 0.2, 0.9)
    slip = given(site, "slip keep tangent_scale", scalar, 0.5, 0.9)
    hits = k.let("hits contacts", k.lift(0, INT32))
    inward_only = shape.chance(0.6)
    kinds: dict[str, Type] = {"vel": vec, "n": vec, "e": scalar, "mu": scalar}
    respond = routine(k, 0.6, "bounce_velocity respond contact_velocity", kinds, _bounced)
    with planes.each("j c wall") as (_, (normal, height)):
        n = k.let("n normal", normal)
        depth = k.let("depth gap sd", dot(n, x) - height)
        with k.if_(depth < 0.0):
            k.augment(x, "sub", depth * n)
            k.augment(hits, "add", 1)
            with k.if_(dot(v, n) < 0.0) if inward_only else nullcontext():
                k.assign(v, respond(v, n, bounce, slip))
    values = (("new_positions x_out", x), ("new_vel v_out", v), ("contact_counts touched", hits))
    outs = [site.put(names, value).name for names, value in values]
    also = " if dot(v, n) < 0 too," if inward_only else ""
    return (
        f"For x = {say(k, x)} and v = {say(k, v)}, over the planes j in order: with n = "
        f"{planes.said('n')} and depth = dot(n, x) - {planes.said('h')}, where depth < 0, x loses "
        f"depth * n, one contact is counted, and{also} v becomes {say(k, slip)} * (v - q) - "
        f"{say(k, bounce)} * q with q = dot(v, n) * n. {listed(outs)} get x, v and the count."
    )


@idiom(depth=1)
def vector_projection(k: KernelBuilder, level: int) -> Title:
    """Parts of vectors along and across axes; several axes; contacts with half spaces."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 5, 2: 3}), k.draw.wide_float_type())
    if level <= 2:
        done, names = _simple(k, level, site, vec)
        return Title(k.name(names), done)
    if level <= 4:
        names = "remove_components deflate project_out"
        return Title(k.name(names), _against_axes(k, level, site, vec))
    return Title(k.name("resolve_contacts collide_planes"), _contacts(k, level, site, vec))


_SOURCES = {"each": 1, "shared": 4}
_OPTICS = ("reflect", "refract")

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
    kept = body.let("kept vt_new", most(fn("length", tangent) - mu * abs(push), 0.0))
    return kept * fn("normalize", tangent)


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


def _names_of(formula: Formula) -> str:
    """What it is that a surface turns: light, or a motion."""
    return "ray_dir incident_dir" if formula.name in _OPTICS else "velocity vel"


def _numbers(formula: Formula, scalar: Scalar) -> dict[str, Part]:
    """The numbers that a response reads."""
    parts = settings(scalar, _SOURCES, _SETTINGS)
    return {key: parts[key] for key in formula.keys[2:]}


def _once(k: KernelBuilder, level: int, site: Site, vec: Vec, formula: Formula) -> str:
    """One surface for each direction."""
    shape = k.draw.shape
    forms = {"each": 4, "shared": 1}
    parts = {
        "d": Part(_names_of(formula), vec, -1.5, 1.5),
        "n": Part("normal surface_normal", vec, init="unit", forms=forms),
    }
    r = record(site, "Contact Hit Impact", parts, 0.35)
    d, n = (
        k.let("d dir_in" if formula.name in _OPTICS else "v v_in", r["d"]),
        held(k, "n nrm", r["n"]),
    )
    numbers = _numbers(formula, vec.scalar)
    side = shape.choice(("any", "into")) if level >= 2 else "any"
    word = "d" if formula.name in _OPTICS else "v"
    done = f"{_SURFACE_TASKS[formula.name]} With {word} = {r.say('d')} and n = {r.say('n')}, "
    result = k.let(f"{word}_out result", d) if side == "into" else None
    with k.if_(dot(d, n) < 0.0) if result is not None else nullcontext():
        known = {"d": d, "n": n}
        value, text = worked_out(site, BY_LEVEL[level], formula, known, numbers, {"d": word})
        if result is not None:
            k.assign(result, value)
            value, text = result, f"{text} where dot({word}, n) < 0, else {word}"
    done += f"take {text}."
    if level >= 3:
        value = k.let("out_dir after", value)
    outs = f"{formula.outs} {formula.outs}_out"
    done += deliver(site, level, outs, value, otherwise=d)
    return done + (_measured(k, site, formula, d, value, word) if level >= 3 else "")


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
    source = site.read(plurals(words(_names_of(formula))), vec, -1.5, 1.5)
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


@idiom(depth=2)
def surface_response(k: KernelBuilder, level: int) -> Title:
    """Directions reflected by, refracted at, bounced off or slid along surfaces."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 6, 2: 4}), k.draw.wide_float_type())
    unfit = ("refract", "stick") if level >= 4 else ()
    formula = k.draw.shape.choice([card for card in _RESPONSES.cards if card.name not in unfit])
    done = (_once if level <= 3 else _several)(k, level, site, vec, formula)
    form = {"stick": "friction", "elastic": "bounce"}.get(formula.name, formula.name)
    what = "directions" if formula.name in _OPTICS else "velocities"
    return Title(k.name(f"{form}_{what} {form}_at_surface {form}_off_surface"), done)


_SURFACE_TASKS = {
    "reflect": "Reflect directions at surfaces.",
    "slide": "Slide velocities along surfaces.",
    "elastic": "Bounce velocities off surfaces.",
    "bounce": "Bounce velocities off surfaces, with friction.",
    "stick": "Slide velocities along surfaces with Coulomb friction.",
    "refract": "Refract directions at surfaces.",
}
