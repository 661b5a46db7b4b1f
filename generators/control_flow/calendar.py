"""Calendar rules: leap years, month lengths, validity, successors."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also
from generators.control_flow.params import with_struct
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

_CALENDAR = {
    "leap": "1 where the year is a leap year of the Gregorian calendar, else 0",
    "month_length": "the number of days of the month",
    "valid": "1 where day, month and year are a date, else 0",
    "day_of_year": "the number of the day within its year",
    "next_day": "the next day's number within its month (1 after the last)",
}


_LAST_DAYS = {"day_of_year": 28, "valid": 32, "next_day": 31}


@idiom
@with_struct
def calendar_rules(k: KernelBuilder, level: int) -> Title:
    """Leap years, month lengths, validity and successors of dates."""
    shape = k.draw.shape
    form = shape.choice(sorted(_CALENDAR) if level > 1 else ("leap", "month_length"))
    type_ = shape.choice((INT32, INT32, Scalar("int64"), Scalar("int16")))
    two = shape.chance(0.3)
    dims = (k.size("rows", 12, 14), k.size("cols", 12, 14)) if two else (k.size("n", 140, 180),)
    year = k.array(("year", "years", "yyyy"), type_, dims, low=1990, high=2010)
    month = (
        None
        if form == "leap"
        else k.array(
            ("month", "months", "mm"),
            type_,
            dims,
            low=1,
            high=13 if form == "valid" else 5,
        )
    )
    needs_day = form in ("valid", "day_of_year", "next_day")
    day = (
        k.array(
            ("day", "days", "dd"),
            type_,
            dims,
            low=1 if form == "day_of_year" else 26,
            high=_LAST_DAYS[form],
        )
        if needs_day
        else None
    )
    out = k.out(("out", "answer", "result"), type_, dims)
    since = (
        k.scalar(("first_year", "since"), type_, 1994, 2004)
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
            note += f" {weekday.name} gets the weekday by Zeller's rule, 0 for Saturday."
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
        k.store(weekday, place, _zeller(k, y, m, d))


def _zeller(k: KernelBuilder, y: Var, m: Var, d: Var) -> Expr:
    """The weekday of a date, the year taken from March on."""
    early = m < 3
    month = k.let(("shifted", "month_from_march"), fn("where", early, m + 12, m))
    yr = k.let(("zy", "march_year"), fn("where", early, y - 1, y))
    return (d + 13 * (month + 1) // 5 + yr + yr // 4 - yr // 100 + yr // 400) % 7
