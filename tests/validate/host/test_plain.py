"""The host run of plain CUDA: what it accepts, and each way of being wrong by its own name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from viewed_rows import sample_rows

from validate.host.runner import HostRunner, RunResult, run_plain_rows

REFERENCE = """import numpy as np


def total_of(dim, x, total):
    for block in range(dim[0] // 64):
        total[block] = sum(float(v) for v in x[64 * block : 64 * block + 64])
"""

BLOCK_SUM = """extern "C" __global__ void total_of(
    const float* __restrict__ x, float* __restrict__ total, int n)
{
    __shared__ float partial[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    partial[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();  // 1
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] += partial[threadIdx.x + half];
        }
        __syncthreads();  // 2
    }
    if (threadIdx.x == 0) {
        total[blockIdx.x] = partial[0];
    }
}
"""

SHUFFLE_SUM = """extern "C" __global__ void total_of(const float* x, float* total, int n)
{
    __shared__ float of_warp[2];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        total[blockIdx.x] = of_warp[0] + of_warp[1];
    }
}
"""

HALVES = SHUFFLE_SUM.replace(
    "    for (int offset",
    """    if (threadIdx.x % 32 >= 16) {
        sum = __shfl_xor_sync(0xffff0000, __shfl_xor_sync(0xffff0000, sum, 1), 1);
    }
    for (int offset""",
)
"""Lanes that meet among themselves while the others wait for them at the next place."""

GROUPS = """namespace cg = cooperative_groups;
extern "C" __global__ void total_of(const float* x, float* total, int n)
{
    __shared__ float of_warp[2];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<4>(warp);
    const unsigned int rank = block.thread_rank();
    float sum = x[block.group_index().x * block.dim_threads().x + rank];
    bool right = tile.thread_rank() == rank % 4 && tile.meta_group_rank() == rank / 4 % 8
        && tile.meta_group_size() == 8 && warp.meta_group_size() == 2 && tile.size() == 4;
    right = right && tile.shfl(rank, 2) == rank / 4 * 4 + 2 && tile.shfl_xor(rank, 1) == (rank ^ 1);
    right = right && tile.shfl_down(rank, 1) == (rank % 4 < 3 ? rank + 1 : rank);
    right = tile.shfl_up(rank, 1) == (rank % 4 > 0 ? rank - 1 : rank) && right;
    right = warp.ballot(rank % 2) == 0xaaaaaaaau && right;
    right = tile.ballot(rank % 4 == 3) == 8u && right;
    right = tile.any(rank % 4 == 3) && !tile.all(rank % 4 == 3) && tile.all(1) && right;
    right = tile.match_any(rank % 2) == (rank % 2 ? 0xau : 0x5u) && right;
    right = cg::inclusive_scan(tile, rank % 4) == rank % 4 * (rank % 4 + 1) / 2 && right;
    right = cg::exclusive_scan(tile, rank % 4) == rank % 4 * (rank % 4 - 1) / 2 && right;
    right = cg::reduce(tile, int(rank), cg::greater<int>()) == int(rank / 4 * 4 + 3) && right;
    auto evens = cg::binary_partition(warp, rank % 2 == 0);
    right = evens.size() == 16 && evens.thread_rank() == rank % 32 / 2 && right;
    right = evens.shfl(rank, 3) == rank / 32 * 32 + 6 + rank % 2 && right;
    sum = cg::reduce(warp, right ? sum : 1e9f, cg::plus<float>());
    if (warp.thread_rank() == 0) {
        of_warp[warp.meta_group_rank()] = sum;
    }
    cg::sync(block);
    if (block.thread_rank() == 0) {
        total[cg::this_grid().block_rank()] = of_warp[0] + of_warp[1];
    }
}
"""

DYNAMIC = BLOCK_SUM.replace("__shared__ float partial[64];", "extern __shared__ float partial[];")


def array(name: str, role: str, shape: str, init: str) -> dict[str, Any]:
    low, high = ("-1.0", "1.0") if init == "uniform" else (None, None)
    return {
        "name": name,
        "kind": "array",
        "dtype": "float32",
        "role": role,
        "shape": [shape],
        "init": init,
        "low": low,
        "high": high,
        "fields": None,
        "rtol": 1e-5 if role != "in" else None,
        "atol": 1e-5 if role != "in" else None,
    }


def row(text: str, **changes: Any) -> dict[str, Any]:
    """A row whose kernel sums blocks of 64 elements; there are 64 * b of them."""
    return {
        "id": "0" * 16,
        "kernel_name": "total_of",
        "reference": REFERENCE,
        "args": [array("x", "in", "64*b", "uniform"), array("total", "out", "b", "none")],
        "sizes": [{"symbol": "b", "value": 3, "min": 1, "multiple_of": 1}],
        "launch": {"dim": ["64*b"], "block_dim": 64},
        "input_seed": 5,
        "cuda_plain": text,
        "plain_args": [
            {"name": "x", "type": "const float*", "size": None},
            {"name": "total", "type": "float*", "size": None},
            {"name": "n", "type": "int", "size": "64*b"},
        ],
        "plain_launch": {"grid": ["b"], "block": [64], "shared_bytes": 256},
        **changes,
    }


def result_of(text: str, **changes: Any) -> RunResult:
    (found,) = run_plain_rows([row(text, **changes)])
    return found


LAUNCH = {"grid": ["b"], "block": [64], "shared_bytes": 256}


@pytest.mark.parametrize(
    "text",
    [BLOCK_SUM, SHUFFLE_SUM, HALVES, DYNAMIC, GROUPS],
    ids=["tree", "warp", "halves", "dynamic", "groups"],
)
def test_threads_that_meet_agree(text: str) -> None:
    found = result_of(text, plain_launch=LAUNCH)
    assert (found.status, found.reason) == ("agrees", "")
    assert found.shapes[:3] == ["b=3", "b=1", "b=251"]


WRONG = {
    "first barrier gone": (BLOCK_SUM.replace("    __syncthreads();  // 1\n", ""), "data_race"),
    "second barrier gone": (
        BLOCK_SUM.replace("        __syncthreads();  // 2\n", ""),
        "data_race",
    ),
    "barrier of some threads": (
        BLOCK_SUM.replace("__syncthreads();  // 1", "if (threadIdx.x < 32) __syncthreads();"),
        "bad_sync",
    ),
    "leaves before the barrier": (
        BLOCK_SUM.replace(
            "    __syncthreads();  // 1", "    if (threadIdx.x > 60) return;\n__syncthreads();"
        ),
        "bad_sync",
    ),
    "barriers at two places": (
        BLOCK_SUM.replace(
            "__syncthreads();  // 1",
            "if (threadIdx.x < 32) { __syncthreads(); } else { __syncthreads(); }",
        ),
        "bad_sync",
    ),
    "lane that does not take part": (
        SHUFFLE_SUM.replace("0xffffffff, sum, offset", "0x0000ffff, sum, offset"),
        "bad_sync",
    ),
    "shuffle of half a warp": (
        SHUFFLE_SUM.replace(
            "    for (int offset", "    if (threadIdx.x % 32 < 16)\n    for (int offset"
        ),
        "bad_sync",
    ),
    "lanes that wait for each other": (HALVES.replace("0xffff0000", "0xffffffff"), "bad_sync"),
    "barrier after warps gone": (SHUFFLE_SUM.replace("    __syncthreads();\n", ""), "data_race"),
    "endless": (BLOCK_SUM.replace("half /= 2", "half += 0"), "timeout"),
    "reads past the end": (BLOCK_SUM.replace("i < n ? x[i] : 0.0f", "x[i + 64]"), None),
    "writes past the end": (BLOCK_SUM.replace("total[blockIdx.x]", "total[blockIdx.x + 1]"), None),
    "changes its input": (
        BLOCK_SUM.replace("const float* __restrict__ x", "float* __restrict__ x").replace(
            "    if (threadIdx.x == 0) {", "    x[i] = 0.0f;\n    if (threadIdx.x == 0) {"
        ),
        "input_changed",
    ),
    "half of the sum": (BLOCK_SUM.replace("half = 32", "half = 16"), "wrong_value"),
    "no shared memory set": (
        BLOCK_SUM.replace("partial[threadIdx.x] = i < n ? x[i] : 0.0f;", ""),
        "wrong_value",
    ),
    "another parameter": (BLOCK_SUM.replace("int n)", "double n)"), "bad_row"),
    "crashes": (BLOCK_SUM.replace("= partial[0];", "= *(float*)8;"), "crashed"),
    "no kernel": ("__device__ int f() { return 1; }\n", "compile_error"),
    "no C++": (BLOCK_SUM.replace("float", "flaot", 1), "compile_error"),
    "assembly": (BLOCK_SUM.replace("partial[0];", 'partial[0]; asm("nop");'), "compile_error"),
    "a file of the host": (f'#include "/etc/passwd"\n{BLOCK_SUM}', "compile_error"),
    "a function of the host": (f'extern "C" int puts(const char*);\n{BLOCK_SUM}', "compile_error"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_texts_are_named(name: str) -> None:
    text, status = WRONG[name]
    assert text != BLOCK_SUM
    assert text != SHUFFLE_SUM
    found = result_of(text)
    wanted = {status} if status else {"read_out_of_bounds", "wrote_out_of_bounds"}
    if "__shared__" in text and status in ("data_race", "wrong_value"):
        # What nobody has written yet may show before the race does.
        wanted.add("read_out_of_bounds")
    assert found.status in wanted, found
    assert found.reason


def test_wrong_text_among_good_ones_costs_itself() -> None:
    texts = [BLOCK_SUM, WRONG["crashes"][0], SHUFFLE_SUM, WRONG["no C++"][0], DYNAMIC]
    rows = [row(text, id=f"{k:016d}", plain_launch=LAUNCH) for k, text in enumerate(texts)]
    statuses = [found.status for found in run_plain_rows(rows)]
    assert statuses == ["agrees", "crashed", "agrees", "compile_error", "agrees"]


def test_launch_formulas_are_c_expressions_of_sizes() -> None:
    found = result_of(BLOCK_SUM, plain_launch=LAUNCH | {"grid": ["(64*b + 63) / 64"]})
    assert found.status == "agrees"
    for formula in ("b - 4", "b ** 2", "open", "__import__('os')", "c", "0", "b +"):
        found = result_of(BLOCK_SUM, plain_launch=LAUNCH | {"grid": [formula]})
        assert found.status == "bad_row", formula


def test_plain_text_is_compared_with_its_own_reference_and_never_with_one_kept() -> None:
    """What Warp's text showed is used again only for a row that says the same of its inputs."""
    # Of what no thread writes there is nothing but in arrays that are outputs alone.
    row = next(
        row
        for row in sample_rows()
        if row["cuda_plain"] and all(arg["role"] != "inout" for arg in row["args"])
    )
    others = [
        row | {"reference": row["reference"].replace(f"def {row['kernel_name']}(", "def other(")},
        row | {"input_seed": row["input_seed"] + 1, "launch": row["launch"] | {"dim": ["1"]}},
    ]
    with HostRunner() as runner:
        for other in [row, *others]:
            assert runner.run([row])[0].status == "agrees"
            (result,) = runner.run_plain([other])
            (alone,) = runner.run_plain([other])
            assert result.status == ("agrees" if other is row else "reference_error")
            # Beside Warp's text, whose sums come in another order, the errors may be larger.
            same = replace(result, max_ulp=alone.max_ulp, tolerance_used=alone.tolerance_used)
            assert same == alone
