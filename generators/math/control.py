"""Control laws: what a controller does with an error and its rate."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _raw(b: BodyBuilder, e: Expr, v: Expr, g: Expr) -> Expr:
    return b.let(("raw", "command", "u_raw"), g * e + 0.3 * v)


def _clamped(b: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    raw = _raw(b, e, v, g)
    return either(b, fn("clamp", raw, -m, m), fn("min", fn("max", raw, -m), m))


def _bang(b: BodyBuilder, e: Expr, v: Expr, m: Expr) -> Expr:
    return m * fn("sign", e + 0.5 * v)


def _time_optimal(b: BodyBuilder, e: Expr, v: Expr, m: Expr) -> Expr:
    b.note("the switching curve of a double integrator")
    curve = b.let(("curve", "switching"), e + 0.5 * v * fn("abs", v) / m)
    return either(b, m * fn("sign", curve), fn("copysign", m, curve))


def _sliding(b: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    surface = b.let(("surface", "s"), v + g * e)
    return -m * fn("clamp", 2.0 * surface, -1.0, 1.0)


def _root(b: BodyBuilder, e: Expr, v: Expr, g: Expr) -> Expr:
    return fn("copysign", fn("sqrt", 2.0 * g * fn("abs", e)), e) - 0.5 * v


def _dead_band(b: BodyBuilder, e: Expr, g: Expr, m: Expr) -> Expr:
    over = b.let(("over", "excess"), fn("abs", e) - 0.5 * m)
    return g * fn("sign", e) * over * (1.0 - fn("step", over))


def _relay(b: BodyBuilder, e: Expr, v: Expr, m: Expr) -> Expr:
    return m * (fn("step", -e - 0.3 * v) - 0.5 * fn("step", e - 1.0))


def _soft(b: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    return m * fn("tanh", _raw(b, e, v, g) / m)


def _valve(b: BodyBuilder, e: Expr, g: Expr) -> Expr:
    return fn("trunc", 4.0 * g * e) / 4.0


def _pulses(b: BodyBuilder, e: Expr, g: Expr) -> Expr:
    count = b.let(("count", "pulses"), fn("ceil", 3.0 * g * fn("abs", e)))
    return fn("copysign", count, e)


def _detent(b: BodyBuilder, e: Expr, g: Expr, m: Expr) -> Expr:
    notch = b.let(("notch", "detent"), m * fn("round", e / m))
    return notch + 0.1 * g * (e - notch)


def _scheduled(b: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    blend = b.let(("blend", "schedule"), fn("smoothstep", 0.3 * m, 2.0 * m, fn("abs", e)))
    return fn("lerp", 0.5 * g, 2.0 * g, blend) * e - 0.2 * v


def _friction(b: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    b.note("Coulomb friction is compensated by the sign of the rate")
    return g * e + 0.4 * m * fn("sign", v)


def _power(b: BodyBuilder, e: Expr, g: Expr) -> Expr:
    return g * fn("copysign", fn("pow", fn("abs", e) + 0.001, b.lift(0.7, e.type)), e)


def _brake(b: BodyBuilder, e: Expr, v: Expr, m: Expr) -> Expr:
    effort = b.let(("effort", "brake"), -m * v)
    with b.if_(e * v > 0.0):
        b.assign(effort, m * e - 0.5 * v)
    return effort


_CONTROL = Family(
    item="joint",
    inputs={
        "e": quantity("err e pos_err", "errors pos_errors gaps", -2.0, 2.0),
        "v": quantity("rate v err_rate", "rates err_rates speeds", -2.0, 2.0),
    },
    params={
        "g": quantity("gain kp stiffness", "gains kps", 0.6, 2.2, 1.0, 1.5, 2.0),
        "m": quantity("limit umax band", "limits umaxes", 0.5, 1.3, 0.5, 1.0, 0.8),
    },
    titles="control_by_kind controller actuator_command",
    kinds="law kinds control_mode",
    struct="Gains Controller Actuator",
    records="Axis Joint",
    grids=("i|joint|tid", "robot joint|row col|i axis", "run robot joint|b i j"),
    masks="enabled armed mask",
    reductions=("sum", "mean", "rms", "largest"),
    smooth=False,
    cards=(
        by_hand(
            "clamped_pd",
            "command torque",
            "{g} * {e} + 0.3 * {v} clamped to [-{m}, {m}]",
            "e v g m",
            _clamped,
        ),
        by_hand("bang_bang", "command thrust", "{m} * sign({e} + {v} / 2)", "e v m", _bang),
        by_hand(
            "time_optimal",
            "command thrust",
            "{m} with the sign of {e} + {v} * |{v}| / (2 * {m})",
            "e v m",
            _time_optimal,
        ),
        by_hand(
            "sliding_mode",
            "command torque",
            "-{m} times 2 * ({v} + {g} * {e}) clamped to [-1, 1]",
            "e v g m",
            _sliding,
        ),
        by_hand(
            "root_law",
            "command speed_cmd",
            "sqrt(2 * {g} * |{e}|) with the sign of {e}, less {v} / 2",
            "e v g",
            _root,
        ),
        by_hand(
            "dead_band",
            "command valve_cmd",
            "{g} * (|{e}| - {m} / 2) with the sign of {e} where that is not negative, else 0",
            "e g m",
            _dead_band,
        ),
        by_hand(
            "relay",
            "command switch_cmd",
            "{m} * (a - b / 2), a = 1 where -{e} - 0.3 * {v} < 0 and b = 1 where {e} < 1, else 0",
            "e v m",
            _relay,
        ),
        by_hand(
            "soft_saturation",
            "command torque",
            "{m} * tanh(({g} * {e} + 0.3 * {v}) / {m})",
            "e v g m",
            _soft,
        ),
        by_hand("stepped_valve", "opening valve_cmd", "trunc(4 * {g} * {e}) / 4", "e g", _valve),
        by_hand(
            "pulse_count",
            "pulses_out steps_out",
            "ceil(3 * {g} * |{e}|) with the sign of {e}",
            "e g",
            _pulses,
        ),
        by_hand(
            "detent",
            "position_cmd command",
            "n + 0.1 * {g} * ({e} - n) with n = {m} * round({e} / {m})",
            "e g m",
            _detent,
        ),
        by_hand(
            "gain_schedule",
            "command torque",
            "lerp({g} / 2, 2 * {g}, s) * {e} - 0.2 * {v}, s = smoothstep(0.3 * {m}, 2 * {m}, "
            "|{e}|)",
            "e v g m",
            _scheduled,
        ),
        by_hand(
            "friction_feedforward",
            "command torque",
            "{g} * {e} + 0.4 * {m} * sign({v})",
            "e v g m",
            _friction,
        ),
        by_hand(
            "power_law",
            "command torque",
            "{g} * (|{e}| + 0.001)^0.7 with the sign of {e}",
            "e g",
            _power,
        ),
        by_hand(
            "assisted_brake",
            "effort_out brake_cmd",
            "{m} * {e} - {v} / 2 where {e} * {v} > 0, else -{m} * {v}",
            "e v m",
            _brake,
        ),
    ),
)


@idiom
def control_law(k: KernelBuilder, level: int) -> Title:
    """Controllers with saturation, dead bands, switching and steps."""
    return compose(k, level, _CONTROL)
