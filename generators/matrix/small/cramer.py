"""Two or three unknowns by Cramer's rule: systems, crossing lines, barycentric coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.small.parts import POINTS, column, gets
from generators.program.dtypes import INT32, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var


@dataclass
class Problem:
    """Columns and right-hand side, what the unknowns are called, and the text."""

    columns: list[Expr]
    rhs: Expr
    unknowns: str
    text: str
    kind: str


def system(k: KernelBuilder, g: Site, vec: Vec, safe: bool) -> Problem:
    mat = Mat(vec.size, vec.size, vec.scalar)
    init = "well_conditioned" if safe else "uniform"
    a = g.array("systems matrices a", mat, -1.0, 1.0, init=init)
    b = g.array("rhs loads b", vec, -2.0, 2.0)
    m = k.let("m mat", a[g.at])
    stem = k.draw.word.choice(("c", "col"))
    columns: list[Expr] = [k.let(f"{stem}{c}", column(m, c)) for c in range(vec.size)]
    text = f"Solve M * x = b with M = {a.name} and b = {b.name}"
    return Problem(columns, k.let("bi load", b[g.at]), "xyz"[: vec.size], text, "system")


def rays(k: KernelBuilder, g: Site, vec: Vec, safe: bool) -> Problem:
    start = given(g, "start eye", vec, -1.0, 1.0)
    dirs = g.array("dirs d_a", vec, init="unit")
    others = g.array("others p_b", vec, -1.0, 1.0)
    ways = g.array("other_dirs d_b", vec, init="unit")
    gap = k.let("gap w", others[g.at] - start)
    d, back = k.let("d0 d", dirs[g.at]), k.let("back minus_e", -ways[g.at])
    text = f"Solve {say(k, start)} + t * {dirs.name} = {others.name} + u * {ways.name}"
    return Problem([d, back], gap, "tu", text, "rays")


def lines(k: KernelBuilder, g: Site, vec: Vec, safe: bool) -> Problem:
    """Lines or planes n . x = c, each given by its normal and then c."""
    long = Vec(vec.size + 1, vec.scalar)
    several = k.array(
        "lines edges" if vec.size == 2 else "planes faces",
        long,
        (*g.dims, str(vec.size)),
        low=-1.0,
        high=1.0,
    )
    stem = k.draw.word.choice(("l", "row", "n"))
    lines = [k.let(f"{stem}{c}", several[g.index(c)]) for c in range(vec.size)]
    columns: list[Expr] = [
        k.let(f"c{c}", make(vec, *(line[c] for line in lines))) for c in range(vec.size)
    ]
    rhs = k.let("offsets cs", make(vec, *(line[vec.size] for line in lines)))
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


def barycentric(k: KernelBuilder, g: Site, vec: Vec, safe: bool) -> Problem:
    """A point in a triangle or tetrahedron, the same for all or each thread's own."""
    points = g.array("points queries", vec, -0.7, 0.7)
    p, stem = k.let("p point", points[g.at]), k.draw.word.choice(("v", "corner"))
    if safe:
        corners = [
            k.let(f"{stem}{c}", make(vec, *(k.lift(x, vec.scalar) for x in spot)))
            for c, spot in enumerate(SPOTS[vec.size])
        ]
        where = f"corners {', '.join(map(str, SPOTS[vec.size]))}"
    else:
        mesh = k.array("corners verts", vec, (*g.dims, str(vec.size + 1)), low=-2.0, high=2.0)
        corners = [k.let(f"{stem}{c}", mesh[g.index(c)]) for c in range(vec.size + 1)]
        where = f"corners {mesh.name}[{g.where}, c]"
    edges: list[Expr] = [
        k.let(f"e{c}", corner - corners[0]) for c, corner in enumerate(corners[1:], 1)
    ]
    names = "uvw"[: vec.size]
    text = f"Barycentric coordinates {', '.join(names)} of {points.name} for the {where}"
    text += ", u that of corner 1"
    return Problem(edges, k.let("rel offset", p - corners[0]), names, text, "inside")


def _det2(k: KernelBuilder, level: int, scalar: Scalar) -> str:
    vec = Vec(2, scalar)
    if level < 2 or k.draw.shape.chance(0.4):
        return ""

    def build(_: BodyBuilder, a: Expr, b: Expr) -> Expr:
        return a[0] * b[1] - a[1] * b[0]

    return helper(k, "cross2 det2 perp_dot", (("a", vec), ("b", vec)), build)


def _det3(k: KernelBuilder, level: int, scalar: Scalar) -> str:
    vec = Vec(3, scalar)
    if level < 2 or k.draw.shape.chance(0.4):
        return ""

    def build(_: BodyBuilder, a: Expr, b: Expr, c: Expr) -> Expr:
        return fn("dot", a, fn("cross", b, c))

    return helper(k, "triple det3", (("a", vec), ("b", vec), ("c", vec)), build)


def _determinant(k: KernelBuilder, name: str, parts: Sequence[Expr]) -> Expr:
    if name:
        return k.call(name, *parts)
    if len(parts) == 2:
        a, b = parts
        return a[0] * b[1] - a[1] * b[0]
    return fn("dot", parts[0], fn("cross", parts[1], parts[2]))


def _quotient(k: KernelBuilder, p: Problem, made: str, det: Expr, c: int) -> Expr:
    """The determinant with the right-hand side in column ``c``, over that of all columns."""
    return _determinant(k, made, _replaced(p, c)) / det


def _replaced(p: Problem, c: int) -> list[Expr]:
    return [p.rhs if at == c else one for at, one in enumerate(p.columns)]


def _solved(k: KernelBuilder, p: Problem, made: str, det: Expr) -> list[Expr]:
    by_inverse = k.draw.shape.chance(0.3)
    if by_inverse:
        scale = k.let("inv_det scale", 1.0 / det)
        return [
            k.let(name, _determinant(k, made, _replaced(p, c)) * scale)
            for c, name in enumerate(p.unknowns)
        ]
    return [k.let(name, _quotient(k, p, made, det, c)) for c, name in enumerate(p.unknowns)]


def _guarded(k: KernelBuilder, g: Site, p: Problem, made: str, det: Expr) -> tuple[list[Expr], str]:
    """Solve only where the determinant is large enough."""
    scalar = scalar_of(det.type)
    floor = given(g, "min_det eps", scalar, 0.05, 0.9)
    unknowns: list[Expr] = [k.let(name, zero(scalar)) for name in p.unknowns]
    with k.if_(fn("abs", det) > floor):
        for c, unknown in enumerate(unknowns):
            assert isinstance(unknown, Var)
            k.assign(unknown, _quotient(k, p, made, det, c))
    what = " and ".join(p.unknowns) if len(unknowns) == 2 else "all three"
    return unknowns, f"; where the determinant is at most {say(k, floor)} in size, {what} are 0"


def _menu(
    k: KernelBuilder, p: Problem, det: Expr, solution: list[Expr], safe: bool
) -> dict[str, Extra]:
    rhs = p.rhs
    names = p.unknowns
    total = solution[0] + solution[1] if len(solution) == 2 else sum_of(solution)

    def inside() -> Expr:
        least = solution[0]
        for part in (*solution[1:], 1.0 - total):
            least = fn("min", least, part)
        return fn("where", least >= 0.0, k.lift(1, INT32), k.lift(0, INT32))

    def largest() -> Expr:
        most = fn("abs", solution[0])
        for part in solution[1:]:
            most = fn("max", most, fn("abs", part))
        return most

    menu = {
        "det": Extra("dets determinants", lambda: det, "the determinant of the columns"),
        "work": Extra(
            "works products",
            lambda: sum_of([part * rhs[c] for c, part in enumerate(solution)]),
            f"dot(({', '.join(names)}), r), r being the right-hand side",
        ),
        "largest": Extra("largest peaks", largest, f"the largest size of {', '.join(names)}"),
        "size": Extra(
            "sizes norms_sq",
            lambda: sum_of([part * part for part in solution]),
            f"the sum of the squares of {', '.join(names)}",
        ),
    }
    if safe and p.kind == "inside":
        del menu["det"]
    if p.kind == "inside":
        rest = f"1 - {' - '.join(names)}"
        menu["inside"] = Extra(
            "inside hits", inside, f"1 where {', '.join(names)} and {rest} are >= 0, else 0"
        )
        menu["rest"] = Extra("first corner_weights", lambda: 1.0 - total, rest)
    if p.kind == "rays":
        menu["ahead"] = Extra(
            "ahead hits",
            lambda: fn(
                "where",
                fn("and", solution[0] > 0.0, solution[1] > 0.0),
                k.lift(1, INT32),
                k.lift(0, INT32),
            ),
            "1 where t and u are positive, else 0",
        )
    return menu


def sum_of(parts: Sequence[Expr]) -> Expr:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _written(k: KernelBuilder, g: Site, p: Problem, solution: list[Expr], vec: Vec) -> str:
    """All unknowns in one vector, each in an array, or the point that they stand for."""
    ways = ["vector", "apart", "first"] + (["all weights"] if p.kind == "inside" else [])
    way = k.draw.shape.choice(ways)
    if way == "apart":
        targets = [
            g.put(f"{name}_out {name}s", value)
            for name, value in zip(p.unknowns, solution, strict=True)
        ]
        return f" Write {', '.join(p.unknowns)} to {', '.join(t.name for t in targets)}."
    if way == "all weights":
        full = Vec(vec.size + 1, vec.scalar)
        value = make(full, 1.0 - sum_of(solution), *solution)
        return gets(
            g,
            "weights barycentric_out",
            value,
            f"1 - {' - '.join(p.unknowns)} and then {', '.join(p.unknowns)}",
        )
    if way == "first" and p.kind in ("rays", "inside"):
        return gets(
            g,
            "at crossings shifts",
            solution[0] * p.columns[0],
            f"{p.unknowns[0]} times the first column of the system",
        )
    return gets(g, "solutions coords x_out", make(vec, *solution), f"({', '.join(p.unknowns)})")


@idiom
def cramer_solve(k: KernelBuilder, level: int) -> Title:
    """Cramer's rule: quotients of determinants, and what to do when there is no solution."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid q_id")
    scalar = k.draw.wide_float_type()
    size = shape.choice((2, 3))
    vec = Vec(size, scalar)
    safe = level < 3 or (level < 5 and shape.chance(0.4))
    kinds = [system, barycentric] if safe else [system, barycentric, lines]
    kinds += [rays] if size == 2 and not safe else []
    p = shape.choice(kinds)(k, g, vec, safe)
    made = (_det2 if size == 2 else _det3)(k, level, scalar)
    det = k.let("det d_all denom", _determinant(k, made, p.columns))
    if safe:
        solution, note = _solved(k, p, made, det), ""
    else:
        solution, note = _guarded(k, g, p, made, det)
    done = f"{p.text}, by Cramer's rule{note}.{_written(k, g, p, solution, vec)}"
    done += extras(g, _menu(k, p, det, solution, safe), (0, 1, 1, 2, 3)[level - 1])
    names = {"system": "cramer_solve solve_cramer", "rays": "cross_rays meet_rays"}
    names |= {
        "lines": ("cross_lines", "meet_lines") if size == 2 else ("cross_planes", "meet_planes")
    }
    return Title(k.name(names.get(p.kind, "barycentric locate_points")), done)
