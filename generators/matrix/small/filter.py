"""The state of a small Kalman filter, and its prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, field, fn, make
from generators.kit.pieces import times_identity
from generators.matrix.small.grid import Grid, say
from generators.program import ir
from generators.program.dtypes import Mat, Struct, Vec
from generators.program.expr import Expr, Load, Var, literal


@dataclass
class Filter:
    """Mean and covariance in local variables, and how they are written back."""

    x: Var
    p: Var
    finish: Callable[[], str]

    @property
    def mat(self) -> Mat:
        assert isinstance(self.p.type, Mat)
        return self.p.type

    @property
    def vec(self) -> Vec:
        return Vec(self.mat.rows, self.mat.scalar)


X = ("x", "mean", "state")


P = ("p", "cov", "sigma")


def read_filter(k: KernelBuilder, g: Grid, mat: Mat, level: int) -> tuple[Filter, str]:
    way = k.draw.shape.weighted({"arrays": 6, "inout": 1, "struct": 0 if level < 2 else 4})
    vec = Vec(mat.rows, mat.scalar)
    bound = 0.5
    if way == "struct":
        return _track(k, g, mat, vec)
    role = "inout" if way == "inout" else "in"
    xs = g.array(("states", "means", "xs"), vec, -2.0, 2.0, role=role)
    ps = g.array(("covs", "covariances", "ps"), mat, -bound, bound, "well_conditioned", role)
    x, p = k.let(X, xs[g.index]), k.let(P, ps[g.index])

    def finish() -> str:
        x_out, p_out = xs, ps
        if role == "in":
            x_out = g.out(("states_out", "new_means", "x_out"), vec)
            p_out = g.out(("covs_out", "new_covs", "p_out"), mat)
        k.store(x_out, g.index, x)
        k.store(p_out, g.index, p)
        return f"{x_out.name} gets x, {p_out.name} gets P."

    return Filter(x, p, finish), f"x = {xs.name} and P = {ps.name} of each filter"


def _track(k: KernelBuilder, g: Grid, mat: Mat, vec: Vec) -> tuple[Filter, str]:
    names = k.draw.word.choice((("x", "p"), ("mean", "cov"), ("state", "covariance")))
    inits = [
        ir.FieldInit(names[0], vec, "uniform", "-2.0", "2.0"),
        ir.FieldInit(names[1], mat, "well_conditioned", "-0.5", "0.5"),
    ]
    struct: Struct = k.struct(
        k.name("Track", "Filter", "Belief"), *((f.name, f.type) for f in inits)
    )
    tracks = g.structs(("tracks", "filters", "beliefs"), struct, inits)
    item = k.let(("track", "belief"), tracks[g.index])
    x, p = k.let(("xi", "mu"), field(item, names[0])), k.let(("pi", "cov_i"), field(item, names[1]))

    def finish() -> str:
        target = g.structs(("tracks_out", "updated"), struct, inits, "out")
        k.store(target, g.index, make(struct, x, p))
        return f"{target.name} gets both."

    return Filter(x, p, finish), f"x and P, the {names[0]} and {names[1]} of each of {tracks.name}"


def _transition(k: KernelBuilder, g: Grid, f: Filter) -> tuple[Expr, str]:
    """Constant velocity or acceleration, decay, or a given matrix."""
    mat, scalar = f.mat, f.mat.scalar
    way = k.draw.shape.choice(("motion", "motion", "given", "damped"))
    if way == "given":
        a = g.supply(("a", "transition"), ("transitions", "models"), mat, -1.0, 1.0)
        return (k.let(("ft", "phi"), a) if isinstance(a, Load) else a), f"A = {say(a)}"
    dt = g.supply(("dt", "step"), ("dts", "steps"), scalar, 0.1, 0.8)
    one, nil = literal(1, scalar), literal(0, scalar)
    if way == "damped":
        tau = g.supply(("decay", "rho"), ("decays", "rhos"), scalar, 0.6, 0.95)
        if mat.rows == 2:
            return k.let(("ft", "phi"), make(mat, one, dt, nil, tau)), (
                f"A = [[1, {say(dt)}], [0, {say(tau)}]]"
            )
        rows = (one, dt, nil, nil, one, dt, nil, nil, tau)
        text = f"A = [[1, {say(dt)}, 0], [0, 1, {say(dt)}], [0, 0, {say(tau)}]]"
        return k.let(("ft", "phi"), make(mat, *rows)), text
    if mat.rows == 2:
        return k.let(("ft", "phi"), make(mat, one, dt, nil, one)), f"A = [[1, {say(dt)}], [0, 1]]"
    half = 0.5 * dt * dt
    t = say(dt)
    a = k.let(("ft", "phi"), make(mat, one, dt, half, nil, one, dt, nil, nil, one))
    return a, f"A = [[1, {t}, {t}^2 / 2], [0, 1, {t}], [0, 0, 1]]"


def _noise(k: KernelBuilder, g: Grid, f: Filter) -> tuple[Expr, str]:
    """Process noise: the same for all states, one for each, or of a random push."""
    mat, scalar = f.mat, f.mat.scalar
    way = k.draw.shape.choice(("scaled", "diagonal", "push"))
    if way == "diagonal":
        q = g.supply(("q_diag", "process_noise"), ("q_diags",), f.vec, 0.05, 0.5)
        return fn("diag", q), f"Q = diag({say(q)})"
    if way == "push":
        gain = g.supply(("g_vec", "noise_gain"), ("noise_gains",), f.vec, -0.7, 0.7)
        return fn("outer", gain, gain), f"Q = outer({say(gain)}, {say(gain)})"
    q = g.supply(("q", "process_var"), ("qs", "process_vars"), scalar, 0.05, 0.5)
    return times_identity(mat, q), f"Q = {say(q)} * I"


def predicted(k: KernelBuilder, g: Grid, f: Filter) -> str:
    a, text = _transition(k, g, f)
    if k.draw.shape.chance(0.35):
        push = g.supply(("control", "drift"), ("controls", "inputs"), f.vec, -0.5, 0.5)
        k.assign(f.x, a * f.x + push)
        moved = f"x = A * x + {say(push)}"
    else:
        k.assign(f.x, a * f.x)
        moved = "x = A * x"
    q, noise = _noise(k, g, f)
    k.assign(f.p, a * f.p * fn("transpose", a) + q)
    return f"Predict {moved} and P = A * P * transpose(A) + Q with {text} and {noise}."
