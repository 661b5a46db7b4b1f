"""What the entries of a ledger hold, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from generators.kit.formulas import Formula


@dataclass(frozen=True)
class Ledger:
    """One subject: inputs (array names, lowest and highest value) and what is made of them.

    ``amounts`` are the formulas that are summed; ``entry`` is what an element is called. Each axis
    (``group`` by which entries are summed, a ``second`` one beside it, ``each`` of a grid's lines)
    is the size's name, then names of an array of its indices. ``record`` are names of a struct of
    the inputs. ``kinds`` are the atomics that make sense, ``whole`` asks for integers.
    """

    inputs: dict[str, tuple[str, float, float]]
    amounts: tuple[Formula, ...]
    entry: str
    group: str
    second: str
    each: str
    parent: str = ""
    """The axis of groups of a grid's lines."""
    lined: bool = False
    """Whether the second axis goes with the columns of a grid: times, say."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """What sums of an amount are called, where that has a name of its own."""
    kinds: tuple[str, ...] = ("add",)
    whole: bool = False
    record: str = "Sample"
    grouped: bool = True
    """Whether entries belong to groups at all."""
