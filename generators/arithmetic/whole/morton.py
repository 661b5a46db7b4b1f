"""Morton codes: the bits of two or three coordinates interleaved, and taken apart again."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.common import alike
from generators.arithmetic.types import UINT16, UINT32, UINT64
from generators.build import BodyBuilder, KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, where
from generators.kit.naming import held, routine
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.words import listed, say
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, literal

_SPREAD = {
    (2, 32): (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ),
    (3, 21): (
        (32, 0x001F00000000FFFF),
        (16, 0x001F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ),
    (2, 16): ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)),
    (3, 10): ((16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249)),
    (2, 8): ((4, 0x0F0F), (2, 0x3333), (1, 0x5555)),
    (3, 5): ((8, 0x100F), (4, 0x10C3), (2, 0x1249)),
}
"""Shifts and masks that spread the bits of a number, by axes and bits of each."""


@dataclass(frozen=True)
class Code:
    """How many axes a Morton code has, how many bits of each, and its type."""

    axes: int
    bits: int
    type: Scalar

    @property
    def top(self) -> int:
        """The largest coordinate."""
        return 2**self.bits - 1

    @property
    def letters(self) -> str:
        return "xyz"[: self.axes]

    def spread(self, b: BodyBuilder, x: Expr, masked: bool) -> Expr:
        """The bits of ``x`` with ``axes - 1`` zeros between any two."""
        v = b.let("v s spread", x & self.top if masked else x)
        for shift, mask in _SPREAD[self.axes, self.bits]:
            b.assign(v, (v | (v << shift)) & mask)
        return v

    def spread_by_loop(self, b: BodyBuilder, x: Expr) -> Expr:
        """What :meth:`spread` gives, by a loop over the bits of ``x``."""
        code = b.let("code_part acc z_bits", literal(0, self.type))
        with b.for_("bit b_i", self.bits) as bit:
            at = b.let("at shift", cast(bit, self.type))
            b.assign(code, code | (((x >> at) & 1) << (at * self.axes)))
        return code

    def compact(self, b: BodyBuilder, x: Expr) -> Expr:
        """Every second or third bit of ``x``, close together."""
        steps = _SPREAD[self.axes, self.bits]
        v = b.let("v s packed", x & steps[-1][1])
        masks = [mask for _, mask in steps[-2::-1]] + [self.top]
        for (shift, _), mask in zip(reversed(steps), masks, strict=True):
            b.assign(v, (v | (v >> shift)) & mask)
        return v


@idiom(depth=3)
def morton_code(k: KernelBuilder, level: int) -> Title:
    """Morton codes of integer or real coordinates in two or three dimensions, or their inverse."""
    shape = k.draw.shape
    axes = shape.choice((2, 3))
    type_ = shape.weighted({UINT32: 5, UINT64: 1 + (level > 2), UINT16: 1})
    # As many bits as the type holds of each coordinate.
    code = Code(axes, type_.bits // axes, type_)
    s = launch(k, list=1)
    return (_decoded if shape.chance(0.4) else _encoded)(s, level, code)


def _encoded(s: Site, level: int, c: Code) -> Title:
    """Codes of coordinates."""
    k, shape = s.k, s.k.draw.shape
    coords, done = _coordinates(s, level, c)
    by_loop = c.bits <= 10 and shape.chance(0.3)
    masked = shape.chance(0.5)

    def build(b: BodyBuilder, x: Expr) -> Expr:
        return c.spread_by_loop(b, x) if by_loop else c.spread(b, x, masked)

    names = f"expand_bits part1by{c.axes - 1} spread_bits"
    spread = routine(k, 1.0, names, {"x": c.type}, build)
    parts: list[Expr] = [spread(x) for x in coords]
    if shape.chance(0.5):
        parts = [k.let(f"{n}_bits", x) for n, x in zip(c.letters, parts, strict=True)]
    x_lowest = shape.chance(0.6)
    parts = parts if x_lowest else parts[::-1]
    code = parts[0]
    for axis, part in enumerate(parts[1:], start=1):
        code = code | (part << axis)
    bits = f"the lowest {c.bits} bits" if masked or by_loop else f"the {c.bits} bits"
    done += f" Interleave {bits} of each coordinate to a Morton code, "
    done += f"{'x' if x_lowest else c.letters[-1]} lowest."
    if level >= 4:
        code, more = _with_cells(s, level, c, code)
        done += more
    done += f" Store it in {s.put('codes morton keys', code).name}."
    return Title(k.name(f"morton_encode morton_{c.axes}d z_order_keys"), done)


def _coordinates(s: Site, level: int, c: Code) -> tuple[list[Expr], str]:
    """Whole coordinates, or the cells of real ones."""
    k = s.k
    # A real number has 24 bits.
    real = level >= 3 and c.bits < 24 and k.draw.shape.chance(0.5)
    whole = UINT32 if c.type == UINT64 else c.type
    source = FLOAT32 if real else k.draw.shape.choice((whole, INT32))
    style = k.draw.word.choice(("{}s", "pos_{}", "p{}") if real else ("{}s", "cell_{}", "{}_idx"))
    names = {n: style.format(n) for n in c.letters}
    low, high = (-1.0, 1.0) if real else (0, min(c.top, source.int_range[1]))
    parts = alike(source, low, high, **names)
    r = record(s, "Cell Voxel Point", parts, 0.15 if level < 3 else 0.4)
    texts = listed([r.say(n) for n in parts])
    if not real:
        values = [held(k, f"{n}i u{n}", cast(r[n], c.type)) for n in parts]
        return values, f"Morton codes of the cells whose coordinates are {texts}."
    frame = {
        "low": Part("lower origin", FLOAT32, -0.9, -0.8),
        "scale": Part("inv_cell cells_per_unit", FLOAT32, c.top * 0.53, c.top * 0.55),
    }
    f = record(s, "Bounds GridFrame", frame, 0.5, shared=True)
    coords: list[Expr] = []
    for n in parts:
        scaled = k.let(f"f{n} scaled_{n}", (r[n] - f["low"]) * f["scale"])
        coords.append(k.let(f"{n}i u{n}", cast(clamp(scaled, 0.0, float(c.top)), c.type)))
    return coords, (
        f"Morton codes of points: each p of {texts} becomes the cell coordinate (p - "
        f"{f.say('low')}) * {f.say('scale')}, clamped to [0, {c.top}] and truncated."
    )


def _with_cells(s: Site, level: int, c: Code, code: Expr) -> tuple[Expr, str]:
    """The code of the coarser cell some levels up; at level 5 which child of it this one is."""
    k = s.k
    code = k.let("code key", code)
    up = c.axes * k.draw.value.integer(1, 2)
    done = f" {s.put('parents coarse blocks', code >> up).name} gets the code >> {up}."
    if level == 5:
        ids = s.put("child slot octant", cast(code & (2**c.axes - 1), INT32))
        done += f" {ids.name} gets its lowest {c.axes} bits."
    if not k.draw.shape.chance(0.6):
        return code, done
    tag = s.read("alive occupied", INT32, 0, 1)
    top = c.type.int_range[1]
    done += f" Where {say(k, tag)} is zero the code becomes {top}."
    return where(tag > 0, code, literal(top, c.type)), done


def _decoded(s: Site, level: int, c: Code) -> Title:
    """Coordinates of codes."""
    k, shape = s.k, s.k.draw.shape
    codes = s.read("codes morton keys", c.type, 0, 2 ** (c.axes * c.bits) - 1)
    # Neither of the other two holds 32 bits.
    others = (INT32, FLOAT32)[: 2 if level > 1 else 1] if c.bits < 24 else (UINT32,)
    target = shape.choice((c.type, *others))
    code, text = k.let("code key", codes), say(k, codes)
    names = "compact_bits squeeze_bits gather_bits"
    compact = routine(k, 1.0, names, {"x": c.type}, c.compact)
    frame = {
        "cell": Part("cell spacing", FLOAT32, 0.01, 0.1),
        "low": Part("lower origin", FLOAT32, -1.0, 1.0),
    }
    chance = 0.5 if level >= 3 else 0.0
    f = record(s, "GridFrame Lattice", frame, chance, shared=True) if target == FLOAT32 else None
    if level >= 4 and shape.chance(0.5):
        offset = k.scalar("shift key_offset", c.type, 1, 7)
        code, text = k.let("shifted moved", code ^ offset), f"{text} xored with {offset.name}"
    half, outs = level >= 4, []
    style = k.draw.word.choice(("{}s", "pos_{}") if f is not None else ("{}s", "cell_{}"))
    for axis, n in enumerate(c.letters):
        value: Expr = cast(compact(code >> axis if axis else code), target)
        if f is not None:
            value = f["low"] + f["cell"] * (value + 0.5 if half else value)
        outs.append(s.put(style.format(n), value).name)
    every, starts = ("second", "0, 1") if c.axes == 2 else ("third", "0, 1, 2")
    done = f"Decode the Morton codes {text} into {listed(outs)}: {c.bits} bits each, every {every} "
    done += f"bit from bit {starts} on"
    if f is not None:
        bits = "(bits + 0.5)" if half else "bits"
        done += f", as {f.say('low')} + {f.say('cell')} * {bits}"
    return Title(k.name(f"morton_decode unpack_morton_{c.axes}d z_order_cells"), f"{done}.")
