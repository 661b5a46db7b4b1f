"""Fluids in pipes and open channels, and bodies that fall through them."""

from __future__ import annotations

from generators._math_cards import Card, Family, either, quantity
from generators._math_compose import compose
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.expr import Expr
from generators.registry import Title


def _reynolds(b: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    return b.let(("re", "reynolds"), v * d / n * 1000.0)


def _schiller(b: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    re = _reynolds(b, v, d, n)
    slow = 24.0 / re * (1.0 + 0.15 * fn("pow", re, b.lift(0.687, v.type)))
    if b.draw.shape.chance(0.5):
        return fn("where", re < 1000.0, slow, b.lift(0.44, v.type))
    drag = b.let(("cd", "drag_coeff"), b.lift(0.44, v.type))
    with b.if_(re < 1000.0):
        b.assign(drag, slow)
    return drag


def _friction(b: BodyBuilder, v: Expr, d: Expr, n: Expr, e: Expr) -> Expr:
    re = _reynolds(b, v, d, n)
    rough = b.let(("rough", "rel_rough"), e / (3.7 * d * 100.0))
    arg = fn("log10", rough + 5.74 / fn("pow", re, b.lift(0.9, v.type)))
    root = b.let(("root", "lg"), arg)
    return 0.25 / (root * root)


def _colebrook(b: BodyBuilder, v: Expr, d: Expr, n: Expr, e: Expr) -> Expr:
    re = _reynolds(b, v, d, n)
    rough = b.let(("rough", "rel_rough"), e / (3.7 * d * 100.0))
    s = b.let(("s", "inv_root"), b.lift(8.0, v.type))
    b.note("fixed-point steps for 1 / sqrt(f)")
    with b.for_(("it", "step_idx"), 3):
        b.assign(s, -2.0 * fn("log10", rough + 2.51 * s / re))
    return 1.0 / (s * s)


def _terminal(b: BodyBuilder, d: Expr, e: Expr) -> Expr:
    return fn("sqrt", 13.08 * d * (1.0 + e))


def _approach(b: BodyBuilder, v: Expr, d: Expr) -> Expr:
    top = b.let(("v_inf", "terminal"), fn("sqrt", 19.62 * d))
    return top * fn("tanh", 9.81 * 0.1 * v / top)


def _manning(b: BodyBuilder, d: Expr, e: Expr) -> Expr:
    radius = b.let(("radius_h", "hyd_radius"), d / (1.0 + 2.0 * d))
    root = b.let(("root", "cr"), fn("cbrt", radius))
    return root * root * fn("sqrt", 0.01 * e) / 0.03


def _profile(b: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    rel = b.let(("rel", "y_rel"), fn("clamp", 0.5 * d / n, 0.0, 1.0))
    return 1.5 * v * (1.0 - rel * rel)


def _law_of_wall(b: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    y = b.let(("y_plus", "yp"), 10.0 * v * d / n)
    u = b.let(("u_plus", "up"), y)
    with b.if_(y > 11.06):
        b.assign(u, fn("log", y) / 0.41 + 5.2)
    return u


def _mach(b: BodyBuilder, v: Expr) -> Expr:
    m = b.let(("mach", "m"), 0.3 * v)
    return fn("pow", 1.0 + 0.2 * m * m, b.lift(3.5, v.type))


def _jump(b: BodyBuilder, v: Expr, d: Expr) -> Expr:
    froude = b.let(("froude", "fr"), v / fn("sqrt", 9.81 * d))
    return 0.5 * d * (fn("sqrt", 1.0 + 8.0 * froude * froude) - 1.0)


def _weir(b: BodyBuilder, d: Expr, e: Expr) -> Expr:
    head = b.let(("head", "hd"), fn("max", d - 0.3 * e, 0.0))
    return 1.84 * head * fn("sqrt", head + 1.0e-6)


_RE = "re = 1000 * {v} * {d} / {n}"
_FLOW = Family(
    item="section",
    inputs={
        "v": quantity("v speed vel", "velocities speeds flow_speed", 0.2, 4.0),
        "d": quantity("d diam depth", "diameters depths sizes", 0.1, 1.5),
    },
    params={
        "n": quantity("nu viscosity visc", "viscosities nus", 0.4, 1.6, 1.0, 0.5, 0.8),
        "e": quantity("rough grain slope", "roughnesses grains", 0.2, 1.5, 0.25, 0.5, 1.0),
    },
    titles="flow_measure hydraulics_by_kind channel_flow",
    kinds="regime kinds formula_id",
    struct="Fluid Pipe Channel",
    records="Section Reach Droplet",
    grids=("i|tid|cell", "pipe cell|row col|y x", "case pipe cell|b i j"),
    parts="phases phase p",
    masks="wet open_flag mask",
    reductions=("sum", "mean", "largest", "smallest"),
    cards=(
        Card(
            "drag_coefficient",
            "drag cd_out",
            f"24 / re * (1 + 0.15 * re^0.687) where re < 1000, else 0.44, {_RE}",
            "v d n",
            _schiller,
        ),
        Card(
            "swamee_jain",
            "friction f_out",
            f"0.25 / log10({{e}} / (370 * {{d}}) + 5.74 / re^0.9)^2 with {_RE}",
            "v d n e",
            _friction,
        ),
        Card(
            "colebrook",
            "friction f_out",
            "1 / s^2 after three steps s = -2 * log10({e} / (370 * {d}) + 2.51 * s / re) from 8, "
            f"{_RE}",
            "v d n e",
            _colebrook,
        ),
        Card(
            "terminal_speed",
            "terminal_out fall",
            "sqrt(13.08 * {d} * (1 + {e}))",
            "d e",
            _terminal,
        ),
        Card(
            "fall_speed",
            "fall speed_out",
            "w * tanh(0.981 * {v} / w) with w = sqrt(19.62 * {d})",
            "v d",
            _approach,
        ),
        Card(
            "manning_speed",
            "velocity_out discharge",
            "cbrt(r)^2 * sqrt(0.01 * {e}) / 0.03 with r = {d} / (1 + 2 * {d})",
            "d e",
            _manning,
        ),
        Card(
            "pipe_profile",
            "profile u_out",
            "1.5 * {v} * (1 - q^2) with q = {d} / (2 * {n}) clamped to [0, 1]",
            "v d n",
            _profile,
        ),
        Card(
            "law_of_the_wall",
            "u_wall wall_speed",
            "y up to 11.06 and log(y) / 0.41 + 5.2 beyond, y = 10 * {v} * {d} / {n}",
            "v d n",
            _law_of_wall,
        ),
        Card(
            "stagnation_ratio",
            "ratio_out compress",
            "(1 + 0.2 * m^2)^3.5 with m = 0.3 * {v}",
            "v",
            _mach,
        ),
        Card(
            "critical_depth",
            "critical depth_out",
            "cbrt(({v} * {d})^2 / 9.81)",
            "v d",
            lambda b, v, d: fn("cbrt", (q := b.let(("q", "unit_flow"), v * d)) * q / 9.81),
        ),
        Card(
            "hydraulic_jump",
            "conjugate depth_out",
            "{d} / 2 * (sqrt(1 + 8 * f^2) - 1) with f = {v} / sqrt(9.81 * {d})",
            "v d",
            _jump,
        ),
        Card(
            "weir_flow",
            "discharge flow_out",
            "1.84 * h * sqrt(h + 1e-6) with h = max({d} - 0.3 * {e}, 0)",
            "d e",
            _weir,
        ),
        Card(
            "head_loss",
            "loss_out head_out",
            "{e} * {v}^2 / (2 * 9.81 * {d})",
            "v d e",
            lambda b, v, d, e: either(b, e * v * v / (19.62 * d), 0.5 * e / d * v * v / 9.81),
        ),
    ),
)


def fluid_flow(k: KernelBuilder, level: int) -> Title:
    """Drag, friction, channel flow and wall laws."""
    return compose(k, level, _FLOW)
