"""Implicit steps of diffusion along lines: Crank-Nicolson and ADI."""

from __future__ import annotations

from collections.abc import Callable

from generators.arithmetic.solvers.tridiagonal import Batch, batch_of
from generators.build import KernelBuilder, extent
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, where
from generators.kit.naming import maybe
from generators.program.dtypes import INT32
from generators.program.expr import Const, Expr, Var


def _explicit(b: Batch, before: Expr, here: Expr, after: Expr, r: Expr) -> Expr:
    """A value after an explicit step of diffusion, written in one way in the whole kernel."""
    if b.layout == "interleaved":
        return here + r * (before - 2.0 * here + after)
    return (1.0 - 2.0 * r) * here + r * (before + after)


def _solve_line(
    b: Batch, u: Var, r: Expr, source: Callable[[Var | Expr], Expr], count: Expr
) -> tuple[Var, Var]:
    """(1 + 2r) x[i] - r x[i-1] - r x[i+1] = source, with zeros beyond the ends, where each line
    has its own r, and so its own elimination."""
    k = b.k
    scratch = b.out("c_star upper_scratch c_prime")
    x = b.out(f"{u.name}_new {u.name}_next")
    main: Expr = 1.0 + 2.0 * r
    if k.draw.shape.chance(0.5):
        main = k.let("main diag", main)
    k.store(scratch, b.place(0), r / main)
    k.store(x, b.place(0), source(k.lift(0, INT32)) / main)
    with k.for_("i n", count, start=1) as i:
        pivot = k.let("pivot denom", main - r * scratch[b.place(i - 1)])
        k.store(scratch, b.place(i), r / pivot)
        k.store(x, b.place(i), (source(i) + r * x[b.place(i - 1)]) / pivot)
    with k.for_("back q", count, start=1) as n:
        i = k.let("at", count - 1 - n)
        k.store(x, b.place(i), scratch[b.place(i)] * x[b.place(i + 1)], "add")
    return scratch, x


def _solve_alike(
    b: Batch, u: Var, r: Expr, source: Callable[[Var | Expr], Expr], count: Expr
) -> tuple[Var, Var]:
    """The same where all lines have one r: one over the pivots comes from a table."""
    k = b.k
    inverse = k.array("inv_pivot inv_denom", b.type, b.unknowns, low=0.3, high=0.7)
    x = b.out(f"{u.name}_new {u.name}_next")
    carried = k.draw.shape.chance(0.5)
    first = source(k.lift(0, INT32)) * inverse[0]
    if carried:
        value = k.let("value carried", first)
        k.store(x, b.place(0), value)
    else:
        k.store(x, b.place(0), first)
    with k.for_("i n", count, start=1) as i:
        before = value if carried else x[b.place(i - 1)]
        solved = (source(i) + r * before) * inverse[i]
        if carried:
            k.assign(value, solved)
        k.store(x, b.place(i), value if carried else solved)
    with k.for_("back q", count, start=1) as n:
        i = k.let("at", count - 1 - n)
        if carried:
            k.assign(value, x[b.place(i)] + r * inverse[i] * value)
            k.store(x, b.place(i), value)
        else:
            k.store(x, b.place(i), r * inverse[i] * x[b.place(i + 1)], "add")
    return inverse, x


@idiom
def crank_nicolson_rods(k: KernelBuilder, level: int) -> Title:
    """Diffusion along many rods by one Crank-Nicolson (or theta) step, a thread for each rod."""
    shape = k.draw.shape
    b = batch_of(k, level, 2)
    u = b.array("u temperature field", -1.0, 1.0)
    count = extent(u, b.axis) if shape.chance(0.5) else k.size_param("m num_nodes length", "m")
    way = shape.weighted({"half": 4, "theta": 2 * (level > 1), "implicit": 1})
    each = shape.chance(0.2 + 0.1 * level)
    if each:
        rates = k.array("rates fourier_numbers r_values", b.type, b.batch, low=0.2, high=2.0)
        r: Expr = k.let("r rate", rates[b.at])
    else:
        r = k.scalar("r fourier rate", b.type, 0.2, 2.0)
    name = rates.name if each else r.name  # type: ignore[attr-defined]
    theta = k.scalar("theta implicitness", b.type, 0.5, 0.9) if way == "theta" else None
    forced = level > 1 and shape.chance(0.4)
    heat = b.array("heat source forcing", -0.5, 0.5) if forced else None
    if theta is not None:
        ahead: Expr = k.let("r_new r_impl", theta * r)
        behind: Expr = k.let("r_old r_expl", (1.0 - theta) * r)
    else:
        ahead = k.let("half_r r_half", 0.5 * r) if way == "half" else r
        behind = ahead

    def source(i: Expr) -> Expr:
        here: Expr = u[b.place(i)]
        if isinstance(i, Const) and way != "implicit":
            second = u[b.place(1)]
            if b.layout == "interleaved":
                here = here + behind * (second - 2.0 * here)
            else:
                here = (1.0 - 2.0 * behind) * here + behind * second
        elif way != "implicit":
            after = where(i < count - 1, u[b.place(least(i + 1, count - 1))], 0.0)
            after = maybe(k, "after u_next right", after)
            here = _explicit(b, u[b.place(i - 1)], here, after, behind)
        return here if heat is None else here + heat[b.place(i)]

    table, x = (_solve_line if each else _solve_alike)(b, u, ahead, source, count)
    return _crank_nicolson_rods_title(way, name, u, theta, heat, b, x, table, k, each)


def _crank_nicolson_rods_title(
    way: str,
    name: str,
    u: Var,
    theta: Var | None,
    heat: Var | None,
    b: Batch,
    x: Var,
    table: Var,
    k: KernelBuilder,
    each: bool,
) -> Title:
    """What the kernel is called, and what it does in words."""
    told = {"half": "Crank-Nicolson", "theta": "theta", "implicit": "implicit Euler"}[way]
    text = f"One {told} step of diffusion along each rod of {u.name}, where {name} is dt * D / dx^2"
    text += " of the rod" if each else ""
    text += f" and {theta.name} the share of the new time" if theta is not None else ""
    text += f"; {heat.name} is added to the right-hand side" if heat is not None else ""
    where_ = b.said().replace("system", "rod").replace("unknown", "place on it")
    text += f". Beyond the ends of a rod is 0; {where_}. The Thomas algorithm solves the "
    text += f"tridiagonal system. {x.name} gets the solution"
    if each:
        text += f", {table.name} the eliminated upper band."
    else:
        text += f"; {table.name} holds, by the place, one over the pivots of its elimination, "
        text += "which is the same for all rods."
    called = {"half": "crank_nicolson_step", "theta": "theta_step", "implicit": "backward_euler"}
    return Title(k.name(f"{called[way]} implicit_diffusion", "diffuse_rods"), text)


_ADI_EDGES = {
    "zero": "Beyond all four sides of the plane is 0",
    "insulated": "Nothing flows through the sides of the plane: indices across the lines are "
    "clamped, and the diagonal at both ends of a line is 1 + {r}",
    "channel": "The plane is a channel, periodic across the lines and 0 beyond their ends",
}
"""What is said of the sides of a plane."""


@idiom
def adi_sweep(k: KernelBuilder, level: int) -> Title:
    """A half step of ADI: explicit across the lines of a plane, implicit along each."""
    shape = k.draw.shape
    layout = shape.choice(("interleaved", "contiguous"))
    rows, cols = k.draw.word.choice((("ny", "nx"), ("height", "width")))
    along, across = (rows, cols) if layout == "interleaved" else (cols, rows)
    k.size(across, 8, 12)
    k.size(along, 6, 9, minimum=2)
    type_ = k.draw.wide_float_type()
    several = level > 1 and shape.chance(0.4)
    if several:
        k.size("batch", 2, 3)
    batch = ("batch", across) if several else (across,)
    at = k.thread(*batch, names=("b", "j") if several else (k.name("j line"),))
    b = Batch(k, type_, layout, at, batch, along, len(batch) - 1)
    u = b.array("u temperature phi", -1.0, 1.0)
    if shape.chance(0.5):
        lines: Expr = extent(u, b.axis - 1 if layout == "contiguous" else len(batch))
        count: Expr = extent(u, b.axis)
    else:
        lines, count = (k.size_param(s, s) for s in (across, along))
    two = level > 1 and shape.chance(0.6)
    rx = k.scalar("r_along" if two else "r fourier", type_, 0.2, 1.5)
    ry = k.scalar("r_across", type_, 0.1, 0.5) if two else rx
    reaction = (
        k.scalar("decay sink", type_, 0.05, 0.3) if shape.chance(0.1 + 0.08 * level) else None
    )
    forced = shape.chance(0.1 + 0.1 * level)
    heat = b.array("heat source forcing", -0.5, 0.5) if forced else None
    edge = shape.weighted({"zero": 3, "insulated": 4, "channel": 1})
    beside = _across(b, u, lines, edge)
    return _adi_sweep_stored(k, beside, ry, reaction, u, heat, b, rx, count, edge)


def _across(b: Batch, u: Var, lines: Expr, edge: str) -> Callable[[Expr], tuple[Expr, Expr]]:
    """The values on the lines before and after a thread's own, by the place on the line."""
    k, line = b.k, b.at[-1]
    before, behind = k.draw.word.choice((("line_prev", "line_next"), ("above", "below")))
    low: Expr = line
    high: Expr = line
    if edge == "channel":
        low = k.let(before, (line + lines - 1) % lines)
        high = k.let(behind, (line + 1) % lines)
    elif edge == "insulated":
        low = k.let(before, most(line - 1, 0))
        high = k.let(behind, least(line + 1, lines - 1))

    def at_line(other: Expr, i: Expr) -> Expr:
        return u[tuple(other if part is line else part for part in b.place(i))]

    def beside(i: Expr) -> tuple[Expr, Expr]:
        if edge != "zero":
            return at_line(low, i), at_line(high, i)
        first = where(line > 0, at_line(most(line - 1, 0), i), 0.0)
        last = where(line < lines - 1, at_line(least(line + 1, lines - 1), i), 0.0)
        if isinstance(i, Const):
            return first, last
        return k.let(f"u_{before}", first), k.let(f"u_{behind}", last)

    return beside


def _adi_sweep_stored(
    k: KernelBuilder,
    beside: Callable[[Expr], tuple[Expr, Expr]],
    ry: Var,
    reaction: Var | None,
    u: Var,
    heat: Var | None,
    b: Batch,
    rx: Var,
    count: Expr,
    edge: str,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""

    def source(i: Expr) -> Expr:
        before, after = beside(i)
        here = _explicit(b, before, u[b.place(i)], after, ry)
        if reaction is not None:
            here = here - reaction * u[b.place(i)]
        return here if heat is None else here + heat[b.place(i)]

    inverse, x = _solve_alike(b, u, rx, source, count)
    text = "A half step of the alternating-direction implicit method for diffusion, implicit along "
    text += (
        f"each line: the right-hand side is {u.name} plus {ry.name} times its second difference "
    )
    text += "across the lines"
    text += f", less {reaction.name} times {u.name}" if reaction is not None else ""
    text += f", plus {heat.name}" if heat is not None else ""
    text += f"; the matrix has 1 + 2 * {rx.name} on its diagonal and -{rx.name} beside it. "
    text += _ADI_EDGES[edge].format(r=rx.name)
    last, first = ("line", "place on it") if b.layout == "interleaved" else ("place on it", "line")
    text += f"; the {first} is the {'second' if len(b.batch) > 1 else 'first'} index, the {last} "
    text += f"the last. The Thomas algorithm solves it: {x.name} gets the solution; {inverse.name} "
    text += (
        "holds, by the place, one over the pivots of the elimination, which is the same for all "
    )
    text += "lines."
    return Title(k.name("adi_sweep adi_half_step", "peaceman_rachford"), text)
