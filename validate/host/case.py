"""Launch the kernels of one row at every shape of it and judge what they wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validate.host.adjoint import check_adjoint
from validate.host.ends import ENDS, note_end
from validate.host.launch import BadRow, Entry, HostLauncher, launch
from validate.host.memory import Arena, Watch, arrays_of, damage, written_arrays
from validate.oracle.arrays import ArraysFailed, run_arrays
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.reference import ReferenceFailed, run_reference
from validate.row.adjoint import status_without_run
from validate.row.edges import Setting, settings
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import evaluate_all
from validate.row.tiles import places
from validate.statuses import AdjointStatus, RunStatus


@dataclass(frozen=True)
class Ran:
    """One setting that a row agreed at: what its kernel and its reference were given, what the
    kernel wrote and what the reference did. Nobody changes any of it."""

    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    wanted: Mapping[str, Array]


class _Launched:
    """One forward launch: what went in and what came out."""

    def __init__(self, row: Mapping[str, Any], setting: Setting, entry: Entry) -> None:
        """Draw inputs and launch. Raises BadRow when the row does not allow either."""
        self.args = row["args"]
        try:
            self.dim = evaluate_all(places(row, row["launch"]["dim"]), setting.sizes)
            self.inputs = draw_inputs(setting.args, setting.sizes, row["input_seed"])
        except ValueError as error:
            raise BadRow(f"inputs: {error}") from error
        self.arena = Arena(arrays_of(self.args, self.inputs))
        self.watch = Watch(self.arena)
        launch(entry, self.dim, self.arena.parameters(self.args, self.inputs), self.watch)

    def outputs(self) -> dict[str, Array]:
        """Copies of the arrays that the kernel may write."""
        return written_arrays(self.args, self.arena)


def run_case(
    row: Mapping[str, Any],
    forward: Entry,
    backward: Entry | None,
    kept: list[Ran] | None = None,
) -> Finding:
    """Run a row's forward kernel at its shapes and, when it agrees, check the adjoint at its own.

    What agreed is added to `kept`, by setting. The kernels run in this process: they may crash it
    or never return.
    """
    finding = Finding()
    try:
        for setting in settings(row):
            finding.shapes.append(setting.name)
            launched = _Launched(row, setting, forward)
            ran = _judge(row, launched, finding)
            if ran is None:
                finding.reason += f" at {finding.shapes[-1]}"
                return finding
            if kept is not None:
                kept.append(ran)
            if len(finding.shapes) == 1:
                _judge_adjoint(row, launched.dim, ran, backward, finding)
            _judge_arrays(row, setting, ran, finding)
    except ENDS as ended:
        note_end(finding, ended)
    return finding


def _judge(row: Mapping[str, Any], launched: _Launched, finding: Finding) -> Ran | None:
    """What ran, None when it does not agree."""
    trouble = damage(launched.args, launched.arena, launched.watch)
    if trouble is not None:
        finding.status, finding.reason = trouble
        return None
    if row["reference"] is None:
        raise ReferenceFailed("the row has no reference")
    args, inputs = row["args"], launched.inputs
    wanted = run_reference(row["reference"], row["kernel_name"], args, launched.dim, inputs)
    outputs = launched.outputs()
    agrees = compare_outputs(args, outputs, wanted, finding)
    return Ran(inputs, outputs, wanted) if agrees else None


def _judge_arrays(row: Mapping[str, Any], setting: Setting, ran: Ran, finding: Finding) -> None:
    """Compare the whole-array version with the reference, unless it has differed before."""
    text = row.get("array_python")
    if text is None or finding.array not in ("", RunStatus.AGREES):
        return
    try:
        outputs = run_arrays(text, row["kernel_name"], row["args"], setting.sizes, ran.inputs)
        found = Finding()
        compare_outputs(row["args"], outputs, ran.wanted, found)
        finding.array, finding.array_reason = found.status, found.reason
    except ArraysFailed as failed:
        finding.array, finding.array_reason = RunStatus.WRONG_VALUE, str(failed)
    if finding.array_reason:
        finding.array_reason += f" at {setting.name}"


def _judge_adjoint(
    row: Mapping[str, Any],
    dim: Sequence[int],
    ran: Ran,
    entry: Entry | None,
    finding: Finding,
) -> None:
    if entry is None:
        finding.adjoint = status_without_run(row) or AdjointStatus.OFF
        return
    found = check_adjoint(row, dim, ran.inputs, ran.outputs, HostLauncher(entry), ran.wanted)
    finding.adjoint = found.status
    finding.adjoint_reason = found.reason
    finding.adjoint_tolerance_used = found.tolerance_used
