"""Values between given ones: Bezier, Hermite and spline curves, tables, images and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from generators.arithmetic.common import DATA, alike, stored, total
from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp
from generators.kit.naming import held, maybe, routine
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var, literal

_CURVES = {
    "bezier": (
        "cubic_bezier evaluate_bezier bezier_curve",
        "the cubic Bezier curve with control values p0 to p3",
    ),
    "quadratic": (
        "quadratic_bezier quad_bezier bezier_arc",
        "the quadratic Bezier curve with control values p0 to p2",
    ),
    "hermite": (
        "hermite_spline cubic_hermite keyframe_hermite",
        "the cubic Hermite curve with ends p0, p1 and end slopes p2, p3",
    ),
    "catmull": (
        "catmull_rom catmull_rom_spline interpolate_keys",
        "the uniform Catmull-Rom segment from p1 to p2 (tangents (p2 - p0) / 2, (p3 - p1) / 2)",
    ),
    "bspline": (
        "uniform_bspline cubic_bspline bspline_sample",
        "the uniform cubic B-spline segment with control values p0 to p3 (weights over 6)",
    ),
}


def _blending(b: BodyBuilder, form: str, t: Expr) -> list[Expr]:
    """The weights of the control values at ``t``."""
    if form in ("bezier", "quadratic"):
        u = b.let("u mt s", 1.0 - t)
        if form == "quadratic":
            return [u * u, 2.0 * u * t, t * t]
        return [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t]
    t2 = b.let("t2 tt", t * t)
    t3 = b.let("t3 ttt", t2 * t)
    if form == "hermite":
        return [2.0 * t3 - 3.0 * t2 + 1.0, 3.0 * t2 - 2.0 * t3, t3 - 2.0 * t2 + t, t3 - t2]
    if form == "catmull":
        return [
            0.5 * (2.0 * t2 - t3 - t),
            0.5 * (3.0 * t3 - 5.0 * t2 + 2.0),
            0.5 * (4.0 * t2 - 3.0 * t3 + t),
            0.5 * (t3 - t2),
        ]
    u = b.let("u mt s", 1.0 - t)
    inner = (3.0 * t3 - 6.0 * t2 + 4.0) / 6.0, (3.0 * (t2 + t - t3) + 1.0) / 6.0
    return [u * u * u / 6.0, *inner, t3 / 6.0]


def _slope(form: str, t: Expr, p: Sequence[Expr]) -> Expr:
    """The derivative by ``t``."""
    u = 1.0 - t
    if form == "quadratic":
        return 2.0 * (u * (p[1] - p[0]) + t * (p[2] - p[1]))
    if form == "bezier":
        inner = u * u * (p[1] - p[0]) + 2.0 * u * t * (p[2] - p[1]) + t * t * (p[3] - p[2])
        return 3.0 * inner
    if form == "hermite":
        ends = 6.0 * t * u * (p[1] - p[0])
        return ends + (3.0 * t - 1.0) * (t - 1.0) * p[2] + t * (3.0 * t - 2.0) * p[3]
    if form == "catmull":
        linear = 2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3]
        cubic = 3.0 * (p[1] - p[2]) + p[3] - p[0]
        return 0.5 * (p[2] - p[0] + t * (2.0 * linear + 3.0 * t * cubic))
    return 0.5 * (t * t * (p[3] - p[1]) + u * u * (p[2] - p[0]) + 2.0 * u * t * (p[2] - p[1]))


@idiom(depth=1)
def spline_curve(k: KernelBuilder, level: int) -> Title:
    """A point of a curve at a parameter, by blending weights or by repeated interpolation."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=3, grid=3)
    form = shape.choice(sorted(_CURVES))
    p = _controls(s, 3 if form == "quadratic" else 4, f)
    given_t = given(s, "t param phase", f, 0.1, 0.9, each=2, shared=1, axis=1)
    at, where = _eased(k, level, given_t)
    names, about = _CURVES[form]
    places = [f"p{m} = {say(k, q)}" for m, q in enumerate(p) if say(k, q) != f"p{m}"]
    done = f"Evaluate {about} at {where}{', where ' if places else ''}{', '.join(places)}."
    if level == 5 and form in ("bezier", "bspline") and shape.chance(0.6):
        value, more = _rational(k, form, at, p, f)
        done += more
    else:
        value = _by_weights(k, level, form, at, p)
    if level >= 4:
        slope: Expr = _slope(form, at, p)
        text = "the derivative of the polynomial curve by its parameter"
        if shape.chance(0.5):
            rate = given(s, "rate inv_duration speed", f, 0.5, 2.0, forms=DATA)
            slope, text = rate * slope, f"{text}, multiplied by {say(k, rate)}"
        done += f" {s.put('tangents slopes velocity', slope).name} gets {text}."
    done += stored(s, "points curve out", value)
    return Title(k.name(names), done)


def _controls(s: Site, count: int, f: Scalar) -> list[Expr]:
    """Control values: of each thread, by row, the same for all, or a window of a longer array."""
    k = s.k
    form = k.draw.shape.choice(("arrays", "record", "table", "shared", "window"))
    if form in ("arrays", "record"):
        parts = alike(f, -2.0, 2.0, **{f"p{m}": f"p{m}" for m in range(count)})
        struct = 1.0 if form == "record" else 0.0
        return list(record(s, "Segment Curve", parts, struct).values.values())
    names = "controls ctrl keys"
    if form == "table":
        table = k.array(names, f, (s.dims[0], str(count)), low=-2.0, high=2.0)
        return [table[s.at[0], m] for m in range(count)]
    if form == "shared":
        table = k.array(names, f, str(count), low=-2.0, high=2.0)
        return [table[m] for m in range(count)]
    table = k.array(names, f, f"{s.dims[-1]}+{count - 1}", low=-2.0, high=2.0)
    return [table[s.at[-1] + m if m else s.at[-1]] for m in range(count)]


def _eased(k: KernelBuilder, level: int, t: Expr) -> tuple[Expr, str]:
    """The parameter as it is, or eased at both ends."""
    text = say(k, t)
    if level >= 2 and k.draw.shape.chance(0.2):
        s = k.let("s eased", t)
        return k.let("tc w", s * s * (3.0 - 2.0 * s)), f"3 t^2 - 2 t^3 for t = {text}"
    return held(k, "ti w", t), text


def _by_weights(k: KernelBuilder, level: int, form: str, t: Expr, p: Sequence[Expr]) -> Expr:
    """The sum of weighted control values, in place or in a helper, or De Casteljau's scheme."""
    shape = k.draw.shape
    scheme = shape.choice(("weights", "nested", "casteljau"))
    if scheme == "casteljau" and form in ("bezier", "quadratic"):
        return _casteljau(k, t, p)

    def build(body: BodyBuilder, at: Expr, *controls: Expr) -> Expr:
        weights: Sequence[Expr] = _blending(body, form, at)
        if scheme == "weights" and body is k:
            weights = [body.let(f"w{m} b{m}", w) for m, w in enumerate(weights)]
        return total([w * q for w, q in zip(weights, controls, strict=True)])

    params = {"t": t.type} | {f"p{m}": t.type for m in range(len(p))}
    chance = 0.7 if level >= 3 else 0.0
    return routine(k, chance, "blend curve_point interpolate", params, build)(t, *p)


def _casteljau(k: KernelBuilder, t: Expr, p: Sequence[Expr]) -> Expr:
    """De Casteljau's repeated interpolation, by ``wp.lerp`` or written out."""
    builtin = k.draw.shape.chance(0.5)
    first = k.draw.word.choice("qa")
    points: Sequence[Expr] = [held(k, f"{first}{m}", v) for m, v in enumerate(p)]
    for row in range(1, len(p)):
        points = [fn("lerp", a, b, t) if builtin else a + t * (b - a) for a, b in pairwise(points)]
        if len(points) > 1:
            points = [k.let(f"{'bcde'[row]}{m}", v) for m, v in enumerate(points)]
    return points[0]


def _rational(
    k: KernelBuilder, form: str, t: Expr, p: Sequence[Expr], f: Scalar
) -> tuple[Expr, str]:
    """Weighted control values over the sum of their weights."""
    weights = k.array("weights w", f, str(len(p)), low=0.5, high=2.0)
    blends = [
        k.let(f"b{m} w{m}", blend * weights[m]) for m, blend in enumerate(_blending(k, form, t))
    ]
    above = k.let("num above", total([b * q for b, q in zip(blends, p, strict=True)]))
    below = maybe(k, "den below", total(blends))
    return above / below, (
        f" The curve is rational: control value m has weight {weights.name}[m], and the sum is "
        "divided by the sum of the weighted blending functions."
    )


_TABLES = {
    1: ("lookup_table interp_table sample_profile", "table lut profile", (10, 20)),
    2: ("sample_bilinear bilinear_lookup warp_image", "table image lut", (6, 9)),
    3: ("sample_trilinear volume_lookup lut3d", "volume lut", (4, 5)),
}
_SIZES = {"w": "tz", "v": "ty", "u": "tx"}
_HOW = {
    "linear": "linearly along each axis",
    "nearest": "at the nearest point",
    "smooth": "along each axis with the weight 3 f^2 - 2 f^3 of the fraction f",
}


@idiom(depth=3)
def grid_sample(k: KernelBuilder, level: int) -> Title:
    """Look up positions in a table, image or volume: nearest, linear, smooth, with bounds."""
    shape, f = k.draw.shape, FLOAT32
    axes = shape.weighted({1: 3, 2: 3} if level < 3 else {1: 1, 2: 4, 3: 2})
    s = launch(k, list=3, grid=3, cube=1)
    names, tables, sizes = _TABLES[axes]
    letters = list(_SIZES)[-axes:]
    symbols = [k.size(_SIZES[letter], *sizes, minimum=2) for letter in letters]
    parts = {}
    for letter in letters:
        many, top = f"{letter}s pos_{letter} coord_{letter}", k.sizes[_SIZES[letter]].value - 0.4
        parts[letter] = Part(many, f, -0.6, top, many=many)
    r = record(s, "Query Sample", parts, 0.1 if level < 3 else 0.3)
    table = k.array(tables, f, symbols, low=-1.0, high=1.0)
    form = shape.choice(("linear", "linear", "smooth", "nearest")[: 4 if axes < 3 else 3])
    offsets = level > 1 and form != "nearest"
    coords, said = _coordinates(s, level, list(r.values.values()), offsets)
    cells = [
        _cell(k, c, letter, table, axis, form)
        for axis, (c, letter) in enumerate(zip(coords, parts, strict=True))
    ]
    value = _interpolated(k, level, table, cells, form)
    done = f"Look up {table.name} at {said}, {_HOW[form]}. Cells and fractions are clamped to the "
    done += "table."
    if level >= 2 and shape.chance(0.5):
        affine = {
            "gain": Part("gain scale", f, 0.5, 2.0),
            "offset": Part("offset bias", f, -0.5, 0.5),
        }
        a = record(s, "Output Range", affine, 0.3, shared=True)
        value = a["gain"] * value + a["offset"]
        done += f" Multiply by {a.say('gain')} and add {a.say('offset')}."
    if level >= 4 and cells[-1].low != cells[-1].high and shape.chance(0.4):
        value = held(k, "sample_value looked_up", value)
        done += _in_cell(s, table, cells)
    masks = level >= 3 and shape.chance(0.06)
    fill = k.scalar("fill background", f, -2.0, 2.0) if masks else None
    done += stored(s, "sampled values out", value, fill, float(masks))
    return Title(k.name(names), done)


def _coordinates(
    s: Site, level: int, found: Sequence[Expr], offsets: bool
) -> tuple[Sequence[Expr], str]:
    """Positions in units of the table's cells."""
    names = ", ".join(say(s.k, value) for value in found)
    names = f"({names})" if len(found) > 1 else names
    form = s.k.draw.shape.choice(("plain", "scaled", "offset" if offsets else "plain"))
    if form == "plain":
        return found, names
    if form == "offset":
        return [value - 0.5 for value in found], f"{names} - 0.5"
    parts = {
        "low": Part("lower origin", FLOAT32, -0.2, 0.2),
        "inverse": Part("inv_dx per_cell", FLOAT32, 0.8, 1.1),
    }
    r = record(s, "Frame GridSpec", parts, 0.15 + 0.08 * level, shared=True)
    values = [(value - r["low"]) * r["inverse"] for value in found]
    return values, f"({names} - {r.say('low')}) * {r.say('inverse')}"


@dataclass(frozen=True)
class _Cell:
    """The two indices along an axis, and the weight of the second."""

    low: Var
    high: Expr
    weight: Expr


def _cell(k: KernelBuilder, position: Expr, letter: str, table: Var, axis: int, form: str) -> _Cell:
    """The cell of a position along one axis."""
    by_shape = k.draw.shape.chance(0.5)
    count = (
        extent(table, axis)
        if by_shape
        else k.size_param(f"n_{letter} size_{letter}", _SIZES[letter])
    )
    if form == "nearest":
        by_floor = k.draw.shape.chance(0.5)
        rounded = fn("floor", position + 0.5) if by_floor else fn("round", position)
        index = k.let(f"{letter}0 i{letter}", clamp(cast(rounded, INT32), 0, count - 1))
        return _Cell(index, index, literal(0.0, FLOAT32))
    p = held(k, f"p{letter} at_{letter}", position)
    base = maybe(k, f"base_{letter} cell_{letter}", cast(fn("floor", p), INT32))
    low = k.let(f"{letter}0", clamp(base, 0, count - 2))
    weight = k.let(f"f{letter}", clamp(p - cast(low, FLOAT32), 0.0, 1.0))
    if form == "smooth":
        weight = k.let(f"w{letter}", weight * weight * (3.0 - 2.0 * weight))
    return _Cell(low, maybe(k, f"{letter}1", low + 1, 0.7), weight)


def _interpolated(
    k: KernelBuilder, level: int, table: Var, cells: Sequence[_Cell], form: str
) -> Expr:
    """The value at a position of its cell."""
    if form == "nearest":
        return table[tuple(c.low for c in cells)]
    style = k.draw.shape.choice(("lerp", "weights", "written"))

    def mixed(_: BodyBuilder, a: Expr, b: Expr, t: Expr) -> Expr:
        if style == "lerp":
            return fn("lerp", a, b, t)
        return a + t * (b - a) if style == "written" else (1.0 - t) * a + t * b

    params = dict.fromkeys("abt", FLOAT32)
    helped = 0.4 if level >= 3 and style != "lerp" else 0.0
    mix = routine(k, helped, "mix interpolate", params, mixed)

    def value(axis: int, chosen: tuple[Expr, ...], corner: str) -> Expr:
        if axis == len(cells):
            return table[chosen]
        low = value(axis + 1, (*chosen, cells[axis].low), f"{corner}0")
        high = value(axis + 1, (*chosen, cells[axis].high), f"{corner}1")
        if style == "written" or axis < len(cells) - 1:
            low, high = k.let(f"c{corner}0", low), k.let(f"c{corner}1", high)
        return mix(low, high, cells[axis].weight)

    return value(0, (), "")


def _in_cell(s: Site, table: Var, cells: Sequence[_Cell]) -> str:
    """The step of the table over the cell along its last axis."""
    last, lows = cells[-1], tuple(c.low for c in cells[:-1])
    ends = [table[lows + (at,)] for at in (last.low, last.low + 1)]
    slope = s.put("slopes gradient", ends[1] - ends[0])
    return f" {slope.name} gets the difference of the table over the cell along its last axis."
