"""Pieces of the vector idioms: launches, where a quantity comes from, structs or arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from generators.build import KernelBuilder, field, make
from generators.build.registry import Title as Title
from generators.kit.pieces import helper
from generators.kit.words import plural, plurals
from generators.program.dtypes import Scalar, Struct, Type, Vec
from generators.program.expr import Const, Construct, Expr, Field, Load, Var, literal
from generators.program.ir import Assign, FieldInit

LIST, BATCH, GRID, CUBE = "list", "batch", "grid", "cube"
_THREADS: dict[str, tuple[tuple[str, ...], ...]] = {
    LIST: (("i",), ("tid",), ("idx",), ("p",)),
    BATCH: (("b", "i"), ("batch", "idx"), ("env", "i"), ("frame", "p")),
    GRID: (("row", "col"), ("i", "j"), ("r", "c"), ("iy", "ix")),
    CUBE: (("i", "j", "k"), ("ix", "iy", "iz"), ("b", "row", "col")),
}
_SIZES: dict[str, tuple[tuple[str, int, int], ...]] = {
    LIST: (("n", 48, 72),),
    BATCH: (("b", 3, 5), ("n", 14, 18)),
    GRID: (("h", 7, 9), ("w", 7, 10)),
    CUBE: (("d", 3, 4), ("h", 4, 5), ("w", 4, 5)),
}


@dataclass(frozen=True)
class Site:
    """One thread of a launch: the sizes of the launch, and the thread's indices."""

    form: str
    dims: tuple[str, ...]
    at: tuple[Var, ...]


def launch(k: KernelBuilder, forms: Mapping[str, int]) -> Site:
    """A launch of one of the forms, drawn by weight."""
    form = k.draw.shape.weighted(forms)
    dims = tuple(k.size(*entry) for entry in _SIZES[form])
    names = tuple(k.name(name) for name in k.draw.word.choice(_THREADS[form]))
    return Site(form, dims, k.thread(*dims, names=names))


def over_points(k: KernelBuilder, level: int) -> Site:
    """A launch over a list, or over a list of each batch."""
    return launch(k, {LIST: 5, BATCH: 3 + level // 3})


def said(k: KernelBuilder, e: Expr) -> str:
    """How a description calls a quantity: a local goes by what it was read from."""
    match e:
        case Const():
            return str(e.value)
        case Var():
            return _source_of(k, e)
        case Load():
            return e.array.name
        case Field():
            return e.name
        case Construct():
            return f"({', '.join(said(k, a) for a in e.args)})"
    raise TypeError(f"{type(e).__name__} has no short name")


def _source_of(k: KernelBuilder, var: Var) -> str:
    for statement in k._blocks[0]:
        if isinstance(statement, Assign) and statement.name == var.name:
            value = statement.value
            return said(k, value) if isinstance(value, Load | Field | Const) else var.name
    return var.name


EACH, ROW, SHARED, LITERAL = "each", "row", "shared", "literal"


def quantity(
    k: KernelBuilder,
    site: Site,
    names: Sequence[str],
    scalar: Scalar,
    low: float,
    high: float,
    forms: Mapping[str, int] | None = None,
) -> Expr:
    """A scalar that each thread has its own of, or each batch, or all share, or a literal."""
    weights = dict(forms or {EACH: 3, ROW: 2, SHARED: 4, LITERAL: 2})
    if site.form != BATCH:
        weights.pop(ROW, None)
    form = k.draw.shape.weighted(weights)
    if form == LITERAL:
        return k.lift(float(k.draw.value.constant(low, high)), scalar)
    if form == SHARED:
        return k.scalar(names, scalar, low, high)
    dims, at = (site.dims, site.at) if form == EACH else (site.dims[:1], site.at[:1])
    return k.array(plurals(names), scalar, dims, low=low, high=high)[at]


def vector(
    k: KernelBuilder,
    site: Site,
    names: Sequence[str],
    vec: Type,
    forms: Mapping[str, int],
    low: float | None,
    high: float | None,
    init: str = "uniform",
) -> Expr:
    """A vector that each thread has its own of, or each batch, or all share."""
    weights = dict(forms)
    if site.form != BATCH:
        weights.pop(ROW, None)
    form = k.draw.shape.weighted(weights)
    if form == SHARED:
        return k.scalar(names, vec, low, high, init=init)
    dims, at = (site.dims, site.at) if form == EACH else (site.dims[:1], site.at[:1])
    return k.array(plurals(names), vec, dims, low=low, high=high, init=init)[at]


@dataclass(frozen=True)
class Part:
    """One field of a record: candidates for its name, its type and how its values are drawn."""

    names: tuple[str, ...]
    type: Type
    low: float | None = None
    high: float | None = None
    init: str = "uniform"

    def field(self, name: str) -> FieldInit:
        low, high = (None if b is None else str(b) for b in (self.low, self.high))
        return FieldInit(name, self.type, self.init, low, high)


def struct_of(
    k: KernelBuilder, title: str, parts: Sequence[Part]
) -> tuple[Struct, tuple[FieldInit, ...]]:
    """A struct with these fields, and how their values are drawn."""
    names: list[str] = []
    for part in parts:
        names.append(k.draw.word.choice([n for n in part.names if n not in names]))
    fields = tuple(p.field(name) for p, name in zip(parts, names, strict=True))
    return k.struct(k.name(title), *((f.name, f.type) for f in fields)), fields


def record(
    k: KernelBuilder,
    site: Site,
    titles: Sequence[str],
    parts: Sequence[Part],
    as_struct: bool,
    shared: bool = False,
) -> list[Expr]:
    """The parts of what a thread works on: fields of a struct, or elements of an array for each.

    ``shared`` ones are the same for all threads: a struct by value, or parameters.
    """
    if not as_struct:
        return [_part(k, site, part, shared) for part in parts]
    title = k.draw.word.choice(titles)
    struct, fields = struct_of(k, title, parts)
    if shared:
        whole: Expr = k.scalar(title.lower(), struct, fields=fields)
    else:
        items = k.array(plural(title.lower()), struct, site.dims, fields=fields)
        whole = k.let((title.lower(), title[0].lower()), items[site.at])
    return [field(whole, f.name) for f in fields]


def _part(k: KernelBuilder, site: Site, part: Part, shared: bool) -> Expr:
    if shared:
        return k.scalar(part.names, part.type, part.low, part.high, init=part.init)
    names = tuple(n for n in part.names if len(n) > 1)
    values = k.array(
        plurals(names), part.type, site.dims, low=part.low, high=part.high, init=part.init
    )
    return values[site.at]


def routine(
    k: KernelBuilder,
    as_helper: bool,
    names: tuple[str, ...],
    params: Sequence[tuple[str, Type]],
    build: Callable[..., Expr],
    doc: str = "",
) -> Callable[..., Expr]:
    """What ``build`` computes: a call of a helper function, or its statements in place."""
    if not as_helper:
        return lambda *args: build(k, *args)
    called = helper(k, names, params, build, doc)
    return lambda *args: k.call(called, *args)


def along(vec: Vec, axis: int, value: float) -> Expr:
    """``value`` times a unit vector along one axis."""
    parts = [literal(value if c == axis else 0.0, vec.scalar) for c in range(vec.size)]
    return make(vec, *parts)


def maybe(k: KernelBuilder, names: Sequence[str], value: Expr, chance: float = 0.6) -> Expr:
    """``value`` under a name, or nested where it is used: for what is used once."""
    return k.let(names, value) if k.draw.shape.chance(chance) else value


def held(k: KernelBuilder, names: Sequence[str], value: Expr) -> Expr:
    """``value`` under a name unless it is one or a field: for what is used more than once."""
    if isinstance(value, Var | Const):
        return value
    if isinstance(value, Field) and k.draw.shape.chance(0.5):
        return value
    return k.let(names, value)


def named_helper(k: KernelBuilder, level: int) -> bool:
    """Whether a person would move a formula of this level into a function."""
    return k.draw.shape.chance({1: 0.0, 2: 0.25, 3: 0.55, 4: 0.6, 5: 0.6}[level])
