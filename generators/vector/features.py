"""Feature vectors of any length: how alike two are, and the closest of several."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, most, sqrt
from generators.kit.naming import BY_LEVEL, local, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec, scalar_of
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf
from generators.vector.tables import Table


def _absolute_sum(b: BodyBuilder, u: Expr, w: Expr, relative: bool = False) -> Expr:
    """The sum of the components of ``|u - w|``, each over the sizes of both if ``relative``."""
    assert isinstance(u.type, Vec)
    total = b.let("dist l1", zero(u.type.scalar))
    with b.for_("axis e comp", u.type.size) as axis:
        size: Expr = abs(u[axis] - w[axis])
        if relative:
            # Two zeros differ by 0, not by 0 / 0.
            size = size / most(abs(u[axis]) + abs(w[axis]), 1.0e-12)
        b.augment(total, "add", size)
    return total


def _square(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    return fn("length_sq", b.let("diff delta", u - w))


WHOLE, REAL, NORMS = VectorShelf(), VectorShelf(scalars="g"), VectorShelf(scalars="g")
"""Measures of any vectors, of vectors of floats, and Warp's own norms of float32 vectors."""

_SUM = "the sum of the |{u}[e] - {w}[e]|"
WHOLE.add("squared_distance", "gaps", lambda body, u, w: _square(body, u, w))
WHOLE.add("manhattan", "gaps", lambda body, u, w: _absolute_sum(body, u, w), _SUM)
WHOLE.add("chebyshev", "gaps", lambda u, w: fn("max_element", abs(u - w)))
REAL.cards = WHOLE.cards
REAL.add("dot", "scores", lambda u, w: dot(u, w))
REAL.add("euclidean", "gaps", lambda u, w: fn("length", u - w))
REAL.add("cosine", "scores", lambda u, w: dot(u, w) / (fn("length", u) * fn("length", w)))
REAL.add("gaussian", "scores", lambda body, u, w, g: exp(-g * _square(body, u, w)))
REAL.add("student", "scores", lambda body, u, w, g: 1.0 / (1.0 + g * _square(body, u, w)))
REAL.add("sigmoid", "scores", lambda u, w, g: fn("tanh", g * dot(u, w)))
REAL.add(
    "laplacian",
    "scores",
    lambda body, u, w, g: exp(-g * _absolute_sum(body, u, w)),
    f"exp(-{{g}} * s), s being {_SUM}",
)
REAL.add(
    "canberra",
    "gaps",
    lambda body, u, w: _absolute_sum(body, u, w, True),
    "the sum of |{u}[e] - {w}[e]| / (|{u}[e]| + |{w}[e]|) over components e, 0 where both are 0",
)


@REAL.formula("scores")
def normed_dot(body: BodyBuilder, u: Expr, w: Expr) -> Expr:
    uu, ww = body.let("uu u_sq", dot(u, u)), body.let("ww w_sq", dot(w, w))
    return dot(u, w) / sqrt(uu * ww + 1.0e-6)


@REAL.formula("scores")
def tanimoto(body: BodyBuilder, u: Expr, w: Expr) -> Expr:
    both = body.let("both uw", dot(u, w))
    return both / (fn("length_sq", u) + fn("length_sq", w) - both)


NORMS.add("taxicab", "gaps", lambda u, w: fn("norm_l1", u - w))
NORMS.add("norm_l2", "gaps", lambda u, w: fn("norm_l2", u - w))
NORMS.add("huber", "gaps", lambda u, w, g: fn("norm_huber", u - w, g))
NORMS.add("pseudo_huber", "gaps", lambda u, w, g: fn("norm_pseudo_huber", u - w, g))

_SOURCES = {"shared": 1}

_CALLED = {
    "normed_dot": "cosine",
    "squared_distance": "squared Euclidean",
    "norm_l2": "Euclidean",
    "taxicab": "Manhattan",
    "manhattan": "Manhattan",
    "chebyshev": "Chebyshev",
    "euclidean": "Euclidean",
    "canberra": "Canberra",
    "pseudo_huber": "pseudo-Huber",
    "dot": "dot product",
    "tanimoto": "Tanimoto",
    "huber": "Huber",
    "sigmoid": "sigmoid kernel",
    "gaussian": "Gaussian kernel",
    "laplacian": "Laplacian kernel",
    "student": "Student-t kernel",
}


class Scored:
    """How a kernel scores two vectors, the formula, and whether alike ones score high."""

    def __init__(self, k: KernelBuilder, level: int, site: Site, vec: Vec) -> None:
        shelf = REAL if vec.scalar.is_float else WHOLE
        if vec.scalar == FLOAT32 and k.draw.shape.chance(0.35):
            shelf = NORMS
        # The best by a rising function of a score is the best by the score.
        plain = [card for card in shelf.cards if "g" not in card.keys and card.name != "normed_dot"]
        formula = k.draw.shape.choice(plain if level >= 3 else shelf.cards)
        self.form, self.rises = formula.name, formula.outs == "scores"
        kinds: dict[str, Type] = {"u": vec, "w": vec}
        self.more: list[Expr] = []
        texts = {"u": "u", "w": "w"}
        if "g" in formula.keys:
            names, low, high = ("gamma inv_scale", 0.2, 1.5)
            if shelf is NORMS:
                names, low, high = ("delta huber_delta", 0.4, 1.2)
            g = given(site, names, vec.scalar, low, high, forms=_SOURCES)
            self.more, kinds["g"], texts["g"] = [g], vec.scalar, say(k, g)
        names = f"{formula.name}_score {formula.name}_of"
        self.use = routine(k, BY_LEVEL[level], names, kinds, formula.build)
        self.text = formula.said(texts)

    def of(self, u: Expr, w: Expr) -> Expr:
        return self.use(u, w, *self.more)


def _pairs(k: KernelBuilder, level: int, site: Site, vec: Vec, high: float) -> tuple[str, str]:
    """The score of each pair."""
    shape = k.draw.shape
    called = (("query", "queries", "reference"), ("feature_a", "features_a", "feature_b"))
    one, many, other = k.draw.word.choice(called)
    others = {"reference": "references", "feature_b": "features_b"}[other]
    parts = {
        "u": Part(one, vec, -high, high, many=many),
        "w": Part(other, vec, -high, high, many=others),
    }
    r = record(site, "Pair Match Couple", parts, 0.35)
    done = f" With u = {r.say('u')} and w = {r.say('w')}"
    u, w = r["u"], r["w"]
    if level >= 2 and vec.scalar.is_float and shape.chance(0.4):
        low, top = 0.5, 2.0
        scales = k.scalar("inv_sigma feature_scales", vec, low, top)
        u, w = fn("cw_mul", scales, u), fn("cw_mul", scales, w)
        done += f", both multiplied by {scales.name} componentwise"
    names = k.draw.word.choice(("u w", "a b", "fa fb")).split()
    u, w = k.let(names[0], u), k.let(names[1], w)
    how, told = Scored(k, level, site, vec), done
    value = how.of(u, w)
    noun = "similarity" if how.rises else "distance"
    done = f"Compute the {_CALLED.get(how.form, how.form)} {noun} of each pair of "
    done += f"feature vectors.{told}, take {how.text}."
    outs = "similarity scores" if how.rises else "distances dists"
    return how.form, done + deliver(site, level, outs, value)


_BEST = {
    True: ("largest", "similarity", "best_scores similarity"),
    False: ("smallest", "distance", "min_dists best_dists"),
}


def _search(k: KernelBuilder, level: int, site: Site, vec: Vec, high: float) -> tuple[str, str]:
    """The best of several prototypes, its index, and how clear the choice is."""
    left = site.read("features queries samples", vec, -high, high)
    parts = {"w": Part("center mean_vec prototype", vec, -high, high)}
    how = Scored(k, level, site, vec)
    biased = how.form == "dot" and k.draw.shape.chance(0.6)
    if biased:
        parts["bias"] = Part("bias offset", vec.scalar, -0.3, 0.3)
    table = Table(k, "Prototype Cluster Entry", parts, 0.8, (3, 7))
    a = k.let("a feature query", left)

    def score(parts: list[Expr], names: str) -> Var:
        value = how.of(a, parts[0])
        return local(k, names, value + parts[1] if biased else value)

    best = score(table.at(0), "best closest")
    winner = k.let("winner label best_index", k.lift(0, INT32))
    worst = 1.0e30 if vec.scalar.is_float else 2147483647
    beyond = k.lift(-worst if how.rises else worst, vec.scalar)
    second = k.let("runner_up second", beyond) if level >= 4 else None
    with table.each("c j candidate", start=1) as (c, entry):
        value = score(entry, "score s match")
        with k.if_(value > best if how.rises else value < best):
            if second is not None:
                k.assign(second, best)
            k.assign(best, value)
            k.assign(winner, c)
        if second is not None:
            with k.elif_(value > second if how.rises else value < second):
                k.assign(second, value)
    out = site.put("labels assignments winners", winner)
    side, noun, outs = _BEST[how.rises]
    plus = f", plus {table.said('bias')}" if biased else ""
    done = f"For each feature vector u of {say(k, a)}, find the prototype w = {table.said('w')} of "
    done += f"the {side} {noun}: {how.text}{plus}."
    found = site.put(outs, best)
    done += f" Store the prototype's index in {out.name} and the {noun} in {found.name}."
    if second is not None:
        done += _clear(site, best, second, how.rises)
    return how.form, done


def _clear(site: Site, best: Var, second: Var, rises: bool) -> str:
    """How far the best is from the second best, or whether it is clearly the best."""
    k, scalar = site.k, scalar_of(best.type)
    if not scalar.is_float or k.draw.shape.chance(0.4):
        ends = (best, second) if rises else (second, best)
        out = site.put("leads margins", ends[0] - ends[1])
        return f" {out.name} gets how much better it is than the second best."
    if rises:
        edge = given(site, "min_gap threshold", scalar, 0.05, 0.2, forms=_SOURCES)
        clear, text = (
            best - second > edge,
            f"it exceeds the second best by more than {say(k, edge)}",
        )
    else:
        # Lowe's ratio test.
        ratio = given(site, "max_ratio lowe_ratio", scalar, 0.6, 0.9, forms=_SOURCES)
        clear, text = best < ratio * second, f"it is below {say(k, ratio)} times the second best"
    out = site.put("accepted clear_flags", cast(clear, INT32))
    return f" {out.name} gets 1 where {text}, else 0."


@idiom(depth=3)
def compare_features(k: KernelBuilder, level: int) -> Title:
    """How alike two feature vectors are, or which of several prototypes is the closest."""
    shape = k.draw.shape
    site = launch(k, list=5, batch=3 + level // 3)
    scalar = Scalar(shape.weighted({"float32": 11, "int32": 2, "float64": 1}))
    vec = Vec(shape.weighted({3: 2, 4: 5, 8: 5}), scalar)
    high = 1.0 if scalar.is_float else 9
    form, done = (_pairs if level <= 2 else _search)(k, level, site, vec, high)
    rises = form in {card.name for card in REAL.cards if card.outs == "scores"}
    form = {"normed_dot": "cosine", "norm_l2": "euclidean", "dot": "dot_product"}.get(form, form)
    if level <= 2:
        return Title(k.name(f"{form}_of_pairs compare_{form} {form}_pairs"), done)
    names = f"best_{form} most_similar" if rises else f"nearest_{form} nearest_prototype"
    return Title(k.name(f"{names} assign_{form} assign_prototypes"), done)
