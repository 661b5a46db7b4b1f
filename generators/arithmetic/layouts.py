"""Copies between layouts: permuted axes, flat arrays with strides, packed matrices unpacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from generators.arithmetic.common import stored, total
from generators.arithmetic.types import FLOAT64, INT8, INT16, UINT8
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, most
from generators.kit.naming import applied, helper, maybe
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, scalar_of
from generators.program.expr import Expr, Var, literal

_SIGNED = {"float32": 6, "float64": 2, "float16": 2, "int32": 3, "int64": 1, "int8": 1, "int16": 1}
_TYPES = _SIGNED | {"uint8": 2, "uint16": 1, "uint32": 1, "uint64": 1}
_NAMES = {
    2: "transpose_copy transpose_matrix swap_axes",
    3: "permute_axes permute_copy permute_3d",
    4: "permute_4d permute_axes relayout_tensor",
}
_TURNED = {
    (1, 2, 0): "hwc_to_chw",
    (2, 0, 1): "chw_to_hwc",
    (0, 2, 1): "batched_transpose transpose_planes",
    (0, 2, 3, 1): "nhwc_to_nchw",
    (0, 3, 1, 2): "nchw_to_nhwc",
}
"""Names by which axes of the output those of the input are."""


@idiom(depth=3)
def permute_copy(k: KernelBuilder, level: int) -> Title:
    """Copy a tensor with its axes permuted, dense or flat on either side, scaled or converted."""
    shape = k.draw.shape
    type_ = Scalar(shape.weighted(_TYPES))
    s = launch(k, grid=3, cube=3, stack=2)
    order = shape.sample(range(s.rank), s.rank)
    order = order[::-1] if order == sorted(order) else order
    low, high = (-2.0, 2.0) if type_.is_float else type_.int_range
    flat_in = shape.chance(0.3 if level == 1 else 0.5)
    flat_out = level >= 3 and shape.chance(0.5)
    dims, place = tuple(s.dims[a] for a in order), tuple(s.at[a] for a in order)
    names, how = "src tensor x data", ""
    src = k.array(names, type_, "*".join(dims) if flat_in else dims, low=low, high=high)
    if flat_in:
        index, how = _flat(k, level, "src", dims, place)
        value: Expr = src[k.let("index offset src_index", index)]
    else:
        value = src[place]
    text = f"{src.name}[{', '.join(say(k, at) for at in place)}]{how}"
    value, text = _converted(s, level, value, text)
    done = f"Copy {text}."
    names = "dst out permuted"
    if flat_out:
        out = k.out(names, value.type, "*".join(s.dims))
        index, how = _flat(k, level, "dst", s.dims, s.at)
        k.store(out, k.let("dst_index at target", index), value)
        done += f" {out.name}[{s.where}]{how} gets it."
    else:
        value = k.let("value moved", value) if level >= 2 and shape.chance(0.4) else value
        mask = 0.05 if isinstance(value, Var) and level >= 2 else 0.0
        done += stored(s, names, value, None, mask)
    return Title(k.name(_TURNED.get(tuple(order), _NAMES[s.rank])), done)


def _flat(
    k: KernelBuilder, level: int, side: str, sizes: Sequence[str], place: Sequence[Expr]
) -> tuple[Expr, str]:
    """The index in a flat row-major array: by Horner's scheme, by strides, in a helper."""
    form = k.draw.shape.choice(("horner", "strides", "helper")[: 2 if level < 3 else 3])
    rank = len(sizes)
    if form == "strides":
        strides = [
            k.size_param(f"{side}_stride{axis} {side}_s{axis}", "*".join(sizes[axis + 1 :]))
            for axis in range(rank - 1)
        ]
        index = total([v * stride for v, stride in zip(place, strides, strict=False)])
        return index + place[-1], f" (flat, strides {', '.join(n.name for n in strides)} and 1)"
    counts = [f"num_{say(k, v)}" for v in place]
    bounds = [
        k.size_param(f"{name} {side}_{name}", size)
        for name, size in zip(counts[1:], sizes[1:], strict=True)
    ]

    def build(_: BodyBuilder, *given: Expr) -> Expr:
        index = given[0]
        for v, n in zip(given[1:rank], given[rank:], strict=True):
            index = index * n + v
        return index

    args = {f"i{m}": v for m, v in enumerate(place)}
    args |= {f"n{m}": b for m, b in enumerate(bounds, start=1)}
    names = "flat_index linear_index row_major"
    known = [f.name for f in k.functions if f.name in names and len(f.params) == len(args)]
    if form == "helper" and known:
        return k.call(known[0], *args.values()), " (flat, row-major)"
    return applied(k, float(form == "helper"), names, args, build), " (flat, row-major)"


def _converted(s: Site, level: int, value: Expr, text: str) -> tuple[Expr, str]:
    """The element scaled, shifted, or converted to another type."""
    k, shape, type_ = s.k, s.k.draw.shape, scalar_of(value.type)
    form = shape.choice(("cast", "scale", "affine", *(("copy", "copy") if level < 3 else ())))
    value = maybe(k, "value v", value, 0.4)
    if form == "copy" or (not type_.is_float and type_.bits >= 32):
        return value, text
    if form == "cast":
        wide = FLOAT64 if type_ == FLOAT32 else FLOAT32 if type_.is_float else INT32
        if type_ == UINT8 and shape.chance(0.5):
            wide = INT16
        return cast(value, wide), f"{text} as {wide}"
    real, low, high = (type_, 0.5, 2.0) if type_.is_float else (FLOAT32, 0.003, 0.02)
    value = cast(value, real)
    parts = {
        "scale": Part("scale gain", real, low, high),
        "mean": Part("mean shift", real, -1.0, 1.0),
    }
    struct = 0.2 if level < 4 else 0.5
    r = record(s, "Affine Normalization", parts, struct, shared=True)
    scale, mean = r.say("scale"), r.say("mean")
    if form == "scale":
        return (value - r["mean"]) * r["scale"], f"({text} - {mean}) * {scale}"
    return r["scale"] * value + r["mean"], f"{scale} * {text} + {mean}"


class Matrix:
    """The launch over the entries; sizes as parameters where index arithmetic needs them."""

    def __init__(self, s: Site) -> None:
        self.s, self.k = s, s.k
        self.row, self.col = s.at[-2:]

    @cached_property
    def width(self) -> Var:
        return self.k.size_param("width num_cols", self.s.dims[-1])

    @cached_property
    def height(self) -> Var:
        return self.k.size_param("height num_rows", self.s.dims[-2])


_STORAGE = {"dense": 5, "header": 3, "channel": 3}
_CODES = {None: 14, UINT8: 2, INT8: 1, INT16: 2}
_RANGES = {UINT8: (0, 255), INT8: (-127, 127), INT16: (-900, 900)}


@idiom(depth=1)
def strided_gather(k: KernelBuilder, level: int) -> Title:
    """Read a flat array through two-dimensional index arithmetic; decode, weigh and pad."""
    shape = k.draw.shape
    batched = {1: 20, 2: 25}.get(level, 40)
    m = Matrix(launch(k, cube=batched, grid=100 - batched))
    s, f, code = m.s, k.draw.wide_float_type(), shape.weighted(_CODES)
    form, storage = shape.choice(sorted(_PLACES)), shape.weighted(_STORAGE)
    size, place, held = _stored(m, storage)
    low, high = (-2.0, 2.0) if code is None else _RANGES[code]
    flat = k.array("flat buffer packed src", code or f, size, low=low, high=high)
    out = s.out("grid table dst unpacked", f)
    padding = _padding(m, level, out, f)
    index, text = _index(m, level, form, place)
    value: Expr = flat[k.let("index at offset idx", index)]
    what = "each matrix" if s.rank == 3 else "the matrix"
    done = f"Unpack {what} in {flat.name}{held} into {out.name}; it is {text}."
    if code:
        value, said = _decoded(k, value, f)
        done += said
    if level >= 2 and shape.chance(0.3 + 0.15 * level):
        value, said = _weighted(m, value)
        done += said
    if level >= 4 and shape.chance(0.6):
        value, said = _limited(k, value)
        done += said
    k.store(out, s.at, value)
    return Title(k.name(f"{form} {form}_into gather_{form}"), done + padding)


def _stored(m: Matrix, storage: str) -> tuple[str, Callable[[Expr], Expr], str]:
    """Size of the array, where the element of a number lies, and how to say it."""
    k, count = m.k, "*".join(m.s.dims)
    if storage == "header":
        header = k.draw.value.choice((4, 8, 16, 32))
        words = f" (after a header of {header} other elements)"
        return f"{count}+{header}", lambda e: header + e, words
    if storage == "channel":
        apart = k.draw.value.integer(2, 4)
        first = k.draw.value.integer(0, apart - 1)
        words = f" (channel {first} of {apart} interleaved ones: element e lies at {apart} * e"
        words += f" + {first})" if first else ")"
        return f"{apart}*{count}", lambda e: apart * e + first if first else apart * e, words
    return count, lambda e: e, ""


def _index(m: Matrix, level: int, form: str, place: Callable[[Expr], Expr]) -> tuple[Expr, str]:
    """Where the thread's entry lies in the flat array."""
    k = m.k
    where, text = _PLACES[form]
    row, col, width, by = where(m)
    if level >= 3 and k.draw.shape.chance(0.4):
        params = [(name, INT32) for name in "rcw"]
        name = helper(k, "flat_index linear_index", params, lambda _, r, c, w: r * w + c)
        index: Expr = k.call(name, row, col, width)
    else:
        index = row * width + col
    if m.s.rank == 3:
        index = m.s.at[0] * (m.height * m.width) + index
    return place(index), f"stored {text.format(by=by, width=width.name)}"


def _shift(m: Matrix) -> Expr:
    return m.k.scalar("shift roll", INT32, 1, 4)


Place = tuple[Expr, Expr, Var, str]
"""Row and column to read, the length of a stored row, and a number for the text."""


def _rolled(m: Matrix) -> Place:
    by = _shift(m)
    return m.row, (m.col + by) % m.width, m.width, say(m.k, by)


def _rolled_rows(m: Matrix) -> Place:
    by = _shift(m)
    return (m.row + by) % m.height, m.col, m.width, f"{say(m.k, by)}) % {m.height.name}"


_PLACES: dict[str, tuple[Callable[[Matrix], Place], str]] = {
    "unpack_rows": (lambda m: (m.row, m.col, m.width, ""), "row by row"),
    "reverse_rows": (
        lambda m: (m.height - 1 - m.row, m.col, m.width, ""),
        "row by row, and the last row comes first",
    ),
    "mirror_columns": (
        lambda m: (m.row, m.width - 1 - m.col, m.width, ""),
        "row by row, and each row is read from its end",
    ),
    "turn_half": (
        lambda m: (m.height - 1 - m.row, m.width - 1 - m.col, m.width, ""),
        "row by row, and read from the last element to the first",
    ),
    "roll_columns": (_rolled, "row by row, and column c is read from column (c + {by}) % {width}"),
    "roll_rows": (_rolled_rows, "row by row, and row r is read from row (r + {by}"),
    "skew_rows": (
        lambda m: (m.row, (m.row + m.col) % m.width, m.width, ""),
        "row by row, and row r is rotated left by r (column (r + c) % {width})",
    ),
    "unpack_columns": (lambda m: (m.col, m.row, m.height, ""), "column by column"),
    "flip_columns": (
        lambda m: (m.col, m.height - 1 - m.row, m.height, ""),
        "column by column, and each column is read from its end",
    ),
}


def _decoded(k: KernelBuilder, value: Expr, f: Scalar) -> tuple[Expr, str]:
    """A whole number as the real number that it stands for."""
    kind = k.draw.shape.choice(("scale", "affine"))
    top = 0.002 if value.type == INT16 else 0.02
    scale = k.scalar("scale unit step_size", f, 0.5 * top, top)
    if kind == "affine":
        zero = k.scalar("zero_point zero_code", INT32, 3, 60)
        text = f" Entries are decoded as {scale.name} * (code - {zero.name})."
        return scale * cast(cast(value, INT32) - zero, f), text
    decoded, text = scale * cast(value, f), f"{scale.name} * code"
    return decoded, f" Entries are decoded as {text}."


def _weighted(m: Matrix, value: Expr) -> tuple[Expr, str]:
    """A weight of each row or column, and sometimes a bias of it."""
    axis, f = -m.k.draw.shape.integer(1, 2), scalar_of(value.type)
    side, long = ("col", "column") if axis == -1 else ("row", "row")
    size, at = m.s.dims[axis], m.s.at[axis]
    weights = m.k.array(f"{side}_weights {side}_scale", f, size, low=0.5, high=1.5)
    value, text = value * weights[at], f" Each {long} is multiplied by its entry of {weights.name}"
    if not m.k.draw.shape.chance(0.4):
        return value, f"{text}."
    bias = m.k.array(f"{side}_bias {side}_offset", f, size, low=-0.5, high=0.5)
    return value + bias[at], f"{text}, and that of {bias.name} is added."


def _limited(k: KernelBuilder, value: Expr) -> tuple[Expr, str]:
    """Entries kept within a bound, or not below 0."""
    if k.draw.shape.chance(0.5):
        return most(value, 0.0), " Negative entries become 0."
    bound = k.scalar("bound max_abs", value.type, 0.6, 1.2)
    text = f" It is clamped to [-{bound.name}, {bound.name}]."
    return clamp(k.let("entry value", value), -bound, bound), text


def _padding(m: Matrix, level: int, out: Var, f: Scalar) -> str:
    """From level 3 on, some entries are padding: beyond a row's length, masked, or a triangle."""
    k, s, row, col = m.k, m.s, m.row, m.col
    if level < 3 or not k.draw.shape.chance(0.2 + 0.15 * level):
        return ""
    kind = k.draw.shape.weighted({"lengths": 4, "mask": 1, "triangle": 4, "border": 4})
    if kind == "lengths":
        lengths = k.array("lengths row_lengths", INT32, s.dims[-2], low=2, high=9)
        test: Expr = col >= lengths[row]
        text = f"In row r, entries from column {lengths.name}[r] on"
    elif kind == "mask":
        mask = k.array("mask valid", INT32, s.dims[-2:], low=0, high=2)
        test, text = fn("eq", mask[row, col], 0), f"Entries whose {mask.name} is 0"
    elif kind == "triangle":
        above = k.draw.shape.chance(0.5)
        test = col > row if above else col < row
        text = f"Entries {'above' if above else 'below'} the diagonal"
    else:
        edge = fn("or", fn("eq", row, 0), fn("eq", col, 0))
        last = fn("or", fn("eq", row, m.height - 1), fn("eq", col, m.width - 1))
        test, text = fn("or", edge, last), "Entries in the first or last row or column"
    fill: Expr = literal(0.0, f)
    if k.draw.shape.chance(0.4):
        fill = k.scalar("fill pad_value", f, -1.0, 1.0)
    with k.if_(test):
        k.store(out, s.at, fill)
        k.return_()
    return f" {text} get {say(k, fill)} instead."
