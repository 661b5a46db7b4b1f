"""Weather: humidity, felt temperature, pressure and height."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _saturation(b: BodyBuilder, t: Expr) -> Expr:
    """The saturation pressure of water in hPa, by Magnus."""
    return b.let(("es", "sat"), 6.112 * fn("exp", 17.62 * t / (243.12 + t)))


def _dew_point(b: BodyBuilder, t: Expr, h: Expr) -> Expr:
    gamma = b.let(("gamma", "g"), fn("log", 0.01 * h) + 17.62 * t / (243.12 + t))
    return 243.12 * gamma / (17.62 - gamma)


def _wind_chill(b: BodyBuilder, t: Expr, w: Expr) -> Expr:
    p = b.let(("p", "wind_pow"), fn("pow", 3.6 * w, b.lift(0.16, t.type)))
    chill = 13.12 + 0.6215 * t - 11.37 * p + 0.3965 * t * p
    if b.draw.shape.chance(0.5):
        return fn("where", t < 10.0, chill, t)
    felt = b.let(("felt", "feels_like"), t)
    b.note("the formula holds in the cold only")
    with b.if_(t < 10.0):
        b.assign(felt, chill)
    return felt


def _apparent(b: BodyBuilder, t: Expr, h: Expr, w: Expr) -> Expr:
    e = b.let(("e", "vapour"), 0.01 * h * _saturation(b, t))
    return t + 0.33 * e - 0.7 * w - 4.0


def _wet_bulb(b: BodyBuilder, t: Expr, h: Expr) -> Expr:
    lead = b.let(("lead", "first"), t * fn("atan", 0.151977 * fn("sqrt", h + 8.313659)))
    rest = b.let(("rest", "second"), fn("atan", t + h) - fn("atan", h - 1.676331))
    tail = 0.00391838 * h * fn("sqrt", h) * fn("atan", 0.023101 * h)
    return lead + rest + tail - 4.686035


def _beaufort(b: BodyBuilder, w: Expr) -> Expr:
    force = b.let(("ratio", "rel"), w / 0.836)
    root = b.let(("root", "c"), fn("cbrt", force))
    return root * root


def _beaufort_number(b: BodyBuilder, w: Expr) -> Expr:
    root = b.let(("root", "c"), fn("cbrt", w / 0.836))
    return either(b, fn("round", root * root), fn("rint", root * root))


def _humidex(b: BodyBuilder, t: Expr, h: Expr) -> Expr:
    e = b.let(("e", "vapour"), 0.01 * h * _saturation(b, t))
    return t + 0.5555 * fn("max", e - 10.0, 0.0)


def _absolute_humidity(b: BodyBuilder, t: Expr, h: Expr) -> Expr:
    return 2.1674 * h * _saturation(b, t) / (273.15 + t)


def _potential_temperature(b: BodyBuilder, t: Expr, p: Expr) -> Expr:
    return (t + 273.15) * fn("pow", 1000.0 / p, b.lift(0.2857, t.type)) - 273.15


def _height(b: BodyBuilder, t: Expr, p: Expr) -> Expr:
    return 0.0292717 * (t + 273.15) * fn("log", 1013.25 / p)


def _vapour_deficit(b: BodyBuilder, t: Expr, h: Expr) -> Expr:
    return _saturation(b, t) * (1.0 - 0.01 * h)


_AIR = Family(
    item="station",
    inputs={
        "t": quantity("t temp celsius", "temps temperature air_temp", -8.0, 32.0),
        "h": quantity("rh hum humidity", "humidities rel_hum rh_in", 20.0, 95.0),
        "w": quantity("wind v speed", "winds wind_speed speeds", 1.5, 18.0),
    },
    params={"p": quantity("p pressure hpa", "pressures hpas", 700.0, 980.0, 850.0, 925.0, 700.0)},
    titles="weather_index index_by_kind station_report",
    kinds="index_type kinds product",
    struct="Level",
    records="Reading Observation Station",
    grids=("i|station|tid", "day station|row col|lat_idx lon_idx", "run day station|t y x"),
    masks="valid online mask",
    weights="weights trust",
    reductions=("mean", "largest", "smallest"),
    cards=(
        by_hand(
            "dew_point",
            "dew dew_out",
            "243.12 * g / (17.62 - g) with g = log({h} / 100) + 17.62 * {t} / (243.12 + {t})",
            "t h",
            _dew_point,
        ),
        by_hand(
            "wind_chill",
            "felt chill",
            "13.12 + 0.6215 * {t} - 11.37 * q + 0.3965 * {t} * q with q = (3.6 * {w})^0.16 where "
            "{t} < 10, and {t} itself elsewhere",
            "t w",
            _wind_chill,
        ),
        by_hand(
            "apparent_temperature",
            "felt apparent",
            "{t} + 0.33 * e - 0.7 * {w} - 4 with e = {h} / 100 * 6.112 * exp(17.62 * {t} / "
            "(243.12 + {t}))",
            "t h w",
            _apparent,
        ),
        by_hand(
            "wet_bulb",
            "wet_bulb_out wet",
            "{t} * atan(0.151977 * sqrt({h} + 8.313659)) + atan({t} + {h}) - atan({h} - 1.676331) "
            "+ 0.00391838 * {h}^1.5 * atan(0.023101 * {h}) - 4.686035",
            "t h",
            _wet_bulb,
        ),
        by_hand("beaufort_scale", "force beaufort", "({w} / 0.836)^(2/3), by cbrt", "w", _beaufort),
        by_hand(
            "beaufort_number",
            "force beaufort",
            "({w} / 0.836)^(2/3), by cbrt, rounded to the nearest whole number",
            "w",
            _beaufort_number,
        ),
        by_hand(
            "humidex",
            "felt humidex_out",
            "{t} + 0.5555 * max(e - 10, 0) with e = {h} / 100 * 6.112 * exp(17.62 * {t} / "
            "(243.12 + {t}))",
            "t h",
            _humidex,
        ),
        by_hand(
            "absolute_humidity",
            "water moisture",
            "2.1674 * {h} * s / (273.15 + {t}) with s = 6.112 * exp(17.62 * {t} / (243.12 + {t}))",
            "t h",
            _absolute_humidity,
        ),
        by_hand(
            "potential_temperature",
            "theta pot_temp",
            "({t} + 273.15) * (1000 / {p})^0.2857 - 273.15",
            "t p",
            _potential_temperature,
        ),
        by_hand(
            "pressure_height",
            "height altitude",
            "0.0292717 * ({t} + 273.15) * log(1013.25 / {p})",
            "t p",
            _height,
        ),
        by_hand(
            "vapour_deficit",
            "deficit vpd",
            "(1 - {h} / 100) * 6.112 * exp(17.62 * {t} / (243.12 + {t}))",
            "t h",
            _vapour_deficit,
        ),
        by_hand(
            "wind_power",
            "power density_out",
            "0.6125 * {w}^3 / (1 + {t} / 273.15)",
            "t w",
            lambda b, t, w: 0.6125 * w * w * w / (1.0 + t / 273.15),
        ),
    ),
)


@idiom
def weather_index(k: KernelBuilder, level: int) -> Title:
    """Humidity, felt temperature, pressure heights and wind of weather stations."""
    return compose(k, level, _AIR)
