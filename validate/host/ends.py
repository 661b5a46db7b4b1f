"""How the run of a kernel ends other than by writing its outputs: errors and their statuses."""

from __future__ import annotations

from validate.host.launch import BadRow, Endless
from validate.host.plain_launch import BadMeeting, TooCostly, Trapped, Undefined
from validate.oracle.compare import Finding
from validate.oracle.reference import ReferenceFailed
from validate.statuses import RunStatus

_STATUSES: dict[type[Exception], RunStatus] = {
    ReferenceFailed: RunStatus.REFERENCE_ERROR,
    BadRow: RunStatus.BAD_ROW,
    MemoryError: RunStatus.OUT_OF_MEMORY,
    Endless: RunStatus.TIMEOUT,
    TooCostly: RunStatus.TIMEOUT,
    BadMeeting: RunStatus.BAD_SYNC,
    Undefined: RunStatus.UNDEFINED,
    Trapped: RunStatus.CRASHED,
}
ENDS = tuple(_STATUSES)
"""The errors that are a result of a run; others are ours."""


def status_of(ended: Exception) -> RunStatus:
    """The status of a run that ended so."""
    return next(status for kind, status in _STATUSES.items() if isinstance(ended, kind))


def note_end(finding: Finding, ended: Exception) -> None:
    """Let a finding say how its run ended, and at which shape."""
    finding.status, finding.reason = status_of(ended), str(ended)
    if not isinstance(ended, BadRow):
        finding.reason = f"{finding.reason} at {finding.shapes[-1]}".lstrip()
