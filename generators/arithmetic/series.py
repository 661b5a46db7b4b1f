"""Series in polynomials that a three-term recurrence gives."""

from __future__ import annotations

from generators.arithmetic.parts import (
    Grid,
    coefficient,
    condition,
    elements,
    grid,
    local,
    store_where,
)
from generators.arithmetic.polynomials import argument
from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var, literal

_FAMILIES = {
    "chebyshev": (("chebyshev_series", "clenshaw_chebyshev"), "2 * s * T[n-1] - T[n-2]", 1.0),
    "second": (("chebyshev_u_series", "chebyshev_second_kind"), "2 * s * T[n-1] - T[n-2]", 2.0),
    "legendre": (
        ("legendre_series", "legendre_expansion"),
        "((2n - 1) * s * T[n-1] - (n - 1) * T[n-2]) / n",
        1.0,
    ),
    "hermite": (("hermite_series", "gram_charlier"), "s * T[n-1] - (n - 1) * T[n-2]", 1.0),
    "fibonacci": (("fibonacci_polynomials", "fibonacci_series"), "s * T[n-1] + T[n-2]", 1.0),
}


_BY_ORDER = frozenset({"legendre", "hermite"})


@idiom
def orthogonal_series(k: KernelBuilder, level: int) -> Title:
    """Sums over a three-term recurrence: Chebyshev, Legendre, Hermite, Fibonacci polynomials."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    g = grid(k, {1: 3, 2: 3})
    family = shape.choice(sorted(_FAMILIES))
    names, rule, first = _FAMILIES[family]
    (x,) = elements(k, [("x cos_theta nodes", type_, -0.95, 0.95)], g, "Node", 0.0)
    out = k.out("series out sums", type_, g.sizes)
    value, where = argument(k, level, x, g, type_)
    m = k.size("m", 3, 5, minimum=2)
    rows = g.ndim > 1 and shape.chance(0.5)
    sizes = (g.sizes[0], m) if rows else (m,)
    table = k.array("coeffs modes a", type_, sizes, low=-1.0, high=1.0)
    count = k.trip_count("m num_modes terms", m)

    def at(index: Expr | int) -> Expr:
        return table[(g.at[0], index) if rows else index]

    helped = level >= 3 and shape.chance(0.6)
    call = _recurrence_helper(k, family, type_) if helped else ""
    older = k.let("t_prev p0 before", literal(1.0, type_))
    newer = k.let("t_here p1 now", value if first == 1.0 else first * value)
    total_ = k.let("total acc series_sum", at(0) * older + at(1) * newer)
    squares = _Squares(k, type_, newer, first) if level >= 4 else None
    counter = None
    if family in _BY_ORDER:
        counter = k.let("order nf", literal(2.0, type_))
    with k.for_("n deg", count, 2) as n:
        coef: Expr = k.let("coef c_n mode", at(n))
        order: Expr = counter if counter is not None else literal(0.0, type_)
        if call:
            needed = (value, newer, older)
            following: Expr = k.call(call, *((order, *needed) if family in _BY_ORDER else needed))
        else:
            following = _recurrence(family, order, value, newer, older)
        nxt = k.let("t_next p2 after", following)
        k.augment(total_, "add", coef * nxt)
        if squares is not None:
            squares.step(nxt)
        if counter is not None:
            k.augment(counter, "add", 1.0)
        k.assign(older, newer)
        k.assign(newer, nxt)
    of = f"{table.name}[{g.at[0].name}]" if rows else table.name
    start = "s" if first == 1.0 else "2 * s"
    done = f"At {where}, sum {of}[n] * T[n] where T[0] = 1, T[1] = {start} and T[n] = {rule}."
    done += _outputs(k, level, g, total_, squares, out, type_)
    return Title(k.name(*names), done)


def _recurrence(family: str, n: Expr, s: Expr, newer: Expr, older: Expr) -> Expr:
    if family in ("chebyshev", "second"):
        return 2.0 * s * newer - older
    if family == "legendre":
        return ((2.0 * n - 1.0) * s * newer - (n - 1.0) * older) / n
    if family == "hermite":
        return s * newer - (n - 1.0) * older
    return s * newer + older


def _recurrence_helper(k: KernelBuilder, family: str, type_: Scalar) -> str:
    params = [(n, type_) for n in ("s", "newer", "older")]
    if family in _BY_ORDER:
        params = [("order", type_), *params]

    def build(_: BodyBuilder, *args: Expr) -> Expr:
        return _recurrence(family, *(args if len(args) == 4 else (args[0], *args)))

    return helper(k, "next_term three_term recurrence", params, build)


class _Squares:
    """The squares of the polynomials, added up beside the sum."""

    def __init__(self, k: KernelBuilder, type_: Scalar, newer: Expr, first: float) -> None:
        self.k = k
        self.total = k.let("square_sum sq_sum", newer * newer)

    def step(self, term: Expr) -> None:
        self.k.augment(self.total, "add", term * term)


def _outputs(
    k: KernelBuilder,
    level: int,
    g: Grid,
    total_: Expr,
    squares: _Squares | None,
    out: Var,
    type_: Scalar,
) -> str:
    done = ""
    value = total_
    if squares is not None:
        norm = k.out("sq_norm norms squares_out", type_, g.sizes)
        k.store(norm, g.at, squares.total)
        done = f" {norm.name} gets the sum of T[n]^2 over n from 1."
    if k.draw.shape.chance(0.5):
        gain = coefficient(k, "gain window amplitude", type_, 0.5, 1.5, g, "sec")
        value, done = gain.value * value, f"{done} The sum is multiplied by {gain.text}."
    if level >= 3 and k.draw.shape.chance(0.5):
        test = condition(k, g)
        value = local(k, "weighted scaled_sum", value)
        store_where(k, out, g, test.value, value, 0.0)
        return f"{done} {out.name} gets it where {test.text}, else zero."
    k.store(out, g.at, value)
    return f"{done} Store it in {out.name}."
