"""Softmaxes: a largest value and then a sum of exponentials, which one pass over a row can find.

A sum of ``exp((x - m) / t)`` under one ``m`` is that under another times ``exp((m - other) / t)``:
Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite
from typing import Any

from generators.program import ir
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import (
    Call,
    Cast,
    Component,
    Const,
    Construct,
    Expr,
    Field,
    Load,
    Op,
    Var,
)
from generators.program.walk import operands, parts
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.find.split import SplitLoops, Sum, accumulation, split_loops
from synth.render.cuda.scopes import all_names, names_in


@dataclass(frozen=True)
class Softmax:
    """Two loops of a kernel, by place, the second of which sums exponentials.

    ``largest`` is the variable that the first one finds, of the values that ``value`` is in the
    second; ``start`` the place of the statement that it starts with; ``exponential`` is ``exp`` of
    their difference, as it stands in the second loop.
    """

    split: SplitLoops
    first: int
    second: int
    start: int
    largest: Var
    value: Expr
    exponential: Op

    @property
    def sums(self) -> list[Sum]:
        """What the second loop sums up."""
        return self.split.sums[self.second]

    def moved(self, old: Expr, new: Expr) -> Expr:
        """What sums under the largest value ``old`` are multiplied with to be under ``new``."""
        return substituted(self.exponential, {self.value: old, self.largest: new})


@remembered
def softmax(kernel: ir.Kernel) -> Softmax | None:
    """The first softmax at the top of a kernel's body."""
    split = split_loops(kernel)
    places = sorted(split.sums) if split is not None else []
    for first, second in pairwise(places):
        assert split is not None
        found = _softmax_of(kernel.body, split, first, second)
        if found is not None:
            return found
    return None


def _softmax_of(body: ir.Body, split: SplitLoops, first: int, second: int) -> Softmax | None:
    one, other = body[first], body[second]
    assert isinstance(one, ir.For)
    assert isinstance(other, ir.For)
    if len(split.sums[first]) != 1 or one.stop != other.stop or other.start != Const(0, INT32):
        return None
    (kept,), sums = split.sums[first], split.sums[second]
    if kept.join != "max" or not isinstance(kept.type, Scalar) or not kept.type.is_float:
        return None
    if not sums or any(s.join != "add" or s.apart for s in sums):
        return None
    largest = Var(kept.name, kept.type)
    start = _start_of(body, first, second, kept.name)
    values, exponential = _value_of(one, kept.name), _exponential_of(other, largest, sums)
    if start is None or values is None or exponential is None:
        return None
    value = _taken_off(exponential.args[0], largest, _own_names(other))
    if value is None or not _starts_with(body[start], one, values):
        return None
    here = substituted(values, {Var(one.name, INT32): Var(other.name, INT32)})
    if substituted(value, _locals(other)) != here:
        return None
    return Softmax(split, first, second, start, largest, value, exponential)


def _start_of(body: ir.Body, first: int, second: int, name: str) -> int | None:
    """The place of the only statement before both loops that knows the largest value."""
    known = [k for k, s in enumerate(body[:second]) if k != first and name in all_names(s)]
    fits = len(known) == 1 and known[0] < first and isinstance(body[known[0]], ir.Assign)
    return known[0] if fits else None


def _starts_with(s: ir.Statement, loop: ir.For, values: Expr) -> bool:
    """Whether a largest value that starts so is right for a loop that starts at 0."""
    assert isinstance(s, ir.Assign)
    if loop.start != Const(0, INT32):
        return s.value == substituted(values, {Var(loop.name, INT32): Const(0, INT32)})
    return isinstance(s.value, Load) or (
        isinstance(s.value, Const) and isfinite(float(s.value.value))
    )


def _own_names(loop: ir.For) -> set[str]:
    return {loop.name, *(s.name for s in loop.body if isinstance(s, ir.Assign | ir.AugAssign))}


def _locals(loop: ir.For) -> dict[Expr, Expr]:
    """The values of a loop's own variables, each in terms of none of them."""
    found: dict[Expr, Expr] = {}
    for s in loop.body:
        if isinstance(s, ir.Assign) and accumulation(s) is None:
            found[Var(s.name, s.value.type)] = substituted(s.value, found)
    return found


def _is_plain(loop: ir.For) -> bool:
    """Whether a loop's body has no branches, and gives each variable its value once."""
    if not all(isinstance(s, ir.Assign | ir.AugAssign | ir.Comment) for s in loop.body):
        return False
    names = [s.name for s in loop.body if isinstance(s, ir.Assign | ir.AugAssign)]
    return len(set(names)) == len(names)


def _value_of(loop: ir.For, name: str) -> Expr | None:
    """What a loop takes the largest of."""
    if not _is_plain(loop):
        return None
    found = [step for s in loop.body if (step := accumulation(s)) is not None]
    steps = [value for own, _, value in found if own == name]
    return substituted(steps[0], _locals(loop)) if len(found) == len(steps) == 1 else None


def _exponential_of(loop: ir.For, largest: Var, sums: list[Sum]) -> Op | None:
    """The exponential that all sums of a loop are proportional to, alone to know the largest."""
    if not _is_plain(loop):
        return None
    own = [e for s in loop.body for e in operands(s)]
    found = [e for tree in own for e in _all(tree) if _is_exp(e, largest)]
    if len(found) != 1 or sum(e == largest for tree in own for e in _all(tree)) != 1:
        return None
    (exponential,) = found
    assert isinstance(exponential, Op)
    known = _locals(loop)
    wanted = substituted(exponential, known)
    for s in loop.body:
        step = accumulation(s)
        if step is None or step[0] not in {x.name for x in sums}:
            continue
        if step[1] != "add" or not _has_factor(substituted(step[2], known), wanted):
            return None
    return exponential


def _is_exp(e: Expr, largest: Var) -> bool:
    return isinstance(e, Op) and e.op == "exp" and largest.name in names_in(e)


def _all(e: Expr) -> list[Expr]:
    return [e, *(inner for part in parts(e) for inner in _all(part))]


def _has_factor(e: Expr, wanted: Expr) -> bool:
    """Whether an expression is a product, and one of its factors is another expression."""
    if e == wanted:
        return True
    if not isinstance(e, Op) or e.op not in ("mul", "div"):
        return False
    left, right = e.args
    if _has_factor(left, wanted):
        return wanted not in _all(right)
    return e.op == "mul" and wanted not in _all(left) and _has_factor(right, wanted)


def _taken_off(e: Expr, largest: Var, own: set[str]) -> Expr | None:
    """``x`` of ``x - largest``, or of that times or by what does not change from turn to turn."""
    if not isinstance(e, Op) or e.op not in ("sub", "mul", "div"):
        return None
    left, right = e.args
    if e.op == "sub":
        return left if right == largest and largest.name not in names_in(left) else None
    if own.isdisjoint(names_in(right)):
        return _taken_off(left, largest, own)
    return (
        _taken_off(right, largest, own)
        if e.op == "mul" and own.isdisjoint(names_in(left))
        else None
    )


def substituted(e: Expr, known: Mapping[Expr, Expr]) -> Expr:
    """An expression with others in the place of some of its parts."""
    if e in known:
        return known[e]
    match e:
        case Op() | Call() | Construct():
            return replace(e, args=tuple(substituted(a, known) for a in e.args))
        case Cast() | Field():
            return replace(e, value=substituted(e.value, known))
        case Component():
            indices = tuple(substituted(i, known) for i in e.indices)
            return replace(e, value=substituted(e.value, known), indices=indices)
        case Load():
            return replace(e, indices=tuple(substituted(i, known) for i in e.indices))
        case _:
            return e


def in_statement(s: Any, known: Mapping[Expr, Expr]) -> Any:
    """An assignment with others in the place of some parts of its value."""
    return s if isinstance(s, ir.Comment) else replace(s, value=substituted(s.value, known))
