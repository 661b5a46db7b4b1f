"""What was found looked at once more: timed beside what else there is, or checked without a GPU."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from synth.errors import SettingsError
from synth.lower.build import build
from synth.lower.check import default_shapes
from synth.lower.choose.choice import choose
from synth.lower.choose.devices import archs_of
from synth.lower.choose.request import Request, read_request
from synth.lower.index import Index
from synth.lower.op import OpSpec
from synth.lower.spec import read_spec
from synth.lower.text import lower
from synth.lower.tune.gpu import CupyBench
from synth.lower.tune.library import library_us
from synth.lower.tune.measured import Measurement
from validate.row.archs import DEFAULT_ARCH
from validate.statuses import CompileStatus, RunStatus


@dataclass(frozen=True)
class Again:
    """Times in microseconds, None where a text did not pass or there is no such thing: of the best
    found, now and when it was found, of what `lower` takes untuned, and of PyTorch."""

    key: str
    op: str
    dtype: str
    sizes: dict[str, int]
    best_us: float | None
    found_us: float | None
    untuned_us: float | None
    pytorch_us: float | None

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    def line(self) -> str:
        """As a line."""
        sizes = ",".join(map(str, self.sizes.values()))
        times = {"found": self.found_us, "untuned": self.untuned_us, "PyTorch": self.pytorch_us}
        beside = ", ".join(f"{name} {us:.1f}" for name, us in times.items() if us is not None)
        now = "did not pass" if self.best_us is None else f"{self.best_us:.1f} us"
        return f"{self.key[:12]} {self.op} {self.dtype} {sizes}: {now} ({beside})"


def bench_again(one: Measurement, bench: CupyBench, device: int) -> Again:
    """Time a candidate, the untuned choice of its problem and PyTorch's way."""
    request = _request(one)
    return Again(
        one.key,
        request.op,
        request.dtype,
        dict(one.sizes),
        _time_us(read_spec(one.spec), one, bench),
        one.time_us,
        _time_us(choose(request, bench.device).spec, one, bench),
        library_us(request, device),
    )


def _request(one: Measurement) -> Request:
    given = {name: value for name, value in one.spec.items() if name != "schedule"}
    return read_request({**given, "shape": one.sizes}, archs_of(one.device))


def _time_us(spec: Any, one: Measurement, bench: CupyBench) -> float | None:
    assert isinstance(spec, OpSpec)
    times = sorted(bench.measure(spec, lower(spec), one.sizes).times_us)
    return times[len(times) // 2] if times else None


def validate_again(one: Measurement, archs: Sequence[str], index: Index) -> str:
    """What is wrong with a candidate, in a line; empty when nothing is."""
    try:
        spec = read_spec(one.spec)
    except SettingsError as error:
        return f"its spec is no longer legal: {error}"
    if spec.key() != one.key:
        return f"its spec has the key {spec.key()[:12]} now"
    built = build(spec, spec.archs or archs or (DEFAULT_ARCH,), default_shapes(spec), index)
    if hashlib.sha256(built.lowered.text.encode()).hexdigest() != one.text_sha256:
        return "its text is another than the one that was measured: tune it again"
    for compiled in built.compiled:
        if compiled.status != CompileStatus.COMPILES:
            return f"{compiled.arch}: {compiled.status}"
    for check in built.checks:
        if check.status != RunStatus.AGREES:
            return f"{check.status} at {check.shape}: {check.reason}"
    return ""
