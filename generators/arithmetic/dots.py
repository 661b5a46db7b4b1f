"""Dot products of narrow numbers in a wider type."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT16,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    Grid,
    grid,
    named,
    parameters,
)
from generators.arithmetic.quantised import activated
from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Const, Expr, Var, literal


@idiom
def mixed_dot(k: KernelBuilder, level: int) -> Title:
    """Short dot products of narrow numbers, accumulated in a wider type."""
    shape = k.draw.shape
    source, wide = shape.choice(
        ((INT8, INT32), (UINT8, INT32), (INT16, INT64), (FLOAT16, FLOAT32), (INT16, INT32))
    )
    g = grid(k, {1: 2, 2: 3})
    m = k.size("m", 3, 5)
    top: object = 2.0 if source.is_float else min(source.int_range[1], 5000)
    low: object = 0 if source == UINT8 else -2.0 if source.is_float else -int(str(top))
    a = k.array("a activations lhs", source, (g.sizes[0], m), low=low, high=top)
    last = (g.sizes[-1], m) if g.ndim > 1 or shape.chance(0.5) else (m,)
    signed = {UINT8: INT8}.get(source, source)
    low_b: object = -127 if signed == INT8 else low
    top_b: object = 127 if signed == INT8 else top
    b = k.array("b weights rhs", signed, last, low=low_b, high=top_b)
    count = k.trip_count("m depth length", m)
    offset = _offset(k, level, source, wide)
    start = _start(k, level, g, wide)
    acc = k.let("acc total dot", start)
    with k.for_("q s inner", count) as q:
        left = a[g.at[0], q]
        right = b[(g.at[-1], q) if len(last) == 2 else q]
        x: Expr = named(k, "av x", cast(left, wide), 0.5)
        y = named(k, "bv w", cast(right, wide), 0.5)
        k.augment(acc, "add", (x - offset if offset is not None else x) * y)
    text = f"({a.name} - {offset.name})" if isinstance(offset, Var) else a.name
    done = f"For each {', '.join(t.name for t in g.at)}, sum {text} * {b.name} over the last axis "
    done += f"(of length m) in {wide}"
    if not isinstance(start, Const):
        done += ", starting at the bias"
    return Title(
        k.name("mixed_dot", "int8_gemm" if source == INT8 else "narrow_dot", "dot_rows"),
        done + _dot_out(k, level, acc, g, source, wide),
    )


def _offset(k: KernelBuilder, level: int, source: Scalar, wide: Scalar) -> Var | None:
    if level == 1 or source.is_float or k.draw.shape.chance(0.5):
        return None
    return k.scalar("a_zero zero_point", wide, 1, 20)


def _start(k: KernelBuilder, level: int, g: Grid, wide: Scalar) -> Expr:
    if k.draw.shape.chance(0.5):
        return literal(0, wide)
    low, high = (-1.0, 1.0) if wide.is_float else (-500, 500)
    bias = k.array("bias initial", wide, g.sizes[-1], low=low, high=high)
    return bias[g.at[-1]]


def _dot_out(k: KernelBuilder, level: int, acc: Var, g: Grid, source: Scalar, wide: Scalar) -> str:
    if level < 3 and (wide.is_float or k.draw.shape.chance(0.6)):
        out = k.out("out products c", wide, g.sizes)
        factor: Expr = acc
        said = ""
        if level == 2 and k.draw.shape.chance(0.5) and wide.is_float:
            gain = k.scalar("alpha gain", wide, 0.5, 1.5)
            factor, said = gain * acc, f", times {gain.name}"
        k.store(out, g.at, factor)
        return f", stored in {out.name}{said}."
    scaled: Expr = acc if wide == FLOAT32 else cast(acc, FLOAT32)
    size = 1.0 if source.is_float else 1.0e-4 if source in (INT8, UINT8) else 1.0e-7
    scales = k.array("scales col_scale", FLOAT32, g.sizes[-1], low=0.5 * size, high=2.0 * size)
    value = k.let("value real", scaled * scales[g.at[-1]])
    text = f"; multiplied by {scales.name}[{g.at[-1].name}] in float32"
    done = ""
    if level >= 3:
        result, rule = activated(k, value, "that")
        value = k.let("result activated", result)
        text += f", then {rule}"
    if level >= 4 and wide.is_int:
        raw = k.out("accumulators raw", wide, g.sizes)
        k.store(raw, g.at, acc)
        done = f" {raw.name} gets the sum itself."
    if level == 5:
        old = k.array("residual previous", FLOAT32, g.sizes, low=-1.0, high=1.0)
        mix = parameters(
            k,
            [("alpha gain", FLOAT32, 0.5, 1.5), ("beta carry", FLOAT32, 0.2, 0.8)],
            "Epilogue",
            0.6,
        )
        value = k.let("mixed final", mix[0].value * value + mix[1].value * old[g.at])
        text += f", then {mix[0].text} times that plus {mix[1].text} * {old.name}"
    out = k.out("out activations_out c", FLOAT32, g.sizes)
    k.store(out, g.at, value)
    return f"{text}; stored in {out.name}.{done}"
