"""Batches of matrix products: a thread for each element of each product."""

from __future__ import annotations

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.matrix.large.core import cells
from generators.matrix.large.finish import finish
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var, op

_NAMES = (("b", "i", "j"), ("batch", "row", "col"), ("head", "q", "t"))


def _operand(
    k: KernelBuilder, names: tuple[str, ...], scalar: Scalar, dims: tuple[str, str], batch: str
) -> tuple[Var, bool, bool]:
    """A matrix, transposed or not, for each product or shared by all of them."""
    flipped, shared = k.draw.shape.chance(0.35), k.draw.shape.chance(0.25)
    inner = dims[::-1] if flipped else dims
    return (
        k.array(names, scalar, inner if shared else (batch, *inner), low=-1.0, high=1.0),
        flipped,
        shared,
    )


def _entry(
    source: tuple[Var, bool, bool], batch: Var, row: Operand, col: Operand
) -> tuple[Expr, str]:
    array, flipped, shared = source
    pair = (col, row) if flipped else (row, col)
    text = f"{'' if shared else f'{batch.name}, '}{', '.join(_shown(p) for p in pair)}"
    return array[pair if shared else (batch, *pair)], f"{array.name}[{text}]"


def _shown(value: Operand) -> str:
    return value.name if isinstance(value, Var) else str(value)


@idiom
def batched_product(k: KernelBuilder, level: int) -> Title:
    """A product for each item of a batch: transposed, shared or narrow operands, epilogue."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    half = scalar.name == "float32" and shape.chance(0.12)
    batch, m, n = k.size("b", 3, 4), k.size("m", 4, 5), k.size("n", 4, 5)
    inner = k.size("k", 3, 5)
    narrow = Scalar("float16") if half else scalar
    left = _operand(k, "a lhs queries", narrow, (m, inner), batch)
    right = _operand(k, "b_mat rhs weights", narrow, (inner, n), batch)
    depth = k.trip_count("depth inner k_size", inner)
    c = cells(k, scalar, (batch, m, n), *_NAMES)
    item, row, col = c.at
    c.channel = 2
    lengths = None
    if level >= 2 and shape.chance(0.3):
        lengths = k.array("lengths valid_depth", INT32, batch, low=1, high=4)
    total = k.let("total acc s", zero(scalar))
    with k.for_("p kk t", depth) as p:
        (a, a_text), (b, b_text) = _entry(left, item, row, p), _entry(right, item, p, col)
        term = cast(a, scalar) * cast(b, scalar)
        if lengths is None:
            k.augment(total, "add", term)
        else:
            with k.if_(p < lengths[item]):
                k.augment(total, "add", term)
    limit = f" < {lengths.name}[{item.name}]" if lengths is not None else ""
    c.say(f"For each ({item.name}, {row.name}, {col.name}), sum {a_text} * {b_text} over")
    c.say(f"{p.name}{limit}{', in float32' if half else ''}.")
    if level >= 3 and shape.chance(0.3):
        with k.if_(op("gt", col, row)):
            k.augment(total, "mul", k.scalar("upper_weight future", scalar, 0.1, 0.6))
        c.say(f"Where {col.name} > {row.name} it is multiplied by {k.params[-1].name}.")
    finish(c, level, total, "out products result")
    return Title(k.name("batched_matmul bmm batch_product"), c.text)
