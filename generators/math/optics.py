"""Optics: reflectances, microfacets, phase functions, refraction."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Card, Family, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _schlick(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    root = b.let(("root", "q"), (n - 1.0) / (n + 1.0))
    f0 = b.let(("f0", "normal_refl"), root * root)
    m = b.let(("m", "grazing"), 1.0 - c)
    return either(
        b,
        f0 + (1.0 - f0) * m * m * m * m * m,
        f0 + (1.0 - f0) * fn("pow", m, b.lift(5.0, c.type)),
    )


def _refracted(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    """The cosine of the refracted ray."""
    return b.let(("cos_t", "ct"), fn("sqrt", 1.0 - (1.0 - c * c) / (n * n)))


def _fresnel_s(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    ct = _refracted(b, c, n)
    rs = b.let(("rs", "amp"), (c - n * ct) / (c + n * ct))
    return rs * rs


def _fresnel(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    ct = _refracted(b, c, n)
    rs = b.let(("rs", "amp_s"), (c - n * ct) / (c + n * ct))
    rp = b.let(("rp", "amp_p"), (n * c - ct) / (n * c + ct))
    return 0.5 * (rs * rs + rp * rp)


def _snell(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    sine = b.let(("sin_t", "st"), fn("sqrt", 1.0 - c * c) / n)
    return fn("degrees", fn("asin", sine)) / 90.0


def _deviation(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    return fn("acos", c) - fn("asin", fn("sqrt", 1.0 - c * c) / n)


def _ggx(b: BodyBuilder, c: Expr, a: Expr) -> Expr:
    a2 = b.let(("a2", "alpha_sq"), a * a)
    denom = b.let(("denom", "d"), c * c * (a2 - 1.0) + 1.0)
    return a2 / (3.1415927 * denom * denom)


def _smith(b: BodyBuilder, c: Expr, a: Expr) -> Expr:
    a2 = b.let(("a2", "alpha_sq"), a * a)
    return 2.0 * c / (c + fn("sqrt", a2 + (1.0 - a2) * c * c))


def _beckmann(b: BodyBuilder, c: Expr, a: Expr) -> Expr:
    tan = b.let(("slope", "tan_h"), fn("tan", fn("acos", c)) / a)
    return fn("exp", -tan * tan) / (3.1415927 * a * a * c * c * c * c)


def _henyey(b: BodyBuilder, c: Expr, a: Expr) -> Expr:
    base = b.let(("base", "inner"), 1.0 + a * a - 2.0 * a * c)
    return either(
        b,
        (1.0 - a * a) / (12.566371 * base * fn("sqrt", base)),
        (1.0 - a * a) / (12.566371 * fn("pow", base, b.lift(1.5, c.type))),
    )


def _blinn(b: BodyBuilder, c: Expr, a: Expr) -> Expr:
    power = b.let(("power", "shininess"), 2.0 / (a * a) - 2.0)
    return (power + 2.0) / 6.2831853 * fn("pow", c, power)


def _clearcoat(b: BodyBuilder, c: Expr, a: Expr) -> Expr:
    a2 = b.let(("a2", "alpha_sq"), a * a)
    return (a2 - 1.0) / (3.1415927 * fn("log", a2) * (1.0 + (a2 - 1.0) * c * c))


def _airy(b: BodyBuilder, c: Expr, n: Expr) -> Expr:
    half = b.let(("half_phase", "delta"), 3.0 * n * c)
    sine = b.let(("s", "sine"), fn("sin", half))
    return 1.0 / (1.0 + 2.0 * sine * sine)


_OPTICS = Family(
    item="ray",
    inputs={"c": quantity("cos_i c ndoth", "cosines cos_theta cos_angles", 0.3, 0.98)},
    params={
        "n": quantity("ior eta n_rel", "iors etas indices", 1.2, 2.2, 1.33, 1.5, 1.52, 2.0),
        "a": quantity("alpha rough alpha_m", "alphas roughness rough_map", 0.3, 0.8, 0.3, 0.5, 0.7),
    },
    titles="shade_by_kind optics_by_kind reflectance_model",
    kinds="model material kinds",
    struct="Surface Material Medium",
    grids=("i|ray|tid", "y x|ray bounce|row col", "view y x|b row col"),
    parts="layers layer c",
    weights="weights tints",
    masks="hit visible mask",
    reductions=("mean", "largest", "sum"),
    cards=(
        Card(
            "schlick",
            "fresnel refl",
            "f0 + (1 - f0) * (1 - {c})^5 with f0 = (({n} - 1) / ({n} + 1))^2",
            "c n",
            _schlick,
        ),
        Card(
            "fresnel_s",
            "fresnel refl",
            "(({c} - {n} * t) / ({c} + {n} * t))^2 with t = sqrt(1 - (1 - {c}^2) / {n}^2)",
            "c n",
            _fresnel_s,
        ),
        Card(
            "fresnel_dielectric",
            "fresnel refl",
            "the mean of (({c} - {n} * t) / ({c} + {n} * t))^2 and (({n} * {c} - t) / "
            "({n} * {c} + t))^2 with t = sqrt(1 - (1 - {c}^2) / {n}^2)",
            "c n",
            _fresnel,
        ),
        Card(
            "snell_angle",
            "refraction angles",
            "the refraction angle asin(sqrt(1 - {c}^2) / {n}) in degrees, over 90",
            "c n",
            _snell,
        ),
        Card(
            "ray_deviation",
            "deviation bend",
            "acos({c}) - asin(sqrt(1 - {c}^2) / {n})",
            "c n",
            _deviation,
        ),
        Card(
            "ggx",
            "ndf lobe",
            "{a}^2 / (pi * d^2) with d = {c}^2 * ({a}^2 - 1) + 1",
            "c a",
            _ggx,
        ),
        Card(
            "smith_g1",
            "shadowing visible_part",
            "2 * {c} / ({c} + sqrt({a}^2 + (1 - {a}^2) * {c}^2))",
            "c a",
            _smith,
        ),
        Card(
            "beckmann",
            "ndf lobe",
            "exp(-s^2) / (pi * {a}^2 * {c}^4) with s = tan(acos({c})) / {a}",
            "c a",
            _beckmann,
        ),
        Card(
            "henyey_greenstein",
            "phase scatter",
            "(1 - {a}^2) / (4 * pi * (1 + {a}^2 - 2 * {a} * {c})^1.5)",
            "c a",
            _henyey,
        ),
        Card(
            "blinn_phong",
            "ndf lobe",
            "(p + 2) / (2 * pi) * {c}^p with p = 2 / {a}^2 - 2",
            "c a",
            _blinn,
        ),
        Card(
            "clearcoat",
            "ndf coat",
            "({a}^2 - 1) / (pi * log({a}^2) * (1 + ({a}^2 - 1) * {c}^2))",
            "c a",
            _clearcoat,
        ),
        Card(
            "thin_film",
            "transmission film",
            "1 / (1 + 2 * sin(3 * {n} * {c})^2)",
            "c n",
            _airy,
        ),
    ),
)


@idiom
def surface_optics(k: KernelBuilder, level: int) -> Title:
    """Reflectance, microfacet lobes and refraction by the cosine of an angle."""
    return compose(k, level, _OPTICS)
