"""Touches: one light step with drawn constants, so that even a simple kernel has many versions.

A touch takes a scalar, vector or matrix and returns it changed, with a phrase in which ``v`` stands
for the value. Unlike a stage it adds no statement of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.body import fn
from generators.build import KernelBuilder
from generators.dtypes import Scalar, scalar_of
from generators.expr import Const, Expr, Op, Var
from generators.walk import replaced, uses


class Touched(NamedTuple):
    """The new value, and what was done: ``0.35 v + 1.2``."""

    value: Expr
    phrase: str


Form = Callable[[Expr, float, float], Touched]

_FLOAT_FORMS: dict[str, Form] = {
    "affine": lambda v, c, d: Touched(c * v + d, f"{c} v + {d}"),
    "affine_down": lambda v, c, d: Touched(c * v - d, f"{c} v - {d}"),
    "offset_then_scale": lambda v, c, d: Touched(c * (v - d), f"{c} (v - {d})"),
    "normalised": lambda v, c, d: Touched((v - d) / c, f"(v - {d}) / {c}"),
    "from_above": lambda v, c, d: Touched(d - c * v, f"{d} - {c} v"),
    "distance": lambda v, c, d: Touched(c * fn("abs", v - d), f"{c} |v - {d}|"),
    "bent": lambda v, c, d: Touched(v + c * v * v, f"v + {c} v^2"),
    "square": lambda v, c, d: Touched(c * v * v + d, f"{c} v^2 + {d}"),
}

_LINEAR_FORMS: dict[str, Form] = {
    "scaled": lambda v, c, d: Touched(c * v, f"{c} v"),
    "divided": lambda v, c, d: Touched(v / c, f"v / {c}"),
    "negated": lambda v, c, d: Touched(-c * v, f"-{c} v"),
}


def touch(k: KernelBuilder, value: Expr, scale: float = 1.0) -> Touched:
    """Change a float value lightly; ``scale`` is the size that it typically has.

    Scalars get one of eight forms with two constants of two digits, vectors and matrices one
    factor.
    """
    forms = _FLOAT_FORMS if isinstance(value.type, Scalar) else _LINEAR_FORMS
    assert scalar_of(value.type).is_float
    factor = float(k.draw.value.constant(0.3, 2.5))
    offset = float(k.draw.value.constant(0.1 * scale, 0.9 * scale))
    return forms[k.draw.shape.choice(sorted(forms))](value, factor, offset)


_INT_FORMS: dict[str, Callable[[Expr, int, int], Touched]] = {
    "affine": lambda v, c, d: Touched(c * v + d, f"{c} v + {d}"),
    "offset": lambda v, c, d: Touched(v + c * d, f"v + {c * d}"),
    "remainder": lambda v, c, d: Touched((v + d) % (10 * c + 3), f"(v + {d}) mod {10 * c + 3}"),
    "quotient": lambda v, c, d: Touched((c * v + d) // 3, f"({c} v + {d}) // 3"),
    "mixed": lambda v, c, d: Touched(v ^ (c * d), f"v ^ {c * d}"),
}


def touch_int(k: KernelBuilder, value: Expr) -> Touched:
    """Change a small non-negative integer value lightly; it grows to about 10 v + 1,000."""
    assert isinstance(value.type, Scalar)
    factor, offset = k.draw.value.integer(2, 9), k.draw.value.integer(1, 99)
    return _INT_FORMS[k.draw.shape.choice(sorted(_INT_FORMS))](value, factor, offset)


def finished(k: KernelBuilder, value: Expr, names: tuple[str, ...], scale: float = 1.0) -> Touched:
    """A touch of a value, which becomes a local where the touch reads it more than once."""
    touched = touch(k, value, scale)
    if isinstance(value, Var) or uses(touched.value, value) < 2:
        return touched
    return Touched(replaced(touched.value, value, k.let(names, value)), touched.phrase)


def has_constant(e: Expr) -> bool:
    """Whether a literal that was drawn occurs in an expression; 1 and 0.5 are part of forms."""
    if isinstance(e, Op):
        return any(map(has_constant, e.args))
    return isinstance(e, Const) and float(e.value) not in (0.5, 1.0)
