"""Mathematics: polar coordinates, tone curves, activations, distributions, softmax statistics."""

from __future__ import annotations

from collections.abc import Callable

from generators._math_angles import angle_arithmetic
from generators._math_atmosphere import weather_index
from generators._math_classify import classification_loss
from generators._math_colour import colour_transfer
from generators._math_control import control_law
from generators._math_cumulative import cumulative_probability
from generators._math_densities import probability_density
from generators._math_diffusion import diffusion_profile
from generators._math_distribution import distribution
from generators._math_doses import dose_response
from generators._math_easing import easing_curve
from generators._math_flows import fluid_flow
from generators._math_geodesy import geodesic
from generators._math_hyperbolic import hyperbolic_profile
from generators._math_interest import interest
from generators._math_interpolation import interpolation
from generators._math_logs import log_measure
from generators._math_losses import regression_loss
from generators._math_network import activation
from generators._math_optics import surface_optics
from generators._math_options import option_price
from generators._math_orbits import orbit_phase
from generators._math_pixels import pixel_measure
from generators._math_positions import positional_encoding
from generators._math_potentials import pair_potential
from generators._math_quantiles import quantile
from generators._math_radiation import thermal_radiation
from generators._math_rounding import grid_rounding
from generators._math_softmax import softmax_statistic
from generators._math_special import special_function
from generators._math_stable import stable_numerics
from generators._math_textures import procedural_texture
from generators._math_waveforms import waveform
from generators._math_windows import window_function
from generators.build import KernelBuilder, cast, fn
from generators.dtypes import Scalar
from generators.expr import Expr, Var
from generators.pieces import constant, stored
from generators.registry import Category, Title
from generators.stages import refine

CATEGORY = Category("math", "elementary functions as science, graphics and learning use them")

_LOCALS = ("value", "response", "shaped", "adjusted", "v")

_Polar = Callable[[Expr, Expr, Expr, float], Expr]
_POLAR: dict[str, tuple[str, str, _Polar]] = {
    "heading": (
        "theta",
        "(theta in degrees - {c}) / 90",
        lambda x, y, a, c: (fn("degrees", a) - c) / 90.0,
    ),
    "bearing_error": (
        "theta",
        "theta - {c}, wrapped to [-pi, pi)",
        lambda x, y, a, c: a - c - 6.2831853 * fn("floor", (a - c) / 6.2831853 + 0.5),
    ),
    "petals": ("theta", "x * cos({c} * theta)", lambda x, y, a, c: x * fn("cos", c * a)),
    "half_angle": ("theta", "{c} * sin(theta / 2)", lambda x, y, a, c: c * fn("sin", 0.5 * a)),
    "elevation": ("r", "{c} * asin(y / r)", lambda x, y, r, c: c * fn("asin", y / r)),
    "tilt": ("r", "acos(y / r) - {c}", lambda x, y, r, c: fn("acos", y / r) - c),
    "log_radius": ("r", "log({c} * r)", lambda x, y, r, c: fn("log", c * r)),
    "swirl": (
        "r",
        "x * cos({c} * r) - y * sin({c} * r)",
        lambda x, y, r, c: x * fn("cos", c * r) - y * fn("sin", c * r),
    ),
    "rings": ("r", "sin({c} * r) / r", lambda x, y, r, c: fn("sin", c * r) / r),
    "vortex": ("r", "-y / (r * r + {c})", lambda x, y, r, c: -y / (r * r + c)),
}
_LEADS = {"theta": "theta = atan2(y, x)", "r": "r = sqrt(x * x + y * y + {eps})"}


@CATEGORY.idiom
def planar_angle(k: KernelBuilder, level: int) -> Title:
    """Angles and polar coordinates of points, at higher levels averaged over beacons."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_POLAR))
    local, phrase, _ = _POLAR[form]
    c, eps = (constant(k, *bounds) for bounds in ((1.2, 2.4), (0.01, 0.05)))
    n = k.size("n", 48, 96)
    names = k.draw.word.choice((("px", "py"), ("xs", "ys"), ("east", "north")))
    px, py = (k.array(name, type_, n, low=-3.0, high=3.0) for name in names)
    beacons = _beacons(k, type_) if level >= 3 and shape.chance(0.6) else None
    out = k.out(("out", "angles" if local == "theta" else "field_out", "result"), type_, n)
    (i,) = k.thread(n)
    done = f"Compute {phrase.format(c=c)}, with {_LEADS[local].format(eps=eps)}, "
    if beacons is None:
        value = _polar(k, form, k.let("x", px[i]), k.let("y", py[i]), (c, eps))
        done += f"for each point x = {px.name}, y = {py.name}"
    else:
        bx, by, count = beacons
        total = k.let(("total", "acc"), k.lift(0.0, type_))
        with k.for_(("b", "beacon"), count) as b:
            x, y = k.let("x", px[i] - bx[b]), k.let("y", py[i] - by[b])
            k.augment(total, "add", _polar(k, form, x, y, (c, eps)))
        value = total / cast(count, type_)
        done += f"as a mean over the beacons, where x = {px.name} - {bx.name} and "
        done += f"y = {py.name} - {by.name}"
    signal = refine(k, value, level, _LOCALS)
    k.store(out, i, signal.value)
    return Title(k.name(form, f"{form}_of_points"), f"{done}.{stored(signal)}")


def _beacons(k: KernelBuilder, type_: Scalar) -> tuple[Var, Var, Expr]:
    """The coordinates of a few beacons, and how many there are."""
    m = k.size("m", 3, 5)
    bx, by = (k.array(name, type_, m, low=-1.0, high=1.0) for name in ("beacon_x", "beacon_y"))
    return bx, by, k.trip_count(("num_beacons", "beacons"), m)


def _polar(k: KernelBuilder, form: str, x: Var, y: Var, by: tuple[float, float]) -> Expr:
    local, _, formula = _POLAR[form]
    c, eps = by
    lead = fn("sqrt", x * x + y * y + eps) if local == "r" else fn("atan2", y, x)
    return formula(x, y, k.let(local, lead), c)


_Curve = Callable[[Expr, float], Expr]
_CURVES: dict[str, tuple[str, float, float, _Curve]] = {
    "reinhard": ("c / ({0} + c)", 0.5, 1.5, lambda c, a: c / (a + c)),
    "shoulder": ("1 - exp(-{0} * c)", 1.2, 3.0, lambda c, a: 1.0 - fn("exp", -a * c)),
    "gamma": ("(c + 0.01) to the power {0}", 0.4, 2.2, lambda c, a: fn("pow", c + 0.01, a)),
    "sigmoid": (
        "the logistic sigmoid of {0} * (c - 0.5)",
        4.0,
        8.0,
        lambda c, a: 1.0 / (1.0 + fn("exp", -a * (c - 0.5))),
    ),
    "s_curve": (
        "c - {0} * sin(2 * pi * c)",
        0.05,
        0.15,
        lambda c, a: c - a * fn("sin", 6.2831853 * c),
    ),
    "solarize": (
        "1 - c where c > {0}",
        0.4,
        0.6,
        lambda c, a: fn("where", c > a, 1.0 - c, c),
    ),
    "posterize": (
        "c rounded to the nearest multiple of 1/{0}",
        8.0,
        48.0,
        lambda c, a: fn("rint", c * float(round(a))) / float(round(a)),
    ),
    "lift": ("{0} + (1 - {0}) * c", 0.05, 0.3, lambda c, a: a + round(1.0 - a, 4) * c),
}


@CATEGORY.idiom
def tone_curve(k: KernelBuilder, level: int) -> Title:
    """A chain of tone curves on a grey image, at higher levels blended and centred."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    dims = (k.size("h", 7, 10), k.size("w", 7, 10)) if shape.chance(0.5) else (k.size("n", 60, 96),)
    image = k.array(("image", "luma", "pixels", "gray"), type_, dims, low=0.0, high=1.0)
    blend = level >= 2 and shape.chance(0.7)
    other = (
        k.array(("overlay", "base", "backdrop"), type_, dims, low=0.0, high=1.0) if blend else image
    )
    out = k.out(("out", "graded", "toned", "dst"), type_, dims)
    at = k.thread(*dims, names=("y", "x") if len(dims) == 2 else ("i",))
    c = k.let(("c", "tone", "luminance"), image[at])
    forms = shape.sample(sorted(_CURVES), (level + 2) // 2)
    steps = [_curve(k, form, c) for form in forms]
    done = f"Replace each pixel c of {image.name} by {', then '.join(steps)}"
    if blend:
        opacity = k.scalar(("opacity", "strength", "mix"), type_, 0.3, 0.8)
        k.assign(c, fn("lerp", c, other[at], opacity))
        done += f", then blend it linearly toward {other.name} by {opacity.name}"
    value = c - 0.5 if level >= 3 else c
    done += ", then subtract 0.5" if level >= 3 else ""
    signal = refine(k, value, level if level > 2 else 1, _LOCALS, 0.3)
    k.store(out, at, signal.value)
    name = k.name("tone_curve", "grade_pixels", "apply_curve", "tone_map")
    return Title(name, f"{done}.{stored(signal)}")


def _curve(k: KernelBuilder, form: str, c: Var) -> str:
    """Send a pixel through one curve; says which."""
    text, low, high, apply = _CURVES[form]
    a = constant(k, low, high)
    k.assign(c, apply(c, a))
    return text.format(round(a) if form == "posterize" else a)


_IDIOMS = (
    activation,
    distribution,
    softmax_statistic,
    probability_density,
    cumulative_probability,
    quantile,
    regression_loss,
    classification_loss,
    stable_numerics,
    easing_curve,
    window_function,
    waveform,
    colour_transfer,
    pixel_measure,
    surface_optics,
    pair_potential,
    dose_response,
    weather_index,
    geodesic,
    option_price,
    interest,
    interpolation,
    grid_rounding,
    angle_arithmetic,
    special_function,
    hyperbolic_profile,
    log_measure,
    fluid_flow,
    thermal_radiation,
    orbit_phase,
    procedural_texture,
    diffusion_profile,
    control_law,
    positional_encoding,
)
for _idiom in _IDIOMS:
    CATEGORY.idiom(_idiom)
