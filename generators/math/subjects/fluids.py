"""Fluids: flow in pipes and open channels, and the weather of stations."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import atan, exp, log, log10, most, sqrt, where
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_FLOW = Family(
    inputs={
        "v": quantity("speed velocity", "speeds velocities", 0.2, 4.0),
        "d": quantity("depth water_depth", "depths water_depths", 0.1, 1.5),
    },
    params={
        "n": quantity("nu viscosity", "viscosities nus", 0.0004, 0.0016, 0.001, 0.0005),
        "e": quantity("roughness", "roughnesses", 0.002, 0.015, 0.0025, 0.005, 0.01),
        "s": quantity("slope bed_slope fall", "slopes bed_slopes", 0.002, 0.02, 0.01, 0.005),
        "c": quantity("crest sill weir_top", "crests sills", 0.4, 1.0, 0.5, 0.8, 0.6),
        "r": quantity("rel_density grain_density", "rel_densities", 1.5, 3.5, 2.65, 2.5),
        "cd": quantity("drag_coeff", "drag_coeffs", 0.4, 1.2),
        "cw": quantity("weir_coeff", "weir_coeffs", 1.6, 2.1),
        "g": quantity("gravity g", "gravities", 9.78, 9.83),
    },
    titles="flow_measure hydraulics_by_kind channel_flow",
    kinds="regime kinds formula_id",
    struct="Fluid Pipe Channel",
    records="Section Reach Droplet",
    grids=("i|tid|cell", "pipe cell|row col|y x", "case pipe cell|b i j"),
    masks="wet open_flag mask",
    groups="material_ids",
    varying="e r",
    about={
        "drag_coefficient": "drag coefficient of a sphere by Schiller and Naumann",
        "swamee_jain": "Darcy friction factor by Swamee and Jain",
        "colebrook": "Darcy friction factor by Colebrook's equation",
        "blasius": "Darcy friction factor of a smooth pipe by Blasius",
        "settling_speed": "terminal speed of a grain that settles in water",
        "impact_speed": "speed of a drop after a fall without drag",
        "specific_energy": "specific energy of flow in an open channel, as a head",
        "shear_speed": "shear speed of wide channel flow over a slope",
        "critical_depth": "critical depth of flow in a rectangular channel",
        "hydraulic_jump": "depth behind a hydraulic jump",
        "weir_flow": "flow over a weir per width",
    },
)


def _reynolds(body: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    return body.let("re reynolds", v * d / n)


def _rough(body: BodyBuilder, e: Expr, d: Expr) -> Expr:
    return body.let("rel_rough rough_term", e / (3.7 * d))


@_FLOW.formula("drag cd_out", d="diameter diameters")
def drag_coefficient(body: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    re = _reynolds(body, v, d, n)
    slow = 24.0 / re * (1.0 + 0.15 * re**0.687)
    if body.draw.shape.chance(0.5):
        return where(re < 1000.0, slow, body.lift(0.44, v.type))
    drag = body.let("cd drag_coeff", body.lift(0.44, v.type))
    with body.if_(re < 1000.0):
        body.assign(drag, slow)
    return drag


@_FLOW.formula("friction friction_factor", d="diameter diameters", e="roughness roughnesses")
def swamee_jain(body: BodyBuilder, v: Expr, d: Expr, n: Expr, e: Expr) -> Expr:
    re, rough = _reynolds(body, v, d, n), _rough(body, e, d)
    root = body.let("root lg", log10(rough + 5.74 / re**0.9))
    return 0.25 / (root * root)


@_FLOW.formula(
    "friction friction_factor",
    "1 / s^2 after three steps s = -2 * log10({e} / (3.7 * {d}) + 2.51 * s / re) from 8, with "
    "re = {v} * {d} / {n}",
    d="diameter diameters",
    e="roughness roughnesses",
)
def colebrook(body: BodyBuilder, v: Expr, d: Expr, n: Expr, e: Expr) -> Expr:
    re, rough = _reynolds(body, v, d, n), _rough(body, e, d)
    s = body.let("s inv_root", body.lift(8.0, v.type))
    body.note("fixed-point steps for 1 / sqrt(f)")
    with body.for_(("it", "step_idx"), 3):
        body.assign(s, -2.0 * log10(rough + 2.51 * s / re))
    return 1.0 / (s * s)


@_FLOW.formula("friction friction_factor", d="diameter diameters")
def blasius(body: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    re = _reynolds(body, v, d, n)
    return either(body, 0.316 / sqrt(sqrt(re)), 0.316 * re**-0.25)


_FLOW.add(
    "settling_speed",
    "settling_speed_out sink_speed",
    lambda d, r, cd, g: sqrt(4.0 * g * d * (r - 1.0) / (3.0 * cd)),
    d="grain_size grain_sizes",
)
_FLOW.add(
    "impact_speed",
    "impact_speed final_speed",
    lambda v, d, g: sqrt(v * v + 2.0 * g * d),
    v="speed speeds",
    d="drop_height drop_heights",
)
_FLOW.add(
    "specific_energy",
    "energy_head total_head",
    lambda v, d, g: d + 0.5 * v * v / g,
    d="depth depths",
)
_FLOW.add(
    "shear_speed", "shear_out friction_speed", lambda d, s, g: sqrt(g * d * s), d="depth depths"
)
_FLOW.add(
    "critical_depth",
    "critical_depth_out yc",
    lambda body, v, d, g: fn("cbrt", (q := body.let("q unit_flow", v * d)) * q / g),
    d="depth depths",
)


@_FLOW.formula("conjugate_depth depth_after", d="depth depths")
def hydraulic_jump(body: BodyBuilder, v: Expr, d: Expr, g: Expr) -> Expr:
    squared: Expr
    if body.draw.shape.chance(0.5):
        squared = body.let("froude_sq fr_sq", v * v / (g * d))
    else:
        froude = body.let("froude fr", v / sqrt(g * d))
        squared = froude * froude
    return 0.5 * d * (sqrt(1.0 + 8.0 * squared) - 1.0)


@_FLOW.formula(
    "discharge spill_out", "{cw} * max({d} - {c}, 0)^1.5", d="stage stages", c="crest crests"
)
def weir_flow(body: BodyBuilder, d: Expr, c: Expr, cw: Expr) -> Expr:
    spill = body.let("spill overflow", body.lift(0.0, d.type))
    with body.if_(d > c):
        head = body.let("head head_over", d - c)
        body.assign(spill, cw * head * sqrt(head))
    return spill


@idiom(depth=DEPTH)
def fluid_flow(k: KernelBuilder, level: int) -> Title:
    """Drag, friction, channel flow and wall laws."""
    return compose(k, level, _FLOW)


_AIR = Family(
    inputs={
        "t": quantity("temp celsius", "temps air_temps", -8.0, 32.0),
        "h": quantity("humidity rel_hum", "humidities rel_hums", 20.0, 95.0),
        "w": quantity("wind wind_speed", "winds wind_speeds", 1.5, 18.0),
    },
    params={"p": quantity("pressure", "pressures", 700.0, 980.0, 850.0, 925.0, 700.0)},
    titles="weather_index index_by_kind station_report",
    kinds="index_type kinds product",
    struct="Level",
    records="Reading Observation Station",
    grids=("i|station|tid", "day station|row col|lat_idx lon_idx", "run day station|t y x"),
    masks="valid online mask",
    weights="",
    reductions=("mean", "largest", "smallest"),
    reduced="dew_point wind_chill apparent_temperature wet_bulb humidex vapour_deficit",
    groups="level_ids layer_ids",
    varying="p",
    lists=False,
    about={
        "dew_point": "dew point by the Magnus formula",
        "wind_chill": "wind chill temperature, of use below 10 degrees",
        "apparent_temperature": "apparent temperature after Steadman",
        "wet_bulb": "wet-bulb temperature by Stull's fit",
        "beaufort_number": "Beaufort number of a wind speed in m/s",
        "humidex": "Canadian humidex",
        "absolute_humidity": "absolute humidity in g/m^3",
        "potential_temperature": "potential temperature in Celsius at 1000 hPa",
        "pressure_height": "height in km of a pressure level by the hypsometric equation",
        "vapour_deficit": "vapour pressure deficit in hPa",
        "wind_power": "power of the wind in W per square metre, at 1013.25 hPa",
    },
)


def _saturation(body: BodyBuilder, t: Expr) -> Expr:
    """The saturation pressure of water in hPa, by Magnus."""
    return body.let("es sat", 6.112 * exp(17.62 * t / (243.12 + t)))


def _vapour(body: BodyBuilder, t: Expr, h: Expr) -> Expr:
    return body.let("e vapour", 0.01 * h * _saturation(body, t))


@_AIR.formula("dew dew_out")
def dew_point(body: BodyBuilder, t: Expr, h: Expr) -> Expr:
    gamma = body.let("gamma g", log(0.01 * h) + 17.62 * t / (243.12 + t))
    return 243.12 * gamma / (17.62 - gamma)


@_AIR.formula(
    "felt chill",
    "13.12 + 0.6215 * {t} - 11.37 * q + 0.3965 * {t} * q with q = (3.6 * {w})^0.16 where "
    "{t} < 10, and {t} itself elsewhere",
)
def wind_chill(body: BodyBuilder, t: Expr, w: Expr) -> Expr:
    p = body.let("p wind_pow", (3.6 * w) ** 0.16)
    chill = 13.12 + 0.6215 * t - 11.37 * p + 0.3965 * t * p
    if body.draw.shape.chance(0.5):
        return where(t < 10.0, chill, t)
    felt = body.let("felt feels_like", t)
    body.note("the formula holds in the cold only")
    with body.if_(t < 10.0):
        body.assign(felt, chill)
    return felt


_AIR.add(
    "apparent_temperature",
    "felt apparent",
    lambda body, t, h, w: t + 0.33 * _vapour(body, t, h) - 0.7 * w - 4.0,
)


@_AIR.formula("wet_bulb_out wet")
def wet_bulb(body: BodyBuilder, t: Expr, h: Expr) -> Expr:
    lead = body.let("t1 wet_lead", t * atan(0.151977 * sqrt(h + 8.313659)))
    rest = body.let("t2 wet_rest", atan(t + h) - atan(h - 1.676331))
    return lead + rest + 0.00391838 * h * sqrt(h) * atan(0.023101 * h) - 4.686035


@_AIR.formula("force beaufort", "({w} / 0.836)^(2/3), by cbrt, rounded to the nearest whole number")
def beaufort_number(body: BodyBuilder, w: Expr) -> Expr:
    root = body.let("root c", fn("cbrt", w / 0.836))
    return fn("rint", root * root)


_AIR.add(
    "humidex",
    "felt humidex_out",
    lambda body, t, h: t + 0.5555 * most(_vapour(body, t, h) - 10.0, 0.0),
)
_AIR.add(
    "absolute_humidity",
    "water moisture",
    lambda body, t, h: 2.1674 * h * _saturation(body, t) / (273.15 + t),
)
_AIR.add(
    "potential_temperature",
    "theta pot_temp",
    lambda t, p: (t + 273.15) * (1000.0 / p) ** 0.2857 - 273.15,
)
_AIR.add(
    "pressure_height", "height altitude", lambda t, p: 0.0292717 * (t + 273.15) * log(1013.25 / p)
)
_AIR.add(
    "vapour_deficit", "deficit vpd", lambda body, t, h: _saturation(body, t) * (1.0 - 0.01 * h)
)
_AIR.add(
    "wind_power",
    "wind_power_out power_density",
    lambda t, w: 0.6461 * w * w * w / (1.0 + t / 273.15),
)


@idiom(depth=DEPTH)
def weather_index(k: KernelBuilder, level: int) -> Title:
    """Humidity, felt temperature, pressure heights and wind of weather stations."""
    return compose(k, level, _AIR)
