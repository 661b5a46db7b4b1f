"""What `pairsmith lower` is asked for, op, dtype and schedule, and the key that names it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import gcd
from typing import Any

from synth.errors import SettingsError
from synth.lower.op import OpSpec, read_op
from synth.lower.ops import ops
from validate.row.archs import MOST_SHARED_BYTES

OPS = ("matmul", "relu", "matmul_relu")
"""Ops that can be had without stages in flight: under a schedule without `core`."""

ITEM_BYTES = {"float32": 4, "float64": 8}
WARP = 32
MOST_THREADS = 1024
MOST_TILE = 1024
MOST_LOAD_BYTES = 16

_FIELDS = ("op", "dtype", "schedule", "transpose_b")
_TILES = {"tile_m": 32, "tile_n": 32, "tile_k": 8}
_SCHEDULE_FIELDS = (*_TILES, "vectorize", "unroll")
# A thread computes at most 8 x 8 sums; smaller tiles keep blocks of about 16 x 16 threads.
_MOST_SIDE = 8
_THREADS_OF_A_SIDE = 16


@dataclass(frozen=True)
class Schedule:
    """How an op is cut up.

    A block makes `tile_m` x `tile_n` elements, `tile_k` of the inner dimension at a time, and
    loads vectors of `vectorize` elements. `unroll` is the factor of the loop over a tile's inner
    dimension (of relu: over a thread's vectors), None for the whole loop.
    """

    tile_m: int
    tile_n: int
    tile_k: int
    vectorize: int
    unroll: int | None

    @property
    def thread_m(self) -> int:
        """Rows of a thread's sums."""
        return _side(self.tile_m)

    @property
    def thread_n(self) -> int:
        """Columns of a thread's sums: whole vectors where that leaves whole warps."""
        return next((n for n in self._widths() if self._threads(n) % WARP == 0), _side(self.tile_n))

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self._threads(self.thread_n)

    @property
    def group(self) -> int:
        """Columns of a thread's sums that lie side by side: 1, 2 or 4."""
        return gcd(self.thread_n, self.vectorize)

    def _threads(self, thread_n: int) -> int:
        return self.tile_m // self.thread_m * (self.tile_n // thread_n)

    def _widths(self) -> Iterable[int]:
        for step in (self.vectorize, self.vectorize // 2 or 1):
            width = -(-_side(self.tile_n) // step) * step
            if self.tile_n % width == 0:
                yield width


@dataclass(frozen=True)
class Spec:
    """One thing to lower; `key()` names it. Made by `read_spec`, which checks it."""

    op: str
    dtype: str
    schedule: Schedule
    transpose_b: bool

    @property
    def sizes(self) -> tuple[str, ...]:
        """Size symbols, in the order of a shape."""
        return ("m", "n", "k")

    @property
    def archs(self) -> tuple[str, ...]:
        """All may have its text."""
        return ()

    @property
    def shared_bytes(self) -> int:
        """Bytes of static shared memory of a block."""
        if self.op == "relu":
            return 0
        s, pad = self.schedule, self.schedule.vectorize
        wide = s.tile_n + (pad if self.transpose_b else 0)
        return (s.tile_m * (s.tile_k + pad) + s.tile_k * wide) * ITEM_BYTES[self.dtype]

    def as_dict(self) -> dict[str, Any]:
        """The spec as JSON has it, with every field."""
        return {field: asdict(self)[field] for field in _FIELDS}

    def canonical(self) -> str:
        """JSON of the spec with all fields, sorted, without white space."""
        return canonical_json(self.as_dict())

    def key(self) -> str:
        """sha256 of `canonical()`, as hexadecimal digits."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted fields and no white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def read_spec(source: str | Mapping[str, Any]) -> Spec | OpSpec:
    """The spec of a JSON text, or of what JSON has made of one, with defaults filled in.

    Raises SettingsError, one line that names the field and what is allowed.
    """
    given = parsed(source) if isinstance(source, str) else source
    name = given.get("op")
    if isinstance(name, str) and name in ops() and not _without_stages(given):
        return read_op(ops()[name], given)
    return _read_plain(given)


def _without_stages(given: Mapping[str, Any]) -> bool:
    """Whether a spec asks for tiles that are loaded and multiplied in turn, as relu has them."""
    schedule = given.get("schedule", {})
    named = isinstance(schedule, Mapping) and bool(schedule) and "core" not in schedule
    return given["op"] in OPS and ("schedule" in given and (named or schedule is None))


def _read_plain(given: Mapping[str, Any]) -> Spec:
    _check_fields(given, (*_FIELDS, "shape"), "")
    if "op" not in given:
        raise SettingsError(f"op: is missing; allowed are {', '.join(_all_ops())}")
    op = _choice(given, "op", _all_ops(), None)
    dtype = _choice(given, "dtype", tuple(ITEM_BYTES), "float32")
    transposed = given.get("transpose_b", False)
    if type(transposed) is not bool:
        raise _bad("transpose_b", transposed, "true and false")
    if transposed and op == "relu":
        raise _bad("transpose_b", transposed, "false alone for relu, which has no B")
    spec = Spec(op, dtype, _schedule(given.get("schedule", {}), dtype), transposed)
    _check_fit(spec)
    return spec


def _all_ops() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*OPS, *ops())))


def parsed(text: str) -> Mapping[str, Any]:
    """The object of a JSON text. Raises SettingsError, one line."""
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, SettingsError):
            raise
        raise SettingsError(f"the spec is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise SettingsError(f"the spec is no JSON object; its fields are {', '.join(_FIELDS)}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise SettingsError(f"{_named(name)}: is given twice; once is allowed")
        found[name] = value
    return found


def _schedule(given: Any, dtype: str) -> Schedule:
    if not isinstance(given, Mapping):
        raise _bad("schedule", given, f"an object with {', '.join(_SCHEDULE_FIELDS)}")
    _check_fields(given, _SCHEDULE_FIELDS, "schedule.")
    tiles = {name: _whole(given, name, default, MOST_TILE) for name, default in _TILES.items()}
    widest = min(4, MOST_LOAD_BYTES // ITEM_BYTES[dtype])
    vectorize = given.get("vectorize", widest)
    allowed = [width for width in (1, 2, 4) if width <= widest]
    if type(vectorize) is not int or vectorize not in allowed:
        what = f"{', '.join(map(str, allowed))} for {dtype} (16 bytes a load)"
        raise _bad("schedule.vectorize", vectorize, what)
    for name in ("tile_n", "tile_k"):
        if tiles[name] % vectorize:
            what = f"multiples of schedule.vectorize, which is {vectorize}"
            raise _bad(f"schedule.{name}", tiles[name], what)
    unroll = given.get("unroll")
    if unroll is not None:
        unroll = _whole(given, "unroll", None, tiles["tile_k"], " (tile_k), and null for all")
    return Schedule(**tiles, vectorize=vectorize, unroll=unroll)


def _check_fit(spec: Spec) -> None:
    schedule = spec.schedule
    if schedule.threads % WARP or schedule.threads > MOST_THREADS:
        raise SettingsError(
            f"schedule.tile_m, schedule.tile_n: tiles of {schedule.tile_m} x {schedule.tile_n} "
            f"take {schedule.threads} threads a block; allowed are {WARP} to {MOST_THREADS}, "
            f"multiples of {WARP}"
        )
    if spec.shared_bytes > MOST_SHARED_BYTES:
        raise SettingsError(
            "schedule.tile_m, schedule.tile_n, schedule.tile_k: tiles take "
            f"{spec.shared_bytes} bytes of shared memory; allowed are up to {MOST_SHARED_BYTES}"
        )


def _side(tile: int) -> int:
    """The sums of a thread along a side of a tile: a divisor of it."""
    most = min(_MOST_SIDE, max(1, tile // _THREADS_OF_A_SIDE))
    return next(side for side in range(most, 0, -1) if tile % side == 0)


def _check_fields(given: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
    for name in given:
        if name not in known:
            listed = ", ".join(known)
            raise SettingsError(f"{prefix}{_named(name)}: unknown field; allowed are {listed}")


def _choice(
    given: Mapping[str, Any], name: str, allowed: tuple[str, ...], default: str | None
) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or value not in allowed:
        raise _bad(name, value, ", ".join(allowed))
    return value


def _whole(
    given: Mapping[str, Any], name: str, default: int | None, most: int, more: str = ""
) -> int:
    value = given.get(name, default)
    if type(value) is not int or not 1 <= value <= most:
        raise _bad(f"schedule.{name}", value, f"whole numbers from 1 to {most}{more}")
    return value


def _bad(field: str, value: Any, allowed: str) -> SettingsError:
    shown = _short(json.dumps(value, default=str))
    return SettingsError(f"{field}: {shown} is not allowed; allowed are {allowed}")


def _named(name: Any) -> str:
    return _short(name if str(name).isidentifier() else json.dumps(name, default=str))


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
