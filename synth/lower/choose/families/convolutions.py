"""Convolutions: schedules that are tried, and what one takes by the model of products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.lower.choose.devices import Figures
from synth.lower.choose.families import products
from synth.lower.conv import forward
from synth.lower.conv.plan import ConvProduct
from synth.lower.gemm.plan import BYTES

PLAN = ConvProduct
SIZES = ("images", "channels", "filters", "height", "width")
NOMINAL = 64

_GATHERED, _MANY_SUMS, _MANY_FOUND = 1.15, 1.1, 1.35
"""How much longer a direct product takes whose tiles are found element by element; where a thread
has more than 64 sums, and where it finds more than 16 elements at a time, since places take
registers. By 77 and 39 times of seven shapes on an H100 (`notes/measurements/lower.md`)."""
_STRIDED = 1.6
"""Of a copy's time for what places of 2 x 2 outputs read and write, strided as they are."""
_LAUNCH_US = 3.0


def schedules(dtype: str) -> list[dict[str, Any]]:
    """What is tried of a dtype: tiles of products, directly and by places."""
    own = forward.schedule(dtype)
    tried = [
        one
        for one in products.schedules(dtype)
        if one["core"] == own["core"] and one["split_k"] == 1 and one["raster"] == own["raster"]
    ]
    algorithms = ("direct", "winograd") if own["core"] == "simt" else ("direct",)
    return [{**one, "algorithm": algorithm} for algorithm in algorithms for one in tried]


def cost_us(c: ConvProduct, sizes: Mapping[str, int], device: Figures) -> float:
    """What the product takes, and of places what brings them there and back."""
    inner = forward.product_sizes(c, sizes)
    if not c.winograd:
        return products.cost_us(c.gemm, inner, device) * _longer(c)
    height, width = c.conv.outputs(sizes)
    groups, images = c.conv.groups, sizes["images"]
    pixels = images * groups * sizes["channels"] * sizes["height"] * sizes["width"]
    outputs = images * groups * sizes["filters"] * height * width
    places = inner["batch"] * inner["n"] * (inner["k"] + inner["m"])
    places += inner["batch"] * inner["m"] * inner["k"]
    moved = (pixels + outputs + places) * BYTES[c.gemm.dtype]
    around = moved / (device.gbytes_s * 1000.0) * _STRIDED + 3 * _LAUNCH_US
    return products.cost_us(c.gemm, inner, device) + around


def _longer(c: ConvProduct) -> float:
    t = c.gemm.tiling
    many_sums = c.gemm.core == "simt" and t.thread_m * t.thread_n > 64
    many_found = t.tile_n * t.tile_k > 16 * t.threads
    return _GATHERED * (_MANY_SUMS if many_sums else 1.0) * (_MANY_FOUND if many_found else 1.0)
