"""The body of a kernel without a loop over parts: outputs and stores."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.kit.formulas import Formula
from generators.math.core import Core, at_place, card_text, chosen, chosen_text, evaluate, named
from generators.math.scene import Scene
from generators.program.expr import Var


def stored_body(s: Scene, core: Core, frame: str, in_place: bool) -> str:
    """The body of a kernel without a loop; and what it does."""
    (card, *_), chooses = core.cards, frame == "choice"
    if in_place:
        source = next(x for x in s.sources.values() if isinstance(x.value, Var) and x.axes)
        assert isinstance(source.value, Var)
        out = source.value
    else:
        out = s.k.out(
            ["out", "values", "output"] if chooses else out_names(s.k, card), s.type, s.dims
        )
    values = at_place(s, core)
    if chooses:
        s.k.store(out, s.place, chosen(s, core, values))
        return f"{out.name} gets {chosen_text(s, core)}."
    s.k.store(out, s.place, named(s.k, card, evaluate(s, core, card, values)))
    return f"{out.name} gets {card_text(s, card)}."


def out_names(k: KernelBuilder, card: Formula) -> list[str]:
    """Names for the output of a formula: its own, and one with ``_out`` only when all are taken."""
    return [name for name in card.outs.split() if name not in k.used] or [f"{card.name}_out"]


def plain_outs(card: Formula) -> list[str]:
    """What the formula gives, as the rest of a longer name."""
    return [name.removesuffix("_out") for name in card.outs.split()]
