"""A row at a shape far too large for its reference: Warp's text against plain CUDA.

Both are proven at small shapes. At a large one sums are longer than the tolerances were measured
for, and among many elements some are decided by the last bit of an input, or their errors blown up.
So an element passes that is within the tolerance, widened for longer sums; what is left must lie
near the values that Warp's own text gives when it runs again, when every float input moves by one
unit in the last place (by a few, where next to no element is in doubt), and when it is compiled
without fused multiply-adds.

Each of n additions errs by half the last place of a partial sum. Where terms cancel, partial
sums grow with the root of n and so does the sum of their errors: to n times a term's size. Where
they do not, small terms are lost against a large sum, each time in the same direction: up to n
halves of a last place of the sum. Both tolerances are widened with n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from validate.gpu.text import Ran, Row, Shape, Text, Values, run_text
from validate.gpu.turns import longest_loops
from validate.oracle.compare import Mismatch, compare
from validate.row.dtypes import parse, storage
from validate.row.inputs import Array, raw_numbers
from validate.row.sizes import evaluate_all, middle, more_terms, own_sizes, symbols

_FIRST_STEP = 1 << 12
_STEP = 8
# Of one launch; threads that loop over what the launch counts take time with its square.
_MOST_TIME_US = 200_000.0
_MOST_BYTES = 1 << 30
_NEIGHBOURS = (0, 1, 1, 1, 1, 1, 1, 1)
_FURTHER_NEIGHBOURS = (4, 4, 4, 4)
"""By how many units in the last place inputs are moved in each launch nearby."""
_FEW = 1e-5
"""The share of elements that may be in doubt for inputs to be moved further: a branch that a few
of many elements take by chance, as where a ray meets a surface at its rim."""
# Rounding inside a kernel counts for more than one unit in the last place of its inputs.
_BAND_WIDTHS = 4.0
_USUAL = 0.9
_MANY = 100


def scaled_sizes(row: Row, elements: int) -> dict[str, int]:
    """Sizes at which a launch has about so many threads; sizes that it does not count stay.

    Halved until the arrays take no more than 1 GiB. Every size respects `multiple_of`.
    """
    own = own_sizes(row["sizes"])
    return _within_memory(row, own, elements, prod(evaluate_all(row["launch"]["dim"], own)))


def sizes_in_use(row: Row, elements: int) -> dict[str, int]:
    """Sizes of a row's `regime` at which a launch has about so many threads.

    What the launch does not count is in the middle of its span; what it counts keeps the
    proportions of the middles. Otherwise, and for a row without a regime, as `scaled_sizes`.
    """
    if row["regime"] is None:
        return scaled_sizes(row, elements)
    middles = {span["symbol"]: middle(span["low"], span["high"]) for span in row["regime"]}
    allowed = {e["symbol"]: _allowed(e, middles[e["symbol"]]) for e in row["sizes"]}
    return _within_memory(row, allowed, elements, 1)


def _within_memory(row: Row, base: Mapping[str, int], elements: int, fewest: int) -> dict[str, int]:
    """Scaled from `base`, with fewer threads, though not than `fewest`, where arrays are large."""
    while True:
        sizes = _scaled(row, base, elements)
        if bytes_moved(row, sizes) <= _MOST_BYTES or elements <= fewest:
            return sizes
        elements //= 2


def _scaled(row: Row, base: Mapping[str, int], elements: int) -> dict[str, int]:
    """`base` with what the launch counts scaled alike, but for whole numbers that a row allows:
    the small ones come first, and the others make up for how far these are off."""
    dim = row["launch"]["dim"]
    # A launch may count a size twice, as over all pairs.
    powers = Counter(name for extent in dim for name in symbols(extent))
    entries = [entry for entry in row["sizes"] if entry["symbol"] in powers]
    sizes, left = dict(base), powers.total()
    for entry in sorted(entries, key=lambda e: base[e["symbol"]]):
        factor = elements / prod(evaluate_all(dim, sizes))
        sizes[entry["symbol"]] = _allowed(entry, base[entry["symbol"]] * factor ** (1.0 / left))
        left -= powers[entry["symbol"]]
    return sizes


def _allowed(entry: Mapping[str, Any], wanted: float) -> int:
    """The next size that a row allows for a symbol."""
    multiple = max(1, entry["multiple_of"])
    least = max(entry["min"], wanted, 1)
    return -(-int(np.ceil(least - 1e-9)) // multiple) * multiple


def bytes_moved(row: Row, sizes: Mapping[str, int]) -> int:
    """Bytes of inputs, once, and of outputs, once; twice for what is read and written."""
    total = 0
    for arg in row["args"]:
        if arg["kind"] == "array":
            times = 2 if arg["role"] == "inout" else 1
            total += times * _item_bytes(arg) * prod(evaluate_all(arg["shape"], sizes))
    return total


def _item_bytes(arg: Mapping[str, Any]) -> int:
    """Bytes of one element of an array argument, as Warp's text lays it out."""
    return storage(arg["dtype"], arg["fields"]).itemsize * prod(parse(arg["dtype"]).shape)


def first_step(elements: int) -> int:
    """The size of the first launch on the way to a large one."""
    return min(elements, _FIRST_STEP)


def next_step(reached: int, elements: int, time_us: float) -> int | None:
    """The size to go on to, None when that would take too long if time grew with the square."""
    for target in (elements, reached * _STEP):
        if reached < target <= elements and time_us * (target / reached) ** 2 <= _MOST_TIME_US:
            return target
    return None


def disagreement(
    row: Row, variants: Callable[[], Sequence[Text]], shape: Shape, first: Ran, other: Ran
) -> tuple[Mismatch, str] | None:
    """The worst element of `other` that Warp's text does not give either, and its array's name.

    `first` is a launch of Warp's text at the shape; `variants` makes that text as it is compiled in
    several ways, which are launched for what is in doubt.
    """
    band: _Band | None = None
    for arg in row["args"]:
        name = arg["name"]
        if name not in first.outputs:
            continue
        widened = _widened(row, arg, shape.sizes)
        if _mismatch(other.outputs[name], first.outputs[name], widened) is None:
            continue
        if band is None:
            band = _Band(row, variants(), shape, first)
        found = band.mismatch(name, other, widened)
        if found is not None and found.bad <= max(1.0, _FEW * found.total):
            band.widen()
            found = band.mismatch(name, other, widened)
        if found is not None:
            return found, name
    return None


def _mismatch(got: Array, want: Array, widened: Mapping[str, float | None]) -> Mismatch | None:
    rtol, atol = widened["rtol"], widened["atol"]
    if compare(got, want, rtol, atol) is None:
        return None
    return compare(*_without_shared_nans(got, want), rtol, atol)


def _without_shared_nans(got: Array, want: Array) -> tuple[Array, Array]:
    """The two, the second as a reference has it, with zeros where both are NaN."""
    got, want = got.copy(), as_wanted(want)
    for name in got.dtype.names or ("",):
        ours, theirs = (got[name], want[name]) if name else (got, want)
        if ours.dtype.kind == "f":
            both = np.isnan(ours) & np.isnan(theirs)
            ours[both], theirs[both] = 0, 0
    return got, want


def as_wanted(value: Array) -> Array:
    """An output in the form of a reference: its floats are float64."""
    if value.dtype.names is None:
        return value.astype(np.float64) if value.dtype.kind == "f" else value
    described = [
        (name, np.float64 if value.dtype[name].base.kind == "f" else value.dtype[name].base)
        + (value.dtype[name].shape,)
        for name in value.dtype.names
    ]
    return value.astype(np.dtype(described, align=True))


def _widened(row: Row, arg: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, float | None]:
    """The tolerance of an output, widened with how many more terms it collects."""
    own = own_sizes(row["sizes"])
    longer = more_terms(row, arg["shape"], sizes)
    longer *= max(1.0, longest_loops(row, sizes) / longest_loops(row, own))
    return {key: None if arg[key] is None else longer * arg[key] for key in ("rtol", "atol")}


class _Band:
    """The least and the greatest value of every element over launches of Warp's text nearby."""

    def __init__(self, row: Row, texts: Sequence[Text], shape: Shape, first: Ran) -> None:
        self._row, self._texts, self._shape, self._first = row, texts, shape, first
        self._low = {name: value.copy() for name, value in first.outputs.items()}
        self._high = {name: value.copy() for name, value in first.outputs.items()}
        self._launched: tuple[int, ...] = ()
        self._launch(_NEIGHBOURS)

    def widen(self) -> None:
        """Launch with inputs that are moved further as well, once."""
        if len(self._launched) == len(_NEIGHBOURS):
            self._launch(_FURTHER_NEIGHBOURS)

    def _launch(self, neighbours: tuple[int, ...]) -> None:
        low, high, shape = self._low, self._high, self._shape
        for number, units in enumerate(neighbours, len(self._launched)):
            inputs = _nudged(self._row, shape.inputs, number, units) if units else shape.inputs
            for text in self._texts:
                near = Shape(shape.sizes, shape.dim, inputs)
                for name, value in run_text(text, self._row, near).outputs.items():
                    low[name] = _each(np.fmin, low[name], value)
                    high[name] = _each(np.fmax, high[name], value)
        self._launched += neighbours

    def mismatch(
        self, name: str, other: Ran, widened: Mapping[str, float | None]
    ) -> Mismatch | None:
        """The worst element of an output that lies outside."""
        got, bounds = other.outputs[name], (self._low[name], self._high[name])
        nearest = _clipped(got, self._first.outputs[name], *bounds, widened)
        return _mismatch(got, nearest, widened)


def _clipped(
    value: Array, first: Array, low: Array, high: Array, widened: Mapping[str, float | None]
) -> Array:
    """What is nearest to each element within bounds, which are moved apart by their distance."""
    if value.dtype.names is not None:
        joined = value.copy()
        for name in value.dtype.names:
            joined[name] = _clipped(value[name], first[name], low[name], high[name], widened)
        return joined
    if value.dtype.kind == "f":
        with np.errstate(all="ignore"):
            width = _BAND_WIDTHS * _widths(value, first, low, high, widened)
            low, high = (low - width).astype(value.dtype), (high + width).astype(value.dtype)
    found: Array = np.fmin(np.fmax(value, low), high)
    return found


def _widths(
    value: Array, first: Array, low: Array, high: Array, widened: Mapping[str, float | None]
) -> Array:
    """How far values are apart, for each element; at least as far as is usual among those in doubt.

    A few launches show little of the spread of one element, but well that of many. One element in
    doubt is judged by itself.
    """
    own: Array = np.nan_to_num(high.astype(np.float64) - low, posinf=0.0)
    rtol, atol = (widened[key] or 0.0 for key in ("rtol", "atol"))
    doubt = np.abs(value.astype(np.float64) - first) > atol + rtol * np.abs(first)
    usual = np.quantile(own[doubt], _USUAL) if np.count_nonzero(doubt) >= _MANY else 0.0
    return np.where(doubt, np.maximum(own, usual), own)


def _each(function: Any, left: Array, right: Array) -> Array:
    """A ufunc on every field."""
    if left.dtype.names is None:
        found: Array = function(left, right)
        return found
    joined = left.copy()
    for name in left.dtype.names:
        joined[name] = function(left[name], right[name])
    return joined


def _nudged(row: Row, inputs: Values, number: int, units: int) -> Values:
    """The inputs with each float so many units in the last place up or down."""
    moved = {name: value.copy() for name, value in inputs.items()}
    for arg in row["args"]:
        if arg["role"] == "out":
            continue
        value = moved[arg["name"]]
        for field in value.dtype.names or ("",):
            part = value[field] if field else value
            if part.dtype.kind == "f":
                signs = raw_numbers(f"nudge/{number}/{arg['name']}/{field}", part.size)
                towards = np.where(signs.reshape(part.shape) & np.uint64(1), np.inf, -np.inf)
                nudged = part
                for _ in range(units):
                    nudged = np.nextafter(nudged, towards.astype(part.dtype))
                if field:
                    value[field] = nudged
                else:
                    moved[arg["name"]] = np.asarray(nudged)
    return moved
