"""Families of formulas that share their inputs, which kernels are composed of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.kit.formulas import Formula, Shelf
from generators.kit.functions import either as either
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


def by_hand(name: str, outs: str, prose: str, keys: str, build: Build) -> Formula:
    """A formula with its text and its keys written by hand; ``Family.add`` needs neither."""
    return Formula(
        name, outs, lambda body, *args: build(body, *args), prose, by_hand=tuple(keys.split())
    )


@dataclass(kw_only=True)
class Family(Shelf):
    """Formulas of one subject. ``inputs`` are read by element, ``params`` come in any way.

    ``smooth`` says that slopes by differences mean something,
    ``spatial`` that neighbouring elements belong together.
    """

    item: str
    inputs: dict[str, Quantity]
    params: dict[str, Quantity]
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
