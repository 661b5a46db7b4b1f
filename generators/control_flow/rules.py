"""Rules and ladders: classes by thresholds, triangles, calendars, logic gates, guarded formulas."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, as_flag, flag_type, is_set, shown
from generators.control_flow.params import with_struct
from generators.kit.pieces import helper
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Operand, Var, op

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
        (500.0, 1000.0, 2000.0, 4000.0, 6000.0),
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


@idiom
@with_struct
def classify_levels(k: KernelBuilder, level: int) -> Title:
    """Measurements put into classes by a ladder of thresholds, with surcharges and overrides."""
    shape = k.draw.shape
    form = shape.choice(sorted(_LADDERS))
    names, low, high, edges, what = _LADDERS[form]
    whole = all(edge == int(edge) for edge in edges) and shape.chance(0.5)
    s = INT32 if whole else k.draw.wide_float_type()
    edges = tuple(int(edge) if whole else edge for edge in edges)
    low, high = (int(low), int(high)) if whole else (low, high)
    two = shape.chance(0.3)
    dims = (k.size("rows", 6, 9), k.size("cols", 7, 9)) if two else (k.size("n", 60, 90),)
    x = k.array(names, s, dims, low=low, high=high)
    steps = sorted(
        shape.sample(
            list(edges),
            {1: shape.integer(2, 4), 2: shape.integer(2, 4)}.get(level, shape.integer(3, 5)),
        )
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
        limits[0] = k.scalar(
            ("first_limit", "lower_limit"),
            s,
            round(steps[0] * 0.85) if whole else steps[0] * 0.9,
            round(steps[0] * 1.15) if whole else steps[0] * 1.1,
        )
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
        label = k.let(("label", "c"), k.lift(0 if falling else len(limits), INT32))
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
            k.store(value_out, place, 0)
        note += f" {value_out.name} gets how far the value is above {shown(base)}, else 0."
    if level >= 4:
        flag = flag_type(k)
        alarm = k.out(("warning", "is_extreme"), flag, dims)
        lowest = low + (high - low) // 10 if whole else round(low + 0.1 * (high - low), 3)
        test = op("or", label >= len(limits), v < lowest)
        k.store(alarm, place, as_flag(test, flag))
        note += f" {alarm.name} is set where it is {len(limits)} or the value is below {lowest}."
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
