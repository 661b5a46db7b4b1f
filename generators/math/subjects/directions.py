"""Directions: angles compared and turned, and points on the globe."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import (
    TWO_PI,
    acos,
    asin,
    atan2,
    clamp,
    cos,
    log,
    sin,
    sqrt,
    tan,
)
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_ANGLE = Family(
    inputs={
        "a": quantity("theta a heading", "thetas headings angles", -6.0, 6.0),
        "c": quantity("phi goal ref", "phis goals bearings", -6.0, 6.0),
    },
    params={"m": quantity("limit max_turn width", "limits widths", 0.4, 1.2, 0.5, 0.8, 1.1)},
    titles="angle_by_kind angle_features steer",
    kinds="op kinds measure",
    struct="Steering",
    records="Pose Direction",
    grids=("i|tid|ray", "row col|robot step_idx|i j", "batch robot t|b i j"),
    masks="mask valid locked",
    about={
        "wrap_angle": "angles wrapped to one turn about zero",
        "angle_difference": "shortest turn from one angle to another",
        "compass_sector": "octant of a bearing, from 0 to 7",
        "mean_direction": "mean direction of two angles",
        "arc_minutes": "arc minutes beyond the whole degrees of an angle",
        "versine": "versine of an angle, stable for small ones",
        "limited_turn": "heading after a turn towards a goal of at most a limit",
        "soft_cone": "weight of a direction in a cone, 1 on its axis and 0 from its edge on",
    },
)


@_ANGLE.formula("wrapped angle_out", "{a} wrapped to [-pi, pi)", a="angle angles")
def wrap_angle(body: BodyBuilder, a: Expr) -> Expr:
    return a - TWO_PI * fn("floor", a / TWO_PI + 0.5)


@_ANGLE.formula(
    "turn error_out",
    "{c} - {a} wrapped to [-pi, pi]",
    a="theta thetas",
    c="target_angle target_angles",
)
def angle_difference(body: BodyBuilder, a: Expr, c: Expr) -> Expr:
    gap = body.let("gap diff", c - a)
    if body.draw.shape.chance(0.4):
        return atan2(sin(gap), cos(gap))
    return gap - TWO_PI * fn("rint", gap / TWO_PI)


@_ANGLE.formula("sector octant", a="bearing bearings")
def compass_sector(body: BodyBuilder, a: Expr) -> Expr:
    turns = body.let("turns part", a / TWO_PI)
    return fn("min", fn("floor", 8.0 * (turns - fn("floor", turns))), 7.0)


@_ANGLE.formula("mean_angle bisector", a="theta thetas", c="phi phis")
def mean_direction(body: BodyBuilder, a: Expr, c: Expr) -> Expr:
    cosines = body.let("sum_cos", cos(a) + cos(c))
    sines = body.let("sum_sin", sin(a) + sin(c))
    return atan2(sines, cosines)


@_ANGLE.formula(
    "minutes arcmin", "60 times the fraction (toward zero) of {a} in degrees", a="angle angles"
)
def arc_minutes(body: BodyBuilder, a: Expr) -> Expr:
    deg = body.let("deg angle_deg", fn("degrees", a))
    return 60.0 * either(body, fn("frac", deg), deg - fn("trunc", deg))


_ANGLE.add(
    "versine",
    "versine_out versines",
    lambda body, a: 2.0 * (s := body.let("s half_sin", sin(0.5 * a))) * s,
    a="theta thetas",
)


@_ANGLE.formula(
    "steered heading_out",
    "{a} plus ({c} - {a} wrapped to [-pi, pi]) clamped to [-{m}, {m}]",
    a="heading headings",
    c="desired desired_headings",
    m="max_turn max_turns",
)
def limited_turn(body: BodyBuilder, a: Expr, c: Expr, m: Expr) -> Expr:
    gap = body.let("gap err", c - a)
    short = body.let("short turn", gap - TWO_PI * fn("rint", gap / TWO_PI))
    return a + clamp(short, -m, m)


@_ANGLE.formula(
    "falloff spot",
    "smoothstep(cos({m}), 1, cos({a} - {c}))",
    a="azimuth azimuths",
    c="cone_axis cone_axes",
    m="half_width half_widths",
)
def soft_cone(body: BodyBuilder, a: Expr, c: Expr, m: Expr) -> Expr:
    body.note("a soft-edged cone around the second direction")
    cosine = body.let("cosine align", cos(a - c))
    return fn("smoothstep", cos(m), body.lift(1.0, a.type), cosine)


@idiom(depth=DEPTH)
def angle_arithmetic(k: KernelBuilder, level: int) -> Title:
    """Angles wrapped, compared, averaged, limited and turned to sectors."""
    return compose(k, level, _ANGLE)


_GEODESY = Family(
    inputs={
        "la": quantity("lat1 lat_a lat_from", "lats1 lats_a lats_from", -60.0, 60.0),
        "lo": quantity("lon1 lon_a lon_from", "lons1 lons_a lons_from", -80.0, 80.0),
        "lb": quantity("lat2 lat_b lat_to", "lats2 lats_b lats_to", -60.0, 60.0),
        "lp": quantity("lon2 lon_b lon_to", "lons2 lons_b lons_to", -80.0, 80.0),
    },
    params={"r": quantity("radius earth_radius", "radii", 6356.8, 6378.1)},
    titles="map_point geodesic_by_kind route_features",
    kinds="projection kinds measure",
    struct="Globe",
    records="Leg GeoPair Route",
    grids=("i|leg|tid", "row col|route leg|i j", "batch route leg|b i j"),
    masks="valid known mask",
    weights="weights importance",
    about={
        "haversine": "great-circle distance by the haversine formula, angles in degrees",
        "great_circle": "great-circle distance by the law of cosines, angles in degrees",
        "initial_bearing": "initial bearing of the great circle between two points",
        "flat_distance": "distance by the equirectangular approximation, angles in degrees",
        "mercator_y": "northing in the Mercator projection of a latitude in degrees",
        "mercator_stretch": "scale factor of the Mercator projection at a latitude",
        "midpoint_latitude": "latitude of the middle of a great circle",
        "rhumb_course": "course of the rhumb line between two points, in degrees",
        "sinusoidal_x": "easting in the sinusoidal projection",
        "polar_radius": "radius in the polar stereographic projection",
        "normal_gravity": "normal gravity at a latitude by Somigliana's formula",
        "utm_zone": "UTM zone of a longitude below 180, Norway and Svalbard not excepted",
    },
)


def _radians(x: Expr) -> Expr:
    return fn("radians", x)


def _latitudes(body: BodyBuilder, la: Expr, lb: Expr) -> tuple[Expr, Expr]:
    """Two latitudes in radians, their names of one style."""
    first, second = body.draw.word.choice((("phi1", "phi2"), ("phi_a", "phi_b")))
    return body.let(first, _radians(la)), body.let(second, _radians(lb))


def _turned(body: BodyBuilder, lo: Expr, lp: Expr) -> Expr:
    return body.let("dl dlon", _radians(lp - lo))


@_GEODESY.formula(
    "dist distance",
    "2 * {r} * asin(sqrt(h)), the haversine distance, with h = sin(dlat / 2)^2 + cos({la}) * "
    "cos({lb}) * sin(dlon / 2)^2 in radians, dlat = {lb} - {la}, dlon = {lp} - {lo}",
)
def haversine(body: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr, r: Expr) -> Expr:
    p1, p2 = _latitudes(body, la, lb)
    sp = body.let("s_lat sp", sin(0.5 * (p2 - p1)))
    sl = body.let("s_lon sl", sin(0.5 * _radians(lp - lo)))
    h = body.let("h hav", sp * sp + cos(p1) * cos(p2) * sl * sl)
    return 2.0 * r * either(body, asin(sqrt(h)), atan2(sqrt(h), sqrt(1.0 - h)))


@_GEODESY.formula("dist arc")
def great_circle(body: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr, r: Expr) -> Expr:
    p1, p2 = _latitudes(body, la, lb)
    c = sin(p1) * sin(p2) + cos(p1) * cos(p2) * cos(_turned(body, lo, lp))
    return r * acos(body.let("cos_c cos_angle", c))


@_GEODESY.formula(
    "bearing course",
    "the bearing in degrees, atan2(sin(d) * cos({lb}), cos({la}) * sin({lb}) - sin({la}) * "
    "cos({lb}) * cos(d)) with d = {lp} - {lo}, all in radians",
)
def initial_bearing(body: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr) -> Expr:
    p1, p2 = _latitudes(body, la, lb)
    dl = _turned(body, lo, lp)
    east = body.let("east", sin(dl) * cos(p2))
    north = body.let("north", cos(p1) * sin(p2) - sin(p1) * cos(p2) * cos(dl))
    return fn("degrees", atan2(east, north))


@_GEODESY.formula("dist distance")
def flat_distance(body: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr, r: Expr) -> Expr:
    x = body.let("dx", _radians(lp - lo) * cos(_radians(0.5 * (la + lb))))
    y = body.let("dy", _radians(lb - la))
    return r * sqrt(x * x + y * y)


@_GEODESY.formula("northing map_y", la="lat lats")
def mercator_y(body: BodyBuilder, la: Expr, r: Expr) -> Expr:
    if body.draw.shape.chance(0.4):
        return r * log(tan(_radians(45.0 + 0.5 * la)))
    s = body.let("s sin_lat", sin(_radians(la)))
    return 0.5 * r * log((1.0 + s) / (1.0 - s))


_GEODESY.add(
    "mercator_stretch",
    "stretch scale_factor",
    lambda la: 1.0 / cos(_radians(la)),
    la="lat lats",
)


@_GEODESY.formula(
    "mid_lat middle",
    "atan2(sin({la}) + sin({lb}), sqrt((cos({la}) + cos({lb}) * cos(d))^2 + (cos({lb}) * "
    "sin(d))^2)) in degrees, with d = {lp} - {lo}, angles given in degrees",
)
def midpoint_latitude(body: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr) -> Expr:
    p1, p2 = _latitudes(body, la, lb)
    dl = _turned(body, lo, lp)
    bx = body.let("bx base_x", cos(p2) * cos(dl))
    by = body.let("by base_y", cos(p2) * sin(dl))
    side = body.let("side sx", cos(p1) + bx)
    return fn("degrees", atan2(sin(p1) + sin(p2), sqrt(side * side + by * by)))


@_GEODESY.formula("course heading")
def rhumb_course(body: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr) -> Expr:
    first, second = (tan(_radians(45.0 + 0.5 * lat)) for lat in (la, lb))
    psi = body.let("psi dpsi", log(second / first))
    gap = body.let("gap dlon", lp - lo)
    body.note("the shorter way around")
    short = body.let("short dlon_near", gap - 360.0 * fn("rint", gap / 360.0))
    return fn("degrees", atan2(_radians(short), psi))


_GEODESY.add(
    "sinusoidal_x",
    "easting map_x",
    lambda la, lo, r: r * _radians(lo) * cos(_radians(la)),
    la="lat lats",
    lo="lon lons",
)
_GEODESY.add(
    "polar_radius",
    "rho polar",
    lambda body, la, r: 2.0 * r * tan(body.let("half_colat", _radians(45.0 - 0.5 * la))),
    la="lat lats",
)


@_GEODESY.formula("gravity normal_gravity_out", la="lat lats")
def normal_gravity(body: BodyBuilder, la: Expr) -> Expr:
    s = body.let("s sin_lat", sin(_radians(la)))
    s2 = body.let("s2 sin_sq", s * s)
    return 9.7803253 * (1.0 + 0.0019318527 * s2) / sqrt(1.0 - 0.00669438 * s2)


_GEODESY.add("utm_zone", "zone", lambda lo: 1.0 + fn("floor", (lo + 180.0) / 6.0), lo="lon lons")


@idiom(depth=DEPTH)
def geodesic(k: KernelBuilder, level: int) -> Title:
    """Distances, bearings and map projections of points in degrees."""
    return compose(k, level, _GEODESY)
