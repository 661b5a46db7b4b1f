"""What an attention is asked for, and what of it cannot be, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from synth.errors import SettingsError
from synth.lower.op import one_of, whole
from validate.row.archs import MOST_OPT_IN_SHARED_BYTES, MOST_SHARED_BYTES

WARP = 32
MMA = 16
"""Rows, and elements along the inner dimension, of a fragment."""
STORED = {"float32": "float", "float16": "__half"}
BYTES = {"float32": 4, "float16": 2}
CORES = {"float32": "simt", "float16": "mma"}
HEAD_DIMS = (32, 64, 96, 128)
FIELDS: Mapping[str, Any] = {"head_dim": 64, "causal": False}
_MOST_REGISTERS = 255
_BLOCK_REGISTERS = 65536


@dataclass(frozen=True)
class Tiling:
    """How an attention is cut up.

    A block has `tile_m` queries and takes `tile_n` keys at a time; a warp has `warp_m` of the
    queries. Of simt a thread has `thread_n` scores of each of its queries. `blocks`: of a
    multiprocessor at a time, for the compiler; 0 says nothing.
    """

    tile_m: int
    tile_n: int
    warp_m: int
    thread_n: int = 4
    blocks: int = 0

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.tile_m // self.warp_m * WARP


@dataclass(frozen=True)
class Attention:
    """o = softmax(q k^T / sqrt(head_dim)) v for each of `heads` of a `batch`; with `causal` query
    i sees the keys up to i."""

    dtype: str
    head_dim: int
    causal: bool
    tiling: Tiling

    @property
    def core(self) -> str:
        """`simt` or `mma`."""
        return CORES[self.dtype]

    @property
    def group(self) -> int:
        """Elements of a vector of 16 bytes."""
        return 16 // BYTES[self.dtype]

    @property
    def lanes_n(self) -> int:
        """Of simt: threads that share a query."""
        return self.tiling.tile_n // self.tiling.thread_n

    @property
    def thread_m(self) -> int:
        """Of simt: queries of a thread."""
        return self.tiling.warp_m * self.lanes_n // WARP

    @property
    def row(self) -> int:
        """Elements of a row of a tile of q, k and v, with the padding of simt."""
        return self.head_dim + (self.group if self.core == "simt" else 0)

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block."""
        t = self.tiling
        weights = t.tile_m * (t.tile_n + self.group) if self.core == "simt" else 0
        return ((t.tile_m + 2 * t.tile_n) * self.row + weights) * BYTES[self.dtype]

    @property
    def dynamic(self) -> bool:
        """Whether a launch must opt into its shared memory."""
        return self.shared_bytes > MOST_SHARED_BYTES


def schedule(dtype: str) -> dict[str, Any]:
    """The schedule that is taken where none is asked for: one that every head_dim allows."""
    tiling = Tiling(128, 64, 32) if CORES[dtype] == "mma" else Tiling(64, 32, 16, 4)
    return asdict(tiling)


def read(dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> Attention:
    """The plan of an attention. Raises SettingsError."""
    one_of("head_dim", fields["head_dim"], HEAD_DIMS)
    for name in ("tile_m", "tile_n", "warp_m"):
        whole(f"schedule.{name}", said[name], 8, 256)
    whole("schedule.thread_n", said["thread_n"], 1, 16)
    whole("schedule.blocks", said["blocks"], 0, 8)
    plan = Attention(dtype, fields["head_dim"], fields["causal"], Tiling(**said))
    if wrong := fault(plan):
        raise SettingsError(f"schedule: {wrong}")
    return plan


def fault(a: Attention) -> str:
    """Why an attention cannot be made so, in one line; empty when it can."""
    t = a.tiling
    if t.tile_m % t.warp_m or not 1 <= t.tile_m // t.warp_m <= 32:
        return f"tile_m: {t.tile_m} queries are no 1 to 32 warps of {t.warp_m}"
    if wrong := _mma_fault(a) if a.core == "mma" else _simt_fault(a):
        return wrong
    if any(rows * a.head_dim % (a.group * t.threads) for rows in (t.tile_m, t.tile_n)):
        return f"tiles are no whole vectors for each of {t.threads} threads"
    if a.shared_bytes > MOST_OPT_IN_SHARED_BYTES:
        most = MOST_OPT_IN_SHARED_BYTES
        return f"tiles take {a.shared_bytes} bytes of shared memory; allowed are up to {most}"
    return ""


def _mma_fault(a: Attention) -> str:
    t = a.tiling
    if t.warp_m not in (MMA, 2 * MMA) or t.tile_n % MMA:
        return f"mma: warp_m of {MMA} or {2 * MMA}, tile_n a multiple of {MMA}"
    return _register_fault(t, t.warp_m * (a.head_dim + t.tile_n) // WARP)


def _simt_fault(a: Attention) -> str:
    t = a.tiling
    if t.tile_n % t.thread_n or a.lanes_n not in (4, 8, 16, 32):
        return "tile_n: 4, 8, 16 or 32 threads of thread_n scores each"
    if t.tile_n % a.group or a.head_dim % (a.group * a.lanes_n):
        return f"head_dim and tile_n: whole vectors of {a.group} for {a.lanes_n} threads"
    if t.warp_m * a.lanes_n % WARP or a.thread_m < 1:
        return f"warp_m: a multiple of {WARP // a.lanes_n}, the queries that a warp has at a time"
    held = a.thread_m * (t.thread_n + a.head_dim // a.lanes_n) + a.group * t.thread_n
    return _register_fault(t, held + a.group * a.thread_m // 2)


def _register_fault(t: Tiling, held: int) -> str:
    most = min(_MOST_REGISTERS, _BLOCK_REGISTERS // (t.threads * max(1, t.blocks)))
    if held + 16 > most:
        return f"{held} registers for sums and scores, and 16 for the rest; there are {most}"
    return ""
