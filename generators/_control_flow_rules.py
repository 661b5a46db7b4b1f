"""Rules and ladders: classes by thresholds, triangles, calendars, logic gates, guarded formulas."""

from __future__ import annotations

from generators._control_flow_kit import also, as_flag, either, flag_type, is_set, shown
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Operand, Var, op
from generators.pieces import helper
from generators.registry import Title

_LADDERS: dict[str, tuple[tuple[str, ...], float, float, tuple[float, ...], str]] = {
    "wind_force": (("wind", "wind_speed"), 0.0, 33.0, (1.5, 5.5, 10.8, 17.2, 24.5), "class_id"),
    "grade": (("score", "points"), 0.0, 100.0, (50.0, 60.0, 70.0, 80.0, 90.0), "grade"),
    "body_mass": (("bmi", "ratio"), 14.0, 42.0, (18.5, 25.0, 30.0, 35.0, 40.0), "category"),
    "magnitude": (("magnitude", "richter"), 0.5, 9.5, (2.0, 4.0, 5.0, 6.0, 7.0), "band"),
    "ph_level": (("ph", "acidity"), 0.0, 14.0, (3.0, 6.0, 8.0, 11.0, 13.0), "label"),
    "frequency_band": (
        ("freq_hz", "tone"),
        20.0,
        9000.0,
        (60.0, 250.0, 500.0, 2000.0, 6000.0),
        "band",
    ),
    "air_quality": (
        ("aqi", "index_value"),
        0.0,
        400.0,
        (50.0, 100.0, 150.0, 200.0, 300.0),
        "class",
    ),
}


def classify_levels(k: KernelBuilder, level: int) -> Title:
    """Measurements put into classes by a ladder of thresholds, with surcharges and overrides."""
    shape = k.draw.shape
    form = shape.choice(sorted(_LADDERS))
    names, low, high, edges, what = _LADDERS[form]
    s = k.draw.wide_float_type()
    two = shape.chance(0.3)
    dims = (k.size("rows", 6, 9), k.size("cols", 7, 9)) if two else (k.size("n", 60, 90),)
    x = k.array(names, s, dims, low=low, high=high)
    steps = sorted(
        shape.sample(list(edges), {1: 2, 2: shape.integer(2, 3)}.get(level, shape.integer(3, 5)))
    )
    out = k.out((what, f"{what}_out", "label_out"), INT32, dims)
    value_out = also(k, 0.0 if level < 2 else 0.6, ("excess", "margin", "severity"), s, dims)
    override = (
        k.array(("override", "alarm"), flag_type(k), dims, low=0, high=1)
        if level >= 3 and shape.chance(0.6)
        else None
    )
    place = k.thread(*dims, names=("i", "j") if two else (k.name("i", "tid"),))
    limits: list[Operand] = list(steps)
    if shape.chance(0.35):
        limits[0] = k.scalar(("first_limit", "lower_limit"), s, steps[0] * 0.9, steps[0] * 1.1)
    v = k.let(("v", "value", names[0][:1]), x[place])
    falling = shape.chance(0.4)
    style = shape.choice(
        ("ladder", "count", "helper") if level >= 3 else ("ladder", "ladder", "count")
    )
    if style == "count":
        label = _counted(k, v, limits)
    elif style == "helper" and not any(isinstance(m, Var) for m in limits):
        name = helper(
            k,
            (f"{form}_class", "classify"),
            [("v", s)],
            lambda b, q: _returned(b, q, limits, falling),
        )
        label = k.let(("label", "c"), k.call(name, v))
    else:
        label = k.let(("label", "c"), k.lift(0, INT32))
        _ladder(k, v, limits, label, falling)
    note = ""
    if override is not None:
        with k.if_(op("and", is_set(override[place]), label < len(limits))):
            k.augment(label, "add", 1)
        note += f" It rises by one where {override.name} is set and it is below {len(limits)}."
    if value_out is not None:
        base = limits[0]
        with k.if_(v > base):
            k.store(value_out, place, v - base)
        with k.else_():
            k.store(value_out, place, 0.0)
        note += f" {value_out.name} gets how far the value is above {shown(base)}, else 0."
    if level >= 4:
        flag = flag_type(k)
        alarm = k.out(("warning", "is_extreme"), flag, dims)
        test = op("or", label >= len(limits), v < round(low + 0.1 * (high - low), 3))
        k.store(alarm, place, as_flag(test, flag))
        note += (
            f" {alarm.name} is set where it is {len(limits)} or the "
            f"value is below {round(low + 0.1 * (high - low), 3)}."
        )
    k.store(out, place, label)
    shown_limits = ", ".join(shown(m) for m in limits)
    done = (
        f"Count for each of {x.name} how many of the limits "
        f"{shown_limits} it reaches (>=); the number goes to {out.name}."
    )
    return Title(k.name(f"classify_{form}", f"{form}_levels", f"{form}_class"), f"{done}{note}")


def _ladder(k: BodyBuilder, v: Expr, limits: list[Operand], label: Var, falling: bool) -> None:
    order = list(enumerate(limits, 1))
    if falling:
        for at, (number, limit) in enumerate(reversed(order)):
            with (k.elif_ if at else k.if_)(v >= limit):
                k.assign(label, number)
        return
    for at, (number, limit) in enumerate(order):
        with (k.elif_ if at else k.if_)(v < limit):
            k.assign(label, number - 1)
    with k.else_():
        k.assign(label, len(limits))


def _returned(b: BodyBuilder, v: Expr, limits: list[Operand], falling: bool) -> Expr:
    order = list(enumerate(limits, 1))
    if falling:
        for number, limit in reversed(order):
            with b.if_(v >= limit):
                b.return_(b.lift(number, INT32))
        return b.lift(0, INT32)
    for number, limit in order:
        with b.if_(v < limit):
            b.return_(b.lift(number - 1, INT32))
    return b.lift(len(limits), INT32)


def _counted(k: KernelBuilder, v: Expr, limits: list[Operand]) -> Var:
    label = k.let(("label", "c"), k.lift(0, INT32))
    for limit in limits:
        with k.if_(v >= limit):
            k.augment(label, "add", 1)
    return label


def logic_gates(k: KernelBuilder, level: int) -> Title:
    """Truth values: gates, majorities, adders, interlocks and alarms with enables."""
    shape = k.draw.shape
    inputs = shape.integer(2, 3) + (level >= 3)
    type_ = flag_type(k)
    two = shape.chance(0.35)
    dims = (k.size("banks", 6, 8), k.size("lines", 8, 10)) if two else (k.size("n", 64, 90),)
    names = ("a", "b", "c", "d") if shape.chance(0.5) else ("door", "armed", "motion", "reset")
    arrays = [k.array(name, type_, dims, low=0, high=1) for name in names[:inputs]]
    outs = [k.out(("out", "result", "alarm"), type_, dims)]
    if level >= 2 and shape.chance(0.5):
        outs.append(k.out(("carry", "fault", "second"), type_, dims))
    place = k.thread(*dims, names=("i", "j") if two else (k.name("i", "tid"),))
    named = level == 1 or shape.chance(0.6)
    bits: list[Expr] = []
    for array in arrays:
        bit = is_set(array[place])
        bits.append(
            k.let((array.name[0], f"is_{array.name}", f"{array.name}_on"), bit) if named else bit
        )
    sentences = []
    for out in outs:
        value, text = _formula(k, bits, [a.name for a in arrays], level)
        if level >= 3 and shape.chance(0.5):
            held = k.let(("held", "state"), value)
            with k.if_(op("and", bits[0], op("not", bits[-1]))):
                k.assign(held, op("not", held))
            value, text = (
                held,
                f"({text}), inverted where {arrays[0].name} and not {arrays[-1].name}",
            )
        k.store(out, place, as_flag(value, type_))
        sentences.append(f"{out.name} gets {text}")
    if level >= 4:
        count = k.out(("count", "active"), INT32, dims)
        total = k.let(("total", "on"), k.lift(0, INT32))
        for bit in bits:
            with k.if_(bit):
                k.augment(total, "add", 1)
        k.store(count, place, total)
        sentences.append(f"{count.name} gets how many inputs are set")
    text = "; ".join(sentences)
    return Title(
        k.name("logic_gate", "combine_flags", "interlock", "evaluate_rule"),
        f"For each place: {text}.",
    )


def _formula(k: KernelBuilder, bits: list[Expr], names: list[str], level: int) -> tuple[Expr, str]:
    """A formula in which every input takes part."""
    shape = k.draw.shape
    order = shape.sample(list(range(len(bits))), len(bits))
    value, text = bits[order[0]], names[order[0]]
    if shape.chance(0.3):
        value, text = op("not", value), f"not {text}"
    for at in order[1:]:
        other, other_text = bits[at], names[at]
        if shape.chance(0.3):
            other, other_text = op("not", other), f"not {other_text}"
        gate = shape.choice(("and", "or", "ne", "eq"))
        value = op(gate, value, other)
        words = {"and": "and", "or": "or", "ne": "differs from", "eq": "equals"}
        text = f"({text} {words[gate]} {other_text})"
    return value, text


_CALENDAR = {
    "leap": "1 where the year is a leap year of the Gregorian calendar, else 0",
    "month_length": "the number of days of the month",
    "valid": "1 where day, month and year are a date, else 0",
    "day_of_year": "the number of the day within its year",
    "next_day": "the next day's number within its month (1 after the last)",
}


def calendar_rules(k: KernelBuilder, level: int) -> Title:
    """Leap years, month lengths, validity and successors of dates."""
    shape = k.draw.shape
    form = shape.choice(sorted(_CALENDAR) if level > 1 else ("leap", "month_length"))
    type_ = shape.choice((INT32, INT32, Scalar("int64"), Scalar("int16")))
    two = shape.chance(0.3)
    dims = (k.size("rows", 7, 9), k.size("cols", 8, 10)) if two else (k.size("n", 72, 96),)
    year = k.array(("year", "years", "yyyy"), type_, dims, low=1895, high=2105)
    month = (
        None
        if form == "leap"
        else k.array(
            ("month", "months", "mm"), type_, dims, low=1, high=5 if form != "valid" else 13
        )
    )
    needs_day = form in ("valid", "day_of_year", "next_day")
    day = (
        k.array(("day", "days", "dd"), type_, dims, low=1, high=28 if form == "day_of_year" else 33)
        if needs_day
        else None
    )
    out = k.out(("out", "answer", "result"), type_, dims)
    since = (
        k.scalar(("first_year", "since"), type_, 1900, 1960)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    weekday = also(
        k,
        0.0 if level < 3 or day is None or form == "valid" else 0.5,
        ("weekday", "dow"),
        type_,
        dims,
    )
    place = k.thread(*dims, names=("i", "j") if two else (k.name("i", "tid"),))
    y = k.let(("y", "yr"), year[place])
    note = ""
    if since is not None:
        with k.if_(y < since):
            k.store(out, place, -1)
            if weekday is not None:
                k.store(weekday, place, -1)
            k.return_()
        note = f" Years before {since.name} give -1."
    helped = level >= 3 and shape.chance(0.6)
    test: Expr
    if helped:
        name = helper(k, ("is_leap", "leap_year"), [("y", type_)], lambda _, v: _leap(k, v))
        test = k.call(name, y)
    else:
        test = _leap(k, y)
    if form == "leap":
        _store_flag(k, out, place, test)
    else:
        assert month is not None
        _months(k, form, (y, month, day), test, out, place, weekday, type_)
        if weekday is not None:
            note += f" {weekday.name} gets (day + 2 * month + year) mod 7."
    done = f"For each date of {year.name}"
    done += f", {month.name}" if month is not None else ""
    done += f", {day.name}" if day is not None else ""
    return Title(
        k.name(f"{form}_rule", f"date_{form}", "calendar_check"),
        f"{done}: {out.name} gets {_CALENDAR[form]}.{note}",
    )


def _leap(k: KernelBuilder, y: Expr) -> Expr:
    four, hundred = fn("eq", y % 4, 0), fn("ne", y % 100, 0)
    century = fn("eq", y % 400, 0)
    if k.draw.shape.chance(0.5):
        return op("or", op("and", four, hundred), century)
    return op("and", four, op("or", hundred, century))


def _store_flag(k: KernelBuilder, out: Var, place: tuple[Expr, ...], test: Expr) -> None:
    if k.draw.shape.chance(0.5):
        with k.if_(test):
            k.store(out, place, 1)
        with k.else_():
            k.store(out, place, 0)
    else:
        element = out[place].type
        k.store(out, place, fn("where", test, k.lift(1, element), k.lift(0, element)))


def _months(
    k: KernelBuilder,
    form: str,
    date: tuple[Var, Var, Var | None],
    leap: Expr,
    out: Var,
    place: tuple[Expr, ...],
    weekday: Var | None,
    type_: Scalar,
) -> None:
    y, month, day = date
    m = k.let(("m", "mon"), month[place])
    days = k.let(("days", "length"), k.lift(31, type_))
    thirty = op(
        "or", op("or", fn("eq", m, 4), fn("eq", m, 6)), op("or", fn("eq", m, 9), fn("eq", m, 11))
    )
    with k.if_(fn("eq", m, 2)):
        k.assign(days, fn("where", leap, k.lift(29, type_), k.lift(28, type_)))
    with k.elif_(thirty):
        k.assign(days, 30)
    if day is None:
        k.store(out, place, days)
        return
    d = k.let(("d", "dom"), day[place])
    if form == "valid":
        test = op("and", m <= 12, d <= days)
        _store_flag(k, out, place, test)
    elif form == "next_day":
        with k.if_(d < days):
            k.store(out, place, d + 1)
        with k.else_():
            k.store(out, place, 1)
    else:
        total = k.let(("total", "number"), d)
        with k.for_(("mm", "before"), 12, start=1) as q:
            last = q if type_ == INT32 else k.let("q", cast(q, type_))
            with k.if_(last >= m):
                k.break_()
            k.augment(total, "add", 30)
            with k.if_(fn("eq", (last + last // 8) % 2, 1)):
                k.augment(total, "add", 1)
            with k.if_(fn("eq", last, 2)):
                k.augment(total, "sub", fn("where", leap, k.lift(1, type_), k.lift(2, type_)))
        k.store(out, place, total)
    if weekday is not None:
        k.store(weekday, place, (d + 2 * m + y) % 7)


def geometry_cases(k: KernelBuilder, level: int) -> Title:
    """Cases of plane geometry: kinds of triangles, quadrants, overlaps of boxes and intervals."""
    shape = k.draw.shape
    form = shape.choice(("sides", "overlap", "zone"))
    whole = form == "sides" or shape.chance(0.3)
    s = Scalar(shape.choice(("int32", "int64", "int16"))) if whole else k.draw.wide_float_type()
    n = k.size("n", 72, 96)
    low, high = (2, 6) if form == "sides" else (0, 50) if whole else (-2.0, 2.0)
    names: tuple[str, ...]
    if form == "sides":
        names = k.draw.word.choice((("a", "b", "c"), ("side_a", "side_b", "side_c")))
    elif form == "overlap":
        names = k.draw.word.choice((("a_lo", "b_lo"), ("start_a", "start_b")))
    else:
        names = k.draw.word.choice((("x", "y"), ("px", "py")))
    arrays = [k.array(name, s, n, low=low, high=high) for name in names]
    extents = []
    if form == "overlap":
        widths = (5, 20) if whole else (0.3, 1.5)
        extents = [
            k.array(name, s, n, low=widths[0], high=widths[1]) for name in ("a_len", "b_len")
        ]
    out = k.out(("kind", "case", "label"), INT32, n)
    measure = k.out(("size", "amount"), s, n) if level >= 2 and shape.chance(0.6) else None
    counts = (
        k.array(("active", "valid"), flag_type(k), n, low=0, high=1)
        if level >= 3 and shape.chance(0.6)
        else None
    )
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    note = ""
    if counts is not None:
        with k.if_(op("not", is_set(counts[i]))):
            k.store(out, i, -1)
            if measure is not None:
                k.store(measure, i, 0)
            k.return_()
        note = f" Entries whose {counts.name} is not set give -1."
    values = [k.let((a.name[0], a.name.replace("side_", "s_"), "v"), a[i]) for a in arrays]
    spans = [
        k.let((f"{e.name[0]}_hi", f"end_{e.name[0]}"), v + e[i])
        for v, e in zip(values, extents, strict=False)
    ]
    label = k.let(("label", "kind_id"), k.lift(0, INT32))
    makers = {"sides": _triangle, "overlap": _overlap, "zone": _zone}
    text, amount, amount_text = makers[form](k, level, values, spans, label, s)
    k.store(out, i, label)
    if measure is not None:
        k.store(measure, i, amount)
        note += f" {measure.name} gets {amount_text}."
    given = ", ".join(a.name for a in (*arrays, *extents))
    return Title(
        k.name(f"{form}_cases", f"classify_{form}", f"{form}_kind"), f"From {given}: {text}.{note}"
    )


def _triangle(
    k: KernelBuilder, level: int, v: list[Var], _s: list[Var], label: Var, s: Scalar
) -> tuple[str, Expr, str]:
    a, b, c = v
    bad = op("or", op("or", a + b <= c, b + c <= a), c + a <= b)
    if not s.is_int:
        raise AssertionError("sides are whole numbers")
    with k.if_(bad):
        k.assign(label, 0)
    with k.elif_(op("and", fn("eq", a, b), fn("eq", b, c))):
        k.assign(label, 3)
    with k.elif_(op("or", op("or", fn("eq", a, b), fn("eq", b, c)), fn("eq", a, c))):
        k.assign(label, 2)
    with k.else_():
        k.assign(label, 1)
    text = "0 for sides that make no triangle, 3 for three, 2 for two and 1 for no equal sides"
    if level >= 2 and k.draw.shape.chance(0.6):
        most = k.let(("longest", "m"), fn("max", fn("max", a, b), c))
        squares = a * a + b * b + c * c
        with k.if_(op("and", label > 0, fn("eq", squares, 2 * most * most))):
            k.augment(label, "add", 10)
        text += ", plus 10 where a right angle is among them"
    return text, a + b + c, "the sum of the sides"


def _overlap(
    k: KernelBuilder, level: int, v: list[Var], s: list[Var], label: Var, type_: Scalar
) -> tuple[str, Expr, str]:
    (a, b), (a_end, b_end) = v, s
    with k.if_(op("or", a_end <= b, b_end <= a)):
        k.assign(label, 0)
    with k.elif_(op("and", a <= b, b_end <= a_end)):
        k.assign(label, 2)
    with k.elif_(op("and", b <= a, a_end <= b_end)):
        k.assign(label, 3)
    with k.else_():
        k.assign(label, 1)
    gap = fn("min", a_end, b_end) - fn("max", a, b)
    common = fn("max", gap, 0)
    text = "0 where the intervals [lo, lo + len] are apart, 2 where the first holds the second, "
    text += "3 where the second holds the first, 1 where they overlap otherwise"
    return text, common, "the length that both have in common, 0 if none"


def _zone(
    k: KernelBuilder, level: int, v: list[Var], _s: list[Var], label: Var, s: Scalar
) -> tuple[str, Expr, str]:
    x, y = v
    middle: Operand = 25 if s.is_int else 0.0
    cx = either(k, ("cx", "center_x"), s, 20, 30) if s.is_int else middle
    with k.if_(x >= cx):
        with k.if_(y >= middle):
            k.assign(label, 1)
        with k.else_():
            k.assign(label, 4)
    with k.else_():
        with k.if_(y >= middle):
            k.assign(label, 2)
        with k.else_():
            k.assign(label, 3)
    text = f"the quadrant 1 to 4 of the point about ({shown(cx)}, {shown(middle)})"
    if level >= 3:
        reach = 18 if s.is_int else 1.2
        dx = k.let("dx", fn("abs", x - cx))
        dy = k.let("dy", fn("abs", y - middle))
        with k.if_(op("and", dx < reach, dy < reach)):
            k.augment(label, "mul", 10)
        text += f", times 10 where both distances are below {reach}"
    return text, x + y, "the sum of both coordinates"
