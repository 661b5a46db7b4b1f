"""Stencils: what one step makes of a grid point and its direct neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import Site, write
from generators.kit.pieces import shown, tuned
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var

_NAMES = {
    "laplacian": ("diffuse_step", "heat_step", "explicit_diffusion"),
    "average": ("smooth_grid", "weighted_smooth", "neighbor_average"),
    "gradient": ("gradient_energy", "edge_strength", "squared_gradient"),
    "descent": ("erode_slopes", "slope_descent", "steepness_step"),
    "sharpen": ("sharpen_grid", "unsharp_step", "enhance_edges"),
    "reaction": ("allen_cahn_step", "reaction_diffusion_step", "phase_field_step"),
}
_OUTPUTS = {
    "laplacian": ("out", "next_field", "diffused"),
    "average": ("out", "smoothed", "filtered"),
    "gradient": ("out", "energy", "steepness"),
    "descent": ("out", "next_field", "lowered"),
    "sharpen": ("out", "sharpened", "enhanced"),
    "reaction": ("out", "next_field", "next_phase"),
}


@idiom
def stencil(k: KernelBuilder, level: int) -> Title:
    """A finite difference over the neighbours of a grid point, at edges clamped or periodic."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    ndim = shape.integer(1, 2 if level < 4 else 3)
    low, high = {1: (48, 96), 2: (7, 10), 3: (4, 5)}[ndim]
    symbols = [k.size(s, low, high) for s in ("n", "m", "p")[:ndim]]
    form = shape.choice(("laplacian", "average", "gradient", "descent", "sharpen", "reaction"))
    u = k.array("u field height temperature phi", type_, symbols, low=-1.0, high=1.0)
    threads = k.thread(*symbols)
    periodic = shape.chance(0.4)
    center = u if form == "gradient" else k.let("center c here", u[threads])
    sides = _neighbours(k, u, threads, symbols, periodic)
    value, text = _update(k, form, center, sides)
    edges = "The grid is periodic" if periodic else "Beyond an edge, the edge value is taken"
    done = f"{text.format(f'the {ndim}-dimensional grid {u.name}')}. {edges}."
    done += write(k, level, Site(tuple(symbols), threads), _OUTPUTS[form], value)
    return Title(k.name(*_NAMES[form]), done)


@dataclass(frozen=True)
class _Sides:
    """The neighbours of a grid point along one axis, and what a slope along it is called."""

    before: Expr
    after: Expr
    slope: tuple[str, ...]


def _neighbours(
    k: KernelBuilder, u: Var, threads: tuple[Var, ...], symbols: list[str], periodic: bool
) -> list[_Sides]:
    """Name the indices of the neighbours along each axis; gives their values."""
    low, high = k.draw.word.choice((("{}_prev", "{}_next"), ("{}m", "{}p"), ("{}_lo", "{}_hi")))
    extent = k.draw.word.choice(("n{}", "{}_count", "num_{}"))
    sides = []
    for axis, (at, symbol) in enumerate(zip(threads, symbols, strict=True)):
        size = k.size_param(extent.format(at.name), symbol)
        left = (at + size - 1) % size if periodic else fn("max", at - 1, 0)
        right = (at + 1) % size if periodic else fn("min", at + 1, size - 1)
        before, after = k.let(low.format(at.name), left), k.let(high.format(at.name), right)
        around = [threads[:axis] + (near,) + threads[axis + 1 :] for near in (before, after)]
        slope = (f"d{at.name}", f"slope_{at.name}")
        sides.append(_Sides(u[around[0]], u[around[1]], slope))
    return sides


def _update(k: KernelBuilder, form: str, center: Expr, sides: list[_Sides]) -> tuple[Expr, str]:
    """The new value of a grid point, with a sentence on a grid ``{}``."""
    if form in ("gradient", "descent"):
        return _by_slopes(k, form, center, sides)
    most = 0.9 / (2 * len(sides)) if form == "average" else 0.25
    if form == "average":
        rate = float(k.draw.value.constant(0.05, most))
        total = reduce(add, (s.before + s.after for s in sides))
        kept = round(1.0 - 2 * len(sides) * rate, 6)
        text = f"Smooth {{}}: {kept} times the value plus {rate} times the sum of its "
        return kept * center + rate * total, text + f"{2 * len(sides)} direct neighbours"
    total = reduce(add, (s.before - 2.0 * center + s.after for s in sides))
    given = _tuned(k, ("alpha", "rate", "amount"), sides, 0.05, most)
    by = shown(given)
    over = "the sum over the axes of " if len(sides) > 1 else ""
    over += "(previous - 2 * center + next)"
    if form == "sharpen":
        return center - given * total, f"Sharpen {{}}: subtract {by} times {over}"
    if form == "laplacian":
        text = f"Take one explicit diffusion step on {{}}: add {by} times {over}"
        return center + given * total, text
    growth = _tuned(k, ("growth", "reaction"), sides, 0.1, 0.6)
    grown = center + given * total + growth * center * (1.0 - center * center)
    text = f"Take one Allen-Cahn step on {{}}: add {by} times {over} and {shown(growth)} * c * "
    return grown, text + "(1 - c * c), where c is the value before the step"


def _by_slopes(k: KernelBuilder, form: str, center: Expr, sides: list[_Sides]) -> tuple[Expr, str]:
    """The squared gradient of a grid ``{}``, or a step against it."""
    slopes = [k.let(s.slope, 0.5 * (s.after - s.before)) for s in sides]
    total = reduce(add, (slope * slope for slope in slopes))
    if form == "descent":
        rate = _tuned(k, ("rate", "step"), sides, 0.05, 0.25)
        text = f"From each value of {{}} subtract {shown(rate)} times the squared gradient there"
        return center - rate * total, text + " (central differences of unit spacing)"
    stiffness = _tuned(k, ("stiffness", "kappa"), sides, 0.3, 2.5)
    text = f"Compute {shown(stiffness)} times the squared gradient of {{}} by central differences "
    return stiffness * total, text + "of unit spacing"


def _tuned(
    k: KernelBuilder, names: tuple[str, ...], sides: list[_Sides], low: float, high: float
) -> Operand:
    """A rate of the grid's own type: a parameter or a literal."""
    scalar = sides[0].before.type
    assert isinstance(scalar, Scalar)
    return tuned(k, names, scalar, low, high)
