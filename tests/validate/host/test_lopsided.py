"""Shapes that are long along one size and short along all others."""

from __future__ import annotations

from hand_rows import Row, arg, output, size_of
from plain_rows import guarded, plain_row, tiled

from validate.host.plain_sizes import lopsided_sizes
from validate.host.runner import run_plain_rows

BLURRED = """
extern "C" __global__ void blurred(
    const float* __restrict__ taps,
    int num_taps,
    const float* __restrict__ x,
    int count,
    float* __restrict__ out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    float total = 0.0f;
    for (int t = 0; t < num_taps; ++t) {
        const int at = i + t - num_taps / 2;
        total += taps[t] * x[WRAPPED];
    }
    out[i] = total;
}
"""


def blurred(wrapped: str) -> Row:
    """A filter over a line that wraps around."""
    return plain_row(
        BLURRED.replace("WRAPPED", wrapped),
        """
        def blurred(dim, taps, num_taps, x, count, out):
            for i in range(dim[0]):
                total = 0.0
                for t in range(num_taps):
                    total += float(taps[t]) * float(x[(i + t - num_taps // 2) % count])
                out[i] = total
        """,
        [
            arg("taps", "float32", shape=("k",), low="0.1", high="1.0"),
            size_of("num_taps", "k"),
            arg("x", "float32", shape=("n",), low="-2.0", high="2.0"),
            size_of("count", "n"),
            output("out", "float32", shape=("n",)),
        ],
        ["(n + 63) / 64"],
        [64],
        n=9,
        k=3,
    )


def test_each_size_is_long_once() -> None:
    assert lopsided_sizes(tiled()) == [{"n": 29, "k": 2}, {"n": 2, "k": 29}]
    assert lopsided_sizes(guarded()) == []


def test_a_filter_longer_than_its_line_is_noticed() -> None:
    once, twice = "(at + count) % count", "(at % count + count) % count"
    found = run_plain_rows([blurred(once), blurred(twice)])
    assert [r.status for r in found] == ["read_out_of_bounds", "agrees"], found
    assert found[0].reason.endswith("at n=2,k=29")
