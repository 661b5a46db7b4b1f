"""Pixels: words of several channels packed, unpacked and mixed; blends of 8-bit images."""

from __future__ import annotations

from generators.arithmetic.common import alike, total
from generators.arithmetic.types import UINT8, UINT16, UINT32
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import clamp, least, most, where
from generators.kit.naming import evaluated, held, helper, maybe, routine
from generators.kit.records import Record, record
from generators.kit.sites import Site, launch
from generators.kit.sources import setting
from generators.kit.words import listed, say
from generators.program.dtypes import FLOAT32, INT32, Scalar, scalar_of
from generators.program.expr import Expr

Layout = tuple[tuple[str, int, int], ...]
"""The channels of a pixel: letter, lowest bit, number of bits."""

FORMATS: dict[str, tuple[Scalar, Layout]] = {
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
_WORDS = {"r": "red", "g": "green", "b": "blue", "a": "alpha", "l": "luma"}
_LUMA = {"r": 0.2126, "g": 0.7152, "b": 0.0722}


@idiom(depth=3)
def pixel_packing(k: KernelBuilder, level: int) -> Title:
    """Pack channels into pixel words, or unpack, convert and re-pack pixel words."""
    shape = k.draw.shape
    name = shape.choice(sorted(FORMATS))
    s = launch(k, list=1, grid=12)
    ways = (_packed, _unpacked, _unpacked if level < 3 else _repacked)
    return shape.choice(ways)(s, level, name)


def _described(layout: Layout) -> str:
    return ", ".join(
        f"{c} in {bits} bits from bit {at}" if bits > 1 else f"{c} in bit {at}"
        for c, at, bits in layout
    )


def _joined(parts: list[Expr], layout: Layout) -> Expr:
    shifted = [part << at if at else part for part, (_, at, _) in zip(parts, layout, strict=True)]
    word = shifted[0]
    for part in shifted[1:]:
        word = word | part
    return word


def _channel(word: Expr, at: int, bits: int) -> Expr:
    shifted = word >> at if at else word
    whole = at + bits == scalar_of(word.type).bits
    return shifted if whole else shifted & (2**bits - 1)


_MIXES = (
    *formulas(
        average=lambda p, q: (p + q + 1) >> 1,
        brighter=lambda p, q: most(p, q),
        darker=lambda p, q: least(p, q),
        gap=lambda p, q: most(p, q) - least(p, q),
    ),
    Formula(
        "mix",
        "",
        lambda p, q, w: cast(fn("lerp", cast(q, FLOAT32), cast(p, FLOAT32), w) + 0.5, UINT32),
        "{q} + {w} * ({p} - {q}) + 0.5, truncated",
    ),
)


def _repacked(s: Site, level: int, name: str) -> Title:
    """Two images of one format, blended channel by channel and packed again."""
    k = s.k
    word, layout = FORMATS[name]
    top = 2**word.bits - 1
    parts = alike(word, 0, top, front="front front_px", back="back back_px")
    r = record(s, "PixelPair", parts, 0.3)
    formula = k.draw.shape.choice(_MIXES)
    share = setting(k, "share opacity", FLOAT32, 0.2, 0.8) if "w" in formula.keys else None
    a, b = held(k, "a src", r["front"]), held(k, "b dst", r["back"])
    types = dict(zip(formula.keys, (UINT32, UINT32, FLOAT32), strict=False))
    mixed = routine(k, 0.8, "mix_channel blend_channel", types, formula.build)
    values: list[Expr] = []
    named = k.draw.shape.chance(0.6)
    for letter, at, bits in layout:
        pair = [cast(_channel(v, at, bits), UINT32) for v in (a, b)]
        value = mixed(*pair, *([share] if share is not None else []))
        values.append(k.let(f"{letter}_mix", value) if named else value)
    out = s.put("blended mixed result", cast(_joined(values, layout), word))
    rule = formula.said({"p": "p", "q": "q", "w": say(k, share) if share is not None else ""})
    done = f"Combine the {name} pixels ({_described(layout)}) of {r.say('front')} (p) and "
    done += f"{r.say('back')} (q) channel by channel: {rule}. {out.name} gets them packed again."
    return Title(k.name(f"blend_{name} combine_pixels mix_{name}"), done)


def _packed(s: Site, level: int, name: str) -> Title:
    """From channels in bytes or in [0, 1] to words."""
    k, shape = s.k, s.k.draw.shape
    word, layout = FORMATS[name]
    real = shape.chance(0.5) or any(bits > 8 for _, _, bits in layout)
    beyond = 0.1 if real and level > 1 else 0
    source, top = (FLOAT32, 1.0) if real else (UINT8, 255)
    long = k.draw.word.choice((False, True))
    names = {c: _WORDS[c] if long else c for c, _, _ in layout}
    parts = alike(source, -beyond, top + beyond, **names)
    r = record(s, "Color Rgb Texel", parts, 0.15 if level < 3 else 0.4)
    gain = None
    if level >= 2 and real and shape.chance(0.5):
        gain = k.scalar("exposure gain", FLOAT32, 0.8, 1.2)
    brought = r.values if gain is None else {c: gain * value for c, value in r.values.items()}
    packs = _quantised if real else _bits
    values = [packs(k, level, brought[part[0]], part, word) for part in layout]
    how = "clamped to [0, 1] and scaled" if level > 1 else "scaled"
    how = f"{how} to its largest value, 0.5 added and truncated" if real else "its upper bits kept"
    texts = listed([r.say(key) for key in parts])
    done = f"Pack {texts} into {name} words ({_described(layout)}), each channel {how}"
    done += f", after a multiplication by {gain.name}" if gain is not None else ""
    value = _joined(values, layout)
    if level >= 4:
        value = k.let("pixel word", value)
        done += _brightness(s, r)
    out = s.put("pixels packed words", value)
    return Title(k.name(f"pack_{name} to_{name} pack_pixels"), f"{done}. {out.name} gets it.")


def _bits(
    k: KernelBuilder, level: int, byte: Expr, part: tuple[str, int, int], word: Scalar
) -> Expr:
    """A byte as a channel of other width."""
    letter, _, bits = part
    if bits > 8:
        return cast(byte, word) << (bits - 8)
    short = byte >> (8 - bits) if bits < 8 else byte
    return cast(maybe(k, f"{letter}_bits q{letter}", short, 0.4), word)


def _quantised(
    k: KernelBuilder, level: int, value: Expr, part: tuple[str, int, int], word: Scalar
) -> Expr:
    """A real channel as a whole number."""
    letter, _, bits = part

    def build(body: BodyBuilder, x: Expr) -> Expr:
        clamped = clamp(x, 0.0, 1.0) if level > 1 else x
        return cast(clamped * float(2**bits - 1) + 0.5, word)

    if level < 3 or not k.draw.shape.chance(0.6):
        return k.let(f"{letter}_bits q{letter}", build(k, value))
    names = (f"quantize{bits}", f"to_unorm{bits}")
    known = [function.name for function in k.functions if function.name in names]
    return k.call(known[0] if known else helper(k, names, [("x", FLOAT32)], build), value)


def _brightness(s: Site, r: Record) -> str:
    """The luminance as a second output, or the largest channel."""
    shown = [key for key in r.values if key in _LUMA]
    if scalar_of(r[next(iter(r.values))].type) == FLOAT32 and shown:
        value = total([_LUMA[key] * r[key] for key in shown])
        return f", and {s.put('luma luminance', value).name} gets {say(s.k, value)} of the inputs"
    out = s.put("brightest max_channel", most(*r.values.values()))
    return f", and {out.name} gets the largest of the inputs"


def _unpacked(s: Site, level: int, name: str) -> Title:
    """From words to channels in bytes, integers or [0, 1]."""
    k, shape = s.k, s.k.draw.shape
    word, layout = FORMATS[name]
    pixels = s.read("pixels packed texels", word, 0, 2**word.bits - 1)
    target = shape.choice((FLOAT32, FLOAT32, UINT8, INT32)[: 4 if level < 3 else 3])
    if target == UINT8 and any(bits > 8 for _, _, bits in layout):
        target = INT32
    kept = layout
    pixel = k.let("pixel word px", pixels)
    named = shape.chance(0.5)
    values = [_widened(k, level, _channel(pixel, *part[1:]), part, target, named) for part in kept]
    form = "over its largest value" if target == FLOAT32 else "as an integer"
    if target == UINT8 and level >= 3:
        form = "with its bits repeated to fill a byte"
    more = ""
    if target == FLOAT32 and level >= 2:
        values, more = _graded(k, level, dict(zip([c for c, _, _ in kept], values, strict=True)))
    places = []
    style = k.draw.word.choice(("{0}", "{0}_out", "{1}"))
    for (c, _, _), value in zip(kept, values, strict=True):
        places.append(f"{c} to {s.put([style.format(c, _WORDS[c])], value).name}")
    done = f"Unpack {name} words ({_described(layout)}) from {say(k, pixels)}: {listed(places)}, "
    return Title(k.name(f"unpack_{name} from_{name} unpack_pixels"), f"{done}each {form}{more}.")


def _widened(
    k: KernelBuilder,
    level: int,
    value: Expr,
    part: tuple[str, int, int],
    target: Scalar,
    named: bool,
) -> Expr:
    """A channel as a real number, an integer or a byte, spread over all its bits."""
    letter, _, bits = part
    if target == FLOAT32:
        real = cast(value, FLOAT32) / float(2**bits - 1) if bits > 1 else cast(value, FLOAT32)
        return k.let([f"{letter}_unit"], real) if named else real
    value = cast(value, target)
    if target != UINT8 or level < 3 or bits == 8:
        return value
    if bits == 1:
        return value * 255
    v = k.let([f"{letter}{bits}"], value)
    if bits == 2:
        return v * 85
    if bits == 3:
        return (v << 5) | (v << 2) | (v >> 1)
    low = v >> (2 * bits - 8) if bits > 4 else v
    return (v << (8 - bits)) | low


_GRADES = formulas(
    invert=lambda v: 1.0 - v,
    square=lambda v: v * v,
    contrast=lambda v, slope: clamp(slope * (v - 0.5) + 0.5, 0.0, 1.0),
    srgb_to_linear=lambda v: where(v < 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4),
)


def _graded(k: KernelBuilder, level: int, values: dict[str, Expr]) -> tuple[list[Expr], str]:
    """Colours inverted, squared, with more contrast, or decoded from sRGB; alpha stays as it is."""
    grade = k.draw.shape.choice((*_GRADES, None) if level < 3 else (*_GRADES, _GRADES[1]))
    if grade is None:
        return list(values.values()), ""
    slope = [k.scalar("contrast slope", FLOAT32, 1.2, 1.8)] if "slope" in grade.keys else []
    if grade.reads("v") > 1:
        values = {c: v if c == "a" else held(k, [f"{c}_unit"], v) for c, v in values.items()}
    chance = 1.0 if grade.name == "srgb_to_linear" else 0.0
    types = dict.fromkeys(grade.keys, FLOAT32)
    code = routine(k, chance, "srgb_to_linear decode_srgb", types, grade.build)
    text = grade.said({"v": "v", "slope": say(k, slope[0]) if slope else ""})
    graded = [v if c == "a" else code(v, *slope) for c, v in values.items()]
    colours = " but alpha" if "a" in values else ""
    return graded, f"; each such v{colours} becomes {text}"


_BLENDS = formulas(
    over=("alpha_over composite_over blend_over", lambda s, d, al: s * al + d * (255 - al)),
    multiply=("multiply_blend multiply_images", lambda s, d: s * d),
    screen=("screen_blend screen_bytes", lambda s, d: 65025 - (255 - s) * (255 - d)),
    lerp=("crossfade mix_images lerp_bytes", lambda al, s, d: d * (255 - al) + s * al),
    add=("additive_blend add_images", lambda s, d: s + d),
    premultiply=("premultiply_alpha apply_alpha", lambda s, al: s * al),
)
_PURPOSES = {
    "over": "Alpha-composite the 8-bit images {images}, the first over the second",
    "multiply": "Multiply the 8-bit images {images}",
    "screen": "Screen-blend the 8-bit images {images}",
    "lerp": "Crossfade between the 8-bit images {images}",
    "add": "Add the 8-bit images {images}, saturating",
    "premultiply": "Premultiply a channel {images} of an 8-bit image by its alpha",
}
"""What each blend does to its images."""
_BYTES = {"s": "src front top", "d": "dst back base", "al": "alpha coverage opacity"}


def _short(name: str, key: str) -> str:
    """What a byte of an image is called: by the first letter of the image's name, but alpha."""
    return key if key == "al" else name[0]


def _exact(body: BodyBuilder, t: Expr) -> Expr:
    u = body.let("u biased", t + 128)
    return (u + (u >> 8)) >> 8


_REDUCTIONS = formulas(
    div255=lambda t: t // 255,
    exact_div255=_exact,
    round_div255=lambda t: (t + 127) // 255,
)


@idiom(depth=2)
def byte_blend(k: KernelBuilder, level: int) -> Title:
    """Blends of 8-bit images in integers: over, multiply, screen, crossfade; division by 255."""
    shape = k.draw.shape
    s = launch(k, grid=12, list=1)
    blend = shape.choice(_BLENDS)
    wide = UINT32 if blend.name == "add" else shape.choice((UINT32, UINT32, UINT16, INT32))
    pair = k.draw.word.choice((0, 1, 2))
    names = {key: _BYTES[key].split()[pair] for key in _BYTES if key in blend.keys}
    if blend.name == "premultiply":
        names = {"s": "color", "al": "alpha"}
    parts = alike(UINT8, 0, 255, **names)
    r = record(s, "Texel Layer", parts, 0.0)
    raw = blend.of(k, {key: held(k, _short(names[key], key), cast(r[key], wide)) for key in parts})
    text = blend.said({key: r.say(key) for key in parts})
    images = listed([r.say(key) for key in parts if key != "al"])
    done = f"{_PURPOSES[blend.name].format(images=images)}: in {wide}, let t = {text}; "
    if blend.name == "add":
        value, done = least(raw, 255), f"{done}take min(t, 255)."
    else:
        reduction = shape.choice(_REDUCTIONS[: 1 if wide == UINT16 else 3])
        if reduction.reads("t") > 1:
            raw = held(k, "t weighted", raw)
        value = evaluated(k, 0.5 * (reduction.name == "exact_div255"), reduction, {"t": raw})
        done += f"take {reduction.said({'t': 't'})} as a byte."
    result = cast(value, UINT8)
    out = s.put("blended result" if blend.name != "premultiply" else "premultiplied", result)
    return Title(k.name(blend.outs), f"{done} Store it in {out.name}.")
