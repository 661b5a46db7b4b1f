"""Graphs and meshes: springs, messages along edges, sparse products, fluxes, vertex normals."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


def _ends(k: KernelBuilder, n: str, m: str) -> tuple[Var, Var]:
    """The two ends of each edge."""
    pairs = (("src", "dst"), ("head", "tail"), ("edge_a", "edge_b"), ("from_node", "to_node"))
    first, second = k.draw.word.choice(pairs)
    return tuple(k.array(e, INT32, n, init=f"index_of:{m}") for e in (first, second))  # type: ignore[return-value]


def _skip_loops(k: KernelBuilder, a: Expr, b: Expr, share: float) -> str:
    if not k.draw.shape.chance(share):
        return ""
    with k.if_(fn("eq", a, b)):
        k.return_()
    return " Edges from a node to itself are ignored."


@idiom
def message_passing(k: KernelBuilder, level: int) -> Title:
    """Messages along the edges of a graph, gathered at the target nodes."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    n, m = k.size("num_edges", 64, 90), k.size("num_nodes", 10, 16)
    a, b = _ends(k, n, m)
    channels = shape.chance(0.6 if level >= 2 else 0.4)
    c = k.size("channels", 3, 5) if channels else ""
    dims = (m, c) if channels else (m,)
    h = k.array(("features", "h", "state", "rank"), type_, dims, low=0.2, high=2.0)
    weight = (
        k.array(("edge_weight", "w", "attn"), type_, n, low=0.2, high=1.0)
        if shape.chance(0.6)
        else None
    )
    degree = k.array(("degree", "deg"), INT32, m, low=1, high=6) if shape.chance(0.5) else None
    reduce_ = shape.choice(("add", "add", "max")) if level >= 2 else "add"
    start: object = 0 if reduce_ == "add" else "-1.0e6"
    out = k.accumulator(("aggregated", "messages", "out_state", "inbox"), type_, dims, start)
    both = level >= 3 and shape.chance(0.5)
    place = k.thread(n, c, names=("e", "c")) if channels else k.thread(n, names=("e",))
    e = place[0]
    s = a[e] if shape.chance(0.3) else k.let(("s", "u", "source"), a[e])
    t = b[e] if shape.chance(0.3) else k.let(("t", "v", "target"), b[e])
    loops = _skip_loops(k, s, t, 0.0 if level < 3 else 0.6)

    def at(node: Expr) -> tuple[Expr, ...]:
        return (node, place[1]) if channels else (node,)

    form = shape.choice(
        ("plain", "difference", "relu", "gated")
        if level >= 2
        else ("plain", "scaled", "difference")
    )
    value, text = _message(k, form, h[at(s)], h[at(t)])
    if weight is not None:
        value, text = weight[e] * value, f"{weight.name}[e] * {text}"
    if degree is not None:
        norm = cast(degree[s], type_)
        if shape.chance(0.5):
            value, text = value / norm, f"{text} / {degree.name}[s]"
        else:
            both_ends = fn("sqrt", norm * cast(degree[t], type_))
            value, text = value / both_ends, f"{text} / sqrt({degree.name}[s] * {degree.name}[t])"
    message = value if shape.chance(0.3) and not both else k.let(("msg", "message"), value)
    k.atomic(reduce_, out, at(t), message)
    if both:
        k.atomic(reduce_, out, at(s), message)
    verb = "Add" if reduce_ == "add" else "Keep the largest"
    done = f"For each edge e from s = {a.name}[e] to t = {b.name}[e]: {verb.lower()} {text} "
    done += f"{'to' if reduce_ == 'add' else 'in'} {out.name} at t"
    done += " and at s" if both else ""
    done += f", where h_s and h_t are {h.name} of the two ends"
    done += ", for each channel c." if channels else "."
    name = ("message_passing", "gather_messages", "propagate", "graph_conv", "push_rank")
    return Title(k.name(*name), f"{done}{loops}")


def _message(k: KernelBuilder, form: str, hs: Expr, ht: Expr) -> tuple[Expr, str]:
    if form == "plain":
        return hs, "h_s"
    if form == "scaled":
        damping = k.draw.value.choice((0.85, 0.9, 0.5))
        return damping * hs, f"{damping} * h_s"
    if form == "difference":
        return hs - ht, "(h_s - h_t)"
    if form == "relu":
        return fn("max", hs - ht, 0.0), "max(h_s - h_t, 0)"
    gate = k.let(("gate", "g"), 1.0 / (1.0 + fn("exp", -ht)))
    return gate * hs, "h_s / (1 + exp(-h_t))"


@idiom
def sparse_product(k: KernelBuilder, level: int) -> Title:
    """A sparse matrix in coordinate form times a vector or a dense matrix."""
    shape = k.draw.shape
    whole = shape.chance(0.2)
    type_ = shape.choice((INT32, Scalar("int64"))) if whole else k.draw.wide_float_type()
    n, rows, cols = k.size("nnz", 64, 96), k.size("rows", 8, 12), k.size("cols", 8, 12)
    r = k.array(("row_idx", "rows_coo", "ri"), INT32, n, init=f"index_of:{rows}")
    c = k.array(("col_idx", "cols_coo", "ci"), INT32, n, init=f"index_of:{cols}")
    low, high = (-9, 9) if whole else (-2.0, 2.0)
    values = k.array(("values", "vals", "data"), type_, n, low=low, high=high)
    dense = shape.chance(0.5)
    d = k.size("depth", 3, 5) if dense else ""
    x = k.array(("x", "rhs", "dense"), type_, (cols, d) if dense else cols, low=low, high=high)
    turned = shape.chance(0.35)
    out_dims = (rows, d) if dense else (rows,)
    y = k.accumulator(("y", "out_vec", "result"), type_, out_dims)
    alpha = k.scalar(("alpha", "scale"), type_, 2, 5) if level >= 2 and shape.chance(0.5) else None
    mirror = level >= 3 and shape.chance(0.6)
    z = k.accumulator(("z", "out_t"), type_, (cols, d) if dense else cols) if mirror else None
    w = (
        k.array(("u", "left"), type_, (rows, d) if dense else rows, low=low, high=high)
        if mirror
        else None
    )
    diag = k.accumulator(("diag", "diagonal"), type_, rows) if level >= 4 else None
    counts = (
        k.accumulator(("row_counts", "row_nnz"), INT32, rows)
        if level >= 3 and shape.chance(0.5)
        else None
    )
    loop = dense and shape.chance(0.5)
    if dense and not loop:
        e, q = k.thread(n, d, names=("e", k.name("q", "col_out")))
    else:
        (e,) = k.thread(n, names=(k.name("e", "tid", "nz"),))
        q = e
    short = level <= 2 and shape.chance(0.4)
    row: Expr = r[e] if short else k.let(("row", "i"), r[e])
    col: Expr = c[e] if short or (level <= 2 and shape.chance(0.3)) else k.let(("col", "j"), c[e])
    value: Expr = values[e]
    text = f"{values.name}[e] * {x.name} at column"
    if alpha is not None:
        value, text = alpha * value, f"{alpha.name} * {text}"
    if turned or mirror or dense:
        value = k.let(("a", "entry", "v"), value)
    drop = ""
    if level >= 4 and not whole:
        eps = k.scalar(("tol", "drop_tol"), type_, 0.2, 0.6)
        with k.if_(fn("abs", value) < eps):
            k.return_()
        drop = f" Entries of absolute value below {eps.name} are dropped."

    def product(p: Expr | None) -> None:
        def at(node: Expr) -> tuple[Expr, ...]:
            return (node,) if p is None else (node, p)

        k.atomic("add", y, at(row), value * x[at(col)])
        if z is not None and w is not None:
            k.atomic("add", z, at(col), value * w[at(row)])

    if loop:
        with k.for_(("p", "s"), k.trip_count(("num_rhs", "width"), d)) as p:
            product(p)
    else:
        product(q if dense else None)
    done = f"Add {text} {c.name}[e] to {y.name} at row {r.name}[e] for each stored entry e"
    done += f", for each column of {x.name}" if dense else ""
    if z is not None and w is not None:
        done += f"; add the entry times {w.name} at that row to {z.name} at that column"
    if diag is not None:
        with k.if_(fn("eq", row, col)):
            k.atomic("add", diag, row, value)
        done += f"; add entries of the diagonal to {diag.name}"
    if counts is not None:
        k.atomic("add", counts, row, 1)
        done += f"; count entries of each row in {counts.name}"
    return Title(
        k.name("coo_spmv", "sparse_matvec", "coo_multiply", "scatter_product"), f"{done}.{drop}"
    )
