"""Arrays of scalars: matrix products, convolutions and pooling, an output element a thread."""

from __future__ import annotations

from collections.abc import Callable

from generators._vector_parts import constant, helper, stored, thread, zero
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.dtypes import Mat, Scalar, Type
from generators.expr import Expr, Var, op
from generators.registry import Title
from generators.stages import refine

_VALUES = ("value", "v", "y")


Activation = Callable[[BodyBuilder, Expr], Expr]


def _leaky(slope: float) -> Activation:
    return lambda _, x: op("where", x > 0.0, x, slope * x)


def _activated(k: KernelBuilder, level: int, value: Var) -> str:
    """Put a local through an activation, inline or in a helper; says which."""
    form = k.draw.shape.choice(("relu", "leaky", "sigmoid", "gelu", "swish", "branch"))
    slope = constant(k, 0.05, 0.3)
    if form == "branch":
        with k.if_(value < 0.0):
            k.augment(value, "mul", slope)
        return f" Negative values are multiplied by {slope}."
    names, build, text = {
        "relu": (("relu", "rectify"), lambda _, x: fn("max", x, 0.0), "max(t, 0)"),
        "leaky": (
            ("leaky_relu", "leak"),
            _leaky(slope),
            f"t where positive, {slope} * t elsewhere",
        ),
        "sigmoid": (("sigmoid", "logistic"), _sigmoid, "1 / (1 + exp(-t))"),
        "swish": (("swish", "silu"), lambda b, x: x * _sigmoid(b, x), "t / (1 + exp(-t))"),
        "gelu": (("gelu", "gelu_tanh"), _gelu, "gelu(t) in its tanh form"),
    }[form]
    if level >= 3 and k.draw.shape.chance(0.6):
        kinds: list[tuple[str, Type]] = [("x", value.type)]
        k.assign(value, k.call(helper(k, names, kinds, build), value))
    else:
        k.assign(value, build(k, value))
    return f" The value t becomes {text}."


def _sigmoid(_b: BodyBuilder, x: Expr) -> Expr:
    return 1.0 / (1.0 + fn("exp", -x))


def _gelu(b: BodyBuilder, x: Expr) -> Expr:
    inner = b.let(("inner", "arg"), 0.79788456 * (x + 0.044715 * x * x * x))
    return 0.5 * x * (1.0 + fn("tanh", inner))


_LAYOUTS = {
    "a * b": ("i", "k", "k", "j"),
    "a * transpose(b)": ("i", "k", "j", "k"),
    "transpose(a) * b": ("k", "i", "k", "j"),
    "transpose(a) * transpose(b)": ("k", "i", "j", "k"),
}


def array_product(k: KernelBuilder, level: int) -> Title:
    """Matrix times matrix or vector, an element a thread, with scale, bias and activation."""
    shape = k.draw.shape
    scalar = k.draw.float_type()
    vector = shape.chance(0.35)
    m, inner = k.size("m", 48, 80) if vector else k.size("m", 7, 10), k.size("k", 4, 8)
    n = "" if vector else k.size("n", 7, 10)
    layout = shape.choice(sorted(_LAYOUTS)[:3])
    if vector:
        layout = shape.choice(("a * b", "transpose(a) * b"))
    symbols = {"i": m, "j": n, "k": inner}
    axes = _LAYOUTS[layout]
    a_shape, b_shape = [symbols[x] for x in axes[:2]], [symbols[x] for x in axes[2:]]
    a = k.array(("a", "lhs", "weights"), scalar, a_shape, low=-1.0, high=1.0)
    b = k.array(("b", "rhs", "x"), scalar, b_shape[:1] if vector else b_shape, low=-1.0, high=1.0)
    out = k.out(("c", "out", "result"), scalar, m if vector else (m, n))
    depth = k.size_param(("depth", "inner", "k_size"), inner)
    at = (
        k.thread(m)
        if vector
        else k.thread(m, n, names=k.draw.word.choice((("i", "j"), ("row", "col"))))
    )
    total = k.let(("total", "acc", "s"), zero(scalar))
    with k.for_(("kk", "p", "t"), depth) as p:
        by = {"i": at[0], "j": at[-1], "k": p}
        left = a[by[axes[0]], by[axes[1]]]
        right = b[p] if vector else b[by[axes[2]], by[axes[3]]]
        k.augment(total, "add", left * right)
    done = f"Multiply {layout} for a = {a.name} and {'the vector ' if vector else ''}b = {b.name}."
    if level >= 2 and shape.chance(0.6):
        alpha = k.scalar(("alpha", "scale"), scalar, 0.5, 1.5)
        k.augment(total, "mul", alpha)
        done += f" The sum is multiplied by {alpha.name}."
    if level >= 3 or (level == 2 and shape.chance(0.5)):
        bias = k.array(("bias", "offsets"), scalar, m if vector else n, low=-0.5, high=0.5)
        k.augment(total, "add", bias[at[-1]])
        done += f" {bias.name} of the {'row' if vector else 'column'} is added."
    if level >= 2:
        done += _activated(k, level, total)
    signal = refine(k, total, max(level - 1, 1), _VALUES)
    k.store(out, at, signal.value)
    names = ("matvec", "dense_vector") if vector else ("matmul", "dense_layer", "gemm_like")
    return Title(k.name(*names), done + stored(signal))


def sliding_window(k: KernelBuilder, level: int) -> Title:
    """Convolution with a small kernel and pooling: each output sees a window of the input."""
    shape = k.draw.shape
    form = shape.choice(("taps", "image_filter", "image_filter", "pool"))
    scalar = k.draw.wide_float_type()
    total, place, size, done = _WINDOWS[form](k, level, scalar)
    out = k.out(("out", "filtered", "result"), scalar, size)
    if level >= 3 or (level == 2 and shape.chance(0.5)):
        bias = k.scalar(("bias", "offset"), scalar, -0.5, 0.5)
        k.augment(total, "add", bias)
        done += f" {bias.name} is added."
    bent = level >= 3 and shape.chance(0.5)
    if bent:
        done += _activated(k, level, total)
    signal = refine(k, total, level - 1 if bent else level, _VALUES, scale=0.8)
    k.store(out, place, signal.value)
    return Title(k.name(*_WINDOW_NAMES[form]), done + stored(signal))


_WINDOW_NAMES = {
    "taps": ("convolve_1d", "fir_filter", "apply_taps"),
    "image_filter": ("convolve_2d", "filter_image", "conv_window"),
    "pool": ("pool_2d", "downsample", "pool_blocks"),
}
Window = tuple[Var, tuple[Var, ...], tuple[str, ...], str]


def _taps(k: KernelBuilder, level: int, scalar: Scalar) -> Window:
    n, m = k.size("n", 48, 96), k.size("m", 3, 7)
    x = k.array(("signal", "x", "samples"), scalar, n, low=-1.5, high=1.5)
    taps = k.array(("taps", "kernel", "coeffs"), scalar, m, low=-0.6, high=0.8)
    length = k.size_param(("length", "n", "num_samples"), n)
    count = k.size_param(("tap_count", "num_taps", "width"), m)
    i = thread(k, n, "i", "tid")
    padding = k.draw.shape.choice(("zero", "edge", "wrap"))
    total = k.let(("total", "acc", "s"), zero(scalar))
    with k.for_(("t", "j"), count) as t:
        if padding == "wrap":
            k.augment(total, "add", taps[t] * x[(i + t) % length])
        else:
            at = k.let(("at", "src", "idx"), i + t - count // 2)
            if padding == "edge":
                k.augment(total, "add", taps[t] * x[fn("clamp", at, 0, length - 1)])
            else:
                with k.if_(op("and", at >= 0, at < length)):
                    k.augment(total, "add", taps[t] * x[at])
    reads = "[i + t]" if padding == "wrap" else f"[i + t - {count.name} // 2]"
    ends = {"zero": "zero outside", "edge": "clamped to the ends", "wrap": "wrapping around"}
    done = f"Sum {taps.name}[t] * {x.name}{reads} over t, {ends[padding]}."
    return total, (i,), (n,), done


def _image_filter(k: KernelBuilder, level: int, scalar: Scalar) -> Window:
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    side = k.draw.shape.weighted({3: 3, 2: 1})
    image = k.array(
        ("image", "field", "x"), scalar, (f"{h}+{side - 1}", f"{w}+{side - 1}"), low=-1.0, high=1.0
    )
    mat = Mat(side, side, scalar)
    kernel = k.scalar(("weights", "kernel", "mask"), mat, -0.6, 0.8)
    i, j = k.thread(h, w, names=k.draw.word.choice((("i", "j"), ("row", "col"))))
    total = k.let(("total", "acc", "s"), zero(scalar))
    edge = k.let(("edge", "cross_sum"), zero(scalar)) if level >= 4 else None
    down, across = k.draw.word.choice((("di", "dj"), ("r", "c"), ("ky", "kx")))
    with k.for_(down, side) as di, k.for_(across, side) as dj:
        pixel = k.let(("pixel", "p"), image[i + di, j + dj])
        k.augment(total, "add", kernel[di, dj] * pixel)
        if edge is not None:
            k.augment(edge, "add", kernel[dj, di] * pixel)
    done = f"Slide the {side} x {side} {kernel.name} over {image.name}, summing products."
    if edge is not None:
        k.assign(total, total * total - edge * edge)
        done += " The same for its transpose; take the difference of the two sums' squares."
    return total, (i, j), (h, w), done


def _pool(k: KernelBuilder, level: int, scalar: Scalar) -> Window:
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    side = k.draw.shape.integer(2, 3)
    form = k.draw.shape.choice(("largest", "smallest", "sum"))
    low, high = {"largest": (-3, 1), "smallest": (-1, 3), "sum": (-1, 1)}[form]
    grid = (f"{side}*{h}", f"{side}*{w}")
    x = k.array(("image", "grid", "activations"), scalar, grid, low=low, high=high)
    i, j = k.thread(h, w, names=k.draw.word.choice((("i", "j"), ("row", "col"))))
    first = zero(scalar) if form == "sum" else x[side * i, side * j]
    total = k.let(("pooled", "acc", "best"), first)
    down, across = k.draw.word.choice((("di", "dj"), ("r", "c"), ("ky", "kx")))
    with k.for_(down, side) as di, k.for_(across, side) as dj:
        value: Expr = x[side * i + di, side * j + dj]
        if form == "sum":
            k.augment(total, "add", value)
        else:
            k.assign(total, fn("max" if form == "largest" else "min", total, value))
    text = "the sum" if form == "sum" else f"the {form} value"
    done = f"Pool {x.name}: {text} of each {side} x {side} block."
    if level >= 4:
        last = x[side * i + (side - 1), side * j + (side - 1)]
        k.augment(total, "sub", 0.5 * last)
        done += " Half of the block's last corner is subtracted."
    return total, (i, j), (h, w), done


_WINDOWS = {"taps": _taps, "image_filter": _image_filter, "pool": _pool}
