"""Kalman filters of two or three states: predict, update, gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.masks import flag
from generators.kit.naming import helper
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.matrix.small.parts import POINTS, identity, times_identity
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


def read_filter(k: KernelBuilder, g: Site, mat: Mat, level: int) -> tuple[Filter, str]:
    way = k.draw.shape.weighted({"arrays": 6, "inout": 1, "struct": 0 if level < 2 else 4})
    vec = Vec(mat.rows, mat.scalar)
    bound = 0.5
    if way == "struct":
        return _track(k, g, mat, vec)
    role = "inout" if way == "inout" else "in"
    xs = g.array("states means xs", vec, -2.0, 2.0, role=role)
    ps = g.array("covs covariances ps", mat, -bound, bound, init="well_conditioned", role=role)
    x, p = k.let(X, xs[g.at]), k.let(P, ps[g.at])

    def finish() -> str:
        x_out, p_out = xs, ps
        if role == "in":
            x_out = g.out("states_out new_means x_out", vec)
            p_out = g.out("covs_out new_covs p_out", mat)
        k.store(x_out, g.at, x)
        k.store(p_out, g.at, p)
        return f"{x_out.name} gets x, {p_out.name} gets P."

    return Filter(x, p, finish), f"x = {xs.name} and P = {ps.name} of each filter"


def _track(k: KernelBuilder, g: Site, mat: Mat, vec: Vec) -> tuple[Filter, str]:
    names = k.draw.word.choice((("x", "p"), ("mean", "cov"), ("state", "covariance")))
    inits = [
        ir.FieldInit(names[0], vec, "uniform", "-2.0", "2.0"),
        ir.FieldInit(names[1], mat, "well_conditioned", "-0.5", "0.5"),
    ]
    struct: Struct = k.struct(k.name("Track Filter Belief"), *((f.name, f.type) for f in inits))
    tracks = g.array("tracks filters beliefs", struct, fields=inits)
    item = k.let("track belief", tracks[g.at])
    x, p = k.let("xi mu", field(item, names[0])), k.let("pi cov_i", field(item, names[1]))

    def finish() -> str:
        target = g.array("tracks_out updated", struct, role="out", fields=inits)
        k.store(target, g.at, make(struct, x, p))
        return f"{target.name} gets both."

    return Filter(x, p, finish), f"x and P, the {names[0]} and {names[1]} of each of {tracks.name}"


def _transition(k: KernelBuilder, g: Site, f: Filter) -> tuple[Expr, str]:
    """Constant velocity or acceleration, decay, or a given matrix."""
    mat, scalar = f.mat, f.mat.scalar
    way = k.draw.shape.choice(("motion", "motion", "given", "damped"))
    if way == "given":
        a = given(g, "a transition", mat, -1.0, 1.0)
        return (k.let("ft phi", a) if isinstance(a, Load) else a), f"A = {say(k, a)}"
    dt = given(g, "dt step", scalar, 0.1, 0.8)
    one, nil = literal(1, scalar), literal(0, scalar)
    if way == "damped":
        tau = given(g, "decay rho", scalar, 0.6, 0.95)
        if mat.rows == 2:
            return k.let("ft phi", make(mat, one, dt, nil, tau)), (
                f"A = [[1, {say(k, dt)}], [0, {say(k, tau)}]]"
            )
        rows = (one, dt, nil, nil, one, dt, nil, nil, tau)
        text = f"A = [[1, {say(k, dt)}, 0], [0, 1, {say(k, dt)}], [0, 0, {say(k, tau)}]]"
        return k.let("ft phi", make(mat, *rows)), text
    if mat.rows == 2:
        return k.let("ft phi", make(mat, one, dt, nil, one)), f"A = [[1, {say(k, dt)}], [0, 1]]"
    half = 0.5 * dt * dt
    t = say(k, dt)
    a = k.let("ft phi", make(mat, one, dt, half, nil, one, dt, nil, nil, one))
    return a, f"A = [[1, {t}, {t}^2 / 2], [0, 1, {t}], [0, 0, 1]]"


def _noise(k: KernelBuilder, g: Site, f: Filter) -> tuple[Expr, str]:
    """Process noise: the same for all states, one for each, or of a random push."""
    mat, scalar = f.mat, f.mat.scalar
    way = k.draw.shape.choice(("scaled", "diagonal", "push"))
    if way == "diagonal":
        q = given(g, "q_diag process_noise", f.vec, 0.05, 0.5)
        return fn("diag", q), f"Q = diag({say(k, q)})"
    if way == "push":
        gain = given(g, "g_vec noise_gain", f.vec, -0.7, 0.7)
        return fn("outer", gain, gain), f"Q = outer({say(k, gain)}, {say(k, gain)})"
    q = given(g, "q process_var", scalar, 0.05, 0.5)
    return times_identity(mat, q), f"Q = {say(k, q)} * I"


def predicted(k: KernelBuilder, g: Site, f: Filter) -> str:
    a, text = _transition(k, g, f)
    if k.draw.shape.chance(0.35):
        push = given(g, "control drift", f.vec, -0.5, 0.5)
        k.assign(f.x, a * f.x + push)
        moved = f"x = A * x + {say(k, push)}"
    else:
        k.assign(f.x, a * f.x)
        moved = "x = A * x"
    q, noise = _noise(k, g, f)
    k.assign(f.p, a * f.p * fn("transpose", a) + q)
    return f"Predict {moved} and P = A * P * transpose(A) + Q with {text} and {noise}."


def _row(k: KernelBuilder, g: Site, f: Filter) -> tuple[Expr, str]:
    if k.draw.shape.chance(0.4):
        first = k.draw.shape.chance(0.7)
        parts = [1.0 if (c == 0) == first and c < 2 else 0.0 for c in range(f.vec.size)]
        h = k.let("h pick", make(f.vec, *(literal(v, f.vec.scalar) for v in parts)))
        return h, f"h = ({', '.join(map(str, parts))})"
    row = given(g, "h_row sensor", f.vec, -1.0, 1.0)
    if isinstance(row, Load):
        return k.let("h sense", row), f"h = {say(k, row)}"
    return row, f"h = {say(k, row)}"


@dataclass
class Gain:
    """What a measured number does: its row, its innovation variance, and the correction."""

    h: Expr
    s: Expr
    correct: Callable[[Expr], str]


def _gain(k: KernelBuilder, f: Filter, h: Expr, r: Expr) -> Gain:
    ph = k.let("ph cross_cov", f.p * h)
    s = k.let("s innovation_var", fn("dot", h, ph) + r)
    joseph = k.draw.shape.chance(0.4)

    def correct(y: Expr) -> str:
        gain = k.let("gain kg", ph / s)
        k.augment(f.x, "add", gain * y)
        if joseph:
            k.note("the Joseph form keeps P symmetric")
            keep = k.let("keep i_kh", identity(k, f.mat) - fn("outer", gain, h))
            k.assign(f.p, keep * f.p * fn("transpose", keep) + r * fn("outer", gain, gain))
            return "P = B * P * transpose(B) + r * outer(K, K) with B = I - outer(K, h)"
        k.augment(f.p, "sub", fn("outer", gain, ph))
        return "P = P - outer(K, P * h)"

    return Gain(h, s, correct)


def _updated(k: KernelBuilder, g: Site, f: Filter, level: int) -> str:
    """Correct by one measured number, where it is there and believed."""
    seen = g.array("z measured observations", f.vec.scalar, -3.0, 3.0)
    conditions, said = [], []
    if level >= 2 and k.draw.shape.chance(0.4 if level < 5 else 0.7):
        there = flag(g, "valid seen has_fix")
        conditions, said = [there.value], [there.on]
    h, text = _row(k, g, f)
    r = given(g, "r meas_var", f.vec.scalar, 0.2, 1.0)
    gain = _gain(k, f, h, r)
    y = k.let("y innovation", seen[g.at] - fn("dot", h, f.x))
    tail = ""
    if level >= 4:
        nis = k.let("nis d2", y * y / gain.s)
        if level >= 5 or k.draw.shape.chance(0.5):
            gate = given(g, "gate max_nis", f.vec.scalar, 0.5, 1.5)
            conditions.append(nis < gate)
            said.append(f"y * y / S < {say(k, gate)}")
        target = g.put("nis_out surprise", nis)
        tail = f" {target.name} gets y * y / S."
    if conditions:
        with k.if_(fn("and", *conditions) if len(conditions) > 1 else conditions[0]):
            form = gain.correct(y)
    else:
        form = gain.correct(y)
    where = f" where {' and '.join(said)}" if said else ""
    how = f"{text}, S = dot(h, P * h) + r with r = {say(k, r)}, K = P * h / S"
    return f" Update{where}: {how}, y = {seen.name} - dot(h, x), x = x + K * y and {form}.{tail}"


def _sequence(k: KernelBuilder, g: Site, f: Filter) -> str:
    """Correct by several numbers one after another, as a filter with many sensors does."""
    k.size("m", 2, 4)
    count = k.trip_count("num_sensors sensor_count", "m")
    scalar = f.vec.scalar
    seen = k.array("z readings", scalar, (*g.dims, "m"), low=-3.0, high=3.0)
    rows = k.array("h_rows sensors", f.vec, "m", low=-1.0, high=1.0)
    own = k.draw.shape.chance(0.5)
    noise = (
        k.array("meas_vars rs", scalar, "m", low=0.2, high=1.0)
        if own
        else k.scalar("r meas_var", scalar, 0.2, 1.0)
    )
    with k.for_("sensor c", count) as c:
        h = k.let("h sense", rows[c])
        gain = _gain(k, f, h, noise[c] if own else noise)
        y = k.let("y innovation", seen[g.index(c)] - fn("dot", h, f.x))
        form = gain.correct(y)
    r = f"{noise.name} of the sensor" if own else noise.name
    return (
        f" Update by each sensor in turn: h of {rows.name}, S = dot(h, P * h) + r with r = {r},"
        f" K = P * h / S, y = {seen.name} - dot(h, x), x = x + K * y and {form}."
    )


def _vector_update(k: KernelBuilder, g: Site, f: Filter, level: int) -> str:
    """Correct by a vector measured, the gain by an inverse."""
    small = Mat(2, f.mat.rows, f.mat.scalar)
    vec = Vec(2, f.mat.scalar)
    seen = g.array("z measured fixes", vec, -3.0, 3.0)
    source = given(g, "h_mat obs", small, -1.0, 1.0)
    h = k.let("h sense", source) if isinstance(source, Load) else source
    r = given(g, "r meas_var", f.vec.scalar, 0.4, 1.2)
    pht = k.let("pht cross_cov", f.p * fn("transpose", h))
    spread = h * pht + times_identity(Mat(2, 2, f.mat.scalar), r)

    def solved(_: BodyBuilder, cross: Expr, cov: Expr) -> Expr:
        return cross * fn("inverse", cov)

    if level >= 3 and k.draw.shape.chance(0.5):
        params = (("cross", pht.type), ("cov", Mat(2, 2, f.mat.scalar)))
        s = k.let("s innovation_cov", spread)
        gain = k.let("gain kg", k.call(helper(k, "kalman_gain", params, solved), pht, s))
    else:
        gain = k.let("gain kg", solved(k, pht, k.let("s innovation_cov", spread)))
    y = k.let("y innovation", seen[g.at] - h * f.x)
    k.augment(f.x, "add", gain * y)
    if k.draw.shape.chance(0.5):
        k.assign(f.p, (identity(k, f.mat) - gain * h) * f.p)
        form = "P = (I - K * H) * P"
    else:
        k.augment(f.p, "sub", gain * fn("transpose", pht))
        form = "P = P - K * H * P"
    return (
        f" Update: S = H * P * transpose(H) + {say(k, r)} * I, K = P * transpose(H) * inverse(S),"
        f" y = {seen.name} - H * x, x = x + K * y and {form}, H being {say(k, source)}."
    )


@idiom
def kalman_step(k: KernelBuilder, level: int) -> Title:
    """Predict and update of small Kalman filters."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid target")
    size = shape.weighted({2: 3, 3: 1})
    mat = Mat(size, size, k.draw.wide_float_type())
    f, source = read_filter(k, g, mat, level)
    parts = "predict" if level < 3 and shape.chance(0.5) else "update"
    done = f"For {source}:"
    if level >= 3 or parts == "predict":
        done += f" {predicted(k, g, f)}"
    if level >= 3 or parts == "update":
        way = shape.choice(("one", "one", "vector", "sequence" if level >= 3 else "one"))
        if way == "vector":
            done += _vector_update(k, g, f, level)
        elif way == "sequence":
            done += _sequence(k, g, f)
        else:
            done += _updated(k, g, f, level)
    if level >= 2 and shape.chance(0.5):
        k.assign(f.p, 0.5 * (f.p + fn("transpose", f.p)))
        done += " Make P symmetric as 0.5 * (P + transpose(P))."
    done = f"{done} {f.finish()}"
    names = {"predict": "kalman_predict propagate", "update": "kalman_update correct"}
    both = "kalman_step filter_step track_step"
    return Title(k.name(both if level >= 3 else names[parts]), done)
