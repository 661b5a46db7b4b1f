"""Names for values, and formulas in helper functions or written in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from generators.build import BodyBuilder, KernelBuilder
from generators.kit.formulas import Formula
from generators.kit.sites import Names
from generators.kit.words import words
from generators.program.dtypes import Type
from generators.program.expr import Const, Expr, Field, Var

BY_LEVEL = {1: 0.0, 2: 0.25, 3: 0.55, 4: 0.6, 5: 0.6}
"""How often people move a formula of a level into a function."""


def maybe(b: BodyBuilder, names: Names, value: Expr, chance: float = 0.5) -> Expr:
    """A value that is used once: under a name, or nested where it is used."""
    if isinstance(value, Var | Const) or not b.draw.shape.chance(chance):
        return value
    return b.let(words(names), value)


def maybe_all(b: BodyBuilder, named: Mapping[str, Expr], chance: float = 0.5) -> list[Expr]:
    """Values that belong together, by names: all of them under a name, or none."""
    if not b.draw.shape.chance(chance):
        return list(named.values())
    return [maybe(b, names, value, 1.0) for names, value in named.items()]


def held(b: BodyBuilder, names: Names, value: Expr) -> Expr:
    """A value that is used more than once: under a name unless it is one or a literal.

    The fields of a kernel's structs are all named, or all read where they are used.
    """
    if isinstance(value, Var | Const):
        return value
    if isinstance(value, Field) and b.draw.stream("fields held").chance(0.5):
        return value
    return b.let(words(names), value)


def local(b: BodyBuilder, names: Names, value: Expr) -> Var:
    """A value as a local variable, which may be changed; a local is taken as it is."""
    return value if isinstance(value, Var) else b.let(words(names), value)


def helper(
    k: KernelBuilder,
    names: Names,
    params: Sequence[tuple[str, Type]],
    build: Callable[..., Expr],
    doc: str = "",
) -> str:
    """Add a helper function and give its name.

    ``build(body, *params)`` writes its statements to ``body`` and gives the value it returns.
    """
    body = BodyBuilder(k.draw)
    variables = tuple(Var(body.name(name), type_) for name, type_ in params)
    result = build(body, *variables)
    body.return_(result)
    return k.function(k.name(*words(names)), variables, body, result.type, doc)


def routine(
    k: KernelBuilder,
    chance: float,
    names: Names,
    params: Mapping[str, Type],
    build: Callable[..., Expr],
    doc: str = "",
) -> Callable[..., Expr]:
    """A function of expressions that computes what ``build(body, *params)`` does.

    With the probability ``chance`` (``BY_LEVEL[level]``) each use of it calls a helper, which is
    added once; else it writes the statements in place. Numbers among its arguments become literals.
    """
    types = list(params.values())
    if not k.draw.shape.chance(chance):
        return lambda *args: build(k, *map(k.lift, args, types))
    called = helper(k, names, list(params.items()), build, doc)
    return lambda *args: k.call(called, *map(k.lift, args, types))


def applied(
    k: KernelBuilder,
    chance: float,
    names: Names,
    args: Mapping[str, Expr],
    build: Callable[..., Expr],
    doc: str = "",
) -> Expr:
    """``build(body, *args)`` applied once: by a helper with that chance, or in place."""
    types = {name: value.type for name, value in args.items()}
    return routine(k, chance, names, types, build, doc)(*args.values())


def evaluated(
    k: KernelBuilder, chance: float, formula: Formula, values: Mapping[str, Expr]
) -> Expr:
    """The value of a formula, ``values`` being its quantities by key: by a helper with that
    probability, or in place."""
    return applied(
        k, chance, formula.name, {key: values[key] for key in formula.keys}, formula.build
    )
