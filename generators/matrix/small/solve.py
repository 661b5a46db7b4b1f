"""Small systems, one a thread: Newton steps, implicit steps, damped least squares, sweeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.masks import flag
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.small.parts import POINTS, gets, identity, rows_of, times_identity
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
    inv = k.let("inv m_inv", fn("inverse", m))
    return inv, k.let(X, inv * b)


def _square(k: KernelBuilder, scalar: Scalar) -> Mat:
    size = k.draw.shape.weighted({2: 3, 3: 4, 4: 1})
    return Mat(size, size, scalar)


def _given(k: KernelBuilder, g: Site, mat: Mat) -> tuple[Var, Var, str]:
    a = g.array("systems stiffness mats", mat, -1.0, 1.0, init="well_conditioned")
    b = g.array("rhs loads targets", rows_of(mat), -2.0, 2.0)
    m, load = k.let("m ai", a[g.at]), k.let("bi load", b[g.at])
    return m, load, f"A = {a.name} and b = {b.name}"


def _plain(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Solved:
    """By the inverse, plain or damped."""
    mat = _square(k, scalar)
    m, b, text = _given(k, g, mat)
    turned = k.draw.shape.chance(0.3)
    matrix: Expr = fn("transpose", m) if turned else m
    name = "transpose(A)" if turned else "A"
    if level >= 2 or k.draw.shape.chance(0.4):
        damp = given(g, "damping ridge", scalar, 0.1, 0.9)
        matrix = k.let("lhs damped", matrix + times_identity(mat, damp))
        name = f"{name} + {say(k, damp)} * I"
    inv, x = _by_inverse(k, level, matrix, b)
    return Solved(x, matrix, b, f"Solve ({name}) * x = b for {text}.", inv)


def _implicit(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Solved:
    """A backward Euler step of a linear system."""
    mat = _square(k, scalar)
    vec = rows_of(mat)
    rates = given(g, "rates drag", mat, -0.3, 1.0)
    states = g.array("states velocities", vec, -2.0, 2.0)
    dt = given(g, "dt step", scalar, 0.05, 0.4)
    v = k.let("v state", states[g.at])
    half = k.draw.shape.chance(0.3)
    push = k.draw.shape.chance(0.5)
    b: Expr = v
    text = f"v (v being {states.name})"
    if push:
        forces = g.array("forces sources", vec, -1.0, 1.0)
        b = b + dt * forces[g.at]
        text += f" + {say(k, dt)} * {forces.name}"
    share = 0.5 * dt if half else dt
    if half:
        b = k.let("b explicit", b - share * (rates * v))
        text += f" - 0.5 * {say(k, dt)} * D * v"
    m = k.let("lhs implicit", identity(k, mat) + share * rates)
    inv, x = _by_inverse(k, level, m, b)
    name = f"{'0.5 * ' if half else ''}{say(k, dt)}"
    text = f"Solve (I + {name} * D) * x = b, D = {say(k, rates)} and b made of {text}."
    return Solved(x, m, b, text, inv)


def _newton(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Solved:
    """A Newton step of two equations: circles, curves, a mapping to be inverted."""
    vec, mat = Vec(2, scalar), Mat(2, 2, scalar)
    guess = g.array("guesses points start", vec, 0.4, 1.6)
    goal = given(g, "goal target", vec, -1.0, 1.0)
    p = k.let("p at", guess[g.at])
    way = k.draw.shape.choice(("quadratic", "polar", "waves"))
    rounds = 1 if level < 3 else k.draw.shape.integer(1, 2)

    def step() -> tuple[Expr, Expr]:
        if way == "quadratic":
            f = k.let("f res", make(vec, p[0] * p[0] - p[1] * p[1], 2.0 * p[0] * p[1]) - goal)
            j = make(mat, 2.0 * p[0], -2.0 * p[1], 2.0 * p[1], 2.0 * p[0])
        elif way == "polar":
            c, s = k.let("c cs", fn("cos", p[1])), k.let("s sn", fn("sin", p[1]))
            f = k.let("f res", make(vec, p[0] * c, p[0] * s) - goal)
            j = make(mat, c, -p[0] * s, s, p[0] * c)
        else:
            f = k.let(
                "f res",
                make(vec, p[0] + 0.3 * fn("sin", p[1]), p[1] - 0.3 * fn("cos", p[0])) - goal,
            )
            one = k.lift(1.0, scalar)
            j = make(mat, one, 0.3 * fn("cos", p[1]), 0.3 * fn("sin", p[0]), one)
        return k.let("jac j", j), f

    functions = {
        "quadratic": "(p0^2 - p1^2, 2 p0 p1)",
        "polar": "(p0 cos(p1), p0 sin(p1))",
        "waves": "(p0 + 0.3 sin(p1), p1 - 0.3 cos(p0))",
    }
    if rounds == 1:
        jac, f = step()
        delta = k.let(X, -(fn("inverse", jac) * f))
    else:
        with k.for_("it r", rounds - 1):
            jac, f = step()
            k.augment(p, "sub", fn("inverse", jac) * f)
        jac, f = step()
        delta = k.let(X, -(fn("inverse", jac) * f))
    before = f" after {rounds - 1} whole step of p = p - inverse(J) * f" if rounds > 1 else ""
    text = f"Newton's step x = -inverse(J) * f for f = {functions[way]} - {say(k, goal)} at p ="
    return Solved(delta, jac, -f, f"{text} {guess.name}{before}, J the derivative of f.")


def _damped(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Solved:
    """Damped least squares of a rectangular matrix, from either side."""
    rows, cols = k.draw.shape.choice(((2, 3), (3, 2), (3, 4), (4, 3), (2, 4), (4, 2)))
    mat = Mat(rows, cols, scalar)
    jacs = g.array("jacobians designs", mat, -1.0, 1.0)
    errs = g.array("errors residuals", Vec(rows, scalar), -2.0, 2.0)
    damp = given(g, "damping lam", scalar, 0.3, 1.2)
    j, e = k.let("j jac", jacs[g.at]), k.let("e err", errs[g.at])
    jt = k.let("jt jac_t", fn("transpose", j))
    small = min(rows, cols)
    eye = Mat(small, small, scalar)
    square = k.draw.shape.chance(0.4)
    amount = damp * damp if square else damp
    if rows < cols:
        m = k.let("jjt gram", j * jt + times_identity(eye, amount))
        x = k.let(X, jt * (fn("inverse", m) * e))
        how = "transpose(J) * inverse(J * transpose(J) + l * I) * e"
    else:
        m = k.let("jtj normal", jt * j + times_identity(eye, amount))
        x = k.let(X, fn("inverse", m) * (jt * e))
        how = "inverse(transpose(J) * J + l * I) * transpose(J) * e"
    text = f"x = {how}, J = {jacs.name}, e = {errs.name}, l = {say(k, damp)}"
    text += " squared." if square else "."
    return Solved(x, j, e, f"Damped least squares {text}")


def _sweeps(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Solved:
    """Sweeps with the diagonal, by Richardson, or along the steepest descent."""
    mat = _square(k, scalar)
    m, b, text = _given(k, g, mat)
    way = k.draw.shape.choice(("jacobi", "richardson", "steepest"))
    rounds = k.draw.shape.integer(2, 5)
    if way == "jacobi":
        diagonal = k.let("diag dg", fn("get_diag", m))
        x = k.let(X, fn("cw_div", b, diagonal))
        omega = given(g, "omega relax", scalar, 0.5, 0.95)
        with k.for_("it sweep", rounds):
            k.augment(x, "add", omega * fn("cw_div", b - m * x, diagonal))
        how = (
            f"x = b / diagonal by components, then {rounds} times add {say(k, omega)} * (b - A * x)"
        )
        how += " / diagonal"
    elif way == "richardson":
        rate = given(g, "rate tau", scalar, 0.1, 0.3)
        x = k.let(X, rate * b)
        with k.for_("it sweep", rounds):
            k.augment(x, "add", rate * (b - m * x))
        how = f"x = {say(k, rate)} * b, then {rounds} times add {say(k, rate)} * (b - A * x)"
    else:
        x = k.let(X, 0.3 * b)
        with k.for_("it sweep", rounds):
            r = k.let("r res", b - m * x)
            mr = k.let("mr a_r", m * r)
            k.augment(x, "add", (fn("dot", mr, r) / (fn("dot", mr, mr) + 0.001)) * r)
        how = (
            f"x = 0.3 * b, then {rounds} times with r = b - A * x add dot(A r, r) / (dot(A r, A r)"
        )
        how += " + 0.001) * r"
    return Solved(x, m, b, f"Relax A * x = b for {text}: {how}.")


def _schur(k: KernelBuilder, g: Site, level: int, scalar: Scalar) -> Solved:
    """Two unknown vectors coupled by blocks: the second is eliminated."""
    size = k.draw.shape.choice((2, 3))
    mat, vec = Mat(size, size, scalar), Vec(size, scalar)
    first = g.array("a_blocks camera_blocks", mat, -0.6, 0.6, init="well_conditioned")
    second = g.array("d_blocks point_blocks", mat, -0.6, 0.6, init="well_conditioned")
    cross = given(g, "coupling b_block", mat, -0.3, 0.3)
    f, h = g.array("f rhs_first", vec, -2.0, 2.0), g.array("h rhs_second", vec, -2.0, 2.0)
    d_inv = k.let("d_inv inv_d", fn("inverse", second[g.at]))
    bd = k.let("bd elim", cross * d_inv)
    m = k.let("schur reduced", first[g.at] - bd * fn("transpose", cross))
    b = k.let("b_red rhs_red", f[g.at] - bd * h[g.at])
    inv, x = _by_inverse(k, level, m, b)
    back = k.let("y second", d_inv * (h[g.at] - fn("transpose", cross) * x))
    target = g.put("second_out y_out", back)
    text = (
        f"Solve A x + B y = f, transpose(B) x + D y = h with A = {first.name}, B = {say(k, cross)},"
    )
    text += f" D = {second.name}, f = {f.name}, h = {h.name} by the Schur complement"
    text += f" A - B inverse(D) transpose(B); {target.name} gets y."
    return Solved(x, m, b, text, inv)


METHODS: dict[str, Callable[[KernelBuilder, Site, int, Scalar], Solved]] = {
    "plain": _plain,
    "implicit": _implicit,
    "newton": _newton,
    "damped": _damped,
    "sweeps": _sweeps,
    "schur": _schur,
}


def _limited(k: KernelBuilder, g: Site, s: Solved, level: int) -> str:
    """A step is damped, cut to a length, started from somewhere, or not taken at all."""
    x = s.x
    assert isinstance(x.type, Vec)
    scalar = x.type.scalar
    way = k.draw.shape.choice(
        ("rate", "from", "mask", "cut", "soft") if level >= 3 else ("rate", "from", "mask")
    )
    if way == "rate":
        rate = given(g, "rate gain", scalar, 0.3, 0.95)
        k.augment(x, "mul", rate)
        return f" Multiply x by {say(k, rate)}."
    if way == "from":
        start = given(g, "origin x0", x.type, -1.0, 1.0)
        k.augment(x, "add", start)
        return f" Add {say(k, start)} to x."
    if way == "mask":
        there = flag(g, "active enabled")
        with k.if_(there.unless):
            k.assign(x, zero(x.type))
        return f" x is zero where {there.off}."
    limit = given(g, "max_step radius", scalar, 0.3, 0.9)
    if way == "soft":

        def build(body: BodyBuilder, v: Expr, bound: Expr) -> Expr:
            size = body.let("size norm", fn("sqrt", fn("dot", v, v) + 0.0001))
            return v * (bound / (bound + size))

        made = helper(k, "soft_limit limited", (("v", x.type), ("bound", scalar)), build)
        k.assign(x, k.call(made, x, limit))
        return f" Multiply x by r / (r + sqrt(dot(x, x) + 0.0001)), r = {say(k, limit)}."
    size = k.let("size norm_x", fn("length", x))
    with k.if_(size > limit):
        k.augment(x, "mul", limit / size)
    return f" Shorten x to length {say(k, limit)} where it is longer."


def _menu(k: KernelBuilder, g: Site, s: Solved) -> dict[str, Extra]:
    x, m, b = s.x, s.m, s.b
    mat = m.type
    assert isinstance(mat, Mat)

    def sensitivity() -> Expr:
        grads = g.array("x_grads seeds", x.type, -1.0, 1.0)
        return fn("outer", grads[g.at], x)

    return {
        "size": Extra("sizes_sq step_sq", lambda: fn("dot", x, x), "dot(x, x)"),
        "work": Extra(
            "works predicted",
            lambda: fn("dot", m * x, b),
            "dot(M * x, b), with the matrix and the right-hand side solved with",
        ),
        "outer": Extra("gradients updates", sensitivity, "outer(gradient, x) of its gradient"),
        "top": Extra("greatest tops", lambda: fn("max_element", x), "the greatest component of x"),
    }


@idiom
def small_solve(k: KernelBuilder, level: int) -> Title:
    """Small systems as simulation, optimization and robotics solve them."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid e")
    scalar = k.draw.wide_float_type()
    keys = sorted(METHODS) if level >= 2 else ["damped", "implicit", "newton", "plain", "sweeps"]
    key = shape.choice(keys)
    s = METHODS[key](k, g, level, scalar)
    done = s.text
    if level >= 2:
        done += _limited(k, g, s, level)
    if level >= 4:
        exact = key in ("plain", "implicit", "schur")
        done += _cases(k, g, s) if exact else _searched(k, g, s)
    done += gets(g, "x_out solutions steps_out", s.x, "x")
    done += extras(
        g, _menu(k, g, s), (shape.integer(0, 1), shape.integer(0, 1), 1, 2, 3)[level - 1]
    )
    names = {"damped": "damped_least_squares ik_step", "newton": "newton_step newton_2d"}
    names |= {
        "implicit": "implicit_step backward_euler",
        "schur": "schur_solve block_solve",
    }
    names |= {"sweeps": "relax_systems sweep_systems"}
    return Title(k.name(names.get(key, "solve_small solve_systems")), done)


def _cases(k: KernelBuilder, g: Site, s: Solved) -> str:
    """The inverse is used again: for more right-hand sides, and for the most yielding of them."""
    vec = s.x.type
    assert isinstance(vec, Vec)
    k.size("t", 2, 4)
    count = k.trip_count("num_cases case_count", "t")
    own = k.draw.shape.chance(0.5)
    cases = k.array("cases more_loads", vec, (*g.dims, "t") if own else "t", low=-1.0, high=1.0)
    assert s.inv is not None
    target = k.out("case_solutions responses", vec, (*g.dims, "t"))
    total = k.let("total compliance", zero(vec.scalar))
    with k.for_("case q", count) as q:
        load = k.let("case_load fq", cases[g.index(q)] if own else cases[q])
        y = k.let("y_case answer", s.inv * load)
        k.store(target, g.index(q), y)
        k.augment(total, "add", fn("dot", load, y))
    whole = g.put("compliances case_works", total)
    return (
        f" With the same matrix {target.name} gets the solution y for each of {cases.name}, and"
        f" {whole.name} the sum of dot(load, y) over them."
    )


def _searched(k: KernelBuilder, g: Site, s: Solved) -> str:
    """A line search: the loss at several lengths of the step, and the best of them."""
    x, m, b = s.x, s.m, s.b
    vec = x.type
    assert isinstance(vec, Vec)
    k.size("t", 3, 4)
    count = k.trip_count("num_trials trial_count", "t")
    lengths = k.array("trial_lengths etas", vec.scalar, "t", low=0.1, high=1.6)
    goal = k.let("mx model_x", m * x)
    best = k.let("best lowest", fn("dot", b, b))
    taken = k.let("taken eta_best", k.lift(0.0, vec.scalar))
    with k.for_("trial q", count) as q:
        r = k.let("rq trial_res", lengths[q] * goal - b)
        loss = k.let("loss_q value_q", fn("dot", r, r))
        with k.if_(loss < best):
            k.assign(best, loss)
            k.assign(taken, lengths[q])
    target = g.put("best_losses trial_losses", best)
    k.augment(x, "mul", taken)
    return (
        f" Among {lengths.name} (and 0, which is kept on a tie) find the s with the least"
        f" |s * M * x - b|^2 of the matrix and right-hand side solved with; {target.name} gets that"
        " least value, and x is multiplied by s."
    )
