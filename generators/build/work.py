"""The last touches on a kernel that is written: what a thread does, how numbers are kept.

What no idiom knows of stands here: a kernel for each element becomes one for each row; its inputs
may lie in half precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from generators.build.numerics import halves, stored_half, widened
from generators.build.threads import by_row
from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array, Struct, Type, scalar_of
from generators.program.expr import Expr, Op, Var
from generators.program.walk import expressions, statements

if TYPE_CHECKING:
    from generators.build.kernel import KernelBuilder

_FLOAT_ARRAYS = tuple(Array(FLOAT32, ndim) for ndim in (1, 2, 3, 4))
HALF = {True: 0.3, False: 0.2}
"""How often inputs of subjects that store them so lie in half precision: in kernels with a loop,
and in others."""


def worked(k: KernelBuilder) -> tuple[ir.Body, str]:
    """The body in its final form, and what a description says of that."""
    body, told = k.body(), ""
    # Idioms free a name to declare it a second time, so what is taken is what the body says.
    k.used.update(str(getattr(s, "name", "")) for s in statements(body))
    if k.row is not None:
        body = by_row(body, k.row, _row_length(k, k.row.size))
        k.threads, k.launch_dim = k.threads[:-1], k.launch_dim[:-1]
    if k.half_inputs and k.draw.shape.chance(
        HALF[any(isinstance(s, ir.For) for s in statements(body))]
    ):
        body, more = _halved(k, body)
        told += more
    return body, told


def _row_length(k: KernelBuilder, size: str) -> Expr:
    """How many elements a row has: a parameter that is there, a new one, or a literal."""
    known = [p.name for p in k.params if p.init == f"size:{size}"]
    if known:
        return Var(known[0], INT32)
    return k.trip_count(("num_cols", "width", "row_length"), size)


def _halved(k: KernelBuilder, body: ir.Body) -> tuple[ir.Body, str]:
    """Inputs in half precision, converted as they are read."""
    kinds = {scalar_of(t).name for p in k.params for t in _types(p)}
    names = [name for name in halves(k.params) if name not in k.exact]
    arrays = [
        p
        for p in k.params
        if p.role == "in" and isinstance(p.type, Array) and p.name not in k.exact
    ]
    floats = [p for p in arrays if p.type in _FLOAT_ARRAYS]
    others = [t for p in arrays if p not in floats for t in _types(p) if scalar_of(t).is_float]
    narrow = bool(names) and len(names) == len(floats) and not others
    if not narrow or kinds & {"float16", "float64"} or _passed(body, names):
        return body, ""
    k.params = stored_half(k.params, names)
    stored = f"{', '.join(names[:-1])} and {names[-1]} are" if names[1:] else f"{names[0]} is"
    computed = any(isinstance(e, Op) and scalar_of(e.type).is_float for e in expressions(body))
    where = "; the arithmetic is in float32" if computed else ""
    return widened(body, names), f" {stored} in half precision{where}."


def _types(p: ir.Param) -> list[Type]:
    element = p.type.element if isinstance(p.type, Array) else p.type
    return [t for _, t in element.fields] if isinstance(element, Struct) else [element]


def _passed(body: ir.Body, names: list[str]) -> bool:
    """Whether one of these arrays is handed on as a whole."""
    return any(isinstance(e, Var) and e.name in names for e in expressions(body))
