"""Iterative methods: roots, series, square roots, fixed points, with caps and tolerances."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, items, shown
from generators.control_flow.params import with_struct
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand

_Function = Callable[[Expr, Expr], Expr]


_EQUATIONS: dict[
    str, tuple[str, tuple[float, float], tuple[float, float], _Function, _Function]
] = {
    "cube": (
        "x^3 + x - a",
        (1.0, 9.0),
        (0.0, 3.0),
        lambda x, a: x * x * x + x - a,
        lambda x, a: 3.0 * x * x + 1.0,
    ),
    "square": ("x * x - a", (1.0, 8.0), (0.5, 3.0), lambda x, a: x * x - a, lambda x, a: 2.0 * x),
    "exponential": (
        "exp(x) + x - a",
        (1.5, 6.0),
        (-1.0, 2.5),
        lambda x, a: fn("exp", x) + x - a,
        lambda x, a: fn("exp", x) + 1.0,
    ),
    "cosine": (
        "x - a * cos(x)",
        (0.3, 0.9),
        (0.0, 1.5),
        lambda x, a: x - a * fn("cos", x),
        lambda x, a: 1.0 + a * fn("sin", x),
    ),
    "kepler": (
        "x - 0.4 * sin(x) - a",
        (0.4, 2.6),
        (0.0, 3.1),
        lambda x, a: x - 0.4 * fn("sin", x) - a,
        lambda x, a: 1.0 - 0.4 * fn("cos", x),
    ),
    "logarithm": (
        "x + log(x) - a",
        (1.5, 4.0),
        (0.6, 4.5),
        lambda x, a: x + fn("log", x) - a,
        lambda x, a: 1.0 + 1.0 / x,
    ),
}


@idiom
@with_struct
def root_finding(k: KernelBuilder, level: int) -> Title:
    """The root of an equation by Newton's method, bisection, the secant or regula falsi."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_EQUATIONS))
    text, (low, high), (left, right), f, slope = _EQUATIONS[form]
    method = shape.choice(
        ("newton", "bisection") if level < 3 else ("newton", "bisection", "secant", "damped")
    )
    a = k.array(("a", "rhs", "targets"), s, k.size("n", 48, 80), low=low, high=high)
    start = (
        k.array(("guess", "x0"), s, "n", low=left + 0.3, high=right - 0.2)
        if method != "bisection" and shape.chance(0.4)
        else None
    )
    roots = k.out(("roots", "solution", "x_out"), s, "n")
    steps = also(k, 0.0 if level < 3 else 0.5, ("iterations", "steps"), INT32, "n")
    bisects = method == "bisection"
    count = k.draw.value.integer(7, 10) if bisects else k.draw.value.integer(3, 5)
    limit: Operand = (
        k.scalar(("max_iter", "num_steps"), INT32, count, count + 2)
        if bisects and shape.chance(0.5)
        else count
    )
    i = items(k)
    target = k.let(("target", "c"), a[i])
    helped = level >= 3 and shape.chance(0.5)
    name = (
        helper(k, ("residual_of", "equation", "f"), [("x", s), ("a", s)], lambda _, x, y: f(x, y))
        if helped
        else ""
    )

    def value(x: Expr) -> Expr:
        return k.call(name, x, target) if name else f(x, target)

    done = f"Solve {text} = 0 for x, with a from {a.name}, by "
    if method == "bisection":
        x, used = _bisect(k, value, limit, (left, right), s, steps is not None)
        done += f"bisection of [{left}, {right}] in {shown(limit)} halvings; the middle is the root"
        counted = "how often the upper end was moved"
    else:
        first = start[i] if start is not None else k.lift(round((left + right) / 2, 2), s)
        x, used, how = _steps(
            k,
            method,
            (value, lambda x: slope(x, target)),
            limit,
            first,
            level,
            s,
            steps is not None,
        )
        counted = "the number of steps taken"
        begin = f"{start.name}" if start is not None else f"{round((left + right) / 2, 2)}"
        done += f"{how} from {begin}, {shown(limit)} steps at most"
    k.store(roots, i, x)
    if steps is not None and used is not None:
        k.store(steps, i, used)
        done += f"; {counted} goes to {steps.name}"
    title = k.name(f"{method}_{form}", f"{method}_root", "solve_equation", f"solve_{form}")
    return Title(title, f"{done}.")


def _bisect(
    k: KernelBuilder,
    value: Callable[[Expr], Expr],
    limit: Operand,
    ends: tuple[float, float],
    s: Scalar,
    counted: bool,
) -> tuple[Expr, Expr | None]:
    lo, hi = k.let(("lo", "left"), k.lift(ends[0], s)), k.let(("hi", "right"), k.lift(ends[1], s))
    taken = k.let(("taken", "halvings"), k.lift(0, INT32)) if counted else None
    middle = ("mid", "middle")
    with k.for_(("it", "step"), limit):
        mid = k.let(middle, 0.5 * (lo + hi))
        with k.if_(value(mid) > 0.0):
            k.assign(hi, mid)
            if taken is not None:
                k.augment(taken, "add", 1)
        with k.else_():
            k.assign(lo, mid)
    return 0.5 * (lo + hi), taken


def _steps(
    k: KernelBuilder,
    method: str,
    functions: tuple[Callable[[Expr], Expr], Callable[[Expr], Expr]],
    limit: Operand,
    first: Expr,
    level: int,
    s: Scalar,
    counted: bool,
) -> tuple[Expr, Expr | None, str]:
    """Newton's method and its kin: the root, the steps taken, what it is called."""
    value, slope = functions
    shape = k.draw.shape
    x, bounded = k.let(("x", "root"), first), level >= 4 and shape.chance(0.25)
    used = k.let(("used", "its"), k.lift(0, INT32)) if counted else None
    if method == "secant":
        before = k.let(("x_prev", "older"), x + 0.25)
    with k.for_(("it", "step"), limit):
        fx = k.let(("fx", "r"), value(x))
        if level >= 2 and method != "secant" and shape.chance(0.6):
            with k.if_(fn("abs", fx) < 0.05):
                k.break_()
            stop = ", ending where |f| < 0.05"
        else:
            stop = ""
        if method == "secant":
            gap = k.let(("gap", "rise"), fx - value(before))
            with k.if_(fn("abs", gap) < 0.01):
                k.break_()
            step: Expr = k.let(("dx", "move"), fx * (x - before) / gap)
            k.assign(before, x)
        else:
            step = fx / slope(x)
            if method == "damped":
                step = 0.8 * step
            if bounded:
                step = fn("clamp", step, -0.5, 0.5)
                stop += ", each step clamped to [-0.5, 0.5]"
        if shape.chance(0.5):
            k.augment(x, "sub", step)
        else:
            k.assign(x, x - step)
        if used is not None:
            k.augment(used, "add", 1)
    names = {
        "newton": f"Newton's method{stop}",
        "damped": f"Newton's method with steps times 0.8{stop}",
        "secant": "the secant method (older point 0.25 above, ending where the rise is < 0.01)",
    }
    return x, used, names[method]
