"""Conditions that all threads share, as an ``if`` of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.program import ir
from synth.render.array.conditions import Conditions
from synth.render.array.scopes import assigned, leaves_early, stored
from synth.render.array.values import NoForm, Value, union
from synth.render.doc import Doc
from validate.statuses import ArrayStatus


class Shared(Conditions):
    """Prints choices between bodies that all threads take together."""

    def if_(self, s: ir.If) -> None:
        if self.value(s.branches[0][0]).axes or self.in_function:
            super().if_(s)
        elif self.in_branch or leaves_early((s,)):
            raise NoForm(ArrayStatus.GUARD, "conditions that all threads share")
        else:
            self.shared(s)

    def shared(self, s: ir.If) -> None:
        """Print an ``if``; what both sides give to a variable has the same form behind it."""
        test = self.value(s.branches[0][0])
        more: ir.Body = (ir.If(s.branches[1:], s.orelse),) if s.branches[1:] else s.orelse
        sides = [s.branches[0][1], more]
        forms = self.forms(sides)
        for name, value in forms.items():
            if name in self.env:
                old = self.env[name]
                self.formed(name, self.unkept(name, old) if old.axes != value.axes else old, value)
        for name in sorted(stored((s,))):
            self.owned(name)
        for head, body in zip(("if ", "else"), sides, strict=True):
            if not body:
                continue
            self.put(head, Doc(f"{test.doc.text}:" if head == "if " else ":"))
            self.one_side(body, forms)
        known = {name: v.of(Doc(name), weak=v.weak) for name, v in forms.items()}
        self.env |= known

    def owned(self, name: str) -> None:
        """See to it that an output has an array before a part of it is written."""
        raise NotImplementedError

    def one_side(self, body: ir.Body, forms: dict[str, Value]) -> None:
        """Print one side."""
        before = dict(self.env)
        self.depth += 1
        self.body(body)
        for name in assigned(body):
            if name in forms:
                self.formed(name, self.env[name], forms[name])
        self.depth -= 1
        self.env = before

    def formed(self, name: str, value: Value, like: Value) -> None:
        """Give a variable a value under its own name, with the axes of another one."""
        wide = value if set(value.axes) == set(like.axes) else self.broadcast(value, like.axes)
        if wide.doc.text != name:
            self.keep(name, wide)

    def forms(self, sides: Sequence[ir.Body]) -> dict[str, Value]:
        """What variables are behind both sides: those that were there before, and those that both
        sides make."""
        every: dict[str, list[Value]] = {}
        for body in sides:
            kept = self.state()
            depth = self.depth
            self.depth += 1
            self.body(body)
            for name in assigned(body):
                every.setdefault(name, []).append(self.env[name])
            self.restore(kept)
            self.depth = depth
        found = {}
        for name, values in every.items():
            if name in self.env:
                values = [*values, self.env[name]]
            elif len(values) < len(sides):
                continue
            weak, number = all(v.weak for v in values), all(v.number for v in values)
            one = values[0].of(Doc(name), axes=union(values, self.order))
            found[name] = replace(one, weak=weak, number=number)
        return found
