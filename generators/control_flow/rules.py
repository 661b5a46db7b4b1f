"""Classes of measurements by ladders of thresholds, with overrides, margins and alarms."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, both, branch, counter, some
from generators.control_flow.params import with_struct
from generators.kit.masks import as_flag, flag, flag_type
from generators.kit.naming import helper
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import INT32
from generators.program.expr import Const, Expr, Var, literal

_LADDERS: dict[str, tuple[str, float, float, tuple[float, ...], str]] = {
    "wind_force": ("wind wind_speed", 0.0, 33.0, (1.5, 5.5, 10.8, 17.2, 24.5), "class_id"),
    "grade": ("score points", 0.0, 100.0, (50.0, 60.0, 70.0, 80.0, 90.0), "grade"),
    "body_mass": ("bmi ratio", 14.0, 42.0, (18.5, 25.0, 30.0, 35.0, 40.0), "category"),
    "magnitude": ("magnitude richter", 0.5, 9.5, (2.0, 4.0, 5.0, 6.0, 7.0), "band"),
    "ph_level": ("ph acidity", 0.0, 14.0, (3.0, 6.0, 8.0, 11.0, 13.0), "label"),
    "frequency_band": (
        "freq_hz tone",
        20.0,
        9000.0,
        (500.0, 1000.0, 2000.0, 4000.0, 6000.0),
        "band",
    ),
    "air_quality": ("aqi index_value", 0.0, 400.0, (50.0, 100.0, 150.0, 200.0, 300.0), "class"),
}
"""Names and range of a measurement, the limits of its classes, and what a class is called."""


@idiom
@with_struct
def classify_levels(k: KernelBuilder, level: int) -> Title:
    """Measurements put into classes by a ladder of thresholds, with surcharges and overrides."""
    shape = k.draw.shape
    form = shape.choice(sorted(_LADDERS))
    names, low, high, edges, what = _LADDERS[form]
    whole = all(edge == int(edge) for edge in edges) and shape.chance(0.5)
    type_ = INT32 if whole else k.draw.wide_float_type()
    s = launch(k, list=7, grid=3)
    x = s.read(names, type_, *((int(low), int(high)) if whole else (low, high)))
    count = shape.integer(2, 4) if level < 3 else shape.integer(3, 5)
    steps = sorted(shape.sample(list(edges), count))
    limits: list[Expr] = [literal(int(edge) if whole else edge, type_) for edge in steps]
    if shape.chance(0.35):
        ends = [round(steps[0] * share, 0 if whole else 3) for share in (0.85, 1.15)]
        ends = [int(end) for end in ends] if whole else ends
        limits[0] = k.scalar("first_limit lower_limit", type_, *ends)
    out = s.out(f"{what} {what}_out label_out", INT32)
    margin = Also(s, 0.0 if level < 2 else 0.6, "excess margin severity", type_)
    v = k.let("v value level", x)
    label = _label(k, level, form, v, limits)
    note = _changed(s, level, label, len(limits))
    if margin.out is not None:
        with k.if_(v > limits[0]):
            margin.put(v - limits[0])
        with k.else_():
            margin.put(0)
        note += margin.said(f"how far the value is above {say(k, limits[0])}, else 0")
    if level >= 4:
        lowest = low + (high - low) // 10 if whole else round(low + 0.1 * (high - low), 3)
        test = some(label >= len(limits), v < (int(lowest) if whole else lowest))
        alarm = s.put("warning is_extreme", as_flag(test, flag_type(k)))
        note += f" {alarm.name} is set where it is {len(limits)} or the value is below {lowest}."
    k.store(out, s.at, label)
    texts = ", ".join(say(k, limit) for limit in limits)
    done = f"Count for each of {say(k, x)} how many of the limits {texts} it reaches (>=); the "
    name = k.name(f"classify_{form} {form}_levels {form}_class")
    return Title(name, f"{done}number goes to {out.name}.{note}")


def _label(k: KernelBuilder, level: int, form: str, v: Var, limits: list[Expr]) -> Var:
    """The number of limits that are reached: counted, by a ladder, or by early returns."""
    styles = ("ladder", "count", "helper") if level >= 3 else ("ladder", "ladder", "count")
    style, falling = k.draw.shape.choice(styles), k.draw.shape.chance(0.4)
    if style == "count":
        label = counter(k, "label c")
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
        return k.let("label c", k.call(called, v))
    label = k.let("label c", k.lift(first, INT32))
    branch(k, *((test, (label, number)) for test, number in cases(v)))
    return label


def _changed(s: Site, level: int, label: Var, top: int) -> str:
    """At higher levels a flag raises the class; says so."""
    if level < 3 or not s.k.draw.shape.chance(0.6):
        return ""
    test = flag(s, "override alarm")
    branch(s.k, (both(test.value, label < top), (label, label + 1)))
    return f" It rises by one where {test.on} and it is below {top}."
