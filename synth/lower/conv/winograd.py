"""Convolutions of 3 x 3 taps by fewer multiplications: F(2 x 2, 3 x 3).

Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (arXiv:1509.09308), section 4.1:
with A, B and G of the minimal algorithm F(2, 3), a tile of 2 x 2 outputs is
A^T [sum over channels of (G g G^T) * (B^T d B)] A, where g are taps, d the 4 x 4 pixels that the
tile meets and * is by elements. So 16 products of a number where 36 stood. For each of the 16
places the sum over channels is a matrix product, filters by tiles: one product with a batch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synth.lower.conv.plan import ARRAYS, SIZES, Conv, ConvProduct
from synth.lower.gemm.parts import filled, finished, gelu_lines
from synth.lower.gemm.plan import STORED, Gemm
from synth.lower.gemm.several import in_namespaces, launched
from synth.lower.op import Lowered, Sizes

PLACES = 16
GROWN = 64
"""How much the products of a channel can outgrow its inputs: the largest sum over t of
|A^T|[i, t] (|G| 1)[t] (|B^T| 1)[t] is 8 along an axis, where the 3 taps alone give 3."""

_THREADS = 256
_MOST_ROWS = 65535

_TEXT = """
constexpr int THREADS = @threads@;
constexpr int GROUPS = @groups@;
constexpr int PADDING = @padding@;

// B^T d of four pixels.
__device__ __forceinline__ void turn_pixels(@real@& a, @real@& b, @real@& c, @real@& d)
{
    const @real@ first = a - c;
    const @real@ second = b + c;
    const @real@ third = c - b;
    d = b - d;
    a = first;
    b = second;
    c = third;
}

// A^T p of four products: two outputs, in a and b.
__device__ __forceinline__ void turn_products(@real@& a, @real@& b, @real@ c, @real@ d)
{
    const @real@ first = a + b + c;
    b = b - c - d;
    a = first;
}
@gelu@
// G g G^T of the taps of each filter and channel, place after place.
extern "C" __global__ void __launch_bounds__(THREADS) @name@_filters(
    const @real@* __restrict__ weight, @real@* __restrict__ filter_places,
    int channels, int filters)
{
    const size_t count = static_cast<size_t>(GROUPS) * filters * channels;
    const size_t at = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (at >= count) {
        return;
    }
    const @real@* const taps = weight + at * 9;
    @real@ rows[4][3];
#pragma unroll
    for (int x = 0; x < 3; ++x) {
        const @real@ top = taps[x];
        const @real@ middle = taps[3 + x];
        const @real@ bottom = taps[6 + x];
        rows[0][x] = top;
        rows[1][x] = @half@ * (top + middle + bottom);
        rows[2][x] = @half@ * (top - middle + bottom);
        rows[3][x] = bottom;
    }
    @real@* const to = filter_places + at;
#pragma unroll
    for (int y = 0; y < 4; ++y) {
        const @real@ left = rows[y][0];
        const @real@ middle = rows[y][1];
        const @real@ right = rows[y][2];
        to[4 * y * count] = left;
        to[(4 * y + 1) * count] = @half@ * (left + middle + right);
        to[(4 * y + 2) * count] = @half@ * (left - middle + right);
        to[(4 * y + 3) * count] = right;
    }
}

// B^T d B of the 4 x 4 pixels of each channel that a tile of 2 x 2 outputs meets, place after
// place. A thread keeps its tile and goes through channels.
extern "C" __global__ void __launch_bounds__(THREADS) @name@_pixels(
    const @real@* __restrict__ x, @real@* __restrict__ pixel_places,
    int images, int channels, int height, int width, int tiles_y, int tiles_x)
{
    const int tiles = images * tiles_y * tiles_x;
    const int tile = blockIdx.x * THREADS + threadIdx.x;
    if (tile >= tiles) {
        return;
    }
    const int image = tile / (tiles_y * tiles_x);
    const int within = tile % (tiles_y * tiles_x);
    const int first_y = within / tiles_x * 2 - PADDING;
    const int first_x = within % tiles_x * 2 - PADDING;
    const int planes = GROUPS * channels;
    for (int channel = blockIdx.y; channel < planes; channel += gridDim.y) {
        const size_t plane = static_cast<size_t>(image) * planes + channel;
        const @real@* const from = x + plane * height * width;
        @real@ d[4][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int y = first_y + i;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int column = first_x + j;
                const bool inside = @inside@;
                d[i][j] = inside ? from[y * width + column] : @zero@;
            }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            turn_pixels(d[0][j], d[1][j], d[2][j], d[3][j]);
        }
        @real@* const to = pixel_places + static_cast<size_t>(channel) * tiles + tile;
        const size_t count = static_cast<size_t>(planes) * tiles;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            turn_pixels(d[i][0], d[i][1], d[i][2], d[i][3]);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                to[(4 * i + j) * count] = d[i][j];
            }
        }
    }
}

// A^T p A of the products of each filter and tile@then@.
extern "C" __global__ void __launch_bounds__(THREADS) @name@_outputs(
    const @real@* __restrict__ product_places@bias@, @real@* __restrict__ y,
    int images, int filters, int out_height, int out_width, int tiles_y, int tiles_x)
{
    const int tiles = images * tiles_y * tiles_x;
    const int tile = blockIdx.x * THREADS + threadIdx.x;
    if (tile >= tiles) {
        return;
    }
    const int image = tile / (tiles_y * tiles_x);
    const int within = tile % (tiles_y * tiles_x);
    const int first_y = within / tiles_x * 2;
    const int first_x = within % tiles_x * 2;
    const int planes = GROUPS * filters;
    for (int filter = blockIdx.y; filter < planes; filter += gridDim.y) {
        const size_t count = static_cast<size_t>(planes) * tiles;
        const @real@* const from = product_places + static_cast<size_t>(filter) * tiles + tile;
        @real@ p[4][4];
#pragma unroll
        for (int place = 0; place < @places@; ++place) {
            p[place / 4][place % 4] = from[place * count];
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            turn_products(p[0][j], p[1][j], p[2][j], p[3][j]);
        }
        const size_t plane = static_cast<size_t>(image) * planes + filter;
        @real@* const to = y + plane * out_height * out_width;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            turn_products(p[i][0], p[i][1], p[i][2], p[i][3]);
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const int row = first_y + i;
                const int column = first_x + j;
                if (row < out_height && column < out_width) {
                    to[row * out_width + column] = @value@;
                }
            }
        }
    }
}
"""


def fault(conv: Conv, dtype: str) -> str:
    """Why a convolution cannot be made so, in one line; empty when it can."""
    if (conv.kernel_h, conv.kernel_w, conv.stride) != (3, 3, 1):
        return "algorithm: winograd takes 3 x 3 taps with stride 1"
    if dtype not in ("float32", "float64"):
        return f"algorithm: winograd is not of {dtype}"
    return ""


def product(g: Gemm) -> Gemm:
    """The product of all places."""
    return replace(g, name=f"{g.name}_products", batch=True)


def tiles_of(c: ConvProduct, sizes: Sizes) -> int:
    """Tiles of 2 x 2 outputs of all images."""
    height, width = c.conv.outputs(sizes)
    return sizes["images"] * (-(-height // 2)) * (-(-width // 2))


def product_sizes(c: ConvProduct, sizes: Sizes) -> dict[str, int]:
    """Sizes of the product."""
    batch = PLACES * c.conv.groups
    n, k = tiles_of(c, sizes), sizes["channels"]
    return {"m": sizes["filters"], "n": n, "k": k, "batch": batch}


def lowered(c: ConvProduct) -> Lowered:
    """The text: filters and pixels by places, their product, outputs."""
    about = [
        f"{c.value}, by 16 products of each channel and tile of 2 x 2 outputs in",
        "place of 36: F(2 x 2, 3 x 3) of Lavin and Gray (arXiv:1509.09308).",
        *ARRAYS.replace("KERNEL_H, KERNEL_W", "3, 3").split("\n"),
    ]
    text = "".join(f"// {line}\n" for line in about)
    text += "\n" + in_namespaces([c.gemm], _kernels(c))
    real = STORED[c.gemm.dtype]
    names = ["weight", "x", *(["bias"] if c.epilogue.bias else [])]
    args: list[dict[str, str | None]] = [
        {"name": name, "type": f"const {real}*", "size": None} for name in names
    ]
    args.append({"name": "y", "type": f"{real}*", "size": None})
    args += [{"name": size, "type": "int", "size": size} for size in SIZES]
    return Lowered(c.name, text, args, _launches(c), _scratch(c))


def _kernels(c: ConvProduct) -> str:
    g, e = c.gemm, c.epilogue
    double = g.dtype == "float64"
    # Only tiles at an edge of an image meet what is outside: without padding the last ones do.
    inside = "y >= 0 && y < height && column >= 0 && column < width"
    if not c.conv.padding:
        inside = "y < height && column < width"
    return filled(
        _TEXT,
        name=c.name,
        threads=str(_THREADS),
        places=str(PLACES),
        groups=str(c.conv.groups),
        padding=str(c.conv.padding),
        half="0.5" if double else "0.5f",
        zero="0.0" if double else "0.0f",
        inside=inside,
        then=", finished" if not e.plain else "",
        bias=f",\n    const {STORED[g.dtype]}* __restrict__ bias" if e.bias else "",
        gelu="".join(f"\n{line}" for line in gelu_lines(g.dtype, e)),
        value=finished(
            Gemm(c.name, g.core, g.dtype, g.tiling, epilogue=e), "p[i][j]", "", "filter"
        ),
        real=STORED[g.dtype],
    )


def _tiles(c: ConvProduct) -> tuple[str, str, str]:
    """Formulas of the tiles of an image, down and across, and of those of all images."""
    down, across = (f"({c.conv.side(side)} + 1) / 2" for side in ("height", "width"))
    return down, across, f"images * ({down}) * ({across})"


def _launches(c: ConvProduct) -> list[dict[str, Any]]:
    groups = c.conv.groups
    down, across, tiles = _tiles(c)
    bias = ["bias"] if c.epilogue.bias else []
    given = {"a": "filter_places", "b": "pixel_places", "c": "product_places"}
    given |= {"m": "=filters", "n": f"={tiles}", "k": "=channels", "batch": f"={PLACES * groups}"}
    around = {"block": [_THREADS], "shared_bytes": 0}
    blocks = f"({tiles} - 1) / {_THREADS} + 1"
    sides = [f"={down}", f"={across}"]
    measured = [f"={c.conv.side('height')}", f"={c.conv.side('width')}"]
    return [
        {
            "kernel": f"{c.name}_filters",
            "args": ["weight", "filter_places", "=channels", "=filters"],
            "grid": [f"({groups} * filters * channels - 1) / {_THREADS} + 1"],
            **around,
        },
        {
            "kernel": f"{c.name}_pixels",
            "args": ["x", "pixel_places", *(f"={s}" for s in SIZES if s != "filters"), *sides],
            "grid": [blocks, f"min({groups} * channels, {_MOST_ROWS})"],
            **around,
        },
        *launched(c.gemm, given),
        {
            "kernel": f"{c.name}_outputs",
            "args": ["product_places", *bias, "y", "=images", "=filters", *measured, *sides],
            "grid": [blocks, f"min({groups} * filters, {_MOST_ROWS})"],
            **around,
        },
    ]


def _scratch(c: ConvProduct) -> list[dict[str, str]]:
    *_, tiles = _tiles(c)
    batch = PLACES * c.conv.groups
    counts = {
        "filter_places": f"{batch} * filters * channels",
        "pixel_places": f"{batch} * channels * {tiles}",
        "product_places": f"{batch} * filters * {tiles}",
    }
    return [{"name": name, "dtype": c.gemm.dtype, "count": count} for name, count in counts.items()]


def shapes(c: ConvProduct) -> list[tuple[int, ...]]:
    """Whole tiles of the product, more along k than stages; ragged edges; one output; whole
    vectors of tiles, which go on in the next image; images of an odd side, with more filters than
    up to 8 persistent blocks take at once."""
    t, conv = c.gemm.tiling, c.conv
    deep = (t.stages + 1) * t.tile_k
    return [
        (1, deep, t.tile_m, *conv.image(4, t.tile_n)),
        (2, 3, 7, *conv.image(5, 9)),
        (1, 1, 1, *conv.image(1, 1)),
        (3, c.gemm.group, 5, *conv.image(4, 8)),
        (1, 2, (min(t.persistent, 8) or 1) * t.tile_m + 5, *conv.image(3, 3)),
    ]
