"""Calendar and clock: leap years, day of the week, Julian days, times of day taken apart."""

from __future__ import annotations

from generators.arithmetic.parts import (
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT32,
    Given,
    Grid,
    coefficient,
    elements,
    grid,
    local,
    named,
    step,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr, literal


def is_leap_year(year: Expr) -> Expr:
    by_400 = fn("eq", year % 400, 0)
    return fn("or", fn("and", fn("eq", year % 4, 0), fn("ne", year % 100, 0)), by_400)


def _date(k: KernelBuilder, level: int, g: Grid, type_: Scalar) -> list[Given]:
    wanted = [
        (("years", "year"), type_, 1900, 2100),
        (("months", "month"), type_, 1, 12),
        (("days", "day"), type_, 1, 28),
    ]
    found = elements(k, wanted, g, "Date CivilDate", 0.2 if level < 3 else 0.45)
    if k.draw.shape.chance(0.5):
        lag = coefficient(k, "lag days_ahead settlement", type_, 1, 60, g, "se")
        day = found[2]
        found[2] = Given(day.value + lag.value, f"{day.text} + {lag.text}")
    return [
        Given(local(k, (n, n[0]), f.value), f.text)
        for n, f in zip(("y_in", "m_in", "d_in"), found, strict=True)
    ]


def _julian(b: BodyBuilder, year: Expr, month: Expr, day: Expr) -> Expr:
    a = b.let("a before_march", (14 - month) // 12)
    y = b.let("y shifted_year", year + 4800 - a)
    m = b.let("m shifted_month", month + 12 * a - 3)
    return day + (153 * m + 2) // 5 + 365 * y + y // 4 - y // 100 + y // 400 - 32045


_JULIAN = (
    "with a = (14 - month) / 12, y = year + 4800 - a, m = month + 12 * a - 3 in integers, "
    "day + (153 * m + 2) / 5 + 365 * y + y / 4 - y / 100 + y / 400 - 32045"
)


def of_date(k: KernelBuilder, level: int, form: str, g: Grid, type_: Scalar) -> str:
    year, month, day = _date(k, level, g, type_)
    of = f"{year.text}, {month.text}, {day.text}"
    inputs = (("year", year.value), ("month", month.value), ("day", day.value))
    if form == "ordinal":
        return _ordinal(k, level, inputs, of, g, type_)
    names = "julian_day_number to_day_number"
    number = step(k, names, inputs, _julian, 0.3 if level < 3 else 0.7)
    done = f"The Julian day of {of}: {_JULIAN}."
    if form == "julian":
        number = local(k, "jd day_number", number)
        done += _since(k, level, number, g, type_)
    else:
        first = k.draw.value.choice((0, 1))
        weekday: Expr = (number + first if first else number) % 7
        target = k.draw.shape.choice((type_, UINT8))
        out = k.out("weekday day_of_week", target, g.sizes)
        names = "wd index"
        weekday = k.let(names, weekday) if level >= 2 else named(k, names, weekday)
        k.store(out, g.at, cast(weekday, target))
        done += f" {out.name} gets {f'(that + {first})' if first else 'that'} % 7."
        if level >= 2:
            free = k.out("weekend is_weekend", BOOL, g.sizes)
            k.store(free, g.at, weekday > 4)
            done += f" {free.name} says whether that exceeds 4."
    return done


def _since(k: KernelBuilder, level: int, number: Expr, g: Grid, type_: Scalar) -> str:
    form = k.draw.shape.choice(("plain", "unix", "epoch", "week"))
    out = k.out("day_numbers jd_out elapsed", type_, g.sizes)
    if form == "plain" and level == 1:
        k.store(out, g.at, number)
        return f" {out.name} gets it."
    if form == "week":
        k.store(out, g.at, number // 7)
        rest = k.out("rest day_in_week", type_, g.sizes)
        k.store(rest, g.at, number % 7)
        return f" {out.name} gets it over 7, {rest.name} the remainder."
    if form == "epoch":
        epoch = k.scalar("epoch start_day", type_, 2400000, 2410000)
        k.store(out, g.at, number - epoch)
        return f" {out.name} gets it minus {epoch.name}."
    k.store(out, g.at, number - 2440588)
    return f" {out.name} gets it minus 2440588, the days since 1970."


def _ordinal(
    k: KernelBuilder,
    level: int,
    inputs: tuple[tuple[str, Expr], ...],
    of: str,
    g: Grid,
    type_: Scalar,
) -> str:
    def build(b: BodyBuilder, year: Expr, month: Expr, day: Expr) -> Expr:
        correction = b.let(
            "correction leap_shift", fn("where", is_leap_year(year), literal(1, type_), 2)
        )
        start = b.let("start n1", 275 * month // 9)
        late = b.let("late n2", (month + 9) // 12)
        return start - late * correction + day - 30

    number = step(k, "ordinal day_in_year", inputs, build, 0.6)
    number = local(k, "day_in_year doy", number)
    out = k.out("ordinals doy_out", type_, g.sizes)
    k.store(out, g.at, number)
    done = f"The day of the year of {of}: 275 * month / 9 - ((month + 9) / 12) * c + day - 30 in"
    done += f" integers, c = 1 in leap years, else 2; in {out.name}."
    if level >= 4:
        week = k.out("weeks week_of_year", type_, g.sizes)
        k.store(week, g.at, (number + 6) // 7)
        done += f" {week.name} gets (it + 6) / 7."
    return done


def civil(k: KernelBuilder, level: int, g: Grid, type_: Scalar) -> str:
    """Year, month and day from the days since 1970-01-01 (Hinnant's algorithm)."""
    source = k.draw.shape.choice((type_, UINT32))
    days = k.array("days epoch_days stamps", source, g.sizes, low=0, high=40000)
    start: Expr = cast(days[g.at], type_)
    what = days.name
    if k.draw.shape.chance(0.5):
        lag = coefficient(k, "lag days_ahead settlement", type_, 1, 60, g, "se")
        start, what = start + lag.value, f"{days.name} + {lag.text}"
    z = k.let("z shifted", start + 719468)
    era = k.let("era cycle", z // 146097)
    doe = k.let("doe day_of_era", z - era * 146097)
    years = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    yoe = k.let("yoe year_of_era", years)
    doy = k.let("doy day_of_year", doe - (365 * yoe + yoe // 4 - yoe // 100))
    mp = k.let("mp month_from_march", (5 * doy + 2) // 153)
    outs = [k.out((n, f"{n}_out"), type_, g.sizes) for n in ("year", "month", "day")]
    if k.draw.shape.chance(0.5):
        month = k.let("m month_number", fn("where", mp < 10, mp + 3, mp - 9))
    else:
        month = k.let("m month_number", mp + 3)
        with k.if_(month > 12):
            k.assign(month, month - 12)
    first = k.let("y year_number", yoe + era * 400)
    k.store(outs[0], g.at, fn("where", month < 3, first + 1, first))
    k.store(outs[1], g.at, month)
    k.store(outs[2], g.at, doy - (153 * mp + 2) // 5 + 1)
    done = f"Convert {what}, days since 1970-01-01, to a Gregorian date (era of 146097 days, "
    done += f"years from March): {', '.join(o.name for o in outs)}."
    if level >= 4:
        quarter = k.out("quarter season", INT32, g.sizes)
        k.store(quarter, g.at, cast((month + 2) // 3, INT32))
        done += f" {quarter.name} gets (month + 2) / 3."
    return done


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
    t = k.let("t tick", ticks[g.at])
    hour = k.out("hour hours", UINT8, g.sizes)
    minute = k.out("minute minutes", UINT8, g.sizes)
    k.store(hour, g.at, cast(t // (60 * per), UINT8))
    k.store(minute, g.at, cast(t // per % 60, UINT8))
    done = f" From {ticks.name}, {unit} since midnight, {hour.name} and {minute.name} get the time."
    if level == 5:
        shift = k.out("shift watch", INT16, g.sizes)
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
    (given,) = elements(k, [("years year_in", type_, low, low + 400)], g, "Date", 0.0)
    year: Expr = given.value
    what = given.text
    if k.draw.shape.chance(0.5):
        ahead = coefficient(k, "offset years_ahead", type_, 1, 60, g, "sea"[: g.ndim + 1])
        year, what = year + ahead.value, f"{given.text} + {ahead.text}"
    year = k.let("year y", year)
    if form == "easter":
        return _golden(k, level, year, what, g, type_)
    kind = k.draw.shape.choice(("flag", "days", "february", "count"))
    leap: Expr = year
    if kind != "count" or level >= 2:
        names = "is_leap leap_year"
        chance = 0.1 if level == 1 else 0.5
        leap = step(k, names, (("year", year),), lambda b, y: is_leap_year(y), chance)
    rule = "divisible by 4 and not by 100, or by 400"
    if kind == "flag":
        out = k.out("leap is_leap_out", BOOL, g.sizes)
        k.store(out, g.at, leap)
        done = f"{out.name} says whether the year {what} is a leap year ({rule})."
    elif kind == "count":
        out = k.out("leap_days leaps_before", type_, g.sizes)
        before = k.let("before last", year - 1)
        k.store(out, g.at, before // 4 - before // 100 + before // 400)
        done = f"{out.name} counts the leap years before {what}: with p = that - 1, p / 4 - p / 100"
        done += " + p / 400 in integers."
        if level >= 2:
            flag = k.out("leap is_leap_out", BOOL, g.sizes)
            k.store(flag, g.at, leap)
            done += f" {flag.name} says whether it is one itself ({rule})."
    else:
        days = (366, 365) if kind == "days" else (29, 28)
        target = INT16 if kind == "days" else UINT8
        out = k.out("days length", target, g.sizes)
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
    out = k.out("century cycle_year", type_, g.sizes)
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
    a = k.let("a golden", year % 19)
    b, c = k.let("b century", year // 100), k.let("c yy", year % 100)
    h = k.let("h epact", (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30)
    i = k.let("ci leaps", c // 4)
    w = k.let("w to_sunday", (32 + 2 * (b % 4) + 2 * i - h - c % 4) % 7)
    m = k.let("m shift", (a + 11 * h + 22 * w) // 451)
    day_number = k.let("n packed", h + w - 7 * m + 114)
    month = k.out("month_out months", type_, g.sizes)
    day = k.out("day_out days_out", type_, g.sizes)
    k.store(month, g.at, day_number // 31)
    k.store(day, g.at, day_number % 31 + 1)
    return (
        f"Easter Sunday of the year {what} by the anonymous Gregorian algorithm (Meeus): month in "
        f"{month.name}, day in {day.name}."
    )
