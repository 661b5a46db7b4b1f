"""Windows over arrays of scalars: convolutions, stencils and pooling."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.body import lift
from generators.build.registry import Title, idiom
from generators.kit.pieces import constant, thread, zero
from generators.matrix.large.core import Cells
from generators.matrix.large.finish import finish
from generators.program.dtypes import INT32, Mat, Scalar
from generators.program.expr import Const, Expr, Var, op


@idiom
def sliding_window(k: KernelBuilder, level: int) -> Title:
    """Convolution with a small kernel and pooling: each output sees a window of the input."""
    shape = k.draw.shape
    form = shape.choice(("taps", "image_filter", "stencil", "pool"))
    scalar = k.draw.wide_float_type()
    total, place, size, done = _WINDOWS[form](k, level, scalar)
    c = Cells(k, scalar, size, place, [done])
    finish(c, level, total, "out filtered result")
    return Title(k.name(_WINDOW_NAMES[form]), c.text)


_WINDOW_NAMES = {
    "taps": "convolve_1d fir_filter apply_taps",
    "image_filter": "convolve_2d filter_image conv_window",
    "stencil": "stencil_2d five_point diffuse_grid",
    "pool": "pool_2d downsample pool_blocks",
}
Window = tuple[Var, tuple[Var, ...], tuple[str, ...], str]


def _taps(k: KernelBuilder, level: int, scalar: Scalar) -> Window:
    n, m = k.size("n", 48, 96), k.size("m", 3, 7)
    x = k.array("signal x samples", scalar, n, low=-1.5, high=1.5)
    taps = k.array("taps kernel coeffs", scalar, m, low=-0.6, high=0.8)
    length = k.size_param("length n num_samples", n)
    count = k.trip_count("tap_count num_taps width", m)
    fixed = int(count.value) // 2 if isinstance(count, Const) else None
    half = count // 2 if fixed is None else lift(fixed, INT32)
    i = thread(k, n, "i", "tid")
    padding = k.draw.shape.choice(("zero", "edge", "wrap"))
    total = k.let("total acc s", zero(scalar))
    with k.for_("t j", count) as t:
        if padding == "wrap":
            k.augment(total, "add", taps[t] * x[(i + t) % length])
        else:
            at = k.let("at src idx", i + t - half)
            if padding == "edge":
                k.augment(total, "add", taps[t] * x[fn("clamp", at, 0, length - 1)])
            else:
                with k.if_(op("and", at >= 0, at < length)):
                    k.augment(total, "add", taps[t] * x[at])
    before = "half the width" if fixed is None else fixed
    reads = "[i + t]" if padding == "wrap" else f"[i + t - {before}]"
    ends = {"zero": "zero outside", "edge": "clamped to the ends", "wrap": "wrapping around"}
    done = f"Sum {taps.name}[t] * {x.name}{reads} over t, {ends[padding]}."
    return total, (i,), (n,), done


def _image_filter(k: KernelBuilder, level: int, scalar: Scalar) -> Window:
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    side = k.draw.shape.weighted({3: 3, 2: 1})
    image = k.array(
        "image field x", scalar, (f"{h}+{side - 1}", f"{w}+{side - 1}"), low=-1.0, high=1.0
    )
    mat = Mat(side, side, scalar)
    kernel = k.scalar("weights kernel mask", mat, -0.6, 0.8)
    i, j = k.thread(h, w, names=k.draw.word.choice((("i", "j"), ("row", "col"))))
    total = k.let("total acc s", zero(scalar))
    edge = k.let("edge cross_sum", zero(scalar)) if level >= 4 else None
    down, across = k.draw.word.choice((("di", "dj"), ("r", "c"), ("ky", "kx")))
    with k.for_(down, side) as di, k.for_(across, side) as dj:
        pixel = k.let("pixel p", image[i + di, j + dj])
        k.augment(total, "add", kernel[di, dj] * pixel)
        if edge is not None:
            k.augment(edge, "add", kernel[dj, di] * pixel)
    done = f"Slide the {side} x {side} {kernel.name} over {image.name}, summing products."
    if edge is not None:
        k.assign(total, fn("sqrt", total * total + edge * edge + 1.0e-6))
        done += " The same for its transpose; take sqrt(a^2 + b^2 + 1e-6) of the two sums."
    return total, (i, j), (h, w), done


def _stencil(k: KernelBuilder, level: int, scalar: Scalar) -> Window:
    """A five-point stencil whose coefficients are written out."""
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    u = k.array("field grid temperature", scalar, (f"{h}+2", f"{w}+2"), low=-1.0, high=1.0)
    i, j = k.thread(h, w, names=k.draw.word.choice((("i", "j"), ("row", "col"))))
    middle = k.let("mid center here", u[i + 1, j + 1])
    beside = (u[i, j + 1], u[i + 2, j + 1], u[i + 1, j], u[i + 1, j + 2])
    value, text = _five_points(k, middle, *beside)
    done = f"At each inner point u of {u.name}, with n, s in the rows before and after it and w, e"
    done += f" in the columns, compute {text}."
    if level >= 4:
        value = k.let("flow change", value)
        factor = constant(k, 0.3, 0.9)
        value = value / (factor + value * value)
        done += f" That value t becomes t / ({factor} + t^2)."
    return k.let("total acc result", value), (i, j), (h, w), done


def _five_points(k: KernelBuilder, u: Expr, n: Expr, s: Expr, w: Expr, e: Expr) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("diffusion", "weights", "upwind", "sharpen", "edges"))
    a, b = constant(k, 0.05, 0.24), constant(k, 0.3, 0.95)
    if form == "diffusion":
        rest = n + s + w + e - 4.0 * u
        return u + a * rest, f"u + {a} * (n + s + w + e - 4 u)"
    if form == "weights":
        return b * u + a * (n + s + w + e), f"{b} u + {a} * (n + s + w + e)"
    if form == "upwind":
        return u - a * (u - n) - b * (u - w), f"u - {a} * (u - n) - {b} * (u - w)"
    if form == "sharpen":
        blur = 0.25 * (n + s + w + e)
        return u + b * (u - blur), f"u + {b} * (u - (n + s + w + e) / 4)"
    down, across = k.let("down gy", s - n), k.let("across gx", e - w)
    value = fn("sqrt", down * down + b * across * across + a)
    return value, f"sqrt((s - n)^2 + {b} * (e - w)^2 + {a})"


def _pool(k: KernelBuilder, level: int, scalar: Scalar) -> Window:
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    side = k.draw.shape.integer(2, 3)
    form = k.draw.shape.choice(("largest", "smallest", "sum"))
    low, high = {"largest": (-3, 1), "smallest": (-1, 3), "sum": (-1, 1)}[form]
    grid = (f"{side}*{h}", f"{side}*{w}")
    x = k.array("image grid activations", scalar, grid, low=low, high=high)
    i, j = k.thread(h, w, names=k.draw.word.choice((("i", "j"), ("row", "col"))))
    first = zero(scalar) if form == "sum" else x[side * i, side * j]
    total = k.let("pooled acc best", first)
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


_WINDOWS = {"taps": _taps, "image_filter": _image_filter, "stencil": _stencil, "pool": _pool}
