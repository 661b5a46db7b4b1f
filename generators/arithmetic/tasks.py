"""Tasks of one formula each, element by element: inputs by key, results as code, one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from generators.build import KernelBuilder
from generators.build.registry import Title
from generators.kit.formulas import Build, Formula
from generators.kit.naming import held, maybe
from generators.kit.sites import Site
from generators.kit.sources import given
from generators.kit.words import say, singular, words
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Load

ONE = {"shared": 1}
"""A setting: one number for all elements."""
EITHER = {"shared": 3, "each": 1}
"""Mostly one number for all, at times one for each element."""


@dataclass(frozen=True)
class Input:
    """A quantity: its names (plural ones of an array, else singular), range and ways to come.

    ``type`` is the task's own where there is none; ``local`` are names of an element under a name,
    those of the array in the singular where there are none.
    """

    names: str
    low: float
    high: float
    ways: Mapping[str, int] = field(default_factory=lambda: {"each": 1})
    type: Scalar | None = None
    local: str = ""
    many: str = ""
    updated: bool = False
    """Whether the array is written as well: a result whose names are ``=key`` goes there."""


@dataclass(frozen=True)
class Task:
    """What is computed: kernel names, inputs by key, code by names of its output, a description.

    The description has keys of inputs in braces, and outputs as ``{out0}``, ``{out1}``.
    """

    title: str
    inputs: Mapping[str, Input]
    results: Mapping[str, Build]
    said: str


def perform(s: Site, task: Task, type_: Scalar) -> Title:
    """Declare a task's inputs, compute its results, store each."""
    k = s.k
    values = {key: _declared(s, source, type_) for key, source in task.inputs.items()}
    arrays = {f"={key}": value.array for key, value in values.items() if isinstance(value, Load)}
    texts = {key: say(k, value) for key, value in values.items()}
    found = [
        Formula(names, names, code, task.said, _types(code, values))
        for names, code in task.results.items()
    ]
    for key, source in task.inputs.items():
        reads = sum(formula.reads(key) for formula in found if key in formula.keys)
        reads += source.updated and len(found) > 1
        values[key] = _named(k, source, values[key], reads)
    for number, formula in enumerate(found):
        value = formula.of(k, values)
        out = arrays.get(formula.outs) or s.out(formula.outs, value.type)
        texts[f"out{number}"] = out.name
        chance = 0.3 if k.body() else 1.0
        k.store(out, s.at, maybe(k, one_of(out.name), value, chance))
    return Title(k.name(task.title), task.said.format(**texts))


def _declared(s: Site, source: Input, type_: Scalar) -> Expr:
    called = source.names
    if source.updated:
        array = s.array(called, type_, source.low, source.high, role="inout")
        return array[s.at]
    many = source.many or (called if "shared" not in source.ways else "")
    return given(
        s, called, source.type or type_, source.low, source.high, forms=source.ways, many=many
    )


def _types(code: Build, values: Mapping[str, Expr]) -> tuple[Scalar, ...]:
    """The types of the quantities that the code reads."""
    types = [values[key].type for key in Formula("", "", code).keys]
    return tuple(type_ for type_ in types if isinstance(type_, Scalar))


def _named(k: KernelBuilder, source: Input, value: Expr, reads: int) -> Expr:
    """An element under a name where it is read more than once, at times otherwise."""
    if not isinstance(value, Load):
        return value
    called = words(source.local) or (one_of(value.array.name),)
    return held(k, called, value) if reads > 1 else maybe(k, called, value, 0.4)


def one_of(name: str) -> str:
    """What one element of an array of that name is called."""
    if name.startswith(("num_", "total_")):
        return f"{name}_i"
    one = singular(name.removesuffix("_out").removesuffix("_in"))
    return one if one != name else f"{one}_i"
