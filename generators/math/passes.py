"""Kernels that evaluate a formula twice: its slope by one of its quantities."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title
from generators.kit.naming import local
from generators.math.cards import Family
from generators.math.core import Prepared, card_text, evaluate, prepared
from generators.math.scene import Source
from generators.math.stores import out_names
from generators.program.expr import Const, Expr, Var

_BUMPED = ("{0}_up value_up {0}_down value_down value_here", "{0}_hi f_hi {0}_lo f_lo f_mid")


def bumped(k: KernelBuilder, level: int, family: Family) -> Title:
    """The slope of a formula by one of its quantities, from differences."""
    shape = k.draw.shape
    by = family.slopes.split()
    named = family.sloped.split()
    known = [card for card in family.cards if not named or card.name in named]
    card = shape.choice([card for card in known if {*card.keys} & {*by}])
    ndim = 1 if family.flat else shape.weighted({1: 3, 2: 2})
    found = prepared(k, family, card, ndim, helped=1.0)
    s = found.s
    key = shape.choice([x for x in card.keys if x in by])
    if isinstance(s.sources[key].value, Const):
        q = family.quantity(key)
        s.sources[key] = Source(q, k.scalar(s.style(q.names), s.type, q.low, q.high))
    bounds = family.quantity(key)
    step = float(f"{0.02 * (bounds.high - bounds.low):.0e}")
    central = level > 3 or shape.chance(0.6)
    slopes = k.out("slopes sensitivity gradient_out", s.type, s.dims)
    report = k.out(out_names(k, card), s.type, s.dims) if level > 3 else None
    values = {x: local(k, family.quantity(x).names, v) for x, v in s.values(card.keys).items()}
    k.store(slopes, s.threads, _slope(found, key, values, step, central))
    sides = "(f(up) - f(down)) / (2 * h)" if central else "(f(up) - f) / h"
    done = f"Set {slopes.name} to the slope {sides} of {card_text(s, card)}, where {s.text(key)} is"
    done += f" moved by h = {step}{' both ways' if central else ' up'}."
    if report is not None:
        k.store(report, s.threads, evaluate(s, found.core, card, values))
        done += f" {report.name} gets the value itself."
    done = family.introduced(card, done)
    return Title(k.name(f"{card.name}_slope {card.name}_sensitivity bump_{card.name}"), done)


def _slope(found: Prepared, key: str, values: dict[str, Var], step: float, central: bool) -> Expr:
    """The difference of two values of the formula, over that of the quantity."""
    s, k, card = found.s, found.s.k, found.core.cards[0]
    names = k.draw.word.choice(_BUMPED).format(values[key].name).split()
    bump = k.let("bump h_step", k.lift(step, s.type))

    def at(name: str, value: Expr) -> Var:
        return k.let(name, evaluate(s, found.core, card, {**values, key: value}))

    up = at(names[1], k.let(names[0], values[key] + bump))
    if central:
        down = at(names[3], k.let(names[2], values[key] - bump))
        return (up - down) / (2.0 * bump)
    return (up - at(names[4], values[key])) / bump
