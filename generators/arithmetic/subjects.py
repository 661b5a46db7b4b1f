"""Formulas of a few numbers that people apply to whole arrays, by subject: physics."""

from __future__ import annotations

from dataclasses import dataclass

from generators.kit.formulas import Formula, formulas


@dataclass(frozen=True)
class Subject:
    """Inputs (candidate names, lowest and highest value) and what is made of them."""

    record: str
    inputs: dict[str, tuple[str, float, float]]
    results: tuple[Formula, ...]


PHYSICS: tuple[Subject, ...] = (
    Subject(
        "Resistor",
        {"v": ("voltage volts u", 0.5, 12.0), "r": ("resistance ohms", 1.0, 9.0)},
        formulas(
            current=("current amps", lambda v, r: v / r),
            power=("power watts", lambda v, r: v * v / r),
        ),
    ),
    Subject(
        "Branch",
        {
            "a": ("r1 upper_ohms", 1.0, 9.0),
            "b": ("r2 lower_ohms", 1.0, 9.0),
            "v": ("v_in supply", 3.0, 12.0),
        },
        formulas(
            parallel=("combined total", lambda a, b: a * b / (a + b)),
            divider=("v_out tap", lambda v, b, a: v * b / (a + b)),
        ),
    ),
    Subject(
        "Body",
        {
            "m": ("mass masses", 0.5, 3.0),
            "v": ("speed velocity", -3.0, 3.0),
            "h": ("height altitude", 0.5, 4.0),
        },
        formulas(
            kinetic_energy=("kinetic energy_out", lambda m, v: 0.5 * m * v * v),
            momentum=("momentum impulse", lambda m, v: m * v),
            mechanical_energy=(
                "total_energy energy_sum",
                lambda m, v, h: m * (0.5 * v * v + 9.81 * h),
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
        formulas(
            height_at=("height_out y_out", lambda s, v, t: s + v * t - 4.905 * t * t),
            speed_at=("speed_out vy", lambda v, t: v - 9.81 * t),
        ),
    ),
    Subject(
        "Flow",
        {
            "d": ("density rho", 0.8, 1.3),
            "v": ("speed airspeed", 1.0, 9.0),
            "a": ("area frontal_area", 0.2, 2.0),
        },
        formulas(
            dynamic_pressure=("pressure q_out", lambda d, v: 0.5 * d * v * v),
            mass_flow=("mass_rate flow_rate", lambda d, v, a: d * v * a),
        ),
    ),
    Subject(
        "Reaction",
        {
            "s": ("substrate concentration", 0.2, 5.0),
            "v": ("vmax max_rate", 0.8, 3.0),
            "k": ("km half_point", 0.4, 2.0),
        },
        formulas(
            michaelis_menten=("velocity_out reaction_rate", lambda v, s, k: v * s / (k + s)),
            saturation=("saturation bound_share", lambda s, k: s / (k + s)),
        ),
    ),
    Subject(
        "Lens",
        {"f": ("focal focal_length", 0.5, 1.5), "d": ("distance object_distance", 2.0, 6.0)},
        formulas(
            image_distance=("image_at image_distance_out", lambda f, d: f * d / (d - f)),
            magnification=("enlargement zoom_out", lambda f, d: f / (d - f)),
        ),
    ),
    Subject(
        "Gas",
        {
            "n": ("moles amount", 0.5, 3.0),
            "t": ("kelvin temperature", 250.0, 350.0),
            "v": ("volume liters", 5.0, 30.0),
        },
        formulas(
            ideal_gas=("pressure pressure_out", lambda n, t, v: 8.314 * n * t / v),
            celsius=("celsius temp_c", lambda t: t - 273.15),
        ),
    ),
    Subject(
        "Heater",
        {
            "m": ("mass water_mass", 0.5, 3.0),
            "a": ("t_start cold", 5.0, 25.0),
            "b": ("t_end hot", 40.0, 90.0),
        },
        formulas(
            heat=("heat kilojoules", lambda m, b, a: 4.186 * m * (b - a)),
            fahrenheit=("fahrenheit temp_f", lambda b: 1.8 * b + 32.0),
        ),
    ),
    Subject(
        "Orbit",
        {
            "r": ("radius arm", 0.5, 3.0),
            "w": ("omega turn_rate", -2.0, 2.0),
            "m": ("mass load", 0.5, 2.0),
        },
        formulas(
            centripetal_force=("force pull", lambda m, w, r: m * w * w * r),
            rim_speed=("rim_speed tangential", lambda w, r: w * r),
        ),
    ),
)
