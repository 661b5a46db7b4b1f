"""Values between grid points: linear, bilinear and trilinear interpolation, cells of points."""

from __future__ import annotations

from generators.arithmetic.parts import (
    INT32,
    Given,
    condition,
    elements,
    grid,
    local,
    named,
    parameters,
    store_where,
)
from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var, literal

_NAMES = {
    1: ("lookup_table", "interp_table", "sample_profile"),
    2: ("sample_bilinear", "bilinear_lookup", "warp_image"),
    3: ("sample_trilinear", "volume_lookup", "lut3d"),
}
_TABLE = {1: (10, 20), 2: (6, 9), 3: (4, 5)}


@idiom
def grid_sample(k: KernelBuilder, level: int) -> Title:
    """Look up positions in a table, image or volume: nearest, linear, smooth, with bounds."""
    shape = k.draw.shape
    type_ = Scalar("float32")
    axes = shape.weighted({1: 3, 2: 3} if level < 3 else {1: 1, 2: 4, 3: 2})
    g = grid(k, {1: 3, 2: 3})
    symbols = [k.size(s, *_TABLE[axes], minimum=2) for s in ("tz", "ty", "tx")[-axes:]]
    letters = ("w", "v", "u")[-axes:]
    wanted = [
        ((f"{c}s", f"pos_{c}", f"coord_{c}"), type_, -0.6, k.sizes[s].value - 0.4)
        for c, s in zip(letters, symbols, strict=True)
    ]
    found = elements(k, wanted, g, "Query Sample", 0.1 if level < 3 else 0.3)
    table = k.array(
        ("table", "image", "volume", "lut")[min(axes - 1, 2) :], type_, symbols, low=-1.0, high=1.0
    )
    out = k.out("sampled values out", type_, g.sizes)
    coords, said = _coordinates(k, level, found, letters, type_)
    form = shape.choice(
        ("linear", "linear", "smooth", "nearest") if axes < 3 else ("linear", "smooth")
    )
    cells = [
        _cell(k, c, letter, table, axis, symbols[axis], form)
        for axis, (c, letter) in enumerate(zip(coords, letters, strict=True))
    ]
    value = _interpolated(k, level, table, cells, form)
    how = {
        "linear": "linearly along each axis",
        "nearest": "at the nearest point",
        "smooth": "along each axis with the weight 3 f^2 - 2 f^3 of the fraction f",
    }[form]
    done = f"Look up {table.name} at {said}, {how}. Cells "
    done += "and the fraction are clamped to the table."
    if level >= 2 and shape.chance(0.5):
        gain = parameters(
            k,
            [("gain scale", type_, 0.5, 2.0), ("offset bias", type_, -0.5, 0.5)],
            "Output Range",
            0.3,
        )
        value = gain[0].value * value + gain[1].value
        done += f" Multiply by {gain[0].text} and add {gain[1].text}."
    if level >= 4:
        value = local(k, "sample_value looked_up", value)
        done += _slope(k, level, table, cells, g.sizes, g.at, type_)
    if level >= 3 and shape.chance(0.5):
        test = condition(k, g)
        value = local(k, "sample_value looked_up", value)
        fill = k.scalar("fill background", type_, -2.0, 2.0)
        store_where(k, out, g, test.value, value, fill)
        done += f" Where not {test.text}, store {fill.name}."
    else:
        k.store(out, g.at, value)
    return Title(k.name(*_NAMES[axes]), f"{done} The result goes to {out.name}.")


def _coordinates(
    k: KernelBuilder, level: int, found: list[Given], letters: tuple[str, ...], type_: Scalar
) -> tuple[list[Expr], str]:
    names = ", ".join(f.text for f in found)
    form = k.draw.shape.choice(
        ("plain", "scaled", "offset") if level > 1 else ("plain", "plain", "scaled")
    )
    if form == "plain":
        return [f.value for f in found], f"({names})"
    if form == "offset":
        return [f.value - 0.5 for f in found], f"({names}) - 0.5"
    low, inverse = parameters(
        k,
        [("lower origin", type_, -0.2, 0.2), ("inv_dx per_cell", type_, 0.8, 1.1)],
        "Frame GridSpec",
        0.15 + 0.08 * level,
    )
    coords = [(f.value - low.value) * inverse.value for f in found]
    return list(coords), f"(({names}) - {low.text}) * {inverse.text}"


class _Cell:
    """The two indices along an axis, and the weight of the second."""

    def __init__(self, low: Var, high: Expr, weight: Expr) -> None:
        self.low, self.high, self.weight = low, high, weight


def _cell(
    k: KernelBuilder, position: Expr, letter: str, table: Var, axis: int, symbol: str, form: str
) -> _Cell:
    count: Expr
    if k.draw.shape.chance(0.5):
        count = extent(table, axis)
    else:
        count = k.size_param(f"n_{letter} size_{letter}", symbol)
    if form == "nearest":
        rounded = fn("round", position)
        if k.draw.shape.chance(0.5):
            rounded = fn("floor", position + 0.5)
        found = fn("clamp", cast(rounded, INT32), 0, count - 1)
        index = k.let(f"{letter}0 i{letter}", found)
        return _Cell(index, index, literal(0.0, Scalar("float32")))
    p = local(k, f"p{letter} at_{letter}", position)
    base = named(k, f"base_{letter} cell_{letter}", cast(fn("floor", p), INT32), 0.5)
    low = k.let(f"{letter}0 i{letter}", fn("clamp", base, 0, count - 2))
    inside = fn("clamp", p - cast(low, Scalar("float32")), 0.0, 1.0)
    fraction = k.let(f"f{letter} t{letter}", inside)
    weight: Expr = fraction
    if form == "smooth":
        weight = k.let(f"w{letter} s{letter}", fraction * fraction * (3.0 - 2.0 * fraction))
    high: Expr = low + 1
    return _Cell(low, named(k, f"{letter}1 j{letter}", high, 0.7), weight)


def _interpolated(k: KernelBuilder, level: int, table: Var, cells: list[_Cell], form: str) -> Expr:
    if form == "nearest":
        return table[tuple(c.low for c in cells)]
    style = k.draw.shape.choice(("lerp", "weights", "written"))
    call = ""
    if level >= 3 and k.draw.shape.chance(0.6):

        def build(_: BodyBuilder, a: Expr, b: Expr, t: Expr) -> Expr:
            return a + t * (b - a)

        params = [(n, Scalar("float32")) for n in ("a", "b", "t")]
        call = helper(k, "mix lerp1 interpolate", params, build)

    def mix(a: Expr, b: Expr, t: Expr) -> Expr:
        if call:
            return k.call(call, a, b, t)
        if style == "lerp":
            return fn("lerp", a, b, t)
        if style == "weights":
            return (1.0 - t) * a + t * b
        return a + t * (b - a) if isinstance(a, Var) else (1.0 - t) * a + t * b

    def value(axis: int, chosen: tuple[Expr, ...]) -> Expr:
        if axis == len(cells):
            return table[chosen]
        low = value(axis + 1, (*chosen, cells[axis].low))
        high = value(axis + 1, (*chosen, cells[axis].high))
        if style == "written" or axis < len(cells) - 1:
            low = k.let(f"a{axis} lo below", low)
            high = k.let(f"b{axis} hi above", high)
        return mix(low, high, cells[axis].weight)

    return value(0, ())


def _slope(
    k: KernelBuilder,
    level: int,
    table: Var,
    cells: list[_Cell],
    sizes: tuple[str, ...],
    at: tuple[Var, ...],
    type_: Scalar,
) -> str:
    """The step of the table over the cell, and at level 5 the index of the cell."""
    last = cells[-1]
    lows = [c.low for c in cells[:-1]]
    first: tuple[Expr, ...] = (*lows, last.low)
    second: tuple[Expr, ...] = (*lows, last.low + 1)
    done = ""
    if last.low != last.high:
        slope = k.out("slopes gradient", type_, sizes)
        step = table[second] - table[first]
        k.store(slope, at, step)
        done = f" {slope.name} gets the difference of the table over the cell along its last axis."
    if level == 5 or not done:
        index: Expr = cells[0].low
        for axis, c in enumerate(cells[1:], start=1):
            index = index * extent(table, axis) + c.low
        ids = k.out("cells cell_index", INT32, sizes)
        seed = k.array("layer page", INT32, sizes, low=0, high=5)
        size: Expr = extent(table, 0)
        for axis in range(1, len(cells)):
            size = size * extent(table, axis)
        k.store(ids, at, seed[at] * size + index)
        done += f" {ids.name} gets the row-major index of the cell, plus {seed.name} times the "
        done += "size of the table."
    return done
