"""Full colours of a Bayer mosaic, from one colour a pixel."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, make
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, where
from generators.kit.words import words
from generators.math.images.mosaics import MirroredImage, Mosaic, mosaic, red_places
from generators.math.images.pixels import every, pixel_type
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Operand, Var, op

_CROSS = ((-1, 0), (1, 0), (0, -1), (0, 1))
_DIAGONAL = ((-1, -1), (-1, 1), (1, -1), (1, 1))
Store = Callable[[Expr, Expr, Expr], None]
Parts = dict[str, Callable[[], tuple[Expr, Expr, Expr]]]
"""The colours of a pixel by its place in the pattern."""


def _colours(m: Mosaic) -> tuple[Store, Callable[[], None], str]:
    """Outputs for the three colours: what stores them, what stores zeros; what they are called."""
    k, image = m.k, m.image
    way = k.draw.shape.choice(("planes", "vector", "last"))
    if way == "planes":
        names = k.draw.word.choice((("r_out", "g_out", "b_out"), ("red", "green", "blue")))
        outs = [image.out(name, m.type) for name in names]
        place: list[tuple[Operand, ...]] = [image.at] * 3
        told = f"{outs[0].name}, {outs[1].name} and {outs[2].name} get the colours"
    else:
        called = words("rgb demosaiced rgb_out")
        if way == "vector":
            vec = Vec(3, m.type)
            out = image.out(" ".join(called), vec)

            def store_vector(r: Expr, g: Expr, b: Expr) -> None:
                k.store(out, image.at, make(vec, r, g, b))

            def clear_vector() -> None:
                k.store(out, image.at, make(vec, k.lift(0.0, m.type)))

            return store_vector, clear_vector, f"{out.name} gets (red, green, blue)"
        out = k.out(called, m.type, (*image.dims, "3"))
        outs = [out] * 3
        place = [(*image.at, c) for c in range(3)]
        told = f"{out.name} gets red, green and blue along its last axis"

    def store(r: Expr, g: Expr, b: Expr) -> None:
        for out, at, value in zip(outs, place, (r, g, b), strict=True):
            k.store(out, at, value)

    def clear() -> None:
        zero = k.lift(0.0, m.type)
        store(zero, zero, zero)

    return store, clear, told


def _skipped(m: Mosaic, clear: Callable[[], None]) -> None:
    if m.image.border == "skip":
        with m.k.if_(m.image.outside()):
            clear()
            m.k.return_()


def _by_place(
    m: Mosaic,
    store: Store,
    parts: Parts,
    clamped: bool = False,
) -> None:
    """Store the colours of a pixel by which of the four places of the pattern it has."""
    k = m.k
    way = k.draw.shape.choice(("chain", "nested", "select"))
    if clamped or way == "select":
        _selected(m, store, parts)
        return
    if way == "chain":
        row = k.let("red_line on_red_row", m.row_is)
        column = k.let("red_column on_red_col", m.column_is)
        tests = [("red", every(row, column)), ("green_in_red", row), ("green_in_blue", column)]
        for n, (name, test) in enumerate(tests):
            with k.elif_(test) if n else k.if_(test):
                store(*parts[name]())
        with k.else_():
            store(*parts["blue"]())
        return
    with k.if_(m.row_is):
        with k.if_(m.column_is):
            store(*parts["red"]())
        with k.else_():
            store(*parts["green_in_red"]())
    with k.else_():
        with k.if_(m.column_is):
            store(*parts["green_in_blue"]())
        with k.else_():
            store(*parts["blue"]())


def _selected(
    m: Mosaic,
    store: Store,
    parts: Parts,
) -> None:
    """The same without branches: all filters, then what the place takes of them."""
    k = m.k
    center, green, diagonal = parts["red"]()
    across, _, down = parts["green_in_red"]()
    green = k.let("g_cross cross", green)
    diagonal = k.let("diagonal diag_value", diagonal)
    across, down = k.let("across horizontal", across), k.let("down vertical", down)
    row = k.let("red_line on_red_row", m.row_is)
    column = k.let("red_column on_red_col", m.column_is)
    r = where(row, where(column, center, across), where(column, down, diagonal))
    b = where(row, where(column, diagonal, down), where(column, across, center))
    store(r, where(op("eq", row, column), green, center), b)


@idiom
def demosaic_bayer(k: KernelBuilder, level: int) -> Title:
    """Red, green and blue of each pixel of a Bayer mosaic: bilinear, gradient-corrected, by
    differences from green, or one pixel of each 2 x 2."""
    shape = k.draw.shape
    ways = {"cells": 3 * (level < 3), "bilinear": 4 * (level < 4), "corrected": 4 * (level > 2)}
    ways["differences"] = 3 * (level > 2)
    way = shape.weighted({name: n for name, n in ways.items() if n})
    if way == "cells":
        return _half_size(k, level)
    m = mosaic(k, level, 2 if way == "corrected" else 1)
    if way == "differences":
        return _from_green(m)
    return _three_colours(m, level, way)


def _three_colours(m: Mosaic, level: int, way: str) -> Title:
    """All three colours by weights that depend on the place in the pattern."""
    k, image = m.k, m.image
    store, clear, told = _colours(m)
    finish, more = _finished(m, level, way == "corrected")
    _skipped(m, clear)
    m.prepare(image.reach)
    center = k.let("center here c", m.tap(0, 0))
    parts = (_corrected if way == "corrected" else _bilinear)(m, center)
    clamped = way == "corrected" and "clamped" in more
    _by_place(m, lambda r, g, b: store(*finish((r, g, b))), parts, clamped)
    name = m.raw.name
    if way == "bilinear":
        text = f"Bilinear demosaicing of {name}, a Bayer mosaic ({m.told}): a red or blue pixel "
        text += "takes green as the mean of its 4 direct neighbours and the other colour as that "
        text += "of its 4 diagonal ones; a green pixel takes red and blue as the means of its two "
        text += "direct neighbours of that colour"
        names = "demosaic_bilinear bayer_to_rgb debayer"
    else:
        text = f"Demosaic {name}, a Bayer mosaic ({m.told}), by gradient-corrected linear filters "
        text += (
            "(Malvar, He and Cutler), each a weighted sum over 8. Green at red or blue: 4 times "
        )
        text += "the pixel, 2 times its direct neighbours, -1 times the four 2 away in its row and "
        text += "column. Red at blue and blue at red: 6 times the pixel, 2 times its diagonal "
        text += (
            "neighbours, -1.5 times those four. Red or blue at green: 5 times the pixel, 4 times "
        )
        text += "the two direct neighbours of that colour, -1 times the diagonal neighbours and "
        text += "the two 2 away on the line of that colour's neighbours, 0.5 times the two 2 away "
        text += "across it"
        names = "demosaic_malvar demosaic_linear5 gradient_corrected_demosaic"
    text += f". A pixel keeps the colour that it has{more}. {told}."
    return Title(k.name(names), text + image.said("get 0", name))


def _finished(
    m: Mosaic, level: int, overshoots: bool
) -> tuple[Callable[[tuple[Expr, Expr, Expr]], list[Expr]], str]:
    """What is done with the colours before they are stored: nothing, a clamp, or a balance."""
    k, shape = m.k, m.k.draw.shape
    balanced = level > 1 and shape.chance(0.4)
    if not balanced:
        if overshoots and shape.chance(0.6):
            white = m.high
            told = f"; the results are clamped to [0, {m.high:g}]"
            return lambda rgb: [clamp(v, 0.0, white) for v in rgb], told
        return list, ""
    black = k.scalar("black black_level", m.type, 0.05 * m.high, 0.08 * m.high)
    low, top = 1.0 / m.high, 2.0 / m.high
    if shape.chance(0.5):
        gains = k.scalar("gains wb_gains", Vec(3, m.type), low, top)
        factors: list[Expr] = [gains[c] for c in range(3)]
        told = f"the components of {gains.name} in that order"
    else:
        factors = [k.scalar(f"{c}_gain", m.type, low, top) for c in "rgb"]
        told = ", ".join(f.name for f in factors if isinstance(f, Var))

    def finish(rgb: tuple[Expr, Expr, Expr]) -> list[Expr]:
        return [f * (v - black) for f, v in zip(factors, rgb, strict=True)]

    more = f"; then {black.name} is subtracted from red, green and blue, which "
    return finish, f"{more}are multiplied by {told}"


def _bilinear(m: Mosaic, c: Expr) -> Parts:
    """Means of the neighbours of a colour."""
    across = lambda: m.mean((0, -1), (0, 1))  # noqa: E731
    down = lambda: m.mean((-1, 0), (1, 0))  # noqa: E731
    return {
        "red": lambda: (c, m.mean(*_CROSS), m.mean(*_DIAGONAL)),
        "green_in_red": lambda: (across(), c, down()),
        "green_in_blue": lambda: (down(), c, across()),
        "blue": lambda: (m.mean(*_DIAGONAL), m.mean(*_CROSS), c),
    }


def _corrected(m: Mosaic, c: Expr) -> Parts:
    """Linear filters that add what the pixel's own colour says of the curvature (ICASSP 2004)."""
    k = m.k
    sums = {
        name: k.let(called, m.sum(*steps))
        for name, called, steps in (
            ("h", "h1 near_h", ((0, -1), (0, 1))),
            ("v", "v1 near_v", ((-1, 0), (1, 0))),
            ("h2", "h2 far_h", ((0, -2), (0, 2))),
            ("v2", "v2 far_v", ((-2, 0), (2, 0))),
            ("d", "diag corners", _DIAGONAL),
        )
    }
    h, v, h2, v2, d = sums.values()

    def green() -> Expr:
        return 0.125 * (4.0 * c + 2.0 * (h + v) - h2 - v2)

    def other() -> Expr:
        return 0.125 * (6.0 * c + 2.0 * d - 1.5 * (h2 + v2))

    def across() -> Expr:
        return 0.125 * (5.0 * c + 4.0 * h - d - h2 + 0.5 * v2)

    def down() -> Expr:
        return 0.125 * (5.0 * c + 4.0 * v - d - v2 + 0.5 * h2)

    return {
        "red": lambda: (c, green(), other()),
        "green_in_red": lambda: (across(), c, down()),
        "green_in_blue": lambda: (down(), c, across()),
        "blue": lambda: (other(), green(), c),
    }


def _from_green(m: Mosaic) -> Title:
    """Red and blue by means of their differences from a full green plane."""
    k, image = m.k, m.image
    green = image.array("green green_full g_plane", m.type, 0.0, m.high, around=True)
    names = k.draw.word.choice((("r_out", "b_out"), ("red", "blue")))
    r_out, b_out = (image.out(name, m.type) for name in names)
    image.skip([(out, k.lift(0.0, m.type)) for out in (r_out, b_out)])
    m.prepare(1)
    c, g = k.let("center here c", m.tap(0, 0)), k.let("g green_here", image.near(green, 0, 0))

    def differing(*steps: tuple[int, int]) -> Expr:
        terms = [m.tap(*step) - image.near(green, *step) for step in steps]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return g + 1.0 / len(steps) * total

    across = lambda: differing((0, -1), (0, 1))  # noqa: E731
    down = lambda: differing((-1, 0), (1, 0))  # noqa: E731

    def store(r: Expr, _g: Expr, b: Expr) -> None:
        k.store(r_out, image.at, r)
        k.store(b_out, image.at, b)

    parts: Parts = {
        "red": lambda: (c, g, differing(*_DIAGONAL)),
        "green_in_red": lambda: (across(), g, down()),
        "green_in_blue": lambda: (down(), g, across()),
        "blue": lambda: (differing(*_DIAGONAL), g, c),
    }
    _by_place(m, store, parts)
    text = f"Second pass of demosaicing {m.raw.name}, a Bayer mosaic ({m.told}), with green at all "
    text += f"pixels in {green.name}: a missing red or blue is {green.name} plus the mean of "
    text += f"{m.raw.name} - {green.name} over the neighbours of that colour, which are the 4 "
    text += "diagonal ones of a blue or red pixel, and of a green pixel two in its row or column. "
    text += (
        f"The results, {r_out.name} for red and {b_out.name} for blue, copy the mosaic where it "
    )
    text += f"has the colour.{image.said('get 0', f'Each of {m.raw.name} and {green.name}')}"
    return Title(k.name("demosaic_from_green color_differences red_blue_from_green"), text)


def _half_size(k: KernelBuilder, level: int) -> Title:
    """A colour for each 2 x 2 pixels, with the mean of both greens."""
    image = MirroredImage(k, level, {"cells": 1}, channels=False, size=(6, 8))
    type_ = pixel_type(k)
    sizes = [f"2*{s}" for s in image.sizes]
    raw = k.array(words("raw mosaic bayer cfa"), type_, (*image.before, *sizes), low=0.0, high=1.0)
    row, column, told = red_places(k)
    m = Mosaic(k, image, type_, raw, told, row, column)
    store, _, stored = _colours(m)
    row0, col0 = k.let("row0 y0", 2 * image.y), k.let("col0 x0", 2 * image.x)
    rows, columns = _cell(k, row0, row, "row"), _cell(k, col0, column, "col")
    cell = [[raw[image.place(y, x)] for x in columns] for y in rows]
    green = k.let("g green_mean", 0.5 * (cell[0][1] + cell[1][0]))
    store(cell[0][0], green, cell[1][1])
    text = f"Half-size colours of {raw.name}, a Bayer mosaic ({told}): each 2 x 2 pixels "
    text += "that start on an even row and column give one, with their red, the mean of their two "
    text += f"greens, and their blue. {stored}."
    return Title(k.name("demosaic_half_size bayer_superpixels bin_bayer"), text)


def _cell(k: KernelBuilder, first: Expr, red: Expr, axis: str) -> tuple[Expr, Expr]:
    """The row (or column) of red in a 2 x 2 cell, and the other one."""
    if isinstance(red, Var):
        near = k.let(f"red_{axis}_at", first + red)
        return near, k.let(f"blue_{axis}_at", first + 1 - red)
    return (first, first + 1) if str(red) == str(k.lift(0, INT32)) else (first + 1, first)
