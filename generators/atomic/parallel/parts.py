"""What parallel tallies share: who handles which item, early ends, and shared arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from generators.build import KernelBuilder, fn
from generators.kit.text import written
from generators.program.dtypes import INT32, Scalar, Type
from generators.program.expr import Const, Expr, Load, Op, Operand, Var, op

INT64, UINT32, UINT64 = Scalar("int64"), Scalar("uint32"), Scalar("uint64")
COUNTS = {INT32: 9, INT64: 1, UINT32: 3, UINT64: 1}
"""Types of counters, by how often people take them."""
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_OPPOSITE |= {"and": "or", "or": "and"}


def opposite(test: Expr) -> Expr:
    """A test that holds where the given one does not."""
    if isinstance(test, Op) and test.op in ("and", "or"):
        return op(_OPPOSITE[test.op], *(opposite(a) for a in test.args))
    if isinstance(test, Op) and test.op in _OPPOSITE:
        return fn(_OPPOSITE[test.op], *test.args)
    return op("not", test)


def spot(*parts: Operand) -> tuple[Operand, ...]:
    """Parts of an index as one."""
    return parts


def both(*tests: Expr) -> Expr:
    """Whether all of the tests hold."""
    found = tests[0]
    for test in tests[1:]:
        found = op("and", found, test)
    return found


@contextmanager
def guarded(k: KernelBuilder, test: Expr, inner: bool) -> Iterator[None]:
    """What follows happens only where ``test`` holds: by an early end of the thread, or of the
    turn of a loop (``inner``); or within an ``if``."""
    if k.draw.shape.chance(0.5):
        with k.if_(opposite(test)):
            if inner:
                k.continue_()
            else:
                k.return_()
        yield
    else:
        with k.if_(test):
            yield


def named(k: KernelBuilder, names: str, value: Expr, share: float = 0.5) -> Expr:
    """A value, with that chance as a local."""
    if isinstance(value, Var | Const) or not k.draw.shape.chance(share):
        return value
    return k.let(names, value)


@dataclass(frozen=True)
class Shared:
    """An array that many threads update, and how a place in it is found."""

    k: KernelBuilder
    array: Var
    lead: tuple[Expr, ...]
    layout: str
    strides: tuple[Expr, ...] = ()

    @property
    def name(self) -> str:
        return self.array.name

    def index(self, *place: Operand) -> tuple[Operand, ...]:
        if self.layout != "flat":
            return (*self.lead, *place)
        parts = spot(*self.lead, *place)
        first, rest = parts[0], parts[1:]
        for stride, part in zip(self.strides, rest, strict=True):
            first = first * stride + part
        return (first,)

    def update(self, how: str, place: Sequence[Operand], value: Operand) -> None:
        self.k.atomic(how, self.array, self.index(*place), value)

    def said(self, *place: str) -> str:
        """A place in words; the parts are names of the description."""
        lead = [written(part) for part in self.lead]
        if self.layout != "flat":
            return f"{self.name}[{', '.join([*lead, *place])}]"
        text, *rest = [*lead, *place]
        for stride, part in zip(self.strides, rest, strict=True):
            text = f"({text})" if " + " in text else text
            text = f"{text} * {written(stride)} + {part}"
        return f"{self.name}[{text}]"


@dataclass(frozen=True)
class Work:
    """One item in the hands of a thread: where it stands, and whether within a loop."""

    k: KernelBuilder
    level: int
    dims: tuple[str, ...]
    at: tuple[Expr, ...]
    inner: bool
    block: Expr | None = None
    kept: dict[str, str] = field(default_factory=dict)
    """How all shared arrays of the kernel are laid out."""

    @property
    def about(self) -> str:
        """A sentence on the block of an item, where blocks have arrays of their own."""
        if not isinstance(self.block, Var):
            return ""
        return f" The {self.block.name} of item i is i // {self.kept['width']}."

    @property
    def i(self) -> Expr:
        """The item's number in its list."""
        return self.at[-1]

    def array(self, names: str, type_: Type, low: object = None, high: object = None) -> Var:
        return self.k.array(names, type_, self.dims, low=low, high=high)

    def read(
        self,
        names: str,
        type_: Type,
        low: object = None,
        high: object = None,
        init: str = "uniform",
    ) -> Load:
        """The item's element of a new array."""
        found = self.k.array(names, type_, self.dims, low=low, high=high, init=init)[self.at]
        assert isinstance(found, Load)
        return found

    def let(self, names: str, value: Expr, share: float = 0.5) -> Expr:
        return named(self.k, names, value, share)

    @contextmanager
    def guard(self, test: Expr) -> Iterator[None]:
        with guarded(self.k, test, self.inner):
            yield

    def shared(
        self,
        names: str,
        type_: Type,
        dims: Sequence[str],
        start: object = 0,
    ) -> Shared:
        """An array of ``dims`` for all items, for each list of them, or for each block."""
        k, shape = self.k, self.k.draw.shape
        lead, sizes = self.at[:-1], self.dims[:-1]
        if "scope" not in self.kept:
            # A thread that has a whole list to itself needs no atomics on what is the list's own.
            self.kept["scope"] = "all" if self.inner else "list"
        if self.kept["scope"] == "all":
            lead, sizes = (), ()
        if self.block is not None:
            lead, sizes = (self.block,), ("blocks",)
        whole = (*sizes, *dims)
        if len(whole) > 1 and "layout" not in self.kept:
            # Beside items in rows, what is shared has rows too.
            ways = {"first": 5, "flat": 2 * (len(self.dims) == 1)}
            self.kept["layout"] = shape.weighted(ways)
        layout = self.kept["layout"] if len(whole) > 1 else "first"
        if len(whole) > 3:
            layout = "flat"
        if layout != "flat":
            return Shared(k, k.accumulator(names, type_, whole, start), lead, layout)
        array = k.accumulator(names, type_, "*".join(whole), start)
        strides = tuple(extent_of(k, size) for size in whole[1:])
        return Shared(k, array, lead, layout, strides)


def extent_of(k: KernelBuilder, size: str) -> Expr:
    """A size as a parameter, one for each size."""
    for p in k.params:
        if p.init == f"size:{size}":
            return Var(p.name, INT32)
    if size.isdigit():
        return k.lift(int(size), INT32)
    if len(size) == 2 and size[0] == "n":
        return k.size_param(f"{size} grid_{size[1]} cells_{size[1]}", size)
    if len(size) == 1:
        return k.size_param(f"{size} count num_items", size)
    name = size if size.startswith(("num_", "n_")) else f"num_{size}"
    short = f"n_{size.removeprefix('num_')}"
    return k.size_param(f"{name} {short}", size)


@contextmanager
def work(
    k: KernelBuilder,
    level: int,
    size: str,
    span: tuple[int, int],
    index: str = "i idx",
    lead: str = "batch",
    ways: str = "list lists blocks",
    per_block: bool = False,
) -> Iterator[Work]:
    """Threads over the items of one list or of several; some go along a block of them.

    ``size`` counts the items of a list, ``lead`` the lists. ``ways`` are the forms to draw from.
    With ``per_block`` a block of items may have shared arrays of its own.
    """
    shape = k.draw.shape
    weights = {"list": 6, "lists": 4, "blocks": int(level > 1)}
    way = shape.weighted({w: n for w, n in weights.items() if w in ways.split()})
    if way == "lists":
        k.size(lead, 3, 4)
        k.size(size, span[0] // 3, span[1] // 3)
        first = k.name(f"{lead[0]} {lead.rstrip('es').removeprefix('num_')}_id row")
        at = k.thread(lead, size, names=(first, k.name(index)))
        yield Work(k, level, (lead, size), at, False)
        return
    if way == "list":
        k.size(size, *span)
        at = k.thread(size, names=(k.name(index),))
        yield Work(k, level, (size,), at, False)
        return
    with _block(k, level, span, index, per_block) as w:
        yield w


@contextmanager
def _block(
    k: KernelBuilder, level: int, span: tuple[int, int], index: str, per_block: bool
) -> Iterator[Work]:
    """A block of items: one after the other by one thread, or a thread for each of them."""
    shape = k.draw.shape
    width = k.draw.value.choice((4, 8, 16))
    each = per_block and shape.chance(0.6)
    k.size("blocks", span[0] // width, span[1] // width)
    if each or shape.chance(0.4):
        k.size("block_size", width, width)
        count: Expr = k.size_param("block_size items_per_block", "block_size")
        dims = ("blocks*block_size",)
    else:
        count, dims = k.lift(width, INT32), (f"{width}*blocks",)
    if each:
        at = k.thread(*dims, names=(k.name(index),))
        block = k.let("block block_id", at[0] // count)
        yield Work(k, level, dims, at, False, block, {"width": written(count)})
        return
    (block,) = k.thread("blocks", names=(k.name("block t tile"),))
    with k.for_("j step lane", count) as j:
        i = k.let(index, block * count + j)
        yield Work(k, level, dims, (i,), True)
