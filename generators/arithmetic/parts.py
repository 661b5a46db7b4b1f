"""Choices that idioms of arithmetic share: grids, where a quantity comes from, how it is stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.kit.pieces import constant, helper, shown
from generators.program.dtypes import BOOL, Array, Scalar, Type
from generators.program.expr import Const, Expr, Operand, Var, literal
from generators.program.ir import FieldInit

Names = tuple[str, ...]

FLOAT16, FLOAT32, FLOAT64 = Scalar("float16"), Scalar("float32"), Scalar("float64")
INT32 = Scalar("int32")
INT8, INT16, INT64 = Scalar("int8"), Scalar("int16"), Scalar("int64")
UINT8, UINT16 = Scalar("uint8"), Scalar("uint16")
UINT32, UINT64 = Scalar("uint32"), Scalar("uint64")

_EXTENTS = {1: (48, 96), 2: (7, 10), 3: (4, 6), 4: (3, 4)}
_SYMBOLS: dict[int, tuple[Names, ...]] = {
    1: (("n",), ("count",)),
    2: (("rows", "cols"), ("height", "width"), ("batch", "length")),
    3: (("depth", "rows", "cols"), ("nz", "ny", "nx"), ("batch", "height", "width")),
    4: (("batch", "channels", "height", "width"), ("n0", "n1", "n2", "n3")),
}
_INDICES: dict[int, tuple[Names, ...]] = {
    1: (("i",), ("tid",), ("idx",)),
    2: (("i", "j"), ("row", "col"), ("r", "c")),
    3: (("i", "j", "k"), ("z", "y", "x"), ("b", "i", "j")),
    4: (("i", "j", "k", "l"), ("b", "c", "y", "x")),
}


@dataclass(frozen=True)
class Grid:
    """The points that the launch has one thread for: size symbols and thread indices."""

    sizes: tuple[str, ...]
    at: tuple[Var, ...]

    @property
    def ndim(self) -> int:
        return len(self.sizes)


def grid(k: KernelBuilder, weights: Mapping[int, int]) -> Grid:
    """Launch over a grid of one to four dimensions, drawn by weight."""
    ndim = k.draw.shape.weighted(dict(weights))
    low, high = _EXTENTS[ndim]
    symbols = k.draw.word.choice(_SYMBOLS[ndim])
    names = k.draw.word.choice(_INDICES[ndim])
    sizes = tuple(k.size(s, low, high) for s in symbols)
    return Grid(sizes, k.thread(*sizes, names=names))


@dataclass(frozen=True)
class Given:
    """A quantity and what a description calls it."""

    value: Expr
    text: str


def coefficient(
    k: KernelBuilder,
    names: Names,
    type_: Scalar,
    low: float,
    high: float,
    g: Grid,
    kinds: str = "sec",
) -> Given:
    """A quantity: ``s`` a scalar parameter, ``e`` one per element, ``a`` one along an axis, ``c`` a
    constant."""
    if g.ndim > 1 and "e" in kinds:
        kinds += "a"
    kind = k.draw.shape.choice(kinds)
    if kind == "c":
        number = constant(k, low, high)
        return Given(literal(number, type_), str(number))
    if kind == "s":
        var = k.scalar(names, type_, low, high)
        return Given(var, var.name)
    axes = tuple(range(g.ndim))
    if kind == "a":
        axes = (k.draw.shape.choice(axes),)
    shape = tuple(g.sizes[axis] for axis in axes)
    var = k.array(names, type_, shape, low=low, high=high)
    return Given(var[tuple(g.at[axis] for axis in axes)], element_text(var, g, axes))


def element_text(var: Var, g: Grid, axes: Sequence[int]) -> str:
    """``x`` for the thread's own element, ``x[j]`` for one along an axis."""
    if len(axes) == g.ndim:
        return var.name
    return f"{var.name}[{', '.join(g.at[axis].name for axis in axes)}]"


Wanted = tuple[Names, Scalar, object, object]
"""Candidate names, type, lowest and highest value of a quantity."""


def elements(
    k: KernelBuilder, wanted: Sequence[Wanted], g: Grid, record: Names, chance: float = 0.25
) -> list[Given]:
    """Quantities of each grid point: separate arrays, or the fields of an array of structs."""
    if not k.draw.shape.chance(chance):
        found = [k.array(n, t, g.sizes, low=low, high=high) for n, t, low, high in wanted]
        return [Given(var[g.at], var.name) for var in found]
    inits = _field_inits(k, wanted)
    struct = k.struct(k.name(*record), *((f.name, f.type) for f in inits))
    name = _snake(struct.name)
    items = k.array((f"{name}s", f"{name}_list", "items"), struct, g.sizes, fields=inits)
    item = k.let((name, "item", "entry"), items[g.at])
    return [Given(field(item, f.name), f.name) for f in inits]


def parameters(
    k: KernelBuilder, wanted: Sequence[Wanted], record: Names, chance: float = 0.25
) -> list[Given]:
    """Scalars that all threads share: separate parameters, or a struct by value."""
    if not k.draw.shape.chance(chance):
        found = [k.scalar(n, t, low, high) for n, t, low, high in wanted]
        return [Given(var, var.name) for var in found]
    inits = _field_inits(k, wanted)
    struct = k.struct(k.name(*record), *((f.name, f.type) for f in inits))
    name = _snake(struct.name)
    var = k.scalar((name, "params", "cfg"), struct, fields=inits)
    return [Given(field(var, f.name), f"{var.name}.{f.name}") for f in inits]


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _field_inits(k: KernelBuilder, wanted: Sequence[Wanted]) -> list[FieldInit]:
    taken: set[str] = set()
    inits = []
    for names, type_, low, high in wanted:
        name = k.draw.word.choice([n for n in names if n not in taken])
        taken.add(name)
        inits.append(FieldInit(name, type_, "uniform", str(low), str(high)))
    return inits


def named(k: BodyBuilder, names: Names, value: Expr, chance: float = 0.5) -> Expr:
    """A value as a local variable or nested into what uses it."""
    if isinstance(value, Var | Const) or not k.draw.shape.chance(chance):
        return value
    return k.let(names, value)


def local(k: BodyBuilder, names: Names, value: Expr) -> Expr:
    """A value as a local variable unless it has a name or is a literal."""
    return value if isinstance(value, Var | Const) else k.let(names, value)


def step(
    k: KernelBuilder,
    names: Names,
    inputs: Sequence[tuple[str, Expr]],
    build: Callable[..., Expr],
    chance: float = 0.4,
    doc: str = "",
) -> Expr:
    """A formula of some inputs in a helper function, or written out in the kernel."""
    if k.draw.shape.chance(chance):
        name = helper(k, names, [(n, e.type) for n, e in inputs], build, doc)
        return k.call(name, *(e for _, e in inputs))
    return build(k, *(local(k, (n,), e) for n, e in inputs))


def condition(k: KernelBuilder, g: Grid) -> Given:
    """Whether a grid point takes part: a mask of bools, of small integers, or a threshold."""
    form = k.draw.shape.choice(("bool", "int", "bytes", "level"))
    names = ("mask", "active", "valid", "selected")
    if form == "bool":
        var = k.array(names, BOOL, g.sizes)
        return Given(var[g.at], f"{var.name} is true")
    if form == "level":
        low, high = k.draw.value.choice(((0.0, 1.0), (-1.0, 1.0)))
        var = k.array(("confidence", "score", "level_set"), FLOAT32, g.sizes, low=low, high=high)
        limit = tuned_limit(k, FLOAT32, 0.3, 0.7)
        return Given(limit.value < var[g.at], f"{var.name} exceeds {limit.text}")
    type_ = INT32 if form == "int" else UINT8
    var = k.array(names, type_, g.sizes, low=0, high=1)
    if k.draw.shape.chance(0.5):
        return Given(var[g.at] > 0, f"{var.name} is set")
    return Given(fn("ne", var[g.at], 0), f"{var.name} is not zero")


def tuned_limit(k: KernelBuilder, type_: Scalar, low: float, high: float) -> Given:
    if k.draw.shape.chance(0.5):
        var = k.scalar(("threshold", "cutoff", "limit"), type_, low, high)
        return Given(var, var.name)
    number = constant(k, low, high)
    return Given(literal(number, type_), str(number))


def store_where(
    k: KernelBuilder, out: Var, g: Grid, test: Expr, value: Expr, other: Operand
) -> None:
    """Store one of two values: by ``wp.where``, by two branches, or with an early return."""
    form = k.draw.shape.choice(("where", "branches", "early", "default"))
    if form == "where":
        k.store(out, g.at, fn("where", test, value, k.lift(other, value.type)))
    elif form == "branches":
        with k.if_(test):
            k.store(out, g.at, value)
        with k.else_():
            k.store(out, g.at, other)
    elif form == "early":
        with k.if_(fn("not", test)):
            k.store(out, g.at, other)
            k.return_()
        k.store(out, g.at, value)
    else:
        result = k.let(("result", "chosen", "final"), k.lift(other, value.type))
        with k.if_(test):
            k.assign(result, value)
        k.store(out, g.at, result)


def total(terms: Sequence[Expr]) -> Expr:
    return reduce(add, terms)


def element_of(var: Var) -> Type:
    assert isinstance(var.type, Array)
    return var.type.element


def text_of(value: Operand) -> str:
    """A parameter's name, a literal's text."""
    return str(value.value) if isinstance(value, Const) else shown(value)
