"""Whole-number stocks, queues and tanks over rows of demands."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, either, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var

_STOCKS = {
    "inventory": "orders {q} more whenever fewer than {r} are left; what cannot be served is lost",
    "queue": "serves up to {r} waiting customers per slot; those above {q} waiting leave",
    "tank": "opens a valve of {r} per step whenever the level is above {q}",
    "parking": "lets cars in while fewer than {q} are inside, {r} leave per step",
}


@idiom
@with_struct
def stock_keeping(k: KernelBuilder, level: int) -> Title:
    """Whole-number stocks, queues and tanks over the steps of a row of demands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_STOCKS))
    type_ = Scalar(shape.weighted({"int32": 5, "int64": 2, "int16": 1}))
    rows, cols = k.size("stores", 24, 40), k.size("steps", 8, 12)
    demand = k.array(("demand", "arrivals", "inflow"), type_, (rows, cols), low=0, high=12)
    start = (
        k.array(("stock", "initial"), type_, rows, low=4, high=18) if shape.chance(0.6) else None
    )
    q = either(k, ("capacity", "order_size", "limit"), type_, 14, 20)
    r = either(k, ("served", "reorder_point", "outflow"), type_, 4, 7)
    count: Expr = k.size_param(("num_steps", "num_days"), cols)
    out = k.out(("final", "left_over"), type_, rows)
    lost = k.out(("lost", "turned_away", "events"), type_, rows) if shape.chance(0.7) else None
    trace = also(k, 0.0 if level < 3 else 0.5, ("history", "levels"), type_, (rows, cols))
    closed = (
        k.array(("closed_on", "holiday"), INT32, rows, low=0, high=9)
        if level >= 3 and shape.chance(0.5)
        else None
    )
    (row,) = k.thread(rows, names=(k.name("row", "s", "i"),))
    x = k.let(("x", "on_hand", "level"), start[row] if start is not None else k.lift(9, type_))
    gone = k.let(("gone", "missed"), k.lift(0, type_))
    with k.for_(("t", "day", "j"), count) as t:
        if closed is not None:
            with k.if_(fn("eq", t, closed[row])):
                if trace is not None:
                    k.store(trace, (row, t), x)
                k.continue_()
        d = k.let(("d", "wanted"), demand[row, t])
        _stock(k, form, (x, gone), d, (q, r))
        if trace is not None:
            k.store(trace, (row, t), x)
    k.store(out, row, x)
    if lost is not None:
        k.store(lost, row, gone)
    begin = f"{start.name}" if start is not None else "9"
    done = (
        f"Each row of {demand.name} drives a {form} from {begin} "
        f"that {_STOCKS[form].format(q=shown(q), r=shown(r))}; "
    )
    done += f"what is left goes to {out.name}"
    done += f", what was lost or left over to {lost.name}" if lost is not None else ""
    done += f"; {trace.name} gets the level after each step" if trace is not None else ""
    done += f"; the step {closed.name} is left out" if closed is not None else ""
    return Title(k.name(f"simulate_{form}", f"run_{form}", f"{form}_policy"), f"{done}.")


def _stock(
    k: KernelBuilder, form: str, state: tuple[Var, Var], d: Var, by: tuple[Operand, Operand]
) -> None:
    x, gone = state
    q, r = by
    if form == "inventory":
        with k.if_(d > x):
            k.augment(gone, "add", d - x)
            k.assign(x, 0)
        with k.else_():
            k.augment(x, "sub", d)
        with k.if_(x < r):
            k.augment(x, "add", q)
    elif form == "queue":
        k.augment(x, "add", d)
        with k.if_(x > q):
            k.augment(gone, "add", x - q)
            k.assign(x, k.lift(q, x.type))
        k.assign(x, fn("max", x - r, 0))
    elif form == "tank":
        k.augment(x, "add", d)
        with k.if_(x > q):
            k.augment(x, "sub", r)
            k.augment(gone, "add", 1)
    else:
        with k.for_(("c", "car"), _as_int(d)):
            with k.if_(x >= q):
                k.augment(gone, "add", 1)
                k.continue_()
            k.augment(x, "add", 1)
        k.assign(x, fn("max", x - r, 0))


def _as_int(value: Var) -> Expr:
    return cast(value, INT32)
