"""Seam carving: a row of the table of cheapest ways down an image."""

from __future__ import annotations

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


def _better(k: KernelBuilder, best: Var, found: Expr, mark: tuple[Var, Expr] | None) -> None:
    """Keep the smaller of two costs, and where it is from if that is asked for."""
    if mark is None and k.draw.shape.chance(0.5):
        k.assign(best, least(best, found))
        return
    value = k.let("other cand cost", found)
    with k.if_(value < best):
        k.assign(best, value)
        if mark is not None:
            k.assign(*mark)


def _image(k: KernelBuilder) -> tuple[tuple[Var, ...], tuple[str, ...], Var]:
    """A thread for each column of a row, of each image where there are several."""
    shape = k.draw.shape
    dims: tuple[str, ...] = (k.size("images", 3, 5),) if shape.chance(0.35) else ()
    k.size("cols", 10, 16, minimum=4)
    names = [k.name("b n image")] if dims else []
    at = k.thread(*dims, "cols", names=[*names, k.name("x col j")])
    return at[:-1], dims, at[-1]


def _energy(
    k: KernelBuilder,
    where: tuple[tuple[Var, ...], tuple[str, ...], Var],
    type_: Scalar,
    high: float,
) -> tuple[Expr, str]:
    """The cost of a thread's pixel: in an image, in a row of its own, or a difference of grays."""
    lead, dims, x = where
    way = k.draw.shape.choice(("image", "image", "row", "gray"))
    if way == "row":
        row_costs = k.array("energy_row pixel_cost", type_, (*dims, "cols"), low=0, high=high)
        return row_costs[lead + (x,)], row_costs.name
    k.size("rows", 6, 9, minimum=5)
    y = k.scalar("y line row_index", INT32, 1, 4)
    names = "gray luma" if way == "gray" else "energy pixel_cost"
    image = k.array(names, type_, (*dims, "rows", "cols"), low=0, high=high)
    if way == "image":
        return image[lead + (y, x)], f"{image.name} in row {y.name}"
    change = k.let("change contrast", fn("abs", image[lead + (y, x)] - image[lead + (y - 1, x)]))
    return change, f"|{image.name} in row {y.name} minus that in the row above|"


def _slant(k: KernelBuilder, level: int, type_: Scalar) -> Var | None:
    """What a step aside costs, if it costs anything."""
    if not k.draw.shape.chance(0.1 + 0.08 * level):
        return None
    bounds = (1, 4) if type_ == INT32 else (0.1, 0.6)
    return k.scalar("slant turn_cost", type_, *bounds)


@idiom
def seam_row(k: KernelBuilder, level: int) -> Title:
    """Seam carving: the cheapest way down to each pixel of a row (Avidan and Shamir, 2007)."""
    shape = k.draw.shape
    lead, dims, x = _image(k)
    type_ = INT32 if shape.chance(0.2) else k.draw.wide_float_type()
    high = 40 if type_ == INT32 else 2.0
    cost, said = _energy(k, (lead, dims, x), type_, high)
    above = k.array("cost_above prev_costs", type_, (*dims, "cols"), low=0, high=high)
    out = k.out("costs seam_costs", type_, (*dims, "cols"))
    moves = None
    if shape.chance(0.6):
        moves = k.out("moves from_offset", INT32, (*dims, "cols"))
    width: Expr = extent(above, len(dims))
    if shape.chance(0.5):
        width = k.size_param("width num_cols", "cols")
    best = k.let("best cheapest", above[lead + (x,)])
    move = k.let("move step_x", k.lift(0, INT32)) if moves is not None else None
    slant = _slant(k, level, type_)

    def side(offset: int) -> None:
        found = above[lead + (x + 1 if offset > 0 else x - 1,)]
        mark = None if move is None else (move, k.lift(offset, INT32))
        _better(k, best, found if slant is None else found + slant, mark)

    tests = [(-1, x > 0), (1, x + 1 < width if shape.chance(0.5) else x < width - 1)]
    for offset, inside in tests if shape.chance(0.6) else tests[::-1]:
        with k.if_(inside):
            side(offset)
    k.store(out, (*lead, x), best + cost)
    text = f"A row of seam carving: {out.name} gets {said} plus the "
    text += f"least {above.name} of the column and its neighbours"
    text += "." if slant is None else f", a neighbour's raised by {slant.name}."
    if moves is not None and move is not None:
        k.store(moves, (*lead, x), move)
        text += f" {moves.name} gets the offset of the column it is from, -1, 0 or 1."
    return Title(k.name("seam_row seam_cost_row carve_row"), text)
