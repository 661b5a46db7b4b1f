"""Whether a row's evidence hangs together, as far as the row itself can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from validate.row.adjoint import status_without_run
from validate.row.archs import ARCHS
from validate.row.columns import GRADIENT_COLUMNS, PLAIN_COLUMNS
from validate.row.edges import settings
from validate.statuses import AdjointStatus, GradientStatus

NOT_MEASURED = ("max_ulp",)
"""Evidence that this version does not put into rows: a row that claims it is wrong."""

_RESOURCES = ("registers", "spill_bytes", "shared_bytes")


def contradictions(row: Mapping[str, Any]) -> list[str]:
    """Where `checks`, `provenance`, `sizes` and `cuda_backward` contradict each other.

    The row must have the form of the schema. Nothing is compiled or run.
    """
    found = (_unknown, _compiled, _run, _plain, _array, _adjoint, _gradient)
    return [problem for claims in found for problem in claims(row)]


def _unknown(row: Mapping[str, Any]) -> Iterator[str]:
    claims = [name for name in NOT_MEASURED if row["checks"][name] is not None]
    if claims:
        yield f"checks claim what this version does not measure: {', '.join(claims)}"


def _compiled(row: Mapping[str, Any]) -> Iterator[str]:
    checks, nvrtc = row["checks"], row["provenance"]["nvrtc"]
    archs = checks["compile_archs"]
    if (archs is None) != (nvrtc is None):
        yield "checks.compile_archs and provenance.nvrtc are only given together"
    if archs is not None and list(archs) != [arch for arch in ARCHS if arch in archs]:
        yield f"checks.compile_archs are not distinct known architectures in order: {archs}"
    measured = [name for name in _RESOURCES if checks[name] is not None]
    if measured and (archs is None or len(measured) < len(_RESOURCES)):
        yield f"checks.{measured[0]} is given without the rest of what is measured with it"


def _run(row: Mapping[str, Any]) -> Iterator[str]:
    checks = row["checks"]
    if (checks["run_forward"] is None) != (checks["shapes"] is None):
        yield "checks.run_forward and checks.shapes are only given together"
    if row["reference"] is None or checks["shapes"] is None:
        return
    wanted = [setting.name for setting in settings(row)]
    if checks["shapes"] != wanted:
        yield f"checks.shapes are not the shapes of a run: {'; '.join(wanted)}"


def _plain(row: Mapping[str, Any]) -> Iterator[str]:
    there = [name for name in PLAIN_COLUMNS if row[name] is not None]
    if there and len(there) < len(PLAIN_COLUMNS):
        yield f"{there[0]} is given without the other columns of plain CUDA"
    claims, runs = (row["checks"][name] is not None for name in ("run_plain", "run_forward"))
    if claims and not (there and runs):
        yield "checks.run_plain is given without cuda_plain or checks.run_forward"
    if there and runs and row["reference"] is not None and not claims:
        yield "checks.run_forward is given and checks.run_plain is not"


def _array(row: Mapping[str, Any]) -> Iterator[str]:
    there, why = row["array_python"] is not None, row["array_reason"]
    made = row["program"] is not None
    if (there + (why is not None)) != made:
        yield "array_python or array_reason is given, and only one, exactly where program is"
    claims, runs = (row["checks"][name] is not None for name in ("run_array", "run_forward"))
    if claims != (there and runs):
        yield "checks.run_array is given exactly with array_python and checks.run_forward"


def _adjoint(row: Mapping[str, Any]) -> Iterator[str]:
    status, published = row["checks"]["adjoint"], row["cuda_backward"] is not None
    if status is None:
        if row["checks"]["run_forward"] is not None and row["reference"] is not None:
            yield "checks.run_forward is given and checks.adjoint is not"
        return
    if status not in {*AdjointStatus}:
        yield f"checks.adjoint is no known status: {status}"
    if row["checks"]["run_forward"] is None:
        yield "checks.adjoint is given and checks.run_forward is not"
    if published != (status == AdjointStatus.AGREES):
        yield "cuda_backward is there exactly when checks.adjoint is agrees; it is not so here"
    without = status_without_run({**row, "cuda_backward": ""})
    if status != AdjointStatus.OFF and (without or "run") != (
        status if status.startswith("no_") else "run"
    ):
        yield f"checks.adjoint is {status}, but args make it {without or 'one to run'}"


def _gradient(row: Mapping[str, Any]) -> Iterator[str]:
    status = row["checks"]["gradient"]
    there = [name for name in GRADIENT_COLUMNS if row[name] is not None]
    if there and len(there) < len(GRADIENT_COLUMNS):
        yield f"{there[0]} is given without the other columns of the backward kernel"
    if bool(there) != (status == GradientStatus.AGREES):
        yield "cuda_plain_backward is there exactly when checks.gradient is agrees"
    if (status is not None) != (row["checks"]["run_plain"] is not None):
        yield "checks.gradient is given exactly with checks.run_plain"
    known = {arg["name"] for arg in row["args"]}
    for arg in row["backward_args"] or ():
        if (arg["arg"] is None) != (arg["size"] is not None) or (arg["arg"] is None) != (
            arg["holds"] is None
        ):
            yield f"backward_args: {arg['name']} is either a size or holds something of an arg"
        elif arg["arg"] is not None and arg["arg"] not in known:
            yield f"backward_args names {arg['arg']}, which is no arg"
