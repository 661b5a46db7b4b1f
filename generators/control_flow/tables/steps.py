"""Steps over one large table: a thread for each cell that the step before allows."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, extent
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, index, same, some
from generators.kit.functions import least, most, where
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var


def _numbers(k: KernelBuilder) -> Scalar:
    """The type of costs and values."""
    return k.draw.shape.choice((INT32, FLOAT32, FLOAT32))


def _span(type_: Scalar, low: float, high: float) -> tuple[object, object]:
    return (int(low), int(high)) if type_.is_int else (low, high)


_GOALS = {
    "value": ("Update a knapsack's table of values for one item", "the larger of"),
    "cost": ("Update the least cost of each total weight for one item", "the lesser of"),
    "ways": ("Update how many choices have each total weight for one item", "the sum of"),
}


@dataclass
class _Offer:
    """A thread's place in the table before items are offered, and what is sought."""

    k: KernelBuilder
    goal: str
    type: Scalar
    lead: tuple[str, ...]
    outer: tuple[Expr, ...]
    across: bool
    c: Var
    before: Var
    best: Var

    def at(self, c: Expr) -> tuple[Expr, ...]:
        return (c, *self.outer) if self.across else (*self.outer, c)

    @property
    def worth(self) -> bool:
        """Whether items have values; where ways are counted, they have none."""
        return self.goal != "ways"

    @property
    def worths(self) -> str:
        """Names of what items are worth, or cost."""
        return "item_costs costs" if self.goal == "cost" else "item_values values"

    def better(self, there: Expr) -> Expr:
        return there < self.best if self.goal == "cost" else there > self.best

    def take(self, there: Expr, taken: Var | None, e: Expr | None) -> None:
        """What one more way to fill the room changes."""
        k = self.k
        if taken is None:
            joined = {"cost": least, "value": most}.get(self.goal)
            k.assign(self.best, joined(self.best, there) if joined else self.best + there)
            return
        there = k.let("total candidate", there)
        with k.if_(self.better(there)):
            k.assign(self.best, there)
            k.assign(taken, k.lift(0, INT32) if e is None else e)

    def with_item(self, room: Expr, value: Expr | None) -> Expr:
        """The best of what is left, with an item."""
        rest = self.before[self.at(room)]
        return rest if value is None else rest + value


@idiom
def knapsack_row(k: KernelBuilder, level: int) -> Title:
    """A row of the knapsack's table once an item, or one of a group, is offered (Martello and Toth,
    Knapsack Problems, 1990)."""
    shape = k.draw.shape
    goal = shape.choice(("value", "value", "cost", "ways"))
    type_ = Scalar("int64") if goal == "ways" else _numbers(k)
    batched, across = shape.chance(0.3 + 0.08 * level), shape.chance(0.4)
    lead: tuple[str, ...] = ()
    if batched:
        k.size("batch", 3, 5)
        lead = ("batch",)
    k.size("capacities", *((12, 18) if batched else (40, 60)))
    dims = ("capacities", *lead) if across else (*lead, "capacities")
    words = [k.name("c room capacity"), *([k.name("b problem")] if batched else [])]
    at = k.thread(*dims, names=words if across else words[::-1])
    c, outer = (at[0], at[1:]) if across else (at[-1], at[:-1])
    low, high = _span(type_, 1.0, 20.0)
    names = k.draw.word.choice((("before", "after"), ("prev_row", "next_row")))
    before = k.array(names[0], type_, dims, low=low, high=high)
    out = k.out(names[1], type_, dims)
    best = k.let("ways" if goal == "ways" else "best", before[at])
    o = _Offer(k, goal, type_, lead, outer, across, c, before, best)
    several = level > 1 and shape.chance(0.6)
    traced = goal != "ways" and several and shape.chance(0.5)
    taken = k.let("taken choice", k.lift(-1, INT32)) if traced else None
    said = _several(o, taken) if several else _one(o)
    k.store(out, at, best)
    first, each = _GOALS[goal]
    if several:
        first = first.replace("one item", "a group of items, of which one at most is taken")
        each = each.replace("larger", "largest").replace("lesser", "least")
    whose = " of each problem" if batched else ""
    text = f"{first}: for each capacity c{whose}, {out.name}[c] gets {each} {before.name}[c] and, "
    text += f"{said}."
    if taken is not None:
        choice = k.out("chosen picks", INT32, dims)
        k.store(choice, at, taken)
        text += f" {choice.name} gets the index of the item taken, -1 for none."
    titles = {"value": "knapsack_row knapsack_step", "cost": "min_cost_step cheapest_fill"}
    return Title(k.name(titles.get(goal, "count_ways_step count_choices")), text)


def _one(o: _Offer) -> str:
    """The one item that is offered, or each problem's own; in words."""
    k, (low, high) = o.k, _span(o.type, 1.0, 4.0)
    v: Expr | None = None
    if o.lead:
        weights = k.array("item_weights weights", INT32, o.lead, low=2, high=9)
        w = k.let("w need", weights[o.outer])
        said = f"where the problem's weight w = {weights.name} is at most c, {o.before.name}[c - w]"
        if o.worth:
            values = k.array(o.worths, o.type, o.lead, low=low, high=high)
            v, said = values[o.outer], f"{said} + its {values.name}"
    else:
        w = k.scalar("weight item_weight", INT32, 2, 9)
        said = f"where {w.name} <= c, {o.before.name}[c - {w.name}]"
        if o.worth:
            names = "price item_cost" if o.goal == "cost" else "gain item_value"
            gain = v = k.scalar(names, o.type, low, high)
            said += f" + {gain.name}"
    if k.draw.shape.chance(0.5):
        left = k.let("rest remaining", o.c - w)
        with k.if_(left >= 0):
            o.take(o.with_item(left, v), None, None)
    else:
        with k.if_(o.c >= w):
            o.take(o.with_item(o.c - w, v), None, None)
    return said


def _several(o: _Offer, taken: Var | None) -> str:
    """A loop over the items of a group, of which one may be taken; in words."""
    k = o.k
    k.size("objects", 5, 7)
    shared = not o.lead
    dims = ("objects",) if shared else (*o.lead, "objects")
    low, high = _span(o.type, 1.0, 4.0)
    weights = k.array("weights item_weights", INT32, dims, low=2, high=12)
    values = k.array(o.worths, o.type, dims, low=low, high=high) if o.worth else None
    count = k.size_param("num_items item_count", "objects")
    skips = k.draw.shape.chance(0.4)
    with k.for_("e item", count) as e:
        at = (e,) if shared else (*o.outer, e)
        w = k.let("w need", weights[at])
        if skips:
            with k.if_(w > o.c):
                k.continue_()
            o.take(o.with_item(o.c - w, values[at] if values else None), taken, e)
        else:
            with k.if_(w <= o.c):
                o.take(o.with_item(o.c - w, values[at] if values else None), taken, e)
    own = "" if shared else " of the problem"
    said = f"for each item e{own} with {weights.name}[e] <= c, {o.before.name}[c - "
    return f"{said}{weights.name}[e]]{f' + {values.name}[e]' if values else ''}"


_RULES = {
    "edit": (
        "the table of edit distances",
        "the least of 1 + {t}[i - 1, j], 1 + {t}[i, j - 1] and {t}[i - 1, j - 1] + (1 where the "
        "symbols differ)",
    ),
    "lcs": (
        "the table of longest common subsequences",
        "{t}[i - 1, j - 1] + 1 where the symbols are equal, else the larger of {t}[i - 1, j] and "
        "{t}[i, j - 1]",
    ),
    "global": (
        "the table of a global alignment",
        "the largest of {t}[i - 1, j - 1] + {m} (- {m} where the symbols differ), "
        "{t}[i - 1, j] - {g} and {t}[i, j - 1] - {g}",
    ),
}


@idiom
def wavefront_step(k: KernelBuilder, level: int) -> Title:
    """One anti-diagonal of an alignment's table: all its cells at once."""
    shape = k.draw.shape
    k.size("rows", 20, 28, minimum=6)
    k.size("cols", 22, 30, minimum=6)
    batched = shape.chance(0.1 + 0.1 * level)
    lead: tuple[str, ...] = ()
    if batched:
        k.size("batch", 3, 5)
        lead = ("batch",)
    names = (k.name("b pair"),) if batched else ()
    *outer, t = k.thread(*lead, "rows", names=(*names, k.name("t lane")))
    table = k.array(
        "table dp scores", INT32, (*lead, "rows+1", "cols+1"), role="inout", low=0, high=6
    )
    x, y = _texts(k, lead)
    diagonal = k.scalar("wave wave_index step", INT32, 14, 19)
    place = tuple(outer)
    upward = shape.chance(0.4)
    words = k.draw.word.choice((("i", "j"), ("row", "col")))
    i: Expr = k.let(words[0], t + 1)
    j = k.let(words[1], diagonal - t if not upward else diagonal - i + 1)
    width = k.size_param("num_cols width", "cols") if shape.chance(0.5) else None
    last: Expr = width if width is not None else k.let("n_cols", extent(y, len(lead)))
    if shape.chance(0.5):
        with k.if_(_outside(j, last)):
            k.return_()
        rule = _cell(k, table, place, i, j, (x, y))
    else:
        with k.if_(both(j >= 1, j <= last)):
            rule = _cell(k, table, place, i, j, (x, y))
    return Title(
        k.name("wavefront_step fill_antidiagonal", "alignment_wavefront"),
        f"Fill one anti-diagonal, i + j = {diagonal.name} + 1, of {_RULES[rule][0]} of {x.name} "
        f"and {y.name}: thread {t.name} has row i = {t.name} + 1 and, where that cell exists, "
        f"{table.name}[i, j] becomes {_told(k, rule, table)}. The symbols of cell (i, j) are "
        f"{x.name}[i - 1] and {y.name}[j - 1].",
    )


def _texts(k: KernelBuilder, lead: tuple[str, ...]) -> tuple[Var, Var]:
    """The two texts of a table: one symbol for each row, and one for each column."""
    kind = k.draw.shape.choice((INT32, INT32, Scalar("uint8")))
    names = k.draw.word.choice((("x", "y"), ("query", "target"), ("seq_a", "seq_b")))
    x, y = (
        k.array(name, kind, (*lead, size), low=0, high=3)
        for name, size in zip(names, ("rows", "cols"), strict=True)
    )
    return x, y


def _told(k: KernelBuilder, rule: str, table: Var) -> str:
    """How a cell follows from its neighbours, in words."""
    costs = [p.name for p in k.params if p.name in _COSTS]
    names = {"t": table.name, "g": "", "m": ""}
    if costs:
        names |= {"g": costs[0], "m": costs[1]}
    return _RULES[rule][1].format(**names)


_COSTS = ("gap_cost", "gap", "match_score", "reward")


def _outside(j: Expr, last: Expr) -> Expr:
    """Whether the table has no such column."""
    return some(j < 1, j > last)


def _cell(
    k: KernelBuilder,
    table: Var,
    place: tuple[Expr, ...],
    i: Expr,
    j: Expr,
    texts: tuple[Var, Var],
) -> str:
    """Store a cell from its three neighbours; the name of the rule."""
    shape = k.draw.shape
    rule = shape.choice(tuple(_RULES))
    up: Expr = table[index(*place, i - 1, j)]
    left: Expr = table[index(*place, i, j - 1)]
    corner: Expr = table[index(*place, i - 1, j - 1)]
    if shape.chance(0.5):
        words = k.draw.word.choice((("up", "left", "diag"), ("above", "before", "corner")))
        up, left, corner = (k.let(*e) for e in zip(words, (up, left, corner), strict=True))
    equal = same(texts[0][index(*place, i - 1)], texts[1][index(*place, j - 1)])
    if rule == "edit":
        kept = corner + where(equal, k.lift(0, INT32), k.lift(1, INT32))
        k.store(table, index(*place, i, j), least(kept, least(up, left) + 1))
    elif rule == "lcs" and shape.chance(0.5):
        k.store(table, index(*place, i, j), where(equal, corner + 1, most(up, left)))
    elif rule == "lcs":
        with k.if_(equal):
            k.store(table, index(*place, i, j), corner + 1)
        with k.else_():
            k.store(table, index(*place, i, j), most(up, left))
    else:
        gap = k.scalar("gap_cost gap", INT32, 1, 2)
        match = k.scalar("match_score reward", INT32, 1, 3)
        score = corner + where(equal, match, -match)
        k.store(table, index(*place, i, j), most(score, most(up, left) - gap))
    return rule
