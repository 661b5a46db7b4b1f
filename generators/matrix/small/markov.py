"""Chains of two to four states: steps of a distribution, forward sums, and hidden states."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import held, helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.large.core import Names
from generators.matrix.small.parts import POINTS, READ, gets
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Expr, Var


def _summed(v: Expr) -> Expr:
    assert isinstance(v.type, Vec)
    total: Expr = v[0]
    for c in range(1, v.type.size):
        total = total + v[c]
    return total


def _normalized(k: KernelBuilder, level: int, vec: Vec) -> str:
    """A helper that makes a vector of positive numbers sum to one."""
    if level < 2 or k.draw.shape.chance(0.5):
        return ""

    def build(body: BodyBuilder, v: Expr) -> Expr:
        return v / body.let("total mass", _summed(v))

    return helper(k, "normalized to_distribution", (("v", vec),), build)


def _unit(k: KernelBuilder, made: str, v: Var, names: Names) -> None:
    """Make a local vector sum to one."""
    if made:
        k.assign(v, k.call(made, v))
    else:
        k.assign(v, v / k.let(names, _summed(v)))


def _transition(k: KernelBuilder, g: Site, vec: Vec, level: int) -> tuple[Expr, str, bool]:
    """Rates or probabilities, from row to column or the other way; stays with some probability."""
    mat = Mat(vec.size, vec.size, vec.scalar)
    source = given(g, "transition chain", mat, 0.05, 0.6)
    t = held(k, "t kernel", source)
    text = say(k, source)
    way = k.draw.shape.choice(("plain", "lazy", "teleport") if level >= 2 else ("plain",))
    if way == "lazy":
        stay = given(g, "stay laziness", vec.scalar, 0.1, 0.6, forms=READ)
        eye = fn("diag", make(vec, k.lift(1.0, vec.scalar)))
        t = k.let("lazy slow", stay * eye + (1.0 - stay) * t)
        text = f"({say(k, stay)} * I + (1 - {say(k, stay)}) * {text})"
    if way == "teleport":
        jump = given(g, "jump teleport", vec.scalar, 0.05, 0.3, forms=READ)
        even = make(mat, jump / float(vec.size))
        t = k.let("mixed google", (1.0 - jump) * t + even)
        text = f"((1 - {say(k, jump)}) * {text} with {say(k, jump)} / {vec.size} added everywhere)"
    rows = k.draw.shape.chance(0.5)
    return t, text, rows


def _start(k: KernelBuilder, g: Site, vec: Vec) -> tuple[Var, str]:
    source = g.array("beliefs distributions populations", vec, 0.1, 1.0)
    return k.let("p belief pi", source[g.at]), source.name


def _observed(k: KernelBuilder, g: Site, vec: Vec, p: Var, t: Expr, made: str, level: int) -> str:
    """The forward recursion of a hidden chain: predict, weigh with the likelihood, scale."""
    k.size("m", 3, 5)
    count = k.trip_count("num_obs obs_count", "m")
    symbols = k.draw.shape.chance(0.6)
    if symbols:
        k.size("s", 3, 5)
        seen = k.array("observed symbols", INT32, (*g.dims, "m"), init="index_of:s")
        table = k.array("emission likelihoods", vec, "s", low=0.1, high=1.0)
        text = f"{table.name} of the symbol {seen.name}"
    else:
        table = k.array("likelihoods evidence", vec, (*g.dims, "m"), low=0.1, high=1.0)
        text = table.name
    logs = k.let("log_like evidence_sum", zero(vec.scalar))
    with k.for_("obs n", count) as n:
        likelihood = table[seen[g.index(n)]] if symbols else table[g.index(n)]
        k.assign(p, fn("cw_mul", t * p, likelihood))
        scale = k.let("scale norm", _summed(p))
        k.augment(logs, "add", fn("log", scale))
        k.assign(p, p / scale)
    target = g.put("log_likelihoods evidence_out", logs)
    return (
        f" For each observation p becomes T * p times {text} by components, then is divided by its"
        f" sum; {target.name} gets the sum of the logarithms of these sums."
    )


def _best_path(k: KernelBuilder, g: Site, vec: Vec, t: Expr) -> str:
    """One step of Viterbi in logarithms: the best predecessor of every state."""
    scores = g.array("scores log_probs", vec, -2.0, 0.0)
    s = k.let("s score", scores[g.at])
    parts: list[Expr] = []
    for r in range(vec.size):
        options = make(vec, *(s[c] + t[r, c] for c in range(vec.size)))
        parts.append(fn("max_element", k.let(f"into{r} option{r}", options)))
    best = k.let("best top", make(vec, *parts))
    return gets(
        g, "viterbi best_scores", best, f"at r the greatest of {scores.name}[c] + T[r, c] over c"
    )


def _menu(k: KernelBuilder, g: Site, p: Var) -> dict[str, Extra]:
    vec = p.type
    assert isinstance(vec, Vec)

    def entropy() -> Expr:
        logs = make(vec, *(fn("log", p[c] + 0.001) for c in range(vec.size)))
        return -fn("dot", p, k.let("logs log_p", logs))

    def reward() -> Expr:
        values = given(g, "reward", vec, -1.0, 2.0)
        return fn("dot", values, p)

    return {
        "entropy": Extra("entropies uncertainty", entropy, "the sum of -p * log(p + 0.001)"),
        "peak": Extra("peaks confidence", lambda: fn("max_element", p), "the greatest of p"),
        "state": Extra("labels states", lambda: fn("argmax", p), "the index of the greatest of p"),
        "reward": Extra("returns expected", reward, "dot(r, p), r being the given reward"),
        "first": Extra("first absorbed", lambda: p[0], "p[0]"),
        "odds": Extra("log_odds odds", lambda: fn("log", p[0] / p[1]), "log(p[0] / p[1])"),
        "purity": Extra("purity collision", lambda: fn("dot", p, p), "dot(p, p)"),
    }


@idiom
def markov_step(k: KernelBuilder, level: int) -> Title:
    """Distributions that a small chain moves: steps, stationary ones, hidden states."""
    shape = k.draw.shape
    g = launch(k, POINTS, "i tid agent")
    vec = Vec(shape.weighted({2: 2, 3: 3, 4: 2}), k.draw.wide_float_type())
    p, start = _start(k, g, vec)
    t, text, rows = _transition(k, g, vec, level)
    made = _normalized(k, level, vec)
    if rows:
        t = k.let("tt columns", fn("transpose", t)) if level >= 2 else fn("transpose", t)
        text = f"transpose({text})"
    done = f"With T = {text} and p = {start}:"
    way = "step"
    if level >= 3:
        way = shape.choice(("power", "observed", "step", "observed"))
    if way == "observed":
        _unit(k, made, p, "start_sum prior_sum")
        done += " make p sum to 1." + _observed(k, g, vec, p, t, made, level)
    elif way == "power" or (level == 2 and shape.chance(0.4)):
        rounds = shape.integer(2, 5)
        each = shape.chance(0.5)
        with k.for_("r step_id", rounds):
            k.assign(p, t * p)
            if each:
                _unit(k, made, p, "total_p mass_p")
        if not each:
            _unit(k, made, p, "total_p mass_p")
        when = "after each step" if each else "in the end"
        done += f" {rounds} times p = T * p, divided by its sum {when}."
    else:
        k.assign(p, t * p)
        done += " p = T * p"
        if level >= 2 or shape.chance(0.5):
            _unit(k, made, p, "total_p mass_p")
            done += ", divided by its sum"
        done += "."
    if level >= 4 and shape.chance(0.6):
        done += _best_path(k, g, vec, t)
    if level >= 4:
        done += _mixed(k, g, p, vec)
    done += gets(g, "next_beliefs distributions_out p_out", p, "p")
    menu = _menu(k, g, p)
    if "[" not in text:
        del menu["state"]
    done += extras(g, menu, (shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    return Title(k.name("markov_step advance_chain propagate_beliefs chain_step"), done)


def _mixed(k: KernelBuilder, g: Site, p: Var, vec: Vec) -> str:
    """Blend with a prior, or sharpen or flatten by a power."""
    scalar = vec.scalar
    if k.draw.shape.chance(0.5):
        prior = given(g, "prior background", vec, 0.1, 0.6)
        share = given(g, "alpha blend", scalar, 0.1, 0.5)
        k.assign(p, fn("lerp", p, prior, share))
        return f" p moves {say(k, share)} of the way to {say(k, prior)}."
    heat = given(g, "power temper", scalar, 0.5, 2.0)
    parts = (fn("pow", p[c], heat) for c in range(vec.size))
    k.assign(p, make(vec, *parts))
    k.assign(p, p / k.let("z partition", _summed(p)))
    return f" Every component of p to the power {say(k, heat)}, and p divided by its sum."
