"""What may be told to who answers: nothing of hidden sizes, values and indexes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from validate.statuses import ScoreStatus

# By what a status means, for those whose reasons tell of threads, indexes and sizes.
_SAYS: dict[str, str] = {
    ScoreStatus.BAD_LAUNCH: "the launch cannot be made at every size",
    ScoreStatus.WROTE_OUT_OF_BOUNDS: "writes outside an array",
    ScoreStatus.READ_OUT_OF_BOUNDS: "reads outside an array, or what nobody has written",
    ScoreStatus.DATA_RACE: "threads use the same memory in no fixed order",
    ScoreStatus.BAD_SYNC: "not all threads come to a barrier or a shuffle",
    ScoreStatus.INPUT_CHANGED: "changes an array that it may only read",
    ScoreStatus.CRASHED: "ended before it answered",
    ScoreStatus.TIMEOUT: "does not come to its end",
    ScoreStatus.OUT_OF_MEMORY: "wants more memory than it may",
}
_SIGNATURE = re.compile(
    r"the kernel takes \d+ parameters, the row has \d+"
    r"|parameter \d+: \d+ bytes to elements of \d+ in the kernel, \d+ to \d+ in the row"
)
_STEPS = "takes too many steps"


def public_reason(status: str, reason: str, names: Sequence[str]) -> str:
    """`reason` of a status without what is hidden; of `names`, those of arguments, it keeps any.

    The reason comes from a process that a hostile text ran in: nothing else of it is passed on.
    """
    if status == ScoreStatus.BAD_SIGNATURE:
        return reason if _SIGNATURE.fullmatch(reason) else "takes other parameters than the row"
    if status == ScoreStatus.TIMEOUT and reason == _STEPS:
        return reason
    words = set(re.findall(r"[A-Za-z_]\w*", reason))
    there = [name for name in names if name in words]
    place = "shared memory" if "shared memory" in reason else ", ".join(there)
    said = _SAYS.get(status, status)
    return f"{said} ({place})" if place else said
