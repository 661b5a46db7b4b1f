"""Small systems, one a thread: Newton steps, implicit steps, damped least squares, sweeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, dot, sin
from generators.matrix.parts import (
    Place,
    identity,
    index,
    mat_of,
    place,
    rows_of,
    square_type,
    times_identity,
    transpose,
)
from generators.program.dtypes import INT32, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var

_X = "x sol"
_INIT = "well_conditioned"


@dataclass
class Solved:
    """The unknown, the matrix and the right-hand side that it solves for, and the text."""

    x: Var
    m: Expr
    b: Expr
    text: str


def _by_inverse(g: Place, level: int, m: Expr, b: Expr, text: str) -> Solved:
    """The solution by the inverse."""
    return Solved(g.let(_X, fn("inverse", m) * b), m, b, text)


def _system(g: Place, scalar: Scalar) -> tuple[Var, Var]:
    """A matrix A and a right-hand side b."""
    mat = square_type(g.k, {2: 3, 3: 4, 4: 1}, scalar)
    a = g.let("a m ai", g.read("systems stiffness mats", mat, -1.0, 1.0, init=_INIT))
    return a, g.let("b bi load", g.read("rhs loads", rows_of(mat), -2.0, 2.0))


def _plain(g: Place, level: int, scalar: Scalar) -> Solved:
    """By the inverse, plain or damped."""
    a, b = _system(g, scalar)
    matrix = transpose(a) if g.chance(0.3) else a
    if level >= 2 or g.chance(0.4):
        damp = g.one("damping ridge", scalar, 0.1, 0.9)
        matrix = g.part("lhs damped", matrix + times_identity(mat_of(a), damp))
    told = g.tell(matrix)
    told = f"({told})" if "+" in told else told
    text = f"Solve the small systems {told} * x = b with {g.told(a, b)}."
    return _by_inverse(g, level, matrix, b, text)


def _implicit(g: Place, level: int, scalar: Scalar) -> Solved:
    """An implicit step of a linear system whose Jacobian differs from thread to thread."""
    mat = square_type(g.k, {2: 3, 3: 4, 4: 1}, scalar)
    vec = rows_of(mat)
    rates = g.let("a jac", g.read("jacobians rate_mats", mat, -1.0, 0.3), "A")
    v = g.let("v state", g.read("states velocities", vec, -2.0, 2.0))
    dt = g.one("dt", scalar, 0.05, 0.4)
    b: Expr = v
    way = g.shape.choice(("euler", "euler", "trapezoid", "linearised"))
    share, law = dt, "x' = A * x"
    if way == "linearised":
        # The unknown is the change of the state, as Rosenbrock and implicit springs solve for it.
        b = dt * g.read("rates derivatives", vec, -1.0, 1.0)
        text = "Linearly implicit Euler step of x' = f(x) with the Jacobian A: solve"
    else:
        if g.chance(0.5):
            source = g.read("sources inputs", vec, -1.0, 1.0)
            b, law = b + dt * source, f"{law} + {g.tell(source)}"
        if way == "trapezoid":
            share = 0.5 * dt
            b = g.part("b explicit", b + share * (rates * v))
        kind = "Crank-Nicolson" if way == "trapezoid" else "Backward Euler"
        text = f"{kind} step of {law}: solve"
    m = g.part("lhs implicit", identity(g.k, mat) - share * rates)
    unknown = "d" if way == "linearised" else "x"
    text = f"{text} ({g.tell(m)}) * {unknown} = {g.tell(b)} with {g.told(rates, v)}."
    if way != "linearised":
        return _by_inverse(g, level, m, b, text)
    x = g.let("x new_state", v + fn("inverse", m) * b)
    g.spoken[x.name] = "x", f"{g.tell(v)} + d"
    return Solved(x, m, b, f"{text} x = {g.tell(v)} + d.")


Residual = tuple[Callable[[], tuple[Expr, Expr]], str, str]
"""What gives a Jacobian and a value, what it is for, and the value in words."""


def _ranges(g: Place, p: Var) -> Residual:
    """Squared distances to two beacons, and their Jacobian."""
    k, vec = g.k, Vec(2, scalar_of(p.type))
    names = k.draw.word.choice((("beacon_a", "beacon_b"), ("anchor_a", "anchor_b")))
    a, b = (k.scalar(name, vec, -1.0, 1.0) for name in names)

    def build() -> tuple[Expr, Expr]:
        da, db = k.let("da to_a", p - a), k.let("db to_b", p - b)
        jac = make(Mat(2, 2, vec.scalar), 2.0 * da[0], 2.0 * da[1], 2.0 * db[0], 2.0 * db[1])
        return jac, make(vec, dot(da, da), dot(db, db))

    said = f"(|p - {a.name}|^2, |p - {b.name}|^2)"
    return build, "toward the position p at given squared distances from two beacons", said


def _arm(g: Place, p: Var) -> Residual:
    """The tip of a planar arm of two links, and its Jacobian."""
    k, scalar = g.k, scalar_of(p.type)
    names = k.draw.word.choice((("len1", "len2"), ("upper_len", "lower_len")))
    first, second = (k.scalar(name, scalar, 0.5, 1.5) for name in names)

    def build() -> tuple[Expr, Expr]:
        both = k.let("both q_sum", p[0] + p[1])
        c1, s1 = k.let("c1", first * cos(p[0])), k.let("s1", first * sin(p[0]))
        c12, s12 = k.let("c12", second * cos(both)), k.let("s12", second * sin(both))
        jac = make(Mat(2, 2, scalar), -s1 - s12, -s12, c1 + c12, c12)
        return jac, make(Vec(2, scalar), c1 + c12, s1 + s12)

    a, b = first.name, second.name
    said = f"({a} * cos(p[0]) + {b} * cos(p[0] + p[1]), {a} * sin(p[0]) + {b} * sin(p[0] + p[1]))"
    return build, "for the joint angles p that bring the tip of a planar arm to its goal", said


def _newton(g: Place, level: int, scalar: Scalar) -> Solved:
    """A Newton step of two equations: a position from ranges, the joints of an arm."""
    k, vec = g.k, Vec(2, scalar)
    arm = g.chance(0.5)
    guess = g.read("joint_angles" if arm else "guesses positions", vec, 0.4, 1.6)
    goal = g.read("targets goals" if arm else "sq_ranges", vec, -1.0 if arm else 0.5, 1.5)
    p = k.let("q at" if arm else "p at", guess)
    build, about, said = (_arm if arm else _ranges)(g, p)

    def step() -> tuple[Expr, Expr]:
        jac, value = build()
        res = k.let("f res", value - goal)
        return k.let("jac j", jac), res

    rounds = 1 if level < 3 else g.shape.integer(1, 3)
    if rounds > 1:
        with k.for_("it r", rounds - 1):
            jac, f = step()
            k.augment(p, "sub", fn("inverse", jac) * f)
    jac, f = step()
    x = g.let("dx delta", -(fn("inverse", jac) * f), "x")
    many = f"{rounds - 1} whole step{'s' * (rounds > 2)} of p = p - inverse(J) * f"
    before = f" after {many}" if rounds > 1 else ""
    text = f"Newton step {about}, x = -inverse(J) * f with f = {said} - {g.tell(goal)} at p ="
    return Solved(x, jac, -f, f"{text} {g.tell(guess)}{before}, J the Jacobian of f.")


def _damped(g: Place, level: int, scalar: Scalar) -> Solved:
    """Damped least squares of a rectangular matrix, from either side."""
    rows, cols = g.shape.choice(((2, 3), (3, 2), (3, 4), (4, 3), (2, 4), (4, 2)))
    jac = g.read("jacobians jacs", Mat(rows, cols, scalar), -1.0, 1.0)
    err = g.read("errors residuals", Vec(rows, scalar), -2.0, 2.0)
    damp = g.one("damping lam", scalar, 0.3, 1.2)
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
    return Solved(x, j, e, f"Damped least squares step {g.told(x)} with {g.told(j, e)}.")


def _relaxed(g: Place, level: int, scalar: Scalar) -> Solved:
    """A sweep of block Jacobi: the diagonal blocks are solved, the others act on the old state."""
    k, mat = g.k, square_type(g.k, {2: 1, 3: 3, 4: 2}, scalar)
    vec = rows_of(mat)
    n = g.dims[-1]
    diagonal = g.read("diag_blocks d_blocks", mat, -1.0, 1.0, init=_INIT)
    b = g.read("rhs b_vecs", vec, -2.0, 2.0)
    slots = k.size("degree", 3, 4)
    count = k.size_param("slots row_slots", slots)
    blocks = g.array("off_blocks couplings", mat, -0.3, 0.3, more=slots)
    cols = g.array("columns col_ids", INT32, more=slots, init=f"index_of:{n}")
    state = g.array("x_in x_old", vec, -1.0, 1.0)
    own = state[g.at]
    r = k.let("r rest", b)
    with k.for_("s slot", count) as s:
        nbr = cols[g.index(s)]
        k.augment(r, "sub", blocks[g.index(s)] * state[index(*g.at[:-1], nbr)])
    omega = g.one("omega relax", scalar, 0.5, 0.95)
    x = g.let("x new_x", (1.0 - omega) * own + omega * (fn("inverse", diagonal) * r))
    i = g.where
    text = (
        f"Damped Jacobi sweep of a block-sparse system in ELL form: with r = {g.tell(b)} less the"
    )
    text += f" sum over the slots s of {blocks.name}[{i}, s] * {state.name}[{cols.name}[{i}, s]],"
    text += f" x = (1 - {g.tell(omega)}) * {g.tell(own)} + {g.tell(omega)} *"
    text += f" inverse({g.tell(diagonal)}) * r."
    return Solved(x, diagonal, b, text)


def _schur(g: Place, level: int, scalar: Scalar) -> Solved:
    """Two unknown vectors coupled by blocks: the second is eliminated."""
    k, size = g.k, g.shape.choice((2, 3))
    mat, vec = Mat(size, size, scalar), Vec(size, scalar)
    names = k.draw.word.choice((("a_blocks", "d_blocks"), ("a_mats", "d_mats")))
    first, second = (g.read(n, mat, -0.6, 0.6, init=_INIT) for n in names)
    cross = g.read("b_blocks couplings", mat, -0.3, 0.3)
    called = k.draw.word.choice((("f_vecs", "h_vecs"), ("rhs_first", "rhs_second")))
    f, h = (g.read(n, vec, -2.0, 2.0) for n in called)
    d_inv = k.let("d_inv inv_d", fn("inverse", second))
    bd = k.let("bd elim", cross * d_inv)
    m = k.let("schur reduced", first - bd * transpose(cross))
    s = _by_inverse(g, level, m, k.let("b_red rhs_red", f - bd * h), "")
    back = k.let("y second", d_inv * (h - transpose(cross) * s.x))
    s.text = "Block elimination of a coupled system: solve A x + B y = f, transpose(B) x + D y = h"
    s.text += f" with A = {g.tell(first)}, B ="
    s.text += f" {g.tell(cross)}, D = {g.tell(second)}, f = {g.tell(f)}, h = {g.tell(h)} by the"
    s.text += " Schur complement A - B inverse(D) transpose(B);"
    s.text += g.gets("y_out", back, "y")
    return s


_METHODS: dict[str, tuple[Callable[[Place, int, Scalar], Solved], str]] = {
    "damped": (_damped, "damped_least_squares levenberg_step"),
    "implicit": (_implicit, "implicit_step implicit_update"),
    "newton": (_newton, "newton_step newton_2d"),
    "plain": (_plain, "solve_small solve_systems"),
    "relaxed": (_relaxed, "block_jacobi jacobi_sweep"),
    "schur": (_schur, "schur_solve block_solve"),
}


def _limited(g: Place, x: Var, level: int) -> str:
    """A step is damped, cut to a length, started from somewhere, or not taken at all."""
    k, scalar = g.k, scalar_of(x.type)
    if g.chance(0.5):
        rate = g.one("step_scale relaxation", scalar, 0.3, 0.95)
        k.augment(x, "mul", rate)
        return f" Multiply x by {g.tell(rate)}."
    limit = g.one("max_step radius", scalar, 0.3, 0.9)
    size = k.let("size norm_x", fn("length", x))
    with k.if_(size > limit):
        k.augment(x, "mul", limit / size)
    return f" Shorten x to length {g.tell(limit)} where it is longer."


@idiom(depth=2)
def small_solve(k: KernelBuilder, level: int) -> Title:
    """Small systems as simulation, optimization and robotics solve them."""
    shape = k.draw.shape
    keys = sorted(_METHODS) if level >= 2 else [key for key in _METHODS if key != "schur"]
    build, names = _METHODS[shape.choice(keys)]
    g = place(k, "i tid e", **({"list": 1} if build is _relaxed else {}))
    s = build(g, level, k.draw.wide_float_type())
    x, done = s.x, s.text
    if build in (_newton, _damped) and shape.chance(0.3):
        done += _limited(g, x, level)
    step = build in (_newton, _damped)
    done += g.gets("steps_out dx_out" if step else "solutions x_out", x)
    return Title(k.name(names), done)
