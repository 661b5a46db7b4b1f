"""What kernels over sets of points share: the launch, how positions lie, whom a point looks at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from generators.build import KernelBuilder, extent, fn, make
from generators.build.draw import Stream
from generators.kit.functions import least
from generators.kit.sources import setting
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Load, Operand, Var

AXES = "xyzw"


@dataclass(frozen=True)
class Points:
    """Vectors of a set, and how they lie: as vectors, as rows of numbers, or an array an axis."""

    vec: Vec
    arrays: tuple[Var, ...]
    way: str
    dims: tuple[str, ...]

    def at(self, *where: Operand) -> Expr:
        """The vector at an index."""
        if self.way == "vec":
            return self.arrays[0][where]
        if self.way == "split":
            return make(self.vec, *(a[where] for a in self.arrays))
        return make(self.vec, *(self.arrays[0][index(*where, c)] for c in range(self.vec.size)))

    @property
    def name(self) -> str:
        if len(self.arrays) == 1:
            return self.arrays[0].name
        return f"({', '.join(a.name for a in self.arrays)})"

    @property
    def count(self) -> Expr:
        """How many there are along the last axis of the launch."""
        return extent(self.arrays[0], len(self.dims) - 1)


@dataclass
class Crowd:
    """A launch with a thread for each member of a set, or of each of several sets."""

    k: KernelBuilder
    level: int
    vec: Vec
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    told: list[str] = field(default_factory=list)

    @property
    def shape(self) -> Stream:
        return self.k.draw.shape

    @property
    def scalar(self) -> Scalar:
        return self.vec.scalar

    @property
    def me(self) -> Var:
        return self.at[-1]

    def place(self, j: Operand, *more: Operand) -> tuple[Operand, ...]:
        """The index of another member of the same set."""
        return (*self.at[:-1], j, *more)

    def points(self, names: str, low: float, high: float, dims: tuple[str, ...] = ()) -> Points:
        """Declare vectors of the set, or of another one whose ``dims`` are given."""
        return points_of(self.k, self.vec, names, low, high, dims or self.dims, self.level)

    def array(
        self,
        names: str,
        type_: Type,
        low: object = None,
        high: object = None,
        init: str = "uniform",
    ) -> Var:
        return self.k.array(names, type_, self.dims, low=low, high=high, init=init)

    def put(self, names: str, value: Expr) -> str:
        """Store this member's value in a new output; its name."""
        out = self.k.out(names, value.type, self.dims)
        self.k.store(out, self.at, value)
        return out.name

    def chance(self, share: float, level: int = 1) -> bool:
        """A yes with this probability from some level on."""
        return self.level >= level and self.shape.chance(share)

    def number(self, names: str, low: float, high: float, share: float = 0.9) -> Expr:
        """A number that someone sets: a parameter, or a literal."""
        return setting(self.k, names, self.scalar, low, high, share)

    def maybe(self, names: str, value: Expr, share: float = 0.5) -> Expr:
        """A value under a name of its own, or as it is."""
        if isinstance(value, Var) or not self.shape.chance(share):
            return value
        return self.k.let(names, value)


def points_of(
    k: KernelBuilder,
    vec: Vec,
    names: str,
    low: float,
    high: float,
    dims: tuple[str, ...],
    level: int = 1,
) -> Points:
    """Declare vectors: mostly an array of vectors; those of a kernel all lie in one way."""
    ways = {"vec": 39, "rows": 0, "split": level > 1}
    way = k.draw.stream("layout of points").weighted(ways)
    if way == "vec":
        return Points(vec, (k.array(names, vec, dims, low=low, high=high),), way, dims)
    if way == "rows":
        wide = (*dims, str(vec.size))
        array = k.array(names, vec.scalar, wide, low=low, high=high)
        return Points(vec, (array,), way, dims)
    stem = k.name(*([n for n in names.split() if len(n) > 1] or names.split()))
    arrays = [
        k.array(f"{stem}_{AXES[c]}", vec.scalar, dims, low=low, high=high) for c in range(vec.size)
    ]
    return Points(vec, tuple(arrays), way, dims)


def crowd(
    k: KernelBuilder,
    level: int,
    *,
    flat: float = 0.35,
    member: str = "i tid p",
    sizes: tuple[int, int] = (16, 24),
    space: int = 0,
    called: str = "",
) -> Crowd:
    """A list of members, or from level 2 on several lists of them; in the plane or in space.

    ``flat`` is how often in the plane; ``space=3`` never. float32, and now and then float64.
    Members that are ``called`` something are always of one list, whose size has that name.
    """
    shape = k.draw.shape
    size = 3 if space == 3 else 2 if shape.chance(flat) else 3
    vec = Vec(size, shape.weighted({FLOAT32: 19, Scalar("float64"): 1}))
    lead: tuple[str, ...] = ()
    names: list[str] = []
    if level > 1 and not called and shape.chance(0.3):
        lead = (k.draw.word.choice(("envs", "worlds", "batch", "scenes")),)
        k.size(lead[0], 2, 3)
        names.append(k.name("b e env"))
        sizes = (sizes[0] // 2 + 2, sizes[1] // 2 + 2)
    count = called or k.draw.word.choice(("n", "count", "num"))
    k.size(count, *sizes)
    names.append(k.name(member))
    dims = (*lead, count)
    return Crowd(k, level, vec, dims, k.thread(*dims, names=names))


NEAR = {"all": 5, "table": 2, "counted": 2, "rows": 3}
"""Whom a member looks at: everyone, a table of neighbours, one with counts, or a ragged list."""


@contextmanager
def others(
    c: Crowd, p: Points, guard: bool, ways: dict[str, int] | None = None, names: str = "j other"
) -> Iterator[Var]:
    """A loop over the others that a member looks at; what is said of them goes to ``c.told``.

    With ``guard`` the member itself is left out.
    """
    k = c.k
    weights = {w: n for w, n in (ways or NEAR).items() if w != "rows" or len(c.dims) == 1}
    if c.level == 1:
        weights = {w: n for w, n in weights.items() if w in ("all", "table")} or weights
    way = c.shape.weighted(weights)
    listed = _LISTED[way]
    with listed(c, p, names) as j:
        if not guard:
            yield j
        elif c.shape.chance(0.5):
            with k.if_(fn("eq", j, c.me)):
                k.continue_()
            yield j
        else:
            with k.if_(fn("ne", j, c.me)):
                yield j


@contextmanager
def _everyone(c: Crowd, p: Points, names: str) -> Iterator[Var]:
    by_param = c.shape.chance(0.3)
    stop = c.k.size_param("num_points total_count n_items", c.dims[-1]) if by_param else p.count
    c.told.append("all particles")
    with c.k.for_(names, stop) as j:
        yield j


@contextmanager
def _table(c: Crowd, p: Points, names: str) -> Iterator[Var]:
    width = c.k.size("width", 4, 6)
    dims = (*c.dims, width)
    array = c.k.array("neighbors nbr_ids near_ids", INT32, dims, init=f"index_of:{c.dims[-1]}")
    c.told.append(f"those in its row of {array.name}")
    with c.k.for_("s slot m", extent(array, len(c.dims))) as s:
        yield c.k.let(names, array[index(*c.at, s)])


@contextmanager
def _counted(c: Crowd, p: Points, names: str) -> Iterator[Var]:
    width = c.k.size("width", 5, 8)
    dims = (*c.dims, width)
    array = c.k.array("neighbors nbr_ids near_ids", INT32, dims, init=f"index_of:{c.dims[-1]}")
    counts = c.k.array("neighbor_counts num_near nbr_count", INT32, c.dims, low=1, high=9)
    stop = c.k.let("stop num_nbrs limit", least(counts[c.at], extent(array, len(c.dims))))
    c.told.append(f"the first {counts.name} that its row of {array.name} lists")
    with c.k.for_("s slot m", stop) as s:
        yield c.k.let(names, array[index(*c.at, s)])


@contextmanager
def _ragged(c: Crowd, p: Points, names: str) -> Iterator[Var]:
    with ragged(c.k, c.dims[-1], c.me, c.dims[-1], "neighbors nbr_ids adjacency", names) as (j, t):
        c.told.append(t)
        yield j


_LISTED = {"all": _everyone, "table": _table, "counted": _counted, "rows": _ragged}


@contextmanager
def ragged(
    k: KernelBuilder, rows: str, row: Expr, of: str, names: str, loop: str, each: int = 4
) -> Iterator[tuple[Var, str]]:
    """A loop over a row's entries of a ragged list: offsets, and the indices that they cut up.

    ``of`` is the size that entries index. Gives an entry and what is said of the list.
    """
    total = each * k.sizes[rows].value
    entries = k.size("entries", total, total, minimum=total)
    starts = k.array(
        "offsets row_starts indptr", INT32, f"{rows}+1", init="sorted", low=0, high=total
    )
    array = k.array(names, INT32, entries, init=f"index_of:{of}")
    first: Expr = starts[row]
    stop: Expr = starts[row + 1]
    if k.draw.shape.chance(0.5):
        ends = k.draw.word.choice((("first", "last"), ("begin", "end")))
        first, stop = k.let(ends[0], first), k.let(ends[1], stop)
    said = f"those in {array.name} from its {starts.name} up to the next one's"
    with k.for_("s slot e", stop, start=first) as s:
        yield k.let(loop, array[s]), said


def softened(c: Crowd, d: Expr, low: float = 0.1, high: float = 0.4) -> tuple[Expr, str]:
    """The squared length of a vector plus a small square, and the text of what is added."""
    if c.shape.chance(0.5):
        soft = c.k.scalar("softening eps soft", c.scalar, low, high)
        return fn("dot", d, d) + soft * soft, f"{soft.name}^2"
    small = c.number("eps2 soft_sq softening_sq", low * low, high * high)
    return fn("dot", d, d) + small, written(small)


def index(*parts: Operand) -> tuple[Operand, ...]:
    """Parts of an index as one."""
    return parts


def named(value: Expr) -> str:
    """What a description calls a quantity: an element by its array, all else as it is written."""
    return value.array.name if isinstance(value, Load) else written(value)
