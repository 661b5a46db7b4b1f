"""Independent sets and colours: each vertex looks at its neighbours once a round."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.graphs.pulls import Graph, graph
from generators.control_flow.kit import both, same, some
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

UINT32, UINT64 = Scalar("uint32"), Scalar("uint64")


@dataclass
class _Rank:
    """What decides between two neighbours: no two have the same, or the number breaks ties."""

    g: Graph
    own: Expr
    values: Var | None
    degrees: Var | None
    said: str
    hashed: bool = False

    def degree(self, u: Expr) -> Expr:
        """How many links a vertex has, by its offsets or as it is counted."""
        assert self.degrees is not None
        if self.g.form == "csr":
            return self.degrees[u + 1] - self.degrees[u]
        return self.degrees[u]

    def above(self, u: Expr) -> Expr:
        """Whether a neighbour goes before this vertex."""
        v = self.g.v
        if self.values is None:
            return u < v
        if self.degrees is not None:
            mine, theirs = self.degree(v), self.degree(u)
            tied = both(same(theirs, mine), self.values[u] > self.own)
            return some(theirs > mine, tied)
        if not self.hashed:
            return self.values[u] > self.own
        tied = both(same(self.values[u], self.own), u > v)
        return some(self.values[u] > self.own, tied)


def _rank(g: Graph, level: int) -> _Rank:
    """Priorities: a permutation, hashes with ties broken, the larger degree first, or numbers."""
    k, shape = g.k, g.k.draw.shape
    way = shape.weighted(
        {"order": 4, "hash": 2 * (level > 1), "degree": int(level > 1), "number": level < 3}
    )
    if way == "number":
        return _Rank(g, g.v, None, None, "the one of the smaller number")
    names = "priority order rank"
    if way == "hash":
        values = k.array("hashes random_bits", UINT32, "verts", low=0, high=15)
        said = f"the one of the larger {values.name}, of equal ones that of the larger number,"
    else:
        values = k.array(names, INT32, "verts", init="permutation")
        said = f"the one of the larger {values.name} (no two are equal)"
    degrees = None
    if way == "degree":
        # Offsets come before the neighbours, counts after.
        param = k.params[0 if g.form == "csr" else 1]
        degrees = Var(param.name, param.type)
        said = f"the one of more links, of equal ones {said.removesuffix(',')},"
    own = k.let("mine own", values[g.v])
    return _Rank(g, own, values, degrees, said, way == "hash")


def _graph(k: KernelBuilder, level: int, few: bool = True) -> Graph:
    """A graph with so few links that some vertices go before all their neighbours, or with more."""
    g = graph(k, level, padded=0)
    k.size("verts", *((56, 64) if few else (24, 32)), minimum=12)
    return g


_STATES = "state status"


@idiom(depth=3)
def independent_set_round(k: KernelBuilder, level: int) -> Title:
    """A kernel of Luby's maximal independent set: who joins, who leaves, or what is wrong.

    M. Luby, SIAM J. Comput. 15 (1986); priorities fixed: Y. Jia, V. Lu, J. Hoberock et al. (2011).
    """
    shape = k.draw.shape
    if level > 1 and shape.chance(0.45):
        g = _graph(k, level, few=False)
        return _settled(g) if shape.chance(0.6) else _checked(g)
    g = _graph(k, level)
    state = k.array(_STATES, INT32, "verts", low=0, high=2)
    rank = _rank(g, level)
    out = k.out(f"new_{state.name} {state.name}_out", INT32, "verts")
    early = shape.chance(0.5)
    inside = nullcontext()
    k.store(out, g.v, state[g.v])
    if early:
        with k.if_(fn("ne", state[g.v], 0)):
            k.return_()
    else:
        inside = k.if_(same(state[g.v], 0))  # type: ignore[assignment]
    with inside:
        flag = k.let("is_max wins", k.lift(1, INT32))
        with g.links(True) as (u, _), k.if_(both(same(state[u], 0), rank.above(u))):
            k.assign(flag, 0)
            k.break_()
        with k.if_(same(flag, 1)):
            k.store(out, g.v, 1)
    text = f"The first half of a round of Luby's maximal independent set. {state.name} is 0 for a "
    text += "vertex that is undecided, 1 in the set and 2 out of it. An undecided vertex joins the "
    text += f"set (1 in {out.name}) where it goes before all its undecided neighbours, {g.said}; "
    text += f"of two vertices {rank.said} goes first. Otherwise {out.name} is {state.name}."
    return Title(k.name("mis_select luby_select join_independent_set"), text)


def _settled(g: Graph) -> Title:
    """The second half of a round: neighbours of the set are out; what is left is counted."""
    k, shape = g.k, g.k.draw.shape
    state = k.array(_STATES, INT32, "verts", low=0, high=2)
    out = k.out(f"new_{state.name} {state.name}_out", INT32, "verts")
    left = k.accumulator("num_left remaining", INT32, "1") if shape.chance(0.5) else None
    new = k.let("now mark", state[g.v])
    with k.if_(same(new, 0)):
        with g.links() as (u, _), k.if_(same(state[u], 1)):
            k.assign(new, 2)
            k.break_()
        if left is not None:
            with k.if_(same(new, 0)):
                k.atomic("add", left, 0, 1)
    k.store(out, g.v, new)
    text = f"The second half of a round of Luby's maximal independent set. {state.name} is 0 for a "
    text += f"vertex that is undecided, 1 in the set and 2 out of it. {out.name} gets 2 for an "
    text += f"undecided vertex that has a neighbour in the set, else {state.name}; the neighbours "
    text += f"are {g.said}."
    if left is not None:
        text += f" {left.name}[0] counts the vertices that stay undecided."
    return Title(k.name("mis_exclude luby_exclude drop_neighbors"), text)


def _checked(g: Graph) -> Title:
    """Whether a set is independent and maximal, counted."""
    k, shape = g.k, g.k.draw.shape
    member = k.array("in_set member", INT32, "verts", low=0, high=1)
    seen = k.let("covered found", k.lift(0, INT32))
    with g.links() as (u, _), k.if_(same(member[u], 1)):
        k.assign(seen, 1)
        k.break_()
    text = f"Check an independent set: {member.name} is 1 for its vertices and 0 for the others; "
    text += f"neighbours of a vertex are {g.said}. "
    if shape.chance(0.5):
        bad = k.accumulator("num_bad violations", INT32, "2")
        with k.if_(same(seen, member[g.v])):
            k.atomic("add", bad, member[g.v], 1)
        text += f"{bad.name}[1] counts the vertices of the set with a neighbour in it, "
        text += f"{bad.name}[0] the others without one (the set is not maximal)."
    else:
        out = k.out("ok valid", INT32, "verts")
        wrong = same(seen, member[g.v])
        k.store(out, g.v, fn("where", wrong, k.lift(0, INT32), k.lift(1, INT32)))
        text += f"{out.name} gets 1 for a vertex of the set without a neighbour in it and for one "
        text += "of the others with one, else 0."
    return Title(k.name("check_independent_set verify_mis"), text)


@idiom(depth=3)
def greedy_colouring(k: KernelBuilder, level: int) -> Title:
    """The smallest colour that no neighbour has, in rounds of Jones and Plassmann or by guesses.

    M. Jones, P. Plassmann, SIAM J. Sci. Comput. 14 (1993); A. Gebremedhin, F. Manne (2000).
    """
    shape = k.draw.shape
    way = shape.weighted({"first": 1 + (level < 3), "jones": 3, "clash": 2})
    g = _graph(k, level, few=way == "jones")
    least = -1 if way == "clash" else -2
    most = 2 if way == "clash" else 3
    color = k.array("colors color", INT32, "verts", low=least, high=most)
    if way == "clash":
        return _clashes(g, color, level)
    out = k.out(f"new_{color.name} {color.name}_out", INT32, "verts")
    rank = _rank(g, level) if way == "jones" else None
    text = "A round of Jones and Plassmann's colouring: a" if rank else "First-fit colouring: a"
    k.store(out, g.v, color[g.v])
    with k.if_(color[g.v] >= 0):
        k.return_()
    used = _used(g, color, rank)
    free = _lowest(k, used)
    k.store(out, g.v, free)
    text += f" vertex without a colour (negative {color.name})"
    if rank is not None:
        text += " that goes before all its neighbours without one"
    text += f" gets the smallest colour from 0 on that none of its neighbours has, {g.said}. "
    if rank is not None:
        text += f"Of two vertices {rank.said} goes first. "
    text += f"Otherwise {out.name} is {color.name}."
    text += " Colours are below 64."
    return Title(k.name("color_vertices jones_plassmann" if rank else "color_first_fit"), text)


def _used(g: Graph, color: Var, rank: _Rank | None) -> Var:
    """The colours of the neighbours as bits; the thread ends where another vertex goes first."""
    k = g.k
    used = k.let("used taken forbidden", k.lift(0, UINT64))
    with g.links(True) as (u, _):
        c = k.let("c color_u", color[u])
        with k.if_(c >= 0):
            k.assign(used, used | (k.lift(1, UINT64) << cast(c, UINT64)))
        if rank is not None:
            with k.elif_(rank.above(u)):
                k.return_()
    return used


def _lowest(k: KernelBuilder, used: Var) -> Expr:
    """The lowest bit that is not set: by a loop, or how many ones are below it."""
    if k.draw.shape.chance(0.5):
        free = k.let("free first_free", k.lift(0, INT32))
        with k.while_(fn("ne", used & 1, 0)):
            k.assign(used, used >> 1)
            k.augment(free, "add", 1)
        return free
    # The trailing ones of a number are what adding 1 to it clears.
    return k.let("free first_free", fn("bit_count", used & ~(used + 1)))


def _clashes(g: Graph, color: Var, level: int) -> Title:
    """Neighbours that have guessed the same colour: the one that goes first keeps it."""
    k, shape = g.k, g.k.draw.shape
    rank = _rank(g, level)
    kept = shape.chance(0.6)
    out = k.out("new_colors colors_out" if kept else "conflict recolor", INT32, "verts")
    total = k.accumulator("num_conflicts num_left", INT32, "1") if shape.chance(0.4) else None
    own = k.let("own_color c", color[g.v])
    k.store(out, g.v, own if kept else 0)
    with g.links(True) as (u, _):
        test = both(same(color[u], own), rank.above(u))
        if shape.chance(0.5):
            test = both(own >= 0, test)
            needs = True
        else:
            needs = False
        with k.if_(test):
            k.store(out, g.v, -1 if kept else 1)
            if total is not None:
                k.atomic("add", total, 0, 1)
            k.break_()
    text = f"Find conflicts of a speculative colouring: a vertex {'with a colour ' * needs}loses "
    text += f"where a neighbour, one of {g.said}, has the same entry in {color.name} and goes "
    text += f"first; of two vertices {rank.said} goes first. "
    if kept:
        text += f"{out.name} gets -1 for it, and {color.name} otherwise."
    else:
        text += f"{out.name} gets 1 for it, else 0."
    text += f" {total.name}[0] counts them." if total is not None else ""
    if needs:
        text += f" A vertex without a colour has a negative {color.name}."
    return Title(k.name("color_conflicts find_conflicts", "detect_conflicts"), text)
