"""Further results of a kernel on small matrices, and threads that a flag leaves out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from generators.build import fn, make
from generators.matrix.small.grid import Grid, Names
from generators.program import ir
from generators.program.dtypes import BOOL, INT32, Scalar
from generators.program.expr import Expr, Load, Var


@dataclass(frozen=True)
class Extra:
    """One more result that a library offers: its names, what it is, and its text."""

    names: Names
    value: Callable[[], Expr]
    text: str


TOGETHER = 0.4
"""Share of the kernels with several more results that write them as one struct."""


def extras(g: Grid, menu: Mapping[str, Extra], count: int) -> str:
    """Write some of the results on offer, in drawn order; the sentence that says which."""
    keys = g.k.draw.shape.sample(sorted(menu), min(count, len(menu)))
    if len(keys) > 1 and g.k.draw.shape.chance(TOGETHER):
        return _together(g, {key: menu[key] for key in keys})
    parts = []
    for key in keys:
        extra = menu[key]
        target = g.write(extra.names, extra.value())
        parts.append(f"{target.name} gets {extra.text}")
    return f" {'; '.join(parts)}." if parts else ""


def _together(g: Grid, chosen: Mapping[str, Extra]) -> str:
    """All of them as the fields of one struct."""
    k = g.k
    values = {key: extra.value() for key, extra in chosen.items()}
    inits = [ir.FieldInit(key, value.type, "uniform", "0", "1") for key, value in values.items()]
    name = k.name("Summary", "Measures", "Report", "Stats")
    struct = k.struct(name, *((f.name, f.type) for f in inits))
    target = g.structs(("summaries", "reports", "stats"), struct, inits, "out")
    if k.draw.shape.chance(0.5):
        record = k.let(("record", "summary"), make(struct, *values.values()))
        k.store(target, g.index, record)
    else:
        k.store(target, g.index, make(struct, *values.values()))
    parts = [f"{key} {extra.text}" for key, extra in chosen.items()]
    return f" {target.name} gets a {name} of {'; '.join(parts)}."


FLAG_TYPES = {INT32: 5, Scalar("uint8"): 3, BOOL: 3, Scalar("int8"): 1, Scalar("uint32"): 1}


def flagged(g: Grid, names: Names, *, off: bool = False) -> tuple[Expr, str]:
    """Whether this thread's flag is set, or not set; and what a flag that is set is."""
    type_ = g.k.draw.shape.weighted(FLAG_TYPES)
    if type_ == BOOL:
        flag = g.array(names, BOOL)[g.index]
        return fn("not", flag) if off else flag, f"{_array_of(flag)} is true"
    flag = g.array(names, type_, 0, 2)[g.index]
    return fn("eq" if off else "ne", flag, 0), f"{_array_of(flag)} is not 0"


def _array_of(value: Expr) -> str:
    assert isinstance(value, Load)
    return value.array.name


def skipped(g: Grid, names: Names, writes: Sequence[tuple[Var, Expr]], instead: str) -> str:
    """Threads without a flag write something plain and end; the sentence that says so."""
    k = g.k
    type_ = k.draw.shape.weighted(FLAG_TYPES)
    if type_ == BOOL:
        flags = g.array(names, BOOL)
        off, text = fn("not", flags[g.index]), "false"
    else:
        flags = g.array(names, type_, 0, 2)
        off, text = fn("eq", flags[g.index], 0), "0"
    with k.if_(off):
        for target, value in writes:
            k.store(target, g.index, value)
        k.return_()
    return f" Where {flags.name} is {text}, {instead} instead."
