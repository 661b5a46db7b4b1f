"""Ordered dithering: few tones from thresholds that tile the image."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.naming import BY_LEVEL, maybe, routine
from generators.kit.words import words
from generators.math.images.pixels import Image, pixel_type
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_BYTE, _UINT32 = Scalar("uint8"), Scalar("uint32")


@idiom(depth=3)
def ordered_dither(k: KernelBuilder, level: int) -> Title:
    """Pixels above a threshold of a tile, or rounded by it to few tones: Bayer's matrix by table or
    by formula, blue noise, thresholds that change with the frame; bits packed into words."""
    shape = k.draw.shape
    if level > 2 and shape.chance(0.3):
        return _packed(k, level)
    image = Image(k, level, {"inside": 1}, size=(9, 12))
    type_ = pixel_type(k)
    src = image.array("image gray src tones", type_, 0.0, 1.0)
    way = shape.weighted({"bayer": 3, "formula": 1 + level, "noise": 2 * (level > 1)})
    threshold, said = _THRESHOLDS[way](k, level, image.y, image.x, type_)
    if level > 2 and shape.chance(0.45):
        threshold, more = _per_frame(k, image, threshold)
        said += more
    threshold = k.let("threshold t", threshold)
    value = src[image.at]
    if level == 1 or shape.chance(0.3):
        whole = shape.chance(0.5)
        out = image.out("dithered binary halftone", _BYTE if whole else type_)
        ends = (255, 0) if whole else (1.0, 0.0)
        picked = where(value > threshold, *(k.lift(v, _BYTE if whole else type_) for v in ends))
        k.store(out, image.at, picked)
        text = f"{out.name} gets {ends[0]:g} where {src.name} is above the threshold, else 0"
    else:
        text = _few_tones(k, level, image, src, threshold)
    return Title(k.name(_CALLED[way]), f"Ordered dithering of {src.name}: {text}. {said}")


_CALLED = {
    "bayer": "ordered_dither bayer_dither",
    "formula": "bayer_dither dither_by_bits",
    "noise": "blue_noise_dither noise_threshold",
}


def _few_tones(k: KernelBuilder, level: int, image: Image, src: Var, threshold: Expr) -> str:
    """Round to evenly spaced tones by the threshold: as a code, or as a tone in [0, 1]."""
    shape, type_ = k.draw.shape, threshold.type
    assert isinstance(type_, Scalar)
    steps = k.scalar("max_code top_code", INT32, 3, 7)
    top = k.let("top steps", cast(steps, type_))
    coded = shape.chance(0.5)
    out = image.out("codes dithered" if coded else "dithered tones_out", _BYTE if coded else type_)
    scaled = maybe(k, "scaled level_pos", src[image.at] * top)
    if coded:
        k.store(out, image.at, cast(scaled + threshold, _BYTE))
    else:
        k.store(out, image.at, fn("floor", scaled + threshold) / top)
    told = f"each pixel, of values in [0, 1], becomes q = floor({src.name} * {steps.name} + "
    told += f"threshold); {out.name} gets "
    return f"{told}{'q' if coded else f'the tone q / {steps.name}'}"


Threshold = tuple[Expr, str]


def _tabled(k: KernelBuilder, level: int, y: Expr, x: Expr, type_: Scalar) -> Threshold:
    """Ranks of Bayer's matrix in a table, of a side of a power of two."""
    side = k.draw.shape.choice((4, 8))
    total = side * side
    ranks = k.array(
        words("bayer dither_matrix ranks"), INT32, (str(side), str(side)), low=0, high=total - 1
    )
    rank = maybe(k, "rank m", ranks[y & (side - 1), x & (side - 1)], 0.6)
    value = (cast(rank, type_) + 0.5) / float(total)
    return value, (
        f"The threshold is (m + 0.5) / {total}, m being the element of {ranks.name}, which holds "
        f"the ranks 0 to {total - 1} of a {side} x {side} dither matrix, at the pixel's row and "
        f"column modulo {side}."
    )


def _formula(k: KernelBuilder, level: int, y: Expr, x: Expr, type_: Scalar) -> Threshold:
    """The same from bits of row and column: 4 times the rank in the 2 x 2 matrix (0, 2 / 3, 1) of
    the lowest bits, and so on."""
    bits = k.draw.shape.choice((2, 3))
    total = 4**bits
    looped = k.draw.shape.chance(0.5)

    def build(b: BodyBuilder, row: Expr, col: Expr) -> Expr:
        mixed = b.let("mixed yx", row ^ col)
        if looped:
            rank = b.let("rank m", b.lift(0, INT32))
            with b.for_("bit s", bits) as bit:
                b.assign(rank, rank << 2 | (mixed >> bit & 1) << 1 | row >> bit & 1)
            return rank
        parts = []
        for n in range(bits):
            shift = 2 * (bits - 1 - n)
            high, low = (mixed >> n if n else mixed) & 1, (row >> n if n else row) & 1
            parts += [high << (shift + 1), low << shift if shift else low]
        found = parts[0]
        for part in parts[1:]:
            found = found | part
        return found

    names = "bayer_rank dither_rank"
    rank_of = routine(k, BY_LEVEL[level], names, {"row": INT32, "col": INT32}, build)
    rank = maybe(k, "rank m rank_here", rank_of(y, x), 0.5)
    value = (cast(rank, type_) + 0.5) / float(total)
    return value, (
        f"The threshold is (m + 0.5) / {total}, m being the {2 * bits}-bit rank in Bayer's "
        f"{2**bits} x {2**bits} matrix: for each bit s from 0 to {bits - 1}, the next two bits "
        "of m from its highest on are bit s of (row xor column), then bit s of the row."
    )


def _blue_noise(k: KernelBuilder, level: int, y: Expr, x: Expr, type_: Scalar) -> Threshold:
    """A tile of blue noise, repeated; its side is a parameter or a power of two."""
    if k.draw.shape.chance(0.5):
        k.size("noise_size", 4, 6)
        shape = ("noise_size", "noise_size")
        noise = k.array(words("blue_noise noise_tile"), type_, shape, low=0.01, high=0.99)
        count = k.size_param("noise_size tile_size", "noise_size")
        value: Expr = noise[y % count, x % count]
        told = f"modulo {count.name}"
    else:
        side = k.draw.shape.choice((32, 64))
        noise = k.array(
            words("blue_noise noise_tile"), _BYTE, (str(side), str(side)), low=0, high=255
        )
        value = (cast(noise[y & (side - 1), x & (side - 1)], type_) + 0.5) / 256.0
        told = f"modulo {side}, plus 0.5, over 256"
    return value, (
        f"The threshold is the element of the blue-noise tile {noise.name} at the pixel's row and "
        f"column {told}."
    )


_THRESHOLDS: dict[str, Callable[[KernelBuilder, int, Expr, Expr, Scalar], Threshold]] = {
    "bayer": _tabled,
    "formula": _formula,
    "noise": _blue_noise,
}


def _per_frame(k: KernelBuilder, image: Image, threshold: Expr) -> Threshold:
    """Thresholds that a frame (or a channel) moves around the unit interval by the golden ratio."""
    type_ = threshold.type
    assert isinstance(type_, Scalar)
    frame: Expr = k.scalar("frame frame_index", INT32, 1, 60)
    told = frame.name  # type: ignore[attr-defined]
    if image.lead and image.layout == "batch" and k.draw.shape.chance(0.5):
        frame = frame + image.lead[0]
        told = f"({told} + the image's index)"
    moved = fn("frac", threshold + 0.61803399 * cast(frame, type_))
    return moved, f" 0.61803399 * {told} is added to it, and the fraction taken."


def _packed(k: KernelBuilder, level: int) -> Title:
    """One bit for each pixel, 8 or 32 of a row in a word."""
    shape = k.draw.shape
    wide = shape.chance(0.5)
    per, holder = (32, _UINT32) if wide else (8, _BYTE)
    high_first = shape.chance(0.5)
    type_ = pixel_type(k)
    batch = shape.chance(0.35)
    if batch:
        k.size("images", 2, 3)
    k.size("height", 7, 10)
    k.size("row_words", 2, 3)
    lead = ("images",) if batch else ()
    at = k.thread(*lead, "height", "row_words", names=[k.name("n b")] * batch + ["y", "w"])
    *before, y, word = at
    src = k.array(
        words("image gray src"), type_, (*lead, "height", f"{per}*row_words"), low=0.0, high=1.0
    )
    out = k.out(words("packed bitmap bits_out"), holder, (*lead, "height", "row_words"))
    acc = k.let("bits acc", k.lift(0, _UINT32))
    first = k.let("base x0", word * per)
    with k.for_("bit j", per) as j:
        x = k.let("x col", first + j)
        way = shape.weighted({"bayer": 2, "formula": 2, "noise": 2})
        threshold, said = _THRESHOLDS[way](k, level, y, x, type_)
        pixel = (*before, y, x)
        with k.if_(src[pixel] > threshold):
            place = per - 1 - j if high_first else j
            k.assign(acc, acc | k.lift(1, _UINT32) << cast(place, _UINT32))
    k.store(out, at, acc if wide else cast(acc, _BYTE))
    order = "highest" if high_first else "lowest"
    text = f"Ordered dithering of {src.name} to one bit a pixel: word w of a row of {out.name} "
    text += f"holds the bits of its columns {per} * w to {per} * w + {per - 1}, the first in the "
    text += f"{order} bit, each 1 where {src.name} is above the threshold. {said}"
    return Title(k.name("dither_to_bits pack_halftone dither_1bpp"), text)
