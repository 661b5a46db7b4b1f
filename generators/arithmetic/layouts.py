"""Copies between layouts: permuted axes, flat arrays with strides, packed matrices unpacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from generators.arithmetic.common import total
from generators.arithmetic.types import INT8, INT16, UINT8
from generators.build import BodyBuilder, KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.naming import applied, maybe
from generators.kit.sites import Site, launch, over
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, scalar_of
from generators.program.expr import Expr, Var

_TYPES = {"float32": 8, "float64": 1, "float16": 1, "int32": 2, "uint8": 2}


@dataclass(frozen=True)
class Turn:
    """A permutation: kernel names, sizes and indices of the output, which axes of it the input's
    are; whether its first axis counts images, whose bytes people normalise on the way."""

    title: str
    sizes: str
    indices: str
    order: tuple[int, ...]
    channel: int = -1


_TURNS = (
    Turn("transpose_copy transpose_matrix", "rows cols", "i j", (1, 0)),
    Turn("hwc_to_chw planes_from_pixels", "channels height width", "c y x", (1, 2, 0), 0),
    Turn("chw_to_hwc pixels_from_planes", "height width channels", "y x c", (2, 0, 1), 2),
    Turn("batched_transpose transpose_planes", "batch rows cols", "b i j", (0, 2, 1)),
    Turn("batch_first time_to_batch_major", "batch tokens features", "b t f", (1, 0, 2)),
    Turn("time_first batch_to_time_major", "tokens batch features", "t b f", (1, 0, 2)),
    Turn("nhwc_to_nchw", "batch channels height width", "n c y x", (0, 2, 3, 1), 1),
    Turn("nchw_to_nhwc", "batch height width channels", "n y x c", (0, 3, 1, 2), 3),
    Turn("split_heads heads_first", "batch heads tokens dim", "b h t d", (0, 2, 1, 3)),
    Turn("merge_heads tokens_first", "batch tokens heads dim", "b t h d", (0, 2, 1, 3)),
)
_RANGES_OF = {2: ((7, 10), (7, 11)), 3: ((3, 5), (4, 6), (4, 6)), 4: ((3, 4),) * 4}


@idiom(depth=3)
def permute_copy(k: KernelBuilder, level: int) -> Title:
    """Copy a tensor with its axes permuted, dense or flat on either side, or converted."""
    shape = k.draw.shape
    turn = shape.choice(_TURNS)
    normalised = level > 1 and turn.channel >= 0 and shape.chance(0.4)
    # Images of bytes have three or four colours, features of a network many channels.
    sizes = turn.sizes.replace("channels", "bands") if normalised else turn.sizes
    s = over(k, sizes, turn.indices, _RANGES_OF[len(turn.order)])
    # What has heads or features is of a network, and no whole numbers.
    learned = {"heads", "features"} & {*sizes.split()}
    types = {t: n for t, n in _TYPES.items() if "int" not in t or not learned}
    type_ = UINT8 if normalised else Scalar(shape.weighted(types))
    low, high = (-2.0, 2.0) if type_.is_float else type_.int_range
    flat_in, flat_out = shape.chance(0.3), level > 1 and shape.chance(0.4)
    dims = tuple(s.dims[a] for a in turn.order)
    place = tuple(s.at[a] for a in turn.order)
    src = k.array("src x", type_, "*".join(dims) if flat_in else dims, low=low, high=high)
    how = ""
    if flat_in:
        index, how = _flat(k, level, "src", dims, place)
        value: Expr = src[k.let("src_index src_at", index)]
    else:
        value = src[place]
    done = f"Copy {src.name}, laid out as ({', '.join(dims)}){how}, "
    value, said = _brought(s, value, turn.channel if normalised else -1)
    if flat_out:
        out = k.out("dst out", value.type, "*".join(s.dims))
        index, how = _flat(k, level, "dst", s.dims, s.at)
        k.store(out, k.let("dst_index dst_at", index), value)
    else:
        out, how = s.put("dst out", value), ""
    done += f"to {out.name}, laid out as ({', '.join(s.dims)}){how}.{said}"
    return Title(k.name(turn.title), done)


def _brought(s: Site, value: Expr, channel: int) -> tuple[Expr, str]:
    """The element as it is, in another type, or a byte of an image normalised by its channel."""
    k, type_ = s.k, scalar_of(value.type)
    if channel >= 0:
        parts = [
            k.array([name], FLOAT32, s.dims[channel], low=low, high=low + 0.3)[s.at[channel]]
            for name, low in (("mean", 0.3), ("inv_std", 3.5))
        ]
        pixel = k.let("pixel level", cast(value, FLOAT32) / 255.0)
        said = " Bytes are normalised: over 255, less mean of the band, times its inv_std."
        return (pixel - parts[0]) * parts[1], said
    wider = {"float16": FLOAT32, "uint8": FLOAT32, "float64": FLOAT32}.get(str(type_))
    if wider is None or not k.draw.shape.chance(0.6):
        return maybe(k, "value", value, 0.4), ""
    return cast(maybe(k, "value", value, 0.4), wider), f" Elements are converted to {wider}."


_COUNTS = {
    "rows": "num_rows",
    "cols": "num_cols",
    "tokens": "num_tokens",
    "batch": "batch_size",
    "channels": "num_channels",
    "bands": "num_bands",
    "features": "num_features",
    "height": "height",
    "width": "width",
    "heads": "num_heads",
    "dim": "head_dim",
}
"""What a size is called as a parameter."""


def _flat(
    k: KernelBuilder, level: int, side: str, sizes: Sequence[str], place: Sequence[Expr]
) -> tuple[Expr, str]:
    """The index in a flat row-major array: by Horner's scheme, by strides, in a helper."""
    form = k.draw.shape.choice(("horner", "strides", "helper")[: 2 if level < 3 else 3])
    rank = len(sizes)
    if form == "strides":
        strides = [
            k.size_param(f"{side}_stride{axis}", "*".join(sizes[axis + 1 :]))
            for axis in range(rank - 1)
        ]
        index = total([v * stride for v, stride in zip(place, strides, strict=False)])
        told = ", ".join(n.name for n in strides)
        return index + place[-1], f" and flat with strides {told} and 1"
    bounds = [k.size_param(_COUNTS[size], size) for size in sizes[1:]]

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
        return k.call(known[0], *args.values()), " and flat, row by row"
    return applied(k, float(form == "helper"), names, args, build), " and flat, row by row"


class Matrix:
    """The launch over the entries; sizes as parameters where index arithmetic needs them."""

    def __init__(self, s: Site) -> None:
        self.s, self.k = s, s.k
        self.row, self.col = s.at[-2:]

    @cached_property
    def width(self) -> Var:
        return self.k.size_param("num_cols", self.s.dims[-1])

    @cached_property
    def height(self) -> Var:
        return self.k.size_param("num_rows", self.s.dims[-2])


_STORAGE = {"dense": 5, "header": 3, "channel": 3}
_CODES = {None: 14, UINT8: 2, INT8: 1, INT16: 2}
_RANGES = {UINT8: (0, 255), INT8: (-127, 127), INT16: (-900, 900)}


@idiom(depth=1)
def strided_gather(k: KernelBuilder, level: int) -> Title:
    """Read a flat array through two-dimensional index arithmetic; decode, weigh and pad."""
    shape = k.draw.shape
    m = Matrix(_matrices(k) if shape.chance(0.3) else launch(k, grid=1))
    s, f, code = m.s, k.draw.wide_float_type(), shape.weighted(_CODES)
    form, storage = shape.choice(sorted(_PLACES)), shape.weighted(_STORAGE)
    size, place, held = _stored(m, storage)
    low, high = (-2.0, 2.0) if code is None else _RANGES[code]
    flat = k.array("flat buffer packed", code or f, size, low=low, high=high)
    out = s.out("matrix unpacked" if s.rank == 2 else "matrices unpacked", f)
    index, text = _index(m, form, place)
    value: Expr = flat[k.let("index at offset idx", index)]
    what = "each matrix" if s.rank == 3 else "the matrix"
    done = f"Unpack {what} in {flat.name}{held} into {out.name}; it is {text}."
    if code:
        value, said = _decoded(k, value, f)
        done += said
    k.store(out, s.at, value)
    return Title(k.name(f"{form} {form}_copy"), done)


def _matrices(k: KernelBuilder) -> Site:
    return over(k, "batch rows cols", "b i j", ((3, 4), (4, 6), (4, 6)))


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


def _index(m: Matrix, form: str, place: Callable[[Expr], Expr]) -> tuple[Expr, str]:
    """Where the thread's entry lies in the flat array."""
    where, text = _PLACES[form]
    row, col, width, by = where(m)
    index: Expr = row * width + col
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
