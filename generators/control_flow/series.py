"""Functions by their power series, with a fixed number of terms or until they are small."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, function_of
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

_SERIES: dict[str, tuple[str, tuple[float, float]]] = {
    "exp": ("exp(x) = sum of x^m / m!", (-1.5, 1.5)),
    "sin": ("sin(x) = sum of (-1)^m x^(2m+1) / (2m+1)!", (-2.0, 2.0)),
    "cos": ("cos(x) = sum of (-1)^m x^(2m) / (2m)!", (-2.0, 2.0)),
    "log1p": ("log(1 + x) = sum of (-1)^(m+1) x^m / m", (-0.5, 0.5)),
    "atan": ("atan(x) = sum of (-1)^m x^(2m+1) / (2m+1)", (-0.6, 0.6)),
    "geometric": ("1 / (1 - x) = sum of x^m", (-0.7, 0.7)),
    "bessel": ("J0(x) = sum of (-1)^m (x/2)^(2m) / (m!)^2", (0.2, 3.0)),
}


_BY_ORDER = frozenset({"exp", "sin", "cos", "bessel"})
"""Series whose factor from term to term depends on the order."""


@idiom
@with_struct
def power_series(k: KernelBuilder, level: int) -> Title:
    """A function by its power series, with a fixed number of terms or until they are small."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_SERIES))
    text, (low, high) = _SERIES[form]
    two = level >= 2 and shape.chance(0.3)
    dims = (k.size("h", 6, 9), k.size("w", 6, 9)) if two else (k.size("n", 48, 80),)
    x_in = k.array(("x", "angles", "values"), s, dims, low=low, high=high)
    bounds = (1.2, 1.8) if level >= 2 else (0.4, 0.9)
    gain = k.scalar(("gain", "scale"), s, *bounds) if shape.chance(0.4) else None
    out = k.out(("out", "series", "result"), s, dims)
    stops = level >= 3 and shape.chance(0.7)
    used = also(
        k,
        0.0 if level < 3 else 0.6,
        ("terms_used", "last_term") if stops else ("far_out", "is_large"),
        INT32,
        dims,
    )
    place = k.thread(*dims, names=("i", "j") if two else (k.name("i", "tid"),))
    x = k.let(("x", "t"), x_in[place])
    if gain is not None and level >= 2:
        k.assign(x, fn("clamp", gain * x, low, high))
    elif gain is not None:
        k.assign(x, gain * x)
    terms = k.draw.value.integer(5, 9)
    term, total = _first_term(k, form, x, s)
    shape_of_loop = (
        shape.choice(("while", "for")) if stops else shape.choice(("for", "for", "while"))
    )
    factor = function_of(
        k,
        level,
        ("next_factor", "term_ratio", f"{form}_factor"),
        [("x", s), ("m", s)],
        lambda _, u, order: _next(form, u, order, u)[0],
        0.5 if form in _BY_ORDER else 0.0,
    )
    m = _loop(k, shape_of_loop, form, (x, term, total), terms, stops, factor)
    k.store(out, place, total)
    done = f"Evaluate {text} for x = {x_in.name}"
    if gain is not None:
        done += f" times {gain.name}" + (f", clamped to [{low}, {high}]" if level >= 2 else "")
    done += (
        f", with {terms} terms after the first"
        if not stops
        else f", until a term is below 0.001, {terms} after the first at most"
    )
    if used is not None and m is not None:
        k.store(used, place, m)
        done += f"; the number of the last term goes to {used.name}"
    elif used is not None:
        k.store(used, place, cast(fn("abs", x) > 0.5 * high, INT32))
        done += f"; {used.name} is 1 where |x| is above {0.5 * high}, else 0"
    return Title(k.name(f"{form}_series", f"taylor_{form}", "power_series"), f"{done}.")


def _first_term(k: KernelBuilder, form: str, x: Var, s: Scalar) -> tuple[Var, Var]:
    one = form in ("exp", "cos", "geometric", "bessel")
    first: Expr = k.lift(1.0, s) if one else x
    term = k.let(("term", "power"), first)
    total = k.let(("total", "acc", "series_sum"), term if k.draw.shape.chance(0.5) else first)
    return term, total


def _next(form: str, x: Expr, m: Expr, term: Expr) -> tuple[Expr, Expr]:
    """The factor from one term to the next (or to the next power), and what is added."""
    if form == "exp":
        return x / m, term
    if form == "sin":
        return -(x * x) / ((2.0 * m) * (2.0 * m + 1.0)), term
    if form == "cos":
        return -(x * x) / ((2.0 * m - 1.0) * (2.0 * m)), term
    if form == "log1p":
        return -x, term / (m + 1.0)
    if form == "atan":
        return -(x * x), term / (2.0 * m + 1.0)
    if form == "bessel":
        return -(x * x) / (4.0 * m * m), term
    return x, term


def _loop(
    k: KernelBuilder,
    loop: str,
    form: str,
    parts: tuple[Var, Var, Var],
    terms: int,
    stops: bool,
    factor: Callable[..., Expr],
) -> Expr | None:
    """The loop; gives the number of its last term where that can be told."""
    x, term, _ = parts
    s = x.type
    assert isinstance(s, Scalar)
    if loop == "while":
        m = k.let(("m", "order"), k.lift(1, INT32))
        going: Expr = m <= terms
        if stops:
            going = op("and", going, fn("abs", term) > 0.001)
        with k.while_(going):
            _advance(k, form, factor, parts, cast(m, s))
            k.augment(m, "add", 1)
        return m - 1
    last = k.let(("last", "order_used"), k.lift(0, INT32)) if stops else None
    with k.for_(("m", "order"), terms + 1, start=1) as m:
        _advance(k, form, factor, parts, cast(m, s))
        if last is not None:
            k.assign(last, m)
            with k.if_(fn("abs", term) < 0.001):
                k.break_()
    return last


def _advance(
    k: KernelBuilder, form: str, factor: Callable[..., Expr], parts: tuple[Var, Var, Var], m: Expr
) -> None:
    x, term, total = parts
    k.augment(term, "mul", factor(x, m))
    k.augment(total, "add", _next(form, x, m, term)[1])
