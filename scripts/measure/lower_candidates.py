"""Write candidates of lowered ops, for `lower_times.py` to compile, prove and time on a GPU.

    PYTHONPATH=. python scripts/measure/lower_candidates.py FILE [--op NAME ...] [--dtype NAME ...]

FILE is JSON: `texts` by key, and `jobs`, each of an op, a dtype, sizes and the keys of the texts to
try there with their launches at these sizes. No GPU is needed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from synth.lower.choose.choice import candidates
from synth.lower.choose.request import read_request
from synth.lower.gemm.op import lowered
from synth.lower.gemm.plan import Gemm
from synth.lower.op import Lowered
from synth.lower.text import lower
from validate.text.formula import evaluate
from validate.text.launches import listed

Sizes = dict[str, int]
OPS = (
    *("matmul", "softmax", "layer_norm", "rms_norm", "transpose"),
    *("reduce_sum", "reduce_max", "reduce_mean"),
)
SIZES = (1024, 2048, 4096)
_MATRICES = ((4096, 4096), (16384, 1024), (2048, 16384))
_SQUARES = ((8192, 8192), (4096, 4096))


def products(dtype: str) -> list[Gemm]:
    """Products of a dtype under all schedules that are tried and that can be."""
    request = read_request({"op": "matmul", "dtype": dtype})
    specs = [one.spec for one in candidates(request)]
    return [spec.plan for spec in specs]


def entry(key: str, made: Lowered, schedule: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
    """How one text is launched at given sizes."""
    every = [a["name"] if a["size"] is None else f"={a['size']}" for a in made.args]
    return {
        "key": key,
        "schedule": schedule,
        "launches": [
            {
                "kernel": one.get("kernel", made.kernel_name),
                "args": [
                    evaluate(name[1:], sizes) if name.startswith("=") else name
                    for name in one.get("args", every)
                ],
                "grid": [evaluate(extent, sizes) for extent in one["grid"]],
                "block": one["block"],
                "shared_bytes": one["shared_bytes"],
            }
            for one in listed(made.launch)
        ],
        "scratch": [
            {"name": s["name"], "dtype": s["dtype"], "count": evaluate(s["count"], sizes)}
            for s in made.scratch
        ],
    }


def job(
    op: str,
    dtype: str,
    sizes: Sizes,
    tried: list[tuple[Lowered, dict[str, Any]]],
    texts: dict[str, str],
) -> dict[str, Any]:
    """An op at sizes, with all that is to be tried; the texts go to `texts`."""
    found = []
    for made, schedule in tried:
        key = sha256(made.text.encode()).hexdigest()[:16]
        texts[key] = made.text
        found.append(entry(key, made, schedule, sizes))
    return {"op": op, "dtype": dtype, "sizes": sizes, "candidates": found}


def matmul_jobs(dtypes: list[str], texts: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Products at square sizes."""
    for dtype in dtypes:
        tried = [(lowered(gemm), asdict(gemm.tiling)) for gemm in products(dtype)]
        for size in SIZES:
            sizes = {**dict.fromkeys("mnk", size), "batch": 1}
            yield job("matmul", dtype, sizes, tried, texts)


def other_jobs(names: list[str], dtypes: list[str], texts: dict[str, str]) -> Iterator[Any]:
    """Ops over rows and transposes, under all schedules that are tried."""
    for name, dtype in product(names, dtypes):
        found = candidates(read_request({"op": name, "dtype": dtype}))
        tried = [(lower(one.spec), one.schedule) for one in found]
        for m, n in _SQUARES if name == "transpose" else _MATRICES:
            yield job(name, dtype, {"m": m, "n": n}, tried, texts)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--op", nargs="*", default=["matmul"], choices=sorted(OPS))
    parser.add_argument("--dtype", nargs="*", default=["float32", "float16", "bfloat16"])
    options = parser.parse_args()
    texts: dict[str, str] = {}
    others = [name for name in options.op if name != "matmul"]
    kinds = [dtype for dtype in options.dtype if dtype in ("float32", "float16", "float64")]
    jobs = list(matmul_jobs(options.dtype, texts)) if "matmul" in options.op else []
    jobs += other_jobs(others, kinds, texts)
    options.file.write_text(json.dumps({"texts": texts, "jobs": jobs}))
    count = sum(len(job["candidates"]) for job in jobs)
    print(f"{len(texts)} texts, {count} candidates, {options.file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
