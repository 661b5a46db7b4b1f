"""Feature vectors of any length: how alike two are, and the closest of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.expr import Expr, Var
from generators.pieces import (
    Pairwise,
    constant,
    extra_output,
    fine,
    helper,
    thread,
    zero,
)
from generators.registry import Title


class Measure(NamedTuple):
    """A measure of two vectors u and w, its formula, and whether alike vectors score high."""

    build: Pairwise
    text: str
    rises: bool


def _over_components(b: BodyBuilder, u: Expr, w: Expr, largest: bool) -> Expr:
    assert isinstance(u.type, Vec)
    total = b.let(("dist", "gap", "span"), zero(u.type.scalar))
    with b.for_(("axis", "e", "comp"), u.type.size) as axis:
        gap = fn("abs", u[axis] - w[axis])
        if largest:
            b.assign(total, fn("max", total, gap))
        else:
            b.augment(total, "add", gap)
    return total


def _dot(k: KernelBuilder) -> Measure:
    form = k.draw.shape.choice(("affine", "kernel", "sigmoid"))
    scale, bias = fine(k, 0.2, 0.98), fine(k, 0.1, 0.9)
    if form == "affine":
        return Measure(
            lambda _, u, w: scale * fn("dot", u, w) + bias, f"{scale} * dot(u, w) + {bias}", True
        )
    if form == "sigmoid":
        text = f"tanh({scale} * dot(u, w) - {bias})"
        return Measure(lambda _, u, w: fn("tanh", scale * fn("dot", u, w) - bias), text, True)

    def build(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
        base = b.let(("base", "lin"), scale * fn("dot", u, w) + bias)
        return base * base

    return Measure(build, f"({scale} * dot(u, w) + {bias})^2", True)


def _squared_distance(k: KernelBuilder) -> Measure:
    form = k.draw.shape.choice(("gaussian", "student", "plain"))
    rate = fine(k, 0.1, 0.98)

    def build(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
        square = fn("length_sq", b.let(("diff", "delta"), u - w))
        if form == "gaussian":
            return fn("exp", -rate * square)
        return 1.0 / (1.0 + rate * square) if form == "student" else rate * square

    text = {
        "gaussian": f"exp(-{rate} * |u - w|^2)",
        "student": f"1 / (1 + {rate} * |u - w|^2)",
        "plain": f"{rate} * |u - w|^2",
    }
    return Measure(build, text[form], form != "plain")


def _cosine(k: KernelBuilder) -> Measure:
    eps = k.draw.value.choice((0.001, 0.01, 0.05, 0.1))
    scale = fine(k, 0.5, 0.99)

    def build(_b: BodyBuilder, u: Expr, w: Expr) -> Expr:
        return scale * fn("dot", u, w) / (fn("length", u) * fn("length", w) + eps)

    return Measure(build, f"{scale} * dot(u, w) / (|u| * |w| + {eps})", True)


def _componentwise(k: KernelBuilder, largest: bool) -> Measure:
    scale, offset = fine(k, 0.2, 0.98), fine(k, 0.1, 0.9)
    down = k.draw.shape.chance(0.4)

    def build(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
        gap = _over_components(b, u, w, largest)
        return offset - scale * gap if down else scale * gap + offset

    what = f"the {'largest' if largest else 'sum'} of the |u[e] - w[e]|"
    text = f"{offset} - {scale} times {what}" if down else f"{scale} times {what}, plus {offset}"
    return Measure(build, text, down)


MEASURES: dict[str, Callable[[KernelBuilder], Measure]] = {
    "dot": _dot,
    "squared_distance": _squared_distance,
    "cosine": _cosine,
    "manhattan": lambda k: _componentwise(k, largest=False),
    "chebyshev": lambda k: _componentwise(k, largest=True),
}


def _whole_measure(k: KernelBuilder, form: str) -> Measure:
    """The same for whole numbers, with a whole factor and offset."""
    scale, offset = k.draw.value.integer(2, 12), k.draw.value.integer(1, 60)
    what = {
        "dot": "dot(u, w)",
        "squared_distance": "|u - w|^2",
        "manhattan": "the sum of the |u[e] - w[e]|",
        "chebyshev": "the largest of the |u[e] - w[e]|",
    }[form]
    down = k.draw.shape.chance(0.3)

    def build(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
        if form == "dot":
            value: Expr = fn("dot", u, w)
        elif form == "squared_distance":
            value = fn("length_sq", b.let(("diff", "delta"), u - w))
        else:
            value = _over_components(b, u, w, form == "chebyshev")
        return offset - scale * value if down else scale * value + offset

    text = f"{offset} - {scale} times {what}" if down else f"{scale} times {what}, plus {offset}"
    return Measure(build, text, (form == "dot") != down)


def compare_features(k: KernelBuilder, level: int) -> Title:
    """How alike two feature vectors are, or which of several prototypes is the closest."""
    shape = k.draw.shape
    whole = shape.chance(0.2)
    scalar = shape.weighted({INT32: 3, Scalar("int64"): 1}) if whole else k.draw.float_type()
    vec = Vec(shape.weighted({2: 2, 3: 4, 4: 4, 5: 2, 6: 1, 8: 1}), scalar)
    low, high = (-9, 9) if whole else (-1.0, 1.0)
    n = k.size("n", 48, 72)
    searching = level >= 3
    form = shape.choice([f for f in sorted(MEASURES) if not whole or f != "cosine"])
    left = k.array(("features", "queries", "samples"), vec, n, low=low, high=high)
    rows = k.size("m", 3, 7) if searching else n
    right = k.array(("prototypes", "centers", "codebook"), vec, rows, low=low, high=high)
    measure = _whole_measure(k, form) if whole else MEASURES[form](k)
    i = thread(k, n, "i", "tid", "q")
    first: Expr = left[i]
    done = f"u in {left.name} and w in {right.name}: {measure.text}"
    if level >= 2:
        scales = k.scalar(("scales", "emphasis", "weights"), vec, 1 if whole else 0.5, 3)
        first = fn("cw_mul", scales, first)
        done += f" (u multiplied by {scales.name} componentwise first)"
    a = k.let(("a", "feature", "query"), first)
    name = ""
    if level >= 2 and form != "dot" and (shape.chance(0.4) or (searching and form != "cosine")):
        kinds: list[tuple[str, Type]] = [("u", vec), ("w", vec)]
        name = helper(k, (form, f"{form}_score", f"{form}_of"), kinds, measure.build)

    def score(b: Expr) -> Expr:
        return k.call(name, a, b) if name else measure.build(k, a, b)

    outs = ("scores", "similarity", "best_scores")
    if not searching:
        k.store(k.out(outs, scalar, n), i, score(right[i]))
        title = k.name(f"{form}_of_pairs", f"compare_{form}", f"{form}_rows")
        return Title(title, f"Score each pair of {done}.")
    count = k.trip_count(("num_prototypes", "prototype_count", "m"), rows)
    best = k.let(("best", "closest"), score(right[0]))
    winner = k.let(("winner", "label", "best_index"), k.lift(0, INT32))
    with k.for_(("c", "j", "candidate"), count, start=1) as c:
        value = k.let(("score", "s", "match"), score(right[c]))
        with k.if_(value > best if measure.rises else value < best):
            k.assign(best, value)
            k.assign(winner, c)
    labels = k.out(("labels", "assignment", "winners"), INT32, n)
    k.store(labels, i, winner)
    k.store(k.out(outs, scalar, n), i, best)
    side = "largest" if measure.rises else "smallest"
    done = f"For each u, find the {side} score and its index, the score being, for {done}."
    if level >= 4:
        done += _surplus(k, level, (n, i), cast(best, FLOAT32) if whole else best)
    return Title(k.name(f"nearest_by_{form}", f"best_{form}", "assign_prototypes"), done)


def _surplus(k: KernelBuilder, level: int, place: tuple[str, Var], best: Expr) -> str:
    """How far the best score is above an expected one, between -1 and 1, as one more output."""
    n, i = place
    soft = constant(k, 0.3, 0.9)
    expected = k.array(("expected", "baseline"), best.type, n, low=-1.0, high=2.0)
    r = k.let(("surplus", "excess"), best - expected[i])
    value = r / (soft + fn("abs", r))
    what = f"r / ({soft} + |r|), r being the score minus {expected.name}"
    return extra_output(k, level - 1, ("confidence", "rating"), place, value, what, 0.6)
