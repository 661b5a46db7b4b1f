"""Particles and cells: hashes of cells, voxels, spline shares, pairs by distance, overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from generators.atomic.parallel.parts import (
    COUNTS,
    UINT32,
    Work,
    both,
    extent_of,
    guarded,
    named,
    spot,
    work,
)
from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, dot, least, where
from generators.kit.naming import routine
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Load, Var


class _Places:
    """Positions of particles: a vector each, or an array for each axis."""

    def __init__(self, w: Work, axes: int, low: float, high: float) -> None:
        self.k, self.axes = w.k, axes
        if w.k.draw.shape.chance(0.6):
            load = w.read("positions points pos", Vec(axes, FLOAT32), low, high)
            point = w.let("pt xi", load, 1.0)
            self.parts: list[Expr] = [point[c] for c in range(axes)]
            self.said = load.array.name
        else:
            loads = [w.read(f"pos_{a}", FLOAT32, low, high) for a in "xyz"[:axes]]
            self.parts = [*loads]
            self.said = ", ".join(load.array.name for load in loads)


def _cells(k: KernelBuilder, parts: Sequence[Expr], size: Expr | None, inverse: bool) -> list[Expr]:
    """The cell of a place along each axis, in locals."""
    cells: list[Expr] = []
    letter = k.draw.word.choice(("c", "i"))
    for axis, place in zip("xyz", parts, strict=False):
        if size is not None:
            place = place * size if inverse else place / size
        cells.append(k.let(f"{letter}{axis}", cast(fn("floor", place), INT32)))
    return cells


@idiom(depth=2)
def cell_hash_counts(k: KernelBuilder, level: int) -> Title:
    """Spatial hashing: particles counted by the hash of their cell.

    M. Teschner and others, VMV 2003.
    """
    shape = k.draw.shape
    axes = shape.choice((2, 3))
    with work(k, level, "num_particles", (48, 72), "i p", "systems") as w:
        places = _Places(w, axes, 0.1, 7.9)
        inverse = shape.chance(0.5)
        names, span = ("inv_cell inv_h", (0.7, 1.4)) if inverse else ("cell_size h", (0.7, 1.4))
        size = k.scalar(names, FLOAT32, *span)
        k.size("buckets", 8, 13)
        count = extent_of(k, "buckets")
        cells = _cells(k, places.parts, size, inverse)
        primes = (73856093, 19349663, 83492791)[:axes]
        words = [cast(c, UINT32) * k.lift(p, UINT32) for c, p in zip(cells, primes, strict=True)]
        mixed = words[0]
        for word in words[1:]:
            mixed = mixed ^ word
        code = w.let("code hashed", mixed, 0.7)
        slot = cast(code % cast(count, UINT32), INT32)
        keep = level > 1 and not w.inner and shape.chance(0.5)
        slot = w.let("slot bucket", slot, 1.0 if keep else 0.7)
        out = w.shared("bucket_counts cell_counts counts", shape.weighted(COUNTS), ("buckets",))
        out.update("add", (slot,), 1)
        if keep:
            kept = k.out("bucket_of bucket_ids keys", INT32, w.dims)
            k.store(kept, w.at, slot)
    how = f"* {size.name}" if inverse else f"/ {size.name}"
    products = [f"c{a} * {p}" for a, p in zip("xyz", primes, strict=False)]
    text = "Count particles by the hash bucket of their cell: for each particle of "
    text += f"{places.said}, add 1 to {out.said('b')}"
    text += f" and store b in {kept.name}" if keep else ""
    cells_ = ", ".join(f"c{a}" for a in "xyz"[:axes])
    text += f". The cell {cells_} is floor(position {how}) along each axis, and b = ("
    text += f"{' ^ '.join(products)}) % {written(count)} in unsigned 32 bits, ^ being exclusive or."
    return Title(k.name("hash_cells spatial_hash_counts count_buckets"), text)


@idiom(depth=3)
def voxel_sums(k: KernelBuilder, level: int) -> Title:
    """Point clouds thinned by voxels: counts and sums of the points of each voxel."""
    shape, vec = k.draw.shape, Vec(3, FLOAT32)
    with work(k, level, "num_points", (48, 72), "i p", "clouds") as w:
        load = w.read("points positions cloud", vec, 0.1, 3.9)
        p = w.let("pt point", load, 1.0)
        inverse = shape.chance(0.5)
        size = k.scalar("inv_voxel inv_size" if inverse else "voxel_size leaf", FLOAT32, 0.8, 1.2)
        origin = k.scalar("origin lower", vec, -0.2, 0.2) if shape.chance(0.4) else None
        moved = p if origin is None else w.let("local q", p - origin, 1.0)
        dims = [k.size(f"n{a}", 3, 3) for a in "xyz"]
        cells = _cells(k, [moved[c] for c in range(3)], size, inverse)
        counts = [extent_of(k, d) for d in dims]
        clamped = shape.chance(0.3)
        lead = w.dims[:-1]
        flat = bool(lead) or shape.chance(0.5)
        if clamped:
            cells = [
                k.let(f"v{a}", clamp(c, 0, n - 1))
                for a, c, n in zip("xyz", cells, counts, strict=True)
            ]
        tests = [t for c, n in zip(cells, counts, strict=True) for t in (c >= 0, c < n)]
        out_dims = [*lead, "nx*ny*nz"] if flat else dims
        sums = k.accumulator("sums voxel_sums point_sums", vec, out_dims)
        hits = k.accumulator("counts occupancy", shape.weighted(COUNTS), out_dims)
        with nullcontext() if clamped else w.guard(both(*tests)):
            _into_voxel(w, (sums, hits), tuple(cells), counts if flat else [], p)
    how = f"* {size.name}" if inverse else f"/ {size.name}"
    about = f"{load.array.name}" if origin is None else f"({load.array.name} - {origin.name})"
    text = (
        "Voxel grid filter, first pass: add each point to the sum and the count of its voxel, in "
    )
    text += f"{sums.name} and {hits.name}. The voxel is floor({about} {how}) along each axis"
    text += ", clamped to the grid" if clamped else "; points outside of the grid are left out"
    sides = " x ".join(written(c) for c in counts)
    text += f". {'The grid of each cloud' if lead else 'The grid'} has {sides} voxels"
    _, ny, nz = (written(c) for c in counts)
    text += f", voxel (x, y, z) being number (x * {ny} + y) * {nz} + z." if flat else "."
    return Title(k.name("voxel_downsample bin_points accumulate_voxels"), text)


def _into_voxel(
    w: Work, arrays: tuple[Var, Var], at: tuple[Expr, ...], counts: list[Expr], p: Expr
) -> None:
    k, place = w.k, at
    if counts:
        number = k.let("voxel cell vid", (at[0] * counts[1] + at[1]) * counts[2] + at[2])
        place = (*w.at[:-1], number)
    k.atomic("add", arrays[0], place, p)
    k.atomic("add", arrays[1], place, 1)


_NODES = {1: (12, 14), 2: (8, 9), 3: (6, 6)}
"""Nodes along each axis; there are no fewer than the first of each."""
_REACH = {1: 9.3, 2: 5.3, 3: 3.3}


@idiom(depth=4)
def spline_deposit(k: KernelBuilder, level: int) -> Title:
    """Particles to nodes by quadratic B-splines: mass, momentum or charge over three nodes an axis.

    R. W. Hockney, J. W. Eastwood, Computer Simulation Using Particles, 1981 (TSC); as in MPM.
    """
    shape = k.draw.shape
    axes = shape.choice((1, 2, 2)) if level < 3 else shape.choice((2, 2, 3))
    # Blocks of particles a thread times nodes along several axes are long once loops are unrolled.
    forms = "list blocks" if axes == 1 else "list"
    with work(k, level, "num_particles", (30, 48), "i p", "systems", forms) as w:
        if axes > 1:
            places = _Places(w, axes, 0.7, _REACH[axes])
            parts, about = places.parts, places.said
        else:
            load = w.read("positions x pos", FLOAT32, 0.7, _REACH[axes])
            parts, about = [load], written(load)
        scale = k.scalar("inv_dx inv_h", FLOAT32, 0.9, 1.0) if shape.chance(0.5) else None
        low, high = _NODES[axes]
        dims = [k.size(f"n{a}", low, high, minimum=low) for a in "xyz"[:axes]]
        mass, grid = None, "node_weights weight_sums"
        if shape.chance(0.8):
            what, grid = k.draw.word.choice((("mass", "grid_mass"), ("charge", "grid_charge")))
            mass = w.read(what, FLOAT32, 0.5, 2.0)
        vel = None
        if axes > 1 and mass is not None and what == "mass" and shape.chance(0.6):
            vel = w.read("velocities vel", Vec(axes, FLOAT32), -1.0, 1.0)
        s = _Spline(k, dims, vel, grid)
        s.place(parts, scale)
        if vel is not None:
            s.moving = named(k, "v vp", vel, 1.0)
        s.axis(0, None if mass is None else named(k, "m" if what == "mass" else "q", mass, 1.0), [])
    if scale is None:
        about += ", in cells"
    else:
        about = f"({about}) * {scale.name}" if "," in about else f"{about} * {scale.name}"
    return Title(
        k.name("particles_to_grid deposit_tsc p2g_quadratic"), _spline_text(s, about, mass, vel)
    )


def _spline_text(s: _Spline, about: str, mass: Load | None, vel: Load | None) -> str:
    axes = len(s.bases)
    text = f"Particles to grid by quadratic B-splines: for each particle at {about}"
    text += ", add " + ("the weight" if axes == 1 else "the product of its weights along the axes")
    text += "" if mass is None else f" times {written(mass)}"
    text += f" to {s.out.name} at each of the {3**axes} nodes around it"
    if s.flow is not None and vel is not None:
        text += f", and that times {vel.array.name} to {s.flow.name}"
    text += (
        ". Along an axis, with b the nearest node and d the distance past it, nodes b - 1, b and "
    )
    text += "b + 1 weigh 0.5 * (0.5 - d)^2, 0.75 - d^2 and 0.5 * (0.5 + d)^2. All particles lie at "
    return f"{text}least a cell inside of the grid."


class _Spline:
    """Three nodes along each axis with their weights, and what they are added to."""

    def __init__(self, k: KernelBuilder, dims: list[str], vel: Expr | None, grid: str) -> None:
        self.k, self.bases, self.rests = k, list[Expr](), list[Expr]()
        self.tables: list[Expr] = []
        self.tabled = k.draw.shape.chance(0.5)
        if not self.tabled:
            names = "quadratic_spline bspline2"
            self.spline = routine(k, 1.0, names, {"x": FLOAT32}, _spline_at)
        self.letters = k.draw.word.choice((("b", "d"), ("i", "f")))
        self.out = k.accumulator(grid, FLOAT32, dims)
        self.flow: Var | None = None
        self.moving: Expr | None = None
        if vel is not None:
            self.flow = k.accumulator("grid_momentum momentum", vel.type, dims)

    def place(self, parts: Sequence[Expr], scale: Var | None) -> None:
        """Base nodes, and where a particle lies from them."""
        k = self.k
        for a, part in zip("xyz", parts, strict=False):
            base, rest = (f"{letter}{a}" for letter in self.letters)
            grid = named(k, f"g{a}", part if scale is None else part * scale, 1.0)
            self.bases.append(k.let(base, cast(fn("rint", grid), INT32)))
            d = k.let(rest, grid - cast(self.bases[-1], FLOAT32))
            self.rests.append(d)
            if self.tabled:
                weights = make(Vec(3, FLOAT32), *_weights(d))
                self.tables.append(k.let(f"w{a}", weights))

    def _weight(self, axis: int, node: Expr) -> Expr:
        if self.tabled:
            return self.tables[axis][node]
        return self.spline(self.rests[axis] - cast(node - 1, FLOAT32))

    def axis(self, axis: int, weight: Expr | None, place: list[Expr]) -> None:
        """Loops over the nodes of this axis and of those behind it."""
        k = self.k
        with k.for_(("ox", "oy", "oz")[axis], 3) as o:
            own = self._weight(axis, o)
            whole = own if weight is None else weight * own
            at = [*place, self.bases[axis] + o - 1]
            if axis + 1 < len(self.bases):
                self.axis(axis + 1, k.let(("part sx wxm", "share sy wxy")[axis], whole), at)
                return
            if self.flow is not None and self.moving is not None:
                whole = k.let("wm contribution", whole)
                k.atomic("add", self.flow, tuple(at), whole * self.moving)
            k.atomic("add", self.out, tuple(at), whole)


def _spline_at(b: BodyBuilder, x: Expr) -> Expr:
    """The spline that far from a node, which is one of the nearest three."""
    r = b.let("r", abs(x))
    far = 1.5 - r
    return where(r < 0.5, 0.75 - r * r, 0.5 * far * far)


def _weights(d: Expr) -> tuple[Expr, Expr, Expr]:
    low, high = 0.5 - d, 0.5 + d
    return 0.5 * low * low, 0.75 - d * d, 0.5 * high * high


@idiom(depth=4)
def pair_distances(k: KernelBuilder, level: int) -> Title:
    """Distances of all pairs as a histogram, as radial distribution functions need them.

    Sites of a lattice have whole squared distances, and those of other points are shared by two
    bins: no rounding decides over the bin of a pair.
    """
    shape = k.draw.shape
    lead = (k.size("frames", 3, 4),) if shape.chance(0.5) else ()
    k.size("atoms", 14, 20)
    threads = k.thread(*lead, "atoms", names=[*(k.name("f frame") for _ in lead), k.name("i a")])
    k.size("bins", 5, 7)
    r = (_Sites if shape.chance(0.5) else _Pairs)(k, level, lead)
    dims = ("bins",) if not lead or shape.chance(0.3) else (*lead, "bins")
    out = k.accumulator("hist pair_counts distance_counts", r.counts, dims)
    bins = extent_of(k, "bins") if shape.chance(0.5) else extent(out, len(dims) - 1)
    own = k.let("xi p", r.x[threads])
    at, i = threads[:-1], threads[-1]
    place = () if len(dims) == 1 else at
    own_kind = None if r.kinds is None else k.let("own_type", r.kinds[threads])
    with k.for_("j other", extent(r.x, len(lead)), start=i + 1) as j:
        if r.kinds is None or own_kind is None:
            r.add(out, place, own - r.x[spot(*at, j)], bins)
        else:
            with guarded(k, fn("ne", own_kind, r.kinds[spot(*at, j)]), True):
                r.add(out, place, own - r.x[spot(*at, j)], bins)
    text = "Histogram of pair distances: for every pair of "
    text += f"{'one frame of ' if lead else ''}{r.x.name}, taken once,"
    text += r.said("the number of bins" if not isinstance(bins, Var) else bins.name)
    text += "." if not lead or len(dims) > 1 else f". All frames share {out.name}."
    return Title(k.name("pair_distances rdf_histogram distance_histogram"), text)


class _Pairs:
    """Distances of pairs, maybe of unlike species or in a periodic box, shared by two bins."""

    whole = False

    def __init__(self, k: KernelBuilder, level: int, lead: tuple[str, ...]) -> None:
        shape = k.draw.shape
        self.k, self.dim = k, shape.choice((2, 3, 3))
        dims = (*lead, "atoms")
        self.x = self.positions(dims)
        self.counts: Scalar = shape.weighted(COUNTS) if self.whole else FLOAT32
        self.scale: Var = self.reach()
        self.box: Var | None = None
        self.kinds: Var | None = None
        if level > 1 and shape.chance(0.4):
            self.box = self.side()
        if level > 1 and shape.chance(0.35):
            self.kinds = k.array("species types", INT32, dims, low=0, high=1)

    def positions(self, dims: tuple[str, ...]) -> Var:
        """The places of the atoms."""
        names = "positions points pos"
        return self.k.array(names, Vec(self.dim, FLOAT32), dims, low=-1.5, high=1.5)

    def reach(self) -> Var:
        """What tells how wide a bin is."""
        return self.k.scalar("spacing dr", FLOAT32, 0.2, 0.28)

    def side(self) -> Var:
        """The side of the periodic box."""
        return self.k.scalar("box box_length", FLOAT32, 3.2, 3.6)

    def add(self, out: Var, place: tuple[Var, ...], gap: Expr, bins: Expr) -> None:
        """Share a pair between the two bins that its distance lies between."""
        k = self.k
        d = k.let("d diff rij", gap)
        if self.box is not None:
            for c in range(self.dim):
                k.set(d, c, d[c] - self.box * fn("rint", d[c] / self.box))
        u = k.let("u coord", fn("length", d) / self.scale)
        low = k.let("b lower", cast(u, INT32))
        share = k.let("frac share", u - cast(low, FLOAT32))
        with k.if_(low < bins):
            k.atomic("add", out, spot(*place, low), 1.0 - share)
        with k.if_(low + 1 < bins):
            k.atomic("add", out, spot(*place, low + 1), share)

    def said(self, bins: str) -> str:
        text = f" if their {self.kinds.name} differ," if self.kinds is not None else ""
        where = ""
        if self.box is not None:
            where = f" to the nearest image in a periodic box of side {self.box.name}"
        text += f" share 1 linearly between the two bins that its distance r{where} lies between,"
        return f"{text} bin b standing for b * {self.scale.name}; what has no bin is dropped"


class _Sites(_Pairs):
    """Pairs of sites of a lattice, counted by their whole squared distance."""

    whole = True

    def positions(self, dims: tuple[str, ...]) -> Var:
        return self.k.array("sites lattice_sites", Vec(self.dim, INT32), dims, low=0, high=11)

    def reach(self) -> Var:
        return self.k.scalar("cutoff_sq max_dist_sq", INT32, 30, 60)

    def side(self) -> Var:
        return self.k.scalar("box lattice_size", INT32, 12, 15)

    def add(self, out: Var, place: tuple[Var, ...], gap: Expr, bins: Expr) -> None:
        """Count a pair in the bin of its squared distance."""
        k = self.k
        d = k.let("d diff rij", gap)
        if self.box is not None:
            for c in range(self.dim):
                away = k.let(f"away_{'xyz'[c]}", fn("abs", d[c]))
                k.set(d, c, least(away, self.box - away))
        power = k.let("r2 dist_sq", dot(d, d))
        with guarded(k, power < self.scale, True):
            slot = named(k, "slot b", power * bins // self.scale)
            k.atomic("add", out, spot(*place, slot), 1)

    def said(self, bins: str) -> str:
        text = f" if their {self.kinds.name} differ," if self.kinds is not None else ""
        where = ""
        if self.box is not None:
            where = f" to the nearest image on a periodic lattice of side {self.box.name}"
        text += f" count the distance r{where} in bin r^2 * {bins} // {self.scale.name}, where r^2"
        return f"{text} is below {self.scale.name}"
