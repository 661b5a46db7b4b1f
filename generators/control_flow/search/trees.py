"""Trees in arrays: forests that vote, and sorted keys laid out for bisection without branches."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.control_flow.kit import index, same
from generators.control_flow.parallel.lanes import key_type, spans
from generators.kit.functions import exp, where
from generators.kit.masks import one_if
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var


@dataclass
class _Forest:
    """Nodes of complete trees: a feature and a threshold each, and a value at each leaf."""

    k: KernelBuilder
    feature: Var
    threshold: Var
    leaf: Var
    flat: bool
    depth: Expr
    nodes: Expr
    ends: Expr
    levels: int

    def node(self, array: Var, tree: Expr, at: Operand, width: Expr) -> Expr:
        """A value of a node: trees lie in rows, or one after the other."""
        return array[tree * width + at] if self.flat else array[tree, at]


def _forest(k: KernelBuilder, level: int) -> _Forest:
    """Complete trees of a few levels: a node less than leaves each."""
    k.size("trees", 4, 7)
    k.size("features", 4, 6)
    flat = k.draw.shape.chance(0.35)
    levels = k.draw.shape.choice((3, 4, 4, 5, 6))
    nodes, ends = 2**levels - 1, 2**levels
    inner: tuple[str, ...] = (f"trees*{nodes}",) if flat else ("trees", str(nodes))
    leaves: tuple[str, ...] = (f"trees*{ends}",) if flat else ("trees", str(ends))
    feature = k.array("split_feature feature_ids", INT32, inner, init="index_of:features")
    threshold = k.array("thresholds split_values", FLOAT32, inner, low=-0.8, high=0.8)
    leaf = k.array("leaf_values leaves", FLOAT32, leaves, low=-1.0, high=1.0)
    depth: Expr = k.lift(levels, INT32)
    return _Forest(
        k,
        feature,
        threshold,
        leaf,
        flat,
        depth,
        k.lift(nodes, INT32),
        k.lift(ends, INT32),
        levels,
    )


def _descend(f: _Forest, tree: Expr, x: Var, row: Expr, by_features: bool) -> Expr:
    """The leaf that a sample reaches in a tree."""
    k, shape = f.k, f.k.draw.shape
    node = k.let("node", k.lift(0, INT32))
    loop = shape.choice(("depth", "inner"))
    with k.for_("d step", f.depth) if loop == "depth" else k.while_(node < f.nodes):
        j = k.let("feature feat", f.node(f.feature, tree, node, f.nodes))
        value = x[j, row] if by_features else x[row, j]
        right = value > f.node(f.threshold, tree, node, f.nodes)
        if shape.chance(0.5):
            k.assign(node, 2 * node + where(right, k.lift(2, INT32), k.lift(1, INT32)))
        else:
            with k.if_(right):
                k.assign(node, 2 * node + 2)
            with k.else_():
                k.assign(node, 2 * node + 1)
    return node - f.nodes


@idiom
def forest_inference(k: KernelBuilder, level: int) -> Title:
    """Decision trees that vote: sums of leaves, as gradient boosting has them, or the mean."""
    shape = k.draw.shape
    k.size("samples", 24, 36)
    f = _forest(k, level)
    by_features = shape.chance(0.4)
    each = level > 1 and shape.chance(0.3)
    at = k.thread(*(("samples", "trees") if each else ("samples",)), names=_names(k, each))
    row = at[0]
    dims = ("features", "samples") if by_features else ("samples", "features")
    x = k.array("x samples_in data", FLOAT32, dims, low=-1.0, high=1.0)
    text = f"Evaluate a forest of trees of depth {f.levels} ({f.feature.name}, {f.threshold.name}, "
    text += (
        f"{f.leaf.name}): a {'column' if by_features else 'row'} of {x.name} goes from node n to "
    )
    text += "2 * n + 2 where the node's feature is above its threshold, else to 2 * n + 1. "
    if each:
        out = k.out("leaf_out tree_scores", FLOAT32, ("samples", "trees"))
        k.store(out, at, f.node(f.leaf, at[1], _descend(f, at[1], x, row, by_features), f.ends))
        text += f"{out.name} gets the value of the leaf that each sample reaches in each tree."
        return Title(k.name("forest_leaves tree_scores_kernel"), text)
    total = k.let("total score", k.lift(0.0, FLOAT32))
    count = k.size_param("num_trees tree_count", "trees")
    with k.for_("t tree", count) as t:
        leaf = _descend(f, t, x, row, by_features)
        k.augment(total, "add", f.node(f.leaf, t, leaf, f.ends))
    value, said = _voted(k, total, count)
    out = k.out("predictions scores_out", value.type, "samples")
    k.store(out, (row,), value)
    kind = "random_forest" if said == "the mean" else "boosted_trees"
    return Title(
        k.name("forest_inference predict_forest", kind),
        f"{text}{out.name} gets {said} of the leaves that it reaches.",
    )


def _names(k: KernelBuilder, each: bool) -> tuple[str, ...]:
    names = (k.name("i row sample"),)
    return (*names, k.name("t tree")) if each else names


def _voted(k: KernelBuilder, total: Var, count: Expr) -> tuple[Expr, str]:
    """What is made of the sum of leaves; in words."""
    way = k.draw.shape.choice(("sum", "mean", "chance"))
    if way == "mean":
        return total / cast(count, FLOAT32), "the mean"
    if way == "chance":
        rate = k.scalar("learning_rate shrinkage", FLOAT32, 0.1, 0.9)
        score = k.let("z logit", rate * total)
        return 1.0 / (1.0 + exp(-score)), f"the logistic function of {rate.name} times the sum"
    return total, "the sum"


@idiom
def heap_search(k: KernelBuilder, level: int) -> Title:
    """Bisection in keys laid out as a heap (Eytzinger; Khuong and Morin, ACM J. Exp. Algorithmics
    22, 2017): the children of k are 2 * k and 2 * k + 1."""
    shape, type_ = k.draw.shape, key_type(k)
    count, (dims, at_query) = 2 ** shape.choice((6, 7, 8, 9, 10)) - 1, _queries(k)
    several, traced = shape.chance(0.3), shape.chance(0.15 + 0.1 * level) and not type_.is_float
    low, high = (0, 9) if traced else spans(type_)
    tree_dims = (*([k.size("sets", 3, 5)] if several else []), str(count + 1))
    tree = k.array("heap_keys eytzinger_keys", type_, tree_dims, low=low, high=high)
    queries = k.array("needles search_keys", type_, dims, low=low, high=high)
    lead: tuple[Expr, ...] = ()
    text = f"Eytzinger search: for each of {queries.name}, go down {tree.name}"
    if several:
        which = k.array("set_ids tree_ids", INT32, dims, init="index_of:sets")
        lead = (k.let("s own", which[at_query]),)
        text += f"[{which.name}]"
    strict = shape.chance(0.5)
    query = k.let("x query", queries[at_query])
    node, seen = _down(k, (tree, lead), query, count, strict, traced)
    gap: Expr = node - (count + 1)
    text += f", {count} keys in the order of a heap with its root at index 1 (index 0 is not used):"
    text += f" from node k to 2 * k + 1 where its key is {'below' if strict else 'not above'} the "
    text += f"query, else to 2 * k, until k is above {count}. "
    rank_of, steps = f"k - {count + 1}", None
    if shape.chance(0.4):
        steps = k.array("gap_values values_by_rank", FLOAT32, tree_dims, low=-1.0, high=1.0)
        gap, row = steps[index(*lead, gap)], f"{which.name}, " if several else ""
        rank_of = f"{steps.name}[{row}{rank_of}]"
    rank = k.out("ranks ranks_out" if gap.type == INT32 else "looked_up values_out", gap.type, dims)
    k.store(rank, at_query, gap)
    side = "below" if strict else "not above"
    text += f"{rank.name} gets {rank_of}{'' if steps else f', how many keys are {side} the query'}"
    if seen is not None:
        out = k.out("found_at matches", INT32, dims)
        k.store(out, at_query, seen)
        text += f". {out.name} gets the last node on the way whose key equals the query, or 0"
    return Title(
        k.name("heap_search eytzinger_search", f"heap_{'lower' if strict else 'upper'}_bound"),
        f"{text}.",
    )


def _queries(k: KernelBuilder) -> tuple[tuple[str, ...], tuple[Var, ...]]:
    """A thread for each query: a list of them, or rows."""
    if k.draw.shape.chance(0.6):
        k.size("queries", 30, 44)
        return ("queries",), k.thread("queries", names=(k.name("i q"),))
    k.size("batch", 4, 6)
    k.size("queries", 8, 12)
    dims = ("batch", "queries")
    return dims, k.thread(*dims, names=(k.name("b row"), k.name("q i")))


def _down(
    k: KernelBuilder,
    tree: tuple[Var, tuple[Expr, ...]],
    x: Expr,
    count: int,
    strict: bool,
    traced: bool,
) -> tuple[Var, Var | None]:
    """Where a walk from the root ends, and the last node of an equal key if that is asked."""
    node = k.let("node", k.lift(1, INT32))
    seen = k.let("equal_at hit", k.lift(0, INT32)) if traced else None
    keys, lead = tree
    with k.while_(node <= count):
        key = k.let("node_key key", keys[index(*lead, node)])
        if seen is not None:
            with k.if_(same(key, x)):
                k.assign(seen, node)
        right = key < x if strict else key <= x
        if k.draw.shape.chance(0.5):
            k.assign(node, 2 * node + one_if(right))
        else:
            k.assign(node, 2 * node)
            with k.if_(right):
                k.augment(node, "add", 1)
    return node, seen
