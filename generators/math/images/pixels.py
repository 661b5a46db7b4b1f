"""Pixels of an image: where a thread stands, what lies beside it, and beyond the borders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.build import KernelBuilder, extent
from generators.build.draw import Stream
from generators.kit.functions import clamp, least, most
from generators.kit.words import words
from generators.program.dtypes import Scalar, Type
from generators.program.expr import Expr, Operand, Var, op

_SIZES = (("height", "width"), ("h", "w"))
_INDICES = (("y", "x"), ("i", "j"), ("row", "col"), ("r", "c"))
_Pair = tuple[str, str]
_BESIDE: dict[str, tuple[_Pair, tuple[_Pair, ...]]] = {
    "y": (("dy", "dx"), (("qy", "qx"), ("yy", "xx"))),
    "i": (("di", "dj"), (("ii", "jj"), ("ni", "nj"))),
    "row": (("dr", "dc"), (("q_row", "q_col"), ("rr", "cc"))),
    "r": (("dr", "dc"), (("rr", "cc"), ("qr", "qc"))),
}
"""By the row's index: names of steps to another pixel, and of that pixel's row and column."""
BORDERS = {"clamp": 4, "skip": 3, "wrap": 1, "padded": 2}
"""How often an image ends in each way."""


def some(*tests: Expr) -> Expr:
    """Whether one of these holds."""
    first, *rest = tests
    return some(op("or", first, rest[0]), *rest[1:]) if rest else first


def every(*tests: Expr) -> Expr:
    """Whether all of these hold."""
    first, *rest = tests
    return every(op("and", first, rest[0]), *rest[1:]) if rest else first


def spot(*parts: Operand) -> tuple[Operand, ...]:
    """Parts of an index as one."""
    return parts


class Image:
    """A thread for each pixel of an image, of several, or of the channels of one.

    ``lead`` are the indices before those of a row and a column, ``tail`` that of a channel behind
    them. With the border ``padded`` what is read around has ``reach`` pixels more on each side.
    """

    def __init__(
        self,
        k: KernelBuilder,
        level: int,
        borders: Mapping[str, int] | None = None,
        *,
        reach: int = 1,
        layouts: bool = True,
        channels: bool = True,
        minimum: int = 1,
        size: tuple[int, int] = (8, 11),
    ) -> None:
        self.k, self.reach = k, reach
        shape = k.draw.shape
        self.border = shape.weighted(borders or BORDERS)
        ways = {"plain": 6, "batch": 2 * level}
        ways |= {"channels_first": level, "channels_last": level} if channels else {}
        self.layout = shape.weighted(ways) if layouts else "plain"
        self.sizes = k.draw.word.choice(_SIZES)
        minimum = max(minimum, 2) if self.border == "wrap" else minimum
        bounds = size if self.layout == "plain" else (max(size[0] - 2, 6), max(size[1] - 3, 8))
        for symbol in self.sizes:
            k.size(symbol, *bounds, minimum)
        planes: dict[str, tuple[str, ...]] = {"plain": (), "batch": ("images",)}
        more = planes.get(self.layout, ("bands",))
        for symbol in more:
            k.size(symbol, 2, 3)
        last = self.layout == "channels_last"
        none: tuple[str, ...] = ()
        self.before, self.after = (none, more) if last else (more, none)
        self._launch(more, last)
        self._by_shape = shape.chance(0.5) and self.border != "padded"
        self._measured: Var | None = None
        self._sizes: dict[int, Expr] = {}
        self._count = k.draw.word.choice(
            (("height", "width"), ("num_rows", "num_cols"), ("ny", "nx"))
        )
        self._moved: dict[tuple[int, int], Expr] = {}

    def _launch(self, more: tuple[str, ...], last: bool) -> None:
        """A thread for each pixel."""
        k = self.k
        y, x = k.draw.word.choice(_INDICES)
        letter = "n b" if self.layout == "batch" else "ch plane" if y == "r" else "c ch"
        beside = [k.name(letter)] if more else []
        names = [y, x, *beside] if last else [*beside, y, x]
        at = k.thread(*self.before, *self.sizes, *self.after, names=names)
        self.lead = at[: len(self.before)]
        self.y, self.x = at[len(self.before) : len(self.before) + 2]
        self.tail = at[len(self.before) + 2 :]
        self.at = at
        self.steps, self.beside = _BESIDE[self.y.name]
        self._dash = k.draw.word.choice(("", "_"))

    def around(self) -> tuple[str, str]:
        """Names of the row and the column of another pixel, alike."""
        return self.k.draw.word.choice(self.beside)

    @property
    def draw(self) -> Stream:
        return self.k.draw.shape

    @property
    def dims(self) -> tuple[str, ...]:
        return (*self.before, *self.sizes, *self.after)

    def array(
        self,
        names: str,
        type_: Type,
        low: float | None = 0.0,
        high: float | None = 1.0,
        *,
        around: bool = False,
        plain: bool = False,
        role: str = "in",
    ) -> Var:
        """Declare an image; ``around`` for one whose neighbours are read, ``plain`` for one plane
        that all images or channels share."""
        sizes: Sequence[str] = self.sizes
        if around and self.border == "padded":
            sizes = [f"{s}+{2 * self.reach}" for s in sizes]
        dims = tuple(sizes) if plain else (*self.before, *sizes, *self.after)
        made = self.k.array(words(names), type_, dims, role=role, low=low, high=high)
        if self._measured is None and not plain:
            self._measured = made
        return made

    def out(self, names: str, type_: Type) -> Var:
        """Declare an output with an element for each thread."""
        made = self.k.out(words(names), type_, self.dims)
        if self._measured is None:
            self._measured = made
        return made

    def size(self, axis: int) -> Expr:
        """The number of rows (0) or columns (1)."""
        if axis not in self._sizes:
            if self._by_shape and self._measured is not None:
                self._sizes[axis] = extent(self._measured, len(self.before) + axis)
            else:
                self._sizes[axis] = self.k.size_param(self._count[axis], self.sizes[axis])
        return self._sizes[axis]

    def place(self, y: Operand, x: Operand) -> tuple[Operand, ...]:
        """The index of another pixel of the same image and channel."""
        return (*self.lead, y, x, *self.tail)

    def near(self, image: Var, dy: int, dx: int) -> Expr:
        """The pixel so many rows and columns away."""
        return image[self.place(self.moved(0, dy), self.moved(1, dx))]

    def moved(self, axis: int, by: int) -> Expr:
        """A row or a column so far away, as the border has it."""
        here = (self.y, self.x)[axis]
        if self.border == "padded":
            return here + (self.reach + by) if self.reach + by else here
        if not by or self.border == "skip":
            return here + by if by > 0 else here - -by if by < 0 else here
        if (axis, by) not in self._moved:
            side = ("m" if by < 0 else "p") + (str(abs(by)) if abs(by) > 1 else "")
            beyond = self.within(axis, here + by if by > 0 else here - -by, by)
            self._moved[axis, by] = self.k.let(f"{here.name}{self._dash}{side}", beyond)
        return self._moved[axis, by]

    def within(self, axis: int, place: Expr, by: int = 0, times: Expr | None = None) -> Expr:
        """A row or column brought back into the image; ``by`` says on which side it may lie, and
        ``times`` how many images before it, where that is more than one."""
        size = self.size(axis)
        if self.border == "wrap":
            if by:
                return place % size if by > 0 else ((self.y, self.x)[axis] + size - -by) % size
            return (place + (size if times is None else times * size)) % size
        if not by:
            return clamp(place, 0, size - 1)
        return most(place, 0) if by < 0 else least(place, size - 1)

    def stepped(self, axis: int, by: Expr) -> Expr:
        """A row or a column a step away that is known only at run time."""
        here = (self.y, self.x)[axis]
        if self.border == "padded":
            return here + by + self.reach
        return here + by if self.border == "skip" else self.within(axis, here + by)

    def outside(self) -> Expr:
        """Whether a pixel is too close to a border to have all neighbours."""
        return some(
            *(
                test
                for axis, here in enumerate((self.y, self.x))
                for test in (here < self.reach, here >= self.size(axis) - self.reach)
            )
        )

    def skip(self, writes: Sequence[tuple[Var, Operand]]) -> None:
        """With the border ``skip``: threads near a border store this and end."""
        if self.border == "skip":
            with self.k.if_(self.outside()):
                for out, value in writes:
                    self.k.store(out, self.at, value)
                self.k.return_()

    def said(self, kept: str, padded: str) -> str:
        """What happens at the borders, as a sentence with a space before."""
        if self.border == "skip":
            near = "on the border" if self.reach == 1 else f"within {self.reach} of a border"
            return f" Pixels {near} {kept}."
        if self.border == "padded":
            more = "a pixel" if self.reach == 1 else f"{self.reach} pixels"
            return f" {padded} is padded by {more} on each side."
        if self.border == "wrap":
            return " The image wraps around."
        return " Pixels beyond the border are those on it."


def pixel_type(k: KernelBuilder) -> Scalar:
    """float32, now and then float64."""
    return k.draw.wide_float_type()
