"""Rays against planes, discs, triangles and boxes; the nearest of several, and what is hit."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Type, Vec
from generators.program.expr import Expr, Var, op
from generators.vector.kit import (
    GRID,
    LIST,
    Part,
    Site,
    launch,
    named_helper,
    quantity,
    record,
    routine,
    said,
    struct_of,
)
from generators.vector.output import deliver, put


def _plane(b: BodyBuilder, o: Expr, d: Expr, parts: list[Expr], miss: float, culled: bool) -> Expr:
    denom = b.let(("denom", "d_dot_n"), fn("dot", d, parts[1]))
    t = b.let(("t", "dist"), b.lift(miss, denom.type))
    with b.if_(denom < -0.1 if culled else fn("abs", denom) > 0.1):
        b.assign(t, fn("dot", parts[0] - o, parts[1]) / denom)
        reached: Expr = t < 0.0
        if len(parts) > 2:
            reached = op("or", reached, fn("length", o + t * d - parts[0]) > parts[2])
        with b.if_(reached):
            b.assign(t, b.lift(miss, denom.type))
    return t


def _triangle(b: BodyBuilder, o: Expr, d: Expr, parts: list[Expr], miss: float, _: bool) -> Expr:
    e1 = b.let(("e1", "edge1", "ab"), parts[1] - parts[0])
    e2 = b.let(("e2", "edge2", "ac"), parts[2] - parts[0])
    p = b.let(("pvec", "h", "p"), fn("cross", d, e2))
    det = b.let(("det", "a_det"), fn("dot", e1, p))
    hit_t = b.let(("t_hit", "t"), b.lift(miss, det.type))
    with b.if_(det > 0.1):
        s = b.let(("tvec", "s"), o - parts[0])
        u = b.let(("u", "bary_u"), fn("dot", s, p) / det)
        q = b.let(("qvec", "q"), fn("cross", s, e1))
        v = b.let(("v", "bary_v"), fn("dot", d, q) / det)
        t = b.let(("dist", "t_tri"), fn("dot", e2, q) / det)
        inside = op("and", op("and", u > 0.0, v > 0.0), op("and", u + v < 1.0, t > 0.0))
        with b.if_(inside):
            b.assign(hit_t, t)
    return hit_t


def _box(b: BodyBuilder, o: Expr, d: Expr, parts: list[Expr], miss: float, _: bool) -> Expr:
    assert isinstance(o.type, Vec)
    near: Expr | None = None
    far: Expr | None = None
    t1 = b.let(("t_lo", "t0"), fn("cw_div", parts[0] - o, d))
    t2 = b.let(("t_hi", "t1"), fn("cw_div", parts[1] - o, d))
    for c in range(o.type.size):
        first, last = fn("min", t1[c], t2[c]), fn("max", t1[c], t2[c])
        near = first if near is None else fn("max", near, first)
        far = last if far is None else fn("min", far, last)
    assert near is not None
    assert far is not None
    enter = b.let(("enter", "t_near"), fn("max", near, 0.0))
    leave = b.let(("leave", "t_far"), far)
    return fn("where", leave < enter, b.lift(miss, enter.type), enter)


def shape_test(form: str, miss: float, culled: bool) -> Callable[..., Expr]:
    build = {"plane": _plane, "disc": _plane, "triangle": _triangle, "box": _box}[form]
    return lambda b, o, d, *parts: build(b, o, d, list(parts), miss, culled)


_TEXTS = {
    "plane": "t = dot(a - o, n) / dot(d, n), a miss where t < 0",
    "disc": "t = dot(a - o, n) / dot(d, n), a miss where t < 0 or |o + t * d - a| > r",
    "triangle": "Moeller and Trumbore's test of the triangle a, b, c: p = cross(d, c - a), "
    "det = dot(b - a, p), u = dot(o - a, p) / det, q = cross(o - a, b - a), v = dot(d, q) / det, "
    "t = dot(c - a, q) / det, a miss where u < 0, v < 0, u + v > 1 or t < 0",
    "box": "the slab test of the box lo, hi: with t1 = (lo - o) / d and t2 = (hi - o) / d by "
    "component, t is the largest min(t1, t2), at least 0, and far the smallest max(t1, t2), a miss "
    "where far < t",
}


def _parts(form: str, vec: Vec, several: bool) -> list[Part]:
    scalar = vec.scalar
    if form == "triangle":
        return [
            Part(("a", "v0", "p0"), vec, -4.0, -1.5),
            Part(("b", "v1", "p1"), vec, 1.0, 4.0),
            Part(("c", "v2", "p2"), vec, -2.0, 3.0),
        ]
    if form == "box":
        return [
            Part(("lower", "lo", "box_min"), vec, -1.2, -0.7),
            Part(("upper", "hi", "box_max"), vec, 0.7, 1.2),
        ]
    parts = [
        Part(("anchor", "center", "point"), vec, -0.5, 0.5),
        Part(("normal", "nrm"), vec, init="unit"),
    ]
    if form == "disc":
        parts.append(
            Part(("radius", "size"), scalar, 1.5 if several else 1.0, 3.0 if several else 2.0)
        )
    return parts


def _ray(k: KernelBuilder, site: Site, vec: Vec) -> tuple[Expr, Expr, str]:
    """Origin and direction of the thread's ray, and how to say it."""
    aim = Part(("direction", "dir", "ray_dir"), vec, init="unit")
    parts = [Part(("origin", "start", "ray_origin"), vec, -1.5, 1.5), aim]
    o, d = record(k, site, ("Ray", "Beam"), parts, k.draw.shape.chance(0.5))
    o, d = k.let(("o", "ro"), o), k.let(("d", "rd"), d)
    return o, d, "each ray o + t * d"


def _single(k: KernelBuilder, level: int, site: Site, vec: Vec, form: str) -> str:
    shape = k.draw.shape
    culled = shape.chance(0.5)
    o, d, text = _ray(k, site, vec)
    miss = k.draw.value.choice((-1.0, 0.0, 100.0)) if form != "plane" else -1.0
    parts = _parts(form, vec, False)
    shared, as_struct = shape.chance(0.6), shape.chance(0.4)
    pieces = record(k, site, (form.capitalize(), "Target"), parts, as_struct, shared)
    names = [
        f"{letter} = {piece}"
        for letter, piece in zip(_letters(form), _said(k, pieces), strict=True)
    ]
    kinds: list[tuple[str, Type]] = [("o", vec), ("d", vec)]
    kinds += [(letter, p.type) for letter, p in zip(_letters(form), pieces, strict=True)]
    test = routine(k, named_helper(k, level), _names(form), kinds, shape_test(form, miss, culled))
    t = test(o, d, *pieces)
    t = t if isinstance(t, Var) else k.let(("t", "hit", "dist"), t)
    done = f"For {text}, {', '.join(names)}: {_TEXTS[form]}{_parallel(form, culled)}; "
    done += f"{miss} for a miss."
    if level >= 2 and shape.chance(0.5):
        reach = quantity(k, site, ("max_dist", "t_max", "fog"), vec.scalar, 0.6, 1.5)
        value: Expr = fn("min", t, reach) if form == "box" and shape.chance(0.5) else t / reach
        rule = "min(t, r)" if getattr(value, "op", "") == "min" else "t / r"
        done += f" Take {rule} with r = {_said(k, [reach])[0]}."
    else:
        value = t
    hits = level if form in ("plane", "box") else 1
    done += deliver(k, site, hits, ("distances", "hit_t", "depths"), value)
    if level >= 3:
        done += f" {put(k, site, ('points', 'hit_points'), o + t * d).name} gets o + t * d."
    return done


def _parallel(form: str, culled: bool) -> str:
    if form == "triangle":
        return ", or where det <= 0.1"
    if form == "box":
        return ""
    return ", or where dot(d, n) >= -0.1" if culled else ", or where |dot(d, n)| <= 0.1"


def _letters(form: str) -> tuple[str, ...]:
    return {
        "plane": ("a", "n"),
        "disc": ("a", "n", "r"),
        "triangle": ("a", "b", "c"),
        "box": ("lo", "hi"),
    }[form]


def _said(k: KernelBuilder, values: list[Expr]) -> list[str]:
    return [said(k, v) for v in values]


def _names(form: str) -> tuple[str, ...]:
    return (f"ray_{form}", f"intersect_{form}", f"hit_{form}")


def _nearest(k: KernelBuilder, level: int, site: Site, vec: Vec, form: str) -> str:
    """The nearest of several shapes, and at level 5 what is seen there."""
    shape, scalar = k.draw.shape, vec.scalar
    culled = shape.chance(0.5)
    o, d, text = _ray(k, site, vec)
    k.size("m", 3, 5)
    parts = _parts(form, vec, True)
    shade = level >= 5
    if shade:
        parts.append(Part(("albedo", "reflectance", "emission"), scalar, 0.2, 1.0))
    struct, fields = struct_of(k, form.capitalize(), parts)
    names = (f"{form}s" if form != "box" else "boxes", "scene", "targets")
    shapes = k.array(names, struct, "m", fields=fields)
    count = k.trip_count((f"num_{form}s", "shape_count"), "m")
    far = k.draw.value.choice((20.0, 50.0, 100.0))
    best = k.let(("best", "t_min", "closest"), k.lift(far, scalar))
    tagged = shade or shape.chance(0.7)
    which = k.let(("which", "hit_id"), k.lift(-1, INT32)) if tagged else None
    used = len(_letters(form))
    kinds = [
        ("o", vec),
        ("d", vec),
        *((w, p.type) for w, p in zip(_letters(form), parts, strict=False)),
    ]
    test = routine(k, shape.chance(0.8), _names(form), kinds, shape_test(form, -1.0, culled))
    light = k.let(("light", "color"), k.lift(0.0, scalar)) if shade else None
    with k.for_(("j", "s", "shape_id"), count) as j:
        item = k.let(("item", "target"), shapes[j])
        t = k.let(("t", "cand"), test(o, d, *(field(item, f.name) for f in fields[:used])))
        with k.if_(op("and", t > 0.0, t < best)):
            k.assign(best, t)
            if which is not None:
                k.assign(which, j)
            if light is not None:
                k.assign(light, field(item, fields[used].name))
    listed = ", ".join(f"{w} = {f.name}" for w, f in zip(_letters(form), fields, strict=False))
    done = (
        f"For {text}, over {shapes.name} ({listed}): {_TEXTS[form]}{_parallel(form, culled)}. "
        f"Take the smallest t > 0 ({far} if all miss)."
    )
    done += deliver(k, site, level, ("depths", "hit_t", "distances"), best)
    if which is not None:
        ids = put(k, site, ("ids", "hit_ids"), cast(which, INT32))
        done += f" {ids.name} gets its index, or -1."
    if light is not None:
        fog = quantity(k, site, ("fog", "falloff", "absorption"), scalar, 0.05, 0.4)
        fading = shape.choice(("exp", "rational", "square"))
        value, rule = _faded(fading, light, fog, best, _said(k, [fog])[0])
        out = put(k, site, ("radiance", "image", "shade"), value)
        done += f" {out.name} gets its {fields[used].name} (0 if all miss) {rule}."
    return done


def _faded(form: str, light: Var, fog: Expr, t: Var, name: str) -> tuple[Expr, str]:
    if form == "exp":
        return light * fn("exp", -fog * t), f"times exp(-{name} * t)"
    if form == "rational":
        return light / (1.0 + fog * t), f"over 1 + {name} * t"
    return light / (1.0 + fog * t * t), f"over 1 + {name} * t^2"


@idiom
def ray_shapes(k: KernelBuilder, level: int) -> Title:
    """Rays against planes, discs, triangles and boxes."""
    shape = k.draw.shape
    site = launch(k, {LIST: 3, GRID: 2 if level < 3 else 4})
    scalar = k.draw.wide_float_type()
    form = shape.choice(("plane", "box") if level == 1 else sorted(_TEXTS))
    flat = form in ("plane", "box") and shape.chance(0.3)
    vec = Vec(2 if flat else 3, scalar)
    build = _single if level <= 3 else _nearest
    done = build(k, level, site, vec, form)
    return Title(
        k.name(f"ray_{form}_hits", f"intersect_{_plural(form)}", f"trace_{_plural(form)}"), done
    )


def _plural(form: str) -> str:
    return f"{form}es" if form.endswith("x") else f"{form}s"
