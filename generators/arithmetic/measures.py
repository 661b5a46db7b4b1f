"""Formulas of a few numbers for whole arrays: shapes, statistics, images, trade."""

from __future__ import annotations

from generators.arithmetic.subjects import Subject
from generators.kit.formulas import formulas
from generators.kit.functions import PI, TWO_PI, least, most, sqrt

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
