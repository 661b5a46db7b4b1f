"""Values between given ones: Bezier, Hermite and spline curves, tables, images and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from generators.arithmetic.common import total
from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, most
from generators.kit.naming import held, maybe_all
from generators.kit.sites import Site, launch, over
from generators.kit.words import listed, say
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var, literal

_CURVES = {
    "bezier": (
        "cubic_bezier bezier_curve",
        "the cubic Bezier curve with control points p0 to p3",
    ),
    "quadratic": (
        "quadratic_bezier quad_bezier bezier_arc",
        "the quadratic Bezier curve with control points p0 to p2",
    ),
    "hermite": (
        "hermite_spline cubic_hermite keyframe_hermite",
        "the cubic Hermite curve from p0 to p1 with the tangents p2 and p3 there",
    ),
    "catmull": (
        "catmull_rom catmull_rom_spline",
        "the uniform Catmull-Rom curve from p1 to p2 (tangents (p2 - p0) / 2, (p3 - p1) / 2)",
    ),
    "bspline": (
        "uniform_bspline cubic_bspline bspline_sample",
        "the uniform cubic B-spline segment with control points p0 to p3",
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
    return 0.5 * (t * t * (p[3] - p[1]) + u * u * (p[2] - p[0]) + 4.0 * u * t * (p[2] - p[1]))


_LAYOUTS = {"each": 3, "one": 2, "curves": 4}
"""Whose control points there are: each thread's, those of one curve, those of each of several."""


@idiom(depth=1)
def spline_curve(k: KernelBuilder, level: int) -> Title:
    """A point of a curve at a parameter, by blending weights or by repeated interpolation."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_CURVES))
    layout = shape.weighted(_LAYOUTS | ({"knots": 3} if form in _CHAINED else {}))
    count = 3 if form == "quadratic" else 4
    point: Type = Vec(shape.choice((2, 3)), f) if shape.chance(0.5) else f
    s, p, text = _controls(k, layout, count, point)
    at = (s.at[-1],)
    t_of = s.array("params ts", f, 0.05, 0.95, axes=(s.rank - 1,))
    t = k.let("t ti", t_of[at])
    names, about = _CURVES[form]
    done = (
        f"Evaluate at t {about}; p0 to p{count - 1} are {text}, t is {t_of.name}[{say(k, at[0])}]."
    )
    value = _by_weights(k, form, t, p)
    if shape.chance(0.2):
        out = s.put("tangents derivatives", _slope(form, t, p))
        done = done.replace("at t", "at t the derivative by t of", 1)
        names = " ".join(f"{name}_tangent" for name in names.split())
    else:
        out = s.put("points curve", value)
    return Title(k.name(names), f"{done} Store the result in {out.name}.")


_CHAINED = ("bspline", "catmull")
"""Curves of which many segments share a list of control points."""


def _controls(
    k: KernelBuilder, layout: str, count: int, point: Type
) -> tuple[Site, list[Expr], str]:
    """The launch, the control points of a thread's curve, and where they come from."""
    names = "controls ctrl_points"
    if layout in ("each", "one"):
        s = over(k, "n", k.draw.word.choice(("i", "tid", "idx")), ((48, 96),))
        if layout == "each" and k.draw.shape.chance(0.5) and isinstance(point, Scalar):
            p = [s.read([f"p{m}"], point, -2.0, 2.0) for m in range(count)]
            found = maybe_all(k, {"abcd"[m]: q for m, q in enumerate(p)}, 0.3)
            return s, found, f"the elements of {listed([say(k, q) for q in p])}"
        shape = ("n", str(count)) if layout == "each" else (str(count),)
        table = k.array(names, point, shape, low=-2.0, high=2.0)
        read = [table[(s.at[0], m) if layout == "each" else m] for m in range(count)]
        found = [k.let(f"q{m}", q) for m, q in enumerate(read)]
        whose = f"{table.name}[{s.where}]" if layout == "each" else table.name
        return s, found, f"the {count} entries of {whose}"
    first = "segments" if layout == "knots" else "curves"
    s = over(k, f"{first} samples", (f"{first[:-1]}", "j"), ((8, 12), (7, 11)))
    if layout == "knots":
        table = k.array("knots controls", point, f"{first}+{count - 1}", low=-2.0, high=2.0)
        read = [table[s.at[0] + m if m else s.at[0]] for m in range(count)]
        text = f"the {count} entries of {table.name} from {s.at[0].name} on"  # type: ignore[attr-defined]
    else:
        table = k.array(names, point, (first, str(count)), low=-2.0, high=2.0)
        read = [table[s.at[0], m] for m in range(count)]
        text = f"the entries of the curve's row of {table.name}"
    return s, maybe_all(k, {f"q{m}": q for m, q in enumerate(read)}, 0.7), text


def _by_weights(k: KernelBuilder, form: str, t: Expr, p: Sequence[Expr]) -> Expr:
    """The sum of weighted control values, in place or in a helper, or De Casteljau's scheme."""
    shape = k.draw.shape
    scheme = shape.choice(("weights", "nested", "casteljau"))
    if scheme == "casteljau" and form in ("bezier", "quadratic"):
        return _casteljau(k, t, p)

    weights: Sequence[Expr] = _blending(k, form, t)
    if scheme == "weights":
        weights = [k.let(f"w{m} b{m}", w) for m, w in enumerate(weights)]
    return total([w * q for w, q in zip(weights, p, strict=True)])


def _casteljau(k: KernelBuilder, t: Expr, p: Sequence[Expr]) -> Expr:
    """De Casteljau's repeated interpolation, by ``wp.lerp`` or written out."""
    builtin = k.draw.shape.chance(0.5)
    points: Sequence[Expr] = [held(k, f"a{m}", v) for m, v in enumerate(p)]
    for row in range(1, len(p)):
        points = [fn("lerp", a, b, t) if builtin else a + t * (b - a) for a, b in pairwise(points)]
        if len(points) > 1:
            points = [k.let(f"{'bcde'[row]}{m}", v) for m, v in enumerate(points)]
    return points[0]


_TABLES = {
    1: ("table profile lut", (10, 20)),
    2: ("image height_map texture", (6, 9)),
    3: ("volume density_grid", (4, 5)),
}
_SIZES = {1: ("knots",), 2: ("height", "width"), 3: ("nz", "ny", "nx")}
_LETTERS = "zyx"
_HOW = {
    "linear": ("linearly", "lookup_linear sample_linear interp_table"),
    "nearest": ("at the nearest point", "lookup_nearest sample_nearest"),
    "smooth": (
        "with the smoothstep weights 3 f^2 - 2 f^3 of the fractions f along the axes",
        "lookup_smooth sample_smoothstep",
    ),
    "cubic": (
        "by Catmull-Rom cubics through the four points around",
        "lookup_cubic sample_catmull_rom",
    ),
}
_PLANE = {"linear": "sample_bilinear bilinear_lookup", "nearest": "sample_nearest nearest_pixel"}
_SOLID = {"linear": "sample_trilinear trilinear_lookup", "nearest": "sample_nearest nearest_voxel"}


@idiom(depth=3)
def grid_sample(k: KernelBuilder, level: int) -> Title:
    """Look up positions in a table, image or volume: nearest, linear, smooth or cubic."""
    shape, f = k.draw.shape, FLOAT32
    axes = shape.weighted({1: 3, 2: 3} if level < 3 else {2: 4, 3: 2})
    s = _positions_launch(k) if axes == 2 else launch(k, list=1)
    tables, sizes = _TABLES[axes]
    letters = _LETTERS[-axes:]
    symbols = [k.size(symbol, *sizes, minimum=4) for symbol in _SIZES[axes]]
    unit = _Unit.drawn(s, level, axes)
    found = {}
    style = k.draw.word.choice(("{}s", "pos_{}", "sample_{}"))
    for letter, symbol in zip(reversed(letters), reversed(symbols), strict=True):
        top = (k.sizes[symbol].value - 0.4) * unit.length
        found[letter] = s.read([style.format(letter)], f, unit.low - 0.6 * unit.length, top)
    table = k.array(tables, f, symbols, low=-1.0, high=1.0)
    forms = {"linear": 4, "smooth": 1, "nearest": 2 if axes < 3 else 0}
    forms["cubic"] = 3 if level > 1 and axes == 1 else 0
    form = shape.weighted(forms)
    pixels = form == "nearest" and unit.form == "centres"
    coords = [found[n] if pixels else unit.of(found[n]) for n in letters]
    value = _sampled(k, table, coords, letters, "pixels" if pixels else form)
    how, title = _HOW[form]
    title = {2: _PLANE, 3: _SOLID}.get(axes, {}).get(form, title)
    names = [say(k, found[letter]) for letter in reversed(letters)]
    place = "the position" if len(names) == 1 else "the positions"
    done = f"Look up {table.name} at {place} ({', '.join(names)}), {how}. {unit.said}"
    done += " Positions outside get the value at the nearest edge."
    out = s.put("sampled values samples", value)
    return Title(k.name(title), f"{done} Store it in {out.name}.")


def _positions_launch(k: KernelBuilder) -> Site:
    """A list of positions, or one for each pixel of a target image."""
    if k.draw.shape.chance(0.5):
        return launch(k, list=1)
    return over(k, "rows cols", k.draw.word.choice(("i j", "row col")), ((7, 10), (7, 11)))


@dataclass(frozen=True)
class _Unit:
    """How positions are counted: by points of the table, from centres of cells, or by a length
    from an origin."""

    form: str
    said: str
    low: float = 0.0
    length: float = 1.0
    origin: Expr | None = None
    inverse: Expr | None = None

    @staticmethod
    def drawn(s: Site, level: int, axes: int) -> _Unit:
        """One that a table of so many axes may have."""
        form = s.k.draw.shape.choice(("points", "points", "centres", "length"))
        if form == "points":
            return _Unit(form, "Positions are in units of its spacing, its first point being at 0.")
        if form == "centres":
            cell = ("sample", "pixel", "voxel")[axes - 1]
            return _Unit(form, f"Positions are in {cell}s, whose centres are at halves: 0.5, 1.5.")
        inverse = s.k.scalar("inv_dx inv_spacing", FLOAT32, 2.0, 2.5)
        if axes > 1:
            said = f"Its first point is at 0, and {inverse.name} is one over the spacing of points."
            return _Unit(form, said, 0.0, 0.45, None, inverse)
        origin = s.k.scalar("x_min origin", FLOAT32, -0.5, -0.4)
        said = f"Its first point is at {origin.name}, and {inverse.name} is one over the spacing."
        return _Unit(form, said, -0.45, 0.45, origin, inverse)

    def of(self, position: Expr) -> Expr:
        """A position in points of the table."""
        if self.form == "centres":
            return position - 0.5
        if self.inverse is None:
            return position
        return (position - self.origin if self.origin is not None else position) * self.inverse


def _sampled(
    k: KernelBuilder, table: Var, coords: Sequence[Expr], letters: Sequence[str], form: str
) -> Expr:
    """The value of the table at a position."""
    if form == "cubic":
        return _cubic(k, table, coords[0])
    named = k.draw.shape.chance(0.6)
    cells = [
        _cell(k, c, letter, table, axis, form, named)
        for axis, (c, letter) in enumerate(zip(coords, letters, strict=True))
    ]
    return _interpolated(k, table, cells, form)


def _cubic(k: KernelBuilder, table: Var, position: Expr) -> Expr:
    """A Catmull-Rom cubic through the points around a position, indices being clamped."""
    last = extent(table) - 1
    p = k.let("px at_x", clamp(position, 0.0, cast(last, FLOAT32)))
    base = k.let("x0 base", cast(fn("floor", p), INT32))
    t = k.let("t fx", p - cast(base, FLOAT32))
    values = [
        k.let("v0 before", table[most(base - 1, 0)]),
        k.let("v1 left", table[base]),
        k.let("v2 right", table[least(base + 1, last)]),
        k.let("v3 behind", table[least(base + 2, last)]),
    ]
    weights = _blending(k, "catmull", t)
    return total([w * v for w, v in zip(weights, values, strict=True)])


@dataclass(frozen=True)
class _Cell:
    """The two indices along an axis, and the weight of the second."""

    low: Var
    high: Expr
    weight: Expr


def _cell(
    k: KernelBuilder,
    position: Expr,
    letter: str,
    table: Var,
    axis: int,
    form: str,
    named: bool,
) -> _Cell:
    """The cell of a position along one axis."""
    count = extent(table, axis)
    if form == "pixels":
        index = k.let(
            f"{letter}0 i{letter}", clamp(cast(fn("floor", position), INT32), 0, count - 1)
        )
        return _Cell(index, index, literal(0.0, FLOAT32))
    if form == "nearest":
        by_floor = k.draw.shape.chance(0.5)
        rounded = fn("floor", position + 0.5) if by_floor else fn("round", position)
        index = k.let(f"{letter}0 i{letter}", clamp(cast(rounded, INT32), 0, count - 1))
        return _Cell(index, index, literal(0.0, FLOAT32))
    p = held(k, f"p{letter} at_{letter}", position)
    low = k.let(f"{letter}0", clamp(cast(fn("floor", p), INT32), 0, count - 2))
    weight = k.let(f"f{letter}", clamp(p - cast(low, FLOAT32), 0.0, 1.0))
    if form == "smooth":
        weight = k.let(f"w{letter}", weight * weight * (3.0 - 2.0 * weight))
    high = k.let([f"{letter}1"], low + 1) if named else low + 1
    return _Cell(low, high, weight)


def _interpolated(k: KernelBuilder, table: Var, cells: Sequence[_Cell], form: str) -> Expr:
    """The value at a position of its cell."""
    if form in ("nearest", "pixels"):
        return table[tuple(c.low for c in cells)]
    style = k.draw.shape.choice(("lerp", "weights", "written"))

    def mix(a: Expr, b: Expr, t: Expr) -> Expr:
        if style == "lerp":
            return fn("lerp", a, b, t)
        return a + t * (b - a) if style == "written" else (1.0 - t) * a + t * b

    def value(axis: int, chosen: tuple[Expr, ...], corner: str) -> Expr:
        if axis == len(cells):
            return table[chosen]
        low = value(axis + 1, (*chosen, cells[axis].low), f"{corner}0")
        high = value(axis + 1, (*chosen, cells[axis].high), f"{corner}1")
        if style == "written" or axis < len(cells) - 1:
            low, high = k.let(f"c{corner}0", low), k.let(f"c{corner}1", high)
        return mix(low, high, cells[axis].weight)

    return value(0, (), "")
