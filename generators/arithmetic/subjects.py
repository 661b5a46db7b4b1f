"""Formulas of a few numbers that people apply to whole arrays, by subject."""

from __future__ import annotations

from dataclasses import dataclass

from generators.kit.formulas import Formula, formulas
from generators.kit.functions import PI, TWO_PI, least, most, sqrt


@dataclass(frozen=True)
class Subject:
    """Inputs (candidate names, lowest and highest value) and what is made of them."""

    record: str
    inputs: dict[str, tuple[str, float, float]]
    results: tuple[Formula, ...]
    fixed: tuple[str, ...] = ()
    """Inputs that are the same for all elements."""


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
            "g": ("g gravity", 9.7, 9.9),
        },
        formulas(
            kinetic_energy=("kinetic energy_out", lambda m, v: 0.5 * m * v * v),
            momentum=("momentum impulse", lambda m, v: m * v),
            mechanical_energy=(
                "total_energy energy_sum",
                lambda m, v, g, h: m * (0.5 * v * v + g * h),
            ),
        ),
        ("g",),
    ),
    Subject(
        "Throw",
        {
            "s": ("start_height y0", 0.5, 3.0),
            "v": ("launch_speed v0", 2.0, 9.0),
            "t": ("time elapsed", 0.1, 1.2),
            "g": ("g gravity", 9.7, 9.9),
        },
        formulas(
            height_at=("height_out y_out", lambda s, v, t, g: s + v * t - 0.5 * g * t * t),
            speed_at=("speed_out vy", lambda v, t, g: v - g * t),
        ),
        ("g",),
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

MEASURES: tuple[Subject, ...] = (
    Subject(
        "Band",
        {"n": ("nir near_infrared", 0.2, 0.9), "r": ("red red_band", 0.05, 0.5)},
        formulas(
            ndvi=("ndvi index", lambda n, r: (n - r) / (n + r)),
            savi=("savi adjusted", lambda n, r: 1.5 * (n - r) / (n + r + 0.5)),
            simple_ratio=("ratio simple_index", lambda n, r: n / r),
        ),
    ),
    Subject(
        "Reading",
        {"m": ("measured observed", 0.5, 4.0), "e": ("expected reference nominal", 0.5, 4.0)},
        formulas(
            relative_error=("error deviation", lambda m, e: abs(m - e) / e),
            percent_change=("percent change", lambda m, e: 100.0 * (m - e) / e),
            gain=("gain_out quotient", lambda m, e: m / e),
        ),
    ),
    Subject(
        "Box",
        {
            "a": ("width widths", 0.5, 4.0),
            "b": ("height heights", 0.5, 4.0),
            "c": ("depth depths", 0.5, 4.0),
        },
        formulas(
            volume=("volume volumes", lambda a, b, c: a * b * c),
            surface=("surface skin_area", lambda a, b, c: 2.0 * (a * b + b * c + a * c)),
            face_diagonal=("diagonal face_diag", lambda a, b: sqrt(a * a + b * b)),
        ),
    ),
    Subject(
        "Cylinder",
        {"r": ("radius radii", 0.3, 2.0), "h": ("length height", 0.5, 4.0)},
        formulas(
            cylinder_volume=("volume volumes", lambda r, h: PI * r * r * h),
            side_area=("side_area shell", lambda r, h: TWO_PI * r * h),
        ),
    ),
    Subject(
        "Sample",
        {
            "x": ("x values samples", -2.0, 2.0),
            "m": ("mean center", -0.5, 0.5),
            "s": ("std spread sigma", 0.5, 1.5),
        },
        formulas(
            standard_score=("score z_score", lambda x, m, s: (x - m) / s),
            squared_score=("chi_square squared", lambda x, m, s: (x - m) / s * ((x - m) / s)),
        ),
    ),
    Subject(
        "Span",
        {
            "x": ("values raw level", 0.5, 4.0),
            "lo": ("low lower minimum", -1.0, 0.3),
            "h": ("high upper maximum", 5.0, 8.0),
        },
        formulas(
            rescaled=("scaled unit_value", lambda x, lo, h: (x - lo) / (h - lo)),
            headroom=("headroom left_over", lambda h, x, lo: (h - x) / (h - lo)),
        ),
    ),
    Subject(
        "Pixel",
        {"r": ("red r", 0.0, 1.0), "g": ("green g", 0.0, 1.0), "b": ("blue b", 0.0, 1.0)},
        formulas(
            luma=("luma gray", lambda r, g, b: 0.299 * r + 0.587 * g + 0.114 * b),
            brightness=("brightness average", lambda r, g, b: (r + g + b) / 3.0),
            chroma=("chroma color_range", lambda r, g, b: most(r, g, b) - least(r, g, b)),
        ),
    ),
    Subject(
        "Gradient",
        {"x": ("gx dx_field", -2.0, 2.0), "y": ("gy dy_field", -2.0, 2.0)},
        formulas(
            magnitude=("magnitude strength", lambda x, y: sqrt(x * x + y * y)),
            taxicab=("edge_sum taxicab_norm", lambda x, y: abs(x) + abs(y)),
        ),
    ),
    Subject(
        "Pair",
        {"a": ("a left first", 0.5, 4.0), "b": ("b right second", 0.5, 4.0)},
        formulas(
            harmonic_mean=("harmonic mean_out", lambda a, b: 2.0 * a * b / (a + b)),
            geometric_mean=("geometric root_mean", lambda a, b: sqrt(a * b)),
            rms=("rms_out quadratic", lambda a, b: sqrt(0.5 * (a * a + b * b))),
        ),
    ),
    Subject(
        "Item",
        {
            "p": ("price prices", 2.0, 9.0),
            "c": ("cost unit_cost", 0.5, 5.0),
            "q": ("quantity sold", 1.0, 8.0),
        },
        formulas(
            profit=("profit earnings", lambda p, c, q: (p - c) * q),
            margin=("margin profit_share", lambda p, c: (p - c) / p),
            revenue=("revenue turnover", lambda p, q: p * q),
        ),
    ),
)
