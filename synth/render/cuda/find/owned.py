"""Atomics on elements that one thread alone touches, as the plain updates that they are.

``atomicAdd(&totals[row * m + slot], x)`` in the thread of ``row``, where every access to ``totals``
has ``row`` there: no other thread can be at the element, and ``totals[row * m + slot] += x`` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generators.program import ir
from generators.program.dtypes import BOOL, Array, Scalar
from generators.program.expr import Expr, Load, Op, Var
from generators.program.walk import operands, parts, statements

_IN_PLACE = {"min": "min", "max": "max", "and": "bit_and", "or": "bit_or", "xor": "bit_xor"}


def settled(program: ir.Program) -> ir.Program:
    """The program with plain updates in place of atomics whose element no other thread touches.

    The program itself where there are none.
    """
    kernel = program.kernel
    if not any(isinstance(s, ir.Atomic) for s in statements(kernel.body)):
        return program
    owned = owned_arrays(kernel)
    body = _without_atomics(kernel.body, owned) if owned else kernel.body
    if body == kernel.body:
        return program
    return replace(program, kernel=replace(kernel, body=body))


def owned_arrays(kernel: ir.Kernel) -> frozenset[str]:
    """Arrays in which no two threads touch the same element: every access has each thread's name
    as an index, at a place that is the same for all of them."""
    made = (ir.Assign, ir.AugAssign, ir.Sample)
    if any(isinstance(s, made) and s.name in kernel.threads for s in statements(kernel.body)):
        return frozenset()
    places: dict[str, set[tuple[int, str]]] = {}
    for array, indices in _accesses(kernel.body):
        named = {(k, i.name) for k, i in enumerate(indices) if isinstance(i, Var)}
        places[array] = places.get(array, named) & named
    threads = set(kernel.threads)
    return frozenset(a for a, found in places.items() if threads <= {name for _, name in found})


def _accesses(body: ir.Body) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    """Arrays and indices of all reads and writes; no indices where an array stands as a whole."""
    for s in statements(body):
        stack = list(operands(s))
        if isinstance(s, ir.Store | ir.Atomic):
            yield s.array.name, s.indices
        while stack:
            e = stack.pop()
            if isinstance(e, Load):
                yield e.array.name, e.indices
            elif isinstance(e, Var) and isinstance(e.type, Array):
                yield e.name, ()
            stack.extend(parts(e))


def _without_atomics(body: ir.Body, owned: frozenset[str]) -> ir.Body:
    return tuple(_plain(s, owned) for s in body)


def _plain(s: ir.Statement, owned: frozenset[str]) -> ir.Statement:
    if isinstance(s, ir.Atomic):
        return _update(s) if s.array.name in owned else s
    if isinstance(s, ir.If):
        branches = tuple((c, _without_atomics(b, owned)) for c, b in s.branches)
        return replace(s, branches=branches, orelse=_without_atomics(s.orelse, owned))
    if isinstance(s, ir.For | ir.While):
        return replace(s, body=_without_atomics(s.body, owned))
    return s


def _update(s: ir.Atomic) -> ir.Statement:
    """What an atomic does where nobody else is at the element."""
    assert isinstance(s.array.type, Array)
    element = s.array.type.element
    if s.op in ("add", "sub"):
        return ir.Store(s.array, s.indices, s.op, s.value)
    if not isinstance(element, Scalar):
        return s
    old = Load(s.array, s.indices, element)
    if s.op in _IN_PLACE:
        return ir.Store(s.array, s.indices, "", Op(_IN_PLACE[s.op], (old, s.value), element))
    new = ir.Store(s.array, s.indices, "", s.value)
    if s.op == "exch":
        return new
    assert s.compare is not None
    return ir.If(((Op("eq", (old, s.compare), BOOL), (new,)),), ())
