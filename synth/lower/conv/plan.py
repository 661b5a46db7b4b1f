"""What a convolution is asked for, and the product that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synth.lower.gemm.plan import Epilogue, Gemm
from synth.lower.op import Sizes, whole

SIZES = ("images", "channels", "filters", "height", "width")
"""Symbols; channels and filters are those of a group."""
DTYPES = ("float32", "float64", "float16")
FIELDS: Mapping[str, Any] = {
    "kernel_h": 3,
    "kernel_w": 3,
    "stride": 1,
    "padding": 1,
    "groups": 1,
}
EPILOGUE: Mapping[str, Any] = {"bias": False, "activation": "none"}
ALGORITHMS = ("direct", "winograd")
ARRAYS = (
    "x is [images, GROUPS * channels, height, width], weight [GROUPS * filters, channels,\n"
    "KERNEL_H, KERNEL_W], y [images, GROUPS * filters, out height, out width]."
)
"""What a text says of its arrays."""


@dataclass(frozen=True)
class Conv:
    """The measures of a convolution, of NCHW arrays."""

    kernel_h: int
    kernel_w: int
    stride: int
    padding: int
    groups: int

    def side(self, symbol: str) -> str:
        """The formula of an output's height or width."""
        more = 2 * self.padding - (self.kernel_h if symbol == "height" else self.kernel_w)
        if self.stride > 1:
            return f"({symbol} + {more}) / {self.stride} + 1"
        more += 1
        return f"{symbol} {'+' if more > 0 else '-'} {abs(more)}" if more else symbol

    def extent(self, symbol: str) -> str:
        """The same, as a factor of another formula."""
        return found if (found := self.side(symbol)) == symbol else f"({found})"

    @property
    def taps(self) -> int:
        """Elements of a filter for each channel."""
        return self.kernel_h * self.kernel_w

    def shapes(self) -> dict[str, tuple[str, ...]]:
        """Extents of x, weight, bias and y, as formulas."""
        groups = self.groups
        filters = f"{groups} * filters"
        return {
            "x": ("images", f"{groups} * channels", "height", "width"),
            "weight": (filters, "channels", str(self.kernel_h), str(self.kernel_w)),
            "bias": (filters,),
            "y": ("images", filters, self.side("height"), self.side("width")),
        }

    def image(self, out_height: int, out_width: int) -> tuple[int, int]:
        """Height and width of images whose outputs have these."""
        least = self.stride, 2 * self.padding
        return (
            max(1, (out_height - 1) * least[0] + self.kernel_h - least[1]),
            max(1, (out_width - 1) * least[0] + self.kernel_w - least[1]),
        )

    def outputs(self, sizes: Sizes) -> tuple[int, int]:
        """Height and width of an output; 0 where a filter is larger than an image."""
        return tuple(  # type: ignore[return-value]
            max(0, (sizes[symbol] + 2 * self.padding - taps) // self.stride + 1)
            for symbol, taps in (("height", self.kernel_h), ("width", self.kernel_w))
        )


@dataclass(frozen=True)
class ConvProduct:
    """A convolution, and the product that makes it: of filters and patches, or, with `winograd`, of
    both by places of a minimal algorithm (`winograd.py`)."""

    name: str
    conv: Conv
    gemm: Gemm
    epilogue: Epilogue
    winograd: bool = False

    @property
    def value(self) -> str:
        """What it computes, as a comment says it."""
        value = "conv(x, weight)" + " + bias" * self.epilogue.bias
        activation = self.epilogue.activation
        return f"y = {activation}({value})" if activation != "none" else f"y = {value}"


def read_conv(fields: Mapping[str, Any]) -> Conv:
    """The measures of a convolution. Raises SettingsError."""
    for name, least, most in (
        *(("kernel_h", 1, 16), ("kernel_w", 1, 16)),
        *(("stride", 1, 8), ("padding", 0, 15), ("groups", 1, 65535)),
    ):
        whole(name, fields[name], least, most)
    least_side = min(fields["kernel_h"], fields["kernel_w"])
    whole("padding", fields["padding"], 0, least_side - 1)
    return Conv(*(fields[name] for name in FIELDS))
