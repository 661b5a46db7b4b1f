"""Formulas of a few numbers for whole arrays: shapes, statistics, images, trade."""

from __future__ import annotations

from generators.arithmetic.subjects import Result, Subject
from generators.build import fn

MEASURES: tuple[Subject, ...] = (
    Subject(
        "Band",
        {"n": ("nir near_infrared", 0.2, 0.9), "r": ("red red_band", 0.05, 0.5)},
        (
            Result(
                "ndvi", "({n} - {r}) / ({n} + {r})", lambda n, r: (n - r) / (n + r), "ndvi index"
            ),
            Result(
                "savi",
                "1.5 * ({n} - {r}) / ({n} + {r} + 0.5)",
                lambda n, r: 1.5 * (n - r) / (n + r + 0.5),
                "savi adjusted",
            ),
            Result("simple_ratio", "{n} / {r}", lambda n, r: n / r, "ratio simple_index"),
        ),
    ),
    Subject(
        "Reading",
        {"m": ("measured observed", 0.5, 4.0), "e": ("expected reference nominal", 0.5, 4.0)},
        (
            Result(
                "relative_error",
                "|{m} - {e}| / {e}",
                lambda m, e: fn("abs", m - e) / e,
                "error deviation",
            ),
            Result(
                "percent_change",
                "100 * ({m} - {e}) / {e}",
                lambda m, e: 100.0 * (m - e) / e,
                "percent change",
            ),
            Result("gain", "{m} / {e}", lambda m, e: m / e, "gain_out quotient"),
        ),
    ),
    Subject(
        "Box",
        {
            "a": ("width widths", 0.5, 4.0),
            "b": ("height heights", 0.5, 4.0),
            "c": ("depth depths", 0.5, 4.0),
        },
        (
            Result("volume", "{a} * {b} * {c}", lambda a, b, c: a * b * c, "volume volumes"),
            Result(
                "surface",
                "2 * ({a} * {b} + {b} * {c} + {a} * {c})",
                lambda a, b, c: 2.0 * (a * b + b * c + a * c),
                "surface skin_area",
            ),
            Result(
                "face_diagonal",
                "sqrt({a} * {a} + {b} * {b})",
                lambda a, b: fn("sqrt", a * a + b * b),
                "diagonal face_diag",
            ),
        ),
    ),
    Subject(
        "Cylinder",
        {"r": ("radius radii", 0.3, 2.0), "h": ("length height", 0.5, 4.0)},
        (
            Result(
                "cylinder_volume",
                "3.14159 * {r} * {r} * {h}",
                lambda r, h: 3.14159 * r * r * h,
                "volume volumes",
            ),
            Result(
                "side_area", "6.28318 * {r} * {h}", lambda r, h: 6.28318 * r * h, "side_area shell"
            ),
        ),
    ),
    Subject(
        "Sample",
        {
            "x": ("x values samples", -2.0, 2.0),
            "m": ("mean center", -0.5, 0.5),
            "s": ("std spread sigma", 0.5, 1.5),
        },
        (
            Result(
                "standard_score", "({x} - {m}) / {s}", lambda x, m, s: (x - m) / s, "score z_score"
            ),
            Result(
                "squared_score",
                "(({x} - {m}) / {s})^2",
                lambda x, m, s: (x - m) / s * ((x - m) / s),
                "chi_square squared",
            ),
        ),
    ),
    Subject(
        "Span",
        {
            "x": ("values raw level", 0.5, 4.0),
            "lo": ("low lower minimum", -1.0, 0.3),
            "h": ("high upper maximum", 5.0, 8.0),
        },
        (
            Result(
                "rescaled",
                "({x} - {lo}) / ({h} - {lo})",
                lambda x, lo, h: (x - lo) / (h - lo),
                "scaled unit_value",
            ),
            Result(
                "headroom",
                "({h} - {x}) / ({h} - {lo})",
                lambda h, x, lo: (h - x) / (h - lo),
                "headroom left_over",
            ),
        ),
    ),
    Subject(
        "Pixel",
        {"r": ("red r", 0.0, 1.0), "g": ("green g", 0.0, 1.0), "b": ("blue b", 0.0, 1.0)},
        (
            Result(
                "luma",
                "0.299 * {r} + 0.587 * {g} + 0.114 * {b}",
                lambda r, g, b: 0.299 * r + 0.587 * g + 0.114 * b,
                "luma gray",
            ),
            Result(
                "brightness",
                "({r} + {g} + {b}) / 3",
                lambda r, g, b: (r + g + b) / 3.0,
                "brightness average",
            ),
            Result(
                "chroma",
                "max({r}, {g}, {b}) - min({r}, {g}, {b})",
                lambda r, g, b: fn("max", fn("max", r, g), b) - fn("min", fn("min", r, g), b),
                "chroma color_range",
            ),
        ),
    ),
    Subject(
        "Gradient",
        {"x": ("gx dx_field", -2.0, 2.0), "y": ("gy dy_field", -2.0, 2.0)},
        (
            Result(
                "magnitude",
                "sqrt({x} * {x} + {y} * {y})",
                lambda x, y: fn("sqrt", x * x + y * y),
                "magnitude strength",
            ),
            Result(
                "taxicab",
                "|{x}| + |{y}|",
                lambda x, y: fn("abs", x) + fn("abs", y),
                "edge_sum taxicab_norm",
            ),
        ),
    ),
    Subject(
        "Pair",
        {"a": ("a left first", 0.5, 4.0), "b": ("b right second", 0.5, 4.0)},
        (
            Result(
                "harmonic_mean",
                "2 * {a} * {b} / ({a} + {b})",
                lambda a, b: 2.0 * a * b / (a + b),
                "harmonic mean_out",
            ),
            Result(
                "geometric_mean",
                "sqrt({a} * {b})",
                lambda a, b: fn("sqrt", a * b),
                "geometric root_mean",
            ),
            Result(
                "rms",
                "sqrt(0.5 * ({a} * {a} + {b} * {b}))",
                lambda a, b: fn("sqrt", 0.5 * (a * a + b * b)),
                "rms_out quadratic",
            ),
        ),
    ),
    Subject(
        "Item",
        {
            "p": ("price prices", 2.0, 9.0),
            "c": ("cost unit_cost", 0.5, 5.0),
            "q": ("quantity sold", 1.0, 8.0),
        },
        (
            Result("profit", "({p} - {c}) * {q}", lambda p, c, q: (p - c) * q, "profit earnings"),
            Result("margin", "({p} - {c}) / {p}", lambda p, c: (p - c) / p, "margin profit_share"),
            Result("revenue", "{p} * {q}", lambda p, q: p * q, "revenue turnover"),
        ),
    ),
)
