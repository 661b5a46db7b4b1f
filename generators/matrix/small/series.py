"""Functions of small matrices by series and by iterations with a fixed number of steps."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import sqrt
from generators.kit.naming import helper
from generators.matrix.parts import (
    Place,
    identity,
    mat_of,
    place,
    rows_of,
    square_type,
    symmetric,
    transpose,
)
from generators.program.dtypes import Mat
from generators.program.expr import Expr, Var

Made = tuple[Expr, str]
Build = Callable[[BodyBuilder, Expr, int], Made]


def _source(g: Place, mat: Mat, level: int) -> Var:
    """The matrix whose function is wanted: given, antisymmetric, or times a step."""
    bound = 0.5 if mat.rows < 4 else 0.3
    way = g.shape.choice(("given", "step", "anti", "sym") if level >= 2 else ("given", "step"))
    value: Expr = g.read("generators mats", mat, -bound, bound)
    if way == "step":
        value = g.one("dt tau h", mat.scalar, 0.3, 1.0) * value
    elif way != "given":
        raw = g.part("raw w", value)
        value = symmetric(raw) if way == "sym" else 0.5 * (raw - transpose(raw))
    return g.let("a m gen", value, "A")


def _exp_terms(k: BodyBuilder, a: Expr, steps: int) -> Made:
    term = k.let("term power", identity(k, mat_of(a)))
    total = k.let("total expm e", term)
    with k.for_("n order", steps + 1, 1) as n:
        k.assign(term, term * a / cast(n, mat_of(a).scalar))
        k.assign(total, total + term)
    return total, f"the Taylor series E = I + A + ... + A^{steps} / {steps}!"


def _exp_horner(k: BodyBuilder, a: Expr, steps: int) -> Made:
    total = k.let("e expm acc", identity(k, mat_of(a)))
    with k.for_("n order", 0, steps, -1) as n:
        k.assign(total, identity(k, mat_of(a)) + a * total / cast(n, mat_of(a).scalar))
    return total, f"Horner's rule, E = I and then E = I + A * E / n for n = {steps} down to 1"


def _exp_squared(k: BodyBuilder, a: Expr, steps: int) -> Made:
    rounds = 2 if steps < 4 else 3
    scale = 1.0 / 2**rounds
    small = k.let("small scaled", scale * a)
    e = k.let("e expm", identity(k, mat_of(a)) + small + 0.5 * (small * small))
    with k.for_("r square_id", rounds):
        k.assign(e, e * e)
    return e, f"scaling and squaring, E = I + S + S * S / 2 squared {rounds} times, S = {scale} * A"


def _neumann(k: BodyBuilder, a: Expr, steps: int) -> Made:
    total = k.let("e resolvent acc", identity(k, mat_of(a)))
    with k.for_("n order", steps):
        k.assign(total, identity(k, mat_of(a)) + a * total)
    return total, f"the Neumann series, E = I and then {steps} times E = I + A * E"


def _cayley(k: BodyBuilder, a: Expr, steps: int) -> Made:
    eye = k.let("eye unit", identity(k, mat_of(a)))
    half = k.let("half half_a", 0.5 * a)
    e = k.let("e cayley", fn("inverse", eye - half) * (eye + half))
    return e, "E = inverse(I - A / 2) * (I + A / 2)"


def _cosine(k: BodyBuilder, a: Expr, steps: int) -> Made:
    square = k.let("square a2", a * a)
    term = k.let("term power", identity(k, mat_of(a)))
    total = k.let("e cosm", term)
    count = min(steps, 3)
    with k.for_("n order", count + 1, 1) as n:
        c = k.let("c nf", cast(n, mat_of(a).scalar))
        k.assign(term, -(term * square) / (2.0 * c * (2.0 * c - 1.0)))
        k.assign(total, total + term)
    return total, f"the first {count + 1} terms of the Taylor series, E = I - A * A / 2 + ..."


_SERIES: dict[str, Build] = {
    "exp": _exp_terms,
    "horner": _exp_horner,
    "squared": _exp_squared,
    "neumann": _neumann,
    "cayley": _cayley,
    "cos": _cosine,
}


def _found(g: Place, level: int, names: str, a: Var, steps: int, build: Build) -> tuple[Var, str]:
    """The iteration inline, or in a helper function."""
    if level < 3 or g.chance(0.5):
        value, text = build(g.k, a, steps)
    else:
        texts: list[str] = []

        def body(inner: BodyBuilder, m: Expr) -> Expr:
            value, text = build(inner, m, steps)
            texts.append(text)
            return value

        made = helper(g.k, names, [("a", a.type)], body)
        value, text = g.k.let("fa result f_of_a", g.k.call(made, a)), texts[0]
    assert isinstance(value, Var)
    g.spoken[value.name] = "E", text
    return value, text


@idiom(depth=1)
def matrix_series(k: KernelBuilder, level: int) -> Title:
    """Exponentials and their relatives by truncated series, scaling and squaring, Cayley."""
    shape = k.draw.shape
    g = place(k, "i tid e_id")
    a = _source(g, square_type(k, {2: 3, 3: 3, 4: 1}, k.draw.wide_float_type()), level)
    key = shape.choice(sorted(_SERIES))
    steps = shape.integer(4, 6)
    exponential = key in ("exp", "horner", "squared")
    names = "matrix_exp expm_series" if exponential else f"{_KERNELS[key].split()[0]}_of"
    e, text = _found(g, level, names, a, steps, _SERIES[key])
    what = {"cayley": "Cayley transform", "cos": "Matrix cosine", "neumann": "Inverse of I - A"}
    done = f"{what.get(key, 'Matrix exponential')} of small matrices, with {g.told(a)}, by {text}."
    if key == "neumann":
        done = f"Approximate inverse of I - A with {g.told(a)} by {text}."
    elif key == "cayley":
        done = f"Cayley transform of small matrices: with {g.told(a)}, {text}."
    title = k.name("matrix_exp expm" if exponential else _KERNELS[key])
    if (exponential or key == "cayley") and shape.chance(0.4):
        return Title(title, done + _applied(g, e, level))
    outs = {"cayley": "cayley_out", "cos": "cosines", "neumann": "inverses"}
    return Title(title, done + g.gets(outs.get(key, "exps expm_out"), e))


_KERNELS = {
    "cayley": "cayley_transform cayley_map",
    "cos": "matrix_cos cosm",
    "neumann": "neumann_inverse neumann_series",
}


def _applied(g: Place, e: Var, level: int) -> str:
    """Several steps with the matrix, driven or not, or its product with its transpose."""
    k, mat, vec = g.k, mat_of(e), rows_of(mat_of(e))
    way = g.shape.choice(("steps", "driven", "pair") if level >= 3 else ("once", "pair"))
    if way == "pair":
        source = g.read("covs", mat, -0.5, 0.5)
        return g.gets("covs_out propagated", e * source * transpose(e))
    state = g.read("x0 states start", vec, -1.0, 1.0)
    x = k.let("x state", state)
    if way == "once":
        return g.gets("x1 next_states", e * x)
    count = k.size_param("num_steps step_count", k.size("m", 2, 4))
    trace = k.out("trajectory history", vec, (*g.dims, "m"))
    drive = k.array("drive controls", vec, "m", low=-0.5, high=0.5) if way == "driven" else None
    with k.for_("t s", count) as t:
        k.assign(x, e * x if drive is None else e * x + drive[t])
        k.store(trace, g.index(t), x)
    more = "" if drive is None else f" + {drive.name}"
    return f" From x = {g.tell(state)}, {trace.name} gets x = E * x{more}, step after step."


def _inverse_steps(k: BodyBuilder, a: Expr, steps: int) -> Made:
    at = transpose(a)
    x = k.let("x inv", at / (fn("ddot", a, a) + 1.0e-6))
    two = 2.0 * identity(k, mat_of(a))
    with k.for_("it r", steps):
        k.assign(x, x * (two - a * x))
    start = "transpose(A) / (ddot(A, A) + 1e-6)"
    return x, f"E = {start} and then {steps} times E = E * (2 * I - A * E)"


def _polar_steps(k: BodyBuilder, a: Expr, steps: int) -> Made:
    x = k.let("x q", a / sqrt(fn("ddot", a, a) + 1.0e-6))
    cubic = k.draw.shape.chance(0.5)
    with k.for_("it r", steps):
        g = k.let("g gram", transpose(x) * x if cubic else x * transpose(x))
        if cubic:
            k.assign(x, 1.5 * x - 0.5 * (x * g))
        else:
            h = k.let("h poly", -1.25 * g + 0.375 * (g * g))
            k.assign(x, 1.875 * x + h * x)
    how = "1.875 * E + (0.375 * G * G - 1.25 * G) * E, G = E * transpose(E)"
    how = "1.5 * E - 0.5 * E * transpose(E) * E" if cubic else how
    return x, f"E = A / sqrt(ddot(A, A) + 1e-6) and then {steps} times E = {how}"


def _root_steps(k: BodyBuilder, a: Expr, steps: int) -> Made:
    """Newton and Schulz for the root: Y goes to the root, Z to its inverse."""
    norm = k.let("norm size", sqrt(fn("ddot", a, a)) + 1.0e-6)
    y, z = k.let("y root", a / norm), k.let("z inv_root", identity(k, mat_of(a)))
    three = 3.0 * identity(k, mat_of(a))
    with k.for_("it r", steps):
        t = k.let("t corr", 0.5 * (three - z * y))
        k.assign(y, y * t)
        k.assign(z, t * z)
    e = k.let("e sqrt_a", sqrt(norm) * y)
    text = f"from Y = A / s, Z = I {steps} times T = (3 * I - Z * Y) / 2, Y = Y * T, Z = T * Z"
    return e, f"E = sqrt(s) * Y, s = sqrt(ddot(A, A)) + 1e-6, {text}"


_ITERATIONS: dict[str, Build] = {
    "inverse": _inverse_steps,
    "polar": _polar_steps,
    "root": _root_steps,
}


@idiom(depth=3)
def newton_schulz(k: KernelBuilder, level: int) -> Title:
    """Inverses, roots and orthogonal factors without division of matrices."""
    shape = k.draw.shape
    g = place(k, "i tid layer")
    mat = square_type(k, {2: 3, 3: 3, 4: 1}, k.draw.wide_float_type())
    key = shape.choice(sorted(_ITERATIONS))
    bound = {2: 0.8, 3: 0.6, 4: 0.4}[mat.rows]
    a: Expr = g.read("mats inputs", mat, -bound, bound, init="well_conditioned")
    ways = ("plain", "momentum") if key == "polar" else ("plain", "shifted")
    way = shape.choice(ways) if level >= 2 else "plain"
    raw = a if way == "plain" and key != "root" else g.part("raw w", a)
    if way == "momentum":
        grads = g.read("grads updates", mat, -0.5, 0.5)
        raw = g.one("beta mu", mat.scalar, 0.5, 0.95) * raw + grads
    elif way == "shifted":
        raw = raw + g.one("shift ridge", mat.scalar, 0.1, 0.6) * identity(k, mat)
    if key == "root":
        raw = symmetric(raw if way == "plain" else g.part("shifted reg blend_m", raw))
    a = g.let({"root": "a spd", "inverse": "a m"}.get(key, "a m_a"), raw)
    steps = shape.integer(4, 7)
    names = f"newton_{key} {key}_by_iteration"
    e, how = _found(g, level, names, a, steps, _ITERATIONS[key])
    what = {"inverse": "inverse", "polar": "orthogonal polar factor", "root": "square root"}[key]
    kind = "small positive definite matrices" if key == "root" else "small matrices"
    done = f"Newton-Schulz iteration for the {what} of {kind}, with {g.told(a)}: {how}."
    outs = {"inverse": "inverses inv_out", "polar": "polar_out", "root": "roots sqrt_out"}
    if key == "polar" and level >= 3 and shape.chance(0.6):
        done += _stepped(g, e)
    else:
        done += g.gets(outs[key], e)
    kernel = {"inverse": "inverse", "polar": "orthogonalize", "root": "sqrtm"}[key]
    return Title(k.name(f"newton_schulz_{kernel} {kernel}_iteration"), done)


def _stepped(g: Place, e: Var) -> str:
    """A step of weights with the result, as optimizers do."""
    mat = mat_of(e)
    rate = g.one("rate lr", mat.scalar, 0.05, 0.4)
    past: Expr = g.read("params weights_in", mat, -1.0, 1.0)
    if g.chance(0.5):
        past = (1.0 - rate * g.one("decay wd", mat.scalar, 0.02, 0.2)) * past
    return g.gets("params_out weights_out", past - rate * e)
