"""Polynomials by several schemes, with derivative, as quotients; series of orthogonal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.arithmetic.common import stored, total
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import clamp
from generators.kit.naming import helper, maybe, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import constant, given
from generators.kit.words import say
from generators.program.dtypes import Scalar, scalar_of
from generators.program.expr import Expr, Operand, Var, literal


@idiom(depth=2)
def polynomial(k: KernelBuilder, level: int) -> Title:
    """A polynomial at every element: Horner, Estrin, powers; value, derivative, quotient."""
    f = k.draw.wide_float_type()
    s = launch(k, list=3, grid=3, cube=1)
    x = s.read("x t temperature u radius", f, -1.2, 1.2)
    v, where = _argument(s, level, x)
    if level < 3:
        p, text = _written_out(s, v)
        done = f"Evaluate {text} at {where}."
    else:
        p, done = _by_loop(s, level, v, where)
    if level == 5:
        p, more = _corrected(s, p, x)
        done += more
    done += stored(s, "out values result p", p)
    return Title(k.name("evaluate_polynomial polynomial polyval calibration_curve"), done)


def _argument(s: Site, level: int, x: Expr) -> tuple[Var, str]:
    """What a polynomial is evaluated at: the element, shifted and scaled, or clamped."""
    k, f, value = s.k, scalar_of(x.type), x
    form = k.draw.shape.choice(("plain", "shifted", "scaled", "clamped", "unit"))
    if level > 1 and form == "clamped":
        limit = k.scalar("limit max_arg", f, 0.5, 0.85)
        value = clamp(x, -limit, limit)
    elif level > 1 and form == "unit":
        parts = {"low": Part("lo x_min", f, -1.6, -1.3), "high": Part("hi x_max", f, 1.3, 1.6)}
        r = record(s, "Span", parts, shared=True)
        value = (x - r["low"]) / (r["high"] - r["low"])
    elif level > 1 and form != "plain":
        ways = {"shared": 1, "each": 1, "axis": 1, "literal": 1}
        value = x - given(s, "center x0 origin", f, -0.5, 0.5, forms=ways)
        if form == "scaled":
            value = k.scalar("scale inv_width", f, 0.5, 1.0) * value
    return k.let("s z v", value), f"s = {say(k, value)}"


def _coefficients(s: Site, count: int, f: Scalar) -> list[Expr]:
    """So many coefficients, the constant one first."""
    k = s.k
    form = k.draw.shape.choice(("scalars", "literals", "array", "rows", "fields"))
    if form == "literals":
        sizes = [constant(k, 0.2, 2.0) for _ in range(count)]
        return [literal(-size if k.draw.value.chance(0.4) else size, f) for size in sizes]
    if form in ("scalars", "fields"):
        letters = k.draw.word.choice(("abcde", ("c0", "c1", "c2", "c3", "c4")))
        parts = {letter: Part(letter, f, 0.2, 2.0) for letter in letters[:count]}
        struct = 1.0 if form == "fields" else 0.0
        return list(record(s, "Coeffs Poly", parts, struct, shared=True).values.values())
    rows = form == "rows" and s.rank > 1
    shape = (s.dims[0], str(count)) if rows else (str(count),)
    table = k.array("coeffs coef weights", f, shape, low=-1.5, high=1.5)
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
        return (v * even if odd else even), f"{'s * ' if odd else ''}({told(2)})"
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
    s: Site, names: str, f: Scalar, counts: str
) -> tuple[Callable[[Operand], Expr], Expr, str]:
    """Coefficients in an array, shared or by row: how to read one, how many, and their text."""
    k = s.k
    m = k.size("m", 4, 6, minimum=2)
    rows = s.rank > 1 and k.draw.shape.chance(0.5)
    table = k.array(names, f, (s.dims[0], m) if rows else (m,), low=-1.2, high=1.2)
    count = k.trip_count(counts, m)
    text = f"{table.name}[{say(k, s.at[0])}]" if rows else table.name
    return lambda q: table[(s.at[0], q) if rows else q], count, text


def _by_loop(s: Site, level: int, v: Var, where: str) -> tuple[Expr, str]:
    """Horner's rule over an array of coefficients, at higher levels with derivatives."""
    k, f = s.k, scalar_of(v.type)
    entry, count, text = _table(s, "coeffs coef c", f, "m num_coeffs order")
    ascending = k.draw.shape.chance(0.5)
    derivative = level >= 4 or k.draw.shape.chance(0.3)
    p = k.let("p acc poly", literal(0.0, f))
    dp = k.let("dp slope deriv", literal(0.0, f)) if derivative else None
    with k.for_("q m_i term", count) as q:
        if dp is not None:
            k.assign(dp, dp * v + p)
        k.assign(p, p * v + maybe(k, "coef_q c_q", entry(count - 1 - q if ascending else q), 0.3))
    order = "constant term first" if ascending else "highest power first"
    done = f"Evaluate by Horner's rule the polynomial with coefficients {text} ({order}) at {where}"
    if dp is None:
        return p, f"{done}."
    slope = s.put("slope_out derivative gradient", dp)
    return p, f"{done}, and in the same loop its derivative by s, stored in {slope.name}."


def _corrected(s: Site, p: Expr, x: Expr) -> tuple[Expr, str]:
    """Over a second polynomial, or a correction beyond the range of the fit."""
    k, f, text = s.k, scalar_of(x.type), say(s.k, x)
    form = k.draw.shape.choice(("quotient", "limits", "blend"))
    if form == "quotient":
        top, bottom = constant(k, 0.3, 0.9), constant(k, 0.1, 0.6)

        def build(body: BodyBuilder, v: Expr) -> Expr:
            square = body.let("v2 sq", v * v)
            return 1.0 + square * (top + bottom * square)

        name = helper(k, "denominator even_part bottom", [("v", f)], build)
        told = f" Divide it by 1 + v^2 * ({top} + {bottom} * v^2) with v = {text}."
        return p / k.call(name, x), told
    parts = {
        "low": Part("lower valid_min", f, -0.9, -0.5),
        "high": Part("upper valid_max", f, 0.5, 0.9),
    }
    r = record(s, "Range Validity", parts, 0.6, shared=True)
    low, high = r.say("low"), r.say("high")
    result = k.let("result corrected", p)
    if form == "limits":
        with k.if_(x < r["low"]):
            k.augment(result, "sub", r["low"] - x)
        with k.elif_(x > r["high"]):
            k.augment(result, "add", x - r["high"])
        told = f" Where {text} is below {low}, subtract {low} - {text}; where it is above {high}, "
        return result, f"{told}add {text} - {high}."
    flat = k.scalar("background fallback", f, -1.0, 1.0)
    share = constant(k, 0.2, 0.8)
    with k.if_(fn("not", fn("and", r["low"] < x, x < r["high"]))):
        k.assign(result, fn("lerp", result, flat, share))
    told = f" Where {text} is not between {low} and {high}, blend it with {flat.name}"
    return result, f"{told}, whose share is {share}."


_RECURRENCES: tuple[Formula, ...] = formulas(
    chebyshev=("chebyshev_series clenshaw_chebyshev", lambda x, near, far: 2.0 * x * near - far),
    second_kind=(
        "chebyshev_u_series chebyshev_second_kind",
        lambda x, near, far: 2.0 * x * near - far,
    ),
    legendre=(
        "legendre_series legendre_expansion",
        lambda n, x, near, far: ((2.0 * n - 1.0) * x * near - (n - 1.0) * far) / n,
    ),
    hermite=("hermite_series gram_charlier", lambda n, x, near, far: x * near - (n - 1.0) * far),
)
"""How a polynomial follows from the two before it, and from its order where that counts."""


@idiom(depth=1)
def orthogonal_series(k: KernelBuilder, level: int) -> Title:
    """Sums over a three-term recurrence: Chebyshev, Legendre, Hermite polynomials."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=3, grid=3)
    family = shape.choice(_RECURRENCES)
    first = 2.0 if family.name == "second_kind" else 1.0
    x = s.read("x cos_theta nodes", f, -0.95, 0.95)
    v, where = _argument(s, level, x)
    entry, count, coefs = _table(s, "coeffs modes a", f, "m num_modes terms")
    params, chance = dict.fromkeys(family.keys, f), 0.6 if level >= 3 else 0.0
    step = routine(k, chance, "next_term three_term recurrence", params, family.build)
    far = k.let("t_prev p0 before", literal(1.0, f))
    near = k.let("t_here p1 now", v if first == 1.0 else first * v)
    sums = k.let("total acc series_sum", entry(0) * far + entry(1) * near)
    squares = k.let("square_sum sq_sum", near * near) if level >= 4 else None
    order = k.let("order nf", literal(2.0, f)) if "n" in family.keys else None
    with k.for_("n deg", count, 2) as n:
        coef = k.let("coef c_n mode", entry(n))
        needed = (v, near, far) if order is None else (order, v, near, far)
        following = k.let("t_next p2 after", step(*needed))
        k.augment(sums, "add", coef * following)
        if squares is not None:
            k.augment(squares, "add", following * following)
        if order is not None:
            k.augment(order, "add", 1.0)
        k.assign(far, near)
        k.assign(near, following)
    rule = family.said({"n": "n", "x": "s", "near": "T[n-1]", "far": "T[n-2]"})
    done = f"At {where}, sum {coefs}[n] * T[n] where T[0] = 1, T[1] = "
    done += f"{'s' if first == 1.0 else '2 * s'} and T[n] = {rule}."
    if squares is not None:
        norm = s.put("sq_norm norms squares_out", squares)
        done += f" {norm.name} gets the sum of T[n]^2 over n from 1."
    done += deliver(s, level, "series out sums", sums, last=True)
    return Title(k.name(family.outs), done)
