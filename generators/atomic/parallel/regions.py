"""Tallies over images by code, cell or region: patterns, gradients, boxes, splats, projections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from generators.atomic.parallel.parts import (
    COUNTS,
    INT64,
    Shared,
    both,
    extent_of,
    guarded,
    named,
    spot,
)
from generators.atomic.parallel.pixels import Pixel, pixels
from generators.build import KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import PI, TWO_PI, atan2, least, most, sqrt
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var

_AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))


@idiom(depth=3)
def binary_pattern_counts(k: KernelBuilder, level: int) -> Title:
    """Local binary patterns: each pixel is compared with those around it, the codes are counted.

    T. Ojala, M. Pietikainen, D. Harwood, Pattern Recognition 29 (1996).
    """
    shape = k.draw.shape
    type_: Scalar = shape.weighted({FLOAT32: 3, INT32: 3})
    with pixels(k, level) as p:
        image = p.image("image gray img", type_, 0, 1 if type_.is_float else 60)
        b = _Pattern(p, image, type_)
        names = "rank_hist rank_counts" if b.ones else "lbp_hist code_counts"
        out = p.shared(names, shape.weighted(COUNTS), (str(b.bins),))
        margin = shape.chance(0.6)
        if margin:
            with p.guard(p.inside(1)):
                b.count(out, False)
        else:
            b.count(out, True)
    where = "but those on its border" if margin else "whose border pixels repeat outside of it"
    about = "ranks among neighbours" if b.ones else "local binary patterns"
    text = f"Histogram of {about}: for each pixel of {image.name}, {where}, "
    if b.ones:
        text += f"count which of its {len(b.around)} neighbours are {b.said()}, and add 1 to "
        text += f"{out.said('count')}."
    else:
        text += (
            f"add 1 to {out.said('code')}, the code of its {len(b.around)} neighbours {b.order}: "
        )
        text += f"{b.said()}."
    return Title(
        k.name("neighbour_ranks rank_histogram" if b.ones else "lbp_histogram binary_patterns"),
        text,
    )


class _Pattern:
    """The code of a pixel: a bit for each neighbour that is as bright."""

    def __init__(self, p: Pixel, image: Var, type_: Scalar) -> None:
        k, shape = p.k, p.k.draw.shape
        self.p, self.image = p, image
        four = shape.chance(0.6)
        self.around = _AROUND[1::2] if four else _AROUND
        self.order = "clockwise from above" if four else "clockwise from the upper left"
        self.ones = not four or shape.chance(0.3)
        self.folded = four and not self.ones and p.level > 2 and shape.chance(0.5)
        self.slack: Var | None = None
        if shape.chance(0.35):
            span = (0.02, 0.2) if type_.is_float else (1, 9)
            self.slack = k.scalar("tolerance margin_t", type_, *span)
        self.strict = shape.chance(0.4)

    @property
    def bins(self) -> int:
        return len(self.around) + 1 if self.ones else 1 << len(self.around)

    def count(self, out: Shared, clamped: bool) -> None:
        p, k = self.p, self.p.k
        centre = k.let("center c0 mid", self.p.own(self.image))
        least_ = centre if self.slack is None else k.let("level_c cut", centre + self.slack)
        code = k.let("code pattern bits" if not self.ones else "count ones", k.lift(0, INT32))
        for n, (dy, dx) in enumerate(self.around):
            value = (p.clamped if clamped else p.at)(self.image, dy, dx)
            with k.if_(value > least_ if self.strict else fn("ge", value, least_)):
                k.augment(code, "add", 1 if self.ones else 1 << n)
        if self.folded:
            code_ = k.let("folded sign_free", least(code, self.bins - 1 - code))
            out.update("add", (code_,), 1)
            return
        out.update("add", (code,), 1)

    def said(self) -> str:
        test = "greater than" if self.strict else "at least"
        than = f"the pixel's value{f' plus {self.slack.name}' if self.slack is not None else ''}"
        if self.ones:
            return f"{test} {than}"
        text = f"bit n is set where neighbour n is {test} {than}"
        return text + (
            f", and code is the smaller of that and {self.bins - 1} less it" * self.folded
        )


@idiom(depth=4)
def gradient_cells(k: KernelBuilder, level: int) -> Title:
    """Histograms of oriented gradients by cell.

    N. Dalal, B. Triggs, CVPR 2005.
    """
    shape, bin_size = k.draw.shape, k.size("orientations", 4, 6)
    cell = k.draw.value.choice((4, 6, 6))
    rows, columns = k.size("cell_rows", 2, 3), k.size("cell_cols", 2, 3)
    dims = (f"{cell}*{rows}", f"{cell}*{columns}")
    y, x = k.thread(*dims, names=k.draw.word.choice((("y", "x"), ("i", "j"))))
    image = k.array("image gray img", FLOAT32, dims, low=0.0, high=1.0)
    out = k.accumulator("cells hog histograms", FLOAT32, (rows, columns, bin_size))
    bins = extent(out, 2) if shape.chance(0.4) else extent_of(k, bin_size)
    g = _Gradient(k, image, (), y, x)
    parted = level > 1 and shape.chance(0.5)
    with g.guard():
        gy, gx = g.taken()
        size = k.let("mag magnitude", sqrt(gx * gx + gy * gy))
        with g.strong(size):
            place = g.place(gy, gx, bins)
            slot = k.let("slot bin_id b0", cast(place, INT32))
            at = (y // cell, x // cell)
            part = k.let("part frac", place - cast(slot, FLOAT32)) if parted else None
            first = size if part is None else size * (1.0 - part)
            k.atomic("add", out, (*at, slot % bins), first)
            if part is not None:
                k.atomic("add", out, (*at, (slot + 1) % bins), size * part)
    n = written(bins) if isinstance(bins, Var) else "B"
    text = f"Orientation histograms of the {cell} x {cell} cells of {image.name} (HOG): for each "
    text += f"pixel{g.where()}, add {g.amount()} to bin int(t) % {n} of its cell in {out.name}"
    text += ", shared linearly with the next bin by the fraction of t" if parted else ""
    text += f". Here {g.said(n)}"
    text += "." if isinstance(bins, Var) else ", B being the number of bins of a cell."
    return Title(k.name("hog_cells gradient_histograms orientation_bins"), text)


class _Gradient:
    """Differences of a pixel's neighbours, its direction as a bin."""

    def __init__(
        self, k: KernelBuilder, image: Var, lead: tuple[Expr, ...], y: Expr, x: Expr
    ) -> None:
        shape = k.draw.shape
        self.k, self.image, self.lead, self.y, self.x = k, image, lead, y, x
        self.way = shape.choice(("central", "central", "sobel", "edge", "edge"))
        self.half = shape.chance(0.65)
        self.cut: Var | None = None
        if shape.chance(0.25):
            low, high = (0.8, 1.6) if self.way == "sobel" else (0.25, 0.5)
            self.cut = k.scalar("threshold min_gradient", FLOAT32, low, high)
        self.height, self.width = (extent(image, len(lead) + a) for a in (0, 1))

    def _value(self, dy: int, dx: int) -> Expr:
        y = self.y + dy if dy > 0 else self.y - 1 if dy else self.y
        x = self.x + dx if dx > 0 else self.x - 1 if dx else self.x
        if self.way == "edge":
            y = least(y, self.height - 1) if dy > 0 else most(y, 0) if dy else y
            x = least(x, self.width - 1) if dx > 0 else most(x, 0) if dx else x
        return self.image[spot(*self.lead, y, x)]

    @contextmanager
    def guard(self) -> Iterator[None]:
        if self.way == "edge":
            yield
            return
        tests = (self.y > 0, self.x > 0, self.y + 1 < self.height, self.x + 1 < self.width)
        with guarded(self.k, both(*tests), False):
            yield

    @contextmanager
    def strong(self, size: Expr) -> Iterator[None]:
        if self.cut is None:
            yield
            return
        with guarded(self.k, size > self.cut, False):
            yield

    def taken(self) -> tuple[Expr, Expr]:
        """Differences down and to the right."""
        k, v = self.k, self._value
        if self.way == "sobel":
            gy = v(1, -1) + 2.0 * v(1, 0) + v(1, 1) - v(-1, -1) - 2.0 * v(-1, 0) - v(-1, 1)
            gx = v(-1, 1) + 2.0 * v(0, 1) + v(1, 1) - v(-1, -1) - 2.0 * v(0, -1) - v(1, -1)
            return k.let("gy", gy), k.let("gx", gx)
        gy, gx = v(1, 0) - v(-1, 0), v(0, 1) - v(0, -1)
        return k.let("gy", gy), k.let("gx", gx)

    def place(self, gy: Expr, gx: Expr, bins: Expr) -> Expr:
        """The direction in bins: of the whole turn, or of half of it."""
        k, turn = self.k, PI if self.half else TWO_PI
        angle = k.let("theta angle", atan2(gy, gx))
        with k.if_(angle < 0.0):
            k.augment(angle, "add", turn)
        return k.let("place t_bin", angle * cast(bins, FLOAT32) / turn)

    def where(self) -> str:
        if self.way == "edge":
            return " of the image, whose border repeats outside,"
        return " but those on the border of the image"

    def said(self, bins: str) -> str:
        way = "gy is the value below less that above, gx that to the right less that to the left"
        if self.way == "sobel":
            way = "gy and gx are Sobel's sums of weights 1, 2, 1: below less above, right less left"
        turn = "pi" if self.half else "2 * pi"
        text = f"{way}, a is atan2(gy, gx), plus {turn} where that is negative "
        text += f"({'un' * self.half}signed directions), and "
        return f"{text}t = a * {bins} / {turn if self.half else f'({turn})'}"

    def amount(self) -> str:
        text = "|(gx, gy)|"
        return text if self.cut is None else f"{text}, where it is more than {self.cut.name},"


_BOXES = ("box", "pairs", "corners")


@idiom(depth=2)
def label_boxes(k: KernelBuilder, level: int) -> Title:
    """Regions of a label image: their bounding boxes, or area and first moments."""
    shape = k.draw.shape
    with pixels(k, level) as p:
        k.size("regions", 8, 12)
        labels = p.image("labels regions_map segments", INT32, init="index_of:regions")
        skipped, shifted = shape.chance(0.5), shape.chance(0.5)
        r = k.let("label r region", p.own(labels))
        form = shape.choice(("box", "pairs", "corners", "moments", "weighted"))
        if skipped:
            with p.guard(r > 0 if shape.chance(0.5) else fn("ne", r, k.lift(0, INT32))):
                own = named(k, "slot region_id", r - 1, 0.8) if shifted else r
                text = _region(p, form, own)
        else:
            text = _region(p, form, r)
    about = f"each pixel of {labels.name}" + (" that is not 0 (the background)" if skipped else "")
    place = "its label less 1" if skipped and shifted else "its label"
    what = "Bounding boxes" if form in _BOXES else "Areas and moments"
    what = "Weighted moments" if form == "weighted" else what
    text = f"{what} of labelled regions: for {about}, with r {place}, {text}."
    names = "label_boxes region_bounds component_boxes"
    names = names if form in _BOXES else "region_moments label_centroids component_sums"
    return Title(k.name(names), text)


def _region(p: Pixel, form: str, r: Expr) -> str:
    """What a pixel gives to its region."""
    if form in _BOXES:
        return _boxed(p, form, r)
    return _whole_moments(p, r) if form == "moments" else _weighted_moments(p, r)


def _boxed(p: Pixel, form: str, r: Expr) -> str:
    """Bounding boxes by minimum and maximum."""
    k, shape, far = p.k, p.k.draw.shape, 10**6
    end = 1 if shape.chance(0.4) else 0
    past = "(row + 1, column + 1)" if end else "them"
    y2, x2 = (p.y + 1, p.x + 1) if end else (p.y, p.x)
    if p.level > 1 and shape.chance(0.4):
        area = p.shared("area sizes", shape.weighted(COUNTS), ("regions",))
        area.update("add", (r,), 1)
        past += f", and add 1 to {area.name}[r]"
    if form == "corners":
        vec = Vec(2, INT32)
        lows = p.shared("box_low corner_min", vec, ("regions",), far)
        highs = p.shared("box_high corner_max", vec, ("regions",), -1)
        corner = named(k, "at corner", make(vec, p.y, p.x), 0.7)
        lows.update("min", (r,), corner)
        highs.update("max", (r,), make(vec, y2, x2) if end else corner)
        text = f"lower {lows.name}[r] to the pixel's (row, column) and raise {highs.name}[r] to "
        return text + past
    if form == "pairs":
        lows = p.shared("box_low box_min lows", INT32, ("regions", "2"), far)
        highs = p.shared("box_high box_max highs", INT32, ("regions", "2"), -1)
        for n, (place, last) in enumerate(((p.y, y2), (p.x, x2))):
            lows.update("min", (r, n), place)
            highs.update("max", (r, n), last)
        text = f"lower {lows.name}[r] to the pixel's row and column and raise {highs.name}[r] to "
        return text + past
    y0 = p.shared("row_low", INT32, ("regions",), far)
    x0 = p.shared("col_low", INT32, ("regions",), far)
    y1 = p.shared("row_high", INT32, ("regions",), -1)
    x1 = p.shared("col_high", INT32, ("regions",), -1)
    for low, high, place, last in ((y0, y1, p.y, y2), (x0, x1, p.x, x2)):
        low.update("min", (r,), place)
        high.update("max", (r,), last)
    text = f"lower {y0.name}[r] and {x0.name}[r] to the pixel's row and column and raise "
    return text + f"{y1.name}[r] and {x1.name}[r] to {past}"


def _whole_moments(p: Pixel, r: Expr) -> str:
    """Areas and sums of rows and columns, in whole numbers."""
    kind = p.k.draw.shape.choice((INT32, INT64))
    area = p.shared("area sizes", kind, ("regions",))
    area.update("add", (r,), 1)
    rows, cols = (p.shared(n, kind, ("regions",)) for n in ("row_sums", "col_sums"))
    rows.update("add", (r,), cast(p.y, kind))
    cols.update("add", (r,), cast(p.x, kind))
    text = f"add 1 to {area.name}[r], and the pixel's row and column to {rows.name}[r] and "
    return f"{text}{cols.name}[r]"


def _weighted_moments(p: Pixel, r: Expr) -> str:
    """Sums of an image, and of it times rows and columns."""
    image = p.image("image intensity gray", FLOAT32, 0.1, 1.0)
    value = p.let("v value", p.own(image), 0.9)
    mass = p.shared("mass sums", FLOAT32, ("regions",))
    mass.update("add", (r,), value)
    rows, cols = (p.shared(n, FLOAT32, ("regions",)) for n in ("row_moments", "col_moments"))
    rows.update("add", (r,), value * cast(p.y, FLOAT32))
    cols.update("add", (r,), value * cast(p.x, FLOAT32))
    text = f"add {image.name} to {mass.name}[r], and that times the pixel's row and column to "
    return text + f"{rows.name}[r] and {cols.name}[r]"
