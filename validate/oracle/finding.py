"""What running the kernels of one row showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from validate.oracle.compare import measure
from validate.row.inputs import Array


@dataclass
class Finding:
    """`status` and the other fields are those of `RunResult` in `validate.host.runner`."""

    status: str = "agrees"
    reason: str = ""
    shapes: list[str] = field(default_factory=list)
    max_ulp: float = 0.0
    tolerance_used: float = 0.0
    adjoint: str = "off"
    adjoint_reason: str = ""
    adjoint_tolerance_used: float = 0.0


def compare_outputs(
    args: Sequence[Mapping[str, Any]],
    outputs: Mapping[str, Array],
    wanted: Mapping[str, Array],
    finding: Finding,
    against: str = "",
) -> bool:
    """Whether outputs agree; `finding` is told how well, and where they do not."""
    for arg in args:
        name = arg["name"]
        if name not in wanted:
            continue
        agreement = measure(outputs[name], wanted[name], arg["rtol"], arg["atol"])
        finding.max_ulp = max(finding.max_ulp, agreement.max_ulp)
        finding.tolerance_used = max(finding.tolerance_used, agreement.tolerance_used)
        if agreement.mismatch is not None:
            finding.status = "wrong_value"
            finding.reason = f"{against}{name}{agreement.mismatch}"
            return False
    return True
