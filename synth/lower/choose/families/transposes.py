"""Transposes: tiles that are tried, and what one is thought to take."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from synth.lower.choose.devices import Figures
from synth.lower.ops.transpose import OP, Transpose

PLAN = Transpose
SIZES = ("m", "n")
NOMINAL = 4096

# Found by `scripts/measure/lower/choices.py --fit` from times on an H100: loads of a thread in
# flight, the share of a copy's rate, bytes in flight for half of it, and microseconds of a launch.
WEIGHTS = {"loads": 4.65, "rate": 1.256, "flight": 10_700.0, "conflict": 0.0067, "launch": 5.1}


def schedules(dtype: str) -> list[dict[str, Any]]:
    """What is tried of a dtype."""
    tiles = ((32, 4), (32, 8), (32, 16), (64, 4), (64, 8), (64, 16))
    return [
        {"tile": tile, "rows": rows, "pad": pad, "stream": stream}
        for (tile, rows), pad, stream in product(tiles, (1, 2), (False, True))
    ]


def cost_us(t: Transpose, sizes: Mapping[str, int], device: Figures) -> float:
    """Bytes moved by the rate that so many bytes in flight give."""
    w, shared, block = WEIGHTS, OP.shared_bytes(t), t.tile * t.rows
    size = shared // (t.tile * (t.tile + t.pad))
    room = min(device.blocks, device.threads // block, device.shared_bytes // (shared + 1024))
    flying = max(1, room) * block * size * min(t.tile / t.rows, w["loads"])
    rate = device.gbytes_s * 1000.0 * w["rate"] * flying / (flying + w["flight"])
    # A padded row of whole words starts a bank further; others meet in one bank.
    slower = 1.0 if t.pad * size % 8 in (2, 4) else 1.0 + w["conflict"]
    return 2 * sizes["m"] * sizes["n"] * size / rate * slower + w["launch"]
