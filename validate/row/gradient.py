"""What a row says of its backward kernel of ours, and that kernel's own row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

SUFFIX = "_backward"
VALUE, COTANGENT, GRADIENT = "value", "cotangent", "gradient"


def gradient_names(row: Row) -> dict[tuple[str, str | None], str]:
    """By the array of a row that they belong to, and the field of its structs: parameters that
    hold cotangents or gradients.

    The row must have `backward_args`.
    """
    held = (COTANGENT, GRADIENT)
    return {(a["arg"], a["field"]): a["name"] for a in row["backward_args"] if a["holds"] in held}


def backward_row(row: Row) -> dict[str, Any]:
    """The backward kernel of a row as a row of its own: what a run and a compiler need of one.

    `args` are those of the forward kernel that it reads, each of them `in`, then cotangents (`in`)
    and gradients (`inout`: they start at zero, or as the cotangent of what the forward kernel
    changes in place). The row must have `backward_args`.
    """
    args = {arg["name"]: arg for arg in row["args"]}
    given = row["backward_args"]
    return {
        "id": row["id"],
        "kernel_name": row["kernel_name"] + SUFFIX,
        "reference": row["backward_reference"],
        "args": [_arg(a, args[a["arg"]]) for a in given if a["arg"] is not None],
        "sizes": row["sizes"],
        "launch": row["launch"],
        "input_seed": row["input_seed"],
        "cuda_plain": row["cuda_plain_backward"],
        "plain_args": [{key: a[key] for key in ("name", "type", "size")} for a in given],
        "plain_scratch": row["backward_scratch"],
        "plain_launch": row["backward_launch"],
        "schedule": row["backward_schedule"],
    }


def _arg(given: Row, like: Row) -> dict[str, Any]:
    passed = {**like, "role": "in", "rtol": None, "atol": None}
    if given["holds"] == VALUE:
        return passed
    field = next((f for f in like["fields"] if f["name"] == given["field"]), like)
    passed |= {"name": given["name"], "init": "uniform", "low": "-1", "high": "1"}
    passed |= {"dtype": field["dtype"], "fields": []}
    if given["holds"] == COTANGENT:
        return passed
    passed["role"] = "inout"
    if like["role"] == "in":
        passed |= {"init": "reduction_identity", "low": "0", "high": None}
        # Gradients by halves are added up in float32.
        passed["dtype"] = "float32" if field["dtype"] == "float16" else field["dtype"]
    return passed
