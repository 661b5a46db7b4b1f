"""Kernels of a ledger: an atomic an entry, or sums of a thread's own first."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.accumulate import Accumulation, noun
from generators.atomic.entries import Ledger
from generators.atomic.tally import whole
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title
from generators.kit.functions import least, most
from generators.kit.sites import Site
from generators.kit.words import listed, singular, words
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_FLOAT64 = Scalar("float64")


def _started(a: Accumulation) -> list[Var]:
    """What a thread keeps of each amount, at first."""
    k, found = a.k, []
    for kind, amount in a.takes:
        if kind == "add":
            names = words("acc total partial") if len(a.takes) < 2 else (f"{amount.name}_acc",)
        else:
            names = words({"max": "top peak", "min": "low bottom"}[kind])
        far = {"add": "0", "max": "-1.0e30", "min": "1.0e30"}[kind]
        if a.type.is_int and kind != "add":
            most_ = 2 ** (a.type.bits - 1)
            far = {"max": str(-most_), "min": str(most_ - 1)}[kind]
        found.append(k.let(names, k.lift(int(far) if a.type.is_int else float(far), a.type)))
    return found


def _taken(a: Accumulation, kept: list[Var], values: list[Expr]) -> None:
    """An entry's amounts beside what the thread keeps."""
    for (kind, _), one, value in zip(a.takes, kept, values, strict=True):
        if kind == "add":
            a.k.augment(one, "add", value)
        else:
            a.k.assign(one, (most if kind == "max" else least)(one, value))


def _told_amounts(a: Accumulation, values: list[Expr]) -> str:
    if a.kind == "add":
        return f"sums up {listed([whole(a.say(value)) for value in values])}"
    superlatives = {"max": "largest", "min": "smallest"}
    told = [(superlatives[kind], a.say(v)) for (kind, _), v in zip(a.takes, values, strict=True)]
    if len(a.amounts) < len(told):
        return f"takes the {listed([kind for kind, _ in told])} {told[0][1]}"
    return f"takes {listed([f'the {kind} {value}' for kind, value in told])}"


def _chunk_entry(a: Accumulation, j: Expr, count: Expr, strided: bool) -> tuple[Site, str]:
    """The j-th entry of a thread: of consecutive ones, or of a stride of all threads."""
    (t,) = a.s.at
    called = f"{a.say(count)} {'consecutive ' * (not strided)}{a.ledger.entry}s"
    if strided:
        step = a.k.size_param("num_threads stride", "num_threads")
        i = a.k.let("i idx e", j * step + t)
    else:
        i = a.k.let("i idx e", t * count + j)
    assert isinstance(i, Var)
    how = f"{called} {i.name}"
    if strided:
        how += f" that lie {step.name} {a.ledger.entry}s apart"
    return Site(a.k, "chunk", a.s.dims, (i,)), how


def _put(a: Accumulation, kept: list[Var], dims: str, at: Expr) -> list[Var]:
    """An atomic for each of what a thread keeps."""
    outs = [a.out(n, (dims,)) for n in range(len(kept))]
    for (kind, _), out, one in zip(a.takes, outs, kept, strict=True):
        a.k.atomic(kind, out, at, one)
    return outs


def _chunk(a: Accumulation) -> str:
    """A thread takes several entries by itself and issues one atomic for them."""
    k, kept, strided = a.k, _started(a), a.chance(0.5)
    count = a.per_thread()
    with k.for_("j step", count) as j:
        site, entries = _chunk_entry(a, j, count, strided)
        values = a.amount(site)
        _taken(a, kept, values)
    outs = _put(a, kept, "1", k.lift(0, INT32))
    text = f"{a.what('')}: each thread {_told_amounts(a, values)} over {entries}, and updates "
    text += listed([f"{out.name}[0]" for out in outs])
    return f"{text} by one atomic{' each' * bool(outs[1:])}."


def _careful(a: Accumulation) -> str:
    """A long sum of single precision, compensated; those of the threads may be added in double.

    W. Kahan, CACM 8 (1965); A. Neumaier, ZAMM 54 (1974).
    """
    k, strided, late = a.k, a.chance(0.6), a.chance(0.5)
    total = k.let("total acc", k.lift(0.0, a.type))
    lost = k.let("comp correction" if late else "comp lost", k.lift(0.0, a.type))
    count = a.per_thread()
    with k.for_("j step", count) as j:
        site, entries = _chunk_entry(a, j, count, strided)
        (value,) = a.amount(site)
        if late:
            term = value if isinstance(value, Var) else k.let("term", value)
            following = k.let("new_total next_total", total + term)
            with k.if_(fn("ge", abs(total), abs(term))):
                k.augment(lost, "add", (total - following) + term)
            with k.else_():
                k.augment(lost, "add", (term - following) + total)
        else:
            term = k.let("corrected y", value - lost)
            following = k.let("new_total next_total", total + term)
            k.assign(lost, (following - total) - term)
        k.assign(total, following)
    double = a.chance(0.6)
    result: Expr = total
    if late:
        result = cast(total, _FLOAT64) + cast(lost, _FLOAT64) if double else total + lost
    elif double:
        result = cast(total, _FLOAT64) - cast(lost, _FLOAT64)
    a.type = _FLOAT64 if double else a.type
    out = a.out(0, ("1",))
    k.atomic("add", out, 0, result)
    how = "Neumaier's" if late else "Kahan's"
    text = f"{a.what('')}: each thread {_told_amounts(a, [value])} over {entries} by {how} "
    text += "compensated summation in float32, and adds "
    more = {(1, 1): "sum and correction", (1, 0): "sum plus correction"}.get((late, double))
    more = more or ("sum minus the compensation" if double else "sum")
    text += f"its {more} to {out.name}[0]"
    return f"{text}{', which is float64,' * double} by one atomic."


def _strip(a: Accumulation) -> str:
    """A thread runs along a line of its own, of which the whole goes to one place."""
    k, (line,) = a.k, a.s.dims
    kept = _started(a)
    with a.s.loop("j e", f"num_{a.s.inner} length") as site:
        values = a.amount(site)
        _taken(a, kept, values)
    if a.ledger.grouped:
        m, group = a.key(a.ledger.parent)
        at, dims, by = a.let("g group", group, 0.5), m, f" by {noun(m)}"
    else:
        at, dims, by = k.lift(0, INT32), "1", ""
    outs = _put(a, kept, dims, at)
    text = f"{a.what(by)}: the thread of {singular(line)} {a.s.where} {_told_amounts(a, values)} "
    places = listed([a.place(out, at) for out in outs])
    of = a.s.inner if a.ledger.grouped else "elements"
    return f"{text}over its {of}, and updates {places} by one atomic{' each' * bool(outs[1:])}."


def _runs(a: Accumulation) -> str:
    """A thread sums runs of one group in registers, and issues an atomic where a run ends."""
    k, (t,) = a.k, a.s.at
    size, *names = a.ledger.group.split()
    k.size(size, 4, 6)
    groups = k.array(names, INT32, a.s.dims, init=f"index_of:{size}")
    count = a.per_thread()
    current = k.let(f"run_{singular(size)}", groups[t * count])
    kept = _started(a)
    length = k.let("run_length num_here", k.lift(0, INT32)) if a.counted else None
    outs = [a.out(n, (size,)) for n in range(len(kept))]
    counts = a.count((size,))
    every = [*kept, *([length] if length is not None else [])]

    def flush() -> None:
        for out, one in zip(outs, kept, strict=True):
            k.atomic("add", out, current, one)
        if counts is not None and length is not None:
            k.atomic("add", counts, current, length)

    with k.for_("j step", count) as j:
        site, entries = _chunk_entry(a, j, count, strided=False)
        group = a.owner = a.let(a.group_name(size), groups[site.at])
        with k.if_(fn("ne", group, current)):
            flush()
            for one in every:
                k.assign(one, k.lift(0, one.type))
            k.assign(current, group)
        values = a.amount(site)
        _taken(a, kept, values)
        if length is not None:
            k.augment(length, "add", 1)
    flush()
    names_ = [out.name for out in (*outs, *([counts] if counts is not None else []))]
    text = f"{a.what(f' by {singular(size)}')}: each thread goes through {entries} and "
    text += f"{_told_amounts(a, values)} over runs of equal {groups.name}"
    text += ", which it counts too" if length is not None else ""
    they, each = ("they are", " each") if names_[1:] else ("the sum is", "")
    text += f", in registers. Where the run ends, and after the last entry, {they} added to "
    return f"{text}{listed(names_)} of the run's {noun(size)} by one atomic{each}."


def accumulate(k: KernelBuilder, level: int, ledger: Ledger) -> Title:
    """Draw one kernel of a ledger."""
    a = Accumulation(k, level, ledger)
    ways: dict[str, Callable[[Accumulation], str]] = {
        "chunk": _chunk,
        "careful": _careful,
        "strip": _strip,
        "runs": _runs,
    }
    text = ways.get(a.form, Accumulation.entries)(a)
    return Title(k.name(*words(a.title_names())), text + a.shown)
