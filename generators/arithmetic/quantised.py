"""Quantised numbers: scale and zero point, products of int8, fixed-point rescaling."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    UINT8,
    Given,
    Grid,
    Wanted,
    grid,
    local,
    named,
    parameters,
    step,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Expr

_RANGES = {INT8: (-128, 127), UINT8: (0, 255), INT16: (-2048, 2047)}


@idiom
def quantize(k: KernelBuilder, level: int) -> Title:
    """Between real numbers and narrow integers: affine, symmetric, per row, fake quantisation."""
    shape = k.draw.shape
    type_ = shape.choice((INT8, UINT8, INT8, INT16))
    g = grid(k, {1: 2, 2: 4, 3: 1})
    later = ("fake", "requant") if level > 1 else ()
    forms = ("quantize", "dequantize", *later)
    form = shape.choice(forms)
    if form in ("quantize", "fake"):
        type_ = shape.choice((INT8, UINT8))
    scale, zero, said = _affine(k, level, g, type_)
    if form in ("dequantize", "requant"):
        done = _from_codes(k, level, form, g, type_, scale, zero)
    else:
        done = _to_codes(k, level, form, g, type_, scale, zero)
    names = {
        "quantize": ("quantize_affine", "to_int8" if type_ == INT8 else "quantize_values"),
        "dequantize": ("dequantize_affine", "decode_codes"),
        "fake": ("fake_quantize", "quantization_error"),
        "requant": ("requantize", "rescale_codes"),
    }[form]
    return Title(k.name(*names), f"{done}{said}")


def _affine(
    k: KernelBuilder, level: int, g: Grid, type_: Scalar
) -> tuple[Given, Given | None, str]:
    """Scale and zero point, for all elements or for each row or channel."""
    shape = k.draw.shape
    real = shape.weighted({FLOAT32: 3, FLOAT64: 2})
    low, high = {INT8: (0.02, 0.03), UINT8: (0.01, 0.015), INT16: (0.001, 0.002)}[type_]
    zero_low, zero_high = (-20, 20) if type_ != UINT8 else (100, 150)
    symmetric = type_ != UINT8 and shape.chance(0.4)
    if g.ndim > 1 and shape.chance(0.4):
        axis = shape.integer(0, g.ndim - 1)
        at = g.at[axis]
        scales = k.array("scales scale", real, g.sizes[axis], low=low, high=high)
        scale = Given(named(k, "scale_c step_size", scales[at], 0.5), scales.name)
        if symmetric:
            return scale, None, f" {scales.name} is indexed by {at.name}."
        points = k.array("zero_points zeros", INT32, g.sizes[axis], low=zero_low, high=zero_high)
        zero = Given(named(k, "zero_c zp", points[at], 0.5), points.name)
        return scale, zero, f" {scales.name} and {points.name} are indexed by {at.name}."
    wanted: list[Wanted] = [(("scale", "step_size"), real, low, high)]
    if not symmetric:
        wanted.append((("zero_point", "zero"), INT32, zero_low, zero_high))
    found = parameters(k, wanted, "QuantParams Affine", 0.2 + 0.08 * level)
    return found[0], (None if symmetric else found[1]), ""


def _real_of(scale: Given) -> Scalar:
    assert isinstance(scale.value.type, Scalar)
    return scale.value.type


def _rounded(k: KernelBuilder, level: int, v: Expr) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("round", "rint", "floor", "round"))
    if form == "floor":
        return fn("floor", v + 0.5), "floor(v + 0.5)"
    if form == "rint":
        return fn("rint", v), "v rounded to nearest even"
    return fn("round", v), "v rounded, halves away from zero"


def _to_codes(
    k: KernelBuilder,
    level: int,
    form: str,
    g: Grid,
    type_: Scalar,
    scale: Given,
    zero: Given | None,
) -> str:
    wide = _real_of(scale)
    narrow = level > 1 and wide == FLOAT32 and k.draw.shape.chance(0.3)
    real = FLOAT16 if narrow else wide
    top = {INT8: 4.5, UINT8: 2.4, INT16: 5.5}[type_]
    values = k.array("values activations weights", real, g.sizes, low=-top, high=top)
    low, high = _RANGES[type_]
    inverse = level < 4 and k.draw.shape.chance(0.3)
    x: Expr = cast(values[g.at], wide)
    if inverse:
        inv = k.let("inv_scale rate", 1.0 / scale.value)
        v = k.let("scaled v", x * inv)
    else:
        v = k.let("scaled v", x / scale.value)
    rounded, how = _rounded(k, level, v)

    def build(b: BodyBuilder, code: Expr) -> Expr:
        if k.draw.shape.chance(0.6):
            return fn("clamp", code, low, high)
        result = b.let("limited c", code)
        with b.if_(code < low):
            b.assign(result, low)
        with b.elif_(code > high):
            b.assign(result, high)
        return result

    code: Expr = cast(rounded, INT32)
    done = f"With v = {values.name} / {scale.text}, take {how}"
    if zero is not None:
        code, done = code + zero.value, f"{done} plus {zero.text}"
    code = k.let("code q", code)
    chance = 0.5 if level >= 3 else 0.0
    code = step(k, "saturate_code limit_code", (("code", code),), build, chance)
    done += f", clamped to [{low}, {high}]"
    if form == "quantize":
        out = k.out("codes quantized q_out", type_, g.sizes)
        if level >= 4:
            code = local(k, "limited_code kept", code)
        k.store(out, g.at, cast(code, type_))
        done += f", stored as {type_} in {out.name}."
        return done + (_error(k, level, g, x, code, scale, zero) if level >= 4 else "")
    out = k.out("restored fake_quant out", _real_of(scale), g.sizes)
    back = code - zero.value if zero is not None else code
    k.store(out, g.at, scale.value * cast(back, _real_of(scale)))
    return f"{done}; {out.name} gets that code as a real number again."


def _error(
    k: KernelBuilder, level: int, g: Grid, x: Expr, code: Expr, scale: Given, zero: Given | None
) -> str:
    """What is lost by the code."""
    lost = k.out("error residual", _real_of(scale), g.sizes)
    weight = k.array("importance hessian", _real_of(scale), g.sizes, low=0.5, high=1.5)
    back = code - zero.value if zero is not None else code
    gap = k.let("gap diff", x - scale.value * cast(back, _real_of(scale)))
    text = "the value minus what the code stands for"
    if level == 5:
        k.store(lost, g.at, weight[g.at] * fn("abs", gap) + gap * gap)
        return f" With d {text}, {lost.name} gets {weight.name} * |d| + d^2."
    k.store(lost, g.at, weight[g.at] * gap)
    return f" {lost.name} gets {weight.name} times {text}."


def _from_codes(
    k: KernelBuilder,
    level: int,
    form: str,
    g: Grid,
    type_: Scalar,
    scale: Given,
    zero: Given | None,
) -> str:
    low, high = _RANGES[type_]
    codes = k.array("codes quantized q", type_, g.sizes, low=low, high=high)
    code: Expr = k.let("code c", cast(codes[g.at], INT32))
    text = codes.name
    if zero is not None:
        code, text = code - zero.value, f"({text} - {zero.text})"
    value: Expr = scale.value * cast(code, _real_of(scale))
    text = f"{scale.text} * {text}"
    if level >= 2 and k.draw.shape.chance(0.5):
        bias = k.array("bias offsets", _real_of(scale), g.sizes[-1], low=-1.0, high=1.0)
        value, text = value + bias[g.at[-1]], f"{text} + {bias.name}[{g.at[-1].name}]"
    if level >= 3 and k.draw.shape.chance(0.6):
        value, text = activated(k, value, text)
    if form == "dequantize":
        target = _real_of(scale)
        out = k.out("values out restored", target, g.sizes)
        if level >= 4:
            value = local(k, "value real", value)
            delta = k.array("residual skip", _real_of(scale), g.sizes, low=-1.0, high=1.0)
            total_out = k.out("sums skip_out", _real_of(scale), g.sizes)
            k.store(total_out, g.at, value + delta[g.at])
            text += f"; {total_out.name} gets that plus {delta.name}"
        k.store(out, g.at, value)
        return f"{out.name} gets {text}."
    new = k.scalar("out_scale next_scale", _real_of(scale), 0.008, 0.012)
    v = k.let("scaled v", value / new)
    rounded, how = _rounded(k, level, v)
    out = k.out("next_codes requantized", INT8, g.sizes)
    k.store(out, g.at, cast(fn("clamp", rounded, -128.0, 127.0), INT8))
    return f"With v = ({text}) / {new.name}, {out.name} gets {how}, clamped to [-128, 127]."


def activated(k: KernelBuilder, value: Expr, text: str) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("relu", "leaky", "hard_tanh"))
    v = k.let("pre a", value)

    def build(b: BodyBuilder, x: Expr) -> Expr:
        if form == "relu":
            return fn("max", x, 0.0)
        if form == "leaky":
            return fn("where", x > 0.0, x, 0.1 * x)
        return fn("clamp", x, -1.0, 1.0)

    rules = {
        "relu": "max(a, 0)",
        "leaky": "a where positive, else 0.1 * a",
        "hard_tanh": "clamp(a, -1, 1)",
    }
    result = step(k, (form, f"{form}_of"), (("x", v),), build, 0.6)
    return result, f"{rules[form]} of a = {text}"
