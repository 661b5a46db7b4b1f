"""Mixtures: densities of many samples under components with weights, and their assignment."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import PI, exp, log, most
from generators.kit.sites import Site, launch
from generators.math.cards import quantity
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_COMPONENTS = formulas(
    normal=lambda z, scale: 0.39894228 / scale * exp(-0.5 * z * z),
    laplace=lambda z, scale: 0.5 / scale * exp(-abs(z)),
    cauchy=lambda z, scale: 0.31830989 / (scale * (1.0 + z * z)),
    logistic=lambda z, scale: exp(-abs(z)) / (scale * (1.0 + exp(-abs(z))) * (1.0 + exp(-abs(z)))),
)
_LOGS = formulas(
    normal=lambda z, scale, log_w: log_w - 0.5 * z * z - log(scale) - 0.91893853,
    laplace=lambda z, scale, log_w: log_w - abs(z) - log(2.0 * scale),
    cauchy=lambda z, scale, log_w: log_w - log(PI * scale * (1.0 + z * z)),
)
_NAMES = {"normal": "Gaussian", "laplace": "Laplace", "cauchy": "Cauchy", "logistic": "logistic"}
_MEANS = quantity("mu mean loc", "mus means locs", -1.0, 1.0)
_SCALES = quantity("sigma std scale", "sigmas stds scales", 0.5, 1.5)


@idiom(depth=3)
def distribution(k: KernelBuilder, level: int) -> Title:
    """Densities of samples under a mixture, their logs by a log-sum-exp, or the likeliest part."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    k.size("components", 3, 6)
    s = launch(k, list=6, grid=1 if level > 1 else 0, inner="components")
    ways = {"density": 3, "assign": 2} if level < 3 else {"assign": 2, "log": 4, "posterior": 2}
    way = shape.weighted(ways)
    card = shape.choice(_COMPONENTS if way in ("density", "posterior") else _LOGS)
    mix = _Mixture(s, type_, card)
    done = {"density": _density, "assign": _assign, "log": _log, "posterior": _posterior}[way](mix)
    text = f"With {mix.said}: {done}"
    names = {
        "density": f"mixture_density {card.name}_mixture_pdf",
        "assign": "assign_components likeliest_component",
        "log": f"mixture_log_likelihood log_{card.name}_mixture",
        "posterior": f"component_posterior {card.name}_responsibility",
    }
    return Title(k.name(names[way]), text)


class _Mixture:
    """The samples, the weights of components, and what each component gives a sample."""

    def __init__(self, s: Site, type_: Scalar, card: Formula) -> None:
        k, shape = s.k, s.k.draw.shape
        self.s, self.card, self.type, last = s, card, type_, (s.rank,)
        self.logs = card in _LOGS
        sample = s.read("x samples observations", type_, -2.0, 2.0)
        n = k.draw.word.integer(0, 2) if card.name == "normal" else 2
        self.means = s.k.array(_MEANS.arrays[n], type_, "components", low=-1.0, high=1.0)
        shared = shape.chance(0.25)
        make = (
            k.scalar
            if shared
            else lambda names, t, low, high: k.array(names, t, "components", low=low, high=high)
        )
        self.scales = make((_SCALES.names if shared else _SCALES.arrays)[n], type_, 0.5, 1.5)
        self.shared, self.last = shared, last
        low, high = (-2.5, -0.3) if self.logs else (0.1, 0.5)
        weights = "log_weights log_priors" if self.logs else "weights priors mixing"
        self.weights = k.array(weights, type_, "components", low=low, high=high)
        self.count = k.size_param("num_components components", "components")
        self.sample = k.let("sample x_i", sample)
        self.said = f"a mixture of {_NAMES[card.name]} components, component c having the "
        self.said += f"{'log-' * self.logs}weight {self.weights.name}[c], the location "
        self.said += (
            f"{self.means.name}[c] and the scale {self.scales.name}{'' if shared else '[c]'}"
        )

    def part(self, c: Var) -> Expr:
        """A component's weight times its density, or the log of that."""
        k = self.s.k
        scale = self.scales if self.shared else k.let("scale_c s", self.scales[c])
        z = k.let("z standardized", (self.sample - self.means[c]) / scale)
        value = self.card.of(k, {"z": z, "scale": scale, "log_w": self.weights[c]})
        return value if self.logs else self.weights[c] * value

    def zero(self, names: str, value: float = 0.0) -> Var:
        return self.s.k.let(names, self.s.k.lift(value, self.type))


def _density(mix: _Mixture) -> str:
    k = mix.s.k
    total = mix.zero("total density_sum")
    with k.for_("c comp", mix.count) as c:
        k.augment(total, "add", mix.part(c))
    return f"{mix.s.put('density mixture_pdf', total).name} gets the density at each sample."


def _assign(mix: _Mixture) -> str:
    k = mix.s.k
    top = mix.zero("best_log top", -1.0e30)
    best = k.let("best likeliest", k.lift(0, INT32))
    with k.for_("c comp", mix.count) as c:
        part = k.let("log_joint score", mix.part(c))
        with k.if_(part > top):
            k.assign(top, part)
            k.assign(best, c)
    labels = mix.s.put("labels assigned", best)
    return f"{labels.name} gets the likeliest component of each sample, the first of equals."


def _log(mix: _Mixture) -> str:
    k = mix.s.k
    top, total = mix.zero("top run_max", -1.0e30), mix.zero("total sum_exp")
    with k.for_("c comp", mix.count) as c:
        part = k.let("log_joint term", mix.part(c))
        higher = k.let("new_max higher", most(top, part))
        k.assign(total, total * exp(top - higher) + exp(part - higher))
        k.assign(top, higher)
    out = mix.s.put("log_likelihood log_density", top + log(total))
    return f"{out.name} gets the log density at each sample, by a running log-sum-exp."


def _posterior(mix: _Mixture) -> str:
    k = mix.s.k
    chosen = k.scalar("target component", INT32, 0, 2)
    total, mine = mix.zero("total evidence"), mix.zero("mine joint")
    with k.for_("c comp", mix.count) as c:
        part = k.let("joint_c part", mix.part(c))
        k.augment(total, "add", part)
        with k.if_(fn("eq", c, chosen)):
            k.assign(mine, part)
    out = mix.s.put("posterior responsibility", mine / total)
    return f"{out.name} gets the probability that each sample is of the component {chosen.name}."
