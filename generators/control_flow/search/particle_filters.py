"""Steps of particle filters: likelihoods, weights of each filter, survivors, whole resampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both
from generators.control_flow.search.particle_weights import likelihood, moved, normalised
from generators.control_flow.search.resampling import (
    Cloud,
    Copies,
    cloud,
    filters,
    survivors,
    zero,
)
from generators.kit.functions import exp, log, most
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var


def _metropolis(k: KernelBuilder, level: int) -> Title:
    """Ancestors without sums: a few random others are tried, by the ratio of the weights."""
    c = cloud(k, 0.5)
    logs = k.draw.shape.chance(0.4)
    data = c.array(
        "log_weights log_w" if logs else "weights w", -4.0 if logs else 0.02, 0.0 if logs else 1.0
    )
    count = c.count()
    tries = k.scalar("num_tries num_steps", INT32, 5, 9)
    seed = k.scalar("seed", INT32, 1, 9999)
    where, own = c.number()
    state = k.random_state("state rng", seed, where)
    best = k.let("ancestor a", c.own)
    held = k.draw.shape.chance(0.5)
    weight = k.let("w_best w_now", data[c.at(best)]) if held else None
    with k.for_("t step", tries):
        other = k.sample("other cand", "randi", state, 0, count)
        u = k.sample("u draw", "randf", state)
        new = k.let("w_new w_other", data[c.at(other)])
        old = data[c.at(best)] if weight is None else weight
        test = u < exp(new - old) if logs else u * old < new
        with k.if_(test):
            k.assign(best, other)
            if weight is not None:
                k.assign(weight, new)
    out = k.out("ancestors parent_idx", INT32, c.s.dims)
    k.store(out, c.s.at, best)
    rule = f"u < exp(new - old) of {data.name}" if logs else f"u * old < new of {data.name}"
    text = (
        f"Metropolis resampling: the ancestor is the particle itself at first; {tries.name} times "
    )
    text += f"another is drawn by randi(0, {count.name}) and u by randf, of the state of "
    text += f"rand_init({seed.name}, {own}), and taken where {rule}. {out.name} gets its number"
    return Title(k.name("metropolis_resample metropolis_ancestors"), f"{text}.")


def _offspring(k: KernelBuilder, level: int) -> Title:
    """A thread for each old particle: how many come of it, or which new ones it is copied to."""
    c = cloud(k, 0.5, rising=True)
    sums = c.array("cum_weights weight_cdf", 0.02, 1.0, init="sorted")
    count = c.count()
    number = cast(count, FLOAT32)
    shift = k.scalar("offset u0", FLOAT32, 0.05, 0.95)
    total = k.let("total w_sum", sums[c.at(count - 1)])

    def reached(value: Expr) -> Expr:
        return cast(fn("floor", value / total * number + shift), INT32)

    stop = k.let("stop hi", reached(sums[c.s.at]))
    before = sums[c.at(c.own - 1)]
    start = k.let("start lo", k.lift(0, INT32))
    with k.if_(c.own > 0):
        k.assign(start, reached(before))
    said = (
        f"floor({count.name} * S / T + {shift.name}), S being its running sum in {sums.name} and "
    )
    said += "T the last one"
    if k.draw.shape.chance(0.4):
        out = k.out("offspring num_copies", INT32, c.s.dims)
        k.store(out, c.s.at, stop - start)
        text = (
            f"Offspring of systematic resampling: {out.name} gets by how much {said}, exceeds that "
        )
        text += "of the particle before (0 for the first)"
        return Title(k.name("count_offspring systematic_offspring"), f"{text}.")
    out = k.out("ancestors parent_idx", INT32, c.dims)
    with k.for_("m slot", fn("min", stop, count), start=start) as m:
        k.store(out, c.at(m), c.own)
    text = "Ancestors of systematic resampling, a thread for each old particle: its number goes to "
    text += (
        f"{out.name} from slot a up to slot b (exclusive, and none from {count.name} on), b being "
    )
    text += f"{said}, a that of the particle before (0 for the first)"
    return Title(k.name("scatter_ancestors copy_to_offspring"), f"{text}.")


@dataclass
class _Weights:
    """The weights of a filter that its thread goes along, as they are or from logarithms."""

    of: Callable[[Var], Expr]
    said: str
    data: Var
    top: Var | None = None


def _weights(c: Cloud, count: Expr, logs: bool) -> _Weights:
    """Weights; of logarithms the largest is looked for first."""
    k = c.k
    if not logs:
        data = c.array("weights part_weights", 0.02, 1.0)
        return _Weights(lambda j: data[c.at(j)], data.name, data)
    data = c.array("log_weights log_w", -6.0, 0.0)
    top = k.let("log_max m", data[c.at(0)])
    with c.each(start=1) as j:
        k.assign(top, most(top, data[c.at(j)]))
    said = f"exp({data.name} less the largest of them)"
    return _Weights(lambda j: exp(data[c.at(j)] - top), said, data, top)


def _effective(k: KernelBuilder, level: int) -> Title:
    """A thread for each filter: how many particles its weights are worth."""
    c = filters(k)
    logs = k.draw.shape.chance(0.6)
    way = k.draw.shape.choice(
        ("ess", "entropy", "both", "evidence") if logs else ("ess", "entropy")
    )
    count = c.count()
    w = _weights(c, count, logs)
    total = k.let("total w_sum", zero(k))
    second = "w_log_w" if way == "entropy" else "squares w_sq"
    other = None if way == "evidence" else k.let(second, zero(k))
    with c.each() as j:
        value = k.let("w wj", w.of(j))
        k.augment(total, "add", value)
        if other is not None:
            k.augment(other, "add", value * log(value) if way == "entropy" else value * value)
    text = f"Particles of each filter, of weights w = {w.said}: "
    names = {"evidence": "log_evidence log_norm", "entropy": "entropies weight_entropy"}
    out = k.out(names.get(way, "ess n_eff"), FLOAT32, "filters")
    if other is None:
        assert w.top is not None
        k.store(out, c.own, w.top + log(total / cast(count, FLOAT32)))
        text += f"{out.name} gets the logarithm of the mean of exp({w.data.name})"
    elif way == "entropy":
        k.store(out, c.own, log(total) - other / total)
        text += f"{out.name} gets the entropy of w over their sum"
    else:
        k.store(out, c.own, total * total / other)
        text += f"{out.name} gets the effective sample size, (sum of w)^2 / sum of w^2"
    if way == "both":
        norm = k.out("norm_weights w_norm", FLOAT32, c.dims)
        with c.each() as j:
            k.store(norm, c.at(j), w.of(j) / total)
        text += f", and {norm.name} w over their sum"
    called = {"evidence": "log_evidence marginal_likelihood", "entropy": "weight_entropy"}
    return Title(
        k.name(called.get(way, "effective_sample_size filter_ess particle_ess")), f"{text}."
    )


def _comb(c: Cloud, w: _Weights, total: Expr, count: Expr) -> tuple[Copies, str]:
    """The ancestors of a filter in one pass: old and new particles are gone along together."""
    k = c.k
    copies = Copies(c, 4)
    stratified = k.draw.shape.chance(0.4)
    step = k.let("step spacing", total / cast(count, FLOAT32))
    if stratified:
        us = k.array("uniforms u_draws", FLOAT32, c.dims, low=0.01, high=0.99)
        said = f"(m + {us.name}) / {say(k, count)}"
    else:
        shift = k.array("offsets u0", FLOAT32, "filters", low=0.02, high=0.98)
        said = f"(m + {shift.name}) / {say(k, count)}"
    at = k.let("a parent", k.lift(0, INT32))
    reached = k.let("cum run_sum", w.of(at))
    with k.for_("m slot", count) as m:
        add = us[c.at(m)] if stratified else shift[c.own]
        goal = k.let("goal pos", step * (cast(m, FLOAT32) + add))
        with k.while_(both(reached < goal, at < count - 1)):
            k.augment(at, "add", 1)
            k.augment(reached, "add", w.of(at))
        copies.put(m, at)
    return copies, f"the first particle whose running sum of w is at least {said} of the whole"


def _resampled(k: KernelBuilder, level: int) -> Title:
    """A thread for each filter: all of its ancestors, at level 5 only where it is worth it."""
    c = filters(k, (44, 56))
    count = c.count()
    logs = k.draw.shape.chance(0.6 if level > 4 else 0.4)
    w = _weights(c, count, logs)
    total = k.let("total w_sum", zero(k))
    squares = k.let("squares w_sq", zero(k)) if level > 4 else None
    with c.each() as j:
        value = k.let("w wj", w.of(j)) if squares is not None else w.of(j)
        k.augment(total, "add", value)
        if squares is not None:
            k.augment(squares, "add", value * value)
    text = f"Resampling, a thread for each filter of weights w = {w.said}: "
    if squares is None:
        copies, said = _comb(c, w, total, count)
        text += f"the ancestor of new particle m is {said}: {copies.said()}"
        return Title(k.name("systematic_resample_rows resample_filters comb_resample"), f"{text}.")
    share = k.scalar("ess_ratio min_share", FLOAT32, *((0.28, 0.4) if logs else (0.72, 0.82)))
    ess = k.let("ess n_eff", total * total / squares)
    text += _where_needed(c, w, (total, ess, share, count))
    return Title(k.name("adaptive_resample resample_if_needed ess_resample"), f"{text}.")


def _where_needed(c: Cloud, w: _Weights, numbers: tuple[Var, Var, Var, Var]) -> str:
    """Filters of few effective particles are resampled; the others keep their weights."""
    k = c.k
    total, ess, share, count = numbers
    weights = k.draw.shape.chance(0.6)
    worn = k.let("degenerate worn", ess < share * cast(count, FLOAT32))
    out = k.out("norm_weights w_norm", FLOAT32, c.dims) if weights else None
    with k.if_(worn):
        copies, said = _comb(c, w, total, count)
        if out is not None:
            with c.each() as j:
                k.store(out, c.at(j), 1.0 / cast(count, FLOAT32))
    with k.else_(), c.each() as j:
        copies.put(j, j)
        if out is not None:
            k.store(out, c.at(j), w.of(j) / total)
    text = f"where the effective sample size (sum of w)^2 / sum of w^2 is below {share.name} * "
    text += f"{count.name}, the ancestor of new particle m is {said} ({copies.said()})"
    if out is not None:
        text += f", and {out.name} gets 1 / {count.name}"
    text += "; in other filters particles are their own ancestors"
    return text + (f", and {out.name} gets w over their sum" if out is not None else "")


def _bootstrap(k: KernelBuilder, level: int) -> Title:
    """A thread for each filter: one step of a bootstrap filter, with its estimate."""
    c = filters(k)
    c.count()
    x, model = c.array("states particles_x", -2.0, 2.0, role="inout"), _Series(c)
    room = c.k.out("log_weights log_w", FLOAT32, c.dims)
    top = k.let("log_max m", k.lift(-1.0e30, FLOAT32))
    with c.each() as j:
        new = k.let("x_new x_pred", model.moved(x[c.at(j)], j))
        k.store(x, c.at(j), new)
        score = k.let("score log_lik", model.score(new))
        k.store(room, c.at(j), score)
        k.assign(top, most(top, score))
    total, mean = k.let("total w_sum", zero(k)), k.let("mean acc", zero(k))
    square = k.let("second acc_sq", zero(k)) if k.draw.shape.chance(0.4) else None
    with c.each() as j:
        value = k.let("w wj", exp(room[c.at(j)] - top))
        k.augment(total, "add", value)
        k.augment(mean, "add", value * x[c.at(j)])
        if square is not None:
            k.augment(square, "add", value * x[c.at(j)] * x[c.at(j)])
    names = "estimates x_hat" if square is None else "variances x_var"
    out = k.out(names, FLOAT32, "filters")
    text = (
        f"A step of bootstrap filters, a thread for each: {x.name} {model.said}. {room.name} gets "
    )
    text += f"the log likelihood of a particle, {model.told}. Weighted by exp of that, the "
    if square is None:
        k.store(out, c.own, mean / total)
        text += f"estimate is the mean of the particles: {out.name} gets it"
    else:
        centre = k.let("x_mean mu", mean / total)
        k.store(out, c.own, square / total - centre * centre)
        text += f"spread is the variance of the particles: {out.name} gets it"
    return Title(k.name("bootstrap_filter_step particle_filter_step sir_step"), f"{text}.")


class _Series:
    """A model of a time series: how its state moves, and how likely it makes a reading."""

    def __init__(self, c: Cloud) -> None:
        self.c, k = c, c.k
        self.way = k.draw.shape.choice(("linear", "growth", "volatility"))
        grows = self.way == "growth"
        self.std = k.scalar("process_std q_std", FLOAT32, *((2.0, 4.0) if grows else (0.3, 0.8)))
        names, low, high = ("forcing drive", -8.0, 8.0) if grows else ("phi persistence", 0.8, 0.95)
        self.keep = k.scalar(names, FLOAT32, low, high)
        low, high = {"volatility": (-1.5, 1.5), "growth": (0.0, 8.0)}.get(self.way, (-2.0, 2.0))
        self.y = k.array("measured readings", FLOAT32, "filters", low=low, high=high)
        self.noise = None
        if k.draw.shape.chance(0.5):
            self.noise = c.array("noise normals", -2.0, 2.0)
        else:
            seed = k.scalar("seed", INT32, 1, 9999)
            self.state = k.random_state("state rng", seed, c.own)
            source = (
                f"randn of the state of rand_init({seed.name}, {c.name()}), one for each in turn"
            )
        self.error = (
            None if self.way == "volatility" else k.scalar("r_std obs_std", FLOAT32, 0.5, 1.2)
        )
        e = source if self.noise is None else self.noise.name
        rule = {"growth": f"0.5 * x + 25 * x / (1 + x^2) + {self.keep.name}"}
        move = rule.get(self.way, f"{self.keep.name} * x")
        self.said = f"becomes {move} + {self.std.name} * e, e being {e}"
        y = f"{self.y.name}[{c.name()}]"
        if self.error is None:
            self.told = f"-0.5 * (x + {y}^2 * exp(-x))"
        else:
            seen = "x^2 / 20" if self.way == "growth" else "x"
            self.told = f"-(({y} - {seen}) / {self.error.name})^2 / 2"

    def moved(self, x: Expr, j: Var) -> Expr:
        k = self.c.k
        old = k.let("x x_old", x)
        if self.noise is None:
            e: Expr = k.sample("e eps", "randn", self.state)
        else:
            e = self.noise[self.c.at(j)]
        if self.way == "growth":
            return 0.5 * old + 25.0 * old / (1.0 + old * old) + self.keep + self.std * e
        return self.keep * old + self.std * e

    def score(self, x: Var) -> Expr:
        y = self.y[self.c.own]
        if self.error is None:
            return -0.5 * (x + y * y * exp(-x))
        miss = self.c.k.let(
            "err innov", (y - (x * x / 20.0 if self.way == "growth" else x)) / self.error
        )
        return -0.5 * miss * miss


Form = Callable[[KernelBuilder, int], Title]
_FORMS: dict[int, tuple[Form, ...]] = {
    1: (likelihood, normalised, moved),
    2: (likelihood, moved, survivors, survivors),
    3: (survivors, _metropolis, _offspring, _effective),
    4: (_metropolis, _resampled, _resampled),
    5: (_resampled, _resampled, _bootstrap),
}


@idiom
def particle_resampling(k: KernelBuilder, level: int) -> Title:
    """Particle filters: likelihoods, weights, effective size, survivors, whole resampling."""
    return k.draw.shape.choice(_FORMS[level])(k, level)
