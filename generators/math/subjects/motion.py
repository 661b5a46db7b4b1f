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
        "e": quantity("err pos_err", "errors pos_errors", -2.0, 2.0),
        "v": quantity("rate err_rate", "rates err_rates", -2.0, 2.0),
    },
    params={
        "g": quantity("gain kp", "gains kps", 0.6, 2.2, 0.8, 1.5, 2.0),
        "m": quantity("limit umax band", "limits u_limits", 0.5, 1.3, 0.5, 1.2, 0.8),
        "d": quantity("kd damping", "kds dampings", 0.1, 0.5, 0.2, 0.4),
    },
    titles="control_by_kind controller actuator_command",
    kinds="law kinds control_mode",
    struct="Gains Controller Actuator",
    records="JointState ServoState",
    grids=("i|joint|tid", "robot joint|i joint|arm axis"),
    masks="enabled armed mask",
    groups="joint_types motor_types",
    varying="g m d",
    own_axis=1,
    sizes={2: "robots links"},
    about={
        "clamped_pd": "PD controller with a limit on its output",
        "bang_bang": "bang-bang controller with a rate term",
        "time_optimal": "time-optimal switching law of a double integrator",
        "sliding_mode": "sliding mode controller with a boundary layer",
        "root_law": "speed from which a distance can just be braked at a given deceleration",
        "dead_band": "proportional controller with a dead zone",
        "soft_saturation": "PD controller whose output saturates smoothly",
        "friction_compensation": "proportional controller that makes up for Coulomb friction",
    },
)


def _raw(body: BodyBuilder, e: Expr, v: Expr, g: Expr, d: Expr) -> Expr:
    return body.let("raw command u_raw", g * e + d * v)


@_CONTROL.formula("command torque", g="kp kps", d="kd kds", m="u_max u_limits")
def clamped_pd(body: BodyBuilder, e: Expr, v: Expr, g: Expr, d: Expr, m: Expr) -> Expr:
    raw = _raw(body, e, v, g, d)
    return either(body, clamp(raw, -m, m), least(most(raw, -m), m))


_CONTROL.add(
    "bang_bang",
    "command thrust",
    lambda e, v, d, m: m * fn("sign", e + d * v),
    d="rate_gain rate_gains",
    m="u_max u_limits",
)


@_CONTROL.formula("command thrust", m="u_max u_limits")
def time_optimal(body: BodyBuilder, e: Expr, v: Expr, m: Expr) -> Expr:
    body.note("the switching curve of a double integrator")
    curve = body.let("curve switching", e + 0.5 * v * abs(v) / m)
    return either(body, m * fn("sign", curve), fn("copysign", m, curve))


@_CONTROL.formula("command torque", g="slope slopes", d="boundary boundaries", m="u_max u_limits")
def sliding_mode(body: BodyBuilder, e: Expr, v: Expr, g: Expr, d: Expr, m: Expr) -> Expr:
    surface = body.let("surface s", v + g * e)
    return -m * clamp(surface / d, -1.0, 1.0)


_CONTROL.add(
    "root_law",
    "speed_cmd velocity_cmd",
    lambda e, g: fn("copysign", sqrt(2.0 * g * abs(e)), e),
    e="distance distances",
    g="max_decel max_decels",
)


@_CONTROL.formula(
    "command valve_cmd",
    "{g} * max(|{e}| - {m}, 0) with the sign of {e}",
    m="dead_zone dead_zones",
)
def dead_band(body: BodyBuilder, e: Expr, g: Expr, m: Expr) -> Expr:
    over = body.let("over excess", most(abs(e) - m, 0.0))
    return g * fn("copysign", over, e)


_CONTROL.add(
    "soft_saturation",
    "command torque",
    lambda body, e, v, g, d, m: m * fn("tanh", _raw(body, e, v, g, d) / m),
    g="kp kps",
    d="kd kds",
    m="u_max u_limits",
)


@_CONTROL.formula("command torque", v="velocity velocities", g="kp kps", d="friction frictions")
def friction_compensation(body: BodyBuilder, e: Expr, v: Expr, g: Expr, d: Expr) -> Expr:
    body.note("Coulomb friction acts against the sign of the velocity")
    return g * e + d * fn("sign", v)


@idiom(depth=DEPTH)
def control_law(k: KernelBuilder, level: int) -> Title:
    """Controllers with saturation, dead bands, switching and steps."""
    return compose(k, level, _CONTROL)


_ORBIT = Family(
    inputs={"m": quantity("m_anom mean_anom", "mean_anomalies", -2.6, 2.6)},
    params={
        "e": quantity("ecc eccentricity", "eccs eccentricities", 0.1, 0.6, 0.2, 0.5, 0.3),
        "a": quantity("semi_axis", "semi_axes", 0.6, 1.8, 1.2, 1.5, 0.8),
    },
    titles="orbit_measure phase_on_orbit",
    struct="Orbit Elements",
    records="Body Satellite",
    grids=("i|body|tid", "orbit step|row col|i j", "run orbit step|b i j"),
    masks="active bound mask",
    groups="orbit_ids",
    varying="e a",
    about={
        "eccentric_anomaly": "eccentric anomaly from Kepler's equation",
        "true_anomaly": "true anomaly by way of Kepler's equation",
        "orbit_radius": "distance from the focus by way of Kepler's equation",
        "orbit_abscissa": "coordinate along the major axis, from the focus",
        "center_equation": "equation of the centre to second order in the eccentricity",
    },
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
    masks="active mask",
    varying="a",
    about={
        "pendulum": "angular acceleration of damped pendulums",
        "pendulum_energy": "energy of pendulums per moment of inertia",
        "van_der_pol": "acceleration of van der Pol oscillators",
        "duffing": "acceleration of damped Duffing oscillators with a double well",
        "fitzhugh_nagumo": "rate of the membrane voltage in the FitzHugh-Nagumo model",
        "kuramoto_pull": "rate of a phase that is coupled to a neighbour's (Kuramoto)",
        "phase_angle": "phase of harmonic oscillators, x = A * cos(phase) and "
        "v = -A * omega * sin(phase)",
        "standard_map": "angle after one step of the standard map of a kicked rotor",
    },
)
_ANOMALY = (
    "E after three Newton steps E - (E - {e} * sin(E) - {m}) / (1 - {e} * cos(E)) from "
    "{m} + {e} * sin({m})"
)


def _kepler(body: BodyBuilder, m: Expr, e: Expr) -> Var:
    """The eccentric anomaly of a mean anomaly."""
    anomaly = body.let("ecc_anom big_e", m + e * sin(m))
    with body.for_(("it", "newton"), 3):
        miss = body.let("miss residual", anomaly - e * sin(anomaly) - m)
        body.assign(anomaly, anomaly - miss / (1.0 - e * cos(anomaly)))
    return anomaly


_ORBIT.add(
    "eccentric_anomaly",
    "eccentric_anomaly ecc_anomaly",
    lambda body, m, e: _kepler(body, m, e),
    f"the eccentric anomaly: {_ANOMALY}",
)


@_ORBIT.formula(
    "nu true_out", f"2 * atan(sqrt((1 + {{e}}) / (1 - {{e}})) * tan(E / 2)), {_ANOMALY}"
)
def true_anomaly(body: BodyBuilder, m: Expr, e: Expr) -> Expr:
    anomaly = _kepler(body, m, e)
    far = body.let("ratio stretch", sqrt((1.0 + e) / (1.0 - e)))
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
_OSCILLATOR.add(
    "pendulum",
    "accel accel_out",
    lambda m, v, a, e: -a * sin(m) - e * v,
    m="theta thetas",
    v="omega omegas",
    a="g_over_l g_over_ls",
    e="damping dampings",
)
_OSCILLATOR.add(
    "pendulum_energy",
    "energy energies",
    lambda m, v, a: 0.5 * v * v + a * (1.0 - cos(m)),
    m="theta thetas",
    v="omega omegas",
    a="g_over_l g_over_ls",
)
_OSCILLATOR.add(
    "van_der_pol",
    "accel accel_out",
    lambda m, v, e: e * (1.0 - m * m) * v - m,
    m="x xs",
    v="v vs",
    e="mu mus",
)
_OSCILLATOR.add(
    "duffing",
    "accel accel_out",
    lambda body, m, v, e, a: either(body, m - a * m * m * m - e * v, m * (1.0 - a * m * m) - e * v),
    m="x xs",
    v="v vs",
    e="damping dampings",
    a="beta betas",
)
_OSCILLATOR.add(
    "fitzhugh_nagumo",
    "membrane dv",
    lambda m, v, a: m - m * m * m / 3.0 - v + a,
    m="voltage voltages",
    v="recovery recoveries",
    a="stimulus stimuli",
)
_OSCILLATOR.add(
    "kuramoto_pull",
    "drift phase_rate",
    lambda m, v, e, a: a + e * sin(v - m),
    m="theta thetas",
    v="neighbour_phase neighbour_phases",
    e="coupling couplings",
    a="natural_freq natural_freqs",
)
_OSCILLATOR.add(
    "phase_angle",
    "angle_out phases",
    lambda m, v, a: atan2(-v, a * m),
    m="x xs",
    v="v vs",
    a="omega omegas",
)


@_OSCILLATOR.formula(
    "theta_next next_theta", m="theta thetas", v="momentum momenta", a="kick kicks"
)
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
