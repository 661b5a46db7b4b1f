"""Histograms of codes, hashed keys and binned measurements, in one or two dimensions."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.parts import GROUPS, INTS, amounts, contribution, number_type, skip_some
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, shown
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var, op

_SLOTS = ("b", "slot", "bucket")


@idiom
def histogram(k: KernelBuilder, level: int) -> Title:
    """Counts or weights per bin, of codes or of binned measurements, in one or two dimensions."""
    shape = k.draw.shape
    form, weighted = shape.choice(sorted(_FORMS)), shape.chance(0.3 if level == 1 else 0.6)
    bins, (n, width) = k.size("bins", 5, 8), _entries(k, level)
    type_ = number_type(k) if weighted or form == "codes" else shape.weighted(INTS)
    source = _FORMS[form](k, n)
    more = _Extras(k, level, n, type_, weighted)
    classes = more.classes()
    dims = (*(("tiles",) if width else ()), bins, *(("classes",) if classes is not None else ()))
    weights = amounts(k, ("weights", "mass", "charge"), type_, n) if weighted else None
    hist = k.accumulator(("hist", "totals" if weighted else "counts", "histogram"), type_, dims)
    more.declare(form)
    count = k.size_param(("num_bins", "bin_count"), bins) if form != "codes" else None
    (i,) = k.thread(n, names=(k.name("i", "tid", "e"),))
    skips = level >= 4 or (level == 3 and shape.chance(0.5))
    skipped = skip_some(k, i, n) if skips and shape.chance(0.8) else ""
    slot, where, outside = _slot(k, form, source, i, count, more)
    amount, what, phrase = _amount(k, form, weights, i, type_, min(level, 3))
    if more.squares is not None and not isinstance(amount, Var):
        amount = k.let(("w", "amount", "share"), amount)
    place: tuple[Expr, ...] = (slot, *((classes[i],) if classes is not None else ()))
    place = (i // width, *place) if width else place
    k.atomic("add", hist, place, amount)
    done = f"For each x of {source[0].name} add {what} to {hist.name} at "
    done += f"its tile of {width} entries and " if width else ""
    done += f"bin {where}" + (f" and its class in {classes.name}" if classes is not None else "")
    done += more.update(slot, amount)
    name = "weighted_histogram" if weighted else "histogram"
    name = "joint_histogram" if classes is not None else f"tiled_{name}" if width else name
    return Title(k.name(name, f"build_{name}"), f"{done}{outside}.{phrase}{skipped}")


def _entries(k: KernelBuilder, level: int) -> tuple[str, int]:
    """How many entries there are; the width of a tile where tiles have histograms of their own."""
    if not k.draw.shape.chance({1: 0.1, 2: 0.15, 3: 0.2}.get(level, 0.35)):
        return k.size("n", 72, 96), 0
    width = k.draw.value.choice((16, 32))
    k.size("tiles", 96 // width, 112 // width)
    return f"{width}*tiles", width


class _Extras:
    """What a histogram keeps besides its bins: hits, squares, dropped entries; second axis."""

    def __init__(self, k: KernelBuilder, level: int, n: str, type_: Scalar, weighted: bool) -> None:
        self.k, self.level, self.n, self.type, self.weighted = k, level, n, type_, weighted
        self.hits: Var | None = None
        self.squares: Var | None = None
        self.dropped: Var | None = None
        self.bin_out: Var | None = None

    def classes(self) -> Var | None:
        k = self.k
        if self.level < 3 or not k.draw.shape.chance(0.45):
            return None
        k.size("classes", 2, 4)
        return k.array(GROUPS, INT32, self.n, init="index_of:classes")

    def declare(self, form: str) -> None:
        """Declare the other outputs, more of them at higher levels."""
        k, shape = self.k, self.k.draw.shape
        if self.level < 4:
            return
        share = 0.5 if self.level == 4 else 0.75
        if self.weighted:
            self.hits = k.accumulator(("hits", "occupancy"), INT32, "bins")
            if shape.chance(share):
                self.squares = k.accumulator(("squares", "sq_weights"), self.type, "bins")
        if form == "skip":
            self.dropped = k.accumulator(("dropped", "num_outside"), INT32, "1")
        elif shape.chance(share) and form != "codes":
            self.bin_out = k.accumulator(("last_seen", "latest"), INT32, "bins", -1)

    @property
    def uses(self) -> int:
        """How often the bin is read."""
        return 1 + sum(v is not None for v in (self.hits, self.squares, self.bin_out))

    def update(self, slot: Expr, amount: Expr) -> str:
        """The atomics of the other outputs; what they get."""
        k, done = self.k, ""
        if self.hits is not None:
            k.atomic("add", self.hits, slot, 1)
            done += f", one to {self.hits.name} at that bin"
        if self.squares is not None:
            k.atomic("add", self.squares, slot, amount * amount)
            done += f", its square to {self.squares.name} at that bin"
        if self.bin_out is not None:
            k.atomic("max", self.bin_out, slot, Var(k.threads[0], INT32))
            done += f"; {self.bin_out.name} keeps the largest entry number of each bin"
        return done


def _amount(
    k: KernelBuilder, form: str, weights: Var | None, i: Var, type_: Scalar, level: int
) -> tuple[Expr, str, str]:
    """What an entry adds, in words, and how a weight is changed first."""
    if weights is not None:
        amount, phrase = contribution(k, weights[i], level, 1, f"Each entry of {weights.name}")
        return amount, f"its {weights.name}", phrase
    if k.draw.shape.chance(0.4 if form == "codes" else 0.7):
        return k.lift(1, type_), "one", ""
    bounds = (0.1, 2.0) if type_.is_float else (2, 9)
    unit = k.scalar(("increment", "unit", "per_entry"), type_, *bounds)
    return unit, unit.name, ""


Source = tuple[Var, Operand, Operand]
"""What is counted, and the two numbers of its formula."""


def _codes(k: KernelBuilder, n: str) -> Source:
    return k.array(("codes", "symbols", "levels"), INT32, n, init="index_of:bins"), 0, 0


def _keys(k: KernelBuilder, n: str) -> Source:
    value = k.draw.value
    factor, shift = value.choice((7, 13, 17, 31, 37, 101)), value.choice((1, 3, 5, 7, 11))
    return k.array(("keys", "ids", "tokens"), INT32, n, low=0, high=9999), factor, shift


def _whole_numbers(k: KernelBuilder, n: str) -> Source:
    value = k.draw.value
    width, first = value.choice((5, 10, 15, 20, 25, 30, 60)), value.choice((0, 0, 10, 18, 50))
    names = ("ages", "scores", "minutes", "sizes")
    high = first + 9 * width
    return k.array(names, INT32, n, low=first, high=high), width, first


def _measurements(k: KernelBuilder, n: str) -> Source:
    value, type_ = k.draw.value, k.draw.wide_float_type()
    width = value.choice((0.1, 0.25, 0.5, 1.0, 2.0, 2.5))
    origin = value.choice((0.0, 1.0, 5.0, 10.0))
    low, high = round(origin - 2 * width, 2), round(origin + 9 * width, 2)
    data = k.array(("samples", "readings", "u"), type_, n, low=low, high=high)
    if k.draw.shape.chance(0.5):
        return data, width, origin
    spans = round(0.9 * width, 3), round(1.1 * width, 3)
    return (
        data,
        k.scalar(("bin_width", "width", "step"), type_, *spans),
        k.scalar(("origin", "lowest", "start"), type_, origin - 0.2 * width, origin + 0.2 * width),
    )


_FORMS: dict[str, Callable[[KernelBuilder, str], Source]] = {
    "codes": _codes,
    "hash": _keys,
    "coarse": _whole_numbers,
    "skip": _measurements,
    "clamp": _measurements,
}


def _slot(
    k: KernelBuilder, form: str, source: Source, i: Var, count: Var | None, more: _Extras
) -> tuple[Expr, str, str]:
    """The bin of an entry, its formula, and what happens to entries outside."""
    data, first, second = source
    if count is None:
        return (k.let(_SLOTS, data[i]) if more.uses > 1 else data[i]), "x", ""
    if form == "hash":
        slot: Expr = (first * data[i] + second) % count
        return k.let(_SLOTS, slot), f"({first} * x + {second}) % {count.name}", ""
    if form == "coarse":
        slot = fn("min", (data[i] - second if second else data[i]) // first, count - 1)
        text = f"(x - {second}) // {first}" if second else f"x // {first}"
        return k.let(_SLOTS, slot), f"min({text}, {count.name} - 1)", ""
    return _binned(k, form, source, (i, count), more)


def _binned(
    k: KernelBuilder, form: str, source: Source, at: tuple[Var, Var], more: _Extras
) -> tuple[Expr, str, str]:
    """Bins of one width from an origin on."""
    data, width, origin = source
    i, count = at
    where = (
        f"floor((x - {shown(origin)}) / {shown(width)})" if origin else f"floor(x / {shown(width)})"
    )
    if more.level >= 3 and k.draw.shape.chance(0.4):
        slot = _by_helper(k, data[i], origin, width)
    else:
        offset = data[i] - origin if origin else data[i]
        slot = cast(fn("floor", offset / width), INT32)
    if form == "clamp":
        slot = k.let(_SLOTS, fn("clamp", slot, 0, count - 1))
        return slot, f"{where} clamped to [0, {count.name} - 1]", ""
    slot = k.let(_SLOTS, slot)
    note = f"; bins outside [0, {count.name} - 1] are ignored"
    with k.if_(op("or", slot < 0, slot >= count)):
        if more.dropped is not None:
            k.atomic("add", more.dropped, 0, 1)
            note += f" and counted in {more.dropped.name}[0]"
        k.return_()
    return slot, where, note


def _by_helper(k: KernelBuilder, x: Expr, origin: Operand, width: Operand) -> Expr:
    """The bin of a measurement, from a function."""
    type_ = x.type
    assert isinstance(type_, Scalar)

    def body(_: BodyBuilder, value: Expr, first: Expr, step: Expr) -> Expr:
        return cast(fn("floor", (value - first) / step), INT32)

    params = [("value", type_), ("first", type_), ("step", type_)]
    name = helper(k, ("bin_of", "bin_index", "slot_of"), params, body)
    return k.call(name, x, k.lift(origin, type_), k.lift(width, type_))
