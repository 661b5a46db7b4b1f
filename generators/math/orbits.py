"""Oscillators and orbits: phases, Kepler's equation, rates of change of famous systems."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr, Var


def _kepler(b: BodyBuilder, m: Expr, e: Expr, steps: int = 3) -> Var:
    anomaly = b.let(("ecc_anom", "big_e", "anomaly"), m + e * fn("sin", m))
    with b.for_(("it", "newton"), steps):
        miss = b.let(("miss", "residual"), anomaly - e * fn("sin", anomaly) - m)
        b.assign(anomaly, anomaly - miss / (1.0 - e * fn("cos", anomaly)))
    return anomaly


def _true_anomaly(b: BodyBuilder, m: Expr, e: Expr) -> Expr:
    anomaly = _kepler(b, m, e)
    far = b.let(("far", "ratio"), fn("sqrt", (1.0 + e) / (1.0 - e)))
    return 2.0 * fn("atan", far * fn("tan", 0.5 * anomaly))


def _orbit_radius(b: BodyBuilder, m: Expr, e: Expr, a: Expr) -> Expr:
    return a * (1.0 - e * fn("cos", _kepler(b, m, e)))


def _orbit_x(b: BodyBuilder, m: Expr, e: Expr, a: Expr) -> Expr:
    return a * (fn("cos", _kepler(b, m, e)) - e)


def _equation_of_center(b: BodyBuilder, m: Expr, e: Expr) -> Expr:
    return e * (2.0 * fn("sin", m) + 1.25 * e * fn("sin", 2.0 * m))


def _pendulum(b: BodyBuilder, m: Expr, v: Expr, a: Expr) -> Expr:
    return -a * fn("sin", m) - 0.1 * v


def _pendulum_energy(b: BodyBuilder, m: Expr, v: Expr, a: Expr) -> Expr:
    return 0.5 * v * v + a * (1.0 - fn("cos", m))


def _van_der_pol(b: BodyBuilder, m: Expr, v: Expr, e: Expr) -> Expr:
    return 4.0 * e * (1.0 - m * m) * v - m


def _duffing(b: BodyBuilder, m: Expr, v: Expr, e: Expr, a: Expr) -> Expr:
    return either(b, m - a * m * m * m - e * v, m * (1.0 - a * m * m) - e * v)


def _fitz_hugh(b: BodyBuilder, m: Expr, v: Expr, a: Expr) -> Expr:
    return m - m * m * m / 3.0 - v + 0.5 * a


def _kuramoto(b: BodyBuilder, m: Expr, v: Expr, e: Expr, a: Expr) -> Expr:
    return a + e * fn("sin", v - m)


def _stick_slip(b: BodyBuilder, m: Expr, v: Expr, e: Expr) -> Expr:
    """Friction that falls with speed: a spring and a dry contact."""
    dry = b.let(("dry", "friction"), fn("copysign", e / (1.0 + fn("abs", v)), v))
    return -m - dry


def _heading(b: BodyBuilder, m: Expr, v: Expr, a: Expr) -> Expr:
    return fn("atan2", v, a * m)


def _verlet(b: BodyBuilder, m: Expr, v: Expr, a: Expr) -> Expr:
    half = b.let(("v_half", "half_kick"), v - 0.05 * a * m)
    return m + 0.1 * half


def _rotor(b: BodyBuilder, m: Expr, v: Expr, a: Expr) -> Expr:
    turned = b.let(("turned", "lifted"), m + v + a * fn("sin", m))
    return turned - 6.2831853 * fn("floor", turned / 6.2831853)


_E = (
    "E after three Newton steps E - (E - {e} * sin(E) - {m}) / (1 - {e} * cos(E)) from "
    "{m} + {e} * sin({m})"
)
_ORBIT = Family(
    item="oscillator",
    inputs={
        "m": quantity("m_anom theta phase", "mean_anomalies thetas phases", -2.6, 2.6),
        "v": quantity("rate omega speed", "rates omegas speeds", -2.0, 2.0),
    },
    params={
        "e": quantity("ecc eps coupling", "eccs couplings", 0.1, 0.6, 0.2, 0.5, 0.3),
        "a": quantity("axis a_semi stiff", "axes_a stiffs", 0.6, 1.8, 1.0, 1.5, 0.8),
    },
    titles="orbit_measure dynamics_by_kind phase_flow",
    kinds="system kinds model",
    struct="Orbit System Driver",
    records="State Body Node",
    grids=("i|body|tid", "ring node|row col|i j", "run ring node|b i j"),
    parts="drivers drv d",
    masks="active bound mask",
    reductions=("sum", "mean", "largest", "smallest"),
    cards=(
        by_hand(
            "eccentric_anomaly",
            "anomaly_out ecc_out",
            f"the eccentric anomaly: {_E}",
            "m e",
            lambda b, m, e: _kepler(b, m, e),
        ),
        by_hand(
            "true_anomaly",
            "nu true_out",
            f"2 * atan(sqrt((1 + {{e}}) / (1 - {{e}})) * tan(E / 2)), {_E}",
            "m e",
            _true_anomaly,
        ),
        by_hand(
            "orbit_radius",
            "radius_out dist",
            f"{{a}} * (1 - {{e}} * cos(E)), {_E}",
            "m e a",
            _orbit_radius,
        ),
        by_hand(
            "orbit_abscissa",
            "x_out abscissa",
            f"{{a}} * (cos(E) - {{e}}), {_E}",
            "m e a",
            _orbit_x,
        ),
        by_hand(
            "center_equation",
            "center_eq shift_out",
            "{e} * (2 * sin({m}) + 1.25 * {e} * sin(2 * {m}))",
            "m e",
            _equation_of_center,
        ),
        by_hand("pendulum", "accel accel_out", "-{a} * sin({m}) - 0.1 * {v}", "m v a", _pendulum),
        by_hand(
            "pendulum_energy",
            "energy energy_out",
            "{v}^2 / 2 + {a} * (1 - cos({m}))",
            "m v a",
            _pendulum_energy,
        ),
        by_hand(
            "van_der_pol",
            "accel accel_out",
            "4 * {e} * (1 - {m}^2) * {v} - {m}",
            "m v e",
            _van_der_pol,
        ),
        by_hand("duffing", "accel accel_out", "{m} - {a} * {m}^3 - {e} * {v}", "m v e a", _duffing),
        by_hand(
            "fitzhugh_nagumo",
            "membrane dv",
            "{m} - {m}^3 / 3 - {v} + {a} / 2",
            "m v a",
            _fitz_hugh,
        ),
        by_hand(
            "kuramoto_pull",
            "drift phase_rate",
            "{a} + {e} * sin({v} - {m})",
            "m v e a",
            _kuramoto,
        ),
        by_hand(
            "stick_slip",
            "accel accel_out",
            "-{m} - {e} / (1 + |{v}|), the second with the sign of {v}",
            "m v e",
            _stick_slip,
        ),
        by_hand("phase_angle", "angle_out polar", "atan2({v}, {a} * {m})", "m v a", _heading),
        by_hand(
            "leapfrog",
            "moved next_phase",
            "{m} + 0.1 * ({v} - 0.05 * {a} * {m})",
            "m v a",
            _verlet,
        ),
        by_hand(
            "standard_map",
            "kicked rotor",
            "u - 2 * pi * floor(u / (2 * pi)) with u = {m} + {v} + {a} * sin({m})",
            "m v a",
            _rotor,
        ),
    ),
)


@idiom
def orbit_phase(k: KernelBuilder, level: int) -> Title:
    """Kepler's equation, pendulums, coupled phases and relaxation oscillators."""
    return compose(k, level, _ORBIT)
