"""Run the PyTorch version of a row on drawn inputs, on the CPU or another device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from validate.oracle.arrays import ArraysFailed, outputs_of, size_of
from validate.row.inputs import Array

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
