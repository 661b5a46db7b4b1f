"""Formulas of a few numbers that people apply to whole arrays, by subject: physics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.program.expr import Expr


@dataclass(frozen=True)
class Result:
    """A formula of inputs: its name, also of a helper; its text; names of an output."""

    name: str
    text: str
    build: Callable[..., Expr]
    outs: str

    def uses(self, key: str) -> int:
        return self.text.count("{" + key + "}")


@dataclass(frozen=True)
class Subject:
    """Inputs (candidate names, lowest and highest value) and what is made of them."""

    record: str
    inputs: dict[str, tuple[str, float, float]]
    results: tuple[Result, ...]


PHYSICS: tuple[Subject, ...] = (
    Subject(
        "Resistor",
        {"v": ("voltage volts u", 0.5, 12.0), "r": ("resistance ohms", 1.0, 9.0)},
        (
            Result("current", "{v} / {r}", lambda v, r: v / r, "current amps"),
            Result("power", "{v} * {v} / {r}", lambda v, r: v * v / r, "power watts"),
        ),
    ),
    Subject(
        "Branch",
        {
            "a": ("r1 upper_ohms", 1.0, 9.0),
            "b": ("r2 lower_ohms", 1.0, 9.0),
            "v": ("v_in supply", 3.0, 12.0),
        },
        (
            Result(
                "parallel",
                "{a} * {b} / ({a} + {b})",
                lambda a, b: a * b / (a + b),
                "combined total",
            ),
            Result(
                "divider", "{v} * {b} / ({a} + {b})", lambda v, b, a: v * b / (a + b), "v_out tap"
            ),
        ),
    ),
    Subject(
        "Body",
        {
            "m": ("mass masses", 0.5, 3.0),
            "v": ("speed velocity", -3.0, 3.0),
            "h": ("height altitude", 0.5, 4.0),
        },
        (
            Result(
                "kinetic_energy",
                "0.5 * {m} * {v} * {v}",
                lambda m, v: 0.5 * m * v * v,
                "kinetic energy_out",
            ),
            Result("momentum", "{m} * {v}", lambda m, v: m * v, "momentum impulse"),
            Result(
                "mechanical_energy",
                "{m} * (0.5 * {v} * {v} + 9.81 * {h})",
                lambda m, v, h: m * (0.5 * v * v + 9.81 * h),
                "total_energy energy_sum",
            ),
        ),
    ),
    Subject(
        "Throw",
        {
            "s": ("start_height y0", 0.5, 3.0),
            "v": ("launch_speed v0", 2.0, 9.0),
            "t": ("time elapsed", 0.1, 1.2),
        },
        (
            Result(
                "height_at",
                "{s} + {v} * {t} - 4.905 * {t} * {t}",
                lambda s, v, t: s + v * t - 4.905 * t * t,
                "height_out y_out",
            ),
            Result("speed_at", "{v} - 9.81 * {t}", lambda v, t: v - 9.81 * t, "speed_out vy"),
        ),
    ),
    Subject(
        "Flow",
        {
            "d": ("density rho", 0.8, 1.3),
            "v": ("speed airspeed", 1.0, 9.0),
            "a": ("area frontal_area", 0.2, 2.0),
        },
        (
            Result(
                "dynamic_pressure",
                "0.5 * {d} * {v} * {v}",
                lambda d, v: 0.5 * d * v * v,
                "pressure q_out",
            ),
            Result(
                "mass_flow", "{d} * {v} * {a}", lambda d, v, a: d * v * a, "mass_rate flow_rate"
            ),
        ),
    ),
    Subject(
        "Reaction",
        {
            "s": ("substrate concentration", 0.2, 5.0),
            "v": ("vmax max_rate", 0.8, 3.0),
            "k": ("km half_point", 0.4, 2.0),
        },
        (
            Result(
                "michaelis_menten",
                "{v} * {s} / ({k} + {s})",
                lambda v, s, k: v * s / (k + s),
                "velocity_out reaction_rate",
            ),
            Result(
                "saturation",
                "{s} / ({k} + {s})",
                lambda s, k: s / (k + s),
                "saturation bound_share",
            ),
        ),
    ),
    Subject(
        "Lens",
        {"f": ("focal focal_length", 0.5, 1.5), "d": ("distance object_distance", 2.0, 6.0)},
        (
            Result(
                "image_distance",
                "{f} * {d} / ({d} - {f})",
                lambda f, d: f * d / (d - f),
                "image_at image_distance_out",
            ),
            Result(
                "magnification",
                "{f} / ({d} - {f})",
                lambda f, d: f / (d - f),
                "enlargement zoom_out",
            ),
        ),
    ),
    Subject(
        "Gas",
        {
            "n": ("moles amount", 0.5, 3.0),
            "t": ("kelvin temperature", 250.0, 350.0),
            "v": ("volume liters", 5.0, 30.0),
        },
        (
            Result(
                "ideal_gas",
                "8.314 * {n} * {t} / {v}",
                lambda n, t, v: 8.314 * n * t / v,
                "pressure pressure_out",
            ),
            Result("celsius", "{t} - 273.15", lambda t: t - 273.15, "celsius temp_c"),
        ),
    ),
    Subject(
        "Heater",
        {
            "m": ("mass water_mass", 0.5, 3.0),
            "a": ("t_start cold", 5.0, 25.0),
            "b": ("t_end hot", 40.0, 90.0),
        },
        (
            Result(
                "heat",
                "4.186 * {m} * ({b} - {a})",
                lambda m, b, a: 4.186 * m * (b - a),
                "heat kilojoules",
            ),
            Result("fahrenheit", "1.8 * {b} + 32", lambda b: 1.8 * b + 32.0, "fahrenheit temp_f"),
        ),
    ),
    Subject(
        "Orbit",
        {
            "r": ("radius arm", 0.5, 3.0),
            "w": ("omega turn_rate", -2.0, 2.0),
            "m": ("mass load", 0.5, 2.0),
        },
        (
            Result(
                "centripetal_force",
                "{m} * {w} * {w} * {r}",
                lambda m, w, r: m * w * w * r,
                "force pull",
            ),
            Result("rim_speed", "{w} * {r}", lambda w, r: w * r, "rim_speed tangential"),
        ),
    ),
)
