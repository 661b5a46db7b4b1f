"""Resampling of rows and columns by windowed kernels: cubic ones and Lanczos'."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import PI, clamp, sin, where
from generators.kit.naming import routine
from generators.kit.sources import setting
from generators.kit.words import say, words
from generators.math.images.pixels import pixel_type
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class _Line:
    """Lines that are resampled along one axis; a thread has one output sample."""

    k: KernelBuilder
    type: Scalar
    at: tuple[Var, ...]
    out_dims: tuple[str, ...]
    in_dims: tuple[str, ...]
    axis: int

    @property
    def here(self) -> Var:
        return self.at[self.axis]

    def place(self, index: Expr) -> tuple[Expr, ...]:
        return (*self.at[: self.axis], index, *self.at[self.axis + 1 :])


def _line(k: KernelBuilder, level: int, shrinks: bool = False) -> _Line:
    """One signal, rows or columns of an image, of several, or of one with channels last."""
    shape = k.draw.shape
    ways = {"rows": 4, "columns": 3, "batch": level, "channels": level}
    way = shape.weighted(ways)
    columns = way == "columns" or (way != "rows" and shape.chance(0.4))
    dims = ["images"] * (way == "batch") + ["height", "width"] + ["bands"] * (way == "channels")
    axis = dims.index("height" if columns else "width")
    source, target = ("in_h", "out_h") if columns else ("in_w", "out_w")
    ranges = {"images": (2, 3), "bands": (2, 3), "height": (6, 8), "width": (6, 8)}
    in_dims = [source if n == axis else d for n, d in enumerate(dims)]
    out_dims = [target if n == axis else d for n, d in enumerate(dims)]
    for symbol in (*in_dims, target):
        own = {source: (12, 14), target: (6, 8) if shrinks else (9, 14)}
        k.size(symbol, *own.get(symbol, ranges.get(symbol, (1, 1))))
    letters = {"images": "n b", "bands": "ch c", "height": "y row", "width": "x col"}
    at = k.thread(*out_dims, names=[k.name(letters[d]) for d in dims])
    return _Line(k, pixel_type(k), at, tuple(out_dims), tuple(in_dims), axis)


def _keys(k: KernelBuilder, type_: Scalar) -> tuple[Callable[..., Expr], int, str, str]:
    """Keys' cubic convolution (IEEE Trans. ASSP 1981) with its parameter a."""
    a = setting(k, "a alpha", type_, -0.75, -0.5, 0.6)

    def weight(b: BodyBuilder, t: Expr, a: Expr) -> Expr:
        near = ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0
        far = a * (((t - 5.0) * t + 8.0) * t - 4.0)
        return where(t < 1.0, near, far)

    s = say(k, a)
    told = "(a + 2) t^3 - (a + 3) t^2 + 1 for t < 1, else a (t^3 - 5 t^2 + 8 t - 4)"
    told += f", a being {s}" if s != "a" else ""
    made = routine(k, 0.6, "cubic_weight keys_cubic", {"t": type_, "a": type_}, weight)
    return lambda t: made(t, a), 2, told, "cubic keys"


def _mitchell(k: KernelBuilder, type_: Scalar) -> tuple[Callable[..., Expr], int, str, str]:
    """Mitchell and Netravali's filter with B = C = 1/3 (SIGGRAPH 1988)."""

    def weight(b: BodyBuilder, t: Expr) -> Expr:
        near = (7.0 * t - 12.0) * t * t + 5.3333333
        far = ((-2.3333333 * t + 12.0) * t - 20.0) * t + 10.666667
        return where(t < 1.0, near, far) / 6.0

    told = "(7 t^3 - 12 t^2 + 16/3) / 6 for t < 1, else (-7/3 t^3 + 12 t^2 - 20 t + 32/3) / 6"
    made = routine(k, 0.6, "mitchell mitchell_weight", {"t": type_}, weight)
    return made, 2, told, "mitchell"


def _lanczos(k: KernelBuilder, type_: Scalar) -> tuple[Callable[..., Expr], int, str, str]:
    """A sinc under the main lobe of a wider one."""
    lobes = k.draw.shape.choice((2, 3))

    def weight(b: BodyBuilder, t: Expr) -> Expr:
        angle = b.let("angle pt", PI * t + 1.0e-6)
        return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)

    told = f"{lobes} sin(s) sin(s / {lobes}) / s^2 with s = pi t + 1e-6"
    made = routine(k, 0.7, f"lanczos{lobes} lanczos_weight", {"t": type_}, weight)
    return made, lobes, told, f"lanczos{lobes} lanczos"


@idiom
def resample_line(k: KernelBuilder, level: int) -> Title:
    """Rows or columns resized by cubic or Lanczos weights: pixel centres aligned, borders held or
    periodic, widened kernels where the image shrinks, or weights from a table of phases."""
    shape = k.draw.shape
    if level > 2 and shape.chance(0.25):
        return _polyphase(k, level)
    widened = level > 2 and shape.chance(0.5)
    line = _line(k, level, widened)
    border = "hold" if widened else shape.choice(("hold", "hold", "wrap"))
    src = k.array(words("src image"), line.type, line.in_dims, low=0.0, high=1.0)
    by_shape = shape.chance(0.4)
    count: Expr = extent(src, line.axis)
    if not by_shape:
        count = k.size_param("in_size src_size", line.in_dims[line.axis])
    scale = k.scalar("scale step", line.type, *((1.3, 1.6) if widened else (0.6, 0.8)))
    family = shape.choice((_keys, _mitchell, _lanczos) if level > 1 else (_keys,))
    weight_of, reach, told, called = family(k, line.type)
    center = k.let("center pos", (cast(line.here, line.type) + 0.5) * scale - 0.5)
    out = k.out(words("dst resized"), line.type, line.out_dims)
    # the cubic weights add up to 1 unless they are widened
    normal = widened or "lanczos" in called
    base, bounds = _bounds(k, center, scale, reach, widened)
    total = k.let("acc total", k.lift(0.0, line.type))
    norm = k.let("norm weight_sum", k.lift(0.0, line.type)) if normal else None
    with k.for_("tap s", bounds[1], start=bounds[0]) as tap:
        at: Expr = tap if base is None else k.let("at index", base + tap)
        t: Expr = abs(center - cast(at, line.type))
        t = k.let("dist t_abs", t / scale if widened else t)
        held = clamp(at, 0, count - 1) if border == "hold" else (at + reach * count) % count
        _add(k, src[line.place(held)], weight_of(t), total, norm)
    k.store(out, line.at, total if norm is None else total / norm)
    text = _resampled(line, src, out, scale, (reach, told), widened)
    text += "; the sum is divided by that of the weights" if norm is not None else ""
    text += f" ({scale.name} is above 1, as the image shrinks)" if widened else ""
    text += ". Pixels beyond the border are those on it." if border == "hold" else ""
    text += ". The image repeats beyond its border." if border == "wrap" else ""
    kind = called.split()[0]
    return Title(k.name(f"{kind}_resize resample_{kind} {kind}_resample"), text)


def _bounds(
    k: KernelBuilder, center: Expr, scale: Expr, reach: int, widened: bool
) -> tuple[Expr | None, tuple[Operand, Operand]]:
    """The pixels that a loop runs over, from a base if that is given."""
    if widened:
        support = k.let("support half_width", float(reach) * scale)
        first = k.let("first lo", cast(fn("ceil", center - support), INT32))
        last = k.let("last end", cast(fn("floor", center + support), INT32) + 1)
        return None, (first, last)
    base = k.let("base lower", cast(fn("floor", center), INT32))
    if k.draw.shape.chance(0.5):
        return base, (1 - reach, reach + 1)
    return None, (base - (reach - 1), base + (reach + 1))


def _resampled(
    line: _Line, src: Var, out: Var, scale: Var, kernel: tuple[int, str], widened: bool
) -> str:
    """The sum that an output pixel gets, in words."""
    reach, told = kernel
    along = "the columns" if "_h" in line.in_dims[line.axis] else "the rows"
    text = f"Resample {along} of {src.name}: output index o has its centre at "
    text += f"c = (o + 0.5) * {scale.name} - 0.5 of the input, and "
    t_said = f"t = |c - p| / {scale.name}" if widened else "t = |c - p|"
    span = f"the pixels p with |c - p| at most {reach} * {scale.name}"
    if not widened:
        span = f"the {2 * reach} pixels p from floor(c) - {reach - 1} to floor(c) + {reach}"
    return f"{text}{out.name} gets the sum of {span}, each times w = {told}, where {t_said}"


def _add(k: KernelBuilder, value: Expr, weight: Expr, total: Var, norm: Var | None) -> None:
    if norm is None:
        k.augment(total, "add", weight * value)
        return
    w = k.let("w weight", weight)
    k.augment(total, "add", w * value)
    k.augment(norm, "add", w)


def _polyphase(k: KernelBuilder, level: int) -> Title:
    """Weights from a table of phases: fixed-point positions, or taps that a host has made."""
    shape = k.draw.shape
    line = _line(k, level)
    src = k.array(words("src image"), line.type, line.in_dims, low=0.0, high=1.0)
    target = line.out_dims[line.axis]
    k.size("taps", 3, 5)
    count = k.size_param("in_size src_size", line.in_dims[line.axis])
    num_taps = k.size_param("num_taps kernel_size", "taps")
    if shape.chance(0.5):
        starts = k.array(words("starts first_tap"), INT32, target, low=-2, high=9)
        weights = k.array(words("weights coeffs"), line.type, (target, "taps"), low=0.05, high=0.5)
        start = k.let("start first", starts[line.here])
        row: Expr = line.here
        told = f"{starts.name}[o] on, weighted by row o of {weights.name}"
    else:
        k.size("phases", 4, 8)
        weights = k.array(
            words("phase_weights filter_bank"), line.type, ("phases", "taps"), low=0.05, high=0.5
        )
        phases = k.size_param("num_phases", "phases")
        up = k.let("pos ticks", line.here * k.scalar("step_num phase_step", INT32, 3, 5))
        step = next(p.name for p in k.params if p.name in ("step_num", "phase_step"))
        start = k.let("start first", up // phases - num_taps // 2 + 1)
        row = k.let("phase", up % phases)
        told = f"floor(o * {step} / {phases.name}) - floor({num_taps.name} / 2) + 1 on, weighted "
        told += f"by row (o * {step}) % {phases.name} of {weights.name}"
    out = k.out(words("dst resized"), line.type, line.out_dims)
    total = k.let("acc total", k.lift(0.0, line.type))
    with k.for_("tap s", num_taps) as tap:
        at = k.let("at index", clamp(start + tap, 0, count - 1))
        k.augment(total, "add", weights[row, tap] * src[line.place(at)])
    k.store(out, line.at, total)
    along = "the columns" if "_h" in line.in_dims[line.axis] else "the rows"
    text = f"Resample {along} of {src.name} with a table of weights: {out.name} at output index o "
    text += f"gets the sum of {num_taps.name} pixels from {told}. Pixels beyond the border are "
    return Title(k.name("polyphase_resample resize_by_table"), f"{text}those on it.")
