"""Weighted averages over a short axis."""

from __future__ import annotations

from generators.arithmetic.parts import (
    Grid,
    coefficient,
    element_of,
    grid,
    local,
    parameters,
)
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

_MEANS = {
    "arithmetic": ("weighted_mean", "weighted_average", "blend_layers"),
    "second": ("second_moment", "weighted_mean_square", "energy_average"),
    "centred": ("weighted_deviation", "offset_average", "mean_anomaly"),
    "variance": ("weighted_variance", "spread_of_layers", "weighted_spread"),
}


@idiom
def weighted_mean(k: KernelBuilder, level: int) -> Title:
    """Weighted averages over a short axis: of values, squares, deviations; with missing values."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    g = grid(k, {1: 2, 2: 2, 3: 1})
    m = k.size("m", 3, 5)
    names = sorted(_MEANS)[:3] if level < 3 else sorted(_MEANS)
    form = shape.choice(names)
    first = shape.chance(0.5) or g.ndim == 3
    place = (m, *g.sizes) if first else (*g.sizes, m)
    values = k.array(("values", "layers", "samples"), type_, place, low=-2.0, high=2.0)
    own = shape.chance(0.5)
    weights = k.array(("weights", "w", "confidence"), type_, place if own else m, low=0.2, high=1.5)
    out = k.out(("mean", "average", "out"), type_, g.sizes)
    count = k.trip_count(("m", "num_layers", "members"), m)
    mean = _Mean(k, level, form, g, values, weights, first, own)
    done = mean.accumulated(count)
    value, said = mean.result(type_)
    done += said.format(out.name)
    if level >= 4:
        done += mean.second_output(type_)
    if level >= 2 and shape.chance(0.5):
        gain = coefficient(k, ("gain", "calibration", "scale"), type_, 0.5, 1.5, g, "se")
        value, done = gain.value * value, f"{done} That is multiplied by {gain.text}."
    k.store(out, g.at, value)
    return Title(k.name(*_MEANS[form]), done)


class _Mean:
    """The sums that a weighted mean is made of."""

    def __init__(
        self,
        k: KernelBuilder,
        level: int,
        form: str,
        g: Grid,
        values: Var,
        weights: Var,
        first: bool,
        own: bool,
    ) -> None:
        self.k, self.level, self.form, self.g = k, level, form, g
        self.values, self.weights, self.first, self.own = values, weights, first, own

    def accumulated(self, count: Expr) -> str:
        k, type_ = self.k, element_of(self.values)
        assert isinstance(type_, Scalar)
        origin = k.scalar(("origin", "baseline"), type_, -1.0, 1.0) if self._centred() else None
        missing = self.level >= 3 and k.draw.shape.chance(0.6)
        floor = k.scalar(("missing_below", "min_valid"), type_, -1.6, -1.0) if missing else None
        self.total = k.let(("total", "acc", "weighted_sum"), k.lift(0.0, type_))
        self.norm = k.let(("norm", "weight_sum", "wsum"), k.lift(1.0e-6 if missing else 0.0, type_))
        if self.form == "variance":
            self.squares = k.let(("squares", "total_sq"), k.lift(0.0, type_))
        with k.for_(("s", "layer", "t"), count) as s:
            place = (s, *self.g.at) if self.first else (*self.g.at, s)
            v: Expr = k.let(("v", "value"), self.values[place])
            weight = self.weights[place if self.own else s]
            if floor is not None:
                with k.if_(v > floor):
                    self._add(v, weight, origin)
            else:
                self._add(v, weight, origin)
        what = {"second": "v^2", "centred": "(v - {0})"}.get(self.form, "v")
        what = what.format(origin.name if origin else "")
        which = f" over the v above {floor.name}" if floor is not None else ""
        start = " (which starts at 1e-6)" if missing else ""
        return (
            f"For the v = {self.values.name} and w = {self.weights.name} along the short axis, "
            f"take the sum of w * {what}{which} and the sum of these w{start}."
        )

    def _centred(self) -> bool:
        return self.form == "centred"

    def _add(self, v: Expr, weight: Expr, origin: Var | None) -> None:
        k = self.k
        weight = local(k, ("w_s", "wt"), weight)
        what = v * v if self.form == "second" else v - origin if origin is not None else v
        k.augment(self.total, "add", weight * what)
        if self.form == "variance":
            k.augment(self.squares, "add", weight * v * v)
        k.augment(self.norm, "add", weight)

    def result(self, type_: Scalar) -> tuple[Expr, str]:
        k = self.k
        mean: Expr = self.total / self.norm
        self.mean = mean
        if self.level >= 4 or self.form == "variance":
            self.mean = mean = k.let(("mean_value", "m1"), mean)
        if self.form != "variance":
            return mean, " {0} is their ratio."
        spread = self.squares / self.norm - mean * mean
        return spread, " {0} is the sum of w * v^2 over that of w, minus their squared ratio."

    def second_output(self, type_: Scalar) -> str:
        """The sum of the weights, or the anomaly of a reference field."""
        k = self.k
        reference = k.array(("reference", "climatology"), type_, self.g.sizes, low=-1.0, high=1.0)
        extra = k.out(("anomaly", "departure"), type_, self.g.sizes)
        gap: Expr = reference[self.g.at] - self.mean
        text = {
            "second": f"{reference.name} minus that ratio",
            "centred": f"{reference.name} minus that ratio",
        }.get(self.form, f"{reference.name} minus the weighted mean of v")
        if self.level == 5:
            scale = parameters(
                k,
                [(("low", "lower"), type_, -0.7, -0.4), (("high", "upper"), type_, 0.4, 0.7)],
                ("Limits", "Band"),
                0.7,
            )
            gap = fn("clamp", k.let(("gap", "diff"), gap), scale[0].value, scale[1].value)
            text += f", clamped to [{scale[0].text}, {scale[1].text}]"
        k.store(extra, self.g.at, gap)
        return f" {extra.name} gets {text}."
