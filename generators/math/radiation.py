"""Radiation and rates by temperature: Planck's law, greybodies, absorption, activation."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _planck(b: BodyBuilder, w: Expr, t: Expr) -> Expr:
    x = b.let(("x", "hv_kt"), 14.388 / (w * t))
    w5 = b.let(("w5", "lambda5"), w * w * w * w * w)
    return 119.1 / (w5 * (fn("exp", x) - 1.0))


def _wien(b: BodyBuilder, w: Expr, t: Expr) -> Expr:
    return 119.1 * fn("pow", w, b.lift(-5.0, w.type)) * fn("exp", -14.388 / (w * t))


def _brightness(b: BodyBuilder, w: Expr, t: Expr, e: Expr) -> Expr:
    x = b.let(("x", "hv_kt"), 14.388 / (w * t))
    dim = b.let(("dim", "grey"), 1.0 + (fn("exp", x) - 1.0) / e)
    return 14.388 / (w * fn("log", dim))


def _bose(b: BodyBuilder, w: Expr, t: Expr) -> Expr:
    return 1.0 / (fn("exp", 14.388 / (w * t)) - 1.0)


def _fermi(b: BodyBuilder, w: Expr, t: Expr, e: Expr) -> Expr:
    x = b.let(("x", "level"), (w - 4.0 * e) / (0.2 * t))
    return either(b, 1.0 / (1.0 + fn("exp", x)), 0.5 - 0.5 * fn("tanh", 0.5 * x))


def _einstein(b: BodyBuilder, w: Expr, t: Expr) -> Expr:
    half = b.let(("half", "y"), 7.194 / (w * t))
    s = b.let(("s", "sinh_y"), fn("sinh", half))
    return half * half / (s * s)


def _arrhenius(b: BodyBuilder, w: Expr, t: Expr, a: Expr) -> Expr:
    return 10.0 * w * fn("exp", -a / t)


def _eyring(b: BodyBuilder, t: Expr, a: Expr, e: Expr) -> Expr:
    return 2.0 * t * fn("exp", e - a / t)


def _boltzmann(b: BodyBuilder, t: Expr, a: Expr) -> Expr:
    r = b.let(("r", "upper"), 3.0 * fn("exp", -a / t))
    return r / (1.0 + r)


def _beer(b: BodyBuilder, w: Expr, a: Expr, e: Expr) -> Expr:
    return e * fn("exp", -a / w)


def _air_mass(b: BodyBuilder, w: Expr, e: Expr) -> Expr:
    c = b.let(("cos_z", "mu0"), fn("cos", 0.12 * w))
    return e * fn("exp", -0.3 / c)


def _power(b: BodyBuilder, t: Expr, e: Expr) -> Expr:
    t2 = b.let(("t2", "t_sq"), t * t)
    return 5.67 * e * (t2 * t2 - 1.0)


def _rayleigh(b: BodyBuilder, w: Expr, a: Expr) -> Expr:
    w2 = b.let(("w2", "lambda2"), w * w)
    return 1.0 - fn("exp", -a / (w2 * w2))


def _x_text(rest: str) -> str:
    return f"{rest} with x = 14.388 / ({{w}} * {{t}})"


_RADIATION = Family(
    item="sample",
    inputs={
        "w": quantity("lam wavelength micron", "wavelengths bands lambdas", 1.5, 9.0),
        "t": quantity("t_k temp kilokelvin", "temps temperatures kelvins", 0.8, 3.0),
    },
    params={
        "a": quantity("energy barrier tau", "energies barriers", 0.8, 4.0, 1.0, 2.0, 3.0),
        "e": quantity("emiss emissivity share", "emissivities shares", 0.4, 0.95, 0.5, 0.9, 0.8),
    },
    titles="radiance_by_kind thermal_model emission",
    kinds="law kinds model",
    struct="Material Emitter Gas",
    records="Spectrum Sample Pixel",
    grids=("i|tid|band", "pixel band|row col|y x", "scene pixel band|b i j"),
    parts="lines line s",
    masks="clear valid mask",
    reductions=("sum", "mean", "largest"),
    cards=(
        by_hand(
            "planck",
            "radiance spectrum",
            _x_text("119.1 / ({w}^5 * (exp(x) - 1))"),
            "w t",
            _planck,
        ),
        by_hand(
            "wien",
            "radiance spectrum",
            "119.1 * {w}^(-5) * exp(-14.388 / ({w} * {t}))",
            "w t",
            _wien,
        ),
        by_hand(
            "brightness_temperature",
            "brightness t_bright",
            _x_text("14.388 / ({w} * log(1 + (exp(x) - 1) / {e}))"),
            "w t e",
            _brightness,
        ),
        by_hand("photon_number", "occupancy photons", _x_text("1 / (exp(x) - 1)"), "w t", _bose),
        by_hand(
            "fermi_level",
            "occupancy filled",
            "1 / (1 + exp(x)) with x = ({w} - 4 * {e}) / (0.2 * {t})",
            "w t e",
            _fermi,
        ),
        by_hand(
            "einstein_heat",
            "heat_capacity cv",
            "y^2 / sinh(y)^2 with y = 7.194 / ({w} * {t})",
            "w t",
            _einstein,
        ),
        by_hand("arrhenius", "rate rates_out", "10 * {w} * exp(-{a} / {t})", "w t a", _arrhenius),
        by_hand("eyring", "rate rates_out", "2 * {t} * exp({e} - {a} / {t})", "t a e", _eyring),
        by_hand(
            "boltzmann_share",
            "population excited",
            "r / (1 + r) with r = 3 * exp(-{a} / {t})",
            "t a",
            _boltzmann,
        ),
        by_hand("beer_lambert", "transmitted light", "{e} * exp(-{a} / {w})", "w a e", _beer),
        by_hand(
            "direct_beam",
            "beam irradiance",
            "{e} * exp(-0.3 / cos(0.12 * {w}))",
            "w e",
            _air_mass,
        ),
        by_hand("net_emission", "power net_power", "5.67 * {e} * ({t}^4 - 1)", "t e", _power),
        by_hand("rayleigh_loss", "scattered loss_out", "1 - exp(-{a} / {w}^4)", "w a", _rayleigh),
    ),
)


@idiom
def thermal_radiation(k: KernelBuilder, level: int) -> Title:
    """Planck's law, greybodies, occupation numbers, absorption and activation."""
    return compose(k, level, _RADIATION)
