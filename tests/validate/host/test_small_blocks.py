"""Shapes and blocks at which texts whose threads do not meet show what one block hides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hand_rows import Row, arg, output, size_of
from plain_rows import guarded, plain_row, tiled

from validate.host.plain_launch import Grid, in_small_blocks
from validate.host.plain_sizes import small_sizes, wide_sizes
from validate.host.runner import HostRunner

SCALED = """
struct __align__(16) FloatPack4 {
    float v[4];
};

extern "C" __global__ void scaled(
    const float* __restrict__ x,
    int k,
    float* __restrict__ out,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    for (int c = 0, step; c < k; c += step) {
        const int first = i * k + c;
        step = first % 4 == 0 && c + 4 <= k ? 4 : 1;
        if (step == 4) {
            const FloatPack4 x4 = *reinterpret_cast<const FloatPack4*>(x + first);
            for (int lane = 0; lane < 4; ++lane) {
                out[first + lane] = 2.0f * x4.v[lane];
            }
        } else {
            out[first] = 2.0f * x[first];
        }
    }
}
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[HostRunner]:
    with HostRunner(timeout_s=10.0) as host:
        yield host


def scaled() -> Row:
    return plain_row(
        SCALED,
        """
        def scaled(dim, x, k, out):
            for i in range(dim[0]):
                for c in range(k):
                    out[i, c] = 2.0 * float(x[i, c])
        """,
        [
            arg("x", "float32", shape=("n", "k"), low="-2.0", high="2.0"),
            size_of("k", "k"),
            output("out", "float32", shape=("n", "k")),
        ],
        ["(n + 63) / 64"],
        [64],
        n=9,
        k=2,
    )


def test_loops_over_vectors_are_longer_than_two_and_end_between_two() -> None:
    assert small_sizes(scaled()) == [{"n": 12, "k": 11}]
    assert small_sizes(guarded()) == []


@pytest.mark.parametrize(
    ("test", "shapes"),
    [
        ("    if (k % 4 != 0) {", [{"n": 12, "k": 11}, {"n": 13, "k": 11}]),
        ("    if (first + 7 < n * k) {", [{"n": 24, "k": 23}]),
    ],
)
def test_the_width_of_vectors_is_what_is_tested(test: str, shapes: list[dict[str, int]]) -> None:
    """Of a struct for each element the vector's name counts the numbers: 4 times 3."""
    text = SCALED.replace("FloatPack4", "FloatPack12").replace("    if (i >= n) {", test)
    assert small_sizes(scaled() | {"cuda_plain": text}) == shapes


def test_a_copy_of_an_aligned_struct_at_a_wrong_address_is_noticed(runner: HostRunner) -> None:
    row = scaled()
    text = row["cuda_plain"].replace("first % 4 == 0 && ", "")
    found = runner.run_plain([row, row | {"cuda_plain": text}], relaunch=True)
    assert [r.status for r in found] == ["agrees", "undefined"], found
    assert "multiple of its alignment" in found[1].reason


def test_small_blocks_have_different_numbers_of_threads_along_each_axis() -> None:
    text = "blockDim.x blockDim.y blockDim.z"
    assert in_small_blocks(Grid([1, 2, 1], [16, 16, 1]), text) == Grid([8, 11, 1], [2, 3, 4])
    assert in_small_blocks(Grid([1, 2, 1], [16, 16, 1]), f"{text} gridDim.y").grid == [8, 3, 1]


def test_blocks_whose_threads_meet_keep_a_warp() -> None:
    text = "blockDim.x __shfl_xor_sync(0xffffffff, x, 16)"
    assert in_small_blocks(Grid([3, 1, 1], [128, 1, 1]), text) == Grid([12, 1, 1], [32, 1, 1])


def test_a_text_that_asks_along_another_axis_runs_past_its_own_block() -> None:
    row = guarded()
    text = row["cuda_plain"].replace("blockDim.x", "blockDim.y")
    assert wide_sizes(row) == []
    assert wide_sizes(row | {"cuda_plain": text}) == [{"n": 163}]


def test_bins_that_a_block_does_not_keep_are_reached_whatever_the_block() -> None:
    row = tiled()
    kept = "const int kept = min(k_count, 4096);\n"
    row["plain_args"] = [
        entry | {"size": "k"} if entry["name"] == "k_count" else entry
        for entry in row["plain_args"]
    ]
    row["cuda_plain"] = row["cuda_plain"].replace("__shared__", kept + "__shared__", 1)
    assert any(shape["k"] == 6144 for shape in wide_sizes(row)), wide_sizes(row)
