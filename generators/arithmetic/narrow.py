"""Arithmetic of narrow integers that stops at the ends of their range."""

from __future__ import annotations

from generators.arithmetic.parts import (
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    Given,
    Grid,
    condition,
    elements,
    grid,
    local,
    named,
    step,
    store_where,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr

_SATURATING = {
    "add": ("saturating_add", "add_sat", "clamped_add"),
    "sub": ("saturating_sub", "sub_sat", "clamped_difference"),
    "mul": ("saturating_mul", "mul_sat", "scaled_product"),
    "abs_diff": ("absolute_difference", "abs_diff_bytes", "sad_terms"),
    "average": ("rounded_average", "halving_add", "average_bytes"),
    "mac": ("saturating_mac", "multiply_accumulate_sat"),
}


@idiom
def saturating(k: KernelBuilder, level: int) -> Title:
    """Sums, differences and products of narrow integers that stop at the ends of their range."""
    shape = k.draw.shape
    type_ = shape.choice((INT8, INT16, UINT8, UINT16, INT8, UINT8))
    g = grid(k, {1: 3, 2: 3, 3: 1})
    form = shape.choice(sorted(_SATURATING))
    low, high = type_.int_range
    least, most = low, high
    if form in ("mul", "mac") and low < 0:
        least, most = (-20, 20) if type_ == INT8 else (-300, 300)
    a, b = elements(
        k,
        [("a left lhs", type_, least, most), ("b right rhs", type_, least, most)],
        g,
        "Pair Operands",
        0.15 if level < 3 else 0.35,
    )
    wide = INT64 if type_ == UINT16 and form in ("mul", "mac") else INT32
    out = k.out("out result dst", type_, g.sizes)
    x = named(k, "wide_a wa", cast(a.value, wide), 0.6)
    y = named(k, "wide_b wb", cast(b.value, wide), 0.6)
    raw, text = _raw(k, level, form, x, y, a, b, g, wide)
    names = f"saturate clamp_to_{type_} narrow"
    raw = local(k, "raw total wide_sum", raw)
    clipped: Expr = raw
    done = f"Compute {text} in {wide}"
    if form not in ("abs_diff", "average"):
        clipped = _clipped(k, level, names, raw, low, high, form == "sub")
        done += f", clamp it to [{low}, {high}]"
    elif form == "abs_diff" and type_ in (INT8, INT16):
        clipped = fn("min", raw, high)
        done += f", limit it to {high}"
    result = cast(clipped, type_)
    done += f" and store it as {type_} in {out.name}."
    if level >= 4:
        result = k.let("narrowed value", result)
        done += _overflowed(k, level, raw, low, high, g)
    if level >= 3 and shape.chance(0.6):
        test = condition(k, g)
        store_where(k, out, g, test.value, result, a.value)
        done += f" Only where {test.text}; elsewhere {a.text} is kept."
    else:
        k.store(out, g.at, result)
    return Title(k.name(*_SATURATING[form]), done)


def _raw(
    k: KernelBuilder,
    level: int,
    form: str,
    x: Expr,
    y: Expr,
    a: Given,
    b: Given,
    g: Grid,
    wide: Scalar,
) -> tuple[Expr, str]:
    if form in ("add", "sub"):
        value, text = (
            (x + y, f"{a.text} + {b.text}") if form == "add" else (x - y, f"{a.text} - {b.text}")
        )
        above = form == "add" or a.value.type in (INT8, INT16)
        if level >= 2 and above and k.draw.shape.chance(0.6):
            bias = k.scalar("bias offset", wide, 1, 20)
            value, text = value + bias, f"{text} + {bias.name}"
        return value, text
    if form == "abs_diff":
        return fn("abs", x - y), f"|{a.text} - {b.text}|"
    if form == "average":
        if k.draw.shape.chance(0.5) and a.value.type in (UINT8, UINT16):
            return (x + y + 1) >> 1, f"({a.text} + {b.text} + 1) >> 1"
        weight = k.draw.value.integer(1, 3)
        if a.value.type in (UINT8, UINT16):
            text = f"({weight} * {a.text} + {4 - weight} * {b.text} + 2) / 4"
            return (weight * x + (4 - weight) * y + 2) // 4, text
        assert isinstance(a.value.type, Scalar)
        shift = 2 ** (a.value.type.bits - 1)
        text = f"({a.text} + {b.text} + {2 * shift}) / 2 - {shift}"
        return (x + y + 2 * shift) // 2 - shift, text
    product, text = x * y, f"{a.text} * {b.text}"
    if a.value.type in (UINT8, UINT16):
        shift = 6 if a.value.type == UINT8 else 14
        product, text = product >> shift, f"({text} >> {shift})"
    if form == "mul":
        return product, text
    acc = k.array(
        "acc carry_in bias",
        wide,
        g.sizes,
        low=-100 if a.value.type in (INT8, INT16) else 0,
        high=100,
    )
    return acc[g.at] + product, f"{acc.name} + {text}"


def _clipped(
    k: KernelBuilder,
    level: int,
    names: tuple[str, ...],
    raw: Expr,
    low: int,
    high: int,
    sinks: bool,
) -> Expr:
    form = k.draw.shape.choice(
        ("clamp", "minmax", "branches") if level > 1 else ("clamp", "minmax")
    )

    def build(b: BodyBuilder, v: Expr) -> Expr:
        if low == 0:
            return fn("max", v, 0) if sinks else fn("min", v, high)
        if form == "clamp":
            return fn("clamp", v, low, high)
        if form == "minmax":
            return fn("max", fn("min", v, high), low)
        result = b.let("clipped limited", v)
        with b.if_(v > high):
            b.assign(result, high)
        with b.elif_(v < low):
            b.assign(result, low)
        return result

    return step(k, names, (("v", raw),), build, 0.5 if level >= 3 else 0.0)


def _overflowed(k: KernelBuilder, level: int, raw: Expr, low: int, high: int, g: Grid) -> str:
    form = k.draw.shape.choice(("flag", "excess"))
    middle = high // 4
    if form == "flag":
        flag = k.out("above upper_half", BOOL, g.sizes)
        k.store(flag, g.at, raw > middle)
        return f" {flag.name} says whether the unclamped value exceeds {middle}."
    spread = k.out("distance headroom", INT32, g.sizes)
    gap = fn("abs", cast(raw, INT32) - middle)
    if level == 5:
        limit = k.scalar("limit max_gap", INT32, (high - low) // 8, (high - low) // 4)
        gap = fn("min", gap, limit)
        k.store(spread, g.at, gap)
        return f" {spread.name} gets its distance from {middle}, at most {limit.name}."
    k.store(spread, g.at, gap)
    return f" {spread.name} gets the distance of the unclamped value from {middle}."
