"""Recursions along rows of samples that branch on what came before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, branch, minus, move, rows_of
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp, most
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site
from generators.kit.sources import setting, zero
from generators.kit.words import say
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class Filter:
    """A state y and a best or total, which each sample v changes; numbers a and b."""

    text: str
    cases: Callable[..., Sequence[tuple[Expr | None, Operand]]]
    """New states of y by condition, of y, v, a and b; the first is that of a rising sample."""
    kept: Callable[..., Expr] | None = None
    """The best or total after a sample, of itself, y, v, a and b; without it y is the result."""
    first: Callable[..., Expr] | None = None
    """What y becomes before that, of y, v and a."""


_FILTERS: dict[str, Filter] = {
    "drawdown": Filter(
        "the largest fall from an earlier maximum",
        lambda y, v, a, b: [(v > y, v)],
        lambda best, y, v, a, b: most(best, y - v),
    ),
    "max_subarray": Filter(
        "the largest sum of neighbouring entries (Kadane), 0 for none",
        lambda y, v, a, b: [(y > 0.0, y + v), (None, v)],
        lambda best, y, v, a, b: most(best, y),
    ),
    "envelope": Filter(
        "the last value of an envelope that rises by {a} of the gap, falls by {b} of it",
        lambda y, v, a, b: [(v > y, y + a * (v - y)), (None, y + b * (v - y))],
    ),
    "limiter": Filter(
        "the sum after each step is limited to {a} upward and {b} downward",
        lambda y, v, a, b: [(v - y > a, y + a), (v - y < minus(b), y - b), (None, v)],
        lambda total, y, v, a, b: total + y,
    ),
    "running_best": Filter(
        "the sum of the running maxima",
        lambda y, v, a, b: [(v > y, v)],
        lambda total, y, v, a, b: total + y,
    ),
    "decay": Filter(
        "the last value of y = {a} * y + v with y cut to [-{b}, {b}]",
        lambda y, v, a, b: [(y > b, b), (y < minus(b), minus(b))],
        first=lambda y, v, a: a * y + v,
    ),
    "pid": Filter(
        "the sum of {a} * v + {b} * y with y the sum of samples so far, kept in [-1, 1]",
        lambda y, v, a, b: [(y > 1.0, 1.0), (y < -1.0, -1.0)],
        lambda total, y, v, a, b: total + (a * v + b * y),
        lambda y, v, a: y + v,
    ),
}


@idiom
@with_struct
def row_filter(k: KernelBuilder, level: int) -> Title:
    """Recursions along each row of samples that branch on what came before."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_FILTERS))
    text = _FILTERS[form].text
    s, table, count = rows_of(k, "prices samples signal returns", type_, -1.0, 2.0)
    a = setting(k, "attack up gain", type_, 0.35, 0.6) if "{a}" in text else zero(type_)
    b = zero(type_)
    if "{b}" in text:
        bounds = ("bound cap", 1.0, 1.4) if form == "decay" else ("release down", 0.15, 0.3)
        b = setting(k, bounds[0], type_, *bounds[1:])
    out = s.out("out result filtered", type_)
    trace = Also(s, 0.0 if level < 3 else 0.6, "trace history", type_, "cols")
    rises = Also(s, 0.0 if level < 4 else 0.6, "events changes")
    skips = level >= 2 and shape.chance(0.5)
    floor = setting(k, "floor noise", type_, -0.9, -0.6) if skips else None
    reading, how = _reading(s, table, type_)
    y = k.let("y state level", reading(k.lift(0, s.at[0].type)))
    best = k.let("best worst total acc", zero(type_))
    rises.start("turns switched")
    followed = _followed(k, level, form, type_) if not rises else None
    trace.put(y, 0)
    with k.for_("j t col", count, start=1) as j:
        v = k.let("v x sample", reading(j))
        if floor is not None:
            with k.if_(v < floor):
                trace.put(y, j)
                k.continue_()
        _moved(k, _FILTERS[form], (best, y, v, a, b), rises, followed)
        trace.put(y, j)
    k.store(out, s.at, best if _FILTERS[form].kept else y)
    text = text.format(a=say(k, a), b=say(k, b))
    done = f"For each row of {table.name}{how}: {text}, in {out.name}."
    if floor is not None:
        done += f" Samples after the first that are below {say(k, floor)} are skipped."
    done += trace.said("the state after each sample")
    done += rises.told("how often the branch for a rising sample was taken")
    return Title(k.name(f"{form} {form}_per_row track_{form} row_filter"), done)


def _moved(
    k: KernelBuilder,
    rule: Filter,
    state: tuple[Var, Var, Var, Expr, Expr],
    rises: Also,
    followed: Callable[..., Expr] | None,
) -> None:
    """One sample: the state by branches or a formula, then the best or total."""
    best, y, v, a, b = state
    if followed is not None:
        k.assign(y, followed(y, v, a, b))
    else:
        if rule.first is not None:
            move(k, y, rule.first(y, v, a))
        (test, rising), *others = rule.cases(y, v, a, b)
        branch(k, (test, (y, rising), (rises, 1)), *((t, (y, value)) for t, value in others))
    if rule.kept is not None:
        move(k, best, rule.kept(best, y, v, a, b))


def _reading(s: Site, table: Var, type_: Scalar) -> tuple[Callable[[Expr], Expr], str]:
    """Samples as they are, times a gain, or less an offset of their row; and that in words."""
    how = s.k.draw.shape.weighted({"plain": 5, "gain": 2, "offset": 2, "per_row": 2})
    if how == "plain":
        return lambda j: table[s.index(j)], ""
    if how == "gain":
        gain = s.k.scalar("calibration factor", type_, 0.8, 0.98)
        return lambda j: gain * table[s.index(j)], f" (samples times {gain.name})"
    offset: Expr
    if how == "offset":
        offset = s.k.scalar("baseline zero_level", type_, -0.1, 0.1)
    else:
        offset = s.read("row_offsets channel_zero", type_, -0.1, 0.1)
    return lambda j: table[s.index(j)] - offset, f" (samples less {say(s.k, offset)})"


def _follow_envelope(b: BodyBuilder, y: Expr, v: Expr, up: Expr, down: Expr) -> Expr:
    rate = b.let("rate share", down)
    with b.if_(v > y):
        b.assign(rate, up)
    return y + rate * (v - y)


_FOLLOWS: dict[str, Callable[..., Expr]] = {
    "envelope": _follow_envelope,
    "limiter": lambda b, y, v, up, down: y + clamp(v - y, minus(down), up),
    "decay": lambda b, y, v, share, bound: clamp(share * y + v, minus(bound), bound),
}
"""Forms whose next state is a formula of the state, the sample and two numbers."""


def _followed(k: KernelBuilder, level: int, form: str, type_: Scalar) -> Callable[..., Expr] | None:
    """The next state as a formula, where it is one."""
    if form not in _FOLLOWS or level < 3:
        return None
    params = dict.fromkeys(("y", "v", "a", "b"), type_)
    return routine(k, BY_LEVEL[level], f"follow next_level {form}_step", params, _FOLLOWS[form])
