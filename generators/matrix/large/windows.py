"""Windows over arrays of scalars: signals, images, stencils and blocks."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import clamp, sqrt
from generators.kit.sources import constant, zero
from generators.matrix.large.cells import Cells, cells, finish
from generators.program.dtypes import INT32, Mat, Scalar
from generators.program.expr import Const, Expr, Var

_GRIDS = (("i", "j"), ("row", "col"))
_OFFSETS = (("di", "dj"), ("r", "c"), ("ky", "kx"))


@idiom(depth=3)
def sliding_window(k: KernelBuilder, level: int) -> Title:
    """Convolution with a small kernel and pooling: each output sees a window of the input."""
    build, names, kind = k.draw.shape.choice(_WINDOWS)
    c, total = build(k, level, k.draw.wide_float_type())
    finish(c, level, total, "out filtered result", kind)
    return Title(k.name(names), c.text)


def _taps(k: KernelBuilder, level: int, scalar: Scalar) -> tuple[Cells, Var]:
    """A filter of a signal, its ends padded in one of three ways."""
    n, m = k.size("n", 48, 96), k.size("taps", 3, 7)
    x = k.array("signal x samples", scalar, n, low=-1.5, high=1.5)
    taps = k.array("taps kernel coeffs", scalar, m, low=-0.6, high=0.8)
    length = k.size_param("length n num_samples", n)
    count = k.trip_count("tap_count num_taps width", m)
    fixed = isinstance(count, Const)
    half = k.lift(int(count.value) // 2, INT32) if isinstance(count, Const) else count // 2
    c = cells(k, scalar, (n,), (("i",), ("sample",)))
    padding = c.shape.choice(("zero", "edge", "wrap"))
    total = k.let("total acc s", zero(scalar))
    with k.for_("t j", count) as t:
        at: Expr = c.at[0] + t if padding == "wrap" else c.at[0] + t - half
        text = f"{taps.name}[{t.name}] * {x.name}[{c.tell(at)}] over {t.name}"
        if padding == "wrap":
            k.augment(total, "add", taps[t] * x[at % length])
        else:
            at = k.let("at src idx", at)
            if padding == "edge":
                k.augment(total, "add", taps[t] * x[clamp(at, 0, length - 1)])
            else:
                with k.if_(fn("and", at >= 0, at < length)):
                    k.augment(total, "add", taps[t] * x[at])
    ends = {"zero": "zero outside", "edge": "clamped to the ends", "wrap": "wrapping around"}
    rounded = "" if fixed or padding == "wrap" else " (the half rounded down)"
    c.say(f"Sum {text}{rounded}, {ends[padding]}.")
    return c, total


def _image_filter(k: KernelBuilder, level: int, scalar: Scalar) -> tuple[Cells, Var]:
    """A small matrix of weights slid over an image."""
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    side = k.draw.shape.weighted({3: 3, 2: 1})
    sizes = (f"{h}+{side - 1}", f"{w}+{side - 1}")
    image = k.array("image field x", scalar, sizes, low=-1.0, high=1.0)
    kernel = k.scalar("weights kernel mask", Mat(side, side, scalar), -0.6, 0.8)
    c = cells(k, scalar, (h, w), _GRIDS)
    i, j = c.at
    total = k.let("total acc s", zero(scalar))
    edge = k.let("edge cross_sum", zero(scalar)) if level >= 4 else None
    down, across = k.draw.word.choice(_OFFSETS)
    with k.for_(down, side) as di, k.for_(across, side) as dj:
        pixel = k.let("pixel p", image[i + di, j + dj])
        k.augment(total, "add", kernel[di, dj] * pixel)
        if edge is not None:
            k.augment(edge, "add", kernel[dj, di] * pixel)
    c.say(f"Slide the {side} x {side} {kernel.name} over {image.name}, summing products.")
    if edge is not None:
        k.assign(total, sqrt(total * total + edge * edge + 1.0e-6))
        c.say("The same for its transpose; take sqrt(a^2 + b^2 + 1e-6) of the two sums.")
    return c, total


def _stencil(k: KernelBuilder, level: int, scalar: Scalar) -> tuple[Cells, Var]:
    """A five-point stencil whose coefficients are written out."""
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    grid = k.array("field grid temperature", scalar, (f"{h}+2", f"{w}+2"), low=-1.0, high=1.0)
    c = cells(k, scalar, (h, w), _GRIDS)
    i, j = c.at
    u = k.let("mid center here", grid[i + 1, j + 1])
    n, s, w_, e = grid[i, j + 1], grid[i + 2, j + 1], grid[i + 1, j], grid[i + 1, j + 2]
    values = {"u": u, "n": n, "s": s, "w": w_, "e": e}
    a, b = constant(k, 0.05, 0.24), constant(k, 0.3, 0.95)
    form = c.shape.choice(_stencils(a, b))
    text = form.said({key: key for key in form.keys})
    value = form.of(k, values)
    c.say(
        f"At each inner point u of {grid.name}, with n, s in the rows before and after it and w, e"
    )
    c.said[-1] += f" in the columns, compute {text}."
    return c, k.let("total acc result", value)


def _stencils(a: float, b: float) -> tuple[Formula, ...]:
    """Formulas of a point and its neighbours, for two coefficients."""

    def edges(body: BodyBuilder, n: Expr, s: Expr, w: Expr, e: Expr) -> Expr:
        down, across = body.let("down gy", s - n), body.let("across gx", e - w)
        return sqrt(down * down + b * across * across + a)

    return formulas(
        diffusion=lambda u, n, s, w, e: u + a * (n + s + w + e - 4.0 * u),
        weights=lambda u, n, s, w, e: b * u + a * (n + s + w + e),
        upwind=lambda u, n, w: u - a * (u - n) - b * (u - w),
        sharpen=lambda u, n, s, w, e: u + b * (u - 0.25 * (n + s + w + e)),
        edges=edges,
    )


def _pool(k: KernelBuilder, level: int, scalar: Scalar) -> tuple[Cells, Var]:
    """The largest or smallest value of a block, or its sum."""
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    side = k.draw.shape.integer(2, 3)
    form = k.draw.shape.choice(("largest", "smallest", "sum"))
    low, high = {"largest": (-3, 1), "smallest": (-1, 3), "sum": (-1, 1)}[form]
    sizes = (f"{side}*{h}", f"{side}*{w}")
    x = k.array("image grid activations", scalar, sizes, low=low, high=high)
    c = cells(k, scalar, (h, w), _GRIDS)
    i, j = c.at
    first = zero(scalar) if form == "sum" else x[side * i, side * j]
    total = k.let("pooled acc best", first)
    down, across = k.draw.word.choice(_OFFSETS)
    with k.for_(down, side) as di, k.for_(across, side) as dj:
        value = x[side * i + di, side * j + dj]
        if form == "sum":
            k.augment(total, "add", value)
        else:
            k.assign(total, fn("max" if form == "largest" else "min", total, value))
    text = "the sum" if form == "sum" else f"the {form} value"
    c.say(f"Pool {x.name}: {text} of each {side} x {side} block.")
    return c, total


_WINDOWS = (
    (_taps, "convolve_1d fir_filter apply_taps", "gain"),
    (_image_filter, "convolve_2d filter_image conv_window", "filter"),
    (_stencil, "stencil_2d five_point diffuse_grid", "plain"),
    (_pool, "pool_2d downsample pool_blocks", "plain"),
)
