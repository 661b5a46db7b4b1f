"""Windows over planes: convolutions in space and time, pooling, gradients of images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, most, sqrt
from generators.kit.naming import local, routine
from generators.kit.sources import zero
from generators.matrix.large.cells import Cells, cells, finish
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, INT32, Type
from generators.program.expr import Expr, Var

_PLANES = {
    2: (("i", "j"), ("row", "col"), ("y", "x")),
    3: (("c", "y", "x"), ("ch", "row", "col"), ("c", "i", "j")),
    4: (("b", "c", "y", "x"), ("item", "ch", "row", "col")),
}
_LEADS = {2: (), 3: ("c",), 4: ("b", "c")}


@dataclass
class Window:
    """A square window over each plane of an image: where it starts, and how it steps."""

    c: Cells
    image: Var
    side: int
    step: int = 1
    spread: int = 1
    before: int = 0
    ends: tuple[Var, ...] = ()
    edge: str = "valid"

    def start(self, axis: int) -> Expr:
        """The first row or column of the window."""
        at = self.c.at[axis - 2]
        return at if self.step == 1 else self.step * at

    def place(self, axis: int, offset: Expr) -> Expr:
        """A row or column of the window."""
        moved = self.start(axis) + (offset if self.spread == 1 else self.spread * offset)
        return moved - self.before if self.before else moved

    def at(self, row: Expr, col: Expr) -> Expr:
        """A pixel, or the nearest one within the image."""
        if self.edge == "clamp":
            row, col = (clamp(v, 0, n - 1) for v, n in zip((row, col), self.ends, strict=True))
        if self.edge == "last":
            row, col = (least(v, n - 1) for v, n in zip((row, col), self.ends, strict=True))
        return self.image[index(*self.c.at[:-2], row, col)]


@idiom(depth=3)
def convolve_planes(k: KernelBuilder, level: int) -> Title:
    """A 3 x 3 or 5 x 5 convolution of one plane, or of each channel, with its epilogue."""
    shape = k.draw.shape
    rank = shape.weighted({2: 4, 3: 4, 4: 1 if level < 3 else 2})
    scalar = k.draw.wide_float_type() if rank == 2 else FLOAT32
    leads = [k.size(s, 2, 3) for s in _LEADS[rank]]
    h, w = k.size("h", 4, 7), k.size("w", 5, 8)
    side = shape.weighted({3: 4, 5: 1})
    step = shape.choice((1, 1, 2)) if level >= 2 else 1
    spread = shape.choice((1, 2)) if level >= 3 and step == 1 else 1
    padded = step == 1 and shape.chance(0.6 if level >= 3 else 0.3)
    reach = spread * (side - 1)
    sizes = (h, w) if padded else tuple(f"{times(step, s)}+{reach}" for s in (h, w))
    called = "image x_in" if rank == 2 else "x_in features planes"
    image = k.array(called, scalar, (*leads, *sizes), low=-1.0, high=1.0)
    own = rank > 2 and shape.chance(0.7)
    taps_shape = (*leads[-1:], str(side), str(side)) if own else (str(side), str(side))
    taps = k.array("taps weights kernel filt", scalar, taps_shape, low=-0.6, high=0.8)
    edge = shape.choice(("zero", "clamp")) if padded else "valid"
    ends: tuple[Var, ...] = ()
    if padded:
        ends = k.size_param("height num_rows", h), k.size_param("width num_cols", w)
    c = cells(k, scalar, (*leads, h, w), _PLANES[rank], rank - 3 if rank > 2 else None)
    window = Window(c, image, side, step, spread, reach // 2 if padded else 0, ends, edge)
    total, flipped = _convolved(window, taps, own)
    planes = "each channel of " if rank > 2 else ""
    verb = "Convolve" if flipped else "Cross-correlate"
    c.say(f"{verb} {planes}{image.name} with {'its own' if own else 'the'} {side} x {side}")
    more = f" with stride {step}" * (step > 1) + f" with dilation {spread}" * (spread > 1)
    ends_said = {
        "valid": ", without padding",
        "zero": f", with zero padding of {reach // 2}",
        "clamp": f", with edge padding of {reach // 2}",
    }
    flips = " (the filter is flipped in both axes)" if flipped else ""
    c.said[-1] += f" filter {taps.name}{more}{ends_said[edge]}{flips}."
    finish(c, level, total, "out filtered response", "layer" if own else "plain")
    plain = "convolve_image filter_image" if rank == 2 else "convolve_planes filter_channels"
    return Title(k.name("depthwise_conv depthwise_conv2d" if own else plain), c.text)


def times(step: int, size: str) -> str:
    """A size times a stride."""
    return size if step == 1 else f"{step}*{size}"


def _convolved(window: Window, taps: Var, own: bool) -> tuple[Var, bool]:
    """The sum over the window, and whether the taps are flipped."""
    c, k, side = window.c, window.c.k, window.side
    flipped = c.chance(0.3)
    total = k.let("total acc s", zero(c.scalar))
    ky, kx = k.draw.word.choice((("ky", "kx"), ("di", "dj"), ("r", "q"), ("u", "v")))
    with k.for_(ky, side) as a:
        row = window.place(0, a)
        row = k.let("yy src_row iy", row) if window.ends else row
        with k.for_(kx, side) as b:
            turned = (side - 1 - a, side - 1 - b) if flipped else (a, b)
            tap = taps[(c.at[-3], *turned) if own else turned]
            col = window.place(1, b)
            col = k.let("xx src_col ix", col) if window.ends else col
            if window.edge == "zero":
                rows, cols = window.ends
                within = fn("and", fn("and", row >= 0, row < rows), col >= 0)
                with k.if_(fn("and", within, col < cols)):
                    k.augment(total, "add", tap * window.at(row, col))
            else:
                k.augment(total, "add", tap * window.at(row, col))
    return total, flipped


def _add_in_time(
    k: KernelBuilder,
    total: Var,
    tap: Expr,
    sample: Callable[[Expr], Expr],
    when: Expr,
    length: Expr | None,
    hold: bool,
) -> None:
    """One tap's product, for a step that there is, or the nearest one."""
    if hold:
        inside = most(when, 0) if length is None else clamp(when, 0, length - 1)
        k.augment(total, "add", tap * sample(inside))
        return
    inner = when >= 0
    with k.if_(inner if length is None else fn("and", inner, when < length)):
        k.augment(total, "add", tap * sample(when))


def _say_in_time(c: Cells, signal: Var, rest: str, spread: Var | None, causal: bool) -> None:
    dilated = f"dilated by {spread.name}, " if spread is not None else ""
    c.say(f"{'Causal' if causal else 'Centred'} convolution of {signal.name} along time, {dilated}")
    c.said[-1] += rest


@idiom(depth=3)
def temporal_convolution(k: KernelBuilder, level: int) -> Title:
    """A convolution over time with dilation, causal or centred, for channels or sequences."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    rank = shape.weighted({2: 3, 3: 2})
    leads = [k.size(s, 2, 4) for s in (("b", "c") if rank == 3 else ("c",))]
    causal = shape.chance(0.6)
    # A centred filter has as many taps on either side of its middle.
    steps = k.size("t", 7, 12)
    reach = k.size("taps", 3, 5) if causal else k.size("radius", 1, 2)
    width = reach if causal else f"2*{reach}+1"
    signal = k.array("signal sequence series", scalar, (*leads, steps), low=-1.0, high=1.0)
    own = shape.chance(0.5 + 0.08 * level)
    dims = (*leads[-1:], width) if own else (width,)
    taps = k.array("taps weights kernel", scalar, dims, low=-0.6, high=0.8)
    wide = level >= 2 and shape.chance(0.6)
    spread = k.scalar("dilation spacing", INT32, 1, 2) if wide else None
    length = None if causal else k.size_param("length num_steps", steps)
    count: Expr = k.size_param("num_taps kernel_size" if causal else "radius half_width", reach)
    names = (("c", "t"), ("ch", "step")) if rank == 2 else (("b", "c", "t"), ("item", "ch", "step"))
    c = cells(k, scalar, (*leads, steps), names, rank - 2)
    lead, now = c.at[:-1], c.at[-1]
    total, hold = k.let("total acc s", zero(scalar)), shape.chance(0.5)
    with k.for_("j tap m", count if causal else 2 * count + 1) as j:
        back: Expr = j if causal else j - count
        back = back if spread is None else back * spread
        when = c.part("src t_in", now - back if causal else now + back)
        tap = taps[(lead[-1], j) if own else (j,)]
        _add_in_time(k, total, tap, lambda at: signal[index(*lead, at)], when, length, hold)
    told = c.tell(tap * signal[index(*lead, when)])
    whose = f"{'a filter per channel' if own else 'the filter'} {taps.name}"
    _say_in_time(c, signal, f"with {whose}: sum {told} over {j.name}.", spread, causal)
    ends = "before the start" if causal else "beyond an end"
    repeat = f"repeat the {'first' if causal else 'nearest'} one"
    c.say(f"Steps {ends} {repeat if hold else 'count as zero'}.")
    finish(c, level, total, "out filtered features", "layer" if own else "plain")
    titles = "causal_conv1d" if causal else "temporal_conv conv_over_time"
    return Title(k.name("dilated_conv1d dilated_conv" if wide else titles), c.text)


@idiom(depth=2)
def pool_planes(k: KernelBuilder, level: int) -> Title:
    """Pooling of blocks or overlapping windows; erosion and dilation at stride 1."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    rank = shape.weighted({2: 4, 3: 4, 4: 2})
    leads = [k.size(s, 2, 3) for s in _LEADS[rank]]
    h, w = k.size("h", 4, 6), k.size("w", 5, 7)
    side, step = shape.choice(((2, 2), (2, 2), (3, 2), (3, 1), (3, 3)))
    form = shape.choice(("max", "max", "min", "mean", "mean", "l2"))
    clamped = side > step and shape.chance(0.6)
    sizes = [s if step == 1 else f"{step}*{s}" for s in (h, w)]
    if side > step and not clamped:
        sizes = [f"{s}+{side - step}" for s in sizes]
    names = "image frame" if rank == 2 else "activations maps feature_maps"
    image = k.array(names, scalar, (*leads, *sizes), low=-1.0, high=1.0)
    ends: tuple[Var, ...] = ()
    if clamped:
        ends = tuple(map(k.size_param, ("height num_rows", "width num_cols"), sizes))
    c = cells(k, scalar, (*leads, h, w), _PLANES[rank], rank - 3 if leads else None)
    window = Window(c, image, side, step, 1, int(clamped), ends, "clamp" if ends else "valid")
    value = _pooled(window, form)
    planes = "each plane of " if leads else ""
    kind = {"max": "Max", "min": "Min", "mean": "Average"}.get(form, "L2")
    c.say(f"{kind} pooling of {planes}{image.name} over {side} x {side} windows with")
    within = " and padding 1, which repeats the pixels at the edge" if ends else ""
    root = ": the square root of the sum of the squares" * (form == "l2")
    c.said[-1] += f" stride {step}{within}{root}."
    finish(c, level, value, "out pooled", "plain")
    name = {"mean": "avg"}.get(form, form)
    return Title(k.name(f"{name}_pool {name}_pool2d pool_{name}"), c.text)


def _pooled(window: Window, form: str) -> Var:
    """The value of a window."""
    c, k = window.c, window.c.k
    sums, size = form in ("mean", "l2"), float(window.side**2)
    top, left = (
        local(k, names, window.start(axis))
        for axis, names in enumerate(("top y0 row0", "left x0 col0"))
    )
    first = window.image[index(*c.at[:-2], top, left)]
    held = {"max": "best largest", "min": "lowest smallest", "mean": "total acc"}
    value = k.let(held.get(form, "squares sum_sq"), zero(c.scalar) if sums else first)
    down, across = k.draw.word.choice((("di", "dj"), ("r", "q"), ("ky", "kx")))
    with k.for_(down, window.side) as a, k.for_(across, window.side) as b:
        entry = window.at(*(at - 1 if window.before else at for at in (top + a, left + b)))
        entry = k.let("entry pixel", entry) if form == "l2" else entry
        if sums:
            k.augment(value, "add", entry if form == "mean" else entry * entry)
        else:
            k.assign(value, fn("min" if form == "min" else "max", value, entry))
    if form == "mean":
        k.augment(value, "div", size)
    elif form == "l2":
        return k.let("norm pooled", sqrt(value))
    return value


_WEIGHTS = {"sobel": (1.0, 2.0, 8.0), "scharr": (3.0, 10.0, 32.0), "prewitt": (1.0, 1.0, 6.0)}
"""The weights across of an operator, at the sides and in the middle, and what they are over."""


@idiom(depth=2)
def image_gradient(k: KernelBuilder, level: int) -> Title:
    """Gradients of images by Sobel and kin: components, magnitude, direction."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    rank = shape.weighted({2: 5, 3: 4})
    leads = [k.size(s, 2, 3) for s in _LEADS[rank]]
    h, w = k.size("h", 6, 8), k.size("w", 6, 8)
    form = shape.choice((*_WEIGHTS, "central", "roberts"))
    more = 1 if form == "roberts" else 2
    dims = (*leads, f"{h}+{more}", f"{w}+{more}")
    image = k.array("image gray luma", scalar, dims, low=-1.0, high=1.0)
    c = cells(k, scalar, (*leads, h, w), _PLANES[rank])
    gx, gy, about = _components(c, form, image, level)
    planes = "each plane of " if leads else ""
    at = "over 2 x 2 blocks" if form == "roberts" else "at the inner pixels"
    c.say(f"Image gradient {at} of {planes}{image.name}: {about}.")
    if level >= 2 and shape.chance(0.5):
        for name, part in zip(k.draw.word.choice(_PARTS), (gx, gy), strict=True):
            c.write(name, part)
    value, text, outs = _measure(c, gx, gy)
    c.write(outs, value, text)
    return Title(k.name(f"{form}_gradient {form}_edges"), c.text)


_PARTS = (("grad_x", "grad_y"), ("gx_out", "gy_out"))


_AXES = "gx (along a row) and gy (along a column) are"
_ROBERTS = (
    "gx is the upper left less the lower right pixel of the block, gy the upper right less the "
    "lower left (Roberts cross)"
)


def _components(c: Cells, form: str, image: Var, level: int) -> tuple[Var, Var, str]:
    """The differences along both axes, and what they are."""
    k, lead, (y, x) = c.k, c.at[:-2], c.at[-2:]

    def u(a: int, b: int) -> Expr:
        return image[index(*lead, y + a if a else y, x + b if b else x)]

    if form == "roberts":
        parts = [u(0, 0) - u(1, 1), u(0, 1) - u(1, 0)]
        about = _ROBERTS
    elif form == "central":
        parts = [0.5 * (u(1, 2) - u(1, 0)), 0.5 * (u(2, 1) - u(0, 1))]
        about = f"{_AXES} half the differences of the neighbours after and before"
    else:
        side, middle, over = _WEIGHTS[form]

        def smooth(_: BodyBuilder, a: Expr, b: Expr, d: Expr) -> Expr:
            if form == "prewitt":
                return a + b + d
            return a + middle * b + d if form == "sobel" else side * a + middle * b + side * d

        args: dict[str, Type] = {"a": c.scalar, "b": c.scalar, "d": c.scalar}
        sums = routine(
            k,
            0.6 * (level >= 2 and form != "prewitt"),
            f"{form}_smooth smooth_across",
            args,
            smooth,
        )
        after = sums(*(u(i, 2) for i in range(3))), sums(*(u(2, i) for i in range(3)))
        before = sums(*(u(i, 0) for i in range(3))), sums(*(u(0, i) for i in range(3)))
        parts = [(after[axis] - before[axis]) / over for axis in range(2)]
        shown = f"{side:g}, {middle:g}, {side:g} across, over {over:g}"
        about = f"{_AXES} {form.title()} differences, after less before, with weights {shown}"
    names = k.draw.word.choice((("gx", "gy"), ("dx", "dy")))
    gx, gy = map(k.let, names, parts)
    c.spoken.update({gx.name: ("gx", ""), gy.name: ("gy", "")})
    return gx, gy, about


def _measure(c: Cells, gx: Var, gy: Var) -> tuple[Var, str, str]:
    """How strong the gradient is, in words as well, and names of what holds it."""
    form = c.shape.choice(("length", "length", "l1", "largest", "energy", "conductance"))
    square = gx * gx + gy * gy
    value, text, outs = {
        "length": (sqrt(square), "sqrt(gx^2 + gy^2)", "magnitude edges"),
        "l1": (abs(gx) + abs(gy), "|gx| + |gy|", "magnitude edges"),
        "largest": (most(abs(gx), abs(gy)), "max(|gx|, |gy|)", "edges strength"),
        "energy": (square, "gx^2 + gy^2", "energy grad_sq"),
        "conductance": (square, "", "conductance diffusivity"),
    }[form]
    if form == "conductance":
        contrast = c.k.scalar("kappa contrast", c.scalar, 0.5, 2.0)
        value = 1.0 / (1.0 + square / (contrast * contrast))
        text = f"the Perona-Malik conductance 1 / (1 + (gx^2 + gy^2) / {contrast.name}^2)"
    names = {"conductance": "conduct g", "energy": "energy_xy grad_sq_xy"}
    return c.k.let(names.get(form, "strength mag"), value), text, outs
