"""A row whose plain CUDA is two kernels: sums of 64 elements by way of scratch memory."""

from __future__ import annotations

from typing import Any

TEXT = """extern "C" __global__ void total_of(const float* x, float* partial, int n)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    partial[i] = i < n ? 2.0f * x[i] : 0.0f;
}

extern "C" __global__ void total_of_join(const float* partial, float* total, int blocks)
{
    const int j = blockIdx.x * 32 + threadIdx.x;
    if (j < blocks) {
        float sum = 0.0f;
        for (int k = 63; k >= 0; --k) {
            sum += partial[64 * j + k];
        }
        total[j] = 0.5f * sum;
    }
}
"""

REFERENCE = """import numpy as np


def total_of(dim, x, total):
    for block in range(dim[0] // 64):
        total[block] = sum(float(v) for v in x[64 * block : 64 * block + 64])
"""

FIRST = {
    "kernel": "total_of",
    "args": ["x", "partial", "=64*b"],
    "grid": ["2 * b"],
    "block": [32],
    "shared_bytes": 0,
}
SECOND = {
    "kernel": "total_of_join",
    "args": ["partial", "total", "=b"],
    "grid": ["(b + 31) / 32"],
    "block": [32],
    "shared_bytes": 0,
}
SCRATCH = {"name": "partial", "dtype": "float32", "count": "64*b", "init": "none"}


def _array(name: str, role: str, shape: str, init: str) -> dict[str, Any]:
    bounds = ("-1.0", "1.0") if init == "uniform" else (None, None)
    tolerance = 1e-5 if role != "in" else None
    return {
        "name": name,
        "kind": "array",
        "dtype": "float32",
        "role": role,
        "shape": [shape],
        "init": init,
        "low": bounds[0],
        "high": bounds[1],
        "fields": [],
        "rtol": tolerance,
        "atol": tolerance,
    }


def row_of_two(**changes: Any) -> dict[str, Any]:
    """What the host run and the scorer need of a row."""
    return {
        "id": "0" * 16,
        "kernel_name": "total_of",
        "category": "arithmetic",
        "reference": REFERENCE,
        "args": [_array("x", "in", "64*b", "uniform"), _array("total", "out", "b", "none")],
        "sizes": [{"symbol": "b", "value": 3, "min": 1, "multiple_of": 1}],
        "launch": {"dim": ["64*b"], "block_dim": 64},
        "input_seed": 5,
        "edge_inputs": [],
        "cuda_plain": TEXT,
        "plain_args": [
            {"name": "x", "type": "const float*", "size": None},
            {"name": "total", "type": "float*", "size": None},
            {"name": "n", "type": "int", "size": "64*b"},
        ],
        "plain_scratch": [SCRATCH],
        "plain_launch": [FIRST, SECOND],
        **changes,
    }
