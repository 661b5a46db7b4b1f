"""Cells of a grid: where a thread stands, what lies beside it, and beyond the edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generators.build import KernelBuilder, extent
from generators.build.draw import Stream
from generators.kit.functions import least, most, where
from generators.kit.sites import Names, Site, over
from generators.kit.sources import given
from generators.kit.words import words
from generators.program.dtypes import Scalar, Type
from generators.program.expr import Expr, Operand, Var, op

_SIZES: dict[int, tuple[str, ...]] = {
    1: ("n", "num_cells", "nx"),
    2: ("ny nx", "rows cols", "height width"),
    3: ("nz ny nx",),
}
_INDICES: dict[int, tuple[str, ...]] = {
    1: ("i", "cell", "x"),
    2: ("i j", "y x", "row col", "r c"),
    3: ("i j k", "z y x", "iz iy ix"),
}
_COUNTS = {"rows": "num_rows", "cols": "num_cols", "n": "n num_cells"}
"""What the length of an axis is called as a parameter, where not as the size."""
_RANGES = {1: (40, 64), 2: (8, 11), 3: (6, 7)}
_SAID = {
    "clamp": "Indices beyond the grid are clamped to it.",
    "wrap": "The grid is periodic.",
    "reflect": "Indices beyond an end are mirrored at the end cell.",
}
EDGES = {"clamp": 3, "wrap": 3, "interior": 3, "halo": 2, "reflect": 1}
"""How often a grid ends in each way."""


def some(*tests: Expr) -> Expr:
    """Whether one of these holds."""
    first, *rest = tests
    return some(op("or", first, rest[0]), *rest[1:]) if rest else first


def every(*tests: Expr) -> Expr:
    """Whether all of these hold."""
    first, *rest = tests
    return every(op("and", first, rest[0]), *rest[1:]) if rest else first


@dataclass(frozen=True)
class Field:
    """An array of the cells; called with an offset for each axis it gives the element there."""

    cells: Cells
    array: Var
    wide: bool
    """Whether it has the rim of a grid with a halo."""

    @property
    def name(self) -> str:
        return self.array.name

    def __call__(self, *offsets: int) -> Expr:
        return self.array[self.cells.index(offsets, self.wide)]

    def near(self, axis: int, offset: int) -> Expr:
        """The element so far away along one axis."""
        return self(*(offset if a == axis else 0 for a in range(self.cells.rank)))


class Cells:
    """The cell of a thread in a grid of one to three axes, perhaps one of several grids."""

    def __init__(
        self,
        k: KernelBuilder,
        rank: int,
        edge: str,
        *,
        reach: int = 1,
        flat: bool = False,
        batched: bool = False,
        minimum: int = 1,
    ) -> None:
        self.k, self.rank, self.edge, self.reach = k, rank, edge, reach
        self.flat, self.lead = flat, int(batched)
        dims = k.draw.word.choice(_SIZES[rank]).split()
        if batched:
            dims = [k.size(k.draw.word.choice(("batch", "grids")), 2, 3), *dims]
        low, high = _RANGES[rank]
        least_size = {"reflect": reach + 1, "wrap": reach}.get(edge, 1)
        for symbol in dims[self.lead :]:
            k.size(symbol, low, high, max(least_size, minimum))
        names = k.draw.word.choice(_INDICES[rank]).split()
        self.site: Site = over(k, dims, (["b"] if batched else []) + names, form=f"{rank}d")
        self.dims = self.site.dims
        self.shape_known = k.draw.shape.chance(0.4) and not flat and edge != "halo"
        self.last_by_equality = edge == "interior" and k.draw.shape.chance(0.5)
        self.wraps_by_test = edge == "wrap" and k.draw.shape.chance(0.4)
        self.first: Var | None = None
        self._sides = k.draw.word.choice((("{}_prev", "{}_next"), ("prev_{}", "next_{}")))
        self._sizes: dict[int, Expr] = {}
        self._moved: dict[tuple[int, int], Expr] = {}
        self._base: Expr | None = None

    def side(self, axis: int, by: int) -> str:
        """What lies beside a cell is called by: its index there, or left and right on a line."""
        here = self.at[axis]
        assert isinstance(here, Var)
        if self.rank == 1:
            return "right" if by > 0 else "left"
        return self._sides[by > 0].format(here.name)

    @property
    def at(self) -> tuple[Expr, ...]:
        return self.site.at[self.lead :]

    @property
    def draw(self) -> Stream:
        return self.k.draw.shape

    def size(self, axis: int) -> Expr:
        """How many cells there are along an axis: an array's extent or a parameter."""
        if axis not in self._sizes:
            symbol, here = self.dims[self.lead + axis], self.at[axis]
            assert isinstance(here, Var)
            if self.shape_known and self.first is not None:
                self._sizes[axis] = extent(self.first, self.lead + axis)
            else:
                self._sizes[axis] = self.k.size_param(_COUNTS.get(symbol, symbol), symbol)
        return self._sizes[axis]

    def field(
        self,
        names: Names,
        type_: Type,
        low: float | None = None,
        high: float | None = None,
        *,
        near: bool = False,
        role: str = "in",
    ) -> Field:
        """Declare an array of the cells; one of which neighbours are read has the halo."""
        wide = near and self.edge == "halo"
        dims = list(self.dims)
        if wide:
            dims[self.lead :] = [f"{d}+{2 * self.reach}" for d in dims[self.lead :]]
        shape = "*".join(dims) if self.flat else dims
        array = self.k.array(words(names), type_, shape, low=low, high=high, role=role)
        if self.first is None and not wide:
            self.first = array
        return Field(self, array, wide)

    def out(self, names: Names, type_: Type) -> Field:
        """Declare an output of the cells."""
        return self.field(names, type_, role="out")

    def put(self, names: Names, value: Expr) -> Var:
        """Store a value in a new output."""
        made = self.out(names, value.type)
        self.k.store(made.array, self.index((0,) * self.rank, wide=False), value)
        return made.array

    def setting(
        self, names: Names, type_: Type, low: float, high: float, ways: Mapping[str, int]
    ) -> Expr:
        """A coefficient: ``literal``, ``shared`` by all, or of ``each`` cell."""
        weights = dict(ways)
        if self.flat and "each" in weights:
            share = weights.pop("each")
            if self.draw.integer(1, share + sum(weights.values())) <= share:
                return self.field(names, type_, low, high)(*(0,) * self.rank)
        return given(self.site, names, type_, low, high, forms=weights)

    def index(self, offsets: Sequence[int], wide: bool) -> tuple[Expr, ...]:
        """The index of the cell so far away along each axis."""
        if not offsets:
            offsets = (0,) * self.rank
        if self.flat:
            return (self._flat(tuple(offsets)),)
        lead = self.site.at[: self.lead]
        if wide:
            places = [
                here + (self.reach + by) if self.reach + by else here
                for here, by in zip(self.at, offsets, strict=True)
            ]
            return (*lead, *places)
        return (*lead, *(self.moved(axis, by) for axis, by in enumerate(offsets)))

    def moved(self, axis: int, by: int) -> Expr:
        """The index along an axis so far away, as the grid's ends have it."""
        here = self.at[axis]
        if not by or self.edge in ("interior", "halo"):
            return here + by if by > 0 else here - -by if by < 0 else here
        if (axis, by) not in self._moved:
            assert isinstance(here, Var)
            name = self._sides[by > 0].format(here.name) + (str(abs(by)) if abs(by) > 1 else "")
            self._moved[axis, by] = self.k.let(name, self._beyond(axis, here, by))
        return self._moved[axis, by]

    def _beyond(self, axis: int, here: Expr, by: int) -> Expr:
        size = self.size(axis)
        if self.edge == "clamp":
            return most(here - -by, 0) if by < 0 else least(here + by, size - 1)
        if self.edge == "reflect":
            if by < 0:
                return abs(here - -by)
            return (size - 1) - abs((size - 1) - (here + by))
        if self.reach == 1 and self.wraps_by_test:
            if by < 0:
                return where(here > 0, here - 1, size - 1)
            return where(here < size - 1, here + 1, 0)
        return (here + by) % size if by > 0 else (here + size - -by) % size

    def _flat(self, offsets: tuple[int, ...]) -> Expr:
        if self.edge == "interior" and any(offsets):
            place = self._here()
            strides = self._strides()
            for by, stride in zip(offsets, strides, strict=True):
                if by:
                    step = (
                        abs(by) if stride is None else stride if abs(by) == 1 else abs(by) * stride
                    )
                    place = place + step if by > 0 else place - step
            return place
        if not any(offsets):
            return self._here()
        return self._joined([self.moved(axis, by) for axis, by in enumerate(offsets)])

    def _strides(self) -> list[Expr | None]:
        found: list[Expr | None] = [None]
        for axis in range(self.rank - 1, 0, -1):
            last = found[0]
            found.insert(0, self.size(axis) if last is None else self._plane(axis, last))
        return found

    def _plane(self, axis: int, inner: Expr) -> Expr:
        if (-1, axis) not in self._moved:
            self._moved[-1, axis] = self.k.let("plane slab", self.size(axis) * inner)
        return self._moved[-1, axis]

    def _here(self) -> Expr:
        if self.rank == 1:
            return self.at[0]
        if self._base is None:
            self._base = self.k.let("idx me here", self._joined(self.at))
        return self._base

    def _joined(self, at: Sequence[Expr]) -> Expr:
        found = at[0]
        for axis in range(1, self.rank):
            found = found * self.size(axis) + at[axis]
        return found

    def on_rim(self, axis: int | None = None) -> Expr:
        """Whether a cell is too close to an end, of one axis or of any, to have all neighbours."""
        tests: list[Expr] = []
        for along, here in enumerate(self.at):
            if axis not in (None, along):
                continue
            low = (
                op("eq", here, self.k.lift(0, here.type)) if self.reach == 1 else here < self.reach
            )
            tests += [low, self._last(here, along)]
        return some(*tests)

    def _last(self, here: Expr, axis: int) -> Expr:
        if self.reach == 1 and self.last_by_equality:
            return op("eq", here, self.size(axis) - 1)
        return here >= self.size(axis) - self.reach

    def rim(self, out: Field, value: Expr, axis: int | None = None) -> None:
        """In a grid of which only the interior moves: threads on the rim store this and end.

        The rim is that of one axis where neighbours are read along it alone.
        """
        if self.edge == "interior":
            test = self.on_rim(axis)
            place = self.index((), wide=False)
            with self.k.if_(test):
                self.k.store(out.array, place, value)
                self.k.return_()

    def said(
        self, kept: str = "keep their values", haloed: str = "", axis: int | None = None
    ) -> str:
        """What happens at the edges, of one axis or of all, as a sentence with a space before."""
        if self.edge == "interior":
            layers = "on the border" if self.reach == 1 else f"within {self.reach} of an end"
            if axis is not None and self.rank > 1:
                layers = "at either end" if self.reach == 1 else layers
                layers += f" of axis {axis}"
            return f" Cells {layers} {kept}."
        if self.edge == "halo":
            rim = "one cell" if self.reach == 1 else f"{self.reach} cells"
            return f" {haloed} has a rim of {rim} around the grid of the threads."
        return f" {_SAID[self.edge]}"

    def laid(self) -> str:
        """How a flat array lies, as a sentence with a space before; nothing of others."""
        if not self.flat or self.rank == 1:
            return ""
        return " Arrays are flat, row by row."

    def finish(self, chance: float = 0.04) -> str:
        """Perhaps a thread for each row; the sentence that says so."""
        if self.rank < 2 or self.flat or not self.draw.chance(chance):
            return ""
        if not self.k.can_run_rows():
            return ""
        last = self.at[-1]
        assert isinstance(last, Var)
        self.k.along_row()
        return f" One thread goes along {last.name}."


def cells(
    k: KernelBuilder,
    level: int,
    ranks: Mapping[int, int] | None = None,
    edges: Mapping[str, int] | None = None,
    *,
    reach: int = 1,
    flat: float = 0.25,
    minimum: int = 1,
) -> Cells:
    """A grid drawn by level: more axes, batches and flat arrays the higher it is."""
    shape = k.draw.shape
    weights = dict(ranks or {1: 2, 2: 5, 3: 2 * (level > 1)})
    rank = shape.weighted({r: n for r, n in weights.items() if n})
    edge = shape.weighted({e: n for e, n in (edges or EDGES).items() if n})
    is_flat = rank > 1 and edge != "halo" and shape.chance(flat)
    batched = level > 1 and not is_flat and rank < 3 and shape.chance(0.25)
    return Cells(k, rank, edge, reach=reach, flat=is_flat, batched=batched, minimum=minimum)


def wide_type(k: KernelBuilder) -> Scalar:
    """float32, now and then float64."""
    return k.draw.wide_float_type()


def spot(*parts: Operand) -> tuple[Operand, ...]:
    """Parts of an index as one."""
    return parts


def both_sides(u: Field, by: int = 1) -> list[Expr]:
    """The neighbours of a cell: before and after along each axis."""
    return [u.near(axis, d) for axis in range(u.cells.rank) for d in (-by, by)]
