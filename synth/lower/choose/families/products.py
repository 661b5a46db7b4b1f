"""Matrix products: tilings that are tried, and what one is thought to take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from math import ceil, inf
from typing import Any

from synth.lower.choose.devices import Figures
from synth.lower.gemm.plan import BYTES, CORES, MMA_K, Gemm, Tiling

PLAN = Gemm
SIZES = ("m", "n", "k")
NOMINAL = 2048

# tile_m, tile_n, warp_m, warp_n, thread_m, thread_n
_SIMT = (
    (128, 128, 32, 64, 8, 8),
    (128, 128, 64, 32, 8, 8),
    (128, 256, 64, 64, 8, 16),
    (256, 128, 64, 64, 16, 8),
    (128, 64, 64, 32, 8, 8),
    (64, 128, 32, 64, 8, 8),
    (64, 64, 32, 32, 8, 4),
    (64, 64, 32, 16, 4, 4),
    (128, 128, 64, 64, 16, 8),
    (32, 64, 32, 32, 8, 4),
    (32, 32, 32, 16, 4, 4),
)
_MMA = (
    (128, 128, 64, 64),
    (128, 128, 64, 32),
    (128, 256, 64, 64),
    (256, 128, 64, 64),
    (64, 128, 32, 64),
    (128, 64, 64, 32),
    (64, 64, 32, 32),
    (64, 256, 64, 64),
    (32, 64, 32, 16),
)
# Of wgmma a warpgroup makes 4 warp_m x warp_n.
_WGMMA = (
    (128, 256, 16, 256),
    (128, 128, 16, 128),
    (256, 128, 32, 128),
    (256, 128, 16, 128),
    (128, 256, 16, 128),
    (64, 256, 16, 256),
    (128, 64, 16, 64),
    (64, 128, 16, 128),
    (64, 64, 16, 64),
)
_SPLITS = (2, 4, 8)
# Of each block's shared memory, for the system.
_RESERVED_BYTES = 1024


@dataclass(frozen=True)
class _Weights:
    """Found by `scripts/measure/lower/choices.py --fit` from times on an H100.

    `registers`: of a thread besides sums and fragments; `shared`: clocks for what a warp reads of
    shared memory; `l2`: bytes a clock; `sync`: clocks of a tile's meeting; `copying`: how much
    dearer an asynchronous copy is; `hidden`: sums in flight that hide half of the latency; `mixed`:
    what overlaps badly; `spilled`: for 64 registers that are not there; `launch`: microseconds;
    `latency`: clocks until a tile of wgmma begins to be there; `arriving`: how much longer than
    alone it then takes.
    """

    registers: float
    shared: float
    l2: float
    sync: float
    copying: float
    hidden: float
    mixed: float
    spilled: float
    launch: float
    latency: float = 0.0
    arriving: float = 0.0


WEIGHTS = {
    "simt": _Weights(32.9, 0.967, 35.1, 63.6, 3.5, 142.0, 0.152, 0.689, 6.48),
    "mma": _Weights(5.7, 1.13, 88.0, 115.0, 0.75, 42.8, 0.214, 0.181, 6.28),
    "wgmma": _Weights(36.4, 0.836, 78.1, 126.0, 0.856, 56.5, 0.48, 0.0983, 6.39, 1050.0, 2.42),
}


def schedules(dtype: str) -> list[dict[str, Any]]:
    """What is tried of a dtype; some of it may not be legal for an op's fields."""
    core = "simt" if dtype in CORES["simt"] else "mma"
    found = _simt(dtype) if core == "simt" else _mma(dtype)
    listed = [{"core": core, **asdict(tiling)} for tiling in found]
    if dtype in CORES["wgmma"]:
        listed += [{"core": "wgmma", **asdict(tiling)} for tiling in _wgmma()]
    return listed


def _simt(dtype: str) -> Iterator[Tiling]:
    for sides, tile_k, (stages, copy), blocks in product(
        _SIMT, (8, 16), ((2, "registers"), (3, "async"), (4, "async")), (0, 2)
    ):
        if stages < 4 or tile_k == 8:
            yield _tiling(sides, tile_k, stages, copy, blocks)
    for sides, tile_k, split in product(_SIMT, (8, 16), _SPLITS):
        yield _tiling(sides, tile_k, 2, "registers", 2, split=split)
    for sides, raster in product(_SIMT[:4], (1, 4, 16)):
        yield _tiling(sides, 8, 2, "registers", 0, raster)


def _mma(dtype: str) -> Iterator[Tiling]:
    steps = (max(32, MMA_K[dtype] * 2), max(64, MMA_K[dtype] * 4))
    steps = (16, 32) if dtype == "tf32" else steps
    for sides, tile_k, stages, blocks in product(_MMA, steps, (3, 4), (0, 2)):
        yield _tiling(sides, tile_k, stages, "async", blocks)
    for sides, tile_k, split in product(_MMA, steps, _SPLITS):
        yield _tiling(sides, tile_k, 3, "async", 0, split=split)


def _wgmma() -> Iterator[Tiling]:
    for sides, tile_k, stages in product(_WGMMA, (64, 128), (3, 4, 5)):
        yield _tiling(sides, tile_k, stages, "async", 0)
    for sides, stages in product(_WGMMA[1:6], (3, 4)):
        yield _tiling(sides, 64, stages, "async", 2)
    for sides, stages, split in product(_WGMMA, (3, 4), (2, 4)):
        yield _tiling(sides, 64, stages, "async", 0, split=split)
    for sides, raster in product(_WGMMA[:4], (4, 16)):
        yield _tiling(sides, 64, 4, "async", 0, raster)


def _tiling(
    sides: tuple[int, ...],
    tile_k: int,
    stages: int,
    copy: str,
    blocks: int,
    raster: int = 8,
    split: int = 1,
) -> Tiling:
    tile_m, tile_n, warp_m, warp_n, *threads = sides
    thread_m, thread_n = threads or (8, 8)
    return Tiling(
        *(tile_m, tile_n, tile_k, warp_m, warp_n, thread_m, thread_n),
        *(stages, copy, blocks, raster, split),
    )


def cost_us(g: Gemm, sizes: Mapping[str, int], device: Figures) -> float:
    """Waves of blocks, each as long as its steps along k: products, what a warp reads of shared
    memory, or what comes from L2, whichever is longest, and a share of the rest."""
    t, w = g.tiling, WEIGHTS[g.core]
    if g.shared_bytes + _RESERVED_BYTES > device.shared_bytes:
        return inf
    if g.core == "wgmma" and not device.wgmma:
        return inf
    blocks = -(-sizes["m"] // t.tile_m) * -(-sizes["n"] // t.tile_n)
    blocks *= t.split_k * sizes.get("batch", 1)
    resident, missing = _resident(g, device)
    steps = ceil(ceil(sizes["k"] / t.split_k) / t.tile_k)
    slower = 1.0 + w.spilled * missing / 64.0
    if _ragged(g, sizes):
        slower *= 2.0

    def wave(count: int) -> float:
        return count * steps * _step(g, count, device) * slower + steps * w.sync

    whole, rest = divmod(blocks, device.multiprocessors * resident)
    clocks = whole * wave(resident)
    clocks += wave(-(-rest // device.multiprocessors)) if rest else 0.0
    us = clocks / device.clock_ghz / 1000.0 + w.launch
    if t.split_k > 1:
        # The second kernel reads the parts and writes c.
        moved = (4 * t.split_k + BYTES[g.dtype]) * sizes["m"] * sizes["n"]
        us += 3.0 + moved / (device.gbytes_s * 1000.0) * 1.5
    return us


def _ragged(g: Gemm, sizes: Mapping[str, int]) -> bool:
    """Whether rows do not start aligned, so that elements are read one by one."""
    rows = ("m" if g.transpose_a else "k", "k" if g.transpose_b else "n", "n")
    return any(sizes[name] % g.group for name in rows)


def _held(g: Gemm) -> float:
    t = g.tiling
    if g.core == "wgmma":
        return t.warp_m * t.warp_n / 32
    if g.core == "mma":
        return t.warp_m * t.warp_n / 32 + t.warp_m / 4 + t.warp_n / 4
    words = BYTES[g.dtype] // 4
    moved = (t.tile_m + t.tile_n) * t.tile_k / t.threads if t.copy == "registers" else 0.0
    return words * (t.thread_m * t.thread_n + 2 * (t.thread_m + t.thread_n) + moved)


def _resident(g: Gemm, device: Figures) -> tuple[int, float]:
    """Blocks of a multiprocessor at a time, and registers that a thread lacks."""
    t = g.tiling
    wanted = _held(g) + WEIGHTS[g.core].registers
    most = min(255, device.registers // (t.threads * max(1, t.blocks)))
    registers = -(-min(wanted, most) // 8) * 8
    room = min(
        device.registers // int(registers * t.threads),
        device.shared_bytes // (g.shared_bytes + _RESERVED_BYTES),
        device.threads // t.threads,
        device.blocks,
    )
    return max(1, room), max(0.0, wanted - most)


def _step(g: Gemm, count: int, device: Figures) -> float:
    """Clocks of a step along k of one of `count` blocks that share a multiprocessor."""
    t, w, size = g.tiling, WEIGHTS[g.core], BYTES[g.dtype]
    warps = t.threads // 32
    if g.core == "simt":
        rate = device.fma if g.dtype == "float32" else device.fma64
        own: float = t.thread_m * t.thread_n
        shared: float = warps * t.tile_k * (t.thread_m + t.thread_n) * size / 16
    elif g.core == "wgmma":
        rate = device.wgmma
        own = t.warp_m * t.warp_n / 64
        shared = warps / 4 * t.tile_k * (4 * t.warp_m + t.warp_n) * size / 128
    else:
        rate = device.mma * 2 // size
        own = t.warp_m * t.warp_n / 64
        shared = warps * t.tile_k * (t.warp_m + t.warp_n) * size / 128
    flight = float(count * warps * own)
    products = t.tile_m * t.tile_n * t.tile_k / rate * (1.0 + w.hidden / flight)
    shared *= w.shared
    copied = t.tile_k * (t.tile_m + t.tile_n) * size / w.l2
    copied *= w.copying if t.copy == "async" else 1.0
    least = 0.0
    if g.core == "wgmma":
        # One stage is read and one was: a tile has the steps of the others to arrive.
        least = (w.latency + w.arriving * copied) / ((t.stages - 2) * count)
    return max(least, max(products, shared, copied) + w.mixed * (shared + copied))
