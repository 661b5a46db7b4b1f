"""Questions in PyTorch: a function of tensors, or a problem in KernelBench's form.

A text is run before it is asked about, with the PyTorch that is installed: what does not give the
row's outputs, at every setting of the row, is left out.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from generators.program.serialise import from_json
from synth.errors import SettingsError
from synth.reasons import ViewReason
from synth.render.array.module import render_torch
from synth.render.array.values import NoForm
from synth.render.host.kernelbench import Problem, parameters
from synth.render.host.launcher import NoHostSide
from synth.render.host.random_inputs import NoDraw
from synth.render.host.torch_module import camel, torch_module
from synth.render.text import signature
from synth.views.exchange import Exchange
from synth.views.plain import LeftOut, fenced, needs, pick
from synth.views.promise import gradient_promise_clause, promise_clause
from synth.views.texts import AUTOGRAD, KERNELBENCH, TENSOR_VIEWS, TORCH
from validate.host.adjoint import draw_cotangents
from validate.host.gradient import backward_inputs
from validate.oracle.arrays import ArraysFailed, run_arrays
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.problem import ProblemFailed, check_cost, check_problem
from validate.oracle.reference import run_reference
from validate.oracle.tensors import (
    TORCH_MISSING,
    run_autograd,
    run_tensors,
    torch_version,
    unlike_autograd,
)
from validate.row.edges import Setting, settings
from validate.row.gradient import backward_row, gradient_names
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import evaluate_all, own_sizes
from validate.row.tiles import places
from validate.statuses import RunStatus

Row = Mapping[str, Any]

_SEEDS = (11, 12, 13)

_TORCH = (
    "Write a CUDA operator for this PyTorch function, with its autograd function where it has a "
    "gradient.",
    "This PyTorch function launches one kernel for each of its operations. Fuse it into a CUDA "
    "extension that I can call in its place.",
    "Give me a custom CUDA extension (load_inline) that computes the same as this PyTorch code.",
    "Replace this PyTorch with hand-written CUDA, called from Python.",
    "Port the PyTorch below to a CUDA kernel and write the launcher and the binding too.",
)
_AUTOGRAD = (
    "Write a `torch.autograd.Function` for this module, with CUDA kernels of your own for its "
    "forward and its backward pass.",
    "I train through this PyTorch module. Replace what it calls by an autograd function whose two "
    "passes are CUDA kernels.",
    "Autograd keeps a tensor for each operation of this module. Write forward and backward as one "
    "CUDA kernel each, behind a `torch.autograd.Function`.",
    "Implement this module's function with hand-written CUDA, gradients included.",
)
_PROBLEM = (
    "Write `ModelNew`, which does what `Model` does with CUDA kernels of your own.",
    "Optimise this PyTorch module: replace its operators by custom CUDA and name the module "
    "`ModelNew`.",
    "Here is an architecture in PyTorch. Give `ModelNew` with an inline CUDA extension that "
    "computes the same and takes less time.",
    "Speed up `Model` with custom CUDA operators; `ModelNew` takes the same arguments.",
)


def require_torch() -> str:
    """The version of PyTorch that is installed. Raises SettingsError without one."""
    version = torch_version()
    if version is None:
        raise SettingsError(f"the views {' and '.join(TENSOR_VIEWS)} run PyTorch. {TORCH_MISSING}")
    return version


def torch_view(row: Row) -> Exchange:
    """PyTorch on whole tensors to a module with the row's CUDA, its launcher and its gradient."""
    text = tensor_text(row)
    try:
        answer = torch_module(row)
    except NoHostSide:
        raise LeftOut(ViewReason.NO_HOST_SIDE) from None
    about = f" {row['description']}" if pick(row, "torch/about", 3) == 0 else ""
    asked = f"{_TORCH[pick(row, 'torch', len(_TORCH))]}{about} {promise_clause(row)}"
    return Exchange(f"{asked}\n\n{fenced('python', text)}", fenced("python", answer))


def autograd(row: Row) -> Exchange:
    """A PyTorch module to an `autograd.Function` with the row's CUDA for both passes, where
    PyTorch's own autograd of the module was run and gives the same gradients."""
    needs(row, "cuda_plain_backward", ViewReason.NO_GRADIENT)
    text = tensor_text(row)
    try:
        answer = torch_module(row)
    except NoHostSide:
        raise LeftOut(ViewReason.NO_HOST_SIDE) from None
    _differentiate(row, text)
    asked = f"{_AUTOGRAD[pick(row, 'autograd', len(_AUTOGRAD))]} {gradient_promise_clause(row)}"
    question = f"{asked}\n\n{fenced('python', text.rstrip() + _module(row, text))}"
    return Exchange(question, fenced("python", answer))


def _module(row: Row, text: str) -> str:
    name = row["kernel_name"]
    given = parameters(text, name)
    lines = [f"class {camel(name)}(torch.nn.Module):"]
    lines += signature("    def forward", ["self", *given], ":")
    lines += signature(f"        return {name}", given, "")
    return "\n\n\n" + "\n".join(lines)


def _differentiate(row: Row, text: str) -> None:
    """Compare autograd with the backward kernel's reference at the row's own shape. Raises
    LeftOut."""
    sizes = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    cotangents = draw_cotangents(row, inputs)
    backward = backward_row(row)
    passed = backward_inputs(row, backward, inputs, cotangents)
    dim = evaluate_all(places(row, row["launch"]["dim"]), sizes)
    given = backward["reference"], backward["kernel_name"], backward["args"], dim, passed
    try:
        theirs = run_autograd(text, row["kernel_name"], row["args"], sizes, inputs, cotangents)
    except ArraysFailed:
        raise LeftOut(ViewReason.AUTOGRAD_DIFFERS) from None
    ours, names = run_reference(*given), gradient_names(row)
    for name, gradient in theirs.items():
        mine = ours.get(names.get((name, None), ""))
        if mine is not None and unlike_autograd(gradient, mine):
            raise LeftOut(ViewReason.AUTOGRAD_DIFFERS)


def kernelbench(row: Row) -> tuple[Exchange, dict[str, Any]]:
    """A problem in KernelBench's form to its solution, and both as columns."""
    text = tensor_text(row)
    try:
        problem = Problem(row, text)
        asked, answer = problem.problem(), problem.solution()
    except (NoHostSide, NoDraw):
        raise LeftOut(ViewReason.NO_PROBLEM) from None
    sizes = {problem.variables[symbol]: value for symbol, value in problem.regime().items()}
    least = {
        problem.variables[size["symbol"]]: (size["min"], size["multiple_of"])
        for size in row["sizes"]
    }
    try:
        check_cost(asked)
        check_problem(asked, sizes, least, _SEEDS)
    except ProblemFailed:
        raise LeftOut(ViewReason.NO_CHALLENGE) from None
    if row["cuda_plain_backward"]:
        _differentiate(row, text)
    said = _PROBLEM[pick(row, "kernelbench", len(_PROBLEM))]
    exchange = Exchange(f"{said}\n\n{fenced('python', asked)}", fenced("python", answer))
    return exchange, {"problem": asked, "solution": answer}


def tensor_text(row: Row) -> str:
    """The row's PyTorch version, run and compared at all settings. Raises LeftOut."""
    needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    try:
        text = render_torch(from_json(row["program"]))
        for setting in settings(row):
            _run(row, setting, text)
    except (NoForm, ArraysFailed):
        raise LeftOut(ViewReason.NO_TENSORS) from None
    return text


def _run(row: Row, setting: Setting, text: str) -> None:
    """Run a text at one setting. Raises ArraysFailed where it does not give the outputs."""
    inputs = draw_inputs(setting.args, setting.sizes, row["input_seed"])
    given = row["kernel_name"], row["args"], setting.sizes, inputs
    found = run_tensors(text, *given)
    finding = Finding()
    if not compare_outputs(row["args"], found, _wanted(row, setting, inputs), finding):
        raise ArraysFailed(f"{finding.reason} at {setting.name}")


def _wanted(row: Row, setting: Setting, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    """What the reference gives, or NumPy on whole arrays where that agreed with it."""
    if row["checks"]["run_array"] == RunStatus.AGREES:
        return run_arrays(
            row["array_python"], row["kernel_name"], row["args"], setting.sizes, inputs
        )
    dim = evaluate_all(places(row, row["launch"]["dim"]), setting.sizes)
    return run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)


def tensor_exchanges(
    view: str, rows: Sequence[dict[str, Any]], left_out: Counter[str]
) -> Iterator[tuple[dict[str, Any], Exchange, dict[str, Any]]]:
    """What a view makes of rows; ``left_out`` counts the others by reason. One thread, since
    sums that several make have another order."""
    # Read at its first allocation: arrays of many megabytes otherwise cost a fault for each page.
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    import torch

    torch.set_num_threads(1)
    for row in rows:
        try:
            made = _MAKERS[view](row)
        except LeftOut as left:
            left_out[left.reason] += 1
        else:
            yield row, *made


_MAKERS: dict[str, Callable[[Row], tuple[Exchange, dict[str, Any]]]] = {
    TORCH: lambda row: (torch_view(row), {}),
    AUTOGRAD: lambda row: (autograd(row), {}),
    KERNELBENCH: kernelbench,
}
