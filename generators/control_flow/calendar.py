"""Calendar rules: leap years, month lengths, validity, successors."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, both, branch, leave, same, some, take
from generators.control_flow.params import with_struct
from generators.kit.functions import where
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, over
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_CALENDAR = {
    "leap": "1 where the year is a leap year of the Gregorian calendar, else 0",
    "month_length": "the number of days of the month",
    "valid": "1 where day, month and year are a date, else 0",
    "day_of_year": "the number of the day within its year",
    "next_day": "the next day's number within its month (1 after the last)",
}
_DAYS = {"day_of_year": (1, 28), "valid": (26, 32), "next_day": (26, 31)}
"""The days of the dates that need one."""


@idiom
@with_struct
def calendar_rules(k: KernelBuilder, level: int) -> Title:
    """Leap years, month lengths, validity and successors of dates."""
    shape = k.draw.shape
    form = shape.choice(sorted(_CALENDAR) if level > 1 else ("leap", "month_length"))
    type_ = Scalar(shape.choice(("int32", "int32", "int64", "int16")))
    if shape.chance(0.3):
        s = over(k, "rows cols", "i j", ((12, 14), (12, 14)))
    else:
        s = over(k, "n", (k.draw.word.choice(("i", "tid")),), ((140, 180),))
    date = [s.read("year years yyyy", type_, 1990, 2010)]
    if form != "leap":
        date.append(s.read("month months mm", type_, 1, 13 if form == "valid" else 5))
    if form in _DAYS:
        date.append(s.read("day days dd", type_, *_DAYS[form]))
    out = s.out("out answer result", type_)
    named = level >= 3 and form in ("day_of_year", "next_day")
    weekday = Also(s, 0.5 if named else 0.0, "weekday dow", type_)
    y, note = k.let("y yr", date[0]), ""
    if level >= 2 and shape.chance(0.5):
        since = k.scalar("first_year since", type_, 1994, 2004)
        leave(s, y < since, (out, -1), (weekday, -1))
        note = f" Years before {since.name} give -1."
    leap = routine(k, BY_LEVEL[level], "is_leap leap_year", {"y": type_}, lambda _, v: _leap(k, v))(
        y
    )
    if form == "leap":
        _store_flag(s, out, leap)
    else:
        _months(s, form, (y, *date[1:]), leap, out, weekday)
    note += weekday.said("the weekday by Zeller's rule, 0 for Saturday")
    done = f"For each date of {', '.join(say(k, part) for part in date)}: {out.name} gets "
    name = k.name(f"{form}_rule date_{form} calendar_check")
    return Title(name, f"{done}{_CALENDAR[form]}.{note}")


def _leap(k: KernelBuilder, y: Expr) -> Expr:
    four, hundred, century = same(y % 4, 0), fn("ne", y % 100, 0), same(y % 400, 0)
    if k.draw.shape.chance(0.5):
        return some(both(four, hundred), century)
    return both(four, some(hundred, century))


def _store_flag(s: Site, out: Var, test: Expr) -> None:
    if s.k.draw.shape.chance(0.5):
        with s.k.if_(test):
            s.k.store(out, s.at, 1)
        with s.k.else_():
            s.k.store(out, s.at, 0)
    else:
        one, nothing = (s.k.lift(n, out[s.at].type) for n in (1, 0))
        s.k.store(out, s.at, where(test, one, nothing))


def _months(
    s: Site, form: str, date: tuple[Expr, ...], leap: Expr, out: Var, weekday: Also
) -> None:
    """What needs the month, whose length is found first."""
    k, (y, month, *day) = s.k, date
    m, type_ = k.let("m mon", month), weekday.type
    days = k.let("days length", k.lift(31, type_))
    february = where(leap, k.lift(29, type_), k.lift(28, type_))
    thirty = some(some(same(m, 4), same(m, 6)), some(same(m, 9), same(m, 11)))
    branch(k, (same(m, 2), (days, february)), (thirty, (days, 30)))
    if not day:
        k.store(out, s.at, days)
        return
    d = k.let("d dom", day[0])
    if form == "valid":
        _store_flag(s, out, both(m <= 12, d <= days))
    elif form == "next_day":
        with k.if_(d < days):
            k.store(out, s.at, d + 1)
        with k.else_():
            k.store(out, s.at, 1)
    else:
        total = k.let("total number", d)
        with k.for_("mm before", 12, start=1) as q:
            last = q if type_ == INT32 else k.let("q", cast(q, type_))
            with k.if_(last >= m):
                k.break_()
            less = where(leap, k.lift(1, type_), k.lift(2, type_))
            long = same((last + last // 8) % 2, 1)
            take(k, (total, total + 30), [(long, (total, total + 1))])
            branch(k, (same(last, 2), (total, total - less)))
        k.store(out, s.at, total)
    if weekday:
        weekday.put(_zeller(k, y, m, d))


def _zeller(k: KernelBuilder, y: Expr, m: Var, d: Var) -> Expr:
    """The weekday of a date, the year taken from March on."""
    early = m < 3
    month = k.let("shifted month_from_march", where(early, m + 12, m))
    yr = k.let("zy march_year", where(early, y - 1, y))
    return (d + 13 * (month + 1) // 5 + yr + yr // 4 - yr // 100 + yr // 400) % 7
