"""Iterative methods: power series, and roots of equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, both, branch, counter, move
from generators.control_flow.params import with_struct
from generators.kit.formulas import Formula
from generators.kit.functions import clamp, cos, exp, log, sin
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, launch
from generators.kit.sources import setting
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, literal


@dataclass(frozen=True)
class Series:
    """A series, the range of x, the factor from term to term, and what is added of a term."""

    text: str
    span: tuple[float, float]
    factor: Callable[[Expr, Expr], Expr]
    added: Callable[[Expr, Expr], Expr] = lambda term, m: term
    odd: bool = False
    """Whether it begins with x, else with 1."""
    by_order: bool = True
    """Whether the factor depends on the order."""


_SERIES = {
    "exp": Series("exp(x) = sum of x^m / m!", (-1.5, 1.5), lambda x, m: x / m),
    "sin": Series(
        "sin(x) = sum of (-1)^m x^(2m+1) / (2m+1)!",
        (-2.0, 2.0),
        lambda x, m: -(x * x) / ((2.0 * m) * (2.0 * m + 1.0)),
        odd=True,
    ),
    "cos": Series(
        "cos(x) = sum of (-1)^m x^(2m) / (2m)!",
        (-2.0, 2.0),
        lambda x, m: -(x * x) / ((2.0 * m - 1.0) * (2.0 * m)),
    ),
    "log1p": Series(
        "log(1 + x) = sum of (-1)^m x^(m+1) / (m+1)",
        (-0.5, 0.5),
        lambda x, m: -x,
        lambda term, m: term / (m + 1.0),
        odd=True,
        by_order=False,
    ),
    "atan": Series(
        "atan(x) = sum of (-1)^m x^(2m+1) / (2m+1)",
        (-0.6, 0.6),
        lambda x, m: -(x * x),
        lambda term, m: term / (2.0 * m + 1.0),
        odd=True,
        by_order=False,
    ),
    "geometric": Series("1 / (1 - x) = sum of x^m", (-0.7, 0.7), lambda x, m: x, by_order=False),
    "bessel": Series(
        "J0(x) = sum of (-1)^m (x/2)^(2m) / (m!)^2", (0.2, 3.0), lambda x, m: -x * x / (4.0 * m * m)
    ),
}


@idiom(depth=3)
@with_struct
def power_series(k: KernelBuilder, level: int) -> Title:
    """A function by its power series, with a fixed number of terms or until they are small."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_SERIES))
    series = _SERIES[form]
    stops = level >= 3 and shape.chance(0.3 if series.by_order else 0.8)
    s = launch(k, list=7, grid=3 if level >= 2 else 0)
    given = s.read("xs angles values", type_, *series.span)
    count = k.draw.value.integer(2, 3) if series.by_order else k.draw.value.integer(3, 6)
    terms: Expr = k.lift(count, INT32)
    if shape.chance(0.5):
        terms = k.scalar("max_terms num_terms", INT32, count, count + (1 if series.by_order else 2))
    tol = setting(k, "tol tolerance", type_, 0.0005, 0.002, 0.7) if stops else None
    out = s.out("out series result", type_)
    used = Also(s, 0.6 if stops else 0.0, "terms_used num_used")
    x = k.let("x t", given)
    total, last = _summed(k, level, form, x, type_, terms, tol)
    k.store(out, s.at, total)
    more = used.told("the index m of the last term added", last)
    many = say(k, terms)
    how = f"all terms up to m = {many}"
    if tol is not None:
        what = "term" if series.by_order else "power of x"
        how = f"terms up to m = {many}, ending after the first whose {what} is below {say(k, tol)} "
        how += "in magnitude"
    done = f"Evaluate {series.text}, m from 0 on, for x = {say(k, given)}: {out.name} gets the sum "
    name = k.name(f"{form}_series taylor_{form} power_series")
    return Title(name, f"{done}of {how}.{more}")


def _summed(
    k: KernelBuilder, level: int, form: str, x: Expr, type_: Scalar, terms: Expr, tol: Expr | None
) -> tuple[Expr, Expr]:
    """The loop; the sum, and the number of its last term where it stops."""
    series, shape = _SERIES[form], k.draw.shape
    params, chance = {"x": type_, "m": type_}, BY_LEVEL[level] if series.by_order else 0.0
    names = f"next_factor term_ratio {form}_factor"
    factor = routine(k, chance, names, params, lambda _, u, m: series.factor(u, m))
    first = x if series.odd else k.lift(1.0, type_)
    term = k.let("term power", first)
    total = k.let("total acc series_sum", term if shape.chance(0.5) else first)

    def advance(order: Expr) -> None:
        m = cast(order, type_)
        k.augment(term, "mul", factor(x, m))
        k.augment(total, "add", series.added(term, m))

    if shape.chance(0.5):
        order = k.let("m order", k.lift(1, INT32))
        going = order <= terms if tol is None else both(order <= terms, abs(term) >= tol)
        with k.while_(going):
            advance(order)
            k.augment(order, "add", 1)
        return total, order - 1
    last = counter(k, "last order_used") if tol is not None else None
    with k.for_("m order", terms + 1, start=1) as m:
        advance(m)
        if last is not None and tol is not None:
            k.assign(last, m)
            branch(k, (abs(term) < tol, STOP))
    return total, last if last is not None else total


@dataclass(frozen=True)
class Equation:
    """A function of x and a that is zero at the root, its slope, ranges of a and of x."""

    f: Callable[[Expr, Expr], Expr]
    slope: Callable[[Expr, Expr], Expr]
    a: tuple[float, float]
    x: tuple[float, float]
    names: tuple[str, str] = ("rhs targets", "roots solution x_out")
    """Of the array of a, and of that of the roots."""

    @property
    def text(self) -> str:
        return Formula("f", "f", self.f).said({"x": "x", "a": "a"})


_EQUATIONS = {
    "cube": Equation(
        lambda x, a: x * x * x + x - a, lambda x, a: 3.0 * x * x + 1.0, (1.0, 9.0), (0.0, 3.0)
    ),
    "square": Equation(lambda x, a: x * x - a, lambda x, a: 2.0 * x, (1.0, 8.0), (0.5, 3.0)),
    "exponential": Equation(
        lambda x, a: exp(x) + x - a, lambda x, a: exp(x) + 1.0, (1.5, 6.0), (-1.0, 2.5)
    ),
    "cosine": Equation(
        lambda x, a: x - a * cos(x), lambda x, a: 1.0 + a * sin(x), (0.3, 0.9), (0.0, 1.5)
    ),
    "kepler": Equation(
        lambda x, a: x - 0.4 * sin(x) - a,
        lambda x, a: 1.0 - 0.4 * cos(x),
        (0.4, 2.6),
        (0.0, 3.1),
        ("mean_anomaly mean_anom", "ecc_anomaly eccentric"),
    ),
    "logarithm": Equation(
        lambda x, a: x + log(x) - a, lambda x, a: 1.0 + 1.0 / x, (1.5, 4.0), (0.6, 4.5)
    ),
}


@idiom(depth=3)
@with_struct
def root_finding(k: KernelBuilder, level: int) -> Title:
    """The root of an equation by Newton's method, bisection, the secant or regula falsi."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_EQUATIONS))
    e, methods = _EQUATIONS[form], ("newton", "bisection", "secant", "damped")
    method = shape.choice(methods if level >= 3 else methods[:2])
    s, bisects = launch(k, list=1), method == "bisection"
    a = s.read(e.names[0], type_, *e.a)
    begin: Expr = literal(round(sum(e.x) / 2, 2), type_)
    if not bisects and shape.chance(0.8):
        names, span = "guess x0", (e.x[0] + 0.3, e.x[1] - 0.2)
        begin = s.read(names, type_, *span) if shape.chance(0.6) else k.scalar(names, type_, *span)
    roots = s.out(e.names[1], type_)
    steps = Also(s, 0.0 if level < 3 else 0.3, "iterations steps")
    count = k.draw.value.integer(6, 9) if bisects else k.draw.value.integer(2, 3)
    limit: Expr = literal(count, INT32)
    if shape.chance(0.6 if bisects else 0.15):
        limit = k.scalar("max_iter num_steps", INT32, count, count + 2)
    done = f"Solve {e.text} = 0 for x, with a = {say(k, a)}, by "
    target = k.let("target c", a)
    params = {"x": type_, "a": type_}
    f = routine(k, BY_LEVEL[level], "residual_of equation f", params, lambda _, x, y: e.f(x, y))
    search = Method(s, type_, lambda x: f(x, target), lambda x: e.slope(x, target), limit, steps)
    if bisects:
        root, how = search.bisect(e.x)
    else:
        root, how = search.newton(level, method, begin)
    k.store(roots, s.at, root)
    done += f"{how}; the root goes to {roots.name}."
    done += steps.told("how often the upper end was moved" if bisects else "how many steps it took")
    return Title(k.name(f"{method}_{form} {method}_root solve_equation solve_{form}"), done)


@dataclass(frozen=True)
class Method:
    """The function of x alone and its slope, how many steps there are, and who counts them."""

    s: Site
    type: Scalar
    value: Callable[[Expr], Expr]
    slope: Callable[[Expr], Expr]
    limit: Expr
    steps: Also

    def bisect(self, ends: tuple[float, float]) -> tuple[Expr, str]:
        k = self.s.k
        lo = k.let("lo left", k.lift(ends[0], self.type))
        hi = k.let("hi right", k.lift(ends[1], self.type))
        self.steps.start("taken halvings")
        with k.for_("it step", self.limit):
            mid = k.let("mid middle", 0.5 * (lo + hi))
            branch(k, (self.value(mid) > 0.0, (hi, mid), (self.steps, 1)), (None, (lo, mid)))
        halvings = f"in {say(k, self.limit)} halvings, the last middle being the root"
        return 0.5 * (lo + hi), f"bisection of [{ends[0]}, {ends[1]}] {halvings}"

    def newton(self, level: int, method: str, begin: Expr) -> tuple[Expr, str]:
        """Newton's method and its kin: the root, and how it is found."""
        k, shape, secant, stop = self.s.k, self.s.k.draw.shape, method == "secant", ""
        tail = f" from {say(k, begin)}, at most {say(k, self.limit)} steps"
        x, bounded = k.let("x root", begin), level >= 4 and shape.chance(0.25)
        self.steps.start("used its")
        before = k.let("x_prev older", x + 0.25) if secant else x
        with k.for_("it step", self.limit):
            fx = k.let("fx r", self.value(x))
            if level >= 2 and not secant and shape.chance(0.4):
                tol = setting(k, "tol tolerance", self.type, 0.04, 0.1, 0.8)
                branch(k, (abs(fx) < tol, STOP))
                stop = f", ending where |f| < {say(k, tol)}"
            if secant:
                gap = k.let("gap rise", fx - self.value(before))
                branch(k, (abs(gap) < 0.01, STOP))
                step: Expr = k.let("dx change", fx * (x - before) / gap)
                k.assign(before, x)
            else:
                step = fx / self.slope(x)
                step = 0.8 * step if method == "damped" else step
                if bounded:
                    step = clamp(step, -0.5, 0.5)
                    stop += ", each step clamped to [-0.5, 0.5]"
            if shape.chance(0.5):
                move(k, x, x - step)
            else:
                k.assign(x, x - step)
            self.steps.add()
        if secant:
            how = (
                "the secant method (the other first point is 0.25 above it; it ends where the two "
            )
            how += "values of f differ by less than 0.01)"
            return x, how + tail
        return x, f"Newton's method{' with steps times 0.8' * (method == 'damped')}{tail}{stop}"
