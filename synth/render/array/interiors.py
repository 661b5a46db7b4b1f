"""Branches that all threads take but those at the ends of an axis: parts of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from generators.program import expr, ir
from generators.program.walk import changed
from synth.render.array.boxes import Box, box_of, edge_of, narrowed
from synth.render.array.linear import Linear, linear_of
from synth.render.array.scopes import assigned, ends_thread, leaves_early, reads, stored
from synth.render.array.shared import Shared
from synth.render.array.values import Axis, NoForm, Value, aligned, union
from synth.render.breaks import TAB
from synth.render.doc import Doc, Prec, subscript
from validate.statuses import ArrayStatus


class Interiors(Shared):
    """Prints branches of an interior as assignments to slices, and the edges before them."""

    def if_(self, s: ir.If) -> None:
        free = self.mask is None and not self.in_branch and not self.in_function
        if free and self.tried(lambda: self.interior(s)):
            return
        super().if_(s)

    def interior(self, s: ir.If) -> None:
        """Print a branch over an interior. Raises NoForm where the condition states none."""
        condition, body = s.branches[0]
        more = (ir.If(s.branches[1:], s.orelse),) if len(s.branches) > 1 else s.orelse
        within = box_of(condition, self.linear)
        box = within or edge_of(condition, self.linear)
        if box is None or not all(axis in self.order for axis in box.bounds):
            raise NoForm(ArrayStatus.GUARD, "no interior")
        ends = ends_thread(body)
        if (leaves_early(body) and not ends) or leaves_early(more):
            raise NoForm(ArrayStatus.GUARD, "threads that end in an interior")
        if ends:
            if more or any(self.later[:-1]):
                raise NoForm(ArrayStatus.GUARD, "threads that end in an interior")
            body, more = body[:-1], self.later[-1]
        inner, edge = (body, more) if within else (more, body)
        if box.rest:
            if more:
                raise NoForm(ArrayStatus.GUARD, "no interior")
            test = box.rest[0]
            for other in box.rest[1:]:
                test = expr.op("and", test, other)
            inner = (ir.If(((test, inner),), ()),)
        self.parted(box, inner, edge)
        if ends:
            self.consumed = True

    def linear(self, e: expr.Expr) -> Linear | None:
        """What a whole number is as a sum of symbols and places."""
        if isinstance(e, expr.Const | expr.Var | expr.Op | expr.Cast | expr.Extent):
            return self.value(e).linear
        return None

    def parted(self, box: Box, inner: ir.Body, edge: ir.Body) -> None:
        """Print what lies inside of a box and what lies at its edges."""
        if not edge:
            self.inside_box(box, inner)
        elif not self.tried(lambda: self.edge_first(box, inner, edge)):
            pin = box.pinned
            if pin is None or assigned(inner) or assigned(edge):
                raise NoForm(ArrayStatus.GUARD, "edges that read beyond an array")
            if stored(inner) & set(reads(edge)) or stored(edge) & set(reads(inner)):
                raise NoForm(ArrayStatus.GUARD, "edges that read what the interior writes")
            self.inside_box(box, inner)
            self.at_place(*pin, edge)

    def edge_first(self, box: Box, inner: ir.Body, edge: ir.Body) -> None:
        """What the edges get for all threads, then the interior."""
        if not inner:
            raise NoForm(ArrayStatus.GUARD, "edges alone")
        written = stored(edge)
        stores = [t for t in edge if isinstance(t, ir.Store)]
        plain = all(isinstance(t, ir.Store | ir.Assign | ir.Comment) for t in edge)
        if not plain or any(t.op for t in stores) or not written <= self.undefined:
            raise NoForm(ArrayStatus.GUARD, "edges that change what is there")
        before, self.unsafe = self.unsafe, False
        self.guarded, known = True, self.guarded
        self.changing |= written
        self.later.append(inner)
        self.body(edge)
        self.later.pop()
        self.guarded = known
        if self.unsafe or not written <= set(self.arrays) - self.undefined:
            raise NoForm(ArrayStatus.GUARD, "edges that read beyond an array")
        self.unsafe = before
        self.inside_box(box, inner)

    def inside_box(self, box: Box, inner: ir.Body) -> None:
        """Print a body for the places of a box; what it gives to variables is put back."""
        new = {axis: narrowed(axis, bounds) for axis, bounds in box.bounds.items()}
        back = [n for n in assigned(inner) if n in self.env and self.read_later(n)]
        names = {name: self.fresh(f"{name}_in") for name in back}
        body = _renamed(inner, names)
        if back:
            kept = self.state()
            found = self.narrowed_body(body, names, new)
            self.restore(kept)
            for name, value in found.items():
                self.widen(name, value, new)
        for name, value in reversed(self.narrowed_body(body, names, new).items()):
            self.put_back(name, names[name], value, new)

    def narrowed_body(
        self, body: ir.Body, names: Mapping[str, str], new: Mapping[Axis, Axis]
    ) -> dict[str, Value]:
        """Print a body for the places of a box; what it leaves in some of its variables."""
        kept = dict(self.env), dict(self.axis_of), list(self.order)
        self.order = [new.get(axis, axis) for axis in self.order]
        self.axis_of = {n: new.get(axis, axis) for n, axis in self.axis_of.items()}
        self.env = {name: self.of_box(value, new) for name, value in kept[0].items()}
        self.env |= {new_name: self.env[name] for name, new_name in names.items()}
        self.body(body)
        found = {name: self.env[other] for name, other in names.items()}
        self.env, self.axis_of, self.order = kept
        return found

    def widen(self, name: str, value: Value, new: Mapping[Axis, Axis]) -> None:
        """See to it that a variable is an array of its own with all axes of what a box gives it."""
        whole = {part: axis for axis, part in new.items()}
        axes = tuple(whole.get(axis, axis) for axis in value.axes)
        there = union([Value(Doc(""), value.type, (*axes, *new)), self.env[name]], self.order)
        old = self.firm(self.unkept(name, self.env[name]))
        shared = any(name in v.doc.text for n, v in self.env.items() if n != name)
        filled = self.broadcast(old, there)
        if filled.doc.text != name or shared:
            plain = filled.doc.text.isidentifier() or filled.view
            self.put(f"{name} = ", self.dialect.copied(filled.doc) if plain else filled.doc)
        self.env[name] = Value(Doc(name), old.type, there)

    def of_box(self, value: Value, new: Mapping[Axis, Axis]) -> Value:
        """A value at the places of a box."""
        if not set(value.axes) & set(new):
            return value
        picks = [self.part(axis, new.get(axis, axis)) for axis in value.axes]
        while picks[-1].text == ":":
            picks.pop()
        axes = tuple(new.get(axis, axis) for axis in value.axes)
        linear = value.linear
        if linear is not None:
            terms: dict[Any, int] = {new.get(a, a): f for a, f in linear.terms.items()}  # type: ignore[call-overload]
            linear = Linear(linear.const, terms)
        doc = subscript(value.doc, picks)
        return value.of(doc, axes=axes, linear=linear, view=bool(value.view or value.bare))

    def part(self, axis: Axis, new: Axis) -> Doc:
        """The slice of an axis that a narrower one is."""
        if axis is new:
            return Doc(":")
        low, cut = new.low - axis.low, new.cut - axis.cut
        return Doc(f"{low or ''}:{-cut or ''}")

    def put_back(self, name: str, inner: str, value: Value, new: Mapping[Axis, Axis]) -> None:
        """Give a variable its new value at the places of a box."""
        there = self.env[name].axes
        shown = aligned(value, tuple(new.get(a, a) for a in there))
        start = f"{' ' * (self.depth * TAB)}{inner} = "
        if shown.text == inner and self.lines[-1].startswith(start) and "\n" not in self.lines[-1]:
            shown = Doc(self.lines.pop()[len(start) :])
        target = subscript(Doc(name), [self.part(a, new.get(a, a)) for a in there])
        self.put(f"{target.text} = ", shown)

    def at_place(self, axis: Axis, first: bool, body: ir.Body) -> None:
        """Print a body for the first or the last place of an axis."""
        extent = linear_of(axis.extent)
        if extent is None or axis.low or axis.cut:
            raise NoForm(ArrayStatus.GUARD, "edges of an interior")
        place = Linear(0) if first else extent.plus(Linear(-1))
        kept = dict(self.env), dict(self.axis_of), list(self.order)
        self.order = [a for a in self.order if a is not axis]
        self.axis_of = {n: a for n, a in self.axis_of.items() if a is not axis}
        self.env = {n: self.of_place(v, axis, first, place) for n, v in kept[0].items()}
        self.body(body)
        self.env, self.axis_of, self.order = kept

    def of_place(self, value: Value, axis: Axis, first: bool, place: Linear) -> Value:
        """A value at one place of an axis."""
        if axis not in value.axes:
            return value
        if value.linear is not None and value.axes == (axis,):
            factor = value.linear.terms[axis]
            at = value.linear.without(axis).plus(place, factor)
            doc = Doc(at.text(self.symbol), Prec.TIGHT if at.fixed else Prec.ADD)
            return value.of(doc, axes=(), linear=at, number=True)
        picks = [Doc("0" if first else "-1") if a is axis else Doc(":") for a in value.axes]
        while picks[-1].text == ":":
            picks.pop()
        left = tuple(a for a in value.axes if a is not axis)
        return value.of(subscript(value.doc, picks), axes=left)


def _renamed(body: ir.Body, names: Mapping[str, str]) -> ir.Body:
    """A body with other names for some of its variables."""

    def change(node: Any) -> Any:
        if isinstance(node, expr.Var) and node.name in names:
            return expr.Var(names[node.name], node.type)
        if isinstance(node, ir.Assign | ir.AugAssign | ir.SetComponent) and node.name in names:
            return replace(node, name=names[node.name])
        return node

    return changed(body, change) if names else body
