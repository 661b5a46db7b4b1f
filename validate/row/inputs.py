"""Input values of a row: a pure function of its `args`, the sizes and `input_seed`.

Every argument (and every struct field) has a stream of its own. Its 64-bit numbers are SplitMix64
(Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). The i-th,
counted from 1, is `mix(key + i * 0x9E3779B97F4A7C15)`; the key is the first 8 bytes, little-endian,
of sha256 of `<input_seed>/<arg>` or `<input_seed>/<arg>/<field>`. NumPy's own distributions may
change between versions, these bits may not; and only operations that IEEE 754 rounds correctly are
used, so every CPU draws the same bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from validate.row import dtypes
from validate.row.sizes import evaluate, evaluate_all

Array = np.ndarray[Any, np.dtype[Any]]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31, _S32, _S63 = (np.uint64(n) for n in (11, 27, 30, 31, 32, 63))
_SHORTEST = 2.0**-10
_RUN = 8

DRAWN = "drawn"
"""Of the values that an edge input lists: what the element would have been without it."""

# Every float read from this pattern is NaN, in all three widths and at any even offset.
FLOAT_POISON = b"\xf5\xff"
OTHER_POISON = b"\xa5"


def draw_inputs(
    args: Sequence[Mapping[str, Any]], sizes: Mapping[str, int], input_seed: int
) -> dict[str, Array]:
    """Draw the value of every argument, by name, as `notes/formats/row.md` says for its `init`.

    Arrays have the shape of `shape` at these sizes plus trailing component axes; scalars and
    structs by value are 0-d, composite scalars have the component shape. Arrays whose role is
    `out` are poisoned. Raises ValueError when an `init` does not fit its dtype or lacks bounds.
    """
    return {arg["name"]: _draw_argument(arg, sizes, input_seed) for arg in args}


def with_starts(
    args: Sequence[Mapping[str, Any]], starts: Mapping[str, Sequence[str]]
) -> list[Mapping[str, Any]]:
    """`args` with those of `starts`, lowest and highest value by name, drawn uniformly between."""
    return [
        {**arg, "init": "uniform", "low": starts[arg["name"]][0], "high": starts[arg["name"]][1]}
        if arg["name"] in starts
        else arg
        for arg in args
    ]


def draw_trial_inputs(
    args: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    input_seed: int,
    starts: Mapping[str, Sequence[str]],
) -> dict[str, Array]:
    """As `draw_inputs` of `with_starts`: accumulators, which a row starts at an identity, start at
    drawn values. Raises ValueError as `draw_inputs`."""
    return draw_inputs(with_starts(args, starts), sizes, input_seed)


def poison(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """An array that shows whether it was written: NaN for floats, bytes of 0xA5 for the rest.

    Padding inside structs stays zero.
    """
    if dtype.names is not None:
        array = np.zeros(shape, dtype)
        for name in dtype.names:
            array[name] = poison(array.dtype[name].base, array[name].shape)
        return array
    count = prod(shape) * dtype.itemsize
    pattern = FLOAT_POISON if dtype.kind == "f" else OTHER_POISON
    raw = bytearray(pattern * (count // len(pattern)))
    return np.frombuffer(raw, dtype).reshape(shape)


# So many numbers at a time stay in a core's cache from one step to the next.
_AT_ONCE = 1 << 14


@lru_cache(maxsize=1)
def _counters() -> Array:
    return np.arange(1, _AT_ONCE + 1, dtype=np.uint64) * _GAMMA


def raw_numbers(stream: str, count: int) -> Array:
    """The first `count` 64-bit numbers of a stream, as uint64."""
    key = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:8], "little")
    numbers = np.empty(count, np.uint64)
    for start in range(0, count, _AT_ONCE):
        z = numbers[start : start + _AT_ONCE]
        offset = (key + start * int(_GAMMA)) % (1 << 64)
        np.add(_counters()[: z.size], np.uint64(offset), out=z)
        for shift, factor in ((_S30, _MIX_1), (_S27, _MIX_2)):
            z ^= z >> shift
            z *= factor
        z ^= z >> _S31
    return numbers


class _Draw:
    """One leaf to draw: an argument that is not a struct, or one field of a struct."""

    def __init__(
        self,
        entry: Mapping[str, Any],
        outer: tuple[int, ...],
        sizes: Mapping[str, int],
        stream: str,
    ) -> None:
        self.dtype = dtypes.parse(entry["dtype"])
        self.entry, self.outer, self.sizes, self.stream = entry, outer, sizes, stream
        self.storage = np.dtype(self.dtype.scalar)
        self.shape = outer + self.dtype.shape

    def raw(self) -> Array:
        return raw_numbers(self.stream, prod(self.shape)).reshape(self.shape)

    def fail(self, why: str) -> ValueError:
        return ValueError(f"{self.stream}: init {self.entry['init']!r} {why}")

    def bound(self, key: str) -> str:
        text = self.entry[key]
        if text is None:
            raise self.fail(f"needs {key!r}")
        return str(text)

    def whole_bound(self, key: str) -> int:
        try:
            value = Fraction(self.bound(key))
        except ValueError as error:
            raise self.fail(f"has a bad {key!r}") from error
        if value.denominator != 1:
            raise self.fail(f"needs a whole {key!r}")
        return int(value)

    def uniform_reals(self) -> Array:
        low, high = float(self.bound("low")), float(self.bound("high"))
        values = (self.raw() >> _S11) * 2.0**-53
        values *= high - low
        values += low
        return self.edged(np.asarray(np.minimum(values, high)))

    def edged(self, values: Array) -> Array:
        """Values with those that an edge input lists in the place of some."""
        among: Sequence[str] = self.entry.get("among") or ()
        if not among or not values.size:
            return values
        picks = self._picks(len(among))
        for number, text in enumerate(among):
            if text != DRAWN:
                listed = float(text) if values.dtype.kind == "f" else int(text)
                values = np.where(picks == number, values.dtype.type(listed), values)
        return values

    def _picks(self, count: int) -> Array:
        """Which of so many values each component takes.

        Half of the elements take one for all components; so does a quarter of the runs: rows of
        several axes, else eight elements.
        """
        raw = raw_numbers(f"{self.stream}/edge", prod(self.shape)).reshape(prod(self.outer), -1)
        picks = _whole(raw, 0, count - 1)
        picks = np.where(raw[:, :1] & np.uint64(1), picks[:, :1], picks)
        run = prod(self.outer[1:]) if len(self.outer) > 1 else _RUN
        first = np.arange(len(raw)) // run * run
        alike = (raw[first, :1] & np.uint64(6)) == 0
        return np.where(alike, picks[first, :1], picks).reshape(self.shape)


def _draw_argument(arg: Mapping[str, Any], sizes: Mapping[str, int], input_seed: int) -> Array:
    shape = evaluate_all(arg["shape"], sizes) if arg["kind"] == "array" else ()
    parsed = dtypes.parse(arg["dtype"])
    if arg["role"] == "out":
        return poison(dtypes.storage(arg["dtype"], arg["fields"]), shape + parsed.shape)
    stream = f"{input_seed}/{arg['name']}"
    if parsed.kind != "struct":
        return _draw_leaf(_Draw(arg, shape, sizes, stream))
    array = np.zeros(shape, dtypes.storage(arg["dtype"], arg["fields"]))
    for field in arg["fields"]:
        array[field["name"]] = _draw_leaf(_Draw(field, shape, sizes, f"{stream}/{field['name']}"))
    return array


def _draw_leaf(draw: _Draw) -> Array:
    init, _, expression = draw.entry["init"].partition(":")
    if init == "index_of":
        size = evaluate(expression, draw.sizes)
        if size < 1:
            raise draw.fail("has nothing to index")
        return _store(draw, draw.edged(_whole(draw.raw(), 0, size - 1)))
    if init == "size":
        return _store(draw, np.full(draw.shape, evaluate(expression, draw.sizes)))
    if init not in _INITS:
        raise draw.fail("is not known")
    return _store(draw, _INITS[init](draw))


def _store(draw: _Draw, values: Array) -> Array:
    return np.asarray(values).astype(draw.storage, copy=False).reshape(draw.shape)


def _whole(raw: Array, low: int, high: int) -> Array:
    """Whole numbers in [low, high] as int64, or uint64 where they need it."""
    if high < low:
        raise ValueError(f"no whole number lies in [{low}, {high}]")
    span = high - low + 1
    if span <= 1 << 32:
        offset = np.asarray(raw >> _S32)
        offset *= np.uint64(span)
        offset >>= _S32
    elif span == 1 << 64:
        offset = raw
    else:
        # The bias of a remainder is below span / 2**64, and no test of values can see it.
        offset = raw % np.uint64(span)
    with np.errstate(over="ignore"):
        values = np.asarray(offset + np.uint64(low % (1 << 64)))
    return values if high >= 1 << 63 else values.view(np.int64)


def _uniform(draw: _Draw) -> Array:
    if draw.storage.kind == "b":
        return draw.edged(draw.raw() >> _S63)
    if draw.storage.kind == "f":
        return draw.uniform_reals()
    return _integers(draw)


def _integers(draw: _Draw) -> Array:
    return draw.edged(_whole(draw.raw(), draw.whole_bound("low"), draw.whole_bound("high")))


def _permutation(draw: _Draw) -> Array:
    return np.argsort(draw.raw(), axis=None, kind="stable")


def _sorted(draw: _Draw) -> Array:
    if not draw.outer:
        raise draw.fail("needs an array")
    return np.sort(_store(draw, _uniform(draw)), axis=len(draw.outer) - 1)


def _unit(draw: _Draw) -> Array:
    if draw.dtype.kind not in ("vec", "quat", "transform"):
        raise draw.fail(f"does not fit {draw.entry['dtype']}")
    values = draw.edged((draw.raw() >> _S11) * 2.0**-52 - 1.0)
    if draw.dtype.kind != "transform":
        return _normalised(values)
    position = draw.uniform_reals()[..., :3]
    return np.concatenate([position, _normalised(values[..., 3:])], axis=-1)


def _normalised(values: Array) -> Array:
    squares = values * values
    total = squares[..., 0]
    for component in range(1, values.shape[-1]):
        total = total + squares[..., component]
    length = np.sqrt(total)
    short = length < _SHORTEST
    scaled: Array = values / np.where(short, 1.0, length)[..., None]
    scaled[short] = np.eye(values.shape[-1])[-1]
    return scaled


def _well_conditioned(draw: _Draw) -> Array:
    rows_columns = draw.dtype.shape
    if draw.dtype.kind != "mat" or rows_columns[0] != rows_columns[1]:
        raise draw.fail(f"does not fit {draw.entry['dtype']}")
    order = rows_columns[0]
    largest = max(abs(float(draw.bound("low"))), abs(float(draw.bound("high"))))
    return draw.uniform_reals() + order * largest * np.eye(order)


def _reduction_identity(draw: _Draw) -> Array:
    if draw.storage.kind == "f":
        return np.full(draw.shape, float(draw.bound("low")))
    return np.full(draw.shape, draw.whole_bound("low"), draw.storage)


_INITS: dict[str, Callable[[_Draw], Array]] = {
    "uniform": _uniform,
    "integers": _integers,
    "permutation": _permutation,
    "sorted": _sorted,
    "unit": _unit,
    "well_conditioned": _well_conditioned,
    "reduction_identity": _reduction_identity,
}
