"""Where small systems come from, and how each is solved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.kit.pieces import times_identity
from generators.matrix.small.grid import Grid, identity, rows_of, say
from generators.program.dtypes import Mat, Scalar, Vec
from generators.program.expr import Expr, Var


@dataclass
class Solved:
    """The unknown, the matrix and the right-hand side that it solves for, and the text."""

    x: Var
    m: Expr
    b: Expr
    text: str
    inv: Var | None = None


X = ("x", "sol", "dx")


def _by_inverse(k: KernelBuilder, level: int, m: Expr, b: Expr) -> tuple[Var | None, Var]:
    """The solution by the inverse, which is kept where more is solved with it."""
    if level < 4:
        return None, k.let(X, fn("inverse", m) * b)
    inv = k.let(("inv", "m_inv"), fn("inverse", m))
    return inv, k.let(X, inv * b)


def _square(k: KernelBuilder, scalar: Scalar) -> Mat:
    size = k.draw.shape.weighted({2: 3, 3: 4, 4: 1})
    return Mat(size, size, scalar)


def _given(k: KernelBuilder, g: Grid, mat: Mat) -> tuple[Var, Var, str]:
    a = g.array(("systems", "stiffness", "mats"), mat, -1.0, 1.0, "well_conditioned")
    b = g.array(("rhs", "loads", "targets"), rows_of(mat), -2.0, 2.0)
    m, load = k.let(("m", "ai"), a[g.index]), k.let(("bi", "load"), b[g.index])
    return m, load, f"A = {a.name} and b = {b.name}"


def _plain(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Solved:
    """By the inverse, plain or damped."""
    mat = _square(k, scalar)
    m, b, text = _given(k, g, mat)
    turned = k.draw.shape.chance(0.3)
    matrix: Expr = fn("transpose", m) if turned else m
    name = "transpose(A)" if turned else "A"
    if level >= 2 or k.draw.shape.chance(0.4):
        damp = g.supply(("damping", "ridge"), ("dampings", "ridges"), scalar, 0.1, 0.9)
        matrix = k.let(("lhs", "damped"), matrix + times_identity(mat, damp))
        name = f"{name} + {say(damp)} * I"
    inv, x = _by_inverse(k, level, matrix, b)
    return Solved(x, matrix, b, f"Solve ({name}) * x = b for {text}.", inv)


def _implicit(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Solved:
    """A backward Euler step of a linear system."""
    mat = _square(k, scalar)
    vec = rows_of(mat)
    rates = g.supply(("rates", "drag"), ("rate_mats", "drags"), mat, -0.3, 1.0)
    states = g.array(("states", "velocities"), vec, -2.0, 2.0)
    dt = g.supply(("dt", "step"), ("dts", "steps"), scalar, 0.05, 0.4)
    v = k.let(("v", "state"), states[g.index])
    half = k.draw.shape.chance(0.3)
    push = k.draw.shape.chance(0.5)
    b: Expr = v
    text = f"v (v being {states.name})"
    if push:
        forces = g.array(("forces", "sources"), vec, -1.0, 1.0)
        b = b + dt * forces[g.index]
        text += f" + {say(dt)} * {forces.name}"
    share = 0.5 * dt if half else dt
    if half:
        b = k.let(("b", "explicit"), b - share * (rates * v))
        text += f" - 0.5 * {say(dt)} * D * v"
    m = k.let(("lhs", "implicit"), identity(k, mat) + share * rates)
    inv, x = _by_inverse(k, level, m, b)
    name = f"{'0.5 * ' if half else ''}{say(dt)}"
    text = f"Solve (I + {name} * D) * x = b, D = {say(rates)} and b made of {text}."
    return Solved(x, m, b, text, inv)


def _newton(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Solved:
    """A Newton step of two equations: circles, curves, a mapping to be inverted."""
    vec, mat = Vec(2, scalar), Mat(2, 2, scalar)
    guess = g.array(("guesses", "points", "start"), vec, 0.4, 1.6)
    goal = g.supply(("goal", "target"), ("goals", "targets"), vec, -1.0, 1.0)
    p = k.let(("p", "at"), guess[g.index])
    way = k.draw.shape.choice(("quadratic", "polar", "waves"))
    rounds = 1 if level < 3 else k.draw.shape.integer(1, 2)

    def step() -> tuple[Expr, Expr]:
        if way == "quadratic":
            f = k.let(("f", "res"), make(vec, p[0] * p[0] - p[1] * p[1], 2.0 * p[0] * p[1]) - goal)
            j = make(mat, 2.0 * p[0], -2.0 * p[1], 2.0 * p[1], 2.0 * p[0])
        elif way == "polar":
            c, s = k.let(("c", "cs"), fn("cos", p[1])), k.let(("s", "sn"), fn("sin", p[1]))
            f = k.let(("f", "res"), make(vec, p[0] * c, p[0] * s) - goal)
            j = make(mat, c, -p[0] * s, s, p[0] * c)
        else:
            f = k.let(
                ("f", "res"),
                make(vec, p[0] + 0.3 * fn("sin", p[1]), p[1] - 0.3 * fn("cos", p[0])) - goal,
            )
            one = k.lift(1.0, scalar)
            j = make(mat, one, 0.3 * fn("cos", p[1]), 0.3 * fn("sin", p[0]), one)
        return k.let(("jac", "j"), j), f

    functions = {
        "quadratic": "(p0^2 - p1^2, 2 p0 p1)",
        "polar": "(p0 cos(p1), p0 sin(p1))",
        "waves": "(p0 + 0.3 sin(p1), p1 - 0.3 cos(p0))",
    }
    if rounds == 1:
        jac, f = step()
        delta = k.let(X, -(fn("inverse", jac) * f))
    else:
        with k.for_(("it", "r"), rounds - 1):
            jac, f = step()
            k.augment(p, "sub", fn("inverse", jac) * f)
        jac, f = step()
        delta = k.let(X, -(fn("inverse", jac) * f))
    before = f" after {rounds - 1} whole step of p = p - inverse(J) * f" if rounds > 1 else ""
    text = f"Newton's step x = -inverse(J) * f for f = {functions[way]} - {say(goal)} at p ="
    return Solved(delta, jac, -f, f"{text} {guess.name}{before}, J the derivative of f.")


def _damped(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Solved:
    """Damped least squares of a rectangular matrix, from either side."""
    rows, cols = k.draw.shape.choice(((2, 3), (3, 2), (3, 4), (4, 3), (2, 4), (4, 2)))
    mat = Mat(rows, cols, scalar)
    jacs = g.array(("jacobians", "designs"), mat, -1.0, 1.0)
    errs = g.array(("errors", "residuals"), Vec(rows, scalar), -2.0, 2.0)
    damp = g.supply(("damping", "lam"), ("dampings", "lams"), scalar, 0.3, 1.2)
    j, e = k.let(("j", "jac"), jacs[g.index]), k.let(("e", "err"), errs[g.index])
    jt = k.let(("jt", "jac_t"), fn("transpose", j))
    small = min(rows, cols)
    eye = Mat(small, small, scalar)
    square = k.draw.shape.chance(0.4)
    amount = damp * damp if square else damp
    if rows < cols:
        m = k.let(("jjt", "gram"), j * jt + times_identity(eye, amount))
        x = k.let(X, jt * (fn("inverse", m) * e))
        how = "transpose(J) * inverse(J * transpose(J) + l * I) * e"
    else:
        m = k.let(("jtj", "normal"), jt * j + times_identity(eye, amount))
        x = k.let(X, fn("inverse", m) * (jt * e))
        how = "inverse(transpose(J) * J + l * I) * transpose(J) * e"
    text = f"x = {how}, J = {jacs.name}, e = {errs.name}, l = {say(damp)}"
    text += " squared." if square else "."
    return Solved(x, j, e, f"Damped least squares {text}")


def _sweeps(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Solved:
    """Sweeps with the diagonal, by Richardson, or along the steepest descent."""
    mat = _square(k, scalar)
    m, b, text = _given(k, g, mat)
    way = k.draw.shape.choice(("jacobi", "richardson", "steepest"))
    rounds = k.draw.shape.integer(2, 5)
    if way == "jacobi":
        diagonal = k.let(("diag", "dg"), fn("get_diag", m))
        x = k.let(X, fn("cw_div", b, diagonal))
        omega = g.supply(("omega", "relax"), ("omegas", "relaxation"), scalar, 0.5, 0.95)
        with k.for_(("it", "sweep"), rounds):
            k.augment(x, "add", omega * fn("cw_div", b - m * x, diagonal))
        how = f"x = b / diagonal by components, then {rounds} times add {say(omega)} * (b - A * x)"
        how += " / diagonal"
    elif way == "richardson":
        rate = g.supply(("rate", "tau"), ("rates", "taus"), scalar, 0.1, 0.3)
        x = k.let(X, rate * b)
        with k.for_(("it", "sweep"), rounds):
            k.augment(x, "add", rate * (b - m * x))
        how = f"x = {say(rate)} * b, then {rounds} times add {say(rate)} * (b - A * x)"
    else:
        x = k.let(X, 0.3 * b)
        with k.for_(("it", "sweep"), rounds):
            r = k.let(("r", "res"), b - m * x)
            mr = k.let(("mr", "a_r"), m * r)
            k.augment(x, "add", (fn("dot", mr, r) / (fn("dot", mr, mr) + 0.001)) * r)
        how = (
            f"x = 0.3 * b, then {rounds} times with r = b - A * x add dot(A r, r) / (dot(A r, A r)"
        )
        how += " + 0.001) * r"
    return Solved(x, m, b, f"Relax A * x = b for {text}: {how}.")


def _schur(k: KernelBuilder, g: Grid, level: int, scalar: Scalar) -> Solved:
    """Two unknown vectors coupled by blocks: the second is eliminated."""
    size = k.draw.shape.choice((2, 3))
    mat, vec = Mat(size, size, scalar), Vec(size, scalar)
    first = g.array(("a_blocks", "camera_blocks"), mat, -0.6, 0.6, "well_conditioned")
    second = g.array(("d_blocks", "point_blocks"), mat, -0.6, 0.6, "well_conditioned")
    cross = g.supply(("coupling", "b_block"), ("couplings", "b_blocks"), mat, -0.3, 0.3)
    f, h = g.array(("f", "rhs_first"), vec, -2.0, 2.0), g.array(("h", "rhs_second"), vec, -2.0, 2.0)
    d_inv = k.let(("d_inv", "inv_d"), fn("inverse", second[g.index]))
    bd = k.let(("bd", "elim"), cross * d_inv)
    m = k.let(("schur", "reduced"), first[g.index] - bd * fn("transpose", cross))
    b = k.let(("b_red", "rhs_red"), f[g.index] - bd * h[g.index])
    inv, x = _by_inverse(k, level, m, b)
    back = k.let(("y", "second"), d_inv * (h[g.index] - fn("transpose", cross) * x))
    target = g.write(("second_out", "y_out"), back)
    text = f"Solve A x + B y = f, transpose(B) x + D y = h with A = {first.name}, B = {say(cross)},"
    text += f" D = {second.name}, f = {f.name}, h = {h.name} by the Schur complement"
    text += f" A - B inverse(D) transpose(B); {target.name} gets y."
    return Solved(x, m, b, text, inv)


METHODS: dict[str, Callable[[KernelBuilder, Grid, int, Scalar], Solved]] = {
    "plain": _plain,
    "implicit": _implicit,
    "newton": _newton,
    "damped": _damped,
    "sweeps": _sweeps,
    "schur": _schur,
}
