"""Kernels of a ledger: what an entry gives, where it goes, which entries count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.atomic.tally import Tally, threads
from generators.build import KernelBuilder
from generators.build.registry import Title
from generators.kit.formulas import Formula, keys_of, read_once
from generators.kit.naming import applied
from generators.kit.records import Part, record
from generators.kit.sites import Site, over
from generators.kit.words import singular, words
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr


@dataclass(frozen=True)
class Ledger:
    """One subject: inputs (array names, lowest and highest value) and what is made of them.

    ``amounts`` are the formulas that are summed. Candidates for names: of the output (``sums``),
    of the array that says where an entry goes (``groups``), of the kernel (``titles``) and of a
    struct of the inputs (``record``). ``kinds`` are the atomics that make sense, ``whole`` asks for
    integers, ``limit`` is the range of a threshold on amounts, if one makes sense.
    """

    inputs: dict[str, tuple[str, float, float]]
    amounts: tuple[Formula, ...]
    sums: str
    groups: str
    titles: str
    kinds: tuple[str, ...] = ("add",)
    whole: bool = False
    record: str = "Sample"
    limit: tuple[float, float] | None = None
    second: str = "part"
    """Names of a second index of where an entry goes."""
    squares: bool = False
    """Whether sums of squares of the amounts say something."""


_TARGETS = {
    1: {"total": 2, "bins": 5, "rows": 3, "columns": 3},
    2: {"total": 2, "bins": 5, "rows": 3, "columns": 3, "plane": 4},
    3: {"bins": 4, "rows": 3, "columns": 3, "plane": 4, "row_bins": 3},
    4: {"bins": 3, "plane": 4, "row_bins": 4, "strips": 5, "volume": 3},
    5: {"bins": 2, "plane": 4, "row_bins": 4, "strips": 6, "volume": 4},
}
_EVEN = frozenset({"total", "rows", "columns", "volume"})
"""Targets that all have equally many entries, which nobody counts."""
_MASKS = {1: 0.15, 2: 0.7, 3: 0.6, 4: 0.75, 5: 0.9}
_SLOT = "g slot group target"


def _launched(k: KernelBuilder, form: str) -> Site:
    if form in ("total", "bins", "plane"):
        return threads(k, k.draw.word.choice(("n", "count")), 72, 96, "i e")
    if form == "volume":
        return over(k, "b h w", "b i j", ((3, 4), (4, 6), (4, 6)))
    k.size("cols", 7, 9)
    if form == "strips":
        k.size("rows", 8, 11)
        return over(k, "rows", k.draw.word.choice(("i", "row", "r")), inner="cols")
    return over(k, "rows cols", k.draw.word.choice(("i j", "row col")), ((8, 11),))


class _Accumulation(Tally):
    """One kernel of a ledger."""

    def __init__(self, k: KernelBuilder, level: int, ledger: Ledger) -> None:
        shape = k.draw.shape
        self.ledger, self.form = ledger, shape.weighted(_TARGETS[level])
        super().__init__(level, _launched(k, self.form))
        whole = {INT32: 5, Scalar("int64"): 3}
        self.type = shape.weighted(whole) if ledger.whole else k.draw.wide_float_type()
        many = {4: shape.integer(1, 2), 5: shape.integer(2, 3)}.get(level, 1)
        self.amounts = shape.sample(list(ledger.amounts), many)
        self.kind = shape.choice(ledger.kinds)

    def read(self, s: Site) -> dict[str, Expr]:
        """What the entry is made of: an element of each array, or a struct's fields."""
        parts, once = {}, read_once(self.amounts)
        for key in keys_of(self.amounts):
            names, low, high = self.ledger.inputs[key]
            parts[key] = Part(names, self.type, low, high, many=names)
        share = {1: 0.1, 2: 0.15}.get(self.level, 0.3)
        entry = record(s, self.ledger.record, parts, share)
        if entry.struct is None:
            for key, part in parts.items():
                ones = tuple(map(singular, words(part.names)))
                entry.values[key] = self.let(ones, entry[key], 0.25 if key in once else 1.0)
        return entry.values

    def value(self, values: dict[str, Expr], amount: Formula) -> Expr:
        """What the entry gives, in place or by a helper."""
        plain = {key: words(self.ledger.inputs[key][0])[0] for key in amount.keys}
        args = {singular(name): values[key] for key, name in plain.items()}
        chance = 0.4 if self.level >= 3 and not amount.plain else 0.0
        names = f"{amount.name} {amount.name}_of"
        value = applied(self.k, chance, names, args, amount.build)
        text = amount.said({key: self.say(values[key]) for key in amount.keys})
        if text != self.say(value):
            self.known[value] = text
        return value

    def target(self, s: Site) -> tuple[tuple[str, ...], tuple[Expr, ...]]:
        """Shape of the accumulators, and the element of an entry."""
        k, form, dims, at = self.k, self.form, s.dims, s.at
        if form == "total":
            return ("1",), (k.lift(0, INT32),)
        cut = {"rows": slice(0, 1), "columns": slice(1, 2)}.get(form)
        if form == "volume":
            cut = k.draw.shape.choice((slice(0, 1), slice(2, 3), slice(1, 3)))
        if cut is not None:
            return dims[cut], at[cut]
        m = k.size(k.draw.word.choice(("groups", "m")), 5, 8)
        axes = s.axes("last")
        group = s.read(self.ledger.groups, INT32, axes=axes, init=f"index_of:{m}")
        if form in ("bins", "strips"):
            return (m,), (group,)
        if s.rank == 2:
            return (dims[0], m), (at[0], group)
        q = k.size("parts", 3, 4)
        second = s.read(self.ledger.second, INT32, axes=axes, init=f"index_of:{q}")
        return (m, q), (group, second)

    def names(self) -> tuple[str, str]:
        """Names of the accumulator and of the kernel, by what is kept of which amount."""
        what, kind, own = self.amounts[0].name, self.kind, self.ledger
        if kind in ("max", "min"):
            size = "largest" if kind == "max" else "smallest"
            return f"{kind}_{what} {size}_{what}", f"find_{kind}_{what} reduce_{kind}_{what}"
        titles = f"sum_{what} accumulate_{what}"
        if len(self.amounts) > 1:
            titles = own.titles
        return f"{what}_sum total_{what} {own.sums}", titles

    def extra(self) -> str:
        """What else is kept: how many entries, the sum of squares, an extreme; or nothing."""
        many = len(self.amounts) > 1
        if many or not self.chance({1: 0.1, 2: 0.25, 3: 0.4}.get(self.level, 0.5)):
            return ""
        kinds = ("max", "min") if self.kind != "max" else ("min",)
        kinds = ("squares", *kinds) if self.ledger.squares and self.kind == "add" else kinds
        return self.pick(*(kinds if self.form in _EVEN else ("count", *kinds)))

    def entry(self, s: Site, leave: Callable[[], None]) -> None:
        """One atomic for an entry, and others for what else is kept."""
        if self.chance(_MASKS[self.level]):
            self.mask(s, leave)
        values, (dims, at) = self.read(s), self.target(s)
        first, *others = self.amounts
        extra, value = self.extra(), self.value(values, first)
        limited = self.ledger.limit is not None and self.chance(0.12, 2)
        often = extra not in ("", "count") or limited
        value = self.let(("amount value term", first.name), value, 1.0 if often else 0.35)
        at = (*at[:-1], self.let(_SLOT, at[-1], 0.8 if extra or others else 0.3))
        if limited and self.ledger.limit is not None:
            size = value if self.chance(0.5) else abs(value)
            limit = self.k.scalar("limit threshold cutoff", self.type, *self.ledger.limit)
            with self.when(size < limit if self.kind == "max" else size > limit):
                self.keep(extra, dims, at, value)
        else:
            self.keep(extra, dims, at, value)
        for other in others:
            more = self.let((other.name, "share part"), self.value(values, other), 0.4)
            self.into(f"{other.name}_sum {other.name}_total", dims, at, more)

    def keep(self, extra: str, dims: tuple[str, ...], at: tuple[Expr, ...], value: Expr) -> None:
        """Update the accumulator, and that of what else is kept."""
        self.into(self.names()[0], dims, at, value, self.kind)
        if extra == "count":
            self.into("counts hits num_seen", dims, at)
        elif extra == "squares":
            self.into("squares second_moment sq_sums", dims, at, value * value)
        elif extra:
            names = "largest peak upper" if extra == "max" else "smallest lowest bottom"
            self.into(names, dims, at, value, extra)


def accumulate(k: KernelBuilder, level: int, ledger: Ledger) -> Title:
    """Draw one kernel of a ledger."""
    a = _Accumulation(k, level, ledger)
    if not a.s.inner:
        a.entry(a.s, k.return_)
        each = f"For each entry {f'({a.s.where})' if a.s.rank > 1 else a.s.where}: "
        return a.title(a.names()[1], each)
    with a.s.loop("j c col", "num_cols width row_length") as entry:
        a.entry(entry, k.continue_)
    opening = f"For each entry ({entry.where}), a thread having a row: "
    return a.title(a.names()[1], opening)
