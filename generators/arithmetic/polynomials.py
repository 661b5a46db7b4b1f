"""Polynomials: their value by several schemes, with derivative, as quotients, by pieces."""

from __future__ import annotations

from generators.arithmetic.parts import (
    Given,
    Grid,
    coefficient,
    condition,
    elements,
    grid,
    local,
    named,
    parameters,
    store_where,
    total,
)
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import constant, helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, literal

_ARGUMENTS = ("x", "t", "temperature", "u", "radius")
_OUTPUTS = ("out", "values", "result", "p")
_KERNELS = ("evaluate_polynomial", "polynomial", "polyval", "calibration_curve")


@idiom
def polynomial(k: KernelBuilder, level: int) -> Title:
    """A polynomial at every element: Horner, Estrin, powers; value, derivative, quotient."""
    type_ = k.draw.wide_float_type()
    g = grid(k, {1: 3, 2: 3, 3: 1})
    (x,) = elements(k, [(_ARGUMENTS, type_, -1.2, 1.2)], g, "Sample", 0.0)
    out = k.out(_OUTPUTS, type_, g.sizes)
    value, where = argument(k, level, x, g, type_)
    if level < 3:
        p, text = _written_out(k, value, g, type_)
        done = f"Evaluate {text} at {where}."
    else:
        p, done = _by_loop(k, level, value, where, g, type_)
    if level == 5:
        p, more = _finished(k, p, x, g, type_)
        done += more
    if level in (2, 4) and k.draw.shape.chance(0.45):
        test = condition(k, g)
        store_where(k, out, g, test.value, p, x.value)
        done += f" Where {test.text}, store that in {out.name}, elsewhere {x.text}."
    else:
        k.store(out, g.at, p)
        done += f" Store that in {out.name}."
    return Title(k.name(*_KERNELS), done)


def argument(k: KernelBuilder, level: int, x: Given, g: Grid, type_: Scalar) -> tuple[Expr, str]:
    """What the polynomial is evaluated at: the element, shifted and scaled, or clamped."""
    names = "s z v"
    form = k.draw.shape.choice(("plain", "shifted", "scaled", "clamped", "unit"))
    if form == "plain" or level == 1:
        return k.let(names, x.value), f"s = {x.text}"
    if form == "clamped":
        limit = k.scalar("limit max_arg", type_, 0.5, 0.85)
        return k.let(names, fn("clamp", x.value, -limit, limit)), (
            f"s = {x.text} clamped to [-{limit.name}, {limit.name}]"
        )
    if form == "unit":
        low, high = parameters(
            k, [("lo x_min", type_, -1.6, -1.3), ("hi x_max", type_, 1.3, 1.6)], "Span"
        )
        text = f"s = ({x.text} - {low.text}) / ({high.text} - {low.text})"
        return k.let(names, (x.value - low.value) / (high.value - low.value)), text
    centre = coefficient(k, "center x0 origin", type_, -0.5, 0.5, g, "sec")
    if form == "shifted":
        return k.let(names, x.value - centre.value), f"s = {x.text} - {centre.text}"
    scale = k.scalar("scale inv_width", type_, 0.5, 1.0)
    text = f"s = {scale.name} * ({x.text} - {centre.text})"
    return k.let(names, scale * (x.value - centre.value)), text


def _coefficients(k: KernelBuilder, count: int, g: Grid, type_: Scalar) -> list[Given]:
    """``count`` coefficients, the constant one first."""
    form = k.draw.shape.choice(("scalars", "literals", "array", "rows", "fields"))
    if form == "literals":
        numbers = [
            constant(k, 0.2, 2.0) * (-1 if k.draw.value.chance(0.4) else 1) for _ in range(count)
        ]
        return [Given(literal(c, type_), str(c)) for c in numbers]
    if form in ("scalars", "fields"):
        letters = k.draw.word.choice(("abcde", ("c0", "c1", "c2", "c3", "c4")))
        wanted = [((letters[m],), type_, 0.2, 2.0) for m in range(count)]
        return parameters(k, wanted, "Coeffs Poly", 1.0 if form == "fields" else 0.0)
    names = "coeffs coef weights"
    if form == "array" or g.ndim == 1:
        table = k.array(names, type_, str(count), low=-1.5, high=1.5)
        return [Given(table[m], f"{table.name}[{m}]") for m in range(count)]
    table = k.array(names, type_, (g.sizes[0], str(count)), low=-1.5, high=1.5)
    row = g.at[0]
    return [Given(table[row, m], f"{table.name}[{row.name}, {m}]") for m in range(count)]


def _written_out(k: KernelBuilder, s: Expr, g: Grid, type_: Scalar) -> tuple[Expr, str]:
    """A polynomial of degree 2 to 4 without a loop; and what it is."""
    degree = k.draw.shape.integer(2, 4)
    cs = _coefficients(k, degree + 1, g, type_)
    powers = [" * s" if m == 1 else f" * s^{m}" if m else "" for m in range(degree + 1)]
    text = " + ".join(f"{c.text}{power}" for c, power in zip(cs, powers, strict=True))
    scheme = k.draw.shape.choice(("nested", "steps", "estrin", "powers", "even"))
    values = [c.value for c in cs]
    if scheme == "nested":
        return _nested(values, s), text
    if scheme == "steps":
        p = k.let("p acc poly", values[-1] * s + values[-2])
        for c in reversed(values[:-2]):
            k.assign(p, p * s + c)
        return p, text
    square = k.let("s2 sq square", s * s)
    if scheme == "estrin":
        return _estrin(k, values, s, square), text
    if scheme == "even":
        shown = [f"{c.text} * s^{2 * m}" if m else c.text for m, c in enumerate(cs)]
        odd = k.draw.shape.chance(0.5)
        even = _nested(values, square)
        return (s * even if odd else even), ("s * " if odd else "") + f"({' + '.join(shown)})"
    terms, power = [values[0], values[1] * s, values[2] * square], square
    for m, c in enumerate(values[3:], start=3):
        power = k.let(f"s{m} pow{m}", power * s)
        terms.append(c * power)
    return total(terms), text


def _nested(values: list[Expr], s: Expr) -> Expr:
    p = values[-1]
    for c in reversed(values[:-1]):
        p = c + s * p
    return p


def _estrin(k: KernelBuilder, values: list[Expr], s: Expr, square: Expr) -> Expr:
    low = named(k, "low p01", values[0] + values[1] * s)
    high = values[2] + values[3] * s if len(values) > 3 else values[2]
    high = named(k, "high p23", high)
    if len(values) > 4:
        high = high + square * values[4]
    return low + square * high


def _by_loop(
    k: KernelBuilder, level: int, s: Expr, where: str, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    """Horner's rule over an array of coefficients, at higher levels with derivatives."""
    shape = k.draw.shape
    m = k.size("m", 3, 5, minimum=2)
    rows = g.ndim > 1 and shape.chance(0.5)
    axes = (g.sizes[0], m) if rows else (m,)
    table = k.array("coeffs coef c", type_, axes, low=-1.2, high=1.2)
    ascending = shape.chance(0.5)
    derivative = level >= 4 or shape.chance(0.3)
    count = k.trip_count("m num_coeffs order", m)

    def at(index: Expr) -> Expr:
        return table[(g.at[0], index) if rows else index]

    p = k.let("p acc poly", literal(0.0, type_))
    dp = k.let("dp slope deriv", literal(0.0, type_)) if derivative else None
    with k.for_("q m_i term", count) as q:
        coef = at(count - 1 - q if ascending else q)
        if dp is not None:
            k.assign(dp, dp * s + p)
        k.assign(p, p * s + named(k, "coef_q c_q", coef, 0.3))
    order = "constant term first" if ascending else "highest power first"
    of = f"{table.name}[{g.at[0].name}]" if rows else table.name
    done = f"Evaluate by Horner's rule the polynomial with coefficients {of} ({order}) at {where}"
    if dp is None:
        return p, done + "."
    slope = k.out("slope_out derivative gradient", type_, g.sizes)
    k.store(slope, g.at, dp)
    return p, f"{done}, and in the same loop its derivative by s, stored in {slope.name}."


def _finished(k: KernelBuilder, p: Expr, x: Given, g: Grid, type_: Scalar) -> tuple[Expr, str]:
    """Over a second polynomial, or a correction beyond the range of the fit."""
    form = k.draw.shape.choice(("quotient", "limits", "blend"))
    top, bottom = k.draw.value.constant(0.3, 0.9), k.draw.value.constant(0.1, 0.6)

    def build(body: BodyBuilder, v: Expr) -> Expr:
        square = local(body, "v2 sq", v * v)
        return 1.0 + square * (float(top) + float(bottom) * square)

    if form == "quotient":
        name = helper(k, "denominator even_part bottom", [("v", type_)], build)
        text = f" Divide it by 1 + v^2 * ({top} + {bottom} * v^2) with v = {x.text}."
        return p / k.call(name, x.value), text
    low, high = parameters(
        k,
        [("lower valid_min", type_, -0.9, -0.5), ("upper valid_max", type_, 0.5, 0.9)],
        "Range Validity",
        0.6,
    )
    result = k.let("result corrected", p)
    if form == "limits":
        with k.if_(x.value < low.value):
            k.augment(result, "sub", low.value - x.value)
        with k.elif_(x.value > high.value):
            k.augment(result, "add", x.value - high.value)
        text = f" Where {x.text} is below {low.text}, subtract {low.text} - {x.text}; where it is "
        return result, f"{text}above {high.text}, add {x.text} - {high.text}."
    flat = k.scalar("background fallback", type_, -1.0, 1.0)
    inside = fn("and", low.value < x.value, x.value < high.value)
    with k.if_(fn("not", inside)):
        share = float(k.draw.value.constant(0.2, 0.8))
        k.assign(result, fn("lerp", result, flat, share))
    text = f" Where {x.text} is not between {low.text} and {high.text}, blend it with {flat.name}"
    return result, f"{text}, whose share is {share}."
