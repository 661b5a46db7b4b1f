"""What the base lanes used: arms of branches, loops, both sides of every selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from generators.build.draw import Reject
from generators.program import ir
from generators.program.expr import Op
from synth.gates.lanes.values import Lanes, Mask, Values
from synth.reasons import GateReason

Seen = dict[tuple[int, int], list[bool]]


class Coverage:
    """Notes by node; :meth:`require_all` rejects a program with anything unused."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._branches: Seen = {}
        self._selections: Seen = {}
        self._loops: set[int] = set()

    def branch(self, statement: ir.If, arm: int, chosen: Values, mask: Mask) -> None:
        if self.lanes.differs(chosen, mask):
            raise Reject(GateReason.PRECISION_DEPENDENT, "branch")
        self._note(self._branches, (id(statement), arm), chosen, mask)

    def loop(self, statement: ir.For | ir.While, mask: Mask) -> None:
        if mask is None or self.lanes.base(mask).any():
            self._loops.add(id(statement))

    def selection(self, node: Op, args: list[Any], mask: Mask) -> None:
        if node.op == "where":
            first = args[0]
        elif node.op == "clamp":
            inside = (args[0] > args[1]) & (args[0] < args[2])
            self._note(self._selections, (id(node), 0), inside, mask)
            return
        else:
            first = args[0] < args[1]
        self._note(self._selections, (id(node), 0), first, mask)

    def _note(self, seen: Seen, key: tuple[int, int], chosen: Values, mask: Mask) -> None:
        sides = seen.get(key)
        if sides is not None and all(sides):
            return
        shape = np.shape(chosen)
        if shape[-1:] != (self.lanes.count,):
            chosen = np.broadcast_to(chosen, (*shape[:-1], self.lanes.count))
        chosen = self.lanes.base(chosen)
        if mask is not None:
            chosen = chosen[..., self.lanes.base(mask)]
        if chosen.size:
            sides = seen.setdefault(key, [False, False])
            held = int(np.count_nonzero(chosen))
            sides[0] |= held > 0
            sides[1] |= held < chosen.size

    def require_all(self, program: ir.Program) -> None:
        """Reject a program with an arm, loop or operand that no thread of the base variant used."""
        for body in (program.kernel.body, *(f.body for f in program.functions)):
            self._require_body(body)
        if any(not all(sides) for sides in self._selections.values()):
            raise Reject(GateReason.DEAD_OPERAND)

    def _require_body(self, body: ir.Body) -> None:
        for s in body:
            if isinstance(s, ir.If):
                for k, (_, inner) in enumerate(s.branches):
                    if self._branches.get((id(s), k)) != [True, True]:
                        raise Reject(GateReason.DEAD_BRANCH)
                    self._require_body(inner)
                self._require_body(s.orelse)
            elif isinstance(s, ir.For | ir.While):
                if id(s) not in self._loops:
                    raise Reject(GateReason.DEAD_LOOP)
                self._require_body(s.body)
