"""Level sets in cells: cases of marching squares, their segments, surface nets, cut triangles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, index, same, some
from generators.kit.functions import sqrt, where
from generators.kit.sources import zero
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class _Cells:
    """Cells of a plane of values at nodes, a thread each, and the level that is looked for."""

    k: KernelBuilder
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    type: Scalar
    field: Var
    node: tuple[Expr, ...]
    """The index of the cell's first corner in the field."""
    level: Expr
    said: str

    def corner(self, right: int, up: int) -> Expr:
        *lead, y, x = self.node
        return self.field[index(*lead, y + 1 if up else y, x + 1 if right else x)]


def _cells(k: KernelBuilder, level: int) -> _Cells:
    """Cells of one plane, of several, or of one for each of several levels."""
    shape = k.draw.shape
    way = shape.weighted({"one": 5, "planes": 2 * (level > 1), "levels": 2 * (level > 1)})
    type_ = shape.weighted({FLOAT32: 9, Scalar("float64"): 1})
    sizes = k.draw.word.choice((("ny", "nx"), ("rows", "cols")))
    for size in sizes:
        k.size(size, *((7, 10) if way == "one" else (4, 5)))
    lead = {"one": (), "planes": ("slices",), "levels": ("levels",)}[way]
    for size in lead:
        k.size(size, 3, 4)
    names = [k.name("s" if way == "planes" else "n")] if lead else []
    dims = (*lead, *sizes)
    pairs = k.draw.word.choice((("y", "x"), ("row", "col"), ("j", "i")))
    at = k.thread(*dims, names=[*names, *(k.name(n) for n in pairs)])
    nodes = tuple(f"{size}+1" for size in sizes)
    whole = nodes if way == "levels" else (*lead, *nodes)
    field = k.array("field values heights phi", type_, whole, low=-1.0, high=1.0)
    if way == "levels":
        isos = k.array("isovalues iso_levels", type_, "levels", low=-0.5, high=0.5)
        iso: Expr = k.let("iso c_level", isos[at[0]])
        return _Cells(k, dims, at, type_, field, at[1:], iso, f"each of {isos.name}")
    iso = k.scalar("isovalue iso threshold", type_, -0.2, 0.2)
    return _Cells(k, dims, at, type_, field, at, iso, iso.name if isinstance(iso, Var) else "")


_AROUND = ((0, 0), (1, 0), (1, 1), (0, 1))
"""Corners of a cell in turn: steps along x and along y."""
_ORDER = "(y, x), (y, x + 1), (y + 1, x + 1), (y + 1, x)"


def _case(c: _Cells, corners: list[Expr] | Var, strict: bool) -> Var:
    """The case of a cell: a bit for each corner above the level."""
    k, way = (
        c.k,
        c.k.draw.shape.choice(("ifs", "sum", "loop" if isinstance(corners, Var) else "ifs")),
    )

    def above(v: Expr) -> Expr:
        return v > c.level if strict else v >= c.level

    if way == "sum":
        bits = [where(above(corners[n]), k.lift(1 << n, INT32), 0) for n in range(4)]
        return k.let("case mask", bits[0] + bits[1] + bits[2] + bits[3])
    case = k.let("case mask", k.lift(0, INT32))
    if way == "loop":
        assert isinstance(corners, Var)
        with k.for_("c", 4) as n, k.if_(above(corners[n])):
            k.assign(case, case | (k.lift(1, INT32) << n))
        return case
    for m in range(4):
        with k.if_(above(corners[m])):
            k.assign(case, case | (1 << m))
    return case


def _corners(c: _Cells, packed: float) -> list[Expr] | Var:
    """The four values around a cell, in locals or in a vector."""
    values = [c.corner(*step) for step in _AROUND]
    if c.k.draw.shape.chance(packed):
        return c.k.let("v corner_vals", make(Vec(4, c.type), *values))
    return [c.k.let(f"v{n}", value) for n, value in enumerate(values)]


@idiom(depth=3)
def contour_cases(k: KernelBuilder, level: int) -> Title:
    """Cases of marching squares: corners above the level, and the number of segments."""
    c, shape = _cells(k, level), k.draw.shape
    strict = shape.chance(0.5)
    corners = _corners(c, 0.5)
    case = _case(c, corners, strict)
    text = f"Marching squares: the case of each cell of {c.field.name} has bit n where corner n of "
    text += f"{_ORDER} is {'above' if strict else 'at least'} "
    text += f"{c.said.replace('each of', 'the level, one of')}. "
    way = shape.choice(("case", "table", "count", "count"))
    if way == "case":
        out = k.out("cases case_ids", INT32, c.dims)
        k.store(out, c.at, case)
        return Title(k.name("marching_squares_cases classify_cells"), f"{text}{out.name} gets it.")
    if way == "table":
        table = k.array("segment_counts num_segments", INT32, "16", low=0, high=2)
        out = k.out("cell_segments segs_per_cell", INT32, c.dims)
        k.store(out, c.at, table[case])
        text += f"{out.name} gets {table.name}[case]."
        return Title(k.name("count_segments marching_squares_count"), text)
    number = k.let("num segments", k.lift(1, INT32))
    with k.if_(some(same(case, 0), same(case, 15))):
        k.assign(number, 0)
    with k.elif_(some(same(case, 5), same(case, 10))):
        k.assign(number, 2)
    text += "Its number of segments is 0 for cases 0 and 15, 2 for 5 and 10, else 1; "
    if shape.chance(0.35):
        total = k.accumulator("row_counts row_totals", INT32, c.dims[:-1])
        k.atomic("add", total, c.at[:-1], number)
        text += f"atomically add it to {total.name} of the cell's row."
    else:
        out = k.out("cell_segments segs_per_cell", INT32, c.dims)
        k.store(out, c.at, number)
        text += f"store it in {out.name}."
    return Title(k.name("count_segments marching_squares_count"), text)


@idiom
def contour_segments(k: KernelBuilder, level: int) -> Title:
    """The segments of a level set in a cell: crossings of its edges in turn, paired at saddles."""
    c, shape = _cells(k, level), k.draw.shape
    spaced = shape.chance(0.4)
    steps = [k.scalar(n, c.type, 0.2, 0.6) for n in ("dx", "dy")] if spaced else []
    kind = Vec(4, c.type)
    v = k.let("v corner_vals", make(kind, *(c.corner(*step) for step in _AROUND)))
    ways = ("length", "segments", "segments", "midpoint")
    way = shape.choice(ways if level > 1 else ("length", "midpoint"))
    start = zero(c.type if way == "midpoint" else kind)
    names = ("sum_x", "sum_y") if way == "midpoint" else ("px", "py")
    px, py = (k.let(name, start) for name in names)
    num = k.let("num crossings", k.lift(0, INT32))
    _crossings(c, v, (px, py, num))
    text = f"Marching squares: the level set at {c.said} crosses an edge of a cell of "
    text += f"{c.field.name} whose ends differ in being below it, at a place interpolated linearly."
    if way == "midpoint":
        return _midpoint(c, (px, py, num), steps, f"{text} ")
    text += f" With corners {_ORDER}, edge n goes from corner n to the next. "
    pair = _pairing(c, v) if level > 2 else None
    return _joined(c, (px, py, num), pair, steps, way, text)


def _crossings(c: _Cells, v: Var, found: tuple[Var, Var, Var]) -> None:
    """Where the level set crosses the edges of a cell in turn, kept in vectors or summed."""
    k, (px, py, num), kind = c.k, found, Vec(4, c.type)
    ox = k.let("off_x", make(kind, *(k.lift(float(s[0]), c.type) for s in _AROUND)))
    oy = k.let("off_y", make(kind, *(k.lift(float(s[1]), c.type) for s in _AROUND)))
    with k.for_("e edge", 4) as e:
        f = k.let("f nxt", (e + 1) % 4)
        a, b = k.let("a", v[e] - c.level), k.let("b", v[f] - c.level)
        with k.if_(fn("ne", a < 0.0, b < 0.0)):
            t = k.let("t", a / (a - b))
            for p, off in ((px, ox), (py, oy)):
                place = off[e] + t * (off[f] - off[e])
                if isinstance(p.type, Vec):
                    k.set(p, num, place)
                else:
                    k.augment(p, "add", place)
            k.augment(num, "add", 1)


def _midpoint(c: _Cells, found: tuple[Var, Var, Var], steps: list[Var], text: str) -> Title:
    """The mean of the crossings of a cell: a vertex of a surface net in the plane."""
    k, (sx, sy, num), vec = c.k, found, Vec(2, c.type)
    out = k.out("vertices net_points", vec, c.dims)
    number = cast(num, c.type)
    places = [cast(c.at[-1], c.type) + sx / number, cast(c.at[-2], c.type) + sy / number]
    if steps:
        places = [step * place for step, place in zip(steps, places, strict=True)]
    with k.if_(num > 0):
        k.store(out, c.at, make(vec, *places))
    with k.else_():
        k.store(out, c.at, zero(vec))
    text += f"{out.name} gets the mean of the crossings of each cell (x, y){_units(steps)}, 0 "
    return Title(k.name("surface_nets_2d net_vertices"), f"{text}where there are none.")


def _units(steps: list[Var]) -> str:
    """In what places are measured."""
    return f" in nodes times ({steps[0].name}, {steps[1].name})" if steps else " in nodes"


_Pair = tuple[Expr, str]
"""Whether crossings 1 and 2 of a saddle are joined (and 3 and 0), for the value at its middle lies
on the other side of the level than corner 0; and that value in words."""


def _pairing(c: _Cells, v: Var) -> _Pair:
    """How the four crossings of a saddle are joined: by the mean, or the asymptotic decider."""
    k = c.k
    if k.draw.shape.chance(0.5):
        center = k.let("center mean", 0.25 * (v[0] + v[1] + v[2] + v[3]))
        said = "the mean of the four corners"
        return fn("ne", center < c.level, v[0] < c.level), said
    # With all four edges crossed, v0 + v2 and v1 + v3 lie on different sides of 2 * level.
    a, b = ([v[n] - c.level for n in side] for side in ((0, 2), (1, 3)))
    decider = k.let("decider det", a[0] * a[1] - b[0] * b[1])
    text = "the bilinear value at the saddle"
    return decider < 0.0, text


def _joined(
    c: _Cells,
    found: tuple[Var, Var, Var],
    pair: _Pair | None,
    steps: list[Var],
    way: str,
    text: str,
) -> Title:
    """One or two segments of a cell, or their length."""
    k, (px, py, num) = c.k, found
    shift = num
    if pair is not None:
        shift = k.let("first", k.lift(0, INT32))
        with k.if_(both(same(num, 4), pair[0])):
            k.assign(shift, 1)
        text += "Two crossings are joined. Of four, in the order of edges, the first two and the "
        text += f"last two are where {pair[1]} lies on the same side of the level as corner 0, "
        text += "else the middle two and the outer two. "
    else:
        text += "Two crossings are joined; of four, in the order of edges, the first and last two. "

    def ends(p: Var, s: Expr, n: int) -> Expr:
        place: Expr = 2 * s if pair is None else shift + 2 * s
        place = place + n if n else place
        return p[place if pair is None else place % 4]

    axes = (("x", px), ("y", py))
    if way == "length":
        total = k.let("length total", zero(c.type))
        with k.for_("s seg", num // 2) as s:
            gaps: list[Expr] = [k.let(f"d{a}", ends(p, s, 1) - ends(p, s, 0)) for a, p in axes]
            if steps:
                sides = zip("xy", steps, gaps, strict=True)
                gaps = [k.let(f"len_{a}", step * gap) for a, step, gap in sides]
            k.augment(total, "add", sqrt(gaps[0] * gaps[0] + gaps[1] * gaps[1]))
        out = k.out("lengths contour_length", c.type, c.dims)
        k.store(out, c.at, total)
        text += f"{out.name} gets the summed length of the segments of each cell{_scaled(steps)}."
        return Title(k.name("contour_length level_set_length"), text)
    return _segments(c, num, steps, text, lambda s, n: [ends(p, s, n) for _, p in axes])


def _segments(
    c: _Cells,
    num: Var,
    steps: list[Var],
    text: str,
    end: Callable[[Expr, int], list[Expr]],
) -> Title:
    """Two places for the segments of a cell."""
    k, vec = c.k, Vec(4, c.type)
    out = k.out("segments line_segments", vec, (*c.dims, "2"))
    base = [cast(c.at[-1], c.type), cast(c.at[-2], c.type)]
    with k.for_("s seg", 2) as s:
        with k.if_(2 * s < num):
            parts = [base[a] + p for n in (0, 1) for a, p in enumerate(end(s, n))]
            if steps:
                parts = [steps[n % 2] * part for n, part in enumerate(parts)]
            k.store(out, index(*c.at, s), make(vec, *parts))
        with k.else_():
            k.store(out, index(*c.at, s), zero(vec))
    text += f"{out.name} gets the ends (x, y, x, y){_units(steps)} of up to two segments of each "
    text += "cell, zeros where there are fewer."
    return Title(k.name("marching_squares extract_contours"), text)


def _scaled(steps: list[Var]) -> str:
    return f", nodes lying {steps[0].name} and {steps[1].name} apart" if steps else ""
