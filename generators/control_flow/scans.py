"""Scans of rows of samples with memory: events and their places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    STOP,
    Case,
    both,
    branch,
    counter,
    leave,
    own_length,
    rows_of,
    same,
    some,
    some_type,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import most
from generators.kit.naming import maybe
from generators.kit.sources import setting, zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr

At = Callable[[Expr, int], Expr]
"""A sample, and how many places after it."""


@dataclass(frozen=True)
class Scan:
    """What is found, in words, and how; a loop leaves out some places at the begin and the end."""

    text: str
    cases: Callable[..., Sequence[Case]]
    """Of a sample v, what is found, a run, limits t and u, the index j, and samples ``at``."""
    counts: bool = True
    begin: int = 0
    end: int = 0
    held: bool = False
    """Whether the sample is read more than once."""


_SCANS = {
    "crossings": Scan(
        "how often one of two neighbouring samples is above {t} and the other is not",
        lambda v, n, run, t, u, j, at: [(fn("ne", v > t, at(j, -1) > t), (n, n + 1))],
        begin=1,
    ),
    "longest_run": Scan(
        "the length of the longest run of samples above {t}",
        lambda v, n, run, t, u, j, at: [
            (v > t, (run, run + 1), (n, most(n, run))),
            (None, (run, 0)),
        ],
    ),
    "first_above": Scan(
        "the index of the first sample above {t}, or the row's length",
        lambda v, n, run, t, u, j, at: [(v > t, (n, j), STOP)],
        counts=False,
    ),
    "last_above": Scan(
        "the index of the last sample above {t}, or -1",
        lambda v, n, run, t, u, j, at: [(v > t, (n, j))],
        counts=False,
    ),
    "last_from_end": Scan(
        "the index of the last sample above {t}, or -1",
        lambda v, n, run, t, u, j, at: [(v > t, (n, j), STOP)],
        counts=False,
    ),
    "peaks": Scan(
        "how many samples with two neighbours are above {t} and above both of these",
        lambda v, n, run, t, u, j, at: [(both(v > t, v > at(j, -1), v > at(j, 1)), (n, n + 1))],
        begin=1,
        end=1,
        held=True,
    ),
    "switches": Scan(
        "how often a switch turns on that goes on above {t}, off below {u}, and is off at first",
        lambda v, n, run, t, u, j, at: [
            (both(same(run, 0), v > t), (run, 1), (n, n + 1)),
            (both(same(run, 1), v < u), (run, 0)),
        ],
        held=True,
    ),
    "rises": Scan(
        "how many samples are larger than the one before by more than {t}",
        lambda v, n, run, t, u, j, at: [(v > at(j, -1) + t, (n, n + 1))],
        begin=1,
    ),
    "debounced": Scan(
        "how many groups of two or more neighbouring samples above {t} there are",
        lambda v, n, run, t, u, j, at: [
            (v <= t, (run, 0)),
            (same(run, 1), (run, 2), (n, n + 1)),
            (None, (run, run + 1)),
        ],
    ),
    "settled": Scan(
        "the index from which on all samples stay within {t} of the last one",
        lambda v, n, last, t, u, j, at: [(some(v > last + t, v + t < last), (n, j + 1))],
        counts=False,
        held=True,
    ),
}


_OUTS = {
    "crossings": "num_crossings crossing_counts",
    "longest_run": "longest_runs run_lengths",
    "first_above": "first_above first_index",
    "last_above": "last_above last_index",
    "last_from_end": "last_above last_index",
    "peaks": "num_peaks peak_counts",
    "switches": "num_switches switch_counts",
    "rises": "num_jumps jump_counts",
    "debounced": "num_events event_counts",
    "settled": "settle_index settled_from",
}
"""Names of the output of each scan."""


@idiom
@with_struct
def event_scan(k: KernelBuilder, level: int) -> Title:
    """Counts and places of events in each row of samples."""
    shape, type_ = k.draw.shape, some_type(k, 0.25, "int32 int32 int16 uint8")
    whole = type_.is_int
    chosen = [shape.choice(sorted(_SCANS))]
    if level >= 4 and shape.chance(0.6):
        both_of = [form for form, scan in _SCANS.items() if scan.counts and form != "rises"]
        chosen = shape.sample(both_of, 2)
    bounds = (0, 100) if whole else (-1.5, 1.5)
    s, table, count = rows_of(k, "signal samples trace series", type_, *bounds)
    t, u = _limits(k, chosen, type_)
    outs = [s.out(_OUTS[form], INT32) for form in chosen]
    note = ""
    if level >= 2 and shape.chance(0.08):
        flags = s.read("valid quality", INT32, 0, 2)
        leave(s, same(flags, 0), *((out, -1) for out in outs))
        note = f" Rows whose {say(k, flags)} is 0 give -1."

    def at(j: Expr, by: int) -> Expr:
        return table[s.index(j if by == 0 else j + by if by > 0 else j - -by)]

    own = 0.4 if level >= 3 and "settled" not in chosen else 0.0
    stop, more = own_length(s, count, own, "samples")
    done = []
    for form, out in zip(chosen, outs, strict=True):
        done.append(f"{out.name} gets {_SCANS[form].text.format(t=say(k, t), u=say(k, u))}")
        k.store(out, s.at, _scan(k, form, at, 0, stop, (t, u)))
    form = chosen[0].replace("last_from_end", "last_above")
    verb = "count" if _SCANS[chosen[0]].counts else "find"
    name = k.name(f"{verb}_{form} scan_{form}" if not chosen[1:] else "row_events scan_rows")
    return Title(name, f"For each row of {table.name}, {'; '.join(done)}.{note}{more}")


def _limits(k: KernelBuilder, chosen: Sequence[str], type_: Scalar) -> tuple[Expr, Expr]:
    """The limit of events, and a lower one where there are two."""
    whole, u = type_.is_int, zero(type_)
    names = ("threshold limit cutoff", "")
    if "switches" in chosen:
        pairs = ("high_threshold low_threshold", "on_level off_level", "upper lower")
        high, low = k.draw.word.choice(pairs).split()
        names = (high, low)
    if "settled" in chosen or "rises" in chosen:
        span = (45.0, 60.0) if whole else (0.6, 0.9)
        t = setting(k, "tolerance margin", type_, *span, 1.0)
    else:
        rare = chosen[0].startswith(("first", "last"))
        span = (40.0, 60.0) if whole else (0.1, 0.4)
        if rare:
            span = (75.0, 92.0) if whole else (0.8, 1.3)
        t = setting(k, names[0], type_, *span, 1.0)
    if "switches" in chosen:
        span = (15.0, 30.0) if whole else (-0.6, -0.2)
        u = setting(k, names[1], type_, *span, 1.0)
    return t, u


def _scan(
    k: KernelBuilder, form: str, at: At, first: int, count: Expr, limits: tuple[Expr, Expr]
) -> Expr:
    """One loop over the row; what it found."""
    scan, none = _SCANS[form], {"first_above": count, "last_above": k.lift(-1, INT32)}
    none["last_from_end"] = none["last_above"]
    names = "found hits tally" if scan.counts else "place found at"
    names = "longest best" if form == "longest_run" else names
    found = k.let(names, none.get(form, k.lift(0, INT32)))
    run: Expr = found
    if form == "settled":
        run = k.let("last final", at(count, -1))
    elif form in ("longest_run", "switches", "debounced"):
        run = counter(k, "on state" if form == "switches" else "run streak")
    start, stop = first + scan.begin, count - scan.end if scan.end else count
    backwards = form == "last_from_end"
    back = k.let("j col", count - 1) if backwards else found
    with k.while_(back >= start) if backwards else k.for_("j col", stop, start=start) as turn:
        j = back if turn is None else turn
        v = maybe(k, "v sample here", at(j, 0), 1.0 if scan.held else 0.4)
        branch(k, *scan.cases(v, found, run, *limits, j, at))
        if backwards:
            k.augment(back, "sub", 1)
    return found
