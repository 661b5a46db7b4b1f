"""Sparse matrices by rows: offsets, blocks, sampled products, and what graphs make of them."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, most
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, INT32, Mat, Vec
from generators.program.expr import Expr, Operand, Var

_MOST, _FEW = 40, 20
"""Entries that offsets lead to at most; few in graphs, so that some nodes have none."""


@dataclass(frozen=True)
class Csr:
    """Rows of a sparse matrix: offsets, columns, and how they are called."""

    w: Work
    offsets: Var
    cols: Var
    edges: str

    def bounds(self, row: Expr, nested: bool) -> tuple[Operand, Operand]:
        """First and one past the last entry of a row, as locals or where they are used."""
        if nested:
            return self.offsets[row], self.offsets[row + 1]
        k = self.w.k
        first, second = alike(k, "start end", "begin stop", "lo hi", "first last")
        return k.let(first, self.offsets[row]), k.let(second, self.offsets[row + 1])


def csr(w: Work, rows: str, cols: str, graph: bool = False) -> Csr:
    """Row offsets and columns over ``rows`` and ``cols``; no offset is beyond the entries."""
    k = w.k
    most_edges = _FEW if graph else _MOST
    w.size("edges" if graph else "nnz", most_edges, most_edges + 10, minimum=most_edges)
    edges = "edges" if graph else "nnz"
    pairs = ("row_ptr nbr_ids", "offsets neighbors", "indptr indices")
    if not graph:
        pairs = ("row_ptr col_idx", "indptr indices", "row_offsets columns")
    first, second = alike(k, *pairs)
    offsets = k.array(first, INT32, f"{rows}+1", init="sorted", low=0, high=most_edges)
    return Csr(w, offsets, k.array(second, INT32, edges, init=f"index_of:{cols}"), edges)


@idiom
def csr_spmm(k: KernelBuilder, level: int) -> Title:
    """A sparse matrix by row offsets times a dense matrix or a vector; scaled or added."""
    w = work(k, level, flattening=0.25)
    rows, cols = w.size("rows", 8, 12, "num_rows rows"), w.size("cols", 6, 10, "num_cols cols")
    vector = w.chance(0.3)
    m = csr(w, rows, cols)
    values = w.tensor("values vals data", ("nnz",)) if w.chance(0.85) else None
    width = () if vector else (w.size("width", 3, 6, "width num_rhs"),)
    x = w.tensor("x rhs dense", (cols, *width))
    nested = w.chance(0.5)
    with w.each((rows, *width), ("row i r", "j col_out q"), line=0.0) as at:
        first, last = m.bounds(at[0], nested)
        total = w.sum("total acc s")
        with k.for_("e nz p", last, start=first) as e:
            col = k.let("col c", m.cols[e]) if w.chance(0.5) else m.cols[e]
            entry = x[index(col, *at[1:])]
            k.augment(total, "add", entry if values is None else values[e] * entry)
        what = "the entries, all of which are 1," if values is None else values.name
        w.say(
            f"Multiply a sparse matrix by {x.name}: row r has entries {m.offsets.name}[r] to "
            f"{m.offsets.name}[r + 1], with columns {m.cols.name} and {what} as values."
        )
        _finished(w, total, (rows, *width), at)
    return Title(
        k.name("csr_spmv csr_matvec" if vector else "csr_spmm csr_matmul", "sparse_rows"), w.text()
    )


def _finished(w: Work, total: Var, dims: tuple[str, ...], at: tuple[Var, ...]) -> None:
    """Store a product: as it is, scaled, with what is there, or less a right side."""
    k = w.k
    way = k.draw.shape.weighted({"plain": 3, "gemv": 2, "residual": 2, "scaled": 2})
    if way == "gemv":
        y = w.tensor("y out", dims, role="inout")
        alpha, beta = w.number("alpha", 0.5, 1.5), w.number("beta", 0.3, 0.9)
        y.store(at, alpha * total + beta * y[at])
        w.say(f"{y.name} becomes {written(alpha)} * product + {written(beta)} * {y.name}.")
        return
    value: Expr = total
    if way == "residual":
        b = w.tensor("b target", dims)
        value = b[at] - total
        w.say(f"The product is subtracted from {b.name}.")
    elif way == "scaled":
        scale = w.tensor("row_scale inv_degree", dims[:1], 0.2, 1.0)
        value = scale[at[0]] * total
        w.say(f"The product is multiplied by {scale.name} of the row.")
    out = w.out("y out result", dims)
    out.store(at, value)
    w.say(f"{out.name} gets the result.")


@idiom
def bsr_spmv(k: KernelBuilder, level: int) -> Title:
    """A sparse matrix of small dense blocks times a vector or several, a block row a thread."""
    w = work(k, level)
    size = k.draw.shape.choice((2, 3, 4))
    mat, vec = Mat(size, size, w.type_), Vec(size, w.type_)
    rows, cols = w.size("rows", 8, 12, "block_rows"), w.size("cols", 6, 10, "block_cols")
    width = (w.size("width", 3, 4, "num_rhs"),) if w.chance(0.35) else ()
    m = csr(w, rows, cols)
    blocks = k.array("blocks values vals", mat, "nnz", low=-0.8, high=0.8)
    x = w.tensor("x vecs rhs", (cols, *width), type_=vec)
    turned = w.chance(0.25)
    way = k.draw.shape.choice(("plain", "residual", "jacobi", "add"))
    with w.each((rows, *width), ("row i", "j q"), line=0.0) as at:
        first, last = m.bounds(at[0], w.chance(0.5))
        total = k.let("total acc s", make(vec, k.lift(0.0, w.type_)))
        with k.for_("e b p", last, start=first) as e:
            block = fn("transpose", blocks[e]) if turned else blocks[e]
            k.augment(total, "add", block * x[index(m.cols[e], *at[1:])])
        role = "inout" if way == "add" else "out"
        w.say(
            f"Multiply a matrix of {size} x {size} blocks{', transposed each,' * turned} "
            f"by {x.name}: block row r has {blocks.name} {m.offsets.name}[r] to "
            f"{m.offsets.name}[r + 1], in block columns {m.cols.name}."
        )
        value: Expr = total
        if way in ("residual", "jacobi"):
            b = w.tensor("b target", (rows, *width), type_=vec)
            value = b[at] - total
            w.say(f"It is subtracted from {b.name}.")
        if way == "jacobi":
            inverse = w.tensor("inv_diag diag_inv", (rows,), type_=mat)
            omega = w.number("omega damping", 0.5, 0.9)
            value = omega * (inverse[at[0]] * value)
            w.say(f"That is multiplied by {inverse.name} of the row and {written(omega)}.")
        out = w.tensor("y out result", (rows, *width), role=role, type_=vec)
        out.store(at, value, "add" if way == "add" else "")
        w.say(f"{out.name} gets it." if way != "add" else f"It is added to {out.name}.")
    return Title(k.name("bsr_spmv block_sparse_product bsr_matvec"), w.text())


@idiom
def sampled_product(k: KernelBuilder, level: int) -> Title:
    """Entries of a dense product at the places of a sparse matrix (SDDMM)."""
    w = work(k, level, flattening=0.25)
    rows, cols = w.size("rows", 8, 12, "num_rows"), w.size("cols", 6, 10, "num_cols")
    depth, by_entry = w.size("depth", 3, 6, "depth feat_dim"), w.chance(0.5)
    names = alike(k, "a b_mat", "left right", "q keys", "u v_mat")
    a, b = w.tensor(names[0], (rows, depth)), w.tensor(names[1], (cols, depth))
    row_of, col_of, where = _pattern(w, rows, cols, by_entry)
    sampled = w.tensor("values mask_vals sample", ("nnz",), 0.2, 1.0) if w.chance(0.5) else None
    scale = w.number("scale alpha", 0.3, 0.9) if w.chance(0.4) else None
    out = w.tensor("out scores products", ("nnz",), role="out" if by_entry else "inout")

    def entry(row: Expr, col: Expr, e: Expr) -> None:
        total = k.let("dot total acc", zero(w.type_))
        with w.loop("d p kk", depth) as d:
            k.augment(total, "add", a[row, d] * b[col, d])
        value: Expr = total if scale is None else scale * total
        out.store((e,), value if sampled is None else sampled[e] * value)

    if by_entry:
        (e,) = k.thread("nnz", names=(k.name("e tid nz"),))
        entry(k.let("row i", row_of[e]), k.let("col j", col_of[e]), e)
    else:
        (row,) = k.thread(rows, names=(k.name("row i"),))
        with k.for_("e nz", row_of[row + 1], start=row_of[row]) as e:
            entry(row, k.let("col j", col_of[e]), e)
    times = "" if scale is None else f"{written(scale)} * "
    times += "" if sampled is None else f"{sampled.name} * "
    w.say(
        f"Sampled product: for each entry of a sparse pattern, in {where}, {out.name} gets {times}"
        f"the dot product of row r of {a.name} and the row of {b.name} that the column numbers."
    )
    return Title(k.name("sddmm sampled_matmul edge_dots"), w.text())


def _pattern(w: Work, rows: str, cols: str, by_entry: bool) -> tuple[Var, Var, str]:
    """Where entries are: both indices of each, or columns by row offsets; and that in words."""
    k = w.k
    if by_entry:
        w.size("nnz", 40, 60)
        first, second = alike(k, "row_idx col_idx", "src dst", "rows_coo cols_coo")
        row_of = k.array(first, INT32, "nnz", init=f"index_of:{rows}")
        col_of = k.array(second, INT32, "nnz", init=f"index_of:{cols}")
        return row_of, col_of, f"row {row_of.name} and column {col_of.name}"
    m = csr(w, rows, cols)
    offsets = m.offsets.name
    where = (
        f"row r and column {m.cols.name}, entries {offsets}[r] to {offsets}[r + 1] being of row r"
    )
    return m.offsets, m.cols, where


@idiom
def graph_aggregate(k: KernelBuilder, level: int) -> Title:
    """What a node makes of its neighbours' features: mean, sum, maximum, with norms of degrees."""
    w = work(k, level, flattening=0.25)
    w.size("nodes", 8, 12, "num_nodes nodes")
    w.size("width", 3, 5, "width num_feats")
    m = csr(w, "nodes", "nodes", graph=True)
    x = w.tensor("features x h", ("nodes", "width"))
    form = k.draw.shape.weighted({"mean": 3, "sum": 1, "max": 2, "normed": 2, "gin": 2})
    weights = None
    if form in ("mean", "sum", "normed") and w.chance(0.4):
        weights = w.tensor("edge_weights edge_w", ("edges",), 0.2, 1.0)
    norms = w.tensor("inv_sqrt_deg norm", ("nodes",), 0.3, 1.0) if form == "normed" else None
    own = w.number("eps self_weight", 0.2, 0.8) if form == "gin" else None
    loop = form in ("normed", "mean") and w.chance(0.4)
    with w.each(("nodes", "width"), ("node i v", "f c"), line=0.0) as (node, f):
        first, last = m.bounds(node, False)
        start: Expr = zero(w.type_)
        if form == "max":
            start = k.lift(-1.0e30, w.type_)
        elif own is not None:
            start = (1.0 + own) * x[node, f]
        elif loop:
            start = x[node, f] if norms is None else norms[node] * x[node, f]
        total = k.let("best top" if form == "max" else "total acc", start)
        with k.for_("e p", last, start=first) as e:
            nbr = k.let("nbr src u", m.cols[e])
            value = x[nbr, f] if norms is None else norms[nbr] * x[nbr, f]
            value = value if weights is None else weights[e] * value
            if form == "max":
                k.assign(total, most(total, value))
            else:
                k.augment(total, "add", value)
        result = _aggregated(w, form, total, (first, last), loop, norms, node)
        out = w.out("out aggregated y", ("nodes", "width"))
        out.store((node, f), result)
    _graph_said(w, (m, x, out), form, weights, norms, own, loop)
    return Title(k.name(f"aggregate_{form} graph_{form} neighbor_{form}"), w.text())


def _aggregated(
    w: Work,
    form: str,
    total: Var,
    bounds: tuple[Operand, Operand],
    loop: bool,
    norms: Tensor | None,
    node: Expr,
) -> Expr:
    """The sum over neighbours as the form wants it."""
    first, last = bounds
    assert isinstance(first, Expr)
    assert isinstance(last, Expr)
    if norms is not None:
        return norms[node] * total
    if form == "max":
        return fn("where", last > first, total, 0.0)
    if form == "mean":
        many = last - first
        count = cast(many + 1 if loop else most(many, 1), w.type_)
        return total / count
    return total


def _graph_said(
    w: Work,
    of: tuple[Csr, Tensor, Tensor],
    form: str,
    weights: Tensor | None,
    norms: Tensor | None,
    own: Expr | None,
    loop: bool,
) -> None:
    m, x, out = of
    times = f"{weights.name} * " if weights is not None else ""
    times += f"{norms.name}[u] * " if norms is not None else ""
    row = f"{m.offsets.name}[v] to {m.offsets.name}[v + 1]"
    who = f"the neighbours u of node v, {m.cols.name} from {row}"
    self_too = " and v itself" if loop else ""
    what = f"{times}{x.name}[u]"
    text = {
        "mean": f"the sum of {what} over {who}{self_too}, divided by their number (at least 1)",
        "sum": f"the sum of {what} over {who}",
        "max": f"the largest {what} over {who}, 0 where there are none",
        "normed": f"{norms.name if norms else ''}[v] times the sum of {what} over {who}{self_too}",
        "gin": f"(1 + {written(own) if own is not None else ''}) * {x.name}[v] plus the sum of "
        f"{what} over {who}",
    }[form]
    plain = " v itself counts without an edge weight." if loop and weights is not None else ""
    w.say(f"For each feature, {out.name} of node v gets {text}.{plain}")


@idiom
def graph_attention(k: KernelBuilder, level: int) -> Title:
    """Softmax over a node's neighbours: scores of edges, or features mixed by them."""
    w = work(k, level)
    w.type_ = FLOAT32
    vec = Vec(k.draw.shape.choice((2, 3, 4)), FLOAT32)
    w.size("nodes", 8, 12, "num_nodes nodes")
    heads = (w.size("heads", 2, 3),) if w.chance(0.5, 2) else ()
    m = csr(w, "nodes", "nodes", graph=True)
    form = k.draw.shape.choice(("added", "dot"))
    names = (
        alike(k, "src_score dst_score", "a_src a_dst")
        if form == "added"
        else alike(k, "q keys", "query key")
    )
    element = FLOAT32 if form == "added" else vec
    there, here = (
        w.tensor(n, ("nodes", *heads), type_=element)
        for n in (names if form == "added" else names[::-1])
    )
    x = w.tensor("features h_in", ("nodes", *heads), type_=vec)
    added = form == "added"
    number = w.number("slope negative_slope", 0.1, 0.3) if added else w.number("scale", 0.3, 0.8)
    edge = w.tensor("edge_bias edge_score", ("edges",)) if w.chance(0.3, 2) else None
    f = _Edges(w, m, there, here, x, number, form, edge)
    at = k.thread("nodes", *heads, names=[k.name("v node"), k.name("h head")][: 1 + len(heads)])
    first, last = m.bounds(at[0], False)
    f.write(at, first, last, vec)
    return Title(k.name("graph_attention gat_layer edge_softmax_aggregate"), w.text())


@dataclass(frozen=True)
class _Edges:
    """Scores of edges and what is mixed by them."""

    w: Work
    m: Csr
    there: Tensor
    here: Tensor
    x: Tensor
    number: Expr
    form: str
    edge: Tensor | None

    def score(self, at: tuple[Var, ...], e: Expr) -> tuple[Var, Var]:
        k = self.w.k
        nbr = k.let("nbr src", self.m.cols[e])
        far, near = self.there[index(nbr, *at[1:])], self.here[at]
        raw: Expr = far + near if self.form == "added" else self.number * fn("dot", near, far)
        raw = raw if self.edge is None else raw + self.edge[e]
        if self.form != "added":
            return k.let("score logit", raw), nbr
        held = k.let("raw pre", raw)
        return k.let("score logit", fn("where", held > 0.0, held, self.number * held)), nbr

    def write(self, at: tuple[Var, ...], first: Operand, last: Operand, vec: Vec) -> None:
        w, k = self.w, self.w.k
        online = w.chance(0.4)
        top = k.let("top row_max", k.lift(-1.0e30, FLOAT32))
        if not online:
            with k.for_("e p", last, start=first) as e:
                k.assign(top, most(top, self.score(at, e)[0]))
        total = k.let("denom total", k.lift(0.0, FLOAT32))
        acc = k.let("acc mixed", make(vec, k.lift(0.0, FLOAT32)))
        k.used -= {"nbr", "src", "score", "logit", "raw", "pre"}
        with k.for_("n q", last, start=first) as n:
            score, nbr = self.score(at, n)
            value = self.x[index(nbr, *at[1:])]
            if online:
                higher = k.let("higher new_max", most(top, score))
                fade = k.let("fade correction", exp(top - higher))
                k.assign(top, higher)
                weight = k.let("weight w_e", exp(score - higher))
                k.assign(total, total * fade + weight)
                k.assign(acc, acc * fade + weight * value)
            else:
                weight = k.let("weight w_e", exp(score - top))
                k.augment(total, "add", weight)
                k.augment(acc, "add", weight * value)
        out = w.out("out h_out", self.x.dims, type_=vec)
        way = k.draw.shape.choice(("if", "where", "eps"))
        if way == "eps":
            out.store(at, acc / (total + 1.0e-12))
        elif way == "if":
            with k.if_(total > 0.0):
                k.assign(acc, acc / total)
            out.store(at, acc)
        else:
            out.store(at, fn("where", total > 0.0, acc / most(total, 1.0e-12), acc))
        self.say(out, online)

    def say(self, out: Tensor, online: bool) -> None:
        m, number = self.m, written(self.number)
        score = f"leaky ReLU, slope {number}, of {self.there.name}[u] + {self.here.name}[v]"
        if self.form == "dot":
            score = f"{number} * dot({self.here.name}[v], {self.there.name}[u])"
        if self.edge is not None:
            plus = f" + {self.edge.name}"
            score += plus if self.form == "dot" else f"{plus} of the edge"
        self.w.say(
            f"Attention of each node v over its neighbours u = {m.cols.name}, from "
            f"{m.offsets.name}[v] to {m.offsets.name}[v + 1]: scores are {score}. "
            f"{out.name} gets {self.x.name} of the "
            f"neighbours mixed by the softmax of the scores, zero without neighbours"
            f"{', in one pass with a running maximum' if online else ''}."
        )
