"""What a pipelined matrix product is asked for, and what of it cannot be, in one line."""

from __future__ import annotations

from dataclasses import dataclass

from synth.lower.gemm.view import View
from validate.row.archs import (
    MOST_OPT_IN_SHARED_BYTES,
    MOST_SHARED_BYTES,
    MOST_SM_90_SHARED_BYTES,
)
from validate.text.helpers.tensor import WARPGROUP_N

WARP = 32
STORED = {
    "float32": "float",
    "float64": "double",
    "tf32": "float",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "int8": "signed char",
}
"""Types of the elements of a and b."""
BYTES = {"float32": 4, "float64": 8, "tf32": 4, "float16": 2, "bfloat16": 2, "int8": 1}
SUMMED = {**dict.fromkeys(STORED, "float"), "float64": "double", "int8": "int"}
"""Types of sums; of int8 also that of c."""
CORES = {
    "simt": ("float32", "float64"),
    "mma": ("float16", "bfloat16", "tf32", "int8"),
    "wgmma": ("float16", "bfloat16"),
}
ACTIVATIONS = ("none", "relu", "gelu")
MMA_K = {"float16": 16, "bfloat16": 16, "tf32": 8, "int8": 32}
# Registers of a thread, without those for addresses and counters.
_MOST_REGISTERS = 255
_BLOCK_REGISTERS = 65536


@dataclass(frozen=True)
class Epilogue:
    """What becomes of a sum: times `scale`, plus bias[column], `activation`, plus residual."""

    scale: float = 1.0
    bias: bool = False
    activation: str = "none"
    residual: bool = False

    @property
    def plain(self) -> bool:
        """Whether the sum is stored as it is."""
        return self == Epilogue()


@dataclass(frozen=True)
class Tiling:
    """How a product is cut up.

    A block makes `tile_m` x `tile_n` elements of c, `tile_k` of the inner dimension at a time, with
    `stages` tiles of a and b in shared memory, brought by way of `registers` or by `async` copies.
    A warp makes `warp_m` x `warp_n` of them; of `simt` a thread `thread_m` x `thread_n` of those.
    `blocks`: of a multiprocessor at a time, for the compiler; 0 says nothing. `raster`: rows of
    tiles that neighbouring blocks share. `split_k`: parts of the inner dimension that blocks of
    their own sum, for a second kernel to add. `persistent`: blocks that take tiles in turn until
    none is left; 0: a block a tile.
    """

    tile_m: int
    tile_n: int
    tile_k: int
    warp_m: int
    warp_n: int
    thread_m: int = 8
    thread_n: int = 8
    stages: int = 2
    copy: str = "registers"
    blocks: int = 0
    raster: int = 8
    split_k: int = 1
    persistent: int = 0

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.tile_m // self.warp_m * (self.tile_n // self.warp_n) * WARP


@dataclass(frozen=True)
class Gemm:
    """c[batch, m, n] = epilogue(a[batch, m, k] b[batch, k, n]), row-major.

    With `transpose_a` a is [k, m], with `transpose_b` b is [n, k]. c has the dtype of a and b
    (float32 of tf32, int32 of int8); sums are float, double or int. With a `view` they are arrays
    of other shapes.
    """

    name: str
    core: str
    dtype: str
    tiling: Tiling
    transpose_a: bool = False
    transpose_b: bool = False
    batch: bool = False
    epilogue: Epilogue = Epilogue()
    view: View | None = None

    def gathered(self, side: str) -> bool:
        """Whether a side is found element by element."""
        return self.view is not None and side in self.view.gathered

    def named(self, array: str) -> str:
        """What the kernel calls an array."""
        return self.view.arrays.get(array, array) if self.view else array

    @property
    def group(self) -> int:
        """Elements of a vector of 16 bytes."""
        return 16 // BYTES[self.dtype]

    @property
    def out(self) -> str:
        """The C++ type of the elements of c, bias and residual."""
        return "int" if self.dtype == "int8" else STORED[self.dtype]

    @property
    def a_row(self) -> int:
        """Of simt: elements of a row of a's tile, with padding where it is stored transposed."""
        return self.tiling.tile_m + (0 if self.transpose_a else self.group)

    @property
    def b_row(self) -> int:
        """Of simt: the same of b."""
        return self.tiling.tile_n + (self.group if self.transpose_b else 0)

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block."""
        t = self.tiling
        rows = (self.a_row + self.b_row) if self.core == "simt" else (t.tile_m + t.tile_n)
        return t.stages * t.tile_k * rows * BYTES[self.dtype]

    @property
    def dynamic(self) -> bool:
        """Whether its shared memory is dynamic: more than 48 KiB must be opted into."""
        return self.shared_bytes > MOST_SHARED_BYTES


def fault(g: Gemm) -> str:
    """Why a product cannot be made so, in one line; empty when it can."""
    t = g.tiling
    if g.core not in CORES or g.dtype not in CORES[g.core]:
        return f"core: {g.core} does not take {g.dtype}"
    if t.tile_m % t.warp_m or t.tile_n % t.warp_n:
        return f"tiles of {t.tile_m} x {t.tile_n} are no whole warps of {t.warp_m} x {t.warp_n}"
    if not 1 <= t.threads // WARP <= 32:
        return f"{t.threads} threads of a block; allowed are {WARP} to 1024"
    if t.copy not in ("registers", "async") or not 2 <= t.stages <= 5:
        return "stages: 2 to 5 are allowed, copy: registers and async"
    if t.copy == "registers" and (t.stages != 2 or g.core != "simt"):
        return "copy: registers is allowed with 2 stages, and not with mma and wgmma"
    most = MOST_SM_90_SHARED_BYTES if g.core == "wgmma" else MOST_OPT_IN_SHARED_BYTES
    if g.shared_bytes > most:
        return f"tiles take {g.shared_bytes} bytes of shared memory; allowed are up to {most}"
    if t.persistent and t.split_k > 1:
        return "persistent: not with split_k"
    if g.batch and t.split_k > 1:
        return "split_k: not with batch"
    if t.split_k > 1 and g.view and (g.view.scattered or g.view.groups > 1):
        return "split_k: not of this op"
    if t.split_k > 1 and g.dtype == "int8":
        return "split_k: not of int8"
    return {"simt": _simt_fault, "mma": _mma_fault, "wgmma": _wgmma_fault}[g.core](g)


def _simt_fault(g: Gemm) -> str:
    t = g.tiling
    if t.thread_m % g.group or t.thread_n % g.group:
        return f"thread_m, thread_n: multiples of {g.group}, the elements of 16 bytes"
    if t.warp_m % t.thread_m or t.warp_n % t.thread_n:
        return "warp_m, warp_n: multiples of thread_m, thread_n"
    if t.warp_m // t.thread_m * (t.warp_n // t.thread_n) != WARP:
        return f"warps of {t.warp_m} x {t.warp_n} are no {WARP} threads' sums"
    if any(side * t.tile_k % (g.group * t.threads) for side in (t.tile_m, t.tile_n)):
        return f"tiles are no whole vectors for each of {t.threads} threads"
    if t.tile_k % g.group:
        return f"tile_k: a multiple of {g.group}"
    words = BYTES[g.dtype] // 4
    held = words * (t.thread_m * t.thread_n + 2 * (t.thread_m + t.thread_n))
    return _register_fault(t, held)


def _mma_fault(g: Gemm) -> str:
    t = g.tiling
    if t.warp_m % 16 or t.warp_n % 16 or t.tile_k % MMA_K[g.dtype]:
        return f"mma: warps of 16 x 16 elements, tile_k of {MMA_K[g.dtype]}"
    if any(side * t.tile_k % (g.group * t.threads) for side in (t.tile_m, t.tile_n)):
        return f"tiles are no whole vectors for each of {t.threads} threads"
    rows = [t.tile_m if g.transpose_a else t.tile_k, t.tile_k if g.transpose_b else t.tile_n]
    if any(row // g.group not in (2, 4) and row // g.group % 8 for row in rows):
        return "rows of a tile: 32, 64 or multiples of 128 bytes"
    if g.transpose_a and g.dtype in ("tf32", "int8"):
        return f"transpose_a: not of {g.dtype}"
    if g.dtype == "int8" and not g.transpose_b:
        return "int8: with transpose_b alone"
    if g.dtype == "int8" and not g.epilogue.plain:
        return "int8: without an epilogue"
    return _register_fault(t, t.warp_m * t.warp_n // WARP + t.warp_m // 4 + t.warp_n // 4)


def _wgmma_fault(g: Gemm) -> str:
    t = g.tiling
    if g.view:
        return "wgmma: not of this op, whose tiles are found element by element"
    if t.warp_m % 16 or t.warp_n not in WARPGROUP_N:
        listed = ", ".join(map(str, WARPGROUP_N))
        return (
            f"wgmma: warp_m of multiples of 16, of which a warpgroup has four, warp_n of {listed}"
        )
    if t.tile_m % (4 * t.warp_m) or t.threads not in (128, 256, 512):
        return "wgmma: tile_m of whole warpgroups, 4 warp_m each, of which a block has 1, 2 or 4"
    if t.tile_k % 64 or t.tile_m % 64 or t.tile_n % 64:
        return "wgmma: tile_m, tile_n and tile_k of multiples of 64"
    if t.stages < 3:
        return "wgmma: 3 to 5 stages, one of which products may still read"
    return _register_fault(t, t.warp_m * t.warp_n // WARP)


def _register_fault(t: Tiling, held: int) -> str:
    most = min(_MOST_REGISTERS, _BLOCK_REGISTERS // (t.threads * max(1, t.blocks)))
    if held + 16 > most:
        return f"{held} registers for sums and fragments, and 16 for the rest; there are {most}"
    return ""
