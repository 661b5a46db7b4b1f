"""Functions of small matrices by series and iterations with a fixed number of steps."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.grid import Grid, grid, identity, say, square_type
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr, Var

Made = tuple[Var, str]


def _source(k: KernelBuilder, g: Grid, mat: Mat, level: int, bound: float) -> Made:
    """The matrix whose function is wanted: given, antisymmetric, or times a step."""
    names = ("generators", "mats", "rates", "inputs")
    way = k.draw.shape.choice(("given", "step", "anti", "sym") if level >= 2 else ("given", "step"))
    source = g.array(names, mat, -bound, bound)
    name = ("a", "m", "gen")
    if way == "given":
        return k.let(name, source[g.index]), f"A = {source.name}"
    if way == "step":
        dt = g.supply(("dt", "tau", "h"), ("dts", "taus"), mat.scalar, 0.3, 1.0)
        return k.let(name, dt * source[g.index]), f"A = {say(dt)} * {source.name}"
    raw = k.let(("raw", "w"), source[g.index])
    if way == "anti":
        value = 0.5 * (raw - fn("transpose", raw))
        return k.let(name, value), f"A = ({source.name} - its transpose) / 2"
    value = 0.5 * (raw + fn("transpose", raw))
    return k.let(name, value), f"A = ({source.name} + its transpose) / 2"


def _exp_terms(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:

    term = k.let(("term", "power"), identity(k, mat))
    total = k.let(("total", "expm", "e"), term)
    with k.for_(("n", "order"), steps + 1, 1) as n:
        k.assign(term, term * a / cast(n, mat.scalar))
        k.assign(total, total + term)
    return total, f"E, the terms I + A + ... + A^{steps} / {steps}! of exp(A)"


def _exp_horner(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:
    total = k.let(("e", "expm", "acc"), identity(k, mat))
    with k.for_(("n", "order"), 0, steps, -1) as n:
        k.assign(total, identity(k, mat) + a * total / cast(n, mat.scalar))
    return total, f"E, from I by E = I + A * E / n for n = {steps} down to 1"


def _exp_squared(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:
    rounds = 2 if steps < 4 else 3
    scale = 1.0 / 2**rounds
    small = k.let(("small", "scaled"), scale * a)
    first = identity(k, mat) + small + 0.5 * (small * small)
    e = k.let(("e", "expm"), first)
    with k.for_(("r", "square_id"), rounds):
        k.assign(e, e * e)
    return e, f"E = (I + S + S * S / 2) squared {rounds} times over, S = {scale} * A"


def _neumann(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:
    total = k.let(("e", "resolvent", "acc"), identity(k, mat))
    with k.for_(("n", "order"), steps):
        k.assign(total, identity(k, mat) + a * total)
    return total, f"E, from I by {steps} times E = I + A * E (a Neumann series)"


def _cayley(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:
    eye = k.let(("eye", "unit"), identity(k, mat))
    half = k.let(("half", "half_a"), 0.5 * a)
    e = k.let(("e", "cayley"), fn("inverse", eye - half) * (eye + half))
    return e, "E = inverse(I - A / 2) * (I + A / 2)"


def _cosine(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:
    square = k.let(("square", "a2"), a * a)
    term = k.let(("term", "power"), identity(k, mat))
    total = k.let(("e", "cosm"), term)
    count = min(steps, 3)
    with k.for_(("n", "order"), count + 1, 1) as n:
        c = k.let(("c", "nf"), cast(n, mat.scalar))
        k.assign(term, -(term * square) / (2.0 * c * (2.0 * c - 1.0)))
        k.assign(total, total + term)
    return total, f"E, the first {count + 1} terms of cos(A)"


SERIES: dict[str, Callable[[BodyBuilder, Expr, Mat, int], Made]] = {
    "exp": _exp_terms,
    "horner": _exp_horner,
    "squared": _exp_squared,
    "neumann": _neumann,
    "cayley": _cayley,
    "cos": _cosine,
}


def in_helper(
    k: KernelBuilder,
    level: int,
    names: tuple[str, ...],
    a: Var,
    build: Callable[[BodyBuilder, Expr], Made],
) -> Made:
    """The iteration inline, or in a helper function."""
    if level < 3 or k.draw.shape.chance(0.5):
        return build(k, a)
    texts: list[str] = []

    def body(inner: BodyBuilder, m: Expr) -> Expr:
        value, text = build(inner, m)
        texts.append(text)
        return value

    made = helper(k, names, (("a", a.type),), body)
    return k.let(("fa", "result", "f_of_a"), k.call(made, a)), texts[0]


def readings(k: KernelBuilder, g: Grid, e: Var, a: Var) -> dict[str, Extra]:
    mat = e.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)

    def gap() -> Expr:
        d = k.let(("d", "change"), e - a)
        return fn("ddot", d, d)

    def row_sum() -> Expr:
        return e[0, 0] + e[0, 1] if mat.cols == 2 else e[0, 0] + e[0, 1] + e[0, 2]

    return {
        "trace": Extra(("traces", "tr_out"), lambda: fn("trace", e), "trace(E)"),
        "det": Extra(("dets", "volume"), lambda: fn("determinant", e), "det(E)"),
        "norm": Extra(("norms_sq", "energy"), lambda: fn("ddot", e, e), "ddot(E, E)"),
        "gap": Extra(("changes", "gaps"), gap, "ddot(E - A, E - A)"),
        "diag": Extra(("diagonals", "self_gain"), lambda: fn("get_diag", e), "the diagonal of E"),
        "row": Extra(("first_rows", "row_sums"), row_sum, "the sum of row 0 of E"),
        "commute": Extra(
            ("commutators", "brackets"),
            lambda: fn("ddot", e, fn("transpose", a)),
            "ddot(E, transpose(A))",
        ),
        "times": Extra(
            ("propagated", "moved"),
            lambda: e * g.array(("states", "vectors"), vec, -1.0, 1.0)[g.index],
            "E times its state",
        ),
    }


@idiom
def matrix_series(k: KernelBuilder, level: int) -> Title:
    """Exponentials and their relatives by truncated series, scaling and squaring, Cayley."""
    shape = k.draw.shape
    g = grid(k, None, "i", "tid", "e_id")
    mat = square_type(k, {2: 3, 3: 3, 4: 1}, k.draw.wide_float_type())
    a, source = _source(k, g, mat, level, 0.5 if mat.rows < 4 else 0.3)
    key = shape.choice(sorted(SERIES))
    steps = shape.integer(2, 3) if level == 1 else shape.integer(3, 5)
    names = ("matrix_exp", "expm_series") if key in ("exp", "horner", "squared") else (f"{key}_of",)
    e, text = in_helper(k, level, names, a, lambda body, m: SERIES[key](body, m, mat, steps))
    verb = "comes" if text.startswith("E, from") else "is"
    what = text if text.startswith("E =") else f"E {verb} {text.removeprefix('E, ')}"
    done = f"With {source}: {what}."
    menu = readings(k, g, e, a)
    if " - its" in source:
        del menu["det"], menu["norm"], menu["commute"]
    if level >= 2:
        done += applied(k, g, e, level)
    if level < 3 or shape.chance(0.6):
        target = g.write(("results", "functions", "exps"), e)
        done += f" {target.name} gets E."
    done += extras(g, menu, (shape.integer(0, 1), 0, 1, 2, 3)[level - 1])
    return Title(k.name("matrix_series", "expm", "matrix_function", "propagator"), done)


def applied(k: KernelBuilder, g: Grid, e: Var, level: int) -> str:
    """Several steps with the matrix, driven or not, or its product with its transpose."""
    mat = e.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)
    way = k.draw.shape.choice(("steps", "driven", "pair") if level >= 3 else ("once", "pair"))
    if way == "pair":
        source = g.array(("covs", "metrics"), mat, -0.5, 0.5)
        target = g.write(("spread", "transported"), e * source[g.index] * fn("transpose", e))
        return f" {target.name} gets E * {source.name} * transpose(E)."
    states = g.array(("x0", "states", "start"), vec, -1.0, 1.0)
    x = k.let(("x", "state"), states[g.index])
    if way == "once":
        target = g.write(("x1", "next_states"), e * x)
        return f" {target.name} gets E * {states.name}."
    k.size("m", 2, 4)
    count = k.trip_count(("num_steps", "step_count"), "m")
    trace = k.out(("trajectory", "history"), vec, (*g.dims, "m"))
    drive = None
    if way == "driven":
        drive = k.array(("drive", "controls"), vec, "m", low=-0.5, high=0.5)
    with k.for_(("t", "s"), count) as t:
        k.assign(x, e * x if drive is None else e * x + drive[t])
        k.store(trace, g.at(t), x)
    more = "" if drive is None else f" + {drive.name}"
    return f" From x = {states.name}, {trace.name} gets x = E * x{more}, step after step."
