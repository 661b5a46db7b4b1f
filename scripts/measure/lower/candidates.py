"""Write candidates of lowered ops, for `times.py` to compile, prove and time on a GPU.

    PYTHONPATH=. python scripts/measure/lower/candidates.py FILE [--op NAME ...] [--dtype NAME ...]

FILE is JSON: `texts` by key, `archs` of those that need one of their own, and `jobs`, each of an
op, a dtype, sizes and the keys of the texts to try there with their launches at these sizes. No GPU
is needed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.lower.choose.families import products as tilings
from synth.lower.choose.families import rows, transposes
from synth.lower.gemm.op import archs, lowered
from synth.lower.gemm.plan import Gemm, Tiling, fault
from synth.lower.op import Lowered
from synth.lower.spec import read_spec
from synth.lower.text import lower
from validate.text.formula import evaluate
from validate.text.launches import listed

Sizes = dict[str, int]
OPS = (
    *("matmul", "softmax", "layer_norm", "rms_norm", "transpose"),
    *("reduce_sum", "reduce_max", "reduce_mean"),
    *("attention", "conv2d", "histogram", "scan"),
    *("matmul_backward", "conv2d_backward", "relu_backward"),
)
SIZES = (1024, 2048, 4096)
_MATRICES = ((4096, 4096), (16384, 1024), (2048, 16384), (16384, 16384))
_SQUARES = ((8192, 8192), (4096, 4096), (16384, 16384))

# Fields, and sizes in the order of the op's.
_ATTENTIONS: tuple[tuple[dict[str, Any], tuple[int, ...]], ...] = (
    ({"head_dim": 64, "causal": True}, (4, 16, 2048, 2048)),
    ({"head_dim": 64}, (4, 16, 2048, 2048)),
    ({"head_dim": 128, "causal": True}, (2, 16, 4096, 4096)),
    ({"head_dim": 128}, (2, 16, 2048, 2048)),
)
_ONE = {"kernel_h": 1, "kernel_w": 1, "padding": 0}
_CONVOLUTIONS: tuple[tuple[dict[str, Any], tuple[int, ...]], ...] = (
    ({}, (32, 64, 64, 56, 56)),
    ({}, (32, 128, 128, 28, 28)),
    ({}, (32, 256, 256, 14, 14)),
    (_ONE, (32, 256, 64, 56, 56)),
    (_ONE, (32, 512, 128, 28, 28)),
    ({"stride": 2}, (32, 128, 128, 56, 56)),
    ({"kernel_h": 7, "kernel_w": 7, "padding": 3, "stride": 2}, (32, 3, 64, 224, 224)),
)
_ATTENTION_SIMT = [
    {"tile_m": m, "tile_n": n, "warp_m": warp_m, "thread_n": thread_n, "blocks": blocks}
    for m, n, warp_m, thread_n in (
        *((128, 32, 32, 4), (128, 64, 32, 8), (64, 64, 16, 8), (64, 64, 16, 4)),
        *((128, 64, 16, 4), (64, 32, 16, 4), (128, 32, 16, 2), (64, 32, 32, 4)),
    )
    for blocks in (0, 2)
]
_ATTENTION_MMA = [
    {"tile_m": m, "tile_n": n, "warp_m": warp_m, "blocks": blocks}
    for m, n, warp_m in (
        *((128, 64, 16), (64, 64, 16), (128, 32, 16), (128, 128, 16), (64, 128, 16)),
        *((128, 64, 32), (64, 64, 32), (128, 32, 32), (256, 64, 32)),
    )
    for blocks in (0, 2)
]
_SIDES = ("tile_m", "tile_n", "warp_m", "warp_n", "thread_m", "thread_n")
_CONV_SIMT = [
    {
        **dict(zip(_SIDES, sides, strict=True)),
        **{"tile_k": tile_k, "copy": copy, "stages": stages, "blocks": blocks},
    }
    for sides in (
        *((64, 128, 32, 64, 8, 8), (128, 128, 32, 64, 8, 8), (64, 64, 32, 32, 8, 4)),
        *((128, 64, 64, 32, 8, 8), (64, 256, 32, 64, 8, 8), (128, 128, 64, 64, 16, 8)),
        *((64, 256, 64, 64, 16, 8), (128, 256, 64, 64, 8, 16)),
    )
    for tile_k in (8, 16)
    for copy, stages in (("registers", 2), ("async", 3))
    for blocks in (0, 2, 3)
    if (tile_k == 8 and copy == "registers") or not blocks
]
_CONV_SIMT += [
    {**one, "algorithm": "winograd"}
    for one in tilings.schedules("float32")
    if one["split_k"] == 1 and one["copy"] == "registers" and one["raster"] == 8
]
_CONV_MMA = [
    {
        **dict(zip(_SIDES[:4], sides, strict=True)),
        **{"tile_k": 32, "copy": "async", "stages": stages},
    }
    for sides in ((128, 128, 64, 32), (64, 128, 32, 64), (64, 64, 32, 32), (128, 64, 64, 32))
    for stages in (2, 3)
]


_FLAT = (1 << 20, 1 << 26)
_HISTOGRAMS: tuple[tuple[dict[str, Any], tuple[int, ...]], ...] = tuple(
    ({"bins": bins}, (n,)) for bins in (256, 4096) for n in _FLAT
)
_SCANS: tuple[tuple[dict[str, Any], tuple[int, ...]], ...] = tuple(({}, (n,)) for n in _FLAT)
_HISTOGRAM = [
    {"threads": threads, "copies": copies, "blocks": blocks}
    for threads, blocks in ((256, 528), (256, 1056), (512, 528), (1024, 264))
    for copies in (1, 2, 4, 8)
]
_SCAN = [
    {"threads": threads, "items": items, "blocks": blocks}
    for threads in (128, 256, 512)
    for items in (2, 4, 8)
    for blocks in (528, 1056, 2112)
]
_SQUARE = {"tile_k": 8, "copy": "registers", "stages": 2, "blocks": 2}
_MATMUL_BACKWARDS = tuple(({}, (size,) * 3) for size in (1024, 2048, 4096))
_MATMUL_BACKWARD_SIMT = [
    {**dict(zip(_SIDES, sides, strict=True)), **_SQUARE, "blocks": blocks}
    for sides in ((128, 128, 32, 64, 8, 8), (128, 256, 64, 64, 8, 16), (64, 128, 32, 64, 8, 8))
    for blocks in (0, 2)
]
_MATMUL_BACKWARD_MMA = [
    {**dict(zip(_SIDES[:4], sides, strict=True)), "tile_k": tile_k, "copy": "async", "stages": 3}
    for sides in ((128, 128, 64, 64), (128, 128, 64, 32), (128, 256, 64, 64), (128, 64, 64, 32))
    for tile_k in (32, 64)
]
_MATMUL_BACKWARD_MMA += [
    {
        **dict(zip(_SIDES[:4], sides, strict=True)),
        **{"core": "wgmma", "tile_k": 64, "copy": "async", "stages": 4},
    }
    for sides in ((128, 256, 16, 256), (128, 128, 16, 128), (256, 128, 32, 128), (128, 64, 16, 64))
]
_CONV_BACKWARD_SIMT = [
    {**dict(zip(_SIDES, sides, strict=True)), **_SQUARE, "blocks": 0, "split_k": split_k}
    for sides in ((64, 64, 32, 32, 8, 4), (64, 128, 32, 64, 8, 8), (128, 64, 64, 32, 8, 8))
    for split_k in (1, 8, 16, 32)
]
_RELUS: tuple[tuple[dict[str, Any], tuple[int, ...]], ...] = tuple(({}, (n,)) for n in _FLAT)
_RELU = [{"threads": t, "items": i} for t in (128, 256, 512, 1024) for i in (1, 2, 4, 8)]
_GRADIENTS = {
    "matmul_backward": (_MATMUL_BACKWARDS, _MATMUL_BACKWARD_SIMT, _MATMUL_BACKWARD_MMA),
    "conv2d_backward": (_CONVOLUTIONS[:3], _CONV_BACKWARD_SIMT, []),
    "relu_backward": (_RELUS, _RELU, []),
}
# By op: fields and sizes; schedules of simt, and of mma where there are such.
_WITH_FIELDS: dict[str, tuple[Any, list[dict[str, Any]], list[dict[str, Any]]]] = {
    "attention": (_ATTENTIONS, _ATTENTION_SIMT, _ATTENTION_MMA),
    "conv2d": (_CONVOLUTIONS, _CONV_SIMT, _CONV_MMA),
    "histogram": (_HISTOGRAMS, _HISTOGRAM, []),
    "scan": (_SCANS, _SCAN, []),
    **_GRADIENTS,
}
_BY_CORES = ("conv2d", "matmul_backward", "conv2d_backward")


def products(dtype: str, cores: list[str]) -> list[Gemm]:
    """Products of a dtype under all schedules that tuning tries and that can be, of these cores."""
    found = []
    for schedule in tilings.schedules(dtype):
        core = schedule.pop("core")
        found.append(Gemm("matmul", core, dtype, Tiling(**schedule)))
    legal = [gemm for gemm in found if not fault(gemm)]
    return [gemm for gemm in legal if not cores or gemm.core in cores]


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
    texts: dict[str, Lowered],
) -> dict[str, Any]:
    """An op at sizes, with all that is to be tried; the texts go to `texts`."""
    found = []
    for made, schedule in tried:
        key = sha256(made.text.encode()).hexdigest()[:16]
        texts[key] = made
        found.append(entry(key, made, schedule, sizes))
    return {"op": op, "dtype": dtype, "sizes": sizes, "candidates": found}


def matmul_jobs(
    dtypes: list[str], cores: list[str], texts: dict[str, Lowered]
) -> Iterator[dict[str, Any]]:
    """Products at square sizes."""
    for dtype in dtypes:
        tried = [
            (
                replace(lowered(gemm), archs=list(archs(gemm))),
                {"core": gemm.core, **asdict(gemm.tiling)},
            )
            for gemm in products(dtype, cores)
        ]
        for size in SIZES:
            sizes = {**dict.fromkeys("mnk", size), "batch": 1}
            yield job("matmul", dtype, sizes, tried, texts)


def field_jobs(name: str, dtypes: list[str], texts: dict[str, Lowered]) -> Iterator[dict[str, Any]]:
    """Ops whose jobs have fields, under all schedules that are tried and that can be."""
    listed_, simt, mma = _WITH_FIELDS[name]
    for dtype in dtypes:
        for fields, shape in listed_:
            tried = []
            for schedule in mma if dtype == "float16" else simt:
                said = {"op": name, "dtype": dtype, **fields, "schedule": schedule}
                if name in _BY_CORES:
                    core = "mma" if dtype == "float16" else "simt"
                    said["schedule"] = {"core": core, **schedule}
                try:
                    spec = read_spec(said)
                except SettingsError:
                    continue
                tried.append((lower(spec), schedule))
            sizes = dict(zip(spec.sizes, shape, strict=True))
            yield {**job(name, dtype, sizes, tried, texts), "fields": spec.as_dict()}


def other_jobs(names: list[str], dtypes: list[str], texts: dict[str, Lowered]) -> Iterator[Any]:
    """Ops over rows and transposes, under all schedules that are tried."""
    for name, dtype in product(names, dtypes):
        family = transposes if name == "transpose" else rows
        tried = []
        for schedule in family.schedules(dtype):
            try:
                spec = read_spec({"op": name, "dtype": dtype, "schedule": schedule})
            except SettingsError:
                continue
            tried.append((lower(spec), schedule))
        for m, n in _SQUARES if name == "transpose" else _MATRICES:
            yield job(name, dtype, {"m": m, "n": n}, tried, texts)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--op", nargs="*", default=["matmul"], choices=sorted(OPS))
    parser.add_argument("--dtype", nargs="*", default=["float32", "float16", "bfloat16"])
    parser.add_argument("--core", nargs="*", default=[], help="of products: these cores alone")
    options = parser.parse_args()
    texts: dict[str, Lowered] = {}
    with_fields = [name for name in options.op if name in _WITH_FIELDS]
    others = [name for name in options.op if name not in ("matmul", *with_fields)]
    kinds = [dtype for dtype in options.dtype if dtype in ("float32", "float16", "float64")]
    jobs = list(matmul_jobs(options.dtype, options.core, texts)) if "matmul" in options.op else []
    jobs += other_jobs(others, kinds, texts)
    for name in with_fields:
        taken = ("float32", "float16") if _WITH_FIELDS[name][2] else ("float32",)
        narrow = [dtype for dtype in options.dtype if dtype in taken]
        jobs += field_jobs(name, ["int32"] if name == "histogram" else narrow, texts)
    written = {
        "texts": {key: made.text for key, made in texts.items()},
        "archs": {key: made.archs[0] for key, made in texts.items() if made.archs},
        "jobs": jobs,
    }
    options.file.write_text(json.dumps(written))
    count = sum(len(job["candidates"]) for job in jobs)
    print(f"{len(texts)} texts, {count} candidates, {options.file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
