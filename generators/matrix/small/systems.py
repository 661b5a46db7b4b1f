"""Systems of two or three unknowns: Cramer's rule, and least squares by normal equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, dot, exp, least, most, sin, where
from generators.kit.naming import applied, routine
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.parts import Entry, Place, column, mat_of, place, times_identity
from generators.program.dtypes import INT32, Mat, Scalar, Type, Vec, scalar_of
from generators.program.expr import Expr, Operand, Var

Column = Expr | tuple[Expr, ...]
"""A vector, or its entries where nobody needs the vector."""


@dataclass
class Problem:
    """Columns and right-hand side, what the unknowns are called, the text, names of the kernel."""

    columns: Sequence[Column]
    rhs: Column
    unknowns: str
    text: str
    names: str

    @property
    def inside(self) -> bool:
        return self.unknowns[0] == "u"


def system(g: Place, vec: Vec, safe: bool, loose: bool) -> Problem:
    """A matrix times the unknowns."""
    k, mat = g.k, Mat(vec.size, vec.size, vec.scalar)
    init = "well_conditioned" if safe else "uniform"
    a = g.read("systems matrices mats", mat, -1.0, 1.0, init=init)
    b = g.read("rhs loads", vec, -2.0, 2.0)
    m = k.let("m mat", a)
    stem = k.draw.word.choice(("c", "col"))
    columns: list[Column] = [
        (m[0, c], m[1, c]) if loose else k.let(f"{stem}{c}", column(m, c)) for c in range(vec.size)
    ]
    text = f"Solve A * ({', '.join('xyz'[: vec.size])}) = {g.tell(b)} with A = {g.tell(a)}"
    load = k.let("bi load", b)
    return Problem(columns, load, "xyz"[: vec.size], text, "cramer_solve solve_cramer")


def rays(g: Place, vec: Vec, safe: bool, loose: bool) -> Problem:
    """Where two rays in the plane meet."""
    k, (first, second, third, fourth) = g.k, g.k.draw.word.choice(_RAYS)
    start, ray = g.read(first, vec, -1.0, 1.0), g.read(second, vec, init="unit")
    other, way = g.read(third, vec, -1.0, 1.0), g.read(fourth, vec, init="unit")
    gap = k.let("gap w", other - start)
    text = f"Where two lines in the plane meet: {g.tell(start)} + t * {g.tell(ray)} ="
    text += f" {g.tell(other)} + u *"
    columns: list[Column] = [k.let("d0 d", ray), k.let("back minus_e", -way)]
    return Problem(columns, gap, "tu", f"{text} {g.tell(way)}", "intersect_rays line_crossings")


_RAYS = (("p_a", "d_a", "p_b", "d_b"), ("starts", "dirs", "other_starts", "other_dirs"))


def lines(g: Place, vec: Vec, safe: bool, loose: bool) -> Problem:
    """Lines or planes n . x = c, each given by its normal and then c."""
    k, size = g.k, vec.size
    long = Vec(size + 1, vec.scalar)
    names = "lines" if size == 2 else "planes"
    several = g.array(names, long, -1.0, 1.0, more=str(size))
    stem = k.draw.word.choice(("l", "row", "n"))
    rows = [k.let(f"{stem}{c}", several[g.index(c)]) for c in range(size)]
    parts = [tuple(r[c] for r in rows) for c in range(size + 1)]
    columns: list[Column] = [
        part if loose else k.let(f"c{c}", make(vec, *part)) for c, part in enumerate(parts[:size])
    ]
    rhs: Column = parts[size] if loose else k.let("offsets cs", make(vec, *parts[size]))
    form = ("(a, b, c) being a * x + b * y = c", "(a, b, c, d) being a * x + b * y + c * z = d")
    what = "two lines" if size == 2 else "three planes"
    text = f"Point where the {what} of each set in {several.name} meet, {form[size - 2]}"
    titles = ("intersect_lines", "intersect_planes")
    return Problem(columns, rhs, "xyz"[:size], text, titles[size - 2])


def barycentric(g: Place, vec: Vec, safe: bool, loose: bool) -> Problem:
    """A point in a triangle or tetrahedron, the same for all or each thread's own."""
    k = g.k
    point = g.read("points queries", vec, -0.7, 0.7)
    p, stem = k.let("p point", point), k.draw.word.choice(("v", "corner"))
    mesh = g.array("corners verts", vec, -2.0, 2.0, more=str(vec.size + 1))
    found: list[Expr] = [mesh[g.index(c)] for c in range(vec.size + 1)]
    shape = "triangle" if vec.size == 2 else "tetrahedron"
    corners = [k.let(f"{stem}{c}", corner) for c, corner in enumerate(found)]
    edges: list[Expr] = [k.let(f"e{c}", v - corners[0]) for c, v in enumerate(corners[1:], 1)]
    unknowns = "uvw"[: vec.size]
    said = ", ".join(f"{u} of corner {c}" for c, u in enumerate(unknowns, 1))
    text = f"of each of {g.tell(point)} in its {shape} in {mesh.name}, {said}"
    rhs = k.let("rel offset", p - corners[0])
    text = f"Barycentric coordinates {text}"
    return Problem(edges, rhs, unknowns, text, "barycentric locate_points")


def _sum(parts: Sequence[Expr]) -> Expr:
    return reduce(lambda total, part: total + part, parts)


def _determinant(g: Place, vec: Vec, helped: bool) -> Callable[..., Expr]:
    """The determinant of two or three columns, that of two in a helper if it is ``helped``."""
    if vec.size == 2:
        args: dict[str, Type] = {"a": vec, "b": vec}
        names = "cross2 det2 perp_dot"

        def cross(a: Column, b: Column) -> Expr:
            return a[0] * b[1] - a[1] * b[0]

        return routine(g.k, 1.0, names, args, lambda _, a, b: cross(a, b)) if helped else cross
    found: list[tuple[Expr, Expr, Var]] = []

    def triple(a: Expr, b: Expr, c: Expr) -> Expr:
        # The determinants below and above the line of the first unknown share a normal.
        if not found:
            found.append((b, c, g.k.let("normal n12", fn("cross", b, c))))
        first, second, normal = found[0]
        return dot(a, normal if b is first and c is second else fn("cross", b, c))

    return triple


def _solution(
    g: Place, p: Problem, determinant: Callable[..., Expr], det: Expr, safe: bool
) -> tuple[list[Expr], str]:
    """The unknowns: quotients of determinants, where the one below is large enough."""
    k, scalar = g.k, scalar_of(det.type)

    def above(c: int) -> Expr:
        return determinant(*(p.rhs if at == c else one for at, one in enumerate(p.columns)))

    if safe:
        scale = k.let("inv_det scale", 1.0 / det) if g.chance(0.3) else None
        values = (
            above(c) / det if scale is None else above(c) * scale for c in range(len(p.columns))
        )
        return [g.let(name, value) for name, value in zip(p.unknowns, values, strict=True)], ""
    floor = g.one("min_det det_eps", scalar, 0.2, 0.9)
    unknowns = [g.let(name, zero(scalar)) for name in p.unknowns]
    with k.if_(abs(det) > floor):
        for c, unknown in enumerate(unknowns):
            k.assign(unknown, above(c) / det)
    what = " and ".join(p.unknowns) if len(unknowns) == 2 else "all three"
    text = f"; where the determinant is at most {g.tell(floor)} in size, {what} are 0"
    return list(unknowns), text


def _menu(g: Place, p: Problem, solution: list[Expr]) -> dict[str, Entry]:
    """Whether a point is inside, or a crossing ahead of both starts."""
    yes, no = g.k.lift(1, INT32), g.k.lift(0, INT32)
    if p.inside:
        lowest = least(*solution, 1.0 - _sum(solution))
        text = f"1 where {g.tell(lowest)} >= 0, else 0"
        return {"inside": ("inside hits", lambda: where(lowest >= 0.0, yes, no), text)}
    ahead = fn("and", solution[0] > 0.0, solution[1] > 0.0)
    text = "1 where t and u are positive, else 0"
    return {"ahead": ("ahead hits", lambda: where(ahead, yes, no), text)}


def _written(g: Place, p: Problem, solution: list[Expr], vec: Vec) -> str:
    """All unknowns in one vector, each in an array, or the point that they stand for."""
    ways = ["vector", "vector"] + (["all weights"] if p.inside else ["apart"])
    ways += ["first"] if p.unknowns == "tu" else []
    way = g.shape.choice(ways)
    if way == "apart":
        suffix = g.k.draw.word.choice(("_out", "s"))
        pairs = zip(p.unknowns, solution, strict=True)
        targets = [g.put(f"{name}{suffix}", value).name for name, value in pairs]
        return f" Write {', '.join(p.unknowns)} to {', '.join(targets)}."
    if way == "all weights":
        value = make(Vec(vec.size + 1, vec.scalar), 1.0 - _sum(solution), *solution)
        return g.gets("weights barycentric_out", value)
    if way == "first":
        text = "t times the direction of the first line"
        first = p.columns[0]
        assert isinstance(first, Expr)
        return g.gets("offsets reach", solution[0] * first, text)
    names = {"t": "params_out tu_out", "u": "barycentric coords"}.get(p.unknowns[0], "points_out")
    names = "solutions x_out" if p.text.startswith("Solve") else names
    return g.gets(names, make(vec, *solution))


@idiom(depth=1)
def cramer_solve(k: KernelBuilder, level: int) -> Title:
    """Cramer's rule: quotients of determinants, and what to do when there is no solution."""
    shape = k.draw.shape
    g = place(k, "i tid q_id")
    vec = Vec(shape.choice((2, 3)), k.draw.wide_float_type())
    kinds = [system, barycentric, lines] + ([rays] if vec.size == 2 else [])
    kind = shape.choice(kinds)
    safe = kind is system and shape.chance(0.7)
    helped = vec.size == 2 and level >= 2 and shape.chance(0.6)
    determinant = _determinant(g, vec, helped)
    p = kind(g, vec, safe, vec.size == 2 and not helped)
    det = k.let("det denom", determinant(*p.columns))
    solution, note = _solution(g, p, determinant, det, safe)
    done = f"{p.text}, by Cramer's rule{note}.{_written(g, p, solution, vec)}"
    if (p.inside or p.unknowns == "tu") and shape.chance(0.4):
        done += g.offer(1, **_menu(g, p, solution))
    return Title(k.name(p.names), done)


Basis = Callable[[Expr, Expr], tuple[Operand, ...]]
_BASES: dict[str, Basis] = {
    "line": lambda t, _: (1.0, t),
    "parabola": lambda t, _: (1.0, t, t * t),
    "through zero": lambda t, _: (t, t * t),
    "wave": lambda t, by: (cos(by * t), sin(by * t)),
    "offset wave": lambda t, by: (1.0, cos(by * t), sin(by * t)),
    "decay": lambda t, by: (1.0, exp(-by * t)),
}
_SPEEDS = {"wave": "omega frequency", "offset wave": "omega frequency", "decay": "rate decay_rate"}
"""What the abscissa of a basis is multiplied by."""


@dataclass
class Model:
    """The samples: rows of a design matrix, what is seen, and how many there are."""

    g: Place
    row: Callable[[Expr], Expr]
    vec: Vec
    text: str
    shared: bool
    values: Var
    count: Expr

    @contextmanager
    def samples(self) -> Iterator[tuple[Var, Expr, Expr]]:
        """A pass over the samples: number, row and value; its names are free again after it."""
        k = self.g.k
        before = set(k.used)
        with k.for_("j s obs", self.count) as j:
            yield j, k.let("a row basis", self.row(j)), self.values[self.g.index(j)]
        k.used = before | {f.name for f in k.functions}


def _model(g: Place, scalar: Scalar, level: int) -> Model:
    """Rows by a basis of one abscissa, of a place in the plane, or read from an array."""
    k = g.k
    count = k.size_param("num_obs obs_count", k.size("m", 4, 5))
    way = g.shape.weighted({"basis": 5, "plane": 3, "rows": 3})
    shared = level >= 2 and g.chance(0.4)
    kind = g.shape.choice(sorted(_BASES)) if way == "basis" else ""
    sources: dict[str, tuple[str, Scalar | Vec]] = {
        "rows": ("design features", Vec(g.shape.choice((2, 3)), scalar)),
        "plane": ("places uv xy", Vec(2, scalar)),
        "basis": ("times abscissas ts", scalar),
    }
    names, type_ = sources[way]
    low, high = (0.0, 3.0) if "wave" in kind or kind == "decay" else (-1.5, 1.5)
    axes = () if shared else range(g.rank)
    source = g.array(names, type_, low, high, axes=axes, more="m")
    values = g.array("values observed", scalar, -2.0, 2.0, more="m")

    def at(j: Expr) -> Expr:
        return source[j if shared else g.index(j)]

    if way == "rows":
        assert isinstance(type_, Vec)
        return Model(g, at, type_, f"a of {source.name}", shared, values, count)
    if way == "plane":
        made, text = _basis_row(g, level, lambda p, _: (1.0, p[0], p[1]), "p", type_, None)
    else:
        by = g.one(_SPEEDS[kind], scalar, 0.5, 2.0) if kind in _SPEEDS else None
        made, text = _basis_row(g, level, _BASES[kind], "t", type_, by)
    one = "t tj" if way == "basis" else "p pj"
    row = made(Var("probe", type_)).type
    assert isinstance(row, Vec)
    text = f"{text}, {one[0]} of {source.name}"
    return Model(g, lambda j: made(k.let(one, at(j))), row, text, shared, values, count)


def _basis_row(
    g: Place, level: int, parts: Basis, name: str, type_: Scalar | Vec, by: Expr | None
) -> tuple[Callable[[Expr], Expr], str]:
    """A row of the design matrix by an abscissa, inline or in a helper; and in words."""
    k, scalar = g.k, scalar_of(type_)
    one = k.lift(1.0, scalar)
    vec = Vec(len(parts(Var(name, type_), one)), scalar)

    def build(_: BodyBuilder, t: Expr, speed: Expr) -> Expr:
        return make(vec, *(k.lift(part, scalar) for part in parts(t, speed)))

    def alone(_: BodyBuilder, t: Expr) -> Expr:
        return build(k, t, one)

    args: dict[str, Type] = {name: type_}
    chance = 0.6 if level >= 3 and isinstance(type_, Scalar) else 0.0
    text = f"a = {written(build(k, Var(name, type_), one if by is None else by))}"
    if by is None:
        return routine(k, chance, "basis design_row", args, alone), text
    made = routine(k, chance, "basis design_row", args | {"speed": scalar}, build)
    return lambda t: made(t, by), text


def _summed(s: Model, level: int) -> tuple[Var, Var, str]:
    """A^T W A and A^T W y over the samples."""
    g, k, scalar = s.g, s.g.k, s.vec.scalar
    ridge = g.one("ridge damping", scalar, 0.2, 0.8)
    normal = k.let("normal ata gram", times_identity(Mat(s.vec.size, s.vec.size, scalar), ridge))
    rhs = k.let("rhs aty moment", zero(s.vec))
    weights = None
    # One matrix for all threads would not be inverted in each of them.
    if s.shared or (level >= 2 and g.chance(0.4)):
        weights = g.array("weights confidence", scalar, 0.2, 1.5, more="m")
    with s.samples() as (j, a, y):
        w = None
        if weights is not None:
            w = k.let("w wj", weights[g.index(j)])
        k.augment(normal, "add", fn("outer", a, a) if w is None else w * fn("outer", a, a))
        k.augment(rhs, "add", y * a if w is None else w * y * a)
    term = "" if weights is None else "w * "
    text = f"(the sum of {term}outer(a, a) + {g.tell(ridge)} * I) * x = the sum of {term}y * a over"
    text += f" the samples y of {s.values.name}[{g.where}], with {s.text}"
    text += "" if weights is None else f" and w of {weights.name}"
    return normal, rhs, text


def _solved(g: Place, normal: Var, rhs: Var, level: int) -> Expr:
    """By the inverse, or for two unknowns by the formula, inline or in a helper."""
    if mat_of(normal).rows == 3 or g.chance(0.4):
        return fn("inverse", normal) * rhs

    def build(body: BodyBuilder, m: Expr, b: Expr) -> Expr:
        det = body.let("det d", m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
        x = m[1, 1] * b[0] - m[0, 1] * b[1]
        return make(b.type, x / det, (m[0, 0] * b[1] - m[1, 0] * b[0]) / det)

    args = {"m": normal, "b": rhs}
    return applied(g.k, float(level >= 3), "solve2 solve_normal", args, build)


_MISFITS = {
    "squares": "the sum of e * e",
    "worst": "the largest |e|",
}


def _residuals(s: Model, x: Expr) -> str:
    """A second pass over the samples: how well it fits."""
    g, k, scalar = s.g, s.g.k, s.vec.scalar
    way = g.shape.choice(sorted(_MISFITS))
    text = "y - dot(a, x)"
    total = k.let("sse sq_error" if way == "squares" else "worst max_error", zero(scalar))
    with s.samples() as (_, a, y):
        e = k.let("err res", y - dot(a, x))
        if way == "worst":
            k.assign(total, most(total, abs(e)))
        else:
            k.augment(total, "add", e * e)
    return g.gets(
        f"{total.name}_out fit_errors", total, f"{_MISFITS[way]} over the samples, e = {text}"
    )


@idiom(depth=2)
def normal_equations(k: KernelBuilder, level: int) -> Title:
    """Fits by normal equations: summed up, solved, judged."""
    shape = k.draw.shape
    g = place(k, "i tid item", list=1)
    s = _model(g, k.draw.wide_float_type(), level)
    normal, rhs, text = _summed(s, level)
    title = k.name("normal_equations least_squares_fit fit_ridge")
    x = g.let("x coef beta fit", _solved(g, normal, rhs, level))
    done = f"Ridge regression of y = dot(a, x) by the normal equations {text}."
    done += g.gets("coefficients fits params", x)
    if level >= 2 and shape.chance(0.4):
        done += _residuals(s, x)
    return Title(title, done)
