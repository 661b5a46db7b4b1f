"""Directions at surfaces: reflected, refracted, bounced off or slid along unit normals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most, sqrt
from generators.kit.naming import held, routine
from generators.kit.outputs import deliver
from generators.kit.pieces import float_vec
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import plurals, say
from generators.program.dtypes import INT32, Type, Vec
from generators.program.expr import Expr

_SOURCES = {"each": 2, "first": 1, "shared": 3, "literal": 2}
_RAYS = ("incoming", "ray_dir", "heading", "velocity")
Response = Callable[[BodyBuilder, Expr, Expr, Sequence[Expr]], Expr]


def _reflect(b: BodyBuilder, d: Expr, n: Expr, _: Sequence[Expr]) -> Expr:
    return d - 2.0 * dot(d, n) * n


def _slide(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    return p[0] * (d - dot(d, n) * n)


def _bounce(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    across = b.let("across v_normal", dot(d, n) * n)
    tangent = b.let("along v_tangent", d - across)
    return p[1] * tangent - p[0] * across


def _elastic(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    return d - (1.0 + p[0]) * dot(d, n) * n


def _stick(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    """Coulomb friction: the tangential part loses at most mu times the normal part."""
    push = b.let("push vn", dot(d, n))
    tangent = b.let("tangent vt", d - push * n)
    speed = b.let("speed vt_len", sqrt(dot(tangent, tangent) + 1.0e-4))
    return most(1.0 - p[0] * abs(push) / speed, 0.0) * tangent


def _refract(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    ray = b.let("ray unit_dir", fn("normalize", d))
    cosine = b.let("cosine cos_in", -dot(ray, n))
    k2 = b.let("k2 cos2_out", 1.0 - p[0] * p[0] * (1.0 - cosine * cosine))
    bent = b.let("bent mirrored", ray + 2.0 * cosine * n)
    b.note("total internal reflection where no transmitted ray exists")
    with b.if_(k2 > 0.0):
        b.assign(bent, p[0] * ray + (p[0] * cosine - sqrt(k2)) * n)
    return bent


_RESPONSES: dict[str, tuple[Response, str, tuple[tuple[tuple[str, ...], float, float], ...]]] = {
    "reflect": (_reflect, "d - 2 * dot(d, n) * n", ()),
    "slide": (_slide, "P0 * (d - dot(d, n) * n)", ((("slip", "keep"), 0.5, 0.95),)),
    "bounce": (
        _bounce,
        "P1 * (d - q) - P0 * q with q = dot(d, n) * n",
        ((("restitution", "bounce"), 0.3, 0.9), (("slip", "tangent_keep"), 0.5, 0.95)),
    ),
    "elastic": (_elastic, "d - (1 + P0) * dot(d, n) * n", ((("restitution", "bounce"), 0.3, 0.9),)),
    "stick": (
        _stick,
        "max(1 - P0 * |dot(d, n)| / sqrt(dot(t, t) + 1.0e-4), 0) * t with t = d - dot(d, n) * n",
        ((("friction", "mu"), 0.3, 0.9),),
    ),
    "refract": (
        _refract,
        "r = d / |d| refracted with index ratio P0: P0 * r + (P0 * c - sqrt(k2)) * n where k2 = "
        "1 - P0^2 * (1 - c^2) > 0 and c = -dot(r, n), else the reflection r + 2 * c * n",
        ((("eta", "index_ratio"), 1.2, 1.6),),
    ),
}


def _worded(k: KernelBuilder, text: str, params: Sequence[Expr]) -> str:
    for n, p in enumerate(params):
        text = text.replace(f"P{n}", say(k, p))
    return text


def _applied(
    k: KernelBuilder, level: int, vec: Vec, form: str, count: int
) -> Callable[[Expr, Expr, Sequence[Expr]], Expr]:
    """The response in place or in a helper."""
    build = _RESPONSES[form][0]
    kinds: list[tuple[str, Type]] = [("d", vec), ("n", vec)]
    kinds += [(f"p{n}" if count > 1 else "param", vec.scalar) for n in range(count)]
    names = (form, f"{form}_at", f"{form}_off")
    helper = named_helper(k, level)
    use = routine(k, helper, names, kinds, lambda b, d, n, *p: build(b, d, n, p))
    return lambda d, n, p: use(d, n, *p)


def _once(k: KernelBuilder, level: int, site: Site, vec: Vec, form: str) -> str:
    """One surface for each direction."""
    shape = k.draw.shape
    parts = [Part(_RAYS, vec, -1.5, 1.5), Part("normal surface_normal", vec, init="unit")]
    if shape.chance(0.35):
        d, n = record(site, "Contact Hit Impact", parts, 1.0)
    else:
        d = site.array(plurals(_RAYS), vec, -1.5, 1.5)[site.at]
        sources = {"each": 4, "first": 1, "shared": 2}
        n = given(site, "normal surface_normal", vec, init="unit", forms=sources)
    names = say(k, d), say(k, n)
    d, n = k.let("d ray", d), held(k, "n nrm", n)
    _, text, wanted = _RESPONSES[form]
    params = [given(site, w, vec.scalar, low, high, forms=_SOURCES) for w, low, high in wanted]
    apply = _applied(k, level, vec, form, len(params))
    side = shape.choice(("any", "into", "flip")) if level >= 2 else "any"
    done = f"With d = {names[0]} and n = {names[1]}, "
    formula = _worded(k, text, params)
    if side == "flip":
        n = k.let("facing n_used", fn("where", dot(d, n) < 0.0, n, -n))
        done += "n negated where dot(d, n) >= 0, "
    if side == "into":
        result = k.let("result outgoing_dir", d)
        with k.if_(dot(d, n) < 0.0):
            k.assign(result, apply(d, n, params))
        value: Expr = result
        done += f"take {formula} where dot(d, n) < 0, else d."
    else:
        value = apply(d, n, params)
        done += f"take {formula}."
    if level >= 3:
        value = k.let("out_dir after", value)
    done += deliver(site, level, "responses result_dirs out", value, otherwise=d)
    if level >= 3:
        done += _measured(k, site, form, d, value, "d")
    return done


def _measured(k: KernelBuilder, site: Site, form: str, d: Expr, after: Expr, word: str) -> str:
    """What a solver or a renderer asks for: ``word`` names the direction before, e that after."""
    vec = d.type
    assert isinstance(vec, Vec)
    forms = ("impulse", "facing", "turn") if form == "reflect" else ("impulse", "loss", "facing")
    kind = k.draw.shape.choice(forms)
    if kind == "impulse":
        mass = given(site, "mass weight", vec.scalar, 0.5, 2.0, forms=_SOURCES)
        out = site.put("impulses kicks", mass * (after - d))
        return f" {out.name} gets {say(k, mass)} * (e - {word}), e being the direction after."
    if kind == "loss":
        lost = 0.5 * (dot(d, d) - dot(after, after))
        out = site.put("energy_loss dissipated", lost)
        return f" {out.name} gets (|{word}|^2 - |e|^2) / 2, e being the direction after."
    if kind == "turn":
        out = site.put("alignment cosines", dot(d, after))
        return f" {out.name} gets dot({word}, e), e being the direction after."
    view = k.scalar("view_dir light_dir up", vec, init="unit")
    out = site.put("glints brightness", dot(after, view))
    return f" {out.name} gets dot(e, {view.name}), e being the direction after."


def _several(k: KernelBuilder, level: int, site: Site, vec: Vec, form: str) -> str:
    """Several surfaces in turn, with parameters of their own at level 5."""
    shape = k.draw.shape
    k.size("m", 3, 5)
    source = site.array(plurals(_RAYS), vec, -1.5, 1.5)
    _, text, wanted = _RESPONSES[form]
    parts = [Part("normal n_dir", vec, init="unit")]
    parts += [Part(w, vec.scalar, low, high) for w, low, high in wanted]
    own = bool(wanted) and (level >= 5 or shape.chance(0.4))
    if own:
        struct, fields = struct_of(k, k.draw.word.choice(("Wall", "Plane", "Surface")), parts)
        walls = k.array("walls planes surfaces", struct, "m", fields=fields)
        params: list[Expr] = []
    else:
        walls = k.array("normals plane_normals", vec, "m", init="unit")
        params = [given(site, w, vec.scalar, low, high, forms=_SOURCES) for w, low, high in wanted]
    count = k.trip_count("wall_count num_planes", "m")
    apply = _applied(k, level, vec, form, len(wanted))
    d = k.let("d ray", source[site.at])
    hits = k.let("hits bounces", k.lift(0, INT32)) if level >= 5 or shape.chance(0.5) else None
    with k.for_("j w wall_id", count) as j:
        if own:
            wall = k.let("wall plane", walls[j])
            n = k.let("n nrm", field(wall, fields[0].name))
            params = [field(wall, f.name) for f in fields[1:]]
        else:
            n = k.let("n nrm", walls[j])
        with k.if_(dot(d, n) < 0.0):
            k.assign(d, apply(d, n, params))
            if hits is not None:
                k.augment(hits, "add", 1)
    done = f"Let d start as {source.name}; for each n of {walls.name} in order, where dot(d, n) < "
    done += f"0, d becomes {_worded(k, text, params)}. Take d."
    done += deliver(site, level, "responses result_dirs out", d)
    if hits is not None:
        done += f" {site.put('hit_counts bounce_count', hits).name} gets how often."
    if level >= 5:
        start = k.let("start d_in", source[site.at])
        done += _measured(k, site, form, start, d, source.name)
    return done


@idiom
def surface_response(k: KernelBuilder, level: int) -> Title:
    """Directions reflected by, refracted at, bounced off or slid along surfaces."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = float_vec(k, {3: 6, 2: 4})
    forms = sorted(_RESPONSES)
    if level >= 4:
        forms = [f for f in forms if f not in ("refract", "stick")]
    form = k.draw.shape.choice(forms)
    done = (_once if level <= 3 else _several)(k, level, site, vec, form)
    return Title(k.name(f"{form}_directions {form}_rays {form}_at_surface"), done)
