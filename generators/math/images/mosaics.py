"""Bayer mosaics of colour sensors, and green at all of their pixels."""

from __future__ import annotations

from dataclasses import dataclass, field

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.math.images.pixels import Image, pixel_type
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

_UINT16 = Scalar("uint16")
_NAMES = {(0, 0): "RGGB", (1, 1): "BGGR", (0, 1): "GRBG", (1, 0): "GBRG"}
_PARITY = ("even", "odd")


class MirroredImage(Image):
    """An image that is mirrored at its border pixels, which keeps the colours of a mosaic."""

    def within(self, axis: int, place: Expr, by: int = 0, times: Expr | None = None) -> Expr:
        if self.border != "mirror":
            return super().within(axis, place, by, times)
        last = self.size(axis) - 1
        return abs(place) if by < 0 else last - abs(last - place)

    def said(self, kept: str, padded: str) -> str:
        if self.border != "mirror":
            return super().said(kept, padded)
        return " The image is mirrored at its border pixels, which are not repeated."


@dataclass
class Mosaic:
    """A mosaic, the thread's pixel of it, and whether that lies in a row and a column of red."""

    k: KernelBuilder
    image: MirroredImage
    type: Scalar
    raw: Var
    told: str
    row_is: Expr
    column_is: Expr
    high: float = 1.0
    read: dict[tuple[int, int], Expr] = field(default_factory=dict)

    def tap(self, dy: int, dx: int) -> Expr:
        return cast(self.image.near(self.raw, dy, dx), self.type)

    def sum(self, *steps: tuple[int, int]) -> Expr:
        first, *rest = (self.tap(*step) for step in steps)
        for value in rest:
            first = first + value
        return first

    def mean(self, *steps: tuple[int, int]) -> Expr:
        return 1.0 / len(steps) * self.sum(*steps)

    def prepare(self, reach: int) -> None:
        """Rows and columns around, before any branch."""
        for axis in (0, 1):
            for by in (-1, 1, -2, 2)[: 2 * reach]:
                self.image.moved(axis, by)


def red_places(k: KernelBuilder) -> tuple[Expr, Expr, str]:
    """Parities of the rows and columns of red, and the pattern in words."""
    if k.draw.shape.chance(0.35):
        row = k.scalar("red_row", INT32, 0, 1)
        column = k.scalar("red_col", INT32, 0, 1)
        told = f"red where row % 2 is {row.name} and column % 2 is {column.name}, blue where both "
        return row, column, f"{told}differ, green elsewhere"
    parities = k.draw.shape.choice(sorted(_NAMES))
    row_said, column_said = (_PARITY[p] for p in parities)
    told = f"{_NAMES[parities]}: red on {row_said} rows and {column_said} columns, blue on "
    others = [_PARITY[1 - p] for p in parities]
    told += f"{others[0]} rows and {others[1]} columns, green elsewhere"
    return k.lift(parities[0], INT32), k.lift(parities[1], INT32), told


def _parity(index: Expr, wanted: Expr, bits: bool) -> Expr:
    return op("eq", index & 1 if bits else index % 2, wanted)


def mosaic(k: KernelBuilder, level: int, reach: int) -> Mosaic:
    """Declare a mosaic and the launch over its pixels."""
    borders = {"mirror": 4, "skip": 3, "padded": 2}
    image = MirroredImage(
        k, level, borders, reach=reach, channels=False, minimum=reach + 1, size=(8, 11)
    )
    type_ = pixel_type(k)
    whole = level > 1 and type_.bits == 32 and k.draw.shape.chance(0.35)
    high = 1023 if whole else 1.0
    k.half_inputs = k.half_inputs and not whole
    low = 0 if whole else 0.0
    held = _UINT16 if whole else type_
    raw = image.array("raw mosaic bayer cfa", held, low, high, around=True)
    row, column, told = red_places(k)
    bits = k.draw.shape.chance(0.5)
    tests = (_parity(image.y, row, bits), _parity(image.x, column, bits))
    return Mosaic(k, image, type_, raw, told, *tests, high=high)


@idiom
def bayer_green(k: KernelBuilder, level: int) -> Title:
    """Green at all pixels of a Bayer mosaic: means, along the smoother direction, or weighted."""
    shape = k.draw.shape
    ways = {"mean": 4 * (level == 1), "edges": 4 * (level < 4), "corrected": 3 * level}
    ways |= {"weighted": 2 * level, "threshold": 2 * level * (level > 1)}
    way = shape.weighted({name: n for name, n in ways.items() if n})
    second = way == "corrected" or (way in ("weighted", "threshold") and shape.chance(0.5))
    m = mosaic(k, level, 2 if second else 1)
    image = m.image
    out = image.out("green green_out g_plane", m.type)
    image.skip([(out, k.lift(0.0, m.type))])
    m.prepare(2 if second else 1)
    center = k.let("center here c", m.tap(0, 0))
    site = op("eq", m.row_is, m.column_is)
    if shape.chance(0.5):
        with k.if_(op("not", site)):
            k.store(out, image.at, center)
            k.return_()
        value, said = _green(m, way, second, center)
        k.store(out, image.at, value)
    else:
        with k.if_(site):
            value, said = _green(m, way, second, center)
            k.store(out, image.at, value)
        with k.else_():
            k.store(out, image.at, center)
    text = f"First pass of demosaicing {m.raw.name}, a Bayer mosaic ({m.told}): {out.name} gets "
    text += f"green at all pixels. A green pixel keeps its value; at a red or blue pixel {said}."
    text += image.said("get 0", m.raw.name)
    names = {"mean": "green_mean", "edges": "edge_directed_green", "corrected": "hamilton_green"}
    called = names.get(way, "weighted_green" if way == "weighted" else "adaptive_green")
    return Title(k.name(f"{called} {called}_plane", "interpolate_green"), text)


def _green(m: Mosaic, way: str, second: bool, c: Expr) -> tuple[Expr, str]:
    """Green at a pixel of another colour."""
    k = m.k
    left, right = k.let("left g_left", m.tap(0, -1)), k.let("right g_right", m.tap(0, 1))
    up, down = k.let("up g_up", m.tap(-1, 0)), k.let("down g_down", m.tap(1, 0))
    if way == "mean":
        return 0.25 * (left + right + up + down), "it is the mean of the 4 direct neighbours"
    gh: Expr = 0.5 * (left + right)
    gv: Expr = 0.5 * (up + down)
    dh: Expr
    dv: Expr
    dh, dv = abs(left - right), abs(up - down)
    told = "let h be the mean of the left and right neighbours, v that of the upper and lower, "
    told += "and dh and dv the absolute differences of each pair"
    if second:
        ch = k.let("curve_h lap_h", 2.0 * c - m.tap(0, -2) - m.tap(0, 2))
        cv = k.let("curve_v lap_v", 2.0 * c - m.tap(-2, 0) - m.tap(2, 0))
        gh, gv, dh, dv = gh + 0.25 * ch, gv + 0.25 * cv, dh + abs(ch), dv + abs(cv)
        told = "let ch be twice the pixel less those 2 to its left and right, h the mean of the "
        told += "left and right neighbours plus ch / 4, dh the absolute difference of those "
        told += "neighbours plus |ch|; and cv, v and dv the same of its column"
    dh, dv = k.let("dh grad_h", dh), k.let("dv grad_v", dv)
    gh, gv = k.let("gh green_h", gh), k.let("gv green_v", gv)
    if way in ("edges", "corrected"):
        return where(dh < dv, gh, gv), f"{told}; it is h where dh < dv, else v"
    if way == "weighted":
        eps = k.scalar("eps", m.type, 0.001 * m.high, 0.01 * m.high)
        wh, wv = k.let("wh weight_h", 1.0 / (dh + eps)), k.let("wv weight_v", 1.0 / (dv + eps))
        said = f"{told}; it is the mean of h and v with the weights 1 / (dh + {eps.name}) and "
        return (wh * gh + wv * gv) / (wh + wv), f"{said}1 / (dv + {eps.name})"
    limit = k.scalar("threshold edge_margin", m.type, 0.1 * m.high, 0.3 * m.high)
    green = k.let("value g", 0.5 * (gh + gv))
    with k.if_(dh + limit < dv):
        k.assign(green, gh)
    with k.elif_(dv + limit < dh):
        k.assign(green, gv)
    said = f"{told}; it is h where dh + {limit.name} < dv, v where dv + {limit.name} < dh, else "
    return green, f"{said}(h + v) / 2"
