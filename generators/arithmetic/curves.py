"""Cubic and quadratic curves between control values: Bezier, Hermite, Catmull-Rom, B-spline."""

from __future__ import annotations

from itertools import pairwise

from generators.arithmetic.parts import (
    Given,
    Grid,
    coefficient,
    condition,
    elements,
    grid,
    local,
    named,
    store_where,
    total,
)
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var, literal

_KERNELS = {
    "bezier": ("cubic_bezier", "evaluate_bezier", "bezier_curve"),
    "quadratic": ("quadratic_bezier", "quad_bezier", "bezier_arc"),
    "hermite": ("hermite_spline", "cubic_hermite", "keyframe_hermite"),
    "catmull": ("catmull_rom", "catmull_rom_spline", "interpolate_keys"),
    "bspline": ("uniform_bspline", "cubic_bspline", "bspline_sample"),
}
_ABOUT = {
    "bezier": "the cubic Bezier curve with control values p0 to p3",
    "quadratic": "the quadratic Bezier curve with control values p0 to p2",
    "hermite": "the cubic Hermite curve with ends p0, p1 and end slopes p2, p3",
    "catmull": "the uniform Catmull-Rom segment from p1 to p2 (tangents (p2 - p0) / 2 and "
    "(p3 - p1) / 2)",
    "bspline": "the uniform cubic B-spline segment with control values p0 to p3 (weights over 6)",
}
Blends = tuple[list[Expr], list[Expr]]


def _blending(k: BodyBuilder, form: str, t: Expr) -> list[Expr]:
    """The weights of the control values at ``t``."""
    if form in ("bezier", "quadratic"):
        u = k.let("u mt s", 1.0 - t)
        if form == "quadratic":
            return [u * u, 2.0 * u * t, t * t]
        return [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t]
    t2 = k.let("t2 tt", t * t)
    t3 = k.let("t3 ttt", t2 * t)
    if form == "hermite":
        return [2.0 * t3 - 3.0 * t2 + 1.0, 3.0 * t2 - 2.0 * t3, t3 - 2.0 * t2 + t, t3 - t2]
    if form == "catmull":
        return [
            0.5 * (2.0 * t2 - t3 - t),
            0.5 * (3.0 * t3 - 5.0 * t2 + 2.0),
            0.5 * (4.0 * t2 - 3.0 * t3 + t),
            0.5 * (t3 - t2),
        ]
    u = k.let("u mt s", 1.0 - t)
    return [
        u * u * u / 6.0,
        (3.0 * t3 - 6.0 * t2 + 4.0) / 6.0,
        (3.0 * (t2 + t - t3) + 1.0) / 6.0,
        t3 / 6.0,
    ]


def _slope(form: str, t: Expr, p: list[Expr]) -> Expr:
    """The derivative by ``t``."""
    if form == "quadratic":
        return 2.0 * ((1.0 - t) * (p[1] - p[0]) + t * (p[2] - p[1]))
    if form == "bezier":
        u = 1.0 - t
        inner = u * u * (p[1] - p[0]) + 2.0 * u * t * (p[2] - p[1]) + t * t * (p[3] - p[2])
        return 3.0 * inner
    if form == "hermite":
        ends = 6.0 * t * (1.0 - t) * (p[1] - p[0])
        return ends + (3.0 * t - 1.0) * (t - 1.0) * p[2] + t * (3.0 * t - 2.0) * p[3]
    if form == "catmull":
        linear = 2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3]
        cubic = 3.0 * (p[1] - p[2]) + p[3] - p[0]
        return 0.5 * (p[2] - p[0] + t * (2.0 * linear + 3.0 * t * cubic))
    u = 1.0 - t
    return 0.5 * (t * t * (p[3] - p[1]) + u * u * (p[2] - p[0]) + 2.0 * u * t * (p[2] - p[1]))


@idiom
def spline_curve(k: KernelBuilder, level: int) -> Title:
    """A point of a curve at a parameter, by blending weights or by repeated interpolation."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    g = grid(k, {1: 3, 2: 3})
    form = shape.choice(sorted(_KERNELS))
    p = _controls(k, 3 if form == "quadratic" else 4, g, type_)
    t = coefficient(k, "t param phase", type_, 0.1, 0.9, g, "ees")
    out = k.out("points curve out", type_, g.sizes)
    at, where = _clamped(k, level, t, type_)
    values = [q.value for q in p]
    places = [f"p{m} = {q.text}" for m, q in enumerate(p) if q.text != f"p{m}"]
    text = f", where {', '.join(places)}" if places else ""
    rational = level == 5 and form in ("bezier", "bspline") and shape.chance(0.6)
    value = _by_weights(k, level, form, at, values, g) if not rational else None
    done = f"Evaluate {_ABOUT[form]} at {where}{text}."
    if value is None:
        value, more = _rational(k, form, at, values, g, type_)
        done += more
    if level >= 4:
        done += _derivatives(k, level, form, at, values, g, type_)
    done += _stored(k, level, out, value, g, type_)
    return Title(k.name(*_KERNELS[form]), done)


def _controls(k: KernelBuilder, count: int, g: Grid, type_: Scalar) -> list[Given]:
    form = k.draw.shape.choice(("arrays", "record", "table", "shared", "window"))
    if form in ("arrays", "record"):
        wanted = [((f"p{m}",), type_, -2.0, 2.0) for m in range(count)]
        return elements(k, wanted, g, "Segment Curve", 1.0 if form == "record" else 0.0)
    names = "controls ctrl keys"
    places: list[tuple[Expr, ...]]
    if form == "window":
        table = k.array(
            names, type_, (*g.sizes[:-1], f"{g.sizes[-1]}+{count - 1}"), low=-2.0, high=2.0
        )
        places = [(*g.at[:-1], g.at[-1] + m if m else g.at[-1]) for m in range(count)]
    elif form == "table" or g.ndim == 1:
        table = k.array(names, type_, (*g.sizes, str(count)), low=-2.0, high=2.0)
        places = [(*g.at, literal(m, g.at[0].type)) for m in range(count)]
    else:
        table = k.array(names, type_, (g.sizes[0], str(count)), low=-2.0, high=2.0)
        places = [(g.at[0], literal(m, g.at[0].type)) for m in range(count)]
    shown = [
        ", ".join(
            str(getattr(i, "value", getattr(i, "name", f"{g.at[-1].name} + {m}"))) for i in place
        )
        for m, place in enumerate(places)
    ]
    return [
        Given(table[place], f"{table.name}[{text}]")
        for place, text in zip(places, shown, strict=True)
    ]


def _clamped(k: KernelBuilder, level: int, t: Given, type_: Scalar) -> tuple[Expr, str]:
    if level >= 2 and k.draw.shape.chance(0.5):
        low, high = float(k.draw.value.constant(0.15, 0.3)), float(k.draw.value.constant(0.7, 0.85))
        if k.draw.shape.chance(0.5) and isinstance(t.value, Expr):
            s = k.let("s eased", t.value)
            return k.let("tc w", s * s * (3.0 - 2.0 * s)), f"3 t^2 - 2 t^3 for t = {t.text}"
        if "[" in t.text or t.text not in {p.name for p in k.params if not p.shape}:
            clamped = fn("clamp", t.value, low, high)
            return k.let("tc w", clamped), f"{t.text} clamped to [{low}, {high}]"
    return local(k, "ti w", t.value), t.text


def _by_weights(k: KernelBuilder, level: int, form: str, t: Expr, p: list[Expr], g: Grid) -> Expr:
    shape = k.draw.shape
    scheme = shape.choice(("weights", "nested", "casteljau"))
    if scheme == "casteljau" and form in ("bezier", "quadratic"):
        return _casteljau(k, t, p, helped=level >= 3)
    if level >= 3 and shape.chance(0.7):
        type_ = t.type

        def build(body: BodyBuilder, at: Expr, *controls: Expr) -> Expr:
            return total([w * q for w, q in zip(_blending(body, form, at), controls, strict=True)])

        params = [("t", type_), *((f"p{m}", type_) for m in range(len(p)))]
        return k.call(helper(k, "blend curve_point interpolate", params, build), t, *p)
    weights = _blending(k, form, t)
    if scheme == "weights":
        weights = [k.let(f"w{m} b{m}", w) for m, w in enumerate(weights)]
    return total([w * q for w, q in zip(weights, p, strict=True)])


def _casteljau(k: KernelBuilder, t: Expr, p: list[Expr], helped: bool) -> Expr:
    """De Casteljau's repeated interpolation, by ``wp.lerp`` or written out."""
    builtin = k.draw.shape.chance(0.5)

    def mix(a: Expr, b: Expr) -> Expr:
        return fn("lerp", a, b, t) if builtin else a + t * (b - a)

    points = [local(k, f"q{m} a{m}", v) for m, v in enumerate(p)]
    row = 0
    while len(points) > 1:
        row += 1
        points = [mix(a, b) for a, b in pairwise(points)]
        if len(points) > 1:
            points = [k.let(f"{'bcde'[row]}{m} r{row}{m}", v) for m, v in enumerate(points)]
    return points[0]


def _rational(
    k: KernelBuilder, form: str, t: Expr, p: list[Expr], g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    weights = k.array("weights w", type_, str(len(p)), low=0.5, high=2.0)
    blends = [k.let(f"b{m} w{m}", b * weights[m]) for m, b in enumerate(_blending(k, form, t))]
    above = k.let("num above", total([b * q for b, q in zip(blends, p, strict=True)]))
    below = named(k, "den below", total(blends))
    return above / below, (
        f" The curve is rational: control value m has weight {weights.name}[m], and the sum is "
        "divided by the sum of the weighted blending functions."
    )


def _derivatives(
    k: KernelBuilder, level: int, form: str, t: Expr, p: list[Expr], g: Grid, type_: Scalar
) -> str:
    tangent = k.out("tangents slopes velocity", type_, g.sizes)
    slope: Expr = _slope(form, t, p)
    text = f" {tangent.name} gets the derivative of the polynomial curve by its parameter"
    if k.draw.shape.chance(0.5):
        rate = coefficient(k, "rate inv_duration speed", type_, 0.5, 2.0, g, "se")
        slope, text = rate.value * slope, f"{text}, multiplied by {rate.text}"
    k.store(tangent, g.at, slope)
    return f"{text}."


def _stored(k: KernelBuilder, level: int, out: Var, value: Expr, g: Grid, type_: Scalar) -> str:
    done = ""
    if level >= 2 and k.draw.shape.chance(0.4):
        base = coefficient(k, "offset bias base", type_, -1.0, 1.0, g, "se")
        value, done = value + base.value, f" Add {base.text}."
    if level >= 3 and k.draw.shape.chance(0.6):
        test = condition(k, g)
        value = local(k, "point result", value)
        store_where(k, out, g, test.value, value, 0.0)
        return f"{done} {out.name} gets it where {test.text}, else zero."
    k.store(out, g.at, value)
    return f"{done} Store it in {out.name}."
