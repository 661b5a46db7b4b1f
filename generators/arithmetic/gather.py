"""Matrices unpacked from flat arrays: how they lie there, codes of entries, padding."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, shown
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var, op

_STORAGE = {"dense": 5, "header": 3, "channel": 3}
_CODES = {"": 6, "uint8": 2, "int8": 1, "int16": 2}


class Matrix:
    """The launch over the entries; sizes as parameters where index arithmetic needs them."""

    def __init__(self, k: KernelBuilder, batched: bool) -> None:
        self.k = k
        self.dims: tuple[str, ...] = (k.size("rows", 6, 10), k.size("cols", 6, 10))
        if batched:
            self.dims = (k.size("batch", 3, 4), *self.dims)
        self.made: dict[str, Var] = {}
        self.at: tuple[Var, ...] = ()

    @property
    def row(self) -> Var:
        return self.at[-2]

    @property
    def col(self) -> Var:
        return self.at[-1]

    @property
    def width(self) -> Var:
        return self._size("cols", ("width", "num_cols"))

    @property
    def height(self) -> Var:
        return self._size("rows", ("height", "num_rows"))

    def _size(self, symbol: str, names: tuple[str, ...]) -> Var:
        if symbol not in self.made:
            self.made[symbol] = self.k.size_param(names, symbol)
        return self.made[symbol]


@idiom
def strided_gather(k: KernelBuilder, level: int) -> Title:
    """Read a flat array through two-dimensional index arithmetic; decode, weigh and pad."""
    shape = k.draw.shape
    m = Matrix(k, batched=shape.chance({1: 0.2, 2: 0.25}.get(level, 0.4)))
    type_, code = k.draw.wide_float_type(), shape.weighted(_CODES)
    form, storage = shape.choice(sorted(_PLACES)), shape.weighted(_STORAGE)
    size, place, held = _stored(m, storage)
    names = "flat buffer packed src"
    if code:
        limits = {"uint8": (0, 255), "int8": (-127, 127)}.get(code, (-900, 900))
        flat = k.array(names, Scalar(code), size, low=limits[0], high=limits[1])
    else:
        flat = k.array(names, type_, size, low=-2.0, high=2.0)
    out = k.out("grid table dst unpacked", type_, m.dims)
    indices = k.draw.word.choice((("row", "col"), ("i", "j"), ("r", "c")))
    m.at = k.thread(*m.dims, names=("b", *indices) if len(m.dims) == 3 else indices)
    padding = _padding(m, level, out, type_)
    index, text = _index(m, level, form, place)
    value: Expr = flat[k.let("index at offset idx", index)]
    what = (
        f"Unpack {'each matrix' if len(m.dims) == 3 else 'the matrix'} in {flat.name}{held} into "
    )
    done = f"{what}{out.name}; it is {text}."
    if code:
        value, said = _decoded(k, value, type_)
        done += said
    if level >= 2 and shape.chance(0.3 + 0.15 * level):
        value, said = _weighted(m, value, type_)
        done += said
    if level >= 4 and shape.chance(0.6):
        value, said = _limited(k, value, type_)
        done += said
    k.store(out, m.at, value)
    return Title(k.name(form, f"{form}_into", f"gather_{form}"), done + padding)


def _stored(m: Matrix, storage: str) -> tuple[str, Callable[[Expr], Expr], str]:
    """Size of the array, where the element of a number lies, and how to say it."""
    k = m.k
    count = "*".join(m.dims)
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
    row, col, width, text = _PLACES[form](m)
    if level >= 3 and k.draw.shape.chance(0.4):

        def body(_: BodyBuilder, r: Expr, c: Expr, w: Expr) -> Expr:
            return r * w + c

        name = helper(k, "flat_index linear_index", [(n, INT32) for n in "rcw"], body)
        index: Expr = k.call(name, row, col, width)
    else:
        index = row * width + col
    if len(m.dims) == 3:
        index = m.at[0] * (m.height * m.width) + index
    return place(index), text


Place = tuple[Expr, Expr, Var, str]
"""Row and column to read, the length of a stored row, and what that does to the matrix."""


def _plain(m: Matrix) -> Place:
    return m.row, m.col, m.width, "stored row by row"


def _reversed_rows(m: Matrix) -> Place:
    return m.height - 1 - m.row, m.col, m.width, "stored row by row, and the last row comes first"


def _mirrored(m: Matrix) -> Place:
    text = "stored row by row, and each row is read from its end"
    return m.row, m.width - 1 - m.col, m.width, text


def _turned(m: Matrix) -> Place:
    text = "stored row by row, and read from the last element to the first"
    return m.height - 1 - m.row, m.width - 1 - m.col, m.width, text


def _rolled(m: Matrix) -> Place:
    by: Operand = m.k.draw.value.integer(1, 4)
    if m.k.draw.shape.chance(0.5):
        by = m.k.scalar("shift roll", INT32, 1, 4)
    text = f"stored row by row, and column c is read from column (c + {shown(by)}) % {m.width.name}"
    return m.row, (m.col + by) % m.width, m.width, text


def _rolled_rows(m: Matrix) -> Place:
    by: Operand = m.k.draw.value.integer(1, 4)
    if m.k.draw.shape.chance(0.5):
        by = m.k.scalar("shift roll", INT32, 1, 4)
    text = f"stored row by row, and row r is read from row (r + {shown(by)}) % {m.height.name}"
    return (m.row + by) % m.height, m.col, m.width, text


def _skewed(m: Matrix) -> Place:
    text = f"stored row by row, and row r is rotated left by r (column (r + c) % {m.width.name})"
    return m.row, (m.row + m.col) % m.width, m.width, text


def _by_columns(m: Matrix) -> Place:
    return m.col, m.row, m.height, "stored column by column"


def _columns_reversed(m: Matrix) -> Place:
    text = "stored column by column, and each column is read from its end"
    return m.col, m.height - 1 - m.row, m.height, text


_PLACES: dict[str, Callable[[Matrix], Place]] = {
    "unpack_rows": _plain,
    "reverse_rows": _reversed_rows,
    "mirror_columns": _mirrored,
    "turn_half": _turned,
    "roll_columns": _rolled,
    "roll_rows": _rolled_rows,
    "skew_rows": _skewed,
    "unpack_columns": _by_columns,
    "flip_columns": _columns_reversed,
}


def _decoded(k: KernelBuilder, value: Expr, type_: Scalar) -> tuple[Expr, str]:
    """A whole number as the real number that it stands for."""
    kind = k.draw.shape.choice(("scale", "affine", "offset"))
    most = 0.002 if value.type == Scalar("int16") else 0.02
    scale = k.scalar("scale unit step_size", type_, 0.5 * most, most)
    if kind == "scale":
        return scale * cast(value, type_), f" Entries are decoded as {scale.name} * code."
    if kind == "affine":
        zero = k.scalar("zero_point zero_code", INT32, 3, 60)
        text = f" Entries are decoded as {scale.name} * (code - {zero.name})."
        return scale * cast(cast(value, INT32) - zero, type_), text
    base = k.scalar("base lowest", type_, -1.0, 1.0)
    text = f" Entries are decoded as {base.name} + {scale.name} * code."
    return base + scale * cast(value, type_), text


def _weighted(m: Matrix, value: Expr, type_: Scalar) -> tuple[Expr, str]:
    """A weight of each row or column, and sometimes a bias of it."""
    k, side = m.k, m.k.draw.shape.choice(("row", "col"))
    size, at = ("rows", m.row) if side == "row" else ("cols", m.col)
    weights = k.array(f"{side}_weights {side}_scale", type_, size, low=0.5, high=1.5)
    text = (
        f" Each {'column' if side == 'col' else side} is multiplied by its entry of {weights.name}"
    )
    if not k.draw.shape.chance(0.4):
        return value * weights[at], f"{text}."
    bias = k.array(f"{side}_bias {side}_offset", type_, size, low=-0.5, high=0.5)
    return value * weights[at] + bias[at], f"{text}, and that of {bias.name} is added."


def _limited(k: KernelBuilder, value: Expr, type_: Scalar) -> tuple[Expr, str]:
    if k.draw.shape.chance(0.5):
        value = k.let("entry value", value)
        bound = k.scalar("bound max_abs", type_, 0.6, 1.2)
        return fn(
            "clamp", value, -bound, bound
        ), f" It is clamped to [-{bound.name}, {bound.name}]."
    return fn("max", value, 0.0), " Negative entries become 0."


def _padding(m: Matrix, level: int, out: Var, type_: Scalar) -> str:
    """From level 3 on, some entries are padding: beyond a row's length, masked, or a triangle."""
    k, row, col = m.k, m.row, m.col
    if level < 3 or not k.draw.shape.chance(0.2 + 0.15 * level):
        return ""
    kind = k.draw.shape.choice(("lengths", "mask", "triangle", "border"))
    if kind == "lengths":
        lengths = k.array("lengths row_lengths", INT32, "rows", low=2, high=9)
        test: Expr = col >= lengths[row]
        text = f"In row r, entries from column {lengths.name}[r] on"
    elif kind == "mask":
        mask = k.array("mask valid", INT32, m.dims[-2:], low=0, high=2)
        test, text = fn("eq", mask[row, col], 0), f"Entries whose {mask.name} is 0"
    elif kind == "triangle":
        strict = k.draw.shape.chance(0.5)
        test = col > row if strict else col < row
        text = f"Entries {'above' if strict else 'below'} the diagonal"
    else:
        edge = op("or", fn("eq", row, 0), fn("eq", col, 0))
        last = op("or", fn("eq", row, m.height - 1), fn("eq", col, m.width - 1))
        test, text = op("or", edge, last), "Entries in the first or last row or column"
    fill: Operand = 0.0
    if k.draw.shape.chance(0.4):
        fill = k.scalar("fill pad_value", type_, -1.0, 1.0)
    with k.if_(test):
        k.store(out, m.at, fill)
        k.return_()
    return f" {text} get {shown(fill)} instead."
