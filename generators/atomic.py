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
from generators._atomic_random import random_tally
from generators._atomic_reduction import reduction
from generators._atomic_scatter import scatter
from generators._atomic_springs import edge_springs
from generators._atomic_words import block_checksum, packed_winner
from generators.registry import Category

CATEGORY = Category("atomic", "sums, extremes and flags that many threads update together")


_IDIOMS = (
    scatter,
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
