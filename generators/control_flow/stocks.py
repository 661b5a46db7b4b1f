"""Whole-number stocks, queues and tanks over rows of demands."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, Step, counter, rows_of, same, take
from generators.control_flow.params import with_struct
from generators.kit.functions import most
from generators.kit.sources import setting
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_STOCKS: dict[str, tuple[str, Callable[[Var, Var, Expr, Expr, Expr], list[Step]]]] = {
    "inventory": (
        "orders {q} more whenever fewer than {r} are left; what cannot be served is lost",
        lambda x, lost, d, q, r: [
            [(d > x, (lost, lost + (d - x)), (x, 0)), (None, (x, x - d))],
            [(x < r, (x, x + q))],
        ],
    ),
    "queue": (
        "serves up to {r} waiting customers per slot; those above {q} waiting leave",
        lambda x, lost, d, q, r: [
            (x, x + d),
            [(x > q, (lost, lost + (x - q)), (x, q))],
            (x, most(x - r, 0)),
        ],
    ),
    "tank": (
        "opens a valve of {r} per step whenever the level is above {q}",
        lambda x, lost, d, q, r: [(x, x + d), [(x > q, (x, x - r), (lost, lost + 1))]],
    ),
    "parking": (
        "lets cars in while fewer than {q} are inside (others are lost), {r} leave per step",
        lambda x, lost, d, q, r: [(x, most(x - r, 0))],
    ),
}


@idiom
@with_struct
def stock_keeping(k: KernelBuilder, level: int) -> Title:
    """Whole-number stocks, queues and tanks over the steps of a row of demands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_STOCKS))
    text, steps = _STOCKS[form]
    type_ = Scalar(shape.weighted({"int32": 5, "int64": 2, "int16": 1}))
    s, demand, count = rows_of(k, "demand arrivals inflow", type_, 0, 12, "num_steps num_days")
    start = s.read("stock initial", type_, 4, 18) if shape.chance(0.6) else k.lift(9, type_)
    q = setting(k, "capacity order_size limit", type_, 14, 20)
    r = setting(k, "served reorder_point outflow", type_, 4, 7)
    out = s.out("final left_over", type_)
    lost = Also(s, 0.7, "lost turned_away events", type_)
    trace = Also(s, 0.0 if level < 3 else 0.5, "history levels", type_, "cols")
    holiday = None
    if level >= 3 and shape.chance(0.5):
        holiday = s.read("closed_on holiday", INT32, 0, 9)
    article = "an" if form == "inventory" else "a"
    done = f"Each row of {demand.name} drives {article} {form} from {say(k, start)} that "
    done += f"{text.format(q=say(k, q), r=say(k, r))}; what is left goes to {out.name}."
    x, gone = k.let("x on_hand level", start), counter(k, "gone missed", type_)
    with k.for_("t day j", count) as t:
        if holiday is not None:
            with k.if_(same(t, holiday)):
                trace.put(x, t)
                k.continue_()
        d = k.let("d wanted", demand[s.index(t)])
        if form == "parking":
            with k.for_("c car", cast(d, INT32)):
                with k.if_(x >= q):
                    k.augment(gone, "add", 1)
                    k.continue_()
                k.augment(x, "add", 1)
        take(k, *steps(x, gone, d, q, r))
        trace.put(x, t)
    k.store(out, s.at, x)
    done += lost.told("how often it opened" if form == "tank" else "what was lost", gone)
    done += trace.said("the level after each step")
    done += f" The step {say(k, holiday)} is left out." if holiday is not None else ""
    return Title(k.name(f"simulate_{form} run_{form} {form}_policy"), done)
