"""A spot check on a GPU: the forward text of every row, compiled with NVRTC and launched by CuPy.

Run on a machine with a GPU: python scripts/gpu_spot_check.py DATASET [block size]. Needs NumPy,
PyArrow and CuPy; neither Warp nor `datasets`. Runs each row at the three shapes of its host run and
compares with the reference. Not a GPU suite: one process, no isolation, no timing of kernels.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
import pyarrow.parquet as pq
from cupy_backends.cuda.libs import nvrtc

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from validate.compare import measure
from validate.inputs import draw_inputs
from validate.reference import run_reference
from validate.sizes import awkward_sizes, evaluate_all

Row = Mapping[str, Any]

OPTIONS = (
    "-std=c++17",
    "-DNDEBUG",
    "-DWP_ENABLE_MATHDX=0",
    "--device-as-default-execution-space",
    "--extra-device-vectorization",
    "--restrict",
    "--diag-suppress=177,550",
)
ARRAY_T = np.dtype(
    [
        ("data", "u8"),
        ("grad", "u8"),
        ("shape", "i4", 4),
        ("strides", "i4", 4),
        ("ndim", "u2"),
        ("flags", "u2"),
    ],
    align=True,
)


def launch_bounds(dim: tuple[int, ...]) -> Any:
    """``wp::launch_bounds_t<N>`` by value."""
    layout = [("shape", "u4", (len(dim),)), ("size", "u8"), ("coord_mult", "u8")]
    value = np.zeros((), np.dtype(layout, align=True))
    value["shape"], value["size"], value["coord_mult"] = dim, prod(dim), 1
    return value


def array_view(device: Any, ndim: int) -> Any:
    """``wp::array_t`` by value over bytes on the device."""
    buffer, host = device
    value = np.zeros((), ARRAY_T)
    value["data"] = buffer.data.ptr
    value["shape"][:ndim] = host.shape[:ndim]
    value["strides"][:ndim] = host.strides[:ndim]
    value["ndim"] = ndim
    return value


def by_value(value: Any) -> Any:
    """A scalar, composite or struct parameter as CuPy passes it."""
    if value.dtype.names is not None or value.ndim == 0:
        return value if value.dtype.names is not None else value[()]
    packed = np.zeros((), np.dtype([("c", value.dtype, value.shape)]))
    packed["c"] = value
    return packed


def compiled(text: str, options: tuple[str, ...]) -> bytes:
    """The machine code of one translation unit."""
    program = nvrtc.createProgram(text, "row.cu", [], [])
    nvrtc.compileProgram(program, options)
    binary: bytes = nvrtc.getCUBIN(program)
    return binary


def loaded(binary: bytes, symbol: str) -> Any:
    module = cp.cuda.function.Module()
    module.load(binary)
    return module.get_function(symbol)


def run_row(row: Row, function: Any, block: int) -> tuple[str, float]:
    """``agrees`` or what went wrong, and the largest share of a tolerance used."""
    worst = 0.0
    for sizes in awkward_sizes(row["sizes"]):
        inputs = draw_inputs(row["args"], sizes, row["input_seed"])
        dim = tuple(evaluate_all(row["launch"]["dim"], sizes))
        devices: dict[str, Any] = {}
        values = [launch_bounds(dim)]
        for arg in row["args"]:
            host = np.ascontiguousarray(inputs[arg["name"]])
            if arg["kind"] == "array":
                buffer = cp.asarray(np.frombuffer(host.tobytes(), np.uint8))
                devices[arg["name"]] = (buffer, host)
                values.append(array_view(devices[arg["name"]], len(arg["shape"])))
            else:
                values.append(by_value(inputs[arg["name"]]))
        function((-(-prod(dim) // block),), (block,), tuple(values))
        cp.cuda.runtime.deviceSynchronize()
        wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
        for arg in row["args"]:
            if arg["kind"] != "array":
                continue
            buffer, host = devices[arg["name"]]
            got = np.frombuffer(cp.asnumpy(buffer).tobytes(), host.dtype).reshape(host.shape)
            if arg["role"] == "in":
                if got.tobytes() != host.tobytes():
                    return f"input {arg['name']} changed", worst
                continue
            found = measure(got, wanted[arg["name"]], arg["rtol"], arg["atol"])
            worst = max(worst, found.tolerance_used)
            if found.mismatch is not None:
                return f"{arg['name']} at {sizes}: {found.mismatch}", worst
    return "agrees", worst


def main(folder: Path, block: int) -> int:
    rows = [
        r for path in sorted(folder.glob("t*/*.parquet")) for r in pq.read_table(path).to_pylist()
    ]
    rows += [
        r for p in sorted(folder.glob("validation/*.parquet")) for r in pq.read_table(p).to_pylist()
    ]
    device = cp.cuda.runtime.getDeviceProperties(0)
    arch = f"-arch=sm_{device['major']}{device['minor']}"
    options = (*OPTIONS, arch, f"-I{folder / 'include'}")
    print(
        f"{device['name'].decode()}, CUDA {cp.cuda.runtime.runtimeGetVersion()}, "
        f"CuPy {cp.__version__}"
    )

    began = time.perf_counter()
    texts = [row["cuda_prologue"] + row["cuda_helpers"] + row["cuda_forward"] for row in rows]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        binaries = list(pool.map(partial(compiled, options=options), texts, chunksize=8))
    functions = [
        loaded(binary, f"{row['kernel_name']}_cuda_kernel_forward")
        for row, binary in zip(rows, binaries, strict=True)
    ]
    print(f"{len(rows)} rows compiled in {time.perf_counter() - began:.1f} s")
    outcomes: Counter[str] = Counter()
    used = []
    for row, function in zip(rows, functions, strict=True):
        outcome, worst = run_row(row, function, block)
        used.append(worst)
        outcomes["agrees" if outcome == "agrees" else "fails"] += 1
        if outcome != "agrees":
            print(row["id"], row["category"], row["idiom"], row["level"], outcome)
    shares = np.percentile(used, [50, 90, 99, 100])
    print(dict(outcomes), "share of the tolerance used, 50/90/99/100 %:", np.round(shares, 3))
    return 0 if outcomes["agrees"] == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 128))
