"""Kernels that integrate a formula over one of its quantities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title
from generators.kit.formulas import Formula
from generators.kit.functions import where
from generators.kit.naming import local
from generators.kit.words import say
from generators.math.cards import Family
from generators.math.core import evaluate, make_core
from generators.math.scene import Scene, declare, launch
from generators.math.stores import out_names
from generators.program.expr import Expr, Var, op

_HELPED = {3: 0.4, 4: 0.5, 5: 0.6}
_RULES = {"midpoint": 4, "trapezoid": 3, "simpson": 2}
_TEXTS = {
    "midpoint": "by the midpoint rule with {} cells",
    "trapezoid": "by the trapezoid rule with {} cells",
    "simpson": "by Simpson's rule in each of {} cells",
}


def swept(k: KernelBuilder, level: int, family: Family) -> Title:
    """The integral of a formula over one of its quantities."""
    shape = k.draw.shape
    name, key = shape.choice(family.swept).split()
    card = next(card for card in family.cards if card.name == name)
    rest = [other for other in card.keys if other != key]
    s = launch(k, family.of([card]), shape.weighted({1: 3, 2: 1}))
    whole = s.everywhere
    declare(s, rest, whole, whole, must=not set(rest) & set(family.inputs))
    rule = shape.weighted(_RULES)
    core = make_core(s, [card], 1.0 if rule == "simpson" else _HELPED[level])
    bounds = _bounds(s, key)
    k.size("cells", 4, 9)
    count = k.size_param("num_cells steps num_steps", "cells")
    h = k.let("h cell_width", (bounds[1] - bounds[0]) / cast(count, s.type))
    values = {x: local(k, family.quantity(x).names, v) for x, v in s.values(rest).items()}
    out = k.out([f"{name}_integral" for name in out_names(k, card)], s.type, s.dims)
    sweep = _Sweep(s, family.quantity(key).names[0], bounds[0], h, count)
    total = sweep.run(rule, lambda x: evaluate(s, core, card, {**values, key: x}))
    k.store(out, s.place, total * h)
    return _title(s, card, sweep, rule, bounds[1], out)


def _bounds(s: Scene, key: str) -> tuple[Var, Var]:
    """From where to where a quantity runs."""
    q, k = s.family.quantity(key), s.k
    width, name = q.high - q.low, q.names[0]
    low = k.scalar((f"{name}_min", f"{name}_lo"), s.type, q.low, q.low + 0.25 * width)
    high = k.scalar((f"{name}_max", f"{name}_hi"), s.type, q.low + 0.6 * width, q.high)
    return low, high


@dataclass
class _Sweep:
    """A loop over the cells of a quantity: its name, lower bound, width and number of cells."""

    s: Scene
    name: str
    low: Expr
    h: Expr
    count: Expr

    def run(self, rule: str, at: Callable[[Expr], Expr]) -> Var:
        """The sum of the rule's values, still to be multiplied by the width."""
        k, type_ = self.s.k, self.s.type
        total = k.let("total acc integral", k.lift(0.0, type_))
        turns = self.count + 1 if rule == "trapezoid" else self.count
        with k.for_("q cell_id m", turns) as q:
            place = self._place(q, 0.0 if rule in ("trapezoid", "simpson") else 0.5)
            if rule == "midpoint":
                k.augment(total, "add", at(place))
            elif rule == "trapezoid":
                ends = op("or", fn("eq", q, 0), fn("eq", q, self.count))
                share = k.let("weight w share", where(ends, k.lift(0.5, type_), 1.0))
                k.augment(total, "add", share * at(place))
            else:
                middle = k.let(f"{self.name}_mid middle", place + 0.5 * self.h)
                right = k.let(f"{self.name}_right right", place + self.h)
                k.augment(total, "add", (at(place) + 4.0 * at(middle) + at(right)) / 6.0)
        return total

    def _place(self, q: Expr, shift: float) -> Var:
        """The quantity in one cell."""
        k, at = self.s.k, cast(q, self.s.type)
        at = at + shift if shift else at
        return k.let([f"{self.name}_at", f"{self.name}_q", "x_q"], self.low + at * self.h)


def _title(s: Scene, card: Formula, sweep: _Sweep, rule: str, high: Var, out: Var) -> Title:
    """What the kernel is called, and what it does."""
    k, low, count = s.k, say(s.k, sweep.low), say(s.k, sweep.count)
    span = f"{sweep.name} from {low} to {high.name}"
    texts = {key: s.text(key) if key in s.sources else sweep.name for key in card.keys}
    how = _TEXTS[rule].format(count)
    done = f"Set {out.name} to the integral over {span}, {how}, of {card.said(texts)}."
    what = s.family.about.get(card.name, "")
    what = what.split(" at a ")[0]
    done = f"Numerical integral of the {what}. {done}" if what else done
    return Title(k.name(f"integrate_{card.name} {card.name}_integral {card.name}_{rule}"), done)
