"""Polynomials by several schemes, with derivative, as quotients; series of orthogonal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.arithmetic.common import total
from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.naming import maybe
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, scalar_of
from generators.program.expr import Const, Expr, Operand, Var, literal


@idiom(depth=2)
def polynomial(k: KernelBuilder, level: int) -> Title:
    """A polynomial at every element: Horner, Estrin, powers; value, derivative, quotient."""
    f = k.draw.wide_float_type()
    s = launch(k, list=3, grid=3)
    subject = k.draw.shape.choice(_SUBJECTS)
    x = s.read(subject.at, f, -1.2, 1.2)
    v, where = _argument(s, level, x)
    p, text = _written_out(s, v)
    out = s.put(subject.out, p)
    done = f"{subject.said}: set {out.name} to {text} at {where}."
    return Title(k.name(subject.title), done)


@dataclass(frozen=True)
class Subject:
    """What a polynomial is a model of: kernel names, its argument, its value, an introduction."""

    title: str
    at: str
    out: str
    said: str


_SUBJECTS = (
    Subject("evaluate_polynomial polyval", "x points", "values results", "Evaluate a polynomial"),
    Subject(
        "calibration_curve calibrate_sensor",
        "raw readings",
        "calibrated corrected",
        "Apply the calibration curve of a sensor",
    ),
    Subject(
        "temperature_drift drift_model",
        "temperature temps",
        "drift bias",
        "Drift of a sensor as a polynomial of its temperature",
    ),
    Subject(
        "trend_line polynomial_trend",
        "t times",
        "trend fitted",
        "Evaluate a fitted polynomial trend",
    ),
    Subject(
        "pump_curve efficiency_curve",
        "flow_rates speeds",
        "heads efficiency",
        "Characteristic curve of a pump as a fitted polynomial",
    ),
)


def _argument(s: Site, level: int, x: Expr) -> tuple[Var, str]:
    """What a polynomial is evaluated at: the element, shifted and scaled, or clamped."""
    k, f, value = s.k, scalar_of(x.type), x
    form = k.draw.shape.choice(("plain", "shifted", "scaled", "unit") if level > 1 else ("plain",))
    if form == "unit":
        low = k.scalar("x_min fit_min", f, -1.6, -1.3)
        value = (x - low) / (k.scalar("x_max fit_max", f, 1.3, 1.6) - low)
    elif form != "plain":
        value = x - k.scalar("center x0", f, -0.5, 0.5)
        if form == "scaled":
            value = value * k.scalar("inv_width inv_scale", f, 0.5, 1.0)
    return k.let("s z", value), f"s = {say(k, value)}"


def _coefficients(s: Site, count: int, f: Scalar) -> list[Expr]:
    """So many coefficients, the constant one first."""
    k = s.k
    form = k.draw.shape.choice(("scalars", "array", "array", "rows"))
    if form == "scalars":
        return [k.scalar([f"c{m}"], f, 0.2, 2.0) for m in range(count)]
    rows = form == "rows" and s.rank > 1
    shape = (s.dims[0], str(count)) if rows else (str(count),)
    table = k.array("coeffs poly", f, shape, low=-1.5, high=1.5)
    return [table[(s.at[0], m) if rows else m] for m in range(count)]


def _written_out(s: Site, v: Var) -> tuple[Expr, str]:
    """A polynomial of degree 2 to 4 without a loop; and what it is."""
    k = s.k
    values = _coefficients(s, k.draw.shape.integer(3, 5), scalar_of(v.type))
    names = [say(k, value) for value in values]

    def told(step: int) -> str:
        powers = [f" * s^{step * m}" if step * m > 1 else " * s" for m in range(1, len(names))]
        return " + ".join(name + power for name, power in zip(names, ("", *powers), strict=True))

    scheme = k.draw.shape.choice(("nested", "steps", "estrin", "powers", "even"))
    if scheme == "nested":
        return _nested(values, v), told(1)
    if scheme == "steps":
        p = k.let("p acc poly", values[-1] * v + values[-2])
        for c in reversed(values[:-2]):
            k.assign(p, p * v + c)
        return p, told(1)
    square = k.let("s2 sq square", v * v)
    if scheme == "even":
        even = _nested(values, square)
        odd = k.draw.shape.chance(0.5)
        return (v * even if odd else even), f"s * ({told(2)})" if odd else told(2)
    if scheme == "estrin":
        low = maybe(k, "low p01", values[0] + values[1] * v)
        high = values[2] + values[3] * v if len(values) > 3 else values[2]
        high = maybe(k, "high p23", high)
        if len(values) > 4:
            high = high + square * values[4]
        return low + square * high, told(1)
    terms, power = [values[0], values[1] * v, values[2] * square], square
    for m, c in enumerate(values[3:], start=3):
        power = k.let(f"s{m} pow{m}", power * v)
        terms.append(c * power)
    return total(terms), told(1)


def _nested(values: Sequence[Expr], x: Expr) -> Expr:
    p = values[-1]
    for c in reversed(values[:-1]):
        p = c + x * p
    return p


def _table(
    s: Site, names: str, f: Scalar, counts: str, short: bool
) -> tuple[Callable[[Operand], Expr], Expr, str]:
    """Coefficients in an array, shared or by row: how to read one, how many, and their text.

    ``short`` series have a few terms, as many as the kernel says.
    """
    k = s.k
    few = k.draw.shape.integer(4, 6)
    m = str(few) if short else k.size("terms", 4, 6, minimum=2)
    rows = s.rank > 1 and k.draw.shape.chance(0.5)
    table = k.array(names, f, (s.dims[0], m) if rows else (m,), low=0.1, high=1.2)
    count = k.lift(few, INT32) if short else k.trip_count(counts, m)
    text = f"{table.name}[{say(k, s.at[0])}]" if rows else table.name
    return lambda q: table[(s.at[0], q) if rows else q], count, text


@dataclass(frozen=True)
class Family:
    """Orthogonal polynomials: kernel names, what they are called, names and range of what they are
    evaluated at, the factor of the second one, and how each follows from the two before it."""

    title: str
    said: str
    at: str
    reach: float
    first: float
    rule: Formula


_FAMILIES = (
    Family(
        "chebyshev_series chebyshev_sum",
        "Chebyshev polynomials of the first kind",
        "x nodes",
        0.95,
        1.0,
        Formula("chebyshev", "", lambda x, near, far: 2.0 * x * near - far),
    ),
    Family(
        "chebyshev_u_series second_kind_sum",
        "Chebyshev polynomials of the second kind",
        "x nodes",
        0.95,
        2.0,
        Formula("second_kind", "", lambda x, near, far: 2.0 * x * near - far),
    ),
    Family(
        "legendre_series legendre_expansion",
        "Legendre polynomials",
        "cos_theta x",
        0.95,
        1.0,
        Formula(
            "legendre",
            "",
            lambda n, x, near, far: ((2.0 * n - 1.0) * x * near - (n - 1.0) * far) / n,
        ),
    ),
    Family(
        "hermite_series gram_charlier_sum",
        "probabilists' Hermite polynomials",
        "z scores",
        1.8,
        1.0,
        Formula("hermite", "", lambda n, x, near, far: x * near - (n - 1.0) * far),
    ),
)


@idiom(depth=1)
def orthogonal_series(k: KernelBuilder, level: int) -> Title:
    """Sums over a three-term recurrence: Chebyshev, Legendre, Hermite polynomials."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=3, grid=3)
    family = shape.choice(_FAMILIES)
    read = s.read(family.at, f, -family.reach, family.reach)
    x = k.let("xi arg", read)
    # Hermite polynomials of high degree are too large for sums of floats.
    short = family.said.endswith("Hermite polynomials")
    entry, count, coefs = _table(s, "coeffs modes", f, "num_terms num_coeffs", short)
    called = (("p_prev", "p_here", "p_next"), ("before", "now", "after"))
    last, this, coming = k.draw.word.choice(called)
    far = k.let([last], literal(1.0, f))
    near = k.let([this], x if family.first == 1.0 else family.first * x)
    sums = k.let("total series_sum", entry(0) * far + entry(1) * near)
    with k.for_("n deg", count, 2) as n:
        degree = (k.let("nf degree", cast(n, f)),) if "n" in family.rule.keys else ()
        following = k.let([coming], family.rule.build(k, *degree, x, near, far))
        k.augment(sums, "add", entry(n) * following)
        k.assign(far, near)
        k.assign(near, following)
    rule = family.rule.said({"n": "n", "x": "x", "near": "P[n-1]", "far": "P[n-2]"})
    out = s.put("series sums", sums)
    terms = f" ({count.value} terms)" if isinstance(count, Const) else ""
    done = f"Sum a series of {family.said}{terms}: set {out.name} to the sum of {coefs}[n] * P[n], "
    done += f"where {'' if say(k, read) == 'x' else f'x is {say(k, read)}, '}P[0] = 1, P[1] = "
    done += f"{'x' if family.first == 1.0 else '2 * x'}, and P[n] = {rule}."
    return Title(k.name(family.title), done)
