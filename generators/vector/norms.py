"""Norms of vectors as costs: residuals, embeddings, attention by distance, and descent."""

from __future__ import annotations

from functools import cached_property

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import dot, exp, least, log, most
from generators.kit.naming import BY_LEVEL, evaluated, local, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import SETTING, given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Type, Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, further, settings, summed, worked_out

_SOURCES = {"shared": 1}

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


class Norm:
    """A norm of the difference v of two vectors, which may be scaled before; and its text."""

    def __init__(self, k: KernelBuilder, site: Site, level: int, vec: Vec) -> None:
        formula = k.draw.shape.choice(_NORMS.cards)
        self.form, self.more = formula.name, list[Expr]()
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
_LOSSES.add("bell", "similarities affinities", lambda r, temp: exp(-(r / temp)))
_LOSSES.add("mean", "mean_errors mean_losses", lambda r, size: r / size)
_LOSSES.add("margin", "hinge_losses margin_losses", lambda r, margin: most(margin - r, 0.0))


def _loss(k: KernelBuilder, level: int, site: Site, vec: Vec) -> Title:
    """A norm of residuals, and what losses make of it."""
    norm = Norm(k, site, level, vec)
    loss = k.draw.shape.choice([_LOSSES.card(name) for name in _MADE_OF[norm.form]])
    one, other = _PAIRED.get(loss.name, ("prediction estimate", "target reference"))
    parts = {"u": Part(one, vec, -2.0, 2.0), "w": Part(other, vec, -2.0, 2.0)}
    r = record(site, "Sample Pair", parts, 0.4)
    value = norm.of(r["u"], r["w"])
    parts = {
        "margin": Part("margin hinge_margin", FLOAT32, 1.5, 3.5, forms=_SOURCES),
        "temp": Part("temperature length_scale", FLOAT32, 0.6, 1.8, forms=_SOURCES),
    }
    done = f"{_LOSS_TASKS[loss.name]} With v = {r.say('u')} - {r.say('w')}, take {norm.text}"
    if loss.name != "plain":
        known = {"r": value, "size": k.lift(float(vec.size), FLOAT32)}
        value, text = worked_out(site, 0.0, loss, known, parts, {"size": str(vec.size)})
        done += f" as r, then {text}"
    done += "." + deliver(
        site, level, loss.outs if loss.outs != "losses" else "losses errors", value
    )
    return Title(k.name(_LOSS_NAMES[loss.name]), done)


_PAIRED = {
    "margin": ("anchor anchor_embedding", "negative negative_embedding"),
    "bell": ("query feature", "key neighbor"),
}
"""What vectors are called that have no target."""
_MADE_OF = {
    "l1": ("plain", "bell", "mean", "margin"),
    "l2": ("plain", "bell", "margin"),
    "huber": ("plain",),
    "pseudo_huber": ("plain",),
    "largest": ("plain",),
}
"""What is made of each norm."""
_LOSS_TASKS = {
    "plain": "Measure how far each vector is from its target.",
    "bell": "Turn the distance of the vectors of each pair into an affinity.",
    "mean": "Compute the mean absolute error of each vector over its components.",
    "margin": "Compute a hinge loss that pushes the vectors of each pair apart.",
}
_LOSS_NAMES = {
    "plain": "residual_norms vector_errors",
    "bell": "pair_affinity distance_affinity",
    "mean": "mean_residual mean_error",
    "margin": "hinge_loss margin_loss",
}


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


@idiom(depth=1)
def embedding_norms(k: KernelBuilder, level: int) -> Title:
    """Norms of residuals as losses; scores against a few keys, and attention by them."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 3, 4: 3, 8: 2}), FLOAT32)
    if level <= 2 or (level == 3 and k.draw.shape.chance(0.5)):
        return _loss(k, level, site, vec)
    return Title(k.name("soft_assign attend_keys"), _against(k, level, site, vec))


_WIDTHS = {"shared": 1}

_HUBER = (
    "the Huber norm of {v}: dot({v}, {v}) / 2 where |{v}| <= {delta}, else {delta} * (|{v}| - "
    "{delta} / 2)"
)
_PENALTIES = VectorShelf(scalars="delta")
_PENALTIES.add("l1", "costs", lambda v: fn("norm_l1", v))
_PENALTIES.add("l2", "costs", lambda v: fn("norm_l2", v))
_PENALTIES.add("huber", "costs", lambda v, delta: fn("norm_huber", v, delta), _HUBER)
_PENALTIES.add(
    "pseudo_huber",
    "costs",
    lambda v, delta: fn("norm_pseudo_huber", v, delta),
    "the pseudo-Huber norm {delta} * sqrt(1 + dot({v}, {v}) / {delta}^2)",
)
_PENALTIES.add("square", "costs", lambda v: 0.5 * dot(v, v))
_PENALTIES.add("largest", "costs", lambda v: fn("max_element", abs(v)))
_PENALTIES.add("geman", "costs", lambda v, delta: dot(v, v) / (delta * delta + dot(v, v)))
_LIKELY = {"l1": 4, "l2": 3, "huber": 4, "pseudo_huber": 4, "square": 2, "largest": 1, "geman": 1}


class Costs:
    """Terms of one cost: what they are of, how each is penalised and weighted."""

    def __init__(self, site: Site, level: int) -> None:
        self.k, self.level, self.site = site.k, level, site
        self.texts: list[str] = []
        self.left = dict(_LIKELY)

    @cached_property
    def width(self) -> Expr:
        """The width of robust penalties, which all of them share."""
        names = "delta huber_delta scale"
        return given(self.site, names, FLOAT32, 0.4, 1.2, forms=_WIDTHS)

    def term(self, v: Expr, name: str) -> Expr:
        """The penalty of a vector, by a norm that no other term has, and its weight."""
        k = self.k
        rough = ("l2", "huber") if name == "s" else ()
        kind = k.draw.shape.weighted({n: w for n, w in self.left.items() if n not in rough})
        self.left.pop(kind)
        penalty = _PENALTIES.card(kind)
        if penalty.reads("v") > 1:
            v = local(k, (f"r_{name}", f"{name}_res"), v)
        values = {"v": v} | ({"delta": self.width} if "delta" in penalty.keys else {})
        value = evaluated(k, 0.5 * BY_LEVEL[self.level], penalty, values)
        text = penalty.said({key: say(k, part) for key, part in values.items()} | {"v": name})
        if not self.texts or k.draw.shape.chance(0.3):
            self.texts.append(text)
            return value
        names = (f"w_{name}", f"lambda_{name}", f"{name}_weight")
        weight = given(self.site, names, FLOAT32, 0.1, 1.5, forms=_WIDTHS)
        self.texts.append(f"{say(k, weight)} * {text}")
        return weight * value


def _residuals(level: int, site: Site, x: Var, grid: Var | None) -> list[tuple[str, Expr, str]]:
    """The vectors that may be penalised: name, value and text."""
    k, found = site.k, list[tuple[str, Expr, str]]()
    names = ["prior", "size", "change"] + (["smooth"] if grid is not None else [])
    for name in k.draw.shape.sample(names, {1: 0, 2: 1, 3: 2, 4: 2, 5: 3}[level]):
        if name == "prior":
            mean = given(site, "prior_mean anchor", x.type, -1.0, 1.0, shared=2, first=1)
            found.append(("p", x - mean, f"p = x - {say(k, mean)}"))
        elif name == "size":
            found.append(("x", x, ""))
        elif name == "change":
            before = site.read("previous last_step", x.type, -1.5, 1.5)
            found.append(("c", x - before, f"c = x - {say(k, before)}"))
        elif grid is not None:
            size = k.size_param("count width", site.dims[-1])
            at = (*site.at[:-1], least(site.at[-1] + 1, size - 1))
            text = "s = x' - x, x' being the next element along the last index (the last: itself)"
            found.append(("s", grid[at] - x, text))
    return found


@idiom(depth=1)
def residual_costs(k: KernelBuilder, level: int) -> Title:
    """Sums of robust and sparse penalties of vector variables, and steps that lower them."""
    shape = k.draw.shape
    site = launch(k, list=3, grid=2, batch=2)
    vec = Vec(shape.weighted({2: 3, 3: 4, 4: 1}), FLOAT32)
    grid: Var | None = None
    if shape.chance(0.4):
        parts = {
            "x": Part("estimate predicted", vec, -1.5, 1.5, many="estimates predictions"),
            "goal": Part("target measured", vec, -1.5, 1.5, many="targets measurements"),
        }
        r = record(site, "Factor Term Track", parts, 1.0)
        var, goal = r["x"], r["goal"]
    else:
        grid = site.array("estimates predictions", vec, -1.5, 1.5)
        var = grid[site.at]
        many = "targets measurements observed"
        goal = given(site, "target", vec, -1.5, 1.5, many=many, each=1)
    names = [say(k, var), say(k, goal)]
    x = k.let("x est", var)
    costs = Costs(site, level)
    residual: Expr = x - goal
    if level >= 4 or shape.chance(0.4):
        residual = k.let("e err", residual)
    where = [f"e = x - {names[1]}"]
    total: Expr = costs.term(residual, "e")
    for name, value, text in _residuals(level, site, x, grid):
        part = costs.term(value, name)
        total = total + part
        where += [text] if text else []
    done = f"Penalise the residual of each estimate. With x = {names[0]}, {', '.join(where)}, take "
    done += f"{' + '.join(costs.texts)}."
    if level >= 3:
        total = k.let("cost energy", total)
    done += deliver(site, level, "costs energies losses", total)
    if level >= 3:
        done += _descent(level, site, x, residual, total)
    plain = {"l2", "square", "largest"} & {kind for kind in _LIKELY if kind not in costs.left}
    title = "residual_costs residual_penalty" if plain else "robust_costs robust_residuals"
    return Title(k.name(title), done)


_DESCENT = VectorShelf(scalars="soft rate cost")
_DESCENT.add("worst", "worst_axes axes", lambda e: cast(fn("argmax", abs(e)), INT32))
_DESCENT.add("best", "best_axes axes", lambda e: cast(fn("argmin", abs(e)), INT32))
_DESCENT.add("weight", "irls_weights trust", lambda cost, soft: 1.0 / (soft + cost))
_DESCENT.add(
    "direction",
    "directions pulls",
    lambda e, soft: -fn("smooth_normalize", e, soft),
    "-{e} / sqrt({soft}^2 + dot({e}, {e})), by smooth_normalize",
)
_DESCENT.add(
    "step",
    "updated next_state",
    lambda e, x, rate, soft: x - rate * fn("smooth_normalize", e, soft),
    "{x} - {rate} * {e} / sqrt({soft}^2 + dot({e}, {e})), by smooth_normalize",
)


def _descent(level: int, site: Site, x: Var, residual: Expr, cost: Expr) -> str:
    """A step, a direction, a weight or a component that solvers take from the residual."""
    soft = settings(FLOAT32, SETTING, {"soft": ("softening rho floor_len", 0.2, 0.8)})
    parts = soft | settings(FLOAT32, _WIDTHS, {"rate": ("rate step_size", 0.1, 0.6)})
    known = {"e": residual, "x": x, "cost": cost}
    return further(site, _DESCENT.cards, 2 if level >= 5 else 1, known, parts)
