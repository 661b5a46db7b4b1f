"""``validate``: a dataset on disk is checked from its stored texts and headers alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.codegen import Translator
from synth.errors import SettingsError
from synth.headers import native_folder
from synth.manifest import SPLITS, contradictions, read_manifest
from synth.pair import Row
from synth.remake import differing_columns, retranslated_difference
from synth.settings import STRUCTURE_CAP
from synth.shards import split_of
from validate.host import HostRunner
from validate.schema import check_row

ROWS_AT_ONCE = 64

NOT_MEASURED_YET = (
    *("compile_archs", "run_plain", "adjoint", "max_ulp"),
    *("registers", "spill_bytes", "shared_bytes"),
)
"""Evidence that this version has no means to measure: a row that claims it is wrong."""


@dataclass
class Report:
    """How many rows were checked and which failed; ``problems`` concern files, not rows."""

    checked: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not self.failed and not self.problems

    def as_dict(self) -> dict[str, Any]:
        return {
            "checked": self.checked,
            "passed": self.checked - len(self.failed),
            "failed": self.failed,
            "problems": self.problems,
        }


def shard_paths(out: Path) -> list[Path]:
    """The shards of a dataset folder, in order; :class:`SettingsError` when there are none."""
    paths = [p for split in SPLITS for p in sorted((out / split).glob("*.parquet"))]
    if not paths:
        raise SettingsError(f"no dataset at {out}: it has no shard in {', '.join(SPLITS)}")
    return paths


def stored_rows(out: Path) -> Iterator[tuple[str, Row]]:
    """Every row with its split; :class:`SettingsError` for a shard that cannot be read."""
    for path in shard_paths(out):
        with _readable(path):
            for batch in pq.ParquetFile(path).iter_batches(batch_size=ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    yield path.parent.name, row


def read_columns(path: Path, columns: Sequence[str]) -> list[Row]:
    """Some columns of a shard; :class:`SettingsError` when it cannot be read."""
    with _readable(path):
        rows: list[Row] = pq.read_table(path, columns=list(columns)).to_pylist()
    return rows


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None


def check_dataset(
    out: Path, verify: str, progress: Callable[[int], None] = lambda _n: None
) -> Report:
    """Check every row of ``out`` at ``text`` or ``run`` level."""
    report = Report()
    manifest = read_manifest(out)
    claimed = manifest.shape.get("verify", "text") if manifest else "text"
    checker = _RowChecker(out, verify, claimed)
    try:
        batch: list[tuple[str, Row]] = []
        for split, row in stored_rows(out):
            batch.append((split, row))
            if len(batch) == ROWS_AT_ONCE:
                checker.check(batch, report)
                progress(len(batch))
                batch = []
        checker.check(batch, report)
        progress(len(batch))
    finally:
        checker.close()
    if manifest is not None:
        found = {path.relative_to(out).as_posix() for path in shard_paths(out)}
        report.problems += contradictions(out, manifest, found, report.checked)
    return report


class _RowChecker:
    """Keeps what the checks of all rows share."""

    def __init__(self, out: Path, verify: str, claimed: str) -> None:
        self.runs = verify == "run"
        self.claims_run = claimed == "run"
        self.ids: set[str] = set()
        self.renames: set[str] = set()
        self.structures: Counter[str] = Counter()
        self.translators: dict[bool, Translator] = {}
        self.runner = None
        if self.runs:
            include = out / "include"
            if not (include / "builtin.h").is_file():
                include = native_folder()
            self.runner = HostRunner(include_dir=include)

    def close(self) -> None:
        if self.runner is not None:
            self.runner.close()

    def check(self, batch: Sequence[tuple[str, Row]], report: Report) -> None:
        report.checked += len(batch)
        fit = []
        for split, row in batch:
            reason = self._text_problem(split, row)
            if not reason and self.runs:
                reason = retranslated_difference(row, self._translator(row))
            if reason:
                report.failed.append({"id": str(row.get("id")), "reason": reason})
            else:
                fit.append(row)
        if self.runner is not None:
            self._run(fit, self.runner, report)

    def _translator(self, row: Row) -> Translator:
        backward = row["cuda_backward"] is not None
        if backward not in self.translators:
            self.translators[backward] = Translator(backward=backward)
        return self.translators[backward]

    def _text_problem(self, split: str, row: Row) -> str:
        """Why a row is wrong before anything of it is executed; an empty string when it is not."""
        problems = check_row(row)
        if problems:
            return "; ".join(problems)
        difference, rename = differing_columns(row)
        if difference:
            return difference
        claims = [name for name in NOT_MEASURED_YET if row["checks"][name] is not None]
        if claims:
            return f"checks claim what this version does not measure: {', '.join(claims)}"
        self.structures[row["structure"]] += 1
        repeated = row["id"] in self.ids or rename in self.renames
        self.ids.add(row["id"])
        self.renames.add(rename)
        if repeated:
            return "another row is equal up to names"
        if split_of(row["structure"]) != split:
            return f"its structure belongs in the split {split_of(row['structure'])}"
        if self.structures[row["structure"]] > STRUCTURE_CAP:
            return f"more than {STRUCTURE_CAP} rows share its structure"
        if self.claims_run and row["checks"]["run_forward"] is None:
            return "the dataset was made with --verify run and this row was not run"
        return ""

    @staticmethod
    def _run(rows: Sequence[Row], runner: HostRunner, report: Report) -> None:
        for row, result in zip(rows, runner.run(rows), strict=True):
            reason = ""
            if result.status != "agrees":
                reason = f"{result.status}: {result.reason}"
            elif row["checks"]["shapes"] not in (None, result.shapes):
                reason = f"checks.shapes are not the shapes of a run: {'; '.join(result.shapes)}"
            if reason:
                report.failed.append({"id": row["id"], "reason": reason})
