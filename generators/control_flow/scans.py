"""Scans of a row with memory: runs, crossings, peaks, hysteresis, drawdowns, brackets, searches."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import either, function_of, rows_of, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, Op, Operand, Var, literal, op

_SCANS = {
    "crossings": "how often neighbouring samples lie on different sides of {t}",
    "longest_run": "the length of the longest run of samples above {t}",
    "first_above": "the index of the first sample above {t}, or the row's length",
    "last_above": "the index of the last sample above {t}, or -1",
    "peaks": "how many samples are above {t} and above both neighbours",
    "switches": "how often a switch turns on that goes on above {t} and off below {u}",
    "rises": "how many samples are larger than the one before by more than {t}",
    "debounced": "how many groups of two or more neighbouring samples above {t} there are",
    "settled": "the index from which on all samples stay within {t} of the last one",
}


_COUNTED = ("crossings", "longest_run", "peaks", "switches", "rises", "debounced")


@idiom
@with_struct
def event_scan(k: KernelBuilder, level: int) -> Title:
    """Counts and places of events in each row of samples."""
    shape = k.draw.shape
    whole = shape.chance(0.25)
    s = (
        Scalar(shape.choice(("int32", "int16", "int64", "uint8")))
        if whole
        else k.draw.wide_float_type()
    )
    low, high = (0, 100) if whole else (-1.5, 1.5)
    forms = sorted(_SCANS)
    chosen = [shape.choice(forms)]
    if level >= 4:
        chosen = shape.sample(_COUNTED, 2)
    table, row, count = rows_of(k, ("signal", "samples", "trace", "series"), s, low, high)
    t = either(k, ("threshold", "limit", "cutoff"), s, *((40, 60) if whole else (0.1, 0.4)))
    if any(f in ("settled", "rises") for f in chosen):
        t = either(k, ("tolerance", "margin"), s, *((45, 60) if whole else (0.6, 0.9)))
    u: Operand = 0
    if "switches" in chosen:
        u = either(k, ("low_threshold", "release"), s, *((15, 30) if whole else (-0.6, -0.2)))
    outs = [
        k.out((f"{f}_out", f"{f}_count" if f in _COUNTED else f"{f}_index"), INT32, "rows")
        for f in chosen
    ]
    masked = level >= 2 and shape.chance(0.4)
    flags = k.array(("valid", "quality"), INT32, "rows", low=0, high=2) if masked else None
    note = ""
    if flags is not None:
        with k.if_(fn("eq", flags[row], 0)):
            for out in outs:
                k.store(out, row, -1)
            k.return_()
        note = f" Rows whose {flags.name} is 0 give -1."
    smooth = level >= 3 and not whole and shape.chance(0.5)
    mean = function_of(
        k,
        level if smooth else 1,
        ("mean_of_two", "smoothed"),
        [("now", s), ("before", s)],
        lambda _, a, b: 0.5 * (a + b),
        0.5,
    )
    done = []
    for form, out in zip(chosen, outs, strict=True):
        value = _scan(k, form, table, row, count, (t, u), mean if smooth else None)
        k.store(out, row, value)
        done.append(f"{_SCANS[form].format(t=shown(t), u=shown(u))} goes to {out.name}")
    how = (
        " Samples are replaced by the mean of themselves and the one before, from index 1 on."
        if smooth
        else ""
    )
    name = k.name(f"scan_{chosen[0]}", f"{chosen[0]}_per_row", "scan_rows", "row_events")
    return Title(name, f"For each row of {table.name}: {'; '.join(done)}.{how}{note}")


def _scan(
    k: KernelBuilder,
    form: str,
    x: Var,
    row: Var,
    count: Expr,
    limits: tuple[Operand, Operand],
    smooth: Callable[..., Expr] | None,
) -> Expr:
    """One loop over the row; what it found."""
    t, u = limits
    shape = k.draw.shape

    def at(j: Expr) -> Expr:
        return smooth(x[row, j], x[row, _before(j)]) if smooth else x[row, j]

    begin = 2 if smooth else 1
    start = 1 if smooth else 0
    if form == "first_above":
        place = k.let(("place", "first"), count)
        with k.for_(("j", "col"), count, start=start) as j, k.if_(at(j) > t):
            k.assign(place, j)
            k.break_()
        return place
    if form == "last_above":
        place = k.let(("place", "last"), k.lift(-1, INT32))
        if shape.chance(0.5):
            with k.for_(("j", "col"), count, start=start) as j, k.if_(at(j) > t):
                k.assign(place, j)
        else:
            j = k.let(("j", "col"), count - 1)
            with k.while_(j >= start):
                with k.if_(at(j) > t):
                    k.assign(place, j)
                    k.break_()
                k.augment(j, "sub", 1)
        return place
    found = k.let(("found", "hits", "total"), k.lift(0, INT32))
    if form == "crossings":
        with k.for_(("j", "col"), count, start=begin) as j:
            above: Expr = at(j) > t
            before: Expr = at(_before(j)) > t
            if shape.chance(0.5):
                above, before = k.let(("above", "now"), above), k.let(("was", "before"), before)
            with k.if_(fn("ne", above, before)):
                k.augment(found, "add", 1)
    elif form == "longest_run":
        run = k.let(("run", "length_now"), k.lift(0, INT32))
        with k.for_(("j", "col"), count, start=start) as j:
            with k.if_(at(j) > t):
                k.augment(run, "add", 1)
                k.assign(found, fn("max", found, run))
            with k.else_():
                k.assign(run, 0)
    elif form == "peaks":
        with k.for_(("j", "col"), count - 1, start=begin) as j:
            here = k.let(("here", "v"), at(j))
            sides = op("and", here > at(_before(j)), here > at(j + 1))
            with k.if_(op("and", here > t, sides)):
                k.augment(found, "add", 1)
    elif form == "switches":
        on = k.let(("on", "state"), k.lift(0, INT32))
        with k.for_(("j", "col"), count, start=start) as j:
            value = k.let(("v", "sample"), at(j))
            with k.if_(op("and", fn("eq", on, 0), value > t)):
                k.assign(on, 1)
                k.augment(found, "add", 1)
            with k.elif_(op("and", fn("eq", on, 1), value < u)):
                k.assign(on, 0)
    elif form == "rises":
        earlier = k.let(("before", "prev"), at(k.lift(start, INT32)) if not smooth else x[row, 0])
        with k.for_(("j", "col"), count, start=begin if not smooth else 1) as j:
            now = k.let(("now", "v"), at(j))
            with k.if_(now > earlier + t):
                k.augment(found, "add", 1)
            k.assign(earlier, now)
    elif form == "debounced":
        run = k.let(("run", "streak"), k.lift(0, INT32))
        with k.for_(("j", "col"), count, start=start) as j:
            with k.if_(at(j) <= t):
                k.assign(run, 0)
                k.continue_()
            k.augment(run, "add", 1)
            with k.if_(fn("eq", run, 2)):
                k.augment(found, "add", 1)
    else:
        last = k.let(("last", "final"), at(count - 1) if not smooth else x[row, count - 1])
        with k.for_(("j", "col"), count, start=start) as j:
            value = k.let(("v", "sample"), at(j))
            far = op("or", value > last + t, value + t < last)
            with k.if_(far):
                k.assign(found, j + 1)
    return found


def _before(j: Expr) -> Expr:
    """The index before: j for j + 1, j - 2 for j - 1, a smaller number for a number."""
    if isinstance(j, Const):
        return literal(int(j.value) - 1, INT32)
    if isinstance(j, Op) and j.op in ("add", "sub") and isinstance(j.args[1], Const):
        step = int(j.args[1].value) * (1 if j.op == "add" else -1) - 1
        return j.args[0] if step == 0 else j.args[0] - -step if step < 0 else j.args[0] + step
    return j - 1
