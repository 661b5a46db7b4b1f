"""Likelihoods of sites at the root of a tree: categories of rates mixed, scales put back."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, log, most
from generators.kit.sources import zero
from generators.matrix.trees.pruning import Sites, sites_of
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var


@dataclass
class _Mixture:
    """Likelihoods at the root, for each category of rates and site."""

    t: Sites
    part: Var
    freqs: Var
    by_site: bool
    count: Expr
    weights: Var | None = None
    logs: Var | None = None

    def place(self, c: Expr) -> tuple[Expr, ...]:
        return (self.t.site, c) if self.by_site else (c, self.t.site)

    def largest(self, logs: Var) -> Var:
        """The largest logarithm of a scale over the categories."""
        k = self.t.k
        top = k.let("top max_log", logs[self.place(k.lift(0, INT32))])
        with k.for_("c cat", self.count, start=1) as c:
            k.assign(top, most(top, logs[self.place(c)]))
        return top

    def total(self, top: Var | None) -> Var:
        """The mean of the likelihoods over the categories."""
        k = self.t.k
        total = k.let("total lik", zero(self.t.type))
        with k.for_("c cat r", self.count) as c:
            term: Expr = dot(self.freqs, self.part[self.place(c)])
            term = term if self.weights is None else self.weights[c] * term
            if top is not None and self.logs is not None:
                term = exp(self.logs[self.place(c)] - top) * term
            k.augment(total, "add", term)
        if self.weights is None:
            k.assign(total, total / cast(self.count, self.t.type))
        return total

    def said(self, scaled: bool) -> str:
        where = "s, c" if self.by_site else "c, s"
        term = f"dot({self.freqs.name}, {self.part.name}[{where}])"
        if scaled and self.logs is not None:
            term += f" * exp({self.logs.name}[{where}])"
        if self.weights is None:
            return f"the mean over the categories c of {term}"
        return f"the sum over the categories c of {self.weights.name}[c] * {term}"


def _mixture(k: KernelBuilder) -> _Mixture:
    shape, t = k.draw.shape, sites_of(k, "")
    k.size("categories", 3, 4)
    by_site = shape.chance(0.4)
    dims = (*t.dims, "categories") if by_site else ("categories", *t.dims)
    part = k.array("root_partials partials", t.vec, dims, low=0.05, high=1.0)
    freqs = k.scalar("freqs base_freqs pi_freqs", t.vec, 0.15, 0.35)
    count = extent(part, 1 if by_site else 0)
    named = shape.chance(0.4)
    known = k.size_param("num_categories num_cats", "categories") if named else count
    m = _Mixture(t, part, freqs, by_site, known)
    if shape.chance(0.6):
        m.weights = k.array("cat_weights weights", t.type, "categories", low=0.1, high=0.4)
    return m


@idiom(depth=3)
def site_log_likelihood(k: KernelBuilder, level: int) -> Title:
    """The logarithm of a site's likelihood at the root, over categories of rates.

    Z. Yang, J. Mol. Evol. 39 (1994); invariant sites: X. Gu, Y.-X. Fu, W.-H. Li (1995).
    """
    m = _mixture(k)
    t = m.t
    way = k.draw.shape.weighted({"plain": 2, "site": 2 * (level > 1), "each": 2 * (level > 2)})
    if way != "plain":
        dims = t.dims if way == "site" else (*t.dims, "categories")
        dims = dims if way == "site" or m.by_site else ("categories", *t.dims)
        m.logs = k.array("scale_logs log_scale", t.type, dims, low=-9.0, high=-2.0)
    top = m.largest(m.logs) if way == "each" and m.logs is not None else None
    total = m.total(top)
    text = "The log-likelihood of each site s of an alignment at the root of its tree: the "
    text += f"logarithm of L, {m.said(top is not None)}"
    found = _finished(m, total, top, level)
    return Title(k.name("site_log_likelihood root_log_lik", "mix_categories"), text + found)


def _unchanging(m: _Mixture, total: Var) -> str:
    """Sites that cannot change."""
    t, k = m.t, m.t.k
    share = k.scalar("p_inv invariant_share", t.type, 0.1, 0.4)
    base = k.array("constant_base const_code", INT32, t.dims, low=-1, high=3)
    code = k.let("base code", base[t.site])
    k.assign(total, (1.0 - share) * total)
    with k.if_(code >= 0):
        k.augment(total, "add", share * m.freqs[code])
    text = f" with M = (1 - {share.name}) * L, plus {share.name} * {m.freqs.name}[b] at the sites "
    return f"{text}where all leaves have the same base b = {base.name}[s], which is -1 elsewhere."


def _finished(m: _Mixture, total: Var, top: Var | None, level: int) -> str:
    """Scales, weights of patterns; where the logarithm goes, in words."""
    t, k, shape = m.t, m.t.k, m.t.k.draw.shape
    text = "."
    if m.logs is None and shape.chance(0.3 + 0.04 * level):
        text = ". A share of the sites never changes; take the logarithm of M instead of L,"
        text += _unchanging(m, total)
    value: Expr = log(total)
    if top is not None:
        value = top + value
        text += " Take the largest of these exponents out of the sum."
    elif m.logs is not None:
        value = value + m.logs[t.site]
        text += f" Add {m.logs.name}[s], the logarithm that was taken out in scaling."
    if shape.chance(0.25 + 0.05 * level):
        counts = k.array("pattern_counts pattern_weights", INT32, t.dims, low=1, high=9)
        sum_ = k.accumulator("total_log_lik log_likelihood", t.type, "1")
        k.atomic("add", sum_, 0, cast(counts[t.site], t.type) * k.let("log_lik site_ll", value))
        return f"{text} Atomically add {counts.name}[s] times that to {sum_.name}[0]."
    out = k.out("log_lik site_ll", t.type, t.dims)
    k.store(out, t.site, value)
    return f"{text} {out.name} gets it."
