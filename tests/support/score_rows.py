"""A row to score answers to, and kernels for it: right ones, and parts to make wrong ones of."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from validate.score.scorer import Answer, Scorer, Verdict

Row = dict[str, Any]

REWRITES = Path(__file__).resolve().parents[1] / "data" / "honest_rewrites"

# Halving as the row wants it, in a function for the wrong kernels to use.
RIGHT = """
__device__ float halve(float c, int steps)
{
    float lo = 0.0f, hi = 3.0f;
    for (int k = 0; k < steps; ++k) {
        const float m = 0.5f * (lo + hi);
        if (m * m * m + m - c > 0.0f) hi = m; else lo = m;
    }
    return 0.5f * (lo + hi);
}
"""
STORE = "if (i < n) out[i] = halve(a[i], steps);"
NOTHING = "if (i < n) out[i] = 0.0f;"
PER_THREAD = {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0}


@lru_cache(maxsize=1)
def pinned_rows() -> dict[str, Row]:
    """The rows that the honest rewrites are of, by id, as they were when these were written."""
    lines = (REWRITES / "rows.jsonl").read_text().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def cube_row() -> Row:
    """`x_out[i] = …` of `a[i]`: `solve_cube`, with `int num_steps` and `n` after the arrays."""
    return pinned_rows()["6b16cd0fa7b8c977"]


def kernel(body: str, before: str = RIGHT) -> str:
    """A kernel for `cube_row` with this body; `i` is the number of the thread."""
    return f"""{before}
extern "C" __global__ void k(const float* a, float* out, int steps, int n)
{{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
"""


def cube_answer(body: str, before: str = "") -> Answer:
    """An answer to `cube_row`: a kernel with `halve`, launched with a thread for each element."""
    return Answer(kernel(body, RIGHT + before), cube_row(), PER_THREAD)


def cube_verdict(scorer: Scorer, body: str, before: str = "") -> Verdict:
    """The verdict on `cube_answer`."""
    return scorer.score_batch([cube_answer(body, before)])[0]


def statuses(scorer: Scorer, answers: list[Answer]) -> list[str]:
    """The words of the verdicts on answers."""
    return [str(found.status) for found in scorer.score_batch(answers)]
