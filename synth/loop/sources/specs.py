"""Specs of `pairsmith lower` as tasks: the op is asked for, the lowered text is what is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.loop.archive import ArchivedTask
from synth.loop.sources.contract import task_of_row, task_row, usual_launch
from synth.lower.check import AnySpec, default_shapes, symbolic_row
from synth.lower.spec import read_spec
from synth.lower.text import lower
from validate.row.sizes import symbols
from validate.score.task import own_task

VIEW = "lower"


def spec_tasks(path: Path, sizes: Mapping[str, int]) -> list[ArchivedTask]:
    """The tasks of a file of JSON: a spec, or a list of them. Raises SettingsError."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    listed = given if isinstance(given, list) else [given]
    if not listed or not all(isinstance(one, dict) for one in listed):
        raise SettingsError(f"{path} holds no spec: an object with an op, or a list of these")
    tasks = []
    for number, one in enumerate(listed):
        where = f"{path}, spec {number + 1}" if len(listed) > 1 else str(path)
        try:
            tasks.append(_task(read_spec(one), sizes))
        except SettingsError as error:
            raise SettingsError(f"{where}: {error}") from None
    return tasks


def _task(spec: AnySpec, given: Mapping[str, int]) -> ArchivedTask:
    if unknown := [name for name in given if name not in spec.sizes]:
        raise SettingsError(f"--size {unknown[0]}: {spec.op} has {', '.join(spec.sizes)}")
    shapes = default_shapes(spec)
    usual = dict(zip(spec.sizes, shapes[min(1, len(shapes) - 1)], strict=True))
    row = _row(spec, {**usual, **given})
    asked = (
        f"Write a CUDA C++ kernel for the op {spec.op} in {spec.dtype}: what this Python computes "
        "over float64."
    )
    if spec.dtype == "bfloat16":
        asked += " Elements of the inputs are whole numbers from -4 to 4."
    spec_itself = {"spec": spec.canonical()}
    return task_of_row(row, asked, "python", row["reference"], VIEW, spec_itself)


def _row(spec: AnySpec, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The row of a spec; of a text that answers may not be like (tensor cores by assembly) the
    signature alone, and the reference decides."""
    lowered = lower(spec)
    known = symbolic_row(spec, lowered, sizes)
    columns = [
        {"symbol": symbol, "value": value, "min": 1, "multiple_of": 1}
        for symbol, value in sizes.items()
        if symbol in _used(known)
    ]
    out = known["args"][-1]["shape"]
    row = task_row(python=spec.canonical(), about=VIEW, sizes=columns, dim=out, **known)
    if isinstance(own_task(row), str):
        usual = usual_launch(row["kernel_name"], row["plain_args"], row["launch"]["dim"])
        row |= {"cuda_plain": None, "plain_scratch": [], "plain_launch": [usual]}
    return row


def _used(row: Mapping[str, Any]) -> set[str]:
    shapes: Sequence[str] = [extent for arg in row["args"] for extent in arg["shape"]]
    try:
        return {symbol for extent in shapes for symbol in symbols(extent)}
    except ValueError as error:
        raise SettingsError(f"{row['kernel_name']}: {error}; such an op is no task") from None
