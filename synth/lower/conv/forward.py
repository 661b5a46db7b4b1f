"""y = activation(conv(x, weight) + bias): filters by patches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import cycle
from typing import Any

from synth.errors import SettingsError
from synth.lower.conv import winograd
from synth.lower.conv.plan import (
    ALGORITHMS,
    ARRAYS,
    DTYPES,
    EPILOGUE,
    FIELDS,
    SIZES,
    Conv,
    ConvProduct,
    read_conv,
)
from synth.lower.gemm import op as products
from synth.lower.gemm.parts import filled
from synth.lower.gemm.plan import ACTIVATIONS, Epilogue, Gemm
from synth.lower.gemm.view import View
from synth.lower.op import Lowered, Op, Operand, Sizes, one_of

SHAPE = """// Measures of the arrays; channels and filters are those of a group.
struct Shape {
    int images, channels, filters, height, width, out_height, out_width;
};
"""

_IS_WITHIN = """
// Whether 0 <= at < extent.
__device__ __forceinline__ bool is_within(int at, int extent)
{
    return static_cast<unsigned int>(at) < static_cast<unsigned int>(extent);
}
"""

_FIND_PATCH = """
// Where the element lies that the tap `@tap@` of all channels meets at the pixel `@pixel@` of all
// images.@nothing@
__device__ __forceinline__ bool find_b(const Shape& shape, int k, int column, size_t& place)
{
    const int pixels = shape.out_height * shape.out_width;
    const int plane = shape.height * shape.width;
    const int image = @pixel@ / pixels;
    const int pixel = @pixel@ % pixels;
    const int first_y = pixel / shape.out_width * STRIDE - PADDING;
    const int first_x = pixel % shape.out_width * STRIDE - PADDING;
    const int tap = @tap@ % (KERNEL_H * KERNEL_W);
    const int down = tap / KERNEL_W;
    const int right = tap % KERNEL_W;
    // What the pixel gives, and what the tap: one of them is the same for many elements.
    place = static_cast<size_t>(image) * GROUPS * shape.channels * plane;
    place += first_y * shape.width + first_x;
    place += @tap@ / (KERNEL_H * KERNEL_W) * plane + down * shape.width + right;
    return @inside@;
}
"""


def patches(conv: Conv, tap: str, pixel: str) -> str:
    """How patches of x are found, whose axes `tap` and `pixel` are k and column or column and k."""
    inside, nothing, within = "true", "", ""
    if conv.padding:
        inside = (
            "is_within(first_y + down, shape.height) && is_within(first_x + right, shape.width)"
        )
        nothing, within = " False: in the padding.", _IS_WITHIN
    return within + filled(_FIND_PATCH, tap=tap, pixel=pixel, inside=inside, nothing=nothing)


_PLACE_OF_C = """
// Where the filter `row` at the pixel `column` goes.
__device__ __forceinline__ size_t place_of_c(const Shape& shape, int row, int column)
{
    const int pixels = shape.out_height * shape.out_width;
    const int image = column / pixels;
    return (static_cast<size_t>(image) * GROUPS * shape.filters + row) * pixels + column % pixels;
}
"""


def measures(conv: Conv) -> str:
    """What a kernel makes of its sizes."""
    return f"{', '.join(SIZES)}, {conv.extent('height')}, {conv.extent('width')}"


def constants(conv: Conv) -> tuple[tuple[str, str], ...]:
    """Measures that a text knows."""
    names = ("kernel_h", "kernel_w", "stride", "padding", "groups")
    return tuple((name.upper(), str(getattr(conv, name))) for name in names)


def _view(conv: Conv, value: str) -> View:
    pixels = "shape.out_height * shape.out_width"
    return View(
        about=f"{value}: a filter a row, a pixel of an image a column.\n{ARRAYS}",
        arrays={"a": "weight", "b": "x", "c": "y"},
        sizes=SIZES,
        m="filters",
        n=f"images * {conv.extent('height')} * {conv.extent('width')}",
        k=f"channels * {conv.taps}",
        shape=measures(conv),
        constants=constants(conv),
        functions=SHAPE + patches(conv, "k", "column") + _PLACE_OF_C,
        gathered="b",
        scattered=True,
        groups=conv.groups,
        moved={
            "weight": "m * k",
            "x": "shape.channels * shape.height * shape.width",
            "bias": "m",
            "y": f"m * {pixels}",
        },
        row_bias=True,
        aligned=f"(k | {pixels})",
    )


def read(name: str, dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> ConvProduct:
    """The plan of a convolution. Raises SettingsError."""
    conv = read_conv(fields)
    activation, bias = one_of("activation", fields["activation"], ACTIVATIONS), fields["bias"]
    algorithm = one_of("schedule.algorithm", said["algorithm"], ALGORITHMS)
    core, _, tiling = products.read_tiling(
        {field: value for field, value in said.items() if field != "algorithm"}, dtype
    )
    made = ConvProduct(name, conv, Gemm(name, core, dtype, tiling), Epilogue(1.0, bias, activation))
    if algorithm == "direct":
        gemm = replace(made.gemm, epilogue=made.epilogue, view=_view(conv, made.value))
    elif wrong := winograd.fault(conv, dtype):
        raise SettingsError(f"schedule: {wrong}")
    else:
        gemm = winograd.product(made.gemm)
    return replace(made, gemm=products.checked(gemm), winograd=algorithm == "winograd")


def lowered(c: ConvProduct) -> Lowered:
    """The text of a convolution."""
    return winograd.lowered(c) if c.winograd else products.lowered(c.gemm)


def operands(c: ConvProduct) -> list[Operand]:
    """x, weight, bias and y, in the order of the parameters."""
    shapes = c.conv.shapes()
    names = ["weight", "x", *(["bias"] if c.epilogue.bias else []), "y"]
    return [Operand(name, c.gemm.dtype, shapes[name]) for name in names]


PADDED = """    images, _, height, width = x.shape
    filters, channels, kernel_h, kernel_w = weight.shape
    _, _, out_height, out_width = @out@.shape
    groups, stride, padding = @measures@
    filters = filters // groups
    padded = np.zeros((images, groups, channels, height + 2 * padding, width + 2 * padding))
    inside = padded[:, :, :, padding : padding + height, padding : padding + width]
    given = np.array(x, np.float64)
    inside[...] = given.reshape(images, groups, channels, height, width)
    taken = np.array(weight, np.float64)
    taken = taken.reshape(groups, filters, channels, kernel_h, kernel_w)
    pixels = out_height * out_width
"""
"""Plain Python: extents by name, images within zeros and filters, by groups."""

EACH_TAP = """    for r in range(kernel_h):
        for s in range(kernel_w):
            rows = slice(r, r + stride * (out_height - 1) + 1, stride)
            columns = slice(s, s + stride * (out_width - 1) + 1, stride)
            patch = padded[:, :, :, rows, columns]
            patch = patch.reshape(images, groups, channels, pixels)
"""
"""Plain Python: what each tap meets."""


def reference(c: ConvProduct) -> str:
    """Plain Python that computes the op in float64."""
    e, conv = c.epilogue, c.conv
    names = [one.name for one in operands(c)]
    measured = f"{conv.groups}, {conv.stride}, {conv.padding}"
    lines = ["import math", "", "import numpy as np", "", ""]
    lines += [f"def {c.name}(dim, {', '.join(names)}):"]
    lines += PADDED.replace("@out@", "y").replace("@measures@", measured).split("\n")[:-1]
    lines += [
        "    value = np.zeros((images, groups, filters, pixels))",
        *EACH_TAP.split("\n")[:-1],
        "            value = value + np.matmul(taken[:, :, :, r, s], patch)",
    ]
    if e.bias:
        lines += [
            "    added = np.array(bias, np.float64)",
            "    value = value + added.reshape(groups, filters, 1)",
        ]
    if e.activation == "relu":
        lines.append("    value = np.maximum(value, 0.0)")
    if e.activation == "gelu":
        lines += products.GELU
    lines.append("    y[...] = value.reshape(y.shape)")
    return "\n".join([*lines, ""])


def shapes(c: ConvProduct) -> list[tuple[int, ...]]:
    """Whole tiles, more along k than stages; ragged edges; one output; whole vectors of
    pixels, whose tiles go on in the next image; more filters than
    up to 8 persistent blocks take at once."""
    if c.winograd:
        return winograd.shapes(c)
    t, conv = c.gemm.tiling, c.conv
    width = max(8, t.tile_n // 8)
    # Tiles of k that do not fill all stages: the next tile of c is brought to where one was.
    few = next((c for c in range(1, 9) if -(-c * conv.taps // t.tile_k) % t.stages), 2)
    channels = -(-(t.stages + 1) * t.tile_k // (conv.taps * 8)) * 8
    return [
        (1, channels, t.tile_m, *conv.image(8, width)),
        (2, 3, 7, *conv.image(5, 9)),
        (1, 1, 1, *conv.image(1, 1)),
        (3, c.gemm.group, 5, *conv.image(4, 6)),
        (1, few, (min(t.persistent, 8) or 1) * t.tile_m + 5, *conv.image(3, 3)),
    ]


def work(c: ConvProduct, sizes: Sizes) -> int:
    """Products in whole tiles; none where there is no output."""
    given = product_sizes(c, sizes)
    return products.work(c.gemm, given) if given["n"] else 0


def product_sizes(c: ConvProduct, sizes: Sizes) -> dict[str, int]:
    """Sizes of the product that makes a convolution; `n` is 0 where there is no output."""
    if c.winograd:
        return winograd.product_sizes(c, sizes)
    height, width = c.conv.outputs(sizes)
    return {
        "m": sizes["filters"],
        "n": sizes["images"] * height * width,
        "k": sizes["channels"] * c.conv.taps,
        "batch": c.conv.groups,
    }


def tolerance(c: ConvProduct, sizes: Sizes) -> tuple[float, float]:
    """rtol and atol of a product with as many terms, or with terms that are so much larger."""
    terms = winograd.GROWN if c.winograd else c.conv.taps
    return products.tolerance(c.gemm, {"k": sizes["channels"] * terms})


_TRIED: tuple[dict[str, Any], ...] = (
    {},
    {"bias": True, "stride": 2},
    {"kernel_h": 1, "kernel_w": 1, "padding": 0, "groups": 2},
    {"kernel_h": 5, "kernel_w": 3, "padding": 2, "bias": True, "activation": "gelu"},
    {"kernel_h": 2, "kernel_w": 3, "padding": 1, "stride": 3},
    {"groups": 3, "padding": 0, "bias": True},
)
_TRIED_WINOGRAD: tuple[dict[str, Any], ...] = (
    {},
    {"padding": 0, "bias": True, "dtype": "float64"},
    {"padding": 2, "groups": 2, "bias": True, "activation": "gelu"},
)


def trials() -> Iterator[dict[str, Any]]:
    """Specs for the audit: measures of convolutions in turn, under schedules of each type."""
    fields = cycle(_TRIED)
    small = {"tile_m": 32, "tile_n": 64, "warp_m": 32, "warp_n": 32}
    for way in ({"copy": "registers"}, {"copy": "async", "stages": 3}):
        for more in ({}, {"persistent": 2}):
            for _ in range(3):
                schedule = {**small, "thread_m": 4, "thread_n": 8, **way, **more}
                yield {**next(fields), "dtype": "float32", "schedule": schedule}
            schedule = {**small, "warp_n": 16, "thread_m": 4, "thread_n": 4, **way, **more}
            yield {**next(fields), "dtype": "float64", "schedule": schedule}
            for one in _TRIED_WINOGRAD:
                narrow = {"warp_n": 16, "thread_n": 4} if one.get("dtype") else {"thread_n": 8}
                schedule = {**small, "thread_m": 4, **narrow, **way, **more}
                yield {**one, "schedule": {**schedule, "algorithm": "winograd"}}
    for stages in (2, 3):
        for _ in range(3):
            schedule = {**small, "tile_k": 32, "stages": stages, "copy": "async"}
            yield {**next(fields), "dtype": "float16", "schedule": schedule}


def small_tiles(dtype: str) -> dict[str, Any]:
    """A schedule of small tiles, since finding places takes registers."""
    small = {"tile_m": 64, "tile_n": 64, "warp_m": 32, "warp_n": 32, "blocks": 0}
    more = {"stages": 2} if dtype == "float16" else {"thread_m": 8, "thread_n": 4}
    return {**products.schedule(dtype), **small, **more}


def schedule(dtype: str) -> dict[str, Any]:
    """The schedule that is taken where none is asked for: of float32 what came nearest to the best
    of seven shapes on an H100."""
    if dtype != "float32":
        return {**small_tiles(dtype), "algorithm": "direct"}
    sides = {"tile_m": 64, "tile_n": 128, "tile_k": 16, "warp_m": 32, "warp_n": 64}
    return {**products.schedule(dtype), **sides, "blocks": 0, "algorithm": "direct"}


def conv_op(name: str, fields: Mapping[str, Any]) -> Op:
    """An op that is a convolution; `fields` are its own defaults."""
    return Op(
        name=name,
        sizes=SIZES,
        dtypes=DTYPES,
        fields={**FIELDS, **EPILOGUE, **fields},
        schedule=schedule,
        read=lambda dtype, given, schedule: read(name, dtype, given, schedule),
        shared_bytes=lambda c: c.gemm.shared_bytes,
        lower=lowered,
        operands=operands,
        reference=reference,
        tolerance=tolerance,
        shapes=shapes,
        work=work,
        trials=trials if "activation" not in fields else tuple,
    )
