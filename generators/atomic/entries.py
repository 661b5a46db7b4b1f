"""What the entries of a ledger hold, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from generators.kit.formulas import Formula


@dataclass(frozen=True)
class Ledger:
    """One subject: inputs (array names, lowest and highest value) and what is made of them.

    Names of an array are a singular and a plural; all inputs of a kernel are drawn in one number.

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
    few: str = ""
    """The axis of so few groups that copies of their sums pay, where that is not the parent."""
    params: Mapping[str, tuple[str, float, float]] = field(default_factory=dict)
    """What the amounts read that is the same for all entries: names, lowest and highest value."""
    pairs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Amounts that are wanted together, ``kind:name`` where not all are taken by one kind; names of
    the kernel that takes them."""
    settings: frozenset[str] = frozenset()
    """Inputs that belong to a line of a grid as a whole, or to the group of an entry in a list."""
    beside: frozenset[str] = frozenset()
    """Amounts that are taken beside others alone."""
    lined: bool = False
    """Whether the second axis goes with the columns of a grid: times, say."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """What sums of an amount are called, where that has a name of its own."""
    kinds: tuple[str, ...] = ("add",)
    whole: bool = False
    record: str = "Sample"
    grouped: bool = True
    """Whether entries belong to groups at all."""
