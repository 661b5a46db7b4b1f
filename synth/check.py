"""``validate``: a dataset on disk is checked from its stored texts and headers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from extract import ExtractError
from synth.codegen import CodegenError, Translator
from synth.errors import SettingsError
from synth.headers import native_folder
from synth.manifest import SPLITS, damaged_shards, read_manifest
from synth.pair import Row, the_kernel
from validate.host import HostRunner
from validate.schema import check_row

ROWS_AT_ONCE = 64

_CUDA_TEXTS = ("cuda_prologue", "cuda_helpers", "cuda_forward")


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
        try:
            for batch in pq.ParquetFile(path).iter_batches(batch_size=ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    yield path.parent.name, row
        except (pa.ArrowInvalid, OSError) as error:
            raise SettingsError(f"{path} cannot be read: {error}") from None


def check_dataset(
    out: Path, verify: str, progress: Callable[[int], None] = lambda _n: None
) -> Report:
    """Check every row of ``out`` at ``text`` or ``run`` level."""
    report = Report()
    manifest = read_manifest(out)
    if manifest is not None:
        report.problems += damaged_shards(out, manifest)
    checker = _RowChecker(out, verify)
    try:
        batch: list[Row] = []
        for split, row in stored_rows(out):
            checker.note_place(split, row)
            batch.append(row)
            if len(batch) == ROWS_AT_ONCE:
                checker.check(batch, report)
                progress(len(batch))
                batch = []
        checker.check(batch, report)
        progress(len(batch))
    finally:
        checker.close()
    return report


class _RowChecker:
    """Keeps what the checks of all rows share."""

    def __init__(self, out: Path, verify: str) -> None:
        self.runs = verify == "run"
        self.ids: set[str] = set()
        self.split_of_structure: dict[str, str] = {}
        self.misplaced: dict[int, str] = {}
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

    def note_place(self, split: str, row: Row) -> None:
        """Remember what makes a row wrong for where it stands: its id twice, a split leak."""
        structure = row.get("structure")
        if row.get("id") in self.ids:
            self.misplaced[id(row)] = "another row has the same id"
        elif structure and self.split_of_structure.setdefault(structure, split) != split:
            self.misplaced[id(row)] = "its structure stands in another split too"
        self.ids.add(str(row.get("id")))

    def check(self, rows: Sequence[Row], report: Report) -> None:
        report.checked += len(rows)
        fit = []
        for row in rows:
            reason = self.misplaced.pop(id(row), "") or "; ".join(check_row(row))
            if not reason and self.runs:
                reason = self._translates_again(row)
            if reason:
                report.failed.append({"id": str(row.get("id")), "reason": reason})
            else:
                fit.append(row)
        if self.runner is None:
            return
        for row, result in zip(fit, self.runner.run(fit), strict=True):
            if result.status != "agrees":
                reason = f"{result.status}: {result.reason}"
                report.failed.append({"id": row["id"], "reason": reason})

    def _translates_again(self, row: Row) -> str:
        """Whether ``python`` still gives the stored CUDA; an empty string when it does."""
        backward = row["cuda_backward"] is not None
        translator = self.translators.setdefault(backward, Translator(backward=backward))
        try:
            text = translator.translate(row["python"], row["kernel_name"])
            module, kernel = the_kernel(text, row["kernel_name"])
        except (CodegenError, ExtractError) as error:
            return f"python does not translate: {str(error).splitlines()[0]}"
        made = (module.prologue, module.helpers, kernel.forward, kernel.backward)
        stored = tuple(row[name] for name in (*_CUDA_TEXTS, "cuda_backward"))
        for name, new, old in zip((*_CUDA_TEXTS, "cuda_backward"), made, stored, strict=True):
            if new != old:
                return f"python translates to another {name}"
        return ""
