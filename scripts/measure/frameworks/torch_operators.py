"""Rows as operators of PyTorch on a GPU: built, called, and differentiated.

    PYTHONPATH=. python scripts/measure/frameworks/torch_operators.py OUT [-n 60] [--workers 12]
        [--json FILE]

Of the rows of OUT that have a backward kernel of ours, and that tensors can hold, categories in
turn: each becomes a module (``synth.render.host.torch_module``) that is built by PyTorch with the
CUDA compiler, one process a row. Its outputs at the row's own sizes are compared with the reference
and what autograd gives of it, for random cotangents, with that of the backward kernel.
Needs a GPU, PyTorch, ninja and nvcc; no Warp and no network. About 50 s of one core a row.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import chain, zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from synth.dataset.stored import stored_rows
from synth.render.host.launcher import NoHostSide
from synth.render.host.operator import Operator
from synth.render.host.torch_module import torch_module
from validate.host.adjoint import draw_cotangents
from validate.host.gradient import backward_inputs, unlike_reference
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.reference import run_reference
from validate.row.dtypes import parse
from validate.row.gradient import backward_row, gradient_names
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes

Row = dict[str, Any]


def take_rows(
    out: Path,
    count: int,
    module: Callable[[Row], str] = torch_module,
    *,
    forward_alone: bool = False,
) -> tuple[list[Row], Counter[str]]:
    """Rows with a module and a backward kernel, or those with the forward kernel alone too,
    categories in turn, and why others have no module."""
    by_category: dict[str, list[Row]] = {}
    left_out: Counter[str] = Counter()
    for _, row in stored_rows(out):
        if row["cuda_plain_backward"] is None and not forward_alone:
            continue
        try:
            module(row)
        except NoHostSide as why:
            left_out[str(why)] += 1
        else:
            by_category.setdefault(row["category"], []).append(row)
    turns = chain.from_iterable(zip_longest(*by_category.values()))
    return [row for row in turns if row is not None][:count], left_out


def check(row: Row) -> dict[str, Any]:
    """What became of a row; runs in a process of its own."""
    return built(row, _compared)


def built(row: Row, compare: Callable[[Row, Any], dict[str, Any]]) -> dict[str, Any]:
    """What `compare` finds of a row and its module, which is built first."""
    found = {"id": row["id"], "category": row["category"], "kernel": row["kernel_name"]}
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCH_EXTENSIONS_DIR"] = folder
        path = Path(folder) / "operator_module.py"
        path.write_text(torch_module(row), encoding="utf-8")
        try:
            module = _imported(path)
            found["build_s"] = round(time.perf_counter() - began, 1)
            found |= compare(row, module)
        except Exception as error:  # noqa: BLE001 - whatever the compiler or the driver says
            lines = [line for line in str(error).splitlines() if "error" in line.lower()]
            said = lines[0] if lines else traceback.format_exc(limit=-1)
            found |= {"status": "failed", "reason": f"{type(error).__name__}: {said}"[:400]}
    return found


def _imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("operator_module", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compared(row: Row, module: Any) -> dict[str, Any]:
    import torch

    sizes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    dim = evaluate_all(row["launch"]["dim"], sizes)
    called, tensors = called_with(row, inputs, sizes)
    results = getattr(module, row["kernel_name"])(*called)
    results = results if isinstance(results, tuple) else (results,)
    torch.cuda.synchronize()
    outs = [arg for arg in row["args"] if arg["role"] != "in"]
    named = dict(zip((arg["name"] for arg in outs), results, strict=True))
    outputs = {name: value.detach().cpu().numpy() for name, value in named.items()}
    wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
    finding = Finding()
    if not compare_outputs(row["args"], outputs, wanted, finding):
        return {"status": "forward_differs", "reason": finding.reason}
    return _differentiated(row, inputs, dim, named, tensors)


def called_with(
    row: Row, inputs: dict[str, Any], sizes: dict[str, int], device: str = "cuda"
) -> tuple[list[Any], Row]:
    """The arguments of the operator, and the tensors among them that carry a gradient."""
    import torch

    called, tensors = [], {}
    given = [arg for arg in row["args"] if arg["role"] != "out"]
    for arg in given:
        value = inputs[arg["name"]]
        if arg["kind"] == "array":
            tensor = torch.from_numpy(np.array(value, order="C")).to(device)
            if parse(arg["dtype"]).is_float:
                tensor.requires_grad_()
                tensors[arg["name"]] = tensor
            called.append(tensor)
        else:
            called.append(value.tolist() if value.ndim == 0 else value.ravel().tolist())
    others = [backward_row(row)] if row["cuda_plain_backward"] is not None else []
    return [*called, *(sizes[symbol] for symbol in Operator(row, *others).loose)], tensors


def _differentiated(
    row: Row, inputs: Row, dim: Any, named: dict[str, Any], tensors: dict[str, Any]
) -> dict[str, Any]:
    import torch

    cotangents = draw_cotangents(row, inputs)
    of = [name for name in named if name in cotangents]
    gradients = torch.autograd.grad(
        [named[name] for name in of],
        list(tensors.values()),
        [torch.from_numpy(cotangents[name]).cuda() for name in of],
        allow_unused=True,
    )
    by_input = dict(zip(tensors, gradients, strict=True))
    backward, names = backward_row(row), gradient_names(row)
    passed = backward_inputs(row, backward, inputs, cotangents)
    wanted = {arg["name"] for arg in backward["args"] if arg["role"] != "in"}
    found = {
        grad: by_input[name].cpu().numpy()
        for (name, _), grad in names.items()
        if grad in wanted and by_input.get(name) is not None
    }
    if missing := wanted - set(found):
        return {"status": "no_gradient", "reason": ", ".join(sorted(missing))}
    if wrong := unlike_reference(backward, dim, passed, found):
        return {"status": "backward_differs", "reason": wrong}
    return {"status": "agrees", "reason": ""}


def main() -> None:
    """Check the rows, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("-n", type=int, default=60)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows, left_out = take_rows(options.out, options.n)
    print(f"{len(rows)} rows; without a module: {dict(left_out)}", flush=True)
    report(run_all(check, rows, options.workers, options.json))


def run_all(
    check_one: Callable[[Row], dict[str, Any]],
    rows: Sequence[Row],
    workers: int,
    json_path: Path | None,
    seconds: float | None = None,
) -> list[dict[str, Any]]:
    """What became of rows, one process each; of those that are done when the time is up."""
    found: list[dict[str, Any]] = []
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), max_tasks_per_child=1)
    try:
        for done in as_completed([pool.submit(check_one, row) for row in rows], seconds):
            found.append(done.result())
            if found[-1]["status"] != "agrees":
                print(json.dumps(found[-1]), file=sys.stderr, flush=True)
            if json_path:
                json_path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    except TimeoutError:
        print(f"time is up: {len(found)} of {len(rows)} rows done", flush=True)
    pool.shutdown(wait=False, cancel_futures=True)
    return found


def report(found: Sequence[Mapping[str, Any]]) -> None:
    """Statuses by category."""
    for category in sorted({one["category"] for one in found}):
        print(category, dict(Counter(o["status"] for o in found if o["category"] == category)))
    print("all", dict(Counter(one["status"] for one in found)))


if __name__ == "__main__":
    main()
