"""Codes of few bits in bytes and words: weights of four bits, and how they are packed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp
from generators.kit.naming import routine
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT8, INT8, UINT32 = Scalar("uint8"), Scalar("int8"), Scalar("uint32")


def _real(k: KernelBuilder, group: tuple[Expr, ...]) -> tuple[Callable[[Expr], Expr], str]:
    """What a code stands for: by a scale and an offset of its group; in words."""
    shape = k.draw.shape
    dims: tuple[str, ...] = ("rows", "groups")
    if shape.chance(0.4):
        dims, group = dims[::-1], group[::-1]
    scales = k.array("scales group_scales", FLOAT32, dims, low=0.01, high=0.1)
    scale = k.let("scale s", scales[group])
    way = shape.weighted({"eight": 3, "zero": 3, "minimum": 2})
    if way == "eight":
        told = f"{scales.name} of the group times (code - 8)"
        if shape.chance(0.5):
            return lambda c: scale * cast(c - 8, FLOAT32), told
        return lambda c: scale * (cast(c, FLOAT32) - 8.0), told
    if way == "zero":
        type_ = INT32 if shape.chance(0.4) else UINT8
        zeros = k.array("zeros zero_points", type_, dims, low=4, high=11)
        zero = k.let("zero z", cast(zeros[group], INT32))
        told = f"{scales.name} of the group times (code - its {zeros.name})"
        return lambda c: scale * cast(c - zero, FLOAT32), told
    minima = k.array("minima group_min", FLOAT32, dims, low=-0.8, high=0.0)
    least = k.let("minimum lowest", minima[group])
    told = f"{scales.name} of the group times the code, plus its {minima.name}"
    if shape.chance(0.5):
        return lambda c: scale * cast(c, FLOAT32) + least, told
    return lambda c: least + cast(c, FLOAT32) * scale, told


def _nibble(k: KernelBuilder, level: int, holder: Scalar) -> Callable[..., Expr]:
    """The four bits of a word from some place on: by a helper, or in place."""

    def bits(_body: BodyBuilder, word: Expr, shift: Expr) -> Expr:
        return cast((word >> shift) & BodyBuilder.lift(15, holder), INT32)

    names = "nibble get_nibble code_at"
    return routine(k, 0.1 + 0.1 * level, names, {"word": holder, "shift": holder}, bits)


@idiom
def unpack_int4(k: KernelBuilder, level: int) -> Title:
    """Weights of four bits, two in a byte or eight in a word, with a scale for each group."""
    shape = k.draw.shape
    word = shape.chance(0.5)
    per, holder = (8, UINT32) if word else (2, UINT8)
    across = shape.chance(0.35)
    k.size("rows", 5, 9)
    k.size("groups", 2, 3)
    k.size("words", 3, 4)
    names = [k.name("row r out_ch"), k.name("w col word_id")]
    whole = ("rows", "groups*words")
    threads = whole[::-1] if across else whole
    at = k.thread(*threads, names=names[::-1] if across else names)
    row, col = at[::-1] if across else at
    packed = k.array("packed qweight", holder, threads, low=0, high=2 ** (4 * per) - 1)
    called = "words_per_group" if word else "bytes_per_group"
    per_group = k.size_param(called, "words")
    group = k.let("group g", col // per_group)
    value = k.let("bits word_bits v", packed[at])
    real, told = _real(k, (row, group))
    wide = ("rows", f"{per}*groups*words")
    out = k.out("weights dequantized w_out", FLOAT32, wide[::-1] if across else wide)
    base = k.let("base first", col * per)

    def store(code: Expr, place: Expr) -> None:
        k.store(out, (place, row) if across else (row, place), real(code))

    _each_code(k, level, value, (per, holder, base), store)
    text = f"Dequantise weights of four bits: each {holder} of {packed.name} holds {per} codes, "
    text += "the lowest first"
    text += " (along axis 0)" if across else ""
    text += f"; {per_group.name} of them in a row make a group. {out.name} gets, for each code, "
    text += f"{told}."
    return Title(k.name("dequantize_int4 unpack_int4 unpack_nibbles"), text)


def _each_code(
    k: KernelBuilder,
    level: int,
    value: Expr,
    layout: tuple[int, Scalar, Expr],
    store: Callable[[Expr, Expr], None],
) -> None:
    """Take the codes out of a word in a loop, or both of a byte one after the other."""
    shape, (per, holder, base) = k.draw.shape, layout
    if per > 2 or shape.chance(0.3):
        nibble = _nibble(k, level, holder)
        with k.for_("n nib e", per) as n:
            slot = cast(4 * n, holder)
            code = nibble(value, k.let("shift pos", slot) if shape.chance(0.4) else slot)
            store(k.let("code q", code) if shape.chance(0.6) else code, base + n)
    else:
        low = k.let("lo_code low_nib", cast(value & k.lift(15, holder), INT32))
        high = k.let("hi_code high_nib", cast(value >> k.lift(4, holder), INT32))
        store(low, base)
        store(high, base + 1)


@dataclass(frozen=True)
class _Word:
    """A thread's word: where it lies among the others, and where its numbers do."""

    at: tuple[Var, ...]
    dims: tuple[str, ...]
    whole: tuple[str, ...]
    axis: int
    base: Expr

    def place(self, n: Expr) -> tuple[Expr, ...]:
        return (*self.at[: self.axis], self.base + n, *self.at[self.axis + 1 :])


def _word(k: KernelBuilder, per: int) -> _Word:
    """Words of a list, along the rows of a matrix, or down its columns."""
    way = k.draw.shape.weighted({"list": 2, "rows": 4, "columns": 3, "stack": 2})
    names = {"rows": "row r i", "words": "w word_id", "batch": "b n"}
    dims = {
        "list": ("words",),
        "rows": ("rows", "words"),
        "columns": ("words", "rows"),
        "stack": ("batch", "rows", "words"),
    }[way]
    sizes = {"batch": (2, 3), "rows": (3, 4), "words": (6, 9) if way == "list" else (2, 3)}
    for symbol in dims:
        k.size(symbol, *sizes[symbol])
    at = k.thread(*dims, names=[k.name(names[d]) for d in dims])
    axis = dims.index("words")
    whole = tuple(f"{per}*words" if d == "words" else d for d in dims)
    return _Word(at, dims, whole, axis, k.let("base first", at[axis] * per))


def _coder(k: KernelBuilder, w: _Word, bits: int) -> tuple[Callable[[Expr], Expr], str]:
    """What gives the code of the n-th real number of a word, and what it is in words."""
    shape, top = k.draw.shape, 2**bits - 1
    x = k.array("weights x values", FLOAT32, w.whole, low=-2.5, high=2.5)
    # Among so many, a half moved by a unit in its last place would get another code.
    k.exact.add(x.name)
    low, high = (0.12, 0.18) if bits == 4 else (0.4, 0.7)
    if len(w.dims) > 1 and shape.chance(0.5):
        row = w.at[w.dims.index("rows")]
        scales = k.array("scales row_scales", FLOAT32, "rows", low=low, high=high)
        k.exact.add(scales.name)
        scale, told = k.let("scale s", scales[row]), f"{scales.name} of the row"
    else:
        scale = k.scalar("scale step", FLOAT32, low, high)
        told = scale.name
    inverse = shape.chance(0.4)
    factor = k.let("inv_scale inv", 1.0 / scale) if inverse else scale
    way = "rint" if shape.chance(0.6) else "round"
    zero: Expr = k.lift(2 ** (bits - 1), INT32)
    plus = f" + {2 ** (bits - 1)}"
    if shape.chance(0.4):
        lowest, highest = (4, 11) if bits == 4 else (0, 3)
        zero = k.scalar("zero_point zero", INT32, lowest, highest)
        plus = f" + {k.params[-1].name}"
    branches = shape.chance(0.3)

    def code(n: Expr) -> Expr:
        value = x[w.place(n)]
        near = fn(way, value * factor if inverse else value / factor)
        shifted = k.let("code", cast(near, INT32) + zero)
        if branches:
            with k.if_(shifted < 0):
                k.assign(shifted, 0)
            with k.elif_(shifted > top):
                k.assign(shifted, top)
            return cast(shifted, UINT32)
        return cast(clamp(shifted, 0, top), UINT32)

    return code, f"round({x.name} / {told}){plus}, held within 0 and {top}"


def _stored_code(codes: Var, w: _Word, n: Expr) -> Expr:
    return cast(codes[w.place(n)], UINT32)


@idiom
def pack_low_bits(k: KernelBuilder, level: int) -> Title:
    """Numbers as codes of four or two bits, several in a byte or word."""
    shape = k.draw.shape
    bits, holder = shape.choice((4, 4, 2)), shape.choice((UINT8, UINT32))
    per = holder.bits // bits
    w = _word(k, per)
    if shape.chance(0.45):
        codes = k.array("codes q quantized", UINT8, w.whole, low=0, high=2**bits - 1)
        told = codes.name

        code: Callable[[Expr], Expr] = partial(_stored_code, codes, w)
    else:
        code, told = _coder(k, w, bits)
    word = k.let("word packed_bits acc", k.lift(0, UINT32))
    backwards = shape.chance(0.25)
    with k.for_("n slot e", per) as n:
        if backwards:
            k.assign(word, (word << k.lift(bits, UINT32)) | code(n))
        elif shape.chance(0.6):
            k.assign(word, word | (code(n) << cast(bits * n, UINT32)))
        else:
            k.augment(word, "add", code(n) << cast(bits * n, UINT32))
    out = k.out("packed words_out qweight", holder, w.dims)
    k.store(out, w.at, cast(word, holder))
    verb = "Quantise and pack" if "round(" in told else "Pack"
    text = f"{verb} {per} codes of {bits} bits, {told}, into each {holder} of {out.name}"
    text += f" (along axis {w.axis})" if w.axis != len(w.dims) - 1 else ""
    text += ", the first in the highest bits." if backwards else ", the first in the lowest bits."
    kinds = f"pack_codes pack_uint{bits}" if "round(" not in told else f"quantize_pack{bits}"
    return Title(k.name(kinds), text)
