"""Matrices over pairs: distances, similarities, kernels, rank updates, attention scores."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, most, sqrt, tanh, where
from generators.kit.naming import local
from generators.kit.sources import zero
from generators.matrix.large.cells import NAMES, Cells, cells, finish
from generators.matrix.parts import index
from generators.program.dtypes import BOOL, INT32
from generators.program.expr import Expr, Var

_DOTS = ("cosine", "polynomial", "sigmoid_kernel", "inner")
_EASY = ("squared", "euclidean", "manhattan", "chebyshev", "inner", "rbf")
_HARD = (*_EASY, *_DOTS, "laplace", "rational", "canberra", "matern")


@dataclass
class Pairs:
    """Two sets of points, and the features of a pair of them."""

    c: Cells
    x: Var
    y: Var
    own: bool
    lengths: Var | None
    depth: Expr

    def features(self, f: Expr) -> tuple[Expr, Expr]:
        """One feature of both points."""
        head = self.c.at[:-2] if self.own else ()
        return self.x[index(*self.c.at[:-1], f)], self.y[index(*head, self.c.at[-1], f)]

    def scaled(self, value: Expr, f: Expr) -> Expr:
        return value if self.lengths is None else self.lengths[f] * value


@idiom(depth=1)
def pairwise_matrix(k: KernelBuilder, level: int) -> Title:
    """Distances, similarities or kernel values between two sets of points."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    lead = (k.size("b", 3, 4),) if shape.chance(0.35) else ()
    m, n, inner = k.size("m", 5, 8), k.size("n", 5, 8), k.size("d", 3, 5)
    x = k.array("points x samples", scalar, (*lead, m, inner), low=-1.0, high=1.0)
    own = bool(lead) and shape.chance(0.6)
    dims = (*(lead if own else ()), n, inner)
    y = k.array("centers y anchors prototypes", scalar, dims, low=-1.0, high=1.0)
    lengths = None
    if level >= 2 and shape.chance(0.4):
        names = "inv_length relevance axis_weight"
        lengths = k.array(names, scalar, inner, low=0.5, high=1.5)
    depth = k.trip_count("dim_count features", inner)
    c = cells(k, scalar, (*lead, m, n), NAMES[2 + len(lead)])
    first, second = c.at[-2:]
    form = shape.choice(_EASY if level == 1 else _HARD)
    pairs = Pairs(c, x, y, own, lengths, depth)
    value = (_by_dot if form in _DOTS else _by_gap)(pairs, form)
    c.say(f"The value is {c.tell(value)}.")
    value = local(k, "value similarity radius", value)
    if level >= 3 and shape.chance(0.4):
        noise = k.scalar("jitter nugget self_weight", scalar, 0.1, 0.5)
        with k.if_(fn("eq", first, second)):
            k.augment(value, "add", noise)
        c.say(f"{noise.name} is added where {c.tell(fn('eq', first, second))}.")
    finish(c, level, value, "out pair_values gram", "gain")
    return Title(k.name(f"pairwise_matrix pairwise_{form} {form}_matrix"), c.text)


def _by_gap(pairs: Pairs, form: str) -> Expr:
    """A value that follows from the differences of the features."""
    c, k = pairs.c, pairs.c.k
    d = k.let("dist total acc", zero(c.scalar))
    c.spoken[d.name] = "d", ""
    with k.for_("f d t", pairs.depth) as f:
        a, b = pairs.features(f)
        gap = pairs.scaled(a - b, f)
        if form in ("chebyshev", "manhattan", "laplace"):
            term = abs(gap)
        elif form == "canberra":
            term = abs(gap) / (abs(a) + abs(b) + 1.0e-3)
        else:
            diff = c.part("diff delta gap", gap)
            term = diff * diff
        if form == "chebyshev":
            k.assign(d, most(d, term))
        else:
            k.augment(d, "add", term)
    c.say(f"Let d be {'the largest' if form == 'chebyshev' else 'the sum of'} {c.tell(term)}")
    c.say(f"over {f.name}.")
    if form == "euclidean":
        return sqrt(d + 1.0e-6)
    if form not in ("rbf", "laplace", "rational", "matern"):
        return d
    by = c.factor("gamma inv_scale", 0.2, 0.8)
    if form == "rational":
        return 1.0 / (1.0 + by * d)
    if form == "matern":
        root = c.part("r scaled", by * sqrt(3.0 * d + 1.0e-6))
        return (1.0 + root) * exp(-root)
    return exp(-by * d)


def _by_dot(pairs: Pairs, form: str) -> Expr:
    """A value that follows from the inner product of the features."""
    c, k = pairs.c, pairs.c.k
    names = ("inner dotted total", "aa norm_a", "bb norm_b")[: 3 if form == "cosine" else 1]
    sums = [k.let(name, zero(c.scalar)) for name in names]
    c.spoken.update({v.name: (said, "") for v, said in zip(sums, "suv", strict=False)})
    with k.for_("f d t", pairs.depth) as f:
        a, b = pairs.features(f)
        terms = (pairs.scaled(a, f) * b, a * a, b * b)[: len(sums)]
        for total, term in zip(sums, terms, strict=True):
            k.augment(total, "add", term)
            c.say(f"Let {c.spoken[total.name][0]} be the sum of {c.tell(term)} over {f.name}.")
    s = sums[0]
    if form == "cosine":
        return s / sqrt(sums[1] * sums[2] + 1.0e-6)
    if form == "inner":
        return s
    base = c.part("base arg", c.factor("gamma slope", 0.2, 0.8) * s + 1.0)
    if form == "sigmoid_kernel":
        return tanh(base)
    return base * base * base if c.chance(0.5) else base * base


@idiom
def rank_update(k: KernelBuilder, level: int) -> Title:
    """A matrix plus outer products: of one pair, symmetric pairs, or sums over samples."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(("outer", "two", "samples", "weighted_samples"))
    lead = (k.size("b", 3, 4),) if shape.chance(0.4) else ()
    n, m = k.size("n", 5, 8), k.size("m", 5, 8)
    rows = (k.size("s", 3, 5),) if "samples" in form else ()

    def array(names: str, *dims: str, low: float = -1.0) -> Var:
        return k.array(names, scalar, (*lead, *dims), low=low, high=1.0)

    before = array("a matrix cov", n, m)
    x, y = array("x u features", *rows, n), array("y v deltas", *rows, m)
    weights = array("w weights", *rows, low=0.2) if form == "weighted_samples" else None
    second = (array("p left", n), array("q right", m)) if form == "two" else None
    count = k.trip_count("samples count", rows[0]) if rows else None
    c = cells(k, scalar, (*lead, n, m), NAMES[2 + len(lead)])
    head, (i, j) = c.at[:-2], c.at[-2:]
    if count is None:
        term = x[index(*head, i)] * y[index(*head, j)]
        if second is not None:
            term = term + second[0][index(*head, i)] * second[1][index(*head, j)]
        change = k.let("change update prod", term)
        text = c.tell(term)
    else:
        change = k.let("change total acc", zero(scalar))
        with k.for_("s t p", count) as s:
            term = x[index(*head, s, i)] * y[index(*head, s, j)]
            term = term if weights is None else weights[index(*head, s)] * term
            k.augment(change, "add", term)
        text = f"the sum of {c.tell(term)} over {s.name}"
    c.spoken[change.name] = "D", text
    c.say(f"At [{c.where}] let D be {text}.")
    result = _updated(c, level, before[c.at], change)
    finish(c, level, result, "out a_new new_matrix", "plain")
    return Title(k.name("rank_update outer_update syrk_like ger_update"), c.text)


def _updated(c: Cells, level: int, before: Expr, change: Var) -> Var:
    """The entry with the change, everywhere or in one triangle."""
    k, (i, j) = c.k, c.at[-2:]
    triangle = c.shape.choice(("all", "lower", "upper")) if level >= 2 else "all"
    step = c.factor("alpha rate", 0.2, 0.9) * change
    old = c.factor("decay forget", 0.5, 0.95) * before if c.chance(0.4) else before
    moved = old + step if c.chance(0.5) else old - step
    if triangle == "all":
        result = k.let("updated entry value", moved)
        c.say(f"The entry is {c.tell(moved)}.")
    else:
        result = k.let("updated entry value", before)
        inside = j <= i if triangle == "lower" else j >= i
        with k.if_(inside):
            k.assign(result, moved)
        c.say(f"The entry is {c.tell(moved)} where {c.tell(inside)}, else {c.tell(before)}.")
    if level >= 3 and c.chance(0.5):
        ridge = k.scalar("ridge damping", c.scalar, 0.2, 0.8)
        with k.if_(fn("eq", i, j)):
            k.augment(result, "add", ridge)
        c.say(f"{ridge.name} is added on the diagonal.")
    return result


@idiom
def mask_scores(k: KernelBuilder, level: int) -> Title:
    """Attention scores before the softmax: scaled products with causal, band and length masks."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    lead = (k.size("b", 3, 4),) if shape.chance(0.6) else ()
    n, m, inner = k.size("q", 5, 7), k.size("t", 5, 7), k.size("d", 3, 5)
    q = k.array("queries q_in", scalar, (*lead, n, inner), low=-1.0, high=1.0)
    shared = shape.chance(0.25)
    dims = (m, inner) if shared else (*lead, m, inner)
    keys = k.array("keys k_in", scalar, dims, low=-1.0, high=1.0)
    low = k.scalar("masked_value fill", scalar, -9.0, -5.0)
    kinds = ("causal", "causal_strict", "band", "given", "window", "length")
    kind = shape.choice(kinds[:4] if level == 1 else kinds)
    kind = "causal" if kind == "length" and not lead else kind
    depth = k.trip_count("head_dim depth", inner)
    c = cells(k, scalar, (*lead, n, m), NAMES[2 + len(lead)])
    head, (i, j) = c.at[:-2], c.at[-2:]
    score = k.let("score dotted acc", zero(scalar))
    with k.for_("f d p", depth) as f:
        term = q[index(*head, i, f)] * keys[index(*(() if shared else head), j, f)]
        k.augment(score, "add", term)
    c.say(f"The score s of query {c.tell(i)} and key {c.tell(j)} is the sum of {c.tell(term)}")
    c.say(f"over {f.name}.")
    c.spoken[score.name] = "s", ""
    _scaled(c, level, score, depth)
    hidden = _hidden(c, kind)
    if shape.chance(0.5):
        k.assign(score, where(hidden, low, score))
    else:
        with k.if_(hidden):
            k.assign(score, low)
    c.say(f"It is {low.name} where {c.tell(hidden)}.")
    finish(c, level, score, "scores logits out", "plain")
    return Title(k.name(f"mask_scores {kind}_scores attention_scores"), c.text)


def _scaled(c: Cells, level: int, score: Var, depth: Expr) -> None:
    """Scores on a common scale, less with distance, held within a cap."""
    k, (i, j) = c.k, c.at[-2:]
    if c.chance(0.4):
        k.augment(score, "div", sqrt(cast(depth, c.scalar)))
        c.say("It is divided by the square root of the row length.")
    else:
        by = k.scalar("scale inv_temperature", c.scalar, 0.3, 0.9)
        k.augment(score, "mul", by)
        c.say(f"It is multiplied by {c.tell(by)}.")
    position = c.shape.choice(("none", "slope", "bias")) if level >= 2 else "none"
    if position == "bias":
        axes = (0, -2, -1)[-c.rank if c.chance(0.5) else -2 :]
        bias = c.read("rel_bias attn_bias position_bias", c.scalar, -0.5, 0.5, axes=axes)
        k.augment(score, "add", bias)
        c.say(f"{c.tell(bias)} is added.")
    elif position == "slope":
        slope = k.scalar("slope distance_penalty", c.scalar, 0.1, 0.5)
        less = slope * cast(abs(i - j), c.scalar)
        k.augment(score, "sub", less)
        c.say(f"{c.tell(less)} is subtracted.")
    if level >= 3 and c.chance(0.5):
        cap = k.scalar("cap soft_cap", c.scalar, 0.5, 2.0)
        capped = cap * tanh(score / cap)
        k.assign(score, capped)
        c.say(f"Then s becomes {c.tell(capped)}.")


def _hidden(c: Cells, kind: str) -> Expr:
    """Which pairs of query and key are masked out."""
    k, (i, j) = c.k, c.at[-2:]
    if kind in ("band", "window"):
        reach = k.scalar("reach window bandwidth", INT32, 1, 3)
        return abs(i - j) > reach if kind == "band" else fn("or", j > i, i - j > reach)
    if kind == "given":
        return fn("not", k.array("allowed keep", BOOL, c.dims[-2:])[i, j])
    if kind == "length":
        return j >= c.read("lengths key_counts", INT32, 1, 4, axes=(0,))
    return j > i if kind == "causal" else j >= i
