"""Directions at surfaces: reflected, refracted, bounced off or slid along unit normals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import float_vec
from generators.kit.words import plurals
from generators.program.dtypes import INT32, Type, Vec
from generators.program.expr import Expr
from generators.vector.kit import (
    EACH,
    LITERAL,
    ROW,
    SHARED,
    Part,
    Site,
    held,
    named_helper,
    over_points,
    quantity,
    record,
    routine,
    said,
    struct_of,
    vector,
)
from generators.vector.output import deliver, put

_SOURCES = {EACH: 2, ROW: 1, SHARED: 3, LITERAL: 2}
_RAYS = ("incoming", "ray_dir", "heading", "velocity")
Response = Callable[[BodyBuilder, Expr, Expr, Sequence[Expr]], Expr]


def _reflect(b: BodyBuilder, d: Expr, n: Expr, _: Sequence[Expr]) -> Expr:
    return d - 2.0 * fn("dot", d, n) * n


def _slide(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    return p[0] * (d - fn("dot", d, n) * n)


def _bounce(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    across = b.let(("across", "v_normal"), fn("dot", d, n) * n)
    tangent = b.let(("along", "v_tangent"), d - across)
    return p[1] * tangent - p[0] * across


def _elastic(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    return d - (1.0 + p[0]) * fn("dot", d, n) * n


def _stick(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    """Coulomb friction: the tangential part loses at most mu times the normal part."""
    push = b.let(("push", "vn"), fn("dot", d, n))
    tangent = b.let(("tangent", "vt"), d - push * n)
    speed = b.let(("speed", "vt_len"), fn("sqrt", fn("dot", tangent, tangent) + 1.0e-4))
    return fn("max", 1.0 - p[0] * fn("abs", push) / speed, 0.0) * tangent


def _refract(b: BodyBuilder, d: Expr, n: Expr, p: Sequence[Expr]) -> Expr:
    ray = b.let(("ray", "unit_dir"), fn("normalize", d))
    cosine = b.let(("cosine", "cos_in"), -fn("dot", ray, n))
    k2 = b.let(("k2", "cos2_out"), 1.0 - p[0] * p[0] * (1.0 - cosine * cosine))
    bent = b.let(("bent", "mirrored"), ray + 2.0 * cosine * n)
    b.note("total internal reflection where no transmitted ray exists")
    with b.if_(k2 > 0.0):
        b.assign(bent, p[0] * ray + (p[0] * cosine - fn("sqrt", k2)) * n)
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
        text = text.replace(f"P{n}", said(k, p))
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
    parts = [Part(_RAYS, vec, -1.5, 1.5), Part(("normal", "surface_normal"), vec, init="unit")]
    if shape.chance(0.35):
        d, n = record(k, site, ("Contact", "Hit", "Impact"), parts, True)
    else:
        d = k.array(plurals(_RAYS), vec, site.dims, low=-1.5, high=1.5)[site.at]
        sources = {EACH: 4, ROW: 1, SHARED: 2}
        n = vector(k, site, ("normal", "surface_normal"), vec, sources, None, None, "unit")
    names = said(k, d), said(k, n)
    d, n = k.let(("d", "ray"), d), held(k, ("n", "nrm"), n)
    _, text, wanted = _RESPONSES[form]
    params = [quantity(k, site, w, vec.scalar, low, high, _SOURCES) for w, low, high in wanted]
    apply = _applied(k, level, vec, form, len(params))
    side = shape.choice(("any", "into", "flip")) if level >= 2 else "any"
    done = f"With d = {names[0]} and n = {names[1]}, "
    formula = _worded(k, text, params)
    if side == "flip":
        n = k.let(("facing", "n_used"), fn("where", fn("dot", d, n) < 0.0, n, -n))
        done += "n negated where dot(d, n) >= 0, "
    if side == "into":
        result = k.let(("result", "outgoing_dir"), d)
        with k.if_(fn("dot", d, n) < 0.0):
            k.assign(result, apply(d, n, params))
        value: Expr = result
        done += f"take {formula} where dot(d, n) < 0, else d."
    else:
        value = apply(d, n, params)
        done += f"take {formula}."
    if level >= 3:
        value = k.let(("out_dir", "after"), value)
    done += deliver(k, site, level, ("responses", "result_dirs", "out"), value, d)
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
        mass = quantity(k, site, ("mass", "weight"), vec.scalar, 0.5, 2.0, _SOURCES)
        out = put(k, site, ("impulses", "kicks"), mass * (after - d))
        return f" {out.name} gets {said(k, mass)} * (e - {word}), e being the direction after."
    if kind == "loss":
        lost = 0.5 * (fn("dot", d, d) - fn("dot", after, after))
        out = put(k, site, ("energy_loss", "dissipated"), lost)
        return f" {out.name} gets (|{word}|^2 - |e|^2) / 2, e being the direction after."
    if kind == "turn":
        out = put(k, site, ("alignment", "cosines"), fn("dot", d, after))
        return f" {out.name} gets dot({word}, e), e being the direction after."
    view = k.scalar(("view_dir", "light_dir", "up"), vec, init="unit")
    out = put(k, site, ("glints", "brightness"), fn("dot", after, view))
    return f" {out.name} gets dot(e, {view.name}), e being the direction after."


def _several(k: KernelBuilder, level: int, site: Site, vec: Vec, form: str) -> str:
    """Several surfaces in turn, with parameters of their own at level 5."""
    shape = k.draw.shape
    k.size("m", 3, 5)
    source = k.array(plurals(_RAYS), vec, site.dims, low=-1.5, high=1.5)
    _, text, wanted = _RESPONSES[form]
    parts = [Part(("normal", "n_dir"), vec, init="unit")]
    parts += [Part(w, vec.scalar, low, high) for w, low, high in wanted]
    own = bool(wanted) and (level >= 5 or shape.chance(0.4))
    if own:
        struct, fields = struct_of(k, k.draw.word.choice(("Wall", "Plane", "Surface")), parts)
        walls = k.array(("walls", "planes", "surfaces"), struct, "m", fields=fields)
        params: list[Expr] = []
    else:
        walls = k.array(("normals", "plane_normals"), vec, "m", init="unit")
        params = [quantity(k, site, w, vec.scalar, low, high, _SOURCES) for w, low, high in wanted]
    count = k.trip_count(("wall_count", "num_planes"), "m")
    apply = _applied(k, level, vec, form, len(wanted))
    d = k.let(("d", "ray"), source[site.at])
    hits = k.let(("hits", "bounces"), k.lift(0, INT32)) if level >= 5 or shape.chance(0.5) else None
    with k.for_(("j", "w", "wall_id"), count) as j:
        if own:
            wall = k.let(("wall", "plane"), walls[j])
            n = k.let(("n", "nrm"), field(wall, fields[0].name))
            params = [field(wall, f.name) for f in fields[1:]]
        else:
            n = k.let(("n", "nrm"), walls[j])
        with k.if_(fn("dot", d, n) < 0.0):
            k.assign(d, apply(d, n, params))
            if hits is not None:
                k.augment(hits, "add", 1)
    done = f"Let d start as {source.name}; for each n of {walls.name} in order, where dot(d, n) < "
    done += f"0, d becomes {_worded(k, text, params)}. Take d."
    done += deliver(k, site, level, ("responses", "result_dirs", "out"), d)
    if hits is not None:
        done += f" {put(k, site, ('hit_counts', 'bounce_count'), hits).name} gets how often."
    if level >= 5:
        start = k.let(("start", "d_in"), source[site.at])
        done += _measured(k, site, form, start, d, source.name)
    return done


@idiom
def surface_response(k: KernelBuilder, level: int) -> Title:
    """Directions reflected by, refracted at, bounced off or slid along surfaces."""
    site = over_points(k, level)
    vec = float_vec(k, {3: 6, 2: 4})
    forms = sorted(_RESPONSES)
    if level >= 4:
        forms = [f for f in forms if f not in ("refract", "stick")]
    form = k.draw.shape.choice(forms)
    done = (_once if level <= 3 else _several)(k, level, site, vec, form)
    return Title(k.name(f"{form}_directions", f"{form}_rays", f"{form}_at_surface"), done)
