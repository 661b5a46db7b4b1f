"""One spec lowered, compiled and checked, with what an index already holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from synth.lower.check import AnySpec, Check, Compiled, Shape, compile_archs, run_shapes
from synth.lower.index import Index, compile_versions, run_versions, text_versions
from synth.lower.op import Lowered
from synth.lower.text import lower
from validate.statuses import CompileStatus, RunStatus


@dataclass(frozen=True)
class Built:
    """A text, what NVRTC said of it and what the host run showed.

    `made` names what was made now: "text", architectures, shapes; the rest comes from the index.
    """

    spec: AnySpec
    lowered: Lowered
    compiled: list[Compiled]
    checks: list[Check]
    made: list[str]

    @property
    def good(self) -> bool:
        """Whether all that was asked for compiles and agrees."""
        statuses = [c.status for c in self.compiled] + [c.status for c in self.checks]
        return all(status in (CompileStatus.COMPILES, RunStatus.AGREES) for status in statuses)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {
            "key": self.spec.key(),
            **self.spec.as_dict(),
            "kernel_name": self.lowered.kernel_name,
            "launch": self.lowered.launch,
            "scratch": self.lowered.scratch,
            "static_shared_bytes": self.spec.shared_bytes,
            "args": self.lowered.args,
            "text": self.lowered.text,
            "archs": {c.arch: c.status for c in self.compiled},
            "checks": [check.as_dict() for check in self.checks],
        }


def build(spec: AnySpec, archs: Sequence[str], shapes: Sequence[Shape], index: Index) -> Built:
    """Lower a spec, compile it for `archs` and run it at `shapes`, each (m, n, k).

    What the index holds is not made again; only what compiles and agrees is kept there. Raises
    CompileUnavailable or HostRunUnavailable when a tool is missing that is needed.
    """
    made: list[str] = []
    lowered = _text(spec, index, made)
    compiled = _compiled(spec, lowered, archs, index, made) if archs else []
    checks = _checks(spec, lowered, shapes, index, made) if shapes else []
    return Built(spec, lowered, compiled, checks, made)


def _text(spec: AnySpec, index: Index, made: list[str]) -> Lowered:
    of = {"key": spec.key(), "versions": text_versions()}
    if (found := index.take(of)) is not None:
        return Lowered(**found)
    lowered = lower(spec)
    index.put(of, asdict(lowered))
    made.append("text")
    return lowered


def _compiled(
    spec: AnySpec, lowered: Lowered, archs: Sequence[str], index: Index, made: list[str]
) -> list[Compiled]:
    versions = compile_versions()
    of = {arch: {"key": spec.key(), "arch": arch, "versions": versions} for arch in archs}
    found = {arch: index.take(of[arch]) for arch in archs}
    missing = [arch for arch in archs if found[arch] is None]
    results = compile_archs(spec, lowered, missing) if missing else []
    fresh = {result.arch: result for result in results}
    for arch, result in fresh.items():
        if result.status == CompileStatus.COMPILES:
            index.put(of[arch], asdict(result))
    made.extend(missing)
    return [fresh[arch] if arch in fresh else Compiled(**found[arch]) for arch in archs]


def _checks(
    spec: AnySpec, lowered: Lowered, shapes: Sequence[Shape], index: Index, made: list[str]
) -> list[Check]:
    versions = run_versions()
    of = {s: {"key": spec.key(), "shape": list(s), "versions": versions} for s in shapes}
    found = {shape: index.take(of[shape]) for shape in shapes}
    missing = [shape for shape in of if found[shape] is None]
    results = run_shapes(spec, lowered, missing) if missing else []
    fresh = dict(zip(missing, results, strict=True))
    for shape, result in fresh.items():
        if result.status == RunStatus.AGREES:
            index.put(of[shape], asdict(result))
    made.extend(",".join(map(str, shape)) for shape in missing)
    return [fresh[shape] if shape in fresh else Check(**found[shape]) for shape in of]
