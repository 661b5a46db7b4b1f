"""Hidden inputs and shapes: what answers to a row are run on, other than what the row shows.

Everything follows by SHA-256 from a secret number, the row's id and the number of the attempt, so
that all answers to a row meet the same. Shapes respect `min` and `multiple_of`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from validate.row.sizes import awkward_sizes, evaluate_all, own_sizes

Sizes = dict[str, int]

TRIES = 4
"""How many hidden seeds are tried for a row before its own inputs are used."""

WIDE_TRIES = 2
"""So many of them with a wide launch, in which sums outgrow tolerances that were set for small."""

# More than one block can hold: an answer that forgets the block's number must fail.
_WIDE = (1030, 1300)
_MOST_STEPS = 64


@dataclass(frozen=True)
class Draw:
    """Inputs and shapes of one trial. `kind` is one of KINDS."""

    kind: str
    input_seed: int
    shapes: tuple[Sizes, ...]


KINDS = ("hidden", "own inputs, hidden shapes", "own")
"""Where the inputs and the shapes of a trial come from, best first."""


def draws(row: Mapping[str, Any], hidden_seed: int) -> Iterator[Draw]:
    """The trials of a row in the order in which they are to be taken: the first that fits."""
    for attempt in range(TRIES):
        stream = _Stream(hidden_seed, row["id"], attempt)
        wide = attempt < WIDE_TRIES
        yield Draw(KINDS[0], stream.below(1 << 63), _shapes(row, stream, wide))
    shapes = _shapes(row, _Stream(hidden_seed, row["id"], TRIES), wide=False)
    yield Draw(KINDS[1], row["input_seed"], shapes)
    yield Draw(KINDS[2], row["input_seed"], tuple(awkward_sizes(row["sizes"])))


class _Stream:
    """Whole numbers out of SHA-256."""

    def __init__(self, hidden_seed: int, row_id: str, attempt: int) -> None:
        self.key = f"{hidden_seed}/{row_id}/{attempt}"
        self.count = 0

    def below(self, end: int) -> int:
        self.count += 1
        digest = hashlib.sha256(f"{self.key}/{self.count}".encode()).digest()
        return int.from_bytes(digest[:16], "little") % end

    def between(self, low: int, high: int) -> int:
        return low + self.below(max(1, high - low + 1))


def _shapes(row: Mapping[str, Any], stream: _Stream, wide: bool) -> tuple[Sizes, ...]:
    """A shape of about the row's own size, one larger (with a wide launch), and the smallest."""
    own = own_sizes(row["sizes"])
    near = {entry["symbol"]: _near(entry, stream) for entry in row["sizes"]}
    smallest = awkward_sizes([{**e, "value": _least(e)} for e in row["sizes"]])[0]
    found: list[Sizes] = []
    larger = {e["symbol"]: _near({**e, "value": 2 * e["value"]}, stream) for e in row["sizes"]}
    for shape in (near, _wide(row, near, stream) if wide else larger, smallest):
        if shape not in [own, *found]:
            found.append(shape)
    return tuple(found) or (own,)


def _near(entry: Mapping[str, Any], stream: _Stream) -> int:
    multiple = max(1, entry["multiple_of"])
    own, least = entry["value"] // multiple, -(-entry["min"] // multiple)
    low, high = max(1, least, own // 2), max(own + 2, own * 3 // 2)
    units = stream.between(low, high - 1)
    return (units if units < own else units + 1) * multiple


def _least(entry: Mapping[str, Any]) -> int:
    multiple = max(1, entry["multiple_of"])
    return max(1, -(-entry["min"] // multiple)) * multiple


def _wide(row: Mapping[str, Any], near: Sizes, stream: _Stream) -> Sizes:
    """`near` with the sizes that the launch is made of enlarged, one after the other."""
    wanted, shape = stream.between(*_WIDE), dict(near)
    names = [e["symbol"] for e in row["sizes"] if _grows(row, near, e["symbol"])]
    for step in range(_MOST_STEPS if names else 0):
        threads = _threads(row, shape)
        if threads >= wanted:
            break
        name = names[step % len(names)]
        left = len(names) - step if step < len(names) else 1
        multiple = max(1, _entry(row, name)["multiple_of"])
        factor = (wanted / threads) ** (1 / left)
        shape[name] = -(-int(shape[name] * factor + 1) // multiple) * multiple
    return shape


def _entry(row: Mapping[str, Any], symbol: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(e for e in row["sizes"] if e["symbol"] == symbol)
    return found


def _threads(row: Mapping[str, Any], sizes: Mapping[str, int]) -> int:
    count = 1
    for extent in evaluate_all(row["launch"]["dim"], sizes):
        count *= extent
    return count


def _grows(row: Mapping[str, Any], sizes: Sizes, symbol: str) -> bool:
    more = {**sizes, symbol: sizes[symbol] * 2}
    return _threads(row, more) > _threads(row, sizes)
