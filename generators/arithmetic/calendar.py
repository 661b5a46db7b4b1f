"""Calendar and clock: leap years, day of the week, Julian days, times of day taken apart."""

from __future__ import annotations

from generators.arithmetic.dates import civil, is_leap_year, of_date
from generators.arithmetic.parts import (
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT32,
    Grid,
    coefficient,
    elements,
    grid,
    step,
)
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr, literal

_FORMS = {
    "leap": ("is_leap_year", "leap_years", "days_in_year"),
    "julian": ("julian_day", "day_number", "gregorian_to_jd"),
    "weekday": ("day_of_week", "weekday", "zeller"),
    "ordinal": ("day_of_year", "ordinal_date"),
    "civil": ("civil_from_days", "days_to_date"),
    "easter": ("easter_sunday", "golden_number"),
}


@idiom
def calendar(k: KernelBuilder, level: int) -> Title:
    """Integer arithmetic of the Gregorian calendar."""
    shape = k.draw.shape
    type_ = shape.weighted({INT32: 4, INT64: 2})
    g = grid(k, {1: 4, 2: 2})
    known = {1: ("leap", "julian"), 2: ("leap", "julian", "weekday")}
    late = ("weekday", "ordinal", "civil", "easter")
    form = shape.choice(known.get(level, tuple(sorted(_FORMS)) if level == 3 else late))
    if form in ("leap", "easter"):
        done = _of_year(k, level, form, g, type_)
    elif form == "civil":
        done = civil(k, level, g, type_)
    else:
        done = of_date(k, level, form, g, type_)
    if level >= 4:
        done += _clock(k, level, g)
    return Title(k.name(*_FORMS[form]), done)


def _clock(k: KernelBuilder, level: int, g: Grid) -> str:
    """The time of day taken apart."""
    unit, per = k.draw.shape.choice((("seconds", 60), ("millis", 60000)))
    type_ = k.draw.shape.choice((UINT32, INT32))
    ticks = k.array((unit, f"{unit}_of_day"), type_, g.sizes, low=0, high=1440 * per - 1)
    t = k.let(("t", "tick"), ticks[g.at])
    hour = k.out(("hour", "hours"), UINT8, g.sizes)
    minute = k.out(("minute", "minutes"), UINT8, g.sizes)
    k.store(hour, g.at, cast(t // (60 * per), UINT8))
    k.store(minute, g.at, cast(t // per % 60, UINT8))
    done = f" From {ticks.name}, {unit} since midnight, {hour.name} and {minute.name} get the time."
    if level == 5:
        shift = k.out(("shift", "watch"), INT16, g.sizes)
        early, late = k.draw.value.integer(5, 8), k.draw.value.integer(16, 20)
        if k.draw.shape.chance(0.5):
            rest = fn("where", t < late * 60 * per, literal(1, INT16), 2)
            k.store(shift, g.at, fn("where", t < early * 60 * per, literal(0, INT16), rest))
            return f"{done} {shift.name} gets 0 before {early}:00, 1 before {late}:00, else 2."
        with k.if_(t < early * 60 * per):
            k.store(shift, g.at, 0)
        with k.elif_(t < late * 60 * per):
            k.store(shift, g.at, 1)
        with k.else_():
            k.store(shift, g.at, 2)
        done += f" {shift.name} gets 0 before {early}:00, 1 before {late}:00, else 2."
    return done


def _of_year(k: KernelBuilder, level: int, form: str, g: Grid, type_: Scalar) -> str:
    low = k.draw.value.choice((1600, 1700, 1800))
    (given,) = elements(k, [(("years", "year_in"), type_, low, low + 400)], g, ("Date",), 0.0)
    year: Expr = given.value
    what = given.text
    if k.draw.shape.chance(0.5):
        ahead = coefficient(k, ("offset", "years_ahead"), type_, 1, 60, g, "sea"[: g.ndim + 1])
        year, what = year + ahead.value, f"{given.text} + {ahead.text}"
    year = k.let(("year", "y"), year)
    if form == "easter":
        return _golden(k, level, year, what, g, type_)
    kind = k.draw.shape.choice(("flag", "days", "february", "count"))
    leap: Expr = year
    if kind != "count" or level >= 2:
        names = ("is_leap", "leap_year")
        chance = 0.1 if level == 1 else 0.5
        leap = step(k, names, (("year", year),), lambda b, y: is_leap_year(y), chance)
    rule = "divisible by 4 and not by 100, or by 400"
    if kind == "flag":
        out = k.out(("leap", "is_leap_out"), BOOL, g.sizes)
        k.store(out, g.at, leap)
        done = f"{out.name} says whether the year {what} is a leap year ({rule})."
    elif kind == "count":
        out = k.out(("leap_days", "leaps_before"), type_, g.sizes)
        before = k.let(("before", "last"), year - 1)
        k.store(out, g.at, before // 4 - before // 100 + before // 400)
        done = f"{out.name} counts the leap years before {what}: with p = that - 1, p / 4 - p / 100"
        done += " + p / 400 in integers."
        if level >= 2:
            flag = k.out(("leap", "is_leap_out"), BOOL, g.sizes)
            k.store(flag, g.at, leap)
            done += f" {flag.name} says whether it is one itself ({rule})."
    else:
        days = (366, 365) if kind == "days" else (29, 28)
        target = INT16 if kind == "days" else UINT8
        out = k.out(("days", "length"), target, g.sizes)
        if k.draw.shape.chance(0.5):
            k.store(out, g.at, fn("where", leap, literal(days[0], target), days[1]))
        else:
            with k.if_(leap):
                k.store(out, g.at, days[0])
            with k.else_():
                k.store(out, g.at, days[1])
        done = f"{out.name} gets {days[0]} where the year {what} is a leap year ({rule}), else "
        done += f"{days[1]}."
    return done + (_century(k, level, year, g, type_) if level >= 2 else "")


def _century(k: KernelBuilder, level: int, year: Expr, g: Grid, type_: Scalar) -> str:
    out = k.out(("century", "cycle_year"), type_, g.sizes)
    form = k.draw.shape.choice(("century", "cycle", "decade"))
    if form == "century":
        k.store(out, g.at, (year + 99) // 100)
        return f" {out.name} gets the century, (year + 99) / 100."
    if form == "cycle":
        k.store(out, g.at, year % 400)
        return f" {out.name} gets the year modulo 400."
    k.store(out, g.at, year // 10 * 10)
    return f" {out.name} gets the year rounded down to a multiple of 10."


def _golden(k: KernelBuilder, level: int, year: Expr, what: str, g: Grid, type_: Scalar) -> str:
    """Gauss' numbers, and Easter by the anonymous Gregorian algorithm."""
    a = k.let(("a", "golden"), year % 19)
    b, c = k.let(("b", "century"), year // 100), k.let(("c", "yy"), year % 100)
    h = k.let(
        ("h", "epact"),
        (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30,
    )
    i = k.let(("ci", "leaps"), c // 4)
    w = k.let(("w", "to_sunday"), (32 + 2 * (b % 4) + 2 * i - h - c % 4) % 7)
    m = k.let(("m", "shift"), (a + 11 * h + 22 * w) // 451)
    day_number = k.let(("n", "packed"), h + w - 7 * m + 114)
    month = k.out(("month_out", "months"), type_, g.sizes)
    day = k.out(("day_out", "days_out"), type_, g.sizes)
    k.store(month, g.at, day_number // 31)
    k.store(day, g.at, day_number % 31 + 1)
    return (
        f"Easter Sunday of the year {what} by the anonymous Gregorian algorithm (Meeus): month in "
        f"{month.name}, day in {day.name}."
    )
