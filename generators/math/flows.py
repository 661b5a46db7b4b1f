"""Fluids in pipes and open channels, and bodies that fall through them."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _reynolds(b: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    return b.let(("re", "reynolds"), v * d / n)


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
    rough = b.let(("rel_rough", "rough_term"), e / (3.7 * d))
    root = b.let(("root", "lg"), fn("log10", rough + 5.74 / fn("pow", re, b.lift(0.9, v.type))))
    return 0.25 / (root * root)


def _colebrook(b: BodyBuilder, v: Expr, d: Expr, n: Expr, e: Expr) -> Expr:
    re = _reynolds(b, v, d, n)
    rough = b.let(("rel_rough", "rough_term"), e / (3.7 * d))
    s = b.let(("s", "inv_root"), b.lift(8.0, v.type))
    b.note("fixed-point steps for 1 / sqrt(f)")
    with b.for_(("it", "step_idx"), 3):
        b.assign(s, -2.0 * fn("log10", rough + 2.51 * s / re))
    return 1.0 / (s * s)


def _blasius(b: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    re = _reynolds(b, v, d, n)
    if b.draw.shape.chance(0.5):
        return 0.316 / fn("sqrt", fn("sqrt", re))
    return 0.316 * fn("pow", re, b.lift(-0.25, v.type))


def _manning(b: BodyBuilder, d: Expr, s: Expr) -> Expr:
    radius = b.let(("radius_h", "hyd_radius"), d / (1.0 + 2.0 * d))
    root = b.let(("root", "cr"), fn("cbrt", radius))
    return root * root * fn("sqrt", s) / 0.03


def _law_of_wall(b: BodyBuilder, v: Expr, d: Expr, n: Expr) -> Expr:
    y = b.let(("y_plus", "yp"), 0.05 * v * d / n)
    u = b.let(("u_plus", "up"), y)
    with b.if_(y > 11.06):
        b.assign(u, fn("log", y) / 0.41 + 5.2)
    return u


def _mach(b: BodyBuilder, v: Expr) -> Expr:
    m = b.let(("mach", "m"), 0.3 * v)
    return fn("pow", 1.0 + 0.2 * m * m, b.lift(3.5, v.type))


def _jump(b: BodyBuilder, v: Expr, d: Expr) -> Expr:
    if b.draw.shape.chance(0.5):
        squared = b.let(("froude_sq", "fr_sq"), v * v / (9.81 * d))
        return 0.5 * d * (fn("sqrt", 1.0 + 8.0 * squared) - 1.0)
    froude = b.let(("froude", "fr"), v / fn("sqrt", 9.81 * d))
    return 0.5 * d * (fn("sqrt", 1.0 + 8.0 * froude * froude) - 1.0)


def _weir(b: BodyBuilder, d: Expr, c: Expr) -> Expr:
    if b.draw.shape.chance(0.5):
        over = b.let(("over", "head"), d - c)
        flow = 1.84 * fn("pow", fn("abs", over), b.lift(1.5, d.type))
        return fn("where", over > 0.0, flow, b.lift(0.0, d.type))
    spill = b.let(("spill", "overflow"), b.lift(0.0, d.type))
    with b.if_(d > c):
        over = b.let(("over", "head"), d - c)
        b.assign(spill, 1.84 * over * fn("sqrt", over))
    return spill


_RE = "re = {v} * {d} / {n}"
_FLOW = Family(
    item="section",
    inputs={
        "v": quantity("v speed vel", "velocities speeds flow_speed", 0.2, 4.0),
        "d": quantity("d depth water_depth", "depths water_depths sizes", 0.1, 1.5),
    },
    params={
        "n": quantity("nu viscosity visc", "viscosities nus", 0.0004, 0.0016, 0.001, 0.0005),
        "e": quantity("rough grain eps", "roughnesses grains", 0.002, 0.015, 0.0025, 0.005, 0.01),
        "s": quantity("slope bed_slope fall", "slopes bed_slopes", 0.002, 0.02, 0.01, 0.005),
        "c": quantity("crest sill weir_top", "crests sills", 0.4, 1.0, 0.5, 0.8, 0.6),
        "r": quantity("rel_density grain_density", "rel_densities", 1.5, 3.5, 2.65, 2.5),
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
        by_hand(
            "drag_coefficient",
            "drag cd_out",
            f"24 / re * (1 + 0.15 * re^0.687) where re < 1000, else 0.44, with {_RE}",
            "v d n",
            _schiller,
        ),
        by_hand(
            "swamee_jain",
            "friction f_out",
            f"0.25 / log10({{e}} / (3.7 * {{d}}) + 5.74 / re^0.9)^2 with {_RE}",
            "v d n e",
            _friction,
        ),
        by_hand(
            "colebrook",
            "friction f_out",
            "1 / s^2 after three steps s = -2 * log10({e} / (3.7 * {d}) + 2.51 * s / re) from 8, "
            f"with {_RE}",
            "v d n e",
            _colebrook,
        ),
        by_hand(
            "blasius",
            "friction f_out",
            f"0.316 / re^0.25 with {_RE}",
            "v d n",
            _blasius,
        ),
        by_hand(
            "settling_speed",
            "settling_out sink_speed",
            "sqrt(4 / 3 * 9.81 * {d} * ({r} - 1) / 0.44)",
            "d r",
            lambda b, d, r: fn("sqrt", 29.7273 * d * (r - 1.0)),
        ),
        by_hand(
            "impact_speed",
            "impact speed_out",
            "sqrt({v}^2 + 2 * 9.81 * {d})",
            "v d",
            lambda b, v, d: fn("sqrt", v * v + 19.62 * d),
        ),
        by_hand(
            "specific_energy",
            "energy_head total_head",
            "{d} + {v}^2 / (2 * 9.81)",
            "v d",
            lambda b, v, d: either(b, d + v * v / 19.62, d + 0.5 * v * v / 9.81),
        ),
        by_hand(
            "manning_speed",
            "velocity_out mean_speed",
            "cbrt(r)^2 * sqrt({s}) / 0.03 with r = {d} / (1 + 2 * {d})",
            "d s",
            _manning,
        ),
        by_hand(
            "shear_speed",
            "shear_out friction_speed",
            "sqrt(9.81 * {d} * {s})",
            "d s",
            lambda b, d, s: fn("sqrt", 9.81 * d * s),
        ),
        by_hand(
            "law_of_the_wall",
            "u_wall wall_speed",
            "y up to 11.06 and log(y) / 0.41 + 5.2 beyond, with y = 0.05 * {v} * {d} / {n}",
            "v d n",
            _law_of_wall,
        ),
        by_hand(
            "stagnation_ratio",
            "ratio_out compress",
            "(1 + 0.2 * m^2)^3.5 with m = 0.3 * {v}",
            "v",
            _mach,
        ),
        by_hand(
            "critical_depth",
            "critical depth_out",
            "cbrt(({v} * {d})^2 / 9.81)",
            "v d",
            lambda b, v, d: fn("cbrt", (q := b.let(("q", "unit_flow"), v * d)) * q / 9.81),
        ),
        by_hand(
            "hydraulic_jump",
            "conjugate depth_out",
            "{d} / 2 * (sqrt(1 + 8 * f^2) - 1) with f = {v} / sqrt(9.81 * {d})",
            "v d",
            _jump,
        ),
        by_hand(
            "weir_flow",
            "discharge spill_out",
            "1.84 * max({d} - {c}, 0)^1.5",
            "d c",
            _weir,
        ),
    ),
)


@idiom
def fluid_flow(k: KernelBuilder, level: int) -> Title:
    """Drag, friction, channel flow and wall laws."""
    return compose(k, level, _FLOW)
