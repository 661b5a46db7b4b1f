"""Formats of textures in blocks: what a 64-bit word or two of them hold (S3TC, RGTC)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, cast
from generators.control_flow.kit import both, same
from generators.kit.functions import where
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Operand, Var

UINT8, UINT32, UINT64 = Scalar("uint8"), Scalar("uint32"), Scalar("uint64")
WORD_BITS = 2**64 - 1
COLOUR = Vec(3, FLOAT32)


def part_of(word: Expr, shift: Operand, mask: int) -> Expr:
    """Some bits of a 64-bit word."""
    moved = (
        word if shift == 0 else word >> (cast(shift, UINT64) if isinstance(shift, Expr) else shift)
    )
    return cast(moved & mask, INT32)


def channels_of(b: BodyBuilder, code: Expr, end: str) -> list[Var]:
    """Red, green and blue of a colour of 5, 6 and 5 bits, each as 8 bits."""
    red, blue = b.let(f"r{end}", (code >> 11) & 31), b.let(f"b{end}", code & 31)
    green = b.let(f"g{end}", (code >> 5) & 63)
    b.assign(red, (red << 3) | (red >> 2))
    b.assign(green, (green << 2) | (green >> 4))
    b.assign(blue, (blue << 3) | (blue >> 2))
    return [red, green, blue]


def packed_rgba(channels: Sequence[Expr], alpha: Expr) -> Expr:
    """Red, green, blue and alpha as RGBA8, red in the lowest byte."""
    red, green, blue = channels
    return cast(red, UINT32) | (
        (cast(green, UINT32) << 8) | (cast(blue, UINT32) << 16) | (cast(alpha, UINT32) << 24)
    )


def _bc1_texel(b: BodyBuilder, word: Expr, index: Expr, opaque: bool, alpha: Expr | None) -> Expr:
    """A texel of a BC1 block as RGBA8; ``opaque`` blocks (of BC3) have four colours always."""
    c0, c1 = (
        b.let("c0 color0", part_of(word, 0, 65_535)),
        b.let("c1 color1", part_of(word, 16, 65_535)),
    )
    choice = b.let("sel selector", part_of(word, 32 + 2 * index, 3))
    four = None if opaque else c0 > c1
    parts: Expr = b.lift(3, INT32)
    if four is not None:
        parts = b.let("parts den", where(four, b.lift(3, INT32), 2))
    first = b.let("w0 weight0", parts)
    with b.if_(same(choice, 1)):
        b.assign(first, 0)
    with b.elif_(same(choice, 2)):
        b.assign(first, parts - 1 if four is not None else 2)
    with b.elif_(same(choice, 3)):
        b.assign(first, 1)
    ends = [channels_of(b, c0, "0"), channels_of(b, c1, "1")]
    values = [(first * p + (parts - first) * q) // parts for p, q in zip(*ends, strict=True)]
    color = packed_rgba(values, alpha if alpha is not None else b.lift(255, INT32))
    if four is None:
        return color
    texel = b.let("texel rgba", color)
    with b.if_(both(c0 <= c1, same(choice, 3))):
        b.assign(texel, 0)
    return texel


def _bc4_texel(b: BodyBuilder, word: Expr, index: Expr) -> Expr:
    """A texel of a BC4 block, 0 to 255."""
    first, second = b.let("e0 ref0", part_of(word, 0, 255)), b.let("e1 ref1", part_of(word, 8, 255))
    choice = b.let("sel selector", part_of(word, 16 + 3 * index, 7))
    value = b.let("value level", first)
    with b.if_(same(choice, 1)):
        b.assign(value, second)
    with b.elif_(both(choice > 1, first > second)):
        b.assign(value, ((8 - choice) * first + (choice - 1) * second) // 7)
    with b.elif_(choice > 5):
        b.assign(value, where(same(choice, 6), b.lift(0, INT32), 255))
    with b.elif_(choice > 1):
        b.assign(value, ((6 - choice) * first + (choice - 1) * second) // 5)
    return value


_BC1 = (
    "bits 0-15 and 16-31 are the colours c0 and c1 (red in bits 11-15, green 5-10, blue 0-4, "
    "brought to 8 bits by repeating their highest bits), and texel t (row by row) has the 2 bits "
    "from 32 + 2 * t on as its selector: 0 is c0, 1 is c1, "
)
_MODES = (
    "and 2 and 3 are (2 * c0 + c1) // 3 and (c0 + 2 * c1) // 3 where c0 > c1 as numbers, else "
    "(c0 + c1) // 2 and transparent black (0)"
)
_FOUR = "2 and 3 are (2 * c0 + c1) // 3 and (c0 + 2 * c1) // 3, by channel"
_BC4 = (
    "bytes 0 and 1 are e0 and e1, and texel t (row by row) has the 3 bits from 16 + 3 * t on as "
    "its selector s: 0 is e0, 1 is e1, and more is ((8 - s) * e0 + (s - 1) * e1) // 7 where "
    "e0 > e1, else ((6 - s) * e0 + (s - 1) * e1) // 5, with 0 for s = 6 and 255 for s = 7"
)
RGBA = "as RGBA8, red in the lowest byte"


@dataclass(frozen=True)
class Format:
    """A format: 64-bit words of a block, a texel from them, and what is said."""

    name: str
    words: int
    texel: Callable[[BodyBuilder, list[Expr], Expr], Expr]
    said: str
    colour: bool = True

    @property
    def told(self) -> str:
        return f"Of a block{' of two words' if self.words > 1 else ''}, {self.said}."


def _bc3_texel(b: BodyBuilder, words: list[Expr], index: Expr) -> Expr:
    return _bc1_texel(b, words[1], index, True, _bc4_texel(b, words[0], index))


FORMATS = {
    "bc1": Format(
        "BC1", 1, lambda b, w, i: _bc1_texel(b, w[0], i, False, None), f"{_BC1}{_MODES}, by channel"
    ),
    "bc3": Format(
        "BC3",
        2,
        _bc3_texel,
        f"the second word holds the colours: {_BC1}{_FOUR}; the first word holds alpha: {_BC4}",
    ),
    "bc4": Format("BC4", 1, lambda b, w, i: _bc4_texel(b, w[0], i), _BC4, False),
}
