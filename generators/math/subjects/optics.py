"""Optics: reflectances, microfacets, phase functions, refraction."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.functions import FOUR_PI, PI, TWO_PI, acos, asin, exp, log, sin, sqrt
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr


def _refracted(body: BodyBuilder, c: Expr, n: Expr) -> Expr:
    """The cosine of the refracted ray."""
    return body.let("cos_t ct", sqrt(1.0 - (1.0 - c * c) / (n * n)))


_OPTICS = Family(
    inputs={"c": quantity("cos_i cos_theta", "cosines cos_angles", 0.3, 0.98)},
    params={
        "n": quantity("ior eta", "iors etas", 1.2, 2.2, 1.33, 1.5, 1.52, 2.0),
        "a": quantity("alpha roughness", "alphas roughnesses", 0.3, 0.8, 0.3, 0.5, 0.7),
        "w": quantity("thickness", "thicknesses", 0.3, 0.9),
        "f": quantity("finesse_coeff", "finesse_coeffs", 0.5, 3.0),
    },
    titles="shade_by_kind optics_by_kind reflectance_model",
    kinds="model material kinds",
    struct="Surface Material Medium",
    grids=("i|ray|tid", "y x|ray bounce|row col", "view y x|b row col"),
    weights="weights tints",
    masks="hit visible mask",
    groups="material_ids surface_ids",
    varying="n a",
    about={
        "schlick": "Fresnel reflectance by Schlick's approximation",
        "fresnel_s": "Fresnel reflectance of s-polarised light",
        "fresnel_dielectric": "Fresnel reflectance of unpolarised light at a dielectric",
        "snell_angle": "angle of refraction by Snell's law, for a relative index above 1",
        "ray_deviation": "angle by which refraction bends a ray",
        "ggx": "GGX distribution of microfacet normals",
        "smith_g1": "Smith's masking of GGX microfacets for one direction",
        "beckmann": "Beckmann distribution of microfacet normals",
        "henyey_greenstein": "Henyey-Greenstein phase function",
        "blinn_phong": "normalised Blinn-Phong lobe with a roughness",
        "clearcoat": "GTR1 lobe of a clear coat",
        "thin_film": "transmission of a thin film (Airy) by the cosine of the ray within it, its "
        "thickness in wavelengths",
    },
)


@_OPTICS.formula("fresnel refl")
def schlick(body: BodyBuilder, c: Expr, n: Expr) -> Expr:
    root = body.let("root q", (n - 1.0) / (n + 1.0))
    f0 = body.let("f0 normal_refl", root * root)
    m = body.let("m grazing", 1.0 - c)
    return either(body, f0 + (1.0 - f0) * m * m * m * m * m, f0 + (1.0 - f0) * m**5.0)


@_OPTICS.formula("fresnel refl")
def fresnel_s(body: BodyBuilder, c: Expr, n: Expr) -> Expr:
    ct = _refracted(body, c, n)
    rs = body.let("rs amp", (c - n * ct) / (c + n * ct))
    return rs * rs


@_OPTICS.formula("fresnel refl")
def fresnel_dielectric(body: BodyBuilder, c: Expr, n: Expr) -> Expr:
    ct = _refracted(body, c, n)
    rs = body.let("rs amp_s", (c - n * ct) / (c + n * ct))
    rp = body.let("rp amp_p", (n * c - ct) / (n * c + ct))
    return 0.5 * (rs * rs + rp * rp)


@_OPTICS.formula("refraction angles")
def snell_angle(body: BodyBuilder, c: Expr, n: Expr) -> Expr:
    sine = body.let("sin_t st", sqrt(1.0 - c * c) / n)
    return asin(sine)


_OPTICS.add("ray_deviation", "deviation bend", lambda c, n: acos(c) - asin(sqrt(1.0 - c * c) / n))


@_OPTICS.formula("ndf lobe", c="n_dot_h n_dot_hs")
def ggx(body: BodyBuilder, c: Expr, a: Expr) -> Expr:
    a2 = body.let("a2 alpha_sq", a * a)
    denom = body.let("denom d", c * c * (a2 - 1.0) + 1.0)
    return a2 / (PI * denom * denom)


@_OPTICS.formula("masking g1_out", c="n_dot_v n_dot_vs")
def smith_g1(body: BodyBuilder, c: Expr, a: Expr) -> Expr:
    a2 = body.let("a2 alpha_sq", a * a)
    return 2.0 * c / (c + sqrt(a2 + (1.0 - a2) * c * c))


@_OPTICS.formula("ndf lobe", c="n_dot_h n_dot_hs")
def beckmann(body: BodyBuilder, c: Expr, a: Expr) -> Expr:
    c2 = body.let("c2 cos_sq", c * c)
    a2 = body.let("a2 alpha_sq", a * a)
    return exp((c2 - 1.0) / (a2 * c2)) / (PI * a2 * c2 * c2)


@_OPTICS.formula("phase scatter", a="asymmetry asymmetries")
def henyey_greenstein(body: BodyBuilder, c: Expr, a: Expr) -> Expr:
    base = body.let("base inner", 1.0 + a * a - 2.0 * a * c)
    return either(
        body, (1.0 - a * a) / (FOUR_PI * base * sqrt(base)), (1.0 - a * a) / (FOUR_PI * base**1.5)
    )


@_OPTICS.formula("ndf lobe", c="n_dot_h n_dot_hs")
def blinn_phong(body: BodyBuilder, c: Expr, a: Expr) -> Expr:
    power = body.let("power shininess", 2.0 / (a * a) - 2.0)
    return (power + 2.0) / TWO_PI * c**power


@_OPTICS.formula("ndf coat", c="n_dot_h n_dot_hs")
def clearcoat(body: BodyBuilder, c: Expr, a: Expr) -> Expr:
    a2 = body.let("a2 alpha_sq", a * a)
    return (a2 - 1.0) / (PI * log(a2) * (1.0 + (a2 - 1.0) * c * c))


@_OPTICS.formula("transmission film", c="cos_t cos_ts")
def thin_film(body: BodyBuilder, c: Expr, n: Expr, w: Expr, f: Expr) -> Expr:
    half = body.let("half_phase delta", TWO_PI * n * w * c)
    sine = body.let("sine sin_half", sin(half))
    return 1.0 / (1.0 + f * sine * sine)


@idiom(depth=DEPTH)
def surface_optics(k: KernelBuilder, level: int) -> Title:
    """Reflectance, microfacet lobes and refraction by the cosine of an angle."""
    return compose(k, level, _OPTICS)
