"""Transfers between the grids of a multigrid method: restriction and prolongation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from generators.arithmetic.common import total
from generators.arithmetic.solvers.cells import spot
from generators.build import KernelBuilder, extent
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, most, where
from generators.kit.naming import maybe
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_AXES = {1: ("i",), 2: ("i j", "y x", "row col"), 3: ("i j k", "z y x")}
_LETTERS = "zyx"


class _Levels:
    """A coarse and a fine grid: cells (2n of n) or vertices (2n+1 of n, the rim left out)."""

    def __init__(self, k: KernelBuilder, level: int, fine_threads: bool) -> None:
        self.k = k
        shape = k.draw.shape
        self.rank = shape.weighted({1: 2, 2: 4, 3: 2 * (level > 2 or not fine_threads)})
        self.vertices = shape.chance(0.5) and not (fine_threads and self.rank == 3)
        self.type: Scalar = k.draw.wide_float_type()
        self.symbols = [f"n{_LETTERS[3 - self.rank + a]}" for a in range(self.rank)]
        if self.rank == 1:
            self.symbols = ["n"]
        for symbol in self.symbols:
            k.size(symbol, *{1: (16, 20), 2: (3, 4), 3: (3, 3)}[self.rank])
        self.fine_dims = [f"2*{s}+1" if self.vertices else f"2*{s}" for s in self.symbols]
        batched = self.rank < 3 and shape.chance(0.2 + 0.05 * level)
        batched |= fine_threads and self.vertices and self.rank == 2
        self.lead_dims = [k.size("batch", 2, 3)] if batched else []
        names = k.draw.word.choice(_AXES[self.rank]).split()
        dims = self.fine_dims if fine_threads else self.symbols
        at = k.thread(*self.lead_dims, *dims, names=["b"][: len(self.lead_dims)] + names)
        self.lead, self.at = at[: len(self.lead_dims)], at[len(self.lead_dims) :]

    def array(self, names: str, fine: bool, role: str = "in") -> Var:
        dims = [*self.lead_dims, *(self.fine_dims if fine else self.symbols)]
        if role == "out":
            return self.k.out(names, self.type, dims)
        return self.k.array(names, self.type, dims, role=role, low=-1.0, high=1.0)


def _product_sum(
    axes: list[list[tuple[float, Expr]]], read: Callable[[tuple[Expr, ...]], Expr]
) -> Expr:
    """The tensor product of one-dimensional weights, equal weights taken together."""
    points: list[tuple[float, tuple[Expr, ...]]] = [(1.0, ())]
    for axis in axes:
        points = [(w * v, (*at, i)) for w, at in points for v, i in axis]
    groups: dict[float, list[Expr]] = {}
    for weight, place in points:
        groups.setdefault(weight, []).append(read(place))
    parts = [
        weight * total(values) if weight != 1.0 else total(values)
        for weight, values in sorted(groups.items(), reverse=True)
    ]
    return total(parts)


def _fine_index(g: _Levels, fold: bool) -> list[list[Expr]]:
    """For each axis the indices of the fine points that a coarse one is made of."""
    k, found = g.k, []
    mark = k.draw.word.choice(("f", "fine_"))
    for here in g.at:
        first: Expr = 2 * here
        if fold:
            first = k.let([f"{mark}{here.name}"], first)
        count = 3 if g.vertices else 2
        found.append([first + n if n else first for n in range(count)])
    return found


def _half(g: _Levels, fine: Var, index: list[list[Expr]]) -> Expr:
    """Half the middle and the rest of its nearest neighbours."""
    middle = tuple(axis[1] for axis in index)
    beside = []
    for a, axis in enumerate(index):
        for near in (axis[0], axis[2]):
            beside.append(fine[spot(*g.lead, *middle[:a], near, *middle[a + 1 :])])
    share = 1.0 / (4 * g.rank)
    return 0.5 * fine[spot(*g.lead, *middle)] + share * total(beside)


@idiom
def multigrid_restrict(k: KernelBuilder, level: int) -> Title:
    """A fine residual or solution brought to the coarse grid: averaged, weighted or injected."""
    g = _Levels(k, level, fine_threads=False)
    shape = k.draw.shape
    fine = g.array("fine residual r_fine", fine=True)
    fold = shape.chance(0.6)
    ways = {"weighted": 4, "half": 2 * (g.rank == 2)} if g.vertices else {"mean": 1}
    way = shape.weighted({w: n for w, n in ways.items() if n})
    index = _fine_index(g, fold)
    value: Expr
    if way == "weighted":
        weights = [list(zip((0.25, 0.5, 0.25), axis, strict=True)) for axis in index]
        value = _product_sum(weights, lambda at: fine[spot(*g.lead, *at)])
        text = f"the points 2 * i, 2 * i + 1, 2 * i + 2 of {fine.name} along each axis with the "
        text += "weights 1/4, 1/2, 1/4 (full weighting)"
    elif way == "half":
        value = _half(g, fine, index)
        text = f"half the point of {fine.name} with the index 2 * i + 1 along each axis, and 1/8 "
        text += "of the sum of its 4 neighbours (half weighting)"
    else:
        value = _mean(g, fine, index)
        text = f"the mean of its {2**g.rank} cells of {fine.name}"
    told = f"Restriction to a coarse grid: each of its points takes {text}"
    out = g.array("coarse rhs_coarse r_coarse", fine=False, role="out")
    k.store(out, (*g.lead, *g.at), value)
    return Title(
        k.name("restrict_residual restrict_grid", "coarsen"),
        f"{told}. {out.name} gets it.{_row(g)}",
    )


def _mean(g: _Levels, fine: Var, index: list[list[Expr]]) -> Expr:
    """The mean of the cells: in one sum, or by loops over them."""
    k, count = g.k, 2**g.rank
    if g.rank > 1 and k.draw.shape.chance(0.4):
        summed = k.let("total acc", k.lift(0.0, g.type))
        with ExitStack() as loops:
            at = []
            for here in g.at:
                step = loops.enter_context(k.for_(f"d{here.name}", 2))
                at.append(2 * here + step)
            k.augment(summed, "add", fine[spot(*g.lead, *at)])
        around: Expr = summed
    else:
        weights = [[(1.0, i) for i in axis] for axis in index]
        around = k.let("total sum_fine", _product_sum(weights, lambda at: fine[spot(*g.lead, *at)]))
    return 0.5**g.rank * around if k.draw.shape.chance(0.5) else around / float(count)


def _row(g: _Levels) -> str:
    """Perhaps a thread for each row; the sentence that says so."""
    if not g.k.draw.shape.chance(0.3) or not g.k.can_run_rows():
        return ""
    g.k.along_row()
    return f" One thread goes along {g.at[-1].name}."


def _coarse_index(g: _Levels, coarse: Var) -> list[list[tuple[float, Expr]]]:
    """For each axis the coarse points that a fine one lies between, with their weights."""
    k, found = g.k, []
    known, parity, inline = (k.draw.shape.integer(0, 2) for _ in range(3))
    for axis, here in enumerate(g.at):
        name = here.name
        size: Expr = extent(coarse, len(g.lead) + axis)
        if known:
            size = k.size_param(f"coarse_n{name}", g.symbols[axis])
        if g.vertices:
            low = k.let(f"{name}_lo", most((here + 1) // 2 - 1, 0))
            high: Expr = least(here // 2, size - 1)
            high = k.let(f"{name}_hi", high) if inline else high
            found.append([(0.5, low), (0.5, high)])
            continue
        near = k.let(f"{name}_near", here // 2)
        step = (2 * (here % 2) - 1, 2 * (here & 1) - 1, where(here % 2 > 0, k.lift(1, INT32), -1))[
            parity
        ]
        step = maybe(k, f"step_{name}", step) if inline else step
        other = k.let(f"{name}_far", clamp(near + step, 0, size - 1))
        found.append([(0.75, near), (0.25, other)])
    return found


@idiom
def multigrid_prolong(k: KernelBuilder, level: int) -> Title:
    """A coarse correction interpolated on the fine grid, and often added to the solution there."""
    g = _Levels(k, level, fine_threads=True)
    shape = k.draw.shape
    coarse = g.array("coarse e_coarse correction", fine=False)
    place = (*g.lead, *g.at)
    if not g.vertices and shape.chance(0.25):
        value: Expr = coarse[spot(*g.lead, *(i // 2 for i in g.at))]
        text = f"the value of {coarse.name} in the coarse cell that holds it"
    else:
        index = _coarse_index(g, coarse)
        value = _product_sum(index, lambda at: coarse[spot(*g.lead, *at)])
        text = f"{coarse.name} interpolated linearly along each axis: "
        if g.vertices:
            text += "coarse point i lies on fine point 2 * i + 1, fine points between two take the "
            text += "mean, those beyond an end the coarse point there"
        else:
            text += "3/4 of the cell it lies in, 1/4 of the nearest other, at the ends the same"
    return _multigrid_prolong_stored(value, k, shape, g, text, place)


def _multigrid_prolong_stored(
    value: Expr, k: KernelBuilder, shape: Stream, g: _Levels, text: str, place: tuple[Var, ...]
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    value = k.let("e_fine interpolated err", value)
    if shape.chance(0.3):
        weight = k.scalar("damping omega", g.type, 0.6, 1.4)
        value, text = weight * value, f"{weight.name} times {text}"
    way = shape.weighted({"add": 4, "new": 2, "plain": 2})
    if way == "add":
        u = g.k.array(
            "u solution fine",
            g.type,
            [*g.lead_dims, *g.fine_dims],
            role="inout",
            low=-1.0,
            high=1.0,
        )
        k.store(u, place, value, "add")
        told = f"{u.name} is raised by it, in place."
    elif way == "new":
        u = g.array("u solution fine", fine=True)
        out = g.array("u_new corrected", fine=True, role="out")
        k.store(out, place, u[place] + value)
        told = f"{out.name} gets {u.name} plus it."
    else:
        out = g.array("fine prolonged u_fine", fine=True, role="out")
        k.store(out, place, value)
        told = f"{out.name} gets it."
    return Title(
        k.name("prolong_correction prolong_grid", "interpolate_coarse"),
        f"Prolongation: each fine point takes {text}. {told}{_row(g)}",
    )
