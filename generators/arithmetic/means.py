"""Weighted averages over a short axis."""

from __future__ import annotations

from contextlib import nullcontext

from generators.arithmetic.common import DATA
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, literal

_NAMES = {
    "arithmetic": "weighted_mean weighted_average",
    "centred": "weighted_deviation mean_anomaly",
    "second": "second_moment weighted_mean_square",
    "variance": "weighted_variance variance_of_layers",
}


@idiom(depth=1)
def weighted_mean(k: KernelBuilder, level: int) -> Title:
    """Weighted averages over a short axis: of values, squares, deviations; with missing values."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=2, grid=2, cube=1)
    form = shape.choice(sorted(_NAMES)[: 3 if level < 3 else 4])
    mean, value, done = _averaged(s, level, form, f)
    if level >= 2 and shape.chance(0.5):
        gain = given(s, "gain calibration scale", f, 0.5, 1.5, forms=DATA)
        value, done = gain * value, f"{done} That is multiplied by {say(k, gain)}."
    if level >= 4 and form != "variance":
        done += _anomaly(s, level, mean)
    names = "variance out" if form == "variance" else "mean average out"
    ways = {"plain": 5, "mask": 1}
    done += deliver(s, level, names, value, ways=ways)
    return Title(k.name(_NAMES[form]), done)


def _averaged(s: Site, level: int, form: str, f: Scalar) -> tuple[Expr, Expr, str]:
    """The mean of what is averaged, the result made of it, and the text."""
    k, shape = s.k, s.k.draw.shape
    m = k.size("m", 3, 5)
    first = shape.chance(0.5) or s.rank == 3
    dims = (m, *s.dims) if first else (*s.dims, m)
    values = k.array("values layers samples", f, dims, low=-2.0, high=2.0)
    own = shape.chance(0.5)
    weights = k.array("weights shares confidence", f, dims if own else m, low=0.2, high=1.5)
    count = k.trip_count("m num_layers members", m)
    origin = k.scalar("origin baseline", f, -1.0, 1.0) if form == "centred" else None
    missing = level >= 3 and shape.chance(0.6)
    floor = k.scalar("missing_below min_valid", f, -1.6, -1.0) if missing else None
    sums = k.let("total acc weighted_sum", zero(f))
    norm = k.let("norm weight_sum wsum", literal(1.0e-6 if missing else 0.0, f))
    squares = k.let("squares total_sq", zero(f)) if form == "variance" else None
    with k.for_("s layer t", count) as q:
        place = (q,) + s.at if first else s.index(q)
        v = k.let("v value", values[place])
        with nullcontext() if floor is None else k.if_(v > floor):
            w = k.let("w_s wt", weights[place if own else q])
            what = v - origin if origin is not None else v * v if form == "second" else v
            k.augment(sums, "add", w * what)
            if squares is not None:
                k.augment(squares, "add", w * v * v)
            k.augment(norm, "add", w)
    what_text = {"second": "v^2", "centred": f"(v - {say(k, origin or 0)})"}.get(form, "v")
    done = f"For the values v in {values.name} along its {'first' if first else 'last'} axis, with "
    done += f"their weights w in {weights.name}, take the sum "
    done += f"of w * {what_text}{f' over the v above {floor.name}' if floor is not None else ''} "
    done += f"and the sum of these w{' (which starts at 1e-6)' if missing else ''}."
    mean: Expr = sums / norm
    if level >= 4 or squares is not None:
        mean = k.let("mean_value m1", mean)
    if squares is None:
        return mean, mean, f"{done} Take their ratio."
    done += " Take the sum of w * v^2 over that of w, minus the square of their ratio."
    return mean, squares / norm - mean * mean, done


def _anomaly(s: Site, level: int, mean: Expr) -> str:
    """A second output: how far a reference field is from the mean."""
    f = mean.type
    assert isinstance(f, Scalar)
    reference = s.read("reference climatology", f, -1.0, 1.0)
    gap: Expr = reference - mean
    text = f"{say(s.k, reference)} minus the ratio of the two sums"
    if level == 5:
        parts = {"low": Part("low lower", f, -0.7, -0.4), "high": Part("high upper", f, 0.4, 0.7)}
        r = record(s, "Limits Band", parts, 0.7, shared=True)
        gap = fn("clamp", s.k.let("gap diff", gap), r["low"], r["high"])
        text += f", clamped to [{r.say('low')}, {r.say('high')}]"
    return f" {s.put('anomaly departure', gap).name} gets {text}."
