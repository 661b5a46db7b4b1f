"""Kernels of a ledger: what an entry gives, where it goes, how many atomics that takes."""

from __future__ import annotations

import re
from collections.abc import Callable

from generators.atomic.entries import Ledger
from generators.atomic.tally import Tally, joined, threads
from generators.build import KernelBuilder, fn
from generators.build.registry import Title
from generators.kit.formulas import Formula, keys_of, read_once
from generators.kit.functions import least, most
from generators.kit.naming import applied
from generators.kit.records import Part, record
from generators.kit.sites import Site, over
from generators.kit.words import listed, singular, words
from generators.program.dtypes import INT32, Scalar
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
_WIDTHS = (4, 8)
_KEPT = {"add": "sum", "max": "largest", "min": "smallest"}


def _noun(size: str) -> str:
    """What one of so many is called."""
    return singular(size).replace("_", " ")


def _spoken(name: str) -> str:
    """An amount's name as words."""
    return name.replace("_", " ").replace("huber", "Huber").replace("log cosh", "log-cosh")


_UNIT = re.compile(r"_(s|ms|mm|c|m2|cents?|ids?)?$")
"""The unit at the end of an array's name."""


class _Accumulation(Tally):
    """One kernel of a ledger."""

    def __init__(self, k: KernelBuilder, level: int, ledger: Ledger) -> None:
        shape = k.draw.shape
        self.ledger, self.kind = ledger, shape.choice(ledger.kinds)
        form = shape.weighted((_FORMS if ledger.grouped else _UNGROUPED)[level])
        self.form = _SPECIAL.get(form, form) if self.kind != "add" or ledger.whole else form
        self.form = "runs" if form == "runs" and self.kind == "add" else self.form
        self.form = "plane" if form == "row_bins" and not ledger.lined else self.form
        # Columns are times, say; where lines are unlike, their n-th entries have nothing in common.
        self.form = "rows" if form == "columns" and not self._alike() else self.form
        self.width = k.draw.value.choice(_WIDTHS)
        super().__init__(level, self._launched(k))
        many = 2 if self.chance({2: 0.25, 4: 0.3, 5: 0.7}.get(level, 0.0)) else 1
        self.amounts = shape.sample(list(ledger.amounts), min(many, len(ledger.amounts)))
        if self.form == "careful":
            self.amounts = self.amounts[:1]
        whole = {INT32: 5, Scalar("int64"): 3}
        if self.kind == "add" and any(len(amount.keys) > 1 for amount in self.amounts):
            # Sums of products of many entries are beyond 32 bits.
            whole = {Scalar("int64"): 1}
        self.type = shape.weighted(whole) if ledger.whole else k.draw.wide_float_type()
        self.counted = self.chance({2: 0.4, 3: 0.2}.get(level, 0.3)) and self.form in _COUNTED
        self.shown = ""

    def _alike(self) -> bool:
        """Whether entries of the same number in several lines belong together."""
        return self.ledger.lined or not self.ledger.grouped

    def _launched(self, k: KernelBuilder) -> Site:
        lines, items = self.ledger.each.split()[:2]
        if self.form in ("total", "bins", "plane", "copies"):
            return threads(k, k.draw.word.choice(("n", "count")), 72, 96, "i e")
        if self.form in ("chunk", "careful", "runs"):
            k.size("chunks", *((7, 10) if self.form == "runs" else (3, 4)))
            (t,) = k.thread("chunks", names=(k.name("t chunk"),))
            dims = (f"{self.width}*chunks",)
            return Site(k, "chunk", dims, (t,))
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
            names, low, high = self.ledger.inputs[key]
            fields = [_UNIT.sub("", singular(name)) for name in names.split()]
            parts[key] = Part(fields, self.type, low, high, many=names)
        entry = record(s, self.ledger.record, parts, {1: 0.1, 2: 0.2}.get(self.level, 0.3))
        if entry.struct is None:
            for key in parts:
                load = entry[key]
                assert isinstance(load, Load)
                one = singular(_UNIT.sub("", load.array.name))
                ones: tuple[str, ...] = (f"{key}_i" if self.k.threads == ("i",) else key,)
                ones = (one, one, *ones) if one != load.array.name else ones
                entry.values[key] = self.let(ones, load, 0.25 if key in once else 1.0)
        return entry.values

    def value(self, values: dict[str, Expr], amount: Formula) -> Expr:
        """What the entry gives, in place or by a helper."""
        plain = {key: words(self.ledger.inputs[key][0])[0] for key in amount.keys}
        args = {singular(_UNIT.sub("", name)): values[key] for key, name in plain.items()}
        chance = 0.3 if self.level >= 3 and not amount.plain else 0.0
        name = "term_of" if self.ledger.phrases else f"{amount.name}_of"
        value = applied(self.k, chance, name, args, amount.build)
        text = amount.said({key: self.say(values[key]) for key in amount.keys})
        if text != self.say(value):
            self.known[value] = text
        return value

    def amount(self, s: Site) -> list[Expr]:
        """The amounts of the entry, where one is used at once under a name of its own."""
        values = self.read(s)
        found = []
        for amount in self.amounts:
            value = self.value(values, amount)
            name = "term" if self.ledger.phrases else amount.name
            found.append(self.let(name, value, 0.5 if self.known else 1.0))
        return found

    def out(self, n: int, dims: tuple[str, ...]) -> Var:
        """The accumulator of the n-th amount."""
        kind, what = self.kind, self.amounts[n].outs
        names = (
            (f"{what}_sum total_{what}" if kind == "add" else f"{kind}_{what} {_KEPT[kind]}_{what}")
            if not self.ledger.phrases
            else (what)
        )
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
            return (s.dims[axis],), (s.at[axis],), f" by {_noun(s.dims[axis])}"
        if self.form == "row_bins":
            q, second = self.key(own.second, 3, 4)
            return (s.dims[0], q), (s.at[0], second), f" by {_noun(s.dims[0])} and {_noun(q)}"
        # Copies of few groups pay: of many each address is met seldom.
        m, group = self.key(own.parent if self.form == "copies" else own.group)
        by = f" by {_noun(m)}"
        if self.form == "bins":
            return (m,), (group,), by
        if self.form == "copies":
            copies = self.k.size_param("num_copies", self.k.size("copies", 3, 4))
            copy = self.k.let("copy", s.at[0] % copies)
            self.known[copy] = f"{self.say(s.at[0])} % {copies.name}"
            return ("copies", m), (copy, group), by
        q, second = self.key(own.second, 3, 4)
        return (m, q), (group, second), f"{by} and {_noun(q)}"

    def entries(self) -> str:
        """An atomic for each amount of the thread's entry."""
        found = self.amount(self.s)
        dims, at, by = self.target()
        share = 0.8 if len(found) + self.counted > 1 else 0.3
        if self.form not in ("total", "rows", "columns"):
            at = (*at[:-1], self.let(_INDEX.get(self.form, "g group"), at[-1], share))
        for n, value in enumerate(found):
            self.update(self.kind, self.out(n, dims), at, value)
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
        if phrase := self.ledger.phrases.get(self.amounts[0].name, ""):
            return f"{phrase}{by}"
        article = "the " if self.kind == "add" else ""
        told = " and ".join(f"{article}{_spoken(a.name)}" for a in self.amounts)
        return (
            f"Sum {told}{by}"
            if self.kind == "add"
            else f"{_KEPT[self.kind]} {told}{by}".capitalize()
        )

    def title_names(self) -> str:
        what = "_and_".join(a.name for a in self.amounts)
        if self.kind != "add":
            return f"{self.kind}_{what} reduce_{self.kind}_{what}"
        return what if self.ledger.phrases else f"sum_{what} accumulate_{what}"


_COUNTED = ("bins", "plane", "row_bins", "runs", "copies")
_INDEX = {"plane": "slot", "row_bins": "slot"}


def _started(a: _Accumulation) -> list[Var]:
    """What a thread keeps of each amount, at first."""
    k, found = a.k, []
    for amount in a.amounts:
        if a.kind == "add":
            names = words("acc total partial") if len(a.amounts) < 2 else (f"{amount.name}_acc",)
        else:
            names = words({"max": "top peak", "min": "low bottom"}[a.kind])
        far = {"add": "0", "max": "-1.0e30", "min": "1.0e30"}[a.kind]
        if a.type.is_int and a.kind != "add":
            far = {"max": str(-(2**31)), "min": str(2**31 - 1)}[a.kind]
        found.append(k.let(names, k.lift(int(far) if a.type.is_int else float(far), a.type)))
    return found


def _taken(a: _Accumulation, kept: Var, value: Expr) -> None:
    """An entry's amount beside what the thread keeps."""
    if a.kind == "add":
        a.k.augment(kept, "add", value)
    else:
        a.k.assign(kept, (most if a.kind == "max" else least)(kept, value))


def _told_amounts(a: _Accumulation, values: list[Expr]) -> str:
    verb = {"add": "sums up", "max": "takes the largest", "min": "takes the smallest"}[a.kind]
    return f"{verb} {' and '.join(map(a.say, values))}"


def _chunk_entry(a: _Accumulation, j: Expr) -> tuple[Site, str]:
    """The j-th entry of a thread's chunk: of consecutive ones, or of a stride of all threads."""
    (t,), width = a.s.at, a.width
    strided = a.chance(0.5) and a.form != "runs"
    if strided:
        step = a.k.size_param("num_threads stride", "chunks")
        i = a.k.let("i idx e", j * step + t)
    else:
        i = a.k.let("i idx e", t * width + j)
    assert isinstance(i, Var)
    how = f"{width} consecutive {a.ledger.entry}s {i.name}"
    if strided:
        how = f"{width} {a.ledger.entry}s {i.name} that lie {step.name} {a.ledger.entry}s apart"
    return Site(a.k, "chunk", a.s.dims, (i,)), how


def _chunk(a: _Accumulation) -> str:
    """A thread sums several entries by itself and issues one atomic for them."""
    k, kept = a.k, _started(a)
    careful = a.form == "careful" and a.kind == "add" and a.type.is_float
    lost = k.let("comp lost", k.lift(0.0, a.type)) if careful else None
    with k.for_("j step", a.width) as j:
        site, entries = _chunk_entry(a, j)
        values = a.amount(site)
        for one, value in zip(kept, values, strict=True):
            if lost is None:
                _taken(a, one, value)
                continue
            term = k.let("corrected y_k", value - lost)
            total = k.let("new_sum next_sum", one + term)
            k.assign(lost, (total - one) - term)
            k.assign(one, total)
    outs = [a.out(n, ("1",)) for n in range(len(kept))]
    for out, one in zip(outs, kept, strict=True):
        k.atomic(a.kind, out, 0, one)
    text = f"{a.what('')}: each thread {_told_amounts(a, values)} over {entries}"
    text += " by Kahan's compensated summation" if lost is not None else ""
    names = " and ".join(f"{out.name}[0]" for out in outs)
    return (
        f"{text}, and updates {names} by one atomic each."
        if outs[1:]
        else (f"{text}, and updates {names} by one atomic.")
    )


def _strip(a: _Accumulation) -> str:
    """A thread runs along a line of its own, of which the whole goes to one place."""
    k, (line,) = a.k, a.s.dims
    kept = _started(a)
    with a.s.loop("j e", f"num_{a.s.inner} length") as site:
        values = a.amount(site)
        for one, value in zip(kept, values, strict=True):
            _taken(a, one, value)
    if a.ledger.grouped:
        m, group = a.key(a.ledger.parent)
        at, dims, by = a.let("g group", group, 0.5), (m,), f" by {_noun(m)}"
    else:
        at, dims, by = k.lift(0, INT32), ("1",), ""
    outs = [a.out(n, dims) for n in range(len(kept))]
    for out, one in zip(outs, kept, strict=True):
        k.atomic(a.kind, out, at, one)
    text = f"{a.what(by)}: the thread of {singular(line)} {a.s.where} {_told_amounts(a, values)} "
    places = " and ".join(a.place(out, at) for out in outs)
    of = a.s.inner if a.ledger.grouped else "elements"
    return f"{text}over its {of}, and updates {places} by one atomic{' each' * bool(outs[1:])}."


def _runs(a: _Accumulation) -> str:
    """A thread sums runs of one group in registers, and issues an atomic where a run ends."""
    k, (t,) = a.k, a.s.at
    size, *names = a.ledger.group.split()
    k.size(size, 4, 6)
    groups = k.array(names, INT32, a.s.dims, init=f"index_of:{size}")
    current = k.let("current run_group", groups[t * a.width])
    kept = _started(a)
    length = k.let("run_length num_here", k.lift(0, INT32)) if a.counted else None
    outs = [a.out(n, (size,)) for n in range(len(kept))]
    counts = a.count((size,))

    def flush() -> None:
        for out, one in zip(outs, kept, strict=True):
            k.atomic("add", out, current, one)
        if counts is not None and length is not None:
            k.atomic("add", counts, current, length)

    with k.for_("j step", a.width) as j:
        site, entries = _chunk_entry(a, j)
        group = k.let("g group", groups[site.at])
        with k.if_(fn("ne", group, current)):
            flush()
            for one in (*kept, *([length] if length is not None else [])):
                k.assign(one, k.lift(0, one.type))
            k.assign(current, group)
        values = a.amount(site)
        for one, value in zip(kept, values, strict=True):
            _taken(a, one, value)
        if length is not None:
            k.augment(length, "add", 1)
    flush()
    names_ = [out.name for out in (*outs, *([counts] if counts is not None else []))]
    text = f"{a.what(f' by {singular(size)}')}: each thread goes through {entries} and "
    text += f"{_told_amounts(a, values)} over runs of equal {groups.name}"
    text += ", which it counts too" if length is not None else ""
    text += ", in registers. Where the run ends, and at the end of the chunk, it is added to "
    return f"{text}{listed(names_)} of its {_noun(size)} by one atomic{' each' * bool(names_[1:])}."


def accumulate(k: KernelBuilder, level: int, ledger: Ledger) -> Title:
    """Draw one kernel of a ledger."""
    a = _Accumulation(k, level, ledger)
    ways: dict[str, Callable[[_Accumulation], str]] = {
        "chunk": _chunk,
        "careful": _chunk,
        "strip": _strip,
        "runs": _runs,
    }
    text = ways.get(a.form, _Accumulation.entries)(a)
    return Title(k.name(*words(a.title_names())), text + a.shown)
