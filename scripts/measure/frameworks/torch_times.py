"""Times of rows of the view ``kernelbench`` beside PyTorch, eager and compiled, on a GPU.

    PYTHONPATH=. python scripts/measure/frameworks/torch_times.py VIEWS/kernelbench
        [-n 60] [--builders 14] [--seconds 540] [--built FOLDER] [--json FILE]

Extensions and ``torch.compile``'s kernels are made first, one process a row, so that the timing
process finds both. It then times, one after the other and alone on the device, the forward pass of
problem, compiled problem and solution at the sizes in use, and the backward pass of each (the sum
of gradients, ``autograd.grad`` over a kept graph) where the solution has one. A time is the median
of 21 between CUDA events, a buffer larger than the L2 written before each. Both outputs are
compared before anything is timed: what differs is not. Problems with loops of Python are left out,
which ``torch.compile`` unrolls for minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kernelbench_tasks import Task, built_in, take

TRIALS = 21
FLUSHED_BYTES = 256 << 20
TOLERANCE = 1e-3
PREPARE_SHARE = 0.6
"""Of the time: what is not built and compiled by then is left out."""
WAYS = ("eager", "compiled", "ours")


class Models:
    """The three models of a task on the device, with inputs at the sizes in use."""

    def __init__(self, task: Task, folder: str) -> None:
        import torch
        import torch._functorch.config

        # The backward pass is run again and again over a graph that stays.
        torch._functorch.config.donated_buffer = False
        os.environ["TORCH_EXTENSIONS_DIR"] = str(Path(folder) / task["id"])
        (Path(folder) / task["id"]).mkdir(parents=True, exist_ok=True)
        problem: dict[str, Any] = {}
        solution: dict[str, Any] = {}
        exec(compile(task["problem"], "problem", "exec"), problem)
        exec(compile(task["solution"], "solution", "exec"), solution)
        torch.manual_seed(3)
        init = problem["get_init_inputs"]()
        self.inputs = [x.cuda() for x in problem["get_inputs"]()]
        model = problem["Model"](*init).cuda()
        self.by_way = {
            "eager": model,
            "compiled": torch.compile(model),
            "ours": solution["ModelNew"](*init).cuda(),
        }
        self.has_backward = "autograd.Function" in task["solution"]

    def forward(self, way: str) -> Any:
        import torch

        with torch.no_grad():
            return self.by_way[way](*self.inputs)

    def backward(self, way: str) -> Callable[[], Any]:
        """The backward pass over a graph that stays."""
        import torch

        inputs = [x.clone().requires_grad_(x.is_floating_point()) for x in self.inputs]
        output = self.by_way[way](*inputs)
        wanted = [x for x in inputs if x.requires_grad]
        cotangent = torch.ones_like(output)

        def run() -> Any:
            return torch.autograd.grad(
                output, wanted, cotangent, retain_graph=True, allow_unused=True
            )

        return run


def prepare(task: Task, folder: str) -> str:
    """Build and compile; empty, or what went wrong."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            models = Models(task, folder)
            models.forward("compiled")
            if models.has_backward:
                models.backward("compiled")()
        except Exception as error:  # noqa: BLE001 - whatever compilers say
            return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


def measure(task: Task, folder: str) -> dict[str, Any]:
    """Times in microseconds by pass and way, or why there are none."""
    import torch

    found: dict[str, Any] = {"id": task["id"], "category": task["category"]}
    models = Models(task, folder)
    wanted = models.forward("eager")
    if not torch.allclose(models.forward("ours"), wanted, rtol=TOLERANCE, atol=TOLERANCE):
        return found | {"reason": "differs"}
    del wanted
    found["forward_us"] = {w: _time_us(lambda w=w: models.forward(w)) for w in WAYS}
    if models.has_backward:
        found["backward_us"] = {w: _time_us(models.backward(w)) for w in WAYS}
    return found


def _time_us(run: Callable[[], Any]) -> float:
    import torch

    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.int8, device="cuda")
    for _ in range(3):
        run()
    times = []
    for _ in range(TRIALS):
        flushed.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def report(found: Mapping[str, Mapping[str, Any]]) -> None:
    """Medians of ratios by category: how many times as long PyTorch takes."""
    for which in ("forward_us", "backward_us"):
        rows = [told for told in found.values() if which in told]
        categories = sorted({told["category"] for told in rows})
        for name in [*categories, "all"] if rows else []:
            some = [told[which] for told in rows if name in (told["category"], "all")]
            ratios = {w: [t[w] / t["ours"] for t in some] for w in ("eager", "compiled")}
            told_by = {w: _said(r) for w, r in ratios.items()}
            print(which, name, len(some), told_by)
    for told in found.values():
        if "reason" in told:
            print(json.dumps(told))


def _said(ratios: list[float]) -> str:
    below = sum(ratio < 1 for ratio in ratios)
    return f"{statistics.median(ratios):.2f} (least {min(ratios):.2f}, {below} below 1)"


def fit(task: Task) -> bool:
    """Whether a problem has no loop of Python."""
    return "    for " not in task["problem"]


def main() -> None:
    """Prepare in parallel, time alone, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", type=int, default=60)
    parser.add_argument("--builders", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--built", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    ends = time.monotonic() + options.seconds
    some = [task for task in take(options.folder, 10**9) if fit(task)]
    # Those with a gradient first, so that both passes are timed.
    some.sort(key=lambda task: "autograd.Function" not in task["solution"])
    tasks = {task["id"]: task for task in some[: options.n]}
    with built_in(options.built) as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{folder}/inductor"
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        report(run(tasks, folder, ends, options))


def run(
    tasks: Mapping[str, Task], folder: str, ends: float, options: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """What was found of each task by the time that the time is up."""
    found: dict[str, dict[str, Any]] = {}
    with ProcessPoolExecutor(options.builders, get_context("spawn"), max_tasks_per_child=8) as pool:
        made = {pool.submit(prepare, task, folder): key for key, task in tasks.items()}
        try:
            for future in as_completed(made, timeout=PREPARE_SHARE * options.seconds):
                if trouble := future.result():
                    found[made[future]] = {"id": made[future], "reason": trouble}
        except TimeoutError:
            late = {key for future, key in made.items() if not future.done()}
            found |= {key: {"id": key, "reason": "not built or compiled in time"} for key in late}
        for process in list(pool._processes.values()):
            process.kill()
    print(f"prepared {len(tasks) - len(found)} of {len(tasks)}", flush=True)
    for key, task in tasks.items():
        if key in found or time.monotonic() > ends:
            continue
        try:
            found[key] = measure(task, folder)
        except Exception as error:  # noqa: BLE001 - out of memory, say
            found[key] = {"id": key, "reason": f"{type(error).__name__}: {str(error)[:200]}"}
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


if __name__ == "__main__":
    main()
