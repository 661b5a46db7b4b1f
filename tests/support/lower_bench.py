"""A clock of our own for tuning, and a process that tunes by it: what a GPU would say is computed.

    python tests/support/lower_bench.py INDEX LOG SPEC PAUSE_S BUDGET_S TOGETHER

LOG gets a line before each measurement: the candidate's key. The first is made when so many
processes of this LOG are there.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from synth.lower.choose.request import read_request
from synth.lower.op import Lowered, OpSpec
from synth.lower.tune.bench import Outcome
from synth.lower.tune.measured import Measured
from synth.lower.tune.tuner import tune
from validate.statuses import GpuStatus


class ComputedBench:
    """Times that follow from the key alone; a second of budget for each measurement."""

    def __init__(self, log: Path, pause_s: float = 0.0, device: str = "computed") -> None:
        self.device, self.arch, self.compiler, self.clock = device, "sm_90", "none 1.0", "computed"
        self.log, self.pause_s, self.count = log, pause_s, 0
        self.refused: set[str] = set()

    def elapsed_s(self) -> float:
        return float(self.count)

    def ahead(self, texts: Sequence[Lowered]) -> None:
        assert all(text.text for text in texts)

    def measure(self, spec: OpSpec, lowered: Lowered, sizes: Mapping[str, int]) -> Outcome:
        self.count += 1
        with self.log.open("a") as log:
            log.write(f"{spec.key()}\n")
            log.flush()
            os.fsync(log.fileno())
        time.sleep(self.pause_s)
        if spec.key() in self.refused:
            return Outcome(GpuStatus.WRONG_VALUE, "off by more than is allowed", error=0.5)
        us = time_us(spec)
        used = {lowered.kernel_name: {"registers": 32, "spill_bytes": 0, "shared_bytes": 0}}
        times = [us, us + 1.0, us + 0.5]
        return Outcome(GpuStatus.PASSED, "", 1e-8, 0.01, times, used)


def time_us(spec: OpSpec) -> float:
    """What the computed clock says of a spec, less half a microsecond."""
    return 10.0 + int(spec.key()[:4], 16) / 100.0


def main() -> None:
    """Tune until nothing is left or the budget is spent."""
    index, log, spec, pause_s, budget_s, together = sys.argv[1:]
    Path(f"{log}.{os.getpid()}").touch()
    while len(list(Path(log).parent.glob(f"{Path(log).name}.*"))) < int(together):
        time.sleep(0.01)
    bench = ComputedBench(Path(log), float(pause_s))
    with Measured(Path(index)) as measured:
        found = tune(read_request(spec), bench, measured, float(budget_s))
    print(found.fresh, found.kept, found.elsewhere, found.whole)


if __name__ == "__main__":
    main()
