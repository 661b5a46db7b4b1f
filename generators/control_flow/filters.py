"""Recursions along rows of samples that branch on what came before."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import also, either, function_of, rows_of, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var

_TRENDS = {
    "drawdown": "the largest fall from an earlier maximum",
    "max_subarray": "the largest sum of neighbouring entries (Kadane), 0 for none",
    "envelope": "the last value of an envelope that rises by {a} of the gap, falls by {b} of it",
    "limiter": "the sum after each step is limited to {a} upward and {b} downward",
    "running_best": "the sum of the running maxima",
    "decay": "the last value of y = {a} * y + v with y cut to [-{b}, {b}]",
    "pid": "the sum of {a} * v + {b} * y with y the sum of samples so far, kept in [-1, 1]",
}


@idiom
@with_struct
def row_filter(k: KernelBuilder, level: int) -> Title:
    """Recursions along each row of samples that branch on what came before."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_TRENDS))
    table, row, count = rows_of(k, ("prices", "samples", "signal", "returns"), s, -1.0, 2.0)
    a: Operand = 0.0
    b: Operand = 0.0
    if "{a}" in _TRENDS[form]:
        a = either(k, ("attack", "up", "gain"), s, 0.35, 0.6)
    if "{b}" in _TRENDS[form]:
        cut = form == "decay"
        names = ("bound", "cap") if cut else ("release", "down")
        b = either(k, names, s, *((1.0, 1.4) if cut else (0.15, 0.3)))
    out = k.out(("out", "result", "filtered"), s, "rows")
    trace = also(k, 0.0 if level < 3 else 0.6, ("trace", "history"), s, ("rows", "cols"))
    events = also(k, 0.0 if level < 4 else 0.6, ("events", "changes"), INT32, "rows")
    skip = level >= 2 and shape.chance(0.5)
    least = either(k, ("floor", "noise"), s, -0.9, -0.6) if skip else None
    reading = _reading(k, table, s)
    first = k.let(("y", "state", "level"), reading.value((row, k.lift(0, INT32))))
    largest = form in ("drawdown", "max_subarray")
    best = k.let(("best", "worst") if largest else ("total", "acc"), k.lift(0.0, s))
    turns = k.let(("turns", "switched"), k.lift(0, INT32)) if events is not None else None
    move = _followed(k, level, form, s) if events is None else None
    if trace is not None:
        k.store(trace, (row, 0), first)
    with k.for_(("j", "t", "col"), count, start=1) as j:
        v = k.let(("v", "x", "sample"), reading.value((row, j)))
        if least is not None:
            with k.if_(v < least):
                if trace is not None:
                    k.store(trace, (row, j), first)
                k.continue_()
        if move is None:
            _filter(k, form, (first, best, turns), v, (a, b))
        else:
            k.assign(first, move(first, v, a, b))
            if form == "limiter":
                k.augment(best, "add", first)
        if trace is not None:
            k.store(trace, (row, j), first)
    summed = form in ("drawdown", "max_subarray", "limiter", "running_best", "pid")
    k.store(out, row, best if summed else first)
    text = _TRENDS[form].format(a=shown(a), b=shown(b))
    done = f"For each row of {table.name}{reading.text}: {text}, in {out.name}."
    if least is not None:
        done += f" Samples after the first that are below {shown(least)} are skipped."
    if trace is not None:
        done += f" {trace.name} gets the state after each sample."
    if events is not None and turns is not None:
        k.store(events, row, turns)
        done += f" {events.name} gets how often the branch for a rising sample was taken."
    return Title(k.name(form, f"{form}_per_row", f"track_{form}", "row_filter"), done)


class _Reading(NamedTuple):
    """A sample as the filter takes it, and that in words."""

    value: Callable[[tuple[Expr, Expr]], Expr]
    text: str


def _reading(k: KernelBuilder, table: Var, s: Scalar) -> _Reading:
    """Samples as they are, times a gain, or less an offset of their row or column."""
    how = k.draw.shape.weighted({"plain": 5, "gain": 2, "offset": 2, "per_row": 2})
    if how == "gain":
        gain = k.scalar(("calibration", "factor"), s, 0.8, 0.98)
        return _Reading(lambda at: gain * table[at], f" (samples times {gain.name})")
    if how == "offset":
        less = k.scalar(("baseline", "zero_level"), s, -0.1, 0.1)
        return _Reading(lambda at: table[at] - less, f" (samples less {less.name})")
    if how == "per_row":
        means = k.array(("row_offsets", "channel_zero"), s, "rows", low=-0.1, high=0.1)
        text = f" (samples less {means.name} of the row)"
        return _Reading(lambda at: table[at] - means[at[0]], text)
    return _Reading(lambda at: table[at], "")


def _followed(k: KernelBuilder, level: int, form: str, s: Scalar) -> Callable[..., Expr] | None:
    """The next state as a formula, where it is one."""
    if form not in _FOLLOWS or level < 3:
        return None
    params = [(n, s) for n in ("y", "v", "a", "b")]
    names = ("follow", "next_level", f"{form}_step")
    return function_of(k, level, names, params, _FOLLOWS[form], 0.7)


def _envelope(b: BodyBuilder, y: Expr, v: Expr, up: Operand, down: Operand) -> Expr:
    rate = b.let(("rate", "share"), b.lift(down, y.type))
    with b.if_(v > y):
        b.assign(rate, b.lift(up, y.type))
    return y + rate * (v - y)


def _limiter(b: BodyBuilder, y: Expr, v: Expr, up: Operand, down: Operand) -> Expr:
    return y + fn("clamp", v - y, -b.lift(down, y.type), b.lift(up, y.type))


def _decay(b: BodyBuilder, y: Expr, v: Expr, share: Operand, bound: Operand) -> Expr:
    limit = b.lift(bound, y.type)
    return fn("clamp", share * y + v, -limit, limit)


_FOLLOWS = {"envelope": _envelope, "limiter": _limiter, "decay": _decay}
"""Forms whose next state is a formula of the state, the sample and two numbers."""


def _filter(
    k: KernelBuilder,
    form: str,
    state: tuple[Var, Var, Var | None],
    v: Var,
    by: tuple[Operand, Operand],
) -> None:
    y, best, turns = state
    a, b = by

    def rising() -> None:
        if turns is not None:
            k.augment(turns, "add", 1)

    if form == "drawdown":
        with k.if_(v > y):
            k.assign(y, v)
            rising()
        with k.else_():
            k.assign(best, fn("max", best, y - v))
    elif form == "max_subarray":
        with k.if_(y > 0.0):
            k.augment(y, "add", v)
            rising()
        with k.else_():
            k.assign(y, v)
        k.assign(best, fn("max", best, y))
    elif form == "envelope":
        with k.if_(v > y):
            k.augment(y, "add", a * (v - y))
            rising()
        with k.else_():
            k.augment(y, "add", b * (v - y))
    elif form == "limiter":
        move = k.let(("move", "dy"), v - y)
        with k.if_(move > a):
            k.augment(y, "add", a)
            rising()
        with k.elif_(move < _minus(b)):
            k.augment(y, "sub", b)
        with k.else_():
            k.assign(y, v)
        k.augment(best, "add", y)
    elif form == "running_best":
        with k.if_(v > y):
            k.assign(y, v)
            rising()
        k.augment(best, "add", y)
    elif form == "decay":
        k.assign(y, a * y + v)
        with k.if_(y > b):
            k.assign(y, k.lift(b, y.type))
            rising()
        with k.elif_(y < _minus(b)):
            k.assign(y, k.lift(_minus(b), y.type))
    else:
        k.augment(y, "add", v)
        with k.if_(y > 1.0):
            k.assign(y, 1.0)
            rising()
        with k.elif_(y < -1.0):
            k.assign(y, -1.0)
        k.augment(best, "add", a * v + b * y)


def _minus(value: Operand) -> Operand:
    return -value
