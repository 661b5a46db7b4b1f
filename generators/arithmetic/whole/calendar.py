"""Calendar and clock: leap years, day of the week, Julian days, times of day taken apart."""

from __future__ import annotations

from generators.arithmetic.types import INT16, INT64, UINT8, UINT32
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import where
from generators.kit.naming import applied, evaluated, held, maybe
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.words import listed, say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, literal

_NAMES = {
    "leap": "leap_years",
    "julian": "julian_day day_number gregorian_to_jd",
    "weekday": "day_of_week weekday",
    "ordinal": "day_of_year ordinal_date",
    "civil": "civil_from_days days_to_date",
    "easter": "easter_sunday easter_date",
}
_LEAP = "divisible by 4 and not by 100, or by 400"
_DAYS = Shelf()


def is_leap_year(year: Expr) -> Expr:
    by_400 = fn("eq", year % 400, 0)
    return fn("or", fn("and", fn("eq", year % 4, 0), fn("ne", year % 100, 0)), by_400)


@_DAYS.formula("day_numbers")
def to_julian_day(body: BodyBuilder, year: Expr, month: Expr, day: Expr) -> Expr:
    a = body.let("a before_march", (14 - month) // 12)
    y = body.let("y shifted_year", year + 4800 - a)
    m = body.let("m shifted_month", month + 12 * a - 3)
    return day + (153 * m + 2) // 5 + 365 * y + y // 4 - y // 100 + y // 400 - 32045


@_DAYS.formula(
    "ordinals doy_out",
    "275 * {month} // 9 - (({month} + 9) // 12) * c + {day} - 30, c = 1 if {year} is a leap year,"
    " else 2",
)
def day_in_year(body: BodyBuilder, year: Expr, month: Expr, day: Expr) -> Expr:
    leap = where(is_leap_year(year), literal(1, year.type), 2)
    correction = body.let("correction leap_shift", leap)
    start = body.let("start n1", 275 * month // 9)
    late = body.let("late n2", (month + 9) // 12)
    return start - late * correction + day - 30


@idiom(depth=2)
def calendar(k: KernelBuilder, level: int) -> Title:
    """Integer arithmetic of the Gregorian calendar."""
    shape = k.draw.shape
    type_ = shape.weighted({INT32: 4, INT64: 2})
    s = launch(k, list=1)
    known = {1: ("leap", "julian", "weekday")}
    form = shape.choice(known.get(level, tuple(sorted(_NAMES))))
    if form in ("leap", "easter"):
        done = _of_year(s, level, form, type_)
    elif form == "civil":
        done = _civil(s, level, type_)
    else:
        done = _of_date(s, level, form, type_)
    names = _NAMES[form]
    if form == "leap":
        names = next(n for word, n in _LEAPS.items() if word in done)
    return Title(k.name(names), done)


_LEAPS = {
    "how many": "count_leap_years leap_years_before",
    "Days of the year": "days_in_year year_length",
    "Days of February": "days_in_february february_length",
    "whether": "is_leap_year flag_leap_years",
}
"""Names of what is told of leap years, by words of its description."""


def _of_date(s: Site, level: int, form: str, type_: Scalar) -> str:
    """A number of the day that year, month and day are."""
    k = s.k
    parts = {
        "year": Part("years year", type_, 1900, 2100, many="years"),
        "month": Part("months month", type_, 1, 12, many="months"),
        "day": Part("days day", type_, 1, 28, many="days"),
    }
    values = dict(record(s, "Date CivilDate", parts, 0.2 if level < 3 else 0.45).values)
    texts = {key: say(k, value) for key, value in values.items()}
    values = {key: held(k, f"{key[0]} {key}_in", value) for key, value in values.items()}
    formula = _DAYS.card("day_in_year" if form == "ordinal" else "to_julian_day")
    chance = 0.6 if form == "ordinal" else 0.3 if level < 3 else 0.7
    number = held(k, "number day_number", evaluated(k, chance, formula, values))
    told = formula.said(texts)
    if form == "ordinal":
        out = s.put("ordinals day_of_year", number)
        done = f"Day of the year of Gregorian dates, from 1: store {told}, in {out.name}."
        if level >= 4:
            week = s.put("weeks week_of_year", (number + 6) // 7)
            done += f" {week.name} gets (that + 6) // 7."
        return done
    done = f"Julian day number J of Gregorian dates: {told}."
    if form == "julian":
        return done + _since(s, level, number)
    first = k.draw.value.choice((0, 1))
    weekday: Expr = (number + first if first else number) % 7
    weekday = maybe(k, "weekday", weekday)
    out = s.put("weekdays", cast(weekday, k.draw.shape.choice((type_, UINT8))))
    day = "Sunday" if first else "Monday"
    done += f" {out.name} gets {f'(J + {first})' if first else 'J'} % 7, so that 0 is a {day}."
    return done


def _since(s: Site, level: int, number: Expr) -> str:
    """The Julian day as it is, from some day on, or in weeks."""
    names = "elapsed_days days_since"
    form = s.k.draw.shape.choice(("plain", "unix", "epoch"))
    if form == "plain":
        return f" Store J in {s.put('julian_days day_numbers', number).name}."
    if form == "epoch":
        epoch = s.k.scalar("epoch start_day", number.type, 2400000, 2410000)
        return (
            f" {s.put(names, number - epoch).name} gets J - {epoch.name}, the days since that day."
        )
    return f" {s.put(names, number - 2440588).name} gets J - 2440588, the days since 1970."


def _civil(s: Site, level: int, type_: Scalar) -> str:
    """Year, month and day from the days since 1970-01-01 (Hinnant's algorithm)."""
    k, shape = s.k, s.k.draw.shape
    start, ticks, since = _day_number(s, level, type_)
    z = k.let("z shifted", start + 719468)
    era = k.let("era cycle", z // 146097)
    doe = k.let("doe day_of_era", z - era * 146097)
    years = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    yoe = k.let("yoe year_of_era", years)
    doy = k.let("doy day_of_year", doe - (365 * yoe + yoe // 4 - yoe // 100))
    mp = k.let("mp month_from_march", (5 * doy + 2) // 153)
    if shape.chance(0.5):
        month = k.let("m month_number", where(mp < 10, mp + 3, mp - 9))
    else:
        month = k.let("m month_number", mp + 3)
        with k.if_(month > 12):
            k.assign(month, month - 12)
    first = k.let("y year_number", yoe + era * 400)
    values = {
        "year": where(month < 3, first + 1, first),
        "month": month,
        "day": doy - (153 * mp + 2) // 5 + 1,
    }
    style = k.draw.word.choice(("{}", "{}_out", "{}s_out"))
    names = [s.put(style.format(name), value).name for name, value in values.items()]
    done = f"Convert {since}, to a Gregorian date (eras of 146097 "
    done += f"days, years from March): year, month and day go to {listed(names)}."
    return done if ticks is None else done + _time_of_day(s, ticks)


def _time_of_day(s: Site, ticks: Expr) -> str:
    """Hour, minute and second of a Unix time."""
    rest = s.k.let("rest day_seconds", ticks % 86400)
    clock = {"hour": rest // 3600, "minute": rest // 60 % 60, "second": rest % 60}
    outs = [s.put(f"{key} {key}s", cast(value, UINT8)).name for key, value in clock.items()]
    return f" {listed(outs)} get the time of day."


def _day_number(s: Site, level: int, type_: Scalar) -> tuple[Expr, Expr | None, str]:
    """Days since 1970-01-01 and what they are in words; from level 4 on of a Unix time."""
    k, shape = s.k, s.k.draw.shape
    if level >= 4:
        wide = shape.choice((INT32, INT64))
        stamps = s.read("stamps unix_time epoch_seconds", wide, 0, 2**31 - 1)
        ticks = k.let("t stamp ticks", stamps)
        days = cast(k.let("days day_number", ticks // 86400), type_)
        return days, ticks, f"the Unix time {say(k, stamps)}, seconds since 1970-01-01"
    source = shape.choice((type_, UINT32))
    start: Expr = cast(s.read("days epoch_days day_numbers", source, 0, 40000), type_)
    return start, None, f"{say(k, start)}, days since 1970-01-01"


def _of_year(s: Site, level: int, form: str, type_: Scalar) -> str:
    """Whether years are leap years, what follows from that, or when Easter is."""
    k, shape = s.k, s.k.draw.shape
    low = k.draw.value.choice((1600, 1700, 1800))
    year: Expr = s.read("years", type_, low, low + 400)
    what = say(k, year)
    year = k.let("year y", year)
    if form == "easter":
        return _easter(s, year, what)
    kind = shape.choice(("flag", "days", "february", "count"))
    leap: Expr = year
    if kind != "count":
        chance = 0.1 if level == 1 else 0.5
        names = "is_leap leap_year"
        leap = applied(k, chance, names, {"year": year}, lambda b, y: is_leap_year(y))
    if kind == "flag":
        out = s.put("is_leap leap_flags", leap)
        done = f"Store in {out.name} whether each of {what} is a leap year ({_LEAP})."
    elif kind == "count":
        p = k.let("before last", year - 1)
        out = s.put("leap_days leaps_before", p // 4 - p // 100 + p // 400)
        done = (
            f"{out.name} gets how many leap years there are from year 1 to the one before {what}: "
        )
        done += f"p // 4 - p // 100 + p // 400 with p = {what} - 1."
    else:
        done = _lengths(s, leap, kind) + f" where the year in {what} is a leap year ({_LEAP})."
    return done


def _lengths(s: Site, leap: Expr, kind: str) -> str:
    """The days of a year or of February."""
    k = s.k
    long, short, type_ = (366, 365, INT16) if kind == "days" else (29, 28, UINT8)
    out = s.out("days length", type_)
    if k.draw.shape.chance(0.5):
        k.store(out, s.at, where(leap, literal(long, type_), short))
    else:
        with k.if_(leap):
            k.store(out, s.at, long)
        with k.else_():
            k.store(out, s.at, short)
    what = "Days of the year" if kind == "days" else "Days of February"
    return f"{what}: {out.name} gets {short}, but {long}"


def _easter(s: Site, year: Expr, what: str) -> str:
    """Gauss' numbers, and Easter by the anonymous Gregorian algorithm."""
    k = s.k
    a = k.let("a golden", year % 19)
    b, c = k.let("b century", year // 100), k.let("c yy", year % 100)
    h = k.let("h epact", (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30)
    i = k.let("ci leaps", c // 4)
    w = k.let("w to_sunday", (32 + 2 * (b % 4) + 2 * i - h - c % 4) % 7)
    m = k.let("m shift", (a + 11 * h + 22 * w) // 451)
    packed = k.let("n packed", h + w - 7 * m + 114)
    month = s.put("month_out months", packed // 31)
    day = s.put("day_out days_out", packed % 31 + 1)
    return (
        f"Easter Sunday of the year {what} by the anonymous Gregorian algorithm (Meeus): month in "
        f"{month.name}, day in {day.name}."
    )
