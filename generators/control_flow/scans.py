"""Scans of rows of samples with memory: events and their places, and recursive filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    STOP,
    Also,
    Case,
    both,
    branch,
    counter,
    leave,
    minus,
    move,
    own_length,
    rows_of,
    same,
    some,
    some_type,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp, most
from generators.kit.naming import BY_LEVEL, maybe, routine
from generators.kit.sites import Site
from generators.kit.sources import setting, zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var

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
    if level >= 4 and shape.chance(0.6):
        both_of = [form for form, scan in _SCANS.items() if scan.counts and form != "rises"]
        chosen = shape.sample(both_of, 2)
    bounds = (0, 100) if whole else (-1.5, 1.5)
    s, table, count = rows_of(k, "signal samples trace series", type_, *bounds)
    t, u = _limits(k, chosen, type_)
    outs = [
        s.out(f"{form}_out {form}_{'count' if _SCANS[form].counts else 'index'}", INT32)
        for form in chosen
    ]
    note = ""
    if level >= 2 and shape.chance(0.08):
        flags = s.read("valid quality", INT32, 0, 2)
        leave(s, same(flags, 0), *((out, -1) for out in outs))
        note = f" Rows whose {say(k, flags)} is 0 give -1."

    def at(j: Expr, by: int) -> Expr:
        return table[s.index(j if by == 0 else j + by if by > 0 else j - -by)]

    stop, more = own_length(s, count, 0.4 if level >= 3 else 0.0, "samples")
    done = []
    for form, out in zip(chosen, outs, strict=True):
        done.append(f"{_SCANS[form].text.format(t=say(k, t), u=say(k, u))} goes to {out.name}")
        k.store(out, s.at, _scan(k, form, at, 0, stop, (t, u)))
    name = k.name(f"scan_{chosen[0]} {chosen[0]}_per_row scan_rows row_events")
    return Title(name, f"Along each row of {table.name}: {'; '.join(done)}.{note}{more}")


def _limits(k: KernelBuilder, chosen: Sequence[str], type_: Scalar) -> tuple[Expr, Expr]:
    """The limit of events, and a lower one where there are two."""
    whole, u = type_.is_int, zero(type_)
    if "settled" in chosen or "rises" in chosen:
        span = (45.0, 60.0) if whole else (0.6, 0.9)
        t = setting(k, "tolerance margin", type_, *span, 0.9)
    else:
        span = (40.0, 60.0) if whole else (0.1, 0.4)
        t = setting(k, "threshold limit cutoff", type_, *span, 0.9)
    if "switches" in chosen:
        span = (15.0, 30.0) if whole else (-0.6, -0.2)
        u = setting(k, "low_threshold release", type_, *span, 0.9)
    return t, u


def _scan(
    k: KernelBuilder, form: str, at: At, first: int, count: Expr, limits: tuple[Expr, Expr]
) -> Expr:
    """One loop over the row; what it found."""
    scan, none = _SCANS[form], {"first_above": count, "last_above": k.lift(-1, INT32)}
    none["last_from_end"] = none["last_above"]
    names = "found hits tally" if scan.counts else "place found at"
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


@dataclass(frozen=True)
class Filter:
    """A state y and a best or total, which each sample v changes; numbers a and b."""

    text: str
    cases: Callable[..., Sequence[tuple[Expr | None, Operand]]]
    """New states of y by condition, of y, v, a and b; the first is that of a rising sample."""
    kept: Callable[..., Expr] | None = None
    """The best or total after a sample, of itself, y, v, a and b; without it y is the result."""
    first: Callable[..., Expr] | None = None
    """What y becomes before that, of y, v and a."""


_FILTERS: dict[str, Filter] = {
    "drawdown": Filter(
        "the largest fall from an earlier maximum",
        lambda y, v, a, b: [(v > y, v)],
        lambda best, y, v, a, b: most(best, y - v),
    ),
    "max_subarray": Filter(
        "the largest sum of neighbouring entries (Kadane), 0 for none",
        lambda y, v, a, b: [(y > 0.0, y + v), (None, v)],
        lambda best, y, v, a, b: most(best, y),
    ),
    "envelope": Filter(
        "the last value of an envelope follower, which moves towards each sample by {a} of the gap "
        "where that is larger, else by {b} of it",
        lambda y, v, a, b: [(v > y, y + a * (v - y)), (None, y + b * (v - y))],
    ),
    "limiter": Filter(
        "the last level of a slew limiter, which follows the samples by at most {a} upward and {b} "
        "downward",
        lambda y, v, a, b: [(v - y > a, y + a), (v - y < minus(b), y - b), (None, v)],
    ),
    "cusum": Filter(
        "the largest of the upward sums of CUSUM, y = max(0, y + v - {a})",
        lambda y, v, a, b: [(y < 0.0, 0.0)],
        lambda best, y, v, a, b: most(best, y),
        lambda y, v, a: y + v - a,
    ),
    "peak_decay": Filter(
        "the last value of a peak meter that takes a larger sample at once and else falls by the "
        "factor {a}",
        lambda y, v, a, b: [(v > y, v)],
        first=lambda y, v, a: a * y,
    ),
    "decay": Filter(
        "the last value of a leaky integrator, y = {a} * y + v clamped to [-{b}, {b}]",
        lambda y, v, a, b: [(y > b, b), (y < minus(b), minus(b))],
        first=lambda y, v, a: a * y + v,
    ),
    "pid": Filter(
        "the last output of a PI controller, {a} * v + {b} * y, v being the error and y its sum so "
        "far, kept in [-1, 1]",
        lambda y, v, a, b: [(y > 1.0, 1.0), (y < -1.0, -1.0)],
        lambda total, y, v, a, b: a * v + b * y,
        lambda y, v, a: y + v,
    ),
}


_RATES = {
    "cusum": "slack drift",
    "peak_decay": "decay release",
    "pid": "k_p gain",
    "decay": "leak retain",
    "limiter": "max_rise up_rate",
}
"""Names of a filter's first number."""


@idiom
@with_struct
def row_filter(k: KernelBuilder, level: int) -> Title:
    """Recursions along each row of samples that branch on what came before."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_FILTERS))
    text = _FILTERS[form].text
    s, table, count = rows_of(k, "prices samples signal returns", type_, -1.0, 2.0)
    a = zero(type_)
    if "{a}" in text:
        a = setting(k, _RATES.get(form, "attack rise"), type_, 0.35, 0.6, 0.9)
    b = zero(type_)
    if "{b}" in text:
        bounds = ("bound cap", 1.0, 1.4) if form == "decay" else ("release fall", 0.15, 0.3)
        called = {"pid": "k_i gain_i", "limiter": "max_fall down_rate"}.get(form, bounds[0])
        b = setting(k, called, type_, *bounds[1:], 0.9)
    out = s.out("out result filtered", type_)
    trace = Also(s, 0.0 if level < 2 else 0.6, "trace history", type_, "cols")
    reading, how = _reading(s, table, type_)
    y = k.let("y state level", reading(k.lift(0, s.at[0].type)))
    largest = form in ("drawdown", "max_subarray", "cusum")
    best = k.let("best largest" if largest else "control output", zero(type_))
    followed = _followed(k, level, form, type_)
    trace.put(y, 0)
    with k.for_("j t col", count, start=1) as j:
        v = k.let("v x sample", reading(j))
        _moved(k, _FILTERS[form], (best, y, v, a, b), followed)
        trace.put(y, j)
    k.store(out, s.at, best if _FILTERS[form].kept else y)
    text = text.format(a=say(k, a), b=say(k, b))
    done = f"Along each row of {table.name}{how}: {out.name} gets {text}."
    done += trace.said(f"{_STATES.get(form, 'this value')} after each sample")
    return Title(k.name(f"{form} {form}_per_row track_{form} row_filter"), done)


def _moved(
    k: KernelBuilder,
    rule: Filter,
    state: tuple[Var, Var, Var, Expr, Expr],
    followed: Callable[..., Expr] | None,
) -> None:
    """One sample: the state by branches or a formula, then the best or total."""
    best, y, v, a, b = state
    if followed is not None:
        k.assign(y, followed(y, v, a, b))
    else:
        if rule.first is not None:
            move(k, y, rule.first(y, v, a))
        branch(k, *((test, (y, value)) for test, value in rule.cases(y, v, a, b)))
    if rule.kept is not None:
        move(k, best, rule.kept(best, y, v, a, b))


def _reading(s: Site, table: Var, type_: Scalar) -> tuple[Callable[[Expr], Expr], str]:
    """Samples as they are, or less an offset of their row; and that in words."""
    how = s.k.draw.shape.weighted({"plain": 12, "per_row": 1})
    if how == "plain":
        return lambda j: table[s.index(j)], ""
    offset = s.read("row_offsets channel_zero", type_, -0.1, 0.1)
    return lambda j: table[s.index(j)] - offset, f" (samples less {say(s.k, offset)})"


def _follow_envelope(b: BodyBuilder, y: Expr, v: Expr, up: Expr, down: Expr) -> Expr:
    rate = b.let("rate share", down)
    with b.if_(v > y):
        b.assign(rate, up)
    return y + rate * (v - y)


_STATES = {
    "drawdown": "the maximum so far",
    "max_subarray": "the largest sum that ends there",
    "cusum": "the sum y",
    "pid": "the sum y",
}
"""What a trace holds, where it is not what the result is the last of."""


_FOLLOWS: dict[str, Callable[..., Expr]] = {
    "envelope": _follow_envelope,
    "limiter": lambda b, y, v, up, down: y + clamp(v - y, minus(down), up),
    "decay": lambda b, y, v, share, bound: clamp(share * y + v, minus(bound), bound),
}
"""Forms whose next state is a formula of the state, the sample and two numbers."""


def _followed(k: KernelBuilder, level: int, form: str, type_: Scalar) -> Callable[..., Expr] | None:
    """The next state as a formula, where it is one."""
    if form not in _FOLLOWS or level < 3:
        return None
    params = dict.fromkeys(("y", "v", "a", "b"), type_)
    return routine(k, BY_LEVEL[level], f"follow next_level {form}_step", params, _FOLLOWS[form])
