"""The body of a kernel without a loop over parts: outputs and stores."""

from __future__ import annotations

from collections.abc import Mapping

from generators.build import KernelBuilder
from generators.kit.formulas import Formula
from generators.math.core import Core, at_place, card_text, chosen, chosen_text, evaluate, named
from generators.math.scene import Scene
from generators.program.expr import Expr, Var

Outs = list[Var]


def stored_body(s: Scene, core: Core, frame: str, in_place: bool) -> str:
    """The body of a kernel without a loop; and what it does."""
    outs = _outputs(s, core, frame, in_place)
    return _stores(s, core, frame, outs, at_place(s, core))


def _outputs(s: Scene, core: Core, frame: str, in_place: bool) -> Outs:
    """The output of each formula (of all together for a choice)."""
    if in_place:
        source = next(x for x in s.sources.values() if isinstance(x.value, Var) and x.axes)
        assert isinstance(source.value, Var)
        return [source.value]
    found: Outs = []
    cards = core.cards if frame == "pair" else core.cards[:1]
    for card in cards:
        names = out_names(s.k, card)
        if frame == "choice" and card is cards[0]:
            names = ["out", "values", "result", "output"]
        found.append(s.k.out(names, s.type, s.dims))
    return found


def out_names(k: KernelBuilder, card: Formula) -> list[str]:
    """Names for the output of a formula: its own, and one with ``_out`` only when all are taken."""
    return [name for name in card.outs.split() if name not in k.used] or [f"{card.name}_out"]


def plain_outs(card: Formula) -> list[str]:
    """What the formula gives, as the rest of a longer name."""
    return [name.removesuffix("_out") for name in card.outs.split()]


def _stores(s: Scene, core: Core, frame: str, outs: Outs, values: Mapping[str, Expr]) -> str:
    """Evaluate and store; gives the sentences."""
    done: list[str] = []

    def store(out: Var, value: Expr, text: str) -> None:
        s.k.store(out, s.place, value)
        done.append(f"{out.name} gets {text}.")

    if frame == "choice":
        store(outs[0], chosen(s, core, values), chosen_text(s, core))
        return " ".join(done)
    for card, out in zip(core.cards, outs, strict=True):
        text = card_text(s, card)
        if frame == "pair" and card.name in s.family.about:
            text = f"{text}: {s.family.about[card.name]}"
        store(out, named(s.k, card, evaluate(s, core, card, values)), text)
    return " ".join(done)
