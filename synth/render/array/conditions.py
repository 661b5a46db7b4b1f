"""Conditions of threads as masks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from generators.program import ir
from synth.render.array.frame import Frame
from synth.render.array.scopes import (
    ends_thread,
    leaves_early,
)
from synth.render.array.values import (
    MOST_INLINE,
    NoForm,
    Value,
    aligned,
    both,
    negated,
    parts_of,
    union,
)
from synth.render.doc import Doc
from validate.statuses import ArrayStatus


@dataclass
class Branch:
    """What a branch left behind: its condition, and what it gave to variables and arrays."""

    condition: Value | None
    values: dict[str, Value] = field(default_factory=dict)


class Conditions(Frame):
    """Prints conditions: both sides are computed, and ``where`` chooses."""

    def whole_store(self, name: str, value: Value) -> None:
        """``name = value`` for a whole output."""
        raise NotImplementedError

    def if_(self, s: ir.If) -> None:
        branches = [(c, b) for c, b in s.branches]
        if s.orelse:
            branches.append((None, s.orelse))  # type: ignore[arg-type]
        found: list[Branch] = []
        alive = self.mask
        rest: Value | None = self.mask
        ended: list[bool] = []
        for condition, body in branches:
            if leaves_early(body) and not ends_thread(body):
                raise NoForm(ArrayStatus.WALK, "loops and threads that end inside branches")
            test = None if condition is None else self.named_test(self.value(condition), len(body))
            mask = rest if test is None else self.masked(rest, test)
            ends = ends_thread(body)
            found.append(Branch(test, self.branch(body[:-1] if ends else body, mask)))
            ended.append(ends)
            if test is not None:
                rest = self.masked(rest, test.of(negated(test.doc)))
        self.freed(found)
        self.merge(found, ended)
        if any(ended):
            alive = self.without(alive, found, ended)
            self.mask = alive

    def without(
        self, alive: Value | None, found: Sequence[Branch], ended: Sequence[bool]
    ) -> Value | None:
        """The mask of threads that go on behind branches some of which end."""
        if not ended[0] or any(ended[1:]):
            raise NoForm(ArrayStatus.WALK, "threads that end in later branches")
        test = found[0].condition
        assert test is not None
        mask = self.masked(alive, test.of(negated(test.doc)))
        assert mask is not None
        if len(mask.doc.text) > 12:
            name = self.fresh("active", "alive", "inside")
            self.put(f"{name} = ", mask.doc)
            mask = mask.of(Doc(name))
        return mask

    def named_test(self, test: Value, uses: int) -> Value:
        """A condition under a name where it is long or read often."""
        if not test.axes:
            raise NoForm(ArrayStatus.GUARD, "conditions that all threads share")
        if test.doc.kind == 0 or (uses <= 1 and len(test.doc.text) <= MOST_INLINE):
            return test
        name = self.fresh("mask", "chosen", "hit")
        self.put(f"{name} = ", test.doc)
        return test.of(Doc(name))

    def masked(self, mask: Value | None, test: Value) -> Value:
        if mask is None:
            return test
        axes, docs = self.join([mask, test])
        return Value(both(docs[0], docs[1]), test.type, axes)

    def branch(self, body: ir.Body, mask: Value | None) -> dict[str, Value]:
        """Print a branch; the values that it gives to variables and whole outputs."""
        state = self.env, self.mask, self.in_branch, self.base
        outer, given = self.outer, self.given
        self.env, self.mask, self.in_branch = dict(self.env), mask, True
        self.outer, self.given, self.base = state[0], {}, len(self.later)
        before = self.unsafe
        self.unsafe = False
        self.body(body)
        if self.unsafe:
            raise NoForm(ArrayStatus.GUARD, "reads that a condition guards")
        self.unsafe = before
        found = self.given
        self.env, self.mask, self.in_branch, self.base = state
        self.outer, self.given = outer, given
        return found

    def freed(self, found: Sequence[Branch]) -> None:
        """Give names to conditions and values that read a variable which is set before their own
        turn comes: what branches give, they give at once."""
        names = list({name: None for branch in found for name in branch.values})
        for branch in found:
            test = branch.condition
            if test is not None and _mentions(test, names[:-1]):
                name = self.fresh("mask", "chosen", "hit")
                self.put(f"{name} = ", test.doc)
                branch.condition = test.of(Doc(name))
            for place, own in enumerate(names):
                value = branch.values.get(own)
                if value is not None and _mentions(value, names[:place]):
                    name = self.fresh(f"{own}_then", f"{own}_other")
                    self.put(f"{name} = ", value.doc)
                    branch.values[own] = value.of(Doc(name))

    def merge(self, found: Sequence[Branch], ended: Sequence[bool]) -> None:
        """Join what branches gave: ``where``, or the first branch's where nothing was before."""
        names = {name: None for branch in found for name in branch.values}
        whole = found[-1].condition is None
        for name in names:
            is_array = name in self.arrays
            known = name in self.env and name not in self.undefined
            if not is_array and not known:
                if not whole or not all(name in b.values for b in found):
                    continue
                if not self.read_later(name):
                    continue
            value = self.env[name] if known else None
            if is_array and name not in self.undefined:
                new = next(b.values[name] for b in found if name in b.values)
                value = Value(Doc(name), new.type, new.axes)
            self.chain(name, value, found, ended)

    def chain(
        self,
        name: str,
        value: Value | None,
        found: Sequence[Branch],
        ended: Sequence[bool],
    ) -> None:
        old = value
        for branch, ends in reversed(list(zip(found, ended, strict=True))):
            if ends and name not in self.arrays:
                continue
            new = branch.values.get(name, old)
            if new is None or new is value:
                continue
            if value is None or branch.condition is None:
                value = new
                continue
            if new.weak != value.weak:
                new, value = self.firm(new), self.firm(value)
            values = [branch.condition, new, value]
            axes = union(values, self.order)
            parts = parts_of(new.type)
            docs = [
                aligned(v, axes, parts) if k == 0 else aligned(v, axes)
                for k, v in enumerate(values)
            ]
            value = Value(self.dialect.where(*docs), new.type, axes, weak=new.weak and value.weak)
        if value is None or value is old:
            return
        if name in self.arrays:
            self.whole_store(name, value)
        else:
            self.set(name, value, value.type)


def _mentions(value: Value, names: Sequence[str]) -> bool:
    """Whether the text of a value reads one of these variables."""
    return bool({*re.findall(r"[A-Za-z_]\w*", value.doc.text)} & {*names})
