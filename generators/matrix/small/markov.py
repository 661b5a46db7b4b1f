"""Chains of two to four states: steps of a distribution, forward sums, and hidden states."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, log
from generators.kit.naming import held, routine
from generators.kit.sources import zero
from generators.matrix.place import Entry, Place, place
from generators.matrix.small.parts import rows_of, square_type, times_identity, transpose
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Expr, Var


def _summed(v: Expr) -> Expr:
    assert isinstance(v.type, Vec)
    parts: list[Expr] = [v[c] for c in range(v.type.size)]
    return reduce(lambda all_, one: all_ + one, parts)


def _transition(g: Place, mat: Mat, level: int) -> Expr:
    """Rates or probabilities, from row to column or the other way; stays with some probability."""
    t = held(g.k, "t kernel", g.given("transition chain", mat, 0.05, 0.6))
    way = g.shape.choice(("plain", "lazy", "teleport") if level >= 2 else ("plain",))
    if way == "lazy":
        stay = g.given("stay laziness", mat.scalar, 0.1, 0.6, literals=False)
        t = g.part("lazy slow", stay * times_identity(mat, 1.0) + (1.0 - stay) * t)
    if way == "teleport":
        jump = g.given("jump teleport", mat.scalar, 0.05, 0.3, literals=False)
        ones = make(mat, jump / float(mat.rows))
        t = g.part("mixed google", (1.0 - jump) * t + ones)
    return transpose(t) if g.chance(0.5) else t


def _observed(g: Place, vec: Vec, p: Var, t: Expr) -> str:
    """The forward recursion of a hidden chain: predict, weigh with the likelihood, scale."""
    k = g.k
    count = k.trip_count("num_obs obs_count", k.size("m", 3, 5))
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
        k.assign(p, fn("cw_mul", t * p, likelihood))
        scale = k.let("scale norm", _summed(p))
        k.augment(logs, "add", log(scale))
        k.assign(p, p / scale)
    done = f" For each observation p becomes T * p times {text} by components, then is divided by"
    logged = g.gets("log_likelihoods evidence_out", logs, "the sum of the logarithms of these sums")
    return f"{done} its sum;{logged}"


@idiom
def markov_step(k: KernelBuilder, level: int) -> Title:
    """Distributions that a small chain moves: steps, stationary ones, hidden states."""
    shape = k.draw.shape
    g = place(k, "i tid agent")
    mat = square_type(k, {2: 2, 3: 3, 4: 2}, k.draw.wide_float_type())
    vec = rows_of(mat)
    p = g.let("p belief pi", g.read("beliefs distributions populations", vec, 0.1, 1.0))
    t = _transition(g, mat, level)
    if isinstance(t, Var) and t.name not in g.inlined:
        g.spoken[t.name] = "T", t.name
    else:
        t = g.let("t tt columns", t)
    done = f"With {g.told(t, p)}:"

    def build(body: BodyBuilder, v: Expr) -> Expr:
        return v / body.let("total mass", _summed(v))

    unit = routine(k, 0.5 * (level >= 2), "normalized to_distribution", {"v": vec}, build)
    done += _advanced(g, level, vec, p, t, unit)
    if level >= 4 and shape.chance(0.6):
        done += _best_path(g, vec, t)
    if level >= 4:
        done += _mixed(g, p, vec)
    done += g.gets("next_beliefs distributions_out p_out", p)
    done += g.offer((shape.integer(0, 1), 1, 1, 2, 3)[level - 1], **_menu(g, p, vec, t))
    return Title(k.name("markov_step advance_chain propagate_beliefs chain_step"), done)


def _advanced(g: Place, level: int, vec: Vec, p: Var, t: Expr, unit: Callable[..., Expr]) -> str:
    """The distribution after one step or several, or after observations."""
    k, shape = g.k, g.shape
    way = shape.choice(("power", "observed", "step", "observed")) if level >= 3 else "step"
    if way == "observed":
        k.assign(p, unit(p))
        return f" make p sum to 1.{_observed(g, vec, p, t)}"
    if way == "power" or (level == 2 and shape.chance(0.4)):
        rounds, each = shape.integer(2, 5), shape.chance(0.5)
        with k.for_("r step_id", rounds):
            k.assign(p, t * p)
            if each:
                k.assign(p, unit(p))
        if not each:
            k.assign(p, unit(p))
        when = "after each step" if each else "in the end"
        return f" {rounds} times p = T * p, divided by its sum {when}."
    k.assign(p, t * p)
    if level < 2 and not shape.chance(0.5):
        return " p = T * p."
    k.assign(p, unit(p))
    return " p = T * p, divided by its sum."


def _menu(g: Place, p: Var, vec: Vec, t: Expr) -> dict[str, Entry]:
    """What is told of a distribution."""
    logs = make(vec, *(log(p[c] + 0.001) for c in range(vec.size)))
    menu: dict[str, Entry] = {
        "entropy": ("entropies uncertainty", lambda: -dot(p, g.part("logs log_p", logs))),
        "peak": ("peaks confidence", lambda: fn("max_element", p)),
        "reward": ("returns expected", lambda: dot(g.given("reward", vec, -1.0, 2.0), p)),
        "first": ("first absorbed", lambda: p[0]),
        "odds": ("log_odds odds", lambda: log(p[0] / p[1])),
        "purity": ("purity collision", lambda: dot(p, p)),
    }
    if "[" in g.told(t):
        menu["state"] = ("labels states", lambda: fn("argmax", p))
    return menu


def _best_path(g: Place, vec: Vec, t: Expr) -> str:
    """One step of Viterbi in logarithms: the best predecessor of every state."""
    k = g.k
    score = g.read("scores log_probs", vec, -2.0, 0.0)
    s = k.let("s score", score)
    parts: list[Expr] = []
    for r in range(vec.size):
        options = make(vec, *(s[c] + t[r, c] for c in range(vec.size)))
        parts.append(fn("max_element", k.let(f"into{r} option{r}", options)))
    best = k.let("best top", make(vec, *parts))
    text = f"at r the greatest of {g.tell(score)}[c] + T[r, c] over c"
    return g.gets("viterbi best_scores", best, text)


def _mixed(g: Place, p: Var, vec: Vec) -> str:
    """Blend with a prior, or sharpen or flatten by a power."""
    k = g.k
    if g.chance(0.5):
        prior = g.given("prior background", vec, 0.1, 0.6)
        value = fn("lerp", p, prior, g.given("alpha blend", vec.scalar, 0.1, 0.5))
        k.assign(p, value)
        return f" p becomes {g.tell(value)}."
    heat = g.given("power temper", vec.scalar, 0.5, 2.0)
    k.assign(p, make(vec, *(p[c] ** heat for c in range(vec.size))))
    k.assign(p, p / k.let("z partition", _summed(p)))
    return f" Every component of p to the power {g.tell(heat)}, and p divided by its sum."
