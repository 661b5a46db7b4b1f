"""Steps of graph algorithms along edges: degrees, roots, distances, levels, ranks."""

from __future__ import annotations

from generators.atomic.parallel.edges import Edges, edges
from generators.atomic.parallel.parts import INT64, UINT32, named
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.kit.text import written
from generators.kit.words import singular
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var


def _equal(a: Expr, b: Expr) -> Expr:
    return fn("eq", a, b)


def _unequal(a: Expr, b: Expr) -> Expr:
    return fn("ne", a, b)


@idiom
def label_propagation(k: KernelBuilder, level: int) -> Title:
    """A step of connected components: the smaller label of two neighbours goes to the other."""
    shape = k.draw.shape
    g = edges(k, level, queued=0.4)
    type_ = shape.weighted({INT32: 6, UINT32: 2, INT64: 2})
    labels = g.state("labels components", type_, 0, 60)
    out = k.accumulator("next_labels new_labels lowest", type_, g.nodes, 10**6)
    changed = None
    form = shape.choice(("test", "least", "plain") if g.is_list else ("test", "test", "plain"))
    if form == "test" and shape.chance(0.2 * level):
        changed = k.accumulator("changed num_changed", INT32, "1")
    active = None
    if not g.queued and not g.is_list and level > 1 and shape.chance(0.4):
        active = k.array("active dirty updated", INT32, g.nodes, low=0, high=1)
        with g.guard(_unequal(active[g.source], k.lift(0, INT32))):
            told = _spread(k, g, labels, out, changed, form)
    else:
        told = _spread(k, g, labels, out, changed, form)
    only = f", where {active.name}[u] is set" if active is not None else ""
    text = f"Label propagation for connected components: {g.said}{only}, {told}. {out.name} of a "
    text += "node keeps the smallest label that it is given."
    if changed is not None:
        text += f" {changed.name}[0] counts how often that happens."
    return Title(k.name("propagate_labels min_label_step spread_labels"), text)


def _spread(
    k: KernelBuilder, g: Edges, labels: Var, out: Var, changed: Var | None, form: str
) -> str:
    """Labels given along an edge, in words."""
    both_ways = g.is_list and (form == "least" or k.draw.shape.chance(0.5))
    names = k.draw.word.choice((("label_u", "label_v"), ("mine", "theirs")))
    own = named(k, names[0], labels[g.source], 1.0)
    with g.targets() as v:
        other = named(k, names[1], labels[v], 0.7)
        if form == "least":
            low = k.let("low smallest", least(own, other))
            k.atomic("min", out, g.source, low)
            k.atomic("min", out, v, low)
            return "both ends are given the smaller of their labels"
        if form == "plain":
            k.atomic("min", out, v, own)
            if both_ways:
                k.atomic("min", out, g.source, other)
            return f"v is given {labels.name}[u]" + f", and u {labels.name}[v]" * both_ways
        with k.if_(own < other):
            k.atomic("min", out, v, own)
            if changed is not None:
                k.atomic("add", changed, 0, 1)
        if both_ways:
            with k.elif_(other < own):
                k.atomic("min", out, g.source, other)
                if changed is not None:
                    k.atomic("add", changed, 0, 1)
    told = f"v is given {labels.name}[u] where that is smaller than {labels.name}[v]"
    return told + ", and the other way round" * both_ways


@idiom
def hook_roots(k: KernelBuilder, level: int) -> Title:
    """Union-find: roots of both ends are found by their parents, the larger hangs on the smaller.

    Y. Shiloach, U. Vishkin, J. Algorithms 3 (1982); FastSV: Y. Zhang, A. Azad, A. Buluc (2020).
    """
    shape = k.draw.shape
    g = edges(k, level, nodes=(24, 32), queued=0.4)
    word = k.draw.word.choice(("parent", "parents"))
    parents = k.array(word, INT32, g.nodes, init=f"index_of:{g.nodes}")
    out = k.accumulator(f"next_{word} new_{word}", INT32, g.nodes, 10**6)
    form = shape.weighted({"stars": 3 * (level < 3), "climb": 2 + level, "fast": level})
    if form == "fast":
        return _fast_hooks(k, g, parents, out)
    roots = k.draw.word.choice((("ru", "rv"), ("root_u", "root_v")))
    root_u = _root(k, parents, g.source, roots[0], form)
    with g.targets() as v:
        root_v = _root(k, parents, v, roots[1], form)
        with g.guard(_unequal(root_u, root_v)):
            if shape.chance(0.5):
                ends = k.draw.word.choice((("high", "low"), ("larger", "smaller")))
                high = named(k, ends[0], most(root_u, root_v), 0.7)
                k.atomic("min", out, high, named(k, ends[1], least(root_u, root_v), 0.6))
            else:
                with k.if_(root_u < root_v):
                    k.atomic("min", out, root_v, root_u)
                with k.else_():
                    k.atomic("min", out, root_u, root_v)
    text = f"Hooking step of connected components by union-find: {g.said}, take the roots of both, "
    if form == "stars":
        text += f"which are their entries of {parents.name} (all trees are stars). "
    else:
        text += f"found by going from a node r to {parents.name}[r] while that is less than r (no "
        text += "parent is above its child, and a root is its own). "
    text += f"Where they differ, lower {out.name} of the larger root to the smaller root."
    return Title(k.name("hook_roots union_edges link_components"), text)


def _root(k: KernelBuilder, parents: Var, node: Expr, names: str, form: str) -> Expr:
    """The root of a node: its parent, or the end of the way up."""
    if form == "stars":
        return k.let(names, parents[node])
    root = k.let(names, node)
    with k.while_(parents[root] < root):
        k.assign(root, parents[root])
    return root


def _fast_hooks(k: KernelBuilder, g: Edges, parents: Var, out: Var) -> Title:
    """FastSV: the grandparent of a neighbour is hung on a node, its parent or both."""
    way = k.draw.shape.choice(("parent", "both", "all"))
    parent_u = k.let("parent_u pu", parents[g.source])
    if way == "all":
        k.atomic("min", out, g.source, parents[parent_u])
    with g.targets() as v:
        found = k.let("grandparent_v gp_v", parents[parents[v]])
        k.atomic("min", out, parent_u, found)
        if way != "parent":
            k.atomic("min", out, g.source, found)
    to = "the parent of u" + " and u itself" * (way != "parent")
    text = f"Hooking step of connected components (FastSV): {g.said}, lower {out.name} of {to} to "
    text += f"the grandparent of v. Parents are those of {parents.name}."
    if way == "all":
        text += f" {out.name} of u is lowered to the grandparent of u, too."
    return Title(k.name("fastsv_hook hook_grandparents hook_and_shortcut"), text)


_FAR = {FLOAT32: 1.0e6, INT32: 10**6, INT64: 10**9}


@idiom
def edge_relaxation(k: KernelBuilder, level: int) -> Title:
    """A step of Bellman and Ford: distances are lowered along edges by atomic minimum."""
    shape = k.draw.shape
    g = edges(k, level, queued=0.4)
    type_: Scalar = shape.weighted({FLOAT32: 5, INT32: 4, INT64: 1})
    span = (0, 10) if type_ == FLOAT32 else (0, 90)
    names = k.draw.word.choice(("dist", "distances", "cost"))
    dist = g.state(names, type_, *span)
    packed = level > 2 and type_ != FLOAT32 and shape.chance(0.6)
    out_type = INT64 if packed else type_
    called = "best_entry next_entries" if packed else f"new_{names} next_{names}"
    out = k.accumulator(called, out_type, g.nodes, 10**12 if packed else _FAR[type_])
    du = named(k, "du dist_u base", dist[g.source], 0.8)
    limit = None
    if shape.chance(0.25):
        limit = k.scalar("bucket_end", type_, span[1] // 3, 2 * span[1] // 3)
        with g.guard(du < limit):
            said = _relaxed(k, g, dist, out, du, packed)
    else:
        said = _relaxed(k, g, dist, out, du, packed)
    only = f" with {dist.name}[u] < {limit.name}" if limit is not None else ""
    text = (
        f"Relaxation step of shortest paths (Bellman-Ford): {g.said}{only}, lower {out.name}[v] to "
    )
    text += f"{said}."
    return Title(k.name("relax_edges bellman_ford_step sssp_relax"), text)


def _relaxed(k: KernelBuilder, g: Edges, dist: Var, out: Var, du: Expr, packed: bool) -> str:
    """Paths through u; only those that are shorter than the known one, at times."""
    shape = k.draw.shape
    type_ = du.type
    assert isinstance(type_, Scalar)
    tested = shape.chance(0.5)
    with g.targets() as v:
        weights = g.weight("weights lengths edge_cost", type_, 1, 9)
        found: Expr = du + weights
        found = k.let("through candidate alt", found) if tested else named(k, "alt", found, 0.6)
        if not tested:
            k.atomic("min", out, v, _with_parent(k, found, g.source, packed))
        else:
            with g.guard(found < dist[v]):
                k.atomic("min", out, v, _with_parent(k, found, g.source, packed))
    said = f"d = {dist.name}[u] + {weights.array.name} of the edge"
    if packed:
        said = f"(d << 32) | u with {said}, which keeps the parent too"
    return said + (f", if d < {dist.name}[v]" if tested else "")


def _with_parent(k: KernelBuilder, found: Expr, u: Expr, packed: bool) -> Expr:
    if not packed:
        return found
    value = (cast(found, INT64) << k.lift(32, INT64)) | cast(u, INT64)
    return named(k, "entry packed", value, 0.6)


@idiom
def frontier_push(k: KernelBuilder, level: int) -> Title:
    """Breadth-first search: nodes of the frontier give unseen neighbours parents or path counts."""
    shape = k.draw.shape
    g = edges(k, level, nodes=(22, 28), queued=0.9)
    if level > 1 and shape.chance(0.35):
        return _push_searches(k, g)
    called = k.draw.word.choice(("levels", "depth"))
    levels = g.state(called, INT32, -1, 0 if g.queued else 1)
    way = shape.choice(("parent", "paths", "both"))
    now = None
    if not g.queued:
        now = k.scalar(f"current {singular(called)}_now", INT32, 0, 1)
    only = f"{levels.name}[v] is negative (not yet seen)"
    if now is None:
        done = _push_level(k, g, way, levels)
    else:
        with g.guard(_equal(levels[g.source], now)):
            done = _push_level(k, g, way, levels)
        only = f"{levels.name}[u] is {now.name} and {levels.name}[v] negative (not yet seen)"
    text = f"Breadth-first search step: {g.said}, where {only}, {done}."
    names = {"parent": "bfs_parents", "paths": "count_paths bfs_paths"}.get(way, "bfs_push")
    return Title(k.name(f"{names} expand_frontier bfs_step"), text)


def _push_level(k: KernelBuilder, g: Edges, way: str, levels: Var) -> str:
    """What a node of the frontier does to its unseen neighbours, in words."""
    told, counts = [], k.draw.word.choice(("num_paths", "sigma"))
    out = paths = known = None
    if way != "parent":
        known = g.state(counts, INT32, 1, 6)
        paths = k.accumulator(f"new_{counts} next_{counts}", INT32, g.nodes)
        told.append(f"add {known.name}[u], the shortest paths to u, to {paths.name}[v]")
    if way != "paths":
        out = k.accumulator("parents parent", INT32, g.nodes, 10**6)
        told.append(f"lower {out.name}[v] to u, so that the smallest of its finders is its parent")
    with g.targets() as v, g.guard(levels[v] < 0):
        if paths is not None and known is not None:
            k.atomic("add", paths, v, known[g.source])
        if out is not None:
            k.atomic("min", out, v, g.source)
    return " and ".join(told)


def _push_searches(k: KernelBuilder, g: Edges) -> Title:
    """Many searches at once, one bit of a word each (MS-BFS: Then et al., VLDB 2014)."""
    type_ = k.draw.shape.choice((UINT32, Scalar("uint64")))
    front = g.state("frontier_bits visit", type_, 0, 3)
    seen = g.state("seen_bits seen", type_, 0, 7)
    out = k.accumulator("next_bits visit_next", type_, g.nodes)
    own = k.let("bits_u visits", front[g.source])
    with g.targets() as v:
        fresh = k.let("fresh unseen", own & ~seen[v])
        with g.guard(_unequal(fresh, k.lift(0, type_))):
            k.atomic("or", out, v, fresh)
    text = f"Step of {type_.bits} breadth-first searches at once, search b by bit b of each word: "
    text += f"{g.said}, OR the bits of {front.name}[u] that {seen.name}[v] does not have into "
    text += f"{out.name}[v]."
    return Title(k.name("multi_source_bfs ms_bfs_push"), text)


@idiom
def rank_push(k: KernelBuilder, level: int) -> Title:
    """PageRank: every node sends its rank in equal or weighted shares along its edges."""
    shape = k.draw.shape
    g = edges(k, level, queued=0.3)
    type_ = k.draw.wide_float_type()
    ranks = g.state("ranks scores", type_, 0.1, 1.0)
    damping = k.scalar("damping alpha", type_, 0.7, 0.95)
    weighted = shape.chance(0.35)
    by_row = not g.is_list and not weighted and shape.chance(0.7)
    own = ranks[g.source]
    if weighted:
        totals = g.state("out_weight strength", type_, 1.0, 4.0)
        share: Expr = damping * own / totals[g.source]
        how = f"/ {totals.name}[u]"
    elif by_row:
        ends = g.arrays[0]
        degree: Expr = ends[g.source]
        degree = ends[g.source + 1] - degree if g.form == "rows" else degree
        degree = g.degree = k.let("degree out_deg", degree)
        share, how = damping * own / cast(degree, type_), "over the number of u's neighbours"
    elif not g.is_list or shape.chance(0.4):
        inverse = g.state("inv_degree inv_out", type_, 0.2, 1.0)
        share, how = damping * own * inverse[g.source], f"* {inverse.name}[u]"
    else:
        degrees = g.state("out_degree degree", INT32, 1, 6)
        share = damping * own / cast(degrees[g.source], type_)
        how = f"/ {degrees.name}[u]"
    if by_row:
        with g.guard(degree > 0):
            out, text = _pushed(k, g, share, type_, None)
    else:
        names = "weights edge_weights" if weighted else None
        out, text = _pushed(k, g, share, type_, names)
    text = f"PageRank push: {g.said}, add {written(damping)} * {ranks.name}[u] {how}{text} to "
    text += f"{out.name}[v]."
    return Title(k.name("push_rank pagerank_push pagerank_scatter"), text)


def _pushed(
    k: KernelBuilder, g: Edges, share: Expr, type_: Scalar, weights: str | None
) -> tuple[Var, str]:
    out = k.accumulator("next_ranks new_scores incoming", type_, g.nodes)
    share = named(k, "share contribution", share, 0.5 if g.is_list else 0.9)
    text = ""
    with g.targets() as v:
        value = share
        if weights is not None:
            load = g.weight(weights, type_, 0.2, 1.0)
            value, text = share * load, f" * {load.array.name} of the edge"
        k.atomic("add", out, v, value)
    return out, text
