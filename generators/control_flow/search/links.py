"""Links between places: pointers that jump over their successors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import same
from generators.kit.functions import least, most
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

_JOINED: dict[str, tuple[str, str, Callable[[Expr, Expr], Expr]]] = {
    "sum": ("rank total acc", "the sum", lambda a, b: a + b),
    "largest": ("peak highest best", "the largest", most),
    "smallest": ("lowest smallest best", "the smallest", least),
}


def _launch(k: KernelBuilder) -> tuple[tuple[str, ...], tuple[Var, ...]]:
    """One list of nodes, or one for each row; a table may lie either way."""
    k.size("nodes", 24, 36, minimum=12)
    way = k.draw.shape.choice(("one", "one", "rows", "columns"))
    if way == "one":
        return ("nodes",), k.thread("nodes", names=(k.name("v node"),))
    k.size("lists", 3, 5)
    dims = ("lists", "nodes") if way == "rows" else ("nodes", "lists")
    words = (k.name("row b" if way == "rows" else "col c"), k.name("v node i"))
    return dims, k.thread(*dims, names=words if way == "rows" else words[::-1])


@dataclass
class _Walk:
    """A node, what is joined along its list so far, and the link that comes next."""

    k: KernelBuilder
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    links: Var
    values: Var
    way: str
    type_: Scalar
    tail: Var | None
    total: Var
    u: Var

    def ended(self) -> Expr:
        return self.u < 0 if self.tail is None else same(self.u, self.tail)

    def going(self) -> Expr:
        return self.u >= 0 if self.tail is None else fn("ne", self.u, self.tail)

    def step(self, linked: bool) -> None:
        """Join the next node's value, and go on to its link if that is needed."""
        k, place = self.k, self.dims.index("nodes")
        there = (*self.at[:place], self.u, *self.at[place + 1 :])
        value: Expr = self.values[there]
        if k.draw.shape.chance(0.3):
            value = k.let("other ahead", value)
        if self.way == "sum" and k.draw.shape.chance(0.6):
            k.augment(self.total, "add", value)
        else:
            k.assign(self.total, _JOINED[self.way][2](self.total, value))
        if linked:
            k.assign(self.u, self.links[there])

    def store(self, out: Var, new_links: Var | None) -> None:
        self.k.store(out, self.at, self.total)
        if new_links is not None:
            self.k.store(new_links, self.at, self.u)


def _walk(k: KernelBuilder) -> _Walk:
    shape = k.draw.shape
    dims, at = _launch(k)
    negative = shape.chance(0.5)
    names = "next_node successor links"
    links = k.array(names, INT32, dims, low=-3 if negative else 0, high=11)
    tail = None if negative else k.scalar("tail last_node sentinel", INT32, 0, 3)
    way = shape.choice(tuple(_JOINED))
    type_ = shape.choice((FLOAT32, FLOAT32, INT32, Scalar("int64"), Scalar("uint32")))
    low, high = (0.1, 4.0) if type_ == FLOAT32 else (1, 99)
    values = k.array("ranks values weights", type_, dims, low=low, high=high)
    total = k.let(_JOINED[way][0], values[at])
    u = k.let("u target nxt", links[at])
    return _Walk(k, dims, at, links, values, way, type_, tail, total, u)


def _once(w: _Walk, out: Var, new_links: Var | None) -> None:
    """A single jump, unless the list ends here."""
    k = w.k
    if k.draw.shape.chance(0.4):
        with k.if_(w.ended()):
            w.store(out, new_links)
            k.return_()
        w.step(new_links is not None)
    else:
        with k.if_(w.going()):
            w.step(new_links is not None)


@idiom
def list_jump(k: KernelBuilder, level: int) -> Title:
    """Pointer jumping in linked lists (Wyllie, The Complexity of Parallel Computations, 1979)."""
    shape = k.draw.shape
    repeats = level > 1 and shape.chance(0.3 + 0.1 * level)
    w = _walk(k)
    new_links = k.out("next_out new_links", INT32, w.dims) if shape.chance(0.7) else None
    out = k.out("joined_out new_values", w.type_, w.dims)
    reach = "the node after it"
    if repeats:
        breaks = shape.chance(0.6)
        rounds = k.scalar("hops num_jumps max_hops", INT32, 2, 3)
        reach = f"up to {rounds.name} nodes after it"
        with k.for_("step r", rounds):
            if breaks:
                with k.if_(w.ended()):
                    k.break_()
                w.step(True)
            else:
                with k.if_(w.going()):
                    w.step(True)
    else:
        _once(w, out, new_links)
    w.store(out, new_links)
    end = "a negative link" if w.tail is None else f"a link to {w.tail.name}, which does not count,"
    each = "" if len(w.dims) == 1 else " in each " + ("row" if w.dims[1] == "nodes" else "column")
    text = (
        f"A step of list ranking by pointer jumping{each} over {w.links.name}, where {end} ends "
        f"a list: {out.name} gets "
        f"{_JOINED[w.way][1]} of the {w.values.name} of a node and {reach}"
    )
    if new_links is not None:
        text += f", and {new_links.name} gets the link that comes next"
    return Title(k.name("list_jump pointer_jump", "jump_links"), f"{text}.")
