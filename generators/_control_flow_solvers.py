"""Iterative methods: roots, series, square roots, fixed points, with caps and tolerances."""

from __future__ import annotations

from collections.abc import Callable

from generators._control_flow_kit import also, either, items, shown
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Operand, Var, op
from generators.pieces import helper
from generators.registry import Title

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
    count = k.draw.value.integer(7, 10) if bisects else k.draw.value.integer(2, 4)
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
        x, used = _bisect(k, value, limit, (left, right), s)
        done += f"bisection of [{left}, {right}] in {shown(limit)} halvings; the middle is the root"
    else:
        first = start[i] if start is not None else k.lift(round((left + right) / 2, 2), s)
        x, used, how = _steps(
            k, method, (value, lambda x: slope(x, target)), limit, first, level, s
        )
        begin = f"{start.name}" if start is not None else f"{round((left + right) / 2, 2)}"
        done += f"{how} from {begin}, {shown(limit)} steps at most"
    k.store(roots, i, x)
    if steps is not None:
        k.store(steps, i, used)
        done += f"; the number of steps taken goes to {steps.name}"
    title = k.name(f"{method}_{form}", f"{method}_root", "solve_equation", f"solve_{form}")
    return Title(title, f"{done}.")


def _bisect(
    k: KernelBuilder,
    value: Callable[[Expr], Expr],
    limit: Operand,
    ends: tuple[float, float],
    s: Scalar,
) -> tuple[Expr, Expr]:
    lo, hi = k.let(("lo", "left"), k.lift(ends[0], s)), k.let(("hi", "right"), k.lift(ends[1], s))
    taken = k.let(("taken", "halvings"), k.lift(0, INT32))
    middle = ("mid", "middle")
    with k.for_(("it", "step"), limit):
        mid = k.let(middle, 0.5 * (lo + hi))
        with k.if_(value(mid) > 0.0):
            k.assign(hi, mid)
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
) -> tuple[Expr, Expr, str]:
    """Newton's method and its kin: the root, the steps taken, what it is called."""
    value, slope = functions
    shape = k.draw.shape
    x = k.let(("x", "root"), first)
    used = k.let(("used", "its"), k.lift(0, INT32))
    if method == "secant":
        before = k.let(("x_prev", "older"), x + 0.25)
    with k.for_(("it", "step"), limit):
        fx = k.let(("fx", "r"), value(x))
        if level >= 2 and method != "secant" and shape.chance(0.6):
            with k.if_(fn("abs", fx) < 0.02):
                k.break_()
            stop = ", ending where |f| < 0.02"
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
            if level >= 4 and shape.chance(0.5):
                step = fn("clamp", k.let(("dx", "move"), step), -0.5, 0.5)
        if shape.chance(0.5):
            k.augment(x, "sub", step)
        else:
            k.assign(x, x - step)
        k.augment(used, "add", 1)
    names = {
        "newton": f"Newton's method{stop}",
        "damped": f"Newton's method with steps times 0.8{stop}",
        "secant": "the secant method (older point 0.25 above, ending where the rise is < 0.01)",
    }
    return x, used, names[method]


_SERIES: dict[str, tuple[str, tuple[float, float]]] = {
    "exp": ("exp(x) = sum of x^m / m!", (-1.5, 1.5)),
    "sin": ("sin(x) = sum of (-1)^m x^(2m+1) / (2m+1)!", (-2.0, 2.0)),
    "cos": ("cos(x) = sum of (-1)^m x^(2m) / (2m)!", (-2.0, 2.0)),
    "log1p": ("log(1 + x) = sum of (-1)^(m+1) x^m / m", (-0.5, 0.5)),
    "atan": ("atan(x) = sum of (-1)^m x^(2m+1) / (2m+1)", (-0.6, 0.6)),
    "geometric": ("1 / (1 - x) = sum of x^m", (-0.7, 0.7)),
    "bessel": ("J0(x) = sum of (-1)^m (x/2)^(2m) / (m!)^2", (0.2, 3.0)),
}


def power_series(k: KernelBuilder, level: int) -> Title:
    """A function by its power series, with a fixed number of terms or until they are small."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_SERIES))
    text, (low, high) = _SERIES[form]
    two = level >= 2 and shape.chance(0.3)
    dims = (k.size("h", 6, 9), k.size("w", 6, 9)) if two else (k.size("n", 48, 80),)
    x_in = k.array(("x", "angles", "values"), s, dims, low=low, high=high)
    bounds = (1.2, 1.8) if level >= 2 else (0.5, 1.5)
    gain = k.scalar(("gain", "scale"), s, *bounds) if shape.chance(0.4) else None
    out = k.out(("out", "series", "result"), s, dims)
    used = also(k, 0.0 if level < 3 else 0.6, ("terms_used", "count"), INT32, dims)
    place = k.thread(*dims, names=("i", "j") if two else (k.name("i", "tid"),))
    x = k.let(("x", "t"), x_in[place])
    if gain is not None and level >= 2:
        k.assign(x, fn("clamp", gain * x, low, high))
    elif gain is not None:
        k.assign(x, 0.6 * gain * x)
    terms = k.draw.value.integer(5, 9)
    stops = level >= 3 and shape.chance(0.7)
    term, total = _first_term(k, form, x, s)
    shape_of_loop = (
        shape.choice(("while", "for")) if stops else shape.choice(("for", "for", "while"))
    )
    m = _loop(k, shape_of_loop, form, (x, term, total), terms, stops, s)
    k.store(out, place, total)
    done = f"Evaluate {text} for x = {x_in.name}"
    if gain is not None:
        done += f" times {gain.name}" + (
            f", clamped to [{low}, {high}]" if level >= 2 else " times 0.6"
        )
    done += (
        f", with {terms} terms after the first"
        if not stops
        else f", until a term is below 0.001, {terms} after the first at most"
    )
    if used is not None and m is not None:
        k.store(used, place, m)
        done += f"; the number of the last term goes to {used.name}"
    elif used is not None:
        k.store(used, place, cast(total * 4.0, INT32))
        done += f"; the whole part of 4 times the sum goes to {used.name}"
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
    s: Scalar,
) -> Var | None:
    x, term, total = parts
    if loop == "while":
        m = k.let(("m", "order"), k.lift(1, INT32))
        going: Expr = m <= terms
        if stops:
            going = op("and", going, fn("abs", term) > 0.001)
        with k.while_(going):
            _advance(k, form, x, cast(m, s), term, total)
            k.augment(m, "add", 1)
        return m
    last = k.let(("last", "order_used"), k.lift(0, INT32)) if stops else None
    with k.for_(("m", "order"), terms + 1, start=1) as m:
        _advance(k, form, x, cast(m, s), term, total)
        if last is not None:
            k.assign(last, m)
            with k.if_(fn("abs", term) < 0.001):
                k.break_()
    return last


def _advance(k: KernelBuilder, form: str, x: Var, m: Expr, term: Var, total: Var) -> None:
    factor, added = _next(form, x, m, term)
    k.augment(term, "mul", factor)
    k.augment(total, "add", added)


_NUMBERS: dict[str, str] = {
    "gcd": "the greatest common divisor of a and b by Euclid's algorithm",
    "modpow": "a to the power b modulo m by repeated squaring",
    "isqrt": "the whole part of the square root of a by Newton's method on integers",
    "digits": "the sum of the decimal digits of a",
    "reverse": "a with its decimal digits reversed",
    "prime": "1 if a is prime, else its smallest divisor above 1, by trial division",
    "bits": "the number of set bits of a, clearing the lowest set bit each time",
    "log2": "the position of the highest set bit of a",
    "steps": "how many halvings and decrements bring a to zero",
}


def number_theory(k: KernelBuilder, level: int) -> Title:
    """Euclid, repeated squaring, trial division, digits and bits of whole numbers."""
    shape = k.draw.shape
    form = shape.choice(sorted(_NUMBERS))
    type_ = shape.choice((INT32, Scalar("int64"), Scalar("uint32"), Scalar("uint64")))
    pair = form in ("gcd", "modpow")
    two = level >= 2 and shape.chance(0.35)
    dims = (k.size("rows", 6, 9), k.size("cols", 6, 9)) if two else (k.size("n", 48, 80),)
    high = {"gcd": 900, "modpow": 60, "prime": 400, "isqrt": 9000}.get(form, 60000)
    a_in = k.array(("a", "numbers", "values"), type_, dims, low=2, high=high)
    b_in = None
    if pair:
        b_in = k.array(
            ("b", "others", "exponents"), type_, dims, low=1, high=900 if form == "gcd" else 40
        )
    modulus = k.draw.value.choice((97, 101, 251, 1009)) if form == "modpow" else 0
    m: Operand = modulus
    if modulus and shape.chance(0.5):
        m = k.scalar(("modulus", "m"), type_, modulus, modulus + 2)
    out = k.out(("out", "result", "found"), type_, dims)
    rounds = also(k, 0.0 if level < 2 else 0.4, ("rounds", "steps"), INT32, dims)
    skip = level >= 3 and shape.chance(0.6)
    place = k.thread(*dims, names=("i", "j") if two else (k.name("i", "tid"),))
    a = k.let(("a", "x", "num"), a_in[place])
    note = ""
    if skip:
        least = either(k, ("least", "lower"), type_, high // 5, high // 3)
        with k.if_(a < least):
            k.store(out, place, 0)
            if rounds is not None:
                k.store(rounds, place, 0)
            k.return_()
        note = f" Numbers below {shown(least)} give 0."
    if level >= 4:
        odd = k.draw.value.choice((3, 5, 7))
        with k.if_(fn("eq", a % odd, 0)):
            k.assign(a, a // odd)
        note += f" A number that {odd} divides is first divided by {odd} once."
    n = k.let(("count", "turns"), k.lift(0, INT32)) if rounds is not None else None
    helped = level >= 3 and n is None and shape.chance(0.5)
    if helped:
        params = [("a", type_), *([("b", type_)] if b_in is not None else [])]
        keep = isinstance(m, Var)
        if keep:
            params.append(("m", type_))

        def body(b: BodyBuilder, *given: Expr) -> Expr:
            mod: Operand = given[-1] if keep else m
            return _solve(b, form, given[0], given[1] if b_in is not None else None, mod, None)

        name = helper(
            k,
            (f"{form}_of", form if form not in ("digits", "bits") else f"{form}_sum"),
            params,
            body,
        )
        args: list[Expr] = [
            a,
            *([b_in[place]] if b_in is not None else []),
            *([m] if isinstance(m, Var) else []),
        ]
        value: Expr = k.call(name, *args)
    else:
        value = _solve(k, form, a, b_in[place] if b_in is not None else None, m, n)
    k.store(out, place, value)
    if rounds is not None and n is not None:
        k.store(rounds, place, n)
        note += f" The number of loop turns goes to {rounds.name}."
    text = f"Compute {_NUMBERS[form]} for a = {a_in.name}"
    text += f" and b = {b_in.name}" if b_in is not None else ""
    text += f", m = {shown(m)}" if modulus else ""
    return Title(k.name(f"{form}_kernel", f"compute_{form}", "whole_numbers"), f"{text}.{note}")


def _solve(
    b: BodyBuilder, form: str, a: Expr, other: Expr | None, m: Operand, n: Var | None
) -> Expr:
    """The loop of one method; ``n`` counts its turns."""
    type_ = a.type
    assert isinstance(type_, Scalar)

    def tick() -> None:
        if n is not None:
            b.augment(n, "add", 1)

    x = b.let(("x", "u", "rest"), a)
    if form == "gcd":
        assert other is not None
        y = b.let(("y", "v"), other)
        with b.while_(y > 0):
            r = b.let(("r", "remainder"), x % y)
            b.assign(x, y)
            b.assign(y, r)
            tick()
        return x
    if form == "modpow":
        assert other is not None
        e = b.let(("e", "exponent"), other)
        result = b.let(("result", "acc"), b.lift(1, type_))
        b.assign(x, x % b.lift(m, type_))
        with b.while_(e > 0):
            with b.if_(fn("eq", e % 2, 1)):
                b.assign(result, result * x % b.lift(m, type_))
            b.assign(x, x * x % b.lift(m, type_))
            b.assign(e, e // 2)
            tick()
        return result
    if form == "isqrt":
        guess = b.let(("guess", "g"), (x + 1) // 2)
        with b.while_(guess < x):
            b.assign(x, guess)
            b.assign(guess, (x + a // x) // 2)
            tick()
        return x
    if form == "prime":
        d = b.let(("d", "divisor"), b.lift(2, type_))
        with b.while_(d * d <= x):
            with b.if_(fn("eq", x % d, 0)):
                b.break_()
            b.augment(d, "add", 1)
            tick()
        return fn("where", d * d <= x, d, b.lift(1, type_))
    total = b.let(("total", "acc", "found_count"), b.lift(0, type_))
    with b.while_(x > (1 if form == "log2" else 0)):
        if form == "digits":
            b.augment(total, "add", x % 10)
            b.assign(x, x // 10)
        elif form == "reverse":
            b.assign(total, total * 10 + x % 10)
            b.assign(x, x // 10)
        elif form == "bits":
            b.assign(x, x & (x - 1))
            b.augment(total, "add", 1)
        elif form == "log2":
            b.assign(x, x >> 1)
            b.augment(total, "add", 1)
        else:
            with b.if_(fn("eq", x % 2, 0)):
                b.assign(x, x // 2)
            with b.else_():
                b.augment(x, "sub", 1)
            b.augment(total, "add", 1)
        tick()
    return total
