"""Motion: control laws, and the phases of orbits and oscillators."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import TWO_PI, atan, atan2, clamp, cos, least, most, sin, sqrt, tan
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr, Var

_CONTROL = Family(
    inputs={
        "e": quantity("err e pos_err", "errors pos_errors gaps", -2.0, 2.0),
        "v": quantity("rate v err_rate", "rates err_rates speeds", -2.0, 2.0),
    },
    params={
        "g": quantity("gain kp stiffness", "gains kps", 0.6, 2.2, 0.8, 1.5, 2.0),
        "m": quantity("limit umax band", "limits u_limits", 0.5, 1.3, 0.5, 1.2, 0.8),
    },
    titles="control_by_kind controller actuator_command",
    kinds="law kinds control_mode",
    struct="Gains Controller Actuator",
    records="Axis Joint",
    grids=("i|joint|tid", "robot joint|row col|i axis", "run robot joint|b i j"),
    masks="enabled armed mask",
    groups="joint_types motor_ids",
)


def _raw(body: BodyBuilder, e: Expr, v: Expr, g: Expr) -> Expr:
    return body.let("raw command u_raw", g * e + 0.3 * v)


@_CONTROL.formula("command torque")
def clamped_pd(body: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    raw = _raw(body, e, v, g)
    return either(body, clamp(raw, -m, m), least(most(raw, -m), m))


_CONTROL.add("bang_bang", "command thrust", lambda e, v, m: m * fn("sign", e + 0.5 * v))


@_CONTROL.formula("command thrust")
def time_optimal(body: BodyBuilder, e: Expr, v: Expr, m: Expr) -> Expr:
    body.note("the switching curve of a double integrator")
    curve = body.let("curve switching", e + 0.5 * v * abs(v) / m)
    return either(body, m * fn("sign", curve), fn("copysign", m, curve))


@_CONTROL.formula("command torque")
def sliding_mode(body: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    surface = body.let("surface s", v + g * e)
    return -m * clamp(2.0 * surface, -1.0, 1.0)


_CONTROL.add(
    "root_law",
    "command speed_cmd",
    lambda e, v, g: fn("copysign", sqrt(2.0 * g * abs(e)), e) - 0.5 * v,
)


@_CONTROL.formula(
    "command valve_cmd",
    "{g} * (|{e}| - {m} / 2) with the sign of {e} where that is not negative, else 0",
)
def dead_band(body: BodyBuilder, e: Expr, g: Expr, m: Expr) -> Expr:
    over = body.let("over excess", abs(e) - 0.5 * m)
    return g * fn("sign", e) * over * (1.0 - fn("step", over))


_CONTROL.add(
    "relay",
    "command switch_cmd",
    lambda e, v, m: m * (fn("step", -e - 0.3 * v) - 0.5 * fn("step", e - 1.0)),
    "{m} * (a - b / 2), a = 1 where -{e} - 0.3 * {v} < 0 and b = 1 where {e} < 1, else 0",
)
_CONTROL.add(
    "soft_saturation",
    "command torque",
    lambda body, e, v, g, m: m * fn("tanh", _raw(body, e, v, g) / m),
)
_CONTROL.add("stepped_valve", "opening valve_cmd", lambda e, g: fn("trunc", 4.0 * g * e) / 4.0)


@_CONTROL.formula("pulses_out steps_out")
def pulse_count(body: BodyBuilder, e: Expr, g: Expr) -> Expr:
    count = body.let("count pulses", fn("ceil", 3.0 * g * abs(e)))
    return fn("copysign", count, e)


@_CONTROL.formula(
    "position_cmd command", "n + 0.1 * {g} * ({e} - n) with n = {m} * round({e} / {m})"
)
def detent(body: BodyBuilder, e: Expr, g: Expr, m: Expr) -> Expr:
    notch = body.let("notch detent", m * fn("round", e / m))
    return notch + 0.1 * g * (e - notch)


@_CONTROL.formula(
    "command torque",
    "lerp({g} / 2, 2 * {g}, s) * {e} - 0.2 * {v}, s = smoothstep(0.3 * {m}, 2 * {m}, |{e}|)",
)
def gain_schedule(body: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    blend = body.let("blend schedule", fn("smoothstep", 0.3 * m, 2.0 * m, abs(e)))
    return fn("lerp", 0.5 * g, 2.0 * g, blend) * e - 0.2 * v


@_CONTROL.formula("command torque")
def friction_feedforward(body: BodyBuilder, e: Expr, v: Expr, g: Expr, m: Expr) -> Expr:
    body.note("Coulomb friction is compensated by the sign of the rate")
    return g * e + 0.4 * m * fn("sign", v)


_CONTROL.add(
    "power_law", "command torque", lambda e, g: g * fn("copysign", (abs(e) + 0.001) ** 0.7, e)
)


@_CONTROL.formula(
    "effort_out brake_cmd", "{m} * {e} - {v} / 2 where {e} * {v} > 0, else -{m} * {v}"
)
def assisted_brake(body: BodyBuilder, e: Expr, v: Expr, m: Expr) -> Expr:
    effort = body.let("effort brake", -m * v)
    with body.if_(e * v > 0.0):
        body.assign(effort, m * e - 0.5 * v)
    return effort


@idiom(depth=DEPTH)
def control_law(k: KernelBuilder, level: int) -> Title:
    """Controllers with saturation, dead bands, switching and steps."""
    return compose(k, level, _CONTROL)


_ORBIT = Family(
    inputs={"m": quantity("m_anom mean_anom", "mean_anomalies", -2.6, 2.6)},
    params={
        "e": quantity("ecc e_orbit", "eccs", 0.1, 0.6, 0.2, 0.5, 0.3),
        "a": quantity("a_semi axis", "axes_a", 0.6, 1.8, 1.2, 1.5, 0.8),
    },
    titles="orbit_measure phase_on_orbit",
    struct="Orbit Elements",
    records="Body Satellite",
    grids=("i|body|tid", "orbit step|row col|i j", "run orbit step|b i j"),
    masks="active bound mask",
    paired=True,
    groups="orbit_ids body_ids",
)
_OSCILLATOR = Family(
    inputs={
        "m": quantity("theta phase", "thetas phases", -2.6, 2.6),
        "v": quantity("rate omega", "rates omegas", -2.0, 2.0),
    },
    params={
        "e": quantity("coupling damping", "couplings", 0.1, 0.6, 0.2, 0.5, 0.3),
        "a": quantity("stiff gain", "stiffs", 0.6, 1.8, 1.2, 1.5, 0.8),
    },
    titles="phase_flow oscillator",
    struct="System Driver",
    records="State Node",
    grids=("i|node|tid", "ring node|row col|i j", "run ring node|b i j"),
    parts="drivers drv d",
    masks="active mask",
    groups="node_types cell_types",
)
_ANOMALY = (
    "E after three Newton steps E - (E - {e} * sin(E) - {m}) / (1 - {e} * cos(E)) from "
    "{m} + {e} * sin({m})"
)


def _kepler(body: BodyBuilder, m: Expr, e: Expr) -> Var:
    """The eccentric anomaly of a mean anomaly."""
    anomaly = body.let("ecc_anom big_e anomaly", m + e * sin(m))
    with body.for_(("it", "newton"), 3):
        miss = body.let("miss residual", anomaly - e * sin(anomaly) - m)
        body.assign(anomaly, anomaly - miss / (1.0 - e * cos(anomaly)))
    return anomaly


_ORBIT.add(
    "eccentric_anomaly",
    "anomaly_out ecc_out",
    lambda body, m, e: _kepler(body, m, e),
    f"the eccentric anomaly: {_ANOMALY}",
)


@_ORBIT.formula(
    "nu true_out", f"2 * atan(sqrt((1 + {{e}}) / (1 - {{e}})) * tan(E / 2)), {_ANOMALY}"
)
def true_anomaly(body: BodyBuilder, m: Expr, e: Expr) -> Expr:
    anomaly = _kepler(body, m, e)
    far = body.let("far ratio", sqrt((1.0 + e) / (1.0 - e)))
    return 2.0 * atan(far * tan(0.5 * anomaly))


_ORBIT.add(
    "orbit_radius",
    "radius_out dist",
    lambda body, m, e, a: a * (1.0 - e * cos(_kepler(body, m, e))),
    f"{{a}} * (1 - {{e}} * cos(E)), {_ANOMALY}",
)
_ORBIT.add(
    "orbit_abscissa",
    "x_out abscissa",
    lambda body, m, e, a: a * (cos(_kepler(body, m, e)) - e),
    f"{{a}} * (cos(E) - {{e}}), {_ANOMALY}",
)
_ORBIT.add(
    "center_equation",
    "center_eq shift_out",
    lambda m, e: e * (2.0 * sin(m) + 1.25 * e * sin(2.0 * m)),
)
_OSCILLATOR.add("pendulum", "accel accel_out", lambda m, v, a: -a * sin(m) - 0.1 * v)
_OSCILLATOR.add(
    "pendulum_energy", "energy energy_out", lambda m, v, a: 0.5 * v * v + a * (1.0 - cos(m))
)
_OSCILLATOR.add("van_der_pol", "accel accel_out", lambda m, v, e: 4.0 * e * (1.0 - m * m) * v - m)
_OSCILLATOR.add(
    "duffing",
    "accel accel_out",
    lambda body, m, v, e, a: either(body, m - a * m * m * m - e * v, m * (1.0 - a * m * m) - e * v),
)
_OSCILLATOR.add("fitzhugh_nagumo", "membrane dv", lambda m, v, a: m - m * m * m / 3.0 - v + 0.5 * a)
_OSCILLATOR.add("kuramoto_pull", "drift phase_rate", lambda m, v, e, a: a + e * sin(v - m))
_OSCILLATOR.add(
    "stick_slip",
    "accel accel_out",
    lambda body, m, v, e: -m - body.let("dry friction", fn("copysign", e / (1.0 + abs(v)), v)),
)
_OSCILLATOR.add("phase_angle", "angle_out polar", lambda m, v, a: atan2(v, a * m))
_OSCILLATOR.add(
    "leapfrog",
    "moved next_phase",
    lambda body, m, v, a: m + 0.1 * body.let("v_half half_kick", v - 0.05 * a * m),
)


@_OSCILLATOR.formula("kicked rotor")
def standard_map(body: BodyBuilder, m: Expr, v: Expr, a: Expr) -> Expr:
    turned = body.let("turned lifted", m + v + a * sin(m))
    return turned - TWO_PI * fn("floor", turned / TWO_PI)


@idiom(depth=DEPTH)
def orbit_phase(k: KernelBuilder, level: int) -> Title:
    """Kepler's equation: anomalies, radius and place on an orbit."""
    return compose(k, level, _ORBIT)


@idiom(depth=DEPTH)
def oscillator_phase(k: KernelBuilder, level: int) -> Title:
    """Pendulums, coupled phases and relaxation oscillators."""
    return compose(k, level, _OSCILLATOR)
