"""Rows as functions of CuPy on a GPU: compiled, called forward and backward, and compared.

    PYTHONPATH=. python scripts/measure/frameworks/cupy_operators.py OUT [-n 300] [--workers 12]
        [--json FILE]

Rows of OUT that arrays can hold, categories in turn, each as the module that ``pairsmith show
--cupy`` prints (``synth.render.host.cupy_module``), one process for some rows at a time. At the
row's own sizes outputs are compared with the reference and gradients, for random cotangents, with
the backward kernel's reference, and with what autograd gives of the row's PyTorch version, where it
has one and PyTorch is there. Needs a GPU and CuPy; no Warp, no compiler and no network.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from generators.program.serialise import from_json
from scripts.measure.frameworks.torch_operators import take_rows
from synth.render.array.module import render_torch
from synth.render.array.values import NoForm
from synth.render.host.cupy_module import cupy_module
from synth.render.host.operator import Operator
from validate.host.adjoint import draw_cotangents
from validate.host.gradient import backward_inputs, unlike_reference
from validate.oracle.arrays import ArraysFailed
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.reference import run_reference
from validate.oracle.tensors import run_autograd, unlike_autograd
from validate.row.dtypes import parse
from validate.row.gradient import GRADIENT, backward_row, gradient_names
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes
from validate.row.tiles import places

Row = dict[str, Any]


def check(row: Row) -> dict[str, Any]:
    """What became of a row."""
    found = {"id": row["id"], "category": row["category"], "kernel": row["kernel_name"]}
    try:
        return found | compared(row)
    except Exception as error:  # noqa: BLE001 - whatever a compiler or the driver says
        return found | {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:500]}


def compared(row: Row) -> dict[str, str]:
    """Call the functions of a row's module and compare what they give."""
    space: dict[str, Any] = {}
    exec(compile(cupy_module(row), "module", "exec"), space)
    sizes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    dim = evaluate_all(places(row, row["launch"]["dim"]), sizes)
    backward = None if row["cuda_plain_backward"] is None else backward_row(row)
    operator = Operator(row, *([backward] if backward else []))
    known = {name: sizes[symbol] for symbol, name in operator.sizes.items() if symbol in sizes}
    for arg, own in zip(row["args"], operator.args, strict=True):
        known[own["name"]] = inputs[arg["name"]]
    outs = [arg for arg in row["args"] if arg["role"] != "in"]
    arrays = {arg["name"] for arg in operator.args if arg["kind"] == "array"}
    given = called(space[row["kernel_name"]], known, arrays)
    outputs = {arg["name"]: value for arg, value in zip(outs, given, strict=True)}
    wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
    finding = Finding()
    if not compare_outputs(row["args"], outputs, wanted, finding):
        return {"status": "forward_differs", "reason": finding.reason}
    if backward is None:
        return {"status": "forward_agrees"}
    cotangents = draw_cotangents(row, inputs)
    passed = backward_inputs(row, backward, inputs, cotangents)
    arrays |= {arg["name"] for arg in backward["args"] if arg["kind"] == "array"}
    results = called(space[backward["kernel_name"]], {**known, **passed}, arrays)
    names = [e["name"] for e in row["backward_args"] if e["holds"] == GRADIENT]
    gradients = dict(zip(names, results, strict=True))
    if wrong := unlike_reference(backward, dim, passed, gradients):
        return {"status": "backward_differs", "reason": wrong}
    return {"status": "both_agree", "autograd": by_autograd(row, inputs, cotangents, gradients)}


def by_autograd(
    row: Row, inputs: Mapping[str, Any], cotangents: Mapping[str, Any], ours: Mapping[str, Any]
) -> str:
    """``agrees`` where autograd gives the same of the row's PyTorch version, else what it is."""
    if any(parse(arg["dtype"]).scalar == "float16" for arg in row["args"]):
        return "half precision"
    try:
        text = render_torch(from_json(row["program"]))
        sizes, name = own_sizes(row["sizes"]), row["kernel_name"]
        theirs = run_autograd(text, name, row["args"], sizes, inputs, cotangents, "cuda")
    except NoForm:
        return "no PyTorch version"
    except ArraysFailed as failed:
        return f"the PyTorch version fails: {str(failed)[:120]}"
    grads = gradient_names(row)
    for name, gradient in theirs.items():
        mine = ours.get(grads.get((name, None), ""))
        if mine is not None and (wrong := unlike_autograd(gradient, mine)):
            return f"{name}: {wrong}"
    return "agrees"


def called(function: Any, known: Mapping[str, Any], arrays: set[str]) -> list[Any]:
    """What a function gives for arguments by name, some of them arrays, as arrays of NumPy."""
    import cupy

    given = []
    for name in inspect.signature(function).parameters:
        value = known[name]
        given.append(cupy.asarray(np.ascontiguousarray(value)) if name in arrays else value)
    results = function(*given)
    cupy.cuda.runtime.deviceSynchronize()
    results = results if isinstance(results, tuple) else (results,)
    return [cupy.asnumpy(result) for result in results]


def main() -> None:
    """Check the rows, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows, left_out = take_rows(options.out, options.n, cupy_module, forward_alone=True)
    print(f"{len(rows)} rows; without a module: {dict(left_out)}", flush=True)
    found = []
    with ProcessPoolExecutor(
        options.workers, mp_context=get_context("spawn"), max_tasks_per_child=40
    ) as pool:
        for done in as_completed([pool.submit(check, row) for row in rows]):
            found.append(done.result())
            if "reason" in found[-1]:
                print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for category in sorted({one["category"] for one in found}):
        print(category, dict(Counter(o["status"] for o in found if o["category"] == category)))
    print("all", dict(Counter(one["status"] for one in found)))
    known = ("agrees", "no PyTorch version", "half precision")
    judged = [one for one in found if "autograd" in one]
    print("autograd", dict(Counter(o["autograd"] for o in judged if o["autograd"] in known)))
    for one in judged:
        if one["autograd"] not in known:
            print(json.dumps(one))


if __name__ == "__main__":
    main()
