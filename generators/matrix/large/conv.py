"""Convolutions of planes: channels, padding, stride and dilation; a thread an output pixel."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.matrix.large.core import at, cells
from generators.matrix.large.finish import finish
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Operand, Var, op

_NAMES = {
    2: (("i", "j"), ("row", "col"), ("y", "x")),
    3: (("c", "y", "x"), ("ch", "row", "col"), ("b", "i", "j")),
    4: (("b", "c", "y", "x"), ("item", "ch", "row", "col")),
}
_LEADS = {2: (), 3: ("c",), 4: ("b", "c")}


@idiom
def convolve_planes(k: KernelBuilder, level: int) -> Title:
    """A 3 x 3 or 2 x 2 convolution of one plane, or of each channel, with its epilogue."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    rank = shape.weighted({2: 4, 3: 4, 4: 1 if level < 3 else 2})
    leads = [k.size(s, 2, 3) for s in _LEADS[rank]]
    h, w = k.size("h", 4, 7), k.size("w", 5, 8)
    side = shape.weighted({3: 4, 2: 1})
    step = shape.choice((1, 1, 2)) if level >= 2 else 1
    spread = shape.choice((1, 2)) if level >= 3 and step == 1 else 1
    padded = step == 1 and side == 3 and shape.chance(0.6 if level >= 3 else 0.3)
    reach = spread * (side - 1)
    sizes = (h, w) if padded else tuple(f"{step}*{s}+{reach}" for s in (h, w))
    image = k.array("image x_in features planes", scalar, (*leads, *sizes), low=-1.0, high=1.0)
    own = rank > 2 and shape.chance(0.7)
    taps_shape = (leads[-1], str(side), str(side)) if own else (str(side), str(side))
    taps = k.array("taps weights kernel filt", scalar, taps_shape, low=-0.6, high=0.8)
    edge = shape.choice(("zero", "clamp")) if padded else "valid"
    flipped = shape.chance(0.3)
    rows = cols = None
    if padded:
        rows = k.size_param("height num_rows", h)
        cols = k.size_param("width num_cols", w)
    c = cells(k, scalar, (*leads, h, w), *_NAMES[rank])
    c.channel = rank - 3 if rank > 2 else None
    lead, (y, x) = c.at[:-2], c.at[-2:]
    total = k.let("total acc s", zero(scalar))
    ky, kx = k.draw.word.choice((("ky", "kx"), ("di", "dj"), ("r", "q"), ("u", "v")))

    def place(start: Expr, offset: Expr) -> Expr:
        begin = start if step == 1 else step * start
        moved: Operand = offset if spread == 1 else spread * offset
        return begin + moved - (reach // 2) if padded else begin + moved

    with k.for_(ky, side) as a:
        row = place(y, a)
        if padded:
            row = k.let("yy src_row iy", row)
        with k.for_(kx, side) as b:
            col = place(x, b)
            turned = (side - 1 - a, side - 1 - b) if flipped else (a, b)
            tap = taps[(lead[-1], *turned) if own else turned]
            if rows is None or cols is None:
                k.augment(total, "add", tap * image[at(*lead, row, col)])
            else:
                col = k.let("xx src_col ix", col)
                if edge == "clamp":
                    near = (fn("clamp", row, 0, rows - 1), fn("clamp", col, 0, cols - 1))
                    k.augment(total, "add", tap * image[at(*lead, *near)])
                else:
                    within = op("and", op("and", row >= 0, row < rows), col >= 0)
                    with k.if_(op("and", within, col < cols)):
                        k.augment(total, "add", tap * image[at(*lead, row, col)])
    c.say(f"Convolve {'each plane of ' if rank > 2 else ''}{image.name} with the")
    turn = "flipped" if flipped else "unflipped"
    c.say(f"{side} x {side} {taps.name}{' of its channel' if own else ''}, {turn},")
    more = [f"stride {step}, "] if step > 1 else []
    more += [f"dilation {spread}, "] if spread > 1 else []
    c.say(f"{''.join(more)}the window")
    ends = {
        "valid": f"starting at {f'{step} times ' if step > 1 else ''}the position.",
        "zero": f"starting {reach // 2} before the position, zero outside.",
        "clamp": f"starting {reach // 2} before the position, positions clamped to the image.",
    }
    c.say(ends[edge])
    finish(c, level, total, "out filtered response")
    return Title(k.name("convolve_planes conv_forward depthwise_conv conv_block"), c.text)


@idiom
def temporal_convolution(k: KernelBuilder, level: int) -> Title:
    """A convolution over time with dilation, causal or centred, for channels or sequences."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    rank = shape.weighted({2: 3, 3: 2})
    leads = [k.size(s, 2, 4) for s in (("b", "c") if rank == 3 else ("c",))]
    steps, width = k.size("t", 7, 12), k.size("m", 3, 5)
    signal = k.array("signal sequence series", scalar, (*leads, steps), low=-1.0, high=1.0)
    own = shape.chance(0.6)
    taps = k.array(
        "taps weights kernel", scalar, (leads[-1], width) if own else (width,), low=-0.6, high=0.8
    )
    causal = shape.chance(0.6)
    spread: Var | None = None
    if level >= 2 and shape.chance(0.6):
        spread = k.scalar("dilation spacing", INT32, 1, 2)
    length = None if causal else k.size_param("length num_steps", steps)
    count = k.trip_count("tap_count num_taps", width)
    c = cells(
        k,
        scalar,
        (*leads, steps),
        *((("c", "t"), ("ch", "step")) if rank == 2 else (("b", "c", "t"), ("item", "ch", "step"))),
    )
    lead, now = c.at[:-1], c.at[-1]
    total = k.let("total acc s", zero(scalar))
    edge = shape.choice(("zero", "hold"))
    with k.for_("j tap m", count) as j:
        back = j if spread is None else j * spread
        when = k.let("src when past", now - back if causal else now + back)
        tap = taps[(lead[-1], j) if own else (j,)]
        if edge == "hold":
            inside = fn("max", when, 0) if length is None else fn("min", when, length - 1)
            k.augment(total, "add", tap * signal[at(*lead, inside)])
        else:
            with k.if_(when >= 0 if length is None else when < length):
                k.augment(total, "add", tap * signal[at(*lead, when)])
    way = "-" if causal else "+"
    by = "" if spread is None else f" * {spread.name}"
    c.say(f"Sum tap j of {taps.name}{' (of the channel)' if own else ''} times {signal.name}")
    c.say(f"at {now.name} {way} j{by},")
    c.say("zero outside." if edge == "zero" else "the position limited to the sequence.")
    finish(c, level, total, "out filtered features")
    return Title(k.name("temporal_conv dilated_conv conv_over_time"), c.text)
