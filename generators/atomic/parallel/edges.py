"""Edges of graphs as kernels find them: lists of pairs, rows of neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from generators.atomic.parallel.parts import guarded, named
from generators.build import KernelBuilder
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Load, Var

MOST = 48
"""Rows of neighbours end before this edge, and there are no fewer edges."""


@dataclass
class Edges:
    """A thread's edge, or its node with the edges that leave it.

    ``source`` is known at once, ``target`` within :meth:`targets`.
    """

    k: KernelBuilder
    form: str
    source: Expr
    said: str
    nodes: str = "num_nodes"
    queued: bool = False
    inner: bool = False
    at: tuple[Expr, ...] = ()
    dims: tuple[str, ...] = ()
    degree: Expr | None = None
    """How many neighbours the node has, where that has a local."""
    ends: list[Expr] = field(default_factory=list)
    arrays: list[Var] = field(default_factory=list)

    @property
    def is_list(self) -> bool:
        """Whether each edge has a thread of its own."""
        return not self.form.startswith("row")

    def state(self, names: str, type_: Scalar, low: object, high: object) -> Var:
        """An array with an element for each node."""
        return self.k.array(names, type_, self.nodes, low=low, high=high)

    def weight(self, names: str, type_: Scalar, low: object, high: object) -> Load:
        """The edge's element of an array with an element for each edge."""
        found = self.k.array(names, type_, self.dims, low=low, high=high)[self.at]
        assert isinstance(found, Load)
        return found

    @contextmanager
    def targets(self) -> Iterator[Expr]:
        """The far ends of the node's edges, one after the other; of a pair the one far end."""
        k = self.k
        if self.is_list:
            yield self.ends[1]
            return
        offsets, targets = self.arrays
        stop: Expr = offsets[self.source + 1] if self.form == "rows" else offsets[self.source]
        start: Expr = offsets[self.source] if self.form == "rows" else k.lift(0, INT32)
        if self.form != "rows" and self.degree is not None:
            stop = self.degree
        if self.form == "rows" and k.draw.shape.chance(0.5):
            start, stop = k.let("begin row_start", start), k.let("end row_end", stop)
        elif not isinstance(stop, Var) and self.form != "rows" and k.draw.shape.chance(0.5):
            stop = k.let("count num_here", stop)
        self.inner = True
        with k.for_("e slot n", stop, start=start) as e:
            self.at = (e,) if self.form == "rows" else (self.source, e)
            target = targets[self.at]
            far = "v" if isinstance(self.source, Var) and self.source.name == "u" else "nbr"
            yield named(k, far, target, 1.0)
        self.inner = False

    @contextmanager
    def guard(self, test: Expr) -> Iterator[None]:
        with guarded(self.k, test, self.inner):
            yield


def edges(
    k: KernelBuilder, level: int, nodes: tuple[int, int] = (14, 20), queued: float = 0.0
) -> Edges:
    """Edges as two lists of ends, as one list of pairs, or as rows of neighbours of each node.

    With the chance ``queued`` the nodes of rows are those of a work list.
    """
    shape = k.draw.shape
    k.size("num_nodes", *nodes)
    forms = {"lists": 4, "pairs": 2, "vectors": 2, "flat": 1}
    forms |= {"rows": 4 + level, "rows_padded": 3}
    form = shape.weighted(forms)
    if form.startswith("rows"):
        return _of_node(k, form, shape.chance(queued))
    k.size("num_edges", 64, 90)
    (e,) = k.thread("num_edges", names=(k.name("e edge"),))
    init = "index_of:num_nodes"
    if form == "lists":
        names = k.draw.word.choice(("src dst", "tails heads", "edge_u edge_v", "from_node to_node"))
        arrays = [k.array(name, INT32, "num_edges", init=init) for name in names.split()]
        ends: list[Expr] = [a[e] for a in arrays]
        said = f"{arrays[0].name}[{e.name}] and {arrays[1].name}[{e.name}]"
    else:
        type_, dims = (Vec(2, INT32), "num_edges") if form == "vectors" else (INT32, "2*num_edges")
        shape_: str | tuple[str, ...] = ("num_edges", "2") if form == "pairs" else dims
        type_ = INT32 if form == "pairs" else type_
        listed = k.array("edges edge_index links", type_, shape_, init=init)
        if form == "vectors":
            pair = k.let("edge pair uv", listed[e]) if shape.chance(0.5) else listed[e]
            ends = [pair[0], pair[1]]
        else:
            places = [(e, c) if form == "pairs" else 2 * e + c if c else 2 * e for c in (0, 1)]
            ends = [listed[place] for place in places]
        said = f"{listed.name}[{e.name}]"
        if form == "flat":
            said = f"{listed.name}[2 * {e.name}] and {listed.name}[2 * {e.name} + 1]"
    u, v = (named(k, name, end, 1.0) for name, end in zip(("u", "v"), ends, strict=True))
    text = f"for each edge {e.name} from u to v ({said})"
    return Edges(k, form, u, text, at=(e,), dims=("num_edges",), ends=[u, v])


def _of_node(k: KernelBuilder, form: str, queued: bool) -> Edges:
    init = "index_of:num_nodes"
    if queued:
        k.size("num_active", 10, 14)
        (i,) = k.thread("num_active", names=(k.name("i idx"),))
        queue = k.array("frontier queue active_nodes worklist", INT32, "num_active", init=init)
        u: Expr = k.let("u node", queue[i])
        who = f"for each node u of {queue.name} and each neighbour v"
    else:
        (u,) = k.thread("num_nodes", names=(k.name("u node"),))
        who = "for each node u and each neighbour v"
    if form == "rows":
        k.size("num_edges", MOST + 8, MOST + 24, minimum=MOST)
        offsets = k.array(
            "offsets row_ptr row_start indptr",
            INT32,
            "num_nodes+1",
            init="sorted",
            low=0,
            high=MOST,
        )
        dims: tuple[str, ...] = ("num_edges",)
        text = "entries {0}[u] to {0}[u + 1] - 1 of {1}"
    else:
        k.size("max_degree", 4, 6, minimum=4)
        offsets = k.array("degrees num_neighbors counts_out", INT32, "num_nodes", low=0, high=4)
        dims = ("num_nodes", "max_degree")
        text = "the first {0}[u] entries of row u of {1}"
    targets = k.array("neighbors targets col_idx indices", INT32, dims, init=init)
    text = f"{who} ({text.format(offsets.name, targets.name)})"
    return Edges(k, form, u, text, queued=queued, dims=dims, arrays=[offsets, targets])
