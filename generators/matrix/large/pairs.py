"""Matrices over pairs of points: distances, similarities, kernels; a thread a pair."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.matrix.large.core import Cells, at, cells
from generators.matrix.large.finish import finish
from generators.program.expr import Expr, Var, op

_NAMES = {
    2: (("i", "j"), ("row", "col"), ("p", "q")),
    3: (("b", "i", "j"), ("batch", "row", "col"), ("group", "p", "q")),
}


Pair = Callable[[Var], tuple[Expr, Expr]]


@idiom
def pairwise_matrix(k: KernelBuilder, level: int) -> Title:
    """Distances, similarities or kernel values between two sets of points."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    batched = shape.chance(0.35)
    lead = (k.size("b", 3, 4),) if batched else ()
    m, n = k.size("m", 5, 8), k.size("n", 5, 8)
    inner = k.size("d", 3, 5)
    x = k.array("points x samples", scalar, (*lead, m, inner), low=-1.0, high=1.0)
    both = shape.chance(0.6)
    y = k.array(
        "centers y anchors prototypes",
        scalar,
        (*(lead if both else ()), n, inner),
        low=-1.0,
        high=1.0,
    )
    scaled = level >= 2 and shape.chance(0.4)
    lengths = (
        k.array("inv_length relevance axis_weight", scalar, inner, low=0.5, high=1.5)
        if scaled
        else None
    )
    depth = k.trip_count("dim_count features", inner)
    c = cells(k, scalar, (*lead, m, n), *_NAMES[2 + batched])
    first, second = c.at[-2:]
    form = shape.choice(_FORMS[level])

    def pair(f: Var) -> tuple[Expr, Expr]:
        return x[at(*c.at[:-1], f)], y[at(*(c.at[:-2] if both else ()), second, f)]

    a_text = f"a = {x.name}[{', '.join(v.name for v in c.at[:-1])}]"
    b_at = [v.name for v in (*(c.at[:-2] if both else ()), second)]
    c.say(f"For the rows {a_text} and b = {y.name}[{', '.join(b_at)}]:")
    if form in _DOTS:
        value = _by_dot(c, form, depth, pair, lengths)
    else:
        value = _by_gap(c, form, depth, pair, lengths)
    if level >= 3 and shape.chance(0.4):
        noise = k.scalar("jitter nugget self_weight", scalar, 0.1, 0.5)
        with k.if_(op("eq", first, second)):
            k.augment(value, "add", noise)
        c.say(f"{noise.name} is added where {first.name} = {second.name}.")
    finish(c, level, value, "out pair_values gram", active=False, signed=form in _DOTS)
    return Title(k.name(f"pairwise_matrix pairwise_{form} {form}_matrix"), c.text)


_DOTS = ("cosine", "polynomial", "sigmoid_kernel", "inner")
_EASY = ("squared", "euclidean", "manhattan", "chebyshev", "inner", "rbf")
_HARD = (*_EASY, *_DOTS, "laplace", "rational", "canberra", "matern")
_FORMS = {1: _EASY, 2: _HARD, 3: _HARD, 4: _HARD, 5: _HARD}


def _by_gap(c: Cells, form: str, depth: Expr, pair: Pair, lengths: Var | None) -> Var:
    """A value that follows from the differences of the features."""
    k = c.k
    far = k.let("dist total acc", zero(c.scalar))
    with k.for_("f d t", depth) as f:
        a, b = pair(f)
        gap: Expr = a - b
        if lengths is not None:
            gap = lengths[f] * gap
        if form == "chebyshev":
            k.assign(far, fn("max", far, fn("abs", gap)))
        elif form in ("manhattan", "laplace"):
            k.augment(far, "add", fn("abs", gap))
        elif form == "canberra":
            k.augment(far, "add", fn("abs", gap) / (fn("abs", a) + fn("abs", b) + 1.0e-3))
        else:
            diff = k.let("diff delta gap", gap)
            k.augment(far, "add", diff * diff)
    times = f" times {lengths.name}[f]" if lengths is not None else ""
    sums = {
        "chebyshev": "the largest |a[f] - b[f]|",
        "manhattan": "the sum of |a[f] - b[f]|",
        "laplace": "the sum of |a[f] - b[f]|",
        "canberra": "the sum of |a[f] - b[f]| (TIMES) / (|a[f]| + |b[f]| + 0.001)",
    }
    text = sums.get(form, "the sum of (a[f] - b[f])^2")
    if "TIMES" in text:
        text = text.replace(" (TIMES)", times)
    elif times:
        text += f", each difference{times}"
    c.say(f"d is {text}.")
    return _of_distance(c, form, far)


def _of_distance(c: Cells, form: str, far: Var) -> Var:
    k = c.k
    if form == "euclidean":
        c.say("The value is sqrt(d + 1e-6).")
        return k.let("radius range", fn("sqrt", far + 1.0e-6))
    if form not in ("rbf", "laplace", "rational", "matern"):
        c.say("The value is d.")
        return far
    by, text = c.factor("gamma inv_scale", "gammas widths", 0.2, 0.8)
    if form == "rational":
        c.say(f"The value is 1 / (1 + {text} * d).")
        return k.let("value similarity", 1.0 / (1.0 + by * far))
    if form == "matern":
        root = k.let("r scaled", by * fn("sqrt", 3.0 * far + 1.0e-6))
        c.say(f"With r = {text} * sqrt(3 d + 1e-6) the value is (1 + r) exp(-r).")
        return k.let("value covariance", (1.0 + root) * fn("exp", -root))
    c.say(f"The value is exp(-{text} * d).")
    return k.let("value affinity", fn("exp", -by * far))


def _by_dot(c: Cells, form: str, depth: Expr, pair: Pair, lengths: Var | None) -> Var:
    """A value that follows from the inner product of the features."""
    k = c.k
    inner = k.let("inner dotted total", zero(c.scalar))
    norms: list[Var] = []
    if form == "cosine":
        norms = [k.let(names, zero(c.scalar)) for names in (("aa", "norm_a"), ("bb", "norm_b"))]
    with k.for_("f d t", depth) as f:
        a, b = pair(f)
        k.augment(inner, "add", a * b if lengths is None else lengths[f] * a * b)
        for norm, side in zip(norms, (a, b), strict=False):
            k.augment(norm, "add", side * side)
    times = f"{lengths.name}[f] * " if lengths is not None else ""
    c.say(f"s is the sum of {times}a[f] * b[f].")
    if norms:
        c.say("The value is s / sqrt(sum of a[f]^2 * sum of b[f]^2 + 1e-6).")
        bottom = fn("sqrt", norms[0] * norms[1] + 1.0e-6)
        return k.let("cosine similarity", inner / bottom)
    if form == "inner":
        c.say("The value is s.")
        return inner
    by, text = c.factor("gamma slope", "gammas slopes", 0.2, 0.8)
    base = k.let("base arg", by * inner + 1.0)
    if form == "polynomial":
        cubic = k.draw.shape.chance(0.5)
        c.say(f"The value is ({text} * s + 1)^{3 if cubic else 2}.")
        return k.let("value power", base * base * base if cubic else base * base)
    c.say(f"The value is tanh({text} * s + 1).")
    return k.let("value response", fn("tanh", base))
