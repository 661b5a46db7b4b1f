"""Small linear systems, one a thread: by the inverse, by least squares, by relaxation."""

from __future__ import annotations

from generators._matrix_products import square
from generators.build import KernelBuilder, fn
from generators.dtypes import Mat, Vec
from generators.expr import Expr, Var
from generators.pieces import (
    constant,
    extra_output,
    fine,
    shown,
    thread,
    times_identity,
    tuned,
    vector_literal,
)
from generators.registry import Title


def _by_inverse(k: KernelBuilder, m: Var, b: Var) -> tuple[Var, str]:
    assert isinstance(m.type, Mat)
    form = k.draw.shape.choice(("damped", "damped transpose", "relaxed", "shifted load"))
    name = ("xi", "sol")
    if form == "relaxed":
        rate = fine(k, 0.3, 0.98)
        x = k.let(name, rate * (fn("inverse", m) * b))
        return x, f"Compute x = {rate} * inverse(a) * b"
    if form == "shifted load":
        shift, text = vector_literal(k, Vec(m.type.rows, m.type.scalar), 0.1, 0.99)
        x = k.let(name, fn("inverse", m) * (b + shift))
        return x, f"Solve a * x = b + {text} by the inverse"
    damping = fine(k, 0.1, 0.98)
    flipped = form == "damped transpose"
    matrix: Expr = fn("transpose", m) if flipped else m
    x = k.let(name, fn("inverse", matrix + times_identity(m.type, damping)) * b)
    left = "transpose(a)" if flipped else "a"
    return x, f"Solve ({left} + {damping} * I) * x = b by the inverse"


def _by_least_squares(k: KernelBuilder, m: Var, b: Var) -> tuple[Var, str]:
    assert isinstance(m.type, Mat)
    ridge = fine(k, 0.4, 1.5)
    gain = fine(k, 0.3, 0.98) if k.draw.shape.chance(0.3) else 0.0
    mt = k.let(("mt", "at"), fn("transpose", m))
    identity = times_identity(Mat(m.type.cols, m.type.cols, m.type.scalar), ridge)
    normal = k.let(("normal", "gram", "lhs"), mt * m + identity)
    solution = fn("inverse", normal) * (mt * b)
    x = k.let(("xi", "sol"), gain * solution if gain else solution)
    text = f"Solve the least squares (transpose(a) * a + {ridge} * I) * x = transpose(a) * b"
    return x, f"{text}, with x multiplied by {gain}" if gain else text


def _by_relaxation(k: KernelBuilder, m: Var, b: Var) -> tuple[Var, str]:
    rounds, rate = k.draw.value.integer(3, 6), fine(k, 0.1, 0.25)
    keep = fine(k, 0.7, 0.98) if k.draw.shape.chance(0.4) else 0.0
    x = k.let(("xi", "sol"), rate * b)
    with k.for_(("it", "sweep", "r"), rounds):
        if keep:
            k.assign(x, keep * x + rate * (b - m * x))
        else:
            k.augment(x, "add", rate * (b - m * x))
    change = f"replace x by {keep} * x + {rate}" if keep else f"add {rate}"
    return x, f"Relax a * x = b: from x = {rate} * b, {rounds} times {change} * (b - a * x)"


_METHODS = {
    "inverse": _by_inverse,
    "least_squares": _by_least_squares,
    "relaxation": _by_relaxation,
}


def small_solve(k: KernelBuilder, level: int) -> Title:
    """Solve a small system a thread: by the inverse, by least squares, by relaxation."""
    shape = k.draw.shape
    form = shape.choice(sorted(_METHODS))
    mat = square(k)
    scalar, vec = mat.scalar, Vec(mat.rows, mat.scalar)
    n = k.size("n", 48, 80)
    if form == "least_squares":
        tall = Mat(mat.rows + shape.integer(0, 1), mat.cols, scalar)
        systems = k.array(("a", "designs", "jacobians"), tall, n, low=-1.0, high=1.0)
        rhs = k.array(("b", "targets", "residuals"), Vec(tall.rows, scalar), n, low=-2.0, high=2.0)
    else:
        init = {"init": "well_conditioned", "low": -1.0, "high": 1.0}
        systems = k.array(("a", "systems", "stiffness"), mat, n, **init)  # type: ignore[arg-type]
        rhs = k.array(("b", "rhs", "loads"), vec, n, low=-3.0, high=3.0)
    out = k.out(("x", "solutions", "out"), vec, n)
    i = thread(k, n, "i", "tid", "e")
    m, b = k.let(("m", "ai", "mat"), systems[i]), k.let(("bi", "load", "target"), rhs[i])
    x, done = _METHODS[form](k, m, b)
    done += f" for each a in {systems.name} and b in {rhs.name}"
    if level >= 2:
        done += _started(k, x)
    if level >= 3:
        done += _shortened(k, x)
    k.store(out, i, x)
    done += "."
    if level >= 4:
        names, share = ("works", "energies", "quadratic"), constant(k, 0.3, 0.7)
        value = share * fn("dot", m * x, b)
        done += extra_output(k, level - 1, names, (n, i), value, f"{share} times dot(a * x, b)")
    return Title(k.name("solve_small", "solve_systems", f"{form}_solve"), done)


def _started(k: KernelBuilder, x: Var) -> str:
    """Add a shared vector to a solution, or blend the two."""
    assert isinstance(x.type, Vec)
    start = k.scalar(("offset", "start", "x0"), x.type, -1.0, 1.0)
    form = k.draw.shape.choice(("add", "blend", "step"))
    if form == "add":
        k.augment(x, "add", start)
        return f", and add {start.name} to x"
    share = tuned(k, ("blend", "mix", "omega"), x.type.scalar, 0.2, 0.9)
    if form == "step":
        k.assign(x, start + share * x)
        return f", and replace x by {start.name} + {shown(share)} * x"
    k.assign(x, fn("lerp", x, start, share))
    return f", and move x by {shown(share)} of the way to {start.name}"


def _shortened(k: KernelBuilder, x: Var) -> str:
    """Limit a vector: its length, or the components below a floor."""
    limit = constant(k, 0.6, 1.0)
    if k.draw.shape.chance(0.5):
        size = k.let(("size", "norm_x"), fn("length", x))
        with k.if_(size > limit):
            k.augment(x, "mul", limit / size)
        return f"; shorten x to length {limit} where it is longer"
    assert isinstance(x.type, Vec)
    with k.for_(("c", "comp"), x.type.size) as c, k.if_(x[c] < 0.0):
        k.set(x, c, limit * x[c])
    return f"; multiply negative components by {limit}"
