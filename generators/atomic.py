"""Atomics: histograms, scatters along edges, reductions, extremes and flags of groups."""

from __future__ import annotations

from generators._atomic_groups import group_extremes, group_flags
from generators._atomic_parts import (
    GROUPS,
    INTS,
    amounts,
    contribution,
    number_type,
    skip_some,
)
from generators._atomic_reduction import reduction
from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Category, Title

CATEGORY = Category("atomic", "sums, extremes and flags that many threads update together")


@CATEGORY.idiom
def histogram(k: KernelBuilder, level: int) -> Title:
    """Counts or weights per bin, of codes or of binned measurements, in one or two dimensions."""
    shape = k.draw.shape
    n, bins = k.size("n", 72, 96), k.size("bins", 5, 8)
    form = shape.choice(("codes", "skip", "clamp"))
    plane, weighted = level >= 3 and shape.chance(0.5), level >= 2 and shape.chance(0.6)
    type_ = number_type(k) if weighted else shape.weighted(INTS)
    data = _binned(k, form)
    dims = (bins, k.size("classes", 2, 4)) if plane else (bins,)
    classes = k.array(GROUPS, INT32, n, init=f"index_of:{dims[-1]}") if plane else None
    weights = amounts(k, ("weights", "mass", "charge"), type_, n) if weighted else None
    hist = k.accumulator(("hist", "totals" if weighted else "counts", "histogram"), type_, dims)
    hits = k.accumulator(("hits", "occupancy"), INT32, bins) if level >= 4 and weighted else None
    count = k.size_param(("num_bins", "bin_count"), bins) if form != "codes" else None
    (i,) = k.thread(n)
    skips = level >= 4 or (level == 3 and shape.chance(0.5))
    skipped = skip_some(k, i, n) if skips else ""
    slot, where = _slot(k, form, data, i, count, uses=1 + (hits is not None))
    amount: Expr = k.lift(1, type_)
    phrase = ""
    if weights is not None:
        amount, phrase = contribution(k, weights[i], level, 1, f"Each entry of {weights.name}")
    k.atomic("add", hist, (slot, classes[i]) if classes is not None else slot, amount)
    done = f"For each of {data.name} add {f'its {weights.name}' if weights else 'one'} to "
    done += f"{hist.name} at {'its bin' if count else 'the bin it names'}"
    done += f" and its class in {classes.name}" if classes else ""
    if hits is not None:
        k.atomic("add", hits, slot, 1)
        done += f", and one to {hits.name} at that bin"
    name = "joint_histogram" if plane else "weighted_histogram" if weighted else "histogram"
    return Title(k.name(name, f"build_{name}"), f"{done}{where}.{phrase}{skipped}")


def _binned(k: KernelBuilder, form: str) -> Var:
    """What is counted: bin numbers, or measurements a little beyond [0, 1)."""
    if form == "codes":
        return k.array(("codes", "symbols", "levels"), INT32, "n", init="index_of:bins")
    names = ("samples", "readings", "u")
    return k.array(names, k.draw.wide_float_type(), "n", low=-0.2, high=1.2)


def _slot(
    k: KernelBuilder, form: str, data: Var, i: Var, count: Var | None, uses: int
) -> tuple[Expr, str]:
    """The bin of an entry, and how it comes about."""
    names = ("b", "slot", "bucket")
    if count is None:
        return (k.let(names, data[i]) if uses > 1 else data[i]), ""
    x = k.let(("x", "sample"), data[i])
    if form == "skip":
        with k.if_(op("or", x < 0.0, x >= 1.0)):
            k.return_()
    assert isinstance(x.type, Scalar)
    scaled = cast(fn("floor", x * cast(count, x.type)), INT32)
    slot = fn("clamp", scaled, 0, count - 1) if form == "clamp" else scaled
    outside = "are clamped to the first or last bin" if form == "clamp" else "are ignored"
    return k.let(
        names, slot
    ), f"; {count.name} equal bins divide [0, 1), and values outside {outside}"


@CATEGORY.idiom
def scatter(k: KernelBuilder, level: int) -> Title:
    """Add values where an index array says, at higher levels along edges with two ends."""
    shape, type_ = k.draw.shape, number_type(k)
    n, m = k.size("n", 64, 96), k.size("m", 6, 12)
    joined = level >= 2 and shape.chance(0.6)
    names = ("heads", "targets", "dst") if joined else ("targets", "dst", "indices")
    ends = k.array(names, INT32, n, init=f"index_of:{m}")
    values = amounts(k, ("values", "flow", "amounts", "load"), type_, n)
    starts = (
        k.array(("sources", "src", "tails"), INT32, n, init=f"index_of:{m}") if joined else None
    )
    factors = None
    if level >= 2 and shape.chance(0.6):
        factors = amounts(k, ("factors", "coefficients", "gains"), type_, n)
    sums = k.accumulator(("sums", "nodes", "totals", "balance"), type_, m)
    degree = k.accumulator(("degree", "touched"), INT32, m) if level >= 4 else None
    (i,) = k.thread(n)
    skipped = skip_some(k, i, n) if level >= 4 else ""
    target, source, loops = _ends(k, ends, starts, i, uses=1 + (degree is not None))
    value = values[i] if factors is None else values[i] * factors[i]
    text = values.name if factors is None else f"{values.name} * {factors.name}"
    amount, phrase = contribution(k, value, level, 1 + joined)
    signed = not type_.is_unsigned
    kind = "add" if joined or not signed else shape.choice(("add", "sub"))
    k.atomic(kind, sums, target, amount)
    done = f"{'Add' if kind == 'add' else 'Subtract'} each of {text} "
    done += f"{'to' if kind == 'add' else 'from'} {sums.name} at its index in {ends.name}"
    if starts is not None and source is not None:
        k.atomic("add", sums, source, -amount if signed else amount)
        done += f", and {'subtract' if signed else 'add'} it at its index in {starts.name}"
    if degree is not None:
        k.atomic("add", degree, target, 1)
        done += f"; count in {degree.name} how often each index in {ends.name} occurs"
    name = ("accumulate_edges", "edge_flux") if joined else ("scatter_values", "scatter_sum")
    return Title(k.name(*name), f"{done}{loops}.{phrase}{skipped}")


def _ends(
    k: KernelBuilder, ends: Var, starts: Var | None, i: Var, uses: int
) -> tuple[Expr, Expr | None, str]:
    """Where an entry goes and comes from; sometimes entries with equal ends do nothing."""
    loops = starts is not None and k.draw.shape.chance(0.5)
    target: Expr = ends[i]
    if loops or uses > 1:
        target = k.let(("t", "node", "end"), target)
    if starts is None:
        return target, None, ""
    if not loops:
        return target, starts[i], ""
    source = k.let(("s", "origin", "start"), starts[i])
    with k.if_(fn("eq", source, target)):
        k.return_()
    return target, source, "; entries with equal indices do nothing"


for _idiom in (group_extremes, reduction, group_flags):
    CATEGORY.idiom(_idiom)
