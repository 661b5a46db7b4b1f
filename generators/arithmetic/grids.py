"""Steps on grids of one to three dimensions: stencils, waves, transport, heat, reaction."""

from __future__ import annotations

from collections.abc import Sequence

from generators.arithmetic.common import OWN, total
from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import least, most, where
from generators.kit.masks import condition
from generators.kit.naming import held, maybe, routine
from generators.kit.outputs import deliver, masked
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import SETTING, given
from generators.kit.words import say
from generators.program.dtypes import Scalar, scalar_of
from generators.program.expr import Expr, Var, literal

_STENCILS = formulas(
    diffusion=("diffuse_step heat_step explicit_diffusion", lambda u, rate, lap: u + rate * lap),
    smooth=(
        "smooth_grid weighted_smooth neighbor_average",
        lambda kept, u, share, around: kept * u + share * around,
    ),
    gradient=(
        "gradient_energy edge_strength squared_gradient",
        lambda stiffness, steep: stiffness * steep,
    ),
    descent=("erode_slopes slope_descent steepness_step", lambda u, rate, steep: u - rate * steep),
    sharpen=("sharpen_grid unsharp_step enhance_edges", lambda u, rate, lap: u - rate * lap),
    allen_cahn=(
        "allen_cahn_step reaction_diffusion_step phase_field_step",
        lambda u, rate, lap, growth: u + rate * lap + growth * u * (1.0 - u * u),
    ),
)
_EQUATIONS = formulas(
    wave=(
        "wave_step leapfrog_wave membrane_step",
        lambda u, old, c2, lap: 2.0 * u - old + c2 * lap,
    ),
    sor=(
        "jacobi_poisson relax_poisson weighted_jacobi",
        lambda u, omega, lap, rhs, count: u + omega * (lap - rhs) / count,
    ),
    advection=("advect_upwind upwind_transport advection_step", lambda u, transport: u - transport),
    damped_wave=(
        "wave_step leapfrog_wave damped_membrane",
        lambda u, old, c2, lap, damping: 2.0 * u - old + c2 * lap - damping * (u - old),
    ),
    heat=(
        "variable_heat_step conduct_heat cooling_step",
        lambda u, kappa, lap, loss, ambient: u + kappa * lap - loss * (u - ambient),
    ),
    fisher=(
        "fisher_step population_front logistic_diffusion",
        lambda u, kappa, lap, growth: u + kappa * lap + growth * u * (1.0 - u),
    ),
    burgers=(
        "burgers_step viscous_burgers",
        lambda u, dt, nu, lap, slope: u + dt * (nu * lap - u * slope),
    ),
)
_EACH = {"each": 1}
_SOME = {"shared": 1, "each": 1, "axis": 1, "literal": 1}
_INPUTS: dict[str, tuple[str, float, float, dict[str, int]]] = {
    "rate": ("alpha rate amount", 0.05, 0.25, SETTING),
    "stiffness": ("stiffness kappa", 0.3, 2.5, SETTING),
    "growth": ("growth reaction", 0.1, 0.6, SETTING),
    "old": ("u_old previous u_prev", -1.0, 1.0, _EACH),
    "c2": ("c2 courant_sq r2", 0.1, 0.3, _SOME),
    "damping": ("damping gamma", 0.02, 0.3, {"shared": 1}),
    "rhs": ("rhs f source_term", -1.0, 1.0, _EACH),
    "omega": ("omega relax", 0.5, 0.95, _SOME),
    "kappa": ("kappa diffusivity alpha", 0.05, 0.15, _SOME),
    "loss": ("loss cooling", 0.05, 0.2, {"shared": 1}),
    "ambient": ("ambient t_env", -0.5, 0.5, {"shared": 1}),
    "dt": ("dt step_size", 0.05, 0.2, {"shared": 1}),
    "nu": ("nu viscosity", 0.2, 0.6, SETTING),
}
"""Of each input of a step: names, lowest and highest value, and the ways that it comes in."""

_TERMS = {
    "lap": ("L", "previous - 2 * here + next"),
    "around": ("S", "previous + next"),
    "steep": ("Q", "((next - previous) / 2)^2"),
    "slope": ("G", "(next - previous) / 2"),
}
"""What is made of the neighbours: a letter, and what is summed over the axes."""

_EDGES = {
    "clamped": "Neighbour indices are clamped to the grid.",
    "periodic": "The grid is periodic along every axis.",
    "fixed": "Border points keep their values.",
}
_FIELDS = "u field phi height"


class Around:
    """A point of a grid and its two neighbours along each axis."""

    def __init__(self, s: Site, u: Var, edge: str) -> None:
        self.s, self.k, self.u, self.edge = s, s.k, u, edge
        by_shape = s.k.draw.shape.chance(0.35)
        self.names = [say(s.k, at) for at in s.at]
        self.counts = [
            extent(u, axis) if by_shape else s.k.size_param(f"n{name} num_{name}", s.dims[axis])
            for axis, name in enumerate(self.names)
        ]

    def on_border(self) -> Expr:
        tests: list[Expr] = []
        for at, count in zip(self.s.at, self.counts, strict=True):
            tests += [fn("eq", at, 0), fn("eq", at, count - 1)]
        border = tests[0]
        for test in tests[1:]:
            border = fn("or", border, test)
        return border

    def look(self) -> None:
        """Read the point and its neighbours."""
        k, s = self.k, self.s
        self.here = k.let("here c uc", self.u[s.at])
        self.sides: list[tuple[Expr, Expr]] = []
        for axis, (at, count) in enumerate(zip(s.at, self.counts, strict=True)):
            name = self.names[axis]
            before: Expr = at - 1
            after: Expr = at + 1
            if self.edge == "clamped":
                before, after = most(before, 0), least(after, count - 1)
            elif self.edge == "periodic":
                before, after = (before + count) % count, after % count
            near = [k.let(f"{name}m {name}_prev", before), k.let(f"{name}p {name}_next", after)]
            low, high = (self.u[s.at[:axis] + (i,) + s.at[axis + 1 :]] for i in near)
            self.sides.append(
                (
                    maybe(k, f"lo_{name} {name}_below", low, 0.3),
                    maybe(k, f"hi_{name} {name}_above", high, 0.3),
                )
            )

    def term(self, key: str) -> Expr:
        """What a step takes from the neighbours."""
        if key == "lap":
            return self._laplacian()
        if key == "around":
            return total([a + b for a, b in self.sides])
        slopes = [0.5 * (b - a) for a, b in self.sides]
        if key == "slope":
            return self.k.let("slope grad", total(slopes))
        named = [
            self.k.let(f"d{name} slope_{name}", slope)
            for name, slope in zip(self.names, slopes, strict=True)
        ]
        return total([slope * slope for slope in named])

    def _laplacian(self) -> Expr:
        names = "lap laplacian"
        if self.k.draw.shape.chance(0.5):
            around = total([a + b for a, b in self.sides])
            return self.k.let(names, around - float(2 * len(self.sides)) * self.here)
        parts: Sequence[Expr] = [a - 2.0 * self.here + b for a, b in self.sides]
        if len(parts) > 1:
            stem = self.k.draw.word.choice(("d2", "curv"))
            parts = [self.k.let(f"{stem}{m}", part) for m, part in enumerate(parts)]
        return maybe(self.k, names, total(parts), 0.6)


def _computed(around: Around, formula: Formula, f: Scalar) -> tuple[Expr, str]:
    """The value of a step and its text, with what its terms are."""
    s, k = around.s, around.k
    values: dict[str, Expr] = {"u": around.here}
    texts, more = {"u": around.u.name}, ""
    over = "the sum over the axes of " if s.rank > 1 else ""
    for key in formula.keys:
        if key in _TERMS:
            values[key], texts[key] = around.term(key), _TERMS[key][0]
            more += f", {_TERMS[key][0]} being {over}{_TERMS[key][1]}"
        elif key in _INPUTS:
            names, low, high, ways = _INPUTS[key]
            values[key] = given(s, names, f, low, high, many=names, forms=ways)
    if "share" in formula.keys:
        share = k.draw.value.constant(0.05, 0.9 / (2 * s.rank))
        values["share"] = literal(float(share), f)
        values["kept"] = literal(round(1.0 - 2 * s.rank * float(share), 6), f)
    values["count"] = literal(float(2 * s.rank), f)
    texts |= {key: say(k, value) for key, value in values.items() if key not in texts}
    return formula.of(k, values), f"{formula.said(texts)}{more}"


@idiom(depth=3)
def stencil(k: KernelBuilder, level: int) -> Title:
    """A finite difference over the neighbours of a grid point, at edges clamped or periodic."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=1, grid=1, cube=int(level >= 4))
    formula = shape.choice(_STENCILS)
    u = s.array(f"{_FIELDS} temperature", f, -1.0, 1.0)
    around = Around(s, u, "periodic" if shape.chance(0.4) else "clamped")
    around.look()
    value, text = _computed(around, formula, f)
    done = f"On the grid {u.name}, compute {text}. {_EDGES[around.edge]}"
    done += deliver(s, level, "out next_field updated", value, ways={"plain": 8, "mask": 1})
    return Title(k.name(formula.outs), done)


@idiom
def grid_step(k: KernelBuilder, level: int) -> Title:
    """One explicit step of an equation on a grid of one to three dimensions."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=2, grid=3) if level < 3 else launch(k, list=1, grid=4, cube=2)
    formula = shape.choice(_EQUATIONS[:3] if level == 1 else _EQUATIONS)
    u = s.array(_FIELDS, f, -1.0, 1.0)
    edge = shape.choice(("clamped", "periodic", "fixed")[: 3 if level < 4 else 2])
    around = Around(s, u, edge)
    out = s.out("u_next next_field updated", f)
    if edge == "fixed":
        with k.if_(around.on_border()):
            k.store(out, s.at, u[s.at])
            k.return_()
    around.look()
    if formula.name == "advection":
        value, text = _advected(around, level, f)
    else:
        value, text = _computed(around, formula, f)
    done = f"On the grid {u.name}, compute {text}. {_EDGES[edge]}"
    if level >= 3:
        value, more = _sourced(s, value)
        done += more
    if level >= 4 and shape.chance(0.15):
        value = held(k, "stepped new_value", value)
        kept = masked(s, out, value, around.here, condition(s), last=True)
        return Title(k.name(formula.outs), f"{done} {out.name} gets it{kept}.")
    k.store(out, s.at, value)
    return Title(k.name(formula.outs), f"{done} {out.name} gets it.")


def _advected(around: Around, level: int, f: Scalar) -> tuple[Expr, str]:
    """First-order upwind transport by a velocity along each axis."""
    s, k, here = around.s, around.k, around.here
    letters = ("vz", "vy", "vx")[-s.rank :]
    value: Expr = here
    start = f"{around.u.name} minus, for each axis, its Courant number"
    if level < 3 and k.draw.shape.chance(0.5):
        parts = {n: Part(f"c_{n} {n}", f, 0.1, 0.3) for n in letters}
        r = record(s, "Courant", parts, 0.3, shared=True)
        for n, (before, _) in zip(letters, around.sides, strict=True):
            value = value - r[n] * (here - before)
        names = ", ".join(r.say(n) for n in letters)
        return value, f"{start} ({names}, positive) times (here - previous)"
    speeds = [s.read(f"{n} c_{n}", f, -0.3, 0.3) for n in letters]
    upwind = routine(
        k,
        0.6 if level >= 3 else 0.0,
        "upwind upwind_term",
        dict.fromkeys(("v", "left", "mid", "right"), f),
        lambda b, v, left, mid, right: where(v > 0.0, v * (mid - left), v * (right - mid)),
    )
    for n, speed, (before, after) in zip(letters, speeds, around.sides, strict=True):
        v = k.let(f"{n}_here s{n}", speed)
        value = value - upwind(v, before, here, after)
    names = ", ".join(say(k, speed) for speed in speeds)
    return value, (
        f"{start} ({names}) times (here - previous) where that number is positive, else times "
        "(next - here)"
    )


def _sourced(s: Site, value: Expr) -> tuple[Expr, str]:
    """What some steps add: a source, a layer that absorbs."""
    k, f = s.k, scalar_of(value.type)
    form = k.draw.shape.weighted({"source": 2, "sponge": 1, "none": 5})
    if form == "none":
        return value, ""
    if form == "source":
        source = s.read("source forcing", f, -0.5, 0.5)
        dt = k.scalar("dt_source amplitude", f, 0.1, 0.5)
        return value + dt * source, f" Add {say(k, dt * source)}."
    sponge = given(s, "sponge absorber", f, 0.7, 1.0, forms=OWN)
    return value * sponge, f" Multiply by {say(k, sponge)}."
