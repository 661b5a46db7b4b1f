"""Patches of images as rows or columns of a matrix, which convolutions multiply with, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.naming import local
from generators.kit.sources import zero
from generators.kit.words import say
from generators.matrix.large.planes import times
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, Scalar
from generators.program.expr import Expr, Var

_NAMES = {
    2: (("y", "x"), ("row", "col"), ("oy", "ox")),
    3: (("c", "y", "x"), ("ch", "row", "col"), ("c", "oy", "ox")),
    4: (("b", "c", "y", "x"), ("item", "ch", "row", "col"), ("n", "c", "oy", "ox")),
}
_LEADS = {2: (), 3: ("channels",), 4: ("batch", "channels")}
_OFFSETS = (("ky", "kx"), ("dy", "dx"), ("r", "q"), ("u", "v"))


@dataclass(frozen=True)
class Patches:
    """Square patches of each plane of an image, ``step`` apart, their pixels ``spread`` apart;
    ``columns``: a patch is a column of the matrix, else a row."""

    k: KernelBuilder
    scalar: Scalar
    rank: int
    side: int
    step: int
    spread: int
    pad: int
    columns: bool

    @property
    def leads(self) -> tuple[str, ...]:
        return _LEADS[self.rank]

    @property
    def reach(self) -> int:
        """From the first to the last pixel of a patch."""
        return self.spread * (self.side - 1)

    def pixels(self, size: str) -> str:
        """Pixels along an axis of the image that has so many patches along it."""
        inner = times(self.step, size)
        more = self.reach - 2 * self.pad - (self.step - 1)
        return inner if not more else f"{inner}{more:+d}"

    @property
    def entries(self) -> str:
        """Pixels of a patch in all channels."""
        squares = str(self.side**2)
        return f"{squares}*channels" if self.rank > 2 else squares

    def matrix(self, rows: str, cols: str) -> tuple[str, ...]:
        patches = f"{rows}*{cols}"
        dims = (self.entries, patches) if self.columns else (patches, self.entries)
        return (*self.leads[:-1], *dims)

    def place(self, lead: Sequence[Expr], entry: Expr, patch: Expr) -> tuple[Expr, ...]:
        """Where an entry of a patch stands in the matrix."""
        return (*lead[:-1], *((entry, patch) if self.columns else (patch, entry)))

    def entry(self, lead: Sequence[Expr], ky: Expr, kx: Expr) -> Expr:
        """Which of a patch's entries a pixel is: channel by channel, row by row."""
        before = ky * self.side
        return (before if self.rank == 2 else lead[-1] * self.side**2 + before) + kx

    @property
    def told(self) -> str:
        each = "each channel of " if self.rank > 2 else ""
        apart = f" with dilation {self.spread}" if self.spread > 1 else ""
        step = f", {self.step} pixels apart" if self.step > 1 else ""
        pad = f", with zero padding of {self.pad}" if self.pad else ""
        return f"the {self.side} x {self.side} patches{apart} of {each}{{}}{step}{pad}"

    @property
    def laid_out(self) -> str:
        what = "column" if self.columns else "row"
        order = "channel by channel, " if self.rank > 2 else ""
        return f"one {what} a patch, {order}row by row"


def _patches(k: KernelBuilder, level: int) -> Patches:
    shape = k.draw.shape
    rank = shape.weighted({2: 3 if level < 3 else 1, 3: 4, 4: 0 if level < 2 else 2})
    side = shape.weighted({3: 4, 2: 1, 5: 1 if level > 1 else 0})
    step = shape.choice((1, 1, 2))
    spread = 2 if level > 2 and side < 5 and step == 1 and shape.chance(0.4) else 1
    pad = spread * (side // 2) if side % 2 and step == 1 and level > 1 and shape.chance(0.5) else 0
    scalar = FLOAT32 if rank > 2 else k.draw.wide_float_type()
    for name, low, high in (("batch", 2, 3), ("channels", 2, 3)):
        if name in _LEADS[rank]:
            k.size(name, low, high)
    return Patches(k, scalar, rank, side, step, spread, pad, shape.chance(0.6))


@idiom(depth=3)
def unfold_patches(k: KernelBuilder, level: int) -> Title:
    """Patches copied to the columns or rows of a matrix (im2col), or added up from it again."""
    p = _patches(k, level)
    # Rows are tried at sizes that are primes: with gaps as well there would be too many pixels.
    can_fold = level > 1 and p.spread == 1 and (p.step == 1 or p.side == 2)
    back = can_fold and k.draw.shape.chance(0.35)
    rows, cols = k.size("rows", 4, 6), k.size("cols", 5, 7)
    return (_folded if back else _unfolded)(p, rows, cols)


def _unfolded(p: Patches, rows: str, cols: str) -> Title:
    k, side = p.k, p.side
    dims = (*p.leads, p.pixels(rows), p.pixels(cols))
    called = "image frame" if p.rank == 2 else "x_in activations feature_maps"
    image = k.array(called, p.scalar, dims, low=-1.0, high=1.0)
    # A copy has the type of what it copies.
    k.exact.add(image.name)
    ends = tuple(map(k.size_param, ("height in_rows", "width in_cols"), dims[-2:])) if p.pad else ()
    across = k.size_param("patches_across out_cols", cols)
    *lead, y, x = k.thread(*p.leads, rows, cols, names=k.draw.word.choice(_NAMES[p.rank]))
    called = "patches columns unfolded" if p.columns else "patches unfolded"
    out = k.out(called, p.scalar, p.matrix(rows, cols))
    patch = k.let("patch at_patch", y * across + x)
    top, left = (local(k, n, _first(p, at)) for n, at in (("top y0", y), ("left x0", x)))
    names = k.draw.word.choice(_OFFSETS)
    with k.for_(names[0], side) as ky, k.for_(names[1], side) as kx:
        row: Expr = top + _apart(p, ky)
        col: Expr = left + _apart(p, kx)
        entry = k.let("entry slot", p.entry(lead, ky, kx))
        place = p.place(lead, entry, patch)
        if ends:
            row, col = k.let("yy in_row", row), k.let("xx in_col", col)
            value = k.let("value pixel", zero(p.scalar))
            inside = fn("and", fn("and", row >= 0, row < ends[0]), col >= 0)
            with k.if_(fn("and", inside, col < ends[1])):
                k.assign(value, image[index(*lead, row, col)])
            k.store(out, place, value)
        else:
            k.store(out, place, image[index(*lead, row, col)])
    stop = "," if p.step > 1 or p.pad else ""
    text = f"Unfold {p.told.format(say(k, image))}{stop} into {out.name}: {p.laid_out}."
    return Title(k.name("im2col unfold_patches" if p.columns else "im2row unfold_rows"), text)


def _first(p: Patches, at: Var) -> Expr:
    """The first row or column of a patch, before padding 0."""
    start: Expr = at if p.step == 1 else p.step * at
    return start - p.pad if p.pad else start


def _apart(p: Patches, offset: Expr) -> Expr:
    return offset if p.spread == 1 else p.spread * offset


def _folded(p: Patches, rows: str, cols: str) -> Title:
    """The inverse as a gather: each pixel adds up what the patches that cover it have for it."""
    k, side = p.k, p.side
    called = "patches columns grad_cols" if p.columns else "patches unfolded grad_rows"
    patches = k.array(called, p.scalar, p.matrix(rows, cols), low=-1.0, high=1.0)
    down, across = k.draw.word.choice(
        (("patches_down", "patches_across"), ("out_rows", "out_cols"))
    )
    ends = k.size_param(down, rows), k.size_param(across, cols)
    *lead, y, x = k.thread(
        *p.leads, p.pixels(rows), p.pixels(cols), names=k.draw.word.choice(_NAMES[p.rank])
    )
    total = k.let("total acc", zero(p.scalar))
    names = k.draw.word.choice(_OFFSETS)
    with k.for_(names[0], side) as ky, k.for_(names[1], side) as kx:
        py = k.let("py patch_row", y + p.pad - ky if p.pad else y - ky)
        px = k.let("px patch_col", x + p.pad - kx if p.pad else x - kx)
        entry = p.entry(lead, ky, kx)
        _add(p, total, lambda patch: patches[p.place(lead, entry, patch)], (py, px), ends)
    out = k.out("image folded grad_image", p.scalar, (*p.leads, p.pixels(rows), p.pixels(cols)))
    k.store(out, index(*lead, y, x), total)
    text = (
        f"Fold {say(k, patches)} ({p.laid_out}) back into {out.name}: each pixel is the sum of its "
        f"entries in {p.told.format(out.name)}."
    )
    return Title(k.name("col2im fold_patches fold" if p.columns else "row2im fold_rows"), text)


def _add(
    p: Patches,
    total: Var,
    entry: Callable[[Expr], Expr],
    at: tuple[Var, Var],
    ends: tuple[Var, Var],
) -> None:
    """Add the entry of the patch that begins so many pixels in, if one does."""
    k, (py, px) = p.k, at
    inside = fn("and", py >= 0, px >= 0)
    if p.step == 1:
        with k.if_(fn("and", fn("and", inside, py < ends[0]), px < ends[1])):
            k.augment(total, "add", entry(py * ends[1] + px))
        return
    with k.if_(inside):
        whole = fn("and", fn("eq", py % p.step, 0), fn("eq", px % p.step, 0))
        with k.if_(whole):
            row = k.let("down from_row", py // p.step)
            col = k.let("over from_col", px // p.step)
            with k.if_(fn("and", row < ends[0], col < ends[1])):
                k.augment(total, "add", entry(row * ends[1] + col))
