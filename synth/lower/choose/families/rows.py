"""Ops over rows: how threads share a row, and what that is thought to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import Any

from synth.lower.choose.devices import Figures
from synth.lower.rows.plan import BYTES, WARP, Rows

PLAN = Rows
SIZES = ("m", "n")
NOMINAL = 4096


@dataclass(frozen=True)
class _Weights:
    """Found by `scripts/measure/lower/choices.py --fit` from times on an H100.

    `registers`: of a thread, besides `each` for a value; `held` and `again`: instructions for a
    value that is held, or read again; `loads`: of a thread in flight where it reads again;
    `cached`: what reading again costs; `rate`: of a copy's; `flight`: bytes in flight of a
    multiprocessor for half of it; `joined`, `met`: instructions of a sum over a warp, a block;
    `latency`, `of_block`, `of_warp`, `each_value`: clocks of a block; `mixed`: what overlaps badly;
    `launch`: microseconds. Chosen by hand: `displacing`, what reading alone costs unless what is
    read goes first again, since lines of other work then wait in the L2 to be written;
    `streaming`, what that costs where as much is written.
    """

    registers: float = 6.53
    each: float = 3.06
    held: float = 6.76
    again: float = 15.6
    loads: float = 1.5
    cached: float = 0.171
    rate: float = 1.06
    flight: float = 1250.0
    joined: float = 11.9
    met: float = 29.6
    latency: float = 86.9
    of_block: float = 596.0
    of_warp: float = 3100.0
    each_value: float = 1.51
    mixed: float = 0.0522
    launch: float = 5.94
    displacing: float = 1.2
    streaming: float = 1.02


WEIGHTS = _Weights()


def schedules(dtype: str) -> list[dict[str, Any]]:
    """What is tried of a dtype."""
    shared = ((32, 4), (32, 8), (64, 1), (128, 1), (256, 1), (512, 1), (1024, 1))
    return [
        {"threads": threads, "held": held, "rows": rows, "stream": stream}
        for stream in (False, True)
        for (threads, rows), held in product(shared, (1, 2, 4, 8))
    ]


def cost_us(r: Rows, sizes: Mapping[str, int], device: Figures) -> float:
    """The longest of what memory, instructions and waves of blocks take, and more of the rest."""
    w, m, n = WEIGHTS, sizes["m"], sizes["n"]
    size, stats, stored = BYTES[r.dtype], len(r.form.stats), bool(r.form.element)
    vectors, passes, traffic = n / r.group, stats + stored, 1.0
    if n % r.group == 0 and n <= r.threads * r.held * r.group:
        registers = w.registers + r.held * r.group * w.each
        turns = ceil(vectors / r.threads)
        flight = min(r.held, turns) * 16 * vectors / (r.threads * turns)
        steps = w.held * r.held * r.group * passes
    else:
        registers, flight = w.registers, size * w.loads
        traffic += (passes - 1) * w.cached
        steps = w.again * n / r.threads * passes
    room = min(
        device.blocks,
        device.threads // r.block,
        device.registers // (min(255, int(registers) // 8 * 8 + 8) * r.block),
    )
    flying = max(1, room) * r.block * flight
    rate = device.gbytes_s * 1000.0 * w.rate * flying / (flying + w.flight)
    memory = m * n * size * (1 + stored) * traffic / rate
    if r.stream == stored:
        memory *= w.streaming if stored else w.displacing
    alone = r.threads == WARP
    issued = r.threads / WARP * (steps + stats * (w.joined + (0.0 if alone else w.met))) / 4
    per_us = device.clock_ghz * 1000.0
    computing = m * issued / device.multiprocessors / per_us
    waves = ceil(ceil(m / r.rows) / (max(1, room) * device.multiprocessors))
    met = stats * (w.of_warp if alone else w.of_block)
    waiting = waves * (w.latency + w.each_value * steps + met) / per_us
    return max(memory, computing, waiting) + w.mixed * (computing + waiting) + w.launch
