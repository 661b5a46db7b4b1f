"""Tune lowered ops on a GPU, and time them untuned and tuned beside PyTorch.

    PYTHONPATH=. python scripts/measure/lower/tuned.py --index FOLDER --json FILE [--seconds 235]

Needs NumPy, CuPy and PyTorch. One clock times all: CUDA events, the L2 cache written before. FILE
is as `times.py` writes it, so that `choices.py` and `write_lower_table.py` read it.
With the same FOLDER a second run measures nothing again that the first did.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from synth.lower.choose.choice import candidates, choose
from synth.lower.choose.devices import archs_of
from synth.lower.choose.request import Request, read_request
from synth.lower.text import lower
from synth.lower.tune.gpu import CupyBench
from synth.lower.tune.library import library_us
from synth.lower.tune.measured import Measured, Measurement
from synth.lower.tune.tuner import Tuned, tune
from validate.gpu.bench import Turn, device_times
from validate.gpu.device import devices

_COPIED = 1 << 30
_PRODUCTS = ((1024, 2048, 4096), ("float32", "float16", "bfloat16"))
_ROWS = ("softmax", "layer_norm", "rms_norm", "reduce_sum")
_PRODUCT_WEIGHT = 4.0


_MORE: Mapping[str, tuple[dict[str, Any], ...]] = {
    "conv2d": (
        {"shape": [32, 64, 64, 56, 56]},
        {"shape": [32, 128, 128, 28, 28]},
        {"shape": [32, 256, 256, 14, 14]},
    ),
    "attention": (
        {"shape": [4, 16, 2048, 2048]},
        {"dtype": "float16", "shape": [4, 16, 2048, 2048]},
    ),
    "histogram": ({"shape": [1 << 24]}, {"bins": 4096, "shape": [1 << 24]}),
    "scan": ({"shape": [1 << 24]}, {"dtype": "int32", "shape": [1 << 24]}),
    "matmul_backward": (
        {"shape": [2048, 2048, 2048]},
        {"dtype": "float16", "shape": [2048, 2048, 2048]},
    ),
    "conv2d_backward": ({"shape": [32, 64, 64, 56, 56]}, {"shape": [32, 128, 128, 28, 28]}),
    "relu_backward": ({"shape": [1 << 24]}, {"dtype": "float16", "shape": [1 << 24]}),
}
"""Ops that are tuned at shapes of their own; most of them no cost model knows."""


def requests(ops: list[str], device: str) -> Iterator[tuple[Request, float]]:
    """What is tuned on a device, and its share of the time."""
    archs = archs_of(device)
    if "matmul" in ops:
        for dtype, size in product(_PRODUCTS[1], _PRODUCTS[0]):
            spec = {"op": "matmul", "dtype": dtype, "shape": [size, size, size]}
            yield read_request(spec, archs), _PRODUCT_WEIGHT
    for op in (op for op in _MORE if op in ops):
        for said in _MORE[op]:
            yield read_request({"op": op, **said}, archs), _PRODUCT_WEIGHT
    for op in (op for op in _ROWS if op in ops):
        for dtype, shape in (
            ("float32", [4096, 4096]),
            ("float32", [16384, 1024]),
            ("float16", [4096, 4096]),
        ):
            yield read_request({"op": op, "dtype": dtype, "shape": shape}), 1.0
    if "transpose" in ops:
        for size in (4096, 8192):
            yield read_request({"op": "transpose", "shape": [size, size]}), 1.0


def copy_us(bench: CupyBench, moved: int) -> float:
    """How long a copy takes that reads and writes so many bytes together."""
    source = bench.cupy.zeros(max(1, moved // 2), "uint8")
    target = bench.cupy.empty_like(source)
    times = device_times([Turn(lambda: None, lambda: bench.cupy.copyto(target, source))], 15)
    return float(median(times))


def record(
    request: Request, found: Tuned, known: list[Measurement], bench: CupyBench, library: float
) -> dict[str, Any]:
    """A result as `times.py` has it, and what is compared."""
    by_key = {one.key: one.time_us for one in known}
    modelled = candidates(request, bench.device)[0].spec
    moved = bench.case(modelled, request.chosen_for).bytes_moved
    return {
        "op": request.op,
        "dtype": request.dtype,
        "sizes": request.chosen_for,
        "bytes": moved,
        "copied_us": copy_us(bench, moved),
        "library_us": {"torch": library},
        "own_default_us": by_key.get(request.first.key()),
        "modelled_us": by_key.get(modelled.key()),
        "untuned_us": found.untuned and found.untuned.time_us,
        "untuned_by": choose(request, bench.device).by,
        "tuned_us": found.best and found.best.time_us,
        "candidates": [
            {
                "schedule": one.spec["schedule"],
                "error": one.error,
                "resources": one.resources,
                **({"us": one.time_us} if one.time_us else {"refused": one.reason}),
            }
            for one in known
        ],
    }


def shown(result: Mapping[str, Any], found: Tuned, gb_s: float) -> str:
    """A line of the report."""
    best, library = result["tuned_us"], result["library_us"]["torch"]
    sizes = "x".join(str(v) for name, v in result["sizes"].items() if name != "batch")
    if best is None:
        return f"{result['op']} {result['dtype']} {sizes}: nothing passed"

    def part(name: str) -> str:
        us = result[name]
        return f"{us:.1f} ({best / us:.2f})" if us else "not measured"

    schedule = found.best.spec["schedule"] if found.best else {}
    said = " ".join(f"{n}={v}" for n, v in schedule.items() if n != "core")
    return (
        f"{result['op']} {result['dtype']} {sizes}: tuned {best:.1f} us = {library / best:.2f} of "
        f"PyTorch's {library:.1f}, {result['bytes'] / best / 1000 / gb_s:.2f} of a copy's rate, "
        f"{result['copied_us'] / best:.2f} of a copy of as many bytes; "
        f"untuned by {result['untuned_by']} {part('untuned_us')}, by the model "
        f"{part('modelled_us')}, own default {part('own_default_us')}; {found.fresh} measured, "
        f"{found.kept} kept, {'all' if found.whole else 'budget spent'}\n    {said}"
    )


def prepare(request: Request, bench: CupyBench, most: int) -> None:
    """Have the first candidates compiled while others are timed."""
    first = candidates(request, bench.device)[:most]
    bench.ahead([lower(one.spec) for one in first])


def main() -> None:
    """Tune, time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=235.0)
    parser.add_argument("--ops", nargs="*", default=["matmul", *_ROWS, "transpose"])
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    began_s = time.monotonic()
    import torch

    torch.manual_seed(7)
    (device, *_) = devices()
    wanted = list(requests(options.ops, device.name))
    with CupyBench(device, options.workers) as bench, Measured(options.index) as measured:
        prepare(wanted[0][0], bench, 64)
        report: dict[str, Any] = {
            "device": bench.device,
            "torch": torch.__version__,
            "compiler": bench.compiler,
            "clock": bench.clock,
            "copy_gb_s": 2 * _COPIED / copy_us(bench, 2 * _COPIED) / 1000.0,
            "results": [],
        }
        print(bench.device, bench.compiler, bench.clock, f"copy {report['copy_gb_s']:.0f} GB/s")
        for place, (request, weight) in enumerate(wanted):
            left = options.seconds - (time.monotonic() - began_s)
            if left < 2.0:
                print(f"{len(wanted) - place} were not reached")
                break
            for later, _ in wanted[place + 1 : place + 3]:
                prepare(later, bench, 40)
            share = weight / sum(other for _, other in wanted[place:])
            library = library_us(request, device.index) or float("nan")
            bench.restart()
            found = tune(request, bench, measured, left * share)
            sizes = request.chosen_for
            known = [
                one
                for one in measured.of(problem=request.key, device=bench.device)
                if one.sizes == sizes
            ]
            again = library_us(request, device.index) or float("nan")
            result = record(request, found, known, bench, min(library, again))
            report["results"].append(result)
            print(shown(result, found, report["copy_gb_s"]), flush=True)
            options.json.write_text(json.dumps(report))
    print(f"{time.monotonic() - began_s:.1f} s")


if __name__ == "__main__":
    main()
