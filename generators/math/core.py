"""What is computed at one place: a formula, several, or the one that a code names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.kit.formulas import Formula, read_once
from generators.kit.formulas import keys_of as keys_of
from generators.kit.pieces import helper
from generators.math.scene import Scene
from generators.program.dtypes import Scalar
from generators.program.expr import Const, Expr, Var

_CODES = {"int32": 6, "uint8": 3, "int8": 2, "int16": 1, "uint16": 1, "uint32": 1, "int64": 1}
_CODES["uint64"] = 1


@dataclass
class Core:
    """Formulas that a kernel evaluates, with the helpers and the codes that it does that with."""

    cards: tuple[Formula, ...]
    helpers: dict[str, str]
    codes: Var | None = None
    code_axes: tuple[int, ...] = ()
    also: tuple[Formula, ...] = ()
    dispatcher: str = ""


def make_core(s: Scene, cards: Sequence[Formula], with_helpers: float) -> Core:
    """The formulas, each in a helper with this probability."""
    helpers = {c.name: _helper(s, c) for c in cards if s.k.draw.shape.chance(with_helpers)}
    return Core(tuple(cards), helpers)


def declare_codes(s: Scene, core: Core, axes: tuple[int, ...], dispatched: bool = False) -> None:
    """The array of codes; ``dispatched`` asks for a helper that chooses by them."""
    scalar = Scalar(s.k.draw.shape.weighted(_CODES))
    core.code_axes = axes
    names = s.family.kinds.split()
    core.codes = s.k.array(names, scalar, s.shape(axes), low=0, high=len(core.cards) - 1)
    plain = not set(core.helpers) & {c.name for c in core.cards}
    if dispatched or (plain and s.k.draw.shape.chance(0.08)):
        core.dispatcher = _dispatcher(s, core, scalar)


def _dispatcher(s: Scene, core: Core, scalar: Scalar) -> str:
    """A helper that returns early, from the formula that its first argument names."""
    keys = keys_of(core.cards)
    params = [(s.k.draw.word.choice(("kind", "mode", "code")), scalar), *_named(s, keys)]

    def build(body: BodyBuilder, code: Expr, *args: Expr) -> Expr:
        given = dict(zip(keys, args, strict=True))
        for number, card in enumerate(core.cards[:-1]):
            with body.if_(fn("eq", code, number)):
                body.return_(card.build(body, *(given[key] for key in card.keys)))
        last = core.cards[-1]
        return last.build(body, *(given[key] for key in last.keys))

    names = tuple(f"{name}_value" for name in s.family.titles.split()[:2])
    return helper(s.k, names, params, build)


def _helper(s: Scene, card: Formula) -> str:
    def build(body: BodyBuilder, *args: Expr) -> Expr:
        return card.build(body, *args)

    return helper(s.k, (card.name,), _named(s, card.keys), build)


def _named(s: Scene, keys: Sequence[str]) -> list[tuple[str, Scalar]]:
    """Parameters of a helper for these quantities."""
    table = {**s.family.inputs, **s.family.params}
    names: list[tuple[str, Scalar]] = []
    for key in keys:
        taken = {name for name, _ in names}
        free = [name for name in table[key].names if name not in taken]
        names.append((s.k.draw.word.choice(free or [key]), s.type))
    return names


def evaluate(s: Scene, core: Core, card: Formula, values: dict[str, Expr]) -> Expr:
    """The value of one formula, inline or by its helper."""
    args = [values[key] for key in card.keys]
    if card.name in core.helpers:
        return s.k.call(core.helpers[card.name], *args)
    return card.build(s.k, *args)


def at_place(s: Scene, core: Core) -> dict[str, Expr]:
    """What the formulas read, loaded at this place."""
    cards = (*core.cards, *core.also)
    return s.values(keys_of(cards), read_once(cards))


def chosen(s: Scene, core: Core, values: dict[str, Expr]) -> Expr:
    """The value of the formula that the code at this place names."""
    k, codes = s.k, core.codes
    assert codes is not None
    code: Expr = codes[tuple(s.place[a] for a in core.code_axes)]
    if core.dispatcher:
        return k.call(core.dispatcher, code, *(values[key] for key in keys_of(core.cards)))
    if len(core.cards) > 2 or k.draw.shape.chance(0.4):
        code = k.let(("kind", "mode", "code", "which"), code)
    if len(core.cards) == 2 and k.draw.shape.chance(0.3):
        both = [evaluate(s, core, card, values) for card in core.cards]
        return fn("where", fn("eq", code, 0), both[0], both[1])
    start = k.lift(0.0, s.type)
    shared = set.intersection(*(set(card.outs.split()) for card in core.cards))
    value = k.let(("value", "result", *sorted(shared)), start)
    for number, card in enumerate(core.cards):
        if number == len(core.cards) - 1:
            with k.else_():
                k.assign(value, evaluate(s, core, card, values))
        else:
            with (k.elif_ if number else k.if_)(fn("eq", code, number)):
                k.assign(value, evaluate(s, core, card, values))
    return value


def card_text(s: Scene, card: Formula) -> str:
    return card.said({key: s.text(s.sources[key]) for key in card.keys})


def chosen_text(s: Scene, core: Core, ending: bool = False) -> str:
    """Which formula each code stands for; bare where this ends a sentence, else in brackets."""
    assert core.codes is not None
    what = core.codes.name
    if core.code_axes != s.everywhere:
        what += f"[{', '.join(s.index_name(axis) for axis in core.code_axes)}]"
    texts, shared = _shared([card_text(s, card) for card in core.cards])
    cases = [
        f"{n} is {_words(card)}, {text}"
        for n, (card, text) in enumerate(zip(core.cards, texts, strict=True))
    ]
    listed = "; ".join(cases) + shared
    return f"the formula that {what} selects{f': {listed}' if ending else f' ({listed})'}"


def _words(card: Formula) -> str:
    return card.name.replace("_", " ")


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


# The definition of a local at the end of a formula's text.
_DEFINED = re.compile(r" with ([a-z]\w* = [^=]*)$")


def named(k: KernelBuilder, card: Formula, value: Expr) -> Expr:
    """The value under a name of its own, now and then."""
    if isinstance(value, Var | Const) or k.draw.shape.chance(0.6):
        return value
    return k.let((*card.outs.split(), "value", "result", "now"), value)
