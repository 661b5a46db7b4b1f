"""Roots of equations that have no closed form, by iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, branch
from generators.control_flow.params import replaced, with_struct
from generators.kit.formulas import Formula
from generators.kit.functions import cos, exp, log, log10, sin, sqrt, tanh
from generators.kit.naming import routine
from generators.kit.sites import Site, launch
from generators.kit.words import listed, plurals, say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Load, Var

Span = tuple[str, float, float]
"""Names of a quantity and the range of its values."""


@dataclass(frozen=True)
class Equation:
    """A function that is zero at the root, and its derivatives; keys name what they read."""

    title: str
    unknown: str
    """Names of the unknown x."""
    arrays: dict[str, Span]
    """What each thread has of its own."""
    numbers: dict[str, Span]
    """What all have, or each its own."""
    f: Callable[..., Expr]
    slope: Callable[..., Expr]
    bend: Callable[..., Expr] | None
    """The second derivative, where Halley's method is used."""
    start: Callable[..., Expr]
    ends: tuple[float, float]
    """Two points between which the root lies."""
    second: Callable[..., Expr] | None = None
    """The secant method's second guess, where the slope costs more than the function."""
    common: tuple[str, Callable[..., Expr]] | None = None
    """What the function and its slope have in common, and names for it."""


_EQUATIONS: dict[str, Equation] = {
    "kepler": Equation(
        "Kepler's equation for the eccentric anomaly",
        "ecc_anomaly ecc_anom",
        {"mean": ("mean_anomaly mean_anom", 0.2, 3.0)},
        {"ecc": ("eccentricity ecc", 0.1, 0.7)},
        lambda x, mean, ecc: x - ecc * sin(x) - mean,
        lambda x, ecc: 1.0 - ecc * cos(x),
        lambda x, ecc: ecc * sin(x),
        lambda mean: mean,
        (0.0, 4.0),
    ),
    "lambert": Equation(
        "w * exp(w) = z for the principal branch of Lambert's function",
        "w lambert_w",
        {"z": ("z z_values", 0.1, 8.0)},
        {},
        lambda x, z: x * exp(x) - z,
        lambda x: exp(x) * (1.0 + x),
        lambda x: exp(x) * (2.0 + x),
        lambda z: log(1.0 + z),
        (0.0, 2.0),
    ),
    "cube_root": Equation(
        "the equation of the cube root",
        "root cube_root",
        {"a": ("a numbers", 0.5, 20.0)},
        {},
        lambda x, a: x * x * x - a,
        lambda x: 3.0 * x * x,
        lambda x: 6.0 * x,
        lambda a: (a + 2.0) / 3.0,
        (0.1, 3.0),
    ),
    "colebrook": Equation(
        "the Colebrook-White equation for x = 1 / sqrt(f) of the friction factor f of a pipe",
        "inv_sqrt_f x",
        {"reynolds": ("reynolds reynolds_number", 5000.0, 200000.0)},
        {"rough": ("rel_roughness roughness", 0.0005, 0.02)},
        lambda x, reynolds, rough: x + 2.0 * log10(rough / 3.7 + 2.51 * x / reynolds),
        lambda x, reynolds, rough: 1.0 + 2.18 / (rough * reynolds / 3.7 + 2.51 * x),
        None,
        lambda rough: -2.0 * log10(rough / 3.7),
        (2.0, 16.0),
        lambda reynolds, rough: -2.0 * log10(rough / 3.7 + 5.74 / fn("pow", reynolds, 0.9)),
    ),
    "dispersion": Equation(
        "the dispersion relation of water waves for the wave number",
        "wave_number k_wave",
        {"omega": ("omega angular_freq", 0.6, 2.5)},
        {"depth": ("depth water_depth", 2.0, 20.0), "g": ("gravity g", 9.7, 9.9)},
        lambda x, omega, depth, g: g * x * tanh(x * depth) - omega * omega,
        lambda x, depth, g: (
            g * tanh(x * depth) + g * x * depth * (1.0 - tanh(x * depth) * tanh(x * depth))
        ),
        None,
        lambda omega, depth, g: omega * omega / (g * sqrt(tanh(omega * omega * depth / g))),
        (0.001, 2.0),
        lambda omega, g: omega * omega / g,
        ("tanh_kh th", lambda x, depth: tanh(x * depth)),
    ),
    "diode": Equation(
        "the voltage across a diode in series with a resistor",
        "diode_voltage v_diode",
        {"supply": ("supply_voltage v_supply", 0.8, 3.0)},
        {
            "resistance": ("resistance r_series", 0.5, 2.0),
            "saturation": ("saturation_current i_sat", 0.001, 0.01),
            "thermal": ("thermal_voltage n_vt", 0.2, 0.3),
        },
        lambda x, supply, resistance, saturation, thermal: (
            saturation * (exp(x / thermal) - 1.0) - (supply - x) / resistance
        ),
        lambda x, resistance, saturation, thermal: (
            saturation / thermal * exp(x / thermal) + 1.0 / resistance
        ),
        lambda x, saturation, thermal: saturation / (thermal * thermal) * exp(x / thermal),
        lambda supply: 0.7 * supply,
        (0.0, 3.0),
        lambda supply, resistance, saturation, thermal: (
            thermal * log(1.0 + supply / (resistance * saturation))
        ),
        ("exp_term growth", lambda x, thermal: exp(x / thermal)),
    ),
    "van_der_waals": Equation(
        "the reduced van der Waals equation for the molar volume of a gas",
        "volume v_reduced",
        {"pressure": ("pressure p_reduced", 0.3, 1.5)},
        {"temp": ("temperature t_reduced", 1.2, 1.8)},
        lambda x, pressure, temp: (pressure + 3.0 / (x * x)) * (3.0 * x - 1.0) - 8.0 * temp,
        lambda x, pressure: 3.0 * pressure - 9.0 / (x * x) + 6.0 / (x * x * x),
        None,
        lambda pressure, temp: 8.0 * temp / (3.0 * pressure),
        (0.4, 20.0),
        lambda pressure, temp: 8.0 * temp / (3.0 * pressure) + 1.0 / 3.0,
        ("x_sq square", lambda x: x * x),
    ),
}

_METHODS = {
    1: {"newton": 3, "bisection": 1},
    2: {"newton": 2, "bisection": 1, "secant": 2},
    3: {"newton": 1, "secant": 1, "halley": 2, "illinois": 2},
}


@dataclass(frozen=True)
class Search:
    """An equation with its values in this thread, and when an iteration ends."""

    s: Site
    type: Scalar
    equation: Equation
    values: dict[str, Expr]
    f: Callable[[Expr], Expr]
    limit: Expr
    tol: Expr
    fixed: bool
    """Whether all iterations are made."""
    steps: Also

    @property
    def k(self) -> KernelBuilder:
        return self.s.k

    def read(self, code: Callable[..., Expr], x: Expr | None = None) -> Expr:
        """The value of what reads the unknown and the equation's values."""
        values = self.values if x is None else {**self.values, "x": x}
        return code(*(values[key] for key in signature(code).parameters))

    def slope(self, x: Expr) -> Expr:
        return self.read(self.equation.slope, x)

    def shared(self, x: Expr) -> Callable[[Expr], Expr]:
        """Names what the function and its slope have in common; gives how to write it by name."""
        if self.equation.common is None:
            return lambda e: e
        names, code = self.equation.common
        part = self.read(code, x)
        name = self.k.let(names, part)

        def once(e: Expr) -> Expr:
            made = replaced(e, lambda inner: name if inner == part else None)
            assert isinstance(made, Expr)
            return made

        return once

    def near(self, fx: Expr) -> None:
        """End where the function is small."""
        if not self.fixed:
            branch(self.k, (abs(fx) < self.tol, STOP))

    def until(self, what: str) -> str:
        """When an iteration ends, in words."""
        return "" if self.fixed else f", until {what} is below {say(self.k, self.tol)}"


def _newton(m: Search, name: str) -> tuple[Expr, str]:
    k, x = m.k, m.k.let(name, m.read(m.equation.start))
    begin = say_start(m)
    by_step = k.draw.shape.chance(0.5)
    with k.for_("it step", m.limit):
        once = m.shared(x)
        fx = k.let("fx residual", once(m.f(x)))
        if not by_step:
            m.near(fx)
        step = k.let("dx delta", fx / once(m.slope(x)))
        k.assign(x, x - step)
        m.steps.add()
        if by_step and not m.fixed:
            branch(k, (abs(step) < m.tol, STOP))
    ends = "the step" if by_step else "|f|"
    return x, f"Newton's method from {begin}{m.until(ends)}"


def _halley(m: Search, name: str) -> tuple[Expr, str]:
    k, x, bend = m.k, m.k.let(name, m.read(m.equation.start)), m.equation.bend
    assert bend is not None
    begin = say_start(m)
    with k.for_("it step", m.limit):
        once = m.shared(x)
        fx, slope = k.let("fx residual", once(m.f(x))), k.let("dfx slope", once(m.slope(x)))
        second = k.let("d2fx curvature", once(m.read(bend, x)))
        m.near(fx)
        k.assign(x, x - 2.0 * fx * slope / (2.0 * slope * slope - fx * second))
        m.steps.add()
    return x, f"Halley's method from {begin}{m.until('|f|')}"


def _secant(m: Search, name: str) -> tuple[Expr, str]:
    k = m.k
    assert m.equation.second is not None
    before = k.let("x_prev x0", m.read(m.equation.start))
    begin, x = say_start(m), k.let(name, m.read(m.equation.second))
    second = say_start(m, m.equation.second)
    f_before = k.let("f_prev f0", m.f(before))
    with k.for_("it step", m.limit):
        fx = k.let("fx residual", m.f(x))
        m.near(fx)
        step = k.let("dx delta", fx * (x - before) / (fx - f_before))
        k.assign(before, x)
        k.assign(f_before, fx)
        k.assign(x, x - step)
        m.steps.add()
    return x, f"the secant method from {begin} and {second}, until |f| is below {say(k, m.tol)}"


def _bracket(m: Search) -> tuple[Var, Var, str]:
    """Two locals between which the root lies."""
    low, high = m.equation.ends
    names = m.k.draw.word.choice((("lo", "hi"), ("left", "right")))
    lo = m.k.let(names[0], m.k.lift(low, m.type))
    hi = m.k.let(names[1], m.k.lift(high, m.type))
    return lo, hi, f"[{low}, {high}]"


def _bisection(m: Search, name: str) -> tuple[Expr, str]:
    k, (lo, hi, said) = m.k, _bracket(m)
    with k.for_("it step", m.limit) if m.fixed else k.while_(hi - lo >= m.tol):
        mid = k.let("mid middle", 0.5 * (lo + hi))
        branch(k, (m.f(mid) > 0.0, (hi, mid)), (None, (lo, mid)))
        m.steps.add()
    until = "" if m.fixed else f" until the interval is shorter than {say(k, m.tol)}"
    text = f"bisection of {said}{until}, the middle of the last interval being the root"
    return 0.5 * (lo + hi), text


def _illinois(m: Search, name: str) -> tuple[Expr, str]:
    k, (lo, hi, said) = m.k, _bracket(m)
    f_lo, f_hi = k.let(f"f_{lo.name}", m.f(lo)), k.let(f"f_{hi.name}", m.f(hi))
    x = k.let(name, lo)
    with k.for_("it step", m.limit):
        k.assign(x, (f_lo * hi - f_hi * lo) / (f_lo - f_hi))
        fx = k.let("fx residual", m.f(x))
        m.steps.add()
        m.near(fx)
        with k.if_(fx * f_hi < 0.0):
            k.assign(lo, hi)
            k.assign(f_lo, f_hi)
        with k.else_():
            k.augment(f_lo, "mul", 0.5)
        k.assign(hi, x)
        k.assign(f_hi, fx)
    text = f"the Illinois variant of regula falsi on {said} (the value at the end that stays is "
    return x, f"{text}halved), until |f| is below {say(k, m.tol)}"


def say_start(m: Search, guess: Callable[..., Expr] | None = None) -> str:
    """Where an iteration begins, or another guess, in words."""
    formula = Formula("start", "start", guess or m.equation.start)
    names = {key: _name(m.values[key]) for key in formula.keys}
    return formula.said(names)


def _name(value: Expr) -> str:
    assert isinstance(value, Var)
    return value.name


_MADE = {
    "newton": _newton,
    "halley": _halley,
    "secant": _secant,
    "bisection": _bisection,
    "illinois": _illinois,
}


def _given(s: Site, equation: Equation, type_: Scalar) -> dict[str, Expr]:
    """The equation's values: each thread's own, or parameters."""
    found: dict[str, Expr] = {}
    for key, (names, low, high) in equation.arrays.items():
        found[key] = s.read(names, type_, low, high)
    for n, (key, (names, low, high)) in enumerate(equation.numbers.items()):
        if n == 0 and s.k.draw.shape.chance(0.4):
            found[key] = s.read(plurals(names.split()), type_, low, high)
        else:
            found[key] = s.k.scalar(names, type_, low, high)
    return found


def _held(k: KernelBuilder, key: str, value: Expr) -> Expr:
    """A value in a local where it is each thread's own."""
    names = f"{key} {key}_i" if len(key) > 2 else f"{key}_i"
    return k.let(names, value) if isinstance(value, Load) else value


def _posed(e: Equation, unknown: str, values: dict[str, Expr], told: dict[str, str]) -> str:
    """The equation, for what it is solved, and where its values come from."""
    formula = Formula("f", "f", e.f)
    called = {key: _name(value) for key, value in values.items()}
    spoken = {key: unknown if key == "x" else called[key] for key in formula.keys}
    own = [f"{name} from {told[key]}" for key, name in called.items() if name != told[key]]
    tail = f", with {listed(own)}" if own else ""
    return f"{e.title}, f = {formula.said(spoken)} = 0, for {unknown}{tail}"


def _turns(k: KernelBuilder, fixed: bool, method: str) -> int:
    """How many iterations are made, or are made at most."""
    if not fixed:
        return k.draw.value.choice((10, 15, 20, 30))
    return k.draw.value.choice((10, 12) if method == "bisection" else (4, 5, 6, 7, 8))


@idiom(depth=3)
@with_struct
def root_finding(k: KernelBuilder, level: int) -> Title:
    """Roots by Newton's and Halley's methods, the secant, bisection and the Illinois method."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_EQUATIONS))
    e, method = _EQUATIONS[form], shape.weighted(_METHODS[level])
    if (method == "halley" and e.bend is None) or (method == "secant" and e.second is None):
        method = "newton"
    s = launch(k, list=1)
    loads = _given(s, e, type_)
    unknown = k.draw.word.choice(e.unknown.split())
    out = s.out(f"{unknown}_out roots", type_)
    near = (1e-4, 2e-4) if type_.bits < 64 else (1e-6, 1e-8)
    near = (1e-3, 2e-3) if method == "bisection" else near
    tol: Expr = k.lift(k.draw.value.choice(near), type_)
    fixed = method in ("newton", "halley", "bisection") and shape.chance(0.5)
    limit = k.lift(_turns(k, fixed, method), INT32)
    steps = Also(s, 0.0 if fixed else 0.15 * level, "iterations num_iters")
    told = {key: say(k, value) for key, value in loads.items()}
    values = {key: _held(k, key, value) for key, value in loads.items()}
    steps.start("used its")
    keys = signature(e.f).parameters
    names = f"{form}_residual residual_of"
    params = dict.fromkeys(keys, type_)
    chance = 0.2 * level if e.common is None or method not in ("newton", "halley") else 0.0
    whole = routine(k, chance, names, params, lambda _, *args: e.f(*args))

    def f(x: Expr) -> Expr:
        return whole(*(x if key == "x" else values[key] for key in keys))

    m = Search(s, type_, e, values, f, limit, tol, fixed, steps)
    root, how = _MADE[method](m, unknown)
    k.store(out, s.at, root)
    done = f"Solve {_posed(e, unknown, values, told)}"
    turns_said = f", in {'' if fixed else 'at most '}{say(k, limit)} iterations"
    done += f", by {how}{turns_said if fixed or method != 'bisection' else ''}. "
    done += f"{out.name} gets the root."
    done += steps.told("the number of iterations")
    return Title(k.name(f"{method}_{form} solve_{form}"), done)
