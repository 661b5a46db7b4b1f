"""Families of formulas that share their inputs, which kernels are composed of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from generators.build import KernelBuilder
from generators.kit.formulas import Formula, Shelf
from generators.kit.functions import either as either
from generators.kit.sites import Site
from generators.kit.sources import constant, given
from generators.kit.words import plural
from generators.program.dtypes import Scalar
from generators.program.expr import Expr


@dataclass(frozen=True)
class Quantity:
    """Something that a formula reads: its name alone and in an array, its range, usual values."""

    names: tuple[str, ...]
    arrays: tuple[str, ...]
    low: float
    high: float
    usual: tuple[float, ...] = ()

    def literal(self, k: KernelBuilder, type_: Scalar) -> Expr:
        """A value as people write it: one of the usual ones."""
        if not self.usual:
            return k.lift(constant(k, self.low, self.high), type_)
        return k.lift(k.draw.value.choice(self.usual), type_)

    def called(self, words: str) -> Quantity:
        """The same by other names: alone and, if there is a second word, in an array."""
        alone, *arrays = words.split() or [""]
        many = tuple(arrays) or (plural(alone),)
        return replace(self, names=(alone,), arrays=many) if alone else self

    def given(self, s: Site, type_: Scalar, **weights: int) -> Expr:
        """A literal, a parameter, or of an array: ways as those of ``kit.sources.given``."""
        way = s.k.draw.shape.weighted(weights)
        if way == "literal":
            return self.literal(s.k, type_)
        return given(s, self.names, type_, self.low, self.high, many=self.arrays, forms={way: 1})


def quantity(names: str, arrays: str, low: float, high: float, *usual: float) -> Quantity:
    return Quantity(tuple(names.split()), tuple(arrays.split()), low, high, usual)


@dataclass(kw_only=True)
class Family(Shelf):
    """Formulas of one subject, with what kernels of them are made of.

    ``inputs`` are read by element, ``params`` come in any way. Candidates for names: of the kernel
    (``titles``), of the array of codes that choose a formula (``kinds``), of the struct that holds
    parameters (``struct``) or inputs (``records``), and of arrays of ``weights`` and ``masks``.
    ``grids`` has the names of the thread's indices for 1, 2 and 3 axes, alternatives apart by
    ``|``; ``parts`` the size of a loop over several parts of an element, then names of its index.
    ``reductions`` are those that mean something along a row, ``slopes`` holds the keys by which
    differences mean something (of the formulas ``sloped``, all if none are named), ``swept`` those
    over which integrals do, each after its formula ("planck w"); ``mixed`` names the formulas that
    are summed over ``parts``, all if none are named; ``selectable`` says that libraries choose one
    of its formulas by a code.
    ``groups`` names an array that says to which group an element belongs, each with parameters of
    its own, where there are such groups. ``reduced`` names the formulas that ``reductions`` are
    for, all if none are named.

    ``about`` says what each formula is, as a noun phrase, ``whole`` what a sum over ``parts`` is,
    up to that phrase, or what a kernel does that chooses by a code. ``varying`` are the parameters
    that differ from element to element, along ``own_axis`` of two, or from group to group; the
    others are the same for all. ``ramp`` is the input that is the place along the last axis over
    its length. ``sizes`` names the sizes of 1, 2 or 3 axes. Flags: ``tabled`` where people tabulate
    inputs against settings, ``per_entry`` where those that differ do so along a row that is
    reduced, ``coded`` where inputs are stored as codes of 8 or 16 bits,
    ``replaces`` where a result may take the place of its input, ``grouped_only`` where parameters
    differ from group to group but not from element to element, ``lists`` where they do so in lists
    too, ``flat`` where elements lie in lists alone. ``forms`` says how often a launch has so many
    axes.
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
    reductions: tuple[str, ...] = ()
    slopes: str = ""
    sloped: str = ""
    swept: tuple[str, ...] = ()
    per_entry: bool = False
    mixed: str = ""
    selectable: bool = False
    groups: str = ""
    reduced: str = ""
    about: dict[str, str] = field(default_factory=dict)
    whole: str = ""
    varying: str = ""
    own_axis: int = 0
    ramp: str = ""
    sizes: dict[int, str] = field(default_factory=dict)
    tabled: bool = False
    coded: bool = False
    replaces: bool = False
    flat: bool = False
    grouped_only: bool = False
    lists: bool = True
    forms: dict[int, int] = field(default_factory=lambda: {1: 12, 2: 4})

    def drawn(self, k: KernelBuilder, count: int) -> list[Formula]:
        """Some of the formulas; several share the family's names of quantities."""
        known = [c for c in self.cards if count == 1 or not c.words]
        return k.draw.shape.sample(known, min(count, len(known)))

    @property
    def rows(self) -> list[Formula]:
        """The formulas whose values people reduce along rows."""
        named = self.reduced.split()
        return [c for c in self.cards if not named or c.name in named]

    @property
    def own(self) -> set[str]:
        """The parameters that differ from element to element."""
        return {*self.varying.split()}

    def introduced(self, card: Formula, done: str, parts: bool = False) -> str:
        """A description that says first what the formula is, or what its sum over parts is."""
        what = self.about.get(card.name, "")
        what = f"{self.whole} {what}" if parts and what else what
        return f"{what[0].upper()}{what[1:]}. {done}" if what else done

    def of(self, cards: Sequence[Formula]) -> Family:
        """The family as one formula alone calls its quantities; as it is for several."""
        if len(cards) != 1 or not cards[0].words:
            return self
        own = cards[0].words
        inputs = {key: q.called(own.get(key, "")) for key, q in self.inputs.items()}
        params = {key: q.called(own.get(key, "")) for key, q in self.params.items()}
        return replace(self, inputs=inputs, params=params)

    def quantity(self, key: str) -> Quantity:
        """An input or a parameter."""
        return self.inputs[key] if key in self.inputs else self.params[key]
