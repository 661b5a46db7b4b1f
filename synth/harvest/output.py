"""The dataset that a harvest becomes, and the table that it prints."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from synth.card.page import write_card
from synth.dataset.files import write_text
from synth.dataset.headers import copy_headers
from synth.dataset.manifest import MANIFEST, Manifest, counted, read_manifest
from synth.dataset.names import HARVEST_REJECTED
from synth.dataset.settings import Versions, fingerprint
from synth.dataset.shards import ShardWriter
from synth.errors import SettingsError
from synth.harvest.files import STEPS, Harvested, Options
from synth.harvest.row import split_key
from synth.reasons import HarvestStep

_MOST_REASONS = 12


def check_folder(out: Path) -> None:
    """:class:`SettingsError` when ``out`` cannot take a harvest."""
    if out.exists() and not out.is_dir():
        raise SettingsError(f"{out} is no folder")
    if not out.is_dir() or not any(out.iterdir()):
        return
    manifest = read_manifest(out)
    if manifest is None:
        raise SettingsError(f"{out} is not empty and holds no {MANIFEST}; choose another with -o")
    if "per_module" not in manifest.shape:
        raise SettingsError(f"{out} holds a generated dataset; choose another with -o")
    if "decontaminated" in manifest.shape:
        raise SettingsError(f"{out} holds a decontaminated dataset; choose another with -o")


def write_dataset(
    result: Harvested, options: Options, out: Path, licence: str, shard_size: int
) -> Manifest:
    """Write the rows of a harvest to ``out``, replacing what an earlier harvest left there.

    :class:`SettingsError` when there is no row or the folder cannot be written.
    """
    if not result.rows:
        raise SettingsError(
            f"no kernel found that becomes a row; nothing was written{_why(result)}"
        )
    try:
        return _write(result, options, out, licence, shard_size)
    except OSError as error:
        raise SettingsError(f"cannot write to {out}: {error.strerror}") from None


def _write(
    result: Harvested, options: Options, out: Path, licence: str, shard_size: int
) -> Manifest:
    versions = Versions.installed()
    writer = ShardWriter(out, shard_size)
    for row in result.rows:
        writer.add(row, split_key(row))
    writer.close()
    paths = [out / shard["path"] for shard in writer.shards]
    lines = [json.dumps(entry, sort_keys=True) for entry in result.left]
    write_text(out / HARVEST_REJECTED, "".join(f"{line}\n" for line in lines))
    copy_headers(out / "include")
    shape = {
        "per_module": options.per_module,
        "run": options.run,
        "archs": list(options.archs),
        "licence": licence,
        "verify": "compile",
        **{f"{name} version": value for name, value in asdict(versions).items()},
    }
    manifest = Manifest(
        fingerprint=fingerprint(shape),
        rows=len(result.rows),
        shard_size=shard_size,
        shape=shape,
        shards=writer.shards,
        counts={name: c for name, c in counted(paths).items() if c},
        draws=_counts(result),
    )
    write_card(out, manifest)
    manifest.write(out)
    return manifest


def _counts(result: Harvested) -> dict[str, Any]:
    """Under the names that ``stats`` reads, and more."""
    reasons = Counter(f"{entry['step']}: {entry['reason']}" for entry in result.left)
    return {
        "draws": result.total(HarvestStep.FOUND),
        "rejects": {f"harvested/{reason}": n for reason, n in sorted(reasons.items())},
        "rejects_by_reason": dict(sorted(reasons.items())),
        "failed_checks": sum(entry["step"] == HarvestStep.COMPILED for entry in result.left),
        "steps": {step: result.total(step) for step in STEPS},
        "modules": {module: dict(counts) for module, counts in sorted(result.steps.items())},
        "not_self_contained": dict(sorted(result.open.items())),
        "no_run": dict(sorted(result.no_run.items())),
    }


def _why(result: Harvested) -> str:
    """The reason that most of what was left out has, if any was, within a line."""
    reasons = Counter(" ".join(entry["reason"].split()) for entry in result.left)
    if not reasons:
        return ""
    (reason, count), total = reasons.most_common(1)[0], reasons.total()
    return f"; {f'{count} of {total}: ' if total > 1 else ''}{reason}"


def table(result: Harvested) -> Iterator[str]:
    """What came through each step, and why the rest did not, line by line."""
    yield f"{len(result.steps)} modules, {len(result.failed)} of them failed"
    for step in STEPS:
        yield f"{result.total(step):7d}  {step.replace('_', '-')}"
    yield from _lacking(result)
    for left_at, title in _LEFT.items():
        reasons = Counter(e["reason"] for e in result.left if e["step"] == left_at)
        yield from _reasons(title, reasons)
    yield from _reasons("rows that are not self-contained", result.open)
    yield from _reasons("rows without a run", result.no_run)


def _lacking(result: Harvested) -> Iterator[str]:
    """What to install, once for all modules."""
    named = sorted({name for name in result.lacking.values() if name})
    if named:
        yield f"not installed, and required by the project: pip install {' '.join(named)}"
    unnamed = [module for module, name in result.lacking.items() if not name]
    if unnamed:
        yield f"not installed, and of no name that the project requires: {', '.join(unnamed)}"


_LEFT = {
    HarvestStep.MODULE: "modules that failed",
    HarvestStep.FOUND: "left out: no concrete kernel",
    HarvestStep.GENERATED: "left out: Warp did not translate",
    HarvestStep.EXTRACTED: "left out: not extracted",
    HarvestStep.DISTINCT: "left out: not distinct, or of no form of a row",
    HarvestStep.KEPT: "left out: capped",
    HarvestStep.COMPILED: "left out: NVRTC refused",
}


def _reasons(title: str, reasons: Mapping[str, int]) -> Iterator[str]:
    if not reasons:
        return
    yield f"{title}: {sum(reasons.values())}"
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    for reason, count in ordered[:_MOST_REASONS]:
        yield f"{count:7d}  {reason[:150]}"
    rest = ordered[_MOST_REASONS:]
    if rest:
        yield f"{sum(n for _, n in rest):7d}  for {len(rest)} other reasons, see {HARVEST_REJECTED}"
