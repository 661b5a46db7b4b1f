"""Pixels in the hands of threads: of one image or of several, by grid or by number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generators.atomic.parallel.parts import Shared, both, extent_of, guarded, named
from generators.build import KernelBuilder, extent
from generators.kit.functions import least, most
from generators.program.dtypes import INT32, Type
from generators.program.expr import Expr, Load, Operand, Var


@dataclass
class Pixel:
    """A thread's pixel; ``lead`` is the index of the image where there are several."""

    k: KernelBuilder
    level: int
    lead: tuple[Expr, ...]
    y: Expr
    x: Expr
    flat: bool
    inner: bool
    apart: bool
    """Whether each image has its own shared arrays."""
    by_shape: bool = False
    """Whether sizes are read from the first image, not from parameters."""
    first: Var | None = None

    @property
    def dims(self) -> tuple[str, ...]:
        if self.flat:
            return ("height*width",)
        return (*("images" for _ in self.lead), "height", "width")

    def _extent(self, axis: int) -> Expr:
        if self.first is None or self.flat or not self.by_shape:
            return extent_of(self.k, ("height", "width")[axis])
        return extent(self.first, len(self.lead) + axis)

    @property
    def height(self) -> Expr:
        return self._extent(0)

    @property
    def width(self) -> Expr:
        return self._extent(1)

    def index(self, y: Expr | None = None, x: Expr | None = None) -> tuple[Operand, ...]:
        y, x = self.y if y is None else y, self.x if x is None else x
        return (y * self.width + x,) if self.flat else (*self.lead, y, x)

    def image(
        self,
        names: str,
        type_: Type,
        low: object = None,
        high: object = None,
        init: str = "uniform",
    ) -> Var:
        found = self.k.array(names, type_, self.dims, low=low, high=high, init=init)
        self.first = self.first or found
        return found

    def own(self, image: Var) -> Load:
        """The pixel's own element, by the thread's number where that is one."""
        found = image[(Var(self.k.threads[0], INT32),) if self.flat else self.index()]
        assert isinstance(found, Load)
        return found

    def at(self, image: Var, dy: Operand, dx: Operand) -> Expr:
        """The element ``dy`` rows below and ``dx`` columns to the right."""
        return image[self.index(_moved(self.y, dy), _moved(self.x, dx))]

    def clamped(self, image: Var, dy: int, dx: int) -> Expr:
        """The same, or the nearest one within the image."""
        y = _held(self.y, dy, self.height)
        x = _held(self.x, dx, self.width)
        return image[self.index(y, x)]

    def inside(self, margin: int) -> Expr:
        """Whether that many pixels lie on each side."""
        y, x = self.y, self.x
        if margin == 1 and self.k.draw.shape.chance(0.5):
            return both(y > 0, x > 0, y < self.height - 1, x < self.width - 1)
        tests = (y >= margin, y < self.height - margin, x >= margin, x < self.width - margin)
        return both(*tests)

    @contextmanager
    def guard(self, test: Expr) -> Iterator[None]:
        with guarded(self.k, test, self.inner):
            yield

    def let(self, names: str, value: Expr, share: float = 0.5) -> Expr:
        return named(self.k, names, value, share)

    def shared(self, names: str, type_: Type, dims: tuple[str, ...], start: object = 0) -> Shared:
        """An array of ``dims`` for all images or for each."""
        lead = self.lead if self.apart else ()
        whole = (*("images" for _ in lead), *dims)
        array = self.k.accumulator(names, type_, whole, start)
        return Shared(self.k, array, lead, "first")


def _moved(place: Expr, by: Operand) -> Expr:
    if isinstance(by, Expr):
        return place + by
    if not by:
        return place
    return place + by if by > 0 else place - abs(int(by))


def _held(place: Expr, by: int, count: Expr) -> Expr:
    """A place one further on, or the last within the image."""
    if not by:
        return place
    return least(place + by, count - 1) if by > 0 else most(place - abs(by), 0)


@contextmanager
def pixels(k: KernelBuilder, level: int, flat: bool = True) -> Iterator[Pixel]:
    """Threads over the pixels of an image or of several images."""
    shape = k.draw.shape
    weights = {"grid": 6, "images": 3, "flat": flat}
    way = shape.weighted(weights)
    few = way == "images"
    k.size("height", 5 if few else 8, 7 if few else 11)
    k.size("width", 6 if few else 9, 8 if few else 12)
    by_shape = shape.chance(0.6)
    rows, columns = k.draw.word.choice((("y", "x"), ("row", "col"), ("i", "j"), ("v", "u")))
    if way == "images":
        k.size("images", 2, 3)
        names = (k.name("b image_id n"), rows, columns)
        n, y, x = k.thread("images", "height", "width", names=names)
        yield Pixel(k, level, (n,), y, x, False, False, shape.chance(0.95), by_shape)
    elif way == "grid":
        y, x = k.thread("height", "width", names=(rows, columns))
        yield Pixel(k, level, (), y, x, False, False, False, by_shape)
    else:
        (p,) = k.thread("height*width", names=(k.name("p pixel"),))
        width = extent_of(k, "width")
        yield Pixel(
            k, level, (), k.let(rows, p // width), k.let(columns, p % width), True, False, False
        )
