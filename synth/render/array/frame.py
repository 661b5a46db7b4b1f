"""The frame of array bodies: lines, variables, masks of threads that have ended."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from generators.program import expr, ir
from generators.program.dtypes import INT32, Type, scalar_of
from synth.render.array.dialects.dialect import Dialect
from synth.render.array.expressions import Expressions, thinned
from synth.render.array.scopes import (
    reads,
)
from synth.render.array.values import (
    JOINED,
    MOST_INLINE,
    Axis,
    NoForm,
    Value,
    aligned,
    parts_of,
    shape_text,
)
from synth.render.breaks import TAB, WIDTH, lines_of
from synth.render.doc import Doc, binary, subscript
from validate.statuses import ArrayStatus

_REASONS: dict[type, ArrayStatus] = {
    ir.While: ArrayStatus.WALK,
    ir.Break: ArrayStatus.WALK,
    ir.Continue: ArrayStatus.WALK,
    ir.Return: ArrayStatus.WALK,
    ir.Sample: ArrayStatus.FUNCTION,
    ir.SetField: ArrayStatus.COMPOSITE,
}
_WALKERS: dict[type, str] = {
    ir.Assign: "assign",
    ir.AugAssign: "aug_assign",
    ir.SetComponent: "set_component",
    ir.Store: "store",
    ir.Atomic: "atomic",
    ir.If: "if_",
    ir.For: "for_",
    ir.Comment: "comment",
    **dict.fromkeys(_REASONS, "no_form"),
}


class Frame(Expressions):
    """Prints plain statements; subclasses bring conditions, writes and loops.

    A subclass has a method for each kind of statement.
    """

    def __init__(self, shapes: dict[str, tuple[str, ...]], edges: Any, dialect: Dialect) -> None:
        super().__init__(shapes, edges, dialect)
        self.lines: list[str] = []
        self.depth = 1
        self.mask: Value | None = None
        self.undefined: set[str] = set()
        """Outputs that have no array yet."""
        self.arrays: dict[str, Type] = {}
        self.taken: set[str] = set()
        self.threads: list[Axis] = []
        self.in_branch = False
        self.guarded = False
        """Whether threads compute what only some of them need, without a mask."""
        self.consumed = False
        """Whether the statement that was printed took what follows it with it."""
        self.later: list[ir.Body] = []
        self.changing: set[str] = set()
        """Arrays that are written to, and variables that are changed in place."""
        self.base = 0
        self.outer: dict[str, Value] = {}
        """What was known where a branch begins."""
        self.returned: dict[str, str] = {}
        """By output: the variable that it is in the end."""
        self.filling: dict[str, Doc] = {}
        """By output: the number that all its elements are so far."""
        self.given: dict[str, Value] = {}
        """What a branch has given to variables and whole outputs."""

    @property
    def sure(self) -> bool:
        return self.mask is None and not self.in_branch and not self.guarded

    @property
    def partial(self) -> bool:
        return self.in_branch

    @property
    def left(self) -> bool:
        return self.mask is not None

    def put(self, start: str, doc: Doc) -> None:
        pad = " " * (self.depth * TAB)
        line = f"{pad}{start}{doc.text}"
        if len(line) > WIDTH:
            line = lines_of(start, doc, "", self.depth * TAB)
        self.lines.append(line)

    def fresh(self, *wanted: str) -> str:
        name = next((w for w in wanted if w not in self.taken), wanted[-1])
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def keep(self, name: str, value: Value) -> None:
        """Assign a value to a name of the text, and remember the name as it."""
        doc = value.doc
        shown = value.bare or value.view
        if value.bare in self.changing or (shown and name in self.changing):
            doc = self.dialect.copied(value.doc)
        self.put(f"{name} = ", doc)
        self.env[name] = value.of(Doc(name), linear=value.linear)

    def body(self, body: ir.Body) -> None:
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            self.later.append(rest)
            mask = self.mask
            self.statement(statement)
            self.later.pop()
            if self.consumed:
                self.consumed = False
                return
            if self.mask is not mask and not self.in_branch:
                self.go_on(rest)
                return

    def statement(self, s: ir.Statement) -> None:
        """Print one statement."""
        getattr(self, _WALKERS[type(s)])(s)

    def go_on(self, rest: ir.Body) -> None:
        """The rest of a kernel that some threads have left: all threads compute it and a mask
        chooses, or, where it reads what only the others may, the others alone."""
        kept = self.state()
        self.unsafe = False
        self.body(rest)
        if self.unsafe:
            self.restore(kept)
            self.chosen_threads()
            self.unsafe = False
            self.body(rest)

    def state(self) -> tuple[Any, ...]:
        names = (self.taken, self.undefined, self.named, self.sizes, self.helpers, self.lanes)
        places = (self.sliced_axes, self.gathered_axes)
        maps = (self.env, self.axis_of)
        return (
            list(self.lines),
            self.mask,
            list(self.order),
            [dict(m) for m in maps],
            [set(s) for s in (*names, self.changing)],
            [set(s) for s in places],
        )

    def restore(self, kept: tuple[Any, ...]) -> None:
        self.lines, self.mask, self.order, (self.env, self.axis_of), names, places = kept
        self.taken, self.undefined, self.named, self.sizes, self.helpers, self.lanes = names[:6]
        self.changing = names[6]
        self.sliced_axes, self.gathered_axes = places

    def tried(self, print_it: Callable[[], None]) -> bool:
        """Print in one way; where that has no form, all is as before."""
        kept = self.state()
        deep, depth, branch = len(self.later), self.depth, (self.in_branch, self.base)
        outer, given, returned = self.outer, self.given, dict(self.returned)
        flags = self.guarded, self.unsafe
        try:
            print_it()
        except NoForm:
            self.restore(kept)
            del self.later[deep:]
            self.depth, (self.in_branch, self.base) = depth, branch
            self.outer, self.given, self.returned = outer, given, returned
            self.guarded, self.unsafe = flags
            return False
        return True

    def chosen_threads(self) -> None:
        """From here on arrays have an axis of the threads that the mask chooses."""
        mask, self.mask = self.mask, None
        assert mask is not None
        gone = mask.axes
        if len(gone) > 1 and len(gone) != len(self.order):
            raise NoForm(ArrayStatus.WALK, "threads of several dimensions that end")
        again = gone[0].lanes
        if len(gone) > 1 and any(axis.lanes for axis in gone):
            raise NoForm(ArrayStatus.WALK, "threads of several dimensions that end one by one")
        names = [self.fresh("kept", "left")] if again else [axis.name for axis in gone]
        self.put(f"{', '.join(names)} = ", self.dialect.places(mask.doc, len(names)))
        lanes = Axis(names[0], f"len({names[0]})", lanes=True)
        self.order = [lanes if a is gone[0] else a for a in self.order if a not in gone[1:]]
        for name, value in self.env.items():
            if set(value.axes) & set(gone):
                self.env[name] = self.of_lanes(value, gone, names, lanes)
        if again:
            return
        for name in names:
            self.env[name] = Value(Doc(name), INT32, (lanes,))
            del self.axis_of[name]
            self.lanes.add(name)

    def of_lanes(
        self, value: Value, gone: Sequence[Axis], names: Sequence[str], lanes: Axis
    ) -> Value:
        """A value of the threads that were chosen."""
        places = dict(zip(gone, names, strict=True))
        picks = [Doc(places.get(axis, ":")) for axis in value.axes]
        while picks[-1].text == ":":
            picks.pop()
        axes = tuple(a for a in self.order if a in value.axes or a is lanes)
        return value.of(subscript(value.doc, picks), axes=axes)

    def comment(self, s: ir.Comment) -> None:
        if s.text.startswith(("one thread", "one block", "One thread", "One block")):
            # Whole arrays have no threads.
            return
        pad = " " * (self.depth * TAB) + "# "
        self.lines += [pad + line for line in textwrap.wrap(s.text, WIDTH - len(pad))]

    def read_later(self, name: str) -> bool:
        return any(name in reads(rest) for rest in self.later)

    def assign(self, s: ir.Assign) -> None:
        value = self.value(s.value)
        self.given_last[s.name] = s.value
        read = s.value.array.name if isinstance(s.value, expr.Load) else ""
        if read in self.changing and value.view:
            # A slice is a view, which would change with its array.
            value = value.of(self.dialect.copied(value.doc))
        self.set(s.name, value, s.value.type)

    def set(self, name: str, value: Value, type_: Type) -> None:
        """Give a variable a value: in a branch, by a text of its own where that is short."""
        value = replace(value, type=type_)
        short = len(value.doc.text) <= MOST_INLINE and not any(
            name in reads(rest) for rest in self.later[self.base :]
        )
        alias = bool(value.bare) and not {value.bare, name} & self.changing
        if (self.in_branch and short) or (alias and not self.in_branch and self.depth == 1):
            self.env[name] = value
            self.given[name] = value
            return
        text = (
            self.fresh(f"{name}_then", f"{name}_other")
            if self.in_branch and name in self.outer
            else name
        )
        self.keep(text, value)
        if text != name:
            self.env[name] = self.env.pop(text)
        self.given[name] = self.env[name]

    def aug_assign(self, s: ir.AugAssign) -> None:
        old, new = self.env[s.name], self.value(s.value)
        self.set(s.name, self.joined(s.op, old, new, s.value.type), old.type)

    def joined(self, op: str, old: Value, new: Value, type_: Type) -> Value:
        """``old op new`` of the type of the old one."""
        if op in ("min", "max"):
            axes, docs = self.join([old, new])
            return Value(self.dialect.extreme(op, docs, [old, new]), old.type, axes)
        if parts_of(old.type) and op == "mul" and parts_of(new.type):
            raise NoForm(ArrayStatus.COMPOSITE, "products in place")
        symbol, prec = JOINED[op]
        result = old.type
        old, new = thinned(op, self.alike(op, [old, new]))
        axes, docs = self.join([old, new])
        doc = binary(symbol, prec, docs[0], docs[1])
        weak, number = old.weak and new.weak, old.number and new.number
        return Value(doc, result, axes, weak, number=number)

    def set_component(self, s: ir.SetComponent) -> None:
        if self.in_branch:
            raise NoForm(ArrayStatus.COMPOSITE, "components set in a branch")
        old, new = self.env[s.name], self.value(s.value)
        if not old.axes or not set(new.axes) <= set(old.axes):
            raise NoForm(ArrayStatus.COMPOSITE, "components set one by one")
        picks = [self.value(i) for i in s.indices]
        if any(p.axes for p in picks):
            raise NoForm(ArrayStatus.COMPOSITE, "components chosen by each thread")
        target = subscript(Doc(s.name), [Doc("..."), *(p.doc for p in picks)])
        symbol = f"{JOINED[s.op][0]}=" if s.op else "="
        self.put(f"{target.text} {symbol} ", aligned(new, old.axes))

    def broadcast(self, value: Value, there: Sequence[Axis]) -> Value:
        """A value with all of these axes."""
        if set(value.axes) == set(there):
            return value
        if self.in_function:
            raise NoForm(ArrayStatus.WALK, "loops in helpers")
        shape = shape_text([self.length(axis) for axis in there], value.type)
        if not value.axes and (value.number or not self.dialect.numbers_differ or _filled(value)):
            filled = (_filled(value) or value.doc).text
            doc = self.dialect.made("full", [shape, filled], value.type)
            if filled in ("0.0", "0"):
                doc = self.dialect.made("zeros", [shape], value.type)
            return Value(doc, value.type, tuple(there))
        doc = self.dialect.broadcast(aligned(value, there), Doc(shape))
        return Value(self.dialect.copied(doc), value.type, tuple(there))

    def unkept(self, name: str, value: Value) -> Value:
        """A value whose own line, the last ones being such lines, is taken back."""
        start = f"{' ' * (self.depth * TAB)}{name} = "
        for place in range(len(self.lines) - 1, -1, -1):
            line = self.lines[place]
            literal = "(" not in line or re.fullmatch(
                r"\w+\.zeros\([^()]*(\([^()]*\))?[^()]*\)", line[len(start) :]
            )
            if line.startswith(start) and not value.axes and literal:
                del self.lines[place]
                return value.of(Doc(line[len(start) :]))
            if re.search(rf"\b{name}\b", line) or line.lstrip().startswith(("for ", "if ")):
                break
        return value

    def no_form(self, s: ir.Statement) -> None:
        raise NoForm(_REASONS[type(s)], type(s).__name__)


def _filled(value: Value) -> Doc | None:
    """The component of a vector or matrix that was made of equal ones."""
    head, _, _ = value.doc.text.partition("(")
    if head.endswith(".zeros") and value.doc.text.endswith(")"):
        return Doc("0" if scalar_of(value.type).is_int else "0.0")
    return value.doc.parts[2] if head.endswith(".full") and len(value.doc.parts) > 2 else None
