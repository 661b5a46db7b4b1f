"""Families of formulas that share their inputs, which kernels are composed of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from generators.build import BodyBuilder
from generators.program.expr import Expr

Build = Callable[..., Expr]
"""``build(b, *inputs)`` writes the statements that a formula needs and gives its value."""


@dataclass(frozen=True)
class Quantity:
    """Something that a formula reads: its name alone and in an array, its range, usual values."""

    names: tuple[str, ...]
    arrays: tuple[str, ...]
    low: float
    high: float
    usual: tuple[float, ...] = ()


def quantity(names: str, arrays: str, low: float, high: float, *usual: float) -> Quantity:
    return Quantity(tuple(names.split()), tuple(arrays.split()), low, high, usual)


class Card(NamedTuple):
    """One formula: its name, names for its result, its text, the keys that it reads, its code."""

    name: str
    outs: str
    text: str
    uses: str
    build: Build

    @property
    def keys(self) -> list[str]:
        return self.uses.split()


@dataclass(frozen=True)
class Family:
    """Formulas of one subject. ``inputs`` are read by element, ``params`` come in any way.

    ``smooth`` says that slopes by differences mean something,
    ``spatial`` that neighbouring elements belong together.
    """

    item: str
    inputs: dict[str, Quantity]
    params: dict[str, Quantity]
    cards: tuple[Card, ...]
    titles: str
    kinds: str = "kinds modes types"
    struct: str = "Params Settings"
    records: str = "Sample Item"
    grids: tuple[str, ...] = ("i|tid|idx", "row col|i j|r c", "batch row col|b i j")
    parts: str = ""
    weights: str = "weights"
    masks: str = "mask valid active"
    reductions: tuple[str, ...] = ("sum", "mean", "largest", "rms")
    fills: tuple[float, ...] = (0.0, 0.0, -1.0)
    smooth: bool = True
    spatial: bool = True

    def card(self, name: str) -> Card:
        return next(card for card in self.cards if card.name == name)


def either(b: BodyBuilder, first: Expr, second: Expr) -> Expr:
    """One of two ways to write the same."""
    return first if b.draw.shape.chance(0.5) else second
