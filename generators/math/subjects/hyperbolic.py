"""Profiles by hyperbolic functions: cables, water waves, fins and electrodes."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import cosh, sqrt, tanh
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_HYPERBOLIC = Family(
    inputs={"x": quantity("x pos s", "x positions stations", 0.05, 1.95)},
    params={
        "a": quantity("a stiff scale", "a_values scales stiffs", 0.6, 1.6, 0.75, 1.2, 1.5),
        "h": quantity("depth h bias", "depths biases", 0.2, 1.2, 0.25, 0.5, 0.8),
        "g": quantity("gravity g", "gravities", 9.78, 9.83),
    },
    titles="hyperbolic_profile profile_by_kind shape_profile",
    kinds="profile kinds shape_id",
    struct="Cable Medium Fin",
    grids=("i|tid|node", "line node|row col|i j", "case line node|b i j"),
    weights="weights loads",
    masks="mask wet active",
    about={
        "catenary": "height of a hanging cable above its lowest point",
        "cable_length": "length of a hanging cable from its lowest point",
        "gudermannian": "latitude of a northing of the Mercator projection of a unit sphere",
        "wave_speed": "phase speed of water waves over a bottom",
        "wave_frequency": "angular frequency of water waves over a bottom",
        "soliton": "surface elevation of a solitary wave in shallow water",
        "fin_efficiency": "efficiency of a straight cooling fin",
        "fin_temperature": "temperature ratio along a cooling fin with an adiabatic tip",
        "kink": "profile of a domain wall",
        "butler_volmer": "current density of an electrode by Butler and Volmer, both ways alike",
    },
)


def _sinh(x: Expr) -> Expr:
    return fn("sinh", x)


_HYPERBOLIC.add(
    "catenary",
    "height sag",
    lambda x, a: a * (cosh(x / a) - 1.0),
    x="x xs",
    a="catenary_a catenary_as",
)
_HYPERBOLIC.add(
    "cable_length",
    "arc length_out",
    lambda x, a: a * _sinh(x / a),
    x="x xs",
    a="catenary_a catenary_as",
)
_HYPERBOLIC.add(
    "gudermannian",
    "latitude angle_out",
    lambda body, x: either(body, 2.0 * fn("atan", tanh(0.5 * x)), fn("atan", _sinh(x))),
    x="northing northings",
)
_HYPERBOLIC.add(
    "wave_speed",
    "speed celerity",
    lambda x, h, g: sqrt(g * tanh(x * h) / x),
    x="wavenumber wavenumbers",
    h="depth depths",
)
_HYPERBOLIC.add(
    "wave_frequency",
    "omega frequency",
    lambda x, h, g: sqrt(g * x * tanh(x * h)),
    x="wavenumber wavenumbers",
    h="depth depths",
)
_HYPERBOLIC.add(
    "soliton",
    "elevation pulse",
    lambda body, x, a, h: a / ((c := body.let("c spread", cosh(sqrt(0.75 * a / h) / h * x))) * c),
    x="xi xis",
    a="amplitude amplitudes",
    h="depth depths",
)


_HYPERBOLIC.add(
    "fin_efficiency",
    "efficiency eta",
    lambda body, x, a: tanh(m := body.let("ml m_len", a * x)) / m,
    x="fin_length fin_lengths",
    a="fin_m fin_ms",
)
_HYPERBOLIC.add(
    "fin_temperature",
    "temp_ratio theta",
    lambda x, a, h: cosh(a * (h - x)) / cosh(a * h),
    x="x xs",
    a="fin_m fin_ms",
    h="fin_length fin_lengths",
)
_HYPERBOLIC.add(
    "kink",
    "field_out kink_out",
    lambda x, a, h: h * tanh(a * x),
    x="x xs",
    a="steepness steepnesses",
    h="amplitude amplitudes",
)
_HYPERBOLIC.add(
    "butler_volmer",
    "current current_density",
    lambda x, a, h: 2.0 * h * _sinh(0.5 * x / a),
    x="overpotential overpotentials",
    a="thermal_voltage thermal_voltages",
    h="exchange_current exchange_currents",
)


@idiom(depth=DEPTH)
def hyperbolic_profile(k: KernelBuilder, level: int) -> Title:
    """Cables, water waves, magnets and fins: profiles by hyperbolic functions."""
    return compose(k, level, _HYPERBOLIC)
