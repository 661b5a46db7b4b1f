"""What printers of whole-array code ask of a library: how it makes, joins and reduces arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from generators.program import expr
from generators.program.dtypes import Type
from synth.render.array.values import Axis, Value, tight
from synth.render.doc import Doc, Prec, call
from synth.render.ranges.table import Edges


class Uses(Protocol):
    """What a printer of an op asks of the renderer: helpers, what is known of the op's arguments,
    and how the library writes the rest. ``operands`` are the arguments as they were printed."""

    edges: Edges
    operands: Sequence[Value]
    in_function: bool
    dialect: Dialect

    def helper(self, name: str) -> str: ...

    def value(self, e: expr.Expr) -> Value: ...


ArrayPrinter = Callable[[Any, Sequence[Doc], expr.Op], Doc]


class Update(NamedTuple):
    """Many updates of elements of an array: the array, the op, an index for each of its
    dimensions (``indices`` are the texts of ``places``), and what is joined. ``axes`` are those of
    the updates, outermost first."""

    array: str
    op: str
    places: Sequence[Value]
    indices: Sequence[Doc]
    value: Value
    new: Doc
    axes: tuple[Axis, ...]


class Dialect:
    """A library of arrays. The shapes of arrays are texts: a length, or a tuple of them."""

    module: ClassVar[str]
    imports: ClassVar[tuple[str, ...]]
    pi: ClassVar[str]
    axis: ClassVar[str]
    keepdims: ClassVar[str]
    copy: ClassVar[str]
    clip: ClassVar[str]
    int_products: ClassVar[bool]
    """Whether the library multiplies matrices of integers wherever it runs."""
    wraps: ClassVar[bool]
    """Whether words without sign wrap as numbers of the library."""
    reverses: ClassVar[bool]
    """Whether a slice may go backwards."""
    ops: Mapping[str, ArrayPrinter]
    helpers: Mapping[str, str]
    """Functions that texts define when they need them."""
    needs: Mapping[str, tuple[str, ...]]
    """By name: the helpers that a helper calls, all of them."""
    numbers_differ: ClassVar[bool]
    """Whether a number of Python is no array, so that functions of arrays do not take it."""

    def inside(self, tensors: Sequence[str]) -> Dialect:
        """The dialect in a function of these tensors."""
        return self

    def scalar(self, type_: Type) -> str:
        """The type of a value's components."""
        raise NotImplementedError

    def widens(self, type_: Type) -> bool:
        """Whether what the library makes of literals alone has another type than theirs."""
        raise NotImplementedError

    def converted(self, doc: Doc, type_: Type, is_array: bool) -> Doc:
        """A value in another type."""
        raise NotImplementedError

    def where(self, condition: Doc, yes: Doc, no: Doc) -> Doc:
        if condition.text.startswith("~") and condition.prec == Prec.UNARY:
            condition, yes, no = condition.parts[0], no, yes
        return call(f"{self.module}.where", [condition, yes, no])

    def copied(self, doc: Doc) -> Doc:
        return call(f"{tight(doc)}.{self.copy}", [])

    def made(self, how: str, args: Sequence[str], type_: Type) -> Doc:
        """A new array: ``how`` of ``empty``, ``zeros``, ``full``, ``arange``, ``eye``."""
        return call(f"{self.module}.{how}", [*map(Doc, args), *self.typed(type_)])

    def listed(self, items: Doc, type_: Type) -> Doc:
        """An array of a list of numbers."""
        raise NotImplementedError

    def typed(self, type_: Type) -> list[Doc]:
        """The arguments that say what a new array holds and where it lies."""
        return [Doc(f"dtype={self.scalar(type_)}")]

    def repeated(self, widened: Doc, rank: int, shape: Sequence[int], type_: Type) -> Doc:
        """A vector or matrix of one value, which has so many dimensions (-1: not known), and ones
        of one for the components."""
        raise NotImplementedError

    def broadcast(self, doc: Doc, shape: Doc) -> Doc:
        """A view of that shape."""
        raise NotImplementedError

    def broadcast_all(self, docs: Sequence[Doc], values: Sequence[Value]) -> Doc:
        """Views of one shape for several arrays, as a sequence."""
        raise NotImplementedError

    def stack(self, parts: Doc, axis: int) -> Doc:
        return call(f"{self.module}.stack", [parts, Doc(f"{self.axis}={axis}")])

    def joined(self, parts: Doc) -> Doc:
        """Arrays side by side along their last dimension."""
        raise NotImplementedError

    def extreme(self, op: str, docs: Sequence[Doc], values: Sequence[Value]) -> Doc:
        """The lesser (``min``) or greater (``max``) of two, element by element."""
        raise NotImplementedError

    def clipped(self, doc: Doc, last: Doc) -> Doc:
        """Indices brought between 0 and the last one."""
        return call(f"{self.module}.{self.clip}", [doc, Doc("0"), last])

    def turned(self, doc: Doc, order: Sequence[int]) -> Doc:
        """An array with its dimensions in another order."""
        raise NotImplementedError

    def places(self, mask: Doc, count: int) -> Doc:
        """Where a mask of so many dimensions holds: an index for each."""
        raise NotImplementedError

    def reduced(
        self, how: str, doc: Doc, axis: str = "", *, type_: Type | None = None, keep: bool = False
    ) -> Doc:
        """An array reduced by ``sum``, ``prod``, ``min``, ``max``, ``any`` or ``all``, over one
        dimension or a tuple of them or all; ``type_`` where the result is to keep it."""
        args = [Doc(f"{self.axis}={axis}")] if axis else []
        args += [Doc(f"dtype={self.scalar(type_)}")] if type_ is not None else []
        args += [Doc(f"{self.keepdims}=True")] if keep else []
        return call(f"{tight(doc)}.{how}", args)

    def running(self, doc: Doc, type_: Type) -> Doc:
        """Sums of all elements up to each one, along the last dimension."""
        raise NotImplementedError

    def update(self, update: Update) -> Doc:
        """The statement that joins values into elements, one after the other where an index comes
        more than once. Raises NoForm where the library has none."""
        raise NotImplementedError

    def named(self, lines: Sequence[str]) -> Sequence[str]:
        """The lines of a body with the library's functions that several of them are together."""
        return lines

    def check(self, type_: Type) -> None:
        """Raises NoForm for a type that the library does not compute with."""
