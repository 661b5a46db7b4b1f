"""Textures in blocks of 4 x 4 texels: BC1, BC3 and BC4 (S3TC, RGTC), fetched, decoded, encoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.control_flow.codecs.texture_formats import (
    COLOUR,
    FORMATS,
    RGBA,
    UINT8,
    UINT32,
    UINT64,
    WORD_BITS,
    Format,
    channels_of,
    packed_rgba,
    part_of,
)
from generators.control_flow.kit import same
from generators.kit.functions import least, most, where
from generators.kit.naming import BY_LEVEL, routine
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type
from generators.program.expr import Expr, Var


def _reader(k: KernelBuilder, level: int, form: Format) -> Callable[[list[Expr], Expr], Expr]:
    """The texel of a block, by a helper or in place."""
    names = ("block",) if form.words == 1 else ("alpha_block", "color_block")
    params: dict[str, Type] = {**dict.fromkeys(names, UINT64), "t": INT32}

    def build(b: BodyBuilder, *args: Expr) -> Expr:
        return form.texel(b, list(args[:-1]), args[-1])

    chance = BY_LEVEL[level] if form.words == 1 else 1.0
    made = routine(k, chance, f"{form.name.lower()}_texel decode_texel", params, build)
    return lambda words, index: made(*words, index)


def _blocks(k: KernelBuilder, form: Format) -> tuple[Var, Callable[[Expr, Expr], list[Expr]], str]:
    """The blocks of a texture, in rows or one after the other: how the words of one are read."""
    more = () if form.words == 1 else ("2",)
    flat = k.draw.shape.chance(0.4)
    dims = ("blocks_y*blocks_x",) if flat else ("blocks_y", "blocks_x")
    data = k.array("blocks texture", UINT64, (*dims, *more), low=0, high=WORD_BITS)
    pitch = k.size_param("blocks_per_row pitch", "blocks_x") if flat else None

    def words(by: Expr, bx: Expr) -> list[Expr]:
        at: tuple[Expr, ...] = (
            (by, bx) if pitch is None else (k.let("b block_id", by * pitch + bx),)
        )
        if not more:
            return [k.let("block word", data[at])]
        names = k.draw.word.choice((("alpha_block", "color_block"), ("alpha_word", "color_word")))
        return [k.let(name, data[at + (n,)]) for n, name in enumerate(names)]

    return data, words, f" and {pitch.name} blocks to a row" if pitch is not None else ""


def _output(
    k: KernelBuilder, form: Format, dims: tuple[str, ...], value: Expr
) -> tuple[Var, Expr, str]:
    """An output for texels: packed, bytes or floats."""
    if form.colour:
        return k.out("pixels image", UINT32, dims), value, RGBA
    if k.draw.shape.chance(0.5):
        return k.out("values heights", FLOAT32, dims), cast(value, FLOAT32) / 255.0, "over 255"
    return k.out("values red_channel", UINT8, dims), cast(value, UINT8), "as bytes"


def _fetch(k: KernelBuilder, level: int) -> Title:
    """Texels at given places."""
    form = FORMATS[k.draw.shape.choice(_FETCHED[level])]
    k.size("lookups", 80, 100)
    k.size("blocks_y", 3, 5)
    k.size("blocks_x", 4, 6)
    (i,) = k.thread("lookups", names=(k.name("i tid"),))
    data, read, placed = _blocks(k, form)
    xs, ys = (k.array(f"texel_{a}", INT32, "lookups", init=f"index_of:4*blocks_{a}") for a in "xy")
    reader = _reader(k, level, form)
    x, y = k.let("x", xs[i]), k.let("y", ys[i])
    words = read(y >> 2, x >> 2)
    t = k.let("t texel_id", 4 * (y & 3) + (x & 3))
    texel = reader(words, t)
    out, value, how = _output(k, form, ("lookups",), texel)
    k.store(out, i, value)
    text = f"Fetch texels of a {form.name} texture: {out.name} gets the texel at column "
    text += f"{xs.name} and row {ys.name} of {data.name}, a block for each 4 x 4 texels{placed}, "
    text += f"{how}. {form.told}"
    return Title(k.name(f"fetch_{form.name.lower()} sample_{form.name.lower()}_point"), text)


def _decode(k: KernelBuilder, level: int) -> Title:
    """Whole blocks, a thread for each."""
    form = FORMATS[k.draw.shape.choice(_DECODED[level])]
    k.size("blocks_y", 4, 5)
    k.size("blocks_x", 5, 6)
    by, bx = k.thread("blocks_y", "blocks_x", names=k.draw.word.choice((("by", "bx"), ("v", "u"))))
    data, read, placed = _blocks(k, form)
    reader = _reader(k, level, form)
    words = read(by, bx)
    nested = k.draw.shape.chance(0.5)
    dims = ("4*blocks_y", "4*blocks_x")

    def texel(t: Expr) -> tuple[Var, Expr, str]:
        return _output(k, form, dims, reader(words, t))

    if nested:
        with k.for_("ty dy", 4) as ty, k.for_("tx dx", 4) as tx:
            out, value, how = texel(k.let("t texel_id", 4 * ty + tx))
            k.store(out, (4 * by + ty, 4 * bx + tx), value)
    else:
        with k.for_("t texel_id", 16) as t:
            out, value, how = texel(t)
            k.store(out, (4 * by + (t >> 2), 4 * bx + (t & 3)), value)
    text = f"Decode a {form.name} texture: {out.name} gets the texels of {data.name}, a block "
    text += f"for each 4 x 4{placed}, {how}. {form.told}"
    return Title(k.name(f"decode_{form.name.lower()} {form.name.lower()}_decompress"), text)


_FETCHED: Mapping[int, tuple[str, ...]] = {2: ("bc4", "bc1"), 3: ("bc1", "bc3"), 4: ("bc3",)}
_DECODED: Mapping[int, tuple[str, ...]] = {3: ("bc4", "bc1"), 4: ("bc1", "bc3"), 5: ("bc3",)}


def _endpoints(k: KernelBuilder, level: int) -> Title:
    """The end colours of BC1 blocks, or their mean as a preview of a quarter of the size."""
    k.size("blocks_y", 6, 8)
    k.size("blocks_x", 9, 12)
    dims = ("blocks_y", "blocks_x")
    by, bx = k.thread(*dims, names=k.draw.word.choice((("by", "bx"), ("y", "x"))))
    data = k.array("blocks texture", UINT64, dims, low=0, high=WORD_BITS)
    word = k.let("block word", data[by, bx])
    c0, c1 = (
        k.let("c0 color0", part_of(word, 0, 65_535)),
        k.let("c1 color1", part_of(word, 16, 65_535)),
    )
    text = "bits 0-15 and 16-31 of a block are colours, red in bits 11-15, green 5-10, blue 0-4"
    if k.draw.shape.chance(0.4):
        low, high = k.draw.word.choice((("end0", "end1"), ("color_a", "color_b")))
        for name, code in ((low, c0), (high, c1)):
            parts = [((code >> 11) & 31, 31.0), ((code >> 5) & 63, 63.0), (code & 31, 31.0)]
            value = make(COLOUR, *(cast(v, FLOAT32) / top for v, top in parts))
            k.store(k.out(name, COLOUR, dims), (by, bx), value)
        done = (
            f"{low} and {high} get the two end colours of each of {data.name}, channels from 0 to 1"
        )
        return Title(k.name("bc1_endpoints unpack_endpoints"), f"BC1 textures: {done}; {text}.")
    ends = [channels_of(k, c0, "0"), channels_of(k, c1, "1")]
    sums = [p + q for p, q in zip(*ends, strict=True)]
    mean: Expr
    if k.draw.shape.chance(0.5):
        mean = packed_rgba([s >> 1 for s in sums], k.lift(255, INT32))
        out, how = k.out("preview thumbnail", UINT32, dims), f"rounded down, {RGBA}, alpha 255"
    else:
        mean = make(COLOUR, *(cast(s, FLOAT32) / 510.0 for s in sums))
        out, how = k.out("preview thumbnail", COLOUR, dims), "over 255"
    k.store(out, (by, bx), mean)
    done = f"{out.name} gets the mean of the two end colours of each of {data.name}, {how}"
    said = "brought to 8 bits by repeating their highest bits"
    return Title(
        k.name("bc1_preview bc1_thumbnail"), f"Preview of a BC1 texture: {done}; {text}, {said}."
    )


def _see_through(k: KernelBuilder, level: int) -> Title:
    """Which BC1 blocks have transparent texels, and how many, by the bits of their selectors."""
    if k.draw.shape.chance(0.5):
        k.size("num_blocks", 80, 100)
        dims: tuple[str, ...] = ("num_blocks",)
        at = k.thread("num_blocks", names=(k.name("i b"),))
    else:
        k.size("blocks_y", 6, 8)
        k.size("blocks_x", 9, 12)
        dims = ("blocks_y", "blocks_x")
        at = k.thread(*dims, names=("by", "bx"))
    ends = k.array("end_colors endpoints", UINT32, dims, low=0, high=2**32 - 1)
    chosen = k.array("selectors indices", UINT32, dims, low=0, high=2**32 - 1)
    pair, bits = k.let("ends pair", ends[at]), k.let("sel bits", chosen[at])
    threes = k.let("threes both_set", bits & (bits >> 1) & 0x55555555)
    count = cast(fn("bit_count", threes), INT32)
    out = k.out("clear_texels num_transparent", INT32, dims)
    k.store(out, at, where((pair & 65_535) <= (pair >> 16), count, k.lift(0, INT32)))
    text = (
        f"Transparent texels of BC1 blocks: {out.name} gets how many of the 16 selectors of 2 bits "
    )
    text += (
        f"in {chosen.name} are 3 where the lower half of {ends.name} is not above its upper half "
    )
    return Title(
        k.name("bc1_transparent_texels count_transparent"), f"{text}(a block with alpha), else 0."
    )


def _scalar_encode(k: KernelBuilder, level: int) -> Title:
    """BC4 blocks of 8-bit texels: ends at the extremes, the nearest of eight levels."""
    by, bx, image = _texels(k, UINT8)
    low, high = k.let("low lo", k.lift(255, INT32)), k.let("high hi", k.lift(0, INT32))
    with k.for_("t texel", 16) as t:
        v = k.let("v value", cast(image[4 * by + (t >> 2), 4 * bx + (t & 3)], INT32))
        k.assign(low, least(low, v))
        k.assign(high, most(high, v))
    span = k.let("span range_here", high - low)
    word = k.let("block word", cast(high | (low << 8), UINT64))
    with k.for_("t texel", 16) as t:
        v = k.let("v value", cast(image[4 * by + (t >> 2), 4 * bx + (t & 3)], INT32))
        step = k.let("q step", k.lift(0, INT32))
        with k.for_("n bound", 7) as n, k.if_(14 * (v - low) >= (2 * n + 1) * span):
            k.augment(step, "add", 1)
        choice = k.let("sel selector", 8 - step)
        with k.if_(same(step, 7)):
            k.assign(choice, 0)
        with k.elif_(same(step, 0)):
            k.assign(choice, 1)
        k.assign(word, word | (cast(choice, UINT64) << cast(16 + 3 * t, UINT64)))
    out = k.out("blocks encoded", UINT64, ("blocks_y", "blocks_x"))
    k.store(out, (by, bx), word)
    text = (
        f"Encode {image.name} as BC4, a thread for each block of 4 x 4 texels: {out.name} gets the "
    )
    text += "largest texel in byte 0 (high), the smallest in byte 1 (low), and for texel t, row by "
    text += "row, 3 bits from bit 16 + 3 * t on. With q being how many n of 0 to 6 have 14 * (v - "
    text += "low) >= (2 * n + 1) * (high - low), v being the texel, these are 0 for q = 7, 1 for "
    text += "q = 0, else 8 - q."
    return Title(k.name("encode_bc4 bc4_compress"), text)


def _texels(k: KernelBuilder, type_: Scalar) -> tuple[Var, Var, Var]:
    """A thread for each block of an image."""
    k.size("blocks_y", 4, 5)
    k.size("blocks_x", 5, 6)
    by, bx = k.thread("blocks_y", "blocks_x", names=k.draw.word.choice((("by", "bx"), ("v", "u"))))
    dims = ("4*blocks_y", "4*blocks_x")
    image = k.array("image pixels", type_, dims, low=0, high=2**type_.bits - 1)
    return by, bx, image


def _colour_encode(k: KernelBuilder, level: int) -> Title:
    """Colour words of BC3: the box of the colours, and texels by their place on its diagonal."""
    inset = k.draw.shape.chance(0.5)
    by, bx, image = _texels(k, UINT32)
    lows = [k.let(f"{c}_min", k.lift(255, INT32)) for c in "rgb"]
    highs = [k.let(f"{c}_max", k.lift(0, INT32)) for c in "rgb"]
    before = set(k.used)
    with k.for_("t texel", 16) as t:
        for part, low, high in zip(_rgb(k, image, by, bx, t), lows, highs, strict=True):
            k.assign(low, least(low, part))
            k.assign(high, most(high, part))
    if inset:
        moves = [
            k.let(f"{c}_inset", (h - v) >> 4) for c, h, v in zip("rgb", highs, lows, strict=True)
        ]
        for low, high, move in zip(lows, highs, moves, strict=True):
            k.augment(low, "add", move)
            k.augment(high, "sub", move)
    spans = [k.let(f"d{c}", h - low) for c, h, low in zip("rgb", highs, lows, strict=True)]
    norm = k.let("norm len_sq", _dot(spans, spans))
    ends = [(v[0] >> 3 << 11) | (v[1] >> 2 << 5) | (v[2] >> 3) for v in (highs, lows)]
    word = k.let("block word", cast(ends[0], UINT64) | (cast(ends[1], UINT64) << 16))
    k.again(before, *(v.name for v in (*spans, norm, word)))
    with k.for_("t texel", 16) as t:
        parts = _rgb(k, image, by, bx, t)
        gaps = [part - low for part, low in zip(parts, lows, strict=True)]
        along = k.let("along proj", 6 * _dot(gaps, spans))
        choice = k.let("sel selector", k.lift(1, INT32))
        for bound, code in ((5 * norm, 0), (3 * norm, 2), (norm, 3)):
            with k.if_(along >= bound) if code == 0 else k.elif_(along >= bound):
                k.assign(choice, code)
        k.assign(word, word | (cast(choice, UINT64) << cast(32 + 2 * t, UINT64)))
    out = k.out("color_words encoded", UINT64, ("blocks_y", "blocks_x"))
    k.store(out, (by, bx), word)
    return Title(
        k.name("encode_bc3_colors bc3_color_blocks dxt5_box_fit"), _box_told(image, out, inset)
    )


def _dot(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _rgb(k: KernelBuilder, image: Var, by: Expr, bx: Expr, t: Expr) -> list[Expr]:
    p = k.let("p pixel", image[4 * by + (t >> 2), 4 * bx + (t & 3)])
    parts = (p & 255, (p >> 8) & 255, (p >> 16) & 255)
    return [k.let(c, cast(part, INT32)) for c, part in zip("rgb", parts, strict=True)]


def _box_told(image: Var, out: Var, inset: bool) -> str:
    moved = ", each moved inwards by their difference shifted right by 4 bits" * inset
    return (
        f"Encode the colours of {image.name} (RGBA8, red in the lowest byte) as colour words of "
        "BC3, a thread for each block of 4 x 4 texels. The ends are the largest and the smallest "
        f"red, green and blue{moved}; {out.name} gets the large end cut to 5, 6 and 5 bits in bits "
        "11-15, 5-10 and 0-4, the small one likewise in bits 16-31 (ends are not cut in what "
        "follows), and for texel t, row by row, 2 bits from bit 32 + 2 * t on: with d the large "
        "less the small end, g the texel less the small end and a = 6 * dot(g, d), these are 0 "
        "where a >= 5 * dot(d, d), else 2 where a >= 3 * dot(d, d), else 3 where a >= dot(d, d), "
        "else 1."
    )


_FORMS = {
    1: (_endpoints, _see_through),
    2: (_fetch,),
    3: (_fetch, _decode),
    4: (_fetch, _decode, _decode, _scalar_encode),
    5: (_colour_encode, _decode),
}


@idiom
def block_textures(k: KernelBuilder, level: int) -> Title:
    """BC1, BC3 and BC4: end colours, texels at places, whole blocks, encoders."""
    return k.draw.shape.choice(_FORMS[level])(k, level)
