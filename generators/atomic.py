"""Atomics: histograms, scatters along edges, reductions, extremes and flags of groups."""

from __future__ import annotations

from generators._atomic_classes import confusion_counts, nearest_centroid
from generators._atomic_deposit import particle_deposit
from generators._atomic_flags import group_flags
from generators._atomic_fluxes import face_fluxes, vertex_normals
from generators._atomic_graphs import (
    message_passing,
    sparse_product,
)
from generators._atomic_groups import group_extremes
from generators._atomic_histogram import histogram
from generators._atomic_ledgers import (
    energy_meter,
    loss_totals,
    mechanics_totals,
    moments,
    peak_hold,
    schedule_bounds,
    trade_ledger,
    weather_totals,
)
from generators._atomic_marks import (
    depth_buffer,
    visit_marks,
)
from generators._atomic_parts import amounts, contribution, number_type, skip_some
from generators._atomic_random import random_tally
from generators._atomic_reduction import reduction
from generators._atomic_springs import edge_springs
from generators._atomic_words import block_checksum, packed_winner
from generators.build import KernelBuilder, fn
from generators.dtypes import INT32
from generators.expr import Expr, Var
from generators.registry import Category, Title

CATEGORY = Category("atomic", "sums, extremes and flags that many threads update together")


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


_IDIOMS = (
    histogram,
    group_extremes,
    reduction,
    group_flags,
    moments,
    loss_totals,
    mechanics_totals,
    trade_ledger,
    weather_totals,
    peak_hold,
    schedule_bounds,
    energy_meter,
    edge_springs,
    message_passing,
    sparse_product,
    face_fluxes,
    vertex_normals,
    particle_deposit,
    nearest_centroid,
    confusion_counts,
    depth_buffer,
    packed_winner,
    block_checksum,
    visit_marks,
    random_tally,
)
for _idiom in _IDIOMS:
    CATEGORY.idiom(_idiom)
