"""Functions of small matrices by series with a fixed number of terms."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.naming import helper
from generators.matrix.parts import (
    Place,
    identity,
    mat_of,
    place,
    rows_of,
    square_type,
    transpose,
)
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr, Var

Made = tuple[Expr, str]
Build = Callable[[BodyBuilder, Expr, int], Made]


def _source(g: Place, mat: Mat, key: str) -> tuple[Var, Expr | None]:
    """The matrix whose function is wanted: given, times a step, or that of an angular velocity;
    and the step."""
    bound = 0.5 if mat.rows < 4 else 0.3
    if key == "neumann":
        return g.let("a m", g.read("couplings mats", mat, -bound, bound), "A"), None
    dt = g.one("dt tau step", mat.scalar, 0.3, 1.0) if key == "phi" or g.chance(0.6) else None
    if key == "cayley" and mat.rows == 3 and dt is not None and g.chance(0.6):
        spin = g.read("spins ang_vel", Vec(3, mat.scalar), -1.0, 1.0)
        return g.let("a skew_w", dt * fn("skew", spin), "A"), dt
    names = "jacobians" if key == "phi" else "generators rate_mats"
    value = g.read(names, mat, -bound, bound)
    return g.let("a m gen", value if dt is None else dt * value, "A"), dt


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
    """Four terms of a small part of the exponent leave an error of its fourth power."""
    scale = 1.0 / 2**steps
    small = k.let("small scaled", scale * a)
    square = k.let("small_sq s2", small * small)
    cube = square * small / 6.0
    e = k.let("e expm", identity(k, mat_of(a)) + small + 0.5 * square + cube)
    with k.for_("r sq", steps):
        k.assign(e, e * e)
    text = f"scaling and squaring: with S = A / {2**steps}, E = I + S + S * S / 2 + S * S * S / 6,"
    return e, f"{text} then {steps} times E = E * E"


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


def _phi(k: BodyBuilder, a: Expr, steps: int) -> Made:
    """What an exponential integrator multiplies constant forcing by: (exp(A) - I) / A."""
    term = k.let("term power", identity(k, mat_of(a)))
    total = k.let("total phi", term)
    with k.for_("n order", steps + 1, 1) as n:
        k.assign(term, term * a / cast(n + 1, mat_of(a).scalar))
        k.assign(total, total + term)
    return total, f"the Taylor series E = I + A / 2! + ... + A^{steps} / {steps + 1}!"


_SERIES: dict[str, Build] = {
    "exp": _exp_terms,
    "horner": _exp_horner,
    "squared": _exp_squared,
    "neumann": _neumann,
    "cayley": _cayley,
    "phi": _phi,
}


def found(g: Place, level: int, names: str, a: Var, steps: int, build: Build) -> tuple[Var, str]:
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
    key = shape.choice(sorted(_SERIES))
    a, dt = _source(g, square_type(k, {2: 1, 3: 4, 4: 2}, k.draw.wide_float_type()), key)
    steps = shape.integer(6, 12) if key == "neumann" else shape.integer(4, 6)
    what, names, titles, outs = _KINDS.get(key, _KINDS["exp"])
    e, text = found(g, level, names, a, steps, _SERIES[key])
    done = f"{what} of small matrices, with {g.told(a)}, by {text}."
    if key == "cayley":
        done = f"{what} of small matrices: with {g.told(a)}, {text}."
    elif key == "neumann":
        done = f"{what} of small matrices, with {g.told(a)} (spectral radius below 1), by {text}."
    title = k.name(titles)
    if key not in ("neumann", "phi") and shape.chance(0.5):
        return Title(title, done + _applied(g, a, e, level))
    if dt is not None and key == "phi":
        return Title(title, done + _forced(g, e, dt))
    return Title(title, done + g.gets(outs, e))


_KINDS = {
    "exp": ("Matrix exponential E", "matrix_exp expm_series", "matrix_exp expm", "exps expm_out"),
    "cayley": ("Cayley transform E", "cayley_of", "cayley_transform cayley_map", "cayley_out"),
    "neumann": (
        "Approximate inverse E of I - A",
        "neumann_of",
        "neumann_inverse neumann_series",
        "inverses resolvents",
    ),
    "phi": (
        "Function E = (exp(A) - I) * inverse(A)",
        "phi_of phi1_series",
        "phi_function phi1_update",
        "phis phi_out",
    ),
}
"""What a function is called, names of a helper, of the kernel and of the output."""


def _forced(g: Place, e: Var, dt: Expr) -> str:
    """A step of the exponential Euler method, or the function itself."""
    if g.chance(0.3):
        return g.gets("phis phi_out", e)
    slope = g.read("derivatives rates", rows_of(mat_of(e)), -1.0, 1.0)
    state = g.read("states x0", slope.type, -1.0, 1.0)
    done = g.gets("next_states x1", state + dt * (e * slope))
    return (
        f" Exponential Euler step of x' = f(x), f = {g.tell(slope)} at x = {g.tell(state)}:{done}"
    )


def _applied(g: Place, a: Var, e: Var, level: int) -> str:
    """Several steps with the matrix, driven or not, or its product with its transpose."""
    k, mat, vec = g.k, mat_of(e), rows_of(mat_of(e))
    way = g.shape.choice(("steps", "driven", "pair") if level >= 3 else ("once", "pair"))
    if way == "pair":
        names, outs = ("covs", "covs_out propagated")
        if "skew" in g.told(a):
            names, outs = ("tensors", "turned tensors_out")
        source = g.read(names, mat, -0.5, 0.5)
        return g.gets(outs, e * source * transpose(e))
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
