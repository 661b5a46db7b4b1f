"""Filters over a line of samples: weighted taps, moving averages, running differences."""

from __future__ import annotations

from dataclasses import replace

from generators.arithmetic.parts import (
    INT16,
    INT32,
    Grid,
    coefficient,
    condition,
    grid,
    local,
    named,
    store_where,
)
from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var, literal

_TAPS = {
    "binomial3": (1, 2, 1),
    "binomial5": (1, 4, 6, 4, 1),
    "box3": (1, 1, 1),
    "sharpen": (-1, 6, -1),
    "savitzky": (-3, 12, 17, 12, -3),
    "derivative": (-1, 0, 1),
    "gauss5": (1, 3, 4, 3, 1),
}
_NAMES = ("fir_filter", "filter_samples", "convolve_line", "smooth_signal")
_EDGES = {
    "clamp": "Indices beyond the ends are clamped",
    "wrap": "The line is periodic",
    "reflect": "Indices beyond an end are reflected at the end point",
    "halo": "{0} is longer by the taps but one",
    "zero": "Samples beyond the ends count as zero",
}


@idiom
def fir_filter(k: KernelBuilder, level: int) -> Title:
    """A short filter along the last axis: fixed taps, taps in an array, boxes; real or integer."""
    shape = k.draw.shape
    whole = level <= 3 and shape.chance(0.25)
    type_ = INT32 if whole else k.draw.wide_float_type()
    g = grid(k, {1: 3, 2: 4, 3: 1})
    fixed = level < 3 or whole or shape.chance(0.3)
    taps = _TAPS[shape.choice(sorted(_TAPS))] if fixed else (1,) * shape.choice((3, 5))
    edge = shape.choice(("halo", "clamp") if level == 1 else sorted(_EDGES))
    source = INT16 if whole else type_
    sizes = (*g.sizes[:-1], f"{g.sizes[-1]}+{len(taps) - 1}" if edge == "halo" else g.sizes[-1])
    low, high = (-900, 900) if whole else (-2.0, 2.0)
    x = k.array("x samples signal", source, sizes, low=low, high=high)
    line = _Line(k, level, x, g, edge, len(taps), type_)
    out = k.out("y filtered smooth", type_, g.sizes)
    value, text = (_fixed if fixed else _by_array)(k, line, taps, type_)
    done = f"{out.name} gets {text} along the last axis. {_EDGES[edge].format(x.name)}."
    if level >= 3 and not whole:
        value, more = _mixed(k, "|" not in text and "largest" not in text, value, line, g, type_)
        done += more
    if level >= 4:
        value = local(k, "result smoothed", value)
        done += _residual(k, level, value, line, g, type_)
    if level >= 2 and shape.chance(0.4):
        test = condition(k, g)
        value = local(k, "result smoothed", value)
        store_where(k, out, g, test.value, value, line.centre())
        done += f" Where not {test.text}, the sample itself is stored."
    else:
        k.store(out, g.at, value)
    return Title(k.name(*_NAMES), done)


class _Line:
    """Samples around a thread's point, by their offset from the first tap."""

    def __init__(
        self, k: KernelBuilder, level: int, x: Var, g: Grid, edge: str, taps: int, type_: Scalar
    ) -> None:
        self.k, self.x, self.g, self.edge, self.taps, self.type = k, x, g, edge, taps, type_
        self.half = taps // 2
        self.middle: Expr | None = None
        if edge == "reflect":
            size = k.sizes[g.sizes[-1]]
            k.sizes[g.sizes[-1]] = replace(size, min=self.half + 1)
        self.size: Expr = literal(0, INT32)
        if edge != "halo":
            self.size = extent(x, g.ndim - 1)
            if k.draw.shape.chance(0.5):
                self.size = k.size_param("n_samples length width", g.sizes[-1])

    def at(self, tap: Expr | int) -> Expr:
        """The sample under a tap, which may be a loop variable."""
        here = self.g.at[-1]
        if self.edge == "halo":
            index: Expr = here if tap == 0 else here + tap
        elif isinstance(tap, int):
            shift = tap - self.half
            index = here if shift == 0 else here + shift if shift > 0 else here - (-shift)
        else:
            index = here + tap - self.half
        if self.edge == "halo" or (isinstance(tap, int) and tap == self.half):
            return self._load(index)
        return self._beyond(index, tap)

    def _beyond(self, index: Expr, tap: Expr | int) -> Expr:
        k, last = self.k, self.size - 1
        before = not isinstance(tap, int) or tap < self.half
        after = not isinstance(tap, int) or tap > self.half
        if self.edge == "wrap":
            turned = index + self.half * self.size if before else index
            return self._load(k.let("at src_i q", turned % self.size))
        if self.edge == "zero":
            place = k.let("at src_i q", index)
            inside = (
                place < self.size
                if not before
                else place >= 0
                if not after
                else fn("and", place >= 0, place < self.size)
            )
            safe = fn(
                "max" if before and not after else "min", place, 0 if before and not after else last
            )
            if before and after:
                safe = fn("clamp", place, 0, last)
            return fn("where", inside, self._load(safe), literal(0, self.type))
        if self.edge == "reflect":
            index = fn("abs", index) if before else index
            if after:
                index = last - fn("abs", last - index)
            return self._load(k.let("at src_i q", index))
        if before and after:
            index = fn("clamp", index, 0, last)
        else:
            index = fn("max", index, 0) if before else fn("min", index, last)
        return self._load(k.let("at src_i q", index))

    def _load(self, index: Expr) -> Expr:
        return cast(self.x[self.g.at[:-1] + (index,)], self.type)

    def centre(self) -> Expr:
        return self.at(self.half) if self.middle is None else self.middle


def _fixed(k: KernelBuilder, line: _Line, taps: tuple[int, ...], type_: Scalar) -> tuple[Expr, str]:
    """Taps that are written out, as whole numbers over their sum."""
    norm = sum(taps) or 2
    used = [(m, t) for m, t in enumerate(taps) if t]
    samples = [named(k, f"s{m} x{m}", line.at(m), 0.5) for m, _ in used]
    terms = [_scaled(t, s, type_) for (_, t), s in zip(used, samples, strict=True)]
    value: Expr = terms[0]
    for (_, tap), term, sample in zip(used[1:], terms[1:], samples[1:], strict=True):
        value = value - _scaled(-tap, sample, type_) if tap < 0 else value + term
    text = f"the sum of the samples with weights {', '.join(map(str, taps))}"
    if type_ == INT32:
        return value, text
    if k.draw.shape.chance(0.5):
        return value / float(norm), f"{text}, over {norm}"
    gain = k.scalar("gain inv_norm", type_, 0.5 / norm, 2.0 / norm)
    return value * gain, f"{text}, times {gain.name}"


def _scaled(tap: int, sample: Expr, type_: Scalar) -> Expr:
    if tap == 1:
        return sample
    if tap == -1:
        return -sample
    return tap * sample if type_ == INT32 else float(tap) * sample


def _by_array(
    k: KernelBuilder, line: _Line, taps: tuple[int, ...], type_: Scalar
) -> tuple[Expr, str]:
    """Taps from an array, gathered in a loop; with their norm, or the largest sample."""
    count = len(taps)
    form = k.draw.shape.choice(("weighted", "normalised", "largest", "deviation"))
    weights = k.array("taps weights kernel", type_, str(count), low=0.2, high=1.5)
    acc = k.let("acc total response", literal(0.0, type_))
    norm = k.let("norm weight_sum", literal(0.0, type_)) if form == "normalised" else None
    centre = None
    if form == "deviation":
        centre = line.middle = k.let("centre mid", line.centre())
    with k.for_("tap t m", count) as tap:
        w = k.let("w coef", weights[tap])
        s = named(k, "s sample", line.at(tap), 0.6)
        if form == "largest":
            k.assign(acc, fn("max", acc, w * s))
        elif centre is not None:
            k.augment(acc, "add", w * fn("abs", s - centre))
        else:
            k.augment(acc, "add", w * s)
        if norm is not None:
            k.augment(norm, "add", w)
    of = f"{weights.name}[t] * s[t] over the {count} samples s"
    if norm is not None:
        return acc / norm, f"the sum of {of}, over the sum of {weights.name}"
    if form == "largest":
        return acc, f"the largest of zero and {of}"
    if centre is not None:
        return acc, f"the sum of {weights.name}[t] * |s[t] - middle sample| over {count} samples s"
    return acc, f"the sum of {of}"


def _mixed(
    k: KernelBuilder, signed: bool, value: Expr, line: _Line, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    amount = coefficient(k, "amount strength mix", type_, 0.3, 0.9, g, "se")
    form = k.draw.shape.choice(("blend", "unsharp", "soft") if signed else ("blend", "unsharp"))
    here = line.middle = local(k, "here dry", line.centre())
    value = local(k, "wet response_value", value)
    if form == "blend":
        blend = fn("lerp", here, value, amount.value)
        return blend, f" Blend from the sample to it by {amount.text}."
    if form == "unsharp":
        return here + amount.value * (here - value), (
            f" The result is the sample plus {amount.text} times (sample - that)."
        )

    def build(b: BodyBuilder, v: Expr, limit: Expr) -> Expr:
        size = b.let("size mag", fn("max", fn("abs", v) - limit, 0.0))
        return fn("where", v < 0.0, -size, size)

    call = helper(k, "soft_threshold shrink", [("v", type_), ("limit", type_)], build)
    return k.call(call, value, amount.value), (
        f" Then shrink its size by {amount.text}, not below zero."
    )


def _residual(
    k: KernelBuilder, level: int, value: Expr, line: _Line, g: Grid, type_: Scalar
) -> str:
    rest = k.out("residual detail high_band", type_, g.sizes)
    gap: Expr = line.centre() - value
    text = "the sample minus the result"
    if level == 5:
        old = k.array("previous noise_level", type_, g.sizes, low=0.2, high=1.0)
        rate = k.scalar("rate smoothing", type_, 0.1, 0.6)
        gap = k.let("gap step", gap)
        gap = old[g.at] + rate * (fn("abs", gap) - old[g.at])
        text = f"{old.name} + {rate.name} * (|sample - result| - {old.name})"
    k.store(rest, g.at, gap)
    return f" {rest.name} gets {text}."
