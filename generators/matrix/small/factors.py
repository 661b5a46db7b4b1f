"""Elimination and Cholesky factors of two and three rows, written out entry by entry."""

from __future__ import annotations

from functools import reduce

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, least, log, sqrt
from generators.kit.naming import applied, routine
from generators.matrix.parts import (
    Entry,
    Place,
    mat_of,
    place,
    rows_of,
    times_identity,
    transpose,
)
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr, Var, literal

Entries = dict[tuple[int, int], Expr]


def _factored(k: BodyBuilder, m: Expr) -> Entries:
    """What elimination leaves above the diagonal, and the factors below, everything in locals."""
    size = mat_of(m).rows
    f_stem, u_stem = k.draw.word.choice((("f", "u"), ("l", "u"), ("factor", "r")))
    lu: Entries = {(0, c): m[0, c] for c in range(size)}
    for r in range(1, size):
        lu[r, 0] = k.let(f"{f_stem}{r}0", m[r, 0] / m[0, 0])
    upper: Entries = {}
    for r in range(1, size):
        for c in range(1, size):
            left = m[r, c] - lu[r, 0] * m[0, c]
            upper[r, c] = k.let(f"{'t' if r > 1 else u_stem}{r}{c}", left)
    lu |= upper
    if size == 3:
        lu[2, 1] = k.let(f"{f_stem}21", upper[2, 1] / upper[1, 1])
        lu[2, 2] = k.let(f"{u_stem}22", upper[2, 2] - lu[2, 1] * upper[1, 2])
    return lu


def _substituted(k: BodyBuilder, lu: Entries, b: Expr, suffix: str = "") -> Expr:
    """Forward and back substitution of one right-hand side."""
    assert isinstance(b.type, Vec)
    size = b.type.size
    y: list[Expr] = [b[0]]
    for r in range(1, size):
        value: Expr = b[r]
        for c in range(r):
            value = value - lu[r, c] * y[c]
        y.append(k.let(f"y{r}{suffix}", value))
    x: list[Expr] = [y[-1]] * size
    for r in reversed(range(size)):
        left = y[r]
        for c in range(r + 1, size):
            left = left - lu[r, c] * x[c]
        x[r] = k.let(f"x{r}{suffix}", left / lu[r, r])
    return make(b.type, *x)


def _system(g: Place, mat: Mat, level: int) -> tuple[Var, Var, str]:
    """A matrix M and a right-hand side b, one of which may be changed."""
    k, vec = g.k, rows_of(mat)
    a = g.read("systems mats stiffness", mat, -1.0, 1.0, init="well_conditioned")
    load = g.read("rhs b_vecs", vec, -2.0, 2.0)
    m, b = k.let("m a", a), k.let("bi load", load)
    matrix, rhs = g.tell(a), g.tell(load)
    way = g.shape.choice(("ridge", "step", "load")) if g.chance(0.6) else ""
    if way == "load":
        rate = g.one("inv_dt", vec.scalar, 0.3, 2.0)
        more = rate * g.read("previous", vec, -1.0, 1.0)
        k.augment(m, "add", times_identity(mat, rate))
        k.augment(b, "add", more)
        matrix += f" + {g.tell(rate)} * I"
        rhs += f" + {g.tell(more)}"
    elif way:
        amount = g.one("dt step" if way == "step" else "ridge shift", mat.scalar, 0.1, 1.0)
        if way == "ridge":
            k.augment(m, "add", times_identity(mat, amount))
            matrix += f" + {g.tell(amount)} * I"
        else:
            k.assign(m, times_identity(mat, 1.0) + amount * m)
            matrix = f"I + {g.tell(amount)} * {matrix}"
    g.spoken.update({m.name: ("M", matrix), b.name: ("b", rhs)})
    return m, b, f"Solve M * x = b with {g.told(m, b)} by Gaussian elimination without pivoting"


@idiom(depth=1)
def gauss_eliminate(k: KernelBuilder, level: int) -> Title:
    """Gaussian elimination of a small system, every entry a variable."""
    shape = k.draw.shape
    g = place(k, "i tid sys")
    size = shape.choice((2, 3))
    mat = Mat(size, size, k.draw.wide_float_type())
    m, b, done = _system(g, mat, level)
    if level >= 3 and shape.chance(0.25):
        return _through_helper(g, level, m, b, done)
    lu = _factored(k, m)
    if level >= 3 and shape.chance(0.4):
        count = k.size_param("num_rhs rhs_count", k.size("q", 2, 4))
        more = g.array("cases load_cases", b.type, -2.0, 2.0, more="q")
        target = k.out("responses case_out", b.type, (*g.dims, "q"))
        with k.for_("case q", count) as c:
            load = k.let("rhs_c case_load", more[g.index(c)] + b)
            k.store(target, g.index(c), _substituted(k, lu, load, "c"))
        done += f". {target.name} gets the same with {more.name} added to b"
    whole = _substituted(k, lu, b)
    if level < 4 and shape.chance(0.3):
        parts = enumerate(getattr(whole, "args", ()))
        stem, end = k.draw.word.choice((("x", "_out"), ("sol", "")))
        names = ", ".join(g.put(f"{stem}{r}{end}", part).name for r, part in parts)
        x, done = g.part("x sol", whole), f"{done}. {names} get the components of x."
    else:
        x = g.let("x sol", whole)
        done += f".{g.gets('solutions x_out result', x)}"
    done += g.offer((shape.integer(0, 1), 1, 1, 2, 3)[level - 1], **_of_factors(mat, lu, x, b))
    if level >= 5 or (level == 4 and shape.chance(0.4)):
        change = g.read("changes updates delta_m", mat, -0.3, 0.3)
        residual = g.part("residual res", b - (m + change) * x)
        better = k.let("better refined", x + _substituted(k, lu, residual, "r"))
        text = f"x + z, where z solves M * z = {g.tell(residual)} with the same factors"
        done += g.gets("refined_out corrected", better, text)
    return Title(k.name("gauss_solve eliminate lu_solve solve_by_lu"), done)


def _of_factors(mat: Mat, lu: Entries, x: Var, b: Var) -> dict[str, Entry]:
    """What the factors tell."""
    cells = range(mat.rows)
    pivots = [lu[r, r] for r in cells]
    product = reduce(lambda all_, one: all_ * one, pivots)
    whole = make(mat, *(lu[r, c] for r in cells for c in cells))
    told = "product of the pivots"
    return {
        "det": ("dets determinants", lambda: product, f"the {told}"),
        "packed": ("lu factors", lambda: whole, "U, with the factors of L below its diagonal"),
        "pivot": ("min_pivots", lambda: least(*map(abs, pivots)), "the smallest |pivot|"),
        "log": ("log_dets log_abs_det", lambda: log(abs(product)), f"log(|p|), p the {told}"),
    }


def _through_helper(g: Place, level: int, m: Var, b: Var, done: str) -> Title:
    """The whole solution in a function, called for each right-hand side."""
    k, vec = g.k, b.type

    def build(body: BodyBuilder, a: Expr, rhs: Expr) -> Expr:
        return _substituted(body, _factored(body, a), rhs)

    solve = routine(k, 1.0, "solve_small gauss_solve_small", {"a": m.type, "rhs": vec}, build)
    x = g.let("x sol", solve(m, b))
    done += f":{g.gets('solutions x_out', x)}"
    if level == 3:
        done += g.gets("sizes x_norms", fn("length", x))
        return Title(k.name("gauss_solve eliminate"), done)
    z = g.let("z adjoint_x", solve(transpose(m), x))
    done += g.gets("adjoint_out back_solutions", z, "the z that solves transpose(M) * z = x")
    done += g.gets("gradients sensitivity", -fn("outer", z, x))
    if level >= 5:
        e = g.let("e miss gap", x - g.read("goals targets", vec, -1.0, 1.0))
        done += f" With {g.told(e)}:{g.gets('losses misfits', 0.5 * dot(e, e))}"
        dual = g.let("l lam dual", solve(transpose(m), e))
        done += g.gets("duals load_gradients", dual, "the l that solves transpose(M) * l = e")
        done += g.gets("matrix_gradients dm", -fn("outer", dual, x))
    return Title(k.name("gauss_solve eliminate solve_adjoint"), done)


def _definite(g: Place, mat: Mat, level: int) -> Var:
    """A positive definite matrix: given, a Gram matrix with a ridge, or summed up of vectors."""
    k, names = g.k, "a cov spd"
    ways = {"given": 3, "gram": 3, "samples": 0 if level < 3 else 4}
    way = g.shape.weighted(ways)
    if way == "given":
        source = g.read("covs spd_mats", mat, -0.6, 0.6, init="well_conditioned")
        a = k.let(names, source)
        g.spoken[a.name] = "A", f"{g.tell(source)}, of which the lower triangle is read,"
        return a
    ridge = times_identity(mat, g.one("ridge jitter", mat.scalar, 0.3, 1.0))
    if way == "gram":
        factor = Mat(mat.rows + g.shape.integer(0, 1), mat.cols, mat.scalar)
        j = g.part("j design", g.read("jacobians factors designs", factor, -1.0, 1.0))
        return g.let(names, transpose(j) * j + ridge)
    count = k.size_param("num_samples", k.size("m", 3, 5))
    samples = g.array("samples residual_vecs", rows_of(mat), -1.0, 1.0, more="m")
    text = f"{g.tell(ridge)} plus the sum of outer(v, v) over the last axis of {samples.name}"
    a = k.let(names, ridge)
    g.spoken[a.name] = "A", text
    with k.for_("s sample", count) as s:
        v = k.let("v vec", samples[g.index(s)])
        k.augment(a, "add", fn("outer", v, v))
    return a


def _cholesky(k: BodyBuilder, a: Expr) -> Entries:
    """The lower factor in locals, column by column."""
    stem, size = k.draw.word.choice(("l", "c", "g")), mat_of(a).rows
    low: Entries = {}
    for c in range(size):
        for r in range(c, size):
            left: Expr = a[r, c]
            for before in range(c):
                left = left - low[r, before] * low[c, before]
            low[r, c] = k.let(f"{stem}{r}{c}", sqrt(left) if r == c else left / low[c, c])
    return low


def _forward(k: BodyBuilder, low: Entries, b: Expr, stem: str) -> list[Expr]:
    """The solution of L * y = b."""
    assert isinstance(b.type, Vec)
    y: list[Expr] = []
    for r in range(b.type.size):
        left: Expr = b[r]
        for c in range(r):
            left = left - low[r, c] * y[c]
        y.append(k.let(f"{stem}{r}", left / low[r, r]))
    return y


def _backward(k: BodyBuilder, low: Entries, y: list[Expr]) -> list[Expr]:
    """The solution of transpose(L) * x = y."""
    x = list(y)
    for r in reversed(range(len(y))):
        left = y[r]
        for c in range(r + 1, len(y)):
            left = left - low[c, r] * x[c]
        x[r] = k.let(f"x{r}", left / low[r, r])
    return x


def _noises(g: Place, vec: Vec, low: Entries) -> dict[str, Entry]:
    """What the factor does to a vector that is read: it colours noise, or whitens an error."""
    k, cells = g.k, range(vec.size)
    said: dict[str, str] = {}

    def sample() -> Expr:
        """A correlated sample: the mean plus the factor times independent noise."""
        noise = g.read("noise normals white", vec, -2.0, 2.0)
        mean = g.one("mean center", vec, -1.0, 1.0)
        said["sample"] = f"{g.tell(mean)} plus L times {g.tell(noise)}"
        z = k.let("z eta", noise)
        terms = [[low[r, c] * z[c] for c in range(r + 1)] for r in cells]
        return mean + make(vec, *(reduce(lambda all_, one: all_ + one, part) for part in terms))

    def white() -> Expr:
        error = g.read("deltas errors", vec, -2.0, 2.0)
        said["white"] = f"w with L * w = {g.tell(error)}"
        return make(vec, *_forward(k, low, k.let("delta err", error), "w"))

    def distance() -> Expr:
        offset = g.read("innovations offsets", vec, -2.0, 2.0)
        said["distance"] = f"dot(w, w) with L * w = {g.tell(offset)}"
        error = k.let("e dev", offset)
        w = k.let("w white", make(vec, *_forward(k, low, error, "q")))
        return dot(w, w)

    return {
        "sample": ("sampled draws", sample, lambda: said["sample"]),
        "white": ("whitened scaled_errors", white, lambda: said["white"]),
        "distance": ("distances_sq mahalanobis", distance, lambda: said["distance"]),
    }


def _uses(g: Place, mat: Mat, low: Entries) -> dict[str, Entry]:
    """What the factor is used for."""
    vec, cells = rows_of(mat), range(mat.rows)
    product = reduce(lambda all_, one: all_ * one, [low[r, r] for r in cells])
    packed = [low[r, c] for r in cells for c in range(r + 1)]
    return {
        "log": ("log_dets log_determinants", lambda: 2.0 * log(product), "log(determinant(A))"),
        "product": ("root_dets sqrt_dets", lambda: product, "the product of the diagonal of L"),
        "packed": (
            "packed factors",
            lambda: make(Vec(len(packed), mat.scalar), *packed),
            "the rows of L up to the diagonal, in one vector",
        ),
        "diag": (
            "diag_l pivots",
            lambda: make(vec, *(low[r, r] for r in cells)),
            "the diagonal of L",
        ),
        **_noises(g, vec, low),
    }


@idiom(depth=1)
def cholesky_small(k: KernelBuilder, level: int) -> Title:
    """Cholesky factors by hand: to solve, to sample, to whiten, for a log determinant."""
    shape = k.draw.shape
    g = place(k, "i tid e")
    size = shape.choice((2, 3))
    mat = Mat(size, size, k.draw.wide_float_type())
    a = _definite(g, mat, level)
    done = f"Factor {g.told(a)} as A = L * transpose(L), L lower (Cholesky):"
    if level >= 3 and shape.chance(0.5):

        def build(body: BodyBuilder, m: Expr) -> Expr:
            low, nil = _cholesky(body, m), literal(0, mat.scalar)
            return make(mat, *(low.get((r, c), nil) for r in range(size) for c in range(size)))

        whole = k.let("low chol", applied(k, 1.0, "cholesky lower_factor", {"a": a}, build))
        low: Entries = {(r, c): whole[r, c] for r in range(size) for c in range(r + 1)}
    else:
        low = _cholesky(k, a)
    count = (1, 1, 1, 2, 3)[level - 1]
    if shape.chance(0.3 if level == 1 else 0.7):
        done += _solution(g, mat, low)
        count -= level < 4
    done += g.offer(max(count, 0), **_uses(g, mat, low))
    return Title(k.name(_CALLED[next(key for key in _CALLED if key in done)]), done)


_CALLED = {
    "substitution": "cholesky_solve solve_spd",
    "plus L times": "sample_gaussian correlated_noise",
    "dot(w, w)": "mahalanobis_sq cholesky_mahalanobis",
    "w with L": "whiten_vectors cholesky_whiten",
    "log(determinant": "log_determinant cholesky_log_det",
    "": "cholesky_factor factor_spd",
}
"""What a kernel is called by what it makes of the factor, as the description has it."""


def _solution(g: Place, mat: Mat, low: Entries) -> str:
    """The solution of a system, as it is, or as a step from somewhere."""
    way, text = g.shape.choice(("plain", "step", "from")), "x"
    source = "rhs b" if way == "plain" else "gradients grads"
    rhs = g.read(source, rows_of(mat), -2.0, 2.0)
    b = g.k.let("bi", rhs)
    x: Expr = make(rows_of(mat), *_backward(g.k, low, _forward(g.k, low, b, "y")))
    if way == "step":
        rate = g.one("rate damping", mat.scalar, 0.2, 0.9)
        x, text = -rate * x, f"the step -{g.tell(rate)} * x"
    elif way == "from":
        start = g.read("params current", rows_of(mat), -1.0, 1.0)
        x, text = start - x, f"{g.tell(start)} - x"
    text += f" with A * x = {g.tell(rhs)}, by forward and back substitution"
    return g.gets(
        {"step": "steps_out dx", "from": "params_out updated"}.get(way, "solutions x_out"), x, text
    )
