"""``validate``: a dataset on disk is checked from its stored texts and headers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from synth.check.rows import RowChecker
from synth.dataset.manifest import contradictions, read_manifest
from synth.dataset.stored import ROWS_AT_ONCE, shard_paths, stored_rows
from synth.rows.maker import Row


@dataclass
class Report:
    """How many rows were checked and which failed; ``problems`` concern files, not rows.

    ``not_reproduced`` rows are among those that passed: some of their claims cannot be repeated
    here, because they were harvested or made by other versions.
    """

    checked: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    not_reproduced: int = 0

    @property
    def good(self) -> bool:
        return not self.failed and not self.problems

    def as_dict(self) -> dict[str, Any]:
        return {
            "checked": self.checked,
            "passed": self.checked - len(self.failed),
            "failed": self.failed,
            "problems": self.problems,
            "not_reproduced": self.not_reproduced,
        }


def check_dataset(
    out: Path,
    verify: str,
    progress: Callable[[int], None] = lambda _n: None,
    *,
    archs: tuple[str, ...] = (),
) -> Report:
    """Check every row of ``out`` at one of ``VERIFY_LEVELS``.

    ``archs`` are the architectures to compile for, by default those that each row claims. A folder
    without a manifest is checked all the same.
    """
    report = Report()
    manifest = read_manifest(out)
    checker = RowChecker(out, verify, archs, manifest.shape if manifest else {})
    try:
        for batch in _batches(stored_rows(out)):
            reasons = checker.reasons(batch)
            for position in sorted(reasons):
                row_id = str(batch[position][1].get("id"))
                report.failed.append({"id": row_id, "reason": reasons[position]})
            passed = [row for at, (_, row) in enumerate(batch) if at not in reasons]
            report.not_reproduced += sum(checker.not_reproduced(row) for row in passed)
            report.checked += len(batch)
            progress(len(batch))
    finally:
        checker.close()
    if manifest is not None:
        found = {path.relative_to(out).as_posix() for path in shard_paths(out)}
        report.problems += contradictions(out, manifest, found, report.checked)
    return report


def _batches(rows: Iterator[tuple[str, Row]]) -> Iterator[list[tuple[str, Row]]]:
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        yield batch
