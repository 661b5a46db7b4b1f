"""Histograms: of codes, of measurements by equal or given bins, in one or two dimensions."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.parallel.parts import both
from generators.atomic.tally import INTS, UINT32, Tally, any_of, threads
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp
from generators.kit.sites import Site, over
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr

_FORMS = {
    1: {"codes": 4, "measured": 3},
    2: {"measured": 3, "joint": 3, "hashed": 2, "channels": 3},
    3: {"edges": 4, "shared": 3, "joint": 1, "copies": 2},
    4: {"edges": 2, "copies": 3, "runs": 5},
    5: {"runs": 3, "plane": 3},
}
_SUBJECTS = (
    ("energies energy_ev", 0.0, 8.0),
    ("speeds particle_speeds", 0.0, 8.0),
    ("samples readings", -4.0, 4.0),
    ("arrival_times times_ms", 0.0, 8.0),
    ("distances radii", 0.0, 8.0),
)


class _Histogram(Tally):
    """One histogram: of what, by which bins, by how many threads."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        shape = k.draw.shape
        self.form = shape.weighted(_FORMS[level])
        self.width = k.draw.value.choice((4, 8, 16))
        self.weighted = shape.chance(0.4) or self.form in ("shared", "plane")
        super().__init__(level, self._launched(k))
        k.size("bins", 5, 8)
        self.type = FLOAT32 if self.weighted else shape.weighted(INTS)
        self.names, self.low, self.high = k.draw.value.choice(_SUBJECTS)
        self.read = ""
        """The array that was read last."""
        self.moved, self.inverse = self.low < 0.0 or self.chance(0.6), self.chance(0.5)

    def _launched(self, k: KernelBuilder) -> Site:
        if self.form == "runs":
            k.size("chunks", 7, 10)
            (t,) = k.thread("chunks", names=(k.name("t chunk"),))
            return Site(k, "chunk", (f"{self.width}*chunks",), (t,))
        if self.form == "channels":
            return over(k, "num_pixels channels", "p c", ((24, 32), (3, 4)))
        return threads(k, "n", 72, 96, "i e")

    @property
    def kind(self) -> str:
        return "Weighted histogram" if self.weighted else "Histogram"

    def amount(self, s: Site | None = None) -> Expr:
        """What an entry adds."""
        if not self.weighted:
            return self.k.lift(1, self.type)
        return self.let("weight w_i", (s or self.s).read("weights", self.type, 0.2, 2.0), 0.4)

    def count(self) -> Expr:
        """How many bins there are."""
        return self.k.size_param("num_bins n_bins", "bins")

    def scaled(self, s: Site, names: str = "", axis: str = "") -> Expr:
        """Where a measurement lies in widths of a bin; bins need not reach all values."""
        k, span = self.k, self.high - self.low
        reach = (self.low - 0.1 * span, self.high + 0.1 * span)
        load = s.read(names or self.names, FLOAT32, round(reach[0], 2), round(reach[1], 2))
        self.read = load.array.name
        x: Expr = self.let(f"{axis}i" if axis else "x value", load, 0.6)
        if self.moved:
            at = (self.low - 0.5, self.low + 0.5)
            x = x - k.scalar(f"{axis}_min" if axis else "origin lowest", FLOAT32, *at)
        if self.inverse:
            names = f"inv_width_{axis}" if axis else "inv_bin_width inv_width"
            return x * k.scalar(names, FLOAT32, round(7 / span, 3), round(8 / span, 3))
        names = f"width_{axis}" if axis else "bin_width"
        return x / k.scalar(names, FLOAT32, round(span / 8, 3), round(span / 7, 3))

    def bin_of(self, place: Expr, names: str = "b bin_id", short: str = "b") -> Expr:
        return self.define(short, self.let(names, cast(fn("floor", place), INT32)))

    def put(self, at: tuple[Expr, ...], *dims: str) -> None:
        """Add the entry's amount to the histogram, or to one of several."""
        names = f"hist histogram {'weight_sums' if self.weighted else 'counts'}"
        self.into(names, dims or "bins", at, self.amount())


@idiom
def histogram(k: KernelBuilder, level: int) -> Title:
    """Counts or weights per bin: of codes, of measurements by equal or by given bins."""
    h = _Histogram(k, level)
    ways: dict[str, Callable[[_Histogram], str]] = {
        "measured": _measured,
        "joint": _joint,
        "hashed": _hashed,
        "edges": _edged,
        "shared": _shared_bins,
        "plane": _shared_plane,
        "copies": _copies,
        "runs": _runs,
    }
    opening = ways.get(h.form, _codes)(h)
    name = "weighted_histogram" if h.weighted else "histogram"
    return h.title(f"{name} build_{name} accumulate_{name}", opening)


def _codes(h: _Histogram) -> str:
    """A code names the bin; with a histogram for each channel of pixels."""
    pixels = h.form == "channels"
    names = "levels quantized" if pixels else "codes symbols"
    code = h.s.read(names, INT32, init="index_of:bins")
    bin_id = h.let("code level" if pixels else "code symbol", code)
    if pixels:
        h.put((h.s.at[1], bin_id), "channels", "bins")
        return f"{h.kind} of each channel of an image: for each pixel p and channel c, "
    h.put((bin_id,))
    return f"{h.kind} of codes: for each entry {h.s.where}, "


def _measured(h: _Histogram) -> str:
    """Bins of one width; what lies outside goes to the last ones, or is left out and counted."""
    slot, count = h.bin_of(h.scaled(h.s)), h.count()
    if h.chance(0.3):
        slot = clamp(slot, 0, count - 1)
        h.notes.append(" Values outside of all bins go to the first or the last one.")
    else:
        counted = "num_outside num_outliers" if h.chance(0.4, 2) else ()
        h.skip(any_of([slot < 0, slot >= count]), "b is no bin", counted=counted)
    h.put((slot,))
    return f"{h.kind} of {h.read} by bins of one width: for each entry {h.s.where}, "


def _joint(h: _Histogram) -> str:
    """Two measurements at once."""
    k, sizes = h.k, ("bins", h.k.size("ybins", 4, 6))
    slots = [h.bin_of(h.scaled(h.s, f"{a}s", a), f"b{a}", f"b{a}") for a in "xy"]
    counts = [k.size_param(f"{a}_bins", size) for a, size in zip("xy", sizes, strict=True)]
    tests = [t for b, n in zip(slots, counts, strict=True) for t in (b < 0, b >= n)]
    h.skip(any_of(tests), "bx or by is no bin")
    h.put((slots[0], slots[1]), *sizes)
    return f"Joint {h.kind.lower()} of two quantities: for each entry {h.s.where}, "


def _hashed(h: _Histogram) -> str:
    """Knuth's multiplicative hash of a key."""
    key = h.let("key", h.s.read("keys ids tokens", INT32, 0, 9999), 0.5)
    count = h.k.size_param("num_buckets", "bins")
    mixed = cast(key, UINT32) * h.k.lift(2654435761, UINT32) % cast(count, UINT32)
    slot = h.define("b", h.let("bucket slot", cast(mixed, INT32)))
    names = "bucket_weights" if h.weighted else "bucket_counts"
    h.into(names, "bins", slot, h.amount())
    what = "Sum weights" if h.weighted else "Count keys"
    h.notes.append(" The product is taken modulo 2^32.")
    return f"{what} by the hash bucket of their keys: for each entry {h.s.where}, "


def _edged(h: _Histogram) -> str:
    """Bins of given bounds, found by a binary search."""
    k = h.k
    x = k.let("x value", h.s.read(h.names, FLOAT32, h.low - 1.0, h.high + 1.0))
    edges = k.array("edges bin_edges", FLOAT32, "bins+1", init="sorted", low=h.low, high=h.high)
    count = h.count()
    h.skip(any_of([x < edges[k.lift(0, INT32)], x >= edges[count]]), f"{h.say(x)} lies outside")
    slot, end = k.let("lo first", k.lift(0, INT32)), k.let("hi last", count)
    with k.while_(end - slot > 1):
        middle = k.let("mid", (slot + end) // 2)
        with k.if_(x >= edges[middle]):
            k.assign(slot, middle)
        with k.else_():
            k.assign(end, middle)
    h.known[slot] = "b"
    h.defined.append(f"b is the last bin with {edges.name}[b] <= {h.say(x)}, by binary search")
    h.put((slot,))
    return f"{h.kind} by ascending bin edges: for each entry {h.s.where}, "


def _halves(h: _Histogram, axis: str = "") -> tuple[Expr, Expr]:
    """The bin whose centre lies below a value, and how far the value is from there to the next."""
    centred = h.scaled(h.s, f"{axis}s" * bool(axis), axis) - 0.5
    place = h.define(f"u{axis}", h.let(f"u{axis}", centred))
    slot = h.bin_of(place, f"b{axis}", f"b{axis}")
    part = h.let(f"f{axis}", place - cast(slot, FLOAT32))
    return slot, h.define(f"f{axis}", part)


def _shared_bins(h: _Histogram) -> str:
    """Each entry is shared by the two bins whose centres lie around it."""
    k = h.k
    slot, part = _halves(h)
    count, value = h.count(), h.amount()
    out = k.accumulator("hist histogram", FLOAT32, "bins")
    with k.if_(both(slot >= 0, slot < count)):
        h.update("add", out, slot, (1.0 - part) * value)
    with k.if_(both(slot + 1 >= 0, slot + 1 < count)):
        h.update("add", out, slot + 1, part * value)
    h.notes.append(" Shares of bins that do not exist are dropped.")
    return f"Weighted histogram with linear sharing between bins: for each entry {h.s.where}, "


def _shared_plane(h: _Histogram) -> str:
    """The same in two dimensions: four bins share an entry."""
    k, sizes = h.k, ("bins", h.k.size("ybins", 4, 6))
    (bx, fx), (by, fy) = _halves(h, "x"), _halves(h, "y")
    counts = [k.size_param(f"{a}_bins", size) for a, size in zip("xy", sizes, strict=True)]
    value = h.amount()
    out = k.accumulator("hist histogram", FLOAT32, sizes)
    with k.for_("dx", 2) as dx:
        along = k.let("wx", value * fn("where", fn("eq", dx, 0), 1.0 - fx, fx))
        with k.for_("dy", 2) as dy:
            across = k.let("wy", fn("where", fn("eq", dy, 0), 1.0 - fy, fy))
            at = k.let("ix", bx + dx), k.let("iy", by + dy)
            inside = (at[0] >= 0, at[0] < counts[0], at[1] >= 0, at[1] < counts[1])
            with k.if_(both(*inside)):
                k.atomic("add", out, at, along * across)
    h.done.append(
        f"add the bilinear shares of {h.say(value)}, (1 - fx) or fx times (1 - fy) or fy, to the "
        f"four bins of {out.name} from (bx, by) on"
    )
    h.notes.append(" Shares of bins that do not exist are dropped.")
    return f"Joint weighted histogram with bilinear sharing: for each entry {h.s.where}, "


def _copies(h: _Histogram) -> str:
    """Private copies, so that fewer threads meet at one bin."""
    k = h.k
    code = h.let("code b", h.s.read("codes symbols", INT32, init="index_of:bins"))
    copies = k.size_param("num_copies", k.size("copies", 3, 4))
    copy = h.let("copy", h.s.at[0] % copies)
    h.put((copy, code), "copies", "bins")
    h.notes.append(" Copies take the entries in turn, so that fewer threads meet at one bin.")
    return f"{h.kind} of codes in private copies: for each entry {h.s.where}, "


def _runs(h: _Histogram) -> str:
    """A thread goes through a chunk and issues one atomic for a run of one bin."""
    k, (t,) = h.k, h.s.at
    array = h.s.array("codes symbols", INT32, init="index_of:bins")
    first = k.let("first start", t * h.width)
    current = k.let("current run_code", array[first])
    held = k.let("run_weight acc" if h.weighted else "run_length run", k.lift(0, h.type))
    names = "hist histogram" if h.weighted else "hist histogram counts"
    out = k.accumulator(names, h.type, "bins")
    with k.for_("j step", h.width) as j:
        i = k.let("i e", first + j)
        code = k.let("code b", array[i])
        with k.if_(fn("ne", code, current)):
            k.atomic("add", out, current, held)
            k.assign(current, code)
            k.assign(held, k.lift(0, h.type))
        k.augment(held, "add", h.amount(Site(k, "chunk", h.s.dims, (i,))))
    k.atomic("add", out, current, held)
    h.done.append(
        f"a run's {'weight' if h.weighted else 'length'} is added to {out.name} where the code "
        "changes and at the end"
    )
    kept = "sums weights" if h.weighted else "counts"
    text = f"{h.kind} of codes with one atomic a run: each thread goes through {h.width} "
    return f"{text}consecutive entries and {kept} over runs of equal {array.name}, and "
