"""Warp kernels of a user's own as tasks: Warp's CUDA, run on the host, says what is wanted."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.harvest.places import module_of
from synth.harvest.process import Harvest, Terms, harvest_files
from synth.loop.archive import ArchivedTask
from synth.loop.sources.contract import argument, task_of_row, task_row, with_tolerances
from synth.loop.sources.declared import Declared
from synth.render.cuda.dialect.words import CUDA
from validate.score.wanted import WARP_COLUMNS

VIEW = "warp_kernel"
_TIMEOUT_S = 120.0
_ASKED = "Translate this NVIDIA Warp kernel into plain CUDA C++ that does not use Warp."


def warp_tasks(path: Path, declared: Declared, name: str) -> list[ArchivedTask]:
    """The task of each kernel of a file, or of that of a name. The file is executed, in a child
    process. Raises SettingsError."""
    with tempfile.TemporaryDirectory(prefix="pairsmith-headers-") as headers:
        (found,) = harvest_files([module_of(path)], Terms(Path(headers), False, _TIMEOUT_S))
    if found.failed:
        raise SettingsError(f"{path} cannot be imported: {found.failed}")
    chosen = [
        (kernel, answer)
        for (kernel, _line), answer in zip(found.kernels, found.answers, strict=False)
        if name in ("", kernel)
    ]
    if not chosen:
        raise SettingsError(f"{path} does not have {_lacking(found, name)}")
    tasks = []
    for kernel, answer in chosen:
        try:
            if answer["stage"]:
                raise SettingsError(f"Warp does not translate it: {answer['reason']}")
            tasks.append(_task(answer["row"], declared))
        except SettingsError as error:
            raise SettingsError(f"{path}, {kernel}: {error}") from None
    return tasks


def _lacking(found: Harvest, name: str) -> str:
    reasons = [reason for left, reason in found.left if left == name or not name]
    return f"a kernel {name}".rstrip() + (f": {reasons[0]}" if reasons else "")


def _task(harvested: dict[str, Any], declared: Declared) -> ArchivedTask:
    declared.require([arg["name"] for arg in harvested["args"]])
    args = [_argument(arg, declared) for arg in harvested["args"]]
    dim = list(declared.dim) or _dim(args, len(harvested["launch"]["dim"]))
    row = task_row(
        kernel_name=harvested["kernel_name"],
        python=harvested["python"],
        about=VIEW,
        args=args,
        sizes=declared.columns(),
        dim=dim,
        **{column: harvested[column] for column in WARP_COLUMNS},
    )
    row = with_tolerances(row)
    asked = f"{_ASKED} It is launched over ({', '.join(dim)})."
    return task_of_row(row, asked, "python", harvested["python"], VIEW)


def _argument(arg: dict[str, Any], declared: Declared) -> dict[str, Any]:
    name, dtype = arg["name"], arg["dtype"]
    if arg["kind"] not in ("scalar", "array") or dtype not in CUDA.scalars:
        raise SettingsError(f"{name} is no number and no array of numbers, but {dtype}")
    if arg["kind"] == "scalar":
        return argument(name, dtype, "in", None, declared.drawn(name, dtype))
    shape = declared.shapes.get(name)
    if shape is None or len(shape) != len(arg["shape"]):
        example = ", ".join(f'"{symbol}"' for symbol in list(declared.sizes) * len(arg["shape"]))
        raise SettingsError(
            f"{name} has {len(arg['shape'])} dimensions: write SHAPES = "
            f'{{"{name}": ({", ".join(example.split(", ")[: len(arg["shape"])])},)}}'
        )
    if arg["role"] == "in":
        return argument(name, dtype, "in", shape, declared.drawn(name, dtype))
    tolerance = declared.tolerance(name)
    if name in declared.outputs:
        return argument(name, dtype, "out", shape, tolerance)
    return argument(name, dtype, "inout", shape, declared.drawn(name, dtype) | tolerance)


def _dim(args: list[dict[str, Any]], dimensions: int) -> list[str]:
    """Where DIM does not say: the shape of the first array written that has as many axes."""
    for arg in args:
        if arg["role"] != "in" and len(arg["shape"]) == dimensions:
            return list(arg["shape"])
    raise SettingsError(f'write DIM = ("n",), {dimensions} extents: over what it is launched')
