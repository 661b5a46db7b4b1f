"""Polar coordinates: angles and distances of points in the plane, alone or over beacons."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import Site, elements, write
from generators.kit.words import plural
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var


class Polar(NamedTuple):
    """What is computed of x, y and their angle or distance: its text, names of a coefficient (or
    none), its usual values and range, and the formula."""

    lead: str
    text: str
    names: str
    usual: tuple[float, ...]
    bounds: tuple[float, float]
    build: Callable[[Expr, Expr, Expr, Operand], Expr]


_TURN = 6.2831853
_POLAR: dict[str, Polar] = {
    "bearing": Polar(
        "theta",
        "90 + {c} less theta in degrees, a compass bearing,",
        "declination",
        (4.5, 11.0),
        (2.0, 12.0),
        lambda x, y, a, c: 90.0 - fn("degrees", a) + c,
    ),
    "bearing_error": Polar(
        "theta",
        "theta - {c}, wrapped to [-pi, pi)",
        "heading course",
        (0.5, 1.5707963),
        (-1.5, 1.5),
        lambda x, y, a, c: a - c - _TURN * fn("floor", (a - c) / _TURN + 0.5),
    ),
    "multipole": Polar(
        "theta",
        "cos({c} * theta) / (x * x + y * y + 0.1)",
        "order",
        (2.0, 3.0, 4.0),
        (1.5, 3.0),
        lambda x, y, a, c: fn("cos", c * a) / (x * x + y * y + 0.1),
    ),
    "antenna_gain": Polar(
        "theta",
        "(1 + {c} * cos(theta)) / (1 + {c})",
        "pattern directivity",
        (1.0, 0.5, 1.7),
        (0.3, 1.5),
        lambda x, y, a, c: (1.0 + c * fn("cos", a)) / (1.0 + c),
    ),
    "log_polar": Polar(
        "r",
        "{c} * log(r)",
        "rings_per_e log_scale",
        (8.0, 16.0),
        (2.0, 9.0),
        lambda x, y, r, c: c * fn("log", r),
    ),
    "swirl": Polar(
        "r",
        "x * cos(t) - y * sin(t), t = {c} * exp(-r)",
        "twist amount",
        (2.0, 3.0),
        (1.2, 2.4),
        lambda x, y, r, c: x * fn("cos", c * fn("exp", -r)) - y * fn("sin", c * fn("exp", -r)),
    ),
    "ring_wave": Polar(
        "r",
        "sin({c} * r) / r",
        "wave_number freq",
        (2.0, 3.0, 6.0),
        (1.5, 5.0),
        lambda x, y, r, c: fn("sin", c * r) / r,
    ),
    "vortex_speed": Polar(
        "r",
        "(1 - exp(-(r / {c})^2)) / r, the speed about a Lamb-Oseen vortex,",
        "core core_size",
        (0.5, 0.8),
        (0.4, 1.2),
        lambda x, y, r, c: (1.0 - fn("exp", -(r / c) * (r / c))) / r,
    ),
    "path_loss": Polar(
        "r",
        "40 + 10 * {c} * log10(r), the loss in decibels,",
        "exponent decay",
        (2.0, 2.7, 3.5),
        (2.0, 4.0),
        lambda x, y, r, c: 40.0 + 10.0 * c * fn("log10", r),
    ),
    "soft_well": Polar(
        "r", "-{c} / r", "strength charge", (1.0, 2.5), (0.5, 2.0), lambda x, y, r, c: -c / r
    ),
}
_LEADS = {"theta": "theta = atan2(y, x)", "r": "r = sqrt(x * x + y * y + {eps})"}


@idiom
def planar_angle(k: KernelBuilder, level: int) -> Title:
    """Angles and distances of points in the plane, at higher levels gathered over beacons."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_POLAR))
    polar = _POLAR[form]
    beacons = level >= 3 and shape.chance(0.7)
    site = elements(k, {1: 3, 2: 1} if beacons else None)
    names = k.draw.word.choice((("px", "py"), ("xs", "ys"), ("east", "north")))
    px, py = (k.array(name, type_, site.dims, low=-3.0, high=3.0) for name in names)
    c, c_text = _coefficient(k, polar, site, type_)
    eps = k.draw.value.choice((0.01, 0.02, 0.05))
    done = f"With {_LEADS[polar.lead].format(eps=eps)}, "
    done += f"compute {polar.text.format(c=c_text)} "
    if beacons:
        value, told = _gathered(k, level, polar, (px, py), site, (c, eps))
        done += told
    else:
        x, y = _local_pair(k, px[site.at], py[site.at])
        origin = shape.chance(0.4)
        done += f"for the point x = {px.name}, y = {py.name}"
        if origin:
            ox, oy = (k.scalar(name, type_, -0.5, 0.5) for name in ("center_x", "center_y"))
            k.augment(x, "sub", ox)
            k.augment(y, "sub", oy)
            done += f" less {ox.name} and {oy.name}"
        value = polar.build(x, y, _lead(k, polar, x, y, eps), c)
    done += "." + write(k, level, site, ("out", "result", f"{form}_out"), value)
    return Title(k.name(form, f"{form}_of_points", f"compute_{form}"), done)


def _local_pair(k: KernelBuilder, x: Expr, y: Expr) -> tuple[Var, Var]:
    """The coordinates as locals, under names that no thread index has."""
    names = ("dx", "dy") if {"x", "y"} & k.used else ("x", "y")
    return k.let(names[0], x), k.let(names[1], y)


def _coefficient(k: KernelBuilder, polar: Polar, site: Site, type_: Scalar) -> tuple[Operand, str]:
    """A usual value, a parameter or one of each element; and its text."""
    how = k.draw.shape.weighted({"usual": 2, "scalar": 3, "each": 2})
    names, (low, high) = polar.names.split(), polar.bounds
    if how == "usual":
        value = k.draw.value.choice(polar.usual)
        return value, f"{value:g}"
    if how == "scalar":
        scalar = k.scalar(names, type_, low, high)
        return scalar, scalar.name
    name = k.draw.word.choice(names)
    array = k.array(plural(name), type_, site.dims, low=low, high=high)
    local = k.let(name, array[site.at])
    return local, array.name


def _lead(k: KernelBuilder, polar: Polar, x: Var, y: Var, eps: float) -> Expr:
    names = ("theta", "angle") if polar.lead == "theta" else ("r", "dist")
    r2 = x * x + y * y + eps
    return k.let(names, fn("sqrt", r2) if polar.lead == "r" else fn("atan2", y, x))


def _gathered(
    k: KernelBuilder,
    level: int,
    polar: Polar,
    points: tuple[Var, Var],
    site: Site,
    given: tuple[Operand, float],
) -> tuple[Expr, str]:
    """The mean, weighted sum or largest over a few beacons, perhaps only of those in reach."""
    shape, (px, py), (c, eps) = k.draw.shape, points, given
    type_ = px[site.at].type
    assert isinstance(type_, Scalar)
    m = k.size("m", 3, 5)
    bx, by = (k.array(name, type_, m, low=-1.0, high=1.0) for name in ("beacon_x", "beacon_y"))
    how = shape.choice(("mean", "sum", "largest"))
    powers = k.array(("powers", "strengths"), type_, m, low=0.2, high=1.0) if how == "sum" else None
    count = k.trip_count(("num_beacons", "beacons"), m)
    start = {"largest": -1.0e6}.get(how, 0.0)
    total = k.let(("peak", "top") if how == "largest" else ("total", "acc"), k.lift(start, type_))
    reach = (
        k.scalar(("reach", "max_range"), type_, 2.0, 4.0) if level >= 4 and how == "sum" else None
    )
    with k.for_(("b", "beacon", "s"), count) as b:
        x, y = _local_pair(k, px[site.at] - bx[b], py[site.at] - by[b])
        if reach is not None:
            with k.if_(x * x + y * y > reach * reach):
                k.continue_()
        value = polar.build(x, y, _lead(k, polar, x, y, eps), c)
        if how == "largest":
            k.assign(total, fn("max", total, value))
        else:
            k.augment(total, "add", value if powers is None else powers[b] * value)
    what = {"mean": "the mean", "largest": "the largest"}.get(how, "the sum")
    text = (
        f"for x = {px.name} - {bx.name}, y = {py.name} - {by.name} and take {what} over the beacons"
    )
    text += f", each times {powers.name}" if powers is not None else ""
    text += f", those further than {reach.name} left out" if reach is not None else ""
    return (total / cast(count, type_) if how == "mean" else total), text
