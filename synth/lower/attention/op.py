"""What an attention is given, what it must give, and where it is tried."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

from synth.lower.attention.plan import HEAD_DIMS, Attention
from synth.lower.op import Operand, Sizes


def operands(a: Attention) -> list[Operand]:
    """q, k, v and o."""
    rows = {"q": "m", "k": "n", "v": "n", "o": "m"}
    return [
        Operand(name, a.dtype, ("batch", "heads", symbol, str(a.head_dim)))
        for name, symbol in rows.items()
    ]


def reference(a: Attention) -> str:
    """Plain Python that computes the op in float64."""
    causal = (
        "    queries = np.arange(q.shape[2])\n"
        "    rows = queries.reshape(q.shape[2], 1)\n"
        "    weights = weights * (np.arange(k.shape[2]) <= rows)\n"
    )
    return (
        "import math\n\nimport numpy as np\n\n\ndef attention(dim, q, k, v, o):\n"
        "    keys = np.transpose(np.array(k, np.float64), (0, 1, 3, 2))\n"
        f"    scores = np.matmul(np.array(q, np.float64), keys) / math.sqrt({a.head_dim})\n"
        "    weights = np.exp(scores)\n"
        f"{causal if a.causal else ''}"
        "    weights = weights / np.sum(weights, axis=3, keepdims=True)\n"
        "    o[...] = np.matmul(weights, np.array(v, np.float64))\n"
    )


def tolerance(a: Attention, sizes: Sizes) -> tuple[float, float]:
    """rtol and atol of a mean of values up to 1: 4 (sqrt(n) + sqrt(head_dim) + 8) u, since weights
    have the roundings of their scores; float16 rounds weights and result, to 2**-11 each."""
    walked = 4.0 * (sizes["n"] ** 0.5 + a.head_dim**0.5 + 8.0) * 2.0**-24
    narrow = 2.0**-11 if a.dtype == "float16" else 0.0
    return narrow, walked + narrow


def shapes(a: Attention) -> list[tuple[int, ...]]:
    """Whole tiles, more keys than a tile; ragged edges with few and with many keys; one element;
    several heads of a batch."""
    t = a.tiling
    return [
        (1, 1, -(-2 * t.tile_n // t.tile_m) * t.tile_m, 2 * t.tile_n),
        (1, 2, 37, 2 * t.tile_n + 5),
        (1, 1, 1, 1),
        (2, 2, 5, 7),
        (1, 1, t.tile_m + 3, t.tile_n - 1),
    ]


def work(a: Attention, sizes: Sizes) -> int:
    """Products in whole tiles."""
    t = a.tiling
    rows = -(-sizes["m"] // t.tile_m) * t.tile_m
    keys = -(-sizes["n"] // t.tile_n) * t.tile_n
    return sizes["batch"] * sizes["heads"] * rows * keys * a.head_dim


def trials() -> Iterator[dict[str, Any]]:
    """Specs for the audit: each head_dim, causal or not, under schedules in turn."""
    simt = cycle(
        {"tile_m": m, "tile_n": n, "warp_m": warp_m, "thread_n": thread_n}
        for m, n, warp_m, thread_n in ((32, 32, 16, 4), (64, 64, 16, 8), (32, 16, 16, 2))
    )
    mma = cycle(
        {"tile_m": m, "tile_n": n, "warp_m": warp_m}
        for m, n, warp_m in ((64, 32, 16), (64, 64, 32), (32, 32, 16))
    )
    for head_dim in HEAD_DIMS:
        for causal in (False, True):
            fields = {"head_dim": head_dim, "causal": causal}
            yield {"dtype": "float32", **fields, "schedule": next(simt)}
            yield {"dtype": "float16", **fields, "schedule": next(mma)}
