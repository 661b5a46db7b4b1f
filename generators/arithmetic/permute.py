"""Copies between layouts: transposed and permuted axes, flat arrays with strides."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Given,
    Grid,
    condition,
    grid,
    named,
    parameters,
    step,
    store_where,
)
from generators.build import BodyBuilder, KernelBuilder, cast, extent
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

_TYPES = {FLOAT32: 6, FLOAT64: 2, FLOAT16: 2, INT32: 3, INT64: 1, UINT8: 2, INT8: 1, INT16: 1}
_MORE = {UINT16: 1, UINT32: 1, UINT64: 1}
_NAMES = {
    2: ("transpose_copy", "transpose_matrix", "swap_axes"),
    3: ("permute_axes", "permute_copy", "hwc_to_chw"),
    4: ("permute_4d", "nchw_to_nhwc", "relayout_tensor"),
}


@idiom
def permute_copy(k: KernelBuilder, level: int) -> Title:
    """Copy a tensor with its axes permuted, dense or flat on either side, scaled or converted."""
    shape = k.draw.shape
    type_ = shape.weighted({**_TYPES, **_MORE})
    g = grid(k, {2: 3, 3: 3, 4: 2})
    order = shape.sample(range(g.ndim), g.ndim)
    if order == sorted(order):
        order = order[::-1]
    low, high = (-2.0, 2.0) if type_.is_float else type_.int_range
    flat_in = shape.chance(0.3 if level == 1 else 0.5)
    flat_out = level >= 3 and shape.chance(0.5)
    axes = tuple(g.sizes[a] for a in order)
    place = tuple(g.at[a] for a in order)
    src = k.array(
        "src tensor x data", type_, "*".join(axes) if flat_in else axes, low=low, high=high
    )
    if flat_in:
        index, how = _flat(k, level, "src", axes, place)
        at = k.let("index offset src_index", index)
        value: Expr = src[at]
    else:
        value, how = src[place], ""
    text = f"{src.name}[{', '.join(v.name for v in place)}]{how}"
    value, out_type, text = _converted(k, level, value, text, type_, g)
    out = k.out("dst out permuted", out_type, "*".join(g.sizes) if flat_out else g.sizes)
    done = f"{out.name}[{', '.join(v.name for v in g.at)}] gets {text}."
    if level >= 4:
        done += _positions(k, level, g, place)
    if flat_out:
        index, how = _flat(k, level, "dst", g.sizes, g.at)
        k.store(out, k.let("dst_index at target", index), value)
        done += f" {out.name} is flat{how}."
    elif level >= 2 and shape.chance(0.4):
        test = condition(k, g)
        value = k.let("value moved", value)
        store_where(k, out, g, test.value, value, 0)
        done += f" Where not {test.text}, it gets zero."
    else:
        k.store(out, g.at, value)
    return Title(k.name(*_NAMES[g.ndim]), done)


def _flat(
    k: KernelBuilder, level: int, side: str, sizes: tuple[str, ...], place: tuple[Var, ...]
) -> tuple[Expr, str]:
    """The index in a flat row-major array: by Horner's scheme, by strides, in a helper."""
    shape = k.draw.shape
    form = shape.choice(("horner", "strides") if level < 3 else ("horner", "strides", "helper"))
    counts = [f"num_{v.name}" for v in place]
    if form == "strides":
        strides = [
            k.size_param(f"{side}_stride{axis} {side}_s{axis}", "*".join(sizes[axis + 1 :]))
            for axis in range(len(sizes) - 1)
        ]
        terms = [v * s for v, s in zip(place[:-1], strides, strict=True)]
        index: Expr = terms[0]
        for term in terms[1:]:
            index = index + term
        return index + place[-1], f" (flat, strides {', '.join(s.name for s in strides)} and 1)"
    bounds = [
        k.size_param((name, f"{side}_{name}"), size)
        for name, size in zip(counts[1:], sizes[1:], strict=True)
    ]
    inputs = [(f"i{m}", v) for m, v in enumerate(place)]
    inputs += [(f"n{m}", b) for m, b in enumerate(bounds, start=1)]

    def build(b: BodyBuilder, *given: Expr) -> Expr:
        indices, extents = given[: len(place)], given[len(place) :]
        index = indices[0]
        for v, n in zip(indices[1:], extents, strict=True):
            index = index * n + v
        return index

    names = "flat_index linear_index row_major"
    known = [f.name for f in k.functions if f.name in names and len(f.params) == len(inputs)]
    if form == "helper" and known:
        return k.call(known[0], *(e for _, e in inputs)), " (flat, row-major)"
    index = step(k, names, inputs, build, 1.0 if form == "helper" else 0.0)
    return index, " (flat, row-major)"


def _converted(
    k: KernelBuilder, level: int, value: Expr, text: str, type_: Scalar, g: Grid
) -> tuple[Expr, Scalar, str]:
    """The element scaled, shifted, or converted to another type."""
    form = k.draw.shape.choice(
        ("copy", "copy", "cast", "scale", "affine") if level < 3 else ("cast", "scale", "affine")
    )
    value = named(k, "value v", value, 0.4)
    if form == "copy":
        return value, type_, text
    if not type_.is_float:
        if form == "cast" and type_.bits < 32:
            wide = INT32 if type_.bits == 16 else k.draw.shape.choice((INT32, INT16))
            if not (type_.is_unsigned or wide != INT16):
                wide = INT32
            return cast(value, wide), wide, f"{text} as {wide}"
        value = cast(value, FLOAT32) if type_.bits < 32 else value
        if type_.bits >= 32:
            number = k.draw.value.choice((1, 3, 7))
            return value ^ number, type_, f"{text} ^ {number}"
        scale, mean = _factors(k, FLOAT32, 0.003, 0.02, level)
        return scale.value * value + mean.value, FLOAT32, f"{scale.text} * {text} + {mean.text}"
    if form == "cast":
        wide = FLOAT32 if type_ != FLOAT32 else FLOAT64
        return cast(value, wide), wide, f"{text} as {wide}"
    scale, mean = _factors(k, type_, 0.5, 2.0, level)
    if form == "scale":
        return (value - mean.value) * scale.value, type_, f"({text} - {mean.text}) * {scale.text}"
    return scale.value * value + mean.value, type_, f"{scale.text} * {text} + {mean.text}"


def _factors(k: KernelBuilder, type_: Scalar, low: float, high: float, level: int) -> list[Given]:
    return parameters(
        k,
        [("scale gain", type_, low, high), ("mean shift", type_, -1.0, 1.0)],
        "Affine Normalization",
        0.2 if level < 4 else 0.5,
    )


def _positions(k: KernelBuilder, level: int, g: Grid, place: tuple[Var, ...]) -> str:
    """Where the element came from, as a flat index; at level 5 also whether it stayed in place."""
    source = k.out("source_index origin", INT32, g.sizes)
    marker = k.array("marks labels", INT32, g.sizes, low=0, high=9)
    index: Expr = place[0]
    for v in place[1:]:
        axis = g.at.index(v)
        index = index * extent(marker, axis) + v
    index = k.let("origin_index from_index", index)
    k.store(source, g.at, index + marker[g.at])
    done = f" {source.name} gets the row-major index of that element of the source plus "
    done += f"{marker.name}."
    if level == 5:
        block = k.out("blocks tiles", INT32, g.sizes)
        width = k.scalar("tile block_size", INT32, 4, 9)
        last = k.let("tile_id block_id", index // width)
        with k.if_(marker[g.at] > 4):
            k.store(block, g.at, last + 1)
        with k.else_():
            k.store(block, g.at, last)
        done += f" {block.name} gets that index over {width.name}, plus 1 where {marker.name} > 4."
    return done
