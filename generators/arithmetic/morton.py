"""Morton codes: the bits of two or three coordinates interleaved, and taken apart again."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT32,
    INT32,
    UINT16,
    UINT32,
    UINT64,
    Grid,
    elements,
    grid,
    local,
    named,
    parameters,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, literal

_SPREAD = {
    (2, 16): ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)),
    (3, 10): ((16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249)),
    (2, 8): ((4, 0x0F0F), (2, 0x3333), (1, 0x5555)),
    (3, 5): ((8, 0x100F), (4, 0x10C3), (2, 0x1249)),
}
_LIMITS = {(2, 16): 0xFFFF, (3, 10): 0x3FF, (2, 8): 0xFF, (3, 5): 0x1F}


def _spread(b: BodyBuilder, x: Expr, axes: int, bits: int, masked: bool) -> Expr:
    """The bits of ``x`` with ``axes - 1`` zeros between any two."""
    v = b.let("v s spread", x & _LIMITS[axes, bits] if masked else x)
    for shift, mask in _SPREAD[axes, bits]:
        b.assign(v, (v | (v << shift)) & mask)
    return v


def _compact(b: BodyBuilder, x: Expr, axes: int, bits: int) -> Expr:
    """Every second or third bit of ``x``, close together."""
    steps = _SPREAD[axes, bits]
    v = b.let("v s packed", x & steps[-1][1])
    masks = [mask for _, mask in steps[-2::-1]] + [_LIMITS[axes, bits]]
    for (shift, _), mask in zip(reversed(steps), masks, strict=True):
        b.assign(v, (v | (v >> shift)) & mask)
    return v


def _spread_by_loop(b: BodyBuilder, x: Expr, axes: int, bits: int) -> Expr:
    assert isinstance(x.type, Scalar)
    code = b.let("code_part acc z_bits", literal(0, x.type))
    with b.for_("bit b_i", bits) as bit:
        at = b.let("at shift", cast(bit, x.type))
        b.assign(code, code | (((x >> at) & 1) << (at * axes)))
    return code


@idiom
def morton_code(k: KernelBuilder, level: int) -> Title:
    """Morton codes of integer or real coordinates in two or three dimensions, or their inverse."""
    shape = k.draw.shape
    axes = shape.choice((2, 3))
    bits = shape.choice((16, 8) if axes == 2 else (10, 5))
    if level == 1:
        bits = {2: 8, 3: 5}[axes]
    narrow = {UINT16: 2} if bits in (8, 5) else {}
    type_ = shape.weighted({UINT32: 4, UINT64: 1, **narrow})
    g = grid(k, {1: 2, 2: 2, 3: 1})
    if shape.chance(0.4):
        return _decoded(k, level, g, axes, bits, type_)
    return _encoded(k, level, g, axes, bits, type_)


def _helper(k: KernelBuilder, axes: int, bits: int, type_: Scalar) -> str:
    by_loop = bits == 5 and type_ != UINT64 and k.draw.shape.chance(0.4)
    masked = k.draw.shape.chance(0.5)

    def build(body: BodyBuilder, x: Expr) -> Expr:
        if by_loop:
            return _spread_by_loop(body, x, axes, bits)
        return _spread(body, x, axes, bits, masked)

    names = ("expand_bits", "part1by1" if axes == 2 else "part1by2", "spread_bits")
    return helper(k, names, [("x", type_)], build)


def _encoded(k: KernelBuilder, level: int, g: Grid, axes: int, bits: int, type_: Scalar) -> Title:
    coords, said = _coordinates(k, level, g, axes, bits, type_)
    out = k.out("codes morton keys", type_, g.sizes)
    if level >= 3 or k.draw.shape.chance(0.5):
        name = _helper(k, axes, bits, type_)
        parts: list[Expr] = [k.call(name, c) for c in coords]
    else:
        parts = [_spread(k, c, axes, bits, False) for c in coords]
    parts = [
        named(k, f"{letter}_bits {letter}s", p, 0.5)
        for letter, p in zip("xyz", parts, strict=False)
    ]
    x_lowest = k.draw.shape.chance(0.6)
    order: list[Expr] = parts if x_lowest else parts[::-1]
    code = order[0]
    for axis, part in enumerate(order[1:], start=1):
        code = code | (part << axis)
    lowest = "x" if x_lowest else "xyz"[axes - 1]
    done = f"{said} Interleave their lowest {bits} bits to a Morton code, {lowest} lowest."
    if level >= 4:
        code, more = _with_cells(k, level, code, g, axes, type_)
        done += more
    k.store(out, g.at, code)
    name = k.name(f"morton_encode morton_{axes}d z_order_keys")
    return Title(name, f"{done} Store it in {out.name}.")


def _coordinates(
    k: KernelBuilder, level: int, g: Grid, axes: int, bits: int, type_: Scalar
) -> tuple[list[Expr], str]:
    top = _LIMITS[axes, bits]
    record = ("Cell", "Voxel", "Point")
    chance = 0.15 if level < 3 else 0.4
    real = level >= 3 and k.draw.shape.chance(0.5)
    if not real:
        source = k.draw.shape.choice((type_, INT32))
        wanted = [((f"{c}s", f"cell_{c}", f"{c}_idx"), source, 0, top) for c in "xyz"[:axes]]
        found = elements(k, wanted, g, record, chance)
        coords = [
            local(k, f"{c}i u{c}", cast(f.value, type_)) for c, f in zip("xyz", found, strict=False)
        ]
        names = ", ".join(f.text for f in found)
        return coords, f"Take {', '.join('xyz'[:axes])} from {names}."
    reals = [((f"{c}s", f"pos_{c}", f"p{c}"), FLOAT32, -1.0, 1.0) for c in "xyz"[:axes]]
    found = elements(k, reals, g, record, chance)
    low, scale = parameters(
        k,
        [
            ("lower origin", FLOAT32, -0.9, -0.8),
            ("inv_cell cells_per_unit", FLOAT32, top * 0.53, top * 0.55),
        ],
        "Bounds GridFrame",
        0.5,
    )
    coords = []
    for c, f in zip("xyz", found, strict=False):
        scaled = k.let(f"f{c} scaled_{c}", (f.value - low.value) * scale.value)
        coords.append(k.let(f"{c}i u{c}", cast(fn("clamp", scaled, 0.0, float(top)), type_)))
    names = ", ".join(f.text for f in found)
    return coords, (
        f"Each of {names} becomes a cell (p - {low.text}) * {scale.text}, clamped to [0, {top}] "
        "and truncated."
    )


def _with_cells(
    k: KernelBuilder, level: int, code: Expr, g: Grid, axes: int, type_: Scalar
) -> tuple[Expr, str]:
    """The code of the coarser cell some levels up; at level 5 which child of it this one is."""
    code = k.let("code key", code)
    up = k.draw.value.integer(1, 2)
    parents = k.out("parents coarse blocks", type_, g.sizes)
    k.store(parents, g.at, code >> (axes * up))
    done = f" {parents.name} gets the code >> {axes * up}."
    if level == 5:
        ids = k.out("child slot octant", INT32, g.sizes)
        k.store(ids, g.at, cast(code & (2**axes - 1), INT32))
        done += f" {ids.name} gets its lowest {axes} bits."
    if k.draw.shape.chance(0.6):
        tag = k.array("alive occupied", INT32, g.sizes, low=0, high=1)
        top = 2**type_.bits - 1
        form = fn("where", tag[g.at] > 0, code, literal(top, type_))
        return form, f"{done} Where {tag.name} is zero the code becomes {top}."
    return code, done


def _decoded(k: KernelBuilder, level: int, g: Grid, axes: int, bits: int, type_: Scalar) -> Title:
    codes = k.array("codes morton keys", type_, g.sizes, low=0, high=2 ** (axes * bits) - 1)
    target = k.draw.shape.choice((type_, INT32, FLOAT32) if level > 1 else (type_, INT32))
    outs = [k.out(f"{c}s {c}_out cell_{c}", target, g.sizes) for c in "xyz"[:axes]]
    code = k.let("code key", codes[g.at])
    name = ""
    if level >= 3 or k.draw.shape.chance(0.5):
        names = "compact_bits squeeze_bits gather_bits"
        name = helper(k, names, [("x", type_)], lambda b, x: _compact(b, x, axes, bits))
    size = (
        parameters(
            k,
            [("cell spacing", FLOAT32, 0.01, 0.1), ("lower origin", FLOAT32, -1.0, 1.0)],
            "GridFrame Lattice",
            0.5 if level >= 3 else 0.0,
        )
        if target == FLOAT32
        else []
    )
    jitter = level >= 4 and k.draw.shape.chance(0.5)
    offset = k.scalar("shift key_offset", type_, 1, 7) if jitter else None
    if offset is not None:
        code = k.let("shifted moved", code ^ offset)
    for axis, out in enumerate(outs):
        part = code >> axis if axis else code
        found = k.call(name, part) if name else _compact(k, part, axes, bits)
        if size:
            value: Expr = cast(found, FLOAT32)
            if level >= 4:
                value = value + 0.5
            k.store(out, g.at, size[1].value + size[0].value * value)
        else:
            k.store(out, g.at, cast(found, target))
    what = f" xored with {offset.name}" if offset is not None else ""
    every = "second" if axes == 2 else "third"
    done = f"Take the Morton code {codes.name}{what} apart: every {every}"
    done += f" bit from bit 0, 1{', 2' if axes == 3 else ''} on, {bits} bits each, goes to "
    done += ", ".join(o.name for o in outs)
    if size:
        half = " + 0.5" if level >= 4 else ""
        done += f", as {size[1].text} + {size[0].text} * (bits{half})"
    return Title(k.name(f"morton_decode unpack_morton_{axes}d z_order_cells"), done + ".")
