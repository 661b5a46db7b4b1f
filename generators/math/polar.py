"""Polar coordinates: what depends on the angle or the distance of points in the plane."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import TWO_PI, atan2, cos, exp, log, sin, sqrt
from generators.kit.naming import held
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.math.cards import quantity
from generators.program.expr import Expr, Load, Var

_COEFFICIENTS = {
    "declination": quantity("declination", "declinations", 2.0, 12.0, 4.5, 11.0),
    "course": quantity("heading course", "headings courses", -1.5, 1.5, 0.5, 1.5707963),
    "order": quantity("order", "orders", 1.5, 3.0, 2.0, 3.0, 4.0),
    "gain": quantity("pattern directivity", "patterns", 0.3, 1.5, 0.8, 0.5, 1.7),
    "rings": quantity("rings_per_e log_scale", "log_scales", 2.0, 9.0, 8.0, 16.0),
    "twist": quantity("twist amount", "twists amounts", 1.2, 2.4, 2.0, 3.0),
    "freq": quantity("wave_number freq", "wave_numbers freqs", 1.5, 5.0, 2.0, 3.0, 6.0),
    "core": quantity("core core_size", "cores core_sizes", 0.4, 1.2, 0.5, 0.8),
    "decay": quantity("exponent decay", "exponents decays", 2.0, 4.0, 2.0, 2.7, 3.5),
    "charge": quantity("strength charge", "strengths charges", 0.5, 2.0, 1.0, 2.5),
}
_POLAR = Shelf()


@_POLAR.formula("", "b - 360 * floor(b / 360) with b = 90 - degrees(theta) - {declination}")
def bearing(body: BodyBuilder, theta: Expr, declination: Expr) -> Expr:
    b = body.let("azimuth compass", 90.0 - fn("degrees", theta) - declination)
    return b - 360.0 * fn("floor", b / 360.0)


_POLAR.add(
    "bearing_error",
    "",
    lambda theta, course: theta - course - TWO_PI * fn("floor", (theta - course) / TWO_PI + 0.5),
    "theta - {course}, wrapped to [-pi, pi)",
)
_POLAR.add(
    "multipole",
    "",
    lambda x, y, theta, order: cos(order * theta) / sqrt(x * x + y * y) ** order,
)
_POLAR.add("antenna_gain", "", lambda theta, gain: (1.0 + gain * cos(theta)) / (1.0 + gain))
_POLAR.add("log_polar", "", lambda r, rings: rings * log(r))


_POLAR.add("swirl", "", lambda x, y, r, twist: atan2(y, x) + twist * exp(-r))
_POLAR.add("ring_wave", "", lambda r, freq: sin(freq * r) / r)
_POLAR.add(
    "vortex_speed",
    "",
    lambda r, circulation, core: circulation * (1.0 - exp(-(r / core) * (r / core))) / (TWO_PI * r),
)
_POLAR.add("path_loss", "", lambda r, decay: 40.0 + 10.0 * decay * fn("log10", r))
_POLAR.add("soft_well", "", lambda r, charge: -charge / r)

_POLAR_ABOUT = {
    "bearing": "Magnetic bearing of points in [0, 360) degrees (y is north, declination eastward)",
    "bearing_error": "Error of a course to points",
    "multipole": "Potential of a planar multipole of unit strength at points",
    "antenna_gain": "Gain of a first-order antenna pattern, a cardioid at 1, towards points",
    "log_polar": "Log-polar radius of points",
    "swirl": "Polar angle of points after a swirl, not wrapped",
    "ring_wave": "Circular wave at points",
    "vortex_speed": "Speed about a Lamb-Oseen vortex at points",
    "path_loss": "Path loss of a radio signal in dB, 40 at unit distance",
    "soft_well": "Potential of a softened charge at points",
}
"""What each formula is."""
_OUTS = {
    "bearing": "bearings magnetic_bearing",
    "bearing_error": "course_error heading_error",
    "multipole": "potential phi_out",
    "antenna_gain": "gain_out antenna_gain",
    "log_polar": "log_radius rho_out",
    "swirl": "theta_out swirled_angle",
    "ring_wave": "elevation wave_out",
    "vortex_speed": "speed swirl_speed",
    "path_loss": "loss_db path_loss_db",
    "soft_well": "potential phi_out",
}
"""Names of an output of each."""
Value = Callable[[Var, Var], Expr]
"""A formula of the coordinates."""


@idiom(depth=1)
def planar_angle(k: KernelBuilder, level: int) -> Title:
    """Angles and distances of points in the plane, and what follows from them."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    card = shape.choice(_POLAR.cards)
    s = launch(k, list=1)
    px, py = (
        s.read(name, type_, -3.0, 3.0)
        for name in k.draw.word.choice(("px py", "xs ys", "east north")).split()
    )
    key, angle = card.keys[-1], "theta" in card.keys
    coefficient = _COEFFICIENTS[key].given(s, type_, literal=1, shared=5)
    soft = k.scalar("softening core_radius", type_, 0.1, 0.4) if card.name == "soft_well" else None
    near = card.name != "swirl" and soft is None
    lead = "theta = atan2(y, x)" if angle else "r = sqrt(x^2 + y^2"
    if not angle:
        lead += ")" if soft is None else f" + {soft.name}^2)"
        lead += ", which is above 0" if near else ""
    given: dict[str, Expr] = {}
    if "circulation" in card.keys:
        given["circulation"] = k.scalar("circulation", type_, 0.5, 4.0)
    texts = {name: name for name in card.keys} | {key: say(k, coefficient)}
    done = f"{_POLAR_ABOUT[card.name]}: with {lead}, compute {card.said(texts)} "
    coefficient = held(k, _COEFFICIENTS[key].names, coefficient)

    def value_at(x: Var, y: Var) -> Expr:
        squares = x * x + y * y
        far = sqrt(squares if soft is None else squares + soft * soft)
        by = atan2(y, x) if angle else far
        found = k.let("theta angle" if angle else "r dist", by)
        values = {"x": x, "y": y, "theta": found, "r": found, key: coefficient}
        return card.of(k, values | given)

    value, told = _alone(s, (px, py), value_at)
    out = s.put(_OUTS[card.name], value)
    names = (f"{card.name}_of_points", f"{card.name}_at_points", f"compute_{card.name}")
    return Title(k.name(*names), f"{done}{told}. {out.name} gets the result.")


def _local_pair(k: KernelBuilder, x: Expr, y: Expr) -> tuple[Var, Var]:
    """The coordinates as locals, under names that no thread index has."""
    names = ("dx", "dy") if {"x", "y"} & k.used else ("x", "y")
    return k.let(names[0], x), k.let(names[1], y)


def _alone(s: Site, point: tuple[Load, Load], value_at: Value) -> tuple[Expr, str]:
    """The value for a point, perhaps as seen from an origin."""
    k, (px, py) = s.k, point
    text = f"for the point x = {px.array.name}, y = {py.array.name}"
    x, y = _local_pair(k, px, py)
    if k.draw.shape.chance(0.4):
        ox, oy = (k.scalar(name, x.type, -0.5, 0.5) for name in ("center_x", "center_y"))
        k.augment(x, "sub", ox)
        k.augment(y, "sub", oy)
        text += f" less {ox.name} and {oy.name}"
    return value_at(x, y), text
