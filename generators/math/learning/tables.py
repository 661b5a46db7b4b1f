"""Tables of scores: where a row's classes lie, loops along them, maxima and normalisers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent
from generators.kit.functions import exp, log, most
from generators.kit.naming import maybe
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, literal

_LAYOUTS = {
    "rows": (("rows",), "i|row|r|n", 1),
    "columns": (("cols",), "i|col|n", 0),
    "batch": (("batch", "steps"), "b t|b step|b s|batch_id t", 2),
    "channels": (("batch", "pixels"), "b p|n p|b pixel|n pixel", 1),
    "image": (("batch", "height", "width"), "b y x|n y x|n h w|b h w", 1),
}
"""Of each layout: the sizes of the launch, names of indices (alternatives apart by ``|``), and
where the looped axis stands."""
_UNITS = {
    "rows": "row",
    "columns": "column",
    "batch": "row",
    "channels": "pixel",
    "image": "pixel",
}
_RANGES = {
    "rows": (16, 28),
    "cols": (16, 28),
    "batch": (3, 4),
    "steps": (7, 11),
    "pixels": (7, 11),
    "height": (3, 4),
    "width": (3, 5),
}
LOW = -1.0e30
"""Below every score."""


@dataclass
class Table:
    """A thread's row: how it lies, how it is looped over, and how sums are written."""

    k: KernelBuilder
    layout: str
    dims: tuple[str, ...]
    at: tuple[Var, ...]
    axis: int
    size: str
    type: Scalar
    loop: str
    plain: bool
    """Whether sums are written ``acc = acc + x``."""
    stop: Expr | None = None
    tag: str = ""
    """What names of maxima and sums end in, where a thread has those of several rows."""

    @property
    def whole(self) -> tuple[str, ...]:
        return (*self.dims[: self.axis], self.size, *self.dims[self.axis :])

    @property
    def unit(self) -> str:
        """What a thread's classes are called: a row where they lie side by side."""
        return _UNITS[self.layout]

    def called(self, names: str) -> str:
        """Names of a kernel that speak of rows, for what a thread has."""
        return names.replace("rows", f"{self.unit}s").replace("row_", f"{self.unit}_")

    @property
    def peaks(self) -> str:
        """Names for the largest score of a row."""
        middle = {"row": "row_max", "column": "col_max", "pixel": "max_score"}[self.unit]
        return self.tagged(f"top {middle} peak") if not self.tag else self.tagged("max")

    @property
    def said(self) -> str:
        """Where the looped axis is, where it is not the last."""
        return "" if self.axis == len(self.dims) else f" (axis {self.axis})"

    def place(self, c: Expr | int) -> tuple[Expr, ...]:
        """The index of the row's element ``c``."""
        index = c if isinstance(c, Expr) else literal(c, INT32)
        return (*self.at[: self.axis], index, *self.at[self.axis :])

    def array(self, names: str, low: float, high: float, role: str = "in") -> Var:
        return self.k.array(names, self.type, self.whole, role=role, low=low, high=high)

    def each(self, names: str, low: float, high: float) -> Expr:
        """An input with one element for each row."""
        return self.k.array(names, self.type, self.dims, low=low, high=high)[self.at]

    def ids(self, names: str, type_: Scalar) -> Expr:
        """A class of each row."""
        return self.k.array(names, type_, self.dims, init=f"index_of:{self.size}")[self.at]

    def out(self, names: str) -> Var:
        return self.k.out(names, self.type, self.whole)

    def put(self, names: str, value: Expr) -> Var:
        """Store one value for each row."""
        out = self.k.out(names, value.type, self.dims)
        self.k.store(out, self.at, value)
        return out

    def tagged(self, names: str) -> str:
        """Names of what belongs to one of several rows."""
        return " ".join(f"{name}_{self.tag}" if self.tag else name for name in names.split())

    def zero(self, names: str) -> Var:
        return self.k.let(names, self.k.lift(0.0, self.type))

    def count(self, x: Var) -> Expr:
        """How long a row is: as ``x`` says, or a parameter."""
        return extent(x, self.axis) if self.stop is None else self.stop

    @contextmanager
    def classes(self, x: Var, start: int = 0) -> Iterator[Var]:
        """A loop over the row; what is named in it may be named so again in another."""
        self.k.used.discard(self.loop)
        before = set(self.k.used)
        with self.k.for_(self.loop, self.count(x), start=start) as c:
            yield c
        self.k.used &= before | {p.name for p in self.k.params}

    def add(self, total: Var, value: Expr) -> None:
        if self.plain:
            self.k.assign(total, total + value)
        else:
            self.k.augment(total, "add", value)

    def raise_to(self, top: Var, value: Expr) -> None:
        """A running maximum."""
        if self.plain:
            value = value if isinstance(value, Var) else self.k.let("score cand", value)
            with self.k.if_(value > top):
                self.k.assign(top, value)
        else:
            self.k.assign(top, most(top, value))


def table(
    k: KernelBuilder,
    level: int,
    size: str = "classes",
    loop: str = "c j cls",
    layouts: Mapping[str, int] | None = None,
    span: tuple[int, int] = (6, 10),
    minimum: int = 1,
) -> Table:
    """Rows of ``size`` elements each: in rows, columns, batches of rows, or as channels."""
    shape = k.draw.shape
    ways = dict(layouts or {"rows": 5, "columns": 2, "batch": 4, "channels": 2, "image": 1})
    if level < 3:
        ways.pop("image", None)
    layout = shape.weighted(ways)
    sizes, names, axis = _LAYOUTS[layout]
    for symbol in sizes:
        k.size(symbol, *_RANGES[symbol])
    k.size(size, *span, minimum=minimum)
    indices = k.draw.word.choice(names.split("|")).split()
    at = k.thread(*sizes, names=[k.name(name) for name in indices])
    type_ = k.draw.wide_float_type()
    found = Table(k, layout, sizes, at, axis, size, type_, k.name(loop), shape.chance(0.35))
    if shape.chance(0.35):
        found.stop = k.size_param(f"num_{size} n_{size}", size)
    return found


Score = Callable[[Expr], Expr]
"""The score of a class of the row."""


def peak(t: Table, x: Var, score: Score, first: float = 0.4) -> Var:
    """The largest score of a row, in a pass of its own; ``first`` is how often it starts from the
    first element, where a score is short enough to be written twice."""
    if t.k.draw.shape.chance(first):
        top = t.k.let(t.peaks, score(literal(0, INT32)))
        with t.classes(x, start=1) as c:
            t.raise_to(top, score(c))
        return top
    top = t.k.let(t.peaks, t.k.lift(LOW, t.type))
    with t.classes(x) as c:
        t.raise_to(top, score(c))
    return top


def normaliser(
    t: Table, x: Var, score: Score, online: float = 0.3, first: float = 0.4
) -> tuple[Var, Var]:
    """The largest score of a row, and the sum of the exponentials of scores less that."""
    k = t.k
    if not k.draw.shape.chance(online):
        top = peak(t, x, score, first)
        total = t.zero(t.tagged("sum_exp" if t.tag else "total denom sum_exp"))
        with t.classes(x) as c:
            t.add(total, maybe(k, "e term", exp(score(c) - top), 0.3))
        return top, total
    top = k.let(t.tagged("max" if t.tag else "top run_max m"), k.lift(LOW, t.type))
    total = t.zero(t.tagged("sum_exp" if t.tag else "total denom sum_exp"))
    with t.classes(x) as c:
        value = score(c)
        value = value if isinstance(value, Var) else k.let("z score", value)
        if t.plain:
            with k.if_(value > top):
                k.assign(total, total * exp(top - value))
                k.assign(top, value)
            t.add(total, exp(value - top))
        else:
            higher = k.let("new_max top_next", most(top, value))
            k.assign(total, total * exp(top - higher) + exp(value - higher))
            k.assign(top, higher)
    return top, total


def log_norm(t: Table, x: Var, score: Score, online: float = 0.3, first: float = 0.4) -> Var:
    """The log of a row's sum of exponentials."""
    top, total = normaliser(t, x, score, online, first)
    return t.k.let(t.tagged("lse" if t.tag else "lse log_z log_norm"), top + log(total))


def length(t: Table, x: Var) -> Expr:
    """How long a row is, as a float."""
    return cast(t.count(x), t.type)


def tempered(
    k: KernelBuilder, t: Table, x: Var, chance: float, rows: bool = True
) -> tuple[Score, str]:
    """Scores as they are, or over a temperature of all or (``rows``) of each row; in words."""
    shape = k.draw.shape
    if not shape.chance(chance):
        return lambda c: x[t.place(c)], x.name
    way = shape.weighted({"over": 4, "times": 2, "row": 2 * rows})
    if way == "times":
        sharp = k.scalar("inv_temperature beta sharpness", t.type, 0.5, 2.0)
        return lambda c: sharp * x[t.place(c)], f"{sharp.name} * {x.name}"
    if way == "over":
        heat = k.scalar("temperature tau", t.type, 0.5, 2.0)
        return lambda c: x[t.place(c)] / heat, f"{x.name} / {heat.name}"
    k.half_inputs = False
    heats = k.array("temperatures taus", t.type, t.dims, low=0.5, high=2.0)
    heat = k.let("temperature tau", heats[t.at])
    return lambda c: x[t.place(c)] / heat, f"{x.name} / {heats.name} (one of each {t.unit})"


def alike(k: KernelBuilder, *candidates: str) -> tuple[str, ...]:
    """Names of things that belong together: the n-th candidate of each text, n drawn."""
    sets = [c.split() for c in candidates]
    return k.draw.word.choice(list(zip(*sets, strict=True)))
