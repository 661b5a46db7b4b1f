"""Reads of arrays: slices of whole dimensions, and elements by index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from generators.program import expr, ir
from generators.program.dtypes import Type
from synth.render.array.dialects.dialect import Dialect
from synth.render.array.linear import Linear, Slice, linear_of, places_of, slice_of
from synth.render.array.values import Axis, NoForm, Value, aligned, parts_of, union
from synth.render.doc import Doc, Prec, subscript
from synth.render.ranges.table import Edges
from validate.statuses import ArrayStatus

_BUILTIN = frozenset({"len", "range", "min", "max"})


class Loads:
    """Prints reads of arrays; a subclass prints the expressions that their indices are.

    ``env`` says what each variable is at the moment.
    """

    def __init__(self, shapes: dict[str, tuple[str, ...]], edges: Edges, dialect: Dialect) -> None:
        self.shapes = shapes
        self.dialect = dialect
        self.operands: Sequence[Value] = ()
        """Arguments of the op whose printer is called, as they were printed."""
        self.calls: dict[str, list[bool]] = {}
        """By helper of the program: for each parameter, whether all calls give it a number."""
        self.edges = edges
        self.env: dict[str, Value] = {}
        self.order: list[Axis] = []
        self.axis_of: dict[str, Axis] = {}
        self.named: set[str] = set()
        """Axes whose places are read as numbers, so that the text must define them."""
        self.helpers: set[str] = set()
        self.sizes: set[str] = set()
        self.functions: dict[str, ir.Function] = {}
        self.unsafe = False
        """Whether an index that was printed may lie beyond its array for some threads."""
        self.parameters: set[str] = set()
        self.least: dict[str, int] = {}
        """By size: the least that it may be."""
        self.lengths: dict[str, str] = {}
        """By parameter that is a size: the expression of it."""
        self.lanes: set[str] = set()
        """Names of the places of threads that a condition chose."""
        self.in_function = False
        self.sliced_axes: set[Axis] = set()
        """Axes along which some array was read or written as a part of it."""
        self.gathered_axes: set[Axis] = set()
        """Axes whose places an array of indices counts out."""
        self.given_last: dict[str, expr.Expr] = {}
        """By variable: the expression that it was given last."""
        self.turns: set[str] = set()
        """Counters of Python's loops, which are no sizes."""
        self.counters: dict[str, str] = {}
        """Their names where the program's are sizes."""

    def helper(self, name: str) -> str:
        self.helpers.update((name, *self.dialect.needs.get(name, ())))
        return name

    def value(self, e: expr.Expr) -> Value:
        """The text and the axes of an expression."""
        raise NotImplementedError

    def size(self, text: str) -> str:
        """A size expression, whose symbols the text then has to define; under another name where
        a parameter has theirs."""
        words = (word for word in _words(text) if word.isidentifier())
        symbols = [word for word in words if word not in self.turns]
        self.sizes.update(symbols)
        for symbol in symbols:
            if self.size_name(symbol) != symbol:
                text = re.sub(rf"\b{symbol}\b", self.size_name(symbol), text)
        return re.sub(r" *(//|[-+*]) *", r" \1 ", text)

    def size_name(self, symbol: str) -> str:
        """The name of a size in the text."""
        return f"len_{symbol}" if symbol in self.parameters or symbol in _BUILTIN else symbol

    def length(self, axis: Axis) -> str:
        """The length of an axis, in the text."""
        if axis.lanes:
            return axis.extent
        extent = linear_of(axis.extent)
        least = {} if extent is None else {a: self.least.get(str(a), 1) for a in extent.terms}
        fewest = 0 if extent is None else sum(f * least[a] for a, f in extent.terms.items())
        if extent is not None and fewest + extent.const < axis.low + axis.cut:
            raise NoForm(ArrayStatus.GUARD, "an interior of no length")
        return self.size(axis.extent if not axis.low + axis.cut else self.end(axis, axis.low))

    def end(self, axis: Axis, less: int = 0) -> str:
        """The place behind the last one of an axis, or as many places before it."""
        gone = axis.cut + less
        return f"{axis.extent}-{gone}" if gone else axis.extent

    # Reading arrays

    def symbol(self, atom: str) -> str:
        """The text of a symbol in a sum: a size, a loop's counter, or a parameter."""
        if atom.startswith("@"):
            return atom[1:]
        return atom if atom in self.turns else self.size(atom)

    def bare_axis(self, e: expr.Expr) -> Axis | None:
        """The axis whose place an index is, if it is nothing else."""
        return self.axis_of.get(e.name) if isinstance(e, expr.Var) else None

    @property
    def sure(self) -> bool:
        """Whether all threads do what is printed, so that no index may lie beyond its array."""
        return True

    def slice_at(self, index: Value, size: str) -> tuple[Axis, Slice] | None:
        """The axis of an index along a dimension, and the slice that it is."""
        places = places_of(index.linear)
        if places is None or places.axis not in self.order:
            return None
        found = slice_of(places, size, self.sure)
        if found is None or (found.step < 0 and not self.dialect.reverses):
            return None
        return places.axis, found

    def slices_at(self, name: str, values: Sequence[Value]) -> list[tuple[Axis, Slice] | None]:
        """For each index of an array its slice; none of an axis that comes twice."""
        found = [self.slice_at(v, d) for v, d in zip(values, self.shapes[name], strict=True)]
        axes = [entry[0] for entry in found if entry is not None]
        return [e if e is None or axes.count(e[0]) == 1 else None for e in found]

    def load(self, e: expr.Load) -> Value:
        name = e.array.name
        values = [self.value(i) for i in e.indices]
        slices = self.slices_at(name, values)
        array = self.env[name].doc if name in self.env else Doc(name)
        general = [v for v, s in zip(values, slices, strict=True) if s is None and v.axes]
        if not general:
            return self.sliced(e, array, slices, values)
        return self.gathered(e, array, slices, values)

    def texts_of(
        self, slices: Sequence[tuple[Axis, Slice] | None], values: Sequence[Value]
    ) -> list[str]:
        """What stands between the brackets, whole dimensions at the end left out."""
        texts = [
            v.doc.text if s is None else s[1].text(self.symbol)
            for s, v in zip(slices, values, strict=True)
        ]
        self.sliced_axes.update(s[0] for s in slices if s is not None)
        while texts and texts[-1] == ":":
            texts.pop()
        return texts

    def sliced(
        self,
        e: expr.Load,
        array: Doc,
        slices: Sequence[tuple[Axis, Slice] | None],
        values: Sequence[Value],
    ) -> Value:
        """Whole dimensions, parts of them, and places that all threads share."""
        texts = self.texts_of(slices, values)
        doc = subscript(array, [Doc(t) for t in texts]) if texts else array
        axes = [s[0] for s in slices if s is not None]
        sorted_axes = [axis for axis in self.order if axis in axes]
        view = bool(axes)
        if sorted_axes == axes:
            bare = "" if texts else e.array.name
            return Value(doc, e.type, tuple(axes), bare=bare, view=view)
        turned = self.turned(doc, axes, sorted_axes, e.type)
        return Value(turned, e.type, tuple(sorted_axes), view=view)

    def turned(self, doc: Doc, axes: Sequence[Axis], wanted: Sequence[Axis], type_: Type) -> Doc:
        """The array with its axes in another order."""
        order = [axes.index(axis) for axis in wanted]
        order += [len(axes) + k for k in range(parts_of(type_))]
        return self.dialect.turned(doc, order)

    def gathered(
        self,
        e: expr.Load,
        array: Doc,
        slices: Sequence[tuple[Axis, Slice] | None],
        values: Sequence[Value],
    ) -> Value:
        """Places that differ from thread to thread in another way than by a part of a dimension."""
        values = self.clipped(e, slices, values)
        axes = union(values, self.order)
        mixed = self.mixed(array, slices, values)
        if mixed is not None and mixed[1] == axes:
            return Value(mixed[0], e.type, axes)
        self.note_gathered(values)
        return Value(subscript(array, [aligned(i, axes) for i in values]), e.type, axes)

    def note_gathered(self, indices: Sequence[Value]) -> None:
        """Note the axes whose places are counted out in an index array."""
        for index in indices:
            if index.linear is not None:
                self.gathered_axes.update(a for a in index.axes if a in index.linear.terms)

    def mixed(
        self,
        array: Doc,
        slices: Sequence[tuple[Axis, Slice] | None],
        values: Sequence[Value],
    ) -> tuple[Doc, tuple[Axis, ...]] | None:
        """Slices beside index arrays that stand side by side, and the axes in their order."""
        at = [k for k, s in enumerate(slices) if s is None]
        if at[-1] - at[0] + 1 != len(at) or len(at) == len(slices):
            return None
        inner = union([values[k] for k in at], self.order)
        axes = [s[0] for s in slices[: at[0]] if s is not None]
        axes += [*inner, *(s[0] for s in slices[at[-1] :] if s is not None)]
        if len(set(axes)) < len(axes):
            return None
        shown = [
            v if s is not None else v.of(aligned(v, inner))
            for v, s in zip(values, slices, strict=True)
        ]
        self.note_gathered([values[k] for k in at])
        texts = self.texts_of(slices, shown)
        return subscript(array, [Doc(t) for t in texts]), tuple(axes)

    def clipped(
        self,
        e: expr.Load,
        slices: Sequence[tuple[Axis, Slice] | None],
        values: Sequence[Value],
    ) -> list[Value]:
        """Indices of which none lies beyond its dimension: where only some threads read, those of
        the others are brought back into it. Notes where that is not known."""
        found = list(values)
        shape = self.shapes[e.array.name]
        for k, (index, size) in enumerate(zip(e.indices, shape, strict=True)):
            inside, below = self.inside(index, size), self.below(index)
            if slices[k] is not None or (inside and not below):
                continue
            last = linear_of(size)
            if not values[k].axes and (not self.partial or _counted(values[k])):
                continue
            brought_back = self.partial or (inside and self.left)
            if not brought_back or last is None or not values[k].axes:
                self.unsafe |= not inside
                continue
            end = Doc(last.plus(Linear(-1)).text(self.symbol), Prec.ADD)
            found[k] = replace(values[k], doc=self.dialect.clipped(values[k].doc, end))
        return found

    @property
    def partial(self) -> bool:
        """Whether only some threads need what is printed, and the others may read anything."""
        return False

    @property
    def left(self) -> bool:
        """Whether some threads have ended, for which all of what follows is computed in vain."""
        return False

    def below(self, e: expr.Expr, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an index may lie further before its array than NumPy counts back; ``seen``:
        variables that were looked up on the way."""
        match e:
            case expr.Var(name=name) if name in self.given_last and name not in seen:
                return self.below(self.given_last[name], seen | {name})
            case expr.Op(op="sub"):
                return not isinstance(e.args[1], expr.Const)
            case expr.Op(op="min"):
                return any(self.below(a, seen) for a in e.args)
        return False

    def inside(self, e: expr.Expr, size: str) -> bool:
        """Whether an index is never beyond a dimension, whoever reads; before it NumPy counts from
        the end."""
        match e:
            case expr.Var():
                axis = self.axis_of.get(e.name)
                return e.name in self.lanes or (axis is not None and axis.extent == size)
            case expr.Const():
                return True
            case expr.Load():
                return True
            case expr.Op(op="min"):
                return any(self.inside(a, size) for a in e.args) or any(
                    _is_last(a, size, self.shapes) for a in e.args
                )
            case expr.Op(op="clamp"):
                return _is_last(e.args[2], size, self.shapes)
            case expr.Op(op="mod" | "lower_bound" | "argmin" | "argmax"):
                return True
            case expr.Op(op="sub" | "floordiv" | "rshift"):
                chosen = isinstance(e.args[0], expr.Var) and e.args[0].name in self.lanes
                return self.inside(e.args[0], size) and (e.op == "sub" or not chosen)
            case expr.Op(op="max" | "where"):
                return all(self.inside(a, size) for a in e.args[-2:])
        return False


def _counted(index: Value) -> bool:
    """Whether an index that all threads share is a counter, a parameter or a number as it is."""
    terms = {} if index.linear is None else index.linear.terms
    return index.linear is not None and len(terms) <= 1 and not (terms and index.linear.const)


def _is_last(e: expr.Expr, size: str, shapes: dict[str, tuple[str, ...]]) -> bool:
    """Whether an expression is the last place of a dimension."""
    match e:
        case expr.Op(op="sub", args=(expr.Extent() as extent, expr.Const(value=1))):
            return shapes[extent.array.name][extent.axis] == size
        case expr.Op(op="sub", args=(expr.Var() as count, expr.Const(value=1))):
            return count.name == size
    return False


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
