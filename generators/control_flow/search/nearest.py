"""The k nearest of a set, kept in registers: their ids and distances, votes, regression, lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, index, same, some
from generators.kit.functions import dot, most, sqrt
from generators.kit.sources import filled, zero
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var

FAR = 1.0e30
UINT64 = Scalar("uint64")


@dataclass
class _Sets:
    """Queries and the points that are searched; a thread for each query."""

    k: KernelBuilder
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    kind: str
    queries: Var
    refs: Var
    own: bool
    """Whether the queries are the points themselves, so that each leaves itself out."""

    @property
    def lead(self) -> tuple[Var, ...]:
        return self.at[:-1]

    @property
    def count(self) -> Expr:
        return extent(self.refs, len(self.lead))


def _sets(k: KernelBuilder, level: int, few: int) -> _Sets:
    """Points in the plane or in space, rows of features, or codes of bits."""
    shape = k.draw.shape
    kind = shape.weighted({"vec": 5, "row": 3 if level > 1 else 0, "bits": 1 if level > 1 else 0})
    own = shape.chance(0.35)
    lead: tuple[str, ...] = ()
    if level > 1 and shape.chance(0.3):
        lead = ("clouds",) if kind == "vec" else ("batch",)
        k.size(lead[0], 3, 4)
    count = "points" if own and kind == "vec" else "items" if own else "queries"
    span = (16, 20) if not lead else (8, 9) if few < 8 else (18, 19)
    k.size(count, *span, minimum=few + 1 if own else 1)
    refs = count
    if not own:
        refs = "refs"
        k.size(refs, *((12, 15) if few < 12 else (18, 20)), minimum=few)
    dims = (*lead, count)
    at = k.thread(*dims, names=[k.name("b"), k.name("i q")][-len(dims) :])
    if kind == "vec":
        vec = Vec(shape.choice((2, 3, 3)), FLOAT32)
        names = "points positions" if own else "queries query_pts"
        q = k.array(names, vec, dims, low=-2.0, high=2.0)
        r = q if own else k.array("ref_pts data_pts", vec, (*lead, refs), low=-2.0, high=2.0)
    elif kind == "row":
        k.size("dim", 4, 6)
        names = "features embeddings" if own else "query_feats queries"
        q = k.array(names, FLOAT32, (*dims, "dim"), low=-1.0, high=1.0)
        other = (*lead, refs, "dim")
        r = q if own else k.array("database ref_feats", FLOAT32, other, low=-1.0, high=1.0)
    else:
        words = shape.choice((1, 4))
        kind = "bits" if words == 1 else "words"
        type_ = UINT64 if words == 1 else Vec(4, Scalar("uint32"))
        top = 2**63 - 1 if words == 1 else 2**32 - 1
        q = k.array("codes binary_codes" if own else "query_codes", type_, dims, low=0, high=top)
        r = q if own else k.array("ref_codes db_codes", type_, (*lead, refs), low=0, high=top)
    return _Sets(k, dims, at, kind, q, r, own)


def _distance(s: _Sets, mine: Var | None, j: Expr, metric: str) -> Var:
    """How far a point is from the query."""
    k = s.k
    if s.kind == "vec":
        d = k.let(
            "d delta", s.refs[index(*s.lead, j)] - (mine if mine is not None else s.queries[s.at])
        )
        if metric == "squared":
            return k.let("d2 dist_sq", dot(d, d))
        size = d.type.size if isinstance(d.type, Vec) else 1
        parts: list[Expr] = [abs(d[a]) for a in range(size)]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole + part if metric == "manhattan" else most(whole, part)
        return k.let("dist", whole)
    if s.kind == "row":
        total = k.let("d2 dist_sq" if metric == "squared" else "dist", zero(FLOAT32))
        with k.for_("c f", extent(s.refs, len(s.lead) + 1)) as c:
            gap: Expr = s.refs[index(*s.lead, j, c)] - s.queries[index(*s.at, c)]
            if metric == "squared":
                gap = k.let("diff gap", gap)
                k.augment(total, "add", gap * gap)
            else:
                k.augment(total, "add", abs(gap))
        return total
    assert mine is not None
    other = s.refs[index(*s.lead, j)]
    if s.kind == "bits":
        return k.let("dist hamming", fn("bit_count", mine ^ other))
    code = k.let("code other_code", other)
    total = k.let("dist hamming", fn("bit_count", mine[0] ^ code[0]))
    for w in range(1, 4):
        k.augment(total, "add", fn("bit_count", mine[w] ^ code[w]))
    return total


_METRICS = {
    "squared": "squared Euclidean distance",
    "manhattan": "Manhattan distance",
    "chebyshev": "Chebyshev distance",
    "hamming": "Hamming distance",
}


@dataclass
class _Best:
    """The nearest so far, in ascending order (or in none), and their indices."""

    dist: Var
    ids: Var
    few: int
    type: Scalar


def _keep(k: KernelBuilder, b: _Best, d: Var, j: Expr, way: str) -> None:
    """Take a point in if it is nearer than the farthest that is kept."""
    few = b.few
    if way == "replace":
        worst = k.let("worst far_slot", cast(fn("argmax", b.dist), INT32))
        with k.if_(d < b.dist[worst]):
            k.set(b.dist, worst, d)
            k.set(b.ids, worst, j)
        return
    with k.if_(d < b.dist[few - 1]):
        if way == "while":
            m = k.let("slot m", k.lift(few - 1, INT32))
            with k.while_(m > 0):
                with k.if_(b.dist[m - 1] <= d):
                    k.break_()
                k.set(b.dist, m, b.dist[m - 1])
                k.set(b.ids, m, b.ids[m - 1])
                k.augment(m, "sub", 1)
            k.set(b.dist, m, d)
            k.set(b.ids, m, j)
        elif way == "rank":
            place = k.let("place rank", k.lift(0, INT32))
            with k.for_("t", few - 1) as t, k.if_(b.dist[t] <= d):
                k.augment(place, "add", 1)
            with k.for_("m", 0, start=few - 1, step=-1) as m, k.if_(m > place):
                k.set(b.dist, m, b.dist[m - 1])
                k.set(b.ids, m, b.ids[m - 1])
            k.set(b.dist, place, d)
            k.set(b.ids, place, j)
        else:
            k.set(b.dist, few - 1, d)
            k.set(b.ids, few - 1, j)
            for n in range(few - 1, 0, -1):
                with k.if_(b.dist[n] < b.dist[n - 1]):
                    _swap(k, b, n)


def _swap(k: KernelBuilder, b: _Best, m: int) -> None:
    held, own = k.let(f"tmp_d{m}", b.dist[m]), k.let(f"tmp_i{m}", b.ids[m])
    k.set(b.dist, m, b.dist[m - 1])
    k.set(b.ids, m, b.ids[m - 1])
    k.set(b.dist, m - 1, held)
    k.set(b.ids, m - 1, own)


@contextmanager
def _candidates(s: _Sets, listed: bool, told: list[str]) -> Iterator[Expr]:
    """A loop over the points that a query looks at: all, or those of the lists that it probes."""
    k = s.k
    if not listed:
        with k.for_("j", s.count) as j:
            yield j
        return
    k.size("cells", 3, 4)
    top = 44
    k.size("refs", top, top, minimum=top)
    starts = k.array("cell_starts list_starts", INT32, "cells+1", init="sorted", low=0, high=top)
    members = k.array("cell_members list_ids", INT32, "refs", init="permutation")
    own = k.array("query_cells nearest_list", INT32, s.dims, init="index_of:cells")
    told.append(
        f" among the members of its cell c = {own.name}: those in {members.name} from "
        f"{starts.name}[c] up to {starts.name}[c + 1]"
    )
    cell = k.let("c cell", own[s.at])
    with k.for_("e m", starts[cell + 1], start=starts[cell]) as e:
        yield k.let("j cand", members[e])


@idiom
def nearest_k(k: KernelBuilder, level: int) -> Title:
    """The k nearest points of each query, by insertion into a short sorted list in registers."""
    shape = k.draw.shape
    few = shape.choice((3, 4, 5, 8) if level < 3 else (4, 5, 5, 8, 16))
    s = _sets(k, level, few)
    metric = "hamming" if s.kind in ("bits", "words") else "squared"
    if metric == "squared" and shape.chance(0.2):
        metric = shape.choice(("manhattan", "chebyshev" if s.kind == "vec" else "manhattan"))
    whole = metric == "hamming"
    type_ = INT32 if whole else FLOAT32
    goal = "ids" if level < 3 or whole or s.lead else shape.choice(("ids", "class", "mean", "mean"))
    way = shape.choice(("while", "while", "rank", "swap") if few < 8 else ("while", "rank"))
    if goal != "ids" and not whole and shape.chance(0.5):
        way = "replace"
    reach = None
    listed = level >= 4 and few < 8 and not s.own and not s.lead and shape.chance(0.6)
    if not whole and few < 8 and shape.chance(0.3) and goal == "ids":
        reach = k.scalar("max_dist radius", FLOAT32, 1.0, 1.6)
    mine = k.let("x query", s.queries[s.at]) if s.kind != "row" else None
    start = FAR if not whole else 257
    if reach is not None:
        first: Expr = reach * reach if metric == "squared" else reach
        dist = k.let("best_d knn_dist", filled(Vec(few, type_), first))
    else:
        dist = k.let("best_d knn_dist", filled(Vec(few, type_), k.lift(start, type_)))
    ids = k.let("best_i knn_ids", filled(Vec(few, INT32), k.lift(-1, INT32)))
    best = _Best(dist, ids, few, type_)
    told: list[str] = [""]
    with _candidates(s, listed, told) as j:
        if s.own:
            with k.if_(same(j, s.at[-1])):
                k.continue_()
        d = _distance(s, mine, j, metric)
        _keep(k, best, d, j, way)
    among = "".join(told[::-1]) if len(told) > 1 else ""
    return _found(s, best, (metric, goal, among), reach)


def _found(s: _Sets, b: _Best, of: tuple[str, str, str], reach: Var | None) -> Title:
    """What :func:`nearest_k` stores, and its text."""
    k, (metric, goal, among) = s.k, of
    where = f"other ones of {s.refs.name}" if s.own else f"of {s.refs.name}"
    same_set = " (of the same batch entry)" * bool(s.lead)
    text = f"For each of {s.queries.name}, find the {b.few} nearest {where}{same_set} by "
    text += f"{_METRICS[metric]}{among}"
    if reach is not None:
        text += f", of those nearer than {reach.name}"
    if goal != "ids":
        return _predicted(s, b, metric, goal, text, bool(among))
    short = reach is not None or bool(among)
    text += f"; of equally near ones the {'first listed' if among else 'lower index'} comes first. "
    across = k.draw.shape.chance(0.25)
    dims = (str(b.few), *s.dims) if across else (*s.dims, str(b.few))
    out = k.out("knn_indices neighbor_ids knn", INT32, dims)
    both_outs = k.draw.shape.chance(0.6)
    root = metric == "squared" and k.draw.shape.chance(0.4)
    far = k.out("knn_distances neighbor_dists", b.type, dims) if both_outs else None
    with k.for_("m t", b.few) as m:
        place = index(m, *s.at) if across else index(*s.at, m)
        k.store(out, place, b.ids[m])
        if far is not None:
            k.store(far, place, sqrt(b.dist[m]) if root else b.dist[m])
    text += f"Store their indices in {out.name}, nearest first"
    if far is not None:
        text += f", and the {'distances' if root else _METRICS[metric] + 's'} in {far.name}"
    if short:
        filler = "257" if metric == "hamming" else "1e15" if root else "1e30"
        if reach is not None:
            filler = reach.name if root or metric != "squared" else f"{reach.name}^2"
        text += ". Places without a point get -1" + f" and {filler}" * (far is not None)
    return Title(k.name("k_nearest knn_search brute_force_knn"), f"{text}.")


def _predicted(s: _Sets, b: _Best, metric: str, goal: str, text: str, short: bool) -> Title:
    """A label by vote, or the mean of what the nearest have."""
    k = s.k
    refs = s.dims[-1] if s.own else "refs"
    text += f"{' (or fewer)' * short}. "
    if goal == "class":
        return _voted(s, b, refs, text, short)
    values = k.array("targets ref_values", FLOAT32, refs, low=-1.0, high=1.0)
    weighted = k.draw.shape.chance(0.6)
    total = k.let("total weighted_sum" if weighted else "total", zero(FLOAT32))
    norm: Expr = k.lift(float(b.few), FLOAT32)
    if weighted or short:
        norm = k.let("weight_sum norm" if weighted else "num_found", zero(FLOAT32))
    eps = k.scalar("eps softening", FLOAT32, 0.01, 0.05) if weighted else None
    said = ""
    with k.for_("m t", b.few) as m, _taken(k, b, m, short):
        w: Expr = k.lift(1.0, FLOAT32)
        if eps is not None:
            root = metric == "squared" and k.draw.shape.chance(0.5)
            far = sqrt(b.dist[m]) if root else b.dist[m]
            w = k.let("w", 1.0 / (far + eps))
            said = "the distance" if root or metric != "squared" else "the squared distance"
        value = values[b.ids[m]]
        k.augment(total, "add", value if eps is None else w * value)
        if isinstance(norm, Var):
            k.augment(norm, "add", w)
    out = k.out("predicted estimates", FLOAT32, s.dims)
    k.store(out, s.at, total / most(norm, 1.0e-12) if short else total / norm)
    text += f"{out.name} gets the mean of their {values.name}"
    if eps is not None:
        text += f", each weighted by 1 / ({said} + {eps.name})"
    return Title(k.name("knn_regression knn_mean"), f"{text}{', 0 if there is none' * short}.")


def _voted(s: _Sets, b: _Best, refs: str, text: str, short: bool) -> Title:
    """The label that most of the nearest have; the lowest of equally frequent ones."""
    k = s.k
    labels = k.array("labels ref_labels", INT32, refs, low=0, high=3)
    found = k.let("label voted", k.lift(-1, INT32))
    top = k.let("top_votes most_votes", k.lift(0, INT32))
    with k.for_("m", b.few) as m, _taken(k, b, m, short):
        own = k.let("own candidate", labels[b.ids[m]])
        votes = k.let("votes", k.lift(0, INT32))
        with (
            k.for_("t other", b.few) as t,
            _taken(k, b, t, short),
            k.if_(same(labels[b.ids[t]], own)),
        ):
            k.augment(votes, "add", 1)
        with k.if_(some(votes > top, both(same(votes, top), own < found))):
            k.assign(top, votes)
            k.assign(found, own)
    out = k.out("predicted classes_out", INT32, s.dims)
    k.store(out, s.at, found)
    text += f"{out.name} gets the class that most of them have in {labels.name}, the lowest of "
    text += f"equally frequent ones{', -1 if there is none' * short}."
    return Title(k.name("knn_classify knn_vote"), text)


@contextmanager
def _taken(k: KernelBuilder, b: _Best, m: Expr, short: bool) -> Iterator[None]:
    """Places that hold a point, where some may not."""
    if not short:
        yield
        return
    with k.if_(b.ids[m] >= 0):
        yield
