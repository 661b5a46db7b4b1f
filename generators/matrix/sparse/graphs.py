"""What graphs make of sparse rows: aggregation over neighbours, and attention to them."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, most
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.matrix.sparse.rows import Csr, csr
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Expr, Operand, Var


@idiom
def graph_aggregate(k: KernelBuilder, level: int) -> Title:
    """What a node makes of its neighbours' features: mean, sum, maximum, with norms of degrees."""
    w = work(k, level, flattening=0.25)
    w.size("nodes", 8, 12, "num_nodes nodes")
    w.size("width", 3, 5, "num_features")
    m = csr(w, "nodes", "nodes", graph=True)
    x = w.tensor("features x", ("nodes", "width"))
    form = k.draw.shape.weighted({"mean": 3, "sum": 2, "max": 2, "normed": 2, "gin": 2})
    weights = None
    if form in ("sum", "normed") and w.chance(0.4 if form == "normed" else 0.7):
        weights = w.tensor("edge_weights edge_w", ("edges",), 0.2, 1.0)
    norms = w.tensor("inv_sqrt_deg norm", ("nodes",), 0.3, 1.0) if form == "normed" else None
    own = w.number("eps", 0.2, 0.8) if form == "gin" else None
    loop = form in ("normed", "mean") and w.chance(0.4)
    with w.each(("nodes", "width"), ("node i v", "f c")) as (node, f):
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
    return Title(k.name(_GRAPH_TITLES[form]), w.text())


_GRAPH_TITLES = {
    "mean": "aggregate_mean graph_mean",
    "sum": "aggregate_sum graph_sum",
    "max": "aggregate_max graph_max_pool",
    "normed": "gcn_aggregate gcn_propagate",
    "gin": "gin_aggregate",
}


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
    who = f"the neighbours u of v, the entries of {m.cols.name} from {row} (exclusive)"
    self_too = " and v itself" if loop else ""
    what = f"{times}{x.name}[u]"
    at_least = "" if loop else " (at least 1)"
    text = {
        "mean": f"the sum of {what} over {who}{self_too}, divided by their number{at_least}",
        "sum": f"the sum of {what} over {who}",
        "max": f"the largest {what} over {who}, 0 where there are none",
        "normed": f"{norms.name if norms else ''}[v] times the sum of {what} over {who}{self_too}",
        "gin": f"(1 + {written(own) if own is not None else ''}) * {x.name}[v] plus the sum of "
        f"{what} over {who}",
    }[form]
    plain = " v itself counts without an edge weight." if loop and weights is not None else ""
    kinds = {"mean": "Mean", "sum": "Sum", "max": "Max", "normed": "GCN", "gin": "GIN"}
    w.say(f"{kinds[form]} aggregation over a graph in CSR form: for each node v and feature,")
    w.told[-1] += f" {out.name} gets {text}.{plain}"


@idiom
def graph_attention(k: KernelBuilder, level: int) -> Title:
    """Softmax over a node's neighbours: scores of edges, or features mixed by them."""
    w = work(k, level)
    w.type_ = FLOAT32
    vec = Vec(k.draw.shape.choice((4, 8, 16)), FLOAT32)
    w.size("nodes", 8, 12, "num_nodes nodes")
    heads = (w.size("heads", 2, 3),) if w.chance(0.5, 2) else ()
    m = csr(w, "nodes", "nodes", graph=True)
    form = k.draw.shape.choice(("added", "dot"))
    names = alike(k, "src_score dst_score", "a_src a_dst") if form == "added" else ("query", "key")
    element = FLOAT32 if form == "added" else vec
    there, here = (
        w.tensor(n, ("nodes", *heads), type_=element)
        for n in (names if form == "added" else names[::-1])
    )
    x = w.tensor("features h_in" if form == "added" else "value", ("nodes", *heads), type_=vec)
    added = form == "added"
    number = w.number("slope negative_slope", 0.1, 0.3) if added else w.number("scale", 0.3, 0.8)
    edge = w.tensor("edge_bias edge_score", ("edges",)) if w.chance(0.3, 2) else None
    f = _Edges(w, m, there, here, x, number, form, edge)
    at = k.thread("nodes", *heads, names=[k.name("v node"), k.name("h head")][: 1 + len(heads)])
    first, last = m.bounds(at[0], False)
    f.write(at, first, last, vec)
    return Title(k.name("gat_layer gat_aggregate" if added else "graph_attention"), w.text())


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
        before = set(k.used)
        if not online:
            with k.for_("e p", last, start=first) as e:
                k.assign(top, most(top, self.score(at, e)[0]))
        k.again(before)
        total = k.let("denom total", k.lift(0.0, FLOAT32))
        acc = k.let("acc mixed", make(vec, k.lift(0.0, FLOAT32)))
        with k.for_("e p", last, start=first) as e:
            score, nbr = self.score(at, e)
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
        # The largest score has a weight of 1, so only a sum without terms is less.
        if k.draw.shape.chance(0.4):
            out.store(at, acc / most(total, 1.0))
        else:
            with k.if_(total > 0.0):
                k.assign(acc, acc / total)
            out.store(at, acc)
        self.say(out, online)

    def say(self, out: Tensor, online: bool) -> None:
        m, number = self.m, written(self.number)
        score = f"the leaky ReLU with slope {number} of {self.there.name}[u] + {self.here.name}[v]"
        if self.form == "dot":
            score = f"{number} * dot({self.here.name}[v], {self.there.name}[u])"
        if self.edge is not None:
            score += f" + {self.edge.name} of the edge"
        self.w.say(
            f"Graph attention: node v attends to its neighbours u, the entries of {m.cols.name} "
            f"from {m.offsets.name}[v] to {m.offsets.name}[v + 1] (exclusive), with scores "
            f"{score}. {out.name} gets {self.x.name} of the neighbours averaged with the softmax "
            f"of the scores, zero without neighbours"
            f"{'; one pass with a running maximum' if online else ''}."
        )
