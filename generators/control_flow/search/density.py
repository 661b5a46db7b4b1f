"""Clusters by density: core points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.masks import one_if
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var

_RADII = {
    (2, True): (0.14, 0.24),
    (3, True): (0.26, 0.42),
    (0, True): (0.5, 0.85),
    (2, False): (0.3, 0.7),
    (3, False): (0.4, 0.9),
    (0, False): (0.8, 1.5),
}
"""By the width of a point (0: an axis of features) and whether all points are looked at: radii
within which some points have enough neighbours and some have not."""


class _Points:
    """Points with a thread each, and the others that may lie near one."""

    def __init__(self, k: KernelBuilder, level: int, widths: tuple[int, ...] = (2, 3)) -> None:
        shape = k.draw.shape
        self.k = k
        self.several = level > 2 and shape.chance(0.3)
        lead = (k.size("clouds", 2, 3),) if self.several else ()
        k.size("num_points", *((24, 28) if self.several else (60, 72)))
        self.dims = (*lead, "num_points")
        names = (*[k.name("b cloud")] * self.several, k.name("i"))
        *before, self.i = k.thread(*self.dims, names=names)
        self.lead = tuple(before)
        self.width = shape.choice(widths)
        near = 0.0 if self.width else -1.0
        self.more = () if self.width else (k.size("features", 3, 3),)
        element = Vec(self.width, FLOAT32) if self.width else FLOAT32
        self.x = k.array(
            "points positions" if self.width else "data samples",
            element,
            (*self.dims, *self.more),
            low=near,
            high=1.0,
        )
        ways = {"all": 4, "lists": 4 * (level > 1), "rows": 3 * (level > 1 and not self.several)}
        self.way = shape.weighted({w: n for w, n in ways.items() if n})
        low, high = _RADII[self.width, self.way == "all"]
        grow = 1.3 if self.several and self.way == "all" else 1.0
        self.eps = k.scalar("eps radius", FLOAT32, low * grow, high * grow)
        self.r2 = k.let("eps_sq radius_sq", self.eps * self.eps)
        self.own = k.let("p pi", self.x[self.lead + (self.i,)]) if self.width else None
        self.told = ""

    def squared(self, j: Expr) -> Expr:
        """The squared distance to another point."""
        k = self.k
        if self.own is not None:
            return k.let("d2 dist_sq", fn("length_sq", self.own - self.x[self.lead + (j,)]))
        total = k.let("d2 dist_sq", k.lift(0.0, FLOAT32))
        with k.for_("f", extent(self.x, len(self.dims))) as f:
            diff = k.let("diff", self.x[self.lead + (self.i, f)] - self.x[self.lead + (j, f)])
            k.augment(total, "add", diff * diff)
        return total

    @contextmanager
    def others(self) -> Iterator[Var]:
        """A loop over all points that may lie near: all, or those listed."""
        k, at = self.k, (*self.lead, self.i)
        if self.way == "all":
            with k.for_("j", extent(self.x, len(self.lead))) as j:
                yield j
            return
        if self.way == "rows":
            k.size("nnz", 520, 560, minimum=500)
            starts = k.array(
                "nbr_offsets offsets", INT32, "num_points+1", init="sorted", low=0, high=500
            )
            ids = k.array("nbr_ids candidates", INT32, "nnz", init="index_of:num_points")
            self.told = (
                f" The candidates of point i are {ids.name}[{starts.name}[i]] up to (not with) "
            )
            self.told += f"{ids.name}[{starts.name}[i + 1]]."
            with k.for_("e", starts[self.i + 1], start=starts[self.i]) as e:
                yield k.let("j", ids[e])
            return
        k.size("max_degree", 14, 16)
        ids = k.array(
            "neighbors nbr_ids", INT32, (*self.dims, "max_degree"), init="index_of:num_points"
        )
        counts = k.array("num_neighbors degrees", INT32, self.dims, init="index_of:max_degree+1")
        self.told = f" The candidates of point i are the first {counts.name}[{self.where}] of "
        self.told += f"{ids.name}[{self.where}]."
        with k.for_("e", counts[at]) as e:
            yield k.let("j", ids[at + (e,)])

    @property
    def where(self) -> str:
        return "b, i" if self.several else "i"

    @property
    def said(self) -> str:
        return "point" if self.way == "all" else "candidate"


@idiom(depth=3)
def dbscan_core(k: KernelBuilder, level: int) -> Title:
    """Core points of DBSCAN: those with enough points around them.

    M. Ester, H.-P. Kriegel, J. Sander, X. Xu, KDD 1996.
    """
    shape, p = k.draw.shape, _Points(k, level, (2, 3, 0))
    listed = p.way != "all"
    weighted = level > 1 and shape.chance(0.3)
    low, high = (4, 6) if listed else (4, 7)
    fewest = k.scalar("min_pts min_samples", INT32, low + 3 * weighted, high + 5 * weighted)
    weights = k.array("weights multiplicity", INT32, p.dims, low=1, high=3) if weighted else None

    def weight(j: Expr) -> Expr:
        return k.lift(1, INT32) if weights is None else weights[p.lead + (j,)]

    way = shape.choice(("flags", "counts", "early")[: 2 + (level > 1)])
    count = k.let("count num_near", weight(p.i) if listed else k.lift(0, INT32))
    with p.others() as j:
        d2 = p.squared(j)
        with k.if_(d2 <= p.r2):
            k.augment(count, "add", weight(j))
            if way == "early":
                with k.if_(count >= fewest):
                    k.break_()
    flags = k.out("is_core core_flags", INT32, p.dims)
    k.store(flags, (*p.lead, p.i), one_if(count >= fewest))
    near = f"points within {p.eps.name} of it (itself included)"
    if listed:
        near = f"points among itself and those of its candidates that lie within {p.eps.name}"
    text = f"DBSCAN core points: {flags.name} gets 1 for a point with at least {fewest.name} {near}"
    if weights is not None:
        text += f", point j counting as {weights.name}[{p.where.replace('i', 'j')}] points"
    text += ", else 0"
    if way == "counts":
        out = k.out("nbr_counts counts", INT32, p.dims)
        k.store(out, (*p.lead, p.i), count)
        text += f"; {out.name} gets their number"
    if way == "early":
        text += "; the search ends as soon as they are enough"
    return Title(k.name("dbscan_core mark_core_points core_points"), f"{text}.{p.told}")
