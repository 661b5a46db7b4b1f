"""Boruvka's minimum spanning forest: the lightest edge that leaves each component.

V. Vineet, P. Harish, S. Patidar, P. Narayanan, HPG 2009; keys of weight and number as in
A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, SC 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

from generators.atomic.parallel.edges import Edges, edges
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT64 = Scalar("uint64")
_FAR = {FLOAT32: 1.0e6, INT32: 2**31 - 1, UINT64: 2**64 - 1}


@dataclass
class _Lightest:
    """What is lowered for each component, and by which edges."""

    k: KernelBuilder
    g: Edges
    form: str
    comp: Var
    best: Var
    kind: Scalar
    lightest: Var | None = None

    def offered(self, weight: Expr, own: Expr) -> tuple[Expr, Expr | None]:
        """What an edge offers to a component, and a test whether it does."""
        if self.form == "weight":
            return weight, None
        number = self.g.at[0]
        if self.form == "number":
            assert self.lightest is not None
            return number, fn("eq", weight, self.lightest[own])
        key = (cast(weight, self.kind) << self.k.lift(32, self.kind)) | cast(number, self.kind)
        return key, None

    def give(self, weight: Expr, own: Expr) -> None:
        value, test = self.offered(weight, own)
        if test is None:
            self.k.atomic("min", self.best, own, value)
            return
        with self.k.if_(test):
            self.k.atomic("min", self.best, own, value)


def _lightest(k: KernelBuilder, level: int) -> _Lightest:
    shape = k.draw.shape
    g = edges(k, level, nodes=(14, 18), queued=0.2)
    numbered = g.form in ("rows", "lists", "pairs", "vectors", "flat")
    form = shape.weighted(
        {"weight": max(1, 4 - level), "packed": 3 * numbered * level, "number": 2 * numbered}
    )
    kind = INT32 if form == "number" else shape.choice((INT32, FLOAT32))
    if form == "packed":
        kind = UINT64
    word = k.draw.word.choice(("component", "comp", "labels"))
    comp = k.array(word, INT32, g.nodes, init=f"index_of:{g.nodes}")
    lightest = None
    if form == "number":
        lightest = k.array("min_weight lightest", INT32, g.nodes, low=1, high=4)
    names = {
        "weight": "min_weight lightest best_weight",
        "packed": "best_key min_key cheapest",
        "number": "best_edge min_edge",
    }
    best = k.accumulator(names[form], kind, g.nodes, _FAR[kind])
    return _Lightest(k, g, form, comp, best, kind, lightest)


def _weight(b: _Lightest) -> Expr:
    """The weight of an edge, in whole numbers that a key has room for."""
    if b.form == "weight" and b.kind == FLOAT32:
        return b.g.weight("weights edge_weights lengths", FLOAT32, 0.5, 9.5)
    high = 4 if b.form == "number" else 1000
    return b.g.weight("weights edge_weights lengths", INT32, 1, high)


@idiom(depth=4)
def cheapest_edges(k: KernelBuilder, level: int) -> Title:
    """A round of Boruvka's spanning forest: each component finds the lightest edge to another."""
    shape = k.draw.shape
    b = _lightest(k, level)
    g = b.g
    words = k.draw.word.choice((("cu", "cv"), ("comp_u", "comp_v"), ("mine", "theirs")))
    own = k.let(words[0], b.comp[g.source])
    gathered = not g.is_list and b.form != "number" and shape.chance(0.3 + 0.12 * level)
    low = k.let("low best_here", k.lift(_FAR[b.kind], b.kind)) if gathered else None
    with g.targets() as v:
        other = k.let(words[1], b.comp[v])
        with k.if_(fn("ne", own, other)):
            weight = _weight(b)
            if low is not None:
                k.assign(low, least(low, b.offered(weight, own)[0]))
            else:
                value = k.let("w weight", weight)
                shared = b.form == "packed" and g.is_list
                if shared:
                    key = k.let("key packed", b.offered(value, own)[0])
                    k.atomic("min", b.best, own, key)
                    k.atomic("min", b.best, other, key)
                else:
                    b.give(value, own)
                    if g.is_list:
                        b.give(value, other)
    if low is not None:
        with k.if_(low < _FAR[b.kind]):
            k.atomic("min", b.best, own, low)
    text = _said(b)
    if low is not None:
        text += " The smallest of a node's edges is found first and given once, if there is one."
    return Title(k.name("find_cheapest_edges boruvka_min_edge", "lightest_outgoing"), text)


def _said(b: _Lightest) -> str:
    g = b.g
    array = next(p.name for p in b.k.params if p.name in ("weights", "edge_weights", "lengths"))
    both = g.is_list
    text = f"A step of Boruvka's minimum spanning forest: {g.said}, where their entries of "
    text += f"{b.comp.name} differ (an edge between two components), "
    whose = "both components" if both else "the component of u"
    text += f"atomically lower {b.best.name} of {whose} to "
    if b.form == "weight":
        return f"{text}the edge's entry of {array}."
    if b.form == "number":
        assert b.lightest is not None
        each = "those components whose" if both else "the component of u where its"
        text = text.replace(whose, f"{each} entry of {b.lightest.name} is the edge's weight")
        return f"{text}the edge's index in {array}, which holds the weights."
    return (
        f"{text}a key with the edge's weight of {array} (not negative) in the upper 32 bits and "
        "its index there in the lower 32, so that of equal weights the smaller index wins."
    )
