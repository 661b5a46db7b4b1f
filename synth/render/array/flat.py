"""Threads that do several elements side by side, as threads of one element each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from generators.program import expr, ir
from generators.program.dtypes import INT32
from generators.program.expr import Const, Var, op
from generators.program.walk import changed, expressions, names_read, operands, statements
from synth.render.array.scopes import assigned, leaves_early


def flattened(kernel: ir.Kernel) -> ir.Kernel:
    """A kernel whose body is a loop over the elements of a thread, ``t * width + j``, as one of a
    thread for each element; any other kernel as it is."""
    if type(kernel) is not ir.Kernel or not kernel.body:
        return kernel
    *before, loop = kernel.body
    if not isinstance(loop, ir.For) or loop.step != 1 or leaves_early(loop.body):
        return kernel
    for place, thread in enumerate(kernel.threads):
        element = _element(thread, loop)
        if element is not None and _alone(tuple(before), loop, thread, element):
            return _by_element(kernel, place, loop, element)
    return kernel


def _element(thread: str, loop: ir.For) -> expr.Op | None:
    """``t * width + j``, which the loop's body has to contain."""
    if loop.start != Const(0, INT32) or not isinstance(loop.stop, Const | Var):
        return None
    t, j = Var(thread, INT32), Var(loop.name, INT32)
    wanted = [op("add", op("mul", t, loop.stop), j), op("add", j, op("mul", t, loop.stop))]
    return next((e for e in _every(loop.body) if isinstance(e, expr.Op) and e in wanted), None)


def _every(body: ir.Body) -> Iterator[expr.Expr]:
    yield from expressions(body)


def _alone(before: ir.Body, loop: ir.For, thread: str, element: expr.Op) -> bool:
    """Whether nothing else reads the thread's place or the turn, and no turn hands anything on."""
    left = _with(loop.body, element, Const(0, INT32))
    read = {name for s in statements((*before, *left)) for name in names_read(operands(s))}
    own = all(isinstance(s, ir.Assign | ir.Comment) for s in before)
    return own and not {thread, loop.name} & read and not assigned(before).keys() & assigned(left)


def _with(body: ir.Body, element: expr.Op, new: expr.Expr) -> ir.Body:
    def change(node: Any) -> Any:
        return new if node == element else node

    return changed(body, change)


def _by_element(kernel: ir.Kernel, place: int, loop: ir.For, element: expr.Op) -> ir.Kernel:
    first = loop.body[0]
    named = isinstance(first, ir.Assign) and first.value == element
    again = [s for s in statements(loop.body[1:]) if isinstance(s, ir.Assign | ir.AugAssign)]
    rest = loop.body
    name = loop.name
    if named and isinstance(first, ir.Assign) and first.name not in {s.name for s in again}:
        name, rest = first.name, loop.body[1:]
    body = (*kernel.body[:-1], *_with(rest, element, Var(name, INT32)))
    extent = _extent(kernel, kernel.launch_dim[place], loop.stop)
    threads = (*kernel.threads[:place], name, *kernel.threads[place + 1 :])
    dim = (*kernel.launch_dim[:place], extent, *kernel.launch_dim[place + 1 :])
    return replace(kernel, threads=threads, launch_dim=dim, body=body)


def _extent(kernel: ir.Kernel, count: str, width: expr.Expr) -> str:
    """How many elements there are."""
    if isinstance(width, Const):
        return f"{width.value}*{count}"
    assert isinstance(width, Var)
    sizes = {p.name: p.init.removeprefix("size:") for p in kernel.params if "size:" in p.init}
    return f"{count}*{sizes.get(width.name, width.name)}"
