"""What is computed at one place: a formula, several, or the one that a code names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.kit.formulas import Formula, keys_of, read_once
from generators.kit.functions import where
from generators.kit.naming import helper, maybe
from generators.kit.words import plural
from generators.math.cards import Family
from generators.math.scene import Axes, Scene, declare, launch
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

_CODES = {"int32": 6, "uint8": 3}


@dataclass
class Core:
    """Formulas that a kernel evaluates.

    ``helpers`` names the helper of each formula that has one. Where there are ``codes``, an array
    over ``code_axes``, each names one of ``cards``, and ``dispatcher`` is the helper that chooses,
    if any.
    """

    cards: tuple[Formula, ...]
    helpers: dict[str, str]
    codes: Var | None = None
    code_axes: Axes = ()
    dispatcher: str = ""


def make_core(s: Scene, cards: Sequence[Formula], with_helpers: float) -> Core:
    """The formulas, each in a helper with this probability."""
    chance = s.k.draw.shape.chance
    helped = [card for card in cards if chance(with_helpers)]
    made = {c.name: helper(s.k, c.name, _named(s, c.keys), c.build) for c in helped}
    return Core(tuple(cards), made)


def declare_codes(s: Scene, core: Core, axes: Axes) -> None:
    """The array of codes, and now and then a helper that chooses by them."""
    scalar = Scalar(s.k.draw.shape.weighted(_CODES))
    core.code_axes = axes
    core.codes = s.array(s.family.kinds, scalar, axes, 0, len(core.cards) - 1)
    plain = not set(core.helpers) & {c.name for c in core.cards}
    if plain and s.k.draw.shape.chance(0.3):
        core.dispatcher = _dispatcher(s, core, scalar)


def _dispatcher(s: Scene, core: Core, scalar: Scalar) -> str:
    """A helper that returns early, from the formula that its first argument names."""
    keys, (*others, last) = keys_of(core.cards), core.cards
    params = [(s.k.draw.word.choice(("kind", "mode", "code")), scalar), *_named(s, keys)]

    def build(body: BodyBuilder, code: Expr, *args: Expr) -> Expr:
        values = dict(zip(keys, args, strict=True))
        for number, card in enumerate(others):
            with body.if_(fn("eq", code, number)):
                body.return_(card.of(body, values))
        return last.of(body, values)

    return helper(s.k, [f"{name}_value" for name in s.family.titles.split()[:2]], params, build)


def _named(s: Scene, keys: Sequence[str]) -> list[tuple[str, Scalar]]:
    """Parameters of a helper for these quantities."""
    names: dict[str, Scalar] = {}
    for key in keys:
        free = [name for name in s.family.quantity(key).names if name not in names]
        styled = [name for name in s.style(s.family.quantity(key).names) if name in free]
        names[(styled or free or [key])[0]] = s.type
    return list(names.items())


def evaluate(s: Scene, core: Core, card: Formula, values: Mapping[str, Expr]) -> Expr:
    """The value of one formula, inline or by its helper."""
    if card.name in core.helpers:
        return s.k.call(core.helpers[card.name], *(values[key] for key in card.keys))
    return card.of(s.k, values)


def at_place(s: Scene, core: Core) -> dict[str, Expr]:
    """What the formulas read, loaded at this place."""
    return s.values(keys_of(core.cards), read_once(core.cards))


def chosen(s: Scene, core: Core, values: Mapping[str, Expr]) -> Expr:
    """The value of the formula that the code at this place names."""
    k, codes, cards = s.k, core.codes, core.cards
    assert codes is not None
    code: Expr = codes[tuple(s.place[a] for a in core.code_axes)]
    if core.dispatcher:
        return k.call(core.dispatcher, code, *(values[key] for key in keys_of(cards)))
    if len(cards) > 2 or k.draw.shape.chance(0.4):
        code = k.let("kind mode code which", code)
    if len(cards) == 2 and k.draw.shape.chance(0.3):
        return where(fn("eq", code, 0), *(evaluate(s, core, card, values) for card in cards))
    shared = set.intersection(*(set(card.outs.split()) for card in cards))
    value = k.let(("value", "result", *sorted(shared)), k.lift(0.0, s.type))
    for number, card in enumerate(cards):
        test = fn("eq", code, number)
        last = number == len(cards) - 1
        with k.else_() if last else k.elif_(test) if number else k.if_(test):
            k.assign(value, evaluate(s, core, card, values))
    return value


def card_text(s: Scene, card: Formula) -> str:
    return card.said({key: s.text(key) for key in card.keys})


def chosen_text(s: Scene, core: Core) -> str:
    """Which formula each code stands for, at the end of a sentence."""
    assert core.codes is not None
    what = core.codes.name + s.indices(core.code_axes)
    texts, shared = _shared([card_text(s, card) for card in core.cards])
    cases = [
        f"{n} is {card.name.replace('_', ' ')}, {text}"
        for n, (card, text) in enumerate(zip(core.cards, texts, strict=True))
    ]
    listed = "; ".join(cases) + shared
    return f"the formula that {what} selects: {listed}"


_DEFINED = re.compile(r" with ([a-z]\w* = [^=]*)$")
"""The definition of a local at the end of a formula's text."""


def _shared(texts: list[str]) -> tuple[list[str], str]:
    """The texts without a definition that several of them end with; and that definition."""
    ends = [found[1] for text in texts if (found := _DEFINED.search(text))]
    most = max(ends, key=ends.count, default="")
    if ends.count(most) < 2:
        return texts, ""
    name = most.split(" = ")[0]
    short = [text.removesuffix(f" with {most}").rstrip(",") for text in texts]
    others = any(re.search(rf"\b{name} (=|is) ", text) for text in short)
    return short, f"; {most}{' where not said otherwise' if others else ''}"


def named(k: KernelBuilder, card: Formula, value: Expr) -> Expr:
    """The value under a name of its own, now and then."""
    names = [name.removesuffix("_out") for name in card.outs.split()]
    free = [n for n in names if n not in k.used and n not in map(plural, names)]
    return maybe(k, free, value, 0.3) if free else value


class Prepared(NamedTuple):
    """A launch with everything declared; what to evaluate at its place, and its text."""

    s: Scene
    core: Core
    term: Callable[[], Expr]
    text: str


def prepared(
    k: KernelBuilder,
    family: Family,
    card: Formula,
    ndim: int,
    inner: str = "",
    *,
    helped: float,
    parts: bool = False,
) -> Prepared:
    """A kernel of a formula, in which a loop runs over ``parts`` or the entries of a row.

    The formula is in a helper with the probability ``helped``.
    """
    s = launch(k, family.of([card]), ndim, inner)
    axes = s.everywhere[:-1] if parts else s.everywhere
    own = s.everywhere[-1:] if parts else s.everywhere[:1]
    own = s.everywhere if inner and family.per_entry else own
    declare(s, card.keys, axes, own, must=parts or bool(inner and family.per_entry))
    core = make_core(s, [card], helped)

    def term() -> Expr:
        s.records.clear()
        return named(k, card, evaluate(s, core, card, at_place(s, core)))

    return Prepared(s, core, term, card_text(s, card))
