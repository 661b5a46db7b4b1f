"""Windows over arrays of scalars: signals, images, stencils and blocks."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, most, sqrt
from generators.kit.sources import zero
from generators.matrix.large.cells import Cells, cells, finish
from generators.program.dtypes import Mat, Scalar
from generators.program.expr import Expr, Var

_GRIDS = (("i", "j"), ("row", "col"))
_OFFSETS = (("di", "dj"), ("r", "c"), ("ky", "kx"))


@idiom(depth=3)
def sliding_window(k: KernelBuilder, level: int) -> Title:
    """Convolution with a small kernel and pooling: each output sees a window of the input."""
    build = k.draw.shape.choice((_taps, _image_filter, _stencil, _pool))
    c, total, names, outs = build(k, level, k.draw.wide_float_type())
    finish(c, level, total, outs, "plain")
    return Title(k.name(names), c.text)


Made = tuple[Cells, Var, str, str]
"""The launch, the value, names of the kernel and of its output."""


def _taps(k: KernelBuilder, level: int, scalar: Scalar) -> Made:
    """A filter of a signal, of the samples so far or of those around, its ends padded."""
    n, causal = k.size("n", 48, 96), k.draw.shape.chance(0.6)
    reach = k.size("taps", 3, 7) if causal else k.size("radius", 1, 3)
    x = k.array("signal x samples", scalar, n, low=-1.5, high=1.5)
    width = reach if causal else f"2*{reach}+1"
    taps = k.array("taps kernel coeffs", scalar, width, low=-0.6, high=0.8)
    count = k.size_param("tap_count num_taps" if causal else "radius half_width", reach)
    padding = k.draw.shape.choice(("zero", "edge", "wrap"))
    length = None
    if not causal or padding == "wrap":
        length = k.size_param("length n num_samples", n)
    c = cells(k, scalar, (n,), (("i",), ("sample",)))
    total = k.let("total acc s", zero(scalar))
    with k.for_("t j", count if causal else 2 * count + 1) as t:
        spot = c.at[0] - t if causal else c.at[0] + t - count
        text = f"{taps.name}[{t.name}] * {x.name}[{c.tell(spot)}] over {t.name}"
        _add_sample(k, total, taps[t], x, spot, padding, length)
    sides = ("before the start", "first sample") if causal else ("beyond an end", "nearest sample")
    ends = {
        "zero": f"Samples {sides[0]} count as zero.",
        "edge": f"{sides[0].capitalize()} the {sides[1]} is repeated.",
        "wrap": f"{x.name} is periodic and longer than the filter.",
    }
    kind = "Causal" if causal else "Centred"
    c.say(f"{kind} FIR filter of {x.name}: sum {text}. {ends[padding]}")
    return c, total, "fir_filter apply_taps", "filtered out"


def _add_sample(
    k: KernelBuilder,
    total: Var,
    tap: Expr,
    x: Var,
    spot: Expr,
    padding: str,
    length: Var | None,
) -> None:
    """Add a tap times a sample, or what stands for one that there is not."""
    if padding == "wrap" and length is not None:
        k.augment(total, "add", tap * x[(spot + length) % length])
        return
    at = k.let("at src idx", spot)
    if padding == "edge":
        inside = most(at, 0) if length is None else clamp(at, 0, length - 1)
        k.augment(total, "add", tap * x[inside])
        return
    with k.if_(at >= 0 if length is None else fn("and", at >= 0, at < length)):
        k.augment(total, "add", tap * x[at])


def _image_filter(k: KernelBuilder, level: int, scalar: Scalar) -> Made:
    """A small matrix of weights slid over an image."""
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    side = 3
    sizes = (f"{h}+{side - 1}", f"{w}+{side - 1}")
    image = k.array("image frame", scalar, sizes, low=-1.0, high=1.0)
    kernel = k.scalar("weights kernel", Mat(side, side, scalar), -0.6, 0.8)
    c = cells(k, scalar, (h, w), _GRIDS)
    i, j = c.at
    total = k.let("gx" if level >= 3 else "total acc", zero(scalar))
    edge = k.let("gy", zero(scalar)) if level >= 3 else None
    down, across = k.draw.word.choice(_OFFSETS)
    with k.for_(down, side) as di, k.for_(across, side) as dj:
        pixel = k.let("pixel px", image[i + di, j + dj])
        k.augment(total, "add", kernel[di, dj] * pixel)
        if edge is not None:
            k.augment(edge, "add", kernel[dj, di] * pixel)
    if edge is None:
        c.say(
            f"Cross-correlate {image.name} with the {side} x {side} filter {kernel.name}, without"
        )
        c.say("padding.")
        return c, total, "filter_image correlate_2d", "filtered out"
    c.say(f"Edge magnitude of {image.name}: cross-correlate with the {side} x {side} derivative")
    c.say(f"filter {kernel.name} and with its transpose, without padding, and take")
    c.say("sqrt(a^2 + b^2) of both responses.")
    strength = k.let("magnitude strength", sqrt(total * total + edge * edge))
    return c, strength, "edge_magnitude gradient_magnitude", "edges out"


def _stencil(k: KernelBuilder, level: int, scalar: Scalar) -> Made:
    """A five-point stencil whose coefficients are written out."""
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    grid = k.array("field grid temperature", scalar, (f"{h}+2", f"{w}+2"), low=-1.0, high=1.0)
    c = cells(k, scalar, (h, w), _GRIDS)
    i, j = c.at
    u = k.let("mid center here", grid[i + 1, j + 1])
    n, s, w_, e = grid[i, j + 1], grid[i + 2, j + 1], grid[i + 1, j], grid[i + 1, j + 2]
    form = c.shape.choice(sorted(_STENCILS))
    build, text, names, outs = _STENCILS[form]
    first, second = (k.scalar(called, scalar, 0.05, 0.24) for called in _COEFFICIENTS[form])
    value = build(u, (n, s, w_, e), first, second)
    told = text.format(grid=grid.name, a=first.name, b=second.name)
    c.say(f"{told} {grid.name} has a border of one point.")
    return (
        c,
        k.let("updated result" if form != "laplacian" else "lap curvature", value),
        names,
        outs,
    )


Around = tuple[Expr, Expr, Expr, Expr]
_STENCILS: dict[str, tuple[Callable[[Expr, Around, Expr, Expr], Expr], str, str, str]] = {
    "diffusion": (
        lambda u, at, a, b: u + a * (at[2] + at[3] - 2.0 * u) + b * (at[0] + at[1] - 2.0 * u),
        "Explicit diffusion step of {grid}: add {a} times the second difference over x (the "
        "columns) and {b} times that over y (the rows).",
        "diffuse_grid heat_step",
        "next_grid out",
    ),
    "upwind": (
        lambda u, at, a, b: u - a * (u - at[2]) - b * (u - at[0]),
        "Upwind advection step of {grid} for flow toward larger indices: u - {a} * (u - left) - "
        "{b} * (u - above), {a} and {b} being the Courant numbers along x (columns) and y (rows).",
        "advect_upwind upwind_step",
        "next_grid out",
    ),
    "laplacian": (
        lambda u, at, a, b: a * (at[2] + at[3] - 2.0 * u) + b * (at[0] + at[1] - 2.0 * u),
        "Five-point Laplacian of {grid}: {a} times the second difference over x (the columns) "
        "plus {b} times that over y (the rows).",
        "laplacian_2d five_point_laplacian",
        "laplacian out",
    ),
}
"""A formula of a point and its neighbours (above, below, left, right), the text, names."""
_COEFFICIENTS = {
    "diffusion": ("rx alpha_x", "ry alpha_y"),
    "upwind": ("cx courant_x", "cy courant_y"),
    "laplacian": ("inv_dx2", "inv_dy2"),
}


def _pool(k: KernelBuilder, level: int, scalar: Scalar) -> Made:
    """The largest or smallest value of a block, or its sum."""
    h, w = k.size("h", 7, 10), k.size("w", 7, 10)
    side = k.draw.shape.integer(2, 3)
    form = k.draw.shape.choice(("largest", "smallest", "sum"))
    low, high = {"largest": (-3, 1), "smallest": (-1, 3), "sum": (-1, 1)}[form]
    sizes = (f"{side}*{h}", f"{side}*{w}")
    x = k.array("image activations", scalar, sizes, low=low, high=high)
    c = cells(k, scalar, (h, w), _GRIDS)
    i, j = c.at
    first = zero(scalar) if form == "sum" else x[side * i, side * j]
    total = k.let({"largest": "best", "smallest": "lowest"}.get(form, "total acc"), first)
    down, across = k.draw.word.choice(_OFFSETS)
    with k.for_(down, side) as di, k.for_(across, side) as dj:
        value = x[side * i + di, side * j + dj]
        if form == "sum":
            k.augment(total, "add", value)
        else:
            k.assign(total, fn("max" if form == "largest" else "min", total, value))
    kind = {"largest": "Max", "smallest": "Min"}.get(form, "Sum")
    c.say(f"{kind} pooling of {x.name} over blocks of {side} x {side}.")
    return c, total, f"{kind.lower()}_pool_2d {kind.lower()}_pool_blocks", "pooled out"
