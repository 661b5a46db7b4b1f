"""Atomics: histograms, scatters, extremes of groups, global reductions, flags, block sums."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.draw import Draw
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Category, Title
from generators.stages import refine

CATEGORY = Category("atomic", "sums, extremes and flags that many threads update together")

_INTS = {INT32: 6, Scalar("int64"): 2, Scalar("uint32"): 2, Scalar("uint64"): 1}
_WORDS = {Scalar("uint32"): 3, Scalar("uint64"): 1}
_LOCALS = ("value", "contribution", "term", "amount")


def _then(phrase: str) -> str:
    return f" Each contribution is {phrase}." if phrase else ""


def _number_type(draw: Draw, floats: float) -> Scalar:
    return draw.wide_float_type() if draw.shape.chance(floats) else draw.shape.weighted(_INTS)


def _values(k: KernelBuilder, names: tuple[str, ...], type_: Scalar, dims: tuple[str, ...]) -> Var:
    """An array of signed floats, or of integers of moderate size."""
    if type_.is_float:
        return k.array(names, type_, dims, low=-2.0, high=2.0)
    return k.array(names, type_, dims, low=0 if type_.is_unsigned else -20, high=50)


def _adjusted(k: KernelBuilder, value: Expr, level: int, other: Expr | None) -> tuple[Expr, str]:
    """The value on its way to the accumulator: through stages, or integer steps."""
    phrase = ""
    type_ = value.type
    assert isinstance(type_, Scalar)
    if other is not None:
        form = k.draw.shape.choice(("product", "difference"))
        value = value * other if form == "product" or type_.is_unsigned else value - other
        phrase = "combined with the second input"
    if type_.is_float:
        signal = refine(k, value, level, _LOCALS, scale=1.5)
        return signal.value, signal.phrase
    return value, phrase


@CATEGORY.idiom
def histogram(k: KernelBuilder, level: int) -> Title:
    """Counts or weights per bin, of codes or of binned measurements."""
    shape, value = k.draw.shape, k.draw.value
    n, bins = k.size("n", 64, 96), k.size("bins", 5, 9)
    coded = shape.chance(0.5)
    real = k.draw.wide_float_type()
    if coded:
        data = k.array(("codes", "labels", "symbols"), INT32, n, init=f"index_of:{bins}")
    else:
        data = k.array(("samples", "values", "readings"), real, n, low=-0.2, high=1.2)
    weighted = level >= 2 and shape.chance(0.6)
    type_ = _number_type(k.draw, 0.6) if weighted else shape.weighted(_INTS)
    weights = _values(k, ("weights", "mass", "charge"), type_, (n,)) if weighted else data
    size = data if coded else k.size_param(("num_bins", "bin_count"), bins)
    counts = k.accumulator(("hist", "counts", "histogram"), type_, bins)
    hits = k.accumulator(("hits", "occupancy"), INT32, bins) if level >= 4 and weighted else None
    (i,) = k.thread(n)
    done = f"Add {'the ' + weights.name if weighted else 'one'} to {counts.name} at the bin of each "
    if coded:
        slot = k.let(("b", "slot", "bucket"), data[i])
        done += f"of {data.name}"
    else:
        x = k.let(("x", "sample"), data[i])
        outside = shape.choice(("skip", "clamp"))
        if outside == "skip":
            with k.if_(op("or", x < 0.0, x >= 1.0)):
                k.return_()
            slot = k.let(("b", "slot", "bucket"), cast(x * cast(size, real), INT32))
        else:
            scaled = cast(fn("floor", x * cast(size, real)), INT32)
            slot = k.let(("b", "slot", "bucket"), fn("clamp", scaled, 0, size - 1))
        done += f"of {data.name}, [0, 1) being split evenly ({outside} what lies outside)"
    if level >= 3:
        period = value.integer(3, 6)
        mask = k.array(("mask", "group", "stage"), INT32, n, low=0, high=period)
        test = shape.choice(("eq", "ne", "lt"))
        with k.if_(fn(test, mask[i], 1 if test == "ne" else 0) if test != "lt" else mask[i] < 2):
            k.return_()
        done += f"; leave out threads whose {mask.name} is {_TESTS[test]}"
    return Title("", done)


_TESTS = {"eq": "0", "ne": "not 1", "lt": "below 2"}
