"""Farthest point sampling: a step for each point, partial maxima, whole patches by one thread."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import index
from generators.kit.functions import dot, least
from generators.kit.sources import zero
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Operand, Var

NONE = -1.0


@dataclass(frozen=True)
class _Cloud:
    """Points of one cloud or of several, as vectors, an array an axis, or rows of features."""

    k: KernelBuilder
    arrays: tuple[Var, ...]
    way: str
    lead: tuple[str, ...]
    vec: Vec
    size: str
    """How many points a cloud has."""

    @property
    def name(self) -> str:
        if len(self.arrays) == 1:
            return self.arrays[0].name
        return f"({', '.join(a.name for a in self.arrays)})"

    @property
    def count(self) -> Expr:
        return extent(self.arrays[0], len(self.lead))

    def at(self, *where: Operand) -> tuple[Expr, ...]:
        return tuple(a[where] for a in self.arrays)

    def held(self, names: str, *where: Operand) -> tuple[Expr, ...]:
        """A point in locals, where it has any."""
        if self.way == "rows":
            return ()
        if self.way == "vec":
            return (self.k.let(names, self.arrays[0][where]),)
        stem = self.k.draw.word.choice(("q", "last_", "new_"))
        axes = zip("xyz", self.at(*where), strict=False)
        return tuple(self.k.let(f"{stem}{axis}", v) for axis, v in axes)

    def squared(
        self, a: tuple[Expr, ...], where_a: tuple[Operand, ...], where_b: tuple[Operand, ...]
    ) -> Var:
        """The squared distance of two points, the first of which may be held in locals."""
        k = self.k
        if self.way == "rows":
            total = k.let("d2 dist_sq", zero(FLOAT32))
            with k.for_("c", extent(self.arrays[0], len(self.lead) + 1)) as c:
                gap = self.arrays[0][index(*where_b, c)] - self.arrays[0][index(*where_a, c)]
                diff = k.let("diff gap", gap)
                k.augment(total, "add", diff * diff)
            return total
        if self.way == "vec":
            d = k.let("d delta", self.arrays[0][where_b] - a[0])
            return k.let("d2 dist_sq", dot(d, d))
        parts = []
        for axis, (array, v) in enumerate(zip(self.arrays, a, strict=True)):
            parts.append(k.let(f"d{'xyz'[axis]}", array[where_b] - v))
        whole: Expr = parts[0] * parts[0]
        for part in parts[1:]:
            whole = whole + part * part
        return k.let("d2 dist_sq", whole)


def _cloud(
    k: KernelBuilder,
    level: int,
    lead: tuple[str, ...] | bool,
    size: str,
    ways: str = "vec split rows",
) -> _Cloud:
    shape = k.draw.shape
    if not isinstance(lead, tuple):
        lead = (k.draw.word.choice(("clouds", "batch")),) if lead else ()
        for name in lead:
            k.size(name, 3, 4)
    shares = {"vec": 5, "split": 2, "rows": 2 if level > 1 else 0}
    way = shape.weighted({name: shares[name] for name in ways.split()})
    vec = Vec(3 if shape.chance(0.8) else 2, FLOAT32)
    if way == "rows":
        k.size("dim", 4, 6)
        dims = (*lead, size, "dim")
        arrays = [k.array("features embeddings feats", FLOAT32, dims, low=-1.0, high=1.0)]
    elif way == "vec":
        arrays = [k.array("points xyz positions", vec, (*lead, size), low=-1.0, high=1.0)]
    else:
        stem = k.draw.word.choice(("points", "pos"))
        arrays = [
            k.array(f"{stem}_{axis}", FLOAT32, (*lead, size), low=-1.0, high=1.0)
            for axis in "xyz"[: vec.size]
        ]
    return _Cloud(k, tuple(arrays), way, lead, vec, size)


@idiom
def farthest_point_update(k: KernelBuilder, level: int) -> Title:
    """A step of farthest point sampling: distances to the samples fall to that of the newest."""
    shape = k.draw.shape
    several = level > 1 and shape.chance(0.4)
    k.size("points", *((10, 13) if several else (30, 44)), minimum=2)
    c = _cloud(k, level, several, "points")
    dims = (*c.lead, "points")
    at = k.thread(*dims, names=[k.name("b cloud"), k.name("i tid p")][-len(dims) :])
    lead = at[:-1]
    dist = k.array("nearest_sq_dists min_sq_dists", FLOAT32, dims, role="inout", low=0.05, high=3.0)
    last, said = _newest(c, lead, level)
    valid = None
    if level >= 3 and shape.chance(0.35):
        valid = k.array("valid is_valid", INT32, dims, low=0, high=1)
        with k.if_(fn("eq", valid[at], 0)):
            k.store(dist, at, NONE)
            k.return_()
    s = k.let("s last", last)
    held = c.held("q newest_pt", *lead, s)
    d2 = c.squared(held, index(*lead, s), at)
    text = f"A step of farthest point sampling: {dist.name} of each of {c.name} falls to its "
    text += f"squared distance to the newest sample, the point {said}, where that is less"
    text += f"; points whose {valid.name} is 0 get -1 instead" if valid is not None else ""
    return _updated(k, (dist, at, lead), d2, level, text)


def _newest(c: _Cloud, lead: tuple[Var, ...], level: int) -> tuple[Expr, str]:
    """The newest sample: the last one in a table, or held in a cell; in words."""
    k, own = c.k, " of its cloud" * bool(c.lead)
    if level >= 2 and k.draw.shape.chance(0.4):
        dims = (*c.lead, k.size("places", 4, 6, minimum=4))
        table = k.array("samples sample_ids", INT32, dims, init="index_of:points")
        step = k.scalar("step round", INT32, 1, 4)
        return table[index(*lead, step - 1)], f"{table.name}[{step.name} - 1]{own}"
    newest = k.array("last_id newest", INT32, c.lead or "1", init="index_of:points")
    return newest[lead or (0,)], f"{newest.name}{own or '[0]'}"


def _updated(
    k: KernelBuilder,
    of: tuple[Var, tuple[Var, ...], tuple[Var, ...]],
    d2: Var,
    level: int,
    text: str,
) -> Title:
    """The new distance, and what else a step keeps: the nearest sample, or the largest distance."""
    (dist, at, lead), shape = of, k.draw.shape
    way = shape.weighted({"plain": 3, "owner": 2 * (level > 1), "peak": 2 * (level > 2)})
    if way == "owner":
        names = "nearest_sample cluster_ids"
        owner = k.array(names, INT32, k.launch_dim, role="inout", low=0, high=4)
        number = k.scalar("sample_number round_id", INT32, 5, 9)
        with k.if_(d2 < dist[at]):
            k.store(dist, at, d2)
            k.store(owner, at, number)
        text += f". {owner.name} becomes {number.name} where {dist.name} falls"
        return Title(k.name("fps_update update_nearest_sample"), f"{text}.")
    if way == "plain" and shape.chance(0.5):
        with k.if_(d2 < dist[at]):
            k.store(dist, at, d2)
        return Title(k.name("fps_update update_min_dists"), f"{text}.")
    new = k.let("new_d d_min", least(dist[at], d2))
    k.store(dist, at, new)
    if way == "peak":
        peak = k.accumulator(
            "peak_sq_dist max_min_sq_dist", FLOAT32, k.launch_dim[:-1] or "1", NONE
        )
        k.atomic("max", peak, lead or 0, new)
        text += f". Atomically raise {peak.name}{' of each cloud' if lead else '[0]'} to the "
        text += f"largest new {dist.name}"
    return Title(k.name("fps_update update_min_dists"), f"{text}.")


@idiom
def farthest_point_pick(k: KernelBuilder, level: int) -> Title:
    """The farthest point from the samples: of each patch by a thread, or of a cloud in parts."""
    ways = {"one": 3, "units": 3 * (level > 1), "whole": 3 * (level > 2)}
    way = k.draw.shape.weighted({name: n for name, n in ways.items() if n})
    if way == "units":
        return _by_units(k, level)
    c = _patches(k, level, whole=way == "whole")
    lead = k.thread(*c.lead, names=[k.name("b patch")])
    if way == "whole":
        return _sampled(c, lead, level)
    dist = _distances(c)
    newest = k.array("last_ids newest", INT32, c.lead, init="index_of:points")
    s = k.let("s last", newest[lead])
    _, who = _pass(c, lead, s, dist, None)
    out = k.out("next_ids picked", INT32, c.lead)
    k.store(out, lead, who)
    text = f"A step of farthest point sampling in each patch of {c.name}, which puts the next "
    text += f"sample in {out.name}: {dist.name} of each point falls to its squared distance to the "
    text += f"newest sample, the point {newest.name} of its patch, where that is less, and the "
    text += f"next sample is the point whose {dist.name} is then the largest, the first of equals."
    return Title(k.name("fps_step farthest_point_step"), text)


_SHARE = 32
"""Points of a unit: so many accesses hide that all threads read the newest sample first."""


def _by_units(k: KernelBuilder, level: int) -> Title:
    """The first half of the search in one large cloud: the farthest point of each thread's."""
    k.size("units", 3, 4)
    c = _cloud(k, level, False, f"{_SHARE}*units")
    (unit,) = k.thread("units", names=[k.name("unit t")])
    dist = _distances(c)
    newest = k.array("last_id newest", INT32, "1", init=f"index_of:{c.size}")
    s = k.let("s last", newest[0])
    stride = k.size_param("num_units stride", "units")
    _, who = _pass(c, (), s, dist, (unit, stride))
    out = k.out("unit_ids partial_ids", INT32, "units")
    k.store(out, (unit,), who)
    text = (
        f"A step of farthest point sampling by units, each of which takes {_SHARE} points, every "
    )
    text += f"{stride.name}-th from its own number on: {dist.name} of each of {c.name} falls to "
    text += f"its squared distance to the newest sample, the point {newest.name}[0], where that is "
    text += f"less. {out.name} gets the unit's point of the largest new {dist.name}, the first of "
    text += "equals."
    return Title(k.name("fps_partial_argmax fps_unit_step"), text)


def _patches(k: KernelBuilder, level: int, whole: bool) -> _Cloud:
    """Small sets of points, as clouds are cut into; where all samples are picked, one of
    ``_KEPT`` points is."""
    k.size("patches", 20, 28)
    if whole:
        k.size("samples", 3, 4)
    else:
        k.size("points", 20, 26, minimum=2)
    size = f"{_KEPT}*samples" if whole else "points"
    return _cloud(k, level, ("patches",), size, "vec split")


_KEPT = 4


def _distances(c: _Cloud) -> Var:
    dims = (*c.lead, c.size)
    return c.k.array(
        "nearest_sq_dists min_sq_dists", FLOAT32, dims, role="inout", low=0.05, high=3.0
    )


def _pass(
    c: _Cloud, lead: tuple[Var, ...], s: Var, dist: Var, unit: tuple[Var, Var] | None
) -> tuple[Var, Var]:
    """Lower all distances of a cloud, or of a unit's points; the largest one and its point."""
    k = c.k
    held = c.held("q newest_pt", *lead, s)
    best = k.let("best_d far_d", k.lift(NONE, FLOAT32))
    who = k.let("best_i far_id", k.lift(-1, INT32))
    if unit is None:
        with k.for_("j", c.count) as j:
            _lowered(c, (lead, s, held), dist, j, (best, who))
    else:
        with k.for_("c n", _SHARE) as n:
            j = k.let("j", unit[0] + n * unit[1])
            _lowered(c, (lead, s, held), dist, j, (best, who))
    return best, who


def _lowered(
    c: _Cloud,
    sample: tuple[tuple[Var, ...], Var, tuple[Expr, ...]],
    dist: Var,
    j: Var,
    kept: tuple[Var, Var],
) -> None:
    """Lower the distance of a point, and keep it if it is the farthest so far."""
    k, (lead, s, held), place = c.k, sample, index(*sample[0], j)
    d2 = c.squared(held, index(*lead, s), place)
    new = k.let("new_d d_min", least(dist[place], d2))
    k.store(dist, place, new)
    with k.if_(new > kept[0]):
        k.assign(kept[0], new)
        k.assign(kept[1], j)


def _sampled(c: _Cloud, lead: tuple[Var, ...], level: int) -> Title:
    """All samples of a cloud by one thread."""
    k = c.k
    dist = k.array(
        "min_sq_dists scratch_sq_dists",
        FLOAT32,
        (*c.lead, c.size),
        role="inout",
        init="reduction_identity",
        low=1.0e30,
        high=1.0e30,
    )
    first = k.array("start_ids seeds", INT32, c.lead, init=f"index_of:{c.size}")
    out = k.out("sample_ids sampled", INT32, (*c.lead, "samples"))
    cover = k.out("cover_radii cover_dists", FLOAT32, c.lead) if k.draw.shape.chance(0.4) else None
    s = k.let("s last", first[lead])
    rest = k.let("rest gap", k.lift(0.0, FLOAT32)) if cover is not None else None
    with k.for_("m step", extent(out, 1)) as n:
        k.store(out, index(*lead, n), s)
        best, who = _pass(c, lead, s, dist, None)
        k.assign(s, who)
        if rest is not None:
            k.assign(rest, best)
    text = f"Farthest point sampling of each patch of {c.name}: the first sample is {first.name}, "
    text += "each further one the point whose squared distance to the nearest sample so far is the "
    text += f"largest, the first of equals. {out.name} gets the samples in order; {dist.name}, "
    text += "1e30 at first, holds the squared distance of each point to the nearest of them"
    if cover is not None and rest is not None:
        k.store(cover, lead, fn("sqrt", rest))
        text += f". {cover.name} gets the largest distance of a point to its nearest sample"
    return Title(k.name("farthest_point_sampling fps"), f"{text}.")
