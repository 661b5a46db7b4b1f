"""Loops that combine the elements of a row with those of a column, as a matrix product does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from generators.program import ir
from generators.program.dtypes import Array, Scalar, Type
from generators.program.expr import Expr, Extent, Load, Var
from generators.program.walk import parts, statements
from synth.render.cuda.find.forms import staged
from synth.render.cuda.find.remember import remembered
from synth.render.cuda.scopes import all_names, names_in

_MOST_AFTER = 24
"""Statements after the loop: they are there for each of a thread's sums."""

AXES = {"row": "r", "column": "c", "cross": "c", "line": ""}
"""Along which axes of a thread's square an element differs, by the kind of its index."""


@dataclass(frozen=True)
class Product:
    """A loop whose turns combine elements of a row with elements of a column.

    ``arrays`` maps what is staged to the kind of its index (see :class:`forms.Staged`). ``axes``
    maps each variable of the loop to the axes along which it differs: ``""``, ``r``, ``c`` or
    ``rc``. ``starts`` give the variables that turns change their first values, ``after`` is what
    comes behind the loop.
    """

    loop: ir.For
    arrays: Mapping[str, str]
    axes: Mapping[str, str]
    starts: tuple[ir.Assign, ...]
    after: ir.Body


@remembered
def product_of(kernel: ir.Kernel) -> Product | None:
    """The form in which a thread works on a square of elements."""
    found = staged(kernel)
    if found is None or not 2 <= len(kernel.threads) <= 3:
        return None
    kinds = set(found.arrays.values())
    types = {p.name: p.type for p in kernel.params}
    if "row" not in kinds or not kinds & {"column", "cross"}:
        return None
    if not all(_is_of_scalars(types[name]) for name in found.arrays):
        return None
    loop = kernel.body[found.place]
    assert isinstance(loop, ir.For)
    before = [s for s in kernel.body[: found.place] if not isinstance(s, ir.Comment)]
    named = {s.name for s in statements(loop.body) if isinstance(s, ir.Assign | ir.AugAssign)}
    starts = tuple(s for s in before if isinstance(s, ir.Assign) and s.name in named)
    others = tuple(s for s in before if s not in starts)
    after = (*others, *kernel.body[found.place + 1 :])
    if not _starts_apart(starts, others) or not _is_short(after):
        return None
    axes = _axes(kernel, loop, found.arrays, {s.name for s in starts}, others)
    if axes is None:
        return None
    for s in starts:
        if _differs(s.value) or _is_changed(after, s.name):
            axes[s.name] = "rc"
    return Product(
        loop, found.arrays, _widened(loop, axes, {s.name for s in starts}), starts, after
    )


def _is_of_scalars(type_: Type) -> bool:
    return isinstance(type_, Array) and isinstance(type_.element, Scalar)


def _starts_apart(starts: tuple[ir.Assign, ...], others: ir.Body) -> bool:
    """Whether what stands before the loop can stand behind it, but for first values."""
    names = {s.name for s in starts}
    if not starts or len(names) < len(starts) or any(names & all_names(s) for s in others):
        return False
    made = {s.name for s in (*starts, *others) if isinstance(s, ir.Assign)}
    return not any(made & set(names_in(s.value)) for s in starts)


def _is_short(after: ir.Body) -> bool:
    inner = list(statements(after))
    repeats = any(isinstance(s, ir.For | ir.While | ir.Atomic | ir.Sample) for s in inner)
    return not repeats and len(inner) <= _MOST_AFTER


def _differs(start: Expr) -> bool:
    """Whether a first value may differ from thread to thread."""
    return any(isinstance(e, Load | Extent | Var) for e in _all_parts(start))


def _all_parts(e: Expr) -> Iterator[Expr]:
    yield e
    for part in parts(e):
        yield from _all_parts(part)


def _is_changed(body: ir.Body, name: str) -> bool:
    changing = (ir.Assign, ir.AugAssign)
    return any(isinstance(s, changing) and s.name == name for s in statements(body))


def _axes(
    kernel: ir.Kernel, loop: ir.For, arrays: Mapping[str, str], sums: set[str], others: ir.Body
) -> dict[str, str] | None:
    """The axes of each variable of a loop; None where turns do more than such a loop may."""
    outside = {n for s in others for n in all_names(s)} - {p.name for p in kernel.params}
    refused = {*kernel.threads, *outside} - {loop.name}
    found: dict[str, str] = dict.fromkeys(sums, "")
    made: set[str] = set()
    for s in loop.body:
        if isinstance(s, ir.Comment):
            continue
        if not isinstance(s, ir.Assign | ir.AugAssign):
            return None
        mentioned = set(_names_beside(s.value, arrays))
        if None in mentioned or refused & mentioned or (sums - {s.name}) & mentioned:
            return None
        if s.name not in sums:
            if isinstance(s, ir.AugAssign) or s.name in made or s.name in mentioned:
                return None
            made.add(s.name)
        axes = {axis for name in mentioned for axis in found.get(name or "", "")}
        axes |= {a for e in _all_parts(s.value) for a in _axis_of(e, arrays)}
        found[s.name] = "".join(a for a in "rc" if a in axes or a in found.get(s.name, ""))
    return found


def _axis_of(e: Expr, arrays: Mapping[str, str]) -> str:
    return AXES[arrays[e.array.name]] if isinstance(e, Load) and e.array.name in arrays else ""


def _names_beside(e: Expr, arrays: Mapping[str, str]) -> Iterator[str | None]:
    """Variables of an expression, the indices of what is staged left out; None for any other
    access to an array."""
    if isinstance(e, Load):
        if e.array.name not in arrays:
            yield None
        return
    if isinstance(e, Extent) or (isinstance(e, Var) and isinstance(e.type, Array)):
        yield None
    elif isinstance(e, Var):
        yield e.name
    for part in parts(e):
        yield from _names_beside(part, arrays)


def _widened(loop: ir.For, axes: dict[str, str], sums: set[str]) -> dict[str, str]:
    """The axes, where what a column's elements alone make is kept for each sum: a loop over columns
    has no more than sums of such elements themselves."""
    for s in loop.body:
        if not isinstance(s, ir.Assign | ir.AugAssign) or axes[s.name] != "c":
            continue
        if s.name not in sums or (axes.keys() - sums) & set(names_in(s.value)):
            axes[s.name] = "rc"
    return axes


def beside(found: Product) -> list[Expr]:
    """The parts of a turn's expressions, the indices of what is staged left out."""
    stack: list[Expr] = [
        s.value for s in found.loop.body if isinstance(s, ir.Assign | ir.AugAssign)
    ]
    seen: list[Expr] = []
    while stack:
        e = stack.pop()
        seen.append(e)
        stack += () if isinstance(e, Load) else parts(e)
    return seen
