"""Stencils on grids of one to three dimensions: a point, its neighbours, what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.arithmetic.common import solid, total
from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Build, Formula
from generators.kit.functions import least, most, sqrt
from generators.kit.naming import maybe
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var, literal


@dataclass(frozen=True)
class Equation:
    """A formula of a point and its neighbours: kernel names, names of the field and of the result,
    code by keys, and a description with keys in braces."""

    title: str
    field: str
    out: str
    code: Build
    said: str


_STENCILS = (
    Equation(
        "diffuse_step explicit_diffusion",
        "u concentration temperature",
        "{u}_next diffused",
        lambda u, rate, lap: u + rate * lap,
        "Explicit diffusion step: {u} plus {rate} times L",
    ),
    Equation(
        "smooth_grid neighbor_average",
        "field elevation",
        "smoothed",
        lambda u, share, lap: u + share * lap,
        "Smooth a grid: each point of {u} moves toward its neighbours, by {share} times L",
    ),
    Equation(
        "gradient_energy squared_gradient",
        "phi field",
        "grad_sq gradient_sq",
        lambda steep: steep,
        "Squared length of the gradient of {u} by central differences, the spacing being 1: Q",
    ),
    Equation(
        "edge_strength gradient_magnitude",
        "image field",
        "magnitude edges",
        lambda steep: sqrt(steep),
        "Length of the gradient of {u} by central differences, the spacing being 1: sqrt(Q)",
    ),
    Equation(
        "sharpen_grid enhance_edges",
        "image field",
        "sharpened",
        lambda u, amount, lap: u - amount * lap,
        "Sharpen a grid: {u} less {amount} times L",
    ),
    Equation(
        "discrete_laplacian grid_laplacian",
        "u phi",
        "laplacian lap_u",
        lambda lap, inv_dx2: inv_dx2 * lap,
        "Discrete Laplacian of {u}: {inv_dx2}, one over the squared spacing, times L",
    ),
    Equation(
        "allen_cahn_step phase_field_step",
        "phi phase",
        "{u}_next",
        lambda u, rate, lap, growth: u + rate * lap + growth * u * (1.0 - u * u),
        "Explicit step of the Allen-Cahn equation for the phase p in {u}: p + {rate} * L + "
        "{growth} * p * (1 - p^2)",
    ),
    Equation(
        "perona_malik_step edge_preserving_diffusion",
        "image field",
        "filtered",
        lambda u, rate, stopped: u + rate * stopped,
        "Perona-Malik diffusion, which stops at edges: {u} plus {rate} times D",
    ),
)

_EACH = {"each": 1}
_ONE = {"shared": 1}
_MOSTLY_ONE = {"shared": 2, "each": 1}
_INPUTS: dict[str, tuple[str, float, float, dict[str, int]]] = {
    "rate": ("rate alpha", 0.05, 0.15, _ONE),
    "share": ("share weight", 0.05, 0.15, _ONE),
    "amount": ("amount strength", 0.1, 0.5, _ONE),
    "inv_dx2": ("inv_dx2 inv_dx_sq", 1.0, 16.0, _ONE),
    "growth": ("growth growth_rate", 0.1, 0.6, _ONE),
    "old": ("u_prev u_old", -1.0, 1.0, _EACH),
    "c2": ("c2 courant_sq", 0.1, 0.3, _MOSTLY_ONE),
    "damping": ("damping gamma", 0.02, 0.3, _ONE),
    "leak": ("mass_sq leak", 0.02, 0.2, _ONE),
    "rhs": ("rhs source", -1.0, 1.0, _EACH),
    "omega": ("omega relax", 0.5, 0.95, _ONE),
    "kappa": ("r fourier", 0.05, 0.15, _MOSTLY_ONE),
    "loss": ("loss cooling", 0.05, 0.2, _ONE),
    "ambient": ("ambient t_env", -0.5, 0.5, _ONE),
    "dt": ("dt", 0.05, 0.2, _ONE),
    "nu": ("nu viscosity", 0.2, 0.6, _ONE),
}
"""Of each input of a step: names, lowest and highest value, and the ways that it comes in."""

_TERMS = {
    "lap": ("L", "previous - 2 * here + next"),
    "steep": ("Q", "((next - previous) / 2)^2"),
    "slope": ("G", "(next - previous) / 2"),
    "stopped": ("D", "d / (1 + d^2 / {0}^2) of the differences d to previous and next"),
}
"""What is made of the neighbours: a letter, and what is summed over the axes."""

EDGES = {
    "clamped": "Neighbour indices are clamped to the grid.",
    "periodic": "The grid is periodic along every axis.",
    "fixed": "Border points keep their values.",
}


class Around:
    """A point of a grid and its two neighbours along each axis."""

    def __init__(self, s: Site, u: Var, edge: str, coupled: bool = False) -> None:
        self.s, self.k, self.u, self.edge, self.coupled = s, s.k, u, edge, coupled
        self.threshold = ""
        by_shape = s.k.draw.shape.chance(0.35)
        self.names = ["i" if say(s.k, at) in ("tid", "idx") else say(s.k, at) for at in s.at]
        self.counts = [
            extent(u, axis) if by_shape else s.k.size_param(_LENGTHS.get(d, d), d)
            for axis, d in enumerate(s.dims)
        ]

    def on_border(self) -> Expr:
        tests: list[Expr] = []
        for at, count in zip(self.s.at, self.counts, strict=True):
            tests += [fn("eq", at, 0), fn("eq", at, count - 1)]
        border = tests[0]
        for test in tests[1:]:
            border = fn("or", border, test)
        return border

    def look(self, like: Around | None = None) -> None:
        """Read the point and its neighbours, at the places of another field where there is one."""
        k, s = self.k, self.s
        self.here = k.let(f"{self.u.name}_here {self.u.name[0]}c", self.u[s.at])
        self.sides: list[tuple[Expr, Expr]] = []
        self.near: list[tuple[Expr, Expr]] = [] if like is None else like.near
        style = k.draw.word.choice((("{}_prev", "{}_next"), ("{}m", "{}p")))
        for axis, (at, count) in enumerate(zip(s.at, self.counts, strict=True)):
            name = self.names[axis]
            before: Expr = at - 1
            after: Expr = at + 1
            if self.edge == "clamped":
                before, after = most(before, 0), least(after, count - 1)
            elif self.edge == "periodic":
                before, after = (before + count) % count, after % count
            if like is None:
                names = [n.format(name) for n in style]
                self.near.append((k.let(names[0], before), k.let(names[1], after)))
            low, high = (self.u[s.at[:axis] + (i,) + s.at[axis + 1 :]] for i in self.near[axis])
            self.sides.append((low, high))

    def term(self, key: str) -> Expr:
        """What a step takes from the neighbours."""
        if key == "lap":
            return self._laplacian()
        if key == "stopped":
            return self._stopped()
        slopes = [0.5 * (b - a) for a, b in self.sides]
        if key == "slope":
            return self.k.let("slope grad", total(slopes))
        named = [
            self.k.let(f"d{name} slope_{name}", slope)
            for name, slope in zip(self.names, slopes, strict=True)
        ]
        return total([slope * slope for slope in named])

    def _stopped(self) -> Expr:
        parts: list[Expr] = []
        type_ = self.here.type
        assert isinstance(type_, Scalar)
        edge = self.k.scalar("kappa edge_threshold", type_, 0.3, 0.9)
        self.threshold = edge.name
        inverse = self.k.let("inv_kappa_sq inv_k2", 1.0 / (edge * edge))
        for name, pair in zip(self.names, self.sides, strict=True):
            for side, value in zip(("prev", "next"), pair, strict=True):
                gap = self.k.let(f"d_{name}_{side}", value - self.here)
                parts.append(gap / (1.0 + gap * gap * inverse))
        return self.k.let("flow net_flow", total(parts))

    def _laplacian(self) -> Expr:
        names = "lap laplacian" if not self.coupled else f"lap_{self.u.name}"
        if self.k.draw.shape.chance(0.5):
            around = total([a + b for a, b in self.sides])
            return self.k.let(names, around - float(2 * len(self.sides)) * self.here)
        parts: Sequence[Expr] = [a - 2.0 * self.here + b for a, b in self.sides]
        of = self.u.name if self.coupled else ""
        if len(parts) > 1:
            parts = [
                self.k.let(f"d2{of}_{name}", part)
                for name, part in zip(self.names, parts, strict=True)
            ]
        return maybe(self.k, names, total(parts), 0.6)


def computed(around: Around, equation: Equation, f: Scalar) -> tuple[Expr, str]:
    """The value of a step and its text, with what its terms are."""
    s, k = around.s, around.k
    formula = Formula("", "", equation.code, "-")
    values: dict[str, Expr] = {"u": around.here}
    texts, more = {"u": around.u.name}, ""
    over = "the sum over the axes of " if s.rank > 1 else ""
    for key in formula.keys:
        if key in _TERMS:
            values[key] = around.term(key)
            more += f"{' and' if more else ', where'} {_TERMS[key][0]} is {over}"
            more += _TERMS[key][1].format(around.threshold)
        elif key in _INPUTS:
            names, low, high, ways = _INPUTS[key]
            if key == "old":
                names = f"{around.u.name}_prev {around.u.name}_old"
            values[key] = given(s, names, f, low, high, many=names, forms=ways)
            if key == "old" and "damping" in formula.keys:
                values[key] = k.let("before", values[key])
    values["count"] = literal(float(2 * s.rank), f)
    texts |= {key: say(k, value) for key, value in values.items() if key not in texts}
    return formula.of(k, values), f"{equation.said.format(**texts)}{more}"


_LENGTHS = {"rows": "num_rows", "cols": "num_cols", "h": "height", "w": "width", "d": "depth"}
"""What the length of an axis of a symbol is called as a parameter."""


def space(k: KernelBuilder, line: float, cube: float) -> Site:
    """A grid of one, three or, with the remaining probability, two dimensions."""
    way = k.draw.shape.weighted(
        {
            "list": round(100 * line),
            "cube": round(100 * cube),
            "grid": round(100 * (1 - line - cube)),
        }
    )
    return solid(k) if way == "cube" else launch(k, {way: 1})


@idiom(depth=3)
def stencil(k: KernelBuilder, level: int) -> Title:
    """A finite difference over the neighbours of a grid point, at edges clamped or periodic."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    equation = shape.choice(_STENCILS)
    s = space(
        k, {1: 0.3}.get(level, 0.0) * (equation.out[:3] not in ("gra", "mag")), 0.2 * (level > 1)
    )
    u = s.array(equation.field, f, -1.0, 1.0)
    around = Around(s, u, "periodic" if shape.chance(0.4) else "clamped")
    around.look()
    value, text = computed(around, equation, f)
    out = s.put(equation.out.format(u=u.name), value)
    done = f"{text}. Store it in {out.name}. {EDGES[around.edge]}"
    return Title(k.name(equation.title), done)
