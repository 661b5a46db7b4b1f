"""What the kernel of a task takes and must give, as a row says it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from synth.check.answers import NEEDED
from synth.errors import SettingsError
from synth.loop.archive import ArchivedTask
from synth.loop.prompts import task_id
from synth.render.cuda.dialect.words import CUDA
from synth.views.plain import fenced, wanted
from validate.oracle.reference import ReferenceFailed
from validate.row.inputs import draw_inputs
from validate.row.schema import row_id
from validate.row.sizes import evaluate, evaluate_all, own_sizes
from validate.score.wanted import WARP_COLUMNS, wanted_outputs

Row = dict[str, Any]
Arg = dict[str, Any]

THREADS = 256
_RTOL = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-10}
"""Of outputs whose tolerance nobody declared; as much of their root mean square is the atol."""


def argument(
    name: str, dtype: str, role: str, shape: Sequence[str] | None, more: Mapping[str, Any]
) -> Arg:
    """An entry of a row's ``args``; a ``shape`` of None is of a value."""
    return {
        "name": name,
        "kind": "scalar" if shape is None else "array",
        "dtype": dtype,
        "role": role,
        "shape": list(shape or ()),
        **{"init": "uniform", "low": None, "high": None, "fields": [], "rtol": None, "atol": None},
        **more,
    }


def parameters(args: Sequence[Arg], sizes: Sequence[str]) -> list[dict[str, str | None]]:
    """``plain_args``: the arguments in order, then the sizes. Raises SettingsError for a size that
    is called as an argument is."""
    found: list[dict[str, str | None]] = []
    for arg in args:
        scalar = CUDA.scalars[arg["dtype"]]
        const = "const " if arg["role"] == "in" else ""
        type_ = scalar if arg["kind"] == "scalar" else f"{const}{scalar}*"
        found.append({"name": arg["name"], "type": type_, "size": None})
    if twice := {arg["name"] for arg in args} & set(sizes):
        raise SettingsError(f"{min(twice)!r} is both an argument and a size: rename one")
    found += [{"name": size, "type": "int", "size": size} for size in sizes]
    return found


def usual_launch(
    kernel_name: str, params: Sequence[Mapping[str, Any]], shape: Sequence[str]
) -> Row:
    """A thread for each place of a shape: how an answer is launched that does not say."""
    count = " * ".join(f"({extent})" if "+" in extent else extent for extent in shape) or "1"
    return {
        "kernel": kernel_name,
        "args": [param["name"] for param in params],
        "grid": [f"({count} + {THREADS - 1}) / {THREADS}"],
        "block": [THREADS],
        "shared_bytes": 0,
    }


def largest_shape(args: Sequence[Arg], sizes: Mapping[str, int]) -> list[str]:
    """The shape of the array with the most elements, the last of equal ones."""
    shapes = [arg["shape"] for arg in args if arg["kind"] == "array"]
    return list(max(reversed(shapes), key=lambda s: prod(evaluate(e, sizes) for e in s)))


def task_row(
    *,
    kernel_name: str,
    python: str,
    about: str,
    args: list[Arg],
    sizes: list[Row],
    dim: list[str] | None = None,
    **more: Any,
) -> Row:
    """A row, as far as questions and the judge read it; the columns of ``more`` come on top.

    ``dim`` is over what it is launched; by default over the largest array. Raises SettingsError.
    """
    named = own_sizes(sizes)
    if all(arg["role"] == "in" for arg in args):
        raise SettingsError(f"{kernel_name} has no output")
    params = parameters(args, list(named))
    identity = row_id(python, kernel_name)
    dim = dim or largest_shape(args, named)
    return {
        **dict.fromkeys((*NEEDED, *WARP_COLUMNS)),
        "id": identity,
        "category": about,
        "level": 0,
        "kernel_name": kernel_name,
        "args": args,
        "sizes": sizes,
        "launch": {"dim": dim, "block_dim": THREADS},
        "input_seed": int(identity, 16) >> 1,
        "edge_inputs": [],
        "plain_args": params,
        "plain_scratch": [],
        "plain_launch": [usual_launch(kernel_name, params, dim)],
        "regime": None,
        **more,
    }


def with_tolerances(row: Row) -> Row:
    """The row with the tolerances of float outputs that have none, from what is wanted at its own
    sizes. Raises SettingsError when nothing is, or no numbers are."""
    sizes = own_sizes(row["sizes"])
    try:
        inputs = draw_inputs(row["args"], sizes, row["input_seed"])
        found = wanted_outputs(row, evaluate_all(row["launch"]["dim"], sizes), inputs)
    except (ReferenceFailed, ValueError) as error:
        said = " ".join(str(error).split())
        raise SettingsError(f"{row['kernel_name']} does not run at its sizes: {said}") from None
    args = []
    for arg in row["args"]:
        values = found.get(arg["name"])
        if values is None or values.dtype.kind != "f":
            args.append(arg)
            continue
        if not np.isfinite(values).all():
            raise SettingsError(
                f"{row['kernel_name']}: {arg['name']} is not written whole, or is no finite number"
            )
        rtol = _RTOL[arg["dtype"]]
        atol = float(f"{rtol * float(np.sqrt(np.mean(np.square(values.astype(float))))):.1e}")
        told = {key: arg[key] for key in ("rtol", "atol") if arg[key] is not None}
        args.append({**arg, "rtol": rtol, "atol": atol, **told})
    return {**row, "args": args}


def task_of_row(
    row: Row,
    asked: str,
    language: str,
    source: str,
    view: str,
    more: Mapping[str, str] | None = None,
) -> ArchivedTask:
    """The task of a row: what is asked for, the contract, and the source. Columns of ``more`` come
    to its row, and do not decide which task it is."""
    question = f"{asked} {wanted(row, free=True)}\n\n{fenced(language, source)}"
    judged = json.dumps({name: row[name] for name in (*NEEDED, *WARP_COLUMNS)})
    found = task_id(judged, view, question)
    told = json.dumps({**json.loads(judged), **more}) if more else judged
    return ArchivedTask(found, row["id"], view, row["category"], row["level"], question, told)
