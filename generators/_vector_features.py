"""Feature vectors of any length: how alike two are, and the closest of several."""

from __future__ import annotations

from generators._vector_pairs import Pairwise
from generators._vector_parts import extra_output, helper, thread, zero
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.expr import Expr
from generators.registry import Title


def _squared_distance(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    return fn("length_sq", b.let(("diff", "delta"), u - w))


def _cosine(_b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    return fn("dot", u, w) / (fn("length", u) * fn("length", w))


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


MEASURES: dict[str, tuple[Pairwise, str]] = {
    "dot": (lambda _, u, w: fn("dot", u, w), "Dot product"),
    "squared_distance": (_squared_distance, "Squared distance"),
    "cosine": (_cosine, "Cosine of the angle"),
    "manhattan": (lambda b, u, w: _over_components(b, u, w, False), "Sum of absolute differences"),
    "chebyshev": (lambda b, u, w: _over_components(b, u, w, True), "Largest absolute difference"),
}


def compare_features(k: KernelBuilder, level: int) -> Title:
    """How alike two feature vectors are, or which of several prototypes is the closest."""
    shape = k.draw.shape
    whole = shape.chance(0.3)
    scalar = shape.weighted({INT32: 3, Scalar("int64"): 1}) if whole else k.draw.float_type()
    vec = Vec(shape.weighted({2: 2, 3: 4, 4: 4, 5: 2, 6: 1, 8: 1}), scalar)
    low, high = (-9, 9) if whole else (-1.0, 1.0)
    n = k.size("n", 48, 72)
    searching = level >= 3
    form = shape.choice([f for f in sorted(MEASURES) if not whole or f != "cosine"])
    left = k.array(("features", "queries", "samples"), vec, n, low=low, high=high)
    rows = k.size("m", 3, 7) if searching else n
    right = k.array(("prototypes", "centers", "codebook"), vec, rows, low=low, high=high)
    measure, text = MEASURES[form]
    i = thread(k, n, "i", "tid", "q")
    first: Expr = left[i]
    done = f"{text} of {left.name} and {right.name}"
    if level >= 2:
        scales = k.scalar(("scales", "emphasis", "weights"), vec, 1 if whole else 0.5, 3)
        first = fn("cw_mul", scales, first)
        done += f" ({left.name} multiplied by {scales.name} componentwise first)"
    a = k.let(("a", "feature", "query"), first)
    name = ""
    if level >= 2 and form != "dot" and (shape.chance(0.4) or (searching and form != "cosine")):
        kinds: list[tuple[str, Type]] = [("u", vec), ("w", vec)]
        name = helper(k, (form, f"{form}_score", f"{form}_of"), kinds, measure)

    def score(b: Expr) -> Expr:
        return k.call(name, a, b) if name else measure(k, a, b)

    outs = ("scores", "similarity", "best_scores")
    if not searching:
        k.store(k.out(outs, scalar, n), i, score(right[i]))
        return Title(k.name(f"{form}_of_pairs", f"compare_{form}", f"{form}_rows"), f"{done}.")
    count = k.size_param(("num_prototypes", "prototype_count", "m"), rows)
    best = k.let(("best", "closest"), score(right[0]))
    winner = k.let(("winner", "label", "best_index"), k.lift(0, INT32))
    with k.for_(("c", "j", "candidate"), count, start=1) as c:
        value = k.let(("score", "s", "match"), score(right[c]))
        with k.if_(value > best if form in ("dot", "cosine") else value < best):
            k.assign(best, value)
            k.assign(winner, c)
    labels = k.out(("labels", "assignment", "winners"), INT32, n)
    k.store(labels, i, winner)
    k.store(k.out(outs, scalar, n), i, best)
    side = "largest" if form in ("dot", "cosine") else "smallest"
    done = f"For each of {left.name}, find the {side} {done[0].lower()}{done[1:]}, and its index."
    if level >= 4:
        float_best = cast(best, FLOAT32) if whole else best
        rating = float_best / (4.0 + fn("abs", float_best))
        what = "score / (4 + abs(score))"
        done += extra_output(k, level - 1, ("confidence", "rating"), (n, i), rating, what, 0.5)
    return Title(k.name(f"nearest_by_{form}", f"best_{form}", "assign_prototypes"), done)
