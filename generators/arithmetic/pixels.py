"""Pixels packed into words: RGB565, RGBA8888 and their relatives, packed and unpacked."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT32,
    INT32,
    UINT8,
    UINT16,
    UINT32,
    Given,
    Grid,
    elements,
    grid,
    local,
    named,
    tuned_limit,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr

FORMATS: dict[str, tuple[Scalar, tuple[tuple[str, int, int], ...]]] = {
    "rgb565": (UINT16, (("r", 11, 5), ("g", 5, 6), ("b", 0, 5))),
    "bgr565": (UINT16, (("b", 11, 5), ("g", 5, 6), ("r", 0, 5))),
    "argb1555": (UINT16, (("a", 15, 1), ("r", 10, 5), ("g", 5, 5), ("b", 0, 5))),
    "rgba4444": (UINT16, (("r", 12, 4), ("g", 8, 4), ("b", 4, 4), ("a", 0, 4))),
    "rgba8888": (UINT32, (("r", 24, 8), ("g", 16, 8), ("b", 8, 8), ("a", 0, 8))),
    "abgr8888": (UINT32, (("a", 24, 8), ("b", 16, 8), ("g", 8, 8), ("r", 0, 8))),
    "bgrx8888": (UINT32, (("b", 24, 8), ("g", 16, 8), ("r", 8, 8))),
    "rgb10a2": (UINT32, (("r", 22, 10), ("g", 12, 10), ("b", 2, 10), ("a", 0, 2))),
    "la88": (UINT16, (("l", 8, 8), ("a", 0, 8))),
    "rgb332": (UINT8, (("r", 5, 3), ("g", 2, 3), ("b", 0, 2))),
}


Layout = tuple[tuple[str, int, int], ...]


def described(layout: Layout) -> str:
    return ", ".join(f"{c} in {bits} bits from bit {at}" for c, at, bits in layout)


def joined(parts: list[Expr], layout: Layout) -> Expr:
    word: Expr | None = None
    for part, (_, at, _) in zip(parts, layout, strict=True):
        shifted = part << at if at else part
        word = shifted if word is None else word | shifted
    assert word is not None
    return word


def field(k: BodyBuilder, word: Expr, at: int, bits: int, total: int) -> Expr:
    shifted = word >> at if at else word
    return shifted if at + bits == total else shifted & (2**bits - 1)


def repacked(k: KernelBuilder, level: int, g: Grid, name: str) -> Title:
    """Two images of one format, blended channel by channel and packed again."""
    word, layout = FORMATS[name]
    high = 2**word.bits - 1
    wanted = [((n, f"{n}_px"), word, 0, high) for n in ("front", "back")]
    front, back = elements(k, wanted, g, "PixelPair", 0.3)
    out = k.out("blended mixed result", word, g.sizes)
    form = k.draw.shape.choice(("average", "mix", "brighter", "darker", "gap"))
    share = tuned_limit(k, FLOAT32, 0.2, 0.8) if form == "mix" else None
    a = local(k, "a src", front.value)
    b = local(k, "b dst", back.value)

    def build(body: BodyBuilder, p: Expr, q: Expr, *weight: Expr) -> Expr:
        if form == "average":
            return (p + q + 1) >> 1
        if form in ("brighter", "darker"):
            return fn("max" if form == "brighter" else "min", p, q)
        if form == "gap":
            return fn("max", p, q) - fn("min", p, q)
        assert isinstance(p.type, Scalar)
        blend = fn("lerp", cast(q, FLOAT32), cast(p, FLOAT32), weight[0])
        return cast(blend + 0.5, p.type)

    parts: list[Expr] = []
    wide = UINT32
    call = ""
    for letter, at, bits in layout:
        pair = [cast(field(k, v, at, bits, word.bits), wide) for v in (a, b)]
        pair += [share.value] if share else []
        if not call and k.draw.shape.chance(0.5):
            params = [(n, v.type) for n, v in zip(("p", "q", "weight"), pair, strict=False)]
            call = helper(k, "mix_channel blend_channel", params, build)
        value = k.call(call, *pair) if call else build(k, *pair)
        parts.append(named(k, (letter, f"{letter}_mix"), value, 0.6))
    packed = cast(joined(parts, layout), word)
    rule = {
        "average": "(p + q + 1) >> 1",
        "brighter": "max(p, q)",
        "darker": "min(p, q)",
        "gap": "|p - q|",
        "mix": f"q + {share.text if share else ''} * (p - q) + 0.5, truncated",
    }[form]
    done = (
        f"Combine the {name} pixels ({described(layout)}) of {front.text} (p) and {back.text} (q)"
    )
    k.store(out, g.at, packed)
    return Title(
        k.name(f"blend_{name} combine_pixels mix_{name}"),
        f"{done} (q) channel by channel: {rule}. Store them packed again in {out.name}.",
    )


_WORDS = {"r": "red", "g": "green", "b": "blue", "a": "alpha", "l": "luma"}


@idiom
def pixel_packing(k: KernelBuilder, level: int) -> Title:
    """Pack channels into pixel words, or unpack, convert and re-pack pixel words."""
    shape = k.draw.shape
    name = shape.choice(sorted(FORMATS))
    word, layout = FORMATS[name]
    g = grid(k, {1: 2, 2: 4, 3: 1})
    form = shape.choice(("pack", "unpack", "unpack") if level < 3 else ("pack", "unpack", "repack"))
    if form == "pack":
        return _packed(k, level, g, name, word, layout)
    if form == "unpack":
        return _unpacked(k, level, g, name, word, layout)
    return repacked(k, level, g, name)


def _packed(
    k: KernelBuilder, level: int, g: Grid, name: str, word: Scalar, layout: Layout
) -> Title:
    """From channels in bytes or in [0, 1] to words."""
    real = k.draw.shape.chance(0.5)
    source, high = (FLOAT32, 1.0) if real else (UINT8, 255)
    out = k.out("pixels packed words", word, g.sizes)
    beyond = 0.1 if real and level > 1 else 0
    wanted = [((c, _WORDS[c]), source, -beyond, high + beyond) for c, _, _ in layout]
    found = elements(k, wanted, g, "Color Rgb Texel", 0.15 if level < 3 else 0.4)
    gain = tuned_gain(k, level, real)
    parts = [
        _quantised(k, level, f, part, word, gain) for f, part in zip(found, layout, strict=True)
    ]
    how = "clamped to [0, 1] and scaled" if real and level > 1 else "scaled"
    how = f"{how} to its largest value, 0.5 added and truncated" if real else "its upper bits kept"
    done = f"Pack {', '.join(f.text for f in found)} into {name} words ({described(layout)})"
    done += f", each channel {how}"
    if gain is not None:
        done += f", after a multiplication by {gain.text}"
    value = joined(parts, layout)
    if level >= 4:
        value = k.let("pixel word", value)
        done += _shown(k, level, found, g, real)
    k.store(out, g.at, value)
    return Title(k.name(f"pack_{name} to_{name} pack_pixels"), f"{done}, in {out.name}.")


def tuned_gain(k: KernelBuilder, level: int, real: bool) -> Given | None:
    if level < 2 or not real or k.draw.shape.chance(0.5):
        return None
    gain = k.scalar("exposure gain", FLOAT32, 0.8, 1.2)
    return Given(gain, gain.name)


def _quantised(
    k: KernelBuilder,
    level: int,
    f: Given,
    part: tuple[str, int, int],
    word: Scalar,
    gain: Given | None,
) -> Expr:
    letter, _, bits = part
    top = float(2**bits - 1)
    if f.value.type != FLOAT32:
        byte = f.value >> (8 - bits) if bits < 8 else f.value
        if bits <= 8:
            return cast(named(k, f"{letter}_bits q{letter}", byte, 0.4), word)
        return cast(f.value, word) << (bits - 8)
    value = gain.value * f.value if gain is not None else f.value

    def build(body: BodyBuilder, x: Expr) -> Expr:
        clamped = fn("clamp", x, 0.0, 1.0) if level > 1 else x
        return cast(clamped * top + 0.5, word)

    if level >= 3 and k.draw.shape.chance(0.6):
        names = f"quantize{bits} to_unorm{bits}"
        known = [function.name for function in k.functions if function.name in names]
        return k.call(known[0] if known else helper(k, names, [("x", FLOAT32)], build), value)
    return k.let(f"{letter}_bits q{letter}", build(k, value))


def _shown(k: KernelBuilder, level: int, found: list[Given], g: Grid, real: bool) -> str:
    """The luminance as a second output."""
    if not real or len(found) < 3:
        bright = k.out("brightest max_channel", found[0].value.type, g.sizes)
        top = found[0].value
        for f in found[1:]:
            top = fn("max", top, f.value)
        k.store(bright, g.at, top)
        return f", the largest of the channels in {bright.name}"
    luma = k.out("luma luminance", FLOAT32, g.sizes)
    weights = {"r": 0.2126, "g": 0.7152, "b": 0.0722}
    terms = [weights[f.text[0]] * f.value for f in found if f.text[0] in weights]
    k.store(luma, g.at, sum(terms[1:], terms[0]))
    return f", 0.2126 * r + 0.7152 * g + 0.0722 * b of the inputs in {luma.name}"


def _unpacked(
    k: KernelBuilder, level: int, g: Grid, name: str, word: Scalar, layout: Layout
) -> Title:
    """From words to channels in bytes, integers or [0, 1]."""
    shape = k.draw.shape
    pixels = k.array("pixels packed texels", word, g.sizes, low=0, high=2**word.bits - 1)
    target = shape.choice(
        (FLOAT32, FLOAT32, UINT8, INT32) if level < 3 else (FLOAT32, FLOAT32, UINT8)
    )
    kept = [p for p in layout if target != UINT8 or p[2] <= 8]
    if level == 1:
        kept = shape.sample(kept, min(len(kept), 2))
    outs = [k.out((c, f"{c}_out", _WORDS[c]), target, g.sizes) for c, _, _ in kept]
    pixel = k.let("pixel word px", pixels[g.at])
    fields = [field(k, pixel, at, bits, word.bits) for _, at, bits in kept]
    values = [_widened(k, level, f, p, target) for f, p in zip(fields, kept, strict=True)]
    form = "over its largest value" if target == FLOAT32 else "as an integer"
    if target == UINT8 and level >= 3:
        form = "with its bits repeated to fill a byte"
    places = ", ".join(f"{p[0]} to {o.name}" for p, o in zip(kept, outs, strict=True))
    done = f"Unpack {name} words ({described(layout)}) from {pixels.name}: {places}, each {form}"
    if target == FLOAT32 and level >= 2:
        values, more = _graded(k, level, values)
        done += more
    for out, value in zip(outs, values, strict=True):
        k.store(out, g.at, value)
    return Title(k.name(f"unpack_{name} from_{name} unpack_pixels"), f"{done}.")


def _widened(
    k: KernelBuilder, level: int, value: Expr, part: tuple[str, int, int], target: Scalar
) -> Expr:
    letter, _, bits = part
    if target == UINT8 and level >= 3 and bits < 8:
        return _replicated(k, letter, cast(value, target), bits)
    if target != FLOAT32:
        return cast(value, target)
    top = float(2**bits - 1)
    return named(k, f"f{letter} {letter}_lin", cast(value, FLOAT32) / top, 0.5)


def _replicated(k: KernelBuilder, letter: str, value: Expr, bits: int) -> Expr:
    """A channel of few bits spread over a byte."""
    if bits == 1:
        return value * 255
    v = k.let(f"{letter}{bits} v{letter}", value)
    if bits == 2:
        return v * 85
    if bits == 3:
        return (v << 5) | (v << 2) | (v >> 1)
    return (v << (8 - bits)) | (v >> (2 * bits - 8))


def _graded(k: KernelBuilder, level: int, values: list[Expr]) -> tuple[list[Expr], str]:
    """Decode a transfer curve, raise contrast, or premultiply."""
    form = k.draw.shape.choice(("none", "square", "srgb", "contrast", "invert"))
    if form == "none" and level < 3:
        return values, ""
    if form == "invert":
        return [1.0 - v for v in values], ", inverted (1 - v)"
    if form in ("square", "none"):
        values = [local(k, "v linear", v) for v in values]
        return [v * v for v in values], ", squared"
    if form == "contrast":
        gain = k.scalar("contrast slope", FLOAT32, 1.2, 1.8)
        return [fn("clamp", gain * (v - 0.5) + 0.5, 0.0, 1.0) for v in values], (
            f", then clamp({gain.name} * (v - 0.5) + 0.5, 0, 1)"
        )

    def build(body: BodyBuilder, v: Expr) -> Expr:
        return fn("where", v < 0.04045, v / 12.92, fn("pow", (v + 0.055) / 1.055, 2.4))

    call = helper(k, "srgb_to_linear decode_srgb", [("v", FLOAT32)], build)
    return [k.call(call, v) for v in values], (
        ", then decoded from sRGB (v / 12.92 below 0.04045, else ((v + 0.055) / 1.055)^2.4)"
    )
