"""Loops of threads, as dimensions of arrays or as loops over them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from generators.program import expr, ir
from generators.program.dtypes import INT32, Scalar, Type, scalar_of
from generators.program.walk import changed, expressions, names_read, operands, statements
from synth.render.array.linear import Linear
from synth.render.array.scopes import (
    accumulated,
    assigned,
    indexes,
    leaves_early,
    stored,
)
from synth.render.array.values import (
    Axis,
    NoForm,
    Value,
    parts_of,
    place_on,
    tight,
    union,
)
from synth.render.array.writes import Writes
from synth.render.breaks import TAB
from synth.render.doc import Doc, Prec, binary, call
from validate.statuses import ArrayStatus


class Bodies(Writes):
    """Prints loops: as a dimension that is summed over, or as a loop of Python."""

    def for_(self, s: ir.For) -> None:
        if leaves_early(s.body):
            raise NoForm(ArrayStatus.WALK, "loops that end early")
        start, stop = self.value(s.start), self.value(s.stop)
        if start.axes or stop.axes:
            raise NoForm(ArrayStatus.WALK, "loops of different length")
        if self.in_branch:
            raise NoForm(ArrayStatus.WALK, "loops in a branch")
        if self.goes_on(s) and self.tried(lambda: self.extreme_of_all(s, stop)):
            return
        if self.is_axis(s) and self.tried(lambda: self.loop_as_axis(s, stop)):
            return
        self.loop(s, start, stop)

    def goes_on(self, s: ir.For) -> bool:
        """Whether a loop from one on takes the extreme of what a variable was given for zero."""
        found = accumulated(s.body[0]) if len(s.body) == 1 else None
        if found is None or found[1] not in ("min", "max") or s.start != expr.Const(1, INT32):
            return False
        name, _, joined = found

        def first(node: Any) -> Any:
            return expr.Const(0, INT32) if node == expr.Var(s.name, INT32) else node

        return s.step == 1 and self.given_last.get(name) == changed(joined, first)

    def extreme_of_all(self, s: ir.For, stop: Value) -> None:
        """The extreme over a whole dimension."""
        (t,) = s.body
        found = accumulated(t)
        assert found is not None
        axis = Axis(s.name, self.dimension_of(s, stop.doc.text))
        self.order.append(axis)
        before = dict(self.axis_of)
        self.env[s.name], self.axis_of[s.name] = place_on(axis), axis
        value = self.value(found[2])
        if axis in self.gathered_axes or axis not in self.sliced_axes or axis not in value.axes:
            raise NoForm(ArrayStatus.WALK, "loops over places that are no dimension")
        value = self.reduced(found[1], value.of(value.doc, type=found[2].type), [axis])
        self.order.pop()
        del self.env[s.name]
        self.axis_of = before
        self.set(found[0], value, found[2].type)

    def is_axis(self, s: ir.For) -> bool:
        """Whether the turns of a loop are independent but for sums, and stand for a dimension."""
        if s.step != 1 or not (isinstance(s.start, expr.Const) and s.start.value == 0):
            return False
        alone, within = indexes(s.body, s.name)
        return (alone or not within) and self.independent(s)

    def independent(self, loop: ir.For) -> bool:
        """Whether each turn has variables and elements of its own, and all turns join sums."""
        joined: set[str] = set()
        if not self.turns_apart(loop.body, {loop.name}, joined):
            return False
        every = list(statements(loop.body))
        stores = [t for t in every if isinstance(t, ir.Store)]
        threads = {name for name, axis in self.axis_of.items() if axis in self.order}
        places = {loop.name, *threads, *(t.name for t in every if isinstance(t, ir.For))}
        for store in stores:
            named = {i.name for i in store.indices if isinstance(i, expr.Var)}
            if len(named) < len(store.indices) or not {loop.name, *threads} <= named <= places:
                return False
            if not self.reads_own(store, loop.body):
                return False
        inside = {name for t in every for name in self.operand_names(t, joined)}
        return bool(joined or stores) and not joined & inside

    def turns_apart(self, body: ir.Body, local: set[str], joined: set[str]) -> bool:
        """Whether a body hands nothing on to the next turn but ``joined``, which it adds to."""
        for t in body:
            found = accumulated(t)
            if found is not None and found[0] in self.env and found[0] not in local:
                joined.add(found[0])
            elif isinstance(t, ir.Assign | ir.AugAssign):
                if t.name in self.env and t.name not in local:
                    return False
                local.add(t.name)
            elif isinstance(t, ir.If | ir.For):
                inner: set[str] = set()
                bodies = (
                    (t.body,) if isinstance(t, ir.For) else [*(b for _, b in t.branches), t.orelse]
                )
                local |= {t.name} if isinstance(t, ir.For) else set()
                if leaves_early((t,)) or not all(self.turns_apart(b, local, inner) for b in bodies):
                    return False
                if inner:
                    return False
            elif not isinstance(t, ir.Comment | ir.Store):
                return False
        return True

    def reads_own(self, store: ir.Store, body: ir.Body) -> bool:
        """Whether a body reads of an array that it stores to what the turn stores."""
        read = [e for e in expressions(body) if isinstance(e, expr.Load)]
        return all(e.indices == store.indices for e in read if e.array.name == store.array.name)

    def operand_names(self, t: ir.Statement, joined: set[str]) -> list[str]:
        found = accumulated(t)
        if found is not None and found[0] in joined:
            return list(names_read([found[2]]))
        return list(names_read(operands(t)))

    def loop_as_axis(self, s: ir.For, stop: Value) -> None:
        text = self.dimension_of(s, stop.doc.text)
        own = text == stop.doc.text and any(names_read([s.stop]))
        axis = Axis(s.name, text, lanes=own)
        self.order.append(axis)
        # A line of its own keeps the place: others before it may be taken back.
        begin, named = f"\0{len(self.lines)}", s.name in self.named
        self.lines.append(begin)
        self.named.discard(s.name)
        before = dict(self.env), dict(self.axis_of)
        self.axis_of[s.name] = axis
        self.env[s.name] = place_on(axis)
        for place, t in enumerate(s.body):
            found = accumulated(t)
            if found is not None and found[0] in before[0]:
                self.accumulate(found, axis, before[0])
            else:
                self.later.append(s.body[place + 1 :])
                self.statement(t)
                self.later.pop()
        if axis in self.gathered_axes or axis not in self.sliced_axes:
            raise NoForm(ArrayStatus.WALK, "loops over places that are no dimension")
        places = []
        if s.name in self.named:
            doc = self.dialect.made("arange", [self.length(axis)], INT32)
            places.append(f"{' ' * (self.depth * TAB)}{s.name} = {doc.text}")
            self.named.discard(s.name)
        at = self.lines.index(begin)
        self.lines[at : at + 1] = places
        if named:
            self.named.add(s.name)
        self.order.pop()
        env = {name: value for name, value in self.env.items() if name in before[0]}
        self.env, self.axis_of = env, before[1]

    def dimension_of(self, s: ir.For, stop: str) -> str:
        """The length of the loop as the shapes of arrays say it."""
        if isinstance(s.stop, expr.Extent):
            return self.shapes[s.stop.array.name][s.stop.axis]
        if isinstance(s.stop, expr.Var):
            return self.lengths.get(s.stop.name, stop)
        return stop

    def accumulate(
        self, found: tuple[str, str, expr.Expr], axis: Axis, before: dict[str, Value]
    ) -> None:
        name, op, joined = found
        value = self.product(joined, axis) if op in ("add", "sub") else None
        if value is None:
            value = self.value(joined)
            value = value.of(value.doc, type=joined.type)
            if axis not in value.axes:
                raise NoForm(ArrayStatus.WALK, "sums of the same value")
            value = self.reduced(op, value, [axis])
        old = self.unkept(name, self.env[name])
        zeros = re.fullmatch(r"\w+\.zeros\(.*\)", old.doc.text) is not None and not old.axes
        literal = old.doc.text in ("0.0", "0") and not parts_of(old.type)
        filled = parts_of(value.type) == parts_of(old.type)
        if _beyond(op, old, joined) or (op == "add" and (literal or (zeros and filled))):
            new = Value(value.doc, old.type, value.axes)
        elif op in ("and", "or"):
            axes, docs = self.join([old, value])
            symbol = "&" if op == "and" else "|"
            new = Value(binary(symbol, Prec.BIT_AND, docs[0], docs[1]), old.type, axes)
        else:
            new = self.joined(op, old, value, old.type)
        self.order.pop()
        self.set(name, new, old.type)
        self.order.append(axis)

    def product(self, joined: expr.Expr, axis: Axis) -> Value | None:
        """A sum of products of two arrays that share nothing but the loop: ``a @ b``."""
        if (
            not isinstance(joined, expr.Op)
            or joined.op != "mul"
            or not isinstance(joined.type, Scalar)
        ):
            return None
        if joined.type.is_int and not self.dialect.int_products:
            return None
        left, right = (self.value(a) for a in joined.args)
        if axis not in left.axes or axis not in right.axes or left.type != right.type:
            return None
        mine, other = (tuple(a for a in v.axes if a != axis) for v in (left, right))
        if set(mine) & set(other) or len(mine) > 1 or len(other) > 1:
            return self.contraction(joined.type, left, right, axis)
        rank = {a: k for k, a in enumerate(self.order)}
        if mine and other and rank[mine[0]] > rank[other[0]]:
            left, right, mine, other = right, left, other, mine
        if not mine and other:
            # people write the matrix first
            left, right, mine, other = right, left, other, mine
        doc_left = left.doc
        doc_right = right.doc
        if other:
            doc_right = _transposed(right.doc)
        return Value(binary("@", Prec.MUL, doc_left, doc_right), joined.type, (*mine, *other))

    def contraction(self, type_: Type, left: Value, right: Value, axis: Axis) -> Value | None:
        """``einsum`` of two arrays neither of which has all dimensions of their product: the
        product itself would be larger than both."""
        axes = tuple(a for a in union([left, right], self.order) if a != axis)
        if any({*axes} <= {*v.axes} for v in (left, right)):
            return None
        letters: dict[Axis, str] = {}
        for a in (*axes, axis):
            taken = set(letters.values())
            wanted = [c for c in a.name.lower() + "ijkmnpqrs" if c.isalpha()]
            letters[a] = next(c for c in wanted if c not in taken)
        given = ",".join("".join(letters[a] for a in v.axes) for v in (left, right))
        form = f'"{given}->{"".join(letters[a] for a in axes)}"'
        doc = call(f"{self.dialect.module}.einsum", [Doc(form), left.doc, right.doc])
        return Value(doc, type_, axes)

    def loop(self, s: ir.For, start: Value, stop: Value) -> None:
        """A loop of Python, each turn of it for all threads at once."""
        bounds = [start.doc, stop.doc]
        if s.step != 1:
            bounds.append(Doc(str(s.step)))
        elif start.doc.text == "0":
            del bounds[0]
        carried = [name for name in assigned(s.body) if name in self.env]
        self.settle(s, carried)
        for name in sorted(stored(s.body)):
            self.owned(name)
        self.put(f"for {self.counter(s)} in ", Doc(f"{call('range', bounds).text}:"))
        self.depth += 1
        self.turn(s)
        self.depth -= 1

    def counter(self, s: ir.For) -> str:
        """The name of a loop's counter, which no size has."""
        sizes = " ".join(size for shape in self.shapes.values() for size in shape)
        if s.name not in re.findall(r"\w+", sizes):
            return s.name
        return self.counters.setdefault(s.name, self.fresh("turn", "step"))

    def turn(self, s: ir.For) -> None:
        before = dict(self.env)
        counter = self.counter(s)
        self.turns.add(counter)
        linear = Linear(0, {counter: 1})
        self.env[s.name] = Value(Doc(counter), INT32, weak=True, number=True, linear=linear)
        self.later.append(s.body)
        self.body(s.body)
        self.later.pop()
        self.env = {
            name: self.env.get(name, value).of(Doc(name)) if name in assigned(s.body) else value
            for name, value in before.items()
        }

    def settle(self, s: ir.For, carried: Sequence[str]) -> None:
        """Give what turns hand on the axes that it has in the end, before the loop."""
        # What is the same as another variable is given its own form before that one changes.
        carried = sorted(carried, key=lambda n: self.env[n].doc.text not in {*carried} - {n})
        for name in carried:
            value = replace(self.env[name], linear=None)
            self.env[name] = value
            if value.number and scalar_of(value.type).is_unsigned and self.dialect.wraps:
                # A number of Python would not wrap.
                value = self.unkept(name, value)
                self.keep(name, replace(self.converted(value, value.type), weak=False))
        for _ in range(4):
            kept = list(self.lines), dict(self.env), set(self.taken), set(self.undefined)
            self.turn(s)
            after = {name: self.env[name] for name in carried}
            self.lines, self.env, self.taken, self.undefined = kept
            grown = [n for n in carried if after[n].axes != self.env[n].axes]
            for name in carried:
                value = self.env[name]
                if name in grown:
                    axes = union([after[name], value], self.order)
                    self.keep(name, self.broadcast(self.unkept(name, value), axes))
                elif value.doc.text != name:
                    self.keep(name, value)
                weak = value.weak and after[name].weak
                number = value.number and after[name].number
                if (weak, number) != (value.weak, value.number):
                    self.env[name] = self.env[name].of(Doc(name), weak=weak, number=number)
            if not grown:
                return
        raise NoForm(ArrayStatus.WALK, "loops whose values change their form")


def _beyond(op: str, old: Value, joined: expr.Expr) -> bool:
    """Whether an extreme starts from a literal below every value."""
    if op not in ("min", "max") or scalar_of(old.type).is_int:
        return False
    try:
        start = float(old.doc.text)
    except ValueError:
        return False
    if op == "max" and start <= 0.0 and _never_below_zero(joined):
        return True
    return start <= -1e29 if op == "max" else start >= 1e29


def _never_below_zero(e: expr.Expr) -> bool:
    if not isinstance(e, expr.Op):
        return False
    if e.op == "mul":
        return e.args[0] == e.args[1]
    return e.op in ("abs", "sqrt", "exp", "length", "length_sq")


def _transposed(doc: Doc) -> Doc:
    if doc.text.endswith(".T") and doc.prec >= Prec.TIGHT:
        return Doc(doc.text[:-2])
    return Doc(f"{tight(doc)}.T")
