"""Scans of a row with memory: runs, crossings, peaks, hysteresis, drawdowns, brackets, searches."""

from __future__ import annotations

from generators._control_flow_kit import also, either, rows_of, shown
from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Operand, Var, op
from generators.registry import Title

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
    done = []
    for form, out in zip(chosen, outs, strict=True):
        value = _scan(k, form, table, row, count, (t, u), smooth)
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
    smooth: bool,
) -> Expr:
    """One loop over the row; what it found."""
    t, u = limits
    shape = k.draw.shape

    def at(j: Expr) -> Expr:
        return 0.5 * (x[row, j] + x[row, j - 1]) if smooth else x[row, j]

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
            before: Expr = at(j - 1) > t
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
            sides = op("and", here > at(j - 1), here > at(j + 1))
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


_TRENDS = {
    "drawdown": "the largest fall from an earlier maximum",
    "max_subarray": "the largest sum of neighbouring entries (Kadane), 0 for none",
    "envelope": "the last value of an envelope that rises by {a} of the gap, falls by {b} of it",
    "limiter": "the sum after each step is limited to {a} upward and {b} downward",
    "running_best": "the sum of the running maxima",
    "decay": "the last value of y = {a} * y + v with y cut to [-{b}, {b}]",
    "pid": "the sum of {a} * v + {b} * y with y the sum of samples so far, kept in [-1, 1]",
}


def row_filter(k: KernelBuilder, level: int) -> Title:
    """Recursions along each row of samples that branch on what came before."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_TRENDS))
    table, row, count = rows_of(k, ("prices", "samples", "signal", "returns"), s, -1.0, 2.0)
    a: Operand = 0.0
    b: Operand = 0.0
    if "{a}" in _TRENDS[form]:
        a = either(k, ("attack", "up", "gain"), s, 0.35, 0.6)
    if "{b}" in _TRENDS[form]:
        cut = form == "decay"
        names = ("bound", "cap") if cut else ("release", "down")
        b = either(k, names, s, *((1.0, 1.4) if cut else (0.15, 0.3)))
    out = k.out(("out", "result", "filtered"), s, "rows")
    trace = also(k, 0.0 if level < 3 else 0.6, ("trace", "history"), s, ("rows", "cols"))
    events = also(k, 0.0 if level < 4 else 0.6, ("events", "changes"), INT32, "rows")
    skip = level >= 2 and shape.chance(0.5)
    least = either(k, ("floor", "noise"), s, -0.9, -0.6) if skip else None
    first = k.let(("y", "state", "level"), table[row, 0])
    best = k.let(("best", "total", "acc"), k.lift(0.0, s))
    turns = k.let(("turns", "switched"), k.lift(0, INT32)) if events is not None else None
    if trace is not None:
        k.store(trace, (row, 0), first)
    with k.for_(("j", "t", "col"), count, start=1) as j:
        v = k.let(("v", "x", "sample"), table[row, j])
        if least is not None:
            if trace is not None:
                k.store(trace, (row, j), first)
            with k.if_(v < least):
                k.continue_()
        _filter(k, form, (first, best, turns), v, (a, b))
        if trace is not None:
            k.store(trace, (row, j), first)
    summed = form in ("drawdown", "max_subarray", "limiter", "running_best", "pid")
    k.store(out, row, best if summed else first)
    text = _TRENDS[form].format(a=shown(a), b=shown(b))
    done = f"For each row of {table.name}: {text}, in {out.name}."
    if least is not None:
        done += f" Samples after the first that are below {shown(least)} are skipped."
    if trace is not None:
        done += f" {trace.name} gets the state after each sample."
    if events is not None and turns is not None:
        k.store(events, row, turns)
        done += f" {events.name} gets how often the branch for a rising sample was taken."
    return Title(k.name(form, f"{form}_per_row", f"track_{form}", "row_filter"), done)


def _filter(
    k: KernelBuilder,
    form: str,
    state: tuple[Var, Var, Var | None],
    v: Var,
    by: tuple[Operand, Operand],
) -> None:
    y, best, turns = state
    a, b = by

    def rising() -> None:
        if turns is not None:
            k.augment(turns, "add", 1)

    if form == "drawdown":
        with k.if_(v > y):
            k.assign(y, v)
            rising()
        with k.else_():
            k.assign(best, fn("max", best, y - v))
    elif form == "max_subarray":
        with k.if_(y > 0.0):
            k.augment(y, "add", v)
            rising()
        with k.else_():
            k.assign(y, v)
        k.assign(best, fn("max", best, y))
    elif form == "envelope":
        with k.if_(v > y):
            k.augment(y, "add", a * (v - y))
            rising()
        with k.else_():
            k.augment(y, "add", b * (v - y))
    elif form == "limiter":
        move = k.let(("move", "dy"), v - y)
        with k.if_(move > a):
            k.augment(y, "add", a)
            rising()
        with k.elif_(move < _minus(b)):
            k.augment(y, "sub", b)
        with k.else_():
            k.assign(y, v)
        k.augment(best, "add", y)
    elif form == "running_best":
        with k.if_(v > y):
            k.assign(y, v)
            rising()
        k.augment(best, "add", y)
    elif form == "decay":
        k.assign(y, a * y + v)
        with k.if_(y > b):
            k.assign(y, k.lift(b, y.type))
            rising()
        with k.elif_(y < _minus(b)):
            k.assign(y, k.lift(_minus(b), y.type))
    else:
        k.augment(y, "add", v)
        with k.if_(y > 1.0):
            k.assign(y, 1.0)
            rising()
        with k.elif_(y < -1.0):
            k.assign(y, -1.0)
        k.augment(best, "add", a * v + b * y)


def _minus(value: Operand) -> Operand:
    return -value


_PARSERS = {
    "depth": "the largest nesting depth of opening (1) and closing (2) codes, -1 if unbalanced",
    "numbers": "how many groups of neighbouring digit codes (1 to 5) there are",
    "sum_fields": "the sum over fields, which codes above 7 separate, of field length squared",
    "words": "the length of the longest word of letter codes (1 to 5)",
    "escape": "how many codes count, where 9 escapes the next code and 0 ends the row",
    "commands": "a register: 1-3 add the code, 4 doubles, 5 clears, 6 stops, others do nothing",
    "checksum": "the sum of codes with every second one doubled (less 9 where above 9), modulo 10",
    "vowels": "the position after the third code of 3 or less, or the row's length",
}


def token_parser(k: KernelBuilder, level: int) -> Title:
    """Small parsers over rows of codes: nesting, fields, escapes, checksums, commands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_PARSERS))
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 2, "int16": 1, "uint16": 1}))
    rows, cols = k.size("rows", 40, 64), k.size("cols", 9, 14)
    codes = k.array(("codes", "tokens", "text", "bytes_in"), type_, (rows, cols), low=0, high=9)
    count: Expr = k.size_param(("num_cols", "max_length"), cols)
    lengths = (
        k.array(("lengths", "used"), INT32, rows, low=1, high=17) if shape.chance(0.5) else None
    )
    out = k.out(("out", "parsed", "result"), INT32, rows)
    share = 0.0 if level < 3 or lengths is None else 0.6
    other = also(k, share, ("consumed", "stopped_at"), INT32, rows)
    kinds = k.array(("row_kind", "encoding"), INT32, rows, low=0, high=3) if level >= 4 else None
    (row,) = k.thread(rows, names=(k.name("row", "r", "i"),))
    stop: Expr = count
    note = ""
    if kinds is not None:
        wanted = k.draw.value.integer(0, 2)
        skip = shape.choice(("eq", "ne"))
        with k.if_(fn(skip, kinds[row], wanted)):
            k.store(out, row, -1)
            if other is not None:
                k.store(other, row, 0)
            k.return_()
        is_ = "is" if skip == "eq" else "is not"
        note = f" Rows whose {kinds.name} {is_} {wanted} give -1."
    if lengths is not None:
        stop = k.let(("end", "stop"), fn("min", lengths[row], count))
        note += f" A row ends after {lengths.name} of its codes."
    state = k.let(("state", "value", "acc"), k.lift(0, INT32))
    best = k.let(("best", "found", "answer"), k.lift(0, INT32))
    pos = k.let(("pos", "j"), k.lift(0, INT32))
    ignored = (
        k.draw.value.choice((7, 8))
        if level >= 2 and form in ("depth", "numbers", "words", "commands")
        else None
    )
    with k.while_(pos < stop):
        code = k.let(("c", "code", "tok"), cast(codes[row, pos], INT32))
        k.augment(pos, "add", 1)
        if ignored is not None:
            with k.if_(fn("eq", code, ignored)):
                k.continue_()
            note = f" Code {ignored} is skipped.{note}" if "skipped" not in note else note
        _parse(k, form, code, (state, best, pos))
    result: Expr = {"sum_fields": best + state * state, "checksum": best % 10}.get(form, best)
    k.store(out, row, result)
    if other is not None:
        k.store(other, row, pos)
        note += f" {other.name} gets how many codes were read."
    return Title(
        k.name(f"parse_{form}", f"{form}_of_rows", "parse_tokens"),
        f"For each row of {codes.name}: {_PARSERS[form]}.{note}",
    )


def _parse(k: KernelBuilder, form: str, c: Var, state: tuple[Var, Var, Var]) -> None:
    value, best, pos = state
    if form == "depth":
        with k.if_(fn("eq", c, 1)):
            k.augment(value, "add", 1)
            k.assign(best, fn("max", best, value))
        with k.elif_(fn("eq", c, 2)):
            k.augment(value, "sub", 1)
            with k.if_(value < 0):
                k.assign(best, -1)
                k.break_()
    elif form == "numbers":
        digit = op("and", c >= 1, c <= 5)
        with k.if_(digit):
            with k.if_(fn("eq", value, 0)):
                k.augment(best, "add", 1)
            k.assign(value, 1)
        with k.else_():
            k.assign(value, 0)
    elif form == "sum_fields":
        with k.if_(c > 7):
            k.augment(best, "add", value * value)
            k.assign(value, 0)
        with k.else_():
            k.augment(value, "add", 1)
    elif form == "words":
        with k.if_(op("or", c < 1, c > 5)):
            k.assign(value, 0)
            k.continue_()
        k.augment(value, "add", 1)
        with k.if_(value > best):
            k.assign(best, value)
    elif form == "escape":
        with k.if_(fn("eq", value, 1)):
            k.assign(value, 0)
            k.augment(best, "add", 1)
        with k.elif_(fn("eq", c, 9)):
            k.assign(value, 1)
        with k.elif_(fn("eq", c, 0)):
            k.break_()
        with k.else_():
            k.augment(best, "add", 1)
    elif form == "commands":
        with k.if_(op("and", c >= 1, c <= 3)):
            k.augment(best, "add", c)
        with k.elif_(fn("eq", c, 4)):
            k.augment(best, "mul", 2)
        with k.elif_(fn("eq", c, 5)):
            k.assign(best, 0)
            k.augment(value, "add", 1)
        with k.elif_(fn("eq", c, 6)):
            k.break_()
    elif form == "checksum":
        with k.if_(fn("eq", pos % 2, 0)):
            doubled = k.let(("doubled", "d"), 2 * c)
            with k.if_(doubled > 9):
                k.augment(doubled, "sub", 9)
            k.augment(best, "add", doubled)
        with k.else_():
            k.augment(best, "add", c)
    else:
        with k.if_(c <= 3):
            k.augment(value, "add", 1)
        k.assign(best, pos)
        with k.if_(fn("eq", value, 3)):
            k.break_()
