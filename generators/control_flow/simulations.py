"""Simulations of stocks: inventories, queues, tanks, parking lots over rows of what comes in."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    Also,
    Step,
    counter,
    rows_of,
    same,
    take,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.sites import Site
from generators.kit.sources import setting
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_STOCKS: dict[str, tuple[str, Callable[[Var, Var, Expr, Expr, Expr], list[Step]]]] = {
    "inventory": (
        "serves the demand as far as it can (the rest is lost), then takes in {q} more if fewer "
        "than {r} are left",
        lambda x, lost, d, q, r: [
            [(d > x, (lost, lost + (d - x)), (x, 0)), (None, (x, x - d))],
            [(x < r, (x, x + q))],
        ],
    ),
    "queue": (
        "takes in the arrivals, of whom those beyond {q} waiting leave, then serves up to {r}",
        lambda x, lost, d, q, r: [
            (x, x + d),
            [(x > q, (lost, lost + (x - q)), (x, q))],
            (x, most(x - r, 0)),
        ],
    ),
    "tank": (
        "takes the inflow and, where the level is then above {q}, lets {r} out",
        lambda x, lost, d, q, r: [(x, x + d), [(x > q, (x, x - r), (lost, lost + 1))]],
    ),
    "parking_lot": (
        "lets cars in up to {q} inside (the others are turned away), then up to {r} leave",
        lambda x, lost, d, q, r: [(x, most(x - r, 0))],
    ),
}


_FLOWS = {
    "inventory": "demand orders",
    "queue": "arrivals",
    "tank": "inflow",
    "parking_lot": "cars",
}
_LIMITS = {
    "inventory": "order_size",
    "queue": "capacity max_waiting",
    "tank": "limit max_level",
    "parking_lot": "capacity num_places",
}
_RATES = {
    "inventory": "reorder_point",
    "queue": "served per_slot",
    "tank": "outflow drained",
    "parking_lot": "leaving max_exits",
}
"""What comes in, what bounds the stock, and what goes out or is tested, by what they are there."""


_ARTICLES = {
    "inventory": "an inventory",
    "queue": "a queue",
    "tank": "a tank",
    "parking_lot": "a parking lot",
}
_LOST = {
    "inventory": "what was lost",
    "queue": "how many left",
    "tank": "how often it opened",
    "parking_lot": "how many were turned away",
}
"""What a stock is called, and what is counted beside it."""


def _first_stock(s: Site, form: str, type_: Scalar) -> Expr:
    """What is there at first: of an inventory a number, else nothing."""
    if form != "inventory":
        return s.k.lift(0, type_)
    if s.k.draw.shape.chance(0.6):
        return s.read("stock initial", type_, 4, 18)
    return s.k.scalar("initial_level", type_, 7, 11)


@idiom(depth=3)
@with_struct
def stock_keeping(k: KernelBuilder, level: int) -> Title:
    """Whole-number stocks, queues and tanks over the steps of a row of demands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_STOCKS))
    text, steps = _STOCKS[form]
    type_ = Scalar(shape.weighted({"int32": 5, "int64": 2, "int16": 1}))
    s, demand, count = rows_of(k, _FLOWS[form], type_, 0, 12, "num_steps num_days")
    start = _first_stock(s, form, type_)
    most_in = (10, 15) if form == "parking_lot" else (14, 20)
    q = setting(k, _LIMITS[form], type_, *most_in, 0.85)
    r = setting(k, _RATES[form], type_, 4, 7, 0.85)
    out = s.out("final left_over", type_)
    lost = Also(s, 0.7, "lost turned_away events", type_)
    trace = Also(s, 0.0 if level < 3 else 0.5, "history levels", type_, "cols")
    closes = level >= 3 and shape.chance(0.5)
    holiday = s.read("closed_on holiday", INT32, 0, 9) if closes else None
    done = f"Simulate {_ARTICLES[form]} along each row of {demand.name}: it begins "
    first = f"with {say(k, start)}" if form == "inventory" else "empty"
    done += f"{first} and, at each step, {text.format(q=say(k, q), r=say(k, r))}; "
    done += f"{out.name} gets what is there at the end."
    x, gone = k.let("level stock_now held", start), counter(k, "gone missed", type_)
    with k.for_("t day j", count) as t:
        if holiday is not None:
            with k.if_(same(t, holiday)):
                trace.put(x, t)
                k.continue_()
        d = k.let("d wanted", demand[s.index(t)])
        if form == "parking_lot":
            room = k.let("entering admitted", least(d, q - x))
            take(k, (gone, gone + (d - room)), (x, x + room))
        take(k, *steps(x, gone, d, q, r))
        trace.put(x, t)
    k.store(out, s.at, x)
    done += lost.told(_LOST[form], gone)
    done += trace.said("the level after each step")
    done += f" Nothing happens at step {say(k, holiday)}." if holiday is not None else ""
    return Title(k.name(f"simulate_{form} run_{form} {form}_policy"), done)
