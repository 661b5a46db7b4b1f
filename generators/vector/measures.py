"""Measures of how alike two vectors are."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import BodyBuilder, fn
from generators.kit.pieces import zero
from generators.program.dtypes import Vec
from generators.program.expr import Expr


class Measure(NamedTuple):
    """A measure of two vectors u and w, its formula, and whether alike vectors score high."""

    build: Callable[..., Expr]
    text: str
    rises: bool
    tuned: tuple[tuple[str, ...], float, float] | None = None


def _over_components(b: BodyBuilder, u: Expr, w: Expr, largest: bool) -> Expr:
    assert isinstance(u.type, Vec)
    if largest:
        return fn("max_element", fn("abs", u - w))
    total = b.let(("dist", "gap", "span"), zero(u.type.scalar))
    with b.for_(("axis", "e", "comp"), u.type.size) as axis:
        b.augment(total, "add", fn("abs", u[axis] - w[axis]))
    return total


def _canberra(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    assert isinstance(u.type, Vec)
    total = b.let(("dist", "canberra", "rel_gap"), zero(u.type.scalar))
    with b.for_(("axis", "e", "comp"), u.type.size) as axis:
        size = fn("abs", u[axis]) + fn("abs", w[axis]) + 0.1
        b.augment(total, "add", fn("abs", u[axis] - w[axis]) / size)
    return total


def _cosine(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    return fn("dot", u, w) / (fn("length", u) * fn("length", w))


def _cosine_of_squares(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    uu, ww = b.let(("uu", "u_sq"), fn("dot", u, u)), b.let(("ww", "w_sq"), fn("dot", w, w))
    return fn("dot", u, w) / fn("sqrt", uu * ww + 1.0e-6)


def _tanimoto(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    both = b.let(("both", "uw"), fn("dot", u, w))
    return both / (fn("length_sq", u) + fn("length_sq", w) - both)


def _square(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    return fn("length_sq", b.let(("diff", "delta"), u - w))


_RATE = (("gamma", "bandwidth", "rate"), 0.2, 1.5)
WHOLE: dict[str, Measure] = {
    "dot": Measure(lambda b, u, w: fn("dot", u, w), "dot(u, w)", True),
    "squared_distance": Measure(_square, "|u - w|^2", False),
    "manhattan": Measure(
        lambda b, u, w: _over_components(b, u, w, largest=False),
        "the sum of the |u[e] - w[e]|",
        False,
    ),
    "chebyshev": Measure(
        lambda b, u, w: _over_components(b, u, w, largest=True),
        "the largest of the |u[e] - w[e]|",
        False,
    ),
}
MEASURES: dict[str, Measure] = {
    **WHOLE,
    "euclidean": Measure(lambda b, u, w: fn("length", u - w), "|u - w|", False),
    "cosine": Measure(_cosine, "dot(u, w) / (|u| * |w|)", True),
    "normed_dot": Measure(
        _cosine_of_squares, "dot(u, w) / sqrt(dot(u, u) * dot(w, w) + 1.0e-6)", True
    ),
    "tanimoto": Measure(_tanimoto, "dot(u, w) / (|u|^2 + |w|^2 - dot(u, w))", True),
    "canberra": Measure(
        _canberra, "the sum of |u[e] - w[e]| / (|u[e]| + |w[e]| + 0.1) over components e", False
    ),
    "gaussian": Measure(
        lambda b, u, w, g: fn("exp", -g * _square(b, u, w)), "exp(-G * |u - w|^2)", True, _RATE
    ),
    "student": Measure(
        lambda b, u, w, g: 1.0 / (1.0 + g * _square(b, u, w)),
        "1 / (1 + G * |u - w|^2)",
        True,
        _RATE,
    ),
    "sigmoid": Measure(
        lambda b, u, w, g: fn("tanh", g * fn("dot", u, w)), "tanh(G * dot(u, w))", True, _RATE
    ),
    "laplacian": Measure(
        lambda b, u, w, g: fn("exp", -g * _over_components(b, u, w, largest=False)),
        "exp(-G * s), s being the sum of the |u[e] - w[e]|",
        True,
        _RATE,
    ),
}
NORMS: dict[str, Measure] = {
    "taxicab": Measure(lambda b, u, w: fn("norm_l1", u - w), "norm_l1(u - w)", False),
    "norm_l2": Measure(lambda b, u, w: fn("norm_l2", u - w), "norm_l2(u - w)", False),
    "huber": Measure(
        lambda b, u, w, g: fn("norm_huber", u - w, g),
        "norm_huber(u - w, G)",
        False,
        (("delta", "huber_delta"), 0.4, 1.2),
    ),
    "pseudo_huber": Measure(
        lambda b, u, w, g: fn("norm_pseudo_huber", u - w, g),
        "norm_pseudo_huber(u - w, G)",
        False,
        (("delta", "huber_delta"), 0.4, 1.2),
    ),
}
"""Warp's own norms, of float32 vectors."""
