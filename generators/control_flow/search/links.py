"""Links between places: pointers that jump over their successors, and tables of such jumps."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import branch, same
from generators.kit.functions import least, most
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

_JOINED: dict[str, tuple[str, str, str, Callable[[Expr, Expr], Expr]]] = {
    "rank": (
        "ranks hops_to_end",
        "rank",
        "List ranking by pointer jumping, one round over {links}, the last node of a list linking "
        "to itself with a rank of 0: {out} gets each node's rank plus that of its successor",
        lambda a, b: a + b,
    ),
    "length": (
        "path_lengths dist_to_root",
        "dist length",
        "Distances to the roots of a forest by pointer jumping, one round over {links}, where a "
        "root links to itself at distance 0: {out} gets each node's distance to where its link "
        "leads plus the distance stored there",
        lambda a, b: a + b,
    ),
    "largest": (
        "suffix_max max_to_end",
        "largest",
        "Largest values from each node to the end of its list by pointer jumping, one round over "
        "{links}, where the last node links to itself: {out} gets the larger of a node's value and "
        "its successor's",
        most,
    ),
    "smallest": (
        "min_labels component_ids",
        "label lowest",
        "Labels of connected components by pointer jumping, one round over {links}, where a root "
        "links to itself: {out} gets the smaller of a node's label and that of where its link "
        "leads",
        least,
    ),
}
"""By what is joined: names of the values, of the local, the text, the code."""
_TYPES = {
    "rank": {"int32": 4, "int64": 1},
    "length": {"float32": 4, "float64": 1, "int32": 1},
    "largest": {"float32": 3, "int32": 2, "uint32": 1},
    "smallest": {"int32": 3, "uint32": 1},
}
_LINKS = {
    "rank": "next_node successor",
    "length": "parents parent",
    "largest": "next_node successor",
    "smallest": "parents links",
}


def _launch(k: KernelBuilder) -> tuple[tuple[str, ...], tuple[Var, ...]]:
    """One list of nodes, or one for each row; a table may lie either way."""
    k.size("nodes", 24, 36, minimum=12)
    way = k.draw.shape.choice(("one", "one", "rows", "columns"))
    if way == "one":
        return ("nodes",), k.thread("nodes", names=(k.name("v node i"),))
    k.size("lists", 3, 5)
    if way == "rows":
        return ("lists", "nodes"), k.thread("lists", "nodes", names=(k.name("b row"), k.name("v")))
    return ("nodes", "lists"), k.thread("nodes", "lists", names=(k.name("v node"), k.name("b")))


def _there(dims: tuple[str, ...], at: tuple[Var, ...], node: Expr) -> tuple[Expr, ...]:
    """The place of another node of the same list."""
    return tuple(node if d == "nodes" else i for d, i in zip(dims, at, strict=True))


def _round(k: KernelBuilder) -> Title:
    """A round that joins each node's value with its successor's and doubles the links."""
    shape = k.draw.shape
    dims, at = _launch(k)
    form = shape.choice(tuple(_JOINED))
    names, local, text, join = _JOINED[form]
    type_ = Scalar(shape.weighted(_TYPES[form]))
    links = k.array(_LINKS[form], INT32, dims, init="index_of:nodes")
    span = (0.5, 8.0) if type_.is_float else (0, 99)
    values = k.array(names, type_, dims, low=span[0], high=span[1])
    out = k.out(f"new_{values.name} {values.name}_out", type_, dims)
    new_links = k.out(f"new_{links.name} {links.name}_out", INT32, dims)
    after = k.let("nxt succ" if "node" in links.name or "succ" in links.name else "p up", links[at])
    there = _there(dims, at, after)
    guarded = len(dims) > 1 and shape.chance(0.5)
    if guarded:
        node = at[dims.index("nodes")]
        joined = k.let(local, values[at])
        with k.if_(fn("ne", after, node)):
            k.assign(joined, join(joined, values[there]))
            k.assign(after, links[there])
        k.store(out, at, joined)
        k.store(new_links, at, after)
    else:
        value: Expr = join(values[at], values[there])
        k.store(out, at, k.let(local, value) if shape.chance(0.5) else value)
        k.store(new_links, at, links[there])
    each = "" if len(dims) == 1 else f" Every {'row' if dims[1] == 'nodes' else 'column'} holds "
    each += "lists of its own." if each else ""
    done = f"{text.format(links=links.name, out=out.name)}, and {new_links.name} gets the link of "
    done += f"where its link leads.{each}"
    return Title(k.name("pointer_jump jump_links", f"jump_{form}"), done)


def _recurrence(k: KernelBuilder) -> Title:
    """A round that composes the affine maps along lists of nodes."""
    shape = k.draw.shape
    dims, at = _launch(k)
    type_ = k.draw.wide_float_type()
    links = k.array("next_node successor", INT32, dims, init="index_of:nodes")
    names = k.draw.word.choice((("scale", "offset"), ("gain", "bias"), ("slope", "intercept")))
    a = k.array(names[0], type_, dims, low=0.2, high=1.5)
    b = k.array(names[1], type_, dims, low=-2.0, high=2.0)
    outs = [k.out(f"new_{x.name} {x.name}_out", type_, dims) for x in (a, b)]
    new_links = k.out(f"new_{links.name} {links.name}_out", INT32, dims)
    after = k.let("nxt succ", links[at])
    there = _there(dims, at, after)
    own = k.let(f"own_{a.name}", a[at]) if shape.chance(0.6) else a[at]
    k.store(outs[0], at, own * a[there])
    k.store(outs[1], at, own * b[there] + b[at])
    k.store(new_links, at, links[there])
    done = (
        f"Solve the recurrences x[i] = {a.name}[i] * x[next] + {b.name}[i] along linked lists by "
    )
    done += "pointer jumping, one round: compose each node's map with that of its successor in "
    done += f"{links.name}; {outs[0].name} gets the composed {a.name}, {outs[1].name} gets the "
    done += f"composed {b.name}, and {new_links.name} gets the successor's link."
    return Title(k.name("compose_recurrence jump_affine", "affine_pointer_jump"), done)


def _table(k: KernelBuilder) -> tuple[Var, bool]:
    """The ancestor 2^b links above each node, for each b; whether a row belongs to each b."""
    k.size("nodes", 24, 36, minimum=12)
    k.size("log_nodes", 4, 5)
    rows = k.draw.shape.chance(0.6)
    dims = ("log_nodes", "nodes") if rows else ("nodes", "log_nodes")
    return k.array("ancestors jump_table up", INT32, dims, init="index_of:nodes"), rows


def _said(table: Var, rows: bool) -> str:
    at = "b, v" if rows else "v, b"
    return f"binary lifting: {table.name}[{at}] is the ancestor 2^b links above node v"


def _bits(k: KernelBuilder, table: Var, rows: bool) -> Expr:
    """How many levels the table has."""
    if k.draw.shape.chance(0.5):
        return k.size_param("num_levels max_log", "log_nodes")
    return extent(table, 0 if rows else 1)


def _ancestor(k: KernelBuilder) -> Title:
    """The ancestor of a node by the bits of how far it is above."""
    shape = k.draw.shape
    table, rows = _table(k)
    k.size("queries", 48, 80)
    (q,) = k.thread("queries", names=(k.name("q i"),))
    start = k.array("query_nodes nodes_in", INT32, "queries", init="index_of:nodes")
    far = k.array("distance steps_up", INT32, "queries", low=0, high=15)
    out = k.out("ancestor_ids kth_ancestor", INT32, "queries")
    node, left = k.let("node v", start[q]), k.let("left steps", far[q])

    def up(b: Expr) -> Expr:
        return table[(b, node) if rows else (node, b)]

    if shape.chance(0.5):
        with k.for_("b bit", _bits(k, table, rows)) as b, k.if_(same((left >> b) & 1, 1)):
            k.assign(node, up(b))
    else:
        count = _bits(k, table, rows)
        b = k.let("b bit", k.lift(0, INT32))
        with k.while_(fn("and", left > 0, b < count)):
            with k.if_(same(left & 1, 1)):
                k.assign(node, up(b))
            k.assign(left, left >> 1)
            k.augment(b, "add", 1)
    k.store(out, q, node)
    done = (
        f"Find the ancestor {far.name} links above each of {start.name} by {_said(table, rows)}. "
    )
    done += f"{out.name} gets it; one jump is made for each set bit of the distance."
    return Title(k.name("kth_ancestor level_ancestor", "lift_nodes"), done)


_PATHS = {
    "node": "the node that is above both",
    "links": "the number of links on the path between both nodes, which turns at that ancestor",
    "length": "the length of the path between both nodes, {} being how far each is from the root",
}


def _asked(k: KernelBuilder, what: str) -> tuple[Var | None, Var]:
    """How far nodes are from the root, where that is needed, and the output."""
    called = {"node": "lca lca_ids", "links": "path_links num_links", "length": "path_lengths"}
    if what != "length":
        return None, k.out(called[what], INT32, "queries")
    along = k.array("root_dist dist_to_root", FLOAT32, "nodes", low=0.0, high=50.0)
    return along, k.out(called[what], FLOAT32, "queries")


def _meet(k: KernelBuilder, u: Var, v: Var, count: Expr, up: Callable[[Expr, Expr], Expr]) -> None:
    """Two nodes of the same depth jump until they meet."""
    with k.if_(fn("ne", u, v)):
        with k.for_("step s", count) as step:
            far = k.let("p jump", count - 1 - step)
            a, c = k.let("up_u above_u", up(u, far)), k.let("up_v above_v", up(v, far))
            branch(k, (fn("ne", a, c), (u, a), (v, c)))
        k.assign(u, up(u, k.lift(0, INT32)))


def _common(k: KernelBuilder) -> Title:
    """The lowest common ancestor of two nodes."""
    table, rows = _table(k)
    k.size("queries", 48, 80)
    (q,) = k.thread("queries", names=(k.name("q i"),))
    names = k.draw.word.choice((("first_nodes", "second_nodes"), ("nodes_u", "nodes_v")))
    ends = [k.array(name, INT32, "queries", init="index_of:nodes") for name in names]
    depth = k.array("depths node_depth", INT32, "nodes", low=0, high=12)
    what = k.draw.shape.choice(("node", "node", "links", "length"))
    along, out = _asked(k, what)
    count = _bits(k, table, rows)
    words = ("u a", "w c") if what == "node" else ("first a", "second c")
    first, second = (k.let(n, e[q]) for n, e in zip(words, ends, strict=True))
    u, v = first, second
    if what != "node":
        u, v = k.let("u", first), k.let("v", second)

    def up(node: Expr, b: Expr) -> Expr:
        return table[(b, node) if rows else (node, b)]

    kept = Var(k.name("tmp held"), INT32)
    branch(k, (depth[u] < depth[v], (kept, u), (u, v), (v, kept)))
    lift = k.let("lift gap", depth[u] - depth[v])
    with k.for_("b bit", count) as b, k.if_(same((lift >> b) & 1, 1)):
        k.assign(u, up(u, b))
    _meet(k, u, v, count, up)
    found: Expr = u
    if what == "links":
        found = depth[first] + depth[second] - 2 * depth[u]
    elif along is not None:
        found = along[first] + along[second] - 2.0 * along[u]
    k.store(out, q, found)
    done = f"Find the lowest common ancestor of the nodes {ends[0].name} and {ends[1].name} by "
    done += f"{_said(table, rows)}, and the root is its own ancestor. The deeper node is first "
    done += "lifted to the depth of the other; then both jump, the longest jumps first, as long as "
    done += f"their ancestors differ. {out.name} gets {_PATHS[what].format(along and along.name)}."
    return Title(k.name("lowest_common_ancestor lca_queries", "lca_binary_lifting"), done)


def _doubling(k: KernelBuilder) -> Title:
    """One more level of a table of ancestors."""
    shape = k.draw.shape
    k.size("nodes", 24, 36, minimum=12)
    trees = shape.chance(0.35)
    dims = (k.size("trees", 3, 4), "nodes") if trees else ("nodes",)
    at = k.thread(*dims, names=[k.name("t tree")][:trees] + [k.name("v node i")])
    up = k.array("ancestors up", INT32, dims, init="index_of:nodes")
    cost = shape.choice(("", "largest", "sum"))
    out = k.out(f"next_{up.name} {up.name}_out", INT32, dims)
    mid = k.let("mid halfway", up[at])
    there = (*at[:-1], mid)
    k.store(out, at, up[there])
    done = f"One doubling of binary lifting in {'each tree of a forest' if trees else 'a tree'}: "
    done += f"{up.name} holds the ancestor 2^b links above each node, the root being its own; "
    done += f"{out.name} gets that 2^(b + 1) links above"
    if cost:
        names = "max_edge heaviest" if cost == "largest" else "path_cost climb_cost"
        values = k.array(names, FLOAT32, dims, low=0.1, high=9.0)
        more = k.out(f"next_{values.name} {values.name}_out", FLOAT32, dims)
        total = (most if cost == "largest" else lambda a, b: a + b)(values[at], values[there])
        k.store(more, at, total)
        what = "heaviest edge" if cost == "largest" else "cost"
        done += (
            f", and {more.name} gets the {what} of that climb, {values.name} holding that of the "
        )
        done += "first half."
    else:
        done += "."
    return Title(k.name("double_ancestors lift_level", "binary_lifting_step"), done)


@idiom
def list_jump(k: KernelBuilder, level: int) -> Title:
    """Pointer jumping in linked lists (Wyllie, The Complexity of Parallel Computations, 1979)."""
    forms: dict[int, dict[str, int]] = {
        1: {"round": 1},
        2: {"round": 3, "doubling": 1},
        3: {"round": 2, "doubling": 1, "recurrence": 1, "ancestor": 1},
        4: {"round": 1, "recurrence": 1, "ancestor": 2, "common": 2},
        5: {"recurrence": 1, "ancestor": 1, "common": 4},
    }
    form = k.draw.shape.weighted(forms[level])
    made = {
        "round": _round,
        "recurrence": _recurrence,
        "doubling": _doubling,
        "ancestor": _ancestor,
        "common": _common,
    }
    return made[form](k)
