"""Convolutions of one, two and three axes with strides, dilation, padding and groups."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, work
from generators.matrix.learning.gates import SAID, activated
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Const, Expr, Var

_AXES = {1: ("len",), 2: ("rows", "cols"), 3: ("planes", "rows", "cols")}
_WORDS = {"len": "length", "planes": "depth", "rows": "height", "cols": "width"}
_SHORT = {"len": "len", "planes": "depth", "rows": "h", "cols": "w"}
_INDEX = {"len": "o pos", "planes": "oz z_out", "rows": "oy y_out", "cols": "ox x_out"}
_TAPS = {"len": "t tap", "planes": "kz dz", "rows": "ky dy", "cols": "kx dx"}


def _bare(axis: str) -> str:
    """An axis, be it of outputs alone or of inputs as well."""
    return axis.removeprefix("out_")


@dataclass(frozen=True)
class Windows:
    """How a window moves over an input: stride, dilation, and what lies outside.

    ``pad`` is ``valid`` (nothing is read outside), ``same`` or ``causal`` (zeros), or ``edge``.
    """

    w: Work
    axes: tuple[str, ...]
    side: int
    stride: Expr
    dilation: Expr
    before: Expr
    pad: str
    inputs: tuple[str, ...]

    def tap(self, axis: int, at: Expr, t: Expr) -> Expr:
        """Where a tap reads along an axis."""
        place = at if _is_one(self.stride) else at * self.stride
        place = place + (t if _is_one(self.dilation) else t * self.dilation)
        return place if self.pad == "valid" else place - self.before

    def read(self, place: Expr, axis: int) -> tuple[Expr, Expr | None]:
        """The index to read, and the test that it lies inside where one is needed."""
        names = {"len": "src p_in", "planes": "iz", "rows": "iy", "cols": "ix"}[
            _bare(self.axes[axis])
        ]
        size = self.w.count(self.inputs[axis])
        if self.pad == "edge":
            return self.w.k.let(names, clamp(place, 0, size - 1)), None
        held = self.w.k.let(names, place)
        if self.pad == "causal":
            return held, held >= 0
        if self.pad == "same":
            return held, fn("and", held >= 0, held < size)
        return held, None

    def said(self) -> str:
        """Stride, dilation and padding in words."""
        steps = [f"{_with('stride', self.stride)}"] * (not _is_one(self.stride))
        steps += [f"{_with('dilation', self.dilation)}"] * (not _is_one(self.dilation))
        many = _told(self.before)
        how = {
            "valid": "no padding",
            "same": f"zero padding, {many} on each side",
            "causal": f"causal: {many} zeros before the first element",
            "edge": f"edge padding, {many} on each side (the edge element is repeated)",
        }[self.pad]
        return ", ".join([*steps, how])


def _told(value: Expr) -> str:
    return str(value.value) if isinstance(value, Const) else written(value)


def _with(what: str, value: Expr) -> str:
    """A setting with its value, or that a parameter gives it."""
    return f"the given {what}" if isinstance(value, Var) else f"{what} {_told(value)}"


def _is_one(value: Expr) -> bool:
    return _told(value) == "1"


def windows(w: Work, nd: int, pads: Sequence[str], sides: Sequence[int] = (3, 3, 5)) -> Windows:
    """Sizes of outputs and inputs, and a drawn stride, dilation and padding."""
    k, shape = w.k, w.k.draw.shape
    side = shape.choice(sides if nd < 3 else (3,))
    pad = shape.choice([p for p in pads if side % 2 or p in ("valid", "causal")])
    strides = {1: 3, 2: 2 * (w.level > 1) * (pad in ("valid", "same"))}
    # Patches that touch are not padded.
    strides |= {side: int(w.level > 2 and pad == "valid")}
    stride = shape.weighted(strides)
    dilation = shape.weighted({1: 3, 2: 2 * (w.level > 1)}) if nd < 3 and stride == 1 else 1
    before = {"valid": 0, "causal": dilation * (side - 1)}.get(pad, dilation * (side // 2))
    low, high = {1: (16, 30), 2: (5, 7), 3: (3, 4)}[nd]
    more = dilation * (side - 1) if pad == "valid" and stride < side else 0
    out = "out_" if stride > 1 or more else ""
    axes, inputs = tuple(out + axis for axis in _AXES[nd]), []
    for axis in axes:
        w.size(axis, low, high, _WORDS[_bare(axis)])
        text = f"{stride}*{axis}" if stride > 1 else axis
        inputs.append(f"{text}+{more}" if more else text)
        if inputs[-1] != axis:
            short = _SHORT[_bare(axis)]
            w.words[axis], w.words[inputs[-1]] = f"out_{short}", f"in_{short}"

    def knob(names: str, value: int) -> Expr:
        known = value > 1 and w.chance(0.4 if value < side else 1.0)
        return k.size_param(names, str(value)) if known else k.lift(value, INT32)

    step, spread = knob("stride", stride), knob("dilation", dilation)
    # Outputs are as long as inputs, so padding follows from taps and dilation.
    many = before // dilation
    edge = k.lift(before, INT32)
    if isinstance(spread, Var) and before:
        edge = spread if many == 1 else many * spread
    return Windows(w, axes, side, step, spread, edge, pad, tuple(inputs))


@dataclass
class _Conv:
    """A convolution: windows, channels and how arrays lie."""

    w: Work
    win: Windows
    mode: str
    last: bool
    batch: tuple[str, ...]

    def dims(self, channels: tuple[str, ...], axes: Sequence[str]) -> tuple[str, ...]:
        inner = (*axes, *channels) if self.last else (*channels, *axes)
        return (*self.batch, *inner)

    def index(self, b: tuple[Expr, ...], c: Expr | None, at: Sequence[Expr]) -> tuple[Expr, ...]:
        channel = () if c is None else (c,)
        return (*b, *at, *channel) if self.last else (*b, *channel, *at)


def _channels(w: Work, mode: str, most: int) -> tuple[str, str, str]:
    """Input channels, output channels, and input channels of a weight, of a group at most these."""
    if mode == "full":
        w.size("cin", 2, 3, "in_channels cin")
        w.size("cout", 2, 4, "out_channels cout")
        return "cin", "cout", "cin"
    w.size("chans", 2, 3, "groups num_groups") if mode == "grouped" else w.size(
        "chans", 3, 4, "channels num_channels"
    )
    if mode == "depthwise":
        return "chans", "chans", ""
    size = str(min(w.k.draw.shape.choice((2, 4)), most))
    w.words[f"{size}*chans"] = "channels num_channels"
    w.words[size] = "group_size group_channels"
    return f"{size}*chans", f"{size}*chans", size


def _convolution(k: KernelBuilder, level: int, nd: int) -> Title:
    w = work(k, level, flattening=0.15)
    w.type_ = FLOAT32
    pads = ["valid", "same", "same", "edge", *(["causal"] * 2 if nd == 1 else [])]
    win = windows(w, nd, pads)
    modes = {"full": 3 * (nd < 3), "depthwise": 2, "grouped": (nd < 3) * (level > 1)}
    mode = k.draw.shape.weighted(modes)
    batch = (w.size("b", 2, 3, "batch"),) if nd < 3 and w.chance(0.35, 2) else ()
    # A batch of images has as many outputs as a row is tried at.
    cin, cout, inner = _channels(w, mode, 2 if batch and nd == 2 else 4)
    f = _Conv(w, win, mode, w.chance(0.35), batch)
    names = {1: "x inputs signal", 2: "x image inputs", 3: "x volume inputs"}[nd]
    x = w.tensor(names, f.dims((cin,), win.inputs))
    side = str(win.side)
    w.words[side] = "kernel_size ksize"
    if w.chance(0.6) or side == inner:
        w.known(side, k.lift(win.side, INT32))
    weights = w.tensor(
        "weight kernel filters",
        (cout, *([inner] if inner else []), *[side] * nd),
        -0.6,
        0.8,
    )
    bias = w.tensor("bias", (cout,)) if w.chance(0.5) else None
    dims = f.dims((cout,), win.axes)
    channel = "co" if mode == "full" else "c ch"
    called = {"b": "b item", cout: channel, **{a: _INDEX[_bare(a)] for a in win.axes}}
    with w.each(dims, [called[d] for d in dims]) as at:
        c = at[-1] if f.last else at[len(batch)]
        places = [at[dims.index(a)] for a in win.axes]
        total = k.let("total acc", k.lift(0.0, w.type_) if bias is None else bias[c])
        _taps(f, x, weights, total, at[: len(batch)], c, places, inner)
        way = k.draw.shape.choice(sorted(SAID)) if w.chance(0.25, 3) else ""
        out = w.out("out y result", dims)
        out.store(at, activated(k, way, total) if way else total)
    _conv_said(f, (x, weights, bias, out), way)
    plain = f"conv{nd}d_forward conv{nd}d" if mode == "full" else f"{mode}_conv{nd}d"
    return Title(k.name(plain), w.text())


def _taps(
    f: _Conv,
    x: Tensor,
    weights: Tensor,
    total: Var,
    b: tuple[Expr, ...],
    c: Expr,
    places: Sequence[Expr],
    inner: str,
) -> None:
    """Sum over taps, and over channels, of weight times input."""
    w, k, win = f.w, f.w.k, f.win
    with ExitStack() as stack:
        channel: Expr | None = c
        ci: tuple[Expr, ...] = ()
        if inner:
            chan = stack.enter_context(w.loop("ci c_in", inner))
            ci = (chan,)
            channel = chan
            if f.mode == "grouped":
                channel = k.let("src_ch cc", c // w.count(inner) * w.count(inner) + chan)
        taps, reads = list[Expr](), list[Expr]()
        named = [_TAPS[_bare(axis)].split() for axis in win.axes]
        taps_named = k.draw.word.choice([[n[at] for n in named] for at in range(2)])
        for axis, place in enumerate(places):
            t = stack.enter_context(w.loop(taps_named[axis], str(win.side)))
            at, test = win.read(win.tap(axis, place, t), axis)
            if test is not None:
                stack.enter_context(k.if_(test))
            taps.append(t)
            reads.append(at)
        k.augment(total, "add", weights[index(c, *ci, *taps)] * x[f.index(b, channel, reads)])


def _conv_said(f: _Conv, of: tuple[Tensor, Tensor, Tensor | None, Tensor], way: str) -> None:
    x, weights, bias, out = of
    nd = len(f.win.axes)
    axes = "channels last" if f.last else "channels first"
    group = f.w.count(weights.dims[1]) if f.mode == "grouped" else None
    many = group.name if isinstance(group, Var) else weights.dims[1]
    kind = {
        "full": f"Dense {nd}D convolution over all input channels of {x.name} ({axes})",
        "depthwise": f"Depthwise {nd}D convolution: each channel of {x.name} ({axes})",
        "grouped": f"Grouped {nd}D convolution of {x.name} ({axes}), whose channels come in "
        f"groups of {many}, an output channel seeing those of its own group,",
    }[f.mode]
    own = "its own filter of " if f.mode == "depthwise" else ""
    size = f"{f.win.side} taps" if nd == 1 else "x".join([str(f.win.side)] * nd)
    f.w.say(
        f"{kind} with {own}{weights.name} ({size}), not flipped; {f.win.said()}."
        + (f" Add {bias.name} of the output channel." if bias is not None else "")
        + (f" Apply {SAID[way]}." if way else "")
        + f" {out.name} gets the result."
    )


@idiom
def conv_1d(k: KernelBuilder, level: int) -> Title:
    """Convolution along one axis: causal, dilated, strided; all channels, groups, each its own."""
    return _convolution(k, level, 1)


@idiom
def conv_2d(k: KernelBuilder, level: int) -> Title:
    """Convolution of images: strided, dilated, padded; all channels, groups, each its own."""
    return _convolution(k, level, 2)


@idiom
def conv_3d(k: KernelBuilder, level: int) -> Title:
    """Convolution of volumes, each channel with its own filter."""
    return _convolution(k, level, 3)
