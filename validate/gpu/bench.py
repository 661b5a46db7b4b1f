"""Device times of a row's texts over sizes, beside NumPy and CuPy doing the same.

Every timed launch finds its arrays as drawn (restored from a copy on the device) and the L2 cache
full of something else; sets of arrays take turns. Events enclose the launch alone: they are queued
behind the flush, so that no time of the host is in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

import numpy as np

from validate.gpu.cubins import CubinStore
from validate.gpu.device import load_cupy
from validate.gpu.large import next_step, sizes_in_use
from validate.gpu.launch import failures, load_kernel, stream_of
from validate.gpu.peers import NoPeer, Peer, peer_of
from validate.gpu.text import Prepared, Row, Shape, Text, WarpText, plain_text_of, shape_of
from validate.oracle.compare import measure
from validate.oracle.reference import run_reference
from validate.row.inputs import Array
from validate.row.sizes import describe, own_sizes

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
REPEATS = 21
_WARM_UPS = 3
_FEWEST = 5
_FEWEST_ENDLESS = 2
# In sizes of the L2 cache; the host needs its time to queue what follows, too.
_FLUSHED = 4
_ROTATED = 3
# Data of this size lie in no cache, and drawing them thrice is slow.
_ROTATE_BYTES = 8 << 20
_LONG_US = 50_000.0
_ENDLESS_US = 300_000.0
_PEER_TOLERANCE = 8.0


@dataclass(frozen=True)
class Timing:
    """Times of one contender at one size, in microseconds.

    `contender` is warp, plain, numpy or cupy; `elements` is the size asked for, `sizes` what
    `sizes_in_use` makes of it. `spread_us` is the distance between the quartiles.
    """

    contender: str
    elements: int
    sizes: str
    repeats: int
    median_us: float
    min_us: float
    spread_us: float


def bench_row(row: Row, store: CubinStore, sizes: Sequence[int] = SIZES) -> list[Timing]:
    """Time a row that is known to pass. Raises Refused, NotInBinary and LaunchFailed."""
    name = row["kernel_name"]
    warp, _ = store.warp(row)
    texts: dict[str, Text] = {"warp": WarpText(load_kernel(warp, f"{name}_cuda_kernel_forward"))}
    if row["cuda_plain"] is not None:
        binary, _ = store.plain(row)
        texts["plain"] = plain_text_of(row, lambda kernel: load_kernel(binary, kernel))
    peer, found = _proven_peer(row), []
    for number, elements in enumerate(sizes):
        shape = shape_of(row, sizes_in_use(row, elements))
        shapes = _rotated(row, shape)
        contenders: dict[str, Callable[[], list[float]]] = {
            key: _device_timer(row, text, shapes) for key, text in texts.items()
        }
        if peer is not None:
            contenders |= _peer_timers(row, peer, shape)
        for contender, timer in contenders.items():
            times = timer()
            found.append(_timing(contender, elements, shape, times))
        slowest = max(t.min_us for t in found if t.elements == elements and t.contender in texts)
        more = sizes[number + 1 : number + 2]
        if more and next_step(elements, more[0], slowest) != more[0]:
            break
    return found


def _timing(contender: str, elements: int, shape: Shape, times: Sequence[float]) -> Timing:
    low, _, high = quantiles(times, n=4)
    return Timing(
        contender=contender,
        elements=elements,
        sizes=describe(shape.sizes),
        repeats=len(times),
        median_us=median(times),
        min_us=min(times),
        spread_us=high - low,
    )


def _device_timer(row: Row, text: Text, shapes: Sequence[Shape]) -> Callable[[], list[float]]:
    def timer() -> list[float]:
        sets = [text.prepare(row, one) for one in shapes]
        return device_times([Turn.of(ready) for ready in sets])

    return timer


def _rotated(row: Row, shape: Shape) -> list[Shape]:
    """The shape with several draws of its inputs."""
    held = sum(value.nbytes for value in shape.inputs.values())
    more = range(1, _ROTATED) if held < _ROTATE_BYTES else ()
    return [
        shape,
        *(shape_of({**row, "input_seed": row["input_seed"] + n}, shape.sizes) for n in more),
    ]


@dataclass(frozen=True)
class Turn:
    """One way to do the work: `restore` comes before the flush and is not timed."""

    restore: Callable[[], None]
    work: Callable[[], object]

    @classmethod
    def of(cls, ready: Prepared) -> Turn:
        calls, drawn = ready.calls(), ready.arena.block.copy()
        return cls(lambda: ready.arena.block.__setitem__(slice(None), drawn), calls.enqueue)


def device_times(turns: Sequence[Turn], repeats: int = REPEATS) -> list[float]:
    """Times on the device in microseconds of works that take turns, the L2 cache flushed before.

    The arrays are as drawn afterwards: who shares them finds what it would have found.
    """
    cupy = load_cupy()
    device = cupy.cuda.runtime.getDevice()
    l2_bytes = cupy.cuda.runtime.getDeviceProperties(device)["l2CacheSize"]
    flush = cupy.empty(_FLUSHED * l2_bytes, cupy.uint8)
    start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def once(number: int) -> float:
        turn = turns[number % len(turns)]
        turn.restore()
        flush.fill(number % 251)
        start.record()
        turn.work()
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(start, end)) * 1000.0

    with failures(cupy), stream_of(device):
        cupy.cuda.runtime.deviceSynchronize()
        times = _repeated(once, repeats)
        for turn in turns:
            turn.restore()
        cupy.cuda.runtime.deviceSynchronize()
        return times
    raise AssertionError("unreachable")


def _repeated(once: Callable[[int], float], repeats: int = REPEATS) -> list[float]:
    """Times in microseconds of a work's repetitions, fewer of a long one, without the warm-ups."""
    times: list[float] = []
    wanted, unused = repeats, _WARM_UPS
    while len(times) < unused + wanted:
        times.append(once(len(times)))
        if times[-1] > _ENDLESS_US:
            wanted, unused = min(wanted, _FEWEST_ENDLESS), 1
        elif times[-1] > _LONG_US:
            wanted = min(wanted, _FEWEST)
    return times[unused:]


def _proven_peer(row: Row) -> Peer | None:
    """Array code of the row that agrees with its reference at its own sizes."""
    try:
        peer = peer_of(row)
    except NoPeer:
        return None
    shape = shape_of(row, own_sizes(row["sizes"]))
    wanted = run_reference(
        row["reference"], row["kernel_name"], row["args"], shape.dim, shape.inputs
    )
    with np.errstate(all="ignore"):
        got = dict(zip(_outputs(row), peer(np, *_given(row, shape.inputs)), strict=True))
    for arg in row["args"]:
        if arg["name"] in got:
            value = np.asarray(got[arg["name"]])
            like = shape.inputs[arg["name"]]
            if value.shape != like.shape or not _close(value.astype(like.dtype), wanted, arg):
                return None
    return peer


def _close(value: Array, wanted: Mapping[str, Array], arg: Mapping[str, Any]) -> bool:
    # NumPy rounds where a kernel contracts: its errors are of the same size, not the same.
    bounds = [None if arg[key] is None else _PEER_TOLERANCE * arg[key] for key in ("rtol", "atol")]
    return measure(value, wanted[arg["name"]], *bounds).mismatch is None


def _peer_timers(row: Row, peer: Peer, shape: Shape) -> dict[str, Callable[[], list[float]]]:
    given = _given(row, shape.inputs)

    def on_host() -> list[float]:
        return _host_times(lambda: peer(np, *given))

    def on_device() -> list[float]:
        cupy = load_cupy()
        moved = [cupy.asarray(value) if value.ndim else value.item() for value in given]
        fused = cupy.fuse(kernel_name="peer")(lambda *values: peer(cupy, *values))
        return device_times([Turn(lambda: None, lambda: fused(*moved))])

    return {"numpy": on_host, "cupy": on_device}


def _given(row: Row, inputs: Mapping[str, Array]) -> list[Array]:
    return [inputs[arg["name"]] for arg in row["args"] if arg["role"] != "out"]


def _outputs(row: Row) -> list[str]:
    return [a["name"] for a in row["args"] if a["kind"] == "array" and a["role"] != "in"]


def _host_times(work: Callable[[], object]) -> list[float]:
    def once(_number: int) -> float:
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) * 1e6

    with np.errstate(all="ignore"):
        return _repeated(once)
