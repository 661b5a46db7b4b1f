"""Norms of embeddings and residuals: robust losses, nearest prototypes, small attention."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import dot, exp, log, most
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Type, Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, summed, worked_out

_SOURCES = {"each": 1, "first": 2, "shared": 4, "literal": 2}

_NORMS = VectorShelf(scalars="d")
_NORMS.add("l1", "l1", lambda v: fn("norm_l1", v), "the L1 norm of v")
_NORMS.add("l2", "l2", lambda v: fn("norm_l2", v), "the L2 norm of v")
_NORMS.add(
    "huber",
    "huber",
    lambda v, d: fn("norm_huber", v, d),
    "the Huber norm of v (dot(v, v) / 2 if |v| <= d, else d * (|v| - d / 2)), d = {d}",
)
_NORMS.add(
    "pseudo_huber",
    "pseudo_huber",
    lambda v, d: fn("norm_pseudo_huber", v, d),
    "the pseudo-Huber norm d * sqrt(1 + dot(v, v) / d^2) of v, d = {d}",
)
_NORMS.add("largest", "largest", lambda v: fn("max_element", abs(v)), "the largest |v[e]|")
_NORMS.add("smallest", "smallest", lambda v: fn("min_element", abs(v)), "the smallest |v[e]|")


class Norm:
    """A norm of the difference v of two vectors, which may be scaled before; and its text."""

    def __init__(self, k: KernelBuilder, site: Site, level: int, vec: Vec) -> None:
        formula = k.draw.shape.choice(_NORMS.cards)
        self.more: list[Expr] = []
        if "d" in formula.keys:
            names = "delta huber_delta width"
            self.more = [given(site, names, FLOAT32, 0.5, 2.0, forms=_SOURCES)]
        self.text = formula.said({"v": "v", "d": "".join(say(k, d) for d in self.more)})
        named = k.draw.shape.chance(0.5)
        self.scales: Var | None = None
        if level >= 2 and k.draw.shape.chance(0.3):
            self.scales = k.scalar("scales inv_sigma", vec, 0.5, 2.0)
            self.text += f", v being multiplied by {self.scales.name} componentwise before"

        def inner(b: BodyBuilder, x: Expr, y: Expr, *rest: Expr) -> Expr:
            return formula.build(b, b.let("v resid diff", x - y) if named else x - y, *rest)

        kinds = {"a": vec, "b": vec} | ({"delta": FLOAT32} if self.more else {})
        names = f"{formula.name}_distance {formula.name}_loss"
        self.use = routine(k, BY_LEVEL[level], names, kinds, inner)

    def of(self, x: Expr, y: Expr) -> Expr:
        if self.scales is not None:
            x, y = fn("cw_mul", self.scales, x), fn("cw_mul", self.scales, y)
        return self.use(x, y, *self.more)


_LOSSES = Shelf()
_LOSSES.add("plain", "losses", lambda r: r)
_LOSSES.add("bell", "losses", lambda r: exp(-r))
_LOSSES.add("log", "losses", lambda r: log(1.0 + r))
_LOSSES.add("mean", "losses", lambda r, size: r / size)
_LOSSES.add("margin", "losses", lambda r, margin: most(margin - r, 0.0))


def _loss(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """A norm of residuals, and what losses make of it."""
    parts = {
        "u": Part("prediction embedding estimate", vec, -2.0, 2.0),
        "w": Part("target reference label_vec", vec, -2.0, 2.0),
    }
    r = record(site, "Sample Pair Match", parts, 0.4)
    norm = Norm(k, site, level, vec)
    loss = k.draw.shape.choice(_LOSSES.cards)
    value = norm.of(r["u"], r["w"])
    parts = {"margin": Part("margin slack", FLOAT32, 1.5, 3.5, forms=_SOURCES)}
    done = f"With v = {r.say('u')} - {r.say('w')}, take {norm.text}"
    if loss.name != "plain":
        known = {"r": value, "size": k.lift(float(vec.size), FLOAT32)}
        value, text = worked_out(site, 0.0, loss, known, parts, {"size": str(vec.size)})
        done += f" as r, then {text}"
    done += "." + deliver(site, level, "losses distances errors", value)
    if level < 3:
        return done
    v = r["u"] - r["w"]
    if k.draw.shape.chance(0.35):
        soft = given(site, "softening eps_len", FLOAT32, 0.1, 0.6, shared=2, literal=1)
        out = site.put("directions unit_residuals", fn("smooth_normalize", v, soft))
        done += f" {out.name} gets v / sqrt(s^2 + dot(v, v)), s = {say(k, soft)}, by "
        return f"{done}smooth_normalize."
    up = k.draw.shape.chance(0.5)
    index = cast(fn("argmax" if up else "argmin", abs(v)), INT32)
    done += f" {site.put('axes components channels', index).name} gets the index of the component "
    return f"{done}of v that is {'largest' if up else 'smallest'} in size."


def _against(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The scores of a vector against a few keys, gathered in a vector."""
    shape = k.draw.shape
    count = shape.integer(3, 4)
    k.fixed["m"] = count
    source = site.read("queries embeddings inputs", vec, -1.5, 1.5)
    keys = k.array("keys prototypes centroids", vec, "m", low=-1.5, high=1.5)
    q = k.let("q query x", source)
    dots = shape.chance(0.4)
    if dots:
        temp = given(site, "scale inv_temp", FLOAT32, 0.5, 1.5, forms=_SOURCES)
        scores: list[Expr] = [temp * dot(q, keys[j]) for j in range(count)]
        text = f"{say(k, temp)} * dot(q, key)"
    else:
        norm = Norm(k, site, level, vec)
        scores = [norm.of(q, keys[j]) for j in range(count)]
        text = f"{norm.text}, v = q - key"
    s = k.let("scores dists logits", make(Vec(count, FLOAT32), *scores))
    done = f"For q = {say(k, source)} and the {count} vectors of {keys.name}, let s[j] be {text}."
    side = "largest" if dots else "smallest"
    if level >= 4 or shape.chance(0.4):
        done += _softmax(k, level, site, s, count, falling=not dots)
    else:
        best = fn("max_element" if dots else "min_element", s)
        done += f" Take the {side}." + deliver(site, level, "best_scores best", best)
    index = cast(fn("argmax" if dots else "argmin", s), INT32)
    out = site.put("labels assignments nearest", index)
    return f"{done} {out.name} gets the index of the {side} s[j]."


def _softmax(k: KernelBuilder, level: int, site: Site, s: Var, count: int, *, falling: bool) -> str:
    """Soft assignment by the scores: the weighted sum of values, or its entropy."""
    shape = k.draw.shape
    k.note("shift by the extreme score so that no exponential overflows")
    edge = k.let("top peak", fn("min_element" if falling else "max_element", s))
    letter = k.draw.word.choice(("w", "e"))
    shifted = [edge - s[j] if falling else s[j] - edge for j in range(count)]
    weights = [k.let(f"{letter}{j}", exp(shift)) for j, shift in enumerate(shifted)]
    total = k.let("total norm z_sum", summed(weights))
    kinds: tuple[Type, ...] = (FLOAT32, Vec(2, FLOAT32), Vec(3, FLOAT32))
    values = k.array("values payload table", shape.choice(kinds), "m", low=-1.0, high=1.0)
    mixed = summed(w * values[j] for j, w in enumerate(weights)) / total
    sign = "min(s) - s[j]" if falling else "s[j] - max(s)"
    done = f" With w[j] = exp({sign}), take the mean of {values.name} weighted by w."
    done += deliver(site, level, "outputs pooled context", mixed)
    if level < 5:
        return done
    square = summed(w * w for w in weights)
    forms = {
        "the sum of the w[j]^2 over sum(w)^2": square / (total * total),
        "sum(w)^2 over the sum of the w[j]^2": total * total / square,
        f"log(sum(w)) {'- min(s)' if falling else '+ max(s)'}": (
            log(total) - edge if falling else edge + log(total)
        ),
    }
    text = shape.choice(list(forms))
    return f"{done} {site.put('certainty spread evidence', forms[text]).name} gets {text}."


@idiom
def embedding_norms(k: KernelBuilder, level: int) -> Title:
    """Norms of residuals as losses; scores against a few keys, and attention by them."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({2: 1, 3: 3, 4: 3, 5: 1}), FLOAT32)
    if level <= 2 or (level == 3 and k.draw.shape.chance(0.5)):
        return Title(k.name("residual_norms robust_loss"), _loss(k, level, site, vec))
    return Title(k.name("soft_assign attend_keys"), _against(k, level, site, vec))
