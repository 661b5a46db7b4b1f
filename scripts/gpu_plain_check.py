"""Plain CUDA on a GPU: the text of each row compiled, launched and compared.

Run on a machine with a GPU: python scripts/gpu_plain_check.py DATASET. Needs NumPy, PyArrow and
CuPy; neither Warp nor `datasets`. Each row's `cuda_plain` runs at its three shapes under its
`plain_launch` and must agree with the reference. One process, no isolation: a check, no suite.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
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
from validate.plain_launch import grid_of
from validate.plain_layout import as_plain, by_value, from_plain
from validate.reference import run_reference
from validate.sizes import awkward_sizes, evaluate, evaluate_all

CUDA_INCLUDE = ("/usr/local/cuda/include",)


def compiled(text: str, arch: str) -> bytes | str:
    """The machine code of one text, or the compiler's log."""
    program = nvrtc.createProgram(text, "plain.cu", [], [])
    options = ("-std=c++17", arch, *(f"-I{p}" for p in CUDA_INCLUDE))
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError:
        return str(nvrtc.getProgramLog(program))
    binary: bytes = nvrtc.getCUBIN(program)
    return binary


def packed(value: Any) -> Any:
    """A composite passed by value, as one item of its own bytes."""
    if value.dtype.names or not value.shape:
        return value[()] if not value.dtype.names else value
    item = np.zeros((), np.dtype([("c", value.dtype, value.shape)]))
    item["c"] = value
    return item


def run_row(row: Mapping[str, Any], function: Any) -> tuple[str, float]:
    """``agrees`` or what went wrong, and the largest error as a share of its tolerance."""
    used = 0.0
    for sizes in awkward_sizes(row["sizes"]):
        inputs = draw_inputs(row["args"], sizes, row["input_seed"])
        buffers: dict[str, tuple[Any, Any]] = {}
        values: list[Any] = []
        for arg in row["args"]:
            value = inputs[arg["name"]]
            if arg["kind"] == "array":
                host = as_plain(value, arg)
                buffer = cp.asarray(np.frombuffer(host.tobytes(), np.uint8))
                buffers[arg["name"]] = (buffer, host)
                values.append(np.uint64(buffer.data.ptr))
            else:
                values.append(packed(by_value(value, arg)))
        extra = row["plain_args"][len(values) :]
        values += [np.int32(evaluate(str(a["size"]), sizes)) for a in extra]
        grid = grid_of(row["plain_launch"], sizes)
        function(tuple(grid.grid), tuple(grid.block), tuple(values))
        cp.cuda.runtime.deviceSynchronize()
        dim = tuple(evaluate_all(row["launch"]["dim"], sizes))
        wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
        for arg in row["args"]:
            if arg["name"] not in buffers or arg["role"] == "in":
                continue
            buffer, host = buffers[arg["name"]]
            got = np.frombuffer(cp.asnumpy(buffer).tobytes(), host.dtype).reshape(host.shape)
            back = from_plain(got, inputs[arg["name"]], arg)
            found = measure(back, wanted[arg["name"]], arg["rtol"], arg["atol"])
            used = max(used, found.tolerance_used)
            if found.mismatch is not None:
                return f"{arg['name']} at {sizes}: {found.mismatch}", used
    return "agrees", used


def compiled_of(job: tuple[str, str]) -> bytes | str:
    return compiled(*job)


def main(folder: Path) -> int:
    rows = [r for p in sorted(folder.glob("*/*.parquet")) for r in pq.read_table(p).to_pylist()]
    device = cp.cuda.runtime.getDeviceProperties(0)
    arch = f"-arch=sm_{device['major']}{device['minor']}"
    print(f"{device['name'].decode()}, CuPy {cp.__version__}, {len(rows)} rows")
    began = time.perf_counter()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        made = list(pool.map(compiled_of, [(r["cuda_plain"], arch) for r in rows], chunksize=8))
    print(f"compiled in {time.perf_counter() - began:.1f} s")
    outcomes: Counter[str] = Counter()
    shares = []
    for row, binary in zip(rows, made, strict=True):
        used = 0.0
        if isinstance(binary, str):
            outcome = f"compile_error: {binary.splitlines()[:1]}"
        else:
            module = cp.cuda.function.Module()
            module.load(binary)
            outcome, used = run_row(row, module.get_function(row["kernel_name"]))
        shares.append(used)
        style = json.loads(row["schedule"])["style"]
        outcomes[f"{style}: {'agrees' if outcome == 'agrees' else 'fails'}"] += 1
        if outcome != "agrees":
            print(row["id"], row["category"], row["idiom"], row["level"], style, outcome[:300])
    print(dict(sorted(outcomes.items())))
    quantiles = [float(np.quantile(shares, q)) for q in (0.5, 0.9, 0.99, 1.0)]
    print("share of tolerance used, median / 90 % / 99 % / most:", *(f"{q:.3f}" for q in quantiles))
    return 0 if not any("fails" in name for name in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
