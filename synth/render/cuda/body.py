"""Statements and expressions of a program as plain CUDA C++."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from generators.program import expr, ir
from generators.program.dtypes import Array, Scalar, Type
from generators.program.walk import statements
from synth.render.cuda.device.atomics import atomic_call, part_atomics
from synth.render.cuda.device.functions import Library
from synth.render.cuda.device.parts import reference_to
from synth.render.cuda.device.parts import setter as setter_of
from synth.render.cuda.expressions import Expressions, is_lettered
from synth.render.cuda.find.unrolled import worth_unrolling
from synth.render.cuda.offsets import NOTHING, Known, Offsets, is_same
from synth.render.cuda.ops import CUDA_OPS, narrow
from synth.render.cuda.scalar_ops import masked
from synth.render.cuda.scopes import Declarations, plan
from synth.render.cuda.text import TAB, WIDTH, Prec, Text, binary, call, member, wrapped
from synth.render.cuda.types import computed
from synth.render.cuda.updates import SIGNS, address_of, in_place, step_of, stepped


class Body(Expressions):
    """Prints the body of one function or kernel."""

    def __init__(
        self,
        library: Library,
        names: Mapping[str, str],
        shapes: Mapping[str, Sequence[str]],
        leave: str,
    ) -> None:
        """``leave`` ends a thread early; the rest as :class:`Expressions` has it.

        ``special`` may be given other printers for some statements, by id.
        """
        super().__init__(library, names, shapes)
        self.leave = leave
        self.lines: list[str] = []
        self.declared = Declarations()
        self._bounds: set[str] = set()
        """Names of the ends of loops that stand in the block that is printed."""
        self._written_out: frozenset[int] = frozenset()
        self.types: dict[str, Type] = {}
        self.special: dict[int, Callable[[Any, int], None]] = {}
        self._statements: dict[type, Callable[[Any, int], None]] = {
            ir.Assign: self._assign,
            ir.AugAssign: self._augment,
            ir.SetComponent: self._set_component,
            ir.SetField: self._set_field,
            ir.Store: self._store,
            ir.Atomic: self._atomic,
            ir.Sample: self._sample,
            ir.If: self._if,
            ir.For: self._for,
            ir.While: self._while,
            ir.Break: lambda _s, d: self.put(d, "break;"),
            ir.Continue: lambda _s, d: self.put(d, "continue;"),
            ir.Return: self._return,
            ir.Comment: self._comment,
        }

    def put(self, depth: int, text: str) -> None:
        self.lines += wrapped(depth * TAB, text)

    def run(
        self, body: ir.Body, given: Mapping[str, Type], depth: int, known: Known = NOTHING
    ) -> list[str]:
        """The lines of a whole body; ``given`` are the variables that it starts with.

        ``known`` are flat indices that have a name before the body starts.
        """
        self._written_out = worth_unrolling(body)
        self.declared = plan(body, set(given))
        self.types = {name: computed(t) for name, t in given.items() if not isinstance(t, Array)}
        for s in statements(body):
            if isinstance(s, ir.Assign):
                self.types[s.name] = computed(s.value.type)
            elif isinstance(s, ir.Sample):
                self.types[s.name] = computed(s.type)
        self.lines = []
        taken = self.library.taken
        self.offsets = Offsets(body, self.declared, list(given), self.shapes, taken, known)
        self.library.offsets = self.offsets.names
        self.block(body, depth)
        return self.lines

    def block(self, body: ir.Body, depth: int) -> None:
        around, self._bounds = self._bounds, set()
        self._each(body, depth)
        self._bounds = around

    def _each(self, body: ir.Body, depth: int) -> None:
        for s in body:
            for name in self.declared.before.get(id(s), []):
                self.put(depth, f"{self.library.type(self.types[name])} {self.name(name)};")
            for sum_ in self.offsets.before.get(id(s), ()):
                # A loop may be printed twice: its name then stands for the sum already.
                self.offsets.named.pop(sum_.key, None)
                flat = self.flat(sum_.indices, sum_.key[1])
                self.put(depth, f"const int {sum_.name} = {flat.text};")
                self.offsets.named[sum_.key] = sum_.name
            self.special.get(id(s), self.usual)(s, depth)

    def usual(self, s: ir.Statement, depth: int) -> None:
        """A statement as it is printed without a printer of its own."""
        self._statements[type(s)](s, depth)

    # Statements

    def _typed(self, name: str) -> str:
        """What stands before a variable that an assignment declares. Not whether it is changed: who
        writes the text from its beginning would have to know what comes."""
        return f"{self.library.type(self.types[name])} "

    def _assign(self, s: ir.Assign, depth: int) -> None:
        name, type_ = self.name(s.name), self.types[s.name]
        if id(s) in self.declared.at:
            value = self.initial(s.value, type_)
            self.put(depth, f"{self._typed(s.name)}{name} = {value};")
            return
        step = step_of(s.value, lambda e: isinstance(e, expr.Var) and e.name == s.name)
        op, rest = step or ("", s.value)
        self.updated(Text(name), type_, op, rest, depth)

    def _sample(self, s: ir.Sample, depth: int) -> None:
        head = self._typed(s.name) if id(s) in self.declared.at else ""
        function = self.library.function(s.sampler, *(a.type for a in s.args))
        state = Text(reference_to(self.show(s.state).text))
        drawn = call(function, [state, *self.show_all(s.args)])
        self.put(depth, f"{head}{self.name(s.name)} = {drawn.text};")

    def updated(self, target: Text, type_: Type, op: str, value: expr.Expr, depth: int) -> None:
        """``target op= value``, or with an empty op ``target = value``."""
        held, stored = computed(type_), self.narrowed
        shown = self.show(value) if op else self.given_to(value, held)
        shown = masked(value, shown) if op.startswith("bit_") else shown
        if not op:
            self.put(depth, f"{target.text} = {stored(shown, type_).text};")
        elif isinstance(held, Scalar) and held == type_:
            self.put(depth, stepped(target.text, held, op, value, shown.text))
        elif held == type_ and in_place(self.library, op, held, computed(value.type)):
            self.put(depth, f"{target.text} {SIGNS[op]}= {shown.text};")
        else:
            left = self.widened(target, type_)
            if isinstance(held, Scalar):
                prec = Prec.ADD if op in ("add", "sub") else Prec.MUL
                whole = narrow(binary(SIGNS[op], prec, left, shown), held)
            else:
                node = expr.Op(op, (expr.Var("_", type_), value), type_)
                whole = CUDA_OPS[op](self, [left, shown], node)
            self.put(depth, f"{target.text} = {stored(whole, type_).text};")

    def _augment(self, s: ir.AugAssign, depth: int) -> None:
        self.updated(Text(self.name(s.name)), self.types[s.name], s.op, s.value, depth)

    def _set_component(self, s: ir.SetComponent, depth: int) -> None:
        type_ = self.types[s.name]
        if not all(isinstance(i, expr.Const) for i in s.indices) and is_lettered(type_):
            place = self.show(s.indices[0])
            value = self.show(s.value)
            if s.op:
                old = self._place(Text(self.name(s.name)), type_, s.indices)
                prec = Prec.ADD if s.op in ("add", "sub") else Prec.MUL
                value = binary(SIGNS[s.op], prec, old, value)
            target = Text(reference_to(self.name(s.name)))
            setter = call(setter_of(self.library, type_), [target, place, value])
            self.put(depth, f"{setter.text};")
            return
        target = self._place(Text(self.name(s.name)), type_, s.indices)
        self.updated(target, computed(s.value.type), s.op, s.value, depth)

    def _set_field(self, s: ir.SetField, depth: int) -> None:
        target = member(Text(self.name(s.name)), self.name(s.field))
        self.updated(target, s.type.field(s.field), "", s.value, depth)

    def _store(self, s: ir.Store, depth: int) -> None:
        assert isinstance(s.array.type, Array)
        target, op, value = self.index(s.array, s.indices), s.op, s.value
        if not op:
            op, value = step_of(value, lambda e: is_same(e, s)) or ("", value)
        self.updated(target, s.array.type.element, op, value, depth)

    def _atomic(self, s: ir.Atomic, depth: int) -> None:
        assert isinstance(s.array.type, Array)
        place, value = self.index(s.array, s.indices), self.show(s.value)
        element = s.array.type.element
        if s.compare is None:
            self.put(depth, self.atomic(s.op, element, place, value))
            return
        assert isinstance(element, Scalar)
        compare = self.show(s.compare)
        self.put(depth, f"{atomic_call(self.library, s.op, element, place, value, compare)};")

    def atomic_of(self, op: str, type_: Type, place: Text, value: str) -> str:
        """The statement of an atomic with a variable."""
        return self.atomic(op, type_, place, Text(value))

    def atomic(self, op: str, type_: Type, place: Text, value: Text, space: str = "") -> str:
        """The statement of an atomic that compares with nothing; ``space`` is that of the place."""
        if isinstance(type_, Scalar):
            return f"{atomic_call(self.library, op, type_, place, value, space=space)};"
        name = part_atomics(self.library, op, type_, space)
        return f"{name}({address_of(place)}, {value.text});"

    def _if(self, s: ir.If, depth: int) -> None:
        word = "if"
        for condition, body in s.branches:
            self.put(depth, f"{word} ({self.show(condition).text}) {{")
            self.block(body, depth + 1)
            word = "} else if"
        if s.orelse:
            self.put(depth, "} else {")
            self.block(s.orelse, depth + 1)
        self.put(depth, "}")

    def _for(self, s: ir.For, depth: int) -> None:
        name, stop = self.name(s.name), self.show(s.stop)
        if not isinstance(s.stop, expr.Const | expr.Var | expr.Extent):
            bound = f"{name}_end"
            while bound in self._bounds:
                bound += "_"
            self._bounds.add(bound)
            self.put(depth, f"const int {bound} = {stop.text};")
            stop = Text(bound)
        step = {1: f"++{name}", -1: f"--{name}"}.get(s.step)
        if step is None:
            step = f"{name} += {s.step}" if s.step > 0 else f"{name} -= {-s.step}"
        sign = "<" if s.step > 0 else ">"
        start = self.show(s.start).text
        if id(s) in self._written_out:
            self.put(depth, "#pragma unroll")
        self.put(depth, f"for (int {name} = {start}; {name} {sign} {stop.text}; {step}) {{")
        self.block(s.body, depth + 1)
        self.put(depth, "}")

    def _while(self, s: ir.While, depth: int) -> None:
        self.put(depth, f"while ({self.show(s.condition).text}) {{")
        self.block(s.body, depth + 1)
        self.put(depth, "}")

    def _return(self, s: ir.Return, depth: int) -> None:
        text = self.leave if s.value is None else f"return {self.show(s.value).text};"
        self.put(depth, text)

    def _comment(self, s: ir.Comment, depth: int) -> None:
        room = WIDTH - depth * TAB - 3
        self.lines += [f"{' ' * (depth * TAB)}// {line}" for line in textwrap.wrap(s.text, room)]
