"""Kernels of a family's formulas: by element, by table, reduced over a row, summed over parts."""

from __future__ import annotations

from dataclasses import replace

from generators.build import KernelBuilder
from generators.build.registry import Title
from generators.kit.formulas import Formula
from generators.math.cards import Family
from generators.math.core import (
    Core,
    at_place,
    card_text,
    chosen,
    chosen_text,
    declare_codes,
    evaluate,
    keys_of,
    make_core,
    named,
)
from generators.math.declare import declare_inputs, declare_params
from generators.math.neighbours import neighbourhood
from generators.math.passes import bumped, two_passes
from generators.math.reduce import declare_reduction, reduced
from generators.math.scene import launch
from generators.math.stores import masked_body
from generators.program.expr import Expr

_FRAMES: dict[int, dict[str, int]] = {
    1: {"one": 1},
    2: {"one": 3, "masked": 3, "table": 2},
    3: {"masked": 2, "table": 2, "row": 3, "parts": 3, "choice": 3, "near": 2, "bump": 2},
    4: {"pair": 3, "choice": 4, "row": 3, "parts": 2, "near": 3, "passes": 3, "bump": 1},
    5: {"triple": 3, "choice": 6, "row": 4, "near": 2, "passes": 4},
}
_HELPED = {1: 0.0, 2: 0.1, 3: 0.45, 4: 0.22, 5: 0.15}
_PASSES = {"near": neighbourhood, "passes": two_passes, "bump": bumped}
_FORMULAS = {"pair": (2, 3), "triple": (3, 3, 4)}


def compose(k: KernelBuilder, level: int, family: Family) -> Title:
    """Draw one kernel of a family's formulas."""
    weights = dict(_FRAMES[level])
    if not family.parts:
        weights.pop("parts", None)
    if not family.reductions:
        weights.pop("row", None)
    if not family.smooth:
        weights.pop("bump", None)
    if not family.spatial:
        weights.pop("near", None)
    frame = k.draw.shape.weighted(weights)
    if frame in _PASSES:
        return _PASSES[frame](k, level, family)
    if frame in ("row", "parts"):
        return _looped(k, level, family, frame)
    return _by_element(k, level, family, frame)


def _drawn_cards(k: KernelBuilder, family: Family, count: int) -> list[Formula]:
    return k.draw.shape.sample(list(family.cards), min(count, len(family.cards)))


def _by_element(k: KernelBuilder, level: int, family: Family, frame: str) -> Title:
    """One thread for each element, or for each pair of an item and a setting."""
    shape = k.draw.shape
    count = shape.choice(_FORMULAS.get(frame, (1,)))
    if frame == "choice":
        count = {3: 2, 4: shape.integer(3, 4), 5: shape.integer(4, 5)}[level]
    cards = _drawn_cards(k, family, count + (level == 5 and frame == "choice"))
    main = min(count, len(cards) - (level == 5))
    keys = keys_of(cards)
    inputs = [key for key in keys if key in family.inputs]
    params = [key for key in keys if key in family.params]
    table = frame == "table" and bool(params)
    ndim = 2 if table else shape.weighted({1: 10, 2: 6, 3: 3, 4: 1})
    s = launch(k, family, ndim, table=table)
    s.place = s.threads
    whole = s.everywhere
    in_place = frame in ("one", "masked") and shape.chance(0.12) and len(inputs) == 1
    declare_inputs(s, inputs, (0,) if table else whole, shape.chance(0.2), in_place)
    if in_place:
        k.params[-1] = replace(k.params[-1], role="inout")
    declare_params(s, params, {(1,): 1} if table else _param_axes(ndim), must=table)
    core = make_core(s, cards, _HELPED[level])
    if frame == "choice":
        core.also = tuple(core.cards[main:])
        core.cards = tuple(core.cards[:main])
        declare_codes(s, core, _code_axes(k, whole))
    mask = frame == "masked" or (level >= 4 and shape.chance(0.7))
    done = masked_body(s, core, frame, mask, in_place)
    titles = family.titles.split()
    if frame != "choice":
        titles = [name for name in titles if "by_" not in name] or titles
    base = titles if len(cards) > 1 else _single_titles(cards[0], table)
    return Title(k.name(*base), done)


def _single_titles(card: Formula, table: bool) -> list[str]:
    if table:
        return [f"{card.name}_table", f"{card.name}_grid", f"tabulate_{card.name}"]
    return [f"{card.name}_kernel", f"eval_{card.name}", f"compute_{card.name}"]


def _param_axes(ndim: int) -> dict[tuple[int, ...], int]:
    if ndim == 1:
        return {(0,): 1}
    return {tuple(range(ndim)): 2, (ndim - 1,): 2, (0,): 1}


def _code_axes(k: KernelBuilder, whole: tuple[int, ...]) -> tuple[int, ...]:
    return whole[-1:] if len(whole) == 2 and k.draw.shape.chance(0.15) else whole


def _looped(k: KernelBuilder, level: int, family: Family, frame: str) -> Title:
    """One thread for each row or item, which runs over the entries or the parts."""
    shape = k.draw.shape
    outer = shape.weighted({1: 3, 2: 1})
    cards = _drawn_cards(k, family, {3: 1, 4: shape.integer(1, 2), 5: 3}[level])
    keys = keys_of(cards)
    inputs = [key for key in keys if key in family.inputs]
    params = [key for key in keys if key in family.params]
    parts = frame == "parts" and bool(params)
    inner = family.parts.split()[0] if parts else ("cols", "depth")[outer - 1]
    s = launch(k, family, outer, inner)
    last = (outer,)
    declare_inputs(s, inputs, tuple(range(outer)) if parts else s.everywhere, shape.chance(0.2))
    declare_params(s, params, {last: 1} if parts else {last: 2, (0,): 1}, must=parts)
    core = make_core(s, cards, _HELPED[level])
    if len(cards) > 1:
        declare_codes(s, core, s.everywhere)
    plan = declare_reduction(s, core, level, parts)

    def term() -> Expr:
        values = at_place(s, core)
        if core.codes is not None:
            return chosen(s, core, values)
        return named(k, core.cards[0], evaluate(s, core, core.cards[0], values))

    text = chosen_text(s, core) if core.codes is not None else card_text(s, cards[0])
    done = reduced(s, core, plan, term, text)
    return Title(k.name(*_loop_titles(family, core, plan.what)), done)


def _loop_titles(family: Family, core: Core, what: str) -> list[str]:
    if len(core.cards) > 1:
        return [f"{what}_{name}" for name in family.titles.split()]
    name = core.cards[0].name
    return [f"{what}_{name}", f"{name}_{what}", f"{name}_{what}_kernel"]
