"""Kernels that read a formula's parameters by an index, or gather its values over ragged rows."""

from __future__ import annotations

from dataclasses import replace

from generators.build import KernelBuilder, cast
from generators.build.registry import Title
from generators.kit.formulas import Formula, read_once
from generators.kit.functions import most
from generators.math.cards import Family
from generators.math.core import at_place, card_text, evaluate, make_core, named
from generators.math.scene import declare, launch
from generators.math.stores import out_names, plain_outs
from generators.program.dtypes import INT32
from generators.program.expr import Expr

_HELPED = {2: 0.1, 3: 0.3, 4: 0.5, 5: 0.6}
RAGGED = ("sum", "mean")
"""What is made of rows of several lengths."""
_PHRASES = {"sum": "the sum", "mean": "the mean"}
_EACH = 4
"""Entries that a ragged row has on average in the check."""


def with_own(family: Family) -> list[Formula]:
    """The formulas of an input and a parameter that differs, of which a table can be looked up."""
    inputs = set(family.inputs)
    return [c for c in family.cards if {*c.keys} & inputs and {*c.keys} & family.own]


def looked_up(k: KernelBuilder, level: int, family: Family) -> Title:
    """A formula whose parameters are those of the group that each element belongs to."""
    shape = k.draw.shape
    card = shape.choice(with_own(family))
    alone = family.flat or family.own_axis
    s = launch(k, family.of([card]), 1 if alone else shape.weighted({1: 4, 2: 2}))
    spans = s.everywhere if shape.chance(0.7) else s.everywhere[:1]
    dims = [s.dims[axis] for axis in spans]
    symbol = k.size("groups", 3, 5)
    ids = k.array(family.groups, INT32, dims, init=f"index_of:{symbol}")
    whole = s.everywhere
    s.dims = (*s.dims, symbol)
    s.loop = k.name("g group kind")
    declare(s, card.keys, whole, (len(whole),), must=True)
    core = make_core(s, [card], _HELPED[level])
    k.used.discard(s.loop)
    group = k.let(s.loop, ids[tuple(s.threads[axis] for axis in spans)])
    out = k.out(out_names(k, card), s.type, s.dims[:-1])
    s.place = (*s.threads, group)
    k.store(out, s.threads, named(k, card, evaluate(s, core, card, at_place(s, core))))
    said = f"{ids.name}[{', '.join(s.threads[axis].name for axis in spans)}]"
    done = f"Set {out.name} to {card_text(s, card)}, where {group.name} = {said}."
    kind = ids.name.removesuffix("_ids")
    kind = kind[:-1] if kind.endswith("_types") else kind
    names = f"{card.name}_by_{kind} {card.name}_by_group"
    return Title(k.name(names), family.introduced(card, done))


def segmented(k: KernelBuilder, level: int, family: Family) -> Title:
    """A formula's values added up, or their mean or largest, over each row of a ragged list."""
    shape = k.draw.shape
    card = shape.choice([c for c in family.rows if {*c.keys} & set(family.inputs)])
    s = launch(k, replace(family.of([card]), grids=("row|seg|r",)), 1)
    rows = s.dims[0]
    total = _EACH * k.sizes[rows].value
    entries = k.size("entries", total, total, minimum=total)
    names = "offsets row_starts indptr"
    starts = k.array(names, INT32, f"{rows}+1", init="sorted", low=0, high=total)
    s.dims, s.loop = (rows, entries), k.name("e j")
    own = (1,) if family.per_entry or shape.chance(0.3) else (0,)
    declare(s, card.keys, (1,), own, must=family.per_entry)
    core = make_core(s, [card], _HELPED[level])
    kinds = [r for r in family.reductions if r in RAGGED]
    how = shape.choice(kinds)
    words = {"sum": "total", "mean": "mean"}[how]
    out = k.out([f"{words}_{n}" for n in plain_outs(card)], s.type, rows)
    (row,) = s.threads
    first, stop = k.let("first begin", starts[row]), k.let("last end", starts[row + 1])
    gathered = k.let("total acc", k.lift(0.0, s.type))
    s.hoist(card.keys, read_once([card]))
    k.used.discard(s.loop)
    with k.for_(s.loop, stop, start=first) as entry:
        s.place = (row, entry)
        s.records.clear()
        value = named(k, card, evaluate(s, core, card, at_place(s, core)))
        k.augment(gathered, "add", value)
    result: Expr = gathered
    if how == "mean":
        result = gathered / cast(most(stop - first, 1), s.type)
    k.store(out, row, result)
    done = f"Rows of several lengths lie one after the other; row {row.name} has the entries "
    done += f"{s.loop} from {starts.name}[{row.name}] to {starts.name}[{row.name} + 1] - 1. "
    done += f"{out.name} gets {_PHRASES[how]} over the row's entries of {card_text(s, card)}; an "
    done += "empty row gets 0."
    done = family.introduced(card, done)
    return Title(k.name(f"segment_{how}_{card.name} ragged_{card.name} {card.name}_segments"), done)
