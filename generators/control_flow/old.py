"""Small choices that the control-flow idioms share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.build import KernelBuilder, cast, fn
from generators.kit.pieces import constant, helper
from generators.program.dtypes import Scalar, Type
from generators.program.expr import Expr, Operand, Var


def either(
    k: KernelBuilder, names: tuple[str, ...], type_: Scalar, low: float, high: float
) -> Operand:
    """A tunable number: a parameter, or a constant of two digits."""
    if k.draw.shape.chance(0.55):
        return k.scalar(names, type_, low, high)
    if type_.is_int:
        return k.draw.value.integer(int(low), int(high))
    return constant(k, low, high)


def shown(value: Operand) -> str:
    return value.name if isinstance(value, Var) else str(value)


def items(k: KernelBuilder, n: str = "n", *names: str) -> Var:
    """One thread for each item."""
    (i,) = k.thread(n, names=(k.name(*(names or ("i", "tid", "idx"))),))
    return i


def also(
    k: KernelBuilder, share: float, names: tuple[str, ...], type_: Type, dims: object
) -> Var | None:
    """A second output, now and then."""
    return k.out(names, type_, dims) if k.draw.shape.chance(share) else None  # type: ignore[arg-type]


def rows_of(
    k: KernelBuilder, names: tuple[str, ...], type_: Scalar, low: float, high: float
) -> tuple[Var, Var, Expr]:
    """A table with a thread for each row: the table, the row, how many columns."""
    rows, cols = k.size("rows", 24, 40), k.size("cols", 7, 12)
    table = k.array(names, type_, (rows, cols), low=low, high=high)
    count: Expr = k.size_param(("num_cols", "length", "width", "row_length"), cols)
    return table, items(k, rows, "row", "r", "i"), count


def function_of(
    k: KernelBuilder,
    level: int,
    names: tuple[str, ...],
    params: Sequence[tuple[str, Type]],
    build: Callable[..., Expr],
    share: float = 0.55,
) -> Callable[..., Expr]:
    """A formula ``build(body, *args)`` to be applied: from level 3 on often in a helper."""
    if level < 3 or not k.draw.shape.chance(share):
        return lambda *args: build(k, *args)
    name = helper(k, names, params, build)
    types = [type_ for _, type_ in params]
    return lambda *args: k.call(name, *map(k.lift, args, types))


def flag_type(k: KernelBuilder) -> Scalar:
    return Scalar(k.draw.shape.weighted({"int32": 4, "uint8": 2, "int8": 1, "bool": 3}))


def as_flag(value: Expr, type_: Scalar) -> Expr:
    """A truth value in the type of a flag."""
    return value if type_.name == "bool" else cast(value, type_)


def is_set(value: Expr) -> Expr:
    """Whether a flag is set."""
    assert isinstance(value.type, Scalar)
    return value if value.type.name == "bool" else fn("ne", value, 0)
