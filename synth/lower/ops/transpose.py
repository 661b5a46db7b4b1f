"""y[n, m] = x[m, n], by way of a padded tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synth.errors import SettingsError
from synth.lower.gemm.parts import filled
from synth.lower.op import Lowered, Op, Operand, one_of

_STORED = {"float32": "float", "float64": "double", "float16": "unsigned short"}
_BYTES = {"float32": 4, "float64": 8, "float16": 2}

_TEXT = """// y[n, m] = x[m, n]@about@.

constexpr int TILE = @tile@;
constexpr int ROWS = @rows@;

extern "C" __global__ void __launch_bounds__(TILE * ROWS) transpose(
    const @real@* __restrict__ x, @real@* __restrict__ y, int m, int n)
{
    __shared__ @real@ tile[TILE][TILE + @pad@];
    const int tx = threadIdx.x % TILE;
    const int ty = threadIdx.x / TILE;
    const int columns = (n - 1) / TILE + 1;
    const int first_row = blockIdx.x / columns * TILE;
    const int first_column = blockIdx.x % columns * TILE;
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        const int row = first_row + ty + i;
        const int column = first_column + tx;
        if (row < m && column < n) {
            tile[ty + i][tx] = @from@;
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        const int row = first_column + ty + i;
        const int column = first_row + tx;
        if (row < n && column < m) {
            @to@;
        }
    }
}
"""


@dataclass(frozen=True)
class Transpose:
    """Tiles of `tile` x `tile` elements, whose rows are padded by `pad`; `rows` of them are moved
    at a time by as many rows of threads. Halves are moved as they are, as 16 bits. `stream`: as
    what is not needed again."""

    dtype: str
    tile: int
    rows: int
    pad: int
    stream: bool = False


def _read(dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> Transpose:
    one_of("schedule.tile", said["tile"], (16, 32, 64))
    one_of("schedule.rows", said["rows"], (2, 4, 8, 16, 32))
    one_of("schedule.pad", said["pad"], (0, 1, 2))
    threads = said["tile"] * said["rows"]
    if not 32 <= threads <= 1024 or said["rows"] > said["tile"]:
        raise SettingsError(f"schedule: {threads} threads a block; allowed are 32 to 1024")
    return Transpose(dtype, **said)


def _lower(t: Transpose) -> Lowered:
    real = _STORED[t.dtype]
    about = ", elements of 16 bits" if t.dtype == "float16" else ""
    read, written = "x[static_cast<size_t>(row) * n + column]", "tile[tx][ty + i]"
    place = "y[static_cast<size_t>(row) * m + column]"
    moved = {"from": read, "to": f"{place} = {written}"}
    if t.stream:
        moved = {"from": f"__ldcs(&{read})", "to": f"__stcs(&{place}, {written})"}
    text = filled(
        _TEXT, **moved, about=about, tile=str(t.tile), rows=str(t.rows), pad=str(t.pad), real=real
    )
    args: list[dict[str, str | None]] = [
        {"name": "x", "type": f"const {real}*", "size": None},
        {"name": "y", "type": f"{real}*", "size": None},
    ]
    args += [{"name": name, "type": "int", "size": name} for name in "mn"]
    grid = f"((m - 1) / {t.tile} + 1) * ((n - 1) / {t.tile} + 1)"
    launch = {"grid": [grid], "block": [t.tile * t.rows], "shared_bytes": 0}
    return Lowered("transpose", text, args, launch, [])


OP = Op(
    name="transpose",
    sizes=("m", "n"),
    dtypes=("float32", "float64", "float16"),
    fields={},
    schedule=lambda dtype: {"tile": 32, "rows": 8, "pad": 1, "stream": False},
    read=_read,
    shared_bytes=lambda t: t.tile * (t.tile + t.pad) * _BYTES[t.dtype],
    lower=_lower,
    operands=lambda t: [Operand("x", t.dtype, ("m", "n")), Operand("y", t.dtype, ("n", "m"))],
    reference=lambda t: (
        "import numpy as np\n\n\ndef transpose(dim, x, y):\n"
        "    y[:, :] = np.transpose(np.array(x, np.float64))\n"
    ),
    tolerance=lambda t, sizes: (0.0, 0.0),
    shapes=lambda t: [(t.tile, 2 * t.tile), (37, 41), (1, 1), (3, 70), (131, 5)],
    work=lambda t, sizes: sizes["m"] * sizes["n"],
)
