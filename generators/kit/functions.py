"""Functions and constants as formulas write them: ``exp(-x)``, ``least(x, 1.0)``, ``TWO_PI``."""

from __future__ import annotations

import math

from generators.build import BodyBuilder, fn
from generators.program.expr import Expr, Operand

PI = math.pi
TWO_PI = 2.0 * math.pi
HALF_PI = 0.5 * math.pi
FOUR_PI = 4.0 * math.pi
ROOT_HALF = 0.70710678
LN_2 = 0.69314718


def sqrt(x: Expr) -> Expr:
    return fn("sqrt", x)


def exp(x: Expr) -> Expr:
    return fn("exp", x)


def log(x: Expr) -> Expr:
    return fn("log", x)


def log2(x: Expr) -> Expr:
    return fn("log2", x)


def log10(x: Expr) -> Expr:
    return fn("log10", x)


def sin(x: Expr) -> Expr:
    return fn("sin", x)


def cos(x: Expr) -> Expr:
    return fn("cos", x)


def tan(x: Expr) -> Expr:
    return fn("tan", x)


def asin(x: Expr) -> Expr:
    return fn("asin", x)


def acos(x: Expr) -> Expr:
    return fn("acos", x)


def atan(x: Expr) -> Expr:
    return fn("atan", x)


def atan2(y: Operand, x: Operand) -> Expr:
    return fn("atan2", y, x)


def tanh(x: Expr) -> Expr:
    return fn("tanh", x)


def cosh(x: Expr) -> Expr:
    return fn("cosh", x)


def erf(x: Expr) -> Expr:
    return fn("erf", x)


def least(*values: Operand) -> Expr:
    """The smallest of two or more."""
    first, second, *rest = values
    found = fn("min", first, second)
    return least(found, *rest) if rest else found


def most(*values: Operand) -> Expr:
    """The largest of two or more."""
    first, second, *rest = values
    found = fn("max", first, second)
    return most(found, *rest) if rest else found


def clamp(x: Expr, low: Operand, high: Operand) -> Expr:
    return fn("clamp", x, low, high)


def where(test: Expr, value: Operand, other: Operand) -> Expr:
    return fn("where", test, value, other)


def wrapped_angle(a: Expr) -> Expr:
    """An angle in radians taken into [-pi, pi)."""
    return a - TWO_PI * fn("floor", (a + PI) / TWO_PI)


def trailing_zeros(x: Expr) -> Expr:
    """How many bits of an integer are zero below the lowest that is set."""
    return fn("bit_count", (x & (~x + 1)) - 1)


def dot(a: Expr, b: Expr) -> Expr:
    return fn("dot", a, b)


def square(x: Expr) -> Expr:
    """``x * x``: for what has a name, or is cheap to write twice."""
    return x * x


def either(b: BodyBuilder, first: Expr, second: Expr) -> Expr:
    """One of two ways to write the same, drawn; descriptions are printed from the first."""
    return first if b.draw.shape.chance(0.5) else second
