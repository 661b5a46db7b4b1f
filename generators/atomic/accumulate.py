"""What the entries of a ledger give, and where that goes."""

from __future__ import annotations

import re

from generators.atomic.entries import Ledger
from generators.atomic.tally import Tally, joined, threads
from generators.build import KernelBuilder
from generators.kit.formulas import Formula, keys_of, read_once
from generators.kit.naming import applied
from generators.kit.records import Part, record
from generators.kit.sites import Site, over
from generators.kit.words import listed, singular, words
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Load, Var

_FORMS = {
    1: {"total": 2, "bins": 5, "rows": 3, "columns": 1},
    2: {"bins": 2, "plane": 4, "row_bins": 3},
    3: {"chunk": 1, "strip": 5, "plane": 1},
    4: {"runs": 5, "copies": 3, "chunk": 1},
    5: {"runs": 1},
}
_UNGROUPED = {
    1: {"total": 3, "rows": 4, "columns": 2},
    2: {"total": 1, "rows": 3, "columns": 2},
    3: {"chunk": 4, "strip": 4},
    4: {"chunk": 2, "careful": 3, "strip": 1},
    5: {"careful": 4},
}
_SPECIAL = {"runs": "copies", "careful": "chunk"}
"""Forms that sums alone have, and what stands for them where extremes are kept."""
_KEPT = {"add": "sum", "max": "largest", "min": "smallest"}


def noun(size: str) -> str:
    """What one of so many is called."""
    return {"cols": "column"}.get(size, singular(size)).replace("_", " ")


def _spoken(name: str) -> str:
    """An amount's name as words."""
    return name.replace("_", " ").replace("huber", "Huber").replace("log cosh", "log-cosh")


_LINED = ("rows", "columns", "row_bins", "strip", "bins", "plane", "runs")
"""Forms in which an entry belongs to a line or to a group that has settings of its own."""
_UNIT = re.compile(r"_(s|ms|mm|c|m2|cents?|ids?)?$")
"""The unit at the end of an array's name."""


class Accumulation(Tally):
    """One kernel of a ledger."""

    def __init__(self, k: KernelBuilder, level: int, ledger: Ledger) -> None:
        shape = k.draw.shape
        self.ledger, self.kind, self.turns = ledger, shape.choice(ledger.kinds), ""
        form = shape.weighted((_FORMS if ledger.grouped else _UNGROUPED)[level])
        self.form = _SPECIAL.get(form, form) if self.kind != "add" or ledger.whole else form
        self.form = "runs" if form == "runs" and self.kind == "add" else self.form
        self.form = "plane" if form == "row_bins" and not ledger.lined else self.form
        # Columns are times, say; where lines are unlike, their n-th entries have nothing in common.
        self.form = "rows" if form == "columns" and not self._alike() else self.form
        super().__init__(level, self._launched(k))
        self.called = ""
        self.owner: Expr | None = None
        self.takes = self._taken()
        self.amounts = list({a.name: a for _, a in self.takes}.values())
        whole = {INT32: 5, Scalar("int64"): 3}
        if self.kind == "add" and any(sum(map(a.reads, a.keys)) > 1 for a in self.amounts):
            # Sums of products of many entries are beyond 32 bits.
            whole = {Scalar("int64"): 1}
        self.type = shape.weighted(whole) if ledger.whole else k.draw.wide_float_type()
        if self.form == "careful":
            # Compensation is for single precision.
            self.type = FLOAT32
        self.number = k.draw.word.choice((0, 1))
        self.ended = k.draw.word.choice((0, 1))
        self.counted = self.chance({2: 0.4, 3: 0.2}.get(level, 0.3)) and self.form in _COUNTED
        self.shown = ""

    def _taken(self) -> list[tuple[str, Formula]]:
        """Which amounts are kept, and whether their sum or an extreme: one, or some that belong
        together."""
        shape, own = self.k.draw.shape, self.ledger
        share = {2: 0.25, 3: 0.1, 4: 0.3, 5: 0.7}.get(self.level, 0.0)
        amounts = [a for a in own.amounts if self.form in _LINED or not own.settings & {*a.keys}]
        named, found = {a.name: a for a in amounts}, []
        pairs = {
            called: entries
            for called, entries in own.pairs.items()
            if {entry.rpartition(":")[2] for entry in entries} <= named.keys()
        }
        if not pairs or self.form == "careful" or not self.chance(share):
            alone = [a for a in amounts if a.name not in own.beside]
            return [(self.kind, shape.choice(alone))]
        self.called = shape.choice(tuple(pairs))
        for entry in pairs[self.called]:
            kind, _, name = entry.rpartition(":")
            found.append((kind or self.kind, named[name]))
        return found

    def _alike(self) -> bool:
        """Whether entries of the same number in several lines belong together."""
        return self.ledger.lined or not self.ledger.grouped

    def _launched(self, k: KernelBuilder) -> Site:
        lines, items = self.ledger.each.split()[:2]
        if self.form in ("total", "bins", "plane", "copies"):
            return threads(k, k.draw.word.choice(("n", "count")), 72, 96, "i e")
        if self.form in ("chunk", "careful", "runs"):
            k.size("num_threads", *((7, 10) if self.form == "runs" else (3, 4)))
            # A short run of entries is unrolled; a long sum has its length from outside.
            fixed = self.form == "runs" and k.draw.shape.chance(0.4)
            self.turns = str(k.draw.value.choice((4, 8))) if fixed else k.size("per_thread", 5, 8)
            (t,) = k.thread("num_threads", names=(k.name("t thread_id"),))
            return Site(k, "chunk", (f"num_threads*{self.turns}",), (t,))
        if self.form == "strip" and not self.ledger.grouped:
            k.size(items, 5, 6)
            return over(k, lines, "i row", ((6, 7),), inner=items)
        k.size(items, 7, 9)
        first, second = k.draw.word.choice((("i", "j"), (singular(lines), singular(items))))
        if self.form == "strip":
            return over(k, lines, first, ((8, 11),), inner=items)
        return over(k, f"{lines} {items}", f"{first} {second}", ((8, 11),))

    def read(self, s: Site) -> dict[str, Expr]:
        """What the entry is made of: an element of each array, or a struct's fields."""
        parts, once = {}, read_once(self.amounts)
        for key in keys_of(self.amounts):
            if key in self.ledger.params or key in self.ledger.settings:
                continue
            names, low, high = self.ledger.inputs[key]
            fields = [singular(_UNIT.sub("", name)) for name in names.split()]
            many = words(names)[self.number % len(words(names))]
            parts[key] = Part(fields, self.type, low, high, many=many)
        entry = record(s, self.ledger.record, parts, {1: 0.1, 2: 0.2}.get(self.level, 0.3))
        if isinstance(entry.whole, Var):
            self.known[entry.whole] = self.k.meaning(entry.whole) or entry.whole.name
        else:
            for key in parts:
                load = entry[key]
                assert isinstance(load, Load)
                one = singular(_UNIT.sub("", load.array.name))
                at = load.indices[-1]
                index = at.name if isinstance(at, Var) and len(at.name) == 1 else "val"
                ones: tuple[str, ...] = (f"{key}_{index}",)
                ones = (one, one, *ones) if one not in self.k.used else ones
                entry.values[key] = self.let(ones, load, 0.25 if key in once else 1.0)
        for key in keys_of(self.amounts):
            if key in self.ledger.params:
                entry.values[key] = self.k.scalar(
                    words(self.ledger.params[key][0]), self.type, *self.ledger.params[key][1:]
                )
            elif key in self.ledger.settings:
                entry.values[key] = self.setting(key)
        return entry.values

    def setting(self, key: str) -> Expr:
        """What belongs to a line of a grid, by its index; or to the group of an entry."""
        names, low, high = self.ledger.inputs[key]
        line, many = self.ledger.each.split()[0], words(names)[1]
        if line in self.s.dims:
            at: Expr = self.s.at[self.s.dims.index(line)]
        else:
            if self.owner is None:
                line, group = self.key(self.ledger.group)
                self.owner = self.let(self.group_name(line), group, 1.0)
            line, at = self.ledger.group.split()[0], self.owner
        return self.k.array(many, self.type, line, low=low, high=high)[at]

    def value(self, values: dict[str, Expr], amount: Formula) -> Expr:
        """What the entry gives, in place or by a helper."""
        plain = {**self.ledger.inputs, **self.ledger.params}
        args = {
            singular(_UNIT.sub("", words(plain[key][0])[0])): values[key] for key in amount.keys
        }
        # A function of one product or difference wraps nothing.
        long = sum(map(amount.reads, amount.keys)) > 2 and not self.ledger.phrases
        chance = 0.3 if self.level >= 3 and long else 0.0
        value = applied(self.k, chance, f"{amount.name}_of", args, amount.build)
        text = amount.said({key: self.say(values[key]) for key in amount.keys})
        if text != self.say(value):
            self.known[value] = text
        return value

    def per_thread(self) -> Expr:
        """How many entries a thread goes through."""
        if self.turns.isdigit():
            return self.k.lift(int(self.turns), INT32)
        return self.k.size_param("per_thread items_per_thread", self.turns)

    def amount(self, s: Site) -> list[Expr]:
        """What is taken of the entry, where one is used at once under a name of its own."""
        values = self.read(s)
        found = {}
        for amount in self.amounts:
            value = self.value(values, amount)
            name = "term" if self.ledger.phrases else amount.name
            # An array of that name holds them.
            at = s.at[-1]
            if name in self.k.used and isinstance(at, Var):
                name = f"{amount.keys[0]}_{at.name if len(at.name) == 1 else 'val'}"
            twice = sum(a is amount for _, a in self.takes) > 1
            share = 1.0 if twice or not self.known else 0.5
            share = 0.0 if self.ledger.phrases and self.called else share
            found[amount.name] = self.let(name, value, share)
        return [found[amount.name] for _, amount in self.takes]

    def out(self, n: int, dims: tuple[str, ...]) -> Var:
        """The accumulator of the n-th of what is taken; all of a kernel end alike."""
        kind, what = self.takes[n][0], self.takes[n][1].outs
        names = words(
            what
            if self.ledger.phrases
            else f"{what}_sum total_{what}"
            if kind == "add"
            else f"{kind}_{what} {_KEPT[kind]}_{what}"
        )[self.ended :][:1]
        far = {"add": 0, "max": -(10**9), "min": 10**9}[kind]
        start = far if self.type.is_int or not far else f"{far // 1000}.0"
        return self.k.accumulator(words(names), self.type, dims, start)

    def count(self, dims: tuple[str, ...]) -> Var | None:
        """How many entries there are, where that is kept."""
        if not self.counted:
            return None
        entry = self.ledger.entry.replace(" ", "_")
        return self.k.accumulator(words(f"counts num_{entry}s"), INT32, dims)

    def key(self, axis: str, low: int = 5, high: int = 8) -> tuple[str, Expr]:
        """A size of groups, and to which of them the entry belongs."""
        size, *names = axis.split()
        self.k.size(size, low, high)
        axes = self.s.axes("last")
        return size, self.s.read(names, INT32, init=f"index_of:{size}", axes=axes)

    def target(self) -> tuple[tuple[str, ...], tuple[Expr, ...], str]:
        """Shape of the accumulators, the element of an entry, and by what entries are summed."""
        s, own = self.s, self.ledger
        if self.form == "total":
            return ("1",), (self.k.lift(0, INT32),), ""
        if self.form in ("rows", "columns"):
            axis = int(self.form == "columns")
            return (s.dims[axis],), (s.at[axis],), f" by {noun(s.dims[axis])}"
        if self.form == "row_bins":
            q, second = self.key(own.second, 3, 4)
            return (s.dims[0], q), (s.at[0], second), f" by {noun(s.dims[0])} and {noun(q)}"
        # Copies of few groups pay: of many each address is met seldom.
        if self.owner is None:
            few = own.few or own.parent
            m, group = self.key(few if self.form == "copies" else own.group)
        else:
            m, group = own.group.split()[0], self.owner
        by = f" by {noun(m)}"
        if self.form == "bins":
            return (m,), (group,), by
        if self.form == "copies":
            copies = self.k.size_param("num_copies", self.k.size("copies", 3, 4))
            copy = self.k.let("copy", s.at[0] % copies)
            self.known[copy] = f"{self.say(s.at[0])} % {copies.name}"
            return ("copies", m), (copy, group), by
        q, second = self.key(own.second, 3, 4)
        return (m, q), (group, second), f"{by} and {noun(q)}"

    def group_name(self, size: str) -> str:
        """A local for the group of an entry: what it is one of, unless an array is called so."""
        name = singular(size)
        return "group" if name in self.k.used else name

    def entries(self) -> str:
        """An atomic for each amount of the thread's entry."""
        found = self.amount(self.s)
        dims, at, by = self.target()
        share = 0.8 if len(found) + self.counted > 1 else 0.3
        if self.form not in ("total", "rows", "columns"):
            at = (*at[:-1], self.let(self.group_name(dims[-1]), at[-1], share))
        for n, ((kind, _), value) in enumerate(zip(self.takes, found, strict=True)):
            self.update(kind, self.out(n, dims), at, value)
        counts = self.count(dims)
        if counts is not None:
            self.update("add", counts, at, 1)
        each = self.s.where if self.s.rank == 1 else f"({self.s.where})"
        if self.form == "copies":
            self.shown = " Entries go to the copies in turn, so that fewer meet at one address."
        return f"{self.what(by)}: for each {self.ledger.entry} {each}, {joined(self.done)}."

    def what(self, by: str) -> str:
        """What the kernel is for."""
        by = by or f" over all {self.ledger.entry}s"
        first = self.called or self.takes[0][1].name
        if phrase := self.ledger.phrases.get(first, ""):
            return f"{phrase}{by}"
        told = [(kind, _spoken(a.name)) for kind, a in self.takes]
        if self.kind == "add":
            return f"Sum {listed([f'the {what}' for _, what in told])}{by}"
        text = listed([f"{_KEPT[kind]} {what}" for kind, what in told])
        if len(self.amounts) < len(told):
            text = f"{listed([_KEPT[kind] for kind, _ in told])} {told[0][1]}"
        return f"{text}{by}".capitalize()

    def title_names(self) -> str:
        if self.called:
            return self.called
        what = self.takes[0][1].name
        if self.kind != "add":
            return f"{self.kind}_{what} reduce_{self.kind}_{what}"
        return what if self.ledger.phrases else f"sum_{what} accumulate_{what}"


_COUNTED = ("bins", "plane", "row_bins", "runs", "copies")
