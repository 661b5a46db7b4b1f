"""What the check of Warp's adjoints found, of the rows whose adjoint is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.files import sha256_of
from synth.dataset.names import EVIDENCE
from synth.errors import SettingsError

_COLUMN = "adjoint_reason"


def adjoints_digest(out: Path) -> str | None:
    """The sha256 of the evidence beside a dataset; None where it has none."""
    path = out / EVIDENCE
    return sha256_of(path) if path.is_file() else None


def adjoint_reports(path: Path) -> dict[str, str]:
    """By row what a check said of its adjoint; nothing where no evidence was kept. Raises
    SettingsError for evidence that cannot be read."""
    if not path.is_file():
        return {}
    try:
        if _COLUMN not in pq.read_schema(path).names:
            return {}
        rows = pq.read_table(path, columns=["id", _COLUMN]).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}; delete it") from None
    return {row["id"]: row[_COLUMN] for row in rows if row[_COLUMN]}


def report_sentence(report: str) -> str:
    """A report in a sentence, names in the form of code; empty of none."""
    if not report:
        return ""
    told = re.sub(r"\b(along|gradient of) (\w+)", r"\1 `\2`", report)
    return f"A gradient check of it says: {told.rstrip('.')}."
