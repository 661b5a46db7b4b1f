"""Geodesy: distances, bearings and projections of points given in degrees."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _radians(b: BodyBuilder, *values: tuple[tuple[str, ...], Expr]) -> list[Expr]:
    style = b.draw.word.integer(0, 1)
    return [b.let(names[style], fn("radians", value)) for names, value in values]


def _haversine(b: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr, r: Expr) -> Expr:
    p1, p2 = _radians(b, (("phi1", "phi_a"), la), (("phi2", "phi_b"), lb))
    sp = b.let(("s_lat", "sp"), fn("sin", 0.5 * (p2 - p1)))
    sl = b.let(("s_lon", "sl"), fn("sin", 0.5 * fn("radians", lp - lo)))
    h = b.let(("h", "hav"), sp * sp + fn("cos", p1) * fn("cos", p2) * sl * sl)
    return either(
        b,
        2.0 * r * fn("asin", fn("sqrt", h)),
        2.0 * r * fn("atan2", fn("sqrt", h), fn("sqrt", 1.0 - h)),
    )


def _cosine_law(b: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr, r: Expr) -> Expr:
    p1, p2 = _radians(b, (("phi1", "phi_a"), la), (("phi2", "phi_b"), lb))
    dl = b.let(("dl", "dlon"), fn("radians", lp - lo))
    c = fn("sin", p1) * fn("sin", p2) + fn("cos", p1) * fn("cos", p2) * fn("cos", dl)
    return r * fn("acos", b.let(("cos_c", "c"), c))


def _bearing(b: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr) -> Expr:
    p1, p2 = _radians(b, (("phi1", "phi_a"), la), (("phi2", "phi_b"), lb))
    dl = b.let(("dl", "dlon"), fn("radians", lp - lo))
    east = b.let(("east", "sy"), fn("sin", dl) * fn("cos", p2))
    north = fn("cos", p1) * fn("sin", p2) - fn("sin", p1) * fn("cos", p2) * fn("cos", dl)
    return fn("degrees", fn("atan2", east, b.let(("north", "cx"), north)))


def _equirectangular(b: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr, r: Expr) -> Expr:
    x = b.let(("dx", "ex"), fn("radians", lp - lo) * fn("cos", fn("radians", 0.5 * (la + lb))))
    y = b.let(("dy", "ny"), fn("radians", lb - la))
    return r * fn("sqrt", x * x + y * y)


def _mercator(b: BodyBuilder, la: Expr, r: Expr) -> Expr:
    phi = b.let(("phi", "lat_rad"), fn("radians", la))
    if b.draw.shape.chance(0.4):
        return r * fn("log", fn("tan", 0.78539816 + 0.5 * phi))
    s = b.let(("s", "sin_lat"), fn("sin", phi))
    return 0.5 * r * fn("log", (1.0 + s) / (1.0 - s))


def _stretch(b: BodyBuilder, la: Expr) -> Expr:
    return 1.0 / fn("cos", fn("radians", la))


def _midpoint(b: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr) -> Expr:
    p1, p2 = _radians(b, (("phi1", "phi_a"), la), (("phi2", "phi_b"), lb))
    dl = b.let(("dl", "dlon"), fn("radians", lp - lo))
    bx = b.let(("bx", "base_x"), fn("cos", p2) * fn("cos", dl))
    by = b.let(("by", "base_y"), fn("cos", p2) * fn("sin", dl))
    side = b.let(("side", "sx"), fn("cos", p1) + bx)
    flat = fn("sqrt", side * side + by * by)
    return fn("degrees", fn("atan2", fn("sin", p1) + fn("sin", p2), flat))


def _rhumb(b: BodyBuilder, la: Expr, lo: Expr, lb: Expr, lp: Expr) -> Expr:
    p1, p2 = _radians(b, (("phi1", "phi_a"), la), (("phi2", "phi_b"), lb))
    psi = b.let(
        ("psi", "dpsi"),
        fn("log", fn("tan", 0.78539816 + 0.5 * p2) / fn("tan", 0.78539816 + 0.5 * p1)),
    )
    return fn("degrees", fn("atan2", fn("radians", lp - lo), psi))


def _sinusoidal(b: BodyBuilder, la: Expr, lo: Expr, r: Expr) -> Expr:
    return r * fn("radians", lo) * fn("cos", fn("radians", la))


def _stereographic(b: BodyBuilder, la: Expr, r: Expr) -> Expr:
    colat = b.let(("colat", "half_colat"), fn("radians", 45.0 - 0.5 * la))
    return 2.0 * r * fn("tan", colat)


def _gravity(b: BodyBuilder, la: Expr) -> Expr:
    s = b.let(("s", "sin_lat"), fn("sin", fn("radians", la)))
    s2 = b.let(("s2", "sin_sq"), s * s)
    return 9.780325 * (1.0 + 0.00193185 * s2) / fn("sqrt", 1.0 - 0.00669435 * s2) - 9.8


def _zone(b: BodyBuilder, lo: Expr) -> Expr:
    return 1.0 + fn("floor", (lo + 180.0) / 6.0)


_GEODESY = Family(
    item="point",
    inputs={
        "la": quantity("lat1 lat_a lat", "lats lat_from latitudes", -60.0, 60.0),
        "lo": quantity("lon1 lon_a lon", "lons lon_from longitudes", -80.0, 80.0),
        "lb": quantity("lat2 lat_b lat_to", "lats_to lat_dest goal_lats", -60.0, 60.0),
        "lp": quantity("lon2 lon_b lon_to", "lons_to lon_dest goal_lons", -80.0, 80.0),
    },
    params={"r": quantity("radius earth_r scale", "radii scales", 1.0, 6.5, 6.371, 6.378137, 1.0)},
    titles="map_point geodesic_by_kind route_features",
    kinds="projection kinds measure",
    struct="Globe",
    records="Leg GeoPair Route",
    grids=("i|leg|tid", "row col|route leg|i j", "batch route leg|b i j"),
    masks="valid known mask",
    weights="weights importance",
    reductions=("sum", "mean", "largest"),
    cards=(
        by_hand(
            "haversine",
            "dist distance",
            "2 * {r} * asin(sqrt(h)), the haversine distance, with h = sin(dlat / 2)^2 + "
            "cos({la}) * cos({lb}) * sin(dlon / 2)^2 in radians, dlat = {lb} - {la}, "
            "dlon = {lp} - {lo}",
            "la lo lb lp r",
            _haversine,
        ),
        by_hand(
            "great_circle",
            "dist arc",
            "{r} * acos(sin({la}) * sin({lb}) + cos({la}) * cos({lb}) * cos({lp} - {lo})), in "
            "radians",
            "la lo lb lp r",
            _cosine_law,
        ),
        by_hand(
            "initial_bearing",
            "bearing course",
            "the bearing in degrees, atan2(sin(d) * cos({lb}), cos({la}) * sin({lb}) - sin({la}) "
            "* cos({lb}) * cos(d)) with d = {lp} - {lo}, all in radians",
            "la lo lb lp",
            _bearing,
        ),
        by_hand(
            "flat_distance",
            "dist distance",
            "{r} * sqrt(x^2 + y^2) with x = ({lp} - {lo}) * cos(({la} + {lb}) / 2) and "
            "y = {lb} - {la}, in radians",
            "la lo lb lp r",
            _equirectangular,
        ),
        by_hand(
            "mercator_y",
            "northing map_y",
            "the Mercator ordinate {r} * log(tan(pi / 4 + phi / 2)), phi = {la} in radians",
            "la r",
            _mercator,
        ),
        by_hand(
            "mercator_stretch",
            "stretch scale_factor",
            "1 / cos({la}), {la} in degrees",
            "la",
            _stretch,
        ),
        by_hand(
            "midpoint_latitude",
            "mid_lat middle",
            "atan2(sin({la}) + sin({lb}), sqrt((cos({la}) + cos({lb}) * cos(d))^2 + (cos({lb}) * "
            "sin(d))^2)) in degrees, with d = {lp} - {lo}, angles given in degrees",
            "la lo lb lp",
            _midpoint,
        ),
        by_hand(
            "rhumb_course",
            "course heading",
            "atan2({lp} - {lo} in radians, log(tan(pi / 4 + p2 / 2) / tan(pi / 4 + p1 / 2))) in "
            "degrees, p1 and p2 being {la} and {lb} in radians",
            "la lo lb lp",
            _rhumb,
        ),
        by_hand(
            "sinusoidal_x",
            "easting map_x",
            "{r} * {lo} * cos({la}), both in radians",
            "la lo r",
            _sinusoidal,
        ),
        by_hand(
            "polar_radius",
            "rho polar",
            "2 * {r} * tan(45 - {la} / 2), the angle in degrees",
            "la r",
            _stereographic,
        ),
        by_hand(
            "normal_gravity",
            "anomaly gravity",
            "9.780325 * (1 + 0.00193185 * s) / sqrt(1 - 0.00669435 * s) - 9.8, s = sin({la})^2, "
            "{la} in degrees",
            "la",
            _gravity,
        ),
        by_hand(
            "utm_zone",
            "zone zones",
            "1 + floor(({lo} + 180) / 6)",
            "lo",
            _zone,
        ),
    ),
)


@idiom
def geodesic(k: KernelBuilder, level: int) -> Title:
    """Distances, bearings and map projections of points in degrees."""
    return compose(k, level, _GEODESY)
