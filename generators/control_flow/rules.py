"""Rules people live by: classes of measurements, dates of the calendar."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, both, branch, counter, same, some, take
from generators.control_flow.params import with_struct
from generators.kit.functions import where
from generators.kit.masks import as_flag, flag, flag_type
from generators.kit.naming import BY_LEVEL, helper, routine
from generators.kit.sites import Site, launch, over
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, Var, literal

_LADDERS: dict[str, tuple[str, float, float, tuple[float, ...], str]] = {
    "wind_warning": ("wind wind_speed", 0.0, 40.0, (10.8, 17.2, 24.5, 28.5, 32.7), "warning_level"),
    "grade": ("score points", 0.0, 100.0, (50.0, 60.0, 70.0, 80.0, 90.0), "grade"),
    "body_mass": ("bmi body_mass_index", 14.0, 42.0, (18.5, 25.0, 30.0, 35.0, 40.0), "category"),
    "magnitude": ("magnitude richter", 0.5, 9.5, (4.0, 5.0, 6.0, 7.0, 8.0), "band"),
    "soil_ph": ("ph soil_ph", 3.5, 8.0, (4.5, 5.1, 5.6, 6.1, 6.6), "ph_class"),
    "frequency_band": ("freq_hz frequency", 20.0, 9e3, (60.0, 250.0, 500.0, 2e3, 4e3), "band"),
    "air_quality": ("aqi air_index", 0.0, 400.0, (51.0, 101.0, 151.0, 201.0, 301.0), "category"),
}
"""Names and range of a measurement, the limits of its classes, and what a class is called: strong
wind, gale, storm, violent storm and hurricane; the World Health Organization's body mass; light to
great earthquakes; the USDA's classes of soils; bass to presence; the US EPA's index of air."""

_MAPPED = ("air_quality", "soil_ph", "wind_warning")
"""What there are maps of."""


_AIMS = {
    "wind_warning": "Wind speeds (m/s) put into warning levels",
    "grade": "Scores put into grades",
    "body_mass": "Body mass indices (kg/m^2) put into categories",
    "magnitude": "Earthquake magnitudes put into bands",
    "soil_ph": "Acidities of soils (pH) put into classes",
    "frequency_band": "Frequencies (Hz) put into bands",
    "air_quality": "Air quality indices put into categories",
}


@idiom(depth=2)
@with_struct
def classify_levels(k: KernelBuilder, level: int) -> Title:
    """Measurements put into classes by a ladder of thresholds, or by edges in a table."""
    shape = k.draw.shape
    if level >= 3 and shape.chance(0.15 * level):
        return _by_table(k, level)
    form = shape.choice(sorted(_LADDERS))
    names, low, high, edges, what = _LADDERS[form]
    whole = form == "air_quality" or (form in ("grade", "frequency_band") and shape.chance(0.5))
    type_ = INT32 if whole else k.draw.wide_float_type()
    s = launch(k, list=7, grid=3 if form in _MAPPED else 0)
    x = s.read(names, type_, *((int(low), int(high)) if whole else (low, high)))
    count = shape.integer(3, 5)
    steps = list(edges[:count])
    limits: list[Expr] = [literal(int(edge) if whole else edge, type_) for edge in steps]
    if count <= 3 and shape.chance(0.4):
        limits = [_parameter(k, n, edge, type_) for n, edge in enumerate(steps, 1)]
    out = s.out(f"{what}_out {what}_ids", INT32)
    warned = form == "wind_warning" and level > 1
    margin = Also(s, 0.4 if warned else 0.0, "excess margin", type_)
    v = k.let("v value x", x)
    label = _label(k, level, form, v, limits, what)
    note = _changed(s, level, label, len(limits))
    if margin.out is not None:
        with k.if_(v > limits[0]):
            margin.put(v - limits[0])
        with k.else_():
            margin.put(0)
        note += margin.said(f"how far the value is above {say(k, limits[0])}, 0 where it is not")
    if level >= 4 and shape.chance(0.6):
        alarm = s.put("warning is_top", as_flag(label >= len(limits), flag_type(k)))
        note += f" {alarm.name} is set in the top class, {len(limits)}."
    k.store(out, s.at, label)
    texts = ", ".join(say(k, limit) for limit in limits)
    done = f"{_AIMS[form]}: for each of {say(k, x)}, {out.name} gets how many of the "
    name = k.name(f"classify_{form} {form}_levels {form}_class")
    return Title(name, f"{done}limits {texts} it reaches (value >= limit).{note}")


def _parameter(k: KernelBuilder, number: int, edge: float, type_: Scalar) -> Var:
    """A limit that is given, near the usual one."""
    ends = [edge * 0.95, edge * 1.05]
    if type_.is_int:
        return k.scalar(f"limit_{number} limit{number}", type_, round(ends[0]), round(ends[1]))
    return k.scalar(f"limit_{number} limit{number}", type_, round(ends[0], 3), round(ends[1], 3))


def _by_table(k: KernelBuilder, level: int) -> Title:
    """Classes by rising edges in a table, a row of which may belong to each kind of sample."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_LADDERS))
    names, low, high, _, what = _LADDERS[form]
    s = launch(k, list=7, grid=3 if form in _MAPPED else 0)
    x = s.read(names, type_, low, high)
    kinds = shape.chance(0.5)
    k.size("edges", 5, 8)
    lead = (k.size("kinds", 3, 4),) if kinds else ()
    own = (s.read("kind_id group", INT32, init="index_of:kinds"),) if kinds else ()
    edges = k.array("edges limits", type_, (*lead, "edges"), init="sorted", low=low, high=high)
    count = k.size_param("num_edges num_limits", "edges")
    out = s.out(f"{what}_out {what}_ids", INT32)
    v, label = k.let("v value x", x), counter(k, f"{what} label")
    row = tuple(k.let("kind g", index) for index in own)
    whole = shape.chance(0.5)
    with k.for_("e edge_id", count) as e:
        reached = v >= edges[row + (e,)]
        if whole:
            with k.if_(reached):
                k.augment(label, "add", 1)
        else:
            with k.if_(v < edges[row + (e,)]):
                k.break_()
            k.augment(label, "add", 1)
    k.store(out, s.at, label)
    of = f"row {say(k, own[0])} of {edges.name}" if own else edges.name
    done = f"{_AIMS[form]}: for each of {say(k, x)}, {out.name} gets how many of the rising "
    name = k.name(f"classify_{form} {form}_levels {form}_class")
    return Title(name, f"{done}limits in {of} it reaches (value >= limit).")


def _label(k: KernelBuilder, level: int, form: str, v: Var, limits: list[Expr], what: str) -> Var:
    """The number of limits that are reached: counted, by a ladder, or by early returns."""
    styles = ("ladder", "count", "helper") if level >= 3 else ("ladder", "ladder", "count")
    style, falling = k.draw.shape.choice(styles), k.draw.shape.chance(0.4)
    if style == "count":
        label = counter(k, f"{what} label")
        for limit in limits:
            branch(k, (v >= limit, (label, label + 1)))
        return label
    first = 0 if falling else len(limits)
    numbered = list(enumerate(limits, 1))

    def cases(q: Expr) -> list[tuple[Expr, int]]:
        if falling:
            return [(q >= limit, number) for number, limit in reversed(numbered)]
        return [(q < limit, number - 1) for number, limit in numbered]

    def returned(b: BodyBuilder, q: Expr) -> Expr:
        for test, number in cases(q):
            with b.if_(test):
                b.return_(b.lift(number, INT32))
        return b.lift(first, INT32)

    if style == "helper" and all(isinstance(limit, Const) for limit in limits):
        called = helper(k, f"{form}_class classify", [("v", v.type)], returned)
        return k.let(f"{what} label", k.call(called, v))
    label = k.let(f"{what} label", k.lift(first, INT32))
    branch(k, *((test, (label, number)) for test, number in cases(v)))
    return label


def _changed(s: Site, level: int, label: Var, top: int) -> str:
    """At higher levels a flag raises the class; says so."""
    if level < 3 or not s.k.draw.shape.chance(0.1):
        return ""
    test = flag(s, "override alarm")
    branch(s.k, (both(test.value, label < top), (label, label + 1)))
    return f" It rises by one where {test.on} and it is below {top}."


_CALENDAR = {
    "leap": "1 where the year is a leap year of the Gregorian calendar, else 0",
    "month_length": "the number of days of the month",
    "valid": "1 where day, month and year are a date, else 0",
    "day_of_year": "the number of the day within its year",
    "next_day": "the date of the next day, written yyyymmdd as one number",
    "day_number": "the number of the day counted from 1 January of year 1 on, which is day 1 (the "
    "Rata Die of the Gregorian calendar)",
}
_OUTS = {
    "leap": "is_leap_out leap_flags",
    "month_length": "month_lengths days_in_month",
    "valid": "is_valid valid_flags",
    "day_of_year": "day_of_year ordinal_days",
    "next_day": "next_dates next_ymd",
    "day_number": "rata_die day_numbers",
}
_DAYS = {"day_of_year": (1, 28), "valid": (0, 32), "next_day": (27, 31), "day_number": (1, 28)}
"""The days of the dates that need one."""


@idiom(depth=3)
@with_struct
def calendar_rules(k: KernelBuilder, level: int) -> Title:
    """Leap years, month lengths, validity and successors of dates."""
    shape = k.draw.shape
    form = shape.choice(sorted(_CALENDAR))
    type_ = Scalar(
        shape.choice(("int32", "int32", "int64") if form == "day_number" else ("int32",))
    )
    s = over(k, "n", (k.draw.word.choice(("i", "idx")),), ((140, 180),))
    names = k.draw.word.choice(("year month day", "years months days", "yyyy mm dd")).split()
    date = [s.read(names[0], type_, 1990, 2010)]
    if form != "leap":
        months = {"valid": (0, 13), "month_length": (1, 5)}.get(form, (1, 12))
        date.append(s.read(names[1], type_, *months))
    if form in _DAYS:
        date.append(s.read(names[2], type_, *_DAYS[form]))
    out = s.out(_OUTS[form], type_)
    named = level >= 3 and form in ("day_of_year", "day_number")
    weekday = Also(s, 0.5 if named else 0.0, "weekday dow", type_)
    y, note = k.let("y yr", date[0]), ""
    leap = routine(k, BY_LEVEL[level], "is_leap leap_year", {"y": type_}, lambda _, v: _leap(k, v))(
        y
    )
    if form == "leap":
        _store_flag(s, out, leap)
    else:
        _months(s, form, (y, *date[1:]), leap, out, weekday)
    note += weekday.said("the weekday of the date by Zeller's rule, 0 for Saturday")
    what = ("year", "month", "date")[len(date) - 1]
    done = f"For each {what} ({', '.join(say(k, part) for part in date)}): {out.name} gets "
    name = k.name(*_NAMES[form].split())
    return Title(name, f"{done}{_CALENDAR[form]}.{note}")


_NAMES = {
    "leap": "leap_years is_leap_year_kernel",
    "month_length": "days_in_months length_of_month",
    "valid": "validate_dates check_dates",
    "day_of_year": "day_of_year_kernel ordinal_dates",
    "next_day": "next_calendar_day advance_dates",
    "day_number": "rata_die_kernel dates_to_days",
}


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
    if form == "day_number":
        _day_number(s, (y, m, *day), leap, out, weekday)
        return
    if form == "day_of_year":
        _day_of_year(s, (y, m, *day), leap, out, weekday)
        return
    days = k.let("days length", k.lift(31, type_))
    february = where(leap, k.lift(29, type_), k.lift(28, type_))
    thirty = some(*(same(m, month) for month in (4, 6, 9, 11)))
    branch(k, (same(m, 2), (days, february)), (thirty, (days, 30)))
    if not day:
        k.store(out, s.at, days)
        return
    d = k.let("d dom", day[0])
    if form == "valid":
        _store_flag(s, out, both(m >= 1, m <= 12, d >= 1, d <= days))
    else:
        k.store(out, s.at, _after(k, (y, m, d), days))


def _after(k: KernelBuilder, date: tuple[Expr, Expr, Expr], days: Var) -> Expr:
    """The date of the next day as a number."""
    y, m, d = date
    day = k.let("next_d new_day", d + 1)
    month, year = k.let("next_m new_month", m), k.let("next_y new_year", y)
    with k.if_(day > days):
        k.assign(day, 1)
        k.augment(month, "add", 1)
        with k.if_(month > 12):
            k.assign(month, 1)
            k.augment(year, "add", 1)
    return year * 10_000 + month * 100 + day


def _day_of_year(s: Site, date: tuple[Expr, ...], leap: Expr, out: Var, weekday: Also) -> None:
    """The days of the months before, added up."""
    k, (y, m, day), type_ = s.k, date, weekday.type
    assert isinstance(m, Var)
    d = k.let("d dom", day)
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


def _day_number(s: Site, date: tuple[Expr, ...], leap: Expr, out: Var, weekday: Also) -> None:
    """Days since the first of January of year 1, by counting leap days and whole months."""
    k, (y, m, day) = s.k, date
    assert isinstance(m, Var)
    type_ = weekday.type
    before = k.let("y1 full_years", y - 1)
    days = 365 * before + before // 4 - before // 100 + before // 400
    number = k.let("rd number", days + (367 * m - 362) // 12 + day)
    with k.if_(m > 2):
        k.augment(number, "sub", where(leap, k.lift(1, type_), k.lift(2, type_)))
    k.store(out, s.at, number)
    if weekday:
        weekday.put(_zeller(k, y, m, day))


def _zeller(k: KernelBuilder, y: Expr, m: Var, d: Expr) -> Expr:
    """The weekday of a date, the year taken from March on."""
    early = m < 3
    month = k.let("shifted month_from_march", where(early, m + 12, m))
    yr = k.let("zy march_year", where(early, y - 1, y))
    return (d + 13 * (month + 1) // 5 + yr + yr // 4 - yr // 100 + yr // 400) % 7
