"""Draws one kernel of a ledger from the kit's parts."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.kit import Accumulation, Ledger, Place
from generators.build import KernelBuilder, fn
from generators.build.registry import Title
from generators.program.dtypes import INT32, Array, Scalar
from generators.program.expr import Expr, Var


def _start(kind: str, type_: Scalar) -> object:
    if kind in ("add", "sub"):
        return 0
    if type_.is_float:
        return "1.0e6" if kind == "min" else "-1.0e6"
    return 10**9 if kind == "min" else -(10**9)


_VERBS = {
    "add": "Add {0} of each entry to {1} at {2}",
    "sub": "Subtract {0} of each entry from {1} at {2}",
    "max": "Raise {1} at {2} to the largest {0} of its entries",
    "min": "Lower {1} at {2} to the smallest {0} of its entries",
}


def accumulate(k: KernelBuilder, level: int, ledger: Ledger) -> Title:
    """Draw one kernel of a ledger."""
    a = Accumulation(k, level, ledger)
    a.declare()
    shape_, element, where = a.targets()
    sums = k.accumulator(_sum_names(a), a.type, shape_, _start(a.kind, a.type))
    extra = _extra(a, shape_)
    if a.form == "strips":
        done = _strips(a, sums, extra, element, where)
    else:
        a.masked(a.place, k.return_)
        done = _one(a, sums, extra, a.place, element(a.place), where)
    return Title(k.name(*_titles(a)), f"{done}{a.mask_text}")


def _sum_names(a: Accumulation) -> tuple[str, ...]:
    """Names of the accumulator by what it keeps of which amount."""
    what = a.amount.name
    if a.kind in ("add", "sub"):
        return f"{what}_sum", f"total_{what}", *a.ledger.sums.split()
    return f"{a.kind}_{what}", f"{'largest' if a.kind == 'max' else 'smallest'}_{what}"


def _titles(a: Accumulation) -> tuple[str, ...]:
    """Names of the kernel by what it keeps of which amount."""
    what = a.amount.name
    if a.kind in ("add", "sub"):
        own = (f"sum_{what}", f"accumulate_{what}") if a.kind == "add" else (f"deduct_{what}",)
        return *own, *a.ledger.titles.split()
    return f"find_{a.kind}_{what}", f"reduce_{a.kind}_{what}", *a.ledger.titles.split()


Extra = tuple[str, Var] | None

_EVEN = frozenset({"total", "rows", "columns", "blocks", "volume"})
"""Targets that all have equally many entries, which nobody counts."""


def _extra(a: Accumulation, shape_: tuple[str, ...]) -> Extra:
    """A second accumulator: how many entries, or the sum of squares, or the extreme."""
    k, shape = a.k, a.k.draw.shape
    if not shape.chance({1: 0.1, 2: 0.25, 3: 0.5}.get(a.level, 0.75)):
        return None
    kinds = ("squares", "max", "min") if a.kind != "max" else ("min",)
    if a.form not in _EVEN:
        kinds = ("count", *kinds)
    kind = shape.choice(kinds)
    if kind == "count":
        return kind, k.accumulator(tuple(a.ledger.counts.split()), INT32, shape_)
    if kind == "squares":
        return kind, k.accumulator(("squares", "second_moment", "sq_sums"), a.type, shape_)
    names = ("largest", "peak", "upper") if kind == "max" else ("smallest", "lowest", "lower")
    return kind, k.accumulator(names, a.type, shape_, _start(kind, a.type))


_EXTRA_TEXT = {
    "count": "; count the entries in {0} at the same element",
    "squares": "; add its square to {0} at the same element",
    "max": "; keep the largest in {0} at the same element",
    "min": "; keep the smallest in {0} at the same element",
}


def _one(a: Accumulation, sums: Var, extra: Extra, place: Place, at: Place, where: str) -> str:
    """One atomic for each entry, and another for the second accumulator."""
    k = a.k
    a.loaded.clear()
    value = a.value(place, a.amount)
    limited = a.ledger.limit is not None and a.level >= 2 and k.draw.shape.chance(0.25)
    if (extra is not None and extra[0] != "count") or limited or k.draw.shape.chance(0.35):
        value = (
            value
            if isinstance(value, Var)
            else k.let(("amount", "value", "term", a.amount.name), value)
        )
    if (
        extra is not None
        and len(at) == 1
        and not isinstance(at[0], Var)
        and k.draw.shape.chance(0.8)
    ):
        at = (k.let(("g", "slot", "group", "target"), at[0]),)
    text = _VERBS[a.kind].format(a.shown(a.amount), sums.name, where)
    if a.others and not isinstance(at[-1], Var) and k.draw.shape.chance(0.8):
        at = (*at[:-1], k.let(("g", "slot", "group", "target"), at[-1]))
    if limited and a.ledger.limit is not None:
        low, high = a.ledger.limit
        limit = k.scalar(tuple(a.ledger.limits.split()), a.type, low, high)
        size = value if k.draw.shape.chance(0.5) else fn("abs", value)
        with k.if_(size > limit):
            text += _update(a, sums, extra, at, value)
        what = a.shown(a.amount)
        shown = what if size is value else f"|{what}|"
        text = f"Where {shown} exceeds {limit.name}: {text[0].lower()}{text[1:]}"
    else:
        text += _update(a, sums, extra, at, value)
    return f"{text}.{_others(a, sums, place, at)}"


def _others(a: Accumulation, sums: Var, place: Place, at: Place) -> str:
    """More amounts of the same entry, each with accumulators of its own."""
    k, done = a.k, ""
    for amount in a.others:
        if amount.name not in a.more:
            assert isinstance(sums.type, Array)
            dims = next(p.shape for p in k.params if p.name == sums.name)
            a.more[amount.name] = k.accumulator(
                (f"{amount.name}_sum", f"{amount.name}_total"), a.type, dims
            )
        value = a.value(place, amount)
        if k.draw.shape.chance(0.4) and not isinstance(value, Var):
            value = k.let((amount.name, "share", "part"), value)
        k.atomic("add", a.more[amount.name], at, value)
        done += f" Add {a.shown(amount)} to {a.more[amount.name].name} there."
    return done


def _update(a: Accumulation, sums: Var, extra: Extra, at: Place, value: Expr) -> str:
    k = a.k
    k.atomic(a.kind, sums, at, value)
    if extra is None:
        return ""
    kind, second = extra
    if kind == "count":
        k.atomic("add", second, at, 1)
    elif kind == "squares":
        k.atomic("add", second, at, value * value)
    else:
        k.atomic(kind, second, at, value)
    return _EXTRA_TEXT[kind].format(second.name)


def _strips(
    a: Accumulation, sums: Var, extra: Extra, element: Callable[[Place], Place], where: str
) -> str:
    """A thread for each row runs over its columns."""
    k = a.k
    cols = a.dims[1]
    count: Expr = k.trip_count(("num_cols", "width", "row_length"), cols)
    with k.for_(("j", "c", "col"), count) as j:
        place = (*a.place, j)
        a.masked(place, k.continue_)
        done = _one(a, sums, extra, place, element(place), where)
    return f"Each thread runs over the columns of its row. {done}"
