"""Sequences that threads work on: a row, a column or a stretch of a flat buffer for each."""

from __future__ import annotations

from dataclasses import dataclass, field

from generators.build import KernelBuilder, extent
from generators.build.registry import LEVELS
from generators.kit.functions import least
from generators.program.dtypes import INT32, Scalar, Type
from generators.program.expr import Expr, Operand, Var

NUMBERS = {"float32": 8, "int32": 4, "float64": 1, "int64": 1, "uint32": 1}
"""How often keys that are compared have these types."""


def key_type(k: KernelBuilder) -> Scalar:
    """The type of keys that are compared and moved, never added."""
    return Scalar(k.draw.shape.weighted(NUMBERS))


@dataclass
class Lanes:
    """Threads that each have a sequence, and how sequences lie in memory."""

    k: KernelBuilder
    at: tuple[Var, ...]
    dims: tuple[str, ...]
    layout: str
    unit: str
    bases: dict[str, Expr] = field(default_factory=dict)

    @property
    def each(self) -> str:
        """How a description begins."""
        where = {"columns": "column", "rows": "row", "flat": "stretch"}[self.layout]
        names = ", ".join(v.name for v in self.at)
        plain = self.layout == "rows" and len(self.at) == 1
        return f"each {where} {names}" if plain else f"each {where} ({names})"

    def array(
        self,
        names: str,
        type_: Type,
        size: str,
        low: object = None,
        high: object = None,
        role: str = "in",
        init: str = "uniform",
    ) -> Seq:
        """A sequence of ``size`` elements for each thread."""
        k = self.k
        shape: tuple[str, ...] = (*self.dims, size)
        if self.layout == "columns":
            shape = (size, *self.dims)
        if self.layout == "flat":
            shape = (f"{self.dims[0]}*({size})" if "+" in size else f"{self.dims[0]}*{size}",)
        var = k.array(names, type_, shape, role=role, init=init, low=low, high=high)
        if self.layout != "flat":
            return Seq(self, var, size, None)
        if size not in self.bases:
            length = k.size_param("length stride row_len width", size)
            self.bases[size] = k.let("base start row_start offset", self.at[0] * length)
            self.bases["length:" + size] = length
        return Seq(self, var, size, self.bases[size])

    def each_out(self, names: str, type_: Type) -> Var:
        """An output with one element for each thread."""
        return self.k.out(names, type_, self.dims)


@dataclass(frozen=True)
class Seq:
    """The sequence of a thread."""

    lanes: Lanes
    var: Var
    size: str
    base: Expr | None

    @property
    def name(self) -> str:
        return self.var.name

    def place(self, j: Operand) -> tuple[Operand, ...]:
        """Where element ``j`` lies."""
        if self.base is not None:
            if not isinstance(j, Expr):
                return (self.base + j if j else self.base,)
            return (self.base + j,)
        return (j, *self.lanes.at) if self.lanes.layout == "columns" else (*self.lanes.at, j)

    def __getitem__(self, j: Operand) -> Expr:
        return self.var[self.place(j)]

    def put(self, j: Operand, value: Operand) -> None:
        self.lanes.k.store(self.var, self.place(j), value)

    def whole(self) -> Expr:
        """How many elements it has: from the array's shape, or a parameter."""
        if self.base is not None:
            return self.lanes.bases["length:" + self.size]
        return extent(self.var, 0 if self.lanes.layout == "columns" else len(self.lanes.at))


def lanes(
    k: KernelBuilder,
    level: int,
    unit: str = "row r",
    *,
    low: int = 12,
    high: int = 24,
    layouts: str = "rows rows columns flat",
) -> Lanes:
    """One thread for each sequence; sequences lie in rows, batches of rows, columns or flat."""
    assert level in LEVELS
    shape = k.draw.shape
    layout = shape.choice(layouts.split())
    batched = layout != "flat" and shape.chance(0.35 if level > 1 else 0.2)
    if batched:
        k.size("batch", 3, 5)
        k.size("rows", 5, 8)
        dims: tuple[str, ...] = ("batch", "rows")
        names: tuple[str, ...] = (k.name("b batch_id"), k.name(unit))
    else:
        k.size("rows", low, high)
        dims, names = ("rows",), (k.name(unit),)
    return Lanes(k, k.thread(*dims, names=names), dims, layout, unit)


def length(s: Seq, level: int, names: str = "n count") -> tuple[Expr, str]:
    """How many elements of a sequence count: all, or as many as its length says; in words."""
    k, shape = s.lanes.k, s.lanes.k.draw.shape
    way = shape.weighted({"whole": 3, "param": 2, "ragged": 2 if level > 1 else 1})
    if way == "ragged":
        lengths = k.array(
            "lengths sizes_used row_lengths", INT32, s.lanes.dims, init=f"index_of:{s.size}+4"
        )
        n = k.let(names, least(lengths[s.lanes.at], s.whole()))
        return n, f" (only its first {lengths.name} elements)"
    if way == "param" and s.base is None:
        return k.size_param("num_items length width", s.size), ""
    return (k.let(names, s.whole()) if shape.chance(0.5) else s.whole()), ""
