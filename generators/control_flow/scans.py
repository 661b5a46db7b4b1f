"""Scans of rows with memory: runs, crossings, peaks, hysteresis, first and last places."""

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
    rows_of,
    same,
    some,
    some_type,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import most
from generators.kit.naming import BY_LEVEL, maybe, routine
from generators.kit.sites import Site
from generators.kit.sources import setting, zero
from generators.kit.words import say
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var

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
        "how often neighbouring samples lie on different sides of {t}",
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
        "how many samples are above {t} and above both neighbours",
        lambda v, n, run, t, u, j, at: [(both(v > t, v > at(j, -1), v > at(j, 1)), (n, n + 1))],
        begin=1,
        end=1,
        held=True,
    ),
    "switches": Scan(
        "how often a switch turns on that goes on above {t} and off below {u}",
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


@idiom
@with_struct
def event_scan(k: KernelBuilder, level: int) -> Title:
    """Counts and places of events in each row of samples."""
    shape, type_ = k.draw.shape, some_type(k, 0.25, "int32 int16 int64 uint8")
    whole = type_.is_int
    chosen = [shape.choice(sorted(_SCANS))]
    if level >= 4:
        chosen = shape.sample([form for form, scan in _SCANS.items() if scan.counts], 2)
    bounds = (0, 100) if whole else (-1.5, 1.5)
    s, table, count = rows_of(k, "signal samples trace series", type_, *bounds)
    if "settled" in chosen or "rises" in chosen:
        t = setting(k, "tolerance margin", type_, *((45, 60) if whole else (0.6, 0.9)))
    else:
        t = setting(k, "threshold limit cutoff", type_, *((40, 60) if whole else (0.1, 0.4)))
    u = zero(type_)
    if "switches" in chosen:
        u = setting(k, "low_threshold release", type_, *((15, 30) if whole else (-0.6, -0.2)))
    outs = [
        s.out(f"{form}_out {form}_{'count' if _SCANS[form].counts else 'index'}", INT32)
        for form in chosen
    ]
    note = ""
    if level >= 2 and shape.chance(0.4):
        flags = s.read("valid quality", INT32, 0, 2)
        leave(s, same(flags, 0), *((out, -1) for out in outs))
        note = f" Rows whose {say(k, flags)} is 0 give -1."
    smooth = level >= 3 and not whole and "settled" not in chosen and shape.chance(0.5)
    at, first = _samples(s, level, table, smooth)
    if smooth:
        note = f" Samples from index 1 on are means of themselves and the one before.{note}"
    done = []
    for form, out in zip(chosen, outs, strict=True):
        done.append(f"{_SCANS[form].text.format(t=say(k, t), u=say(k, u))} goes to {out.name}")
        k.store(out, s.at, _scan(k, form, at, first, count, (t, u)))
    name = k.name(f"scan_{chosen[0]} {chosen[0]}_per_row scan_rows row_events")
    return Title(name, f"For each row of {table.name}: {'; '.join(done)}.{note}")


def _samples(s: Site, level: int, table: Var, smooth: bool) -> tuple[At, int]:
    """How samples are read, as they are or as the mean of two; the first of them."""

    def place(j: Expr, by: int) -> Expr:
        index = j if by == 0 else j + by if by > 0 else j - -by
        return table[s.index(index)]

    if not smooth:
        return place, 0
    type_ = table[s.index(0)].type
    params, chance = {"now": type_, "before": type_}, BY_LEVEL[level]
    mean = routine(s.k, chance, "mean_of_two smoothed", params, lambda _, a, b: 0.5 * (a + b))
    return lambda j, by: mean(place(j, by), place(j, by - 1)), 1


def _scan(
    k: KernelBuilder, form: str, at: At, first: int, count: Expr, limits: tuple[Expr, Expr]
) -> Expr:
    """One loop over the row; what it found."""
    scan, none = _SCANS[form], {"first_above": count, "last_above": k.lift(-1, INT32)}
    none["last_from_end"] = none["last_above"]
    found = k.let("found hits place", none.get(form, k.lift(0, INT32)))
    run: Expr = found
    if form == "settled":
        run = k.let("last final", at(count, -1))
    elif form in ("longest_run", "switches", "debounced"):
        run = counter(k, "run streak state")
    start, stop = first + scan.begin, count - scan.end if scan.end else count
    back = k.let("j col", count - 1) if form == "last_from_end" else None
    with k.for_("j col", stop, start=start) if back is None else k.while_(back >= start) as turn:
        j = back if turn is None else turn
        v = maybe(k, "v sample here", at(j, 0), 1.0 if scan.held else 0.4)
        branch(k, *scan.cases(v, found, run, *limits, j, at))
        if back is not None:
            k.augment(back, "sub", 1)
    return found
