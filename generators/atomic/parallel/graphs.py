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

    Y. Shiloach, U. Vishkin, J. Algorithms 3 (1982).
    """
    shape = k.draw.shape
    g = edges(k, level, nodes=(24, 32), queued=0.4)
    parents = k.array("parents parent links", INT32, g.nodes, init=f"index_of:{g.nodes}")
    out = k.accumulator("new_parents next_parent hooks", INT32, g.nodes, 10**6)
    steps = shape.weighted({0: 3 * (level < 3), 1: 2 * (level < 4), 2: 3 * (level > 1)})
    turns = k.scalar("num_jumps num_hops", INT32, 1, 3) if steps == 2 else None
    root_u = _root(k, parents, g.source, "ru root_u", steps, turns)
    with g.targets() as v:
        root_v = _root(k, parents, v, "rv root_v", steps, turns)
        with g.guard(_unequal(root_u, root_v)):
            if shape.chance(0.5):
                high = named(k, "high larger", most(root_u, root_v), 0.7)
                k.atomic("min", out, high, named(k, "low smaller", least(root_u, root_v), 0.6))
            else:
                with k.if_(root_u < root_v):
                    k.atomic("min", out, root_v, root_u)
                with k.else_():
                    k.atomic("min", out, root_u, root_v)
    how = f"the parents of both, by {parents.name},"
    if steps == 1:
        how = f"the grandparents of both, by {parents.name} twice,"
    elif turns is not None:
        how = f"the ancestors of both, {turns.name} steps up along {parents.name},"
    text = f"Hooking step of connected components by union-find: {g.said}, take {how} as roots. "
    text += f"Where they differ, lower {out.name} of the larger root to the smaller root."
    return Title(k.name("hook_roots union_edges link_components"), text)


def _root(
    k: KernelBuilder, parents: Var, node: Expr, names: str, steps: int, turns: Var | None
) -> Expr:
    """The root of a node: its parent, that one's, or what so many jumps reach."""
    if turns is None and steps == 1 and k.draw.shape.chance(0.5):
        return k.let(names, parents[parents[node]])
    if turns is not None:
        root = k.let(names, node)
        k.used.discard("hop")
        with k.for_("hop", turns):
            k.assign(root, parents[root])
        return root
    root = k.let(names, parents[node])
    if steps == 1:
        k.assign(root, parents[root])
    return root


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
    out = k.accumulator(
        f"new_{names} next_{names}", out_type, g.nodes, 10**12 if packed else _FAR[type_]
    )
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
    """Breadth-first search: nodes of the present level give the next one to unseen neighbours."""
    shape = k.draw.shape
    g = edges(k, level, nodes=(22, 28), queued=0.9)
    called = k.draw.word.choice(("levels", "depth"))
    levels = g.state(called, INT32, -1, 0 if g.queued else 1)
    form = shape.choice(("min", "exch", "cas") if g.queued else ("min", "exch", "cas", "or"))
    now = k.scalar(f"current {singular(called)}_now", INT32, 0, 3 if g.queued else 1)
    start = {"min": 10**6, "exch": -1, "cas": -1, "or": 0}[form]
    type_ = UINT32 if form == "or" and shape.chance(0.5) else INT32
    out = k.accumulator(
        "next_frontier marks" if form == "or" else f"next_{called} new_{called}",
        type_,
        g.nodes,
        start,
    )
    known = paths = None
    if level > 1 and shape.chance(0.4):
        known = g.state("paths_now known_paths", INT32, 1, 6)
        paths = k.accumulator("num_paths sigma", INT32, g.nodes)
    if g.queued:
        _push_level(k, g, form, (levels, now, out), known, paths)
        only = f"{levels.name}[v] is negative (not yet seen)"
    else:
        with g.guard(_equal(levels[g.source], now)):
            _push_level(k, g, form, (levels, now, out), known, paths)
        only = f"{levels.name}[u] is {now.name} and {levels.name}[v] negative (not yet seen)"
    verb = {
        "min": f"lower {out.name}[v] to {now.name} + 1",
        "exch": f"set {out.name}[v] to {now.name} + 1 by an atomic exchange",
        "cas": f"set {out.name}[v] from -1 to {now.name} + 1 by compare-and-swap",
        "or": f"mark v by OR-ing 1 into {out.name}[v]",
    }[form]
    text = f"Breadth-first search step: {g.said}, where {only}, {verb}."
    if known is not None and paths is not None:
        text = f"{text[:-1]}, and add the shortest paths {known.name}[u] to {paths.name}[v]."
    return Title(k.name("bfs_push expand_frontier bfs_step"), text)


def _push_level(
    k: KernelBuilder,
    g: Edges,
    form: str,
    arrays: tuple[Var, Var, Var],
    known: Var | None,
    paths: Var | None,
) -> None:
    """What a node of the frontier does to its unseen neighbours."""
    levels, now, out = arrays
    own = named(k, "sigma_u paths_u", known[g.source], 0.5) if known is not None else None
    deeper = now + 1 if form == "or" else named(k, "deeper", now + 1, 0.5)
    with g.targets() as v, g.guard(levels[v] < 0):
        if form == "cas":
            k.compare_and_swap(out, v, -1, deeper)
        else:
            k.atomic(form, out, v, 1 if form == "or" else deeper)
        if paths is not None and own is not None:
            k.atomic("add", paths, v, own)


@idiom
def rank_push(k: KernelBuilder, level: int) -> Title:
    """PageRank: every node sends its rank in equal or weighted shares along its edges."""
    shape = k.draw.shape
    g = edges(k, level, queued=0.3)
    type_ = k.draw.wide_float_type()
    ranks = g.state("ranks scores", type_, 0.1, 1.0)
    damping = k.scalar("damping alpha", type_, 0.7, 0.95)
    weighted = shape.chance(0.35)
    by_row = g.form == "rows" and not weighted and shape.chance(0.5)
    own = ranks[g.source]
    if weighted:
        totals = g.state("out_weight strength", type_, 1.0, 4.0)
        share: Expr = damping * own / totals[g.source]
        how = f"/ {totals.name}[u]"
    elif by_row:
        offsets = g.arrays[0]
        degree = k.let("degree out_deg", offsets[g.source + 1] - offsets[g.source])
        share, how = damping * own / cast(degree, type_), "over the number of u's neighbours"
    elif shape.chance(0.4):
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
