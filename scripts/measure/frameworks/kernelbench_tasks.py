"""Rows of the view ``kernelbench`` through KernelBench's own evaluator, on a GPU.

    PYTHONPATH=.:KERNELBENCH/src python scripts/measure/frameworks/kernelbench_tasks.py \
        VIEWS/kernelbench
        [-n 300] [--builders 14] [--judges 4] [--seconds 540] [--built FOLDER] [--json FILE]

KERNELBENCH is a checkout of its repository. Each solution is built (in parallel, one process a
row), then ``eval_kernel_against_ref`` judges it with five draws of inputs at the sizes in use, and
with it answers that compute nothing: memory that nobody wrote, zeros over zeroed inputs, ones, an
input. Where the solution has an autograd function, its gradients for random cotangents are
compared with those that autograd finds for the problem, at sizes of some thousand elements. What is
done when the time is up is printed. FOLDER keeps what was built, for ``torch_times.py`` and for a
second call; headers are precompiled there (``precompiled_cxx.py``). KernelBench imports packages
that ask language models (``openai``, ``litellm``) and ``dotenv``; none is needed to judge, and
those that are not installed are left empty.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import chain, zip_longest
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq

Task = dict[str, Any]

TRIALS = 5
MOST_JUDGED = 25
"""By one process, which gives the memory of the device back as it ends."""
GRADIENT_TOLERANCE = 2e-3
"""Of the largest gradient of an input: both sides are float32 and sum in another order."""
NUDGE = 4e-7
"""How far all inputs move, as a share of each, to find kinks: some units in the last place."""

_LIES = {
    "unwritten": "torch.empty({shape}, dtype={dtype}, device='cuda')",
    "zeros": "torch.zeros({shape}, dtype={dtype}, device='cuda')",
    "ones": "torch.ones({shape}, dtype={dtype}, device='cuda')",
}
_LIAR = """import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, *given):
        super().__init__()

    def forward(self, *inputs):
        {before}
        return {answer}
"""


def take(folder: Path, count: int) -> list[Task]:
    """Tasks of a view's files, categories in turn."""
    by_category: dict[str, list[Task]] = {}
    columns = ["id", "category", "level", "problem", "solution"]
    for path in sorted(folder.glob("*.parquet")):
        for row in pq.read_table(path, columns=columns).to_pylist():
            by_category.setdefault(row["category"], []).append(row)
    turns = chain.from_iterable(zip_longest(*by_category.values()))
    return [row for row in turns if row is not None][:count]


def build(task: Task, folder: str) -> dict[str, Any]:
    """Build a solution; the judge then finds it there."""
    began = time.perf_counter()
    with _quiet() as said:
        try:
            _solution(task, folder)
        except Exception as error:  # noqa: BLE001 - whatever the compilers say
            lines = [line for line in str(error).splitlines() if "error" in line.lower()]
            return {"built": False, "reason": (lines or [repr(error), said.getvalue()])[0][:400]}
    return {"built": True, "build_s": round(time.perf_counter() - began, 1)}


def judge(task: Task, folder: str) -> dict[str, Any]:
    """The evaluator's verdict on a solution and on answers that compute nothing."""
    with _quiet():
        import torch

        _stand_in_for_absent()
        evaluate = importlib.import_module("kernelbench.eval").eval_kernel_against_ref
        found = {"id": task["id"], "correct": _verdict(evaluate, task, task["solution"], folder)}
        try:
            lies = _lies(task)
        except torch.OutOfMemoryError as error:
            return found | {"lies": {}, "lied": str(error)[:200]}
        found["lies"] = {name: _passes(evaluate, task, text, folder) for name, text in lies.items()}
        try:
            found["gradient"] = _gradient(task, folder)
        except Exception as error:  # noqa: BLE001 - the verdict stands, whatever a gradient meets
            found["gradient"] = f"failed: {error!r}"[:300]
        torch.cuda.empty_cache()
    return found


def _passes(evaluate: Any, task: Task, lie: str, folder: str) -> bool:
    """Whether an answer passes all trials: those that fail fail the first one, nearly all."""
    return all(_verdict(evaluate, task, lie, folder, trials) is True for trials in (1, TRIALS))


def _verdict(
    evaluate: Any, task: Task, solution: str, folder: str, trials: int = TRIALS
) -> bool | str:
    """True where all trials agree, else what is wrong."""
    result = evaluate(
        task["problem"],
        solution,
        num_correct_trials=trials,
        measure_performance=False,
        build_dir=str(Path(folder) / task["id"]),
    )
    if result is None:
        return "no verdict"
    if result.compiled and result.correctness:
        return True
    told = {k: v for k, v in result.metadata.items() if k not in ("hardware", "device")}
    return str(told)[:500]


def _lies(task: Task) -> dict[str, str]:
    import torch

    space = _problem(task)
    model = space["Model"](*space["get_init_inputs"]()).cuda()
    inputs = [x.to(torch.float32).cuda() for x in space["get_inputs"]()]
    with torch.no_grad():
        output = model(*inputs)
    shape, dtype = tuple(output.shape), output.dtype
    lies = {
        name: _LIAR.format(
            before="[x.zero_() for x in inputs]" if name == "zeros" else "",
            answer=text.format(shape=shape, dtype=dtype),
        )
        for name, text in _LIES.items()
    }
    for k, x in enumerate(inputs):
        if x.shape == output.shape:
            lies[f"input {k}"] = _LIAR.format(before="", answer=f"inputs[{k}].to({dtype})")
    return lies


def _gradient(task: Task, folder: str) -> str:
    """``agrees``, or what does not; empty where the solution has no autograd function.

    Elements at a kink, where autograd of the problem jumps when all inputs move by their rounding,
    are left out: there rounding decides which side's derivative either finds.
    """
    import torch

    if "autograd.Function" not in task["solution"]:
        return ""
    problem, solution = _problem(task), _solution(task, folder)
    _shrink(problem)
    torch.manual_seed(5)
    given = [x.cuda() for x in problem["get_inputs"]()]
    init = problem["get_init_inputs"]()
    model, ours_model = problem["Model"](*init).cuda(), solution["ModelNew"](*init).cuda()
    with torch.no_grad():
        cotangent = torch.rand_like(model(*(x.clone() for x in given))) + 0.5
    theirs, ours = (_grads(m, given, cotangent) for m in (model, ours_model))
    if theirs is None or ours is None:
        return "no gradient asked for"
    beside = [
        _grads(model, [x * (1.0 + nudge) if x.is_floating_point() else x for x in given], cotangent)
        for nudge in (-NUDGE, NUDGE)
    ]
    for k, one in theirs.items():
        steady = torch.ones_like(given[k], dtype=torch.bool)
        for other in beside:
            if one is not None and other is not None and other[k] is not None:
                steady &= ~((other[k] - one).abs() > GRADIENT_TOLERANCE * one.abs().max())
        if (~steady).sum() > max(1, steady.numel() // 500):
            return f"input {k}: {int((~steady).sum())} of {steady.numel()} elements at kinks"
        if trouble := unlike(one, ours[k], steady):
            return f"input {k}: {trouble}"
    return "agrees"


def _grads(model: Any, given: Sequence[Any], cotangent: Any) -> dict[int, Any] | None:
    """The gradient of each float input, None where the output asks for none."""
    import torch

    inputs = [x.clone().requires_grad_(x.is_floating_point()) for x in given]
    # What a model changes in place may be no leaf.
    output = model(*(x.clone() for x in inputs))
    if not output.requires_grad:
        return None
    floats = [k for k, x in enumerate(given) if x.is_floating_point()]
    found = torch.autograd.grad(output, [inputs[k] for k in floats], cotangent, allow_unused=True)
    return dict(zip(floats, found, strict=True))


def unlike(theirs: Any, ours: Any, compared: Any = None) -> str:
    """How two gradients of one input differ, empty where they agree; ``compared``: at which
    elements, all by default."""
    import torch

    if ours is None or theirs is None:
        one = ours if theirs is None else theirs
        return "" if one is None or not one.abs().max() > 0 else "one side has none"
    finite = torch.isfinite(theirs)
    if not bool(finite.any()):
        return "autograd of the problem is not finite"
    scale = theirs[finite].abs().max().clamp(min=1e-6)
    at = finite if compared is None else finite & compared
    if not bool(at.any()):
        return ""
    far = ((theirs - ours).abs()[at] / scale).max().item()
    return "" if far <= GRADIENT_TOLERANCE else f"differs by {far:.1e} of the largest"


def _shrink(space: dict[str, Any]) -> None:
    """Halve a problem's sizes, the largest first, until its inputs have few elements."""
    sizes = [k for k, v in space.items() if isinstance(v, int) and not k.startswith("_")]
    while sum(x.numel() for x in space["get_inputs"]()) > 1 << 16:
        largest = max(sizes, key=lambda name: space[name])
        if space[largest] < 8:
            return
        space[largest] //= 2


def _problem(task: Task) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(task["problem"], "problem", "exec"), space)
    return space


def _solution(task: Task, folder: str) -> dict[str, Any]:
    os.environ["TORCH_EXTENSIONS_DIR"] = str(Path(folder) / task["id"])
    (Path(folder) / task["id"]).mkdir(parents=True, exist_ok=True)
    space: dict[str, Any] = {}
    exec(compile(task["solution"], "solution", "exec"), space)
    return space


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        yield said


def _stand_in_for_absent() -> None:
    """Empty modules for packages of KernelBench that ask models, where they are not installed."""
    for name, wanted in (
        ("dotenv", "load_dotenv"),
        ("openai", "OpenAI"),
        ("litellm", "completion"),
    ):
        if name in sys.modules or importlib.util.find_spec(name):
            continue
        module: Any = ModuleType(name)
        setattr(module, wanted, lambda *_, **__: None)
        sys.modules[name] = module


def main() -> None:
    """Build and judge, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("--builders", type=int, default=14)
    parser.add_argument("--judges", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--built", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    ends = time.monotonic() + options.seconds
    tasks = {task["id"]: task for task in take(options.folder, options.n)}
    found: dict[str, dict[str, Any]] = {}
    with built_in(options.built) as folder:
        run(tasks, found, folder, ends, options)
    report(tasks, found)


@contextlib.contextmanager
def built_in(folder: Path | None) -> Iterator[str]:
    """The folder of what is built, a temporary one if need be; compilers then read headers
    precompiled."""
    with tempfile.TemporaryDirectory() as temporary:
        found = str(folder or temporary)
        os.environ.setdefault("CXX", str(Path(__file__).with_name("precompiled_cxx.py").resolve()))
        os.environ.setdefault("PRECOMPILED", str(Path(found) / "precompiled"))
        yield found


def building_pool(workers: int) -> ProcessPoolExecutor:
    """Processes that have PyTorch loaded as they begin, whose import takes seconds: for what never
    speaks to the device, since a process that has done so may not be forked."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["torch", "torch.utils.cpp_extension"])
    return ProcessPoolExecutor(workers, context)


def run(
    tasks: Mapping[str, Task],
    found: dict[str, dict[str, Any]],
    folder: str,
    ends: float,
    options: argparse.Namespace,
) -> None:
    """Builders and judges side by side, until all is done or the time is up."""
    builders = building_pool(options.builders)
    judges = ProcessPoolExecutor(
        options.judges, get_context("spawn"), max_tasks_per_child=MOST_JUDGED
    )
    waiting: dict[Future[dict[str, Any]], tuple[str, str]] = {
        builders.submit(build, task, folder): ("build", key) for key, task in tasks.items()
    }
    while waiting and time.monotonic() < ends:
        done, _ = wait(waiting, timeout=5, return_when=FIRST_COMPLETED)
        for future in done:
            what, key = waiting.pop(future)
            try:
                told = future.result()
            except Exception as error:  # noqa: BLE001 - a process that was lost, say
                told = {"failed": f"{what}: {error!r}"[:300]}
            found[key] = found.get(key, {}) | told
            if what == "build" and told.get("built"):
                waiting[judges.submit(judge, tasks[key], folder)] = ("judge", key)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for pool in (builders, judges):
        pool.shutdown(wait=False, cancel_futures=True)


def report(tasks: Mapping[str, Task], found: Mapping[str, Mapping[str, Any]]) -> None:
    """Counts by category, and each task that is not right."""
    table: dict[str, Counter[str]] = {}
    for key, told in found.items():
        counts = table.setdefault(tasks[key]["category"], Counter())
        counts["built"] += bool(told.get("built"))
        if "correct" in told:
            counts["judged"] += 1
            counts["correct"] += told["correct"] is True
            counts["a lie passes"] += any(told["lies"].values())
            if told.get("gradient"):
                counts["gradients"] += 1
                counts["gradients agree"] += told["gradient"] == "agrees"
        wrong = told.get("correct", True) is not True or any(told.get("lies", {}).values())
        wrong = wrong or "failed" in told or not told.get("built")
        if wrong or told.get("gradient", "") not in ("", "agrees"):
            print(json.dumps({"id": key, "category": tasks[key]["category"], **told}))
    whole: Counter[str] = Counter()
    for category, counts in sorted(table.items()):
        print(category, dict(counts))
        whole.update(counts)
    print("all", dict(whole), f"of {len(tasks)}")
    seconds = [told["build_s"] for told in found.values() if "build_s" in told]
    if seconds:
        print(f"build: {sum(seconds) / len(seconds):.1f} s each, {max(seconds):.1f} at most")


if __name__ == "__main__":
    main()
