"""The body of a kernel without a loop over parts: masks, outputs, stores."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.kit.formulas import Formula
from generators.kit.functions import where
from generators.math.core import Core, at_place, card_text, chosen, chosen_text, evaluate, named
from generators.math.scene import Scene
from generators.program.expr import Expr, Var

_MASKS = {
    "return": "Where {} is 0, {} is stored instead.",
    "where": "Where {} is 0, {} is stored instead.",
    "weight": "All of it is multiplied by {}.",
    "if": "Elements where {} is 0 keep what they hold.",
    "factor": "All of it is zero where {} is 0.",
}
"""How elements are left out, in words."""
Outs = list[tuple[Var, str]]
"""Outputs, each with how it is stored."""


@dataclass
class _Mask:
    """How elements are left out, by which array, what they get, and what all is multiplied by."""

    how: str
    by: Expr
    fill: float
    factor: Expr | None = None

    def apply(self, value: Expr) -> Expr:
        if self.factor is not None:
            return self.factor * value
        return where(fn("ne", self.by, 0), value, self.fill) if self.how == "where" else value


def masked_body(s: Scene, core: Core, frame: str, masked: bool, in_place: bool) -> str:
    """The body of a kernel without a loop; and what it does."""
    k = s.k
    how = k.draw.shape.choice(tuple(_MASKS)) if masked else ""
    mask, text = None, ""
    if how:
        weights = how == "weight"
        array = s.array(s.family.weights, s.type, s.everywhere, 0.1, 1.0) if weights else s.flags()
        mask = _Mask(how, array[s.place], k.draw.value.choice(s.family.fills))
        text = " " + _MASKS[how].format(array.name, f"{mask.fill:g}")
    outs = _outputs(s, core, frame, how, in_place)
    if mask and how == "return":
        with k.if_(fn("eq", mask.by, 0)):
            for out, _ in outs:
                k.store(out, s.place, mask.fill)
            k.return_()
    values = at_place(s, core)
    if mask and how in ("weight", "factor"):
        by = mask.by if how == "weight" else cast(fn("nonzero", mask.by), s.type)
        names = "w share" if how == "weight" else "on keep"
        mask.factor = k.let(names, by) if len(outs) > 1 else by
    with k.if_(fn("ne", mask.by, 0)) if mask and how == "if" else nullcontext():
        return _stores(s, core, frame, outs, values, mask) + text


def _outputs(s: Scene, core: Core, frame: str, how: str, in_place: bool) -> Outs:
    """The output of each formula (of all together for a choice), with how it is stored."""
    if in_place:
        source = next(x for x in s.sources.values() if isinstance(x.value, Var) and x.axes)
        assert isinstance(source.value, Var)
        return [(source.value, "")]
    found: Outs = []
    cards = core.cards if frame == "pair" else core.cards[:1]
    for card in cards:
        names = out_names(s.k, card)
        if frame == "choice" and card is cards[0]:
            names = ["out", "values", "result", "output"]
        if how == "if" or (frame != "pair" and s.k.draw.shape.chance(0.03)):
            out = s.array(names, s.type, s.everywhere, -1.0, 1.0, role="inout")
            found.append((out, "add" if how != "if" or s.k.draw.shape.chance(0.3) else ""))
        else:
            found.append((s.k.out(names, s.type, s.dims), ""))
    return found


def out_names(k: KernelBuilder, card: Formula) -> list[str]:
    """Names for the output of a formula: its own, and one with ``_out`` only when all are taken."""
    return [name for name in card.outs.split() if name not in k.used] or [f"{card.name}_out"]


def _stores(
    s: Scene, core: Core, frame: str, outs: Outs, values: Mapping[str, Expr], mask: _Mask | None
) -> str:
    """Evaluate and store; gives the sentences."""
    done: list[str] = []

    def store(out: Var, op: str, value: Expr, text: str) -> None:
        s.k.store(out, s.place, mask.apply(value) if mask else value, op=op)
        done.append(f"Add to {out.name}: {text}." if op else f"Set {out.name} to {text}.")

    if frame == "choice":
        store(*outs[0], chosen(s, core, values), chosen_text(s, core))
        return " ".join(done)
    for card, out in zip(core.cards, outs, strict=True):
        store(*out, named(s.k, card, evaluate(s, core, card, values)), card_text(s, card))
    return " ".join(done)
