"""Loops over the elements of tiles that a thread owns, in plain CUDA."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from generators.program.dtypes import INT32, Tile
from generators.program.expr import Var, literal
from generators.program.serial import Index
from synth.render.cuda.body import Body
from synth.render.cuda.dialect.current import thread_at
from synth.render.cuda.kernel import KernelText
from synth.render.cuda.lines import wrapped
from synth.render.cuda.text import TAB


@dataclass(frozen=True)
class _Loop:
    """A loop over registers that was written: where its lines start and end.

    ``count`` is negative for the first threads alone, so many of them.
    """

    depth: int
    count: int
    start: int
    end: int

    def goes_on(self, depth: int, count: int, lines: int) -> bool:
        """Whether another such loop, which would stand right behind it, can be part of it: what a
        turn does is of its own elements, and a barrier would stand between."""
        return (self.depth, self.count, self.end) == (depth, count, lines)


class Loops:
    """Writes such loops to a body, for blocks of so many threads.

    ``turn`` is the register of a thread, ``own`` the element of a thread that has one, ``each`` one
    of several, ``inner`` the variable of other loops.
    """

    def __init__(self, text: KernelText, body: Body, threads: int) -> None:
        self.body, self.threads = body, threads
        self.turn = text.fresh("k", "turn", "slot")
        self.own, self.each = text.fresh("t", "own"), text.fresh("e", "element", "at")
        self.row, self.inner = text.fresh("row", "r"), text.fresh("step", "inner")
        self._last: _Loop | None = None

    def over(self, type_: Tile, depth: int, turn: Callable[[Index, int], None]) -> None:
        """A turn for each element of a tile that a thread owns, at the index that it is told."""
        body = self.body
        if type_.size == 1:
            turn(tuple(literal(0, INT32) for _ in type_.shape), depth)
            return
        if type_.size == self.threads:
            turn(self.place(type_, self.own), depth)
            return
        if type_.size < self.threads:
            self._guarded(type_, depth, turn)
            return
        count, part = type_.size // self.threads, type_.size % self.threads
        if part:
            at = self.row if len(type_.shape) == 1 else self.inner
            step = f"{at} += {self.threads}"
            body.put(depth, f"for (int {at} = {thread_at()}; {at} < {type_.size}; {step}) {{")
            turn(self.place(type_, at), depth + 1)
        else:
            self._unrolled(type_, count, depth, turn)
            return
        body.put(depth, "}")

    def _guarded(self, type_: Tile, depth: int, turn: Callable[[Index, int], None]) -> None:
        """A turn of the first threads, or more of one that has just ended."""
        start = self._start(depth, -type_.size)
        if start == len(self.body.lines):
            self.body.put(depth, f"if ({self.own} < {type_.size}) {{")
        turn(self.place(type_, self.own), depth + 1)
        self.body.put(depth, "}")
        self._last = _Loop(depth, -type_.size, start, len(self.body.lines))

    def _start(self, depth: int, count: int) -> int:
        """The line that a loop starts at: that of one before, opened again, or the next."""
        lines, last = self.body.lines, self._last
        if last is None or not last.goes_on(depth, count, len(lines)):
            return len(lines)
        lines.pop()
        return last.start

    def _unrolled(
        self, type_: Tile, count: int, depth: int, turn: Callable[[Index, int], None]
    ) -> None:
        """A loop over a thread's registers, or more turns of the one that has just ended."""
        body = self.body
        start = self._start(depth, count)
        if start == len(body.lines):
            body.put(depth, "#pragma unroll")
            body.put(depth, f"for (int {self.turn} = 0; {self.turn} < {count}; ++{self.turn}) {{")
        place = f"const int {self.each} = {self.turn} * {self.threads} + {thread_at()};"
        turn(self.place(type_, self.each), depth + 1)
        inner = body.lines[start + 2 :]
        named = any(place in line for line in inner[:1])
        if not named and re.search(rf"\b{self.each}\b", "\n".join(inner)):
            body.lines[start + 2 : start + 2] = wrapped(TAB * (depth + 1), place)
        body.put(depth, "}")
        self._last = _Loop(depth, count, start, len(body.lines))

    def place(self, type_: Tile, at: str) -> Index:
        """The index along each axis of the element with a number."""
        if len(type_.shape) == 1:
            return (Var(at, INT32),)
        number, width = Var(at, INT32), literal(type_.shape[1], INT32)
        return (number // width, number % width)

    def array(self, depth: int, declaration: str) -> None:
        """A declaration, before a loop that may go on behind it."""
        lines, last = self.body.lines, self._last
        if last is None or last.end != len(lines) or last.depth != depth:
            self.body.put(depth, declaration)
            return
        lines.insert(last.start, f"{' ' * TAB * depth}{declaration}")
        self._last = _Loop(depth, last.count, last.start + 1, last.end + 1)
