"""The instrumented evaluation: a program run over lanes, with everything that a gate must see.

Threads run in lock step; divergence is a mask. The interpreter rejects a draw on the spot for
what is wrong in any lane (overflow, bad index, domain error, a branch that the precision group
disagrees on) and notes which arms, loops and operands were used, for the gates to judge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from generators.build.draw import Reject
from generators.program import ir
from generators.program.dtypes import INT32, Type, scalar_of
from generators.program.expr import Op, Var
from synth.gates.evaluate_expressions import Expressions
from synth.gates.lanes.memory import ArrayMemory
from synth.gates.lanes.samplers import draw_sample
from synth.gates.lanes.values import Lanes, Mask, Values, any_active, any_true, select
from synth.reasons import GateReason

MAX_ITERATIONS = 512


class _Loop:
    """Lanes that left the running iteration by break or continue."""

    def __init__(self, count: int) -> None:
        self.broke = np.zeros(count, np.bool_)
        self.continued = np.zeros(count, np.bool_)


class Evaluation(Expressions):
    """Runs one program; ``memories`` holds its arrays, ``coverage`` what was used."""

    def __init__(
        self,
        program: ir.Program,
        lanes: Lanes,
        memories: dict[str, ArrayMemory],
        scalars: dict[str, Any],
    ) -> None:
        super().__init__(program, lanes, memories, scalars)
        self._loops: list[_Loop] = []
        self._updates: dict[int, Op] = {}
        self._statement_rules: dict[type, Callable[[Any, Mask], Mask]] = {
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
            ir.Break: self._break,
            ir.Continue: self._continue,
            ir.Return: self._return,
            ir.Comment: lambda _s, mask: mask,
        }

    def run(self) -> None:
        with np.errstate(all="ignore"):
            self.run_body(self.program.kernel.body, None)

    def run_body(self, body: ir.Body, mask: Mask) -> Mask:
        for statement in body:
            if mask is not None and not any_true(mask):
                return mask
            mask = self._statement_rules[type(statement)](statement, mask)
        return mask

    def _assign(self, s: ir.Assign, mask: Mask) -> Mask:
        self._frames[-1].types[s.name] = s.value.type
        self._bind(s.name, self.value(s.value, mask), mask)
        return mask

    def _bind(self, name: str, value: Any, mask: Mask) -> None:
        variables = self._frames[-1].variables
        variables[name] = select(mask, value, variables.get(name))

    def _augment(self, s: ir.AugAssign, mask: Mask) -> Mask:
        frame = self._frames[-1]
        type_ = frame.types[s.name]
        node = self._update(s, type_)
        args = [frame.variables[s.name], self.value(s.value, mask)]
        self._bind(s.name, self._apply(node, args, mask), mask)
        return mask

    def _update(self, s: ir.AugAssign | ir.SetComponent | ir.Store, type_: Type) -> Op:
        """The op of a statement that changes what is there: one node, however often it runs."""
        node = self._updates.get(id(s))
        if node is None or node.type is not type_:
            old = s.array[s.indices] if isinstance(s, ir.Store) else Var(s.name, type_)
            node = self._updates[id(s)] = Op(s.op, (old, s.value), type_)
        return node

    def _set_component(self, s: ir.SetComponent, mask: Mask) -> Mask:
        old = self._frames[-1].variables[s.name]
        new = old.copy()
        value = self.value(s.value, mask)
        at = self.component_at(old, s.indices, mask)
        if s.op:
            scalar = scalar_of(s.value.type)
            node = self._update(s, scalar)
            value = self._apply(node, [old[at], value], mask)
        new[at] = select(mask, value, old[at])
        self._frames[-1].variables[s.name] = new
        return mask

    def _set_field(self, s: ir.SetField, mask: Mask) -> Mask:
        variables = self._frames[-1].variables
        old = variables[s.name]
        value = self.value(s.value, mask)
        variables[s.name] = {**old, s.field: select(mask, value, old[s.field])}
        return mask

    def _store(self, s: ir.Store, mask: Mask) -> Mask:
        memory = self.memories[s.array.name]
        indices = [self.value(i, mask) for i in s.indices]
        value = self.value(s.value, mask)
        if s.op:
            node = self._update(s, memory.type)
            value = self._apply(node, [memory.load(indices, mask), value], mask)
        self._check_finite(value, mask, s.array.name)
        memory.store(indices, value, mask)
        return mask

    def _atomic(self, s: ir.Atomic, mask: Mask) -> Mask:
        indices = [self.value(i, mask) for i in s.indices]
        value = self.value(s.value, mask)
        self._check_finite(value, mask, s.array.name)
        memory = self.memories[s.array.name]
        if s.op in ("exch", "cas"):
            compare = None if s.compare is None else self.value(s.compare, mask)
            memory.swap(s.op, indices, compare, value, mask)
        else:
            memory.atomic(s.op, indices, value, mask)
        return mask

    def _sample(self, s: ir.Sample, mask: Mask) -> Mask:
        args = [self.value(a, mask) for a in s.args]
        state = self._frames[-1].variables[s.state.name]
        value, moved = draw_sample(self.lanes, s.sampler, state, args, mask)
        self._frames[-1].types[s.name] = s.type
        self._bind(s.name, value, mask)
        self._bind(s.state.name, moved, mask)
        return mask

    def _check_finite(self, value: Any, mask: Mask, where: str) -> None:
        for part in value.values() if isinstance(value, dict) else (value,):
            if part.dtype == np.float64 and any_active(~np.isfinite(part), mask):
                raise Reject(GateReason.NOT_FINITE, where)

    def _if(self, s: ir.If, mask: Mask) -> Mask:
        rest, after = mask, np.zeros(self.lanes.count, np.bool_)
        for k, (condition, body) in enumerate(s.branches):
            chosen = self.value(condition, rest)
            self.coverage.branch(s, k, chosen, rest)
            taken = chosen if rest is None else rest & chosen
            rest = ~chosen if rest is None else rest & ~chosen
            left = self.run_body(body, taken)
            assert left is not None
            after |= left
        left = self.run_body(s.orelse, rest)
        assert left is not None
        after |= left
        return None if mask is None and after.all() else after

    def _for(self, s: ir.For, mask: Mask) -> Mask:
        start, stop = self.value(s.start, mask), self.value(s.stop, mask)
        variables = self._frames[-1].variables
        self._frames[-1].types[s.name] = INT32

        def condition(counter: Values) -> Values:
            return counter < stop if s.step > 0 else counter > stop

        counter = start + np.zeros(self.lanes.count, np.int64)

        def begin(active: Mask) -> None:
            variables[s.name] = select(active, counter, variables.get(s.name))

        def advance() -> None:
            nonlocal counter
            counter = counter + s.step

        return self._loop(s, s.body, lambda _m: condition(counter), mask, begin, advance)

    def _while(self, s: ir.While, mask: Mask) -> Mask:
        return self._loop(s, s.body, lambda m: self.value(s.condition, m), mask)

    def _loop(
        self,
        statement: ir.For | ir.While,
        body: ir.Body,
        condition: Callable[[Mask], Values],
        mask: Mask,
        begin: Callable[[Mask], None] = lambda _m: None,
        advance: Callable[[], None] = lambda: None,
    ) -> Mask:
        active, done = mask, np.zeros(self.lanes.count, np.bool_)
        loop = _Loop(self.lanes.count)
        self._loops.append(loop)
        for _ in range(MAX_ITERATIONS):
            going = condition(active)
            if self.lanes.differs(going, active):
                raise Reject(GateReason.PRECISION_DEPENDENT, "trip count")
            if np.count_nonzero(going) < going.size:
                done |= ~going if active is None else active & ~going
                active = going if active is None else active & going
            if active is not None and not any_true(active):
                break
            self.coverage.loop(statement, active)
            begin(active)
            active = self.run_body(body, active)
            if active is not None:
                active = active | loop.continued
            loop.continued[:] = False
            advance()
        else:
            raise Reject(GateReason.TOO_MANY_ITERATIONS)
        self._loops.pop()
        done |= loop.broke
        return None if mask is None and done.all() else done

    def _break(self, _s: ir.Break, mask: Mask) -> Mask:
        self._loops[-1].broke |= True if mask is None else mask
        return np.zeros(self.lanes.count, np.bool_)

    def _continue(self, _s: ir.Continue, mask: Mask) -> Mask:
        self._loops[-1].continued |= True if mask is None else mask
        return np.zeros(self.lanes.count, np.bool_)

    def _return(self, s: ir.Return, mask: Mask) -> Mask:
        if s.value is not None:
            frame = self._frames[-1]
            frame.result = select(mask, self.value(s.value, mask), frame.result)
        return np.zeros(self.lanes.count, np.bool_)


def thread_indices(dims: tuple[int, ...], lanes: Lanes) -> list[Values]:
    """The thread index of each lane along each launch dimension, int32 values."""
    grid = np.unravel_index(np.arange(lanes.threads), dims)
    return [np.tile(axis.astype(np.int64), lanes.variants) for axis in grid]
