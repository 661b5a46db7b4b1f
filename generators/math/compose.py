"""Kernels of a family's formulas: by element, by table, reduced over a row, summed over parts."""

from __future__ import annotations

from dataclasses import replace

from generators.build import KernelBuilder
from generators.build.registry import Title
from generators.kit.formulas import Formula, keys_of
from generators.math.cards import Family
from generators.math.core import declare_codes, make_core, prepared
from generators.math.lookups import RAGGED, looked_up, segmented, with_own
from generators.math.passes import bumped
from generators.math.reduce import declare_reduction, reduced
from generators.math.scene import declare, launch
from generators.math.stores import stored_body
from generators.math.sweeps import swept

_FRAMES: dict[int, dict[str, int]] = {
    1: {"one": 1},
    2: {"one": 6, "table": 1, "lookup": 1},
    3: {"one": 4, "table": 2, "row": 4, "parts": 5, "lookup": 2, "bump": 1, "choice": 2}
    | {"ragged": 3, "sweep": 4},
}
DEPTH = max(_FRAMES)
"""Beyond this level there is nothing more to a family of formulas."""
_HELPED = {1: 0.0, 2: 0.1, 3: 0.45}
_PASSES = {"bump": bumped, "sweep": swept, "lookup": looked_up, "ragged": segmented}


def compose(k: KernelBuilder, level: int, family: Family) -> Title:
    """Draw one kernel of a family's formulas."""
    needs: dict[str, object] = {
        "parts": family.parts,
        "row": family.reductions,
        "ragged": [how for how in family.reductions if how in RAGGED],
    }
    needs |= {"choice": family.selectable, "bump": family.slopes, "sweep": family.swept}
    needs["lookup"] = bool(family.groups) and with_own(family)
    needs["table"] = family.tabled
    weights = {frame: w for frame, w in _FRAMES[level].items() if needs.get(frame, True)}
    frame = k.draw.shape.weighted(weights)
    if frame in _PASSES:
        return _PASSES[frame](k, level, family)
    if frame in ("row", "parts"):
        return _looped(k, level, family, frame)
    return _by_element(k, level, family, frame)


def _by_element(k: KernelBuilder, level: int, family: Family, frame: str) -> Title:
    """One thread for each element, or for each pair of an item and a setting."""
    shape = k.draw.shape
    count = 3 if frame == "choice" else 1
    cards = family.drawn(k, count)
    keys = keys_of(cards)
    table = frame == "table" and any(key in family.own for key in keys)
    ways = {1: 1} if family.flat else family.forms
    ndim = 2 if table else shape.weighted(ways)
    s = launch(k, family.of(cards), ndim, table=table)
    whole, first, last = s.everywhere, s.everywhere[:1], s.everywhere[-1:]
    own = last if table else whole[-1:] if family.own_axis else first
    alone = sum(key in family.inputs for key in keys) == 1
    in_place = frame == "one" and family.replaces and shape.chance(0.2) and alone
    # Joints of one robot differ.
    must = table or (ndim > 1 and bool(family.own_axis))
    declare(s, keys, first if table else whole, own, must=must, plain=in_place)
    if in_place:
        k.params[0] = replace(k.params[0], role="inout")
    core = make_core(s, cards, _HELPED[level])
    if frame == "choice":
        declare_codes(s, core, last if ndim == 2 and shape.chance(0.15) else whole)
    done = stored_body(s, core, frame, in_place)
    if len(cards) == 1:
        done = family.introduced(cards[0], done)
        return Title(k.name(*_single_titles(cards[0], table)), done)
    return Title(k.name(*family.titles.split()), f"{family.whole} {done}".strip())


def _single_titles(card: Formula, table: bool) -> list[str]:
    if table:
        return [f"{card.name}_table", f"{card.name}_grid", f"tabulate_{card.name}"]
    return [card.name, f"{card.name}_kernel", f"compute_{card.name}"]


def _looped(k: KernelBuilder, level: int, family: Family, frame: str) -> Title:
    """One thread for each row or item, which runs over the entries or the parts."""
    shape = k.draw.shape
    outer = 1 if family.coded or family.flat else shape.weighted({1: 5, 2: 1})
    parts = frame == "parts"
    mixed = family.mixed.split()
    summed = [c for c in with_own(family) if not mixed or c.name in mixed]
    card = shape.choice(summed if parts else family.rows)
    inner = family.parts.split()[0] if parts else ("cols", "depth")[outer - 1]
    found = prepared(k, family, card, outer, inner, helped=_HELPED[level], parts=parts)
    plan = declare_reduction(found.s, parts, card)
    done = family.introduced(card, reduced(found, plan), parts)
    name, what = card.name, plan.what
    if parts:
        return Title(k.name(f"{name}_mixture", f"mixture_{name}", f"{name}_sum"), done)
    return Title(k.name(f"{what}_{name}", f"{name}_{what}", f"{name}_{what}_kernel"), done)
