"""What is known of the time of an answer, and which of several is the quickest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

MEASURED, PREDICTED = "measured", "predicted"
MEMORY, OPERATIONS = "memory", "operations"


@dataclass(frozen=True)
class Time:
    """``us`` microseconds on ``device`` at ``sizes``, ``how`` they were told; where none are,
    ``why``. ``roof_us`` is what moving the arrays once, or doing the task's operations, takes
    there at least, whichever ``roof`` says; None where nobody knows."""

    us: float | None = None
    how: str | None = None
    why: str = ""
    device: str = ""
    sizes: Mapping[str, int] | None = None
    roof_us: float | None = None
    roof: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As metrics of an attempt have it."""
        return asdict(self)


def quickest_first(time: Mapping[str, Any] | None) -> tuple[int, float]:
    """How times of attempts at a task are ordered: measured ones before predicted ones, since they
    do not compare, and attempts without one last."""
    if not time or time["us"] is None:
        return 2, 0.0
    return int(time["how"] != MEASURED), float(time["us"])
