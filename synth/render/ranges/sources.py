"""What is known of a program's inputs and random numbers: what their contract says of them."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program import ir
from generators.program.dtypes import Array, Mat, Scalar, Struct, Transform, Type, scalar_of
from synth.render.ranges.known import (
    ANY,
    Interval,
    Known,
    Value,
    count_of,
    made,
    unit,
    unknown,
    written,
)


def of_param(param: ir.Param) -> Value:
    """A parameter's value, or that of any element of an array."""
    type_ = param.type.element if isinstance(param.type, Array) else param.type
    if param.role != "in":
        return unknown(type_)
    if isinstance(type_, Struct):
        drawn = {f.name: f for f in param.fields}
        return {
            name: _of_init(t, drawn[name].init, drawn[name].low, drawn[name].high)
            if name in drawn
            else unknown(t)
            for name, t in type_.fields
        }
    return _of_init(type_, param.init, param.low, param.high)


def _of_init(type_: Type, init: str, low: str | None, high: str | None) -> Value:
    if isinstance(type_, Struct):
        return unknown(type_)
    if init == "unit":
        return _unit(type_, _bounds(low, high, scalar_of(type_)))
    scalar = scalar_of(type_)
    if init.startswith("size"):
        return Known(((1.0, float(scalar.int_range[1])),))
    if init.startswith("index_of"):
        return Known(((0.0, float(scalar.int_range[1])),) * count_of(type_))
    bounds = _bounds(low, high, scalar)
    if bounds == ANY:
        return unknown(type_)
    if init == "well_conditioned" and isinstance(type_, Mat):
        # Its diagonal is moved by the order times the largest entry.
        return Known((ANY,) * count_of(type_), dominated=True)
    if init not in ("uniform", "integers", "sorted"):
        return unknown(type_)
    parts = (bounds,) * count_of(type_)
    return made(parts, type_) if scalar.is_float else Known(parts)


def _bounds(low: str | None, high: str | None, scalar: Scalar) -> Interval:
    if low is None or high is None:
        return ANY
    return written(float(low), scalar)[0], written(float(high), scalar)[1]


def _unit(type_: Type, position: Interval) -> Value:
    found = unit(type_, exact=True)
    if isinstance(type_, Transform):
        return Known((position,) * 3 + found.parts[3:], found.norm)
    return found


def of_sample(s: ir.Sample, args: Sequence[Value]) -> Value:
    """What a sampler draws, of the range that it is given."""
    type_ = s.type
    if s.sampler in ("randf", "randi") and isinstance(type_, Scalar):
        if not args:
            return Known(((0.0, 1.0),), (0.0, 1.0))
        low, high = args
        assert isinstance(low, Known)
        assert isinstance(high, Known)
        return Known(((low.only[0], max(low.only[0], high.only[1])),))
    if s.sampler in ("sample_unit_ring", "sample_unit_sphere_surface"):
        return unit(type_)
    if s.sampler in ("sample_unit_hemisphere_surface",):
        return unit(type_)
    return unknown(type_)
