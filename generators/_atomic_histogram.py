"""Histograms of codes, hashed keys and binned measurements, in one or two dimensions."""

from __future__ import annotations

from collections.abc import Callable

from generators._atomic_parts import GROUPS, INTS, amounts, contribution, number_type, skip_some
from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Title

_SLOTS = ("b", "slot", "bucket")


def histogram(k: KernelBuilder, level: int) -> Title:
    """Counts or weights per bin, of codes or of binned measurements, in one or two dimensions."""
    shape = k.draw.shape
    n, bins = k.size("n", 72, 96), k.size("bins", 5, 8)
    form = shape.choice(sorted(_FORMS))
    plane, weighted = level >= 3 and shape.chance(0.5), shape.chance(0.3 if level == 1 else 0.6)
    type_ = number_type(k) if weighted or form == "codes" else shape.weighted(INTS)
    source = _FORMS[form](k)
    dims = (bins, k.size("classes", 2, 4)) if plane else (bins,)
    classes = k.array(GROUPS, INT32, n, init=f"index_of:{dims[-1]}") if plane else None
    weights = amounts(k, ("weights", "mass", "charge"), type_, n) if weighted else None
    hist = k.accumulator(("hist", "totals" if weighted else "counts", "histogram"), type_, dims)
    hits = k.accumulator(("hits", "occupancy"), INT32, bins) if level >= 4 and weighted else None
    count = k.size_param(("num_bins", "bin_count"), bins) if form != "codes" else None
    (i,) = k.thread(n)
    skips = level >= 4 or (level == 3 and shape.chance(0.5))
    skipped = skip_some(k, i, n) if skips else ""
    slot, where, outside = _slot(k, form, source, i, count, uses=1 + (hits is not None))
    amount, what, phrase = _amount(k, form, weights, i, type_, level)
    k.atomic("add", hist, (slot, classes[i]) if classes is not None else slot, amount)
    done = f"For each x of {source[0].name} add {what} to {hist.name} at bin {where}"
    done += f" and its class in {classes.name}" if classes else ""
    if hits is not None:
        k.atomic("add", hits, slot, 1)
        done += f", and one to {hits.name} at that bin"
    name = "joint_histogram" if plane else "weighted_histogram" if weighted else "histogram"
    return Title(k.name(name, f"build_{name}"), f"{done}{outside}.{phrase}{skipped}")


def _amount(
    k: KernelBuilder, form: str, weights: Var | None, i: Var, type_: Scalar, level: int
) -> tuple[Expr, str, str]:
    """What an entry adds, in words, and how a weight is changed first."""
    if weights is not None:
        amount, phrase = contribution(k, weights[i], level, 1, f"Each entry of {weights.name}")
        return amount, f"its {weights.name}", phrase
    if form != "codes" and (level < 3 or k.draw.shape.chance(0.6)):
        return k.lift(1, type_), "one", ""
    if type_.is_float:
        share = float(k.draw.value.constant(0.01, 4.0))
        return k.lift(share, type_), f"{share}", ""
    whole = k.draw.value.integer(2, 99)
    return k.lift(whole, type_), f"{whole}", ""


Source = tuple[Var, float, float]
"""What is counted, and the two constants of its formula."""


def _codes(k: KernelBuilder) -> Source:
    return k.array(("codes", "symbols", "levels"), INT32, "n", init="index_of:bins"), 0, 0


def _keys(k: KernelBuilder) -> Source:
    factor, shift = 2 * k.draw.value.integer(1, 60) + 1, k.draw.value.integer(1, 99)
    return k.array(("keys", "ids", "tokens"), INT32, "n", low=0, high=9999), factor, shift


def _whole_numbers(k: KernelBuilder) -> Source:
    width, first = k.draw.value.integer(3, 60), k.draw.value.integer(0, 99)
    names = ("ages", "scores", "minutes", "sizes")
    high = first + 9 * width
    return k.array(names, INT32, "n", low=first, high=high), width, first


def _measurements(k: KernelBuilder) -> Source:
    width = float(k.draw.value.constant(0.1, 5.0))
    origin = float(k.draw.value.constant(0.1, 20.0))
    low, high = round(origin - 2 * width, 2), round(origin + 9 * width, 2)
    names, type_ = ("samples", "readings", "u"), k.draw.wide_float_type()
    return k.array(names, type_, "n", low=low, high=high), width, origin


_FORMS: dict[str, Callable[[KernelBuilder], Source]] = {
    "codes": _codes,
    "hash": _keys,
    "coarse": _whole_numbers,
    "skip": _measurements,
    "clamp": _measurements,
}


def _slot(
    k: KernelBuilder, form: str, source: Source, i: Var, count: Var | None, uses: int
) -> tuple[Expr, str, str]:
    """The bin of an entry, its formula, and what happens to entries outside."""
    data, first, second = source
    if count is None:
        return (k.let(_SLOTS, data[i]) if uses > 1 else data[i]), "x", ""
    if form == "hash":
        slot: Expr = (first * data[i] + second) % count
        return k.let(_SLOTS, slot), f"({first} * x + {second}) % {count.name}", ""
    if form == "coarse":
        slot = fn("min", (data[i] - second if second else data[i]) // first, count - 1)
        shown = f"(x - {second}) // {first}" if second else f"x // {first}"
        return k.let(_SLOTS, slot), f"min({shown}, {count.name} - 1)", ""
    return _binned(k, form, source, i, count)


def _binned(
    k: KernelBuilder, form: str, source: Source, i: Var, count: Var
) -> tuple[Expr, str, str]:
    """Bins of one width from an origin on."""
    data, width, origin = source
    where = f"floor((x - {origin}) / {width})"
    slot = cast(fn("floor", (data[i] - origin) / width), INT32)
    if form == "clamp":
        slot = k.let(_SLOTS, fn("clamp", slot, 0, count - 1))
        return slot, f"{where} clamped to [0, {count.name} - 1]", ""
    slot = k.let(_SLOTS, slot)
    with k.if_(op("or", slot < 0, slot >= count)):
        k.return_()
    return slot, where, f"; bins outside [0, {count.name} - 1] are ignored"
