"""Time steps of partial differential equations on grids: waves, transport, heat, reaction."""

from __future__ import annotations

from generators.arithmetic.parts import (
    Grid,
    coefficient,
    condition,
    grid,
    local,
    named,
    parameters,
    total,
)
from generators.build import BodyBuilder, KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var


class Stencil:
    """The two neighbours of a point along each axis."""

    def __init__(self, k: KernelBuilder, u: Var, g: Grid, edge: str) -> None:
        self.k, self.u, self.g, self.edge = k, u, g, edge
        self.by_shape = k.draw.shape.chance(0.35)
        self.counts = [self._count(axis) for axis in range(g.ndim)]

    def _count(self, axis: int) -> Expr:
        at = self.g.at[axis]
        if self.by_shape:
            return extent(self.u, axis)
        return self.k.size_param(f"n{at.name} num_{at.name}", self.g.sizes[axis])

    def on_border(self) -> Expr:
        tests: list[Expr] = []
        for at, count in zip(self.g.at, self.counts, strict=True):
            tests += [fn("eq", at, 0), fn("eq", at, count - 1)]
        border = tests[0]
        for test in tests[1:]:
            border = fn("or", border, test)
        return border

    def sides(self) -> list[tuple[Expr, Expr]]:
        k, found = self.k, []
        for axis, (at, count) in enumerate(zip(self.g.at, self.counts, strict=True)):
            before: Expr = at - 1
            after: Expr = at + 1
            if self.edge == "clamped":
                before, after = fn("max", before, 0), fn("min", after, count - 1)
            elif self.edge == "periodic":
                before, after = (before + count) % count, after % count
            low = k.let(f"{at.name}m {at.name}_prev", before)
            high = k.let(f"{at.name}p {at.name}_next", after)
            places = [self.g.at[:axis] + (i,) + self.g.at[axis + 1 :] for i in (low, high)]
            found.append(
                (
                    named(k, f"lo_{at.name} {at.name}_below", self.u[places[0]], 0.3),
                    named(k, f"hi_{at.name} {at.name}_above", self.u[places[1]], 0.3),
                )
            )
        return found


def laplacian(k: KernelBuilder, here: Expr, sides: list[tuple[Expr, Expr]]) -> Expr:
    around = total([a + b for a, b in sides])
    form = k.draw.shape.choice(("sum", "axes"))
    if form == "sum":
        return k.let("lap laplacian", around - float(2 * len(sides)) * here)
    parts = [a - 2.0 * here + b for a, b in sides]
    if len(parts) == 1:
        return k.let("lap laplacian", parts[0])
    parts = [k.let(f"d2{m} curv{m}", p) for m, p in enumerate(parts)]  # type: ignore[misc]
    return named(k, "lap laplacian", total(parts), 0.6)


_EQUATIONS = {
    "wave": ("wave_step", "leapfrog_wave", "membrane_step"),
    "advection": ("advect_upwind", "upwind_transport", "advection_step"),
    "heat": ("variable_heat_step", "conduct_heat", "diffuse_anisotropic"),
    "fisher": ("fisher_step", "population_front", "logistic_diffusion"),
    "sor": ("jacobi_poisson", "relax_poisson", "weighted_jacobi"),
    "burgers": ("burgers_step", "viscous_burgers"),
}


@idiom
def grid_step(k: KernelBuilder, level: int) -> Title:
    """One explicit step of an equation on a grid of one to three dimensions."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    g = grid(k, {1: 2, 2: 3} if level < 3 else {1: 1, 2: 4, 3: 2})
    known = ("wave", "advection", "sor") if level == 1 else tuple(sorted(_EQUATIONS))
    form = shape.choice(known)
    u = k.array("u field phi height", type_, g.sizes, low=-1.0, high=1.0)
    edge = shape.choice(("clamped", "periodic", "fixed") if level < 4 else ("clamped", "periodic"))
    stencil = Stencil(k, u, g, edge)
    out = k.out("u_next next_field updated", type_, g.sizes)
    if edge == "fixed":
        with k.if_(stencil.on_border()):
            k.store(out, g.at, u[g.at])
            k.return_()
    here = k.let("here c uc", u[g.at])
    sides = stencil.sides()
    value, text = _rate(k, level, form, here, sides, u, g, type_)
    done = f"On the grid {u.name}, {out.name} = {text}."
    done += {
        "clamped": " Neighbour indices are clamped to the grid.",
        "periodic": " The grid is periodic along every axis.",
        "fixed": " Border points keep their values.",
    }[edge]
    if level >= 3:
        value, more = _sourced(k, level, value, here, g, type_)
        done += more
    if level >= 4:
        value = local(k, "stepped new_value", value)
        done += _diagnosed(k, level, value, here, sides, g, type_)
    if level == 5 or (level == 4 and shape.chance(0.5)):
        test = condition(k, g)
        value = local(k, "stepped new_value", value)
        with k.if_(test.value):
            k.store(out, g.at, value)
        with k.else_():
            k.store(out, g.at, here)
        done += f" Only where {test.text}; elsewhere {u.name} is kept."
    else:
        k.store(out, g.at, value)
    return Title(k.name(*_EQUATIONS[form]), done)


_LAP = "L (the sum over the axes of previous + next - 2 * here)"


def _rate(
    k: KernelBuilder,
    level: int,
    form: str,
    here: Expr,
    sides: list[tuple[Expr, Expr]],
    u: Var,
    g: Grid,
    type_: Scalar,
) -> tuple[Expr, str]:
    kinds = "sc" if level == 1 else "seac" if g.ndim > 1 else "sec"
    if form == "advection":
        return _advected(k, level, here, sides, u, g, type_)
    if form == "burgers":
        return _burgers(k, level, here, sides, u, g, type_)
    lap = laplacian(k, here, sides)
    if form == "wave":
        old = k.array("u_old previous u_prev", type_, g.sizes, low=-1.0, high=1.0)
        c2 = coefficient(k, "c2 courant_sq r2", type_, 0.1, 0.3, g, kinds)
        text = f"2 * {u.name} - {old.name} + {c2.text} * {_LAP}"
        value: Expr = 2.0 * here - old[g.at] + c2.value * lap
        if level >= 2 and k.draw.shape.chance(0.5):
            damp = k.scalar("damping gamma", type_, 0.02, 0.3)
            value = value - damp * (here - old[g.at])
            text += f" - {damp.name} * ({u.name} - {old.name})"
        return value, text
    if form == "sor":
        rhs = k.array("rhs f source", type_, g.sizes, low=-1.0, high=1.0)
        omega = coefficient(k, "omega relax", type_, 0.5, 0.95, g, kinds)
        count = float(2 * len(sides))
        text = f"{u.name} + {omega.text} * ({_LAP} - {rhs.name}) / {count}"
        return here + omega.value * (lap - rhs[g.at]) / count, text
    kappa = coefficient(k, "kappa diffusivity alpha", type_, 0.05, 0.15, g, kinds)
    text = f"{u.name} + {kappa.text} * {_LAP}"
    value = here + kappa.value * lap
    if form == "fisher":
        rate = coefficient(k, "growth r", type_, 0.1, 0.6, g, "sc")
        return value + rate.value * here * (1.0 - here), (
            f"{text} + {rate.text} * {u.name} * (1 - {u.name})"
        )
    cool = k.scalar("ambient t_env", type_, -0.5, 0.5)
    loss = k.scalar("loss cooling", type_, 0.05, 0.2)
    text += f" - {loss.name} * ({u.name} - {cool.name})"
    return value - loss * (here - cool), text


def _advected(
    k: KernelBuilder,
    level: int,
    here: Expr,
    sides: list[tuple[Expr, Expr]],
    u: Var,
    g: Grid,
    type_: Scalar,
) -> tuple[Expr, str]:
    """First-order upwind transport by a velocity along each axis."""
    uniform = k.draw.shape.chance(0.5)
    letters = ("vz", "vy", "vx")[-g.ndim :]
    if uniform and level < 3:
        found = parameters(k, [((f"c_{n}", n), type_, 0.1, 0.3) for n in letters], "Courant", 0.3)
        value = here
        for c, (before, _) in zip(found, sides, strict=True):
            value = value - c.value * (here - before)
        names = ", ".join(f.text for f in found)
        return value, (
            f"{u.name} minus, for each axis, its Courant number ({names}, positive) times "
            "(here - previous)"
        )
    fields = [k.array((n, f"c_{n}"), type_, g.sizes, low=-0.3, high=0.3) for n in letters]
    call = ""
    if level >= 3 and k.draw.shape.chance(0.6):

        def build(b: BodyBuilder, v: Expr, left: Expr, mid: Expr, right: Expr) -> Expr:
            return fn("where", v > 0.0, v * (mid - left), v * (right - mid))

        params = [(n, type_) for n in ("v", "left", "mid", "right")]
        call = helper(k, "upwind upwind_term", params, build)
    value = here
    for array, (before, after) in zip(fields, sides, strict=True):
        v = named(k, f"{array.name}_here s{array.name}", array[g.at], 0.8)
        if call:
            value = value - k.call(call, v, before, here, after)
        else:
            gap = fn("where", v > 0.0, here - before, after - here)
            value = value - v * gap
    names = ", ".join(f.name for f in fields)
    return value, (
        f"{u.name} minus, for each axis, its Courant number ({names}) times (here - previous) "
        "where that is positive, else times (next - here)"
    )


def _burgers(
    k: KernelBuilder,
    level: int,
    here: Expr,
    sides: list[tuple[Expr, Expr]],
    u: Var,
    g: Grid,
    type_: Scalar,
) -> tuple[Expr, str]:
    lap = laplacian(k, here, sides)
    dt, nu = parameters(
        k,
        [("dt step_size", type_, 0.05, 0.2), ("nu viscosity", type_, 0.2, 0.6)],
        "Flow Settings",
        0.2 + 0.08 * level,
    )
    slope = k.let("slope grad", total([0.5 * (b - a) for a, b in sides]))
    text = (
        f"{u.name} + {dt.text} * ({nu.text} * {_LAP} - {u.name} * G), G the sum over the axes of "
    )
    return here + dt.value * (nu.value * lap - here * slope), f"{text}of (next - previous) / 2"


def _sourced(
    k: KernelBuilder, level: int, value: Expr, here: Expr, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("source", "sponge", "limit", "none"))
    if form == "none":
        return value, ""
    if form == "source":
        source = k.array("source forcing", type_, g.sizes, low=-0.5, high=0.5)
        dt = k.scalar("dt_source amplitude", type_, 0.1, 0.5)
        return value + dt * source[g.at], f" Add {dt.name} * {source.name}."
    if form == "sponge":
        sponge = coefficient(k, "sponge absorb", type_, 0.7, 1.0, g, "ea")
        return value * sponge.value, f" Multiply by {sponge.text}."
    bound = k.scalar("bound u_max", type_, 0.4, 0.7)
    return fn("clamp", value, -bound, bound), f" Clamp to [-{bound.name}, {bound.name}]."


def _diagnosed(
    k: KernelBuilder,
    level: int,
    value: Expr,
    here: Expr,
    sides: list[tuple[Expr, Expr]],
    g: Grid,
    type_: Scalar,
) -> str:
    form = k.draw.shape.choice(("change", "norm", "steepness"))
    out = k.out(
        {
            "change": ("change", "residual"),
            "norm": ("local_norm", "h1_density"),
            "steepness": ("steepness", "grad_sq"),
        }[form],
        type_,
        g.sizes,
    )
    done = ""
    if form == "change":
        size: Expr = fn("abs", value - here)
        text = "the absolute change"
    else:
        slopes = [k.let(f"g{m} grad{m}", 0.5 * (b - a)) for m, (a, b) in enumerate(sides)]
        size = total([s * s for s in slopes])
        text = "the sum over the axes of ((next - previous) / 2)^2"
        if form == "norm":
            size, text = size + value * value, f"{text}, plus the square of the new value"
    if level == 5:
        peak = k.array("peak max_so_far", type_, g.sizes, low=0.0, high=0.8)
        size, text = fn("max", size, peak[g.at]), f"the larger of {peak.name} and {text}"
    k.store(out, g.at, size)
    return f"{done} {out.name} gets {text}."
