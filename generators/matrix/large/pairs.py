"""Matrices over pairs: distances, similarities, kernels, rank updates, attention scores."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, most, sqrt, tanh, where
from generators.kit.sources import zero
from generators.matrix.large.cells import NAMES, Cells, cells, finish
from generators.matrix.parts import index
from generators.program.dtypes import BOOL, INT32
from generators.program.expr import Expr, Var

_DOTS = ("cosine", "inner", "polynomial", "sigmoid_kernel")
_SCORES = {2: (("i", "j"), ("row", "col")), 3: (("h", "i", "j"), ("head", "row", "col"))}
"""Names of the indices of scores."""
_EASY = ("squared", "euclidean", "manhattan", "chebyshev", "inner", "rbf")
_HARD = (*_EASY, *_DOTS, "laplace", "rational", "canberra", "matern")
_DISTANCES = {
    "squared": "Squared Euclidean distance",
    "euclidean": "Euclidean distance",
    "manhattan": "Manhattan distance",
    "chebyshev": "Chebyshev distance (largest absolute difference)",
    "canberra": "Canberra distance, the sum of |a - b| / (|a| + |b| + eps),",
}
_BELLS = ("rbf", "laplace", "rational", "matern")
_CALLED = (("points", "centers"), ("x", "y"), ("samples", "prototypes"), ("x", "anchors"))
"""Names of both sets of points."""


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


@idiom(depth=2)
def pairwise_matrix(k: KernelBuilder, level: int) -> Title:
    """Similarities or kernel values between two sets of points, or of a set with itself."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    lead = (k.size("b", 3, 4),) if shape.chance(0.25) else ()
    form = shape.choice(_EASY if level == 1 else _HARD)
    itself = shape.chance(0.35)
    m, inner = k.size("m", 5, 8), k.size("features", 3, 5)
    n = m if itself else k.size("n", 5, 8)
    first, second = k.draw.word.choice(_CALLED)
    x = k.array(first, scalar, (*lead, m, inner), low=-1.0, high=1.0)
    own = bool(lead) and (itself or shape.chance(0.6))
    dims = (*(lead if own else ()), n, inner)
    y = x if itself else k.array(second, scalar, dims, low=-1.0, high=1.0)
    lengths = None
    if level >= 2 and form in _BELLS and shape.chance(0.5):
        lengths = k.array("inv_length inv_scale", scalar, inner, low=0.5, high=1.5)
    depth = k.size_param("num_features dim", inner)
    c = cells(k, scalar, (*lead, m, n), NAMES[2 + len(lead)])
    pairs = Pairs(c, x, y, own, lengths, depth)
    value, text = (_by_dot if form in _DOTS else _by_gap)(pairs, form)
    whom = (
        f"every two rows of {x.name}"
        if itself
        else f"each row of {x.name} and each row of {y.name}"
    )
    c.say(f"{text} between {whom}{', for each item of the batch' * bool(lead)}.")
    if lengths is not None:
        c.say(f"Differences are multiplied by {lengths.name} of the feature first.")
    if not isinstance(value, Var):
        value = k.let("dist distance" if form in _DISTANCES else "similarity kernel_ij", value)
    if level >= 2 and itself and form in _BELLS and shape.chance(0.6):
        noise = k.scalar("nugget jitter", scalar, 0.1, 0.5)
        with k.if_(fn("eq", *c.at[-2:])):
            k.augment(value, "add", noise)
        c.say(f"{noise.name} is added on the diagonal.")
    out = "distances dist_mat" if form in _DISTANCES else "gram kernel_mat"
    finish(c, level, value, "similarities scores" if form in _DOTS[:2] else out, "plain")
    called = _TITLES.get(form, form)
    return Title(k.name(f"{called}_matrix pairwise_{called}"), c.text)


_TITLES = {"rational": "cauchy_kernel", "laplace": "laplace_kernel", "matern": "matern_kernel"}
"""What a form is called in the name of a kernel."""


def _by_gap(pairs: Pairs, form: str) -> tuple[Expr, str]:
    """A value that follows from the differences of the features, and what it is."""
    c, k = pairs.c, pairs.c.k
    eps = k.scalar("eps", c.scalar, 0.001, 0.01) if form == "canberra" else zero(c.scalar)
    names = {"chebyshev": "largest dist", "manhattan": "total abs_sum", "canberra": "total acc"}
    d = k.let(
        names.get(form, "abs_sum l1" if form == "laplace" else "sq_dist dist_sq"), zero(c.scalar)
    )
    with k.for_("f d t", pairs.depth) as f:
        a, b = pairs.features(f)
        gap = pairs.scaled(a - b, f)
        if form in ("chebyshev", "manhattan", "laplace"):
            term = abs(gap)
        elif form == "canberra":
            a, b = k.let("x_f", a), k.let("y_f", b)
            term = abs(a - b) / (abs(a) + abs(b) + eps)
        else:
            diff = k.let("diff delta gap", gap)
            term = diff * diff
        if form == "chebyshev":
            k.assign(d, most(d, term))
        else:
            k.augment(d, "add", term)
    if form in _DISTANCES:
        return sqrt(d) if form == "euclidean" else d, _DISTANCES[form]
    return _bell(c, form, d)


def _bell(c: Cells, form: str, d: Var) -> tuple[Expr, str]:
    """A kernel of a distance, and what it is."""
    k = c.k
    by = k.scalar("gamma inv_width", c.scalar, 0.2, 0.8)
    if form == "rational":
        return 1.0 / (1.0 + by * d), f"Cauchy kernel 1 / (1 + {by.name} * r^2), r the distance,"
    if form == "matern":
        root = k.let("r scaled_dist", by * sqrt(3.0 * d))
        text = f"Matern 3/2 kernel (1 + r) * exp(-r), r = {by.name} * sqrt(3) * distance,"
        return (1.0 + root) * exp(-root), text
    if form == "laplace":
        return exp(-by * d), f"Laplace kernel exp(-{by.name} * L1 distance)"
    return exp(-by * d), f"RBF kernel exp(-{by.name} * squared distance)"


def _by_dot(pairs: Pairs, form: str) -> tuple[Expr, str]:
    """A value that follows from the inner product of the features, and what it is."""
    c, k = pairs.c, pairs.c.k
    called = k.draw.word.choice((("xy", "xx", "yy"), ("dot", "x_sq", "y_sq")))
    names = called[: 3 if form == "cosine" else 1]
    sums = [k.let(name, zero(c.scalar)) for name in names]
    with k.for_("f d t", pairs.depth) as f:
        a, b = pairs.features(f)
        if form == "cosine":
            a, b = k.let("x_f", a), k.let("y_f", b)
        for total, term in zip(sums, (a * b, a * a, b * b), strict=False):
            k.augment(total, "add", term)
    s = sums[0]
    if form == "cosine":
        floor = "1e-6 being added under the root"
        text = f"Cosine similarity, dot / sqrt(|x|^2 * |y|^2), {floor},"
        return s / sqrt(sums[1] * sums[2] + 1.0e-6), text
    if form == "inner":
        return s, "Dot product"
    gamma = k.scalar("gamma slope", c.scalar, 0.2, 0.8)
    offset = k.scalar("coef0 offset", c.scalar, 0.5, 1.0)
    base = k.let("base arg", gamma * s + offset)
    told = f"{gamma.name} * dot + {offset.name}"
    if form == "sigmoid_kernel":
        return tanh(base), f"Sigmoid kernel tanh({told})"
    if c.chance(0.5):
        return base * base * base, f"Cubic polynomial kernel ({told})^3"
    return base * base, f"Quadratic polynomial kernel ({told})^2"


@idiom
def rank_update(k: KernelBuilder, level: int) -> Title:
    """A matrix plus outer products: of one pair, two pairs, or sums over samples."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(("outer", "two", "samples", "weighted_samples"))
    lead = (k.size("b", 3, 4),) if shape.chance(0.25) else ()
    square = "samples" in form and shape.chance(0.6)
    symmetric = square and form in ("samples", "weighted_samples") and shape.chance(0.6)
    n = k.size("n", 5, 8)
    m = n if square else k.size("m", 5, 8)
    rows = (k.size("s", 3, 5),) if "samples" in form else ()

    def array(names: str, *dims: str, low: float = -1.0) -> Var:
        return k.array(names, scalar, (*lead, *dims), low=low, high=1.0)

    before = array("cov gram" if symmetric else "a matrix", n, m)
    first, second = k.draw.word.choice((("x", "y"), ("u", "v")))
    x = array("samples features" if symmetric else first, *rows, n)
    y = x if symmetric else array(second, *rows, m)
    weights = None
    if form == "weighted_samples":
        weights = array("weights sample_weights", *rows, low=0.2)
    more = (array("p", n), array("q", m)) if form == "two" else None
    count = k.size_param("num_samples count", rows[0]) if rows else None
    c = cells(k, scalar, (*lead, n, m), NAMES[2 + len(lead)][:2])
    change = _outer_products(c, x, y, (weights, more), count)
    kinds = {"outer": "Rank-one", "two": "Rank-two"}
    every = ", for each item of the batch" * bool(lead)
    text = c.spoken[change.name][1]
    c.say(f"{kinds.get(form, 'Rank-k')} update of {before.name}{every}: with D = {text},")
    result = _updated(c, level, before[c.at], change, square)
    finish(c, level, result, f"out {before.name}_new", "plain")
    names = {"outer": "ger_update rank_one_update", "two": "rank_two_update"}
    return Title(k.name(names.get(form, "syrk_update" if symmetric else "rank_k_update")), c.text)


def _outer_products(
    c: Cells, x: Var, y: Var, by: tuple[Var | None, tuple[Var, Var] | None], count: Expr | None
) -> Var:
    """An entry of one outer product or two, or of a sum of them over samples."""
    k, (weights, more) = c.k, by
    head, (i, j) = c.at[:-2], c.at[-2:]
    if count is None:
        term = x[index(*head, i)] * y[index(*head, j)]
        if more is not None:
            term = term + more[0][index(*head, i)] * more[1][index(*head, j)]
        change = k.let("change update prod", term)
        text = f"outer({x.name}, {y.name})"
        text += f" + outer({more[0].name}, {more[1].name})" if more is not None else ""
    else:
        change = k.let("total acc", zero(c.scalar))
        with k.for_("s t p", count) as s:
            term = x[index(*head, s, i)] * y[index(*head, s, j)]
            term = term if weights is None else weights[index(*head, s)] * term
            k.augment(change, "add", term)
        text = f"the sum over samples of outer({x.name}, {y.name})"
        text += f", weighted by {weights.name}" if weights is not None else ""
    c.spoken[change.name] = "D", text
    return change


def _updated(c: Cells, level: int, before: Expr, change: Var, square: bool) -> Var:
    """The entry with the change, everywhere or in one triangle."""
    k, (i, j) = c.k, c.at[-2:]
    ways = ("all", "lower", "upper") if level >= 2 and square else ("all",)
    triangle = c.shape.choice(ways)
    minus = c.chance(0.3)
    step = k.scalar("alpha rate", c.scalar, 0.2, 0.9) * change
    old = before
    if not minus and c.chance(0.4):
        old = k.scalar("beta decay", c.scalar, 0.5, 0.95) * before
    moved = old - step if minus else old + step
    if triangle == "all":
        result = k.let("updated entry", moved)
        c.say(f"the entry becomes {c.tell(moved)}.")
    else:
        result = k.let("updated entry", before)
        inside = j <= i if triangle == "lower" else j >= i
        with k.if_(inside):
            k.assign(result, moved)
        c.say(f"the entry becomes {c.tell(moved)} in the {triangle} triangle and stays elsewhere.")
    if level >= 3 and square and triangle == "all" and c.chance(0.2):
        ridge = k.scalar("ridge damping", c.scalar, 0.2, 0.8)
        with k.if_(fn("eq", i, j)):
            k.augment(result, "add", ridge)
        c.say(f"{ridge.name} is added on the diagonal.")
    return result


@idiom
def mask_scores(k: KernelBuilder, level: int) -> Title:
    """Attention scores before the softmax: scaled products with causal, band and length masks."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    lead = (k.size("heads", 3, 4),) if shape.chance(0.6) else ()
    kinds = ("causal", "prefix", "band", "given", "window", "length")
    kind = shape.choice(kinds[:4] if level == 1 else kinds)
    n, m, inner = _lengths(k, level, kind)
    first, second = k.draw.word.choice((("queries", "keys"), ("query", "key")))
    q = k.array(first, scalar, (*lead, n, inner), low=-1.0, high=1.0)
    shared = shape.chance(0.25)
    dims = (m, inner) if shared else (*lead, m, inner)
    keys = k.array(second, scalar, dims, low=-1.0, high=1.0)
    low = k.scalar("mask_value fill_value", scalar, -9.0, -5.0)
    depth = k.size_param("head_dim", inner)
    past = k.size_param("past_len cache_len", "past") if m == f"past+{n}" else None
    c = cells(k, scalar, (*lead, n, m), _SCORES[2 + len(lead)])
    head, (i, j) = c.at[:-2], c.at[-2:]
    score = k.let("score s qk", zero(scalar))
    with k.for_("f d p", depth) as f:
        term = q[index(*head, i, f)] * keys[index(*(() if shared else head), j, f)]
        k.augment(score, "add", term)
    every = " of each head" * bool(lead)
    c.say(f"Masked attention scores{every}: the dot product of query {c.tell(i)} in {q.name} and")
    c.say(f"key {c.tell(j)} in {keys.name}{', which all heads share' * (shared and bool(lead))}.")
    c.spoken[score.name] = "s", ""
    spot = i if past is None else _after(c, i, past)
    _scaled(c, level, score, depth, spot if kind == "causal" else None)
    hidden = _hidden(c, kind, spot)
    if shape.chance(0.5):
        k.assign(score, where(hidden, low, score))
    else:
        with k.if_(hidden):
            k.assign(score, low)
    where_ = c.tell(hidden)
    where_ = f"{where_.removeprefix('not ')} is false" if kind == "given" else where_
    c.say(f"Where {where_}, the pair is masked out and gets {low.name}.")
    finish(c, level, score, "scores logits", "plain")
    names = "masked_scores" if kind in ("given", "length") else f"{kind}_scores"
    names = "prefix_lm_scores" if kind == "prefix" else names
    return Title(k.name(f"masked_attention_scores {names}"), c.text)


def _after(c: Cells, i: Expr, past: Expr) -> Expr:
    """Where a query stands among the keys, behind those of a cache."""
    spot = c.k.let("q_pos query_pos", i + past)
    c.say(f"The queries are the last of the sequence: query {c.tell(i)} stands at")
    c.say(f"{spot.name} = {c.tell(i)} + {c.tell(past)} among the keys.")
    c.spoken[spot.name] = spot.name, ""
    return spot


def _lengths(k: KernelBuilder, level: int, kind: str) -> tuple[str, str, str]:
    """Queries, keys and features: as many keys as queries where both are places of one sequence,
    or more by those of a cache."""
    shape = k.draw.shape
    if kind in ("given", "length"):
        n, m = k.size("queries", 5, 7), k.size("keys", 5, 7)
    else:
        n = m = k.size("seq_len", 5, 7)
        if level > 1 and kind != "band" and shape.chance(0.4):
            m = f"{k.size('past', 2, 4)}+{n}"
    return n, m, k.size("dim", 3, 5)


def _scaled(c: Cells, level: int, score: Var, depth: Expr, spot: Expr | None) -> None:
    """Scores on a common scale, less with distance, held within a cap."""
    k, j = c.k, c.at[-1]
    if c.chance(0.4):
        k.augment(score, "div", sqrt(cast(depth, c.scalar)))
        c.say("The product is divided by the square root of the head dimension.")
    else:
        by = k.scalar("scale", c.scalar, 0.3, 0.9)
        k.augment(score, "mul", by)
        c.say(f"The product is multiplied by {c.tell(by)}.")
    ways = ("none", "bias") if spot is None else ("none", "slope", "bias")
    position = c.shape.choice(ways) if level >= 2 else "none"
    if position == "bias":
        axes = (0, -2, -1)[-c.rank if c.chance(0.5) else -2 :]
        bias = c.read("attn_bias position_bias", c.scalar, -0.5, 0.5, axes=axes)
        k.augment(score, "add", bias)
        c.say(f"{c.tell(bias)} is added.")
    elif position == "slope" and spot is not None:
        if c.rank > 2:
            slope: Expr = c.read("alibi_slopes", c.scalar, 0.1, 0.5, axes=(0,))
        else:
            slope = k.scalar("alibi_slope", c.scalar, 0.1, 0.5)
        less = slope * cast(abs(spot - j), c.scalar)
        k.augment(score, "sub", less)
        c.say(f"{c.tell(less)} is subtracted.")
    if level >= 3 and position == "none" and c.chance(0.5):
        cap = k.scalar("cap soft_cap", c.scalar, 0.5, 2.0)
        capped = cap * tanh(score / cap)
        k.assign(score, capped)
        c.say(f"The score s is then capped to {c.tell(capped)}.")


def _hidden(c: Cells, kind: str, i: Expr) -> Expr:
    """Which pairs of key and query, which stands at ``i`` of the sequence, are masked out."""
    k, j = c.k, c.at[-1]
    if kind in ("band", "window"):
        reach = k.scalar("reach window bandwidth", INT32, 1, 3)
        return abs(i - j) > reach if kind == "band" else fn("or", j > i, i - j > reach)
    if kind == "given":
        return fn("not", k.array("mask keep", BOOL, c.dims[-2:])[c.at[-2:]])
    if kind == "length":
        return j >= c.k.scalar("num_valid key_count", INT32, 2, 4)
    if kind == "prefix":
        return fn("and", j > i, j >= k.scalar("prefix_len", INT32, 2, 4))
    return j > i
