"""Betweenness by Brandes: numbers of shortest paths outward, dependencies back.

U. Brandes, J. Math. Sociology 25 (2001); many sources at once: A. Buluc, J. Gilbert (2011).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.control_flow.graphs.pulls import LINKS
from generators.control_flow.kit import both, same
from generators.kit.sources import zero
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass
class _Search:
    """Breadth-first searches over one graph: a thread for each vertex or edge, and each source.

    ``v`` is the vertex that is written, ``u`` its neighbour one level nearer or farther.
    """

    k: KernelBuilder
    type: Scalar
    at: tuple[Var, ...]
    dims: tuple[str, ...]
    form: str
    outward: bool
    vertex: Expr
    depth: Var
    ends: tuple[Var, Var]
    directed: bool

    @property
    def v(self) -> str:
        edges = self.form == "edges" or not isinstance(self.vertex, Var)
        return "v" if edges else str(getattr(self.vertex, "name", "v"))

    @property
    def lead(self) -> tuple[Var, ...]:
        return self.at[:-1]

    @property
    def step(self) -> str:
        return "- 1" if self.outward else "+ 1"

    def place(self, u: Expr) -> tuple[Expr, ...]:
        return (*self.lead, u)

    def name(self, array: Var, vertex: str) -> str:
        lead = f"{self.lead[0].name}, " if self.lead else ""
        return f"{array.name}[{lead}{vertex}]"

    def said(self) -> str:
        """Which neighbours there are."""
        kind = ("predecessors" if self.outward else "successors") if self.directed else "neighbours"
        first, second = (end.name for end in self.ends)
        if self.form == "edges":
            return f"its {kind} u"
        if self.form == "table":
            return f"its {kind} u = {second}[{self.v}, e], e below {first}[{self.v}]"
        return (
            f"its {kind} u = {second}[e], e from {first}[{self.v}] up to {first}[{self.v} + 1] "
            "(exclusive)"
        )


def _search(k: KernelBuilder, level: int, outward: bool) -> _Search:
    shape = k.draw.shape
    several = shape.chance(0.15 + 0.1 * level)
    type_ = shape.weighted({FLOAT32: 3, Scalar("float64"): 2})
    form = shape.weighted({"csr": 3, "edges": 3, "table": 1, "listed": 2 * (level > 1)})
    lead = ("searches",) if several else ()
    for size in lead:
        k.size(size, 3, 4)
    k.size("verts", 24, 30, minimum=12)
    last = {"edges": "num_edges", "listed": "num_active"}.get(form, "verts")
    if form == "edges":
        k.size("num_edges", 120, 150)
    if form == "listed":
        k.size("num_active", 12, 16)
    word = {"edges": "e edge", "listed": "i tid"}.get(form, "v node")
    at = k.thread(*lead, last, names=[*(k.name("s src") for _ in lead), k.name(word)])
    directed = shape.chance(0.3)
    ends = _ends(k, form, directed, "in" if outward else "out")
    vertex: Expr = at[-1]
    if form == "listed":
        level_list = k.array("level_verts frontier", INT32, (*lead, last), init="index_of:verts")
        vertex = k.let("v node", level_list[at])
    depth = k.array("depth dist", INT32, (*lead, "verts"), low=0, high=3)
    return _Search(k, type_, at, (*lead, "verts"), form, outward, vertex, depth, ends, directed)


def _ends(k: KernelBuilder, form: str, directed: bool, side: str) -> tuple[Var, Var]:
    """Ends of edges, or counts or offsets and neighbours."""
    if form == "edges":
        words = k.draw.word.choice((("edge_src", "edge_dst"), ("tail", "head")))
        one, two = (k.array(w, INT32, "num_edges", init="index_of:verts") for w in words)
        return one, two
    pre = f"{side}_" if directed else ""
    if form == "table":
        k.size("degree", 6, 8)
        counts = k.array(f"{pre}degrees {pre}counts", INT32, "verts", init="index_of:degree+1")
        table = k.array(f"{pre}neighbors", INT32, ("verts", "degree"), init="index_of:verts")
        return counts, table
    words = k.draw.word.choice((("offsets", "neighbors"), ("row_ptr", "col_idx")))
    k.size("links", LINKS, 120, minimum=LINKS)
    offsets = k.array(pre + words[0], INT32, "verts+1", init="sorted", low=0, high=LINKS)
    return offsets, k.array(pre + words[1], INT32, "links", init="index_of:verts")


def _over_edges(s: _Search, current: Var, goal: Var, term: Callable[[Expr, Expr], Expr]) -> None:
    """A thread an edge: its far end is given its share, in both directions where it has none."""
    k = s.k
    names = k.draw.word.choice((("a", "b"), ("p", "q")))
    ends = [k.let(n, end[s.at[-1]]) for n, end in zip(names, s.ends, strict=True)]
    ends = ends if s.outward else ends[::-1]
    near, far = ends
    depths = [k.let(f"depth_{e.name}", s.depth[s.place(e)]) for e in (near, far)]
    other = current - 1 if s.outward else current + 1
    with k.if_(both(same(depths[0], other), same(depths[1], current))):
        k.atomic("add", goal, s.place(far), term(far, near))
    if not s.directed:
        with k.elif_(both(same(depths[1], other), same(depths[0], current))):
            k.atomic("add", goal, s.place(near), term(near, far))


def _over_vertices(
    s: _Search, current: Var, term: Callable[[Expr, Expr], Expr], after: Callable[[Var], None]
) -> None:
    """A thread a vertex: the sum over its neighbours."""
    k = s.k
    first, second = s.ends
    v = s.vertex
    stop = first[v] if s.form == "table" else first[v + 1]
    start = k.lift(0, INT32) if s.form == "table" else first[v]
    listed = s.form == "listed"
    with nullcontext() if listed else k.if_(same(s.depth[s.place(v)], current)):
        total = k.let("total acc", zero(s.type))
        with k.for_("e edge", stop, start=start) as e:
            u = k.let("u nb", second[(v, e) if s.form == "table" else e])
            other = current - 1 if s.outward else current + 1
            with k.if_(same(s.depth[s.place(u)], other)):
                k.augment(total, "add", term(v, u))
        after(total)


def _which(s: _Search, current: Var) -> str:
    """The vertices that are written, in words."""
    each = f" from source {s.lead[0].name}" if s.lead else ""
    if s.form == "edges":
        one, two = (end.name for end in s.ends)
        goes = (two, one) if s.outward else (one, two)
        ends = f"v = {goes[0]}[e] and u = {goes[1]}[e]"
        ends += "" if s.directed else " (or the other way round: edges have no direction)"
        return (
            f" For each edge e, with {ends}, where the {s.depth.name} of v{each} is {current.name} "
            f"and that of u {current.name} {s.step}, "
        )
    if s.form == "listed":
        array = next(p.name for p in s.k.params if p.name in ("level_verts", "frontier"))
        lead = f"{s.lead[0].name}, " if s.lead else ""
        return (
            f" The vertices of {s.depth.name}{each} {current.name} are listed: {s.v} = "
            f"{array}[{lead}{s.at[-1].name}]; "
        )
    return ""


@idiom(depth=3)
def path_counts(k: KernelBuilder, level: int) -> Title:
    """The number of shortest paths to a vertex: those of its predecessors, summed."""
    s = _search(k, level, outward=True)
    role = "inout" if s.form != "listed" else "in"
    counts = k.array("sigma num_paths path_counts", s.type, s.dims, low=1, high=9, role=role)
    current = k.scalar("current_depth cur_depth", INT32, 1, 3)
    text = f"A step of Brandes' betweenness outward.{_which(s, current)}"

    def term(v: Expr, u: Expr) -> Expr:
        return counts[s.place(u)]

    name = k.name("count_shortest_paths accumulate_sigma", "forward_paths")
    if s.form == "edges":
        _over_edges(s, current, counts, term)
        text += f"atomically add {s.name(counts, 'u')} to {s.name(counts, 'v')}."
        return Title(name, text)
    out = counts
    if s.form == "listed":
        out = k.out(f"level_{counts.name} new_{counts.name}", s.type, (*s.dims[:-1], "num_active"))
    _over_vertices(s, current, term, lambda total: k.store(out, s.at, total))
    which = f"{s.name(counts, s.v)} of each vertex {s.v} whose {s.depth.name} is {current.name} "
    if s.lead:
        which = which.replace(" is ", f" from source {s.lead[0].name} is ")
    text += f" {which}becomes " if s.form != "listed" else f"for each of them {out.name} gets "
    text += f"the sum of {s.name(counts, 'u')} over {s.said()}, whose {s.depth.name} is "
    text += f"{current.name} - 1."
    return Title(name, text + " All others stay." * (s.form != "listed"))


@idiom(depth=3)
def dependency_step(k: KernelBuilder, level: int) -> Title:
    """Dependencies of a source on a vertex, from those one level farther out."""
    shape = k.draw.shape
    s = _search(k, level, outward=False)
    sigma = k.array("sigma num_paths path_counts", s.type, s.dims, low=1.0, high=9.0)
    role = "inout" if s.form != "listed" else "in"
    delta = k.array("delta dependency", s.type, s.dims, low=0.0, high=3.0, role=role)
    current = k.scalar("current_depth cur_depth", INT32, 0, 2)
    closer = level > 1 and shape.chance(0.4)
    bc = None
    if shape.chance(0.25) and s.form != "edges":
        bc = k.accumulator("centrality betweenness bc", s.type, "verts")

    def term(v: Expr, u: Expr) -> Expr:
        one = 1.0 / cast(s.depth[s.place(u)], s.type) if closer else k.lift(1.0, s.type)
        share = (one + delta[s.place(u)]) / sigma[s.place(u)]
        return sigma[s.place(v)] * share if s.form == "edges" else share

    text = "A step of Brandes' betweenness back towards the source"
    text += ", each pair weighted by 1 / its distance" * closer + f".{_which(s, current)}"
    one = f"1 / {s.name(s.depth, 'u')}" if closer else "1"
    rule = f"{s.name(sigma, s.v)} / {s.name(sigma, 'u')} * ({one} + {s.name(delta, 'u')})"
    name = k.name("accumulate_dependency brandes_backward", "backward_step")
    if s.form == "edges":
        _over_edges(s, current, delta, term)
        return Title(name, f"{text}atomically add {rule} to {s.name(delta, 'v')}.")
    return Title(name, text + _pulled(s, (sigma, delta, current, bc), term, rule))


def _pulled(
    s: _Search,
    of: tuple[Var, Var, Var, Var | None],
    term: Callable[[Expr, Expr], Expr],
    rule: str,
) -> str:
    """The dependency of a thread's vertex, and its centrality, in words."""
    k, (sigma, delta, current, bc) = s.k, of
    listed, out = s.form == "listed", delta
    if listed:
        out = k.out(f"level_{delta.name} new_{delta.name}", s.type, (*s.dims[:-1], "num_active"))

    def kept(total: Var) -> None:
        value = k.let("dep new_delta", sigma[s.place(s.vertex)] * total)
        k.store(out, s.at, value)
        if bc is not None and (s.lead or listed):
            k.atomic("add", bc, s.vertex, value)
        elif bc is not None:
            k.store(bc, s.vertex, value, "add")

    _over_vertices(s, current, term, kept)
    each = f" from source {s.lead[0].name}" if s.lead else ""
    text = f" {s.name(delta, s.v)} of each vertex {s.v} whose {s.depth.name}{each} is "
    text += f"{current.name} becomes "
    text = f"for each of them {out.name} gets " if listed else text
    text += f"the sum of {rule} over {s.said()}, whose {s.depth.name} is {current.name} + 1"
    text += "." if listed else "; all others stay."
    if bc is not None:
        how = " atomically" * bool(s.lead or listed)
        text += f" Add it{how} to {bc.name}[{s.v}], too."
    return text
