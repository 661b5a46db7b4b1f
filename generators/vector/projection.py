"""Projection: parts of vectors along and across axes, planes and small bases."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import float_vec, zero
from generators.kit.words import plurals
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.kit import (
    EACH,
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

_FORMS = {
    "project": "p",
    "reject": "u - p",
    "mirror": "2 * p - u",
    "reflect": "u - 2 * p",
}
_ARROWS = ("vec", "arrow", "motion", "source")
_AXES = ("axis", "onto", "ref_dir", "guide")


def _combined(form: str, u: Expr, part: Expr) -> Expr:
    if form == "project":
        return part
    if form == "reject":
        return u - part
    return u - 2.0 * part if form == "reflect" else 2.0 * part - u


def _part(b: BodyBuilder, u: Expr, w: Expr, unit: bool, style: str) -> Expr:
    """The part of ``u`` along ``w``."""
    if unit:
        amount: Expr = fn("dot", u, w)
    elif style == "normalised":
        w = b.let(("w_hat", "unit_w", "unit_dir"), fn("normalize", w))
        amount = fn("dot", u, w)
    else:
        amount = fn("dot", u, w) / (fn("length_sq", w) if style == "square" else fn("dot", w, w))
    if style == "named":
        amount = b.let(("amount", "coef", "along", "t"), amount)
    return amount * w


def _pair(k: KernelBuilder, level: int, site: Site, vec: Vec, unit: bool) -> tuple[Expr, Expr]:
    """The vector and the axis of a thread."""
    init = "unit" if unit else "uniform"
    low, high = (None, None) if unit else (0.4, 1.6)
    if k.draw.shape.chance(0.25 if level == 1 else 0.45):
        parts = [Part(_ARROWS, vec, -2.0, 2.0), Part(_AXES, vec, low, high, init)]
        u, w = record(k, site, ("Pair", "Query", "Sample"), parts, True)
        return held(k, _ARROWS, u), held(k, _AXES, w)
    u = k.let(_ARROWS, k.array(plurals(_ARROWS), vec, site.dims, low=-2.0, high=2.0)[site.at])
    w = vector(k, site, _AXES, vec, {EACH: 3, ROW: 2, SHARED: 3}, low, high, init)
    return u, held(k, _AXES, w)


def _simple(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """One formula of the family."""
    shape = k.draw.shape
    unit, form = shape.chance(0.5), shape.choice(sorted(_FORMS))
    u, w = _pair(k, level, site, vec, unit)
    style = shape.choice(("named", "square", "normalised", "plain"))
    apply = routine(
        k,
        named_helper(k, level),
        (f"{form}_onto", f"{form}_vec"),
        [("u", vec), ("w", vec)],
        lambda b, a, c: _combined(form, a, _part(b, a, c, unit, style)),
    )
    value = apply(u, w)
    divisor = "" if unit else " / dot(w, w)"
    done = f"With u = {said(k, u)}, w = {said(k, w)} and p = dot(u, w){divisor} * w, take "
    done += _FORMS[form]
    if level == 2 and shape.chance(0.6):
        scale = quantity(k, site, ("scale", "gain", "amount_kept"), vec.scalar, 0.3, 0.9)
        if shape.chance(0.5):
            value, after = scale * value, f" times {said(k, scale)}"
        else:
            value = fn("lerp", u, value, scale)
            after = f", blended with u as (1 - s) * u + s * value, s = {said(k, scale)}"
        done += after
    return done + "." + deliver(k, site, level, ("out", "projected", "result"), value, u)


def _against_axes(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """What is left of a vector when its parts along several axes are taken away, or their sum."""
    shape = k.draw.shape
    k.size("m", 3, 5)
    source = k.array(plurals(_ARROWS), vec, site.dims, low=-2.0, high=2.0)
    axes = k.array(("axes", "basis", "normals", "constraints"), vec, "m", init="unit")
    sliding, summing = shape.chance(0.5), shape.chance(0.3)
    count = k.trip_count(("axis_count", "num_axes"), "m")
    u = k.let(_ARROWS, source[site.at])
    rest = k.let(("total", "acc") if summing else ("rest", "left"), zero(vec) if summing else u)
    energy = k.let(("energy", "power"), zero(vec.scalar)) if level >= 4 else None
    remove = routine(
        k,
        named_helper(k, level),
        ("component", "part_along"),
        [("u", vec), ("w", vec)],
        lambda b, a, c: _part(b, a, c, True, "named" if sliding else "plain"),
    )
    with k.for_(("j", "m_idx", "c"), count) as j:
        w = k.let(("w", "axis"), axes[j])
        at = u if summing else rest
        if sliding:
            coef = k.let(("facing", "coef"), fn("dot", at, w))
            with k.if_(coef < 0.0):
                _take(k, rest, remove(at, w), summing, energy)
        else:
            _take(k, rest, remove(at, w), summing, energy)
    where = f" with dot(v, w) < 0 ({'v = u' if summing else 'v what is left'})" if sliding else ""
    done = f"Over the unit vectors w in {axes.name}{where}, in order, "
    if summing:
        done += f"sum the projections dot(u, w) * w of u = {source.name}."
    else:
        done += f"take dot(v, w) * w away from v, which starts as u = {source.name}."
    done += deliver(k, site, level, ("out", "remainder", "result"), rest, source[site.at])
    if energy is not None:
        ratio = shape.chance(0.4)
        value = energy / (fn("dot", u, u) + 0.01) if ratio else energy
        out = put(k, site, ("captured", "explained", "spent"), value)
        over = ", over dot(u, u) + 0.01" if ratio else ""
        done += f" {out.name} gets the sum of the squared lengths of these parts{over}."
    return done


def _take(k: KernelBuilder, rest: Var, part: Expr, summing: bool, energy: Var | None) -> None:
    if energy is not None:
        part = k.let(("part", "shadow"), part)
        k.augment(energy, "add", fn("length_sq", part))
    k.augment(rest, "add" if summing else "sub", part)


def _contacts(k: KernelBuilder, site: Site, vec: Vec) -> str:
    """Push points out of half spaces and take their velocity into these away."""
    shape, scalar = k.draw.shape, vec.scalar
    k.size("m", 3, 5)
    places = k.array(("positions", "points", "nodes"), vec, site.dims, low=-1.5, high=1.5)
    speeds = k.array(("velocities", "vel"), vec, site.dims, low=-2.0, high=2.0)
    parts = [
        Part(("normal", "n"), vec, init="unit"),
        Part(("offset", "height", "dist"), scalar, -0.8, 0.2),
    ]
    struct, fields = struct_of(k, k.draw.word.choice(("Plane", "Wall", "HalfSpace")), parts)
    planes = k.array(("planes", "walls", "obstacles"), struct, "m", fields=fields)
    bounce = quantity(k, site, ("restitution", "bounce"), scalar, 0.2, 0.9)
    slip = quantity(k, site, ("slip", "keep", "tangent_scale"), scalar, 0.5, 0.9)
    count = k.trip_count(("plane_count", "num_planes"), "m")
    x, v = k.let(("x", "pos"), places[site.at]), k.let(("v", "vel"), speeds[site.at])
    hits = k.let(("hits", "contacts"), k.lift(0, INT32))
    inward_only = shape.chance(0.6)

    def bounced(b: BodyBuilder, vel: Expr, n: Expr, e: Expr, mu: Expr) -> Expr:
        across = b.let(("across", "v_normal"), fn("dot", vel, n) * n)
        return mu * (vel - across) - e * across

    respond = routine(
        k,
        shape.chance(0.6),
        ("bounce_velocity", "respond", "contact_velocity"),
        [("vel", vec), ("n", vec), ("e", scalar), ("mu", scalar)],
        bounced,
    )
    with k.for_(("j", "c", "wall"), count) as j:
        plane = k.let(("plane", "wall_j"), planes[j])
        n = k.let(("n", "normal"), field(plane, fields[0].name))
        depth = k.let(("depth", "gap", "sd"), fn("dot", n, x) - field(plane, fields[1].name))
        with k.if_(depth < 0.0):
            k.augment(x, "sub", depth * n)
            k.augment(hits, "add", 1)
            if inward_only:
                with k.if_(fn("dot", v, n) < 0.0):
                    k.assign(v, respond(v, n, bounce, slip))
            else:
                k.assign(v, respond(v, n, bounce, slip))
    outs = [put(k, site, ("new_positions", "x_out"), x), put(k, site, ("new_vel", "v_out"), v)]
    outs.append(put(k, site, ("contact_counts", "touched"), cast(hits, INT32)))
    also = " if dot(v, n) < 0 too," if inward_only else ""
    return (
        f"For position x and velocity v, over the {planes.name} in order: with depth = dot(n, x) - "
        f"{fields[1].name}, where depth < 0, x loses depth * n, one contact is counted, and{also} "
        f"v becomes {said(k, slip)} * (v - q) - {said(k, bounce)} * q with q = dot(v, n) * n. "
        f"{outs[0].name}, {outs[1].name} and {outs[2].name} get x, v and the count."
    )


@idiom
def vector_projection(k: KernelBuilder, level: int) -> Title:
    """Parts of vectors along and across axes; several axes; contacts with half spaces."""
    site = over_points(k, level)
    vec = float_vec(k, {3: 5, 2: 3, 4: 1})
    if level <= 2:
        return Title(k.name("project_vectors", "split_vectors"), _simple(k, level, site, vec))
    if level <= 4:
        return Title(
            k.name("remove_components", "deflate", "project_out"),
            _against_axes(k, level, site, vec),
        )
    return Title(k.name("resolve_contacts", "collide_planes"), _contacts(k, site, vec))
