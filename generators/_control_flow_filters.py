"""Recursions along rows of samples that branch on what came before."""

from __future__ import annotations

from generators._control_flow_kit import also, either, rows_of, shown
from generators.build import KernelBuilder, fn
from generators.dtypes import INT32
from generators.expr import Operand, Var
from generators.registry import Title

_TRENDS = {
    "drawdown": "the largest fall from an earlier maximum",
    "max_subarray": "the largest sum of neighbouring entries (Kadane), 0 for none",
    "envelope": "the last value of an envelope that rises by {a} of the gap, falls by {b} of it",
    "limiter": "the sum after each step is limited to {a} upward and {b} downward",
    "running_best": "the sum of the running maxima",
    "decay": "the last value of y = {a} * y + v with y cut to [-{b}, {b}]",
    "pid": "the sum of {a} * v + {b} * y with y the sum of samples so far, kept in [-1, 1]",
}


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
    first = k.let(("y", "state", "level"), table[row, 0])
    largest = form in ("drawdown", "max_subarray")
    best = k.let(("best", "worst") if largest else ("total", "acc"), k.lift(0.0, s))
    turns = k.let(("turns", "switched"), k.lift(0, INT32)) if events is not None else None
    if trace is not None:
        k.store(trace, (row, 0), first)
    with k.for_(("j", "t", "col"), count, start=1) as j:
        v = k.let(("v", "x", "sample"), table[row, j])
        if least is not None:
            with k.if_(v < least):
                if trace is not None:
                    k.store(trace, (row, j), first)
                k.continue_()
        _filter(k, form, (first, best, turns), v, (a, b))
        if trace is not None:
            k.store(trace, (row, j), first)
    summed = form in ("drawdown", "max_subarray", "limiter", "running_best", "pid")
    k.store(out, row, best if summed else first)
    text = _TRENDS[form].format(a=shown(a), b=shown(b))
    done = f"For each row of {table.name}: {text}, in {out.name}."
    if least is not None:
        done += f" Samples after the first that are below {shown(least)} are skipped."
    if trace is not None:
        done += f" {trace.name} gets the state after each sample."
    if events is not None and turns is not None:
        k.store(events, row, turns)
        done += f" {events.name} gets how often the branch for a rising sample was taken."
    return Title(k.name(form, f"{form}_per_row", f"track_{form}", "row_filter"), done)


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
