"""What measures a candidate: the one thing of tuning that needs a GPU, and so stands apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from synth.lower.op import Lowered, OpSpec


@dataclass(frozen=True)
class Outcome:
    """What came of a candidate. `verdict` is a `validate.statuses.GpuStatus`; only one that passed
    has times. `error` is the norm of what is off by that of the float64 result; `error_share` the
    largest error as a share of what the op's tolerance allows. `resources` are by kernel: registers
    a thread, spilled bytes, static and dynamic shared bytes of a block. `fatal`: the process can do
    nothing more with the device."""

    verdict: str
    reason: str = ""
    error: float | None = None
    error_share: float | None = None
    times_us: Sequence[float] = ()
    resources: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    fatal: bool = False


class Bench(Protocol):
    """A device, and a clock. `device` is its name, `compiler` what made the machine code, `clock`
    what the times are."""

    device: str
    arch: str
    compiler: str
    clock: str

    def elapsed_s(self) -> float:
        """Seconds of the budget that are spent."""

    def ahead(self, texts: Sequence[Lowered]) -> None:
        """What will be measured next, so that it can be compiled meanwhile."""

    def measure(self, spec: OpSpec, lowered: Lowered, sizes: Mapping[str, int]) -> Outcome:
        """Compile a text, prove it against float64 and time it at sizes."""
