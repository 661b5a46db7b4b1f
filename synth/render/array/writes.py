"""What threads write, as whole arrays: stores, updates, reductions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.program import expr, ir
from generators.program.dtypes import INT32, Array, scalar_of
from synth.render.array.dialects.dialect import Update
from synth.render.array.interiors import Interiors
from synth.render.array.scopes import assigned, reads, stored
from synth.render.array.values import (
    JOINED,
    Axis,
    NoForm,
    Value,
    aligned,
    parts_of,
    shape_text,
    union,
)
from synth.render.breaks import TAB
from synth.render.doc import Doc, binary, subscript
from synth.render.text import number
from validate.statuses import ArrayStatus

_REDUCED = {"add": "sum", "sub": "sum", "mul": "prod", "min": "min", "max": "max"}
_REDUCED |= {"and": "all", "or": "any"}
_UPDATES = frozenset({"add", "sub", "min", "max", "and", "or", "xor"})


class Writes(Interiors):
    """Prints stores and atomics."""

    def owned(self, name: str) -> None:
        """See to it that an output has an array before a part of it is written."""
        if name in self.undefined:
            self.undefined.discard(name)
            array = self.arrays[name]
            assert isinstance(array, Array)
            shape = self.shape_of(name)
            self.put(f"{name} = ", self.dialect.made("empty", [shape], array.element))

    def shape_of(self, name: str) -> str:
        array = self.arrays[name]
        assert isinstance(array, Array)
        return shape_text([self.size(text) for text in self.shapes[name]], array.element)

    def store(self, s: ir.Store) -> None:
        name = s.array.name
        value = self.value(s.value)
        value = replace(value, type=s.value.type)
        axes = [self.bare_axis(i) for i in s.indices]
        there = [a for a in axes if a is not None]
        if len(there) == len(axes) and len(set(there)) == len(there) and self.covers(there):
            extents = [a.extent for a in there]
            parted = any(a.low or a.cut for a in there)
            if tuple(extents) == self.shapes[name] and not parted:
                self.store_whole(s, name, value, there)
                return
        self.store_part(s, name, value, axes)

    def covers(self, there: Sequence[Axis]) -> bool:
        """Whether each thread has an element of its own: all axes are there."""
        return set(there) == set(self.order)

    def store_whole(self, s: ir.Store, name: str, value: Value, there: Sequence[Axis]) -> None:
        """One element a thread, and every element one."""
        if list(there) != [a for a in self.order if a in there]:
            if value.axes != tuple(a for a in self.order if a in there):
                raise NoForm(ArrayStatus.SCATTER, "outputs turned")
            if s.op or self.mask is not None:
                raise NoForm(ArrayStatus.SCATTER, "outputs turned and updated")
            value = value.of(self.turned(value.doc, value.axes, there, value.type))
        else:
            value = self.broadcast(value, there)
        if s.op:
            old = Value(Doc(name), value.type, tuple(there))
            value = self.joined(
                s.op, self.given.get(name, old) if self.in_branch else old, value, value.type
            )
        if self.in_branch:
            self.given[name] = value
            self.env[name] = value
            return
        self.whole_store(name, value)

    def whole_store(self, name: str, value: Value) -> None:
        """``name = value`` for a whole output."""
        array = self.arrays[name]
        assert isinstance(array, Array)
        if self.in_branch:
            self.given[name] = value
            return
        if self.mask is not None and name not in self.undefined:
            value = self.firm(value)
            mask = aligned(self.mask, value.axes, parts_of(value.type))
            old = Doc(name) if value.thin is not None else self.unfilled(name)
            value = Value(self.dialect.where(mask, value.doc, old), value.type, value.axes)
        self.filling.pop(name, None)
        if (number := _number_in(value)) is not None:
            self.filling[name] = number
        doc = value.doc
        if value.weak and value.axes:
            doc = self.dialect.converted(doc, array.element, is_array=True)
        elif value.bare:
            doc = self.dialect.copied(doc)
        self.undefined.discard(name)
        self.env.pop(name, None)
        if self.stays(name, doc):
            self.returned[name] = doc.text
        else:
            self.put(f"{name} = ", doc)

    def unfilled(self, name: str) -> Doc:
        """An output as it is: the number that fills it, whose line is taken back, or its name."""
        number = self.filling.pop(name, None)
        start = f"{' ' * (self.depth * TAB)}{name} = "
        places = [at for at, line in enumerate(self.lines) if name in line]
        if number is None or len(places) != 1 or not self.lines[places[0]].startswith(start):
            return Doc(name)
        del self.lines[places[0]]
        return number

    def stays(self, name: str, doc: Doc) -> bool:
        """Whether an output is a variable that nothing changes any more, nor the output."""
        variable = doc.text
        if self.depth > 1 or variable in self.arrays or not variable.isidentifier():
            return False
        later = tuple(s for rest in self.later for s in rest)
        touched = {*assigned(later), *stored(later), *reads(later)}
        return not touched & {name, variable}

    def store_part(self, s: ir.Store, name: str, value: Value, axes: Sequence[Axis | None]) -> None:
        """Some elements, by index."""
        if name in self.given:
            raise NoForm(ArrayStatus.SCATTER, "outputs written twice in a branch")
        self.owned(name)
        target, shape_axes = self.target(s.array.name, s.indices, axes)
        if not set(value.axes) <= set(shape_axes):
            raise NoForm(ArrayStatus.SCATTER, "elements that many threads write")
        doc = aligned(value, shape_axes)
        if self.mask is not None and any(a is None for a in axes):
            chosen = self.chosen_elements(s, name, value, axes)
            if chosen is not None:
                self.put(f"{chosen[0].text} = ", chosen[1])
                return
        if self.mask is not None:
            if not set(self.mask.axes) <= set(shape_axes):
                raise NoForm(ArrayStatus.SCATTER, "elements that some threads write")
            if self.in_branch and not self.all_inside(s):
                raise NoForm(ArrayStatus.GUARD, "writes that a condition guards")
            mask = aligned(self.mask, shape_axes, parts_of(value.type))
            old = target
            if s.op:
                symbol, prec = JOINED[s.op]
                doc = binary(symbol, prec, target, doc)
            self.put(f"{target.text} = ", self.dialect.where(mask, doc, old))
            return
        symbol = f"{JOINED[s.op][0]}=" if s.op else "="
        self.put(f"{target.text} {symbol} ", doc)

    def all_inside(self, s: ir.Store) -> bool:
        """Whether no thread, whatever its mask says, writes beyond the array."""
        pairs = zip(s.indices, self.shapes[s.array.name], strict=True)
        return all(self.inside(i, size) or not self.value(i).axes for i, size in pairs)

    def chosen_elements(
        self, s: ir.Store, name: str, value: Value, axes: Sequence[Axis | None]
    ) -> tuple[Doc, Doc] | None:
        """The elements that the threads of the mask alone name, and what they get: another thread
        may name one of them too. None where indices are of other axes than the mask."""
        mask = self.mask
        indices = [
            self.env[i.name] if a is not None and isinstance(i, expr.Var) else self.value(i)
            for i, a in zip(s.indices, axes, strict=True)
        ]
        vary = [v for v in indices if v.axes]
        if mask is None or s.op or not vary or any(v.axes != mask.axes for v in vary):
            return None
        if value.axes and value.axes != mask.axes:
            return None
        for index, axis in zip(s.indices, axes, strict=True):
            if axis is not None and isinstance(index, expr.Var):
                self.named.add(index.name)
        docs = [subscript(v.doc, [mask.doc]) if v.axes else v.doc for v in indices]
        new = subscript(value.doc, [mask.doc]) if value.axes else value.doc
        return subscript(Doc(name), docs), new

    def target(
        self, name: str, indices: Sequence[expr.Expr], axes: Sequence[Axis | None]
    ) -> tuple[Doc, tuple[Axis, ...]]:
        """The elements that an index names, and the axes of the array that they are."""
        values = [self.value(i) for i in indices]
        slices = self.slices_at(name, values)
        if not any(v.axes for v, s in zip(values, slices, strict=True) if s is None):
            there = [s[0] for s in slices if s is not None]
            if there != [a for a in self.order if a in there]:
                raise NoForm(ArrayStatus.SCATTER, "outputs turned")
            texts = self.texts_of(slices, values) or [":"]
            return subscript(Doc(name), [Doc(t) for t in texts]), tuple(there)
        found = union(values, self.order)
        self.note_gathered(values)
        return subscript(Doc(name), [aligned(v, found) for v in values]), found

    def atomic(self, s: ir.Atomic) -> None:
        name = s.array.name
        if s.op not in _UPDATES:
            raise NoForm(ArrayStatus.SCATTER, "exchanges")
        value = self.value(s.value)
        axes = [self.bare_axis(i) for i in s.indices]
        there = [a for a in axes if a is not None]
        indices = [
            self.env[i.name] if a is not None and isinstance(i, expr.Var) else self.value(i)
            for i, a in zip(s.indices, axes, strict=True)
        ]
        shared = all(a is not None or not v.axes for a, v in zip(axes, indices, strict=True))
        if (
            shared
            and len(set(there)) == len(there)
            and s.op in _REDUCED
            and s.op not in ("and", "or")
        ):
            self.atomic_reduced(s, name, value, axes, there)
            return
        self.atomic_at(s, name, value, indices, axes)

    def atomic_reduced(
        self,
        s: ir.Atomic,
        name: str,
        value: Value,
        axes: Sequence[Axis | None],
        there: Sequence[Axis],
    ) -> None:
        """All threads of some axes to the same element: a reduction over these axes."""
        left = [a for a in self.order if a not in there]
        target, _ = self.target(name, s.indices, axes)
        if all(t == ":" for t in target.text[len(name) + 1 : -1].split(", ")):
            target = Doc(name)
        value = value.of(value.doc, type=s.value.type)
        if self.mask is not None:
            neutral = Doc("0") if s.op in ("add", "sub") else target
            if s.op in ("min", "max") and there:
                raise NoForm(ArrayStatus.SCATTER, "extremes of some threads")
            values = [self.mask, value]
            found = union(values, self.order)
            parts = parts_of(value.type)
            docs = [aligned(self.mask, found, parts), aligned(value, found)]
            value = Value(self.dialect.where(docs[0], docs[1], neutral), value.type, found)
        missing = [a for a in left if a not in value.axes]
        if missing and s.op in ("add", "sub"):
            value = self.broadcast(
                value, [a for a in self.order if a in value.axes or a in missing]
            )
        reduced = self.reduced(s.op, value, [a for a in left if a in value.axes])
        if reduced.axes != tuple(there) and reduced.axes != tuple(
            a for a in self.order if a in there
        ):
            raise NoForm(ArrayStatus.SCATTER, "outputs turned")
        if s.op in ("min", "max"):
            both = [Value(target, value.type, tuple(there)), reduced]
            doc = self.dialect.extreme(s.op, [target, reduced.doc], both)
            self.put(f"{target.text} = ", doc)
        else:
            self.put(f"{target.text} {JOINED[s.op][0]}= ", reduced.doc)

    def atomic_at(
        self,
        s: ir.Atomic,
        name: str,
        value: Value,
        indices: Sequence[Value],
        axes: Sequence[Axis | None],
    ) -> None:
        """Threads to elements that an index names."""
        for index, axis in zip(s.indices, axes, strict=True):
            if axis is not None and isinstance(index, expr.Var):
                self.named.add(index.name)
        everything = [*indices, value, *([self.mask] if self.mask else [])]
        found = union(everything, self.order)
        docs = [aligned(i, found) for i in indices]
        new = aligned(value, found)
        if not any(i.axes == found for i in indices):
            if len(docs) > 1 or self.mask is not None:
                raise NoForm(ArrayStatus.SCATTER, "updates at indices of fewer axes")
            shape = shape_text([self.length(axis) for axis in found], INT32)
            docs = [self.dialect.broadcast(docs[0], Doc(shape))]
        if self.mask is not None:
            if any(i.axes and i.axes != found for i in indices) or self.mask.axes != found:
                raise NoForm(ArrayStatus.SCATTER, "updates of some threads")
            mask = self.mask.doc
            docs = [
                subscript(d, [mask]) if i.axes else d for d, i in zip(docs, indices, strict=True)
            ]
            if value.axes == found:
                new = subscript(new, [mask])
            elif value.axes:
                raise NoForm(ArrayStatus.SCATTER, "updates of some threads")
        self.put("", self.dialect.update(Update(name, s.op, indices, docs, value, new, found)))

    def reduced(self, op: str, value: Value, over: Sequence[Axis]) -> Value:
        """A value reduced over some of its axes."""
        if not over:
            return value
        places = [value.axes.index(a) for a in over]
        left = tuple(a for a in value.axes if a not in over)
        method = _REDUCED[op]
        if not left and not parts_of(value.type):
            return Value(self.dialect.reduced(method, value.doc), value.type)
        whole = method in ("sum", "prod") and scalar_of(value.type).is_int
        parts = parts_of(value.type)
        counted = [p if not left or parts or p == 0 else p - len(value.axes) for p in places]
        axis = str(counted[0]) if len(counted) == 1 else f"({', '.join(map(str, sorted(places)))})"
        doc = self.dialect.reduced(method, value.doc, axis, type_=value.type if whole else None)
        return Value(doc, value.type, left)


def _number_in(value: Value) -> Doc | None:
    """The literal that all elements of a new array are; None for any other text."""
    head, _, rest = value.doc.text.partition("(")
    scalar = scalar_of(value.type)
    if head.count(".") != 1 or scalar.name == "bool":
        return None
    if head.endswith(".zeros") and rest.endswith(")"):
        return Doc("0" if scalar.is_int else "0.0")
    known = head.endswith(".full") and len(value.doc.parts) > 2
    text = value.doc.parts[2].text if known else ""
    return number(text) if text.lstrip("-").replace(".", "", 1).isdigit() else None
