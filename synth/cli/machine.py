"""``show``: what `compile` made of a row, and what its kernels need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from synth.dataset.lowered import records_with_id
from synth.errors import SettingsError

Record = Mapping[str, Any]


def machine_texts(
    out: Path, row: Mapping[str, Any], kind: str, arch: str, column: str
) -> Iterator[str]:
    """The `kind` ("ptx" or "sass") of a row, each text under a line that says what it is; of one
    architecture and one column where they are named.

    Raises :class:`SettingsError` where nothing such was made of the row.
    """
    records = [
        record
        for record in records_with_id(out, row["id"])
        if record[kind] is not None
        and arch in ("", record["arch"])
        and column in ("", record["column"])
    ]
    if not records:
        asked = " ".join(word for word in (arch, column) if word)
        raise SettingsError(
            f"no {kind} of {row['id']}{asked and f' for {asked}'}: "
            f"make it with pairsmith compile {out} --emit {kind}"
        )
    if kind == "ptx":
        # One text holds all kernels of a column.
        texts = {(r["arch"], r["column"]): f"// {_what(r)}\n{r['ptx']}" for r in records}
        yield from texts.values()
        return
    for record in records:
        yield f"// {_what(record)}, {record['kernel']}\n"
        yield beside_lines(record, row[record["column"]] or "")


def beside_lines(record: Record, source: str) -> str:
    """SASS with the line of CUDA that instructions come from above them, wherever it changes."""
    lines = source.splitlines()
    starts = {entry["offset"]: entry["line"] for entry in record["lines"]}
    printed = []
    for text in record["sass"].splitlines():
        stripped = text.strip()
        if stripped.startswith("/*"):
            offset = int(stripped[2 : stripped.index("*/")], 16)
            if offset in starts:
                printed.append(_said(starts[offset], lines))
        printed.append(text)
    return "\n".join([*printed, ""])


def _said(line: int | None, lines: list[str]) -> str:
    if line is None or not 1 <= line <= len(lines):
        return "// (no line of the text)"
    return f"// {line}: {lines[line - 1].strip()}"


def needs_lines(out: Path, row: Mapping[str, Any]) -> Iterator[str]:
    """A line for each kernel that was lowered: what it needs, and its occupancy."""
    for record in records_with_id(out, row["id"]):
        if record["reason"] is not None:
            said = " ".join(record["reason"].split())
            yield f"machine code, {_what(record)}: {record['status']}: {said[:300]}"
        elif record["registers"] is not None:
            yield f"machine code, {_what(record)}, {record['kernel']}: {_needs(record)}"


def _what(record: Record) -> str:
    return f"{record['column']} for {record['arch']}"


def _needs(record: Record) -> str:
    spills = f"{record['spill_bytes']} bytes spilled" if record["spill_bytes"] else "no spills"
    said = f"{record['registers']} registers, {spills}, {record['shared_bytes']} bytes shared"
    if record["occupancy"] is None:
        return said
    return (
        f"{said}; occupancy {record['occupancy']:.0%} "
        f"({record['blocks_per_sm']} blocks of {record['block_threads']} threads an SM, "
        f"bounded by {record['limited_by']})"
    )
