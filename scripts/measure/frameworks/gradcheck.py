"""Rows as operators of PyTorch, judged by PyTorch: gradcheck in float64, autograd in float32.

    PYTHONPATH=. python scripts/measure/frameworks/gradcheck.py OUT [--doubles 120] [--singles 180]
        [--workers 14] [--seconds 560] [--json FILE]

Of the rows of OUT with a backward kernel of ours, and a module that tensors can hold: those all of
whose floats are float64 go through ``torch.autograd.gradcheck`` at sizes of a few elements; of
those all of whose floats are float32 the gradients for random cotangents are compared with what
autograd finds for the row's PyTorch text; rows without one are left out. Each row is built in a
process of its own.
Needs a GPU, PyTorch, ninja and nvcc; no Warp and no network. About 20 s of one core a row.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from generators.program.serialise import from_json
from scripts.measure.frameworks.kernelbench_tasks import unlike
from scripts.measure.frameworks.torch_operators import (
    built,
    called_with,
    report,
    run_all,
    take_rows,
)
from synth.render.array.module import render_torch
from synth.render.array.values import NoForm
from validate.host.adjoint import draw_cotangents
from validate.oracle.tensors import as_torch
from validate.row.dtypes import parse
from validate.row.inputs import draw_inputs
from validate.row.sizes import own_sizes

Row = dict[str, Any]
Found = dict[str, Any]
Function = Callable[..., Any]

EPSILON, RTOL, ATOL = 1e-6, 1e-4, 1e-6
"""Of gradcheck: the step, and by how much a derivative may be off. As PyTorch has them, but for
RTOL (1e-3 there)."""
NONDETERMINISM = 1e-10
"""Sums of atomics come in another order each time."""
_FEW = (3, 4, 2, 5)


def float_width(row: Row) -> str:
    """The dtype that all floats of a row's arrays have, empty where they differ."""
    kinds = [parse(arg["dtype"]) for arg in row["args"] if arg["kind"] == "array"]
    scalars = {kind.scalar for kind in kinds if kind.is_float}
    return scalars.pop() if len(scalars) == 1 else ""


def comparable(row: Row) -> bool:
    """Whether there is something to compare with: differences in float64, in float32 the row's
    PyTorch text, where it has one."""
    width = float_width(row)
    if width == "float32":
        try:
            render_torch(from_json(row["program"]))
        except NoForm:
            return False
    return width in CHECKS


def small_sizes(row: Row) -> dict[str, int]:
    """Sizes of a few elements, each another where it may be."""
    found = {}
    for position, entry in enumerate(row["sizes"]):
        multiple = max(1, entry["multiple_of"])
        least = max(entry["min"], _FEW[position % len(_FEW)])
        found[entry["symbol"]] = -(-least // multiple) * multiple
    return found


def gradcheck(row: Row, function: Function, device: str = "cuda") -> Found:
    """PyTorch's own check of a row's operator at small sizes."""
    import torch
    from torch.autograd.gradcheck import GradcheckError

    sizes = small_sizes(row)
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    called, tensors = called_with(row, inputs, sizes, device)
    places = [k for k, value in enumerate(called) if any(value is t for t in tensors.values())]

    def outputs(*given: Any) -> tuple[Any, ...]:
        for place, value in zip(places, given, strict=True):
            called[place] = value
        found = function(*called)
        found = found if isinstance(found, tuple) else (found,)
        return tuple(value for value in found if value.is_floating_point())

    try:
        torch.autograd.gradcheck(
            outputs,
            tuple(tensors.values()),
            eps=EPSILON,
            rtol=RTOL,
            atol=ATOL,
            nondet_tol=NONDETERMINISM,
        )
    except GradcheckError as error:
        return {"status": "differs", "reason": " ".join(str(error).split())[:400]}
    return {"status": "agrees", "reason": ""}


def against_text(row: Row, function: Function, device: str = "cuda") -> Found:
    """A row's operator beside its PyTorch text, both differentiated by autograd."""
    import torch

    text = render_torch(from_json(row["program"]))
    sizes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    called, ours = called_with(row, inputs, sizes, device)
    space: dict[str, Any] = {}
    exec(compile(text, "<torch>", "exec"), space)
    theirs_function = space[row["kernel_name"]]
    code = theirs_function.__code__
    theirs = {n: as_torch(n, inputs, sizes, device) for n in code.co_varnames[: code.co_argcount]}
    for name in ours.keys() & theirs.keys():
        theirs[name].requires_grad_()
    try:
        wanted = _gradients(row, inputs, theirs_function(*theirs.values()), theirs, ours)
    except RuntimeError as error:
        return {"status": "autograd_raises", "reason": str(error).splitlines()[-1]}
    found = _gradients(row, inputs, function(*called), ours, ours)
    for arg in row["args"]:
        name = arg["name"]
        if name not in ours:
            continue
        if wanted[name] is not None and not bool(torch.isfinite(wanted[name]).all()):
            return {"status": "autograd_not_finite", "reason": name}
        if trouble := unlike(
            *(_on_sphere(arg, g, ours[name]) for g in (wanted[name], found[name]))
        ):
            return {"status": "differs", "reason": f"{name}: {trouble}"}
    return {"status": "agrees", "reason": ""}


def _on_sphere(arg: Row, gradient: Any, value: Any) -> Any:
    """The gradient of what is of unit length without its part along the value: formulas of a
    rotation that agree for unit quaternions have another derivative off the sphere."""
    if gradient is None or arg["init"] != "unit":
        return gradient
    along = (gradient * value.detach()).sum(dim=-1, keepdim=True)
    return gradient - along * value.detach()


def _gradients(
    row: Row, inputs: Row, results: Any, given: Mapping[str, Any], names: Mapping[str, Any]
) -> dict[str, Any]:
    """By each of ``names`` the gradient for the row's cotangents, None where there is none."""
    import torch

    results = results if isinstance(results, tuple) else (results,)
    outs = [arg["name"] for arg in row["args"] if arg["role"] != "in"]
    cotangents = draw_cotangents(row, inputs)
    of = [
        (value, torch.from_numpy(cotangents[name]).to(value.device))
        for name, value in zip(outs, results, strict=True)
        if name in cotangents and value.requires_grad
    ]
    there = [name for name in names if name in given]
    if not of or not there:
        return dict.fromkeys(names)
    values, weights = zip(*of, strict=True)
    found = torch.autograd.grad(values, [given[n] for n in there], weights, allow_unused=True)
    return dict.fromkeys(names) | dict(zip(there, found, strict=True))


CHECKS: dict[str, Callable[[Row, Function], Found]] = {
    "float64": gradcheck,
    "float32": against_text,
}


def compare(row: Row, module: Any) -> Found:
    """What PyTorch says of a row's module, by the width of its floats."""
    return CHECKS[float_width(row)](row, getattr(module, row["kernel_name"]))


check = partial(built, compare=compare)


def main() -> None:
    """Check the rows, print a table for each width."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--doubles", type=int, default=120)
    parser.add_argument("--singles", type=int, default=180)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=560.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows, left_out = take_rows(options.out, 10**9)
    rows = [row for row in rows if comparable(row)]
    asked = {"float64": options.doubles, "float32": options.singles}
    by_width = {width: [r for r in rows if float_width(r) == width] for width in asked}
    chosen = [row for width, count in asked.items() for row in by_width[width][:count]]
    print({width: len(there) for width, there in by_width.items()}, "without a module:", left_out)
    found = run_all(check, chosen, options.workers, options.json, options.seconds)
    widths = {row["id"]: float_width(row) for row in chosen}
    for width in asked:
        print(width)
        report([one for one in found if widths[one["id"]] == width])


if __name__ == "__main__":
    main()
