"""Two or three unknowns: systems, crossing lines and rays, barycentric coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, make
from generators.matrix.small.grid import Grid, column, say
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr


@dataclass
class Problem:
    """Columns and right-hand side, what the unknowns are called, and the text."""

    columns: list[Expr]
    rhs: Expr
    unknowns: str
    text: str
    kind: str


def system(k: KernelBuilder, g: Grid, vec: Vec, safe: bool) -> Problem:
    mat = Mat(vec.size, vec.size, vec.scalar)
    init = "well_conditioned" if safe else "uniform"
    a = g.array(("systems", "matrices", "a"), mat, -1.0, 1.0, init)
    b = g.array(("rhs", "loads", "b"), vec, -2.0, 2.0)
    m = k.let(("m", "mat"), a[g.index])
    stem = k.draw.word.choice(("c", "col"))
    columns: list[Expr] = [k.let(f"{stem}{c}", column(m, c)) for c in range(vec.size)]
    text = f"Solve M * x = b with M = {a.name} and b = {b.name}"
    return Problem(columns, k.let(("bi", "load"), b[g.index]), "xyz"[: vec.size], text, "system")


def rays(k: KernelBuilder, g: Grid, vec: Vec, safe: bool) -> Problem:
    start = g.supply(("start", "eye"), ("starts", "p_a"), vec, -1.0, 1.0)
    dirs = g.array(("dirs", "d_a"), vec, init="unit")
    others = g.array(("others", "p_b"), vec, -1.0, 1.0)
    ways = g.array(("other_dirs", "d_b"), vec, init="unit")
    gap = k.let(("gap", "w"), others[g.index] - start)
    d, back = k.let(("d0", "d"), dirs[g.index]), k.let(("back", "minus_e"), -ways[g.index])
    text = f"Solve {say(start)} + t * {dirs.name} = {others.name} + u * {ways.name}"
    return Problem([d, back], gap, "tu", text, "rays")


def lines(k: KernelBuilder, g: Grid, vec: Vec, safe: bool) -> Problem:
    """Lines or planes n . x = c, each given by its normal and then c."""
    long = Vec(vec.size + 1, vec.scalar)
    several = k.array(
        ("lines", "edges") if vec.size == 2 else ("planes", "faces"),
        long,
        (*g.dims, str(vec.size)),
        low=-1.0,
        high=1.0,
    )
    stem = k.draw.word.choice(("l", "row", "n"))
    lines = [k.let(f"{stem}{c}", several[g.at(c)]) for c in range(vec.size)]
    columns: list[Expr] = [
        k.let(f"c{c}", make(vec, *(line[c] for line in lines))) for c in range(vec.size)
    ]
    rhs = k.let(("offsets", "cs"), make(vec, *(line[vec.size] for line in lines)))
    text = (
        f"Where the {vec.size} of {several.name} cross, (a, b, c) of each being a * x + b * y = c"
    )
    if vec.size == 3:
        text = f"Where the 3 of {several.name} cross, (a, b, c, d) being a * x + b * y + c * z = d"
    return Problem(columns, rhs, "xyz"[: vec.size], text, "lines")


SPOTS = {
    2: ((-1.0, -0.8), (1.0, -0.7), (0.1, 1.0)),
    3: ((-0.8, -0.8, -0.7), (1.0, -0.5, -0.6), (-0.4, 1.0, -0.5), (0.1, 0.2, 1.0)),
}


def barycentric(k: KernelBuilder, g: Grid, vec: Vec, safe: bool) -> Problem:
    """A point in a triangle or tetrahedron, the same for all or each thread's own."""
    points = g.array(("points", "queries"), vec, -0.7, 0.7)
    p, stem = k.let(("p", "point"), points[g.index]), k.draw.word.choice(("v", "corner"))
    if safe:
        corners = [
            k.let(f"{stem}{c}", make(vec, *(k.lift(x, vec.scalar) for x in spot)))
            for c, spot in enumerate(SPOTS[vec.size])
        ]
        where = f"corners {', '.join(map(str, SPOTS[vec.size]))}"
    else:
        mesh = k.array(("corners", "verts"), vec, (*g.dims, str(vec.size + 1)), low=-2.0, high=2.0)
        corners = [k.let(f"{stem}{c}", mesh[g.at(c)]) for c in range(vec.size + 1)]
        where = f"corners {mesh.name}[{g.place}, c]"
    edges: list[Expr] = [
        k.let(f"e{c}", corner - corners[0]) for c, corner in enumerate(corners[1:], 1)
    ]
    names = "uvw"[: vec.size]
    text = f"Barycentric coordinates {', '.join(names)} of {points.name} for the {where}"
    text += ", u that of corner 1"
    return Problem(edges, k.let(("rel", "offset"), p - corners[0]), names, text, "inside")
