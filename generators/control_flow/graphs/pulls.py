"""Pulls: each vertex looks at its neighbours, whose list is a stretch of an array or a row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent
from generators.build.registry import Title, idiom
from generators.control_flow.kit import same
from generators.kit.functions import least, most
from generators.kit.masks import one_if
from generators.program.dtypes import BOOL, FLOAT32, INT32, Scalar, Type
from generators.program.expr import Expr, Var

LINKS = 96
"""How many stored links offsets may reach to."""


@dataclass
class Graph:
    """A thread's vertex, and where its links lie."""

    k: KernelBuilder
    v: Var
    form: str
    neighbours: Var
    bounds: tuple[Expr, Expr]
    said: str
    free: Expr | None = None
    """What marks a free place of a padded table."""

    @contextmanager
    def links(self, twice: bool = False) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
        """A pass over the links: the neighbour, which has a name where it is read twice, and where
        what belongs to the link lies."""
        k, named = self.k, self.k.draw.shape.chance(0.7) or twice
        first, last = self.bounds
        with k.for_("e edge_id j", last, start=first) as e:
            place: tuple[Expr, ...] = (e,)
            if self.form in ("table", "counted"):
                place = (self.v, e)
            if self.form == "slots":
                place = (e, self.v)
            other: Expr = self.neighbours[place]
            if self.free is not None:
                other = k.let("u nb", other)
                with k.if_(other >= self.free):
                    k.break_() if self.form == "table" else k.continue_()
            elif named:
                other = k.let("u nb", other)
            yield other, place

    def weights(self, names: str, type_: Type, low: float, high: float) -> Var:
        """A value for each link."""
        dims = {"csr": "links", "slots": ("degree", "verts")}
        return self.k.array(
            names, type_, dims.get(self.form, ("verts", "degree")), low=low, high=high
        )

    def each(self, names: str, type_: Type, low: object, high: object) -> Var:
        """A value for each vertex."""
        return self.k.array(names, type_, "verts", low=low, high=high)


def graph(k: KernelBuilder, level: int, padded: int = 2) -> Graph:
    """Links in compressed rows, or in a table padded with the number of vertices (that often)."""
    shape = k.draw.shape
    form = shape.weighted({"csr": 4, "table": padded, "slots": padded, "counted": 3})
    # A padded table has free places often enough where there are few vertices.
    k.size("verts", *((12, 14) if form in ("table", "slots") else (24, 36)), minimum=12)
    (v,) = k.thread("verts", names=(k.name("v node vid"),))
    if form == "csr":
        k.size("links", 96, 128, minimum=LINKS)
        starts = shape.chance(0.3)
        offsets = k.array(
            "offsets row_ptr indptr", INT32, "verts+1", init="sorted", low=0, high=LINKS
        )
        cols = k.array("neighbors col_idx adjacency", INT32, "links", init="index_of:verts")
        first: Expr = offsets[v]
        last: Expr = offsets[v + 1]
        if starts or shape.chance(0.5):
            words = k.draw.word.choice((("first", "last"), ("begin", "end"), ("start", "stop")))
            first, last = k.let(words[0], first), k.let(words[1], last)
        said = f"the vertices {cols.name}[e] for e from {offsets.name}[{v.name}] to "
        return Graph(k, v, form, cols, (first, last), f"{said}{offsets.name}[{v.name} + 1]")
    return _padded(k, v, form)


def _padded(k: KernelBuilder, v: Var, form: str) -> Graph:
    """A table of neighbours with as many places for each vertex."""
    k.size("degree", 6, 8)
    dims = ("degree", "verts") if form == "slots" else ("verts", "degree")
    counted = form == "counted"
    init = "index_of:verts" if counted else "index_of:verts+1"
    table = k.array("neighbors adjacency ell_cols", INT32, dims, init=init)
    width: Expr = extent(table, 0 if form == "slots" else 1)
    if not counted and k.draw.shape.chance(0.4):
        width = k.size_param("max_degree degree_cap", "degree")
    if counted:
        init = "index_of:degree+1"
        counts = k.array("degrees num_links num_neighbors", INT32, "verts", init=init)
        stop = k.let("count deg", counts[v])
        said = f"{table.name}[{v.name}, e] for e below {counts.name}[{v.name}]"
        return Graph(k, v, form, table, (k.lift(0, INT32), stop), said)
    free = k.size_param("num_verts num_vertices", "verts")
    at = f"{v.name}, e" if form == "table" else f"e, {v.name}"
    ends = "up to the first place that holds" if form == "table" else "save places that hold"
    said = f"{table.name}[{at}] for all e, {ends} {free.name} (padding)"
    return Graph(k, v, form, table, (k.lift(0, INT32), width), said, free)


def _front(g: Graph) -> tuple[Var | None, Scalar | None]:
    """Flags of the frontier and their type, or neither: then levels tell."""
    kind = g.k.draw.shape.choice((None, None, INT32, BOOL, Scalar("uint8")))
    if kind is None:
        return None, None
    low, high = (None, None) if kind == BOOL else (0, 1)
    return g.each("frontier in_front", kind, low, high), kind


@idiom
def bfs_pull(k: KernelBuilder, level: int) -> Title:
    """A step of breadth-first search, bottom up (Beamer, Asanovic and Patterson, SC 2012)."""
    shape = k.draw.shape
    g = graph(k, level)
    current = k.scalar("current_level current_depth frontier_level", INT32, 0, 1)
    seen = g.each("levels dist depths", INT32, -2, 1)
    front, kind = _front(g)
    out = k.out(f"next_{seen.name} {seen.name}_out", INT32, "verts")
    traced = shape.chance(0.3 + 0.1 * level)
    parent = k.out("parents pred found_by", INT32, "verts") if traced else None
    own = k.let("own", seen[g.v])
    k.store(out, g.v, own)
    if parent is not None:
        k.store(parent, g.v, -1)
    early = shape.chance(0.5)
    if early:
        with k.if_(own >= 0):
            k.return_()

    def hit(u: Expr) -> Expr:
        if front is None:
            return same(seen[u], current)
        return front[u] if kind == BOOL else same(front[u], 1)

    unreached = nullcontext() if early else k.if_(own < 0)
    with unreached, g.links(parent is not None) as (u, _), k.if_(hit(u)):
        k.store(out, g.v, current + 1)
        if parent is not None:
            k.store(parent, g.v, u)
        k.break_()
    test = f"{seen.name} entry is {current.name}" if front is None else f"{front.name} flag is set"
    text = (
        "A bottom-up step of breadth-first search. Each vertex that is not reached yet (negative "
    )
    text += f"{seen.name}) looks through its neighbours, {g.said}; at the first one whose {test} "
    text += f"it gets {current.name} + 1 in {out.name}"
    if parent is not None:
        text += f" and that neighbour in {parent.name}, which is -1 otherwise"
    text += f". All other entries of {out.name} are those of {seen.name}."
    return Title(k.name("bfs_pull bfs_bottom_up", "expand_frontier"), text)


_PATHS = {
    "sum": (
        "weights costs edge_lengths",
        "{d}[u] + {w}",
        "sssp_pull relax_links",
        "dist path_costs",
        "Relax shortest paths",
    ),
    "widest": (
        "capacities edge_widths",
        "min({d}[u], {w})",
        "widest_path_pull relax_widest",
        "width bottleneck",
        "Relax widest paths",
    ),
    "reliable": (
        "success_probs link_probs",
        "{d}[u] * {w}",
        "reliable_path_pull relax_reliable",
        "path_prob reliability",
        "Relax most reliable paths",
    ),
}


def _at(g: Graph, w: Var) -> str:
    """What belongs to a link, as a description writes it."""
    places = {"csr": "e", "slots": f"e, {g.v.name}"}
    return f"{w.name}[{places.get(g.form, f'{g.v.name}, e')}]"


def _relaxed(g: Graph, dist: Var, w: Var, goal: str, traced: bool) -> tuple[Var, Var | None]:
    """The best distance over all links, and the neighbour that gives it if that is traced."""
    k, up = g.k, goal != "sum"
    best = k.let("best best_so_far", dist[g.v])
    pred = k.let("via best_u", k.lift(-1, INT32)) if traced else None
    plain = pred is None and k.draw.shape.chance(0.5)
    with g.links(traced) as (u, e):
        a, b = dist[u], w[e]
        way = {"sum": a + b, "widest": least(a, b), "reliable": a * b}[goal]
        if plain:
            k.assign(best, (most if up else least)(best, way))
        else:
            there = k.let("candidate alt", way)
            with k.if_(there > best if up else there < best):
                k.assign(best, there)
                if pred is not None:
                    k.assign(pred, u)
    return best, pred


@idiom
def sssp_pull(k: KernelBuilder, level: int) -> Title:
    """A Bellman-Ford step by pulls: the best distance over incoming links."""
    shape = k.draw.shape
    g = graph(k, level)
    kind = FLOAT32 if shape.chance(0.7) else INT32
    goal = shape.weighted({"sum": 2, "widest": 1, "reliable": kind == FLOAT32})
    names, said, title, called, aim = _PATHS[goal]
    span = ((0.3, 1.0) if goal == "reliable" else (0.1, 4.0)) if kind == FLOAT32 else (1, 9)
    high = ((0.05, 1.0) if goal == "reliable" else (0.0, 10.0)) if kind == FLOAT32 else (0, 25)
    w = g.weights(names, kind, *span)
    dist = g.each(called, kind, *high)
    best, pred = _relaxed(g, dist, w, goal, shape.chance(0.3 + 0.1 * level))
    out = k.out(f"new_{dist.name} {dist.name}_out", kind, "verts")
    k.store(out, g.v, best)
    text = (
        f"{aim} over all links into each vertex {g.v.name}: {out.name} gets the "
        f"{'smallest' if goal == 'sum' else 'largest'} of its {dist.name} and "
        f"{said.format(d=dist.name, w=_at(g, w))} over its neighbours u, {g.said}."
    )
    if pred is not None:
        preds = k.out("predecessors parents via_out", INT32, "verts")
        k.store(preds, g.v, pred)
        text += f" {preds.name} gets the first neighbour that gives it, -1 where none is better."
    elif level > 1 and shape.chance(0.5):
        changed = k.out("changed improved", INT32, "verts")
        better = best < dist[g.v] if goal == "sum" else best > dist[g.v]
        k.store(changed, g.v, one_if(better))
        text += f" {changed.name} gets 1 where that differs from {dist.name}, else 0."
    return Title(k.name(title), text)


def _pulled(g: Graph, rank: Var) -> tuple[Var, str]:
    """What the neighbours give a vertex, and the terms in words."""
    k = g.k
    way = k.draw.shape.choice(("degree", "inverse", "weight"))
    total = k.let("total acc pulled", k.lift(0.0, FLOAT32))
    degree = inverse = weight = None
    said = ""
    if way == "degree":
        degree = k.array("out_degree degrees", INT32, "verts", low=1, high=6)
        said = f" / {degree.name}[u]"
    elif way == "inverse":
        inverse = g.each("inv_degree inv_out", FLOAT32, 0.2, 1.0)
        said = f" * {inverse.name}[u], that being 1 / the number of links out of u,"
    elif way == "weight":
        weight = g.weights("weights transition", FLOAT32, 0.05, 0.6)
        said = f" * {_at(g, weight)}"
    with g.links(degree is not None or inverse is not None) as (u, e):
        term: Expr = rank[u]
        if degree is not None:
            term = term / cast(degree[u], FLOAT32)
        if inverse is not None:
            term = term * inverse[u]
        if weight is not None:
            term = term * weight[e]
        k.augment(total, "add", term)
    return total, f"{rank.name}[u]{said}"


def _jump(g: Graph, rank: Var) -> tuple[Expr, str]:
    """The share of a vertex in what random jumps bring."""
    k, way = g.k, g.k.draw.shape.choice(("count", "array", "param"))
    if way == "count":
        count = extent(rank) if g.free is None else g.free
        return 1.0 / cast(count, FLOAT32), "(1 / the number of vertices)"
    if way == "param":
        jump = k.scalar("teleport jump", FLOAT32, 0.02, 0.2)
        return jump, jump.name
    own = g.each("teleport personal", FLOAT32, 0.01, 0.2)
    return own[g.v], f"{own.name}[{g.v.name}]"


@idiom
def pagerank_pull(k: KernelBuilder, level: int) -> Title:
    """A step of PageRank by pulls: each vertex sums what its incoming links give it."""
    shape = k.draw.shape
    g = graph(k, level)
    rank = g.each("rank scores pr", FLOAT32, 0.1, 1.0)
    total, term = _pulled(g, rank)
    damping = k.scalar("damping alpha", FLOAT32, 0.7, 0.95)
    jump, said = _jump(g, rank)
    new = k.let("new_rank updated", (1.0 - damping) * jump + damping * total)
    out = k.out("new_ranks rank_out next_pr", FLOAT32, "verts")
    k.store(out, g.v, new)
    d = damping.name
    text = (
        f"A pull step of PageRank: {out.name} gets (1 - {d}) * {said} + {d} * (the sum of {term} "
        f"over the neighbours u, {g.said})."
    )
    if shape.chance(0.15 * level):
        res = k.out("residual change deltas", FLOAT32, "verts")
        k.store(res, g.v, abs(new - rank[g.v]))
        text += f" {res.name} gets the absolute change of the rank."
    return Title(k.name("pagerank_pull pagerank_step", "pull_ranks"), text)
