"""Felsenstein's pruning: conditional likelihoods of the bases at a node from those of its children.

J. Felsenstein, J. Mol. Evol. 17 (1981); layouts and scaling as in BEAGLE, D. Ayres et al.,
Syst. Biol. 68 (2019).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, log
from generators.kit.sources import filled
from generators.matrix.parts import index
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Expr, Var


@dataclass
class Sites:
    """Sites of an alignment, a thread each, or each in every category of rates."""

    k: KernelBuilder
    type: Scalar
    at: tuple[Var, ...]
    dims: tuple[str, ...]
    rates: Var | None = None
    freqs: Var | None = None

    @property
    def vec(self) -> Vec:
        return Vec(4, self.type)

    @property
    def mat(self) -> Mat:
        return Mat(4, 4, self.type)

    @property
    def site(self) -> Var:
        return self.at[-1]

    @property
    def lead(self) -> tuple[str, ...]:
        return self.dims[:-1]


def sites_of(k: KernelBuilder, lead: str, short: tuple[int, int] = (3, 4)) -> Sites:
    """A launch over sites, or over something else (categories of rates, nodes) and sites."""
    type_ = k.draw.wide_float_type()
    names = k.draw.word.choice(("sites", "patterns"))
    leads = (lead,) if lead else ()
    for size in leads:
        k.size(size, *short)
    k.size(names, *((16, 20) if lead else (40, 60)))
    word = "n node" if lead == "level_nodes" else "c cat"
    at = k.thread(*leads, names, names=[*(k.name(word) for _ in leads), k.name("s site")])
    return Sites(k, type_, at, (*leads, names))


def _spread(t: Sites, side: str, model: str, own: Var | None) -> tuple[Callable[[Expr], Expr], str]:
    """What a branch makes of likelihoods at its lower end: P times these; P in words.

    A matrix, or by F81 and K80 in closed form: their matrices are of few different eigenvalues.
    """
    k = t.k
    if model == "given":
        names = f"p_{side} matrix_{side} probs_{side}"
        if not t.lead:
            one = k.scalar(names, t.mat, 0.05, 0.6)
            return lambda below: one * below, one.name
        many = k.array(names, t.mat, t.lead, low=0.05, high=0.6)
        return lambda below: many[t.at[0]] * below, f"{many.name}[{t.at[0].name}]"
    length = k.scalar(f"t_{side} branch_{side}", t.type, 0.05, 0.5)
    said = length.name
    time: Expr = length
    if t.lead:
        t.rates = t.rates or k.array("rates rate_factors", t.type, t.lead, low=0.2, high=2.0)
        time = t.rates[t.at[0]] * length
        said = f"{t.rates.name}[{t.at[0].name}] * {length.name}"
    form = _kimura if model == "k80" else _felsenstein
    return lambda below: form(t, side, time, own, below), f"P({said})"


def _felsenstein(t: Sites, side: str, time: Expr, freqs: Var | None, below: Expr) -> Expr:
    """A base is drawn anew at a constant rate, by the frequencies or evenly; one change a site."""
    k = t.k
    low = k.let(f"below_{side} lik_{side}", below)
    stay = k.let(f"stay_{side} keep_{side}", exp(-time if freqs is not None else -4.0 / 3.0 * time))
    if freqs is None:
        mean: Expr = 0.25 * (low[0] + low[1] + low[2] + low[3])
    else:
        mean = dot(freqs, low)
    mean = k.let(f"mean_{side}", (1.0 - stay) * mean)
    return stay * low + filled(t.vec, mean)


def _kimura(t: Sites, side: str, time: Expr, kappa: Var | None, below: Expr) -> Expr:
    """Transitions (A and G, C and T) kappa times as fast as each transversion.

    M. Kimura, J. Mol. Evol. 16 (1980), scaled to one substitution a site in unit time.
    """
    assert kappa is not None
    k = t.k
    low = k.let(f"below_{side} lik_{side}", below)
    a = k.let(f"a_{side}", exp(-4.0 * time / (kappa + 2.0)))
    b = k.let(f"b_{side}", exp(-2.0 * (kappa + 1.0) * time / (kappa + 2.0)))
    partner = k.let(f"partner_{side}", make(t.vec, low[2], low[3], low[0], low[1]))
    even = k.let(f"even_{side}", 0.25 * (1.0 - a) * (low[0] + low[1] + low[2] + low[3]))
    return 0.5 * (a + b) * low + 0.5 * (a - b) * partner + filled(t.vec, even)


def _model(t: Sites, model: str) -> tuple[Var | None, str]:
    """The parameter of a model of substitution, and the model in words."""
    k = t.k
    if model == "f81":
        freqs = t.freqs = k.scalar("freqs base_freqs", t.vec, 0.15, 0.35)
        return freqs, (
            f" P(t) = e * identity + (1 - e) * (all rows {freqs.name}) with e = exp(-t) "
            "(Felsenstein 1981, t in units of its rate)."
        )
    if model == "jc":
        return None, (
            " P(t) has 1/4 + 3/4 * e on its diagonal and 1/4 - 1/4 * e elsewhere, "
            "e = exp(-4 t / 3) (Jukes and Cantor)."
        )
    if model == "k80":
        kappa = k.scalar("kappa ts_tv_ratio", t.type, 1.5, 5.0)
        n = kappa.name
        return kappa, (
            f" P(t) is Kimura's, bases in the order A, C, G, T: with a = exp(-4 t / ({n} + 2)) and "
            f"b = exp(-2 ({n} + 1) t / ({n} + 2)) it is (1 + a + 2 b) / 4 on the diagonal, "
            "(1 + a - 2 b) / 4 between A and G and between C and T, and (1 - a) / 4 elsewhere."
        )
    return None, ""


def _likelihood(t: Sites, side: str, kind: str) -> tuple[Expr, str]:
    """Likelihoods at a child: those of an inner node, or the bases that a leaf may have."""
    k = t.k
    if kind == "node":
        part = k.array(f"partials_{side} cond_{side}", t.vec, t.dims, low=0.05, high=1.0)
        return part[t.at], part.name
    names = f"tip_masks_{side} masks_{side} bases_{side}"
    tips = k.array(names, INT32, t.dims[-1:], low=1, high=15)
    tip = k.let(f"tip_{side} obs_{side}", tips[t.site])
    bits = [cast((tip >> n) & 1 if n else tip & 1, t.type) for n in range(4)]
    return make(t.vec, *bits), f"bits({tips.name})"


def _column(t: Sites, side: str) -> tuple[Expr, str]:
    """What a leaf with a code tells its parent: a column of the branch's matrix."""
    k = t.k
    tips = k.array(f"tip_codes_{side} codes_{side}", INT32, t.dims[-1:], low=0, high=4)
    names = f"p_{side} matrix_{side} probs_{side}"
    dims = t.lead
    many = k.array(names, t.mat, dims, low=0.05, high=0.6) if dims else None
    p: Expr = many[t.at[0]] if many is not None else k.scalar(names, t.mat, 0.05, 0.6)
    tip = k.let(f"tip_{side} obs_{side}", tips[t.site])
    called = many.name + f"[{t.at[0].name}]" if many is not None else str(getattr(p, "name", ""))
    p = p if isinstance(p, Var) else k.let(f"pm_{side}", p)
    said = k.let(f"up_{side} from_{side}", filled(t.vec, 1))
    with k.if_(tip < 4):
        k.assign(said, make(t.vec, *(p[i, tip] for i in range(4))))
    return said, f"column {tips.name} of {called}"


def _sides(t: Sites, level: int) -> tuple[list[Expr], str]:
    """What two children tell of each base, and how, in words."""
    k, shape = t.k, t.k.draw.shape
    model = shape.weighted({"given": 5, "jc": 2, "f81": 2, "k80": 2 * (level > 1)})
    leaves = ("mask", "code") if model == "given" else ("mask",)
    kinds = [shape.choice(("node", "node", *leaves)), shape.choice(("node", *leaves))]
    own, model_said = _model(t, model)
    names = k.draw.word.choice((("left", "right"), ("a", "b"), ("1", "2")))
    found, said = [], []
    for side, kind in zip(names, kinds, strict=True):
        if kind == "code":
            value, text = _column(t, side)
        else:
            spread, branch = _spread(t, side, model, own)
            below, low = _likelihood(t, side, kind)
            value, text = k.let(f"up_{side} from_{side}", spread(below)), f"{branch} * {low}"
        found.append(value)
        said.append(text)
    text = f"({said[0]}) and ({said[1]}), entry by entry."
    if "mask" in kinds:
        text += " bits(m) has 1 for each base whose bit is set in m (bit n for base n), else 0."
    if "code" in kinds:
        text += " The factor of a leaf is all ones where its code is 4, a gap."
    return found, text + model_said


def _many(t: Sites) -> tuple[Var, str]:
    """The product over any number of children, which a list names."""
    k, shape = t.k, t.k.draw.shape
    k.size("children", 3, 4)
    k.size("num_partials", 8, 10)
    kids = k.array("children child_nodes", INT32, "children", init="index_of:num_partials")
    part = k.array("partials cond", t.vec, ("num_partials", *t.dims), low=0.2, high=1.0)
    probs = k.array("branch_probs transition", t.mat, ("num_partials", *t.lead), low=0.1, high=0.6)
    value = k.let("parent lik", filled(t.vec, 1))
    count = extent(kids) if shape.chance(0.5) else k.size_param("num_children", "children")
    with k.for_("e kid", count) as e:
        child = k.let("child below", kids[e])
        matrix = probs[index(child, *t.at[:-1])] if t.lead else probs[child]
        k.assign(value, fn("cw_mul", value, matrix * part[index(child, *t.at)]))
    at = f"{part.name}[child" + f", {t.at[0].name}" * bool(t.lead)
    which = f"{probs.name}[child" + f", {t.at[0].name}" * bool(t.lead)
    return value, (
        f"the product of {which}] * {at}, {t.site.name}] over all child in {kids.name}, entry by "
        "entry."
    )


def _nodes(t: Sites) -> tuple[Var, str]:
    """Nodes of one level of a tree, whose children lie below it, each by its number."""
    k = t.k
    k.size("num_partials", 8, 10)
    sides = k.draw.word.choice((("left", "right"), ("child_a", "child_b")))
    kids = [k.array(side, INT32, "level_nodes", init="index_of:num_partials") for side in sides]
    part = k.array("partials cond", t.vec, ("num_partials", *t.dims[1:]), low=0.2, high=1.0)
    probs = k.array("branch_probs transition", t.mat, "num_partials", low=0.1, high=0.6)
    found = []
    for side, kid in zip(("l", "r"), kids, strict=True):
        child = k.let(f"{side}c {side}_child", kid[t.at[0]])
        found.append(probs[child] * part[child, t.site])
    value = k.let("parent lik", fn("cw_mul", *found))
    return value, (
        f"the product of {probs.name}[child] * {part.name}[child, {t.site.name}] over its two "
        f"children, {kids[0].name}[{t.at[0].name}] and {kids[1].name}[{t.at[0].name}], entry by "
        "entry."
    )


@idiom(depth=3)
def prune_likelihood(k: KernelBuilder, level: int) -> Title:
    """Conditional likelihoods at a node: products of what its children tell of each base."""
    shape = k.draw.shape
    form = shape.weighted({"two": 6 - level, "many": level > 1, "nodes": 2 * (level > 2)})
    form = form if form == "two" or shape.chance(0.8) else "two"
    by_rate = form != "nodes" and shape.chance(0.2 + 0.08 * level)
    t = sites_of(k, "level_nodes" if form == "nodes" else "categories" if by_rate else "")
    where = "a site" if by_rate else "each site"
    where += " in each category of rates" * by_rate
    head = f"Felsenstein's pruning: the likelihoods of the four bases at {where}"
    head += " for each node of a level of the tree" if form == "nodes" else " for a node"
    if form == "two":
        (one, two), text = _sides(t, level)
        value = k.let("parent cond lik", fn("cw_mul", one, two))
        text = f"{head} with two children are the product of {text}"
    else:
        value, text = (_many if form == "many" else _nodes)(t)
        text = f"{head} are {text}"
    return _kept(t, value, text, level)


def _kept(t: Sites, value: Var, text: str, level: int) -> Title:
    """Store partial likelihoods, scaled at deeper levels; or the likelihood at the root."""
    k, shape = t.k, t.k.draw.shape
    root = "level_nodes" not in t.dims
    way = shape.weighted({"plain": 3, "scaled": (level > 1) + level // 2, "root": int(root)})
    if way == "root":
        freqs = t.freqs or k.scalar("root_freqs base_freqs", t.vec, 0.15, 0.35)
        out = k.out("site_lik root_lik", t.type, t.dims)
        k.store(out, t.at, dot(freqs, value))
        text += f" The node is the root: {out.name} gets the sum over the bases of {freqs.name} "
        return Title(k.name("root_likelihood prune_root"), f"{text}times its likelihoods.")
    out = k.out("partials_parent cond_parent", t.vec, t.dims)
    if way == "plain":
        k.store(out, t.at, value)
        return Title(k.name("prune_node update_partials"), f"{text} {out.name} gets them.")
    top = k.let("scale largest", fn("max_element", value))
    k.store(out, t.at, value / top)
    text += (
        f" Divide the four by their largest: {out.name} gets it, and the logarithm of the largest "
    )
    if shape.chance(0.5):
        scales = k.array("scale_logs log_scale", t.type, t.dims, role="inout", low=-9.0, high=-1.0)
        k.store(scales, t.at, log(top), "add")
        text += f"is added into {scales.name}."
    else:
        scales = k.out("scale_logs log_scale", t.type, t.dims)
        k.store(scales, t.at, log(top))
        text += f"is kept in {scales.name}."
    return Title(k.name("prune_scaled rescale_partials"), text)
