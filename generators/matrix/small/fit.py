"""Least squares by normal equations of two or three unknowns: lines, planes, curves, maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, dot, exp, most, sin, sqrt
from generators.kit.naming import applied, routine
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.parts import Entry, Place, mat_of, place, times_identity
from generators.program.dtypes import Mat, Scalar, Vec
from generators.program.expr import Expr, Operand, Var

_BASES: dict[str, Callable[[Expr], tuple[Operand, ...]]] = {
    "line": lambda t: (1.0, t),
    "parabola": lambda t: (1.0, t, t * t),
    "through zero": lambda t: (t, t * t),
    "wave": lambda t: (cos(t), sin(t)),
    "offset wave": lambda t: (1.0, cos(t), sin(t)),
    "odd": lambda t: (t, t * t * t),
    "decay": lambda t: (1.0, exp(-t)),
}


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
    count = k.trip_count("num_obs obs_count", k.size("m", 4, 5))
    way = g.shape.weighted({"basis": 5, "plane": 3, "rows": 3})
    shared = g.chance(0.5)
    kind = g.shape.choice(sorted(_BASES)) if way == "basis" else ""
    sources: dict[str, tuple[str, Scalar | Vec]] = {
        "rows": ("rows features design", Vec(g.shape.choice((2, 3)), scalar)),
        "plane": ("places uv xy", Vec(2, scalar)),
        "basis": ("times abscissas ts", scalar),
    }
    names, type_ = sources[way]
    low, high = (0.0, 3.0) if "wave" in kind or kind == "decay" else (-1.5, 1.5)
    axes = () if shared else range(g.rank)
    source = g.array(names, type_, low, high, axes=axes, more="m")
    values = g.array("values observed y", scalar, -2.0, 2.0, more="m")

    def at(j: Expr) -> Expr:
        return source[j if shared else g.index(j)]

    if way == "rows":
        assert isinstance(type_, Vec)
        return Model(g, at, type_, f"a of {source.name}", shared, values, count)
    plane = g.shape.choice((lambda p: (1.0, p[0], p[1]), lambda p: (p[0], p[1], 1.0)))
    parts = _BASES[kind] if way == "basis" else plane
    v = Var("t" if way == "basis" else "p", type_)
    vec = Vec(len(parts(v)), scalar)

    def build(_: BodyBuilder, t: Expr) -> Expr:
        return make(vec, *(k.lift(part, scalar) for part in parts(t)))

    chance = 0.6 if level >= 3 and way == "basis" else 0.0
    made = routine(k, chance, "basis design_row", {v.name: type_}, build)
    text = f"a = {written(build(k, v))}, {v.name} of {source.name}"
    one = f"{v.name} {v.name}j"
    return Model(g, lambda j: made(k.let(one, at(j))), vec, text, shared, values, count)


def _summed(s: Model, level: int) -> tuple[Var, Var, str]:
    """A^T W A and A^T W y over the samples."""
    g, k, scalar = s.g, s.g.k, s.vec.scalar
    ridge = g.given("ridge damping lam", scalar, 0.2, 0.8)
    normal = k.let("normal ata gram", times_identity(Mat(s.vec.size, s.vec.size, scalar), ridge))
    rhs = k.let("rhs aty moment", zero(s.vec))
    weights, text = None, ""
    if level >= 2 and g.chance(0.5):
        flat = g.chance(0.5)
        axes = () if flat else range(g.rank)
        weights = g.array("weights confidence", scalar, 0.2, 1.5, axes=axes, more="m")
        text = f", weights {weights.name}"
    with s.samples() as (j, a, y):
        w = None
        if weights is not None:
            w = k.let("w wj", weights[j if flat else g.index(j)])
        k.augment(normal, "add", fn("outer", a, a) if w is None else w * fn("outer", a, a))
        k.augment(rhs, "add", y * a if w is None else w * y * a)
    text = f"with the rows {s.text}{text} and {g.tell(ridge)} * I added to the normal matrix"
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
    "robust": "the sum of sqrt(1 + e * e) - 1",
}


def _residuals(s: Model, x: Expr) -> str:
    """A second pass over the samples: how well it fits."""
    g, k, scalar = s.g, s.g.k, s.vec.scalar
    way = g.shape.choice((*_MISFITS, "each"))
    text = f"y - dot(a, x), y being {s.values.name}"
    if way == "each":
        target = k.out("residuals errors", scalar, (*g.dims, "m"))
        with s.samples() as (j, a, y):
            k.store(target, g.index(j), y - dot(a, x))
        return f" {target.name} gets each {text}."
    total = k.let("sse misfit loss", zero(scalar))
    with s.samples() as (_, a, y):
        e = k.let("err res", y - dot(a, x))
        if way == "worst":
            k.assign(total, most(total, abs(e)))
        else:
            k.augment(total, "add", e * e if way == "squares" else sqrt(1.0 + e * e) - 1.0)
    return g.gets(f"{total.name}_out fit_errors", total, f"{_MISFITS[way]} over e = {text}")


def _reweighted(s: Model, x: Expr) -> str:
    """One more solution, samples that fit badly counting less."""
    g, k, scalar = s.g, s.g.k, s.vec.scalar
    scale = g.given("scale inlier", scalar, 0.5, 1.5)
    mat = Mat(s.vec.size, s.vec.size, scalar)
    normal = k.let("robust_normal robust_gram", times_identity(mat, 0.1))
    rhs = k.let("robust_moment robust_rhs", zero(s.vec))
    with s.samples() as (_, a, value):
        y = k.let("yj seen", value)
        e = k.let("err res miss", y - dot(a, x))
        w = k.let("w trust", scale / (scale + e * e))
        k.augment(normal, "add", w * fn("outer", a, a))
        k.augment(rhs, "add", w * y * a)
    text = "the same fit with 0.1 * I and weights s / (s + e * e), where e = y - dot(a, x) and"
    text += f" s = {g.tell(scale)}"
    return g.gets("robust_fit refit", fn("inverse", normal) * rhs, text)


@idiom
def normal_equations(k: KernelBuilder, level: int) -> Title:
    """Fits by normal equations: summed up, solved, judged."""
    shape = k.draw.shape
    g = place(k, "i tid series", list=6, grid=3)
    s = _model(g, k.draw.wide_float_type(), level)
    normal, rhs, text = _summed(s, level)
    title = k.name("normal_equations least_squares_fit fit_series fit_model")
    if level == 1 and not s.shared and shape.chance(0.5):
        done = f"Normal equations of least squares for {s.values.name} {text}:"
        done += g.gets("normals gram_out", normal, "the matrix")
        return Title(title, done + g.gets("moments rhs_out", rhs, "the right-hand side"))
    x = g.let("x coef beta fit", _solved(g, normal, rhs, level))
    done = f"Least squares x for {s.values.name} {text}."
    if level >= 2 and shape.chance(0.4):
        share = g.given("blend momentum", s.vec.scalar, 0.2, 0.8)
        value = fn("lerp", g.read("previous last_fit", s.vec, -1.0, 1.0), x, share)
        done += f" Then x = {g.tell(value)}."
        x = g.let("x smooth updated", value)
    done += g.gets("coefficients fits params", x)
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        done += _residuals(s, x)
    if level >= 5:
        done += _reweighted(s, x)
    menu: dict[str, Entry] = {
        "drop": ("explained drops", lambda: dot(x, rhs), "dot(x, b), b the right-hand side"),
        "slope": ("slopes trend", lambda: x[1]),
        "length": ("lengths norms", lambda: fn("length", x)),
    }
    if not s.shared:
        det = "the determinant of the normal matrix"
        menu["det"] = ("dets leverage", lambda: fn("determinant", normal), det)
        diagonal = "the diagonal of the normal matrix"
        menu["diagonal"] = ("informations row_norms", lambda: fn("get_diag", normal), diagonal)
    return Title(title, done + g.offer((0, 1, shape.integer(0, 1), 1, 2)[level - 1], **menu))
