"""The body of a kernel without a loop over parts: masks, outputs, stores."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from generators.build import KernelBuilder, cast, fn
from generators.kit.formulas import Formula
from generators.math.core import Core, at_place, card_text, chosen, chosen_text, evaluate, named
from generators.math.scene import Scene
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

SEVERAL = ("pair", "triple")
"""Frames in which each formula has an output of its own."""


def masked_body(s: Scene, core: Core, frame: str, mask: bool, in_place: bool) -> str:
    """The body of a kernel without a loop; and what it does."""
    k, shape = s.k, s.k.draw.shape
    how = shape.choice(("return", "where", "weight", "if", "factor")) if mask else ""
    flags: Var | None = None
    if how == "weight":
        flags = k.array(s.family.weights.split(), s.type, s.shape(s.everywhere), low=0.1, high=1.0)
    elif how:
        flags = _flags(s)
    outs = _outputs(s, core, frame, how, in_place)
    done = ""
    fill = k.draw.value.choice(s.family.fills)
    if how == "return":
        assert flags is not None
        with k.if_(fn("eq", flags[s.place], 0)):
            for out, _ in outs:
                k.store(out, s.place, fill)
            k.return_()
    values = at_place(s, core)
    factor = _factor(s, how, flags, len(outs))
    guard = _if_set(k, flags, s) if how == "if" else None
    with guard if guard is not None else _open():
        done = _stores(s, core, frame, outs, values, (how, flags, fill, factor))
    return done + _mask_text(how, flags, fill, [out.name for out, _ in outs])


def _flags(s: Scene) -> Var:
    scalar = Scalar(s.k.draw.shape.weighted({"int32": 4, "uint8": 4, "int8": 1, "uint32": 1}))
    return s.k.array(s.family.masks.split(), scalar, s.shape(s.everywhere), low=0, high=1)


@contextmanager
def _open() -> Any:
    yield


def _if_set(k: KernelBuilder, flags: Var | None, s: Scene) -> Any:
    assert flags is not None
    return k.if_(fn("ne", flags[s.place], 0))


def _mask_text(how: str, flags: Var | None, fill: float, outs: list[str]) -> str:
    if flags is None:
        return ""
    if how == "weight":
        return f" All of it is multiplied by {flags.name}."
    if how == "factor":
        return f" All of it is zero where {flags.name} is 0."
    if how == "if":
        return f" Elements where {flags.name} is 0 keep what they hold."
    return f" Where {flags.name} is 0 the result is {fill} instead."


Mask = tuple[str, Var | None, float, Expr | None]
"""How elements are left out, by which array, what they get, and what all is multiplied by."""


def _factor(s: Scene, how: str, flags: Var | None, outs: int) -> Expr | None:
    """What each result is multiplied by, a local where there are several."""
    if flags is None or how not in ("weight", "factor"):
        return None
    by: Expr = flags[s.place]
    if how == "factor":
        by = cast(fn("nonzero", by), s.type)
    return s.k.let(("w", "share") if how == "weight" else ("on", "keep"), by) if outs > 1 else by


Outs = list[tuple[Var, str]]


def _outputs(s: Scene, core: Core, frame: str, how: str, in_place: bool) -> Outs:
    """The output of each formula (of all together for a choice), with how it is stored."""
    k, shape = s.k, s.shape(s.everywhere)
    found: Outs = []
    if in_place:
        source = next(x for x in s.sources.values() if isinstance(x.value, Var) and x.axes)
        assert isinstance(source.value, Var)
        return [(source.value, "")]
    cards = core.cards if frame in SEVERAL else core.cards[:1]
    for card in (*cards, *core.also):
        names = out_names(k, card)
        if frame == "choice" and card is cards[0]:
            names = ["out", "values", "result", "output"]
        if how == "if" or (frame not in SEVERAL and k.draw.shape.chance(0.1)):
            out = k.array(names, s.type, shape, role="inout", low=-1.0, high=1.0)
            found.append((out, "add" if how != "if" or k.draw.shape.chance(0.3) else ""))
        else:
            found.append((k.out(names, s.type, shape), ""))
    return found


def out_names(k: KernelBuilder, card: Formula) -> list[str]:
    """Names for the output of a formula: its own, and one with ``_out`` only when all are taken."""
    return [name for name in card.outs.split() if name not in k.used] or [f"{card.name}_out"]


def _stores(
    s: Scene, core: Core, frame: str, outs: Outs, values: dict[str, Expr], mask: Mask
) -> str:
    """Evaluate and store; gives the sentences."""
    done = []
    if frame == "choice":
        value = chosen(s, core, values)
        _store(s, outs[0], value, mask)
        done.append(_sentence(outs[0], chosen_text(s, core, ending=True)))
        outs, cards = outs[1:], core.also
    else:
        cards = core.cards
    for card, out in zip(cards, outs, strict=True):
        value = named(s.k, card, evaluate(s, core, card, values))
        _store(s, out, value, mask)
        done.append(_sentence(out, card_text(s, card)))
    return " ".join(done)


def _store(s: Scene, out: tuple[Var, str], value: Expr, mask: Mask) -> None:
    how, flags, fill, factor = mask
    if factor is not None:
        value = factor * value
    if how == "where" and flags is not None:
        value = fn("where", fn("ne", flags[s.place], 0), value, fill)
    s.k.store(out[0], s.place, value, op=out[1])


def _sentence(out: tuple[Var, str], text: str) -> str:
    return f"Add to {out[0].name}: {text}." if out[1] else f"Set {out[0].name} to {text}."
