"""Times of lowered ops beside the library's, on a GPU.

    PYTHONPATH=. python scripts/measure/lower/times.py CANDIDATES.json --json FILE [--seconds 150]
        [--workers 14] [--clean]

CANDIDATES is of `candidates.py`. Needs NumPy, CuPy and PyTorch. Texts are compiled first, by
CuPy's NVRTC in processes; then each candidate is run once and compared with PyTorch in float64, and
timed, as the library is, as the median of 15 between CUDA events, with a buffer larger than the L2
written before each; so is a copy of as many bytes as the op has. TF32 is off, but for dtype tf32.
What was not reached in time is said.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from scripts.measure.lower.ways import FIELD_OPS, OPS, Work

TRIALS = 15
FLUSHED_BYTES = 768 << 20
"""Far more than an L2 holds: while it is written, Python gets ahead of the device, which else would
wait for the launches of what is timed."""
SHOWN = ("head_dim", "causal", "kernel_h", "stride", "padding", "groups")
_MOST_ERROR = {"float32": 2e-5, "float64": 1e-13, "tf32": 2e-3, "float16": 2e-3, "bfloat16": 1e-2}
_MOST_ERROR |= {"int32": 0.0}
_INCLUDES = ("/usr/local/cuda/include", "/usr/local/cuda/targets/x86_64-linux/include")


def compiled(key: str, text: str, arch: str) -> tuple[str, bytes, str]:
    """Machine code of a text, or why there is none."""
    from cupy_backends.cuda.libs import nvrtc

    options = [f"--gpu-architecture={arch}", "--std=c++17", "--disable-warnings"]
    options += [f"-I{folder}" for folder in include_folders()]
    made = nvrtc.createProgram(text, "plain.cu", (), ())
    try:
        nvrtc.compileProgram(made, tuple(options))
        return key, bytes(nvrtc.getCUBIN(made)), ""
    except nvrtc.NVRTCError as error:
        return key, b"", (str(nvrtc.getProgramLog(made)) or str(error))[:400]
    finally:
        nvrtc.destroyProgram(made)


def include_folders() -> list[str]:
    """Where CUDA's headers may be: toolkits and wheels."""
    import site

    wheels = [f"{folder}/nvidia/cu13/include" for folder in site.getsitepackages()]
    return [folder for folder in (*_INCLUDES, *wheels) if Path(folder, "cuda_fp16.h").is_file()]


def compile_all(
    texts: dict[str, str], own_archs: dict[str, str], workers: int
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Machine code of all texts by key, and what was refused."""
    import torch

    arch = "sm_" + "".join(map(str, torch.cuda.get_device_capability()))
    archs = [own_archs.get(key, arch) for key in texts]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(compiled, texts.keys(), texts.values(), archs, chunksize=2))
    return {k: c for k, c, _ in found if c}, {k: log for k, _, log in found if log}


class Clock:
    """Times work on the device, the L2 written before, or written and read: then nothing in it is
    still to be written to memory while the work runs."""

    def __init__(self, clean: bool) -> None:
        import torch

        self.torch = torch
        self.clean = clean
        self.flushed = torch.empty(FLUSHED_BYTES // 4, dtype=torch.int32, device="cuda")

    def microseconds(self, work: Work, trials: int = TRIALS) -> float:
        """The median of some runs, after two that do not count."""
        event = self.torch.cuda.Event
        for _ in range(2):
            work()
        pairs = [(event(enable_timing=True), event(enable_timing=True)) for _ in range(trials)]
        for first, last in pairs:
            self.flushed.zero_()
            if self.clean:
                self.flushed.max()
            first.record()
            work()
            last.record()
        self.torch.cuda.synchronize()
        return statistics.median(first.elapsed_time(last) for first, last in pairs) * 1000.0


def launcher(
    entry: dict[str, Any], code: bytes, arrays: dict[str, Any], folder: Path, torch: Any
) -> Work:
    """What launches a candidate."""
    import cupy
    import numpy as np

    path = folder / f"{entry['key']}.cubin"
    path.write_bytes(code)
    module = cupy.RawModule(path=str(path))
    scratch = {
        one["name"]: torch.full(
            (one["count"],), float("nan"), dtype=getattr(torch, one["dtype"]), device="cuda"
        )
        for one in entry["scratch"]
    }
    known = arrays | scratch
    calls = []
    for one in entry["launches"]:
        kernel = module.get_function(one["kernel"])
        if one["shared_bytes"] > 48 * 1024:
            kernel.max_dynamic_shared_size_bytes = one["shared_bytes"]
        values = tuple(
            known[arg].data_ptr() if isinstance(arg, str) else np.int32(arg) for arg in one["args"]
        )
        calls.append((kernel, tuple(one["grid"]), tuple(one["block"]), values, one["shared_bytes"]))

    def work() -> None:
        for kernel, grid, block, values, shared in calls:
            kernel(grid, block, values, shared_mem=shared)

    work.held = (module, scratch)  # type: ignore[attr-defined]
    return work


def relative_error(found: Any, wanted: Any) -> float:
    """The norm of the difference by that of what is wanted; NaN counts as infinite."""
    error = float((found.double() - wanted).norm() / wanted.norm())
    return error if error == error else float("inf")


def timed_job(
    job: dict[str, Any], codes: dict[str, bytes], folder: Path, clock: Clock, end: float
) -> dict[str, Any]:
    """One op at one shape: the library's times and those of all candidates."""
    import cupy

    torch = clock.torch
    dtype = job["dtype"]
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    kind = getattr(torch, "float32" if dtype == "tf32" else dtype)
    if job["op"] in FIELD_OPS:
        made = FIELD_OPS[job["op"]](job["sizes"], kind, torch, job["fields"])
    else:
        made = OPS[job["op"]](job["sizes"], kind, torch)
    arrays, wanted, ways = made
    moved = sum(array.numel() * array.element_size() for array in arrays.values())
    library = {name: clock.microseconds(work) for name, work in ways.items()}
    copied_us = copy_us(clock, moved)
    found = []
    for entry in job["candidates"]:
        if entry["key"] not in codes or time.monotonic() > end:
            continue
        record = {"key": entry["key"], "schedule": entry["schedule"]}
        try:
            work = launcher(entry, codes[entry["key"]], arrays, folder, torch)
            for output in wanted:
                arrays[output].fill_(float("nan") if arrays[output].is_floating_point() else -1)
            work()
            torch.cuda.synchronize()
            record["error"] = max(relative_error(arrays[o], wanted[o]) for o in wanted)
            if record["error"] <= _MOST_ERROR[dtype]:
                record["us"] = clock.microseconds(work)
        except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError) as error:
            # What the device refuses to load or launch is a finding.
            record["refused"] = f"{type(error).__name__}: {error}"[:300]
        found.append(record)
    again = {name: clock.microseconds(work) for name, work in ways.items()}
    said = {name: job[name] for name in ("op", "dtype", "sizes", "fields") if name in job}
    return {**said, "bytes": moved, "copied_us": copied_us, "library_us": library,
            "library_again_us": again, "candidates": found}  # fmt: skip


def shown(result: dict[str, Any], copy_gb_s: float) -> None:
    """Print a job: the library and the five best."""
    best_way = min(result["library_us"], key=result["library_us"].__getitem__)
    library = min(result["library_us"][best_way], result["library_again_us"][best_way])
    times = {way: round(us, 1) for way, us in result["library_us"].items()}
    good = sorted((c for c in result["candidates"] if "us" in c), key=lambda c: c["us"])
    bad = [c for c in result["candidates"] if "us" not in c]
    sizes = "x".join(map(str, result["sizes"].values()))
    shown_fields = {n: v for n, v in result.get("fields", {}).items() if n in SHOWN}
    name = f"{result['op']} {result['dtype']} {sizes} {shown_fields or ''}"
    print(f"{name}: {times}, {len(good)} good, {len(bad)} not")
    for one in good[:5]:
        schedule = {k: v for k, v in one["schedule"].items() if v not in (None, 0)}
        said = " ".join(f"{k}={v}" for k, v in schedule.items())
        print(
            f"   {one['us']:9.1f} us  {library / one['us']:.3f} of {best_way}  "
            f"{result['bytes'] / one['us'] / 1000 / copy_gb_s:.3f} of a copy's rate, "
            f"{result['copied_us'] / one['us']:.3f} of a copy of as many bytes  {said}"
        )
    for one in bad[:2]:
        print(f"   not: error {one.get('error')} {one.get('refused', '')} {one['schedule']}")


def copy_us(clock: Clock, moved: int) -> float:
    """How long a copy takes that reads and writes so many bytes together."""
    source = clock.torch.empty(moved // 8, dtype=clock.torch.float32, device="cuda")
    target = clock.torch.empty_like(source)
    return clock.microseconds(lambda: target.copy_(source))


def copy_rate(clock: Clock) -> float:
    """GB/s of a copy on the device, bytes read and written counted."""
    moved = 1 << 31
    return moved / copy_us(clock, moved) / 1000.0


def main() -> None:
    """Compile, prove and time all candidates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=150.0)
    parser.add_argument("--clean", action="store_true", help="read the L2 after writing it")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    options = parser.parse_args()
    import tempfile

    import torch

    began = time.monotonic()
    said = json.loads(options.file.read_text())
    torch.manual_seed(7)
    codes, refused = compile_all(said["texts"], said.get("archs", {}), options.workers)
    print(f"{len(codes)} texts compiled, {len(refused)} not, {time.monotonic() - began:.1f} s")
    for key, log in list(refused.items())[:3]:
        print(key, log)
    clock = Clock(options.clean)
    report: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "copy_gb_s": copy_rate(clock),
        "l2": "written and read before" if options.clean else "written before",
        "refused": refused,
        "results": [],
    }
    print(report["device"], f"copy {report['copy_gb_s']:.0f} GB/s")
    with tempfile.TemporaryDirectory() as folder:
        for job in said["jobs"]:
            end = began + options.seconds
            result = timed_job(job, codes, Path(folder), clock, end)
            report["results"].append(result)
            shown(result, report["copy_gb_s"])
            options.json.write_text(json.dumps(report))
    print(f"{time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
