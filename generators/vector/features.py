"""Feature vectors of any length: how alike two are, and the closest of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, sqrt, tanh
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.outputs import deliver
from generators.kit.pieces import Pairwise
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var


class Measure(NamedTuple):
    """A measure of two vectors u and w, its formula, and whether alike vectors score high."""

    build: Callable[..., Expr]
    text: str
    rises: bool
    tuned: tuple[tuple[str, ...], float, float] | None = None


def _over_components(b: BodyBuilder, u: Expr, w: Expr, largest: bool) -> Expr:
    assert isinstance(u.type, Vec)
    if largest:
        return fn("max_element", abs(u - w))
    total = b.let("dist gap span", zero(u.type.scalar))
    with b.for_("axis e comp", u.type.size) as axis:
        b.augment(total, "add", abs(u[axis] - w[axis]))
    return total


def _canberra(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    assert isinstance(u.type, Vec)
    total = b.let("dist canberra rel_gap", zero(u.type.scalar))
    with b.for_("axis e comp", u.type.size) as axis:
        size = abs(u[axis]) + abs(w[axis]) + 0.1
        b.augment(total, "add", abs(u[axis] - w[axis]) / size)
    return total


def _cosine(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    return dot(u, w) / (fn("length", u) * fn("length", w))


def _cosine_of_squares(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    uu, ww = b.let("uu u_sq", dot(u, u)), b.let("ww w_sq", dot(w, w))
    return dot(u, w) / sqrt(uu * ww + 1.0e-6)


def _tanimoto(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    both = b.let("both uw", dot(u, w))
    return both / (fn("length_sq", u) + fn("length_sq", w) - both)


def _square(b: BodyBuilder, u: Expr, w: Expr) -> Expr:
    return fn("length_sq", b.let("diff delta", u - w))


_RATE = (("gamma", "bandwidth", "rate"), 0.2, 1.5)
WHOLE: dict[str, Measure] = {
    "dot": Measure(lambda b, u, w: dot(u, w), "dot(u, w)", True),
    "squared_distance": Measure(_square, "|u - w|^2", False),
    "manhattan": Measure(
        lambda b, u, w: _over_components(b, u, w, largest=False),
        "the sum of the |u[e] - w[e]|",
        False,
    ),
    "chebyshev": Measure(
        lambda b, u, w: _over_components(b, u, w, largest=True),
        "the largest of the |u[e] - w[e]|",
        False,
    ),
}
MEASURES: dict[str, Measure] = {
    **WHOLE,
    "euclidean": Measure(lambda b, u, w: fn("length", u - w), "|u - w|", False),
    "cosine": Measure(_cosine, "dot(u, w) / (|u| * |w|)", True),
    "normed_dot": Measure(
        _cosine_of_squares, "dot(u, w) / sqrt(dot(u, u) * dot(w, w) + 1.0e-6)", True
    ),
    "tanimoto": Measure(_tanimoto, "dot(u, w) / (|u|^2 + |w|^2 - dot(u, w))", True),
    "canberra": Measure(
        _canberra, "the sum of |u[e] - w[e]| / (|u[e]| + |w[e]| + 0.1) over components e", False
    ),
    "gaussian": Measure(
        lambda b, u, w, g: exp(-g * _square(b, u, w)), "exp(-G * |u - w|^2)", True, _RATE
    ),
    "student": Measure(
        lambda b, u, w, g: 1.0 / (1.0 + g * _square(b, u, w)),
        "1 / (1 + G * |u - w|^2)",
        True,
        _RATE,
    ),
    "sigmoid": Measure(lambda b, u, w, g: tanh(g * dot(u, w)), "tanh(G * dot(u, w))", True, _RATE),
    "laplacian": Measure(
        lambda b, u, w, g: exp(-g * _over_components(b, u, w, largest=False)),
        "exp(-G * s), s being the sum of the |u[e] - w[e]|",
        True,
        _RATE,
    ),
}
NORMS: dict[str, Measure] = {
    "taxicab": Measure(lambda b, u, w: fn("norm_l1", u - w), "norm_l1(u - w)", False),
    "norm_l2": Measure(lambda b, u, w: fn("norm_l2", u - w), "norm_l2(u - w)", False),
    "huber": Measure(
        lambda b, u, w, g: fn("norm_huber", u - w, g),
        "norm_huber(u - w, G)",
        False,
        (("delta", "huber_delta"), 0.4, 1.2),
    ),
    "pseudo_huber": Measure(
        lambda b, u, w, g: fn("norm_pseudo_huber", u - w, g),
        "norm_pseudo_huber(u - w, G)",
        False,
        (("delta", "huber_delta"), 0.4, 1.2),
    ),
}
"""Warp's own norms, of float32 vectors."""


_SOURCES = {"each": 1, "first": 1, "shared": 4, "literal": 2}


class Scored(NamedTuple):
    """How a kernel scores two vectors, the formula, and whether alike ones score high."""

    score: Pairwise
    text: str
    rises: bool
    form: str


def _scored(k: KernelBuilder, level: int, site: Site, vec: Vec) -> Scored:
    known = MEASURES if vec.scalar.is_float else WHOLE
    if vec.scalar == FLOAT32 and k.draw.shape.chance(0.35):
        known = NORMS
    names = sorted(known)
    form = k.draw.shape.choice(names)
    measure = known[form]
    kinds: list[tuple[str, Type]] = [("u", vec), ("w", vec)]
    if measure.tuned is None:
        use = routine(k, BY_LEVEL[level], f"{form}_score {form}_of", kinds, measure.build)
        return Scored(lambda _, u, w: use(u, w), measure.text, measure.rises, form)
    words, low, high = measure.tuned
    g = given(site, words, vec.scalar, low, high, forms=_SOURCES)
    kinds.append(("g", vec.scalar))
    use = routine(k, BY_LEVEL[level], f"{form}_score {form}_of", kinds, measure.build)
    text = measure.text.replace("G", say(k, g))
    return Scored(lambda _, u, w: use(u, w, g), text, measure.rises, form)


def _pairs(k: KernelBuilder, level: int, site: Site, vec: Vec, high: float) -> tuple[str, str]:
    """The score of each pair."""
    shape = k.draw.shape
    parts = [
        Part("feature query sample", vec, -high, high),
        Part("other reference key_vec", vec, -high, high),
    ]
    u, w = record(site, "Pair Match Couple", parts, 0.35)
    done = f"With u = {say(k, u)} and w = {say(k, w)}"
    if level >= 2 and shape.chance(0.4):
        low, top = (1, 3) if not vec.scalar.is_float else (0.5, 2.0)
        scales = k.scalar("scales emphasis", vec, low, top)
        u, w = fn("cw_mul", scales, u), fn("cw_mul", scales, w)
        done += f", both multiplied by {scales.name} componentwise"
    u, w = k.let("u a", u), k.let("w b", w)
    how = _scored(k, level, site, vec)
    value = how.score(k, u, w)
    done += f", take {how.text}."
    if level >= 2 and vec.scalar.is_float and shape.chance(0.4):
        margin = given(site, "margin bias", vec.scalar, 0.1, 0.6, forms=_SOURCES)
        value, done = value - margin, f"{done[:-1]}, less {say(k, margin)}."
    return how.form, done + deliver(site, level, "scores similarity match", value)


def _prototypes(
    k: KernelBuilder, vec: Vec, high: float
) -> tuple[Callable[[Expr], list[Expr]], str]:
    """An array of prototypes, alone or as structs with a bias; reads one of them."""
    if k.draw.shape.chance(0.4):
        bias = (0.0, 0.3) if vec.scalar.is_float else (0, 3)
        parts = [
            Part("center mean_vec prototype", vec, -high, high),
            Part("bias penalty prior", vec.scalar, *bias),
        ]
        title = k.draw.word.choice(("Cluster", "Prototype", "Entry"))
        struct, fields = struct_of(k, title, parts)
        table = k.array("clusters prototypes entries", struct, "m", fields=fields)

        def both(j: Expr) -> list[Expr]:
            entry = k.let("entry proto", table[j])
            return [field(entry, f.name) for f in fields]

        return both, f"{fields[0].name} of {table.name}, plus its {fields[1].name}"
    centers = k.array("prototypes centers codebook", vec, "m", low=-high, high=high)
    return lambda j: [centers[j]], centers.name


def _search(k: KernelBuilder, level: int, site: Site, vec: Vec, high: float) -> tuple[str, str]:
    """The best of several prototypes, its index, and how clear the choice is."""
    left = site.array("features queries samples", vec, -high, high)
    k.size("m", 3, 7)
    read, named = _prototypes(k, vec, high)
    how = _scored(k, level, site, vec)
    count = k.trip_count("num_prototypes prototype_count m", "m")
    a = k.let("a feature query", left[site.at])

    def score(j: Expr, names: tuple[str, ...]) -> Var:
        parts = read(j)
        value = how.score(k, a, parts[0])
        return k.let(names, value + parts[1] if len(parts) > 1 else value)

    best = score(k.lift(0, INT32), ("best", "closest"))
    winner = k.let("winner label best_index", k.lift(0, INT32))
    second = None
    if level >= 4:
        second = k.let("runner_up second", best - 9 if how.rises else best + 9)
    with k.for_("c j candidate", count, start=1) as c:
        value = score(c, ("score", "s", "match"))
        with k.if_(value > best if how.rises else value < best):
            if second is not None:
                k.assign(second, best)
            k.assign(best, value)
            k.assign(winner, c)
        if second is not None:
            with k.elif_(value > second if how.rises else value < second):
                k.assign(second, value)
    out = site.out("labels assignments winners", INT32)
    k.store(out, site.at, winner)
    side = "largest" if how.rises else "smallest"
    done = f"For each u of {left.name}, find the {side} score and its index over w = {named}, the "
    done += f"score being {how.text}: {out.name} gets the index. Take the score."
    done += deliver(site, min(level, 3), "scores best_scores similarity", best)
    if second is not None:
        done += _clear(k, level, site, best, second, how.rises)
    return how.form, done


def _clear(k: KernelBuilder, level: int, site: Site, best: Var, second: Var, rises: bool) -> str:
    """How far the best score is from the second best."""
    scalar = best.type
    assert isinstance(scalar, Scalar)
    gap = k.let("gap lead", best - second if rises else second - best)
    start = "best score - 9" if rises else "best score + 9"
    done = (
        f" Let g be how much better it is than the second best (which starts at the first {start})."
    )
    forms = ["lead"] if not scalar.is_float else ["lead", "odds", "sure", "flag"]
    for form in k.draw.shape.sample(forms, min(len(forms), 2 if level >= 5 else 1)):
        if form == "lead":
            done += f" {site.put('leads gaps', gap).name} gets g."
        elif form == "odds":
            out = site.put("confidence odds", 1.0 / (1.0 + exp(-gap)))
            done += f" {out.name} gets 1 / (1 + exp(-g))."
        elif form == "sure":
            out = site.put("certainty trust", gap / (1.0 + gap))
            done += f" {out.name} gets g / (1 + g)."
        else:
            edge = given(site, "min_gap threshold", scalar, 0.05, 0.2, forms=_SOURCES)
            one, none = k.lift(1, INT32), k.lift(0, INT32)
            flags = site.put("accepted clear_flags", fn("where", gap > edge, one, none))
            done += f" {flags.name} gets 1 where g > {say(k, edge)}, else 0."
    return done


@idiom
def compare_features(k: KernelBuilder, level: int) -> Title:
    """How alike two feature vectors are, or which of several prototypes is the closest."""
    shape = k.draw.shape
    site = launch(k, list=5, batch=3 + level // 3)
    if shape.chance(0.25):
        scalar = Scalar(shape.weighted({"int32": 3, "int64": 1, "int16": 1}))
    else:
        scalar = Scalar(shape.weighted({"float32": 10, "float64": 3, "float16": 1}))
    vec = Vec(shape.weighted({2: 2, 3: 4, 4: 4, 5: 2, 8: 1}), scalar)
    high = 1.0 if scalar.is_float else 9
    if level <= 2:
        form, done = _pairs(k, level, site, vec, high)
        return Title(k.name(f"{form}_of_pairs compare_{form} {form}_rows"), done)
    form, done = _search(k, level, site, vec, high)
    return Title(k.name(f"nearest_by_{form} best_{form} assign_prototypes"), done)
