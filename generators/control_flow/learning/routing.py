"""Choices among scores: experts of a token, cuts by mass, the k best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var, literal

LOW = -1.0e30
_PLACES = (
    ("best", "best_expert", "second", "second_expert"),
    ("top1", "expert1", "top2", "expert2"),
)
"""Names of the largest score, its expert, the second largest and its expert."""


@dataclass
class _Scores:
    """A thread's row of scores, how long it is and how it lies."""

    k: KernelBuilder
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    size: str
    x: Var
    across: bool
    stop: Expr

    @property
    def said(self) -> str:
        return f"column of {self.x.name}" if self.across else f"row of {self.x.name}"

    def place(self, c: Expr | int) -> tuple[Expr, ...]:
        index = c if isinstance(c, Expr) else literal(c, INT32)
        return (index, *self.at) if self.across else (*self.at, index)

    def of(self, c: Expr | int) -> Expr:
        return self.x[self.place(c)]

    def whole(self, size: str) -> tuple[str, ...]:
        return (size, *self.dims) if self.across else (*self.dims, size)

    @contextmanager
    def each(self, name: str, stop: Expr | None = None) -> Iterator[Var]:
        """A loop whose locals may be named so again after it."""
        before = set(self.k.used)
        with self.k.for_(name, self.stop if stop is None else stop) as c:
            yield c
        self.k.used &= before | {p.name for p in self.k.params}


def _scores(
    k: KernelBuilder,
    level: int,
    size: str,
    names: str,
    span: tuple[int, int],
    values: tuple[float, float] = (-3.0, 3.0),
    minimum: int = 1,
) -> _Scores:
    """Rows of scores, of tokens or of batches of tokens; or a score matrix that lies across."""
    shape = k.draw.shape
    way = shape.weighted({"rows": 5, "batch": 4, "across": 2})
    dims = ("batch", "tokens") if way == "batch" else ("tokens",)
    for symbol in dims:
        k.size(symbol, *((3, 4) if symbol == "batch" else (14, 20) if way != "batch" else (6, 8)))
    k.size(size, *span, minimum=minimum)
    words = {"batch": "b batch_id", "tokens": "t token row i"}
    at = k.thread(*dims, names=[k.name(words[d]) for d in dims])
    across = way == "across"
    whole = (size, *dims) if across else (*dims, size)
    x = k.array(names, FLOAT32, whole, low=values[0], high=values[1])
    stop: Expr = extent(x, 0 if across else len(dims))
    if shape.chance(0.35):
        stop = k.size_param(f"num_{size} n_{size}", size)
    return _Scores(k, dims, at, size, x, across, stop)


def _best(
    s: _Scores, score: Expr, c: Var, best: Var, chosen: Var, test: Expr | None = None
) -> None:
    """Keep a score that is larger than the best, and where it is."""
    k = s.k
    better = score > best if test is None else fn("and", test, score > best)
    with k.if_(better):
        k.assign(best, score)
        k.assign(chosen, c)


def _added(s: _Scores, level: int) -> tuple[Var | None, Callable[[Var], Expr] | None]:
    """What is often added to scores before they are compared: a bias of experts, or noise."""
    k, shape = s.k, s.k.draw.shape
    if shape.chance(0.2 + 0.06 * level):
        bias = k.array("expert_bias route_bias", FLOAT32, "experts", low=-0.5, high=0.5)
        return bias, lambda e: bias[e]
    if shape.chance(0.25):
        noise = k.array("jitter gate_noise", FLOAT32, s.whole("experts"), low=-0.5, high=0.5)
        return noise, lambda e: noise[s.place(e)]
    return None, None


@idiom
def route_top_two(k: KernelBuilder, level: int) -> Title:
    """The best one or two experts of each token and their weights, as a router writes them."""
    shape = k.draw.shape
    s = _scores(k, level, "experts", "router_logits gate_logits logits", (6, 9), minimum=2)
    two = shape.chance(0.6)
    added, term = _added(s, level)
    called = _PLACES[0] if not two else k.draw.word.choice(_PLACES)
    first, at_first = k.let(called[0], k.lift(LOW, FLOAT32)), k.let(called[1], k.lift(0, INT32))
    one_pass = two and shape.chance(0.5)
    second = at_second = None
    if two:
        second = k.let(called[2], k.lift(LOW, FLOAT32))
        at_second = k.let(called[3], k.lift(0, INT32))

    def score(e: Var) -> Var:
        return k.let("score s_e", s.of(e) if term is None else s.of(e) + term(e))

    with s.each("e expert_id j") as e:
        v = score(e)
        with k.if_(v > first):
            if one_pass and second is not None and at_second is not None:
                k.assign(second, first)
                k.assign(at_second, at_first)
            k.assign(first, v)
            k.assign(at_first, e)
        if one_pass and second is not None and at_second is not None:
            with k.elif_(v > second):
                k.assign(second, v)
                k.assign(at_second, e)
    if two and not one_pass and second is not None and at_second is not None:
        with s.each("e expert_id j") as e, k.if_(fn("ne", e, at_first)):
            v = score(e)
            _best(s, v, e, second, at_second)
    what = f"{s.x.name}" + ("" if added is None else f" + {added.name}")
    text = f"Route each token by its {s.said}: "
    if two and second is not None and at_second is not None:
        return _two(s, (first, second), (at_first, at_second), what, text, added)
    return _one(s, at_first, first, what, text, level)


def _two(
    s: _Scores,
    tops: tuple[Var, Var],
    chosen: tuple[Var, Var],
    what: str,
    text: str,
    bias: Var | None,
) -> Title:
    """Ids of the two, and weights that sum to 1."""
    k, shape = s.k, s.k.draw.shape
    ids = k.out("expert_ids topk_ids", INT32, s.whole("2"))
    weights = k.out("expert_weights topk_weights", FLOAT32, s.whole("2"))
    a, b = (s.of(c) for c in chosen) if bias is not None and shape.chance(0.5) else tops
    plain = a is not tops[0]
    if shape.chance(0.5):
        share = k.let("w1 share", 1.0 / (1.0 + exp(b - a)))
        shares: tuple[Expr, Expr] = (share, 1.0 - share)
    else:
        ratio = k.let("ratio e_gap", exp(b - a))
        total = k.let("total denom", 1.0 + ratio)
        shares = (1.0 / total, ratio / total)
    for n in (0, 1):
        k.store(ids, s.place(n), chosen[n])
        k.store(weights, s.place(n), shares[n])
    text += f"{ids.name} gets the experts with the largest and second largest {what} (the first "
    text += f"where equal), {weights.name} the softmax of "
    text += f"their {s.x.name}." if plain else "these two."
    return Title(k.name("route_top2 top2_gating moe_route"), text)


def _one(s: _Scores, chosen: Var, top: Var, what: str, text: str, level: int) -> Title:
    """The id of the best, and its probability."""
    k, shape = s.k, s.k.draw.shape
    ids = k.out("expert_ids assigned", INT32, s.dims)
    k.store(ids, s.at, chosen)
    text += f"{ids.name} gets the expert with the largest {what} (the first where equal)"
    total = k.let("total denom", k.lift(0.0, FLOAT32))
    own = k.let("own_max peak", s.of(chosen)) if what != s.x.name else top
    with s.each("e expert_id j") as e:
        k.augment(total, "add", exp(s.of(e) - own))
    gates = k.out("gates expert_weight", FLOAT32, s.dims)
    if shape.chance(0.4):
        limit = k.scalar("min_gate threshold", FLOAT32, 0.25, 0.6)
        gate = k.let("gate p", 1.0 / total)
        with k.if_(gate < limit):
            k.assign(gate, 0.0)
        k.store(gates, s.at, gate)
        text += f", {gates.name} the softmax of {s.x.name} there, or 0 where that is below "
        text += f"{limit.name}."
    else:
        k.store(gates, s.at, 1.0 / total)
        text += f", {gates.name} the softmax of {s.x.name} there."
    return Title(k.name("route_top1 switch_routing moe_route_top1"), text)


@idiom
def select_top_k(k: KernelBuilder, level: int) -> Title:
    """The k largest scores of each row in order, a pass for each: what comes after the last."""
    shape = k.draw.shape
    small = shape.chance(0.3)
    names = "distances costs" if small else "scores similarities"
    s = _scores(k, level, "items", names, (9, 13), minimum=8)
    wanted = k.size("top_k", 2, 4)
    mark = k.draw.word.choice(("topk", "best"))
    ids = k.out(f"{mark}_ids", INT32, s.whole(wanted))
    inserts = shape.chance(0.45)
    kept = inserts or shape.chance(0.7)
    values = k.out(f"{mark}_values", FLOAT32, s.whole(wanted)) if kept else None
    if shape.chance(0.5):
        rounds: Expr = k.size_param("top_k", wanted)
    else:
        rounds = extent(ids, 0 if s.across else len(s.dims))
    if inserts and values is not None:
        return _inserted(s, (ids, values), rounds, small)
    return _by_passes(s, ids, values, rounds, small)


def _by_passes(s: _Scores, ids: Var, values: Var | None, rounds: Expr, small: bool) -> Title:
    """Each pass finds the best of what comes after the last found."""
    k, sign = s.k, -1.0 if small else 1.0
    last = k.let("last_value prev_best", k.lift(-LOW * sign, FLOAT32))
    at_last = k.let("last_id prev_id", k.lift(-1, INT32))
    with s.each("r rank n", rounds) as r:
        best = k.let("best cur_best", k.lift(LOW * sign, FLOAT32))
        chosen = k.let("chosen best_id", k.lift(-1, INT32))
        with s.each("j c e") as j:
            v = k.let("v value" if small else "v score", s.of(j))
            after = v > last if small else v < last
            tie = fn("and", v >= last if small else v <= last, j > at_last)
            better = v < best if small else v > best
            with k.if_(fn("and", fn("or", after, tie), better)):
                k.assign(best, v)
                k.assign(chosen, j)
        k.store(ids, s.place(r), chosen)
        if values is not None:
            k.store(values, s.place(r), best)
        k.assign(last, best)
        k.assign(at_last, chosen)
    order, (many, tail) = "smallest" if small else "largest", _many(ids, rounds)
    text = f"{ids.name} gets the indices of the {many} {order} entries of each {s.said}, "
    text += f"in order{tail}, the first of equal ones first; each pass looks for the {order} that "
    text += "comes after the last found. Where there are no more, the index is -1."
    if values is not None:
        text += f" {values.name} gets the entries themselves, {LOW * sign:g} where there are no "
        text += "more."
    return Title(k.name("select_top_k topk_rows k_best"), text)


def _many(ids: Var, rounds: Expr) -> tuple[str, str]:
    """How many are selected, and what that is, in words."""
    if isinstance(rounds, Var):
        return rounds.name, ""
    return "k", f", k being how many {ids.name} holds for each"


def _inserted(s: _Scores, outs: tuple[Var, Var], rounds: Expr, small: bool) -> Title:
    """The sorted list of the best so far is kept in the outputs; each score is put in its place."""
    k, shape, (ids, values) = s.k, s.k.draw.shape, outs
    worst = -LOW if small else LOW
    with s.each("r rank n", rounds) as r:
        k.store(values, s.place(r), worst)
        k.store(ids, s.place(r), -1)
    end = k.let("last tail", rounds - 1) if shape.chance(0.5) else rounds - 1
    with s.each("j c e") as j:
        v = k.let("v value" if small else "v score", s.of(j))
        kept = values[s.place(end)]
        if shape.chance(0.5):
            with k.if_(v >= kept if small else v <= kept):
                k.continue_()
            _shifted(s, outs, v, j, end, small)
        else:
            with k.if_(v < kept if small else v > kept):
                _shifted(s, outs, v, j, end, small)
    order, (many, tail) = "smallest" if small else "largest", _many(ids, rounds)
    text = (
        f"{ids.name} and {values.name} get the indices and values of the {many} {order} "
        f"entries of each {s.said}, in order{tail}, the first of equal ones first: a sorted list "
    )
    text += f"that starts as -1 and {worst:g} takes in one entry after the other."
    return Title(k.name("select_top_k topk_insertion k_best"), text)


def _shifted(s: _Scores, outs: tuple[Var, Var], v: Var, j: Var, end: Expr, small: bool) -> None:
    """Move what is worse one place on, and put the score where that began."""
    k, (ids, values) = s.k, outs
    p = k.let("p slot at", end)
    with k.while_(p > 0):
        before = k.let("before ahead", values[s.place(p - 1)])
        with k.if_(before <= v if small else before >= v):
            k.break_()
        k.store(values, s.place(p), before)
        k.store(ids, s.place(p), ids[s.place(p - 1)])
        k.augment(p, "sub", 1)
    k.store(values, s.place(p), v)
    k.store(ids, s.place(p), j)
