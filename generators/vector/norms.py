"""Norms of embeddings and residuals: robust losses, nearest prototypes, small attention."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, log, most
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var

_SOURCES = {"each": 1, "first": 2, "shared": 4, "literal": 2}
Norm = Callable[[Expr, Expr], Expr]

_NORMS: dict[str, tuple[Norm, str, bool]] = {
    "l1": (lambda v, _: fn("norm_l1", v), "the L1 norm of v", False),
    "l2": (lambda v, _: fn("norm_l2", v), "the L2 norm of v", False),
    "huber": (
        lambda v, d: fn("norm_huber", v, d),
        "the Huber norm of v (dot(v, v) / 2 if |v| <= d, else d * (|v| - d / 2))",
        True,
    ),
    "pseudo_huber": (
        lambda v, d: fn("norm_pseudo_huber", v, d),
        "the pseudo-Huber norm d * sqrt(1 + dot(v, v) / d^2) of v",
        True,
    ),
    "max": (lambda v, _: fn("max_element", abs(v)), "the largest absolute component of v", False),
    "smallest": (
        lambda v, _: fn("min_element", abs(v)),
        "the smallest absolute component of v",
        False,
    ),
}


def _delta(k: KernelBuilder, site: Site) -> Expr:
    return given(site, "delta huber_delta width", FLOAT32, 0.5, 2.0, forms=_SOURCES)


def _norm(k: KernelBuilder, site: Site, level: int, vec: Vec) -> tuple[Callable[..., Expr], str]:
    """A norm, of one vector or of the difference of two; and its text."""
    name = k.draw.shape.choice(sorted(_NORMS))
    build, text, two = _NORMS[name]
    delta = _delta(k, site) if two else k.lift(1.0, FLOAT32)
    named = k.draw.shape.chance(0.5)
    weighted = level >= 2 and k.draw.shape.chance(0.3)
    params: list[tuple[str, Type]] = [("a", vec), ("b", vec)]
    params += [("delta", FLOAT32)] if two else []
    scales = k.scalar("scales inv_sigma", vec, 0.5, 2.0) if weighted else None

    def inner(b: BodyBuilder, x: Expr, y: Expr, *rest: Expr) -> Expr:
        v = b.let("v resid diff", x - y) if named else x - y
        return build(v, rest[0] if rest else delta)

    use = routine(k, BY_LEVEL[level], f"{name}_distance {name}_loss", params, inner)
    of = f"{text}, d = {say(k, delta)}" if two else text
    if scales is None:
        return lambda x, y: use(x, y, *((delta,) if two else ())), of
    whole = scales
    return (
        lambda x, y: use(
            fn("cw_mul", whole, x), fn("cw_mul", whole, y), *((delta,) if two else ())
        ),
        f"{of}, both vectors being multiplied by {scales.name} componentwise before",
    )


def _sources(k: KernelBuilder, site: Site, vec: Vec) -> tuple[Expr, Expr]:
    parts = [
        Part("prediction embedding estimate", vec, -2.0, 2.0),
        Part("target reference label_vec", vec, -2.0, 2.0),
    ]
    shape = k.draw.shape
    u, w = record(site, "Sample Pair Match", parts, 0.4)
    return u, w


def _loss(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """A norm of residuals, and what losses make of it."""
    shape = k.draw.shape
    u, w = _sources(k, site, vec)
    norm, text = _norm(k, site, level, vec)
    value = norm(u, w)
    done = f"With v = {say(k, u)} - {say(k, w)}, take {text}"
    form = shape.choice(("plain", "mean", "margin", "bell", "log"))
    if form == "mean":
        value, done = value / float(vec.size), f"{done}, over {vec.size}"
    elif form == "margin" and level > 1:
        margin = given(site, "margin slack", FLOAT32, 0.6, 1.2, forms=_SOURCES)
        held = k.let("loss dist", value)
        value, done = (most(margin - held, 0.0), f"{done} as r, then max({say(k, margin)} - r, 0)")
    elif form == "bell":
        value, done = exp(-value), f"{done} as r, then exp(-r)"
    elif form == "log":
        value, done = log(1.0 + value), f"{done} as r, then log(1 + r)"
    done += "." + deliver(site, level, "losses distances errors", value)
    if level >= 3:
        done += _direction(k, site, u, w)
    return done


def _direction(k: KernelBuilder, site: Site, u: Expr, w: Expr) -> str:
    """The residual's direction, or its leading component, as a second output."""
    form = k.draw.shape.choice(("smooth", "leading", "trailing"))
    if form == "smooth":
        soft = given(site, "softening eps_len", FLOAT32, 0.1, 0.6, shared=2, literal=1)
        value = fn("smooth_normalize", u - w, soft)
        out = site.put("directions unit_residuals", value)
        name = say(k, soft)
        return f" {out.name} gets v / sqrt(s^2 + dot(v, v)), s = {name}, by smooth_normalize."
    pick = "argmax" if form == "leading" else "argmin"
    index = cast(fn(pick, abs(u - w)), INT32)
    out = site.put("axes components channels", index)
    side = "largest" if form == "leading" else "smallest"
    return f" {out.name} gets the index of the component of v that is {side} in size."


def _against(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The scores of a vector against a few keys, gathered in a vector."""
    shape = k.draw.shape
    count = shape.integer(3, 4)
    found = Vec(count, FLOAT32)
    k.fixed["m"] = count
    source = site.array("queries embeddings inputs", vec, -1.5, 1.5)
    keys = k.array("keys prototypes centroids", vec, "m", low=-1.5, high=1.5)
    q = k.let("q query x", source[site.at])
    dots = shape.chance(0.4)
    if dots:
        temp = given(site, "scale inv_temp", FLOAT32, 0.5, 1.5, forms=_SOURCES)
        scores: list[Expr] = [temp * dot(q, keys[j]) for j in range(count)]
        text = f"{say(k, temp)} * dot(q, key)"
    else:
        norm, text = _norm(k, site, level, vec)
        scores = [norm(q, keys[j]) for j in range(count)]
        text += ", v = q - key"
    s = k.let("scores dists logits", make(found, *scores))
    done = f"For q = {source.name} and the {count} vectors of {keys.name}, let s[j] be {text}."
    if level >= 4 or shape.chance(0.4):
        done += _softmax(k, level, site, s, count, falling=not dots)
    else:
        best = fn("max_element" if dots else "min_element", s)
        done += " Take the " + ("largest." if dots else "smallest.")
        done += deliver(site, level, "best_scores best", best)
    index = cast(fn("argmax" if dots else "argmin", s), INT32)
    out = site.put("labels assignments nearest", index)
    return f"{done} {out.name} gets the index of the {'largest' if dots else 'smallest'} s[j]."


def _softmax(k: KernelBuilder, level: int, site: Site, s: Var, count: int, *, falling: bool) -> str:
    """Soft assignment by the scores: the weighted sum of values, or its entropy."""
    shape = k.draw.shape
    k.note("shift by the extreme score so that no exponential overflows")
    edge = k.let("top peak", fn("min_element" if falling else "max_element", s))
    letter = k.draw.word.choice(("w", "e"))
    weights = [
        k.let(f"{letter}{j}", exp(edge - s[j] if falling else s[j] - edge)) for j in range(count)
    ]
    total: Expr = weights[0]
    for w in weights[1:]:
        total = total + w
    total = k.let("total norm z_sum", total)
    kinds: tuple[Type, ...] = (FLOAT32, Vec(2, FLOAT32), Vec(3, FLOAT32))
    kind = shape.choice(kinds)
    values = k.array("values payload table", kind, "m", low=-1.0, high=1.0)
    mixed: Expr = weights[0] * values[0]
    for j in range(1, count):
        mixed = mixed + weights[j] * values[j]
    mixed = mixed / total
    sign = "min(s) - s[j]" if falling else "s[j] - max(s)"
    done = f" With w[j] = exp({sign}), take the mean of {values.name} weighted by w."
    done += deliver(site, level, "outputs pooled context", mixed)
    if level >= 5:
        square: Expr = weights[0] * weights[0]
        for w in weights[1:]:
            square = square + w * w
        form = shape.choice(("certainty", "logsum", "effective"))
        value = {
            "certainty": square / (total * total),
            "effective": total * total / square,
            "logsum": log(total) - edge if falling else edge + log(total),
        }[form]
        out = site.put("certainty spread evidence", value)
        text = {
            "certainty": "the sum of the w[j]^2 over sum(w)^2",
            "effective": "sum(w)^2 over the sum of the w[j]^2",
            "logsum": f"log(sum(w)) {'- min(s)' if falling else '+ max(s)'}",
        }[form]
        done += f" {out.name} gets {text}."
    return done


@idiom
def embedding_norms(k: KernelBuilder, level: int) -> Title:
    """Norms of residuals as losses; scores against a few keys, and attention by them."""
    site = launch(k, list=5, batch=3 + level // 3)
    scalar: Scalar = FLOAT32
    vec = Vec(k.draw.shape.weighted({2: 1, 3: 3, 4: 3, 5: 1}), scalar)
    if level <= 2 or (level == 3 and k.draw.shape.chance(0.5)):
        return Title(k.name("residual_norms robust_loss"), _loss(k, level, site, vec))
    return Title(k.name("soft_assign attend_keys"), _against(k, level, site, vec))
