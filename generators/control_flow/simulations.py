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
    take,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.sites import Site
from generators.kit.words import say
from generators.program.dtypes import Scalar
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
    "order_up_to": (
        "serves the demand as far as it can (the rest is lost), then, if no more than {r} are "
        "left, orders up to {q}",
        lambda x, lost, d, q, r: [
            [(d > x, (lost, lost + (d - x)), (x, 0)), (None, (x, x - d))],
            [(x <= r, (x, q))],
        ],
    ),
    "backlog": (
        "serves the demand, what is short being owed (a negative stock), then takes in {q} more if "
        "the stock is below {r}",
        lambda x, lost, d, q, r: [
            (x, x - d),
            [(x < 0, (lost, lost + 1))],
            [(x < r, (x, x + q))],
        ],
    ),
    "token_bucket": (
        "refills its tokens by {r}, to {q} at most, then serves the requests as far as there are "
        "tokens, one for each (the others are denied)",
        lambda x, lost, d, q, r: [
            (x, least(x + r, q)),
            [(d > x, (lost, lost + (d - x)), (x, 0)), (None, (x, x - d))],
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
        "takes the inflow and, where the level is then above {q}, is lowered by {r}",
        lambda x, lost, d, q, r: [(x, x + d), [(x > q, (x, x - r), (lost, lost + 1))]],
    ),
    "parking_lot": (
        "lets cars in up to {q} inside (the others are turned away), then up to {r} leave",
        lambda x, lost, d, q, r: [(x, most(x - r, 0))],
    ),
}


_FLOWS = {
    "order_up_to": "demand daily_demand",
    "backlog": "demand daily_demand",
    "token_bucket": "requests",
    "inventory": "demand daily_demand",
    "queue": "arrivals",
    "tank": "inflow",
    "parking_lot": "cars",
}
_LIMITS = {
    "order_up_to": "order_up_to max_stock",
    "backlog": "order_size batch_size",
    "token_bucket": "bucket_size burst",
    "inventory": "order_size",
    "queue": "capacity max_waiting",
    "tank": "limit max_level",
    "parking_lot": "capacity num_places",
}
_RATES = {
    "order_up_to": "reorder_point",
    "backlog": "reorder_point",
    "token_bucket": "refill refill_rate",
    "inventory": "reorder_point",
    "queue": "service_rate served_per_step",
    "tank": "outflow release_amount",
    "parking_lot": "max_exits exits_per_step",
}
"""What comes in, what bounds the stock, and what goes out or is tested, by what they are there."""


_ARTICLES = {
    "order_up_to": "an inventory that is refilled to a level",
    "backlog": "an inventory with a backlog",
    "token_bucket": "a rate limiter by a token bucket",
    "inventory": "an inventory",
    "queue": "a queue",
    "tank": "a tank",
    "parking_lot": "a parking lot",
}
_OUTS = {
    "inventory": "final_stock stock_left",
    "order_up_to": "final_stock stock_left",
    "backlog": "final_stock net_stock",
    "token_bucket": "tokens_left final_tokens",
    "queue": "queue_length still_waiting",
    "tank": "final_level level_out",
    "parking_lot": "cars_left final_occupancy",
}
_TIMES = {"inventory": "num_days", "order_up_to": "num_days", "backlog": "num_days"}
_LOCALS = {
    "inventory": "stock on_hand",
    "order_up_to": "stock on_hand",
    "backlog": "stock net",
    "token_bucket": "tokens available",
    "queue": "waiting queue_len",
    "tank": "level water",
    "parking_lot": "parked occupied",
}
_INS = {
    "inventory": "wanted d",
    "order_up_to": "wanted d",
    "backlog": "wanted d",
    "token_bucket": "asked count",
    "queue": "arriving new",
    "tank": "incoming added",
    "parking_lot": "arriving new_cars",
}
_LOST_OUTS = {
    "inventory": "lost_sales lost_demand",
    "order_up_to": "lost_sales lost_demand",
    "backlog": "backlog_steps short_steps",
    "token_bucket": "denied num_denied",
    "queue": "turned_away num_left",
    "tank": "num_releases openings",
    "parking_lot": "turned_away rejected",
}
_COUNTERS = {
    "inventory": "missed lost",
    "order_up_to": "missed lost",
    "backlog": "short num_short",
    "token_bucket": "num_denied refused",
    "queue": "num_left left",
    "tank": "releases num_opened",
    "parking_lot": "num_rejected full",
}
"""The local of what is counted beside the stock."""
_STOCKED = frozenset({"inventory", "order_up_to", "backlog"})
"""What is stored, what is stored of what was lost, and what begins with some stock."""
_LOST = {
    "order_up_to": "the demand that was lost",
    "backlog": "the number of steps that ended their sales with a backlog",
    "token_bucket": "how many requests were denied",
    "inventory": "the demand that was lost",
    "queue": "how many left",
    "tank": "how often it was lowered",
    "parking_lot": "how many were turned away",
}
"""What a stock is called, and what is counted beside it."""


def _first_stock(s: Site, form: str, type_: Scalar, full: Expr) -> Expr:
    """What is there at first: of an inventory a number, a full bucket, else nothing."""
    if form == "token_bucket":
        return full
    if form not in _STOCKED:
        return s.k.lift(0, type_)
    if s.k.draw.shape.chance(0.6):
        return s.read("initial_stock stock0", type_, 0, 14)
    return s.k.scalar("initial_stock", type_, 2, 10)


@idiom(depth=3)
@with_struct
def stock_keeping(k: KernelBuilder, level: int) -> Title:
    """Whole-number stocks, queues and tanks over the steps of a row of demands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_STOCKS))
    text, steps = _STOCKS[form]
    type_ = Scalar(shape.weighted({"int32": 6, "int64": 1}))
    s, demand, count = rows_of(k, _FLOWS[form], type_, 0, 12, _TIMES.get(form, "num_steps"))
    most_in = {"parking_lot": (10, 15), "token_bucket": (8, 12)}.get(form, (14, 20))
    q = k.scalar(_LIMITS[form], type_, *most_in)
    r = k.scalar(_RATES[form], type_, 4, 7)
    start = _first_stock(s, form, type_, q)
    out = s.out(_OUTS[form], type_)
    # A backlog always counts its steps; orders up to a level soon hide what was there at first.
    lost = Also(s, {"backlog": 1.0, "order_up_to": 0.9}.get(form, 0.7), _LOST_OUTS[form], type_)
    trace = Also(s, 0.0 if level < 2 else 0.4, "level_history levels", type_, "cols")
    done = f"Simulate {_ARTICLES[form]} over each row of {demand.name}: it begins "
    first = f"with {say(k, start)}" if form in _STOCKED else "empty"
    first = "full" if form == "token_bucket" else first
    done += f"{first} and, at each step, {text.format(q=say(k, q), r=say(k, r))}; "
    done += f"{out.name} gets what is there at the end."
    x, gone = k.let(_LOCALS[form], start), counter(k, _COUNTERS[form], type_)
    with k.for_("day" if form in _TIMES else "t step", count) as t:
        d = k.let(_INS[form], demand[s.index(t)])
        if form == "parking_lot":
            room = k.let("admitted entering", least(d, q - x))
            take(k, (gone, gone + (d - room)), (x, x + room))
        take(k, *steps(x, gone, d, q, r))
        trace.put(x, t)
    k.store(out, s.at, x)
    done += lost.told(_LOST[form], gone)
    done += trace.said("the level after each step")
    return Title(k.name(f"simulate_{form} run_{form} {form}_policy"), done)
