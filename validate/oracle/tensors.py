"""Run the PyTorch version of a row on drawn inputs, on the CPU or another device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from validate.oracle.arrays import ArraysFailed, outputs_of, size_of
from validate.row.inputs import Array

AUTOGRAD_SHARE = 2e-3
"""Of the largest gradient of an input, by how much autograd may be off: both sides are rounded in
single precision and sum in another order."""
TORCH_MISSING = "PyTorch is not installed: pip install 'torch>=2.5'"


def torch_version() -> str | None:
    """The version of PyTorch that is installed, None without one."""
    try:
        import torch
    except ModuleNotFoundError:
        return None
    return str(torch.__version__)


def run_tensors(
    text: str,
    kernel_name: str,
    args: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    inputs: Mapping[str, Array],
    device: str = "cpu",
) -> dict[str, Array]:
    """Call the PyTorch version and return its outputs (roles `out` and `inout`) by name, as NumPy
    arrays. `text` is executed as it is: it has to be one of our own.

    `inputs` come from `draw_inputs` and are not changed. Raises ArraysFailed when the text raises
    or returns tensors of another shape or dtype than the outputs have.
    """
    namespace: dict[str, Any] = {"__name__": "tensors"}
    try:
        exec(compile(text, "<torch>", "exec"), namespace)
        function = namespace[kernel_name]
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        found = function(*[as_torch(name, inputs, sizes, device) for name in names])
    except Exception as error:
        raise ArraysFailed(f"{type(error).__name__}: {error}") from error
    return outputs_of(found, args, inputs, _as_array)


def run_autograd(
    text: str,
    kernel_name: str,
    args: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    inputs: Mapping[str, Array],
    cotangents: Mapping[str, Array],
    device: str = "cpu",
) -> dict[str, Array | None]:
    """What autograd gives of the PyTorch version, for cotangents by output: gradients by float
    input, None where it finds none. `text` is executed as it is: it has to be one of our own.

    Raises ArraysFailed when the text or autograd raises, or no output has a gradient.
    """
    import torch

    try:
        found, leaves = _differentiable(text, kernel_name, args, sizes, inputs, device)
        kept = {n: r for n, r in found.items() if n in cotangents and r.requires_grad}
        if not kept:
            raise ArraysFailed("no output has a gradient")
        starts = [torch.from_numpy(cotangents[name]).to(device) for name in kept]
        gradients = torch.autograd.grad(
            list(kept.values()), list(leaves.values()), starts, allow_unused=True
        )
    except ArraysFailed:
        raise
    except Exception as error:
        raise ArraysFailed(f"{type(error).__name__}: {error}") from error
    return {
        name: None if gradient is None else gradient.detach().cpu().numpy()
        for name, gradient in zip(leaves, gradients, strict=True)
    }


def _differentiable(
    text: str,
    kernel_name: str,
    args: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    inputs: Mapping[str, Array],
    device: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The outputs by name as tensors, and the float inputs that they follow from."""
    import torch

    namespace: dict[str, Any] = {"__name__": "tensors"}
    exec(compile(text, "<torch>", "exec"), namespace)
    function = namespace[kernel_name]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = {name: as_torch(name, inputs, sizes, device) for name in names}
    leaves = {
        name: value.requires_grad_()
        for name, value in given.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
    }
    # What a function changes in place may be no leaf.
    given |= {name: leaf.clone() for name, leaf in leaves.items()}
    results = function(*(given[name] for name in names))
    outs = [arg["name"] for arg in args if arg["role"] != "in"]
    results = results if isinstance(results, tuple) else (results,)
    return dict(zip(outs, results, strict=True)), leaves


def unlike_autograd(theirs: Array | None, ours: Array) -> str:
    """What two gradients of an input differ by, as a share of the largest; empty: no more than
    `AUTOGRAD_SHARE`, where both are finite."""
    if theirs is None:
        return "" if not np.abs(ours).max(initial=0.0) > 0 else "autograd finds none of it"
    finite = np.isfinite(theirs)
    if not finite.all():
        return "autograd is not finite"
    scale = max(1e-6, float(np.abs(theirs).max(initial=0.0)))
    far = float(np.abs(theirs - ours).max(initial=0.0)) / scale
    return "" if far <= AUTOGRAD_SHARE else f"differs by {far:.1e} of the largest"


def as_torch(
    name: str, inputs: Mapping[str, Array], sizes: Mapping[str, int], device: str = "cpu"
) -> Any:
    """The argument of that name: a tensor of an array, a number of a scalar or a size."""
    import torch

    if name not in inputs:
        return size_of(name, sizes)
    value = inputs[name]
    return torch.from_numpy(value.copy()).to(device) if value.ndim else value.item()


def _as_array(name: str, tensor: Any) -> Array:
    if not hasattr(tensor, "detach"):
        raise ArraysFailed(f"{name} is a {type(tensor).__name__}, not a tensor")
    return np.asarray(tensor.detach().cpu().numpy())
