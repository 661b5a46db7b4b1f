"""Gradients of y = conv(x, weight) + bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from synth.lower.backward.sums import sum_kernel
from synth.lower.conv import forward
from synth.lower.conv.plan import FIELDS as MEASURES
from synth.lower.conv.plan import SIZES, Conv, read_conv
from synth.lower.gemm import op as products
from synth.lower.gemm import several
from synth.lower.gemm.parts import filled
from synth.lower.gemm.plan import STORED, Gemm
from synth.lower.gemm.view import View
from synth.lower.op import Lowered, Operand, Sizes

FIELDS: Mapping[str, Any] = {**MEASURES, "bias": False}

_OF_X = """
// Where the weight of channel `row` at the k-th tap of all filters lies.
__device__ __forceinline__ bool find_a(const Shape& shape, int row, int k, size_t& place)
{
    const int filter = k / (KERNEL_H * KERNEL_W);
    place = static_cast<size_t>(filter * shape.channels + row) * (KERNEL_H * KERNEL_W);
    place += k % (KERNEL_H * KERNEL_W);
    return true;
}

// Where the output lies that the k-th tap of all filters makes of the pixel `column`. False: there
// is none.
__device__ __forceinline__ bool find_b(const Shape& shape, int k, int column, size_t& place)
{
    const int pixels = shape.out_height * shape.out_width;
    const int plane = shape.height * shape.width;
    const int image = column / plane;
    const int pixel = column % plane;
    const int tap = k % (KERNEL_H * KERNEL_W);
    const int y = pixel / shape.width + PADDING - tap / KERNEL_W;
    const int x = pixel % shape.width + PADDING - tap % KERNEL_W;
    const int out = y / STRIDE * shape.out_width + x / STRIDE;
    const int own = k / (KERNEL_H * KERNEL_W) * pixels + out;
    place = static_cast<size_t>(image) * GROUPS * shape.filters * pixels + own;
    return @met@;
}

// Where the channel `row` at the pixel `column` goes.
__device__ __forceinline__ size_t place_of_c(const Shape& shape, int row, int column)
{
    const int plane = shape.height * shape.width;
    const int image = column / plane;
    return (static_cast<size_t>(image) * GROUPS * shape.channels + row) * plane + column % plane;
}
"""

_OF_WEIGHT = """
// Where the filter `row` at the k-th pixel of all images lies.
__device__ __forceinline__ bool find_a(const Shape& shape, int row, int k, size_t& place)
{
    const int pixels = shape.out_height * shape.out_width;
    const int image = k / pixels;
    place = (static_cast<size_t>(image) * GROUPS * shape.filters + row) * pixels + k % pixels;
    return true;
}
"""


@dataclass(frozen=True)
class ConvBackward:
    """The products of both gradients."""

    conv: Conv
    of_x: Gemm
    of_weight: Gemm
    bias: bool


def _met(conv: Conv) -> str:
    """Whether a pixel and a tap have an output, without what always holds."""
    tests = []
    for name, side, taps in (("y", "height", conv.kernel_h), ("x", "width", conv.kernel_w)):
        beyond = taps - 1 - conv.padding
        tests += [f"{name} >= 0"] if beyond >= conv.stride else []
        tests += [f"{name} / STRIDE < shape.out_{side}"] if beyond else []
        tests += [f"{name} % STRIDE == 0"] if conv.stride > 1 else []
    return " &&\n        ".join(tests) or "true"


def _view_of_x(conv: Conv) -> View:
    return View(
        about="grad_x: a channel a row, a pixel of an image a column.",
        arrays={"a": "weight", "b": "grad_y", "c": "grad_x"},
        sizes=SIZES,
        m="channels",
        n="images * height * width",
        k=f"filters * {conv.taps}",
        shape=forward.measures(conv),
        constants=forward.constants(conv),
        functions=forward.SHAPE + filled(_OF_X, met=_met(conv)),
        gathered="ab",
        scattered=True,
        groups=conv.groups,
        moved={
            "weight": "shape.filters * shape.channels * (KERNEL_H * KERNEL_W)",
            "grad_y": "shape.filters * shape.out_height * shape.out_width",
            "grad_x": "m * shape.height * shape.width",
        },
        aligned="(shape.height * shape.width)",
    )


def _view_of_weight(conv: Conv) -> View:
    patches = forward.patches(conv, "column", "k")
    return View(
        about="grad_weight: a filter a row, a tap of a channel a column.",
        arrays={"a": "grad_y", "b": "x", "c": "grad_weight"},
        sizes=SIZES,
        m="filters",
        n=f"channels * {conv.taps}",
        k=f"images * {conv.extent('height')} * {conv.extent('width')}",
        shape=forward.measures(conv),
        constants=forward.constants(conv),
        functions=forward.SHAPE + _OF_WEIGHT + patches,
        gathered="ab",
        groups=conv.groups,
        moved={
            "grad_y": "m * shape.out_height * shape.out_width",
            "x": "shape.channels * shape.height * shape.width",
            "grad_weight": "m * n",
        },
        aligned="n",
    )


def read(dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> ConvBackward:
    """The plan; parts of k are of the gradient of the weights. Raises SettingsError."""
    conv = read_conv(fields)
    core, kind, tiling = products.read_tiling(said, dtype)
    whole = replace(tiling, split_k=1)
    of_x = Gemm("conv2d_backward_x", core, kind, whole, view=_view_of_x(conv))
    of_weight = Gemm(
        *("conv2d_backward_weight", core, kind, tiling),
        transpose_b=True,
        view=_view_of_weight(conv),
    )
    return ConvBackward(conv, products.checked(of_x), products.checked(of_weight), fields["bias"])


def lowered(p: ConvBackward) -> Lowered:
    """The text: gradients of x, of the weights, of bias."""
    real = STORED[p.of_x.dtype]
    arrays = [(name, f"const {real}*") for name in ("grad_y", "x", "weight")]
    arrays += [(name, f"{real}*") for name in _outputs(p)]
    sizes = {name: f"={name}" for name in SIZES}
    of_x = {name: name for name in ("weight", "grad_y", "grad_x")}
    of_weight = {name: name for name in ("grad_y", "x", "grad_weight")}
    more: tuple[str, list[dict[str, Any]]] = ("", [])
    if p.bias:
        name = "conv2d_backward_bias"
        text = sum_kernel(name, "grad_y", "grad_bias", p.of_x.dtype, inner=True)
        filters = f"{p.conv.groups} * filters"
        pixels = f"{p.conv.extent('height')} * {p.conv.extent('width')}"
        launch = {
            "kernel": name,
            "args": ["grad_y", "grad_bias", "=images", f"={filters}", f"={pixels}"],
            "grid": [filters],
            "block": [256],
            "shared_bytes": 0,
        }
        more = (text, [launch])
    return several.lowered(
        "conv2d_backward",
        "Gradients of y = conv(x, weight)" + (" + bias." if p.bias else "."),
        [(p.of_x, of_x | sizes), (p.of_weight, of_weight | sizes)],
        arrays,
        SIZES,
        more,
    )


def _outputs(p: ConvBackward) -> list[str]:
    return ["grad_x", "grad_weight", *(["grad_bias"] if p.bias else [])]


def operands(p: ConvBackward) -> list[Operand]:
    """grad_y, x and weight; grad_x, grad_weight and grad_bias."""
    shapes, dtype = p.conv.shapes(), p.of_x.dtype
    given = ("grad_y", "x", "weight")
    return [
        Operand(name, dtype, shapes[name.removeprefix("grad_")], out=name not in given)
        for name in (*given, *_outputs(p))
    ]


def reference(p: ConvBackward) -> str:
    """Plain Python that computes the gradients in float64."""
    conv = p.conv
    names = ", ".join(one.name for one in operands(p))
    measured = f"{conv.groups}, {conv.stride}, {conv.padding}"
    head = forward.PADDED.replace("@out@", "grad_y").replace("@measures@", measured)
    lines = ["import numpy as np", "", "", f"def conv2d_backward(dim, {names}):"]
    lines += head.split("\n")[:-1]
    lines += [
        "    grad = np.array(grad_y, np.float64)",
        "    grad = grad.reshape(images, groups, filters, pixels)",
        "    of_x = np.zeros_like(padded)",
        "    of_weight = np.zeros_like(taken)",
        *forward.EACH_TAP.split("\n")[:-1],
        "            each = np.matmul(grad, np.transpose(patch, (0, 1, 3, 2)))",
        "            of_weight[:, :, :, r, s] = np.sum(each, axis=0)",
        "            back = np.matmul(np.transpose(taken[:, :, :, r, s], (0, 2, 1)), grad)",
        "            back = back.reshape(images, groups, channels, out_height, out_width)",
        "            of_x[:, :, :, rows, columns] = of_x[:, :, :, rows, columns] + back",
        "    kept = of_x[:, :, :, padding : padding + height, padding : padding + width]",
        "    grad_x[...] = kept.reshape(grad_x.shape)",
        "    grad_weight[...] = of_weight.reshape(grad_weight.shape)",
    ]
    if p.bias:
        lines += [
            "    sums = np.sum(np.sum(grad, axis=3), axis=0)",
            "    grad_bias[:] = sums.reshape(grad_bias.shape)",
        ]
    return "\n".join([*lines, ""])


def tolerance(p: ConvBackward, sizes: Sizes) -> tuple[float, float]:
    """That of the longer of both sums."""
    height, width = p.conv.outputs(sizes)
    longest = max(sizes["filters"] * p.conv.taps, sizes["images"] * height * width)
    return products.tolerance(p.of_x, {"k": longest})


def shapes(p: ConvBackward) -> list[tuple[int, ...]]:
    """Whole tiles; ragged edges; one output; whole vectors whose tiles go on in the next image;
    more filters than a tile."""
    t, conv = p.of_x.tiling, p.conv
    return [
        (1, t.tile_m, 8, *conv.image(8, 8)),
        (2, 3, 7, *(side + conv.stride - 1 for side in conv.image(5, 9))),
        (1, 1, 1, *conv.image(1, 1)),
        (3, p.of_x.group, 5, *(-(-side // 4) * 4 for side in conv.image(4, 6))),
        (2, 2, t.tile_m + 5, *conv.image(9, 9)),
    ]


def work(p: ConvBackward, sizes: Sizes) -> int:
    """Products in whole tiles; none where there is no output."""
    height, width = p.conv.outputs(sizes)
    rows, filters = sizes["channels"], sizes["filters"]
    pixels, plane = height * width, sizes["height"] * sizes["width"]
    taps, images, groups = p.conv.taps, sizes["images"], p.conv.groups
    of_x = {"m": rows, "n": images * plane, "k": filters * taps, "batch": groups}
    of_weight = {"m": filters, "n": rows * taps, "k": images * pixels, "batch": groups}
    return (products.work(p.of_x, of_x) + products.work(p.of_weight, of_weight)) * (pixels > 0)


_TRIED: tuple[dict[str, Any], ...] = (
    {"bias": True},
    {"stride": 2},
    {"kernel_h": 1, "kernel_w": 1, "padding": 0, "groups": 2},
    {"kernel_h": 2, "kernel_w": 3, "padding": 1, "stride": 3, "bias": True},
)


def trials() -> Iterator[dict[str, Any]]:
    """Specs for the audit."""
    small = {"tile_m": 32, "tile_n": 64, "warp_m": 32, "warp_n": 32}
    for way in ({"copy": "registers"}, {"copy": "async", "stages": 3}):
        for fields in _TRIED:
            schedule = {**small, "thread_m": 4, "thread_n": 8, **way}
            yield {**fields, "dtype": "float32", "schedule": schedule}
    for fields in _TRIED[:2]:
        schedule = {**small, "thread_m": 4, "thread_n": 8, "split_k": 3}
        yield {**fields, "dtype": "float32", "schedule": schedule}
        schedule = {**small, "tile_k": 32, "stages": 2, "copy": "async"}
        yield {**fields, "dtype": "float16", "schedule": schedule}
