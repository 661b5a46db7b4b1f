"""Small systems, one a thread: Newton steps, implicit steps, damped least squares, sweeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, dot, sin, sqrt
from generators.kit.naming import applied
from generators.kit.sources import zero
from generators.matrix.parts import (
    Place,
    identity,
    mat_of,
    place,
    rows_of,
    square_type,
    times_identity,
    transpose,
)
from generators.program.dtypes import Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var

_X = "x sol dx"
_INIT = "well_conditioned"


@dataclass
class Solved:
    """The unknown, the matrix and the right-hand side that it solves for, and the text."""

    x: Var
    m: Expr
    b: Expr
    text: str
    inv: Var | None = None


def _by_inverse(g: Place, level: int, m: Expr, b: Expr, text: str) -> Solved:
    """The solution by the inverse, which is kept where more is solved with it."""
    if level < 4:
        return Solved(g.let(_X, fn("inverse", m) * b), m, b, text)
    inv = g.k.let("inv m_inv", fn("inverse", m))
    return Solved(g.let(_X, inv * b), m, b, text, inv)


def _system(g: Place, scalar: Scalar) -> tuple[Var, Var]:
    """A matrix A and a right-hand side b."""
    mat = square_type(g.k, {2: 3, 3: 4, 4: 1}, scalar)
    a = g.let("a m ai", g.read("systems stiffness mats", mat, -1.0, 1.0, init=_INIT))
    return a, g.let("b bi load", g.read("rhs loads targets", rows_of(mat), -2.0, 2.0))


def _plain(g: Place, level: int, scalar: Scalar) -> Solved:
    """By the inverse, plain or damped."""
    a, b = _system(g, scalar)
    matrix = transpose(a) if g.chance(0.3) else a
    if level >= 2 or g.chance(0.4):
        damp = g.given("damping ridge", scalar, 0.1, 0.9)
        matrix = g.part("lhs damped", matrix + times_identity(mat_of(a), damp))
    text = f"Solve ({g.tell(matrix)}) * x = b for {g.told(a, b)}."
    return _by_inverse(g, level, matrix, b, text)


def _implicit(g: Place, level: int, scalar: Scalar) -> Solved:
    """A backward Euler step of a linear system."""
    mat = square_type(g.k, {2: 3, 3: 4, 4: 1}, scalar)
    vec = rows_of(mat)
    rates = g.given("rate_mat drag", mat, -0.3, 1.0)
    v = g.let("v state", g.read("states velocities", vec, -2.0, 2.0))
    dt = g.given("dt step", scalar, 0.05, 0.4)
    b: Expr = v
    half = g.chance(0.3)
    if g.chance(0.5):
        b = b + dt * g.read("forces sources", vec, -1.0, 1.0)
    share = 0.5 * dt if half else dt
    if half:
        b = g.part("b explicit", b - share * (rates * v))
    m = g.part("lhs implicit", identity(g.k, mat) + share * rates)
    text = f"Solve ({g.tell(m)}) * x = {g.tell(b)}, {g.told(v)}."
    return _by_inverse(g, level, m, b, text)


def _newton(g: Place, level: int, scalar: Scalar) -> Solved:
    """A Newton step of two equations: circles, curves, a mapping to be inverted."""
    k, vec, mat = g.k, Vec(2, scalar), Mat(2, 2, scalar)
    guess = g.read("guesses points start", vec, 0.4, 1.6)
    goal = g.given("goal target", vec, -1.0, 1.0)
    p = k.let("p at", guess)
    way = g.shape.choice(("quadratic", "polar", "waves"))
    rounds = 1 if level < 3 else g.shape.integer(1, 2)

    def step() -> tuple[Expr, Expr]:
        x, y, one = p[0], p[1], k.lift(1.0, scalar)
        if way == "quadratic":
            f = make(vec, x * x - y * y, 2.0 * x * y)
            j = make(mat, 2.0 * x, -2.0 * y, 2.0 * y, 2.0 * x)
        elif way == "polar":
            c, s = k.let("c cs", cos(y)), k.let("s sn", sin(y))
            f = make(vec, x * c, x * s)
            j = make(mat, c, -x * s, s, x * c)
        else:
            f = make(vec, x + 0.3 * sin(y), y - 0.3 * cos(x))
            j = make(mat, one, 0.3 * cos(y), 0.3 * sin(x), one)
        res = k.let("f res", f - goal)
        return k.let("jac j", j), res

    if rounds > 1:
        with k.for_("it r", rounds - 1):
            jac, f = step()
            k.augment(p, "sub", fn("inverse", jac) * f)
    jac, f = step()
    x = g.let(_X, -(fn("inverse", jac) * f))
    before = f" after {rounds - 1} whole step of p = p - inverse(J) * f" if rounds > 1 else ""
    functions = {
        "quadratic": "(p[0]^2 - p[1]^2, 2 * p[0] * p[1])",
        "polar": "(p[0] * cos(p[1]), p[0] * sin(p[1]))",
        "waves": "(p[0] + 0.3 * sin(p[1]), p[1] - 0.3 * cos(p[0]))",
    }
    text = f"Newton's step x = -inverse(J) * f for f = {functions[way]} - {g.tell(goal)} at p ="
    return Solved(x, jac, -f, f"{text} {g.tell(guess)}{before}, J the derivative of f.")


def _damped(g: Place, level: int, scalar: Scalar) -> Solved:
    """Damped least squares of a rectangular matrix, from either side."""
    rows, cols = g.shape.choice(((2, 3), (3, 2), (3, 4), (4, 3), (2, 4), (4, 2)))
    jac = g.read("jacobians designs", Mat(rows, cols, scalar), -1.0, 1.0)
    err = g.read("errors residuals", Vec(rows, scalar), -2.0, 2.0)
    damp = g.given("damping lam", scalar, 0.3, 1.2)
    j, e = g.let("j jac", jac), g.let("e err", err)
    jt = g.part("jt jac_t", transpose(j))
    amount = damp * damp if g.chance(0.4) else damp
    size = min(rows, cols)
    extra = times_identity(Mat(size, size, scalar), amount)
    if rows < cols:
        m = g.part("jjt gram", j * jt + extra)
        x = g.let(_X, jt * (fn("inverse", m) * e))
    else:
        m = g.part("jtj normal", jt * j + extra)
        x = g.let(_X, fn("inverse", m) * (jt * e))
    return Solved(x, j, e, f"Damped least squares {g.told(x)}, {g.told(j, e)}.")


def _sweeps(g: Place, level: int, scalar: Scalar) -> Solved:
    """Sweeps with the diagonal, by Richardson, or along the steepest descent."""
    k = g.k
    a, b = _system(g, scalar)
    way = g.shape.choice(("jacobi", "richardson", "steepest"))
    rounds = g.shape.integer(2, 5)
    if way == "jacobi":
        diagonal = g.let("d diag dg", fn("get_diag", a), "d")
        start: Expr = fn("cw_div", b, diagonal)
        factor = g.given("omega relax", scalar, 0.5, 0.95)
        step = f"{g.tell(factor)} * (b - A * x) / d by components, {g.told(diagonal)}"
    elif way == "richardson":
        factor = g.given("rate tau", scalar, 0.1, 0.3)
        start = factor * b
        step = f"{g.tell(factor)} * (b - A * x)"
    else:
        start = 0.3 * b
        step = "dot(A * r, r) / (dot(A * r, A * r) + 0.001) * r, r = b - A * x"
    x = g.let(_X, start)
    with k.for_("it sweep", rounds):
        if way == "jacobi":
            k.augment(x, "add", factor * fn("cw_div", b - a * x, diagonal))
        elif way == "richardson":
            k.augment(x, "add", factor * (b - a * x))
        else:
            r = k.let("r res", b - a * x)
            ar = k.let("mr a_r", a * r)
            k.augment(x, "add", (dot(ar, r) / (dot(ar, ar) + 0.001)) * r)
    text = f"{g.told(x)}, then {rounds} times add {step}"
    return Solved(x, a, b, f"Relax A * x = b for {g.told(a, b)}: {text}.")


def _schur(g: Place, level: int, scalar: Scalar) -> Solved:
    """Two unknown vectors coupled by blocks: the second is eliminated."""
    k, size = g.k, g.shape.choice((2, 3))
    mat, vec = Mat(size, size, scalar), Vec(size, scalar)
    first = g.read("a_blocks camera_blocks", mat, -0.6, 0.6, init=_INIT)
    second = g.read("d_blocks point_blocks", mat, -0.6, 0.6, init=_INIT)
    cross = g.given("coupling b_block", mat, -0.3, 0.3)
    f, h = g.read("f_vec rhs_first", vec, -2.0, 2.0), g.read("h_vec rhs_second", vec, -2.0, 2.0)
    d_inv = k.let("d_inv inv_d", fn("inverse", second))
    bd = k.let("bd elim", cross * d_inv)
    m = k.let("schur reduced", first - bd * transpose(cross))
    s = _by_inverse(g, level, m, k.let("b_red rhs_red", f - bd * h), "")
    back = k.let("y second", d_inv * (h - transpose(cross) * s.x))
    s.text = f"Solve A x + B y = f, transpose(B) x + D y = h with A = {g.tell(first)}, B ="
    s.text += f" {g.tell(cross)}, D = {g.tell(second)}, f = {g.tell(f)}, h = {g.tell(h)} by the"
    s.text += " Schur complement A - B inverse(D) transpose(B);"
    s.text += g.gets("second_out y_out", back, "y")
    return s


_METHODS: dict[str, tuple[Callable[[Place, int, Scalar], Solved], str]] = {
    "damped": (_damped, "damped_least_squares ik_step"),
    "implicit": (_implicit, "implicit_step backward_euler"),
    "newton": (_newton, "newton_step newton_2d"),
    "plain": (_plain, "solve_small solve_systems"),
    "sweeps": (_sweeps, "relax_systems sweep_systems"),
    "schur": (_schur, "schur_solve block_solve"),
}


def _limited(g: Place, x: Var, level: int) -> str:
    """A step is damped, cut to a length, started from somewhere, or not taken at all."""
    k, scalar = g.k, scalar_of(x.type)
    ways = ("rate", "from", "cut", "soft") if level >= 3 else ("rate", "from")
    way = g.shape.choice(ways)
    if way == "rate":
        rate = g.given("rate gain", scalar, 0.3, 0.95)
        k.augment(x, "mul", rate)
        return f" Multiply x by {g.tell(rate)}."
    if way == "from":
        start = g.given("origin x0", x.type, -1.0, 1.0)
        k.augment(x, "add", start)
        return f" Add {g.tell(start)} to x."
    limit = g.given("max_step radius", scalar, 0.3, 0.9)
    if way == "soft":

        def build(body: BodyBuilder, v: Expr, bound: Expr) -> Expr:
            return v * (bound / (bound + body.let("size norm", sqrt(dot(v, v) + 0.0001))))

        k.assign(x, applied(k, 1.0, "soft_limit limited", {"v": x, "bound": limit}, build))
        return f" Multiply x by r / (r + sqrt(dot(x, x) + 0.0001)), r = {g.tell(limit)}."
    size = k.let("size norm_x", fn("length", x))
    with k.if_(size > limit):
        k.augment(x, "mul", limit / size)
    return f" Shorten x to length {g.tell(limit)} where it is longer."


@idiom(depth=1)
def small_solve(k: KernelBuilder, level: int) -> Title:
    """Small systems as simulation, optimization and robotics solve them."""
    shape = k.draw.shape
    g = place(k, "i tid e")
    keys = sorted(_METHODS) if level >= 2 else [key for key in _METHODS if key != "schur"]
    build, names = _METHODS[shape.choice(keys)]
    s = build(g, level, k.draw.wide_float_type())
    x, done = s.x, s.text
    if level >= 2:
        done += _limited(g, x, level)
    if level >= 4:
        done += _cases(g, s) if s.inv is not None else _searched(g, s)
    done += g.gets("x_out solutions steps_out", x)
    solved = "dot(M * x, b), with the matrix and the right-hand side solved with"
    done += g.offer(
        (shape.integer(0, 1), shape.integer(0, 1), 1, 2, 3)[level - 1],
        size=("sizes_sq step_sq", lambda: dot(x, x)),
        work=("works predicted", lambda: dot(s.m * x, s.b), solved),
        outer=("gradients updates", lambda: fn("outer", g.read("x_grads", x.type, -1.0, 1.0), x)),
        top=("greatest tops", lambda: fn("max_element", x)),
    )
    return Title(k.name(names), done)


def _cases(g: Place, s: Solved) -> str:
    """The inverse is used again: for more right-hand sides, and for the most yielding of them."""
    k, vec = g.k, s.x.type
    count = k.trip_count("num_cases case_count", k.size("t", 2, 4))
    own = g.chance(0.5)
    axes = range(g.rank) if own else ()
    cases = g.array("cases more_loads", vec, -1.0, 1.0, axes=axes, more="t")
    assert s.inv is not None
    target = k.out("case_solutions responses", vec, (*g.dims, "t"))
    total = k.let("total compliance", zero(scalar_of(vec)))
    with k.for_("case q", count) as q:
        load = k.let("case_load fq", cases[g.index(q)] if own else cases[q])
        y = k.let("y_case answer", s.inv * load)
        k.store(target, g.index(q), y)
        k.augment(total, "add", dot(load, y))
    whole = g.put("compliances case_works", total)
    return (
        f" With the same matrix {target.name} gets the solution y for each of {cases.name}, and"
        f" {whole.name} the sum of dot(load, y) over them."
    )


def _searched(g: Place, s: Solved) -> str:
    """A line search: the loss at several lengths of the step, and the best of them."""
    k, scalar = g.k, scalar_of(s.x.type)
    count = k.trip_count("num_trials trial_count", k.size("t", 3, 4))
    lengths = k.array("trial_lengths etas", scalar, "t", low=0.1, high=1.6)
    goal = k.let("mx model_x", s.m * s.x)
    best = k.let("best lowest", dot(s.b, s.b))
    taken = k.let("taken eta_best", k.lift(0.0, scalar))
    with k.for_("trial q", count) as q:
        r = k.let("rq trial_res", lengths[q] * goal - s.b)
        loss = k.let("loss_q value_q", dot(r, r))
        with k.if_(loss < best):
            k.assign(best, loss)
            k.assign(taken, lengths[q])
    target = g.put("best_losses trial_losses", best)
    k.augment(s.x, "mul", taken)
    return (
        f" Among {lengths.name} (and 0, which is kept on a tie) find the s with the least"
        f" |s * M * x - b|^2 of the matrix and right-hand side solved with; {target.name} gets that"
        " least value, and x is multiplied by s."
    )
