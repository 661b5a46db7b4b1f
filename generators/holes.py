"""Typed holes: small random expressions over what an idiom has at hand, safe for bounded inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.build import KernelBuilder, fn
from generators.expr import Expr

Form = Callable[[KernelBuilder, Expr, Expr], Expr]


def _constant(k: KernelBuilder, low: float = 0.2, high: float = 2.5) -> float:
    return float(k.draw.value.constant(low, high))


FLOAT_FORMS: dict[str, Form] = {
    "sum": lambda k, a, b: a + b,
    "difference": lambda k, a, b: a - b,
    "product": lambda k, a, b: a * b,
    "weighted_sum": lambda k, a, b: _constant(k) * a + b,
    "weighted_difference": lambda k, a, b: a - _constant(k) * b,
    "mean": lambda k, a, b: 0.5 * (a + b),
    "square_sum": lambda k, a, b: a * a + b * b,
    "square_of_difference": lambda k, a, b: (a - b) * (a - b),
    "distance": lambda k, a, b: fn("abs", a - b),
    "smaller": lambda k, a, b: fn("min", a, b),
    "larger": lambda k, a, b: fn("max", a, b),
    "product_sum": lambda k, a, b: a * b + a,
    "ratio": lambda k, a, b: a / (_constant(k, 1.0, 3.0) + fn("abs", b)),
    "root": lambda k, a, b: fn("sqrt", a * a + b * b + _constant(k, 0.1, 1.0)),
    "complement": lambda k, a, b: (1.0 - a) * b,
    "blend": lambda k, a, b: fn("lerp", a, b, _constant(k, 0.1, 0.9)),
}


def float_hole(k: KernelBuilder, leaves: Sequence[Expr], depth: int = 1) -> Expr:
    """A float expression in which every leaf appears; ``depth`` more forms wrap the result.

    ``leaves`` are float scalars of one type and moderate size (about [-4, 4]).
    """
    order = k.draw.shape.sample(list(leaves), len(leaves))
    value = order[0]
    for leaf in order[1:]:
        value = _form(k, value, leaf)
    for _ in range(depth if len(leaves) == 1 else depth - 1):
        value = _form(k, value, k.draw.shape.choice(order))
    return value


def _form(k: KernelBuilder, a: Expr, b: Expr) -> Expr:
    forms = [n for n in FLOAT_FORMS if a != b or n not in _NEEDS_TWO]
    return FLOAT_FORMS[k.draw.shape.choice(forms)](k, a, b)


_NEEDS_TWO = frozenset(
    {"difference", "mean", "square_of_difference", "distance", "smaller", "larger", "blend", "sum"}
    | {"weighted_sum", "weighted_difference", "square_sum"}
)
