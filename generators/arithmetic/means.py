"""Weighted averages over the members of an ensemble: of values, squares, logarithms, deviations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, log, sqrt
from generators.kit.sites import launch
from generators.program.expr import Expr, literal


@dataclass(frozen=True)
class Mean:
    """An average: kernel names, names of the result, lowest value of what is averaged, what is
    summed of a value, what becomes of the sum over that of the weights, and an introduction."""

    title: str
    out: str
    low: float
    term: Callable[[Expr], Expr]
    finish: Callable[[Expr], Expr]
    said: str


_MEANS = (
    Mean(
        "weighted_mean weighted_average",
        "means averages",
        -2.0,
        lambda v: v,
        lambda m: m,
        "Weighted mean: the sum of w * v over the sum of w",
    ),
    Mean(
        "weighted_rms root_mean_square",
        "rms",
        -2.0,
        lambda v: v * v,
        lambda m: sqrt(m),
        "Weighted root mean square: the square root of the sum of w * v^2 over the sum of w",
    ),
    Mean(
        "weighted_mean_square second_moment",
        "mean_squares second_moments",
        -2.0,
        lambda v: v * v,
        lambda m: m,
        "Weighted mean square: the sum of w * v^2 over the sum of w",
    ),
    Mean(
        "weighted_geometric_mean geometric_mean",
        "geometric_means",
        0.3,
        lambda v: log(v),
        lambda m: exp(m),
        "Weighted geometric mean: exp of the sum of w * log(v) over the sum of w",
    ),
    Mean(
        "weighted_harmonic_mean harmonic_mean",
        "harmonic_means",
        0.3,
        lambda v: 1.0 / v,
        lambda m: 1.0 / m,
        "Weighted harmonic mean: one over the sum of w / v over the sum of w",
    ),
    Mean(
        "weighted_abs_mean mean_magnitude",
        "mean_magnitudes",
        -2.0,
        lambda v: abs(v),
        lambda m: m,
        "Weighted mean magnitude: the sum of w * |v| over the sum of w",
    ),
)


@idiom(depth=1)
def weighted_mean(k: KernelBuilder, level: int) -> Title:
    """Weighted averages over the members of an ensemble, or anomalies and variances of them."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=5, grid=3)
    mean = shape.choice(_MEANS)
    m = k.size("members", 3, 4)
    first = shape.chance(0.5)
    dims = (m, *s.dims) if first else (*s.dims, m)
    values = k.array("values samples", f, dims, low=mean.low, high=2.0)
    own = shape.chance(0.3)
    weights = k.array("weights", f, dims if own else m, low=0.2, high=1.5)
    count = k.size_param("num_members", m)
    centred = mean.low < 0.0 and shape.chance(0.3)
    origin = k.scalar("baseline reference", f, -1.0, 1.0) if centred else None
    total = k.let("total weighted_sum", literal(0.0, f))
    # Weights that are the same for all threads mostly come normalised: their sum would be, too.
    normalised = not own and shape.chance(0.75)
    norm = None if normalised else k.let("norm weight_sum", literal(0.0, f))
    with k.for_("m member e", count) as q:
        place = (q, *s.at) if first else s.index(q)
        value = values[place]
        v = k.let("v value", value - origin if origin is not None else value)
        weight = weights[place if own else q]
        w = weight if normalised else k.let("w weight", weight)
        k.augment(total, "add", w * mean.term(v))
        if norm is not None:
            k.augment(norm, "add", w)
    out = s.put(mean.out, mean.finish(total if norm is None else total / norm))
    axis = "first" if first else "last"
    less = f" less {origin.name}" if origin is not None else ""
    said = mean.said.rpartition(" over the sum of w")[0] if normalised else mean.said
    done = f"{said}, for the values v of the members in {values.name} (its {axis} axis){less} "
    done += f"and their weights w in {weights.name}"
    done += ", one for each value" if own else ", which add up to 1" if normalised else ""
    done += f". Store it in {out.name}."
    return Title(k.name(mean.title), done)
