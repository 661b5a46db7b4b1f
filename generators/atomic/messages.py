"""Sums along the edges of graphs and the entries of sparse matrices."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.tally import INT64, Tally, indices, threads
from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, most, sqrt, where
from generators.kit.sites import Site, over
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Expr, Var

_PAIRS = ("src dst", "edge_src edge_dst", "from_node to_node", "sources targets")
_LAYERS = {
    1: ("sum", "weighted", "laplacian"),
    2: ("mean", "normalized", "max", "edge_conv"),
    3: ("normalized", "attention", "edge_conv"),
    4: ("attention", "heads", "relational"),
    5: ("heads", "relational", "relational"),
}
_SAID = {
    "sum": "Sum node features over incoming edges",
    "weighted": "Weighted sum of node features over incoming edges",
    "laplacian": "Graph Laplacian of features, negated",
    "mean": "Mean of node features over incoming edges",
    "normalized": "Graph convolution with symmetric degree normalisation",
    "max": "Channel-wise maximum of node features over incoming edges",
    "edge_conv": "Edge convolution: the largest rectified difference of features over edges",
    "attention": "Attention-weighted sum of node features over incoming edges",
}
_NAMES = {
    "sum": "aggregate_sum gather_messages",
    "weighted": "aggregate_weighted weighted_messages",
    "laplacian": "graph_laplacian apply_laplacian",
    "mean": "aggregate_mean mean_neighbours",
    "normalized": "gcn_aggregate graph_conv",
    "max": "aggregate_max max_neighbours",
    "edge_conv": "edge_conv_max edge_conv",
    "attention": "gat_aggregate attention_aggregate",
}


def _ends(t: Tally, size: str) -> list[Var]:
    """The ends u and v of the thread's edge."""
    arrays = t.k.draw.word.choice(_PAIRS).split()
    names = t.k.draw.word.choice(("u v", "s d", "src_node dst_node")).split()
    found = []
    for array, name, short in zip(arrays, names, "uv", strict=True):
        end = t.k.let(name, t.s.read(array, INT32, init=f"index_of:{size}", axes=(0,)))
        t.known[end] = short
        t.defined.append(f"{short} = {array}[{t.say(t.s.at[0])}]")
        found.append(end)
    return found


class _Layer(Tally):
    """Features of a graph's nodes, a number or a row of them each."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        shape = k.draw.shape
        self.way, self.real = shape.choice(_LAYERS[level]), k.draw.wide_float_type()
        k.size("num_nodes", 10, 16)
        rows = shape.chance(0.7) or self.way == "edge_conv"
        rows = rows and self.way not in ("heads", "relational", "attention")
        if rows:
            s = over(k, "num_edges channels", indices(k, "e", "c f"), ((64, 90), (3, 5)))
        else:
            s = threads(k, "num_edges", 64, 90, "e edge")
        super().__init__(level, s, "Edges")

    def edge(self, names: str, low: float, high: float) -> Expr:
        return self.s.read(names, self.real, low, high, axes=(0,))

    def row(self, node: Expr) -> tuple[Expr, ...]:
        """A node's feature, of the thread's channel where there are several."""
        return (node, *self.s.at[1:])

    def state(self, names: str, low: float, high: float) -> Var:
        return self.k.array(names, self.real, "num_nodes", low=low, high=high)


@idiom
def message_passing(k: KernelBuilder, level: int) -> Title:
    """Messages along the edges of a graph, gathered at the target nodes: layers of graph nets."""
    t = _Layer(k, level)
    u, v = _ends(t, "num_nodes")
    if t.way in ("heads", "relational"):
        return _heads(t, u, v) if t.way == "heads" else _relational(t, u, v)
    if t.way == "attention":
        return _attended(t, u, v)
    more = t.s.dims[1:]
    h = k.array("features h x", t.real, ("num_nodes", *more), low=0.2, high=2.0)
    ways: dict[str, Callable[[], Expr]] = {
        "sum": lambda: h[t.row(u)],
        "max": lambda: h[t.row(u)],
        "weighted": lambda: t.edge("edge_weights weights", 0.2, 1.0) * h[t.row(u)],
        "laplacian": lambda: _laplacian(t, h, u, v),
        "mean": lambda: h[t.row(u)] / cast(_degree(t, "in_degree num_in")[v], t.real),
        "normalized": lambda: _normalized(t, h, u, v),
        "edge_conv": lambda: most(h[t.row(u)] - h[t.row(v)], 0.0),
    }
    how = "max" if t.way in ("max", "edge_conv") else "add"
    message = t.let("message msg", ways[t.way]())
    t.into("aggregated out", ("num_nodes", *more), t.row(v), message, how)
    each = "edge" if len(t.s.dims) == 1 else "edge and channel"
    where_ = f"({t.s.where})" if t.s.rank > 1 else t.s.where
    return t.title(_NAMES[t.way], f"{_SAID[t.way]}: for each {each} {where_} from u to v, ")


def _degree(t: _Layer, names: str) -> Var:
    return t.k.array(names, INT32, "num_nodes", low=1, high=6)


def _laplacian(t: _Layer, h: Var, u: Expr, v: Expr) -> Expr:
    gap = h[t.row(u)] - h[t.row(v)]
    return t.edge("edge_weights weights", 0.2, 1.0) * gap if t.chance(0.6) else gap


def _normalized(t: _Layer, h: Var, u: Expr, v: Expr) -> Expr:
    """By the roots of both degrees, which may be given."""
    feature = h[t.row(u)]
    if t.chance(0.5):
        scale = t.state("inv_sqrt_degree deg_norm", 0.3, 1.0)
        return scale[u] * scale[v] * feature
    degree = _degree(t, "degree degrees")
    return feature / sqrt(cast(degree[u], t.real) * cast(degree[v], t.real))


def _attended(t: _Layer, u: Var, v: Var) -> Title:
    """An edge's attention is found once, for all channels."""
    k = t.k
    k.size("channels", 3, 5)
    h = k.array("features h x", t.real, ("num_nodes", "channels"), low=0.2, high=2.0)
    alpha = t.define("alpha", _attention(t, u, v))
    out = k.accumulator("aggregated out", t.real, ("num_nodes", "channels"))
    with t.loop("c f", extent(h, 1)) as c:
        t.update("add", out, (v, c), alpha * h[u, c])
    return t.title(_NAMES[t.way], f"{_SAID[t.way]}: for each edge {t.s.where} from u to v, ")


def _attention(t: _Layer, u: Expr, v: Expr) -> Expr:
    """A softmax over the edges of a node, whose largest logit and sum are known."""
    if t.level > 3:
        names = t.k.draw.word.choice((("a_src", "a_dst"), ("src_scores", "dst_scores")))
        ends = zip(names, (u, v), strict=True)
        a, b = (t.state(name, -1.0, 1.0)[node] for name, node in ends)
        logit = t.let("logit", _leaky(t, a + b))
    else:
        logit = t.edge("logits scores", -1.0, 1.0)
    top, total = t.state("max_logit node_max", 1.0, 2.0), t.state("denom exp_sums", 1.0, 4.0)
    return t.let("alpha attn", exp(logit - top[v]) / total[v])


def _leaky(t: _Layer, value: Expr) -> Expr:
    raw = t.define("z", t.let("score raw", value))
    return where(raw > 0.0, raw, 0.2 * raw)


def _heads(t: _Layer, u: Var, v: Var) -> Title:
    """Attention of several heads: an edge goes through all of them and their channels."""
    k, real = t.k, t.real
    k.size("heads", 3, 4)
    k.size("head_dim", 3, 5)
    dims = ("num_nodes", "heads", "head_dim")
    h = k.array("features h", real, dims, low=-1.0, high=1.0)
    out = k.accumulator("aggregated out", real, dims)
    (e,) = t.s.at
    way = t.pick("computed", "computed", "logits", "given")
    with k.for_("head n", extent(h, 1)) as head:
        alpha = _alpha(t, way, (e, u, v), head)
        with k.for_("c f", extent(h, 2)) as c:
            k.atomic("add", out, (v, head, c), alpha * h[u, head, c])
    text = f"Multi-head graph attention: for each edge {t.s.where} from u to v and every head n, "
    text += f"add the features of u times {_ALPHA[way].format(*t.notes)} to {out.name} of v."
    t.notes = []
    text += f" Here {t.defined[0]} and {t.defined[1]}."
    return Title(k.name("gat_aggregate multi_head_aggregate"), text)


_ALPHA = {
    "given": "the edge's attention {0}[e, n]",
    "logits": "exp({0}[e, n] - {1}[v, n]) / {2}[v, n], a softmax over the edges into v,",
    "computed": (
        "exp(q - {1}[v, n]) / {2}[v, n], a softmax over the edges into v of q, the leaky ReLU "
        "(slope {3}) of a_src[u, n] + a_dst[v, n],"
    ),
}


def _alpha(t: _Layer, way: str, at: tuple[Expr, Var, Var], head: Var) -> Expr:
    """The attention that an edge has by a head; arrays go to the notes."""
    k, real, (e, u, v) = t.k, t.real, at
    pair = ("num_nodes", "heads")
    if way == "given":
        given = k.array("attention alphas", real, ("num_edges", "heads"), low=0.1, high=1.0)
        t.notes = [given.name]
        return k.let("alpha attn", given[e, head])
    slope = ""
    if way == "logits":
        logits = k.array("logits scores", real, ("num_edges", "heads"), low=-1.0, high=1.0)
        logit: Expr = logits[e, head]
        first = logits.name
    else:
        a, b = (k.array(n, real, pair, low=-1.0, high=1.0) for n in ("a_src", "a_dst"))
        raw = k.let("raw score", a[u, head] + b[v, head])
        factor: Expr = k.lift(0.2, real)
        slope, first = "0.2", ""
        if t.chance(0.4):
            param = k.scalar("negative_slope slope", real, 0.1, 0.3)
            factor, slope = param, param.name
        logit = k.let("logit", where(raw > 0.0, raw, factor * raw))
    top = k.array("max_logit node_max", real, pair, low=1.0, high=2.0)
    total = k.array("denom exp_sums", real, pair, low=1.0, high=4.0)
    t.notes = [first, top.name, total.name, slope]
    return k.let("alpha attn", exp(logit - top[v, head]) / total[v, head])


def _relational(t: _Layer, u: Var, v: Var) -> Title:
    """Messages by a weight matrix for each kind of edge (M. Schlichtkrull and others, 2018)."""
    k, real = t.k, t.real
    for size, low, high in (("relations", 3, 4), ("cin", 3, 5), ("cout", 3, 4)):
        k.size(size, low, high)
    h = k.array("features h", real, ("num_nodes", "cin"), low=-1.0, high=1.0)
    turned = t.chance(0.4)
    dims = ("relations", "cin", "cout") if turned else ("relations", "cout", "cin")
    weights = k.array("rel_weights weights", real, dims, low=-1.0, high=1.0)
    kind = t.s.read("edge_type relation", INT32, init="index_of:relations")
    rel = k.let("r rel", kind)
    norm: Expr | None = None
    way = t.pick("edge", "degree", "none")
    if way == "edge":
        norm = k.let("norm scale", t.edge("edge_norm norms", 0.2, 1.0))
    elif way == "degree":
        norm = k.let("scale inv_deg", 1.0 / cast(_degree(t, "in_degree num_in")[v], real))
    out = k.accumulator("aggregated out", real, ("num_nodes", "cout"))
    with k.for_("o", extent(out, 1)) as o:
        acc = k.let("acc total", k.lift(0.0, real))
        with k.for_("i", extent(h, 1)) as i:
            w = weights[(rel, i, o) if turned else (rel, o, i)]
            k.augment(acc, "add", w * h[u, i])
        k.atomic("add", out, (v, o), acc if norm is None else norm * acc)
    text = f"Relational graph convolution: for each edge {t.s.where} from u to v of relation r, "
    text += f"multiply the features of u by the matrix {weights.name}[r]"
    text += f" ({'cin' if turned else 'cout'} rows)"
    if way != "none":
        by = "edge's norm" if way == "edge" else "inverse of v's in-degree"
        text += f" and by the {by}"
    text += f", and add the result to {out.name}[v]. Here {t.defined[0]}, {t.defined[1]} and r = "
    return Title(k.name("rgcn_aggregate relational_conv"), f"{text}{t.say(kind)}.")


_PRODUCTS = {
    1: ("vector",),
    2: ("vector", "columns", "loop"),
    3: ("symmetric", "loop", "transposed"),
    4: ("blocks", "symmetric"),
    5: ("runs", "blocks"),
}
_COO = ("row_idx col_idx", "rows_coo cols_coo", "coo_rows coo_cols")


class _Sparse(Tally):
    """A sparse matrix in coordinate form."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        shape = k.draw.shape
        self.form = shape.choice(_PRODUCTS[level])
        whole = shape.chance(0.15) and self.form != "blocks"
        self.unit = shape.choice((INT32, INT64)) if whole else k.draw.wide_float_type()
        self.type: Scalar | Mat = self.unit
        if self.form == "blocks":
            size = shape.choice((2, 3))
            self.type = Mat(size, size, self.unit)
        k.size("rows", 8, 12)
        if self.form != "symmetric":
            k.size("cols", 8, 12)
        self.width = k.draw.value.choice((4, 8))
        if self.form == "columns":
            s = over(k, "nnz rhs", indices(k, "e nz", "c"), ((64, 96), (3, 5)))
        elif self.form == "runs":
            k.size("chunks", 8, 12)
            (c,) = k.thread("chunks", names=(k.name("t chunk"),))
            s = Site(k, "chunk", (f"{self.width}*chunks",), (c,))
        else:
            s = threads(k, "nnz", 64, 96, "e nz")
        super().__init__(level, s, "Stored entries")
        names = k.draw.word.choice(_COO).split()
        cols = "rows" if self.form == "symmetric" else "cols"
        self.rows = s.array(names[0], INT32, init="index_of:rows", axes=(0,))
        self.cols = s.array(names[1], INT32, init=f"index_of:{cols}", axes=(0,))
        low, high = (-2.0, 2.0) if self.unit.is_float else (-9, 9)
        self.values = s.array("values vals", self.type, low, high, axes=(0,))
        self.square = self.form == "symmetric"

    def x(self, *more: str) -> Var:
        type_ = Vec(self.type.rows, self.unit) if isinstance(self.type, Mat) else self.unit
        size = "rows" if self.square or self.form == "transposed" else "cols"
        return self.k.array(
            "x rhs" if not more else "dense x", type_, (size, *more), low=-2, high=2
        )

    def y(self, *more: str) -> Var:
        type_ = Vec(self.type.rows, self.unit) if isinstance(self.type, Mat) else self.unit
        size = "cols" if self.form == "transposed" else "rows"
        return self.k.accumulator("y out", type_, (size, *more))


@idiom
def sparse_product(k: KernelBuilder, level: int) -> Title:
    """A sparse matrix in coordinate form times a vector or a dense matrix."""
    t = _Sparse(k, level)
    if t.form == "runs":
        return _row_runs(t)
    e = t.s.at[0]
    names = k.draw.word.choice((("row", "col"), ("i", "j")))
    row, col = k.let(names[0], t.rows[e]), k.let(names[1], t.cols[e])
    value: Expr = t.values[e]
    if t.chance(0.4, 2) and not isinstance(t.type, Mat):
        value = t.let("a scaled", k.scalar("alpha", t.unit, 2, 5) * value)
    if t.form == "loop":
        k.size("rhs", 3, 5)
        x, y = t.x("rhs"), t.y("rhs")
        value = t.let("a value", value)
        with t.loop("c", k.size_param("num_rhs", "rhs")) as column:
            t.update("add", y, (row, column), value * x[col, column])
    elif t.form == "columns":
        x, y, c = t.x("rhs"), t.y("rhs"), t.s.at[1]
        t.update("add", y, (row, c), value * x[col, c])
    else:
        _vector_product(t, (row, col), value)
    return _told_product(t)


def _vector_product(t: _Sparse, at: tuple[Var, Var], value: Expr) -> None:
    """An entry times an element of the vector; of a symmetric matrix its mirror image, too."""
    (row, col), x, y = at, t.x(), t.y()
    if t.form == "symmetric":
        value = t.let("a value", value)
    if t.form == "transposed":
        t.update("add", y, col, value * x[row])
    else:
        t.update("add", y, row, fn("mul", value, x[col]))
    if t.form == "symmetric":
        with t.when(fn("ne", row, col)):
            t.update("add", y, col, value * x[row])


_KINDS = {
    "transposed": ("Transpose of a sparse matrix in coordinate form", "coo_spmv_transposed"),
    "symmetric": ("Symmetric sparse matrix, of which one half is stored,", "symmetric_spmv"),
    "blocks": ("Block-sparse matrix in coordinate form, of small dense blocks,", "bcoo_spmv"),
    "vector": ("Sparse matrix in coordinate form", "coo_spmv sparse_matvec"),
}


def _told_product(t: _Sparse) -> Title:
    dense = t.form in ("loop", "columns")
    opening, names = _KINDS.get(t.form, _KINDS["vector"])
    opening += f" times a {'dense matrix' if dense else 'vector'}"
    where_ = f"({t.s.where})" if t.s.rank > 1 else t.s.where
    each = "stored entry and column" if t.s.rank > 1 else "stored entry"
    names = "coo_spmm sparse_matmul" if dense else names
    return t.title(names, f"{opening}: for each {each} {where_}, ")


def _row_runs(t: _Sparse) -> Title:
    """A thread goes through a chunk of entries, and issues an atomic where the row changes."""
    k, (chunk,) = t.k, t.s.at
    x, y = t.x(), t.y()
    first = k.let("first start", chunk * t.width)
    current = k.let("row current", t.rows[first])
    acc = k.let("acc total", k.lift(0, t.unit))
    with k.for_("j step", t.width) as j:
        e = k.let("e nz", first + j)
        row = k.let("next_row here", t.rows[e])
        with k.if_(fn("ne", row, current)):
            k.atomic("add", y, current, acc)
            k.assign(acc, k.lift(0, t.unit))
            k.assign(current, row)
        k.augment(acc, "add", t.values[e] * x[t.cols[e]])
    k.atomic("add", y, current, acc)
    text = f"Sparse matrix in coordinate form times a vector: each thread multiplies {t.width} "
    text += (
        f"consecutive entries by {x.name} at their columns and sums runs of equal {t.rows.name} "
    )
    text += f"in a register. Where the row changes, and at the end, a run is added to {y.name}."
    return Title(k.name("coo_spmv_segmented coo_spmv_runs"), text)
