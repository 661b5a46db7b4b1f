"""States that are predicted and observed: Kalman filters, and chains of two to four states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, log
from generators.kit.masks import flag
from generators.kit.naming import applied, held, routine
from generators.kit.records import Part, record
from generators.kit.sources import unit_vector, zero
from generators.matrix.parts import (
    Entry,
    Place,
    identity,
    mat_of,
    place,
    rows_of,
    square_type,
    symmetric,
    times_identity,
    transpose,
)
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Expr, Var, literal


@dataclass
class Filter:
    """Mean and covariance in local variables, and how they are written back."""

    g: Place
    x: Var
    p: Var
    finish: Callable[[], str]

    @property
    def mat(self) -> Mat:
        return mat_of(self.p)

    @property
    def vec(self) -> Vec:
        return rows_of(self.mat)


_OUTS = (("states_out", "covs_out"), ("new_means", "new_covs"), ("x_out", "p_out"))


def _read(g: Place, mat: Mat, level: int) -> tuple[Filter, str]:
    """The filter in arrays that are read, or read and written, or in structs."""
    k, vec, init = g.k, rows_of(mat), "well_conditioned"
    way = g.shape.weighted({"arrays": 6, "inout": 1, "struct": 0 if level < 2 else 4})
    if way == "inout":
        xs = g.array("states means", vec, -2.0, 2.0, role="inout")
        ps = g.array("covs covariances", mat, -0.5, 0.5, init=init, role="inout")
        x, p = k.let("x mean state", xs[g.at]), k.let("p cov sigma", ps[g.at])
        text = f"x = {xs.name} and P = {ps.name} of each filter"
    else:
        parts = {
            "x": Part("x mean state", vec, -2.0, 2.0, many="states means"),
            "p": Part("p cov covariance", mat, -0.5, 0.5, init, many="covs covariances"),
        }
        r = record(g, "Track Filter Belief", parts, float(way == "struct"))
        text = f"x = {r.say('x')} and P = {r.say('p')}"
        x, p = k.let("xi mu", r["x"]), k.let("p_i cov_i", r["p"])

    def finish() -> str:
        if way != "inout":
            outs = dict(zip("xp", k.draw.word.choice(_OUTS), strict=True))
            told = r.write({"x": x, "p": p}, outs, "updated filtered")
            return told.replace("the new p.", "the new P.").replace("; ", " and ")
        k.store(xs, g.at, x)
        k.store(ps, g.at, p)
        return f" {xs.name} gets x and {ps.name} gets P."

    g.spoken.update({x.name: ("x", ""), p.name: ("P", "")})
    return Filter(g, x, p, finish), text


def _motion(f: Filter) -> tuple[Expr, str]:
    """Constant velocity or acceleration, decay, or a given matrix."""
    g, mat, scalar = f.g, f.mat, f.mat.scalar
    way = g.shape.choice(("motion", "motion", "given", "damped"))
    if way == "given":
        a = g.one("a transition", mat, -1.0, 1.0)
        return held(g.k, "ft phi", a), f"A = {g.tell(a)}"
    dt = g.one("dt step", scalar, 0.1, 0.8)
    one, nil = literal(1, scalar), literal(0, scalar)
    last = g.one("decay rho", scalar, 0.6, 0.95) if way == "damped" else one
    rows: tuple[tuple[Expr, ...], ...] = ((one, dt), (nil, last))
    if mat.rows == 3:
        rows = ((one, dt, 0.5 * dt * dt), (nil, one, dt), (nil, nil, last))
    text = ", ".join(f"({', '.join(map(g.tell, row))})" for row in rows)
    return g.k.let("ft phi", make(mat, *(v for row in rows for v in row))), f"A = ({text})"


def _noise(f: Filter) -> Expr:
    """Process noise: the same for all states, one for each, or of a random push."""
    way = f.g.shape.choice(("scaled", "diagonal", "push"))
    if way == "diagonal":
        return fn("diag", f.g.one("q_diag process_noise", f.vec, 0.05, 0.5))
    if way == "push":
        gain = f.g.one("g_vec noise_gain", f.vec, -0.7, 0.7)
        return fn("outer", gain, gain)
    return times_identity(f.mat, f.g.one("q process_var", f.vec.scalar, 0.05, 0.5))


def _predicted(f: Filter) -> str:
    """The state and its covariance a step later."""
    k = f.g.k
    a, text = _motion(f)
    push = f.g.one("control drift", f.vec, -0.5, 0.5) if f.g.chance(0.35) else None
    k.assign(f.x, a * f.x if push is None else a * f.x + push)
    moved = "x = A * x" if push is None else f"x = A * x + {f.g.tell(push)}"
    noise = _noise(f)
    k.assign(f.p, a * f.p * transpose(a) + noise)
    rest = f"P = A * P * transpose(A) + {f.g.tell(noise)}"
    return f" Predict {moved} and {rest} with {text}."


def _gain(f: Filter, h: Expr, r: Expr) -> tuple[Expr, Callable[[Expr], str]]:
    """The variance of what is measured by a row, and the correction by an innovation."""
    k = f.g.k
    ph = k.let("ph cross_cov", f.p * h)
    s = k.let("s innovation_var", dot(h, ph) + r)
    joseph = f.g.chance(0.4)

    def correct(y: Expr) -> str:
        gain = k.let("gain kg", ph / s)
        k.augment(f.x, "add", gain * y)
        if not joseph:
            k.augment(f.p, "sub", fn("outer", gain, ph))
            return "P = P - outer(K, P * h)"
        k.note("the Joseph form keeps P symmetric")
        keep = k.let("keep i_kh", identity(k, f.mat) - fn("outer", gain, h))
        k.assign(f.p, keep * f.p * transpose(keep) + r * fn("outer", gain, gain))
        return "P = B * P * transpose(B) + r * outer(K, K) with B = I - outer(K, h)"

    return s, correct


_HOW = "K = P * h / S"


def _updated(f: Filter, level: int) -> str:
    """Correct by one measured number, where it is there and believed."""
    g, k, scalar = f.g, f.g.k, f.vec.scalar
    seen = g.read("z measured observations", scalar, -3.0, 3.0)
    conditions, said = [], []
    if level >= 2 and g.chance(0.12):
        there = flag(g, "valid seen has_fix")
        conditions, said = [there.value], [there.on]
    if g.chance(0.4):
        row: Expr = unit_vector(f.vec, 0 if g.chance(0.7) else 1)
        h: Expr = k.let("h pick", row)
    else:
        row = g.one("h_row sensor", f.vec, -1.0, 1.0)
        h = held(k, "h sense", row)
    r = g.one("meas_var noise_var", scalar, 0.2, 1.0)
    s, correct = _gain(f, h, r)
    y = k.let("y innovation", seen - dot(h, f.x))
    tail = ""
    if level >= 4:
        nis = k.let("nis d2", y * y / s)
        if level >= 5 or g.chance(0.5):
            gate = g.one("gate max_nis", scalar, 0.5, 1.5)
            conditions.append(nis < gate)
            said.append(f"y * y / S < {g.tell(gate)}")
        tail = g.gets("nis_out surprise", nis, "y * y / S")
    if conditions:
        with k.if_(fn("and", *conditions) if len(conditions) > 1 else conditions[0]):
            form = correct(y)
    else:
        form = correct(y)
    when = f" where {' and '.join(said)}" if said else ""
    how = f"h = {g.tell(row)}, S = dot(h, P * h) + r with r = {g.tell(r)}, {_HOW}"
    return f" Update{when}: {how}, y = {g.tell(seen)} - dot(h, x), x = x + K * y and {form}.{tail}"


def _sequence(f: Filter, level: int) -> str:
    """Correct by several numbers one after another, as a filter with many sensors does."""
    g, k, scalar = f.g, f.g.k, f.vec.scalar
    count = k.size_param("num_sensors sensor_count", k.size("components", 2, 4))
    seen = g.array("z readings", scalar, -3.0, 3.0, more="components")
    rows = k.array("h_rows sensors", f.vec, "components", low=-1.0, high=1.0)
    own = g.chance(0.5)
    if own:
        noise = k.array("meas_vars rs", scalar, "components", low=0.2, high=1.0)
    else:
        noise = k.scalar("meas_var noise_var", scalar, 0.2, 1.0)
    with k.for_("sensor c", count) as c:
        h = k.let("h sense", rows[c])
        _, correct = _gain(f, h, noise[c] if own else noise)
        form = correct(k.let("y innovation", seen[g.index(c)] - dot(h, f.x)))
    r = f"{noise.name} of the sensor" if own else noise.name
    return (
        f" Update by each sensor in turn: h of {rows.name}, S = dot(h, P * h) + r with r = {r},"
        f" {_HOW}, y = {seen.name} - dot(h, x), x = x + K * y and {form}."
    )


def _vector_update(f: Filter, level: int) -> str:
    """Correct by a vector measured, the gain by an inverse."""
    g, k, scalar = f.g, f.g.k, f.vec.scalar
    seen = g.read("z measured fixes", Vec(2, scalar), -3.0, 3.0)
    h = held(k, "h sense", g.one("h_mat obs", Mat(2, f.mat.rows, scalar), -1.0, 1.0))
    r = g.one("meas_var noise_var", scalar, 0.4, 1.2)
    cross = k.let("pht cross_cov", f.p * transpose(h))
    cov = k.let("s innovation_cov", h * cross + times_identity(Mat(2, 2, scalar), r))
    args = {"cross": cross, "cov": cov}
    value = applied(
        k, 0.5 * (level >= 3), "kalman_gain", args, lambda _, a, b: a * fn("inverse", b)
    )
    gain = k.let("gain kg", value)
    k.augment(f.x, "add", gain * k.let("y innovation", seen - h * f.x))
    if g.chance(0.5):
        k.assign(f.p, (identity(k, f.mat) - gain * h) * f.p)
        form = "P = (I - K * H) * P"
    else:
        k.augment(f.p, "sub", gain * transpose(cross))
        form = "P = P - K * H * P"
    return (
        f" Update: S = H * P * transpose(H) + {g.tell(r)} * I, K = P * transpose(H) * inverse(S),"
        f" y = {g.tell(seen)} - H * x, x = x + K * y and {form}, H being {g.tell(h)}."
    )


@idiom(depth=3)
def kalman_step(k: KernelBuilder, level: int) -> Title:
    """Predict and update of small Kalman filters."""
    shape = k.draw.shape
    g = place(k, "i tid target")
    mat = square_type(k, {2: 3, 3: 1}, k.draw.wide_float_type())
    f, source = _read(g, mat, level)
    only = "predict" if level < 3 and shape.chance(0.5) else "update"
    what = {"predict": "Prediction step", "update": "Measurement update"}
    done = "Prediction and update" if level >= 3 else what[only]
    done += f" of a Kalman filter for each track, with mean and covariance {source}:"
    if level >= 3 or only == "predict":
        done += _predicted(f)
    if level >= 3 or only == "update":
        ways = (_updated, _updated, _vector_update, _sequence if level >= 3 else _updated)
        done += shape.choice(ways)(f, level)
    # The Joseph form leaves P symmetric.
    if level >= 2 and "B * P" not in done and shape.chance(0.5):
        k.assign(f.p, symmetric(f.p))
        done += " Make P symmetric as 0.5 * (P + transpose(P))."
    names = {"predict": "kalman_predict propagate", "update": "kalman_update correct"}
    both = "kalman_step filter_step track_step"
    return Title(k.name(both if level >= 3 else names[only]), f"{done}{f.finish()}")


def _summed(v: Expr) -> Expr:
    assert isinstance(v.type, Vec)
    parts: list[Expr] = [v[c] for c in range(v.type.size)]
    return reduce(lambda all_, one: all_ + one, parts)


Move = Callable[[Expr], Expr]


def _transition(g: Place, mat: Mat, own: bool) -> tuple[Move, str]:
    """Probabilities of a chain, from row to column or the other way; and which of both."""
    if own:
        t: Expr = g.k.let("t_mat chain", g.read("transitions chains", mat, 0.05, 0.6))
        name = g.tell(t)
    else:
        t = g.one("transition chain", mat, 0.05, 0.6)
        name = g.tell(t)
    by_row = g.chance(0.5)
    told = f"{'rows' if by_row else 'columns'} of {name} sum to 1"
    t = transpose(t) if by_row else t
    return lambda p: t * p, told


def _observed(g: Place, vec: Vec, p: Var, move: Move) -> str:
    """The forward recursion of a hidden chain: predict, weigh with the likelihood, scale."""
    k = g.k
    count = k.size_param("num_obs obs_count", k.size("m", 3, 5))
    symbols = g.chance(0.6)
    if symbols:
        k.size("s", 3, 5)
        seen = g.array("observed symbols", INT32, more="m", init="index_of:s")
        table = k.array("emission likelihoods", vec, "s", low=0.1, high=1.0)
        text = f"{table.name} of the symbol {seen.name}"
    else:
        table = g.array("likelihoods evidence", vec, 0.1, 1.0, more="m")
        text = table.name
    logs = k.let("log_like evidence_sum", zero(vec.scalar))
    with k.for_("obs n", count) as n:
        likelihood = table[seen[g.index(n)]] if symbols else table[g.index(n)]
        k.assign(p, fn("cw_mul", move(p), likelihood))
        scale = k.let("scale norm", _summed(p))
        k.augment(logs, "add", log(scale))
        k.assign(p, p / scale)
    done = f" For each observation in turn p becomes {g.tell(move(p))}, times {text} by components,"
    done += " and is divided by"
    logged = g.gets("log_likelihoods evidence_out", logs, "the sum of the logarithms of these sums")
    return f"{done} its sum;{logged}"


@idiom(depth=2)
def markov_step(k: KernelBuilder, level: int) -> Title:
    """Distributions that a small chain moves: steps, stationary ones, hidden states."""
    shape = k.draw.shape
    g = place(k, "i tid agent")
    mat = square_type(k, {3: 1, 4: 1}, k.draw.wide_float_type())
    vec = rows_of(mat)
    ways = {"step": 2, "filter": 3, "stationary": 2 * (level >= 2), "observed": 3 * (level >= 3)}
    way = shape.weighted(ways)
    if way == "stationary":
        return _stationary(g, level, mat)
    p = g.let("p belief pi", g.read("beliefs distributions", vec, 0.1, 1.0))
    move, said = _transition(g, mat, way == "step" and shape.chance(0.3))
    about, names = _ABOUT[way]
    done = f"{about}, with {g.told(p)} ({said}):"
    if way == "observed":
        done += _observed(g, vec, p, move)
    else:
        k.assign(p, move(p))
        done += f" p = {g.tell(move(p))}."
    if way == "filter":
        p, more = _weighed(g, level, vec, p)
        done += more
    else:
        done += g.gets("next_dists p_out" if way == "step" else "filtered beliefs_out", p)
    if shape.chance(0.3):
        done += g.offer(1, **_menu(g, p, vec))
    return Title(k.name(names), done)


_ABOUT = {
    "step": ("Advance distributions over the states of a Markov chain", "markov_step chain_step"),
    "filter": (
        "Discrete Bayes filter over the states of a Markov chain",
        "bayes_filter belief_update",
    ),
    "observed": (
        "Forward recursion of a hidden Markov model for each sequence",
        "hmm_forward forward_recursion",
    ),
}
"""What is done with a distribution, and names of the kernel."""


def _weighed(g: Place, level: int, vec: Vec, p: Var) -> tuple[Var, str]:
    """Weigh the prediction with what each state makes likely."""
    k = g.k
    likelihood = g.read("likelihoods obs_probs", vec, 0.1, 1.0)
    k.assign(p, fn("cw_mul", p, likelihood))

    def build(body: BodyBuilder, v: Expr) -> Expr:
        return v / body.let("total mass", _summed(v))

    names = "posterior p_new"
    if g.chance(0.35):
        mass = k.let("evidence mass", _summed(p))
        new = k.let(names, p / mass)
        more = g.gets("posteriors beliefs_out", new, "p")
        more += g.gets("log_evidence log_mass", log(mass), "the logarithm of that sum")
    else:
        unit = routine(k, 0.5 * (level >= 2), "normalized to_distribution", {"v": vec}, build)
        new = k.let(names, unit(p))
        more = g.gets("posteriors beliefs_out", new, "p")
    g.spoken[new.name] = "p", ""
    done = f" Multiply p by {g.tell(likelihood)} by components, then divide by the sum of these"
    return new, f"{done} products.{more}"


def _stationary(g: Place, level: int, mat: Mat) -> Title:
    """The distribution that each chain comes to: many steps from an even one."""
    k, vec = g.k, rows_of(mat)
    move, said = _transition(g, mat, True)
    rounds = g.shape.choice((16, 24, 32))
    p = k.let("p dist", make(vec, k.lift(1.0 / mat.rows, vec.scalar)))
    g.spoken[p.name] = "p", ""
    with k.for_("r step_id", rounds):
        k.assign(p, move(p))
    done = f"Stationary distribution of each of many Markov chains ({said}): from p with all "
    done += f"entries 1 / {mat.rows}, {rounds} times p = {g.tell(move(p))}."
    done += g.gets("stationary limits", p)
    if g.chance(0.3):
        done += g.offer(1, **_menu(g, p, vec))
    return Title(k.name("stationary_distribution chain_limit"), done)


def _menu(g: Place, p: Var, vec: Vec) -> dict[str, Entry]:
    """What is told of a distribution."""
    logs = make(vec, *(log(p[c]) for c in range(vec.size)))
    menu: dict[str, Entry] = {
        "entropy": ("entropies uncertainty", lambda: -dot(p, g.part("logs log_p", logs))),
        "peak": ("peaks confidence", lambda: fn("max_element", p)),
        "reward": ("returns expected", lambda: dot(g.one("reward", vec, -1.0, 2.0), p)),
    }
    return menu
