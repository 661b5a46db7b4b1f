"""Sequences that threads work on: a row, a column or a stretch of a flat buffer for each."""

from __future__ import annotations

from dataclasses import dataclass, field

from generators.build import KernelBuilder, extent
from generators.build.registry import LEVELS
from generators.kit.functions import least
from generators.program.dtypes import INT32, Scalar, Type
from generators.program.expr import Expr, Op, Operand, Var, op

NUMBERS = {"float32": 8, "int32": 4, "float64": 1, "int64": 1, "uint32": 1}
"""How often keys that are compared have these types."""


def key_type(k: KernelBuilder) -> Scalar:
    """The type of keys that are compared and moved, never added."""
    return Scalar(k.draw.shape.weighted(NUMBERS))


def spans(type_: Scalar) -> tuple[object, object]:
    """The range of keys of a type: few enough integers that some are equal."""
    if type_.is_float:
        return -50.0, 50.0
    return (0 if type_.is_unsigned else -20), 60


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
        """What a thread has, as a description calls it."""
        lengths = [e for size, e in self.bases.items() if size.startswith("length:")]
        if self.layout == "flat" and isinstance(lengths[0], Var):
            return f"each row of {lengths[0].name} consecutive elements"
        return "each column" if self.layout == "columns" else "each row"

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
            return (_beyond(self.base, j),)
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


def _beyond(base: Expr, j: Expr) -> Expr:
    """``base + j``, where ``j`` may be a sum, as people write it: without parentheses."""
    if isinstance(j, Op) and j.op in ("add", "sub") and isinstance(j.args[0], Expr):
        return op(j.op, _beyond(base, j.args[0]), j.args[1])
    return base + j


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
    if layout == "columns" and "row" in unit:
        unit = "col seq"
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


def length(s: Seq, level: int, names: str = "n count", *, ragged: bool = False) -> tuple[Expr, str]:
    """How many elements of a sequence count: all, or as many as its length says, which all have
    with ``ragged``; in words."""
    k, shape = s.lanes.k, s.lanes.k.draw.shape
    way = shape.weighted({"whole": 3, "param": 2, "ragged": 2 if level > 1 else 1})
    if ragged or way == "ragged":
        lengths = k.array("lengths seq_lens", INT32, s.lanes.dims, init=f"index_of:{s.size}+4")
        n = k.let(names, least(lengths[s.lanes.at], s.whole()))
        return n, f" (only its first {lengths.name} elements)"
    if way == "param" and s.base is None:
        return k.size_param("seq_len length num_items", s.size), ""
    return named(k, names, s.whole()), ""


def named(k: KernelBuilder, names: str, size: Expr) -> Expr:
    """A length under a name of its own now and then, unless it is a parameter."""
    return size if isinstance(size, Var) or k.draw.shape.chance(0.5) else k.let(names, size)
