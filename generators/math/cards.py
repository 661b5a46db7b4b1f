"""Families of formulas that share their inputs, which kernels are composed of."""

from __future__ import annotations

from dataclasses import dataclass

from generators.kit.formulas import Shelf
from generators.kit.functions import either as either


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


@dataclass(kw_only=True)
class Family(Shelf):
    """Formulas of one subject. ``inputs`` are read by element, ``params`` come in any way.

    ``smooth`` says that slopes by differences mean something,
    ``spatial`` that neighbouring elements belong together.
    """

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
