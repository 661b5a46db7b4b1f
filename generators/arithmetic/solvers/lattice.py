"""Lattice Boltzmann on the D2Q9 lattice: collision and streaming."""

from __future__ import annotations

from generators.arithmetic.common import total
from generators.arithmetic.solvers.cells import Cells, Field, wide_type
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.words import say
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Operand, Var, op

_D2Q9 = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))


"""Steps (x, y) of the nine directions; 1 to 4 lie along the axes, 5 to 8 on diagonals."""


_OPPOSITE = (0, 3, 4, 1, 2, 7, 8, 5, 6)


class _Lattice:
    """Populations of a cell: directions first or last in one array."""

    def __init__(self, k: KernelBuilder, level: int, edge: str) -> None:
        self.k, shape = k, k.draw.shape
        self.c = Cells(k, 2, edge)
        self.type = wide_type(k)
        self.first = shape.chance(0.55)

    def array(self, names: str, role: str = "in") -> Field:
        c = self.c
        dims = ("9", *c.dims) if self.first else (*c.dims, "9")
        low, high = (None, None) if role == "out" else (0.05, 0.2)
        array = self.k.array(names, self.type, dims, role=role, low=low, high=high)
        return Field(c, array, wide=False)

    def at(self, f: Field, q: Operand, place: tuple[Operand, ...] | None = None) -> Expr:
        return f.array[self.place(q, place)]

    def place(self, q: Operand, place: tuple[Operand, ...] | None = None) -> tuple[Operand, ...]:
        here = self.c.at if place is None else place
        return (q, *here) if self.first else (*here, q)

    def said(self) -> str:
        order = "first" if self.first else "last"
        return (
            f"the nine directions are the {order} index: 0 at rest, 1 to 4 right, up, left, down, "
            "5 to 8 the "
            "diagonals from the upper right on, counterclockwise; up is the next row"
        )


@idiom
def lattice_boltzmann_collide(k: KernelBuilder, level: int) -> Title:
    """BGK collision on the D2Q9 lattice: moments, equilibrium, relaxation.

    Y. H. Qian, D. d'Humieres and P. Lallemand, Europhys. Lett. 17 (1992).
    """
    shape = k.draw.shape
    g = _Lattice(k, level, "clamp")
    c, type_ = g.c, g.type
    in_place = shape.chance(0.5)
    f = g.array("f populations dist", "inout" if in_place else "in")
    omega = c.setting("omega relax_rate", type_, 0.6, 1.7, {"shared": 4, "each": 2, "literal": 1})
    force = (
        k.scalar("accel body_accel", Vec(2, type_), -0.01, 0.01)
        if shape.chance(0.15 * level)
        else None
    )
    solid = c.field("solid is_wall", INT32, 0, 1) if level > 1 and shape.chance(0.4) else None
    out = f if in_place else g.array("f_post f_out post_collision", "out")
    if solid is not None:
        with k.if_(op("ne", solid(), k.lift(0, INT32))):
            if not in_place:
                for q in range(9):
                    k.store(out.array, g.place(q), g.at(f, q))
            k.return_()
    _relax(g, level, f, out, omega, force)
    text = f"BGK collision of the populations {f.name} on the D2Q9 lattice, where {g.said()}: "
    text += f"relax each with {say(k, omega)} towards its equilibrium (second order, weights 4/9, "
    text += "1/9, 1/36)"
    if force is not None:
        text += f", at the velocity plus {force.name} / {say(k, omega)}"
    text += f". Cells whose {solid.name} is not 0 stay as they are." if solid is not None else "."
    text += " It works in place." if in_place else f" {out.name} gets the result."
    return Title(k.name("lbm_collide bgk_collision", "collide_d2q9"), text)


def _relax(g: _Lattice, level: int, f: Field, out: Field, omega: Expr, force: Var | None) -> None:
    """Moments, equilibrium and relaxation of the populations of a cell."""
    k, shape, type_ = g.k, g.k.draw.shape, g.type
    values = [k.let(f"f{q}", g.at(f, q)) for q in range(9)]
    rho = k.let("rho density", total(values))
    blended = shape.chance(0.4)
    kept = k.let("keep one_minus_omega", 1.0 - omega) if blended else None
    per_rho = k.let("inv_rho", 1.0 / rho) if shape.chance(0.5) else None
    flow = []
    for plus, minus in (((1, 5, 8), (3, 6, 7)), ((2, 5, 6), (4, 7, 8))):
        momentum = total([values[q] for q in plus]) - total([values[q] for q in minus])
        flow.append(momentum / rho if per_rho is None else momentum * per_rho)
    ux, uy = k.let("ux", flow[0]), k.let("uy", flow[1])
    if force is not None:
        ux, uy = k.let("ux_f vx", ux + force[0] / omega), k.let("uy_f vy", uy + force[1] / omega)
    still = k.let("base", 1.0 - 1.5 * (ux * ux + uy * uy))
    params = {"weight": type_, "rho": type_, "cu": type_, "base": type_}
    equilibrium = routine(
        k, 0.4 + 0.5 * BY_LEVEL[level], "equilibrium feq_of", params,
        lambda b, w, r, cu, base: w * r * (base + 3.0 * cu + 4.5 * cu * cu),
    )  # fmt: skip
    for q, (x, y) in enumerate(_D2Q9):
        above, below = (4, 9) if q == 0 else (1, 9) if q < 5 else (1, 36)
        weight = k.lift(float(above), type_) / float(below)
        along = _along(x, y, ux, uy)
        if along is None:
            feq: Expr = weight * rho * still
        else:
            named = along if q < 3 else k.let(f"cu{q}", along)
            feq = equilibrium(weight, rho, named, still)
        new = values[q] + omega * (feq - values[q])
        if kept is not None:
            new = kept * values[q] + omega * feq
        k.store(out.array, g.place(q), new)


def _along(x: int, y: int, ux: Expr, uy: Expr) -> Expr | None:
    """A direction's component of the velocity."""
    if not x and not y:
        return None
    if not y:
        return ux if x > 0 else -ux
    if not x:
        return uy if y > 0 else -uy
    if x > 0:
        return ux + uy if y > 0 else ux - uy
    return uy - ux if y > 0 else -ux - uy


@idiom
def lattice_boltzmann_stream(k: KernelBuilder, level: int) -> Title:
    """Populations pulled from the cells that they come from, turned back at walls."""
    shape = k.draw.shape
    g = _Lattice(k, level, shape.choice(("wrap", "clamp", "wrap")))
    c = g.c
    f = g.array("f f_post populations")
    way = shape.choice(("none", "solid", "solid"))
    solid = c.field("solid is_wall", INT32, 0, 1) if way != "none" else None
    table = shape.chance(0.4)
    out = g.array("f_new f_next streamed", "out")
    directions = ""
    if table:
        directions = _stream_loop(g, f, out, solid)
    else:
        for q, (x, y) in enumerate(_D2Q9):
            _pull(g, f, out, q, c.moved(0, -y), c.moved(1, -x), solid)
    text = f"Streaming on the D2Q9 lattice: each population of {f.name} comes from the cell that "
    text += f"its direction points away from{directions}; {g.said()}."
    if solid is not None:
        text += (
            f" Where that cell's {solid.name} is not 0, the cell's own population of the opposite "
        )
        text += "direction comes back (half-way bounce-back)"
        text += "."
    return Title(
        k.name("lbm_stream stream_pull", "propagate_d2q9"),
        f"{text} {out.name} gets them.{c.said()}",
    )


def _pull(
    g: _Lattice,
    f: Field,
    out: Field,
    q: int,
    y: Expr,
    x: Expr,
    solid: Field | None,
) -> None:
    k = g.k
    pulled = g.at(f, q, (y, x))
    if solid is None or q == 0:
        k.store(out.array, g.place(q), pulled)
        return
    back = g.at(f, _OPPOSITE[q])
    with k.if_(op("ne", solid.array[(y, x)], k.lift(0, INT32))):
        k.store(out.array, g.place(q), back)
    with k.else_():
        k.store(out.array, g.place(q), pulled)


def _stream_loop(g: _Lattice, f: Field, out: Field, solid: Field | None) -> str:
    """The same as a loop over tables of the directions, which are named."""
    k, c = g.k, g.c
    steps = [k.array(f"c{a} e{a}", INT32, "9", low=-1, high=1) for a in "xy"]
    opposite = k.array("opposite opp", INT32, "9", low=0, high=8) if solid is not None else None
    ny, nx = c.size(0), c.size(1)
    with k.for_("q d", 9) as q:
        sources = []
        for here, size, step in zip(c.at, (ny, nx), (steps[1], steps[0]), strict=True):
            name = f"src_{here.name}"  # type: ignore[attr-defined]
            if c.edge == "wrap":
                sources.append(k.let(name, (here - step[q] + size) % size))
            else:
                sources.append(k.let(name, fn("clamp", here - step[q], 0, size - 1)))
        pulled = g.at(f, q, tuple(sources))
        if solid is None or opposite is None:
            k.store(out.array, g.place(q), pulled)
        else:
            with k.if_(op("ne", solid.array[tuple(sources)], k.lift(0, INT32))):
                back = g.at(f, opposite[q])
                k.store(out.array, g.place(q), back)
            with k.else_():
                k.store(out.array, g.place(q), pulled)
    named = f", the directions being ({steps[0].name}, {steps[1].name})"
    return named + ("" if opposite is None else f" and {opposite.name} the opposite of each")
